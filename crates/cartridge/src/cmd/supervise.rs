//! `cartridge supervise`: what a run's detached supervisor runs.

use cartridge_run::store::RunId;
use cartridge_run::supervisor;

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
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    // A session of its own: the end of the terminal or of the lab is not the end of the run. It
    // fails only where this process leads a group already, which serves as well.
    _ = rustix::process::setsid();
    supervisor::supervise(&args.data.open()?, &args.run, &this_program()?)?;
    Ok(Exit::Ok)
}
