//! What a run has made: found on disk, named in `artifacts.json`, and told in its events.
//!
//! In the run's own folder everything that is not one of the lab's files is an artifact; what a
//! foreign trainer named in a `checkpoint` line is a checkpoint, wherever it lies there. In the
//! working folder of a foreign trainer only the places that trainers commonly use are looked at:
//! `videos/<run>/`, `runs/<run>/` with TensorBoard event files, and the W&B run that
//! `wandb/latest-run` points to. What bears the run's name there is the run's; what was merely
//! written while it was at work may be another's, and is shown but never removed.
//!
//! Links are not followed, except that one of W&B, which must stay in `wandb/`.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use cartridge_store::artifacts::{self, Base, Locked, Measure};
use cartridge_store::beneath::{Beneath, EntryKind, is_plain};
use cartridge_store::jsonl::{self, Appender};
use cartridge_store::{
    Artifact, ArtifactId, ArtifactKind, ArtifactList, ArtifactNote, Event, EventLine, Follower,
    Manifest, Pruned, RunDir, RunId, RunKind, StoreError,
};

use crate::checkpoint;
use crate::error::Result;
use crate::lineage::INHERITED;

/// The lab's own files in a run's folder. `frame.json` is the last picture, which is replaced many
/// times a second; `frame.new` is the next one. `replay.db-wal` and its like belong to `replay.db`.
const OWN_FILES: [&str; 12] = [
    "run.json",
    "events.jsonl",
    "metrics.jsonl",
    "supervisor.jsonl",
    "control.jsonl",
    "control.head",
    "artifacts.json",
    "frame.json",
    "frame.new",
    "stats.json",
    "replay.db-wal",
    "replay.db-shm",
];

/// Other places that no trainer can name as its checkpoint: what is removed with one must not be
/// what the run is known by, nor the checkpoints of others.
const OWN_PLACES: [&str; 4] = ["log.txt", "log.1.txt", "episodes", INHERITED];

/// Folders that hold many artifacts, and are none themselves.
const SHELVES: [&str; 5] = ["checkpoints", "videos", "eval", "runs", "wandb"];

/// Whether a trainer can have a checkpoint at `path` below its run's folder.
pub(crate) fn may_be_checkpoint(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    is_plain(path)
        && !OWN_FILES.contains(&first)
        && !OWN_PLACES.contains(&first)
        && !SHELVES.contains(&path)
        && !first.starts_with('.')
}

/// Complains about a checkpoint that a trainer has named and that cannot be one, or is not there.
pub(crate) fn check_named(folder: &Path, path: &str) -> Result<(), &'static str> {
    let path = path.trim_end_matches('/');
    if !may_be_checkpoint(path) {
        return Err("`path` is a place of the lab's own");
    }
    let entry = Beneath::open(folder).and_then(|folder| folder.entry(path));
    match entry.ok().flatten().map(|entry| entry.kind) {
        Some(EntryKind::File | EntryKind::Folder) => Ok(()),
        Some(EntryKind::Link | EntryKind::Foreign) => Err("`path` is no plain file or folder"),
        None => Err("nothing is at `path` below the run's folder"),
    }
}

/// Complains about an artifact that a trainer has named and that is nowhere where its run's can be.
/// `work` is where the trainer was started.
pub(crate) fn check_place(
    folder: &Path,
    work: Option<&Path>,
    place: &str,
) -> Result<(), &'static str> {
    let is_below = |base: &Path| Path::new(place).starts_with(base);
    if Path::new(place).is_absolute() && !is_below(folder) && !work.is_some_and(is_below) {
        return Err("the path leads out of the run's folder and of the one it was started in");
    }
    Ok(())
}

/// A film that was written to so shortly ago may not be whole yet.
const SETTLES_AFTER_S: f64 = 2.0;

/// The most artifacts of one run that are listed.
const MAX_ARTIFACTS: usize = 10_000;

/// The most artifacts that one event names.
const MAX_NAMED: usize = 50;

/// What must be known of a run to look at what it has made.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The run.
    pub run: RunId,
    /// Its newest start.
    pub attempt: u32,
    /// Whether its trainer is still at work.
    pub is_at_work: bool,
    /// When it was made.
    pub began_at: f64,
    /// When it ended.
    pub ended_at: Option<f64>,
}

impl Subject {
    /// The run in a folder, as its files say.
    pub fn of(dir: &RunDir, manifest: &Manifest) -> Result<Self> {
        let mut follower = Follower::default();
        follower.advance(dir)?;
        let mut status = follower.status;
        // One that has begun and not ended must have a supervisor.
        if !status.state().is_final() && status.attempt > 0 && !dir.is_supervised() {
            status.lost = true;
        }
        // A person's game has no trainer.
        let is_at_work = manifest.kind != RunKind::Human && status.state().is_active();
        Ok(Self {
            run: manifest.id.clone(),
            attempt: status.attempt,
            is_at_work,
            began_at: manifest.created_at,
            ended_at: status.ended_at.or(status.heartbeat_at).filter(|_| !is_at_work),
        })
    }

