//! The metrics of runs in the index: columns in chunks, and a pyramid of least and greatest.
//!
//! A chart of any stretch reads a few hundred summaries, however many rows there are; see
//! [`chunk`](super::chunk) for the levels. Rows arrive in rising order, so only the last chunk of
//! each level is open and written again when rows are added.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::chunk::{
    CHUNK, Cell, FAN, Point, RowHead, Summary, TOP, chunk_rows, entry_rows, pack_cells, pack_heads,
    pack_summaries, unpack_cells, unpack_heads, unpack_summaries,
};
use crate::error::Result;
use crate::records::MetricLine;
use crate::run_dir::RunId;

pub(super) const SCHEMA: &str = "
    CREATE TABLE metric_rows (
        run_id TEXT NOT NULL,
        chunk INTEGER NOT NULL,
        least_step INTEGER NOT NULL,
        greatest_step INTEGER NOT NULL,
        heads BLOB NOT NULL,
        PRIMARY KEY (run_id, chunk)
    ) STRICT;
    CREATE TABLE metric_chunks (
        run_id TEXT NOT NULL,
        level INTEGER NOT NULL,
        key TEXT NOT NULL,
        chunk INTEGER NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (run_id, level, key, chunk)
    ) STRICT;
";

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

impl SeriesPoints {
    /// Keeps about `most` points, as [`Index::series`](super::Index::series) does: of a longer
    /// series the first and the last, and the least and greatest of each of equal stretches.
    pub fn thin(&mut self, most: usize) {
        let n = self.step.len();
        if n <= most.max(2) {
            return;
        }
        let has_absent = self.value.iter().any(Option::is_none);
        let n_buckets = (most / if has_absent { 3 } else { 2 }).max(1);
        let mut buckets: Vec<(u64, Summary)> = Vec::new();
        for place in 0..n {
            let head = RowHead { row: place as u64, step: self.step[place], t: self.t[place] };
            let point = Point { head, value: self.value[place] };
            add_entry(&mut buckets, (place * n_buckets / n) as u64, &point.into());
        }
        let extremes = buckets.iter().flat_map(|(_, bucket)| bucket.points());
        let mut kept = vec![0];
        kept.extend(extremes.map(|point| point.head.row as usize));
        kept.push(n - 1);
        kept.dedup();
        self.step = kept.iter().map(|&place| self.step[place]).collect();
        self.t = kept.iter().map(|&place| self.t[place]).collect();
        self.value = kept.iter().map(|&place| self.value[place]).collect();
    }
}

/// All scalars of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricValues {
    /// Number of the row.
    pub row: u64,
    /// Environment steps.
    pub step: u64,
    /// Unix seconds.
    pub t: f64,
    /// Value of each metric; nothing where one was not finite.
    pub values: BTreeMap<String, Option<f64>>,
}

/// The metrics of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunSeries<'a> {
    connection: &'a Connection,
    id: &'a str,
}

impl<'a> RunSeries<'a> {
    pub(super) fn new(connection: &'a Connection, id: &'a RunId) -> Self {
        Self { connection, id: id.as_str() }
    }

    /// Adds rows, which come after all that are there, in rising order.
    pub(super) fn append(&self, lines: &[MetricLine]) -> Result<()> {
        let mut columns: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
        let mut heads = Vec::with_capacity(lines.len());
        for line in lines {
            let head = RowHead { row: line.row, step: line.step, t: line.t };
            heads.push(head);
            for (key, &value) in &line.values {
                let value = value.filter(|value| value.is_finite());
                columns.entry(key).or_default().push(Point { head, value });
            }
        }
        for part in heads.chunk_by(|a, b| a.row / CHUNK == b.row / CHUNK) {
            let chunk = part[0].row / CHUNK;
            let mut whole = self.heads(chunk)?;
            whole.extend(part);
            self.put_heads(chunk, &whole)?;
        }
        for (key, points) in columns {
            self.append_column(key, &points)?;
        }
        Ok(())
    }

