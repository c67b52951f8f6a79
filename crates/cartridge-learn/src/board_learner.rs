//! Learning what a search has found: networks that look at a board ([`BoardNet`]) are taken towards
//! the policy of the search and the outcome of the game, as in AlphaZero (Silver and others 2018,
//! "A general reinforcement learning algorithm", equation 1).
//!
//! The loss of a position is `-sum(target * log policy) + value_weight * (value - outcome)^2`, that of
//! a batch the mean of its positions', each times its weight. Where legal actions are told, the policy
//! is over these alone. Gradients are clipped by their global norm, and Adam moves the parameters;
//! weights, not biases, decay beside it (Loshchilov and Hutter 2019, "Decoupled weight decay
//! regularization"), and not as a part of the loss as in the paper.
//!
//! A batch is cut into shards of a fixed size, whose gradients are added in sequence. So the number of
//! threads changes nothing.

mod state;

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::adam::{Adam, clip_scale, global_norm};
use crate::board_net::{BoardNet, Turned, Workspace};
use crate::kernels::{self, Isa};
use crate::policy::{RowScale, forbid, softmax_rows};
use crate::team::Team;

pub use self::state::State;

/// How a network learns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What the error of the value counts beside that of the policy; 0 and more.
    pub value_weight: f32,
    /// Share of the learning rate by which weights shrink in every step; 0 and more.
    pub weight_decay: f32,
    /// The norm that a gradient is cut down to; above 0.
    pub max_grad_norm: f32,
    /// Added to the denominator of Adam; above 0.
    pub epsilon: f32,
}

impl Default for Config {
    fn default() -> Self {
        Self { value_weight: 1.0, weight_decay: 1e-4, max_grad_norm: 1.0, epsilon: 1e-8 }
    }
}

/// Positions to learn from, one after the other in each slice.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The planes of each.
    pub planes: &'a [f32],
    /// The probability that each action should have: of each position they add up to 1, and what is
    /// not legal has none.
    pub policies: &'a [f32],
    /// Which actions are legal; all if it is not told. At least one is.
    pub legal: Option<&'a [bool]>,
    /// What each position came to for the seat that was to move, from -1 to 1.
    pub values: &'a [f32],
    /// What each counts; 1 if it is not told.
    pub weights: Option<&'a [f32]>,
}

/// What came of a step, means over its positions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// Cross-entropy between target and policy, weighted, in nats.
    pub policy_loss: f64,
    /// Squared error of the value, weighted.
    pub value_loss: f64,
    /// Entropy of the policy, in nats.
    pub entropy: f64,
    /// Divergence of the policy from the target, in nats: the cross-entropy less what the target's own
    /// entropy makes of it.
    pub divergence: f64,
    /// Norm of the gradient before it was cut down.
    pub gradient_norm: f32,
}

impl Losses {
    /// The sums of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            policy_loss: self.policy_loss + other.policy_loss,
            value_loss: self.value_loss + other.value_loss,
            entropy: self.entropy + other.entropy,
            divergence: self.divergence + other.divergence,
            gradient_norm: self.gradient_norm + other.gradient_norm,
        }
    }

    /// The means, where these are the sums of `n` steps.
    #[must_use]
    pub fn over(&self, n: u64) -> Self {
        let n = n as f64;
        Self {
            policy_loss: self.policy_loss / n,
            value_loss: self.value_loss / n,
            entropy: self.entropy / n,
            divergence: self.divergence / n,
            gradient_norm: self.gradient_norm / n as f32,
        }
    }
}

/// A step that was not made because the gradient was infinite or not a number.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the gradient of step {step} is not finite")]
pub struct NotFinite {
    /// How many steps there would have been with it.
    pub step: u64,
    /// What was found of the losses.
    pub losses: Losses,
}

/// A network that learns.
#[derive(Debug)]
pub struct BoardLearner {
    network: BoardNet,
    config: Config,
    adam: Adam,
    turned: Turned,
    shards: Vec<Shard>,
    gradient: Vec<f32>,
    /// Whoever does a shard takes one, and puts it back.
    works: Mutex<Vec<Work>>,
}

/// Positions of a shard: so many that adding up the gradients of shards costs little beside making
/// them.
const SHARD: usize = 32;

