//! Proximal policy optimisation (Schulman and others 2017), the clipped form.
//!
//! Play a while with the policy as it is, then improve it on what was seen for a few epochs, but
//! never so far from what it was that the samples say nothing about it:
//!
//! ```text
//! ratio  = policy(action | observation) / old_policy(action | observation)
//! loss   = -mean(min(ratio * advantage, clip(ratio, 1 - clip_range, 1 + clip_range) * advantage))
//!          + vf_coef * mean((value - return)^2) - ent_coef * mean(entropy)
//! ```
//!
//! Advantages are generalised (Schulman and others 2016, equation 16): with
//! `delta = reward + gamma * next_value - value`,
//!
//! ```text
//! advantage[t] = delta[t] + gamma * gae_lambda * advantage[t + 1]    within an episode
//! return[t]    = advantage[t] + value[t]
//! ```
//!
//! `next_value` is 0 where the task *terminated*; where the episode was only *truncated* it is the
//! value of the last observation.
//!
//! Where actions are not always legal, the logits of those that are not are minus infinity, in
//! acting and in learning alike (Huang and Ontañón 2022, "A closer look at invalid action
//! masking"): they are never drawn, weigh nothing in the entropy, and get no gradient.
//!
//! Names and defaults are those of Stable-Baselines3, and so are the details: advantages are
//! normalised per minibatch, gradients of actor and critic are clipped by their common norm, Adam
//! has an epsilon of 1e-5, and `train/approx_kl` is the mean over the last epoch. Deviations:
//! `train/loss` is the mean over the update instead of its last minibatch, and the defaults of
//! `n_envs` and `n_steps` are 8 and 256 instead of 1 and 2048 (as many steps per update).

mod state;

use std::collections::VecDeque;

use cartridge_games::{Action, Actions, Env, Stream, episode_seed};
use serde::{Deserialize, Serialize};

use crate::adam::{self, Adam};
use crate::metric::Metric;
use crate::network::Workspace;
use crate::policy::{Policy, forbid, log_softmax};

pub use self::state::{State, StateError};

/// Settings of one training run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Step size of the optimiser, in `(0, 1]`.
    pub learning_rate: f64,
    /// Steps that each environment makes per update, at least 1.
    pub n_steps: usize,
    /// Environments that are stepped together, at least 1.
    pub n_envs: usize,
    /// Samples per gradient step, at least 1; the last of an epoch may be smaller.
    pub batch_size: usize,
    /// Times that every sample is learned from.
    pub n_epochs: usize,
    /// Weight of a reward one step later, in `[0, 1]`.
    pub gamma: f64,
    /// Share of the advantage that comes from later steps, in `[0, 1]`.
    pub gae_lambda: f64,
    /// How far the ratio may move from one before its gradient is cut, above 0.
    pub clip_range: f64,
    /// Weight of the entropy in the loss, at least 0.
    pub ent_coef: f64,
    /// Weight of the value loss, at least 0.
    pub vf_coef: f64,
    /// Greatest norm of a gradient, above 0.
    pub max_grad_norm: f64,
    /// Whether advantages have mean 0 and deviation 1 within each minibatch.
    pub normalize_advantage: bool,
    /// Environment steps to train for, over all environments; whole updates, so it may be passed.
    pub total_timesteps: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            learning_rate: 3e-4,
            n_steps: 256,
            n_envs: 8,
            batch_size: 64,
            n_epochs: 10,
            gamma: 0.99,
            gae_lambda: 0.95,
            clip_range: 0.2,
            ent_coef: 0.0,
            vf_coef: 0.5,
            max_grad_norm: 0.5,
            normalize_advantage: true,
            total_timesteps: 1_000_000,
        }
    }
}

impl Config {
    /// Environment steps per update, over all environments.
    pub fn steps_per_update(&self) -> usize {
        self.n_steps * self.n_envs
    }
}

