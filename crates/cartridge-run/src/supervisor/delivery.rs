//! Control lines, verified and handed to the trainer.

use std::io::Write as _;
use std::process::ChildStdin;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Instant;

use cartridge_store::jsonl;
use cartridge_store::{Command as ControlCommand, ControlLine, DataDir, RunDir, RunId};

use super::CHECKPOINT_PATIENCE;
use crate::control::{Verifier, check_age, note_head};
use crate::error::Result;
use crate::foreign::{Ingest, OWN_SEQ, Refusal};
use crate::protocol::control_for_trainer;
use crate::secret;

/// A change of a setting that waits for the checkpoint before it.
struct WaitingTune {
    control: ControlLine,
    since: Instant,
}

/// Hands verified control lines to the trainer.
pub(super) struct Delivery {
    verifier: Verifier,
    attempt: u32,
    /// How far `control.jsonl` has been read.
    end: u64,
    n_lines: u64,
    /// Where the file ended when this attempt began: what is before it and was meant for an older
    /// attempt is history.
    history_end: u64,
    last_look: Instant,
    /// Takes what is written to the trainer, which may be slow to read.
    stdin: Sender<Vec<u8>>,
    /// Settings to be changed once a checkpoint is saved, in order.
    waiting: Vec<WaitingTune>,
    /// When a stop was handed over.
    pub(super) stopped_at: Option<Instant>,
    /// When it was asked to end at once.
    pub(super) terminated_at: Option<Instant>,
}

impl Delivery {
    pub(super) fn new(data: &DataDir, id: &RunId, attempt: u32, stdin: ChildStdin) -> Result<Self> {
        let path = data.run(id).control_path();
        Ok(Self {
            verifier: Verifier::new(&secret::control_key(data)?, id, attempt),
            attempt,
            end: 0,
            n_lines: 0,
            history_end: std::fs::metadata(&path).map_or(0, |file| file.len()),
            last_look: Instant::now(),
            stdin: write_lines(stdin),
            waiting: Vec::new(),
            stopped_at: None,
            terminated_at: None,
        })
    }

    /// Delivers what is new and returns what was refused: its place in the file, and why.
    pub(super) fn deliver(
        &mut self,
        dir: &RunDir,
        ingest: Option<&Ingest>,
        now: Instant,
    ) -> Result<Vec<(u64, String)>> {
        // A line that is new now may have been there since just after the last look.
        let age = now.saturating_duration_since(self.last_look);
        self.last_look = now;
        let (mut refused, mut is_broken) = (Vec::new(), false);
        let path = dir.control_path();
        let is_cut = std::fs::metadata(&path).map_or(0, |file| file.len()) < self.end;
        if is_cut {
            refused.push((self.n_lines, "lines that were read are gone from the file".to_owned()));
            self.end = 0;
            self.n_lines = 0;
        }
        for line in jsonl::read_lines(&path, self.end, None)? {
            self.end = line.end;
            self.n_lines += 1;
            let control = serde_json::from_slice::<ControlLine>(&line.bytes);
            is_broken |= control.is_err();
            let is_history = |control: &ControlLine| {
                control.attempt < self.attempt && line.end <= self.history_end
                    || is_cut && self.verifier.is_past(control)
            };
            if control.as_ref().is_ok_and(is_history) {
                continue;
            }
            let verdict = control
                .map_err(|error| format!("it cannot be read: {error}"))
                .and_then(|control| self.accept(&control, &line.bytes, dir).map(|()| control))
                .and_then(|control| check_age(&control, age).map(|()| control));
            match verdict {
                Ok(control) => self.obey(control, &line.bytes, ingest, now),
                Err(reason) => refused.push((self.n_lines, reason)),
            }
        }
        if is_broken {
            // Whoever has changed a line before it may have moved one that is due across the place
            // from which it was read.
            for line in jsonl::read_lines(&path, 0, None)? {
                let control = serde_json::from_slice::<ControlLine>(&line.bytes);
                if let Ok(control) = control
                    && self.accept(&control, &line.bytes, dir).is_ok()
                    && check_age(&control, age).is_ok()
                {
                    self.obey(control, &line.bytes, ingest, now);
                }
            }
        }
        Ok(refused)
    }

