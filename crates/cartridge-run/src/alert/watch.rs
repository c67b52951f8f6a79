//! When alerts fire, and when they are over.
//!
//! The lab has one watch, on a thread of its own ([`start`]). It looks at the runs of which
//! something was heard since its last look, at those that an open alert is about, at the disk and at
//! how fast the lab answers. What is wrong is decided by functions from what was seen to causes; what
//! was looked at and is no longer wrong is over. A limit that was passed counts as passed until there
//! is some distance again, so that nothing fires and ends all the time.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cartridge_store::{RunId, RunKind, RunState};

use super::{Book, Cause, Change, Kind, News};
use crate::insight::{Finding, Insights};
use crate::lab::{Health, Lab, RunView};

/// How often the watch looks.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Runs whose status is looked at in one look, and those whose numbers are.
pub(crate) const MOST_RUNS: usize = 200;
pub(crate) const MOST_NUMBERS: usize = 10;

/// The numbers of a run are looked at no more often than this.
pub(crate) const NUMBERS_EVERY: Duration = Duration::from_secs(10);

/// A run that ended longer ago is history, and no news.
const NEWS_S: f64 = 86_400.0;

/// The time over which answers are counted together.
const LATENCY_WINDOW: Duration = Duration::from_secs(60);

/// Fewer answers say nothing of how fast the lab is.
const FEW_ANSWERS: u64 = 20;

/// How far from a limit what had passed it must be to be over.
const DISTANCE: f64 = 0.8;

/// How long answers have taken since the lab was started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latency {
    /// Upper bounds of the buckets, in seconds.
    pub bounds: Vec<f64>,
    /// Answers in each bucket.
    pub counts: Vec<u64>,
    /// Answers in all, also those beyond the last bound.
    pub n: u64,
}

impl Latency {
    /// The seconds below which 19 in 20 answers since `earlier` stayed, as far as the buckets tell:
    /// a straight line within each. Nothing where there were too few.
    fn p95_since(&self, earlier: &Self) -> Option<f64> {
        let n = self.n.checked_sub(earlier.n).filter(|n| *n >= FEW_ANSWERS)?;
        let rank = 0.95 * n as f64;
        let (mut below, mut low) = (0.0, 0.0);
        for (idx, &bound) in self.bounds.iter().enumerate() {
            let before = earlier.counts.get(idx).copied().unwrap_or(0);
            let count = self.counts[idx].saturating_sub(before) as f64;
            if below + count >= rank && count > 0.0 {
                return Some(low + (bound - low) * (rank - below) / count);
            }
            (below, low) = (below + count, bound);
        }
        Some(low)
    }
}

/// What the watch remembers from one look to the next.
#[derive(Debug, Default)]
pub struct Watch {
    answers: VecDeque<(Instant, Latency)>,
    /// When the numbers of runs were looked at.
    pub(crate) looked: HashMap<RunId, Instant>,
    /// Runs that must be looked at again.
    pub(crate) again: BTreeSet<RunId>,
    /// The line of the alerts up to which others have been told; nothing before the first look.
    pub(crate) told: Option<u64>,
}

impl Watch {
    /// The seconds below which 19 in 20 of the newest answers stayed.
    pub(crate) fn p95(&mut self, answers: Latency, now: Instant) -> Option<f64> {
        // One that is older than the window stays, so that the window is whole.
        let is_old = |(at, _): &(Instant, Latency)| now.duration_since(*at) >= LATENCY_WINDOW;
        while self.answers.get(1).is_some_and(is_old) {
            self.answers.pop_front();
        }
        let since = self.answers.front().map(|(_, since)| since.clone()).unwrap_or_default();
        let found = answers.p95_since(&since);
        self.answers.push_back((now, answers));
        found
    }
}

