//! What a person should know of now: alerts, from the moment at which they fire until what they
//! tell of is over.
//!
//! `data/alerts.jsonl` has a line for each change: an alert fired, somebody has taken note of it,
//! or it is over. [`Book`] folds the lines into how each alert stands. At most one alert of a kind
//! is open for a run, or for the lab; what comes back after it was over is a new one. Whoever
//! changes the file holds its lock while it reads what is new and appends, so the command line can
//! take note of alerts with or without a lab beside it.
//!
//! [`watch`] decides when alerts fire.

pub mod watch;

use std::collections::BTreeMap;
use std::path::PathBuf;

use cartridge_store::data_dir::write_beside;
use cartridge_store::jsonl::{self, Appender};
use cartridge_store::{DataDir, RunId};
use serde::{Deserialize, Serialize, Serializer};

use crate::audit::{self, Deed, Entry};
use crate::error::{Result, RunError};
use crate::steer::By;
use crate::time::rfc3339;

/// Alerts that are over and are remembered, the newest.
const MOST_OVER: usize = 1_000;

/// Lines that the file may have beyond what is remembered before it is written anew.
const MOST_OLD_LINES: usize = 10_000;

/// What an alert is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The supervisor of a run is late or gone.
    HeartbeatStale,
    /// A number of a run is not finite.
    NotFinite,
    /// The returns of a run have fallen far below what they were.
    RewardCollapse,
    /// A run has failed.
    RunFailed,
    /// The lab answers slowly.
    ApiLatency,
    /// Little room is left on the disk.
    Disk,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::HeartbeatStale,
        Self::NotFinite,
        Self::RewardCollapse,
        Self::RunFailed,
        Self::ApiLatency,
        Self::Disk,
    ];

    /// The word in files and lists.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HeartbeatStale => "heartbeat_stale",
            Self::NotFinite => "not_finite",
            Self::RewardCollapse => "reward_collapse",
            Self::RunFailed => "run_failed",
            Self::ApiLatency => "api_latency",
            Self::Disk => "disk",
        }
    }
}

/// Where an alert is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is so, and nobody has taken note.
    Firing,
    /// It is so, and somebody knows.
    Acknowledged,
    /// It is over.
    Resolved,
}

impl State {
    /// The word in files and lists.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Firing => "firing",
            Self::Acknowledged => "acknowledged",
            Self::Resolved => "resolved",
        }
    }
}

/// What fires.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// What it is about.
    pub kind: Kind,
    /// The run, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// What is wrong.
    pub sentence: String,
    /// What can be done.
    pub suggestion: String,
    /// The numbers behind it; all are finite.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub numbers: BTreeMap<String, f64>,
}

/// A line of `alerts.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlertLine {
    /// Number of the line, from 1.
    pub seq: u64,
    /// When, in Unix seconds.
    pub t: f64,
    /// The alert.
    pub id: String,
    /// What became of it.
    #[serde(flatten)]
    pub change: Change,
}

/// What becomes of an alert.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Change {
    /// It fires.
    Triggered(Cause),
    /// Somebody has taken note.
    Acknowledged {
        /// Who.
        by: String,
    },
    /// It is over.
    Resolved {
        /// Why.
        reason: String,
    },
}

/// How an alert stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alert {
    /// Its name: `al-17`.
    pub id: String,
    /// Why it fired.
    #[serde(flatten)]
    pub cause: Cause,
    /// Where it is in its life.
    pub state: State,
    /// When it fired, in Unix seconds; as RFC 3339 where people and programs read it.
    #[serde(serialize_with = "as_rfc3339")]
    pub triggered_at: f64,
    /// When somebody took note.
    #[serde(serialize_with = "maybe_as_rfc3339")]
    pub acknowledged_at: Option<f64>,
    /// Who took note.
    pub acknowledged_by: Option<String>,
    /// When it was over.
    #[serde(serialize_with = "maybe_as_rfc3339")]
    pub resolved_at: Option<f64>,
    /// Why it was over.
    pub resolved_reason: Option<String>,
    /// The numbers of its lines; with the first it fired.
    #[serde(skip)]
    lines: Vec<u64>,
}

fn as_rfc3339<S: Serializer>(t: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&rfc3339(*t))
}

fn maybe_as_rfc3339<S: Serializer>(t: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    t.map(rfc3339).serialize(serializer)
}

impl Alert {
    /// Whether it is not over.
    pub fn is_open(&self) -> bool {
        self.state != State::Resolved
    }

