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
//! Where actions are numbers, each is normally distributed, with a mean that the actor puts out and
//! a deviation that is learnt but does not depend on what is seen. They are held within the bounds
//! of their space when they are taken, and judged as they were drawn.
//!
//! Where actions are not always legal, the logits of those that are not are minus infinity, in
//! acting and in learning alike (Huang and Ontañón 2022, "A closer look at invalid action
//! masking"): they are never drawn, weigh nothing in the entropy, and get no gradient.
//!
//! Names and defaults are those of Stable-Baselines3, and so are the details: advantages are
//! normalised per minibatch, gradients of actor and critic are clipped by their common norm, Adam
//! has an epsilon of 1e-5, and `train/approx_kl` is the mean over the last epoch. Deviations:
//! `train/loss` is the mean over the update instead of its last minibatch; the defaults of
//! `n_envs` and `n_steps` are 8 and 256 instead of 1 and 2048 (as many steps per update); and what
//! normalises observations and rewards is renewed once per update.
//!
//! # Threads
//!
//! Lanes are played in as many groups as there are threads ([`rollout`]). A minibatch is learnt
//! from in shards of [`SHARD`] samples, actor and critic apart; each leaves its gradient in a
//! place of its own, and these are added up in order. So the weights do not depend on the number
//! of threads.

mod loss;
mod rollout;
mod state;

use std::sync::{Mutex, MutexGuard, PoisonError};

use cartridge_games::{Env, EpisodeSeeds};
use serde::{Deserialize, Serialize};

use self::loss::{
    explained_variance, gaussian_entropy, gaussian_log_prob, log_prob_scale, logit_gradient,
    mean_gradient, shift_and_scale, surrogate, value_error,
};
use self::rollout::{Group, Norms, Rollout};
use crate::adam::{self, Adam};
use crate::metric::Metric;
use crate::network::{Activation, Workspace};
use crate::noise::Noise;
use crate::normalizer::Statistics;
use crate::policy::{Head, NET_ARCH, Policy, RowScale, forbid, softmax_rows};
use crate::report::{Phase, Recent};
use crate::schedule::Schedule;
use crate::team::Team;

pub use self::state::{State, StateError};
pub use crate::fault::Fault;
pub use crate::report::{EpisodeEnd, Knob, Update};

/// Settings of one training run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Step size of the optimiser, in `(0, 1]`.
    pub learning_rate: Schedule,
    /// Steps that each environment makes per update, at least 1.
    pub n_steps: usize,
    /// Environments that are stepped together, at least 1.
    pub n_envs: usize,
    /// How episodes get their seeds. In order, all environments are stepped by one thread.
    pub episode_seeds: EpisodeSeeds,
    /// Samples per gradient step, at least 1; the last of an epoch may be smaller.
    pub batch_size: usize,
    /// Times that every sample is learned from.
    pub n_epochs: usize,
    /// Weight of a reward one step later, in `[0, 1]`.
    pub gamma: f64,
    /// Share of the advantage that comes from later steps, in `[0, 1]`.
    pub gae_lambda: f64,
    /// How far the ratio may move from one before its gradient is cut, above 0.
    pub clip_range: Schedule,
    /// How far a value may move from what it was before its gradient is cut, above 0.
    pub clip_range_vf: Option<f64>,
    /// Weight of the entropy in the loss, at least 0.
    pub ent_coef: Schedule,
    /// Weight of the value loss, at least 0.
    pub vf_coef: f64,
    /// Greatest norm of a gradient, above 0.
    pub max_grad_norm: f64,
    /// An update ends early when the policy has moved one and a half times as far, above 0.
    pub target_kl: Option<f64>,
    /// Whether advantages have mean 0 and deviation 1 within each minibatch.
    pub normalize_advantage: bool,
    /// Whether observations have mean 0 and deviation 1 over all that was seen.
    pub normalize_observation: bool,
    /// Whether rewards are divided by the deviation of discounted returns.
    pub normalize_reward: bool,
    /// Units of the hidden layers of actor and critic.
    pub net_arch: Vec<usize>,
    /// What follows a hidden layer.
    pub activation: Activation,
    /// The logarithm of the deviation of numbers at the beginning.
    pub log_std_init: f64,
    /// The logit of the action that ends an episode by choice, at the beginning, where there is
    /// one. Giving up is the first thing that is learnt where mistakes are dear, and nothing is
    /// learnt after it; so it begins as something that is rarely done.
    pub quit_logit: f64,
    /// Environment steps to train for, over all environments; whole updates, so it may be passed.
    pub total_timesteps: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            learning_rate: 3e-4.into(),
            n_steps: 256,
            n_envs: 8,
            episode_seeds: EpisodeSeeds::Hash,
            batch_size: 64,
            n_epochs: 10,
            gamma: 0.99,
            gae_lambda: 0.95,
            clip_range: 0.2.into(),
            clip_range_vf: None,
            ent_coef: Schedule::Constant(0.0),
            vf_coef: 0.5,
            max_grad_norm: 0.5,
            target_kl: None,
            normalize_advantage: true,
            normalize_observation: false,
            normalize_reward: false,
            net_arch: NET_ARCH.to_vec(),
            activation: Activation::Tanh,
            log_std_init: 0.0,
            quit_logit: -5.0,
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