    /// A run whose trainer has just ended.
    pub fn ended(manifest: &Manifest, attempt: u32, now: f64) -> Self {
        Self {
            run: manifest.id.clone(),
            attempt,
            is_at_work: false,
            began_at: manifest.created_at,
            ended_at: Some(now),
        }
    }

    /// Whether something that was written then may be of this run.
    fn was_at_work(&self, then: f64, now: f64) -> bool {
        (self.began_at - 1.0..=self.ended_at.unwrap_or(now) + 1.0).contains(&then)
    }
}

/// Something that a look found, not yet hashed.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// What it is.
    pub kind: ArtifactKind,
    /// Which folder its path is relative to.
    pub base: Base,
    /// Where it is.
    pub path: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// How large it is.
    pub measure: Measure,
    /// Whether it may be another's.
    pub shared: bool,
    /// Environment steps of a checkpoint.
    pub step: Option<u64>,
}

impl Found {
    fn id(&self) -> ArtifactId {
        ArtifactId::new(self.kind, self.base, &self.path)
    }

    fn is_as_known(&self, known: &Artifact) -> bool {
        known.size_bytes == self.measure.size_bytes
            && known.n_files == self.measure.n_files
            && known.modified_at == self.measure.modified_at
            && (known.step == self.step || self.step.is_none())
    }

    fn into_artifact(self, sha256: Option<String>) -> Artifact {
        Artifact {
            id: self.id(),
            kind: self.kind,
            base: self.base,
            is_folder: self.is_folder,
            n_files: self.measure.n_files,
            size_bytes: self.measure.size_bytes,
            sha256,
            step: self.step,
            created_at: self.measure.modified_at,
            modified_at: self.measure.modified_at,
            milestone: false,
            pinned: false,
            shared: self.shared,
            path: self.path,
        }
    }
}

/// What a look changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delta {
    /// What was not known before.
    pub new: Vec<Artifact>,
    /// What was named and is no longer there.
    pub gone: Vec<Artifact>,
    /// Whether something is still to be hashed.
    pub is_unfinished: bool,
}

/// The folder that paths with this base are below.
pub fn base_folder(dir: &RunDir, base: Base) -> Result<Beneath> {
    let path = match base {
        Base::Run => dir.path().to_owned(),
        Base::Work => working_folder(dir).ok_or_else(|| StoreError::Damaged {
            path: dir.manifest_path(),
            detail: "it names no working folder".to_owned(),
        })?,
    };
    Ok(Beneath::open(&path).map_err(StoreError::io(&path))?)
}

/// The working folder that a foreign trainer was started in.
fn working_folder(dir: &RunDir) -> Option<PathBuf> {
    let folder = dir.manifest().ok()?.cwd?;
    // Never the whole disk, and not the run's own folder a second time.
    let is_fit = folder.is_absolute() && folder.parent().is_some() && folder != dir.path();
    is_fit.then_some(folder)
}

/// Everything that a run has made, as it is on disk now.
pub fn scan(dir: &RunDir, subject: &Subject, now: f64) -> Result<Vec<Found>> {
    let own = Beneath::open(dir.path()).map_err(StoreError::io(dir.path()))?;
    let Told { named, mut checkpoints } = told_by_trainer(dir)?;
    // Events that are too old to be read again have left their trace in the list.
    for known in ArtifactList::read(dir).ok().flatten().iter().flat_map(|list| &list.artifacts) {
        if known.kind == ArtifactKind::Checkpoint && known.base == Base::Run {
            checkpoints.entry(known.path.clone()).or_insert(known.step);
        }
    }
    let checkpoints = apart(checkpoints);
    let mut scan = Scan { subject, base: Base::Run, now, checkpoints, found: Vec::new() };
    scan.own_folder(&own).map_err(StoreError::io(dir.path()))?;
    if let Some(folder) = working_folder(dir) {
        // It is not ours, and may be gone.
        if let Ok(work) = Beneath::open(&folder) {
            scan.base = Base::Work;
            _ = scan.working_folder(&work, &folder);
        }
    }
    for (place, name) in named {
        _ = scan.named(dir, &place, &name);
    }
    scan.base = Base::Run;
    scan.named_checkpoints(&own).map_err(StoreError::io(dir.path()))?;
    scan.found.truncate(MAX_ARTIFACTS);
    Ok(scan.found)
}

struct Scan<'a> {
    subject: &'a Subject,
    base: Base,
    now: f64,
    /// What the trainer named as checkpoints, with their steps.
    checkpoints: BTreeMap<String, Option<u64>>,
    found: Vec<Found>,
}

