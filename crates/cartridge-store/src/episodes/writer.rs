//! Keeping episodes.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::mem;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::batch::{self, Packed};
use super::block::{Entry, FILE_HEADER_BYTES, FileHeader, FileKind, Header, Kind};
use super::reader::{Found, find};
use super::steps::{self, Place, Places, Stretch};
use super::{EpisodeBody, EpisodeHead, FORMAT, StepRecord, segment_name};
use crate::data_dir::sync_parent;
use crate::error::{Result, StoreError};
use crate::run_dir::RunDir;

/// Size from which the next block goes into a new segment, unless another is asked for.
const SEGMENT_BYTES: u64 = 64 * 1024 * 1024;

/// Steps that wait are written out when their lines have this many bytes: small enough that any
/// of them is found quickly, large enough to compress well.
const STEPS_BYTES: usize = 128 * 1024;

/// Episodes that wait are written out when they have this many bytes.
const BATCH_BYTES: usize = 64 * 1024;

/// The one writer of a run's episodes, which it holds locked.
///
/// What was added waits in memory, in bounds, until [`Self::flush`] or [`Self::sync`].
#[derive(Debug)]
pub struct EpisodeWriter {
    folder: PathBuf,
    index: File,
    index_end: u64,
    segment: u32,
    file: File,
    end: u64,
    segment_bytes: u64,
    attempt: u32,
    /// Ended episodes that wait, in order.
    ended: Vec<(EpisodeHead, Ended)>,
    n_ended_bytes: usize,
    /// Foreign episodes that have not ended, by attempt and name.
    open: BTreeMap<(u32, String), Open>,
    n_open_bytes: usize,
    next_serial: u64,
    /// Records of blocks that are written and not in the index yet.
    records: Vec<u8>,
    /// Older segments that have blocks which are not durable yet.
    unsynced: Vec<File>,
}

/// The body of an episode that waits.
#[derive(Debug)]
enum Ended {
    Actions(Packed),
    Steps(Open),
}

/// The steps of a foreign episode.
#[derive(Debug, Default)]
struct Open {
    foreign_id: String,
    places: Places,
    /// Steps that are in a block.
    n_written: u64,
    /// Steps that wait, as lines.
    lines: Vec<u8>,
    n_waiting: u32,
}

impl EpisodeWriter {
    /// Opens the episodes of a run for adding, and cuts off what a crash has left half-written;
    /// fails when another process writes them.
    pub fn open(dir: &RunDir) -> Result<Self> {
        Self::open_with(dir, SEGMENT_BYTES)
    }

    /// [`Self::open`] with segments of about this size.
    pub fn open_with(dir: &RunDir, segment_bytes: u64) -> Result<Self> {
        let folder = dir.episodes_path();
        if !folder.is_dir() {
            fs::create_dir_all(&folder).map_err(StoreError::io(&folder))?;
            sync_parent(&folder)?;
        }
        let index_path = folder.join("index");
        let index = open_file(&index_path)?;
        index.try_lock().map_err(|error| StoreError::io(&index_path)(error.into()))?;
        let Found { entries, segments, .. } = find(&folder)?;

        // The index is written anew where it does not say what the segments do.
        let mut wanted = FileKind::Index.header().to_vec();
        wanted.extend(entries.iter().flat_map(Entry::encode));
        let written = fs::read(&index_path).map_err(StoreError::io(&index_path))?;
        if written != wanted {
            let common = written.iter().zip(&wanted).take_while(|(a, b)| a == b).count();
            index
                .set_len(common as u64)
                .and_then(|()| index.write_all_at(&wanted[common..], common as u64))
                .and_then(|()| index.sync_data())
                .map_err(StoreError::io(&index_path))?;
        }
        let (segment, end) = segments.last().copied().unwrap_or((1, 0));
        let (file, end) = open_segment(&folder, segment, end)?;
        Ok(Self {
            index,
            index_end: wanted.len() as u64,
            segment,
            file,
            end,
            segment_bytes,
            attempt: 0,
            ended: Vec::new(),
            n_ended_bytes: 0,
            open: BTreeMap::new(),
            n_open_bytes: 0,
            // Later than every serial before: those began when the segments were shorter, and
            // at most one episode per byte can have been begun since.
            next_serial: (u64::from(segment) << 40) + end,
            records: Vec::new(),
            unsynced: Vec::new(),
            folder,
        })
    }

    /// Adds an episode that has ended. Where writing fails it waits with the others, so it is not
    /// to be added again.
    ///
    /// # Panics
    ///
    /// If its number is not larger than that of the one before in the same attempt.
    pub fn add(&mut self, head: &EpisodeHead, body: &EpisodeBody) -> Result<()> {
        let packed = match body {
            EpisodeBody::Discrete(actions) => Packed::discrete(head.length, actions),
            EpisodeBody::Continuous { width, actions } => Packed::continuous(*width, actions),
            EpisodeBody::Steps(steps) => {
                // Under a name that no open episode can have.
                let name = format!("\0{}", head.episode);
                for step in steps {
                    self.step(head.attempt, &name, step)?;
                }
                let key = (head.attempt, name);
                let mut open = self.open.remove(&key).unwrap_or_else(|| self.begin(""));
                open.foreign_id = head.foreign_id.clone().unwrap_or_default();
                return self.end_with(head, Ended::Steps(open), 0);
            }
        };
        let n_bytes = packed.bytes.len();
        self.end_with(head, Ended::Actions(packed), n_bytes)
    }

