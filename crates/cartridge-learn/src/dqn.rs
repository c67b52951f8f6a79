//! Deep Q-learning (Mnih and others 2015): learn what each action is worth, and take the best.
//!
//! Act mostly as the network prefers and at times at random, keep what was seen, and learn from
//! random samples of it. A second network, the *target*, follows the first slowly, so that what
//! is learnt does not chase itself:
//!
//! ```text
//! target = reward + gamma * max over legal a of target_network(next_observation)[a]
//! loss   = mean(huber(network(observation)[action] - target))
//! ```
//!
//! Nothing is added to the reward where the task *terminated*; where the episode was only
//! *truncated*, the value of its last observation is.
//!
//! Optional parts, off by default:
//! * `double_q` (van Hasselt, Guez and Silver 2016): the network chooses the next action and the
//!   target network values it, which takes away most of the optimism of a maximum over guesses;
//! * `n_steps` above 1 (Sutton 1988): rewards of several steps before the value of what follows;
//! * `prioritized_replay` (Schaul and others 2016): see `priorities`.
//!
//! Where actions are not always legal, those that are not are neither taken nor valued.
//!
//! Names, defaults and the order of events are those of Stable-Baselines3: `train_freq` counts
//! steps of each environment, `target_update_interval` steps of all of them together, the target
//! follows while steps are made and not while learning, actions are random and nothing is learnt
//! for `learning_starts` steps, and the loss is Huber's with a threshold of 1. Deviations: each
//! environment decides for itself whether to explore, instead of all or none; gradient steps that
//! look beyond the newest step use the steps that there are, as `NStepReplayBuffer` does; and
//! `train/loss` is the mean over an update, which is several times `train_freq` long.

mod lesson;
mod priorities;
mod replay;
mod state;
mod worths;

use std::time::Instant;

use cartridge_games::batch::Buffers;
use cartridge_games::{
    Action, ActionSpace, Actions, Env, EnvActions, EnvBatch, EpisodeSeeds, Stream,
};
use serde::{Deserialize, Serialize};

use self::lesson::{
    Judged, Lesson, N_AHEAD, SHARD, Shard, best_action, halved_gradient, shared_gradient,
};
use self::priorities::Priorities;
use self::replay::{End, Replay, Shape};
use self::worths::Worths;
use crate::adam::{self, Adam};
use crate::fault::Fault;
use crate::metric::Metric;
use crate::network::{Activation, Halves, Mlp, Workspace};
use crate::policy::Policy;
use crate::report::{EpisodeEnd, Phase, Recent, Update};
use crate::schedule::Schedule;
use crate::team::Team;

pub use self::state::{RecordedEpisode, State, StateError};

