//! Policies on disk: `checkpoints/step_000200000/` and the names `latest` and `best`.
//!
//! A checkpoint is written into a folder beside its place, made durable, and renamed: a reader
//! finds a whole checkpoint or none. `latest` and `best` are small files that hold a folder name.
//!
//! | file | holds |
//! |---|---|
//! | `weights.safetensors` | the policy |
//! | `policy.onnx` | the policy for other programs (`docs/onnx.md`) |
//! | `state.safetensors` | the rest of the learner ([`State`]), from which it goes on |
//! | `games.json` | of a training by self-play: its games that are under way |
//! | `manifest.json` | [`CheckpointManifest`]: what it is, where the run stood, and size and hash of the others |

mod self_play;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use cartridge_games::registry::make_world;
use cartridge_learn::board_net::BoardNet;
use cartridge_learn::learner::State;
use cartridge_learn::onnx::export::export_policy;
use cartridge_learn::policy::Policy;
use cartridge_store::data_dir::{sync_parent, write_beside};
use cartridge_store::{Pruned, RunDir, RunId, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::config::{Retention, RunConfig};
use crate::discovery::{self, NewCheckpoint};
use crate::error::{Result, RunError};
use crate::lineage;
use crate::tunable::Tunable;

pub use self::self_play::{WholeSelfPlay, load_self_play, network_to_onnx, save_self_play};

const FORMAT: u32 = 2;
const WEIGHTS: &str = "weights.safetensors";
const ONNX: &str = "policy.onnx";
const STATE: &str = "state.safetensors";
const MANIFEST: &str = "manifest.json";

/// What a checkpoint holds: its `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointManifest {
    /// Format of the folder.
    pub format: u32,
    /// Environment steps so far.
    pub step: u64,
    /// The environment.
    pub env_id: String,
    /// Hash of the weights.
    pub weights_sha256: String,
    /// Where the run stood; none in checkpoints of format 1, which cannot be gone on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// The other files of the folder.
    #[serde(default)]
    pub parts: Vec<Part>,
}

/// Where a run stood when a checkpoint was made, beside its learner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The last metric row.
    pub row: u64,
    /// The last episode that ended.
    pub episode: u64,
    /// Environment steps at which the next checkpoint is due.
    pub next_checkpoint: u64,
    /// Environment steps between evaluations.
    pub evaluate_every: u64,
    /// Environment steps at which the next evaluation is due.
    pub next_evaluation: u64,
    /// The best mean of an evaluation, and its step.
    pub best: Option<(f64, u64)>,
}

/// A file of a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Its name.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
}

impl Part {
    fn of(file: &str, content: &[u8]) -> Self {
        let sha256 = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        Self { file: file.to_owned(), bytes: content.len() as u64, sha256 }
    }
}

/// A name that points to a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alias {
    /// The newest.
    Latest,
    /// The one with the best evaluation.
    Best,
}

impl Alias {
    /// The file below `checkpoints/`.
    pub fn file(self) -> &'static str {
        match self {
            Self::Latest => "latest",
            Self::Best => "best",
        }
    }
}

/// Writes a checkpoint, points `latest` to it, and returns its folder name.
pub fn save(
    dir: &RunDir,
    env_id: &str,
    policy: &Policy,
    state: &State,
    progress: Progress,
) -> Result<String> {
    let name = name_of(state.step());
    let contents = vec![
        (WEIGHTS, policy.to_safetensors()),
        (ONNX, to_onnx(dir, env_id, policy, state.step())?),
        (STATE, state.to_bytes()),
    ];
    let manifest = CheckpointManifest {
        format: FORMAT,
        step: state.step(),
        env_id: env_id.to_owned(),
        weights_sha256: policy.sha256(),
        progress: Some(progress),
        parts: contents.iter().map(|(file, content)| Part::of(file, content)).collect(),
    };
    write(dir, &name, &manifest, contents)?;
    point(dir, Alias::Latest, &name)?;
    Ok(name)
}

