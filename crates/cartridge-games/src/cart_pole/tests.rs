use proptest::prelude::*;

use super::*;
use crate::conformance;
use crate::game::Action;
use crate::scene::{Paint, Shape};

fn make() -> Box<dyn Env> {
    Box::new(CartPole::new(Config::default()))
}

/// Replays recorded episodes in one environment and returns the number of steps compared and of
/// bits that differ.
fn replay(recording: &str) -> (usize, u32) {
    let mut env = make();
    let (mut n_steps, mut n_differing) = (0, 0);
    let text: Vec<&str> = recording.lines().filter(|line| !line.starts_with('#')).collect();
    for episode in text.split(|line| line.is_empty()).filter(|episode| !episode.is_empty()) {
        let [title, actions, observations @ ..] = episode else { panic!("an episode is cut") };
        let title: Vec<&str> = title.split(' ').collect();
        let ["seed", seed, end] = title[..] else { panic!("no title: {title:?}") };
        let mut seen = [f32::NAN; 4];
        env.reset(seed.parse().ok(), &mut seen);
        n_differing += differing_bits(seen, observations[0]);
        for (index, (action, expected)) in actions.bytes().zip(&observations[1..]).enumerate() {
            let step = env.step(Action(usize::from(action - b'0')).into(), &mut seen);
            n_differing += differing_bits(seen, expected);
            n_steps += 1;
            let is_last = index + 1 == actions.len();
            assert_eq!(step.reward, 1.0);
            assert_eq!(step.terminated, is_last && end == "terminated", "seed {seed}, {index}");
            assert_eq!(step.truncated, is_last && end == "truncated", "seed {seed}, {index}");
        }
        assert_eq!(observations.len(), actions.len() + 1);
    }
    (n_steps, n_differing)
}

fn differing_bits(seen: [f32; 4], expected: &str) -> u32 {
    let expected = expected.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap());
    seen.iter().zip(expected).map(|(x, bits)| (x.to_bits() ^ bits).count_ones()).sum()
}

#[test]
fn equals_gymnasium_bit_for_bit() {
    assert_eq!(replay(include_str!("golden.txt")), (599, 0));
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
        conformance::check_env(&make, seed);
    }
}
