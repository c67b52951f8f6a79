//! From the lines of a foreign trainer to the files of its run.
//!
//! Readers (standard output, and the connections to the socket in `CARTRIDGE_EVENTS`) hand bytes
//! to one [`Ingest`], so that a run has one writer and one sequence however many speak. A thread
//! of its own writes: whole batches, every [`FLUSH`] at the latest, in the order episodes, rows,
//! events, so that no row speaks of an episode that a crash could take away. What the disk refuses
//! is kept and tried again; until then readers wait, and so does a trainer that writes more than
//! there is room for. Metrics in TensorBoard's event files that the trainer leaves come in by the
//! same door, but for those that it tells by lines as well.

pub(crate) mod checkpoints;
mod event_files;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::Read;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cartridge_store::episodes::{EpisodeHead, EpisodeWriter, StepRecord};
use cartridge_store::jsonl::{self, Appender};
use cartridge_store::{
    Command, DoneReason, Episodes, Event, EventLine, LineCounts, MetricLine, RestoredFrom,
    Result as StoreResult, RunDir, StoreError, TrainerConfig,
};
use rustix::event::{PollFd, PollFlags, poll};
use serde_json::Value;

use crate::clock::unix_now;
use crate::discovery;
use crate::error::Result;
use crate::lab::held;
use crate::protocol::{
    self, Checkpoint, ControlAck, Done, Episode, Kind, LogLevel, Message, Metrics, RawLine,
    Splitter, Step, Tally, Verdict,
};
use crate::supervisor::Log;
use crate::tensorboard::{EventFile, Records};
use crate::tunable;

use self::event_files::{EventFiles, Look, Scalars};

/// What has come is handed to the system at the latest after this time.
const FLUSH: Duration = Duration::from_millis(100);

/// Rows are durable at the latest after this time; events are at once.
const GROUP_COMMIT: Duration = Duration::from_millis(800);

/// How much may wait to be written before readers wait too.
const MAX_WAITING_BYTES: usize = 32 * 1024 * 1024;

/// How long the last batch is tried again when the disk refuses it.
const LAST_TRIES: Duration = Duration::from_secs(10);

/// Connections to the socket at a time.
const MAX_CONNECTIONS: usize = 64;

/// Names of metrics in a run; a trainer that makes up a name per step must not fill the index.
const MAX_NAMES: usize = 10_000;

/// Events by an attempt of a trainer; the log has all that is said beyond.
const MAX_EVENTS: u64 = 100_000;

/// Control lines that can wait for their acknowledgement.
const MAX_DELIVERED: usize = 1_000;

/// From this number on, control lines are the supervisor's own.
pub(crate) const OWN_SEQ: u64 = 1_000_000_000;

/// Values in one row.
const MAX_ROW_VALUES: usize = 1_000;

/// Episodes that are under way at a time.
const MAX_OPEN_EPISODES: usize = 100_000;

/// An episode whose last step has come is closed after this time, if no `episode` line closes it.
const CLOSE_AFTER: Duration = Duration::from_secs(2);

/// Progress is recorded this often when the trainer sends no metrics.
const PROGRESS: Duration = Duration::from_secs(1);

/// The last returns whose mean is shown.
const N_RECENT: usize = 100;

/// How often event files are looked at, and how many times as long as a look it rests at least.
const LOOK: Duration = Duration::from_millis(500);
const REST: u32 = 10;

/// How long the last look at them may go on.
const LAST_LOOK: Duration = Duration::from_secs(3);

/// How much is read at once.
const CHUNK: usize = 256 * 1024;

/// Takes in the lines of one attempt of a foreign trainer.
#[derive(Debug)]
pub(crate) struct Ingest {
    shared: Arc<Shared>,
    writer: JoinHandle<()>,
    /// Follows event files until its channel is closed.
    follower: (Sender<()>, JoinHandle<()>),
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Something urgent waits to be written, or it is time to end.
    wake: Condvar,
    /// There is room again.
    room: Condvar,
    log: Arc<Mutex<Log>>,
}

/// What waits to be written.
#[derive(Debug, Default)]
struct Batch {
    plays: VecDeque<Play>,
    /// About how large those are.
    plays_bytes: usize,
    rows: Vec<u8>,
    /// The rows once more, for TensorBoard.
    records: Vec<u8>,
    events: Vec<u8>,
    /// The newest picture.
    frame: Option<String>,
}

/// What happened in an episode.
#[derive(Debug)]
enum Play {
    Step(String, StepRecord),
    End(Box<EpisodeHead>),
}

impl Batch {
    fn size(&self) -> usize {
        self.plays_bytes + self.rows.len() + self.records.len() + self.events.len()
    }

    fn is_empty(&self) -> bool {
        self.size() == 0 && self.frame.is_none()
    }

    fn append(&mut self, mut later: Self) {
        self.plays.append(&mut later.plays);
        self.plays_bytes += later.plays_bytes;
        self.rows.append(&mut later.rows);
        self.records.append(&mut later.records);
        self.events.append(&mut later.events);
        self.frame = later.frame.or(self.frame.take());
    }
}

#[derive(Debug)]
struct State {
    attempt: u32,
    tally: Tally,
    batch: Batch,
    /// Bytes that the writer has taken and not yet written.
    unwritten: usize,
    is_urgent: bool,
    is_ending: bool,
    /// What the disk said when it last refused something.
    trouble: Option<String>,

