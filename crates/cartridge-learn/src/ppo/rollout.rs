//! What was seen in one update, and the lanes that see it.
//!
//! Lanes are spread over the threads in groups. A group plays all its steps without waiting for
//! another; since chance is looked up by lane and step, and every row of a batch goes through the
//! network alone, nothing depends on how many groups there are.

use cartridge_games::batch::{EnvActions, EnvBatch, OwnedBuffers};
use cartridge_games::{
    Action, ActionSpace, Actions, Env, EnvAction, EnvSpec, EpisodeSeeds, Stream,
};

use super::loss::{gaussian_log_prob, log_prob_scale};
use crate::network::Workspace;
use crate::noise::Noise;
use crate::normalizer::{CLIP, Statistics, Sums};
use crate::policy::{Head, Policy, RowScale, clip, forbid, softmax_rows};
use crate::report::EpisodeEnd;

/// What was seen in one update, lane by lane and step by step within a lane.
#[derive(Debug, Default)]
pub(super) struct Rollout {
    pub(super) n_steps: usize,
    /// As the networks saw them.
    pub(super) observations: Vec<f32>,
    /// Where the last step of each lane led to.
    pub(super) next_observations: Vec<f32>,
    /// What was legal at each step; empty where everything always is.
    pub(super) masks: Vec<bool>,
    /// What was done, where there is a list.
    pub(super) actions: Vec<u32>,
    /// What was done, where actions are numbers: as drawn, before they are held within bounds.
    pub(super) numbers: Vec<f32>,
    pub(super) log_probs: Vec<f32>,
    pub(super) rewards: Vec<f32>,
    pub(super) ends: Vec<End>,
    pub(super) values: Vec<f32>,
    pub(super) advantages: Vec<f32>,
    pub(super) returns: Vec<f32>,
}

/// The part of a rollout that belongs to a group of lanes.
#[derive(Debug)]
pub(super) struct Part<'a> {
    n_steps: usize,
    observations: &'a mut [f32],
    next_observations: &'a mut [f32],
    masks: &'a mut [bool],
    actions: &'a mut [u32],
    numbers: &'a mut [f32],
    log_probs: &'a mut [f32],
    rewards: &'a mut [f32],
    ends: &'a mut [End],
    values: &'a mut [f32],
    advantages: &'a mut [f32],
    returns: &'a mut [f32],
}

/// Whether and how an episode ended with a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    #[default]
    No,
    Terminated,
    Truncated,
}

impl Rollout {
    /// Room for `n_lanes` of `n_steps` each.
    pub(super) fn new(spec: &EnvSpec, n_lanes: usize, n_steps: usize) -> Self {
        let n = n_lanes * n_steps;
        let size = spec.actions.size();
        let (n_actions, n_numbers) =
            if spec.actions.is_discrete() { (n, 0) } else { (0, n * size) };
        Self {
            n_steps,
            observations: vec![0.0; n * spec.observation],
            next_observations: vec![0.0; n_lanes * spec.observation],
            masks: vec![false; if spec.is_masked { n * size } else { 0 }],
            actions: vec![0; n_actions],
            numbers: vec![0.0; n_numbers],
            log_probs: vec![0.0; n],
            rewards: vec![0.0; n],
            ends: vec![End::No; n],
            values: vec![0.0; n],
            advantages: vec![0.0; n],
            returns: vec![0.0; n],
        }
    }

    /// The parts of groups with these numbers of lanes.
    pub(super) fn parts(&mut self, n_lanes: impl Iterator<Item = usize>) -> Vec<Part<'_>> {
        /// The first of `left`: as much of it as `share` of the lanes have.
        fn take<'a, T>(left: &mut &'a mut [T], [lanes, of]: [usize; 2]) -> &'a mut [T] {
            let n = left.len() / of * lanes;
            left.split_off_mut(..n).expect("a share is no more than the whole")
        }
        let mut lanes_left = self.log_probs.len() / self.n_steps;
        let mut observations = &mut self.observations[..];
        let mut next_observations = &mut self.next_observations[..];
        let mut masks = &mut self.masks[..];
        let mut actions = &mut self.actions[..];
        let mut numbers = &mut self.numbers[..];
        let mut log_probs = &mut self.log_probs[..];
        let mut rewards = &mut self.rewards[..];
        let mut ends = &mut self.ends[..];
        let mut values = &mut self.values[..];
        let mut advantages = &mut self.advantages[..];
        let mut returns = &mut self.returns[..];
        let n_steps = self.n_steps;
        n_lanes
            .map(|lanes| {
                let share = [lanes, lanes_left];
                lanes_left -= lanes;
                Part {
                    n_steps,
                    observations: take(&mut observations, share),
                    next_observations: take(&mut next_observations, share),
                    masks: take(&mut masks, share),
                    actions: take(&mut actions, share),
                    numbers: take(&mut numbers, share),
                    log_probs: take(&mut log_probs, share),
                    rewards: take(&mut rewards, share),
                    ends: take(&mut ends, share),
                    values: take(&mut values, share),
                    advantages: take(&mut advantages, share),
                    returns: take(&mut returns, share),
                }
            })
            .collect()
    }
}