/// A training run in progress.
#[derive(Debug)]
pub struct Ppo {
    config: Config,
    team: Team,
    noise: Noise,
    /// Chance in learning; acting has [`Noise`].
    rng: fastrand::Rng,
    policy: Policy,
    optimizers: Optimizers,
    groups: Vec<Group>,
    rollout: Rollout,
    /// A place for each part of a minibatch and network.
    shards: Vec<[Mutex<Shard>; 2]>,
    /// Of all observations, where they are normalised.
    observed: Option<Statistics>,
    /// Of all discounted returns, where rewards are normalised.
    earned: Option<Statistics>,
    step: u64,
    n_episodes: u64,
    /// Epochs so far.
    n_epochs: u64,
    recent: Recent,
    fault: Option<Fault>,
}

#[derive(Clone, Debug)]
struct Optimizers {
    actor: Adam,
    critic: Adam,
    log_std: Adam,
}

/// Samples of a minibatch that are learnt from in one go.
const SHARD: usize = 128;

/// What Stable-Baselines3 gives its Adam.
const ADAM_EPSILON: f32 = 1e-5;

/// A network's work on a part of a minibatch.
#[derive(Debug, Default)]
struct Shard {
    work: Workspace,
    observations: Vec<f32>,
    logits: Vec<f32>,
    output_gradient: Vec<f32>,
    scales: Vec<RowScale>,
    gradient: Vec<f32>,
    log_std_gradient: Vec<f32>,
    tally: Tally,
}

/// What a minibatch is learnt with.
#[derive(Clone, Copy, Debug)]
struct Settings {
    clip_range: f32,
    clip_range_vf: Option<f32>,
    ent_coef: f32,
    vf_coef: f32,
    /// Of the advantages.
    shift: f32,
    scale: f32,
    /// One over the size of the minibatch.
    weight: f32,
}

/// What is the matter with a gradient step that was not made.
enum Refusal {
    /// The policy has moved far enough in this update.
    FarEnough,
    /// A number is infinite or not a number.
    Broken,
}

