//! Proves that lists and disk agree, and mends what does not on request.
//!
//! Every finding says what is wrong, where, and what to do. Nothing that a person could want is
//! thrown away by a repair: lines that cannot be read go to `damaged-lines.txt` in the run's
//! folder, damaged checkpoints to `damaged/`. Signed files are never rewritten. Runs at work are
//! left alone: their trainers are in the middle of writing.

use std::fs::{self, File};
use std::io::{
    self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _,
};
use std::path::{Path, PathBuf};

use cartridge_games::registry::is_game;
use cartridge_learn::board_net::BoardNet;
use cartridge_learn::policy::Policy;
use cartridge_store::artifacts::{self, Locked};
use cartridge_store::beneath::{Beneath, EntryKind, LEFT_OVER};
use cartridge_store::data_dir::{sync_parent, write_beside};
use cartridge_store::episodes::Damage;
use cartridge_store::follow::latest_episodes;
use cartridge_store::jsonl::{Appender, MAX_LINE_BYTES};
use cartridge_store::{
    ArtifactKind, ArtifactList, ControlLine, DataDir, EpisodeReader, EpisodeWriter, Index,
    Manifest, ModelList, RunDir, RunId, RunKind, StoreError,
};
use cartridge_store::{match_log, models};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::audit::Marks;
use crate::checkpoint::{self, Alias};
use crate::discovery::{self, Subject, base_folder};
use crate::error::Result;
use crate::lab::lock_data;
use crate::model;
use crate::steer::{self, By};

/// Episodes that a finding names.
const MAX_NAMED_EPISODES: usize = 20;

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// `run.json` cannot be read.
    DamagedManifest,
    /// A folder among the runs has no `run.json`.
    UnfinishedRun,
    /// A file ends in half a line.
    TornLine,
    /// A line in the middle of a file cannot be read.
    DamagedLine,
    /// A checkpoint is not what its manifest says.
    DamagedCheckpoint,
    /// Recorded episodes cannot be read.
    DamagedEpisodes,
    /// `latest` or `best` names a checkpoint that is not there, or `latest` is missing.
    DanglingAlias,
    /// `artifacts.json` cannot be read.
    DamagedList,
    /// The list names a file that is not there.
    MissingArtifact,
    /// A file is in no list.
    UnnamedArtifact,
    /// A file is not the one that was listed.
    ChangedArtifact,
    /// What became of a file is not in the run's events yet.
    UntoldArtifact,
    /// `models.json` cannot be read.
    DamagedModels,
    /// A file of a model is missing, or not the one that was listed.
    DamagedModel,
    /// A run has been in the trash for longer than it can be brought back.
    OldTrash,
    /// A file that was written beside its place, or half removed, and then forgotten.
    LeftOver,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What.
    pub fault: Fault,
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// Where, below the data folder.
    pub path: String,
    /// What is wrong, in a sentence.
    pub detail: String,
    /// What to do about it, or what was done.
    pub hint: String,
    /// Whether it has been mended.
    pub repaired: bool,
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// Runs that were checked.
    pub n_runs: u64,
    /// Runs that were at work and left alone.
    pub n_at_work: u64,
    /// Artifacts that were hashed.
    pub n_artifacts: u64,
    /// Lines that were read.
    pub n_lines: u64,
}

impl Report {
    /// Whether something is wrong and was not mended.
    pub fn is_bad(&self) -> bool {
        self.findings.iter().any(|finding| !finding.repaired)
    }
}

/// Checks a data folder. With `repair` what can be mended is; that needs a folder without a lab.
pub fn check(data: &DataDir, repair: bool, now: f64) -> Result<Report> {
    let lock = if repair { Some(lock_data(data)?) } else { None };
    let mut check = Check { data, repair, now, report: Report::default(), is_index_stale: false };
    check.data_folder()?;
    check.trash()?;
    check.models();
    check.matches();
    let mut ids = data.run_ids()?;
    ids.sort();
    for id in ids {
        check.run(&id)?;
    }
    if check.is_index_stale {
        // Its offsets are those of files that have changed; it is made anew when it is next needed.
        Index::remove(data)?;
    }
    drop(lock);
    Ok(check.report)
}

struct Check<'a> {
    data: &'a DataDir,
    repair: bool,
    now: f64,
    report: Report,
    is_index_stale: bool,
}

