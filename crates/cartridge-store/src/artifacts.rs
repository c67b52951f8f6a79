//! `artifacts.json`: what a run has made, by id, with sizes and hashes.
//!
//! Videos, TensorBoard and W&B folders, checkpoints, the log and the episodes of a run are its
//! *artifacts*. Clients name them by id and never by path. The list is written beside and renamed
//! by whoever holds the lock of the run's folder ([`Locked`]): the worker when it saves a
//! checkpoint, the supervisor at the end, the lab's janitor, `cartridge gc` and `cartridge fsck`.
//!
//! **Order:** a file is named after it is whole on disk, and is dropped from the list, durably,
//! before it is removed. So a crash never leaves a name without a file; a file without a name is
//! found by the next look.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::beneath::{Beneath, EntryKind};
use crate::data_dir::write_beside;
use crate::error::{Result, StoreError};
use crate::records::EventLine;
use crate::run_dir::{RunDir, RunId};

/// Format of `artifacts.json`.
const FORMAT: u32 = 1;

/// Ids of removed artifacts that are remembered, the newest.
const MAX_REMEMBERED: usize = 256;

/// Letters and digits that are hard to mistake for each other.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The name of an artifact within its run: `a-` and eight characters, made from its kind and place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ArtifactId(String);

impl ArtifactId {
    /// The name for something of `kind` at `path`: the same at every look.
    pub fn new(kind: ArtifactKind, base: Base, path: &str) -> Self {
        let digest = Sha256::digest(format!("{}\0{base:?}\0{path}", kind.as_str()));
        let name: String =
            digest[..8].iter().map(|byte| ALPHABET[usize::from(byte % 32)] as char).collect();
        Self(format!("a-{name}"))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ArtifactId {
    type Err = StoreError;

    /// Accepts exactly what [`ArtifactId::new`] makes, so that a name is never a path.
    fn from_str(text: &str) -> Result<Self> {
        match text.strip_prefix("a-") {
            Some(name) if name.len() == 8 && name.bytes().all(|byte| ALPHABET.contains(&byte)) => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(StoreError::NoSuchArtifact(text.to_owned())),
        }
    }
}

impl TryFrom<String> for ArtifactId {
    type Error = StoreError;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<ArtifactId> for String {
    fn from(id: ArtifactId) -> Self {
        id.0
    }
}

impl fmt::Display for ArtifactId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What an artifact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactKind {
    /// A film.
    Video,
    /// A folder of TensorBoard event files.
    Tensorboard,
    /// The folder of a W&B run.
    Wandb,
    /// A checkpoint.
    Checkpoint,
    /// What an evaluation left.
    Eval,
    /// What the trainer printed.
    Log,
    /// The recorded episodes.
    Episodes,
    /// Something that the trainer named itself.
    Other,
}

impl ArtifactKind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Video,
        Self::Tensorboard,
        Self::Wandb,
        Self::Checkpoint,
        Self::Eval,
        Self::Log,
        Self::Episodes,
        Self::Other,
    ];

    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Video => "video",
            Self::Tensorboard => "tensorboard",
            Self::Wandb => "wandb",
            Self::Checkpoint => "checkpoint",
            Self::Eval => "eval",
            Self::Log => "log",
            Self::Episodes => "episodes",
            Self::Other => "other",
        }
    }

    /// The name for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Video => "Video",
            Self::Tensorboard => "TensorBoard folder",
            Self::Wandb => "W&B folder",
            Self::Checkpoint => "Checkpoint",
            Self::Eval => "Evaluation",
            Self::Log => "Log",
            Self::Episodes => "Episodes",
            Self::Other => "File",
        }
    }

    /// Whether it grows for as long as the run is at work.
    pub fn grows(self) -> bool {
        !matches!(self, Self::Video | Self::Checkpoint | Self::Eval)
    }

    /// Whether readers of the event log hear of it. Checkpoints have events of their own, and every
    /// run has a log and episodes.
    pub fn is_news(self) -> bool {
        !matches!(self, Self::Checkpoint | Self::Log | Self::Episodes)
    }
}

/// Which folder a path is relative to.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Base {
    /// The run's own folder.
    #[default]
    Run,
    /// The working folder of a foreign trainer.
    Work,
}

/// Something that a run has made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its name in the run.
    pub id: ArtifactId,
    /// What it is.
    pub kind: ArtifactKind,
    /// Which folder its path is relative to.
    #[serde(default)]
    pub base: Base,
    /// Where it is.
    pub path: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Plain files in it, or 1.
    pub n_files: u64,
    /// Bytes of all its files.
    pub size_bytes: u64,
    /// Hash of the file, or of the names and hashes of a folder's files; nothing while it grows.
    pub sha256: Option<String>,
    /// Environment steps of a checkpoint, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// When it was first seen or made.
    pub created_at: f64,
    /// When it was last written.
    pub modified_at: f64,
    /// Kept for good, because of the step that it belongs to.
    #[serde(default)]
    pub milestone: bool,
    /// Kept for good, because somebody said so.
    #[serde(default)]
    pub pinned: bool,
    /// In a working folder that others may use too: shown, and never removed.
    #[serde(default)]
    pub shared: bool,
}

