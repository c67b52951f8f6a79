//! The detached process that starts, watches and ends one trainer.
//!
//! It owns `supervisor.jsonl` and `log.txt`, and for foreign trainers all files: a heartbeat with a resource sample every
//! [`HEARTBEAT`], what the trainer prints, and its exit. It verifies the lines of `control.jsonl`
//! and hands the good ones to the trainer's standard input; a trainer that does not obey in time
//! is ended with everything that it started. The exit is recorded last, after the
//! trainer's output has been drained, so whoever reads the exit has everything before it.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cartridge_store::jsonl::{self, Appender};
use cartridge_store::{
    Command as ControlCommand, ControlLine, DataDir, DoneReason, Event, EventLine, Failure,
    GpuSample, Limits, Manifest, RunDir, RunId, RunKind, StoreError, SupervisorEvent,
    SupervisorLine, WandbPage,
};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;

use crate::audit::{self, Deed, Entry};
use crate::clock::unix_now;
use crate::control::{Verifier, check_age, note_head};
use crate::descendants::{self, Descendants};
use crate::discovery::{self, Subject};
use crate::error::{Result, RunError};
use crate::foreign::checkpoints::History;
use crate::foreign::{Ingest, OWN_SEQ, Refusal, Socket};
use crate::gpu::Nvml;
use crate::janitor;
use crate::lab::held;
use crate::leftover::{end_leftovers, kill_leftovers};
use crate::protocol::control_for_trainer;
use crate::secret;
use crate::steer::By;
use crate::track::{Told, Tracker};

/// Time between two signs of life.
pub const HEARTBEAT: Duration = Duration::from_secs(5);

/// A supervisor that has been silent for two heartbeats is lost; less the time that it takes to look.
pub(crate) const LOST_AFTER: Duration = HEARTBEAT.saturating_mul(2).saturating_sub(LOOK);

/// Lost runs are looked for several times a second, on a busy machine a little later.
const LOOK: Duration = Duration::from_millis(500);

/// How often new control lines are looked for.
const CONTROL_POLL: Duration = Duration::from_millis(100);

/// How long output is awaited after the trainer has ended: a process that it left behind may
/// hold its output open for ever.
const DRAIN: Duration = Duration::from_secs(2);

/// How long it may take to end after SIGTERM, before SIGKILL.
const TERM_GRACE: Duration = Duration::from_secs(3);

/// Bytes that are hashed when the trainer has ended: a second's worth.
const HASHED_AT_EXIT: u64 = 256 * 1024 * 1024;

/// How long the exit is tried to be recorded when the disk refuses it, and how often.
const EXIT_PATIENCE: Duration = Duration::from_millis(1_800);
const EXIT_RETRY: Duration = Duration::from_millis(150);

/// Refused control lines of an attempt that the event log and the audit name.
const MAX_REFUSALS_TOLD: u64 = 1_000;

/// How long a trainer may take to save the checkpoint that comes before a change of its settings:
/// it obeys between two updates, and an update may be long.
const CHECKPOINT_PATIENCE: Duration = Duration::from_secs(120);

/// How long a foreign trainer may take to answer before it is said that it did not: it obeys
/// between two updates, and an update may be long.
const ANSWER_PATIENCE: Duration = CHECKPOINT_PATIENCE;

/// How long a journal that somebody else holds is tried for.
const OPEN_PATIENCE: Duration = Duration::from_millis(500);

/// Longest line of output; of a longer one the rest is left out, or follows as lines of its own.
const MAX_LOG_LINE: usize = 64 * 1024;

/// Longest of the lines that explain a failure, in characters.
const MAX_LAST_LINE: usize = 2_000;

/// The last lines of a run's log, as they explain why it failed.
pub(crate) fn last_lines(dir: &RunDir) -> Vec<String> {
    // It is an explanation: where it cannot be read, the failure stands without.
    let (lines, _) = jsonl::tail_text(&dir.log_path(), Failure::LOG_LINES).unwrap_or_default();
    lines.into_iter().map(|line| line.chars().take(MAX_LAST_LINE).collect()).collect()
}

/// How large `log.txt` and `log.1.txt` may become together.
const MAX_LOG_BYTES: u64 = 64 * 1024 * 1024;

/// Output is handed to the system in pieces of this size, or after a moment.
const LOG_BATCH: usize = 64 * 1024;

/// Room between a foreign trainer and us.
const PIPE_BYTES: usize = 1024 * 1024;

/// How far below other programs a foreign trainer stands, so that the machine stays usable.
const NICENESS: i32 = 5;

