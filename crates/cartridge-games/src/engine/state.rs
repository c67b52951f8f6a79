//! A state as bytes: who made it, what it says, and whether it came through whole.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | `CTRG` |
//! | 2 | [`VERSION`] of this table; these six bytes stay where they are in every version |
//! | 1 | length of the cartridge's id |
//! | 0 to 255 | the id |
//! | 4 | version of the cartridge |
//! | 8 | digest of its options |
//! | any | payload: a position, or an episode |
//! | 8 | digest of everything before |
//!
//! The digest finds accidents. It is no signature: whoever wants to can make a state, and what
//! is read behind it is checked as if nobody had.

use serde_json::{Map, Value};

use super::EngineError;
use crate::seeds::mix;

/// Raised when the table above changes.
pub const VERSION: u16 = 1;

const MAGIC: [u8; 4] = *b"CTRG";
const DIGEST_BYTES: usize = 8;

/// Writes and reads the states of one cartridge.
#[derive(Debug)]
pub(super) struct Seal {
    id: &'static str,
    version: u32,
    options: u64,
    max_payload_bytes: usize,
}

impl Seal {
    pub(super) fn new(
        id: &'static str,
        version: u32,
        options: &Map<String, Value>,
        max_payload_bytes: usize,
    ) -> Self {
        Self { id, version, options: digest(canonical(options).as_bytes()), max_payload_bytes }
    }

    /// The longest state that there can be.
    pub(super) fn max_bytes(&self) -> usize {
        MAGIC.len() + 2 + 1 + self.id.len() + 4 + 8 + self.max_payload_bytes + DIGEST_BYTES
    }

    /// The state that says `payload`.
    pub(super) fn seal(&self, payload: &[u8]) -> Vec<u8> {
        let mut state =
            Vec::with_capacity(self.max_bytes() - self.max_payload_bytes + payload.len());
        state.extend(MAGIC);
        state.extend(VERSION.to_le_bytes());
        state.push(self.id.len() as u8);
        state.extend(self.id.as_bytes());
        state.extend(self.version.to_le_bytes());
        state.extend(self.options.to_le_bytes());
        state.extend(payload);
        state.extend(digest(&state).to_le_bytes());
        state
    }

    /// What `state` says, if it was made by this version of this cartridge with these options.
    pub(super) fn open<'a>(&self, state: &'a [u8]) -> Result<&'a [u8], EngineError> {
        let wrong = |reason: &str| EngineError::NotAState {
            n_bytes: state.len(),
            reason: reason.to_owned(),
        };
        let short = || wrong("it is too short");
        let (magic, rest) = state.split_first_chunk().ok_or_else(short)?;
        if *magic != MAGIC {
            return Err(wrong("it does not begin with `CTRG`"));
        }
        let found = u16::from_le_bytes(*rest.first_chunk().ok_or_else(short)?);
        if found != VERSION {
            return Err(EngineError::OtherEncoding { found });
        }
        // The largest of any cartridge is smaller by far; no time is spent on what cannot be one.
        if state.len() > self.max_bytes().max(MAX_FOREIGN_BYTES) {
            return Err(wrong("it is too long"));
        }
        let (before, sum) = state.split_last_chunk().ok_or_else(short)?;
        if u64::from_le_bytes(*sum) != digest(before) {
            return Err(EngineError::Damaged);
        }
        let rest = before.get(MAGIC.len() + 2..).ok_or_else(short)?;
        let (&[n_id], rest) = rest.split_first_chunk().ok_or_else(short)?;
        let (id, rest) = rest.split_at_checked(usize::from(n_id)).ok_or_else(short)?;
        if id != self.id.as_bytes() {
            return Err(EngineError::OtherCartridge {
                found: String::from_utf8_lossy(id).into_owned(),
                expected: self.id,
            });
        }
        let (version, rest) = rest.split_first_chunk().ok_or_else(short)?;
        let found = u32::from_le_bytes(*version);
        if found != self.version {
            return Err(EngineError::OtherVersion { id: self.id, found, expected: self.version });
        }
        let (options, payload) = rest.split_first_chunk().ok_or_else(short)?;
        if u64::from_le_bytes(*options) != self.options {
            return Err(EngineError::OtherOptions { id: self.id });
        }
        if payload.len() > self.max_payload_bytes {
            return Err(wrong("it is too long"));
        }
        Ok(payload)
    }
}

/// Up to this length a state is read far enough to say from which cartridge it is.
const MAX_FOREIGN_BYTES: usize = 1 << 20;

/// Makes the checksum of a changed state right again, so that tests reach what is behind it.
pub fn reseal(state: &mut [u8]) {
    if let Some((before, sum)) = state.split_last_chunk_mut() {
        *sum = digest(before).to_le_bytes();
    }
}

/// Scatters bytes over 64 bits. Any change within eight bytes changes it for certain.
fn digest(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let hash = words
        .iter()
        .fold(mix(bytes.len() as u64), |hash, word| mix(hash ^ u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(hash ^ u64::from_le_bytes(last))
}

/// Options as text, in the order of their names.
fn canonical(options: &Map<String, Value>) -> String {
    let mut named: Vec<String> =
        options.iter().map(|(name, value)| format!("{name:?}:{value}")).collect();
    named.sort_unstable();
    named.join(",")
}
