//! What people ask of runs through the lab, and what it starts, restarts and removes by itself.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use cartridge_store::index::IndexedRun;
use cartridge_store::{Command, Manifest, RunDir, RunFilter, RunId, RunKind, RunState, StoreError};

use super::wandb::is_of_client;
use super::{DeletedRun, Lab, MOST_WAITING, RunView, held};
use crate::audit::Deed;
use crate::clock::unix_now;
use crate::config::RunConfig;
use crate::error::{Result, RunError};
use crate::launch::Terms;
use crate::play;
use crate::queue::{Demand, n_startable};
use crate::steer::{self, By, Turn};
use crate::supervisor::LOST_AFTER;

impl Lab {
    /// Makes a run and starts it as soon as there is room. A request that was made before, by its
    /// key, gives the run that it made.
    pub fn start_run(&self, config: &RunConfig, terms: Terms, by: By<'_>) -> Result<RunView> {
        self.limits.admit(&Demand::of_resources(&config.resources))?;
        self.make(by, || steer::create(&self.data, &self.launcher, config, terms, by))
    }

    /// Makes a run from a checkpoint of another; see [`steer::fork`].
    pub fn fork_run(
        &self,
        id: &RunId,
        at: &str,
        overrides: &[(String, serde_json::Value)],
        by: By<'_>,
    ) -> Result<RunView> {
        let parent = self.run(id)?.run.manifest;
        self.limits.admit(&Demand::of(&parent))?;
        self.make(by, || steer::fork(&self.data, &self.launcher, &parent, at, overrides, by))
    }

    /// Makes a run unless the same request has done so.
    pub(super) fn make(
        &self,
        by: By<'_>,
        make: impl FnOnce() -> Result<Manifest>,
    ) -> Result<RunView> {
        let turn = held(&self.starts);
        if let Some(key) = by.request {
            self.take_marks()?;
            let made =
                held(&self.marks).requests.get(&(by.who.to_owned(), key.to_owned())).cloned();
            if let Some(id) = made {
                return self.run(&id);
            }
        }
        let id = make()?.id;
        drop(turn);
        self.ingest_now(&id)?;
        self.start_waiting()?;
        self.ingest_now(&id)?;
        self.run(&id)
    }

    /// Reads the audit outside a tick; runs that it wakes are looked at in the next.
    pub(super) fn take_marks(&self) -> Result<()> {
        for line in held(&self.marks).advance(&self.data)? {
            if let (Deed::Resume | Deed::Start, Some(run)) = (line.what, line.run()) {
                self.wake(&run);
            }
        }
        Ok(())
    }

    /// Looks at a run that has ended, for a while: somebody starts it again.
    pub(super) fn wake(&self, id: &RunId) {
        held(&self.watch).waking.insert(id.clone(), Instant::now());
    }

