//! `/api/play/opponents`, `/api/play/{id}/thoughts` and `/api/play/{id}/review`: the networks that can
//! be played, and what they make of a game.

use axum::Json;
use axum::extract::{Extension, State};
use cartridge_games::game::Action;
use cartridge_games::registry::AnyGame;
use cartridge_run::lab::{NetworkKind, NetworkView};
use cartridge_run::opponent::Opponent as Builtin;
use cartridge_run::play::Play;
use cartridge_run::play::thoughts;
use cartridge_run::thinker::{MOST_SIMULATIONS_BY_REQUEST, STRENGTHS};
use cartridge_run::{RunError, store};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::play::{Opponent, PlayRating, Turn};
use crate::api::runs::parse_id;
use crate::auth::Principal;
use crate::error::{ApiError, Problem};
use crate::extract::{Path, Query};

/// Who can be played at a game.
#[derive(Debug, Serialize, ToSchema)]
pub struct OpponentList {
    /// Id of the game.
    pub game: &'static str,
    /// The game's name for people.
    pub game_name: &'static str,
    /// Built-in opponents, one per level, strongest first.
    pub levels: Vec<Opponent>,
    /// What was learnt: the lab's best, what is brought along, named models and checkpoints of
    /// trainings, the newest first.
    pub networks: Vec<PlayableNetwork>,
    /// Strengths of a network that can search, weakest first.
    pub strengths: Vec<PlayStrength>,
    /// The most simulations that can be asked for.
    pub most_simulations: u32,
}

/// A network that can be played.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlayableNetwork {
    /// How it is asked for: with simulations after it, `best:400`, where it can search.
    #[schema(example = "best")]
    pub id: String,
    /// What it is.
    pub kind: PlayableKind,
    /// For people.
    pub name: String,
    /// The run that it was learnt in, where that is known.
    #[schema(required)]
    pub run_id: Option<String>,
    /// The steps of the run by then.
    #[schema(required)]
    pub step: Option<u64>,
    /// Whether it can search; otherwise it plays by its policy alone, and takes no simulations.
    pub can_search: bool,
    /// How strong it was found to be in matches, for each strength at which it can be played: with its
    /// simulations, or else with the number that is nearest.
    pub ratings: Vec<StrengthRating>,
}

/// What a network is to the lab.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlayableKind {
    /// The lab's best at the game.
    Best,
    /// Brought along by the program.
    Shipped,
    /// A version of a named model.
    Model,
    /// A checkpoint of a training.
    Checkpoint,
}

/// How strong a network is with some simulations.
#[derive(Debug, Serialize, ToSchema)]
pub struct StrengthRating {
    /// The simulations of the strength; none for a network that cannot search.
    #[schema(required)]
    pub simulations: Option<u32>,
    /// How strong it is.
    #[serde(flatten)]
    pub rating: PlayRating,
}

/// A strength of networks by its name.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlayStrength {
    /// `Novice`, `Master`.
    pub name: &'static str,
    /// How many simulations it is; 0 is the policy alone.
    pub simulations: u32,
}

impl From<NetworkView> for PlayableNetwork {
    fn from(network: NetworkView) -> Self {
        let NetworkView { id, kind, name, origin, can_search, ratings } = network;
        let kind = match kind {
            NetworkKind::Best => PlayableKind::Best,
            NetworkKind::Shipped => PlayableKind::Shipped,
            NetworkKind::Model => PlayableKind::Model,
            NetworkKind::Checkpoint => PlayableKind::Checkpoint,
        };
        let ratings = ratings.into_iter();
        let ratings = ratings
            .map(|(simulations, known)| StrengthRating { simulations, rating: known.into() });
        Self {
            id,
            kind,
            name,
            run_id: origin.run.map(|run| run.to_string()),
            step: origin.step,
            can_search,
            ratings: ratings.collect(),
        }
    }
}

