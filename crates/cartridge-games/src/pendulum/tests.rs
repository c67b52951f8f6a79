use std::f64::consts::FRAC_PI_2;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::conformance;
use crate::scene::{Paint, Shape};

fn make() -> Box<dyn Env> {
    Box::new(Pendulum::new(Config::default()))
}

#[test]
fn equals_gymnasium_bit_for_bit() {
    let recording = include_str!("golden.txt");
    assert_eq!(conformance::replay_recording(SPEC.id, recording), 400);
}

#[test]
fn without_gravity_nothing_moves_it() {
    let mut env = Pendulum::new(Config { g: 0.0 });
    env.reset(Some(0), &mut [0.0; 3]);
    env.state = [1.0, 0.0];
    env.step(EnvAction::Continuous(&[0.0]), &mut [0.0; 3]);
    assert_eq!(env.state, [1.0, 0.0]);
}

#[test]
#[should_panic(expected = "[] is not one number")]
fn an_action_is_one_number() {
    let mut env = make();
    env.reset(Some(0), &mut [0.0; 3]);
    env.step(EnvAction::Continuous(&[]), &mut [0.0; 3]);
}

#[test]
#[should_panic(expected = "reset first")]
fn a_step_needs_a_reset() {
    make().step(EnvAction::Continuous(&[0.0]), &mut [0.0; 3]);
}

#[test]
fn the_scene_follows_the_state() {
    let scene = scene::draw([FRAC_PI_2, 0.0], 0.0);
    let rod = Shape::line([[0.0, 0.0], [-1.0, 0.0]], Paint::SceneWarm, 0.2);
    assert!(scene.shapes.contains(&rod), "a quarter turn anticlockwise is to the left");
    let pushed = scene::draw([FRAC_PI_2, 0.0], 2.0);
    assert_eq!(pushed.shapes.len(), scene.shapes.len() + 2, "a torque has an arrow");
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
