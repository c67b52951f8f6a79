//! `/api/ratings` and `/api/leaderboard`: how strong players are, and what trainings have reached.

use std::cmp::Ordering;

use axum::Json;
use axum::extract::State;
use cartridge_run::{Lab, RunError, leaderboard, ratings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::contests::Player;
use crate::api::experiments::Aggregate;
use crate::error::{ApiError, Problem};
use crate::extract::Query;
use crate::time::rfc3339;

/// Which ratings.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct RatingsQuery {
    /// Id of the game or environment.
    #[param(example = "connect4")]
    game: String,
    /// Key of the player whose rating is 0; `builtin:random` without it.
    anchor: Option<String>,
}

/// How strong the players of a game are.
#[derive(Debug, Serialize, ToSchema)]
pub struct Ratings {
    /// Id of the game or environment.
    pub game: String,
    /// How many matches count.
    pub n_matches: usize,
    /// How many games they had.
    pub n_games: u64,
    /// Matches that do not count: under other options, or older rules.
    pub n_left_out: usize,
    /// Groups of players that games connect; ratings of different groups cannot be compared.
    pub groups: Vec<RatingGroup>,
    /// What one must know to read them, in sentences.
    pub notes: Vec<String>,
}

/// Players that games connect, however indirectly.
#[derive(Debug, Serialize, ToSchema)]
pub struct RatingGroup {
    /// The key of the player whose rating is 0.
    pub anchor: String,
    /// The players, the strongest first.
    pub players: Vec<Rating>,
}

/// How strong a player is.
#[derive(Debug, Serialize, ToSchema)]
pub struct Rating {
    /// Who it is.
    pub player: Player,
    /// Games that it played.
    pub games: u64,
    /// Games that it won.
    pub wins: u64,
    /// Games that it drew.
    pub draws: u64,
    /// Games that it lost.
    pub losses: u64,
    /// Bradley-Terry rating of all games at once, in Elo above the anchor.
    pub rating: f64,
    /// Its standard error; 0 for the anchor.
    pub standard_error: f64,
    /// Its 95% interval.
    pub ci95: [f64; 2],
    /// Elo after its last game, from 1200 and with K = 1, as ML-Agents keeps it.
    pub elo: f64,
    /// TrueSkill after its last game.
    pub trueskill: TrueSkill,
}

/// A TrueSkill rating.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct TrueSkill {
    /// The mean of what is believed.
    pub mu: f64,
    /// Its standard deviation.
    pub sigma: f64,
    /// What it is at least, almost surely: `mu - 3 sigma`.
    pub exposed: f64,
}

impl From<ratings::TrueSkill> for TrueSkill {
    fn from(ratings::TrueSkill { mu, sigma, exposed }: ratings::TrueSkill) -> Self {
        Self { mu, sigma, exposed }
    }
}

impl From<ratings::Rating> for Rating {
    fn from(rating: ratings::Rating) -> Self {
        let ratings::Rating {
            player,
            games,
            wins,
            draws,
            losses,
            rating,
            standard_error,
            ci95,
            elo,
            trueskill,
        } = rating;
        Self {
            player: player.into(),
            games,
            wins,
            draws,
            losses,
            rating,
            standard_error,
            ci95,
            elo,
            trueskill: trueskill.into(),
        }
    }
}

/// Show how strong the players of a game are, from all matches that were played: Bradley-Terry with
/// error bars, and Elo and TrueSkill beside it.
#[utoipa::path(
    get,
    path = "/api/ratings",
    tag = "ratings",
    params(RatingsQuery),
    responses(
        (status = 200, body = Ratings),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn show_ratings(
    State(state): State<AppState>,
    Query(query): Query<RatingsQuery>,
) -> Result<Json<Ratings>, ApiError> {
    let ask = move |lab: &cartridge_run::Lab| lab.ratings(&query.game, query.anchor.as_deref());
    let ratings::Ratings { game, n_matches, n_games, n_left_out, groups, notes } =
        state.ask(ask).await?;
    let group = |group: ratings::RatingGroup| RatingGroup {
        anchor: group.anchor,
        players: group.players.into_iter().map(Into::into).collect(),
    };
    let groups = groups.into_iter().map(group).collect();
    Ok(Json(Ratings { game, n_matches, n_games, n_left_out, groups, notes }))
}

/// Which stretch of the history.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct HistoryQuery {
    /// Id of the game or environment.
    #[param(example = "connect4")]
    game: String,
    /// Only the matches of the player with this key.
    player: Option<String>,
    /// Key of the player whose rating is 0 as soon as games connect it; `builtin:random` without it.
    anchor: Option<String>,
    /// How many of the newest matches, at most 1,000.
    #[serde(default = "default_history")]
    #[param(required = false, minimum = 1, maximum = 1000, default = 200)]
    limit: usize,
}