/// How many were removed, and how large they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub size_bytes: u64,
}

/// The whole of `artifacts.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArtifactList {
    /// Format of the file.
    pub format: u32,
    /// The run.
    pub run: RunId,
    /// The start of the trainer after whose end everything was looked at.
    pub complete_attempt: Option<u32>,
    /// Where the run is on W&B, as its trainer said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wandb_url: Option<String>,
    /// What is there, by kind and age.
    pub artifacts: Vec<Artifact>,
    /// What has been removed, by kind.
    #[serde(default)]
    pub removed: BTreeMap<ArtifactKind, Tally>,
    /// The newest of the removed.
    #[serde(default)]
    removed_ids: Vec<(ArtifactId, u64)>,
    /// What the run's events do not say yet, because its trainer holds them, or because of a crash.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untold: Vec<EventLine>,
}

impl ArtifactList {
    /// A run that has made nothing yet.
    pub fn new(run: RunId) -> Self {
        Self {
            format: FORMAT,
            run,
            complete_attempt: None,
            wandb_url: None,
            artifacts: Vec::new(),
            removed: BTreeMap::new(),
            removed_ids: Vec::new(),
            untold: Vec::new(),
        }
    }

    /// Reads the list of a run; nothing when nobody has looked yet.
    pub fn read(dir: &RunDir) -> Result<Option<Self>> {
        let path = list_path(dir);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io(&path)(error)),
        };
        let damaged = |detail: String| StoreError::Damaged { path: path.clone(), detail };
        let list: Self =
            serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        if list.format > FORMAT {
            return Err(StoreError::NewerFormat { path, found: list.format, known: FORMAT });
        }
        if list.run.as_str() != dir.path().file_name().unwrap_or_default() {
            return Err(damaged(format!("it is the list of {}", list.run)));
        }
        Ok(Some(list))
    }

    /// One artifact.
    pub fn get(&self, id: &ArtifactId) -> Result<&Artifact> {
        let found = self.artifacts.iter().find(|artifact| artifact.id == *id);
        found.ok_or_else(|| StoreError::NoSuchArtifact(id.to_string()))
    }

    /// Adds an artifact, or replaces what was known of it.
    pub fn put(&mut self, mut artifact: Artifact) {
        if let Some(known) = self.artifacts.iter_mut().find(|known| known.id == artifact.id) {
            artifact.created_at = known.created_at;
            artifact.milestone |= known.milestone;
            artifact.pinned |= known.pinned;
            artifact.step = artifact.step.or(known.step);
            *known = artifact;
            return;
        }
        // Back again: a removal that a crash cut short, or a new file in an old place.
        if let Some(place) = self.removed_ids.iter().position(|(id, _)| *id == artifact.id) {
            let (_, size_bytes) = self.removed_ids.remove(place);
            let tally = self.removed.entry(artifact.kind).or_default();
            tally.count = tally.count.saturating_sub(1);
            tally.size_bytes = tally.size_bytes.saturating_sub(size_bytes);
        }
        self.artifacts.push(artifact);
        self.artifacts.sort_by(|a, b| {
            a.kind
                .cmp(&b.kind)
                .then(a.created_at.total_cmp(&b.created_at))
                .then_with(|| a.path.cmp(&b.path))
        });
    }

    /// Drops an artifact, and counts it among the removed.
    pub fn drop(&mut self, id: &ArtifactId) -> Option<Artifact> {
        let place = self.artifacts.iter().position(|artifact| artifact.id == *id)?;
        let artifact = self.artifacts.remove(place);
        let tally = self.removed.entry(artifact.kind).or_default();
        tally.count += 1;
        tally.size_bytes += artifact.size_bytes;
        self.removed_ids.push((artifact.id.clone(), artifact.size_bytes));
        let first = self.removed_ids.len().saturating_sub(MAX_REMEMBERED);
        self.removed_ids.drain(..first);
        Some(artifact)
    }

    /// How many of a kind are there, and how many there have ever been.
    pub fn kept(&self, kind: ArtifactKind) -> (u64, u64) {
        let kept = self.artifacts.iter().filter(|artifact| artifact.kind == kind).count() as u64;
        (kept, kept + self.removed.get(&kind).map_or(0, |tally| tally.count))
    }

    /// Bytes by kind, without what others may use too.
    pub fn bytes(&self) -> BTreeMap<ArtifactKind, u64> {
        let mut bytes = BTreeMap::new();
        for artifact in self.artifacts.iter().filter(|artifact| !artifact.shared) {
            *bytes.entry(artifact.kind).or_default() += artifact.size_bytes;
        }
        bytes
    }
}

