//! `cartridge stop`, `pause`, `resume`, `terminate`, `checkpoint`, `tune`: what can be asked of a
//! run, with or without a lab.

use std::time::Duration;

use cartridge_run::RunError;
use cartridge_run::steer::{self, By};
use cartridge_run::store::{Command, DataDir, RunId, RunState};

use super::{DataArgs, STOP_GRACE_SECONDS, launcher, say, say_json, user};
use crate::exit::Exit;

/// Which run, and how to answer: the same for everything that can be asked.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the run
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// Change a setting of a run while it trains, after a checkpoint
#[derive(Debug, clap::Args)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    on: Args,
    /// The setting and its new value, such as trainer.learning_rate=1e-4
    #[arg(value_name = "PATH=VALUE")]
    setting: String,
}

pub(crate) fn run(args: &Args, command: Command) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let id = args.run.parse().map_err(RunError::from)?;
    let said = match command {
        Command::Stop => "is stopping",
        Command::Pause => "pauses after this update",
        Command::Resume => "goes on",
        Command::Terminate => "is being ended",
        Command::Checkpoint => "saves a checkpoint after this update",
        Command::Tune { .. } => "is asked to change the setting after this update",
        Command::Watch { .. } => "knows",
    };
    let state = ask(&data, &id, command)?;
    if args.json {
        say_json(&serde_json::json!({ "run_id": args.run, "state": state }));
    } else {
        say(&format!("{} {said}", args.run));
    }
    Ok(Exit::Ok)
}

/// `cartridge resume`: after a pause, or in a new attempt from the last checkpoint.
pub(crate) fn resume(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let id = args.run.parse().map_err(RunError::from)?;
    let (manifest, status) = steer::look(&data, &id)?;
    let launcher = launcher(Duration::from_secs(STOP_GRACE_SECONDS))?;
    steer::resume(&data, &launcher, &manifest, &status, By::new(&user()))?;
    let attempt = status.last_attempt();
    let state = status.state();
    let is_new = state == RunState::Queued || !state.is_active();
    if args.json {
        let attempt = attempt + u32::from(is_new);
        say_json(&serde_json::json!({ "run_id": args.run, "attempt": attempt }));
    } else if state == RunState::Queued {
        say(&format!("{} starts", args.run));
    } else if is_new {
        say(&format!("{} goes on from its last checkpoint, in attempt {}", args.run, attempt + 1));
    } else {
        say(&format!("{} goes on", args.run));
    }
    Ok(Exit::Ok)
}

pub(crate) fn tune(args: &TuneArgs) -> anyhow::Result<Exit> {
    let value = |text: &str| text.trim().replace('_', "").parse::<f64>().ok();
    let setting = args.setting.split_once('=');
    let Some((path, value)) = setting.and_then(|(path, text)| Some((path, value(text)?))) else {
        anyhow::bail!(RunError::from(cartridge_run::ConfigError::BadValue {
            key: args.setting.clone(),
            detail: "write it as path=number, such as trainer.learning_rate=1e-4".to_owned(),
        }));
    };
    run(&args.on, Command::Tune { path: path.trim().to_owned(), value })
}

/// Asks the run, and returns how it stands then.
pub(crate) fn ask(data: &DataDir, id: &RunId, command: Command) -> anyhow::Result<RunState> {
    let (manifest, status) = steer::look(data, id)?;
    steer::ask(data, &manifest, &status, command, By::new(&user()))?;
    Ok(steer::look(data, id)?.1.state())
}
