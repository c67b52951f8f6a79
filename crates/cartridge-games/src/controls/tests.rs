use super::*;
use crate::{cart_pole, mountain_car, pendulum};

#[track_caller]
fn check(spec: &crate::EnvSpec, held: &[usize], last: Option<AnyAction>, expected: AnyAction) {
    let controls = spec.controls.unwrap();
    assert_eq!(controls.action(&spec.actions, held, last.as_ref()), expected);
}

fn discrete(index: usize) -> AnyAction {
    AnyAction::Discrete(Action(index))
}

fn continuous(numbers: &[f32]) -> AnyAction {
    AnyAction::Continuous(numbers.to_vec())
}

#[test]
fn the_key_pressed_last_counts() {
    check(&cart_pole::SPEC, &[0], None, discrete(0));
    check(&cart_pole::SPEC, &[0, 1], None, discrete(1));
    check(&cart_pole::SPEC, &[1, 0], None, discrete(0));
}

#[test]
fn without_a_key_the_idle_action_is_taken() {
    check(&mountain_car::SPEC, &[], Some(discrete(2)), discrete(1));
    check(&pendulum::SPEC, &[], Some(continuous(&[2.0])), continuous(&[0.0]));
}

#[test]
fn without_an_idle_action_the_last_one_goes_on() {
    check(&cart_pole::SPEC, &[], Some(discrete(1)), discrete(1));
    check(&cart_pole::SPEC, &[], Some(discrete(0)), discrete(0));
    check(&cart_pole::SPEC, &[], None, discrete(0));
}

#[test]
fn values_add_up_within_bounds() {
    check(&pendulum::SPEC, &[0], None, continuous(&[2.0]));
    check(&pendulum::SPEC, &[0, 1], None, continuous(&[0.0]));
    check(&pendulum::SPEC, &[0, 0], None, continuous(&[2.0]));
}

#[test]
fn numbers_that_are_no_controls_do_nothing() {
    check(&mountain_car::SPEC, &[99], None, discrete(1));
}
