//! `cartridge onnx`: what a policy in an ONNX file says.

use std::io::Read as _;
use std::path::PathBuf;

use anyhow::Context as _;
use cartridge_run::onnx::Values;
use cartridge_run::policy_file::PolicyFile;
use serde_json::json;

use super::say_json;
use crate::exit::Exit;

/// Look into a policy in an ONNX file
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Run(RunArgs),
}

/// Print what a policy puts out for some observations, one JSON object per line
///
/// To compare it with what another runtime makes of the same file.
#[derive(Debug, clap::Args)]
struct RunArgs {
    /// The ONNX file
    #[arg(value_name = "FILE.onnx")]
    policy: PathBuf,
    /// One JSON array of observations, such as [[0.1, 0.2, 0.3, 0.4]]; - reads standard input
    #[arg(long, value_name = "FILE")]
    observations: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let Command::Run(args) = &args.command;
    let file = PolicyFile::open(&args.policy)?;
    let mut text = Vec::new();
    if args.observations.as_os_str() == "-" {
        std::io::stdin().read_to_end(&mut text).context("reading standard input")?;
    } else {
        let name = args.observations.display();
        text = std::fs::read(&args.observations).with_context(|| format!("reading {name}"))?;
    }
    let rows: Vec<Vec<f32>> =
        serde_json::from_slice(&text).context("observations are one JSON array of arrays")?;
    let width = rows.first().map_or(0, Vec::len);
    anyhow::ensure!(rows.iter().all(|row| row.len() == width), "observations differ in length");
    let outputs = file.policy.act(&rows.concat(), rows.len()).map_err(|error| file.error(error))?;
    for row in 0..rows.len() {
        let part = |n: usize| n / rows.len() * row..n / rows.len() * (row + 1);
        let actor = match &outputs.actor {
            Values::Float(values) => json!(values[part(values.len())]),
            Values::Integer(values) => json!(values[part(values.len())]),
        };
        let value = outputs.value.as_ref().map(|values| values[row]);
        say_json(&json!({ "actor": actor, "value": value }));
    }
    Ok(Exit::Ok)
}
