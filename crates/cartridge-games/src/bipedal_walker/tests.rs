use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::conformance;
use crate::rigid::stored::{self, StoredStep};

fn make() -> Box<dyn Env> {
    Box::new(BipedalWalker::new(Config::default()))
}

fn make_hardcore() -> Box<dyn Env> {
    Box::new(BipedalWalker::hardcore(Config::default()))
}

#[test]
fn equals_gymnasium_bit_for_bit() {
    assert_eq!(conformance::replay_recording(SPEC.id, include_str!("golden.txt")), 686);
}

#[test]
fn equals_gymnasium_bit_for_bit_on_hardcore_ground() {
    assert_eq!(conformance::replay_recording(HARDCORE_SPEC.id, include_str!("hardcore.txt")), 2659);
}

#[test]
fn equals_the_shared_traces_bit_for_bit() {
    assert_eq!(conformance::replay_recording(SPEC.id, include_str!("traces.txt")), 242);
    let hardcore = include_str!("hardcore_traces.txt");
    assert_eq!(conformance::replay_recording(HARDCORE_SPEC.id, hardcore), 241);
}

#[test]
fn a_step_from_a_stored_state_ends_where_it_did() {
    fn run(mut env: BipedalWalker, step: &StoredStep) -> World {
        let mut seen = [0.0; 24];
        env.reset(Some(step.seed), &mut seen);
        let action = conformance::read_action(&SPEC, &step.action);
        for _ in 0..stored::N_TIMES {
            env.is_over = false;
            step.begin(&mut env.world);
            env.step(action.borrow(), &mut seen);
        }
        env.world
    }
    let plain = |step: &_| run(BipedalWalker::new(Config::default()), step);
    assert_eq!(stored::check(include_str!("steps.txt"), plain), [14, 18]);
    let hardcore = |step: &_| run(BipedalWalker::hardcore(Config::default()), step);
    assert_eq!(stored::check(include_str!("hardcore_steps.txt"), hardcore), [11, 13]);
}

#[test]
fn an_episode_is_its_seed_and_actions() {
    let play = |env: &mut BipedalWalker| {
        let mut seen = [0.0; 24];
        env.reset(Some(3), &mut seen);
        for time in 0..40 {
            let numbers = [0, 1, 2, 3].map(|joint| ((time * 7 + joint * 5) % 9) as f32 / 4.0 - 1.0);
            if env.step(EnvAction::Continuous(&numbers), &mut seen).is_end() {
                break;
            }
        }
        seen.map(f32::to_bits)
    };
    let mut used = BipedalWalker::hardcore(Config::default());
    for seed in 0..5 {
        used.reset(Some(seed), &mut [0.0; 24]);
    }
    assert_eq!(play(&mut used), play(&mut BipedalWalker::hardcore(Config::default())));
}

#[test]
#[should_panic(expected = "reset first")]
fn a_step_needs_a_reset() {
    make().step(EnvAction::Continuous(&[0.0; 4]), &mut [0.0; 24]);
}

#[test]
fn the_view_follows_the_walker() {
    let mut env = make();
    env.reset(Some(0), &mut [0.0; 24]);
    let [left, bottom, right, top] = env.scene().view;
    assert!((left + 4.0 - 4.667).abs() < 0.01 && (right - left - 13.0).abs() < 1e-4);
    assert!((1.2..1.4).contains(&bottom) && top > bottom + 8.0);
}

#[test]
fn playthrough() {
    insta::assert_snapshot!(conformance::playthrough_env(&make, 7));
}

#[test]
fn playthrough_hardcore() {
    insta::assert_snapshot!(conformance::playthrough_env(&make_hardcore, 7));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn conforms(seed: u64) {
        conformance::check_env(SPEC.id, &json!({}), seed);
        conformance::check_env(HARDCORE_SPEC.id, &json!({}), seed);
    }
}
