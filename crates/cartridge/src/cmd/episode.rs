//! `cartridge episode`: an episode of a run, number by number.

use cartridge_run::RunError;
use cartridge_run::episode::{Archive, Moment};
use cartridge_run::xray::{self, Thought, Xray};
use serde::Serialize;
use serde_json::{Map, Value};

use super::episodes::Row;
use super::{DataArgs, note, say, say_json};
use crate::exit::Exit;

/// Print an episode of a run number by number
///
/// With --json it prints what `cartridge trace` would, and last the episode with its seed and the
/// options of its environment: enough for Gymnasium to repeat it. Example:
///   cartridge episode r-7f3k2m 120 --json
///   cartridge episode r-7f3k2m 120 --xray      what the policy would do and expects, at every step
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Name of the run
    run: String,
    /// Number of the episode in the run
    episode: u64,
    /// The first step; 0 is the start
    #[arg(long, value_name = "STEP", default_value_t = 0)]
    from: u64,
    /// The step after the last
    #[arg(long, value_name = "STEP")]
    to: Option<u64>,
    /// Tell at every step what the policy would do, and what it expects
    #[arg(long)]
    xray: bool,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

/// The last line.
#[derive(Debug, Serialize)]
struct Summary<'a> {
    run_id: &'a str,
    env_id: &'a str,
    options: &'a Map<String, Value>,
    #[serde(flatten)]
    row: Row,
    /// Whether stepping it again gave what was recorded.
    matches: bool,
    /// The policy that was asked: a checkpoint, or that of an evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<String>,
    /// Whether it is the very policy that played.
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<bool>,
}

/// A line of one step.
#[derive(Debug, Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    moment: &'a Moment,
    /// What the policy made of the moment before the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    xray: Option<&'a Thought>,
}

/// Moments that are made at once, so that the memory does not grow with the episode.
const PIECE: u64 = 1_000;

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let id = args.run.parse().map_err(RunError::from)?;
    let mut archive = Archive::open(&data, &id)?;
    let replay = archive.replay(args.episode)?;
    let (head, matches) = (replay.head.clone(), replay.matches);
    let end = args.to.unwrap_or(u64::MAX).min(replay.n_steps() + 1);
    let mut from = args.from;
    let mut asked = None;
    while from < end {
        let to = end.min(from + PIECE);
        let mut thoughts = Vec::new();
        if args.xray {
            let found = xray::of_episode(&data, &mut archive, args.episode, from..to)?;
            let Xray { policy, is_exact, thoughts: found, .. } = found;
            asked = Some((policy, is_exact));
            thoughts = found;
        }
        let mut thoughts = thoughts.iter().peekable();
        for moment in &archive.steps(args.episode, from..to, false)? {
            // There is none of the start.
            let xray = thoughts.next_if(|thought| thought.step == moment.step);
            if args.json {
                say_json(&Line { moment, xray });
            } else {
                say_plainly(moment, xray);
            }
        }
        from = to;
    }
    let (policy, exact) = asked.unzip();
    if let (Some(policy), Some(false), false) = (&policy, exact, args.json) {
        note(&format!("{policy} was asked, which is near the policy that played and not the same"));
    }
    let summary = Summary {
        run_id: archive.manifest.id.as_str(),
        env_id: &archive.manifest.env_id,
        options: &archive.options,
        row: head.into(),
        matches,
        policy,
        exact,
    };
    if args.json {
        say_json(&summary);
    }
    if !matches {
        note("it does not replay to what was recorded: the environment has changed since");
        return Ok(Exit::Failed);
    }
    Ok(Exit::Ok)
}

fn say_plainly(moment: &Moment, xray: Option<&Thought>) {
    let observation = match &moment.observation {
        Some(Value::Array(numbers)) if numbers.iter().all(Value::is_number) => {
            let numbers = numbers.iter().filter_map(Value::as_f64);
            numbers.map(|x| format!("{x:+.4}")).collect::<Vec<_>>().join(" ")
        }
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let Some(action) = &moment.action else {
        say(&format!("reset  {observation}"));
        return;
    };
    let end = match (moment.terminated, moment.truncated) {
        (Some(true), _) => "  terminated",
        (_, Some(true)) => "  truncated",
        _ => "",
    };
    let reward = moment.reward.unwrap_or(0.0);
    let xray = xray.map(in_words).unwrap_or_default();
    say(&format!("{:<5}  {observation}  reward {reward:+}{end}{xray}", action.to_string()));
}

/// What a policy made of a moment, for people.
fn in_words(thought: &Thought) -> String {
    let number = |x: &Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.3}"));
    let actions: Vec<String> = thought.actions.iter().map(number).collect();
    let mut words = format!("  actions [{}]", actions.join(" "));
    if let Some(best) = thought.best {
        words.push_str(&format!("  best {best}"));
    }
    if let Some(value) = thought.value {
        words.push_str(&format!("  value {value:+.3}"));
    }
    words
}
