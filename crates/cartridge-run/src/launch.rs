//! From a configuration to a run folder with a supervisor at work on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use cartridge_games::registry::make_world;
use cartridge_store::jsonl::Appender;
use cartridge_store::{
    DataDir, GroupId, Limits, Manifest, Parent, Restart, RunDir, RunId, RunKind, StoreError,
    SupervisorEvent, SupervisorLine,
};

use crate::checkpoint::Origin;
use crate::clock::unix_now;
use crate::config::{Resources, RunConfig};
use crate::error::{Result, RunError};
use crate::foreign::checkpoints::{self, Named};
use crate::named_trainer::StartedAs;
use crate::supervisor::WANDB_KEY;
use crate::{track, wandb};

/// What holds for a run whatever it trains.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// How it is started again by itself when it fails.
    pub restart: Option<Restart>,
    /// When it is ended.
    pub limits: Limits,
    /// The experiment that it belongs to.
    pub experiment_id: Option<String>,
    /// The runs that it was made together with.
    pub group: Option<GroupId>,
    /// The W&B server that is told of it as well, if the trainer is ours.
    pub track: Option<track::Server>,
}

/// A run of a trainer that is not ours.
#[derive(Clone, Debug)]
pub struct External {
    /// Id of the environment, which need not be one of ours.
    pub env_id: String,
    /// For people.
    pub name: String,
    /// The number that the trainer is told to derive its randomness from.
    pub seed: Option<u64>,
    /// Its program and arguments.
    pub command: Vec<String>,
    /// Where it is started.
    pub cwd: PathBuf,
    /// Variables of the environment in which it is started, also by somebody else and later.
    pub environment: BTreeMap<String, String>,
    /// What it needs.
    pub resources: Resources,
    /// What holds whatever it trains.
    pub terms: Terms,
    /// The name by which it was started, where it has one.
    pub started_as: Option<StartedAs>,
}

/// Variables that say which programs and machines a trainer uses. They are kept with the run, so
/// that it is the same whoever starts it: the one who made it, or the lab later.
const KEPT_VARIABLES: [&str; 16] = [
    "PATH",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "LD_LIBRARY_PATH",
    "CUDA_HOME",
    "CUDA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "LANG",
    "LC_ALL",
    "TZ",
    "WANDB_BASE_URL",
    "WANDB_MODE",
    "WANDB_ENTITY",
    "WANDB_PROJECT",
];

/// The variables of this process that are kept with a run.
pub fn kept_environment() -> BTreeMap<String, String> {
    let kept = KEPT_VARIABLES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
    kept.collect()
}

/// Starts supervisors: knows which program to start.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The `cartridge` binary.
    pub program: PathBuf,
    /// Version of the product, for the manifest.
    pub version: String,
    /// How long a trainer that is asked to stop may take to save and end.
    pub stop_grace: Duration,
    /// Whether this is the lab, whose key for W&B is none of the trainers' that are not ours.
    pub is_lab: bool,
}

impl Launcher {
    /// Makes the folder of a training, which is queued until it is started.
    pub fn create(
        &self,
        data: &DataDir,
        config: &RunConfig,
        terms: Terms,
    ) -> Result<(RunDir, Manifest)> {
        Ok(RunDir::create(data, |id| self.manifest(id, config, None, terms))?)
    }

    /// Makes the folder of a training that goes on from a checkpoint of another.
    pub fn create_fork(
        &self,
        data: &DataDir,
        config: &RunConfig,
        parent: Parent,
        origin: Origin,
        terms: Terms,
    ) -> Result<(RunDir, Manifest)> {
        // What it goes on from is there before the run is.
        let from = data.run(&parent.run);
        let prepare = |dir: &RunDir| {
            origin
                .plant(&from, dir, config)
                .map_err(|error| StoreError::io(dir.path())(std::io::Error::other(error)))
        };
        let manifest = |id| self.manifest(id, config, Some(parent), terms);
        Ok(RunDir::create_prepared(data, prepare, manifest)?)
    }

