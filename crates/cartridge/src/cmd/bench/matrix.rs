//! `cartridge bench matrix`: which sizes train fastest on this machine.

use cartridge_run::config::{Draft, parse_assignment};
use cartridge_run::throughput::training::{Extent, TrainingThroughput, measure_training};
use cartridge_run::{ConfigError, RunConfig, RunError};
use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::json;

use super::parse_seconds;
use super::throughput::measured_settings;
use crate::cmd::{parse_id, progress_style, say, say_json};
use crate::exit::Exit;

/// Try numbers of environments, lengths of rollouts and sizes of batches, and print the best first
///
/// Each is trained with PPO for a moment, as `cartridge bench throughput --mode trainer` does. The
/// fastest is not the one that learns most from its steps.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the environment
    #[arg(value_parser = parse_id)]
    env: String,
    /// Numbers of environments (simulation.n_envs)
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [16, 64, 256])]
    envs: Vec<u32>,
    /// Steps of each environment per update (simulation.n_steps)
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [32, 128, 512])]
    n_steps: Vec<u32>,
    /// Samples in a gradient step (trainer.batch_size)
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [256, 1024, 4096])]
    batch_sizes: Vec<u32>,
    /// How long each is tried
    #[arg(long, value_name = "S", default_value_t = 1.5, value_parser = parse_seconds)]
    seconds: f64,
    /// Threads that learn; as many as there are cores, up to 4, if it is not given
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: Option<u32>,
    /// Any other setting by its full path, such as trainer.n_epochs=10; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// One JSON object per line, the best last
    #[arg(long)]
    json: bool,
}

/// What one of them reached.
#[derive(Debug, Serialize)]
struct Entry {
    env: String,
    n_envs: u32,
    n_steps: u32,
    batch_size: u32,
    #[serde(flatten)]
    reached: TrainingThroughput,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut tried = Vec::new();
    for &n_envs in &args.envs {
        for &n_steps in &args.n_steps {
            for &batch_size in &args.batch_sizes {
                // A batch cannot be larger than what it is taken from.
                if batch_size <= n_envs.saturating_mul(n_steps) {
                    let config = config(args, n_envs, n_steps, batch_size);
                    tried.push((n_envs, n_steps, batch_size, config.map_err(RunError::from)?));
                }
            }
        }
    }
    anyhow::ensure!(!tried.is_empty(), "no batch is small enough for so few steps per update");
    let bar = if args.json { ProgressBar::hidden() } else { ProgressBar::new(tried.len() as u64) };
    bar.set_style(progress_style("{bar:28} {pos}/{len}  {msg}"));
    let mut entries = Vec::new();
    for (n_envs, n_steps, batch_size, config) in tried {
        bar.set_message(format!("{n_envs} x {n_steps}, batches of {batch_size}"));
        let reached = measure_training(&config, Extent::Trainer, args.seconds)?;
        entries.push(Entry { env: config.env_id, n_envs, n_steps, batch_size, reached });
        bar.inc(1);
    }
    bar.finish_and_clear();
    let pace = |entry: &Entry| entry.reached.steps_per_sec.mean;
    entries.sort_by(|a, b| pace(b).total_cmp(&pace(a)));
    if args.json {
        // The result comes last.
        entries.iter().rev().for_each(say_json);
        return Ok(Exit::Ok);
    }
    say(" n_envs  n_steps  batch_size    steps/s   act  learn  record");
    for Entry { n_envs, n_steps, batch_size, reached, .. } in &entries {
        let share = |part: &str| 100.0 * reached.phases.share(part);
        say(&format!(
            "{n_envs:7}  {n_steps:7}  {batch_size:10}  {:9.0}  {:3.0}%  {:4.0}%  {:5.0}%",
            reached.steps_per_sec.mean,
            share("act"),
            share("judge") + share("learn"),
            share("record"),
        ));
    }
    Ok(Exit::Ok)
}

fn config(
    args: &Args,
    n_envs: u32,
    n_steps: u32,
    batch_size: u32,
) -> Result<RunConfig, ConfigError> {
    let mut draft = Draft::new(&args.env, "ppo")?;
    measured_settings(&mut draft, "ppo")?;
    let tried = [
        ("simulation.n_envs", "--envs", n_envs),
        ("simulation.n_steps", "--n-steps", n_steps),
        ("trainer.batch_size", "--batch-sizes", batch_size),
    ];
    for assignment in &args.set {
        let (key, _) = parse_assignment(assignment, "trainer.n_epochs=10")?;
        let path = draft.path(key);
        if let Some((_, option, _)) = tried.iter().find(|(tried, ..)| *tried == path) {
            let detail = format!("several are tried here: say which with {option}");
            return Err(ConfigError::BadValue { key: key.to_owned(), detail });
        }
        draft.set_text(assignment)?;
    }
    for (path, _, value) in tried {
        draft.set(path, json!(value))?;
    }
    if let Some(threads) = args.threads {
        draft.set("resources.threads", threads.into())?;
    }
    draft.finish()
}