impl Ppo {
    /// A run at its beginning, with one environment per lane. Everything random comes from
    /// `seed_base`; the size of the team changes nothing but the time that it takes.
    ///
    /// # Panics
    ///
    /// If the number of environments is not [`Config::n_envs`], or a size is zero.
    pub fn new(envs: Vec<Box<dyn Env>>, config: &Config, seed_base: u64, team: Team) -> Self {
        assert_eq!(envs.len(), config.n_envs, "one environment per lane");
        let sizes = [config.n_envs, config.n_steps, config.batch_size, config.n_epochs];
        assert!(!sizes.contains(&0), "sizes are positive");
        let spec = envs[0].spec();
        let mut rng = fastrand::Rng::with_seed(seed_base);
        let mut policy = Policy::actor_critic(
            spec.observation,
            &spec.actions,
            &config.net_arch,
            config.activation,
            config.log_std_init as f32,
            &mut rng,
        );
        if let Some(quit) = spec.quit_action {
            let biases = policy.actor.layers().last().expect("a network has a layer").biases.start;
            policy.actor.change(|all| all[biases + quit] = config.quit_logit as f32);
        }
        let optimizers = Optimizers::new(&policy);
        let groups = Group::spread(envs, (seed_base, config.episode_seeds), team.n_threads());
        Self {
            config: config.clone(),
            team,
            noise: Noise::new(seed_base),
            rng,
            policy,
            optimizers,
            groups,
            rollout: Rollout::new(spec, config.n_envs, config.n_steps),
            shards: Vec::new(),
            observed: config.normalize_observation.then(|| Statistics::new(spec.observation)),
            earned: config.normalize_reward.then(|| Statistics::new(1)),
            step: 0,
            n_episodes: 0,
            n_epochs: 0,
            recent: Recent::default(),
            fault: None,
        }
    }

    /// The policy as it is now.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Environment steps so far, over all environments.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Changes a setting from the next update on and returns its old value. A setting that was
    /// falling stays where it is put.
    pub fn tune(&mut self, knob: Knob, value: f64) -> f64 {
        let done = self.done();
        let replace = |slot: &mut Schedule| std::mem::replace(slot, value.into()).at(done);
        match knob {
            Knob::LearningRate => replace(&mut self.config.learning_rate),
            Knob::ClipRange => replace(&mut self.config.clip_range),
            Knob::EntCoef => replace(&mut self.config.ent_coef),
        }
    }

    /// Whether the run has made all its steps.
    pub fn is_done(&self) -> bool {
        self.step >= self.config.total_timesteps
    }

    /// Weight of the entropy now.
    fn ent_coef(&self) -> f64 {
        self.config.ent_coef.at(self.done())
    }

    /// How much of the run is over, from 0 to 1.
    fn done(&self) -> f64 {
        (self.step as f64 / self.config.total_timesteps as f64).min(1.0)
    }

    /// The gradient step that could not be made, after an update that reported a number that is
    /// not finite.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Plays [`Config::steps_per_update`] steps, learns from them, and reports.
    pub fn update(&mut self) -> Update {
        self.update_in_phases(&mut |_| {})
    }

    /// [`Self::update`], saying of each phase when it begins.
    pub fn update_in_phases(&mut self, begin: &mut dyn FnMut(Phase)) -> Update {
        begin(Phase::Act);
        let episodes = self.act();

        begin(Phase::Judge);
        self.judge();

        begin(Phase::Learn);
        let learned = self.learn();

        // Report.
        self.recent.extend(&episodes);
        let mut scalars = self.recent.scalars();
        scalars.push((Metric::LearningRate, self.config.learning_rate.at(self.done())));
        scalars.extend(learned);
        let explained = explained_variance(&self.rollout.values, &self.rollout.returns);
        scalars.extend(explained.map(|share| (Metric::ExplainedVariance, share)));
        if let Head::Gaussian { log_std } = &self.policy.head {
            let sum: f64 = log_std.iter().map(|&x| f64::from(x).exp()).sum();
            scalars.push((Metric::ActionDeviation, sum / log_std.len() as f64));
        }
        Update { step: self.step, scalars, episode_metrics: self.recent.metrics(), episodes }
    }

    /// Plays the steps of an update and learns nothing from them.
    pub fn rollout(&mut self) -> Vec<EpisodeEnd> {
        self.act()
    }

