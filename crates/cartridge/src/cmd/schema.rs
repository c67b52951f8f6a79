//! `cartridge schema`: what a configuration may say.

use cartridge_run::RunError;
use cartridge_run::config::schema;
use serde_json::json;

use super::{say, say_json};
use crate::exit::Exit;

/// Print the JSON Schema of configurations, or list those that there are
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// experiment, ppo, dqn, env:ID, ppo:ID, dqn:ID, or presets
    name: Option<String>,
    /// On one line; the list as one JSON object per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let Some(name) = &args.name else {
        for schema::SchemaName { name, title } in schema::names() {
            match args.json {
                true => say_json(&json!({ "name": name, "title": title })),
                false => say(&format!("{name:<32}{title}")),
            }
        }
        return Ok(Exit::Ok);
    };
    let schema = schema::schema(name).map_err(RunError::from)?;
    match args.json {
        true => say_json(&schema),
        false => say(&format!("{schema:#}")),
    }
    Ok(Exit::Ok)
}
