//! A multi-layer perceptron with a linear output.
//!
//! All parameters lie in one flat vector: for each layer the weights, a row of outputs for each
//! input, then the biases. Gradients lie in the same order.

mod halves;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::kernels::{self, Finish, Isa, Matrix, Panels, Right, Sieve};
use crate::lines::Lines;
use crate::team::Team;

pub(crate) use self::halves::Halves;
use self::halves::half_of;

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
    blocks: Vec<Block>,
    activation: Activation,
    parameters: Lines,
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
    /// What the loss changes with each of these.
    deltas: Vec<Delta>,
    sieve: Sieve,
}

/// What the loss changes with the outputs of a layer before they were bent.
#[derive(Clone, Debug, Default)]
struct Delta {
    values: Vec<f32>,
    /// The sizes of each column added up, where some may be zero in all rows.
    sizes: Vec<f32>,
    /// The columns that count, in panels, where the layer is wide.
    panels: Panels,
}

/// From so many inputs and outputs on it pays to cut a layer's gradient into panels, and to leave
/// out what a rectifier has made zero: in the learners of Cart Pole and Lunar Lander, four to six
/// of ten numbers, and three to nine of ten columns are not zero in eight rows at once.
const WIDE: usize = 128;

/// Parameters of a [`Block`], about.
const BLOCK: usize = 8192;

/// Rows of a block are so many, or twice as many, and so on: whole tiles, and whole panels where
/// they are columns.
const BLOCK_ROWS: usize = 64;

/// The layer that is cut into halves by [`halves`].
const HALVED: usize = 1;

/// A part of the parameters: some rows of a layer's weights, and with the last of them its biases.
#[derive(Clone, Debug)]
struct Block {
    layer: usize,
    rows: Range<usize>,
    /// Where it lies in the flat vector.
    place: Range<usize>,
}

