//! The SQLite index over the run folders, and the feed of what happened.
//!
//! The index answers lists, charts and event logs without reading files, and remembers how far
//! each file was read, in the same transaction as what was read from it: a crash between two
//! ticks neither loses a line nor takes it in twice. The feed is the one sequence that live
//! readers resume from; its rows only point into files and tables, so nothing is stored twice.
//!
//! Apart from the feed's numbers, what is in the index depends on the files alone, and not on when
//! they were read and in how many pieces: an index that is made anew equals the old one.

mod chunk;
mod experiments;
mod series;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::data_dir::DataDir;
use crate::error::{Result, StoreError};
use crate::experiments::GroupId;
use crate::follow::{Follower, News};
use crate::records::{Evaluated, EventLine, Manifest, RunKind};
use crate::run_dir::RunId;
use crate::status::{RunState, RunStatus};

pub use self::experiments::{ExperimentCursor, ExperimentFilter};
pub(crate) use self::series::MAX_ROW;
use self::series::RunSeries;
pub use self::series::{MetricValues, SeriesPoints};

/// Format of the index; an index of another format is rebuilt from the files.
const FORMAT: u32 = 7;

/// How many feed rows are kept for readers that come back.
const FEED_KEPT: u64 = 100_000;

/// How much of one run's files is taken in at once, in bytes: few enough that no flood of lines
/// eats the memory, and many enough that reading costs little beside parsing.
pub const INGEST_BYTES: u64 = 2 * 1024 * 1024;

const SCHEMA: &str = "
    CREATE TABLE runs (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        state TEXT NOT NULL,
        env_id TEXT NOT NULL,
        name TEXT NOT NULL,
        experiment_id TEXT,
        group_id TEXT,
        evaluated TEXT,
        created_at REAL NOT NULL,
        active INTEGER NOT NULL,
        supervisor_bytes INTEGER NOT NULL,
        manifest TEXT NOT NULL,
        follower TEXT NOT NULL
    ) STRICT;
    CREATE INDEX runs_by_age ON runs (created_at DESC, id DESC, kind, state, env_id, name, experiment_id, group_id, evaluated);
    CREATE INDEX runs_by_state ON runs (state, kind);
    CREATE INDEX runs_by_experiment ON runs (experiment_id) WHERE experiment_id IS NOT NULL;
    CREATE INDEX runs_by_group ON runs (group_id) WHERE group_id IS NOT NULL;
    CREATE INDEX runs_evaluating ON runs (json_extract(manifest, '$.config.run'), created_at DESC)
        WHERE kind = 'eval';
    CREATE INDEX runs_active ON runs (active, id, state, created_at) WHERE active;
    CREATE TABLE events (
        run_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        line TEXT NOT NULL,
        PRIMARY KEY (run_id, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE feed (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        run_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        a INTEGER NOT NULL,
        b INTEGER NOT NULL
    ) STRICT;
    -- The number of the newest row of the feed, also while there is none.
    INSERT INTO sqlite_sequence (name, seq) VALUES ('feed', 0);
";

/// The opened index.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
}

/// A run as the index knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedRun {
    /// What the run is.
    pub manifest: Manifest,
    /// How it is doing.
    pub status: RunStatus,
}

/// Where a page of runs ends: the next one begins after this run.
#[derive(Clone, Debug, PartialEq)]
pub struct Cursor {
    /// When the run was made.
    pub created_at: f64,
    /// Its name.
    pub id: RunId,
}

/// One thing that happened, as the feed keeps it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FeedItem {
    /// Metric rows arrived: their bytes in `metrics.jsonl`.
    Metrics(u64, u64),
    /// An event arrived: its number in the run.
    Event(u64),
    /// Only the status changed.
    Status,
    /// An alert changed: the number of its line.
    Alert(u64),
    /// The run is gone.
    Deleted,
}

/// A row of the feed.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedRow {
    /// Place in the one sequence.
    pub seq: u64,
    /// The run; none where it is about the lab.
    pub run_id: Option<RunId>,
    /// What happened.
    pub item: FeedItem,
}

