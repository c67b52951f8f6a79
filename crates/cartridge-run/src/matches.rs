//! Matches: two players compared over many games.
//!
//! At a board, games come in pairs that begin with the same few random moves, each player having
//! each side once, so that neither the luck of the opening nor the advantage of moving first
//! counts. In an environment, both play the episodes of the same seeds, and the differences of
//! their returns are what is compared. What belongs to one seed is a *bucket*. A match is a function
//! of its seed.

use std::sync::atomic::{AtomicBool, Ordering};

use cartridge_games::game::{Seat, Turn};
use cartridge_games::registry::{AnyGame, is_game, make_env};
use cartridge_games::seeds::{Stream, episode_seed};
use cartridge_store::data_dir::write_beside;
use cartridge_store::{
    DataDir, DoneReason, Event, GameRecord, MatchLine, MatchPlayer, MatchResult, RunDir, RunId,
    StoreError, match_log,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::carried::CarriedRun;
use crate::clock::unix_now;
use crate::config::ConfigError;
use crate::error::Result;
use crate::evaluation::spread;
use crate::opponent::Opponent;
use crate::player::Player;

/// The most games of a match.
pub const MAX_GAMES: u32 = 1_000_000;

/// The most seeds that the folder of a match keeps apart; the log has the result of every game.
const MOST_BUCKETS: usize = 10_000;

/// The most episodes of a match in an environment.
pub const MAX_EPISODES: u32 = 10_000;

/// Episodes that are played together, before any is told.
const EPISODES_AT_ONCE: usize = 32;

/// What was found, in the folder of the run.
pub(crate) const SUMMARY: &str = "match.json";

/// What to play.
#[derive(Clone, Debug)]
pub struct MatchConfig {
    /// Id of the game or environment.
    pub game: String,
    /// Options of the environment.
    pub env: Map<String, Value>,
    /// The player whose result is reported.
    pub a: Player,
    /// The other.
    pub b: Player,
    /// Which games.
    pub plan: SeedPlan,
}

/// Which openings or episodes are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedPlan {
    /// What the seeds follow from.
    pub seed_base: u64,
    /// How many of them: the buckets.
    pub count: u32,
    /// Whether each opening is played from both sides; otherwise `a` always moves first. It means
    /// nothing in an environment.
    pub both_sides: bool,
    /// Random moves of an opening; those that are usual at the game without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening_plies: Option<u32>,
}

impl SeedPlan {
    /// Games of a match at `game`.
    pub fn n_games(&self, game: &str) -> u32 {
        if is_game(game) && self.both_sides { 2 * self.count } else { self.count }
    }
}

impl SeedPlan {
    /// The plan of a match at `game`, of what was said of it: how many games, or how many seeds.
    /// Where nothing was said it has 100 games, or 20 episodes.
    pub fn new(
        game: &str,
        n_games: Option<u32>,
        seed_base: u64,
        count: Option<u32>,
        both_sides: Option<bool>,
    ) -> Result<Self> {
        let bad = |key: &str, detail: String| {
            Err(ConfigError::BadValue { key: key.to_owned(), detail }.into())
        };
        let is_board = is_game(game);
        let both_sides = is_board && both_sides.unwrap_or(true);
        let n_sides = if both_sides { 2 } else { 1 };
        let (usual, most) = if is_board { (100, MAX_GAMES) } else { (20, MAX_EPISODES) };
        let n_games = match (n_games, count) {
            (Some(n_games), Some(count)) if count.checked_mul(n_sides) != Some(n_games) => {
                let detail = format!(
                    "{count} seeds are {} games; say one of the two",
                    u64::from(count) * u64::from(n_sides)
                );
                return bad("n_matches", detail);
            }
            (None, Some(count)) => count.saturating_mul(n_sides),
            (Some(n_games), _) => n_games,
            (None, None) => usual,
        };
        if both_sides && !n_games.is_multiple_of(2) {
            return bad("n_matches", "games come in pairs: an even number".to_owned());
        }
        if !(n_sides..=most).contains(&n_games) {
            return bad("n_matches", format!("a match has {n_sides} to {most} games"));
        }
        Ok(Self { seed_base, count: n_games / n_sides, both_sides, opening_plies: None })
    }