/// A setting that may change between two updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knob {
    /// [`Config::learning_rate`].
    LearningRate,
    /// [`Config::ent_coef`].
    EntCoef,
    /// [`Config::clip_range`].
    ClipRange,
}

/// What one update reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// Environment steps since the run began.
    pub step: u64,
    /// What was measured; `time/fps` is for the caller, who has a clock.
    pub scalars: Vec<(Metric, f64)>,
    /// What the environment measures itself, by name: the mean over the same episodes as
    /// [`Metric::EpisodeReward`], one value per episode.
    pub episode_metrics: Vec<(&'static str, f64)>,
    /// The episodes that ended, in order of (step, lane).
    pub episodes: Vec<EpisodeEnd>,
}

/// The end of a training episode.
#[derive(Clone, Debug, PartialEq)]
pub struct EpisodeEnd {
    /// Number of the episode in the run, counted from 1 in order of (step, lane).
    pub episode: u64,
    /// The environment that played it.
    pub lane: u32,
    /// The seed it was reset with.
    pub seed: u64,
    /// Environment steps since the run began, over all lanes.
    pub step: u64,
    /// Sum of its rewards.
    pub reward: f64,
    /// Number of its steps.
    pub length: u32,
    /// Whether the task ended.
    pub terminated: bool,
    /// Whether its time ended; both may hold at once.
    pub truncated: bool,
    /// What was done in it, step by step: with the seed, all that it takes to see it again.
    pub actions: Actions,
    /// What the environment measured in it, by name.
    pub metrics: Vec<(&'static str, f64)>,
}

/// A training run in progress.
#[derive(Debug)]
pub struct Ppo {
    config: Config,
    seed_base: u64,
    rng: fastrand::Rng,
    policy: Policy,
    optimizers: [Adam; 2],
    lanes: Vec<Lane>,
    rollout: Rollout,
    learner: Learner,
    step: u64,
    n_episodes: u64,
    recent: VecDeque<Recent>,
}

/// What the means of the rollout need of an episode.
#[derive(Clone, Debug)]
struct Recent {
    reward: f64,
    length: u32,
    metrics: Vec<(&'static str, f64)>,
}

impl Recent {
    fn of(end: &EpisodeEnd) -> Self {
        Self { reward: end.reward, length: end.length, metrics: end.metrics.clone() }
    }
}

/// An environment and the episode that is played in it.
#[derive(Debug)]
struct Lane {
    env: Box<dyn Env>,
    n_resets: u64,
    seed: u64,
    reward: f64,
    length: u32,
    actions: Actions,
}

/// What was seen in one update, step by step and lane by lane within a step.
#[derive(Debug, Default)]
struct Rollout {
    /// One more step than the rest: where the last step led to.
    observations: Vec<f32>,
    /// What was legal at each step; empty where everything always is.
    masks: Vec<bool>,
    actions: Vec<usize>,
    log_probs: Vec<f32>,
    rewards: Vec<f32>,
    ends: Vec<End>,
    /// The last observation of each truncated episode, in order of its step.
    last_observations: Vec<f32>,
    values: Vec<f32>,
    advantages: Vec<f32>,
    returns: Vec<f32>,
}

/// Whether and how an episode ended with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    No,
    Terminated,
    Truncated,
}

/// Buffers of learning.
#[derive(Debug, Default)]
struct Learner {
    work: [Workspace; 2],
    gradients: [Vec<f32>; 2],
    observations: Vec<f32>,
    advantages: Vec<f32>,
    logit_gradient: Vec<f32>,
    value_gradient: Vec<f32>,
}

/// Observations that are valued at once.
const VALUE_PIECE: usize = 4096;

/// How many episodes the means of the rollout are taken over.
const N_RECENT: usize = 100;

impl Ppo {
    /// A run at its beginning, with one environment per lane. Everything random comes from
    /// `seed_base`.
    ///
    /// # Panics
    ///
    /// If the number of environments is not [`Config::n_envs`], or a size is zero.
    pub fn new(envs: Vec<Box<dyn Env>>, config: &Config, seed_base: u64) -> Self {
        assert_eq!(envs.len(), config.n_envs, "one environment per lane");
        let sizes = [config.n_envs, config.n_steps, config.batch_size, config.n_epochs];
        assert!(!sizes.contains(&0), "sizes are positive");
        let spec = envs[0].spec();
        let mut rng = fastrand::Rng::with_seed(seed_base);
        let policy = Policy::new(spec.observation, spec.actions.size(), &mut rng);
        let optimizers = [&policy.actor, &policy.critic]
            .map(|network| Adam::new(network.parameters().len(), 1e-5));
        let mut ppo = Self {
            config: config.clone(),
            seed_base,
            rng,
            policy,
            optimizers,
            lanes: Vec::new(),
            rollout: Rollout::default(),
            learner: Learner::default(),
            step: 0,
            n_episodes: 0,
            recent: VecDeque::new(),
        };
        ppo.rollout.observations = vec![0.0; envs.len() * spec.observation];
        let observations = ppo.rollout.observations.chunks_exact_mut(spec.observation);
        for (index, (env, observation)) in envs.into_iter().zip(observations).enumerate() {
            let actions = Actions::new(&spec.actions);
            let mut lane = Lane { env, n_resets: 0, seed: 0, reward: 0.0, length: 0, actions };
            lane.reset(seed_base, index, observation);
            ppo.lanes.push(lane);
        }
        ppo
    }

