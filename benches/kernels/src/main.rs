//! Samples per second of the networks that reinforcement learning uses: our kernels beside candle
//! and burn, each on one thread. It is the reason for writing our own. `benches/kernels.sh` runs it
//! and adds PyTorch.
//!
//! - `kernels CONTENDER SECONDS` measures one contender, `SECONDS` for each figure, and prints a
//!   line of JSON for each network and batch.
//! - `kernels examples` prints networks with what they must put out and learn, for PyTorch.
//!
//! Every contender has the optimiser and the way to infer without a graph that its library
//! recommends. Before it is measured it must put out and learn what our kernels do.

mod burn;
mod candle;
mod ours;

use std::time::Instant;

use cartridge_learn::network::{Activation, Mlp};
use serde::Serialize;

/// Sizes, what follows the hidden layers, and the batches to measure: PPO's actor as for
/// LunarLander, that of AsteroidProspector, and a DQN as RL-Zoo has it for CartPole.
const CASES: [(&[usize], Activation, &[usize]); 3] = [
    (&[8, 64, 64, 4], Activation::Tanh, &[64, 512, 2048]),
    (&[260, 64, 64, 69], Activation::Tanh, &[128, 1024]),
    (&[4, 256, 256, 2], Activation::Relu, &[64, 128]),
];
/// Added to Adam's denominator, by everyone.
const EPSILON: f32 = 1e-5;
/// A measured step must do all the work and yet leave the network as it is.
const STILL: f64 = 1e-9;
const BURST_SECONDS: f64 = 0.1;

/// The examples that contenders must agree on.
const EXAMPLE_ROWS: usize = 64;
const EXAMPLE_STEPS: usize = 3;
const EXAMPLE_LEARNING_RATE: f64 = 1e-3;
const TOLERANCE: f32 = 1e-4;

/// A network and a batch.
#[derive(Clone, Debug, Serialize)]
struct Task {
    /// Numbers of units, from inputs to outputs.
    sizes: Vec<usize>,
    activation: Activation,
    /// For each layer the weights, a row of outputs for each input, then the biases.
    parameters: Vec<f32>,
    /// Rows of the batch.
    n: usize,
    inputs: Vec<f32>,
    /// What the loss changes with each output. The loss is their product with the outputs, summed.
    slopes: Vec<f32>,
}

impl Task {
    fn new(sizes: &[usize], activation: Activation, n: usize) -> Self {
        let rng = &mut fastrand::Rng::with_seed(1);
        // Uniform rather than orthogonal, because that has biases too.
        let parameters = Mlp::uniform(sizes, activation, rng).parameters().to_vec();
        let inputs = (0..n * sizes[0]).map(|_| rng.f32() * 2.0 - 1.0).collect();
        let slopes = (0..n * sizes[sizes.len() - 1]).map(|_| rng.f32() - 0.5).collect();
        Self { sizes: sizes.to_vec(), activation, parameters, n, inputs, slopes }
    }

    fn n_outputs(&self) -> usize {
        self.sizes[self.sizes.len() - 1]
    }

    /// Number of inputs, number of outputs, weights and biases of each layer.
    fn layers(&self) -> impl Iterator<Item = (usize, usize, &[f32], &[f32])> {
        let mut rest = self.parameters.as_slice();
        self.sizes.windows(2).map(move |pair| {
            let (weights, after) = rest.split_at(pair[0] * pair[1]);
            let (biases, after) = after.split_at(pair[1]);
            rest = after;
            (pair[0], pair[1], weights, biases)
        })
    }
}

/// Somebody who can do the work of a [`Task`].
trait Contender {
    /// Passes the batch forward, for acting: nothing is kept for a gradient.
    fn forward(&mut self);

    /// What [`Self::forward`] puts out with the weights of the task, in rows.
    fn outputs(&mut self) -> Vec<f32>;

