//! `cartridge export`: a policy for other programs.

use std::path::PathBuf;

use anyhow::Context as _;
use cartridge_run::RunError;
use cartridge_run::checkpoint;
use cartridge_run::games::registry::is_game;
use cartridge_run::store::RunId;
use cartridge_run::store::data_dir::write_beside;
use serde::Serialize;

use super::{DataArgs, Found, find_checkpoint, say, say_json};
use crate::exit::Exit;

/// Write a run's policy for other programs
///
/// The file holds the network with everything that belongs to it. It is the `policy.onnx` of the
/// checkpoint, made anew, so that it can be had of older checkpoints too.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of a run, or folder of a checkpoint
    #[arg(value_name = "RUN|CHECKPOINT")]
    policy: String,
    /// Where to write it, as ONNX
    #[arg(long, value_name = "FILE")]
    onnx: PathBuf,
    /// Which checkpoint of the run: latest, best, a folder, or a number of steps
    #[arg(long, value_name = "CHECKPOINT", default_value = "latest")]
    checkpoint: String,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The result.
#[derive(Debug, Serialize)]
struct Report {
    run_id: RunId,
    checkpoint: String,
    step: u64,
    env_id: String,
    weights_sha256: String,
    onnx: String,
    bytes: usize,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let Found { dir, id, name } = find_checkpoint(&args.data, &args.policy, &args.checkpoint)?;
    let manifest = checkpoint::manifest(&dir, &id, &name)?;
    let (env_id, step) = (&manifest.env_id, manifest.step);
    let file = if is_game(env_id) {
        let (_, network) = checkpoint::load_board_net(&dir, &id, &name)?;
        checkpoint::network_to_onnx(&dir, env_id, &network, step)?
    } else {
        let (_, policy) = checkpoint::load_named(&dir, &id, &name)?;
        checkpoint::to_onnx(&dir, env_id, &policy, step)?
    };
    // A whole path, because the folder of the file is made durable too.
    let path = std::path::absolute(&args.onnx).context("finding the file's folder")?;
    write_beside(&path, &file).map_err(RunError::from)?;
    let (step, env_id, onnx) = (manifest.step, manifest.env_id, args.onnx.display().to_string());
    if args.json {
        say_json(&Report {
            run_id: id,
            checkpoint: name,
            step,
            env_id,
            weights_sha256: manifest.weights_sha256,
            onnx,
            bytes: file.len(),
        });
    } else {
        say(&format!("{onnx}: the policy of {id} at step {step} for {env_id}"));
    }
    Ok(Exit::Ok)
}
