//! How a loss changes with the parameters of a network: the way back through it.

use super::{BoardNet, Config, Kept, Kind, Weights, Workspace};
use crate::kernels::{
    self, Ending, Filters, Finish, Gate, Matrix, Panels, Right, convolution_gradient,
};
use crate::network::Layer;

/// The weights of every part of a network as the way back multiplies by them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turned(Vec<Weights>);

impl Turned {
    /// Takes in the weights of a network.
    pub(crate) fn fill(&mut self, network: &BoardNet) {
        let fresh = network.parts.iter().skip(self.0.len()).map(|part| match part.kind {
            Kind::Window => Weights::Filters(Filters::default()),
            _ => Weights::Panels(Panels::default()),
        });
        self.0.extend(fresh);
        // Nobody asks what the loss changes with the very inputs.
        for (part, turned) in network.parts.iter().zip(&mut self.0).skip(1) {
            let Layer { n_inputs, n_outputs, weights, .. } = &part.layer;
            let weights = &network.parameters[weights.clone()];
            match turned {
                Weights::Panels(panels) => {
                    let weights = Matrix::new(weights, *n_inputs, *n_outputs).transposed();
                    kernels::pack(network.isa, weights, panels);
                }
                Weights::Filters(filters) => {
                    filters.fill_turned(network.isa, weights, [part.n_channels, *n_outputs]);
                }
            }
        }
    }
}

impl BoardNet {
    /// As [`Self::infer`], and leaves in `work` what [`Self::backward`] needs.
    pub(crate) fn forward_to_learn(
        &self,
        work: &mut Workspace,
        planes: &[f32],
        logits: &mut [f32],
        values: &mut [f32],
    ) {
        self.check_batch(planes, logits, values);
        self.forward(planes, Kept::All, work, logits, values);
    }

    /// Overwrites `gradient` with that of a loss whose slopes are these: by the logits, and by the
    /// values before the hyperbolic tangent. The last pass with `work` must have been
    /// [`Self::forward_to_learn`] with these `planes`.
    pub(crate) fn backward(
        &self,
        turned: &Turned,
        planes: &[f32],
        [logit_slopes, value_slopes]: [&[f32]; 2],
        work: &mut Workspace,
        gradient: &mut [f32],
    ) {
        let heads = self.heads();
        let Workspace { trunk, points, hidden, point_deltas, hidden_delta, deltas, .. } = work;
        let trunk = &trunk[heads.n_trunk - 1];
        self.dense_gradient(heads.value, hidden, value_slopes, gradient);
        self.trace_back(turned, &[(heads.value, value_slopes)], hidden, hidden_delta);
        let [policy_inputs, value_inputs] = match heads.points {
            Some(_) => [&points[0], &points[1]],
            None => [trunk, trunk],
        };
        self.dense_gradient(heads.policy, policy_inputs, logit_slopes, gradient);
        self.dense_gradient(heads.hidden, value_inputs, hidden_delta, gradient);
        let ends = match heads.points {
            None => [(heads.policy, logit_slopes), (heads.hidden, &hidden_delta[..])],
            Some([policy, value]) => {
                let [policy_delta, value_delta] = point_deltas;
                let (slopes, hidden) = (logit_slopes, &hidden_delta[..]);
                self.trace_back(turned, &[(heads.policy, slopes)], policy_inputs, policy_delta);
                self.trace_back(turned, &[(heads.hidden, hidden)], value_inputs, value_delta);
                self.dense_gradient(policy, trunk, policy_delta, gradient);
                self.dense_gradient(value, trunk, value_delta, gradient);
                [(policy, &policy_delta[..]), (value, &value_delta[..])]
            }
        };
        self.trace_back(turned, &ends, trunk, &mut deltas[0]);
        match self.config {
            Config::Residual { .. } => self.residual_backward(turned, work, gradient),
            Config::Mlp { .. } => self.dense_backward(turned, planes, work, gradient),
        }
    }

    /// What the loss changes with `inputs`, before they were rectified, of parts that all see these
    /// and whose sums it changes with so.
    fn trace_back(
        &self,
        turned: &Turned,
        parts: &[(usize, &[f32])],
        inputs: &[f32],
        out: &mut Vec<f32>,
    ) {
        out.resize(inputs.len(), 0.0);
        let pairs = parts.iter().map(|&(part, delta)| {
            let Layer { n_outputs, .. } = self.parts[part].layer;
            let delta = Matrix::new(delta, delta.len() / n_outputs, n_outputs);
            (delta, Right::Panels(turned.0[part].panels()))
        });
        let pairs: Vec<_> = pairs.collect();
        kernels::multiply(self.isa, &pairs, Finish::ReluSlope(inputs), out);
    }