/// Settings of one training run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Step size of the optimiser, in `(0, 1]`.
    pub learning_rate: Schedule,
    /// Steps of all environments that are kept to learn from, at least 1.
    pub buffer_size: usize,
    /// Steps of all environments before anything is learnt; actions are random until then.
    pub learning_starts: u64,
    /// Samples per gradient step, at least 1.
    pub batch_size: usize,
    /// How far the target network moves to the network when it follows, in `(0, 1]`.
    pub tau: f64,
    /// Weight of a reward one step later, in `[0, 1]`.
    pub gamma: f64,
    /// Steps of each environment between two times of learning, at least 1.
    pub train_freq: usize,
    /// Gradient steps each time; -1 for as many as all environments have made steps.
    pub gradient_steps: i64,
    /// Steps whose rewards count before the value of what follows, at least 1.
    pub n_steps: usize,
    /// Steps of all environments after which the target network follows, at least 1.
    pub target_update_interval: u64,
    /// Share of the training over which exploration falls, in `[0, 1]`.
    pub exploration_fraction: f64,
    /// Share of random actions at the beginning, in `[0, 1]`.
    pub exploration_initial_eps: f64,
    /// Share of random actions from then on, in `[0, 1]`.
    pub exploration_final_eps: f64,
    /// Greatest norm of a gradient, above 0.
    pub max_grad_norm: f64,
    /// Units of each hidden layer.
    pub net_arch: Vec<usize>,
    /// What follows each hidden layer.
    pub activation: Activation,
    /// Whether the network chooses the action whose value the target network gives.
    pub double_q: bool,
    /// Whether samples that surprised are drawn more often.
    pub prioritized_replay: bool,
    /// How much more often, from 0 (not at all) to 1 (in proportion to the error).
    pub prioritized_replay_alpha: f64,
    /// How much of that is taken back by weights at the beginning, in `[0, 1]`; all at the end.
    pub prioritized_replay_beta0: f64,
    /// Added to every error, so that no sample is lost for ever; above 0.
    pub prioritized_replay_eps: f64,
    /// Environments that are stepped together, at least 1.
    pub n_envs: usize,
    /// How episodes get their seeds.
    pub episode_seeds: EpisodeSeeds,
    /// Environment steps to train for, over all environments; whole times of `train_freq`, so it
    /// may be passed.
    pub total_timesteps: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            learning_rate: Schedule::Constant(1e-4),
            buffer_size: 1_000_000,
            learning_starts: 100,
            batch_size: 32,
            tau: 1.0,
            gamma: 0.99,
            train_freq: 4,
            gradient_steps: 1,
            n_steps: 1,
            target_update_interval: 10_000,
            exploration_fraction: 0.1,
            exploration_initial_eps: 1.0,
            exploration_final_eps: 0.05,
            max_grad_norm: 10.0,
            net_arch: vec![64, 64],
            activation: Activation::Relu,
            double_q: false,
            prioritized_replay: false,
            prioritized_replay_alpha: 0.6,
            prioritized_replay_beta0: 0.4,
            prioritized_replay_eps: 1e-6,
            n_envs: 1,
            episode_seeds: EpisodeSeeds::Hash,
            total_timesteps: 1_000_000,
        }
    }
}

/// What Adam adds to its denominator: PyTorch's default, and so Stable-Baselines3's here.
const ADAM_EPSILON: f32 = 1e-8;

/// Steps of all environments that an update is to have at least, so that reporting costs nothing.
const MIN_STEPS_PER_UPDATE: usize = 1024;

impl Config {
    /// Environment steps per update, over all environments; the last of a run may be shorter.
    pub fn steps_per_update(&self) -> usize {
        self.n_rounds() * self.steps_per_round()
    }

    /// Environment steps between two times of learning, over all environments.
    fn steps_per_round(&self) -> usize {
        self.train_freq * self.n_envs
    }

    /// Times of collecting and learning per update.
    fn n_rounds(&self) -> usize {
        MIN_STEPS_PER_UPDATE.div_ceil(self.steps_per_round())
    }

    /// Gradient steps each time.
    fn n_gradient_steps(&self) -> usize {
        usize::try_from(self.gradient_steps).unwrap_or(self.steps_per_round())
    }

    /// Steps of each environment after which the target network follows.
    fn target_interval(&self) -> u64 {
        (self.target_update_interval / self.n_envs as u64).max(1)
    }

    /// The share of random actions when `step` steps have been made.
    fn exploration(&self, step: u64) -> f64 {
        let (initial, last) = (self.exploration_initial_eps, self.exploration_final_eps);
        match self.done(step) {
            done if done < self.exploration_fraction => {
                initial + done * (last - initial) / self.exploration_fraction
            }
            _ => last,
        }
    }

    /// The share of the training that is over after `step` steps.
    fn done(&self, step: u64) -> f64 {
        step as f64 / self.total_timesteps as f64
    }
}