    /// The row that is being filled.
    row: BTreeMap<String, Option<f64>>,
    row_step: u64,
    n_rows: u64,
    /// Names of metrics, and where each comes from.
    names: HashMap<String, Source>,
    records: Records,
    /// Places of event files that the trainer has named and nobody has looked at.
    boards: Vec<String>,
    /// Episodes that have ended since the last row.
    ended: Episodes,
    n_episodes: u64,
    /// Episodes under way, by the trainer's name for them.
    open: HashMap<String, Open>,
    /// Those of them whose last step has come.
    closing: VecDeque<(Instant, String)>,
    /// The last names that were closed without an `episode` line.
    closed: VecDeque<String>,
    recent: VecDeque<(f64, u32)>,

    /// Environment steps of the run, by all that was said.
    step: u64,
    /// Whether lines tell the steps, so that event files need not.
    is_step_told: bool,
    /// Environment steps by counting.
    counted: u64,
    /// When and where progress was last recorded.
    last_progress: (Instant, u64),
    has_own_pace: bool,
    has_own_means: bool,
    n_events: u64,
    is_at_work: bool,
    /// What was delivered and waits for its acknowledgement.
    delivered: BTreeMap<u64, Delivered>,
    /// What came of the supervisor's own control lines.
    answers: BTreeMap<u64, Result<(), String>>,
    /// What the trainer would not do, until the supervisor has recorded it.
    refused: Vec<Refusal>,
    /// What the trainer says it obeys, and was started with.
    capabilities: Vec<String>,
    args: Value,
    /// Settings that were changed in this attempt.
    tuned: BTreeMap<String, f64>,
    /// The run's folder.
    folder: PathBuf,
    /// Where the trainer was started.
    work: Option<PathBuf>,
    done: Option<Done>,
    checkpoint_step: Option<u64>,
    /// Where a checkpoint of an earlier attempt stands in the metrics: step, row and episode.
    marks: Marks,
}

/// Where the values of a metric come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// Lines of the protocol.
    Lines,
    /// Event files, as long as no line has the name.
    Files,
}

/// An episode that is under way.
#[derive(Debug, Default)]
struct Open {
    steps: u32,
    total: f64,
    terminated: bool,
    truncated: bool,
    /// When its last step came.
    ended_at: Option<Instant>,
}

/// A control line that the trainer was given and has not answered.
#[derive(Debug)]
struct Delivered {
    command: Command,
    by: String,
    since: Instant,
    /// Whether it was said that no answer came.
    is_told: bool,
}

/// Something that was asked and will not be done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    /// Number of the control line.
    pub(crate) seq: u64,
    /// What was asked.
    pub(crate) command: Command,
    /// Why not.
    pub(crate) reason: String,
}

impl Delivered {
    /// Whether a person should hear that line `seq` was not answered: an end answers for itself, who
    /// watches is nobody's concern, and what the supervisor asks by itself it sees to.
    fn needs_answer(&self, seq: u64) -> bool {
        let is_asked = match &self.command {
            Command::Pause | Command::Resume | Command::Checkpoint | Command::Tune { .. } => true,
            Command::Stop | Command::Terminate | Command::Watch { .. } => false,
        };
        is_asked && !self.is_told && seq < OWN_SEQ
    }
}

/// How an attempt of a foreign trainer ended, as far as its lines tell.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) lines: LineCounts,
    /// What could not be written.
    pub(crate) trouble: Option<String>,
}

