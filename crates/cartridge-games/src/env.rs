//! What a single-agent environment must provide.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use crate::controls::Controls;
use crate::game::{Action, Seat};
pub use crate::rigid::{Impact, Island};
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
    /// If the action is of the wrong kind or size or names no action of the space, or the episode
    /// has ended. Numbers beyond the bounds of a continuous space are the environment's to clip.
    fn step(&mut self, action: EnvAction<'_>, observation: &mut [f32]) -> Step;

    /// Writes into `mask`, which has [`ActionSpace::size`] elements, whether each action may be
    /// taken now. In a continuous space everything may, always.
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

    /// The episode is over for who plays it, though not by the rules: it was cut off.
    fn cut_off(&mut self) {}

    /// This environment as one whose step is in parts, so that many can be taken together.
    fn mechanism(&mut self) -> Option<&mut dyn Mechanism> {
        None
    }

    /// The present state as a picture.
    fn scene(&self) -> Scene;

    /// Whose pieces lie where each action of a game is chosen, the lowest first, as
    /// [`Game::pieces`](crate::Game::pieces) tells it; none where there is no board.
    fn pieces(&self) -> Option<Vec<Vec<Seat>>> {
        None
    }
}

/// An environment whose step is in parts: [`Self::begin_step`], then [`Self::island`] is solved,
/// then every [`Self::next_impact`], then [`Self::end_step`]. [`Self::step_alone`] does all of it;
/// a batch solves the islands and impacts of many environments at once, which gives the same bits
/// and is much faster.
pub trait Mechanism {
    /// Takes one action, up to where the island is to be solved.
    fn begin_step(&mut self, action: EnvAction<'_>);

    /// What is to be solved; nothing when everything is at rest.
    fn island(&mut self) -> Option<&mut Island>;

    /// What is to be solved when the island is solved, and every impact before: a body that has
    /// met the ground. Nothing when there are no more.
    fn next_impact(&mut self) -> Option<&mut Impact>;

    /// What [`Self::next_impact`] has returned.
    fn impact(&mut self) -> &mut Impact;

    /// Ends the step and writes what is seen next into `observation`. Impacts that are left are
    /// solved one by one.
    fn end_step(&mut self, observation: &mut [f32]) -> Step;

    /// All of it: what [`Env::step`] does.
    fn step_alone(&mut self, action: EnvAction<'_>, observation: &mut [f32]) -> Step {
        self.begin_step(action);
        if let Some(island) = self.island() {
            island.solve();
        }
        self.end_step(observation)
    }
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
    /// Steps per second when an episode is played back: Gymnasium's `render_fps`.
    pub frames_per_second: u32,
    /// The name of each discrete action for people, or of each number of a continuous one.
    pub action_names: &'static [&'static str],
    /// The name of each element of an observation for people.
    pub observation_names: &'static [&'static str],
    /// The keys of a person who plays; none where the world waits for a decision, which is chosen
    /// from the list of actions.
    pub controls: Option<Controls>,
}

/// What may be done in a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionSpace {
    /// One of this many actions.
    Discrete(usize),
    /// A number for each pair of bounds.
    Continuous {
        /// The smallest value of each number.
        low: &'static [f32],
        /// The largest value of each number.
        high: &'static [f32],
    },
}

impl ActionSpace {
    /// How many numbers an actor must put out: one per discrete action, or one per bounds.
    pub fn size(&self) -> usize {
        match self {
            Self::Discrete(n_actions) => *n_actions,
            Self::Continuous { low, .. } => low.len(),
        }
    }

    /// Whether an action is one of a list.
    pub fn is_discrete(&self) -> bool {
        matches!(self, Self::Discrete(_))
    }

    /// Whether [`Env::step`] takes `action`: of this space's kind and size, in its range.
    pub fn contains(&self, action: EnvAction<'_>) -> bool {
        match (self, action) {
            (Self::Discrete(n_actions), EnvAction::Discrete(Action(index))) => index < *n_actions,
            (Self::Continuous { low, high }, EnvAction::Continuous(numbers)) => {
                let bounds = low.iter().zip(*high);
                numbers.len() == low.len()
                    && numbers.iter().zip(bounds).all(|(x, (low, high))| (*low..=*high).contains(x))
            }
            _ => false,
        }
    }