/// The policy of a run's checkpoint as an ONNX file, with what it is of.
pub fn to_onnx(dir: &RunDir, env_id: &str, policy: &Policy, step: u64) -> Result<Vec<u8>> {
    Ok(export_policy(policy, facts(dir, env_id, policy.sha256(), step)?))
}

/// What an ONNX file says of the checkpoint that it was made of.
fn facts(
    dir: &RunDir,
    env_id: &str,
    weights_sha256: String,
    step: u64,
) -> Result<Vec<(String, String)>> {
    let mut facts = vec![
        ("env_id".to_owned(), env_id.to_owned()),
        ("step".to_owned(), step.to_string()),
        ("weights_sha256".to_owned(), weights_sha256),
    ];
    // A folder that is only read from may hold checkpoints alone.
    let manifest = dir.manifest().ok();
    let config = manifest.as_ref().map_or(&Value::Null, |manifest| &manifest.config);
    let options = config["env"].as_object().cloned().unwrap_or_default();
    let space = make_world(env_id, &options)?.spec().actions;
    let space = serde_json::to_string(&space).expect("a space is plain data");
    facts.push(("action_space".to_owned(), space));
    facts.push(("env".to_owned(), Value::from(options).to_string()));
    if let Some(manifest) = &manifest {
        facts.push(("run_id".to_owned(), manifest.id.to_string()));
        facts.push(("algo".to_owned(), config["algo"].as_str().unwrap_or_default().to_owned()));
    }
    Ok(facts)
}

/// The checkpoint whose folder `path` is: its run's folder, its run and its name.
pub fn at_path(path: &Path) -> Option<(RunDir, RunId, String)> {
    let path = path.canonicalize().ok()?;
    let name = path.file_name()?.to_str().filter(|name| is_name(name))?;
    let checkpoints = path.parent().filter(|folder| folder.ends_with("checkpoints"))?;
    let run = checkpoints.parent()?;
    let id = run.file_name()?.to_str()?.parse().ok()?;
    Some((RunDir::new(run.to_owned()), id, name.to_owned()))
}

/// The folder of the checkpoint after `step` environment steps.
pub fn name_of(step: u64) -> String {
    format!("step_{step:09}")
}

/// Writes the folder of a checkpoint, unless it is there.
fn write(
    dir: &RunDir,
    name: &str,
    manifest: &CheckpointManifest,
    mut contents: Vec<(&str, Vec<u8>)>,
) -> Result<()> {
    let folder = dir.checkpoints_path();
    fs::create_dir_all(&folder).map_err(StoreError::io(&folder))?;
    let place = folder.join(name);
    if place.exists() {
        return Ok(());
    }
    let beside = folder.join(format!(".{name}"));
    // Left behind by a crash, if it is there.
    _ = fs::remove_dir_all(&beside);
    fs::create_dir(&beside).map_err(StoreError::io(&beside))?;
    let text = serde_json::to_vec_pretty(manifest).expect("a manifest is plain data");
    contents.push((MANIFEST, text));
    for (file, content) in contents {
        let path = beside.join(file);
        File::create(&path)
            .and_then(|mut file| file.write_all(&content).and_then(|()| file.sync_all()))
            .map_err(StoreError::io(&path))?;
    }
    // The names in the new folder first, then its own.
    sync_parent(&beside.join(MANIFEST))?;
    fs::rename(&beside, &place).map_err(StoreError::io(&place))?;
    Ok(sync_parent(&place)?)
}

/// Points an alias to a checkpoint.
pub fn point(dir: &RunDir, alias: Alias, name: &str) -> Result<()> {
    Ok(write_beside(&dir.checkpoints_path().join(alias.file()), format!("{name}\n").as_bytes())?)
}

/// The checkpoint that an alias points to, if there is one.
pub fn named(dir: &RunDir, alias: Alias) -> Option<String> {
    let text = fs::read_to_string(dir.checkpoints_path().join(alias.file())).ok()?;
    // A name is never a path, whatever is in the file.
    Some(text.trim().to_owned()).filter(|name| is_name(name))
}

