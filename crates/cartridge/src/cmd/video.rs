//! `cartridge video`: a recorded episode as an MP4 file.

use std::path::PathBuf;

use anyhow::Context as _;
use cartridge_run::RunError;
use cartridge_run::episode::Archive;
use cartridge_run::film::{Exported, of_recorded};

use super::{DataArgs, note, say, say_json};
use crate::exit::Exit;

/// Write a recorded episode as a film that every browser plays
///
/// Every episode of every training and evaluation is recorded. Example:
///   cartridge video r-7f3k2m 120 -o episode.mp4
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Name of the run
    run: String,
    /// Number of the episode in the run
    episode: u64,
    /// The first step; 0 is the start
    #[arg(long, value_name = "STEP", default_value_t = 0)]
    from: u64,
    /// The step after the last
    #[arg(long, value_name = "STEP")]
    to: Option<u64>,
    /// The file to write
    #[arg(short, long, value_name = "FILE.mp4")]
    output: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The longest film: an hour, which is about a hundred megabytes.
const MOST_SECONDS: u32 = 3600;

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let id = args.run.parse().map_err(RunError::from)?;
    let mut archive = Archive::open(&data, &id)?;
    if !archive.replay(args.episode)?.matches {
        note("it does not replay to what was recorded: the environment has changed since");
        return Ok(Exit::Failed);
    }
    let steps = args.from..args.to.unwrap_or(u64::MAX);
    let Exported { file, n_frames, seconds } =
        of_recorded(&mut archive, args.episode, steps, MOST_SECONDS)?;
    write(&args.output, &file)?;
    if args.json {
        say_json(&serde_json::json!({
            "run_id": args.run,
            "episode": args.episode,
            "file": args.output,
            "frames": n_frames,
            "seconds": seconds,
            "bytes": file.len(),
        }));
    } else {
        say(&format!("{}: {n_frames} pictures, {seconds:.1} s", args.output.display()));
    }
    Ok(Exit::Ok)
}

/// Writes a film where somebody wants it.
pub(crate) fn write(path: &std::path::Path, file: &[u8]) -> anyhow::Result<()> {
    std::fs::write(path, file).with_context(|| format!("writing {}", path.display()))
}