/// A training run in progress.
#[derive(Debug)]
pub struct Dqn {
    config: Config,
    rng: fastrand::Rng,
    network: Mlp,
    target: Mlp,
    optimizer: Adam,
    batch: EnvBatch,
    lanes: Vec<Lane>,
    stepped: Stepped,
    replay: Replay,
    priorities: Option<Priorities>,
    /// None where what follows a transition is not judged by the target alone, or not for good.
    worths: Option<Worths>,
    learner: Learner,
    team: Team,
    step: u64,
    n_gradient_steps: u64,
    n_episodes: u64,
    recent: Recent,
    fault: Option<Fault>,
}

/// The episode that is played in an environment.
#[derive(Debug)]
struct Lane {
    reward: f64,
    length: u32,
    actions: Actions,
}

/// What was done in one step of all lanes and what came of it, beside what is seen.
#[derive(Debug)]
struct Stepped {
    actions: Vec<Action>,
    rewards: Vec<f64>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
    ticks: Vec<u32>,
}

impl Stepped {
    fn new(n_lanes: usize) -> Self {
        Self {
            actions: vec![Action(0); n_lanes],
            rewards: vec![0.0; n_lanes],
            terminated: vec![false; n_lanes],
            truncated: vec![false; n_lanes],
            ticks: vec![0; n_lanes],
        }
    }

    /// Where a batch writes, with `observations` and `masks`.
    fn buffers<'a>(&'a mut self, seen: (&'a mut [f32], &'a mut [bool])) -> Buffers<'a> {
        let Self { rewards, terminated, truncated, ticks, .. } = self;
        let (observations, masks) = seen;
        Buffers { observations, masks, rewards, terminated, truncated, ticks }
    }
}

/// Buffers of acting and learning.
#[derive(Debug, Default)]
struct Learner {
    acting: Workspace,
    /// The transitions of the minibatches to come, and how much each weighs.
    drawn: Vec<u64>,
    drawn_priorities: Vec<f32>,
    weights: Vec<f32>,
    shards: Vec<Shard>,
    gradient: Vec<f32>,
    halves: Halves,
}

/// Sums over gradient steps.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    n: u32,
    loss: f64,
    values: f64,
    gradient_norm: f64,
}

impl Dqn {
    /// A run at its beginning, with one environment per lane. Everything random comes from
    /// `seed_base`; the number of threads in `team` changes nothing but the time it takes.
    ///
    /// # Panics
    ///
    /// If the number of environments is not [`Config::n_envs`], their actions are not one of a
    /// list, or a size is zero.
    pub fn new(envs: Vec<Box<dyn Env>>, config: &Config, seed_base: u64, team: Team) -> Self {
        check_sizes(&envs, config);
        let mut batch = EnvBatch::new(envs, seed_base, Stream::Train).seeded(config.episode_seeds);
        let mut replay = Replay::new(shape(&batch), config.buffer_size, 0);
        let mut stepped = Stepped::new(config.n_envs);
        batch.reset(&mut stepped.buffers(replay.seen_mut()));
        let rng = fastrand::Rng::with_seed(seed_base);
        Self::assemble(batch, replay, rng, config, team)
    }

    /// A run whose environments stand at the present row of `replay`, with a fresh network.
    fn assemble(
        batch: EnvBatch,
        replay: Replay,
        mut rng: fastrand::Rng,
        config: &Config,
        team: Team,
    ) -> Self {
        let Shape { n_lanes, n_observation, n_actions, .. } = replay.shape();
        let mut sizes = vec![n_observation];
        sizes.extend(&config.net_arch);
        sizes.push(n_actions);
        let network = Mlp::uniform(&sizes, config.activation, &mut rng);
        let new_lane = |_| Lane {
            reward: 0.0,
            length: 0,
            actions: Actions::new(&ActionSpace::Discrete(n_actions)),
        };
        let lanes = (0..n_lanes).map(new_lane).collect();
        let priorities = config.prioritized_replay.then(|| Priorities::new(replay.n_slots()));
        let n_parameters = network.parameters().len();
        let n_shards = config.batch_size.div_ceil(SHARD);
        Self {
            config: config.clone(),
            rng,
            target: network.clone(),
            optimizer: Adam::new(n_parameters, ADAM_EPSILON),
            network,
            batch,
            lanes,
            stepped: Stepped::new(n_lanes),
            replay,
            priorities,
            worths: (!config.double_q && config.n_steps == 1).then(Worths::new),
            learner: Learner {
                shards: (0..n_shards).map(|_| Shard::default()).collect(),
                gradient: vec![0.0; n_parameters],
                ..Learner::default()
            },
            team,
            step: 0,
            n_gradient_steps: 0,
            n_episodes: 0,
            recent: Recent::default(),
            fault: None,
        }
    }