/// Reads the checkpoint that `alias` points to.
pub fn load(dir: &RunDir, run: &RunId, alias: Alias) -> Result<(CheckpointManifest, Policy)> {
    let name = named(dir, alias).ok_or_else(|| RunError::NoCheckpoint(run.clone()))?;
    load_named(dir, run, &name)
}

/// Reads the policy of a checkpoint.
pub fn load_named(dir: &RunDir, run: &RunId, name: &str) -> Result<(CheckpointManifest, Policy)> {
    let manifest = manifest(dir, run, name)?;
    let path = dir.checkpoints_path().join(name).join(WEIGHTS);
    let bytes = fs::read(&path).map_err(StoreError::io(&path))?;
    let policy = Policy::from_safetensors(&bytes).map_err(|source| RunError::Policy {
        run: run.clone(),
        name: name.to_owned(),
        source,
    })?;
    if policy.sha256() != manifest.weights_sha256 {
        let detail = "the weights are not those that the manifest names".to_owned();
        return Err(StoreError::Damaged { path, detail }.into());
    }
    Ok((manifest, policy))
}

/// The policy of a checkpoint as other programs read it, if it has one.
pub(crate) fn onnx_of(dir: &RunDir, name: &str) -> Option<Vec<u8>> {
    fs::read(dir.checkpoints_path().join(name).join(ONNX)).ok()
}

/// Reads the network of a checkpoint of a board game.
pub fn load_board_net(
    dir: &RunDir,
    run: &RunId,
    name: &str,
) -> Result<(CheckpointManifest, BoardNet)> {
    let manifest = manifest(dir, run, name)?;
    let path = dir.checkpoints_path().join(name).join(WEIGHTS);
    let bytes = fs::read(&path).map_err(StoreError::io(&path))?;
    let network = BoardNet::from_safetensors(&bytes).map_err(|source| RunError::Policy {
        run: run.clone(),
        name: name.to_owned(),
        source,
    })?;
    if network.sha256() != manifest.weights_sha256 {
        let detail = "the weights are not those that the manifest names".to_owned();
        return Err(StoreError::Damaged { path, detail }.into());
    }
    Ok((manifest, network))
}

/// What a checkpoint is.
pub fn manifest(dir: &RunDir, run: &RunId, name: &str) -> Result<CheckpointManifest> {
    let path = dir.checkpoints_path().join(name).join(MANIFEST);
    let text = fs::read(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            RunError::NoSuchCheckpoint { run: run.clone(), name: name.to_owned() }
        }
        _ => StoreError::io(&path)(error).into(),
    })?;
    let manifest: CheckpointManifest = serde_json::from_slice(&text)
        .map_err(|error| StoreError::Damaged { path: path.clone(), detail: error.to_string() })?;
    if manifest.format > FORMAT {
        return Err(StoreError::NewerFormat { path, found: manifest.format, known: FORMAT }.into());
    }
    Ok(manifest)
}

/// Everything that a run goes on from.
#[derive(Debug)]
pub struct Whole {
    /// Folder of the checkpoint.
    pub name: String,
    /// The policy.
    pub policy: Policy,
    /// The rest of the learner.
    pub state: State,
    /// Where the run stood.
    pub progress: Progress,
}

impl Whole {
    /// The settings that may have been tuned, as they were.
    pub fn settings(&self) -> Vec<(&'static str, Value)> {
        let setting = |tunable: Tunable| {
            let value = match tunable {
                Tunable::Learner(knob) => self.state.setting(knob)?,
                Tunable::EvaluationEvery => Value::from(self.progress.evaluate_every),
            };
            Some((tunable.path(), value))
        };
        Tunable::ALL.into_iter().filter_map(setting).collect()
    }
}