/// Supervises `attempt` of a run until its trainer has ended. A trainer that is asked to stop has
/// `stop_grace` to save and end. Of several that are started at once for the same attempt, one
/// does it and the others do nothing.
pub fn supervise(
    data: &DataDir,
    id: &RunId,
    attempt: u32,
    program: &Path,
    stop_grace: Duration,
) -> Result<()> {
    let dir = data.run(id);
    let manifest = dir.manifest()?;
    let mut journal = Journal::open(&dir)?;
    if journal.attempt != attempt {
        return Ok(());
    }
    end_leftovers(&dir, id, attempt);
    // Whatever the trainer starts stays below this process, also what leaves its group.
    descendants::adopt();
    let stop_grace = manifest.limits.stop_grace_s.map_or(stop_grace, Duration::from_secs_f64);
    let log = Arc::new(Mutex::new(Log::open(&dir, MAX_LOG_BYTES)?));
    let is_foreign = manifest.kind == RunKind::External;

    let ingest =
        if is_foreign { Some(Ingest::open(&dir, attempt, Arc::clone(&log))?) } else { None };
    let (mut socket, listener) =
        match is_foreign.then(|| Socket::listen(&dir, attempt)).transpose()? {
            Some((socket, listener)) => (Some(socket), Some(listener)),
            None => (None, None),
        };
    let mut command = match &socket {
        Some(socket) => foreign_trainer(program, &dir, &manifest, attempt, socket.path())?,
        None => native_trainer(program, data, id, attempt),
    };
    // The trainer dies with the thread that starts it, so this must be the one that stays.
    let started = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A group of its own, so that it can be ended with everything that it started.
        .process_group(0)
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(source) => {
            let error = cannot_start(&command, &manifest, source);
            journal.write_patiently(&SupervisorEvent::Exited {
                code: None,
                signal: None,
                forced: false,
                log: vec![error.to_string()],
                reason: None,
                lines: None,
            })?;
            return Err(error);
        }
    };
    let pid = child.id();
    journal
        .write(SupervisorEvent::Started { supervisor_pid: std::process::id(), trainer_pid: pid })?;

    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (stdout, stderr) = (stdout.expect("it is piped"), stderr.expect("it is piped"));
    let mut readers = Vec::new();
    let mut guard = None;
    if let (Some(ingest), Some(socket), Some(listener)) = (&ingest, &mut socket, listener) {
        // More room than usual, so that neither side waits for the other's turn.
        _ = rustix::pipe::fcntl_setpipe_size(&stdout, PIPE_BYTES);
        guard = Guard::start(program, pid, data, id, attempt);
        readers.push(ingest.read_protocol(stdout));
        readers.push(ingest.read_log(stderr));
        socket.serve(listener, ingest.reader());
    } else {
        readers.push(copy_lines(stdout, Arc::clone(&log)));
        readers.push(copy_lines(stderr, Arc::clone(&log)));
    }
    // The guard is no process of the trainer.
    let own = [Some(pid), guard.as_ref().map(|guard| guard.child.id())];
    let descendants = Descendants::new(own.into_iter().flatten().collect());
    let stdin = child.stdin.take().expect("it is piped");
    let delivery = Delivery::new(data, id, attempt, stdin)?;
    let mut watch = Watch {
        data,
        id,
        dir: &dir,
        journal: &mut journal,
        delivery,
        force: Force::new(pid, stop_grace, descendants),
        ingest: ingest.as_ref(),
        log: &log,
        manifest: &manifest,
        attempt,
        started: Instant::now(),
        reason: None,
        n_refused: 0,
        told: Vec::new(),
        tracker: if is_foreign { None } else { Tracker::start(data, &manifest) },
        page: None,
    };
    let status = watch.until_exit(child)?;
    let forced = watch.force.finish();
    if let Some(socket) = socket {
        readers.append(&mut socket.close());
    }
    drain(&readers);
    watch.tell_wandb_the_rest(status);
    watch.refuse_the_rest();
    let Watch { force, delivery, reason, told, .. } = watch;
    tell_what_is_left(&dir, attempt, &told);
    if is_foreign {
        // Whatever it left behind has nobody to speak to any more.
        force.end_all();
    }
    let mut lines = None;
    if let Some(ingest) = ingest {
        let asked = [delivery.stopped_at, delivery.terminated_at];
        let was_asked = asked.iter().any(Option::is_some);
        let done = if was_asked { DoneReason::Stopped } else { DoneReason::Completed };
        let ended = ingest.finish(status.success().then_some(done));
        if let Some(trouble) = ended.trouble {
            held(&log).add(format!("not everything could be written: {trouble}").as_bytes());
        }
        lines = Some(ended.lines);
    }
    let last_lines = {
        let mut log = held(&log);
        log.flush();
        log.last_lines.iter().cloned().collect()
    };
    // What it has made is named before its exit is recorded. Failing to is no reason to lose the
    // exit, and what is large is left to the lab, which would take a long silence for a loss.
    let subject = Subject::ended(&manifest, attempt, unix_now());
    _ = discovery::look(&dir, &subject, unix_now(), HASHED_AT_EXIT);
    if let Some(run) = manifest.evaluates() {
        _ = janitor::keep_newest_films(data, &run);
    }
    let exited = journal.write_patiently(&SupervisorEvent::Exited {
        code: status.code(),
        signal: status.signal(),
        forced,
        log: last_lines,
        reason,
        lines,
    });
    if let Some(guard) = guard {
        guard.dismiss();
    }
    exited
}