/// What is written when a block changes.
struct Part<'a, const N: usize> {
    block: &'a Block,
    n_outputs: usize,
    parameters: &'a mut [f32],
    others: [&'a mut [f32]; N],
    /// Its rows of each panel of the layer, with the panel's first column.
    packed: Vec<(usize, &'a mut [f32])>,
    /// The panels with its rows for columns.
    turned: Vec<(usize, &'a mut [f32])>,
}

impl<const N: usize> Part<'_, N> {
    fn pack(&mut self, isa: Isa) {
        let n_rows = self.block.rows.len();
        let weights = &self.parameters[..n_rows * self.n_outputs];
        let weights = Matrix::new(weights, n_rows, self.n_outputs);
        for (column, panel) in &mut self.packed {
            kernels::pack_panel(isa, weights, *column, panel);
        }
        for (column, panel) in &mut self.turned {
            kernels::pack_panel(isa, weights.transposed(), *column - self.block.rows.start, panel);
        }
    }
}

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

impl Layer {
    fn is_wide(&self) -> bool {
        self.n_outputs >= WIDE
    }

    /// A matrix with a column for each output.
    fn rows_of<'a>(&self, values: &'a [f32]) -> Matrix<'a> {
        Matrix::new(values, values.len() / self.n_outputs, self.n_outputs)
    }
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
        let parameters = Lines::zeros(layers.last().map_or(0, |layer| layer.biases.end));
        let panels = vec![Panels::default(); layers.len()];
        let mut network = Self {
            sizes: sizes.to_vec(),
            blocks: blocks(&layers),
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
        self.change_together(&mut Team::new(1), [], |_, _, []| {});
        changed
    }

    /// Changes the parameters block by block, on all threads of a team. `change` gets a block's
    /// place in the flat vector, its parameters, and the same place of each of `others`.
    ///
    /// Who has changed a block also cuts it into panels, while it is near.
    pub fn change_together<const N: usize>(
        &mut self,
        team: &mut Team,
        mut others: [&mut [f32]; N],
        change: impl Fn(Range<usize>, &mut [f32], [&mut [f32]; N]) + Sync,
    ) {
        let Self { layers, blocks, parameters, packed, turned, isa, .. } = self;
        let mut parameters = &mut parameters[..];
        let mut parts = Vec::with_capacity(blocks.len());
        let panels = packed.iter_mut().zip(turned);
        for (index, (layer, (packed, turned))) in layers.iter().zip(panels).enumerate() {
            kernels::resize_panels(*isa, layer.n_inputs, layer.n_outputs, packed);
            let mut packed: Vec<_> = packed.each_mut().collect();
            // Nobody asks what the loss changes with the very inputs.
            let n_turned = if index == 0 { 0 } else { layer.n_inputs };
            kernels::resize_panels(*isa, layer.n_outputs, n_turned, turned);
            let mut turned = turned.each_mut().peekable();
            for block in blocks.iter().filter(|block| block.layer == index) {
                let n_left = layer.n_inputs - block.rows.start;
                let first_rows = packed.iter_mut().map(|(column, rest)| {
                    let n = rest.len() / n_left * block.rows.len();
                    (*column, take(rest, n))
                });
                parts.push(Part {
                    block,
                    n_outputs: layer.n_outputs,
                    parameters: take(&mut parameters, block.place.len()),
                    others: others.each_mut().map(|rest| take(rest, block.place.len())),
                    packed: first_rows.collect(),
                    turned: std::iter::from_fn(|| {
                        turned.next_if(|(column, _)| *column < block.rows.end)
                    })
                    .collect(),
                });
            }
        }
        team.each(&mut parts, |_, part| {
            let others = part.others.each_mut().map(|other| &mut **other);
            change(part.block.place.clone(), part.parameters, others);
            part.pack(*isa);
        });
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
            let is_last = index + 1 == self.layers.len();
            let finish = if is_last { Finish::Bias(bias) } else { self.bent(bias) };
            let inputs = Matrix::new(inputs, n, layer.n_inputs);
            let sieve = self.is_sifted(index).then_some(&mut work.sieve);
            self.multiply(inputs, &self.packed[index], sieve, finish, outputs);
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
        self.trace_back(n, output_gradient, work);
        self.gradient_together(&mut Team::new(1), &mut [(inputs, work)], gradient);
    }

    /// The first half of [`Self::backward`], of some rows of a batch: what the loss changes with
    /// the outputs of each layer.
    pub fn trace_back(&self, n: usize, output_gradient: &[f32], work: &mut Workspace) {
        let Workspace { outputs, deltas, sieve } = work;
        deltas.resize_with(self.layers.len(), Delta::default);
        let last = &mut deltas.last_mut().expect("a network has a layer").values;
        last.clear();
        last.extend_from_slice(output_gradient);
        for (index, layer) in self.layers.iter().enumerate().rev() {
            let (before, after) = deltas.split_at_mut(index);
            let Delta { values, sizes, .. } = &mut after[0];
            let delta = Matrix::new(values, n, layer.n_outputs);
            // What the rectifier after this layer has stopped comes back from it as zero.
            let is_sifted = index + 1 < self.layers.len() && self.is_sifted(index);
            sizes.clear();
            if is_sifted {
                sizes.resize(layer.n_outputs, 0.0);
                kernels::add_sizes(self.isa, delta, sizes);
            }
            let Some(leaving) = before.last_mut().map(|delta| &mut delta.values) else { break };
            let inputs = &outputs[index - 1];
            leaving.resize(n * layer.n_inputs, 0.0);
            let finish = self.sloped(inputs);
            let sieve = is_sifted.then_some(&mut *sieve);
            self.multiply(delta, &self.turned[index], sieve, finish, leaving);
        }
    }

    /// The second half of [`Self::backward`], of a whole batch, whose rows were traced back in
    /// `parts`: overwrites `gradient`, and returns its norm. Threads and parts change nothing:
    /// every number is a sum over the rows in sequence.
    pub fn gradient_together(
        &self,
        team: &mut Team,
        parts: &mut [(&[f32], &mut Workspace)],
        mut gradient: &mut [f32],
    ) -> f32 {
        let columns: Vec<_> = (0..self.layers.len()).map(|index| kept(index, parts)).collect();
        team.each(parts, |_, (_, work)| {
            for (index, layer) in
                self.layers.iter().enumerate().filter(|(_, layer)| layer.is_wide())
            {
                let Delta { values, panels, .. } = &mut work.deltas[index];
                let delta = layer.rows_of(values);
                match &columns[index] {
                    Some(columns) => kernels::pack_columns(self.isa, delta, columns, panels),
                    None => kernels::pack(self.isa, delta, panels),
                }
            }
        });
        let parts = &*parts;
        let blocks = self.blocks.iter();
        let mut blocks: Vec<_> =
            blocks.map(|block| (block, take(&mut gradient, block.place.len()), 0.0)).collect();
        team.each(&mut blocks, |_, (block, gradient, squares)| {
            let columns = columns[block.layer].as_deref();
            self.block_gradient(block, columns, parts, gradient);
            *squares = self.squares(block, gradient);
        });
        blocks.iter().map(|(.., squares)| squares).sum::<f32>().sqrt()
    }

    /// The gradient of a block, which is zero but for these `columns` of its weights, if they are
    /// told.
    fn block_gradient(
        &self,
        block: &Block,
        columns: Option<&[u32]>,
        parts: &[(&[f32], &mut Workspace)],
        gradient: &mut [f32],
    ) {
        let (index, rows) = (block.layer, &block.rows);
        let layer = &self.layers[index];
        let (weights, biases) = gradient.split_at_mut(rows.len() * layer.n_outputs);
        let mut pairs = Vec::with_capacity(parts.len());
        for (inputs, work) in parts {
            let delta = layer.rows_of(&work.deltas[index].values);
            let inputs = if index == 0 { inputs } else { &work.outputs[index - 1][..] };
            let inputs = Matrix::new(inputs, delta.n_rows(), layer.n_inputs).transposed();
            let delta = match layer.is_wide() {
                true => Right::Panels(&work.deltas[index].panels),
                false => Right::Rows(delta),
            };
            pairs.push((inputs.rows(rows.clone()), delta));
        }
        match columns {
            None => kernels::multiply(self.isa, &pairs, Finish::Plain, weights),
            Some(columns) => {
                let mut product = vec![0.0; rows.len() * columns.len()];
                kernels::multiply(self.isa, &pairs, Finish::Plain, &mut product);
                scatter(&product, columns, layer.n_outputs, weights);
            }
        }
        biases.fill(0.0);
        if !biases.is_empty() {
            for (_, work) in parts {
                kernels::sum_rows(self.isa, layer.rows_of(&work.deltas[index].values), biases);
            }
        }
    }

    /// What finishes a hidden layer.
    fn bent<'a>(&self, bias: &'a [f32]) -> Finish<'a> {
        match self.activation {
            Activation::Tanh => Finish::BiasTanh(bias),
            Activation::Relu => Finish::BiasRelu(bias),
        }
    }

    /// What finishes a way back through it, when it said `outputs`.
    fn sloped<'a>(&self, outputs: &'a [f32]) -> Finish<'a> {
        match self.activation {
            Activation::Tanh => Finish::TanhSlope(outputs),
            Activation::Relu => Finish::ReluSlope(outputs),
        }
    }

    /// The squares of a block's gradient, added up. Where a layer may be cut into halves, those of
    /// each half first, so that they may be on different threads.
    fn squares(&self, block: &Block, gradient: &[f32]) -> f32 {
        let n_outputs = self.layers[block.layer].n_outputs;
        let mut sum = 0.0;
        if block.layer == HALVED && self.has_halves() {
            for half in 0..2 {
                // The biases are a row more.
                let rows = Matrix::new(gradient, gradient.len() / n_outputs, n_outputs);
                let mut squares = 0.0;
                kernels::add_squares(
                    self.isa,
                    rows.columns(half_of(n_outputs, half)),
                    &mut squares,
                );
                sum += squares;
            }
        } else {
            kernels::add_squares(self.isa, Matrix::row(gradient), &mut sum);
        }
        sum
    }

    /// Whether it pays to leave out zeros on both sides of a layer.
    fn is_sifted(&self, index: usize) -> bool {
        let layer = &self.layers[index];
        let is_wide = layer.n_inputs.min(layer.n_outputs) >= WIDE;
        index > 0 && is_wide && self.activation == Activation::Relu
    }

    /// Writes the product of two matrices into `out`, by way of the sieve if there is one.
    fn multiply(
        &self,
        a: Matrix<'_>,
        b: &Panels,
        sieve: Option<&mut Sieve>,
        finish: Finish<'_>,
        out: &mut [f32],
    ) {
        match sieve {
            Some(sieve) => {
                kernels::multiply_sifted(self.isa, a, Right::Panels(b), None, finish, sieve, out);
            }
            None => kernels::multiply(self.isa, &[(a, Right::Panels(b))], finish, out),
        }
    }
}

