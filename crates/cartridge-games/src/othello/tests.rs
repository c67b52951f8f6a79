use proptest::prelude::*;

use super::*;
use crate::conformance;
use crate::scene::{Paint, Shape};

/// Plays squares such as `f5` and `pass`, separated by spaces.
fn play(names: &str) -> Othello {
    let mut game = Othello::default();
    for name in names.split_whitespace() {
        let mut actions = (0..=PASS).map(Action);
        game.apply(actions.find(|&action| Othello::action_name(action) == name).unwrap());
    }
    game
}

fn legal(game: &Othello) -> String {
    let names: Vec<String> = game.legal_actions().map(Othello::action_name).collect();
    names.join(" ")
}

#[test]
fn a_disc_belongs_to_who_turned_it_last() {
    let mut game = Othello::start(&mut fastrand::Rng::new());
    let square = |name: &str| {
        Action((0..PASS).find(|&square| Othello::action_name(Action(square)) == name).unwrap())
    };
    let d3 = square("d3");
    let before = game.pieces(square("d4"));
    assert!(game.pieces(d3).is_empty());
    game.apply(d3);
    assert_eq!(game.pieces(d3), [Seat(0)]);
    assert_eq!((before, game.pieces(square("d4"))), (vec![Seat(1)], vec![Seat(0)]));
    assert!(game.pieces(Action(PASS)).is_empty(), "passing is no square");
}

#[test]
fn discs_turn_in_every_direction() {
    assert_eq!(legal(&play("")), "d3 c4 f5 e6");
    assert_eq!(legal(&play("f5")), "f4 d6 f6");
    let game = play("f5 d6 c3 d3 c4");
    assert_eq!(
        game.to_string(),
        "  abcdefgh\n\
         1 ........\n\
         2 ........\n\
         3 ..xo....\n\
         4 ..xxx...\n\
         5 ...oxx..\n\
         6 ...o....\n\
         7 ........\n\
         8 ........\n\
         o to move\n"
    );
}

/// The shortest game there is; see Wikipedia, "Computer Othello", and many others.
#[test]
fn the_shortest_game_is_a_wipe_out() {
    let game = play("e6 f4 e3 f6 g5 d6 e7 f5 c5");
    assert_eq!(legal(&game), "pass");
    assert_eq!(game.discs(Seat(1)), 0);
    assert_eq!((game.turn(), game.score(Seat(0))), (Turn::Seat(Seat(1)), 0.0));
    let game = play("e6 f4 e3 f6 g5 d6 e7 f5 c5 pass");
    assert_eq!((legal(&game), game.turn()), ("pass".to_owned(), Turn::Seat(Seat(0))));
    let game = play("e6 f4 e3 f6 g5 d6 e7 f5 c5 pass pass");
    assert_eq!((legal(&game), game.turn()), (String::new(), Turn::Over));
    assert_eq!((game.score(Seat(0)), game.score(Seat(1))), (1.0, -1.0));
}

const MUST_PASS: &str = "\
    xxxxxxx.\n\
    xxxxxxxx\n\
    xxxxxxxx\n\
    xxxxxxxx\n\
    xxxxxxxx\n\
    xxxxxxxx\n\
    xxxxxxxx\n\
    oxxxxxxo\n";

#[test]
fn a_seat_without_a_move_passes_and_the_other_goes_on() {
    let mut game: Othello = format!("{MUST_PASS}x to move").parse().unwrap();
    assert_eq!(legal(&game), "pass");
    game.apply(Action(PASS));
    assert_eq!((legal(&game), game.turn()), ("h1".to_owned(), Turn::Seat(Seat(1))));
    game.apply(Action(7));
    assert_eq!(game.n_passes, 0, "a disc ends the row of passes");
    game.apply(Action(PASS));
    game.apply(Action(PASS));
    assert_eq!((game.turn(), game.score(Seat(0))), (Turn::Over, 1.0));
}

