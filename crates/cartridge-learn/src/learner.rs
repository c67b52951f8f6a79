//! Either algorithm, for whoever runs a training.

use cartridge_games::Env;
use safetensors::SafeTensors;
use serde_json::Value;

use crate::dqn::{self, Dqn, RecordedEpisode};
use crate::fault::Fault;
use crate::policy::Policy;
use crate::ppo::{self, Ppo, StateError};
use crate::report::{EpisodeEnd, Knob, Phase, Update};
use crate::team::Team;

/// The settings of a training.
#[derive(Clone, Debug, PartialEq)]
pub enum Config {
    /// Of PPO.
    Ppo(ppo::Config),
    /// Of DQN.
    Dqn(dqn::Config),
}

/// A training in progress.
#[derive(Debug)]
pub enum Learner {
    /// By PPO.
    Ppo(Box<Ppo>),
    /// By DQN.
    Dqn(Box<Dqn>),
}

/// All that a training is made of between two updates, beside its policy.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// Of PPO.
    Ppo(ppo::State),
    /// Of DQN.
    Dqn(dqn::State),
}

impl Learner {
    /// A training at its beginning, with one environment per lane.
    pub fn new(envs: Vec<Box<dyn Env>>, config: &Config, seed_base: u64, team: Team) -> Self {
        match config {
            Config::Ppo(config) => Self::Ppo(Box::new(Ppo::new(envs, config, seed_base, team))),
            Config::Dqn(config) => Self::Dqn(Box::new(Dqn::new(envs, config, seed_base, team))),
        }
    }

    /// A training that goes on from where policy and state were taken. `episodes` are those that
    /// ended after [`State::first_step_needed`], in the order in which they ended.
    pub fn restore(
        envs: Vec<Box<dyn Env>>,
        config: &Config,
        seed_base: u64,
        team: Team,
        policy: Policy,
        state: &State,
        episodes: impl Iterator<Item = RecordedEpisode>,
    ) -> Result<Self, StateError> {
        match (config, state) {
            (Config::Ppo(config), State::Ppo(state)) => {
                let ppo = Ppo::restore(envs, config, seed_base, team, policy, state)?;
                Ok(Self::Ppo(Box::new(ppo)))
            }
            (Config::Dqn(config), State::Dqn(state)) => {
                let network = policy.actor;
                let dqn = Dqn::restore(envs, config, seed_base, team, network, state, episodes)?;
                Ok(Self::Dqn(Box::new(dqn)))
            }
            _ => Err(StateError::Mismatch("it was made by another algorithm".to_owned())),
        }
    }

    /// Plays some steps, learns from them, and reports; says of each phase when it begins.
    pub fn update(&mut self, begin: &mut dyn FnMut(Phase)) -> Update {
        match self {
            Self::Ppo(ppo) => ppo.update_in_phases(begin),
            Self::Dqn(dqn) => dqn.update_in_phases(begin),
        }
    }

    /// Plays the steps of an update and learns nothing from them: for whoever measures how fast
    /// the policy acts. Returns the episodes that ended.
    pub fn rollout(&mut self) -> Vec<EpisodeEnd> {
        match self {
            Self::Ppo(ppo) => ppo.rollout(),
            Self::Dqn(dqn) => dqn.rollout(),
        }
    }

    /// The policy as it is now.
    pub fn policy(&self) -> Policy {
        match self {
            Self::Ppo(ppo) => ppo.policy().clone(),
            Self::Dqn(dqn) => dqn.policy(),
        }
    }

    /// Environment steps so far, over all environments.
    pub fn step(&self) -> u64 {
        match self {
            Self::Ppo(ppo) => ppo.step(),
            Self::Dqn(dqn) => dqn.step(),
        }
    }

    /// Whether the run has made all its steps.
    pub fn is_done(&self) -> bool {
        match self {
            Self::Ppo(ppo) => ppo.is_done(),
            Self::Dqn(dqn) => dqn.is_done(),
        }
    }

    /// Changes a setting from the next update on and returns its old value. Nothing where the
    /// algorithm does not have it.
    pub fn tune(&mut self, knob: Knob, value: f64) -> Option<f64> {
        match self {
            Self::Ppo(ppo) => Some(ppo.tune(knob, value)),
            Self::Dqn(dqn) if knob == Knob::LearningRate => Some(dqn.tune_learning_rate(value)),
            Self::Dqn(_) => None,
        }
    }

    /// The gradient step that could not be made because a number was not finite.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Ppo(ppo) => ppo.fault(),
            Self::Dqn(dqn) => dqn.fault(),
        }
    }

    /// All that the training is made of, beside its policy.
    pub fn state(&self) -> State {
        match self {
            Self::Ppo(ppo) => State::Ppo(ppo.state()),
            Self::Dqn(dqn) => State::Dqn(dqn.state()),
        }
    }
}

impl State {
    /// Environment steps so far.
    pub fn step(&self) -> u64 {
        match self {
            Self::Ppo(state) => state.step(),
            Self::Dqn(state) => state.step(),
        }
    }

    /// Episodes that have ended.
    pub fn n_episodes(&self) -> u64 {
        match self {
            Self::Ppo(state) => state.n_episodes(),
            Self::Dqn(state) => state.n_episodes(),
        }
    }

    /// The environment step after which episodes must have ended to be needed again, if any are.
    pub fn first_step_needed(&self, config: &Config) -> Option<u64> {
        match (self, config) {
            (Self::Dqn(state), Config::Dqn(config)) => Some(state.first_step_needed(config)),
            _ => None,
        }
    }

    /// A setting as it was at that moment, in words that a configuration takes. Nothing where the
    /// algorithm does not have it.
    pub fn setting(&self, knob: Knob) -> Option<Value> {
        match self {
            Self::Ppo(state) => Some(state.setting(knob)),
            Self::Dqn(state) if knob == Knob::LearningRate => {
                let learning_rate = serde_json::to_value(state.learning_rate());
                Some(learning_rate.expect("a setting is plain data"))
            }
            Self::Dqn(_) => None,
        }
    }

    /// Takes the settings that may be tuned from `config`, for whoever goes on from here.
    pub fn adopt(&mut self, config: &Config) {
        match (self, config) {
            (Self::Ppo(state), Config::Ppo(config)) => state.adopt(config),
            (Self::Dqn(state), Config::Dqn(config)) => {
                state.tune_learning_rate(config.learning_rate);
            }
            // Whoever goes on finds that out.
            _ => {}
        }
    }

    /// The state as a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Ppo(state) => state.to_bytes(),
            Self::Dqn(state) => state.to_bytes(),
        }
    }

    /// The state in a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        // Only one of the two has a second network.
        match SafeTensors::deserialize(bytes)?.tensor("target") {
            Ok(_) => dqn::State::from_bytes(bytes).map(Self::Dqn),
            Err(_) => ppo::State::from_bytes(bytes).map(Self::Ppo),
        }
    }
}