    /// The policy as it is now.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Environment steps so far, over all environments.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Changes a setting from the next update on and returns its old value.
    pub fn tune(&mut self, knob: Knob, value: f64) -> f64 {
        let slot = match knob {
            Knob::LearningRate => &mut self.config.learning_rate,
            Knob::EntCoef => &mut self.config.ent_coef,
            Knob::ClipRange => &mut self.config.clip_range,
        };
        std::mem::replace(slot, value)
    }

    /// Whether the run has made all its steps.
    pub fn is_done(&self) -> bool {
        self.step >= self.config.total_timesteps
    }

    /// Plays [`Config::steps_per_update`] steps, learns from them, and reports.
    pub fn update(&mut self) -> Update {
        // Act.
        let episodes = self.collect();

        // Judge.
        self.estimate();

        // Learn.
        let learned = self.learn();

        // Report.
        self.recent.extend(episodes.iter().map(Recent::of));
        self.recent.drain(..self.recent.len().saturating_sub(N_RECENT));
        let mut scalars = Vec::new();
        if !self.recent.is_empty() {
            let n = self.recent.len() as f64;
            let reward: f64 = self.recent.iter().map(|episode| episode.reward).sum();
            let length: f64 = self.recent.iter().map(|episode| f64::from(episode.length)).sum();
            scalars.push((Metric::EpisodeReward, reward / n));
            scalars.push((Metric::EpisodeLength, length / n));
        }
        scalars.push((Metric::LearningRate, self.config.learning_rate));
        scalars.extend(learned);
        let explained = explained_variance(&self.rollout.values, &self.rollout.returns);
        scalars.extend(explained.map(|share| (Metric::ExplainedVariance, share)));
        let episode_metrics = mean_metrics(&self.recent);
        Update { step: self.step, scalars, episode_metrics, episodes }
    }

