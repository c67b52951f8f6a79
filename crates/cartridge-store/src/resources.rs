//! What a run's trainer used of the machine over time, by the heartbeats of its supervisor.
//!
//! Nothing of this is in the index. A supervisor beats every few seconds: ten days of a foreign
//! trainer, 61 MB, were read in 0.12 s, and whoever follows a run reads no more than the end of it.

use std::path::Path;

use serde::Deserialize;

use crate::error::{Result, StoreError};
use crate::jsonl;
use crate::records::GpuSample;
use crate::run_dir::RunDir;

/// Bytes that are read at once.
const BATCH_BYTES: u64 = 1024 * 1024;

/// How much of the end of the file is tried first for what is new: some minutes of it.
const END_BYTES: u64 = 64 * 1024;

/// Bytes that are read to find a line.
const PROBE_BYTES: u64 = 4 * 1024;

/// What a trainer's processes used at one moment, or at most within some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub struct ResourceSample {
    /// Which start of the trainer.
    pub attempt: u32,
    /// When, in Unix seconds.
    pub t: f64,
    /// CPU use; 100 is one core.
    pub cpu_percent: Option<f64>,
    /// Memory.
    pub rss_bytes: Option<u64>,
    /// GPU use and memory, where there is one.
    pub gpu: Option<GpuSample>,
}

impl ResourceSample {
    /// Whether anything was measured at all.
    pub fn is_measured(&self) -> bool {
        self.cpu_percent.is_some() || self.rss_bytes.is_some() || self.gpu.is_some()
    }

    /// The greatest of each that was measured, at the end of that time. There is one at least.
    fn peak(samples: &[Self]) -> Self {
        let last = *samples.last().expect("a stretch has samples");
        samples.iter().fold(last, |peak, sample| Self {
            cpu_percent: greatest(peak.cpu_percent, sample.cpu_percent),
            // Nothing comes before anything else, and numbers by their size.
            rss_bytes: peak.rss_bytes.max(sample.rss_bytes),
            gpu: match (peak.gpu, sample.gpu) {
                (Some(a), Some(b)) => Some(GpuSample {
                    percent: a.percent.max(b.percent),
                    memory_bytes: a.memory_bytes.max(b.memory_bytes),
                }),
                (a, b) => a.or(b),
            },
            ..peak
        })
    }
}

fn greatest(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}

/// Every moment.
pub const ALWAYS: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// What was measured of a run between two moments, by all of its attempts, in the order of time. A
/// line that says something else, or nothing that can be read, is passed over.
pub fn samples(dir: &RunDir, (from, to): (f64, f64)) -> Result<Vec<ResourceSample>> {
    let path = dir.supervisor_path();
    let mut found = Vec::new();
    let mut offset = begin(&path, from);
    loop {
        let batch = match jsonl::read_batch(&path, offset, u64::MAX, BATCH_BYTES) {
            // It was cut meanwhile, or goes on with what no supervisor writes.
            Err(StoreError::Rewound(_) | StoreError::Damaged { .. }) => break,
            read => read?,
        };
        for (bytes, end) in batch.lines() {
            offset = end;
            // Other lines of the file have an attempt and a time, too, and no figures.
            let sample = serde_json::from_slice(bytes).ok();
            found.extend(sample.filter(|sample: &ResourceSample| {
                sample.is_measured() && (from..=to).contains(&sample.t)
            }));
        }
        if !batch.has_more {
            break;
        }
    }
    // A clock may have been set back between two attempts.
    found.sort_by(|a, b| a.t.total_cmp(&b.t));
    Ok(found)
}

/// Where to begin reading for what came from `from` on: near the end of the file, if that is there.
fn begin(path: &Path, from: f64) -> u64 {
    #[derive(Deserialize)]
    struct Time {
        t: f64,
    }
    let length = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let mut span = END_BYTES;
    while from > f64::NEG_INFINITY && span < length {
        if let Ok(batch) = jsonl::read_near(path, length - span, PROBE_BYTES) {
            let mut lines = batch.lines();
            // The first begins somewhere before.
            let start = lines.next().map(|(_, end)| end);
            let time = lines.find_map(|(bytes, _)| serde_json::from_slice::<Time>(bytes).ok());
            if let (Some(start), Some(Time { t })) = (start, time)
                && t < from
            {
                return start;
            }
        }
        span *= 4;
    }
    0
}

/// At most `most` rows of samples in the order of time. Each is of as many samples and has the
/// greatest of what they found, so that a spike survives; the newest is there as it was measured.
///
/// Where nothing was measured for longer than `silence_s`, and between two attempts, a row that
/// has measured nothing says so: of more such breaks than there is room for, the longest.
pub fn condense(samples: &[ResourceSample], most: usize, silence_s: f64) -> Vec<ResourceSample> {
    let most = most.max(2);
    let between = samples.windows(2).enumerate().map(|(place, pair)| {
        let seconds = pair[1].t - pair[0].t;
        (place + 1, seconds, seconds > silence_s || pair[0].attempt != pair[1].attempt)
    });
    let mut breaks: Vec<(usize, f64)> = between
        .filter(|(_, _, is_break)| *is_break)
        .map(|(place, seconds, _)| (place, seconds))
        .collect();
    breaks.sort_by(|a, b| b.1.total_cmp(&a.1));
    breaks.truncate(most / 4);
    breaks.sort_by_key(|(place, _)| *place);
    let n_together = if samples.len() + breaks.len() <= most {
        1
    } else {
        // A break takes a row, the stretch after it may begin another, and the newest has its own.
        let room = most.saturating_sub(2 * breaks.len() + 2).max(1);
        samples.len().div_ceil(room)
    };
    // Together with others it would not be what it was.
    let newest = samples.len() - usize::from(n_together > 1);
    let peaks = |stretch: &[ResourceSample]| -> Vec<ResourceSample> {
        stretch.chunks(n_together).map(ResourceSample::peak).collect()
    };
    let mut rows = Vec::new();
    let mut start = 0;
    for (place, _) in breaks {
        rows.extend(peaks(&samples[start..place]));
        let (before, after) = (&samples[place - 1], &samples[place]);
        let t = f64::midpoint(before.t, after.t);
        rows.push(ResourceSample { attempt: after.attempt, t, ..ResourceSample::default() });
        start = place;
    }
    rows.extend(peaks(&samples[start..newest]));
    rows.extend(&samples[newest..]);
    rows
}

#[cfg(test)]
mod tests;
