//! Othello: enclose the other's discs to turn them; more discs at the end win.
//!
//! | what | value |
//! |---|---|
//! | seats | 0 plays black (`x`) and moves first, 1 plays white (`o`) |
//! | actions | 65: the square, by rows from the top left (`0` is a1, `7` is h1, `63` is h8), and `64` to pass |
//! | observation | 195: 64 squares of black, 64 of white, 65 legal actions, then 1 for the seat to move of 2 |
//! | planes | 2×8×8: own discs, other discs, rows from the top |
//! | symmetries | 8; turning the start by a quarter swaps its colours, but the rules do not mind |
//! | score | +1 win, −1 loss, 0 draw; zero before the end |
//! | length | at most 121 plies: 60 discs, a pass after each, and the second pass of the end |
//!
//! Passing is an action of its own, legal exactly when no square is. The second of two passes in
//! a row ends the game, also when the board is full.
//!
//! Version 1: first release.

mod scene;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use crate::game::{Action, Game, GameSpec, ParseError, Seat, Spot, Turn, pick};
use crate::scene::Scene;
use crate::seeds::mix;
use crate::square;

/// A position: one bit set of discs per seat, whose turn it is and how many passes came last.
#[derive(Clone, Debug)]
pub struct Othello {
    discs: [u64; 2],
    /// The squares that can be played now; kept because every question needs them.
    squares: u64,
    /// The seat to move; 0 when the game is over.
    to_move: u8,
    /// Passes just before this position; two end the game.
    n_passes: u8,
    /// The last disc, for the picture only: it is no part of the position.
    last: Option<u8>,
}

const SIDE: usize = 8;
const N_SQUARES: usize = SIDE * SIDE;
/// The action that is no square.
const PASS: usize = N_SQUARES;
/// No disc turns more: on d4, in eight directions, less the own disc at each end.
const MOST_FLIPS: u32 = 19;
/// d4 and e5 are white, e4 and d5 black.
const START: [u64; 2] = [1 << 28 | 1 << 35, 1 << 27 | 1 << 36];
/// All squares but the left and right edges, over which a shift would wrap round.
const INNER: u64 = 0x7e7e_7e7e_7e7e_7e7e;
/// From a square to its neighbour: right, down, down left, down right; and, shifted the other
/// way, their opposites. With each, the discs that may be enclosed in that direction.
const DIRECTIONS: [(usize, u64); 4] = [(1, INNER), (8, u64::MAX), (7, INNER), (9, INNER)];

impl Game for Othello {
    const SPEC: GameSpec = GameSpec {
        id: "othello",
        name: "Othello",
        version: 1,
        n_seats: 2,
        n_actions: N_SQUARES + 1,
        observation: 2 * N_SQUARES + (N_SQUARES + 1) + 2,
        planes: [2, SIDE, SIDE],
        max_plies: 2 * (N_SQUARES - 4) + 1,
        scores: (-1.0, 1.0),
    };
    const N_SYMMETRIES: usize = square::N_SYMMETRIES;

    fn start(_rng: &mut fastrand::Rng) -> Self {
        Self::default()
    }

    fn turn(&self) -> Turn {
        if self.n_passes == 2 { Turn::Over } else { Turn::Seat(Seat(usize::from(self.to_move))) }
    }

    fn legal_actions(&self) -> impl Iterator<Item = Action> {
        let mut squares = self.squares;
        let pass = (squares == 0 && self.n_passes < 2).then_some(Action(PASS));
        std::iter::from_fn(move || {
            (squares != 0).then(|| {
                let square = squares.trailing_zeros();
                squares &= squares - 1;
                Action(square as usize)
            })
        })
        .chain(pass)
    }