/// Parameters whose gradients are added up in one piece.
const BLOCK: usize = 8192;

/// What a shard comes to.
#[derive(Clone, Debug, Default)]
struct Shard {
    gradient: Vec<f32>,
    /// Sums, not means.
    losses: Losses,
}

#[derive(Debug, Default)]
struct Work {
    network: Workspace,
    logits: Vec<f32>,
    probabilities: Vec<f32>,
    scales: Vec<RowScale>,
    values: Vec<f32>,
}

impl BoardLearner {
    /// A learner that has learnt nothing yet.
    pub fn new(network: BoardNet, config: Config) -> Self {
        let adam = Adam::new(network.n_parameters(), config.epsilon);
        let mut turned = Turned::default();
        turned.fill(&network);
        let gradient = vec![0.0; network.n_parameters()];
        let (shards, works) = (Vec::new(), Mutex::default());
        Self { network, config, adam, turned, shards, gradient, works }
    }

    /// The network as it is now. Whoever plays with it takes a copy.
    pub fn network(&self) -> &BoardNet {
        &self.network
    }

    /// How it learns.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How many steps it has made.
    pub fn n_updates(&self) -> u64 {
        u64::from(self.adam.n_updates)
    }

    /// Makes one step on a batch. Nothing changes where the gradient is not finite.
    pub fn train_step(
        &mut self,
        team: &mut Team,
        batch: Batch<'_>,
        learning_rate: f64,
    ) -> Result<Losses, NotFinite> {
        let mut losses = self.find_gradient(team, batch);
        losses.gradient_norm = global_norm(&[&self.gradient]);
        if !losses.gradient_norm.is_finite() {
            return Err(NotFinite { step: self.n_updates() + 1, losses });
        }
        let scale = clip_scale(losses.gradient_norm, self.config.max_grad_norm);
        let kept = (1.0 - learning_rate * f64::from(self.config.weight_decay)) as f32;
        let weights: Vec<_> = self.network.weights().collect();
        let (adam, gradient) = (&mut self.adam, &self.gradient);
        self.network.change(|parameters| {
            if kept != 1.0 {
                for place in weights {
                    parameters[place].iter_mut().for_each(|x| *x *= kept);
                }
            }
            adam.update(parameters, gradient, scale, learning_rate);
        });
        self.turned.fill(&self.network);
        Ok(losses)
    }

    /// Leaves the gradient of a batch in its place.
    fn find_gradient(&mut self, team: &mut Team, batch: Batch<'_>) -> Losses {
        let n = batch.values.len();
        batch.check(&self.network);
        self.shards.resize_with(n.div_ceil(SHARD), Shard::default);
        let Self { network, config, turned, shards, gradient, works, .. } = self;
        let works = &*works;
        team.each(shards, |index, shard| {
            let taken = works.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut work = taken.unwrap_or_default();
            let positions = index * SHARD..n.min((index + 1) * SHARD);
            let part = batch.part(network, positions);
            shard.learn(network, turned, config, part, n, &mut work);
            works.lock().unwrap_or_else(PoisonError::into_inner).push(work);
        });
        let shards = &*shards;
        let mut blocks: Vec<&mut [f32]> = gradient.chunks_mut(BLOCK).collect();
        team.each(&mut blocks, |index, block| {
            block.fill(0.0);
            for shard in shards {
                let part = &shard.gradient[index * BLOCK..][..block.len()];
                kernels::add(Isa::detect(), part, block);
            }
        });
        let mut losses = Losses::default();
        for shard in shards {
            losses.policy_loss += shard.losses.policy_loss;
            losses.value_loss += shard.losses.value_loss;
            losses.entropy += shard.losses.entropy;
            losses.divergence += shard.losses.divergence;
        }
        let share = 1.0 / n as f64;
        losses.policy_loss *= share;
        losses.value_loss *= share;
        losses.entropy *= share;
        losses.divergence *= share;
        losses
    }
}

