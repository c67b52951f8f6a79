//! The truth about Connect 4: exact scores of positions, and perfect play.
//!
//! After Pascal Pons, "Solving Connect 4: how to build a perfect AI" (<http://blog.gamesolver.org>):
//! negamax with null windows, moves that lose at once left out, the rest sorted by the threats
//! that they make, and a table of bounds. A score counts from the end: 1 is a win with the last
//! disc of the seat to move, 2 with the one before, and so on; 0 is a draw; losses are negative.
//!
//! Openings are looked up: `BOOK` holds the score of every position of up to eight plies. From
//! there on [`Solver::best_action`] searches: it always finds out what keeps a win a win and a draw
//! a draw, and looks for the soonest win or latest loss as far as a fixed number of positions
//! allows. The hardest positions, of nine to eleven plies, take a second or two, very few three.

use cartridge_games::connect4::Connect4;
use cartridge_games::{Action, Game, Seat, Turn};

/// Scores of every position of at most [`BOOK_PLIES`] plies that is not over, nor won by the next
/// disc: a byte each, in the order of [`book_keys`].
///
/// Computed with the crate `connect-four-ai` 1.0.0 (Benjamin Rall, MIT).
static BOOK: &[u8] = include_bytes!("connect4_solver/book.bin");
const BOOK_PLIES: u32 = 8;

const N_ROWS: u32 = 6;
const N_COLUMNS: u32 = 7;
const N_CELLS: i32 = 42;
const STRIDE: u32 = N_ROWS + 1;
const COLUMN: u64 = (1 << N_ROWS) - 1;
const BOTTOM: u64 = 0x0000_0408_1020_4081;
const BOARD: u64 = BOTTOM * COLUMN;
/// Columns in the order in which they are tried: the middle takes part in most fours.
const ORDER: [u32; 7] = [3, 2, 4, 1, 5, 0, 6];

/// Entries of the table, a power of two: 64 MiB in all.
const TABLE_SIZE: usize = 1 << 23;
/// Positions that the search for the soonest win may look at once win, draw or loss is known;
/// about half a second.
const EXACT_LIMIT: u64 = 4_000_000;

/// Solves positions, remembering what it has seen.
#[derive(Debug)]
pub struct Solver {
    /// Bounds by position: the key above eight bits of bound.
    table: Vec<u64>,
    /// Keys and scores of the openings, ascending; empty until an opening is asked for.
    book: Vec<(u64, i8)>,
    /// Positions left to look at; a search that runs out of them gives up.
    n_left: u64,
}

/// What best play leads to for the seat to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// 1 for a win, 0 for a draw, −1 for a loss.
    pub sign: i32,
    /// Plies until a win or a loss, unless they were too hard to count; none for a draw.
    pub n_plies: Option<u32>,
}

/// A position of a game that goes on, from the view of the seat to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    own: u64,
    all: u64,
    n_plies: i32,
}

/// The search had to look at too many positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GaveUp;

impl Default for Solver {
    fn default() -> Self {
        Self { table: vec![0; TABLE_SIZE], book: Vec::new(), n_left: u64::MAX }
    }
}

impl Solver {
    /// The exact score of every legal action, in order. From the ninth ply on this may take some
    /// seconds; empty when the game is over.
    pub fn scores(&mut self, game: &Connect4) -> Vec<(Action, i32)> {
        let Some(position) = Position::of(game) else { return Vec::new() };
        self.n_left = u64::MAX;
        let score = |action: Action| {
            let score = self.score_of_move(position, position.disc(action));
            (action, score.expect("there is no limit"))
        };
        game.legal_actions().map(score).collect()
    }

    /// A perfect action of the seat to move: never one that turns a win into less or a draw into a
    /// loss, and the soonest win or latest loss unless that is too hard to find. By chance one of
    /// several in openings. `None` when the game is over.
    pub fn best_action(&mut self, game: &Connect4, rng: &mut fastrand::Rng) -> Option<Action> {
        self.best(game, rng).map(|(action, _)| action)
    }