/// Some lanes, and what a thread needs to play and judge them.
#[derive(Debug)]
pub(super) struct Group {
    batch: EnvBatch,
    buffers: OwnedBuffers,
    /// Number of its first lane.
    first: usize,
    pub(super) lanes: Vec<Lane>,
    /// Episodes that ended in this rollout, in order of (step, lane).
    pub(super) ended: Vec<EpisodeEnd>,
    /// Samples of this group that ended an episode by its time alone, and what was seen last.
    truncated: Vec<usize>,
    last_observations: Vec<f32>,
    work: Workspace,
    seen: Vec<f32>,
    outputs: Vec<f32>,
    scales: Vec<RowScale>,
    chosen: Vec<Action>,
    numbers: Vec<f32>,
}

/// The episode that a lane is in, and what it has seen in this rollout.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub(super) reward: f64,
    pub(super) length: u32,
    pub(super) actions: Actions,
    /// Rewards so far, each later one weighing less by gamma.
    pub(super) discounted: f64,
    /// Of the observations of this rollout.
    pub(super) observed: Sums,
    /// Of the discounted rewards of this rollout.
    pub(super) earned: Sums,
}

/// How observations and rewards are normalised in a rollout, where they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Norms<'a> {
    pub(super) observations: Option<&'a Statistics>,
    pub(super) rewards: Option<&'a Statistics>,
    pub(super) gamma: f64,
}

/// Observations that are valued at once.
const VALUE_PIECE: usize = 256;

impl Group {
    /// At most `n_groups` groups of lanes, each at the beginning of its first episode.
    pub(super) fn spread(
        envs: Vec<Box<dyn Env>>,
        (seed_base, seeds): (u64, EpisodeSeeds),
        n_groups: usize,
    ) -> Vec<Self> {
        let mut first = 0;
        let batch = EnvBatch::new(envs, seed_base, Stream::Train).seeded(seeds);
        let batches = batch.split(n_groups);
        batches
            .into_iter()
            .map(|mut batch| {
                let spec = batch.spec();
                let lane = Lane {
                    reward: 0.0,
                    length: 0,
                    actions: Actions::new(&spec.actions),
                    discounted: 0.0,
                    observed: Sums::default(),
                    earned: Sums::default(),
                };
                let mut buffers = OwnedBuffers::new(&batch);
                batch.reset(&mut buffers.borrow());
                let n_lanes = batch.n_lanes();
                first += n_lanes;
                Self {
                    batch,
                    buffers,
                    first: first - n_lanes,
                    lanes: vec![lane; n_lanes],
                    ended: Vec::new(),
                    truncated: Vec::new(),
                    last_observations: Vec::new(),
                    work: Workspace::default(),
                    seen: Vec::new(),
                    outputs: Vec::new(),
                    scales: Vec::new(),
                    chosen: Vec::new(),
                    numbers: Vec::new(),
                }
            })
            .collect()
    }

    /// How many lanes it has.
    pub(super) fn n_lanes(&self) -> usize {
        self.lanes.len()
    }

