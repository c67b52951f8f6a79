//! Looks after what runs have made: finds it, counts it, and removes what is not to be kept.
//!
//! The lab has one janitor, on a thread of its own ([`start`]). `cartridge gc` does the same once,
//! with or without a lab beside it: every list has its lock.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use cartridge_store::artifacts::{self, Tally};
use cartridge_store::beneath::Beneath;
use cartridge_store::{
    ArtifactKind, ArtifactList, DataDir, Manifest, Pruned, RunDir, RunId, RunKind, StoreError,
};
use serde::Serialize;

use crate::audit::Marks;
use crate::checkpoint::{self, Alias};
use crate::clock::unix_now;
use crate::discovery::{self, Subject};
use crate::error::{Result, RunError};
use crate::evaluation_job;
use crate::lab::{Lab, subject};
use crate::reserve;
use crate::retention::{LabConfig, Limits, Plan, RunFacts, plan};
use crate::steer::{self, By};

/// How often runs at work are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// How often everything is looked at, and what is not to be kept is removed.
const TIDY_EVERY: Duration = Duration::from_secs(60);

/// What one round did, or would do.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// Whether nothing was removed, because only a plan was wanted.
    pub dry_run: bool,
    /// What is to go.
    #[serde(flatten)]
    pub plan: Plan,
    /// What has gone, with how many of its kind the run still has.
    pub pruned: Vec<(RunId, Pruned)>,
    /// What could not be done, and why.
    pub failed: Vec<(RunId, String)>,
}

/// How much room things take.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Storage {
    /// Artifacts by kind: how many there are and their bytes.
    pub kinds: BTreeMap<ArtifactKind, Tally>,
    /// Artifacts that were removed, by kind.
    pub removed: BTreeMap<ArtifactKind, Tally>,
    /// The lab's own records of runs: events, metrics, heartbeats.
    pub records_bytes: u64,
    /// The index.
    pub index_bytes: u64,
    /// Runs in the trash.
    pub trash_bytes: u64,
    /// All of the above.
    pub total_bytes: u64,
    /// Bytes that are free on the disk.
    pub free_bytes: u64,
    /// Bytes of the disk.
    pub disk_bytes: u64,
    /// Runs that were counted.
    pub n_runs: u64,
    /// The knobs.
    pub limits: Limits,
}

impl Storage {
    /// What is no artifact and takes room all the same.
    pub fn other_bytes(&self) -> u64 {
        self.records_bytes + self.index_bytes + self.trash_bytes
    }
}

/// What must be known of a run. There may be many, so it is little.
#[derive(Clone, Debug)]
pub struct Known {
    /// How it stands.
    pub subject: Subject,
    kind: RunKind,
    env_id: String,
    experiment_id: Option<String>,
    /// What trains in it.
    agent: String,
    evaluates: Option<RunId>,
    keep_videos: Option<u32>,
    keep_checkpoints: Option<u32>,
    milestone_every_steps: Option<u64>,
}

impl Known {
    fn new(manifest: &Manifest, subject: Subject) -> Self {
        let config = &manifest.config;
        let number = |name: &str| config["retention"][name].as_u64();
        let count = |name: &str| number(name).and_then(|number| u32::try_from(number).ok());
        Self {
            subject,
            kind: manifest.kind,
            env_id: manifest.env_id.clone(),
            experiment_id: manifest.experiment_id.clone(),
            agent: match (config["trainer_id"].as_str(), &manifest.command) {
                (Some(trainer), _) => trainer.to_owned(),
                (None, Some(command)) => command.join(" "),
                (None, None) => config["algo"].as_str().unwrap_or("trainer").to_owned(),
            },
            evaluates: manifest.evaluates(),
            keep_videos: count("keep_videos"),
            keep_checkpoints: count("keep_checkpoints"),
            milestone_every_steps: number("milestone_every_steps"),
        }
    }
}

/// All runs of a data folder but the games of people, as their files say.
pub fn known(data: &DataDir) -> Result<Vec<Known>> {
    let mut all = Vec::new();
    for id in data.run_ids()? {
        let dir = data.run(&id);
        // A folder without a manifest is being made, or was never finished.
        let Ok(manifest) = dir.manifest() else { continue };
        if manifest.kind == RunKind::Human {
            continue;
        }
        let subject = Subject::of(&dir, &manifest)?;
        all.push(Known::new(&manifest, subject));
    }
    Ok(all)
}

