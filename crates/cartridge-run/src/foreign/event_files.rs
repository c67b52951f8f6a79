//! Metrics that a foreign trainer leaves in TensorBoard's event files, followed while they grow.
//!
//! Files are looked for below `runs/` in the run's folder and in the folder that the trainer was
//! started in, and wherever an `artifacts` line says that they are. In the run's folder, below a name
//! that is the run's, or where they were named, they are the run's; elsewhere they are if they have
//! come since the trainer was started, unless they bear another run's name or are written by a process
//! that works for another run. What was there before belongs to earlier attempts, and is not told again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use cartridge_store::artifacts::{Base, walk};
use cartridge_store::beneath::{Beneath, is_plain};
use cartridge_store::event_file::{Damage, EventReader, Told, WRITER};
use cartridge_store::{RunDir, RunId};

use crate::tensorboard::SHELF;

/// Bytes that one look reads, of all files together.
const LOOK_BYTES: u64 = 8 * 1024 * 1024;

/// Files that are followed.
const MAX_FILES: usize = 1_000;

/// Files that a look goes through to find them.
const MAX_SEEN: usize = 20_000;

/// How much is read at once.
const CHUNK: usize = 256 * 1024;

/// Where a file is.
type Place = (Base, String);

/// Scalars of one step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scalars {
    pub(super) step: u64,
    pub(super) values: Vec<(String, f64)>,
}

/// What a look gives.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub(super) scalars: Vec<Scalars>,
    /// What the log should say.
    pub(super) notes: Vec<String>,
    /// Whether there is more to be read at once.
    pub(super) has_more: bool,
}

/// The event files of one attempt.
#[derive(Debug)]
pub(super) struct EventFiles {
    run: String,
    own: PathBuf,
    work: Option<PathBuf>,
    /// Where `artifacts` lines say that there are some.
    named: BTreeSet<String>,
    /// How large the files were that were there before.
    before: HashMap<Place, u64>,
    followed: BTreeMap<Place, Followed>,
}

/// A file that is followed.
#[derive(Debug, Default)]
struct Followed {
    reader: EventReader,
    /// How far it was read.
    offset: u64,
    /// What ends up to here was told by an earlier attempt.
    told_before: u64,
    is_over: bool,
}

impl EventFiles {
    /// Notes what is there before the trainer is started. `work` is where it will be, and `named`
    /// what earlier attempts named.
    pub(super) fn new(dir: &RunDir, work: Option<&Path>, named: Vec<String>) -> Self {
        let run = dir.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let own = dir.path().to_owned();
        let work = work.filter(|work| work.is_absolute() && *work != own).map(Path::to_owned);
        let (before, followed) = (HashMap::new(), BTreeMap::new());
        let named = named.into_iter().collect();
        let mut files = Self { run, own, work, named, before, followed };
        files.before = files.find().into_iter().collect();
        files
    }

    /// Hears what the trainer has named.
    pub(super) fn name(&mut self, place: String) {
        self.named.insert(place);
    }

    /// Reads what is new.
    pub(super) fn look(&mut self) -> Look {
        let mut look = Look::default();
        let mut left = LOOK_BYTES;
        for (place, size) in self.find() {
            if !self.followed.contains_key(&place) {
                if self.followed.len() >= MAX_FILES || !self.is_ours(&place) {
                    continue;
                }
                let told_before = self.before.get(&place).copied().unwrap_or(0);
                self.followed
                    .insert(place.clone(), Followed { told_before, ..Followed::default() });
            }
            let Some(base) = self.folder(place.0) else { continue };
            let Some(followed) = self.followed.get_mut(&place) else { continue };
            followed.advance(&base, &place.1, size, &mut left, &mut look);
        }
        look
    }

    fn folder(&self, base: Base) -> Option<Beneath> {
        let path = match base {
            Base::Run => &self.own,
            Base::Work => self.work.as_ref()?,
        };
        Beneath::open(path).ok()
    }

