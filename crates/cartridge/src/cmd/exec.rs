//! `cartridge exec`: a trainer that is not ours, as a run like any other.

use std::time::Duration;

use anyhow::Context as _;
use cartridge_run::launch::External;
use cartridge_run::steer::{self, By};
use cartridge_run::store::Limits;
use serde_json::json;

use super::train::{Watcher, count_interrupts, follow};
use super::{DataArgs, STOP_GRACE_SECONDS, launcher, note, say, say_json, user};
use crate::exit::Exit;

/// Run any trainer as a run of the lab
///
/// The program writes JSON lines to its standard output, as docs/protocol.md says; whatever else
/// it prints is its log. The run goes on if this command is closed. The first Ctrl-C asks it to
/// stop, the second leaves it to itself.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the environment; it need not be one of ours
    #[arg(long, value_name = "ID")]
    env: String,
    /// Name of the run, for people
    #[arg(long)]
    name: Option<String>,
    /// Told to the program in CARTRIDGE_SEED
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// End it after so many seconds
    #[arg(long, value_name = "N", value_parser = seconds)]
    max_seconds: Option<f64>,
    /// End it after so many environment steps
    #[arg(long, value_name = "N")]
    max_steps: Option<u64>,
    /// Seconds that it may take to save and end when it is asked to stop
    #[arg(long, value_name = "N", default_value_t = STOP_GRACE_SECONDS)]
    stop_grace: u64,
    /// Start the run and return at once
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per line, the result last
    #[arg(long)]
    json: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<String>,
}

/// A length of time that makes sense.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err("it must be a number of seconds above 0".to_owned()),
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open()?;
    let interrupts = count_interrupts()?;
    let external = External {
        env_id: args.env.clone(),
        name: args.name.clone().unwrap_or_else(|| format!("{}, {}", args.env, args.command[0])),
        seed: args.seed,
        command: args.command.clone(),
        cwd: std::env::current_dir().context("finding the current folder")?,
        limits: Limits { max_seconds: args.max_seconds, max_steps: args.max_steps },
    };
    let launcher = launcher(Duration::from_secs(args.stop_grace))?;
    let manifest = steer::create_external(&data, &launcher, external, By::new(&user()))?;
    let dir = data.run(&manifest.id);
    launcher.start(&data, &manifest.id, 1)?;
    if args.detach {
        if args.json {
            say_json(&json!({ "run_id": manifest.id }));
        } else {
            say(&manifest.id.to_string());
        }
        return Ok(Exit::Ok);
    }
    note(&format!("{}: {}", manifest.id, manifest.name));
    follow(&data, &launcher, &manifest, Watcher::new(args.json, None, dir), &interrupts)
}
