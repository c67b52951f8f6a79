//! Single steps from stored states, compared with what Box2D made of them.
//!
//! Whole episodes are compared to the bit elsewhere; a difference there says that something is
//! wrong, and here, what: a step from a stored state depends on no step before. What Box2D keeps
//! beside the states, the impulses with which its iterations begin, is not stored. Here a step is
//! made several times, each with the impulses of the last, and the end is met within a tolerance.

use super::World;
use super::math::vec2;

/// A step that was recorded.
pub(crate) struct StoredStep {
    pub(crate) seed: u64,
    /// Number of the step in its episode, from 0.
    pub(crate) number: usize,
    is_free: bool,
    pub(crate) action: String,
    before: Vec<State>,
    after: Vec<State>,
}

/// x, y, angle, the velocity of the centre in x and y, and the angular velocity of a body.
pub(super) type State = [f32; 6];

/// How often a step has to be made until its impulses are those of the step.
pub(crate) const N_TIMES: usize = 7;

/// How far the end of a step may be from the stored one.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// m, or radians.
    place: f32,
    /// m/s, or rad/s.
    speed: f32,
}

/// In free flight.
const FREE: Gap = Gap { place: 5e-5, speed: 2e-3 };
/// On the ground, of three steps in four.
const TOUCHING: Gap = Gap { place: 1e-5, speed: 5e-4 };
/// On the ground, of all: where a step of Box2D ended before its impulses had settled.
const UNSETTLED: Gap = Gap { place: 5e-3, speed: 0.25 };

/// Makes every step of a file, which explains its form at its top. `run` begins a step in a world
/// [`N_TIMES`] times and returns the world. Returns how many steps are free and how many touch.
#[track_caller]
pub(crate) fn check(text: &str, mut run: impl FnMut(&StoredStep) -> World) -> [usize; 2] {
    let (mut n_free, mut n_touching, mut n_settled) = (0, 0, 0);
    for step in read(text) {
        let gap = step.gap(&run(&step));
        let limit = if step.is_free { FREE } else { UNSETTLED };
        let place = format!("seed {}, step {}", step.seed, step.number);
        assert!(gap.is_within(limit), "{place}: {gap:?} is not within {limit:?}");
        if step.is_free {
            n_free += 1;
        } else {
            n_touching += 1;
            n_settled += usize::from(gap.is_within(TOUCHING));
        }
    }
    assert!(4 * n_settled >= 3 * n_touching, "only {n_settled} of {n_touching} are near");
    [n_free, n_touching]
}

fn read(text: &str) -> Vec<StoredStep> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let (mut steps, mut seed) = (Vec::new(), None);
    while let Some(line) = lines.next() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["seed", word] => seed = Some(word.parse().unwrap()),
            ["step", number, contact @ ("free" | "touching"), action] => steps.push(StoredStep {
                seed: seed.expect("a seed comes first"),
                number: number.parse().unwrap(),
                is_free: contact == "free",
                action: action.to_owned(),
                before: read_states(lines.next().unwrap()),
                after: read_states(lines.next().unwrap()),
            }),
            _ => panic!("neither seed nor step: {line}"),
        }
    }
    steps
}

fn read_states(line: &str) -> Vec<State> {
    let bits = line.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap());
    let numbers: Vec<f32> = bits.map(f32::from_bits).collect();
    numbers.chunks(6).map(|state| state.try_into().unwrap()).collect()
}

impl StoredStep {
    /// Puts the bodies of a world where the step began.
    pub(crate) fn begin(&self, world: &mut World) {
        assert_eq!(self.before.len(), world.bodies.len(), "one state per body");
        for (number, state) in self.before.iter().enumerate() {
            let &[x, y, angle, velocity_x, velocity_y, spin] = state;
            world.bodies[number].put(vec2(x, y), angle, vec2(velocity_x, velocity_y), spin);
            world.moved.push(number);
        }
    }

    /// How far a world, which has made the step, is from where it ended.
    fn gap(&self, world: &World) -> Gap {
        let mut gap = Gap { place: 0.0, speed: 0.0 };
        for (body, after) in world.bodies.iter().zip(&self.after) {
            let away = |(x, y): (f32, &f32)| (x - y).abs();
            let away: Vec<f32> = body.stored_state().into_iter().zip(after).map(away).collect();
            gap.place = away[..3].iter().copied().fold(gap.place, f32::max);
            gap.speed = away[3..].iter().copied().fold(gap.speed, f32::max);
        }
        gap
    }
}

impl Gap {
    fn is_within(self, limit: Self) -> bool {
        self.place <= limit.place && self.speed <= limit.speed
    }
}
