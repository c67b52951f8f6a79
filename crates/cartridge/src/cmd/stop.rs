//! `cartridge stop`: ask a run to end.

use cartridge_run::clock::unix_now;
use cartridge_run::store::{Command, DataDir, Follower, RunId, RunKind, StoreError};
use cartridge_run::{RunError, control, secret};

use super::{DataArgs, say, say_json};
use crate::cmd::runs::notice_loss;
use crate::exit::Exit;

/// Ask a run to save a checkpoint and end
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the run
    run: String,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    stop(&data, &args.run.parse().map_err(RunError::from)?)?;
    if args.json {
        say_json(&serde_json::json!({ "run_id": args.run, "state": "stopping" }));
    } else {
        say(&format!("{} is stopping", args.run));
    }
    Ok(Exit::Ok)
}

/// Writes the signed line that asks the run to stop.
pub(crate) fn stop(data: &DataDir, id: &RunId) -> anyhow::Result<()> {
    let dir = data.run(id);
    let manifest = dir.manifest().map_err(RunError::from)?;
    if !matches!(manifest.kind, RunKind::Train | RunKind::External) {
        return Err(RunError::from(StoreError::NoSuchRun(id.to_string())).into());
    }
    let mut follower = Follower::default();
    follower.advance(&dir).map_err(RunError::from)?;
    notice_loss(&dir, &mut follower);
    let state = follower.status.state();
    if !state.is_active() {
        return Err(RunError::Ended { id: id.clone(), state }.into());
    }
    let key = secret::control_key(data)?;
    let by = std::env::var("USER").unwrap_or_else(|_| "cli".to_owned());
    control::issue(&dir, &key, id, follower.status.attempt.max(1), Command::Stop, &by, unix_now())?;
    Ok(())
}
