//! All that a training is made of between two updates, beside its policy: taken out, stored, and
//! put back, so that a training that was interrupted goes on bit for bit as if it had not been.
//!
//! # File
//!
//! A state is stored as safetensors.
//!
//! | tensor | type | holds |
//! |---|---|---|
//! | `actor.first`, `actor.second` | `F32 [parameters]` | the moments of the actor's Adam |
//! | `critic.first`, `critic.second` | `F32 [parameters]` | those of the critic's |
//! | `lane.N.actions` | `U32 [steps]` or `F32 [steps, width]` | what was done in the episode that lane `N` is in |
//!
//! Its metadata has one key, `state`, whose text is JSON: counters, the state of the random
//! numbers, the settings that may have been tuned, seed and number of each lane's episode, and
//! return, length and own figures of the newest episodes. Environments are not stored: they are
//! stepped to where they were, by seed and actions.

use cartridge_games::{ActionSpace, Actions, Env};
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::{Config, Knob, Ppo, Recent};
use crate::policy::Policy;

const FORMAT: u32 = 1;

/// Names of the moments, in the order of [`State::moments`].
const MOMENTS: [&str; 4] = ["actor.first", "actor.second", "critic.first", "critic.second"];

/// All that a training is made of between two updates, beside its policy.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    numbers: Numbers,
    moments: [Vec<f32>; 4],
    /// Of the episode that each lane is in.
    actions: Vec<Actions>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Numbers {
    format: u32,
    step: u64,
    n_episodes: u64,
    rng: u64,
    n_adam_updates: [u32; 2],
    learning_rate: f64,
    ent_coef: f64,
    clip_range: f64,
    lanes: Vec<LaneNumbers>,
    recent: Vec<RecentNumbers>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LaneNumbers {
    n_resets: u64,
    seed: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RecentNumbers {
    reward: f64,
    length: u32,
    metrics: Vec<(String, f64)>,
}

/// Why a stored state cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The file is not safetensors, or a tensor is missing.
    #[error("not the state of a training: {0}")]
    Format(#[from] SafeTensorError),
    /// The file holds something that it should not.
    #[error("not the state of a training: {0}")]
    Content(String),
    /// The state belongs to another training.
    #[error("the state is of another training: {0}")]
    Mismatch(String),
}

impl State {
    /// Environment steps so far.
    pub fn step(&self) -> u64 {
        self.numbers.step
    }

    /// Episodes that have ended.
    pub fn n_episodes(&self) -> u64 {
        self.numbers.n_episodes
    }

    /// A setting as it was at that moment.
    pub fn setting(&self, knob: Knob) -> f64 {
        match knob {
            Knob::LearningRate => self.numbers.learning_rate,
            Knob::EntCoef => self.numbers.ent_coef,
            Knob::ClipRange => self.numbers.clip_range,
        }
    }

    /// Changes a setting for whoever goes on from here.
    pub fn tune(&mut self, knob: Knob, value: f64) {
        match knob {
            Knob::LearningRate => self.numbers.learning_rate = value,
            Knob::EntCoef => self.numbers.ent_coef = value,
            Knob::ClipRange => self.numbers.clip_range = value,
        }
    }

    /// The state as a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = Vec::new();
        for (name, moment) in MOMENTS.iter().zip(&self.moments) {
            let bytes = moment.iter().flat_map(|x| x.to_le_bytes()).collect();
            tensors.push(((*name).to_owned(), Dtype::F32, vec![moment.len()], bytes));
        }
        for (lane, actions) in self.actions.iter().enumerate() {
            let name = format!("lane.{lane}.actions");
            tensors.push(match actions {
                Actions::Discrete(actions) => {
                    let bytes = actions.iter().flat_map(|x| x.to_le_bytes()).collect();
                    (name, Dtype::U32, vec![actions.len()], bytes)
                }
                Actions::Continuous { width, numbers } => {
                    let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
                    (name, Dtype::F32, vec![actions.len(), *width as usize], bytes)
                }
            });
        }
        let views = tensors.iter().map(|(name, dtype, shape, bytes)| {
            let view = TensorView::new(*dtype, shape.clone(), bytes);
            (name.as_str(), view.expect("the bytes fit the shape"))
        });
        let text = serde_json::to_string(&self.numbers).expect("numbers are plain data");
        let metadata = [("state".to_owned(), text)].into();
        safetensors::serialize(views, Some(metadata)).expect("names are unique and views are sound")
    }

    /// The state in a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        let (_, header) = SafeTensors::read_metadata(bytes)?;
        let text = header.metadata().as_ref().and_then(|metadata| metadata.get("state"));
        let text = text.ok_or_else(|| StateError::Content("it has no `state`".to_owned()))?;
        let numbers: Numbers =
            serde_json::from_str(text).map_err(|error| StateError::Content(error.to_string()))?;
        if numbers.format != FORMAT {
            let message = format!("it has format {}, and {FORMAT} is known", numbers.format);
            return Err(StateError::Content(message));
        }
        let file = SafeTensors::deserialize(bytes)?;
        let mut moments = [const { Vec::new() }; 4];
        for (name, moment) in MOMENTS.iter().zip(&mut moments) {
            let tensor = file.tensor(name)?;
            if tensor.dtype() != Dtype::F32 {
                return Err(StateError::Content(format!("`{name}` is {:?}", tensor.dtype())));
            }
            *moment = words(tensor.data()).map(f32::from_le_bytes).collect();
        }
        let mut actions = Vec::new();
        for lane in 0..numbers.lanes.len() {
            let name = format!("lane.{lane}.actions");
            let tensor = file.tensor(&name)?;
            actions.push(match (tensor.dtype(), tensor.shape()) {
                (Dtype::U32, [_]) => {
                    Actions::Discrete(words(tensor.data()).map(u32::from_le_bytes).collect())
                }
                (Dtype::F32, [_, width]) if u32::try_from(*width).is_ok() => Actions::Continuous {
                    width: *width as u32,
                    numbers: words(tensor.data()).map(f32::from_le_bytes).collect(),
                },
                (dtype, shape) => {
                    return Err(StateError::Content(format!("`{name}` is {dtype:?} {shape:?}")));
                }
            });
        }
        Ok(Self { numbers, moments, actions })
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = [u8; 4]> {
    bytes.as_chunks::<4>().0.iter().copied()
}

impl Ppo {
    /// All that the training is made of, beside [`Ppo::policy`].
    pub fn state(&self) -> State {
        let [actor, critic] = &self.optimizers;
        let Config { learning_rate, ent_coef, clip_range, .. } = self.config;
        let recent = self.recent.iter().map(|episode| RecentNumbers {
            reward: episode.reward,
            length: episode.length,
            metrics: episode.metrics.iter().map(|&(name, x)| (name.to_owned(), x)).collect(),
        });
        let lanes = self.lanes.iter();
        State {
            numbers: Numbers {
                format: FORMAT,
                step: self.step,
                n_episodes: self.n_episodes,
                rng: self.rng.get_seed(),
                n_adam_updates: [actor.n_updates, critic.n_updates],
                learning_rate,
                ent_coef,
                clip_range,
                lanes: lanes
                    .map(|lane| LaneNumbers { n_resets: lane.n_resets, seed: lane.seed })
                    .collect(),
                recent: recent.collect(),
            },
            moments: [&actor.first, &actor.second, &critic.first, &critic.second].map(Clone::clone),
            actions: self.lanes.iter().map(|lane| lane.actions.clone()).collect(),
        }
    }

    /// A training that goes on from where [`Ppo::state`] and [`Ppo::policy`] were taken. Whatever
    /// was tuned until then is part of the state and counts, not what `config` says of it.
    ///
    /// # Panics
    ///
    /// Where [`Ppo::new`] does.
    pub fn restore(
        envs: Vec<Box<dyn Env>>,
        config: &Config,
        seed_base: u64,
        policy: Policy,
        state: &State,
    ) -> Result<Self, StateError> {
        let State { numbers, moments, actions } = state;
        let mut ppo = Self::new(envs, config, seed_base);
        let mismatch = |what: &str| Err(StateError::Mismatch(what.to_owned()));
        let sizes = |policy: &Policy| {
            [&policy.actor, &policy.critic].map(|network| network.sizes().to_vec())
        };
        if sizes(&policy) != sizes(&ppo.policy) {
            return mismatch("its policy does not fit the environment");
        }
        if numbers.lanes.len() != ppo.lanes.len() {
            return mismatch("it has another number of environments");
        }
        ppo.policy = policy;
        let [a, b, c, d] = moments;
        let networks = [&ppo.policy.actor, &ppo.policy.critic];
        for ((moments, network), (slot, n_updates)) in [(a, b), (c, d)]
            .into_iter()
            .zip(networks)
            .zip(ppo.optimizers.iter_mut().zip(numbers.n_adam_updates))
        {
            let (first, second) = moments;
            let n = network.parameters().len();
            if first.len() != n || second.len() != n {
                return mismatch("its moments do not fit the policy");
            }
            *slot = slot.clone().with_moments(first.clone(), second.clone(), n_updates);
        }
        ppo.config.learning_rate = numbers.learning_rate;
        ppo.config.ent_coef = numbers.ent_coef;
        ppo.config.clip_range = numbers.clip_range;
        ppo.rng = fastrand::Rng::with_seed(numbers.rng);
        ppo.step = numbers.step;
        ppo.n_episodes = numbers.n_episodes;
        ppo.recent = recent(&numbers.recent);
        let n_seen = ppo.policy.n_observation();
        let space = ppo.lanes[0].env.spec().actions;
        let observations = ppo.rollout.observations.chunks_exact_mut(n_seen);
        let stored = numbers.lanes.iter().zip(actions);
        let lanes = ppo.lanes.iter_mut().zip(observations).zip(stored).enumerate();
        for (index, ((lane, observation), (stored, actions))) in lanes {
            let Some(n_resets) = stored.n_resets.checked_sub(1) else {
                return mismatch("an episode has not begun");
            };
            lane.n_resets = n_resets;
            lane.reset(seed_base, index, observation);
            if lane.seed != stored.seed || !fits(actions, &space) {
                return mismatch("its episodes have other seeds or actions");
            }
            for action in actions.iter() {
                let step = lane.env.step(action, observation);
                lane.reward += step.reward;
                lane.length += 1;
                if step.is_end() {
                    return mismatch("an episode ends before its last action");
                }
            }
            lane.actions = actions.clone();
        }
        Ok(ppo)
    }
}

/// Whether all of `actions` can be taken in `space`.
fn fits(actions: &Actions, space: &ActionSpace) -> bool {
    match (actions, space) {
        (Actions::Discrete(actions), ActionSpace::Discrete(_)) => {
            actions.iter().all(|&action| (action as usize) < space.size())
        }
        (Actions::Continuous { width, .. }, ActionSpace::Continuous { .. }) => {
            *width as usize == space.size()
        }
        _ => false,
    }
}

/// The newest episodes. Their names live as long as the process: there are a handful of them, and
/// a process restores one training.
fn recent(stored: &[RecentNumbers]) -> std::collections::VecDeque<Recent> {
    let mut names: Vec<&'static str> = Vec::new();
    let mut name = |text: &str| match names.iter().find(|known| **known == text) {
        Some(known) => *known,
        None => {
            let leaked: &'static str = Box::leak(text.to_owned().into_boxed_str());
            names.push(leaked);
            leaked
        }
    };
    let mut revive = |episode: &RecentNumbers| Recent {
        reward: episode.reward,
        length: episode.length,
        metrics: episode.metrics.iter().map(|(text, x)| (name(text), *x)).collect(),
    };
    stored.iter().map(&mut revive).collect()
}
