use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::conformance;
use crate::game::Action;
use crate::scene::{Paint, Shape};

fn make() -> Box<dyn Env> {
    Box::new(CartPole::new(Config::default()))
}

#[test]
fn equals_gymnasium_bit_for_bit() {
    let recording = include_str!("golden.txt");
    assert_eq!(conformance::replay_recording(SPEC.id, recording), 606);
}

#[test]
fn sutton_and_barto_reward_failure_only() {
    let mut env = CartPole::new(Config { sutton_barto_reward: true });
    let mut seen = [0.0; 4];
    env.reset(Some(0), &mut seen);
    loop {
        let step = env.step(Action(1).into(), &mut seen);
        assert_eq!(step.reward, if step.terminated { -1.0 } else { 0.0 });
        if step.terminated {
            break;
        }
    }
}

#[test]
#[should_panic(expected = "reset first")]
fn a_step_needs_a_reset() {
    make().step(Action(0).into(), &mut [0.0; 4]);
}

#[test]
fn the_scene_follows_the_state() {
    let scene = scene::draw([1.0, 0.0, std::f64::consts::FRAC_PI_2, 0.0]);
    let pole = Shape::line([[1.0, 0.21], [2.0, 0.21]], Paint::SceneWarm, 0.1);
    assert!(scene.shapes.contains(&pole), "a pole that has fallen right lies to the right");
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
