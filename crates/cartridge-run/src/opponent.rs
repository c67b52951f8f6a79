//! Opponents that need no training, by id: `builtin:random`, `builtin:alphabeta:DEPTH`,
//! `builtin:mcts:SIMULATIONS` and `builtin:perfect`.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use cartridge_games::game::Action;
use cartridge_games::nearest::nearest;
use cartridge_games::registry::AnyGame;
use cartridge_games::{random_action, with_game};
use cartridge_search::connect4_solver::Solver;
use cartridge_search::heuristics::Heuristic;
use cartridge_search::mcts::{self, Mcts, N_PLAYOUTS};
use cartridge_search::{alphabeta, minimax};
use serde::{Deserialize, Serialize};

use crate::error::{Result, RunError};

/// An opponent that needs no training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Opponent {
    /// Plays any legal move.
    Random,
    /// Looks a number of plies ahead.
    AlphaBeta {
        /// How many.
        depth: u32,
    },
    /// Searches with random playouts.
    Mcts {
        /// How many simulations a move gets.
        n_simulations: u32,
    },
    /// Knows the value of every position.
    Perfect,
}

/// An opponent that is offered at a game, by a name for people.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// `Beginner`, `Club`, `Perfect`.
    pub name: &'static str,
    /// Who it is.
    pub opponent: Opponent,
    /// Share of the points that it took from the level below, as `benches/levels.sh` measured it.
    pub score_below: Option<f64>,
}

/// Deeper takes minutes.
const DEPTHS: RangeInclusive<u32> = 1..=10;
/// More takes gigabytes.
const SIMULATIONS: RangeInclusive<u32> = 1..=100_000;

