//! `cartridge stop`, `pause`, `resume`, `start`, `terminate`, `checkpoint`, `tune`: what can be
//! asked of a run, with or without a lab.

use std::time::Duration;

use cartridge_run::RunError;
use cartridge_run::lab;
use cartridge_run::queue;
use cartridge_run::steer::{self, By, Turn};
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

/// Let a run go on: after a pause, or from its last checkpoint
///
/// While a lab is at work on the data folder, a new attempt waits in its queue until there is room.
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    on: Args,
    /// Start a new attempt at once, past the queue of a lab on the same data folder
    #[arg(long)]
    now: bool,
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
pub(crate) fn resume(args: &ResumeArgs) -> anyhow::Result<Exit> {
    let ResumeArgs { on: Args { run, data, json }, now } = args;
    let data = data.open_existing()?;
    let id = run.parse().map_err(RunError::from)?;
    // So that one that was killed a moment ago is seen to be lost.
    steer::is_at_work(&data.run(&id), &id)?;
    let (manifest, status) = steer::look(&data, &id)?;
    let launcher = launcher(Duration::from_secs(STOP_GRACE_SECONDS))?;
    let lab = lab::presence(&data).filter(|_| !now);
    let turn = if lab.is_some() { Turn::InQueue } else { Turn::Now };
    steer::resume(&data, &launcher, &manifest, &status, turn, By::new(&user()))?;
    let state = status.state();
    let is_new = !state.is_active();
    let attempt = status.last_attempt() + u32::from(is_new);
    let attempt = if state == RunState::Queued { status.next_attempt() } else { attempt };
    let place = if is_new && lab.is_some() { queue::place(&data, &id)? } else { None };
    if *json {
        say_json(&serde_json::json!({ "run_id": run, "attempt": attempt }));
    } else if state == RunState::Queued {
        say(&format!("{run} starts"));
    } else if let (Some(place), Some(lab)) = (place, lab) {
        say(&format!(
            "{run} goes on from its last checkpoint, in attempt {attempt}, as soon as the lab at \
             {} has room: it is at place {place} in the queue",
            lab.address
        ));
    } else if is_new {
        say(&format!("{run} goes on from its last checkpoint, in attempt {attempt}"));
    } else {
        say(&format!("{run} goes on"));
    }
    Ok(Exit::Ok)
}

/// `cartridge start`: a run that waits is started past the queue.
pub(crate) fn start(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let id = args.run.parse().map_err(RunError::from)?;
    let (manifest, status) = steer::look(&data, &id)?;
    let launcher = launcher(Duration::from_secs(STOP_GRACE_SECONDS))?;
    steer::start(&data, &launcher, &manifest, &status, By::new(&user()))?;
    if args.json {
        let attempt = status.next_attempt();
        say_json(&serde_json::json!({ "run_id": args.run, "attempt": attempt }));
    } else {
        say(&format!("{} starts", args.run));
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