    /// The same with so many random moves in an opening; 0 is from the start of the game.
    pub fn with_opening(self, game: &str, n_plies: Option<u32>) -> Result<Self> {
        let bad = |detail: String| {
            Err(ConfigError::BadValue { key: "opening_plies".to_owned(), detail }.into())
        };
        match (n_plies, most_opening_plies(game)) {
            (Some(_), None) => bad(format!("{game} has no openings")),
            (Some(n_plies), Some(most)) if n_plies > most => {
                bad(format!("an opening of {game} has at most {most} moves"))
            }
            _ => Ok(Self { opening_plies: n_plies, ..self }),
        }
    }
}

/// Who hears of the games of a match, and may end it.
pub trait Referee {
    /// A game is over.
    fn played(&mut self, record: GameRecord) -> Result<()>;

    /// Whether to go on. A match ends after whole buckets only.
    fn goes_on(&mut self) -> Result<bool>;
}

/// The games of one seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// The seed of the opening or the episode.
    pub seed: u64,
    /// The random moves that its games began with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opening: Vec<u32>,
    /// The score of A in each game; with both sides, first the one in which A moved first.
    pub scores: Vec<f64>,
    /// In an environment, the returns of A and B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<[f64; 2]>,
}

/// The differences of two players' returns in the same episodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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

/// How a match went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Played {
    /// In figures, for A.
    pub result: MatchResult,
    /// Seed by seed.
    pub buckets: Vec<Bucket>,
    /// In an environment, how the returns compare.
    pub difference: Option<Difference>,
}

/// Plays the match. It ends early when the referee does not let it go on.
pub fn play_match(config: &MatchConfig, referee: &mut dyn Referee) -> Result<Played> {
    let buckets = match is_game(&config.game) {
        true => play_board(config, referee)?,
        false => play_episodes(config, referee)?,
    };
    Ok(sum_up(buckets))
}

fn play_board(config: &MatchConfig, referee: &mut dyn Referee) -> Result<Vec<Bucket>> {
    let MatchConfig { game, plan, .. } = config;
    let n_seats = if plan.both_sides { 2 } else { 1 };
    let mut buckets = Vec::new();
    for pair in 0..plan.count {
        let (position, opening) = opening(game, plan, pair)?;
        let mut scores = Vec::new();
        for seat in 0..n_seats {
            let stream = Stream::Evaluation;
            let seed = episode_seed(plan.seed_base, stream, 1 + seat, u64::from(pair));
            let (score, moves) = play_game(position.clone(), config, Seat(seat as usize), seed)?;
            scores.push(f64::from(score));
            referee.played(GameRecord {
                game: n_seats * pair + seat + 1,
                seat,
                opening: opening.clone(),
                moves,
                score: f64::from(score),
                returns: None,
                pairing: None,
            })?;
        }
        let seed = opening_seed(plan.seed_base, pair);
        buckets.push(Bucket { seed, opening, scores, returns: None });
        if !referee.goes_on()? {
            break;
        }
    }
    Ok(buckets)
}

fn play_episodes(config: &MatchConfig, referee: &mut dyn Referee) -> Result<Vec<Bucket>> {
    let MatchConfig { game, env, a, b, plan } = config;
    let seeds: Vec<u64> = (0..u64::from(plan.count))
        .map(|episode| episode_seed(plan.seed_base, Stream::Evaluation, 0, episode))
        .collect();
    let mut buckets = Vec::new();
    for seeds in seeds.chunks(EPISODES_AT_ONCE) {
        let mut go_on = || referee.goes_on();
        let Some(of_a) = a.returns(game, env, seeds, &mut go_on)? else { break };
        let Some(of_b) = b.returns(game, env, seeds, &mut go_on)? else { break };
        for (&seed, returns) in seeds.iter().zip(of_a.into_iter().zip(of_b)) {
            let bucket = compared(seed, returns.into());
            referee.played(GameRecord {
                game: buckets.len() as u32 + 1,
                seat: 0,
                opening: Vec::new(),
                moves: Vec::new(),
                score: bucket.scores[0],
                returns: bucket.returns,
                pairing: None,
            })?;
            buckets.push(bucket);
        }
        if !referee.goes_on()? {
            break;
        }
    }
    Ok(buckets)
}

