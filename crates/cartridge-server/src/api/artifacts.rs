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
use cartridge_run::archive;
use cartridge_run::lab::ArtifactContent;
use cartridge_run::store::{self, ArtifactId};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::runs::parse_id;
use crate::error::{ApiError, Problem};
use crate::extract::Path;

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
            (total > 0).then(|| Kept {
                kind: kind.into(),
                kept,
                total,
                size_bytes: bytes.get(&kind).copied().unwrap_or(0),
                text: format!("{kept} of {total} kept"),
            })
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
    let (name, content_type) = presented(&artifact);
    let mut response = match content {
        ArtifactContent::Folder(folder) => {
            let body = stream(move |send| archive::write(&folder, send));
            body.into_response()
        }
        ArtifactContent::File { file, size_bytes } => {
            let tag = artifact.sha256.as_deref().map(|sum| format!("\"{sum}\""));
            serve_file(file, size_bytes, tag.as_deref(), &headers)
        }
    };
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
    Ok(response)
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

fn stream_file(mut file: std::fs::File, start: u64, length: u64) -> Content {
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

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list_artifacts)).routes(routes!(get_artifact))
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
