//! `cartridge export`: a policy, or recorded episodes, for other programs.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use cartridge_run::RunError;
use cartridge_run::checkpoint;
use cartridge_run::dataset::{self, Selection, Summary};
use cartridge_run::episode::Archive;
use cartridge_run::games::registry::is_game;
use cartridge_run::store::RunId;
use cartridge_run::store::data_dir::write_beside;
use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::json;

use super::{DataArgs, Found, find_checkpoint, note, progress_style, say, say_json};
use crate::exit::Exit;

/// Write a run's policy, or its episodes, for other programs
///
/// With --onnx the file holds the network with everything that belongs to it. It is the
/// `policy.onnx` of the checkpoint, made anew, so that it can be had of older checkpoints too.
/// With --episodes every episode is stepped again from its seed and actions. Examples:
///   cartridge export r-7f3k2m --onnx lander.onnx
///   cartridge export r-7f3k2m --episodes --format npz --output lander.npz
///   cartridge export r-7f3k2m --episodes 1-100 --best 10 --format minari
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
#[group(id = "what", required = true, multiple = false, args = ["onnx", "episodes"])]
pub(crate) struct Args {
    /// Name of a run, or folder of a checkpoint
    #[arg(value_name = "RUN|CHECKPOINT")]
    policy: String,
    /// The policy: where to write it, as ONNX
    #[arg(long, value_name = "FILE")]
    onnx: Option<PathBuf>,
    /// Which checkpoint of the run: latest, the default, best, a folder, or a number of steps
    #[arg(long, value_name = "CHECKPOINT", conflicts_with = "episodes")]
    checkpoint: Option<String>,
    /// The episodes: all, or those with numbers from the first to the last
    #[arg(long, value_name = "FIRST-LAST", num_args = 0..=1, value_parser = parse_numbers)]
    episodes: Option<Option<(u64, u64)>>,
    /// How episodes are written
    #[arg(long, value_enum, requires = "episodes", default_value = "jsonl")]
    format: Format,
    /// Only so many episodes, those with the greatest returns
    #[arg(long, value_name = "N", requires = "episodes")]
    best: Option<usize>,
    /// Where episodes are written: a file, or for Minari a folder; it must not exist
    #[arg(long, short, value_name = "PATH", requires = "episodes")]
    output: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    /// One JSON object a line, one line an episode
    Jsonl,
    /// NumPy's arrays, all steps behind each other
    Npz,
    /// The folder of a Minari dataset
    Minari,
}

fn parse_numbers(text: &str) -> Result<(u64, u64), String> {
    let number = |text: &str| text.parse::<u64>().map_err(|error| format!("`{text}`: {error}"));
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    if first <= last { Ok((first, last)) } else { Err(format!("{first} is after {last}")) }
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
    match (&args.onnx, args.episodes) {
        (Some(onnx), _) => write_policy(args, onnx),
        (None, numbers) => write_episodes(args, numbers.flatten()),
    }
}

fn write_episodes(args: &Args, numbers: Option<(u64, u64)>) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let id: RunId = args.policy.parse().map_err(RunError::from)?;
    let mut archive = Archive::open(&data, &id)?;
    let selection = Selection { numbers, best: args.best };
    let (format, usual) = match args.format {
        Format::Jsonl => (dataset::Format::Jsonl, format!("{id}.jsonl")),
        Format::Npz => (dataset::Format::Npz, format!("{id}.npz")),
        Format::Minari => {
            let env_id = archive.manifest.env_id.to_lowercase();
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            let env_id = env_id.replace(|c| !is_plain(c), "_");
            (dataset::Format::Minari, format!("{env_id}-{id}-v0"))
        }
    };
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from(usual));
    let bar = if args.json { ProgressBar::hidden() } else { ProgressBar::new(0) };
    bar.set_style(progress_style("{bar:30} {pos} of {len} episodes, {elapsed}"));
    let mut tell = |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    };
    let written = dataset::export(&mut archive, format, &selection, &output, &mut tell);
    bar.finish_and_clear();
    let summary = written?;
    if let Some((episode, reason)) = summary.left_out.first() {
        let n = summary.left_out.len();
        note(&format!("warning: {n} episodes were left out; the first, {episode}: {reason}"));
    }
    if !summary.has_observations {
        note("warning: there are no observations: its trainer told none, or no seeds");
    }
    let path = output.display();
    if args.json {
        say_json(&json!({
            "run_id": id, "env_id": archive.manifest.env_id, "output": path.to_string(),
            "n_episodes": summary.n_episodes, "n_steps": summary.n_steps,
            "size_bytes": summary.size_bytes, "n_left_out": summary.left_out.len(),
            "has_observations": summary.has_observations,
        }));
        return Ok(Exit::Ok);
    }
    let Summary { n_episodes, n_steps, size_bytes, .. } = summary;
    say(&format!("{path}: {n_episodes} episodes of {id}, {n_steps} steps, {size_bytes} bytes"));
    if let Format::Minari = args.format {
        let name = output.file_name().unwrap_or_default().to_string_lossy();
        let folder = std::path::absolute(&output).context("finding the folder")?;
        let folder = folder.parent().unwrap_or(Path::new("/")).display().to_string();
        say(&format!(
            "MINARI_DATASETS_PATH={folder} python -c 'import minari; print(minari.load_dataset(\"{name}\"))'"
        ));
    }
    Ok(Exit::Ok)
}

fn write_policy(args: &Args, onnx: &Path) -> anyhow::Result<Exit> {
    let Found { dir, id, name } =
        find_checkpoint(&args.data, &args.policy, args.checkpoint.as_deref())?;
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
    let path = std::path::absolute(onnx).context("finding the file's folder")?;
    write_beside(&path, &file).map_err(RunError::from)?;
    let (step, env_id, onnx) = (manifest.step, manifest.env_id, onnx.display().to_string());
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
