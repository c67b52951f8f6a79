//! Named models: checkpoints and files that are kept under a name, version by version.
//!
//! A version is a copy in `data/models/<name>/<version>/`, so that neither the janitor nor whoever
//! deletes the run can take it. `latest` is always the newest version; `best` and other aliases are
//! moved by people. Where `best` points, `data/models/<name>/best.onnx` has the policy too, written
//! beside and renamed, for programs that look for one file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use cartridge_games::registry::{AnyGame, is_game, make_env, present_id};
use cartridge_learn::onnx::board::export_board_net;
use cartridge_learn::policy::Policy;
use cartridge_store::data_dir::write_beside;
use cartridge_store::models::{self, BEST, LATEST, LockedModels, is_word};
use cartridge_store::{
    ArtifactId, ArtifactList, DataDir, Manifest, Model, ModelList, ModelName, ModelVersion, Parent,
    RunDir, StoreError,
};
use serde_json::{Map, Value, json};

use crate::audit::{self, Deed, Entry};
use crate::board_policy::BoardPolicy;
use crate::checkpoint;
use crate::clock::unix_now;
use crate::config::ConfigError;
use crate::discovery;
use crate::error::{Result, RunError};
use crate::evaluation::Actor;
use crate::experiment::content_hash;
use crate::policy_file::{self, PolicyFile};
use crate::steer::By;

/// The policy for other programs.
pub const ONNX: &str = "policy.onnx";

/// The weights of a policy of ours.
pub const WEIGHTS: &str = "weights.safetensors";

/// The most versions of one model.
const MOST_VERSIONS: usize = 1_000;

/// The most models of one data folder.
const MOST_MODELS: usize = 10_000;

/// The most aliases of one model.
const MOST_ALIASES: usize = 32;

/// The longest notes.
const MOST_NOTES: usize = 10_000;

/// Generations of forks that a lineage tells of.
const MOST_PARENTS: usize = 64;

/// A version to be made.
#[derive(Clone, Debug)]
pub struct NewVersion {
    /// The model, which is made with its first version.
    pub name: String,
    /// What is copied.
    pub source: Source,
    /// What there is to say of it.
    pub notes: String,
}

/// What a version is a copy of.
#[derive(Clone, Debug)]
pub enum Source {
    /// A checkpoint of a run.
    Checkpoint {
        /// The run.
        run: Box<Manifest>,
        /// `latest`, `best`, a folder or a number of steps; the best, or else the newest, without.
        which: Option<String>,
    },
    /// An ONNX file that a run has made.
    Artifact {
        /// The run.
        run: Box<Manifest>,
        /// The artifact.
        artifact: ArtifactId,
    },
    /// A version of another model.
    Version {
        /// The model.
        model: Box<Model>,
        /// Its version.
        version: Box<ModelVersion>,
    },
    /// An ONNX file from elsewhere.
    File {
        /// Where it is.
        path: PathBuf,
        /// The environment or game that it is for, where its own words do not say.
        env_id: Option<String>,
    },
}