/// Writes the warnings that a native trainer was given and ended before it could log them.
fn tell_what_is_left(dir: &RunDir, attempt: u32, told: &[String]) {
    let logged = |message: &String| {
        let lines = jsonl::last_lines(&dir.events_path(), 4 * 1024 * 1024);
        lines.is_ok_and(|(lines, _)| {
            lines.iter().any(|line| {
                serde_json::from_slice::<EventLine>(&line.bytes)
                    .is_ok_and(|line| line.attempt == attempt && line.event.message() == *message)
            })
        })
    };
    let left: Vec<&String> = told.iter().filter(|message| !logged(message)).collect();
    if left.is_empty() {
        return;
    }
    // They are in the journal and in the audit in any case.
    let Ok(mut events) = Appender::open_in_turn(dir.events_path()) else { return };
    for message in left {
        let event = Event::Warning { message: message.clone() };
        _ = events.append(&EventLine { attempt, t: unix_now(), event });
    }
    _ = events.sync();
}

/// Why a trainer was not started. The system says the same of a folder that is missing as of a
/// program.
fn cannot_start(command: &Command, manifest: &Manifest, source: std::io::Error) -> RunError {
    let folder = manifest.cwd.as_ref().filter(|folder| !folder.is_dir());
    let Some(folder) = folder else {
        return RunError::Spawn {
            program: command.get_program().to_string_lossy().into_owned(),
            source,
        };
    };
    let program = manifest.command.iter().flatten().next().cloned().unwrap_or_default();
    let detail = format!("there is no folder {} to start it in", folder.display());
    RunError::Spawn { program, source: std::io::Error::new(source.kind(), detail) }
}

/// What our own trainer is told.
pub(crate) fn worker_arguments(data: &DataDir, run: &str, attempt: u32) -> [OsString; 7] {
    let attempt = attempt.to_string();
    [
        "worker".into(),
        "--data".into(),
        data.path().into(),
        "--run".into(),
        run.into(),
        "--attempt".into(),
        attempt.into(),
    ]
}

fn native_trainer(program: &Path, data: &DataDir, id: &RunId, attempt: u32) -> Command {
    let mut command = Command::new(program);
    command
        .args(worker_arguments(data, id.as_str(), attempt))
        // It has no use for what only this process needs.
        .env_remove("WANDB_API_KEY")
        // By these it is known again, should this process die before it.
        .env("CARTRIDGE_RUN_ID", id.as_str())
        .env("CARTRIDGE_RUN_DIR", data.run(id).path())
        .env("CARTRIDGE_ATTEMPT", attempt.to_string());
    command
}

/// The command that starts a foreign trainer: by way of our own program, which sees to it that
/// the trainer dies with this process.
fn foreign_trainer(
    program: &Path,
    dir: &RunDir,
    manifest: &Manifest,
    attempt: u32,
    socket: &Path,
) -> Result<Command> {
    let mut command = Command::new(program);
    command.arg("start-trainer").arg("--supervisor").arg(std::process::id().to_string()).arg("--");
    command.args(manifest.command.iter().flatten());
    if let Some(cwd) = &manifest.cwd {
        command.current_dir(cwd);
    }
    // What its maker had, whoever starts it.
    command.envs(&manifest.environment);
    scrub_secrets(&mut command);
    for (name, value) in trainer_environment(dir, manifest, attempt, socket) {
        command.env(name, value);
    }
    for (name, value) in what_to_go_on_from(dir, manifest, attempt)? {
        match value {
            Some(value) => command.env(name, value),
            // A run that is started by the trainer of another has nothing to do with that one's.
            None => command.env_remove(name),
        };
    }
    Ok(command)
}

