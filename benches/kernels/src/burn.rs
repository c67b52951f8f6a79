//! burn: `Linear` layers, `backward` and `Adam`, on one of its backends for processors.

use std::hint::black_box;

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::optim::{AdamConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Tensor, TensorData, activation};
use cartridge_learn::network::Activation;

use crate::{Contender, EPSILON, Task};

pub struct Burn {
    activation: Activation,
    /// Layers that keep track of what is done with them.
    learning: Vec<Linear>,
    /// Layers of the same numbers that do not.
    acting: Vec<Linear>,
    optimizer: ModuleOptimizer,
    inputs: Tensor<2>,
    learning_inputs: Tensor<2>,
    slopes: Tensor<2>,
}

impl Burn {
    /// With the backend that burn recommends.
    pub fn flex(task: &Task) -> Self {
        Self::new(task, &Device::flex())
    }

    /// With the backend that it replaces.
    #[expect(deprecated, reason = "many still use it")]
    pub fn ndarray(task: &Task) -> Self {
        Self::new(task, &Device::ndarray())
    }

    fn new(task: &Task, device: &Device) -> Self {
        let tracking = device.clone().autodiff();
        let layer = |(n_inputs, n_outputs, weights, biases): (usize, usize, &[f32], &[f32])| {
            let weights = TensorData::new(weights.to_vec(), [n_inputs, n_outputs]);
            let biases = TensorData::new(biases.to_vec(), [n_outputs]);
            Linear {
                weight: Param::from_data(weights, &tracking),
                bias: Some(Param::from_data(biases, &tracking)),
            }
        };
        let learning: Vec<Linear> = task.layers().map(layer).collect();
        let rows = |numbers: &[f32], width, device: &Device| {
            Tensor::from_data(TensorData::new(numbers.to_vec(), [task.n, width]), device)
        };
        Self {
            activation: task.activation,
            acting: learning.valid(),
            learning,
            optimizer: AdamConfig::new().with_epsilon(EPSILON).init(),
            inputs: rows(&task.inputs, task.sizes[0], device),
            learning_inputs: rows(&task.inputs, task.sizes[0], &tracking),
            slopes: rows(&task.slopes, task.n_outputs(), &tracking),
        }
    }

    fn pass(&self, layers: &[Linear], inputs: &Tensor<2>) -> Tensor<2> {
        let (last, hidden) = layers.split_last().expect("a network has a layer");
        let mut units = inputs.clone();
        for layer in hidden {
            units = layer.forward(units);
            units = match self.activation {
                Activation::Tanh => activation::tanh(units),
                Activation::Relu => activation::relu(units),
            };
        }
        last.forward(units)
    }
}

impl Contender for Burn {
    fn forward(&mut self) {
        black_box(self.pass(&self.acting, &self.inputs));
    }

    fn outputs(&mut self) -> Vec<f32> {
        numbers(self.pass(&self.acting, &self.inputs))
    }

    fn step(&mut self, learning_rate: f64) {
        let outputs = self.pass(&self.learning, &self.learning_inputs);
        let gradients = (outputs * self.slopes.clone()).sum().backward();
        let gradients = GradientsParams::from_grads(gradients, &self.learning);
        let learning = std::mem::take(&mut self.learning);
        self.learning = self.optimizer.step(learning_rate, learning, gradients);
    }

    fn parameters(&self) -> Vec<f32> {
        let both = |layer: &Linear| {
            let biases = layer.bias.as_ref().expect("every layer has biases");
            [numbers(layer.weight.val()), numbers(biases.val())].concat()
        };
        self.learning.iter().flat_map(both).collect()
    }
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec().expect("of f32")
}
