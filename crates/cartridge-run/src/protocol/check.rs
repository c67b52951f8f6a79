//! Runs any trainer in a folder of its own and says line by line what is right, wrong or ignored.

use std::collections::VecDeque;
use std::io::{Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cartridge_store::{LineCounts, Manifest, RunDir, RunId, RunKind, StoreError};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    ControlAck, Kind, Message, RawLine, Splitter, Tally, Verdict, control_for_trainer, parse,
};
use crate::clock::unix_now;
use crate::discovery;
use crate::error::{Result, RunError};
use crate::foreign::{Socket, make_private};
use crate::supervisor::{scrub_secrets, trainer_environment};

/// How long an answer to a control line is awaited.
const ANSWER: Duration = Duration::from_secs(10);

/// How long a paused trainer must be still to count as paused.
const STILLNESS: Duration = Duration::from_millis(500);

/// How long it may take to end after each of: being asked, SIGTERM.
const GRACE: Duration = Duration::from_secs(10);

/// How long output is awaited after the trainer has ended.
const DRAIN: Duration = Duration::from_secs(2);

/// What is checked, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Whether to send control lines and look at what comes of them.
    pub exercise: bool,
    /// When to ask it to stop.
    pub max_seconds: Option<f64>,
}

/// Where a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Standard output.
    Stdout,
    /// Standard error, which is always log.
    Stderr,
    /// A connection to `CARTRIDGE_EVENTS`.
    Socket,
}

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A line of the protocol.
    Ok,
    /// No line of the protocol: it goes to the log.
    Log,
    /// Of a known type, and not usable.
    Wrong,
    /// Of an unknown type, and passed over.
    Unknown,
    /// Too long.
    Cut,
}

/// What is said about one line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineReport {
    /// Where it came from.
    pub source: Source,
    /// Its number there, from 1.
    pub line: u64,
    /// What became of it.
    pub class: Class,
    /// Its type, where it has one.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How it begins, unless it is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What came of a control line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exercise {
    /// What was asked.
    pub command: String,
    /// Whether it did as asked; nothing where it does not offer that.
    pub ok: Option<bool>,
    /// In a sentence.
    pub detail: String,
}

/// What is said in the end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Whether it speaks the protocol well, and everything that was to be tried was.
    pub ok: bool,
    /// What is not well.
    pub problems: Vec<String>,
    /// What was to be tried and was not, and why.
    pub not_tried: Vec<String>,
    /// The lines of standard output and of the socket, and those of standard error as log.
    pub lines: LineCounts,
    /// Exit code, unless a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What came of control lines.
    pub exercise: Vec<Exercise>,
}

/// Runs the trainer to its end. `report` hears of every line.
pub fn check(options: &Options, report: impl FnMut(&LineReport)) -> Result<Summary> {
    let folder =
        std::env::temp_dir().join(format!("cartridge-{}", &crate::secret::random_hex()[..12]));
    make_private(&folder).map_err(StoreError::io(&folder))?;
    let folder = Folder(folder.canonicalize().map_err(StoreError::io(&folder))?);
    let dir = RunDir::new(&folder.0);
    let (mut socket, listener) = Socket::listen(&dir, 1)?;
    let mut child = start(options, &dir, socket.path())?;
    let (sender, lines) = mpsc::sync_channel(1024);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut readers = vec![
        read(stdout.expect("it is piped"), Source::Stdout, sender.clone()),
        read(stderr.expect("it is piped"), Source::Stderr, sender.clone()),
    ];
    socket.serve(listener, move |stream| read(stream, Source::Socket, sender.clone()));
    let stdin = child.stdin.take().expect("it is piped");
    let mut check = Check {
        folder: folder.0.clone(),
        report,
        tally: Tally::default(),
        numbers: [0; 3],
        stdin,
        stage: Stage::Waiting,
        todo: if options.exercise {
            VecDeque::from(["pause", "resume", "checkpoint", "stop"])
        } else {
            VecDeque::new()
        },
        offered: None,
        seq: 0,
        exercise: Vec::new(),
        not_tried: Vec::new(),
        first_typed: None,
        asked_to_end: None,
    };
    let status = check.until_exit(&mut child, &lines, options.max_seconds)?;
    readers.append(&mut socket.close());
    let deadline = Instant::now() + DRAIN;
    loop {
        match lines.recv_timeout(Duration::from_millis(20)) {
            Ok(line) => check.line(&line),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                if readers.iter().all(JoinHandle::is_finished) || Instant::now() >= deadline {
                    break;
                }
            }
        }
    }
    // Readers may have ended between the last look and theirs.
    while let Ok(line) = lines.try_recv() {
        check.line(&line);
    }
    Ok(check.summary(status))
}

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

