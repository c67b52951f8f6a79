//! How stretches of metrics are packed into bytes.
//!
//! Rows are numbered by their writer, and everything here is placed by row number alone, so that
//! the same rows give the same bytes whether they arrive one by one or all at once.
//!
//! | level | one entry | entries in a chunk | a chunk covers |
//! |---|---|---|---|
//! | 0 | one value of one row | 448 | 448 rows |
//! | 1 | [`Summary`] of 64 rows | 64 | 4,096 rows |
//! | 2 | of 4,096 rows | 64 | 262,144 rows |
//! | 3 | of 262,144 rows | 64 | 16,777,216 rows |
//!
//! Beside the chunks of each metric there is one chunk per 448 rows, shared by all metrics, with
//! step and time of each row ([`RowHead`]).

use crate::error::{Result, StoreError};

/// Rows in a chunk of level 0. A multiple of [`FAN`], so that a summary of level 1 needs one chunk
/// only, and as many as fill one page of the database: 448 values are 3,584 of its 4,096 bytes.
pub(super) const CHUNK: u64 = 448;

/// Each level has this many times fewer entries than the one below.
pub(super) const FAN: u64 = 64;

/// The coarsest level.
pub(super) const TOP: u32 = 3;

/// Rows that an entry of a level covers.
pub(super) fn entry_rows(level: u32) -> u64 {
    FAN.pow(level)
}

/// Rows that a chunk of a level covers.
pub(super) fn chunk_rows(level: u32) -> u64 {
    if level == 0 { CHUNK } else { FAN.pow(level + 1) }
}

/// What all metrics of a row share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RowHead {
    pub(super) row: u64,
    pub(super) step: u64,
    pub(super) t: f64,
}

/// A value of one metric in a row; nothing where it was not finite.
pub(super) type Cell = (u64, Option<f64>);

/// A value with its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) head: RowHead,
    pub(super) value: Option<f64>,
}

/// Some rows of one metric: how many, the least, the greatest, and the first that was not finite.
/// Of equal values the earlier one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Summary {
    pub(super) finite: u64,
    pub(super) absent: u64,
    pub(super) least: Option<(RowHead, f64)>,
    pub(super) greatest: Option<(RowHead, f64)>,
    pub(super) first_absent: Option<RowHead>,
}

impl Summary {
    /// Takes in what summarises later rows.
    pub(super) fn merge(&mut self, later: &Self) {
        self.finite += later.finite;
        self.absent += later.absent;
        let is_under = |a: &(RowHead, f64), b: &(RowHead, f64)| a.1.total_cmp(&b.1).is_lt();
        if let Some(value) = later.least
            && self.least.is_none_or(|least| is_under(&value, &least))
        {
            self.least = Some(value);
        }
        if let Some(value) = later.greatest
            && self.greatest.is_none_or(|greatest| is_under(&greatest, &value))
        {
            self.greatest = Some(value);
        }
        self.first_absent = self.first_absent.or(later.first_absent);
    }

    /// How many rows.
    pub(super) fn n(&self) -> u64 {
        self.finite + self.absent
    }

    /// The points that stand for all of them, in their order.
    pub(super) fn points(&self) -> Vec<Point> {
        let finite = |(head, value)| Point { head, value: Some(value) };
        let absent = |head| Point { head, value: None };
        let mut points: Vec<Point> = (self.least.map(finite).into_iter())
            .chain(self.greatest.map(finite))
            .chain(self.first_absent.map(absent))
            .collect();
        points.sort_by_key(|point| point.head.row);
        points.dedup_by_key(|point| point.head.row);
        points
    }
}

impl From<Point> for Summary {
    fn from(Point { head, value }: Point) -> Self {
        let value = value.map(|value| (head, value));
        Self {
            finite: u64::from(value.is_some()),
            absent: u64::from(value.is_none()),
            least: value,
            greatest: value,
            first_absent: value.is_none().then_some(head),
        }
    }
}

/// Packs the heads of the rows of one chunk.
pub(super) fn pack_heads(heads: &[RowHead]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(heads.len() * 12);
    let (mut row, mut step) = (0, 0);
    for head in heads {
        // The first row is given in its chunk, the others by their distance.
        let base = if bytes.is_empty() { head.row - head.row % CHUNK } else { row };
        put(&mut bytes, head.row - base);
        put_signed(&mut bytes, head.step.cast_signed().wrapping_sub(step));
        bytes.extend(head.t.to_le_bytes());
        (row, step) = (head.row, head.step.cast_signed());
    }
    bytes
}

/// The heads of the rows of chunk number `chunk`.
pub(super) fn unpack_heads(chunk: u64, bytes: &[u8]) -> Result<Vec<RowHead>> {
    let mut input = Input(bytes);
    let mut heads = Vec::with_capacity(bytes.len() / 10);
    let (mut row, mut step) = (chunk * CHUNK, 0_i64);
    while !input.0.is_empty() {
        row += input.take()?;
        step = step.wrapping_add(input.take_signed()?);
        heads.push(RowHead { row, step: step.cast_unsigned(), t: input.take_float()? });
    }
    Ok(heads)
}

