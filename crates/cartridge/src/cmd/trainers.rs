//! `cartridge trainers`: what `lab.json` names to be started.

use cartridge_run::named_trainer::{Argument, ArgumentKind, NamedTrainer, Trainers};
use serde_json::{Value, json};

use super::{DataArgs, printable, say, say_json};
use crate::exit::Exit;

/// List the trainers that lab.json names, with what each can be told
///
/// `cartridge exec --trainer NAME --arg learning_rate=0.001` starts one, as the web page does.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let trainers = Trainers::read(&args.data.look()?)?;
    for trainer in trainers.all() {
        match args.json {
            true => say_json(&described(trainer)),
            false => tell(trainer),
        }
    }
    if trainers.all().is_empty() && !args.json {
        say("lab.json names no trainers; docs/protocol.md says how");
    }
    Ok(Exit::Ok)
}

fn tell(trainer: &NamedTrainer) {
    let NamedTrainer { id, title, env_ids, arguments, .. } = trainer;
    say(&printable(&format!("{id}  {title}  ({})", env_ids.join(", "))));
    let width = arguments.iter().map(|argument| argument.name.len()).max().unwrap_or(0);
    for argument in arguments {
        let (name, takes) = (&argument.name, in_words(argument));
        say(&printable(&format!("  {name:width$}  {takes}")));
    }
}

/// `integer from 1 to 5, 3 unless given: How many.`
fn in_words(argument: &Argument) -> String {
    let Argument { kind, default, minimum, maximum, choices, help, required, .. } = argument;
    let mut words = match kind {
        ArgumentKind::Integer => "integer".to_owned(),
        ArgumentKind::Number => "number".to_owned(),
        ArgumentKind::String => "string".to_owned(),
        ArgumentKind::Boolean => "true or false".to_owned(),
        ArgumentKind::Choice => choices.join(" or "),
    };
    match (minimum, maximum) {
        (Some(least), Some(most)) => words.push_str(&format!(" from {least} to {most}")),
        (Some(least), None) => words.push_str(&format!(" from {least}")),
        (None, Some(most)) => words.push_str(&format!(" up to {most}")),
        (None, None) => {}
    }
    match default {
        Some(default) => words.push_str(&format!(", {default} unless given")),
        None if *required => words.push_str(", must be given"),
        None => {}
    }
    match help.is_empty() {
        true => words,
        false => format!("{words}: {help}"),
    }
}

/// As `GET /api/trainers` has it.
fn described(trainer: &NamedTrainer) -> Value {
    let NamedTrainer { id, title, env_ids, arguments, .. } = trainer;
    let argument = |argument: &Argument| {
        let Argument { name, kind, default, minimum, maximum, choices, help, required, .. } =
            argument;
        json!({ "name": name, "type": kind, "default": default, "minimum": minimum,
            "maximum": maximum, "choices": choices, "help": help, "required": required })
    };
    let arguments: Vec<Value> = arguments.iter().map(argument).collect();
    json!({ "id": id, "title": title, "env_ids": env_ids, "arguments": arguments })
}
