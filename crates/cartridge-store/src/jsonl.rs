//! Files of JSON lines: appended whole, read whole.
//!
//! A line counts from the moment its newline is on disk. What follows the last newline is a line
//! that is still being written, or was cut by a crash: readers leave it alone, and a writer that
//! opens the file again cuts it off, so that it never runs into the next line.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::data_dir::sync_parent;
use crate::error::{Result, StoreError};

/// The most of one line that is read; a longer one is skipped as damaged.
pub const MAX_LINE_BYTES: u64 = 8 * 1024 * 1024;

/// How often, and how many times, a file that another holds is tried again.
const TRY_EVERY: Duration = Duration::from_millis(10);
const N_TRIES: u32 = 30;

/// The one writer of a file, which it holds locked.
#[derive(Debug)]
pub struct Appender {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
}

impl Appender {
    /// Opens `path` for appending, creating it if needed; fails when another process writes it.
    ///
    /// A moment is waited first: after the end of a run, others note in its events what became of
    /// its files, and hold them while they do.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        Self::open_with(path.into(), |file| {
            for _ in 0..N_TRIES {
                if file.try_lock().is_ok() {
                    return Ok(());
                }
                std::thread::sleep(TRY_EVERY);
            }
            file.try_lock().map_err(io::Error::from)
        })
    }

    /// Opens `path` for appending if nobody writes it now.
    pub fn open_at_once(path: impl Into<PathBuf>) -> Result<Self> {
        Self::open_with(path.into(), |file| file.try_lock().map_err(io::Error::from))
    }

    /// Opens `path` for appending as soon as nobody else writes it.
    pub fn open_in_turn(path: impl Into<PathBuf>) -> Result<Self> {
        Self::open_with(path.into(), File::lock)
    }

    fn open_with(path: PathBuf, lock: impl FnOnce(&File) -> io::Result<()>) -> Result<Self> {
        let is_new = !path.exists();
        let file = open_locked(&path, lock).map_err(StoreError::io(&path))?;
        if is_new {
            sync_parent(&path)?;
        }
        Ok(Self { path, file, buffer: Vec::new() })
    }

    /// Appends one line. It is handed to the system at once, and durable after [`Self::sync`].
    pub fn append(&mut self, record: &impl Serialize) -> Result<()> {
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, record).expect("records are plain data");
        self.buffer.push(b'\n');
        // One write for the whole line, so that no reader meets two halves of different lines.
        self.file.write_all(&self.buffer).map_err(StoreError::io(&self.path))
    }

    /// Makes everything appended so far durable.
    pub fn sync(&mut self) -> Result<()> {
        self.file.sync_data().map_err(StoreError::io(&self.path))
    }
}

fn open_locked(path: &Path, lock: impl FnOnce(&File) -> io::Result<()>) -> io::Result<File> {
    let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
    lock(&file)?;
    let whole = end_of_last_line(&mut file)?;
    if whole < file.metadata()?.len() {
        file.set_len(whole)?;
    }
    Ok(file)
}

/// The offset after the last newline.
fn end_of_last_line(file: &mut File) -> io::Result<u64> {
    const CHUNK: u64 = 64 * 1024;
    let mut end = file.metadata()?.len();
    let mut chunk = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(CHUNK);
        file.seek(SeekFrom::Start(start))?;
        chunk.clear();
        file.take(end - start).read_to_end(&mut chunk)?;
        if let Some(newline) = chunk.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + newline as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// One whole line, and the offset just after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The line without its newline.
    pub bytes: Vec<u8>,
    /// Where the next line begins.
    pub end: u64,
}

/// Reads the whole lines of `path` from `offset` up to `limit` (or the end). A file that does not
/// exist has none.
pub fn read_lines(path: &Path, offset: u64, limit: Option<u64>) -> Result<Vec<Line>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io(path)(error)),
    };
    let mut read = || {
        let length = file.metadata()?.len();
        let until = limit.map_or(length, |limit| limit.min(length));
        if until <= offset {
            return Ok(Vec::new());
        }
        file.seek(SeekFrom::Start(offset))?;
        let mut reader = BufReader::new((&mut file).take(until - offset));
        let mut lines = Vec::new();
        let mut end = offset;
        loop {
            let mut bytes = Vec::new();
            let n_read = reader.read_until(b'\n', &mut bytes)?;
            if bytes.pop() != Some(b'\n') {
                return Ok(lines);
            }
            end += n_read as u64;
            if n_read as u64 > MAX_LINE_BYTES {
                bytes.clear();
            }
            lines.push(Line { bytes, end });
        }
    };
    read().map_err(StoreError::io(path))
}

/// The whole lines within the last `span` bytes of `path`, and whether those are all it has.
pub fn last_lines(path: &Path, span: u64) -> Result<(Vec<Line>, bool)> {
    let length = match std::fs::metadata(path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(StoreError::io(path)(error)),
    };
    let start = length.saturating_sub(span);
    let mut lines = read_lines(path, start, None)?;
    if start > 0 && !lines.is_empty() {
        // The first line begins somewhere before.
        lines.remove(0);
    }
    Ok((lines, start == 0))
}

/// The last `n_lines` lines of a text file, and whether there are more before them. Only the end
/// of the file is read, and bytes that are no UTF-8 are replaced.
pub fn tail_text(path: &Path, n_lines: usize) -> Result<(Vec<String>, bool)> {
    const MOST: u64 = 1024 * 1024;
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), false)),
        Err(error) => return Err(StoreError::io(path)(error)),
    };
    let mut bytes = Vec::new();
    let start = (|| {
        let start = file.metadata()?.len().saturating_sub(MOST);
        file.seek(SeekFrom::Start(start))?;
        file.read_to_end(&mut bytes)?;
        Ok(start)
    })()
    .map_err(StoreError::io(path))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if start > 0 && !lines.is_empty() {
        // The first line begins somewhere before.
        lines.remove(0);
    }
    let truncated = start > 0 || lines.len() > n_lines;
    Ok((lines.split_off(lines.len().saturating_sub(n_lines)), truncated))
}

#[cfg(test)]
mod tests;
