//! Rough judgements of positions, for searches that cannot reach the end.
//!
//! Each says how good a position is for a seat, between −1 and 1, exclusive, and the opposite for
//! the other seat. None is tuned: they make a depth-limited search sensible, not strong.

use cartridge_games::connect4::Connect4;
use cartridge_games::othello::Othello;
use cartridge_games::tic_tac_toe::TicTacToe;
use cartridge_games::{Game, Seat};

/// A game with a judgement of its positions.
pub trait Heuristic: Game {
    /// How good the position is for `seat`, between −1 and 1, exclusive.
    fn heuristic(&self, seat: Seat) -> f32;
}

impl Heuristic for TicTacToe {
    /// Nothing: the game is short enough to look to its end.
    fn heuristic(&self, _seat: Seat) -> f32 {
        0.0
    }
}

impl Heuristic for Connect4 {
    /// Cells that would complete a four, and discs in the middle column.
    fn heuristic(&self, seat: Seat) -> f32 {
        const MIDDLE: u64 = 0b111_111 << 21;
        let count = |set: u64| set.count_ones() as f32;
        let worth = |seat| 3.0 * count(self.threats(seat)) + count(self.discs(seat) & MIDDLE);
        bounded((worth(seat) - worth(other(seat))) / 20.0)
    }
}

impl Heuristic for Othello {
    /// Corners, squares that give a corner away, and freedom to move.
    fn heuristic(&self, seat: Seat) -> f32 {
        let count = |set: u64| set.count_ones() as f32;
        let empty = !(self.discs(Seat(0)) | self.discs(Seat(1)));
        let risky = CORNERS.iter().filter(|(corner, _)| empty & corner != 0);
        let risky = risky.fold(0, |squares, (_, beside)| squares | beside);
        let corners = CORNERS.iter().fold(0, |squares, (corner, _)| squares | corner);
        let worth = |seat| {
            let discs = self.discs(seat);
            12.0 * count(discs & corners) - 4.0 * count(discs & risky) + count(self.squares(seat))
        };
        bounded((worth(seat) - worth(other(seat))) / 60.0)
    }
}

/// Each corner of an Othello board with the three squares beside it.
const CORNERS: [(u64, u64); 4] = [
    (1, 1 << 1 | 1 << 8 | 1 << 9),
    (1 << 7, 1 << 6 | 1 << 14 | 1 << 15),
    (1 << 56, 1 << 48 | 1 << 49 | 1 << 57),
    (1 << 63, 1 << 54 | 1 << 55 | 1 << 62),
];

fn other(Seat(seat): Seat) -> Seat {
    Seat(1 - seat)
}

/// Squeezed between −1 and 1, keeping the order.
fn bounded(x: f32) -> f32 {
    x / (1.0 + x.abs())
}

#[cfg(test)]
mod tests {
    use cartridge_games::{Turn, random_action};

    use super::*;

    #[track_caller]
    fn check<G: Heuristic>() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..50 {
            let mut game = G::start(&mut rng);
            while game.turn() != Turn::Over {
                let [first, second] = [0, 1].map(|seat| game.heuristic(Seat(seat)));
                assert!(first.abs() < 1.0, "{first}");
                assert_eq!(first, -second, "what is good for one is bad for the other");
                game.apply(random_action(&game, &mut rng));
            }
        }
    }

    #[test]
    fn judgements_are_bounded_and_fair() {
        check::<TicTacToe>();
        check::<Connect4>();
        check::<Othello>();
    }
}