/// The bucket of an episode that both have played.
pub(crate) fn compared(seed: u64, returns: [f64; 2]) -> Bucket {
    // Worse than any number is what is none, and JSON has no infinities.
    let finite = |x: f64| if x.is_nan() { f64::MIN } else { x.clamp(f64::MIN, f64::MAX) };
    let returns = returns.map(finite);
    let score = match returns[0].total_cmp(&returns[1]) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Less => -1.0,
        std::cmp::Ordering::Equal => 0.0,
    };
    Bucket { seed, opening: Vec::new(), scores: vec![score], returns: Some(returns) }
}

/// What buckets come to.
pub(crate) fn sum_up(buckets: Vec<Bucket>) -> Played {
    let mut result = MatchResult::default();
    if buckets.is_empty() {
        return Played { result: MatchResult { score: 0.5, ..result }, ..Played::default() };
    }
    for score in buckets.iter().flat_map(|bucket| &bucket.scores) {
        match score.total_cmp(&0.0) {
            std::cmp::Ordering::Greater => result.wins += 1,
            std::cmp::Ordering::Less => result.losses += 1,
            std::cmp::Ordering::Equal => result.draws += 1,
        }
    }
    let points = |bucket: &Bucket| {
        let points = bucket.scores.iter().map(|score| 0.5 + 0.5 * score.clamp(-1.0, 1.0));
        points.sum::<f64>() / bucket.scores.len() as f64
    };
    let shares: Vec<f64> = buckets.iter().map(points).collect();
    let n_games = f64::from(result.wins + result.draws + result.losses);
    result.score = shares.iter().sum::<f64>() / shares.len() as f64;
    result.score_ci95 = interval(&shares, n_games);
    result.elo = elo(result.score);
    result.elo_ci95 = result.score_ci95.map(elo);
    let returns: Option<Vec<[f64; 2]>> = buckets.iter().map(|bucket| bucket.returns).collect();
    let difference = returns.map(|returns| {
        let differences: Vec<f64> = returns.iter().map(|[a, b]| a - b).collect();
        let (mean, std, ci95) = spread(&differences);
        let mean_of = |place: usize| {
            returns.iter().map(|pair| pair[place]).sum::<f64>() / returns.len() as f64
        };
        Difference { mean_a: mean_of(0), mean_b: mean_of(1), mean, std, ci95 }
    });
    Played { result, buckets, difference }
}

/// A match as its run keeps it: `match.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchSummary {
    /// The run that is the match.
    pub run_id: RunId,
    /// Id of the game or environment.
    pub game: String,
    /// Options of the environment.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub env: Map<String, Value>,
    /// The player whose result is told.
    pub a: MatchPlayer,
    /// The other.
    pub b: MatchPlayer,
    /// Which openings or episodes were to be played.
    pub plan: SeedPlan,
    /// How it went.
    #[serde(flatten)]
    pub result: MatchResult,
    /// In an environment, how the returns compare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// Seed by seed, the first ten thousand.
    pub buckets: Vec<Bucket>,
}

impl MatchSummary {
    fn new(run_id: RunId, config: &MatchConfig, played: Played) -> Self {
        Self {
            run_id,
            game: config.game.clone(),
            env: config.env.clone(),
            a: config.a.about.clone(),
            b: config.b.about.clone(),
            plan: config.plan,
            result: played.result,
            difference: played.difference,
            buckets: played.buckets.into_iter().take(MOST_BUCKETS).collect(),
        }
    }

    /// What a run keeps, if it has come so far.
    pub fn read(dir: &RunDir) -> Result<Option<Self>> {
        let path = dir.path().join(SUMMARY);
        match std::fs::read(&path) {
            Ok(text) => Ok(serde_json::from_slice(&text).ok()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io(&path)(error).into()),
        }
    }
}

/// The line of a match in the log of matches.
pub(crate) fn log_line(
    id: String,
    run: &RunId,
    version: &str,
    config: &MatchConfig,
    buckets: &[Bucket],
) -> Result<MatchLine> {
    let letter = |score: &f64| match score.total_cmp(&0.0) {
        std::cmp::Ordering::Greater => 'W',
        std::cmp::Ordering::Less => 'L',
        std::cmp::Ordering::Equal => 'D',
    };
    let is_board = is_game(&config.game);
    Ok(MatchLine {
        format: MatchLine::FORMAT,
        id,
        run: run.clone(),
        t: unix_now(),
        rules: rules(&config.game, &config.env)?,
        game: config.game.clone(),
        env: config.env.clone(),
        cartridge_version: version.to_owned(),
        a: config.a.about.clone(),
        b: config.b.about.clone(),
        seed: config.plan.seed_base,
        both_sides: is_board && config.plan.both_sides,
        results: buckets.iter().flat_map(|bucket| bucket.scores.iter().map(letter)).collect(),
        // Openings follow from the seed; an episode is told by its own, as Gymnasium takes it.
        seeds: buckets.iter().filter(|_| !is_board).map(|bucket| bucket.seed).collect(),
        returns: buckets.iter().filter_map(|bucket| bucket.returns).collect(),
    })
}