    /// Fills the rollout with what the policy does, and returns the episodes that ended.
    fn collect(&mut self) -> Vec<EpisodeEnd> {
        let n_lanes = self.lanes.len();
        let n_seen = n_lanes * self.policy.n_observation();
        let n_actions = self.policy.n_actions();
        let is_masked = self.lanes[0].env.spec().is_masked;
        let mut legal_logits = vec![0.0; n_actions];
        let rollout = &mut self.rollout;
        rollout.begin(n_seen, self.config.n_steps);
        let mut ended = Vec::new();
        for t in 0..self.config.n_steps {
            self.step += n_lanes as u64;
            let (before, after) = rollout.observations.split_at_mut((t + 1) * n_seen);
            let observations = &before[t * n_seen..];
            let logits =
                self.policy.actor.forward(observations, n_lanes, &mut self.learner.work[0]);
            let seen = after[..n_seen].chunks_exact_mut(n_seen / n_lanes);
            let lanes = self.lanes.iter_mut().zip(logits.chunks_exact(n_actions)).zip(seen);
            for (index, ((lane, logits), observation)) in lanes.enumerate() {
                let mut logits = logits;
                if is_masked {
                    let from = rollout.masks.len();
                    rollout.masks.resize(from + n_actions, false);
                    lane.env.legal_actions(&mut rollout.masks[from..]);
                    legal_logits.copy_from_slice(logits);
                    forbid(&mut legal_logits, &rollout.masks[from..]);
                    logits = &legal_logits;
                }
                let (action, log_prob) = sample(logits, &mut self.rng);
                let step = lane.env.step(Action(action).into(), observation);
                lane.reward += step.reward;
                lane.length += 1;
                lane.actions.push(Action(action).into());
                rollout.actions.push(action);
                rollout.log_probs.push(log_prob);
                rollout.rewards.push(step.reward as f32);
                rollout.ends.push(match (step.terminated, step.truncated) {
                    (true, _) => End::Terminated,
                    (false, true) => End::Truncated,
                    (false, false) => End::No,
                });
                if step.is_end() {
                    self.n_episodes += 1;
                    ended.push(EpisodeEnd {
                        episode: self.n_episodes,
                        lane: index as u32,
                        seed: lane.seed,
                        step: self.step,
                        reward: lane.reward,
                        length: lane.length,
                        terminated: step.terminated,
                        truncated: step.truncated,
                        actions: lane.actions.take(),
                        metrics: lane.env.episode_metrics(),
                    });
                    if !step.terminated {
                        rollout.last_observations.extend_from_slice(observation);
                    }
                    lane.reset(self.seed_base, index, observation);
                }
            }
        }
        ended
    }

    /// Gives every step of the rollout its value, advantage and return.
    fn estimate(&mut self) {
        let Rollout { observations, last_observations, rewards, ends, .. } = &self.rollout;
        let critic = &self.policy.critic;
        let work = &mut self.learner.work[1];
        let mut value = |observations: &[f32]| {
            let width = critic.sizes()[0];
            // In pieces, so that the memory does not grow with the rollout.
            let pieces = observations.chunks(VALUE_PIECE * width);
            pieces
                .flat_map(|piece| critic.forward(piece, piece.len() / width, work).to_vec())
                .collect::<Vec<f32>>()
        };
        let values = value(observations);
        let last_values = value(last_observations);
        let next_values = next_values(&values, &last_values, ends, self.lanes.len());
        let advantages = advantages(
            &Steps { rewards, values: &values, next_values: &next_values, ends },
            self.lanes.len(),
            self.config.gamma as f32,
            self.config.gae_lambda as f32,
        );
        self.rollout.returns = advantages.iter().zip(&values).map(|(a, v)| a + v).collect();
        self.rollout.values = values;
        self.rollout.values.truncate(advantages.len());
        self.rollout.advantages = advantages;
    }

