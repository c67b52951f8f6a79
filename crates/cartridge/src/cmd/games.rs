//! `cartridge games`: what can be played.

use cartridge_run::games::game::GameSpec;
use cartridge_run::games::registry;
use cartridge_run::opponent::Opponent;
use serde::Serialize;

use super::{say, say_json};
use crate::exit::Exit;

/// List the board games, or show one
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
    /// Show one game: its facts, its start and who can be played
    Show {
        /// Id of the game
        id: String,
    },
}

/// A game in full.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    spec: &'static GameSpec,
    start: String,
    actions: Vec<String>,
    opponents: Vec<Level>,
}

/// Somebody to play against.
#[derive(Debug, Serialize)]
struct Level {
    id: String,
    name: String,
    description: String,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Some(Command::Show { id }) => show(id, args.json)?,
        None => list(args.json),
    }
    Ok(Exit::Ok)
}

fn list(json: bool) {
    if !json {
        say(&format!(
            "{:<12}{:<14}{:>8}{:>9}{:>13}{:>10}{:>11}",
            "GAME", "NAME", "VERSION", "ACTIONS", "OBSERVATION", "PLANES", "MAX PLIES"
        ));
    }
    for spec in registry::games() {
        if json {
            say_json(spec);
            continue;
        }
        say(&format!(
            "{:<12}{:<14}{:>8}{:>9}{:>13}{:>10}{:>11}",
            spec.id,
            spec.name,
            spec.version,
            spec.n_actions,
            spec.observation,
            spec.planes.map(|size| size.to_string()).join("x"),
            spec.max_plies
        ));
    }
}

fn show(id: &str, json: bool) -> anyhow::Result<()> {
    let game = super::start_game(id, &mut super::rng(0))?;
    let spec = game.spec();
    let opponents = Opponent::offered(spec.id).map(|opponent| Level {
        id: opponent.to_string(),
        name: opponent.name(),
        description: opponent.description(spec.id),
    });
    let shown = Shown {
        spec,
        start: game.to_string(),
        actions: game.spots().iter().map(|spot| game.action_name(spot.action)).collect(),
        opponents: opponents.collect(),
    };
    if json {
        say_json(&shown);
        return Ok(());
    }
    say(&format!("{} ({}, version {})\n\n{}", spec.name, spec.id, spec.version, shown.start));
    let (low, high) = spec.scores;
    let planes = spec.planes.map(|size| size.to_string()).join("x");
    for (what, value) in [
        ("seats", spec.n_seats.to_string()),
        ("actions", format!("{}: {}", spec.n_actions, abridged(&shown.actions))),
        ("observation", format!("{} numbers", spec.observation)),
        ("planes", planes),
        ("scores", format!("{low} to {high}")),
        ("length", format!("at most {} plies", spec.max_plies)),
    ] {
        say(&format!("{what:<13}{value}"));
    }
    say("\nopponents, strongest first");
    for level in shown.opponents {
        say(&format!("  {:<24}{}", level.id, level.name));
    }
    Ok(())
}

/// The first and the last of a long list.
fn abridged(names: &[String]) -> String {
    match names {
        [first, second, .., last] if names.len() > 9 => format!("{first}, {second}, ..., {last}"),
        _ => names.join(", "),
    }
}