impl Check<'_> {
    /// Records a finding. `mend` is tried when repairs are asked for.
    fn find(
        &mut self,
        fault: Fault,
        run: Option<&RunId>,
        path: &Path,
        detail: impl Into<String>,
        hint: &str,
        mend: impl FnOnce(&mut Self) -> Result<()>,
    ) {
        let mut detail = detail.into();
        let mended = if self.repair { Some(mend(self)) } else { None };
        if let Some(Err(error)) = &mended {
            detail = format!("{detail}; the repair failed: {error}");
        }
        let path = path.strip_prefix(self.data.path()).unwrap_or(path).display().to_string();
        self.report.findings.push(Finding {
            fault,
            run_id: run.cloned(),
            path,
            detail,
            hint: hint.to_owned(),
            repaired: matches!(mended, Some(Ok(()))),
        });
    }

    fn data_folder(&mut self) -> Result<()> {
        // While a lab is at work, a file that is being written is no left-over.
        if !self.repair && lock_data(self.data).is_err() {
            return Ok(());
        }
        for folder in ["", "runs", "login", "experiments", "models"] {
            let folder = self.data.path().join(folder);
            let Ok(beneath) = Beneath::open(&folder) else { continue };
            for entry in beneath.entries().map_err(StoreError::io(&folder))? {
                let is_left = entry.name.starts_with(".probe-") || is_beside(&entry.name);
                if is_left && entry.kind == EntryKind::File {
                    self.left_over(None, &folder, &entry.name);
                }
            }
        }
        Ok(())
    }

    fn trash(&mut self) -> Result<()> {
        let mut marks = Marks::default();
        marks.advance(self.data)?;
        let days = steer::UNDO_S / 86_400.0;
        for (id, at) in &marks.deleted {
            if self.now - at > steer::UNDO_S {
                let path = steer::trash(self.data, id);
                let detail = format!("the run was deleted more than {days:.0} days ago");
                let hint = "a lab, or `cartridge fsck --repair`, removes it for good";
                self.find(Fault::OldTrash, Some(id), &path, detail, hint, |check| {
                    steer::purge(check.data, id, By::new("fsck"))
                });
            }
        }
        Ok(())
    }

    /// The log of matches: whole lines that can be read.
    fn matches(&mut self) {
        let path = match_log::path(self.data);
        // Of a later version there may be lines that this one does not know; all are objects.
        let is_good =
            |line: &[u8]| serde_json::from_slice::<Value>(line).is_ok_and(|line| line.is_object());
        let Ok(Some(scan)) = scan_lines(&path, is_good) else { return };
        self.report.n_lines += scan.n_lines;
        if scan.torn_bytes > 0 {
            let detail = format!("its last {} bytes are half a line", scan.torn_bytes);
            let hint = "the match is in its run's folder; the half line is cut off by the next \
                        writer, or by `cartridge fsck --repair`";
            self.find(Fault::TornLine, None, &path, detail, hint, |_| {
                // Opening cuts it off.
                Appender::open_at_once(&path)?.sync()?;
                Ok(())
            });
        }
        if let Some(first) = scan.first_bad {
            let detail = format!(
                "{} of its {} lines cannot be read, the first is line {first}",
                scan.n_bad, scan.n_lines
            );
            let hint = "ratings leave them out; `cartridge fsck --repair` moves them to \
                        damaged-lines.txt in the data folder";
            self.find(Fault::DamagedLine, None, &path, detail, hint, |check| {
                move_bad_lines(&path, &check.data.path().join("damaged-lines.txt"), is_good)
            });
        }
    }

    /// The list of models, and that every file which it names is there and as it was.
    fn models(&mut self) {
        let path = models::list_path(self.data);
        let list = match ModelList::read(self.data) {
            Ok(list) => list,
            Err(error) => {
                let hint = "bring models.json back from a backup; the files below models/ are \
                            left as they are";
                let detail = error.to_string();
                self.find(Fault::DamagedModels, None, &path, detail, hint, |_| Err(error.into()));
                return;
            }
        };
        for model in &list.models {
            let own = models::folder(self.data).join(model.name.as_str());
            for version in &model.versions {
                for file in &version.files {
                    self.report.n_artifacts += 1;
                    let read = model::read_file(self.data, &model.name, version, &file.file);
                    let Err(error) = read else { continue };
                    let place = own.join(version.version.to_string()).join(&file.file);
                    let hint = "bring it back from a backup, or add the checkpoint again as a \
                                new version; nothing else has a copy";
                    let detail = error.to_string();
                    self.find(Fault::DamagedModel, None, &place, detail, hint, |_| Err(error));
                }
            }
            if let Ok(best) = model.version(Some(models::BEST)) {
                let path = model::best_path(self.data, &model.name);
                let listed = best.files.iter().find(|file| file.file == model::ONNX);
                let is_same = fs::read(&path).ok().map(|bytes| models::sha256(&bytes));
                if listed.is_some_and(|file| is_same.as_ref() != Some(&file.sha256)) {
                    let detail = "it is not the policy of the best version";
                    let hint = "`cartridge fsck --repair` writes it again";
                    self.find(Fault::DamagedModel, None, &path, detail, hint, |check| {
                        model::write_best(check.data, &model.name, best)
                    });
                }
            }
            let Ok(beneath) = Beneath::open(&own) else { continue };
            for entry in beneath.entries().into_iter().flatten() {
                let number = entry.name.trim_start_matches('.').parse::<u32>();
                let is_listed = number.as_ref().is_ok_and(|number| {
                    !entry.name.starts_with('.')
                        && model.versions.iter().any(|it| it.version == *number)
                });
                if is_beside(&entry.name) || (number.is_ok() && !is_listed) {
                    self.left_over(None, &own, &entry.name);
                }
            }
        }
    }

    fn left_over(&mut self, run: Option<&RunId>, folder: &Path, name: &str) {
        let hint = "it is removed by `cartridge fsck --repair`; nothing refers to it";
        let path = folder.join(name);
        self.find(Fault::LeftOver, run, &path, "a crash left it behind", hint, |_| {
            let beneath = Beneath::open(folder).map_err(StoreError::io(folder))?;
            Ok(beneath.remove(name).map_err(StoreError::io(folder.join(name)))?)
        });
    }

    fn run(&mut self, id: &RunId) -> Result<()> {
        let dir = self.data.run(id);
        let Some(manifest) = self.manifest(&dir, id) else { return Ok(()) };
        let Ok(subject) = Subject::of(&dir, &manifest) else {
            // One whose lines cannot be followed at all is not at work.
            self.lines(&dir, id);
            return Ok(());
        };
        if subject.is_at_work {
            self.report.n_at_work += 1;
            return Ok(());
        }
        self.report.n_runs += 1;
        self.left_overs(id, dir.path(), 0);
        self.lines(&dir, id);
        self.episodes(&dir, id);
        self.checkpoints(&dir, &manifest)?;
        self.artifacts(&dir, &subject)
    }

    fn manifest(&mut self, dir: &RunDir, id: &RunId) -> Option<Manifest> {
        let path = dir.manifest_path();
        match dir.manifest() {
            Ok(manifest) => return Some(manifest),
            Err(StoreError::NewerFormat { found, known, .. }) => {
                let detail = format!("it has format {found}, and this version knows {known}");
                let hint = "use the newer cartridge that wrote it";
                self.find(Fault::DamagedManifest, Some(id), &path, detail, hint, |_| {
                    Err(StoreError::NewerFormat { path: path.clone(), found, known }.into())
                });
                return None;
            }
            Err(StoreError::NoSuchRun(_)) if is_empty_but_left_overs(dir.path()) => {
                let hint = "it was never finished, and is removed by `cartridge fsck --repair`";
                let detail = "the folder has no run.json and nothing else";
                self.find(Fault::UnfinishedRun, Some(id), dir.path(), detail, hint, |check| {
                    let runs = check.data.path().join("runs");
                    let beneath = Beneath::open(&runs).map_err(StoreError::io(&runs))?;
                    Ok(beneath.remove(id.as_str()).map_err(StoreError::io(dir.path()))?)
                });
                return None;
            }
            Err(error) => {
                let known = Index::open(self.data).and_then(|index| index.run(id)).ok();
                let (hint, known) = match known {
                    Some(run) => (
                        "the index has a copy, which `cartridge fsck --repair` writes back",
                        Some(run.manifest),
                    ),
                    None => (
                        "bring run.json back from a backup, or move the folder away; \
                         its other files are whole",
                        None,
                    ),
                };
                let detail = error.to_string();
                self.find(Fault::DamagedManifest, Some(id), &path, detail, hint, |_| {
                    let manifest = known.clone().ok_or(error)?;
                    let text =
                        serde_json::to_vec_pretty(&manifest).expect("a manifest is plain data");
                    Ok(write_beside(&path, &text)?)
                });
            }
        }
        dir.manifest().ok()
    }

    /// What crashes left in a run's folder.
    fn left_overs(&mut self, id: &RunId, folder: &Path, depth: usize) {
        let Ok(entries) = Beneath::open(folder).and_then(|folder| folder.entries()) else { return };
        for entry in entries {
            let is_half_checkpoint = entry.name.strip_prefix('.').is_some_and(checkpoint::is_name);
            if is_beside(&entry.name) || entry.name.starts_with(LEFT_OVER) || is_half_checkpoint {
                self.left_over(Some(id), folder, &entry.name);
            } else if entry.kind == EntryKind::Folder && depth < 3 {
                self.left_overs(id, &folder.join(&entry.name), depth + 1);
            }
        }
    }

    fn lines(&mut self, dir: &RunDir, id: &RunId) {
        // Of a later version there may be lines that this one does not know; all are objects.
        let is_object =
            |line: &[u8]| serde_json::from_slice::<Value>(line).is_ok_and(|line| line.is_object());
        let is_control = |line: &[u8]| serde_json::from_slice::<ControlLine>(line).is_ok();
        for (path, may_change) in [
            (dir.events_path(), true),
            (dir.metrics_path(), true),
            (dir.supervisor_path(), true),
            // Signed and chained: rewriting it would break what it proves.
            (dir.control_path(), false),
        ] {
            let readable =
                |line: &[u8]| if may_change { is_object(line) } else { is_control(line) };
            let Ok(Some(scan)) = scan_lines(&path, readable) else {
                continue;
            };
            self.report.n_lines += scan.n_lines;
            if scan.torn_bytes > 0 {
                let detail = format!("its last {} bytes are half a line", scan.torn_bytes);
                let hint = "the half line was never acknowledged; it is cut off by the next \
                            writer, or by `cartridge fsck --repair`";
                self.find(Fault::TornLine, Some(id), &path, detail, hint, |_| {
                    // Opening cuts it off.
                    Appender::open_at_once(&path)?.sync()?;
                    Ok(())
                });
            }
            if let Some(first) = scan.first_bad {
                let detail = format!(
                    "{} of its {} lines cannot be read, the first is line {first}",
                    scan.n_bad, scan.n_lines
                );
                let hint = if may_change {
                    "readers skip them; `cartridge fsck --repair` moves them to damaged-lines.txt"
                } else {
                    "it is signed and stays as it is; see `cartridge audit verify`"
                };
                self.find(Fault::DamagedLine, Some(id), &path, detail, hint, |check| {
                    if !may_change {
                        let detail = "a signed file is not rewritten".to_owned();
                        return Err(StoreError::Damaged { path: path.clone(), detail }.into());
                    }
                    check.is_index_stale = true;
                    move_bad_lines(&path, &dir.path().join("damaged-lines.txt"), readable)
                });
            }
        }
    }

    fn episodes(&mut self, dir: &RunDir, id: &RunId) {
        let folder = dir.episodes_path();
        if !folder.is_dir() {
            let told = latest_episodes(dir, 1).ok().and_then(|told| told.episode.last().copied());
            if let Some(last) = told {
                let detail = format!(
                    "it is missing, and metrics.jsonl tells of episodes up to {last}: they are listed, and cannot be seen again"
                );
                let hint =
                    "bring the folder back from a backup; nothing else has what was done in them";
                self.find(Fault::DamagedEpisodes, Some(id), &folder, detail, hint, |_| {
                    let detail = "there is no copy of it".to_owned();
                    Err(StoreError::Damaged { path: folder.clone(), detail }.into())
                });
            }
            return;
        }
        let verify = || EpisodeReader::open(dir).and_then(|mut reader| reader.verify());
        let damage = match verify() {
            Ok(damage) => damage,
            Err(error) => {
                let hint = "bring the segments back from a backup";
                let path = dir.path().join("episodes");
                let detail = error.to_string();
                self.find(Fault::DamagedEpisodes, Some(id), &path, detail, hint, |_| {
                    Err(error.into())
                });
                return;
            }
        };
        for Damage { path, offset, episodes, steps_of } in damage {
            let detail = match (episodes, steps_of.as_slice()) {
                (Some((first, last)), _) => {
                    format!("episodes {first} to {last} cannot be read, from byte {offset} on")
                }
                (None, []) => format!("it cannot be read from byte {offset} on"),
                (None, named) => {
                    let words: Vec<String> =
                        named.iter().take(MAX_NAMED_EPISODES).map(u64::to_string).collect();
                    let more = match named.len().saturating_sub(MAX_NAMED_EPISODES) {
                        0 => String::new(),
                        n => format!(" and {n} more"),
                    };
                    let words = words.join(", ");
                    format!("steps of episodes {words}{more} cannot be read, from byte {offset} on")
                }
            };
            let hint = "all other episodes stay readable; a half-written end is cut off by \
                        `cartridge fsck --repair`, anything else comes back from a backup only";
            self.find(Fault::DamagedEpisodes, Some(id), &path, detail, hint, |_| {
                // Opening cuts off what a crash left at the end.
                drop(EpisodeWriter::open(dir)?);
                let is_left = |left: &Damage| left.path == path && left.offset == offset;
                if verify()?.iter().any(is_left) {
                    let detail = "the damage is not at its end".to_owned();
                    return Err(StoreError::Damaged { path: path.clone(), detail }.into());
                }
                Ok(())
            });
        }
    }

    fn checkpoints(&mut self, dir: &RunDir, manifest: &Manifest) -> Result<()> {
        let id = &manifest.id;
        let folder = dir.checkpoints_path();
        let Ok(beneath) = Beneath::open(&folder) else { return Ok(()) };
        // A foreign trainer has no `latest`.
        let is_ours = manifest.kind == RunKind::Train;
        let mut whole = Vec::new();
        for entry in beneath.entries().map_err(StoreError::io(&folder))? {
            if entry.kind != EntryKind::Folder || !checkpoint::is_name(&entry.name) {
                continue;
            }
            match checkpoint_fault(&folder.join(&entry.name)) {
                None => whole.push(entry.name),
                Some(detail) => {
                    let path = folder.join(&entry.name);
                    let hint = "go on from another checkpoint; `cartridge fsck --repair` moves \
                                this one to damaged/ in the run's folder";
                    self.find(Fault::DamagedCheckpoint, Some(id), &path, detail, hint, |_| {
                        set_aside(dir, id, &entry.name)
                    });
                    if !self.repair {
                        whole.push(entry.name);
                    }
                }
            }
        }
        whole.sort_by_key(|name| (name.len(), name.clone()));
        for alias in [Alias::Latest, Alias::Best] {
            let path = folder.join(alias.file());
            let newest = whole.last().cloned();
            // A link that leads nowhere is there, too, and whoever writes beside replaces it.
            let is_there = path.symlink_metadata().is_ok();
            let is_due = alias == Alias::Latest && is_ours && newest.is_some();
            let is_good = checkpoint::named(dir, alias).is_some_and(|n| whole.contains(&n));
            if is_good || (!is_there && !is_due) {
                continue;
            }
            let detail = if is_there {
                "it names a checkpoint that is not there"
            } else {
                "it is missing, and there are checkpoints"
            };
            let hint = match (alias, &newest) {
                (Alias::Latest, Some(_)) => {
                    "`cartridge fsck --repair` points it to the newest whole checkpoint"
                }
                _ => "`cartridge fsck --repair` removes it",
            };
            self.find(Fault::DanglingAlias, Some(id), &path, detail, hint, |_| {
                match (alias, &newest) {
                    (Alias::Latest, Some(name)) => checkpoint::point(dir, alias, name),
                    _ => {
                        fs::remove_file(&path).map_err(StoreError::io(&path))?;
                        Ok(sync_parent(&path)?)
                    }
                }
            });
        }
        Ok(())
    }

    fn artifacts(&mut self, dir: &RunDir, subject: &Subject) -> Result<()> {
        let id = &subject.run;
        let path = artifacts::list_path(dir);
        let list = match ArtifactList::read(dir) {
            Ok(Some(list)) => list,
            // Nobody has looked yet, as in runs of older versions.
            Ok(None) => {
                if self.repair {
                    discovery::look(dir, subject, self.now, u64::MAX)?;
                }
                return Ok(());
            }
            Err(error) => {
                let hint = "`cartridge fsck --repair` makes it anew from the files; which of \
                            them were pinned is then known for checkpoints only";
                self.find(Fault::DamagedList, Some(id), &path, error.to_string(), hint, |check| {
                    Locked::begin_anew(dir, id)?.save()?;
                    discovery::look(dir, subject, check.now, u64::MAX)?;
                    Ok(())
                });
                return Ok(());
            }
        };
        let now = self.now;
        let look = move |_: &mut Self| discovery::look(dir, subject, now, u64::MAX).map(|_| ());
        let found = discovery::scan(dir, subject, self.now)?;
        for artifact in &list.artifacts {
            self.report.n_artifacts += 1;
            let base = base_folder(dir, artifact.base);
            let place = dir.path().join(&artifact.path);
            let measure = base
                .as_ref()
                .ok()
                .and_then(|base| artifacts::measure(base, &artifact.path).ok().flatten());
            let (Some(measure), Ok(base)) = (measure, base) else {
                let hint = "`cartridge fsck --repair` drops it from the list";
                let detail = format!("{} is listed and not on disk", artifact.id);
                self.find(Fault::MissingArtifact, Some(id), &place, detail, hint, look);
                continue;
            };
            let sum = artifacts::hash(&base, &artifact.path, artifact.is_folder).ok();
            let is_same = measure.size_bytes == artifact.size_bytes
                && (artifact.sha256.is_none() || sum == artifact.sha256);
            if !is_same {
                let hint = "if you did not change it, bring it back from a backup; \
                            `cartridge fsck --repair` lists it as it is now";
                let detail = format!("{} is not as it was listed", artifact.id);
                let wanted = artifact.id.clone();
                self.find(Fault::ChangedArtifact, Some(id), &place, detail, hint, |check| {
                    let mut locked = Locked::open(dir, id)?;
                    let known = locked.list.artifacts.iter_mut().find(|a| a.id == wanted);
                    if let Some(known) = known {
                        known.size_bytes = measure.size_bytes;
                        known.n_files = measure.n_files;
                        known.modified_at = measure.modified_at;
                        known.sha256 = sum;
                    }
                    locked.save()?;
                    drop(locked);
                    look(check)
                });
            }
        }
        for found in found {
            let is_listed = list
                .artifacts
                .iter()
                .any(|known| (known.base, &known.path) == (found.base, &found.path));
            // What others may use too is shown when it is found in time, and not missed.
            if !is_listed && !found.shared {
                let place = dir.path().join(&found.path);
                let hint = "`cartridge fsck --repair`, or the lab's next look, lists it";
                let detail = "it is on disk and in no list";
                self.find(Fault::UnnamedArtifact, Some(id), &place, detail, hint, look);
            }
        }
        if !list.untold.is_empty() {
            let detail = format!("{} changes are not in the run's events yet", list.untold.len());
            let hint = "`cartridge fsck --repair`, or the lab's next look, writes them";
            self.find(Fault::UntoldArtifact, Some(id), &path, detail, hint, look);
        }
        Ok(())
    }
}

