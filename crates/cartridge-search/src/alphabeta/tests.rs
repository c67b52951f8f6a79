use cartridge_games::connect4::Connect4;
use cartridge_games::othello::Othello;
use cartridge_games::random_action;
use cartridge_games::tic_tac_toe::TicTacToe;

use super::*;
use crate::coins::Coins;
use crate::heuristics::Heuristic;
use crate::minimax;

/// The value of a position for `seat` by looking at everything, without a cut.
fn plain_value<G: Game>(game: &G, seat: Seat, depth: usize, heuristic: fn(&G, Seat) -> f32) -> f32 {
    let Turn::Seat(to_move) = game.turn() else {
        return game.score(seat) * (1 + depth) as f32;
    };
    if depth == 0 {
        return heuristic(game, seat);
    }
    let values = game
        .legal_actions()
        .map(|action| plain_value(&after(game, action), seat, depth - 1, heuristic));
    if to_move == seat {
        values.fold(f32::NEG_INFINITY, f32::max)
    } else {
        values.fold(f32::INFINITY, f32::min)
    }
}

/// Compares the search with one that never cuts, all along random games.
#[track_caller]
fn check_plain<G: Game>(depth: usize, n_games: usize, heuristic: fn(&G, Seat) -> f32) {
    let mut rng = fastrand::Rng::with_seed(3);
    for _ in 0..n_games {
        let mut game = G::start(&mut rng);
        while let Turn::Seat(seat) = game.turn() {
            let (action, value) = best_action(&game, depth, heuristic, &mut rng).unwrap();
            assert_eq!(value, plain_value(&game, seat, depth, heuristic), "\n{game}");
            let after = plain_value(&after(&game, action), seat, depth - 1, heuristic);
            assert_eq!(value, after, "the action has the value\n{game}");
            game.apply(random_action(&game, &mut rng));
        }
        assert_eq!(best_action(&game, depth, heuristic, &mut rng), None);
    }
}

#[test]
fn cuts_change_nothing() {
    check_plain(4, 10, TicTacToe::heuristic);
    check_plain(5, 10, Connect4::heuristic);
    check_plain(3, 3, Othello::heuristic);
    check_plain(6, 20, |_: &Coins, _| 0.0);
}

#[test]
fn a_seat_may_move_twice() {
    for to_move in [0, 1] {
        for n_left in 2..=6 {
            let game = Coins { n_left, to_move, taker: 1 - to_move };
            let mut rng = fastrand::Rng::with_seed(0);
            let (action, value) = best_action(&game, 6, |_, _| 0.0, &mut rng).unwrap();
            assert_eq!(action, Action(1), "{n_left} coins");
            assert!(value >= 1.0);
        }
    }
}

#[test]
fn deep_enough_it_is_perfect() {
    let mut rng = fastrand::Rng::with_seed(5);
    for _ in 0..20 {
        let mut game = TicTacToe::start(&mut rng);
        while game.turn() != Turn::Over {
            let (action, value) = best_action(&game, 9, TicTacToe::heuristic, &mut rng).unwrap();
            let exact = minimax::solve(&game);
            let best = exact.iter().map(|&(_, value)| value).fold(f32::NEG_INFINITY, f32::max);
            assert!(exact.contains(&(action, best)), "{action:?} is not among {exact:?}\n{game}");
            assert_eq!(value.clamp(-1.0, 1.0), best);
            game.apply(random_action(&game, &mut rng));
        }
    }
}

/// Drops discs into the columns, then demands the action, whatever the chance.
#[track_caller]
fn check(columns: &str, depth: usize, expected: usize) {
    let mut game = Connect4::default();
    for column in columns.bytes() {
        game.apply(Action(usize::from(column - b'1')));
    }
    for seed in 0..10 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (action, _) = best_action(&game, depth, Connect4::heuristic, &mut rng).unwrap();
        assert_eq!(action, Action(expected - 1), "\n{game}");
    }
}

#[test]
fn wins_at_once_and_defends_in_time() {
    check("414141", 1, 4);
    check("414141", 6, 4);
    check("41414", 2, 4);
    check("41414", 6, 4);
}