    /// A random action: one that `mask` allows, or a uniform number between each pair of bounds.
    ///
    /// # Panics
    ///
    /// If the mask allows nothing.
    pub fn sample(&self, mask: &[bool], rng: &mut fastrand::Rng) -> AnyAction {
        match self {
            Self::Discrete(_) => {
                let n_legal = mask.iter().filter(|&&is_legal| is_legal).count();
                let mut legal = (0..mask.len()).filter(|&index| mask[index]);
                let index = legal.nth(rng.usize(..n_legal)).expect("there is something to do");
                AnyAction::Discrete(Action(index))
            }
            Self::Continuous { low, high } => {
                let bounds = low.iter().zip(*high);
                AnyAction::Continuous(bounds.map(|(a, b)| a + (b - a) * rng.f32()).collect())
            }
        }
    }
}

/// What is done in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EnvAction<'a> {
    /// One of the actions.
    Discrete(Action),
    /// A number for each pair of bounds.
    Continuous(&'a [f32]),
}

impl EnvAction<'_> {
    /// The index of a discrete action.
    ///
    /// # Panics
    ///
    /// If it is continuous.
    #[track_caller]
    pub fn index(self) -> usize {
        match self {
            Self::Discrete(Action(index)) => index,
            Self::Continuous(numbers) => panic!("{numbers:?} is not one of a list of actions"),
        }
    }
}

impl<'a> EnvAction<'a> {
    /// The numbers of a continuous action.
    ///
    /// # Panics
    ///
    /// If it is discrete.
    #[track_caller]
    pub fn numbers(self) -> &'a [f32] {
        match self {
            Self::Discrete(Action(index)) => panic!("action {index} is not a list of numbers"),
            Self::Continuous(numbers) => numbers,
        }
    }
}

impl From<Action> for EnvAction<'_> {
    fn from(action: Action) -> Self {
        Self::Discrete(action)
    }
}

/// An [`EnvAction`] that owns its numbers, to be kept, drawn or sent: `3` or `[0.5, -1.0]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(untagged, expecting = "an action is a whole number from 0 or a list of numbers")]
pub enum AnyAction {
    /// One of the actions.
    Discrete(Action),
    /// A number for each pair of bounds.
    Continuous(Vec<f32>),
}

impl AnyAction {
    /// The action, to be taken.
    pub fn borrow(&self) -> EnvAction<'_> {
        match self {
            Self::Discrete(action) => EnvAction::Discrete(*action),
            Self::Continuous(numbers) => EnvAction::Continuous(numbers),
        }
    }
}

/// The actions of an episode, in order and of one kind: what it takes to step it again.
#[derive(Clone, Debug, PartialEq)]
pub enum Actions {
    /// One of a list in every step.
    Discrete(Vec<u32>),
    /// As many numbers in every step.
    Continuous {
        /// How many numbers a step has.
        width: u32,
        /// Those of all steps, one step after the other.
        numbers: Vec<f32>,
    },
}

impl Actions {
    /// None yet, in a space of actions.
    pub fn new(space: &ActionSpace) -> Self {
        match space {
            ActionSpace::Discrete(_) => Self::Discrete(Vec::new()),
            ActionSpace::Continuous { low, .. } => {
                Self::Continuous { width: low.len() as u32, numbers: Vec::new() }
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Discrete(actions) => actions.len(),
            Self::Continuous { width, numbers } => numbers.len() / (*width as usize).max(1),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds one.
    ///
    /// # Panics
    ///
    /// If it is not of the same kind and size.
    pub fn push(&mut self, action: EnvAction<'_>) {
        match self {
            Self::Discrete(actions) => actions.push(action.index() as u32),
            Self::Continuous { width, numbers } => {
                assert_eq!(action.numbers().len(), *width as usize, "as many numbers per step");
                numbers.extend_from_slice(action.numbers());
            }
        }
    }

    /// The action of a step, counted from 0.
    pub fn get(&self, step: usize) -> Option<EnvAction<'_>> {
        match self {
            Self::Discrete(actions) => {
                actions.get(step).map(|&index| EnvAction::Discrete(Action(index as usize)))
            }
            Self::Continuous { width, numbers } => {
                let width = *width as usize;
                numbers.get(step * width..(step + 1) * width).map(EnvAction::Continuous)
            }
        }
    }

    /// All of them in order.
    pub fn iter(&self) -> impl Iterator<Item = EnvAction<'_>> {
        (0..self.len()).map_while(|step| self.get(step))
    }

    /// Takes them out, and leaves none, of the same kind.
    pub fn take(&mut self) -> Self {
        let empty = match self {
            Self::Discrete(_) => Self::Discrete(Vec::new()),
            Self::Continuous { width, .. } => {
                Self::Continuous { width: *width, numbers: Vec::new() }
            }
        };
        std::mem::replace(self, empty)
    }
}
