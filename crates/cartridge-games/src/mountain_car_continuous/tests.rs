use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::conformance;

fn make() -> Box<dyn Env> {
    Box::new(MountainCarContinuous::new(Config::default()))
}

#[test]
fn equals_gymnasium_bit_for_bit() {
    let recording = include_str!("golden.txt");
    assert_eq!(conformance::replay_recording(SPEC.id, recording), 1220);
}

#[test]
fn the_flag_may_ask_for_speed() {
    let reaches = |goal_velocity: f64| {
        let mut env = MountainCarContinuous::new(Config { goal_velocity });
        env.reset(Some(0), &mut [0.0; 2]);
        env.car.state = [0.43, 0.03];
        env.step(EnvAction::Continuous(&[1.0]), &mut [0.0; 2]).terminated
    };
    assert_eq!([0.0, 0.03, 0.04].map(reaches), [true, true, false]);
}

#[test]
fn an_action_beyond_the_bounds_moves_no_more_but_costs_more() {
    let take = |throttle: f32| {
        let (mut env, mut seen) = (make(), [0.0; 2]);
        env.reset(Some(0), &mut seen);
        let step = env.step(EnvAction::Continuous(&[throttle]), &mut seen);
        (seen, step.reward)
    };
    let ((full, cost), (beyond, cost_beyond)) = (take(1.0), take(3.0));
    assert_eq!((full, cost, cost_beyond), (beyond, -0.1, -0.9));
}

#[test]
#[should_panic(expected = "[0.5, 0.5] is not one number")]
fn an_action_is_one_number() {
    let mut env = make();
    env.reset(Some(0), &mut [0.0; 2]);
    env.step(EnvAction::Continuous(&[0.5, 0.5]), &mut [0.0; 2]);
}

#[test]
#[should_panic(expected = "reset first")]
fn a_step_needs_a_reset() {
    make().step(EnvAction::Continuous(&[0.0]), &mut [0.0; 2]);
}

#[test]
fn playthrough() {
    insta::assert_snapshot!(conformance::playthrough_env(&make, 7));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn conforms(seed: u64) {
        conformance::check_env(SPEC.id, &json!({}), seed);
    }
}
