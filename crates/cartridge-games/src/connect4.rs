//! Connect 4: drop discs into seven columns; four in a row, column or diagonal win.
//!
//! | what | value |
//! |---|---|
//! | seats | 0 plays red (`x`) and moves first, 1 plays yellow (`o`) |
//! | actions | 7: the column to drop a disc into, numbered `0 1 2 3 4 5 6` from the left |
//! | observation | 93: 42 cells of red, 42 of yellow, 7 legal columns, then 1 for the seat to move of 2; cells by rows from the bottom, each from the left |
//! | planes | 2×6×7: own discs, other discs, rows from the bottom |
//! | symmetries | 2: as it is, and mirrored left and right |
//! | score | +1 win, −1 loss, 0 draw; zero before the end |
//! | length | at most 42 plies |
//!
//! Version 1: first release.

mod scene;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use crate::game::{Action, Game, GameSpec, ParseError, Seat, Spot, Turn, Urgent, pick};
use crate::scene::Scene;
use crate::seeds::mix;

/// A position: one bit set of discs per seat.
///
/// A column takes seven bits, the lowest cell first and the seventh always empty, so that a
/// shift never joins two columns (after John Tromp's `connect4` and Pascal Pons' solver):
///
/// ```text
///  6 13 20 27 34 41 48   always empty
///  5 12 19 26 33 40 47
///  4 11 18 25 32 39 46
///  3 10 17 24 31 38 45
///  2  9 16 23 30 37 44
///  1  8 15 22 29 36 43
///  0  7 14 21 28 35 42
/// ```
#[derive(Clone, Debug, Default)]
pub struct Connect4 {
    discs: [u64; 2],
    n_plies: u8,
    /// Whether the seat that moved last has four.
    is_won: bool,
    /// The bit of the last disc, for the picture only: it is no part of the position.
    last: Option<u8>,
}

const N_COLUMNS: usize = 7;
const N_ROWS: usize = 6;
const N_CELLS: usize = N_COLUMNS * N_ROWS;
/// Bits per column.
const STRIDE: usize = N_ROWS + 1;
/// The cells of the leftmost column.
const COLUMN: u64 = (1 << N_ROWS) - 1;
/// The lowest cell of each column.
const BOTTOM: u64 = 0x0000_0408_1020_4081;
/// The highest cell of each column.
const TOP: u64 = BOTTOM << (N_ROWS - 1);
/// From a cell to its neighbour: up, right, down right, up right.
const DIRECTIONS: [usize; 4] = [1, STRIDE, STRIDE - 1, STRIDE + 1];

impl Game for Connect4 {
    const SPEC: GameSpec = GameSpec {
        id: "connect4",
        name: "Connect 4",
        version: 1,
        n_seats: 2,
        n_actions: N_COLUMNS,
        observation: 2 * N_CELLS + N_COLUMNS + 2,
        planes: [2, N_ROWS, N_COLUMNS],
        max_plies: N_CELLS,
        scores: (-1.0, 1.0),
    };
    const N_SYMMETRIES: usize = 2;
    const HAS_URGENT_ACTIONS: bool = true;

    fn start(_rng: &mut fastrand::Rng) -> Self {
        Self::default()
    }

    fn turn(&self) -> Turn {
        if self.is_won || usize::from(self.n_plies) == N_CELLS {
            return Turn::Over;
        }
        Turn::Seat(Seat(self.seat()))
    }

    fn legal_actions(&self) -> impl Iterator<Item = Action> {
        let free = self.free();
        (0..N_COLUMNS).filter(move |&column| free & (COLUMN << (column * STRIDE)) != 0).map(Action)
    }

    fn apply(&mut self, Action(column): Action) {
        assert!(column < N_COLUMNS, "column {column} is not below {N_COLUMNS}");
        let disc = self.free() & (COLUMN << (column * STRIDE));
        assert!(disc != 0, "column {column} cannot be played");
        let seat = self.seat();
        self.discs[seat] |= disc;
        self.is_won = has_four(self.discs[seat]);
        self.n_plies += 1;
        self.last = Some(disc.trailing_zeros() as u8);
    }

    fn score(&self, Seat(seat): Seat) -> f32 {
        match (self.is_won, seat == self.seat()) {
            (false, _) => 0.0,
            // Whose turn it would be is who did not move last.
            (true, true) => -1.0,
            (true, false) => 1.0,
        }
    }

    fn observe(&self, _seat: Seat, out: &mut [f32]) {
        let (cells, rest) = out.split_at_mut(2 * N_CELLS);
        write_planes(self.discs, cells);
        let (legal, to_move) = rest.split_at_mut(N_COLUMNS);
        legal.fill(0.0);
        for Action(column) in self.legal_actions() {
            legal[column] = 1.0;
        }
        for (seat, seen) in to_move.iter_mut().enumerate() {
            *seen = f32::from(u8::from(self.turn() == Turn::Seat(Seat(seat))));
        }
    }