fn numbers<const N: usize>(pairs: [(&str, f64); N]) -> BTreeMap<String, f64> {
    let finite = pairs.into_iter().filter(|(_, value)| value.is_finite());
    finite.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Whether it has fired already and is not over.
fn is_open(book: &Book, kind: Kind, run_id: Option<&RunId>) -> bool {
    book.open(kind, run_id).is_some()
}

/// What is wrong with the disk, if anything is.
pub(crate) fn disk(free: u64, limit: Option<u64>, is_open: bool) -> Option<Cause> {
    let limit = limit?;
    let enough = if is_open { (limit as f64 / DISTANCE) as u64 } else { limit };
    let mebibytes = |bytes: u64| bytes / (1024 * 1024);
    (free < enough).then(|| Cause {
        kind: Kind::Disk,
        run_id: None,
        sentence: format!(
            "Little room is left on the disk of the data folder: {} MiB",
            mebibytes(free)
        ),
        suggestion: "Free some room, for example with `cartridge gc`, or set retention.max_bytes in lab.json".to_owned(),
        numbers: numbers([("free_bytes", free as f64), ("limit_bytes", limit as f64)]),
    })
}

/// What is wrong with how fast the lab answers, if anything is.
pub(crate) fn latency(p95: Option<f64>, limit_ms: Option<f64>, is_open: bool) -> Option<Cause> {
    let (p95_ms, limit_ms) = (1_000.0 * p95?, limit_ms?);
    let enough = if is_open { DISTANCE * limit_ms } else { limit_ms };
    (p95_ms > enough).then(|| Cause {
        kind: Kind::ApiLatency,
        run_id: None,
        sentence: format!("The lab answers slowly: one answer in twenty takes {p95_ms:.0} ms or more"),
        suggestion: "Look what else is at work on this machine (`cartridge cluster`), and which route it is in /metrics".to_owned(),
        numbers: numbers([("p95_ms", p95_ms), ("limit_ms", limit_ms)]),
    })
}

/// What is wrong with a run, as its status tells.
pub(crate) fn status(view: &RunView, book: &Book, now: f64) -> Vec<Cause> {
    let (manifest, status) = (&view.run.manifest, &view.run.status);
    let (id, state) = (&manifest.id, status.state());
    if view.is_archived || manifest.kind == RunKind::Human {
        return Vec::new();
    }
    let is_news = |kind: Kind, ended_at: Option<f64>| {
        is_open(book, kind, Some(id)) || ended_at.is_none_or(|t| now - t < NEWS_S)
    };
    let cause = |kind: Kind, sentence: String, suggestion: String, numbers| Cause {
        kind,
        run_id: Some(id.clone()),
        sentence,
        suggestion,
        numbers,
    };
    let mut found = Vec::new();
    let message = || status.failure().map_or_else(String::new, |failure| failure.message);
    let resume = match status.checkpoint_step {
        Some(step) => format!("`cartridge resume {id}` goes on from its checkpoint at step {step}"),
        None => format!("`cartridge resume {id}` starts it again"),
    };
    let is_lost = state == RunState::Lost;
    let is_late = !is_lost && state.is_active() && view.health != Health::Fresh;
    if is_late || (is_lost && is_news(Kind::HeartbeatStale, status.heartbeat_at)) {
        let age_s = view.heartbeat_age.map_or(f64::NAN, |age| age.as_secs_f64());
        let (sentence, suggestion) = if is_lost {
            (format!("{} is lost: {}", manifest.name, message()), resume.clone())
        } else {
            (
                format!("The supervisor of {} is late", manifest.name),
                "Look whether the machine is overloaded or its disk is full".to_owned(),
            )
        };
        let numbers = numbers([("heartbeat_age_s", age_s)]);
        found.push(cause(Kind::HeartbeatStale, sentence, suggestion, numbers));
    }
    if state == RunState::Failed && is_news(Kind::RunFailed, status.ended_at) {
        found.push(cause(
            Kind::RunFailed,
            format!("{} has failed: {}", manifest.name, message()),
            format!("Read the end of its log, on its page; {resume}"),
            numbers([("attempt", f64::from(status.attempt)), ("step", status.step as f64)]),
        ));
    }
    found
}

/// Whether the numbers of a run are looked at.
pub(crate) fn has_numbers(view: &RunView) -> bool {
    let state = view.run.status.state();
    matches!(view.run.manifest.kind, RunKind::Train | RunKind::External)
        && !view.is_archived
        && (state.is_active() || state == RunState::Failed)
        && state != RunState::Queued
}

/// What is wrong with a run, as its numbers tell.
pub(crate) fn from_numbers(view: &RunView, said: &Insights, book: &Book, now: f64) -> Vec<Cause> {
    let (manifest, status) = (&view.run.manifest, &view.run.status);
    let kind = |finding: Finding| match finding {
        Finding::NotFinite => Some(Kind::NotFinite),
        // Of a run that has ended, nothing can be saved any more.
        Finding::Collapse if status.state().is_active() => Some(Kind::RewardCollapse),
        _ => None,
    };
    let found = said.insights.iter().filter_map(|insight| Some((kind(insight.id)?, insight)));
    let is_news = |kind: Kind| {
        let is_history = status.ended_at.is_some_and(|t| now - t >= NEWS_S);
        !is_history || is_open(book, kind, Some(&manifest.id))
    };
    found
        .filter(|(kind, _)| is_news(*kind))
        .map(|(kind, insight)| Cause {
            kind,
            run_id: Some(manifest.id.clone()),
            sentence: format!("{}: {}", manifest.name, insight.sentence),
            suggestion: insight.suggestion.clone().unwrap_or_default(),
            numbers: insight
                .evidence
                .numbers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect(),
        })
        .collect()
}

/// Why an alert is over that no longer has a cause.
fn why_over(kind: Kind, view: Option<&RunView>) -> String {
    let state = view.map(|view| view.run.status.state());
    match (kind, state) {
        (Kind::ApiLatency, _) => {
            "the lab answers quickly again, or too little is asked of it to tell".to_owned()
        }
        (Kind::Disk, _) => "there is room on the disk again".to_owned(),
        (_, None) => "the run was deleted".to_owned(),
        _ if view.is_some_and(|view| view.is_archived) => "the run was archived".to_owned(),
        (_, Some(state)) if state.is_final() => "the run has ended".to_owned(),
        (Kind::HeartbeatStale, _) => "its supervisor was heard again".to_owned(),
        (Kind::RunFailed, _) => "it was started again".to_owned(),
        (Kind::RewardCollapse, _) => "the returns have come back".to_owned(),
        (Kind::NotFinite, _) => "its numbers are finite again".to_owned(),
    }
}

/// Whether what an alert was about has become something else: a supervisor that was late is lost, and
/// another thing can be done about it.
fn is_another(known: &Cause, now: &Cause) -> bool {
    known.kind == Kind::HeartbeatStale && known.suggestion != now.suggestion
}

/// What was looked at, and what is wrong with it.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// What is wrong.
    pub causes: Vec<Cause>,
    /// What was looked at: an open alert among these that has no cause is over.
    pub looked_at: BTreeSet<(Kind, Option<RunId>)>,
    /// The runs that were looked at.
    pub views: BTreeMap<RunId, RunView>,
}

