//! `cartridge fork`: a run that goes on from a checkpoint of another.

use std::time::Duration;

use anyhow::Context as _;
use cartridge_run::RunError;
use cartridge_run::config::parse_assignment;
use cartridge_run::lab;
use cartridge_run::queue::Demand;
use cartridge_run::steer::{self, By};
use serde_json::json;

use super::{DataArgs, STOP_GRACE_SECONDS, launcher, say, say_json, user};
use crate::exit::Exit;

/// Make a run that goes on from a checkpoint of another, with some settings changed
///
/// It is started at once, or by the lab on the same data folder as soon as there is room.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the run
    run: String,
    /// The checkpoint: latest, best, a folder, or a number of steps
    #[arg(long, value_name = "NAME", default_value = "latest")]
    checkpoint: String,
    /// A setting that is changed, such as trainer.learning_rate=1e-4: one of those in the run's
    /// overrides_whitelist; may be repeated
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let parent = data.run(&args.run.parse().map_err(RunError::from)?);
    let parent = parent.manifest().map_err(RunError::from)?;
    let overrides = args
        .set
        .iter()
        .map(|text| {
            let (path, value) = parse_assignment(text, "trainer.learning_rate=1e-4")?;
            Ok((path.to_owned(), value))
        })
        .collect::<Result<Vec<_>, cartridge_run::ConfigError>>()
        .map_err(RunError::from)?;
    let launcher = launcher(Duration::from_secs(STOP_GRACE_SECONDS))?;
    let by = user();
    let lab = lab::presence(&data);
    if let Some(lab) = &lab {
        lab.limits.admit(&Demand::of(&parent)).map_err(RunError::from)?;
    }
    let fork = steer::fork(&data, &launcher, &parent, &args.checkpoint, &overrides, By::new(&by))?;
    if lab.is_none() {
        launcher.start(&data, &fork.id, 1)?;
    }
    let origin = fork.parent.context("a fork has a parent")?;
    if args.json {
        say_json(&json!({ "run_id": fork.id, "parent": origin }));
    } else {
        say(&format!("{} goes on from {} at step {}", fork.id, origin.run, origin.step));
    }
    Ok(Exit::Ok)
}
