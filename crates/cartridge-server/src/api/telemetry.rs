//! `/api/runs/{id}/...`: what a run has recorded: metrics, episodes, events, log, and pictures.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use cartridge_run::store;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::environments::{Preview, PreviewPolicy, PreviewQuery};
use crate::api::evaluations::EvaluationEntry;
use crate::api::runs::parse_id;
use crate::api::stream::{self, EventMessage, MetricRow};
use crate::error::{ApiError, Problem};
use crate::extract::{Path, Query};

/// The metrics of a run as columns.
#[derive(Debug, Serialize, ToSchema)]
pub struct Metrics {
    /// The run.
    pub run_id: String,
    /// The newest row that the series cover: rows after it come by the live feed.
    pub last_row: u64,
    /// One series per metric.
    pub series: Vec<Series>,
}

/// One metric over time.
#[derive(Debug, Serialize, ToSchema)]
pub struct Series {
    /// Name of the metric.
    pub key: String,
    /// The name for people.
    pub label: String,
    /// Environment steps.
    pub step: Vec<u64>,
    /// Unix seconds.
    pub t: Vec<f64>,
    /// Values; none where one was not finite.
    pub value: Vec<Option<f64>>,
}

/// Which metrics.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct MetricsQuery {
    /// Names, separated by commas; all when left out. CleanRL's and Stable-Baselines3's are
    /// understood, and answered with their sign and scale. `charts/episodic_return` and
    /// `charts/episodic_length` have a point for every episode, at the step of its end.
    keys: Option<String>,
    /// About how many points of each, at most 10,000. Spikes survive.
    #[serde(default = "default_points")]
    #[param(required = false, minimum = 2, maximum = 10000)]
    points: usize,
    /// Only from this step on.
    from: Option<u64>,
    /// Only up to this step.
    to: Option<u64>,
    /// Instead of series, the newest rows, at most 10,000, as JSON lines, oldest first; single
    /// episodes that were asked for are lines of their own.
    #[param(minimum = 1, maximum = 10000)]
    tail: Option<usize>,
}

/// Eight metrics of a long run are less than 200 kB.
fn default_points() -> usize {
    500
}

/// How much of a tail.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct TailQuery {
    /// How many, at most 10,000.
    #[serde(default = "default_tail")]
    #[param(required = false, minimum = 1, maximum = 10000)]
    tail: usize,
}

fn default_tail() -> usize {
    100
}

/// An episode that has ended.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Episode {
    /// Its number in the run, from 1.
    pub episode: u64,
    /// Sum of its rewards; none where it was not finite.
    #[schema(required)]
    pub reward: Option<f64>,
    /// Its steps.
    pub length: u32,
    /// Environment steps of the run at its end.
    pub timestep: u64,
    /// The number that was given to `reset`, where it is known.
    #[schema(required)]
    pub seed: Option<u64>,
    /// Whether the task itself ended; otherwise the episode was cut short.
    pub terminated: bool,
    /// Whether its time ended. This and what follows are in lists of recorded episodes only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// When it ended, in Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<f64>,
    /// The environment that played it, of those side by side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<u32>,
    /// Which start of the trainer played it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Steps of the newest checkpoint when it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_step: Option<u64>,
    /// What a foreign trainer calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episode_id: Option<String>,
    /// Whether what was recorded of it is damaged, so that it cannot be seen again to its end. Told
    /// in lists of episodes only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub damaged: bool,
}

/// Columns as rows.
pub fn episode_rows(columns: &store::Episodes) -> Vec<Episode> {
    (0..columns.len().unwrap_or(0))
        .map(|idx| Episode {
            episode: columns.episode[idx],
            reward: columns.reward[idx],
            length: columns.length[idx],
            timestep: columns.timestep[idx],
            seed: columns.seed[idx],
            terminated: columns.terminated[idx],
            truncated: None,
            timestamp: None,
            lane: None,
            attempt: None,
            checkpoint_step: None,
            episode_id: None,
            damaged: false,
        })
        .collect()
}

/// The newest events of a run.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventLog {
    /// The run.
    pub run_id: String,
    /// The events, oldest first.
    pub events: Vec<Entry>,
    /// What its newest evaluations have logged, oldest first: they are runs of their own, and
    /// their lines belong between these by their times.
    pub evaluations: Vec<EvaluationEntry>,
}

/// A line of the event log.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Entry {
    /// Its number in the run, from 1.
    pub seq: u64,
    /// Unix seconds.
    pub t: f64,
    /// What happened, as a word.
    #[serde(rename = "type")]
    pub kind: String,
    /// How serious it is.
    pub level: Level,
    /// What happened, in a sentence.
    pub message: String,
    /// Environment steps so far, where they are known.
    #[schema(required)]
    pub step: Option<u64>,
}

/// How serious an event is.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = EventLevel)]
pub enum Level {
    /// The ordinary course of things.
    Info,
    /// A person should look.
    Warning,
    /// Something failed.
    Error,
}

impl Entry {
    /// The entry for the event with number `seq`.
    pub fn new(seq: u64, line: &store::EventLine) -> Self {
        let tagged = serde_json::to_value(&line.event).unwrap_or_default();
        Self {
            seq,
            t: line.t,
            kind: tagged["type"].as_str().unwrap_or_default().to_owned(),
            level: match line.event.level() {
                store::Level::Info => Level::Info,
                store::Level::Warning => Level::Warning,
                store::Level::Error => Level::Error,
            },
            message: line.event.message(),
            step: line.event.step(),
        }
    }
}

