//! Experiments and the runs that are made from them, through the lab.

use std::collections::BTreeMap;

use cartridge_store::index::{ExperimentCursor, ExperimentFilter};
use cartridge_store::{Experiment, ExperimentId, GroupId, Manifest, RunFilter, StoreError};

use super::{Lab, RunView, held};
use crate::aggregate::Aggregate;
use crate::error::{Result, RunError};
use crate::experiment::{self, NewExperiment, Plan, PlannedRun};
use crate::launch::Terms;
use crate::steer::By;

/// An experiment with what the lab knows of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentView {
    /// The template.
    pub experiment: Experiment,
    /// Whether it was put away.
    pub is_archived: bool,
    /// How many runs were made from it and are still there.
    pub n_runs: u64,
}

/// Runs that were made together.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupView {
    /// The runs, in the order in which they were made.
    pub runs: Vec<RunView>,
    /// What the last evaluations of those that have one come to.
    pub aggregate: Option<Aggregate>,
}

impl Lab {
    /// Makes an experiment.
    pub fn create_experiment(&self, new: NewExperiment, by: By<'_>) -> Result<ExperimentView> {
        let made = experiment::create(&self.data, &self.launcher.version, new, by)?;
        self.take_in_experiments()?;
        self.experiment(&made.id)
    }

    /// Makes an experiment that differs from another; see [`experiment::clone`].
    pub fn clone_experiment(
        &self,
        id: &ExperimentId,
        changes: NewExperiment,
        by: By<'_>,
    ) -> Result<ExperimentView> {
        let from = self.experiment(id)?.experiment;
        let made = experiment::clone(&self.data, &self.launcher.version, &from, changes, by)?;
        self.take_in_experiments()?;
        self.experiment(&made.id)
    }

    /// Puts an experiment away, or brings it back.
    pub fn archive_experiment(
        &self,
        id: &ExperimentId,
        is_archived: bool,
        by: By<'_>,
    ) -> Result<ExperimentView> {
        self.experiment(id)?;
        experiment::archive(&self.data, id, is_archived, by)?;
        self.take_marks()?;
        self.experiment(id)
    }

    /// One experiment.
    pub fn experiment(&self, id: &ExperimentId) -> Result<ExperimentView> {
        let experiment = self.read(|index| index.experiment(id))?;
        let counts = self.read(|index| index.runs_per_experiment(&[id.as_str()]))?;
        Ok(self.experiment_view(experiment, &counts))
    }

    /// The newest experiments with `text` in their name, id, environment or hash, those that were
    /// put away or the others.
    pub fn experiments(
        &self,
        text: Option<&str>,
        is_archived: bool,
        limit: usize,
        after: Option<&ExperimentCursor>,
    ) -> Result<Vec<ExperimentView>> {
        let put_away = held(&self.marks).archived_experiments.clone();
        let filter = ExperimentFilter { text: text.map(str::to_owned), put_away, is_archived };
        let found = self.read(|index| index.experiments(&filter, limit, after))?;
        let ids: Vec<&str> = found.iter().map(|experiment| experiment.id.as_str()).collect();
        let counts = self.read(|index| index.runs_per_experiment(&ids))?;
        Ok(found.into_iter().map(|experiment| self.experiment_view(experiment, &counts)).collect())
    }

    /// The newest runs of an experiment, also those that were put away.
    pub fn runs_of_experiment(&self, id: &ExperimentId, limit: usize) -> Result<Vec<RunView>> {
        let filter = RunFilter { experiment_id: Some(id.to_string()), ..RunFilter::listed() };
        let runs = self.read(|index| index.runs(&filter, limit, None))?;
        Ok(runs.into_iter().map(|run| self.view(run)).collect())
    }

    fn experiment_view(
        &self,
        experiment: Experiment,
        counts: &BTreeMap<String, u64>,
    ) -> ExperimentView {
        let is_archived = held(&self.marks).archived_experiments.contains(&experiment.id);
        let n_runs = counts.get(experiment.id.as_str()).copied().unwrap_or(0);
        ExperimentView { experiment, is_archived, n_runs }
    }

    /// What a plan would make and how that would be started. Nothing is; what the lab would refuse
    /// is refused.
    pub fn preview_runs(&self, plan: &Plan, terms: &Terms) -> Result<Vec<PlannedRun>> {
        self.limits.admit(&plan.demand())?;
        Ok(plan.preview(&self.data, &self.launcher, terms))
    }

    /// Makes the runs of a plan and starts them as soon as there is room. A request that was made
    /// before, by its key, gives the runs that it made.
    pub fn start_runs(&self, plan: &Plan, terms: &Terms, by: By<'_>) -> Result<Vec<RunView>> {
        self.limits.admit(&plan.demand())?;
        let turn = held(&self.starts);
        if let Some(key) = by.request {
            self.take_marks()?;
            let asked = (by.who.to_owned(), key.to_owned());
            let made = held(&self.marks).requests.get(&asked).cloned();
            if let Some(id) = made {
                let run = self.run(&id)?;
                return match &run.run.manifest.group {
                    Some(group) => Ok(self.group(group)?.runs),
                    None => Ok(vec![run]),
                };
            }
        }
        let made = plan.make(&self.data, &self.launcher, terms, by)?;
        drop(turn);
        let take_in = |manifest: &Manifest| self.ingest_now(&manifest.id);
        made.iter().try_for_each(take_in)?;
        self.start_waiting()?;
        made.iter().try_for_each(take_in)?;
        made.iter().map(|manifest| self.run(&manifest.id)).collect()
    }

    /// The runs that were made together, and what their last evaluations come to.
    pub fn group(&self, id: &GroupId) -> Result<GroupView> {
        let runs = self.read(|index| index.runs_of_group(id))?;
        if runs.is_empty() {
            return Err(RunError::Store(StoreError::NoSuchGroup(id.to_string())));
        }
        let evals = runs.iter().filter_map(|run| run.status.latest_eval.as_ref());
        let means: Vec<f64> = evals.map(|eval| eval.mean).collect();
        let runs = runs.into_iter().map(|run| self.view(run)).collect();
        Ok(GroupView { runs, aggregate: Aggregate::of(&means) })
    }

    /// Takes in the experiments that are new on disk.
    pub(super) fn take_in_experiments(&self) -> Result<()> {
        let damaged = held(&self.writer).take_in_experiments(&self.data)?;
        for (id, error) in damaged {
            tracing::warn!(experiment = %id, %error, "cannot take in an experiment");
        }
        Ok(())
    }
}
