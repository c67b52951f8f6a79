//! Alpha-beta search to a fixed depth, for zero-sum games of two seats.
//!
//! A win or a loss within reach always counts more than any judgement, and a win is worth more
//! the sooner it comes, a loss less. Values are kept from the view of one seat, which maximises
//! while the other minimises, so it does not matter who moves how often.

use cartridge_games::{Action, Game, Seat, Turn};

/// A best action of the seat to move, looking `depth` plies ahead, and its value for that seat;
/// by chance one of several that look equally good. `None` when the game is over.
///
/// `heuristic` says how good a position is for a seat, between −1 and 1, exclusive. A value
/// within that range is its judgement; beyond it the game is decided, and more so the sooner.
pub fn best_action<G: Game>(
    game: &G,
    depth: usize,
    heuristic: impl Fn(&G, Seat) -> f32,
    rng: &mut fastrand::Rng,
) -> Option<(Action, f32)> {
    assert!(G::SPEC.is_zero_sum(), "{} is not a zero-sum game of two seats", G::SPEC.id);
    assert!(depth > 0, "an action cannot be chosen without looking at it");
    let Turn::Seat(seat) = game.turn() else { return None };
    let search = Search { heuristic, sign: sign(seat) };
    let mut children: Vec<(Action, G)> =
        game.legal_actions().map(|action| (action, after(game, action))).collect();
    // Only a better action replaces an earlier one, so the order decides between equals.
    rng.shuffle(&mut children);
    children.sort_by(|(_, a), (_, b)| search.rank(b).total_cmp(&search.rank(a)));
    let mut best: Option<(Action, f32)> = None;
    for (action, child) in children {
        let alpha = best.map_or(f32::NEG_INFINITY, |(_, value)| value);
        let value = search.value(&child, depth - 1, alpha, f32::INFINITY);
        if best.is_none_or(|(_, best)| value > best) {
            best = Some((action, value));
        }
    }
    best
}

struct Search<H> {
    heuristic: H,
    /// Turns a score of [`FIRST`] into one of the seat that asks.
    sign: f32,
}

const FIRST: Seat = Seat(0);

impl<H> Search<H> {
    /// The value for the seat that asks, as far as it lies between `alpha` and `beta`.
    fn value<G: Game>(&self, game: &G, depth: usize, mut alpha: f32, mut beta: f32) -> f32
    where
        H: Fn(&G, Seat) -> f32,
    {
        let Turn::Seat(seat) = game.turn() else {
            return self.sign * game.score(FIRST) / G::SPEC.scores.1 * (1 + depth) as f32;
        };
        if depth == 0 {
            return self.judge(game);
        }
        let maximise = sign(seat) == self.sign;
        let mut best = if maximise { f32::NEG_INFINITY } else { f32::INFINITY };
        let mut look = |child: &G| {
            let value = self.value(child, depth - 1, alpha, beta);
            if maximise {
                best = best.max(value);
                alpha = alpha.max(best);
            } else {
                best = best.min(value);
                beta = beta.min(best);
            }
            alpha < beta
        };
        let children = game.legal_actions().map(|action| after(game, action));
        if depth == 1 {
            // Nothing is left to cut below, so sorting would cost more than it saves.
            { children }.all(|child| look(&child));
        } else {
            let mut children: Vec<(f32, G)> =
                children.map(|child| (self.rank(&child), child)).collect();
            children
                .sort_by(|(a, _), (b, _)| if maximise { b.total_cmp(a) } else { a.total_cmp(b) });
            children.iter().all(|(_, child)| look(child));
        }
        best
    }

    /// How promising a position looks at a glance: ends first, then the judgement.
    fn rank<G: Game>(&self, game: &G) -> f32
    where
        H: Fn(&G, Seat) -> f32,
    {
        match game.turn() {
            Turn::Over => self.sign * game.score(FIRST) / G::SPEC.scores.1,
            Turn::Seat(_) => self.judge(game),
        }
    }

    fn judge<G: Game>(&self, game: &G) -> f32
    where
        H: Fn(&G, Seat) -> f32,
    {
        let value = (self.heuristic)(game, FIRST);
        assert!(value.abs() < 1.0, "a judgement of {value} claims to know the end");
        self.sign * value
    }
}

fn sign(seat: Seat) -> f32 {
    if seat == FIRST { 1.0 } else { -1.0 }
}

fn after<G: Game>(game: &G, action: Action) -> G {
    let mut next = game.clone();
    next.apply(action);
    next
}

#[cfg(test)]
mod tests;
