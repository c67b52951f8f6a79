//! Signed lines from the lab to a trainer.
//!
//! The key of a line is derived from the lab's key, the run and the attempt, and its signature
//! covers the signature of the line before. So a line from another run, from another attempt, out
//! of order, repeated or changed is recognised, and the supervisor does not deliver it. Nor does it
//! deliver a line that has waited too long, by its own clock that never jumps.
//!
//! The last line that was delivered is also kept in `control.head`. So whoever changes or removes lines
//! that were obeyed cannot keep the next from being so, and what is missing at the end is missed.

use std::time::Duration;

use cartridge_store::data_dir::write_beside;
use cartridge_store::jsonl::{self, Appender};
use cartridge_store::{Command, ControlLine, RunDir, RunId};

use crate::error::Result;
use crate::secret;

/// Seconds after which a line that could not be delivered is too old.
pub const EXPIRES_S: f64 = 60.0;

/// Appends a signed line to a run's `control.jsonl` and makes it durable.
pub fn issue(
    dir: &RunDir,
    lab_key: &str,
    run: &RunId,
    attempt: u32,
    command: Command,
    by: &str,
    t: f64,
) -> Result<ControlLine> {
    let path = dir.control_path();
    // Opening locks the file, so that two writers cannot both take the next number.
    let mut appender = Appender::open_in_turn(&path)?;
    // The new line follows the last good one: the supervisor passes bad ones over as well, unless
    // they were good when it read them.
    let mut verifier = Verifier::new(lab_key, run, attempt);
    if let Some(head) = head(dir, lab_key, run).filter(|head| head.attempt == attempt) {
        verifier.follow(&head);
    }
    for line in jsonl::read_lines(&path, 0, None)? {
        if let Ok(line) = serde_json::from_slice(&line.bytes) {
            _ = verifier.verify(&line);
        }
    }
    let mut line = ControlLine {
        seq: verifier.last_seq + 1,
        run: run.clone(),
        attempt,
        t,
        by: by.to_owned(),
        command,
        expires_s: Some(EXPIRES_S),
        previous: verifier.last_signature,
        signature: String::new(),
    };
    line.signature = secret::sign(&verifier.key, &signed_part(&line));
    appender.append(&line)?;
    appender.sync()?;
    Ok(line)
}

/// Notes the last line that was delivered to a run.
pub(crate) fn note_head(dir: &RunDir, line: &[u8]) {
    if let Err(error) = write_beside(&dir.control_head_path(), line) {
        // It is obeyed all the same.
        tracing::warn!("cannot note the last control line: {error}");
    }
}

/// The last line that was delivered to a run, if it is as it was written.
pub(crate) fn head(dir: &RunDir, lab_key: &str, run: &RunId) -> Option<ControlLine> {
    let bytes = std::fs::read(dir.control_head_path()).ok()?;
    let line: ControlLine = serde_json::from_slice(&bytes).ok()?;
    let key = key(lab_key, run, line.attempt);
    (line.run == *run && is_signed(&key, &line)).then_some(line)
}

/// Checks the control lines of one attempt, in the order in which they are read.
#[derive(Clone, Debug)]
pub struct Verifier {
    run: RunId,
    attempt: u32,
    key: Vec<u8>,
    last_seq: u64,
    last_signature: String,
}

impl Verifier {
    /// A verifier for the lines meant for `attempt` of `run`.
    pub fn new(lab_key: &str, run: &RunId, attempt: u32) -> Self {
        Self {
            run: run.clone(),
            attempt,
            key: key(lab_key, run, attempt),
            last_seq: 0,
            last_signature: String::new(),
        }
    }

    /// The attempt whose lines it accepts.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The number of the last line that it has accepted.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Whether a line claims to be of an older attempt, or one that was accepted already.
    pub(crate) fn is_past(&self, line: &ControlLine) -> bool {
        (line.attempt, line.seq) <= (self.attempt, self.last_seq)
    }

    /// Takes a line for the last that was accepted.
    fn follow(&mut self, line: &ControlLine) {
        self.last_seq = line.seq;
        self.last_signature.clone_from(&line.signature);
    }

    /// Accepts the line, or says why it must not be delivered.
    pub fn verify(&mut self, line: &ControlLine) -> Result<(), String> {
        if line.run != self.run {
            return Err(format!("it is meant for run {}", line.run));
        }
        if line.attempt != self.attempt {
            return Err(format!("it is meant for attempt {}", line.attempt));
        }
        if line.seq != self.last_seq + 1 {
            return Err(format!("it has number {} where {} is due", line.seq, self.last_seq + 1));
        }
        if line.previous != self.last_signature {
            return Err("it does not follow the line before it".to_owned());
        }
        if !is_signed(&self.key, line) {
            return Err("its signature is wrong".to_owned());
        }
        self.follow(line);
        Ok(())
    }
}

/// Says why a good line is too old to be delivered, if it is. `age` is the longest that it can have
/// waited: the time since the file was last read without it.
pub fn check_age(line: &ControlLine, age: Duration) -> Result<(), String> {
    match line.expires_s {
        Some(seconds) if age.as_secs_f64() > seconds => Err(format!(
            "it expired: it may be {:.0} s old and was good for {seconds} s",
            age.as_secs_f64()
        )),
        _ => Ok(()),
    }
}

fn key(lab_key: &str, run: &RunId, attempt: u32) -> Vec<u8> {
    secret::sign(lab_key.as_bytes(), format!("control/{run}/{attempt}").as_bytes()).into_bytes()
}

fn is_signed(key: &[u8], line: &ControlLine) -> bool {
    secret::verifies(key, &signed_part(line), &line.signature)
}

/// The bytes that the signature covers: the whole line but for the signature itself.
fn signed_part(line: &ControlLine) -> Vec<u8> {
    let unsigned = ControlLine { signature: String::new(), ..line.clone() };
    serde_json::to_vec(&unsigned).expect("a control line is plain data")
}

#[cfg(test)]
mod tests;