/// Which runs are wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFilter {
    /// Of these kinds.
    pub kinds: Vec<RunKind>,
    /// In these states; in any when empty.
    pub states: Vec<RunState>,
    /// Of this environment or game.
    pub env_id: Option<String>,
    /// With this in their name, id or environment; case does not matter.
    pub text: Option<String>,
    /// Of this experiment.
    pub experiment_id: Option<String>,
    /// Of those that were made together.
    pub group: Option<GroupId>,
    /// Evaluations of this.
    pub evaluated: Option<Evaluated>,
}

impl RunFilter {
    /// The runs that lists show unless others are asked for: all but the games of people.
    pub fn listed() -> Self {
        let kinds = vec![RunKind::Train, RunKind::Eval, RunKind::External];
        Self { kinds, ..Self::default() }
    }
}

/// How a checkpoint of the write-ahead log went, in SQLite's own figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Bytes of the log before.
    pub wal_bytes: u64,
    /// Whether a reader kept it from being finished.
    pub busy: bool,
    /// Pages in the log; 0 when it was emptied.
    pub log: i64,
    /// Pages of the log that are in the database; 0 when it was emptied.
    pub checkpointed: i64,
}

impl Index {
    /// Opens the index of a data folder, making it if needed. A damaged one is made anew, which
    /// loses nothing: everything in it is also in the files.
    pub fn open(data: &DataDir) -> Result<Self> {
        match Self::open_as_it_is(data) {
            Err(error) if error.is_index_damage() => {
                Self::remove(data)?;
                Self::open_as_it_is(data)
            }
            opened => opened,
        }
    }

    /// An index of nothing, in memory.
    pub fn empty() -> Result<Self> {
        let index = Self { connection: Connection::open_in_memory()? };
        index.connection.execute_batch(&format!(
            "{SCHEMA}{}{}",
            experiments::SCHEMA,
            series::SCHEMA
        ))?;
        Ok(index)
    }

    /// Deletes the index of a data folder; nobody may have it open.
    pub fn remove(data: &DataDir) -> Result<()> {
        remove_database(&data.index_path())
    }

    fn open_as_it_is(data: &DataDir) -> Result<Self> {
        let path = data.index_path();
        let index = Self { connection: connect(&path)? };
        match index.format()? {
            FORMAT => return Ok(index),
            0 => {}
            found if found > FORMAT => {
                return Err(StoreError::NewerFormat { path, found, known: FORMAT });
            }
            _ => {
                drop(index);
                remove_database(&path)?;
                return Self::open_as_it_is(data);
            }
        }
        // An index that is made anew begins its feed at a number of its own, so that whoever comes
        // back with a number of the old one is told to start again. JavaScript must hold it.
        let first = if data.run_ids()?.is_empty() { 0 } else { random() >> 13 };
        index.connection.execute_batch(&format!(
            "BEGIN; {SCHEMA}{}{}
             UPDATE sqlite_sequence SET seq = {first} WHERE name = 'feed';
             PRAGMA user_version = {FORMAT}; COMMIT;",
            experiments::SCHEMA,
            series::SCHEMA
        ))?;
        Ok(index)
    }