    fn observe_planes(&self, Seat(seat): Seat, out: &mut [f32]) {
        write_planes([self.discs[seat], self.discs[1 - seat]], out);
    }

    fn transform(&self, symmetry: usize) -> Self {
        assert!(symmetry < Self::N_SYMMETRIES, "there are two symmetries");
        if symmetry == 0 {
            return self.clone();
        }
        let mirrored = |bit: u8| {
            (N_COLUMNS - 1 - usize::from(bit) / STRIDE) * STRIDE + usize::from(bit) % STRIDE
        };
        Self {
            discs: self.discs.map(mirror),
            last: self.last.map(|bit| mirrored(bit) as u8),
            ..self.clone()
        }
    }

    fn transform_action(symmetry: usize, Action(column): Action) -> Action {
        assert!(symmetry < Self::N_SYMMETRIES, "there are two symmetries");
        Action(if symmetry == 0 { column } else { N_COLUMNS - 1 - column })
    }

    fn hash64(&self) -> u64 {
        // All discs plus the lowest free cell of each column say which cells are taken, so that
        // adding one seat's discs keeps positions apart in 49 bits.
        mix(self.discs[0] + (self.occupied() + BOTTOM))
    }

    fn urgent(&self) -> Option<Urgent> {
        let free = self.free();
        let column = |cells: u64| Action(cells.trailing_zeros() as usize / STRIDE);
        let wins = threats(self.discs[self.seat()]) & free;
        if wins != 0 {
            return Some(Urgent::Win(column(wins)));
        }
        let losses = threats(self.discs[1 - self.seat()]) & free;
        (losses != 0).then(|| Urgent::Block(column(losses)))
    }

    fn playout(&mut self, rng: &mut fastrand::Rng) -> usize {
        if self.turn() == Turn::Over {
            return 0;
        }
        // The open columns as bytes, lowest first, each the shift of its column: choosing one is
        // a shift instead of a walk over bits, which the processor could not predict.
        let (mut columns, mut n_open) = (0_u64, 0);
        for Action(column) in self.legal_actions() {
            columns |= ((column * STRIDE) as u64) << (8 * n_open);
            n_open += 1;
        }
        let start = self.n_plies;
        let mut seat = self.seat();
        let mut occupied = self.occupied();
        let mut own = self.discs[seat];
        loop {
            let place = 8 * pick(n_open, rng);
            let shift = (columns >> place) & 63;
            let disc = (occupied + (1 << shift)) & (COLUMN << shift);
            own |= disc;
            occupied |= disc;
            self.n_plies += 1;
            if disc & TOP != 0 {
                let below = (1 << place) - 1;
                columns = (columns & below) | ((columns >> 8) & !below);
                n_open -= 1;
            }
            self.is_won = has_four(own);
            if self.is_won || n_open == 0 {
                self.discs[seat] = own;
                self.discs[1 - seat] = own ^ occupied;
                self.last = Some(disc.trailing_zeros() as u8);
                return usize::from(self.n_plies - start);
            }
            own ^= occupied;
            seat = 1 - seat;
        }
    }

    fn scene(&self) -> Scene {
        scene::draw(self)
    }

    fn spots() -> Vec<Spot> {
        (0..N_COLUMNS).map(scene::spot).collect()
    }

    fn pieces(&self, Action(column): Action) -> Vec<Seat> {
        (0..N_ROWS).map_while(|row| self.owner(row, column)).collect()
    }

    fn action_name(Action(column): Action) -> String {
        format!("column {}", column + 1)
    }
}

impl Connect4 {
    /// The discs of a seat, in the layout that the type's documentation draws.
    pub fn discs(&self, Seat(seat): Seat) -> u64 {
        self.discs[seat]
    }

    /// The empty cells that would complete a four of `seat`, reachable now or not, in the layout
    /// of [`discs`](Self::discs).
    pub fn threats(&self, Seat(seat): Seat) -> u64 {
        threats(self.discs[seat]) & (BOTTOM * COLUMN) & !self.occupied()
    }

    /// How many discs were dropped.
    pub fn n_plies(&self) -> usize {
        usize::from(self.n_plies)
    }

    /// The seat to move, or that would be if the game went on.
    fn seat(&self) -> usize {
        usize::from(self.n_plies % 2)
    }

    fn occupied(&self) -> u64 {
        self.discs[0] | self.discs[1]
    }

    /// The cell of each open column into which a disc would fall; none when the game is over.
    fn free(&self) -> u64 {
        if self.is_won { 0 } else { (self.occupied() + BOTTOM) & (BOTTOM * COLUMN) }
    }

    /// The seat that owns the cell.
    fn owner(&self, row: usize, column: usize) -> Option<Seat> {
        let bit = 1 << (column * STRIDE + row);
        (0..2).map(Seat).find(|&Seat(seat)| self.discs[seat] & bit != 0)
    }

