//! One door to everything that the lab knows and can do.
//!
//! The lab owns no run: it starts supervisors, tails their folders into the index
//! ([`Lab::tick`]), and answers from there. Everything here blocks; the server calls it off its
//! event loop.

mod alerts;
mod analysis;
mod contests;
mod evaluations;
mod experiments;
mod models;
mod networks;
mod readiness;
mod steering;
mod trainers;
mod views;
mod wandb;

pub use self::contests::{ContestView, NewMatch, NewTournament};
pub use self::evaluations::{EvaluationView, EvaluationsOf, is_told};
pub use self::experiments::{ExperimentView, GroupView};
pub use self::networks::{NetworkKind, NetworkView, StrengthRating};
pub use self::views::DiskProblem;
pub use self::wandb::{CardChange, WandbRun};

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use cartridge_store::beneath::Beneath;
use cartridge_store::follow::metrics_in;
use cartridge_store::index::{Checkpoint, FeedRow, IndexedRun};
use cartridge_store::{
    DataDir, EventLine, FeedItem, Index, Manifest, MetricLine, RunFilter, RunId, RunKind, RunState,
    StoreError,
};

use crate::alert::{self, Alert};
use crate::audit::{Deed, Marks};
use crate::cluster::RunCost;
use crate::discovery::Subject;
use crate::episode::Archives;
use crate::error::{Result, RunError};
use crate::launch::Launcher;
use crate::leaderboard::Leaderboard;
use crate::queue::Limits;
use crate::retention::Prices;
use crate::secret;
use crate::supervisor::{HEARTBEAT, LOST_AFTER};
use crate::tensorboard::viewer::Viewers;

/// Silence after which a run is no longer fresh.
const STALE_AFTER: Duration = Duration::from_millis(HEARTBEAT.as_millis() as u64 * 3 / 2);

/// Waiting runs that are looked at together.
const MOST_WAITING: usize = 100_000;

/// How long a run that is started again may take to say so.
const WAKING: Duration = Duration::from_secs(30);

/// How often the runs folder is searched for runs that others have made.
const DISCOVERY: Duration = Duration::from_secs(1);

/// Time in which a tick takes in files; what is left waits for the next one, so that a flood in
/// one run delays neither the others nor the feed.
const TICK_TIME: Duration = Duration::from_millis(120);

/// The same for the tick at the start: the lab is ready within two seconds, whatever it finds.
const OPENING_TIME: Duration = Duration::from_secs(1);

/// Lost runs that are looked at in one discovery: one seldom comes back, and there may be many.
const LOST_LOOKS: usize = 64;

/// Ended runs that are looked at in one discovery, in case somebody started one again beside the
/// lab; a look is one question to the file system.
const ENDED_LOOKS: usize = 256;

/// How often the index is tidied up.
const HOUSEKEEPING: Duration = Duration::from_secs(60);

/// A write-ahead log that is longer is not left lying for that long.
const MOST_WAL_BYTES: u64 = 16 * 1024 * 1024;

/// Metrics after which a page of the feed is long enough.
const PAGE_BYTES: u64 = 2 * 1024 * 1024;

/// Questions that are answered at once.
const READERS: usize = 4;

