//! `cartridge track`: what a W&B server has not heard of a run.

use cartridge_run::RunError;
use cartridge_run::store::RunId;
use cartridge_run::track::{Sent, send_rest};
use serde_json::json;

use super::{DataArgs, note, say, say_json};
use crate::exit::Exit;

/// Send the rest of a run to its W&B server
///
/// A run that was made with `train --track` is sent while it trains. When the server was away, or
/// there was no key, this sends what it has not got, after the run has ended.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the run
    run: String,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per line, the result last
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let id: RunId = args.run.parse().map_err(RunError::from)?;
    let Sent { page, warnings, is_complete } = send_rest(&args.data.open_existing()?, &id)?;
    warnings.iter().for_each(|warning| note(warning));
    let url = page.map(|page| page.url);
    match &url {
        _ if args.json => {
            say_json(&json!({ "run_id": id, "wandb_url": url, "complete": is_complete }));
        }
        Some(url) if is_complete => say(&format!("{id} is at {url}")),
        _ => {}
    }
    Ok(if is_complete { Exit::Ok } else { Exit::Failed })
}