/// What is copied, and where it came from.
struct Copied {
    env_id: String,
    version: ModelVersion,
    contents: Vec<(&'static str, Vec<u8>)>,
}

/// Makes a version of a model. A request that was made before, by its key, gives the version that
/// it made.
pub fn add(data: &DataDir, new: NewVersion, by: By<'_>) -> Result<(Model, ModelVersion)> {
    let NewVersion { name, source, notes } = new;
    let bad = |key: &str, detail: String| ConfigError::BadValue { key: key.to_owned(), detail };
    let name: ModelName = name.parse().map_err(|_| {
        let detail = "1 to 64 small letters, digits, `-` and `_`, beginning with a letter or digit";
        bad("name", detail.to_owned())
    })?;
    if notes.chars().count() > MOST_NOTES {
        return Err(bad("notes", format!("at most {MOST_NOTES} letters")).into());
    }
    keep(data, &name, copy(data, source)?, &notes, by)
}

/// Makes something the best at its board game: `model:GAME@best`, and so
/// `data/models/GAME/best.onnx`. What that model has already is not copied again.
pub fn promote(data: &DataDir, source: Source, by: By<'_>) -> Result<(Model, ModelVersion)> {
    let copied = copy(data, source)?;
    if !is_game(&copied.env_id) {
        let detail = format!(
            "{} is no board game; `cartridge models alias NAME best VERSION` says which version of \
             a model is the best",
            copied.env_id
        );
        return Err(ConfigError::BadValue { key: "source".to_owned(), detail }.into());
    }
    let name: ModelName = copied.env_id.parse()?;
    let list = ModelList::read(data)?;
    let known = list.models.iter().find(|model| model.name == name);
    let same = known.and_then(|model| {
        let versions = model.versions.iter();
        versions.rev().find(|version| version.sha256 == copied.version.sha256).cloned()
    });
    let version = match same {
        Some(version) => version,
        None => keep(data, &name, copied, "", by)?.1,
    };
    if known.is_some_and(|model| model.archived) {
        archive(data, &name, false, by)?;
    }
    Ok((alias(data, &name, BEST, version.version, by)?, version))
}

/// Adds what was copied to a model, as its newest version.
fn keep(
    data: &DataDir,
    name: &ModelName,
    copied: Copied,
    notes: &str,
    by: By<'_>,
) -> Result<(Model, ModelVersion)> {
    let bad = |key: &str, detail: String| ConfigError::BadValue { key: key.to_owned(), detail };
    let Copied { env_id, mut version, contents } = copied;
    let mut locked = LockedModels::open(data)?;
    let known = locked.list.models.iter().find(|model| model.name == *name);
    if let (Some(model), Some(key)) = (known, by.request) {
        let made = model.versions.iter().find(|made| {
            (made.created_by.as_str(), made.request.as_deref()) == (by.who, Some(key))
        });
        if let Some(made) = made {
            return Ok((model.clone(), made.clone()));
        }
    }
    if known.is_none() && locked.list.models.len() >= MOST_MODELS {
        return Err(bad("name", format!("there are {MOST_MODELS} models already")).into());
    }
    if let Some(model) = known {
        if model.env_id != env_id {
            let detail = format!(
                "`{name}` is a model for {}, and this is one for {env_id}; choose another name",
                model.env_id
            );
            return Err(bad("name", detail).into());
        }
        if model.versions.len() >= MOST_VERSIONS {
            let detail = format!("it has {MOST_VERSIONS} versions already; choose another name");
            return Err(bad("name", detail).into());
        }
    }
    let newest = known.and_then(|model| model.versions.last()).map_or(0, |it| it.version);
    version.version = newest + 1;
    version.notes = notes.trim().to_owned();
    version.created_at = unix_now();
    version.created_by = by.who.to_owned();
    version.request = by.request.map(str::to_owned);
    let parts: Vec<(&str, &[u8])> =
        contents.iter().map(|(file, content)| (*file, content.as_slice())).collect();
    version.files = locked.write_files(name, version.version, &parts)?;
    if known.is_none() {
        locked.list.models.push(Model {
            name: name.clone(),
            env_id,
            notes: String::new(),
            created_at: version.created_at,
            created_by: by.who.to_owned(),
            archived: false,
            versions: Vec::new(),
            aliases: BTreeMap::new(),
        });
    }
    let model = locked.get_mut(name)?;
    model.archived = false;
    model.aliases.insert(LATEST.to_owned(), version.version);
    model.versions.push(version.clone());
    let model = model.clone();
    locked.save()?;
    let new = json!({
        "version": version.version, "run": version.run, "checkpoint": version.checkpoint,
        "step": version.step, "sha256": version.sha256,
    });
    record(data, by, Deed::Create, name, Value::Null, new)?;
    Ok((model, version))
}

/// Moves an alias to a version.
pub fn alias(
    data: &DataDir,
    name: &ModelName,
    alias: &str,
    version: u32,
    by: By<'_>,
) -> Result<Model> {
    let bad = |detail: String| ConfigError::BadValue { key: "alias".to_owned(), detail };
    if alias == LATEST {
        let detail = "`latest` is always the newest version; `best` is yours to move".to_owned();
        return Err(bad(detail).into());
    }
    if !is_word(alias) || alias.bytes().all(|byte| byte.is_ascii_digit()) {
        let detail = "an alias has 1 to 64 small letters, digits, `-` and `_`, and is no number";
        return Err(bad(detail.to_owned()).into());
    }
    let mut locked = LockedModels::open(data)?;
    let model = locked.get_mut(name)?;
    let made = model.version(Some(&version.to_string()))?.clone();
    let is_new = !model.aliases.contains_key(alias);
    if is_new && model.aliases.len() >= MOST_ALIASES {
        return Err(bad(format!("a model has at most {MOST_ALIASES} aliases")).into());
    }
    let old = model.aliases.insert(alias.to_owned(), version);
    let model = model.clone();
    locked.save()?;
    if alias == BEST {
        write_best(data, name, &made)?;
    }
    let (old, new) = (json!({ alias: old }), json!({ alias: version }));
    record(data, by, Deed::Alias, name, old, new)?;
    Ok(model)
}

/// Writes the policy of the best version where programs look for it.
pub(crate) fn write_best(data: &DataDir, name: &ModelName, best: &ModelVersion) -> Result<()> {
    if best.files.iter().any(|file| file.file == ONNX) {
        let content = read_file(data, name, best, ONNX)?;
        write_beside(&best_path(data, name), &content)?;
    }
    Ok(())
}

/// Where the policy of the best version is.
pub(crate) fn best_path(data: &DataDir, name: &ModelName) -> PathBuf {
    models::folder(data).join(name.as_str()).join("best.onnx")
}

/// Puts a model away, or brings it back: it is listed only when asked for. Its versions stay,
/// because matches name them; a new version brings it back too.
pub fn archive(data: &DataDir, name: &ModelName, is_archived: bool, by: By<'_>) -> Result<Model> {
    let mut locked = LockedModels::open(data)?;
    let model = locked.get_mut(name)?;
    model.archived = is_archived;
    let model = model.clone();
    locked.save()?;
    let deed = if is_archived { Deed::Archive } else { Deed::Unarchive };
    record(data, by, deed, name, Value::Null, Value::Null)?;
    Ok(model)
}

fn record(
    data: &DataDir,
    by: By<'_>,
    what: Deed,
    name: &ModelName,
    old: Value,
    new: Value,
) -> Result<()> {
    let target = format!("model:{name}");
    audit::record(data, Entry { old, new, ..Entry::new(by, what, &target) }, unix_now())?;
    tracing::info!(model = %name, by = by.who, "{}", what.as_str());
    Ok(())
}

/// The model and version that `NAME`, `NAME@VERSION` or `NAME@ALIAS` means.
pub fn resolve(data: &DataDir, text: &str) -> Result<(Model, ModelVersion)> {
    let (name, which) = match text.split_once('@') {
        Some((name, which)) => (name, Some(which)),
        None => (text, None),
    };
    let name: ModelName = name.parse()?;
    let list = ModelList::read(data)?;
    let model = list.get(&name)?;
    Ok((model.clone(), model.version(which)?.clone()))
}

/// Opens a file of a version, with its entry in the list.
pub fn open_file(
    data: &DataDir,
    name: &ModelName,
    version: &ModelVersion,
    file: &str,
) -> Result<(models::ModelFile, File)> {
    let listed = version.files.iter().find(|it| it.file == file).ok_or_else(|| {
        let (model, which) = (name.to_string(), format!("{} as {file}", version.version));
        StoreError::NoSuchVersion { model, which }
    })?;
    Ok((listed.clone(), models::open_file(data, name, version.version, file)?))
}

/// The content of a file of a version, which is what it was when it was made.
pub fn read_file(
    data: &DataDir,
    name: &ModelName,
    version: &ModelVersion,
    file: &str,
) -> Result<Vec<u8>> {
    let (listed, mut opened) = open_file(data, name, version, file)?;
    let path = models::folder(data).join(format!("{name}/{}/{file}", version.version));
    let mut content = Vec::new();
    opened.read_to_end(&mut content).map_err(StoreError::io(&path))?;
    if models::sha256(&content) != listed.sha256 {
        let detail = "it is not the file that models.json names".to_owned();
        return Err(StoreError::Damaged { path, detail }.into());
    }
    Ok(content)
}

/// What a version does in its environment: by its weights where they are ours, or else by its file.
pub fn actor(
    data: &DataDir,
    model: &Model,
    version: &ModelVersion,
    options: &Map<String, Value>,
) -> Result<Box<dyn Actor>> {
    let name = format!("model:{}@{}", model.name, version.version);
    if version.files.iter().any(|file| file.file == WEIGHTS) {
        let bytes = read_file(data, &model.name, version, WEIGHTS)?;
        let policy = Policy::from_safetensors(&bytes)
            .map_err(|error| RunError::BadPlayer { player: name, detail: error.to_string() })?;
        return Ok(Box::new(policy));
    }
    let bytes = read_file(data, &model.name, version, ONNX)?;
    let file = PolicyFile::parse(std::path::Path::new(&name), &bytes)?;
    file.check(&model.env_id, options)?;
    Ok(Box::new(file))
}

fn copy(data: &DataDir, source: Source) -> Result<Copied> {
    match source {
        Source::Checkpoint { run, which } => copy_checkpoint(data, &run, which.as_deref()),
        Source::Artifact { run, artifact } => copy_artifact(data, &run, &artifact),
        Source::Version { model, version } => copy_version(data, &model, *version),
        Source::File { path, env_id } => {
            let bytes = policy_file::read(&path).map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => RunError::NoPolicyFile(path.display().to_string()),
                _ => RunError::Store(StoreError::io(&path)(error)),
            })?;
            let file = PolicyFile::parse(&path, &bytes)?;
            let (env_id, env) = tried(file, env_id.as_deref())?;
            let file = PolicyFile::parse(&path, &bytes)?;
            let version = ModelVersion { step: file.step(), env, ..bare(file.sha256) };
            Ok(Copied { env_id, version, contents: vec![(ONNX, bytes)] })
        }
    }
}