    /// Adds a step to a foreign episode, which begins with its first one.
    pub fn step(&mut self, attempt: u32, foreign_id: &str, step: &StepRecord) -> Result<()> {
        let key = (attempt, foreign_id.to_owned());
        if !self.open.contains_key(&key) {
            let open = self.begin(foreign_id);
            self.open.insert(key.clone(), open);
        }
        let open = self.open.get_mut(&key).expect("it was begun");
        let before = open.lines.len();
        steps::put_line(&mut open.lines, step);
        open.n_waiting += 1;
        self.n_open_bytes += open.lines.len() - before;
        if self.n_open_bytes >= STEPS_BYTES { self.flush() } else { Ok(()) }
    }

    /// Ends a foreign episode, whose steps were added by [`Self::step`] under
    /// [`EpisodeHead::foreign_id`]; it may have none.
    ///
    /// # Panics
    ///
    /// As [`Self::add`].
    pub fn end(&mut self, head: &EpisodeHead) -> Result<()> {
        let id = head.foreign_id.clone().unwrap_or_default();
        let open = self.open.remove(&(head.attempt, id.clone()));
        let open = open.unwrap_or_else(|| self.begin(&id));
        self.end_with(head, Ended::Steps(open), 0)
    }

    /// Steps so far of a foreign episode that has not ended.
    pub fn n_steps(&self, attempt: u32, foreign_id: &str) -> u64 {
        let open = self.open.get(&(attempt, foreign_id.to_owned()));
        open.map_or(0, |open| open.n_written + u64::from(open.n_waiting))
    }

    /// Foreign episodes that have not ended.
    pub fn n_open(&self) -> usize {
        self.open.len()
    }

    /// Hands everything added so far to the system: readers see it, and it survives the end of
    /// this process. What could not be written is tried again the next time.
    pub fn flush(&mut self) -> Result<()> {
        self.flush_steps()?;
        if self.ended.is_empty() {
            return Ok(());
        }
        let (first, last) = match self.ended.as_slice() {
            [(first, _), .., (last, _)] => (first.episode, last.episode),
            [(only, _)] => (only.episode, only.episode),
            [] => return Ok(()),
        };
        let episodes: Vec<(EpisodeHead, Packed)> = mem::take(&mut self.ended)
            .into_iter()
            .map(|(head, body)| match body {
                Ended::Actions(packed) => (head, packed),
                Ended::Steps(open) => (head, Packed::steps(&open.places)),
            })
            .collect();
        let content = batch::encode(&episodes);
        let header = Header {
            kind: Kind::EPISODES,
            n_bytes: 0,
            n_raw_bytes: 0,
            attempt: self.attempt,
            n: episodes.len() as u32,
            first,
            last,
            crc: 0,
        };
        let written = self.write(header, &content);
        if let Err(error) = written {
            let back = |(head, packed)| (head, Ended::Actions(packed));
            self.ended = episodes.into_iter().map(back).collect();
            return Err(error);
        }
        self.n_ended_bytes = 0;
        Ok(())
    }

