//! `cartridge start-trainer`: what becomes a foreign trainer.

use cartridge_run::supervisor;

use crate::exit::Exit;

/// Become a trainer that dies with its supervisor (started by the supervisor)
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct Args {
    /// Process id of the supervisor
    #[arg(long)]
    supervisor: i32,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    Err(supervisor::become_trainer(args.supervisor, &args.command).into())
}