/// What a foreign trainer that is started again, or for a fork, goes on from: a checkpoint, and
/// the settings that are not those of its command.
fn what_to_go_on_from(
    dir: &RunDir,
    manifest: &Manifest,
    attempt: u32,
) -> Result<[(&'static str, Option<OsString>); 2]> {
    let history = History::read(dir)?;
    let is_first = attempt == 1 && manifest.parent.is_none();
    let checkpoint = history.resume_from(dir, manifest).filter(|_| !is_first);
    let mut overrides = manifest.config["overrides"].as_object().cloned().unwrap_or_default();
    // What was tuned was acknowledged, so it holds.
    let tuned = history.tuned_until(u64::MAX).into_iter();
    overrides.extend(tuned.map(|(path, value)| (path, value.into())));
    let overrides = (!overrides.is_empty()).then(|| serde_json::Value::Object(overrides));
    Ok([
        ("CARTRIDGE_RESUME_FROM", checkpoint.map(|named| dir.path().join(named.path).into())),
        ("CARTRIDGE_OVERRIDES", overrides.map(|overrides| overrides.to_string().into())),
    ])
}

/// What a foreign trainer is told by its environment.
pub(crate) fn trainer_environment(
    dir: &RunDir,
    manifest: &Manifest,
    attempt: u32,
    socket: &Path,
) -> Vec<(&'static str, OsString)> {
    let mut environment = vec![
        ("CARTRIDGE_RUN_ID", manifest.id.as_str().into()),
        ("CARTRIDGE_RUN_DIR", dir.path().into()),
        ("CARTRIDGE_ATTEMPT", attempt.to_string().into()),
        ("CARTRIDGE_EVENTS", socket.into()),
        ("CARTRIDGE_ENV_ID", manifest.env_id.as_str().into()),
    ];
    if let Some(seed) = manifest.config["seeds"]["seed_base"].as_u64() {
        environment.push(("CARTRIDGE_SEED", seed.to_string().into()));
    }
    environment
}

/// Keeps what opens the lab from a program that is not ours.
pub(crate) fn scrub_secrets(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let is_ours = text.starts_with("CARTRIDGE_");
        if is_ours && ["TOKEN", "KEY", "SECRET", "PASSWORD"].iter().any(|word| text.contains(word))
        {
            command.env_remove(&name);
        }
    }
}

/// What the supervisor does while the trainer lives.
struct Watch<'a> {
    data: &'a DataDir,
    id: &'a RunId,
    dir: &'a RunDir,
    journal: &'a mut Journal,
    delivery: Delivery,
    force: Force,
    ingest: Option<&'a Ingest>,
    log: &'a Mutex<Log>,
    manifest: &'a Manifest,
    attempt: u32,
    started: Instant,
    /// Why the supervisor ends it, unless it was asked to.
    reason: Option<String>,
    /// Control lines that were refused.
    n_refused: u64,
    /// Warnings that a native trainer was given for its event log.
    told: Vec<String>,
    /// Who tells a W&B server of the run, where that is wanted.
    tracker: Option<Tracker>,
    /// Where the run is there.
    page: Option<WandbPage>,
}

