//! Positions per second of the networks that look at a board: inference of some batches on one
//! thread and on two, and gradient steps. `benches/boardnets.sh` has onnxruntime beside it. The best
//! of many short rounds, because whatever else the machine does can only slow them down.

#![expect(clippy::print_stdout, reason = "a measurement is for reading")]

use std::hint::black_box;
use std::time::Instant;

use cartridge_learn::board_net::{BoardNet, Config, Shape, Workspace};
use cartridge_learn::team::Team;

const ROUNDS: usize = 60;
const ROUND_SECONDS: f64 = 0.01;

/// The most positions per second of `step`, which works on `n`.
fn measure(n: usize, mut step: impl FnMut()) -> f64 {
    let mut best = 0.0_f64;
    for _ in 0..ROUNDS {
        let (started, mut n_done) = (Instant::now(), 0);
        while started.elapsed().as_secs_f64() < ROUND_SECONDS {
            step();
            n_done += n;
        }
        best = best.max(n_done as f64 / started.elapsed().as_secs_f64());
    }
    best
}

fn main() {
    let rng = &mut fastrand::Rng::with_seed(1);
    let connect4 = Shape { n_planes: 2, n_rows: 6, n_columns: 7, n_actions: 7 };
    let othello = Shape { n_planes: 2, n_rows: 8, n_columns: 8, n_actions: 65 };
    let cases = [
        ("connect4 2x32", connect4, Config::residual(2, 32)),
        ("connect4 5x64", connect4, Config::residual(5, 64)),
        ("othello 5x64", othello, Config::residual(5, 64)),
        ("connect4 mlp 64-64", connect4, Config::mlp(&[64, 64])),
    ];
    for (name, shape, config) in cases {
        let network = BoardNet::new(shape, &config, rng).expect("a size that there is");
        for n in [1, 64, 256] {
            let planes: Vec<f32> =
                (0..n * shape.n_inputs()).map(|_| f32::from(rng.u8(..4) == 0)).collect();
            let (mut logits, mut values) = (vec![0.0; n * shape.n_actions], vec![0.0; n]);
            let mut work = Workspace::default();
            let alone = measure(n, || {
                network.infer(&mut work, black_box(&planes), &mut logits, &mut values);
            });
            let (mut team, mut works) = (Team::new(2), Vec::new());
            let together = measure(n, || {
                let planes = black_box(&planes);
                network.infer_together(&mut team, &mut works, planes, &mut logits, &mut values);
            });
            println!("{name}, batch {n}: {alone:.0}/s on one thread, {together:.0}/s on two");
        }
    }
}
