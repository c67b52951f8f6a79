//! Positions per second of the networks that look at a board: inference of some batches, and gradient
//! steps, on one thread and on two. `benches/boardnets.sh` has onnxruntime beside it. The best of many
//! short rounds, because whatever else the machine does can only slow them down.
//!
//! With `--json`, one line for each figure; with a word, only networks whose name has it.

#![expect(clippy::print_stdout, reason = "a measurement is for reading")]

use std::hint::black_box;
use std::time::Instant;

use cartridge_learn::board_learner::{Batch, BoardLearner, Config as LearnerConfig};
use cartridge_learn::board_net::{BoardNet, Config, Preset, Shape, Workspace};
use cartridge_learn::team::Team;

const ROUNDS: usize = 40;
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
        // A gradient step takes many rounds.
        if n_done == n && started.elapsed().as_secs_f64() > 10.0 * ROUND_SECONDS {
            break;
        }
    }
    best
}

fn inference(network: &BoardNet, n: usize, n_threads: usize, planes: &[f32]) -> f64 {
    let (mut logits, mut values) = (vec![0.0; n * network.shape().n_actions], vec![0.0; n]);
    if n_threads == 1 {
        let mut work = Workspace::default();
        return measure(n, || {
            network.infer(&mut work, black_box(planes), &mut logits, &mut values);
        });
    }
    let (mut team, mut works) = (Team::new(n_threads), Vec::new());
    measure(n, || {
        let planes = black_box(planes);
        network.infer_together(&mut team, &mut works, planes, &mut logits, &mut values);
    })
}

fn learning(network: &BoardNet, n: usize, n_threads: usize, planes: &[f32]) -> f64 {
    let n_actions = network.shape().n_actions;
    let (policies, values) = (vec![1.0 / n_actions as f32; n * n_actions], vec![0.5; n]);
    let batch = Batch { planes, policies: &policies, legal: None, values: &values, weights: None };
    let mut learner = BoardLearner::new(network.clone(), LearnerConfig::default());
    let mut team = Team::new(n_threads);
    measure(n, || {
        let losses = learner.train_step(&mut team, batch, 1e-9);
        black_box(losses).expect("finite numbers");
    })
}

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let is_json = arguments.iter().any(|argument| argument == "--json");
    let wanted = arguments.iter().find(|argument| !argument.starts_with('-'));
    let rng = &mut fastrand::Rng::with_seed(1);
    let connect4 = Shape { n_planes: 2, n_rows: 6, n_columns: 7, n_actions: 7 };
    let othello = Shape { n_planes: 2, n_rows: 8, n_columns: 8, n_actions: 65 };
    let tic_tac_toe = Shape { n_planes: 2, n_rows: 3, n_columns: 3, n_actions: 9 };
    let cases = [
        ("connect4_small", connect4, Preset::Small.config()),
        ("connect4_medium", connect4, Preset::Medium.config()),
        ("othello_small", othello, Preset::Small.config()),
        ("othello_medium", othello, Preset::Medium.config()),
        ("tic_tac_toe_1x16", tic_tac_toe, Config::residual(1, 16)),
        ("tic_tac_toe_tiny", tic_tac_toe, Preset::Tiny.config()),
        ("connect4_mlp", connect4, Preset::Mlp.config()),
        ("othello_mlp", othello, Preset::Mlp.config()),
    ];
    let work = [
        ("inference", 1),
        ("inference", 64),
        ("inference", 256),
        ("training", 512),
        ("training", 1024),
    ];
    for (name, shape, config) in cases {
        if wanted.is_some_and(|wanted| !name.contains(wanted)) {
            continue;
        }
        let network = BoardNet::new(shape, &config, rng).expect("a size that there is");
        for (work, n) in work {
            let planes: Vec<f32> =
                (0..n * shape.n_inputs()).map(|_| f32::from(u8::from(rng.u8(..4) == 0))).collect();
            let run = if work == "inference" { inference } else { learning };
            for n_threads in [1, 2] {
                let per_second = run(&network, n, n_threads, &planes);
                if is_json {
                    let line = serde_json::json!({
                        "network": name, "work": work, "batch": n, "threads": n_threads,
                        "per_second": per_second,
                    });
                    println!("{line}");
                } else {
                    println!("{name}, {work}, batch {n}, {n_threads} threads: {per_second:.0}/s");
                }
            }
        }
    }
}
