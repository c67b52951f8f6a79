use super::*;

fn play(game: &str, a: &str, b: &str, n_pairs: u32, seed: u64) -> MatchResult {
    let config = MatchConfig {
        game: game.to_owned(),
        a: a.parse().unwrap(),
        b: b.parse().unwrap(),
        n_pairs,
        seed,
    };
    let mut n_games = 0;
    let report = |record: GameRecord| {
        n_games += 1;
        assert_eq!(record.game, n_games);
        Ok(true)
    };
    let result = play_match(&config, report).unwrap();
    assert_eq!(n_games, 2 * n_pairs);
    assert_eq!(result.wins + result.draws + result.losses, 2 * n_pairs);
    result
}

#[test]
fn a_match_is_a_function_of_its_seed() {
    let result = |seed| play("connect4", "builtin:mcts:50", "builtin:alphabeta:2", 10, seed);
    assert_eq!(result(1), result(1));
    assert_ne!(result(1), result(2));
}

#[test]
fn better_players_win() {
    for game in ["tictactoe", "connect4", "othello"] {
        let result = play(game, "builtin:alphabeta:3", "builtin:random", 30, 0);
        assert!(result.score_ci95[0] > 0.6, "{game}: {result:?}");
        assert!(result.elo.is_none_or(|elo| elo > 100.0), "{game}: {result:?}");
        assert!(result.elo_ci95[0].is_some_and(|elo| elo > 0.0), "{game}: {result:?}");
    }
}

#[test]
fn perfect_play_loses_no_game_of_tictactoe() {
    assert_eq!(play("tictactoe", "builtin:perfect", "builtin:mcts:30", 50, 0).losses, 0);
}

#[test]
fn equals_are_equal() {
    let result = play("connect4", "builtin:random", "builtin:random", 500, 0);
    let [low, high] = result.elo_ci95.map(Option::unwrap);
    assert!(low < 0.0 && 0.0 < high, "{result:?}");
}

/// Wilson's interval for 10 of 10 games: `n / (n + z²)` to 1.
#[test]
fn certainty_takes_games() {
    let [low, high] = interval(&[1.0; 5]);
    for n_pairs in 1..200 {
        assert_eq!(interval(&vec![1.0; n_pairs])[1], 1.0, "1 reads as 1");
        assert_eq!(interval(&vec![0.0; n_pairs])[0], 0.0, "0 reads as 0");
    }
    assert!((low - 10.0 / (10.0 + 1.96 * 1.96)).abs() < 1e-9, "{low}");
    assert_eq!(elo(high), None);
    assert!((elo(0.75).unwrap() - 190.848).abs() < 0.001);
    assert_eq!(elo(0.5), Some(0.0));
}

#[test]
fn a_match_is_kept_as_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let config = MatchConfig {
        game: "tictactoe".to_owned(),
        a: Opponent::Perfect,
        b: Opponent::Random,
        n_pairs: 3,
        seed: 0,
    };
    let status = |id: &RunId| {
        let mut follower = cartridge_store::Follower::default();
        follower.advance(&data.run(id)).unwrap();
        follower.status
    };
    let go_on = AtomicBool::new(false);
    let kept = keep_match(&data, "0.0.0", &config, &go_on, |_| ()).unwrap();
    let whole = status(&kept.run_id);
    assert_eq!((whole.state(), whole.episodes), (cartridge_store::RunState::Succeeded, 6));
    assert_eq!((whole.match_result, kept.is_whole), (Some(kept.result), true));
    assert_eq!(data.run(&kept.run_id).manifest().unwrap().config["b"], "builtin:random");

    let stop = AtomicBool::new(true);
    let kept = keep_match(&data, "0.0.0", &config, &stop, |_| ()).unwrap();
    assert_eq!((kept.n_games, kept.is_whole), (2, false), "a pair is played to its end");
    assert_eq!(status(&kept.run_id).state(), cartridge_store::RunState::Terminated);
}
