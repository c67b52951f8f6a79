use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::conformance;

fn play(cells: &[usize]) -> TicTacToe {
    let mut game = TicTacToe::default();
    for &cell in cells {
        game.apply(Action(cell));
    }
    game
}

/// Plays `cells` in order and compares the final position and scores with `expected`.
#[track_caller]
fn check(cells: &[usize], expected: &str) {
    let game = play(cells);
    assert_eq!(
        format!("{game}{:?} {:?}", game.turn(), conformance::scores(&game)),
        expected.trim()
    );
}

#[test]
fn seats_alternate() {
    check(&[], "...\n...\n...\nSeat(Seat(0)) [0.0, 0.0]");
    check(&[4], "...\n.x.\n...\nSeat(Seat(1)) [0.0, 0.0]");
    check(&[4, 2], "..o\n.x.\n...\nSeat(Seat(0)) [0.0, 0.0]");
}

#[test]
fn rows_columns_and_diagonals_win() {
    check(&[0, 3, 1, 4, 2], "xxx\noo.\n...\nOver [1.0, -1.0]");
    check(&[0, 1, 3, 4, 8, 7], "xo.\nxo.\n.ox\nOver [-1.0, 1.0]");
    check(&[0, 1, 4, 2, 8], "xoo\n.x.\n..x\nOver [1.0, -1.0]");
    check(&[0, 2, 1, 4, 3, 6], "xxo\nxo.\no..\nOver [-1.0, 1.0]");
}

#[test]
fn a_full_board_is_a_draw() {
    check(&[0, 1, 2, 4, 3, 5, 7, 6, 8], "xox\nxoo\noxx\nOver [0.0, 0.0]");
}

#[test]
fn the_last_mark_may_win() {
    check(&[0, 1, 2, 3, 4, 5, 7, 6, 8], "xox\noxo\noxx\nOver [1.0, -1.0]");
}

#[test]
fn the_observation_is_marks_legal_cells_and_seat() {
    let mut seen = [f32::NAN; 29];
    play(&[0, 4, 8]).observe(Seat(0), &mut seen);
    let digits: String = seen.iter().map(|x| x.to_string()).collect();
    assert_eq!(digits, ["100000001", "000010000", "011101110", "01"].concat());
}

#[test]
fn planes_are_own_marks_and_other_marks() {
    let mut seen = [f32::NAN; 18];
    play(&[0, 4, 8]).observe_planes(Seat(1), &mut seen);
    let digits: String = seen.iter().map(|x| x.to_string()).collect();
    assert_eq!(digits, ["000010000", "100000001"].concat());
}

#[test]
fn hashes_never_change() {
    assert_eq!(play(&[]).hash64(), 0xe220_a839_7b1d_cdaf);
    assert_eq!(play(&[0, 4, 8]).hash64(), 0x1ed1_afef_21c0_28a1);
}

/// Compares the complaint about `text` with `expected`.
#[track_caller]
fn check_refused(text: &str, expected: &str) {
    assert_eq!(text.parse::<TicTacToe>().unwrap_err().reason, expected);
}

#[test]
fn impossible_positions_are_refused() {
    check_refused("", "there must be 3 rows of 3 cells");
    check_refused("...\n...\n..", "there must be 3 rows of 3 cells");
    check_refused("...\n.X.\n...", "a cell is `x`, `o` or `.`");
    check_refused("...\n.o.\n...", "`x` has as many marks as `o`, or one more");
    check_refused("xx.\n.x.\n...", "`x` has as many marks as `o`, or one more");
    check_refused("xxx\noo.\no..", "somebody moved after the win");
    check_refused("xxx\nooo\n...", "somebody moved after the win");
}

#[test]
#[should_panic(expected = "cell 4 is not free")]
fn a_cell_is_marked_once() {
    play(&[4, 4]);
}

/// Known counts; see for example Wikipedia, "Tic-tac-toe", section "Combinatorics".
#[test]
fn the_whole_game_tree() {
    fn count(game: &TicTacToe, positions: &mut HashSet<TicTacToe>) -> usize {
        positions.insert(game.clone());
        let mut n_games = usize::from(game.turn() == Turn::Over);
        for action in game.legal_actions() {
            let mut next = game.clone();
            next.apply(action);
            n_games += count(&next, positions);
        }
        n_games
    }
    let mut positions = HashSet::new();
    assert_eq!(count(&TicTacToe::default(), &mut positions), 255_168);
    assert_eq!(positions.len(), 5_478);
}

#[test]
fn the_scene_marks_the_win() {
    use crate::scene::{Paint, Shape};
    let n_accents = |cells: &[usize]| {
        let accent = |shape: &&Shape| matches!(shape, Shape::Line { stroke: Paint::Accent, .. });
        play(cells).scene().shapes.iter().filter(accent).count()
    };
    assert_eq!(n_accents(&[0, 3, 1, 4]), 0);
    assert_eq!(n_accents(&[0, 3, 1, 4, 2]), 1);
    assert_eq!(n_accents(&[0, 1, 2, 3, 6, 5, 8, 7, 4]), 2, "both diagonals at once");
}

#[test]
fn playthrough() {
    insta::assert_snapshot!(conformance::playthrough_game::<TicTacToe>(7));
}

proptest! {
    #[test]
    fn conforms(seed: u64) {
        conformance::check_game::<TicTacToe>(seed);
    }
}
