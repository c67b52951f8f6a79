//! Runs in windows of steps, so that iterations of one run, and of several, can be compared.
//!
//! A window has `analytics.window_steps` environment steps: of the run's own configuration where it
//! says so, otherwise of `data/lab.json`. Its number, the `window_id`, counts from 1: window 1 has
//! the steps 1 to `window_steps`. A row of metrics belongs to the window of its step. Where a source
//! is late, missing or broken, it is said, not left to be guessed.

use std::collections::BTreeMap;

use cartridge_store::{DataDir, Manifest, MetricValues, RunId, RunState, RunStatus, SeriesPoints};
use serde::Serialize;

use crate::error::{Result, RunError};
use crate::retention::LabConfig;
use crate::{metrics, steer};

/// What is shown of runs and windows, by stored name; the last three are the Asteroid Prospector's.
pub const KEYS: [&str; 7] = [
    "rollout/ep_rew_mean",
    "eval/mean_reward",
    "time/fps",
    "rollout/ep_len_mean",
    "episode/profit",
    "episode/survival",
    "episode/invalid_action_rate",
];

/// Short names of [`KEYS`], in their order.
const NAMES: [&str; 7] = [
    "return",
    "evaluation",
    "steps_per_sec",
    "length",
    "profit",
    "survival",
    "invalid_action_rate",
];

/// Points of a series that windows are made of. Of a longer one every window has the least and the
/// greatest of each stretch, and it is said ([`Windows::is_sampled`]).
pub const MOST_POINTS: usize = 20_000;

/// Newest rows among which the newest value of everything is looked for.
pub const TAIL_ROWS: usize = 50;

/// Windows that are told of one run; of more, the newest.
pub const MOST_WINDOWS: usize = 5_000;

/// Points of one series of a window that are told.
const MOST_ITERATION_POINTS: usize = 1_000;

/// A figure of a run that people look at first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Kpi {
    /// Its short name.
    pub name: &'static str,
    /// The metric.
    pub metric: &'static str,
    /// Its name for people.
    pub label: String,
    /// The newest value; nothing where there is none.
    pub value: Option<f64>,
    /// Steps at that value.
    pub step: Option<u64>,
}

/// How good a source of figures is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceState {
    /// As it should be.
    Ok,
    /// It is late.
    Stale,
    /// There is nothing.
    Missing,
    /// It could not be read.
    Error,
}

impl SourceState {
    /// The word in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Stale => "stale",
            Self::Missing => "missing",
            Self::Error => "error",
        }
    }
}

/// A source of figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Source {
    /// `metrics`, `evaluations`, `episode_metrics` or `heartbeat`.
    pub source: &'static str,
    /// How good it is.
    pub state: SourceState,
    /// Why, where it is not as it should be.
    pub detail: Option<String>,
}

/// A run in a line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunSummary {
    /// The run.
    pub run_id: RunId,
    /// Its name for people.
    pub name: String,
    /// Id of the environment.
    pub env_id: String,
    /// The algorithm, where it is known.
    pub algo: Option<String>,
    /// Where it is in its life.
    pub state: RunState,
    /// When it was made, in Unix seconds.
    pub created_at: f64,
    /// Environment steps so far.
    pub step: u64,
    /// Episodes that have ended.
    pub episodes: u64,
    /// Environment steps of a window.
    pub window_steps: u64,
    /// The newest window; 0 before the first step.
    pub window_id: u64,
    /// What people look at first.
    pub kpis: Vec<Kpi>,
    /// How good each source is.
    pub completeness: Vec<Source>,
}

