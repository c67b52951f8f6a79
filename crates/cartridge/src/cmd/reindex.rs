//! `cartridge reindex`: make the index anew from the files.

use cartridge_run::lab::reindex;
use serde_json::json;

use super::{DataArgs, say, say_json};
use crate::exit::Exit;

/// Make the index of the data folder anew from the files of the runs
///
/// The index is a copy: nothing is lost with it. A lab makes it anew by itself when it is damaged
/// or of an older format; this is for those who want it now. While a lab is at work it is refused.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let done = reindex(&data)?;
    for (id, reason) in &done.left_out {
        super::note(&format!("note: run {id} is left out: {reason}"));
    }
    if args.json {
        let left_out: Vec<String> = done.left_out.iter().map(|(id, _)| id.to_string()).collect();
        say_json(&json!({ "runs": done.n_runs, "left_out": left_out }));
    } else {
        say(&format!("the index holds {} runs", done.n_runs));
    }
    Ok(Exit::Ok)
}
