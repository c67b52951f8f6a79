//! One run's folder.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::data_dir::{DataDir, sync_parent, write_beside};
use crate::error::{Result, StoreError};
use crate::records::Manifest;

/// The name of a run: `r-` and six characters, made by the lab and never by a client.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

/// Letters and digits that are hard to mistake for each other.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A new random name: `prefix` and six characters.
pub(crate) fn random_name(prefix: &str) -> String {
    let mut bytes = [0; 6];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    let letters = bytes.iter().map(|byte| ALPHABET[usize::from(byte % 32)] as char);
    prefix.chars().chain(letters).collect()
}

/// Whether `text` is a name that [`random_name`] makes.
pub(crate) fn is_name(prefix: &str, text: &str) -> bool {
    let name = text.strip_prefix(prefix);
    name.is_some_and(|name| name.len() == 6 && name.bytes().all(|byte| ALPHABET.contains(&byte)))
}

impl RunId {
    /// A new random name.
    pub fn random() -> Self {
        Self(random_name("r-"))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = StoreError;

    /// Accepts exactly what [`RunId::random`] makes, so that a name is never a path.
    fn from_str(text: &str) -> Result<Self> {
        match is_name("r-", text) {
            true => Ok(Self(text.to_owned())),
            false => Err(StoreError::NoSuchRun(text.to_owned())),
        }
    }
}

impl TryFrom<String> for RunId {
    type Error = StoreError;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0
    }
}

impl AsRef<str> for RunId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The folder of one run and the names of the files in it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunDir {
    path: PathBuf,
}

impl RunDir {
    /// The run folder at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Makes a folder for a new run: `manifest` is called with the name that was found free.
    pub fn create(
        data: &DataDir,
        manifest: impl FnOnce(RunId) -> Manifest,
    ) -> Result<(Self, Manifest)> {
        Self::create_prepared(data, |_| Ok(()), manifest)
    }

    /// [`Self::create`] where `prepare` puts something into the folder before it becomes a run.
    pub fn create_prepared(
        data: &DataDir,
        prepare: impl FnOnce(&Self) -> Result<()>,
        manifest: impl FnOnce(RunId) -> Manifest,
    ) -> Result<(Self, Manifest)> {
        let runs = data.path().join("runs");
        fs::create_dir_all(&runs).map_err(StoreError::io(&runs))?;
        let (id, dir) = loop {
            let id = RunId::random();
            let dir = data.run(&id);
            match fs::create_dir(&dir.path) {
                Ok(()) => break (id, dir),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(StoreError::io(&dir.path)(error)),
            }
        };
        let manifest = manifest(id);
        let text = serde_json::to_vec_pretty(&manifest).expect("a manifest is plain data");
        // The manifest comes last: a folder without one is no run yet.
        let written = prepare(&dir)
            .and_then(|()| write_beside(&dir.manifest_path(), &text))
            .and_then(|()| sync_parent(&dir.path));
        if let Err(error) = written {
            // Nothing may be left of a run that could not be made.
            _ = fs::remove_dir_all(&dir.path);
            return Err(error);
        }
        Ok((dir, manifest))
    }

    /// Reads the manifest.
    pub fn manifest(&self) -> Result<Manifest> {
        let path = self.manifest_path();
        let text = fs::read(&path).map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound {
                StoreError::NoSuchRun(self.name())
            } else {
                StoreError::io(&path)(error)
            }
        })?;
        let manifest: Manifest = serde_json::from_slice(&text).map_err(|error| {
            StoreError::Damaged { path: path.clone(), detail: error.to_string() }
        })?;
        if manifest.format > Manifest::FORMAT {
            return Err(StoreError::NewerFormat {
                path,
                found: manifest.format,
                known: Manifest::FORMAT,
            });
        }
        if manifest.id.as_str() != self.name() {
            let detail = format!("it is the manifest of {}; is this a copy?", manifest.id);
            return Err(StoreError::Damaged { path, detail });
        }
        Ok(manifest)
    }

    /// Whether a supervisor is at work on the run: it holds its file locked for as long as it lives.
    pub fn is_supervised(&self) -> bool {
        File::open(self.supervisor_path()).is_ok_and(|file| file.try_lock_shared().is_err())
    }

    /// The run's name, which is the folder's.
    pub fn id(&self) -> Result<RunId> {
        self.name().parse()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn name(&self) -> String {
        self.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// `run.json`: what the run is; never changes.
    pub fn manifest_path(&self) -> PathBuf {
        self.path.join("run.json")
    }

    /// `events.jsonl`: what the trainer says about itself.
    pub fn events_path(&self) -> PathBuf {
        self.path.join("events.jsonl")
    }

    /// `metrics.jsonl`: one row per update or evaluation.
    pub fn metrics_path(&self) -> PathBuf {
        self.path.join("metrics.jsonl")
    }

    /// `supervisor.jsonl`: heartbeats, resource samples, exit.
    pub fn supervisor_path(&self) -> PathBuf {
        self.path.join("supervisor.jsonl")
    }

    /// `control.jsonl`: what the lab asks of the run.
    pub fn control_path(&self) -> PathBuf {
        self.path.join("control.jsonl")
    }

    /// `control.head`: the last line of `control.jsonl` that was delivered.
    pub fn control_head_path(&self) -> PathBuf {
        self.path.join("control.head")
    }

    /// `log.txt`: what the trainer printed that is no event.
    pub fn log_path(&self) -> PathBuf {
        self.path.join("log.txt")
    }

    /// `log.1.txt`: what came before `log.txt`, once that has become too long.
    pub fn older_log_path(&self) -> PathBuf {
        self.path.join("log.1.txt")
    }

    /// `episodes/`: what was done in every episode.
    pub fn episodes_path(&self) -> PathBuf {
        self.path.join("episodes")
    }

    /// Games of self-play that are learnt from.
    pub fn replay_path(&self) -> PathBuf {
        self.path.join("replay.db")
    }

    /// Networks of a training by self-play for other programs.
    pub fn models_path(&self) -> PathBuf {
        self.path.join("models")
    }

    /// How a training by self-play stands, for other programs.
    pub fn stats_path(&self) -> PathBuf {
        self.path.join("stats.json")
    }

    /// `checkpoints/`.
    pub fn checkpoints_path(&self) -> PathBuf {
        self.path.join("checkpoints")
    }
}

#[cfg(test)]
mod tests;
