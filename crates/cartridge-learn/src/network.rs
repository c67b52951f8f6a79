//! A multi-layer perceptron with a linear output.
//!
//! All parameters lie in one flat vector: for each layer the weights, a row of outputs for each
//! input, then the biases. Gradients lie in the same order.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::kernels::{self, Finish, Isa, Matrix, Panels, Right};

/// What follows a hidden layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// The hyperbolic tangent.
    #[default]
    Tanh,
    /// Nothing below zero.
    Relu,
}

/// A network and its parameters.
#[derive(Clone, Debug)]
pub struct Mlp {
    sizes: Vec<usize>,
    layers: Vec<Layer>,
    activation: Activation,
    parameters: Vec<f32>,
    /// The weights of every layer, as a product needs them: made anew with every change, not with
    /// every shard of a batch.
    packed: Vec<Panels>,
    /// The same with rows and columns exchanged, as the gradient needs them.
    turned: Vec<Panels>,
    isa: Isa,
}

/// Buffers of a pass through a network; [`Mlp::backward`] needs what [`Mlp::forward`] left there.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// What each layer put out, the network's output last.
    outputs: Vec<Vec<f32>>,
    gradient: Vec<f32>,
    next_gradient: Vec<f32>,
    panels: Panels,
}

/// From so many outputs on it pays to cut a layer's gradient into panels first.
const WIDE: usize = 128;

/// Where a layer lies in the flat vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Number of inputs.
    pub n_inputs: usize,
    /// Number of outputs.
    pub n_outputs: usize,
    /// The weights: a row of outputs for each input.
    pub weights: Range<usize>,
    /// The biases.
    pub biases: Range<usize>,
}

impl Mlp {
    /// A network with these sizes, from inputs to outputs. Weights are orthogonal, scaled by the
    /// square root of two in hidden layers and by `output_gain` in the last; biases are zero.
    pub fn new(
        sizes: &[usize],
        activation: Activation,
        output_gain: f64,
        rng: &mut fastrand::Rng,
    ) -> Self {
        let mut network = Self::zeros(sizes, activation);
        let layers = network.layers.clone();
        let n_layers = layers.len();
        network.change(|parameters| {
            for (index, layer) in layers.into_iter().enumerate() {
                let is_last = index + 1 == n_layers;
                let gain = if is_last { output_gain } else { std::f64::consts::SQRT_2 };
                let weights = orthogonal(layer.n_inputs, layer.n_outputs, rng);
                for (x, weight) in parameters[layer.weights].iter_mut().zip(weights) {
                    *x = (gain * weight) as f32;
                }
            }
        });
        network
    }

    /// A network with these sizes whose parameters are drawn as PyTorch draws those of a linear
    /// layer: uniform between plus and minus one over the square root of its inputs.
    pub fn uniform(sizes: &[usize], activation: Activation, rng: &mut fastrand::Rng) -> Self {
        let mut network = Self::zeros(sizes, activation);
        let layers = network.layers.clone();
        network.change(|parameters| {
            for layer in layers {
                let bound = (layer.n_inputs as f64).sqrt().recip();
                for x in &mut parameters[layer.weights.start..layer.biases.end] {
                    *x = ((rng.f64() * 2.0 - 1.0) * bound) as f32;
                }
            }
        });
        network
    }

    /// A network with these sizes whose parameters are all zero.
    pub fn zeros(sizes: &[usize], activation: Activation) -> Self {
        assert!(sizes.len() >= 2 && !sizes.contains(&0), "a network has inputs and outputs");
        let layers = layers(sizes);
        let parameters = vec![0.0; layers.last().map_or(0, |layer| layer.biases.end)];
        let panels = vec![Panels::default(); layers.len()];
        let mut network = Self {
            sizes: sizes.to_vec(),
            layers,
            activation,
            parameters,
            packed: panels.clone(),
            turned: panels,
            isa: Isa::detect(),
        };
        network.change(|_| {});
        network
    }

