use std::time::Instant;

use cartridge_games::random_action;

use super::*;
use crate::cache::Cache;
use crate::evaluator::{Playouts, Uniform, run};
use crate::gumbel::Gumbel;
use crate::mcts::{self, Mcts};
use crate::puct::Puct;
use crate::search::{self, Method, Search};

/// Positions with the score of every move, as their README describes.
const SETS: [(&str, &str); 6] = [
    ("L3_R1", include_str!("golden/L3_R1.txt")),
    ("L2_R1", include_str!("golden/L2_R1.txt")),
    ("L2_R2", include_str!("golden/L2_R2.txt")),
    ("L1_R1", include_str!("golden/L1_R1.txt")),
    ("L1_R2", include_str!("golden/L1_R2.txt")),
    ("L1_R3", include_str!("golden/L1_R3.txt")),
];

fn connect4(columns: &str) -> Connect4 {
    let mut game = Connect4::default();
    for column in columns.bytes() {
        game.apply(Action(usize::from(column - b'1')));
    }
    game
}

/// A line of a set: the position, and the score of every legal action.
fn parse(line: &str) -> (Connect4, Vec<(Action, i32)>) {
    let mut words = line.split_whitespace();
    let game = connect4(words.next().unwrap());
    let scores = words.enumerate().filter(|(_, word)| *word != "x");
    (game, scores.map(|(column, word)| (Action(column), word.parse().unwrap())).collect())
}

#[test]
fn late_positions_have_their_published_scores() {
    let mut solver = Solver::default();
    for line in SETS[..2].iter().flat_map(|(_, lines)| lines.lines()) {
        let (game, expected) = parse(line);
        assert_eq!(solver.scores(&game), expected, "{line}");
    }
}

#[test]
fn openings_have_their_published_scores() {
    let mut solver = Solver::default();
    // The middle wins with the 41st disc, its neighbours draw, the rest loses.
    let scores: Vec<i32> =
        solver.scores(&connect4("")).into_iter().map(|(_, score)| score).collect();
    assert_eq!(scores, [-2, -1, 0, 1, 0, -1, -2]);
    let openings = SETS[2..].iter().flat_map(|(_, lines)| lines.lines());
    let openings = openings.filter(|line| line.split(' ').next().unwrap().len() < 8);
    let mut n_openings = 0;
    for line in openings {
        let (game, expected) = parse(line);
        assert_eq!(solver.scores(&game), expected, "{line}");
        n_openings += 1;
    }
    assert!(n_openings > 100, "{n_openings}");
}

#[test]
fn the_book_has_a_score_for_every_opening() {
    assert_eq!(book_keys().len(), BOOK.len());
    assert!(book_keys().is_sorted_by(|a, b| a < b));
}

#[test]
fn perfect_play_never_loses_from_a_won_or_drawn_opening() {
    let mut rng = fastrand::Rng::with_seed(6);
    let mut solver = Solver::default();
    for _ in 0..3 {
        let mut game = connect4("");
        while let Turn::Seat(Seat(seat)) = game.turn() {
            let action = if seat == 0 {
                solver.best_action(&game, &mut rng).unwrap()
            } else {
                random_action(&game, &mut rng)
            };
            game.apply(action);
        }
        assert_eq!(game.score(Seat(0)), 1.0, "\n{game}");
    }
    assert_eq!(solver.best_action(&connect4("1212121"), &mut rng), None);
}

#[test]
fn bounds_survive_a_byte() {
    for score in -18..=18 {
        for bound in [Bound::AtLeast(score), Bound::AtMost(score)] {
            assert_eq!(Bound::from_byte(bound.to_byte()), bound);
        }
    }
}

/// The share of positions in which a player's action changes win, draw or loss for the worse, in
/// percent, for each set.
fn value_errors(mut choose: impl FnMut(&Connect4) -> Action) -> Vec<(&'static str, f64)> {
    let mut is_error = |line: &str| {
        let (game, scores) = parse(line);
        let action = choose(&game);
        let best = scores.iter().map(|&(_, score)| score.signum()).max().unwrap();
        !scores.iter().any(|&(legal, score)| legal == action && score.signum() == best)
    };
    SETS.map(|(name, lines)| {
        let n_errors = lines.lines().filter(|line| is_error(line)).count();
        (name, 100.0 * n_errors as f64 / lines.lines().count() as f64)
    })
    .into()
}

