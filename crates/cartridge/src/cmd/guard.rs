//! `cartridge guard`: ends what a trainer has started when the supervisor is gone.

use cartridge_run::supervisor;

use crate::exit::Exit;

/// End a group of processes when standard input closes (started by a supervisor)
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct Args {
    /// The group
    #[arg(long)]
    group: i32,
}

#[expect(clippy::unnecessary_wraps, reason = "every command has the same shape")]
pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    supervisor::guard(args.group);
    Ok(Exit::Ok)
}
