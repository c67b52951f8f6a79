//! The detached process that starts, watches and ends one trainer.
//!
//! It owns `supervisor.jsonl` and `log.txt`, and for foreign trainers all files: a heartbeat with a resource sample every
//! [`HEARTBEAT`], what the trainer prints, and its exit. It verifies the lines of `control.jsonl`
//! and hands the good ones to the trainer's standard input; a trainer that does not obey in time
//! is ended with everything that it started. The exit is recorded last, after the
//! trainer's output has been drained, so whoever reads the exit has everything before it.

mod delivery;
mod log;
mod usage;

use std::ffi::OsString;
use std::io::{BufRead as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cartridge_store::jsonl::{self, Appender};
use cartridge_store::{
    Command as ControlCommand, ControlLine, DataDir, DoneReason, Event, EventLine, Limits,
    Manifest, RunDir, RunId, RunKind, StoreError, SupervisorEvent, SupervisorLine, WandbPage,
};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;

use self::delivery::Delivery;
use self::log::{MAX_LOG_BYTES, copy_lines};
use self::usage::{Sample, Usage};
use crate::audit::{self, Deed, Entry};
use crate::clock::unix_now;
use crate::descendants::{self, Descendants};
use crate::discovery::{self, Subject};
use crate::error::{Result, RunError};
use crate::foreign::checkpoints::History;
use crate::foreign::{Ingest, Refusal, Socket};
use crate::gpu::Nvml;
use crate::janitor;
use crate::lab::held;
use crate::leftover::{end_leftovers, kill_leftovers};
use crate::priority;
use crate::protocol::control_for_trainer;
use crate::steer::By;
use crate::track::{Told, Tracker};

pub(crate) use self::log::{Log, last_lines};
pub(crate) use self::usage::read_usage;

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

/// Room between a foreign trainer and us.
const PIPE_BYTES: usize = 1024 * 1024;

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
        .env_remove(WANDB_KEY)
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

/// Where the key is with which W&B is read and told.
pub(crate) const WANDB_KEY: &str = "WANDB_API_KEY";

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
        self.delivery.write(line.into_bytes());
        self.told.push(message);
    }

    /// What was asked of a trainer that has ended and was not answered is not done.
    fn refuse_the_rest(&mut self) {
        let Some(ingest) = self.ingest else { return };
        for refusal in ingest.take_refusals() {
            self.record_refusal("trainer", &refusal);
        }
        let mut undone = self.delivery.give_up();
        undone.extend(ingest.take_unanswered());
        for refusal in undone {
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
    priority::stand_back();
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

#[cfg(test)]
mod tests;
