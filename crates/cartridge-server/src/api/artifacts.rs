//! `/api/runs/{id}/artifacts` and `/api/storage`: what runs have made, what of it is kept, and how
//! full the disk is.
//!
//! Content is served by id only. It comes from trainers, so browsers are told to take it for what
//! we say it is, to run none of it, and to treat it as a page of nobody.

use std::io::{Read as _, Seek as _, SeekFrom};

use axum::Json;
use axum::body::{Body as Content, Bytes};
use axum::extract::State;
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, ETAG, IF_NONE_MATCH, IF_RANGE, RANGE,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use cartridge_run::lab::ArtifactContent;
use cartridge_run::store::{self, ArtifactId};
use cartridge_run::{Lab, archive, janitor, retention};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::runs::parse_id;
use crate::error::{ApiError, Problem};
use crate::extract::{Body, Path};

/// How much room things take.
#[derive(Debug, Serialize, ToSchema)]
pub struct Storage {
    /// Bytes of everything that the lab keeps.
    pub total_bytes: u64,
    /// Bytes that are free on the disk.
    pub free_bytes: u64,
    /// Bytes of the disk.
    pub disk_bytes: u64,
    /// What runs have made, by kind.
    pub kinds: Vec<Kept>,
    /// The lab's own records of runs: events, metrics, heartbeats.
    pub records_bytes: u64,
    /// The index.
    pub index_bytes: u64,
    /// Runs in the trash.
    pub trash_bytes: u64,
    /// Runs that were counted.
    pub runs: u64,
    /// The knobs, as `lab.json` in the data folder has them.
    pub limits: Limits,
}

/// What is kept; none means no limit.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RetentionLimits)]
pub struct Limits {
    /// Newest videos of each run that does not say itself.
    #[schema(required)]
    pub keep_videos: Option<u32>,
    /// Newest checkpoints of each run that does not say itself.
    #[schema(required)]
    pub keep_checkpoints: Option<u32>,
    /// Newest TensorBoard folders in all.
    #[schema(required)]
    pub keep_tensorboard_runs: Option<u32>,
    /// Newest runs of each experiment; those of none count by their environment.
    #[schema(required)]
    pub keep_runs_per_experiment: Option<u32>,
    /// Newest runs of each algorithm in each environment.
    #[schema(required)]
    pub keep_runs_per_agent: Option<u32>,
    /// Steps between checkpoints that are kept for good, of each run that does not say itself.
    #[schema(required)]
    pub milestone_every_steps: Option<u64>,
    /// Bytes of all that runs have made, of the lab's records of them, the index and the trash.
    #[schema(required)]
    pub max_bytes: Option<u64>,
}

impl From<retention::Limits> for Limits {
    fn from(limits: retention::Limits) -> Self {
        Self {
            keep_videos: limits.keep_videos,
            keep_checkpoints: limits.keep_checkpoints,
            keep_tensorboard_runs: limits.keep_tensorboard_runs,
            keep_runs_per_experiment: limits.keep_runs_per_experiment,
            keep_runs_per_agent: limits.keep_runs_per_agent,
            milestone_every_steps: limits.milestone_every_steps,
            max_bytes: limits.max_bytes,
        }
    }
}

impl From<janitor::Storage> for Storage {
    fn from(storage: janitor::Storage) -> Self {
        let kinds = store::ArtifactKind::ALL.into_iter().filter_map(|kind| {
            let there = storage.kinds.get(&kind).copied().unwrap_or_default();
            let removed = storage.removed.get(&kind).copied().unwrap_or_default();
            Kept::new(kind, there.count, there.count + removed.count, there.size_bytes)
        });
        Self {
            kinds: kinds.collect(),
            total_bytes: storage.total_bytes,
            free_bytes: storage.free_bytes,
            disk_bytes: storage.disk_bytes,
            records_bytes: storage.records_bytes,
            index_bytes: storage.index_bytes,
            trash_bytes: storage.trash_bytes,
            runs: storage.n_runs,
            limits: storage.limits.into(),
        }
    }
}

/// Show how much room things take, and the knobs that say what is kept.
#[utoipa::path(
    get,
    path = "/api/storage",
    tag = "lab",
    responses(
        (status = 200, body = Storage),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn show_storage(State(state): State<AppState>) -> Result<Json<Storage>, ApiError> {
    Ok(Json(state.ask(Lab::storage).await?.into()))
}

/// Whether to remove, or only to say what would be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TidyUp {
    /// Only say what would go.
    #[serde(default)]
    #[schema(required = false)]
    dry_run: bool,
}

