use cartridge_store::{Follower, MatchLog, RunState};

use super::*;

fn config(kind: Kind, n_threads: usize) -> TournamentConfig {
    let players = ["builtin:random", "builtin:perfect", "builtin:alphabeta:1"];
    TournamentConfig {
        game: "tictactoe".to_owned(),
        env: Map::new(),
        players: players.map(|id| Player::opponent(id.parse().unwrap())).into(),
        kind,
        plan: plan("tictactoe", 20, 5).unwrap(),
        n_threads,
    }
}

fn keep(config: &TournamentConfig, stop: bool) -> (TournamentSummary, bool, MatchLog, RunState) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let kept = keep_tournament(&data, "0.0.0", config, &AtomicBool::new(stop), |_| ());
    let (summary, is_whole) = kept.unwrap();
    let dir = data.run(&summary.run_id);
    assert_eq!(TournamentSummary::read(&dir).unwrap().as_ref(), Some(&summary));
    let mut follower = Follower::default();
    follower.advance(&dir).unwrap();
    let log = MatchLog::read(&data).unwrap();
    let n_games: u32 = log.lines.iter().map(|line| line.counts().iter().sum::<u32>()).sum();
    assert_eq!(follower.status.episodes, u64::from(n_games));
    (summary, is_whole, log, follower.status.state())
}

#[test]
fn everybody_meets_everybody() {
    let (summary, is_whole, log, state) = keep(&config(Kind::RoundRobin, 1), false);
    assert!(is_whole && state == RunState::Succeeded);
    assert_eq!((summary.n_pairings, summary.pairings.len(), log.lines.len()), (3, 3, 3));
    let order: Vec<usize> = summary.standings.iter().map(|standing| standing.player).collect();
    assert_eq!(order, [1, 2, 0], "perfect, then one that looks ahead, then chance");
    assert!(summary.standings.iter().all(|standing| standing.games == 40));
    let table = summary.cross_table();
    for (row, of_row) in table.iter().enumerate() {
        for (column, cell) in of_row.iter().enumerate() {
            match (cell, table[column][row]) {
                (None, None) => assert_eq!(row, column),
                (Some(score), Some(other)) => assert!((score + other - 1.0).abs() < 1e-12),
                cells => panic!("{cells:?}"),
            }
        }
    }
    let ids: Vec<String> = log.lines.iter().map(|line| line.id.clone()).collect();
    assert_eq!(ids[0], format!("{}/1", summary.run_id));
}

#[test]
fn threads_change_nothing() {
    let (one, ..) = keep(&config(Kind::RoundRobin, 1), false);
    let (three, ..) = keep(&config(Kind::RoundRobin, 3), false);
    assert_eq!((one.pairings, one.standings), (three.pairings, three.standings));
}

#[test]
fn a_gauntlet_is_the_first_against_the_rest() {
    let (summary, ..) = keep(&config(Kind::Gauntlet, 2), false);
    let pairs: Vec<(usize, usize)> = summary.pairings.iter().map(|it| (it.a, it.b)).collect();
    assert_eq!(pairs, [(0, 1), (0, 2)]);
    assert_eq!(summary.cross_table()[1][2], None, "they have not met");
}

#[test]
fn what_was_played_before_the_stop_counts() {
    let (summary, is_whole, log, state) = keep(&config(Kind::RoundRobin, 1), true);
    assert!(!is_whole && state == RunState::Terminated);
    assert!(summary.pairings.len() <= 1 && log.lines.len() == summary.pairings.len());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refuse = |change: fn(&mut TournamentConfig)| {
        let mut config = config(Kind::RoundRobin, 1);
        change(&mut config);
        config.check().unwrap_err();
    };
    refuse(|config| config.players.truncate(1));
    refuse(|config| config.players[1] = config.players[0].clone());
    refuse(|config| config.players = vec![config.players[0].clone(); 65]);
    plan("tictactoe", 7, 0).unwrap_err();
    plan("CartPole-v1", 0, 0).unwrap_err();
    assert_eq!(plan("CartPole-v1", 7, 0).unwrap().count, 7);
}

#[test]
fn many_players_are_thinned_out_evenly() {
    let check = |len, n, expected: &[usize]| assert_eq!(thin_out((0..len).collect(), n), expected);
    check(5, 5, &[0, 1, 2, 3, 4]);
    check(6, 5, &[0, 1, 2, 3, 5]);
    check(9, 3, &[0, 4, 8]);
    check(2, 63, &[0, 1]);
    check(0, 63, &[]);
    assert_eq!(thin_out((0..1_000).collect(), 63).len(), 63);
}