    fn append_column(&self, key: &str, points: &[Point]) -> Result<()> {
        for part in points.chunk_by(|a, b| a.head.row / CHUNK == b.head.row / CHUNK) {
            let chunk = part[0].head.row / CHUNK;
            let mut cells = self.cells(key, chunk)?;
            cells.extend(part.iter().map(|point| (point.head.row, point.value)));
            self.put(0, key, chunk, &pack_cells(&cells))?;
        }
        let mut news: Vec<(u64, Summary)> = Vec::new();
        for &point in points {
            add_entry(&mut news, point.head.row / FAN, &point.into());
        }
        for level in 1..=TOP {
            for part in news.chunk_by(|a, b| a.0 / FAN == b.0 / FAN) {
                let chunk = part[0].0 / FAN;
                let mut summaries = self.summaries(level, key, chunk)?;
                for (entry, summary) in part {
                    add_entry(&mut summaries, *entry, summary);
                }
                self.put(level, key, chunk, &pack_summaries(level, &summaries))?;
            }
            let mut coarser = Vec::new();
            for (entry, summary) in &news {
                add_entry(&mut coarser, entry / FAN, summary);
            }
            news = coarser;
        }
        Ok(())
    }

    /// Drops the rows after `last`, as if they had never come.
    pub(super) fn truncate(&self, last: u64) -> Result<()> {
        let keys = self.keys()?;
        self.connection.execute(
            "DELETE FROM metric_rows WHERE run_id = ?1 AND chunk > ?2",
            params![self.id, last / CHUNK],
        )?;
        for level in 0..=TOP {
            self.connection.execute(
                "DELETE FROM metric_chunks WHERE run_id = ?1 AND level = ?2 AND chunk > ?3",
                params![self.id, level, last / chunk_rows(level)],
            )?;
        }
        let chunk = last / CHUNK;
        let mut heads = self.heads(chunk)?;
        heads.retain(|head| head.row <= last);
        self.put_heads(chunk, &heads)?;
        for key in keys {
            let mut cells = self.cells(&key, chunk)?;
            cells.retain(|(row, _)| *row <= last);
            self.put(0, &key, chunk, &if cells.is_empty() { vec![] } else { pack_cells(&cells) })?;
            // From the finest level up: the entry that is cut is made again from the level below.
            for level in 1..=TOP {
                let (chunk, cut) = (last / chunk_rows(level), last / entry_rows(level));
                let mut summaries = self.summaries(level, &key, chunk)?;
                summaries.retain(|(entry, _)| *entry < cut);
                for (_, part) in self.entries(&key, level - 1, cut * entry_rows(level), last)? {
                    add_entry(&mut summaries, cut, &part);
                }
                self.put(level, &key, chunk, &pack_summaries(level, &summaries))?;
            }
        }
        Ok(())
    }

