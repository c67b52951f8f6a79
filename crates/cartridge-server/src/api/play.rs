//! `/api/games` and `/api/play`: games of people against named opponents.

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use cartridge_games::game::{Seat, Spot as GameSpot, Turn as GameTurn};
use cartridge_games::registry::{self, AnyGame};
use cartridge_games::scene::Scene;
use cartridge_run::hint::{self, Verdict};
use cartridge_run::opponent::Opponent as Player;
use cartridge_run::play::{self, Outcome, Rival};
use cartridge_run::ratings::{Known, Rating};
use cartridge_run::thinker::STRENGTHS;
use cartridge_run::token::Role;
use cartridge_run::{Lab, RunError, store};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::runs::parse_id;
use crate::auth::Principal;
use crate::error::{ApiError, Problem};
use crate::extract::{Body, Path, Query};
use crate::time::rfc3339;

/// The games.
#[derive(Debug, Serialize, ToSchema)]
pub struct GameList {
    /// All of them.
    pub games: Vec<Game>,
}

/// A game for two.
#[derive(Debug, Serialize, ToSchema)]
pub struct Game {
    /// Its id.
    pub id: &'static str,
    /// For people.
    pub name: &'static str,
    /// Who can be played, one per level, strongest first. Others can be asked for by id.
    pub opponents: Vec<Opponent>,
}

/// Somebody to play against.
#[derive(Debug, Serialize, ToSchema)]
pub struct Opponent {
    /// Its id.
    pub id: String,
    /// For people.
    pub name: String,
    /// What it is, honestly.
    pub description: String,
    /// Its level at the game: `Beginner`, `Club`. None for an opponent that is offered at none.
    #[schema(required)]
    pub level: Option<&'static str>,
    /// How strong it is in plain words, where that was measured.
    #[schema(required)]
    pub strength: Option<String>,
    /// The simulations of its search, where it is a network; 0 is its policy alone.
    #[schema(required)]
    pub simulations: Option<u32>,
    /// The run that it was learnt in, where it was and that is known.
    #[schema(required)]
    pub run_id: Option<String>,
    /// Whether this lab has that run: a network may come from another one.
    pub has_run: bool,
    /// The steps of the run by then.
    #[schema(required)]
    pub step: Option<u64>,
    /// How strong it was found to be in matches of this lab: it, or else the same network with other
    /// simulations; none where that has played none.
    #[schema(required)]
    pub rating: Option<PlayRating>,
}

/// How strong somebody was found to be in matches.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlayRating {
    /// Bradley-Terry rating in Elo above the anchor.
    pub rating: f64,
    /// Its standard error; 0 for the anchor.
    pub standard_error: f64,
    /// Games that it played.
    pub games: u64,
    /// The key of the player whose rating is 0.
    pub anchor: String,
    /// The simulations that it was rated with, which may be others than it plays with; none where it
    /// does not search.
    #[schema(required)]
    pub rated_simulations: Option<u32>,
}

impl From<Known> for PlayRating {
    fn from(Known { rating, anchor, n_simulations }: Known) -> Self {
        let Rating { rating, standard_error, games, .. } = rating;
        Self { rating, standard_error, games, anchor, rated_simulations: n_simulations }
    }
}

impl Opponent {
    /// Whom a person plays: lists say what they say, and a network says which it is.
    fn of(rival: &Rival, game: &str, rating: Option<PlayRating>, has_run: bool) -> Self {
        if let Some(opponent) = rival.builtin() {
            return Self { rating, ..Self::new(opponent, game) };
        }
        let Rival { about, n_simulations, origin, .. } = rival.clone();
        let store::MatchPlayer { key, name, sha256 } = about;
        let how = match n_simulations {
            None | Some(0) => "takes the move that its policy holds best".to_owned(),
            Some(1) => "tries 1 line of play before each move".to_owned(),
            Some(n) => format!("tries {n} lines of play before each move"),
        };
        let from = origin.run.as_ref().map_or_else(String::new, |run| format!(" in {run}"));
        let hash = sha256.as_deref().and_then(|it| it.get(..12));
        let hash = hash.map_or_else(String::new, |hash| format!(" Hash {hash}."));
        let strength = STRENGTHS.iter().find(|it| Some(it.n_simulations) == n_simulations);
        Self {
            id: key,
            name,
            description: format!("A network that was learnt{from}, and {how}.{hash}"),
            level: strength.map(|it| it.name),
            strength: None,
            simulations: n_simulations,
            run_id: origin.run.map(|run| run.to_string()),
            has_run,
            step: origin.step,
            rating,
        }
    }

