use super::*;

/// Rows with these returns, each with an interval of 0.2 to both sides.
fn rows(means: [f64; 7]) -> Vec<Row> {
    let row = |(bot, mean): (Bot, f64)| {
        let mut row = row(bot, &[bot.play(asteroid_prospector::Config::default(), 0)]);
        (row.mean, row.ci95) = (mean, [mean - 0.2, mean + 0.2]);
        row
    };
    Bot::ALL.into_iter().zip(means).map(row).collect()
}

#[track_caller]
fn check(means: [f64; 7], expected: &[&str]) {
    assert_eq!(broken(&rows(means)), expected);
}

#[test]
fn the_order_is_asserted() {
    check([0.0, 0.0, -1.0, 1.0, 3.0, 4.0, 9.0], &[]);
    check([0.0, -20.0, -1.0, 1.0, 3.0, 4.0, 9.0], &["hold at the station is worth about 0"]);
    check([0.0, 0.0, -0.1, 1.0, 3.0, 4.0, 9.0], &["random play loses"]);
    check([0.0, 0.0, -1.0, 0.1, 3.0, 4.0, 9.0], &["greedy mining earns something"]);
    check([0.0, 0.0, -1.0, 1.0, 1.2, 4.0, 9.0], &["the cautious scanner beats the greedy miner"]);
    check(
        [0.0, 0.0, -1.0, 1.0, 3.0, 3.5, 9.0],
        &["the market timer earns 3 times as much as greed"],
    );
    check([0.0, 0.0, -1.0, 1.0, 3.0, 4.0, 4.1], &["the oracle beats the market timer"]);
}

#[test]
fn par_is_the_same_however_it_is_spread() {
    let par = par("AsteroidProspector-v0", &Map::new(), 3).unwrap().unwrap();
    assert_eq!(par.players.len(), 7);
    let greedy = &par.players[3];
    let returns: Vec<f64> = (0..3)
        .map(|n| episode_seed(0, Stream::Evaluation, 0, n))
        .map(|seed| Bot::GreedyMiner.play(asteroid_prospector::Config::default(), seed))
        .map(|episode| episode.total_reward)
        .collect();
    assert_eq!(greedy.mean, returns.iter().sum::<f64>() / 3.0);
}

#[test]
fn not_every_environment_has_a_par() {
    assert_eq!(par("CartPole-v1", &Map::new(), 3).unwrap(), None);
    let error = par("AsteroidProspector-v1", &Map::new(), 3).unwrap_err().to_string();
    assert!(error.contains("did you mean `AsteroidProspector-v0`?"), "{error}");
}
