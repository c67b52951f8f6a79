//! Replays what Gymnasium was recorded to do; the files explain their form at their top.
//!
//! They are recorded by `golden/record.py`.

use serde_json::{Map, Value};

use crate::env::{Env, EnvAction};
use crate::game::Action;
use crate::registry::make_env;

/// Whether sine, cosine and tangent of doubles are those that Gymnasium was recorded with. The
/// physics are the same everywhere; the environments around them use the platform's.
const IS_EXACT: bool = cfg!(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"));
/// Elsewhere so many steps of an episode are compared, because small differences grow.
const N_CLOSE: usize = 40;

/// Replays a recording of the environment `id`, and returns the number of steps compared.
///
/// # Panics
///
/// At the first observation, reward or end that differs; where doubles are rounded otherwise, at
/// the first of the early observations that is not close.
#[track_caller]
pub(crate) fn replay(id: &str, recording: &str) -> usize {
    let lines = recording.lines().filter(|line| !line.starts_with("# ") && !line.is_empty());
    let (mut lines, mut env, mut n_steps) = (lines.peekable(), None, 0);
    while let Some(line) = lines.next() {
        if let Some(options) = line.strip_prefix("options ") {
            let options: Map<String, Value> = serde_json::from_str(options).unwrap();
            env = Some(make_env(id, &options).unwrap());
            continue;
        }
        let title: Vec<&str> = line.split(' ').collect();
        let ["seed", seed, end, _] = title[..] else { panic!("no title: {line}") };
        let env: &mut Box<dyn Env> = env.as_mut().expect("options come first");
        let mut seen = vec![f32::NAN; env.spec().observation];
        env.reset(seed.parse().ok(), &mut seen);
        let first = lines.next().expect("a first observation");
        let is_same = if IS_EXACT { is_equal(&seen, first) } else { is_close(&seen, first) };
        assert!(is_same, "{id}, seed {seed}, reset: {seen:?}");
        let is_step = |line: &&str| !line.starts_with("seed") && !line.starts_with("options");
        for index in 0.. {
            let Some(line) = lines.next_if(is_step) else { break };
            let (action, rest) = line.split_once(' ').expect("an action");
            let (reward, expected) = rest.split_once(' ').expect("a reward");
            let step = act(&mut **env, action, &mut seen);
            n_steps += 1;
            if !IS_EXACT {
                assert!(index > N_CLOSE || is_close(&seen, expected), "{id}, seed {seed}, {index}");
                if step.is_end() {
                    while lines.next_if(is_step).is_some() {
                        n_steps += 1;
                    }
                    break;
                }
                continue;
            }
            let place = format!("{id}, seed {seed}, step {index}: {step:?} {seen:?}");
            assert!(is_equal(&seen, expected), "{place}");
            assert_eq!(format!("{:016x}", step.reward.to_bits()), reward, "{place}");
            let is_last = lines.peek().is_none_or(|line| !is_step(line));
            assert_eq!(step.terminated, is_last && end == "terminated", "{place}");
            assert_eq!(step.truncated, is_last && end == "truncated", "{place}");
        }
    }
    n_steps
}

fn act(env: &mut dyn Env, action: &str, seen: &mut [f32]) -> crate::env::Step {
    if env.spec().actions.is_discrete() {
        return env.step(EnvAction::Discrete(Action(action.parse().unwrap())), seen);
    }
    let numbers: Vec<f32> =
        action.bytes().map(|letter| (f32::from(letter) - f32::from(b'I')) / 8.0).collect();
    env.step(EnvAction::Continuous(&numbers), seen)
}

fn is_equal(seen: &[f32], expected: &str) -> bool {
    match expected.strip_prefix('#') {
        Some(crc) => format!("{:08x}", crc32(seen)) == crc,
        None => expected.split(' ').eq(seen.iter().map(|x| format!("{:08x}", x.to_bits()))),
    }
}

/// Whether an observation given in full is nearly what is seen.
fn is_close(seen: &[f32], expected: &str) -> bool {
    let bits = |word: &str| u32::from_str_radix(word, 16).ok().map(f32::from_bits);
    expected.starts_with('#')
        || expected
            .split(' ')
            .map(bits)
            .zip(seen)
            .all(|(expected, seen)| expected.is_some_and(|expected| (expected - seen).abs() < 1e-3))
}

fn crc32(observation: &[f32]) -> u32 {
    let mut crc = u32::MAX;
    for byte in observation.iter().flat_map(|x| x.to_le_bytes()) {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}