    /// What follows its hidden layers.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// Numbers of units, from inputs to outputs.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// All parameters.
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// Changes the parameters.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut [f32]) -> T) -> T {
        let changed = change(&mut self.parameters);
        let panels = self.packed.iter_mut().zip(&mut self.turned);
        for (index, (layer, (packed, turned))) in self.layers.iter().zip(panels).enumerate() {
            let weights = &self.parameters[layer.weights.clone()];
            let weights = Matrix::new(weights, layer.n_inputs, layer.n_outputs);
            kernels::pack(self.isa, weights, packed);
            // Nobody asks what the loss changes with the very inputs.
            if index > 0 {
                kernels::pack(self.isa, weights.transposed(), turned);
            }
        }
        changed
    }

    /// Where each layer lies in the flat vector, from inputs to outputs.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The outputs for `n` rows of `inputs`.
    pub fn forward<'w>(&self, inputs: &[f32], n: usize, work: &'w mut Workspace) -> &'w [f32] {
        work.outputs.resize(self.layers.len(), Vec::new());
        for (index, layer) in self.layers.iter().enumerate() {
            let (before, after) = work.outputs.split_at_mut(index);
            let inputs = before.last().map_or(inputs, Vec::as_slice);
            let outputs = &mut after[0];
            outputs.resize(n * layer.n_outputs, 0.0);
            let bias = &self.parameters[layer.biases.clone()];
            let finish = match self.activation {
                _ if index + 1 == self.layers.len() => Finish::Bias(bias),
                Activation::Tanh => Finish::BiasTanh(bias),
                Activation::Relu => Finish::BiasRelu(bias),
            };
            let inputs = Matrix::new(inputs, n, layer.n_inputs);
            let weights = Right::Panels(&self.packed[index]);
            kernels::multiply(self.isa, inputs, weights, finish, outputs);
        }
        work.outputs.last().expect("a network has a layer")
    }

    /// Overwrites `gradient` with that of a loss whose gradient with respect to the outputs is
    /// `output_gradient`. The last pass with `work` must have been forward with these `inputs`.
    pub fn backward(
        &self,
        inputs: &[f32],
        n: usize,
        output_gradient: &[f32],
        work: &mut Workspace,
        gradient: &mut [f32],
    ) {
        let Workspace { outputs, gradient: arriving, next_gradient: leaving, panels } = work;
        arriving.clear();
        arriving.extend_from_slice(output_gradient);
        for (index, layer) in self.layers.iter().enumerate().rev() {
            let inputs = if index == 0 { inputs } else { &outputs[index - 1] };
            let delta = Matrix::new(arriving, n, layer.n_outputs);
            let right = if layer.n_outputs >= WIDE {
                kernels::pack(self.isa, delta, panels);
                Right::Panels(panels)
            } else {
                Right::Rows(delta)
            };
            kernels::multiply(
                self.isa,
                Matrix::new(inputs, n, layer.n_inputs).transposed(),
                right,
                Finish::Plain,
                &mut gradient[layer.weights.clone()],
            );
            kernels::sum_rows(self.isa, delta, &mut gradient[layer.biases.clone()]);
            if index > 0 {
                leaving.resize(n * layer.n_inputs, 0.0);
                let weights = Right::Panels(&self.turned[index]);
                let finish = match self.activation {
                    Activation::Tanh => Finish::TanhSlope(inputs),
                    Activation::Relu => Finish::ReluSlope(inputs),
                };
                kernels::multiply(self.isa, delta, weights, finish, leaving);
                std::mem::swap(arriving, leaving);
            }
        }
    }
}

/// Where the layers of a network with these sizes lie.
fn layers(sizes: &[usize]) -> Vec<Layer> {
    let mut start = 0;
    let mut take = |n: usize| {
        start += n;
        start - n..start
    };
    let layer = |pair: &[usize]| {
        let (n_inputs, n_outputs) = (pair[0], pair[1]);
        let (weights, biases) = (take(n_inputs * n_outputs), take(n_outputs));
        Layer { n_inputs, n_outputs, weights, biases }
    };
    sizes.windows(2).map(layer).collect()
}

/// A random matrix of `n_rows` by `n_columns` whose rows or columns, whichever are fewer, are
/// orthonormal (Saxe, McClelland and Ganguli 2014).
fn orthogonal(n_rows: usize, n_columns: usize, rng: &mut fastrand::Rng) -> Vec<f64> {
    let (n_vectors, length) = (n_rows.min(n_columns), n_rows.max(n_columns));
    let mut vectors: Vec<Vec<f64>> = Vec::with_capacity(n_vectors);
    while vectors.len() < n_vectors {
        // Gram and Schmidt on normal vectors give a uniformly distributed frame.
        let mut vector: Vec<f64> = (0..length).map(|_| normal(rng)).collect();
        for earlier in &vectors {
            let along = dot(&vector, earlier);
            vector.iter_mut().zip(earlier).for_each(|(x, e)| *x -= along * e);
        }
        let norm = dot(&vector, &vector).sqrt();
        // A vector that was almost spanned already has lost its digits: draw another.
        if norm > 1e-6 {
            vectors.push(vector.iter().map(|x| x / norm).collect());
        }
    }
    let element = |row: usize, column: usize| {
        if n_rows <= n_columns { vectors[row][column] } else { vectors[column][row] }
    };
    (0..n_rows * n_columns).map(|at| element(at / n_columns, at % n_columns)).collect()
}

/// A standard normal number, by the method of Box and Muller.
fn normal(rng: &mut fastrand::Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.f64()).cos()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests;