/// The lab over one data folder.
#[derive(Debug)]
pub struct Lab {
    pub(crate) data: DataDir,
    pub(crate) launcher: Launcher,
    /// The one connection that writes the index.
    writer: Mutex<Index>,
    /// Answer queries; with WAL they do not wait for the writer.
    readers: [Mutex<Index>; READERS],
    /// Set when the index turned out to be damaged; the next tick makes it anew.
    is_damaged: AtomicBool,
    /// Whether the last tick had no time for all that is new.
    is_behind: AtomicBool,
    /// Held for moments only, and never while the index is written.
    watch: Mutex<Watch>,
    /// What was taken in outside a tick, to be told at the next.
    untold: Mutex<Vec<FeedRow>>,
    /// How much may be at work at once.
    limits: Limits,
    /// Held while runs are made and started, so that each is once.
    starts: Mutex<Starts>,
    /// What the audit says of the runs.
    marks: Mutex<Marks>,
    pub(crate) archives: Archives,
    /// The log of matches, and what was made of it.
    matches: Mutex<contests::Matches>,
    /// Leaderboards by environment, and when each was worked out.
    boards: Mutex<HashMap<String, (Instant, Arc<Leaderboard>)>>,
    /// What was last said of runs, so that it is worked out once per row.
    said: analysis::Said,
    /// How the alerts stand.
    alerts: Mutex<alert::Book>,
    /// Runs of which something was heard since the watch last looked.
    stirred: Mutex<BTreeSet<RunId>>,
    /// What the machine costs, as `lab.json` had it, and when that was read.
    prices: Mutex<Option<(Instant, Prices)>>,
    /// Bytes that were removed because they were not to be kept.
    pub(crate) pruned_bytes: AtomicU64,
    /// TensorBoard, for runs that somebody looks at with it.
    pub(crate) viewers: Viewers,
    /// What is remembered of `wandb` clients.
    wandb: Mutex<wandb::Door>,
    /// How long those may be silent.
    wandb_patience_s: AtomicU64,
    /// Held for as long as the lab lives, so that there is one lab per data folder.
    lock: Mutex<File>,
}

/// What the lab saw, measured on a clock that never jumps.
#[derive(Debug, Default)]
struct Watch {
    /// The active runs.
    pulses: HashMap<RunId, Pulse>,
    /// Runs that could not be taken in, so that each is said once.
    damaged: HashSet<RunId>,
    last_discovery: Option<Instant>,
    /// When the folder of runs was last changed, at the two latest looks at its content.
    listed: [Option<SystemTime>; 2],
    /// The same of the folder of experiments.
    listed_experiments: [Option<SystemTime>; 2],
    /// Whether it holds something that is no run yet.
    has_unfinished: bool,
    /// The runs for which the last tick had no time.
    left: VecDeque<RunId>,
    /// The lost run that was looked at last.
    last_lost: Option<RunId>,
    /// The ended run that was looked at last; none after the last of all.
    last_ended: Option<RunId>,
    last_housekeeping: Option<Instant>,
    /// Why runs fell silent, where that can be told.
    lost_reasons: HashMap<RunId, String>,
    /// Runs that have ended and are started again by somebody: since when they are looked at.
    waking: HashMap<RunId, Instant>,
}

/// Starts that are under way or planned, measured on a clock that never jumps.
#[derive(Debug, Default)]
struct Starts {
    /// Runs whose supervisor was started and has not spoken yet.
    launched: HashMap<RunId, Instant>,
    /// Runs that failed and will be started again: after which attempt, and when.
    restarts: HashMap<RunId, (u32, Instant)>,
}

/// The signs of life of one run.
#[derive(Clone, Copy, Debug)]
struct Pulse {
    /// When its supervisor was last heard.
    heard: Instant,
    /// What readers of the feed were last told.
    health: Health,
}

impl Pulse {
    fn health(&self) -> Health {
        match self.heard.elapsed() {
            age if age < STALE_AFTER => Health::Fresh,
            age if age < LOST_AFTER => Health::Stale,
            _ => Health::Dead,
        }
    }
}

/// How recent the signs of life of a run are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// The supervisor spoke on time.
    Fresh,
    /// It is late.
    Stale,
    /// It is gone.
    Dead,
}

/// A run with what the lab itself saw of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunView {
    /// What the files say.
    pub run: IndexedRun,
    /// How recent its signs of life are.
    pub health: Health,
    /// Time since its supervisor was heard, while it should be.
    pub heartbeat_age: Option<Duration>,
    /// Whether it was put away.
    pub is_archived: bool,
    /// Whether it is to be kept.
    pub is_pinned: bool,
    /// Checkpoints of it that are to be kept.
    pub pinned_checkpoints: BTreeSet<String>,
    /// Its forks.
    pub children: Vec<RunId>,
    /// What it costs and in which currency, where there are prices.
    pub cost: Option<(String, RunCost)>,
}

