use cartridge_games::game::Turn;
use cartridge_games::registry::games;

use super::*;

/// The hint after some actions, in a sentence.
#[track_caller]
fn check(game: &str, actions: &[usize], expected: &str) {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut position = AnyGame::start(game, &mut rng).unwrap();
    for &action in actions {
        position.apply(Action(action));
    }
    assert_eq!(Hint::new(&position, &mut rng).sentence(&position), expected);
}

#[test]
fn exact_hints_say_how_soon() {
    // x x . / o o . / . . .
    check("tictactoe", &[0, 3, 1, 4], "Perfect play would play top right: wins at once.");
    // The middle column wins with the 41st disc (Allis 1988).
    check("connect4", &[], "Perfect play would play column 4: wins in 21.");
    // x o . / . x . / . . .: the corner must be answered, and then x threatens twice.
    check("tictactoe", &[0, 1, 4], "Perfect play would play bottom right: loses in 2.");
}

#[test]
fn where_nobody_knows_the_hint_is_the_strongest_levels() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut game = AnyGame::start("othello", &mut rng).unwrap();
    let hint = Hint::new(&game, &mut rng);
    for spec in games() {
        let start = AnyGame::start(spec.id, &mut rng).unwrap();
        assert_eq!(Hint::new(&start, &mut rng).by, Opponent::strongest(spec.id), "{}", spec.id);
    }
    let Verdict::Judgement { value } = hint.verdict else { panic!("{hint:?}") };
    assert!(value.abs() < 0.5, "{hint:?}");
    // Near the end it has seen what it says.
    let mut last = None;
    while let Turn::Seat(_) = game.turn() {
        last = Some(Hint::new(&game, &mut rng).verdict);
        game.apply(Opponent::Random.choose(&game, &mut rng));
    }
    assert!(!matches!(last, Some(Verdict::Judgement { .. })), "{last:?}");
}

/// What is promised comes true: wins in N are won with the Nth move against perfect defence.
#[test]
fn promised_wins_are_kept() {
    for (game, actions) in [("tictactoe", &[0, 1][..]), ("connect4", &[3, 3, 3, 3, 3, 2, 3, 0])] {
        let mut rng = fastrand::Rng::with_seed(7);
        let mut position = AnyGame::start(game, &mut rng).unwrap();
        for &action in actions {
            position.apply(Action(action));
        }
        let Turn::Seat(winner) = position.turn() else { unreachable!() };
        let Verdict::Win { n_moves: Some(mut left) } = Hint::new(&position, &mut rng).verdict
        else {
            panic!("{game} is won here")
        };
        while let Turn::Seat(seat) = position.turn() {
            let hint = Hint::new(&position, &mut rng);
            if seat == winner {
                assert_eq!(hint.verdict, Verdict::Win { n_moves: Some(left) }, "{position}");
                left -= 1;
            } else {
                assert_eq!(hint.verdict, Verdict::Loss { n_moves: Some(left) }, "{position}");
            }
            position.apply(hint.action);
        }
        assert_eq!((left, position.score(winner) > 0.0), (0, true));
    }
}
