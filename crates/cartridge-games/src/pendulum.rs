//! Pendulum: swing a rod up with a weak motor and hold it there.
//!
//! # States
//!
//! | index | what | unit | bound |
//! |---|---|---|---|
//! | 0, 1 | cosine and sine of the rod's angle from upright, anticlockwise | | ±1 |
//! | 2 | angular speed of the rod | rad/s | ±8 |
//!
//! Angle and speed are kept in doubles, the angle over any number of turns; an observation is
//! rounded to `f32`.
//!
//! # Actions
//!
//! One number, the torque in N m, anticlockwise, from −2 to 2; beyond it is clipped.
//!
//! # Reward
//!
//! −(angle² + 0.1 speed² + 0.001 torque²), of the state before the step and with the angle within
//! ±π: never more than 0.
//!
//! # Start
//!
//! The angle is uniform in ±π, then the speed in ±1, drawn from NumPy's generator.
//!
//! # End
//!
//! Never terminated. Truncated at step 200.
//!
//! # Version
//!
//! 1: equal to Gymnasium 1.4.0's `Pendulum-v1`, bit for bit.
//!
//! # Source
//!
//! A uniform rod of 1 kg and 1 m, hung at one end, in semi-implicit Euler steps of 0.05 s.

mod scene;

use std::f64::consts::{PI, TAU};

use serde::{Deserialize, Serialize};

use crate::controls::{Controls, Effect, Idle, control};
use crate::env::{ActionSpace, Env, EnvAction, EnvSpec, Step};
use crate::numpy_math::{square, square_f32};
use crate::numpy_random::NumpyRng;
use crate::scene::Scene;

/// Facts of the environment.
pub static SPEC: EnvSpec = EnvSpec {
    id: "Pendulum-v1",
    name: "Pendulum",
    version: 1,
    observation: 3,
    actions: ActionSpace::Continuous { low: &[-TORQUE_LIMIT], high: &[TORQUE_LIMIT] },
    max_steps: 200,
    is_masked: false,
    quit_action: None,
    reward_threshold: None,
    frames_per_second: 30,
    action_names: &["torque"],
    observation_names: &["cosine of the angle", "sine of the angle", "angular velocity"],
    controls: Some(Controls {
        idle: Idle::Zero,
        keys: &[
            control(
                &["ArrowLeft", "a"],
                "turn left",
                Effect::Add { index: 0, value: TORQUE_LIMIT },
            ),
            control(
                &["ArrowRight", "d"],
                "turn right",
                Effect::Add { index: 0, value: -TORQUE_LIMIT },
            ),
        ],
        ending: "",
    }),
};

/// Options of the environment, under Gymnasium's names.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Gravity, in m/s².
    pub g: f64,
}

impl Config {
    /// The names of the options.
    pub const OPTIONS: &'static [&'static str] = &["g"];
}

impl Default for Config {
    fn default() -> Self {
        Self { g: 10.0 }
    }
}

/// A rod that hangs at one end.
#[derive(Clone, Debug)]
pub struct Pendulum {
    config: Config,
    rng: NumpyRng,
    state: State,
    /// What was applied last, for the picture.
    torque: f32,
    n_steps: u32,
    is_over: bool,
}

/// Angle and angular speed.
type State = [f64; 2];

/// N m.
const TORQUE_LIMIT: f32 = 2.0;
/// rad/s.
const SPEED_LIMIT: f64 = 8.0;
/// kg.
const MASS: f64 = 1.0;
/// m.
const LENGTH: f64 = 1.0;
/// Seconds per step.
const TIME_STEP: f64 = 0.05;
/// Bounds of the angle and of the speed of a starting state.
const START: State = [PI, 1.0];

impl Pendulum {
    /// An environment that waits for its first reset.
    pub fn new(config: Config) -> Self {
        let rng = NumpyRng::new(0);
        Self { config, rng, state: [0.0; 2], torque: 0.0, n_steps: 0, is_over: true }
    }

    fn observe(&self, observation: &mut [f32]) {
        let [angle, speed] = self.state;
        observation.copy_from_slice(&[angle.cos(), angle.sin(), speed].map(|x| x as f32));
    }
}

impl Env for Pendulum {
    fn spec(&self) -> &'static EnvSpec {
        &SPEC
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]) {
        if let Some(seed) = seed {
            self.rng = NumpyRng::new(seed);
        }
        self.state = START.map(|bound| self.rng.uniform(-bound, bound));
        self.torque = 0.0;
        self.n_steps = 0;
        self.is_over = false;
        self.observe(observation);
    }

    fn step(&mut self, action: EnvAction<'_>, observation: &mut [f32]) -> Step {
        assert!(!self.is_over, "the episode has ended; reset first");
        let numbers = action.numbers();
        let &[torque] = numbers else { panic!("{numbers:?} is not one number") };
        self.torque = torque.clamp(-TORQUE_LIMIT, TORQUE_LIMIT);
        let reward = -cost(self.state, self.torque);
        self.state = advance(self.state, self.torque, self.config.g);
        self.n_steps += 1;
        self.observe(observation);

        let truncated = self.n_steps == SPEC.max_steps;
        self.is_over = truncated;
        Step { reward, terminated: false, truncated, ticks: 1, is_invalid: false }
    }

    fn scene(&self) -> Scene {
        scene::draw(self.state, self.torque)
    }
}

/// How far from upright and at rest, and at what expense. The torque's part is reckoned in `f32`.
fn cost([angle, speed]: State, torque: f32) -> f64 {
    let angle = (angle + PI).rem_euclid(TAU) - PI;
    square(angle) + 0.1 * square(speed) + f64::from(0.001 * square_f32(torque))
}

/// The state one step later: the angle moves with the new speed.
///
/// Every operation is in Gymnasium's order, because floating-point sums depend on it.
fn advance([angle, speed]: State, torque: f32, gravity: f64) -> State {
    let weight = 3.0 * gravity / (2.0 * LENGTH) * angle.sin();
    let motor = (3.0 / (MASS * (LENGTH * LENGTH))) as f32 * torque;
    let speed = speed + (weight + f64::from(motor)) * TIME_STEP;
    let speed = speed.clamp(-SPEED_LIMIT, SPEED_LIMIT);
    [angle + speed * TIME_STEP, speed]
}

#[cfg(test)]
mod tests;