/// Whether a file was written beside its place, to be renamed.
fn is_beside(name: &str) -> bool {
    name.rsplit_once(".new-")
        .is_some_and(|(_, end)| end.len() == 16 && end.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn is_empty_but_left_overs(folder: &Path) -> bool {
    let entries = Beneath::open(folder).and_then(|folder| folder.entries());
    entries.is_ok_and(|entries| entries.iter().all(|entry| is_beside(&entry.name)))
}

/// What the lines of a file look like.
#[derive(Debug, Default)]
struct LineScan {
    n_lines: u64,
    n_bad: u64,
    first_bad: Option<u64>,
    torn_bytes: u64,
}

/// Reads a file line by line; nothing where there is none.
fn scan_lines(path: &Path, is_good: impl Fn(&[u8]) -> bool) -> io::Result<Option<LineScan>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut scan = LineScan::default();
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line that does not end is not read into memory whole.
        let n = (&mut reader).take(8 * MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
        if n == 0 {
            return Ok(Some(scan));
        }
        if line.pop() != Some(b'\n') {
            scan.torn_bytes += n as u64;
            continue;
        }
        scan.n_lines += 1;
        if line.len() as u64 > MAX_LINE_BYTES || !is_good(&line) {
            scan.n_bad += 1;
            scan.first_bad.get_or_insert(scan.n_lines);
        }
    }
}

/// Moves the lines that cannot be read to another file. The bad ones are durable there before the
/// file is replaced.
fn move_bad_lines(path: &Path, aside: &Path, is_good: impl Fn(&[u8]) -> bool) -> Result<()> {
    let io = |error| StoreError::io(path)(error);
    // Held, so that no writer comes in between.
    let held = Appender::open_at_once(path)?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".new-{:016x}", std::process::id()));
    let beside = PathBuf::from(beside);
    let moved = (|| {
        let mut reader = BufReader::new(File::open(path)?);
        let mut good = BufWriter::new(File::create(&beside)?);
        let mut bad = File::options().create(true).append(true).open(aside)?;
        bad.seek(SeekFrom::End(0))?;
        let mut line = Vec::new();
        loop {
            line.clear();
            if reader.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            if text.len() as u64 <= MAX_LINE_BYTES && is_good(text) {
                good.write_all(&line)?;
            } else {
                bad.write_all(&line)?;
            }
        }
        bad.sync_all()?;
        good.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&beside, path)
    })();
    if moved.is_err() {
        _ = fs::remove_file(&beside);
    }
    moved.map_err(io)?;
    drop(held);
    Ok(sync_parent(path)?)
}

