//! What is kept, and for how long: the lab's knobs, and from them a plan.
//!
//! | knob in `data/lab.json` | means |
//! |---|---|
//! | `retention.keep_videos` | newest videos of each run, and of its evaluations together; a run's own configuration comes first |
//! | `retention.keep_checkpoints` | newest checkpoints of each run; likewise |
//! | `retention.keep_tensorboard_runs` | newest TensorBoard folders in all |
//! | `retention.keep_runs_per_experiment` | newest runs of each experiment; those of none count by their environment |
//! | `retention.keep_runs_per_agent` | newest runs of each algorithm in each environment |
//! | `retention.milestone_every_steps` | the first checkpoint at or after each multiple stays |
//! | `retention.max_bytes` | bytes of all that runs have made, their records, index and trash |
//!
//! What is not set has no limit. Whatever is pinned, a milestone, or what `latest` and `best`
//! point to always stays, and nothing of a run at work is touched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use cartridge_games::nearest::nearest;
use cartridge_store::{Artifact, ArtifactKind, ArtifactList, DataDir, RunId, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::checkpoint;
use crate::config::{Analytics, ConfigError, plain_words};
use crate::error::Result;
use crate::named_trainer::Trainers;

/// Format of `data/lab.json`.
const FORMAT: u32 = 1;

/// The lab's own configuration: `data/lab.json`. A file that is not there means the defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LabConfig {
    /// Format of the file.
    pub format: u32,
    /// What is kept.
    pub retention: Limits,
    /// Whom the lab answers.
    pub server: Server,
    /// How the numbers of runs that do not say so themselves are summed up.
    pub analytics: Analytics,
    /// When alerts fire, and who is told.
    pub alerts: AlertLimits,
    /// What the machine costs.
    pub prices: Prices,
    /// Where other tools show what belongs to a run or a request.
    pub links: Links,
    /// A W&B server whose runs are shown beside the lab's own.
    pub wandb: WandbSource,
    /// Trainers that may be started by name.
    pub trainers: Trainers,
}

impl Default for LabConfig {
    fn default() -> Self {
        Self {
            format: FORMAT,
            retention: Limits::default(),
            server: Server::default(),
            analytics: Analytics::default(),
            alerts: AlertLimits::default(),
            prices: Prices::default(),
            links: Links::default(),
            wandb: WandbSource::default(),
            trainers: Trainers::default(),
        }
    }
}

/// A W&B server that is read for the pages of the lab. Its key is in the lab's environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WandbSource {
    /// The server.
    pub base_url: String,
    /// Whose project.
    pub entity: Option<String>,
    /// The project.
    pub project: Option<String>,
    /// Seconds for which an answer is good.
    pub ttl_seconds: u64,
}

impl Default for WandbSource {
    fn default() -> Self {
        let base_url = "https://api.wandb.ai".to_owned();
        Self { base_url, entity: None, project: None, ttl_seconds: 30 }
    }
}

/// Whom the lab answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// Other origins whose pages may talk to the lab, such as `https://lab.example`.
    pub allowed_origins: Vec<String>,
}

/// When alerts fire, and who is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AlertLimits {
    /// Milliseconds that 19 in 20 answers to `GET /api/…` must stay below, over a minute; nothing
    /// for no alert.
    pub api_p95_ms: Option<f64>,
    /// Bytes that must be free for the data folder; nothing for no alert.
    pub disk_free_bytes: Option<u64>,
    /// Who else is told.
    pub webhook: Webhook,
}

impl Default for AlertLimits {
    fn default() -> Self {
        Self {
            api_p95_ms: Some(1_000.0),
            disk_free_bytes: Some(1024 * 1024 * 1024),
            webhook: Webhook::default(),
        }
    }
}

/// Another program that is told of alerts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Webhook {
    /// The address that gets a POST for each change of an alert; nobody is told without one.
    pub url: Option<String>,
    /// Hosts that the address may have.
    pub allow_hosts: Vec<String>,
    /// Those of them that may be on this machine or in a private network.
    pub allow_private_hosts: Vec<String>,
}

/// Where other tools show what belongs to a run or a request: addresses in which `{run_id}` and
/// `{request_id}` stand for what is asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Links {
    /// Charts, such as `https://grafana.example/d/lab?var-run={run_id}`.
    pub grafana: Option<String>,
    /// Traces.
    pub tempo: Option<String>,
    /// Traces.
    pub jaeger: Option<String>,
    /// Logs.
    pub loki: Option<String>,
}

/// What the machine costs, in whatever currency.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Prices {
    /// The currency, for people.
    pub currency: String,
    /// An hour of a CPU core.
    pub cpu_core_hour: f64,
    /// An hour of a gibibyte of memory.
    pub memory_gib_hour: f64,
    /// An hour of a GPU.
    pub gpu_hour: f64,
}

