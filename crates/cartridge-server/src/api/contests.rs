//! `POST /api/evals`, `/api/evals/{id}`, `/api/tournaments` and `/api/matches`: players compared, as
//! jobs beside whatever trains.
//!
//! A match or tournament is a run of kind `eval`: it is queued, followed and stopped as every run
//! is (`/api/runs/{id}/stop`). Players are built in, models, checkpoints of runs, or ONNX files
//! that runs have made; no route takes a path.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cartridge_run::RunError;
use cartridge_run::lab::{self, ContestView};
use cartridge_run::matches::{self, MatchSummary};
use cartridge_run::store;
use cartridge_run::tournament::{self, TournamentSummary};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::evaluations::EvaluationJob;
use crate::api::runs::{Run, parse_id};
use crate::error::{ApiError, Problem};
use crate::extract::{Body, Path, Query, RequestKey};
use crate::time::rfc3339;

/// A match to be played.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMatch {
    /// The player whose result is told: `random`, `mcts:100`, `model:lander@best`, a run such as
    /// `r-7f3k2m@latest`, or `artifact:RUN/ARTIFACT`; at a board also `best` and `shipped`, and what
    /// was learnt with its simulations at the end: `best:600`.
    #[schema(example = "model:lander@best")]
    pub model_a: String,
    /// The other player.
    #[schema(example = "random")]
    pub model_b: String,
    /// Id of the game or environment; without it that which the players were made for.
    #[schema(example = "connect4")]
    pub game: Option<String>,
    /// Options of the environment; without them those of the players.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub env: Map<String, Value>,
    /// How many games, or episodes in an environment; 100 games or 20 episodes without it.
    #[schema(minimum = 1, maximum = 10000)]
    pub n_matches: Option<u32>,
    /// Which openings or episodes.
    #[serde(default)]
    pub seed_plan: NewSeedPlan,
    /// How many simulations those who have learnt search with at a board where they do not say it
    /// themselves, as `best:600` does; 0 is their policy alone. Without it 200.
    #[schema(maximum = 10000)]
    pub simulations: Option<u32>,
}

/// Which openings or episodes are played.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSeedPlan {
    /// What the seeds follow from.
    #[serde(default)]
    #[schema(default = 0)]
    pub seed_base: u64,
    /// How many seeds: each is one opening, or one episode.
    #[schema(minimum = 1, maximum = 10000)]
    pub count: Option<u32>,
    /// Whether each opening is played from both sides; otherwise the first player always moves
    /// first. It means nothing in an environment.
    #[schema(default = true)]
    pub both_sides: Option<bool>,
    /// Random moves of an opening at a board, 0 for the start of the game; without it 4 at Connect
    /// 4, 6 at Othello and 1 at tic-tac-toe.
    #[schema(maximum = 20)]
    pub opening_plies: Option<u32>,
}

/// The most games of a match that a request asks for.
const MOST_GAMES: u32 = 10_000;

/// Says which field of the request names the player that cannot play.
fn at_player(error: ApiError, fields: &[(&str, &str)]) -> ApiError {
    let wrong = match &error {
        ApiError::Run(RunError::BadPlayer { player, .. }) => player,
        ApiError::Run(RunError::UnknownOpponent { opponent, .. }) => opponent,
        _ => return error,
    };
    let is_it = |text: &str| text == wrong || format!("builtin:{text}") == *wrong;
    match fields.iter().find(|(_, text)| is_it(text)) {
        Some((pointer, _)) => {
            ApiError::Field { pointer: (*pointer).to_owned(), detail: error.to_string() }
        }
        None => error,
    }
}

/// Let two players play each other, beside whatever trains. At a board every opening is played from
/// both sides; in an environment both play the episodes of the same seeds. The match is a run of
/// kind `eval`, which is started as soon as there is room, and its result counts for the ratings.
#[utoipa::path(
    post,
    path = "/api/evals",
    tag = "matches",
    request_body = NewMatch,
    responses(
        (status = 202, body = Run, description = "The match"),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn create_match(
    State(state): State<AppState>,
    request: RequestKey,
    Body(new): Body<NewMatch>,
) -> Result<(StatusCode, Json<Run>), ApiError> {
    let NewMatch { model_a, model_b, game, env, n_matches, seed_plan, simulations } = new;
    let NewSeedPlan { seed_base, count, both_sides, opening_plies } = seed_plan;
    for (pointer, said) in [("/n_matches", n_matches), ("/seed_plan/count", count)] {
        if said.is_some_and(|n| n > MOST_GAMES) {
            let detail = format!("at most {MOST_GAMES}; `cartridge match` plays more");
            return Err(ApiError::Field { pointer: pointer.to_owned(), detail });
        }
    }
    let (a, b) = (model_a.clone(), model_b.clone());
    let new = lab::NewMatch {
        a,
        b,
        game,
        env,
        n_games: n_matches,
        seed_base,
        count,
        both_sides,
        opening_plies,
        simulations,
    };
    let made = state.ask(move |lab| lab.start_match(new, request.by())).await;
    let fields = [("/model_a", model_a.as_str()), ("/model_b", model_b.as_str())];
    let view = made.map_err(|error| at_player(error, &fields))?;
    Ok((StatusCode::ACCEPTED, Json(view.into())))
}

/// A player, as matches name it for ever.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Player {
    /// Who it is; the same key always plays the same.
    #[schema(example = "model:lander@3")]
    pub key: String,
    /// Its name for people.
    pub name: String,
    /// SHA-256 of what it has learnt, where it has.
    #[schema(required)]
    pub sha256: Option<String>,
}

