//! `/api/environments`: what an agent can be trained on.

use axum::Json;
use axum::extract::State;
use cartridge_games::controls::{self, Effect, Idle};
use cartridge_games::env::{ActionSpace, AnyAction, EnvSpec};
use cartridge_games::fastrand;
use cartridge_games::game::{Action, Seat};
use cartridge_games::registry::{self, AnyGame};
use cartridge_games::scene::Scene;
use cartridge_run::config::{Algorithm, run_options};
use cartridge_run::{RunError, preview};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::error::{ApiError, Problem};
use crate::extract::{Path, Query};

/// The environments.
#[derive(Debug, Serialize, ToSchema)]
pub struct EnvironmentList {
    /// All of them.
    pub environments: Vec<Environment>,
}

/// Something that an agent can be trained on.
#[derive(Debug, Serialize, ToSchema)]
pub struct Environment {
    /// Gymnasium's id, or that of a game.
    pub id: &'static str,
    /// For people.
    pub name: &'static str,
    /// Whether it is a game of two, which is learnt by self-play.
    pub is_game: bool,
    /// What an action is.
    pub action_space_type: ActionSpaceType,
    /// How many actions there are, or numbers in a continuous one.
    pub n_actions: usize,
    /// Lowest and highest value of each number of a continuous action.
    pub action_bounds: Vec<[f32; 2]>,
    /// What each action, or each number of one, does.
    pub action_names: Vec<String>,
    /// Shape of an observation.
    pub obs_space_dims: Vec<usize>,
    /// What each number of an observation is.
    pub observation_names: Vec<&'static str>,
    /// The mean return that counts as solved.
    #[schema(required)]
    pub threshold: Option<f64>,
    /// Steps after which an episode is cut short.
    pub max_steps: u32,
    /// Its own pace.
    pub frames_per_second: u32,
    /// The algorithms that can learn it.
    pub algorithms: Vec<&'static str>,
    /// The options that a run on it may have, with their defaults.
    #[schema(value_type = Object)]
    pub options: Map<String, Value>,
    /// The keys of a person who plays it in real time; none where it waits for decisions.
    #[schema(required)]
    pub controls: Option<Controls>,
}

/// The keys by which a person acts.
#[derive(Debug, Serialize, ToSchema)]
pub struct Controls {
    /// What is done while no key is held.
    pub idle: Idle,
    /// What the keys do.
    pub keys: Vec<Control>,
    /// What has happened when the task itself ends; empty where it never does.
    pub ending: &'static str,
}

/// Keys that do the same.
#[derive(Debug, Serialize, ToSchema)]
pub struct Control {
    /// The keys as browsers name them, letters in lower case.
    pub keys: Vec<&'static str>,
    /// What they do, for people.
    pub label: &'static str,
    /// What they do.
    pub effect: Effect,
}

impl From<controls::Controls> for Controls {
    fn from(controls: controls::Controls) -> Self {
        let control = |control: &controls::Control| Control {
            keys: control.keys.to_vec(),
            label: control.label,
            effect: control.effect,
        };
        Self {
            idle: controls.idle,
            keys: controls.keys.iter().map(control).collect(),
            ending: controls.ending,
        }
    }
}

/// What an action is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionSpaceType {
    /// One of a fixed list.
    Discrete,
    /// A list of numbers.
    Continuous,
}

impl From<&'static EnvSpec> for Environment {
    fn from(spec: &'static EnvSpec) -> Self {
        let (action_space_type, action_bounds) = match spec.actions {
            ActionSpace::Discrete(_) => (ActionSpaceType::Discrete, Vec::new()),
            ActionSpace::Continuous { low, high } => {
                let bounds = low.iter().zip(high).map(|(&low, &high)| [low, high]);
                (ActionSpaceType::Continuous, bounds.collect())
            }
        };
        let game = registry::games().iter().find(|game| game.id == spec.id);
        let learns = |algo: &Algorithm| match game {
            Some(_) => algo.learns_games(),
            None => algo.learns(&spec.actions),
        };
        let algorithms = Algorithm::ALL.into_iter().filter(learns);
        Self {
            id: spec.id,
            name: spec.name,
            is_game: game.is_some(),
            action_space_type,
            action_bounds,
            n_actions: spec.actions.size(),
            action_names: action_names(spec),
            obs_space_dims: game.map_or(vec![spec.observation], |game| game.planes.to_vec()),
            observation_names: spec.observation_names.to_vec(),
            threshold: spec.reward_threshold,
            max_steps: spec.max_steps,
            frames_per_second: spec.frames_per_second,
            algorithms: algorithms.map(Algorithm::id).collect(),
            // A game has none.
            options: run_options(spec.id).unwrap_or_default(),
            controls: spec.controls.map(Into::into),
        }
    }
}