    /// Passes the batch forward and back and lets Adam change the parameters.
    fn step(&mut self, learning_rate: f64);

    /// All parameters, in the order of [`Task::parameters`].
    fn parameters(&self) -> Vec<f32>;
}

fn contender(name: &str, task: &Task) -> Box<dyn Contender> {
    match name {
        "ours" => Box::new(ours::Ours::new(task)),
        "candle" => Box::new(candle::Candle::new(task).expect("candle takes the task")),
        "burn-flex" => Box::new(burn::Burn::flex(task)),
        "burn-ndarray" => Box::new(burn::Burn::ndarray(task)),
        _ => panic!("unknown contender `{name}`: say ours, candle, burn-flex or burn-ndarray"),
    }
}

/// A task, and what comes of it.
#[derive(Debug, Serialize)]
struct Example {
    task: Task,
    batches: Vec<usize>,
    outputs: Vec<f32>,
    n_steps: usize,
    learning_rate: f64,
    epsilon: f32,
    tolerance: f32,
    /// The parameters after so many steps.
    learned: Vec<f32>,
}

impl Example {
    fn new(name: &str, (sizes, activation, batches): (&[usize], Activation, &[usize])) -> Self {
        let task = Task::new(sizes, activation, EXAMPLE_ROWS);
        let mut contender = contender(name, &task);
        let outputs = contender.outputs();
        (0..EXAMPLE_STEPS).for_each(|_| contender.step(EXAMPLE_LEARNING_RATE));
        Self {
            task,
            batches: batches.to_vec(),
            outputs,
            n_steps: EXAMPLE_STEPS,
            learning_rate: EXAMPLE_LEARNING_RATE,
            epsilon: EPSILON,
            tolerance: TOLERANCE,
            learned: contender.parameters(),
        }
    }
}

/// Fails unless two contenders came to the same numbers.
fn check_equal(what: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{what}: as many numbers");
    for (at, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= TOLERANCE, "{what}, number {at}: {x}, but ours is {y}");
    }
}

/// The most samples per second of `work`, which does `n`: whatever else the machine does can only
/// slow it down.
fn measure(n: usize, seconds: f64, mut work: impl FnMut()) -> f64 {
    let (began, mut best) = (Instant::now(), 0.0_f64);
    while best == 0.0 || began.elapsed().as_secs_f64() < seconds {
        let (burst, mut n_done) = (Instant::now(), 0);
        while burst.elapsed().as_secs_f64() < BURST_SECONDS {
            work();
            n_done += n;
        }
        best = best.max(n_done as f64 / burst.elapsed().as_secs_f64());
    }
    best
}

/// What was found of one network and batch, in samples per second.
#[derive(Debug, Serialize)]
struct Figures<'a> {
    sizes: &'a [usize],
    activation: Activation,
    batch: usize,
    forward: f64,
    step: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = |result: serde_json::Result<String>| result.expect("numbers become JSON");
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["examples"] => {
            let examples = CASES.map(|case| Example::new("ours", case));
            println!("{}", json(serde_json::to_string(&examples)));
        }
        [name, seconds] => {
            let seconds = seconds.parse().expect("SECONDS is a number");
            for case in CASES {
                let (found, expected) = (Example::new(name, case), Example::new("ours", case));
                check_equal("outputs", &found.outputs, &expected.outputs);
                check_equal("learned parameters", &found.learned, &expected.learned);
            }
            for (sizes, activation, batches) in CASES {
                for &batch in batches {
                    let mut contender = contender(name, &Task::new(sizes, activation, batch));
                    let forward = measure(batch, seconds, || contender.forward());
                    let step = measure(batch, seconds, || contender.step(STILL));
                    let figures = Figures { sizes, activation, batch, forward, step };
                    println!("{}", json(serde_json::to_string(&figures)));
                }
            }
        }
        _ => panic!("usage: kernels examples, or kernels CONTENDER SECONDS"),
    }
}
