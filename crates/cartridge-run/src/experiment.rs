//! Experiments: templates of runs that never change, and the runs that are made from them.
//!
//! A template is checked when it is made, and kept with what it was given as and what that came to.
//! Whoever wants another clones it. A run takes the template's configuration, with the settings in
//! its `overrides_whitelist` changed if it likes, and a seed; several seeds at once make a group.
//! [`Plan`] is all that is known before anything is made, so that it can be looked at first.

use std::collections::BTreeMap;
use std::path::Path;

use cartridge_store::{
    DataDir, Experiment, ExperimentId, GroupId, Manifest, RunId, StoreError, experiments,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::audit::{self, Deed, Entry};
use crate::clock::unix_now;
use crate::config::{ConfigError, Draft, Resolved, RunConfig, canonical, flatten, place};
use crate::error::{Result, RunError};
use crate::launch::{Launcher, Terms};
use crate::queue::Demand;
use crate::steer::{self, By};
use crate::supervisor::worker_arguments;

/// The longest name of an experiment.
const MOST_NAME: usize = 200;

/// The longest description of an experiment.
const MOST_DESCRIPTION: usize = 10_000;

/// The most runs that are made at once.
pub const MOST_RUNS: usize = 100;

/// An experiment to be made.
#[derive(Clone, Debug, Default)]
pub struct NewExperiment {
    /// Its name for people.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The preset that it is laid over.
    pub preset: Option<String>,
    /// Its configuration: sections with settings, full paths, or aliases.
    pub config: Map<String, Value>,
}

/// Makes an experiment.
pub fn create(data: &DataDir, version: &str, new: NewExperiment, by: By<'_>) -> Result<Experiment> {
    make(data, version, new, None, by)
}

/// Makes an experiment that differs from another: `changes` are settings as [`NewExperiment`] has
/// them, and a preset takes the place of the other's.
pub fn clone(
    data: &DataDir,
    version: &str,
    from: &Experiment,
    changes: NewExperiment,
    by: By<'_>,
) -> Result<Experiment> {
    let mut settings: Vec<(String, Value)> = flatten(&from.given);
    let algo = changes.config.get("algo").unwrap_or(&from.config["algo"]);
    let algo = serde_json::from_value(algo.clone()).ok();
    for (path, value) in flatten(&changes.config) {
        settings.retain(|(old, _)| place(old, algo) != place(&path, algo));
        settings.push((path, value));
    }
    let new = NewExperiment {
        name: if changes.name.is_empty() { format!("{} (copy)", from.name) } else { changes.name },
        description: match changes.description.is_empty() {
            true => from.description.clone(),
            false => changes.description,
        },
        preset: changes.preset.or_else(|| from.preset.clone()),
        config: nest(settings),
    };
    make(data, version, new, Some(from.id.clone()), by)
}

/// What the configuration of an experiment comes to, if all of it is right. Its name may still be
/// missing: people look first and name it last.
pub fn look(new: &NewExperiment) -> Result<RunConfig> {
    let NewExperiment { name, description, preset, config } = new;
    let mut errors = Vec::new();
    for (key, text, least, most) in
        [("name", name, 0, MOST_NAME), ("description", description, 0, MOST_DESCRIPTION)]
    {
        let n = text.trim().chars().count();
        if !(least..=most).contains(&n) {
            let detail = format!("it has {n} characters, and may have {least} to {most}");
            errors.push(ConfigError::BadValue { key: key.to_owned(), detail });
        }
    }
    if name.trim().chars().any(char::is_control) {
        // Lists print it, and a terminal obeys such characters.
        let detail = "it has line breaks or other control characters".to_owned();
        errors.push(ConfigError::BadValue { key: "name".to_owned(), detail });
    }
    let resolved = Resolved::new(config, preset.as_deref()).map_err(|more| {
        errors.extend(more);
        RunError::of_config(std::mem::take(&mut errors))
    })?;
    if !errors.is_empty() {
        return Err(RunError::of_config(errors));
    }
    Ok(resolved.config)
}

fn make(
    data: &DataDir,
    version: &str,
    new: NewExperiment,
    cloned_from: Option<ExperimentId>,
    by: By<'_>,
) -> Result<Experiment> {
    let is_nameless = new.name.trim().is_empty();
    let nameless = || ConfigError::BadValue {
        key: "name".to_owned(),
        detail: format!("it has 0 characters, and may have 1 to {MOST_NAME}"),
    };
    let resolved = look(&new).map_err(|error| match error {
        RunError::Configs(mut errors) if is_nameless => {
            errors.insert(0, nameless());
            RunError::Configs(errors)
        }
        RunError::Config(error) if is_nameless => RunError::Configs(vec![nameless(), error]),
        other => other,
    })?;
    if is_nameless {
        return Err(nameless().into());
    }
    let NewExperiment { name, description, preset, config } = new;
    let resolved = serde_json::to_value(&resolved).expect("a configuration is plain data");
    let sha256 = content_hash(&resolved);
    let experiment = Experiment::create(data, |id| Experiment {
        format: Experiment::FORMAT,
        id,
        name: name.trim().to_owned(),
        description: description.trim().to_owned(),
        preset,
        given: config,
        config: resolved,
        sha256,
        created_at: unix_now(),
        created_by: by.who.to_owned(),
        cloned_from,
        cartridge_version: version.to_owned(),
    })?;
    let old =
        experiment.cloned_from.as_ref().map_or(Value::Null, |id| json!({ "cloned_from": id }));
    let new = json!({ "name": experiment.name, "sha256": experiment.sha256 });
    record(data, by, Deed::Create, &experiment.id, old, new)?;
    Ok(experiment)
}

/// Puts an experiment away, or brings it back, in lists. Its runs stay as they are.
pub fn archive(data: &DataDir, id: &ExperimentId, is_archived: bool, by: By<'_>) -> Result<()> {
    Experiment::read(data, id)?;
    let deed = if is_archived { Deed::Archive } else { Deed::Unarchive };
    record(data, by, deed, id, Value::Null, Value::Null)
}

fn record(
    data: &DataDir,
    by: By<'_>,
    what: Deed,
    target: &ExperimentId,
    old: Value,
    new: Value,
) -> Result<()> {
    audit::record(data, Entry { old, new, ..Entry::new(by, what, target) }, unix_now())?;
    tracing::info!(experiment = %target, by = by.who, "{}", what.as_str());
    Ok(())
}

/// All experiments on disk, newest first, for who has no index.
pub fn list(data: &DataDir) -> Result<Vec<Experiment>> {
    let mut all = Vec::new();
    for id in experiments::ids(data)? {
        match Experiment::read(data, &id) {
            Ok(experiment) => all.push(experiment),
            // It is being made.
            Err(StoreError::NoSuchExperiment(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    all.sort_by(|a, b| b.created_at.total_cmp(&a.created_at).then_with(|| b.id.cmp(&a.id)));
    Ok(all)
}

/// Hash of a configuration: SHA-256 of its JSON with sorted keys and no spaces.
pub fn content_hash(config: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_by(|a, b| a.0.cmp(b.0));
                fields.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect()
            }
            Value::Array(items) => items.iter().map(sorted).collect(),
            other => other.clone(),
        }
    }
    let bytes = serde_json::to_vec(&sorted(config)).expect("a configuration is plain data");
    Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// [`content_hash`] of a configuration without what does not change what it learns in expectation:
/// its seed, what it may use of the machine, and what is kept of it.
pub fn seedless_hash(config: &Value) -> String {
    let mut config = config.clone();
    if let Some(sections) = config.as_object_mut() {
        sections.remove("resources");
        sections.remove("retention");
        if let Some(seeds) = sections.get_mut("seeds").and_then(Value::as_object_mut) {
            seeds.remove("seed_base");
        }
    }
    content_hash(&config)
}

/// Settings by full path, in sections.
fn nest(settings: Vec<(String, Value)>) -> Map<String, Value> {
    let mut nested = Map::new();
    for (path, value) in settings {
        match path.split_once('.') {
            Some((section, name)) => {
                let section = nested.entry(section).or_insert_with(|| Map::new().into());
                if let Value::Object(section) = section {
                    section.insert(name.to_owned(), value);
                }
            }
            None => _ = nested.insert(path, value),
        }
    }
    nested
}

/// A setting that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The full path.
    pub path: String,
    /// What the template has; null for nothing.
    pub old: Value,
    /// What the run has.
    pub new: Value,
}

/// What is different in `new`, setting by setting.
pub fn differences(old: &Value, new: &Value) -> Vec<Change> {
    fn walk(path: &str, old: &Value, new: &Value, found: &mut Vec<Change>) {
        if let (Value::Object(old), Value::Object(new)) = (old, new) {
            let more = new.keys().filter(|key| !old.contains_key(*key));
            for key in old.keys().chain(more) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let side =
                    |fields: &Map<String, Value>| fields.get(key).cloned().unwrap_or_default();
                walk(&path, &side(old), &side(new), found);
            }
        } else if old != new {
            found.push(Change { path: path.to_owned(), old: old.clone(), new: new.clone() });
        }
    }
    let mut found = Vec::new();
    walk("", old, new, &mut found);
    found
}

/// Runs that are about to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The template that they are made from, if any.
    pub experiment: Option<Experiment>,
    /// What differs from it, or from the defaults where there is none, apart from the seeds.
    base: Value,
    /// The other names that were used, each with what it means.
    pub aliases: BTreeMap<String, String>,
    /// The configuration of each, which differ by their seeds.
    pub configs: Vec<RunConfig>,
}