/// Version of the rules of a game or environment.
fn rules(game: &str, env: &Map<String, Value>) -> Result<u32> {
    Ok(match is_game(game) {
        true => AnyGame::start(game, &mut fastrand::Rng::with_seed(0))?.spec().version,
        false => make_env(game, env)?.spec().version,
    })
}

/// The name of a game or environment for people.
pub(crate) fn title(game: &str, env: &Map<String, Value>) -> Result<&'static str> {
    Ok(match is_game(game) {
        true => AnyGame::start(game, &mut fastrand::Rng::with_seed(0))?.spec().name,
        false => make_env(game, env)?.spec().name,
    })
}

/// What the manifest of a match says of it.
pub(crate) fn terms(config: &MatchConfig) -> Value {
    let MatchConfig { game, env, a, b, plan } = config;
    let mut terms = json!({
        "game": game, "a": a.about.key, "b": b.about.key, "games": plan.n_games(game),
        "seed": plan.seed_base, "plan": plan, "players": [a.about, b.about],
    });
    if !env.is_empty() {
        terms["env"] = Value::Object(env.clone());
    }
    terms
}

/// The name of a match for people.
pub(crate) fn match_name(config: &MatchConfig) -> Result<String> {
    let MatchConfig { game, env, a, b, .. } = config;
    Ok(format!("{}: {} against {}", title(game, env)?, a.about.name, b.about.name))
}

/// Writes down how a match went: what its run keeps, its line in the log, and its last event, in
/// this order, so that whoever reads the event finds the rest.
pub(crate) fn conclude(
    data: &DataDir,
    run: &RunId,
    version: &str,
    config: &MatchConfig,
    played: Played,
) -> Result<Event> {
    let result = played.result;
    if !played.buckets.is_empty() {
        let line = log_line(run.to_string(), run, version, config, &played.buckets)?;
        match_log::append(data, &line)?;
    }
    let summary = MatchSummary::new(run.clone(), config, played);
    let text = serde_json::to_vec(&summary).expect("a summary is plain data");
    write_beside(&data.run(run).path().join(SUMMARY), &text)?;
    Ok(Event::MatchComplete(result))
}

/// A match that is kept as a run.
#[derive(Clone, Debug)]
pub struct KeptMatch {
    /// The run.
    pub run_id: RunId,
    /// How it went.
    pub result: MatchResult,
    /// In an environment, how the returns compare.
    pub difference: Option<Difference>,
    /// Seed by seed.
    pub buckets: Vec<Bucket>,
    /// Games that were played.
    pub n_games: u32,
    /// Whether all of them were.
    pub is_whole: bool,
}

/// The referee of a match that the calling process carries out.
struct Here<'a> {
    run: CarriedRun,
    stop: &'a AtomicBool,
    progress: &'a mut dyn FnMut(u32),
    n_games: u32,
}

impl Referee for Here<'_> {
    fn played(&mut self, record: GameRecord) -> Result<()> {
        self.n_games = record.game;
        self.run.event(Event::GamePlayed(record))?;
        (self.progress)(self.n_games);
        Ok(())
    }

    fn goes_on(&mut self) -> Result<bool> {
        Ok(!self.stop.load(Ordering::Relaxed))
    }
}