#[test]
fn turning_the_last_discs_is_decisive() {
    let name = |game: Othello| game.decisive().map(Othello::action_name);
    assert_eq!(name(play("e6 f4 e3 f6 g5 d6 e7 f5")), Some("c5".to_owned()));
    assert_eq!(name(play("e6 f4 c3 c6 c4 d6 g4 c5 c7 f3")), Some("g2".to_owned()));
    for none in [
        "",
        "e6 f4 e3 f6 g5 d6 e7",
        "e6 f4 e3 f6 g5 d6 e7 f5 c5",
        "e6 f4 e3 f6 g5 d6 e7 f5 c5 pass pass",
    ] {
        assert_eq!(name(play(none)), None, "{none}");
    }
}

#[test]
#[should_panic(expected = "passing needs a position without a move")]
fn nobody_passes_who_has_a_move() {
    play("pass");
}

#[test]
#[should_panic(expected = "square 0 encloses nothing")]
fn a_move_turns_discs() {
    play("a1");
}

#[test]
fn the_observation_is_discs_legal_actions_and_seat() {
    let mut seen = [f32::NAN; 195];
    play("f5").observe(Seat(0), &mut seen);
    let ones: Vec<usize> = (0..195).filter(|&index| seen[index] == 1.0).collect();
    assert_eq!(ones, [28, 35, 36, 37, 64 + 27, 128 + 29, 128 + 43, 128 + 45, 194]);
    assert!(seen.iter().all(|x| [0.0, 1.0].contains(x)));
}

#[test]
fn hashes_never_change() {
    assert_eq!(play("").hash64(), 0xda7a_e78a_fbb9_3609);
    assert_eq!(play("f5 d6").hash64(), 0xad12_b540_f9e5_dc28);
}

/// Compares the complaint about `text` with `expected`.
#[track_caller]
fn check_refused(text: &str, expected: &str) {
    assert_eq!(text.parse::<Othello>().unwrap_err().reason, expected);
}

#[test]
fn impossible_positions_are_refused() {
    let start = play("").to_string();
    check_refused("", "there must be 8 rows of 8 squares, and a line that says whose turn it is");
    check_refused(&start.replace('x', "X"), "a square is `x`, `o` or `.`");
    check_refused(&start.replace("xo", ".o"), "the four squares in the middle are never empty");
    check_refused(
        &start.replace("to move", "moves"),
        "the last line is like `x to move`, `o to move after a pass` or `over`",
    );
    check_refused(
        &start.replace("to move", "to move after a pass"),
        "somebody passed who had a move",
    );
    check_refused(&format!("{MUST_PASS}over"), "the game is not over");
}

/// Counts of Aart Bik's and others' programs; a pass counts as a ply.
#[test]
fn perft() {
    let expected = [1, 4, 12, 56, 244, 1_396, 8_200, 55_092, 390_216, 3_005_288, 24_571_284];
    for (depth, expected) in expected.into_iter().enumerate() {
        assert_eq!(conformance::perft(&Othello::default(), depth), expected, "depth {depth}");
    }
}

#[test]
fn the_scene_marks_the_last_disc_and_the_pass() {
    let shapes = play("f5").scene().shapes;
    assert!(shapes.contains(&Shape::disc([5.5, 3.5], 0.09, Paint::Hole)));
    let pass = |text: &str| {
        let shapes = text.parse::<Othello>().unwrap().scene().shapes;
        let Some(Shape::Text { paint, .. }) = shapes.last().cloned() else { panic!("no text") };
        paint
    };
    assert_eq!(pass(&play("").to_string()), Paint::BoardLine);
    assert_eq!(pass(&format!("{MUST_PASS}x to move")), Paint::Accent);
}

#[test]
fn playthrough() {
    insta::assert_snapshot!(conformance::playthrough_game::<Othello>(7));
}

proptest! {
    #[test]
    fn conforms(seed: u64) {
        conformance::check_game::<Othello>(seed);
    }

    #[test]
    fn the_nth_square_is_the_nth(set in 1_u64..) {
        let choice = Choice::new(set);
        prop_assert_eq!(choice.count(), set.count_ones());
        let squares: Vec<usize> = (0..64).filter(|square| set >> square & 1 != 0).collect();
        for (n, square) in squares.into_iter().enumerate() {
            prop_assert_eq!(choice.nth(n), square);
        }
    }
}
