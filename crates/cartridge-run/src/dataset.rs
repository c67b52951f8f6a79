//! Recorded episodes for other programs: as JSON lines, as NumPy's arrays, as a Minari dataset.
//!
//! What was recorded of an episode is its seed and its actions. It is stepped again, so that every
//! observation is exactly what was seen; an episode that comes out otherwise than it was recorded is
//! left out and counted. Of a foreign trainer's episodes the same holds where the environment is one of
//! ours and the seed was told; others have what the trainer told.

mod hdf5;
mod minari;
mod npz;

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use cartridge_games::ActionSpace;
use cartridge_store::episodes::{Order, Sort, compare_returns};
use cartridge_store::{EpisodeHead, StoreError};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::episode::Archive;
use crate::error::{Result, RunError};

/// How episodes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object a line, one line an episode.
    Jsonl,
    /// NumPy's arrays, all steps behind each other.
    Npz,
    /// The folder of a Minari dataset.
    Minari,
}

/// Which episodes are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// First and last number; all without it.
    pub numbers: Option<(u64, u64)>,
    /// Only so many, those with the greatest returns.
    pub best: Option<usize>,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Episodes.
    pub n_episodes: u64,
    /// Their steps.
    pub n_steps: u64,
    /// Bytes on disk.
    pub size_bytes: u64,
    /// Episodes that were left out, and why.
    pub left_out: Vec<(u64, String)>,
    /// Whether observations are there.
    pub has_observations: bool,
}

/// An episode with all of its steps.
#[derive(Clone, Debug)]
pub struct Episode {
    /// What was recorded of it.
    pub head: EpisodeHead,
    /// What was seen, the start first, where it is known.
    pub observations: Option<Table<f32>>,
    /// What was done.
    pub actions: ActionColumn,
    /// What each action earned.
    pub rewards: Vec<f64>,
    /// What a foreign trainer told of what was seen at each step, in words of its own.
    pub told: Option<Vec<Value>>,
    /// The space of the actions, where the environment is one of ours.
    pub space: Option<ActionSpace>,
}

/// Rows of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<T> {
    /// Numbers of a row.
    pub width: usize,
    /// All rows behind each other.
    pub numbers: Vec<T>,
}

/// The actions of an episode.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionColumn {
    /// One of a list each.
    Discrete(Vec<i64>),
    /// Numbers each.
    Continuous(Table<f32>),
}

impl ActionColumn {
    /// Numbers of an action; none where it is one of a list.
    fn width(&self) -> Option<usize> {
        match self {
            Self::Discrete(_) => None,
            Self::Continuous(table) => Some(table.width),
        }
    }

    /// Actions that a trainer told, if they are all of one kind.
    pub(crate) fn told(actions: &[Value]) -> Option<Self> {
        let whole = |value: &Value| {
            let number = value.as_f64()?;
            (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
        };
        if let Some(discrete) = actions.iter().map(whole).collect() {
            return Some(Self::Discrete(discrete));
        }
        let mut table = Table { width: 0, numbers: Vec::new() };
        for action in actions {
            let numbers: Vec<f32> = match action {
                Value::Array(numbers) => {
                    let numbers = numbers.iter().map(|number| Some(number.as_f64()? as f32));
                    numbers.collect::<Option<_>>()?
                }
                number => vec![number.as_f64()? as f32],
            };
            if numbers.is_empty() || table.width > 0 && table.width != numbers.len() {
                return None;
            }
            table.width = numbers.len();
            table.numbers.extend(numbers);
        }
        Some(Self::Continuous(table))
    }
}

impl Episode {
    /// Number of its steps.
    pub fn n_steps(&self) -> usize {
        self.rewards.len()
    }

