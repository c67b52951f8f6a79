//! From a configuration to a run folder with a supervisor at work on it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use cartridge_games::registry::make_env;
use cartridge_store::jsonl::Appender;
use cartridge_store::{
    DataDir, Limits, Manifest, RunDir, RunId, RunKind, SupervisorEvent, SupervisorLine,
};

use crate::clock::unix_now;
use crate::config::RunConfig;
use crate::error::{Result, RunError};

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
    /// When it is ended.
    pub limits: Limits,
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
}

impl Launcher {
    /// Makes the run's folder and starts its supervisor, detached from this process.
    pub fn launch(&self, data: &DataDir, config: &RunConfig) -> Result<(RunDir, Manifest)> {
        let env_name = make_env(&config.env_id, &config.env)?.spec().name;
        let (dir, manifest) = RunDir::create(data, |id| Manifest {
            format: Manifest::FORMAT,
            id,
            kind: RunKind::Train,
            name: format!("{env_name}, {}, seed {}", config.algo.name(), config.seeds.seed_base),
            env_id: config.env_id.clone(),
            config: serde_json::to_value(config).expect("a configuration is plain data"),
            created_at: unix_now(),
            cartridge_version: self.version.clone(),
            command: None,
            cwd: None,
            limits: Default::default(),
        })?;
        self.start(data, dir, manifest)
    }

    /// Makes the folder of a run with a trainer that is not ours, and starts its supervisor.
    pub fn launch_external(
        &self,
        data: &DataDir,
        external: External,
    ) -> Result<(RunDir, Manifest)> {
        let External { env_id, name, seed, command, cwd, limits } = external;
        let mut config = serde_json::json!({ "env_id": env_id, "command": command });
        if let Some(seed) = seed {
            config["seeds"] = serde_json::json!({ "seed_base": seed });
        }
        let (dir, manifest) = RunDir::create(data, |id| Manifest {
            format: Manifest::FORMAT,
            id,
            kind: RunKind::External,
            name,
            env_id,
            config,
            created_at: unix_now(),
            cartridge_version: self.version.clone(),
            command: Some(command),
            cwd: Some(cwd),
            limits,
        })?;
        self.start(data, dir, manifest)
    }

    fn start(&self, data: &DataDir, dir: RunDir, manifest: Manifest) -> Result<(RunDir, Manifest)> {
        if let Err(error) = self.supervise(data, &manifest.id) {
            record_failed_start(&dir, &error)?;
            return Err(error);
        }
        Ok((dir, manifest))
    }

    fn supervise(&self, data: &DataDir, id: &RunId) -> Result<()> {
        let mut child = Command::new(&self.program)
            .arg("supervise")
            .arg("--data")
            .arg(data.path())
            .arg("--run")
            .arg(id.as_str())
            .arg("--stop-grace")
            .arg(self.stop_grace.as_secs().to_string())
            // It outlives us, so it must hold neither our terminal nor our working folder, and it
            // has no use for our token.
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir(Path::new("/"))
            .env_remove("CARTRIDGE_TOKEN")
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

/// A run whose supervisor could not be started has failed, and says so.
fn record_failed_start(dir: &RunDir, error: &RunError) -> Result<()> {
    let mut appender = Appender::open(dir.supervisor_path())?;
    appender.append(&SupervisorLine {
        attempt: 1,
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
