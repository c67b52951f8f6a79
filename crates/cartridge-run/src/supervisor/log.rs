//! What a trainer prints, in a file that does not grow without bound.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use cartridge_store::jsonl;
use cartridge_store::{Failure, RunDir, StoreError};

use crate::error::Result;
use crate::lab::held;

/// Longest line of output; of a longer one the rest is left out, or follows as lines of its own.
pub(super) const MAX_LOG_LINE: usize = 64 * 1024;

/// Longest of the lines that explain a failure, in characters.
pub(super) const MAX_LAST_LINE: usize = 2_000;

/// The last lines of a run's log, as they explain why it failed.
pub(crate) fn last_lines(dir: &RunDir) -> Vec<String> {
    // It is an explanation: where it cannot be read, the failure stands without.
    let (lines, _) = jsonl::tail_text(&dir.log_path(), Failure::LOG_LINES).unwrap_or_default();
    lines.into_iter().map(|line| line.chars().take(MAX_LAST_LINE).collect()).collect()
}

/// How large `log.txt` and `log.1.txt` may become together.
pub(super) const MAX_LOG_BYTES: u64 = 64 * 1024 * 1024;

/// Output is handed to the system in pieces of this size, or after a moment.
const LOG_BATCH: usize = 64 * 1024;

/// `log.txt`, and its last lines in memory.
///
/// It does not grow without bound: when it is half as large as allowed, it becomes `log.1.txt`, in
/// the place of the one before, and begins anew. What is dropped thereby is counted and said.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    /// Bytes and lines in the file.
    size: (u64, u64),
    /// Lines in `log.1.txt`.
    n_older: u64,
    max_bytes: u64,
    n_dropped: u64,
    /// What waits to be written.
    pending: Vec<u8>,
    n_pending: u64,
    pub(super) last_lines: VecDeque<String>,
}

impl Log {
    pub(crate) fn open(dir: &RunDir, max_bytes: u64) -> Result<Self> {
        let path = dir.log_path();
        let file = append_to(&path).map_err(StoreError::io(&path))?;
        let bytes = file.metadata().map_err(StoreError::io(&path))?.len();
        Ok(Self {
            path,
            file,
            size: (bytes, 0),
            n_older: 0,
            max_bytes,
            n_dropped: 0,
            pending: Vec::new(),
            n_pending: 0,
            last_lines: VecDeque::new(),
        })
    }

    /// Lines that are no longer in the log.
    pub(crate) fn n_dropped(&self) -> u64 {
        self.n_dropped
    }

    /// Adds a line; a very long one is kept in part.
    pub(crate) fn add(&mut self, line: &[u8]) {
        let kept = &line[..line.len().min(MAX_LOG_LINE)];
        let text = String::from_utf8_lossy(kept);
        self.push(&text);
        if kept.len() < line.len() {
            self.push(&format!("[{} more bytes]", line.len() - kept.len()));
        }
    }

    /// Adds the beginning of a line that was too long.
    pub(crate) fn add_cut(&mut self, beginning: &[u8], length: u64) {
        self.add(beginning);
        self.push(&format!("[cut: the line had {length} bytes]"));
    }

    fn push(&mut self, text: &str) {
        self.pending.extend_from_slice(text.as_bytes());
        self.pending.push(b'\n');
        self.n_pending += 1;
        if self.last_lines.len() == Failure::LOG_LINES {
            self.last_lines.pop_front();
        }
        self.last_lines.push_back(text.chars().take(MAX_LAST_LINE).collect());
        if self.pending.len() >= LOG_BATCH {
            self.flush();
        }
    }

    /// Hands to the system what has been added.
    pub(crate) fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        if self.size.0 + self.pending.len() as u64 > self.max_bytes / 2 {
            self.turn();
        }
        // The log is a convenience: a disk that is full must not end the training it describes.
        match self.file.write_all(&self.pending) {
            Ok(()) => {
                self.size.0 += self.pending.len() as u64;
                self.size.1 += self.n_pending;
            }
            Err(_) => self.n_dropped += self.n_pending,
        }
        self.pending.clear();
        self.n_pending = 0;
    }

    /// Begins a new file and keeps one older.
    fn turn(&mut self) {
        let older = self.path.with_file_name("log.1.txt");
        let turned = std::fs::rename(&self.path, &older).and_then(|()| append_to(&self.path));
        let Ok(file) = turned else { return };
        self.file = file;
        self.n_dropped += self.n_older;
        self.n_older = self.size.1;
        self.size = (0, 0);
        let said = format!(
            "[the log goes on here; what came before is in log.1.txt, {} lines are dropped]\n",
            self.n_dropped
        );
        if self.file.write_all(said.as_bytes()).is_ok() {
            self.size.0 += said.len() as u64;
        }
    }
}

fn append_to(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

pub(super) fn copy_lines(
    output: impl Read + Send + 'static,
    log: Arc<Mutex<Log>>,
) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut reader = BufReader::new(output);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut reader).take(MAX_LOG_LINE as u64).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => held(&log).add(line.strip_suffix(b"\n").unwrap_or(&line)),
            }
        }
    })
}
