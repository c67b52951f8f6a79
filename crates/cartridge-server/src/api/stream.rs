//! `/api/stream` and its kin: everything that happens, live.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use axum::response::{IntoResponse as _, Response};
use cartridge_run::lab::{self, FeedNews};
use cartridge_run::store::{self, RunId};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::alerts::Alert;
use crate::api::artifacts::ArtifactKind;
use crate::api::runs::{Evaluation, Run, RunState, parse_id};
use crate::api::telemetry::{Entry, Episode, episode_rows};
use crate::error::{ApiError, Problem};
use crate::extract::{Path, Query};
use crate::feed::reader::{Reader, Topic};

/// One message of the live feed.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "type")]
pub enum FeedMessage {
    /// The first message: how things stand.
    Snapshot {
        /// Whether the reader's number was not ours, so that it must forget what it knew.
        reset: bool,
        /// The newest runs.
        runs: Vec<Run>,
    },
    /// A run got on.
    RunProgress {
        /// How it is doing now.
        run: Box<Run>,
        /// Its new metric rows; none when only its status changed.
        rows: Vec<MetricRow>,
        /// The episodes that ended.
        episodes: Vec<Episode>,
    },
    /// A checkpoint is on disk.
    CheckpointCreated {
        /// The run.
        run_id: String,
        /// Environment steps of the checkpoint.
        step: u64,
        /// The line in the event log.
        entry: Entry,
    },
    /// A policy was measured.
    EvalResult {
        /// The run.
        run_id: String,
        /// The run that it evaluates, where it is an evaluation of another.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(required = false)]
        evaluates: Option<String>,
        /// What was found.
        evaluation: Evaluation,
        /// The line in the event log.
        entry: Entry,
    },
    /// A setting was changed while training.
    TuneApplied {
        /// The run.
        run_id: String,
        /// The full path of the setting.
        path: String,
        /// Its value until then; none where a foreign trainer never said.
        #[schema(required)]
        old: Option<f64>,
        /// Its value from then on.
        new: f64,
        /// Who asked.
        by: String,
        /// Environment steps at that moment.
        step: u64,
        /// The line in the event log.
        entry: Entry,
    },
    /// Files that a run has made can be had.
    ArtifactsAvailable {
        /// The run.
        run_id: String,
        /// The line in the event log.
        entry: Entry,
    },
    /// A file that a run had made is kept no longer.
    ArtifactPruned {
        /// The run.
        run_id: String,
        /// The artifact.
        artifact_id: String,
        /// What it was.
        kind: ArtifactKind,
        /// How many of its kind the run still has.
        kept: u64,
        /// How many of its kind the run ever had.
        total: u64,
        /// The line in the event log.
        entry: Entry,
    },
    /// Something is wrong that a person should know of.
    AlertTriggered {
        /// What it is.
        alert: Box<Alert>,
    },
    /// Somebody has taken note of an alert, or it is over.
    AlertChanged {
        /// How it stands.
        alert: Box<Alert>,
    },
    /// A run was deleted. One that is brought back is told of as `RunProgress`.
    RunDeleted {
        /// The run.
        run_id: String,
    },
    /// Something else was logged.
    EventLogged {
        /// The run.
        run_id: String,
        /// The run that it evaluates, where it is an evaluation of another.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(required = false)]
        evaluates: Option<String>,
        /// The line in the event log.
        entry: Entry,
    },
    /// A sign of life: nothing else was to be said for 15 seconds. Its number is that of the last
    /// message, so a reader that goes on after it misses nothing.
    Alive,
}

/// All scalars of one moment.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MetricRow {
    /// Its number in the run, from 1.
    pub row: u64,
    /// Environment steps so far.
    pub step: u64,
    /// Unix seconds.
    pub t: f64,
    /// Value of each metric; none where one was not finite.
    pub values: BTreeMap<String, Option<f64>>,
}