impl<'a> Batch<'a> {
    /// # Panics
    ///
    /// If there is not as much of everything.
    fn check(&self, network: &BoardNet) {
        let (n, shape) = (self.values.len(), network.shape());
        assert!(n > 0, "something to learn from");
        assert_eq!(self.planes.len(), n * shape.n_inputs(), "planes of {n} positions");
        assert_eq!(self.policies.len(), n * shape.n_actions, "policies for {n} positions");
        assert!(self.legal.is_none_or(|legal| legal.len() == self.policies.len()));
        assert!(self.weights.is_none_or(|weights| weights.len() == n));
    }

    /// Some of the positions.
    fn part(&self, network: &BoardNet, positions: std::ops::Range<usize>) -> Self {
        let shape = network.shape();
        let some = |values: &'a [f32], n: usize| &values[positions.start * n..positions.end * n];
        let actions = positions.start * shape.n_actions..positions.end * shape.n_actions;
        Self {
            planes: some(self.planes, shape.n_inputs()),
            policies: some(self.policies, shape.n_actions),
            legal: self.legal.map(|legal| &legal[actions]),
            values: some(self.values, 1),
            weights: self.weights.map(|weights| some(weights, 1)),
        }
    }
}

impl Shard {
    /// Overwrites this with what some positions of a batch of `n` come to.
    fn learn(
        &mut self,
        network: &BoardNet,
        turned: &Turned,
        config: &Config,
        part: Batch<'_>,
        n: usize,
        work: &mut Work,
    ) {
        let n_actions = network.shape().n_actions;
        let Work { network: work, logits, probabilities, scales, values } = work;
        logits.resize(part.policies.len(), 0.0);
        values.resize(part.values.len(), 0.0);
        network.forward_to_learn(work, part.planes, logits, values);
        if let Some(legal) = part.legal {
            forbid(logits, legal);
        }
        probabilities.clone_from(logits);
        softmax_rows(probabilities, n_actions, scales);
        self.losses = Losses::default();
        let share = 1.0 / n as f32;
        let rows = probabilities.chunks_exact_mut(n_actions).zip(logits.chunks_exact(n_actions));
        let targets = part.policies.chunks_exact(n_actions);
        for (index, ((probabilities, logits), target)) in rows.zip(targets).enumerate() {
            let weight = part.weights.map_or(1.0, |weights| weights[index]);
            let scale = scales[index];
            let found = policy_loss(probabilities, |action| scale.log_prob(logits[action]), target);
            probabilities.iter_mut().for_each(|slope| *slope *= weight * share);
            let value = values[index];
            let error = value - part.values[index];
            // By the value before the hyperbolic tangent.
            values[index] =
                2.0 * config.value_weight * weight * share * error * (1.0 - value * value);
            self.losses.policy_loss += f64::from(weight) * found.cross_entropy;
            self.losses.value_loss += f64::from(weight) * f64::from(error * error);
            self.losses.entropy += found.entropy;
            self.losses.divergence += found.divergence;
        }
        self.gradient.resize(network.n_parameters(), 0.0);
        let slopes = [&probabilities[..], values];
        network.backward(turned, part.planes, slopes, work, &mut self.gradient);
    }
}

/// What the policy of one position comes to, in nats.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PolicyLoss {
    cross_entropy: f64,
    entropy: f64,
    divergence: f64,
}

/// Replaces the probabilities of a position by the slopes of its cross-entropy by its logits.
/// `log_prob` gives the logarithm of each.
fn policy_loss(
    probabilities: &mut [f32],
    log_prob: impl Fn(usize) -> f32,
    target: &[f32],
) -> PolicyLoss {
    let (mut cross_entropy, mut entropy, mut target_entropy) = (0.0, 0.0, 0.0);
    let all: f32 = target.iter().sum();
    for (action, (x, &wanted)) in probabilities.iter_mut().zip(target).enumerate() {
        let probability = *x;
        if probability > 0.0 {
            entropy -= f64::from(probability) * f64::from(log_prob(action));
        }
        if wanted > 0.0 {
            cross_entropy -= f64::from(wanted) * f64::from(log_prob(action));
            target_entropy -= f64::from(wanted) * f64::from(wanted.ln());
        }
        *x = all * probability - wanted;
    }
    PolicyLoss { cross_entropy, entropy, divergence: cross_entropy - target_entropy }
}

#[cfg(test)]
mod tests;
