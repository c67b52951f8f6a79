//! candle: `Linear` on variables, `backward`, and `AdamW` without decay, which is Adam.

use std::hint::black_box;

use candle_core::{Device, Result, Tensor, Var};
use candle_nn::{AdamW, Linear, Module, Optimizer, ParamsAdamW};
use cartridge_learn::network::Activation;

use crate::{Contender, EPSILON, Task};

pub struct Candle {
    activation: Activation,
    /// Weights, a row of inputs for each output, and biases, in turn.
    variables: Vec<Var>,
    /// Layers that keep track of what became of the variables.
    learning: Vec<Linear>,
    /// Layers of the same numbers that do not.
    acting: Vec<Linear>,
    optimizer: AdamW,
    inputs: Tensor,
    slopes: Tensor,
}

impl Candle {
    pub fn new(task: &Task) -> Result<Self> {
        let mut variables = Vec::new();
        for (n_inputs, n_outputs, weights, biases) in task.layers() {
            let weights = Tensor::from_slice(weights, (n_inputs, n_outputs), &Device::Cpu)?;
            variables.push(Var::from_tensor(&weights.t()?.contiguous()?)?);
            variables.push(Var::from_slice(biases, n_outputs, &Device::Cpu)?);
        }
        let layers = |tensor: fn(&Var) -> Tensor| -> Vec<Linear> {
            let layer = |pair: &[Var]| Linear::new(tensor(&pair[0]), Some(tensor(&pair[1])));
            variables.chunks(2).map(layer).collect()
        };
        let parameters =
            ParamsAdamW { eps: EPSILON.into(), weight_decay: 0.0, ..ParamsAdamW::default() };
        Ok(Self {
            activation: task.activation,
            learning: layers(|variable| variable.as_tensor().clone()),
            acting: layers(Var::as_detached_tensor),
            optimizer: AdamW::new(variables.clone(), parameters)?,
            variables,
            inputs: Tensor::from_slice(&task.inputs, (task.n, task.sizes[0]), &Device::Cpu)?,
            slopes: Tensor::from_slice(&task.slopes, (task.n, task.n_outputs()), &Device::Cpu)?,
        })
    }

    fn pass(&self, layers: &[Linear]) -> Result<Tensor> {
        let (last, hidden) = layers.split_last().expect("a network has a layer");
        let mut units = self.inputs.clone();
        for layer in hidden {
            units = layer.forward(&units)?;
            units = match self.activation {
                Activation::Tanh => units.tanh()?,
                Activation::Relu => units.relu()?,
            };
        }
        last.forward(&units)
    }

    fn learn(&mut self, learning_rate: f64) -> Result<()> {
        self.optimizer.set_learning_rate(learning_rate);
        let loss = (self.pass(&self.learning)? * &self.slopes)?.sum_all()?;
        self.optimizer.backward_step(&loss)
    }
}

impl Contender for Candle {
    fn forward(&mut self) {
        black_box(self.pass(&self.acting).expect("shapes fit"));
    }

    fn outputs(&mut self) -> Vec<f32> {
        let outputs = self.pass(&self.acting).and_then(|outputs| outputs.flatten_all()?.to_vec1());
        outputs.expect("shapes fit")
    }

    fn step(&mut self, learning_rate: f64) {
        self.learn(learning_rate).expect("shapes fit");
    }

    fn parameters(&self) -> Vec<f32> {
        let numbers = |variable: &Var| -> Result<Vec<f32>> {
            match variable.rank() {
                2 => variable.t()?.flatten_all()?.to_vec1(),
                _ => variable.to_vec1(),
            }
        };
        self.variables.iter().flat_map(|variable| numbers(variable).expect("of f32")).collect()
    }
}