    /// Fills the rollout with what the policy does, and returns the episodes that ended.
    fn act(&mut self) -> Vec<EpisodeEnd> {
        let n_lanes = self.config.n_envs as u64;
        let before = [self.step / n_lanes, n_lanes];
        // What was seen until now; what is seen from now on counts in the next update.
        self.policy.normalizer = self.observed.as_ref().map(Statistics::normalizer);
        let norms = Norms {
            observations: self.observed.as_ref(),
            rewards: self.earned.as_ref(),
            gamma: self.config.gamma,
        };
        let (policy, noise) = (&self.policy, self.noise);
        let parts = self.rollout.parts(self.groups.iter().map(Group::n_lanes));
        let jobs: Vec<Mutex<_>> = self.groups.iter_mut().zip(parts).map(Mutex::new).collect();
        self.team.run(jobs.len(), &|index| {
            let (group, part) = &mut *lock(&jobs[index]);
            group.play(policy, noise, before, norms, part);
        });
        drop(jobs);
        self.step += self.config.steps_per_update() as u64;
        let lanes = || self.groups.iter().flat_map(|group| &group.lanes);
        if let Some(statistics) = &mut self.observed {
            statistics.merge(lanes().map(|lane| &lane.observed));
        }
        if let Some(statistics) = &mut self.earned {
            statistics.merge(lanes().map(|lane| &lane.earned));
        }
        let mut ended: Vec<EpisodeEnd> =
            self.groups.iter_mut().flat_map(|group| group.ended.drain(..)).collect();
        ended.sort_by_key(|end| (end.step, end.lane));
        for end in &mut ended {
            self.n_episodes += 1;
            end.episode = self.n_episodes;
        }
        ended
    }

    /// Gives every step of the rollout its value, advantage and return.
    fn judge(&mut self) {
        let reward_scale = self.earned.as_ref().map(|earned| earned.scale(0) as f32);
        // The critic learns returns of these rewards; people are told them in the rewards' own unit.
        self.policy.value_scale = self.value_scale();
        let discounts = [self.config.gamma, self.config.gae_lambda].map(|x| x as f32);
        let policy = &self.policy;
        let parts = self.rollout.parts(self.groups.iter().map(Group::n_lanes));
        let jobs: Vec<Mutex<_>> = self.groups.iter_mut().zip(parts).map(Mutex::new).collect();
        self.team.run(jobs.len(), &|index| {
            let (group, part) = &mut *lock(&jobs[index]);
            group.judge(policy, reward_scale, discounts, part);
        });
    }

    /// What undoes the normalisation of rewards in a value.
    fn value_scale(&self) -> Option<f32> {
        let scale = self.earned.as_ref().map(|earned| earned.scale(0).recip() as f32);
        // A reward that is not a number has broken it, and ends the run.
        scale.filter(|scale| scale.is_finite())
    }

    /// The fault of a gradient step on some samples.
    fn fault_on(&self, batch: &[usize]) -> Fault {
        let rollout = &self.rollout;
        let n = rollout.log_probs.len();
        let pick = |values: &[f32]| -> Vec<f32> {
            let width = values.len() / n;
            let rows = batch.iter().flat_map(|&at| &values[at * width..(at + 1) * width]);
            rows.copied().collect()
        };
        let masks: Vec<f32> = rollout.masks.iter().map(|&x| f32::from(u8::from(x))).collect();
        let actions: Vec<f32> = rollout.actions.iter().map(|&x| x as f32).collect();
        let samples = [
            ("observations", &rollout.observations),
            ("masks", &masks),
            ("actions", &actions),
            ("numbers", &rollout.numbers),
            ("log_probs", &rollout.log_probs),
            ("values", &rollout.values),
            ("advantages", &rollout.advantages),
            ("returns", &rollout.returns),
        ];
        let samples = samples.map(|(name, values)| (name, pick(values)));
        let update = self.step / self.config.steps_per_update() as u64;
        Fault::new([update, self.step], &self.config, &self.policy, samples, batch.len())
    }