    /// The names of all metrics, in order.
    pub(super) fn keys(&self) -> Result<Vec<String>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT key FROM metric_chunks WHERE run_id = ?1 AND level = ?2 ORDER BY key",
        )?;
        let keys = statement.query_map(params![self.id, TOP], |row| row.get(0))?;
        Ok(keys.collect::<rusqlite::Result<_>>()?)
    }

    /// The newest value of a metric; nothing where there is none, or where it was not finite.
    pub(super) fn newest(&self, key: &str) -> Result<Option<f64>> {
        Ok(self.edge(key, 0, MAX_ROW, Edge::Last)?.and_then(|point| point.value))
    }

    /// A metric between two steps, which are in the rows that [`Self::rows_between`] gave. With more than `most` points, each of about `most / 2` equal
    /// stretches keeps its least and its greatest, so that a spike of one point survives; where
    /// values were not finite, stretches keep the first of those, too.
    pub(super) fn points(
        &self,
        key: &str,
        most: usize,
        (from, to): (u64, u64),
        (low, high): (u64, u64),
    ) -> Result<SeriesPoints> {
        let mut series = SeriesPoints { key: key.to_owned(), ..SeriesPoints::default() };
        let first = self.edge(key, low, high, Edge::First)?;
        let last = self.edge(key, low, high, Edge::Last)?;
        let (Some(first), Some(last)) = (first, last) else { return Ok(series) };
        let (low, high) = (first.head.row, last.head.row);
        let n_rows = high - low + 1;
        let most = most.max(2) as u64;
        // The coarsest level with an entry for every two buckets, four points of them, at least.
        let is_fine_enough = |level: &u32| n_rows / entry_rows(*level) >= (most / 4).max(1);
        let level = (0..=TOP).rev().find(is_fine_enough).unwrap_or(0);
        let mut entries = self.entries(key, level, low, high)?;
        let mut total = Summary::default();
        entries.iter().for_each(|(_, entry)| total.merge(entry));
        let mut points: Vec<Point>;
        if total.n() <= most {
            if level > 0 {
                entries = self.entries(key, 0, low, high)?;
            }
            points = entries.iter().flat_map(|(_, entry)| entry.points()).collect();
        } else {
            let n_buckets = (most / if total.absent > 0 { 3 } else { 2 }).max(1);
            let mut buckets: Vec<(u64, Summary)> = Vec::new();
            for (row, entry) in &entries {
                // In wide integers: rows may be numbered as the trainer likes.
                let place = u128::from(row.saturating_sub(low)) * u128::from(n_buckets);
                add_entry(&mut buckets, (place / u128::from(n_rows)) as u64, entry);
            }
            points = vec![first];
            points.extend(buckets.iter().flat_map(|(_, bucket)| bucket.points()));
            points.push(last);
            points.dedup_by_key(|point| point.head.row);
        }
        // Steps need not rise with the rows of a foreign trainer.
        points.retain(|point| (from..=to).contains(&point.head.step));
        for Point { head, value } in points {
            series.step.push(head.step);
            series.t.push(head.t);
            series.value.push(value);
        }
        Ok(series)
    }

    /// The newest `n` rows, oldest first, with the metrics in `keys`.
    pub(super) fn tail(&self, keys: &[String], n: usize) -> Result<Vec<MetricValues>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT chunk, heads FROM metric_rows WHERE run_id = ?1 ORDER BY chunk DESC",
        )?;
        let mut found = statement.query([self.id])?;
        let mut heads: Vec<RowHead> = Vec::new();
        while heads.len() < n
            && let Some(row) = found.next()?
        {
            let mut earlier = unpack_heads(row.get(0)?, blob(row, 1)?)?;
            earlier.append(&mut heads);
            heads = earlier;
        }
        heads.drain(..heads.len().saturating_sub(n));
        let mut rows: Vec<MetricValues> = heads
            .iter()
            .map(|&RowHead { row, step, t }| MetricValues { row, step, t, values: BTreeMap::new() })
            .collect();
        let (Some(first), Some(last)) = (heads.first(), heads.last()) else { return Ok(rows) };
        for key in keys {
            for chunk in first.row / CHUNK..=last.row / CHUNK {
                for (row, value) in self.cells(key, chunk)? {
                    if let Ok(idx) = rows.binary_search_by_key(&row, |row| row.row) {
                        rows[idx].values.insert(key.clone(), value);
                    }
                }
            }
        }
        Ok(rows)
    }

    /// The rows whose steps are from `from` to `to`: the first and the last of them.
    pub(super) fn rows_between(&self, from: u64, to: u64) -> Result<Option<(u64, u64)>> {
        if (from, to) == (0, u64::MAX) {
            return Ok(Some((0, MAX_ROW)));
        }
        // Steps in the index fit into 63 bits; see `Follower`.
        let bounds = params![self.id, from.min(MAX_ROW), to.min(MAX_ROW)];
        let chunk = |order: &str| {
            self.connection
                .prepare_cached(&format!(
                    "SELECT chunk FROM metric_rows WHERE run_id = ?1
                     AND greatest_step >= ?2 AND least_step <= ?3 ORDER BY chunk {order} LIMIT 1"
                ))?
                .query_row(bounds, |row| row.get::<_, u64>(0))
                .optional()
        };
        let (Some(first), Some(last)) = (chunk("")?, chunk("DESC")?) else { return Ok(None) };
        let is_in = |head: &&RowHead| (from..=to).contains(&head.step);
        let low = self.heads(first)?.iter().find(is_in).map(|head| head.row);
        let high = self.heads(last)?.iter().rfind(is_in).map(|head| head.row);
        Ok(Some((low.unwrap_or(first * CHUNK), high.unwrap_or(last * CHUNK + CHUNK - 1))))
    }

    /// The first or the last point of a metric from row `low` to row `high`.
    fn edge(&self, key: &str, low: u64, high: u64, edge: Edge) -> Result<Option<Point>> {
        let order = match edge {
            Edge::First => "",
            Edge::Last => "DESC",
        };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT chunk, data FROM metric_chunks WHERE run_id = ?1 AND level = 0 AND key = ?2
             AND chunk BETWEEN ?3 AND ?4 ORDER BY chunk {order}"
        ))?;
        let mut rows = statement.query(params![self.id, key, low / CHUNK, high / CHUNK])?;
        while let Some(row) = rows.next()? {
            let chunk = row.get(0)?;
            let cells = unpack_cells(chunk, blob(row, 1)?)?;
            let is_in = |cell: &&Cell| (low..=high).contains(&cell.0);
            let found = match edge {
                Edge::First => cells.iter().find(is_in),
                Edge::Last => cells.iter().rfind(is_in),
            };
            if let Some(&(row, value)) = found {
                let heads = self.heads(chunk)?;
                return Ok(head_of(&heads, row).map(|head| Point { head, value }));
            }
        }
        Ok(None)
    }

    /// The entries of a level from row `low` to row `high`, each with its first row. An entry that
    /// reaches beyond is replaced by the finer ones within.
    fn entries(&self, key: &str, level: u32, low: u64, high: u64) -> Result<Vec<(u64, Summary)>> {
        if low > high {
            return Ok(Vec::new());
        }
        if level == 0 {
            return self.raw(key, low, high);
        }
        let width = entry_rows(level);
        let (first, end) = (low.div_ceil(width), (high + 1) / width);
        if first >= end {
            return self.entries(key, level - 1, low, high);
        }
        let mut entries = Vec::new();
        if low < first * width {
            entries = self.entries(key, level - 1, low, first * width - 1)?;
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT chunk, data FROM metric_chunks WHERE run_id = ?1 AND level = ?2 AND key = ?3
             AND chunk BETWEEN ?4 AND ?5 ORDER BY chunk",
        )?;
        let mut rows =
            statement.query(params![self.id, level, key, first / FAN, (end - 1) / FAN])?;
        while let Some(row) = rows.next()? {
            for (entry, summary) in unpack_summaries(level, row.get(0)?, blob(row, 1)?)? {
                if (first..end).contains(&entry) {
                    entries.push((entry * width, summary));
                }
            }
        }
        entries.append(&mut self.entries(key, level - 1, end * width, high)?);
        Ok(entries)
    }

    /// Every point from row `low` to row `high`.
    fn raw(&self, key: &str, low: u64, high: u64) -> Result<Vec<(u64, Summary)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT c.chunk, c.data, r.heads FROM metric_chunks c
             JOIN metric_rows r ON r.run_id = c.run_id AND r.chunk = c.chunk
             WHERE c.run_id = ?1 AND c.level = 0 AND c.key = ?2 AND c.chunk BETWEEN ?3 AND ?4
             ORDER BY c.chunk",
        )?;
        let mut rows = statement.query(params![self.id, key, low / CHUNK, high / CHUNK])?;
        let mut points = Vec::new();
        while let Some(row) = rows.next()? {
            let chunk = row.get(0)?;
            let heads = unpack_heads(chunk, blob(row, 2)?)?;
            for (row, value) in unpack_cells(chunk, blob(row, 1)?)? {
                if (low..=high).contains(&row)
                    && let Some(head) = head_of(&heads, row)
                {
                    points.push((row, Point { head, value }.into()));
                }
            }
        }
        Ok(points)
    }

    fn heads(&self, chunk: u64) -> Result<Vec<RowHead>> {
        self.connection
            .prepare_cached("SELECT heads FROM metric_rows WHERE run_id = ?1 AND chunk = ?2")?
            .query_row(params![self.id, chunk], |row| Ok(unpack_heads(chunk, blob(row, 0)?)))
            .optional()?
            .unwrap_or_else(|| Ok(Vec::new()))
    }

    fn put_heads(&self, chunk: u64, heads: &[RowHead]) -> Result<()> {
        let steps = || heads.iter().map(|head| head.step);
        let (Some(least), Some(greatest)) = (steps().min(), steps().max()) else {
            self.connection.execute(
                "DELETE FROM metric_rows WHERE run_id = ?1 AND chunk = ?2",
                params![self.id, chunk],
            )?;
            return Ok(());
        };
        self.connection
            .prepare_cached(
                "INSERT INTO metric_rows (run_id, chunk, least_step, greatest_step, heads)
                 VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT DO UPDATE SET least_step = ?3, greatest_step = ?4, heads = ?5",
            )?
            .execute(params![self.id, chunk, least, greatest, pack_heads(heads)])?;
        Ok(())
    }

    fn cells(&self, key: &str, chunk: u64) -> Result<Vec<Cell>> {
        self.get(0, key, chunk, |bytes| unpack_cells(chunk, bytes))
    }

    fn summaries(&self, level: u32, key: &str, chunk: u64) -> Result<Vec<(u64, Summary)>> {
        self.get(level, key, chunk, |bytes| unpack_summaries(level, chunk, bytes))
    }

    fn get<T: Default>(
        &self,
        level: u32,
        key: &str,
        chunk: u64,
        unpack: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<T> {
        self.connection
            .prepare_cached(
                "SELECT data FROM metric_chunks
                 WHERE run_id = ?1 AND level = ?2 AND key = ?3 AND chunk = ?4",
            )?
            .query_row(params![self.id, level, key, chunk], |row| Ok(unpack(blob(row, 0)?)))
            .optional()?
            .unwrap_or_else(|| Ok(T::default()))
    }

    /// Writes a chunk; one without content is removed.
    fn put(&self, level: u32, key: &str, chunk: u64, data: &[u8]) -> Result<()> {
        if data.is_empty() {
            self.connection.execute(
                "DELETE FROM metric_chunks
                 WHERE run_id = ?1 AND level = ?2 AND key = ?3 AND chunk = ?4",
                params![self.id, level, key, chunk],
            )?;
            return Ok(());
        }
        self.connection
            .prepare_cached(
                "INSERT INTO metric_chunks (run_id, level, key, chunk, data)
                 VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET data = ?5",
            )?
            .execute(params![self.id, level, key, chunk, data])?;
        Ok(())
    }
}

/// Rows and steps that a line may have; also what SQLite and JavaScript can hold.
pub(crate) const MAX_ROW: u64 = 1 << 53;

/// An end of a series.
#[derive(Clone, Copy, Debug)]
enum Edge {
    First,
    Last,
}

/// Merges `summary` into the last entry, or begins a new one.
fn add_entry(entries: &mut Vec<(u64, Summary)>, entry: u64, summary: &Summary) {
    match entries.last_mut() {
        Some((last, present)) if *last == entry => present.merge(summary),
        _ => entries.push((entry, *summary)),
    }
}

fn blob<'row>(row: &'row Row<'_>, column: usize) -> rusqlite::Result<&'row [u8]> {
    Ok(row.get_ref(column)?.as_blob()?)
}

fn head_of(heads: &[RowHead], row: u64) -> Option<RowHead> {
    heads.binary_search_by_key(&row, |head| head.row).ok().map(|idx| heads[idx])
}

#[cfg(test)]
mod tests;