fn default_history() -> usize {
    200
}

/// Ratings after each match.
#[derive(Debug, Serialize, ToSchema)]
pub struct RatingHistory {
    /// Id of the game or environment.
    pub game: String,
    /// The matches in the order in which they ended.
    pub moments: Vec<RatingMoment>,
}

/// Where the players of a match stood after it.
#[derive(Debug, Serialize, ToSchema)]
pub struct RatingMoment {
    /// The match.
    pub match_id: String,
    /// When it ended (RFC 3339).
    pub at: String,
    /// Player A after it.
    pub a: RatingStanding,
    /// Player B after it.
    pub b: RatingStanding,
    /// A's share of the points.
    pub score: f64,
    /// How many games it had.
    pub games: usize,
    /// The key of the player whose rating was 0 among those that games had connected by then.
    pub anchor: String,
}

/// Where a player stood.
#[derive(Debug, Serialize, ToSchema)]
pub struct RatingStanding {
    /// Its key.
    pub key: String,
    /// Its name for people.
    pub name: String,
    /// Bradley-Terry rating of all games up to then, in Elo above the anchor.
    pub rating: f64,
    /// Its standard error; 0 for the anchor.
    pub standard_error: f64,
    /// Its 95% interval.
    pub ci95: [f64; 2],
    /// Elo, from 1200 and with K = 1.
    pub elo: f64,
    /// TrueSkill.
    pub trueskill: TrueSkill,
}

impl From<ratings::Standing> for RatingStanding {
    fn from(standing: ratings::Standing) -> Self {
        let ratings::Standing { key, name, rating, standard_error, ci95, elo, trueskill } =
            standing;
        Self { key, name, rating, standard_error, ci95, elo, trueskill: trueskill.into() }
    }
}

/// Show where the two players of each match stood after it, oldest first: Bradley-Terry fitted to
/// all games up to then, Elo and TrueSkill.
#[utoipa::path(
    get,
    path = "/api/ratings/history",
    tag = "ratings",
    params(HistoryQuery),
    responses(
        (status = 200, body = RatingHistory),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn show_rating_history(
    State(state): State<AppState>,
    Query(query): Query<HistoryQuery>,
) -> Result<Json<RatingHistory>, ApiError> {
    let game = query.game.clone();
    let ask = move |lab: &cartridge_run::Lab| {
        let HistoryQuery { game, player, anchor, limit } = &query;
        lab.rating_history(game, player.as_deref(), anchor.as_deref(), (*limit).clamp(1, 1000))
    };
    let moment = |moment: ratings::Moment| RatingMoment {
        match_id: moment.match_id,
        at: rfc3339(moment.t),
        a: moment.a.into(),
        b: moment.b.into(),
        score: moment.score,
        games: moment.games,
        anchor: moment.anchor,
    };
    let moments = state.ask(ask).await?.into_iter().map(moment).collect();
    Ok(Json(RatingHistory { game, moments }))
}

/// Whose seeds.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct SeedsQuery {
    /// Id of the game or environment.
    #[param(example = "connect4")]
    game: String,
    /// Key of the player.
    #[param(example = "builtin:mcts:100")]
    player: String,
    /// How many seeds, at most 1,000.
    #[serde(default = "default_seeds")]
    #[param(required = false, minimum = 1, maximum = 1000, default = 200)]
    limit: usize,
}

fn default_seeds() -> usize {
    200
}

/// How a player did seed by seed.
#[derive(Debug, Serialize, ToSchema)]
pub struct SeedScores {
    /// Id of the game or environment.
    pub game: String,
    /// Key of the player.
    pub player: String,
    /// Seeds that it played in all.
    pub n_seeds: usize,
    /// Seeds of which it won more games than it lost.
    pub won: usize,
    /// Seeds of which it won as many as it lost.
    pub even: usize,
    /// Seeds of which it lost more.
    pub lost: usize,
    /// The seeds, in the order of their base and their place, as many as asked for.
    pub seeds: Vec<SeedScore>,
}