impl Opponent {
    /// The levels of `game`, strongest first; none where there is no such game. Other opponents
    /// can be asked for by id.
    ///
    /// The order was measured: each beats the next, by the share that it says.
    pub fn levels(game: &str) -> &'static [Level] {
        const fn level(name: &'static str, opponent: Opponent, score_below: f64) -> Level {
            Level { name, opponent, score_below: Some(score_below) }
        }
        const fn mcts(n_simulations: u32) -> Opponent {
            Opponent::Mcts { n_simulations }
        }
        const fn alphabeta(depth: u32) -> Opponent {
            Opponent::AlphaBeta { depth }
        }
        const BEGINNER: Level =
            Level { name: "Beginner", opponent: Opponent::Random, score_below: None };
        // By the rules and not by the id, so that the compiler asks for those of a new game.
        match AnyGame::start(game, &mut fastrand::Rng::with_seed(0)) {
            Ok(AnyGame::TicTacToe(_)) => &[
                const { level("Perfect", Self::Perfect, 0.6425) },
                const { level("Club", mcts(30), 0.9575) },
                const { level("Casual", alphabeta(1), 0.74) },
                BEGINNER,
            ],
            Ok(AnyGame::Connect4(_)) => &[
                const { level("Perfect", Self::Perfect, 0.9) },
                const { level("Expert", mcts(10_000), 0.8) },
                const { level("Strong", mcts(1_000), 0.805) },
                const { level("Club", mcts(100), 0.87) },
                const { level("Casual", mcts(10), 0.98) },
                BEGINNER,
            ],
            Ok(AnyGame::Othello(_)) => &[
                const { level("Strong", alphabeta(5), 0.92) },
                const { level("Club", alphabeta(2), 0.89) },
                const { level("Casual", mcts(100), 1.0) },
                BEGINNER,
            ],
            Err(_) => &[],
        }
    }

    /// The opponents at the levels of `game`, strongest first.
    pub fn offered(game: &str) -> impl Iterator<Item = Self> + use<> {
        Self::levels(game).iter().map(|level| level.opponent)
    }

    /// The strongest at `game`.
    ///
    /// # Panics
    ///
    /// If there is no such game.
    pub fn strongest(game: &str) -> Self {
        Self::levels(game).first().expect("the game has been looked up").opponent
    }

    /// Who a network of `game` is measured against all the time: strong enough not to be beaten at
    /// once, and fast.
    pub fn baseline(game: &str) -> Self {
        match game {
            "tictactoe" => Self::Perfect,
            "othello" => Self::AlphaBeta { depth: 2 },
            _ => Self::Mcts { n_simulations: 100 },
        }
    }

    /// Who goes on telling trainings apart when the baseline is always beaten, and by how much Elo it
    /// is above that one (`benches/results/levels.jsonl`). Nobody is above a perfect player.
    pub fn strong_baseline(game: &str) -> Option<(Self, f64)> {
        match game {
            "connect4" => Some((Self::Mcts { n_simulations: 1000 }, 246.0)),
            "othello" => Some((Self::AlphaBeta { depth: 5 }, 424.0)),
            _ => None,
        }
    }

    /// The level of `game` that this opponent is, if it is one.
    pub fn level(self, game: &str) -> Option<&'static Level> {
        Self::levels(game).iter().find(|level| level.opponent == self)
    }

    /// The opponent at the level `name` of `game`, in small or capital letters.
    pub fn at_level(game: &str, name: &str) -> Result<Self> {
        let levels = Self::levels(game);
        let found = levels.iter().find(|level| level.name.eq_ignore_ascii_case(name));
        found.map(|level| level.opponent).ok_or_else(|| {
            let names: Vec<String> = levels.iter().map(|level| level.name.to_lowercase()).collect();
            let hint = match nearest(&name.to_lowercase(), names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", names.join(", ")),
            };
            RunError::UnknownLevel { game: game.to_owned(), level: name.to_owned(), hint }
        })
    }

    /// The opponent `id` at `game`.
    pub fn find(game: &str, id: &str) -> Result<Self> {
        let refused = |hint: String| RunError::UnknownOpponent {
            game: game.to_owned(),
            opponent: id.to_owned(),
            hint,
        };
        match id.parse::<Self>() {
            Ok(Self::Perfect) if !Self::offered(game).any(|offered| offered == Self::Perfect) => {
                let strongest = Self::strongest(game);
                Err(refused(format!(
                    "nobody knows perfect play here; the strongest is `{strongest}`"
                )))
            }
            Ok(opponent) => Ok(opponent),
            Err(BadOpponent(Some(hint))) => Err(refused(hint)),
            Err(BadOpponent(None)) => {
                let ids: Vec<String> =
                    Self::offered(game).map(|offered| offered.to_string()).collect();
                Err(refused(match nearest(id, ids.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are {}", ids.join(", ")),
                }))
            }
        }
    }

    /// The name for people.
    pub fn name(self) -> String {
        match self {
            Self::Random => "Random mover".to_owned(),
            Self::AlphaBeta { depth } => format!("Alpha-beta, depth {depth}"),
            Self::Mcts { n_simulations: 1 } => "MCTS, 1 simulation".to_owned(),
            Self::Mcts { n_simulations } => {
                format!("MCTS, {} simulations", thousands(n_simulations))
            }
            Self::Perfect => "Perfect play".to_owned(),
        }
    }

    /// What it is at `game`, honestly.
    pub fn description(self, game: &str) -> String {
        match self {
            Self::Random => {
                "Picks any legal move with equal chance. Easy to beat.".to_owned()
            }
            Self::AlphaBeta { depth: 1 } => {
                "Looks one move ahead: takes a win at once, but sees no threat.".to_owned()
            }
            Self::AlphaBeta { depth } => format!(
                "Looks {depth} moves ahead and judges what it sees by a simple rule. Misses nothing \
                 within that horizon, and everything beyond it."
            ),
            Self::Mcts { n_simulations } => format!(
                "Tries {} {} of play in its head before each move and judges each by {N_PLAYOUTS} \
                 random games{}. Sound in the open, now and then blind to a narrow trap.",
                thousands(n_simulations),
                if n_simulations == 1 { "line" } else { "lines" },
                // The only game whose playouts can tell.
                if game == "connect4" {
                    ", in which a win at once is taken and one of the other side is blocked"
                } else {
                    ""
                }
            ),
            Self::Perfect if game == "connect4" => {
                "Solves every position and never gives away a win or a draw. It can be beaten only by \
                 moving first and without one slip. Hard positions take it a few seconds."
                    .to_owned()
            }
            Self::Perfect => {
                "Searches every line to the end and never errs. The best you can get is a draw."
                    .to_owned()
            }
        }
    }

    /// How strong it is at `game` in plain words, where that was measured.
    pub fn strength(self, game: &str) -> Option<String> {
        let levels = Self::levels(game);
        let place = levels.iter().position(|level| level.opponent == self)?;
        match (levels[place].score_below, levels.get(place + 1)) {
            (Some(score), Some(below)) => {
                Some(format!("Took {:.0}% of the points from {}.", 100.0 * score, below.name))
            }
            _ => Some("The weakest level.".to_owned()),
        }
    }

    /// What it plays in a position that is not over.
    pub fn choose(self, game: &AnyGame, rng: &mut fastrand::Rng) -> Action {
        let asked = "it is asked on its turn only";
        match self {
            Self::Random => with_game!(game, game => random_action(game, rng)),
            Self::AlphaBeta { depth } => with_game!(game, game => {
                alphabeta::best_action(game, depth as usize, Heuristic::heuristic, rng).expect(asked).0
            }),
            Self::Mcts { n_simulations } => with_game!(game, game => {
                Mcts::default().best_action(game, mcts::Config::new(n_simulations), rng)
            }),
            Self::Perfect => match game {
                AnyGame::TicTacToe(game) => minimax::best_action(game, rng).expect(asked),
                AnyGame::Connect4(game) => Solver::default().best_action(game, rng).expect(asked),
                AnyGame::Othello(_) => unreachable!("nobody is perfect at Othello"),
            },
        }
    }
}

