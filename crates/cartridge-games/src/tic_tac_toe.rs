//! Tic-tac-toe: three in a row on a 3×3 board wins.
//!
//! | what | value |
//! |---|---|
//! | seats | 0 plays `x` and moves first, 1 plays `o` |
//! | actions | 9: the cell to mark, numbered `0 1 2 / 3 4 5 / 6 7 8` from the top left |
//! | observation | 29: 9 cells of `x`, 9 of `o`, 9 legal cells, then 1 for the seat to move of 2 |
//! | planes | 2×3×3: own marks, other marks, rows from the top |
//! | symmetries | 8 |
//! | score | +1 win, −1 loss, 0 draw; zero before the end |
//! | length | at most 9 plies |
//!
//! Version 1: first release.

mod scene;

use std::fmt;
use std::str::FromStr;

use crate::game::{Action, Game, GameSpec, ParseError, Seat, Spot, Turn};
use crate::scene::Scene;
use crate::seeds::mix;
use crate::square;

/// A position: one bit set of marked cells per seat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TicTacToe {
    marks: [u16; 2],
}

const N_CELLS: usize = 9;
const FULL: u16 = 0b111_111_111;

/// The winning lines, as cells: rows, then columns, then diagonals.
const LINES: [[usize; 3]; 8] =
    [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];

const NAMES: [&str; N_CELLS] = [
    "top left",
    "top centre",
    "top right",
    "middle left",
    "centre",
    "middle right",
    "bottom left",
    "bottom centre",
    "bottom right",
];

impl Game for TicTacToe {
    const SPEC: GameSpec = GameSpec {
        id: "tictactoe",
        name: "Tic-tac-toe",
        version: 1,
        n_seats: 2,
        n_actions: N_CELLS,
        observation: 3 * N_CELLS + 2,
        planes: [2, 3, 3],
        max_plies: N_CELLS,
        scores: (-1.0, 1.0),
    };
    const N_SYMMETRIES: usize = square::N_SYMMETRIES;

    fn start(_rng: &mut fastrand::Rng) -> Self {
        Self::default()
    }

    fn turn(&self) -> Turn {
        if self.winner().is_some() || self.occupied() == FULL {
            return Turn::Over;
        }
        // `x` moves on even plies, so the number of marks tells whose turn it is.
        Turn::Seat(Seat(self.occupied().count_ones() as usize % 2))
    }

    fn legal_actions(&self) -> impl Iterator<Item = Action> {
        let open = self.open();
        (0..N_CELLS).filter(move |&cell| open & bit(cell) != 0).map(Action)
    }

    fn apply(&mut self, action: Action) {
        let Turn::Seat(Seat(seat)) = self.turn() else { panic!("the game is over") };
        assert!(self.open() & bit(action.0) != 0, "cell {} is not free", action.0);
        self.marks[seat] |= bit(action.0);
    }

    fn score(&self, seat: Seat) -> f32 {
        match self.winner() {
            None => 0.0,
            Some(winner) if winner == seat => 1.0,
            Some(_) => -1.0,
        }
    }

    fn observe(&self, _seat: Seat, out: &mut [f32]) {
        let (planes, to_move) = out.split_at_mut(3 * N_CELLS);
        write_planes([self.marks[0], self.marks[1], self.open()], planes);
        for (seat, seen) in to_move.iter_mut().enumerate() {
            *seen = f32::from(u8::from(self.turn() == Turn::Seat(Seat(seat))));
        }
    }

    fn observe_planes(&self, Seat(seat): Seat, out: &mut [f32]) {
        write_planes([self.marks[seat], self.marks[1 - seat]], out);
    }

    fn transform(&self, symmetry: usize) -> Self {
        let turned = |marks| square::transform_set(symmetry, 3, u64::from(marks)) as u16;
        Self { marks: self.marks.map(turned) }
    }

    fn transform_action(symmetry: usize, Action(cell): Action) -> Action {
        Action(square::transform(symmetry, 3, cell))
    }

    fn hash64(&self) -> u64 {
        mix(u64::from(self.marks[0]) | u64::from(self.marks[1]) << 16)
    }

    fn scene(&self) -> Scene {
        scene::draw(self)
    }

    fn spots() -> Vec<Spot> {
        (0..N_CELLS).map(scene::spot).collect()
    }

    fn pieces(&self, Action(cell): Action) -> Vec<Seat> {
        self.owner(cell).into_iter().collect()
    }

    fn action_name(action: Action) -> String {
        NAMES[action.0].to_owned()
    }
}

impl TicTacToe {
    fn occupied(&self) -> u16 {
        self.marks[0] | self.marks[1]
    }

    /// The cells that may be marked now; none when the game is over.
    fn open(&self) -> u16 {
        if self.turn() == Turn::Over { 0 } else { FULL & !self.occupied() }
    }

    /// The seat that owns `cell`.
    fn owner(&self, cell: usize) -> Option<Seat> {
        (0..2).map(Seat).find(|&Seat(seat)| self.marks[seat] & bit(cell) != 0)
    }

    /// Lines of one owner: none before a win, and two when the last mark closed both.
    fn won_lines(&self) -> impl Iterator<Item = [usize; 3]> {
        LINES.into_iter().filter(|line| {
            let line = line.iter().fold(0, |cells, &cell| cells | bit(cell));
            self.marks.iter().any(|marks| marks & line == line)
        })
    }

    fn winner(&self) -> Option<Seat> {
        self.won_lines().next().and_then(|[cell, ..]| self.owner(cell))
    }
}

impl fmt::Display for TicTacToe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for cell in 0..N_CELLS {
            let mark = match self.owner(cell) {
                Some(Seat(0)) => 'x',
                Some(_) => 'o',
                None => '.',
            };
            write!(f, "{mark}{}", if cell % 3 == 2 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl FromStr for TicTacToe {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = |reason: &str| Err(ParseError::new::<Self>(reason));
        let rows: Vec<&[u8]> = text.trim().lines().map(|row| row.trim().as_bytes()).collect();
        if rows.len() != 3 || rows.iter().any(|row| row.len() != 3) {
            return wrong("there must be 3 rows of 3 cells");
        }
        let mut game = Self::default();
        for (cell, mark) in rows.concat().into_iter().enumerate() {
            match mark {
                b'x' => game.marks[0] |= bit(cell),
                b'o' => game.marks[1] |= bit(cell),
                b'.' => {}
                _ => return wrong("a cell is `x`, `o` or `.`"),
            }
        }
        let [n_first, n_second] = game.marks.map(u16::count_ones);
        let last = match n_first.checked_sub(n_second) {
            Some(0) => Seat(1),
            Some(1) => Seat(0),
            _ => return wrong("`x` has as many marks as `o`, or one more"),
        };
        if game.won_lines().any(|[cell, ..]| game.owner(cell) != Some(last)) {
            return wrong("somebody moved after the win");
        }
        Ok(game)
    }
}

/// Writes one plane per set of cells.
fn write_planes<const N: usize>(sets: [u16; N], planes: &mut [f32]) {
    for (plane, cells) in planes.chunks_exact_mut(N_CELLS).zip(sets) {
        for (cell, seen) in plane.iter_mut().enumerate() {
            *seen = f32::from(u8::from(cells & bit(cell) != 0));
        }
    }
}

fn bit(cell: usize) -> u16 {
    1 << cell
}

#[cfg(test)]
mod tests;