    /// Learns from the rollout for some epochs and returns what was measured.
    fn learn(&mut self) -> Vec<(Metric, f64)> {
        let mut samples: Vec<usize> = (0..self.rollout.actions.len()).collect();
        let (mut all, mut last) = (Tally::default(), Tally::default());
        for _ in 0..self.config.n_epochs {
            last = Tally::default();
            self.rng.shuffle(&mut samples);
            for batch in samples.chunks(self.config.batch_size) {
                last.add(&self.learn_from(batch));
            }
            all.add(&last);
        }
        let mean = |sum: f64| sum / f64::from(all.n_batches);
        let value_loss = mean(all.value_loss);
        let (policy_loss, entropy) = (mean(all.policy_loss), mean(all.entropy));
        let Config { vf_coef, ent_coef, .. } = self.config;
        vec![
            (Metric::Loss, policy_loss + vf_coef * value_loss - ent_coef * entropy),
            (Metric::PolicyLoss, policy_loss),
            (Metric::ValueLoss, value_loss),
            (Metric::Entropy, entropy),
            (Metric::ApproxKl, last.approx_kl / f64::from(last.n_batches)),
            (Metric::ClipFraction, mean(all.clip_fraction)),
            (Metric::GradientNorm, mean(all.gradient_norm)),
        ]
    }

    /// One gradient step on some samples.
    fn learn_from(&mut self, batch: &[usize]) -> Tally {
        let Self { config, policy, rollout, learner, .. } = self;
        let n = batch.len();
        let (n_seen, n_actions) = (policy.n_observation(), policy.n_actions());
        let mut tally = Tally { n_batches: 1, ..Tally::default() };

        // Gather.
        learner.observations.clear();
        learner.advantages.clear();
        for &sample in batch {
            let observation = &rollout.observations[sample * n_seen..(sample + 1) * n_seen];
            learner.observations.extend_from_slice(observation);
            learner.advantages.push(rollout.advantages[sample]);
        }
        if config.normalize_advantage {
            normalize(&mut learner.advantages);
        }

        // Actor.
        let [actor_work, critic_work] = &mut learner.work;
        let logits = policy.actor.forward(&learner.observations, n, actor_work);
        learner.logit_gradient.clear();
        learner.logit_gradient.extend_from_slice(logits);
        let rows = learner.logit_gradient.chunks_exact_mut(n_actions);
        for ((row, &sample), &advantage) in rows.zip(batch).zip(&learner.advantages) {
            if !rollout.masks.is_empty() {
                forbid(row, &rollout.masks[sample * n_actions..(sample + 1) * n_actions]);
            }
            log_softmax(row);
            let action = rollout.actions[sample];
            let log_ratio = row[action] - rollout.log_probs[sample];
            let surrogate = surrogate(log_ratio, advantage, config.clip_range as f32);
            tally.policy_loss += f64::from(surrogate.loss);
            tally.clip_fraction += f64::from(u8::from(surrogate.is_clipped));
            tally.approx_kl += f64::from(surrogate.approx_kl);
            let entropy = logit_gradient(row, action, surrogate.slope, config.ent_coef as f32);
            tally.entropy += f64::from(entropy);
            row.iter_mut().for_each(|x| *x /= n as f32);
        }

        // Critic.
        let values = policy.critic.forward(&learner.observations, n, critic_work);
        learner.value_gradient.clear();
        for (value, &sample) in values.iter().zip(batch) {
            let error = value - rollout.returns[sample];
            tally.value_loss += f64::from(error * error);
            learner.value_gradient.push(config.vf_coef as f32 * 2.0 * error / n as f32);
        }

        // Step.
        let outputs = [&learner.logit_gradient, &learner.value_gradient];
        let networks = [&mut policy.actor, &mut policy.critic];
        for (index, network) in networks.iter().enumerate() {
            learner.gradients[index].resize(network.parameters().len(), 0.0);
            let gradient = &mut learner.gradients[index];
            let work = &mut learner.work[index];
            network.backward(&learner.observations, n, outputs[index], work, gradient);
        }
        let norm = adam::global_norm(&[&learner.gradients[0], &learner.gradients[1]]);
        let scale = adam::clip_scale(norm, config.max_grad_norm as f32);
        for (index, network) in networks.into_iter().enumerate() {
            let gradient = &learner.gradients[index];
            let optimizer = &mut self.optimizers[index];
            network.change(|all| optimizer.update(all, gradient, scale, config.learning_rate));
        }

        tally.gradient_norm = f64::from(norm);
        tally.divide_by(n);
        tally
    }
}

impl Lane {
    /// Begins the next episode with the seed that the contract gives it.
    fn reset(&mut self, seed_base: u64, lane: usize, observation: &mut [f32]) {
        self.seed = episode_seed(seed_base, Stream::Train, lane as u32, self.n_resets);
        self.env.reset(Some(self.seed), observation);
        self.n_resets += 1;
        self.reward = 0.0;
        self.length = 0;
    }
}

impl Rollout {
    /// Forgets all but the observations that the last rollout led to, which are this one's first.
    fn begin(&mut self, n_seen: usize, n_steps: usize) {
        let first = self.observations.len() - n_seen;
        self.observations.copy_within(first.., 0);
        self.observations.resize((n_steps + 1) * n_seen, 0.0);
        self.masks.clear();
        self.actions.clear();
        self.log_probs.clear();
        self.rewards.clear();
        self.ends.clear();
        self.last_observations.clear();
    }
}

/// Sums over minibatches of what is measured in each.
#[derive(Clone, Debug, Default)]
struct Tally {
    n_batches: u32,
    policy_loss: f64,
    value_loss: f64,
    entropy: f64,
    approx_kl: f64,
    clip_fraction: f64,
    gradient_norm: f64,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.n_batches += other.n_batches;
        self.policy_loss += other.policy_loss;
        self.value_loss += other.value_loss;
        self.entropy += other.entropy;
        self.approx_kl += other.approx_kl;
        self.clip_fraction += other.clip_fraction;
        self.gradient_norm += other.gradient_norm;
    }

