//! What the numbers of runs say and cost, for whoever asks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cartridge_learn::metric::Metric;
use cartridge_store::{Index, RunFilter, RunId, RunKind, RunState, StoreError};
use serde_json::{Map, Value};

use super::{Health, Lab, RunView, held};
use crate::analytics::{self, Iteration, RunSummary, Windows};
use crate::cluster::{self, Cluster, Link};
use crate::error::Result;
use crate::insight::history::{MOST_EPISODES, MOST_POINTS, WANTED};
use crate::insight::{History, Insights, Subject};
use crate::metrics;
use crate::report::{self, Material, Report};
use crate::retention::{LabConfig, Prices};
use crate::settings;
use crate::steer::By;

/// Runs of which the last word is kept.
const MOST_SAID: usize = 256;

/// What was last said of runs, with what it rests on: the attempt, its newest row, the
/// state and the silence.
#[derive(Debug, Default)]
pub(super) struct Said(Mutex<HashMap<RunId, (Basis, Arc<Insights>)>>);

/// Newest events that a report looks through.
const MOST_EVENTS: usize = 10_000;

type Basis = (u32, u64, RunState, bool);

impl Lab {
    /// What the numbers of a run say.
    pub fn insights(&self, id: &RunId) -> Result<Arc<Insights>> {
        let view = self.run(id)?;
        let last_row = self.read(|index| index.last_row(id))?;
        let is_late = view.run.status.state().is_active() && view.health != Health::Fresh;
        let status = &view.run.status;
        let basis = (status.last_attempt(), last_row, status.state(), is_late);
        if let Some((known, said)) = held(&self.said.0).get(id)
            && *known == basis
        {
            return Ok(Arc::clone(said));
        }
        let age = view.heartbeat_age.filter(|_| is_late);
        let silence_s = age.map(|age| age.as_secs_f64());
        let subject = Subject::new(&view.run.manifest, &view.run.status, silence_s);
        let said = Arc::new(Insights::of(id, &subject, &self.history(id)?));
        let mut kept = held(&self.said.0);
        if kept.len() >= MOST_SAID {
            kept.clear();
        }
        kept.insert(id.clone(), (basis, Arc::clone(&said)));
        Ok(said)
    }

    fn history(&self, id: &RunId) -> Result<History> {
        let names = WANTED.map(Metric::name);
        let stored = metrics::stored_names(&names);
        let (last_row, found) =
            self.read(|index| index.series(id, &stored, MOST_POINTS, (0, u64::MAX)))?;
        let series = metrics::rename_series(&found, &names);
        let episodes = self.episodes(id, MOST_EPISODES)?;
        Ok(History::of(last_row, &series, episodes))
    }

    /// All of a run on one page.
    pub fn report(&self, id: &RunId) -> Result<Report> {
        let view = self.run(id)?;
        let keys = report::CHARTS.map(Metric::name);
        let (_, series) = self.series(id, &keys, report::CHART_POINTS, (0, u64::MAX))?;
        let events = self.events(id, MOST_EVENTS)?;
        Report::new(
            &self.data,
            Material {
                insights: Insights::clone(&*self.insights(id)?),
                series,
                events: events.into_iter().map(|(_, line)| line).collect(),
                children: view.children,
                manifest: view.run.manifest,
                status: view.run.status,
            },
        )
    }

    /// The newest trainings in a line each, newest first.
    pub fn analytics_runs(&self, limit: usize) -> Result<Vec<RunSummary>> {
        let kinds = vec![RunKind::Train, RunKind::External];
        let filter = RunFilter { kinds, ..RunFilter::default() };
        let views = self.find_runs(&filter, limit, None, false)?;
        let config = LabConfig::read(&self.data)?;
        Ok(views.iter().map(|view| self.summed_up(view, &config)).collect())
    }

    /// One run in a line.
    pub fn analytics_summary(&self, id: &RunId) -> Result<RunSummary> {
        let config = LabConfig::read(&self.data)?;
        Ok(self.summed_up(&self.run(id)?, &config))
    }

