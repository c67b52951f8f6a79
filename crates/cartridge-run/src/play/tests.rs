use std::path::PathBuf;

use cartridge_store::DataDir;

use super::*;
use crate::launch::Launcher;
use crate::queue::Limits;

/// Who plays.
const ADA: &str = "ada";

fn lab(folder: &tempfile::TempDir) -> Lab {
    let launcher = Launcher {
        program: PathBuf::from("/nonexistent"),
        version: "0.0.0".to_owned(),
        stop_grace: std::time::Duration::ZERO,
        is_lab: false,
    };
    Lab::open(DataDir::open(folder.path()).unwrap(), launcher, Limits::of_machine()).unwrap()
}

/// Plays the game to its end with the first legal action each time.
fn finish(lab: &Lab, mut play: Play) -> Play {
    while play.outcome().is_none() {
        let action = play.game.legal_actions()[0].0;
        play = lab.play_move(ADA, &play.manifest.id, action, play.moves.len() as u32).unwrap();
    }
    play
}

#[test]
fn games_side_by_side_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab(&folder);
    let one = lab.new_play(ADA, "tictactoe", "builtin:perfect", Side::First).unwrap();
    let two = lab.new_play(ADA, "tictactoe", "builtin:random", Side::Second).unwrap();
    assert_eq!((one.moves.len(), two.moves.len()), (0, 1));
    let one = lab.play_move(ADA, &one.manifest.id, 4, 0).unwrap();
    assert_eq!(one.moves.len(), 2);
    assert_eq!(lab.play(&two.manifest.id).unwrap().moves, two.moves);
    let newest: Vec<RunId> =
        lab.plays(Some(ADA), 9).unwrap().into_iter().map(|play| play.manifest.id).collect();
    assert_eq!(newest, [two.manifest.id, one.manifest.id]);
}

#[test]
fn a_game_survives_a_restart_of_the_lab() {
    let folder = tempfile::tempdir().unwrap();
    let first = lab(&folder);
    let play = first.new_play(ADA, "tictactoe", "builtin:perfect", Side::First).unwrap();
    let play = first.play_move(ADA, &play.manifest.id, 0, 0).unwrap();
    drop(first);
    let second = lab(&folder);
    let again = second.play(&play.manifest.id).unwrap();
    assert_eq!((again.game.clone(), again.moves.clone()), (play.game, play.moves));
    assert_ne!(finish(&second, again).outcome(), Some(Outcome::Win));
}

#[test]
fn a_game_belongs_to_who_began_it() {
    let folder = tempfile::tempdir().unwrap();
    let first = lab(&folder);
    let of = |lab: &Lab, who: Option<&str>| -> Vec<String> {
        let plays = lab.plays(who, 9).unwrap().into_iter();
        plays.map(|play| play.manifest.id.to_string()).collect()
    };
    let ada = first.new_play(ADA, "tictactoe", "builtin:perfect", Side::First).unwrap();
    let bob = first.new_play("bob", "tictactoe", "builtin:perfect", Side::First).unwrap();
    assert_eq!((&ada.owner[..], &bob.owner[..]), (ADA, "bob"));
    // What a terminal begins, and what older labs began, is of whoever holds the lab.
    let (door, side) = (Door::CommandLine, Side::First);
    let new = NewPlay {
        game: "tictactoe",
        opponent: "builtin:perfect",
        door,
        side,
        seed: 1,
        owner: ADMIN,
    };
    let own = Play::begin(&first.data, "0.0.0", new).unwrap();
    first.adopt(&own.manifest.id).unwrap();
    assert_eq!(own.manifest.config.get("owner"), None);
    drop(first);
    let lab = lab(&folder);
    let [ada, bob, own] = [ada, bob, own].map(|play| play.manifest.id);
    assert_eq!(of(&lab, Some(ADA)), [ada.to_string()]);
    assert_eq!(of(&lab, Some("bob")), [bob.to_string()]);
    assert_eq!(of(&lab, Some(ADMIN)), [own.to_string()]);
    assert_eq!(of(&lab, None), [&own, &bob, &ada].map(RunId::to_string));
    let is_refused = |error: RunError| {
        assert_eq!(
            error.to_string(),
            "this is a game of ada's: you can look at it, and begin one of your own"
        );
    };
    lab.play_move(ADA, &ada, 0, 0).unwrap();
    for who in ["bob", ADMIN] {
        is_refused(lab.play_move(who, &ada, 8, 2).unwrap_err());
        is_refused(lab.play_undo(who, &ada, None).unwrap_err());
        is_refused(lab.play_hint(who, &ada, None).unwrap_err());
        is_refused(lab.play_think(who, &ada, None, None).unwrap_err());
    }
    assert_eq!(lab.play(&ada).unwrap().moves.len(), 2, "anybody may look");
    let by = |who, role| By { role: Some(role), ..By::new(who) };
    is_refused(lab.delete_run(&ada, by("bob", Role::Operator)).unwrap_err());
    lab.delete_run(&ada, by(ADMIN, Role::Admin)).unwrap();
}

