use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::conformance;
use crate::game::Action;
use crate::scene::{Paint, Shape};

fn make() -> Box<dyn Env> {
    Box::new(Acrobot::new(Config::default()))
}

#[test]
fn equals_gymnasium_bit_for_bit() {
    let recording = include_str!("golden.txt");
    assert_eq!(conformance::replay_recording(SPEC.id, recording), 668);
}

#[test]
#[should_panic(expected = "reset first")]
fn a_step_needs_a_reset() {
    make().step(Action(0).into(), &mut [0.0; 6]);
}

#[test]
fn the_scene_follows_the_state() {
    let scene = scene::draw([FRAC_PI_2, FRAC_PI_2, 0.0, 0.0]);
    let links = [
        Shape::line([[0.0, 0.0], [1.0, 0.0]], Paint::SceneBody, 0.2),
        Shape::line([[1.0, 0.0], [1.0, 1.0]], Paint::SceneLine, 0.2),
    ];
    assert!(links.iter().all(|link| scene.shapes.contains(link)), "to the right, then up");
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