    /// For each step whether the task had ended, and whether it was cut off, by then.
    fn ends(&self) -> impl Iterator<Item = (bool, bool)> {
        let last = self.n_steps() - 1;
        (0..=last).map(move |step| {
            let is_last = step == last;
            (is_last && self.head.terminated, is_last && self.head.truncated)
        })
    }
}

/// Writes episodes of a run to `path`, which must not exist. `tell` hears how many of how many were
/// looked at.
pub fn export(
    archive: &mut Archive,
    format: Format,
    selection: &Selection,
    path: &Path,
    tell: &mut dyn FnMut(u64, u64),
) -> Result<Summary> {
    if path.symlink_metadata().is_ok() {
        return Err(RunError::DatasetExists(path.to_owned()));
    }
    let heads = select(archive, selection)?;
    let n_heads = heads.len() as u64;
    let beside = beside(path)?;
    let written = (|| {
        let mut sink = Sink::open(format, &beside, path, archive)?;
        let mut left_out = Vec::new();
        let mut shape = None;
        for (place, head) in (1..).zip(&heads) {
            match take(archive, head, format, &mut shape)? {
                Ok(episode) => sink.add(&episode).map_err(StoreError::io(&beside))?,
                Err(reason) => left_out.push((head.episode, reason)),
            }
            tell(place, n_heads);
        }
        let Some(shape) = shape else {
            let run = archive.manifest.id.clone();
            let reason = left_out.first().map_or("there are none", |(_, reason)| reason);
            return Err(RunError::NothingToExport { run, reason: reason.to_owned() });
        };
        let (n_episodes, n_steps) = (shape.n_episodes, shape.n_steps);
        let has_observations = shape.observation.is_some();
        sink.finish(&shape).map_err(StoreError::io(&beside))?;
        let size_bytes = size(&beside).map_err(StoreError::io(&beside))?;
        fs::rename(&beside, path).map_err(StoreError::io(path))?;
        Ok(Summary { n_episodes, n_steps, size_bytes, left_out, has_observations })
    })();
    if written.is_err() {
        // Nothing may be left of what could not be made.
        _ = fs::remove_dir_all(&beside);
        _ = fs::remove_file(&beside);
    }
    written
}

/// The episodes that are wanted, by number.
fn select(archive: &mut Archive, selection: &Selection) -> Result<Vec<EpisodeHead>> {
    let mut heads = archive.page(Sort::Number, Order::Ascending, 0, usize::MAX)?.heads;
    if let Some((first, last)) = selection.numbers {
        heads.retain(|head| (first..=last).contains(&head.episode));
    }
    if let Some(best) = selection.best {
        heads.retain(|head| head.reward.is_finite());
        heads.sort_by(|a, b| {
            compare_returns(a.reward, b.reward, Order::Descending).then(a.episode.cmp(&b.episode))
        });
        heads.truncate(best);
        heads.sort_by_key(|head| head.episode);
    }
    Ok(heads)
}

/// What all episodes have in common, and how many there are.
#[derive(Clone, Debug, PartialEq)]
struct Shape {
    /// Numbers of an observation.
    observation: Option<usize>,
    /// Numbers of an action; none where it is one of a list.
    action: Option<usize>,
    space: Option<ActionSpace>,
    /// The greatest action of a list.
    last_action: i64,
    n_episodes: u64,
    n_steps: u64,
}

/// An episode that fits those before it, or why it is left out.
fn take(
    archive: &mut Archive,
    head: &EpisodeHead,
    format: Format,
    shape: &mut Option<Shape>,
) -> Result<Result<Episode, String>> {
    let episode = match archive.transitions(head.episode) {
        Ok(episode) => episode,
        Err(
            error @ (RunError::DamagedEpisode { .. }
            | RunError::BadEpisode { .. }
            | RunError::NotRecorded { .. }
            | RunError::UnlikeRecorded { .. }),
        ) => return Ok(Err(error.to_string())),
        Err(error) => return Err(error),
    };
    if episode.n_steps() == 0 {
        return Ok(Err("it has no steps".to_owned()));
    }
    let observation = episode.observations.as_ref().map(|table| table.width);
    if format == Format::Minari && observation.is_none() {
        return Ok(Err("nobody told what was seen in it, which Minari needs".to_owned()));
    }
    let (action, space) = (episode.actions.width(), episode.space);
    let (last_action, n_episodes, n_steps) = (0, 0, 0);
    let new = Shape { observation, action, space, last_action, n_episodes, n_steps };
    let shape = shape.get_or_insert(new);
    if (shape.observation, shape.action) != (observation, action) {
        return Ok(Err("its observations or actions are of another kind".to_owned()));
    }
    if let ActionColumn::Discrete(actions) = &episode.actions {
        shape.last_action = actions.iter().copied().fold(shape.last_action, i64::max);
    }
    shape.n_episodes += 1;
    shape.n_steps += episode.n_steps() as u64;
    Ok(Ok(episode))
}

/// Where something is made before it is moved to its place.
fn beside(path: &Path) -> Result<PathBuf> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".new-{}", &crate::secret::random_hex()[..12]));
    let beside = path.with_file_name(name);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
    }
    Ok(beside)
}