#[test]
fn an_answer_that_a_crash_left_out_is_made_up_for() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab(&folder);
    let play = lab.new_play(ADA, "tictactoe", "builtin:perfect", Side::First).unwrap();
    let id = play.manifest.id.clone();
    let answered = lab.play_move(ADA, &id, 0, 0).unwrap();
    // The person's move is on disk, the answer is not.
    let path = lab.data.run(&id).events_path();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.lines().next().unwrap().to_owned() + "\n").unwrap();
    assert_eq!(lab.play(&id).unwrap().moves, answered.moves, "and it is the same answer");
}

#[test]
fn perfect_never_loses_and_random_can_be_beaten() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab(&folder);
    let outcomes = |opponent: &str, side| -> Vec<Option<Outcome>> {
        (0..20)
            .map(|_| {
                finish(&lab, lab.new_play(ADA, "tictactoe", opponent, side).unwrap()).outcome()
            })
            .collect()
    };
    for side in [Side::First, Side::Second, Side::Random] {
        assert!(!outcomes("builtin:perfect", side).contains(&Some(Outcome::Win)));
    }
    assert!(outcomes("builtin:random", Side::First).contains(&Some(Outcome::Win)));
}

#[test]
fn every_game_can_be_played_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab(&folder);
    for (game, opponent) in [
        ("connect4", "builtin:perfect"),
        ("connect4", "builtin:mcts:100"),
        ("othello", "builtin:alphabeta:2"),
        ("othello", "builtin:mcts:20"),
    ] {
        let over = finish(&lab, lab.new_play(ADA, game, opponent, Side::Second).unwrap());
        assert_eq!(lab.play(&over.manifest.id).unwrap().moves, over.moves);
        assert_eq!(over.opponent.about.key, opponent);
    }
}

#[test]
fn bad_moves_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab(&folder);
    let play = lab.new_play(ADA, "tictactoe", "builtin:perfect", Side::Second).unwrap();
    let id = play.manifest.id.clone();
    let taken = play.moves[0].1.0;
    assert!(matches!(lab.play_move(ADA, &id, taken, 1), Err(RunError::IllegalMove { .. })));
    assert!(matches!(lab.play_move(ADA, &id, 99, 1), Err(RunError::IllegalMove { .. })));
    let free = play.game.legal_actions()[0].0;
    assert!(matches!(
        lab.play_move(ADA, &id, free, 0),
        Err(RunError::StaleMove { current: 1, given: 0 })
    ));
    assert_eq!(lab.play(&id).unwrap().moves, play.moves);
    let over = finish(&lab, play);
    assert!(lab.play_move(ADA, &id, free, over.moves.len() as u32).is_err());
}

#[test]
fn a_damaged_game_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab(&folder);
    let games: Vec<RunId> = (0..3)
        .map(|_| {
            lab.new_play(ADA, "tictactoe", "builtin:perfect", Side::Second).unwrap().manifest.id
        })
        .collect();
    std::fs::remove_dir_all(lab.data.run(&games[0]).path()).unwrap();
    std::fs::write(lab.data.run(&games[1]).events_path(), "garbage\n").unwrap();
    let listed: Vec<RunId> =
        lab.plays(Some(ADA), 9).unwrap().into_iter().map(|play| play.manifest.id).collect();
    assert_eq!(listed, games[2..]);
}

