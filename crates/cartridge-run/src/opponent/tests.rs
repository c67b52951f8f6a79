use cartridge_games::game::Turn;
use cartridge_games::registry;

use super::*;

#[track_caller]
fn check_refused(game: &str, id: &str, expected: &str) {
    let error = Opponent::find(game, id).expect_err("nobody has this id");
    assert_eq!(error.to_string(), format!("`{game}` has no opponent `{id}`; {expected}"));
}

#[test]
fn ids_are_checked() {
    check_refused("tictactoe", "builtin:perfekt", "did you mean `builtin:perfect`?");
    check_refused(
        "tictactoe",
        "x",
        "there are builtin:perfect, builtin:mcts:30, builtin:alphabeta:1, builtin:random",
    );
    check_refused(
        "othello",
        "builtin:perfect",
        "nobody knows perfect play here; the strongest is `builtin:alphabeta:5`",
    );
    let simulations = "say the simulations, 1 to 100000, as in `builtin:mcts:1000`";
    check_refused("connect4", "builtin:mcts", simulations);
    check_refused("connect4", "builtin:mcts:0", simulations);
    check_refused("connect4", "builtin:mcts:many", simulations);
    let depth = "say the depth, 1 to 10, as in `builtin:alphabeta:4`";
    check_refused("connect4", "builtin:alphabeta:11", depth);
    assert!(Opponent::find("connect4", "builtin:mcts:007").is_err());
    assert!(Opponent::find("connect4", "builtin:mcts:7:7").is_err());
}

#[test]
fn everybody_offered_has_an_id_a_name_and_plays_to_the_end() {
    for spec in registry::games() {
        for opponent in Opponent::offered(spec.id) {
            assert_eq!(Opponent::find(spec.id, &opponent.to_string()).unwrap(), opponent);
            let json = serde_json::to_value(opponent).unwrap();
            assert_eq!(json, opponent.to_string());
            assert_eq!(serde_json::from_value::<Opponent>(json).unwrap(), opponent);
            assert!(!opponent.name().is_empty() && !opponent.description(spec.id).is_empty());
            let mut rng = fastrand::Rng::with_seed(1);
            let mut game = AnyGame::start(spec.id, &mut rng).unwrap();
            // A random second seat, so that games differ from those of an equal.
            while let Turn::Seat(seat) = game.turn() {
                let player = if seat.0 == 0 { opponent } else { Opponent::Random };
                let action = player.choose(&game, &mut rng);
                assert!(game.legal_actions().contains(&action));
                game.apply(action);
            }
        }
    }
}

#[test]
fn names_are_for_people() {
    assert_eq!(Opponent::Mcts { n_simulations: 1_000 }.name(), "MCTS, 1,000 simulations");
    assert_eq!(Opponent::Mcts { n_simulations: 100_000 }.name(), "MCTS, 100,000 simulations");
    assert_eq!(Opponent::AlphaBeta { depth: 4 }.name(), "Alpha-beta, depth 4");
}

/// What the levels say of their strength is what was measured.
#[test]
fn levels_are_as_strong_as_recorded() {
    let recorded = include_str!("../../../../benches/results/levels.jsonl");
    let recorded: Vec<serde_json::Value> =
        recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for spec in registry::games() {
        for pair in Opponent::levels(spec.id).windows(2) {
            let (a, b) = (pair[0].opponent.to_string(), pair[1].opponent.to_string());
            let row = recorded
                .iter()
                .find(|row| row["game"] == spec.id && row["a"] == a && row["b"] == b)
                .unwrap_or_else(|| panic!("{} {a} {b} was never measured", spec.id));
            assert_eq!(row["score"].as_f64(), pair[0].score_below, "{} {a} {b}", spec.id);
            assert!(row["score_ci95"][0].as_f64().unwrap() > 0.5, "{} {a} {b}", spec.id);
        }
    }
}

#[test]
fn levels_are_found_by_name() {
    assert_eq!(Opponent::at_level("connect4", "club").unwrap().to_string(), "builtin:mcts:100");
    assert_eq!(Opponent::at_level("connect4", "Perfect").unwrap(), Opponent::Perfect);
    let check = |game: &str, name: &str, expected: &str| {
        assert_eq!(Opponent::at_level(game, name).unwrap_err().to_string(), expected);
    };
    check("connect4", "clubb", "`connect4` has no level `clubb`; did you mean `club`?");
    check(
        "othello",
        "perfect",
        "`othello` has no level `perfect`; there are strong, club, casual, beginner",
    );
    assert_eq!(
        Opponent::AlphaBeta { depth: 5 }.strength("othello").as_deref(),
        Some("Took 92% of the points from Club.")
    );
    assert_eq!(Opponent::Random.strength("othello").as_deref(), Some("The weakest level."));
    assert_eq!(Opponent::Mcts { n_simulations: 7 }.strength("othello"), None);
    assert_eq!(Opponent::levels("checkers"), []);
}
