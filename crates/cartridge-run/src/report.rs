//! All of a run on one page: what it is, how it did, what its numbers say, and who changed what.
//!
//! As JSON for programs, as text for terminals and mails, and as a page of HTML that needs nothing
//! else: no script, no picture and no address outside it. Whatever came from somebody's trainer or
//! keyboard is escaped.

mod chart;
mod page;
mod text;

use std::collections::BTreeMap;

use cartridge_learn::metric::Metric;
use cartridge_store::{
    ArtifactList, DataDir, Evaluation, Event, EventLine, Follower, Manifest, RunId, RunStatus,
    SeriesPoints,
};
use serde::Serialize;
use serde_json::Value;

use crate::audit::{self, AuditLine, Filter, Marks};
use crate::error::Result;
use crate::insight::{self, Insights};
use crate::{metric_label, metrics, steer};

/// Charts of a report, by metric; those that a run does not have are left out.
pub const CHARTS: [Metric; 10] = [
    Metric::EpisodeReward,
    Metric::EvaluationReward,
    Metric::EpisodeLength,
    Metric::Loss,
    Metric::Entropy,
    Metric::ApproxKl,
    Metric::ExplainedVariance,
    Metric::LearningRate,
    Metric::ExplorationRate,
    Metric::StepsPerSecond,
];

/// Points of a chart.
pub const CHART_POINTS: usize = 400;

/// Newest evaluations, changes and warnings that are told.
const MOST_LINES: usize = 200;

/// All of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The run.
    pub run_id: RunId,
    /// Its name for people.
    pub name: String,
    /// Id of the environment or game.
    pub env_id: String,
    /// Where it is in its life, as a word.
    pub state: String,
    /// Version of the product that made it.
    pub cartridge_version: String,
    /// When it was made, in Unix seconds.
    pub created_at: f64,
    /// When its trainer was started.
    pub started_at: Option<f64>,
    /// When its trainer ended.
    pub ended_at: Option<f64>,
    /// Environment steps so far.
    pub step: u64,
    /// Episodes that have ended.
    pub episodes: u64,
    /// Why it failed or was lost.
    pub failure: Option<String>,
    /// Hash of the weights of its newest checkpoint.
    pub weights_sha256: Option<String>,
    /// Where it comes from and what came from it.
    pub lineage: Lineage,
    /// What it uses and has made.
    pub resources: Resources,
    /// What its numbers say.
    pub insights: Insights,
    /// Its evaluations, oldest first.
    pub evaluations: Vec<Evaluation>,
    /// What was asked of it, and by whom, oldest first.
    pub changes: Vec<Change>,
    /// Warnings and errors, oldest first.
    pub warnings: Vec<Warning>,
    /// Its charts.
    pub charts: Vec<Chart>,
    /// Its whole configuration.
    pub config: Value,
}

/// Where a run comes from and what came from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Lineage {
    /// The run that it was forked from.
    pub parent: Option<RunId>,
    /// Environment steps of the checkpoint that it began from.
    pub parent_step: Option<u64>,
    /// Its forks.
    pub children: Vec<RunId>,
    /// The experiment that it belongs to.
    pub experiment_id: Option<String>,
    /// The runs that it was made together with.
    pub group: Option<String>,
}

/// What a run uses and has made.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Resources {
    /// Seconds from the start of its newest attempt to its end, or to its last sign of life.
    pub seconds: Option<f64>,
    /// Starts of its trainer.
    pub attempts: u32,
    /// Steps a second of the newest update.
    pub steps_per_sec: Option<f64>,
    /// CPU use of the trainer; 100 is one core.
    pub cpu_percent: Option<f64>,
    /// Memory of the trainer.
    pub memory_bytes: Option<u64>,
    /// Use of the busiest GPU, in percent.
    pub gpu_percent: Option<f64>,
    /// Bytes of what it has made, by kind.
    pub artifact_bytes: BTreeMap<&'static str, u64>,
}

/// Something that was asked of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// When, in Unix seconds.
    pub t: f64,
    /// Who asked.
    pub who: String,
    /// What.
    pub what: &'static str,
    /// What was there before.
    pub old: Value,
    /// What is there now.
    pub new: Value,
}

/// Something that a person should know.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Warning {
    /// When, in Unix seconds.
    pub t: f64,
    /// In a sentence.
    pub message: String,
}

/// A metric over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// Name of the metric.
    pub key: String,
    /// Its name for people.
    pub label: String,
    /// Environment steps.
    pub step: Vec<u64>,
    /// Values; none where one was not finite.
    pub value: Vec<Option<f64>>,
}

/// What a report is made of.
pub(crate) struct Material {
    pub(crate) manifest: Manifest,
    pub(crate) status: RunStatus,
    pub(crate) insights: Insights,
    pub(crate) series: Vec<SeriesPoints>,
    pub(crate) events: Vec<EventLine>,
    pub(crate) children: Vec<RunId>,
}