impl From<store::MatchPlayer> for Player {
    fn from(store::MatchPlayer { key, name, sha256 }: store::MatchPlayer) -> Self {
        Self { key, name, sha256 }
    }
}

/// How the returns of two players in the same episodes compare.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct Difference {
    /// Mean return of A.
    pub mean_a: f64,
    /// Mean return of B.
    pub mean_b: f64,
    /// Mean of A's return less B's.
    pub mean: f64,
    /// Standard deviation of the differences.
    pub std: f64,
    /// The 95% interval of their mean.
    pub ci95: [f64; 2],
}

impl From<matches::Difference> for Difference {
    fn from(difference: matches::Difference) -> Self {
        let matches::Difference { mean_a, mean_b, mean, std, ci95 } = difference;
        Self { mean_a, mean_b, mean, std, ci95 }
    }
}

/// The games of one seed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Bucket {
    /// The seed of the opening; in an environment what the episode was reset with.
    pub seed: u64,
    /// The random moves that its games began with.
    pub opening: Vec<u32>,
    /// The score of A in each game; with both sides, first the one in which A moved first.
    pub scores: Vec<f64>,
    /// In an environment, the returns of A and B.
    #[schema(required)]
    pub returns: Option<[f64; 2]>,
}

/// How a match went, seed by seed. Figures are in `match_result` of its run.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MatchDetail {
    /// The player whose result is told.
    pub a: Player,
    /// The other.
    pub b: Player,
    /// What the seeds follow from.
    pub seed_base: u64,
    /// Whether each opening was played from both sides.
    pub both_sides: bool,
    /// In an environment, how the returns compare.
    #[schema(required)]
    pub difference: Option<Difference>,
    /// Seed by seed, at most 10,000.
    pub buckets: Vec<Bucket>,
}

impl From<MatchSummary> for MatchDetail {
    fn from(summary: MatchSummary) -> Self {
        let bucket = |bucket: matches::Bucket| {
            let matches::Bucket { seed, opening, scores, returns } = bucket;
            Bucket { seed, opening, scores, returns }
        };
        Self {
            a: summary.a.into(),
            b: summary.b.into(),
            seed_base: summary.plan.seed_base,
            both_sides: summary.plan.both_sides,
            difference: summary.difference.map(Into::into),
            buckets: summary.buckets.into_iter().map(bucket).collect(),
        }
    }
}

/// An evaluation of a policy, a match or a tournament, with what it found so far.
#[derive(Debug, Serialize, ToSchema)]
pub struct Contest {
    /// The run that it is.
    pub run: Run,
    /// What a policy was measured at; none for others.
    #[schema(required)]
    pub evaluation: Option<EvaluationJob>,
    /// How a match went; none for others, and before its end.
    #[serde(rename = "match")]
    #[schema(required)]
    pub match_detail: Option<MatchDetail>,
    /// How a tournament stands; none for others, and before its first pairing has ended.
    #[schema(required)]
    pub tournament: Option<TournamentDetail>,
}

impl From<ContestView> for Contest {
    fn from(view: ContestView) -> Self {
        let bare = |run: Run| Self { run, evaluation: None, match_detail: None, tournament: None };
        match view {
            ContestView::Policy(view) => {
                let run = view.view.clone().into();
                Self { evaluation: Some(EvaluationJob::new(*view, true)), ..bare(run) }
            }
            ContestView::Match(view, summary) => Self {
                match_detail: summary.map(|summary| (*summary).into()),
                ..bare((*view).into())
            },
            ContestView::Tournament(view, summary) => {
                let tournament = summary.map(|summary| (*summary).into());
                Self { tournament, ..bare((*view).into()) }
            }
        }
    }
}