/// The end of what a run's trainer printed.
#[derive(Debug, Serialize, ToSchema)]
pub struct LogTail {
    /// The run.
    pub run_id: String,
    /// The lines, oldest first.
    pub lines: Vec<String>,
    /// Whether there are more before them.
    pub truncated: bool,
}

/// Show the metrics of a run, for charts.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/metrics",
    tag = "runs",
    params(("id" = String, Path, description = "Name of the run"), MetricsQuery),
    responses(
        (status = 200, content(
            (Metrics = "application/json"),
            (MetricRow = "application/x-ndjson"),
        )),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn show_metrics(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<MetricsQuery>,
) -> Result<Response, ApiError> {
    let id = parse_id(&id)?;
    let run_id = id.to_string();
    let keys = move |keys: &Option<String>| -> Vec<String> {
        keys.as_deref().map(|keys| keys.split(',').map(str::to_owned).collect()).unwrap_or_default()
    };
    if let Some(tail) = query.tail {
        let rows = state
            .ask(move |lab| {
                let keys = keys(&query.keys);
                let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
                lab.metrics_tail(&id, &keys, tail.clamp(1, 10_000))
            })
            .await?;
        let mut lines = String::new();
        for store::MetricValues { row, step, t, values } in rows {
            let line = serde_json::to_string(&MetricRow { row, step, t, values });
            lines.push_str(&line.map_err(|error| ApiError::Internal(error.to_string()))?);
            lines.push('\n');
        }
        return Ok(([(CONTENT_TYPE, "application/x-ndjson")], lines).into_response());
    }
    let (last_row, series) = state
        .ask(move |lab| {
            let keys = keys(&query.keys);
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let steps = (query.from.unwrap_or(0), query.to.unwrap_or(u64::MAX));
            lab.series(&id, &keys, query.points.clamp(2, 10_000), steps)
        })
        .await?;
    let series = series
        .into_iter()
        .map(|store::SeriesPoints { key, step, mut t, value }| {
            // Milliseconds are enough for a chart, and half as long as all digits.
            t.iter_mut().for_each(|t| *t = (*t * 1000.0).round() / 1000.0);
            Series { label: cartridge_run::metric_label(&key), key, step, t, value }
        })
        .collect();
    Ok(Json(Metrics { run_id, last_row, series }).into_response())
}

/// How many events.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct EventsQuery {
    /// How many, at most 10,000.
    #[serde(default = "default_events")]
    #[param(required = false, minimum = 1, maximum = 10000)]
    limit: usize,
    /// The last number that was received, for a stream.
    last_event_id: Option<String>,
}

fn default_events() -> usize {
    200
}

/// Show the event log of a run. Under `Accept: text/event-stream` it comes live: first a snapshot,
/// then the messages of `/api/stream` that are about its events.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/events",
    tag = "runs",
    params(("id" = String, Path, description = "Name of the run"), EventsQuery),
    responses(
        (status = 200, content(
            (EventLog = "application/json"),
            (EventMessage = "text/event-stream"),
        )),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn list_events(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accept.contains("text/event-stream") {
        return stream::stream_events(state, &id, &headers, query.last_event_id.as_deref()).await;
    }
    let id = parse_id(&id)?;
    let run_id = id.to_string();
    let limit = query.limit.clamp(1, 10_000);
    let (events, evaluations) = state
        .ask(move |lab| Ok((lab.events(&id, limit)?, lab.evaluation_events(&id, limit.min(200))?)))
        .await?;
    let evaluations = evaluations.iter();
    Ok(Json(EventLog {
        run_id,
        events: events.iter().map(|(seq, line)| Entry::new(*seq, line)).collect(),
        evaluations: evaluations
            .map(|(run, seq, line)| EvaluationEntry::new(run, *seq, line))
            .collect(),
    })
    .into_response())
}

/// Show the end of what a run's trainer printed.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/log",
    tag = "runs",
    params(("id" = String, Path, description = "Name of the run"), TailQuery),
    responses(
        (status = 200, body = LogTail),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn show_log(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<TailQuery>,
) -> Result<Json<LogTail>, ApiError> {
    let id = parse_id(&id)?;
    let run_id = id.to_string();
    let (lines, truncated) =
        state.ask(move |lab| lab.log(&id, query.tail.clamp(1, 10_000))).await?;
    Ok(Json(LogTail { run_id, lines, truncated }))
}

/// Play one episode with the newest checkpoint of a run, as pictures.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/preview",
    tag = "runs",
    params(("id" = String, Path, description = "Name of the run"), PreviewQuery),
    responses(
        (status = 200, body = Preview),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn preview_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<PreviewQuery>,
) -> Result<Json<Preview>, ApiError> {
    let id = parse_id(&id)?;
    let run_id = id.to_string();
    let (step, preview) = state.ask(move |lab| lab.preview_run(&id, query.seed)).await?;
    Ok(Json(Preview::new(preview, PreviewPolicy::Checkpoint { run_id, step })))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(show_metrics))
        .routes(routes!(list_events))
        .routes(routes!(show_log))
        .routes(routes!(preview_run))
}