impl Seen {
    /// What becomes of the alerts.
    pub(crate) fn changes(&self, book: &Book) -> Vec<(Option<String>, Change)> {
        let mut changes = Vec::new();
        let open = book.newest().filter(|alert| alert.is_open());
        for alert in open {
            let key = (alert.cause.kind, alert.cause.run_id.clone());
            let is_so = |cause: &&Cause| (cause.kind, &cause.run_id) == (key.0, &key.1);
            let reason = match self.causes.iter().find(is_so) {
                Some(cause) if is_another(&alert.cause, cause) => cause.sentence.clone(),
                None if self.looked_at.contains(&key) => {
                    why_over(key.0, key.1.as_ref().and_then(|id| self.views.get(id)))
                }
                _ => continue,
            };
            changes.push((Some(alert.id.clone()), Change::Resolved { reason }));
        }
        for cause in &self.causes {
            let open = book.open(cause.kind, cause.run_id.as_ref());
            if open.is_none_or(|alert| is_another(&alert.cause, cause)) {
                changes.push((None, Change::Triggered(cause.clone())));
            }
        }
        changes
    }
}

/// The watch at work.
#[derive(Debug)]
pub struct Watcher {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

/// Starts the watch of a lab. `answers` says how long the lab's answers have taken, and `tell` hears
/// what becomes of alerts; neither may block.
pub fn start(
    lab: Arc<Lab>,
    answers: impl Fn() -> Latency + Send + 'static,
    tell: impl Fn(News) + Send + 'static,
) -> Watcher {
    let (stop, stopped) = mpsc::channel();
    let thread = thread::spawn(move || {
        let mut watch = Watch::default();
        while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(LOOK_EVERY) {
            match lab.look_for_alerts(&mut watch, answers()) {
                Ok(news) => news.into_iter().for_each(&tell),
                Err(error) => tracing::warn!(%error, "cannot look whether something is wrong"),
            }
        }
    });
    Watcher { stop, thread }
}

impl Watcher {
    /// Ends it.
    pub fn stop(self) {
        _ = self.stop.send(());
        _ = self.thread.join();
    }
}

#[cfg(test)]
mod tests;