/// The game that is meant.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct OpponentsQuery {
    /// Id of the game.
    game: String,
}

/// List who can be played at a game: built in, and learnt.
#[utoipa::path(
    get,
    path = "/api/play/opponents",
    tag = "play",
    params(OpponentsQuery),
    responses(
        (status = 200, body = OpponentList),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn list_opponents(
    State(state): State<AppState>,
    Query(OpponentsQuery { game }): Query<OpponentsQuery>,
) -> Result<Json<OpponentList>, ApiError> {
    let found = move |lab: &cartridge_run::Lab| {
        let mut rng = cartridge_games::fastrand::Rng::with_seed(0);
        let spec = AnyGame::start(&game, &mut rng).map_err(RunError::from)?.spec();
        Ok((spec, lab.networks(spec.id)?))
    };
    let (spec, networks) = state.ask(found).await?;
    let levels = Builtin::offered(spec.id).map(|player| Opponent::new(player, spec.id));
    let strengths = STRENGTHS.iter();
    Ok(Json(OpponentList {
        game: spec.id,
        game_name: spec.name,
        levels: levels.collect(),
        networks: networks.into_iter().map(Into::into).collect(),
        strengths: strengths
            .map(|it| PlayStrength { name: it.name, simulations: it.n_simulations })
            .collect(),
        most_simulations: MOST_SIMULATIONS_BY_REQUEST,
    }))
}

/// What a network makes of a position of a game.
#[derive(Debug, Serialize, ToSchema)]
pub struct Thoughts {
    /// The position that it is about: moves so far.
    pub ply: u32,
    /// Who must move there.
    pub turn: Turn,
    /// Who thinks.
    pub by: ThoughtBy,
    /// What the position is worth to you, −1 to 1; none where the network does not say.
    #[schema(required)]
    pub value: Option<f32>,
    /// Whether the value is the truth: the search has proved it, or the game is over.
    pub is_known: bool,
    /// What it would play; none at the end.
    #[schema(required)]
    pub chosen: Option<ThoughtMove>,
    /// What it makes of each legal action, ascending.
    pub actions: Vec<ActionThought>,
    /// What it expects to be played from here on, as far as it has looked.
    pub line: Vec<ThoughtMove>,
    /// What the search has done.
    pub search: SearchNumbers,
    /// How many hints you were given in this game; while it goes on, thoughts count as one, once for
    /// each position.
    pub hints: u32,
    /// The help that you took, in words.
    #[schema(required)]
    pub help: Option<String>,
}

/// Who thinks.
#[derive(Debug, Serialize, ToSchema)]
pub struct ThoughtBy {
    /// Its key, with the simulations.
    pub id: String,
    /// For people.
    pub name: String,
}

impl From<store::MatchPlayer> for ThoughtBy {
    fn from(player: store::MatchPlayer) -> Self {
        Self { id: player.key, name: player.name }
    }
}

/// A move in somebody's thoughts.
#[derive(Debug, Serialize, ToSchema)]
pub struct ThoughtMove {
    /// The action.
    pub action: usize,
    /// The action for people.
    pub name: String,
}

impl ThoughtMove {
    fn new(action: Action, game: &AnyGame) -> Self {
        Self { action: action.0, name: game.action_name(action) }
    }
}

/// What a network makes of an action, for who must move.
#[derive(Debug, Serialize, ToSchema)]
pub struct ActionThought {
    /// The action.
    pub action: usize,
    /// The action for people.
    pub name: String,
    /// Its probability by the network alone (P).
    pub prior: f32,
    /// How many simulations began with it (N).
    pub visits: u32,
    /// Its mean score for who must move, −1 to 1 (Q); none where it was not visited.
    #[schema(required)]
    pub q: Option<f32>,
    /// What the search adds because it was tried less than its prior asks for (U); none without a
    /// search.
    #[schema(required)]
    pub u: Option<f32>,
    /// Its exact score for who must move, where the search has proved it.
    #[schema(required)]
    pub proven: Option<f32>,
}

/// What a search has done.
#[derive(Debug, Serialize, ToSchema)]
pub struct SearchNumbers {
    /// The simulations that were asked for; fewer were made where the position was proved before.
    pub simulations: u32,
    /// Walks down the tree, that to the position itself included.
    pub descents: u64,
    /// Positions that the network judged.
    pub evaluations: u64,
    /// Positions whose judgement was known.
    pub cache_hits: u64,
    /// Walks that ended where the score is proved.
    pub proven: u64,
}

impl From<(Play, thoughts::Thoughts)> for Thoughts {
    fn from((play, thoughts): (Play, thoughts::Thoughts)) -> Self {
        let thoughts::Thoughts { ply, game, by, thought } = thoughts;
        let turn = Turn::of(&game, play.seat);
        let (value, is_known) = match (&thought, turn) {
            (None, _) => (Some(game.score(play.seat).clamp(-1.0, 1.0)), true),
            (Some(thought), Turn::You) => (thought.value, thought.proven.is_some()),
            // Adding zero turns a negative zero into a plain one.
            (Some(thought), _) => {
                (thought.value.map(|value| -value + 0.0), thought.proven.is_some())
            }
        };
        let statistics = thought.as_ref().map(|it| it.statistics).unwrap_or_default();
        let search = SearchNumbers {
            simulations: thought.as_ref().map_or(0, |it| it.n_simulations),
            descents: statistics.n_descents,
            evaluations: statistics.n_evaluations,
            cache_hits: statistics.n_cache_hits,
            proven: statistics.n_proven,
        };
        let actions = thought.iter().flat_map(|it| &it.actions).map(|it| ActionThought {
            action: it.action.0,
            name: game.action_name(it.action),
            prior: it.prior,
            visits: it.n_visits,
            q: it.mean,
            u: it.urgency,
            proven: it.proven,
        });
        let line = thought.iter().flat_map(|it| &it.line);
        Self {
            ply,
            turn,
            by: by.into(),
            value,
            is_known,
            chosen: thought.as_ref().map(|it| ThoughtMove::new(it.action, &game)),
            actions: actions.collect(),
            line: line.map(|action| ThoughtMove::new(*action, &game)).collect(),
            search,
            hints: play.n_hints,
            help: play.help(),
        }
    }
}

/// How much is thought.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct SimulationsQuery {
    /// Simulations of the search, at most 10,000; without it those of the opponent, or else 200.
    #[param(maximum = 10_000)]
    simulations: Option<u32>,
}

