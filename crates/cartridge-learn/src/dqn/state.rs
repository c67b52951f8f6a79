//! All that a training is made of between two updates, beside its network: taken out, stored, and
//! put back, so that a training that was interrupted goes on bit for bit as if it had not been.
//!
//! # File
//!
//! A state is stored as safetensors.
//!
//! | tensor | type | holds |
//! |---|---|---|
//! | `target` | `F32 [parameters]` | the target network, in the order of the network's file |
//! | `first`, `second` | `F32 [parameters]` | the moments of Adam |
//! | `actions` | `U32 [steps]` | what was done in the episodes that the lanes are in, lane after lane |
//! | `priorities` | `F32 [transitions]` | with prioritised replay: of each step in the ring, oldest first |
//!
//! Its metadata has one key, `state`, whose text is JSON: counters, the state of the random
//! numbers, the learning rate, which may have been tuned, seed, number and length of each lane's
//! episode, and return, length and own figures of the newest episodes.
//!
//! What the training learns from is not stored: every episode is recorded, and those that ended
//! are stepped again to fill the ring. An episode that ended at environment step `end_step` lies
//! in the rows before `end_step / n_envs`, so seeds and actions say where everything was.

use cartridge_games::{Actions, Env, EnvBatch, Stream};
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::replay::{End, Replay, Shape};
use super::{Config, Dqn, Lane, check_sizes};
use crate::adam::Adam;
use crate::network::Mlp;
use crate::report::Recent;
use crate::schedule::Schedule;
use crate::team::Team;

pub use crate::ppo::StateError;

const FORMAT: u32 = 1;

/// All that a training is made of between two updates, beside its network and what it learns
/// from.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    numbers: Numbers,
    target: Vec<f32>,
    first: Vec<f32>,
    second: Vec<f32>,
    /// Of the episode that each lane is in.
    actions: Vec<Vec<u32>>,
    /// Of the transitions of the ring, oldest first; none without prioritised replay.
    priorities: Option<Vec<f32>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Numbers {
    format: u32,
    step: u64,
    n_episodes: u64,
    n_gradient_steps: u64,
    rng: u64,
    n_adam_updates: u32,
    learning_rate: Schedule,
    greatest_priority: Option<f32>,
    lanes: Vec<LaneNumbers>,
    recent: Recent,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LaneNumbers {
    n_resets: u64,
    seed: u64,
    length: usize,
}

/// An episode that ended, as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedEpisode {
    /// The environment that played it.
    pub lane: u32,
    /// The seed it was reset with.
    pub seed: u64,
    /// What was done in it.
    pub actions: Actions,
    /// Environment steps of the run at its end, over all lanes.
    pub end_step: u64,
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

    /// The environment step at or before which no recorded episode is needed to fill a ring of
    /// [`Config::buffer_size`].
    pub fn first_step_needed(&self, config: &Config) -> u64 {
        let n_lanes = self.numbers.lanes.len().max(1) as u64;
        let n_rows = (config.buffer_size as u64 / n_lanes).max(1);
        self.numbers.step.saturating_sub(n_rows * n_lanes)
    }

    /// The learning rate as it was at that moment.
    pub fn learning_rate(&self) -> Schedule {
        self.numbers.learning_rate
    }

    /// Changes the learning rate for whoever goes on from here.
    pub fn tune_learning_rate(&mut self, learning_rate: Schedule) {
        self.numbers.learning_rate = learning_rate;
    }

    /// The state as a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let float_bytes =
            |values: &[f32]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let actions = self.actions.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        let mut tensors = vec![
            ("target", Dtype::F32, float_bytes(&self.target)),
            ("first", Dtype::F32, float_bytes(&self.first)),
            ("second", Dtype::F32, float_bytes(&self.second)),
            ("actions", Dtype::U32, actions),
        ];
        let priorities = self.priorities.as_deref();
        tensors.extend(priorities.map(|values| ("priorities", Dtype::F32, float_bytes(values))));
        let views = tensors.iter().map(|(name, dtype, bytes)| {
            let view = TensorView::new(*dtype, vec![bytes.len() / 4], bytes);
            (*name, view.expect("every number has four bytes"))
        });
        let text = serde_json::to_string(&self.numbers).expect("numbers are plain data");
        let metadata = [("state".to_owned(), text)].into();
        safetensors::serialize(views, Some(metadata)).expect("names are unique and views are sound")
    }

    /// The state in a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        let content = |text: String| StateError::Content(text);
        let (_, header) = SafeTensors::read_metadata(bytes)?;
        let text = header.metadata().as_ref().and_then(|metadata| metadata.get("state"));
        let text = text.ok_or_else(|| content("it has no `state`".to_owned()))?;
        let numbers: Numbers =
            serde_json::from_str(text).map_err(|error| content(error.to_string()))?;
        if numbers.format != FORMAT {
            let message = format!("it has format {}, and {FORMAT} is known", numbers.format);
            return Err(content(message));
        }
        let file = SafeTensors::deserialize(bytes)?;
        let words = |name: &str, dtype: Dtype| {
            let tensor = file.tensor(name)?;
            match tensor.dtype() == dtype {
                true => Ok(tensor.data().as_chunks::<4>().0.to_vec()),
                false => Err(content(format!("`{name}` is {:?}", tensor.dtype()))),
            }
        };
        let floats = |name: &str| -> Result<Vec<f32>, StateError> {
            Ok(words(name, Dtype::F32)?.into_iter().map(f32::from_le_bytes).collect())
        };
        let all = words("actions", Dtype::U32)?.into_iter().map(u32::from_le_bytes);
        let mut all = all.collect::<Vec<u32>>().into_iter();
        let n_actions: Option<usize> =
            numbers.lanes.iter().try_fold(0_usize, |sum, lane| sum.checked_add(lane.length));
        if n_actions != Some(all.len()) {
            return Err(content("the lengths of its episodes do not fit its actions".to_owned()));
        }
        let mut take = |n: usize| all.by_ref().take(n).collect::<Vec<u32>>();
        let actions = numbers.lanes.iter().map(|lane| take(lane.length)).collect();
        let priorities = match file.tensor("priorities") {
            Ok(_) => Some(floats("priorities")?),
            Err(SafeTensorError::TensorNotFound(_)) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Self {
            target: floats("target")?,
            first: floats("first")?,
            second: floats("second")?,
            actions,
            priorities,
            numbers,
        })
    }
}

