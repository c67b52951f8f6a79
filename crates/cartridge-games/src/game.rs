//! What a turn-based game must provide.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::scene::Scene;

/// A game in progress: a plain value, cheap to clone, that knows whose turn it is.
///
/// `Display` draws the position for people; it is what playthroughs and logs show. `FromStr`
/// reads that form back, and refuses what the rules cannot lead to.
pub trait Game:
    Clone + Debug + Display + FromStr<Err = ParseError> + PartialEq + Send + 'static
{
    /// Facts that hold for every position of the game.
    const SPEC: GameSpec;

    /// Number of symmetries of the board. They are numbered from 0, which changes nothing.
    const N_SYMMETRIES: usize;

    /// Whether [`urgent`](Self::urgent) is worth asking.
    const HAS_URGENT_ACTIONS: bool = false;

    /// The starting position. Games without chance ignore `rng`.
    fn start(rng: &mut fastrand::Rng) -> Self;

    /// Whose turn it is, or that the game is over.
    fn turn(&self) -> Turn;

    /// The legal actions, ascending; empty exactly when the game is over.
    fn legal_actions(&self) -> impl Iterator<Item = Action>;

    /// Plays `action`, which must be legal.
    fn apply(&mut self, action: Action);

    /// What `seat` has won so far, within [`GameSpec::scores`].
    fn score(&self, seat: Seat) -> f32;

    /// Writes what `seat` sees into `out`, which has [`GameSpec::observation`] elements.
    fn observe(&self, seat: Seat, out: &mut [f32]);

    /// Writes the board as planes relative to `seat` into `out`, which has the elements of
    /// [`GameSpec::planes`]: what `seat` owns, then what the other owns. Nothing says who `seat` is.
    fn observe_planes(&self, seat: Seat, out: &mut [f32]);

    /// The position turned or mirrored by `symmetry`; what holds for one holds for the other.
    fn transform(&self, symmetry: usize) -> Self;

    /// What `action` is called after [`transform`](Self::transform) by the same `symmetry`.
    fn transform_action(symmetry: usize, action: Action) -> Action;

    /// A hash of the position that never changes between versions of the program.
    fn hash64(&self) -> u64;

    /// An action that cannot wait, for games that can tell at a glance.
    fn urgent(&self) -> Option<Urgent> {
        None
    }

    /// An action that wins the game for the seat to move, at once or when everybody has done what is
    /// left to do without a choice, for games that can tell at a glance.
    fn decisive(&self) -> Option<Action> {
        match self.urgent() {
            Some(Urgent::Win(action)) => Some(action),
            Some(Urgent::Block(_)) | None => None,
        }
    }

    /// Plays random actions to the end and returns how many: [`random_action`] until over.
    ///
    /// A game that overrides this for speed draws the same numbers for the same actions.
    fn playout(&mut self, rng: &mut fastrand::Rng) -> usize {
        let mut n_plies = 0;
        while self.turn() != Turn::Over {
            self.apply(random_action(self, rng));
            n_plies += 1;
        }
        n_plies
    }

    /// The position as a picture.
    fn scene(&self) -> Scene;

    /// Where in the scene each action is chosen, one spot per action, in order.
    fn spots() -> Vec<Spot>;

    /// Whose pieces lie where `action` is chosen, the lowest first; none where there are none.
    ///
    /// It is what a screen reader says of a spot: who played there is another matter where pieces
    /// change hands.
    fn pieces(&self, action: Action) -> Vec<Seat>;

    /// The name of `action` for people, such as "top left".
    fn action_name(action: Action) -> String;
}

/// Facts that hold for every position of a game.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GameSpec {
    /// Stable name used on the command line, in addresses and in stored runs.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// Raised when behaviour changes; refactoring and speed-ups leave it alone.
    pub version: u32,
    /// Number of seats.
    pub n_seats: usize,
    /// Actions are `0..n_actions`.
    pub n_actions: usize,
    /// Number of elements of an observation.
    pub observation: usize,
    /// Shape of the player-relative planes: planes, rows, columns.
    pub planes: [usize; 3],
    /// No game lasts longer than this many plies.
    pub max_plies: usize,
    /// Least and greatest score of a seat.
    pub scores: (f32, f32),
}

impl GameSpec {
    /// Whether what one seat wins the other loses: two seats and scores that mirror each other.
    pub fn is_zero_sum(&self) -> bool {
        self.n_seats == 2 && self.scores.0 == -self.scores.1
    }
}

/// An action that cannot wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgent {
    /// The seat to move wins with it at once.
    Win(Action),
    /// The seat to move cannot win at once, and after any other action the other seat can, with
    /// this one.
    Block(Action),
}

/// Any legal action of a game that is not over, with equal chance.
pub fn random_action<G: Game>(game: &G, rng: &mut fastrand::Rng) -> Action {
    let n_legal = game.legal_actions().count();
    game.legal_actions().nth(pick(n_legal as u32, rng)).expect("the game is not over")
}

/// A number below `n`, with equal chance: the only way in which a playout meets chance.
#[inline]
pub(crate) fn pick(n: u32, rng: &mut fastrand::Rng) -> usize {
    rng.u32(..n) as usize
}

/// Why a text is not a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a position of {game}: {reason}")]
pub struct ParseError {
    /// Id of the game.
    pub game: &'static str,
    /// What is wrong.
    pub reason: String,
}

impl ParseError {
    /// The text is not a position of `G`.
    pub fn new<G: Game>(reason: impl Into<String>) -> Self {
        Self { game: G::SPEC.id, reason: reason.into() }
    }
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// This seat must act.
    Seat(Seat),
    /// The game has ended.
    Over,
}

/// A player's place at the table, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Seat(pub usize);

/// An index into the fixed list of actions of a game or environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Action(pub usize);

/// The rectangle of a scene in which an action is chosen, so that one component in the browser
/// serves every board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Spot {
    /// The action chosen here.
    pub action: Action,
    /// What a screen reader says, such as "top left".
    pub label: String,
    /// Left edge, in the units of the scene.
    pub x0: f32,
    /// Bottom edge.
    pub y0: f32,
    /// Right edge.
    pub x1: f32,
    /// Top edge.
    pub y1: f32,
}
