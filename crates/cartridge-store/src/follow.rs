//! Following a run: what is new in its files since the last look.

mod told;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::index::MAX_ROW;
use crate::jsonl;
use crate::records::{ControlLine, Episodes, Event, EventLine, MetricLine, SupervisorLine};
use crate::run_dir::RunDir;
use crate::status::RunStatus;

pub use self::told::{ToldEpisodes, ToldRow};

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
    /// The highest attempt in `events.jsonl`.
    events_attempt: u32,
    /// Attempt and number of the last sound line in `metrics.jsonl`, superseded or not.
    metrics_attempt: u32,
    metrics_row: u64,
    /// Attempts that went on from an earlier row, and that row.
    restores: Vec<(u32, u64)>,
}

/// What was new at one look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct News {
    /// New events, numbered from 1 in the run.
    pub events: Vec<(u64, EventLine)>,
    /// Of the rows that were told before, those after this one are superseded.
    pub last_kept_row: Option<u64>,
    /// New metric rows, in rising order, all after [`Self::last_kept_row`].
    pub metrics: Vec<MetricLine>,
    /// The bytes of `metrics.jsonl` that hold [`Self::metrics`].
    pub metrics_range: (u64, u64),
    /// Whether the supervisor wrote something.
    pub supervisor_spoke: bool,
    /// Whether anything at all was new.
    pub changed: bool,
    /// Whether there is more than was read at this look.
    pub has_more: bool,
}

impl Follower {
    /// Reads all that is new in `dir`.
    pub fn advance(&mut self, dir: &RunDir) -> Result<News> {
        self.advance_within(dir, u64::MAX)
    }

    /// Reads about `budget` bytes of what is new in `dir`, and one line at least.
    ///
    /// Whatever the budget, and whenever one looks, the end is the same as reading all at once,
    /// because files are read in the order in which their lines may depend on each other, and one
    /// that was not read to its end keeps the later ones waiting.
    pub fn advance_within(&mut self, dir: &RunDir, budget: u64) -> Result<News> {
        let mut look = Look { budget, news: News::default() };
        // The supervisor is read first: its exit comes after everything the trainer wrote, so an
        // exit that is seen here never hides trainer lines from the reads below.
        let spoken = look.read::<SupervisorLine>(self, File::Supervisor, dir, u64::MAX)?;
        for line in spoken.into_iter().flatten() {
            self.status.apply_supervisor(&line);
            look.news.supervisor_spoke = true;
        }
        for line in look.read::<ControlLine>(self, File::Control, dir, u64::MAX)? {
            // Lines that cannot be read have their place too.
            self.n_controls += 1;
            if let Some(line) = line {
                self.status.apply_control(self.n_controls, &line);
            }
        }
        // A trainer that goes on from a checkpoint says so before its first row. Rows are read up
        // to where they ended before the events were read, so that none comes before that event.
        let path = dir.metrics_path();
        let metrics_length = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        for line in look.read::<EventLine>(self, File::Events, dir, u64::MAX)?.into_iter().flatten()
        {
            if line.attempt < self.events_attempt {
                self.status.refused_lines += 1;
                continue;
            }
            self.events_attempt = line.attempt;
            if let Event::Restored { row, .. } = line.event {
                self.restores.push((line.attempt, row));
                if line.attempt > self.metrics_attempt && row < self.last_row {
                    look.news.drop_rows_after(row);
                    self.last_row = row;
                }
            }
            self.status.apply_event(&line);
            self.n_events += 1;
            look.news.events.push((self.n_events, line));
        }
        let metrics_start = self.metrics_end;
        for line in
            look.read::<MetricLine>(self, File::Metrics, dir, metrics_length)?.into_iter().flatten()
        {
            self.take_metrics(line, &mut look.news);
        }
        look.news.metrics_range = (metrics_start, self.metrics_end);
        Ok(look.news)
    }

    /// How much of `supervisor.jsonl` was read.
    pub(crate) fn supervisor_bytes(&self) -> u64 {
        self.supervisor_end
    }

