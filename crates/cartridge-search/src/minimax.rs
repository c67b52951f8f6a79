//! Exhaustive search with a table, for small zero-sum games of two seats.
//!
//! Every position that can be reached is valued once. The seat to move takes the action that is
//! best for itself, and whose turn it is comes from the position, never from the parity of the
//! ply, so a seat may move twice in a row. Positions must not repeat within a game.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;

use cartridge_games::{Action, Game, Seat, Turn};

/// The exact value of every legal action for the seat to move, in the order of the actions:
/// its score at the end when both seats play best. Empty when the game is over.
pub fn solve<G: Game + Eq + Hash>(game: &G) -> Vec<(Action, f32)> {
    let outcomes = outcomes(game, &mut Table::new());
    outcomes.into_iter().map(|(action, outcome)| (action, outcome.score)).collect()
}

/// A best action of the seat to move: one that wins soonest or loses latest, at random among
/// equals. `None` when the game is over.
pub fn best_action<G: Game + Eq + Hash>(game: &G, rng: &mut fastrand::Rng) -> Option<Action> {
    best(game, rng).map(|(action, _)| action)
}

/// What [`best_action`] plays, and what it leads to.
pub fn best<G: Game + Eq + Hash>(game: &G, rng: &mut fastrand::Rng) -> Option<(Action, Outcome)> {
    let outcomes = outcomes(game, &mut Table::new());
    let best = outcomes.iter().map(|&(_, outcome)| outcome).reduce(Outcome::better)?;
    let equals: Vec<(Action, Outcome)> =
        outcomes.into_iter().filter(|(_, outcome)| *outcome == best).collect();
    rng.choice(equals)
}

/// What best play leads to, seen from one seat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The score at the end.
    pub score: f32,
    /// Plies until a win or a loss; 0 for a draw, whose length nobody minds.
    pub n_plies: usize,
}

impl Outcome {
    fn better(self, other: Self) -> Self {
        let sooner = self.n_plies <= other.n_plies;
        let keep = match self.score.total_cmp(&other.score) {
            Ordering::Equal => sooner == (self.score > 0.0),
            order => order == Ordering::Greater,
        };
        if keep { self } else { other }
    }

    /// The same end, seen from the other seat.
    fn mirrored(self) -> Self {
        // Adding zero turns a negative zero into a plain one.
        Self { score: -self.score + 0.0, ..self }
    }
}

/// The outcome of each position for [`FIRST`].
type Table<G> = HashMap<G, Outcome>;

const FIRST: Seat = Seat(0);

/// The outcome of every legal action for the seat to move.
fn outcomes<G: Game + Eq + Hash>(game: &G, table: &mut Table<G>) -> Vec<(Action, Outcome)> {
    assert!(G::SPEC.is_zero_sum(), "{} is not a zero-sum game of two seats", G::SPEC.id);
    let Turn::Seat(seat) = game.turn() else { return Vec::new() };
    let mut outcome = |action| {
        let mut next = game.clone();
        next.apply(action);
        let Outcome { score, n_plies } = value(&next, table);
        let later = Outcome { score, n_plies: if score == 0.0 { 0 } else { n_plies + 1 } };
        (action, if seat == FIRST { later } else { later.mirrored() })
    };
    game.legal_actions().map(&mut outcome).collect()
}

/// What the position leads to for [`FIRST`].
fn value<G: Game + Eq + Hash>(game: &G, table: &mut Table<G>) -> Outcome {
    if let Some(&known) = table.get(game) {
        return known;
    }
    let best =
        outcomes(game, table).into_iter().map(|(_, outcome)| outcome).reduce(Outcome::better);
    let outcome = match (best, game.turn()) {
        (Some(best), Turn::Seat(FIRST)) => best,
        (Some(best), _) => best.mirrored(),
        (None, _) => Outcome { score: game.score(FIRST) + 0.0, n_plies: 0 },
    };
    table.insert(game.clone(), outcome);
    outcome
}

#[cfg(test)]
mod tests;
