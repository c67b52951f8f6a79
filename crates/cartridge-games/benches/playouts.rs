//! Random playouts from the start: `cargo bench --package cartridge-games`.
//!
//! One iteration plays 1,000 games to their end on one core; an element is one move. Beside it,
//! the same through the general functions of the trait, which a search pays outside its rollouts.

use std::hint::black_box;

use cartridge_games::connect4::Connect4;
use cartridge_games::othello::Othello;
use cartridge_games::tic_tac_toe::TicTacToe;
use cartridge_games::{Game, Turn, random_action};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const N_GAMES: usize = 1_000;

/// Plays the games and returns how many moves they took.
fn play<G: Game>(
    mut playout: impl FnMut(&mut G, &mut fastrand::Rng) -> usize,
    rng: &mut fastrand::Rng,
) -> usize {
    let start = G::start(rng);
    (0..N_GAMES)
        .map(|_| {
            let mut game = start.clone();
            let n_plies = playout(&mut game, rng);
            black_box(&game);
            n_plies
        })
        .sum()
}

fn step_by_step<G: Game>(game: &mut G, rng: &mut fastrand::Rng) -> usize {
    let mut n_plies = 0;
    while game.turn() != Turn::Over {
        game.apply(random_action(game, rng));
        n_plies += 1;
    }
    n_plies
}

fn bench<G: Game>(criterion: &mut Criterion) {
    // Chance goes on from one iteration to the next: the processor would learn by heart what
    // repeats. So the moves of an iteration are a mean, taken over many.
    let mut rng = fastrand::Rng::with_seed(7);
    let n_moves: usize = (0..100).map(|_| play::<G>(G::playout, &mut rng)).sum();
    let mut group = criterion.benchmark_group(G::SPEC.id);
    group.throughput(Throughput::Elements(n_moves as u64 / 100));
    group.bench_function("playout", |bencher| bencher.iter(|| play::<G>(G::playout, &mut rng)));
    group.bench_function("step_by_step", |bencher| {
        bencher.iter(|| play::<G>(step_by_step, &mut rng));
    });
    group.finish();
}

criterion_group!(playouts, bench::<TicTacToe>, bench::<Connect4>, bench::<Othello>);
criterion_main!(playouts);