impl Dqn {
    /// All that the training is made of, beside [`Dqn::q_network`] and what it learns from.
    pub fn state(&self) -> State {
        let replay = &self.replay;
        let priorities = self.priorities.as_ref();
        let lane_numbers = |(index, lane): (usize, &Lane)| LaneNumbers {
            n_resets: self.batch.n_resets(index),
            seed: self.batch.seed(index),
            length: lane.actions.len(),
        };
        let indices = |actions: &Actions| match actions {
            Actions::Discrete(actions) => actions.clone(),
            Actions::Continuous { .. } => unreachable!("an action is one of a list"),
        };
        State {
            numbers: Numbers {
                format: FORMAT,
                step: self.step,
                n_episodes: self.n_episodes,
                n_gradient_steps: self.n_gradient_steps,
                rng: self.rng.get_seed(),
                n_adam_updates: self.optimizer.n_updates,
                learning_rate: self.config.learning_rate,
                greatest_priority: priorities.map(|priorities| priorities.greatest()),
                lanes: self.lanes.iter().enumerate().map(lane_numbers).collect(),
                recent: self.recent.clone(),
            },
            target: self.target.parameters().to_vec(),
            first: self.optimizer.first.to_vec(),
            second: self.optimizer.second.to_vec(),
            actions: self.lanes.iter().map(|lane| indices(&lane.actions)).collect(),
            priorities: priorities.map(|priorities| {
                replay.transitions().map(|at| priorities.get(replay.slot(at))).collect()
            }),
        }
    }