/// Where a policy from a file acts, after trying it there.
fn tried(file: PolicyFile, env_id: Option<&str>) -> Result<(String, Map<String, Value>)> {
    let said = file.policy.metadata("env_id").map(str::to_owned);
    if let Some(game) = env_id.or(said.as_deref()).filter(|id| is_game(id)).map(str::to_owned) {
        let spec = AnyGame::start(&game, &mut fastrand::Rng::with_seed(0))?.spec();
        BoardPolicy::new(file, spec)?;
        return Ok((game, Map::new()));
    }
    let (env_id, env) = file.environment(env_id, Map::new())?;
    file.check(&env_id, &env)?;
    Ok((env_id, env))
}

/// A version of which only the hash is known.
fn bare(sha256: String) -> ModelVersion {
    ModelVersion {
        version: 0,
        run: None,
        checkpoint: None,
        step: 0,
        sha256,
        algo: String::new(),
        env: Map::new(),
        experiment_id: None,
        config_sha256: None,
        parents: Vec::new(),
        notes: String::new(),
        created_at: 0.0,
        created_by: String::new(),
        request: None,
        files: Vec::new(),
    }
}

/// The run that a version was learnt in, as it will be told of when that run is gone.
fn of_run(data: &DataDir, run: &Manifest, sha256: String) -> ModelVersion {
    ModelVersion {
        run: Some(run.id.clone()),
        algo: run.config["algo"].as_str().unwrap_or_default().to_owned(),
        env: run.config["env"].as_object().cloned().unwrap_or_default(),
        experiment_id: run.experiment_id.clone(),
        config_sha256: Some(content_hash(&run.config)),
        parents: parents(data, run),
        ..bare(sha256)
    }
}

