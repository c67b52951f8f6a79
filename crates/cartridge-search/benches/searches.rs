//! Simulations per second of the tree search, with an evaluator that costs nothing, on one thread:
//! `cargo bench --package cartridge-search`.
//!
//! Games are played from the start by the search itself, with a new tree for every ply, as in
//! learning. The best of some rounds, because whatever else the machine does can only slow them
//! down; the cases take turns, so that it slows all of them.

#![expect(clippy::print_stdout, reason = "a measurement is for reading")]

use std::time::Instant;

use cartridge_games::connect4::Connect4;
use cartridge_games::othello::Othello;
use cartridge_games::tic_tac_toe::TicTacToe;
use cartridge_games::{Game, Turn, random_action};
use cartridge_search::cache::Cache;
use cartridge_search::evaluator::{Evaluations, Evaluator, Uniform, run};
use cartridge_search::search::{Config, Search};

const ROUNDS: usize = 8;
const ROUND_SECONDS: f64 = 0.2;

/// A value that follows from the position and differs between positions, so that trees grow as
/// they do with a network.
struct Hashed;

impl<G: Game> Evaluator<G> for Hashed {
    fn evaluate(&mut self, games: &[G], out: &mut Evaluations) {
        let n_actions = G::SPEC.n_actions;
        for (place, game) in games.iter().enumerate() {
            let mut bits = game.hash64();
            out.values[place] = (bits >> 40) as f32 / (1 << 23) as f32 - 1.0;
            for logit in &mut out.logits[place * n_actions..][..n_actions] {
                bits = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
                *logit = (bits >> 40) as f32 / (1 << 23) as f32;
            }
        }
    }
}

/// One way to search, and the best that was seen of it.
struct Case<G> {
    name: &'static str,
    config: Config,
    width: usize,
    search: Search<G>,
    cache: Cache<G>,
    best: f64,
}

impl<G: Game> Case<G> {
    fn new(name: &'static str, config: Config, width: usize, n_cached: usize) -> Self {
        let (search, cache) = (Search::default(), Cache::new(n_cached));
        Self { name, config, width, search, cache, best: 0.0 }
    }

    /// Plays for a while, each ply by a search or, one in four, by chance.
    fn play<E: Evaluator<G>>(&mut self, evaluator: &mut E, rng: &mut fastrand::Rng) {
        let (started, mut n_descents) = (Instant::now(), 0);
        let mut game = G::start(rng);
        while started.elapsed().as_secs_f64() < ROUND_SECONDS {
            if game.turn() == Turn::Over {
                game = G::start(rng);
            }
            self.search.clear();
            self.search.begin(&game, self.config, rng);
            run(&mut self.search, self.width, evaluator, &mut self.cache);
            n_descents += self.search.statistics().n_descents;
            let action = self.search.best_action();
            game.apply(if rng.u8(..4) == 0 { random_action(&game, rng) } else { action });
        }
        self.best = self.best.max(n_descents as f64 / started.elapsed().as_secs_f64());
    }
}

fn bench<G: Game>() {
    let mut cases: Vec<Case<G>> = Vec::new();
    for n_simulations in [100, 400] {
        cases.push(Case::new("PUCT", Config::puct(n_simulations), 1, 0));
        cases.push(Case::new("PUCT, 8 leaves at once", Config::puct(n_simulations), 8, 0));
        cases.push(Case::new("PUCT, cache", Config::puct(n_simulations), 1, 1 << 14));
        cases.push(Case::new("Gumbel", Config::gumbel(n_simulations), 1, 0));
    }
    for evaluator in ["uniform", "hashed"] {
        let rng = &mut fastrand::Rng::with_seed(1);
        for _ in 0..ROUNDS {
            for case in &mut cases {
                match evaluator {
                    "uniform" => case.play(&mut Uniform, rng),
                    _ => case.play(&mut Hashed, rng),
                }
            }
        }
        for case in &mut cases {
            let Case { name, config, best, .. } = case;
            let n_simulations = config.n_simulations;
            println!(
                "{}, {evaluator}, {name}, {n_simulations} simulations: {best:.0}/s",
                G::SPEC.id
            );
            *best = 0.0;
            case.cache.clear();
        }
    }
}

fn main() {
    bench::<TicTacToe>();
    bench::<Connect4>();
    bench::<Othello>();
}
