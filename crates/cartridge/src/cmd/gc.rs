//! `cartridge gc`: remove what is not to be kept.

use cartridge_run::clock::unix_now;
use cartridge_run::discovery;
use cartridge_run::janitor::{self, Outcome};
use serde_json::json;

use super::artifacts::size;
use super::{DataArgs, note, say, say_json};
use crate::exit::Exit;

/// Remove videos, checkpoints, logs of others and runs beyond what is to be kept
///
/// The knobs are in lab.json in the data folder and in the configuration of each run. What is
/// pinned stays, and runs at work are not touched. A lab does the same by itself once a minute.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// Only say what would go
    #[arg(long)]
    dry_run: bool,
    /// One JSON object per artifact or run that goes, and the counts last
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let known = janitor::known(&data)?;
    for run in known.iter().filter(|run| !run.subject.is_at_work) {
        let dir = data.run(&run.subject.run);
        if let Err(error) = discovery::look(&dir, &run.subject, unix_now(), u64::MAX) {
            note(&format!("note: run {} is left out: {error}", run.subject.run));
        }
    }
    let Outcome { plan, pruned, failed, .. } = janitor::tidy(&data, &known, args.dry_run)?;
    let verb = if args.dry_run { "would go" } else { "goes" };
    if args.json {
        plan.artifacts.iter().for_each(say_json);
        plan.runs.iter().for_each(say_json);
        say_json(&json!({
            "dry_run": args.dry_run, "artifacts": plan.artifacts.len(), "runs": plan.runs.len(),
            "freed_bytes": plan.freed_bytes, "over_bytes": plan.over_bytes,
            "pruned": pruned.len(), "failed": failed.len(),
        }));
    } else {
        for doomed in &plan.artifacts {
            let kind = doomed.artifact.kind.label();
            let (path, bytes) = (&doomed.artifact.path, size(doomed.artifact.size_bytes));
            say(&format!("{}: {kind} {path} ({bytes}) {verb}: {}", doomed.run_id, doomed.reason));
        }
        for doomed in &plan.runs {
            say(&format!("{} {verb} to the trash: {}", doomed.run_id, doomed.reason));
        }
        let freed = size(plan.freed_bytes);
        say(&match (plan.artifacts.len() + plan.runs.len(), args.dry_run) {
            (0, _) => "nothing is to go".to_owned(),
            (_, true) => format!("{freed} would be freed"),
            (_, false) => format!("{freed} freed"),
        });
        if plan.over_bytes > 0 {
            note(&format!(
                "note: {} more than max_bytes are in use, and nothing else may go\n\
                 hint: raise retention.max_bytes in lab.json, unpin or delete something",
                size(plan.over_bytes)
            ));
        }
    }
    for (id, error) in &failed {
        note(&format!("error: run {id}: {error}"));
    }
    Ok(if failed.is_empty() { Exit::Ok } else { Exit::Failed })
}