/// Where the list of a run is.
pub fn list_path(dir: &RunDir) -> PathBuf {
    dir.path().join("artifacts.json")
}

/// The list of a run, held by its one writer.
#[derive(Debug)]
pub struct Locked {
    dir: RunDir,
    /// What is in it; [`Self::save`] writes it.
    pub list: ArtifactList,
    /// The folder's own lock: the list itself is replaced at every change.
    _lock: File,
}

impl Locked {
    /// Waits for its turn, which is short: nobody hashes while he holds the list.
    pub fn open(dir: &RunDir, run: &RunId) -> Result<Self> {
        let lock = File::open(dir.path()).map_err(StoreError::io(dir.path()))?;
        lock.lock().map_err(StoreError::io(dir.path()))?;
        let list = ArtifactList::read(dir)?.unwrap_or_else(|| ArtifactList::new(run.clone()));
        Ok(Self { dir: dir.clone(), list, _lock: lock })
    }

    /// [`Self::open`] for a list that cannot be read and is begun anew.
    pub fn begin_anew(dir: &RunDir, run: &RunId) -> Result<Self> {
        let lock = File::open(dir.path()).map_err(StoreError::io(dir.path()))?;
        lock.lock().map_err(StoreError::io(dir.path()))?;
        Ok(Self { dir: dir.clone(), list: ArtifactList::new(run.clone()), _lock: lock })
    }

    /// Makes the list durable.
    pub fn save(&self) -> Result<()> {
        let text = serde_json::to_vec_pretty(&self.list).expect("a list is plain data");
        write_beside(&list_path(&self.dir), &text)
    }
}

/// What a look at a file or folder gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measure {
    /// Plain files.
    pub n_files: u64,
    /// Their bytes.
    pub size_bytes: u64,
    /// When the newest was written.
    pub modified_at: f64,
}

/// How deep and how wide folders are measured.
const MAX_DEPTH: usize = 8;
const MAX_FILES: u64 = 100_000;

/// Measures a file or folder without reading it; nothing where there is none.
pub fn measure(base: &Beneath, path: &str) -> Result<Option<Measure>> {
    let io = |error| StoreError::io(Path::new(path))(error);
    let Some(entry) = base.entry(path).map_err(io)? else { return Ok(None) };
    let mut measure = Measure::default();
    match entry.kind {
        EntryKind::File => {
            measure = Measure {
                n_files: 1,
                size_bytes: entry.size_bytes,
                modified_at: entry.modified_at,
            };
        }
        EntryKind::Folder => walk(&base.folder(path).map_err(io)?, "", 0, &mut |_, entry| {
            measure.n_files += 1;
            measure.size_bytes += entry.size_bytes;
            measure.modified_at = measure.modified_at.max(entry.modified_at);
            measure.n_files < MAX_FILES
        })
        .map(|_| ())
        .map_err(io)?,
        EntryKind::Link | EntryKind::Foreign => return Ok(None),
    }
    Ok(Some(measure))
}

/// Calls `visit` for every plain file below, in order of names, until it says no. Hidden files are
/// ours or an editor's, and left out.
pub fn walk(
    folder: &Beneath,
    prefix: &str,
    depth: usize,
    visit: &mut impl FnMut(&str, &crate::beneath::Entry) -> bool,
) -> io::Result<bool> {
    for entry in folder.entries()? {
        if entry.name.starts_with('.') {
            continue;
        }
        let path = format!("{prefix}{}", entry.name);
        let goes_on = match entry.kind {
            EntryKind::File => visit(&path, &entry),
            EntryKind::Folder if depth < MAX_DEPTH => {
                walk(&folder.folder(&entry.name)?, &format!("{path}/"), depth + 1, visit)?
            }
            _ => true,
        };
        if !goes_on {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Hash of a file, or of the names and hashes of the files in a folder.
pub fn hash(base: &Beneath, path: &str, is_folder: bool) -> Result<String> {
    let io = |error| StoreError::io(Path::new(path))(error);
    if !is_folder {
        return hash_file(base, path).map_err(io);
    }
    let folder = base.folder(path).map_err(io)?;
    let mut names = Vec::new();
    walk(&folder, "", 0, &mut |name, _| {
        names.push(name.to_owned());
        (names.len() as u64) < MAX_FILES
    })
    .map_err(io)?;
    let mut digest = Sha256::new();
    for name in names {
        let sum = hash_file(&folder, &name).map_err(io)?;
        digest.update(format!("{name}\0{sum}\n"));
    }
    Ok(hex(&digest.finalize()))
}

fn hash_file(base: &Beneath, path: &str) -> io::Result<String> {
    let mut file = base.file(path)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&digest.finalize())),
            n => digest.update(&buffer[..n]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