    /// Takes a line for the one that is due, or says why it is not.
    fn accept(&mut self, control: &ControlLine, line: &[u8], dir: &RunDir) -> Result<(), String> {
        self.verifier.verify(control)?;
        note_head(dir, line);
        Ok(())
    }

    /// Does what a good line asks.
    fn obey(&mut self, control: ControlLine, line: &[u8], ingest: Option<&Ingest>, now: Instant) {
        match control.command {
            ControlCommand::Stop => _ = self.stopped_at.get_or_insert(now),
            ControlCommand::Terminate => _ = self.terminated_at.get_or_insert(now),
            _ => {}
        }
        match ingest {
            Some(ingest) => self.hand_over(ingest, control, now),
            None => self.write([line, b"\n"].concat()),
        }
    }

    /// Hands a control line to a foreign trainer. Before a change of its settings it is asked for a
    /// checkpoint, if it offers that, as a native trainer saves one by itself.
    fn hand_over(&mut self, ingest: &Ingest, control: ControlLine, now: Instant) {
        let is_tune = matches!(control.command, ControlCommand::Tune { .. });
        if is_tune && ingest.offers("checkpoint") {
            self.send(ingest, OWN_SEQ + control.seq, ControlCommand::Checkpoint, &control.by);
            self.waiting.push(WaitingTune { control, since: now });
        } else {
            self.send(ingest, control.seq, control.command, &control.by);
        }
    }

    fn send(&mut self, ingest: &Ingest, seq: u64, command: ControlCommand, by: &str) {
        let value = serde_json::to_value(&command).expect("a command is plain data");
        ingest.delivered(seq, command, by.to_owned());
        self.write(control_for_trainer(seq, &value, by).into_bytes());
    }

    /// Changes settings whose checkpoint is saved, and returns those that will not be changed.
    pub(super) fn go_on_with_tunes(&mut self, ingest: &Ingest, now: Instant) -> Vec<Refusal> {
        let mut refused = Vec::new();
        for WaitingTune { control, since } in std::mem::take(&mut self.waiting) {
            let reason = match ingest.answer(OWN_SEQ + control.seq) {
                Some(Ok(())) => {
                    self.send(ingest, control.seq, control.command, &control.by);
                    continue;
                }
                Some(Err(why)) => format!("the checkpoint before it was refused: {why}"),
                None if now.saturating_duration_since(since) > CHECKPOINT_PATIENCE => {
                    format!("no checkpoint was saved within {CHECKPOINT_PATIENCE:?}")
                }
                None => {
                    self.waiting.push(WaitingTune { control, since });
                    continue;
                }
            };
            refused.push(Refusal { seq: control.seq, command: control.command, reason });
        }
        refused
    }

    /// The trainer has ended: changes that wait for its checkpoint will not be made.
    pub(super) fn give_up(&mut self) -> Vec<Refusal> {
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let refused = waiting.map(|WaitingTune { control, .. }| {
            let reason = "the trainer ended before it had saved a checkpoint".to_owned();
            Refusal { seq: control.seq, command: control.command, reason }
        });
        refused.collect()
    }

    /// Writes to the trainer; one that has just ended reads no more, and its exit comes next.
    pub(super) fn write(&self, line: Vec<u8>) {
        _ = self.stdin.send(line);
    }

    /// Asks the trainer to stop because of a limit, by a control line without a number.
    pub(super) fn stop_by_limit(&mut self, line: Vec<u8>) {
        self.write(line);
        _ = self.stopped_at.get_or_insert_with(Instant::now);
    }
}

/// Writes to the trainer's standard input in a thread of its own: a trainer that does not read
/// must not keep its supervisor from beating.
fn write_lines(mut stdin: ChildStdin) -> Sender<Vec<u8>> {
    let (sender, lines) = mpsc::channel::<Vec<u8>>();
    thread::spawn(move || {
        for line in lines {
            if stdin.write_all(&line).is_err() {
                return;
            }
        }
    });
    sender
}
