//! Counts what is allocated while a game is searched.

#![expect(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use cartridge_games::connect4::Connect4;
use cartridge_games::othello::Othello;
use cartridge_games::tic_tac_toe::TicTacToe;
use cartridge_games::{Game, Turn};
use cartridge_search::cache::Cache;
use cartridge_search::evaluator::Evaluation;
use cartridge_search::search::{Config, Leaf, Search};

/// The system's allocator, and a count of what each thread asks of it.
struct Counting;

thread_local! {
    static N_ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is handed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the promises of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the promises of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn count() {
    N_ALLOCATIONS.with(|n| n.set(n.get() + 1));
}

/// What is used again from game to game.
struct Table<G> {
    search: Search<G>,
    cache: Cache<G>,
    leaves: Vec<Leaf<G>>,
}

impl<G: Game> Table<G> {
    /// Plays a game, keeping the tree from ply to ply, and returns what its searches allocated.
    fn play(&mut self, config: Config, width: usize) -> usize {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut game = G::start(&mut rng);
        let logits = vec![0.0; G::SPEC.n_actions];
        let mut n_allocations = 0;
        self.search.clear();
        self.cache.clear();
        while game.turn() != Turn::Over {
            let before = N_ALLOCATIONS.get();
            self.search.begin(&game, config, &mut rng);
            loop {
                while self.leaves.len() < width {
                    let Some(leaf) = self.search.next_leaf(&mut self.cache) else { break };
                    self.leaves.push(leaf);
                }
                if self.leaves.is_empty() {
                    break;
                }
                for leaf in self.leaves.drain(..) {
                    let value = (leaf.game.hash64() % 100) as f32 / 100.0;
                    let evaluation = Evaluation { logits: &logits, value };
                    self.search.answer(leaf.id, evaluation, &mut self.cache);
                }
            }
            n_allocations += N_ALLOCATIONS.get() - before;
            let action = self.search.best_action();
            game.apply(action);
            let before = N_ALLOCATIONS.get();
            self.search.advance(action);
            n_allocations += N_ALLOCATIONS.get() - before;
        }
        n_allocations
    }
}

#[track_caller]
fn check<G: Game>() {
    for config in [Config::puct(200), Config::gumbel(200)] {
        for width in [1, 8] {
            let (search, cache) = (Search::<G>::default(), Cache::new(1000));
            let mut table = Table { search, cache, leaves: Vec::with_capacity(width) };
            let first = table.play(config, width);
            assert!(first > 0, "what is allocated is counted");
            // The two halves of a tree that is kept take turns, so they are warm after two games.
            table.play(config, width);
            assert_eq!(table.play(config, width), 0, "{}, {config:?}", G::SPEC.id);
        }
    }
}

#[test]
fn a_search_that_is_warm_allocates_nothing() {
    check::<TicTacToe>();
    check::<Connect4>();
    check::<Othello>();
}