    /// A built-in opponent.
    pub fn new(player: Player, game: &str) -> Self {
        Self {
            id: player.to_string(),
            name: player.name(),
            description: player.description(game),
            level: player.level(game).map(|level| level.name),
            strength: player.strength(game),
            simulations: None,
            run_id: None,
            has_run: false,
            step: None,
            rating: None,
        }
    }
}

/// A game to be set up.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPlay {
    /// Id of the game.
    #[schema(example = "tictactoe")]
    pub game: String,
    /// Id of an opponent, or a network as `GET /api/play/opponents` lists it, with the simulations of
    /// its search after it: `best:200`, `model:four@3:0`, `run:r-7f3k2m@latest:50`.
    #[schema(example = "builtin:perfect")]
    pub opponent: String,
    /// The side that you want.
    #[serde(default)]
    pub side: Side,
}

/// A side.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Moves first.
    #[default]
    First,
    /// Moves second.
    Second,
    /// Either, by chance.
    Random,
}

/// A game as it stands.
#[derive(Debug, Serialize, ToSchema)]
pub struct Play {
    /// Its name, made by the lab.
    pub id: String,
    /// Id of the game.
    pub game: String,
    /// The game's name for people.
    pub game_name: &'static str,
    /// Whose game it is, by the name of their token; `admin` is the lab's own.
    pub owner: String,
    /// Whether it is yours: only then can you move, take back or ask in it.
    pub is_yours: bool,
    /// Whom you play.
    pub opponent: Opponent,
    /// Your seat: 0 moves first.
    pub seat: usize,
    /// Who must move.
    pub turn: Turn,
    /// Moves so far.
    pub ply: u32,
    /// The actions that can be played now, ascending.
    pub legal: Vec<usize>,
    /// The board.
    pub scene: Scene,
    /// Where on the board each action is chosen.
    pub spots: Vec<Spot>,
    /// The moves so far; those that were taken back are not among them.
    pub moves: Vec<Move>,
    /// How often you took a move back.
    pub take_backs: u32,
    /// How many hints you were given.
    pub hints: u32,
    /// The help that you took, in words: `with 2 take-backs, 1 hint`.
    #[schema(required)]
    pub help: Option<String>,
    /// The board as text.
    pub text: String,
    /// How it ended for you.
    #[schema(required)]
    pub result: Option<PlayResult>,
    /// When it began (RFC 3339).
    pub created_at: String,
}

/// Who must move.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// You.
    You,
    /// Your opponent.
    Opponent,
    /// Nobody: the game is over.
    Over,
}

/// How a game ended for you.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlayResult {
    /// You won.
    Win,
    /// Your opponent won.
    Loss,
    /// Nobody won.
    Draw,
}

/// Where on the board an action is chosen.
#[derive(Debug, Serialize, ToSchema)]
pub struct Spot {
    /// The action.
    pub action: usize,
    /// For people who cannot see the board.
    pub label: String,
    /// Left edge in the scene's units.
    pub x0: f32,
    /// Bottom edge.
    pub y0: f32,
    /// Right edge.
    pub x1: f32,
    /// Top edge.
    pub y1: f32,
    /// The seats whose pieces lie there, the lowest first; none where there are none.
    pub pieces: Vec<usize>,
}

impl Spot {
    /// The spots of a position.
    pub fn all(game: &AnyGame) -> Vec<Self> {
        let spot = |spot: GameSpot| {
            let GameSpot { action, label, x0, y0, x1, y1 } = spot;
            let pieces = game.pieces(action).into_iter().map(|seat| seat.0).collect();
            Self { action: action.0, label, x0, y0, x1, y1, pieces }
        };
        game.spots().into_iter().map(spot).collect()
    }
}

