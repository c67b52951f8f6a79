use cartridge_games::connect4::Connect4;
use cartridge_games::tic_tac_toe::TicTacToe;
use cartridge_games::{Action, Seat, Turn};
use cartridge_search::connect4_solver::Solver;
use cartridge_search::minimax;

use super::record::{End, VALUE_ONE};
use super::*;
use crate::board_net::{Preset, Workspace};

/// A small training of a game.
fn small(total_steps: u64) -> Config {
    Config {
        n_lanes: 4,
        n_games: 8,
        steps_per_update: 512,
        batch_size: 64,
        learning_starts: 256,
        ..Config::new(Preset::Tiny.config(), total_steps)
    }
}

fn train<G: Game>(config: &Config, n_threads: usize) -> (AlphaZero<G>, Vec<Update>) {
    let mut training = AlphaZero::new(config, 7, Team::new(n_threads)).unwrap();
    let mut updates = Vec::new();
    while !training.is_done() {
        updates.push(training.update().unwrap());
    }
    (training, updates)
}

#[test]
fn threads_change_nothing() {
    let config = small(3_000);
    let (one, of_one) = train::<Connect4>(&config, 1);
    for n_threads in [2, 4] {
        let (several, of_several) = train::<Connect4>(&config, n_threads);
        assert_eq!(one.network().parameters(), several.network().parameters());
        for (a, b) in of_one.iter().zip(&of_several) {
            assert_eq!((a.step, &a.games, a.losses), (b.step, &b.games, b.losses));
        }
    }
    let mut other = AlphaZero::<Connect4>::new(&config, 8, Team::new(1)).unwrap();
    other.update().unwrap();
    assert_ne!(of_one[0].games, other.update().unwrap().games, "another seed is another training");
}

#[test]
fn it_learns_while_games_are_played() {
    for n_threads in [2, 3] {
        let config = Config { n_lanes: 6, ..small(100_000) };
        let mut training = AlphaZero::<Connect4>::new(&config, 7, Team::new(n_threads)).unwrap();
        while training.owed < 1.0 {
            training.update().unwrap();
        }
        // Far more than there is time for, so it ends when the games have been played.
        let n_steps = 100_000;
        let mut lesson = Lesson {
            learner: &mut training.learner,
            window: &mut training.window,
            buffers: &mut training.buffers,
            batch_size: config.batch_size,
            learning_rate: 1e-3,
            rng: fastrand::Rng::with_seed(1),
            n_left: n_steps,
            sums: Ok(Losses::default()),
        };
        let mut shares = shares(&mut training.lanes, 3_000);
        let (network, self_play) = (&training.actor, &config.self_play);
        let go_on = |share: &mut Share<'_, _>| share.go_on(network, self_play, 0.0);
        play_beside(&mut training.team, &mut shares, go_on, &mut lesson);
        let n_left = lesson.n_left;
        let n_plies: u64 = shares.into_iter().map(|share| share.into_harvest().n_plies).sum();
        assert_eq!(n_plies, 3_000);
        assert!((1..n_steps).contains(&n_left), "{n_left} of {n_steps} are left");
    }
}

#[test]
fn interrupted_and_resumed_equals_uninterrupted() {
    let config = Config { least_window: 400, ..small(4_000) };
    let (whole, _) = train::<Connect4>(&config, 2);
    let mut first = AlphaZero::<Connect4>::new(&config, 7, Team::new(1)).unwrap();
    let mut games = Vec::new();
    for _ in 0..4 {
        games.extend(first.update().unwrap().games);
    }
    let state = first.state();
    assert!(state.n_window_games() < games.len(), "some games have left the window");
    let [text, learner] = state.to_bytes();
    let state = State::from_bytes([&text, &learner]).unwrap();
    let network = first.network().clone();
    let restore = |games: &[PlayedGame]| {
        let games = games.iter().cloned();
        AlphaZero::<Connect4>::restore(&config, 7, Team::new(2), network.clone(), &state, games)
    };
    let kept = games.len() - state.n_window_games();
    let mut resumed = restore(&games[kept..]).unwrap();
    while !resumed.is_done() {
        resumed.update().unwrap();
    }
    assert_eq!(resumed.network().parameters(), whole.network().parameters());
    // What does not fit is refused.
    assert!(restore(&games[kept + 1..]).is_err());
    assert!(State::from_bytes([&text[1..], &learner]).is_err());
}