    /// The network as it is now: for each observation, what each action is worth.
    pub fn q_network(&self) -> &Mlp {
        &self.network
    }

    /// The policy as it is now.
    pub fn policy(&self) -> Policy {
        Policy::action_values(self.network.clone())
    }

    /// Environment steps so far, over all environments.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Changes the learning rate from the next update on and returns what it was. One that was
    /// falling stays where it is put.
    pub fn tune_learning_rate(&mut self, value: f64) -> f64 {
        let old = self.learning_rate();
        self.config.learning_rate = value.into();
        old
    }

    /// Whether the run has made all its steps.
    pub fn is_done(&self) -> bool {
        self.step >= self.config.total_timesteps
    }

    /// The gradient step that could not be made, after an update that reported a number that is
    /// not finite.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Plays about [`Config::steps_per_update`] steps, learns in between, and reports.
    pub fn update(&mut self) -> Update {
        self.update_in_phases(&mut |_| {})
    }

    /// [`Self::update`], saying of each phase when it begins.
    pub fn update_in_phases(&mut self, begin: &mut dyn FnMut(Phase)) -> Update {
        let mut episodes = Vec::new();
        let mut tally = Tally::default();
        for _ in 0..self.config.n_rounds() {
            begin(Phase::Act);
            for _ in 0..self.config.train_freq {
                self.act();
                self.advance(&mut episodes);
            }

            begin(Phase::Learn);
            if self.step > self.config.learning_starts {
                let mut n_left = self.config.n_gradient_steps();
                while n_left > 0 && self.fault.is_none() {
                    let n = n_left.min(self.n_ahead());
                    self.learn(n, &mut tally);
                    n_left -= n;
                }
            }
            if self.is_done() || self.fault.is_some() {
                break;
            }
        }

        self.settle();

        // Report.
        self.recent.extend(&episodes);
        let mut scalars = self.recent.scalars();
        scalars.push((Metric::ExplorationRate, self.config.exploration(self.step)));
        scalars.push((Metric::LearningRate, self.learning_rate()));
        scalars.push((Metric::Updates, self.n_gradient_steps as f64));
        if tally.n > 0 {
            let mean = |sum: f64| sum / f64::from(tally.n);
            scalars.push((Metric::Loss, mean(tally.loss)));
            scalars.push((Metric::ActionValue, mean(tally.values)));
            scalars.push((Metric::GradientNorm, mean(tally.gradient_norm)));
        }
        Update { step: self.step, scalars, episode_metrics: self.recent.metrics(), episodes }
    }

    /// Plays the steps of an update and learns nothing from them.
    pub fn rollout(&mut self) -> Vec<EpisodeEnd> {
        let mut episodes = Vec::new();
        for _ in 0..self.config.n_rounds() * self.config.train_freq {
            self.act();
            self.advance(&mut episodes);
        }
        episodes
    }

    /// Takes over what was learnt in halves. Until then the network says what it has learnt, but its
    /// parameters are behind.
    fn settle(&mut self) {
        let Self { network, optimizer, learner, .. } = self;
        optimizer.settle(network, &mut learner.halves);
    }

    fn learning_rate(&self) -> f64 {
        self.config.learning_rate.at(self.config.done(self.step))
    }