    fn apply(&mut self, Action(action): Action) {
        assert!(self.n_passes < 2, "the game is over");
        let (own, other) = (usize::from(self.to_move), usize::from(1 - self.to_move));
        if action == PASS {
            assert!(self.squares == 0, "passing needs a position without a move");
            self.n_passes += 1;
            self.last = None;
        } else {
            assert!(
                action < PASS && self.squares >> action & 1 != 0,
                "square {action} encloses nothing"
            );
            let flipped = flips(self.discs[own], self.discs[other], 1 << action);
            self.discs[own] |= flipped | 1 << action;
            self.discs[other] ^= flipped;
            self.n_passes = 0;
            self.last = Some(action as u8);
        }
        if self.n_passes == 2 {
            self.to_move = 0;
        } else {
            self.to_move = other as u8;
            self.squares = squares(self.discs[other], self.discs[own]);
        }
    }

    fn score(&self, Seat(seat): Seat) -> f32 {
        if self.n_passes < 2 {
            return 0.0;
        }
        let [own, other] = [seat, 1 - seat].map(|seat| self.discs[seat].count_ones());
        f32::from(own.cmp(&other) as i8)
    }

    fn observe(&self, _seat: Seat, out: &mut [f32]) {
        let (planes, rest) = out.split_at_mut(2 * N_SQUARES);
        write_planes(self.discs, planes);
        let (legal, to_move) = rest.split_at_mut(N_SQUARES + 1);
        legal.fill(0.0);
        for Action(action) in self.legal_actions() {
            legal[action] = 1.0;
        }
        for (seat, seen) in to_move.iter_mut().enumerate() {
            *seen = f32::from(u8::from(self.turn() == Turn::Seat(Seat(seat))));
        }
    }

    fn observe_planes(&self, Seat(seat): Seat, out: &mut [f32]) {
        write_planes([self.discs[seat], self.discs[1 - seat]], out);
    }

    fn transform(&self, symmetry: usize) -> Self {
        let turned = |set| square::transform_set(symmetry, SIDE, set);
        Self {
            discs: self.discs.map(turned),
            squares: turned(self.squares),
            last: self.last.map(|last| square::transform(symmetry, SIDE, last.into()) as u8),
            ..self.clone()
        }
    }

    fn transform_action(symmetry: usize, Action(action): Action) -> Action {
        Action(if action == PASS { PASS } else { square::transform(symmetry, SIDE, action) })
    }

    fn hash64(&self) -> u64 {
        let rest = u64::from(self.to_move) | u64::from(self.n_passes) << 1;
        mix(mix(mix(self.discs[0]) ^ self.discs[1]) ^ rest)
    }

    /// Who turns the other's last discs has won after two passes.
    fn decisive(&self) -> Option<Action> {
        let (own, other) = (usize::from(self.to_move), usize::from(1 - self.to_move));
        let [own, other] = [self.discs[own], self.discs[other]];
        if other.count_ones() > MOST_FLIPS || self.n_passes == 2 {
            return None;
        }
        let mut actions = self.legal_actions().filter(|action| action.0 != PASS);
        actions.find(|action| flips(own, other, 1 << action.0) == other)
    }

    fn playout(&mut self, rng: &mut fastrand::Rng) -> usize {
        if self.n_passes == 2 {
            return 0;
        }
        let mut n_plies = 0;
        let mut seat = usize::from(self.to_move);
        let [mut own, mut other] = [self.discs[seat], self.discs[1 - seat]];
        let mut squares_now = self.squares;
        loop {
            n_plies += 1;
            if squares_now == 0 {
                pick(1, rng);
                self.n_passes += 1;
                self.last = None;
                if self.n_passes == 2 {
                    break;
                }
            } else {
                let choice = Choice::new(squares_now);
                let square = choice.nth(pick(choice.count(), rng));
                let flipped = flips(own, other, 1 << square);
                own |= flipped | 1 << square;
                other ^= flipped;
                self.n_passes = 0;
                self.last = Some(square as u8);
            }
            (own, other) = (other, own);
            seat = 1 - seat;
            squares_now = squares(own, other);
        }
        self.discs[seat] = own;
        self.discs[1 - seat] = other;
        self.squares = 0;
        self.to_move = 0;
        n_plies
    }

    fn scene(&self) -> Scene {
        scene::draw(self)
    }

    fn spots() -> Vec<Spot> {
        (0..=PASS).map(scene::spot).collect()
    }

    fn pieces(&self, Action(action): Action) -> Vec<Seat> {
        // Passing is no place on the board.
        (action != PASS).then(|| self.owner(action)).flatten().into_iter().collect()
    }

