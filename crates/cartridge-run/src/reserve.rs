//! Room to tidy up in: a file that is there to be removed.
//!
//! Before something is removed, the list that names it is written anew without it, and on a disk
//! that is full to the last byte nothing can be written. So a little room is taken while there is
//! plenty, and given up when the janitor needs it.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use cartridge_store::beneath::Beneath;
use cartridge_store::{DataDir, StoreError};

use crate::error::Result;

/// Bytes that are kept: enough for many lists and lines of the audit.
const RESERVE_BYTES: usize = 1024 * 1024;

/// Bytes that must be free before they are taken.
const PLENTY_BYTES: u64 = 64 * RESERVE_BYTES as u64;

fn path(data: &DataDir) -> PathBuf {
    data.path().join("reserve")
}

fn free_bytes(data: &DataDir) -> Result<u64> {
    let folder = Beneath::open(data.path()).map_err(StoreError::io(data.path()))?;
    Ok(folder.space().map_err(StoreError::io(data.path()))?.0)
}

/// Takes the room, if it is not taken yet and there is plenty.
pub(crate) fn keep(data: &DataDir) -> Result<()> {
    let path = path(data);
    let is_whole = fs::metadata(&path).is_ok_and(|file| file.len() == RESERVE_BYTES as u64);
    if is_whole || free_bytes(data)? < PLENTY_BYTES {
        return Ok(());
    }
    let write = || {
        let mut file = File::create(&path)?;
        // Not zeros: a disk may keep those for nothing.
        file.write_all(&[0xA5; RESERVE_BYTES])?;
        file.sync_all()
    };
    Ok(write().map_err(StoreError::io(&path))?)
}

/// Gives the room up, if there is hardly any other.
pub(crate) fn spend(data: &DataDir) -> Result<()> {
    let path = path(data);
    if free_bytes(data)? >= RESERVE_BYTES as u64 || !path.exists() {
        return Ok(());
    }
    Ok(fs::remove_file(&path).map_err(StoreError::io(&path))?)
}