impl RunSummary {
    /// Of a run whose newest rows are `rows`, or could not be read; `is_late` says that its
    /// supervisor is.
    pub fn new(
        manifest: &Manifest,
        status: &RunStatus,
        rows: std::result::Result<Vec<MetricValues>, String>,
        is_late: bool,
        config: &LabConfig,
    ) -> Self {
        let window_steps = window_steps(manifest, config);
        let (rows, failure) = match rows {
            Ok(rows) => (rows, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let kpis = kpis(|key| {
            let newest =
                rows.iter().rev().find_map(|row| Some((row.step, (*row.values.get(key)?)?)));
            newest.or_else(|| evaluated(key, status))
        });
        let algo = manifest.config["algo"].as_str().map(str::to_owned);
        let has_own = kpis[4..].iter().any(|kpi| kpi.value.is_some());
        Self {
            run_id: manifest.id.clone(),
            name: manifest.name.clone(),
            env_id: manifest.env_id.clone(),
            algo: algo.or_else(|| status.trainer.as_ref()?.algo.clone()),
            state: status.state(),
            created_at: manifest.created_at,
            step: status.step,
            episodes: status.episodes,
            window_steps,
            window_id: newest_window(status.step, window_steps),
            completeness: completeness(
                manifest,
                status,
                &rows,
                failure.as_deref(),
                has_own,
                is_late,
            ),
            kpis,
        }
    }
}

/// What people look at first, of the newest step and value of each of [`KEYS`].
pub fn kpis(newest: impl Fn(&str) -> Option<(u64, f64)>) -> Vec<Kpi> {
    let kpi = |(key, name): (&&'static str, &'static str)| {
        let newest = newest(key);
        Kpi {
            name,
            metric: key,
            label: crate::metric_label(key),
            value: newest.map(|(_, value)| value),
            step: newest.map(|(step, _)| step),
        }
    };
    KEYS.iter().zip(NAMES).map(kpi).collect()
}

/// An evaluation that is older than the newest rows.
fn evaluated(key: &str, status: &RunStatus) -> Option<(u64, f64)> {
    let evaluation = status.latest_eval.as_ref().filter(|_| key == "eval/mean_reward")?;
    Some((evaluation.step, evaluation.mean))
}

fn completeness(
    manifest: &Manifest,
    status: &RunStatus,
    rows: &[MetricValues],
    failure: Option<&str>,
    has_own: bool,
    is_late: bool,
) -> Vec<Source> {
    let source = |source, state, detail: Option<&str>| Source {
        source,
        state,
        detail: detail.map(str::to_owned),
    };
    let late = "the supervisor of this run is late or gone";
    let metrics = match failure {
        Some(error) => source("metrics", SourceState::Error, Some(error)),
        None if rows.is_empty() => {
            source("metrics", SourceState::Missing, Some("nothing was measured yet"))
        }
        None if is_late => source("metrics", SourceState::Stale, Some(late)),
        None => source("metrics", SourceState::Ok, None),
    };
    let every = manifest.config["evaluation"]["every_steps"].as_u64();
    let evaluations = match (&status.latest_eval, every) {
        (None, _) => source("evaluations", SourceState::Missing, Some("it was not measured yet")),
        (Some(latest), Some(every)) if status.step.saturating_sub(latest.step) > 2 * every => {
            let detail = "the newest evaluation is more than two intervals old";
            source("evaluations", SourceState::Stale, Some(detail))
        }
        (Some(_), _) => source("evaluations", SourceState::Ok, None),
    };
    let own = match (failure, has_own) {
        (Some(error), _) => source("episode_metrics", SourceState::Error, Some(error)),
        (None, true) => source("episode_metrics", SourceState::Ok, None),
        (None, false) => {
            let detail = "this environment tells no profit, survival or invalid actions";
            source("episode_metrics", SourceState::Missing, Some(detail))
        }
    };
    let heartbeat = match status.heartbeat_at {
        None => source("heartbeat", SourceState::Missing, Some("it was not started yet")),
        Some(_) if is_late || status.state() == RunState::Lost => {
            source("heartbeat", SourceState::Stale, Some(late))
        }
        Some(_) => source("heartbeat", SourceState::Ok, None),
    };
    vec![metrics, evaluations, own, heartbeat]
}

/// What a metric came to in a window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Values.
    pub n: u64,
    /// Their mean.
    pub mean: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// The newest.
    pub last: f64,
}

impl Figures {
    fn add(figures: &mut Option<Self>, value: f64) {
        let Some(Self { n, mean, min, max, last }) = figures else {
            *figures = Some(Self { n: 1, mean: value, min: value, max: value, last: value });
            return;
        };
        *n += 1;
        *mean += (value - *mean) / *n as f64;
        *min = min.min(value);
        *max = max.max(value);
        *last = value;
    }
}

/// One window of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Window {
    /// Its number, from 1.
    pub window_id: u64,
    /// Its first step.
    pub from_step: u64,
    /// Its last step.
    pub to_step: u64,
    /// What was measured in it, by short name.
    pub figures: BTreeMap<&'static str, Figures>,
}

