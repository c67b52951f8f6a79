//! `cartridge leaderboard`: what trainings have reached in an environment.

use cartridge_run::leaderboard::{Entry, Interval, Leaderboard, Row, of_files};

use super::{DataArgs, parse_id, say, say_json};
use crate::exit::Exit;

/// Show what trainings have reached in an environment, best first
///
/// By the newest evaluation of the checkpoint with the most steps, whether the training made it or
/// somebody asked for it. Trainings that differ in nothing but their seed are one row, with the mean,
/// the mean of the middle half (IQM) and a 95% interval over the seeds.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the environment
    #[arg(value_parser = parse_id)]
    env: String,
    /// How many rows
    #[arg(long, default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let mut found = of_files(&data, &args.env)?;
    found.rows.truncate(args.limit);
    if args.json {
        say_json(&found);
        return Ok(Exit::Ok);
    }
    let Leaderboard { env_id, threshold, n_runs, rows } = found;
    let solved = threshold.map_or(String::new(), |line| format!(", solved from {line:.1} on"));
    say(&format!("{env_id}: {n_runs} trainings{solved}"));
    say(&format!(
        "{:>3}  {:<6}{:>10}{:>10}{:>32}{:>6}  {:<8}{}",
        "", "ALGO", "MEAN", "IQM", "95% INTERVAL", "SEEDS", "SOLVED", "NAME"
    ));
    for row in rows {
        let Row {
            place,
            algorithm,
            name,
            aggregate,
            ci95: [low, high],
            interval,
            solved,
            runs,
            ..
        } = row;
        let of = match interval {
            Interval::Seeds => "",
            Interval::Episodes => " (episodes)",
        };
        let best = runs.first().map_or_else(String::new, |Entry { run_id, counts, .. }| {
            let by = counts.evaluation_id.as_ref().map(|id| format!(" by {id}"));
            format!("{run_id} at step {}{}", counts.evaluation.step, by.unwrap_or_default())
        });
        say(&format!(
            "{place:>3}  {algorithm:<6}{:>10.1}{:>10.1}{:>32}{:>6}  {:<8}{name}, {best}",
            aggregate.mean,
            aggregate.iqm,
            format!("{low:.1} to {high:.1}{of}"),
            aggregate.n,
            solved.map_or("-", |solved| if solved { "yes" } else { "no" }),
        ));
    }
    Ok(Exit::Ok)
}
