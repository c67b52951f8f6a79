//! Acrobot: swing two hanging links up by a motor in the joint between them.
//!
//! # States
//!
//! | index | what | unit | bound |
//! |---|---|---|---|
//! | 0, 1 | cosine and sine of the first link's angle from hanging down, anticlockwise | | ±1 |
//! | 2, 3 | cosine and sine of the second link's angle from the line of the first | | ±1 |
//! | 4 | angular speed of the first link | rad/s | ±4π |
//! | 5 | angular speed of the second link | rad/s | ±9π |
//!
//! The two angles and speeds are kept in doubles, angles within ±π. The start is rounded to
//! `f32`, and its sines and cosines are taken in `f32`.
//!
//! # Actions
//!
//! 0 applies a torque of −1 N m in the joint between the links, 1 none, 2 one of +1 N m.
//!
//! # Reward
//!
//! −1 for every step but the one that reaches the height, which gives 0.
//!
//! # Start
//!
//! Angles and speeds are uniform in ±0.1, drawn in order from NumPy's generator.
//!
//! # End
//!
//! Terminated when the free end is more than a link's length above the fixed one. Truncated at
//! step 500.
//!
//! # Version
//!
//! 1: equal to Gymnasium 1.4.0's `Acrobot-v1`, bit for bit.
//!
//! # Source
//!
//! Sutton 1996, "Generalization in reinforcement learning: successful examples using sparse
//! coarse coding", with the equations of Sutton and Barto's book and Runge and Kutta's steps of
//! 0.2 s.

mod scene;

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use serde::{Deserialize, Serialize};

use crate::controls::{Controls, Effect, Idle, control};
use crate::env::{ActionSpace, Env, EnvAction, EnvSpec, Step};
use crate::numpy_math::{cos_f32, sin_f32, square};
use crate::numpy_random::NumpyRng;
use crate::scene::Scene;

/// Facts of the environment.
pub static SPEC: EnvSpec = EnvSpec {
    id: "Acrobot-v1",
    name: "Acrobot",
    version: 1,
    observation: 6,
    actions: ActionSpace::Discrete(3),
    max_steps: 500,
    is_masked: false,
    quit_action: None,
    reward_threshold: Some(-100.0),
    frames_per_second: 15,
    action_names: &["torque -1", "no torque", "torque +1"],
    observation_names: &[
        "cosine of the first angle",
        "sine of the first angle",
        "cosine of the second angle",
        "sine of the second angle",
        "first angular velocity",
        "second angular velocity",
    ],
    controls: Some(Controls {
        idle: Idle::Action(1),
        keys: &[
            control(&["ArrowLeft", "a"], "swing left", Effect::Action(0)),
            control(&["ArrowRight", "d"], "swing right", Effect::Action(2)),
        ],
        ending: "the tip rose above the line",
    }),
};

/// Options of the environment: Gymnasium has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

impl Config {
    /// The names of the options.
    pub const OPTIONS: &'static [&'static str] = &[];
}

/// Two links, one hanging from the other.
#[derive(Clone, Debug)]
pub struct Acrobot {
    rng: NumpyRng,
    state: State,
    n_steps: u32,
    is_over: bool,
}

/// The angles of the links, then their angular speeds.
type State = [f64; 4];

/// m/s².
const GRAVITY: f64 = 9.8;
/// Of each link, in m.
const LENGTH: f64 = 1.0;
/// Of each link, in kg.
const MASS: f64 = 1.0;
/// From the upper end of a link to its centre of mass, in m.
const CENTRE: f64 = 0.5;
/// Of each link, in kg m².
const INERTIA: f64 = 1.0;
/// rad/s, of each link.
const SPEED_LIMITS: [f64; 2] = [4.0 * PI, 9.0 * PI];
/// Above the fixed end, in m.
const TARGET_HEIGHT: f64 = 1.0;
/// Seconds per step.
const TIME_STEP: f64 = 0.2;
/// Bound of each number of a starting state.
const START: f64 = 0.1;

impl Acrobot {
    /// An environment that waits for its first reset.
    pub fn new(Config {}: Config) -> Self {
        Self { rng: NumpyRng::new(0), state: [0.0; 4], n_steps: 0, is_over: true }
    }
}