/// The report of a run, read from its files alone.
pub fn read(data: &DataDir, id: &RunId) -> Result<Report> {
    let (manifest, status) = steer::look(data, id)?;
    let keys = CHARTS.map(Metric::name);
    let mut marks = Marks::default();
    marks.advance(data)?;
    let mut series = metrics::as_series(&metrics::rows(data, id, &keys)?);
    for points in &mut series {
        thin_out(points);
    }
    let events = Follower::default().advance(&data.run(id))?.events;
    Report::new(
        data,
        Material {
            insights: insight::read(data, id)?,
            series,
            events: events.into_iter().map(|(_, line)| line).collect(),
            children: marks.children.get(id).cloned().unwrap_or_default(),
            manifest,
            status,
        },
    )
}

/// Evenly, and with the last.
fn thin_out(points: &mut SeriesPoints) {
    let n = points.step.len();
    let stride = n.div_ceil(CHART_POINTS).max(1);
    let kept: Vec<usize> = (0..n).filter(|idx| idx % stride == 0 || idx + 1 == n).collect();
    points.step = kept.iter().map(|&idx| points.step[idx]).collect();
    points.t = kept.iter().map(|&idx| points.t[idx]).collect();
    points.value = kept.iter().map(|&idx| points.value[idx]).collect();
}

impl Report {
    pub(crate) fn new(data: &DataDir, material: Material) -> Result<Self> {
        let Material { manifest, status, insights, series, events, children } = material;
        let filter = Filter { target: Some(manifest.id.to_string()), ..Filter::default() };
        let changes = audit::find(data, &filter, MOST_LINES)?;
        let change = |AuditLine { t, who, what, old, new, .. }: AuditLine| Change {
            t,
            who,
            what: what.as_str(),
            old,
            new,
        };
        let mut evaluations: Vec<Evaluation> = Vec::new();
        let mut warnings: Vec<Warning> = Vec::new();
        for line in &events {
            match &line.event {
                Event::EvaluationComplete(evaluation) => evaluations.push(evaluation.clone()),
                Event::Warning { message } | Event::Error { message } => {
                    warnings.push(Warning { t: line.t, message: message.clone() });
                }
                _ => {}
            }
        }
        evaluations.drain(..evaluations.len().saturating_sub(MOST_LINES));
        warnings.drain(..warnings.len().saturating_sub(MOST_LINES));
        let artifacts = ArtifactList::read(&data.run(&manifest.id))?;
        let artifact_bytes = artifacts.map(|list| list.bytes()).unwrap_or_default();
        let end = status.ended_at.or(status.heartbeat_at);
        let parent = manifest.parent.as_ref();
        let chart = |metric: Metric| {
            let found = series.iter().find(|points| points.key == metric.name())?;
            Some(Chart {
                key: found.key.clone(),
                label: metric_label(&found.key),
                step: found.step.clone(),
                value: found.value.clone(),
            })
        };
        let state = serde_json::to_value(status.state()).unwrap_or_default();
        Ok(Self {
            state: state.as_str().unwrap_or_default().to_owned(),
            started_at: status.started_at,
            ended_at: status.ended_at,
            step: status.step,
            episodes: status.episodes,
            failure: status.failure().map(|failure| failure.message),
            lineage: Lineage {
                parent: parent.map(|parent| parent.run.clone()),
                parent_step: parent.map(|parent| parent.step),
                children,
                experiment_id: manifest.experiment_id.clone(),
                group: manifest.group.as_ref().map(ToString::to_string),
            },
            resources: Resources {
                seconds: status.started_at.zip(end).map(|(start, end)| (end - start).max(0.0)),
                attempts: status.attempt,
                steps_per_sec: status.steps_per_sec,
                cpu_percent: status.cpu_percent,
                memory_bytes: status.rss_bytes,
                gpu_percent: status.gpu.map(|gpu| gpu.percent),
                artifact_bytes: artifact_bytes
                    .into_iter()
                    .map(|(kind, bytes)| (kind.as_str(), bytes))
                    .collect(),
            },
            weights_sha256: status.weights_sha256,
            insights,
            evaluations,
            changes: changes.into_iter().map(change).collect(),
            warnings,
            charts: CHARTS.into_iter().filter_map(chart).collect(),
            run_id: manifest.id,
            name: manifest.name,
            env_id: manifest.env_id,
            cartridge_version: manifest.cartridge_version,
            created_at: manifest.created_at,
            config: manifest.config,
        })
    }

    /// For terminals and mails.
    pub fn to_text(&self) -> String {
        text::render(self)
    }

    /// As a page that needs nothing else.
    pub fn to_html(&self) -> String {
        page::render(self)
    }
}

#[cfg(test)]
mod tests;
