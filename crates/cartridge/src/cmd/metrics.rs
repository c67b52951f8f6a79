//! `cartridge metrics`: what was measured in a run.

use std::collections::BTreeMap;

use cartridge_run::RunError;
use cartridge_run::metrics::rows;
use cartridge_run::store::{DataDir, MetricValues, ResourceSample, RunId, resources};
use cartridge_run::time::rfc3339;
use serde::Serialize;

use super::{DataArgs, say, say_json};
use crate::exit::Exit;

/// Print the metrics of a run, or what it used of the machine, the newest rows last
///
/// Examples:
///   cartridge metrics r-7f3k2m                                the newest rows
///   cartridge metrics r-7f3k2m --keys charts/SPS,train/loss   some, by any name
///   cartridge metrics r-7f3k2m --tail 0 --json                everything
///   cartridge metrics r-7f3k2m --tail 0 --keys charts/episodic_return,charts/episodic_length   every episode
///   cartridge metrics r-7f3k2m --resources                    CPU, memory and GPU, every 5 seconds
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Name of the run
    run: String,
    /// Names of metrics, ours or those of CleanRL and Stable-Baselines3; all if it is not given
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    keys: Vec<String>,
    /// Instead of metrics, what its trainer used of the machine
    #[arg(long, conflicts_with = "keys")]
    resources: bool,
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

/// What a trainer used at one moment.
#[derive(Debug, Serialize)]
struct Use {
    t: f64,
    attempt: u32,
    cpu_percent: Option<f64>,
    memory_bytes: Option<u64>,
    gpu_percent: Option<f64>,
    gpu_memory_bytes: Option<u64>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let id: RunId = args.run.parse().map_err(RunError::from)?;
    let data = args.data.open_existing()?;
    if args.resources {
        return show_resources(args, &data, &id);
    }
    let keys: Vec<&str> = args.keys.iter().map(String::as_str).collect();
    let mut rows = rows(&data, &id, &keys)?;
    // Updates and evaluations have different ones.
    rows.retain(|row| !row.values.is_empty());
    for MetricValues { row, step, t, values } in tail(&rows, args.tail) {
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

fn show_resources(args: &Args, data: &DataDir, id: &RunId) -> anyhow::Result<Exit> {
    let dir = data.run(id);
    dir.manifest().map_err(RunError::from)?;
    let samples = resources::samples(&dir, resources::ALWAYS).map_err(RunError::from)?;
    for ResourceSample { attempt, t, cpu_percent, rss_bytes, gpu } in tail(&samples, args.tail) {
        let now = Use {
            t: *t,
            attempt: *attempt,
            cpu_percent: *cpu_percent,
            memory_bytes: *rss_bytes,
            gpu_percent: gpu.map(|gpu| gpu.percent),
            gpu_memory_bytes: gpu.map(|gpu| gpu.memory_bytes),
        };
        if args.json {
            say_json(&now);
            continue;
        }
        let percent = |value: Option<f64>, what| value.map(|it| format!("  {it:.0}% {what}"));
        let memory = |bytes: Option<u64>, what| {
            bytes.map(|bytes| format!("  {:.1} MiB{what}", bytes as f64 / 1_048_576.0))
        };
        let figures = [
            percent(now.cpu_percent, "CPU"),
            memory(now.memory_bytes, ""),
            percent(now.gpu_percent, "GPU"),
            memory(now.gpu_memory_bytes, " on GPUs"),
        ];
        say(&format!("{}{}", rfc3339(now.t), figures.into_iter().flatten().collect::<String>()));
    }
    Ok(Exit::Ok)
}

/// The last `n`, or all for 0.
fn tail<T>(rows: &[T], n: usize) -> &[T] {
    let n = if n == 0 { rows.len() } else { n.min(rows.len()) };
    &rows[rows.len() - n..]
}