impl Watch<'_> {
    /// Beats and delivers until the trainer has ended, and returns how.
    fn until_exit(&mut self, mut child: Child) -> Result<ExitStatus> {
        let pid = child.id();
        let (ended, exit) = mpsc::channel();
        thread::spawn(move || _ = ended.send(child.wait()));
        // Our own trainers use no GPU.
        let nvml = self.ingest.and_then(|_| Nvml::open());
        let mut usage = Usage::new(pid, nvml);
        // The first beat comes early, so that a short run has a sample too.
        let mut next_beat = Instant::now() + HEARTBEAT / 5;
        loop {
            match exit.recv_timeout(CONTROL_POLL) {
                Ok(Ok(status)) => return Ok(status),
                Ok(Err(source)) => return Err(StoreError::io(self.dir.path())(source).into()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    unreachable!("the thread sends before it ends")
                }
            }
            held(self.log).flush();
            for (line, reason) in self.delivery.deliver(self.dir, self.ingest, Instant::now())? {
                self.refuse(line, reason);
            }
            if let Some(ingest) = self.ingest {
                for refusal in self.delivery.go_on_with_tunes(ingest, Instant::now()) {
                    self.tell(format!(
                        "Control line {} is not done: {}",
                        refusal.seq, refusal.reason
                    ));
                    self.record_refusal("supervisor", &refusal);
                }
                for refusal in ingest.take_refusals() {
                    self.record_refusal("trainer", &refusal);
                }
                for refusal in ingest.take_overdue(Instant::now(), ANSWER_PATIENCE) {
                    self.tell(format!(
                        "Control line {} was not answered: {}",
                        refusal.seq, refusal.reason
                    ));
                    self.record_refusal("supervisor", &refusal);
                }
            }
            let news = self.tracker.as_ref().map(Tracker::news);
            news.into_iter().flatten().for_each(|told| self.hear_of_wandb(told));
            self.keep_limits();
            self.force.apply(self.delivery.stopped_at, self.delivery.terminated_at);
            if Instant::now() >= next_beat {
                next_beat += HEARTBEAT;
                self.force.descendants.reap();
                if let Some(ingest) = self.ingest {
                    ingest.is_alive();
                }
                let Sample { cpu_percent, rss_bytes, gpu } = usage.sample();
                let lines = self.ingest.map(Ingest::counts);
                let beat = SupervisorEvent::Heartbeat { cpu_percent, rss_bytes, gpu, lines };
                // A disk that is full for a while costs some beats, and not the training.
                _ = self.journal.write(beat);
            }
        }
    }

    /// Records what is said about the W&B server.
    fn hear_of_wandb(&mut self, told: Told) {
        match told {
            Told::Warning(message) => self.tell(message),
            Told::Page(page) if self.page.as_ref() == Some(&page) => {}
            Told::Page(page) => {
                _ = self.journal.write(SupervisorEvent::Tracked(page.clone()));
                self.page = Some(page);
            }
        }
    }

    /// Lets the W&B server have the rest of a run whose trainer has ended, and beats meanwhile.
    fn tell_wandb_the_rest(&mut self, status: ExitStatus) {
        let Some(tracker) = self.tracker.take() else { return };
        let mut next_beat = Instant::now() + HEARTBEAT;
        tracker.finish(status.code().unwrap_or(1), |told| {
            if let Some(told) = told {
                self.hear_of_wandb(told);
            }
            if Instant::now() >= next_beat {
                next_beat += HEARTBEAT;
                let beat = SupervisorEvent::Heartbeat {
                    cpu_percent: None,
                    rss_bytes: None,
                    gpu: None,
                    lines: None,
                };
                _ = self.journal.write(beat);
            }
        });
    }

    /// Records that a line of `control.jsonl` was not delivered: in the journal, in the event log
    /// and in the audit. As with the beats, a full disk must not end the training.
    fn refuse(&mut self, line: u64, reason: String) {
        self.n_refused += 1;
        // Whoever can write the file can fill it; the journal names every one of them.
        if self.n_refused <= MAX_REFUSALS_TOLD {
            self.tell(format!("Control line {line} was refused: {reason}"));
            let entry = Entry {
                new: json!({ "control_line": line, "reason": reason }),
                ..Entry::new(By::new("supervisor"), Deed::Refuse, self.id)
            };
            _ = audit::record(self.data, entry, unix_now());
        }
        _ = self.journal.write(SupervisorEvent::ControlRefused { line, reason });
    }

    /// Records that what a control line asks will not be done.
    fn record_refusal(&self, who: &str, refusal: &Refusal) {
        let Refusal { seq, command, reason } = refusal;
        let entry = Entry {
            old: json!({ "control": seq, "command": command }),
            new: json!({ "reason": reason }),
            ..Entry::new(By::new(who), Deed::Refuse, self.id)
        };
        _ = audit::record(self.data, entry, unix_now());
    }

    /// Puts a warning into the event log, by way of whoever writes it.
    fn tell(&mut self, message: String) {
        if let Some(ingest) = self.ingest {
            return ingest.warn(message);
        }
        let line = json!({ "warning": message }).to_string() + "\n";
        _ = self.delivery.stdin.send(line.into_bytes());
        self.told.push(message);
    }

    /// What was asked of a trainer that has ended and was not answered is not done.
    fn refuse_the_rest(&mut self) {
        let Some(ingest) = self.ingest else { return };
        for refusal in ingest.take_refusals() {
            self.record_refusal("trainer", &refusal);
        }
        let waiting = std::mem::take(&mut self.delivery.waiting).into_iter().map(|waiting| {
            let reason = "the trainer ended before it had saved a checkpoint".to_owned();
            Refusal { seq: waiting.control.seq, command: waiting.control.command, reason }
        });
        for refusal in waiting.chain(ingest.take_unanswered()).collect::<Vec<_>>() {
            self.tell(format!("Control line {} is not done: {}", refusal.seq, refusal.reason));
            self.record_refusal("supervisor", &refusal);
        }
    }

    /// Asks a trainer to stop that has had its time or its steps.
    fn keep_limits(&mut self) {
        if self.reason.is_some() {
            return;
        }
        let Limits { max_seconds, max_steps, .. } = self.manifest.limits;
        let step = self.ingest.map_or(0, Ingest::step);
        let reason = match (max_seconds, max_steps) {
            (Some(most), _) if self.started.elapsed().as_secs_f64() >= most => {
                format!("The time limit of {most} s is reached")
            }
            (_, Some(most)) if step >= most => {
                format!("The limit of {most} steps is reached, at step {step}")
            }
            _ => return,
        };
        let line = if let Some(ingest) = self.ingest {
            ingest.warn(reason.clone());
            control_for_trainer(0, &"stop".into(), "limit")
        } else {
            // As the lab would ask, without a number: our own worker says what `by` says.
            let stop = ControlLine {
                seq: 0,
                run: self.manifest.id.clone(),
                attempt: self.attempt,
                t: unix_now(),
                by: reason.clone(),
                command: ControlCommand::Stop,
                expires_s: None,
                previous: String::new(),
                signature: String::new(),
            };
            serde_json::to_string(&stop).expect("a record is plain data") + "\n"
        };
        self.delivery.stop_by_limit(line.into_bytes());
        self.reason = Some(reason);
    }
}