    fn action_name(Action(action): Action) -> String {
        if action == PASS {
            return "pass".to_owned();
        }
        format!("{}{}", char::from(b'a' + (action % SIDE) as u8), action / SIDE + 1)
    }
}

impl Othello {
    /// The discs of a seat: bit 0 is a1, bit 7 is h1, bit 63 is h8.
    pub fn discs(&self, Seat(seat): Seat) -> u64 {
        self.discs[seat]
    }

    /// The squares that `seat` could play if it were its turn, in the layout of
    /// [`discs`](Self::discs).
    pub fn squares(&self, Seat(seat): Seat) -> u64 {
        squares(self.discs[seat], self.discs[1 - seat])
    }

    /// The seat that owns a square.
    fn owner(&self, square: usize) -> Option<Seat> {
        (0..2).map(Seat).find(|&Seat(seat)| self.discs[seat] >> square & 1 != 0)
    }
}

impl Default for Othello {
    fn default() -> Self {
        Self {
            discs: START,
            squares: squares(START[0], START[1]),
            to_move: 0,
            n_passes: 0,
            last: None,
        }
    }
}

// The playable squares follow from the rest, and which disc came last does not matter.
impl PartialEq for Othello {
    fn eq(&self, other: &Self) -> bool {
        (self.discs, self.to_move, self.n_passes) == (other.discs, other.to_move, other.n_passes)
    }
}

impl Eq for Othello {}

impl Hash for Othello {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.discs, self.to_move, self.n_passes).hash(state);
    }
}

/// The line above the board.
const LETTERS: &str = "abcdefgh";
/// The line below the board, for each number of passes and seat.
const TURNS: [[&str; 2]; 3] = [
    ["x to move", "o to move"],
    ["x to move after a pass", "o to move after a pass"],
    ["over", "over"],
];

impl fmt::Display for Othello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {LETTERS}")?;
        for row in 0..SIDE {
            write!(f, "{} ", row + 1)?;
            for column in 0..SIDE {
                let disc = match self.owner(row * SIDE + column) {
                    Some(Seat(0)) => 'x',
                    Some(_) => 'o',
                    None => '.',
                };
                write!(f, "{disc}")?;
            }
            writeln!(f)?;
        }
        writeln!(f, "{}", TURNS[usize::from(self.n_passes)][usize::from(self.to_move)])
    }
}

impl FromStr for Othello {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = |reason: &str| Err(ParseError::new::<Self>(reason));
        let mut rows: Vec<&str> = text.trim().lines().map(str::trim).collect();
        let turn = rows.pop().unwrap_or_default();
        if rows.first() == Some(&LETTERS) {
            rows.remove(0);
        }
        let rows: Vec<&str> = rows
            .iter()
            .map(|row| row.trim_start_matches(|c: char| " 12345678".contains(c)))
            .collect();
        if rows.len() != SIDE || rows.iter().any(|row| row.len() != SIDE) {
            return wrong(
                "there must be 8 rows of 8 squares, and a line that says whose turn it is",
            );
        }
        let mut discs = [0; 2];
        for (square, disc) in rows.concat().bytes().enumerate() {
            match disc {
                b'x' => discs[0] |= 1 << square,
                b'o' => discs[1] |= 1 << square,
                b'.' => {}
                _ => return wrong("a square is `x`, `o` or `.`"),
            }
        }
        let centre = START[0] | START[1];
        if (discs[0] | discs[1]) & centre != centre {
            return wrong("the four squares in the middle are never empty");
        }
        let turns = TURNS.iter().enumerate();
        let mut turns = turns.flat_map(|(passes, seats)| {
            seats.iter().enumerate().map(move |(seat, line)| (passes, seat, *line))
        });
        let Some((n_passes, to_move, _)) = turns.find(|(_, _, line)| *line == turn) else {
            return wrong("the last line is like `x to move`, `o to move after a pass` or `over`");
        };
        let [first, second] = [squares(discs[0], discs[1]), squares(discs[1], discs[0])];
        let (own, other) = if to_move == 0 { (first, second) } else { (second, first) };
        match n_passes {
            1 if other != 0 => return wrong("somebody passed who had a move"),
            2 if own | other != 0 => return wrong("the game is not over"),
            _ => {}
        }
        Ok(Self {
            discs,
            squares: own,
            to_move: to_move as u8,
            n_passes: n_passes as u8,
            last: None,
        })
    }
}