    /// A training that goes on from where [`Dqn::state`] and [`Dqn::q_network`] were taken. The
    /// learning rate is that of the state, not what `config` says of it.
    ///
    /// `episodes` are those that the run has recorded, in any order: at least those that ended
    /// after [`State::first_step_needed`]. Others, and those that ended after the state was taken,
    /// are passed over.
    ///
    /// # Panics
    ///
    /// Where [`Dqn::new`] does.
    pub fn restore(
        mut envs: Vec<Box<dyn Env>>,
        config: &Config,
        seed_base: u64,
        team: Team,
        network: Mlp,
        state: &State,
        episodes: impl Iterator<Item = RecordedEpisode>,
    ) -> Result<Self, StateError> {
        check_sizes(&envs, config);
        let State { numbers, target, first, second, actions, priorities } = state;
        let mismatch = |what: &str| Err(StateError::Mismatch(what.to_owned()));
        let n_lanes = envs.len();
        if numbers.lanes.len() != n_lanes || !numbers.step.is_multiple_of(n_lanes as u64) {
            return mismatch("it has another number of environments");
        }
        if numbers.lanes.iter().any(|lane| lane.n_resets == 0) {
            return mismatch("an episode has not begun");
        }
        let seed = |(index, lane): (usize, &LaneNumbers)| {
            config.episode_seeds.fits(seed_base, index as u32, lane.n_resets - 1, lane.seed)
        };
        if !numbers.lanes.iter().enumerate().all(seed) {
            return mismatch("its episodes have other seeds");
        }

        // What was seen: the episodes that ended, then those that the lanes are in.
        let present = numbers.step / n_lanes as u64;
        let mut filling = Filling::new(&envs, config, present);
        for episode in episodes {
            filling.add_recorded(&mut envs, &episode)?;
        }
        for (index, (stored, actions)) in numbers.lanes.iter().zip(actions).enumerate() {
            filling.add_unfinished(&mut *envs[index], index, stored.seed, actions)?;
        }
        let replay = filling.finish()?;

        let batch = EnvBatch::new(envs, seed_base, Stream::Train).seeded(config.episode_seeds);
        let rng = fastrand::Rng::with_seed(numbers.rng);
        let mut dqn = Self::assemble(batch, replay, rng, config, team);
        if network.sizes() != dqn.network.sizes()
            || network.activation() != dqn.network.activation()
        {
            return mismatch("its network does not fit the environment and the settings");
        }
        let n_parameters = network.parameters().len();
        if [target, first, second].iter().any(|values| values.len() != n_parameters) {
            return mismatch("its target network or moments do not fit the network");
        }
        dqn.network = network;
        dqn.target.change(|parameters| parameters.copy_from_slice(target));
        dqn.optimizer = Adam::new(n_parameters, super::ADAM_EPSILON).with_moments(
            first,
            second,
            numbers.n_adam_updates,
        );
        let Shape { n_observation, n_actions, .. } = dqn.replay.shape();
        let (mut observation, mut mask) = (vec![0.0; n_observation], vec![true; n_actions]);
        let lanes = dqn.lanes.iter_mut().zip(&numbers.lanes).zip(actions);
        for (index, ((lane, stored), actions)) in lanes.enumerate() {
            lane.actions = Actions::Discrete(actions.clone());
            lane.length = actions.len() as u32;
            let episode = (stored.n_resets - 1, stored.seed);
            let seen = (&mut observation, &mut mask);
            let reward = dqn.batch.resume(index, episode, &lane.actions, seen.0, seen.1);
            lane.reward = reward.expect("it was played above");
        }
        match (&mut dqn.priorities, priorities, numbers.greatest_priority) {
            (None, None, None) => {}
            (Some(tree), Some(values), Some(greatest)) => {
                let transitions = dqn.replay.transitions();
                if (transitions.end - transitions.start) as usize != values.len() {
                    return mismatch("its priorities do not fit the size of the replay buffer");
                }
                for (transition, &value) in transitions.zip(values) {
                    tree.set(dqn.replay.slot(transition), value);
                }
                tree.set_greatest(greatest);
            }
            _ => return mismatch("one of the two has prioritised replay, the other not"),
        }
        // Making a network has drawn numbers.
        dqn.rng = fastrand::Rng::with_seed(numbers.rng);
        dqn.config.learning_rate = numbers.learning_rate;
        dqn.step = numbers.step;
        dqn.n_gradient_steps = numbers.n_gradient_steps;
        dqn.n_episodes = numbers.n_episodes;
        dqn.recent = numbers.recent.clone();
        Ok(dqn)
    }
}

/// A ring that is filled again.
struct Filling {
    replay: Replay,
    /// Of each slot, whether its transition has been written.
    is_written: Vec<bool>,
    observation: Vec<f32>,
    mask: Vec<bool>,
}