    pub(crate) fn manifest(
        &self,
        id: RunId,
        config: &RunConfig,
        parent: Option<Parent>,
        terms: Terms,
    ) -> Manifest {
        let Terms { restart, limits, experiment_id, group, track } = terms;
        // A configuration that was checked has an environment.
        let env = make_world(&config.env_id, &config.env);
        let env_name = env.map_or_else(|_| config.env_id.clone(), |env| env.spec().name.to_owned());
        let config_value = serde_json::to_value(config).expect("a configuration is plain data");
        Manifest {
            format: Manifest::FORMAT,
            track: track.map(|server| server.track(&id, &config_value)),
            id,
            kind: RunKind::Train,
            name: format!("{env_name}, {}, seed {}", config.algo.name(), config.seeds.seed_base),
            env_id: config.env_id.clone(),
            config: config_value,
            created_at: unix_now(),
            cartridge_version: self.version.clone(),
            parent,
            restart,
            command: None,
            cwd: None,
            environment: BTreeMap::new(),
            limits,
            experiment_id,
            group,
        }
    }

    /// Makes the folder of a run with a trainer that is not ours.
    pub fn create_external(
        &self,
        data: &DataDir,
        external: External,
    ) -> Result<(RunDir, Manifest)> {
        let External {
            env_id,
            name,
            seed,
            command,
            cwd,
            environment,
            resources,
            terms,
            started_as,
        } = external;
        // A trainer that is not ours tells W&B itself.
        let Terms { restart, limits, experiment_id, group, track: _ } = terms;
        let mut config = match started_as {
            // Which program that is, is the business of whoever wrote `lab.json`.
            Some(StartedAs { trainer_id, arguments }) => serde_json::json!({
                "env_id": env_id,
                "trainer_id": trainer_id,
                "arguments": arguments,
                "resources": resources,
            }),
            None => {
                serde_json::json!({ "env_id": env_id, "command": command, "resources": resources })
            }
        };
        if let Some(seed) = seed {
            config["seeds"] = serde_json::json!({ "seed_base": seed });
        }
        Ok(RunDir::create(data, |id| Manifest {
            format: Manifest::FORMAT,
            id,
            kind: RunKind::External,
            name,
            env_id,
            config,
            created_at: unix_now(),
            cartridge_version: self.version.clone(),
            parent: None,
            restart,
            command: Some(command),
            cwd: Some(cwd),
            environment,
            limits,
            experiment_id,
            group,
            track: None,
        })?)
    }

    /// Makes the folder of a run whose trainer is a `wandb` client somewhere, for which our own
    /// program stands here.
    pub(crate) fn create_wandb(
        &self,
        data: &DataDir,
        key: &wandb::Key,
        card: &wandb::Card,
        patience: Duration,
    ) -> Result<(RunDir, Manifest)> {
        let now = unix_now();
        let plain = wandb::row::plain_config(&card.config);
        let env_id = wandb::relay::said_in(&plain, &wandb::relay::ENV_KEYS);
        let env_id = for_people(&env_id.unwrap_or_else(|| key.project.clone()));
        // It trains elsewhere, and takes nothing of what runs here share.
        let resources =
            Resources { gpu: 0, cpu: "0.01".to_owned(), memory: "1Mi".to_owned(), threads: 0 };
        let command = vec![
            self.program.display().to_string(),
            wandb::RELAY.to_owned(),
            "--patience".to_owned(),
            patience.as_secs().max(1).to_string(),
        ];
        let mut config = serde_json::json!({
            "env_id": env_id, "command": command, "resources": resources, "wandb": key,
        });
        if let Some(seed) = plain.get("seed").and_then(serde_json::Value::as_u64) {
            config["seeds"] = serde_json::json!({ "seed_base": seed });
        }
        let folder = wandb::Folder::name(key, now);
        let prepare = |dir: &RunDir| wandb::Folder::make(dir, &folder, card).map(|_| ());
        Ok(RunDir::create_prepared(data, prepare, |id| Manifest {
            format: Manifest::FORMAT,
            id,
            kind: RunKind::External,
            name: for_people(card.display_name.as_ref().unwrap_or(&key.id)),
            env_id,
            config,
            created_at: now,
            cartridge_version: self.version.clone(),
            parent: None,
            restart: None,
            command: Some(command),
            cwd: None,
            environment: BTreeMap::new(),
            limits: Limits {
                stop_grace_s: Some(wandb::STOP_GRACE.as_secs_f64()),
                ..Limits::default()
            },
            experiment_id: None,
            group: None,
            track: None,
        })?)
    }

