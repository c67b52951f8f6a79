//! `cartridge artifacts`: what a run has made, and how much of it is kept.

use cartridge_run::clock::unix_now;
use cartridge_run::discovery::{self, Subject};
use cartridge_run::store::{ArtifactKind, ArtifactList, RunId};
use cartridge_run::{RunError, store};
use serde::Serialize;

use super::{DataArgs, say, say_json};
use crate::exit::Exit;

/// List what a run has made: videos, checkpoints, TensorBoard and W&B folders, the log
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the run
    run: String,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per artifact, and the counts last
    #[arg(long)]
    json: bool,
}

/// How many of each kind are kept.
#[derive(Debug, Serialize)]
struct Summary {
    run_id: String,
    kept: Vec<Kept>,
    size_bytes: u64,
}

#[derive(Debug, Serialize)]
struct Kept {
    kind: ArtifactKind,
    kept: u64,
    total: u64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let id: RunId = args.run.parse().map_err(RunError::from)?;
    let dir = data.run(&id);
    let subject = Subject::of(&dir, &dir.manifest().map_err(RunError::from)?)?;
    discovery::look(&dir, &subject, unix_now(), u64::MAX)?;
    let list = ArtifactList::read(&dir).map_err(RunError::from)?;
    let list = list.unwrap_or_else(|| ArtifactList::new(id));
    let kept: Vec<Kept> = ArtifactKind::ALL
        .into_iter()
        .map(|kind| (kind, list.kept(kind)))
        .filter(|(_, (_, total))| *total > 0)
        .map(|(kind, (kept, total))| Kept { kind, kept, total })
        .collect();
    let size_bytes = list.bytes().values().sum();
    if args.json {
        list.artifacts.iter().for_each(say_json);
        say_json(&Summary { run_id: args.run.clone(), kept, size_bytes });
        return Ok(Exit::Ok);
    }
    say(&format!("{:<12}{:<13}{:>10}  PATH", "ID", "KIND", "SIZE"));
    for artifact in &list.artifacts {
        say(&format!(
            "{:<12}{:<13}{:>10}  {}{}",
            artifact.id.as_str(),
            artifact.kind.as_str(),
            size(artifact.size_bytes),
            artifact.path,
            marks(artifact)
        ));
    }
    let kinds: Vec<String> = kept
        .iter()
        .map(|Kept { kind, kept, total }| format!("{}: {kept} of {total} kept", kind.as_str()))
        .collect();
    if kinds.is_empty() {
        say("nothing yet");
    } else {
        say(&format!("{}; {} in all", kinds.join(", "), size(size_bytes)));
    }
    Ok(Exit::Ok)
}

fn marks(artifact: &store::Artifact) -> String {
    let marks: Vec<&str> = [
        (artifact.pinned, "pinned"),
        (artifact.milestone, "milestone"),
        (artifact.shared, "in a shared folder"),
    ]
    .into_iter()
    .filter_map(|(is_so, mark)| is_so.then_some(mark))
    .collect();
    if marks.is_empty() { String::new() } else { format!("  ({})", marks.join(", ")) }
}

/// Bytes for people.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = "B";
    for larger in UNITS {
        if value < 1000.0 {
            break;
        }
        value /= 1000.0;
        unit = larger;
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") }
}
