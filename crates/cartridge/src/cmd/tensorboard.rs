//! `cartridge tensorboard`: runs in TensorBoard.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;

use cartridge_run::RunError;
use cartridge_run::store::RunId;
use cartridge_run::tensorboard::viewer;

use super::{DataArgs, note};
use crate::exit::Exit;

/// Show a run, or all, in TensorBoard, until Ctrl-C
///
/// Every run has event files in its folder. TensorBoard is a program of its own: pip install
/// tensorboard. Examples:
///   cartridge tensorboard r-7f3k2m
///   cartridge tensorboard --all --port 6006
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Name of the run
    #[arg(required_unless_present = "all")]
    run: Option<String>,
    /// All runs of the data folder
    #[arg(long, conflicts_with = "run")]
    all: bool,
    /// Port on this machine; a free one if not given
    #[arg(long)]
    port: Option<u16>,
    #[command(flatten)]
    data: DataArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let folder: PathBuf = match &args.run {
        Some(run) => {
            let dir = data.run(&run.parse::<RunId>().map_err(RunError::from)?);
            dir.manifest().map_err(RunError::from)?;
            dir.path().to_owned()
        }
        None => data.path().join("runs"),
    };
    let program = viewer::find(std::env::var_os("PATH").as_deref())?;
    let port = match args.port {
        Some(port) => port,
        None => viewer::free_port()?,
    };
    note(&format!("{} until Ctrl-C", viewer::url(port)));
    // It takes the place of this process, so that Ctrl-C and the exit code are its own.
    let source = viewer::command(&program, &folder, port).exec();
    Err(RunError::Spawn { program: program.display().to_string(), source }.into())
}
