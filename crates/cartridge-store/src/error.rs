//! What can go wrong with the data folder.

use std::io;
use std::path::{Path, PathBuf};

/// Every way in which storing or reading can fail.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file or folder could not be used.
    #[error("{}: {source}", path.display())]
    Io {
        /// What was being used.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The data folder cannot take data.
    #[error("cannot write to the data folder {}: {source}\nhint: {hint}", path.display())]
    Unwritable {
        /// The data folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
        /// What to do about it.
        hint: &'static str,
    },
    /// The folder holds no data of ours.
    #[error("{} holds no runs\nhint: choose the data folder with --data", .0.display())]
    NoData(PathBuf),
    /// The data was written by a later version.
    #[error(
        "{} has format {found}, and this version knows formats up to {known}\n\
         hint: use the newer cartridge that wrote it, or another folder with --data", path.display()
    )]
    NewerFormat {
        /// The file or folder.
        path: PathBuf,
        /// Its format number.
        found: u32,
        /// The newest format that this version reads.
        known: u32,
    },
    /// The data was written by a version that is too old.
    #[error(
        "{} has format {found}, and this version knows formats from {oldest} on\n\
         hint: open it once with an older cartridge, or choose another folder with --data", path.display()
    )]
    OlderFormat {
        /// The data folder.
        path: PathBuf,
        /// Its format number.
        found: u32,
        /// The oldest format that this version can bring up to date.
        oldest: u32,
    },
    /// Data cannot be brought up to date while a lab uses it.
    #[error(
        "a lab is at work on {}, whose data is of an older format\n\
         hint: end that lab first", .0.display()
    )]
    InUse(PathBuf),
    /// A file holds something that it should not.
    #[error("{} is damaged: {detail}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// A file that was read before is shorter now, or another one.
    #[error("{} is not the file that it was; it is read again from the start", .0.display())]
    Rewound(PathBuf),
    /// No such run.
    #[error("there is no run `{0}`")]
    NoSuchRun(String),
    /// No such experiment.
    #[error("there is no experiment `{0}`")]
    NoSuchExperiment(String),
    /// No such group of runs.
    #[error("there is no group of runs `{0}`")]
    NoSuchGroup(String),
    /// No such artifact.
    #[error("there is no artifact `{0}` in this run; it may have been pruned")]
    NoSuchArtifact(String),
    /// No such model.
    #[error("there is no model `{0}`; `cartridge models list` shows those that there are")]
    NoSuchModel(String),
    /// The model has no such version.
    #[error("model `{model}` has no version or alias `{which}`")]
    NoSuchVersion {
        /// The model.
        model: String,
        /// What was asked for.
        which: String,
    },
    /// The index could not be used.
    #[error("the index: {0}")]
    Index(#[from] rusqlite::Error),
    /// The games of self-play could not be used.
    #[error("{}: {source}", path.display())]
    Replay {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The index holds something that it should not.
    #[error("the index: {0}")]
    IndexContent(String),
}

/// Why a disk cannot take data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskTrouble {
    /// There is no room.
    Full,
    /// There is no room for this user.
    OverQuota,
    /// It takes nothing from anybody.
    ReadOnly,
}

/// The crate's result.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

impl StoreError {
    /// Whether the index is damaged, which making it anew mends.
    pub fn is_index_damage(&self) -> bool {
        let code = match self {
            Self::IndexContent(_) => return true,
            Self::Index(error) => error.sqlite_error_code(),
            _ => return false,
        };
        matches!(
            code,
            Some(rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt)
        )
    }

    /// Whether the index could not be written: a full disk, a folder without permission. It is as
    /// it was, and the next try may work.
    pub fn is_index_unwritable(&self) -> bool {
        use rusqlite::ErrorCode::{
            CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, FileLockingProtocolFailed,
            OutOfMemory, PermissionDenied, ReadOnly, SystemIoFailure,
        };
        let Self::Index(error) = self else { return false };
        matches!(
            error.sqlite_error_code(),
            Some(
                CannotOpen
                    | DatabaseBusy
                    | DatabaseLocked
                    | DiskFull
                    | FileLockingProtocolFailed
                    | OutOfMemory
                    | PermissionDenied
                    | ReadOnly
                    | SystemIoFailure
            )
        )
    }

    /// Why the disk cannot take data, where that is what went wrong.
    pub fn disk_trouble(&self) -> Option<DiskTrouble> {
        use rustix::io::Errno;
        let source = match self {
            Self::Io { source, .. } | Self::Unwritable { source, .. } => source,
            Self::Index(error) | Self::Replay { source: error, .. } => {
                return match error.sqlite_error_code() {
                    Some(rusqlite::ErrorCode::DiskFull) => Some(DiskTrouble::Full),
                    Some(rusqlite::ErrorCode::ReadOnly) => Some(DiskTrouble::ReadOnly),
                    _ => None,
                };
            }
            _ => return None,
        };
        match Errno::from_io_error(source)? {
            Errno::NOSPC => Some(DiskTrouble::Full),
            Errno::DQUOT => Some(DiskTrouble::OverQuota),
            Errno::ROFS => Some(DiskTrouble::ReadOnly),
            _ => None,
        }
    }

    /// The file or folder that the system complained about.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Io { path, .. } | Self::Unwritable { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Wraps what the system said about `path`.
    pub fn io(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Io { path, source }
    }
}
