use cartridge_games::connect4::Connect4;
use cartridge_games::othello::Othello;
use cartridge_games::random_action;
use cartridge_games::tic_tac_toe::TicTacToe;

use super::*;
use crate::cache::Cache;
use crate::coins::Coins;
use crate::evaluator::{Evaluations, Evaluator, run};
use crate::search::{Config, Search};

/// Logits and values that follow from the position and are all different.
pub(crate) struct Hashed;

impl<G: Game> Evaluator<G> for Hashed {
    fn evaluate(&mut self, games: &[G], out: &mut Evaluations) {
        let n_actions = G::SPEC.n_actions;
        for (place, game) in games.iter().enumerate() {
            let mut rng = fastrand::Rng::with_seed(game.hash64());
            out.values[place] = rng.f32() * 2.0 - 1.0;
            let logits = &mut out.logits[place * n_actions..][..n_actions];
            logits.fill_with(|| rng.f32() * 2.0);
        }
    }
}

/// Demands that visits and scores of every position are those of its evaluation and of the edges
/// that follow, and that nothing is under way.
#[track_caller]
pub(crate) fn check_sums<G: Game>(tree: &Tree<G>) {
    let mut n_open = 0;
    for node in tree.nodes() {
        let (via, edges) = (tree.edge_to(node), tree.edges_of(node));
        assert_eq!(via.n_outstanding, 0);
        let edges = edges.iter().filter(|edge| edge.n_visits > 0);
        assert!(edges.clone().all(|edge| edge.child != NONE || edge.proven.is_some()));
        assert!(edges.clone().all(|edge| edge.total.abs() <= f64::from(edge.n_visits) + 1e-6));
        if via.proven.is_some() || !node.is_evaluated() {
            continue;
        }
        n_open += 1;
        let n: u32 = edges.clone().map(|edge| edge.n_visits).sum();
        assert_eq!(via.n_visits, 1 + n);
        let total = f64::from(node.sign * node.value) + edges.map(|edge| edge.total).sum::<f64>();
        assert!((via.total - total).abs() < 1e-6, "{} is not {total}", via.total);
    }
    assert!(n_open > 0);
}

/// Searches some random positions and looks at the sums.
fn check_game<G: Game>(config: Config, n_opening: usize) {
    let mut rng = fastrand::Rng::with_seed(3);
    for width in [1, 8] {
        for _ in 0..20 {
            let mut game = G::start(&mut rng);
            for _ in 0..n_opening {
                let mut next = game.clone();
                next.apply(random_action(&game, &mut rng));
                game = if next.turn() == Turn::Over { game } else { next };
            }
            let mut search = Search::default();
            search.begin(&game, config, &mut rng);
            run(&mut search, width, &mut Hashed, &mut Cache::new(256));
            if search.proven().is_none() {
                check_sums(search.tree());
                let findings = search.findings();
                let n: u32 = findings.iter().map(|finding| finding.n_visits).sum();
                assert_eq!(n, config.n_simulations);
                assert!(findings.iter().map(|finding| finding.action).eq(game.legal_actions()));
            }
        }
    }
}

#[test]
fn visits_and_scores_add_up() {
    for config in [Config::puct(300), Config::gumbel(300), Config::puct(1), Config::gumbel(2)] {
        check_game::<TicTacToe>(config, 0);
        check_game::<Connect4>(config, 4);
        check_game::<Connect4>(config, 12);
        check_game::<Othello>(config, 10);
        check_game::<Othello>(config, 50);
    }
}

