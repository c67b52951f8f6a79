//! Who changed what: `data/audit.jsonl`, one line per mutation.
//!
//! Each line carries the hash of the line before and a signature under the lab's key, so that a
//! line which was changed, taken out or put in is recognised. Pins, archived and deleted runs live
//! here and nowhere else: [`Marks`] folds the lines into what is marked now.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cartridge_store::jsonl::{self, Appender};
use cartridge_store::{ControlLine, DataDir, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::control::Verifier;
use crate::error::Result;
use crate::secret;

/// A line of `audit.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditLine {
    /// Number of the line, from 1.
    pub seq: u64,
    /// When, in Unix seconds.
    pub t: f64,
    /// Who did it.
    pub who: String,
    /// What was done.
    pub what: Deed,
    /// The run that it was done to.
    pub target: RunId,
    /// What was there before.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub old: Value,
    /// What is there now.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub new: Value,
    /// The key that the client gave the request, so that asking again changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Hash of the line before; empty for the first.
    pub previous: String,
    /// SHA-256 of all of the above.
    pub hash: String,
    /// Signature of the hash.
    pub signature: String,
}

/// What can be done to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// It was made.
    Create,
    /// It was made from a checkpoint of another, which `old` names.
    Fork,
    /// It was started at once, past the queue.
    Start,
    /// It was asked to save and end.
    Stop,
    /// It was asked to stop stepping.
    Pause,
    /// It was asked to go on: after a pause, or in a new attempt.
    Resume,
    /// It was ended.
    Terminate,
    /// It was asked to save.
    Checkpoint,
    /// A setting was asked to be changed to `new`.
    Tune,
    /// It was put away.
    Archive,
    /// It was brought back from the archive.
    Unarchive,
    /// It was moved to the trash.
    Delete,
    /// It was brought back from the trash.
    Restore,
    /// It was removed from the trash for good.
    Purge,
    /// It, or the checkpoint that `new` names, is to be kept.
    Pin,
    /// It, or the checkpoint that `old` names, need no longer be kept.
    Unpin,
}

impl Deed {
    /// The word in files and lists.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Fork => "fork",
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Terminate => "terminate",
            Self::Checkpoint => "checkpoint",
            Self::Tune => "tune",
            Self::Archive => "archive",
            Self::Unarchive => "unarchive",
            Self::Delete => "delete",
            Self::Restore => "restore",
            Self::Purge => "purge",
            Self::Pin => "pin",
            Self::Unpin => "unpin",
        }
    }
}

/// What is to be recorded.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Who did it.
    pub who: &'a str,
    /// What was done.
    pub what: Deed,
    /// The run that it was done to.
    pub target: &'a RunId,
    /// What was there before.
    pub old: Value,
    /// What is there now.
    pub new: Value,
    /// The key that the client gave the request.
    pub request: Option<String>,
}

impl<'a> Entry<'a> {
    /// That `who` did `what` to `target`.
    pub fn new(who: &'a str, what: Deed, target: &'a RunId) -> Self {
        Self { who, what, target, old: Value::Null, new: Value::Null, request: None }
    }
}

/// Where the audit is.
pub fn path(data: &DataDir) -> PathBuf {
    data.path().join("audit.jsonl")
}

/// Appends a line and makes it durable.
pub fn record(data: &DataDir, entry: Entry<'_>, t: f64) -> Result<AuditLine> {
    let path = path(data);
    let key = secret::control_key(data)?;
    // Opening locks the file, so that two writers cannot both take the next number.
    let mut appender = Appender::open_in_turn(&path)?;
    let last = last_line(&path)?;
    let Entry { who, what, target, old, new, request } = entry;
    let mut line = AuditLine {
        seq: last.as_ref().map_or(0, |line| line.seq) + 1,
        t,
        who: who.to_owned(),
        what,
        target: target.clone(),
        old,
        new,
        request,
        previous: last.map_or_else(String::new, |line| line.hash),
        hash: String::new(),
        signature: String::new(),
    };
    line.hash = hash(&line);
    line.signature = secret::sign(&signing_key(&key), line.hash.as_bytes());
    appender.append(&line)?;
    appender.sync()?;
    Ok(line)
}

/// The last line that can be read.
fn last_line(path: &Path) -> Result<Option<AuditLine>> {
    let mut span = 64 * 1024;
    loop {
        let (lines, is_whole) = jsonl::last_lines(path, span)?;
        let found = lines.iter().rev().find_map(|line| serde_json::from_slice(&line.bytes).ok());
        if found.is_some() || is_whole {
            return Ok(found);
        }
        span *= 8;
    }
}

fn hash(line: &AuditLine) -> String {
    let bare = AuditLine { hash: String::new(), signature: String::new(), ..line.clone() };
    let bytes = serde_json::to_vec(&bare).expect("a line is plain data");
    Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn signing_key(lab_key: &str) -> Vec<u8> {
    secret::sign(lab_key.as_bytes(), b"audit").into_bytes()
}

/// The newest lines, oldest first.
pub fn newest(data: &DataDir, limit: usize) -> Result<Vec<AuditLine>> {
    let lines = jsonl::read_lines(&path(data), 0, None)?;
    let from = lines.len().saturating_sub(limit);
    Ok(lines[from..].iter().filter_map(|line| serde_json::from_slice(&line.bytes).ok()).collect())
}

/// A line that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BadLine {
    /// The file, below the data folder.
    pub file: String,
    /// Number of the line in it, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// What [`verify`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Lines of `audit.jsonl` and of all `control.jsonl` that are as they were written.
    pub n_good: u64,
    /// The first bad line of each file that has one; the audit first, then runs by name.
    pub bad: Vec<BadLine>,
}

