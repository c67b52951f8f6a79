//! Following a run: what is new in its files since the last look.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::jsonl::{self, Line};
use crate::records::{ControlLine, Episodes, EventLine, MetricLine, SupervisorLine};
use crate::run_dir::RunDir;
use crate::status::RunStatus;

/// How far a run's files have been read, and what they said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Follower {
    /// How the run is doing.
    pub status: RunStatus,
    /// Events read so far; the next one gets this number plus one.
    pub n_events: u64,
    /// The newest metric row.
    pub last_row: u64,
    n_controls: u64,
    events_end: u64,
    metrics_end: u64,
    supervisor_end: u64,
    control_end: u64,
}

/// What was new at one look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct News {
    /// New events, numbered from 1 in the run.
    pub events: Vec<(u64, EventLine)>,
    /// New metric rows.
    pub metrics: Vec<MetricLine>,
    /// The bytes of `metrics.jsonl` that hold [`Self::metrics`].
    pub metrics_range: (u64, u64),
    /// Whether the supervisor wrote something.
    pub supervisor_spoke: bool,
    /// Whether anything at all was new.
    pub changed: bool,
}

impl Follower {
    /// Reads what is new in `dir`.
    pub fn advance(&mut self, dir: &RunDir) -> Result<News> {
        let mut news = News::default();
        // The supervisor is read first: its exit comes after everything the trainer wrote, so an
        // exit that is seen here never hides trainer lines from the reads below.
        let spoken = self.read::<SupervisorLine>(
            &dir.supervisor_path(),
            |f| &mut f.supervisor_end,
            &mut news,
        )?;
        for line in spoken.into_iter().flatten() {
            self.status.apply_supervisor(&line);
            news.supervisor_spoke = true;
        }
        for line in
            self.read::<ControlLine>(&dir.control_path(), |f| &mut f.control_end, &mut news)?
        {
            // Lines that cannot be read have their place too.
            self.n_controls += 1;
            if let Some(line) = line {
                self.status.apply_control(self.n_controls, &line);
            }
        }
        let events =
            self.read::<EventLine>(&dir.events_path(), |f| &mut f.events_end, &mut news)?;
        for line in events.into_iter().flatten() {
            if self.refuses(line.attempt) {
                continue;
            }
            self.status.apply_event(&line);
            self.n_events += 1;
            news.events.push((self.n_events, line));
        }
        let metrics_start = self.metrics_end;
        let metrics =
            self.read::<MetricLine>(&dir.metrics_path(), |f| &mut f.metrics_end, &mut news)?;
        for line in metrics.into_iter().flatten() {
            if self.refuses(line.attempt) || line.episodes.len().is_none() {
                continue;
            }
            self.status.apply_metrics(&line);
            self.last_row = self.last_row.max(line.row);
            news.metrics.push(line);
        }
        news.metrics_range = (metrics_start, self.metrics_end);
        Ok(news)
    }

    /// Whether a line belongs to an attempt that was replaced; such lines are counted.
    fn refuses(&mut self, attempt: u32) -> bool {
        let old = attempt < self.status.attempt;
        self.status.refused_lines += u64::from(old);
        old
    }

    /// The new lines of a file; nothing in the place of one that cannot be read.
    fn read<T: DeserializeOwned>(
        &mut self,
        path: &Path,
        end: impl Fn(&mut Self) -> &mut u64,
        news: &mut News,
    ) -> Result<Vec<Option<T>>> {
        let lines = jsonl::read_lines(path, *end(self), None)?;
        let mut records = Vec::with_capacity(lines.len());
        for Line { bytes, end: line_end } in lines {
            *end(self) = line_end;
            news.changed = true;
            let record = serde_json::from_slice(&bytes).ok();
            self.status.refused_lines += u64::from(record.is_none());
            records.push(record);
        }
        Ok(records)
    }
}

/// The metric rows in a range of bytes of `metrics.jsonl`, as [`News::metrics_range`] gave it.
pub fn metrics_in(dir: &RunDir, (start, end): (u64, u64)) -> Result<Vec<MetricLine>> {
    let lines = jsonl::read_lines(&dir.metrics_path(), start, Some(end))?;
    Ok(lines.iter().filter_map(|line| serde_json::from_slice(&line.bytes).ok()).collect())
}

/// The newest `n` episodes of a run, oldest first. Only the end of `metrics.jsonl` is read.
pub fn latest_episodes(dir: &RunDir, n: usize) -> Result<Episodes> {
    let path = dir.metrics_path();
    let mut span = 256 * 1024;
    loop {
        let (lines, is_whole) = jsonl::last_lines(&path, span)?;
        let mut all = Episodes::default();
        for line in &lines {
            let Ok(row) = serde_json::from_slice::<MetricLine>(&line.bytes) else { continue };
            if row.episodes.len().is_some() {
                all.append(row.episodes);
            }
        }
        if is_whole || all.episode.len() >= n {
            all.keep_last(n);
            return Ok(all);
        }
        span *= 4;
    }
}

#[cfg(test)]
mod tests;