/// Show an evaluation of a policy, a match or a tournament: episode by episode, seed by seed, or
/// pairing by pairing.
#[utoipa::path(
    get,
    path = "/api/evals/{id}",
    tag = "matches",
    params(("id" = String, Path, description = "Name of the run that it is")),
    responses((status = 200, body = Contest), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn show_contest(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<Contest>, ApiError> {
    let id = parse_id(&id)?;
    Ok(Json(state.ask(move |lab| lab.contest(&id)).await?.into()))
}

/// Who meets whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TournamentKind {
    /// Everybody meets everybody.
    #[default]
    RoundRobin,
    /// The first player meets everybody else.
    Gauntlet,
}

/// A tournament to be played.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTournament {
    /// Id of the game or environment.
    #[schema(example = "connect4")]
    pub game: String,
    /// The players, written as for a match; each once.
    #[schema(min_items = 2, max_items = 64, example = json!(["random", "mcts:100", "perfect"]))]
    pub players: Vec<String>,
    /// Who meets whom.
    #[serde(default)]
    #[schema(default = "round_robin")]
    pub kind: TournamentKind,
    /// Games of each pairing, an even number; in an environment its episodes.
    #[serde(default = "default_games")]
    #[schema(minimum = 1, maximum = 10000, default = 20)]
    pub games_per_pair: u32,
    /// What the seeds follow from. All pairings play the same openings or episodes.
    #[serde(default)]
    #[schema(default = 0)]
    pub seed: u64,
    /// How many pairings are played at once; each counts a core.
    #[serde(default = "default_threads")]
    #[schema(minimum = 1, maximum = 64, default = 1)]
    pub threads: u32,
    /// Options of the environment; without them those of the players.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub env: Map<String, Value>,
    /// How many simulations those who have learnt search with at a board where they do not say it
    /// themselves; 0 is their policy alone. Without it 200.
    #[schema(maximum = 10000)]
    pub simulations: Option<u32>,
}

fn default_games() -> u32 {
    20
}

fn default_threads() -> u32 {
    1
}

/// Let several players play each other, beside whatever trains. The tournament is a run of kind
/// `eval`, which is started as soon as there is room; each pairing counts for the ratings.
#[utoipa::path(
    post,
    path = "/api/tournaments",
    tag = "matches",
    request_body = NewTournament,
    responses(
        (status = 202, body = Run, description = "The tournament"),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn create_tournament(
    State(state): State<AppState>,
    request: RequestKey,
    Body(new): Body<NewTournament>,
) -> Result<(StatusCode, Json<Run>), ApiError> {
    let NewTournament { game, players, kind, games_per_pair, seed, threads, env, simulations } =
        new;
    for (pointer, said, most) in
        [("/games_per_pair", games_per_pair, MOST_GAMES), ("/threads", threads, 64)]
    {
        if !(1..=most).contains(&said) {
            let detail = format!("1 to {most}");
            return Err(ApiError::Field { pointer: pointer.to_owned(), detail });
        }
    }
    let pointers: Vec<String> = (0..players.len()).map(|at| format!("/players/{at}")).collect();
    let texts = players.clone();
    let fields: Vec<(&str, &str)> =
        pointers.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
    let new = lab::NewTournament {
        game,
        env,
        players,
        kind: match kind {
            TournamentKind::RoundRobin => tournament::Kind::RoundRobin,
            TournamentKind::Gauntlet => tournament::Kind::Gauntlet,
        },
        simulations,
        games_per_pair,
        seed,
        n_threads: threads as usize,
    };
    let made = state.ask(move |lab| lab.start_tournament(new, request.by())).await;
    let view = made.map_err(|error| at_player(error, &fields))?;
    Ok((StatusCode::ACCEPTED, Json(view.into())))
}

/// How a tournament stands.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TournamentDetail {
    /// Who meets whom.
    pub kind: TournamentKind,
    /// The players, in the order in which they were named.
    pub players: Vec<Player>,
    /// What the seeds follow from.
    pub seed: u64,
    /// How many pairings there will be.
    pub n_pairings: usize,
    /// The pairings that have ended.
    pub pairings: Vec<TournamentPairing>,
    /// Where the players stand, the best first.
    pub standings: Vec<TournamentStanding>,
    /// The share of the points that each player (row) took from each other (column); none where
    /// they have not met.
    pub cross_table: Vec<Vec<Option<f64>>>,
}

/// A pairing of a tournament, from the view of A.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TournamentPairing {
    /// Place of player A among the players, from 0.
    pub a: usize,
    /// Place of player B.
    pub b: usize,
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
    /// Share of the points.
    pub score: f64,
    /// The 95% interval of the score.
    pub score_ci95: [f64; 2],
    /// Difference of strength in Elo; none when it has no bound.
    #[schema(required)]
    pub elo: Option<f64>,
    /// In an environment, how the returns compare.
    #[schema(required)]
    pub difference: Option<Difference>,
}