/// The checkpoints that a run was forked from, the nearest first, as far as they are known.
fn parents(data: &DataDir, run: &Manifest) -> Vec<Parent> {
    let mut parents: Vec<Parent> = Vec::new();
    let mut next = run.parent.clone();
    while let Some(parent) = next.filter(|_| parents.len() < MOST_PARENTS) {
        // A run in the trash is gone from here, and what it was forked from is not known any more.
        next = data.run(&parent.run).manifest().ok().and_then(|manifest| manifest.parent);
        parents.push(parent);
    }
    parents
}

/// The checkpoint of a run that is meant where nobody says which.
pub(crate) fn usual_checkpoint(dir: &RunDir) -> &'static str {
    match checkpoint::named(dir, checkpoint::Alias::Best) {
        Some(_) => BEST,
        None => LATEST,
    }
}

fn copy_checkpoint(data: &DataDir, run: &Manifest, which: Option<&str>) -> Result<Copied> {
    let dir = data.run(&run.id);
    if checkpoint::names(&dir)?.is_empty() {
        return Err(RunError::NoCheckpoint(run.id.clone()));
    }
    let which = which.unwrap_or_else(|| usual_checkpoint(&dir));
    let name = checkpoint::find(&dir, &run.id, which)?;
    let path = dir.checkpoints_path().join(&name).join(ONNX);
    let onnx = std::fs::read(&path).ok();
    let (manifest, weights, onnx) = if is_game(&run.env_id) {
        let (manifest, network) = checkpoint::load_board_net(&dir, &run.id, &name)?;
        let facts = [
            ("env_id", run.env_id.clone()),
            ("step", manifest.step.to_string()),
            ("weights_sha256", manifest.weights_sha256.clone()),
            ("run_id", run.id.to_string()),
        ];
        let facts = facts.map(|(key, value)| (key.to_owned(), value)).to_vec();
        let onnx = onnx.unwrap_or_else(|| export_board_net(&network, facts));
        (manifest, network.to_safetensors(), onnx)
    } else {
        let (manifest, policy) = checkpoint::load_named(&dir, &run.id, &name)?;
        // Checkpoints of older versions have none.
        let onnx = match onnx {
            Some(onnx) => onnx,
            None => checkpoint::to_onnx(&dir, &run.env_id, &policy, manifest.step)?,
        };
        (manifest, policy.to_safetensors(), onnx)
    };
    let version = ModelVersion {
        checkpoint: Some(name),
        step: manifest.step,
        ..of_run(data, run, manifest.weights_sha256)
    };
    let contents = vec![(ONNX, onnx), (WEIGHTS, weights)];
    Ok(Copied { env_id: run.env_id.clone(), version, contents })
}