    fn format(&self) -> Result<u32> {
        Ok(self.connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
    }

    /// Takes in what is new in a run's folder, up to about [`INGEST_BYTES`], and says what readers
    /// of the feed should hear.
    pub fn ingest(&mut self, data: &DataDir, id: &RunId) -> Result<(News, Vec<FeedRow>)> {
        self.ingest_within(data, id, INGEST_BYTES)
    }

    fn ingest_within(
        &mut self,
        data: &DataDir,
        id: &RunId,
        budget: u64,
    ) -> Result<(News, Vec<FeedRow>)> {
        let dir = data.run(id);
        let transaction = self.connection.transaction()?;
        let known: Option<(String, bool, String)> = transaction
            .prepare_cached("SELECT kind, active, follower FROM runs WHERE id = ?1")?
            .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let is_new = known.is_none();
        let was_active = known.as_ref().is_none_or(|(_, active, _)| *active);
        let mut follower = match known {
            // A person's game is read from its folder whenever it is looked at.
            Some((kind, ..)) if kind == RunKind::Human.as_str() => {
                return Ok((News::default(), Vec::new()));
            }
            Some((.., text)) => parse(&text)?,
            None => {
                let manifest = dir.manifest()?;
                let is_followed = manifest.kind != RunKind::Human;
                let follower = Follower::default();
                transaction.execute(
                    "INSERT INTO runs
                     (id, kind, state, env_id, name, created_at, active, supervisor_bytes,
                      manifest, follower, experiment_id, group_id, evaluated)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8, ?9, ?10, ?11, ?12)",
                    params![
                        id.as_str(),
                        manifest.kind.as_str(),
                        word(&follower.status.state()),
                        manifest.env_id,
                        manifest.name,
                        manifest.created_at,
                        is_followed,
                        to_text(&manifest),
                        to_text(&follower),
                        manifest.experiment_id,
                        manifest.group.as_ref().map(GroupId::as_str),
                        manifest.evaluated().as_ref().map(word),
                    ],
                )?;
                if !is_followed {
                    transaction.commit()?;
                    return Ok((News::default(), Vec::new()));
                }
                follower
            }
        };
        let news = match follower.advance_within(&dir, budget) {
            Err(StoreError::Rewound(_)) => {
                // What was read is no longer so: all of it is read again, if the run is there at all.
                dir.manifest()?;
                follower = Follower::default();
                forget_lines(&transaction, id)?;
                News { changed: true, ..follower.advance_within(&dir, budget)? }
            }
            news => news?,
        };
        // A run that has ended is looked at until all of it is read.
        let is_active = news.has_more || !follower.status.state().is_final();
        if !news.changed && !is_new {
            if is_active != was_active {
                update_run(&transaction, id, &follower, is_active)?;
                transaction.commit()?;
            }
            return Ok((news, Vec::new()));
        }
        {
            let mut insert = transaction
                .prepare_cached("INSERT INTO events (run_id, seq, line) VALUES (?1, ?2, ?3)")?;
            for (seq, line) in &news.events {
                insert.execute(params![id.as_str(), seq, to_text(line)])?;
            }
        }
        let series = RunSeries::new(&transaction, id);
        if let Some(last) = news.last_kept_row {
            series.truncate(last)?;
            // The status is that of the rows that are kept.
            for (name, slot) in follower.status.newest_values() {
                *slot = series.newest(name)?;
            }
            news.metrics.iter().for_each(|line| follower.status.apply_metrics(line));
        }
        series.append(&news.metrics)?;
        let items = news.events.iter().map(|&(seq, _)| FeedItem::Event(seq));
        let progress = match (news.metrics.is_empty(), news.metrics_range) {
            (false, (start, end)) => FeedItem::Metrics(start, end),
            (true, _) => FeedItem::Status,
        };
        let mut feed = Vec::new();
        for item in items.chain([progress]) {
            feed.push(publish(&transaction, Some(id), item)?);
        }
        update_run(&transaction, id, &follower, is_active)?;
        transaction.commit()?;
        Ok((news, feed))
    }

    /// Records that a run's supervisor fell silent.
    pub fn mark_lost(&mut self, id: &RunId) -> Result<Vec<FeedRow>> {
        let transaction = self.connection.transaction()?;
        let text: String = transaction.query_row(
            "SELECT follower FROM runs WHERE id = ?1",
            [id.as_str()],
            |row| row.get(0),
        )?;
        let mut follower: Follower = parse(&text)?;
        follower.status.lost = true;
        update_run(&transaction, id, &follower, true)?;
        let feed = vec![publish(&transaction, Some(id), FeedItem::Status)?];
        transaction.commit()?;
        Ok(feed)
    }

