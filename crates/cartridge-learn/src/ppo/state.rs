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
//! | `log_std.first`, `log_std.second` | `F32 [numbers]` | those of the deviations, if there are any |
//! | `lane.N.actions` | `U32 [steps]` or `F32 [steps, width]` | what was done in the episode that lane `N` is in |
//!
//! Its metadata has one key, `state`, whose text is JSON: counters, the state of the random
//! numbers, the settings that may have been tuned, seed and number of each lane's episode, what
//! observations and rewards are normalised by, and return, length and own figures of the newest
//! episodes. Environments are not stored: they are
//! stepped to where they were, by seed and actions.

use cartridge_games::{Actions, Env};
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::{Config, Knob, Ppo};
use crate::normalizer::Statistics;
use crate::policy::Policy;
use crate::report::Recent;
use crate::schedule::Schedule;
use crate::team::Team;

/// 1 had one thread and drew its actions in turn; it cannot be gone on from.
const FORMAT: u32 = 2;

/// Names of the moments, in the order of [`State::moments`].
const MOMENTS: [&str; 6] = [
    "actor.first",
    "actor.second",
    "critic.first",
    "critic.second",
    "log_std.first",
    "log_std.second",
];

/// All that a training is made of between two updates, beside its policy.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    numbers: Numbers,
    moments: [Vec<f32>; 6],
    /// Of the episode that each lane is in.
    actions: Vec<Actions>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Numbers {
    format: u32,
    step: u64,
    n_episodes: u64,
    /// Missing in states that were stored before they were counted.
    #[serde(default)]
    n_epochs: Option<u64>,
    rng: u64,
    n_adam_updates: [u32; 3],
    learning_rate: Schedule,
    ent_coef: Schedule,
    clip_range: Schedule,
    lanes: Vec<LaneNumbers>,
    observed: Option<Statistics>,
    earned: Option<Statistics>,
    recent: Recent,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LaneNumbers {
    n_resets: u64,
    seed: u64,
    discounted: f64,
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
    /// What it learns from is not all there.
    #[error("{0}")]
    Missing(String),
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

    /// A setting as it was at that moment, in words that a configuration takes.
    pub fn setting(&self, knob: Knob) -> serde_json::Value {
        let value = match knob {
            Knob::LearningRate => serde_json::to_value(self.numbers.learning_rate),
            Knob::EntCoef => serde_json::to_value(self.numbers.ent_coef),
            Knob::ClipRange => serde_json::to_value(self.numbers.clip_range),
        };
        value.expect("a setting is plain data")
    }

    /// Takes the settings that may be tuned from `config`, for whoever goes on from here.
    pub fn adopt(&mut self, config: &Config) {
        self.numbers.learning_rate = config.learning_rate;
        self.numbers.ent_coef = config.ent_coef;
        self.numbers.clip_range = config.clip_range;
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
        let mut moments = [const { Vec::new() }; 6];
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
        let Config { learning_rate, ent_coef, clip_range, .. } = self.config;
        let [actor, critic, log_std] = self.optimizers.all();
        let mut lanes = Vec::new();
        let mut actions = Vec::new();
        for group in &self.groups {
            for (index, lane) in group.lanes.iter().enumerate() {
                let (n_resets, seed) = group.episode_of(index);
                lanes.push(LaneNumbers { n_resets, seed, discounted: lane.discounted });
                actions.push(lane.actions.clone());
            }
        }
        State {
            numbers: Numbers {
                format: FORMAT,
                step: self.step,
                n_episodes: self.n_episodes,
                n_epochs: Some(self.n_epochs),
                rng: self.rng.get_seed(),
                n_adam_updates: [actor.n_updates, critic.n_updates, log_std.n_updates],
                learning_rate,
                ent_coef,
                clip_range,
                lanes,
                observed: self.observed.clone(),
                earned: self.earned.clone(),
                recent: self.recent.clone(),
            },
            moments: [
                actor.first.to_vec(),
                actor.second.to_vec(),
                critic.first.to_vec(),
                critic.second.to_vec(),
                log_std.first.to_vec(),
                log_std.second.to_vec(),
            ],
            actions,
        }
    }

    /// A training that goes on from where [`Ppo::state`] and [`Ppo::policy`] were taken, with a
    /// team of any size. Whatever was tuned until then is part of the state and counts, not what
    /// `config` says of it.
    ///
    /// # Panics
    ///
    /// Where [`Ppo::new`] does.
    pub fn restore(
        envs: Vec<Box<dyn Env>>,
        config: &Config,
        seed_base: u64,
        team: Team,
        policy: Policy,
        state: &State,
    ) -> Result<Self, StateError> {
        let State { numbers, moments, actions } = state;
        let mut ppo = Self::new(envs, config, seed_base, team);
        let mismatch = |what: &str| Err(StateError::Mismatch(what.to_owned()));
        let form = |policy: &Policy| {
            let critic = policy.critic.as_ref().map(|critic| critic.sizes().to_vec());
            let head = std::mem::discriminant(&policy.head);
            (policy.actor.sizes().to_vec(), critic, policy.actor.activation(), head)
        };
        if form(&policy) != form(&ppo.policy) {
            return mismatch("its policy does not fit the environment or the settings");
        }
        if numbers.lanes.len() != config.n_envs {
            return mismatch("it has another number of environments");
        }
        let width = |statistics: &Option<Statistics>| statistics.as_ref().map(Statistics::len);
        if width(&numbers.observed) != width(&ppo.observed)
            || width(&numbers.earned) != width(&ppo.earned)
        {
            return mismatch("it normalises something else");
        }
        ppo.policy = policy;
        let [a, b, c, d, e, f] = moments;
        let optimizers = &mut ppo.optimizers;
        let slots = [&mut optimizers.actor, &mut optimizers.critic, &mut optimizers.log_std];
        for ((slot, n_updates), (first, second)) in
            slots.into_iter().zip(numbers.n_adam_updates).zip([(a, b), (c, d), (e, f)])
        {
            if [first.len(), second.len()] != [slot.first.len(); 2] {
                return mismatch("its moments do not fit the policy");
            }
            *slot = slot.clone().with_moments(first, second, n_updates);
        }
        ppo.config.learning_rate = numbers.learning_rate;
        ppo.config.ent_coef = numbers.ent_coef;
        ppo.config.clip_range = numbers.clip_range;
        ppo.rng = fastrand::Rng::with_seed(numbers.rng);
        ppo.step = numbers.step;
        ppo.n_episodes = numbers.n_episodes;
        ppo.n_epochs = numbers.n_epochs.unwrap_or_else(|| {
            // As many as that many gradient steps are, unless some ended early.
            let n_batches = config.steps_per_update().div_ceil(config.batch_size) as u64;
            u64::from(numbers.n_adam_updates[0]).div_ceil(n_batches)
        });
        ppo.recent = numbers.recent.clone();
        ppo.observed = numbers.observed.clone();
        ppo.earned = numbers.earned.clone();
        // Policies that were stored before they had one get theirs here.
        ppo.policy.value_scale = ppo.value_scale();
        let mut stored = numbers.lanes.iter().zip(actions);
        for group in &mut ppo.groups {
            for lane in 0..group.n_lanes() {
                let (stored, actions) = stored.next().expect("as many as there are lanes");
                if !group.resume(lane, (stored.n_resets, stored.seed), actions) {
                    return mismatch("its episodes have other seeds or actions");
                }
                group.lanes[lane].discounted = stored.discounted;
            }
        }
        Ok(ppo)
    }
}