    /// Chooses what each lane does next.
    fn act(&mut self) {
        let Self { config, rng, network, replay, learner, stepped, .. } = self;
        let is_early = self.step < config.learning_starts;
        let eps = if is_early { 1.0 } else { config.exploration(self.step) };
        let Shape { n_lanes, n_actions, is_masked, .. } = replay.shape();
        let (observations, masks) = replay.seen();
        let mut is_greedy = false;
        for (action, mask) in stepped.actions.iter_mut().zip(masks.chunks_exact(n_actions)) {
            // A number that names no action marks those that the network is asked for.
            *action = Action(usize::MAX);
            if rng.f64() < eps {
                *action = random_legal(mask, rng);
            }
            is_greedy |= action.0 == usize::MAX;
        }
        if !is_greedy {
            return;
        }
        let values = network.forward(observations, n_lanes, &mut learner.acting);
        let rows = values.chunks_exact(n_actions).zip(masks.chunks_exact(n_actions));
        for (action, (values, mask)) in stepped.actions.iter_mut().zip(rows) {
            if action.0 == usize::MAX {
                *action = Action(best_action(values, is_masked.then_some(mask)));
            }
        }
    }

    /// Takes the chosen action in each lane, notes what came of it, and lets the target follow.
    fn advance(&mut self, episodes: &mut Vec<EpisodeEnd>) {
        let Self { config, network, target, batch, lanes, stepped, replay, team, .. } = self;
        let actions = std::mem::take(&mut stepped.actions);
        batch.step(EnvActions::Discrete(&actions), &mut stepped.buffers(replay.next_mut()));
        stepped.actions = actions;
        self.step += lanes.len() as u64;
        let row = replay.present();
        for (index, lane) in lanes.iter_mut().enumerate() {
            let (action, reward) = (stepped.actions[index], stepped.rewards[index]);
            let (terminated, truncated) = (stepped.terminated[index], stepped.truncated[index]);
            let end = End::new(terminated, truncated);
            replay.write(row, index, action.0, reward, end);
            if end == End::Truncated {
                let (observation, mask) = (batch.last_observation(index), batch.last_mask(index));
                replay.write_cut(row, index, observation, mask);
            }
            lane.reward += reward;
            lane.length += 1;
            lane.actions.push(action.into());
            if end != End::No {
                self.n_episodes += 1;
                episodes.push(EpisodeEnd {
                    episode: self.n_episodes,
                    lane: index as u32,
                    seed: batch.last_seed(index),
                    step: self.step,
                    reward: std::mem::take(&mut lane.reward),
                    length: std::mem::take(&mut lane.length),
                    terminated,
                    truncated,
                    actions: lane.actions.take(),
                    metrics: batch.env(index).episode_metrics(),
                });
            }
        }
        if let Some(worths) = &mut self.worths {
            (0..lanes.len()).for_each(|lane| worths.begin(replay.slot_of(row, lane)));
        }
        replay.advance();
        if let Some(priorities) = &mut self.priorities {
            note_row(priorities, replay);
        }
        if replay.present().is_multiple_of(config.target_interval()) {
            self.optimizer.settle(network, &mut self.learner.halves);
            follow(target, network, config.tau as f32, team);
            if let Some(worths) = &mut self.worths {
                worths.forget();
            }
        }
    }

    /// How many minibatches can be judged before the first is learnt from.
    fn n_ahead(&self) -> usize {
        let depends = self.config.double_q || self.priorities.is_some();
        if depends { 1 } else { N_AHEAD }
    }

