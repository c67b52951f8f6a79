//! What a strong player would do in a person's place.
//!
//! Where perfect play is known, the hint is the truth; elsewhere it is what a good tree search
//! thinks, with its estimate. A hint says who gives it.

use std::fmt;

use cartridge_games::game::Action;
use cartridge_games::registry::AnyGame;
use cartridge_search::connect4_solver::Solver;
use cartridge_search::mcts::{self, Mcts};
use cartridge_search::minimax;

use crate::opponent::Opponent;

/// Simulations of the tree search that is asked where nobody knows perfect play: a fraction of a
/// second at Othello.
const N_SIMULATIONS: u32 = 10_000;

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
    /// Nobody knows; a search expects this share of the points, 0 to 1.
    Estimate {
        /// The share.
        score: f32,
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
                let findings = Mcts::default().search(game, mcts::Config::new(N_SIMULATIONS), rng);
                let action = mcts::best(&findings);
                let finding = findings.iter().find(|finding| finding.action == action);
                let finding = finding.expect("the best is one of them");
                let verdict = match finding.proven {
                    Some(score) => Verdict::exact(score.total_cmp(&0.0) as i32, None),
                    None => Verdict::Estimate { score: (0.5 + 0.5 * finding.mean).clamp(0.0, 1.0) },
                };
                let by = Opponent::Mcts { n_simulations: N_SIMULATIONS };
                Self { action, by, verdict }
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
            Self::Estimate { score } => {
                write!(f, "it expects {:.0}% of the points", 100.0 * score)
            }
        }
    }
}

#[cfg(test)]
mod tests;
