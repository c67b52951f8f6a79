//! Mountain Car: rock a weak car out of a valley, up to the flag on the right hill.
//!
//! # States
//!
//! | index | what | bound | start |
//! |---|---|---|---|
//! | 0 | position of the car | −1.2 to 0.6 | −0.6 to −0.4 |
//! | 1 | speed of the car | ±0.07 | 0 |
//!
//! The state is kept in doubles; an observation is the state rounded to `f32`. A car that runs
//! into the left end stops.
//!
//! # Actions
//!
//! 0 accelerates to the left by 0.001, 1 coasts, 2 accelerates to the right.
//!
//! # Reward
//!
//! −1 for every step, the last one included.
//!
//! # Start
//!
//! The position is uniform, drawn from NumPy's generator; the car stands.
//!
//! # End
//!
//! Terminated when the car is at 0.5 or beyond with at least [`Config::goal_velocity`]. Truncated
//! at step 200.
//!
//! # Version
//!
//! 0: equal to Gymnasium 1.4.0's `MountainCar-v0`, bit for bit.
//!
//! # Source
//!
//! Moore 1990, "Efficient memory-based learning for robot control", in the form of Sutton's
//! `MountainCar1.cp`.

pub(crate) mod scene;

use serde::{Deserialize, Serialize};

use crate::controls::{Controls, Effect, Idle, control};
use crate::env::{ActionSpace, Env, EnvAction, EnvSpec, Step};
use crate::numpy_random::NumpyRng;
use crate::scene::Scene;

/// Facts of the environment.
pub static SPEC: EnvSpec = EnvSpec {
    id: "MountainCar-v0",
    name: "Mountain Car",
    version: 0,
    observation: 2,
    actions: ActionSpace::Discrete(3),
    max_steps: 200,
    is_masked: false,
    quit_action: None,
    reward_threshold: Some(-110.0),
    frames_per_second: 30,
    action_names: &["push left", "coast", "push right"],
    observation_names: &["position", "velocity"],
    controls: Some(Controls {
        idle: Idle::Action(1),
        keys: &[
            control(&["ArrowLeft", "a"], "push left", Effect::Action(0)),
            control(&["ArrowRight", "d"], "push right", Effect::Action(2)),
        ],
        ending: "the car reached the flag",
    }),
};

/// Options of the environment, under Gymnasium's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The least speed with which the flag counts as reached.
    pub goal_velocity: f64,
}

impl Config {
    /// The names of the options.
    pub const OPTIONS: &'static [&'static str] = &["goal_velocity"];
}

/// A car in a valley.
#[derive(Clone, Debug)]
pub struct MountainCar {
    config: Config,
    car: Car,
}

/// A car in a valley: what both environments with one have in common.
#[derive(Clone, Debug)]
pub(crate) struct Car {
    rng: NumpyRng,
    pub(crate) state: State,
    pub(crate) n_steps: u32,
    is_over: bool,
}

/// Position and speed.
pub(crate) type State = [f64; 2];

/// Where the valley begins and ends.
pub(crate) const ENDS: [f64; 2] = [-1.2, 0.6];
pub(crate) const SPEED_LIMIT: f64 = 0.07;
/// How strongly the slope pulls.
pub(crate) const GRAVITY: f64 = 0.0025;
/// Where an episode may start.
const START: [f64; 2] = [-0.6, -0.4];
/// How strongly an action pushes.
const FORCE: f64 = 0.001;
/// Where the flag stands.
const GOAL: f64 = 0.5;

impl MountainCar {
    /// An environment that waits for its first reset.
    pub fn new(config: Config) -> Self {
        Self { config, car: Car::new() }
    }
}

impl Car {
    /// A car that waits for its first reset.
    pub(crate) fn new() -> Self {
        Self { rng: NumpyRng::new(0), state: [0.0; 2], n_steps: 0, is_over: true }
    }

    /// What [`Env::reset`] does.
    pub(crate) fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]) {
        if let Some(seed) = seed {
            self.rng = NumpyRng::new(seed);
        }
        let [low, high] = START;
        self.state = [self.rng.uniform(low, high), 0.0];
        self.n_steps = 0;
        self.is_over = false;
        self.observe(observation);
    }

    /// Where the car is before its next step.
    ///
    /// # Panics
    ///
    /// If the episode has ended.
    pub(crate) fn begin_step(&self) -> State {
        assert!(!self.is_over, "the episode has ended; reset first");
        self.state
    }

    /// Moves it to where it is after the step.
    pub(crate) fn end_step(
        &mut self,
        state: State,
        (reward, terminated): (f64, bool),
        max_steps: u32,
        observation: &mut [f32],
    ) -> Step {
        self.state = state;
        self.n_steps += 1;
        self.observe(observation);
        let truncated = self.n_steps == max_steps;
        self.is_over = terminated || truncated;
        Step { reward, terminated, truncated, ticks: 1, is_invalid: false }
    }

    fn observe(&self, observation: &mut [f32]) {
        observation.copy_from_slice(&self.state.map(|x| x as f32));
    }
}

impl Env for MountainCar {
    fn spec(&self) -> &'static EnvSpec {
        &SPEC
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]) {
        self.car.reset(seed, observation);
    }

    fn step(&mut self, action: EnvAction<'_>, observation: &mut [f32]) -> Step {
        let state = self.car.begin_step();
        let direction = match action.index() {
            0 => -1.0,
            1 => 0.0,
            2 => 1.0,
            other => panic!("action {other} is not 0, 1 or 2"),
        };
        let state = advance(state, direction * FORCE);
        let [position, speed] = state;
        let terminated = position >= GOAL && speed >= self.config.goal_velocity;
        self.car.end_step(state, (-1.0, terminated), SPEC.max_steps, observation)
    }

    fn scene(&self) -> Scene {
        let [position, _] = self.car.state;
        scene::draw(position, GOAL)
    }
}

/// The state one step later: the position moves with the new speed.
fn advance([position, speed]: State, push: f64) -> State {
    let speed = speed + (push + (3.0 * position).cos() * -GRAVITY);
    let speed = speed.clamp(-SPEED_LIMIT, SPEED_LIMIT);
    let [left, right] = ENDS;
    let position = (position + speed).clamp(left, right);
    let hits_the_end = position == left && speed < 0.0;
    [position, if hits_the_end { 0.0 } else { speed }]
}

#[cfg(test)]
mod tests;
