use proptest::prelude::*;

use super::*;
use crate::conformance;
use crate::scene::{Paint, Shape};

/// Drops discs into the columns `1` to `7`.
fn play(columns: &str) -> Connect4 {
    let mut game = Connect4::default();
    for column in columns.bytes() {
        game.apply(Action(usize::from(column - b'1')));
    }
    game
}

/// Plays `columns` and compares the lowest rows of the final position and its end with `expected`.
#[track_caller]
fn check(columns: &str, expected: &str) {
    let game = play(columns);
    let text = game.to_string();
    let n_rows = expected.trim().lines().count() - 1;
    let rows: Vec<&str> = text.lines().skip(N_ROWS - n_rows).take(n_rows).collect();
    let end = format!("{:?} {:?}", game.turn(), conformance::scores(&game));
    assert_eq!([&rows[..], &[&end]].concat().join("\n"), expected.trim());
}

#[test]
fn discs_fall() {
    check("", "Seat(Seat(0)) [0.0, 0.0]");
    check("44", "...o...\n...x...\nSeat(Seat(0)) [0.0, 0.0]");
    check("1726543", "xxxoxoo\nSeat(Seat(1)) [0.0, 0.0]");
}

#[test]
fn rows_columns_and_diagonals_win() {
    check("1122334", "ooo....\nxxxx...\nOver [1.0, -1.0]");
    check("7172737", "......x\n......x\n......x\nooo...x\nOver [1.0, -1.0]");
    check("71726364", ".....xx\noooo.xx\nOver [-1.0, 1.0]");
    check("12233434464", "...x...\n..xx...\n.xxo...\nxooo.o.\nOver [1.0, -1.0]");
    check("76655454424", "...x...\n...xx..\n...oxx.\n.o.ooox\nOver [1.0, -1.0]");
}

#[test]
fn a_full_board_is_a_draw() {
    let columns = "121212212121343434434343565656656565777777";
    let game = play(columns);
    assert_eq!(game.turn(), Turn::Over);
    assert_eq!(conformance::scores(&game), [0.0, 0.0], "\n{game}");
}

#[test]
fn a_full_column_is_not_legal() {
    let full = play("444444");
    assert_eq!(full.legal_actions().map(|action| action.0).collect::<Vec<_>>(), [0, 1, 2, 4, 5, 6]);
}

#[test]
#[should_panic(expected = "column 3 cannot be played")]
fn a_full_column_takes_no_disc() {
    play("4444444");
}

/// Four in a row somewhere, by looking at every four cells one by one.
fn has_four_slowly(discs: u64) -> bool {
    let owns = |row: i32, column: i32| {
        (0..6).contains(&row) && (0..7).contains(&column) && discs >> (column * 7 + row) & 1 != 0
    };
    (0..6).any(|row| {
        (0..7).any(|column| {
            [(0, 1), (1, 0), (1, 1), (1, -1)]
                .iter()
                .any(|(up, right)| (0..4).all(|n| owns(row + n * up, column + n * right)))
        })
    })
}

#[test]
fn the_observation_is_discs_legal_columns_and_seat() {
    let mut seen = [f32::NAN; 93];
    play("1114").observe(Seat(0), &mut seen);
    let digits: String = seen.iter().map(|x| x.to_string()).collect();
    let red = "100000000000001000000000000000000000000000";
    let yellow = "000100010000000000000000000000000000000000";
    assert_eq!(digits, [red, yellow, "1111111", "10"].concat());
}

#[test]
fn hashes_never_change() {
    assert_eq!(play("").hash64(), 0x0573_1d9a_bccc_f785);
    assert_eq!(play("4435").hash64(), 0xea2e_14b5_2899_ad95);
    assert_eq!(play("4152").hash64(), play("5241").hash64(), "the order does not matter");
}

/// Compares the complaint about `text` with `expected`.
#[track_caller]
fn check_refused(rows: &str, expected: &str) {
    let text = format!("{}{rows}", ".......\n".repeat(5 - rows.matches('\n').count()));
    assert_eq!(text.parse::<Connect4>().unwrap_err().reason, expected);
}

#[test]
fn impossible_positions_are_refused() {
    check_refused("......", "there must be 6 rows of 7 cells");
    check_refused("...X...", "a cell is `x`, `o` or `.`");
    check_refused("...x...\n.......", "a disc floats");
    check_refused("...o...", "`x` has as many discs as `o`, or one more");
    check_refused("xxxx...\noooo...", "somebody moved after the win");
    check_refused("ooo....\nxxxxo..", "somebody moved after the win");
}

/// Counts of John Tromp's page on Connect Four and many others; see also the fact sheet.
#[test]
fn perft() {
    let expected = [1, 7, 49, 343, 2_401, 16_807, 117_649, 823_536, 5_673_234, 39_394_572];
    for (depth, expected) in expected.into_iter().enumerate() {
        assert_eq!(conformance::perft(&Connect4::default(), depth), expected, "depth {depth}");
    }
}

#[test]
fn the_scene_marks_the_win_and_the_last_disc() {
    let n_lines = |columns: &str| {
        let accent = |shape: &&Shape| matches!(shape, Shape::Line { stroke: Paint::Accent, .. });
        play(columns).scene().shapes.iter().filter(accent).count()
    };
    assert_eq!(n_lines("112233"), 0);
    assert_eq!(n_lines("1122334"), 1);
    let last = play("112233").scene().shapes.pop().unwrap();
    assert_eq!(last, Shape::disc([2.5, 1.5], 0.09, Paint::Hole));
}

#[test]
fn playthrough() {
    insta::assert_snapshot!(conformance::playthrough_game::<Connect4>(7));
}

proptest! {
    #[test]
    fn conforms(seed: u64) {
        conformance::check_game::<Connect4>(seed);
    }

    #[test]
    fn fours_are_found_and_nothing_else(discs: u64) {
        let discs = discs & (BOTTOM * COLUMN);
        prop_assert_eq!(has_four(discs), has_four_slowly(discs));
    }

    #[test]
    fn threats_are_the_cells_that_make_four(seed: u64, n_plies in 0_usize..30) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut game = Connect4::default();
        for _ in 0..n_plies {
            if game.turn() != Turn::Over {
                game.apply(crate::random_action(&game, &mut rng));
            }
        }
        for seat in (0..2).map(Seat).filter(|&Seat(seat)| !has_four(game.discs[seat])) {
            let empty = (BOTTOM * COLUMN) & !game.occupied();
            let expected = (0..49)
                .map(|bit| 1 << bit)
                .filter(|cell| empty & cell != 0 && has_four_slowly(game.discs(seat) | cell))
                .fold(0, |cells, cell| cells | cell);
            prop_assert_eq!(game.threats(seat), expected, "{:?} in\n{}", seat, game);
        }
    }
}
