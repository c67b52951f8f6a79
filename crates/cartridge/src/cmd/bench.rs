//! `cartridge bench`: how fast the engine is on this machine.

mod matrix;
mod throughput;

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use crate::exit::Exit;

/// Measure how fast the engine is on this machine
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Throughput(throughput::Args),
    Matrix(matrix::Args),
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
        What::Throughput(args) => throughput::run(args),
        What::Matrix(args) => matrix::run(args),
        What::Flood(args) => flood(args),
    }
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