/// Bytes of a file, or of the files in a folder.
fn size(path: &Path) -> std::io::Result<u64> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    fs::read_dir(path)?.map(|entry| size(&entry?.path())).sum()
}

/// Where episodes go.
enum Sink {
    Jsonl(BufWriter<File>),
    Npz(npz::Writer),
    Minari(minari::Writer),
}

impl Sink {
    fn open(format: Format, beside: &Path, path: &Path, archive: &Archive) -> Result<Self> {
        let io = StoreError::io(beside);
        Ok(match format {
            Format::Jsonl => Self::Jsonl(BufWriter::new(File::create_new(beside).map_err(io)?)),
            Format::Npz => Self::Npz(npz::Writer::create(beside).map_err(io)?),
            Format::Minari => {
                let about = minari::About::new(archive, path)?;
                Self::Minari(minari::Writer::create(beside, about).map_err(io)?)
            }
        })
    }

    fn add(&mut self, episode: &Episode) -> std::io::Result<()> {
        match self {
            Self::Jsonl(file) => writeln!(file, "{}", line(episode)),
            Self::Npz(writer) => writer.add(episode),
            Self::Minari(writer) => writer.add(episode),
        }
    }

    fn finish(self, shape: &Shape) -> std::io::Result<()> {
        match self {
            Self::Jsonl(file) => file.into_inner()?.sync_all(),
            Self::Npz(writer) => writer.finish(shape),
            Self::Minari(writer) => writer.finish(shape),
        }
    }
}

/// An episode as JSON. Singles are written as doubles, which hold them exactly; what is not finite
/// is `null`.
fn line(episode: &Episode) -> Value {
    let head = &episode.head;
    let rows = |table: &Table<f32>| {
        let rows = table.numbers.chunks(table.width.max(1));
        let rows = rows
            .map(|row| row.iter().map(|&number| Value::from(f64::from(number))).collect::<Value>());
        Value::Array(rows.collect())
    };
    let (terminations, truncations): (Vec<bool>, Vec<bool>) = episode.ends().unzip();
    let mut line = Map::new();
    let mut put = |name: &str, value: Value| _ = line.insert(name.to_owned(), value);
    put("episode", head.episode.into());
    put("seed", head.seed.into());
    put("return", head.reward.into());
    put("length", head.length.into());
    put("terminated", head.terminated.into());
    put("truncated", head.truncated.into());
    put("step", head.step.into());
    if let Some(observations) = &episode.observations {
        put("observations", rows(observations));
    }
    if let Some(told) = &episode.told {
        put("obs", json!(told));
    }
    let actions = match &episode.actions {
        ActionColumn::Discrete(actions) => json!(actions),
        ActionColumn::Continuous(table) => rows(table),
    };
    put("actions", actions);
    put("rewards", json!(episode.rewards));
    put("terminations", json!(terminations));
    put("truncations", json!(truncations));
    Value::Object(line)
}

#[cfg(test)]
mod tests;
