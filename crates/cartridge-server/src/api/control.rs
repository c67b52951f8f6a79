//! `/api/runs/{id}/...`: what can be asked of a run.
//!
//! Each answers 202 with the run as it stands: a trainer acknowledges between two updates, and the
//! feed tells.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cartridge_run::RunError;
use cartridge_run::store::Command;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::runs::{Run, parse_id};
use crate::error::{ApiError, Problem};
use crate::extract::{Body, Path};

/// Who asks, in what is recorded.
const BY: &str = "admin";

type Asked = Result<(StatusCode, Json<Run>), ApiError>;

async fn ask(state: AppState, id: &str, command: Command) -> Asked {
    let id = parse_id(id)?;
    let view = state.ask(move |lab| lab.ask(&id, command, BY)).await?;
    Ok((StatusCode::ACCEPTED, Json(view.into())))
}

/// Ask a run to save a checkpoint and end.
#[utoipa::path(
    post,
    path = "/api/runs/{id}/stop",
    tag = "control",
    params(("id" = String, Path, description = "Name of the run")),
    responses(
        (status = 202, body = Run),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
    ),
)]
async fn stop_run(State(state): State<AppState>, Path(id): Path<String>) -> Asked {
    ask(state, &id, Command::Stop).await
}

/// Ask a run to stop stepping; its process stays.
#[utoipa::path(
    post,
    path = "/api/runs/{id}/pause",
    tag = "control",
    params(("id" = String, Path, description = "Name of the run")),
    responses(
        (status = 202, body = Run),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
    ),
)]
async fn pause_run(State(state): State<AppState>, Path(id): Path<String>) -> Asked {
    ask(state, &id, Command::Pause).await
}

/// Let a paused run go on.
#[utoipa::path(
    post,
    path = "/api/runs/{id}/resume",
    tag = "control",
    params(("id" = String, Path, description = "Name of the run")),
    responses(
        (status = 202, body = Run),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
    ),
)]
async fn resume_run(State(state): State<AppState>, Path(id): Path<String>) -> Asked {
    ask(state, &id, Command::Resume).await
}

/// End a run's processes at once, without a checkpoint.
#[utoipa::path(
    post,
    path = "/api/runs/{id}/terminate",
    tag = "control",
    params(("id" = String, Path, description = "Name of the run")),
    responses(
        (status = 202, body = Run),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
    ),
)]
async fn terminate_run(State(state): State<AppState>, Path(id): Path<String>) -> Asked {
    ask(state, &id, Command::Terminate).await
}

/// Ask a run to save a checkpoint and go on.
#[utoipa::path(
    post,
    path = "/api/runs/{id}/checkpoint",
    tag = "control",
    params(("id" = String, Path, description = "Name of the run")),
    responses(
        (status = 202, body = Run),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
    ),
)]
async fn checkpoint_run(State(state): State<AppState>, Path(id): Path<String>) -> Asked {
    ask(state, &id, Command::Checkpoint).await
}

/// A setting to be changed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Tune {
    /// The full path of the setting.
    #[schema(example = "trainer.learning_rate")]
    pub path: String,
    /// Its new value.
    #[schema(example = 0.0001)]
    pub value: f64,
}

/// Change a setting of a run while it trains, after a checkpoint.
#[utoipa::path(
    post,
    path = "/api/runs/{id}/tune",
    tag = "control",
    params(("id" = String, Path, description = "Name of the run")),
    request_body = Tune,
    responses(
        (status = 202, body = Run),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn tune_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Body(Tune { path, value }): Body<Tune>,
) -> Asked {
    ask(state, &id, Command::Tune { path, value }).await.map_err(|error| match error {
        ApiError::Run(RunError::Config(config)) => {
            let field = if config.is_about_value() { "/value" } else { "/path" };
            ApiError::Field { pointer: field.to_owned(), detail: config.to_string() }
        }
        other => other,
    })
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(stop_run))
        .routes(routes!(pause_run))
        .routes(routes!(resume_run))
        .routes(routes!(terminate_run))
        .routes(routes!(checkpoint_run))
        .routes(routes!(tune_run))
}
