//! Many environments that are stepped by one call.
//!
//! The caller owns the buffers and the threads: a batch writes into slices that it is given,
//! begins a new episode where one has ended, and allocates nothing while it steps. It can be
//! [split](EnvBatch::split) into smaller ones, one per thread. The seed of an episode depends on
//! its lane and its number alone, so what a lane plays is the same however lanes are spread.

mod together;

use std::fmt::Debug;

use self::together::Together;
use crate::env::{Actions, Env, EnvAction, EnvSpec, Island, Mechanism};
use crate::game::Action;
use crate::seeds::{EpisodeSeeds, Stream, episode_seed};

/// Environments of one kind, side by side.
#[derive(Debug)]
pub struct EnvBatch {
    lanes: Vec<Lane>,
    spec: &'static EnvSpec,
    seeding: Seeding,
    together: Together,
}

/// Where the seeds of the next episodes come from.
#[derive(Clone, Debug)]
struct Seeding {
    seed_base: u64,
    stream: Stream,
    seeds: EpisodeSeeds,
    /// Episodes that all lanes together have begun.
    n_begun: u64,
}

impl Seeding {
    fn next(&mut self, lane: &Lane) -> u64 {
        self.n_begun += 1;
        match self.seeds {
            EpisodeSeeds::Hash => {
                episode_seed(self.seed_base, self.stream, lane.number, lane.n_resets)
            }
            EpisodeSeeds::InOrder => self.seed_base.wrapping_add(self.n_begun - 1),
        }
    }
}

/// An environment and the episode that is played in it.
#[derive(Debug)]
struct Lane {
    env: Box<dyn Env>,
    /// Number of the lane in the whole batch, before any split.
    number: u32,
    n_resets: u64,
    seed: u64,
    /// The seed of the episode that ended last.
    last_seed: u64,
    /// The last observation of the episode that ended last.
    last_observation: Box<[f32]>,
    /// What was legal there.
    last_mask: Box<[bool]>,
}

/// What is done in one step of a batch, lane by lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EnvActions<'a> {
    /// One action per lane.
    Discrete(&'a [Action]),
    /// The numbers of all lanes, one lane after the other.
    Continuous(&'a [f32]),
}

/// Where a batch writes, lane by lane. Every slice has as many elements as the lanes need.
#[derive(Debug)]
pub struct Buffers<'a> {
    /// What is seen next: the first of a new episode where one has ended.
    pub observations: &'a mut [f32],
    /// Whether each action may be taken next.
    pub masks: &'a mut [bool],
    /// The reward of each action.
    pub rewards: &'a mut [f64],
    /// Where the task itself has ended.
    pub terminated: &'a mut [bool],
    /// Where the time limit was reached.
    pub truncated: &'a mut [bool],
    /// How much time each action took.
    pub ticks: &'a mut [u32],
}

/// Buffers that own their memory, for callers that have none.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedBuffers {
    /// As [`Buffers::observations`].
    pub observations: Vec<f32>,
    /// As [`Buffers::masks`].
    pub masks: Vec<bool>,
    /// As [`Buffers::rewards`].
    pub rewards: Vec<f64>,
    /// As [`Buffers::terminated`].
    pub terminated: Vec<bool>,
    /// As [`Buffers::truncated`].
    pub truncated: Vec<bool>,
    /// As [`Buffers::ticks`].
    pub ticks: Vec<u32>,
}

impl EnvBatch {
    /// A batch of environments that wait for their first reset; they are lanes 0, 1, and so on.
    ///
    /// # Panics
    ///
    /// If there are none, or they are of different kinds.
    pub fn new(envs: Vec<Box<dyn Env>>, seed_base: u64, stream: Stream) -> Self {
        let spec = envs.first().expect("a batch has lanes").spec();
        // Not by their ids: with other options the same id has other actions.
        assert!(envs.iter().all(|env| env.spec() == spec), "a batch is of one kind");
        let lane = |(number, env): (usize, Box<dyn Env>)| Lane {
            env,
            number: number as u32,
            n_resets: 0,
            seed: 0,
            last_seed: 0,
            last_observation: vec![0.0; spec.observation].into(),
            last_mask: vec![true; spec.actions.size()].into(),
        };
        let lanes = envs.into_iter().enumerate().map(lane).collect();
        let seeding = Seeding { seed_base, stream, seeds: EpisodeSeeds::Hash, n_begun: 0 };
        Self { lanes, spec, seeding, together: Together::default() }
    }

