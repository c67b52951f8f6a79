use std::fmt;
use std::str::FromStr;

use cartridge_games::tic_tac_toe::TicTacToe;
use cartridge_games::{GameSpec, ParseError, Scene, Spot};

use super::*;

fn tic_tac_toe(cells: &[usize]) -> TicTacToe {
    let mut game = TicTacToe::default();
    for &cell in cells {
        game.apply(Action(cell));
    }
    game
}

/// Plays `cells`, then compares the value of every legal action with `expected`.
#[track_caller]
fn check(cells: &[usize], expected: &[(usize, f32)]) {
    let expected: Vec<_> = expected.iter().map(|&(cell, value)| (Action(cell), value)).collect();
    assert_eq!(solve(&tic_tac_toe(cells)), expected);
}

/// Plays `cells`, then demands that the best actions are among `expected`, whatever the chance.
#[track_caller]
fn check_best(cells: &[usize], expected: &[usize]) {
    for seed in 0..20 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let Action(best) = best_action(&tic_tac_toe(cells), &mut rng).unwrap();
        assert!(expected.contains(&best), "{best} is not one of {expected:?}");
    }
}

#[test]
fn every_opening_is_a_draw() {
    let expected: Vec<_> = (0..9).map(|cell| (cell, 0.0)).collect();
    check(&[], &expected);
}

#[test]
fn a_corner_is_answered_in_the_centre() {
    let values = [1, 2, 3, 4, 5, 6, 7, 8].map(|cell| (cell, if cell == 4 { 0.0 } else { -1.0 }));
    check(&[0], &values);
}

#[test]
fn takes_a_win_at_once() {
    // xx. / oo. / ...
    check_best(&[0, 3, 1, 4], &[2]);
}

#[test]
fn blocks_a_threat() {
    // xx. / .o. / ...
    check_best(&[0, 4, 1], &[2]);
}

#[test]
fn loses_as_late_as_it_can() {
    // xo. / .x. / ... : all is lost, but only the corner stops the win on the next ply.
    check(&[0, 1, 4], &[2, 3, 5, 6, 7, 8].map(|cell| (cell, -1.0)));
    check_best(&[0, 1, 4], &[8]);
}

#[test]
fn nothing_is_left_when_over() {
    let over = tic_tac_toe(&[0, 3, 1, 4, 2]);
    assert_eq!(solve(&over), []);
    assert_eq!(best_action(&over, &mut fastrand::Rng::with_seed(0)), None);
}

#[test]
fn equals_are_chosen_at_random() {
    let mut rng = fastrand::Rng::with_seed(0);
    let mut seen = [false; 9];
    for _ in 0..100 {
        seen[best_action(&TicTacToe::default(), &mut rng).unwrap().0] = true;
    }
    assert_eq!(seen, [true; 9]);
}

#[test]
fn never_loses_to_chance() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut n_wins = 0;
    for round in 0..200 {
        let seat = Seat(round % 2);
        let mut game = TicTacToe::default();
        while let Turn::Seat(to_move) = game.turn() {
            let action = if to_move == seat {
                best_action(&game, &mut rng)
            } else {
                rng.choice(game.legal_actions().collect::<Vec<_>>())
            };
            game.apply(action.unwrap());
        }
        assert!(game.score(seat) >= 0.0, "lost round {round}:\n{game}");
        n_wins += usize::from(game.score(seat) > 0.0);
    }
    assert!(n_wins > 150, "only {n_wins} wins of 200");
}

/// Six coins; a ply takes one or two, taking two gives another turn, and the last coin wins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Coins {
    n_left: usize,
    to_move: usize,
    taker: usize,
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

    fn action_name(Action(action): Action) -> String {
        format!("take {}", action + 1)
    }
}

/// A seat that moves twice in a row is valued as itself both times. With 1 coin the mover wins;
/// with 2 it wins by taking both; with 3 it takes two and then the last one. So every number
/// wins by taking two, and taking one hands the win over.
#[test]
fn a_seat_may_move_twice() {
    for to_move in [0, 1] {
        for n_left in 2..=6 {
            let game = Coins { n_left, to_move, taker: 1 - to_move };
            assert_eq!(solve(&game), [(Action(0), -1.0), (Action(1), 1.0)], "{n_left} coins");
        }
    }
}