/// A run in the trash.
#[derive(Clone, Debug, PartialEq)]
pub struct DeletedRun {
    /// What it is.
    pub manifest: Manifest,
    /// When it was moved there.
    pub deleted_at: f64,
    /// When it will be removed for good.
    pub purge_at: f64,
}

/// One message of the live feed.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedMessage {
    /// Its place in the one sequence.
    pub seq: u64,
    /// The run; none where it is about the lab.
    pub run_id: Option<RunId>,
    /// The run that it evaluates, so that whoever follows that one hears of it.
    pub evaluates: Option<RunId>,
    /// What happened.
    pub news: FeedNews,
}

/// What a message of the live feed says.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedNews {
    /// The run got on: its status, and the rows that arrived.
    Progress(Box<RunView>, Vec<MetricLine>),
    /// An event was logged, with its number in the run.
    Event(u64, EventLine),
    /// An alert fired, or changed.
    Alert {
        /// How it stands.
        alert: Box<Alert>,
        /// Whether it has just fired.
        is_new: bool,
    },
    /// The run was deleted.
    Deleted,
}

/// A stretch of the feed without a gap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeedPage {
    /// The number before the first.
    pub after: u64,
    /// The last number; [`Self::after`] when there is nothing.
    pub upto: u64,
    /// The messages between. Numbers of runs that have been deleted since have none.
    pub messages: Vec<FeedMessage>,
}

/// The content of an artifact, opened.
#[derive(Debug)]
pub enum ArtifactContent {
    /// A file.
    File {
        /// To be read.
        file: File,
        /// How much there is to read.
        size_bytes: u64,
    },
    /// A folder.
    Folder(Beneath),
}

/// Where a reader of the feed stands.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedPosition {
    /// Everything after this number can be had.
    Known(u64),
    /// The number is not ours, or too old: start again from this one with a snapshot.
    Reset(u64),
}

impl Lab {
    /// Opens the lab over a data folder; fails when another lab is at work there.
    pub fn open(data: DataDir, launcher: Launcher, limits: Limits) -> Result<Self> {
        let lock = lock_data(&data)?;
        // Made now, so that nobody finds out later that it cannot be.
        secret::control_key(&data)?;
        let writer = Mutex::new(Index::open(&data)?);
        let lab = Self {
            writer,
            readers: open_readers(&data)?,
            data,
            launcher,
            is_damaged: AtomicBool::new(false),
            is_behind: AtomicBool::new(false),
            watch: Mutex::default(),
            untold: Mutex::default(),
            limits,
            starts: Mutex::default(),
            marks: Mutex::default(),
            archives: Archives::default(),
            matches: Mutex::default(),
            boards: Mutex::default(),
            said: analysis::Said::default(),
            alerts: Mutex::default(),
            stirred: Mutex::default(),
            prices: Mutex::default(),
            pruned_bytes: AtomicU64::new(0),
            viewers: Viewers::default(),
            wandb: Mutex::default(),
            wandb_patience_s: AtomicU64::new(crate::wandb::PATIENCE.as_secs()),
            lock: Mutex::new(lock),
        };
        lab.open_alerts()?;
        lab.mending(|| lab.take_in(OPENING_TIME))?;
        // Those that failed while nobody was there to start them again.
        let broken = RunFilter {
            kinds: vec![RunKind::Train, RunKind::External],
            states: vec![RunState::Failed, RunState::Lost],
            ..RunFilter::default()
        };
        for run in lab.read(|index| index.runs(&broken, 500, None))? {
            lab.plan_restart(&run);
        }
        Ok(lab)
    }

