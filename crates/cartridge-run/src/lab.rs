//! One door to everything that the lab knows and can do.
//!
//! The lab owns no run: it starts supervisors, tails their folders into the index
//! ([`Lab::tick`]), and answers from there. Everything here blocks; the server calls it off its
//! event loop.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use cartridge_store::follow::{latest_episodes, latest_rows, metrics_in};
use cartridge_store::index::{Checkpoint, Cursor, FeedRow, IndexedRun};
use cartridge_store::{
    Command, DataDir, Episodes, EventLine, FeedItem, Index, Manifest, MetricLine, MetricValues,
    RunFilter, RunId, RunKind, RunState, SeriesPoints, StoreError, jsonl,
};
use serde_json::Map;

use crate::checkpoint::{self, Alias};
use crate::config::RunConfig;
use crate::error::{Result, RunError};
use crate::launch::Launcher;
use crate::preview::{Preview, preview};
use crate::supervisor::HEARTBEAT;
use crate::{secret, steer};

/// A supervisor that has been silent for two heartbeats is lost.
const LOST_AFTER: Duration = HEARTBEAT.saturating_mul(2);

/// Silence after which a run is no longer fresh.
const STALE_AFTER: Duration = Duration::from_millis(HEARTBEAT.as_millis() as u64 * 3 / 2);

/// How often the runs folder is searched for runs that others have made.
const DISCOVERY: Duration = Duration::from_secs(1);

/// Time in which a tick takes in files; what is left waits for the next one, so that a flood in
/// one run delays neither the others nor the feed.
const TICK_TIME: Duration = Duration::from_millis(120);

/// The same for the tick at the start: the lab is ready within two seconds, whatever it finds.
const OPENING_TIME: Duration = Duration::from_secs(1);

/// Lost runs that are looked at in one discovery: one seldom comes back, and there may be many.
const LOST_LOOKS: usize = 64;

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
    /// Whether it holds something that is no run yet.
    has_unfinished: bool,
    /// The runs for which the last tick had no time.
    left: VecDeque<RunId>,
    /// The lost run that was looked at last.
    last_lost: Option<RunId>,
    last_housekeeping: Option<Instant>,
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
}

