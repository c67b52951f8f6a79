//! Browsers that have logged out: `data/sessions.json`.
//!
//! What a login may do is signed into its cookie, so a lab need not remember those who are in. It
//! remembers those who have left, until their cookies end by themselves: a copy of the cookie is
//! worth nothing after the logout, also across a restart.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use cartridge_store::data_dir::write_secret_beside;
use cartridge_store::{DataDir, StoreError};
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Format of `data/sessions.json`.
const FORMAT: u32 = 1;

/// The sessions that were ended before their time.
#[derive(Debug)]
pub struct EndedSessions {
    path: PathBuf,
    /// When each would have ended by itself, by its id.
    ended: Mutex<BTreeMap<String, f64>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SessionFile {
    format: u32,
    ended: BTreeMap<String, f64>,
}

impl EndedSessions {
    /// Reads those of a data folder.
    pub fn open(data: &DataDir) -> Result<Self> {
        let path = data.path().join("sessions.json");
        let ended = match fs::read(&path) {
            Ok(text) => {
                let file: SessionFile = serde_json::from_slice(&text).map_err(|error| {
                    StoreError::Damaged { path: path.clone(), detail: error.to_string() }
                })?;
                if file.format > FORMAT {
                    let (found, known) = (file.format, FORMAT);
                    return Err(StoreError::NewerFormat { path, found, known }.into());
                }
                file.ended
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(StoreError::io(&path)(error).into()),
        };
        Ok(Self { path, ended: Mutex::new(ended) })
    }

    /// Whether a session was ended.
    pub fn contains(&self, id: &str) -> bool {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).contains_key(id)
    }

    /// Ends a session that would have ended by itself at `expiry`.
    pub fn end(&self, id: &str, expiry: f64, now: f64) -> Result<()> {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.retain(|_, expiry| now <= *expiry);
        ended.insert(id.to_owned(), expiry);
        let file = SessionFile { format: FORMAT, ended: ended.clone() };
        let text = serde_json::to_vec(&file).expect("sessions are plain data");
        Ok(write_secret_beside(&self.path, &text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_ended_stays_so_until_nobody_can_use_it() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path()).unwrap();
        let sessions = EndedSessions::open(&data).unwrap();
        sessions.end("a", 100.0, 1.0).unwrap();
        sessions.end("b", 200.0, 2.0).unwrap();
        let again = EndedSessions::open(&data).unwrap();
        assert!(again.contains("a") && again.contains("b") && !again.contains("c"));
        again.end("c", 300.0, 150.0).unwrap();
        assert!(!again.contains("a") && again.contains("b"), "its cookie ended by itself");
    }
}
