//! `cartridge wandb-relay`: what stands in a run for a `wandb` client.

use std::io::{BufReader, stdin, stdout};
use std::time::Duration;

use anyhow::Context as _;
use cartridge_run::store::RunDir;
use cartridge_run::wandb::relay::relay;

use crate::exit::Exit;

/// Tell what a wandb client says (started by the supervisor of its run)
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct Args {
    /// Seconds that the client may be silent before it counts as crashed
    #[arg(long)]
    patience: u64,
    /// The folder of the run
    #[arg(long, env = "CARTRIDGE_RUN_DIR")]
    run_dir: std::path::PathBuf,
    /// Which start of the run this is
    #[arg(long, env = "CARTRIDGE_ATTEMPT")]
    attempt: u32,
}

#[expect(clippy::exit, reason = "the code is the client's, and none of our own")]
pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let (dir, patience) = (RunDir::new(&args.run_dir), Duration::from_secs(args.patience));
    let output = std::io::BufWriter::with_capacity(256 * 1024, stdout());
    let code = relay(&dir, args.attempt, patience, BufReader::new(stdin()), output)
        .context("telling what the wandb client says")?;
    std::process::exit(i32::from(code))
}