/// A move that was made.
#[derive(Debug, Serialize, ToSchema)]
pub struct Move {
    /// Its number, from 0.
    pub ply: usize,
    /// Who made it.
    pub seat: usize,
    /// What was played.
    pub action: usize,
    /// The action for people.
    pub name: String,
}

/// A game, and what the lab knows beside it.
struct Seen {
    play: play::Play,
    /// How strong the opponent is.
    rating: Option<PlayRating>,
    /// Whether the lab has the run that the opponent was learnt in.
    has_run: bool,
    /// Whether it is the game of who asks.
    is_yours: bool,
}

/// Looks up what the lab knows of the opponent of a game.
fn seen(lab: &Lab, play: play::Play, who: &str) -> cartridge_run::Result<Seen> {
    let rating = lab.rating(&play.manifest.env_id, &play.opponent.about)?.map(Into::into);
    let has_run = play.opponent.origin.run.as_ref().is_some_and(|run| lab.run(run).is_ok());
    let is_yours = play.owner == who;
    Ok(Seen { play, rating, has_run, is_yours })
}

impl From<Seen> for Play {
    fn from(Seen { play, rating, has_run, is_yours }: Seen) -> Self {
        let legal = play.game.legal_actions().into_iter().map(|action| action.0).collect();
        let moves = play
            .moves
            .iter()
            .enumerate()
            .map(|(ply, (seat, action))| Move {
                ply,
                seat: seat.0,
                action: action.0,
                name: play.game.action_name(*action),
            })
            .collect();
        Self {
            id: play.manifest.id.to_string(),
            game_name: play.game.spec().name,
            opponent: Opponent::of(&play.opponent, &play.manifest.env_id, rating, has_run),
            is_yours,
            seat: play.seat.0,
            turn: Turn::of(&play.game, play.seat),
            ply: play.moves.len() as u32,
            legal,
            scene: play.game.scene(),
            spots: Spot::all(&play.game),
            moves,
            take_backs: play.n_take_backs,
            hints: play.n_hints,
            help: play.help(),
            text: play.game.to_string(),
            result: play.outcome().map(Into::into),
            created_at: rfc3339(play.manifest.created_at),
            game: play.manifest.env_id,
            owner: play.owner,
        }
    }
}

impl Turn {
    /// Whose turn it is, seen from the person's seat.
    pub fn of(game: &AnyGame, person: Seat) -> Self {
        match game.turn() {
            GameTurn::Over => Self::Over,
            GameTurn::Seat(seat) if seat == person => Self::You,
            GameTurn::Seat(_) => Self::Opponent,
        }
    }
}

impl From<Outcome> for PlayResult {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Win => Self::Win,
            Outcome::Loss => Self::Loss,
            Outcome::Draw => Self::Draw,
        }
    }
}

/// The newest games.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlayList {
    /// The games, newest first.
    pub plays: Vec<PlaySummary>,
}

/// A game in one line.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlaySummary {
    /// Its name, made by the lab.
    pub id: String,
    /// Id of the game.
    pub game: String,
    /// The game's name for people.
    pub game_name: &'static str,
    /// Whose game it is, by the name of their token; `admin` is the lab's own.
    pub owner: String,
    /// The opponent's name for people.
    pub opponent_name: String,
    /// Your seat: 0 moves first.
    pub seat: usize,
    /// Moves so far.
    pub ply: u32,
    /// The help that you took, in words.
    #[schema(required)]
    pub help: Option<String>,
    /// Who must move.
    pub turn: Turn,
    /// How it ended for you.
    #[schema(required)]
    pub result: Option<PlayResult>,
    /// When it began (RFC 3339).
    pub created_at: String,
}

impl From<play::Play> for PlaySummary {
    fn from(play: play::Play) -> Self {
        Self {
            id: play.manifest.id.to_string(),
            game_name: play.game.spec().name,
            opponent_name: play.opponent.about.name.clone(),
            seat: play.seat.0,
            ply: play.moves.len() as u32,
            help: play.help(),
            turn: Turn::of(&play.game, play.seat),
            result: play.outcome().map(Into::into),
            created_at: rfc3339(play.manifest.created_at),
            game: play.manifest.env_id,
            owner: play.owner,
        }
    }
}