/// What has gone, or would.
#[derive(Debug, Serialize, ToSchema)]
pub struct Tidied {
    /// Whether nothing was removed.
    pub dry_run: bool,
    /// Artifacts that go.
    pub artifacts: Vec<Going>,
    /// Runs that go to the trash.
    pub runs: Vec<GoingRun>,
    /// Bytes that are freed at once.
    pub freed_bytes: u64,
    /// Bytes beyond `max_bytes` that nothing could be found for.
    pub over_bytes: u64,
    /// What could not be removed, in sentences.
    pub failed: Vec<String>,
}

/// An artifact that goes.
#[derive(Debug, Serialize, ToSchema)]
pub struct Going {
    /// The run.
    pub run_id: String,
    /// The artifact.
    pub artifact: Artifact,
    /// Why.
    pub reason: String,
}

/// A run that goes.
#[derive(Debug, Serialize, ToSchema)]
pub struct GoingRun {
    /// The run.
    pub run_id: String,
    /// Bytes of what it has made.
    pub size_bytes: u64,
    /// Why.
    pub reason: String,
}

/// Remove what is not to be kept now, or say what would go. The lab does the same once a minute.
#[utoipa::path(
    post,
    path = "/api/retention/run",
    tag = "lab",
    request_body = TidyUp,
    responses(
        (status = 200, body = Tidied),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn tidy_up(
    State(state): State<AppState>,
    Body(TidyUp { dry_run }): Body<TidyUp>,
) -> Result<Json<Tidied>, ApiError> {
    let outcome = state.ask(move |lab| lab.tidy(dry_run)).await?;
    let going = outcome.plan.artifacts.into_iter().map(|doomed| Going {
        run_id: doomed.run_id.to_string(),
        artifact: doomed.artifact.into(),
        reason: doomed.reason,
    });
    let runs = outcome.plan.runs.into_iter().map(|doomed| GoingRun {
        run_id: doomed.run_id.to_string(),
        size_bytes: doomed.size_bytes,
        reason: doomed.reason,
    });
    Ok(Json(Tidied {
        dry_run,
        artifacts: going.collect(),
        runs: runs.collect(),
        freed_bytes: outcome.plan.freed_bytes,
        over_bytes: outcome.plan.over_bytes,
        failed: outcome.failed.into_iter().map(|(id, error)| format!("{id}: {error}")).collect(),
    }))
}

/// What an artifact is.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactKind {
    /// A film.
    Video,
    /// A folder of TensorBoard event files.
    Tensorboard,
    /// The folder of a W&B run.
    Wandb,
    /// A checkpoint.
    Checkpoint,
    /// What an evaluation left.
    Eval,
    /// What the trainer printed.
    Log,
    /// The recorded episodes.
    Episodes,
    /// Something that the trainer named itself.
    Other,
}

impl From<store::ArtifactKind> for ArtifactKind {
    fn from(kind: store::ArtifactKind) -> Self {
        match kind {
            store::ArtifactKind::Video => Self::Video,
            store::ArtifactKind::Tensorboard => Self::Tensorboard,
            store::ArtifactKind::Wandb => Self::Wandb,
            store::ArtifactKind::Checkpoint => Self::Checkpoint,
            store::ArtifactKind::Eval => Self::Eval,
            store::ArtifactKind::Log => Self::Log,
            store::ArtifactKind::Episodes => Self::Episodes,
            store::ArtifactKind::Other => Self::Other,
        }
    }
}

/// Something that a run has made.
#[derive(Debug, Serialize, ToSchema)]
pub struct Artifact {
    /// Its name in the run.
    pub id: String,
    /// What it is.
    pub kind: ArtifactKind,
    /// Where it is, below the run's folder or its working folder; to be shown, not to be asked for.
    pub path: String,
    /// Whether it is a folder, which is served as a tar archive.
    pub is_folder: bool,
    /// Files in it, or 1.
    pub n_files: u64,
    /// Its bytes.
    pub size_bytes: u64,
    /// Its hash; none while it grows.
    #[schema(required)]
    pub sha256: Option<String>,
    /// Environment steps of a checkpoint.
    #[schema(required)]
    pub step: Option<u64>,
    /// When it was first seen, in Unix seconds.
    pub created_at: f64,
    /// Kept for good, because of the step that it belongs to.
    pub milestone: bool,
    /// Kept for good, because somebody said so.
    pub pinned: bool,
    /// In a working folder that others may use too: shown, and never removed.
    pub shared: bool,
}