    /// Makes the folder of a run whose trainer is that of `parent` and goes on from one of its
    /// checkpoints, of which it gets a copy. `overrides` are the settings that it is told.
    pub(crate) fn create_external_fork(
        &self,
        data: &DataDir,
        parent: &Manifest,
        checkpoint: &Named,
        overrides: serde_json::Map<String, serde_json::Value>,
    ) -> Result<(RunDir, Manifest)> {
        let origin = data.run(&parent.id);
        // What it goes on from is there before the run is.
        let prepare = |dir: &RunDir| checkpoints::copy(&origin, dir, checkpoint);
        let mut config = parent.config.clone();
        if !overrides.is_empty() {
            config["overrides"] = overrides.into();
        }
        Ok(RunDir::create_prepared(data, prepare, |id| Manifest {
            id,
            config,
            created_at: unix_now(),
            cartridge_version: self.version.clone(),
            parent: Some(Parent {
                run: parent.id.clone(),
                checkpoint: checkpoint.name.clone(),
                step: checkpoint.step,
            }),
            restart: None,
            group: None,
            track: None,
            ..parent.clone()
        })?)
    }

    /// Starts an attempt of a run: a supervisor that is detached from this process. A run whose
    /// first start fails has failed, and says so.
    pub fn start(&self, data: &DataDir, id: &RunId, attempt: u32) -> Result<()> {
        let span = tracing::info_span!(target: "otel", "run.start", run_id = %id, attempt);
        let started = span.in_scope(|| self.supervise(data, id, attempt));
        if let Err(error) = &started {
            record_failed_start(&data.run(id), attempt, error)?;
        }
        started
    }

    fn supervise(&self, data: &DataDir, id: &RunId, attempt: u32) -> Result<()> {
        let mut command = Command::new(&self.program);
        if self.is_lab && data.run(id).manifest()?.kind == RunKind::External {
            command.env_remove(WANDB_KEY);
        }
        let mut child = command
            .arg("supervise")
            .arg("--data")
            .arg(data.path())
            .arg("--run")
            .arg(id.as_str())
            .arg("--attempt")
            .arg(attempt.to_string())
            .arg("--stop-grace")
            .arg(self.stop_grace.as_secs().to_string())
            // It outlives us, so it must hold neither our terminal nor our working folder, and it
            // has no use for our token.
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir(Path::new("/"))
            .env_remove("CARTRIDGE_TOKEN")
            // A run that is started by the trainer of another is none of that one's processes.
            .env_remove("CARTRIDGE_RUN_ID")
            .spawn()
            .map_err(|source| RunError::Spawn {
                program: self.program.display().to_string(),
                source,
            })?;
        // Collects the exit status while we live, so that no zombie is left; if we die first,
        // the system does it.
        thread::spawn(move || _ = child.wait());
        Ok(())
    }
}

/// A name that somebody else has chosen, as one line that is not too long.
fn for_people(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(200).collect()
}

/// A run whose supervisor could not be started has failed, and says so.
fn record_failed_start(dir: &RunDir, attempt: u32, error: &RunError) -> Result<()> {
    let mut appender = Appender::open(dir.supervisor_path())?;
    appender.append(&SupervisorLine {
        attempt,
        t: unix_now(),
        event: SupervisorEvent::Exited {
            code: None,
            signal: None,
            forced: false,
            log: vec![error.to_string()],
            reason: None,
            lines: None,
        },
    })?;
    Ok(appender.sync()?)
}