/// One message of the live feed.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedMessage {
    /// Its place in the one sequence.
    pub seq: u64,
    /// The run.
    pub run_id: RunId,
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
    pub fn open(data: DataDir, launcher: Launcher) -> Result<Self> {
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
            lock: Mutex::new(lock),
        };
        lab.mending(|| lab.take_in(OPENING_TIME))?;
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
        let written =
            file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "{address}"));
        Ok(written.map_err(StoreError::io(path))?)
    }

    /// The data folder.
    pub fn data(&self) -> &DataDir {
        &self.data
    }

    /// Takes in what is new on disk and returns what readers of the feed should hear.
    pub fn tick(&self) -> Result<FeedPage> {
        let rows = self.mending(|| self.take_in(TICK_TIME))?;
        let after = rows.first().map_or(0, |row| row.seq - 1);
        self.page(after, &rows)
    }

    /// [`Self::tick`] while nobody listens: the messages can be had by [`Self::feed_after`]. Returns
    /// the newest number when there is something new.
    pub fn tick_unheard(&self) -> Result<Option<u64>> {
        let rows = self.mending(|| self.take_in(TICK_TIME))?;
        Ok(rows.last().map(|row| row.seq))
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
        let mut index = held(&self.writer);
        // Taken while nobody else can write, so that numbers are told in their order.
        let mut rows = std::mem::take(&mut *held(&self.untold));
        let mut due = self.due(&mut index, is_discovery)?;
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
    fn due(&self, index: &mut Index, is_discovery: bool) -> Result<VecDeque<RunId>> {
        let active = index.active()?;
        let (mut due, is_listing) = {
            let mut watch = held(&self.watch);
            let mut due = std::mem::take(&mut watch.left);
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
        if is_listing {
            let known = index.known()?;
            let present: BTreeSet<RunId> = self.data.run_ids()?.into_iter().collect();
            due.extend(present.difference(&known).cloned());
            for gone in known.difference(&present) {
                index.forget(gone)?;
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
        let run = index.run(id)?;
        let state = run.status.state();
        let (health, is_news) = {
            let mut watch = held(&self.watch);
            if state.is_final() || run.manifest.kind == RunKind::Human {
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
            (health, std::mem::replace(&mut pulse.health, health) != health)
        };
        if health == Health::Dead && state != RunState::Lost {
            rows.append(&mut index.mark_lost(id)?);
        } else if is_news && rows.is_empty() {
            rows.push(index.publish_status(id)?);
        }
        Ok((rows, news.has_more))
    }

    /// Takes in a run outside a tick; the feed's readers hear of it at the next.
    fn ingest_now(&self, id: &RunId) -> Result<()> {
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
        for FeedRow { seq, run_id, item } in rows {
            let progress = |lines| {
                Ok::<_, RunError>(Some(FeedNews::Progress(Box::new(self.run(run_id)?), lines)))
            };
            let news = match *item {
                FeedItem::Event(number) => self
                    .read(|index| index.event(run_id, number))
                    .map(|line| line.map(|line| FeedNews::Event(number, line))),
                FeedItem::Metrics(start, end) => {
                    progress(metrics_in(&self.data.run(run_id), (start, end))?)
                }
                FeedItem::Status => progress(Vec::new()),
            };
            match news {
                Ok(Some(news)) => {
                    messages.push(FeedMessage { seq: *seq, run_id: run_id.clone(), news });
                }
                // The run has been deleted since.
                Ok(None) | Err(RunError::Store(StoreError::NoSuchRun(_))) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(messages)
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

    /// Makes a run and starts it.
    pub fn start_run(&self, config: &RunConfig) -> Result<RunView> {
        let launched = self.launcher.launch(&self.data, config);
        if launched.is_err() {
            // A run that could not be started is a run that failed: the next tick finds it.
            held(&self.watch).last_discovery = None;
        }
        let (_, manifest) = launched?;
        tracing::info!(run = %manifest.id, name = manifest.name, "run started");
        self.ingest_now(&manifest.id)?;
        self.run(&manifest.id)
    }

    /// Asks something of a run; see [`steer::ask`].
    pub fn ask(&self, id: &RunId, command: Command, by: &str) -> Result<RunView> {
        let IndexedRun { manifest, status } = self.run(id)?.run;
        steer::ask(&self.data, &manifest, &status, command, by)?;
        self.ingest_now(id)?;
        self.run(id)
    }

    /// One run.
    pub fn run(&self, id: &RunId) -> Result<RunView> {
        let run = self.read(|index| index.run(id))?;
        Ok(self.view(run))
    }

    /// Trainings and evaluations, newest first; games of people are asked for by [`Self::plays`].
    pub fn runs(&self, limit: usize, after: Option<&Cursor>) -> Result<Vec<RunView>> {
        self.find_runs(&RunFilter::listed(), limit, after)
    }

    /// The runs that `filter` wants, newest first.
    pub fn find_runs(
        &self,
        filter: &RunFilter,
        limit: usize,
        after: Option<&Cursor>,
    ) -> Result<Vec<RunView>> {
        let runs = self.read(|index| index.runs(filter, limit, after))?;
        Ok(runs.into_iter().map(|run| self.view(run)).collect())
    }

    fn view(&self, run: IndexedRun) -> RunView {
        let pulse = held(&self.watch).pulses.get(&run.manifest.id).copied();
        // A lost run is dead until it speaks, also for a lab that has just been started.
        let pulse = pulse.filter(|_| run.status.state() != RunState::Lost);
        RunView {
            run,
            health: pulse.map_or(Health::Dead, |pulse| pulse.health()),
            heartbeat_age: pulse.map(|pulse| pulse.heard.elapsed()),
        }
    }

    /// The configuration of a run, as its manifest keeps it.
    pub fn config(&self, id: &RunId) -> Result<serde_json::Value> {
        Ok(self.run(id)?.run.manifest.config)
    }

    /// Charts of a run: see [`Index::series`].
    pub fn series(
        &self,
        id: &RunId,
        keys: &[&str],
        most: usize,
        steps: (u64, u64),
    ) -> Result<(u64, Vec<SeriesPoints>)> {
        self.read(|index| index.series(id, keys, most, steps))
    }

    /// The newest metric rows of a run: see [`Index::metrics_tail`].
    pub fn metrics_tail(&self, id: &RunId, keys: &[&str], n: usize) -> Result<Vec<MetricValues>> {
        self.read(|index| index.metrics_tail(id, keys, n))
    }

    /// The newest events of a run, oldest first.
    pub fn events(&self, id: &RunId, limit: usize) -> Result<Vec<(u64, EventLine)>> {
        self.run(id)?;
        self.read(|index| index.events(id, limit))
    }

    /// The newest `n` metric rows of a run with the episodes that ended in them, oldest first.
    pub fn latest_rows(&self, id: &RunId, n: usize) -> Result<Vec<MetricLine>> {
        self.run(id)?;
        Ok(latest_rows(&self.data.run(id), n)?)
    }

    /// The newest episodes of a run, oldest first.
    pub fn episodes(&self, id: &RunId, limit: usize) -> Result<Episodes> {
        self.run(id)?;
        Ok(latest_episodes(&self.data.run(id), limit)?)
    }

    /// The last lines that a run's trainer printed, and whether there are more.
    pub fn log(&self, id: &RunId, n_lines: usize) -> Result<(Vec<String>, bool)> {
        self.run(id)?;
        Ok(jsonl::tail_text(&self.data.run(id).log_path(), n_lines)?)
    }

    /// An episode of an environment at random play.
    pub fn preview_environment(&self, env_id: &str, number: u64) -> Result<Preview> {
        preview(env_id, &Map::new(), None, number)
    }

    /// An episode of a run's newest checkpoint, with the step of that checkpoint.
    pub fn preview_run(&self, id: &RunId, number: u64) -> Result<(u64, Preview)> {
        let run = self.run(id)?.run;
        let (manifest, policy) = checkpoint::load(&self.data.run(id), id, Alias::Latest)?;
        let options = run.manifest.config["env"].as_object().cloned().unwrap_or_default();
        Ok((manifest.step, preview(&run.manifest.env_id, &options, Some(&policy), number)?))
    }

    /// The newest runs of people that are wanted, newest first.
    pub(crate) fn human_runs(
        &self,
        limit: usize,
        is_wanted: impl Fn(&Manifest) -> bool,
    ) -> Result<Vec<Manifest>> {
        const PAGE: usize = 100;
        let mut found = Vec::new();
        let filter = RunFilter { kinds: vec![RunKind::Human], ..RunFilter::default() };
        let mut after: Option<Cursor> = None;
        loop {
            let page = self.read(|index| index.runs(&filter, PAGE, after.as_ref()))?;
            let is_last = page.len() < PAGE;
            after = page.last().map(|run| Cursor {
                created_at: run.manifest.created_at,
                id: run.manifest.id.clone(),
            });
            found.extend(page.into_iter().map(|run| run.manifest).filter(&is_wanted));
            if is_last || found.len() >= limit {
                found.truncate(limit);
                return Ok(found);
            }
        }
    }

    /// Takes a run that was just made into the index.
    pub(crate) fn adopt(&self, id: &RunId) -> Result<()> {
        held(&self.writer).ingest(&self.data, id)?;
        Ok(())
    }
}

/// Locks a mutex whose content stays sound whatever its last holder did.
pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the lab that is at work on a data folder can be found, if there is one.
pub fn address_of(data: &DataDir) -> Option<String> {
    let mut file = File::open(data.path().join("lab.lock")).ok()?;
    if file.try_lock_shared().is_ok() {
        return None;
    }
    let mut address = String::new();
    file.read_to_string(&mut address).ok()?;
    Some(address).filter(|address| !address.is_empty())
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
        let should_live = status.attempt > 0 && !status.state().is_final();
        if manifest.kind != RunKind::Human && should_live && !data.run(&id).is_supervised() {
            // A lab would come to the same conclusion after two heartbeats.
            index.mark_lost(&id)?;
        }
    }
    index.checkpoint()?;
    Ok(done)
}

fn lock_data(data: &DataDir) -> Result<File> {
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