/// The squares on which `own` would enclose discs of `other`.
#[inline]
fn squares(own: u64, other: u64) -> u64 {
    let mut found = 0;
    for (step, inside) in DIRECTIONS {
        let line = other & inside;
        // Runs of the other's discs that begin beside an own one, doubled in length each time:
        // at most six discs can stand between two squares.
        let mut up = line & (own << step);
        let mut down = line & (own >> step);
        up |= line & (up << step);
        down |= line & (down >> step);
        let (pairs_up, pairs_down) = (line & (line << step), line & (line >> step));
        up |= pairs_up & (up << (2 * step));
        down |= pairs_down & (down >> (2 * step));
        up |= pairs_up & (up << (2 * step));
        down |= pairs_down & (down >> (2 * step));
        found |= up << step | down >> step;
    }
    found & !(own | other)
}

/// The discs of `other` that turn when `own` plays the square `disc`.
#[inline]
fn flips(own: u64, other: u64, disc: u64) -> u64 {
    let mut flipped = 0;
    for (step, inside) in DIRECTIONS {
        let line = other & inside;
        let mut up = line & (disc << step);
        let mut down = line & (disc >> step);
        up |= line & (up << step);
        down |= line & (down >> step);
        let (pairs_up, pairs_down) = (line & (line << step), line & (line >> step));
        up |= pairs_up & (up << (2 * step));
        down |= pairs_down & (down >> (2 * step));
        up |= pairs_up & (up << (2 * step));
        down |= pairs_down & (down >> (2 * step));
        // All of a run or nothing, without a branch that nobody could predict.
        flipped |= up & u64::from(up << step & own != 0).wrapping_neg();
        flipped |= down & u64::from(down >> step & own != 0).wrapping_neg();
    }
    flipped
}

/// A set of squares of which one is chosen by its rank, without a walk over bits that the
/// processor could not predict ("broadword" selection; Vigna 2008).
struct Choice {
    set: u64,
    /// How many squares are in each row and those before it, a byte per row.
    ranks: u64,
}

/// A one in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// `NTH[row][n]` is the place of the `n`th square in a row of eight.
static NTH: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut row = 0;
    while row < 256 {
        let (mut place, mut n) = (0, 0);
        while place < 8 {
            if row >> place & 1 != 0 {
                table[row][n] = place as u8;
                n += 1;
            }
            place += 1;
        }
        row += 1;
    }
    table
};

impl Choice {
    #[inline]
    fn new(set: u64) -> Self {
        let pairs = set - (set >> 1 & 0x5555_5555_5555_5555);
        let fours = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
        let rows = (fours + (fours >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
        Self { set, ranks: rows.wrapping_mul(ONES) }
    }

    #[inline]
    fn count(&self) -> u32 {
        (self.ranks >> 56) as u32
    }

    /// The `n`th square of the set, from 0.
    #[inline]
    fn nth(&self, n: usize) -> usize {
        // Rows before the one that is wanted have a rank of at most `n`.
        let before = (((n as u64 * ONES) | (ONES << 7)) - self.ranks) >> 7 & ONES;
        let start = (before.wrapping_mul(ONES) >> 56) as usize * 8;
        let rank = (self.ranks << 8) >> start & 0xff;
        let row = (self.set >> start & 0xff) as usize;
        start + usize::from(NTH[row][(n - rank as usize) & 7])
    }
}

/// Writes one plane per set of discs.
fn write_planes(sets: [u64; 2], planes: &mut [f32]) {
    for (plane, discs) in planes.chunks_exact_mut(N_SQUARES).zip(sets) {
        for (square, seen) in plane.iter_mut().enumerate() {
            *seen = (discs >> square & 1) as f32;
        }
    }
}

#[cfg(test)]
mod tests;
