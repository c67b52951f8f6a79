//! Who changed what: `data/audit.jsonl`, one line per mutation.
//!
//! Each line carries the hash of the line before and a signature under the lab's key, so that a
//! line which was changed, taken out or put in is recognised. `data/audit.head` says how many lines
//! there are and what the last one is, so that a cut end is recognised too; that both are gone shows
//! by the trainings that it should tell of. Pins, archived and deleted runs live here and nowhere
//! else: [`Marks`] folds the lines into what is marked now.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cartridge_store::data_dir::write_beside;
use cartridge_store::jsonl::{self, Appender};
use cartridge_store::{ControlLine, DataDir, ExperimentId, RunId, RunKind, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::control::{self, Verifier};
use crate::error::Result;
use crate::secret;
use crate::steer::By;
use crate::token::Role;

/// A line of `audit.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditLine {
    /// Number of the line, from 1.
    pub seq: u64,
    /// When, in Unix seconds.
    pub t: f64,
    /// Who did it.
    pub who: String,
    /// What they might do: the role of their token. Whoever writes the folder itself has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// What was done.
    pub what: Deed,
    /// What it was done to: a run, a token, or whatever else has a name here.
    pub target: String,
    /// What was there before.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub old: Value,
    /// What is there now.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub new: Value,
    /// The key that the client gave the request, so that asking again changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The number of the request, as in the lab's log and in its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Whether `audit.head` was kept when it was written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub headed: bool,
    /// Hash of the line before; empty for the first.
    pub previous: String,
    /// SHA-256 of all of the above.
    pub hash: String,
    /// Signature of the hash.
    pub signature: String,
}

impl AuditLine {
    /// The run that it was done to, if it was one.
    pub fn run(&self) -> Option<RunId> {
        self.target.parse().ok()
    }
}

/// What can be done to a run, or to the lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// It was made.
    Create,
    /// It was made from a checkpoint of another, which `old` names.
    Fork,
    /// It was made to evaluate a checkpoint of another, which `old` names.
    Evaluate,
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
    /// A control line was refused, by the supervisor or the trainer: what was asked, as far as it
    /// is known, is in `old`, and why not in `new`.
    Refuse,
    /// An alias of a model was moved to the version in `new`.
    Alias,
    /// A token was made; what it opens is in `new`.
    Grant,
    /// A token was taken back; what it opened is in `old`.
    Revoke,
    /// A browser was logged in by the token that `target` names.
    Login,
    /// A browser was logged out.
    Logout,
    /// Somebody took note of an alert.
    Acknowledge,
    /// Settings of the lab were changed, by their paths.
    Configure,
    /// Something that has no word of its own: `new` has the request.
    Request,
}

impl Deed {
    /// The word in files and lists.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Fork => "fork",
            Self::Evaluate => "evaluate",
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
            Self::Refuse => "refuse",
            Self::Alias => "alias",
            Self::Grant => "grant",
            Self::Revoke => "revoke",
            Self::Login => "login",
            Self::Logout => "logout",
            Self::Acknowledge => "acknowledge",
            Self::Configure => "configure",
            Self::Request => "request",
        }
    }
}

/// What is to be recorded.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Who did it.
    pub by: By<'a>,
    /// What was done.
    pub what: Deed,
    /// What it was done to.
    pub target: &'a str,
    /// What was there before.
    pub old: Value,
    /// What is there now.
    pub new: Value,
}

impl<'a> Entry<'a> {
    /// That somebody did `what` to `target`.
    pub fn new(by: By<'a>, what: Deed, target: &'a (impl AsRef<str> + ?Sized)) -> Self {
        Self { by, what, target: target.as_ref(), old: Value::Null, new: Value::Null }
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
    let last = last_line(&path)?.map_or((0, String::new()), |line| (line.seq, line.hash));
    let signing_key = signing_key(&key);
    let (seq, previous) = match Head::read(data, &signing_key)? {
        // The end was cut off. Going on from where it was keeps the gap, and so the proof.
        Some(Ok(head)) if head.count > last.0 => (head.count, head.hash),
        _ => last,
    };
    let Entry { by, what, target, old, new } = entry;
    let mut line = AuditLine {
        seq: seq + 1,
        t,
        who: by.who.to_owned(),
        role: by.role,
        what,
        target: target.to_owned(),
        old,
        new,
        request: by.request.map(str::to_owned),
        request_id: by.request_id.map(str::to_owned),
        headed: true,
        previous,
        hash: String::new(),
        signature: String::new(),
    };
    line.hash = hash(&line);
    line.signature = secret::sign(&signing_key, line.hash.as_bytes());
    appender.append(&line)?;
    appender.sync()?;
    // The line is durable: a head that stays behind is no reason to say that nothing was done.
    _ = Head::new(line.seq, line.hash.clone(), &signing_key).write(data);
    Ok(line)
}

/// `data/audit.head`: where the audit ends. It is written after each line, by whoever holds the
/// lock of the audit, so it may be behind by what a crash came after, and is never ahead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    format: u32,
    /// Number of the last line.
    count: u64,
    /// Hash of the last line.
    hash: String,
    /// Signature of both.
    signature: String,
}

