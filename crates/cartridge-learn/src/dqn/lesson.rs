//! A gradient step: what each sample of a minibatch should have been expected to bring, by how much
//! the network errs, and the gradient of that.

use std::ops::Range;
use std::sync::RwLock;

use super::Config;
use super::replay::{Replay, Samples, Shape};
use super::worths::Worths;
use crate::network::{Halves, Mlp, Workspace};
use crate::policy::first_greatest;
use crate::team::Team;

/// Samples that one thread learns from at once.
pub(super) const SHARD: usize = 32;

/// Minibatches that are judged together where nothing that is learnt in between changes what they
/// are worth. The target network stays in the cache meanwhile, and then the network does.
pub(super) const N_AHEAD: usize = 4;

/// A part of each minibatch: its buffers, and what the last was found to be.
#[derive(Debug, Default)]
pub(super) struct Shard {
    pub(super) judged: [Judged; N_AHEAD],
    pub(super) work: Workspace,
    /// Of the samples whose next observation has to be judged: which they are, and what was seen.
    unknown: Vec<(usize, usize)>,
    unknown_observations: Vec<f32>,
    next_work: Workspace,
    choosing: Workspace,
    output_gradient: Vec<f32>,
    /// Of each sample, how much more the network expects than the target.
    pub(super) errors: Vec<f32>,
    pub(super) loss: f64,
    pub(super) values: f64,
}

/// Samples, and what each should have been expected to bring.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub(super) samples: Samples,
    pub(super) next_values: Vec<f32>,
    pub(super) targets: Vec<f32>,
}

/// What is needed to learn from a shard, the same for all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lesson<'a> {
    pub(super) config: &'a Config,
    pub(super) replay: &'a Replay,
    pub(super) network: &'a Mlp,
    pub(super) target: &'a Mlp,
    pub(super) worths: Option<&'a Worths>,
    /// Samples in the whole minibatch.
    pub(super) n_samples: usize,
}

impl Lesson<'_> {
    /// The samples of a minibatch that belong to a shard, among those of all minibatches.
    pub(super) fn part(&self, minibatch: usize, shard: usize) -> Range<usize> {
        let first = minibatch * self.n_samples;
        first + shard * SHARD..first + ((shard + 1) * SHARD).min(self.n_samples)
    }
}

impl Shard {
    /// Gathers its samples of the first `n` minibatches, which are these transitions, and judges
    /// what each should have been expected to bring.
    pub(super) fn judge<'a>(
        &mut self,
        lesson: &Lesson<'_>,
        n: usize,
        transitions: impl Fn(usize) -> &'a [u64],
    ) {
        let Lesson { config, replay, network, target, worths, .. } = *lesson;
        let Shape { n_observation, n_actions, .. } = replay.shape();
        let Self { judged, unknown, unknown_observations, next_work, choosing, .. } = self;

        // Gather, and look up what is known.
        unknown.clear();
        unknown_observations.clear();
        for (minibatch, Judged { samples, next_values, .. }) in judged[..n].iter_mut().enumerate() {
            samples.clear();
            next_values.clear();
            for (index, &transition) in transitions(minibatch).iter().enumerate() {
                replay.gather(transition, config.n_steps, config.gamma as f32, samples);
                let known = worths.and_then(|worths| worths.get(replay.slot(transition)));
                next_values.push(known.unwrap_or_default());
                if known.is_none() {
                    unknown.push((minibatch, index));
                    let next = &samples.next_observations[index * n_observation..];
                    unknown_observations.extend_from_slice(&next[..n_observation]);
                }
            }
        }

        // Ask the target for the others, all at once.
        let next = target.forward(unknown_observations, unknown.len(), next_work);
        let chosen = match config.double_q {
            true => network.forward(unknown_observations, unknown.len(), choosing),
            false => next,
        };
        let rows = next.chunks_exact(n_actions).zip(chosen.chunks_exact(n_actions));
        for (&(minibatch, index), (values, choosing)) in unknown.iter().zip(rows) {
            let Judged { samples, next_values, .. } = &mut judged[minibatch];
            let mask = samples.next_masks.get(index * n_actions..(index + 1) * n_actions);
            next_values[index] = values[best_action(choosing, mask)];
            if let Some(worths) = worths {
                worths.set(replay.slot(transitions(minibatch)[index]), next_values[index]);
            }
        }

        for Judged { samples, next_values, targets } in &mut judged[..n] {
            let parts = samples.returns.iter().zip(&samples.discounts).zip(&*next_values);
            targets.clear();
            targets.extend(parts.map(|((reward, discount), value)| reward + discount * value));
        }
    }

    /// Finds loss and gradient of samples that were judged.
    pub(super) fn learn(&mut self, lesson: &Lesson<'_>, minibatch: usize, weights: &[f32]) {
        let Lesson { network, .. } = *lesson;
        let mut work = std::mem::take(&mut self.work);
        let mut slopes = std::mem::take(&mut self.output_gradient);
        let samples = &self.judged[minibatch].samples;
        let n = samples.len();
        let values = network.forward(&samples.observations, n, &mut work);
        slopes.clear();
        self.err(lesson, minibatch, weights, values, &mut slopes);
        network.trace_back(n, &slopes, &mut work);
        (self.work, self.output_gradient) = (work, slopes);
    }

    /// Finds the loss of samples that were judged, when these are their `values`, and appends what it
    /// changes with each of them.
    fn err(
        &mut self,
        lesson: &Lesson<'_>,
        minibatch: usize,
        weights: &[f32],
        values: &[f32],
        slopes: &mut Vec<f32>,
    ) {
        let Lesson { replay, n_samples, .. } = *lesson;
        let n_actions = replay.shape().n_actions;
        let Judged { samples, targets, .. } = &self.judged[minibatch];
        let first = slopes.len();
        slopes.resize(first + samples.len() * n_actions, 0.0);
        self.errors.clear();
        (self.loss, self.values) = (0.0, 0.0);
        for (index, &target) in targets.iter().enumerate() {
            let at = index * n_actions + samples.actions[index];
            let error = values[at] - target;
            self.loss += f64::from(weights[index] * huber(error));
            self.values += f64::from(values[at]);
            self.errors.push(error);
            // The slope of Huber's loss is the error, but never steeper than 1.
            slopes[first + at] = weights[index] * error.clamp(-1.0, 1.0) / n_samples as f32;
        }
    }
}