impl From<store::Artifact> for Artifact {
    fn from(artifact: store::Artifact) -> Self {
        Self {
            id: artifact.id.to_string(),
            kind: artifact.kind.into(),
            path: artifact.path,
            is_folder: artifact.is_folder,
            n_files: artifact.n_files,
            size_bytes: artifact.size_bytes,
            sha256: artifact.sha256,
            step: artifact.step,
            created_at: artifact.created_at,
            milestone: artifact.milestone,
            pinned: artifact.pinned,
            shared: artifact.shared,
        }
    }
}

/// How many of a kind are kept.
#[derive(Debug, Serialize, ToSchema)]
pub struct Kept {
    /// The kind.
    pub kind: ArtifactKind,
    /// How many are there.
    pub kept: u64,
    /// How many there have ever been.
    pub total: u64,
    /// Bytes of those that are there.
    pub size_bytes: u64,
    /// The same in words: `2 of 5 kept`.
    pub text: String,
}

impl Kept {
    /// Nothing where there has never been one.
    fn new(kind: store::ArtifactKind, kept: u64, total: u64, size_bytes: u64) -> Option<Self> {
        let text = format!("{kept} of {total} kept");
        (total > 0).then(|| Self { kind: kind.into(), kept, total, size_bytes, text })
    }
}

/// What a run has made.
#[derive(Debug, Serialize, ToSchema)]
pub struct Artifacts {
    /// The run.
    pub run_id: String,
    /// Whether the run has ended and everything was looked at.
    pub complete: bool,
    /// Where the run is on W&B, as its trainer said.
    #[schema(required)]
    pub wandb_url: Option<String>,
    /// What is there, by kind and age.
    pub artifacts: Vec<Artifact>,
    /// How many of each kind are kept.
    pub kept: Vec<Kept>,
}

impl From<store::ArtifactList> for Artifacts {
    fn from(list: store::ArtifactList) -> Self {
        let bytes = list.bytes();
        let kept = store::ArtifactKind::ALL.into_iter().filter_map(|kind| {
            let (kept, total) = list.kept(kind);
            Kept::new(kind, kept, total, bytes.get(&kind).copied().unwrap_or(0))
        });
        Self {
            kept: kept.collect(),
            run_id: list.run.to_string(),
            complete: list.complete_attempt.is_some(),
            wandb_url: list.wandb_url,
            artifacts: list.artifacts.into_iter().map(Into::into).collect(),
        }
    }
}

/// List what a run has made, and how much of it is kept.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/artifacts",
    tag = "runs",
    params(("id" = String, Path, description = "Name of the run")),
    responses(
        (status = 200, body = Artifacts),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn list_artifacts(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<Artifacts>, ApiError> {
    let id = parse_id(&id)?;
    Ok(Json(state.ask(move |lab| lab.artifacts(&id)).await?.into()))
}

/// Get an artifact: a file as it is, with ranges, or a folder as a tar archive.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/artifacts/{artifact_id}",
    tag = "runs",
    params(
        ("id" = String, Path, description = "Name of the run"),
        ("artifact_id" = String, Path, description = "Name of the artifact in the run"),
    ),
    responses(
        (status = 200, description = "The content", content_type = "application/octet-stream"),
        (status = 206, description = "A part of it", content_type = "application/octet-stream"),
        (status = 304, description = "It is as the client knows it"),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 416, description = "It has no such range"),
    ),
)]
async fn get_artifact(
    State(state): State<AppState>,
    Path((id, artifact_id)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = parse_id(&id)?;
    let artifact_id: ArtifactId = artifact_id.parse().map_err(cartridge_run::RunError::from)?;
    let (artifact, content) = state.ask(move |lab| lab.open_artifact(&id, &artifact_id)).await?;
    Ok(serve_artifact(&artifact, content, &headers))
}

/// The content of an artifact as an answer: a file with ranges, a folder as a tar archive.
pub(crate) fn serve_artifact(
    artifact: &store::Artifact,
    content: ArtifactContent,
    headers: &HeaderMap,
) -> Response {
    let (name, content_type) = presented(artifact);
    let mut response = match content {
        ArtifactContent::Folder(folder) => {
            let body = stream(move |send| archive::write(&folder, send));
            body.into_response()
        }
        ArtifactContent::File { file, size_bytes } => {
            let tag = artifact.sha256.as_deref().map(|sum| format!("\"{sum}\""));
            serve_file(file, size_bytes, tag.as_deref(), headers)
        }
    };
    present(&mut response, &name, content_type);
    response
}

/// A file that is known by name and hash as an answer, with ranges.
pub(crate) fn serve_named(
    name: &str,
    file: std::fs::File,
    size_bytes: u64,
    sha256: &str,
    headers: &HeaderMap,
) -> Response {
    let mut response = serve_file(file, size_bytes, Some(&format!("\"{sha256}\"")), headers);
    present(&mut response, name, "application/octet-stream");
    response
}

/// Says what an answer is, and that a browser is to make nothing of it.
fn present(response: &mut Response, name: &str, content_type: &'static str) {
    let answer = response.headers_mut();
    answer.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    // Films play in place; everything else is to be saved.
    let manner = if content_type.starts_with("video/") || content_type == "image/gif" {
        "inline"
    } else {
        "attachment"
    };
    let disposition = format!("{manner}; filename=\"{name}\"");
    answer.insert(
        CONTENT_DISPOSITION,
        HeaderValue::from_str(&disposition).expect("the name is plain ASCII"),
    );
    answer.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("sandbox; default-src 'none'; frame-ancestors 'none'"),
    );
    answer.insert(
        HeaderName::from_static("cache-control"),
        HeaderValue::from_static("private, no-cache"),
    );
}