/// Leaves that wait leave no trace once they are answered: the same leaves make the same tree.
#[test]
fn an_answered_leaf_leaves_no_virtual_loss() {
    let game = Connect4::default();
    let mut rng = fastrand::Rng::with_seed(1);
    let (mut search, mut cache) = (Search::default(), Cache::new(0));
    search.begin(&game, Config::puct(60), &mut rng);
    let mut leaves = Vec::new();
    let mut n_waiting = 0;
    loop {
        let leaf = search.next_leaf(&mut cache);
        let is_stuck = leaf.is_none();
        leaves.extend(leaf);
        if leaves.is_empty() {
            break;
        }
        if leaves.len() == 8 || is_stuck {
            let root = search.tree().root().unwrap();
            assert_eq!(usize::from(search.tree().edge_to(root).n_outstanding), leaves.len());
            n_waiting = n_waiting.max(leaves.len());
            let edges = search.tree().edges_of(root).iter();
            let n: usize = edges.map(|edge| usize::from(edge.n_outstanding)).sum();
            assert_eq!(n, if root.is_evaluated() { leaves.len() } else { 0 });
            // The last come first: the order of answers is free.
            for leaf in leaves.drain(..).rev() {
                let mut evaluations = Evaluations::default();
                evaluations.resize::<Connect4>(1);
                Hashed.evaluate(&[leaf.game], &mut evaluations);
                search.answer(leaf.id, evaluations.get::<Connect4>(0), &mut cache);
            }
        }
    }
    assert_eq!(n_waiting, 8);
    check_sums(search.tree());
    assert!(search.tree().edges.iter().all(|edge| edge.n_outstanding == 0));
}

#[test]
fn a_kept_tree_has_the_same_sums() {
    #[track_caller]
    fn check<G: Game>(config: Config) {
        let mut rng = fastrand::Rng::with_seed(7);
        let mut search = Search::default();
        let mut game = G::start(&mut rng);
        for _ in 0..10 {
            search.begin(&game, config, &mut rng);
            run(&mut search, 1, &mut Hashed, &mut Cache::new(0));
            let best = search.best_action();
            let findings = search.findings();
            let finding = findings.iter().find(|finding| finding.action == best).unwrap();
            let line = search.principal_variation();
            game.apply(best);
            search.advance(best);
            if game.turn() == Turn::Over || finding.proven.is_some() {
                return;
            }
            check_sums(search.tree());
            let root = search.tree().root().unwrap();
            assert_eq!(root.game, game);
            let edge = search.tree().edge_to(root);
            assert_eq!(edge.n_visits, finding.n_visits);
            let before = search.tree().nodes.len();
            assert!(before > 1 && before <= finding.n_visits as usize);
            if matches!(config.method, crate::search::Method::Puct(_)) {
                assert_eq!(search.principal_variation(), line[1..]);
            }
            // The next search adds to it.
            search.begin(&game, config, &mut rng);
            assert_eq!(search.tree().nodes.len(), before);
            run(&mut search, 1, &mut Hashed, &mut Cache::new(0));
            if search.proven().is_none() {
                let n: u32 = search.findings().iter().map(|finding| finding.n_visits).sum();
                assert_eq!(n, finding.n_visits - 1 + config.n_simulations);
                check_sums(search.tree());
            }
        }
    }
    for config in [Config::puct(200), Config::gumbel(200)] {
        check::<Connect4>(config);
        check::<Othello>(config);
    }
}

#[test]
fn what_was_not_visited_is_forgotten() {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut search = Search::default();
    let game = Othello::default();
    search.begin(&game, Config::puct(1), &mut rng);
    run(&mut search, 1, &mut Hashed, &mut Cache::new(0));
    let unvisited = search.findings().into_iter().find(|finding| finding.n_visits == 0).unwrap();
    search.advance(unvisited.action);
    assert!(search.tree().root().is_none());
    // Nor is a tree of another position kept.
    search.begin(&game, Config::puct(50), &mut rng);
    run(&mut search, 1, &mut Hashed, &mut Cache::new(0));
    let mut next = game;
    next.apply(unvisited.action);
    search.begin(&next, Config::puct(50), &mut rng);
    assert_eq!(search.tree().nodes.len(), 1);
}

/// Taking two coins gives another turn, and values are backed up by the seat to move all the same:
/// the sums of the test above would not show a wrong sign, proofs do.
#[test]
fn a_seat_may_move_twice() {
    for to_move in [0, 1] {
        for n_left in 2..=6 {
            for config in [Config::puct(500), Config::gumbel(500)] {
                let game = Coins { n_left, to_move, taker: 1 - to_move };
                let mut search = Search::default();
                search.begin(&game, config, &mut fastrand::Rng::with_seed(2));
                run(&mut search, 1, &mut Hashed, &mut Cache::new(0));
                assert_eq!(search.best_action(), Action(1), "{n_left} coins");
                assert_eq!(search.proven(), Some(1.0), "{n_left} coins");
                assert_eq!(search.value(), 1.0);
                assert_eq!(search.target(), [0.0, 1.0]);
            }
        }
    }
}
