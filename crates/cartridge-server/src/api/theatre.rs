//! `/api/runs/{id}/episodes/{n}/...`: what the theatre shows of an episode beside its steps: what
//! the policy made of each, what it earned, and a stretch of it as a film.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use cartridge_run::curve::{self, Curve};
use cartridge_run::xray::{Thought, XrayKind as Kind};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::runs::parse_id;
use crate::error::{ApiError, Problem};
use crate::extract::{Path, Query};

/// The most steps of one X-ray.
const MOST_THOUGHTS: u64 = 1_000;

/// The longest film over HTTP; `cartridge video` makes longer ones.
const MOST_SECONDS: u32 = 120;

/// One film at a time: each takes a core, whoever watches, and the others wait in turn.
static CAMERA: std::sync::LazyLock<Arc<Semaphore>> =
    std::sync::LazyLock::new(|| Arc::new(Semaphore::new(1)));

/// What a policy makes of a part of an episode.
#[derive(Debug, Serialize, ToSchema)]
pub struct EpisodeXray {
    /// The run.
    pub run_id: String,
    /// Number of the episode.
    pub episode: u64,
    /// Which policy was asked: `policy.safetensors` of an evaluation, or a checkpoint's folder such
    /// as `step_000200000`.
    pub policy: String,
    /// Environment steps of that policy, where they are known.
    #[schema(required)]
    pub policy_step: Option<u64>,
    /// Whether it is the very policy that played. Of a training it is not: then it is the newest
    /// checkpoint at the episode's end that is still there, or else the oldest that there is.
    pub exact: bool,
    /// What is told of actions.
    pub kind: XrayKind,
    /// What it makes of each step, in order.
    pub steps: Vec<XrayStep>,
}

/// What an X-ray tells of actions.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum XrayKind {
    /// How probable each is.
    Probabilities,
    /// What return to expect after each.
    Values,
    /// Around which numbers they are drawn.
    Gaussian,
}

impl From<Kind> for XrayKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Probabilities => Self::Probabilities,
            Kind::Values => Self::Values,
            Kind::Gaussian => Self::Gaussian,
        }
    }
}

/// What a policy makes of the moment before an action.
#[derive(Debug, Serialize, ToSchema)]
pub struct XrayStep {
    /// Number of the action, from 1: what the policy saw is the moment `step - 1`.
    pub step: u64,
    /// `probabilities`: the probability of each action, 0 where it is illegal. `values`: the value
    /// of each, none where it is illegal. `gaussian`: the mean of each number, held within its
    /// bounds.
    pub actions: Vec<Option<f64>>,
    /// The deviation of each number; only `gaussian`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviations: Option<Vec<f64>>,
    /// The best legal action, the first of equals; none for `gaussian`.
    #[schema(required)]
    pub best: Option<usize>,
    /// How undecided it is, in nats; none for `values`.
    #[schema(required)]
    pub entropy: Option<f64>,
    /// The return to expect.
    #[schema(required)]
    pub value: Option<f64>,
    /// Whether it is what a search found before that very move, in a game of self-play. Of a game
    /// that is `exact`, moves without it are those of the opening, which were drawn by chance.
    pub searched: bool,
}

impl From<Thought> for XrayStep {
    fn from(thought: Thought) -> Self {
        let Thought { step, actions, deviations, best, entropy, value, is_searched } = thought;
        Self { step, actions, deviations, best, entropy, value, searched: is_searched }
    }
}

/// Which actions of an episode.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct XrayQuery {
    /// The first action; 1 is the first of the episode.
    #[serde(default)]
    #[param(required = false)]
    from: u64,
    /// The action after the last. At most 1,000 are told at once; so many when left out.
    to: Option<u64>,
}

/// X-ray an episode: at each step what a policy would do, and what it expects.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/episodes/{n}/xray",
    tag = "runs",
    params(
        ("id" = String, Path, description = "Name of the run"),
        ("n" = u64, Path, description = "Number of the episode in the run, from 1"),
        XrayQuery,
    ),
    responses(
        (status = 200, body = EpisodeXray),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem, description = "There is no policy to ask, or what was recorded is damaged"),
    ),
)]
async fn xray_episode(
    State(state): State<AppState>,
    Path((id, n)): Path<(String, u64)>,
    Query(XrayQuery { from, to }): Query<XrayQuery>,
) -> Result<Json<EpisodeXray>, ApiError> {
    let id = parse_id(&id)?;
    let run_id = id.to_string();
    let from = from.max(1);
    let most = from.saturating_add(MOST_THOUGHTS);
    let to = to.unwrap_or(most).min(most);
    let found = state.ask(move |lab| lab.xray(&id, n, from..to)).await?;
    Ok(Json(EpisodeXray {
        run_id,
        episode: n,
        policy: found.policy,
        policy_step: found.policy_step,
        exact: found.is_exact,
        kind: found.kind.into(),
        steps: found.thoughts.into_iter().map(Into::into).collect(),
    }))
}