/// Where a player of a tournament stands.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TournamentStanding {
    /// Place of the player among the players, from 0.
    pub player: usize,
    /// Games that it played.
    pub games: u32,
    /// Games that it won.
    pub wins: u32,
    /// Games that it drew.
    pub draws: u32,
    /// Games that it lost.
    pub losses: u32,
    /// Its points: a win is 1, a draw a half.
    pub points: f64,
    /// Its share of the points that it could have.
    pub score: f64,
}

impl From<TournamentSummary> for TournamentDetail {
    fn from(summary: TournamentSummary) -> Self {
        let cross_table = summary.cross_table();
        let pairing = |pairing: tournament::Pairing| {
            let tournament::Pairing { a, b, result, difference } = pairing;
            TournamentPairing {
                a,
                b,
                wins: result.wins,
                draws: result.draws,
                losses: result.losses,
                score: result.score,
                score_ci95: result.score_ci95,
                elo: result.elo,
                difference: difference.map(Into::into),
            }
        };
        let standing = |standing: tournament::Standing| {
            let tournament::Standing { player, games, wins, draws, losses, points, score } =
                standing;
            TournamentStanding { player, games, wins, draws, losses, points, score }
        };
        Self {
            kind: match summary.kind {
                tournament::Kind::RoundRobin => TournamentKind::RoundRobin,
                tournament::Kind::Gauntlet => TournamentKind::Gauntlet,
            },
            players: summary.players.into_iter().map(Into::into).collect(),
            seed: summary.plan.seed_base,
            n_pairings: summary.n_pairings,
            pairings: summary.pairings.into_iter().map(pairing).collect(),
            standings: summary.standings.into_iter().map(standing).collect(),
            cross_table,
        }
    }
}

/// A match that has ended, as the log has it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LoggedMatch {
    /// Its name: that of the run, and in a tournament the number of the pairing after a slash.
    #[schema(example = "r-7f3k2m/3")]
    pub id: String,
    /// The run that played it; it may be gone.
    pub run_id: String,
    /// When it ended (RFC 3339).
    pub at: String,
    /// Id of the game or environment.
    pub game: String,
    /// Options of the environment.
    #[schema(value_type = Object)]
    pub env: Map<String, Value>,
    /// The player whose result is told.
    pub a: Player,
    /// The other.
    pub b: Player,
    /// What the seeds follow from.
    pub seed_base: u64,
    /// Games won by A.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
}

impl From<store::MatchLine> for LoggedMatch {
    fn from(line: store::MatchLine) -> Self {
        let [wins, draws, losses] = line.counts();
        Self {
            id: line.id,
            run_id: line.run.to_string(),
            at: rfc3339(line.t),
            game: line.game,
            env: line.env,
            a: line.a.into(),
            b: line.b.into(),
            seed_base: line.seed,
            wins,
            draws,
            losses,
        }
    }
}

/// A page of matches.
#[derive(Debug, Serialize, ToSchema)]
pub struct MatchPage {
    /// The matches, newest first.
    pub matches: Vec<LoggedMatch>,
    /// Ask with this as `before` for the next page; none after the last.
    #[schema(required)]
    pub next: Option<String>,
}

/// Which page of matches.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct MatchesQuery {
    /// Only those at this game or environment.
    game: Option<String>,
    /// Only those of the player with this key.
    player: Option<String>,
    /// How many, at most 500.
    #[serde(default = "default_page")]
    #[param(required = false, minimum = 1, maximum = 500, default = 50)]
    limit: usize,
    /// Where the page begins: `next` of the page before.
    before: Option<String>,
}

fn default_page() -> usize {
    50
}

/// List the matches that have ended, newest first, those of tournaments among them. They stay when
/// their runs go, because the ratings are made of them.
#[utoipa::path(
    get,
    path = "/api/matches",
    tag = "matches",
    params(MatchesQuery),
    responses((status = 200, body = MatchPage), (status = 400, body = Problem), (status = 401, body = Problem)),
)]
async fn list_matches(
    State(state): State<AppState>,
    Query(query): Query<MatchesQuery>,
) -> Result<Json<MatchPage>, ApiError> {
    let limit = query.limit.clamp(1, 500);
    let ask = move |lab: &cartridge_run::Lab| {
        let MatchesQuery { game, player, before, .. } = &query;
        // One more than asked for tells whether there is a next page.
        lab.matches(game.as_deref(), player.as_deref(), limit + 1, before.as_deref())
    };
    let mut found = state.ask(ask).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|line| line.id.clone());
    Ok(Json(MatchPage { matches: found.into_iter().map(Into::into).collect(), next }))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(create_match))
        .routes(routes!(show_contest))
        .routes(routes!(create_tournament))
        .routes(routes!(list_matches))
}
