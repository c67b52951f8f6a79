use cartridge_games::connect4::Connect4;
use cartridge_games::othello::Othello;
use cartridge_games::random_action;
use cartridge_games::tic_tac_toe::TicTacToe;

use super::*;
use crate::coins::Coins;
use crate::minimax;

/// The score of `strong` against `weak`, between 0 and 1, and half the width of its 95% interval:
/// pairs of games from the same random opening, each side once.
fn compare<G: Game>(strong: u32, weak: u32, n_pairs: usize, n_opening: usize) -> (f64, f64) {
    let mut rng = fastrand::Rng::with_seed(11);
    let mut tree = Mcts::default();
    let mut pairs = Vec::new();
    while pairs.len() < n_pairs {
        let mut opening = G::start(&mut rng);
        for _ in 0..n_opening {
            opening.apply(random_action(&opening, &mut rng));
        }
        let mut pair = 0.0;
        for seat in (0..2).map(Seat) {
            let mut game = opening.clone();
            while let Turn::Seat(to_move) = game.turn() {
                let n_simulations = if to_move == seat { strong } else { weak };
                game.apply(tree.best_action(&game, Config::new(n_simulations), &mut rng));
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

/// Demands that 16 times the simulations score above 60%, with 95% confidence.
#[track_caller]
fn check_stronger<G: Game>(weak: u32, n_pairs: usize, n_opening: usize) {
    let (mean, margin) = compare::<G>(16 * weak, weak, n_pairs, n_opening);
    assert!(mean - margin > 0.6, "{}: {mean:.3} ± {margin:.3}", G::SPEC.id);
}

#[test]
fn more_simulations_beat_fewer_at_tictactoe() {
    check_stronger::<TicTacToe>(4, 500, 1);
}

#[test]
fn more_simulations_beat_fewer_at_connect4() {
    check_stronger::<Connect4>(32, 100, 4);
}

#[test]
fn more_simulations_beat_fewer_at_othello() {
    check_stronger::<Othello>(16, 50, 4);
}

fn connect4(columns: &str) -> Connect4 {
    let mut game = Connect4::default();
    for column in columns.bytes() {
        game.apply(Action(usize::from(column - b'1')));
    }
    game
}

/// Drops discs into the columns, then demands the action, whatever the chance.
#[track_caller]
fn check(columns: &str, n_simulations: u32, expected: &[usize]) {
    let game = connect4(columns);
    for seed in 0..10 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let action = Mcts::default().best_action(&game, Config::new(n_simulations), &mut rng);
        assert!(expected.contains(&(action.0 + 1)), "seed {seed}: {action:?}\n{game}");
    }
}

#[test]
fn wins_at_once_and_defends_in_time() {
    check("414141", 1, &[4]);
    check("41414", 100, &[4]);
    // Three in the bottom row with both ends open would be lost.
    check("443", 500, &[2, 5]);
}

#[test]
fn proves_a_win_in_three() {
    // `x` makes an open three of columns 3, 4 and 5: whatever `o` answers, it completes four.
    let game = connect4("4455");
    let mut rng = fastrand::Rng::with_seed(0);
    let findings = Mcts::default().search(&game, Config::new(2000), &mut rng);
    let best = best(&findings);
    assert!([Action(2), Action(5)].contains(&best), "{best:?}");
    assert!(findings.iter().any(|finding| finding.action == best && finding.proven == Some(1.0)));
}

#[test]
fn the_visits_of_the_root_add_up() {
    #[track_caller]
    fn check<G: Game>(n_simulations: u32) {
        let mut rng = fastrand::Rng::with_seed(4);
        let game = G::start(&mut rng);
        let findings = Mcts::default().search(&game, Config::new(n_simulations), &mut rng);
        assert_eq!(findings.iter().map(|finding| finding.n_visits).sum::<u32>(), n_simulations);
        assert!(findings.iter().map(|finding| finding.action).eq(game.legal_actions()));
        assert!(findings.iter().all(|finding| finding.mean.abs() <= 1.0));
    }
    check::<TicTacToe>(500);
    check::<Connect4>(1000);
    check::<Othello>(300);
    check::<Othello>(1);
}

#[test]
fn the_same_seed_finds_the_same() {
    let search = |seed| {
        let mut rng = fastrand::Rng::with_seed(seed);
        Mcts::default().search(&connect4("4433"), Config::new(500), &mut rng)
    };
    assert_eq!(search(1), search(1));
    assert_ne!(search(1), search(2));
}

#[test]
fn a_second_search_allocates_nothing_and_remembers_nothing() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut tree = Mcts::default();
    let game = connect4("44");
    let first = tree.search(&game, Config::new(500), &mut rng);
    let capacity = (tree.nodes.capacity(), tree.path.capacity());
    let again = tree.search(&game, Config::new(500), &mut fastrand::Rng::with_seed(1));
    assert_eq!(first, again);
    assert_eq!(capacity, (tree.nodes.capacity(), tree.path.capacity()));
}

/// In every position of the game, taking two wins and taking one loses: see the tests of minimax.
#[test]
fn a_seat_may_move_twice() {
    for to_move in [0, 1] {
        for n_left in 2..=6 {
            let game = Coins { n_left, to_move, taker: 1 - to_move };
            let mut rng = fastrand::Rng::with_seed(2);
            let findings = Mcts::default().search(&game, Config::new(500), &mut rng);
            assert_eq!(best(&findings), Action(1), "{n_left} coins");
            assert_eq!(findings[1].proven, Some(1.0), "{n_left} coins");
        }
    }
}

#[test]
fn what_is_proven_is_exact() {
    let mut rng = fastrand::Rng::with_seed(2);
    let (mut tree, mut n_proven) = (Mcts::default(), 0);
    for _ in 0..100 {
        let mut game = TicTacToe::default();
        for _ in 0..3 {
            game.apply(random_action(&game, &mut rng));
        }
        let findings = tree.search(&game, Config::new(1000), &mut rng);
        let exact = minimax::solve(&game);
        for (finding, &(action, value)) in findings.iter().zip(&exact) {
            assert!(finding.proven.is_none_or(|proven| proven == value), "{action:?}\n{game}");
            n_proven += usize::from(finding.proven.is_some());
        }
        let value = exact.iter().map(|&(_, value)| value).fold(f32::NEG_INFINITY, f32::max);
        assert!(exact.contains(&(best(&findings), value)), "{findings:?}\n{game}");
    }
    assert!(n_proven > 300, "only {n_proven} of 600 actions are proven");
}
