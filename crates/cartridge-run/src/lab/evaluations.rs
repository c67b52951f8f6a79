//! Evaluations of runs: asked for, listed, and looked at.

use cartridge_store::index::Cursor;
use cartridge_store::{
    Artifact, ArtifactKind, DoneReason, Evaluated, Event, EventLine, Manifest, RunFilter, RunId,
    RunKind, RunState,
};

use super::{ArtifactContent, Lab, RunView};
use crate::config::Resources;
use crate::error::{Result, RunError};
use crate::evaluation_job::{self, Summary, Wanted};
use crate::queue::Demand;
use crate::steer::By;

/// Evaluations of a run that are looked at for something.
const LOOKED_AT: usize = 100;

/// Events of one evaluation that are looked at.
const EVENTS: usize = 100;

/// An evaluation, with what it found.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationView {
    /// The run that is the evaluation, or a training that has measured itself.
    pub view: RunView,
    /// What it found, episode by episode, once it has; none in lists.
    pub summary: Option<Summary>,
    /// Its film.
    pub video: Option<Artifact>,
}

/// How much of an evaluation is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// What it came to.
    Figures,
    /// Every episode as well.
    Episodes,
}

/// The evaluations of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvaluationsOf {
    /// The newest, newest first.
    pub evaluations: Vec<EvaluationView>,
    /// How many of their films there are.
    pub videos_kept: u64,
    /// How many films there ever were.
    pub videos_total: u64,
}

impl Lab {
    /// Makes an evaluation of a run, which is started as soon as there is room. A request that was
    /// made before, by its key, gives the evaluation that it made.
    pub fn evaluate_run(&self, id: &RunId, wanted: Wanted, by: By<'_>) -> Result<RunView> {
        let subject = self.run(id)?.run.manifest;
        self.limits.admit(&Demand::of_resources(&Resources::default()))?;
        self.make(by, || evaluation_job::create(&self.data, &self.launcher, &subject, wanted, by))
    }

    /// An evaluation with its film, and with every episode where `depth` says so.
    pub(super) fn evaluation(&self, view: RunView, depth: Depth) -> Result<EvaluationView> {
        let manifest = &view.run.manifest;
        let id = &manifest.id;
        let is_active = view.run.status.state().is_active();
        let is_policy = manifest.evaluated() == Some(Evaluated::Policy);
        let mut video = if may_have_film(manifest) { self.newest_video(id)? } else { None };
        // A list reads the files of an evaluation only while its film may be on the way.
        let is_awaited = video.is_none() && is_active && may_have_film(manifest);
        let summary = match is_policy && (depth == Depth::Episodes || is_awaited) {
            true => Summary::read(&self.data.run(id))?,
            false => None,
        };
        if is_awaited && summary.as_ref().is_some_and(|it| it.video.is_some()) {
            // It has just been made, and is named when the evaluation ends.
            self.look_at(id)?;
            video = self.newest_video(id)?;
        }
        Ok(EvaluationView { view, summary, video })
    }

    fn newest_video(&self, id: &RunId) -> Result<Option<Artifact>> {
        let videos = self.artifacts(id)?.artifacts.into_iter();
        let videos = videos.filter(|it| it.kind == ArtifactKind::Video && !it.is_folder);
        Ok(videos.max_by(|a, b| a.modified_at.total_cmp(&b.modified_at)))
    }

    /// The newest evaluations of a run.
    pub fn evaluations_of(&self, id: &RunId, limit: usize) -> Result<EvaluationsOf> {
        self.run(id)?;
        let runs = self.read(|index| index.evaluations(id, limit))?;
        let manifests: Vec<_> = runs.iter().map(|run| run.manifest.clone()).collect();
        let (videos_kept, videos_total) = evaluation_job::kept_films(&self.data, &manifests);
        let evaluations =
            runs.into_iter().map(|run| self.evaluation(self.view(run), Depth::Figures));
        let evaluations = evaluations.collect::<Result<_>>()?;
        Ok(EvaluationsOf { evaluations, videos_kept, videos_total })
    }