/// The name that a browser saves it under, and its type: one of a short list, whatever is in it.
fn presented(artifact: &store::Artifact) -> (String, &'static str) {
    let name = artifact.path.rsplit('/').next().unwrap_or_default();
    let mut name: String = name
        .chars()
        .map(|char| {
            if char.is_ascii_alphanumeric() || matches!(char, '.' | '-' | '_') { char } else { '_' }
        })
        .collect();
    if artifact.is_folder {
        name.push_str(".tar");
        return (name, "application/x-tar");
    }
    let extension = name.rsplit('.').next().unwrap_or_default().to_lowercase();
    let content_type = match (artifact.kind, extension.as_str()) {
        (store::ArtifactKind::Video, "mp4") => "video/mp4",
        (store::ArtifactKind::Video, "webm") => "video/webm",
        (store::ArtifactKind::Video, "gif") => "image/gif",
        (store::ArtifactKind::Log, _) => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    };
    (name, content_type)
}

fn serve_file(file: std::fs::File, size: u64, tag: Option<&str>, headers: &HeaderMap) -> Response {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let mut response = if tag.is_some() && text(IF_NONE_MATCH) == tag {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        // A part is of use only to a client that has the rest of the same file.
        let is_same = text(IF_RANGE).is_none_or(|given| Some(given) == tag);
        let range = text(RANGE).filter(|_| is_same).map_or(Span::Whole, |range| span(range, size));
        let (status, start, length) = match range {
            Span::Whole => (StatusCode::OK, 0, size),
            Span::Part(first, last) => (StatusCode::PARTIAL_CONTENT, first, last - first + 1),
            Span::Nowhere => (StatusCode::RANGE_NOT_SATISFIABLE, 0, 0),
        };
        let mut response = if range == Span::Nowhere {
            status.into_response()
        } else {
            (status, stream_file(file, start, length)).into_response()
        };
        let answer = response.headers_mut();
        let content_range = match range {
            Span::Whole => None,
            Span::Part(first, last) => Some(format!("bytes {first}-{last}/{size}")),
            Span::Nowhere => Some(format!("bytes */{size}")),
        };
        if let Some(value) = content_range {
            answer.insert(CONTENT_RANGE, HeaderValue::from_str(&value).expect("it is ASCII"));
        }
        answer.insert(CONTENT_LENGTH, HeaderValue::from(length));
        response
    };
    let answer = response.headers_mut();
    answer.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if let Some(tag) = tag {
        answer.insert(ETAG, HeaderValue::from_str(tag).expect("hexadecimal digits are ASCII"));
    }
    response
}

/// Which bytes a client wants.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Span {
    /// All of them.
    Whole,
    /// From the first to the last, both included.
    Part(u64, u64),
    /// Some that are not there.
    Nowhere,
}