/// What is kept; nothing means no limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Newest videos of each run that does not say itself.
    pub keep_videos: Option<u32>,
    /// Newest checkpoints of each run that does not say itself.
    pub keep_checkpoints: Option<u32>,
    /// Newest TensorBoard folders in all.
    pub keep_tensorboard_runs: Option<u32>,
    /// Newest runs of each experiment; those of none count by their environment.
    pub keep_runs_per_experiment: Option<u32>,
    /// Newest runs of each algorithm in each environment.
    pub keep_runs_per_agent: Option<u32>,
    /// Steps between checkpoints that are kept for good, of each run that does not say itself.
    pub milestone_every_steps: Option<u64>,
    /// Bytes of all that runs have made, of the lab's records of them, the index and the trash.
    pub max_bytes: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            keep_videos: Some(3),
            keep_checkpoints: Some(5),
            keep_tensorboard_runs: None,
            keep_runs_per_experiment: None,
            keep_runs_per_agent: None,
            milestone_every_steps: None,
            max_bytes: None,
        }
    }
}

impl Limits {
    /// No limits at all.
    pub fn nothing() -> Self {
        Self { keep_videos: None, keep_checkpoints: None, ..Self::default() }
    }
}

impl LabConfig {
    /// Reads the lab's configuration. Unknown keys are refused with the nearest right one.
    pub fn read(data: &DataDir) -> Result<Self> {
        let path = data.path().join("lab.json");
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(StoreError::io(&path)(error).into()),
        };
        let value: Value = serde_json::from_slice(&text).map_err(|error| StoreError::Damaged {
            path: path.clone(),
            detail: error.to_string(),
        })?;
        if let Some(found) = value["format"].as_u64().filter(|&found| found > u64::from(FORMAT)) {
            let found = u32::try_from(found).unwrap_or(u32::MAX);
            return Err(StoreError::NewerFormat { path, found, known: FORMAT }.into());
        }
        Ok(Self::parse(&value)?)
    }

    pub(crate) fn parse(value: &Value) -> Result<Self, ConfigError> {
        let known = serde_json::to_value(Self::default()).expect("plain data");
        refuse_unknown("", value, &known)?;
        // They have names of their own, and are looked at by themselves.
        if let Some(trainers) = value.get("trainers") {
            Trainers::parse(trainers)?;
        }
        serde_path_to_error::deserialize(value).map_err(|error| ConfigError::BadValue {
            key: error.path().to_string(),
            detail: plain_words(&error.inner().to_string()),
        })
    }
}

fn refuse_unknown(prefix: &str, given: &Value, known: &Value) -> Result<(), ConfigError> {
    let (Some(given), Some(known)) = (given.as_object(), known.as_object()) else { return Ok(()) };
    for (key, value) in given {
        let Some(known) = known.get(key) else {
            let hint = match nearest(key, known.keys().map(String::as_str)) {
                Some(near) => format!("did you mean `{prefix}{near}`?"),
                None => {
                    let names: Vec<String> =
                        known.keys().map(|name| format!("{prefix}{name}")).collect();
                    format!("known are {}", names.join(", "))
                }
            };
            return Err(ConfigError::UnknownKey { key: format!("{prefix}{key}"), hint });
        };
        if prefix.is_empty() && key == "trainers" {
            continue;
        }
        refuse_unknown(&format!("{prefix}{key}."), value, known)?;
    }
    Ok(())
}

/// What the plan must know of a run.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// The run.
    pub run: RunId,
    /// Its environment.
    pub env_id: String,
    /// The experiment that it belongs to.
    pub experiment_id: Option<String>,
    /// What learns in it: the algorithm, or the command of a foreign trainer.
    pub agent: String,
    /// When it was made.
    pub created_at: f64,
    /// Whether its trainer is at work.
    pub is_at_work: bool,
    /// Whether the whole run is to be kept.
    pub is_pinned: bool,
    /// Whether the knobs about whole runs count it.
    pub is_counted: bool,
    /// The run that it evaluates.
    pub evaluates: Option<RunId>,
    /// Newest videos to keep, as the run itself says.
    pub keep_videos: Option<u32>,
    /// Newest checkpoints to keep, as the run itself says.
    pub keep_checkpoints: Option<u32>,
    /// Steps between milestones, as the run itself says.
    pub milestone_every_steps: Option<u64>,
    /// Whether somebody pinned one of its checkpoints.
    pub has_pins: bool,
    /// Checkpoints that somebody pinned or an alias points to.
    pub kept_checkpoints: BTreeSet<String>,
    /// What it has made.
    pub list: ArtifactList,
}