    /// What [`Self::best_action`] plays, and what it leads to.
    pub fn best(&mut self, game: &Connect4, rng: &mut fastrand::Rng) -> Option<(Action, Outcome)> {
        let position = Position::of(game)?;
        let mut actions: Vec<Action> = game.legal_actions().collect();
        rng.shuffle(&mut actions);
        if let Some(&win) = actions.iter().find(|&&action| position.wins(position.disc(action))) {
            return Some((win, position.exactly(position.win_now())));
        }
        if position.n_plies < BOOK_PLIES as i32 {
            let scores = self.scores(game);
            let best = scores.iter().map(|&(_, score)| score).max()?;
            let action = actions.into_iter().find(|&action| scores.contains(&(action, best)))?;
            return Some((action, position.exactly(best)));
        }
        let (disc, outcome) = self.best_disc(position);
        let action = actions.into_iter().find(|&action| position.disc(action) == disc)?;
        Some((action, outcome))
    }

    /// The best disc where the seat to move cannot win at once.
    fn best_disc(&mut self, position: Position) -> (u64, Outcome) {
        // Win, draw or loss first: they are what matters, and the smaller search.
        self.n_left = u64::MAX;
        let known = self.look_up(position);
        let (low, high) = match known {
            Some(score) => position.range(score.signum()),
            None => self.outcome(position).expect("there is no limit"),
        };
        // Then how soon, as far as the limit allows.
        self.n_left = EXACT_LIMIT;
        let mut reached = known.unwrap_or(low);
        let narrowed = self.narrow(position, reached, known.unwrap_or(high), &mut reached);
        if narrowed.is_err() {
            self.n_left = EXACT_LIMIT;
        }
        let disc = self.reaching(position, reached);
        let outcome = match (narrowed, disc) {
            (Ok(score), Ok(_)) => position.exactly(score),
            _ => Outcome { sign: low.signum(), n_plies: None },
        };
        self.n_left = u64::MAX;
        let disc = disc.or_else(|GaveUp| self.reaching(position, low)).expect("there is no limit");
        (disc, outcome)
    }

    /// A disc after which the seat that drops it has at least `score`.
    fn reaching(&mut self, position: Position, score: i32) -> Result<u64, GaveUp> {
        let discs: Vec<u64> = position.moves().collect();
        for &disc in &discs {
            let next = position.after(disc);
            // Not more than −score for the other.
            if !next.can_win() && !self.test(next, -score)? {
                return Ok(disc);
            }
        }
        // Whatever is played, the other wins with its next disc.
        Ok(discs
            .first()
            .copied()
            .unwrap_or_else(|| position.free() & position.free().wrapping_neg()))
    }

    /// The score of dropping `disc`.
    fn score_of_move(&mut self, position: Position, disc: u64) -> Result<i32, GaveUp> {
        if position.wins(disc) {
            return Ok(position.win_now());
        }
        if position.n_plies + 1 == N_CELLS {
            return Ok(0);
        }
        Ok(-self.score(position.after(disc))?)
    }

    /// The exact score of a position.
    fn score(&mut self, position: Position) -> Result<i32, GaveUp> {
        if position.can_win() {
            return Ok(position.win_now());
        }
        if let Some(score) = self.look_up(position) {
            return Ok(score);
        }
        let ((low, _), (_, high)) = (position.range(-1), position.range(1));
        self.narrow(position, low, high, &mut { low })
    }

    /// The exact score, which lies between two known ones. `reached` is what is proven so far.
    fn narrow(
        &mut self,
        position: Position,
        low: i32,
        high: i32,
        reached: &mut i32,
    ) -> Result<i32, GaveUp> {
        let (mut low, mut high) = (low, high);
        while low < high {
            // Small scores first: they are the likely ones, and wide ones are slow to refute.
            let middle = low + (high - low) / 2;
            let middle = if middle <= 0 && low / 2 < middle {
                low / 2
            } else if middle >= 0 && high / 2 > middle {
                high / 2
            } else {
                middle
            };
            let score = self.negamax(position, middle, middle + 1)?;
            if score <= middle {
                high = score;
            } else {
                low = score;
                *reached = low;
            }
        }
        Ok(low)
    }

    /// Between which scores a position lies in which nobody wins at once: losses, a draw or wins.
    fn outcome(&mut self, position: Position) -> Result<(i32, i32), GaveUp> {
        let sign = if self.test(position, 0)? {
            1
        } else if self.test(position, -1)? {
            0
        } else {
            -1
        };
        Ok(position.range(sign))
    }

    /// Whether the score of a position in which nobody wins at once is above `bound`.
    fn test(&mut self, position: Position, bound: i32) -> Result<bool, GaveUp> {
        Ok(self.negamax(position, bound, bound + 1)? > bound)
    }

