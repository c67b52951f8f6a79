use cartridge_games::tic_tac_toe::TicTacToe;

use super::*;
use crate::coins::Coins;

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
