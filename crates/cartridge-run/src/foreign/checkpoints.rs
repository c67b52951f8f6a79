//! The checkpoints that a foreign trainer has named: what it goes on from, and what can be forked.
//!
//! They are the trainer's own, a file or a folder anywhere below the folder of the run. All that is
//! known of one is its path and its step, from the `checkpoint` line.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;

use cartridge_store::beneath::{Beneath, EntryKind};
use cartridge_store::data_dir::sync_parent;
use cartridge_store::{
    Event, EventLine, Manifest, Result as StoreResult, RunDir, RunId, StoreError, jsonl,
};

use crate::error::{Result, RunError};

/// The deepest folder in a checkpoint that is copied.
const MAX_DEPTH: usize = 8;

/// A checkpoint that a trainer has named.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Named {
    /// What events call it: its path without `checkpoints/` before it.
    pub(crate) name: String,
    /// Where it is, below the folder of the run.
    pub(crate) path: String,
    /// Environment steps of the run.
    pub(crate) step: u64,
}

impl Named {
    /// The checkpoint that events call `name`, if it is still there.
    fn new(folder: &Beneath, name: &str, step: u64) -> Option<Self> {
        let is_there = |path: &String| {
            let kind = folder.entry(path).ok().flatten().map(|entry| entry.kind);
            matches!(kind, Some(EntryKind::File | EntryKind::Folder))
        };
        let path = [format!("checkpoints/{name}"), name.to_owned()].into_iter().find(is_there)?;
        Some(Self { name: name.to_owned(), path, step })
    }
}

/// What the events of a run say of checkpoints and settings.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Checkpoints in the order in which they were named.
    saved: Vec<(String, u64)>,
    /// The one that a new attempt goes on from.
    newest: Option<(String, u64)>,
    /// Settings that were changed, and at which step.
    tunes: Vec<(u64, String, f64)>,
}

impl History {
    pub(crate) fn read(dir: &RunDir) -> StoreResult<Self> {
        let mut history = Self::default();
        for line in jsonl::read_lines(&dir.events_path(), 0, None)? {
            let Ok(EventLine { event, .. }) = serde_json::from_slice(&line.bytes) else { continue };
            match event {
                Event::CheckpointSaved { step, name, .. } => {
                    history.saved.push((name.clone(), step));
                    history.newest = Some((name, step));
                }
                // What was saved after it is superseded; in a fork it is a copy that nobody saved here.
                Event::Restored { checkpoint, step, .. } if !checkpoint.is_empty() => {
                    history.saved.push((checkpoint.clone(), step));
                    history.newest = Some((checkpoint, step));
                }
                Event::TuneApplied { path, new, step, .. } => history.tunes.push((step, path, new)),
                _ => {}
            }
        }
        Ok(history)
    }

    /// Settings that were changed up to `step`, and their last values.
    pub(crate) fn tuned_until(&self, step: u64) -> BTreeMap<String, f64> {
        let until = self.tunes.iter().filter(|(at, ..)| *at <= step);
        until.map(|(_, path, value)| (path.clone(), *value)).collect()
    }

    /// The checkpoint that a new attempt goes on from: the newest, or that of the run's parent.
    pub(crate) fn resume_from(&self, dir: &RunDir, manifest: &Manifest) -> Option<Named> {
        let folder = Beneath::open(dir.path()).ok()?;
        let newest = self.newest.iter().chain(self.saved.iter().rev());
        let parent = manifest.parent.iter().map(|parent| (parent.checkpoint.clone(), parent.step));
        let mut known = newest.cloned().chain(parent);
        known.find_map(|(name, step)| Named::new(&folder, &name, step))
    }

    /// The checkpoint that `text` means: `latest`, a name, a path, or a number of steps.
    pub(crate) fn find(&self, dir: &RunDir, run: &RunId, text: &str) -> Result<Named> {
        let folder = Beneath::open(dir.path()).map_err(StoreError::io(dir.path()))?;
        let step: Option<u64> = text.replace(['_', ','], "").parse().ok();
        let is_meant = |name: &str, at: u64| {
            text == "latest"
                || name == text
                || text.strip_prefix("checkpoints/") == Some(name)
                || step == Some(at)
        };
        let known = self.newest.iter().chain(self.saved.iter().rev());
        let mut meant = known.filter(|(name, step)| is_meant(name, *step));
        let missing = || RunError::NoSuchCheckpoint { run: run.clone(), name: text.to_owned() };
        meant.find_map(|(name, step)| Named::new(&folder, name, *step)).ok_or_else(missing)
    }
}

/// Copies a checkpoint to the same place below another run's folder, durably.
pub(crate) fn copy(from: &RunDir, to: &RunDir, checkpoint: &Named) -> StoreResult<()> {
    let path = to.path().join(&checkpoint.path);
    let copied = (|| {
        let source = Beneath::open(from.path())?;
        fs::create_dir_all(path.parent().unwrap_or(to.path()))?;
        copy_entry(&source, &checkpoint.path, &path, 0)
    })();
    copied.map_err(StoreError::io(&path))?;
    let mut place = path.as_path();
    while place != to.path() {
        sync_parent(place)?;
        let Some(parent) = place.parent() else { break };
        place = parent;
    }
    Ok(())
}

fn copy_entry(
    folder: &Beneath,
    relative: &str,
    to: &std::path::Path,
    depth: usize,
) -> io::Result<()> {
    let Some(entry) = folder.entry(relative)? else {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("{relative} is gone")));
    };
    match entry.kind {
        EntryKind::File => {
            let mut file = File::create(to)?;
            io::copy(&mut folder.file(relative)?, &mut file)?;
            file.sync_all()
        }
        EntryKind::Folder if depth < MAX_DEPTH => {
            fs::create_dir(to)?;
            let inner = folder.folder(relative)?;
            for entry in inner.entries()? {
                copy_entry(&inner, &entry.name, &to.join(&entry.name), depth + 1)?;
            }
            File::open(to)?.sync_all()
        }
        // A link or a pipe is no part of a checkpoint, and neither is what lies that deep.
        EntryKind::Folder | EntryKind::Link | EntryKind::Foreign => Ok(()),
    }
}

#[cfg(test)]
mod tests;
