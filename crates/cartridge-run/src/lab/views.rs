//! What the lab knows, for whoever asks.

use std::collections::BTreeSet;
use std::path::PathBuf;

use cartridge_games::registry::is_game;
use cartridge_store::beneath::Beneath;
use cartridge_store::follow::{ToldEpisodes, ToldRow, latest_episodes, latest_rows, latest_told};
use cartridge_store::index::{Cursor, IndexedRun};
use cartridge_store::{
    Artifact, ArtifactId, ArtifactKind, ArtifactList, DiskTrouble, Episodes, EventLine, Index,
    Manifest, MetricLine, MetricValues, ResourceSample, RunFilter, RunId, RunKind, RunState,
    SeriesPoints, StoreError, jsonl, resources,
};
use serde_json::Map;

use super::{ArtifactContent, Health, Lab, RunView, held, subject};
use crate::checkpoint::{self, Alias};
use crate::clock::unix_now;
use crate::cluster::RunCost;
use crate::discovery::{self, Delta};
use crate::error::{Result, RunError};
use crate::metrics::{self, Origin};
use crate::preview::{By, Preview, preview};
use crate::supervisor::{HEARTBEAT, last_lines};

/// With less than this free, even a short line may not fit: file systems keep some for themselves.
const NO_ROOM_BYTES: u64 = 64 * 1024;

/// Seconds without a heartbeat after which nothing is said of what a run used meanwhile: one may be
/// late.
const SILENCE_S: f64 = 3.0 * HEARTBEAT.as_secs() as f64;

/// A disk that cannot take data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskProblem {
    /// Why.
    pub trouble: DiskTrouble,
    /// What could not be written.
    pub path: PathBuf,
    /// Bytes that are free where the data folder is.
    pub free_bytes: u64,
}

impl Lab {
    /// One run. Who asks may have heard of it before the lab has: a command line has just made it.
    pub fn run(&self, id: &RunId) -> Result<RunView> {
        let run = match self.read(|index| index.run(id)) {
            Err(unknown @ RunError::Store(StoreError::NoSuchRun(_))) => {
                let is_there = self.data.run(id).manifest_path().exists();
                if !is_there || self.ingest_now(id).is_err() {
                    return Err(unknown);
                }
                self.read(|index| index.run(id))?
            }
            found => found?,
        };
        Ok(self.view(run))
    }

    /// All but the games of people and what was put away, newest first.
    pub fn runs(&self, limit: usize, after: Option<&Cursor>) -> Result<Vec<RunView>> {
        self.find_runs(&RunFilter::listed(), limit, after, false)
    }

    /// The runs that `filter` wants, newest first, those that were put away or the others.
    pub fn find_runs(
        &self,
        filter: &RunFilter,
        limit: usize,
        after: Option<&Cursor>,
        is_archived: bool,
    ) -> Result<Vec<RunView>> {
        let mut found = Vec::new();
        let mut after = after.cloned();
        loop {
            let wanted = limit - found.len();
            let page = self.read(|index| index.runs(filter, wanted, after.as_ref()))?;
            let is_last = page.len() < wanted;
            after = page.last().map(|run| Cursor {
                created_at: run.manifest.created_at,
                id: run.manifest.id.clone(),
            });
            let views = page.into_iter().map(|run| self.view(run));
            found.extend(views.filter(|view| view.is_archived == is_archived));
            if is_last || found.len() >= limit {
                return Ok(found);
            }
        }
    }

    /// What `part` takes of all runs but the games of people; no more of them is in memory than a
    /// page.
    pub(crate) fn of_all_runs<T>(&self, part: impl Fn(IndexedRun) -> T) -> Result<Vec<T>> {
        const PAGE: usize = 200;
        let mut parts = Vec::new();
        let mut after = None;
        loop {
            let filter = RunFilter::listed();
            let page = self.read(|index| index.runs(&filter, PAGE, after.as_ref()))?;
            let is_last = page.len() < PAGE;
            after = page.last().map(|IndexedRun { manifest, .. }| Cursor {
                created_at: manifest.created_at,
                id: manifest.id.clone(),
            });
            parts.extend(page.into_iter().map(&part));
            if is_last {
                return Ok(parts);
            }
        }
    }

    /// The runs whose trainers should be at work.
    pub(crate) fn runs_at_work(&self) -> Result<BTreeSet<RunId>> {
        let active = self.read(Index::active)?;
        Ok(active.into_iter().map(|(id, _)| id).collect())
    }