    fn take_metrics(&mut self, line: MetricLine, news: &mut News) {
        // Whether a line is refused depends on the lines before it in its file alone.
        let is_sound = line.episodes.len().is_some()
            && (line.attempt, line.row) > (self.metrics_attempt, self.metrics_row)
            && (1..=MAX_ROW).contains(&line.row)
            && line.step <= MAX_ROW;
        if !is_sound {
            self.status.refused_lines += 1;
            return;
        }
        (self.metrics_attempt, self.metrics_row) = (line.attempt, line.row);
        let is_superseded =
            |(attempt, row): &(u32, u64)| *attempt > line.attempt && *row < line.row;
        if self.restores.iter().any(is_superseded) {
            // Not counted as refused: when it was written, nothing was wrong with it.
            return;
        }
        if line.row <= self.last_row {
            // It began again without a word.
            news.drop_rows_after(line.row - 1);
        }
        self.last_row = line.row;
        self.status.apply_metrics(&line);
        news.metrics.push(line);
    }
}

impl News {
    fn drop_rows_after(&mut self, row: u64) {
        self.metrics.retain(|line| line.row <= row);
        self.last_kept_row = Some(self.last_kept_row.map_or(row, |kept| kept.min(row)));
    }
}

/// The files that are followed.
#[derive(Clone, Copy, Debug)]
enum File {
    Supervisor,
    Control,
    Events,
    Metrics,
}

/// One look at the files.
struct Look {
    budget: u64,
    news: News,
}

impl Look {
    /// The new lines of a file up to `limit`; nothing in the place of one that cannot be read.
    fn read<T: DeserializeOwned>(
        &mut self,
        follower: &mut Follower,
        file: File,
        dir: &RunDir,
        limit: u64,
    ) -> Result<Vec<Option<T>>> {
        if self.news.has_more {
            return Ok(Vec::new());
        }
        let (path, end) = match file {
            File::Supervisor => (dir.supervisor_path(), &mut follower.supervisor_end),
            File::Control => (dir.control_path(), &mut follower.control_end),
            File::Events => (dir.events_path(), &mut follower.events_end),
            File::Metrics => (dir.metrics_path(), &mut follower.metrics_end),
        };
        let batch = jsonl::read_batch(&path, *end, limit, self.budget.max(1))?;
        self.budget = self.budget.saturating_sub(batch.n_bytes());
        self.news.has_more = batch.has_more;
        let mut records = Vec::new();
        for (bytes, line_end) in batch.lines() {
            *end = line_end;
            let record = serde_json::from_slice(bytes).ok();
            follower.status.refused_lines += u64::from(record.is_none());
            records.push(record);
        }
        self.news.changed |= !records.is_empty();
        Ok(records)
    }
}

/// The metric rows in a range of bytes of `metrics.jsonl`, as [`News::metrics_range`] gave it.
pub fn metrics_in(dir: &RunDir, (start, end): (u64, u64)) -> Result<Vec<MetricLine>> {
    Ok(surviving(&jsonl::read_lines(&dir.metrics_path(), start, Some(end))?))
}

/// The rows in some lines, without those that a later attempt among them has written anew.
fn surviving(lines: &[jsonl::Line]) -> Vec<MetricLine> {
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

/// The newest `n` metric rows of a run, oldest first, without those that a later attempt has
/// written anew. Only the end of `metrics.jsonl` is read.
pub fn latest_rows(dir: &RunDir, n: usize) -> Result<Vec<MetricLine>> {
    let mut span = 256 * 1024;
    loop {
        let (lines, is_whole) = jsonl::last_lines(&dir.metrics_path(), span)?;
        let mut rows = surviving(&lines);
        if is_whole || rows.len() >= n {
            rows.drain(..rows.len().saturating_sub(n));
            return Ok(rows);
        }
        span *= 4;
    }
}

/// The newest `n` episodes of a run, oldest first. Only the end of `metrics.jsonl` is read, unless
/// there are fewer: who knows how many there are asks for no more.
pub fn latest_episodes(dir: &RunDir, n: usize) -> Result<Episodes> {
    if n == 0 {
        return Ok(Episodes::default());
    }
    let mut all = latest_told(dir, n)?.into_episodes();
    all.keep_last(n);
    Ok(all)
}

/// The newest rows with episodes, so many that they have `n` at least: see [`latest_episodes`].
pub fn latest_told(dir: &RunDir, n: usize) -> Result<ToldEpisodes> {
    let mut span = 256 * 1024;
    loop {
        let (lines, is_whole) = jsonl::last_lines(&dir.metrics_path(), span)?;
        let mut told = ToldEpisodes::default();
        lines.iter().for_each(|line| told.take(&line.bytes));
        if is_whole || told.len() >= n {
            return Ok(told);
        }
        span *= 4;
    }
}

#[cfg(test)]
mod tests;