    /// Tells readers of the feed that something about a run changed which is not in its files.
    pub fn publish_status(&mut self, id: &RunId) -> Result<FeedRow> {
        publish(&self.connection, Some(id), FeedItem::Status)
    }

    /// Tells readers of the feed of the line `seq` of the alerts, which is about a run or the lab.
    pub fn publish_alert(&mut self, run_id: Option<&RunId>, seq: u64) -> Result<FeedRow> {
        publish(&self.connection, run_id, FeedItem::Alert(seq))
    }

    /// Forgets a run whose folder is gone, and tells readers of the feed; nothing is told of one
    /// that was not known.
    pub fn forget(&mut self, id: &RunId) -> Result<Option<FeedRow>> {
        let transaction = self.connection.transaction()?;
        forget_lines(&transaction, id)?;
        let n_runs = transaction.execute("DELETE FROM runs WHERE id = ?1", [id.as_str()])?;
        let told = (n_runs > 0).then(|| publish(&transaction, Some(id), FeedItem::Deleted));
        let told = told.transpose()?;
        transaction.commit()?;
        Ok(told)
    }

    /// Forgets the oldest rows of the feed beyond the number that is kept.
    pub fn prune_feed(&mut self) -> Result<()> {
        self.connection.execute(
            "DELETE FROM feed WHERE seq <= (SELECT max(seq) FROM feed) - ?1",
            [FEED_KEPT],
        )?;
        Ok(())
    }

    /// All runs that are in the index.
    pub fn known(&self) -> Result<BTreeSet<RunId>> {
        let mut statement = self.connection.prepare_cached("SELECT id FROM runs")?;
        let ids = statement.query_map([], |row| row.get::<_, String>(0))?;
        ids.map(|id| id?.parse()).collect()
    }

