//! Matches: two players compared over many games.
//!
//! Games come in pairs that begin with the same few random moves, each player having each side
//! once, so that neither the luck of the opening nor the advantage of moving first counts. A
//! match is a function of its seed.

use cartridge_games::game::{Seat, Turn};
use cartridge_games::registry::AnyGame;
use cartridge_games::seeds::{Stream, episode_seed};
use serde::Serialize;

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

/// How it went, from the view of the first player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MatchResult {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
    /// Share of the points: a win is 1, a draw a half.
    pub score: f64,
    /// The 95% interval of the score.
    pub score_ci95: [f64; 2],
    /// Difference of strength in Elo; none when it has no bound.
    pub elo: Option<f64>,
    /// The 95% interval of the Elo difference; none where it has no bound.
    pub elo_ci95: [Option<f64>; 2],
}

/// Plays the match. `report` is called after each pair with the number of pairs so far.
pub fn play_match(config: &MatchConfig, mut report: impl FnMut(u32)) -> Result<MatchResult> {
    let mut result = MatchResult::default();
    let mut pairs = Vec::new();
    for pair in 0..config.n_pairs {
        let opening = opening(&config.game, config.seed, pair)?;
        let mut points = 0.0;
        for seat in 0..2 {
            let seed = episode_seed(config.seed, Stream::Evaluation, 1 + seat, u64::from(pair));
            let score = play_game(opening.clone(), config, Seat(seat as usize), seed);
            if score > 0.0 {
                result.wins += 1;
            } else if score < 0.0 {
                result.losses += 1;
            } else {
                result.draws += 1;
            }
            points += 0.5 + 0.5 * f64::from(score).clamp(-1.0, 1.0);
        }
        pairs.push(points / 2.0);
        report(pair + 1);
    }
    result.score = pairs.iter().sum::<f64>() / pairs.len() as f64;
    result.score_ci95 = interval(&pairs);
    result.elo = elo(result.score);
    result.elo_ci95 = result.score_ci95.map(elo);
    Ok(result)
}

/// The position after a few random moves: at tic-tac-toe one, because a second may lose already.
fn opening(game: &str, seed: u64, pair: u32) -> Result<AnyGame> {
    let seed = episode_seed(seed, Stream::Evaluation, 0, u64::from(pair));
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut position = AnyGame::start(game, &mut rng)?;
    let n_plies = match position {
        AnyGame::TicTacToe(_) => 1,
        AnyGame::Connect4(_) => 4,
        AnyGame::Othello(_) => 6,
    };
    for _ in 0..n_plies {
        position.apply(Opponent::Random.choose(&position, &mut rng));
    }
    Ok(position)
}

/// One game to its end: the score of player `a`, who has `seat`.
fn play_game(mut game: AnyGame, config: &MatchConfig, seat: Seat, seed: u64) -> f32 {
    let mut rng = fastrand::Rng::with_seed(seed);
    while let Turn::Seat(to_move) = game.turn() {
        let player = if to_move == seat { config.a } else { config.b };
        game.apply(player.choose(&game, &mut rng));
    }
    game.score(seat)
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
    [(middle - margin).max(0.0), (middle + margin).min(1.0)]
}

/// The difference in Elo that a score means.
fn elo(score: f64) -> Option<f64> {
    // Rounding must not make a bound of what is none.
    (1e-9..=1.0 - 1e-9).contains(&score).then(|| 400.0 * (score / (1.0 - score)).log10())
}

#[cfg(test)]
mod tests;