impl Ingest {
    /// Opens the files of the run for `attempt`. Rows and episodes go on from those that are there.
    pub(crate) fn open(dir: &RunDir, attempt: u32, log: Arc<Mutex<Log>>) -> Result<Self> {
        let writer = Writer {
            episodes: EpisodeWriter::open(dir)?,
            attempt,
            events: Appender::open(dir.events_path())?,
            metrics: Appender::open(dir.metrics_path())?,
            event_file: EventFile::new(dir, attempt),
            frame_path: dir.path().join("frame.json"),
            pending: Batch::default(),
            last_sync: Instant::now(),
            unsynced: false,
            has_ended: false,
        };
        // A fork has a checkpoint before its first row.
        let manifest = dir.manifest().ok();
        let work = manifest.as_ref().and_then(|manifest| manifest.cwd.clone());
        let origin = manifest.and_then(|manifest| manifest.parent).map(|parent| parent.step);
        let marks = Marks::read(dir, origin)?;
        let files = EventFiles::new(dir, work.as_deref(), discovery::named_boards(dir)?);
        let Mark { row: n_rows, episode: n_episodes, .. } = marks.last;
        let state = State {
            attempt,
            tally: Tally::default(),
            batch: Batch::default(),
            unwritten: 0,
            is_urgent: false,
            is_ending: false,
            trouble: None,
            row: BTreeMap::new(),
            row_step: 0,
            n_rows,
            names: HashMap::new(),
            records: Records::default(),
            boards: Vec::new(),
            ended: Episodes::default(),
            n_episodes,
            open: HashMap::new(),
            closing: VecDeque::new(),
            closed: VecDeque::new(),
            recent: VecDeque::new(),
            step: 0,
            is_step_told: false,
            counted: 0,
            last_progress: (Instant::now(), 0),
            has_own_pace: false,
            has_own_means: false,
            n_events: 0,
            is_at_work: false,
            delivered: BTreeMap::new(),
            answers: BTreeMap::new(),
            refused: Vec::new(),
            capabilities: Vec::new(),
            args: Value::Null,
            tuned: BTreeMap::new(),
            folder: dir.path().to_owned(),
            work,
            done: None,
            checkpoint_step: None,
            marks,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            wake: Condvar::new(),
            room: Condvar::new(),
            log,
        });
        let writer = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || writer.work(&shared))
        };
        let (end, ended) = mpsc::channel();
        let follower = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.follow(files, &ended))
        };
        Ok(Self { shared, writer, follower: (end, follower) })
    }

    /// Reads lines of the protocol until the other end is closed.
    pub(crate) fn read_protocol(&self, source: impl Read + Send + 'static) -> JoinHandle<()> {
        let shared = Arc::clone(&self.shared);
        thread::spawn(move || shared.read(source, Shared::take_line))
    }

    /// What reads a connection to the socket.
    pub(crate) fn reader(&self) -> impl Fn(UnixStream) -> JoinHandle<()> + Send + 'static {
        let shared = Arc::clone(&self.shared);
        move |stream| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.read(stream, Shared::take_line))
        }
    }

    /// Reads lines of the log until the other end is closed.
    pub(crate) fn read_log(&self, source: impl Read + Send + 'static) -> JoinHandle<()> {
        let shared = Arc::clone(&self.shared);
        thread::spawn(move || shared.read(source, Shared::take_log_line))
    }

    /// Remembers that a control line was handed to the trainer, so that it can be acknowledged.
    pub(crate) fn delivered(&self, seq: u64, command: Command, by: String) {
        let mut state = held(&self.shared.state);
        let since = Instant::now();
        state.delivered.insert(seq, Delivered { command, by, since, is_told: false });
        // Not everything is acknowledged by everybody.
        while state.delivered.len() > MAX_DELIVERED {
            state.delivered.pop_first();
        }
    }

    /// Whether the trainer said that it obeys `command`.
    pub(crate) fn offers(&self, command: &str) -> bool {
        held(&self.shared.state).capabilities.iter().any(|word| word == command)
    }

    /// What came of the supervisor's own control line `seq`, once it is known.
    pub(crate) fn answer(&self, seq: u64) -> Option<Result<(), String>> {
        held(&self.shared.state).answers.remove(&seq)
    }

    /// What the trainer would not do, since it was asked last.
    pub(crate) fn take_refusals(&self) -> Vec<Refusal> {
        std::mem::take(&mut held(&self.shared.state).refused)
    }

    /// What was asked longer ago than `patience` and has not been answered; each is named once. An
    /// answer that comes later still counts.
    pub(crate) fn take_overdue(&self, now: Instant, patience: Duration) -> Vec<Refusal> {
        let mut state = held(&self.shared.state);
        let overdue = state.delivered.iter_mut().filter(|(seq, delivered)| {
            delivered.needs_answer(**seq)
                && now.saturating_duration_since(delivered.since) > patience
        });
        overdue
            .map(|(seq, delivered)| {
                delivered.is_told = true;
                let reason = format!("the trainer has not answered within {patience:?}");
                Refusal { seq: *seq, command: delivered.command.clone(), reason }
            })
            .collect()
    }

    /// What was asked and never answered, as far as nobody was told.
    pub(crate) fn take_unanswered(&self) -> Vec<Refusal> {
        let delivered = std::mem::take(&mut held(&self.shared.state).delivered).into_iter();
        let reason = "the trainer ended without an answer";
        delivered
            .filter(|(seq, delivered)| delivered.needs_answer(*seq))
            .map(|(seq, Delivered { command, .. })| Refusal {
                seq,
                command,
                reason: reason.to_owned(),
            })
            .collect()
    }

    /// Environment steps of the run so far.
    pub(crate) fn step(&self) -> u64 {
        held(&self.shared.state).step
    }

    /// The lines so far.
    pub(crate) fn counts(&self) -> LineCounts {
        let mut counts = held(&self.shared.state).tally.counts();
        counts.log_dropped = held(&self.shared.log).n_dropped();
        counts
    }

    /// Records that the trainer has been alive for a while, although it may have said nothing.
    pub(crate) fn is_alive(&self) {
        held(&self.shared.state).begin();
    }

    /// Records something that a person should know.
    pub(crate) fn warn(&self, message: String) {
        held(&self.shared.state).event(Event::Warning { message });
        self.shared.wake.notify_one();
    }

    /// Ends the attempt: closes what is open, says how it ended unless the trainer did, and writes
    /// everything. `reason` is nothing when it did not end well.
    pub(crate) fn finish(self, reason: Option<DoneReason>) -> Ended {
        let Self { shared, writer, follower: (end, follower) } = self;
        // Whatever the trainer left in files belongs to it, up to the last record.
        drop(end);
        follower.join().expect("the follower does not panic");
        {
            let mut state = held(&shared.state);
            state.close_all();
            if let Some(reason) = reason {
                // The trainer knows best why it ended.
                let reason = match state.done.as_ref().and_then(|done| done.stopped) {
                    Some(true) => DoneReason::Stopped,
                    Some(false) => DoneReason::Completed,
                    None => reason,
                };
                let step = state.done.as_ref().and_then(|done| done.step);
                let step = step.unwrap_or(0).max(state.step);
                let (weights_sha256, checkpoint) = (String::new(), String::new());
                state.event(Event::Done { reason, step, weights_sha256, checkpoint });
            }
            state.is_ending = true;
        }
        shared.wake.notify_one();
        writer.join().expect("the writer does not panic");
        let state = held(&shared.state);
        let mut lines = state.tally.counts();
        lines.log_dropped = held(&shared.log).n_dropped();
        Ended { lines, trouble: state.trouble.clone() }
    }
}

/// A place in the metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Mark {
    step: u64,
    row: u64,
    episode: u64,
}

/// The places of the checkpoints in the metrics that are there.
#[derive(Debug, Default)]
struct Marks {
    /// For each step of a checkpoint, the last row up to it.
    checkpoints: BTreeMap<u64, Mark>,
    last: Mark,
}