/// The id.
impl fmt::Display for Opponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str("builtin:random"),
            Self::AlphaBeta { depth } => write!(f, "builtin:alphabeta:{depth}"),
            Self::Mcts { n_simulations } => write!(f, "builtin:mcts:{n_simulations}"),
            Self::Perfect => f.write_str("builtin:perfect"),
        }
    }
}

/// An id that means nobody, and what is wrong with it where that can be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such opponent{}", .0.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
pub struct BadOpponent(Option<String>);

impl FromStr for Opponent {
    type Err = BadOpponent;

    fn from_str(id: &str) -> Result<Self, BadOpponent> {
        let number = |text: Option<&str>, range: RangeInclusive<u32>, what: &str, example: &str| {
            let (low, high) = (range.start(), range.end());
            let hint = format!("say the {what}, {low} to {high}, as in `builtin:{example}`");
            let number = text.and_then(|text| text.parse().ok());
            number.filter(|number| range.contains(number)).ok_or(BadOpponent(Some(hint)))
        };
        let mut words = id.split(':');
        let opponent = match (words.next(), words.next(), words.next()) {
            (Some("builtin"), Some("random"), None) => Self::Random,
            (Some("builtin"), Some("perfect"), None) => Self::Perfect,
            (Some("builtin"), Some("alphabeta"), depth) => {
                Self::AlphaBeta { depth: number(depth, DEPTHS, "depth", "alphabeta:4")? }
            }
            (Some("builtin"), Some("mcts"), simulations) => Self::Mcts {
                n_simulations: number(simulations, SIMULATIONS, "simulations", "mcts:1000")?,
            },
            _ => return Err(BadOpponent(None)),
        };
        // One id per opponent: no second number, no leading zeros.
        if opponent.to_string() == id { Ok(opponent) } else { Err(BadOpponent(None)) }
    }
}

impl From<Opponent> for String {
    fn from(opponent: Opponent) -> Self {
        opponent.to_string()
    }
}

impl TryFrom<String> for Opponent {
    type Error = BadOpponent;

    fn try_from(id: String) -> Result<Self, BadOpponent> {
        id.parse()
    }
}

/// A number with commas.
fn thousands(number: u32) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