    /// Asks the index.
    fn read<T>(&self, question: impl FnOnce(&Index) -> cartridge_store::Result<T>) -> Result<T> {
        let free = self.readers.iter().find_map(|reader| reader.try_lock().ok());
        let answer = question(&free.unwrap_or_else(|| held(&self.readers[0])));
        if answer.as_ref().is_err_and(StoreError::is_index_damage) {
            // The next tick mends it.
            self.is_damaged.store(true, Ordering::Relaxed);
        }
        Ok(answer?)
    }

    /// Makes the index anew. Nothing is lost: all of it is in the files.
    fn mend(&self) -> Result<()> {
        let mut writer = held(&self.writer);
        let mut readers = self.readers.each_ref().map(held);
        // Closed before it is removed: closing tidies up files by their names.
        *writer = Index::empty()?;
        for reader in &mut readers {
            **reader = Index::empty()?;
        }
        Index::remove(&self.data)?;
        *writer = Index::open(&self.data)?;
        for reader in &mut readers {
            **reader = Index::open(&self.data)?;
        }
        held(&self.untold).clear();
        *held(&self.watch) = Watch::default();
        self.is_damaged.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Tells others who want this data folder where this lab can be found.
    pub fn announce(&self, address: &str) -> Result<()> {
        let path = self.data.path().join("lab.lock");
        let mut file = held(&self.lock);
        // The limits are for those who make runs beside the lab.
        let limits = serde_json::to_string(&self.limits).expect("limits are plain data");
        let text = format!("{address}\n{limits}\n");
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(text.as_bytes()));
        Ok(written.map_err(StoreError::io(path))?)
    }

    /// The data folder.
    pub fn data(&self) -> &DataDir {
        &self.data
    }

    /// Takes in what is new on disk, starts what can be started, and returns what readers of the
    /// feed should hear.
    pub fn tick(&self) -> Result<FeedPage> {
        let rows = self.mending(|| self.take_in(TICK_TIME))?;
        self.look_after();
        let after = rows.first().map_or(0, |row| row.seq - 1);
        self.page(after, &rows)
    }

    /// [`Self::tick`] while nobody listens: the messages can be had by [`Self::feed_after`]. Returns
    /// the newest number when there is something new.
    pub fn tick_unheard(&self) -> Result<Option<u64>> {
        let rows = self.mending(|| self.take_in(TICK_TIME))?;
        self.look_after();
        Ok(rows.last().map(|row| row.seq))
    }

    /// Starts what can be started, and removes what has been in the trash for long enough.
    fn look_after(&self) {
        // What cannot be started must not silence the rest.
        for done in [self.start_waiting(), self.restart_failed(), self.empty_trash()] {
            if let Err(error) = done {
                tracing::warn!(%error, "cannot look after the runs");
            }
        }
    }

    /// Whether the last tick left something for the next one, which should then come soon.
    pub fn is_behind(&self) -> bool {
        self.is_behind.load(Ordering::Relaxed)
    }