fn start(options: &Options, dir: &RunDir, socket: &Path) -> Result<Child> {
    let manifest = Manifest {
        format: Manifest::FORMAT,
        id: RunId::random(),
        kind: RunKind::External,
        name: "protocol check".to_owned(),
        env_id: "check".to_owned(),
        config: json!({ "seeds": { "seed_base": 0 } }),
        created_at: unix_now(),
        cartridge_version: String::new(),
        parent: None,
        restart: None,
        command: Some(options.command.clone()),
        cwd: None,
        environment: Default::default(),
        limits: Default::default(),
        experiment_id: None,
        group: None,
        track: None,
    };
    let program = options.command.first().cloned().unwrap_or_default();
    let mut command = Command::new(&program);
    command.args(options.command.iter().skip(1));
    scrub_secrets(&mut command);
    command.envs(trainer_environment(dir, &manifest, 1, socket));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command.spawn().map_err(|source| RunError::Spawn { program, source })
}

/// A line on its way from a reader.
struct Incoming {
    source: Source,
    bytes: Vec<u8>,
    /// The length of a line that was too long.
    cut: Option<u64>,
}

fn read(
    mut output: impl Read + Send + 'static,
    source: Source,
    lines: SyncSender<Incoming>,
) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut splitter = Splitter::default();
        let mut chunk = vec![0; 64 * 1024];
        let send = |line: RawLine<'_>| {
            let (bytes, cut) = match line {
                RawLine::Whole(bytes) => (bytes.to_vec(), None),
                RawLine::Cut(bytes, length) => (bytes.to_vec(), Some(length)),
            };
            _ = lines.send(Incoming { source, bytes, cut });
        };
        loop {
            match output.read(&mut chunk) {
                Ok(0) | Err(_) => return splitter.finish(send),
                Ok(n_read) => splitter.push(&chunk[..n_read], send),
            }
        }
    })
}

/// Where the exercise stands.
enum Stage {
    /// Between two control lines, or before the first.
    Waiting,
    /// A control line was sent.
    Asked { command: &'static str, since: Instant, acknowledged: bool, has_file: bool },
    /// A pause was acknowledged: nothing should come now.
    Still { since: Instant },
    /// Stepping should go on.
    Moving { since: Instant },
}

struct Check<R> {
    folder: PathBuf,
    report: R,
    tally: Tally,
    numbers: [u64; 3],
    stdin: ChildStdin,
    stage: Stage,
    todo: VecDeque<&'static str>,
    /// What the trainer says it obeys.
    offered: Option<Vec<String>>,
    seq: u64,
    exercise: Vec<Exercise>,
    not_tried: Vec<String>,
    first_typed: Option<Instant>,
    /// When it was asked to end, and how many signals it got since.
    asked_to_end: Option<(Instant, u32)>,
}

impl<R: FnMut(&LineReport)> Check<R> {
    fn until_exit(
        &mut self,
        child: &mut Child,
        lines: &Receiver<Incoming>,
        max_seconds: Option<f64>,
    ) -> Result<ExitStatus> {
        let started = Instant::now();
        loop {
            match lines.recv_timeout(Duration::from_millis(20)) {
                Ok(line) => self.line(&line),
                Err(RecvTimeoutError::Timeout) => {}
                // All output is closed, and yet it may go on.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(Duration::from_millis(20)),
            }
            self.drive();
            let is_time = max_seconds.is_some_and(|most| started.elapsed().as_secs_f64() >= most);
            if is_time && self.asked_to_end.is_none() {
                self.leave_out("the time was up before its turn");
                self.stage = Stage::Waiting;
                self.send("stop");
            }
            self.insist(child.id());
            if let Some(status) = child.try_wait().map_err(StoreError::io("the trainer"))? {
                return Ok(status);
            }
        }
    }

