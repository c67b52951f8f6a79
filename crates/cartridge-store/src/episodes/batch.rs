//! Episodes as bytes: all heads of a block, then all bodies.
//!
//! A head is a byte of flags, a byte that says how the body is written (its lowest two bits a
//! [`Form`], the others the bits of an action), and numbers as differences from the head before.

use super::bytes::{Source, put, put_bytes, put_signed};
use super::{EpisodeBody, EpisodeHead, steps};

const TERMINATED: u8 = 1;
const TRUNCATED: u8 = 1 << 1;
const HAS_SEED: u8 = 1 << 2;
/// The reward is a whole number and written as one.
const WHOLE_REWARD: u8 = 1 << 3;
/// The newest checkpoint is another than for the head before.
const OTHER_CHECKPOINT: u8 = 1 << 4;
/// It ended at another time than the head before.
const OTHER_TIME: u8 = 1 << 5;
const HAS_FOREIGN_ID: u8 = 1 << 6;

/// The most actions that are read of one episode.
const MAX_ACTIONS: u64 = 1 << 30;

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Packed actions, as many as the episode has steps.
    Whole,
    /// As many numbers per step.
    Continuous,
    /// Where the steps are.
    Steps,
    /// Packed actions, more or fewer than the episode has steps.
    Part,
}

impl Form {
    fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::Whole,
            1 => Self::Continuous,
            2 => Self::Steps,
            _ => Self::Part,
        }
    }
}

/// A body that is ready to be written.
#[derive(Debug)]
pub(super) struct Packed {
    form: Form,
    /// Bits of an action.
    n_bits: u8,
    /// Actions where [`Form::Part`], or numbers per step.
    n: u64,
    pub(super) bytes: Vec<u8>,
}

impl Packed {
    /// The actions of an episode of `length` steps.
    pub(super) fn discrete(length: u32, actions: &[u32]) -> Self {
        let largest = actions.iter().copied().max().unwrap_or(0);
        let n_bits = 32 - largest.leading_zeros();
        let mut bytes = Vec::with_capacity((actions.len() * n_bits as usize).div_ceil(8));
        let (mut word, mut n_in_word) = (0_u64, 0);
        for &action in actions {
            word |= u64::from(action) << n_in_word;
            n_in_word += n_bits;
            while n_in_word >= 8 {
                bytes.push(word as u8);
                word >>= 8;
                n_in_word -= 8;
            }
        }
        if n_in_word > 0 {
            bytes.push(word as u8);
        }
        let form = if actions.len() as u64 == u64::from(length) { Form::Whole } else { Form::Part };
        Self { form, n_bits: n_bits as u8, n: actions.len() as u64, bytes }
    }

    pub(super) fn continuous(width: u32, actions: &[f32]) -> Self {
        let bytes = actions.iter().flat_map(|number| number.to_le_bytes()).collect();
        Self { form: Form::Continuous, n_bits: 0, n: u64::from(width), bytes }
    }

    pub(super) fn steps(places: &steps::Places) -> Self {
        Self { form: Form::Steps, n_bits: 0, n: 0, bytes: places.encode() }
    }
}

/// What the next head is written as a difference from.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    episode: u64,
    step: u64,
    t: u64,
    checkpoint_step: Option<u64>,
}

/// What a block of episodes holds.
pub(super) fn encode(episodes: &[(EpisodeHead, Packed)]) -> Vec<u8> {
    let mut heads = Vec::new();
    let mut before = Before::default();
    for (head, body) in episodes {
        put_head(&mut heads, &mut before, head, body);
    }
    let mut out = Vec::with_capacity(heads.len() + 8);
    put_bytes(&mut out, &heads);
    for (_, body) in episodes {
        out.extend_from_slice(&body.bytes);
    }
    out
}

fn put_head(out: &mut Vec<u8>, before: &mut Before, head: &EpisodeHead, body: &Packed) {
    let whole = head.reward as i64;
    // Bit by bit, so that -0.0 and NaN stay what they are.
    let is_whole = (whole as f64).to_bits() == head.reward.to_bits() && whole.abs() < 1 << 40;
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    out.push(
        flag(head.terminated, TERMINATED)
            | flag(head.truncated, TRUNCATED)
            | flag(head.seed.is_some(), HAS_SEED)
            | flag(is_whole, WHOLE_REWARD)
            | flag(head.checkpoint_step != before.checkpoint_step, OTHER_CHECKPOINT)
            | flag(head.t.to_bits() != before.t, OTHER_TIME)
            | flag(head.foreign_id.is_some(), HAS_FOREIGN_ID),
    );
    out.push(body.form as u8 | body.n_bits << 2);
    put_signed(out, head.episode.wrapping_sub(before.episode) as i64);
    put_signed(out, head.step.wrapping_sub(before.step) as i64);
    put(out, u64::from(head.lane));
    put(out, u64::from(head.length));
    if let Some(seed) = head.seed {
        put(out, seed);
    }
    if is_whole {
        put_signed(out, whole);
    } else {
        out.extend_from_slice(&head.reward.to_le_bytes());
    }
    if head.checkpoint_step != before.checkpoint_step {
        out.push(u8::from(head.checkpoint_step.is_some()));
        put(out, head.checkpoint_step.unwrap_or(0));
    }
    if head.t.to_bits() != before.t {
        out.extend_from_slice(&head.t.to_le_bytes());
    }
    if let Some(id) = &head.foreign_id {
        put_bytes(out, id.as_bytes());
    }
    match body.form {
        Form::Whole => {}
        Form::Part => put(out, body.n),
        Form::Continuous => {
            put(out, body.n);
            put(out, body.bytes.len() as u64);
        }
        Form::Steps => put(out, body.bytes.len() as u64),
    }
    *before = Before {
        episode: head.episode,
        step: head.step,
        t: head.t.to_bits(),
        checkpoint_step: head.checkpoint_step,
    };
}