impl Filling {
    fn new(envs: &[Box<dyn Env>], config: &Config, present: u64) -> Self {
        let spec = envs[0].spec();
        let shape = Shape {
            n_lanes: envs.len(),
            n_observation: spec.observation,
            n_actions: spec.actions.size(),
            is_masked: spec.is_masked,
        };
        let replay = Replay::new(shape, config.buffer_size, present);
        Self {
            is_written: vec![false; replay.n_slots()],
            observation: vec![0.0; spec.observation],
            mask: vec![true; spec.actions.size()],
            replay,
        }
    }

    /// Steps an episode that ended, if any of it is in the ring.
    fn add_recorded(
        &mut self,
        envs: &mut [Box<dyn Env>],
        episode: &RecordedEpisode,
    ) -> Result<(), StateError> {
        let RecordedEpisode { lane, seed, actions, end_step } = episode;
        let mismatch = |what: &str| {
            let text = format!("the episode of lane {lane} that ended at step {end_step} {what}");
            Err(StateError::Mismatch(text))
        };
        let n_lanes = envs.len() as u64;
        let (end, rows) = (end_step / n_lanes, self.replay.rows());
        if end <= rows.start || *end_step > rows.end * n_lanes {
            return Ok(());
        }
        let Actions::Discrete(actions) = actions else {
            return mismatch("has actions of another kind");
        };
        let Some(env) = envs.get_mut(*lane as usize) else {
            return mismatch("is of another number of environments");
        };
        let begin = end.checked_sub(actions.len() as u64);
        let Some(begin) = begin.filter(|_| end_step.is_multiple_of(n_lanes)) else {
            return mismatch("cannot have ended there");
        };
        match self.play(&mut **env, *lane as usize, *seed, actions, begin)? {
            true => Ok(()),
            false => mismatch("has not ended after its last action"),
        }
    }

    /// Steps the episode that a lane is in, to where it stood.
    fn add_unfinished(
        &mut self,
        env: &mut dyn Env,
        lane: usize,
        seed: u64,
        actions: &[u32],
    ) -> Result<(), StateError> {
        let present = self.replay.present();
        let Some(begin) = present.checked_sub(actions.len() as u64) else {
            return Err(StateError::Mismatch("an episode is longer than the training".to_owned()));
        };
        match self.play(env, lane, seed, actions, begin)? {
            false => {
                env.legal_actions(&mut self.mask);
                self.replay.write_seen(present, lane, &self.observation, &self.mask);
                Ok(())
            }
            true => Err(StateError::Mismatch("an episode has ended before".to_owned())),
        }
    }

    /// Steps an episode that begins in row `begin`. Returns whether it ended with its last action.
    fn play(
        &mut self,
        env: &mut dyn Env,
        lane: usize,
        seed: u64,
        actions: &[u32],
        begin: u64,
    ) -> Result<bool, StateError> {
        let Self { replay, is_written, observation, mask } = self;
        let oldest = replay.rows().start;
        let space = env.spec().actions;
        env.reset(Some(seed), observation);
        let mut end = End::No;
        for (row, &action) in (begin..).zip(actions) {
            let action = cartridge_games::Action(action as usize);
            if end != End::No || !space.contains(action.into()) {
                let text = format!("an episode of lane {lane} cannot go on at its step {row}");
                return Err(StateError::Mismatch(text));
            }
            let is_in_ring = row >= oldest;
            if is_in_ring {
                env.legal_actions(mask);
                replay.write_seen(row, lane, observation, mask);
            }
            let step = env.step(action.into(), observation);
            end = End::new(step.terminated, step.truncated);
            if is_in_ring {
                let transition = row * replay.shape().n_lanes as u64 + lane as u64;
                let is_written = &mut is_written[replay.slot(transition)];
                if std::mem::replace(is_written, true) {
                    let text = format!("two episodes of lane {lane} hold its step {row}");
                    return Err(StateError::Mismatch(text));
                }
                replay.write(row, lane, action.0, step.reward, end);
                if end == End::Truncated {
                    env.legal_actions(mask);
                    replay.write_cut(row, lane, observation, mask);
                }
            }
        }
        Ok(end != End::No)
    }

    /// The ring, if nothing is missing.
    fn finish(self) -> Result<Replay, StateError> {
        let Self { replay, is_written, .. } = self;
        let n_missing = replay.transitions().filter(|&at| !is_written[replay.slot(at)]).count();
        match n_missing {
            0 => Ok(replay),
            _ => Err(StateError::Missing(format!(
                "{n_missing} of the steps that it learns from are in no recorded episode"
            ))),
        }
    }
}
