//! A tiny game for tests, in which a seat may move twice in a row.

use std::fmt;
use std::str::FromStr;

use cartridge_games::{Action, Game, GameSpec, ParseError, Scene, Seat, Spot, Turn};

/// Six coins; a ply takes one or two, taking two gives another turn, and the last coin wins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Coins {
    pub(crate) n_left: usize,
    pub(crate) to_move: usize,
    pub(crate) taker: usize,
}

impl fmt::Display for Coins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} left", self.n_left)
    }
}

impl FromStr for Coins {
    type Err = ParseError;

    fn from_str(_text: &str) -> Result<Self, ParseError> {
        Err(ParseError::new::<Self>("coins are not written down"))
    }
}

impl Game for Coins {
    const SPEC: GameSpec = GameSpec {
        id: "coins",
        name: "Coins",
        version: 1,
        n_seats: 2,
        n_actions: 2,
        observation: 1,
        planes: [0, 0, 0],
        max_plies: 6,
        scores: (-1.0, 1.0),
    };
    const N_SYMMETRIES: usize = 1;

    fn start(_rng: &mut fastrand::Rng) -> Self {
        Self { n_left: 6, to_move: 0, taker: 0 }
    }

    fn turn(&self) -> Turn {
        if self.n_left == 0 { Turn::Over } else { Turn::Seat(Seat(self.to_move)) }
    }

    fn legal_actions(&self) -> impl Iterator<Item = Action> {
        (0..self.n_left.min(2)).map(Action)
    }

    fn apply(&mut self, Action(action): Action) {
        self.n_left -= action + 1;
        self.taker = self.to_move;
        if action == 0 {
            self.to_move = 1 - self.to_move;
        }
    }

    fn score(&self, Seat(seat): Seat) -> f32 {
        match (self.n_left, self.taker == seat) {
            (0, true) => 1.0,
            (0, false) => -1.0,
            _ => 0.0,
        }
    }

    fn observe(&self, _seat: Seat, out: &mut [f32]) {
        out[0] = self.n_left as f32;
    }

    fn observe_planes(&self, _seat: Seat, _out: &mut [f32]) {}

    fn transform(&self, _symmetry: usize) -> Self {
        self.clone()
    }

    fn transform_action(_symmetry: usize, action: Action) -> Action {
        action
    }

    fn hash64(&self) -> u64 {
        (self.n_left * 4 + self.to_move * 2 + self.taker) as u64
    }

    fn scene(&self) -> Scene {
        Scene { view: [0.0, 0.0, 1.0, 1.0], shapes: Vec::new() }
    }

    fn spots() -> Vec<Spot> {
        Vec::new()
    }

    fn pieces(&self, _action: Action) -> Vec<Seat> {
        Vec::new()
    }

    fn action_name(Action(action): Action) -> String {
        format!("take {}", action + 1)
    }
}