    /// The event files that are there, with their sizes.
    fn find(&self) -> Vec<(Place, u64)> {
        let mut found: BTreeMap<Place, u64> = BTreeMap::new();
        let mut n_seen = 0;
        for base in [Base::Run, Base::Work] {
            let Some(folder) = self.folder(base) else { continue };
            let named = self.named.iter().filter_map(|place| self.below(base, place));
            for path in [SHELF.to_owned()].into_iter().chain(named) {
                let mut add = |path: String, size: u64| {
                    if path.rsplit('/').next().is_some_and(|name| name.contains("tfevents")) {
                        found.insert((base, path), size);
                    }
                };
                let Ok(inner) = folder.folder(&path) else {
                    // It may be a file, or nothing yet.
                    if let Ok(Some(entry)) = folder.entry(&path) {
                        add(path, entry.size_bytes);
                    }
                    continue;
                };
                // What cannot be read now is looked for again.
                _ = walk(&inner, &format!("{path}/"), 0, &mut |path, entry| {
                    n_seen += 1;
                    add(path.to_owned(), entry.size_bytes);
                    n_seen < MAX_SEEN
                });
            }
        }
        found.into_iter().collect()
    }

    /// A named place as a path below a folder.
    fn below(&self, base: Base, place: &str) -> Option<String> {
        let folder = match base {
            Base::Run => &self.own,
            Base::Work => self.work.as_ref()?,
        };
        let place = Path::new(place);
        let path = match place.strip_prefix(folder) {
            Ok(inner) => inner,
            Err(_) if place.is_absolute() => return None,
            Err(_) => place,
        };
        let path = path.to_str()?.trim_end_matches('/').trim_start_matches("./");
        is_plain(path).then(|| path.to_owned())
    }

    /// Whether a file holds metrics of this run.
    fn is_ours(&self, place: &Place) -> bool {
        let (base, path) = place;
        let is_within = |folder: &str| {
            let inner = path.strip_prefix(folder);
            inner.is_some_and(|inner| inner.is_empty() || inner.starts_with('/'))
        };
        let mut named = self.named.iter().filter_map(|named| self.below(*base, named));
        if *base == Base::Run || named.any(|folder| is_within(&folder)) {
            return true;
        }
        let bears_name = path.contains(&self.run);
        bears_name
            || !self.before.contains_key(place)
                && !bears_name_of_another(path)
                && !is_written_for_another(path, &self.run)
    }
}

/// Whether a step of a path is, or has in it, the name of a run.
fn bears_name_of_another(path: &str) -> bool {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.into_iter().any(|word| word.parse::<RunId>().is_ok())
}

/// Whether the process that a file names as its writer works for another run: TensorBoard's own
/// writer puts machine and process into the name.
fn is_written_for_another(path: &str, run: &str) -> bool {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let process = path
        .rsplit_once("tfevents.")
        .and_then(|(_, name)| name.split_once('.')?.1.strip_prefix(&host)?.strip_prefix('.'))
        .and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
    let Some(process) = process else { return false };
    // Where the system tells (Linux), and as long as it is there.
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let mut entries = environment.split(|&byte| byte == 0);
    let works_for = entries.find_map(|entry| entry.strip_prefix(b"CARTRIDGE_RUN_ID="));
    works_for.is_some_and(|other| other != run.as_bytes())
}

impl Followed {
    /// Reads on, as far as the file goes and `left` allows.
    fn advance(&mut self, base: &Beneath, path: &str, size: u64, left: &mut u64, look: &mut Look) {
        if self.is_over || size <= self.offset {
            if size < self.offset && !self.is_over {
                self.is_over = true;
                look.notes.push(format!("{path} was cut and is read no further"));
            }
            return;
        }
        let Ok(mut file) = base.file(path) else { return };
        if file.seek(SeekFrom::Start(self.offset)).is_err() {
            return;
        }
        let is_first = self.offset == 0;
        let mut chunk = vec![0; CHUNK];
        loop {
            if *left == 0 {
                look.has_more = true;
                break;
            }
            let want = chunk.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
            let Ok(n_read @ 1..) = file.read(&mut chunk[..want]) else { break };
            *left -= n_read as u64;
            self.offset += n_read as u64;
            let (told_before, mut is_own) = (self.told_before, false);
            self.reader.push(&chunk[..n_read], |event, end| match event.told {
                // What we have written ourselves is here already.
                Told::Version { writer } => is_own |= writer.as_deref() == Some(WRITER),
                Told::Scalars(values) if end > told_before && !is_own => {
                    look.scalars.push(Scalars { step: event.step.max(0) as u64, values });
                }
                Told::Scalars(_) | Told::Start | Told::Other => {}
            });
            if is_own {
                self.is_over = true;
                return;
            }
            if let Some(Damage { offset }) = self.reader.damage() {
                self.is_over = true;
                let why = format!("{path} is damaged at byte {offset} and is read no further");
                look.notes.push(why);
                return;
            }
        }
        if is_first {
            look.notes.push(format!("metrics are read from {path}"));
        }
    }
}

#[cfg(test)]
mod tests;