/// How a player did with one seed: an opening, or the start of an episode.
#[derive(Debug, Serialize, ToSchema)]
pub struct SeedScore {
    /// The seed of the opening; in an environment what the episode was reset with.
    pub seed: u64,
    /// What it follows from, in the first match that had it.
    pub seed_base: u64,
    /// Its place in that match, from 1.
    pub number: usize,
    /// Matches of the player that had it.
    pub n_matches: u64,
    /// Games won with it, whoever the others were.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
}

impl From<ratings::SeedScore> for SeedScore {
    fn from(score: ratings::SeedScore) -> Self {
        let ratings::SeedScore { seed, seed_base, number, n_matches, wins, draws, losses } = score;
        Self { seed, seed_base, number, n_matches, wins, draws, losses }
    }
}

/// Show how a player did seed by seed, summed over all of its matches: whoever is good with a few
/// openings or episodes only is lucky.
#[utoipa::path(
    get,
    path = "/api/ratings/seeds",
    tag = "ratings",
    params(SeedsQuery),
    responses(
        (status = 200, body = SeedScores),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn show_seed_scores(
    State(state): State<AppState>,
    Query(query): Query<SeedsQuery>,
) -> Result<Json<SeedScores>, ApiError> {
    let SeedsQuery { game, player, limit } = query;
    let (at, of) = (game.clone(), player.clone());
    let scores = state.ask(move |lab| lab.seed_scores(&at, &of)).await?;
    let n_with = |wanted: Ordering| {
        scores.iter().filter(|score| score.wins.cmp(&score.losses) == wanted).count()
    };
    let [won, even, lost] = [Ordering::Greater, Ordering::Equal, Ordering::Less].map(n_with);
    let n_seeds = scores.len();
    let seeds = scores.into_iter().take(limit.clamp(1, 1000)).map(Into::into).collect();
    Ok(Json(SeedScores { game, player, n_seeds, won, even, lost, seeds }))
}

/// Which leaderboard.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct LeaderboardQuery {
    /// Id of the environment.
    #[param(example = "LunarLander-v3")]
    env: String,
    /// How many rows, at most 1,000.
    #[serde(default = "default_rows")]
    #[param(required = false, minimum = 1, maximum = 1000, default = 100)]
    limit: usize,
}

fn default_rows() -> usize {
    100
}

/// What trainings have reached in an environment.
#[derive(Debug, Serialize, ToSchema)]
pub struct Leaderboard {
    /// Id of the environment.
    pub env_id: String,
    /// The mean return from which the task counts as solved.
    #[schema(required)]
    pub threshold: Option<f64>,
    /// How many trainings have an evaluation, of the newest 1,000.
    pub n_runs: usize,
    /// The configurations, best first.
    pub rows: Vec<LeaderboardRow>,
}

/// Trainings that differ in nothing but their seed.
#[derive(Debug, Serialize, ToSchema)]
pub struct LeaderboardRow {
    /// Its place, from 1.
    pub place: usize,
    /// SHA-256 of the configuration without its seed.
    pub config_sha256: String,
    /// The experiment that the first of them is of.
    #[schema(required)]
    pub experiment_id: Option<String>,
    /// The name of the first of them for people.
    pub name: String,
    /// The algorithm.
    pub algorithm: String,
    /// Options of the environment.
    #[schema(value_type = Object)]
    pub env: Map<String, Value>,
    /// What the evaluations that count come to: mean, IQM, bootstrap intervals.
    pub aggregate: Aggregate,
    /// The 95% interval of the mean.
    pub ci95: [f64; 2],
    /// What the interval is over.
    pub interval: IntervalKind,
    /// Whether the mean is at the threshold or above; none where there is no threshold.
    #[schema(required)]
    pub solved: Option<bool>,
    /// The trainings, best first.
    pub runs: Vec<LeaderboardRun>,
}

/// What an interval is over.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntervalKind {
    /// Trainings with several seeds: what to expect of another one.
    Seeds,
    /// Episodes of one training: what to expect of the same policy.
    Episodes,
}

/// One training of a row.
#[derive(Debug, Serialize, ToSchema)]
pub struct LeaderboardRun {
    /// The run.
    pub run_id: String,
    /// Its seed.
    pub seed: u64,
    /// Environment steps of the policy that was evaluated.
    pub step: u64,
    /// Episodes of the evaluation that counts: the newest of the checkpoint with the most steps.
    pub episodes: u32,
    /// Their mean return.
    pub mean: f64,
    /// Its 95% interval.
    pub ci95: [f64; 2],
    /// The evaluation that was asked for and counts; none where the training measured itself.
    #[schema(required)]
    pub evaluation_id: Option<String>,
    /// Folder of the checkpoint that it measured; none where the training measured itself.
    #[schema(required)]
    pub checkpoint: Option<String>,
    /// The newest evaluation of each other checkpoint, the one of the most steps first, at most 10.
    pub others: Vec<OtherEvaluation>,
}