/// What is wrong with a checkpoint. One that has no manifest of ours is a foreign trainer's, and
/// nobody can tell.
fn checkpoint_fault(folder: &Path) -> Option<String> {
    let text = match fs::read(folder.join("manifest.json")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let is_ours = folder.join("weights.safetensors").exists();
            return is_ours.then(|| "its manifest.json is missing".to_owned());
        }
        Err(error) => return Some(format!("its manifest.json cannot be read: {error}")),
        Ok(text) => text,
    };
    let Ok(manifest) = serde_json::from_slice::<Value>(&text) else {
        return Some("its manifest.json is no JSON".to_owned());
    };
    for part in manifest["parts"].as_array().into_iter().flatten() {
        let name = part["file"].as_str().unwrap_or_default();
        let content = Beneath::open(folder).and_then(|folder| {
            let mut content = Vec::new();
            folder.file(name)?.read_to_end(&mut content)?;
            Ok(content)
        });
        let Ok(content) = content else { return Some(format!("its {name} is missing")) };
        let sum: String =
            Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
        if part["sha256"] != sum.as_str() {
            return Some(format!("its {name} is not the file that its manifest names"));
        }
    }
    let wanted = manifest["weights_sha256"].as_str()?;
    match fs::read(folder.join("weights.safetensors")) {
        Err(_) => Some("its weights are missing".to_owned()),
        Ok(bytes) => {
            let sha256 = match manifest["env_id"].as_str().is_some_and(is_game) {
                true => BoardNet::from_safetensors(&bytes).map(|network| network.sha256()),
                false => Policy::from_safetensors(&bytes).map(|policy| policy.sha256()),
            };
            match sha256 {
                Err(error) => Some(format!("its weights cannot be read: {error}")),
                Ok(sha256) if sha256 != wanted => {
                    Some("its weights are not those that its manifest names".to_owned())
                }
                Ok(_) => None,
            }
        }
    }
}

/// Moves a damaged checkpoint out of the way; it is dropped from the list before it moves.
fn set_aside(dir: &RunDir, id: &RunId, name: &str) -> Result<()> {
    let mut locked = Locked::open(dir, id)?;
    let path = format!("checkpoints/{name}");
    let listed = locked
        .list
        .artifacts
        .iter()
        .find(|artifact| artifact.kind == ArtifactKind::Checkpoint && artifact.path == path);
    if let Some(id) = listed.map(|artifact| artifact.id.clone()) {
        locked.list.drop(&id);
        locked.save()?;
    }
    let damaged = dir.path().join("damaged");
    fs::create_dir_all(&damaged).map_err(StoreError::io(&damaged))?;
    let mut place = damaged.join(name);
    let mut n = 1;
    while place.exists() {
        n += 1;
        place = damaged.join(format!("{name}-{n}"));
    }
    fs::rename(dir.path().join(path), &place).map_err(StoreError::io(&place))?;
    sync_parent(&place)?;
    Ok(sync_parent(&dir.checkpoints_path().join(name))?)
}

#[cfg(test)]
mod tests;
