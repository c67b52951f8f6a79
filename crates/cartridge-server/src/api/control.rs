//! `/api/runs/{id}/...` and `/api/trash`: what can be done with a run.
//!
//! What is asked of a trainer answers 202 with the run as it stands: the trainer acknowledges
//! between two updates, and the feed tells.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cartridge_run::lab::DeletedRun;
use cartridge_run::store::{Command, RunId};
use cartridge_run::tunable::Tunable;
use cartridge_run::{Lab, RunError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::runs::{Run, parse_id};
use crate::error::{ApiError, Problem};
use crate::extract::{Body, Path, Query, RequestKey};
use crate::time::rfc3339;

type Asked = Result<(StatusCode, Json<Run>), ApiError>;

async fn ask(
    state: AppState,
    id: &str,
    question: impl FnOnce(&Lab, RunId) -> cartridge_run::Result<cartridge_run::lab::RunView>
    + Send
    + 'static,
) -> Asked {
    let id = parse_id(id)?;
    let view = state.ask(move |lab| question(lab, id)).await?;
    Ok((StatusCode::ACCEPTED, Json(view.into())))
}

/// Start a run that waits in the queue at once, past those before it and past the lab's limits.
#[utoipa::path(
    post,
    path = "/api/runs/{id}/start",
    tag = "control",
    params(("id" = String, Path, description = "Name of the run")),
    responses(
        (status = 202, body = Run),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
    ),
)]
async fn start_queued_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    key: RequestKey,
) -> Asked {
    ask(state, &id, move |lab, id| lab.start_now(&id, key.by())).await
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
async fn stop_run(State(state): State<AppState>, Path(id): Path<String>, key: RequestKey) -> Asked {
    ask(state, &id, move |lab, id| lab.ask(&id, Command::Stop, key.by())).await
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
async fn pause_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    key: RequestKey,
) -> Asked {
    ask(state, &id, move |lab, id| lab.ask(&id, Command::Pause, key.by())).await
}

/// Let a run go on: one that is paused steps again, one that ended before its last step gets a new
/// attempt from its last checkpoint, as soon as there is room.
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
async fn resume_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    key: RequestKey,
) -> Asked {
    ask(state, &id, move |lab, id| lab.resume_run(&id, key.by())).await
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
async fn terminate_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    key: RequestKey,
) -> Asked {
    ask(state, &id, move |lab, id| lab.ask(&id, Command::Terminate, key.by())).await
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
async fn checkpoint_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    key: RequestKey,
) -> Asked {
    ask(state, &id, move |lab, id| lab.ask(&id, Command::Checkpoint, key.by())).await
}

/// Put a run away: it is listed only when asked for.
#[utoipa::path(
    post,
    path = "/api/runs/{id}/archive",
    tag = "control",
    params(("id" = String, Path, description = "Name of the run")),
    responses(
        (status = 202, body = Run),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
    ),
)]
async fn archive_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    key: RequestKey,
) -> Asked {
    ask(state, &id, move |lab, id| lab.archive_run(&id, true, key.by())).await
}

/// Bring a run back from the archive.
#[utoipa::path(
    post,
    path = "/api/runs/{id}/unarchive",
    tag = "control",
    params(("id" = String, Path, description = "Name of the run")),
    responses(
        (status = 202, body = Run),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
    ),
)]
async fn unarchive_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    key: RequestKey,
) -> Asked {
    ask(state, &id, move |lab, id| lab.archive_run(&id, false, key.by())).await
}

/// Bring a run back from the trash.
#[utoipa::path(
    post,
    path = "/api/runs/{id}/restore",
    tag = "control",
    params(("id" = String, Path, description = "Name of the run")),
    responses(
        (status = 202, body = Run),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
    ),
)]
async fn restore_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    key: RequestKey,
) -> Asked {
    ask(state, &id, move |lab, id| lab.restore_run(&id, key.by())).await
}

/// Keep a run, or one of its checkpoints, from whatever makes room.
#[utoipa::path(
    post,
    path = "/api/runs/{id}/pin",
    tag = "control",
    params(("id" = String, Path, description = "Name of the run"), PinQuery),
    responses((status = 202, body = Run), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn pin_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(PinQuery { checkpoint }): Query<PinQuery>,
    key: RequestKey,
) -> Asked {
    ask(state, &id, move |lab, id| lab.pin_run(&id, checkpoint.as_deref(), true, key.by())).await
}

/// Let go of a run, or of one of its checkpoints.
#[utoipa::path(
    post,
    path = "/api/runs/{id}/unpin",
    tag = "control",
    params(("id" = String, Path, description = "Name of the run"), PinQuery),
    responses((status = 202, body = Run), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn unpin_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(PinQuery { checkpoint }): Query<PinQuery>,
    key: RequestKey,
) -> Asked {
    ask(state, &id, move |lab, id| lab.pin_run(&id, checkpoint.as_deref(), false, key.by())).await
}

/// What is pinned.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct PinQuery {
    /// A checkpoint, by folder or steps; without it the run itself.
    checkpoint: Option<String>,
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

/// A setting that a run was asked to change.
#[derive(Debug, Serialize, ToSchema)]
pub struct Tuned {
    /// The run.
    #[serde(flatten)]
    pub run: Run,
    /// What is changed after the present update.
    pub change: TunedSetting,
}