    fn line(&mut self, incoming: &Incoming) {
        let Incoming { source, bytes, cut } = incoming;
        self.numbers[*source as usize] += 1;
        let mut said = LineReport {
            source: *source,
            line: self.numbers[*source as usize],
            class: Class::Log,
            kind: None,
            reason: None,
            text: Some(String::from_utf8_lossy(bytes).chars().take(200).collect()),
        };
        if let Some(length) = cut {
            self.tally.count_cut();
            said.class = Class::Cut;
            said.reason =
                Some(format!("it has {length} bytes, more than {}", super::MAX_LINE_BYTES));
        } else if *source == Source::Stderr {
            self.tally.count_log();
        } else {
            let mut verdict = parse(bytes, 1);
            if let Verdict::Typed(kind, message, _) = &verdict
                && let Err(reason) = self.consider(*kind, message)
            {
                verdict = Verdict::Wrong(*kind, reason);
            }
            self.tally.count(&verdict);
            match verdict {
                Verdict::Typed(kind, ..) => {
                    said.class = Class::Ok;
                    said.kind = Some(kind.name().to_owned());
                    said.text = None;
                }
                Verdict::Log => {}
                Verdict::Wrong(kind, reason) => {
                    said.class = Class::Wrong;
                    said.kind = Some(kind.name().to_owned());
                    said.reason = Some(reason);
                }
                Verdict::Unknown(kind) => {
                    said.class = Class::Unknown;
                    said.kind = Some(kind);
                }
            }
        }
        (self.report)(&said);
    }

    /// Looks at a line in the light of what was asked.
    fn consider(&mut self, kind: Kind, message: &Message) -> Result<(), String> {
        self.first_typed.get_or_insert_with(Instant::now);
        match (message, &mut self.stage) {
            (Message::Config(config), _) => self.offered.clone_from(&config.capabilities),
            (
                Message::ControlAck(ControlAck { seq, ok, message, .. }),
                Stage::Asked { command, acknowledged, .. },
            ) if *seq == self.seq && !*acknowledged => {
                if *ok {
                    *acknowledged = true;
                } else {
                    let command = *command;
                    let why = message.clone().unwrap_or_else(|| "without a reason".to_owned());
                    self.note(command, Some(false), format!("it refused: {why}"));
                    self.stage = Stage::Waiting;
                }
            }
            (Message::ControlAck(ack), _) => {
                return Err(format!(
                    "no control line with number {} waits to be acknowledged",
                    ack.seq
                ));
            }
            (Message::Checkpoint(checkpoint), stage) => {
                discovery::check_named(&self.folder, &checkpoint.path)?;
                if let Stage::Asked { has_file, .. } = stage {
                    *has_file = true;
                }
            }
            (Message::Artifacts(artifacts), _) => {
                let work = std::env::current_dir().ok();
                for place in artifacts.values() {
                    discovery::check_place(&self.folder, work.as_deref(), place)?;
                }
            }
            (_, Stage::Still { .. }) if is_stepping(kind) => {
                self.note("pause", Some(false), "it went on stepping".to_owned());
                self.stage = Stage::Waiting;
            }
            (_, Stage::Moving { .. }) if is_stepping(kind) => {
                self.note("resume", Some(true), "it goes on".to_owned());
                self.stage = Stage::Waiting;
            }
            _ => {}
        }
        Ok(())
    }

    /// Tries no more, for this reason.
    fn leave_out(&mut self, why: &str) {
        let unfinished = match self.stage {
            Stage::Asked { command, .. } if command != "stop" => Some(command),
            Stage::Still { .. } => Some("pause"),
            Stage::Moving { .. } => Some("resume"),
            Stage::Asked { .. } | Stage::Waiting => None,
        };
        if let Some(command) = unfinished {
            self.stage = Stage::Waiting;
            self.not_tried.push(format!("{command}: asked, and {why}"));
            self.note(command, None, format!("not tried to its end: {why}"));
        }
        for command in std::mem::take(&mut self.todo) {
            self.not_tried.push(format!("{command}: {why}"));
            self.note(command, None, format!("not tried: {why}"));
        }
    }

    fn note(&mut self, command: &str, ok: Option<bool>, detail: String) {
        self.exercise.push(Exercise { command: command.to_owned(), ok, detail });
    }

    fn send(&mut self, command: &'static str) {
        self.seq += 1;
        let line = control_for_trainer(self.seq, &Value::from(command), "check");
        // A trainer that has closed its input cannot be asked; it will be told by a signal.
        _ = self.stdin.write_all(line.as_bytes());
        if command == "stop" {
            self.asked_to_end = Some((Instant::now(), 0));
        }
    }