/// How many beginnings of so many plies there are among games.
fn n_openings(games: &[PlayedGame], n_plies: usize) -> usize {
    let openings = games.iter().filter(|game| game.actions.len() >= n_plies);
    let openings = openings.map(|game| &game.actions[..n_plies]);
    openings.collect::<std::collections::HashSet<_>>().len()
}

#[test]
fn a_temperature_draws_among_what_searches_found() {
    let with = |temperature: f32, n_temperature_plies: usize, n_threads: usize| {
        // Nothing else is left to chance.
        let self_play = self_play::Config {
            temperature,
            n_temperature_plies,
            n_random_plies: 0,
            opening_share: 0.0,
            full_share: 1.0,
            audit_share: 0.0,
            ..Default::default()
        };
        let config = Config { self_play, least_window: 400, ..small(4_000) };
        let (training, updates) = train::<Connect4>(&config, n_threads);
        let games = updates.into_iter().flat_map(|update| update.games).collect::<Vec<_>>();
        (config, training, games)
    };
    let (_, cold, of_cold) = with(0.0, 1_000, 2);
    let (config, warm, of_warm) = with(1.0, 6, 2);
    let (_, plain, of_plain) = with(1.0, 0, 1);
    assert_eq!(cold.network().parameters(), plain.network().parameters(), "from ply 0 on it is 0");
    assert_eq!(of_cold, of_plain);
    // Every network plays one game, and with a temperature many.
    assert!(n_openings(&of_cold, 4) <= 10, "{}", n_openings(&of_cold, 4));
    assert!(n_openings(&of_warm, 4) > 50, "{}", n_openings(&of_warm, 4));
    // Threads, and an interruption, change nothing.
    let (_, again, of_again) = with(1.0, 6, 1);
    assert_eq!((again.network().parameters(), &of_again), (warm.network().parameters(), &of_warm));
    let mut first = AlphaZero::<Connect4>::new(&config, 7, Team::new(1)).unwrap();
    let games: Vec<_> = (0..3).flat_map(|_| first.update().unwrap().games).collect();
    let state = first.state();
    let kept = games[games.len() - state.n_window_games()..].iter().cloned();
    let network = first.network().clone();
    let mut resumed =
        AlphaZero::<Connect4>::restore(&config, 7, Team::new(2), network, &state, kept).unwrap();
    while !resumed.is_done() {
        resumed.update().unwrap();
    }
    assert_eq!(resumed.network().parameters(), warm.network().parameters());
}

#[test]
fn all_plies_are_played_and_no_more() {
    let (training, updates) = train::<TicTacToe>(&small(1_300), 2);
    assert_eq!(training.step(), 1_300);
    let steps: Vec<u64> = updates.iter().map(|update| update.step).collect();
    assert_eq!(steps, [512, 1_024, 1_300]);
}

#[test]
fn games_end_as_they_say() {
    let config = Config {
        self_play: self_play::Config { audit_share: 1.0, ..Default::default() },
        ..small(4_000)
    };
    let (_, updates) = train::<Connect4>(&config, 2);
    let games: Vec<_> = updates.iter().flat_map(|update| &update.games).collect();
    assert!(games.len() > 100);
    let mut solver = Solver::default();
    for played in games {
        let mut last: Option<Connect4> = None;
        played.replay(|game: &Connect4, _| last = Some(game.clone())).unwrap();
        let mut game = last.expect("every game has a search");
        game.apply(*played.actions.last().unwrap());
        match played.end {
            End::Over => {
                assert_eq!(game.turn(), Turn::Over);
                assert_eq!(played.score, (game.score(Seat(0)) * f32::from(VALUE_ONE)) as i16);
            }
            // Perfect play from here on agrees.
            End::Proven => {
                let n_left = 42 - played.actions.len();
                if game.turn() != Turn::Over && n_left <= 16 {
                    let scores = solver.scores(&game);
                    let value = scores.iter().map(|(_, score)| score.signum()).max().unwrap();
                    let sign = if game.turn() == Turn::Seat(Seat(0)) { 1 } else { -1 };
                    assert_eq!(i32::from(played.score).signum(), sign * value);
                }
            }
            End::Resigned => panic!("nobody gives up where all games are audited"),
        }
    }
}