impl Marks {
    fn read(dir: &RunDir, origin: Option<u64>) -> StoreResult<Self> {
        let mut marks = Self::default();
        if let Some(step) = origin {
            marks.checkpoints.insert(step, Mark { step, ..Mark::default() });
        }
        // Events are few beside rows.
        for line in jsonl::read_lines(&dir.events_path(), 0, None)? {
            if let Ok(EventLine { event: Event::CheckpointSaved { step, .. }, .. }) =
                serde_json::from_slice(&line.bytes)
            {
                marks.checkpoints.insert(step, Mark { step, ..Mark::default() });
            }
        }
        // In pieces, so that a long run needs no more memory than a short one.
        const PIECE: u64 = 32 * 1024 * 1024;
        let mut end = 0;
        loop {
            let lines = jsonl::read_lines(&dir.metrics_path(), end, Some(end + PIECE))?;
            let Some(last) = lines.last() else { return Ok(marks) };
            end = last.end;
            for line in &lines {
                if let Ok(row) = serde_json::from_slice::<MetricLine>(&line.bytes) {
                    marks.add(&row);
                }
            }
        }
    }

    fn add(&mut self, line: &MetricLine) {
        // Of several attempts the later one holds, also where it had gone back.
        let last = line.episodes.episode.last().copied();
        let before = if line.row > self.last.row { self.last.episode } else { 0 };
        let episode = last.unwrap_or(before);
        self.last = Mark { step: line.step, row: line.row, episode };
        for (_, mark) in self.checkpoints.range_mut(line.step..) {
            *mark = Mark { step: mark.step, ..self.last };
        }
    }
}

