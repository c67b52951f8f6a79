//! `/api/play/environments`: environments that people play by keyboard.

use axum::Json;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::StatusCode;
use axum::response::Response;
use cartridge_games::env::AnyAction;
use cartridge_games::registry::RegistryError;
use cartridge_run::RunError;
use cartridge_run::human::{self, Record};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::environments::Environment;
use crate::api::runs::parse_id;
use crate::error::{ApiError, Problem};
use crate::extract::{Body, Path, Query};
use crate::live_play::{self, MAX_MESSAGE_BYTES, MAX_PLAYS};
use crate::time::rfc3339;

/// A session to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewHumanSession {
    /// Id of the environment.
    #[schema(example = "CartPole-v1")]
    pub env_id: String,
    /// Options of the environment, under Gymnasium's names.
    #[serde(default)]
    #[schema(required = false, value_type = Object)]
    pub options: Map<String, Value>,
    /// The number given to the first `reset`; any when left out.
    #[serde(default)]
    pub seed: Option<u64>,
}

/// What a person plays.
#[derive(Debug, Serialize, ToSchema)]
pub struct HumanSession {
    /// Its name, made by the lab.
    pub id: String,
    /// The environment, with these options.
    pub environment: Environment,
    /// Options of the environment.
    #[schema(value_type = Object)]
    pub options: Map<String, Value>,
    /// The episodes so far, in order, as far as they were kept.
    pub episodes: Vec<HumanEpisode>,
    /// When it began (RFC 3339).
    pub created_at: String,
}

impl From<Record> for HumanSession {
    fn from(record: Record) -> Self {
        Self {
            id: record.manifest.id.to_string(),
            environment: record.spec.into(),
            options: record.options,
            episodes: record.episodes.into_iter().map(Into::into).collect(),
            created_at: rfc3339(record.manifest.created_at),
        }
    }
}

/// An episode that a person plays or played.
#[derive(Debug, Serialize, ToSchema)]
pub struct HumanEpisode {
    /// Its number in the session, from 1.
    pub episode: u32,
    /// The number given to `reset`.
    pub seed: u64,
    /// Steps.
    pub length: u64,
    /// Sum of the rewards.
    pub total_reward: f64,
    /// Whether the task itself has ended.
    pub terminated: bool,
    /// Whether the time limit was reached.
    pub truncated: bool,
}

impl From<human::Episode> for HumanEpisode {
    fn from(episode: human::Episode) -> Self {
        let human::Episode { episode, seed, length, total_reward, terminated, truncated } = episode;
        Self { episode, seed, length, total_reward, terminated, truncated }
    }
}

/// All that is needed to repeat an episode, here or in Gymnasium.
#[derive(Debug, Serialize, ToSchema)]
pub struct HumanActions {
    /// Id of the environment.
    pub env_id: &'static str,
    /// Options of the environment.
    #[schema(value_type = Object)]
    pub options: Map<String, Value>,
    /// The number given to `reset`.
    pub seed: u64,
    /// What was done, a step each.
    pub actions: Vec<AnyAction>,
}

/// The newest sessions.
#[derive(Debug, Serialize, ToSchema)]
pub struct HumanSessionList {
    /// The sessions, newest first.
    pub sessions: Vec<HumanSessionSummary>,
}

/// A session in one line.
#[derive(Debug, Serialize, ToSchema)]
pub struct HumanSessionSummary {
    /// Its name, made by the lab.
    pub id: String,
    /// Id of the environment.
    pub env_id: &'static str,
    /// The environment's name for people.
    pub env_name: &'static str,
    /// Episodes in which something was done.
    pub episodes: usize,
    /// The best return of an episode that has ended.
    #[schema(required)]
    pub best: Option<f64>,
    /// When it began (RFC 3339).
    pub created_at: String,
}

impl From<Record> for HumanSessionSummary {
    fn from(record: Record) -> Self {
        let ended = record.episodes.iter().filter(|episode| episode.is_over());
        Self {
            id: record.manifest.id.to_string(),
            env_id: record.spec.id,
            env_name: record.spec.name,
            episodes: record.episodes.iter().filter(|episode| episode.length > 0).count(),
            best: ended.map(|episode| episode.total_reward).max_by(f64::total_cmp),
            created_at: rfc3339(record.manifest.created_at),
        }
    }
}

/// How many sessions.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct SessionsQuery {
    /// How many, at most 100.
    #[serde(default = "default_sessions")]
    #[param(required = false, minimum = 1, maximum = 100)]
    limit: usize,
}

