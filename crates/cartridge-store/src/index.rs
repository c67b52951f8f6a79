//! The SQLite index over the run folders, and the feed of what happened.
//!
//! The index answers lists, charts and event logs without reading files, and remembers how far
//! each file was read, in the same transaction as what was read from it: a crash between two
//! ticks neither loses a line nor takes it in twice. The feed is the one sequence that live
//! readers resume from; its rows only point into files and tables, so nothing is stored twice.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::data_dir::DataDir;
use crate::error::{Result, StoreError};
use crate::follow::{Follower, News};
use crate::records::{EventLine, Manifest, RunKind};
use crate::run_dir::RunId;
use crate::status::RunStatus;

/// Format of the index; an index of another format is rebuilt from the files.
const FORMAT: u32 = 2;

/// How many feed rows are kept for readers that come back.
const FEED_KEPT: u64 = 100_000;

const SCHEMA: &str = "
    CREATE TABLE runs (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        created_at REAL NOT NULL,
        active INTEGER NOT NULL,
        manifest TEXT NOT NULL,
        follower TEXT NOT NULL
    ) STRICT;
    CREATE INDEX runs_by_age ON runs (created_at DESC, id DESC);
    CREATE INDEX runs_active ON runs (active) WHERE active;
    CREATE TABLE events (
        run_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        line TEXT NOT NULL,
        PRIMARY KEY (run_id, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE metrics (
        run_id TEXT NOT NULL,
        key TEXT NOT NULL,
        row INTEGER NOT NULL,
        step INTEGER NOT NULL,
        t REAL NOT NULL,
        value REAL,
        PRIMARY KEY (run_id, key, row)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE feed (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        run_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        a INTEGER NOT NULL,
        b INTEGER NOT NULL
    ) STRICT;
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
}

/// A row of the feed.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedRow {
    /// Place in the one sequence.
    pub seq: u64,
    /// The run.
    pub run_id: RunId,
    /// What happened.
    pub item: FeedItem,
}

/// The points of one metric.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesPoints {
    /// Name of the metric.
    pub key: String,
    /// Environment steps.
    pub step: Vec<u64>,
    /// Unix seconds.
    pub t: Vec<f64>,
    /// Values; nothing where one was not finite.
    pub value: Vec<Option<f64>>,
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
        index.connection.execute_batch(SCHEMA)?;
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
        index
            .connection
            .execute_batch(&format!("BEGIN; {SCHEMA} PRAGMA user_version = {FORMAT}; COMMIT;"))?;
        Ok(index)
    }

    fn format(&self) -> Result<u32> {
        Ok(self.connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
    }

    /// Takes in what is new in a run's folder and says what readers of the feed should hear.
    pub fn ingest(&mut self, data: &DataDir, id: &RunId) -> Result<(News, Vec<FeedRow>)> {
        let dir = data.run(id);
        let transaction = self.connection.transaction()?;
        let known: Option<(String, String)> = transaction
            .query_row("SELECT kind, follower FROM runs WHERE id = ?1", [id.as_str()], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let is_new = known.is_none();
        let mut follower = match known {
            // A person's game is read from its folder whenever it is looked at.
            Some((kind, _)) if kind == RunKind::Human.as_str() => {
                return Ok((News::default(), Vec::new()));
            }
            Some((_, text)) => parse(&text)?,
            None => {
                let manifest = dir.manifest()?;
                let is_followed = manifest.kind != RunKind::Human;
                let follower = Follower::default();
                transaction.execute(
                    "INSERT INTO runs (id, kind, created_at, active, manifest, follower)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![
                        id.as_str(),
                        manifest.kind.as_str(),
                        manifest.created_at,
                        is_followed,
                        to_text(&manifest),
                        to_text(&follower)
                    ],
                )?;
                if !is_followed {
                    transaction.commit()?;
                    return Ok((News::default(), Vec::new()));
                }
                follower
            }
        };
        let news = follower.advance(&dir)?;
        if !news.changed && !is_new {
            return Ok((news, Vec::new()));
        }
        for (seq, line) in &news.events {
            transaction.execute(
                "INSERT INTO events (run_id, seq, line) VALUES (?1, ?2, ?3)",
                params![id.as_str(), seq, to_text(line)],
            )?;
        }
        if let Some(row) = news.restored {
            // The trainer went on from there, and has written or will write the rest anew.
            transaction.execute(
                "DELETE FROM metrics WHERE run_id = ?1 AND row > ?2",
                params![id.as_str(), row],
            )?;
        }
        {
            let mut insert = transaction.prepare_cached(
                "INSERT OR REPLACE INTO metrics (run_id, key, row, step, t, value) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?;
            for line in &news.metrics {
                for (key, value) in &line.values {
                    insert.execute(params![
                        id.as_str(),
                        key,
                        line.row,
                        line.step,
                        line.t,
                        value
                    ])?;
                }
            }
        }
        let items = news.events.iter().map(|&(seq, _)| FeedItem::Event(seq));
        let progress = match (news.metrics.is_empty(), news.metrics_range) {
            (false, (start, end)) => FeedItem::Metrics(start, end),
            (true, _) => FeedItem::Status,
        };
        let mut feed = Vec::new();
        for item in items.chain([progress]) {
            feed.push(publish(&transaction, id, item)?);
        }
        transaction.execute(
            "UPDATE runs SET active = ?2, follower = ?3 WHERE id = ?1",
            params![id.as_str(), !follower.status.state().is_final(), to_text(&follower)],
        )?;
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
        transaction.execute(
            "UPDATE runs SET follower = ?2 WHERE id = ?1",
            params![id.as_str(), to_text(&follower)],
        )?;
        let feed = vec![publish(&transaction, id, FeedItem::Status)?];
        transaction.commit()?;
        Ok(feed)
    }

    /// Tells readers of the feed that something about a run changed which is not in its files.
    pub fn publish_status(&mut self, id: &RunId) -> Result<FeedRow> {
        publish(&self.connection, id, FeedItem::Status)
    }

    /// Forgets a run whose folder is gone.
    pub fn forget(&mut self, id: &RunId) -> Result<()> {
        let transaction = self.connection.transaction()?;
        for table in ["runs WHERE id", "events WHERE run_id", "metrics WHERE run_id"] {
            transaction.execute(&format!("DELETE FROM {table} = ?1"), [id.as_str()])?;
        }
        transaction.commit()?;
        Ok(())
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

    /// The runs that may still change, except the games of people.
    pub fn active(&self) -> Result<Vec<IndexedRun>> {
        let mut statement =
            self.connection.prepare_cached("SELECT manifest, follower FROM runs WHERE active")?;
        let runs = statement.query_map([], indexed_run)?;
        runs.map(|run| run?).collect()
    }

    /// One run.
    pub fn run(&self, id: &RunId) -> Result<IndexedRun> {
        self.connection
            .prepare_cached("SELECT manifest, follower FROM runs WHERE id = ?1")?
            .query_row([id.as_str()], indexed_run)
            .optional()?
            .ok_or_else(|| StoreError::NoSuchRun(id.to_string()))?
    }

    /// Runs of some kinds, newest first, from `after` on.
    pub fn runs(
        &self,
        kinds: &[RunKind],
        limit: usize,
        after: Option<&Cursor>,
    ) -> Result<Vec<IndexedRun>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT manifest, follower FROM runs
             WHERE instr(?1, kind) > 0 AND (created_at, id) < (?2, ?3)
             ORDER BY created_at DESC, id DESC LIMIT ?4",
        )?;
        let (created_at, id) =
            after.map_or((f64::INFINITY, ""), |cursor| (cursor.created_at, cursor.id.as_str()));
        // No kind is part of the name of another.
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        let kinds = kinds.join(" ");
        let runs = statement.query_map(params![kinds, created_at, id, limit], indexed_run)?;
        runs.map(|run| run?).collect()
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

    /// The metrics of a run: those in `keys`, or all. A series with more than `most` points keeps
    /// the least and greatest of each bucket, so that a spike of one point survives. With them
    /// comes the newest row that they cover.
    pub fn series(
        &self,
        id: &RunId,
        keys: &[&str],
        most: usize,
    ) -> Result<(u64, Vec<SeriesPoints>)> {
        // One transaction, so that the newest row and the points are of the same moment.
        let transaction = self.connection.unchecked_transaction()?;
        let follower: Follower = self
            .connection
            .prepare_cached("SELECT follower FROM runs WHERE id = ?1")?
            .query_row([id.as_str()], |row| row.get::<_, String>(0))
            .optional()?
            .map_or_else(|| Err(StoreError::NoSuchRun(id.to_string())), |text| parse(&text))?;
        let keys = if keys.is_empty() {
            let mut statement = self.connection.prepare_cached(
                "SELECT DISTINCT key FROM metrics WHERE run_id = ?1 ORDER BY key",
            )?;
            let rows = statement.query_map([id.as_str()], |row| row.get::<_, String>(0))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()?
        } else {
            keys.iter().map(|&key| key.to_owned()).collect()
        };
        let mut statement = self.connection.prepare_cached(
            "SELECT step, t, value FROM metrics WHERE run_id = ?1 AND key = ?2 ORDER BY row",
        )?;
        let mut series = Vec::new();
        for key in keys {
            let mut points = SeriesPoints { key, ..SeriesPoints::default() };
            let mut rows = statement.query(params![id.as_str(), points.key])?;
            while let Some(row) = rows.next()? {
                points.step.push(row.get(0)?);
                points.t.push(row.get(1)?);
                points.value.push(row.get(2)?);
            }
            if !points.step.is_empty() {
                series.push(points.thinned(most));
            }
        }
        transaction.finish()?;
        Ok((follower.last_row, series))
    }

    /// The numbers of the oldest kept and the newest row of the feed.
    pub fn feed_bounds(&self) -> Result<(u64, u64)> {
        Ok(self
            .connection
            .prepare_cached("SELECT coalesce(min(seq), 0), coalesce(max(seq), 0) FROM feed")?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?)
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
                _ => FeedItem::Status,
            };
            feed.push(FeedRow {
                seq: row.get(0)?,
                run_id: row.get::<_, String>(1)?.parse()?,
                item,
            });
        }
        Ok(feed)
    }
}