/// A body as it lies in a block.
#[derive(Debug)]
pub(super) struct Place {
    form: Form,
    n_bits: u8,
    n: u64,
    start: usize,
    n_bytes: usize,
}

/// A body, or where its steps are.
#[derive(Debug)]
pub(super) enum Body {
    Actions(EpisodeBody),
    Steps(steps::Places),
}

/// Reads the `n` heads of a block and where their bodies are; nothing where they make no sense.
pub(super) fn decode(block: &[u8], attempt: u32, n: u32) -> Option<Vec<(EpisodeHead, Place)>> {
    let mut all = Source(block);
    let mut heads = Source(all.bytes()?);
    let mut start = block.len() - all.0.len();
    let mut before = Before::default();
    let mut episodes = Vec::with_capacity((n as usize).min(heads.0.len()));
    for _ in 0..n {
        let (head, mut place) = take_head(&mut heads, &mut before, attempt)?;
        place.start = start;
        start = start.checked_add(place.n_bytes).filter(|end| *end <= block.len())?;
        episodes.push((head, place));
    }
    (heads.0.is_empty() && start == block.len()).then_some(episodes)
}

fn take_head(
    source: &mut Source<'_>,
    before: &mut Before,
    attempt: u32,
) -> Option<(EpisodeHead, Place)> {
    let flags = source.byte()?;
    let form = source.byte()?;
    let (form, n_bits) = (Form::from_bits(form), form >> 2);
    let episode = before.episode.wrapping_add(source.signed()? as u64);
    let step = before.step.wrapping_add(source.signed()? as u64);
    let (lane, length) = (source.small()?, source.small()?);
    let seed = if flags & HAS_SEED != 0 { Some(source.number()?) } else { None };
    let reward = if flags & WHOLE_REWARD != 0 {
        source.signed()? as f64
    } else {
        f64::from_le_bytes(source.array()?)
    };
    if flags & OTHER_CHECKPOINT != 0 {
        let is_some = source.byte()? != 0;
        let step = source.number()?;
        before.checkpoint_step = is_some.then_some(step);
    }
    if flags & OTHER_TIME != 0 {
        before.t = u64::from_le_bytes(source.array()?);
    }
    let foreign_id = if flags & HAS_FOREIGN_ID != 0 {
        Some(String::from_utf8(source.bytes()?.to_vec()).ok()?)
    } else {
        None
    };
    let packed = |n: u64| Some(n.checked_mul(u64::from(n_bits))?.div_ceil(8) as usize);
    let (n, n_bytes) = match form {
        Form::Whole => (u64::from(length), packed(u64::from(length))?),
        Form::Part => {
            let n = source.number()?;
            (n, packed(n)?)
        }
        Form::Continuous => (source.number()?, source.size()?),
        Form::Steps => (0, source.size()?),
    };
    before.episode = episode;
    before.step = step;
    let head = EpisodeHead {
        episode,
        attempt,
        lane,
        seed,
        reward,
        length,
        step,
        terminated: flags & TERMINATED != 0,
        truncated: flags & TRUNCATED != 0,
        checkpoint_step: before.checkpoint_step,
        t: f64::from_bits(before.t),
        foreign_id,
    };
    Some((head, Place { form, n_bits, n, start: 0, n_bytes }))
}

impl Place {
    /// The body, from the block that it lies in; nothing where it makes no sense.
    pub(super) fn body(&self, block: &[u8]) -> Option<Body> {
        let bytes = block.get(self.start..self.start.checked_add(self.n_bytes)?)?;
        Some(match self.form {
            Form::Whole | Form::Part => {
                Body::Actions(EpisodeBody::Discrete(unpack(bytes, self.n, self.n_bits)?))
            }
            Form::Continuous => {
                let (numbers, []) = bytes.as_chunks::<4>() else { return None };
                let actions = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
                let width = self.n.try_into().ok()?;
                Body::Actions(EpisodeBody::Continuous { width, actions })
            }
            Form::Steps => Body::Steps(steps::Places::decode(bytes)?),
        })
    }
}

fn unpack(bytes: &[u8], n: u64, n_bits: u8) -> Option<Vec<u32>> {
    // Where an action has no bits, only the head says how many there are.
    if n_bits > 32 || n > MAX_ACTIONS {
        return None;
    }
    let n = n as usize;
    let mut actions = Vec::with_capacity(n);
    let mut bytes = bytes.iter();
    let (mut word, mut n_in_word) = (0_u64, 0);
    let mask = (1_u64 << n_bits) - 1;
    for _ in 0..n {
        while n_in_word < n_bits {
            word |= u64::from(*bytes.next()?) << n_in_word;
            n_in_word += 8;
        }
        actions.push((word & mask) as u32);
        word >>= n_bits;
        n_in_word -= n_bits;
    }
    Some(actions)
}