/// Reads all of a checkpoint, and checks every file of it.
pub fn load_whole(dir: &RunDir, run: &RunId, name: &str) -> Result<Whole> {
    let (manifest, policy) = load_named(dir, run, name)?;
    let no_state = || RunError::NoState { run: run.clone(), name: name.to_owned() };
    let progress = manifest.progress.clone().ok_or_else(no_state)?;
    for part in &manifest.parts {
        let bytes = read_part(dir, name, part)?;
        if part.file == STATE {
            let state = State::from_bytes(&bytes).map_err(|error| StoreError::Damaged {
                path: dir.checkpoints_path().join(name).join(STATE),
                detail: error.to_string(),
            })?;
            return Ok(Whole { name: name.to_owned(), policy, state, progress });
        }
    }
    Err(no_state())
}

fn read_part(dir: &RunDir, name: &str, part: &Part) -> Result<Vec<u8>> {
    let path = dir.checkpoints_path().join(name).join(&part.file);
    if part.file.contains('/') {
        let detail = "a part of a checkpoint is a file in its folder".to_owned();
        return Err(StoreError::Damaged { path, detail }.into());
    }
    let bytes = fs::read(&path).map_err(StoreError::io(&path))?;
    if Part::of(&part.file, &bytes) != *part {
        let detail = "it is not the file that the manifest names".to_owned();
        return Err(StoreError::Damaged { path, detail }.into());
    }
    Ok(bytes)
}

/// The checkpoints of a run, oldest first.
pub fn names(dir: &RunDir) -> Result<Vec<String>> {
    let folder = dir.checkpoints_path();
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io(&folder)(error).into()),
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| is_name(name))
        .collect();
    // By number: a run may be longer than nine digits tell.
    names.sort_by_key(|name| (name.len(), name.clone()));
    Ok(names)
}

/// The checkpoint that `text` means: an alias, a folder, or a number of steps.
pub fn find(dir: &RunDir, run: &RunId, text: &str) -> Result<String> {
    let name = match text {
        "latest" => named(dir, Alias::Latest),
        "best" => named(dir, Alias::Best),
        _ if is_name(text) => Some(text.to_owned()),
        _ => text.replace(['_', ','], "").parse().ok().map(name_of),
    };
    name.filter(|name| dir.checkpoints_path().join(name).is_dir())
        .ok_or_else(|| RunError::NoSuchCheckpoint { run: run.clone(), name: text.to_owned() })
}

/// What a fork goes on from.
#[derive(Debug)]
pub enum Origin {
    /// A training in an environment.
    Learner(Box<Whole>),
    /// A training by self-play.
    SelfPlay(Box<WholeSelfPlay>),
}

impl Origin {
    /// Reads all of a checkpoint of a run with this configuration.
    pub fn load(dir: &RunDir, run: &RunId, name: &str, config: &RunConfig) -> Result<Self> {
        Ok(match config.self_play() {
            Some(_) => Self::SelfPlay(Box::new(load_self_play(dir, run, name)?)),
            None => Self::Learner(Box::new(load_whole(dir, run, name)?)),
        })
    }

    /// Environment steps so far.
    pub fn step(&self) -> u64 {
        match self {
            Self::Learner(whole) => whole.state.step(),
            Self::SelfPlay(whole) => whole.state.step(),
        }
    }

    /// The settings that may have been tuned, as they were.
    pub fn settings(&self) -> Vec<(&'static str, Value)> {
        match self {
            Self::Learner(whole) => whole.settings(),
            Self::SelfPlay(whole) => whole.settings(),
        }
    }

    /// Puts it into the folder of the fork of `from`, as the fork's own configuration wants it. Rows
    /// are counted from the beginning, and what was best is found anew.
    pub fn plant(self, from: &RunDir, dir: &RunDir, config: &RunConfig) -> Result<()> {
        match self {
            Self::Learner(whole) => {
                lineage::inherit(from, dir, &config.learner(), &whole.state)?;
                let Whole { policy, mut state, progress, .. } = *whole;
                state.adopt(&config.learner());
                let progress = progress.of_fork(config, state.step());
                save(dir, &config.env_id, &policy, &state, progress)?;
            }
            Self::SelfPlay(whole) => self_play::plant(*whole, from, dir, config)?,
        }
        Ok(())
    }
}