/// Plays the match and keeps it as a run, with every game. It ends early, after a whole bucket, once
/// `stop` is set. `progress` is called with the number of games so far.
pub fn keep_match(
    data: &DataDir,
    version: &str,
    config: &MatchConfig,
    stop: &AtomicBool,
    mut progress: impl FnMut(u32),
) -> Result<KeptMatch> {
    let games = config.plan.n_games(&config.game);
    let name = match_name(config)?;
    let mut run = CarriedRun::begin(data, version, name, &config.game, terms(config))?;
    let run_id = run.manifest.id.clone();
    run.event(Event::MatchStarted { games })?;
    let mut here = Here { run, stop, progress: &mut progress, n_games: 0 };
    let played = play_match(config, &mut here)
        .and_then(|played| Ok((played.clone(), conclude(data, &run_id, version, config, played)?)));
    let Here { mut run, n_games, .. } = here;
    let (played, complete) = match played {
        Ok(played) => played,
        Err(error) => {
            run.fail(&error)?;
            return Err(error);
        }
    };
    let is_whole = n_games == games;
    run.event(complete)?;
    run.finish(if is_whole { DoneReason::Completed } else { DoneReason::Stopped })?;
    let Played { result, buckets, difference } = played;
    Ok(KeptMatch { run_id, result, difference, buckets, n_games, is_whole })
}

/// The seed of an opening, which follows from that of the match.
pub(crate) fn opening_seed(seed: u64, pair: u32) -> u64 {
    episode_seed(seed, Stream::Evaluation, 0, u64::from(pair))
}

/// The most random moves of an opening at a board, with which most games are far from their end.
fn most_opening_plies(game: &str) -> Option<u32> {
    is_game(game).then_some(if game == "tictactoe" { 4 } else { 20 })
}

/// The position after a few random moves: at tic-tac-toe one, because a second may lose already.
/// Moves that end the game are drawn anew.
fn opening(game: &str, plan: &SeedPlan, pair: u32) -> Result<(AnyGame, Vec<u32>)> {
    let mut rng = fastrand::Rng::with_seed(opening_seed(plan.seed_base, pair));
    loop {
        let mut position = AnyGame::start(game, &mut rng)?;
        let usual = match position {
            AnyGame::TicTacToe(_) => 1,
            AnyGame::Connect4(_) => 4,
            AnyGame::Othello(_) => 6,
        };
        let mut actions = Vec::new();
        for _ in 0..plan.opening_plies.unwrap_or(usual) {
            if position.turn() == Turn::Over {
                break;
            }
            let action = Opponent::Random.choose(&position, &mut rng);
            position.apply(action);
            actions.push(action.0 as u32);
        }
        if position.turn() != Turn::Over {
            return Ok((position, actions));
        }
    }
}

/// One game to its end: the score of player `a`, who has `seat`, and the moves.
fn play_game(
    mut game: AnyGame,
    config: &MatchConfig,
    seat: Seat,
    seed: u64,
) -> Result<(f32, Vec<u32>)> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut moves = Vec::new();
    while let Turn::Seat(to_move) = game.turn() {
        let player = if to_move == seat { &config.a } else { &config.b };
        let action = player.choose(&game, &mut rng)?;
        game.apply(action);
        moves.push(action.0 as u32);
    }
    Ok((game.score(seat), moves))
}

/// The 95% interval of the mean of the buckets' scores: Wilson's, for as many fair games as would
/// scatter the mean as much as the buckets do. Unlike the plain one it has a width even when every
/// game was won.
fn interval(shares: &[f64], n_games: f64) -> [f64; 2] {
    const Z: f64 = 1.96;
    let n_buckets = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / n_buckets;
    let squares: f64 = shares.iter().map(|share| (share - mean).powi(2)).sum();
    let variance_of_mean = squares / (n_buckets - 1.0).max(1.0) / n_buckets;
    // A few buckets that happen to agree are no proof of certainty: never more than the games.
    let n = if variance_of_mean > 0.0 {
        (mean * (1.0 - mean) / variance_of_mean).min(n_games)
    } else {
        n_games
    };
    let middle = (mean + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let margin = Z / (1.0 + Z * Z / n) * (mean * (1.0 - mean) / n + Z * Z / (4.0 * n * n)).sqrt();
    // The last digits are noise, and would make a bound of 1 look like less.
    [middle - margin, middle + margin].map(|x| (x.clamp(0.0, 1.0) * 1e12).round() / 1e12)
}

/// The difference in Elo that a score means.
fn elo(score: f64) -> Option<f64> {
    // Rounding must not make a bound of what is none.
    (1e-9..=1.0 - 1e-9).contains(&score).then(|| 400.0 * (score / (1.0 - score)).log10())
}

#[cfg(test)]
mod tests;