impl Head {
    const FORMAT: u32 = 1;

    fn new(count: u64, hash: String, signing_key: &[u8]) -> Self {
        let signature = secret::sign(signing_key, Self::words(count, &hash).as_bytes());
        Self { format: Self::FORMAT, count, hash, signature }
    }

    fn words(count: u64, hash: &str) -> String {
        format!("head {count} {hash}")
    }

    fn path(data: &DataDir) -> PathBuf {
        data.path().join("audit.head")
    }

    fn write(&self, data: &DataDir) -> Result<()> {
        let text = serde_json::to_vec(self).expect("a head is plain data");
        Ok(write_beside(&Self::path(data), &text)?)
    }

    /// The head, if there is one, or what is wrong with it.
    fn read(data: &DataDir, signing_key: &[u8]) -> Result<Option<Result<Self, String>>> {
        let path = Self::path(data);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io(&path)(error).into()),
        };
        Ok(Some(match serde_json::from_slice::<Self>(&text) {
            Err(error) => Err(format!("it cannot be read: {error}")),
            Ok(head) => {
                let words = Self::words(head.count, &head.hash);
                if secret::verifies(signing_key, words.as_bytes(), &head.signature) {
                    Ok(head)
                } else {
                    Err("its signature is wrong".to_owned())
                }
            }
        }))
    }
}

/// Complains about an audit whose end is not where its head says, as the file and line to name.
fn check_end(data: &DataDir, signing_key: &[u8]) -> Result<Option<BadLine>> {
    // The head first: it is never ahead of lines that are read after it.
    let Some(head) = Head::read(data, signing_key)? else {
        let lines = jsonl::read_lines(&path(data), 0, None)?;
        let is_headed = |line: &&jsonl::Line| {
            serde_json::from_slice(&line.bytes).is_ok_and(|line: AuditLine| line.headed)
        };
        // One line alone may have been written just before a crash.
        let is_gone = lines.iter().filter(is_headed).nth(1).is_some();
        return Ok(is_gone.then(|| BadLine {
            file: "audit.head".to_owned(),
            line: 1,
            reason: "it is missing, so lines may be missing at the end of audit.jsonl".to_owned(),
        }));
    };
    let head = match head {
        Ok(head) => head,
        Err(reason) => {
            return Ok(Some(BadLine { file: "audit.head".to_owned(), line: 1, reason }));
        }
    };
    let lines = jsonl::read_lines(&path(data), 0, None)?;
    let n_lines = lines.len() as u64;
    let bad = |line, reason| Some(BadLine { file: "audit.jsonl".to_owned(), line, reason });
    if n_lines < head.count {
        let reason = match head.count - n_lines {
            1 => "1 line is missing at the end".to_owned(),
            n => format!("{n} lines are missing at the end"),
        };
        return Ok(bad(n_lines + 1, reason));
    }
    let named = usize::try_from(head.count.saturating_sub(1)).ok().and_then(|at| lines.get(at));
    let named = named.and_then(|line| serde_json::from_slice::<AuditLine>(&line.bytes).ok());
    if head.count > 0 && named.is_none_or(|line| line.hash != head.hash) {
        return Ok(bad(head.count, "it is not the line that audit.head names".to_owned()));
    }
    Ok(None)
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
    find(data, &Filter::default(), limit)
}

/// Which lines are wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// By whom.
    pub who: Option<String>,
    /// What was done, by its word.
    pub what: Option<String>,
    /// To what.
    pub target: Option<String>,
    /// Not before this time, in Unix seconds.
    pub from: Option<f64>,
    /// Not after this time.
    pub to: Option<f64>,
    /// Before the line with this number.
    pub before: Option<u64>,
}

impl Filter {
    fn takes(&self, line: &AuditLine) -> bool {
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == found)
        };
        is(&self.who, &line.who)
            && is(&self.what, line.what.as_str())
            && is(&self.target, &line.target)
            && self.from.is_none_or(|from| line.t >= from)
            && self.to.is_none_or(|to| line.t <= to)
            && self.before.is_none_or(|before| line.seq < before)
    }
}

