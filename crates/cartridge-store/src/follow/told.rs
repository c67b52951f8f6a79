//! The episodes of a run, as its metrics tell of them.

use serde::Deserialize;

use crate::error::{Result, StoreError};
use crate::jsonl;
use crate::records::Episodes;
use crate::run_dir::RunDir;

/// How much is read at once.
const BATCH_BYTES: u64 = 8 * 1024 * 1024;

/// All episodes that `metrics.jsonl` tells of. Looking again reads only what was written since.
#[derive(Clone, Debug, Default)]
pub struct ToldEpisodes {
    /// Where the next line begins.
    end: u64,
    attempt: u32,
    /// Rows without any are left out.
    rows: Vec<ToldRow>,
}

/// The episodes that a row tells of.
#[derive(Clone, Debug, PartialEq)]
pub struct ToldRow {
    /// Number of the row.
    pub row: u64,
    /// When it was written.
    pub t: f64,
    /// The episodes that ended since the row before.
    pub episodes: Episodes,
}

/// The part of a [`MetricLine`] that tells of episodes; the rest is not even looked at.
#[derive(Deserialize)]
struct EpisodesLine {
    attempt: u32,
    row: u64,
    t: f64,
    #[serde(default)]
    episodes: Episodes,
}

impl ToldEpisodes {
    /// Reads on.
    pub fn refresh(&mut self, dir: &RunDir) -> Result<()> {
        loop {
            let batch =
                match jsonl::read_batch(&dir.metrics_path(), self.end, u64::MAX, BATCH_BYTES) {
                    // The file was cut and has grown again.
                    Err(StoreError::Rewound(_)) if self.end > 0 => {
                        *self = Self::default();
                        continue;
                    }
                    batch => batch?,
                };
            for (bytes, end) in batch.lines() {
                self.take(bytes);
                self.end = end;
            }
            if !batch.has_more {
                return Ok(());
            }
        }
    }

    /// The rows with episodes, oldest first.
    pub fn rows(&self) -> &[ToldRow] {
        &self.rows
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.iter().map(|told| told.episodes.episode.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All of them as columns.
    pub(super) fn into_episodes(self) -> Episodes {
        let mut all = Episodes::default();
        self.rows.into_iter().for_each(|told| all.append(told.episodes));
        all
    }

    /// Takes in a line: what a later attempt has written anew replaces what was there.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let Ok(line) = serde_json::from_slice::<EpisodesLine>(bytes) else { return };
        if line.episodes.len().is_none() || line.attempt < self.attempt {
            return;
        }
        if line.attempt > self.attempt {
            self.attempt = line.attempt;
            self.rows.retain(|told| told.row < line.row);
        }
        let EpisodesLine { row, t, episodes, .. } = line;
        if !episodes.is_empty() {
            self.rows.push(ToldRow { row, t, episodes });
        }
    }
}
