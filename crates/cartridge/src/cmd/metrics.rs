//! `cartridge metrics`: what was measured in a run.

use std::collections::BTreeMap;

use cartridge_run::RunError;
use cartridge_run::metrics::rows;
use cartridge_run::store::{MetricValues, RunId};
use serde::Serialize;

use super::{DataArgs, say, say_json};
use crate::exit::Exit;

/// Print the metrics of a run, the newest rows last
///
/// Examples:
///   cartridge metrics r-7f3k2m                                the newest rows
///   cartridge metrics r-7f3k2m --keys charts/SPS,train/loss   some, by any name
///   cartridge metrics r-7f3k2m --tail 0 --json                everything
///   cartridge metrics r-7f3k2m --tail 0 --keys charts/episodic_return,charts/episodic_length   every episode
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Name of the run
    run: String,
    /// Names of metrics, ours or those of CleanRL and Stable-Baselines3; all if it is not given
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    keys: Vec<String>,
    /// How many rows, or episodes where those are asked for; 0 for all
    #[arg(long, value_name = "N", default_value_t = 10)]
    tail: usize,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per row
    #[arg(long)]
    json: bool,
}

/// A row.
#[derive(Debug, Serialize)]
struct Row<'a> {
    row: u64,
    step: u64,
    t: f64,
    metrics: &'a BTreeMap<String, Option<f64>>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let id: RunId = args.run.parse().map_err(RunError::from)?;
    let keys: Vec<&str> = args.keys.iter().map(String::as_str).collect();
    let mut rows = rows(&args.data.open_existing()?, &id, &keys)?;
    // Updates and evaluations have different ones.
    rows.retain(|row| !row.values.is_empty());
    let first = if args.tail == 0 { 0 } else { rows.len().saturating_sub(args.tail) };
    for MetricValues { row, step, t, values } in &rows[first..] {
        if args.json {
            say_json(&Row { row: *row, step: *step, t: *t, metrics: values });
            continue;
        }
        let values = values.iter().map(|(name, value)| match value {
            Some(value) => format!("  {name} {value:.6}"),
            None => format!("  {name} not finite"),
        });
        say(&format!("step {step}{}", values.collect::<String>()));
    }
    Ok(Exit::Ok)
}
