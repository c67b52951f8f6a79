//! `data/matches.jsonl`: every match that was played, one line each.
//!
//! Ratings are made from these lines and from nothing else. A line stays when the run that played
//! the match goes. Whoever carries a match out appends its line, in turn; a match whose process was
//! started again may be there twice, and the later line counts.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::data_dir::DataDir;
use crate::error::{Result, StoreError};
use crate::jsonl::{self, Appender};
use crate::run_dir::RunId;

/// Bytes of the log that are read at once.
const BATCH_BYTES: u64 = 8 * 1024 * 1024;

/// A player, as matches name it for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchPlayer {
    /// Who it is: `builtin:mcts:100`, `model:lander@3`, `run:r-7f3k2m@step_000200000`. The same key
    /// always plays the same.
    pub key: String,
    /// Its name for people.
    pub name: String,
    /// Hash of what it has learnt, where it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// A line of `matches.jsonl`: a match from the view of player `a`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchLine {
    /// Format of the line.
    pub format: u32,
    /// Its name: that of the run, and in a tournament the number of the pairing after a slash.
    pub id: String,
    /// The run that played it.
    pub run: RunId,
    /// When it ended.
    pub t: f64,
    /// Id of the game or environment.
    pub game: String,
    /// Version of its rules.
    pub rules: u32,
    /// Options of the environment.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub env: Map<String, Value>,
    /// Version of the product.
    pub cartridge_version: String,
    /// The player whose results are told.
    pub a: MatchPlayer,
    /// The other.
    pub b: MatchPlayer,
    /// What openings or episodes follow from.
    pub seed: u64,
    /// Whether every opening was played from both sides.
    pub both_sides: bool,
    /// `W`, `D` or `L` for each game in the order of play; where both sides are played, the first
    /// of each two has `a` moving first.
    pub results: String,
    /// At an environment, what each episode was reset with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<u64>,
    /// At an environment, the returns of both in each episode.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returns: Vec<[f64; 2]>,
}

impl MatchLine {
    /// The newest format of a line.
    pub const FORMAT: u32 = 1;

    /// Wins, draws and losses of `a`.
    pub fn counts(&self) -> [u32; 3] {
        let mut counts = [0; 3];
        for result in self.results.bytes() {
            match result {
                b'W' => counts[0] += 1,
                b'D' => counts[1] += 1,
                b'L' => counts[2] += 1,
                _ => {}
            }
        }
        counts
    }

    /// Whether a line of the log can be read by this version.
    pub fn parse(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok().filter(|line: &Self| line.format <= Self::FORMAT)
    }
}

/// Where the log is.
pub fn path(data: &DataDir) -> PathBuf {
    data.path().join("matches.jsonl")
}

/// Appends a line and makes it durable.
pub fn append(data: &DataDir, line: &MatchLine) -> Result<()> {
    let mut appender = Appender::open_in_turn(path(data))?;
    appender.append(line)?;
    appender.sync()
}

/// The log as far as it was read; what is new is added by [`Self::advance`].
#[derive(Clone, Debug, Default)]
pub struct MatchLog {
    /// Every match, in the order in which they ended.
    pub lines: Vec<MatchLine>,
    places: HashMap<String, usize>,
    offset: u64,
}

impl MatchLog {
    /// All of it.
    pub fn read(data: &DataDir) -> Result<Self> {
        let mut log = Self::default();
        log.advance(data)?;
        Ok(log)
    }

    /// Reads the lines that are new, and all of them when the file was cut. Returns whether
    /// anything has changed. Lines that cannot be read are left out; `cartridge fsck` names them.
    pub fn advance(&mut self, data: &DataDir) -> Result<bool> {
        let path = path(data);
        let mut has_news = false;
        loop {
            let batch = match jsonl::read_batch(&path, self.offset, u64::MAX, BATCH_BYTES) {
                Err(StoreError::Rewound(_)) if self.offset > 0 => {
                    *self = Self::default();
                    has_news = true;
                    continue;
                }
                batch => batch?,
            };
            for (bytes, end) in batch.lines() {
                self.offset = end;
                if let Some(line) = MatchLine::parse(bytes) {
                    self.take(line);
                    has_news = true;
                }
            }
            if !batch.has_more {
                return Ok(has_news);
            }
        }
    }

    fn take(&mut self, line: MatchLine) {
        match self.places.get(&line.id) {
            Some(&place) => self.lines[place] = line,
            None => {
                self.places.insert(line.id.clone(), self.lines.len());
                self.lines.push(line);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn line(id: &str, results: &str) -> MatchLine {
        let player =
            |key: &str| MatchPlayer { key: key.to_owned(), name: key.to_owned(), sha256: None };
        MatchLine {
            format: MatchLine::FORMAT,
            id: id.to_owned(),
            run: "r-000000".parse().unwrap(),
            t: 1.0,
            game: "connect4".to_owned(),
            rules: 1,
            env: Map::new(),
            cartridge_version: "0".to_owned(),
            a: player("builtin:perfect"),
            b: player("builtin:random"),
            seed: 0,
            both_sides: true,
            results: results.to_owned(),
            seeds: Vec::new(),
            returns: Vec::new(),
        }
    }

    #[test]
    fn lines_are_added_and_half_ones_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path()).unwrap();
        let mut log = MatchLog::read(&data).unwrap();
        assert_eq!(log.lines, []);
        append(&data, &line("a", "WDL")).unwrap();
        assert!(log.advance(&data).unwrap());
        assert!(!log.advance(&data).unwrap());
        assert_eq!(log.lines[0].counts(), [1, 1, 1]);
        // A crash in the middle of a line, and one of a version to come.
        let mut file = std::fs::File::options().append(true).open(path(&data)).unwrap();
        file.write_all(b"{\"format\":2}\nnonsense\n{\"format\":1,").unwrap();
        drop(file);
        assert!(!log.advance(&data).unwrap());
        append(&data, &line("b", "W")).unwrap();
        append(&data, &line("a", "WW")).unwrap();
        assert!(log.advance(&data).unwrap());
        let ids = |log: &MatchLog| {
            log.lines.iter().map(|it| (it.id.clone(), it.results.clone())).collect::<Vec<_>>()
        };
        let expected = [("a", "WW"), ("b", "W")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(ids(&log), expected, "the later line of a match counts");
        assert_eq!(ids(&MatchLog::read(&data).unwrap()), expected);
        std::fs::write(path(&data), "").unwrap();
        append(&data, &line("c", "L")).unwrap();
        assert!(log.advance(&data).unwrap());
        assert_eq!(ids(&log).len(), 1, "a file that was cut is read again");
    }
}
