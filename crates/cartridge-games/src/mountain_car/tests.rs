use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::conformance;
use crate::game::Action;
use crate::scene::Shape;

fn make() -> Box<dyn Env> {
    Box::new(MountainCar::new(Config::default()))
}

#[test]
fn equals_gymnasium_bit_for_bit() {
    let recording = include_str!("golden.txt");
    assert_eq!(conformance::replay_recording(SPEC.id, recording), 443);
}

#[test]
fn the_flag_may_ask_for_speed() {
    let reaches = |goal_velocity: f64| {
        let mut env = MountainCar::new(Config { goal_velocity });
        env.reset(Some(0), &mut [0.0; 2]);
        env.car.state = [0.48, 0.03];
        env.step(Action(2).into(), &mut [0.0; 2]).terminated
    };
    assert_eq!([0.0, 0.03, 0.04].map(reaches), [true, true, false]);
}

#[test]
#[should_panic(expected = "reset first")]
fn a_step_needs_a_reset() {
    make().step(Action(0).into(), &mut [0.0; 2]);
}

#[test]
fn the_scene_follows_the_state() {
    let bottom = -std::f64::consts::FRAC_PI_6;
    let wheels = scene::draw(bottom, GOAL).shapes.into_iter().filter_map(|shape| match shape {
        Shape::Circle { center, .. } => Some(center),
        _ => None,
    });
    let wheels: Vec<[f32; 2]> = wheels.collect();
    assert_eq!(wheels[0][1], wheels[2][1], "the car is level at the bottom of the valley");
    assert_eq!(wheels[0][1], 0.128, "and stands on the ground");
}

#[test]
fn playthrough() {
    insta::assert_snapshot!(conformance::playthrough_env(&make, 7));
}

proptest! {
    #[test]
    fn conforms(seed: u64) {
        conformance::check_env(SPEC.id, &json!({}), seed);
    }
}