impl Shared {
    /// Reads from `source` to its end; every line goes to `take`.
    fn read(&self, mut source: impl Read, take: fn(&mut State, &mut Log, RawLine<'_>)) {
        let mut splitter = Splitter::default();
        let mut chunk = vec![0; CHUNK];
        loop {
            // A connection that breaks is one that has ended.
            let n_read = match source.read(&mut chunk) {
                Ok(n_read) => n_read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            let mut state = held(&self.state);
            while state.batch.size() + state.unwritten > MAX_WAITING_BYTES {
                state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            {
                let mut log = held(&self.log);
                if n_read == 0 {
                    splitter.finish(|line| take(&mut state, &mut log, line));
                } else {
                    splitter.push(&chunk[..n_read], |line| take(&mut state, &mut log, line));
                }
            }
            if state.is_urgent {
                self.wake.notify_one();
            }
            if n_read == 0 {
                return;
            }
        }
    }

    /// Takes in what is in event files, until `ended` is closed and everything is read. What is found
    /// waits for the next look: a trainer that tells the same by lines, too, is heard first.
    fn follow(&self, mut files: EventFiles, ended: &Receiver<()>) {
        let (mut waiting, mut rest) = (Vec::new(), LOOK);
        loop {
            let is_last = ended.recv_timeout(rest) != Err(RecvTimeoutError::Timeout);
            self.take_scalars(&mut waiting);
            let began = Instant::now();
            let mut has_more = true;
            while has_more {
                held(&self.state).boards.drain(..).for_each(|place| files.name(place));
                let Look { scalars, notes, has_more: more } = files.look();
                notes.iter().for_each(|note| held(&self.log).add(note.as_bytes()));
                waiting.extend(scalars);
                has_more = is_last && more && began.elapsed() < LAST_LOOK;
                if is_last {
                    self.take_scalars(&mut waiting);
                }
            }
            if is_last {
                return;
            }
            rest = LOOK.max(began.elapsed() * REST);
        }
    }

    /// Takes in scalars of event files, which waits for room like every reader.
    fn take_scalars(&self, waiting: &mut Vec<Scalars>) {
        for scalars in waiting.drain(..) {
            let mut state = held(&self.state);
            while state.batch.size() + state.unwritten > MAX_WAITING_BYTES {
                state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.begin();
            state.take_scalars(scalars);
        }
    }

    fn take_log_line(state: &mut State, log: &mut Log, line: RawLine<'_>) {
        state.begin();
        match line {
            RawLine::Whole(line) => {
                state.tally.count_log();
                log.add(line);
            }
            RawLine::Cut(beginning, length) => {
                state.tally.count_cut();
                log.add_cut(beginning, length);
            }
        }
    }

    fn take_line(state: &mut State, log: &mut Log, line: RawLine<'_>) {
        state.begin();
        let line = match line {
            RawLine::Whole(line) => line,
            RawLine::Cut(beginning, length) => {
                state.tally.count_cut();
                log.add_cut(beginning, length);
                return;
            }
        };
        match protocol::parse(line, state.attempt) {
            Verdict::Typed(kind, message, nonfinite) => match state.take(message, log) {
                Ok(()) => {
                    state.tally.count_typed(kind, nonfinite);
                    if kind == Kind::Step {
                        state.batch.plays_bytes += 2 * line.len();
                    }
                }
                Err(reason) => {
                    state.tally.count_wrong(kind, reason);
                    log.add(line);
                }
            },
            // Whatever is not taken in can be read in the log.
            verdict => {
                if let Verdict::Wrong(kind @ (Kind::Artifacts | Kind::Checkpoint), reason) =
                    &verdict
                {
                    // Something was made and is not known: a person should look.
                    let kind = kind.name();
                    let message = format!("A line `{kind}` of the trainer was refused: {reason}");
                    _ = state.trainer_event(Event::Warning { message });
                }
                state.tally.count(&verdict);
                log.add(line);
            }
        }
    }
}

impl State {
    /// The run is at work from the first sign of life on.
    fn begin(&mut self) {
        if !self.is_at_work {
            self.is_at_work = true;
            self.event(Event::TrainingStarted { total_timesteps: 0 });
        }
    }

    fn event(&mut self, event: Event) {
        let line = EventLine { attempt: self.attempt, t: unix_now(), event };
        serde_json::to_writer(&mut self.batch.events, &line).expect("records are plain data");
        self.batch.events.push(b'\n');
        self.is_urgent = true;
    }

    /// An event of the trainer's own making, of which there may be too many.
    fn trainer_event(&mut self, event: Event) -> Result<(), &'static str> {
        self.n_events += 1;
        if self.n_events > MAX_EVENTS {
            return Err("there are too many events");
        }
        self.event(event);
        Ok(())
    }

    /// Takes in what a line says, or says why it cannot be used.
    fn take(&mut self, message: Message, log: &mut Log) -> Result<(), &'static str> {
        match message {
            Message::Metrics(metrics) => self.metrics(metrics),
            Message::Step(step) => self.take_step(step),
            Message::Episode(episode) => self.episode(episode),
            Message::Heartbeat(heartbeat) => {
                self.reached(heartbeat.step.unwrap_or(0));
                Ok(())
            }
            Message::Config(config) => self.configure(config),
            Message::Checkpoint(checkpoint) => self.checkpoint(checkpoint),
            Message::Artifacts(artifacts) => {
                for (name, place) in &artifacts {
                    let checked = discovery::check_place(&self.folder, self.work.as_deref(), place);
                    if let Err(reason) = checked {
                        let message =
                            format!("The trainer named `{place}` as `{name}`, but {reason}");
                        self.trainer_event(Event::Warning { message })?;
                        return Err(reason);
                    }
                }
                let boards = artifacts.iter().filter(|(name, _)| *name == "tensorboard");
                self.boards.extend(boards.map(|(_, place)| place.clone()));
                self.trainer_event(Event::ArtifactsNamed { artifacts })
            }
            Message::Frame(frame) => {
                self.batch.frame = Some(frame.line);
                Ok(())
            }
            Message::Log(protocol::Log { level, message }) => {
                message.lines().for_each(|line| log.add(line.as_bytes()));
                match level {
                    LogLevel::Debug | LogLevel::Info => Ok(()),
                    LogLevel::Warning => self.trainer_event(Event::Warning { message }),
                    LogLevel::Error => self.trainer_event(Event::Error { message }),
                }
            }
            Message::ControlAck(ack) => self.acknowledge(ack),
            Message::Done(done) => {
                self.reached(done.step.unwrap_or(0));
                self.done = Some(done);
                Ok(())
            }
        }
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) -> Result<(), &'static str> {
        let Checkpoint { step, path, sha256 } = checkpoint;
        let path = path.trim_end_matches('/');
        if let Err(reason) = discovery::check_named(&self.folder, path) {
            let message = format!("The trainer named a checkpoint `{path}`, but {reason}");
            self.trainer_event(Event::Warning { message })?;
            return Err(reason);
        }
        // What came before it belongs to it, and what comes after it does not.
        if !self.row.is_empty() || !self.ended.is_empty() {
            self.write_row();
        }
        self.reached(step);
        self.checkpoint_step = Some(step);
        let below = path.strip_prefix("checkpoints/");
        self.trainer_event(Event::CheckpointSaved {
            step,
            name: below.unwrap_or(path).to_owned(),
            path: below.is_none().then(|| path.to_owned()),
            weights_sha256: sha256.unwrap_or_default(),
        })
    }

    fn configure(&mut self, mut config: TrainerConfig) -> Result<(), &'static str> {
        let restored = config.restored.clone().map(|restored| *restored);
        // What was said before holds until something else is said.
        match &config.capabilities {
            Some(said) => self.capabilities.clone_from(said),
            None if self.capabilities.is_empty() => {}
            None => config.capabilities = Some(self.capabilities.clone()),
        }
        self.args.clone_from(&config.args);
        self.trainer_event(Event::Configured(config))?;
        // A first attempt has nothing to go on from, unless it is that of a fork.
        let may_be_restored = self.attempt > 1 || !self.marks.checkpoints.is_empty();
        let Some(RestoredFrom { path, step }) = restored.filter(|_| may_be_restored) else {
            return Ok(());
        };
        let has_begun = self.n_rows > self.marks.last.row
            || self.n_episodes > self.marks.last.episode
            || !self.row.is_empty();
        // Who tells everything anew goes on from no checkpoint.
        let is_anew = path.is_empty() && step == 0;
        let known = self.marks.checkpoints.get(&step).copied();
        let mark = if is_anew { Some(Mark::default()) } else { known };
        let Some(mark) = mark.filter(|_| !has_begun) else {
            let why = if has_begun { "other lines came before" } else { "none is known there" };
            let message = format!("The trainer goes on from step {step}, but {why}");
            self.event(Event::Warning { message });
            return Ok(());
        };
        let Mark { row, episode, .. } = mark;
        (self.n_rows, self.n_episodes) = (row, episode);
        self.marks.last = mark;
        self.checkpoint_step = Some(step).filter(|_| !is_anew);
        self.counted = step;
        self.reached(step);
        self.last_progress = (Instant::now(), self.step);
        let checkpoint = path.strip_prefix("checkpoints/").unwrap_or(&path).to_owned();
        self.records.restored(Some(step));
        self.event(Event::Restored { checkpoint, step, row, episode });
        Ok(())
    }

    fn reached(&mut self, step: u64) {
        self.is_step_told |= step > 0;
        self.step = self.step.max(step);
    }