    /// The same, with other seeds.
    pub fn seeded(mut self, seeds: EpisodeSeeds) -> Self {
        self.seeding.seeds = seeds;
        self
    }

    /// Facts of the environments.
    pub fn spec(&self) -> &'static EnvSpec {
        self.spec
    }

    /// How many environments there are.
    pub fn n_lanes(&self) -> usize {
        self.lanes.len()
    }

    /// The same lanes in `n_parts` batches of nearly equal size, in order. There are fewer parts
    /// when there are not enough lanes, and one where seeds are given in order: which lane begins
    /// the next episode is then known only to who steps them all.
    pub fn split(self, n_parts: usize) -> Vec<Self> {
        if self.seeding.seeds == EpisodeSeeds::InOrder {
            return vec![self];
        }
        let Self { lanes, spec, seeding, .. } = self;
        let size = lanes.len().div_ceil(n_parts.max(1));
        let mut lanes = lanes.into_iter().peekable();
        let mut parts = Vec::new();
        while lanes.peek().is_some() {
            let lanes = lanes.by_ref().take(size).collect();
            let seeding = seeding.clone();
            parts.push(Self { lanes, spec, seeding, together: Together::default() });
        }
        parts
    }

    /// Begins the next episode in every lane. Rewards, ends and ticks are cleared.
    pub fn reset(&mut self, out: &mut Buffers<'_>) {
        self.check(out);
        out.rewards.fill(0.0);
        out.terminated.fill(false);
        out.truncated.fill(false);
        out.ticks.fill(0);
        let observations = out.observations.chunks_exact_mut(self.spec.observation);
        let masks = out.masks.chunks_exact_mut(self.spec.actions.size());
        for ((lane, observation), mask) in self.lanes.iter_mut().zip(observations).zip(masks) {
            let seed = self.seeding.next(lane);
            lane.reset(seed, observation);
            lane.env.legal_actions(mask);
        }
    }

    /// Takes one action in every lane, and begins the next episode where one ends.
    ///
    /// # Panics
    ///
    /// If there are not as many actions as lanes, or a buffer has the wrong size.
    pub fn step(&mut self, actions: EnvActions<'_>, out: &mut Buffers<'_>) {
        self.check(out);
        let n_actions = self.spec.actions.size();
        let n_given = match actions {
            EnvActions::Discrete(actions) => actions.len(),
            EnvActions::Continuous(numbers) => numbers.len() / n_actions,
        };
        assert_eq!(n_given, self.lanes.len(), "one action per lane");
        let action_of = |index: usize| match actions {
            EnvActions::Discrete(actions) => EnvAction::Discrete(actions[index]),
            EnvActions::Continuous(numbers) => {
                EnvAction::Continuous(&numbers[index * n_actions..][..n_actions])
            }
        };
        let is_together =
            self.lanes.len() >= together::MIN_LANES && self.lanes[0].env.mechanism().is_some();
        if is_together {
            for (index, lane) in self.lanes.iter_mut().enumerate() {
                lane.mechanism().begin_step(action_of(index));
            }
            self.together.solve(&mut self.lanes);
        }
        let observations = out.observations.chunks_exact_mut(self.spec.observation);
        let masks = out.masks.chunks_exact_mut(n_actions);
        let lanes = self.lanes.iter_mut().zip(observations).zip(masks);
        for (index, ((lane, observation), mask)) in lanes.enumerate() {
            let step = if is_together {
                lane.mechanism().end_step(observation)
            } else {
                lane.env.step(action_of(index), observation)
            };
            out.rewards[index] = step.reward;
            out.terminated[index] = step.terminated;
            out.truncated[index] = step.truncated;
            out.ticks[index] = step.ticks;
            if step.is_end() {
                lane.last_observation.copy_from_slice(observation);
                if self.spec.is_masked {
                    lane.env.legal_actions(&mut lane.last_mask);
                }
                let seed = self.seeding.next(lane);
                lane.reset(seed, observation);
            }
            lane.env.legal_actions(mask);
        }
    }

    /// The last observation of the episode that ended last in a lane of this batch: what a
    /// learner needs to value an episode that was only truncated.
    pub fn last_observation(&self, lane: usize) -> &[f32] {
        &self.lanes[lane].last_observation
    }

    /// What was legal at [`Self::last_observation`].
    pub fn last_mask(&self, lane: usize) -> &[bool] {
        &self.lanes[lane].last_mask
    }

    /// The environment of a lane of this batch, for what it measured.
    pub fn env(&self, lane: usize) -> &dyn Env {
        &*self.lanes[lane].env
    }

    /// The seed with which a lane of this batch was last reset.
    pub fn seed(&self, lane: usize) -> u64 {
        self.lanes[lane].seed
    }

    /// The seed of the episode that ended last in a lane of this batch.
    pub fn last_seed(&self, lane: usize) -> u64 {
        self.lanes[lane].last_seed
    }

    /// How many episodes a lane of this batch has begun.
    pub fn n_resets(&self, lane: usize) -> u64 {
        self.lanes[lane].n_resets
    }

    /// Puts a lane of this batch into its episode number `n_resets`, which has this seed, after
    /// these actions, and returns the rewards that they earned. Nothing where the episode cannot
    /// have that seed, the actions cannot be taken, or the episode ends with one of them.
    pub fn resume(
        &mut self,
        lane: usize,
        (n_resets, seed): (u64, u64),
        actions: &Actions,
        observation: &mut [f32],
        mask: &mut [bool],
    ) -> Option<f64> {
        let space = &self.spec.actions;
        let lane = &mut self.lanes[lane];
        lane.n_resets = n_resets;
        let Seeding { seed_base, stream, seeds, .. } = self.seeding;
        let is_train = stream == Stream::Train;
        if is_train && !seeds.fits(seed_base, lane.number, n_resets, seed) {
            return None;
        }
        lane.reset(seed, observation);
        let mut reward = 0.0;
        for action in actions.iter() {
            if !space.contains(action) {
                return None;
            }
            let step = lane.env.step(action, observation);
            if step.is_end() {
                return None;
            }
            reward += step.reward;
        }
        lane.env.legal_actions(mask);
        self.seeding.n_begun = self.lanes.iter().map(|lane| lane.n_resets).sum();
        Some(reward)
    }

    fn check(&self, out: &Buffers<'_>) {
        let n = self.lanes.len();
        assert_eq!(out.observations.len(), n * self.spec.observation, "size of observations");
        assert_eq!(out.masks.len(), n * self.spec.actions.size(), "size of masks");
        let sizes = [out.rewards.len(), out.terminated.len(), out.truncated.len(), out.ticks.len()];
        assert_eq!(sizes, [n; 4], "one element per lane");
    }
}

impl Lane {
    /// The environment, in a batch of mechanisms.
    fn mechanism(&mut self) -> &mut dyn Mechanism {
        self.env.mechanism().expect("a batch is of one kind")
    }

    fn island(&mut self) -> Option<&mut Island> {
        self.mechanism().island()
    }

    fn reset(&mut self, seed: u64, observation: &mut [f32]) {
        self.last_seed = self.seed;
        self.seed = seed;
        self.n_resets += 1;
        self.env.reset(Some(self.seed), observation);
    }
}

impl OwnedBuffers {
    /// Buffers of the right size for a batch.
    pub fn new(batch: &EnvBatch) -> Self {
        let n = batch.n_lanes();
        Self {
            observations: vec![0.0; n * batch.spec.observation],
            masks: vec![false; n * batch.spec.actions.size()],
            rewards: vec![0.0; n],
            terminated: vec![false; n],
            truncated: vec![false; n],
            ticks: vec![0; n],
        }
    }

    /// The buffers, to be written to.
    pub fn borrow(&mut self) -> Buffers<'_> {
        let Self { observations, masks, rewards, terminated, truncated, ticks } = self;
        Buffers { observations, masks, rewards, terminated, truncated, ticks }
    }
}

#[cfg(test)]
mod tests;