    /// The facts of its environments.
    pub(super) fn spec(&self) -> &'static EnvSpec {
        self.batch.spec()
    }

    /// How often a lane was reset, and with which seed the last time.
    pub(super) fn episode_of(&self, lane: usize) -> (u64, u64) {
        (self.batch.n_resets(lane), self.batch.seed(lane))
    }

    /// Puts a lane where it was after these actions of its episode. Returns whether it can be.
    pub(super) fn resume(&mut self, lane: usize, episode: (u64, u64), actions: &Actions) -> bool {
        let width = self.spec().observation;
        let size = self.spec().actions.size();
        let Some(n_resets) = episode.0.checked_sub(1) else { return false };
        let observation = &mut self.buffers.observations[lane * width..(lane + 1) * width];
        let mask = &mut self.buffers.masks[lane * size..(lane + 1) * size];
        let episode = (n_resets, episode.1);
        let Some(reward) = self.batch.resume(lane, episode, actions, observation, mask) else {
            return false;
        };
        let slot = &mut self.lanes[lane];
        slot.reward = reward;
        slot.length = actions.len() as u32;
        slot.actions = actions.clone();
        true
    }

    /// Plays `part` with `policy`. Each lane has made `n_before` steps so far in the run, and all
    /// together `n_all` lanes.
    pub(super) fn play(
        &mut self,
        policy: &Policy,
        noise: Noise,
        [n_before, n_all]: [u64; 2],
        norms: Norms<'_>,
        part: &mut Part<'_>,
    ) {
        self.ended.clear();
        self.truncated.clear();
        self.last_observations.clear();
        for lane in &mut self.lanes {
            lane.observed.clear(norms.observations.map_or(0, Statistics::len));
            lane.earned.clear(1);
        }
        let spec = self.spec();
        let (width, size, n_steps) = (spec.observation, spec.actions.size(), part.n_steps);
        for t in 0..n_steps {
            // See.
            if let Some(statistics) = norms.observations {
                let rows = self.buffers.observations.chunks_exact(width);
                for (lane, row) in self.lanes.iter_mut().zip(rows) {
                    lane.observed.add(row, statistics);
                }
            }
            self.see(policy);
            for (lane, row) in self.seen.chunks_exact(width).enumerate() {
                let at = (lane * n_steps + t) * width;
                part.observations[at..at + width].copy_from_slice(row);
            }

            // Choose.
            let outputs = policy.actor.forward(&self.seen, self.lanes.len(), &mut self.work);
            self.outputs.clear();
            self.outputs.extend_from_slice(outputs);
            match &policy.head {
                Head::Gaussian { log_std } => {
                    self.draw_numbers(log_std, noise, n_before + t as u64, t, part);
                }
                Head::Logits | Head::Values => self.draw(noise, n_before + t as u64, t, part),
            }

            // Step.
            let actions = match spec.actions {
                ActionSpace::Discrete(_) => EnvActions::Discrete(&self.chosen),
                ActionSpace::Continuous { .. } => EnvActions::Continuous(&self.numbers),
            };
            self.batch.step(actions, &mut self.buffers.borrow());
            for index in 0..self.lanes.len() {
                let at = index * n_steps + t;
                let action = match spec.actions {
                    ActionSpace::Discrete(_) => EnvAction::Discrete(self.chosen[index]),
                    ActionSpace::Continuous { .. } => {
                        EnvAction::Continuous(&self.numbers[index * size..(index + 1) * size])
                    }
                };
                let reward = self.buffers.rewards[index];
                let lane = &mut self.lanes[index];
                lane.actions.push(action);
                lane.reward += reward;
                lane.length += 1;
                part.rewards[at] = reward as f32;
                if let Some(statistics) = norms.rewards {
                    lane.discounted = lane.discounted * norms.gamma + reward;
                    lane.earned.add(&[lane.discounted as f32], statistics);
                }
                let ends = (self.buffers.terminated[index], self.buffers.truncated[index]);
                part.ends[at] = match ends {
                    (true, _) => End::Terminated,
                    (false, true) => End::Truncated,
                    (false, false) => End::No,
                };
                if part.ends[at] == End::No {
                    continue;
                }
                if part.ends[at] == End::Truncated {
                    self.truncated.push(at);
                    self.last_observations.extend_from_slice(self.batch.last_observation(index));
                }
                self.ended.push(EpisodeEnd {
                    // Counted when those of all groups are there.
                    episode: 0,
                    lane: (self.first + index) as u32,
                    seed: self.batch.last_seed(index),
                    step: (n_before + t as u64 + 1) * n_all,
                    reward: std::mem::take(&mut lane.reward),
                    length: std::mem::take(&mut lane.length),
                    terminated: ends.0,
                    truncated: ends.1,
                    actions: lane.actions.take(),
                    metrics: self.batch.env(index).episode_metrics(),
                });
                lane.discounted = 0.0;
            }
        }
        self.see(policy);
        part.next_observations.copy_from_slice(&self.seen);
        if let Some(normalizer) = &policy.normalizer {
            normalizer.apply(&mut self.last_observations);
        }
    }

    /// What the networks see now.
    fn see(&mut self, policy: &Policy) {
        self.seen.clear();
        self.seen.extend_from_slice(&self.buffers.observations);
        if let Some(normalizer) = &policy.normalizer {
            normalizer.apply(&mut self.seen);
        }
    }

    /// Draws one of a list for each lane.
    fn draw(&mut self, noise: Noise, number: u64, t: usize, part: &mut Part<'_>) {
        let n_actions = self.spec().actions.size();
        if self.spec().is_masked {
            let rows = self.outputs.chunks_exact_mut(n_actions);
            for (lane, (row, mask)) in
                rows.zip(self.buffers.masks.chunks_exact(n_actions)).enumerate()
            {
                forbid(row, mask);
                let at = (lane * part.n_steps + t) * n_actions;
                part.masks[at..at + n_actions].copy_from_slice(mask);
            }
        }
        let mut logits = std::mem::take(&mut self.numbers);
        logits.clear();
        logits.extend_from_slice(&self.outputs);
        softmax_rows(&mut self.outputs, n_actions, &mut self.scales);
        self.chosen.clear();
        for (lane, row) in self.outputs.chunks_exact(n_actions).enumerate() {
            let action = pick(row, noise.uniform((self.first + lane) as u64, number));
            let at = lane * part.n_steps + t;
            part.actions[at] = action as u32;
            part.log_probs[at] = self.scales[lane].log_prob(logits[lane * n_actions + action]);
            self.chosen.push(Action(action));
        }
        self.numbers = logits;
    }

    /// Draws numbers for each lane.
    fn draw_numbers(
        &mut self,
        log_std: &[f32],
        noise: Noise,
        number: u64,
        t: usize,
        part: &mut Part<'_>,
    ) {
        let size = log_std.len();
        self.numbers.clear();
        for (lane, means) in self.outputs.chunks_exact(size).enumerate() {
            let at = lane * part.n_steps + t;
            let numbers = &mut part.numbers[at * size..(at + 1) * size];
            noise.normals((self.first + lane) as u64, number, numbers);
            for ((x, mean), log_std) in numbers.iter_mut().zip(means).zip(log_std) {
                *x = mean + *x * log_std.exp();
            }
            part.log_probs[at] =
                gaussian_log_prob(numbers, means, log_std, log_prob_scale(log_std));
            self.numbers.extend_from_slice(numbers);
        }
        clip(&self.spec().actions, &mut self.numbers);
    }

    /// Gives every step of `part` its value, advantage and return. Rewards are multiplied by
    /// `reward_scale` first, where there is one.
    pub(super) fn judge(
        &mut self,
        policy: &Policy,
        reward_scale: Option<f32>,
        [gamma, gae_lambda]: [f32; 2],
        part: &mut Part<'_>,
    ) {
        if let Some(scale) = reward_scale {
            part.rewards.iter_mut().for_each(|x| *x = (*x * scale).clamp(-CLIP, CLIP));
        }
        let critic = policy.critic.as_ref().expect("who acts by chance has a critic");
        let width = critic.sizes()[0];
        let work = &mut self.work;
        // In pieces, so that what lies between two layers stays in the cache.
        let mut value = |observations: &[f32], values: &mut [f32]| {
            let pieces = observations.chunks(VALUE_PIECE * width);
            for (piece, values) in pieces.zip(values.chunks_mut(VALUE_PIECE)) {
                values.copy_from_slice(critic.forward(piece, piece.len() / width, work));
            }
        };
        value(part.observations, part.values);
        let mut after = vec![0.0; part.next_observations.len() / width];
        value(part.next_observations, &mut after);
        let mut last = vec![0.0; self.truncated.len()];
        value(&self.last_observations, &mut last);
        // Lane by lane, as the samples lie.
        let mut truncated: Vec<(usize, f32)> = self.truncated.iter().copied().zip(last).collect();
        truncated.sort_by_key(|(at, _)| *at);
        let mut truncated = truncated.into_iter().peekable();
        for (lane, after) in after.into_iter().enumerate() {
            let range = lane * part.n_steps..(lane + 1) * part.n_steps;
            let lasts = std::iter::from_fn(|| truncated.next_if(|(at, _)| *at < range.end));
            let lasts: Vec<f32> = lasts.map(|(_, value)| value).collect();
            let steps = Steps {
                rewards: &part.rewards[range.clone()],
                values: &part.values[range.clone()],
                ends: &part.ends[range.clone()],
                after,
                lasts: &lasts,
            };
            advantages(&steps, gamma, gae_lambda, &mut part.advantages[range]);
        }
        for ((x, advantage), value) in
            part.returns.iter_mut().zip(&*part.advantages).zip(&*part.values)
        {
            *x = advantage + value;
        }
    }
}