impl From<&lab::FeedMessage> for FeedMessage {
    fn from(message: &lab::FeedMessage) -> Self {
        let run_id = message.run_id.as_ref().map_or_else(String::new, ToString::to_string);
        let evaluates = message.evaluates.as_ref().map(ToString::to_string);
        match &message.news {
            FeedNews::Progress(view, lines) => Self::RunProgress {
                run: Box::new(Run::from((**view).clone())),
                rows: metric_rows(lines),
                episodes: lines.iter().flat_map(|line| episode_rows(&line.episodes)).collect(),
            },
            FeedNews::Alert { alert, is_new: true } => {
                Self::AlertTriggered { alert: Box::new((**alert).clone().into()) }
            }
            FeedNews::Alert { alert, is_new: false } => {
                Self::AlertChanged { alert: Box::new((**alert).clone().into()) }
            }
            FeedNews::Deleted => Self::RunDeleted { run_id },
            FeedNews::Event(seq, line) => {
                let entry = Entry::new(*seq, line);
                match &line.event {
                    store::Event::CheckpointSaved { step, .. } => {
                        Self::CheckpointCreated { run_id, step: *step, entry }
                    }
                    store::Event::EvaluationComplete(evaluation) => {
                        let evaluation = evaluation.clone().into();
                        Self::EvalResult { run_id, evaluates, evaluation, entry }
                    }
                    store::Event::TuneApplied { path, old, new, by, step } => Self::TuneApplied {
                        run_id,
                        path: path.clone(),
                        old: *old,
                        new: *new,
                        by: by.clone(),
                        step: *step,
                        entry,
                    },
                    store::Event::ArtifactsAvailable { .. }
                    | store::Event::ArtifactsNamed { .. } => {
                        Self::ArtifactsAvailable { run_id, entry }
                    }
                    store::Event::ArtifactPruned(pruned) => Self::ArtifactPruned {
                        run_id,
                        artifact_id: pruned.artifact.id.to_string(),
                        kind: pruned.artifact.kind.into(),
                        kept: pruned.kept,
                        total: pruned.total,
                        entry,
                    },
                    _ => Self::EventLogged { run_id, evaluates, entry },
                }
            }
        }
    }
}

impl FeedMessage {
    /// The name of its type.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Snapshot { .. } => "Snapshot",
            Self::RunProgress { .. } => "RunProgress",
            Self::CheckpointCreated { .. } => "CheckpointCreated",
            Self::EvalResult { .. } => "EvalResult",
            Self::TuneApplied { .. } => "TuneApplied",
            Self::ArtifactsAvailable { .. } => "ArtifactsAvailable",
            Self::ArtifactPruned { .. } => "ArtifactPruned",
            Self::AlertTriggered { .. } => "AlertTriggered",
            Self::AlertChanged { .. } => "AlertChanged",
            Self::RunDeleted { .. } => "RunDeleted",
            Self::EventLogged { .. } => "EventLogged",
            Self::Alive => "Alive",
        }
    }
}

/// One message of the live metrics of a run.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "type")]
pub enum RunMessage {
    /// The first message: how the run stands.
    Snapshot {
        /// Whether the reader's number was not ours, so that it must forget what it knew.
        reset: bool,
        /// How it is doing.
        run: Box<Run>,
        /// Its newest metric rows, oldest first.
        rows: Vec<MetricRow>,
        /// The episodes that ended in those rows, at most 1,000.
        episodes: Vec<EpisodeRow>,
        /// Episodes that have ended in all.
        episode_count: u64,
    },
    /// The run got on.
    Metrics {
        /// Where it is in its life.
        state: RunState,
        /// Environment steps so far.
        step: u64,
        /// How much of the run is done, 0 to 1.
        progress: f64,
        /// Its new metric rows; none when only its status changed.
        rows: Vec<MetricRow>,
        /// The episodes that ended.
        episodes: Vec<EpisodeRow>,
        /// Episodes that have ended in all.
        episode_count: u64,
    },
    /// A sign of life, as `/api/stream` has it.
    Alive,
}

/// An episode, with what was measured when it ended.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EpisodeRow {
    /// Its number in the run, from 1.
    pub episode: u64,
    /// Sum of its rewards; none where it was not finite.
    #[schema(required)]
    pub reward: Option<f64>,
    /// Its steps.
    pub length: u32,
    /// Loss of the update in which it ended.
    #[schema(required)]
    pub loss: Option<f64>,
    /// Environment steps per second at that time.
    #[schema(required)]
    pub fps: Option<f64>,
    /// Environment steps of the run at its end.
    pub timestep: u64,
    /// When the update in which it ended was recorded, in Unix seconds.
    pub timestamp: f64,
}

/// The first message of the live event log of a run; the others are those of `/api/stream`.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "type")]
pub enum EventMessage {
    /// What was logged so far.
    Snapshot {
        /// Whether the reader's number was not ours, so that it must forget what it knew.
        reset: bool,
        /// The run.
        run_id: String,
        /// The newest events, oldest first.
        events: Vec<Entry>,
    },
}

impl RunMessage {
    /// The name of its type.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Snapshot { .. } => "Snapshot",
            Self::Metrics { .. } => "Metrics",
            Self::Alive => "Alive",
        }
    }

    /// What is new of a run.
    pub fn progress(view: &lab::RunView, lines: &[store::MetricLine]) -> Self {
        let Run { state, step, progress, episodes: episode_count, .. } = Run::from(view.clone());
        let (rows, episodes) = (metric_rows(lines), timed_episodes(lines));
        Self::Metrics { state, step, progress, rows, episodes, episode_count }
    }
}

