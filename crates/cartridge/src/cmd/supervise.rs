//! `cartridge supervise`: what a run's detached supervisor runs.

use std::time::Duration;

use cartridge_run::store::RunId;
use cartridge_run::{priority, supervisor};

use super::{DataArgs, this_program};
use crate::exit::Exit;

/// Supervise one run (started by the lab)
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// Name of the run
    #[arg(long)]
    run: RunId,
    /// Which start of the trainer this is
    #[arg(long)]
    attempt: u32,
    /// Seconds that the trainer may take to save and end when it is asked to stop
    #[arg(long)]
    stop_grace: u64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    // A session of its own: the end of the terminal or of the lab is not the end of the run. It
    // fails only where this process leads a group already, which serves as well.
    if rustix::process::setsid().is_ok() {
        priority::stand_back_as_session();
    }
    let stop_grace = Duration::from_secs(args.stop_grace);
    let data = args.data.open_existing()?;
    supervisor::supervise(&data, &args.run, args.attempt, &this_program()?, stop_grace)?;
    Ok(Exit::Ok)
}