    /// Why the disk of the data folder takes no more, if it does not.
    pub(super) fn why_disk_fails(&self) -> Option<String> {
        let folder = Beneath::open(self.data.path()).ok()?;
        let (free_bytes, _) = folder.space().ok()?;
        (free_bytes < NO_ROOM_BYTES).then(|| {
            let path = self.data.path().display();
            format!(
                "disk full ({free_bytes} bytes are free for {path}), so its end may not be recorded"
            )
        })
    }

    /// What to tell of a failure that is the disk's: what is wrong, where, and how much is free.
    pub fn disk_problem(&self, error: &RunError) -> Option<DiskProblem> {
        let RunError::Store(error) = error else { return None };
        let trouble = error.disk_trouble()?;
        let index = self.data.index_path();
        let path = error.path().unwrap_or(&index).to_owned();
        let folder = Beneath::open(self.data.path());
        let free_bytes = folder.and_then(|folder| folder.space()).map_or(0, |(free, _)| free);
        Some(DiskProblem { trouble, path, free_bytes })
    }

    pub(super) fn view(&self, mut run: IndexedRun) -> RunView {
        let id = &run.manifest.id;
        let pulse = held(&self.watch).pulses.get(id).copied();
        // A lab that cannot write its index sees all the same that nobody is there any more.
        let is_silent = pulse.is_some_and(|pulse| pulse.health() == Health::Dead);
        if is_silent && run.status.state().is_active() && !self.data.run(id).is_supervised() {
            run.status.lost = true;
            run.status.lost_reason = self.why_disk_fails();
        } else if run.status.state() == RunState::Lost {
            run.status.lost_reason = held(&self.watch).lost_reasons.get(id).cloned();
        }
        if run.status.state() == RunState::Lost {
            run.status.lost_log = last_lines(&self.data.run(id));
        }
        let state = run.status.state();
        // A lost run is dead until it speaks, also for a lab that has just been started.
        let pulse = pulse.filter(|_| state != RunState::Lost);
        // Nothing is expected of one that waits.
        let silent = if state == RunState::Queued { Health::Fresh } else { Health::Dead };
        let prices = self.prices();
        let marks = held(&self.marks);
        RunView {
            health: pulse.map_or(silent, |pulse| pulse.health()),
            heartbeat_age: pulse.map(|pulse| pulse.heard.elapsed()),
            is_archived: marks.archived.contains(id),
            is_pinned: marks.pinned.contains(id),
            pinned_checkpoints: marks.pinned_checkpoints.get(id).cloned().unwrap_or_default(),
            children: marks.children.get(id).cloned().unwrap_or_default(),
            cost: prices.map(|prices| {
                let cost = RunCost::new(&run.status, &prices);
                (prices.currency, cost)
            }),
            run,
        }
    }

    /// The configuration of a run, as its manifest keeps it.
    pub fn config(&self, id: &RunId) -> Result<serde_json::Value> {
        Ok(self.run(id)?.run.manifest.config)
    }

    /// Charts of a run: see [`Index::series`]. Names may be those of other libraries.
    pub fn series(
        &self,
        id: &RunId,
        keys: &[&str],
        most: usize,
        steps: (u64, u64),
    ) -> Result<(u64, Vec<SeriesPoints>)> {
        let names = metrics::stored_names(keys);
        let (last_row, found) = self.read(|index| index.series(id, &names, most, steps))?;
        if keys.is_empty() {
            return Ok((last_row, found));
        }
        let origin = Origin::of(&self.data, id, keys)?;
        let mut series = metrics::answer_series(&found, keys, origin.as_ref());
        let of_episodes = self.keys_of_episodes(id, keys)?;
        if !of_episodes.is_empty() {
            // The index has rows alone, and who asks for single episodes is rare enough to read all.
            let mut told = ToldEpisodes::default();
            told.refresh(&self.data.run(id))?;
            let told = up_to(told.rows(), last_row);
            series.extend(
                of_episodes.iter().map(|key| metrics::episode_series(told, key, most, steps)),
            );
            series.retain(|series| !series.step.is_empty());
            series.sort_by_key(|series| keys.iter().position(|key| *key == series.key));
        }
        Ok((last_row, series))
    }

