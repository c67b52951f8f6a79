//! `cartridge analytics`: runs in windows of steps.

use cartridge_run::RunError;
use cartridge_run::analytics::{self, RunSummary, Windows};
use cartridge_run::insight::figure;
use cartridge_run::store::RunId;

use super::{DataArgs, say, say_json};
use crate::exit::Exit;

/// Compare runs, and the windows of steps of a run
///
/// Examples:
///   cartridge analytics runs                      the newest ten
///   cartridge analytics summary r-7f3k2m          one of them, and how complete its figures are
///   cartridge analytics iterations r-7f3k2m       its newest ten windows
///   cartridge analytics iteration r-7f3k2m 3      all that was measured in its third
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the newest trainings with what people look at first
    Runs(LimitArgs),
    /// Show a run with what people look at first
    Summary(RunArgs),
    /// Show all windows of a run
    History(RunArgs),
    /// Show the newest windows of a run
    Iterations(IterationsArgs),
    /// Show all that was measured in one window of a run
    Iteration(IterationArgs),
}

#[derive(Debug, clap::Args)]
struct OutputArgs {
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct LimitArgs {
    /// How many
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, clap::Args)]
struct RunArgs {
    /// Name of the run
    run: String,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, clap::Args)]
struct IterationsArgs {
    /// How many
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Debug, clap::Args)]
struct IterationArgs {
    #[command(flatten)]
    run: RunArgs,
    /// Number of the window, from 1
    iteration: u64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Command::Runs(args) => {
            let runs = analytics::read_runs(&args.output.data.open_existing()?, args.limit)?;
            if args.output.json {
                say_json(&serde_json::json!({ "runs": runs }));
            } else {
                runs.iter().for_each(show);
            }
        }
        Command::Summary(args) => {
            let summary = analytics::read_summary(&args.output.data.open_existing()?, &args.id()?)?;
            if args.output.json {
                say_json(&summary);
                return Ok(Exit::Ok);
            }
            show(&summary);
            for source in &summary.completeness {
                let detail = source.detail.as_deref().unwrap_or_default();
                say(&format!("  {:<16} {:<8} {detail}", source.source, source.state.as_str()));
            }
        }
        Command::History(args) => windows(args, usize::MAX)?,
        Command::Iterations(args) => windows(&args.run, args.limit)?,
        Command::Iteration(args) => {
            let data = args.run.output.data.open_existing()?;
            let found = analytics::read_iteration(&data, &args.run.id()?, args.iteration)?;
            if args.run.output.json {
                say_json(&found);
                return Ok(Exit::Ok);
            }
            say(&format!(
                "window {}, steps {} to {}",
                found.window_id, found.from_step, found.to_step
            ));
            for metric in &found.metrics {
                let analytics::Figures { n, mean, min, max, last } = metric.figures;
                let [mean, min, max, last] = [mean, min, max, last].map(figure);
                say(&format!(
                    "  {:<28} mean {mean}, {min} to {max}, last {last}, of {n}",
                    metric.key
                ));
            }
        }
    }
    Ok(Exit::Ok)
}

impl RunArgs {
    fn id(&self) -> anyhow::Result<RunId> {
        Ok(self.run.parse().map_err(RunError::from)?)
    }
}

fn windows(args: &RunArgs, limit: usize) -> anyhow::Result<()> {
    let mut found: Windows =
        analytics::read_windows(&args.output.data.open_existing()?, &args.id()?)?;
    found.keep_newest(limit);
    if args.output.json {
        say_json(&found);
        return Ok(());
    }
    for window in &found.windows {
        let figures = window.figures.iter();
        let figures = figures.map(|(name, figures)| format!("  {name} {}", figure(figures.mean)));
        say(&format!("window {:<6}{}", window.window_id, figures.collect::<String>()));
    }
    Ok(())
}

fn show(run: &RunSummary) {
    let kpis =
        run.kpis.iter().filter_map(|kpi| Some(format!("  {} {}", kpi.name, figure(kpi.value?))));
    say(&format!("{}  {}", run.run_id, run.name));
    say(&format!(
        "  window {} of {} steps{}",
        run.window_id,
        run.window_steps,
        kpis.collect::<String>()
    ));
}
