//! `cartridge games`: what can be played and what can be trained on.

use cartridge_run::Algorithm;
use cartridge_run::RunError;
use cartridge_run::games::env::{ActionSpace, EnvSpec};
use cartridge_run::games::game::GameSpec;
use cartridge_run::games::registry;
use cartridge_run::games::time_limit::MAX_EPISODE_STEPS;
use cartridge_run::opponent::Opponent;
use cartridge_run::trace::refuse_options;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{OptionArgs, parse_id, say, say_json};
use crate::exit::Exit;

/// List the board games and the environments, or show one
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// One JSON object per line
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show one: its facts, its spaces, its options, and with whom or what it is played
    Show {
        /// Id of the game or environment
        #[arg(value_parser = parse_id)]
        id: String,
        #[command(flatten)]
        options: OptionArgs,
    },
}

/// Either sort, in one line.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Row {
    BoardGame {
        #[serde(flatten)]
        spec: &'static GameSpec,
        opponents: Vec<Opponent>,
    },
    Environment {
        #[serde(flatten)]
        spec: &'static EnvSpec,
        algorithms: Vec<&'static str>,
    },
}

/// A game in full.
#[derive(Debug, Serialize)]
struct ShownGame {
    kind: &'static str,
    #[serde(flatten)]
    spec: &'static GameSpec,
    n_symmetries: usize,
    start: String,
    actions: Vec<String>,
    opponents: Vec<Level>,
    commands: Vec<String>,
}

/// Somebody to play against.
#[derive(Debug, Serialize)]
struct Level {
    level: &'static str,
    id: String,
    name: String,
    description: String,
    strength: Option<String>,
}

/// An environment in full.
#[derive(Debug, Serialize)]
struct ShownEnv {
    kind: &'static str,
    #[serde(flatten)]
    spec: &'static EnvSpec,
    options: Map<String, Value>,
    algorithms: Vec<&'static str>,
    commands: Vec<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Some(Command::Show { id, options }) => show(id, &options.parse()?, args.json)?,
        None => list(args.json),
    }
    Ok(Exit::Ok)
}

fn list(json: bool) {
    let games = registry::games()
        .iter()
        .map(|spec| Row::BoardGame { spec, opponents: Opponent::offered(spec.id).collect() });
    let environments = registry::environments()
        .iter()
        .map(|&spec| Row::Environment { spec, algorithms: algorithms(spec) });
    if !json {
        say(&format!(
            "{:<26}{:<25}{:<13}{:<12}{:>11}  {}",
            "ID", "NAME", "KIND", "ACTIONS", "OBSERVATION", "WITH"
        ));
    }
    for row in games.chain(environments) {
        if json {
            say_json(&row);
            continue;
        }
        let (id, name, kind, actions, observation, with) = match &row {
            Row::BoardGame { spec, opponents } => {
                let n_actions = format!("one of {}", spec.n_actions);
                let with = format!("play, match: {} levels", opponents.len());
                (spec.id, spec.name, "board game", n_actions, spec.observation, with)
            }
            Row::Environment { spec, algorithms } => {
                let actions = match spec.actions {
                    ActionSpace::Discrete(n) => format!("one of {n}"),
                    ActionSpace::Continuous { low, .. } => numbers(low.len()),
                };
                let with = match &algorithms[..] {
                    [] => "nothing yet".to_owned(),
                    algorithms => format!("train: {}", algorithms.join(", ")),
                };
                (spec.id, spec.name, "environment", actions, spec.observation, with)
            }
        };
        say(&format!("{id:<26}{name:<25}{kind:<13}{actions:<12}{observation:>11}  {with}"));
    }
}

fn show(id: &str, options: &Map<String, Value>, json: bool) -> anyhow::Result<()> {
    if registry::is_game(id) {
        refuse_options(id, options)?;
        return show_game(id, json);
    }
    if !registry::environments().iter().any(|spec| spec.id == id) {
        return Err(RunError::from(registry::unknown_cartridge(id)).into());
    }
    show_env(id, options, json)
}

