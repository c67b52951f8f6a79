//! Steps of foreign episodes as bytes.
//!
//! A block holds stretches of steps, each of one episode; steps of many episodes that are played
//! side by side share a block. Before the compressed text stands a list of the stretches. A step
//! is a line of JSON: `[action, reward, terminated + 2 * truncated, obs, t]`, the last two only
//! where they are known. JSON has no NaN: a reward that is not finite is its name.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StepRecord;
use super::bytes::{Source, put, put_bytes};

/// The most that a block of steps may unpack to; a line of a trainer has at most 8 MiB.
pub(super) const MAX_RAW_BYTES: usize = 64 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Reward {
    Finite(f64),
    Other(String),
}

/// Appends a step as a line.
pub(super) fn put_line(out: &mut Vec<u8>, step: &StepRecord) {
    let reward = if step.reward.is_finite() {
        Reward::Finite(step.reward)
    } else {
        Reward::Other(step.reward.to_string())
    };
    let flags = u8::from(step.terminated) + 2 * u8::from(step.truncated);
    // `obs` in brackets, so that `null` is something that was seen.
    let obs = step.obs.as_ref().map(|obs| [obs]);
    let written = match (obs, step.t) {
        (None, None) => serde_json::to_writer(&mut *out, &(&step.action, reward, flags)),
        (obs, t) => serde_json::to_writer(&mut *out, &(&step.action, reward, flags, obs, t)),
    };
    written.expect("a step is plain data");
    out.push(b'\n');
}

/// Reads a line that [`put_line`] wrote.
fn read_line(line: &[u8]) -> Option<StepRecord> {
    type Long = (Value, Reward, u8, Option<[Value; 1]>, Option<f64>);
    let (action, reward, flags, obs, t) = match serde_json::from_slice::<Long>(line) {
        Ok(long) => long,
        Err(_) => {
            let (action, reward, flags) = serde_json::from_slice(line).ok()?;
            (action, reward, flags, None, None)
        }
    };
    let reward = match reward {
        Reward::Finite(reward) => reward,
        Reward::Other(name) => name.parse().ok()?,
    };
    Some(StepRecord {
        action,
        reward,
        terminated: flags & 1 != 0,
        truncated: flags & 2 != 0,
        obs: obs.map(|[obs]| obs),
        t,
    })
}

/// A stretch of steps of one episode.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stretch {
    /// Tells apart episodes of the same name.
    pub(super) serial: u64,
    pub(super) foreign_id: String,
    /// Steps of the episode before it.
    pub(super) first: u64,
    pub(super) n: u32,
    /// Bytes of its lines.
    pub(super) n_bytes: u32,
}

/// What a block of steps holds: the list, then the compressed lines of all stretches.
pub(super) fn encode(stretches: &[Stretch], lines: &[u8]) -> Vec<u8> {
    let mut list = Vec::new();
    for stretch in stretches {
        put(&mut list, stretch.serial);
        put_bytes(&mut list, stretch.foreign_id.as_bytes());
        put(&mut list, stretch.first);
        put(&mut list, u64::from(stretch.n));
        put(&mut list, u64::from(stretch.n_bytes));
    }
    let mut out = Vec::with_capacity(list.len() + lines.len() / 4);
    put_bytes(&mut out, &list);
    out.extend_from_slice(&lz4_flex::block::compress(lines));
    out
}

/// The stretches of a block, and its compressed lines; nothing where they make no sense.
pub(super) fn decode(block: &[u8], n: u32) -> Option<(Vec<Stretch>, &[u8])> {
    let mut source = Source(block);
    let mut list = Source(source.bytes()?);
    let mut stretches = Vec::new();
    for _ in 0..n {
        stretches.push(Stretch {
            serial: list.number()?,
            foreign_id: String::from_utf8(list.bytes()?.to_vec()).ok()?,
            first: list.number()?,
            n: list.small()?,
            n_bytes: list.small()?,
        });
    }
    list.0.is_empty().then_some((stretches, source.0))
}

/// The steps `from..to` of stretch `index` of a block.
pub(super) fn read(
    block: &[u8],
    n: u32,
    n_raw_bytes: u32,
    index: usize,
    from: usize,
    to: usize,
) -> Option<Vec<StepRecord>> {
    let (stretches, compressed) = decode(block, n)?;
    let n_raw = n_raw_bytes as usize;
    if n_raw > MAX_RAW_BYTES {
        return None;
    }
    let text = lz4_flex::block::decompress(compressed, n_raw).ok()?;
    let start: usize = stretches.get(..index)?.iter().map(|it| it.n_bytes as usize).sum();
    let end = start.checked_add(stretches.get(index)?.n_bytes as usize)?;
    let lines = text.get(start..end)?.split(|byte| *byte == b'\n');
    let wanted = lines.skip(from).take(to - from);
    let steps: Vec<StepRecord> = wanted.map(read_line).collect::<Option<_>>()?;
    (steps.len() == to - from).then_some(steps)
}

/// Where a stretch of an episode is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) segment: u32,
    pub(super) offset: u64,
    /// Which stretch of the block.
    pub(super) index: u32,
    pub(super) n: u32,
}

/// Where all steps of an episode are, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Places {
    pub(super) serial: u64,
    pub(super) places: Vec<Place>,
}

impl Places {
    pub(super) fn n_steps(&self) -> u64 {
        self.places.iter().map(|place| u64::from(place.n)).sum()
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, self.serial);
        put(&mut out, self.places.len() as u64);
        for place in &self.places {
            put(&mut out, u64::from(place.segment));
            put(&mut out, place.offset);
            put(&mut out, u64::from(place.index));
            put(&mut out, u64::from(place.n));
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut source = Source(bytes);
        let serial = source.number()?;
        let n = source.size()?;
        let mut places = Vec::new();
        for _ in 0..n {
            places.push(Place {
                segment: source.small()?,
                offset: source.number()?,
                index: source.small()?,
                n: source.small()?,
            });
        }
        source.0.is_empty().then_some(Self { serial, places })
    }
}
