//! `data/experiments/<id>.json`: templates of runs, written once and never changed.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::data_dir::{DataDir, sync_parent, write_beside};
use crate::error::{Result, StoreError};
use crate::run_dir::{is_name, random_name};

/// The name of an experiment: `e-` and six characters, made by the lab.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ExperimentId(String);

impl ExperimentId {
    /// A new random name.
    pub fn random() -> Self {
        Self(random_name("e-"))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ExperimentId {
    type Err = StoreError;

    /// Accepts exactly what [`ExperimentId::random`] makes, so that a name is never a path.
    fn from_str(text: &str) -> Result<Self> {
        match is_name("e-", text) {
            true => Ok(Self(text.to_owned())),
            false => Err(StoreError::NoSuchExperiment(text.to_owned())),
        }
    }
}

impl TryFrom<String> for ExperimentId {
    type Error = StoreError;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<ExperimentId> for String {
    fn from(id: ExperimentId) -> Self {
        id.0
    }
}

impl AsRef<str> for ExperimentId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ExperimentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The name of runs that were made together: `g-` and six characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GroupId(String);

impl GroupId {
    /// A new random name.
    pub fn random() -> Self {
        Self(random_name("g-"))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for GroupId {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self> {
        match is_name("g-", text) {
            true => Ok(Self(text.to_owned())),
            false => Err(StoreError::NoSuchGroup(text.to_owned())),
        }
    }
}

impl TryFrom<String> for GroupId {
    type Error = StoreError;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<GroupId> for String {
    fn from(id: GroupId) -> Self {
        id.0
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A template of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Format of the file.
    pub format: u32,
    /// Its name.
    pub id: ExperimentId,
    /// Its name for people.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The preset that it was laid over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The configuration as it was given.
    pub given: Map<String, Value>,
    /// What that came to: every setting.
    pub config: Value,
    /// Hash of the configuration: two with the same hash train the same.
    pub sha256: String,
    /// When it was made.
    pub created_at: f64,
    /// Who made it.
    pub created_by: String,
    /// The experiment that it was cloned from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cloned_from: Option<ExperimentId>,
    /// Version of the product that made it.
    pub cartridge_version: String,
}

impl Experiment {
    /// The newest format of the file.
    pub const FORMAT: u32 = 1;

    /// Writes one: `make` is called with the name that was found free.
    pub fn create(data: &DataDir, make: impl FnOnce(ExperimentId) -> Self) -> Result<Self> {
        let folder = folder(data);
        fs::create_dir_all(&folder).map_err(StoreError::io(&folder))?;
        // The empty file holds the name until the whole one takes its place.
        let (id, path) = loop {
            let id = ExperimentId::random();
            let path = path(data, &id);
            match File::create_new(&path).and_then(|mut file| file.flush()) {
                Ok(()) => break (id, path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(StoreError::io(&path)(error)),
            }
        };
        let experiment = make(id);
        let text = serde_json::to_vec_pretty(&experiment).expect("an experiment is plain data");
        if let Err(error) = write_beside(&path, &text) {
            _ = fs::remove_file(&path);
            return Err(error);
        }
        sync_parent(&folder)?;
        Ok(experiment)
    }

    /// Reads one.
    pub fn read(data: &DataDir, id: &ExperimentId) -> Result<Self> {
        let path = path(data, id);
        let text = match fs::read(&path) {
            Ok(text) if !text.is_empty() => text,
            // One without a word is being made, or was never finished.
            Ok(_) => return Err(StoreError::NoSuchExperiment(id.to_string())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::NoSuchExperiment(id.to_string()));
            }
            Err(error) => return Err(StoreError::io(&path)(error)),
        };
        let damaged = |detail: String| StoreError::Damaged { path: path.clone(), detail };
        let experiment: Self =
            serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        if experiment.format > Self::FORMAT {
            let (found, known) = (experiment.format, Self::FORMAT);
            return Err(StoreError::NewerFormat { path, found, known });
        }
        if experiment.id != *id {
            return Err(damaged(format!("it is experiment {}; is this a copy?", experiment.id)));
        }
        Ok(experiment)
    }

    /// Id of its environment.
    pub fn env_id(&self) -> &str {
        self.config["env_id"].as_str().unwrap_or_default()
    }

    /// Its algorithm.
    pub fn algo(&self) -> &str {
        self.config["algo"].as_str().unwrap_or_default()
    }
}

/// The names of all experiments on disk, in no particular order.
pub fn ids(data: &DataDir) -> Result<Vec<ExperimentId>> {
    let folder = folder(data);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io(&folder)(error)),
    };
    let mut ids = Vec::new();
    for entry in entries {
        let name = entry.map_err(StoreError::io(&folder))?.file_name();
        ids.extend(name.to_str().and_then(|name| name.strip_suffix(".json")?.parse().ok()));
    }
    Ok(ids)
}

/// Where they are.
pub fn folder(data: &DataDir) -> PathBuf {
    data.path().join("experiments")
}

fn path(data: &DataDir, id: &ExperimentId) -> PathBuf {
    folder(data).join(format!("{id}.json"))
}

#[cfg(test)]
mod tests;