    /// Works on the index; one that turns out to be damaged is made anew.
    fn mending<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        let done = if self.is_damaged.load(Ordering::Relaxed) { None } else { Some(work()) };
        match done {
            Some(Err(RunError::Store(error))) if error.is_index_damage() => {
                tracing::warn!(%error, "the index is damaged and is made anew");
            }
            Some(done) => return done,
            None => tracing::warn!("the index is damaged and is made anew"),
        }
        self.mend()?;
        work()
    }

    fn take_in(&self, time: Duration) -> Result<Vec<FeedRow>> {
        let began = Instant::now();
        let is_discovery = {
            let mut watch = held(&self.watch);
            let due = watch.last_discovery.is_none_or(|last| last.elapsed() >= DISCOVERY);
            if due {
                watch.last_discovery = Some(Instant::now());
            }
            due
        };
        let done = held(&self.marks).advance(&self.data)?;
        let mut index = held(&self.writer);
        // Taken while nobody else can write, so that numbers are told in their order.
        let mut rows = std::mem::take(&mut *held(&self.untold));
        for line in done {
            let Some(run) = line.run() else { continue };
            match line.what {
                Deed::Resume | Deed::Start => self.wake(&run),
                // One that somebody made beside the lab waits for it.
                Deed::Create | Deed::Fork | Deed::Evaluate if index.run(&run).is_err() => {
                    self.wake(&run);
                }
                Deed::Archive | Deed::Unarchive | Deed::Pin | Deed::Unpin
                    if index.run(&run).is_ok() =>
                {
                    rows.push(index.publish_status(&run)?);
                }
                _ => {}
            }
        }
        if is_discovery && self.is_experiment_listing_due() {
            for (id, error) in index.take_in_experiments(&self.data)? {
                tracing::warn!(experiment = %id, %error, "cannot take in an experiment");
            }
        }
        let mut due = self.due(&mut index, is_discovery, &mut rows)?;
        while let Some(id) = due.pop_front() {
            match self.ingest(&mut index, &id) {
                Ok((mut new, has_more)) => {
                    held(&self.watch).damaged.remove(&id);
                    rows.append(&mut new);
                    if has_more {
                        due.push_back(id);
                    }
                }
                // A folder without a manifest is being made, or was never finished.
                Err(RunError::Store(StoreError::NoSuchRun(_))) => {
                    held(&self.watch).has_unfinished = true;
                }
                // The trouble is not with this run.
                Err(RunError::Store(error))
                    if error.is_index_damage() || error.is_index_unwritable() =>
                {
                    held(&self.untold).append(&mut rows);
                    held(&self.watch).has_unfinished = true;
                    return Err(error.into());
                }
                // One damaged run must not silence the others.
                Err(error) => {
                    let mut watch = held(&self.watch);
                    watch.has_unfinished = true;
                    if watch.damaged.insert(id.clone()) {
                        tracing::warn!(run = %id, %error, "cannot take in a run");
                    }
                }
            }
            if began.elapsed() >= time {
                break;
            }
        }
        self.is_behind.store(!due.is_empty(), Ordering::Relaxed);
        held(&self.watch).left = due;
        self.keep_house(&mut index)?;
        Ok(rows)
    }

    /// The runs to be looked at in this tick, beginning with those for which the last had no time.
    /// `told` gets what the feed says of those that are gone.
    fn due(
        &self,
        index: &mut Index,
        is_discovery: bool,
        told: &mut Vec<FeedRow>,
    ) -> Result<VecDeque<RunId>> {
        let active = index.active()?;
        let (mut due, is_listing) = {
            let mut watch = held(&self.watch);
            let mut due = std::mem::take(&mut watch.left);
            due.extend(watch.waking.keys().cloned());
            let (mut lost, live): (Vec<_>, Vec<_>) =
                active.into_iter().partition(|(_, is_lost)| *is_lost);
            let live = live.into_iter().map(|(id, _)| id);
            due.extend(live.filter(|id| is_discovery || !watch.damaged.contains(id)));
            if is_discovery {
                lost.sort();
                let last = watch.last_lost.take();
                let first = lost.partition_point(|(id, _)| last.as_ref() >= Some(id));
                let n_lost = lost.len().max(1);
                lost.rotate_left(first % n_lost);
                lost.truncate(LOST_LOOKS);
                watch.last_lost = lost.last().map(|(id, _)| id.clone());
                due.extend(lost.into_iter().map(|(id, _)| id));
            }
            (due, is_discovery && self.is_listing_due(&mut watch))
        };
        if is_discovery {
            let last = held(&self.watch).last_ended.take();
            let ended = index.ended(last.as_ref(), ENDED_LOOKS)?;
            if ended.len() == ENDED_LOOKS {
                held(&self.watch).last_ended = ended.last().map(|(id, _)| id.clone());
            }
            let is_longer = |(id, known): &(RunId, u64)| {
                let path = self.data.run(id).supervisor_path();
                std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > *known)
            };
            due.extend(ended.into_iter().filter(is_longer).map(|(id, _)| id));
        }
        if is_listing {
            let known = index.known()?;
            let present: BTreeSet<RunId> = self.data.run_ids()?.into_iter().collect();
            due.extend(present.difference(&known).cloned());
            for gone in known.difference(&present) {
                told.extend(index.forget(gone)?);
            }
            due.retain(|id| present.contains(id));
        }
        let mut seen = HashSet::new();
        due.retain(|id| seen.insert(id.clone()));
        Ok(due)
    }

    /// Whether the folder of runs may hold others than at the last look. Its time of change is as
    /// coarse as the system's tick, so one more look follows a look that found it changed.
    fn is_listing_due(&self, watch: &mut Watch) -> bool {
        let runs = self.data.path().join("runs");
        let changed = std::fs::metadata(runs).and_then(|metadata| metadata.modified()).ok();
        let is_same = changed.is_some() && watch.listed == [changed; 2];
        watch.listed = [watch.listed[1], changed];
        std::mem::take(&mut watch.has_unfinished) || !is_same
    }

    /// Whether the folder of experiments may hold others than at the last look, as above.
    fn is_experiment_listing_due(&self) -> bool {
        let folder = cartridge_store::experiments::folder(&self.data);
        let changed = std::fs::metadata(folder).and_then(|metadata| metadata.modified()).ok();
        let mut watch = held(&self.watch);
        let is_same = watch.listed_experiments == [changed; 2];
        watch.listed_experiments = [watch.listed_experiments[1], changed];
        !is_same
    }

    /// Forgets old rows of the feed, and empties the write-ahead log, which would grow without
    /// bound under load: readers keep SQLite from doing so by itself.
    fn keep_house(&self, index: &mut Index) -> Result<()> {
        let is_due = {
            let mut watch = held(&self.watch);
            let last = *watch.last_housekeeping.get_or_insert_with(Instant::now);
            let is_due = last.elapsed() >= HOUSEKEEPING || index.wal_bytes() > MOST_WAL_BYTES;
            if is_due {
                watch.last_housekeeping = Some(Instant::now());
            }
            is_due
        };
        if !is_due || index.wal_bytes() == 0 {
            return Ok(());
        }
        index.prune_feed()?;
        let Checkpoint { wal_bytes, busy, log, checkpointed } = index.checkpoint()?;
        tracing::info!(wal_bytes, busy, log, checkpointed, "emptied the index's write-ahead log");
        Ok(())
    }

    fn ingest(&self, index: &mut Index, id: &RunId) -> Result<(Vec<FeedRow>, bool)> {
        let (news, mut rows) = index.ingest(&self.data, id)?;
        if !rows.is_empty() {
            held(&self.stirred).insert(id.clone());
        }
        let run = index.run(id)?;
        let state = run.status.state();
        self.plan_restart(&run);
        let (health, is_news) = {
            let mut watch = held(&self.watch);
            let is_awake = state.is_active() && state != RunState::Queued;
            if is_awake || watch.waking.get(id).is_some_and(|since| since.elapsed() > WAKING) {
                watch.waking.remove(id);
            }
            let is_waiting = state == RunState::Queued && run.manifest.is_supervised();
            if state.is_final() || is_waiting || run.manifest.kind == RunKind::Human {
                watch.pulses.remove(id);
                return Ok((rows, news.has_more));
            }
            let pulse = watch
                .pulses
                .entry(id.clone())
                .or_insert_with(|| Pulse { heard: Instant::now(), health: Health::Fresh });
            if news.supervisor_spoke {
                pulse.heard = Instant::now();
            }
            let health = pulse.health();
            let is_news = std::mem::replace(&mut pulse.health, health) != health;
            if news.supervisor_spoke {
                watch.lost_reasons.remove(id);
            }
            (health, is_news)
        };
        if is_news {
            held(&self.stirred).insert(id.clone());
        }
        if health == Health::Dead && state != RunState::Lost {
            if let Some(reason) = self.why_disk_fails() {
                held(&self.watch).lost_reasons.insert(id.clone(), reason);
            }
            // On a full disk this fails too; whoever looks is told all the same.
            rows.append(&mut index.mark_lost(id)?);
        } else if is_news && rows.is_empty() {
            rows.push(index.publish_status(id)?);
        }
        Ok((rows, news.has_more))
    }

    /// Takes in a run outside a tick; the feed's readers hear of it at the next.
    pub(crate) fn ingest_now(&self, id: &RunId) -> Result<()> {
        let mut index = held(&self.writer);
        let (mut rows, _) = self.ingest(&mut index, id)?;
        held(&self.untold).append(&mut rows);
        Ok(())
    }

    fn page(&self, after: u64, rows: &[FeedRow]) -> Result<FeedPage> {
        let upto = rows.last().map_or(after, |row| row.seq);
        Ok(FeedPage { after, upto, messages: self.messages(rows)? })
    }

    fn messages(&self, rows: &[FeedRow]) -> Result<Vec<FeedMessage>> {
        let mut messages = Vec::with_capacity(rows.len());
        for row in rows {
            match self.message(row) {
                Ok(message) => messages.extend(message),
                // The run has been deleted since.
                Err(RunError::Store(StoreError::NoSuchRun(_))) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(messages)
    }

    /// What a row of the feed says; nothing where what it speaks of is gone.
    fn message(&self, row: &FeedRow) -> Result<Option<FeedMessage>> {
        let FeedRow { seq, run_id, item } = row;
        let news = match (*item, run_id) {
            (FeedItem::Alert(line), _) => self.alert_news(line),
            (FeedItem::Event(number), Some(id)) => {
                let line = self.read(|index| index.event(id, number))?;
                line.map(|line| FeedNews::Event(number, line))
            }
            (FeedItem::Metrics(start, end), Some(id)) => {
                let lines = metrics_in(&self.data.run(id), (start, end))?;
                Some(FeedNews::Progress(Box::new(self.run(id)?), lines))
            }
            (FeedItem::Deleted, Some(_)) => Some(FeedNews::Deleted),
            (FeedItem::Status, Some(id)) => {
                Some(FeedNews::Progress(Box::new(self.run(id)?), Vec::new()))
            }
            (_, None) => None,
        };
        let Some(news) = news else { return Ok(None) };
        let evaluates = match (&news, run_id) {
            (FeedNews::Progress(view, _), _) => view.run.manifest.evaluates(),
            (FeedNews::Event(..), Some(id)) => self.read(|index| index.evaluated_by(id))?,
            (FeedNews::Event(..) | FeedNews::Alert { .. } | FeedNews::Deleted, _) => None,
        };
        Ok(Some(FeedMessage { seq: *seq, run_id: run_id.clone(), evaluates, news }))
    }

    /// Where a reader that last heard `seq` stands.
    pub fn feed_position(&self, seq: Option<u64>) -> Result<FeedPosition> {
        let (oldest, newest) = self.read(Index::feed_bounds)?;
        Ok(match seq {
            Some(seq) if seq + 1 >= oldest && seq <= newest => FeedPosition::Known(seq),
            _ => FeedPosition::Reset(newest),
        })
    }

    /// Up to `limit` messages after `seq`, fewer when they are long.
    pub fn feed_after(&self, seq: u64, limit: usize) -> Result<FeedPage> {
        let mut rows = self.read(|index| index.feed_after(seq, limit))?;
        let mut n_bytes = 0;
        let n_short = rows.iter().take_while(|row| {
            let is_short = n_bytes < PAGE_BYTES;
            n_bytes += if let FeedItem::Metrics(start, end) = row.item { end - start } else { 0 };
            is_short
        });
        let n_short = n_short.count();
        rows.truncate(n_short);
        self.page(seq, &rows)
    }
}

/// What must be known of a run to look at what it has made.
pub(crate) fn subject(run: &IndexedRun) -> Subject {
    let state = run.status.state();
    Subject {
        run: run.manifest.id.clone(),
        attempt: run.status.attempt,
        is_at_work: state.is_active(),
        began_at: run.manifest.created_at,
        ended_at: run.status.ended_at.or(run.status.heartbeat_at).filter(|_| !state.is_active()),
    }
}

/// Locks a mutex whose content stays sound whatever its last holder did.
pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A lab that is at work on a data folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Presence {
    /// Where it can be found.
    pub address: String,
    /// How much may be at work at once.
    pub limits: Limits,
}

/// The lab that is at work on a data folder, if there is one.
pub fn presence(data: &DataDir) -> Option<Presence> {
    let mut file = File::open(data.path().join("lab.lock")).ok()?;
    if file.try_lock_shared().is_ok() {
        return None;
    }
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    let (address, limits) = text.split_once('\n')?;
    Some(Presence { address: address.to_owned(), limits: serde_json::from_str(limits).ok()? })
}

/// Where the lab that is at work on a data folder can be found, if there is one.
pub fn address_of(data: &DataDir) -> Option<String> {
    presence(data).map(|lab| lab.address)
}

fn open_readers(data: &DataDir) -> Result<[Mutex<Index>; READERS]> {
    let readers: Vec<Mutex<Index>> = (0..READERS)
        .map(|_| Index::open(data).map(Mutex::new))
        .collect::<cartridge_store::Result<_>>()?;
    Ok(readers.try_into().expect("there are as many as were opened"))
}

/// What [`reindex`] did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reindexed {
    /// Runs in the new index.
    pub n_runs: usize,
    /// Runs that could not be taken in, and why.
    pub left_out: Vec<(RunId, String)>,
}