    /// The runs that may still change, except the games of people, each with whether it is lost.
    pub fn active(&self) -> Result<Vec<(RunId, bool)>> {
        let mut statement =
            self.connection.prepare_cached("SELECT id, state FROM runs WHERE active")?;
        let lost = word(&RunState::Lost);
        let runs = statement.query_map([], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)? == lost))
        })?;
        runs.map(|run| run.map_err(StoreError::from).and_then(|(id, lost)| Ok((id.parse()?, lost))))
            .collect()
    }

    /// Up to `limit` runs after `after` that have ended, each with how much of its
    /// `supervisor.jsonl` was read. One that is started again has more.
    pub fn ended(&self, after: Option<&RunId>, limit: usize) -> Result<Vec<(RunId, u64)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, supervisor_bytes FROM runs
             WHERE NOT active AND kind <> 'human' AND id > ?1 ORDER BY id LIMIT ?2",
        )?;
        let after = after.map_or("", RunId::as_str);
        let runs = statement
            .query_map(params![after, limit], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
        runs.map(|run| run.map_err(StoreError::from).and_then(|(id, n)| Ok((id.parse()?, n))))
            .collect()
    }

    /// How many runs there are in each state, except the games of people.
    pub fn count_by_state(&self) -> Result<Vec<(RunState, u64)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT state, count(*) FROM runs WHERE kind <> 'human' GROUP BY state ORDER BY state",
        )?;
        let counts = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
        counts
            .map(|count| {
                let (state, n) = count?;
                Ok((parse(&format!("\"{state}\""))?, n))
            })
            .collect()
    }

    /// One run.
    pub fn run(&self, id: &RunId) -> Result<IndexedRun> {
        self.connection
            .prepare_cached("SELECT manifest, follower FROM runs WHERE id = ?1")?
            .query_row([id.as_str()], indexed_run)
            .optional()?
            .ok_or_else(|| StoreError::NoSuchRun(id.to_string()))?
    }

    /// The runs that `filter` wants, newest first, from `after` on.
    pub fn runs(
        &self,
        filter: &RunFilter,
        limit: usize,
        after: Option<&Cursor>,
    ) -> Result<Vec<IndexedRun>> {
        // Which runs is decided in the index `runs_by_age` alone; whole rows are read for those
        // that are wanted. Runs at work are few, and found without looking at all others.
        let are_active = filter.states.iter().all(|state| !state.is_final());
        let index = match are_active && !filter.states.is_empty() {
            true => "INDEXED BY runs_active WHERE active AND",
            false => "INDEXED BY runs_by_age WHERE",
        };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT manifest, follower FROM runs {index}
             (created_at, id) < (?2, ?3)
             AND kind IN (SELECT value FROM json_each(?1))
             AND (?5 = '[]' OR state IN (SELECT value FROM json_each(?5)))
             AND (?6 IS NULL OR env_id = ?6)
             AND (?7 IS NULL OR instr(lower(name || ' ' || id || ' ' || env_id), ?7) > 0)
             AND (?8 IS NULL OR experiment_id = ?8)
             AND (?9 IS NULL OR group_id = ?9)
             AND (?10 IS NULL OR evaluated = ?10)
             ORDER BY created_at DESC, id DESC LIMIT ?4",
        ))?;
        let (created_at, id) =
            after.map_or((f64::INFINITY, ""), |cursor| (cursor.created_at, cursor.id.as_str()));
        let runs = statement.query_map(
            params![
                to_text(&filter.kinds),
                created_at,
                id,
                limit,
                to_text(&filter.states),
                filter.env_id,
                filter.text.as_deref().map(str::to_ascii_lowercase),
                filter.experiment_id,
                filter.group.as_ref().map(GroupId::as_str),
                filter.evaluated.as_ref().map(word),
            ],
            indexed_run,
        )?;
        runs.map(|run| run?).collect()
    }

    /// The newest `limit` evaluations of a run, newest first.
    pub fn evaluations(&self, id: &RunId, limit: usize) -> Result<Vec<IndexedRun>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT manifest, follower FROM runs
             WHERE kind = 'eval' AND json_extract(manifest, '$.config.run') = ?1
             ORDER BY created_at DESC, id DESC LIMIT ?2",
        )?;
        let runs = statement.query_map(params![id.as_str(), limit], indexed_run)?;
        runs.map(|run| run?).collect()
    }

    /// The run that a run evaluates, if it is an evaluation of one.
    pub fn evaluated_by(&self, id: &RunId) -> Result<Option<RunId>> {
        let found: Option<Option<String>> = self
            .connection
            .prepare_cached(
                "SELECT json_extract(manifest, '$.config.run') FROM runs
                 WHERE id = ?1 AND kind = 'eval'",
            )?
            .query_row([id.as_str()], |row| row.get(0))
            .optional()?;
        Ok(found.flatten().and_then(|text| text.parse().ok()))
    }

    /// The newest `limit` events of a run, oldest first, with their numbers.
    pub fn events(&self, id: &RunId, limit: usize) -> Result<Vec<(u64, EventLine)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT seq, line FROM events WHERE run_id = ?1 ORDER BY seq DESC LIMIT ?2",
        )?;
        let rows = statement.query_map(params![id.as_str(), limit], numbered_event)?;
        let mut events: Vec<_> = rows.map(|row| row?).collect::<Result<_>>()?;
        events.reverse();
        Ok(events)
    }

    /// One event of a run.
    pub fn event(&self, id: &RunId, seq: u64) -> Result<Option<EventLine>> {
        let found = self
            .connection
            .prepare_cached("SELECT seq, line FROM events WHERE run_id = ?1 AND seq = ?2")?
            .query_row(params![id.as_str(), seq], numbered_event)
            .optional()?;
        Ok(found.transpose()?.map(|(_, line)| line))
    }

    /// The metrics of a run: those in `keys`, or all, between two steps. A series with more than
    /// `most` points keeps the least and greatest of each bucket, so that a spike of one point
    /// survives. With them comes the newest row that they cover.
    pub fn series(
        &self,
        id: &RunId,
        keys: &[&str],
        most: usize,
        steps: (u64, u64),
    ) -> Result<(u64, Vec<SeriesPoints>)> {
        self.of_one_moment(id, keys, |series, keys| {
            let mut found = Vec::new();
            let Some(rows) = series.rows_between(steps.0, steps.1)? else { return Ok(found) };
            for key in keys {
                let points = series.points(&key, most, steps, rows)?;
                if !points.step.is_empty() {
                    found.push(points);
                }
            }
            Ok(found)
        })
    }

    /// The newest `n` metric rows of a run, oldest first, with the metrics in `keys`, or all.
    pub fn metrics_tail(&self, id: &RunId, keys: &[&str], n: usize) -> Result<Vec<MetricValues>> {
        Ok(self.of_one_moment(id, keys, |series, keys| series.tail(&keys, n))?.1)
    }

    /// Asks in one transaction, so that the newest row and what is asked for fit together.
    fn of_one_moment<T>(
        &self,
        id: &RunId,
        keys: &[&str],
        ask: impl FnOnce(RunSeries<'_>, Vec<String>) -> Result<T>,
    ) -> Result<(u64, T)> {
        let transaction = self.connection.unchecked_transaction()?;
        let follower: Follower = self
            .connection
            .prepare_cached("SELECT follower FROM runs WHERE id = ?1")?
            .query_row([id.as_str()], |row| row.get::<_, String>(0))
            .optional()?
            .map_or_else(|| Err(StoreError::NoSuchRun(id.to_string())), |text| parse(&text))?;
        let series = RunSeries::new(&self.connection, id);
        let keys = match keys {
            [] => series.keys()?,
            keys => keys.iter().map(|&key| key.to_owned()).collect(),
        };
        let answer = ask(series, keys)?;
        transaction.finish()?;
        Ok((follower.last_row, answer))
    }

    /// The numbers of the oldest kept and the newest row of the feed. When none is kept, the
    /// oldest is the one that comes next.
    pub fn feed_bounds(&self) -> Result<(u64, u64)> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT coalesce((SELECT min(seq) FROM feed), seq + 1), seq
                 FROM sqlite_sequence WHERE name = 'feed'",
            )?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// The newest number of the feed, and what `ask` finds in the index at that very moment.
    pub fn with_feed<T>(&self, ask: impl FnOnce(&Self) -> Result<T>) -> Result<(u64, T)> {
        let transaction = self.connection.unchecked_transaction()?;
        let (_, newest) = self.feed_bounds()?;
        let answer = ask(self)?;
        transaction.finish()?;
        Ok((newest, answer))
    }

    /// The newest metric row of a run.
    pub fn last_row(&self, id: &RunId) -> Result<u64> {
        let follower: Option<String> = self
            .connection
            .prepare_cached("SELECT follower FROM runs WHERE id = ?1")?
            .query_row([id.as_str()], |row| row.get(0))
            .optional()?;
        let follower = follower.ok_or_else(|| StoreError::NoSuchRun(id.to_string()))?;
        Ok(parse::<Follower>(&follower)?.last_row)
    }

    /// Bytes in the write-ahead log.
    pub fn wal_bytes(&self) -> u64 {
        let path = self.connection.path().unwrap_or_default();
        std::fs::metadata(format!("{path}-wal")).map_or(0, |metadata| metadata.len())
    }

    /// Moves the write-ahead log into the database and empties it, unless a reader is in the way
    /// for longer than a moment.
    pub fn checkpoint(&mut self) -> Result<Checkpoint> {
        let wal_bytes = self.wal_bytes();
        self.connection.busy_timeout(Duration::from_millis(50))?;
        let outcome = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
            Ok(Checkpoint {
                wal_bytes,
                busy: row.get(0)?,
                log: row.get(1)?,
                checkpointed: row.get(2)?,
            })
        });
        self.connection.busy_timeout(BUSY_TIMEOUT)?;
        Ok(outcome?)
    }

    /// Up to `limit` rows of the feed after `seq`, oldest first.
    pub fn feed_after(&self, seq: u64, limit: usize) -> Result<Vec<FeedRow>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT seq, run_id, kind, a, b FROM feed WHERE seq > ?1 ORDER BY seq LIMIT ?2",
        )?;
        let mut rows = statement.query(params![seq, limit])?;
        let mut feed = Vec::new();
        while let Some(row) = rows.next()? {
            let item = match row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)? {
                "metrics" => FeedItem::Metrics(row.get(3)?, row.get(4)?),
                "event" => FeedItem::Event(row.get(3)?),
                "alert" => FeedItem::Alert(row.get(3)?),
                "deleted" => FeedItem::Deleted,
                _ => FeedItem::Status,
            };
            let run_id = Some(row.get::<_, String>(1)?).filter(|id| !id.is_empty());
            let run_id = run_id.map(|id| id.parse()).transpose()?;
            feed.push(FeedRow { seq: row.get(0)?, run_id, item });
        }
        Ok(feed)
    }
}

