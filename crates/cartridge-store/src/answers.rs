//! What requests were answered: `data/answers.jsonl`.
//!
//! A client that heard nothing asks again with the same key, and is told what it would have heard
//! the first time. Answers are kept for a day, across restarts, and no more than
//! [`MOST_ANSWERS`] of them; in memory there is only where each one lies in the file. Lines are
//! appended, and the file is written anew when most of it is out of date.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::data_dir::{DataDir, write_secret_beside};
use crate::error::{Result, StoreError};

/// How long an answer is kept.
pub const KEPT_S: f64 = 24.0 * 3600.0;

/// Answers that are kept at most; the oldest leave first.
pub const MOST_ANSWERS: usize = 10_000;

/// The longest body that is kept.
pub const MOST_BODY_BYTES: usize = 256 * 1024;

/// The file is written anew when it is longer than this and than twice what is in use.
const MOST_IDLE_BYTES: u64 = 4 * 1024 * 1024;

/// An answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The headers that belong to it, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// The body.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct AnswerLine {
    /// When it was answered, in Unix seconds.
    t: f64,
    /// Hash of who asked and by which key.
    key: String,
    /// Hash of what was asked.
    request: String,
    /// What was answered.
    answer: Answer,
}

/// The answers that are kept.
#[derive(Debug)]
pub struct Answers {
    path: PathBuf,
    file: File,
    /// Where the file ends.
    end: u64,
    places: HashMap<String, Place>,
    /// The keys, the oldest first.
    order: VecDeque<String>,
}

#[derive(Clone, Debug)]
struct Place {
    t: f64,
    offset: u64,
    length: u64,
}

impl Answers {
    /// Opens those of a data folder, without what is out of date.
    pub fn open(data: &DataDir, now: f64) -> Result<Self> {
        let path = data.path().join("answers.jsonl");
        let file = open_file(&path).map_err(StoreError::io(&path))?;
        let mut answers =
            Self { path, file, end: 0, places: HashMap::new(), order: VecDeque::new() };
        answers.read(now)?;
        answers.tidy(now)?;
        Ok(answers)
    }

    /// Takes in the file; half a line at its end is cut off, and what is no line is passed over.
    fn read(&mut self, now: f64) -> Result<()> {
        let io = StoreError::io(&self.path);
        let mut reader = BufReader::new(File::open(&self.path).map_err(io)?);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line).map_err(StoreError::io(&self.path))?;
            if length == 0 || line.last() != Some(&b'\n') {
                break;
            }
            let offset = self.end;
            self.end += length as u64;
            if let Ok(AnswerLine { t, key, .. }) = serde_json::from_slice(&line)
                && now - t < KEPT_S
            {
                self.place(key, Place { t, offset, length: length as u64 });
            }
        }
        self.file.set_len(self.end).map_err(StoreError::io(&self.path))
    }

    fn place(&mut self, key: String, place: Place) {
        if self.places.insert(key.clone(), place).is_none() {
            self.order.push_back(key);
        }
    }

    /// The hash of the request that was made by this key, and its answer.
    pub fn find(&mut self, key: &str, now: f64) -> Result<Option<(String, Answer)>> {
        let Some(place) = self.places.get(key).filter(|place| now - place.t < KEPT_S) else {
            return Ok(None);
        };
        let mut bytes = vec![0; usize::try_from(place.length).expect("lines are short")];
        let read = self
            .file
            .seek(SeekFrom::Start(place.offset))
            .and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(StoreError::io(&self.path))?;
        // A file that was changed by others has no answers; the request is made again.
        let line = serde_json::from_slice::<AnswerLine>(&bytes).ok();
        Ok(line.filter(|line| line.key == key).map(|line| (line.request, line.answer)))
    }

    /// Keeps the answer to a request, durably.
    pub fn keep(&mut self, key: &str, request: &str, answer: Answer, now: f64) -> Result<()> {
        if answer.body.len() > MOST_BODY_BYTES {
            return Ok(());
        }
        let line = AnswerLine { t: now, key: key.to_owned(), request: request.to_owned(), answer };
        let mut bytes = serde_json::to_vec(&line).expect("an answer is plain data");
        bytes.push(b'\n');
        let written = self.file.write_all(&bytes).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // Making a file shorter needs no room.
            _ = self.file.set_len(self.end);
            return Err(StoreError::io(&self.path)(error));
        }
        let (offset, length) = (self.end, bytes.len() as u64);
        self.end += length;
        self.place(line.key, Place { t: now, offset, length });
        self.tidy(now)
    }

    /// Drops what is too old or too much, and writes the file anew when that is most of it.
    fn tidy(&mut self, now: f64) -> Result<()> {
        while let Some(key) = self.order.front() {
            let is_old = self.places.get(key).is_none_or(|place| now - place.t >= KEPT_S);
            if !is_old && self.order.len() <= MOST_ANSWERS {
                break;
            }
            self.places.remove(key);
            self.order.pop_front();
        }
        let in_use: u64 = self.places.values().map(|place| place.length).sum();
        if self.end <= MOST_IDLE_BYTES || self.end <= 2 * in_use {
            return Ok(());
        }
        let mut content = Vec::new();
        let mut places = HashMap::new();
        for key in &self.order {
            let place = &self.places[key];
            let mut line = vec![0; usize::try_from(place.length).expect("lines are short")];
            let read = self
                .file
                .seek(SeekFrom::Start(place.offset))
                .and_then(|_| self.file.read_exact(&mut line));
            read.map_err(StoreError::io(&self.path))?;
            places.insert(key.clone(), Place { offset: content.len() as u64, ..place.clone() });
            content.append(&mut line);
        }
        write_secret_beside(&self.path, &content)?;
        self.file = open_file(&self.path).map_err(StoreError::io(&self.path))?;
        self.end = content.len() as u64;
        self.places = places;
        Ok(())
    }
}

/// Opens the file for its owner alone: answers may say what others should not read.
fn open_file(path: &PathBuf) -> io::Result<File> {
    fs::OpenOptions::new().create(true).read(true).append(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests;