/// Published are 0, 0, 6.5, 2, 7 and 19; the bar is three points more.
#[test]
fn tree_search_errs_about_as_rarely_as_published() {
    let limits = [3.0, 3.0, 9.5, 5.0, 10.0, 22.0];
    for seed in 1..=3 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut tree = Mcts::default();
        let errors = value_errors(|game| tree.best_action(game, mcts::Config::new(1000), &mut rng));
        println!("MCTS with 1,000 simulations, seed {seed}: {errors:.1?}");
        for ((name, error), limit) in errors.into_iter().zip(limits) {
            assert!(error <= limit, "{name}, seed {seed}: {error:.1}% errors");
        }
    }
}

/// The same bar for AlphaZero's search, with playouts in place of a network.
#[test]
fn guided_search_errs_about_as_rarely_as_published() {
    let limits = [3.0, 3.0, 9.5, 5.0, 10.0, 22.0];
    let gumbel = Gumbel { is_random: false, ..Gumbel::default() };
    for method in [Method::Puct(Puct::default()), Method::Gumbel(gumbel)] {
        let config = search::Config { n_simulations: 1000, method };
        let mut rng = fastrand::Rng::with_seed(1);
        let mut playouts = Playouts { n_playouts: 4, rng: rng.fork() };
        let (mut search, mut cache) = (Search::default(), Cache::new(0));
        let errors = value_errors(|game| {
            search.begin(game, config, &mut rng);
            run(&mut search, 1, &mut playouts, &mut cache);
            search.best_action()
        });
        println!("{method:?}: {errors:.1?}");
        for ((name, error), limit) in errors.into_iter().zip(limits) {
            assert!(error <= limit, "{name}: {error:.1}% errors");
        }
    }
}

/// Wins by the third disc from now are proven without any knowledge, and so are losses by the other
/// seat's second.
#[test]
fn guided_search_proves_short_wins_and_losses() {
    let (mut n_wins, mut n_losses) = (0, 0);
    let lines = SETS[..3].iter().flat_map(|(_, lines)| lines.lines());
    for line in lines {
        let (game, scores) = parse(line);
        let best = scores.iter().map(|&(_, score)| score).max().unwrap();
        // How many more discs the winner needs.
        let n_plies = game.n_plies() as i32;
        let expected = match best.signum() {
            1 if 22 - best - n_plies / 2 <= 3 => 1.0,
            -1 if 22 + best - (n_plies + 1) / 2 <= 2 => -1.0,
            _ => continue,
        };
        for config in [search::Config::puct(20_000), search::Config::gumbel(20_000)] {
            let mut search = Search::default();
            search.begin(&game, config, &mut fastrand::Rng::with_seed(1));
            run(&mut search, 1, &mut Uniform, &mut Cache::new(0));
            assert_eq!(search.proven(), Some(expected), "{line}, {:?}", config.method);
            let action = search.best_action();
            let score = scores.iter().find(|(legal, _)| *legal == action).unwrap().1;
            assert_eq!(score.signum(), best.signum(), "{line}");
        }
        n_wins += usize::from(best > 0);
        n_losses += usize::from(best < 0);
    }
    println!("{n_wins} wins and {n_losses} losses");
    assert!(n_wins > 50 && n_losses > 5, "{n_wins} wins and {n_losses} losses");
}

#[test]
fn perfect_play_makes_no_error() {
    if std::env::var_os("RUN_SLOW_TESTS").is_none() {
        return;
    }
    let (mut n_moves, mut worst_seconds) = (0, 0.0_f64);
    let mut rng = fastrand::Rng::with_seed(1);
    let errors = value_errors(|game| {
        let begun = Instant::now();
        let action = Solver::default().best_action(game, &mut rng).unwrap();
        worst_seconds = worst_seconds.max(begun.elapsed().as_secs_f64());
        n_moves += 1;
        action
    });
    println!("perfect: {errors:.1?}; slowest of {n_moves} moves {worst_seconds:.2} s");
    assert!(errors.iter().all(|(_, error)| *error == 0.0), "{errors:?}");
}