    fn metrics(&mut self, metrics: Metrics) -> Result<(), &'static str> {
        for (name, _) in &metrics.values {
            if self.names.get(name) != Some(&Source::Lines) && !self.know(name, Source::Lines) {
                return Err("there are too many names of metrics");
            }
        }
        self.reached(metrics.step.unwrap_or(0));
        let step = metrics.step.unwrap_or(self.step);
        metrics.values.into_iter().for_each(|(name, value)| self.put(step, name, value));
        Ok(())
    }

    /// Notes where a metric comes from; there may be too many of them.
    fn know(&mut self, name: &str, source: Source) -> bool {
        if !self.names.contains_key(name) && self.names.len() >= MAX_NAMES {
            return false;
        }
        self.names.insert(name.to_owned(), source);
        self.has_own_pace |= name == "time/fps";
        self.has_own_means |= name == "rollout/ep_rew_mean";
        true
    }

    /// Takes in what an event file says, but for what lines say as well.
    fn take_scalars(&mut self, scalars: Scalars) {
        let Scalars { step, values } = scalars;
        if !self.is_step_told {
            self.step = self.step.max(step);
        }
        for (name, value) in values {
            let is_taken = match self.names.get(&name) {
                Some(Source::Files) => true,
                Some(Source::Lines) => false,
                None => protocol::is_metric_name(&name) && self.know(&name, Source::Files),
            };
            if is_taken {
                self.put(step, name, Some(value).filter(|value| value.is_finite()));
            }
        }
    }

    /// Puts a value into the row of its step.
    fn put(&mut self, step: u64, name: String, value: Option<f64>) {
        let is_full = self.row.len() >= MAX_ROW_VALUES;
        if step != self.row_step || is_full || self.row.contains_key(&name) {
            self.end_row();
            self.row_step = step;
        }
        self.row.insert(name, value);
    }

    fn take_step(&mut self, step: Step) -> Result<(), &'static str> {
        let Step { episode_id, step: _, action, reward, terminated, truncated, obs, t } = step;
        if !self.open.contains_key(&episode_id) {
            if self.open.len() >= MAX_OPEN_EPISODES {
                return Err("there are too many open episodes");
            }
            self.open.insert(episode_id.clone(), Open::default());
        }
        let open = self.open.get_mut(&episode_id).expect("it is there");
        open.steps = open.steps.saturating_add(1);
        open.total += reward;
        self.counted += 1;
        self.step = self.step.max(self.counted);
        if (terminated || truncated) && open.ended_at.is_none() {
            let now = Instant::now();
            open.terminated = terminated;
            open.truncated = truncated;
            open.ended_at = Some(now);
            self.closing.push_back((now, episode_id.clone()));
        }
        let record = StepRecord { action, reward, terminated, truncated, obs, t };
        self.batch.plays.push_back(Play::Step(episode_id, record));
        Ok(())
    }

    fn episode(&mut self, episode: Episode) -> Result<(), &'static str> {
        if let Some(at) = self.closed.iter().position(|id| *id == episode.episode_id) {
            self.closed.remove(at);
            return Err("the episode was closed by its last step a while ago");
        }
        let open = self.open.remove(&episode.episode_id).unwrap_or_default();
        // Steps that were not told one by one.
        self.counted += u64::from(episode.steps.saturating_sub(open.steps));
        self.reached(episode.timestep.unwrap_or(self.counted));
        let terminated = episode.terminated.unwrap_or(open.terminated);
        let truncated = episode.truncated.unwrap_or(open.truncated);
        let step = episode.timestep.unwrap_or(self.step);
        let head = EpisodeHead {
            reward: episode.total,
            length: episode.steps,
            step,
            seed: episode.seed,
            terminated,
            truncated,
            ..self.head(episode.episode_id)
        };
        self.end_episode(head);
        Ok(())
    }

    /// What every episode that ends now has in common.
    fn head(&self, foreign_id: String) -> EpisodeHead {
        EpisodeHead {
            episode: self.n_episodes + 1,
            attempt: self.attempt,
            lane: 0,
            seed: None,
            reward: 0.0,
            length: 0,
            step: self.step,
            terminated: false,
            truncated: false,
            checkpoint_step: self.checkpoint_step,
            t: unix_now(),
            foreign_id: Some(foreign_id),
        }
    }

    fn end_episode(&mut self, head: EpisodeHead) {
        self.n_episodes += 1;
        let ended = &mut self.ended;
        ended.episode.push(head.episode);
        ended.reward.push(Some(head.reward).filter(|reward| reward.is_finite()));
        ended.length.push(head.length);
        ended.timestep.push(head.step);
        ended.seed.push(head.seed);
        ended.terminated.push(head.terminated);
        self.recent.push_back((head.reward, head.length));
        if self.recent.len() > N_RECENT {
            self.recent.pop_front();
        }
        self.batch.plays.push_back(Play::End(Box::new(head)));
        self.batch.plays_bytes += 200;
    }

    /// Closes the episodes whose last step came before `deadline` and that no line has closed.
    fn close_ended(&mut self, deadline: Instant) {
        while self.closing.front().is_some_and(|(since, _)| *since <= deadline) {
            let Some((_, id)) = self.closing.pop_front() else { return };
            // A line may have closed it, and another one may have its name by now.
            let is_due = |open: &Open| open.ended_at.is_some_and(|at| at <= deadline);
            if !self.open.get(&id).is_some_and(is_due) {
                continue;
            }
            let Some(open) = self.open.remove(&id) else { continue };
            let head = EpisodeHead {
                reward: open.total,
                length: open.steps,
                terminated: open.terminated,
                truncated: open.truncated,
                ..self.head(id.clone())
            };
            self.end_episode(head);
            self.closed.push_back(id);
            if self.closed.len() > 1024 {
                self.closed.pop_front();
            }
        }
    }

    fn close_all(&mut self) {
        self.close_ended(Instant::now());
        self.progress();
        self.end_row();
    }

    /// A row of our own when the trainer has not sent what lists of runs show.
    fn progress(&mut self) {
        let (then, before) = self.last_progress;
        if self.step == before && self.ended.is_empty() {
            return;
        }
        let seconds = then.elapsed().as_secs_f64();
        self.last_progress = (Instant::now(), self.step);
        if self.row_step != self.step {
            self.end_row();
            self.row_step = self.step;
        }
        if !self.has_own_pace && self.step > before && seconds > 0.1 {
            let pace = (self.step - before) as f64 / seconds;
            self.row.insert("time/fps".to_owned(), Some(pace));
        }
        if !self.has_own_means && !self.recent.is_empty() {
            // Of the finite ones: a single NaN would hide the mean of a hundred episodes.
            let rewards = self.recent.iter().map(|(reward, _)| *reward);
            let lengths = self.recent.iter().map(|(_, length)| f64::from(*length));
            let means = [mean(rewards.filter(|reward| reward.is_finite())), mean(lengths)];
            for (name, mean) in ["rollout/ep_rew_mean", "rollout/ep_len_mean"].iter().zip(means) {
                self.row.insert((*name).to_owned(), mean);
            }
        }
        self.write_row();
    }

    /// Ends the row that is being filled, if there is one.
    fn end_row(&mut self) {
        if !self.row.is_empty() {
            self.write_row();
        }
    }

    fn write_row(&mut self) {
        self.n_rows += 1;
        let line = MetricLine {
            attempt: self.attempt,
            row: self.n_rows,
            t: unix_now(),
            step: self.row_step,
            values: std::mem::take(&mut self.row),
            episodes: std::mem::take(&mut self.ended),
        };
        serde_json::to_writer(&mut self.batch.rows, &line).expect("records are plain data");
        self.batch.rows.push(b'\n');
        self.records.row(&line);
        self.batch.records.append(&mut self.records.take());
    }

    fn acknowledge(&mut self, ack: ControlAck) -> Result<(), &'static str> {
        let Some(Delivered { command, by, .. }) = self.delivered.remove(&ack.seq) else {
            return Err("no control line with this number waits to be acknowledged");
        };
        self.reached(ack.step.unwrap_or(0));
        if matches!(command, Command::Watch { .. }) {
            // Who watches is no matter of the log.
            return Ok(());
        }
        let step = ack.step.unwrap_or(self.step);
        if !ack.ok {
            let why = ack.message.unwrap_or_else(|| "it did not say why".to_owned());
            if ack.seq >= OWN_SEQ {
                self.answers.insert(ack.seq, Err(why));
                return Ok(());
            }
            let message = format!("The trainer refused control line {}: {why}", ack.seq);
            self.event(Event::Warning { message });
            self.refused.push(Refusal { seq: ack.seq, command, reason: why });
            return Ok(());
        }
        if ack.seq >= OWN_SEQ {
            self.answers.insert(ack.seq, Ok(()));
        }
        let effect = match &command {
            Command::Pause => Some(Event::Paused { step }),
            Command::Resume => Some(Event::Resumed { step }),
            Command::Tune { path, value } => {
                let (path, new) = (path.clone(), *value);
                let before = self.tuned.insert(path.clone(), new);
                let old = ack.old.or(before).or_else(|| tunable::said_in(&self.args, &path));
                Some(Event::TuneApplied { path, old, new, by, step })
            }
            _ => None,
        };
        self.event(Event::ControlAck { control: ack.seq, command, step });
        effect.into_iter().for_each(|event| self.event(event));
        Ok(())
    }
}

