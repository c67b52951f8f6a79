//! `data/models.json`: named models, and `data/models/<name>/<version>/` with their files.
//!
//! A version is a copy: it stays whatever becomes of the run that it was made from. Its folder is
//! whole before the list names it, and the list is written beside and renamed, so that it never
//! names a file that is not there. Versions are numbered from 1 and never change; only aliases,
//! notes and whether a model was put away do.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::beneath::Beneath;
use crate::data_dir::{DataDir, sync_parent, write_beside};
use crate::error::{Result, StoreError};
use crate::records::Parent;
use crate::run_dir::RunId;

/// The alias that every model has: its newest version.
pub const LATEST: &str = "latest";

/// The alias that people set, and that is meant where nobody says which version.
pub const BEST: &str = "best";

/// The longest name of a model, or of an alias.
const MOST_LETTERS: usize = 64;

/// The name of a model, chosen by people: small letters, digits, `-` and `_`, so that it is never
/// a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelName(String);

impl ModelName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether `text` is a word that models and aliases may be called.
pub fn is_word(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_sound = |byte: u8| is_letter(byte) || byte == b'-' || byte == b'_';
    text.len() <= MOST_LETTERS
        && text.bytes().next().is_some_and(is_letter)
        && text.bytes().all(is_sound)
}

impl FromStr for ModelName {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self> {
        match is_word(text) {
            true => Ok(Self(text.to_owned())),
            false => Err(StoreError::NoSuchModel(text.to_owned())),
        }
    }
}

