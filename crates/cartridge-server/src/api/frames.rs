//! `/api/runs/{id}/frames`: what a run is doing, as live pictures.

use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::runs::parse_id;
use crate::error::{ApiError, Problem};
use crate::extract::{Path, Query};
use crate::live_frames::{self, FrameFormat, MAX_MESSAGE_BYTES};

/// How to watch.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct FramesQuery {
    /// What the pictures are made of.
    #[serde(default)]
    #[param(required = false, inline)]
    format: FrameFormat,
    /// Pictures a second, 1 to 30, or 0 to begin with a pause; 12 of a training and 15 of an
    /// evaluation when left out.
    #[param(minimum = 0, maximum = 30)]
    fps: Option<u32>,
}

/// Watch a run, as a WebSocket: the lab sends `LiveFrame`s, beginning with the newest; the viewer
/// may send `FrameCommand`s, which change its own rate and nobody else's. With `format=jpeg` each
/// frame is a text without the picture, followed by the picture. A foreign trainer that has sent no
/// picture is told of by a `FrameNotice` instead, which no picture follows.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/frames",
    tag = "stream",
    params(("id" = String, Path, description = "Name of the run"), FramesQuery),
    responses(
        (status = 101, description = "The connection is a WebSocket from here on"),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 403, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn watch_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<FramesQuery>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let id = parse_id(&id)?;
    let wanted = id.clone();
    let kind = state.ask(move |lab| Ok(lab.run(&wanted)?.run.manifest.kind)).await?;
    let upgrade = upgrade.map_err(|rejection| ApiError::NotAWebSocket(rejection.body_text()))?;
    let FramesQuery { format, fps } = query;
    Ok(upgrade
        .max_message_size(MAX_MESSAGE_BYTES)
        .max_frame_size(MAX_MESSAGE_BYTES)
        .on_upgrade(move |socket| live_frames::watch(socket, state, id, kind, format, fps)))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(watch_run))
}