    /// A gradient step on each of `n` random minibatches, until a number is not finite.
    fn learn(&mut self, n: usize, tally: &mut Tally) {
        let began = Instant::now();
        self.learner.drawn.clear();
        self.learner.weights.clear();
        (0..n).for_each(|_| self.draw());
        if n > 1 {
            let Self { config, network, target, replay, worths, learner, team, .. } = self;
            let (worths, n_samples) = (worths.as_ref(), config.batch_size);
            let lesson = Lesson { config, replay, network, target, worths, n_samples };
            let Learner { shards, drawn, .. } = learner;
            team.each(shards, |index, shard| {
                shard.judge(&lesson, n, |minibatch| &drawn[lesson.part(minibatch, index)]);
            });
        }
        for minibatch in 0..n {
            self.step_on(minibatch, n > 1, tally);
            if self.fault.is_some() {
                return;
            }
        }
        self.reprioritize();
        self.team.took(n, began.elapsed());
    }

    /// One gradient step on a minibatch that was drawn, and perhaps judged, if all its numbers are
    /// finite.
    fn step_on(&mut self, minibatch: usize, is_judged: bool, tally: &mut Tally) {
        let learning_rate = self.learning_rate();
        let Self { config, network, target, optimizer, replay, worths, learner, team, .. } = self;
        let Learner { drawn, weights, shards, gradient, halves, .. } = learner;
        // The bits are the same both ways.
        let is_halved = team.is_pair() && network.has_halves();
        if !is_halved {
            optimizer.settle(network, halves);
            halves.unload();
        }

        let (worths, n_samples) = (worths.as_ref(), config.batch_size);
        let lesson = Lesson { config, replay, network, target, worths, n_samples };
        if !is_judged {
            team.each(shards, |index, shard| {
                let part = lesson.part(minibatch, index);
                shard.judge(&lesson, 1, |_| &drawn[part.clone()]);
            });
        }

        let norm = if is_halved {
            halved_gradient(team, &lesson, minibatch, weights, shards, halves)
        } else {
            shared_gradient(team, &lesson, minibatch, weights, shards, gradient)
        };
        let (mut loss, mut values) = (0.0, 0.0);
        for shard in shards {
            loss += shard.loss / n_samples as f64;
            values += shard.values / n_samples as f64;
        }
        tally.n += 1;
        tally.loss += loss;
        tally.values += values;
        tally.gradient_norm += f64::from(norm);
        // The loss too, because an infinite error has a slope of 1.
        if !norm.is_finite() || !loss.is_finite() {
            self.settle();
            self.fault = Some(self.fault_on(minibatch));
            return;
        }

        let scale = adam::clip_scale(norm, config.max_grad_norm as f32);
        if is_halved {
            optimizer.update_in_halves(team, network, halves, scale, learning_rate);
        } else {
            optimizer.update_together(team, network, gradient, scale, learning_rate);
        }
        self.n_gradient_steps += 1;
    }

    /// The fault of a gradient step on a minibatch.
    fn fault_on(&mut self, minibatch: usize) -> Fault {
        let (policy, learner) = (self.policy(), &mut self.learner);
        let mut columns = [
            "observations",
            "actions",
            "returns",
            "discounts",
            "next_observations",
            "next_masks",
            "targets",
        ]
        .map(|name| (name, Vec::new()));
        for shard in &mut learner.shards {
            let Judged { samples, targets, .. } = &mut shard.judged[minibatch];
            let actions = samples.actions.iter().map(|&x| x as f32).collect();
            let masks = samples.next_masks.iter().map(|&x| f32::from(u8::from(x))).collect();
            let parts = [
                &samples.observations,
                &actions,
                &samples.returns,
                &samples.discounts,
                &samples.next_observations,
                &masks,
                targets,
            ];
            for ((_, column), part) in columns.iter_mut().zip(parts) {
                column.extend_from_slice(part);
            }
        }
        let n_samples = self.config.batch_size;
        let weights = learner.weights[minibatch * n_samples..][..n_samples].to_vec();
        let samples = columns.into_iter().chain([("weights", weights)]);
        let update = self.step.div_ceil(self.config.steps_per_update() as u64);
        Fault::new([update, self.step], &self.config, &policy, samples, n_samples)
    }

