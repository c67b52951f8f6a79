//! Following a run: what is new in its files since the last look.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::jsonl::{self, Line};
use crate::records::{ControlLine, Episodes, Event, EventLine, MetricLine, SupervisorLine};
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
    /// The newest attempt that wrote an event, and a row.
    events_attempt: u32,
    metrics_attempt: u32,
    /// Where later attempts went on: the attempt, and the last row that it built on.
    restores: Vec<(u32, u64)>,
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
    /// Rows after this one, of earlier looks, are superseded: the trainer was started again.
    pub restored: Option<u64>,
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
        // Rows are read before the events, and taken in after them: a trainer that was started
        // again says so before it writes a row.
        let metrics_start = self.metrics_end;
        let metrics =
            self.read::<MetricLine>(&dir.metrics_path(), |f| &mut f.metrics_end, &mut news)?;
        let events =
            self.read::<EventLine>(&dir.events_path(), |f| &mut f.events_end, &mut news)?;
        for line in events.into_iter().flatten() {
            if line.attempt < self.events_attempt {
                self.status.refused_lines += 1;
                continue;
            }
            self.events_attempt = line.attempt;
            self.status.apply_event(&line);
            if let Event::Restored { row, .. } = line.event {
                self.restores.push((line.attempt, row));
                self.last_row = self.last_row.min(row);
                news.restored = Some(news.restored.map_or(row, |least| least.min(row)));
            }
            self.n_events += 1;
            news.events.push((self.n_events, line));
        }
        if news.restored.is_some() {
            self.look_back(dir, metrics_start)?;
        }
        for line in metrics.into_iter().flatten() {
            if line.attempt < self.metrics_attempt || line.episodes.len().is_none() {
                self.status.refused_lines += 1;
                continue;
            }
            self.metrics_attempt = line.attempt;
            if self.is_superseded(&line) {
                continue;
            }
            self.status.apply_metrics(&line);
            self.last_row = self.last_row.max(line.row);
            news.metrics.push(line);
        }
        news.metrics_range = (metrics_start, self.metrics_end);
        Ok(news)
    }

    /// Whether a later attempt went on from before this row.
    fn is_superseded(&self, line: &MetricLine) -> bool {
        self.restores.iter().any(|&(attempt, row)| line.attempt < attempt && row < line.row)
    }

    /// Finds the newest figures again after rows were superseded, in what was read before `end`.
    fn look_back(&mut self, dir: &RunDir, end: u64) -> Result<()> {
        self.status.forget_metrics();
        let mut until = end;
        let mut span = 64 * 1024;
        loop {
            let start = until.saturating_sub(span);
            let lines = jsonl::read_lines(&dir.metrics_path(), start, Some(until))?;
            // The first line begins somewhere before, unless it is the first of all.
            let whole = lines.get(usize::from(start > 0)..).unwrap_or_default();
            for line in whole.iter().rev() {
                if let Ok(line) = serde_json::from_slice::<MetricLine>(&line.bytes)
                    && line.episodes.len().is_some()
                    && !self.is_superseded(&line)
                {
                    self.status.fill_in_metrics(&line);
                    if self.status.has_metrics() {
                        return Ok(());
                    }
                }
            }
            if start == 0 {
                return Ok(());
            }
            match lines.first().filter(|_| lines.len() > 1) {
                Some(cut) => until = cut.end,
                None => span *= 4,
            }
        }
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
    Ok(surviving(&jsonl::read_lines(&dir.metrics_path(), start, Some(end))?))
}

/// The rows in some lines, without those that a later attempt among them has written anew.
fn surviving(lines: &[Line]) -> Vec<MetricLine> {
    let mut rows: Vec<MetricLine> = Vec::new();
    for line in lines {
        let Ok(row) = serde_json::from_slice::<MetricLine>(&line.bytes) else { continue };
        match rows.last().map(|last| last.attempt) {
            _ if row.episodes.len().is_none() => continue,
            Some(attempt) if row.attempt < attempt => continue,
            Some(attempt) if row.attempt > attempt => rows.retain(|old| old.row < row.row),
            _ => {}
        }
        rows.push(row);
    }
    rows
}

/// The newest `n` episodes of a run, oldest first. Only the end of `metrics.jsonl` is read.
pub fn latest_episodes(dir: &RunDir, n: usize) -> Result<Episodes> {
    let path = dir.metrics_path();
    let mut span = 256 * 1024;
    loop {
        let (lines, is_whole) = jsonl::last_lines(&path, span)?;
        let mut all = Episodes::default();
        surviving(&lines).into_iter().for_each(|row| all.append(row.episodes));
        if is_whole || all.episode.len() >= n {
            all.keep_last(n);
            return Ok(all);
        }
        span *= 4;
    }
}

#[cfg(test)]
mod tests;