/// An evaluation of a checkpoint that does not count, because another one has more steps.
#[derive(Debug, Serialize, ToSchema)]
pub struct OtherEvaluation {
    /// Environment steps of the policy that was evaluated.
    pub step: u64,
    /// How many episodes.
    pub episodes: u32,
    /// Their mean return.
    pub mean: f64,
    /// Its 95% interval.
    pub ci95: [f64; 2],
    /// The evaluation that was asked for; none where the training measured itself.
    #[schema(required)]
    pub evaluation_id: Option<String>,
    /// Folder of the checkpoint; none where the training measured itself.
    #[schema(required)]
    pub checkpoint: Option<String>,
}

impl From<leaderboard::Measured> for OtherEvaluation {
    fn from(measured: leaderboard::Measured) -> Self {
        let leaderboard::Measured { evaluation, evaluation_id, checkpoint } = measured;
        Self {
            step: evaluation.step,
            episodes: evaluation.episodes,
            mean: evaluation.mean,
            ci95: evaluation.ci95,
            evaluation_id: evaluation_id.map(|id| id.to_string()),
            checkpoint,
        }
    }
}

impl From<leaderboard::Row> for LeaderboardRow {
    fn from(row: leaderboard::Row) -> Self {
        let run = |entry: leaderboard::Entry| {
            let OtherEvaluation { step, episodes, mean, ci95, evaluation_id, checkpoint } =
                entry.counts.into();
            LeaderboardRun {
                run_id: entry.run_id.to_string(),
                seed: entry.seed,
                step,
                episodes,
                mean,
                ci95,
                evaluation_id,
                checkpoint,
                others: entry.others.into_iter().map(Into::into).collect(),
            }
        };
        Self {
            place: row.place,
            config_sha256: row.config_sha256,
            experiment_id: row.experiment_id,
            name: row.name,
            algorithm: row.algorithm,
            env: row.env,
            aggregate: row.aggregate.into(),
            ci95: row.ci95,
            interval: match row.interval {
                leaderboard::Interval::Seeds => IntervalKind::Seeds,
                leaderboard::Interval::Episodes => IntervalKind::Episodes,
            },
            solved: row.solved,
            runs: row.runs.into_iter().map(run).collect(),
        }
    }
}

/// Show what trainings have reached in an environment, best first; those that differ in nothing but
/// their seed are one row. Their own evaluations count, and those that somebody asked for: of each
/// training the newest of the checkpoint with the most steps.
#[utoipa::path(
    get,
    path = "/api/leaderboard",
    tag = "ratings",
    params(LeaderboardQuery),
    responses(
        (status = 200, body = Leaderboard),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn show_leaderboard(
    State(state): State<AppState>,
    Query(query): Query<LeaderboardQuery>,
) -> Result<Json<Leaderboard>, ApiError> {
    let limit = query.limit.clamp(1, 1000);
    let env_id = query.env.clone();
    let work_out = move |lab: &Lab| lab.leaderboard(&env_id);
    // Thousands of runs take a while: whoever asks again gets what there is, and the next one what
    // has changed.
    let found = match state.lab.kept_leaderboard(&query.env) {
        Some((board, is_due)) => {
            if is_due {
                let state = state.clone();
                tokio::spawn(async move { state.ask(work_out).await });
            }
            board
        }
        None => state.ask(work_out).await.map_err(|error| match error {
            ApiError::Run(RunError::Registry(error)) => {
                ApiError::UnknownEnvironment { pointer: "/env", detail: error.to_string() }
            }
            error => error,
        })?,
    };
    let rows = found.rows.iter().take(limit).cloned().map(Into::into).collect();
    let leaderboard::Leaderboard { env_id, threshold, n_runs, .. } = &*found;
    let (env_id, threshold, n_runs) = (env_id.clone(), *threshold, *n_runs);
    Ok(Json(Leaderboard { env_id, threshold, n_runs, rows }))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(show_ratings))
        .routes(routes!(show_rating_history))
        .routes(routes!(show_seed_scores))
        .routes(routes!(show_leaderboard))
}