/// The windows of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Windows {
    /// The run.
    pub run_id: String,
    /// Environment steps of a window.
    pub window_steps: u64,
    /// Those in which something was measured, oldest first.
    pub windows: Vec<Window>,
    /// Whether there are older ones that are not told.
    pub is_truncated: bool,
    /// Whether the means rest on the least and greatest of stretches, because there is so much.
    pub is_sampled: bool,
}

impl Windows {
    /// The windows of these series, which are of [`KEYS`].
    pub fn new(run_id: String, window_steps: u64, series: &[SeriesPoints]) -> Self {
        let mut windows: BTreeMap<u64, BTreeMap<&'static str, Option<Figures>>> = BTreeMap::new();
        for points in series {
            let Some(place) = KEYS.iter().position(|key| *key == points.key) else { continue };
            for (&step, value) in points.step.iter().zip(&points.value) {
                let Some(value) = *value else { continue };
                let window = windows.entry(window_of(step, window_steps)).or_default();
                Figures::add(window.entry(NAMES[place]).or_default(), value);
            }
        }
        let is_truncated = windows.len() > MOST_WINDOWS;
        let skipped = windows.len().saturating_sub(MOST_WINDOWS);
        let windows = windows.into_iter().skip(skipped).map(|(window_id, figures)| {
            let (from_step, to_step) = steps_of(window_id, window_steps);
            let figures =
                figures.into_iter().filter_map(|(name, figures)| Some((name, figures?))).collect();
            Window { window_id, from_step, to_step, figures }
        });
        Self {
            run_id,
            window_steps,
            windows: windows.collect(),
            is_truncated,
            is_sampled: series.iter().any(|points| points.step.len() >= MOST_POINTS),
        }
    }

    /// Forgets all but the newest `limit` windows.
    pub fn keep_newest(&mut self, limit: usize) {
        let skipped = self.windows.len().saturating_sub(limit);
        self.is_truncated |= skipped > 0;
        self.windows.drain(..skipped);
    }
}

/// One window of a run, with all that was measured in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Iteration {
    /// The run.
    pub run_id: String,
    /// Number of the window, from 1.
    pub window_id: u64,
    /// Its first step.
    pub from_step: u64,
    /// Its last step.
    pub to_step: u64,
    /// Everything that was measured in it.
    pub metrics: Vec<IterationMetric>,
}

/// A metric in a window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IterationMetric {
    /// Name of the metric.
    pub key: String,
    /// Its name for people.
    pub label: String,
    /// What it came to.
    pub figures: Figures,
    /// Environment steps of its points; of very many, evenly thinned out.
    pub step: Vec<u64>,
    /// Values; none where one was not finite.
    pub value: Vec<Option<f64>>,
}