    /// Starts the runs that wait, as far as there is room.
    pub(super) fn start_waiting(&self) -> Result<()> {
        let mut starts = held(&self.starts);
        let in_states = |states: &[RunState]| {
            let kinds = vec![RunKind::Train, RunKind::External, RunKind::Eval];
            let filter = RunFilter { kinds, states: states.to_vec(), ..RunFilter::default() };
            let mut found = self.read(|index| index.runs(&filter, MOST_WAITING, None))?;
            // A client's run trains elsewhere: it waits for nobody here, and nobody for it.
            found.retain(|run| run.manifest.is_supervised() && !is_of_client(&run.manifest));
            Ok::<_, RunError>(found)
        };
        let mut runs = in_states(&[RunState::Queued])?;
        if runs.is_empty() {
            starts.launched.clear();
            return Ok(());
        }
        runs.extend(in_states(&[
            RunState::Starting,
            RunState::Running,
            RunState::Paused,
            RunState::Stopping,
        ])?);
        // One that is to be started again stands behind those that came before it was.
        let since = |run: &IndexedRun| run.status.waits_since().unwrap_or(run.manifest.created_at);
        runs.sort_by(|a, b| {
            since(a).total_cmp(&since(b)).then_with(|| a.manifest.id.cmp(&b.manifest.id))
        });
        let is_queued = |run: &IndexedRun| run.status.state() == RunState::Queued;
        let queued: HashSet<&RunId> =
            runs.iter().filter(|run| is_queued(run)).map(|run| &run.manifest.id).collect();
        starts.launched.retain(|id, since| queued.contains(id) && since.elapsed() < LOST_AFTER);
        // An evaluation is short, and somebody waits for it: a training that goes on for days must
        // not be in its way. So they stand in a queue of their own, with limits of their own.
        let (evaluations, trainings): (Vec<_>, Vec<_>) =
            runs.iter().partition(|run| run.manifest.kind == RunKind::Eval);
        for runs in [trainings, evaluations] {
            let (mut at_work, mut waiting) = (Vec::new(), Vec::new());
            for run in runs {
                let demand = Demand::of(&run.manifest);
                match run.status.state() {
                    RunState::Queued if !starts.launched.contains_key(&run.manifest.id) => {
                        waiting.push((&run.manifest.id, run.status.next_attempt(), demand));
                    }
                    _ => at_work.push(demand),
                }
            }
            let demands: Vec<Demand> = waiting.iter().map(|(_, _, demand)| *demand).collect();
            let n = n_startable(&self.limits, &at_work, &demands);
            for (id, attempt, _) in waiting.into_iter().take(n) {
                let started = self.launcher.start(&self.data, id, attempt);
                if started.is_err() {
                    // A run that could not be started has failed: that is news.
                    held(&self.watch).waking.insert(id.clone(), Instant::now());
                }
                started?;
                tracing::info!(run = %id, "run started");
                starts.launched.insert(id.clone(), Instant::now());
            }
        }
        Ok(())
    }

    /// Notes when a run that failed is due to be started again.
    pub(super) fn plan_restart(&self, IndexedRun { manifest, status }: &IndexedRun) {
        let is_broken = matches!(status.state(), RunState::Failed | RunState::Lost);
        let mut starts = held(&self.starts);
        let Some(restart) = manifest.restart.as_ref().filter(|_| is_broken) else {
            starts.restarts.remove(&manifest.id);
            return;
        };
        let attempt = status.last_attempt();
        let is_planned = starts.restarts.get(&manifest.id).is_some_and(|plan| plan.0 == attempt);
        if let Some(seconds) = restart.wait_s(attempt).filter(|_| !is_planned) {
            let due = Instant::now() + Duration::from_secs_f64(seconds.max(0.0));
            starts.restarts.insert(manifest.id.clone(), (attempt, due));
        }
    }