fn copy_version(data: &DataDir, model: &Model, version: ModelVersion) -> Result<Copied> {
    let mut contents = Vec::new();
    for file in [ONNX, WEIGHTS] {
        if version.files.iter().any(|listed| listed.file == file) {
            contents.push((file, read_file(data, &model.name, &version, file)?));
        }
    }
    Ok(Copied { env_id: model.env_id.clone(), version, contents })
}

fn copy_artifact(data: &DataDir, run: &Manifest, id: &ArtifactId) -> Result<Copied> {
    let bytes = artifact_bytes(data, run, id)?;
    let name = PathBuf::from(format!("{}/{id}", run.id));
    // What a foreign trainer trained in is known to its run, and need not be in its file.
    let env_id = present_id(&run.env_id).0;
    let is_known = is_game(env_id) || make_env(env_id, &Map::new()).is_ok();
    let file = PolicyFile::parse(&name, &bytes)?;
    let (env_id, env) = tried(file, is_known.then_some(env_id))?;
    let file = PolicyFile::parse(&name, &bytes)?;
    let version = ModelVersion {
        checkpoint: Some(id.to_string()),
        step: file.step(),
        env,
        ..of_run(data, run, file.sha256)
    };
    Ok(Copied { env_id, version, contents: vec![(ONNX, bytes)] })
}

/// The bytes of a file that a run has made.
pub(crate) fn artifact_bytes(data: &DataDir, run: &Manifest, id: &ArtifactId) -> Result<Vec<u8>> {
    let dir = data.run(&run.id);
    let gone = || StoreError::NoSuchArtifact(id.to_string());
    let list = ArtifactList::read(&dir)?.ok_or_else(gone)?;
    let artifact = list.get(id)?.clone();
    if artifact.is_folder || !artifact.path.ends_with(".onnx") {
        let detail = format!("{} is no ONNX file", artifact.path);
        return Err(ConfigError::BadValue { key: "artifact_id".to_owned(), detail }.into());
    }
    let base = discovery::base_folder(&dir, artifact.base)?;
    let file = base.file(&artifact.path).map_err(|_| gone())?;
    let mut bytes = Vec::new();
    let path = dir.path().join(&artifact.path);
    file.take(cartridge_learn::onnx::MOST_BYTES)
        .read_to_end(&mut bytes)
        .map_err(StoreError::io(&path))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