impl Iteration {
    /// The window of these series, which begin and end with it.
    pub fn new(
        run: &str,
        window_id: u64,
        window_steps: u64,
        last_step: u64,
        series: &[SeriesPoints],
    ) -> Result<Self> {
        let (from_step, to_step) = steps_of(window_id, window_steps);
        let metrics: Vec<IterationMetric> = series
            .iter()
            .filter_map(|points| {
                let mut figures = None;
                points.value.iter().flatten().for_each(|value| Figures::add(&mut figures, *value));
                let stride = points.step.len().div_ceil(MOST_ITERATION_POINTS).max(1);
                Some(IterationMetric {
                    label: crate::metric_label(&points.key),
                    key: points.key.clone(),
                    figures: figures?,
                    step: points.step.iter().step_by(stride).copied().collect(),
                    value: points.value.iter().step_by(stride).copied().collect(),
                })
            })
            .collect();
        if metrics.is_empty() || window_id == 0 {
            let last = newest_window(last_step, window_steps);
            return Err(RunError::NoSuchWindow { run: run.to_owned(), window: window_id, last });
        }
        Ok(Self { run_id: run.to_owned(), window_id, from_step, to_step, metrics })
    }
}

/// Environment steps of a window of a run.
pub fn window_steps(manifest: &Manifest, config: &LabConfig) -> u64 {
    let own = manifest.config["analytics"]["window_steps"].as_u64();
    own.unwrap_or(config.analytics.window_steps).max(1)
}

/// The window of the newest step; 0 before the first.
pub fn newest_window(step: u64, window_steps: u64) -> u64 {
    if step == 0 { 0 } else { window_of(step, window_steps) }
}

/// The window of a step.
pub(crate) fn window_of(step: u64, window_steps: u64) -> u64 {
    step.div_ceil(window_steps).max(1)
}

/// The first and last step of a window. A row at step 0 belongs to the first.
pub fn steps_of(window_id: u64, window_steps: u64) -> (u64, u64) {
    let to = window_id.saturating_mul(window_steps);
    let from = if window_id <= 1 { 0 } else { to.saturating_sub(window_steps) + 1 };
    (from, to)
}

/// The newest trainings, read from the files alone, newest first.
pub fn read_runs(data: &DataDir, limit: usize) -> Result<Vec<RunSummary>> {
    use cartridge_store::RunKind::{External, Train};
    let mut manifests: Vec<Manifest> = data
        .run_ids()?
        .iter()
        .filter_map(|id| data.run(id).manifest().ok())
        .filter(|manifest| matches!(manifest.kind, Train | External))
        .collect();
    manifests.sort_by(|a, b| b.created_at.total_cmp(&a.created_at));
    manifests.truncate(limit);
    manifests.iter().map(|manifest| read_summary(data, &manifest.id)).collect()
}

/// A run in a line, read from its files alone.
pub fn read_summary(data: &DataDir, id: &RunId) -> Result<RunSummary> {
    let config = LabConfig::read(data)?;
    let (manifest, status) = steer::look(data, id)?;
    let rows = metrics::rows(data, id, &KEYS).map_err(|error| error.to_string());
    let is_late = status.state() == RunState::Lost;
    Ok(RunSummary::new(&manifest, &status, rows, is_late, &config))
}

/// The windows of a run, read from its files alone.
pub fn read_windows(data: &DataDir, id: &RunId) -> Result<Windows> {
    let window_steps = window_steps(&data.run(id).manifest()?, &LabConfig::read(data)?);
    let series = metrics::as_series(&metrics::rows(data, id, &KEYS)?);
    Ok(Windows { is_sampled: false, ..Windows::new(id.to_string(), window_steps, &series) })
}

/// One window of a run, read from its files alone.
pub fn read_iteration(data: &DataDir, id: &RunId, window_id: u64) -> Result<Iteration> {
    let window_steps = window_steps(&data.run(id).manifest()?, &LabConfig::read(data)?);
    let (from, to) = steps_of(window_id, window_steps);
    let mut rows = metrics::rows(data, id, &[])?;
    let last_step = rows.last().map_or(0, |row| row.step);
    rows.retain(|row| (from..=to).contains(&row.step));
    Iteration::new(id.as_str(), window_id, window_steps, last_step, &metrics::as_series(&rows))
}

#[cfg(test)]
mod tests;
