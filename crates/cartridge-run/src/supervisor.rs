//! The detached process that starts, watches and ends one trainer.
//!
//! It owns `supervisor.jsonl` and `log.txt`: a heartbeat with a resource sample every
//! [`HEARTBEAT`], what the trainer prints, and its exit. It verifies the lines of `control.jsonl`
//! and hands the good ones to the trainer's standard input; a trainer that does not obey in time
//! is ended with everything that it started. The exit is recorded last, after the
//! trainer's output has been drained, so whoever reads the exit has everything before it.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cartridge_store::jsonl::{self, Appender};
use cartridge_store::{
    Command as ControlCommand, ControlLine, DataDir, RunDir, RunId, StoreError, SupervisorEvent,
    SupervisorLine,
};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::clock::unix_now;
use crate::control::{Verifier, check_age};
use crate::discovery::{self, Subject};
use crate::error::{Result, RunError};
use crate::secret;

/// Time between two signs of life.
pub const HEARTBEAT: Duration = Duration::from_secs(5);

/// How often new control lines are looked for.
const CONTROL_POLL: Duration = Duration::from_millis(100);

/// Lines of output that explain a failure.
const N_LAST_LINES: usize = 20;

/// How long output is awaited after the trainer has ended: a process that it left behind may
/// hold its output open for ever.
const DRAIN: Duration = Duration::from_secs(2);

/// How long it may take to end after SIGTERM, before SIGKILL.
const TERM_GRACE: Duration = Duration::from_secs(3);

/// Bytes that are hashed when the trainer has ended: a second's worth.
const HASHED_AT_EXIT: u64 = 256 * 1024 * 1024;

/// Longest line of output; a longer one is kept in pieces.
const MAX_LOG_LINE: usize = 64 * 1024;