/// What a setting was, is to be, and may be.
#[derive(Debug, Serialize, ToSchema)]
pub struct TunedSetting {
    /// The full path of the setting.
    pub path: String,
    /// What it is until then; null where a trainer that is not ours never said.
    #[schema(required)]
    pub old: Value,
    /// What it is then.
    pub new: f64,
    /// The least that it may be while a run trains (or above it, for a learning rate); none where
    /// only the trainer knows.
    #[schema(required)]
    pub minimum: Option<f64>,
    /// The greatest.
    #[schema(required)]
    pub maximum: Option<f64>,
}

/// Change a setting of a run while it trains, after a checkpoint. The answer says what it was and
/// what it may be; the event log tells when it took effect.
#[utoipa::path(
    post,
    path = "/api/runs/{id}/tune",
    tag = "control",
    params(("id" = String, Path, description = "Name of the run")),
    request_body = Tune,
    responses(
        (status = 202, body = Tuned),
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
    key: RequestKey,
    Body(Tune { path, value }): Body<Tune>,
) -> Result<(StatusCode, Json<Tuned>), ApiError> {
    let id = parse_id(&id)?;
    let asked = state.ask(move |lab| lab.tune(&id, &path, value, key.by())).await;
    let (view, path, old) = asked.map_err(|error| match error {
        ApiError::Run(RunError::Config(config)) => {
            let field = if config.is_about_value() { "/value" } else { "/path" };
            ApiError::Field { pointer: field.to_owned(), detail: config.to_string() }
        }
        other => other,
    })?;
    let bounds = Tunable::named(&path).ok().map(Tunable::bounds);
    let change = TunedSetting {
        path,
        old,
        new: value,
        minimum: bounds.map(|bounds| bounds.low),
        maximum: bounds.map(|bounds| bounds.high),
    };
    Ok((StatusCode::ACCEPTED, Json(Tuned { run: view.into(), change })))
}

/// A fork to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Fork {
    /// The checkpoint that it goes on from: `latest`, `best`, a folder, or a number of steps.
    #[serde(default = "latest")]
    #[schema(default = "latest", example = "step_000200000")]
    pub checkpoint: String,
    /// Settings that are changed, by full path: those in the run's `overrides_whitelist`.
    #[serde(default)]
    #[schema(value_type = Object, example = json!({ "trainer.learning_rate": 0.0001 }))]
    pub overrides: Map<String, Value>,
}

fn latest() -> String {
    "latest".to_owned()
}

/// Make a run that goes on from a checkpoint of this one, with some settings changed.
#[utoipa::path(
    post,
    path = "/api/runs/{id}/fork",
    tag = "control",
    params(("id" = String, Path, description = "Name of the run")),
    request_body = Fork,
    responses(
        (status = 201, body = Run),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn fork_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    key: RequestKey,
    Body(Fork { checkpoint, overrides }): Body<Fork>,
) -> Asked {
    let overrides: Vec<(String, Value)> = overrides.into_iter().collect();
    let forked =
        ask(state, &id, move |lab, id| lab.fork_run(&id, &checkpoint, &overrides, key.by()));
    let (_, run) = forked.await.map_err(|error| match error {
        ApiError::Run(RunError::Config(config)) => {
            let pointer = "/overrides".to_owned();
            ApiError::Field { pointer, detail: config.to_string() }
        }
        other => other,
    })?;
    Ok((StatusCode::CREATED, run))
}

/// Move a run that is not at work to the trash, from which it can be brought back for a week.
#[utoipa::path(
    delete,
    path = "/api/runs/{id}",
    tag = "control",
    params(("id" = String, Path, description = "Name of the run")),
    responses(
        (status = 204),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
    ),
)]
async fn delete_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    key: RequestKey,
) -> Result<StatusCode, ApiError> {
    let id = parse_id(&id)?;
    state.ask(move |lab| lab.delete_run(&id, key.by())).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The runs in the trash.
#[derive(Debug, Serialize, ToSchema)]
pub struct Trash {
    /// The last deleted first.
    pub runs: Vec<TrashedRun>,
}

/// A run in the trash.
#[derive(Debug, Serialize, ToSchema)]
pub struct TrashedRun {
    /// Its name.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// When it was deleted (RFC 3339).
    pub deleted_at: String,
    /// When it will be removed for good.
    pub purge_at: String,
}

impl From<DeletedRun> for TrashedRun {
    fn from(DeletedRun { manifest, deleted_at, purge_at }: DeletedRun) -> Self {
        Self {
            id: manifest.id.to_string(),
            name: manifest.name,
            deleted_at: rfc3339(deleted_at),
            purge_at: rfc3339(purge_at),
        }
    }
}

/// List the runs in the trash.
#[utoipa::path(
    get,
    path = "/api/trash",
    tag = "control",
    responses((status = 200, body = Trash), (status = 401, body = Problem)),
)]
async fn list_trash(State(state): State<AppState>) -> Result<Json<Trash>, ApiError> {
    let runs = state.ask(|lab| Ok(lab.trash())).await?;
    Ok(Json(Trash { runs: runs.into_iter().map(Into::into).collect() }))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(start_queued_run))
        .routes(routes!(stop_run))
        .routes(routes!(pause_run))
        .routes(routes!(resume_run))
        .routes(routes!(terminate_run))
        .routes(routes!(checkpoint_run))
        .routes(routes!(archive_run))
        .routes(routes!(unarchive_run))
        .routes(routes!(restore_run))
        .routes(routes!(pin_run))
        .routes(routes!(unpin_run))
        .routes(routes!(tune_run))
        .routes(routes!(fork_run))
        .routes(routes!(delete_run))
        .routes(routes!(list_trash))
}