impl RunFacts {
    fn may_go(&self, artifact: &Artifact) -> bool {
        let is_kept_checkpoint = artifact.kind == ArtifactKind::Checkpoint
            && self.kept_checkpoints.contains(checkpoint::name_at(&artifact.path));
        !(self.is_at_work
            || self.is_pinned
            || artifact.pinned
            || artifact.milestone
            || artifact.shared
            || is_kept_checkpoint)
    }

    /// The artifacts of a kind that are the run's own: what others may use too takes no place.
    fn of_kind(&self, kind: ArtifactKind) -> Vec<&Artifact> {
        let is_own = |artifact: &&Artifact| artifact.kind == kind && !artifact.shared;
        let mut all: Vec<&Artifact> = self.list.artifacts.iter().filter(is_own).collect();
        if kind == ArtifactKind::Checkpoint {
            // By number of steps: folders that are copied lose their times.
            all.sort_by_key(|artifact| {
                (step_of(artifact), artifact.path.len(), artifact.path.clone())
            });
        }
        all
    }
}

fn step_of(artifact: &Artifact) -> u64 {
    artifact.step.or_else(|| checkpoint::step_in(&artifact.path)).unwrap_or(0)
}

/// An artifact that is to go.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Doomed {
    /// The run.
    pub run_id: RunId,
    /// The artifact.
    pub artifact: Artifact,
    /// Why.
    pub reason: String,
}

/// A run that is to go to the trash.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DoomedRun {
    /// The run.
    pub run_id: RunId,
    /// Bytes of what it has made.
    pub size_bytes: u64,
    /// Why.
    pub reason: String,
}

/// What is to go.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Plan {
    /// Artifacts.
    pub artifacts: Vec<Doomed>,
    /// Whole runs.
    pub runs: Vec<DoomedRun>,
    /// Bytes that are freed at once; runs in the trash take their room for a week more.
    pub freed_bytes: u64,
    /// Bytes beyond the limit that nothing could be found for.
    pub over_bytes: u64,
}

/// Decides what is to go. `other_bytes` is what counts for `max_bytes` and is no artifact.
pub fn plan(facts: &[RunFacts], limits: &Limits, other_bytes: u64) -> Plan {
    let mut planner =
        Planner { plan: Plan::default(), gone: BTreeSet::new(), milestones: BTreeSet::new() };
    for facts in facts {
        planner.keep_milestones(facts, limits);
    }
    // Whole runs first: one in the trash stays as it is, so that it can be brought back.
    let experiment = |facts: &RunFacts| match &facts.experiment_id {
        // An experiment may be called like an environment.
        Some(id) => format!("experiment {id}"),
        None => facts.env_id.clone(),
    };
    let agent = |facts: &RunFacts| format!("{} in {}", facts.agent, facts.env_id);
    if let Some(keep) = limits.keep_runs_per_experiment {
        planner.doom_runs(facts, keep, experiment);
    }
    if let Some(keep) = limits.keep_runs_per_agent {
        planner.doom_runs(facts, keep, agent);
    }
    for facts in facts {
        for (kind, own, lab) in [
            (ArtifactKind::Video, facts.keep_videos, limits.keep_videos),
            (ArtifactKind::Checkpoint, facts.keep_checkpoints, limits.keep_checkpoints),
        ] {
            // Those of evaluations are counted together.
            let is_own = kind != ArtifactKind::Video || facts.evaluates.is_none();
            if let Some(keep) = own.or(lab).filter(|_| is_own) {
                let all = facts.of_kind(kind);
                let n_old = all.len().saturating_sub(keep as usize);
                let reason = format!("the newest {keep} of the run are kept");
                planner.doom(facts, &all[..n_old], &reason);
            }
        }
    }
    planner.doom_films_of_evaluations(facts, limits);
    if let Some(keep) = limits.keep_tensorboard_runs {
        let mut all: Vec<(&RunFacts, &Artifact)> = facts
            .iter()
            .flat_map(|facts| {
                facts.of_kind(ArtifactKind::Tensorboard).into_iter().map(move |a| (facts, a))
            })
            .collect();
        all.sort_by(|a, b| b.1.modified_at.total_cmp(&a.1.modified_at));
        let reason = format!("the newest {keep} TensorBoard folders are kept");
        for (facts, artifact) in all.into_iter().skip(keep as usize) {
            planner.doom(facts, &[artifact], &reason);
        }
    }
    if let Some(most) = limits.max_bytes {
        planner.make_room(facts, most, other_bytes);
    }
    planner.plan
}

struct Planner {
    plan: Plan,
    /// Runs and artifacts that are to go already.
    gone: BTreeSet<(RunId, String)>,
    /// Checkpoints that stay because of their steps.
    milestones: BTreeSet<(RunId, String)>,
}