/// What perfect play, or the strongest level where nobody is perfect, would do in your place.
#[derive(Debug, Serialize, ToSchema)]
pub struct Hint {
    /// The position that it is about: moves so far.
    pub ply: u32,
    /// What to play.
    pub action: usize,
    /// The action for people.
    pub name: String,
    /// Id of who says so.
    pub by: String,
    /// Who says so, for people.
    pub by_name: String,
    /// What it leads to against best play, where that is known.
    #[schema(required)]
    pub outcome: Option<PlayResult>,
    /// In how many moves it wins, yours, or loses, your opponent's; none where nobody counted.
    #[schema(required)]
    pub in_moves: Option<u32>,
    /// Otherwise how good it looks by a rule of thumb, −1 to 1; that is no probability.
    #[schema(required)]
    pub judgement: Option<f32>,
    /// All of that in a sentence.
    pub text: String,
    /// How many hints you were given in this game. Asking again in the same position is no new one.
    pub hints: u32,
    /// The help that you took, in words.
    #[schema(required)]
    pub help: Option<String>,
}

impl From<(play::Play, hint::Hint)> for Hint {
    fn from((play, hint): (play::Play, hint::Hint)) -> Self {
        let (outcome, in_moves, judgement) = match hint.verdict {
            Verdict::Win { n_moves } => (Some(PlayResult::Win), n_moves, None),
            Verdict::Draw => (Some(PlayResult::Draw), None, None),
            Verdict::Loss { n_moves } => (Some(PlayResult::Loss), n_moves, None),
            Verdict::Judgement { value } => (None, None, Some(value)),
        };
        Self {
            ply: play.moves.len() as u32,
            action: hint.action.0,
            name: play.game.action_name(hint.action),
            by: hint.by.to_string(),
            by_name: hint.by.name(),
            outcome,
            in_moves,
            judgement,
            text: hint.sentence(&play.game),
            hints: play.n_hints,
            help: play.help(),
        }
    }
}

/// The position that is meant.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct AtPly {
    /// Moves so far, as you know them: with it, a request for a position that is gone is refused.
    ply: Option<u32>,
}

/// Which games, and how many.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct PlaysQuery {
    /// How many, at most 100.
    #[serde(default = "default_plays")]
    #[param(required = false, minimum = 1, maximum = 100)]
    limit: usize,
    /// Whether to list the games of all players, which is for admins.
    #[serde(default)]
    #[param(required = false)]
    all: bool,
}

fn default_plays() -> usize {
    20
}

/// A move to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMove {
    /// What to play.
    pub action: usize,
    /// Moves so far, as you know them: a move for a position that is gone is refused.
    pub ply: u32,
}

/// List the games and who can be played.
#[utoipa::path(
    get,
    path = "/api/games",
    tag = "play",
    responses((status = 200, body = GameList), (status = 401, body = Problem)),
)]
async fn list_games() -> Json<GameList> {
    let games = registry::games()
        .iter()
        .map(|spec| Game {
            id: spec.id,
            name: spec.name,
            opponents: Player::offered(spec.id)
                .map(|player| Opponent::new(player, spec.id))
                .collect(),
        })
        .collect();
    Json(GameList { games })
}

/// List your newest games, newest first.
#[utoipa::path(
    get,
    path = "/api/play",
    tag = "play",
    params(PlaysQuery),
    responses((status = 200, body = PlayList), (status = 400, body = Problem), (status = 401, body = Problem)),
)]
async fn list_plays(
    State(state): State<AppState>,
    Extension(Principal { name, role, .. }): Extension<Principal>,
    Query(PlaysQuery { limit, all }): Query<PlaysQuery>,
) -> Result<Json<PlayList>, ApiError> {
    if all && role != Role::Admin {
        return Err(ApiError::RoleTooLow { has: role, needed: Role::Admin });
    }
    let of = (!all).then_some(name);
    let plays = state.ask(move |lab| lab.plays(of.as_deref(), limit.clamp(1, 100))).await?;
    Ok(Json(PlayList { plays: plays.into_iter().map(Into::into).collect() }))
}