    /// The gradient of a part that is a product of matrices.
    fn dense_gradient(&self, part: usize, inputs: &[f32], delta: &[f32], gradient: &mut [f32]) {
        let Layer { n_inputs, n_outputs, ref weights, .. } = self.parts[part].layer;
        let n_rows = delta.len() / n_outputs;
        let inputs = Matrix::new(inputs, n_rows, n_inputs).transposed();
        let delta_rows = Right::Rows(Matrix::new(delta, n_rows, n_outputs));
        let weights = &mut gradient[weights.clone()];
        kernels::multiply(self.isa, &[(inputs, delta_rows)], Finish::Plain, weights);
        self.bias_gradient(part, delta, gradient);
    }

    fn bias_gradient(&self, part: usize, delta: &[f32], gradient: &mut [f32]) {
        let Layer { n_outputs, ref biases, .. } = self.parts[part].layer;
        let biases = &mut gradient[biases.clone()];
        biases.fill(0.0);
        let delta = Matrix::new(delta, delta.len() / n_outputs, n_outputs);
        kernels::sum_rows(self.isa, delta, biases);
    }

    fn dense_backward(
        &self,
        turned: &Turned,
        planes: &[f32],
        work: &mut Workspace,
        gradient: &mut [f32],
    ) {
        let Workspace { trunk, deltas: [delta, before, _], .. } = work;
        for index in (0..self.heads().n_trunk).rev() {
            let Some(inputs) = index.checked_sub(1).map(|before| &trunk[before]) else {
                self.dense_gradient(index, planes, delta, gradient);
                break;
            };
            self.dense_gradient(index, inputs, delta, gradient);
            self.trace_back(turned, &[(index, delta)], inputs, before);
            std::mem::swap(delta, before);
        }
    }

    fn residual_backward(&self, turned: &Turned, work: &mut Workspace, gradient: &mut [f32]) {
        let board = self.shape.board();
        let Workspace { trunk, patches, deltas: [delta, inner, before], scratch, .. } = work;
        for first in (1..self.heads().n_trunk).step_by(2).rev() {
            let second = first + 1;
            let (inputs, between) = (&trunk[first - 1], &trunk[first]);
            inner.resize(between.len(), 0.0);
            before.resize(inputs.len(), 0.0);
            self.window_gradient(second, between, delta, scratch, gradient);
            let ending = Ending { bias: None, skip: None, gate: Gate::Slope(between) };
            let filters = turned.0[second].filters();
            kernels::convolve(self.isa, board, delta, filters, ending, scratch, inner);
            self.window_gradient(first, inputs, inner, scratch, gradient);
            // What the block got also went past it.
            let ending = Ending { bias: None, skip: Some(delta), gate: Gate::Slope(inputs) };
            let filters = turned.0[first].filters();
            kernels::convolve(self.isa, board, inner, filters, ending, scratch, before);
            std::mem::swap(delta, before);
        }
        let Layer { n_inputs, n_outputs, ref weights, .. } = self.parts[0].layer;
        let n_cells = board.n_cells();
        let seen = patches.chunks_exact(n_inputs * n_cells);
        let pairs: Vec<_> = seen
            .zip(delta.chunks_exact(n_cells * n_outputs))
            .map(|(seen, delta)| {
                let delta = Right::Rows(Matrix::new(delta, n_cells, n_outputs));
                (Matrix::new(seen, n_inputs, n_cells), delta)
            })
            .collect();
        kernels::multiply(self.isa, &pairs, Finish::Plain, &mut gradient[weights.clone()]);
        self.bias_gradient(0, delta, gradient);
    }

    fn window_gradient(
        &self,
        part: usize,
        inputs: &[f32],
        delta: &[f32],
        scratch: &mut kernels::Scratch,
        gradient: &mut [f32],
    ) {
        let Layer { n_outputs, ref weights, .. } = self.parts[part].layer;
        let sizes = [self.parts[part].n_channels, n_outputs];
        let (board, weights) = (self.shape.board(), &mut gradient[weights.clone()]);
        convolution_gradient(self.isa, board, inputs, delta, sizes, scratch, weights);
        self.bias_gradient(part, delta, gradient);
    }
}