/// Packs the values of one metric in one chunk: which rows have one as runs of like rows, then the
/// values.
pub(super) fn pack_cells(cells: &[Cell]) -> Vec<u8> {
    const SKIPPED: u64 = 0;
    const ABSENT: u64 = 1;
    const FINITE: u64 = 2;
    let mut runs: Vec<(u64, u64)> = Vec::new();
    let mut add = |kind, n| match runs.last_mut() {
        _ if n == 0 => {}
        Some((last, length)) if *last == kind => *length += n,
        _ => runs.push((kind, n)),
    };
    let mut next = cells.first().map_or(0, |(row, _)| row - row % CHUNK);
    for (row, value) in cells {
        add(SKIPPED, row - next);
        add(if value.is_some() { FINITE } else { ABSENT }, 1);
        next = row + 1;
    }
    let mut bytes = Vec::with_capacity(8 * cells.len() + 8);
    put(&mut bytes, runs.len() as u64);
    for (kind, n) in runs {
        put(&mut bytes, n << 2 | kind);
    }
    for value in cells.iter().filter_map(|(_, value)| *value) {
        bytes.extend(value.to_le_bytes());
    }
    bytes
}

/// The values of one metric in chunk number `chunk`.
pub(super) fn unpack_cells(chunk: u64, bytes: &[u8]) -> Result<Vec<Cell>> {
    let mut input = Input(bytes);
    let mut row = chunk * CHUNK;
    let mut cells = Vec::with_capacity(bytes.len() / 8);
    for _ in 0..input.take()? {
        let run = input.take()?;
        let (kind, n) = (run & 3, run >> 2);
        if n > CHUNK {
            return Err(damaged());
        }
        if kind > 0 {
            // The values follow behind all runs.
            cells.extend((row..row + n).map(|row| (row, (kind == 2).then_some(0.0))));
        }
        row += n;
    }
    for value in cells.iter_mut().filter_map(|(_, value)| value.as_mut()) {
        *value = input.take_float()?;
    }
    Ok(cells)
}

/// Packs the summaries of one chunk, each with the number of its entry within the level.
pub(super) fn pack_summaries(level: u32, summaries: &[(u64, Summary)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(48 * summaries.len());
    for (entry, summary) in summaries {
        let base = entry * entry_rows(level);
        let put_head = |bytes: &mut Vec<u8>, head: &RowHead| {
            put(bytes, head.row - base);
            put(bytes, head.step);
            bytes.extend(head.t.to_le_bytes());
        };
        put(&mut bytes, entry % FAN);
        put(&mut bytes, summary.finite);
        put(&mut bytes, summary.absent);
        for (head, value) in summary.least.iter().chain(&summary.greatest) {
            put_head(&mut bytes, head);
            bytes.extend(value.to_le_bytes());
        }
        if let Some(head) = &summary.first_absent {
            put_head(&mut bytes, head);
        }
    }
    bytes
}

/// The summaries of chunk number `chunk` of a level.
pub(super) fn unpack_summaries(
    level: u32,
    chunk: u64,
    bytes: &[u8],
) -> Result<Vec<(u64, Summary)>> {
    let mut input = Input(bytes);
    let mut summaries = Vec::with_capacity(FAN as usize);
    while !input.0.is_empty() {
        let entry = chunk * FAN + input.take()?;
        let base = entry * entry_rows(level);
        let head = |input: &mut Input<'_>| {
            Ok::<_, StoreError>(RowHead {
                row: base + input.take()?,
                step: input.take()?,
                t: input.take_float()?,
            })
        };
        let mut summary =
            Summary { finite: input.take()?, absent: input.take()?, ..Summary::default() };
        if summary.finite > 0 {
            summary.least = Some((head(&mut input)?, input.take_float()?));
            summary.greatest = Some((head(&mut input)?, input.take_float()?));
        }
        if summary.absent > 0 {
            summary.first_absent = Some(head(&mut input)?);
        }
        summaries.push((entry, summary));
    }
    Ok(summaries)
}

/// Appends a number, seven bits to a byte.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a number that may be negative; near zero it is short.
fn put_signed(bytes: &mut Vec<u8>, number: i64) {
    put(bytes, (number << 1 ^ number >> 63).cast_unsigned());
}

/// What is left of packed bytes.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn take(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or_else(damaged)?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(damaged())
    }

    fn take_signed(&mut self) -> Result<i64> {
        let number = self.take()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    fn take_float(&mut self) -> Result<f64> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or_else(damaged)?;
        self.0 = rest;
        Ok(f64::from_le_bytes(*bytes))
    }
}

fn damaged() -> StoreError {
    StoreError::IndexContent("a chunk of metrics is damaged".to_owned())
}

#[cfg(test)]
mod tests;