/// Removes what is not to be kept, or says what that would be.
pub fn tidy(data: &DataDir, known: &[Known], dry_run: bool) -> Result<Outcome> {
    let limits = LabConfig::read(data)?.retention;
    let mut marks = Marks::default();
    marks.advance(data)?;
    let mut facts = Vec::new();
    let mut subjects = HashMap::new();
    for known in known {
        let dir = data.run(&known.subject.run);
        // One whose list cannot be read is left alone until it is mended.
        if let Ok(Some(list)) = ArtifactList::read(&dir) {
            facts.push(run_facts(&dir, known, list, &marks));
            subjects.insert(&known.subject.run, &known.subject);
        }
    }
    // Only this limit asks for more than the lists say.
    let other_bytes = match limits.max_bytes {
        Some(_) => storage(data, known)?.other_bytes(),
        None => 0,
    };
    let plan = plan(&facts, &limits, other_bytes);
    let mut outcome = Outcome { dry_run, plan, ..Outcome::default() };
    if dry_run {
        return Ok(outcome);
    }
    reserve::spend(data)?;
    prune(data, &subjects, &mut outcome);
    for doomed in &outcome.plan.runs {
        // It is looked at again: it may have been started since.
        let deleted = steer::look(data, &doomed.run_id).and_then(|(manifest, status)| {
            steer::delete(data, &manifest, &status, By::new("retention"))
        });
        if let Err(error) = deleted {
            outcome.failed.push((doomed.run_id.clone(), error.to_string()));
        }
    }
    reserve::keep(data)?;
    Ok(outcome)
}

/// Removes the artifacts that are to go.
fn prune(data: &DataDir, subjects: &HashMap<&RunId, &Subject>, outcome: &mut Outcome) {
    let mut by_run: BTreeMap<&RunId, Vec<_>> = BTreeMap::new();
    for doomed in &outcome.plan.artifacts {
        let wanted = (doomed.artifact.id.clone(), doomed.reason.clone());
        by_run.entry(&doomed.run_id).or_default().push(wanted);
    }
    for (id, wanted) in by_run {
        let dir = data.run(id);
        // It may have been started again since.
        if dir.is_supervised() {
            continue;
        }
        match discovery::prune(&dir, subjects[id], &wanted, unix_now()) {
            Ok(pruned) => {
                outcome.pruned.extend(pruned.into_iter().map(|pruned| (id.clone(), pruned)));
            }
            Err(error) => outcome.failed.push((id.clone(), error.to_string())),
        }
    }
}

/// Removes the films of a run's evaluations beyond the newest that are to be kept: when one has
/// made another, with or without a lab.
pub fn keep_newest_films(data: &DataDir, run: &RunId) -> Result<Outcome> {
    let mut known = Vec::new();
    let subject = data.run(run).manifest().ok();
    for manifest in evaluation_job::list(data, Some(run), None)?.into_iter().chain(subject) {
        let subject = Subject::of(&data.run(&manifest.id), &manifest)?;
        known.push(Known::new(&manifest, subject));
    }
    let mut marks = Marks::default();
    marks.advance(data)?;
    let mut facts = Vec::new();
    let mut subjects = HashMap::new();
    for known in &known {
        let id = &known.subject.run;
        let dir = data.run(id);
        let list = ArtifactList::read(&dir).ok().flatten();
        let list = list.unwrap_or_else(|| ArtifactList::new(id.clone()));
        facts.push(run_facts(&dir, known, list, &marks));
        subjects.insert(id, &known.subject);
    }
    let keep_videos = LabConfig::read(data)?.retention.keep_videos;
    // Nothing else is anybody's business here.
    let limits = Limits { keep_videos, ..Limits::nothing() };
    facts.iter_mut().for_each(|facts| facts.keep_checkpoints = None);
    let mut outcome = Outcome { plan: plan(&facts, &limits, 0), ..Outcome::default() };
    prune(data, &subjects, &mut outcome);
    Ok(outcome)
}