impl EventMessage {
    /// The name of its type.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Snapshot { .. } => "Snapshot",
        }
    }
}

fn metric_rows(lines: &[store::MetricLine]) -> Vec<MetricRow> {
    let rows = lines.iter().map(|line| MetricRow {
        row: line.row,
        step: line.step,
        t: line.t,
        values: line.values.clone(),
    });
    rows.collect()
}

fn timed_episodes(lines: &[store::MetricLine]) -> Vec<EpisodeRow> {
    let of_line = |line: &store::MetricLine| -> Vec<EpisodeRow> {
        // A foreign trainer may leave the group out.
        let value = |names: [&str; 2]| {
            names.iter().find_map(|name| line.values.get(*name).copied().flatten())
        };
        let (loss, fps) = (value(["train/loss", "loss"]), value(["time/fps", "fps"]));
        let rows = episode_rows(&line.episodes).into_iter().map(|episode| EpisodeRow {
            episode: episode.episode,
            reward: episode.reward,
            length: episode.length,
            loss,
            fps,
            timestep: episode.timestep,
            timestamp: line.t,
        });
        rows.collect()
    };
    lines.iter().flat_map(of_line).collect()
}

/// Runs in the first message of the lab.
const SNAPSHOT_RUNS: usize = 50;

/// Metric rows, episodes and events in the first message of a run.
const SNAPSHOT_ROWS: usize = 200;
const SNAPSHOT_EPISODES: usize = 1000;
const SNAPSHOT_EVENTS: usize = 200;

/// How the newest runs stand.
pub(crate) async fn snapshot(
    state: &AppState,
    only: Option<BTreeSet<RunId>>,
    reset: bool,
) -> Result<FeedMessage, ApiError> {
    let views = state
        .ask(move |lab| match only {
            None => lab.runs(SNAPSHOT_RUNS, None),
            // Those that were asked for, however old; one that is gone has no state.
            Some(only) => {
                Ok(only.iter().take(SNAPSHOT_RUNS).filter_map(|id| lab.run(id).ok()).collect())
            }
        })
        .await?;
    Ok(FeedMessage::Snapshot { reset, runs: views.into_iter().map(Into::into).collect() })
}

/// How a run stands, in figures, and the number of the feed at which it is so.
pub(crate) async fn run_snapshot(
    state: &AppState,
    id: RunId,
    reset: bool,
) -> Result<(u64, RunMessage), ApiError> {
    let (seq, view, lines) = state.ask(move |lab| lab.run_in_feed(&id, SNAPSHOT_ROWS)).await?;
    let run = Box::new(Run::from(view));
    let mut episodes = timed_episodes(&lines);
    episodes.drain(..episodes.len().saturating_sub(SNAPSHOT_EPISODES));
    let (rows, episode_count) = (metric_rows(&lines), run.episodes);
    Ok((seq, RunMessage::Snapshot { reset, run, rows, episodes, episode_count }))
}

/// What a run has logged, and the number of the feed at which it is so.
pub(crate) async fn event_snapshot(
    state: &AppState,
    id: RunId,
    reset: bool,
) -> Result<(u64, EventMessage), ApiError> {
    let run_id = id.to_string();
    let (seq, events) = state.ask(move |lab| lab.events_in_feed(&id, SNAPSHOT_EVENTS)).await?;
    let events = events.iter().map(|(seq, line)| Entry::new(*seq, line)).collect();
    Ok((seq, EventMessage::Snapshot { reset, run_id, events }))
}

/// How a stream of events begins: how long a browser waits before it connects again.
const BEGINNING: &str = "retry: 2000\n\n";

/// A client that takes nothing for this long is gone; it can come back with its last number.
const PATIENCE: Duration = Duration::from_secs(15);

/// The largest message of a client: it has nothing to say.
const MAX_MESSAGE_BYTES: usize = 4096;

/// What to stream.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct StreamQuery {
    /// Only these runs, separated by commas; all when left out.
    runs: Option<String>,
    /// The last number that was received, for clients that cannot send `Last-Event-ID`.
    last_event_id: Option<String>,
}

impl StreamQuery {
    fn topic(&self) -> Result<Topic, ApiError> {
        let ids = self.runs.as_deref().map(|ids| ids.split(',').map(|id| parse_id(id.trim())));
        Ok(Topic::Lab(ids.map(Iterator::collect::<Result<_, _>>).transpose()?))
    }
}

