//! How often a network's own move changes the outcome of a position for the worse, where perfect play
//! is known: over all positions of tic-tac-toe, and over some of Connect 4 that are kept for it.

use std::collections::HashSet;

use cartridge_games::connect4::Connect4;
use cartridge_games::tic_tac_toe::TicTacToe;
use cartridge_games::{Action, Game, Turn};
use cartridge_learn::board_net::{BoardNet, Workspace};
use cartridge_search::minimax;

const CONNECT4: &str = include_str!("connect4_positions.txt");

/// Positions whose moves are known to be right or wrong.
#[derive(Debug)]
pub(crate) struct Held {
    /// The planes of all of them.
    planes: Vec<f32>,
    /// Of each, the moves, and whether each keeps the outcome.
    moves: Vec<Vec<(Action, bool)>>,
    work: Workspace,
}

/// The shares of positions in which a network errs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ValueErrors {
    /// Of all of them.
    pub(crate) all: f64,
    /// Of those in which one can err.
    pub(crate) hard: f64,
}

impl Held {
    /// The positions of a game, where there are some.
    pub(crate) fn of(game: &str) -> Option<Self> {
        match game {
            "tictactoe" => Some(tic_tac_toe()),
            "connect4" => Some(connect4()),
            _ => None,
        }
    }

    fn new<G: Game>(judged: impl Iterator<Item = (G, Vec<(Action, bool)>)>) -> Self {
        let n_inputs: usize = G::SPEC.planes.iter().product();
        let (mut planes, mut moves) = (Vec::new(), Vec::new());
        for (game, judged) in judged {
            let Turn::Seat(seat) = game.turn() else { continue };
            let from = planes.len();
            planes.resize(from + n_inputs, 0.0);
            game.observe_planes(seat, &mut planes[from..]);
            moves.push(judged);
        }
        Self { planes, moves, work: Workspace::default() }
    }

    /// How often the network errs without a search.
    pub(crate) fn errors(&mut self, network: &BoardNet) -> ValueErrors {
        let n_actions = network.shape().n_actions;
        let mut logits = vec![0.0; self.moves.len() * n_actions];
        let mut values = vec![0.0; self.moves.len()];
        network.infer(&mut self.work, &self.planes, &mut logits, &mut values);
        let (mut n_errors, mut n_hard) = (0, 0);
        for (moves, logits) in self.moves.iter().zip(logits.chunks_exact(n_actions)) {
            let logit = |action: Action| logits[action.0];
            let chosen = moves.iter().max_by(|(a, _), (b, _)| logit(*a).total_cmp(&logit(*b)));
            n_errors += usize::from(chosen.is_some_and(|(_, keeps)| !keeps));
            n_hard += usize::from(moves.iter().any(|(_, keeps)| !keeps));
        }
        let share = |n: usize| n_errors as f64 / n.max(1) as f64;
        ValueErrors { all: share(self.moves.len()), hard: share(n_hard) }
    }
}

fn connect4() -> Held {
    let lines = CONNECT4.lines().filter(|line| !line.starts_with('#'));
    Held::new(lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        let mut game = Connect4::start(&mut fastrand::Rng::with_seed(0));
        for column in words.next()?.bytes() {
            game.apply(Action(usize::from(column - b'1')));
        }
        let scores: Vec<(Action, i32)> = words
            .enumerate()
            .filter_map(|(column, score)| Some((Action(column), score.parse().ok()?)))
            .collect();
        let best = scores.iter().map(|(_, score)| score.signum()).max()?;
        let moves = scores.iter().map(|(action, score)| (*action, score.signum() == best));
        Some((game, moves.collect()))
    }))
}

fn tic_tac_toe() -> Held {
    let mut seen = HashSet::new();
    let mut open = vec![TicTacToe::start(&mut fastrand::Rng::with_seed(0))];
    let mut judged = Vec::new();
    while let Some(game) = open.pop() {
        if game.turn() == Turn::Over || !seen.insert(game.hash64()) {
            continue;
        }
        let scores = minimax::solve(&game);
        let best = scores.iter().map(|(_, score)| *score).fold(f32::NEG_INFINITY, f32::max);
        let moves = scores.iter().map(|(action, score)| (*action, *score >= best)).collect();
        open.extend(game.legal_actions().map(|action| {
            let mut next = game.clone();
            next.apply(action);
            next
        }));
        judged.push((game, moves));
    }
    Held::new(judged.into_iter())
}

#[cfg(test)]
mod tests {
    use cartridge_learn::board_net::{Preset, Shape};

    use super::*;

    #[test]
    fn held_positions_are_whole() {
        let (tic_tac_toe, connect4) = (tic_tac_toe(), connect4());
        assert_eq!((tic_tac_toe.moves.len(), connect4.moves.len()), (4_520, 240));
        for held in [tic_tac_toe, connect4] {
            let keeps_one = |moves: &Vec<(Action, bool)>| moves.iter().any(|(_, keeps)| *keeps);
            assert!(held.moves.iter().all(keeps_one), "every position has a best move");
        }
        assert!(Held::of("othello").is_none());
    }

    #[test]
    fn who_knows_nothing_errs_as_often_as_chance_does() {
        let mut rng = fastrand::Rng::with_seed(1);
        let shape = Shape::of(&Connect4::SPEC);
        let network = BoardNet::new(shape, &Preset::Small.config(), &mut rng).unwrap();
        let errors = connect4().errors(&network);
        assert!((0.2..0.55).contains(&errors.all), "{errors:?}");
        assert!(errors.hard > errors.all, "{errors:?}");
    }
}