fn run_facts(dir: &RunDir, known: &Known, list: ArtifactList, marks: &Marks) -> RunFacts {
    let Subject { run, is_at_work, began_at, .. } = &known.subject;
    let mut kept_checkpoints = marks.pinned_checkpoints.get(run).cloned().unwrap_or_default();
    let has_pins = !kept_checkpoints.is_empty();
    kept_checkpoints.extend(
        [Alias::Latest, Alias::Best].iter().filter_map(|alias| checkpoint::named(dir, *alias)),
    );
    if known.kind == RunKind::External {
        // Nobody keeps an alias for it: the newest is what it can go on from.
        let all = list.artifacts.iter().filter(|it| it.kind == ArtifactKind::Checkpoint);
        let newest = all.max_by_key(|it| (it.step, it.path.len(), it.path.clone()));
        kept_checkpoints.extend(newest.map(|it| checkpoint::name_at(&it.path).to_owned()));
    }
    RunFacts {
        run: run.clone(),
        env_id: known.env_id.clone(),
        experiment_id: known.experiment_id.clone(),
        agent: known.agent.clone(),
        created_at: *began_at,
        is_at_work: *is_at_work,
        is_pinned: marks.pinned.contains(run),
        is_counted: known.kind != RunKind::Eval,
        evaluates: known.evaluates.clone(),
        keep_videos: known.keep_videos,
        keep_checkpoints: known.keep_checkpoints,
        milestone_every_steps: known.milestone_every_steps,
        has_pins,
        kept_checkpoints,
        list,
    }
}

/// Counts how much room everything takes.
pub fn storage(data: &DataDir, known: &[Known]) -> Result<Storage> {
    let folder = Beneath::open(data.path()).map_err(StoreError::io(data.path()))?;
    let (free_bytes, disk_bytes) = folder.space().map_err(StoreError::io(data.path()))?;
    let mut storage = Storage {
        free_bytes,
        disk_bytes,
        limits: LabConfig::read(data)?.retention,
        ..Storage::default()
    };
    for Known { subject, .. } in known {
        let dir = data.run(&subject.run);
        storage.n_runs += 1;
        for path in [
            dir.manifest_path(),
            dir.events_path(),
            dir.metrics_path(),
            dir.supervisor_path(),
            dir.control_path(),
            artifacts::list_path(&dir),
        ] {
            storage.records_bytes += fs::metadata(path).map_or(0, |metadata| metadata.len());
        }
        let Ok(Some(list)) = ArtifactList::read(&dir) else { continue };
        for artifact in list.artifacts.iter().filter(|artifact| !artifact.shared) {
            let tally = storage.kinds.entry(artifact.kind).or_default();
            tally.count += 1;
            tally.size_bytes += artifact.size_bytes;
        }
        for (kind, removed) in list.removed {
            let tally = storage.removed.entry(kind).or_default();
            tally.count += removed.count;
            tally.size_bytes += removed.size_bytes;
        }
    }
    for suffix in ["", "-wal", "-shm"] {
        let mut path = data.index_path().into_os_string();
        path.push(suffix);
        storage.index_bytes += fs::metadata(path).map_or(0, |metadata| metadata.len());
    }
    if let Ok(trash) = Beneath::open(&data.path().join("trash")) {
        _ = artifacts::walk(&trash, "", 0, &mut |_, entry| {
            storage.trash_bytes += entry.size_bytes;
            true
        });
    }
    let made: u64 = storage.kinds.values().map(|tally| tally.size_bytes).sum();
    storage.total_bytes = made + storage.other_bytes();
    Ok(storage)
}

impl Lab {
    /// All runs but the games of people, as the index knows them.
    fn known(&self) -> Result<Vec<Known>> {
        self.of_all_runs(|run| Known::new(&run.manifest, subject(&run)))
    }

    /// How much room everything takes.
    pub fn storage(&self) -> Result<Storage> {
        storage(&self.data, &self.known()?)
    }

    /// Bytes that were removed because they were not to be kept, since the lab was started.
    pub fn pruned_bytes(&self) -> u64 {
        self.pruned_bytes.load(Ordering::Relaxed)
    }