    /// Draws the transitions of another minibatch, with replacement.
    fn draw(&mut self) {
        let Self { config, rng, replay, priorities, learner, .. } = self;
        let Learner { drawn, drawn_priorities, weights, .. } = learner;
        let all = replay.transitions();
        let Some(priorities) = priorities else {
            drawn.extend((0..config.batch_size).map(|_| rng.u64(all.clone())));
            weights.resize(drawn.len(), 1.0);
            return;
        };
        // One out of each of as many equal parts of the sum, as the paper does.
        let (total, n) = (priorities.total(), config.batch_size as f64);
        drawn_priorities.clear();
        for index in 0..config.batch_size {
            let slot = priorities.find((index as f64 + rng.f64()) / n * total);
            drawn.push(replay.transition(slot));
            drawn_priorities.push(priorities.get(slot));
        }
        let beta0 = config.prioritized_replay_beta0;
        let beta = beta0 + (1.0 - beta0) * config.done(self.step).min(1.0);
        priorities::weigh(drawn_priorities, all.end - all.start, total, beta, weights);
    }

    /// Gives the samples of the last minibatch the priorities of their errors.
    fn reprioritize(&mut self) {
        let Some(priorities) = &mut self.priorities else { return };
        let (alpha, eps) =
            (self.config.prioritized_replay_alpha, self.config.prioritized_replay_eps);
        let parts = self.learner.drawn.chunks(SHARD).zip(&mut self.learner.shards);
        for (transitions, shard) in parts {
            for (&transition, &error) in transitions.iter().zip(&shard.errors) {
                let priority = priorities::priority(error, alpha, eps);
                priorities.set(self.replay.slot(transition), priority);
            }
        }
    }
}

/// Gives the row before the present one the greatest priority, and the present one none.
fn note_row(priorities: &mut Priorities, replay: &Replay) {
    let n_lanes = replay.shape().n_lanes as u64;
    let newest = replay.transitions().end;
    let greatest = priorities.greatest();
    for transition in newest - n_lanes..newest {
        priorities.set(replay.slot(transition), greatest);
    }
    for transition in newest..newest + n_lanes {
        priorities.set(replay.slot(transition), 0.0);
    }
}

fn shape(batch: &EnvBatch) -> Shape {
    let spec = batch.spec();
    Shape {
        n_lanes: batch.n_lanes(),
        n_observation: spec.observation,
        n_actions: spec.actions.size(),
        is_masked: spec.is_masked,
    }
}

/// The promises of whoever calls [`Dqn::new`] and [`Dqn::restore`].
fn check_sizes(envs: &[Box<dyn Env>], config: &Config) {
    assert_eq!(envs.len(), config.n_envs, "one environment per lane");
    let sizes =
        [config.n_envs, config.batch_size, config.train_freq, config.n_steps, config.buffer_size];
    assert!(!sizes.contains(&0), "sizes are positive");
    assert!(config.gradient_steps >= -1, "gradient steps are counted, or -1");
    assert!(envs[0].spec().actions.is_discrete(), "an action is one of a list");
}

/// Moves the parameters of `target` by `tau` of the way to those of `network`.
fn follow(target: &mut Mlp, network: &Mlp, tau: f32, team: &mut Team) {
    target.change_together(team, [], |place, parameters, []| {
        for (x, y) in parameters.iter_mut().zip(&network.parameters()[place]) {
            // With a tau of 1 this is `y`, bit for bit.
            *x = (1.0 - tau) * *x + tau * y;
        }
    });
}

/// A legal action, each as probable as the others.
fn random_legal(mask: &[bool], rng: &mut fastrand::Rng) -> Action {
    let n_legal = mask.iter().filter(|&&is_legal| is_legal).count();
    let mut legal = (0..mask.len()).filter(|&index| mask[index]);
    Action(legal.nth(rng.usize(..n_legal)).expect("there is something to do"))
}

#[cfg(test)]
mod tests;