impl Progress {
    /// Where a fork stands that goes on from `step`.
    fn of_fork(self, config: &RunConfig, step: u64) -> Self {
        let every = config.evaluation.every_steps;
        let next_evaluation = if every == self.evaluate_every {
            self.next_evaluation
        } else {
            (step / every + 1) * every
        };
        Self { row: 0, best: None, evaluate_every: every, next_evaluation, ..self }
    }
}

/// Forgets the checkpoints after `name`, because the run goes on from there.
pub fn forget_after(dir: &RunDir, name: Option<&str>) -> Result<()> {
    // What a crash left of an alias that was about to be renamed.
    for entry in fs::read_dir(dir.checkpoints_path()).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().contains(".new-") {
            _ = fs::remove_file(entry.path());
        }
    }
    let known = names(dir)?;
    let keep = name.and_then(|name| known.iter().position(|known| known == name));
    discovery::forget(dir, &known[keep.map_or(0, |at| at + 1)..])
}

/// Names the newest checkpoint in the run's list of artifacts and removes the oldest beyond those
/// that are to be kept; milestones, those that an alias points to and those in `pinned` stay.
/// Returns what was removed.
pub fn prune(
    dir: &RunDir,
    retention: &Retention,
    pinned: &BTreeSet<String>,
) -> Result<Vec<Pruned>> {
    let mut names = names(dir)?;
    let newest = names.last().map(|name| NewCheckpoint {
        name: name.clone(),
        milestone: is_milestone(&names, retention.milestone_every_steps),
    });
    let keep = retention.keep_checkpoints;
    names.truncate(names.len().saturating_sub(keep as usize));
    let aliased = [named(dir, Alias::Latest), named(dir, Alias::Best)];
    names.retain(|name| !pinned.contains(name) && !aliased.contains(&Some(name.clone())));
    let reason = format!("the newest {keep} are kept");
    discovery::turn_over(dir, newest.as_ref(), &names, &reason)
}

/// Whether the last of some checkpoints is the first at or after a multiple of `every` steps.
fn is_milestone(names: &[String], every: u64) -> bool {
    let step = |name: &String| name.strip_prefix("step_").and_then(|step| step.parse::<u64>().ok());
    let mut newest = names.iter().rev().filter_map(step);
    let (last, before) = (newest.next().unwrap_or(0), newest.next().unwrap_or(0));
    every > 0 && last / every > before / every
}

/// The steps that a path like `checkpoints/step_000200000` tells.
pub(crate) fn step_in(path: &str) -> Option<u64> {
    path.rsplit('/').next()?.strip_prefix("step_")?.parse().ok()
}

/// What a checkpoint at `path` below the run's folder is called.
pub(crate) fn name_at(path: &str) -> &str {
    path.strip_prefix("checkpoints/").unwrap_or(path)
}

/// The checkpoint of a foreign trainer that `text` means: `latest`, a name, or a number of steps.
pub fn find_foreign(dir: &RunDir, run: &RunId, text: &str) -> Result<String> {
    let all = discovery::foreign_checkpoints(dir)?;
    let step = text.replace(['_', ','], "").parse::<u64>().ok();
    let found = all.iter().rev().find(|(at, path)| {
        text == "latest" || name_at(path) == text || path == text || Some(*at) == step
    });
    found
        .map(|(_, path)| name_at(path).to_owned())
        .ok_or_else(|| RunError::NoSuchCheckpoint { run: run.clone(), name: text.to_owned() })
}

pub(crate) fn is_name(name: &str) -> bool {
    name.strip_prefix("step_")
        .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
pub(crate) mod tests;