    /// Removes what is not to be kept, or says what that would be.
    pub fn tidy(&self, dry_run: bool) -> Result<Outcome> {
        let outcome = tidy(&self.data, &self.known()?, dry_run)?;
        let told: BTreeSet<&RunId> = outcome.pruned.iter().map(|(id, _)| id).collect();
        for id in told {
            self.ingest_now(id)?;
        }
        let n_bytes = outcome.pruned.iter().map(|(_, pruned)| pruned.artifact.size_bytes).sum();
        self.pruned_bytes.fetch_add(n_bytes, Ordering::Relaxed);
        for (id, pruned) in &outcome.pruned {
            tracing::info!(run = %id, path = pruned.artifact.path, reason = pruned.reason, "pruned");
        }
        for (id, error) in &outcome.failed {
            tracing::warn!(run = %id, error, "could not be pruned");
        }
        Ok(outcome)
    }
}

/// The janitor at work.
#[derive(Debug)]
pub struct Janitor {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

/// Starts the janitor of a lab.
pub fn start(lab: Arc<Lab>) -> Janitor {
    let (stop, stopped) = mpsc::channel();
    let thread = thread::spawn(move || {
        let mut rounds = Rounds::default();
        let mut is_failing = false;
        loop {
            // What goes wrong is tried again at the next round, and said once.
            match rounds.make(&lab) {
                Err(error) if !is_failing => {
                    is_failing = true;
                    tracing::error!(%error, "cannot look after what runs have made; trying on");
                }
                Err(_) => {}
                Ok(()) => is_failing = false,
            }
            if stopped.recv_timeout(LOOK_EVERY) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    });
    Janitor { stop, thread }
}

impl Janitor {
    /// Ends it after what it is doing.
    pub fn stop(self) {
        _ = self.stop.send(());
        _ = self.thread.join();
    }
}

/// What the janitor remembers from round to round.
#[derive(Debug, Default)]
struct Rounds {
    at_work: BTreeSet<RunId>,
    /// The runs that are not at work: their attempt, and the age of their list.
    seen: HashMap<RunId, (u32, Option<SystemTime>)>,
    last_tidy: Option<Instant>,
}

impl Rounds {
    fn make(&mut self, lab: &Lab) -> Result<()> {
        let at_work = lab.runs_at_work()?;
        // Those that have ended since are looked at once more.
        for id in at_work.union(&self.at_work) {
            look(lab, id);
        }
        self.at_work = at_work;
        if self.last_tidy.is_none_or(|last| last.elapsed() >= TIDY_EVERY) {
            self.last_tidy = Some(Instant::now());
            self.look_at_others(lab)?;
            lab.tidy(false)?;
        }
        Ok(())
    }

    /// Looks at the runs that are not at work where something has changed.
    fn look_at_others(&mut self, lab: &Lab) -> Result<()> {
        let known = lab.known()?;
        for Known { subject, .. } in known.iter().filter(|known| !known.subject.is_at_work) {
            let id = &subject.run;
            let dir = lab.data.run(id);
            let age = || fs::metadata(artifacts::list_path(&dir)).and_then(|m| m.modified()).ok();
            let before = age();
            if self.seen.get(id) == Some(&(subject.attempt, before)) {
                continue;
            }
            let complete = ArtifactList::read(&dir).ok().flatten();
            let complete = complete.and_then(|list| list.complete_attempt);
            if complete == Some(subject.attempt) {
                // `cartridge gc`, or a repair, has been here, and may have told of it.
                lab.ingest_now(id)?;
            } else {
                look(lab, id);
            }
            self.seen.insert(id.clone(), (subject.attempt, age()));
        }
        let ids: BTreeSet<&RunId> = known.iter().map(|known| &known.subject.run).collect();
        self.seen.retain(|id, _| ids.contains(id));
        Ok(())
    }
}

/// One run that cannot be looked at must not keep the others from it.
fn look(lab: &Lab, id: &RunId) {
    match lab.look_at(id) {
        Ok(_) | Err(RunError::Store(StoreError::NoSuchRun(_))) => {}
        Err(error) => tracing::debug!(run = %id, %error, "cannot look at what a run has made"),
    }
}

#[cfg(test)]
mod tests;
