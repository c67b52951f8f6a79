//! Matches: two players compared over many games.
//!
//! Games come in pairs that begin with the same few random moves, each player having each side
//! once, so that neither the luck of the opening nor the advantage of moving first counts. A
//! match is a function of its seed.

use std::sync::atomic::{AtomicBool, Ordering};

use cartridge_games::game::{Seat, Turn};
use cartridge_games::registry::AnyGame;
use cartridge_games::seeds::{Stream, episode_seed};
use cartridge_store::{DataDir, DoneReason, Event, GameRecord, MatchResult, RunId};
use serde_json::json;

use crate::carried::CarriedRun;
use crate::error::Result;
use crate::opponent::Opponent;

/// What to play.
#[derive(Clone, Debug)]
pub struct MatchConfig {
    /// Id of the game.
    pub game: String,
    /// The player whose result is reported.
    pub a: Opponent,
    /// The other.
    pub b: Opponent,
    /// Number of pairs of games.
    pub n_pairs: u32,
    /// Decides the openings and every choice.
    pub seed: u64,
}

/// Plays the match. `report` is called after each game, and says whether to go on; a match ends
/// after whole pairs only.
pub fn play_match(
    config: &MatchConfig,
    mut report: impl FnMut(GameRecord) -> Result<bool>,
) -> Result<MatchResult> {
    let mut result = MatchResult::default();
    let mut pairs = Vec::new();
    for pair in 0..config.n_pairs {
        let (position, opening) = opening(&config.game, config.seed, pair)?;
        let mut points = 0.0;
        let mut go_on = true;
        for seat in 0..2 {
            let seed = episode_seed(config.seed, Stream::Evaluation, 1 + seat, u64::from(pair));
            let (score, moves) = play_game(position.clone(), config, Seat(seat as usize), seed);
            if score > 0.0 {
                result.wins += 1;
            } else if score < 0.0 {
                result.losses += 1;
            } else {
                result.draws += 1;
            }
            points += 0.5 + 0.5 * f64::from(score).clamp(-1.0, 1.0);
            go_on &= report(GameRecord {
                game: 2 * pair + seat + 1,
                seat,
                opening: opening.clone(),
                moves,
                score: f64::from(score),
                returns: None,
                pairing: None,
            })?;
        }
        pairs.push(points / 2.0);
        if !go_on {
            break;
        }
    }
    result.score = pairs.iter().sum::<f64>() / pairs.len() as f64;
    result.score_ci95 = interval(&pairs);
    result.elo = elo(result.score);
    result.elo_ci95 = result.score_ci95.map(elo);
    Ok(result)
}

/// A match that is kept as a run.
#[derive(Clone, Debug)]
pub struct KeptMatch {
    /// The run.
    pub run_id: RunId,
    /// How it went.
    pub result: MatchResult,
    /// Games that were played.
    pub n_games: u32,
    /// Whether all of them were.
    pub is_whole: bool,
}

/// Plays the match and keeps it as a run, with every game. It ends early, after a whole pair, once
/// `stop` is set. `progress` is called with the number of games so far.
pub fn keep_match(
    data: &DataDir,
    version: &str,
    config: &MatchConfig,
    stop: &AtomicBool,
    mut progress: impl FnMut(u32),
) -> Result<KeptMatch> {
    let MatchConfig { game, a, b, n_pairs, seed } = config;
    let games = 2 * n_pairs;
    let spec = opening(game, 0, 0)?.0.spec();
    let name = format!("{}: {} against {}", spec.name, a.name(), b.name());
    let terms = json!({ "game": game, "a": a, "b": b, "games": games, "seed": seed });
    let mut run = CarriedRun::begin(data, version, name, game, terms)?;
    let run_id = run.manifest.id.clone();
    let mut n_games = 0;
    run.event(Event::MatchStarted { games })?;
    let played = play_match(config, |record| {
        n_games = record.game;
        run.event(Event::GamePlayed(record))?;
        progress(n_games);
        Ok(!stop.load(Ordering::Relaxed))
    });
    let result = match played {
        Ok(result) => result,
        Err(error) => {
            run.fail(&error)?;
            return Err(error);
        }
    };
    let is_whole = n_games == games;
    run.event(Event::MatchComplete(result))?;
    run.finish(if is_whole { DoneReason::Completed } else { DoneReason::Stopped })?;
    Ok(KeptMatch { run_id, result, n_games, is_whole })
}

/// The position after a few random moves: at tic-tac-toe one, because a second may lose already.
fn opening(game: &str, seed: u64, pair: u32) -> Result<(AnyGame, Vec<u32>)> {
    let seed = episode_seed(seed, Stream::Evaluation, 0, u64::from(pair));
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut position = AnyGame::start(game, &mut rng)?;
    let n_plies = match position {
        AnyGame::TicTacToe(_) => 1,
        AnyGame::Connect4(_) => 4,
        AnyGame::Othello(_) => 6,
    };
    let mut actions = Vec::new();
    for _ in 0..n_plies {
        let action = Opponent::Random.choose(&position, &mut rng);
        position.apply(action);
        actions.push(action.0 as u32);
    }
    Ok((position, actions))
}

/// One game to its end: the score of player `a`, who has `seat`, and the moves.
fn play_game(mut game: AnyGame, config: &MatchConfig, seat: Seat, seed: u64) -> (f32, Vec<u32>) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut moves = Vec::new();
    while let Turn::Seat(to_move) = game.turn() {
        let player = if to_move == seat { config.a } else { config.b };
        let action = player.choose(&game, &mut rng);
        game.apply(action);
        moves.push(action.0 as u32);
    }
    (game.score(seat), moves)
}

/// The 95% interval of the mean of the pairs' scores: Wilson's, for as many fair games as would
/// scatter the mean as much as the pairs do. Unlike the plain one it has a width even when every
/// game was won.
fn interval(pairs: &[f64]) -> [f64; 2] {
    const Z: f64 = 1.96;
    let n_pairs = pairs.len() as f64;
    let mean = pairs.iter().sum::<f64>() / n_pairs;
    let squares: f64 = pairs.iter().map(|pair| (pair - mean).powi(2)).sum();
    let variance_of_mean = squares / (n_pairs - 1.0).max(1.0) / n_pairs;
    let n_games = 2.0 * n_pairs;
    // A few pairs that happen to agree are no proof of certainty: never more than the games.
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