    /// Those of `keys` that single episodes answer.
    fn keys_of_episodes<'a>(&self, id: &RunId, keys: &[&'a str]) -> Result<Vec<&'a str>> {
        let asked = metrics::keys_of_episodes(keys, |_| false);
        if asked.is_empty() {
            return Ok(asked);
        }
        let (_, own) = self.read(|index| index.series(id, &asked, 2, (0, u64::MAX)))?;
        Ok(metrics::keys_of_episodes(&asked, |key| own.iter().any(|series| series.key == key)))
    }

    /// The newest metric rows of a run: see [`Index::metrics_tail`]. Single episodes that are asked
    /// for are lines of their own among them.
    pub fn metrics_tail(&self, id: &RunId, keys: &[&str], n: usize) -> Result<Vec<MetricValues>> {
        let names = metrics::stored_names(keys);
        let mut rows = self.read(|index| index.metrics_tail(id, &names, n))?;
        if !keys.is_empty() {
            let origin = Origin::of(&self.data, id, keys)?;
            let rename = |row| metrics::rename_row(row, keys, origin.as_ref());
            rows = rows.iter().map(rename).collect();
        }
        let of_episodes = self.keys_of_episodes(id, keys)?;
        if !of_episodes.is_empty() {
            rows.retain(|row| !row.values.is_empty());
            let told = latest_told(&self.data.run(id), n)?;
            let last_row = self.read(|index| index.last_row(id))?;
            rows = metrics::with_episodes(rows, up_to(told.rows(), last_row), &of_episodes);
            rows.drain(..rows.len().saturating_sub(n));
        }
        Ok(rows)
    }

    /// What a run's trainer used of the machine between two moments: see [`resources::condense`].
    pub fn resources(
        &self,
        id: &RunId,
        most: usize,
        times: (f64, f64),
    ) -> Result<Vec<ResourceSample>> {
        self.run(id)?;
        let samples = resources::samples(&self.data.run(id), times)?;
        Ok(resources::condense(&samples, most, SILENCE_S))
    }

    /// The newest events of a run, oldest first.
    pub fn events(&self, id: &RunId, limit: usize) -> Result<Vec<(u64, EventLine)>> {
        self.run(id)?;
        self.read(|index| index.events(id, limit))
    }

    /// How a run stands, with its newest `n` metric rows, oldest first, as readers of the feed know
    /// it who have heard the number that comes with it.
    pub fn run_in_feed(&self, id: &RunId, n: usize) -> Result<(u64, RunView, Vec<MetricLine>)> {
        let (seq, (run, last_row)) =
            self.read(|index| index.with_feed(|index| Ok((index.run(id)?, index.last_row(id)?))))?;
        let mut rows = latest_rows(&self.data.run(id), n)?;
        // The file may be ahead.
        rows.retain(|line| line.row <= last_row);
        Ok((seq, self.view(run), rows))
    }

    /// The newest events of a run, oldest first, with the number up to which the feed has told them.
    pub fn events_in_feed(&self, id: &RunId, limit: usize) -> Result<(u64, Vec<(u64, EventLine)>)> {
        self.read(|index| index.with_feed(|index| index.events(id, limit)))
    }

    /// The newest episodes of a run, oldest first.
    pub fn episodes(&self, id: &RunId, limit: usize) -> Result<Episodes> {
        let n_known = self.run(id)?.run.status.episodes;
        let n = limit.min(usize::try_from(n_known).unwrap_or(usize::MAX));
        Ok(latest_episodes(&self.data.run(id), n)?)
    }

    /// The last lines that a run's trainer printed, and whether there are more.
    pub fn log(&self, id: &RunId, n_lines: usize) -> Result<(Vec<String>, bool)> {
        self.run(id)?;
        let dir = self.data.run(id);
        // A run that waits for its turn has printed nothing.
        if !dir.log_path().exists() && !dir.older_log_path().exists() {
            return Ok((Vec::new(), false));
        }
        Ok(jsonl::tail_turned(&dir.log_path(), &dir.older_log_path(), n_lines)?)
    }

    /// What a run has made, as its list says, or as a first look finds.
    pub fn artifacts(&self, id: &RunId) -> Result<ArtifactList> {
        self.run(id)?;
        let dir = self.data.run(id);
        if ArtifactList::read(&dir)?.is_none() {
            self.look_at(id)?;
        }
        let mut list = ArtifactList::read(&dir)?.unwrap_or_else(|| ArtifactList::new(id.clone()));
        // Pins of people are in the audit.
        let marks = held(&self.marks);
        let is_pinned = marks.pinned.contains(id);
        let pinned = marks.pinned_checkpoints.get(id);
        for artifact in &mut list.artifacts {
            let name = checkpoint::name_at(&artifact.path);
            let is_named = artifact.kind == ArtifactKind::Checkpoint
                && pinned.is_some_and(|pinned| pinned.contains(name));
            artifact.pinned |= is_pinned || is_named;
        }
        Ok(list)
    }

    /// Looks at what a run has made and brings its list up to date.
    pub fn look_at(&self, id: &RunId) -> Result<Delta> {
        let run = self.run(id)?.run;
        let delta = discovery::look(&self.data.run(id), &subject(&run), unix_now(), u64::MAX)?;
        if !delta.new.is_empty() || !delta.gone.is_empty() {
            self.ingest_now(id)?;
        }
        Ok(delta)
    }

    /// An artifact of a run and its content.
    pub fn open_artifact(
        &self,
        id: &RunId,
        artifact_id: &ArtifactId,
    ) -> Result<(Artifact, ArtifactContent)> {
        let artifact = self.artifacts(id)?.get(artifact_id)?.clone();
        let base = discovery::base_folder(&self.data.run(id), artifact.base)?;
        // It may have been removed in this very moment, or be a link by now.
        let gone = |_| StoreError::NoSuchArtifact(artifact_id.to_string());
        let content = if artifact.is_folder {
            ArtifactContent::Folder(base.folder(&artifact.path).map_err(gone)?)
        } else {
            let file = base.file(&artifact.path).map_err(gone)?;
            let size_bytes = file.metadata().map_err(gone)?.len();
            ArtifactContent::File { file, size_bytes }
        };
        Ok((artifact, content))
    }

    /// An episode of an environment at random play.
    pub fn preview_environment(&self, env_id: &str, number: u64) -> Result<Preview> {
        preview(env_id, &Map::new(), By::Chance, number)
    }

    /// An episode of a run's newest checkpoint, with the step of that checkpoint.
    pub fn preview_run(&self, id: &RunId, number: u64) -> Result<(u64, Preview)> {
        let run = self.run(id)?.run;
        let (dir, env_id) = (self.data.run(id), &run.manifest.env_id);
        let options = run.manifest.config["env"].as_object().cloned().unwrap_or_default();
        if is_game(env_id) {
            let name = checkpoint::named(&dir, Alias::Latest);
            let name = name.ok_or_else(|| RunError::NoCheckpoint(id.clone()))?;
            let (manifest, network) = checkpoint::load_board_net(&dir, id, &name)?;
            return Ok((manifest.step, preview(env_id, &options, By::Network(&network), number)?));
        }
        let (manifest, policy) = checkpoint::load(&dir, id, Alias::Latest)?;
        Ok((manifest.step, preview(env_id, &options, By::Policy(&policy), number)?))
    }

    /// The newest runs of people that are wanted, newest first.
    pub(crate) fn human_runs(
        &self,
        limit: usize,
        is_wanted: impl Fn(&Manifest) -> bool,
    ) -> Result<Vec<Manifest>> {
        const PAGE: usize = 100;
        let mut found = Vec::new();
        let filter = RunFilter { kinds: vec![RunKind::Human], ..RunFilter::default() };
        let mut after: Option<Cursor> = None;
        loop {
            let page = self.read(|index| index.runs(&filter, PAGE, after.as_ref()))?;
            let is_last = page.len() < PAGE;
            after = page.last().map(|run| Cursor {
                created_at: run.manifest.created_at,
                id: run.manifest.id.clone(),
            });
            found.extend(page.into_iter().map(|run| run.manifest).filter(&is_wanted));
            if is_last || found.len() >= limit {
                found.truncate(limit);
                return Ok(found);
            }
        }
    }

    /// Takes a run that was just made into the index.
    pub(crate) fn adopt(&self, id: &RunId) -> Result<()> {
        held(&self.writer).ingest(&self.data, id)?;
        Ok(())
    }
}

/// The rows up to `last_row`: the file may be ahead of the index.
fn up_to(told: &[ToldRow], last_row: u64) -> &[ToldRow] {
    &told[..told.partition_point(|told| told.row <= last_row)]
}