    /// Goes on with the exercise.
    fn drive(&mut self) {
        match &self.stage {
            Stage::Waiting => {
                // It gets a moment to say what it offers.
                let is_ready = self.first_typed.is_some_and(|at| at.elapsed() >= STILLNESS);
                let Some(command) = is_ready.then(|| self.todo.pop_front()).flatten() else {
                    return;
                };
                let offers = |list: &Vec<String>| list.iter().any(|word| word == command);
                if command != "stop" && !self.offered.as_ref().is_none_or(offers) {
                    let detail = "it is not among its capabilities".to_owned();
                    return self.note(command, None, detail);
                }
                self.send(command);
                self.stage = Stage::Asked {
                    command,
                    since: Instant::now(),
                    acknowledged: false,
                    has_file: false,
                };
            }
            Stage::Asked { command, since, acknowledged, has_file } => {
                let (command, acknowledged, has_file) = (*command, *acknowledged, *has_file);
                match command {
                    "pause" if acknowledged => self.stage = Stage::Still { since: Instant::now() },
                    "resume" if acknowledged => {
                        self.stage = Stage::Moving { since: Instant::now() };
                    }
                    "checkpoint" if acknowledged && has_file => {
                        self.note(command, Some(true), "it saved one and said so".to_owned());
                        self.stage = Stage::Waiting;
                    }
                    // Its exit tells.
                    "stop" => {}
                    _ if since.elapsed() >= ANSWER => {
                        let detail = if acknowledged {
                            "it acknowledged, and no `checkpoint` line came"
                        } else {
                            "it did not acknowledge in time"
                        };
                        self.note(command, Some(false), detail.to_owned());
                        self.stage = Stage::Waiting;
                    }
                    _ => {}
                }
            }
            Stage::Still { since } if since.elapsed() >= STILLNESS => {
                self.note("pause", Some(true), "it stands still".to_owned());
                self.stage = Stage::Waiting;
            }
            Stage::Moving { since } if since.elapsed() >= ANSWER => {
                self.note("resume", Some(false), "nothing came after it".to_owned());
                self.stage = Stage::Waiting;
            }
            Stage::Still { .. } | Stage::Moving { .. } => {}
        }
    }

    /// Ends a trainer that was asked to end and does not.
    fn insist(&mut self, pid: u32) {
        let Some((since, n_signals)) = &mut self.asked_to_end else { return };
        let signal = match *n_signals {
            0 => Signal::TERM,
            1 => Signal::KILL,
            _ => return,
        };
        let group = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if let Some(group) = group.filter(|_| since.elapsed() >= GRACE) {
            (*since, *n_signals) = (Instant::now(), *n_signals + 1);
            _ = kill_process_group(group, signal);
        }
    }

    fn summary(mut self, status: ExitStatus) -> Summary {
        let n_signals = self.asked_to_end.map_or(0, |(_, n)| n);
        if let Stage::Asked { command: "stop", acknowledged, .. } = self.stage {
            let (ok, detail) = match (n_signals, acknowledged) {
                (0, true) => (true, "it acknowledged and ended"),
                (0, false) => (false, "it ended without acknowledging"),
                (1, _) => (false, "it ended only by SIGTERM"),
                _ => (false, "it ended only by SIGKILL"),
            };
            self.note("stop", Some(ok), detail.to_owned());
        } else if n_signals > 0 {
            self.note("stop", Some(false), "it had to be ended by a signal".to_owned());
        }
        let why = match self.first_typed {
            None => "no line of the protocol came".to_owned(),
            Some(_) => format!(
                "it ended first; control begins {} s after its first line, so let it train longer",
                STILLNESS.as_secs_f64()
            ),
        };
        self.leave_out(&why);
        let lines = self.tally.counts();
        let mut problems = Vec::new();
        if lines.typed == 0 {
            problems.push("no line of the protocol came".to_owned());
        }
        for (what, n) in [("wrong", lines.wrong), ("cut", lines.cut)] {
            if n > 0 {
                problems.push(format!("{n} lines are {what}"));
            }
        }
        if let (Some(code), None) = (status.code().filter(|code| *code != 0), status.signal()) {
            problems.push(format!("it ended with exit code {code}"));
        }
        if let Some(signal) = status.signal() {
            problems.push(format!("it was ended by signal {signal}"));
        }
        for exercise in self.exercise.iter().filter(|exercise| exercise.ok == Some(false)) {
            problems.push(format!("{}: {}", exercise.command, exercise.detail));
        }
        Summary {
            ok: problems.is_empty() && self.not_tried.is_empty(),
            problems,
            not_tried: self.not_tried,
            lines,
            exit_code: status.code(),
            signal: status.signal(),
            exercise: self.exercise,
        }
    }
}

fn is_stepping(kind: Kind) -> bool {
    matches!(kind, Kind::Step | Kind::Episode | Kind::Metric | Kind::Metrics)
}
