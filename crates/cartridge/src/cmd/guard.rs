//! `cartridge guard`: ends what a trainer has started when the supervisor is gone.

use cartridge_run::store::RunId;
use cartridge_run::supervisor;

use super::DataArgs;
use crate::exit::Exit;

/// End a group of processes when standard input closes (started by a supervisor)
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct Args {
    /// The group
    #[arg(long)]
    group: i32,
    #[command(flatten)]
    data: DataArgs,
    /// Name of the run
    #[arg(long)]
    run: RunId,
    /// Which start of the trainer it guards
    #[arg(long)]
    attempt: u32,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let dir = args.data.open_existing()?.run(&args.run);
    supervisor::guard(args.group, &dir, &args.run, args.attempt);
    Ok(Exit::Ok)
}