    /// Learns from the rollout for some epochs and returns what was measured.
    fn learn(&mut self) -> Vec<(Metric, f64)> {
        let mut samples: Vec<usize> = (0..self.rollout.log_probs.len()).collect();
        let clip_range = self.config.clip_range.at(self.done());
        let (mut all, mut last) = (Tally::default(), Tally::default());
        'epochs: for _ in 0..self.config.n_epochs {
            last = Tally::default();
            // Also one that ends early.
            self.n_epochs += 1;
            self.rng.shuffle(&mut samples);
            for batch in samples.chunks(self.config.batch_size) {
                let (tally, refusal) = self.learn_from(batch, clip_range as f32);
                last.add(&tally);
                if let Some(refusal) = refusal {
                    if let Refusal::Broken = refusal {
                        self.fault = Some(self.fault_on(batch));
                    }
                    all.add(&last);
                    break 'epochs;
                }
            }
            all.add(&last);
        }
        let mean = |sum: f64| sum / f64::from(all.n_batches);
        let value_loss = mean(all.value_loss);
        let (policy_loss, entropy) = (mean(all.policy_loss), mean(all.entropy));
        let (vf_coef, ent_coef) = (self.config.vf_coef, self.ent_coef());
        let mut scalars = vec![
            (Metric::Loss, policy_loss + vf_coef * value_loss - ent_coef * entropy),
            (Metric::PolicyLoss, policy_loss),
            (Metric::ValueLoss, value_loss),
            (Metric::Entropy, entropy),
            (Metric::ApproxKl, last.approx_kl / f64::from(last.n_batches)),
            (Metric::OldApproxKl, last.old_approx_kl / f64::from(last.n_batches)),
            (Metric::ClipFraction, mean(all.clip_fraction)),
            (Metric::ClipRange, clip_range),
            (Metric::GradientNorm, mean(all.gradient_norm)),
            (Metric::Updates, self.n_epochs as f64),
        ];
        scalars.extend(self.config.clip_range_vf.map(|range| (Metric::ValueClipRange, range)));
        scalars
    }

    /// One gradient step on some samples, unless something speaks against it.
    fn learn_from(&mut self, batch: &[usize], clip_range: f32) -> (Tally, Option<Refusal>) {
        // Measure.
        let n_shards = batch.len().div_ceil(SHARD);
        let mut tally = self.measure(batch, clip_range);
        // Before the target, because an infinite divergence is above every target.
        if !tally.is_finite() {
            return (tally, Some(Refusal::Broken));
        }
        let target_kl = self.config.target_kl;
        if target_kl.is_some_and(|target| tally.approx_kl > 1.5 * target) {
            return (tally, Some(Refusal::FarEnough));
        }

        // Add up, in order.
        let ent_coef = self.ent_coef() as f32;
        let Self { shards, policy, optimizers, config, .. } = self;
        let mut sums: Vec<[MutexGuard<'_, Shard>; 2]> = Vec::with_capacity(n_shards);
        sums.extend(shards[..n_shards].iter().map(|pair| [lock(&pair[0]), lock(&pair[1])]));
        let (first, others) = sums.split_first_mut().expect("a minibatch has samples");
        for other in others {
            for (sum, shard) in first.iter_mut().zip(other) {
                adam::accumulate(&shard.gradient, &mut sum.gradient);
                adam::accumulate(&shard.log_std_gradient, &mut sum.log_std_gradient);
            }
        }
        let [actor, critic] = &mut *first;
        if let Head::Gaussian { .. } = policy.head {
            // The entropy grows with every logarithm alike.
            actor.log_std_gradient.iter_mut().for_each(|x| *x -= ent_coef);
        }
        let norm = adam::global_norm(&[&actor.gradient, &critic.gradient, &actor.log_std_gradient]);
        tally.gradient_norm = f64::from(norm);
        if !norm.is_finite() {
            return (tally, Some(Refusal::Broken));
        }

        // Step.
        let scale = adam::clip_scale(norm, config.max_grad_norm as f32);
        let done = (self.step as f64 / config.total_timesteps as f64).min(1.0);
        let learning_rate = config.learning_rate.at(done);
        if let Head::Gaussian { log_std } = &mut policy.head {
            optimizers.log_std.update(log_std, &actor.log_std_gradient, scale, learning_rate);
        }
        let networks = [
            Mutex::new((&mut policy.actor, &mut optimizers.actor, &actor.gradient)),
            Mutex::new((
                policy.critic.as_mut().expect("who acts by chance has a critic"),
                &mut optimizers.critic,
                &critic.gradient,
            )),
        ];
        self.team.run(2, &|index| {
            let (network, optimizer, gradient) = &mut *lock(&networks[index]);
            network.change(|all| optimizer.update(all, gradient, scale, learning_rate));
        });
        (tally, None)
    }

    /// Losses and gradients of some samples, a place for each shard and network.
    fn measure(&mut self, batch: &[usize], clip_range: f32) -> Tally {
        let ent_coef = self.ent_coef() as f32;
        let Self { config, team, policy, rollout, shards, .. } = self;
        let n_shards = batch.len().div_ceil(SHARD);
        shards.resize_with(n_shards.max(shards.len()), Default::default);
        let [shift, scale] = if config.normalize_advantage {
            shift_and_scale(batch.iter().map(|&sample| rollout.advantages[sample]))
        } else {
            [0.0, 1.0]
        };
        let settings = Settings {
            clip_range,
            clip_range_vf: config.clip_range_vf.map(|x| x as f32),
            ent_coef,
            vf_coef: config.vf_coef as f32,
            shift,
            scale,
            weight: (batch.len() as f32).recip(),
        };
        let (policy, rollout, shards) = (&*policy, &*rollout, &*shards);
        team.run(2 * n_shards, &|index| {
            let samples = &batch[index / 2 * SHARD..];
            let samples = &samples[..samples.len().min(SHARD)];
            let shard = &mut lock(&shards[index / 2][index % 2]);
            shard.gather(rollout, samples);
            match index % 2 {
                0 => shard.actor(policy, rollout, samples, settings),
                _ => shard.critic(policy, rollout, samples, settings),
            }
        });
        let mut tally = Tally::default();
        for shard in shards[..n_shards].iter().flatten() {
            tally.add(&lock(shard).tally);
        }
        tally.divide_by(batch.len());
        tally.n_batches = 1;
        tally
    }
}