/// What each action does, or where at a board it is played.
fn action_names(spec: &EnvSpec) -> Vec<String> {
    match AnyGame::start(spec.id, &mut fastrand::Rng::with_seed(0)) {
        Ok(game) => (0..spec.actions.size()).map(|index| game.action_name(Action(index))).collect(),
        Err(_) => spec.action_names.iter().map(|&name| name.to_owned()).collect(),
    }
}

/// Which episode to show.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct PreviewQuery {
    /// Chooses the episode.
    #[serde(default)]
    #[param(required = false)]
    pub seed: u64,
}

/// One episode, frame by frame.
#[derive(Debug, Serialize, ToSchema)]
pub struct Preview {
    /// The environment.
    pub env_id: &'static str,
    /// The number that was given to `reset`.
    pub seed: u64,
    /// Who acts.
    pub policy: PreviewPolicy,
    /// The environment's own pace.
    pub frames_per_second: u32,
    /// The frames; the first shows the start.
    pub frames: Vec<Frame>,
    /// Steps that were taken.
    pub length: usize,
    /// Whether the task itself ended.
    pub terminated: bool,
    /// Whether the episode was cut short by its time limit.
    pub truncated: bool,
    /// What the client should know: that the id it gave is out of date.
    #[schema(required)]
    pub notice: Option<String>,
}

/// Who acts in a preview.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PreviewPolicy {
    /// Any action with equal chance.
    Random,
    /// The newest checkpoint of a run, always taking its best action.
    Checkpoint {
        /// The run.
        run_id: String,
        /// Environment steps of the checkpoint.
        step: u64,
    },
}

/// One moment of an episode.
#[derive(Debug, Serialize, ToSchema)]
pub struct Frame {
    /// The picture.
    pub scene: Scene,
    /// What the agent sees.
    pub observation: Vec<f32>,
    /// The seats whose pieces lie where each action of a game is chosen, the lowest first, for people
    /// who cannot see the board; only of games.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Vec<usize>>>)]
    pub pieces: Option<Vec<Vec<Seat>>>,
    /// The action that led here; none at the start.
    #[schema(required)]
    pub action: Option<AnyAction>,
    /// Reward of that action.
    pub reward: f64,
    /// Rewards so far.
    pub total_reward: f64,
}

impl Preview {
    /// The answer for an episode that `policy` played.
    pub fn new(preview: preview::Preview, policy: PreviewPolicy) -> Self {
        let preview::Preview { spec, seed, frames, terminated, truncated } = preview;
        Self {
            env_id: spec.id,
            seed,
            policy,
            frames_per_second: spec.frames_per_second,
            length: frames.len() - 1,
            frames: frames
                .into_iter()
                .map(|frame| Frame {
                    scene: frame.scene,
                    observation: frame.observation,
                    pieces: frame.pieces,
                    action: frame.action,
                    reward: frame.reward,
                    total_reward: frame.total_reward,
                })
                .collect(),
            terminated,
            truncated,
            notice: None,
        }
    }
}

/// Which to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentQuery {
    /// Whether games are listed too, after the environments: whatever can be trained on.
    #[serde(default)]
    #[param(required = false)]
    pub games: bool,
}

/// List the environments.
#[utoipa::path(
    get,
    path = "/api/environments",
    tag = "environments",
    params(EnvironmentQuery),
    responses((status = 200, body = EnvironmentList), (status = 401, body = Problem)),
)]
async fn list_environments(Query(query): Query<EnvironmentQuery>) -> Json<EnvironmentList> {
    let games = registry::games().iter().filter(|_| query.games);
    let games = games.filter_map(|game| registry::make_world(game.id, &Map::new()).ok());
    let games = games.map(|game| game.spec());
    let all = registry::environments().iter().copied().chain(games);
    Json(EnvironmentList { environments: all.map(Into::into).collect() })
}

/// Play one episode at random, as pictures.
#[utoipa::path(
    get,
    path = "/api/environments/{id}/preview",
    tag = "environments",
    params(("id" = String, Path, description = "Id of the environment"), PreviewQuery),
    responses((status = 200, body = Preview), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn preview_environment(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<PreviewQuery>,
) -> Result<Json<Preview>, ApiError> {
    let (_, notice) = registry::present_id(&id);
    let preview =
        state.ask(move |lab| lab.preview_environment(&id, query.seed)).await.map_err(|error| {
            match error {
                ApiError::Run(RunError::Registry(error)) => {
                    ApiError::NoSuchEnvironment(error.to_string())
                }
                error => error,
            }
        })?;
    Ok(Json(Preview { notice, ..Preview::new(preview, PreviewPolicy::Random) }))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list_environments)).routes(routes!(preview_environment))
}