    /// The first and last cell, as row and column, of every four that won.
    fn won_fours(&self) -> impl Iterator<Item = [[usize; 2]; 2]> {
        let cell = |bit: usize| [bit % STRIDE, bit / STRIDE];
        self.discs.into_iter().flat_map(move |discs| {
            DIRECTIONS.into_iter().flat_map(move |step| {
                let fours = fours(discs, step);
                (0..N_COLUMNS * STRIDE)
                    .filter(move |bit| fours >> bit & 1 != 0)
                    .map(move |bit| [cell(bit), cell(bit + 3 * step)])
            })
        })
    }
}

// The discs say everything else, apart from which came last.
impl PartialEq for Connect4 {
    fn eq(&self, other: &Self) -> bool {
        self.discs == other.discs
    }
}

impl Eq for Connect4 {}

impl Hash for Connect4 {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.discs.hash(state);
    }
}

impl fmt::Display for Connect4 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in (0..N_ROWS).rev() {
            for column in 0..N_COLUMNS {
                let disc = match self.owner(row, column) {
                    Some(Seat(0)) => 'x',
                    Some(_) => 'o',
                    None => '.',
                };
                write!(f, "{disc}")?;
            }
            writeln!(f)?;
        }
        writeln!(f, "{NUMBERS}")
    }
}

/// The line below the board.
const NUMBERS: &str = "1234567";

impl FromStr for Connect4 {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = |reason: &str| Err(ParseError::new::<Self>(reason));
        let mut rows: Vec<&str> = text.trim().lines().map(str::trim).collect();
        rows.pop_if(|row| *row == NUMBERS);
        if rows.len() != N_ROWS || rows.iter().any(|row| row.len() != N_COLUMNS) {
            return wrong("there must be 6 rows of 7 cells");
        }
        let mut game = Self::default();
        for (row, cells) in rows.iter().rev().enumerate() {
            for (column, disc) in cells.bytes().enumerate() {
                let bit = 1 << (column * STRIDE + row);
                match disc {
                    b'x' => game.discs[0] |= bit,
                    b'o' => game.discs[1] |= bit,
                    b'.' => continue,
                    _ => return wrong("a cell is `x`, `o` or `.`"),
                }
                if row > 0 && game.owner(row - 1, column).is_none() {
                    return wrong("a disc floats");
                }
            }
        }
        let [n_first, n_second] = game.discs.map(u64::count_ones);
        let last = match n_first.checked_sub(n_second) {
            Some(0) => 1,
            Some(1) => 0,
            _ => return wrong("`x` has as many discs as `o`, or one more"),
        };
        if has_four(game.discs[1 - last]) {
            return wrong("somebody moved after the win");
        }
        game.n_plies = (n_first + n_second) as u8;
        game.is_won = has_four(game.discs[last]);
        Ok(game)
    }
}

/// Whether four discs stand in a row somewhere.
#[inline]
fn has_four(discs: u64) -> bool {
    let [up, right, down_right, up_right] = DIRECTIONS;
    fours(discs, up) | fours(discs, right) | fours(discs, down_right) | fours(discs, up_right) != 0
}

/// The cells from which four discs follow each other `step` bits apart.
#[inline]
fn fours(discs: u64, step: usize) -> u64 {
    let pairs = discs & (discs >> step);
    pairs & (pairs >> (2 * step))
}

/// The cells that complete a four of `discs`, whether they are free or not.
fn threats(discs: u64) -> u64 {
    let mut found = 0;
    for step in DIRECTIONS {
        // A hole has three discs on one side, or one on one side and two on the other.
        let pairs = discs & (discs << step);
        found |= (discs << (3 * step)) & (pairs << step);
        found |= (discs >> step) & (pairs << step);
        let pairs = discs & (discs >> step);
        found |= (discs >> (3 * step)) & (pairs >> step);
        found |= (discs << step) & (pairs >> step);
    }
    found
}

/// Mirrored left and right.
fn mirror(discs: u64) -> u64 {
    (0..N_COLUMNS).fold(0, |mirrored, column| {
        let cells = (discs >> (column * STRIDE)) & COLUMN;
        mirrored | cells << ((N_COLUMNS - 1 - column) * STRIDE)
    })
}

/// Writes one plane per set of discs, by rows from the bottom.
fn write_planes(sets: [u64; 2], planes: &mut [f32]) {
    for (plane, discs) in planes.chunks_exact_mut(N_CELLS).zip(sets) {
        for (cell, seen) in plane.iter_mut().enumerate() {
            let bit = cell % N_COLUMNS * STRIDE + cell / N_COLUMNS;
            *seen = (discs >> bit & 1) as f32;
        }
    }
}

#[cfg(test)]
mod tests;
