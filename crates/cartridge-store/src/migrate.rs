//! Data of older versions, brought up to date when it is opened.
//!
//! A data folder says its format in a file of that name. Each [`Step`] leads from one format to
//! the next. Before it changes anything, what it will change is copied to
//! `backup/<format>-<time>/`; the new number is written last. A step that was interrupted is taken
//! again from the start, so steps must bear being repeated. The index is no part of this: an index
//! of an older format is made anew from the files.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::data_dir::{sync_parent, write_beside};
use crate::error::{Result, StoreError};

/// The way from one format of the data folder to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The format that it starts from.
    pub(crate) from: u32,
    /// The files that it will change, relative to the data folder.
    pub(crate) touches: fn(&Path) -> Result<Vec<PathBuf>>,
    /// Changes them.
    pub(crate) apply: fn(&Path) -> Result<()>,
}

/// Every step that there is. Format 1 is the first, so there is none yet.
pub(crate) const STEPS: &[Step] = &[];

/// Takes the steps from format `found` to format `wanted`.
pub(crate) fn migrate(data: &Path, found: u32, wanted: u32, steps: &[Step]) -> Result<()> {
    let lock_path = data.join("lab.lock");
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&lock_path)
        .map_err(StoreError::io(&lock_path))?;
    if lock.try_lock().is_err() {
        return Err(StoreError::InUse(data.to_owned()));
    }
    for format in found..wanted {
        let Some(step) = steps.iter().find(|step| step.from == format) else {
            let oldest = steps.iter().map(|step| step.from).min().unwrap_or(wanted);
            return Err(StoreError::OlderFormat { path: data.to_owned(), found, oldest });
        };
        back_up(data, format, &(step.touches)(data)?)?;
        (step.apply)(data)?;
        write_beside(&data.join("format"), format!("{}\n", format + 1).as_bytes())?;
    }
    Ok(())
}

/// Copies files to a folder of their own, which has its name only when it is whole.
fn back_up(data: &Path, format: u32, files: &[PathBuf]) -> Result<PathBuf> {
    let backups = data.join("backup");
    let beside = backups.join(format!(".{format}-new"));
    let made = (|| {
        fs::create_dir_all(&backups)?;
        if beside.exists() {
            // An earlier try was interrupted.
            fs::remove_dir_all(&beside)?;
        }
        fs::create_dir(&beside)?;
        for file in files {
            let copy = beside.join(file);
            fs::create_dir_all(copy.parent().unwrap_or(&beside))?;
            fs::copy(data.join(file), &copy)?;
            File::open(&copy)?.sync_all()?;
        }
        // The time of day is the file system's: nothing here reads a clock.
        let time = fs::metadata(&beside)?.modified()?;
        let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs());
        let place = (seconds..)
            .map(|seconds| backups.join(format!("{format}-{seconds}")))
            .find(|place| !place.exists())
            .ok_or(io::ErrorKind::AlreadyExists)?;
        fs::rename(&beside, &place)?;
        Ok(place)
    })()
    .map_err(StoreError::io(&backups))?;
    sync_parent(&made)?;
    Ok(made)
}

#[cfg(test)]
mod tests;