/// The action into whose share of the whole `at` falls.
fn pick(probabilities: &[f32], at: f32) -> usize {
    let mut left = at;
    for (action, probability) in probabilities.iter().enumerate() {
        left -= probability;
        if left < 0.0 {
            return action;
        }
    }
    // Rounding may leave a little at the end; the last action that has any weight takes it.
    let last = probabilities.iter().rposition(|&probability| probability > 0.0);
    last.unwrap_or(0)
}

/// The steps of a lane from which advantages are made.
pub(super) struct Steps<'a> {
    pub(super) rewards: &'a [f32],
    pub(super) values: &'a [f32],
    pub(super) ends: &'a [End],
    /// The value of what the last step led to.
    pub(super) after: f32,
    /// The value of the last observation of each truncated episode, in order.
    pub(super) lasts: &'a [f32],
}

/// Generalised advantage estimates, backwards through time within each episode.
pub(super) fn advantages(steps: &Steps<'_>, gamma: f32, gae_lambda: f32, out: &mut [f32]) {
    let mut lasts = steps.lasts.iter().rev();
    let (mut later, mut next_value) = (0.0, steps.after);
    for at in (0..steps.rewards.len()).rev() {
        match steps.ends[at] {
            End::No => {}
            End::Terminated => (later, next_value) = (0.0, 0.0),
            End::Truncated => {
                later = 0.0;
                next_value = *lasts.next().expect("every truncated episode was kept");
            }
        }
        let delta = steps.rewards[at] + gamma * next_value - steps.values[at];
        later = delta + gamma * gae_lambda * later;
        out[at] = later;
        next_value = steps.values[at];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(steps: &Steps<'_>, gamma: f32, gae_lambda: f32, expected: &[f32]) {
        let mut found = vec![f32::NAN; steps.rewards.len()];
        advantages(steps, gamma, gae_lambda, &mut found);
        for (x, y) in found.iter().zip(expected) {
            assert!((x - y).abs() < 1e-5, "{found:?} is not {expected:?}");
        }
    }

    /// Worked by hand with gamma 0.5 and lambda 0.5.
    #[test]
    fn advantages_by_hand() {
        let rewards = &[1.0, 1.0, 1.0];
        // Terminates at its second step. Deltas: 1 + 2 - 2 = 1, 1 - 4 = -3, 1 + 5 - 6 = 0.
        let ends = &[End::No, End::Terminated, End::No];
        let steps = Steps { rewards, values: &[2.0, 4.0, 6.0], ends, after: 10.0, lasts: &[] };
        check(&steps, 0.5, 0.5, &[1.0 + 0.25 * -3.0, -3.0, 0.0]);
        // Truncated there, in a state worth 8. Deltas: 1 + 2.5 - 3, 1 + 4 - 5, 1 + 10 - 7.
        let ends = &[End::No, End::Truncated, End::No];
        let steps = Steps { rewards, values: &[3.0, 5.0, 7.0], ends, after: 20.0, lasts: &[8.0] };
        check(&steps, 0.5, 0.5, &[0.5, 0.0, 4.0]);
    }

    #[test]
    fn advantages_travel_within_an_episode() {
        let steps = Steps {
            rewards: &[0.0, 0.0, 1.0],
            values: &[0.0; 3],
            ends: &[End::No; 3],
            after: 0.0,
            lasts: &[],
        };
        check(&steps, 0.9, 1.0, &[0.81, 0.9, 1.0]);
    }

    #[test]
    fn picks_follow_the_probabilities() {
        let row = [0.1, 0.0, 0.6, 0.3, 0.0];
        let noise = Noise::new(1);
        let mut counts = [0.0_f32; 5];
        for step in 0..10_000 {
            counts[pick(&row, noise.uniform(0, step))] += 1e-4;
        }
        for (count, probability) in counts.iter().zip(row) {
            assert!((count - probability).abs() < 0.02, "{counts:?}");
        }
        assert_eq!([counts[1], counts[4]], [0.0; 2], "what is forbidden is never drawn");
        // Even when rounding leaves something.
        assert_eq!(pick(&[0.3, 0.3, 0.0], 0.999), 1);
    }
}