/// The mean of some numbers; nothing of none, or where it is not finite.
fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = numbers.fold((0.0, 0.0), |(n, sum), number| (n + 1.0, sum + number));
    Some(sum / n).filter(|mean: &f64| mean.is_finite())
}

/// Writes the files, in a thread of its own.
struct Writer {
    episodes: EpisodeWriter,
    attempt: u32,
    events: Appender,
    metrics: Appender,
    event_file: EventFile,
    frame_path: PathBuf,
    /// What was taken and is not written yet.
    pending: Batch,
    last_sync: Instant,
    unsynced: bool,
    /// Whether episodes have ended that are not durable.
    has_ended: bool,
}

impl Writer {
    fn work(mut self, shared: &Shared) {
        let mut ending_since = None;
        let mut trouble_since: Option<(Instant, String)> = None;
        loop {
            let is_ending = {
                let mut state = held(&shared.state);
                if !state.is_urgent && !state.is_ending {
                    let waited = shared.wake.wait_timeout(state, FLUSH);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                state.close_ended(
                    Instant::now().checked_sub(CLOSE_AFTER).unwrap_or_else(Instant::now),
                );
                if state.last_progress.0.elapsed() >= PROGRESS {
                    state.progress();
                }
                state.end_row();
                state.is_urgent = false;
                self.pending.append(std::mem::take(&mut state.batch));
                state.unwritten = self.pending.size();
                state.is_ending
            };
            held(&shared.log).flush();
            let written = self.write(is_ending);
            let mut state = held(&shared.state);
            state.unwritten = self.pending.size();
            shared.room.notify_all();
            match written {
                Ok(()) => {
                    state.trouble = None;
                    if let Some((since, what)) = trouble_since.take() {
                        let seconds = since.elapsed().as_secs_f64();
                        let message = format!(
                            "The disk refused writes for {seconds:.1} s ({what}); nothing was lost"
                        );
                        state.event(Event::Warning { message });
                        continue;
                    }
                    if is_ending && self.pending.is_empty() && state.batch.is_empty() {
                        return;
                    }
                }
                Err(error) => {
                    let what = error.to_string();
                    state.trouble = Some(what.clone());
                    trouble_since.get_or_insert((Instant::now(), what));
                    let since = *ending_since.get_or_insert_with(Instant::now);
                    if is_ending && since.elapsed() >= LAST_TRIES {
                        return;
                    }
                    if !is_ending {
                        ending_since = None;
                    }
                    drop(state);
                    thread::sleep(FLUSH);
                }
            }
        }
    }

    /// Writes what is pending; what could not be written stays pending.
    fn write(&mut self, is_ending: bool) -> StoreResult<()> {
        let has_events = !self.pending.events.is_empty();
        let is_due = self.last_sync.elapsed() >= GROUP_COMMIT || is_ending;
        // What the disk refuses waits in the writer of episodes, which tries it again: first that,
        // then more, so that not everything piles up there.
        self.episodes.flush()?;
        while let Some(play) = self.pending.plays.pop_front() {
            self.unsynced = true;
            match play {
                Play::Step(id, step) => self.episodes.step(self.attempt, &id, &step)?,
                Play::End(head) => {
                    self.has_ended = true;
                    self.episodes.end(&head)?;
                }
            }
        }
        self.pending.plays_bytes = 0;
        if self.has_ended || is_due || has_events {
            self.episodes.sync()?;
            self.has_ended = false;
        }
        if !self.pending.rows.is_empty() {
            self.metrics.append_lines(&self.pending.rows)?;
            self.pending.rows.clear();
            self.unsynced = true;
        }
        // A convenience, which is written as far as it can be.
        self.event_file.append(&std::mem::take(&mut self.pending.records));
        if self.unsynced && (has_events || is_due) {
            self.metrics.sync()?;
            self.unsynced = false;
            self.last_sync = Instant::now();
        }
        if has_events {
            self.events.append_lines(&self.pending.events)?;
            self.pending.events.clear();
            self.events.sync()?;
        }
        if let Some(frame) = self.pending.frame.take() {
            // A picture is for the moment: one that cannot be written is no loss.
            let beside = self.frame_path.with_extension("new");
            _ = std::fs::write(&beside, frame)
                .and_then(|()| std::fs::rename(&beside, &self.frame_path));
        }
        Ok(())
    }
}

/// The socket whose path is in `CARTRIDGE_EVENTS`.
#[derive(Debug)]
pub(crate) struct Socket {
    path: PathBuf,
    /// A folder that was made for it alone.
    folder: Option<PathBuf>,
    is_closing: Arc<AtomicBool>,
    accepting: Option<JoinHandle<Vec<JoinHandle<()>>>>,
}

impl Socket {
    /// Listens at a place of this attempt alone, so that what is left of an older one finds
    /// nothing there.
    pub(crate) fn listen(dir: &RunDir, attempt: u32) -> Result<(Self, UnixListener)> {
        let mut path = dir.path().join(format!("events-{attempt}.sock"));
        let mut folder = None;
        // The system allows 108 bytes for the path of a socket.
        if path.as_os_str().len() > 100 {
            let name = &crate::secret::random_hex()[..12];
            let short = std::env::temp_dir().join(format!("cartridge-{name}"));
            make_private(&short).map_err(StoreError::io(&short))?;
            path = short.join("events.sock");
            folder = Some(short);
        }
        _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).map_err(StoreError::io(&path))?;
        listener.set_nonblocking(true).map_err(StoreError::io(&path))?;
        let is_closing = Arc::new(AtomicBool::new(false));
        Ok((Self { path, folder, is_closing, accepting: None }, listener))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Hands every connection to `read`, which starts a thread for it.
    pub(crate) fn serve(
        &mut self,
        listener: UnixListener,
        read: impl Fn(UnixStream) -> JoinHandle<()> + Send + 'static,
    ) {
        let is_closing = Arc::clone(&self.is_closing);
        self.accepting = Some(thread::spawn(move || {
            let mut readers: Vec<JoinHandle<()>> = Vec::new();
            loop {
                // Looked at before accepting, so that whoever connected before is still heard.
                let is_last = is_closing.load(Ordering::Acquire);
                while let Ok((stream, _)) = listener.accept() {
                    readers.retain(|reader| !reader.is_finished());
                    // One too many is shown the door.
                    if readers.len() < MAX_CONNECTIONS && stream.set_nonblocking(false).is_ok() {
                        readers.push(read(stream));
                    }
                }
                if is_last {
                    return readers;
                }
                let mut fds = [PollFd::new(&listener, PollFlags::IN)];
                let timeout = rustix::event::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
                _ = poll(&mut fds, Some(&timeout));
            }
        }));
    }

    /// Takes no more connections and returns the readers of those that are there.
    pub(crate) fn close(mut self) -> Vec<JoinHandle<()>> {
        self.is_closing.store(true, Ordering::Release);
        let readers = self.accepting.take().and_then(|thread| thread.join().ok());
        readers.unwrap_or_default()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.is_closing.store(true, Ordering::Release);
        _ = std::fs::remove_file(&self.path);
        if let Some(folder) = &self.folder {
            _ = std::fs::remove_dir(folder);
        }
    }
}

pub(crate) fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(folder)
}

#[cfg(test)]
mod tests;