impl Plan {
    /// Runs of a template with some settings changed, one for each seed, or one as the template is.
    pub fn of_experiment(
        experiment: Experiment,
        overrides: &Map<String, Value>,
        seeds: &[u64],
    ) -> Result<Self> {
        let config: RunConfig =
            serde_json::from_value(experiment.config.clone()).map_err(|error| {
                let path = Path::new("experiments").join(format!("{}.json", experiment.id));
                StoreError::Damaged { path, detail: error.to_string() }
            })?;
        let (allowed, algo) = (&config.overrides_whitelist, Some(config.algo));
        let settings = flatten(overrides);
        let refused = settings
            .iter()
            .filter(|(given, _)| !allowed.iter().any(|allowed| allowed == canonical(given, algo)));
        let refused: Vec<ConfigError> = refused
            .map(|(given, _)| ConfigError::NotOverridable {
                key: given.clone(),
                hint: match canonical(given, algo) {
                    "seeds.seed_base" => "give `seeds` instead".to_owned(),
                    _ => format!(
                        "its overrides_whitelist has {}; clone the experiment to change more",
                        allowed.join(", ")
                    ),
                },
            })
            .collect();
        if !refused.is_empty() {
            return Err(RunError::of_config(refused));
        }
        let mut draft = Draft::of(&config);
        let (said, errors) = draft.lay(&settings);
        let Resolved { config, aliases } =
            said.finish(draft, errors).map_err(RunError::of_config)?;
        let base = experiment.config.clone();
        Self::new(Some(experiment), base, aliases, &config, seeds)
    }