/// The norm of the gradient of a minibatch, whose shards are shared among threads.
pub(super) fn shared_gradient(
    team: &mut Team,
    lesson: &Lesson<'_>,
    minibatch: usize,
    weights: &[f32],
    shards: &mut [Shard],
    gradient: &mut [f32],
) -> f32 {
    team.each(shards, |index, shard| {
        shard.learn(lesson, minibatch, &weights[lesson.part(minibatch, index)]);
    });
    let mut parts = Vec::with_capacity(shards.len());
    for Shard { judged, work, .. } in shards {
        parts.push((&judged[minibatch].samples.observations[..], work));
    }
    lesson.network.gradient_together(team, &mut parts, gradient)
}

/// The same, when each of two threads keeps half of the network.
pub(super) fn halved_gradient(
    team: &mut Team,
    lesson: &Lesson<'_>,
    minibatch: usize,
    weights: &[f32],
    shards: &mut [Shard],
    halves: &mut Halves,
) -> f32 {
    const WHOLE: &str = "the other thread has not panicked";
    let n_actions = lesson.replay.shape().n_actions;
    // Both threads gather, and then one of them judges.
    let shards = RwLock::new(shards);
    let gather = |inputs: &mut Vec<f32>| {
        for shard in shards.read().expect(WHOLE).iter() {
            inputs.extend_from_slice(&shard.judged[minibatch].samples.observations);
        }
    };
    let judge = |mut values: &[f32], slopes: &mut Vec<f32>| {
        for (index, shard) in shards.write().expect(WHOLE).iter_mut().enumerate() {
            let part = lesson.part(minibatch, index);
            let own = values.split_off(..part.len() * n_actions).expect("a row for each sample");
            shard.err(lesson, minibatch, &weights[part], own, slopes);
        }
    };
    lesson.network.gradient_in_halves(team, halves, lesson.n_samples, gather, judge)
}

/// Huber's loss with a threshold of 1: a parabola near zero, straight lines beyond.
pub(super) fn huber(error: f32) -> f32 {
    let size = error.abs();
    if size < 1.0 { 0.5 * size * size } else { size - 0.5 }
}

/// The legal action of the greatest value; the first of equals, and the first of all where none
/// is legal. Without a mask everything is legal.
pub(super) fn best_action(values: &[f32], mask: Option<&[bool]>) -> usize {
    let Some(mask) = mask else { return first_greatest(values) };
    let legal = (0..values.len()).filter(|&index| mask[index]);
    legal.reduce(|best, index| if values[index] > values[best] { index } else { best }).unwrap_or(0)
}
