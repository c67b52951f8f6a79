//! Replays what Gymnasium was recorded to do. `tests/gymnasium/record.py` records it, and writes
//! the form of a recording at its top.

use serde_json::{Map, Value};

use super::blank;
use crate::env::{AnyAction, Env, EnvSpec, Step};
use crate::game::Action;
use crate::registry::make_env;

/// Whether sine, cosine and tangent of doubles are those that Gymnasium was recorded with. The
/// physics are the same everywhere; the environments around them use the platform's.
const IS_EXACT: bool = cfg!(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"));
/// Elsewhere so many steps of an episode are compared, because small differences grow.
const N_CLOSE: usize = 40;
/// And they may differ by so much.
const TOLERANCE: f32 = 1e-3;

/// Replays a recording of the environment `id`, and returns the number of steps that it has.
///
/// # Panics
///
/// At the first observation, reward or end that differs, or where the recording cannot be read;
/// where doubles are rounded otherwise, at the first of the early observations of a seeded episode
/// that is not close.
#[track_caller]
pub fn replay_recording(id: &str, recording: &str) -> usize {
    replay(id, recording, if IS_EXACT { replay_exactly } else { replay_closely })
}

#[track_caller]
fn replay(id: &str, recording: &str, replay_episode: fn(&mut dyn Env, &Episode<'_>)) -> usize {
    let lines = recording.lines().filter(|line| !line.starts_with("# ") && !line.is_empty());
    let (mut lines, mut env, mut n_steps) = (lines.peekable(), None, 0);
    while let Some(line) = lines.next() {
        if let Some(options) = line.strip_prefix("options ") {
            let options: Map<String, Value> =
                serde_json::from_str(options).expect("options are an object");
            env = Some(make_env(id, &options).expect("an environment and its options"));
            continue;
        }
        let (seed, ends) = read_title(line);
        let start = lines.next().expect("a first observation");
        let is_step = |line: &&str| !line.starts_with("seed ") && !line.starts_with("options ");
        let steps = std::iter::from_fn(|| lines.next_if(is_step)).collect();
        let episode = Episode { title: line, seed, ends, start, steps };
        replay_episode(&mut **env.as_mut().expect("options come first"), &episode);
        n_steps += episode.steps.len();
    }
    n_steps
}

/// An episode as it was recorded.
struct Episode<'a> {
    title: &'a str,
    seed: Option<u64>,
    /// Whether it is terminated, and truncated, at its end.
    ends: [bool; 2],
    start: &'a str,
    steps: Vec<&'a str>,
}

fn read_title(line: &str) -> (Option<u64>, [bool; 2]) {
    let words: Vec<&str> = line.split(' ').collect();
    let ["seed", seed, ends @ ..] = &words[..] else { panic!("no title: {line}") };
    let seed = match *seed {
        "none" => None,
        number => Some(number.parse().unwrap_or_else(|_| panic!("no seed: {line}"))),
    };
    let is_known = |end: &&str| ["terminated", "truncated"].contains(end);
    assert!(!ends.is_empty() && ends.iter().all(is_known), "no end: {line}");
    (seed, ["terminated", "truncated"].map(|end| ends.contains(&end)))
}

#[track_caller]
fn replay_exactly(env: &mut dyn Env, episode: &Episode<'_>) {
    let Episode { title, ends, ref steps, .. } = *episode;
    let id = env.spec().id;
    let mut seen = blank(env.spec());
    env.reset(episode.seed, &mut seen);
    assert!(is_equal(&seen, episode.start), "{id}, {title}, reset: {seen:?}");
    for (index, line) in steps.iter().enumerate() {
        let (step, reward, expected) = act(env, line, &mut seen);
        let place = format!("{id}, {title}, step {index}: {line}, not {step:?} {seen:?}");
        assert!(is_equal(&seen, expected), "{place}");
        assert_eq!(format!("{:016x}", step.reward.to_bits()), reward, "{place}");
        let expected = ends.map(|end| end && index + 1 == steps.len());
        assert_eq!([step.terminated, step.truncated], expected, "{place}");
    }
}

/// Replays the beginning of an episode. Without a seed it is left out: how often the generator was
/// asked depends on when the episode before ended.
#[track_caller]
fn replay_closely(env: &mut dyn Env, episode: &Episode<'_>) {
    let mut seen = blank(env.spec());
    env.reset(episode.seed, &mut seen);
    if episode.seed.is_none() {
        return;
    }
    let Episode { title, ref steps, .. } = *episode;
    let id = env.spec().id;
    assert!(is_close(&seen, episode.start), "{id}, {title}, reset: {seen:?}");
    for (index, line) in steps.iter().take(N_CLOSE).enumerate() {
        let (step, _, expected) = act(env, line, &mut seen);
        assert!(is_close(&seen, expected), "{id}, {title}, step {index}: {line}, not {seen:?}");
        if step.is_end() {
            break;
        }
    }
}

/// Takes the action of a line; returns what came, and what the line expects as reward and
/// observation.
fn act<'a>(env: &mut dyn Env, line: &'a str, seen: &mut [f32]) -> (Step, &'a str, &'a str) {
    let (action, rest) = line.split_once(' ').expect("an action");
    let (reward, expected) = rest.split_once(' ').expect("a reward");
    (env.step(read_action(env.spec(), action).borrow(), seen), reward, expected)
}

/// The action that a word of a recording says.
pub(crate) fn read_action(spec: &EnvSpec, word: &str) -> AnyAction {
    if spec.actions.is_discrete() {
        return AnyAction::Discrete(Action(word.parse().expect("the number of an action")));
    }
    AnyAction::Continuous(word.split(',').map(|number| float(&format!("{number:0<8}"))).collect())
}

fn is_equal(seen: &[f32], expected: &str) -> bool {
    match expected.strip_prefix('#') {
        Some(crc) => format!("{:08x}", crc32(seen)) == crc,
        None => expected.split(' ').eq(seen.iter().map(|x| format!("{:08x}", x.to_bits()))),
    }
}

/// Whether an observation given in full is nearly what is seen.
fn is_close(seen: &[f32], expected: &str) -> bool {
    let is_near = |(expected, &seen): (f32, &f32)| (expected - seen).abs() < TOLERANCE;
    expected.starts_with('#') || expected.split(' ').map(float).zip(seen).all(is_near)
}

fn float(word: &str) -> f32 {
    f32::from_bits(u32::from_str_radix(word, 16).expect("the bits of a number"))
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

#[cfg(test)]
mod tests;
