use cartridge_store::MatchLog;

use super::*;

/// Who counts the games, and lets them go on for as long as it is told to.
struct Counter {
    n_games: u32,
    most: u32,
}

impl Referee for Counter {
    fn played(&mut self, record: GameRecord) -> Result<()> {
        self.n_games += 1;
        assert_eq!(record.game, self.n_games);
        Ok(())
    }

    fn goes_on(&mut self) -> Result<bool> {
        Ok(self.n_games < self.most)
    }
}

fn config(game: &str, a: &str, b: &str, n_pairs: u32, seed: u64) -> MatchConfig {
    let player = |id: &str| Player::opponent(id.parse().unwrap());
    MatchConfig {
        game: game.to_owned(),
        env: Map::new(),
        a: player(a),
        b: player(b),
        plan: SeedPlan { seed_base: seed, count: n_pairs, both_sides: true, opening_plies: None },
    }
}

fn play(game: &str, a: &str, b: &str, n_pairs: u32, seed: u64) -> MatchResult {
    let mut counter = Counter { n_games: 0, most: u32::MAX };
    let played = play_match(&config(game, a, b, n_pairs, seed), &mut counter).unwrap();
    let result = played.result;
    assert_eq!(counter.n_games, 2 * n_pairs);
    assert_eq!(result.wins + result.draws + result.losses, 2 * n_pairs);
    assert_eq!(played.buckets.len(), n_pairs as usize);
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
    let [low, high] = interval(&[1.0; 5], 10.0);
    for n_pairs in 1..200 {
        assert_eq!(interval(&vec![1.0; n_pairs], 2.0 * n_pairs as f64)[1], 1.0, "1 reads as 1");
        assert_eq!(interval(&vec![0.0; n_pairs], 2.0 * n_pairs as f64)[0], 0.0, "0 reads as 0");
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
    let config = config("tictactoe", "builtin:perfect", "builtin:random", 3, 0);
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

#[test]
fn a_match_is_told_seed_by_seed_and_logged() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let config = config("tictactoe", "builtin:perfect", "builtin:random", 3, 7);
    let go_on = AtomicBool::new(false);
    let kept = keep_match(&data, "0.0.0", &config, &go_on, |_| ()).unwrap();
    let summary = MatchSummary::read(&data.run(&kept.run_id)).unwrap().unwrap();
    assert_eq!(summary.buckets, kept.buckets);
    assert_eq!((summary.result, summary.plan), (kept.result, config.plan));
    assert!(summary.buckets.iter().all(|it| it.opening.len() == 1 && it.scores.len() == 2));
    let log = MatchLog::read(&data).unwrap();
    let [line] = &log.lines[..] else { panic!("{log:?}") };
    assert_eq!((line.id.as_str(), line.a.key.as_str()), (kept.run_id.as_str(), "builtin:perfect"));
    let MatchResult { wins, draws, losses, .. } = kept.result;
    assert_eq!((line.counts(), line.results.len()), ([wins, draws, losses], 6));
}

#[test]
fn one_side_is_one_game_an_opening() {
    let mut config = config("connect4", "builtin:mcts:20", "builtin:random", 5, 0);
    config.plan.both_sides = false;
    let mut counter = Counter { n_games: 0, most: u32::MAX };
    let played = play_match(&config, &mut counter).unwrap();
    assert_eq!((counter.n_games, played.buckets.len()), (5, 5));
    let mut counter = Counter { n_games: 0, most: 2 };
    let played = play_match(&config, &mut counter).unwrap();
    assert_eq!(played.buckets.len(), 2, "it ends when it is told to");
}

#[test]
fn plans_are_of_games_or_of_seeds() {
    #[track_caller]
    fn check(
        game: &str,
        said: (Option<u32>, Option<u32>, Option<bool>),
        expected: Option<(u32, bool)>,
    ) {
        let (n_games, count, both_sides) = said;
        let plan = SeedPlan::new(game, n_games, 3, count, both_sides);
        assert_eq!(plan.ok().map(|plan| (plan.count, plan.both_sides)), expected, "{said:?}");
    }
    check("connect4", (None, None, None), Some((50, true)));
    check("connect4", (Some(10), None, None), Some((5, true)));
    check("connect4", (Some(10), Some(5), None), Some((5, true)));
    check("connect4", (Some(10), Some(10), Some(false)), Some((10, false)));
    check("connect4", (Some(7), None, Some(false)), Some((7, false)));
    check("connect4", (Some(7), None, None), None);
    check("connect4", (Some(10), Some(10), None), None);
    check("connect4", (Some(0), None, None), None);
    check("connect4", (None, Some(u32::MAX), None), None);
    check("CartPole-v1", (None, None, None), Some((20, false)));
    check("CartPole-v1", (Some(7), None, Some(true)), Some((7, false)));
    check("CartPole-v1", (Some(10_001), None, None), None);
}

#[test]
fn an_opening_is_as_long_as_it_is_asked_for() {
    let lengths = |game: &str, n_plies: Option<u32>| {
        let mut config = config(game, "builtin:random", "builtin:random", 3, 0);
        config.plan = config.plan.with_opening(game, n_plies).unwrap();
        let played = play_match(&config, &mut Counter { n_games: 0, most: u32::MAX }).unwrap();
        played.buckets.iter().map(|bucket| bucket.opening.len()).collect::<Vec<_>>()
    };
    assert_eq!(lengths("connect4", Some(0)), [0; 3]);
    assert_eq!(lengths("connect4", None), [4; 3]);
    assert_eq!(lengths("connect4", Some(20)), [20; 3]);
    let plan = SeedPlan::new("connect4", None, 0, None, None).unwrap();
    assert!(plan.with_opening("connect4", Some(21)).is_err());
    assert!(plan.with_opening("tictactoe", Some(5)).is_err());
    assert!(plan.with_opening("CartPole-v1", Some(0)).is_err());
    assert!(plan.with_opening("CartPole-v1", None).is_ok());
}

#[test]
fn returns_are_compared_seed_by_seed() {
    let buckets = [[3.0, 1.0], [1.0, 2.0], [5.0, 5.0], [f64::NAN, 0.0]];
    let buckets: Vec<Bucket> = buckets.into_iter().map(|it| compared(1, it)).collect();
    let scores: Vec<f64> = buckets.iter().map(|it| it.scores[0]).collect();
    assert_eq!(scores, [1.0, -1.0, 0.0, -1.0], "what is no number loses");
    let played = sum_up(buckets[..3].to_vec());
    let Difference { mean_a, mean_b, mean, ci95, .. } = played.difference.unwrap();
    assert_eq!((mean_a, mean_b), (3.0, 8.0 / 3.0));
    assert!((mean - 1.0 / 3.0).abs() < 1e-12 && ci95[0] < 0.0 && ci95[1] > 0.0);
    assert_eq!((played.result.wins, played.result.draws, played.result.losses), (1, 1, 1));
    assert_eq!(sum_up(Vec::new()).result.score, 0.5, "nothing was played");
}
