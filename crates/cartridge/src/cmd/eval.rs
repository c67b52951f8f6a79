//! `cartridge eval`: measure what a run has learnt.

use std::collections::BTreeMap;

use cartridge_run::RunError;
use cartridge_run::checkpoint::{self, Alias};
use cartridge_run::evaluation::KeptEvaluation;
use cartridge_run::store::RunId;
use serde::Serialize;

use super::{DataArgs, say, say_json};
use crate::exit::Exit;

/// Measure a run's policy over whole episodes, always taking its best action
///
/// The evaluation is kept as a run of its own, with every episode.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the run
    run: String,
    /// How many episodes
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    episodes: u32,
    /// Chooses the episodes
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Measure the checkpoint with the best evaluation instead of the newest
    #[arg(long)]
    best: bool,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The result.
#[derive(Debug, Serialize)]
struct Report {
    run_id: RunId,
    step: u64,
    mean: f64,
    std: f64,
    ci95: [f64; 2],
    mean_length: f64,
    returns: Vec<f64>,
    terminated: u32,
    truncated: u32,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metrics: BTreeMap<String, f64>,
    /// The run that keeps this evaluation.
    eval_run_id: RunId,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let id: RunId = args.run.parse().map_err(RunError::from)?;
    let dir = data.run(&id);
    let manifest = dir.manifest().map_err(RunError::from)?;
    let alias = if args.best { Alias::Best } else { Alias::Latest };
    let (checkpoint, policy) = checkpoint::load(&dir, &id, alias)?;
    let kept = KeptEvaluation {
        run: &manifest,
        step: checkpoint.step,
        is_best: args.best,
        episodes: args.episodes,
        seed: args.seed,
    };
    let (eval_run_id, outcome) = kept.carry_out(&data, super::VERSION, &policy)?;
    let summary = outcome.summary(checkpoint.step);
    if args.json {
        say_json(&Report {
            run_id: id,
            step: checkpoint.step,
            mean: summary.mean,
            std: summary.std,
            ci95: summary.ci95,
            mean_length: summary.mean_length,
            returns: outcome.returns,
            terminated: outcome.terminated,
            truncated: outcome.truncated,
            metrics: summary.metrics,
            eval_run_id,
        });
    } else {
        say(&format!(
            "{} at step {}, {} episodes of {}",
            args.run, checkpoint.step, args.episodes, manifest.env_id
        ));
        let [low, high] = summary.ci95;
        say(&format!(
            "mean return  {:.1}  (95% interval {low:.1} to {high:.1}, std {:.1})",
            summary.mean, summary.std
        ));
        say(&format!(
            "mean length  {:.1}  ({} ended, {} ran out of time)",
            summary.mean_length, outcome.terminated, outcome.truncated
        ));
        for (name, mean) in &summary.metrics {
            say(&format!("mean {:<20}  {mean:.3}", name.replace('_', " ")));
        }
        say(&format!("run {eval_run_id}"));
    }
    Ok(Exit::Ok)
}
