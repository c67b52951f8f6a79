//! What a single-agent environment must provide.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use crate::game::Action;
use crate::scene::Scene;

/// An environment with Gymnasium's contract: `reset`, then `step` until the episode ends.
///
/// The time limit belongs to the environment, as it does after `gymnasium.make`.
pub trait Env: Debug + Send {
    /// Facts that hold for every episode.
    fn spec(&self) -> &'static EnvSpec;

    /// Begins an episode and writes what is seen first into `observation`.
    ///
    /// A seed restarts the environment's random numbers; `None` carries them on, as in Gymnasium.
    /// An environment that never had a seed begins with seed 0.
    fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]);

    /// Takes one action and writes what is seen next into `observation`.
    ///
    /// # Panics
    ///
    /// If the action is not in the action space, or the episode has ended.
    fn step(&mut self, action: Action, observation: &mut [f32]) -> Step;

    /// Writes into `mask`, which has one element per action, whether each may be taken now.
    ///
    /// An environment whose spec is not [`EnvSpec::is_masked`] allows everything, always. In one
    /// that is, an action that is not legal may still be given to [`Self::step`]: it idles, and
    /// the step [`Step::is_invalid`].
    fn legal_actions(&self, mask: &mut [bool]) {
        mask.fill(true);
    }

    /// What was measured in the episode that ended last, by name; it outlives a reset.
    ///
    /// Nothing before the first episode has ended, or when only return and length matter.
    fn episode_metrics(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// The present state as a picture.
    fn scene(&self) -> Scene;
}

/// The outcome of one action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The reward of this action.
    pub reward: f64,
    /// The task itself has ended: nothing is earned after this state.
    pub terminated: bool,
    /// The time limit was reached: the state still has a value. Both may hold at once.
    pub truncated: bool,
    /// How much of the world's time has passed: 1, unless actions differ in how long they take.
    pub ticks: u32,
    /// The action was not legal, so the environment idled instead.
    pub is_invalid: bool,
}

impl Step {
    /// Whether the episode is over, for either reason.
    pub fn is_end(&self) -> bool {
        self.terminated || self.truncated
    }
}

/// Facts that hold for every episode of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EnvSpec {
    /// Gymnasium's id, stable on the command line, in addresses and in stored runs.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// Raised when behaviour changes; refactoring and speed-ups leave it alone.
    pub version: u32,
    /// Number of elements of an observation.
    pub observation: usize,
    /// What may be done in a step.
    pub actions: ActionSpace,
    /// The episode is truncated when this many ticks have passed; a step takes at least one.
    pub max_steps: u32,
    /// Whether some actions are at times not legal.
    pub is_masked: bool,
    /// The action that ends the episode by choice; measurements of random play leave it out.
    pub quit_action: Option<usize>,
    /// The mean return from which the task counts as solved.
    pub reward_threshold: Option<f64>,
    /// Steps per second of the simulated world, for playing episodes back.
    pub frames_per_second: u32,
    /// The name of each discrete action for people.
    pub action_names: &'static [&'static str],
    /// The name of each element of an observation for people.
    pub observation_names: &'static [&'static str],
}

/// What may be done in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionSpace {
    /// One of this many actions.
    Discrete(usize),
}

impl ActionSpace {
    /// How many numbers an actor must put out: one per discrete action.
    pub fn size(&self) -> usize {
        match self {
            Self::Discrete(n_actions) => *n_actions,
        }
    }
}