/// What is thought about, and how much.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct ThoughtsQuery {
    /// How many moves, from 0; without it the position that there is now.
    ply: Option<u32>,
    /// Simulations of the search, at most 10,000; without it those of the opponent, or else 200.
    #[param(maximum = 10_000)]
    simulations: Option<u32>,
}

/// Ask what a network makes of a position: the opponent's own, or else the best at the game. While
/// the game goes on it counts as a hint.
#[utoipa::path(
    post,
    path = "/api/play/{id}/thoughts",
    tag = "play",
    params(("id" = String, Path, description = "Name of the game"), ThoughtsQuery),
    responses(
        (status = 200, body = Thoughts),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn think(
    State(state): State<AppState>,
    Extension(Principal { name, .. }): Extension<Principal>,
    Path(id): Path<String>,
    Query(ThoughtsQuery { ply, simulations }): Query<ThoughtsQuery>,
) -> Result<Json<Thoughts>, ApiError> {
    let id = parse_id(&id)?;
    Ok(Json(state.ask(move |lab| lab.play_think(&name, &id, ply, simulations)).await?.into()))
}

/// Ask what a network makes of a position of a game that is over.
#[utoipa::path(
    get,
    path = "/api/play/{id}/positions/{ply}/thoughts",
    tag = "play",
    params(
        ("id" = String, Path, description = "Name of the game"),
        ("ply" = u32, Path, description = "How many moves, from 0"),
        SimulationsQuery,
    ),
    responses(
        (status = 200, body = Thoughts),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn think_back(
    State(state): State<AppState>,
    Path((id, ply)): Path<(String, u32)>,
    Query(SimulationsQuery { simulations }): Query<SimulationsQuery>,
) -> Result<Json<Thoughts>, ApiError> {
    let id = parse_id(&id)?;
    Ok(Json(state.ask(move |lab| lab.play_think_back(&id, ply, simulations)).await?.into()))
}

/// A game that is over, gone through by a network.
#[derive(Debug, Serialize, ToSchema)]
pub struct Review {
    /// Who thinks.
    pub by: ThoughtBy,
    /// Every position, from the start to the end.
    pub points: Vec<ReviewPoint>,
    /// The move that gave most away, whoever made it; none where nobody gave much away.
    #[schema(required)]
    pub mistake: Option<Mistake>,
    /// The move of yours that gave most away.
    #[schema(required)]
    pub your_mistake: Option<Mistake>,
}

/// What a position was worth.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReviewPoint {
    /// Moves so far.
    pub ply: u32,
    /// What it was worth to you, −1 to 1.
    pub value: f32,
    /// Whether that is the truth.
    pub is_known: bool,
    /// The simulations that it was judged with; 0 at the end, and where time ran out.
    pub simulations: u32,
}

/// A move that gave something away.
#[derive(Debug, Serialize, ToSchema)]
pub struct Mistake {
    /// Moves before it.
    pub ply: u32,
    /// Who made it.
    pub seat: usize,
    /// Whether it was yours.
    pub is_yours: bool,
    /// What was played.
    pub played: ThoughtMove,
    /// What would have been better.
    pub best: ThoughtMove,
    /// What the position was worth to who moved, −1 to 1.
    pub value_before: f32,
    /// What it was worth to them after the move.
    pub value_after: f32,
}

impl From<(Play, thoughts::Review)> for Review {
    fn from((play, review): (Play, thoughts::Review)) -> Self {
        let thoughts::Review { by, points, mistake, own_mistake } = review;
        let told = |mistake: thoughts::Mistake| {
            let thoughts::Mistake { ply, seat, action, best, values } = mistake;
            Mistake {
                ply,
                seat: seat.0,
                is_yours: seat == play.seat,
                played: ThoughtMove::new(action, &play.game),
                best: ThoughtMove::new(best, &play.game),
                value_before: values[0],
                value_after: values[1],
            }
        };
        let points = points.into_iter().map(|point| {
            let thoughts::Point { ply, value, is_known, n_simulations } = point;
            ReviewPoint { ply, value, is_known, simulations: n_simulations }
        });
        Self {
            by: by.into(),
            points: points.collect(),
            mistake: mistake.map(told),
            your_mistake: own_mistake.map(told),
        }
    }
}

/// How much is thought about each position.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct ReviewQuery {
    /// Simulations of the search in each position, at most 400; without it 50.
    #[param(maximum = 400)]
    simulations: Option<u32>,
}

/// Go through a game that is over: what every position was worth, and where most was given away.
/// After ten seconds the rest is judged without a search.
#[utoipa::path(
    get,
    path = "/api/play/{id}/review",
    tag = "play",
    params(("id" = String, Path, description = "Name of the game"), ReviewQuery),
    responses(
        (status = 200, body = Review),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn review(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(ReviewQuery { simulations }): Query<ReviewQuery>,
) -> Result<Json<Review>, ApiError> {
    let id = parse_id(&id)?;
    Ok(Json(state.ask(move |lab| lab.play_review(&id, simulations)).await?.into()))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list_opponents))
        .routes(routes!(think))
        .routes(routes!(think_back))
        .routes(routes!(review))
}
