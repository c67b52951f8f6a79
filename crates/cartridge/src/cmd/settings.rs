//! `cartridge settings`: what the lab keeps, what the machine costs, and where other tools are.

use cartridge_run::retention::LabConfig;
use cartridge_run::settings;
use cartridge_run::steer::By;
use serde_json::{Map, Value};

use super::{DataArgs, say, say_json, user};
use crate::exit::Exit;

/// Show the settings of the lab, or change some of them
///
/// They are in lab.json in the data folder, and a lab that runs sees a change at once. Null means no
/// limit, or no link.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Settings to change, such as prices.cpu_core_hour=0.04 or retention.keep_videos=null
    #[arg(value_name = "PATH=VALUE")]
    changes: Vec<String>,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let mut changes = Map::new();
    for assignment in &args.changes {
        settings::parse_into(&mut changes, assignment)?;
    }
    let config = match changes.is_empty() {
        true => LabConfig::read(&data)?,
        false => settings::change(&data, &changes, By::new(&user()))?,
    };
    if args.json {
        say_json(&config);
        return Ok(Exit::Ok);
    }
    let config = serde_json::to_value(&config)?;
    for section in ["retention", "alerts", "prices", "links"] {
        for (name, value) in config[section].as_object().into_iter().flatten() {
            if !matches!(value, Value::Object(_)) {
                say(&format!("{section}.{name} = {value}"));
            }
        }
    }
    Ok(Exit::Ok)
}