impl SeriesPoints {
    /// At most about `most` points: of each bucket the least and the greatest, in their order.
    fn thinned(&self, most: usize) -> Self {
        let n = self.value.len();
        let n_buckets = (most / 2).max(1);
        if n <= most.max(2) {
            return self.clone();
        }
        let mut kept = BTreeSet::from([0, n - 1]);
        for bucket in 0..n_buckets {
            let range = bucket * n / n_buckets..(bucket + 1) * n / n_buckets;
            let finite = || range.clone().filter_map(|idx| Some((idx, self.value[idx]?)));
            let by_value = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
            kept.extend(finite().min_by(by_value).map(|(idx, _)| idx));
            kept.extend(finite().max_by(by_value).map(|(idx, _)| idx));
        }
        Self {
            key: self.key.clone(),
            step: kept.iter().map(|&idx| self.step[idx]).collect(),
            t: kept.iter().map(|&idx| self.t[idx]).collect(),
            value: kept.iter().map(|&idx| self.value[idx]).collect(),
        }
    }
}

fn connect(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
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

fn publish(connection: &Connection, id: &RunId, item: FeedItem) -> Result<FeedRow> {
    let (kind, a, b) = match item {
        FeedItem::Metrics(start, end) => ("metrics", start, end),
        FeedItem::Event(seq) => ("event", seq, 0),
        FeedItem::Status => ("status", 0, 0),
    };
    connection
        .prepare_cached("INSERT INTO feed (run_id, kind, a, b) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![id.as_str(), kind, a, b])?;
    let seq = u64::try_from(connection.last_insert_rowid()).expect("rows are numbered from 1");
    Ok(FeedRow { seq, run_id: id.clone(), item })
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

fn to_text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("records are plain data")
}

fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| StoreError::IndexContent(error.to_string()))
}

#[cfg(test)]
mod tests;