    /// Runs of a configuration of its own.
    pub fn of_config(config: &RunConfig, seeds: &[u64]) -> Result<Self> {
        let base = Draft::new(&config.env_id, config.algo.id())?.finish()?;
        let base = serde_json::to_value(base).expect("a configuration is plain data");
        Self::new(None, base, BTreeMap::new(), config, seeds)
    }

    /// [`Self::of_config`] with the other names that it was written with.
    pub fn of_resolved(resolved: Resolved, seeds: &[u64]) -> Result<Self> {
        let plan = Self::of_config(&resolved.config, seeds)?;
        Ok(Self { aliases: resolved.aliases, ..plan })
    }

    fn new(
        experiment: Option<Experiment>,
        base: Value,
        aliases: BTreeMap<String, String>,
        config: &RunConfig,
        seeds: &[u64],
    ) -> Result<Self> {
        if seeds.len() > MOST_RUNS {
            let detail = format!("{} seeds are more than {MOST_RUNS} at once", seeds.len());
            return Err(ConfigError::BadValue { key: "seeds".to_owned(), detail }.into());
        }
        if let Some(twice) = (1..seeds.len()).find(|&idx| seeds[..idx].contains(&seeds[idx])) {
            let detail =
                format!("seed {} is there twice: both runs would be the same", seeds[twice]);
            return Err(ConfigError::BadValue { key: "seeds".to_owned(), detail }.into());
        }
        let seeds = if seeds.is_empty() { &[config.seeds.seed_base] } else { seeds };
        let configs = seeds
            .iter()
            .map(|&seed| {
                let mut draft = Draft::of(config);
                draft.set("seeds.seed_base", seed.into())?;
                draft.finish()
            })
            .collect::<Result<_, ConfigError>>()
            .map_err(|error| match error {
                ConfigError::BadValue { detail, .. } => {
                    ConfigError::BadValue { key: "seeds".to_owned(), detail }
                }
                other => other,
            })?;
        Ok(Self { experiment, base, aliases, configs })
    }

    /// What all runs of it need of the machine, each.
    pub fn demand(&self) -> Demand {
        Demand::of_resources(&self.configs[0].resources)
    }

    fn terms(&self, terms: &Terms, group: Option<&GroupId>) -> Terms {
        let from = self.experiment.as_ref().map(|experiment| experiment.id.to_string());
        Terms {
            experiment_id: from.or_else(|| terms.experiment_id.clone()),
            group: group.cloned(),
            ..terms.clone()
        }
    }