/// Which stretch of an episode.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct FilmQuery {
    /// The first step; 0 is the start.
    #[serde(default)]
    #[param(required = false)]
    from: u64,
    /// The step after the last; all when left out. A film ends after 120 seconds in any case.
    to: Option<u64>,
}

/// Film a stretch of an episode, at its own pace, as an MP4 file to keep. Films are made one after
/// the other.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/episodes/{n}/film.mp4",
    tag = "runs",
    params(
        ("id" = String, Path, description = "Name of the run"),
        ("n" = u64, Path, description = "Number of the episode in the run, from 1"),
        FilmQuery,
    ),
    responses(
        (status = 200, content_type = "video/mp4", body = Vec<u8>),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem, description = "There is no such episode or step, or its trainer is not ours, so that there are no pictures"),
        (status = 409, body = Problem, description = "What was recorded is damaged, or does not replay to what it was"),
    ),
)]
async fn film_episode(
    State(state): State<AppState>,
    Path((id, n)): Path<(String, u64)>,
    Query(FilmQuery { from, to }): Query<FilmQuery>,
) -> Result<Response, ApiError> {
    let id = parse_id(&id)?;
    if to.is_some_and(|to| to <= from) {
        let reason = "`to` is the step after the last, so it is greater than `from`".to_owned();
        return Err(ApiError::Malformed(reason));
    }
    let name = match to {
        Some(to) => format!("{id}-episode-{n}-{from}-{to}.mp4"),
        None if from == 0 => format!("{id}-episode-{n}.mp4"),
        None => format!("{id}-episode-{n}-{from}.mp4"),
    };
    // Whoever leaves while waiting is not waited for; a film that was begun is made to its end.
    let turn = Arc::clone(&CAMERA).acquire_owned().await;
    let turn = turn.map_err(|error| ApiError::Internal(error.to_string()))?;
    let make = move |lab: &cartridge_run::Lab| {
        let _turn = turn;
        lab.episode_film(&id, n, from..to.unwrap_or(u64::MAX), MOST_SECONDS)
    };
    let film = state.ask(make).await?.file;
    let headers = [
        (CONTENT_TYPE, "video/mp4".to_owned()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    Ok((headers, film).into_response())
}

/// What an episode earned, in few enough points to be drawn: columns with one element each.
#[derive(Debug, Serialize, ToSchema)]
pub struct EpisodeCurve {
    /// The run.
    pub run_id: String,
    /// Number of the episode.
    pub episode: u64,
    /// Steps of the episode.
    pub n_steps: u64,
    /// The last step of each stretch; stretches are of equal length, but for the last, which ends
    /// with step `n_steps`.
    pub step: Vec<u64>,
    /// The return after that step. Rewards that are not finite do not count.
    pub total: Vec<f64>,
    /// The smallest reward of each stretch; none where none is finite.
    pub low: Vec<Option<f64>>,
    /// The largest reward of each stretch; none where none is finite.
    pub high: Vec<Option<f64>>,
}

/// In how many points.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct CurveQuery {
    /// At most so many, 2 to 4,000; 1,000 when left out.
    #[param(minimum = 2, maximum = 4000)]
    points: Option<u64>,
}

/// Draw what an episode earned: the return so far, and the smallest and largest reward, for as many
/// stretches of steps as fit a screen.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/episodes/{n}/curve",
    tag = "runs",
    params(
        ("id" = String, Path, description = "Name of the run"),
        ("n" = u64, Path, description = "Number of the episode in the run, from 1"),
        CurveQuery,
    ),
    responses(
        (status = 200, body = EpisodeCurve),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem, description = "What was recorded is damaged, or cannot be stepped again"),
    ),
)]
async fn draw_episode(
    State(state): State<AppState>,
    Path((id, n)): Path<(String, u64)>,
    Query(CurveQuery { points }): Query<CurveQuery>,
) -> Result<Json<EpisodeCurve>, ApiError> {
    let id = parse_id(&id)?;
    let run_id = id.to_string();
    let points = points.unwrap_or(1_000).clamp(2, 4_000);
    let draw = move |lab: &cartridge_run::Lab| {
        lab.with_archive(&id, |archive| curve::of_episode(archive, n, points))
    };
    let Curve { n_steps, step, total, low, high } = state.ask(draw).await?;
    Ok(Json(EpisodeCurve { run_id, episode: n, n_steps, step, total, low, high }))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(xray_episode))
        .routes(routes!(film_episode))
        .routes(routes!(draw_episode))
}