fn default_sessions() -> usize {
    20
}

/// List the newest sessions, newest first.
#[utoipa::path(
    get,
    path = "/api/play/environments",
    tag = "play",
    params(SessionsQuery),
    responses((status = 200, body = HumanSessionList), (status = 400, body = Problem), (status = 401, body = Problem)),
)]
async fn list_sessions(
    State(state): State<AppState>,
    Query(query): Query<SessionsQuery>,
) -> Result<Json<HumanSessionList>, ApiError> {
    let records = state.ask(move |lab| lab.sessions(query.limit.clamp(1, 100))).await?;
    Ok(Json(HumanSessionList { sessions: records.into_iter().map(Into::into).collect() }))
}

/// Make a session in an environment. Nothing happens until it is played.
#[utoipa::path(
    post,
    path = "/api/play/environments",
    tag = "play",
    request_body = NewHumanSession,
    responses(
        (status = 201, body = HumanSession),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn new_session(
    State(state): State<AppState>,
    Body(new): Body<NewHumanSession>,
) -> Result<(StatusCode, Json<HumanSession>), ApiError> {
    let NewHumanSession { env_id, options, seed } = new;
    let made = state.ask(move |lab| lab.new_session(&env_id, options, seed)).await;
    let record = made.map_err(|error| match error {
        ApiError::Run(RunError::Registry(error)) => {
            let pointer = match &error {
                RegistryError::UnknownOption { option, .. } => format!("/options/{option}"),
                RegistryError::BadOption { .. } => "/options".to_owned(),
                _ => "/env_id".to_owned(),
            };
            ApiError::Field { pointer, detail: error.to_string() }
        }
        error => error,
    })?;
    Ok((StatusCode::CREATED, Json(record.into())))
}

/// Show a session.
#[utoipa::path(
    get,
    path = "/api/play/environments/{id}",
    tag = "play",
    params(("id" = String, Path, description = "Name of the session")),
    responses((status = 200, body = HumanSession), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn show_session(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<HumanSession>, ApiError> {
    let id = parse_id(&id)?;
    Ok(Json(state.ask(move |lab| lab.session(&id, None)).await?.into()))
}

/// The seed and the actions of an episode: what `cartridge trace` takes.
#[utoipa::path(
    get,
    path = "/api/play/environments/{id}/episodes/{episode}",
    tag = "play",
    params(
        ("id" = String, Path, description = "Name of the session"),
        ("episode" = u32, Path, description = "Number of the episode, from 1"),
    ),
    responses(
        (status = 200, body = HumanActions),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn show_actions(
    State(state): State<AppState>,
    Path((id, episode)): Path<(String, u32)>,
) -> Result<Json<HumanActions>, ApiError> {
    let id = parse_id(&id)?;
    let record = state.ask(move |lab| lab.session(&id, Some(episode))).await?;
    let seed = record.episodes.iter().find(|played| played.episode == episode);
    let seed = seed.ok_or(ApiError::NoSuchEpisode(episode))?.seed;
    let Record { spec, options, actions, .. } = record;
    Ok(Json(HumanActions { env_id: spec.id, options, seed, actions }))
}

/// Play, as a WebSocket: the client sends `PlayCommand`s, the lab the newest `PlayFrame`. A second
/// connection takes over from the first, which is closed with code 4001.
#[utoipa::path(
    get,
    path = "/api/play/environments/{id}/live",
    tag = "play",
    params(("id" = String, Path, description = "Name of the session")),
    responses(
        (status = 101, description = "The connection is a WebSocket from here on"),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 403, body = Problem),
        (status = 404, body = Problem),
        (status = 503, body = Problem),
    ),
)]
async fn play_live(
    State(state): State<AppState>,
    Path(id): Path<String>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let id = parse_id(&id)?;
    let wanted = id.clone();
    state.ask(move |lab| lab.session(&wanted, None)).await?;
    let upgrade = upgrade.map_err(|rejection| ApiError::NotAWebSocket(rejection.body_text()))?;
    let chair = state.plays.sit_down(&id).ok_or(ApiError::NoSeat(MAX_PLAYS))?;
    Ok(upgrade
        .max_message_size(MAX_MESSAGE_BYTES)
        .max_frame_size(MAX_MESSAGE_BYTES)
        .on_upgrade(move |socket| live_play::play(socket, state, chair)))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list_sessions, new_session))
        .routes(routes!(show_session))
        .routes(routes!(show_actions))
        .routes(routes!(play_live))
}