/// Makes the index of a data folder anew from its files. Fails when a lab is at work there.
pub fn reindex(data: &DataDir) -> Result<Reindexed> {
    let _lock = lock_data(data)?;
    Index::remove(data)?;
    let mut index = Index::open(data)?;
    let mut done = Reindexed::default();
    for (id, error) in index.take_in_experiments(data)? {
        tracing::warn!(experiment = %id, %error, "cannot take in an experiment");
    }
    for id in data.run_ids()? {
        let taken = loop {
            match index.ingest(data, &id) {
                Ok((news, _)) if news.has_more => {}
                taken => break taken,
            }
        };
        match taken {
            Ok(_) => done.n_runs += 1,
            // A folder without a manifest is being made, or was never finished.
            Err(StoreError::NoSuchRun(_)) => continue,
            Err(error) if error.is_index_unwritable() => return Err(error.into()),
            Err(error) => {
                done.left_out.push((id, error.to_string()));
                continue;
            }
        }
        let IndexedRun { manifest, status } = index.run(&id)?;
        let state = status.state();
        let should_live = status.attempt > 0 && !state.is_final() && state != RunState::Queued;
        if manifest.kind != RunKind::Human && should_live && !data.run(&id).is_supervised() {
            // A lab would come to the same conclusion after two heartbeats.
            index.mark_lost(&id)?;
        }
    }
    index.checkpoint()?;
    Ok(done)
}

pub(crate) fn lock_data(data: &DataDir) -> Result<File> {
    let path = data.path().join("lab.lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(StoreError::io(&path))?;
    if file.try_lock().is_err() {
        let at = address_of(data).map_or_else(String::new, |address| format!(" at {address}"));
        return Err(RunError::LabRunning { data: data.path().display().to_string(), at });
    }
    Ok(file)
}

#[cfg(test)]
mod tests;