/// A lock that nobody has left broken: a panic in one ends the whole update.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Optimizers {
    fn new(policy: &Policy) -> Self {
        let adam = |n| Adam::new(n, ADAM_EPSILON);
        let n_critic = policy.critic.as_ref().map_or(0, |critic| critic.parameters().len());
        let n_log_std = match &policy.head {
            Head::Gaussian { log_std } => log_std.len(),
            Head::Logits | Head::Values => 0,
        };
        Self {
            actor: adam(policy.actor.parameters().len()),
            critic: adam(n_critic),
            log_std: adam(n_log_std),
        }
    }

    fn all(&self) -> [&Adam; 3] {
        [&self.actor, &self.critic, &self.log_std]
    }
}

impl Shard {
    fn gather(&mut self, rollout: &Rollout, samples: &[usize]) {
        let width = rollout.observations.len() / rollout.log_probs.len();
        self.observations.clear();
        for &sample in samples {
            let observation = &rollout.observations[sample * width..(sample + 1) * width];
            self.observations.extend_from_slice(observation);
        }
        self.tally = Tally::default();
        self.log_std_gradient.clear();
    }

    /// The loss of the actor and its gradient.
    fn actor(&mut self, policy: &Policy, rollout: &Rollout, samples: &[usize], settings: Settings) {
        let Self { work, observations, logits, output_gradient, scales, tally, .. } = self;
        let (n, n_actions) = (samples.len(), policy.n_actions());
        output_gradient.clear();
        output_gradient.extend_from_slice(policy.actor.forward(observations, n, work));
        let mut judge = |sample: usize, log_prob: f32| {
            let advantage = (rollout.advantages[sample] - settings.shift) * settings.scale;
            let log_ratio = log_prob - rollout.log_probs[sample];
            let surrogate = surrogate(log_ratio, advantage, settings.clip_range);
            tally.policy_loss += f64::from(surrogate.loss);
            tally.clip_fraction += f64::from(u8::from(surrogate.is_clipped));
            tally.approx_kl += f64::from(surrogate.approx_kl);
            tally.old_approx_kl += f64::from(surrogate.old_approx_kl);
            surrogate.slope * settings.weight
        };
        if let Head::Gaussian { log_std } = &policy.head {
            self.log_std_gradient.resize(n_actions, 0.0);
            let scale = log_prob_scale(log_std);
            for (means, &sample) in output_gradient.chunks_exact_mut(n_actions).zip(samples) {
                let numbers = &rollout.numbers[sample * n_actions..(sample + 1) * n_actions];
                let slope = judge(sample, gaussian_log_prob(numbers, means, log_std, scale));
                mean_gradient(means, numbers, log_std, slope, &mut self.log_std_gradient);
            }
            tally.entropy += f64::from(gaussian_entropy(log_std)) * n as f64;
        } else {
            let rows = output_gradient.chunks_exact_mut(n_actions);
            if !rollout.masks.is_empty() {
                for (row, &sample) in rows.zip(samples) {
                    forbid(row, &rollout.masks[sample * n_actions..(sample + 1) * n_actions]);
                }
            }
            logits.clear();
            logits.extend_from_slice(output_gradient);
            softmax_rows(output_gradient, n_actions, scales);
            let ent_coef = settings.ent_coef * settings.weight;
            let rows = output_gradient.chunks_exact_mut(n_actions);
            let rows = rows.zip(logits.chunks_exact(n_actions)).zip(&*scales).zip(samples);
            for (((row, logits), scale), &sample) in rows {
                let action = rollout.actions[sample] as usize;
                let slope = judge(sample, scale.log_prob(logits[action]));
                let log_prob = |index: usize| scale.log_prob(logits[index]);
                let entropy = logit_gradient(row, log_prob, action, slope, ent_coef);
                tally.entropy += f64::from(entropy);
            }
        }
        self.gradient.resize(policy.actor.parameters().len(), 0.0);
        policy.actor.backward(observations, n, output_gradient, work, &mut self.gradient);
    }

