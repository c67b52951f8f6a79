//! Every episode of a run: how it began, what was done in it, and how it ended.
//!
//! An episode of an environment of ours is its reset seed and its actions; everything else is
//! computed again. The steps of a foreign trainer's episode are kept as they came. Both lie in
//! `episodes/` of the run folder:
//!
//! | file | holds |
//! |---|---|
//! | `000001.seg`, `000002.seg`, ... | blocks of episodes or of foreign steps, appended to |
//! | `index` | where each block is and which episodes it holds; made anew from the segments |
//!
//! A segment begins with 16 bytes: `CARTEPIS`, the format, and the CRC-32 of both. Each block
//! begins with [`block::Header`] in 48 bytes and has a CRC-32 of its own, so that a block which
//! was changed or cut is noticed and the others stay readable. All numbers are little-endian.
//! Retention may remove whole segments, oldest first.
//!
//! # Choices
//!
//! Discrete actions are packed with as many bits as the largest of an episode needs, and heads as
//! differences from the head before. That leaves little for a compressor: on what PPO did in
//! Cart Pole and Lunar Lander, LZ4 over the segments would save 10% and 5%, and LZ4 over a byte per
//! action takes twice and one and a half times as much (`benches/results/episodes.jsonl`). Foreign
//! steps are JSON, which is compressed.

mod batch;
mod block;
mod bytes;
mod reader;
mod steps;
mod writer;

use serde_json::Value;

pub use self::reader::{Damage, EpisodeReader, Order, Page, Sort, Unfinished};
pub use self::writer::EpisodeWriter;

/// Format of the files in `episodes/`.
pub const FORMAT: u32 = 1;

/// What an episode was, in figures.
#[derive(Clone, Debug, PartialEq)]
pub struct EpisodeHead {
    /// Its number in the run, from 1; within an attempt, numbers rise.
    pub episode: u64,
    /// Which start of the trainer played it.
    pub attempt: u32,
    /// The environment that played it, of those side by side.
    pub lane: u32,
    /// The number given to `reset`, where it is known.
    pub seed: Option<u64>,
    /// Sum of its rewards.
    pub reward: f64,
    /// Number of its steps.
    pub length: u32,
    /// Steps of the run at its end.
    pub step: u64,
    /// Whether the task itself ended.
    pub terminated: bool,
    /// Whether its time ended.
    pub truncated: bool,
    /// Steps of the newest checkpoint when it ended.
    pub checkpoint_step: Option<u64>,
    /// When it ended, in Unix seconds.
    pub t: f64,
    /// What a foreign trainer calls it.
    pub foreign_id: Option<String>,
}

/// What was done in an episode.
#[derive(Clone, Debug, PartialEq)]
pub enum EpisodeBody {
    /// One of a list of actions in every step.
    Discrete(Vec<u32>),
    /// As many numbers in every step.
    Continuous {
        /// How many.
        width: u32,
        /// Those of all steps, one step after the other.
        actions: Vec<f32>,
    },
    /// What a foreign trainer said of every step.
    Steps(Vec<StepRecord>),
}

/// Compares two returns, the best last or first; those that are not finite come behind all others
/// either way, because they are neither the best nor the worst.
pub fn compare_returns(a: f64, b: f64, order: Order) -> std::cmp::Ordering {
    let by = a.total_cmp(&b);
    let by = if order == Order::Descending { by.reverse() } else { by };
    b.is_finite().cmp(&a.is_finite()).then(by)
}

/// What a foreign trainer said of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRecord {
    /// What was done.
    pub action: Value,
    /// What it earned.
    pub reward: f64,
    /// Whether the task itself ended with it.
    pub terminated: bool,
    /// Whether its time ended with it.
    pub truncated: bool,
    /// What was seen.
    pub obs: Option<Value>,
    /// When.
    pub t: Option<f64>,
}

/// The number of a segment from its name.
fn segment_number(name: &str) -> Option<u32> {
    let digits = name.strip_suffix(".seg")?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

fn segment_name(segment: u32) -> String {
    format!("{segment:06}.seg")
}

/// The numbers of the segments in a folder, in order; none when there is no folder.
fn segments(folder: &std::path::Path) -> crate::Result<Vec<u32>> {
    let names = match std::fs::read_dir(folder) {
        Ok(names) => names,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(crate::StoreError::io(folder)(error)),
    };
    let mut numbers = Vec::new();
    for entry in names {
        let entry = entry.map_err(crate::StoreError::io(folder))?;
        numbers.extend(entry.file_name().to_str().and_then(segment_number));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

#[cfg(test)]
mod tests;