    /// The score as far as it lies between `alpha` and `beta`, where the seat to move cannot win
    /// at once.
    fn negamax(&mut self, position: Position, alpha: i32, beta: i32) -> Result<i32, GaveUp> {
        let (mut alpha, mut beta) = (alpha, beta);
        self.n_left = self.n_left.checked_sub(1).ok_or(GaveUp)?;
        let n_empty = N_CELLS - position.n_plies;
        let moves = position.safe_moves();
        if moves == 0 {
            return Ok(-n_empty / 2);
        }
        if n_empty <= 2 {
            return Ok(0);
        }
        // The other cannot win with its next disc either, nor we with ours.
        let mut low = -(n_empty - 2) / 2;
        let mut high = (n_empty - 1) / 2;
        let key = position.key();
        match self.recall(key) {
            Some(Bound::AtLeast(score)) => low = low.max(score),
            Some(Bound::AtMost(score)) => high = high.min(score),
            None => {}
        }
        alpha = alpha.max(low);
        beta = beta.min(high);
        if alpha >= beta {
            return Ok(if alpha == low { low } else { high });
        }
        let mut sorted = Sorted::default();
        for column in ORDER {
            let disc = moves & (COLUMN << (column * STRIDE));
            if disc != 0 {
                sorted.add(disc, (wins(position.own | disc) & BOARD & !position.all).count_ones());
            }
        }
        for &(disc, _) in sorted.best_first() {
            // A child that is known to be good enough saves searching those before it.
            if let Some(Bound::AtMost(score)) = self.recall(position.after(disc).key())
                && -score >= beta
            {
                return Ok(-score);
            }
        }
        for &(disc, _) in sorted.best_first() {
            let score = -self.negamax(position.after(disc), -beta, -alpha)?;
            if score >= beta {
                self.remember(key, Bound::AtLeast(score));
                return Ok(score);
            }
            alpha = alpha.max(score);
        }
        self.remember(key, Bound::AtMost(alpha));
        Ok(alpha)
    }

    fn recall(&self, key: u64) -> Option<Bound> {
        let entry = self.table[slot(key)];
        (entry >> 8 == key).then(|| Bound::from_byte(entry as u8))
    }

    fn remember(&mut self, key: u64, bound: Bound) {
        self.table[slot(key)] = key << 8 | u64::from(bound.to_byte());
    }

    /// The score of an opening.
    fn look_up(&mut self, position: Position) -> Option<i32> {
        if position.n_plies > BOOK_PLIES as i32 {
            return None;
        }
        if self.book.is_empty() {
            let scores = BOOK.iter().map(|&byte| byte.cast_signed());
            self.book = book_keys().into_iter().zip(scores).collect();
        }
        let key = position.canonical_key();
        let found = self.book.binary_search_by_key(&key, |&(key, _)| key).ok()?;
        Some(i32::from(self.book[found].1))
    }
}

/// What is known about a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    AtLeast(i32),
    AtMost(i32),
}

impl Bound {
    /// Scores lie between −18 and 18, so seven bits hold one and the eighth says which bound.
    fn to_byte(self) -> u8 {
        match self {
            Self::AtLeast(score) => (score + 64) as u8,
            Self::AtMost(score) => (score + 64) as u8 | 0x80,
        }
    }

    fn from_byte(byte: u8) -> Self {
        let score = i32::from(byte & 0x7f) - 64;
        if byte & 0x80 == 0 { Self::AtLeast(score) } else { Self::AtMost(score) }
    }
}

/// Moves with their threats, the most last; of equals the first that was added comes last.
#[derive(Default)]
struct Sorted {
    moves: [(u64, u32); 7],
    len: usize,
}

impl Sorted {
    fn add(&mut self, disc: u64, n_threats: u32) {
        let mut at = self.len;
        self.len += 1;
        while at > 0 && self.moves[at - 1].1 < n_threats {
            self.moves[at] = self.moves[at - 1];
            at -= 1;
        }
        self.moves[at] = (disc, n_threats);
    }

    fn best_first(&self) -> &[(u64, u32)] {
        &self.moves[..self.len]
    }
}

impl Position {
    /// `None` when the game is over.
    fn of(game: &Connect4) -> Option<Self> {
        let Turn::Seat(seat) = game.turn() else { return None };
        let own = game.discs(seat);
        let all = own | game.discs(Seat(1 - seat.0));
        Some(Self { own, all, n_plies: game.n_plies() as i32 })
    }

    /// The cells into which a disc can fall.
    fn free(self) -> u64 {
        (self.all + BOTTOM) & BOARD
    }