    /// Whether the line of this number is the one with which it fired.
    pub fn has_fired_at(&self, seq: u64) -> bool {
        self.lines.first() == Some(&seq)
    }
}

/// A change of an alert, for those who are told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct News {
    /// `AlertTriggered` when it fired, `AlertChanged` afterwards.
    #[serde(rename = "type")]
    pub name: &'static str,
    /// Number of the change, so that one that comes twice is recognised.
    pub seq: u64,
    /// How the alert stands.
    pub alert: Alert,
}

impl News {
    /// Of an alert, by the line of this number.
    pub fn new(alert: &Alert, seq: u64) -> Self {
        let name = if alert.has_fired_at(seq) { "AlertTriggered" } else { "AlertChanged" };
        Self { name, seq, alert: alert.clone() }
    }
}

/// Every alert that is remembered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Book {
    /// By their numbers, oldest first.
    alerts: BTreeMap<u64, Alert>,
    /// Number of the last line.
    last_seq: u64,
    /// How far the file was read.
    end: u64,
    n_lines: usize,
}

/// Where the alerts are.
pub fn path(data: &DataDir) -> PathBuf {
    data.path().join("alerts.jsonl")
}

fn number_of(id: &str) -> Option<u64> {
    id.strip_prefix("al-")?.parse().ok()
}

impl Book {
    /// All that the file says.
    pub fn read(data: &DataDir) -> Result<Self> {
        let mut book = Self::default();
        book.advance(data)?;
        Ok(book)
    }

    /// Takes in what others have written, and returns it.
    pub fn advance(&mut self, data: &DataDir) -> Result<Vec<AlertLine>> {
        let path = path(data);
        // Written anew by another, and shorter than it was.
        let size = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        if size < self.end {
            *self = Self::default();
        }
        let known = self.last_seq;
        let mut new = Vec::new();
        for line in jsonl::read_lines(&path, self.end, None)? {
            self.end = line.end;
            self.n_lines += 1;
            if let Ok(line) = serde_json::from_slice::<AlertLine>(&line.bytes) {
                self.apply(&line);
                if line.seq > known {
                    new.push(line);
                }
            }
        }
        Ok(new)
    }

    fn apply(&mut self, line: &AlertLine) {
        self.last_seq = self.last_seq.max(line.seq);
        let Some(number) = number_of(&line.id) else { return };
        if let Change::Triggered(cause) = &line.change {
            let alert = Alert {
                id: line.id.clone(),
                cause: cause.clone(),
                state: State::Firing,
                triggered_at: line.t,
                acknowledged_at: None,
                acknowledged_by: None,
                resolved_at: None,
                resolved_reason: None,
                lines: vec![line.seq],
            };
            self.alerts.insert(number, alert);
            return;
        }
        let Some(alert) = self.alerts.get_mut(&number) else { return };
        alert.lines.push(line.seq);
        match &line.change {
            Change::Acknowledged { by } => {
                alert.state = State::Acknowledged;
                alert.acknowledged_at = Some(line.t);
                alert.acknowledged_by = Some(by.clone());
            }
            Change::Resolved { reason } => {
                alert.state = State::Resolved;
                alert.resolved_at = Some(line.t);
                alert.resolved_reason = Some(reason.clone());
                self.forget();
            }
            Change::Triggered(_) => {}
        }
    }

    /// Forgets the oldest of those that are over.
    fn forget(&mut self) {
        let over = self.alerts.iter().filter(|(_, alert)| !alert.is_open());
        if over.clone().count() > MOST_OVER
            && let Some(oldest) = over.map(|(number, _)| *number).next()
        {
            self.alerts.remove(&oldest);
        }
    }

    /// The alerts, newest first.
    pub fn newest(&self) -> impl Iterator<Item = &Alert> {
        self.alerts.values().rev()
    }

    /// The alert of this name.
    pub fn get(&self, id: &str) -> Result<&Alert> {
        let found = number_of(id).and_then(|number| self.alerts.get(&number));
        found.ok_or_else(|| RunError::NoSuchAlert(id.to_owned()))
    }

    /// The open alert of a kind about a run, or about the lab.
    pub fn open(&self, kind: Kind, run_id: Option<&RunId>) -> Option<&Alert> {
        self.newest().find(|alert| {
            alert.is_open() && alert.cause.kind == kind && alert.cause.run_id.as_ref() == run_id
        })
    }