impl TryFrom<String> for ModelName {
    type Error = StoreError;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<ModelName> for String {
    fn from(name: ModelName) -> Self {
        name.0
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The whole of `models.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelList {
    /// Format of the file.
    pub format: u32,
    /// The models, by name.
    pub models: Vec<Model>,
}

/// A named model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Its name.
    pub name: ModelName,
    /// Id of the environment or game that it acts in.
    pub env_id: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// When its first version was made.
    pub created_at: f64,
    /// Who made it.
    pub created_by: String,
    /// Whether it was put away: it is listed only when asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// The versions, in order.
    pub versions: Vec<ModelVersion>,
    /// Versions by other names; [`LATEST`] is always among them.
    pub aliases: BTreeMap<String, u32>,
}

/// One version of a model, which never changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelVersion {
    /// Its number, from 1.
    pub version: u32,
    /// The run that it was learnt in; none where it came as a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Folder of the checkpoint, or the artifact of the run that it is a copy of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// Its environment steps; 0 where nobody knows.
    pub step: u64,
    /// Hash of what it does: of the weights, or of the file where there are none of ours.
    pub sha256: String,
    /// The algorithm that it was learnt by.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub algo: String,
    /// Options of the environment.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub env: Map<String, Value>,
    /// The experiment that its run is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment_id: Option<String>,
    /// Hash of the configuration of its run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_sha256: Option<String>,
    /// The checkpoints that its run was forked from, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<Parent>,
    /// What there is to say of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// When it was made.
    pub created_at: f64,
    /// Who made it.
    pub created_by: String,
    /// The key of the request that made it, so that asking again makes no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Its files.
    pub files: Vec<ModelFile>,
}

/// A file of a version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelFile {
    /// Its name in the folder of the version.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
}

impl ModelFile {
    /// What a file with this content is listed as.
    pub fn of(file: &str, content: &[u8]) -> Self {
        Self { file: file.to_owned(), bytes: content.len() as u64, sha256: sha256(content) }
    }
}

/// The hash of a file, as lists have it.
pub fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Model {
    /// The version that `which` means: a number or an alias; without one the best, or else the
    /// newest.
    pub fn version(&self, which: Option<&str>) -> Result<&ModelVersion> {
        let which = which.unwrap_or(if self.aliases.contains_key(BEST) { BEST } else { LATEST });
        let number = self.aliases.get(which).copied().or_else(|| which.parse().ok());
        number.and_then(|number| self.versions.iter().find(|it| it.version == number)).ok_or_else(
            || StoreError::NoSuchVersion { model: self.name.to_string(), which: which.to_owned() },
        )
    }

    /// The names by which a version is known beside its number.
    pub fn aliases_of(&self, version: u32) -> impl Iterator<Item = &str> {
        self.aliases.iter().filter(move |(_, it)| **it == version).map(|(name, _)| name.as_str())
    }
}

impl ModelList {
    /// The newest format of the file.
    pub const FORMAT: u32 = 1;

    /// Reads the list; where there is none it is empty.
    pub fn read(data: &DataDir) -> Result<Self> {
        let path = list_path(data);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { format: Self::FORMAT, models: Vec::new() });
            }
            Err(error) => return Err(StoreError::io(&path)(error)),
        };
        // The number first: what a later version has written may look like nothing at all.
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let damaged = |error: serde_json::Error| StoreError::Damaged {
            path: path.clone(),
            detail: error.to_string(),
        };
        let Format { format } = serde_json::from_slice(&text).map_err(damaged)?;
        if format > Self::FORMAT {
            return Err(StoreError::NewerFormat { path, found: format, known: Self::FORMAT });
        }
        serde_json::from_slice(&text).map_err(damaged)
    }

    /// One model.
    pub fn get(&self, name: &ModelName) -> Result<&Model> {
        let found = self.models.iter().find(|model| model.name == *name);
        found.ok_or_else(|| StoreError::NoSuchModel(name.to_string()))
    }
}

/// The list, held so that nobody else changes it.
#[derive(Debug)]
pub struct LockedModels {
    /// What it says.
    pub list: ModelList,
    data: DataDir,
    _lock: File,
}

impl LockedModels {
    /// Waits for its turn and reads the list.
    pub fn open(data: &DataDir) -> Result<Self> {
        let folder = folder(data);
        fs::create_dir_all(&folder).map_err(StoreError::io(&folder))?;
        let lock = File::open(&folder).map_err(StoreError::io(&folder))?;
        lock.lock().map_err(StoreError::io(&folder))?;
        Ok(Self { list: ModelList::read(data)?, data: data.clone(), _lock: lock })
    }

    /// One model, to be changed.
    pub fn get_mut(&mut self, name: &ModelName) -> Result<&mut Model> {
        let found = self.list.models.iter_mut().find(|model| model.name == *name);
        found.ok_or_else(|| StoreError::NoSuchModel(name.to_string()))
    }

    /// Writes the files of a version, which the list does not name yet, into its folder.
    pub fn write_files(
        &self,
        name: &ModelName,
        version: u32,
        contents: &[(&str, &[u8])],
    ) -> Result<Vec<ModelFile>> {
        let own = folder(&self.data).join(name.as_str());
        fs::create_dir_all(&own).map_err(StoreError::io(&own))?;
        let (place, beside) = (own.join(version.to_string()), own.join(format!(".{version}")));
        for left in [&place, &beside] {
            // What a crash left before the list could name it.
            match fs::remove_dir_all(left) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::io(left)(error));
                }
                _ => {}
            }
        }
        fs::create_dir(&beside).map_err(StoreError::io(&beside))?;
        for (file, content) in contents {
            let path = beside.join(file);
            File::create_new(&path)
                .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
                .map_err(StoreError::io(&path))?;
        }
        sync_parent(&beside.join("."))?;
        fs::rename(&beside, &place).map_err(StoreError::io(&place))?;
        sync_parent(&place)?;
        sync_parent(&own)?;
        Ok(contents.iter().map(|(file, content)| ModelFile::of(file, content)).collect())
    }

    /// Makes the list durable as it is now.
    pub fn save(&mut self) -> Result<()> {
        self.list.format = ModelList::FORMAT;
        self.list.models.sort_by(|a, b| a.name.cmp(&b.name));
        let text = serde_json::to_vec_pretty(&self.list).expect("models are plain data");
        write_beside(&list_path(&self.data), &text)
    }
}

/// Opens a file of a version; it is one that the list names.
pub fn open_file(data: &DataDir, name: &ModelName, version: u32, file: &str) -> Result<File> {
    let folder = folder(data);
    let inside = format!("{name}/{version}/{file}");
    let opened = Beneath::open(&folder).and_then(|folder| folder.file(&inside));
    opened.map_err(StoreError::io(folder.join(inside)))
}

/// Where the list is.
pub fn list_path(data: &DataDir) -> PathBuf {
    data.path().join("models.json")
}

/// Where the files are.
pub fn folder(data: &DataDir) -> PathBuf {
    data.path().join("models")
}

#[cfg(test)]
mod tests;