#[test]
fn who_sees_no_hope_gives_up() {
    let self_play = self_play::Config {
        resign_below: 2.0,
        resign_after: 2,
        audit_share: 0.25,
        is_adjudicated: false,
        ..Default::default()
    };
    let config = Config { self_play, ..small(4_000) };
    let (_, updates) = train::<Connect4>(&config, 2);
    let games = updates.iter().flat_map(|update| &update.games);
    let (mut n_resigned, mut n_over, mut n_over_at_once) = (0, 0, 0);
    for game in games {
        match game.end {
            // It is always the first to have searched twice who gives up, and loses.
            End::Resigned => {
                n_resigned += 1;
                assert_eq!(game.plies.len(), 3);
                let seat = Seat((game.actions.len() - 1) % 2);
                assert_eq!(game.score_of(seat), -VALUE_ONE);
            }
            // Who has not searched twice cannot have given up.
            End::Over if game.plies.len() <= 3 => n_over_at_once += 1,
            End::Over => n_over += 1,
            End::Proven => panic!("no game is adjudicated"),
        }
    }
    assert!(n_resigned > n_over && n_over > 0, "{n_resigned} and {n_over}");
    let [n_audited, n_wrong] = updates
        .iter()
        .fold([0, 0], |[all, wrong], update| [all + update.audited[0], wrong + update.audited[1]]);
    assert!((n_over..=n_over + n_over_at_once).contains(&n_audited));
    // Who gives up without a reason is wrong about half of the time.
    assert!(n_wrong > 0 && n_wrong < n_audited, "{n_wrong} of {n_audited}");
}

#[test]
fn the_window_grows_with_the_games() {
    let config = Config { least_window: 1_000, ..small(1) };
    assert_eq!(config.window_at(0), 1_000);
    assert_eq!(config.window_at(1_000), 1_000);
    // 1000 (1 + 0.4 (16^0.75 - 1) / 0.75)
    assert_eq!(config.window_at(16_000), 4_733);
}

/// The share of all positions of the game in which the network's favourite changes the outcome.
fn errors(network: &BoardNet) -> f64 {
    let mut seen = std::collections::HashSet::new();
    let mut open = vec![TicTacToe::start(&mut fastrand::Rng::new())];
    let (mut n, mut n_errors) = (0, 0);
    let mut work = Workspace::default();
    while let Some(game) = open.pop() {
        let Turn::Seat(seat) = game.turn() else { continue };
        if !seen.insert(game.hash64()) {
            continue;
        }
        let mut planes = vec![0.0; network.shape().n_inputs()];
        game.observe_planes(seat, &mut planes);
        let (mut logits, mut value) = (vec![0.0; 9], [0.0]);
        network.infer(&mut work, &planes, &mut logits, &mut value);
        let logit = |action: &Action| logits[action.0];
        let chosen = game.legal_actions().max_by(|a, b| logit(a).total_cmp(&logit(b))).unwrap();
        let scores = minimax::solve(&game);
        let best = scores.iter().map(|(_, score)| *score).fold(f32::NEG_INFINITY, f32::max);
        let found = scores.iter().find(|(action, _)| *action == chosen).unwrap().1;
        n += 1;
        n_errors += usize::from(found < best);
        open.extend(game.legal_actions().map(|action| {
            let mut next = game.clone();
            next.apply(action);
            next
        }));
    }
    assert_eq!(n, 4_520);
    n_errors as f64 / n as f64
}

#[test]
fn tic_tac_toe_is_learnt() {
    let config = Config { learning_rate: 0.01.into(), ..small(20_000) };
    let untrained = AlphaZero::<TicTacToe>::new(&config, 7, Team::new(1)).unwrap();
    let before = errors(untrained.network());
    let (training, updates) = train::<TicTacToe>(&config, 2);
    let after = errors(training.network());
    assert!(before > 0.2, "{before} before");
    assert!(after < 0.06, "{after} after, {before} before");
    let late = updates.last().unwrap();
    assert!(late.losses.unwrap().divergence < 0.2);
}
