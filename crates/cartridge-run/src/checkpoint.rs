//! Policies on disk: `checkpoints/step_000200000/` and the names `latest` and `best`.
//!
//! A checkpoint is written into a folder beside its place, made durable, and renamed: a reader
//! finds a whole checkpoint or none. `latest` and `best` are small files that hold a folder name.

use std::fs::{self, File};
use std::io::Write as _;

use cartridge_learn::policy::Policy;
use cartridge_store::data_dir::{sync_parent, write_beside};
use cartridge_store::{Pruned, RunDir, RunId, StoreError};
use serde::{Deserialize, Serialize};

use crate::config::Retention;
use crate::discovery::{self, NewCheckpoint};
use crate::error::{Result, RunError};

const FORMAT: u32 = 1;
const WEIGHTS: &str = "weights.safetensors";

/// What a checkpoint holds: its `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointManifest {
    /// Format of the folder.
    pub format: u32,
    /// Environment steps so far.
    pub step: u64,
    /// The environment.
    pub env_id: String,
    /// Hash of the weights.
    pub weights_sha256: String,
}

/// A name that points to a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alias {
    /// The newest.
    Latest,
    /// The one with the best evaluation.
    Best,
}

impl Alias {
    /// The file below `checkpoints/`.
    pub fn file(self) -> &'static str {
        match self {
            Self::Latest => "latest",
            Self::Best => "best",
        }
    }
}

/// Writes a checkpoint, points `latest` to it, and returns its folder name.
pub fn save(dir: &RunDir, env_id: &str, step: u64, policy: &Policy) -> Result<String> {
    let folder = dir.checkpoints_path();
    fs::create_dir_all(&folder).map_err(StoreError::io(&folder))?;
    let name = format!("step_{step:09}");
    let place = folder.join(&name);
    if !place.exists() {
        let beside = folder.join(format!(".{name}"));
        // Left behind by a crash, if it is there.
        _ = fs::remove_dir_all(&beside);
        fs::create_dir(&beside).map_err(StoreError::io(&beside))?;
        let manifest = CheckpointManifest {
            format: FORMAT,
            step,
            env_id: env_id.to_owned(),
            weights_sha256: policy.sha256(),
        };
        let text = serde_json::to_vec_pretty(&manifest).expect("a manifest is plain data");
        for (file, content) in [(WEIGHTS, policy.to_safetensors()), ("manifest.json", text)] {
            let path = beside.join(file);
            File::create(&path)
                .and_then(|mut file| file.write_all(&content).and_then(|()| file.sync_all()))
                .map_err(StoreError::io(&path))?;
        }
        // The names in the new folder first, then its own.
        sync_parent(&beside.join(WEIGHTS))?;
        fs::rename(&beside, &place).map_err(StoreError::io(&place))?;
        sync_parent(&place)?;
    }
    point(dir, Alias::Latest, &name)?;
    Ok(name)
}

/// Points an alias to a checkpoint.
pub fn point(dir: &RunDir, alias: Alias, name: &str) -> Result<()> {
    Ok(write_beside(&dir.checkpoints_path().join(alias.file()), format!("{name}\n").as_bytes())?)
}

/// The checkpoint that an alias points to, if there is one.
pub fn named(dir: &RunDir, alias: Alias) -> Option<String> {
    let text = fs::read_to_string(dir.checkpoints_path().join(alias.file())).ok()?;
    // A name is never a path, whatever is in the file.
    Some(text.trim().to_owned()).filter(|name| is_name(name))
}

/// Reads the checkpoint that `alias` points to.
pub fn load(dir: &RunDir, run: &RunId, alias: Alias) -> Result<(CheckpointManifest, Policy)> {
    let name = named(dir, alias).ok_or_else(|| RunError::NoCheckpoint(run.clone()))?;
    let folder = dir.checkpoints_path().join(&name);
    let path = folder.join("manifest.json");
    let text = fs::read(&path).map_err(StoreError::io(&path))?;
    let manifest: CheckpointManifest = serde_json::from_slice(&text)
        .map_err(|error| StoreError::Damaged { path: path.clone(), detail: error.to_string() })?;
    if manifest.format > FORMAT {
        return Err(StoreError::NewerFormat { path, found: manifest.format, known: FORMAT }.into());
    }
    let path = folder.join(WEIGHTS);
    let bytes = fs::read(&path).map_err(StoreError::io(&path))?;
    let policy = Policy::from_safetensors(&bytes).map_err(|source| RunError::Policy {
        run: run.clone(),
        name,
        source,
    })?;
    if policy.sha256() != manifest.weights_sha256 {
        let detail = "the weights are not those that the manifest names".to_owned();
        return Err(StoreError::Damaged { path, detail }.into());
    }
    Ok((manifest, policy))
}

/// Names the newest checkpoint in the run's list of artifacts and removes the oldest beyond those
/// that are to be kept; those that an alias points to, milestones and pinned ones stay. Returns
/// what was removed.
pub fn prune(dir: &RunDir, retention: &Retention) -> Result<Vec<Pruned>> {
    let folder = dir.checkpoints_path();
    let mut names: Vec<String> = fs::read_dir(&folder)
        .map_err(StoreError::io(&folder))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| is_name(name))
        .collect();
    names.sort();
    let newest = names.last().map(|name| NewCheckpoint {
        name: name.clone(),
        milestone: is_milestone(&names, retention.milestone_every_steps),
    });
    let keep = retention.keep_checkpoints;
    names.truncate(names.len().saturating_sub(keep as usize));
    let pointed = [named(dir, Alias::Latest), named(dir, Alias::Best)];
    names.retain(|name| !pointed.contains(&Some(name.clone())));
    let reason = format!("the newest {keep} are kept");
    discovery::turn_over(dir, newest.as_ref(), &names, &reason)
}

/// Whether the last of some checkpoints is the first at or after a multiple of `every` steps.
fn is_milestone(names: &[String], every: u64) -> bool {
    let step = |name: &String| name.strip_prefix("step_").and_then(|step| step.parse::<u64>().ok());
    let mut newest = names.iter().rev().filter_map(step);
    let (last, before) = (newest.next().unwrap_or(0), newest.next().unwrap_or(0));
    every > 0 && last / every > before / every
}

pub(crate) fn is_name(name: &str) -> bool {
    name.strip_prefix("step_")
        .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