    /// Turns sums over `n` samples into means; the gradient's norm is of the batch already.
    fn divide_by(&mut self, n: usize) {
        for sum in [
            &mut self.policy_loss,
            &mut self.value_loss,
            &mut self.entropy,
            &mut self.approx_kl,
            &mut self.clip_fraction,
        ] {
            *sum /= n as f64;
        }
    }
}

/// An action drawn with the probabilities that `logits` give, and the logarithm of its own.
fn sample(logits: &[f32], rng: &mut fastrand::Rng) -> (usize, f32) {
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weight = |logit: f32| (logit - greatest).exp();
    let total: f32 = logits.iter().map(|&logit| weight(logit)).sum();
    let mut left = rng.f32() * total;
    // Rounding may leave a little at the end; the last action that has any weight takes it.
    let last = logits.iter().rposition(|&logit| logit > f32::NEG_INFINITY);
    let mut action = last.expect("some action is legal");
    for (index, &logit) in logits.iter().enumerate() {
        left -= weight(logit);
        if left < 0.0 {
            action = index;
            break;
        }
    }
    (action, logits[action] - (greatest + total.ln()))
}

/// The columns of a rollout from which advantages are made; lanes alternate within a step.
struct Steps<'a> {
    rewards: &'a [f32],
    values: &'a [f32],
    next_values: &'a [f32],
    ends: &'a [End],
}

/// The value of what each step led to. `values` has one more step than `ends`, and
/// `last_values` the value of each truncated episode's last observation, in order.
fn next_values(values: &[f32], last_values: &[f32], ends: &[End], n_lanes: usize) -> Vec<f32> {
    let mut last_values = last_values.iter();
    let next = |(end, next): (&End, &f32)| match end {
        End::No => *next,
        End::Terminated => 0.0,
        End::Truncated => *last_values.next().expect("every truncated episode was kept"),
    };
    ends.iter().zip(&values[n_lanes..]).map(next).collect()
}

