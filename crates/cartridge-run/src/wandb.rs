//! Runs of `wandb` clients, which do not know that they talk to this lab.
//!
//! The lab only keeps what comes, in a folder of the run ([`folder`]): rows of metrics, console
//! and system metrics by their offsets, so that what is sent again adds nothing, and files. What is
//! kept is durable before it is acknowledged. A process of the run, started by the ordinary
//! supervisor, reads that folder and says it in the protocol of foreign trainers ([`relay`]). So
//! a lab that ends loses nothing, and to everything else in the lab this is a run like any other.
//!
//! What clients may ask is answered by `Lab` (`lab/wandb.rs`) from the same folder; the HTTP of it
//! is the server's.

pub mod folder;
pub mod relay;
pub mod row;

pub use self::folder::{Card, Chunk, Folder, Post};

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{Result, RunError};

/// The entity of runs that name none.
pub const ENTITY: &str = "lab";

/// The project of runs that name none, as W&B calls it.
pub const PROJECT: &str = "uncategorized";

/// The hidden command that stands in a run for its client.
pub const RELAY: &str = "wandb-relay";

/// How long a client may be silent before its run counts as crashed. It posts every 30 seconds, and
/// when the lab was away it tries again after a minute at most.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// How long a client that is asked to stop may take to hear of it and to say its last.
pub const STOP_GRACE: Duration = Duration::from_secs(180);

/// Runs of clients in one lab.
pub const MOST_RUNS: usize = 20_000;

/// Files of one run.
pub const MOST_FILES: usize = 2_000;

/// The largest file.
pub const MOST_FILE_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// What one run may keep in all.
pub const MOST_RUN_BYTES: u64 = 8 * 1024 * 1024 * 1024;

/// The longest name of an entity, a project or a run.
const MOST_NAME: usize = 128;

/// What a client calls its run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// Whose it is; any name will do.
    pub entity: String,
    /// What it belongs to.
    pub project: String,
    /// The id of the run.
    pub id: String,
}

impl Key {
    /// A key of names that can be one: short, and no path.
    pub fn new(entity: Option<&str>, project: Option<&str>, id: &str) -> Result<Self> {
        let entity = entity.filter(|name| !name.is_empty()).unwrap_or(ENTITY);
        let project = project.filter(|name| !name.is_empty()).unwrap_or(PROJECT);
        Ok(Self {
            entity: checked("entity", entity)?,
            project: checked("project", project)?,
            id: checked("run", id)?,
        })
    }
}

pub(crate) fn checked(what: &'static str, name: &str) -> Result<String> {
    let is_sound = (1..=MOST_NAME).contains(&name.len())
        && !matches!(name, "." | "..")
        && !name.chars().any(|c| c.is_control() || "/\\".contains(c));
    if is_sound {
        return Ok(name.to_owned());
    }
    Err(RunError::Wandb(format!(
        "the name of the {what} must have 1 to {MOST_NAME} bytes, without slashes: `{}`",
        name.chars().take(40).collect::<String>()
    )))
}

/// One step of a path, fit to stand in an address.
pub fn encoded(step: &str) -> String {
    let mut text = String::new();
    for byte in step.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte));
            }
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests;
