use cartridge_games::connect4::Connect4;
use cartridge_games::othello::Othello;
use cartridge_games::tic_tac_toe::TicTacToe;
use cartridge_games::{Seat, Turn, random_action};

use super::*;
use crate::evaluator::{Evaluations, Evaluator, Playouts, Uniform, run};
use crate::minimax;
use crate::puct::Noise;
use crate::tree::tests::Hashed;

/// One player of a comparison.
struct Player<G, E> {
    config: Config,
    width: usize,
    evaluator: E,
    search: Search<G>,
    cache: Cache<G>,
}

impl<G: Game, E: Evaluator<G>> Player<G, E> {
    fn new(config: Config, width: usize, evaluator: E) -> Self {
        let (search, cache) = (Search::default(), Cache::new(0));
        Self { config, width, evaluator, search, cache }
    }

    fn choose(&mut self, game: &G, rng: &mut fastrand::Rng) -> Action {
        self.search.clear();
        self.search.begin(game, self.config, rng);
        run(&mut self.search, self.width, &mut self.evaluator, &mut self.cache);
        self.search.best_action()
    }
}

/// The score of `a` against `b`, between 0 and 1, and half the width of its 95% interval: pairs of
/// games from the same random opening, each side once.
fn compare<G: Game, E: Evaluator<G>>(
    a: &mut Player<G, E>,
    b: &mut Player<G, E>,
    n_pairs: usize,
    seed: u64,
) -> (f64, f64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut pairs = Vec::new();
    while pairs.len() < n_pairs {
        let mut opening = G::start(&mut rng);
        for _ in 0..n_opening::<G>() {
            opening.apply(random_action(&opening, &mut rng));
        }
        let mut pair = 0.0;
        for seat in (0..2).map(Seat) {
            let mut game = opening.clone();
            while let Turn::Seat(to_move) = game.turn() {
                let player = if to_move == seat { &mut *a } else { &mut *b };
                game.apply(player.choose(&game, &mut rng));
            }
            pair += (f64::from(game.score(seat)) + 1.0) / 4.0;
        }
        pairs.push(pair);
    }
    let n = n_pairs as f64;
    let mean = pairs.iter().sum::<f64>() / n;
    let variance = pairs.iter().map(|pair| (pair - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, 1.96 * (variance / n).sqrt())
}

/// How many random plies a game begins with.
fn n_opening<G: Game>() -> usize {
    if G::SPEC.max_plies < 10 { 1 } else { 4 }
}

/// Demands that 16 times the simulations score above 60%, with 95% confidence, with an evaluator
/// that knows nothing and the noise of learning.
///
/// Without noise and knowledge all is alike until the end is near, both sides play the first of
/// equals, and most games of a pair are the same game.
#[track_caller]
fn check_stronger<G: Game>(method: Method, weak: u32, n_pairs: usize, seed: u64) {
    let player = |n_simulations| Player::<G, _>::new(Config { n_simulations, method }, 1, Uniform);
    let (mean, margin) = compare(&mut player(16 * weak), &mut player(weak), n_pairs, seed);
    println!("{}, {method:?}: {mean:.3} ± {margin:.3}", G::SPEC.id);
    assert!(mean - margin > 0.6, "{}: {mean:.3} ± {margin:.3}", G::SPEC.id);
}

/// PUCT with noise at the root.
fn noisy_puct() -> Method {
    Method::Puct(Puct { noise: Some(Noise::default()), ..Puct::default() })
}

fn gumbel() -> Method {
    Method::Gumbel(Gumbel::default())
}

#[test]
fn more_simulations_beat_fewer_at_tictactoe() {
    // From random openings of a ply, of which perfect play draws all: the few simulations err.
    check_stronger::<TicTacToe>(noisy_puct(), 4, 500, 11);
    check_stronger::<TicTacToe>(gumbel(), 4, 500, 11);
}

#[test]
fn more_simulations_beat_fewer_at_connect4() {
    check_stronger::<Connect4>(noisy_puct(), 16, 200, 11);
    check_stronger::<Connect4>(gumbel(), 16, 200, 11);
}

// Until the end is in sight, an evaluator that knows nothing leaves the middle game to chance, so
// it takes many games to see who plays the end better: about 62% and 63%.
#[test]
fn more_simulations_beat_fewer_at_othello_by_puct() {
    check_stronger::<Othello>(noisy_puct(), 16, 1600, 11);
}

#[test]
fn more_simulations_beat_fewer_at_othello_by_gumbel() {
    check_stronger::<Othello>(gumbel(), 16, 400, 11);
}

#[test]
fn more_simulations_beat_fewer_at_othello_in_many_games() {
    if std::env::var_os("RUN_SLOW_TESTS").is_none() {
        return;
    }
    check_stronger::<Othello>(noisy_puct(), 16, 2000, 12);
    check_stronger::<Othello>(gumbel(), 16, 2000, 12);
}

/// Demands that eight leaves at once and one at a time are equally strong to within `bound` of the
/// points, with 95% confidence: the whole interval lies there, so that too few games are no way to
/// pass. Playouts are the evaluator.
#[track_caller]
fn check_parallel<G: Game>(method: Method, n_simulations: u32, n_pairs: usize, bound: f64) {
    let config = Config { n_simulations, method };
    let playouts = |seed| Playouts { n_playouts: 1, rng: fastrand::Rng::with_seed(seed) };
    let mut parallel = Player::<G, _>::new(config, 8, playouts(1));
    let mut serial = Player::new(config, 1, playouts(2));
    let (mean, margin) = compare(&mut parallel, &mut serial, n_pairs, 11);
    let found = format!("{}, {n_simulations}, {method:?}: {mean:.3} ± {margin:.3}", G::SPEC.id);
    println!("{found}");
    assert!((mean - 0.5).abs() + margin < bound, "{found}");
}

fn methods() -> [Method; 2] {
    [Config::puct(0).method, gumbel()]
}

#[test]
fn parallel_and_serial_are_equally_strong_at_tictactoe() {
    methods().into_iter().for_each(|method| check_parallel::<TicTacToe>(method, 50, 600, 0.05));
}

#[test]
fn parallel_and_serial_are_equally_strong_at_connect4() {
    methods().into_iter().for_each(|method| check_parallel::<Connect4>(method, 200, 300, 0.1));
}

// With this many actions eight leaves at once are a share of so few simulations that shows: by PUCT
// they took 0.460 ± 0.017 with 100 simulations and 0.469 ± 0.024 with 200, in 3,000 and 1,600 games.
#[test]
fn parallel_and_serial_are_equally_strong_at_othello() {
    methods().into_iter().for_each(|method| check_parallel::<Othello>(method, 200, 200, 0.12));
}

#[test]
fn parallel_and_serial_are_equally_strong_in_many_games() {
    if std::env::var_os("RUN_SLOW_TESTS").is_none() {
        return;
    }
    for method in methods() {
        check_parallel::<TicTacToe>(method, 100, 4_000, 0.03);
        check_parallel::<Connect4>(method, 400, 2_000, 0.05);
        check_parallel::<Othello>(method, 400, 800, 0.08);
    }
}

fn connect4(columns: &str) -> Connect4 {
    let mut game = Connect4::default();
    for column in columns.bytes() {
        game.apply(Action(usize::from(column - b'1')));
    }
    game
}

/// Searches with an evaluator that knows nothing.
fn search<G: Game>(game: &G, config: Config, width: usize, seed: u64) -> Search<G> {
    search_by(&mut Uniform, game, config, width, seed)
}

fn search_by<G: Game>(
    evaluator: &mut impl Evaluator<G>,
    game: &G,
    config: Config,
    width: usize,
    seed: u64,
) -> Search<G> {
    let mut search = Search::default();
    search.begin(game, config, &mut fastrand::Rng::with_seed(seed));
    run(&mut search, width, evaluator, &mut Cache::new(0));
    search
}

/// All actions are alike, and positions differ a little in what they are worth: by so much at most.
struct Faint(f32);

impl<G: Game> Evaluator<G> for Faint {
    fn evaluate(&mut self, games: &[G], out: &mut Evaluations) {
        Hashed.evaluate(games, out);
        out.logits.fill(0.0);
        out.values.iter_mut().for_each(|value| *value *= 0.5 * self.0);
    }
}

/// Drops discs into the columns, then demands the action, however it is searched.
#[track_caller]
fn check(columns: &str, n_simulations: u32, expected: &[usize]) {
    let game = connect4(columns);
    for method in [noisy_puct(), gumbel()] {
        for width in [1, 8] {
            for seed in 0..5 {
                let search = search(&game, Config { n_simulations, method }, width, seed);
                let action = search.best_action();
                assert!(expected.contains(&(action.0 + 1)), "{method:?}: {action:?}\n{game}");
                let target = search.target();
                let best: f32 = expected.iter().map(|column| target[column - 1]).sum();
                assert!(best > 0.9, "{method:?}: {target:?}\n{game}");
            }
        }
    }
}

#[test]
fn wins_at_once_and_defends_in_time() {
    check("414141", 1, &[4]);
    check("41414", 1, &[4]);
    // Three in the bottom row with both ends open would be lost.
    check("443", 1000, &[2, 5]);
    // The other seat, which moves second, does the same.
    check("1414242", 1, &[4]);
}

#[test]
fn a_win_at_once_needs_no_evaluation() {
    let search = search(&connect4("414141"), Config::puct(100), 1, 0);
    assert_eq!(search.statistics(), Statistics::default());
    assert_eq!((search.proven(), search.value()), (Some(1.0), 1.0));
    assert_eq!(search.principal_variation(), [Action(3)]);
    assert_eq!(search.findings()[3].proven, Some(1.0));
    // Both ends of an open three win.
    let search = self::search(&connect4("445533"), Config::gumbel(100), 1, 0);
    assert_eq!(search.target(), [0.0, 0.5, 0.0, 0.0, 0.0, 0.5, 0.0]);
}

/// A network that has seen no wipe-out holds the only winning answer to be as good as impossible.
#[test]
fn a_blunder_is_refuted_by_its_first_visit() {
    struct Blind;
    impl Evaluator<Othello> for Blind {
        fn evaluate(&mut self, _positions: &[Othello], out: &mut Evaluations) {
            out.logits.fill(0.0);
            out.logits.chunks_mut(65).for_each(|logits| logits[15] = -30.0);
            out.values.fill(0.0);
        }
    }
    let mut game = Othello::default();
    let moves = "f5 d6 c4 f4 c6 e3 e6 c3 d3 c7 f6 b4 d7 f7 c5 c8 e7 e8 b5 a4 b6 b7 b3 c2";
    let square =
        |name: &str| (0..65).map(Action).find(|&it| Othello::action_name(it) == name).unwrap();
    moves.split(' ').for_each(|name| game.apply(square(name)));
    let mut search = Search::default();
    search.begin(&game, Config::puct(60), &mut fastrand::Rng::with_seed(0));
    run(&mut search, 1, &mut Blind, &mut Cache::new(0));
    let findings = search.findings();
    let blunder = findings.iter().find(|it| it.action == square("g3")).unwrap();
    assert_eq!((blunder.n_visits, blunder.proven), (1, Some(-1.0)), "h2 turns every disc");
}

/// Also in a game that cannot tell at a glance, and in a tree that was kept before it was seen.
#[test]
fn a_kept_tree_wins_at_once() {
    // x.. / x.o / ... and `o` to move leaves the third of the column open.
    let mut game = TicTacToe::default();
    [0, 5, 3].into_iter().for_each(|cell| game.apply(Action(cell)));
    let mut search = search(&game, Config::puct(6), 1, 0);
    let findings = search.findings();
    let blunder = findings.iter().find(|finding| finding.n_visits == 1).unwrap().action;
    game.apply(blunder);
    search.advance(blunder);
    search.begin(&game, Config::puct(1), &mut fastrand::Rng::with_seed(0));
    run(&mut search, 1, &mut Uniform, &mut Cache::new(0));
    assert_eq!(search.statistics(), Statistics::default());
    assert_eq!((search.proven(), search.best_action()), (Some(1.0), Action(6)));
    assert_eq!(search.target()[6], 1.0);
}

#[test]
fn proves_a_win_in_three() {
    // `x` makes an open three of columns 3, 4 and 5: whatever `o` answers, it completes four.
    for method in [noisy_puct(), gumbel()] {
        let search = search(&connect4("4455"), Config { n_simulations: 2000, method }, 1, 0);
        assert_eq!(search.proven(), Some(1.0));
        assert!([Action(2), Action(5)].contains(&search.best_action()));
        let statistics = search.statistics();
        assert!(statistics.n_descents < 2000, "a proven root ends the search: {statistics:?}");
    }
}

/// What the search proves and plays near the end equals exhaustive search.
#[track_caller]
fn check_exact<G: Game + Eq + std::hash::Hash>(games: &[G], n_simulations: u32, least: f64) {
    let (mut n_proven, mut n_actions) = (0, 0);
    for (place, game) in games.iter().enumerate() {
        let exact = minimax::solve(game);
        let value = exact.iter().map(|&(_, value)| value).fold(f32::NEG_INFINITY, f32::max);
        for method in [noisy_puct(), gumbel()] {
            let mut search = Search::default();
            let config = Config { n_simulations, method };
            search.begin(game, config, &mut fastrand::Rng::with_seed(place as u64));
            run(&mut search, 1 + 7 * (place % 2), &mut Hashed, &mut Cache::new(1024));
            for (finding, &(action, value)) in search.findings().iter().zip(&exact) {
                assert!(finding.proven.is_none_or(|proven| proven == value), "{action:?}\n{game}");
                n_proven += usize::from(finding.proven.is_some());
                n_actions += 1;
            }
            assert!(search.proven().is_none_or(|proven| proven == value), "\n{game}");
            if search.proven().is_some() {
                assert!(exact.contains(&(search.best_action(), value)), "\n{game}");
                let target = search.target();
                assert!((target.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                let wrong = exact.iter().filter(|&&(_, worth)| worth < value);
                assert!(
                    wrong.clone().all(|&(Action(action), _)| target[action] == 0.0),
                    "\n{game}"
                );
            }
        }
    }
    let share = n_proven as f64 / n_actions as f64;
    assert!(share > least, "{n_proven} of {n_actions} actions are proven");
}

/// Random positions after so many plies that are not over.
fn positions<G: Game>(n: usize, n_plies: usize, seed: u64) -> Vec<G> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut positions = Vec::new();
    while positions.len() < n {
        let mut game = G::start(&mut rng);
        for _ in 0..n_plies {
            if game.turn() != Turn::Over {
                game.apply(random_action(&game, &mut rng));
            }
        }
        if game.turn() != Turn::Over {
            positions.push(game);
        }
    }
    positions
}

#[test]
fn what_is_proven_is_exact() {
    check_exact(&positions::<TicTacToe>(100, 3, 2), 1000, 0.5);
}

/// Passes included, which are plies of their own: the test of `Coins` has a seat that moves twice.
#[test]
fn the_end_of_othello_is_exact() {
    let games: Vec<Othello> = positions(60, 54, 5);
    let n_passes = |game: &Othello| {
        let mut search = Search::default();
        search.begin(game, Config::puct(3000), &mut fastrand::Rng::with_seed(0));
        run(&mut search, 1, &mut Hashed, &mut Cache::new(0));
        let tree = search.tree();
        let passes = tree.nodes().iter().filter(|node| tree.edge_to(node).action() == Action(64));
        passes.count()
    };
    let n_with_passes = games.iter().filter(|game| n_passes(game) > 0).count();
    assert!(n_with_passes > 20, "only {n_with_passes} of 60 have passes");
    check_exact(&games, 3000, 0.5);
}

/// The logits and value of a position, the same for all its images.
struct Symmetric;

impl<G: Game> Evaluator<G> for Symmetric {
    fn evaluate(&mut self, games: &[G], out: &mut Evaluations) {
        let n_actions = G::SPEC.n_actions;
        let worth = |hash: u64| (hash >> 40) as f32 / (1 << 23) as f32 - 1.0;
        // Of a position, and of where an action leads.
        let least = |game: &G| {
            (0..G::N_SYMMETRIES).map(|symmetry| game.transform(symmetry).hash64()).min().unwrap()
        };
        for (place, game) in games.iter().enumerate() {
            out.values[place] = worth(least(game));
            for action in game.legal_actions() {
                let mut next = game.clone();
                next.apply(action);
                out.logits[place * n_actions + action.0] = worth(least(&next).rotate_left(17));
            }
        }
    }
}

fn findings<G: Game, E: Evaluator<G>>(
    game: &G,
    config: Config,
    evaluator: &mut E,
    cache: &mut Cache<G>,
) -> (Vec<Finding>, Vec<f32>, Statistics) {
    let mut search = Search::default();
    search.begin(game, config, &mut fastrand::Rng::with_seed(1));
    run(&mut search, 1, evaluator, cache);
    (search.findings(), search.target(), search.statistics())
}

#[test]
fn a_cache_changes_nothing_but_the_number_of_evaluations() {
    #[track_caller]
    fn check<G: Game>(n_plies: usize) {
        let config = Config { n_simulations: 300, method: noisy_puct() };
        let (mut shared, mut n_hits) = (Cache::new(1 << 14), 0);
        for game in positions::<G>(5, n_plies, 3) {
            let plain = findings(&game, config, &mut Symmetric, &mut Cache::new(0));
            let fresh = findings(&game, config, &mut Symmetric, &mut Cache::new(1 << 12));
            let warm = findings(&game, config, &mut Symmetric, &mut shared);
            let again = findings(&game, config, &mut Symmetric, &mut shared);
            assert_eq!((&plain.0, &plain.1), (&fresh.0, &fresh.1), "\n{game}");
            assert_eq!((&plain.0, &plain.1), (&warm.0, &warm.1), "\n{game}");
            assert_eq!((&plain.0, &plain.1), (&again.0, &again.1), "\n{game}");
            assert_eq!(again.2.n_evaluations, 0);
            n_hits += fresh.2.n_cache_hits;
            assert_eq!(plain.2.n_cache_hits, 0);
            for (_, _, statistics) in [plain, fresh, warm, again] {
                let Statistics { n_descents, n_evaluations, n_cache_hits, n_proven, .. } =
                    statistics;
                assert_eq!(n_descents, n_evaluations + n_cache_hits + n_proven);
            }
        }
        assert!(n_hits > 10, "{n_hits}");
        // What other searches have asked makes no difference, not even with an evaluator to which
        // images are not the same.
        let mut shared = Cache::new(1 << 14);
        for game in positions::<G>(5, n_plies, 3) {
            let fresh = findings(&game, config, &mut Hashed, &mut Cache::new(1 << 14));
            let warm = findings(&game, config, &mut Hashed, &mut shared);
            assert_eq!((&fresh.0, &fresh.1), (&warm.0, &warm.1), "\n{game}");
        }
    }
    check::<TicTacToe>(1);
    check::<Connect4>(6);
    check::<Othello>(8);
}

#[test]
fn the_same_seed_finds_the_same() {
    for method in [noisy_puct(), gumbel()] {
        for width in [1, 8] {
            let find = |seed| {
                let mut search = Search::default();
                let config = Config { n_simulations: 300, method };
                search.begin(&connect4("44"), config, &mut fastrand::Rng::with_seed(seed));
                run(&mut search, width, &mut Hashed, &mut Cache::new(100));
                (search.findings(), search.target(), search.principal_variation())
            };
            assert_eq!(find(1), find(1));
            assert_ne!(find(1), find(2));
        }
    }
    // Without noise, chance has no say.
    let plain = Method::Gumbel(Gumbel { is_random: false, ..Gumbel::default() });
    for method in [Config::puct(0).method, plain] {
        let find = |seed| {
            let mut search = Search::default();
            let config = Config { n_simulations: 100, method };
            search.begin(&connect4("44"), config, &mut fastrand::Rng::with_seed(seed));
            run(&mut search, 1, &mut Hashed, &mut Cache::new(0));
            search.findings()
        };
        assert_eq!(find(1), find(2));
    }
}

/// Few simulations, or as many as leaves at once, are no reason to be sure, and neither are positions
/// that differ by next to nothing, however much scores count.
#[test]
fn targets_are_not_one_hot_by_accident() {
    #[track_caller]
    fn check<G: Game>(n_plies: usize) {
        let keen = Method::Gumbel(Gumbel { value_scale: 1.5, ..Gumbel::default() });
        for difference in [0.0, 0.03] {
            for method in [noisy_puct(), gumbel(), keen] {
                check_with::<G>(n_plies, difference, method);
            }
        }
    }
    #[track_caller]
    fn check_with<G: Game>(n_plies: usize, difference: f32, method: Method) {
        let mut n_checked = 0;
        for game in positions::<G>(10, n_plies, 6) {
            for n_simulations in [1, 2, 3, 4, 8, 16, 32] {
                for width in [1, 2, 8, 32] {
                    let config = Config { n_simulations, method };
                    let search = search_by(&mut Faint(difference), &game, config, width, 3);
                    let findings = search.findings();
                    let is_proven = findings.iter().any(|finding| finding.proven.is_some());
                    if is_proven || search.statistics().n_proven > 0 {
                        continue;
                    }
                    n_checked += 1;
                    let target = search.target();
                    let legal = findings.iter().map(|finding| finding.action.0);
                    assert!((target.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                    assert!(legal.clone().all(|action| target[action] > 0.0), "{target:?}");
                    let greatest = target.iter().copied().fold(0.0, f32::max);
                    assert!(greatest < 0.75, "{method:?}, {width}: {target:?}\n{game}");
                    // No action has more than its turn before all have had theirs.
                    let most = findings.iter().map(|finding| finding.n_visits).max().unwrap();
                    assert!(most <= 1 + n_simulations / 2, "{method:?}: {findings:?}");
                }
            }
        }
        assert!(n_checked > 100, "{n_checked}");
    }
    check::<TicTacToe>(2);
    check::<Connect4>(5);
    check::<Othello>(5);
}

#[test]
fn without_simulations_the_evaluation_speaks() {
    for method in [Config::puct(0).method, gumbel()] {
        let mut search = Search::default();
        let game = Othello::default();
        search.begin(&game, Config { n_simulations: 0, method }, &mut fastrand::Rng::with_seed(1));
        run(&mut search, 8, &mut Hashed, &mut Cache::new(0));
        let (findings, target) = (search.findings(), search.target());
        assert_eq!(search.statistics().n_evaluations, 1);
        for finding in &findings {
            assert_eq!(finding.n_visits, 0);
            assert!((target[finding.action.0] - finding.prior).abs() < 1e-6);
        }
        let mut evaluations = Evaluations::default();
        evaluations.resize::<Othello>(1);
        Hashed.evaluate(&[game], &mut evaluations);
        assert!((search.value() - evaluations.values[0]).abs() < 1e-6);
    }
}

#[test]
#[should_panic(expected = "this leaf does not wait for an answer")]
fn a_leaf_is_answered_once() {
    let (mut search, mut cache) = (Search::default(), Cache::new(0));
    search.begin(&Connect4::default(), Config::puct(10), &mut fastrand::Rng::with_seed(1));
    let leaf = search.next_leaf(&mut cache).unwrap();
    for _ in 0..2 {
        search.answer(leaf.id, Evaluation { logits: &[0.0; 7], value: 0.0 }, &mut cache);
    }
}
