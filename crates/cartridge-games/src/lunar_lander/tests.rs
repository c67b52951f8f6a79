use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::conformance;
use crate::game::Action;
use crate::rigid::stored::{self, StoredStep};

fn make() -> Box<dyn Env> {
    Box::new(LunarLander::new(Config::default()))
}

#[test]
fn equals_gymnasium_bit_for_bit() {
    assert_eq!(conformance::replay_recording(SPEC.id, include_str!("golden.txt")), 1214);
}

#[test]
fn equals_the_shared_traces_bit_for_bit() {
    assert_eq!(conformance::replay_recording(SPEC.id, include_str!("traces.txt")), 561);
}

#[test]
fn a_step_from_a_stored_state_ends_where_it_did() {
    let run = |step: &StoredStep| {
        let mut env = LunarLander::new(Config::default());
        let mut seen = [0.0; 8];
        env.reset(Some(step.seed), &mut seen);
        // The engines of the steps before have drawn two numbers each.
        for _ in 0..2 * step.number {
            env.rng.uniform(-1.0, 1.0);
        }
        let rng = env.rng.clone();
        for _ in 0..stored::N_TIMES {
            env.rng = rng.clone();
            env.is_over = false;
            step.begin(&mut env.world);
            env.step(Action(step.action.parse().unwrap()).into(), &mut seen);
        }
        env.world
    };
    assert_eq!(stored::check(include_str!("steps.txt"), run), [18, 18]);
}

#[test]
fn gravity_is_checked() {
    let check = |gravity: f64| Config { gravity, ..Config::default() }.check();
    assert_eq!(check(-1.6), Ok(()));
    for gravity in [-12.0, 0.0, 3.0, f64::NAN] {
        let reason = check(gravity).expect_err("out of range");
        assert_eq!(reason, format!("`gravity` is {gravity}, but must be above -12 and below 0"));
    }
}

#[test]
#[should_panic(expected = "reset first")]
fn a_step_needs_a_reset() {
    make().step(Action(0).into(), &mut [0.0; 8]);
}

#[test]
fn engines_show_their_flame() {
    let mut env = LunarLander::new(Config::default());
    let mut seen = [0.0; 8];
    env.reset(Some(0), &mut seen);
    let n_still = env.scene().shapes.len();
    let mut flames = |action: usize| {
        env.step(Action(action).into(), &mut seen);
        env.scene().shapes.len() - n_still
    };
    assert_eq!([0, 1, 2, 3].map(&mut flames), [0, 1, 2, 1]);
}

#[test]
fn playthrough() {
    insta::assert_snapshot!(conformance::playthrough_env(&make, 7));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn conforms(seed: u64) {
        conformance::check_env(SPEC.id, &json!({}), seed);
        conformance::check_env(SPEC.id, &json!({ "continuous": true, "enable_wind": true }), seed);
    }
}

#[test]
fn the_left_key_turns_to_the_left() {
    for (key, sign) in [(0, 1.0), (2, -1.0)] {
        for (config, spec) in [
            (Config::default(), &SPEC),
            (Config { continuous: true, ..Config::default() }, &CONTINUOUS_SPEC),
        ] {
            let mut lander = LunarLander::new(config);
            let mut seen = [0.0; 8];
            lander.reset(Some(5), &mut seen);
            let start = seen[4];
            for _ in 0..30 {
                let action = spec.controls.unwrap().action(&spec.actions, &[key], None);
                lander.step(action.borrow(), &mut seen);
            }
            // Angles are counter-clockwise.
            assert!((seen[4] - start) * sign > 0.1, "{key}: from {start} to {}", seen[4]);
        }
    }
}