#[test]
fn a_move_is_taken_back_with_its_answer_and_the_history_stays() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab(&folder);
    let play = lab.new_play(ADA, "tictactoe", "builtin:perfect", Side::First).unwrap();
    let id = play.manifest.id.clone();
    assert!(matches!(lab.play_undo(ADA, &id, None), Err(RunError::NothingToUndo)));
    let one = lab.play_move(ADA, &id, 0, 0).unwrap();
    let two = lab.play_move(ADA, &id, one.game.legal_actions()[0].0, 2).unwrap();
    assert_eq!(two.moves.len(), 4);
    assert!(matches!(
        lab.play_undo(ADA, &id, Some(2)),
        Err(RunError::StaleMove { current: 4, given: 2 })
    ));
    let back = lab.play_undo(ADA, &id, Some(4)).unwrap();
    assert_eq!((&back.moves, &back.game, back.n_take_backs), (&one.moves, &one.game, 1));
    let start = lab.play_undo(ADA, &id, None).unwrap();
    assert_eq!((start.moves.len(), start.game, start.n_take_backs), (0, play.game, 2));
    assert!(matches!(lab.play_undo(ADA, &id, None), Err(RunError::NothingToUndo)));
    // The same move gets the same answer, however often it is taken back.
    assert_eq!(lab.play_move(ADA, &id, 0, 0).unwrap().moves, one.moves);
    let over = finish(&lab, lab.play(&id).unwrap());
    assert_eq!(over.help().as_deref(), Some("with 2 take-backs"));
    // The end can be taken back too.
    assert_eq!(lab.play_undo(ADA, &id, None).unwrap().outcome(), None);
    let text = std::fs::read_to_string(lab.data.run(&id).events_path()).unwrap();
    assert_eq!(text.matches(r#""type":"undo""#).count(), 3);
    assert!(text.matches(r#""type":"move""#).count() > over.moves.len(), "nothing is rewritten");
}

#[test]
fn an_opening_move_of_the_opponent_stays() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab(&folder);
    let play = lab.new_play(ADA, "connect4", "builtin:random", Side::Second).unwrap();
    let id = play.manifest.id.clone();
    assert!(matches!(lab.play_undo(ADA, &id, None), Err(RunError::NothingToUndo)));
    lab.play_move(ADA, &id, 3, 1).unwrap();
    assert_eq!(lab.play_undo(ADA, &id, None).unwrap().moves, play.moves);
}

#[test]
fn hints_are_counted_once_per_position() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab(&folder);
    let play = lab.new_play(ADA, "tictactoe", "builtin:perfect", Side::First).unwrap();
    let id = play.manifest.id.clone();
    let (once, hint) = lab.play_hint(ADA, &id, Some(0)).unwrap();
    let (twice, again) = lab.play_hint(ADA, &id, None).unwrap();
    assert_eq!((once.n_hints, twice.n_hints, hint), (1, 1, again));
    assert!(matches!(lab.play_hint(ADA, &id, Some(3)), Err(RunError::StaleMove { .. })));
    let next = lab.play_move(ADA, &id, hint.action.0, 0).unwrap();
    let (next, _) = lab.play_hint(ADA, &id, Some(next.moves.len() as u32)).unwrap();
    assert_eq!(next.help().as_deref(), Some("with 2 hints"));
    lab.play_undo(ADA, &id, None).unwrap();
    let over = finish(&lab, lab.play(&id).unwrap());
    assert_eq!(over.help().as_deref(), Some("with 1 take-back, 2 hints"));
    assert!(matches!(lab.play_hint(ADA, &id, None), Err(RunError::NothingToHint)));
}

#[test]
fn a_game_can_be_gone_back_through() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab(&folder);
    let play = lab.new_play(ADA, "tictactoe", "builtin:perfect", Side::First).unwrap();
    let play = lab.play_move(ADA, &play.manifest.id, 0, 0).unwrap();
    assert!(matches!(play.look_back(0), Err(RunError::GameGoesOn)), "it would be help");
    assert_eq!(play.position(0).unwrap().legal_actions().len(), 9);
    assert_eq!(play.position(1).unwrap().to_string(), "x..\n...\n...\n");
    assert_eq!(play.position(2).unwrap(), play.game);
    assert!(matches!(play.position(3), Err(RunError::NoSuchPly { ply: 3, n_moves: 2 })));
    let play = finish(&lab, play);
    let n_moves = play.moves.len() as u32;
    assert_eq!(play.position(n_moves).unwrap(), play.game);
    assert_eq!(play.look_back(n_moves).unwrap(), None, "nothing can be played at the end");
    // The start is even, and who did not win has gone wrong since.
    assert_eq!(play.look_back(0).unwrap().unwrap().verdict.value(), 0.0);
    assert_eq!(lab.play(&play.manifest.id).unwrap().n_hints, 0, "looking back is no help");
}

#[test]
fn whoever_follows_hints_does_not_lose() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab(&folder);
    for game in ["tictactoe", "connect4"] {
        let mut play = lab.new_play(ADA, game, "builtin:mcts:100", Side::First).unwrap();
        while play.outcome().is_none() {
            let (_, hint) = lab.play_hint(ADA, &play.manifest.id, None).unwrap();
            let ply = play.moves.len() as u32;
            play = lab.play_move(ADA, &play.manifest.id, hint.action.0, ply).unwrap();
        }
        assert_ne!(play.outcome(), Some(Outcome::Loss));
    }
}