/// Generalised advantage estimates, backwards through time within each episode.
fn advantages(steps: &Steps<'_>, n_lanes: usize, gamma: f32, gae_lambda: f32) -> Vec<f32> {
    let n = steps.rewards.len();
    let mut advantages = vec![0.0; n];
    for at in (0..n).rev() {
        let delta = steps.rewards[at] + gamma * steps.next_values[at] - steps.values[at];
        let is_cut = steps.ends[at] != End::No || at + n_lanes >= n;
        let later = if is_cut { 0.0 } else { advantages[at + n_lanes] };
        advantages[at] = delta + gamma * gae_lambda * later;
    }
    advantages
}

/// Gives `values` mean 0 and deviation 1, as PyTorch's `std` counts it; one alone stays as it is.
fn normalize(values: &mut [f32]) {
    if values.len() < 2 {
        return;
    }
    let n = values.len() as f32;
    let mean = values.iter().sum::<f32>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / (n - 1.0);
    let scale = 1.0 / (variance.sqrt() + 1e-8);
    values.iter_mut().for_each(|x| *x = (*x - mean) * scale);
}

/// The clipped objective of one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Surrogate {
    loss: f32,
    /// How the loss changes with the logarithm of the action's probability.
    slope: f32,
    is_clipped: bool,
    /// A sample of the divergence from the old policy (Schulman 2020, "Approximating KL
    /// divergence").
    approx_kl: f32,
}

fn surrogate(log_ratio: f32, advantage: f32, clip_range: f32) -> Surrogate {
    let ratio = log_ratio.exp();
    let plain = ratio * advantage;
    let clipped = ratio.clamp(1.0 - clip_range, 1.0 + clip_range) * advantage;
    Surrogate {
        loss: -plain.min(clipped),
        slope: if plain <= clipped { -plain } else { 0.0 },
        is_clipped: (ratio - 1.0).abs() > clip_range,
        approx_kl: ratio - 1.0 - log_ratio,
    }
}

/// Replaces the logarithms of probabilities by the gradient of one sample's loss with respect to
/// its logits, and returns the entropy. `slope` belongs to the logarithm of `action`'s
/// probability. An action that is not legal adds nothing and gets no gradient.
fn logit_gradient(log_probs: &mut [f32], action: usize, slope: f32, ent_coef: f32) -> f32 {
    let legal = log_probs.iter().filter(|&&x| x > f32::NEG_INFINITY);
    let entropy = -legal.map(|x| x.exp() * x).sum::<f32>();
    for (index, x) in log_probs.iter_mut().enumerate() {
        if *x == f32::NEG_INFINITY {
            *x = 0.0;
            continue;
        }
        let probability = x.exp();
        let taken = f32::from(u8::from(index == action));
        *x = slope * (taken - probability) + ent_coef * probability * (*x + entropy);
    }
    entropy
}

/// The share of the variance of `returns` that `values` explain: 1 is perfect, 0 is no better
/// than a constant. Nothing when the returns do not vary.
fn explained_variance(values: &[f32], returns: &[f32]) -> Option<f64> {
    let variance = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>()
    };
    let wide = |values: &[f32]| values.iter().copied().map(f64::from).collect::<Vec<f64>>();
    let (values, returns) = (wide(values), wide(returns));
    let errors: Vec<f64> = returns.iter().zip(&values).map(|(r, v)| r - v).collect();
    let total = variance(&returns);
    (total > 0.0).then(|| 1.0 - variance(&errors) / total)
}

/// What environments measure themselves: the mean of each over the episodes that have it.
fn mean_metrics(episodes: &VecDeque<Recent>) -> Vec<(&'static str, f64)> {
    let Some(newest) = episodes.back() else { return Vec::new() };
    let mean = |name: &'static str| {
        let all = episodes.iter().flat_map(|episode| &episode.metrics);
        let values: Vec<f64> =
            all.filter(|(known, _)| *known == name).map(|(_, value)| *value).collect();
        (name, values.iter().sum::<f64>() / values.len() as f64)
    };
    newest.metrics.iter().map(|&(name, _)| mean(name)).collect()
}

#[cfg(test)]
mod tests;