/// How long to wait for another connection that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

fn connect(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // 16 MB: a commit seldom waits for the disk, and pages that are written again and again, as the
    // open chunks are, move into the database once.
    connection.pragma_update(None, "wal_autocheckpoint", 4096)?;
    Ok(connection)
}

fn remove_database(path: &Path) -> Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let file = PathBuf::from(name);
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::io(&file)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn random() -> u64 {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    u64::from_ne_bytes(bytes)
}

/// Forgets what was read from a run's files.
fn forget_lines(connection: &Connection, id: &RunId) -> Result<()> {
    for table in ["events", "metric_rows", "metric_chunks"] {
        connection.execute(&format!("DELETE FROM {table} WHERE run_id = ?1"), [id.as_str()])?;
    }
    Ok(())
}

fn update_run(
    connection: &Connection,
    id: &RunId,
    follower: &Follower,
    active: bool,
) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE runs SET state = ?2, active = ?3, supervisor_bytes = ?4, follower = ?5
             WHERE id = ?1",
        )?
        .execute(params![
            id.as_str(),
            word(&follower.status.state()),
            active,
            follower.supervisor_bytes(),
            to_text(follower)
        ])?;
    Ok(())
}

fn publish(connection: &Connection, id: Option<&RunId>, item: FeedItem) -> Result<FeedRow> {
    let (kind, a, b) = match item {
        FeedItem::Metrics(start, end) => ("metrics", start, end),
        FeedItem::Event(seq) => ("event", seq, 0),
        FeedItem::Status => ("status", 0, 0),
        FeedItem::Alert(seq) => ("alert", seq, 0),
        FeedItem::Deleted => ("deleted", 0, 0),
    };
    connection
        .prepare_cached("INSERT INTO feed (run_id, kind, a, b) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![id.map_or("", RunId::as_str), kind, a, b])?;
    let seq = u64::try_from(connection.last_insert_rowid()).expect("rows are numbered from 1");
    Ok(FeedRow { seq, run_id: id.cloned(), item })
}

fn indexed_run(row: &Row<'_>) -> rusqlite::Result<Result<IndexedRun>> {
    let (manifest, follower): (String, String) = (row.get(0)?, row.get(1)?);
    Ok((|| {
        let follower: Follower = parse(&follower)?;
        Ok(IndexedRun { manifest: parse(&manifest)?, status: follower.status })
    })())
}

fn numbered_event(row: &Row<'_>) -> rusqlite::Result<Result<(u64, EventLine)>> {
    let (seq, line): (u64, String) = (row.get(0)?, row.get(1)?);
    Ok(parse(&line).map(|line| (seq, line)))
}

/// The word of a kind or a state, as files and API have it.
fn word(value: &impl serde::Serialize) -> String {
    to_text(value).trim_matches('"').to_owned()
}

fn to_text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("records are plain data")
}

fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| StoreError::IndexContent(error.to_string()))
}

#[cfg(test)]
mod tests;