impl Env for Acrobot {
    fn spec(&self) -> &'static EnvSpec {
        &SPEC
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]) {
        if let Some(seed) = seed {
            self.rng = NumpyRng::new(seed);
        }
        let start = [(); 4].map(|()| self.rng.uniform(-START, START) as f32);
        self.state = start.map(f64::from);
        self.n_steps = 0;
        self.is_over = false;
        let [first, second, speeds @ ..] = start;
        let [cos, sin] = [cos_f32, sin_f32];
        let angles = [cos(first), sin(first), cos(second), sin(second)];
        observation[..4].copy_from_slice(&angles);
        observation[4..].copy_from_slice(&speeds);
    }

    fn step(&mut self, action: EnvAction<'_>, observation: &mut [f32]) -> Step {
        assert!(!self.is_over, "the episode has ended; reset first");
        let torque = match action.index() {
            0 => -1.0,
            1 => 0.0,
            2 => 1.0,
            other => panic!("action {other} is not 0, 1 or 2"),
        };
        self.state = advance(self.state, torque);
        self.n_steps += 1;
        let [first, second, speeds @ ..] = self.state;
        let angles = [first.cos(), first.sin(), second.cos(), second.sin()];
        observation[..4].copy_from_slice(&angles.map(|x| x as f32));
        observation[4..].copy_from_slice(&speeds.map(|x| x as f32));

        let terminated = -first.cos() - (second + first).cos() > TARGET_HEIGHT;
        let truncated = self.n_steps == SPEC.max_steps;
        self.is_over = terminated || truncated;
        let reward = if terminated { 0.0 } else { -1.0 };
        Step { reward, terminated, truncated, ticks: 1, is_invalid: false }
    }

    fn scene(&self) -> Scene {
        scene::draw(self.state)
    }
}

/// The state one step of Runge and Kutta's fourth order later.
fn advance(state: State, torque: f64) -> State {
    let after = |time: f64, slope: State| zip(state, slope, |x, dx| x + time * dx);
    let half = TIME_STEP / 2.0;
    let k1 = slope(state, torque);
    let k2 = slope(after(half, k1), torque);
    let k3 = slope(after(half, k2), torque);
    let k4 = slope(after(TIME_STEP, k3), torque);
    let sum = zip(k1, k2, |sum, k| sum + 2.0 * k);
    let sum = zip(sum, k3, |sum, k| sum + 2.0 * k);
    let sum = zip(sum, k4, |sum, k| sum + k);
    let [first, second, first_speed, second_speed] = after(TIME_STEP / 6.0, sum);
    let [first_limit, second_limit] = SPEED_LIMITS;
    [
        wrap(first),
        wrap(second),
        first_speed.clamp(-first_limit, first_limit),
        second_speed.clamp(-second_limit, second_limit),
    ]
}

/// How fast each number of the state changes.
///
/// Every operation is in Gymnasium's order, because floating-point sums depend on it.
fn slope([first, second, first_speed, second_speed]: State, torque: f64) -> State {
    let (sin, cos) = (second.sin(), second.cos());
    let lever = MASS * LENGTH * CENTRE;
    let own = MASS * (CENTRE * CENTRE);
    let d1 = own
        + MASS * (LENGTH * LENGTH + CENTRE * CENTRE + 2.0 * LENGTH * CENTRE * cos)
        + INERTIA
        + INERTIA;
    let d2 = MASS * (CENTRE * CENTRE + LENGTH * CENTRE * cos) + INERTIA;
    let phi2 = MASS * CENTRE * GRAVITY * (first + second - FRAC_PI_2).cos();
    let phi1 = -lever * square(second_speed) * sin - 2.0 * lever * second_speed * first_speed * sin
        + (MASS * CENTRE + MASS * LENGTH) * GRAVITY * (first - FRAC_PI_2).cos()
        + phi2;
    let second_acceleration = (torque + d2 / d1 * phi1 - lever * square(first_speed) * sin - phi2)
        / (own + INERTIA - square(d2) / d1);
    let first_acceleration = -(d2 * second_acceleration + phi1) / d1;
    [first_speed, second_speed, first_acceleration, second_acceleration]
}

fn zip(a: State, b: State, join: impl Fn(f64, f64) -> f64) -> State {
    std::array::from_fn(|index| join(a[index], b[index]))
}

/// The same angle within ±π, by whole turns.
fn wrap(mut angle: f64) -> f64 {
    while angle > PI {
        angle -= TAU;
    }
    while angle < -PI {
        angle += TAU;
    }
    angle
}

#[cfg(test)]
mod tests;
