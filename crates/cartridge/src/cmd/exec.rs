//! `cartridge exec`: a trainer that is not ours, as a run like any other.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context as _;
use cartridge_run::RunError;
use cartridge_run::config::{Resources, parse_bytes, parse_cores};
use cartridge_run::launch::{External, Terms, kept_environment};
use cartridge_run::named_trainer::{Trainers, Wanted};
use cartridge_run::queue::Demand;
use cartridge_run::steer::{self, By};
use cartridge_run::store::{DataDir, Limits};

use super::train::{ExperimentArgs, TermArgs, Watcher, count_interrupts, follow, hand_over};
use super::{DataArgs, STOP_GRACE_SECONDS, launcher, note, user};
use crate::exit::Exit;

/// Run any trainer as a run of the lab
///
/// The program writes JSON lines to its standard output, as docs/protocol.md says; whatever else
/// it prints is its log. The run goes on if this command is closed. The first Ctrl-C asks it to
/// stop, the second leaves it to itself. While a lab is at work on the data folder, the run waits
/// in its queue until there is room; Ctrl-C takes a run that waits back.
///
/// With --trainer the program is one that `trainers` in lab.json of the data folder names.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the environment; it need not be one of ours. With --trainer: one of those that it
    /// learns [default: its first]
    #[arg(long, value_name = "ID", required_unless_present = "trainer")]
    env: Option<String>,
    /// A trainer that lab.json names, instead of a command
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["command", "cpu", "memory", "gpu", "pass"],
    )]
    trainer: Option<String>,
    /// A value for an argument of that trainer, such as learning_rate=0.001; may be repeated
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "command")]
    arg: Vec<String>,
    /// Name of the run, for people
    #[arg(long)]
    name: Option<String>,
    /// Told to the program in CARTRIDGE_SEED
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// CPU cores that it needs, such as 2 or 500m [default: 1]
    #[arg(long, value_name = "CORES", value_parser = cores)]
    cpu: Option<String>,
    /// Memory that it needs, such as 4Gi [default: 256Mi]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    memory: Option<String>,
    /// GPUs that it needs
    #[arg(long, value_name = "N")]
    gpu: Option<u32>,
    /// Another variable of this environment that the program gets also when the lab starts it; it
    /// is kept in run.json, so no secrets; may be repeated
    #[arg(long, value_name = "NAME")]
    pass: Vec<String>,
    /// End it after so many environment steps
    #[arg(long, value_name = "N")]
    max_steps: Option<u64>,
    /// Seconds that it may take to save and end when it is asked to stop [default: 60, or what the
    /// lab that starts it allows]
    #[arg(long, value_name = "N")]
    stop_grace: Option<u64>,
    #[command(flatten)]
    experiment: ExperimentArgs,
    #[command(flatten)]
    terms: TermArgs,
    /// Start the run and return at once
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per line, the result last
    #[arg(long)]
    json: bool,
    /// The program and its arguments
    #[arg(last = true, required_unless_present = "trainer", value_name = "CMD")]
    command: Vec<String>,
}

/// A length of time that makes sense.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err("it must be a number of seconds above 0".to_owned()),
    }
}

fn cores(text: &str) -> Result<String, String> {
    match parse_cores(text) {
        Some(_) => Ok(text.trim().to_owned()),
        None => Err("write cores as 4 or 1500m".to_owned()),
    }
}

fn bytes(text: &str) -> Result<String, String> {
    match parse_bytes(text) {
        Some(_) => Ok(text.trim().to_owned()),
        None => Err("write memory as 8Gi, 512Mi or a number of bytes".to_owned()),
    }
}

/// The variables that are kept with the run.
fn environment(args: &Args) -> anyhow::Result<BTreeMap<String, String>> {
    let mut kept = kept_environment();
    for name in &args.pass {
        if ["KEY", "TOKEN", "SECRET", "PASSWORD"]
            .iter()
            .any(|word| name.to_uppercase().contains(word))
        {
            anyhow::bail!(
                "--pass {name}: what is passed is kept with the run, where others can read it; let the \
                 program find its secrets in a file of its own"
            );
        }
        if name.starts_with("CARTRIDGE_") {
            anyhow::bail!(
                "--pass {name}: the lab sets variables that begin with CARTRIDGE_ itself"
            );
        }
        let value = std::env::var(name)
            .with_context(|| format!("--pass {name}: there is no such variable here"))?;
        kept.insert(name.clone(), value);
    }
    Ok(kept)
}

/// The run of a command that was typed.
fn of_command(args: &Args, terms: Terms) -> anyhow::Result<External> {
    let usual = Resources::default();
    let env_id = args.env.clone().context("--env says which environment it is")?;
    Ok(External {
        name: args.name.clone().unwrap_or_else(|| format!("{env_id}, {}", args.command[0])),
        env_id,
        seed: args.seed,
        command: args.command.clone(),
        cwd: std::env::current_dir().context("finding the current folder")?,
        environment: environment(args)?,
        resources: Resources {
            gpu: args.gpu.unwrap_or(usual.gpu),
            cpu: args.cpu.clone().unwrap_or(usual.cpu),
            memory: args.memory.clone().unwrap_or(usual.memory),
            threads: 0,
        },
        terms,
        started_as: None,
    })
}

/// The run of a trainer that `lab.json` names.
fn of_trainer(args: &Args, data: &DataDir, id: &str, terms: Terms) -> anyhow::Result<External> {
    let trainers = Trainers::read(data)?;
    let trainer = trainers.find(id)?;
    let wanted = Wanted {
        arguments: trainer.read_arguments(&args.arg).map_err(RunError::from)?,
        env_id: args.env.clone(),
        name: args.name.clone(),
        seed: args.seed,
        terms,
    };
    Ok(trainer.external(data, wanted)?)
}

/// A secret, so that it is not kept with a run.
const KEY: &str = "WANDB_API_KEY";

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open()?;
    let interrupts = count_interrupts()?;
    let mut terms = args.terms.terms(args.experiment.experiment.clone());
    terms.limits = Limits {
        max_steps: args.max_steps,
        stop_grace_s: args.stop_grace.map(|seconds| seconds as f64),
        ..terms.limits
    };
    let external = match &args.trainer {
        Some(id) => of_trainer(args, &data, id, terms)?,
        None => of_command(args, terms)?,
    };
    let lab = args.terms.admit(&data, &Demand::of_resources(&external.resources))?;
    let launcher = launcher(Duration::from_secs(args.stop_grace.unwrap_or(STOP_GRACE_SECONDS)))?;
    let manifest = steer::create_external(&data, &launcher, external, By::new(&user()))?;
    hand_over(&data, &launcher, &manifest, lab.as_ref(), args.detach, args.json)?;
    if lab.is_some() && !args.pass.iter().any(|name| name == KEY) && std::env::var_os(KEY).is_some()
    {
        note(
            "note: the lab starts the program, without the WANDB_API_KEY of this shell; `wandb login`, \
             once, keeps a key where it is found",
        );
    }
    if args.detach {
        return Ok(Exit::Ok);
    }
    let mut watcher = Watcher::new(args.json, None, data.run(&manifest.id));
    watcher.is_handed_over = lab.is_some();
    follow(&data, &launcher, &manifest, watcher, &interrupts)
}
