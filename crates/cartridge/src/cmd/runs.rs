//! `cartridge runs`: the runs in the data folder.

use cartridge_run::RunError;
use cartridge_run::audit::Marks;
use cartridge_run::steer::notice_loss;
use cartridge_run::store::{Follower, Manifest, RunKind, RunState};
use serde::Serialize;

use super::{DataArgs, say, say_json};
use crate::exit::Exit;

/// List trainings and evaluations, newest first
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// Also those that were put into the archive
    #[arg(long)]
    archived: bool,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

/// A run in one line.
#[derive(Debug, Serialize)]
struct Row {
    run_id: String,
    kind: RunKind,
    name: String,
    state: RunState,
    step: u64,
    mean_reward: Option<f64>,
    best_eval: Option<f64>,
    /// Share of the points of the first player of a match.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let mut runs: Vec<(Manifest, Follower)> = Vec::new();
    let mut marks = Marks::default();
    marks.advance(&data)?;
    for id in data.run_ids().map_err(RunError::from)? {
        let dir = data.run(&id);
        // A folder without a manifest is being made, or was never finished.
        let Ok(manifest) = dir.manifest() else { continue };
        let is_put_away = marks.archived.contains(&id) && !args.archived;
        if manifest.kind == RunKind::Human || is_put_away {
            continue;
        }
        let mut follower = Follower::default();
        follower.advance(&dir).map_err(RunError::from)?;
        notice_loss(&dir, &mut follower);
        runs.push((manifest, follower));
    }
    runs.sort_by(|(a, _), (b, _)| b.created_at.total_cmp(&a.created_at));
    let longest = runs.iter().map(|(manifest, _)| manifest.name.chars().count()).max();
    let width = longest.unwrap_or(0).max(26) + 2;
    if !args.json {
        say(&format!(
            "{:<10}{:<10}{:<width$}{:<12}{:>12}{:>12}{:>12}",
            "RUN", "KIND", "NAME", "STATE", "STEP", "RETURN", "BEST EVAL"
        ));
    }
    for (manifest, Follower { status, .. }) in runs {
        let row = Row {
            run_id: manifest.id.to_string(),
            kind: manifest.kind,
            name: manifest.name,
            state: status.state(),
            step: status.step,
            mean_reward: status.mean_reward,
            best_eval: status.best_eval.as_ref().map(|best| best.mean),
            score: status.match_result.map(|result| result.score),
        };
        if args.json {
            say_json(&row);
            continue;
        }
        let number = |value: Option<f64>| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
        };
        let state = serde_json::to_value(row.state).unwrap_or_default();
        let best = match row.score {
            Some(score) => format!("{:.1}%", 100.0 * score),
            None => number(row.best_eval),
        };
        say(&format!(
            "{:<10}{:<10}{:<width$}{:<12}{:>12}{:>12}{:>12}",
            row.run_id,
            row.kind.as_str(),
            row.name,
            state.as_str().unwrap_or_default(),
            row.step,
            number(row.mean_reward),
            best
        ));
    }
    Ok(Exit::Ok)
}
