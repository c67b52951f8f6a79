//! `cartridge runs`: the runs in the data folder.

use cartridge_run::RunError;
use cartridge_run::aggregate::Aggregate;
use cartridge_run::audit::Marks;
use cartridge_run::steer::{self, notice_loss};
use cartridge_run::store::{Follower, GroupId, Manifest, RunKind, RunState, RunStatus, StoreError};
use serde::Serialize;
use serde_json::json;

use super::{DataArgs, printable, say, say_json};
use crate::exit::Exit;

/// List trainings and evaluations, newest first; show one, or a group
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List runs, newest first, as `cartridge runs` does
    List(ListArgs),
    /// Show what a run is and how it is doing
    Show(ShowArgs),
    /// Show the runs that were made together, and what their last evaluations come to
    Group(ShowArgs),
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// Name of the run or the group
    #[arg(value_name = "NAME")]
    id: String,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Only of this experiment
    #[arg(long, value_name = "ID")]
    experiment: Option<String>,
    /// Only of those that were made together
    #[arg(long, value_name = "ID")]
    group: Option<String>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    experiment_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<GroupId>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        None => list(&args.list),
        Some(Command::List(args)) => list(args),
        Some(Command::Show(args)) => show(args),
        Some(Command::Group(args)) => group(args),
    }
}

fn show(args: &ShowArgs) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let (manifest, status) = steer::look(&data, &args.id.parse().map_err(RunError::Store)?)?;
    let state = status.state();
    if args.json {
        let mut shown = serde_json::to_value(&manifest)?;
        shown["state"] = serde_json::to_value(state)?;
        shown["status"] = serde_json::to_value(&status)?;
        shown["failure"] = serde_json::to_value(status.failure())?;
        say_json(&shown);
        return Ok(Exit::Ok);
    }
    say(&format!("{}  {}", manifest.id, printable(&manifest.name)));
    say(&format!("{}, step {}", word(state), status.step));
    if let Some(failure) = status.failure() {
        say(&format!("why: {}", printable(&failure.message)));
        if let Some(code) = failure.exit_code {
            say(&format!("exit code {code}"));
        }
        if let Some(signal) = failure.signal {
            say(&format!("signal {signal}"));
        }
        if !failure.log.is_empty() {
            say("the last lines of its log:");
        }
        for line in &failure.log {
            say(&format!("  {}", printable(line)));
        }
    }
    for (what, value) in
        [("experiment", &manifest.experiment_id), ("group", &manifest.group.map(Into::into))]
    {
        if let Some(value) = value {
            say(&format!("{what} {value}"));
        }
    }
    if let Some(eval) = &status.latest_eval {
        say(&format!("last evaluation {:.1} at step {}", eval.mean, eval.step));
    }
    say(&format!("{:#}", manifest.config));
    Ok(Exit::Ok)
}

fn group(args: &ShowArgs) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let id: GroupId = args.id.parse().map_err(RunError::Store)?;
    let mut runs = Vec::new();
    for run in data.run_ids().map_err(RunError::from)? {
        let Ok(manifest) = data.run(&run).manifest() else { continue };
        if manifest.group.as_ref() == Some(&id) {
            runs.push(steer::look(&data, &run)?);
        }
    }
    if runs.is_empty() {
        return Err(RunError::Store(StoreError::NoSuchGroup(id.to_string())).into());
    }
    runs.sort_by(|(a, _), (b, _)| a.created_at.total_cmp(&b.created_at));
    let evals = runs.iter().filter_map(|(_, status)| status.latest_eval.as_ref());
    let aggregate = Aggregate::of(&evals.map(|eval| eval.mean).collect::<Vec<f64>>());
    if args.json {
        let row = |(manifest, status): &(Manifest, RunStatus)| {
            json!({
                "run_id": manifest.id,
                "seed": manifest.config["seeds"]["seed_base"],
                "state": status.state(),
                "step": status.step,
                "latest_eval": status.latest_eval.as_ref().map(|eval| eval.mean),
            })
        };
        let rows: Vec<_> = runs.iter().map(row).collect();
        say_json(&json!({ "group": id, "runs": rows, "aggregate": aggregate }));
        return Ok(Exit::Ok);
    }
    for (manifest, status) in &runs {
        let eval = status.latest_eval.as_ref();
        let eval = eval.map_or_else(|| "-".to_owned(), |eval| format!("{:.1}", eval.mean));
        let seed = manifest.config["seeds"]["seed_base"].to_string();
        say(&format!("{:<10}seed {seed:<12}{:<12}{eval:>10}", manifest.id, word(status.state())));
    }
    if let Some(Aggregate { n, mean, iqm, iqm_ci95, .. }) = aggregate {
        let interval = iqm_ci95.map(|[low, high]| format!(" ({low:.1} to {high:.1})"));
        say(&format!(
            "{n} evaluated: mean {mean:.1}, IQM {iqm:.1}{}",
            interval.unwrap_or_default()
        ));
    }
    Ok(Exit::Ok)
}

fn word(state: RunState) -> String {
    serde_json::to_value(state)
        .ok()
        .and_then(|it| it.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn list(args: &ListArgs) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let mut runs: Vec<(Manifest, Follower)> = Vec::new();
    let mut marks = Marks::default();
    marks.advance(&data)?;
    for id in data.run_ids().map_err(RunError::from)? {
        let dir = data.run(&id);
        // A folder without a manifest is being made, or was never finished.
        let Ok(manifest) = dir.manifest() else { continue };
        let is_put_away = marks.archived.contains(&id) && !args.archived;
        let is_other = |wanted: &Option<String>, is: Option<&str>| {
            wanted.as_deref().is_some_and(|wanted| is != Some(wanted))
        };
        let is_unwanted = is_other(&args.experiment, manifest.experiment_id.as_deref())
            || is_other(&args.group, manifest.group.as_ref().map(GroupId::as_str));
        if manifest.kind == RunKind::Human || is_put_away || is_unwanted {
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
            experiment_id: manifest.experiment_id,
            group: manifest.group,
        };
        if args.json {
            say_json(&row);
            continue;
        }
        let number = |value: Option<f64>| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
        };
        let best = match row.score {
            Some(score) => format!("{:.1}%", 100.0 * score),
            None => number(row.best_eval),
        };
        say(&format!(
            "{:<10}{:<10}{:<width$}{:<12}{:>12}{:>12}{:>12}",
            row.run_id,
            row.kind.as_str(),
            printable(&row.name),
            word(row.state),
            row.step,
            number(row.mean_reward),
            best
        ));
    }
    Ok(Exit::Ok)
}