    /// The newest evaluations of all runs and files, newest first: of policies, matches,
    /// tournaments, or all of them, and in some of the states, or in all when there are none.
    pub fn evaluations(
        &self,
        evaluated: Option<Evaluated>,
        states: Vec<RunState>,
        limit: usize,
        after: Option<&Cursor>,
    ) -> Result<Vec<EvaluationView>> {
        let kinds = vec![RunKind::Eval];
        let filter = RunFilter { kinds, states, evaluated, ..RunFilter::default() };
        let found = self.find_runs(&filter, limit, after, false)?.into_iter();
        found.map(|view| self.evaluation(view, Depth::Figures)).collect()
    }

    /// The newest evaluation of a run that has a result: one that was asked for, or else the newest
    /// that its training made.
    pub fn latest_evaluation(&self, id: &RunId) -> Result<EvaluationView> {
        let own = self.run(id)?;
        let asked = self.read(|index| index.evaluations(id, LOOKED_AT))?;
        let found = asked.into_iter().find(|run| run.status.latest_eval.is_some());
        match found {
            Some(run) => self.evaluation(self.view(run), Depth::Episodes),
            None if own.run.status.latest_eval.is_some() => self.evaluation(own, Depth::Episodes),
            None => Err(RunError::NoEvaluation(id.clone())),
        }
    }

    /// The newest film of an evaluation of a run, whoever asked for it.
    pub fn latest_video(&self, id: &RunId) -> Result<(Artifact, ArtifactContent)> {
        self.run(id)?;
        let mut runs = vec![id.clone()];
        let asked = self.read(|index| index.evaluations(id, LOOKED_AT))?;
        let filmed = asked.into_iter().filter(|run| may_have_film(&run.manifest));
        runs.extend(filmed.map(|run| run.manifest.id));
        let mut newest: Option<(RunId, Artifact)> = None;
        for run in runs {
            if let Some(video) = self.newest_video(&run)?
                && newest.as_ref().is_none_or(|(_, known)| known.modified_at < video.modified_at)
            {
                newest = Some((run, video));
            }
        }
        let (run, video) = newest.ok_or_else(|| RunError::NoVideo(id.clone()))?;
        self.open_artifact(&run, &video.id)
    }

    /// What the newest evaluations of a run have said of themselves, oldest first: which, and the
    /// line with its number there. They are not in the run's own events, which its own process
    /// alone writes.
    pub fn evaluation_events(
        &self,
        id: &RunId,
        limit: usize,
    ) -> Result<Vec<(RunId, u64, EventLine)>> {
        let asked = self.read(|index| index.evaluations(id, LOOKED_AT))?;
        let mut found = Vec::new();
        for run in asked {
            let evaluation = run.manifest.id;
            let events = self.read(|index| index.events(&evaluation, EVENTS))?;
            let told = events.into_iter().filter(|(_, line)| is_told(&line.event));
            found.extend(told.map(|(seq, line)| (evaluation.clone(), seq, line)));
            if found.len() >= limit {
                break;
            }
        }
        found.sort_by(|a, b| a.2.t.total_cmp(&b.2.t).then_with(|| a.1.cmp(&b.1)));
        found.drain(..found.len().saturating_sub(limit));
        Ok(found)
    }
}

/// Whether a run may have made a film: a training does when it is told to, at any time, and an
/// evaluation when it was asked for one.
fn may_have_film(manifest: &Manifest) -> bool {
    manifest.kind != RunKind::Eval || manifest.config["video"] == true
}

/// Whether a line of an evaluation's events matters to who looks at the run that it measures.
pub fn is_told(event: &Event) -> bool {
    match event {
        Event::EvaluationStarted { .. }
        | Event::EvaluationComplete(_)
        | Event::Warning { .. }
        | Event::Error { .. } => true,
        Event::Done { reason, .. } => *reason != DoneReason::Completed,
        _ => false,
    }
}