/// Supervises the next attempt of a run until its trainer has ended. A trainer that is asked to
/// stop has `stop_grace` to save and end.
pub fn supervise(data: &DataDir, id: &RunId, program: &Path, stop_grace: Duration) -> Result<()> {
    let dir = data.run(id);
    let manifest = dir.manifest()?;
    let mut journal = Journal::open(&dir)?;
    let log = Arc::new(Mutex::new(Log::open(&dir)?));

    let mut child = Command::new(program)
        .arg("worker")
        .arg("--data")
        .arg(data.path())
        .arg("--run")
        .arg(id.as_str())
        .arg("--attempt")
        .arg(journal.attempt.to_string())
        // By these it is known again, should this process die before it.
        .env("CARTRIDGE_RUN_ID", id.as_str())
        .env("CARTRIDGE_ATTEMPT", journal.attempt.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A group of its own, so that it can be ended with everything that it started.
        .process_group(0)
        .spawn()
        .map_err(|source| RunError::Spawn { program: program.display().to_string(), source })?;
    let pid = child.id();
    journal
        .write(SupervisorEvent::Started { supervisor_pid: std::process::id(), trainer_pid: pid })?;

    let readers = [
        copy_lines(child.stdout.take().expect("it is piped"), Arc::clone(&log)),
        copy_lines(child.stderr.take().expect("it is piped"), Arc::clone(&log)),
    ];
    let mut delivery =
        Delivery::new(data, id, journal.attempt, child.stdin.take().expect("it is piped"))?;
    let (status, forced) =
        watch(child, &mut journal, &mut delivery, Force::new(pid, stop_grace), &dir)?;
    drain(&readers);
    let subject = Subject::ended(&manifest, journal.attempt, unix_now());
    // What it has made is named before its exit is recorded. Failing to is no reason to lose the
    // exit, and what is large is left to the lab, which would take a long silence for a loss.
    _ = discovery::look(&dir, &subject, unix_now(), HASHED_AT_EXIT);
    let log = lock(&log).last_lines.iter().cloned().collect();
    journal.write(SupervisorEvent::Exited {
        code: status.code(),
        signal: status.signal(),
        forced,
        log,
    })
}

/// Beats and delivers until the trainer has ended. Returns how, and whether it had to be forced.
fn watch(
    mut child: Child,
    journal: &mut Journal,
    delivery: &mut Delivery,
    mut force: Force,
    dir: &RunDir,
) -> Result<(ExitStatus, bool)> {
    let pid = child.id();
    let (ended, exit) = mpsc::channel();
    thread::spawn(move || _ = ended.send(child.wait()));
    let mut usage = Usage::new(pid);
    // The first beat comes early, so that a short run has a sample too.
    let mut next_beat = Instant::now() + HEARTBEAT / 5;
    loop {
        match exit.recv_timeout(CONTROL_POLL) {
            Ok(Ok(status)) => return Ok((status, force.finish())),
            Ok(Err(source)) => return Err(StoreError::io(dir.path())(source).into()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("the thread sends before it ends"),
        }
        for (line, reason) in delivery.deliver(dir, Instant::now())? {
            journal.write(SupervisorEvent::ControlRefused { line, reason })?;
        }
        force.apply(delivery.stopped_at, delivery.terminated_at);
        if Instant::now() >= next_beat {
            next_beat += HEARTBEAT;
            let (cpu_percent, rss_bytes) = usage.sample();
            // A disk that is full for a while costs some beats, and not the training.
            _ = journal.write(SupervisorEvent::Heartbeat { cpu_percent, rss_bytes });
        }
    }
}

/// Ends a trainer that was asked to stop and does not, or that is to end at once: SIGTERM to its
/// group, then SIGKILL.
struct Force {
    group: Option<Pid>,
    stop_grace: Duration,
    /// When SIGTERM was sent.
    termed_at: Option<Instant>,
    is_killed: bool,
}

impl Force {
    fn new(pid: u32, stop_grace: Duration) -> Self {
        // The trainer leads a group of its own, with the same number.
        let group = i32::try_from(pid).ok().and_then(Pid::from_raw);
        Self { group, stop_grace, termed_at: None, is_killed: false }
    }

    fn apply(&mut self, stopped_at: Option<Instant>, terminated_at: Option<Instant>) {
        let Some(group) = self.group else { return };
        let due = [terminated_at, stopped_at.map(|asked| asked + self.stop_grace)];
        let Some(due) = due.into_iter().flatten().min() else { return };
        let now = Instant::now();
        match self.termed_at {
            None if now >= due => {
                self.termed_at = Some(now);
                // It may have ended in this very moment.
                _ = kill_process_group(group, Signal::TERM);
            }
            Some(termed_at) if !self.is_killed && now >= termed_at + TERM_GRACE => {
                self.is_killed = true;
                _ = kill_process_group(group, Signal::KILL);
            }
            _ => {}
        }
    }

    /// Ends what a trainer that had to be forced leaves behind; says whether it had to be.
    fn finish(&self) -> bool {
        if let (Some(_), Some(group)) = (self.termed_at, self.group) {
            _ = kill_process_group(group, Signal::KILL);
        }
        self.termed_at.is_some()
    }
}

/// `supervisor.jsonl`, which this process alone writes.
struct Journal {
    appender: Appender,
    attempt: u32,
}

impl Journal {
    fn open(dir: &RunDir) -> Result<Self> {
        let path = dir.supervisor_path();
        let appender = Appender::open(&path)?;
        let attempts = jsonl::read_lines(&path, 0, None)?
            .iter()
            .filter_map(|line| serde_json::from_slice::<SupervisorLine>(&line.bytes).ok())
            .map(|line| line.attempt)
            .max();
        Ok(Self { appender, attempt: attempts.unwrap_or(0) + 1 })
    }

    fn write(&mut self, event: SupervisorEvent) -> Result<()> {
        self.appender.append(&SupervisorLine { attempt: self.attempt, t: unix_now(), event })?;
        Ok(self.appender.sync()?)
    }
}

/// `log.txt`, and its last lines in memory.
struct Log {
    file: File,
    last_lines: VecDeque<String>,
}

impl Log {
    fn open(dir: &RunDir) -> Result<Self> {
        let path = dir.log_path();
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(StoreError::io(&path))?;
        Ok(Self { file, last_lines: VecDeque::new() })
    }

    fn add(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        // The log is a convenience: a disk that is full must not end the training it describes.
        _ = writeln!(self.file, "{text}");
        if self.last_lines.len() == N_LAST_LINES {
            self.last_lines.pop_front();
        }
        self.last_lines.push_back(text.into_owned());
    }
}

fn lock(log: &Mutex<Log>) -> std::sync::MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

fn copy_lines(output: impl Read + Send + 'static, log: Arc<Mutex<Log>>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut reader = BufReader::new(output);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut reader).take(MAX_LOG_LINE as u64).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => lock(&log).add(line.strip_suffix(b"\n").unwrap_or(&line)),
            }
        }
    })
}