    /// Those that are open, by themselves.
    pub(crate) fn open_part(&self) -> Self {
        let open = self.alerts.iter().filter(|(_, alert)| alert.is_open());
        let alerts = open.map(|(number, alert)| (*number, alert.clone())).collect();
        Self { alerts, ..*self }
    }

    /// The alert that a line is about.
    pub fn at_line(&self, seq: u64) -> Option<&Alert> {
        self.newest().find(|alert| alert.lines.contains(&seq))
    }

    /// Number of the last line.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// What became of alerts after the line `seq`, oldest first.
    pub fn news_after(&self, seq: u64) -> Vec<News> {
        let changed = self.alerts.values().filter(|alert| alert.lines.last() > Some(&seq));
        let new = changed.flat_map(|alert| {
            let lines = alert.lines.iter().filter(move |line| **line > seq);
            lines.map(|line| News::new(alert, *line))
        });
        let mut new: Vec<News> = new.collect();
        new.sort_by_key(|news| news.seq);
        new
    }

    /// Decides on changes while nobody else can write, and makes them durable. `decide` sees what
    /// is so, and says which alert is to change, or that there is a new one.
    fn write(
        &mut self,
        data: &DataDir,
        t: f64,
        decide: impl FnOnce(&Self) -> Result<Vec<(Option<String>, Change)>>,
    ) -> Result<Vec<AlertLine>> {
        let mut appender = Appender::open_in_turn(path(data))?;
        let mut lines = self.advance(data)?;
        let mut next_number = self.alerts.keys().next_back().map_or(1, |last| last + 1);
        let mut new = Vec::new();
        for (seq, (id, change)) in (self.last_seq + 1..).zip(decide(self)?) {
            let id = id.unwrap_or_else(|| {
                next_number += 1;
                format!("al-{}", next_number - 1)
            });
            new.push(AlertLine { seq, t, id, change });
        }
        if new.is_empty() {
            return Ok(lines);
        }
        for line in &new {
            appender.append(line)?;
        }
        appender.sync()?;
        lines.append(&mut self.advance(data)?);
        Ok(lines)
    }

    /// Writes the file anew when most of it is forgotten. Only at the lab's start, when no other
    /// has it open for long.
    pub fn tidy(&mut self, data: &DataDir) -> Result<()> {
        if self.n_lines <= 3 * self.alerts.len() + MOST_OLD_LINES {
            return Ok(());
        }
        let path = path(data);
        let _turn = Appender::open_in_turn(&path)?;
        self.advance(data)?;
        let mut kept = Vec::new();
        for line in jsonl::read_lines(&path, 0, None)? {
            let Ok(found) = serde_json::from_slice::<AlertLine>(&line.bytes) else { continue };
            // The last line has the number from which to go on.
            if self.get(&found.id).is_ok() || found.seq == self.last_seq {
                kept.extend_from_slice(&line.bytes);
                kept.push(b'\n');
            }
        }
        write_beside(&path, &kept)?;
        *self = Self::read(data)?;
        Ok(())
    }
}

/// Fires alerts and ends them, as `decide` says of how they stand.
pub(crate) fn change(
    book: &mut Book,
    data: &DataDir,
    t: f64,
    decide: impl FnOnce(&Book) -> Vec<(Option<String>, Change)>,
) -> Result<Vec<AlertLine>> {
    book.write(data, t, |book| Ok(decide(book)))
}

/// Takes note of an alert. Taking note again changes nothing; what is over cannot be taken note of.
pub fn acknowledge(
    book: &mut Book,
    data: &DataDir,
    id: &str,
    by: By<'_>,
    t: f64,
) -> Result<(Alert, Vec<AlertLine>)> {
    let lines = book.write(data, t, |book| {
        let alert = book.get(id)?;
        match alert.state {
            State::Firing => {
                let mut entry = Entry::new(by, Deed::Acknowledge, id);
                entry.old = State::Firing.as_str().into();
                entry.new = State::Acknowledged.as_str().into();
                audit::record(data, entry, t)?;
                let change = Change::Acknowledged { by: by.who.to_owned() };
                Ok(vec![(Some(id.to_owned()), change)])
            }
            State::Acknowledged => Ok(Vec::new()),
            State::Resolved => Err(RunError::AlertOver(id.to_owned())),
        }
    })?;
    Ok((book.get(id)?.clone(), lines))
}

#[cfg(test)]
mod tests;