impl Scan<'_> {
    fn own_folder(&mut self, own: &Beneath) -> std::io::Result<()> {
        for entry in own.entries()? {
            let name = entry.name.as_str();
            let is_file = entry.kind == EntryKind::File;
            match (name, entry.kind) {
                _ if name.starts_with('.') || OWN_FILES.contains(&name) => {}
                // Written beside its place, and about to be renamed.
                _ if name.contains(".new-") => {}
                ("log.txt" | "log.1.txt", EntryKind::File) => {
                    self.add(own, ArtifactKind::Log, name, false)?;
                }
                ("summary.json", EntryKind::File) => {
                    self.add(own, ArtifactKind::Eval, name, false)?;
                }
                ("episodes" | INHERITED, EntryKind::Folder) => {
                    self.add(own, ArtifactKind::Episodes, name, true)?;
                }
                ("checkpoints", EntryKind::Folder) => self.checkpoints(own)?,
                ("videos", EntryKind::Folder) => self.videos(own, name, ArtifactKind::Other)?,
                ("eval", EntryKind::Folder) => self.videos(own, name, ArtifactKind::Eval)?,
                ("runs", EntryKind::Folder) => self.tensorboard(own, |_| true)?,
                ("wandb", EntryKind::Folder) => self.wandb(own)?,
                (_, EntryKind::File | EntryKind::Folder) => self.around(own, name, !is_file)?,
                (_, EntryKind::Link | EntryKind::Foreign) => {}
            }
        }
        Ok(())
    }

    /// Something of no known kind; where it holds checkpoints, what is around them is apart, so
    /// that each can go alone.
    fn around(&mut self, own: &Beneath, path: &str, is_folder: bool) -> std::io::Result<()> {
        if self.checkpoints.contains_key(path) {
            return self.add(own, ArtifactKind::Checkpoint, path, is_folder);
        }
        if !is_folder || !self.checkpoints.keys().any(|inner| is_within(inner, path)) {
            return self.add(own, ArtifactKind::Other, path, is_folder);
        }
        for entry in own.folder(path)?.entries()? {
            let inner = format!("{path}/{}", entry.name);
            match entry.kind {
                _ if entry.name.starts_with('.') || entry.name.contains(".new-") => {}
                EntryKind::File => self.around(own, &inner, false)?,
                EntryKind::Folder => self.around(own, &inner, true)?,
                EntryKind::Link | EntryKind::Foreign => {}
            }
        }
        Ok(())
    }

    /// Checkpoints in places that have another meaning, as among TensorBoard's files.
    fn named_checkpoints(&mut self, own: &Beneath) -> std::io::Result<()> {
        for (path, step) in self.checkpoints.clone() {
            let is_place = |found: &&mut Found| found.base == Base::Run && found.path == path;
            if let Some(found) = self.found.iter_mut().find(is_place) {
                found.kind = ArtifactKind::Checkpoint;
                found.step = step.or(found.step);
                continue;
            }
            let entry = own.entry(&path).ok().flatten();
            match entry.map(|entry| entry.kind) {
                Some(EntryKind::File) => self.add(own, ArtifactKind::Checkpoint, &path, false)?,
                Some(EntryKind::Folder) => self.add(own, ArtifactKind::Checkpoint, &path, true)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        base: &Beneath,
        kind: ArtifactKind,
        path: &str,
        is_folder: bool,
    ) -> std::io::Result<()> {
        let measure = artifacts::measure(base, path).map_err(std::io::Error::other)?;
        // An empty folder is nothing yet.
        if let Some(measure) = measure.filter(|measure| measure.n_files > 0) {
            self.push(kind, path.to_owned(), is_folder, measure);
        }
        Ok(())
    }

    fn push(&mut self, kind: ArtifactKind, path: String, is_folder: bool, measure: Measure) {
        let shared = self.base == Base::Work && !self.bears_name(&path);
        let step = match kind {
            ArtifactKind::Checkpoint => self
                .checkpoints
                .get(&path)
                .copied()
                .flatten()
                .or_else(|| checkpoint::step_in(&path)),
            _ => None,
        };
        if self.found.len() < MAX_ARTIFACTS {
            let base = self.base;
            self.found.push(Found { kind, base, path, is_folder, measure, shared, step });
        }
    }

    /// Whether a path in a working folder says whose it is.
    fn bears_name(&self, path: &str) -> bool {
        path.split('/').any(|step| step.contains(self.subject.run.as_str()))
    }

    fn checkpoints(&mut self, own: &Beneath) -> std::io::Result<()> {
        for entry in own.folder("checkpoints")?.entries()? {
            let path = format!("checkpoints/{}", entry.name);
            match entry.kind {
                EntryKind::Folder if checkpoint::is_name(&entry.name) => {
                    self.add(own, ArtifactKind::Checkpoint, &path, true)?;
                }
                _ if entry.name.starts_with('.')
                    || entry.name.contains(".new-")
                    || ["latest", "best"].contains(&entry.name.as_str()) => {}
                EntryKind::File => self.around(own, &path, false)?,
                EntryKind::Folder => self.around(own, &path, true)?,
                EntryKind::Link | EntryKind::Foreign => {}
            }
        }
        Ok(())
    }

    /// The films below a folder; its other files are of kind `rest`.
    fn videos(&mut self, base: &Beneath, folder: &str, rest: ArtifactKind) -> std::io::Result<()> {
        let mut files = Vec::new();
        artifacts::walk(&base.folder(folder)?, &format!("{folder}/"), 0, &mut |path, entry| {
            let measure = Measure {
                n_files: 1,
                size_bytes: entry.size_bytes,
                modified_at: entry.modified_at,
            };
            files.push((path.to_owned(), measure));
            files.len() < MAX_ARTIFACTS
        })?;
        for (path, measure) in files {
            // Written beside its place, and about to be renamed; or left so by a crash.
            if path.rsplit('/').next().is_some_and(|name| name.contains(".new-")) {
                continue;
            }
            let is_settling =
                self.subject.is_at_work && self.now - measure.modified_at < SETTLES_AFTER_S;
            if !is_settling {
                let kind = if is_video(&path) { ArtifactKind::Video } else { rest };
                self.push(kind, path, false, measure);
            }
        }
        Ok(())
    }

    /// The folders with TensorBoard event files.
    fn tensorboard(
        &mut self,
        base: &Beneath,
        is_wanted: impl Fn(&str) -> bool,
    ) -> std::io::Result<()> {
        let runs = base.folder("runs")?;
        for entry in runs.entries()? {
            let path = format!("runs/{}", entry.name);
            if entry.name.starts_with('.') || !is_wanted(&path) {
                continue;
            }
            match entry.kind {
                EntryKind::Folder => {
                    let mut has_events = false;
                    artifacts::walk(&runs.folder(&entry.name)?, "", 0, &mut |name, _| {
                        has_events |= name.contains("tfevents");
                        !has_events
                    })?;
                    let kind =
                        if has_events { ArtifactKind::Tensorboard } else { ArtifactKind::Other };
                    if has_events || self.base == Base::Run {
                        self.add(base, kind, &path, true)?;
                    }
                }
                EntryKind::File if self.base == Base::Run => {
                    self.add(base, ArtifactKind::Other, &path, false)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The W&B runs in the run's own folder.
    fn wandb(&mut self, own: &Beneath) -> std::io::Result<()> {
        for entry in own.folder("wandb")?.entries()? {
            let path = format!("wandb/{}", entry.name);
            match entry.kind {
                _ if entry.name.starts_with('.') => {}
                EntryKind::Folder if is_wandb_run(&entry.name) => {
                    self.add(own, ArtifactKind::Wandb, &path, true)?;
                }
                EntryKind::Folder => self.add(own, ArtifactKind::Other, &path, true)?,
                EntryKind::File => self.add(own, ArtifactKind::Other, &path, false)?,
                EntryKind::Link | EntryKind::Foreign => {}
            }
        }
        Ok(())
    }

    /// What the trainer named itself, if it is below one of the run's folders. It is the run's
    /// own, unless it is a folder that other runs have theirs in.
    fn named(&mut self, dir: &RunDir, place: &str, name: &str) -> Result<()> {
        let work = working_folder(dir);
        let bases = [(Base::Run, Some(dir.path().to_owned())), (Base::Work, work)];
        for (base, folder) in bases {
            let Some(folder) = folder else { continue };
            let place = Path::new(place);
            let path = match (place.strip_prefix(&folder), place.is_absolute(), base) {
                (Ok(inner), ..) => inner,
                // A relative path is one below where the trainer works.
                (Err(_), false, _) => place,
                (Err(_), true, _) => continue,
            };
            let Some(path) = path.to_str().map(|path| path.trim_end_matches('/')) else { continue };
            if !is_plain(path) || (base == Base::Run && OWN_FILES.contains(&path)) {
                continue;
            }
            let Ok(beneath) = Beneath::open(&folder) else { continue };
            let Some(measure) = artifacts::measure(&beneath, path)? else { continue };
            let is_folder = beneath.folder(path).is_ok();
            let kind = match name {
                _ if is_video(path) && !is_folder => ArtifactKind::Video,
                "tensorboard" if is_folder => ArtifactKind::Tensorboard,
                "wandb" if is_folder => ArtifactKind::Wandb,
                _ => ArtifactKind::Other,
            };
            let is_place = |found: &Found| found.base == base && found.path == path;
            let shared = base == Base::Work && is_folder && !path.contains('/');
            if let Some(known) = self.found.iter_mut().find(|found| is_place(found)) {
                known.shared &= shared;
            } else if measure.n_files > 0 && !self.found.iter().any(|f| holds(f, base, path)) {
                let (path, step) = (path.to_owned(), None);
                self.found.push(Found { kind, base, path, is_folder, measure, shared, step });
            }
            return Ok(());
        }
        Ok(())
    }

    fn working_folder(&mut self, work: &Beneath, path: &Path) -> std::io::Result<()> {
        let first = self.found.len();
        if work.folder("videos").is_ok() {
            self.videos(work, "videos", ArtifactKind::Other)?;
        }
        if work.folder("runs").is_ok() {
            self.tensorboard(work, |_| true)?;
        }
        if let Ok(wandb) = work.folder("wandb")
            && let Some(name) = latest_wandb_run(&wandb, &path.join("wandb"))
        {
            self.add(work, ArtifactKind::Wandb, &format!("wandb/{name}"), true)?;
        }
        let mut kept = self.found.split_off(first);
        kept.retain(|found| {
            found.kind != ArtifactKind::Other
                && (!found.shared || self.subject.was_at_work(found.measure.modified_at, self.now))
        });
        self.found.extend(kept);
        Ok(())
    }
}

/// Whether a folder that was found already holds this.
fn holds(found: &Found, base: Base, path: &str) -> bool {
    let inner = path.strip_prefix(found.path.as_str());
    found.base == base && found.is_folder && inner.is_some_and(|inner| inner.starts_with('/'))
}

/// How much of a run's events is searched for what its trainer named.
const NAMED_SPAN: u64 = 4 * 1024 * 1024;

/// What a trainer said that it has made.
#[derive(Debug, Default)]
struct Told {
    /// What it named in `artifacts` lines: place and name.
    named: BTreeMap<String, String>,
    /// Its checkpoints: where they are below the run's folder, and their steps.
    checkpoints: BTreeMap<String, Option<u64>>,
}

fn told_by_trainer(dir: &RunDir) -> Result<Told> {
    let mut told = Told::default();
    for line in jsonl::last_lines(&dir.events_path(), NAMED_SPAN)?.0 {
        let Ok(EventLine { event, .. }) = serde_json::from_slice(&line.bytes) else { continue };
        match event {
            // A second file of the same name does not replace the first.
            Event::ArtifactsNamed { artifacts } => {
                told.named.extend(artifacts.into_iter().map(|(name, place)| (place, name)));
            }
            Event::CheckpointSaved { step, name, path, .. } => {
                let path = path.unwrap_or_else(|| format!("checkpoints/{name}"));
                told.checkpoints.insert(path, Some(step));
            }
            _ => {}
        }
    }
    told.checkpoints.retain(|path, _| may_be_checkpoint(path));
    Ok(told)
}

/// Where a trainer said that TensorBoard's event files are.
pub(crate) fn named_boards(dir: &RunDir) -> Result<Vec<String>> {
    let named = told_by_trainer(dir)?.named.into_iter();
    Ok(named.filter(|(_, name)| name == "tensorboard").map(|(place, _)| place).collect())
}

/// The checkpoints that a foreign trainer has named and that are there, by steps: step and path.
pub fn foreign_checkpoints(dir: &RunDir) -> Result<Vec<(u64, String)>> {
    let mut all = told_by_trainer(dir)?.checkpoints;
    for known in ArtifactList::read(dir)?.iter().flat_map(|list| &list.artifacts) {
        if known.kind == ArtifactKind::Checkpoint && known.base == Base::Run {
            all.entry(known.path.clone()).or_insert(known.step);
        }
    }
    let mut all: Vec<(u64, String)> = apart(all)
        .into_iter()
        .filter(|(path, _)| check_named(dir.path(), path).is_ok())
        .map(|(path, step)| (step.or_else(|| checkpoint::step_in(&path)).unwrap_or(0), path))
        .collect();
    all.sort();
    Ok(all)
}

/// Whether a path is below a folder.
fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Without those that hold others: removing one must not remove another.
fn apart(mut checkpoints: BTreeMap<String, Option<u64>>) -> BTreeMap<String, Option<u64>> {
    let all: Vec<String> = checkpoints.keys().cloned().collect();
    checkpoints.retain(|path, _| !all.iter().any(|other| is_within(other, path)));
    checkpoints
}

/// Where the run is on W&B, if its trainer said so.
fn wandb_url(dir: &RunDir) -> Result<Option<String>> {
    let named = told_by_trainer(dir)?.named;
    let is_url = |place: &&String| place.starts_with("https://") && place.len() <= 2000;
    Ok(named.iter().filter(|(_, name)| *name == "wandb_url").map(|(p, _)| p).find(is_url).cloned())
}

fn is_video(path: &str) -> bool {
    let extension = path.rsplit('.').next().unwrap_or_default().to_lowercase();
    ["mp4", "gif", "webm"].contains(&extension.as_str())
}

fn is_wandb_run(name: &str) -> bool {
    name.starts_with("run-") || name.starts_with("offline-run-")
}

/// The folder that `latest-run` points to, if it is one beside it.
fn latest_wandb_run(wandb: &Beneath, path: &Path) -> Option<String> {
    let target = PathBuf::from(wandb.link("latest-run")?);
    let is_beside = target.parent().is_some_and(|parent| parent == Path::new("") || parent == path);
    let name = target.file_name()?.to_str()?.to_owned();
    (is_beside && is_wandb_run(&name) && wandb.folder(&name).is_ok()).then_some(name)
}

/// Looks at what a run has made and brings its list up to date. At most `hash_budget` bytes are
/// read for hashes; what is left unhashed is done at a later look.
pub fn look(dir: &RunDir, subject: &Subject, now: f64, hash_budget: u64) -> Result<Delta> {
    let found = scan(dir, subject, now)?;
    let before = ArtifactList::read(dir)?;
    let known: HashMap<&ArtifactId, &Artifact> =
        before.iter().flat_map(|list| &list.artifacts).map(|known| (&known.id, known)).collect();
    // Hashed before the list is held, so that a trainer never waits for it.
    let mut budget = hash_budget;
    let mut delta = Delta::default();
    let mut changed = Vec::new();
    let is_checkpoint = |found: &&Found| found.kind == ArtifactKind::Checkpoint;
    let checkpoints: Vec<String> =
        found.iter().filter(is_checkpoint).map(|found| found.path.clone()).collect();
    for found in found {
        let id = found.id();
        let known = known.get(&id).filter(|known| found.is_as_known(known));
        let grows = subject.is_at_work && found.kind.grows();
        if known.is_some_and(|known| known.sha256.is_some() || grows) {
            continue;
        }
        let sha256 = match found.measure.size_bytes {
            _ if grows => None,
            size if size > budget => {
                delta.is_unfinished = true;
                None
            }
            size => {
                budget -= size;
                // It may have been removed in this very moment.
                base_folder(dir, found.base)
                    .and_then(|base| Ok(artifacts::hash(&base, &found.path, found.is_folder)?))
                    .ok()
            }
        };
        if known.is_none() || sha256.is_some() {
            changed.push(found.into_artifact(sha256));
        }
    }
    let complete = (!subject.is_at_work && !delta.is_unfinished).then_some(subject.attempt);
    let is_complete = before.as_ref().is_some_and(|list| list.complete_attempt == complete);
    drop(known);

    // Somebody may have written the list since: it is read again under its lock.
    let mut locked = Locked::open(dir, &subject.run)?;
    for artifact in &locked.list.artifacts {
        let base = base_folder(dir, artifact.base);
        let is_there = base.as_ref().is_ok_and(|base| {
            base.entry(&artifact.path).is_ok_and(|entry| {
                entry.is_some_and(|entry| match entry.kind {
                    EntryKind::Folder => artifact.is_folder,
                    EntryKind::File => !artifact.is_folder,
                    EntryKind::Link | EntryKind::Foreign => false,
                })
            })
        });
        if !is_there {
            delta.gone.push(artifact.clone());
        }
    }
    for artifact in &delta.gone {
        locked.list.drop(&artifact.id);
    }
    // What was listed as something else before its trainer named it, or what is around it.
    let n_before = locked.list.artifacts.len();
    locked.list.artifacts.retain(|known| {
        let is_replaced = |path: &String| {
            let is_around = known.kind == ArtifactKind::Other && is_within(path, &known.path);
            known.kind != ArtifactKind::Checkpoint && (*path == known.path || is_around)
        };
        known.base != Base::Run || !checkpoints.iter().any(is_replaced)
    });
    let is_replaced = locked.list.artifacts.len() != n_before;
    let mut is_changed = !delta.gone.is_empty() || is_replaced;
    for artifact in changed {
        let base = base_folder(dir, artifact.base)?;
        if !base.entry(&artifact.path).is_ok_and(|entry| entry.is_some()) {
            continue;
        }
        let is_new = locked.list.get(&artifact.id).is_err();
        // What grows is not worth a write at every look.
        if is_new || !subject.is_at_work || has_grown(&locked.list, &artifact) {
            is_changed = true;
            locked.list.put(artifact.clone());
        }
        if is_new {
            delta.new.push(artifact);
        }
    }
    if complete.is_some() && !is_complete {
        locked.list.complete_attempt = complete;
        // A run that has made nothing needs no list.
        is_changed |= before.is_some();
    }
    if !subject.is_at_work && locked.list.wandb_url.is_none() {
        locked.list.wandb_url = wandb_url(dir)?;
        is_changed |= locked.list.wandb_url.is_some();
    }
    let line = |event| EventLine { attempt: subject.attempt.max(1), t: now, event };
    let news: Vec<&Artifact> = delta.new.iter().filter(|new| new.kind.is_news()).collect();
    if !news.is_empty() {
        let count = news.len() as u64;
        let artifacts = news.into_iter().take(MAX_NAMED).map(note).collect();
        locked.list.untold.push(line(Event::ArtifactsAvailable { artifacts, count }));
    }
    for artifact in delta.gone.iter().filter(|gone| gone.kind.is_news()) {
        let (kept, total) = locked.list.kept(artifact.kind);
        let reason = "it is no longer on disk".to_owned();
        let pruned = Pruned { artifact: note(artifact), kept, total, reason };
        locked.list.untold.push(line(Event::ArtifactPruned(pruned)));
    }
    if is_changed {
        locked.save()?;
    }
    tell(dir, &mut locked)?;
    Ok(delta)
}

fn has_grown(list: &ArtifactList, artifact: &Artifact) -> bool {
    list.get(&artifact.id).is_ok_and(|known| {
        !artifact.kind.grows() || artifact.size_bytes > known.size_bytes + known.size_bytes / 4
    })
}

/// An artifact as events name it.
pub fn note(artifact: &Artifact) -> ArtifactNote {
    ArtifactNote {
        id: artifact.id.clone(),
        kind: artifact.kind,
        path: artifact.path.clone(),
        size_bytes: artifact.size_bytes,
    }
}

/// Writes what is untold to the run's events, each once, unless its trainer holds them.
fn tell(dir: &RunDir, locked: &mut Locked) -> Result<()> {
    if locked.list.untold.is_empty() {
        return Ok(());
    }
    let Ok(mut events) = Appender::open_at_once(dir.events_path()) else { return Ok(()) };
    // Told already, when a crash came between the events and the list.
    let (lines, _) = jsonl::last_lines(&dir.events_path(), 1024 * 1024)?;
    let told: Vec<EventLine> =
        lines.iter().filter_map(|line| serde_json::from_slice(&line.bytes).ok()).collect();
    for line in locked.list.untold.iter().filter(|line| !told.contains(line)) {
        events.append(line)?;
    }
    events.sync()?;
    locked.list.untold.clear();
    Ok(locked.save()?)
}

/// Removes artifacts of a run, each with why. What has been pinned since, or may be another's,
/// stays. The list is durable before the first file goes.
pub fn prune(
    dir: &RunDir,
    subject: &Subject,
    wanted: &[(ArtifactId, String)],
    now: f64,
) -> Result<Vec<Pruned>> {
    let mut locked = Locked::open(dir, &subject.run)?;
    let mut dropped = Vec::new();
    let mut told = Vec::new();
    for (id, reason) in wanted {
        let Ok(artifact) = locked.list.get(id) else { continue };
        if artifact.pinned || artifact.milestone || artifact.shared {
            continue;
        }
        let Some(artifact) = locked.list.drop(id) else { continue };
        // A folder that it lies in is another one without it, and is hashed at the next look.
        for around in &mut locked.list.artifacts {
            let is_around = around.base == artifact.base && is_within(&artifact.path, &around.path);
            if is_around && around.is_folder {
                around.size_bytes = around.size_bytes.saturating_sub(artifact.size_bytes);
                around.n_files = around.n_files.saturating_sub(artifact.n_files);
                around.sha256 = None;
                locked.list.complete_attempt = None;
            }
        }
        let (kept, total) = locked.list.kept(artifact.kind);
        let pruned = Pruned { artifact: note(&artifact), kept, total, reason: reason.clone() };
        locked.list.untold.push(EventLine {
            attempt: subject.attempt.max(1),
            t: now,
            event: Event::ArtifactPruned(pruned.clone()),
        });
        dropped.push(artifact);
        told.push(pruned);
    }
    if dropped.is_empty() {
        return Ok(told);
    }
    locked.save()?;
    for artifact in &dropped {
        let base = base_folder(dir, artifact.base)?;
        base.remove(&artifact.path).map_err(StoreError::io(Path::new(&artifact.path)))?;
    }
    tell(dir, &mut locked)?;
    Ok(told)
}

/// A checkpoint that has just been saved.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCheckpoint {
    /// Its folder.
    pub name: String,
    /// Whether it is kept for good.
    pub milestone: bool,
}

/// Names a checkpoint that has just been saved, and drops those in `old`, in one write; then the
/// old ones are removed, but for milestones and pinned ones. For the trainer, which tells of them
/// in its own events.
pub fn turn_over(
    dir: &RunDir,
    new: Option<&NewCheckpoint>,
    old: &[String],
    reason: &str,
) -> Result<Vec<Pruned>> {
    let may_go = |artifact: &Artifact| !artifact.pinned && !artifact.milestone;
    turn_over_if(dir, &CHECKPOINTS, new, old, reason, may_go)
}

/// Names a film that a training has just made of itself, and removes the oldest beyond those that
/// are to be kept. For the trainer, which tells of them in its own events.
pub fn turn_over_films(dir: &RunDir, name: &str, keep: u32) -> Result<Vec<Pruned>> {
    let folder = dir.path().join(FILMS.folder);
    let entries = std::fs::read_dir(&folder).map_err(StoreError::io(&folder))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("eval_step_") && name.ends_with(".mp4"))
        .collect();
    // By number: a run may be longer than nine digits tell.
    names.sort_by_key(|name| (name.len(), name.clone()));
    names.truncate(names.len().saturating_sub(keep as usize));
    let new = NewCheckpoint { name: name.to_owned(), milestone: false };
    let reason = format!("the newest {keep} are kept");
    turn_over_if(dir, &FILMS, Some(&new), &names, &reason, |artifact| !artifact.pinned)
}

/// A film of a training as events name it, if it is listed.
pub(crate) fn note_of_film(dir: &RunDir, name: &str) -> Result<Option<ArtifactNote>> {
    let path = format!("{}/{name}", FILMS.folder);
    let list = ArtifactList::read(dir)?;
    let artifacts = list.iter().flat_map(|list| &list.artifacts);
    Ok(artifacts.into_iter().find(|it| it.base == Base::Run && it.path == path).map(note))
}

/// Where a trainer of ours puts things of one kind, one after the other.
#[derive(Debug)]
pub(crate) struct Shelf {
    kind: ArtifactKind,
    pub(crate) folder: &'static str,
    is_folder: bool,
}

const CHECKPOINTS: Shelf =
    Shelf { kind: ArtifactKind::Checkpoint, folder: "checkpoints", is_folder: true };

/// The films that a training makes of its evaluations.
pub(crate) const FILMS: Shelf =
    Shelf { kind: ArtifactKind::Video, folder: "videos", is_folder: false };

/// Removes checkpoints that count no longer, because the run went on from an earlier one: also
/// milestones and pinned ones, whose places will be needed again.
pub fn forget(dir: &RunDir, names: &[String]) -> Result<()> {
    if !names.is_empty() {
        turn_over_if(dir, &CHECKPOINTS, None, names, "", |_| true)?;
    }
    Ok(())
}

fn turn_over_if(
    dir: &RunDir,
    shelf: &Shelf,
    new: Option<&NewCheckpoint>,
    old: &[String],
    reason: &str,
    may_go: impl Fn(&Artifact) -> bool,
) -> Result<Vec<Pruned>> {
    let own = Beneath::open(dir.path()).map_err(StoreError::io(dir.path()))?;
    let Shelf { kind, folder, is_folder } = *shelf;
    let place = |name: &str| format!("{folder}/{name}");
    let found = |name: &str| {
        let path = place(name);
        let measure = artifacts::measure(&own, &path)?;
        Ok::<_, StoreError>(measure.map(|measure| Found {
            kind,
            base: Base::Run,
            path,
            is_folder,
            measure,
            shared: false,
            step: checkpoint::step_in(name).filter(|_| kind == ArtifactKind::Checkpoint),
        }))
    };
    let new = match new {
        Some(NewCheckpoint { name, milestone }) => match found(name)? {
            Some(found) => {
                let sha256 = artifacts::hash(&own, &found.path, is_folder)?;
                Some(Artifact { milestone: *milestone, ..found.into_artifact(Some(sha256)) })
            }
            None => None,
        },
        None => None,
    };
    let mut locked = Locked::open(dir, &dir.id()?)?;
    if let Some(new) = new {
        locked.list.put(new);
    }
    let mut told = Vec::new();
    for name in old {
        let id = ArtifactId::new(kind, Base::Run, &place(name));
        // One that nobody had named yet counts, too.
        if locked.list.get(&id).is_err()
            && let Some(found) = found(name)?
        {
            locked.list.put(found.into_artifact(None));
        }
        if !locked.list.get(&id).is_ok_and(&may_go) {
            continue;
        }
        if let Some(artifact) = locked.list.drop(&id) {
            let (kept, total) = locked.list.kept(kind);
            let artifact = note(&artifact);
            told.push(Pruned { artifact, kept, total, reason: reason.to_owned() });
        }
    }
    locked.save()?;
    for pruned in &told {
        let path = &pruned.artifact.path;
        own.remove(path).map_err(StoreError::io(Path::new(path)))?;
    }
    Ok(told)
}

#[cfg(test)]
mod tests;