/// The columns of a layer's delta that are not zero in all rows of all parts, where it pays to
/// know.
fn kept(index: usize, parts: &[(&[f32], &mut Workspace)]) -> Option<Vec<u32>> {
    let sizes: Vec<&[f32]> = parts.iter().map(|(_, work)| &work.deltas[index].sizes[..]).collect();
    let n = sizes[0].len();
    let is_kept = |column: &u32| sizes.iter().any(|sizes| sizes[*column as usize] != 0.0);
    let columns: Vec<u32> = (0..n as u32).filter(is_kept).collect();
    (columns.len() < n / 8 * 7).then_some(columns)
}

/// Writes rows of some columns to rows of `n` columns; the others are zero.
fn scatter(product: &[f32], columns: &[u32], n: usize, out: &mut [f32]) {
    out.fill(0.0);
    let from = product.chunks_exact(columns.len().max(1));
    for (row, product) in out.chunks_exact_mut(n).zip(from) {
        for (&column, x) in columns.iter().zip(product) {
            row[column as usize] = *x;
        }
    }
}

/// Takes the first `n` numbers of a slice off.
fn take<'a>(rest: &mut &'a mut [f32], n: usize) -> &'a mut [f32] {
    rest.split_off_mut(..n).expect("as many as there are parameters")
}

/// The parameters of these layers in parts: of a few rows each.
fn blocks(layers: &[Layer]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (index, layer) in layers.iter().enumerate() {
        let n_rows = (BLOCK / layer.n_outputs).max(1).next_multiple_of(BLOCK_ROWS);
        for first in (0..layer.n_inputs).step_by(n_rows) {
            let rows = first..(first + n_rows).min(layer.n_inputs);
            let start = layer.weights.start + first * layer.n_outputs;
            let is_last = rows.end == layer.n_inputs;
            let end = if is_last { layer.biases.end } else { start + n_rows * layer.n_outputs };
            blocks.push(Block { layer: index, rows, place: start..end });
        }
    }
    blocks
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
pub(crate) fn orthogonal(n_rows: usize, n_columns: usize, rng: &mut fastrand::Rng) -> Vec<f64> {
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
pub(crate) fn normal(rng: &mut fastrand::Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.f64()).cos()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests;