/// Set up a game; an opponent that moves first has moved.
#[utoipa::path(
    post,
    path = "/api/play",
    tag = "play",
    request_body = NewPlay,
    responses(
        (status = 201, body = Play),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn new_play(
    State(state): State<AppState>,
    Extension(Principal { name, .. }): Extension<Principal>,
    Body(new): Body<NewPlay>,
) -> Result<(StatusCode, Json<Play>), ApiError> {
    let side = match new.side {
        Side::First => play::Side::First,
        Side::Second => play::Side::Second,
        Side::Random => play::Side::Random,
    };
    let begun = move |lab: &Lab| {
        let play = lab.new_play(&name, &new.game, &new.opponent, side)?;
        seen(lab, play, &name)
    };
    let play = state.ask(begun).await.map_err(|error| match error {
        ApiError::Run(RunError::BadPlayer { .. }) => {
            ApiError::Field { pointer: "/opponent".to_owned(), detail: error.to_string() }
        }
        error => error,
    })?;
    Ok((StatusCode::CREATED, Json(play.into())))
}

/// Show a game as it stands: yours, or another's to look at.
#[utoipa::path(
    get,
    path = "/api/play/{id}",
    tag = "play",
    params(("id" = String, Path, description = "Name of the game")),
    responses((status = 200, body = Play), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn show_play(
    State(state): State<AppState>,
    Extension(Principal { name, .. }): Extension<Principal>,
    Path(id): Path<String>,
) -> Result<Json<Play>, ApiError> {
    let id = parse_id(&id)?;
    Ok(Json(state.ask(move |lab| seen(lab, lab.play(&id)?, &name)).await?.into()))
}

/// Make a move; the answer holds the opponent's too.
#[utoipa::path(
    post,
    path = "/api/play/{id}/moves",
    tag = "play",
    params(("id" = String, Path, description = "Name of the game")),
    request_body = NewMove,
    responses(
        (status = 200, body = Play),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn make_move(
    State(state): State<AppState>,
    Extension(Principal { name, .. }): Extension<Principal>,
    Path(id): Path<String>,
    Body(new): Body<NewMove>,
) -> Result<Json<Play>, ApiError> {
    let id = parse_id(&id)?;
    let moved = move |lab: &Lab| {
        let play = lab.play_move(&name, &id, new.action, new.ply)?;
        seen(lab, play, &name)
    };
    Ok(Json(state.ask(moved).await?.into()))
}

/// Take back your last move and the answer to it.
#[utoipa::path(
    post,
    path = "/api/play/{id}/undo",
    tag = "play",
    params(("id" = String, Path, description = "Name of the game"), AtPly),
    responses(
        (status = 200, body = Play),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
    ),
)]
async fn take_back(
    State(state): State<AppState>,
    Extension(Principal { name, .. }): Extension<Principal>,
    Path(id): Path<String>,
    Query(at): Query<AtPly>,
) -> Result<Json<Play>, ApiError> {
    let id = parse_id(&id)?;
    let taken_back = move |lab: &Lab| seen(lab, lab.play_undo(&name, &id, at.ply)?, &name);
    Ok(Json(state.ask(taken_back).await?.into()))
}

/// Ask what perfect play, or else the strongest level, would do in your place.
#[utoipa::path(
    post,
    path = "/api/play/{id}/hint",
    tag = "play",
    params(("id" = String, Path, description = "Name of the game"), AtPly),
    responses(
        (status = 200, body = Hint),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
    ),
)]
async fn give_hint(
    State(state): State<AppState>,
    Extension(Principal { name, .. }): Extension<Principal>,
    Path(id): Path<String>,
    Query(at): Query<AtPly>,
) -> Result<Json<Hint>, ApiError> {
    let id = parse_id(&id)?;
    Ok(Json(state.ask(move |lab| lab.play_hint(&name, &id, at.ply)).await?.into()))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list_games))
        .routes(routes!(list_plays, new_play))
        .routes(routes!(show_play))
        .routes(routes!(make_move))
        .routes(routes!(take_back))
        .routes(routes!(give_hint))
}