/// Reads a `Range` header. Several ranges, or nonsense, mean the whole, as RFC 9110 allows.
fn span(range: &str, size: u64) -> Span {
    let Some((first, last)) = range.trim().strip_prefix("bytes=").and_then(|r| r.split_once('-'))
    else {
        return Span::Whole;
    };
    let number = |text: &str| text.trim().parse::<u64>();
    match (first.trim(), last.trim()) {
        ("", n) => match number(n) {
            Ok(0) => Span::Nowhere,
            Ok(_) if size == 0 => Span::Nowhere,
            Ok(n) => Span::Part(size.saturating_sub(n), size - 1),
            Err(_) => Span::Whole,
        },
        (first, "") => match number(first) {
            Ok(first) if first < size => Span::Part(first, size - 1),
            Ok(_) => Span::Nowhere,
            Err(_) => Span::Whole,
        },
        (first, last) => match (number(first), number(last)) {
            (Ok(first), Ok(last)) if first > last => Span::Whole,
            (Ok(first), Ok(last)) if first < size => Span::Part(first, last.min(size - 1)),
            (Ok(_), Ok(_)) => Span::Nowhere,
            _ => Span::Whole,
        },
    }
}

/// Bytes read at once.
const PIECE: usize = 256 * 1024;

/// A part of a file as a body.
pub(crate) fn stream_file(mut file: std::fs::File, start: u64, length: u64) -> Content {
    stream(move |send| {
        file.seek(SeekFrom::Start(start))?;
        let mut left = length;
        let mut buffer = vec![0; PIECE];
        while left > 0 {
            let want = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
            let n = file.read(&mut buffer[..want])?;
            if n == 0 {
                // Cut while it was read: the answer must not look whole.
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            left -= n as u64;
            if !send(&buffer[..n]) {
                return Ok(());
            }
        }
        Ok(())
    })
}

/// A body that is read from disk off the event loop, no faster than the client takes it.
fn stream(
    produce: impl FnOnce(&mut dyn FnMut(&[u8]) -> bool) -> std::io::Result<()> + Send + 'static,
) -> Content {
    let (sender, receiver) = mpsc::channel::<std::io::Result<Bytes>>(4);
    tokio::task::spawn_blocking(move || {
        let mut send =
            |bytes: &[u8]| sender.blocking_send(Ok(Bytes::copy_from_slice(bytes))).is_ok();
        if let Err(error) = produce(&mut send) {
            _ = sender.blocking_send(Err(error));
        }
    });
    Content::from_stream(ReceiverStream::new(receiver))
}

/// Where TensorBoard shows a run.
#[derive(Debug, Serialize, ToSchema)]
pub struct TensorBoard {
    /// An address on the machine of the lab, for a browser there.
    pub url: String,
}

/// Show a run in TensorBoard, which is started on the machine of the lab unless it is at work for
/// this run. It must be installed there (`pip install tensorboard`), listens at the loopback address
/// alone, and ends with the lab or when nobody has looked at it for half an hour.
#[utoipa::path(
    post,
    path = "/api/runs/{id}/tensorboard",
    tag = "artifacts",
    params(("id" = String, Path, description = "Name of the run")),
    responses(
        (status = 200, body = TensorBoard),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
    ),
)]
async fn open_tensorboard(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<TensorBoard>, ApiError> {
    let id = parse_id(&id)?;
    Ok(Json(TensorBoard { url: state.ask(move |lab| lab.tensorboard(&id)).await? }))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list_artifacts))
        .routes(routes!(get_artifact))
        .routes(routes!(open_tensorboard))
        .routes(routes!(show_storage))
        .routes(routes!(tidy_up))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(range: &str, size: u64, expected: Span) {
        assert_eq!(span(range, size), expected, "{range} of {size}");
    }

    #[test]
    fn ranges() {
        check("bytes=0-99", 1000, Span::Part(0, 99));
        check("bytes=0-", 1000, Span::Part(0, 999));
        check("bytes=999-", 1000, Span::Part(999, 999));
        check("bytes=1000-", 1000, Span::Nowhere);
        check("bytes=-1", 1000, Span::Part(999, 999));
        check("bytes=-5000", 1000, Span::Part(0, 999));
        check("bytes=-0", 1000, Span::Nowhere);
        check("bytes=-5", 0, Span::Nowhere);
        check("bytes=0-0", 0, Span::Nowhere);
        check("bytes=10-5000", 1000, Span::Part(10, 999));
        check("bytes=20-10", 1000, Span::Whole);
        check("bytes=0-1,5-6", 1000, Span::Whole);
        check("lines=0-1", 1000, Span::Whole);
        check("bytes=x-1", 1000, Span::Whole);
        check("bytes=99999999999999999999-", 1000, Span::Whole);
    }
}
