//! Cart Pole: push a cart left or right so that the pole on it stays up.
//!
//! # States
//!
//! | index | what | unit | start | fails beyond |
//! |---|---|---|---|---|
//! | 0 | position of the cart | m | ±0.05 | ±2.4 |
//! | 1 | speed of the cart | m/s | ±0.05 | |
//! | 2 | angle of the pole from upright, clockwise | rad | ±0.05 | ±12° |
//! | 3 | angular speed of the pole | rad/s | ±0.05 | |
//!
//! The state is kept in doubles; an observation is the state rounded to `f32`.
//!
//! # Actions
//!
//! 0 pushes the cart left with 10 N, 1 pushes it right.
//!
//! # Reward
//!
//! 1 for every step, the failing one included. With [`Config::sutton_barto_reward`] it is −1 for
//! the failing step and 0 otherwise.
//!
//! # Start
//!
//! Each of the four numbers is uniform in ±0.05, drawn in order from NumPy's generator.
//!
//! # End
//!
//! Terminated when the cart or the pole is beyond its limit. Truncated at step 500.
//!
//! # Version
//!
//! 1: equal to Gymnasium 1.4.0's `CartPole-v1`, bit for bit.
//!
//! # Source
//!
//! Barto, Sutton and Anderson 1983, with the friction-free equations 23 and 24 of Florian 2007,
//! "Correct equations for the dynamics of the cart-pole system", and Euler steps of 0.02 s.

mod scene;

use serde::{Deserialize, Serialize};

use crate::controls::{Controls, Effect, Idle, control};
use crate::env::{ActionSpace, Env, EnvAction, EnvSpec, Step};
use crate::numpy_random::NumpyRng;
use crate::scene::Scene;

/// Facts of the environment.
pub static SPEC: EnvSpec = EnvSpec {
    id: "CartPole-v1",
    name: "Cart Pole",
    version: 1,
    observation: 4,
    actions: ActionSpace::Discrete(2),
    max_steps: 500,
    is_masked: false,
    quit_action: None,
    reward_threshold: Some(475.0),
    frames_per_second: 50,
    action_names: &["push left", "push right"],
    observation_names: &["cart position", "cart velocity", "pole angle", "pole angular velocity"],
    controls: Some(Controls {
        idle: Idle::Last(0),
        keys: &[
            control(&["ArrowLeft", "a"], "push left", Effect::Action(0)),
            control(&["ArrowRight", "d"], "push right", Effect::Action(1)),
        ],
        ending: "the pole fell, or the cart left the track",
    }),
};

/// Options of the environment, under Gymnasium's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Reward −1 for failing and 0 otherwise, instead of 1 for every step.
    pub sutton_barto_reward: bool,
}

impl Config {
    /// The names of the options.
    pub const OPTIONS: &'static [&'static str] = &["sutton_barto_reward"];
}

/// A cart with a pole on it.
#[derive(Clone, Debug)]
pub struct CartPole {
    config: Config,
    rng: NumpyRng,
    state: State,
    n_steps: u32,
    is_over: bool,
}

/// Position and speed of the cart, angle and angular speed of the pole.
type State = [f64; 4];

/// m/s².
const GRAVITY: f64 = 9.8;
/// kg.
const CART_MASS: f64 = 1.0;
/// kg.
const POLE_MASS: f64 = 0.1;
/// kg.
const TOTAL_MASS: f64 = POLE_MASS + CART_MASS;
/// From the axle to the middle of the pole, in m.
const HALF_LENGTH: f64 = 0.5;
/// kg m.
const POLE_MASS_LENGTH: f64 = POLE_MASS * HALF_LENGTH;
/// N.
const FORCE: f64 = 10.0;
/// Seconds per step.
const TIME_STEP: f64 = 0.02;
/// m.
const POSITION_LIMIT: f64 = 2.4;
/// Radians: 12 degrees, in Gymnasium's order of operations.
const ANGLE_LIMIT: f64 = 12.0 * 2.0 * std::f64::consts::PI / 360.0;
/// Bound of each number of a starting state.
const START: f64 = 0.05;

impl CartPole {
    /// An environment that waits for its first reset.
    pub fn new(config: Config) -> Self {
        Self { config, rng: NumpyRng::new(0), state: [0.0; 4], n_steps: 0, is_over: true }
    }

    fn observe(&self, observation: &mut [f32]) {
        observation.copy_from_slice(&self.state.map(|x| x as f32));
    }
}

impl Env for CartPole {
    fn spec(&self) -> &'static EnvSpec {
        &SPEC
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]) {
        if let Some(seed) = seed {
            self.rng = NumpyRng::new(seed);
        }
        self.state = [(); 4].map(|()| self.rng.uniform(-START, START));
        self.n_steps = 0;
        self.is_over = false;
        self.observe(observation);
    }

    fn step(&mut self, action: EnvAction<'_>, observation: &mut [f32]) -> Step {
        assert!(!self.is_over, "the episode has ended; reset first");
        let force = match action.index() {
            0 => -FORCE,
            1 => FORCE,
            other => panic!("action {other} is not 0 or 1"),
        };
        self.state = advance(self.state, force);
        self.n_steps += 1;
        self.observe(observation);

        let [position, _, angle, _] = self.state;
        let terminated = position.abs() > POSITION_LIMIT || angle.abs() > ANGLE_LIMIT;
        let truncated = self.n_steps == SPEC.max_steps;
        self.is_over = terminated || truncated;
        let reward = match (self.config.sutton_barto_reward, terminated) {
            (false, _) => 1.0,
            (true, false) => 0.0,
            (true, true) => -1.0,
        };
        Step { reward, terminated, truncated, ticks: 1, is_invalid: false }
    }

    fn scene(&self) -> Scene {
        scene::draw(self.state)
    }
}

/// The state one Euler step later: positions move with the old speeds.
///
/// Every operation is in Gymnasium's order, because floating-point sums depend on it.
fn advance([position, speed, angle, angular_speed]: State, force: f64) -> State {
    let (sin, cos) = (angle.sin(), angle.cos());
    let push = (force + POLE_MASS_LENGTH * (angular_speed * angular_speed) * sin) / TOTAL_MASS;
    let angular_acceleration = (GRAVITY * sin - cos * push)
        / (HALF_LENGTH * (4.0 / 3.0 - POLE_MASS * (cos * cos) / TOTAL_MASS));
    let acceleration = push - POLE_MASS_LENGTH * angular_acceleration * cos / TOTAL_MASS;
    [
        position + TIME_STEP * speed,
        speed + TIME_STEP * acceleration,
        angle + TIME_STEP * angular_speed,
        angular_speed + TIME_STEP * angular_acceleration,
    ]
}

#[cfg(test)]
mod tests;
