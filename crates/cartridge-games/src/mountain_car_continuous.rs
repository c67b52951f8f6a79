//! Mountain Car with a throttle: reach the flag on the right hill and spend little on the way.
//!
//! # States
//!
//! | index | what | bound | start |
//! |---|---|---|---|
//! | 0 | position of the car | −1.2 to 0.6 | −0.6 to −0.4 |
//! | 1 | speed of the car | ±0.07 | 0 |
//!
//! An episode starts in doubles, and from its first step on the state is kept in `f32`: the first
//! step is reckoned in doubles, and the others in `f32` wherever NumPy does. A car that runs into
//! the left end stops.
//!
//! # Actions
//!
//! One number from −1, full throttle to the left, to 1, to the right; beyond it is clipped.
//!
//! # Reward
//!
//! −0.1 times the square of the number given, and 100 more for reaching the flag.
//!
//! # Start
//!
//! The position is uniform, drawn from NumPy's generator; the car stands.
//!
//! # End
//!
//! Terminated when the car is at 0.45 or beyond with at least [`Config::goal_velocity`]. Truncated
//! at step 999.
//!
//! # Version
//!
//! 0: equal to Gymnasium 1.4.0's `MountainCarContinuous-v0`, bit for bit.
//!
//! # Source
//!
//! Moore 1990, "Efficient memory-based learning for robot control", with the throttle of
//! de Broissia and Sigaud.

use crate::controls::{Controls, Effect, Idle, control};
use crate::env::{ActionSpace, Env, EnvAction, EnvSpec, Step};
use crate::mountain_car::{self, Car, ENDS, GRAVITY, SPEED_LIMIT, State};
use crate::scene::Scene;

/// Options of the environment, which are those of the other car.
pub use crate::mountain_car::Config;

/// Facts of the environment.
pub static SPEC: EnvSpec = EnvSpec {
    id: "MountainCarContinuous-v0",
    name: "Mountain Car Continuous",
    version: 0,
    observation: 2,
    actions: ActionSpace::Continuous { low: &[-1.0], high: &[1.0] },
    max_steps: 999,
    is_masked: false,
    quit_action: None,
    reward_threshold: Some(90.0),
    frames_per_second: 30,
    action_names: &["throttle"],
    observation_names: &["position", "velocity"],
    controls: Some(Controls {
        idle: Idle::Zero,
        keys: &[
            control(&["ArrowLeft", "a"], "push left", Effect::Add { index: 0, value: -1.0 }),
            control(&["ArrowRight", "d"], "push right", Effect::Add { index: 0, value: 1.0 }),
        ],
        ending: "the car reached the flag",
    }),
};

/// A car with a throttle, in a valley.
#[derive(Clone, Debug)]
pub struct MountainCarContinuous {
    config: Config,
    car: Car,
}

/// How strongly full throttle pushes.
const POWER: f64 = 0.0015;
/// Where the flag stands.
const GOAL: f64 = 0.45;

impl MountainCarContinuous {
    /// An environment that waits for its first reset.
    pub fn new(config: Config) -> Self {
        Self { config, car: Car::new() }
    }
}

impl Env for MountainCarContinuous {
    fn spec(&self) -> &'static EnvSpec {
        &SPEC
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]) {
        self.car.reset(seed, observation);
    }

    fn step(&mut self, action: EnvAction<'_>, observation: &mut [f32]) -> Step {
        let state = self.car.begin_step();
        let numbers = action.numbers();
        let &[throttle] = numbers else { panic!("{numbers:?} is not one number") };
        let precision = if self.car.n_steps == 0 { Precision::Double } else { Precision::Single };
        let (state, terminated) = advance(state, throttle, self.config.goal_velocity, precision);
        let prize = if terminated { 100.0 } else { 0.0 };
        let throttle = f64::from(throttle);
        let reward = prize - throttle * throttle * 0.1;
        self.car.end_step(state.map(single), (reward, terminated), SPEC.max_steps, observation)
    }

    fn scene(&self) -> Scene {
        let [position, _] = self.car.state;
        mountain_car::scene::draw(position, GOAL)
    }
}

/// What NumPy keeps the state in, and rounds Python's numbers to where they meet it.
#[derive(Clone, Copy)]
enum Precision {
    Single,
    Double,
}

/// The state one step later, and whether the flag is reached.
///
/// Rounding each result in doubles to `f32` is reckoning in `f32`: doubles have more than twice
/// the digits.
fn advance(
    [position, speed]: State,
    throttle: f32,
    goal_velocity: f64,
    precision: Precision,
) -> (State, bool) {
    let round = |x: f64| match precision {
        Precision::Single => single(x),
        Precision::Double => x,
    };
    let pull = GRAVITY * round(3.0 * position).cos();
    let push = f64::from(throttle);
    // A clipped action is one of Python's numbers; another is NumPy's `float32`.
    let gain = if (-1.0..=1.0).contains(&throttle) {
        single(single(push * single(POWER)) - single(pull))
    } else {
        push.clamp(-1.0, 1.0) * POWER - pull
    };
    let speed = round(speed + round(gain));
    // So is a clipped speed, which keeps its digits when the flag asks for a speed.
    let is_clipped = speed.abs() > round(SPEED_LIMIT);
    let speed = if is_clipped { SPEED_LIMIT.copysign(speed) } else { speed };
    let goal_velocity = if is_clipped { goal_velocity } else { round(goal_velocity) };
    let [left, right] = ENDS.map(round);
    let position = round(position + round(speed)).clamp(left, right);
    let hits_the_end = position == left && speed < 0.0;
    let speed = if hits_the_end { 0.0 } else { speed };
    ([position, speed], position >= round(GOAL) && speed >= goal_velocity)
}

/// `x` rounded to `f32`.
fn single(x: f64) -> f64 {
    f64::from(x as f32)
}

#[cfg(test)]
mod tests;
