//! The folder of a Minari dataset: `data/metadata.json` and `data/main_data.hdf5`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cartridge_games::ActionSpace;
use cartridge_store::data_dir::write_beside;
use serde_json::{Value, json};

use super::hdf5::{self, Attribute, Kind};
use super::{ActionColumn, Episode, Shape};
use crate::episode::Archive;
use crate::error::{Result, RunError};

/// The version of Minari whose form this is; later ones read it too.
const MINARI_VERSION: &str = "0.5.0";

/// What is said of a dataset as a whole.
pub(super) struct About {
    id: String,
    env_id: String,
    algorithm: String,
    description: String,
}

impl About {
    /// A dataset is known by the name of its folder.
    pub(super) fn new(archive: &Archive, path: &Path) -> Result<Self> {
        let id = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_fit = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if id.is_empty() || !id.chars().all(is_fit) {
            return Err(RunError::BadDatasetName(path.to_owned()));
        }
        let manifest = &archive.manifest;
        let algorithm = manifest.config["trainer"]["algorithm"].as_str().unwrap_or_default();
        Ok(Self {
            id: id.to_owned(),
            env_id: manifest.env_id.clone(),
            algorithm: algorithm.to_owned(),
            description: format!("Episodes of run {} in {}", manifest.id, manifest.env_id),
        })
    }
}

/// Writes episodes as a Minari dataset.
pub(super) struct Writer {
    folder: PathBuf,
    about: About,
    file: hdf5::Writer,
    episodes: Vec<(String, u64)>,
}

impl Writer {
    pub(super) fn create(path: &Path, about: About) -> io::Result<Self> {
        let folder = path.join("data");
        fs::create_dir_all(&folder)?;
        let file = hdf5::Writer::create(&folder.join("main_data.hdf5"))?;
        Ok(Self { folder, about, file, episodes: Vec::new() })
    }

    pub(super) fn add(&mut self, episode: &Episode) -> io::Result<()> {
        let head = &episode.head;
        let n_steps = episode.n_steps() as u64;
        let file = &mut self.file;
        let mut members = Vec::new();
        let mut add = |name: &str, kind, dimensions: &[u64], content: &[u8]| {
            members.push((name.to_owned(), file.array(kind, dimensions, content)?));
            io::Result::Ok(())
        };
        let table = episode.observations.as_ref().expect("whoever calls has looked");
        let width = table.width as u64;
        add("observations", Kind::F32, &[n_steps + 1, width], &singles(&table.numbers))?;
        match &episode.actions {
            ActionColumn::Discrete(actions) => {
                let bytes: Vec<u8> = actions.iter().flat_map(|a| a.to_le_bytes()).collect();
                add("actions", Kind::I64, &[n_steps], &bytes)?;
            }
            ActionColumn::Continuous(table) => {
                let width = table.width as u64;
                add("actions", Kind::F32, &[n_steps, width], &singles(&table.numbers))?;
            }
        }
        let rewards: Vec<u8> = episode.rewards.iter().flat_map(|r| r.to_le_bytes()).collect();
        add("rewards", Kind::F64, &[n_steps], &rewards)?;
        let (terminations, truncations): (Vec<u8>, Vec<u8>) =
            episode.ends().map(|(a, b)| (u8::from(a), u8::from(b))).unzip();
        add("terminations", Kind::Bool, &[n_steps], &terminations)?;
        add("truncations", Kind::Bool, &[n_steps], &truncations)?;

        let id = self.episodes.len();
        let mut attributes = vec![
            ("id", Attribute::I64(id as i64)),
            ("total_steps", Attribute::I64(n_steps as i64)),
            ("return", Attribute::F64(head.reward)),
            ("episode", Attribute::U64(head.episode)),
        ];
        attributes.extend(head.seed.map(|seed| ("seed", Attribute::U64(seed))));
        let group = self.file.group(&members, &attributes)?;
        self.episodes.push((format!("episode_{id}"), group));
        Ok(())
    }

    pub(super) fn finish(self, shape: &Shape) -> io::Result<()> {
        let Self { folder, about, file, episodes } = self;
        file.finish(&episodes)?;
        let size_bytes = fs::metadata(folder.join("main_data.hdf5"))?.len();
        let metadata = json!({
            "dataset_id": about.id,
            "data_format": "hdf5",
            "minari_version": MINARI_VERSION,
            "total_episodes": shape.n_episodes,
            "total_steps": shape.n_steps,
            // In megabytes, as Minari has it.
            "dataset_size": (size_bytes as f64 / 1e5).round() / 10.0,
            "observation_space": observation_space(shape).to_string(),
            "action_space": action_space(shape).to_string(),
            "algorithm_name": about.algorithm,
            "description": about.description,
            "env_id": about.env_id,
            "author": ["cartridge"],
        });
        let text = serde_json::to_vec_pretty(&metadata).expect("metadata are plain data");
        write_beside(&folder.join("metadata.json"), &text).map_err(io::Error::other)
    }
}

fn singles(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A box as Minari writes it; Python's own words stand for what has no end.
fn boxed(low: &[Value], high: &[Value]) -> Value {
    json!({ "type": "Box", "dtype": "float32", "shape": [low.len()], "low": low, "high": high })
}

/// Observations have no bounds that are worth checking: what was seen was seen.
fn observation_space(shape: &Shape) -> Unbounded {
    Unbounded(shape.observation.unwrap_or(0))
}

/// A box without bounds. JSON has no infinity, but Python's reader, and so Minari, has.
struct Unbounded(usize);

impl std::fmt::Display for Unbounded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let row = |word: &str| vec![word; self.0].join(", ");
        write!(
            f,
            r#"{{"type": "Box", "dtype": "float32", "shape": [{}], "low": [{}], "high": [{}]}}"#,
            self.0,
            row("-Infinity"),
            row("Infinity")
        )
    }
}

fn action_space(shape: &Shape) -> Value {
    let discrete = |n: u64| json!({ "type": "Discrete", "dtype": "int64", "start": 0, "n": n });
    let bounds = |numbers: &[f32]| -> Vec<Value> {
        numbers.iter().map(|&number| f64::from(number).into()).collect()
    };
    match (shape.space, shape.action) {
        (Some(ActionSpace::Discrete(n)), _) => discrete(n as u64),
        (Some(ActionSpace::Continuous { low, high }), _) => boxed(&bounds(low), &bounds(high)),
        (None, None) => discrete(shape.last_action as u64 + 1),
        (None, Some(width)) => {
            let [low, high] = [f32::MIN, f32::MAX].map(|bound| bounds(&vec![bound; width]));
            boxed(&low, &high)
        }
    }
}