    /// Starts the runs again that failed and whose time has come.
    pub(super) fn restart_failed(&self) -> Result<()> {
        let mut due = Vec::new();
        held(&self.starts).restarts.retain(|id, (_, at)| {
            let is_due = Instant::now() >= *at;
            if is_due {
                due.push(id.clone());
            }
            !is_due
        });
        for id in due {
            match self.resume_run(&id, By::new("lab")) {
                // Somebody else has done so, or has put it away.
                Ok(_)
                | Err(
                    RunError::Ended { .. }
                    | RunError::NotNow { .. }
                    | RunError::Store(StoreError::NoSuchRun(_)),
                ) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes runs that have been in the trash for long enough.
    pub(super) fn empty_trash(&self) -> Result<()> {
        let now = unix_now();
        let old: Vec<RunId> = {
            let marks = held(&self.marks);
            let old = marks.deleted.iter().filter(|(_, at)| now - **at > steer::UNDO_S);
            old.map(|(id, _)| id.clone()).collect()
        };
        old.iter().try_for_each(|id| steer::purge(&self.data, id, By::new("lab")))
    }

    /// Lets a run go on, at its turn; see [`steer::resume`].
    pub fn resume_run(&self, id: &RunId, by: By<'_>) -> Result<RunView> {
        let IndexedRun { manifest, mut status } = self.run(id)?.run;
        let has_begun = status.state().is_active() && status.state() != RunState::Queued;
        if has_begun && !steer::is_at_work(&self.data.run(id), id)? {
            // Its supervisor is gone, which would be noticed after two heartbeats.
            status = steer::look(&self.data, id)?.1;
        }
        steer::resume(&self.data, &self.launcher, &manifest, &status, Turn::InQueue, by)?;
        self.wake(id);
        self.ingest_now(id)?;
        self.start_waiting()?;
        self.ingest_now(id)?;
        self.run(id)
    }

    /// Starts a run that waits, past the queue; see [`steer::start`].
    pub fn start_now(&self, id: &RunId, by: By<'_>) -> Result<RunView> {
        self.run(id)?;
        let mut starts = held(&self.starts);
        // From the files: it may have been started a moment ago.
        let (manifest, status) = steer::look(&self.data, id)?;
        let state = status.state();
        if state == RunState::Queued && starts.launched.contains_key(id) {
            let hint = "it is being started";
            return Err(RunError::NotNow { id: id.clone(), state, hint });
        }
        steer::start(&self.data, &self.launcher, &manifest, &status, by)?;
        starts.launched.insert(id.clone(), Instant::now());
        drop(starts);
        self.wake(id);
        self.ingest_now(id)?;
        self.run(id)
    }

    /// Puts a run away, or brings it back.
    pub fn archive_run(&self, id: &RunId, is_archived: bool, by: By<'_>) -> Result<RunView> {
        self.run(id)?;
        steer::archive(&self.data, id, is_archived, by)?;
        self.take_marks()?;
        self.publish(id)?;
        self.run(id)
    }

    /// Keeps a run or a checkpoint of it, or lets it go.
    pub fn pin_run(
        &self,
        id: &RunId,
        checkpoint: Option<&str>,
        is_pinned: bool,
        by: By<'_>,
    ) -> Result<RunView> {
        self.run(id)?;
        steer::pin(&self.data, id, checkpoint, is_pinned, by)?;
        self.take_marks()?;
        self.publish(id)?;
        self.run(id)
    }

    pub(super) fn publish(&self, id: &RunId) -> Result<()> {
        let mut index = held(&self.writer);
        let row = index.publish_status(id)?;
        held(&self.untold).push(row);
        drop(index);
        Ok(())
    }

    /// Moves a run to the trash.
    pub fn delete_run(&self, id: &RunId, by: By<'_>) -> Result<()> {
        let IndexedRun { manifest, status } = self.run(id)?.run;
        play::check_delete(&manifest, by)?;
        steer::delete(&self.data, &manifest, &status, by)?;
        self.take_marks()?;
        let mut index = held(&self.writer);
        held(&self.untold).extend(index.forget(id)?);
        Ok(())
    }

    /// Brings a run back from the trash.
    pub fn restore_run(&self, id: &RunId, by: By<'_>) -> Result<RunView> {
        steer::restore(&self.data, id, by)?;
        self.take_marks()?;
        self.ingest_now(id)?;
        self.run(id)
    }

    /// The runs in the trash, the last deleted first.
    pub fn trash(&self) -> Vec<DeletedRun> {
        let marks = held(&self.marks);
        let mut runs: Vec<DeletedRun> = marks
            .deleted
            .iter()
            .filter_map(|(id, &deleted_at)| {
                let manifest = RunDir::new(steer::trash(&self.data, id)).manifest().ok()?;
                Some(DeletedRun { manifest, deleted_at, purge_at: deleted_at + steer::UNDO_S })
            })
            .collect();
        runs.sort_by(|a, b| b.deleted_at.total_cmp(&a.deleted_at));
        runs
    }

    /// Asks a run to change a setting; returns the setting's full path and what it is until then.
    pub fn tune(
        &self,
        id: &RunId,
        path: &str,
        value: f64,
        by: By<'_>,
    ) -> Result<(RunView, String, serde_json::Value)> {
        let IndexedRun { manifest, status } = self.run(id)?.run;
        let (full, old) = steer::setting_of(&manifest, &status, path);
        let view = self.ask(id, Command::Tune { path: path.to_owned(), value }, by)?;
        Ok((view, full, old))
    }

    /// Asks something of a run; see [`steer::ask`].
    pub fn ask(&self, id: &RunId, command: Command, by: By<'_>) -> Result<RunView> {
        let how = match command {
            Command::Stop => Some("stop"),
            Command::Terminate => Some("terminate"),
            _ => None,
        };
        let span =
            how.map(|how| tracing::info_span!(target: "otel", "run.stop", run_id = %id, how));
        let _within = span.as_ref().map(tracing::Span::enter);
        let IndexedRun { manifest, status } = self.run(id)?.run;
        steer::ask(&self.data, &manifest, &status, command, by)?;
        self.ingest_now(id)?;
        self.run(id)
    }
}