/// Checks the audit and the control lines of all runs.
pub fn verify(data: &DataDir) -> Result<Verdict> {
    let key = secret::control_key(data)?;
    let mut verdict = Verdict::default();
    let signing_key = signing_key(&key);
    let (mut seq, mut previous) = (0, String::new());
    check_lines(data, &path(data), &mut verdict, |line: AuditLine| {
        seq += 1;
        if line.seq != seq {
            return Err(format!("it has number {} where {seq} is due", line.seq));
        }
        if line.previous != previous {
            return Err("it does not follow the line before it".to_owned());
        }
        if line.hash != hash(&line) {
            return Err("it has been changed".to_owned());
        }
        if !secret::verifies(&signing_key, line.hash.as_bytes(), &line.signature) {
            return Err("its signature is wrong".to_owned());
        }
        previous = line.hash;
        Ok(())
    })?;
    let mut ids = data.run_ids()?;
    ids.sort();
    for id in ids {
        let mut verifier = Verifier::new(&key, &id, 1);
        check_lines(data, &data.run(&id).control_path(), &mut verdict, |line: ControlLine| {
            if line.attempt > verifier.attempt() {
                verifier = Verifier::new(&key, &id, line.attempt);
            }
            verifier.verify(&line)
        })?;
    }
    Ok(verdict)
}

/// Checks the lines of a file in order, up to the first bad one.
fn check_lines<T: serde::de::DeserializeOwned>(
    data: &DataDir,
    path: &Path,
    verdict: &mut Verdict,
    mut check: impl FnMut(T) -> Result<(), String>,
) -> Result<()> {
    for (line, number) in jsonl::read_lines(path, 0, None)?.iter().zip(1..) {
        let checked = serde_json::from_slice(&line.bytes)
            .map_err(|error| format!("it cannot be read: {error}"))
            .and_then(&mut check);
        match checked {
            Ok(()) => verdict.n_good += 1,
            Err(reason) => {
                let file = path.strip_prefix(data.path()).unwrap_or(path).display().to_string();
                verdict.bad.push(BadLine { file, line: number, reason });
                return Ok(());
            }
        }
    }
    Ok(())
}

/// What the audit says of the runs, folded, and how far it has been read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    end: u64,
    /// Runs that were put away.
    pub archived: BTreeSet<RunId>,
    /// Runs that are to be kept.
    pub pinned: BTreeSet<RunId>,
    /// Checkpoints that are to be kept, by run.
    pub pinned_checkpoints: BTreeMap<RunId, BTreeSet<String>>,
    /// Forks of each run, in the order in which they were made.
    pub children: BTreeMap<RunId, Vec<RunId>>,
    /// Runs by the key of the request that made them.
    pub requests: BTreeMap<String, RunId>,
    /// Runs in the trash, and when they were moved there.
    pub deleted: BTreeMap<RunId, f64>,
}

impl Marks {
    /// Reads what is new and returns it.
    pub fn advance(&mut self, data: &DataDir) -> Result<Vec<AuditLine>> {
        let mut new = Vec::new();
        for line in jsonl::read_lines(&path(data), self.end, None)? {
            self.end = line.end;
            if let Ok(line) = serde_json::from_slice::<AuditLine>(&line.bytes) {
                self.apply(&line);
                new.push(line);
            }
        }
        Ok(new)
    }

    fn apply(&mut self, line: &AuditLine) {
        let target = &line.target;
        match line.what {
            Deed::Archive => _ = self.archived.insert(target.clone()),
            Deed::Unarchive => _ = self.archived.remove(target),
            Deed::Delete => _ = self.deleted.insert(target.clone(), line.t),
            Deed::Restore => _ = self.deleted.remove(target),
            Deed::Purge => {
                self.deleted.remove(target);
                self.archived.remove(target);
                self.pinned.remove(target);
                self.pinned_checkpoints.remove(target);
            }
            Deed::Pin => match line.new.as_str() {
                Some(name) => {
                    let pins = self.pinned_checkpoints.entry(target.clone()).or_default();
                    pins.insert(name.to_owned());
                }
                None => _ = self.pinned.insert(target.clone()),
            },
            Deed::Unpin => match line.old.as_str() {
                Some(name) => {
                    if let Some(pins) = self.pinned_checkpoints.get_mut(target) {
                        pins.remove(name);
                    }
                }
                None => _ = self.pinned.remove(target),
            },
            Deed::Fork => {
                if let Some(parent) = line.old["run"].as_str().and_then(|id| id.parse().ok()) {
                    self.children.entry(parent).or_default().push(target.clone());
                }
            }
            Deed::Create
            | Deed::Start
            | Deed::Stop
            | Deed::Pause
            | Deed::Resume
            | Deed::Terminate
            | Deed::Checkpoint
            | Deed::Tune => {}
        }
        if let (Deed::Create | Deed::Fork, Some(request)) = (line.what, &line.request) {
            self.requests.insert(request.clone(), target.clone());
        }
    }
}

#[cfg(test)]
mod tests;
