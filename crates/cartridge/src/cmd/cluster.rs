//! `cartridge cluster`: what is at work on a data folder.

use cartridge_run::cluster::{self, Pod};

use super::{DataArgs, say, say_json};
use crate::exit::Exit;

/// Show what is at work: a supervisor and a trainer for every run, and what it costs
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let found = cluster::read(&args.data.open_existing()?)?;
    if args.json {
        say_json(&found);
        return Ok(Exit::Ok);
    }
    let jobs = found.jobs;
    say(&format!(
        "{} running, {} pending, {} succeeded, {} failed, {} terminated",
        jobs.running, jobs.pending, jobs.succeeded, jobs.failed, jobs.terminated
    ));
    found.pods.iter().for_each(show);
    if found.cost.is_priced {
        let cost = &found.cost;
        say(&format!("{:.4} {} an hour, {:.4} so far", cost.per_hour, cost.currency, cost.so_far));
    }
    Ok(Exit::Ok)
}

fn show(pod: &Pod) {
    let cpu = pod.cpu_percent.map(|percent| format!("  {percent:.0}% CPU"));
    let memory = pod.memory_bytes.map(|bytes| format!("  {:.1} MiB", bytes as f64 / 1_048_576.0));
    let pace = pod.steps_per_sec.map(|pace| format!("  {pace:.0} steps/s"));
    let figures: String = [cpu, memory, pace].into_iter().flatten().collect();
    say(&format!("{:<24} {:<6}{figures}", pod.name, pod.health));
}
