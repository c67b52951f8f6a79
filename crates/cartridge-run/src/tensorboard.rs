//! A run's metrics for TensorBoard: every row of `metrics.jsonl` in an event file as well.
//!
//! The files are in `runs/<run>/` in the run's folder, one for each attempt that has rows. They are a
//! convenience and never the truth: nothing here is synced, nothing here fails, and a disk that
//! refuses a write costs the file that write.

pub mod viewer;

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use cartridge_store::event_file::{put_scalars, put_start, put_version};
use cartridge_store::{MetricLine, RunDir};

use crate::clock::unix_now;
use crate::metrics::OF_EPISODES;

/// Folder of event files in a run's folder, in which each has a folder of its own.
pub(crate) const SHELF: &str = "runs";

/// Episodes of one row that are told one by one; of more, as many that are spread evenly.
const MAX_EPISODES: usize = 100;

/// What waits to be written is at most so large.
const BATCH: usize = 64 * 1024;

/// Rows as records of an event file.
#[derive(Debug, Default)]
pub(crate) struct Records {
    bytes: Vec<u8>,
    /// Whether the trainer itself tells of single episodes.
    has_own_episodes: bool,
}

impl Records {
    /// Adds a row and its episodes. A value that is not finite is an absence.
    pub(crate) fn row(&mut self, line: &MetricLine) {
        let values = line.values.iter();
        let values = values.filter_map(|(name, value)| Some((name.as_str(), (*value)?)));
        put_scalars(line.t, line.step, values, &mut self.bytes);
        self.has_own_episodes |= OF_EPISODES.iter().any(|name| line.values.contains_key(*name));
        if self.has_own_episodes {
            return;
        }
        let ended = &line.episodes;
        let n_ended = ended.reward.len();
        let n_told = n_ended.min(MAX_EPISODES);
        for told in 0..n_told {
            let place = told * n_ended / n_told;
            let scalars = [ended.reward[place], Some(f64::from(ended.length[place]))];
            let scalars = OF_EPISODES.into_iter().zip(scalars);
            let scalars = scalars.filter_map(|(name, value)| Some((name, value?)));
            put_scalars(line.t, ended.timestep[place], scalars, &mut self.bytes);
        }
    }

    /// Says that the run goes on from a checkpoint at `step`, or from the beginning: whatever was
    /// told of later steps counts no longer. What was told of that step itself does, since a
    /// checkpoint is saved after the row of its step.
    pub(crate) fn restored(&mut self, step: Option<u64>) {
        put_start(unix_now(), step.map_or(0, |step| step + 1), &mut self.bytes);
    }

    /// Whether there is so much that it should be written.
    pub(crate) fn is_batch(&self) -> bool {
        self.bytes.len() >= BATCH
    }

    /// What was added since it was last taken.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

/// The event file of one attempt.
#[derive(Debug)]
pub(crate) struct EventFile {
    folder: PathBuf,
    attempt: u32,
    state: State,
}

#[derive(Debug)]
enum State {
    /// It is made with its first record.
    Unopened,
    Open(File),
    /// It cannot be written to.
    GivenUp,
}

impl EventFile {
    /// The file of an attempt, which is made when there is something to write.
    pub(crate) fn new(dir: &RunDir, attempt: u32) -> Self {
        let name = dir.path().file_name().unwrap_or_default();
        let folder = dir.path().join(SHELF).join(name);
        Self { folder, attempt, state: State::Unopened }
    }

    /// Appends records as far as the disk takes them: all or none.
    pub(crate) fn append(&mut self, records: &[u8]) {
        if records.is_empty() {
            return;
        }
        if let State::Unopened = self.state {
            self.state = self.open().map_or(State::GivenUp, State::Open);
        }
        if let State::Open(file) = &mut self.state
            && append_whole(file, records).is_none()
        {
            // Half a record would make everything after it unreadable.
            self.state = State::GivenUp;
        }
    }

    fn open(&self) -> Option<File> {
        make_plain_folder(self.folder.parent()?)?;
        make_plain_folder(&self.folder)?;
        let now = unix_now();
        let (seconds, host, process) = (now as u64, host(), std::process::id());
        let name = format!("events.out.tfevents.{seconds:010}.{host}.{process}.{}", self.attempt);
        let path = self.folder.join(name);
        let mut file = OpenOptions::new().append(true).create_new(true).open(path).ok()?;
        let mut beginning = Vec::new();
        put_version(now, &mut beginning);
        append_whole(&mut file, &beginning)?;
        Some(file)
    }
}

/// Appends bytes to a file; when the disk does not take all of them, none stay. Nothing is returned
/// when that failed too.
fn append_whole(file: &mut File, bytes: &[u8]) -> Option<()> {
    let length = file.metadata().ok()?.len();
    if file.write_all(bytes).is_err() {
        file.set_len(length).ok()?;
    }
    Some(())
}

/// Makes a folder. Where a trainer has put a link, nothing is written.
fn make_plain_folder(path: &Path) -> Option<()> {
    if let Err(error) = fs::create_dir(path)
        && error.kind() != std::io::ErrorKind::AlreadyExists
    {
        return None;
    }
    fs::symlink_metadata(path).ok()?.is_dir().then_some(())
}

/// This machine's name, as it can stand in the name of a file.
pub(crate) fn host() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let name: String = name.chars().take(64).map(|c| if is_plain(c) { c } else { '_' }).collect();
    if name.is_empty() { "localhost".to_owned() } else { name }
}

#[cfg(test)]
pub(crate) mod tests;
