//! `cartridge worker`: what a run's trainer process runs.

use cartridge_run::store::RunId;
use cartridge_run::worker;

use super::DataArgs;
use crate::exit::Exit;

/// Train one run (started by its supervisor)
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
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let well = worker::work(&args.data.open_existing()?, &args.run, args.attempt)?;
    Ok(if well { Exit::Ok } else { Exit::Failed })
}