/// Ends a trainer that was asked to stop and does not, or that is to end at once: SIGTERM to its
/// group and to whatever of it has left the group, then SIGKILL.
struct Force {
    group: Option<Pid>,
    descendants: Descendants,
    stop_grace: Duration,
    /// When SIGTERM was sent.
    termed_at: Option<Instant>,
    is_killed: bool,
}

impl Force {
    fn new(pid: u32, stop_grace: Duration, descendants: Descendants) -> Self {
        // The trainer leads a group of its own, with the same number.
        let group = i32::try_from(pid).ok().and_then(Pid::from_raw);
        Self { group, descendants, stop_grace, termed_at: None, is_killed: false }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It may have ended in this very moment.
            _ = kill_process_group(group, signal);
            self.descendants.signal_outside(group, signal);
        }
    }

    /// Ends whatever is left of the trainer.
    fn end_all(&self) {
        self.signal(Signal::KILL);
        self.descendants.end();
    }

    fn apply(&mut self, stopped_at: Option<Instant>, terminated_at: Option<Instant>) {
        let due = [terminated_at, stopped_at.map(|asked| asked + self.stop_grace)];
        let Some(due) = due.into_iter().flatten().min() else { return };
        let now = Instant::now();
        match self.termed_at {
            None if now >= due => {
                self.termed_at = Some(now);
                self.signal(Signal::TERM);
            }
            Some(termed_at) if !self.is_killed && now >= termed_at + TERM_GRACE => {
                self.is_killed = true;
                self.signal(Signal::KILL);
            }
            _ => {}
        }
    }

    /// Ends what a trainer that had to be forced leaves behind; says whether it had to be.
    fn finish(&self) -> bool {
        if self.termed_at.is_some() {
            self.end_all();
        }
        self.termed_at.is_some()
    }
}

/// `supervisor.jsonl`, which this process alone writes.
struct Journal {
    appender: Appender,
    attempt: u32,
}

/// Opens the journal. Whoever asks whether a run is supervised holds it for a moment, so being
/// refused once is not yet another supervisor.
fn open_soon(path: &Path) -> Result<Appender> {
    let deadline = Instant::now() + OPEN_PATIENCE;
    loop {
        match Appender::open(path) {
            Err(_) if Instant::now() < deadline => thread::sleep(Duration::from_millis(20)),
            opened => return Ok(opened?),
        }
    }
}

impl Journal {
    fn open(dir: &RunDir) -> Result<Self> {
        let path = dir.supervisor_path();
        let appender = open_soon(&path)?;
        let attempts = jsonl::read_lines(&path, 0, None)?
            .iter()
            .filter_map(|line| serde_json::from_slice::<SupervisorLine>(&line.bytes).ok())
            // One that waits has not begun.
            .filter(|line| line.event != SupervisorEvent::Queued)
            .map(|line| line.attempt)
            .max();
        Ok(Self { appender, attempt: attempts.unwrap_or(0) + 1 })
    }

    fn write(&mut self, event: SupervisorEvent) -> Result<()> {
        self.appender.append(&SupervisorLine { attempt: self.attempt, t: unix_now(), event })?;
        Ok(self.appender.sync()?)
    }

    /// Writes what must not be lost, and waits a while for a disk that is full. If that does not
    /// help, the lab sees that nobody holds the journal any more, and calls the run lost.
    fn write_patiently(&mut self, event: &SupervisorEvent) -> Result<()> {
        let deadline = Instant::now() + EXIT_PATIENCE;
        let line = SupervisorLine { attempt: self.attempt, t: unix_now(), event: event.clone() };
        let mut is_appended = false;
        loop {
            // What is in the file and not yet durable is not written a second time.
            let appended = if is_appended { Ok(()) } else { self.appender.append(&line) };
            is_appended = appended.is_ok();
            match appended.and_then(|()| self.appender.sync()) {
                Err(_) if Instant::now() < deadline => thread::sleep(EXIT_RETRY),
                written => return Ok(written?),
            }
        }
    }
}

/// `log.txt`, and its last lines in memory.
///
/// It does not grow without bound: when it is half as large as allowed, it becomes `log.1.txt`, in
/// the place of the one before, and begins anew. What is dropped thereby is counted and said.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    /// Bytes and lines in the file.
    size: (u64, u64),
    /// Lines in `log.1.txt`.
    n_older: u64,
    max_bytes: u64,
    n_dropped: u64,
    /// What waits to be written.
    pending: Vec<u8>,
    n_pending: u64,
    last_lines: VecDeque<String>,
}

