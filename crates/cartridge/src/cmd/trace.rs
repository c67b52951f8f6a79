//! `cartridge trace`: an episode from its seed and actions, number by number.

use std::io::{ErrorKind, Read as _};
use std::path::PathBuf;

use anyhow::Context as _;
use cartridge_run::RunError;
use cartridge_run::trace::{Actions, Moment, trace};
use clap::ValueEnum;

use super::{OptionArgs, parse_id, say, say_json};
use crate::exit::Exit;

/// Print an episode number by number, to compare it with another program
///
/// The same seed, options and actions give the same numbers to the last bit, here and in
/// Gymnasium. Example:
///   cartridge trace CartPole-v1 --seed 7 --policy random --policy-seed 1 --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Id of the environment or game
    #[arg(value_parser = parse_id)]
    id: String,
    /// Seed of the reset
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// A JSON array of actions, `-` for standard input; given again, another episode follows in
    /// the same environment, reset without a seed
    #[arg(long, value_name = "FILE", required_unless_present = "policy")]
    actions: Vec<PathBuf>,
    /// Who acts instead of a file
    #[arg(long, value_enum, conflicts_with = "actions")]
    policy: Option<Policy>,
    /// Seed of the random actions: those of numpy.random.default_rng(P)
    #[arg(long, value_name = "P", default_value_t = 0, requires = "policy")]
    policy_seed: u64,
    #[command(flatten)]
    options: OptionArgs,
    /// One JSON object per line on standard output
    #[arg(long)]
    json: bool,
}

/// Who acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Policy {
    /// Any legal action, until the episode ends
    Random,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let options = args.options.parse()?;
    let episodes = match args.policy {
        Some(Policy::Random) => vec![Actions::Random { seed: args.policy_seed }],
        None => args.actions.iter().map(read_actions).collect::<anyhow::Result<_>>()?,
    };
    let show: fn(&Moment) = if args.json { say_json } else { say_plainly };
    trace(&args.id, &options, args.seed, episodes, show).map_err(|error| match &error {
        // With several files, it is said which one the action is in.
        RunError::BadAction { episode, .. } if args.actions.len() > 1 => {
            let file = args.actions[*episode].display().to_string();
            anyhow::Error::from(error).context(file)
        }
        _ => error.into(),
    })?;
    Ok(Exit::Ok)
}

fn read_actions(path: &PathBuf) -> anyhow::Result<Actions> {
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        std::io::stdin().read_to_end(&mut bytes).context("reading standard input")?;
    } else {
        bytes = match std::fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(RunError::NoActions(path.display().to_string()).into());
            }
            read => read.with_context(|| format!("reading {}", path.display()))?,
        };
    }
    let bad = |error: serde_json::Error| RunError::BadActions {
        file: path.display().to_string(),
        reason: error.to_string(),
    };
    Ok(Actions::Given(serde_json::from_slice(&bytes).map_err(bad)?))
}

fn say_plainly(moment: &Moment) {
    let numbers: Vec<String> = moment.observation.iter().map(|x| format!("{x:+.4}")).collect();
    let Moment { action, reward, terminated, truncated, .. } = moment;
    let Some(action) = action else {
        say(&format!("reset  {}", numbers.join(" ")));
        return;
    };
    let action = serde_json::to_string(action).expect("an action is plain data");
    let end = match (terminated, truncated) {
        (Some(true), _) => "  terminated",
        (_, Some(true)) => "  truncated",
        _ => "",
    };
    say(&format!("{action:<5}  {}  reward {:+}{end}", numbers.join(" "), reward.unwrap_or(0.0)));
}