    /// Makes everything added so far durable.
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        if self.records.is_empty() {
            return Ok(());
        }
        let path = self.segment_path();
        while let Some(older) = self.unsynced.last() {
            older.sync_data().map_err(StoreError::io(&path))?;
            self.unsynced.pop();
        }
        self.file.sync_data().map_err(StoreError::io(&path))?;
        // After the segments, so that the index never speaks of what is not there; it needs no
        // sync of its own, because it can be made anew.
        let path = self.folder.join("index");
        self.index.write_all_at(&self.records, self.index_end).map_err(StoreError::io(&path))?;
        self.index_end += self.records.len() as u64;
        self.records.clear();
        Ok(())
    }

    fn begin(&mut self, foreign_id: &str) -> Open {
        self.next_serial += 1;
        let places = Places { serial: self.next_serial, ..Places::default() };
        Open { foreign_id: foreign_id.to_owned(), places, ..Open::default() }
    }

    fn end_with(&mut self, head: &EpisodeHead, body: Ended, n_bytes: usize) -> Result<()> {
        if self.attempt != head.attempt {
            if let Err(error) = self.flush() {
                // It is not forgotten: it belongs to the others that wait.
                if let Ended::Steps(open) = body {
                    self.open.insert((head.attempt, open.foreign_id.clone()), open);
                }
                return Err(error);
            }
            self.attempt = head.attempt;
        }
        let rises = self.ended.last().is_none_or(|(before, _)| before.episode < head.episode);
        assert!(rises, "episode {} comes after a later one", head.episode);
        self.ended.push((head.clone(), body));
        // About what a head takes.
        self.n_ended_bytes += n_bytes + 16;
        if self.n_ended_bytes >= BATCH_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes the steps that wait, those of ended episodes first.
    fn flush_steps(&mut self) -> Result<()> {
        loop {
            let current = self.attempt;
            let ended = self.ended.iter_mut().filter_map(|(_, body)| match body {
                Ended::Steps(open) => Some((current, open)),
                Ended::Actions(_) => None,
            });
            let open = self.open.iter_mut().map(|((attempt, _), open)| (*attempt, open));
            let mut chosen: Vec<(u32, &mut Open)> =
                ended.chain(open).filter(|(_, open)| open.n_waiting > 0).collect();
            let Some(attempt) = chosen.first().map(|(attempt, _)| *attempt) else {
                self.n_open_bytes = 0;
                return Ok(());
            };
            chosen.retain(|(it, _)| *it == attempt);
            let mut lines = Vec::new();
            let mut stretches = Vec::new();
            for (_, open) in &chosen {
                if !lines.is_empty() && lines.len() + open.lines.len() > 2 * STEPS_BYTES {
                    break;
                }
                stretches.push(Stretch {
                    serial: open.places.serial,
                    foreign_id: open.foreign_id.clone(),
                    first: open.n_written,
                    n: open.n_waiting,
                    n_bytes: open.lines.len() as u32,
                });
                lines.extend_from_slice(&open.lines);
            }
            let header = Header {
                kind: Kind::STEPS,
                n_bytes: 0,
                n_raw_bytes: lines.len() as u32,
                attempt,
                n: stretches.len() as u32,
                first: 0,
                last: 0,
                crc: 0,
            };
            let content = steps::encode(&stretches, &lines);
            let serials: Vec<u64> = stretches.iter().map(|stretch| stretch.serial).collect();
            let (segment, offset) = self.write(header, &content)?;
            let ended = self.ended.iter_mut().filter_map(|(_, body)| match body {
                Ended::Steps(open) => Some(open),
                Ended::Actions(_) => None,
            });
            for open in ended.chain(self.open.values_mut()) {
                let Some(index) = serials.iter().position(|it| *it == open.places.serial) else {
                    continue;
                };
                let place = Place { segment, offset, index: index as u32, n: open.n_waiting };
                open.places.places.push(place);
                open.n_written += u64::from(open.n_waiting);
                open.n_waiting = 0;
                open.lines.clear();
            }
        }
    }

    /// Appends a block, and says where.
    fn write(&mut self, header: Header, content: &[u8]) -> Result<(u32, u64)> {
        if self.end >= self.segment_bytes.max(FILE_HEADER_BYTES + 1) {
            let (file, end) = open_segment(&self.folder, self.segment + 1, 0)?;
            self.unsynced.push(mem::replace(&mut self.file, file));
            self.segment += 1;
            self.end = end;
        }
        let n_bytes = u32::try_from(content.len()).map_err(|_| {
            StoreError::io(self.segment_path())(io::Error::from(io::ErrorKind::FileTooLarge))
        })?;
        let header = Header { n_bytes, crc: crc32fast::hash(content), ..header };
        let mut bytes = header.encode().to_vec();
        bytes.extend_from_slice(content);
        // At its place and not at the end: after a write that failed half-way, the next one
        // overwrites what it has left.
        self.file.write_all_at(&bytes, self.end).map_err(StoreError::io(self.segment_path()))?;
        let entry = Entry { segment: self.segment, offset: self.end, header };
        self.end += bytes.len() as u64;
        self.records.extend_from_slice(&entry.encode());
        Ok((entry.segment, entry.offset))
    }

    fn segment_path(&self) -> PathBuf {
        self.folder.join(segment_name(self.segment))
    }
}

impl Drop for EpisodeWriter {
    /// Nothing that was added is forgotten by a writer that ends in order.
    fn drop(&mut self) {
        _ = self.flush();
    }
}

fn open_file(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    options.open(path).map_err(StoreError::io(path))
}

/// Opens a segment whose last block ends at `end`, and cuts off what follows.
fn open_segment(folder: &Path, segment: u32, end: u64) -> Result<(File, u64)> {
    let path = folder.join(segment_name(segment));
    let file = open_file(&path)?;
    let prepare = || {
        let length = file.metadata()?.len();
        if length < FILE_HEADER_BYTES {
            file.set_len(0)?;
            file.write_all_at(&FileKind::Segment.header(), 0)?;
            file.sync_data()?;
            return Ok((FileHeader::Good, FILE_HEADER_BYTES));
        }
        let mut header = [0; FILE_HEADER_BYTES as usize];
        file.read_exact_at(&mut header, 0)?;
        let end = end.max(FILE_HEADER_BYTES);
        if end < length {
            file.set_len(end)?;
        }
        Ok((FileKind::Segment.check(&header), end))
    };
    let (header, end) = prepare().map_err(StoreError::io(&path))?;
    if let FileHeader::Newer(found) = header {
        return Err(StoreError::NewerFormat { path, found, known: FORMAT });
    }
    sync_parent(&path)?;
    Ok((file, end))
}