fn drain(readers: &[JoinHandle<()>]) {
    let deadline = Instant::now() + DRAIN;
    while readers.iter().any(|reader| !reader.is_finished()) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
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
    stdin: ChildStdin,
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
            stdin,
            stopped_at: None,
            terminated_at: None,
        })
    }

    /// Delivers what is new and returns what was refused: its place in the file, and why.
    fn deliver(&mut self, dir: &RunDir, now: Instant) -> Result<Vec<(u64, String)>> {
        // A line that is new now may have been there since just after the last look.
        let age = now.saturating_duration_since(self.last_look);
        self.last_look = now;
        let mut refused = Vec::new();
        for line in jsonl::read_lines(&dir.control_path(), self.end, None)? {
            self.end = line.end;
            self.n_lines += 1;
            let control = serde_json::from_slice::<ControlLine>(&line.bytes);
            if control.as_ref().is_ok_and(|control| control.attempt < self.attempt)
                && line.end <= self.history_end
            {
                continue;
            }
            let verdict = control
                .map_err(|error| format!("it cannot be read: {error}"))
                .and_then(|control| self.verifier.verify(&control).map(|()| control))
                .and_then(|control| check_age(&control, age).map(|()| control));
            match verdict {
                Ok(control) => {
                    // A trainer that has just ended reads no more; its exit comes next.
                    _ = self.stdin.write_all(&[&line.bytes[..], b"\n"].concat());
                    match control.command {
                        ControlCommand::Stop => _ = self.stopped_at.get_or_insert(now),
                        ControlCommand::Terminate => _ = self.terminated_at.get_or_insert(now),
                        _ => {}
                    }
                }
                Err(reason) => refused.push((self.n_lines, reason)),
            }
        }
        Ok(refused)
    }
}

/// CPU and memory of a process, sampled.
struct Usage {
    pid: u32,
    last: Option<(Instant, f64)>,
}

impl Usage {
    fn new(pid: u32) -> Self {
        let mut usage = Self { pid, last: None };
        usage.sample();
        usage
    }

    /// CPU use in percent of one core since the last sample, and resident bytes.
    fn sample(&mut self) -> (Option<f64>, Option<u64>) {
        let now = Instant::now();
        let Some((cpu_seconds, rss_bytes)) = read_usage(self.pid) else { return (None, None) };
        let percent = self.last.map(|(then, before)| {
            100.0 * (cpu_seconds - before) / (now - then).as_secs_f64().max(1e-3)
        });
        self.last = Some((now, cpu_seconds));
        (percent, Some(rss_bytes))
    }
}

/// CPU seconds so far and resident bytes, where the system tells (Linux).
pub(crate) fn read_usage(pid: u32) -> Option<(f64, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in brackets, which may hold spaces.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |idx: usize| fields.get(idx)?.parse::<u64>().ok();
    let ticks = number(11)? + number(12)?;
    let rss_pages = number(21)?;
    let ticks_per_second = rustix::param::clock_ticks_per_second();
    Some((ticks as f64 / ticks_per_second as f64, rss_pages * rustix::param::page_size() as u64))
}
