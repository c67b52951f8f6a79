//! Adam (Kingma and Ba 2015, algorithm 1) and clipping by the global norm.

use crate::kernels::{self, AdamStep, Isa, Matrix};
use crate::lines::Lines;
use crate::network::{Halves, Mlp};
use crate::team::Team;

/// Decay of the first moment (beta 1).
const DECAY_FIRST: f32 = 0.9;
/// Decay of the second moment (beta 2).
const DECAY_SECOND: f32 = 0.999;

/// The moments of a set of parameters.
#[derive(Clone, Debug)]
pub struct Adam {
    pub(crate) first: Lines,
    pub(crate) second: Lines,
    pub(crate) n_updates: u32,
    epsilon: f32,
    isa: Isa,
}

impl Adam {
    /// An optimiser of `n_parameters` that has seen nothing yet. `epsilon` is added to the
    /// denominator: 1e-5 in Stable-Baselines3's PPO, 1e-8 by default in PyTorch.
    pub fn new(n_parameters: usize, epsilon: f32) -> Self {
        let zeros = Lines::zeros(n_parameters);
        Self { first: zeros.clone(), second: zeros, n_updates: 0, epsilon, isa: Isa::detect() }
    }

    /// The same optimiser after `n_updates` gradients, with the moments that they left.
    pub fn with_moments(self, first: &[f32], second: &[f32], n_updates: u32) -> Self {
        assert_eq!([first.len(), second.len()], [self.first.len(); 2], "as many of both");
        let [first, second] = [first, second].map(Lines::from);
        Self { first, second, n_updates, ..self }
    }

    /// Moves `parameters` against `scale * gradient`.
    pub fn update(
        &mut self,
        parameters: &mut [f32],
        gradient: &[f32],
        scale: f32,
        learning_rate: f64,
    ) {
        let isa = self.isa;
        let (step, first, second) = self.next_step(scale, learning_rate);
        kernels::adam(isa, step, gradient, parameters, first, second);
    }

    /// [`Self::update`] of all parameters of a network, on all threads of a team.
    pub fn update_together(
        &mut self,
        team: &mut Team,
        network: &mut Mlp,
        gradient: &[f32],
        scale: f32,
        learning_rate: f64,
    ) {
        let isa = self.isa;
        let (step, first, second) = self.next_step(scale, learning_rate);
        network.change_together(team, [first, second], |place, parameters, [first, second]| {
            kernels::adam(isa, step, &gradient[place], parameters, first, second);
        });
    }

    /// [`Self::update`] of all parameters of a network against the gradient that was found in halves.
    pub(crate) fn update_in_halves(
        &mut self,
        team: &mut Team,
        network: &mut Mlp,
        halves: &mut Halves,
        scale: f32,
        learning_rate: f64,
    ) {
        let (step, first, second) = self.next_step(scale, learning_rate);
        network.change_in_halves(team, halves, step, [first, second]);
    }

    /// Takes over what [`Self::update_in_halves`] has left with the halves.
    pub(crate) fn settle(&mut self, network: &mut Mlp, halves: &mut Halves) {
        halves.settle(network, [&mut self.first, &mut self.second]);
    }

    /// What the next update is made of, and the moments to make it with.
    fn next_step(&mut self, scale: f32, learning_rate: f64) -> (AdamStep, &mut [f32], &mut [f32]) {
        self.n_updates += 1;
        let correction = |decay: f32| 1.0 - f64::from(decay).powi(self.n_updates.cast_signed());
        let step = AdamStep {
            scale,
            decay_first: DECAY_FIRST,
            decay_second: DECAY_SECOND,
            step_size: (learning_rate / correction(DECAY_FIRST)) as f32,
            second_scale: correction(DECAY_SECOND).sqrt().recip() as f32,
            epsilon: self.epsilon,
        };
        (step, &mut self.first, &mut self.second)
    }
}

/// Adds a gradient to the sum of others.
pub fn accumulate(gradient: &[f32], sum: &mut [f32]) {
    assert_eq!(gradient.len(), sum.len(), "as many of both");
    kernels::add(Isa::detect(), gradient, sum);
}

/// The norm of all `gradients` together.
pub fn global_norm(gradients: &[&[f32]]) -> f32 {
    let mut sum = 0.0;
    for gradient in gradients {
        kernels::add_squares(Isa::detect(), Matrix::row(gradient), &mut sum);
    }
    sum.sqrt()
}

/// What gradients of this `norm` must be multiplied by so that it does not exceed `max_norm`.
pub fn clip_scale(norm: f32, max_norm: f32) -> f32 {
    (max_norm / (norm + 1e-6)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a constant gradient both moments are exact after correction, so every step is
    /// `learning_rate * g / (|g| + epsilon)`.
    #[test]
    fn a_constant_gradient_moves_at_the_learning_rate() {
        let mut adam = Adam::new(2, 1e-5);
        let mut parameters = [1.0, -1.0];
        for n_updates in 1..=3 {
            adam.update(&mut parameters, &[0.5, -2.0], 1.0, 0.1);
            let moved = n_updates as f32 * 0.1;
            assert!((parameters[0] - (1.0 - moved * 0.5 / 0.50001)).abs() < 1e-5);
            assert!((parameters[1] - (-1.0 + moved * 2.0 / 2.00001)).abs() < 1e-5);
        }
    }

    /// Worked by hand: m = 0.1 * 1, then 0.9 * 0.1 + 0.1 * 3 = 0.39 and v = 0.001 * 1, then
    /// 0.000999 + 0.001 * 9 = 0.009999; corrected 0.39 / 0.19 and 0.009999 / 0.001999.
    #[test]
    fn moments_are_corrected() {
        let mut adam = Adam::new(1, 1e-5);
        let mut parameters = [0.0];
        adam.update(&mut parameters, &[1.0], 1.0, 0.01);
        let first = parameters[0];
        adam.update(&mut parameters, &[6.0], 0.5, 0.01);
        let expected = 0.01 * (0.39 / 0.19) / ((0.009999_f32 / 0.001999).sqrt() + 1e-5);
        assert!((first - parameters[0] - expected).abs() < 1e-6);
    }

    /// Nothing is left below the smallest normal number, where arithmetic is slow.
    #[test]
    fn what_dead_units_leave_is_forgotten() {
        let mut adam = Adam::new(40, 1e-8);
        let mut parameters = [1.0; 40];
        adam.update(&mut parameters, &[1e-9; 40], 1.0, 0.01);
        for _ in 0..1_000 {
            adam.update(&mut parameters, &[0.0; 40], 1.0, 0.01);
            let moments = adam.first.iter().chain(&*adam.second);
            assert!(moments.into_iter().all(|x| *x == 0.0 || x.is_normal()));
        }
        assert_eq!(adam.first[..], [0.0; 40]);
    }

    #[test]
    fn long_gradients_are_clipped() {
        let norm = global_norm(&[&[3.0], &[0.0, 4.0]]);
        assert_eq!(norm, 5.0);
        assert!((clip_scale(norm, 0.5) - 0.1).abs() < 1e-6);
        assert_eq!(clip_scale(0.4, 0.5), 1.0);
    }
}
