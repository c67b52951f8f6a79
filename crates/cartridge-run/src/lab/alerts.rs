//! Alerts of the lab: looked for, listed and taken note of.

use std::time::Instant;

use cartridge_store::{RunId, StoreError};

use super::{FeedNews, Lab, RunView, held};
use crate::alert::watch::{self, Latency, MOST_NUMBERS, MOST_RUNS, NUMBERS_EVERY, Seen, Watch};
use crate::alert::{self, Alert, AlertLine, Kind, News, State};
use crate::clock::unix_now;
use crate::error::{Result, RunError};
use crate::retention::LabConfig;
use crate::steer::By;

/// How many alerts there are in each state but the last, and those that were asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct AlertList {
    /// Newest first.
    pub alerts: Vec<Alert>,
    /// Alerts that nobody has taken note of.
    pub n_firing: usize,
    /// Alerts that somebody knows of, and that are not over.
    pub n_acknowledged: usize,
}

impl Lab {
    pub(super) fn open_alerts(&self) -> Result<()> {
        let mut book = held(&self.alerts);
        book.advance(&self.data)?;
        book.tidy(&self.data)
    }

    /// The newest alerts, of one state where that is asked for.
    pub fn alerts(&self, state: Option<State>, limit: usize) -> Result<AlertList> {
        let mut book = held(&self.alerts);
        let lines = book.advance(&self.data)?;
        self.tell_of_alerts(&book, &lines)?;
        let count = |wanted: State| book.newest().filter(|alert| alert.state == wanted).count();
        let wanted = book.newest().filter(|alert| state.is_none_or(|state| alert.state == state));
        Ok(AlertList {
            alerts: wanted.take(limit).cloned().collect(),
            n_firing: count(State::Firing),
            n_acknowledged: count(State::Acknowledged),
        })
    }

    /// Takes note of an alert.
    pub fn acknowledge_alert(&self, id: &str, by: By<'_>) -> Result<Alert> {
        let mut book = held(&self.alerts);
        let (alert, lines) = alert::acknowledge(&mut book, &self.data, id, by, unix_now())?;
        self.tell_of_alerts(&book, &lines)?;
        Ok(alert)
    }

    /// How many alerts are open, by kind and state.
    pub fn open_alerts_by_kind(&self) -> Vec<(Kind, State, usize)> {
        let book = held(&self.alerts);
        let count = |kind: Kind, state: State| {
            book.newest().filter(|alert| (alert.cause.kind, alert.state) == (kind, state)).count()
        };
        let states = [State::Firing, State::Acknowledged];
        let pairs = Kind::ALL.into_iter().flat_map(|kind| states.map(|state| (kind, state)));
        pairs.map(|(kind, state)| (kind, state, count(kind, state))).collect()
    }

    /// Looks whether something is wrong, or no longer is, and returns what became of alerts.
    pub fn look_for_alerts(&self, watch: &mut Watch, answers: Latency) -> Result<Vec<News>> {
        let limits = LabConfig::read(&self.data)?.alerts;
        let now = unix_now();
        // What others took note of is told too. Looking takes its time, so others may ask meanwhile.
        let (known, mut lines, open) = {
            let mut book = held(&self.alerts);
            (book.last_seq(), book.advance(&self.data)?, book.open_part())
        };
        let mut seen = Seen::default();
        let is_open = |kind: Kind| open.open(kind, None).is_some();
        if let Ok((free, _)) = self.disk_space() {
            seen.looked_at.insert((Kind::Disk, None));
            seen.causes.extend(watch::disk(free, limits.disk_free_bytes, is_open(Kind::Disk)));
        }
        seen.looked_at.insert((Kind::ApiLatency, None));
        let p95 = watch.p95(answers, Instant::now());
        seen.causes.extend(watch::latency(p95, limits.api_p95_ms, is_open(Kind::ApiLatency)));

        let mut wanted = std::mem::take(&mut watch.again);
        wanted.append(&mut held(&self.stirred));
        wanted.extend(open.newest().filter_map(|alert| alert.cause.run_id.clone()));
        let mut n_numbers = 0;
        for (idx, id) in wanted.into_iter().enumerate() {
            if idx >= MOST_RUNS {
                watch.again.insert(id);
                continue;
            }
            let is_due = watch.looked.get(&id).is_none_or(|at| at.elapsed() >= NUMBERS_EVERY);
            let may_count = is_due && n_numbers < MOST_NUMBERS;
            match self.look_at_run(&id, &open, now, may_count, &mut seen)? {
                Numbers::Looked => {
                    n_numbers += 1;
                    watch.looked.insert(id, Instant::now());
                }
                Numbers::Later => _ = watch.again.insert(id),
                Numbers::None => {}
            }
        }
        watch.looked.retain(|_, at| at.elapsed() < NUMBERS_EVERY);

        let mut book = held(&self.alerts);
        if !seen.changes(&open).is_empty() {
            let new = alert::change(&mut book, &self.data, now, |book| seen.changes(book))?;
            lines.extend(new);
        }
        self.tell_of_alerts(&book, &lines)?;
        let told = watch.told.replace(book.last_seq()).unwrap_or(known);
        Ok(book.news_after(told))
    }

    fn look_at_run(
        &self,
        id: &RunId,
        book: &alert::Book,
        now: f64,
        may_count: bool,
        seen: &mut Seen,
    ) -> Result<Numbers> {
        let key = |kind: Kind| (kind, Some(id.clone()));
        let view: RunView = match self.run(id) {
            Ok(view) => view,
            Err(RunError::Store(StoreError::NoSuchRun(_))) => {
                seen.looked_at.extend(Kind::ALL.map(key));
                return Ok(Numbers::None);
            }
            Err(error) => return Err(error),
        };
        seen.looked_at.extend([key(Kind::HeartbeatStale), key(Kind::RunFailed)]);
        seen.causes.extend(watch::status(&view, book, now));
        let numbers = [key(Kind::NotFinite), key(Kind::RewardCollapse)];
        let looked = if !watch::has_numbers(&view) {
            seen.looked_at.extend(numbers);
            Numbers::None
        } else if may_count {
            seen.looked_at.extend(numbers);
            let said = self.insights(id)?;
            seen.causes.extend(watch::from_numbers(&view, &said, book, now));
            Numbers::Looked
        } else {
            Numbers::Later
        };
        seen.views.insert(id.clone(), view);
        Ok(looked)
    }

    /// Tells readers of the feed what became of alerts.
    fn tell_of_alerts(&self, book: &alert::Book, lines: &[AlertLine]) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut index = held(&self.writer);
        for line in lines {
            let run_id = book.get(&line.id).ok().and_then(|alert| alert.cause.run_id.as_ref());
            let row = index.publish_alert(run_id, line.seq)?;
            held(&self.untold).push(row);
        }
        Ok(())
    }

    /// What a line of the alerts says; nothing where its alert is forgotten.
    pub(super) fn alert_news(&self, line: u64) -> Option<FeedNews> {
        let book = held(&self.alerts);
        let alert = book.at_line(line)?;
        Some(FeedNews::Alert { is_new: alert.has_fired_at(line), alert: Box::new(alert.clone()) })
    }
}

/// Whether the numbers of a run were looked at.
enum Numbers {
    /// They were.
    Looked,
    /// They must be, at another time.
    Later,
    /// It has none that matter.
    None,
}