impl Planner {
    /// The first checkpoint at or after each multiple of some steps stays.
    fn keep_milestones(&mut self, facts: &RunFacts, limits: &Limits) {
        let every = facts.milestone_every_steps.or(limits.milestone_every_steps).unwrap_or(0);
        if every == 0 {
            return;
        }
        let mut before = 0;
        for artifact in facts.of_kind(ArtifactKind::Checkpoint) {
            let step = step_of(artifact);
            if step / every > before / every {
                self.milestones.insert((facts.run.clone(), artifact.id.to_string()));
            }
            before = step;
        }
    }

    fn doom(&mut self, facts: &RunFacts, artifacts: &[&Artifact], reason: &str) {
        for artifact in artifacts {
            let name = (facts.run.clone(), artifact.id.to_string());
            let goes_whole = self.gone.contains(&(facts.run.clone(), String::new()));
            let may_go = facts.may_go(artifact) && !self.milestones.contains(&name);
            if !goes_whole && may_go && self.gone.insert(name) {
                self.plan.freed_bytes += artifact.size_bytes;
                self.plan.artifacts.push(Doomed {
                    run_id: facts.run.clone(),
                    artifact: (*artifact).clone(),
                    reason: reason.to_owned(),
                });
            }
        }
    }

    /// Of all evaluations of a run together, the newest films stay: as many as the run says, or the
    /// lab.
    fn doom_films_of_evaluations(&mut self, facts: &[RunFacts], limits: &Limits) {
        let mut groups: BTreeMap<&RunId, Vec<(&RunFacts, &Artifact)>> = BTreeMap::new();
        for facts in facts {
            if let Some(of) = &facts.evaluates {
                let films = facts.of_kind(ArtifactKind::Video).into_iter();
                groups.entry(of).or_default().extend(films.map(|film| (facts, film)));
            }
        }
        for (of, mut films) in groups {
            let subject = facts.iter().find(|facts| facts.run == *of);
            let own = subject.and_then(|subject| subject.keep_videos);
            let Some(keep) = own.or(limits.keep_videos) else { continue };
            films.sort_by(|a, b| b.1.modified_at.total_cmp(&a.1.modified_at));
            let reason = format!("the newest {keep} of the evaluations of {of} are kept");
            for (facts, film) in films.into_iter().skip(keep as usize) {
                self.doom(facts, &[film], &reason);
            }
        }
    }

    fn doom_runs(&mut self, facts: &[RunFacts], keep: u32, group: impl Fn(&RunFacts) -> String) {
        let mut groups: BTreeMap<String, Vec<&RunFacts>> = BTreeMap::new();
        for facts in facts.iter().filter(|facts| facts.is_counted) {
            groups.entry(group(facts)).or_default().push(facts);
        }
        for (name, mut runs) in groups {
            runs.sort_by(|a, b| b.created_at.total_cmp(&a.created_at));
            for facts in runs.into_iter().skip(keep as usize) {
                let is_free = !facts.is_at_work && !facts.is_pinned && !facts.keeps_something();
                if is_free && self.gone.insert((facts.run.clone(), String::new())) {
                    self.plan.runs.push(DoomedRun {
                        run_id: facts.run.clone(),
                        size_bytes: facts.list.bytes().values().sum(),
                        reason: format!("the newest {keep} runs of {name} are kept"),
                    });
                }
            }
        }
    }

    /// Frees bytes until everything fits: films first, then the logs of others, then checkpoints;
    /// of the oldest runs first.
    fn make_room(&mut self, facts: &[RunFacts], most: u64, other_bytes: u64) {
        let made: u64 = facts.iter().flat_map(|facts| facts.list.bytes().into_values()).sum();
        let total = made + other_bytes;
        let mut oldest: Vec<&RunFacts> = facts.iter().collect();
        oldest.sort_by(|a, b| a.created_at.total_cmp(&b.created_at));
        let reason = format!("everything together is to fit into {most} bytes");
        for kind in [
            ArtifactKind::Video,
            ArtifactKind::Tensorboard,
            ArtifactKind::Wandb,
            ArtifactKind::Checkpoint,
        ] {
            for facts in &oldest {
                for artifact in facts.of_kind(kind) {
                    if total.saturating_sub(self.plan.freed_bytes) <= most {
                        return;
                    }
                    self.doom(facts, &[artifact], &reason);
                }
            }
        }
        self.plan.over_bytes = total.saturating_sub(self.plan.freed_bytes).saturating_sub(most);
    }
}

impl RunFacts {
    /// Whether somebody wanted to keep something of it.
    fn keeps_something(&self) -> bool {
        self.has_pins || self.list.artifacts.iter().any(|artifact| artifact.pinned)
    }
}

#[cfg(test)]
mod tests;
