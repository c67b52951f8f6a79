//! Files of JSON lines: appended whole, read whole.
//!
//! A line counts from the moment its newline is on disk. What follows the last newline is a line
//! that is still being written, or was cut by a crash: readers leave it alone, and a writer that
//! opens the file again cuts it off, so that it never runs into the next line.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
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
        let line = std::mem::take(&mut self.buffer);
        let written = self.append_lines(&line);
        self.buffer = line;
        written
    }

    /// Appends whole lines, each with its newline, in one write. When that fails the file keeps
    /// none of them, so that they can be tried again.
    pub fn append_lines(&mut self, lines: &[u8]) -> Result<()> {
        assert!(lines.last().is_none_or(|&byte| byte == b'\n'), "lines are whole");
        let length = self.file.metadata().map_err(StoreError::io(&self.path))?.len();
        // One write for all of them, so that no reader meets two halves of different lines.
        self.file.write_all(lines).map_err(|error| {
            // Making a file shorter needs no room. Should it fail too, the next to open it cuts
            // the half line off.
            _ = self.file.set_len(length);
            StoreError::io(&self.path)(error)
        })
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
    let limit = limit.unwrap_or(u64::MAX);
    let batch = read_from(path, offset, limit, u64::MAX)?;
    Ok(batch.lines().map(|(bytes, end)| Line { bytes: bytes.to_vec(), end }).collect())
}

/// Whole lines that lie behind each other in a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Where in the file it begins.
    start: u64,
    /// Ends with a newline, or is empty.
    bytes: Vec<u8>,
    /// Whether there are more whole lines after these.
    pub has_more: bool,
}

impl Batch {
    /// The lines without their newlines, each with the offset just after it. One that is too long
    /// comes out empty, which is no record of anything.
    pub fn lines(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let mut end = self.start;
        self.bytes.split_inclusive(|&byte| byte == b'\n').map(move |line| {
            end += line.len() as u64;
            let is_sound = line.len() as u64 <= MAX_LINE_BYTES;
            (if is_sound { &line[..line.len() - 1] } else { &[] }, end)
        })
    }

    /// How many bytes of the file it covers.
    pub fn n_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// Reads whole lines of `path` from `offset` on, up to `limit`: about `budget` bytes of them, and
/// one line at least. A file that does not exist has none.
///
/// What lies before `offset` must still end with a newline there. If it does not, the file was cut
/// and has grown again since, as after a power failure: [`StoreError::Rewound`].
pub fn read_batch(path: &Path, offset: u64, limit: u64, budget: u64) -> Result<Batch> {
    if offset > 0 {
        let mut before = [0];
        let read = File::open(path).and_then(|file| file.read_at(&mut before, offset - 1));
        match read {
            Ok(_) if before == *b"\n" => {}
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::io(path)(error));
            }
            _ => return Err(StoreError::Rewound(path.to_owned())),
        }
    }
    read_from(path, offset, limit, budget)
}

/// About `budget` bytes of lines from anywhere in `path` on. The first of them begins somewhere
/// before, or is empty, and is not to be used.
pub(crate) fn read_near(path: &Path, offset: u64, budget: u64) -> Result<Batch> {
    read_from(path, offset.saturating_sub(1), u64::MAX, budget)
}

fn read_from(path: &Path, offset: u64, limit: u64, budget: u64) -> Result<Batch> {
    let mut batch = Batch { start: offset, ..Batch::default() };
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(batch),
        Err(error) => return Err(StoreError::io(path)(error)),
    };
    let until = limit.min(file.metadata().map_err(StoreError::io(path))?.len());
    if until <= offset {
        return Ok(batch);
    }
    let mut wanted = budget.min(until - offset);
    loop {
        let start = offset + batch.n_bytes();
        file.seek(SeekFrom::Start(start))
            .and_then(|_| (&mut file).take(offset + wanted - start).read_to_end(&mut batch.bytes))
            .map_err(StoreError::io(path))?;
        if let Some(newline) = batch.bytes.iter().rposition(|&byte| byte == b'\n') {
            batch.bytes.truncate(newline + 1);
            batch.has_more = wanted < until - offset;
            return Ok(batch);
        }
        if wanted == until - offset {
            batch.bytes = Vec::new();
            return Ok(batch);
        }
        // A line that is longer than the budget is read whole, up to a length that no writer of
        // ours comes near.
        if wanted >= 8 * MAX_LINE_BYTES {
            let detail = format!("a line from byte {offset} on does not end");
            return Err(StoreError::Damaged { path: path.to_owned(), detail });
        }
        wanted = (4 * wanted).min(until - offset);
    }
}

/// The whole lines within the last `span` bytes of `path`, and whether those are all it has.
pub fn last_lines(path: &Path, span: u64) -> Result<(Vec<Line>, bool)> {
    let length = match std::fs::metadata(path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(StoreError::io(path)(error)),
    };
    let start = length.saturating_sub(span);
    let mut bytes = Vec::new();
    if length > 0 {
        File::open(path)
            .and_then(|mut file| {
                file.seek(SeekFrom::Start(start))?;
                file.take(length - start).read_to_end(&mut bytes)
            })
            .map_err(StoreError::io(path))?;
    }
    bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1));
    let batch = Batch { start, bytes, has_more: false };
    let lines = batch.lines().map(|(bytes, end)| Line { bytes: bytes.to_vec(), end });
    // The first line begins somewhere before.
    Ok((lines.skip(usize::from(start > 0)).collect(), start == 0))
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

/// [`tail_text`] of a file that is turned over: what `newest` has too little of is in `older`. The
/// two are read again when `newest` was turned over meanwhile, so that no line comes twice.
pub fn tail_turned(newest: &Path, older: &Path, n_lines: usize) -> Result<(Vec<String>, bool)> {
    // Nobody writes so fast that three turns happen in a row.
    const TRIES: u32 = 3;
    let number = || std::fs::metadata(newest).map_or(0, |metadata| metadata.ino());
    let mut n_tries = 0;
    loop {
        let before = number();
        let (mut lines, truncated) = tail_text(newest, n_lines)?;
        if truncated || lines.len() >= n_lines {
            let has_older = truncated || older.exists();
            return Ok((lines, has_older));
        }
        let (mut all, truncated) = tail_text(older, n_lines - lines.len())?;
        n_tries += 1;
        if number() == before || n_tries == TRIES {
            all.append(&mut lines);
            return Ok((all, truncated));
        }
    }
}

#[cfg(test)]
mod tests;
