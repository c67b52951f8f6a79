//! `/api/stream`: everything that happens, live, over one connection.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::HeaderName;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use cartridge_run::lab::{self, FeedNews, FeedPosition};
use cartridge_run::store::{self, RunId};
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::artifacts::ArtifactKind;
use crate::api::runs::{Evaluation, Run, parse_id};
use crate::api::telemetry::{Entry, Episode, episode_rows};
use crate::error::{ApiError, Problem};
use crate::extract::Query;

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
        /// What was found.
        evaluation: Evaluation,
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
    /// Something else was logged.
    EventLogged {
        /// The run.
        run_id: String,
        /// The line in the event log.
        entry: Entry,
    },
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
        let run_id = message.run_id.to_string();
        match &message.news {
            FeedNews::Progress(view, lines) => Self::RunProgress {
                run: Box::new(Run::from((**view).clone())),
                rows: lines
                    .iter()
                    .map(|line| MetricRow {
                        row: line.row,
                        step: line.step,
                        t: line.t,
                        values: line.values.clone(),
                    })
                    .collect(),
                episodes: lines.iter().flat_map(|line| episode_rows(&line.episodes)).collect(),
            },
            FeedNews::Event(seq, line) => {
                let entry = Entry::new(*seq, line);
                match &line.event {
                    store::Event::CheckpointSaved { step, .. } => {
                        Self::CheckpointCreated { run_id, step: *step, entry }
                    }
                    store::Event::EvaluationComplete(evaluation) => {
                        Self::EvalResult { run_id, evaluation: evaluation.clone().into(), entry }
                    }
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
                    _ => Self::EventLogged { run_id, entry },
                }
            }
        }
    }
}

impl FeedMessage {
    fn name(&self) -> &'static str {
        match self {
            Self::Snapshot { .. } => "Snapshot",
            Self::RunProgress { .. } => "RunProgress",
            Self::CheckpointCreated { .. } => "CheckpointCreated",
            Self::EvalResult { .. } => "EvalResult",
            Self::ArtifactsAvailable { .. } => "ArtifactsAvailable",
            Self::ArtifactPruned { .. } => "ArtifactPruned",
            Self::EventLogged { .. } => "EventLogged",
        }
    }

    fn event(&self, seq: u64) -> Event {
        let data = serde_json::to_string(self).expect("a message is plain data");
        Event::default().id(seq.to_string()).event(self.name()).retry(RETRY).data(data)
    }
}

/// How long a browser waits before it connects again.
const RETRY: Duration = Duration::from_secs(2);

/// A comment this often keeps proxies from closing a quiet connection.
const PING: Duration = Duration::from_secs(15);

/// Runs in the first message.
const SNAPSHOT_RUNS: usize = 50;

/// Messages read from the index at once when catching up.
const PAGE: usize = 256;

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

/// Stream everything that happens, as server-sent events: `event` is the message's type, `data`
/// the message, `id` its number. The first message is a snapshot; with `Last-Event-ID` the stream
/// goes on after that number, without gap or duplicate.
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
async fn stream(
    State(state): State<AppState>,
    Query(query): Query<StreamQuery>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, ApiError> {
    let only = query
        .runs
        .as_deref()
        .map(|ids| ids.split(',').map(|id| parse_id(id.trim())).collect::<Result<BTreeSet<_>, _>>())
        .transpose()?;
    let given = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok())
        .or(query.last_event_id.as_deref());
    // A number that is none of ours is one that we do not know.
    let last_seq = given.map(|text| text.trim().parse().unwrap_or(u64::MAX - 1));
    let (sender, receiver) = mpsc::channel(16);
    let reader = Reader { state: state.clone(), only, sender };
    let mut closing = state.feed.closing();
    tokio::spawn(async move {
        tokio::select! {
            _ = reader.run(last_seq) => {}
            _ = closing.wait_for(|closing| *closing) => {}
        }
    });
    let events = ReceiverStream::new(receiver);
    Ok((
        [(HeaderName::from_static("x-accel-buffering"), "no")],
        Sse::new(events).keep_alive(KeepAlive::new().interval(PING)),
    ))
}

/// One live connection.
struct Reader {
    state: AppState,
    only: Option<BTreeSet<RunId>>,
    sender: mpsc::Sender<Result<Event, Infallible>>,
}

impl Reader {
    /// Sends until the client is gone or the lab cannot be asked.
    async fn run(self, last_seq: Option<u64>) -> Option<()> {
        // Subscribed before the index is read, so that nothing falls in between.
        let mut live = self.state.feed.subscribe();
        let position = self.state.ask(move |lab| lab.feed_position(last_seq)).await.ok()?;
        let mut seq = match position {
            FeedPosition::Known(seq) => seq,
            FeedPosition::Reset(seq) => {
                self.send_snapshot(seq, last_seq.is_some()).await?;
                seq
            }
        };
        seq = self.catch_up(seq).await?;
        loop {
            let received = tokio::select! {
                received = live.recv() => received,
                // A client that has left is noticed also when nothing happens.
                () = self.sender.closed() => return None,
            };
            match received {
                Ok(message) if message.seq <= seq => {}
                Ok(message) if message.seq == seq + 1 => {
                    seq = message.seq;
                    self.send(&message).await?;
                }
                // Something lies in between: it is in the index.
                Ok(_) | Err(RecvError::Lagged(_)) => seq = self.catch_up(seq).await?,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    async fn send_snapshot(&self, seq: u64, reset: bool) -> Option<()> {
        let views = self.state.ask(|lab| lab.runs(SNAPSHOT_RUNS, None)).await.ok()?;
        let wanted = |view: &lab::RunView| self.wants(&view.run.manifest.id);
        let runs = views.into_iter().filter(wanted).map(Into::into).collect();
        self.sender.send(Ok(FeedMessage::Snapshot { reset, runs }.event(seq))).await.ok()
    }

    async fn catch_up(&self, mut seq: u64) -> Option<u64> {
        loop {
            let page = self.state.ask(move |lab| lab.feed_after(seq, PAGE)).await.ok()?;
            let Some(last) = page.last() else { return Some(seq) };
            seq = last.seq;
            for message in page {
                self.send(&Arc::new(message)).await?;
            }
        }
    }

    async fn send(&self, message: &Arc<lab::FeedMessage>) -> Option<()> {
        if !self.wants(&message.run_id) {
            return Some(());
        }
        self.sender.send(Ok(FeedMessage::from(&**message).event(message.seq))).await.ok()
    }

    fn wants(&self, id: &RunId) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(id))
    }
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(stream))
}
