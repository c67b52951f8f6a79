//! What a strong player would do in a person's place.
//!
//! Where perfect play is known, the hint is the truth; elsewhere it is what the strongest level of
//! the game would play, with its judgement. A hint says who gives it.

use std::fmt;

use cartridge_games::game::Action;
use cartridge_games::registry::AnyGame;
use cartridge_search::connect4_solver::Solver;
use cartridge_search::heuristics::Heuristic;
use cartridge_search::{alphabeta, minimax};

use crate::opponent::Opponent;

/// How far alpha-beta looks at Othello, where nobody knows perfect play: as far as the strongest
/// level does. `builtin:mcts:10000` lost 6 of 8 games to it.
const DEPTH: u32 = 5;

/// A judgement nearer to 0 says nothing for either side.
const EVEN: f32 = 0.1;

/// A hint for the seat to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hint {
    /// What to play.
    pub action: Action,
    /// Who says so.
    pub by: Opponent,
    /// What it leads to.
    pub verdict: Verdict,
}

/// What an action leads to for the seat that plays it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It wins against anything.
    Win {
        /// With which of its own moves from now on, where that was found out.
        n_moves: Option<u32>,
    },
    /// It draws, and nothing does better.
    Draw,
    /// It loses against best play, as everything does.
    Loss {
        /// To which of the other's moves from now on, where that was found out.
        n_moves: Option<u32>,
    },
    /// Nobody knows; a rule of thumb finds what lies a few moves ahead this good.
    Judgement {
        /// From −1, bad, to 1, good, both exclusive. It is no probability.
        value: f32,
    },
}

impl Hint {
    /// The hint for a position that is not over.
    pub fn new(game: &AnyGame, rng: &mut fastrand::Rng) -> Self {
        let asked = "it is asked in positions that are not over";
        match game {
            AnyGame::TicTacToe(game) => {
                let (action, outcome) = minimax::best(game, rng).expect(asked);
                let sign = outcome.score.total_cmp(&0.0) as i32;
                let verdict = Verdict::exact(sign, Some(outcome.n_plies as u32));
                Self { action, by: Opponent::Perfect, verdict }
            }
            AnyGame::Connect4(game) => {
                let (action, outcome) = Solver::default().best(game, rng).expect(asked);
                let verdict = Verdict::exact(outcome.sign, outcome.n_plies);
                Self { action, by: Opponent::Perfect, verdict }
            }
            AnyGame::Othello(game) => {
                let (action, value) =
                    alphabeta::best_action(game, DEPTH as usize, Heuristic::heuristic, rng)
                        .expect(asked);
                // Beyond 1 the game is decided within what was seen.
                let verdict = if value.abs() >= 1.0 {
                    Verdict::exact(value.signum() as i32, None)
                } else {
                    Verdict::Judgement { value }
                };
                Self { action, by: Opponent::AlphaBeta { depth: DEPTH }, verdict }
            }
        }
    }

    /// The hint in a sentence.
    pub fn sentence(&self, game: &AnyGame) -> String {
        let Self { action, by, verdict } = self;
        format!("{} would play {}: {verdict}.", by.name(), game.action_name(*action))
    }
}

impl Verdict {
    /// How good that is for the seat that plays it, from −1 to 1: known ends are the ends of it.
    pub fn value(&self) -> f32 {
        match *self {
            Self::Win { .. } => 1.0,
            Self::Draw => 0.0,
            Self::Loss { .. } => -1.0,
            Self::Judgement { value } => value,
        }
    }

    /// A win, draw or loss in `n_plies` from now, this one included.
    fn exact(sign: i32, n_plies: Option<u32>) -> Self {
        match sign {
            1.. => Self::Win { n_moves: n_plies.map(|n| n.div_ceil(2)) },
            0 => Self::Draw,
            _ => Self::Loss { n_moves: n_plies.map(|n| n / 2) },
        }
    }
}

/// For people: `wins in 5`.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Win { n_moves: Some(1) } => f.write_str("wins at once"),
            Self::Win { n_moves: Some(n) } => write!(f, "wins in {n}"),
            Self::Win { n_moves: None } => f.write_str("wins"),
            Self::Draw => f.write_str("draws"),
            Self::Loss { n_moves: Some(n) } => write!(f, "loses in {n}"),
            Self::Loss { n_moves: None } => f.write_str("loses"),
            Self::Judgement { value } if *value > EVEN => f.write_str("it likes what it sees"),
            Self::Judgement { value } if *value < -EVEN => {
                f.write_str("it likes nothing that it sees, and this best")
            }
            Self::Judgement { .. } => f.write_str("it finds the game even"),
        }
    }
}

#[cfg(test)]
mod tests;