    /// The disc that an action drops.
    fn disc(self, Action(column): Action) -> u64 {
        self.free() & (COLUMN << (column as u32 * STRIDE))
    }

    fn after(self, disc: u64) -> Self {
        Self { own: self.own ^ self.all, all: self.all | disc, n_plies: self.n_plies + 1 }
    }

    fn wins(self, disc: u64) -> bool {
        wins(self.own) & disc != 0
    }

    fn can_win(self) -> bool {
        self.wins(self.free())
    }

    /// The score of winning with the next disc.
    fn win_now(self) -> i32 {
        (N_CELLS + 1 - self.n_plies) / 2
    }

    /// What an exact score means: the disc that ends the game is counted from the last of its seat.
    fn exactly(self, score: i32) -> Outcome {
        let n_discs = N_CELLS / 2 + 1 - score.abs();
        let n_plies = match score.signum() {
            1 => Some(2 * (n_discs - self.n_plies / 2) - 1),
            -1 => Some(2 * (n_discs - (self.n_plies + 1) / 2)),
            _ => None,
        };
        Outcome { sign: score.signum(), n_plies: n_plies.map(|n| n as u32) }
    }

    /// The least and the greatest score of a loss (−1), a draw (0) or a win (1).
    fn range(self, sign: i32) -> (i32, i32) {
        match sign {
            -1 => (-(N_CELLS - self.n_plies) / 2, -1),
            0 => (0, 0),
            _ => (1, self.win_now()),
        }
    }

    /// The moves after which the other cannot win at once; none when that cannot be helped.
    fn safe_moves(self) -> u64 {
        let mut free = self.free();
        let danger = wins(self.own ^ self.all) & BOARD;
        let forced = free & danger;
        if forced != 0 {
            if forced & (forced - 1) != 0 {
                return 0;
            }
            free = forced;
        }
        free & !(danger >> 1)
    }

    /// The safe moves one by one, the most promising first.
    fn moves(self) -> impl Iterator<Item = u64> {
        let moves = self.safe_moves();
        ORDER
            .into_iter()
            .map(move |column| moves & (COLUMN << (column * STRIDE)))
            .filter(|&disc| disc != 0)
    }

    /// Different for every position: per column a bit above the discs, and whose they are.
    fn key(self) -> u64 {
        self.own + (self.all + BOTTOM)
    }

    /// The same for a position and its mirror.
    fn canonical_key(self) -> u64 {
        let mirrored = Self { own: mirror(self.own), all: mirror(self.all), ..self };
        self.key().min(mirrored.key())
    }
}

/// The cells that complete a four of `discs`.
fn wins(discs: u64) -> u64 {
    let mut found = (discs << 1) & (discs << 2) & (discs << 3);
    for step in [STRIDE, STRIDE - 1, STRIDE + 1] {
        let pairs = (discs << step) & (discs << (2 * step));
        found |= pairs & (discs << (3 * step));
        found |= pairs & (discs >> step);
        let pairs = (discs >> step) & (discs >> (2 * step));
        found |= pairs & (discs << step);
        found |= pairs & (discs >> (3 * step));
    }
    found
}

fn mirror(discs: u64) -> u64 {
    (0..N_COLUMNS).fold(0, |mirrored, column| {
        let cells = (discs >> (column * STRIDE)) & COLUMN;
        mirrored | cells << ((N_COLUMNS - 1 - column) * STRIDE)
    })
}

/// Fibonacci hashing: the upper bits of a product with 2⁶⁴ over the golden ratio.
fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - TABLE_SIZE.ilog2())) as usize
}

/// The keys of the openings in the book, ascending.
fn book_keys() -> Vec<u64> {
    let mut level = vec![Position { own: 0, all: 0, n_plies: 0 }];
    let mut keys = Vec::new();
    for _ in 0..=BOOK_PLIES {
        level.sort_unstable_by_key(|position| position.canonical_key());
        level.dedup_by_key(|position| position.canonical_key());
        let open = level.iter().filter(|position| !position.can_win());
        keys.extend(open.map(|position| position.canonical_key()));
        level = level
            .iter()
            .flat_map(|&position| {
                let discs = ORDER.map(|column| position.disc(Action(column as usize)));
                discs
                    .into_iter()
                    .filter(move |&disc| disc != 0 && !position.wins(disc))
                    .map(move |disc| position.after(disc))
            })
            .collect();
    }
    keys.sort_unstable();
    keys
}

#[cfg(test)]
mod tests;