    fn summed_up(&self, view: &RunView, config: &LabConfig) -> RunSummary {
        let id = &view.run.manifest.id;
        let rows = self.metrics_tail(id, &analytics::KEYS, analytics::TAIL_ROWS);
        let is_late = view.run.status.state().is_active() && view.health != Health::Fresh;
        RunSummary::new(
            &view.run.manifest,
            &view.run.status,
            rows.map_err(|error| error.to_string()),
            is_late,
            config,
        )
    }

    /// The windows of a run: see [`Windows`].
    pub fn analytics_windows(&self, id: &RunId) -> Result<Windows> {
        let view = self.run(id)?;
        let config = LabConfig::read(&self.data)?;
        let window_steps = analytics::window_steps(&view.run.manifest, &config);
        let (_, series) =
            self.series(id, &analytics::KEYS, analytics::MOST_POINTS, (0, u64::MAX))?;
        Ok(Windows::new(id.to_string(), window_steps, &series))
    }

    /// One window of a run, with every row in it.
    pub fn analytics_iteration(&self, id: &RunId, window_id: u64) -> Result<Iteration> {
        let view = self.run(id)?;
        let config = LabConfig::read(&self.data)?;
        let window_steps = analytics::window_steps(&view.run.manifest, &config);
        let steps = analytics::steps_of(window_id, window_steps);
        let (_, series) = self.series(id, &[], analytics::MOST_POINTS, steps)?;
        Iteration::new(id.as_str(), window_id, window_steps, view.run.status.step, &series)
    }

    /// What is at work on this machine, and what it costs.
    pub fn cluster(&self) -> Result<Cluster> {
        let config = LabConfig::read(&self.data)?;
        let counts = self.read(Index::count_by_state)?;
        let active = self.views_at_work(cluster::MOST_RUNS)?;
        let active: Vec<_> = active.into_iter().map(|view| (view.run, view.health)).collect();
        let mut found = cluster::cluster(&self.data, &counts, &active, &config);
        found.pods.insert(0, cluster::lab_pod());
        Ok(found)
    }

    /// Where other tools show what belongs to a run or a request.
    pub fn links(&self, run_id: Option<&RunId>, request_id: Option<&str>) -> Result<Vec<Link>> {
        let links = LabConfig::read(&self.data)?.links;
        Ok(links.filled_in(run_id.map(RunId::as_str), request_id))
    }

    /// Bytes in the index's write-ahead log.
    pub fn wal_bytes(&self) -> Result<u64> {
        self.read(|index| Ok(index.wal_bytes()))
    }

    /// The runs that are at work, at most `limit` of them.
    pub fn views_at_work(&self, limit: usize) -> Result<Vec<RunView>> {
        use RunState::{Paused, Running, Starting, Stopping};
        let states = vec![Starting, Running, Paused, Stopping];
        self.find_runs(&RunFilter { states, ..RunFilter::listed() }, limit, None, false)
    }

    /// The lab's configuration.
    pub fn settings(&self) -> Result<LabConfig> {
        LabConfig::read(&self.data)
    }

    /// Changes the lab's configuration: see [`settings::change`].
    pub fn change_settings(&self, changes: &Map<String, Value>, by: By<'_>) -> Result<LabConfig> {
        let changed = settings::change(&self.data, changes, by)?;
        *held(&self.prices) = None;
        Ok(changed)
    }

    /// What the machine costs, if that is told. Lists of runs ask it for each, so the file is read
    /// at most once in a while.
    pub(super) fn prices(&self) -> Option<Prices> {
        const FRESH: Duration = Duration::from_secs(1);
        let mut kept = held(&self.prices);
        if kept.as_ref().is_none_or(|(read, _)| read.elapsed() > FRESH) {
            // What is wrong with the file is said where it is used.
            let prices = LabConfig::read(&self.data).map(|config| config.prices);
            *kept = Some((Instant::now(), prices.unwrap_or_default()));
        }
        let prices = kept.as_ref().map(|(_, prices)| prices.clone());
        prices.filter(|prices| *prices != Prices::default())
    }

    /// How many runs there are in each state, except the games of people.
    pub fn count_by_state(&self) -> Result<Vec<(RunState, u64)>> {
        self.read(Index::count_by_state)
    }

    /// Bytes that are free where the data folder is, and bytes of that disk.
    pub fn disk_space(&self) -> Result<(u64, u64)> {
        Ok(cluster::disk_space(&self.data).map_err(StoreError::io(self.data.path()))?)
    }
}
