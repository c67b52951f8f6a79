//! What a run's files say, as lines of W&B's files.
//!
//! Line `n` of W&B's history is the `n`-th row of `metrics.jsonl`. A run that goes on from a
//! checkpoint writes rows anew that it had written before, under the same numbers and with the same
//! values, apart from times: of each number the first counts, because a line that W&B has is never
//! changed. So the same line comes out whenever it is made and by whomever.

use std::path::PathBuf;

use cartridge_store::jsonl::read_batch;
use cartridge_store::{MetricLine, Result, SupervisorEvent, SupervisorLine};
use serde_json::Value;

use crate::analytics::window_of;
use crate::wandb::row::GLOBAL_STEP;

/// About as many bytes of a file become one post.
const POST_BYTES: u64 = 1024 * 1024;

/// Fields of a line of W&B's, in order.
type Fields = Vec<(String, String)>;

/// A file of a run that grows, read from its beginning.
#[derive(Debug)]
struct Tail {
    path: PathBuf,
    offset: u64,
}

impl Tail {
    /// Hands the next lines to `take`; says whether there are more after them.
    fn read(&mut self, mut take: impl FnMut(&[u8])) -> Result<bool> {
        let batch = read_batch(&self.path, self.offset, u64::MAX, POST_BYTES)?;
        for (line, end) in batch.lines() {
            take(line);
            self.offset = end;
        }
        Ok(batch.has_more)
    }
}

/// What lines of one of W&B's files are made of.
pub(crate) trait Source {
    /// Adds the next lines to `lines`, without those before the line `from`; says whether there are
    /// more after them.
    fn read(&mut self, from: u64, lines: &mut Vec<String>) -> Result<bool>;
}

/// Rows of metrics.
#[derive(Debug)]
pub(crate) struct History {
    tail: Tail,
    began_at: f64,
    window_steps: u64,
    n_lines: u64,
    last_row: Option<u64>,
    /// The newest value of everything, which is W&B's summary.
    summary: Fields,
}

impl History {
    /// The rows in `metrics.jsonl` of a run that began at `began_at`.
    pub(crate) fn new(path: PathBuf, began_at: f64, window_steps: u64) -> Self {
        let tail = Tail { path, offset: 0 };
        Self { tail, began_at, window_steps, n_lines: 0, last_row: None, summary: Fields::new() }
    }

    /// The newest value of everything that was read, if anything was.
    pub(crate) fn summary(&self) -> Option<String> {
        let runtime = self.summary.iter().find(|(name, _)| name == "_runtime");
        // By this W&B shows how long it took.
        let own = format!("{{\"runtime\":{}}}", runtime.map_or("0", |(_, runtime)| runtime));
        let fields = self.summary.iter().cloned().chain([("_wandb".to_owned(), own)]);
        (!self.summary.is_empty()).then(|| in_words(&fields.collect()))
    }
}

impl Source for History {
    fn read(&mut self, from: u64, lines: &mut Vec<String>) -> Result<bool> {
        let Self { tail, began_at, window_steps, n_lines, last_row, summary } = self;
        tail.read(|line| {
            // What is no row is none for anybody.
            let Ok(row) = serde_json::from_slice::<MetricLine>(line) else { return };
            if last_row.is_some_and(|last| row.row <= last) {
                return;
            }
            *last_row = Some(row.row);
            let fields = fields_of(&row, *n_lines, *began_at, *window_steps);
            if *n_lines >= from {
                lines.push(in_words(&fields));
            }
            *n_lines += 1;
            for (name, value) in fields {
                match summary.binary_search_by(|(known, _)| known.cmp(&name)) {
                    Ok(at) => summary[at].1 = value,
                    Err(at) => summary.insert(at, (name, value)),
                }
            }
        })
    }
}

fn fields_of(row: &MetricLine, line: u64, began_at: f64, window_steps: u64) -> Fields {
    let own = [
        ("_step", line.to_string()),
        ("_timestamp", number(Some(row.t))),
        ("_runtime", number(Some((row.t - began_at).max(0.0)))),
        (GLOBAL_STEP, row.step.to_string()),
        ("window_id", window_of(row.step, window_steps).to_string()),
    ];
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
    own.chain(row.values.iter().map(|(name, value)| (name.clone(), number(*value)))).collect()
}

/// A number as W&B writes it: one that is not finite is a bare word, which JSON does not have.
fn number(value: Option<f64>) -> String {
    match value.filter(|value| value.is_finite()) {
        Some(value) => Value::from(value).to_string(),
        None => "NaN".to_owned(),
    }
}

fn in_words(fields: &Fields) -> String {
    let mut text = String::from("{");
    for (place, (name, value)) in fields.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(&Value::from(name.as_str()).to_string());
        text.push(':');
        text.push_str(value);
    }
    text.push('}');
    text
}

/// What the trainer used of the machine, by its supervisor's beats.
#[derive(Debug)]
pub(crate) struct Beats {
    tail: Tail,
    began_at: f64,
    n_lines: u64,
}

impl Beats {
    /// The beats in `supervisor.jsonl`.
    pub(crate) fn new(path: PathBuf, began_at: f64) -> Self {
        Self { tail: Tail { path, offset: 0 }, began_at, n_lines: 0 }
    }
}

impl Source for Beats {
    fn read(&mut self, from: u64, lines: &mut Vec<String>) -> Result<bool> {
        let Self { tail, began_at, n_lines } = self;
        tail.read(|line| {
            let Ok(line) = serde_json::from_slice::<SupervisorLine>(line) else { return };
            let SupervisorEvent::Heartbeat { cpu_percent, rss_bytes, .. } = line.event else {
                return;
            };
            let used = [
                ("system.cpu", cpu_percent),
                ("system.proc.memory.rssMB", rss_bytes.map(|bytes| bytes as f64 / 1048576.0)),
            ];
            let used: Vec<_> = used.into_iter().filter(|(_, used)| used.is_some()).collect();
            if used.is_empty() {
                return;
            }
            if *n_lines >= from {
                let times = [("_timestamp", line.t), ("_runtime", (line.t - *began_at).max(0.0))];
                let times = times.into_iter().map(|(name, time)| (name, Some(time)));
                let fields =
                    times.chain(used).map(|(name, value)| (name.to_owned(), number(value)));
                let wandb = ("_wandb".to_owned(), "true".to_owned());
                lines.push(in_words(&fields.chain([wandb]).collect()));
            }
            *n_lines += 1;
        })
    }
}

#[cfg(test)]
mod tests;