impl Log {
    pub(crate) fn open(dir: &RunDir, max_bytes: u64) -> Result<Self> {
        let path = dir.log_path();
        let file = append_to(&path).map_err(StoreError::io(&path))?;
        let bytes = file.metadata().map_err(StoreError::io(&path))?.len();
        Ok(Self {
            path,
            file,
            size: (bytes, 0),
            n_older: 0,
            max_bytes,
            n_dropped: 0,
            pending: Vec::new(),
            n_pending: 0,
            last_lines: VecDeque::new(),
        })
    }

    /// Lines that are no longer in the log.
    pub(crate) fn n_dropped(&self) -> u64 {
        self.n_dropped
    }

    /// Adds a line; a very long one is kept in part.
    pub(crate) fn add(&mut self, line: &[u8]) {
        let kept = &line[..line.len().min(MAX_LOG_LINE)];
        let text = String::from_utf8_lossy(kept);
        self.push(&text);
        if kept.len() < line.len() {
            self.push(&format!("[{} more bytes]", line.len() - kept.len()));
        }
    }

    /// Adds the beginning of a line that was too long.
    pub(crate) fn add_cut(&mut self, beginning: &[u8], length: u64) {
        self.add(beginning);
        self.push(&format!("[cut: the line had {length} bytes]"));
    }

    fn push(&mut self, text: &str) {
        self.pending.extend_from_slice(text.as_bytes());
        self.pending.push(b'\n');
        self.n_pending += 1;
        if self.last_lines.len() == Failure::LOG_LINES {
            self.last_lines.pop_front();
        }
        self.last_lines.push_back(text.chars().take(MAX_LAST_LINE).collect());
        if self.pending.len() >= LOG_BATCH {
            self.flush();
        }
    }

    /// Hands to the system what has been added.
    pub(crate) fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        if self.size.0 + self.pending.len() as u64 > self.max_bytes / 2 {
            self.turn();
        }
        // The log is a convenience: a disk that is full must not end the training it describes.
        match self.file.write_all(&self.pending) {
            Ok(()) => {
                self.size.0 += self.pending.len() as u64;
                self.size.1 += self.n_pending;
            }
            Err(_) => self.n_dropped += self.n_pending,
        }
        self.pending.clear();
        self.n_pending = 0;
    }

    /// Begins a new file and keeps one older.
    fn turn(&mut self) {
        let older = self.path.with_file_name("log.1.txt");
        let turned = std::fs::rename(&self.path, &older).and_then(|()| append_to(&self.path));
        let Ok(file) = turned else { return };
        self.file = file;
        self.n_dropped += self.n_older;
        self.n_older = self.size.1;
        self.size = (0, 0);
        let said = format!(
            "[the log goes on here; what came before is in log.1.txt, {} lines are dropped]\n",
            self.n_dropped
        );
        if self.file.write_all(said.as_bytes()).is_ok() {
            self.size.0 += said.len() as u64;
        }
    }
}

fn append_to(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

fn copy_lines(output: impl Read + Send + 'static, log: Arc<Mutex<Log>>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut reader = BufReader::new(output);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut reader).take(MAX_LOG_LINE as u64).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => held(&log).add(line.strip_suffix(b"\n").unwrap_or(&line)),
            }
        }
    })
}

/// A process that ends the trainer's group when this one dies without a word: the parent-death
/// signal reaches the trainer itself, and not what the trainer has started.
struct Guard {
    child: Child,
}