    /// What would be made, and how it would be started. Nothing is.
    pub fn preview(&self, data: &DataDir, launcher: &Launcher, terms: &Terms) -> Vec<PlannedRun> {
        let group = (self.configs.len() > 1).then(GroupId::random);
        self.configs
            .iter()
            .map(|config| {
                let terms = self.terms(terms, group.as_ref());
                let manifest = launcher.manifest(RunId::random(), config, None, terms);
                let demand = Demand::of(&manifest);
                let mut command = vec![launcher.program.display().to_string()];
                let told = worker_arguments(data, "RUN", 1);
                command.extend(told.iter().map(|word| word.to_string_lossy().into_owned()));
                let job = Job {
                    command,
                    cpu: demand.cpu,
                    memory_bytes: demand.memory,
                    gpu: demand.gpu,
                    threads: config.n_threads(),
                    max_seconds: manifest.limits.max_seconds,
                    restarts: manifest.restart.as_ref().map_or(0, |restart| restart.max),
                    stop_grace_s: launcher.stop_grace.as_secs_f64(),
                };
                let differences = differences(&self.base, &manifest.config);
                let mut manifest = serde_json::to_value(&manifest).expect("plain data");
                // Names and times are given when it is made.
                for unknown in ["id", "created_at", "group"] {
                    if let Some(value) = manifest.get_mut(unknown) {
                        *value = Value::Null;
                    }
                }
                if let Some(track) = manifest.get_mut("track") {
                    track["id"] = Value::Null;
                }
                PlannedRun { seed: config.seeds.seed_base, manifest, differences, job }
            })
            .collect()
    }

    /// Makes the runs, which wait until they are started. All of them, or none.
    pub fn make(
        &self,
        data: &DataDir,
        launcher: &Launcher,
        terms: &Terms,
        by: By<'_>,
    ) -> Result<Vec<Manifest>> {
        let group = (self.configs.len() > 1).then(GroupId::random);
        let mut made: Vec<Manifest> = Vec::new();
        for config in &self.configs {
            let terms = self.terms(terms, group.as_ref());
            match steer::create(data, launcher, config, terms, by) {
                Ok(manifest) => made.push(manifest),
                Err(error) => {
                    for manifest in &made {
                        take_back(data, manifest, by);
                    }
                    return Err(error);
                }
            }
        }
        Ok(made)
    }
}

/// Ends a run that waits; one that cannot be ended is left, and can be ended by hand.
fn take_back(data: &DataDir, manifest: &Manifest, by: By<'_>) {
    let ended = steer::look(data, &manifest.id).and_then(|(_, status)| {
        steer::ask(data, manifest, &status, cartridge_store::Command::Stop, by)
    });
    if let Err(error) = ended {
        tracing::warn!(run = %manifest.id, %error, "cannot take back a run");
    }
}

/// A run that would be made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlannedRun {
    /// Its seed.
    pub seed: u64,
    /// `run.json`, without its name and time.
    pub manifest: Value,
    /// What differs from the template, or from the defaults where there is none.
    pub differences: Vec<Change>,
    /// How it would be started.
    pub job: Job,
}

/// How a run is carried out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Job {
    /// What the supervisor starts; `RUN` stands for the run's name.
    pub command: Vec<String>,
    /// CPU cores that are set aside for it.
    pub cpu: f64,
    /// Bytes of memory that are set aside for it.
    pub memory_bytes: u64,
    /// GPUs that are set aside for it.
    pub gpu: u32,
    /// Threads that learn.
    pub threads: usize,
    /// Seconds after which an attempt is ended.
    pub max_seconds: Option<f64>,
    /// How often it is started again by itself.
    pub restarts: u32,
    /// Seconds that it may take to save and end.
    pub stop_grace_s: f64,
}

/// Seeds as people write them: `7`, `1,2,9`, or `1..5`, which is 1, 2, 3, 4 and 5.
pub fn parse_seeds(text: &str) -> Result<Vec<u64>, String> {
    let number = |text: &str| {
        text.trim()
            .parse::<u64>()
            .map_err(|_| format!("`{text}` is no seed; write 7, 1,2,9 or 1..5"))
    };
    let mut seeds = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last.trim_start_matches('='))?);
                let n =
                    last.checked_sub(first).ok_or_else(|| format!("`{part}` runs backwards"))?;
                if n as usize >= MOST_RUNS {
                    return Err(format!("`{part}` has more than {MOST_RUNS} seeds"));
                }
                seeds.extend(first..=last);
            }
            None => seeds.push(number(part)?),
        }
    }
    Ok(seeds)
}

#[cfg(test)]
mod tests;