/// Where to go on.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct ResumeQuery {
    /// The last number that was received, for clients that cannot send `Last-Event-ID`.
    last_event_id: Option<String>,
}

/// The number after which a reader wants to go on; one that is none of ours is not known.
fn last_seq(headers: &HeaderMap, query: Option<&str>) -> Option<u64> {
    let header = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    header.or(query).map(|text| text.trim().parse().unwrap_or(u64::MAX).min(u64::MAX - 1))
}

/// Server-sent events for as long as the client takes them. What it does not take waits in the
/// feed, where it costs nothing.
fn sse(reader: Reader) -> Response {
    let beginning = stream::iter([Ok::<_, Infallible>(Bytes::from_static(BEGINNING.as_bytes()))]);
    let events = stream::unfold(reader, async |mut reader| {
        let heard = reader.next().await?;
        Some((Ok(heard.sse(reader.topic())), reader))
    });
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(stream::StreamExt::chain(beginning, events))).into_response()
}

/// Stream everything that happens, as server-sent events: `event` is the message's type, `data`
/// the message, `id` its number. The first message is a snapshot; with `Last-Event-ID` the stream
/// goes on after that number, without gap or duplicate. A reader passes over types that it does not
/// know. When nothing was said for 15 seconds, `Alive` is.
#[utoipa::path(
    get,
    path = "/api/stream",
    tag = "stream",
    params(StreamQuery),
    responses(
        (status = 200, body = FeedMessage, content_type = "text/event-stream"),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn stream_lab(
    State(state): State<AppState>,
    Query(query): Query<StreamQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let last = last_seq(&headers, query.last_event_id.as_deref());
    Ok(sse(Reader::new(state, query.topic()?, last)))
}

/// Stream the metrics of a run, as server-sent events. The first message is a snapshot with the
/// newest rows; with `Last-Event-ID` the stream goes on after that number.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/stream",
    tag = "stream",
    params(("id" = String, Path, description = "Name of the run"), ResumeQuery),
    responses(
        (status = 200, body = RunMessage, content_type = "text/event-stream"),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn stream_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<ResumeQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = known(&state, &id).await?;
    let last = last_seq(&headers, query.last_event_id.as_deref());
    Ok(sse(Reader::new(state, Topic::Metrics(id), last)))
}

/// The event log of a run as server-sent events.
pub(crate) async fn stream_events(
    state: AppState,
    id: &str,
    headers: &HeaderMap,
    last_event_id: Option<&str>,
) -> Result<Response, ApiError> {
    let id = known(&state, id).await?;
    let last = last_seq(headers, last_event_id);
    Ok(sse(Reader::new(state, Topic::Events(id), last)))
}

/// The name of a run that there is.
async fn known(state: &AppState, id: &str) -> Result<RunId, ApiError> {
    let id = parse_id(id)?;
    let wanted = id.clone();
    state.ask(move |lab| lab.run(&wanted)).await?;
    Ok(id)
}

/// Stream everything that happens, as a WebSocket: the messages of `/api/stream`, each with its
/// number as `id`. `last_event_id` goes on after that number.
#[utoipa::path(
    get,
    path = "/api/ws",
    tag = "stream",
    params(StreamQuery),
    responses(
        (status = 101, description = "The connection is a WebSocket from here on"),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 403, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn stream_socket(
    State(state): State<AppState>,
    Query(query): Query<StreamQuery>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let topic = query.topic()?;
    let last = last_seq(&headers, query.last_event_id.as_deref());
    let upgrade = upgrade.map_err(|rejection| ApiError::NotAWebSocket(rejection.body_text()))?;
    Ok(upgrade
        .max_message_size(MAX_MESSAGE_BYTES)
        .max_frame_size(MAX_MESSAGE_BYTES)
        .on_upgrade(move |socket| speak(socket, Reader::new(state, topic, last))))
}

/// Tells the client what happens until it leaves, takes nothing any more, or the lab ends.
async fn speak(mut socket: WebSocket, mut reader: Reader) {
    loop {
        let message = tokio::select! {
            heard = reader.next() => match heard {
                Some(heard) => Message::Text(heard.socket()),
                None => {
                    let reason = "the lab ends".into();
                    let bye = Message::Close(Some(CloseFrame { code: 1001, reason }));
                    _ = timeout(PATIENCE, socket.send(bye)).await;
                    return;
                }
            },
            said = socket.recv() => match said {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                // It has nothing to say.
                Some(Ok(_)) => continue,
            },
        };
        if !matches!(timeout(PATIENCE, socket.send(message)).await, Ok(Ok(()))) {
            return;
        }
    }
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(stream_lab))
        .routes(routes!(stream_run))
        .routes(routes!(stream_socket))
}
