//! `cartridge bench`: how fast the engine is on this machine.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use cartridge_run::throughput::{Phases, Plan, Rate, Throughput, measure};
use clap::ValueEnum;
use serde::Serialize;

use super::{OptionArgs, note, parse_id, say, say_json};
use crate::exit::Exit;

/// Measure how fast the engine is on this machine
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Throughput(ThroughputArgs),
    Flood(FloodArgs),
}

/// Be a trainer that writes metrics and steps, five to two (used by benches/ingest.sh)
#[derive(Debug, clap::Args)]
#[command(hide = true)]
struct FloodArgs {
    /// How long
    #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = parse_seconds)]
    seconds: f64,
    /// Metric points a second, with two steps for every five; as many as possible if not given
    #[arg(long, value_name = "N", value_parser = parse_rate)]
    rate: Option<f64>,
}

/// Step environments for a while and count
#[derive(Debug, clap::Args)]
struct ThroughputArgs {
    /// Id of the environment
    #[arg(long, value_name = "ID", value_parser = parse_id)]
    env: String,
    /// What is measured
    #[arg(long, value_enum, default_value_t = Mode::EnvOnly)]
    mode: Mode,
    /// Environments side by side
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    envs: u32,
    /// Threads that they are split over; all processors if it is not given
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// How long
    #[arg(long, value_name = "S", default_value_t = 5.0, value_parser = parse_seconds)]
    seconds: f64,
    /// Decides episodes and actions
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    options: OptionArgs,
    /// The rate to reach
    #[arg(long, value_name = "N", default_value_t = 100_000.0, value_parser = parse_rate)]
    target_steps_per_sec: f64,
    /// Exit with 1 when the target is missed
    #[arg(long)]
    enforce_target: bool,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    /// Environments, with random legal actions
    EnvOnly,
}

/// The result.
#[derive(Debug, Serialize)]
struct Report<'a> {
    mode: Mode,
    env: &'a str,
    steps_per_sec: Rate,
    ticks_per_sec: Rate,
    phases: Phases,
    cpu_percent: f64,
    rss_mb: f64,
    episodes: u64,
    target_steps_per_sec: f64,
    target_met: bool,
    config: &'a Plan,
}

/// Writes lines of the protocol until the time is over.
fn flood(args: &FloodArgs) -> anyhow::Result<Exit> {
    const STEPS_PER_EPISODE: u64 = 500;
    let mut out = std::io::stdout().lock();
    let mut text = String::new();
    let started = Instant::now();
    let (mut n_rounds, mut n_steps) = (0_u64, 0_u64);
    loop {
        let seconds = started.elapsed().as_secs_f64();
        if seconds >= args.seconds {
            break;
        }
        let due = args.rate.map_or(n_rounds + 100, |rate| (seconds * rate / 5.0) as u64);
        text.clear();
        while n_rounds < due {
            n_rounds += 1;
            for name in 0..5 {
                let value = (n_rounds * 7 + name) as f64 * 1e-3;
                _ = writeln!(
                    text,
                    r#"{{"type":"metric","name":"flood/{name}","value":{value},"step":{n_rounds},"t":{seconds}}}"#
                );
            }
            for _ in 0..2 {
                n_steps += 1;
                let (episode, step) = (n_steps / STEPS_PER_EPISODE, n_steps % STEPS_PER_EPISODE);
                let (action, obs) = (n_steps % 4, n_steps as f64 * 0.01);
                _ = writeln!(
                    text,
                    r#"{{"type":"step","episode_id":"{episode}","step":{step},"action":{action},"reward":1.0,"terminated":false,"truncated":false,"obs":[{obs},0.5,-0.25,0.125],"t":{seconds}}}"#
                );
                if step == STEPS_PER_EPISODE - 1 {
                    _ = writeln!(
                        text,
                        r#"{{"type":"episode","episode_id":"{episode}","steps":{STEPS_PER_EPISODE},"return":500.0,"terminated":false,"truncated":true}}"#
                    );
                }
            }
        }
        out.write_all(text.as_bytes())?;
        if args.rate.is_some() {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    writeln!(out, r#"{{"type":"done","step":{n_steps}}}"#)?;
    Ok(Exit::Ok)
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.what {
        What::Throughput(args) => throughput(args),
        What::Flood(args) => flood(args),
    }
}

fn throughput(args: &ThroughputArgs) -> anyhow::Result<Exit> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut plan = Plan {
        env: args.env.clone(),
        options: args.options.parse()?,
        envs: args.envs as usize,
        threads: args.threads.map_or(processors, |threads| threads as usize),
        seconds: args.seconds,
        seed: args.seed,
    };
    let Throughput { steps_per_sec, ticks_per_sec, phases, cpu_percent, rss_mb, episodes, threads } =
        measure(&plan)?;
    // What is reported is what ran.
    plan.threads = threads;
    let target_met = steps_per_sec.mean >= args.target_steps_per_sec;
    if args.json {
        say_json(&Report {
            mode: args.mode,
            env: &args.env,
            steps_per_sec,
            ticks_per_sec,
            phases,
            cpu_percent,
            rss_mb,
            episodes,
            target_steps_per_sec: args.target_steps_per_sec,
            target_met,
            config: &plan,
        });
    } else {
        let Rate { mean, p50, p95 } = steps_per_sec;
        say(&format!("{}, {} environments on {} threads", plan.env, plan.envs, plan.threads));
        say(&format!("steps/s  {mean:.0}  (p50 {p50:.0}, p95 {p95:.0})"));
        say(&format!("ticks/s  {:.0}", ticks_per_sec.mean));
        say(&format!("CPU {cpu_percent:.0}%, {rss_mb:.0} MB, {episodes} episodes"));
    }
    if !target_met {
        note(&format!(
            "{:.0} steps/s is below the target of {:.0}",
            steps_per_sec.mean, args.target_steps_per_sec
        ));
    }
    Ok(if args.enforce_target && !target_met { Exit::Failed } else { Exit::Ok })
}

fn parse_rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate >= 0.0 => Ok(rate),
        _ => Err("not a number of 0 or more".to_owned()),
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("not between 0.1 and 3600".to_owned()),
    }
}
