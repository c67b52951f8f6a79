//! Samples per second of the networks that reinforcement learning uses, on one thread, to see what a
//! change of the kernels gains; `benches/kernels.sh` has the same networks beside burn, candle and
//! PyTorch. The best of some rounds, because whatever else the machine does can only slow them down.

#![expect(clippy::print_stdout, reason = "a measurement is for reading")]

use std::hint::black_box;
use std::time::Instant;

use cartridge_learn::adam::Adam;
use cartridge_learn::network::{Activation, Mlp, Workspace};

const ROUNDS: usize = 12;
const ROUND_SECONDS: f64 = 0.1;

/// The most samples per second of `step`, which works on `n`.
fn measure(n: usize, mut step: impl FnMut()) -> f64 {
    let mut best = 0.0_f64;
    for _ in 0..ROUNDS {
        let (started, mut n_done) = (Instant::now(), 0);
        while started.elapsed().as_secs_f64() < ROUND_SECONDS {
            (0..8).for_each(|_| step());
            n_done += 8 * n;
        }
        best = best.max(n_done as f64 / started.elapsed().as_secs_f64());
    }
    best
}

fn main() {
    let rng = &mut fastrand::Rng::with_seed(1);
    let cases: [(&str, &[usize], Activation, &[usize]); 3] = [
        ("ppo actor 8-64-64-4 tanh", &[8, 64, 64, 4], Activation::Tanh, &[64, 512, 2048]),
        ("prospector actor 260-64-64-69 tanh", &[260, 64, 64, 69], Activation::Tanh, &[128, 1024]),
        ("dqn 4-256-256-2 relu", &[4, 256, 256, 2], Activation::Relu, &[32, 64, 128]),
    ];
    for (name, sizes, activation, batches) in cases {
        let mut network = Mlp::new(sizes, activation, 1.0, rng);
        let n_parameters = network.parameters().len();
        let mut adam = Adam::new(n_parameters, 1e-5);
        for &n in batches {
            let inputs: Vec<f32> = (0..n * sizes[0]).map(|_| rng.f32() * 2.0 - 1.0).collect();
            let n_outputs = n * sizes[sizes.len() - 1];
            let slopes: Vec<f32> = (0..n_outputs).map(|_| rng.f32() - 0.5).collect();
            let (mut work, mut gradient) = (Workspace::default(), vec![0.0; n_parameters]);
            let forward = measure(n, || {
                black_box(network.forward(black_box(&inputs), n, &mut work));
            });
            let learn = measure(n, || {
                network.forward(black_box(&inputs), n, &mut work);
                network.backward(&inputs, n, &slopes, &mut work, &mut gradient);
                network.change(|all| adam.update(all, &gradient, 1.0, 1e-9));
            });
            println!("{name}, batch {n}: forward {forward:.0}/s, gradient step {learn:.0}/s");
        }
    }
}