impl Guard {
    fn start(program: &Path, group: u32, data: &DataDir, id: &RunId, attempt: u32) -> Option<Self> {
        let child = Command::new(program)
            .arg("guard")
            .arg("--group")
            .arg(group.to_string())
            .arg("--data")
            .arg(data.path())
            .arg("--run")
            .arg(id.as_str())
            .arg("--attempt")
            .arg(attempt.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        child.ok().map(|child| Self { child })
    }

    /// The group has ended, and its number may soon be another's.
    fn dismiss(mut self) {
        if let Some(mut stdin) = self.child.stdin.take() {
            _ = stdin.write_all(b"done\n");
        }
        _ = self.child.wait();
    }
}

/// Waits until the supervisor says that all is done, or is gone; then ends the group, and what of
/// the attempt has left it.
pub fn guard(group: i32, dir: &RunDir, id: &RunId, attempt: u32) {
    let mut word = String::new();
    let said = std::io::stdin().lock().read_line(&mut word);
    if said.is_ok() && word == "done\n" {
        return;
    }
    if let Some(group) = Pid::from_raw(group) {
        _ = kill_process_group(group, Signal::KILL);
    }
    kill_leftovers(dir, id, attempt + 1);
}

/// Becomes the trainer: dies with the supervisor, stands back for other programs, and runs
/// `command`. It returns only when that cannot be started.
pub fn become_trainer(supervisor: i32, command: &[String]) -> RunError {
    // Not being allowed to step back is no reason to give up.
    _ = rustix::process::nice(NICENESS);
    #[cfg(target_os = "linux")]
    {
        _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    }
    let program = command.first().cloned().unwrap_or_default();
    // It may have died before it could be noticed.
    if rustix::process::getppid().map(Pid::as_raw_pid) != Some(supervisor) {
        let source = std::io::Error::other("the supervisor is gone");
        return RunError::Spawn { program, source };
    }
    let source = Command::new(&program).args(command.iter().skip(1)).exec();
    RunError::Spawn { program, source }
}

fn drain(readers: &[JoinHandle<()>]) {
    let deadline = Instant::now() + DRAIN;
    while readers.iter().any(|reader| !reader.is_finished()) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
}

/// A change of a setting that waits for the checkpoint before it.
struct WaitingTune {
    control: ControlLine,
    since: Instant,
}

/// Hands verified control lines to the trainer.
struct Delivery {
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
    stopped_at: Option<Instant>,
    /// When it was asked to end at once.
    terminated_at: Option<Instant>,
}

impl Delivery {
    fn new(data: &DataDir, id: &RunId, attempt: u32, stdin: ChildStdin) -> Result<Self> {
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
    fn deliver(
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
            // A trainer that has just ended reads no more; its exit comes next.
            None => _ = self.stdin.send([line, b"\n"].concat()),
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
        _ = self.stdin.send(control_for_trainer(seq, &value, by).into_bytes());
    }

    /// Changes settings whose checkpoint is saved, and returns those that will not be changed.
    fn go_on_with_tunes(&mut self, ingest: &Ingest, now: Instant) -> Vec<Refusal> {
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

    /// Asks the trainer to stop because of a limit, by a control line without a number.
    fn stop_by_limit(&mut self, line: Vec<u8>) {
        _ = self.stdin.send(line);
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

/// CPU, memory and GPU of a process group, sampled.
struct Usage {
    group: u32,
    nvml: Option<Nvml>,
    last: Option<(Instant, f64)>,
}

/// What a process group uses now.
#[derive(Default)]
struct Sample {
    /// Percent of one core since the last sample.
    cpu_percent: Option<f64>,
    rss_bytes: Option<u64>,
    gpu: Option<GpuSample>,
}

impl Usage {
    fn new(group: u32, nvml: Option<Nvml>) -> Self {
        let mut usage = Self { group, nvml, last: None };
        usage.sample();
        usage
    }

    fn sample(&mut self) -> Sample {
        let now = Instant::now();
        let members = group_usage(self.group);
        if members.is_empty() {
            return Sample::default();
        }
        let cpu_seconds: f64 = members.iter().map(|member| member.cpu_seconds).sum();
        let rss_bytes = members.iter().map(|member| member.rss_bytes).sum();
        let cpu_percent = self.last.map(|(then, before)| {
            // A member that has ended takes its time along unless somebody waited for it.
            100.0 * (cpu_seconds - before).max(0.0) / (now - then).as_secs_f64().max(1e-3)
        });
        self.last = Some((now, cpu_seconds));
        let pids: Vec<u32> = members.iter().map(|member| member.pid).collect();
        let gpu = self.nvml.as_ref().and_then(|nvml| nvml.sample(&pids));
        Sample { cpu_percent, rss_bytes: Some(rss_bytes), gpu }
    }
}

/// What a process uses.
struct ProcessUsage {
    pid: u32,
    group: u32,
    /// CPU seconds so far, with those of children that have ended.
    cpu_seconds: f64,
    rss_bytes: u64,
}

/// What the processes of a group use, where the system tells (Linux).
fn group_usage(group: u32) -> Vec<ProcessUsage> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(process_usage)
        .filter(|usage| usage.group == group)
        .collect()
}

fn process_usage(pid: u32) -> Option<ProcessUsage> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in brackets, which may hold spaces.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |idx: usize| fields.get(idx)?.parse::<u64>().ok();
    let ticks = number(11)? + number(12)? + number(13)? + number(14)?;
    let ticks_per_second = rustix::param::clock_ticks_per_second();
    Some(ProcessUsage {
        pid,
        group: u32::try_from(number(2)?).ok()?,
        cpu_seconds: ticks as f64 / ticks_per_second as f64,
        rss_bytes: number(21)? * rustix::param::page_size() as u64,
    })
}

/// CPU seconds so far and resident bytes of one process, where the system tells (Linux).
pub(crate) fn read_usage(pid: u32) -> Option<(f64, u64)> {
    let usage = process_usage(pid)?;
    Some((usage.cpu_seconds, usage.rss_bytes))
}

#[cfg(test)]
mod tests;