    /// The loss of the critic and its gradient.
    fn critic(
        &mut self,
        policy: &Policy,
        rollout: &Rollout,
        samples: &[usize],
        settings: Settings,
    ) {
        let Self { work, observations, output_gradient, tally, gradient, .. } = self;
        let critic = policy.critic.as_ref().expect("who acts by chance has a critic");
        let n = samples.len();
        let values = critic.forward(observations, n, work);
        output_gradient.clear();
        for (&value, &sample) in values.iter().zip(samples) {
            let (old, target) = (rollout.values[sample], rollout.returns[sample]);
            let [error, slope] = value_error(value, old, target, settings.clip_range_vf);
            tally.value_loss += f64::from(error);
            output_gradient.push(settings.vf_coef * slope * settings.weight);
        }
        gradient.resize(critic.parameters().len(), 0.0);
        critic.backward(observations, n, output_gradient, work, gradient);
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
    old_approx_kl: f64,
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
        self.old_approx_kl += other.old_approx_kl;
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
            &mut self.old_approx_kl,
            &mut self.clip_fraction,
        ] {
            *sum /= n as f64;
        }
    }

    /// Whether what was measured of the samples makes sense.
    fn is_finite(&self) -> bool {
        [self.policy_loss, self.value_loss, self.entropy, self.approx_kl]
            .iter()
            .all(|x| x.is_finite())
    }
}

#[cfg(test)]
mod tests;
