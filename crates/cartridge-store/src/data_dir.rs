//! The data folder: one place for everything that the lab keeps.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::migrate;
use crate::run_dir::{RunDir, RunId};

/// Format of the data folder; raised when older versions could not read it any more.
pub const FORMAT: u32 = 1;

/// An opened data folder.
#[derive(Clone, Debug)]
pub struct DataDir {
    path: PathBuf,
}

impl DataDir {
    /// Opens the folder, creating it if needed, and proves that it takes data.
    ///
    /// A full disk or a read-only folder is found here, before anything is started, and not by
    /// the first run that loses its metrics.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let unwritable = |source: io::Error| {
            let hint = match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "the disk is full; free some space, or choose another folder with --data"
                }
                io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                    "a file is in the way; choose another folder with --data"
                }
                _ => "check its permissions, or choose another folder with --data",
            };
            StoreError::Unwritable { path: path.clone(), source, hint }
        };
        fs::create_dir_all(path.join("runs")).map_err(unwritable)?;
        // Absolute, because supervisors and workers are started with it.
        let path = path.canonicalize().map_err(unwritable)?;
        let probe =
            path.join(format!(".probe-{}-{:?}", std::process::id(), std::thread::current().id()));
        let written = File::create(&probe)
            .and_then(|mut file| file.write_all(&[b'.'; 64 * 1024]).and_then(|()| file.sync_all()));
        // The probe may be all that fits: it is removed whether or not it could be written.
        let removed = fs::remove_file(&probe);
        written.and(removed).map_err(unwritable)?;

        let dir = Self { path };
        if !dir.check_format()? {
            write_beside(&dir.path.join("format"), format!("{FORMAT}\n").as_bytes())?;
        }
        Ok(dir)
    }

    /// Opens a folder that is there already, to read it or to add to its runs. Nothing is made,
    /// and a full disk is no obstacle.
    pub fn open_existing(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if !path.join("runs").is_dir() {
            return Err(StoreError::NoData(path.to_owned()));
        }
        let dir = Self { path: path.canonicalize().map_err(StoreError::io(path))? };
        dir.check_format()?;
        Ok(dir)
    }

    /// Opens a folder as it is, whether or not it is there: for those who look what is in it and can
    /// do with nothing. Nothing is made.
    pub fn look(path: impl AsRef<Path>) -> Result<Self> {
        match Self::open_existing(&path) {
            Err(StoreError::NoData(path)) => Ok(Self { path }),
            opened => opened,
        }
    }

    /// Refuses data of a later version and brings that of an earlier one up to date; says whether
    /// the folder has its format written down.
    fn check_format(&self) -> Result<bool> {
        let path = self.path.join("format");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(StoreError::io(&path)(error)),
        };
        let found: u32 = text.trim().parse().map_err(|_| StoreError::Damaged {
            path: path.clone(),
            detail: format!("`{}` is no format number", text.trim()),
        })?;
        if found > FORMAT {
            return Err(StoreError::NewerFormat { path: self.path.clone(), found, known: FORMAT });
        }
        if found < FORMAT {
            migrate::migrate(&self.path, found, FORMAT, migrate::STEPS)?;
        }
        Ok(true)
    }

    /// Where it is, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the index is.
    pub fn index_path(&self) -> PathBuf {
        self.path.join("cartridge.db")
    }

    /// The folder of a run, whether or not it exists.
    pub fn run(&self, id: &RunId) -> RunDir {
        RunDir::new(self.path.join("runs").join(id.as_str()))
    }

    /// The ids of all runs on disk, in no particular order.
    pub fn run_ids(&self) -> Result<Vec<RunId>> {
        let runs = self.path.join("runs");
        let mut ids = Vec::new();
        for entry in fs::read_dir(&runs).map_err(StoreError::io(&runs))? {
            let entry = entry.map_err(StoreError::io(&runs))?;
            // What does not look like a run is not ours: an editor's back-up, a half-made folder.
            ids.extend(entry.file_name().to_str().and_then(|name| name.parse().ok()));
        }
        Ok(ids)
    }
}

/// Writes a file so that a reader sees either the old content or the new, never a part. One that
/// its owner has closed to others stays closed: `lab.json` may hold the address of a webhook.
pub fn write_beside(path: &Path, content: &[u8]) -> Result<()> {
    let open_to = fs::metadata(path).map_or(0o066, |there| there.permissions().mode() & 0o066);
    write_beside_with_mode(path, content, 0o600 | open_to)
}

/// [`write_beside`] for a file that only its owner may read.
pub fn write_secret_beside(path: &Path, content: &[u8]) -> Result<()> {
    write_beside_with_mode(path, content, 0o600)
}

fn write_beside_with_mode(path: &Path, content: &[u8], mode: u32) -> Result<()> {
    // A name of its own, so that two writers at once do not write into the same file.
    let mut suffix = [0; 8];
    getrandom::fill(&mut suffix).expect("the system has randomness");
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".new-{:016x}", u64::from_ne_bytes(suffix)));
    let beside = PathBuf::from(beside);
    let written = File::options()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&beside)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&beside, path));
    if let Err(error) = written {
        _ = fs::remove_file(&beside);
        return Err(StoreError::io(path)(error));
    }
    sync_parent(path)
}

/// Makes the names in the folder of `path` durable.
pub fn sync_parent(path: &Path) -> Result<()> {
    let parent = path.parent().expect("files of the lab live in folders");
    File::open(parent).and_then(|folder| folder.sync_all()).map_err(StoreError::io(parent))
}

#[cfg(test)]
mod tests;
