//! `cartridge insights`: what the numbers of a run say.

use cartridge_run::RunError;
use cartridge_run::insight;
use cartridge_run::store::RunId;

use super::{DataArgs, say, say_json};
use crate::exit::Exit;

/// Say what the numbers of a run say: whether it converged, is stuck or collapsed, and what to do
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the run
    run: String,
    /// In plain words: what is going on?
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let id: RunId = args.run.parse().map_err(RunError::from)?;
    let said = insight::read(&args.data.open_existing()?, &id)?;
    if args.json {
        say_json(&said);
        return Ok(Exit::Ok);
    }
    if args.plain {
        say(&said.summary);
        return Ok(Exit::Ok);
    }
    if said.insights.is_empty() {
        say("nothing to say");
    }
    for insight in &said.insights {
        say(&format!("{:<8} {}", insight.severity.as_str(), insight.sentence));
        say(&format!("         {}", insight.detail));
        if let Some(suggestion) = &insight.suggestion {
            say(&format!("         {suggestion}"));
        }
        let evidence = &insight.evidence;
        say(&format!(
            "         see {}, steps {} to {}",
            evidence.metric, evidence.from_step, evidence.to_step
        ));
    }
    Ok(Exit::Ok)
}