/// The newest lines that fit, oldest first.
pub fn find(data: &DataDir, filter: &Filter, limit: usize) -> Result<Vec<AuditLine>> {
    // From the end, in growing spans: mostly the newest lines are wanted.
    let mut span = 256 * 1024;
    loop {
        let (lines, is_whole) = jsonl::last_lines(&path(data), span)?;
        let parsed = lines.iter().filter_map(|line| serde_json::from_slice(&line.bytes).ok());
        let mut found: Vec<AuditLine> = parsed.filter(|line| filter.takes(line)).collect();
        if found.len() >= limit || is_whole {
            found.drain(..found.len().saturating_sub(limit));
            return Ok(found);
        }
        span *= 8;
    }
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
    let mut made = BTreeSet::new();
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
        if matches!(line.what, Deed::Create | Deed::Fork | Deed::Evaluate) {
            made.insert(line.target);
        }
        Ok(())
    })?;
    if verdict.bad.is_empty() {
        verdict.bad.extend(check_end(data, &signing_key)?);
    }
    let mut ids = data.run_ids()?;
    ids.sort();
    if verdict.bad.is_empty() {
        verdict.bad.extend(check_made(data, &ids, &made));
    }
    for id in ids {
        let mut verifier = Verifier::new(&key, &id, 1);
        check_lines(data, &data.run(&id).control_path(), &mut verdict, |line: ControlLine| {
            if line.attempt > verifier.attempt() {
                verifier = Verifier::new(&key, &id, line.attempt);
            }
            verifier.verify(&line)
        })?;
        let dir = data.run(&id);
        let is_missing = |head: &ControlLine| {
            (head.attempt, head.seq) > (verifier.attempt(), verifier.last_seq())
        };
        let file = relative(data, &dir.control_path());
        if verdict.bad.iter().any(|bad| bad.file == file) {
            continue;
        }
        if let Some(head) = control::head(&dir, &key, &id).filter(is_missing) {
            let line = jsonl::read_lines(&dir.control_path(), 0, None)?.len() as u64 + 1;
            let reason = format!("number {} of attempt {} is missing", head.seq, head.attempt);
            verdict.bad.push(BadLine { file, line, reason });
        }
    }
    Ok(verdict)
}

/// Complains about an audit that tells nothing of the making of runs that were started here. An
/// audit that was taken away with its head leaves no other trace: whatever came first in a new one
/// begins a chain of its own.
fn check_made(data: &DataDir, ids: &[RunId], made: &BTreeSet<String>) -> Option<BadLine> {
    let is_untold = |id: &&RunId| {
        let dir = data.run(id);
        // A training is started when its making is recorded; a crash may come between the two.
        let is_recorded = dir
            .manifest()
            .is_ok_and(|manifest| matches!(manifest.kind, RunKind::Train | RunKind::External));
        !made.contains(id.as_str()) && is_recorded && dir.supervisor_path().exists()
    };
    let untold: Vec<&RunId> = ids.iter().filter(is_untold).collect();
    let first = untold.first()?;
    let n = untold.len();
    let reason = if made.is_empty() {
        format!(
            "it tells of no run, and there are {n} that were started here, such as {first}: it was removed together with audit.head, or never came with the runs"
        )
    } else {
        format!(
            "it does not tell of the making of {n} of the runs that were started here, such as {first}: an older audit was removed, or they came from elsewhere"
        )
    };
    Some(BadLine { file: "audit.jsonl".to_owned(), line: 1, reason })
}

/// A path as it is told: below the data folder.
fn relative(data: &DataDir, path: &Path) -> String {
    path.strip_prefix(data.path()).unwrap_or(path).display().to_string()
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
                let file = relative(data, path);
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
    /// Experiments that were put away.
    pub archived_experiments: BTreeSet<ExperimentId>,
    /// Runs that are to be kept.
    pub pinned: BTreeSet<RunId>,
    /// Checkpoints that are to be kept, by run.
    pub pinned_checkpoints: BTreeMap<RunId, BTreeSet<String>>,
    /// Forks of each run, in the order in which they were made.
    pub children: BTreeMap<RunId, Vec<RunId>>,
    /// Runs by who asked for them, and the key of the request.
    pub requests: BTreeMap<(String, String), RunId>,
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
        if let Ok(experiment) = line.target.parse::<ExperimentId>() {
            match line.what {
                Deed::Archive => _ = self.archived_experiments.insert(experiment),
                Deed::Unarchive => _ = self.archived_experiments.remove(&experiment),
                _ => {}
            }
            return;
        }
        let Some(target) = &line.run() else { return };
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
            | Deed::Evaluate
            | Deed::Start
            | Deed::Stop
            | Deed::Pause
            | Deed::Resume
            | Deed::Terminate
            | Deed::Checkpoint
            | Deed::Tune
            | Deed::Refuse
            | Deed::Alias
            | Deed::Grant
            | Deed::Revoke
            | Deed::Login
            | Deed::Logout
            | Deed::Acknowledge
            | Deed::Configure
            | Deed::Request => {}
        }
        let is_made = matches!(line.what, Deed::Create | Deed::Fork | Deed::Evaluate);
        if let (true, Some(request)) = (is_made, &line.request) {
            self.requests.insert((line.who.clone(), request.clone()), target.clone());
        }
    }
}

#[cfg(test)]
mod tests;
