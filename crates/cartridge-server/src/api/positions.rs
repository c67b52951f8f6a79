//! `/api/play/{id}/positions`: going back through a game, and what would have been best.

use axum::Json;
use axum::extract::State;
use cartridge_games::registry::AnyGame;
use cartridge_games::scene::Scene;
use cartridge_run::hint::{Hint, Verdict};
use cartridge_run::play::Play;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::play::{Spot, Turn};
use crate::api::runs::parse_id;
use crate::error::{ApiError, Problem};
use crate::extract::Path;

/// A game as it stood after some moves.
#[derive(Debug, Serialize, ToSchema)]
pub struct Position {
    /// Moves so far.
    pub ply: u32,
    /// Who had to move.
    pub turn: Turn,
    /// The board.
    pub scene: Scene,
    /// Where on the board each action is chosen.
    pub spots: Vec<Spot>,
    /// The board as text.
    pub text: String,
}

/// What perfect play, or the strongest level where nobody is perfect, would have done.
#[derive(Debug, Serialize, ToSchema)]
pub struct Analysis {
    /// The position that it is about: moves so far.
    pub ply: u32,
    /// Who had to move.
    pub turn: Turn,
    /// How good the position was for you, −1 to 1.
    pub value: f32,
    /// Whether the value is the truth: −1 a loss, 0 a draw, 1 a win against best play. Otherwise
    /// it is a rule of thumb, and no probability.
    pub is_known: bool,
    /// Best for who had to move; none at the end.
    #[schema(required)]
    pub best: Option<BestMove>,
}

/// A move that would have been best.
#[derive(Debug, Serialize, ToSchema)]
pub struct BestMove {
    /// The action.
    pub action: usize,
    /// The action for people.
    pub name: String,
    /// Id of who says so.
    pub by: String,
    /// Who says so, for people.
    pub by_name: String,
    /// What it leads to for who plays it, in a sentence.
    pub text: String,
}

impl BestMove {
    fn new(hint: &Hint, game: &AnyGame) -> Self {
        Self {
            action: hint.action.0,
            name: game.action_name(hint.action),
            by: hint.by.to_string(),
            by_name: hint.by.name(),
            text: hint.sentence(game),
        }
    }
}

impl Analysis {
    fn new(play: &Play, game: &AnyGame, ply: u32, hint: Option<Hint>) -> Self {
        let turn = Turn::of(game, play.seat);
        let value = match (&hint, turn) {
            (None, _) => game.score(play.seat).clamp(-1.0, 1.0),
            (Some(hint), Turn::You) => hint.verdict.value(),
            // Adding zero turns a negative zero into a plain one.
            (Some(hint), _) => -hint.verdict.value() + 0.0,
        };
        let is_known = !matches!(hint, Some(Hint { verdict: Verdict::Judgement { .. }, .. }));
        let best = hint.as_ref().map(|hint| BestMove::new(hint, game));
        Self { ply, turn, value, is_known, best }
    }
}

/// Show a game as it stood after some moves. It disturbs nothing.
#[utoipa::path(
    get,
    path = "/api/play/{id}/positions/{ply}",
    tag = "play",
    params(
        ("id" = String, Path, description = "Name of the game"),
        ("ply" = u32, Path, description = "How many moves, from 0"),
    ),
    responses(
        (status = 200, body = Position),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn show_position(
    State(state): State<AppState>,
    Path((id, ply)): Path<(String, u32)>,
) -> Result<Json<Position>, ApiError> {
    let id = parse_id(&id)?;
    let position = move |lab: &cartridge_run::Lab| {
        let play = lab.play(&id)?;
        let game = play.position(ply)?;
        let turn = Turn::of(&game, play.seat);
        let spots = Spot::all(&game);
        Ok(Position { ply, turn, scene: game.scene(), spots, text: game.to_string() })
    };
    Ok(Json(state.ask(position).await?))
}

/// Ask what would have been best after some moves of a game that is over.
#[utoipa::path(
    get,
    path = "/api/play/{id}/positions/{ply}/analysis",
    tag = "play",
    params(
        ("id" = String, Path, description = "Name of the game"),
        ("ply" = u32, Path, description = "How many moves, from 0"),
    ),
    responses(
        (status = 200, body = Analysis),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
    ),
)]
async fn analyse_position(
    State(state): State<AppState>,
    Path((id, ply)): Path<(String, u32)>,
) -> Result<Json<Analysis>, ApiError> {
    let id = parse_id(&id)?;
    let analysis = move |lab: &cartridge_run::Lab| {
        let play = lab.play(&id)?;
        let hint = play.look_back(ply)?;
        Ok(Analysis::new(&play, &play.position(ply)?, ply, hint))
    };
    Ok(Json(state.ask(analysis).await?))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(show_position)).routes(routes!(analyse_position))
}
