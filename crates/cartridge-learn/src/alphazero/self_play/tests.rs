use std::collections::HashSet;
use std::sync::Mutex;

use cartridge_games::connect4::Connect4;
use cartridge_games::tic_tac_toe::TicTacToe;

use super::*;

/// Holds all moves to be equally good, and remembers how many positions it was asked about at once.
#[derive(Debug, Default)]
struct Counting(Mutex<Vec<usize>>);

impl Judge for Counting {
    fn judge(&self, _: &mut Workspace, _: &[f32], logits: &mut [f32], values: &mut [f32]) {
        logits.fill(0.0);
        values.fill(0.0);
        self.0.lock().unwrap().push(values.len());
    }
}

/// Games from the start, in which searches are made to their ends.
fn plain() -> Config {
    Config {
        n_simulations: [16, 64],
        n_fast_simulations: 6,
        full_share: 1.0,
        opening_share: 0.0,
        ..Config::default()
    }
}

#[test]
fn every_call_of_the_network_is_for_a_full_batch() {
    let judge = Counting::default();
    let mut lane = Lane::<Connect4>::new(12, 1 << 10, &Config::default(), 1);
    lane.play(&judge, &Config::default(), 0.5, 200);
    let mut sizes = judge.0.into_inner().unwrap();
    let last = sizes.pop().unwrap();
    assert!(sizes.len() > 100 && sizes.iter().all(|&size| size == 12), "{sizes:?}");
    // When the plies have been played, some games have nothing left to ask.
    assert!(last <= 12);
}

/// Walks down the tree for each ply, that to the root included.
fn descents(config: &Config, done: f64) -> f64 {
    let mut lane = Lane::<Connect4>::new(8, 1 << 10, config, 1);
    // So few plies that nothing is proven yet.
    let harvest = lane.play(&Counting::default(), config, done, 24);
    harvest.statistics.n_descents as f64 / harvest.n_plies as f64
}

#[test]
fn simulations_rise_with_the_training() {
    #[track_caller]
    fn check(config: &Config, done: f64, n_simulations: f64) {
        assert_eq!(descents(config, done), n_simulations + 1.0, "{done}");
    }
    let config = plain();
    for (done, n_simulations) in [(0.0, 16.0), (0.5, 40.0), (1.0, 64.0), (1.5, 64.0)] {
        check(&config, done, n_simulations);
        // Fast ones stay as they are.
        check(&Config { full_share: 0.0, ..config }, done, 6.0);
    }
    let mixed = descents(&Config { full_share: 0.5, ..config }, 1.0);
    assert!((20.0..50.0).contains(&mixed), "{mixed}");
}

#[test]
fn so_many_searches_are_thorough_as_is_said() {
    for share in [0.0, 0.25, 1.0] {
        let config = Config { full_share: share, is_adjudicated: false, ..plain() };
        let mut lane = Lane::<TicTacToe>::new(8, 1 << 10, &config, 1);
        let harvest = lane.play(&Counting::default(), &config, 0.0, 4_000);
        let plies: Vec<&Ply> = harvest.games.iter().flat_map(|game| &game.plies).collect();
        assert!(plies.len() > 3_000, "{}", plies.len());
        let found = plies.iter().filter(|ply| ply.is_full).count() as f32 / plies.len() as f32;
        // Three standard errors of 3,000 draws; none or all where nothing is left to chance.
        let slack = 3.0 * (share * (1.0 - share) / 3_000.0).sqrt();
        assert!((found - share).abs() <= slack, "{found} and not {share}");
    }
}

#[test]
fn openings_are_drawn_by_chance_as_often_and_as_long_as_is_said() {
    const N: usize = 4_000;
    #[track_caller]
    fn check(share: f32, n_most: usize) {
        let config = Config { opening_share: share, n_opening_plies: n_most, ..Config::default() };
        let mut rng = fastrand::Rng::with_seed(3);
        let found: Vec<Vec<Action>> = (0..N)
            .map(|_| {
                let (game, actions) = opening::<Connect4>(&config, &mut rng);
                let mut again = Connect4::start(&mut fastrand::Rng::with_seed(0));
                actions.iter().for_each(|action| again.apply(*action));
                assert_eq!(game, again);
                actions
            })
            .collect();
        let lengths: HashSet<usize> = found.iter().map(Vec::len).collect();
        let expected = if share == 0.0 { 0..=0 } else { 0..=n_most };
        assert_eq!(lengths, expected.collect(), "{share} {n_most}");
        // All lengths are as likely, none included.
        let share = share * n_most as f32 / (n_most + 1) as f32;
        let drawn = found.iter().filter(|it| !it.is_empty()).count() as f32 / N as f32;
        assert!((drawn - share).abs() < 0.03, "{drawn} and not {share}");
        let different: HashSet<&Vec<Action>> = found.iter().collect();
        assert!(different.len() > 100 || n_most < 3 || share == 0.0, "{}", different.len());
    }
    check(0.0, 6);
    check(1.0, 4);
    check(0.5, 1);
    check(0.25, 6);
}