fn show_game(id: &str, json: bool) -> anyhow::Result<()> {
    let game = super::start_game(id, &mut super::rng(0))?;
    let spec = game.spec();
    let levels = Opponent::levels(id).iter();
    let opponents: Vec<Level> = levels
        .map(|level| Level {
            level: level.name,
            id: level.opponent.to_string(),
            name: level.opponent.name(),
            description: level.opponent.description(id),
            strength: level.opponent.strength(id),
        })
        .collect();
    let shown = ShownGame {
        kind: "board_game",
        spec,
        n_symmetries: game.n_symmetries(),
        start: game.to_string(),
        actions: game.spots().iter().map(|spot| game.action_name(spot.action)).collect(),
        commands: vec![
            format!("cartridge play {id} --level {}", opponents[1].level.to_lowercase()),
            format!("cartridge match {id} {} {}", opponents[0].id, opponents[1].id),
        ],
        opponents,
    };
    if json {
        say_json(&shown);
        return Ok(());
    }
    say(&format!("{} ({}, version {})\n\n{}", spec.name, spec.id, spec.version, shown.start));
    let (low, high) = spec.scores;
    let names: Vec<&str> = shown.actions.iter().map(String::as_str).collect();
    facts(&[
        ("kind", "board game".to_owned()),
        ("seats", spec.n_seats.to_string()),
        ("actions", format!("{}: {}", spec.n_actions, abridged(&names))),
        ("observation", format!("{} numbers", spec.observation)),
        ("planes", spec.planes.map(|size| size.to_string()).join("x")),
        ("symmetries", shown.n_symmetries.to_string()),
        ("scores", format!("{low} to {high}")),
        ("length", format!("at most {} plies", spec.max_plies)),
    ]);
    say("\nlevels, strongest first");
    for Level { level, id, name, strength, .. } in &shown.opponents {
        let strength = strength.as_deref().unwrap_or_default();
        say(&format!("  {level:<10}{id:<22}{name:<26}{strength}"));
    }
    say_commands(&shown.commands);
    Ok(())
}

/// Shows the environment as it is with `given` options, which may change its actions.
fn show_env(id: &str, given: &Map<String, Value>, json: bool) -> anyhow::Result<()> {
    let spec = registry::make_env(id, given).map_err(RunError::from)?.spec();
    let algorithms = algorithms(spec);
    let set: String = given.iter().map(|(name, value)| format!(" --set {name}={value}")).collect();
    let mut commands =
        vec![format!("cartridge bench throughput --env {id} --mode env-only --seconds 5{set}")];
    if !algorithms.is_empty() {
        commands.insert(0, format!("cartridge train {id}{set}"));
    }
    let mut options = registry::env_options(id).map_err(RunError::from)?;
    options.extend(given.clone());
    let shown = ShownEnv { kind: "environment", spec, options, algorithms, commands };
    if json {
        say_json(&shown);
        return Ok(());
    }
    say(&format!("{} ({id}, version {})\n", spec.name, spec.version));
    let actions = match spec.actions {
        ActionSpace::Discrete(n) => format!("one of {n}: {}", abridged(spec.action_names)),
        ActionSpace::Continuous { low, high } => {
            let bounds = spec.action_names.iter().zip(low.iter().zip(high));
            let named: Vec<String> =
                bounds.map(|(name, (low, high))| format!("{name} ({low} to {high})")).collect();
            format!("{}: {}", numbers(low.len()), named.join(", "))
        }
    };
    let options = shown.options.iter();
    let options: Vec<String> = options.map(|(name, value)| format!("{name}={value}")).collect();
    let or_none = |text: String| if text.is_empty() { "none".to_owned() } else { text };
    facts(&[
        ("kind", "environment".to_owned()),
        ("actions", actions),
        ("legal", if spec.is_masked { "some actions, by a mask" } else { "always all" }.to_owned()),
        ("observation", {
            format!("{} numbers: {}", spec.observation, abridged(spec.observation_names))
        }),
        ("horizon", format!("at most {} steps", shown.options[MAX_EPISODE_STEPS])),
        ("solved at", spec.reward_threshold.map_or("-".to_owned(), |mean| format!("{mean}"))),
        ("options", or_none(options.join(", "))),
        ("trained by", or_none(shown.algorithms.join(", "))),
        ("pace", format!("{} steps per second", spec.frames_per_second)),
    ]);
    say_commands(&shown.commands);
    Ok(())
}

fn algorithms(spec: &EnvSpec) -> Vec<&'static str> {
    let learns = Algorithm::ALL.into_iter().filter(|algo| algo.learns(&spec.actions));
    learns.map(Algorithm::id).collect()
}

fn facts(rows: &[(&str, String)]) {
    for (what, value) in rows {
        say(&format!("{what:<13}{value}"));
    }
}

fn say_commands(commands: &[String]) {
    say("\ntry");
    for command in commands {
        say(&format!("  {command}"));
    }
}

/// `1 number`, `2 numbers`.
fn numbers(n: usize) -> String {
    if n == 1 { "1 number".to_owned() } else { format!("{n} numbers") }
}

/// The first and the last of a long list.
fn abridged(names: &[&str]) -> String {
    match names {
        [first, second, .., last] if names.len() > 9 => format!("{first}, {second}, ..., {last}"),
        _ => names.join(", "),
    }
}
