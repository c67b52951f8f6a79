//! What may be changed of `data/lab.json` while the lab is at work.
//!
//! Whom the lab answers, who is told of alerts and which programs it starts are not among it: those
//! are decided by whoever can write the file, not by whoever holds a token.

use std::sync::{Mutex, PoisonError};

use cartridge_store::DataDir;
use cartridge_store::data_dir::write_beside;
use serde_json::{Map, Value};

use crate::audit::{self, Deed, Entry};
use crate::clock::unix_now;
use crate::config::ConfigError;
use crate::error::Result;
use crate::experiment;
use crate::retention::LabConfig;
use crate::steer::By;

/// The settings that may be changed, by section.
const CHANGEABLE: [(&str, &[&str]); 4] = [
    (
        "retention",
        &[
            "keep_videos",
            "keep_checkpoints",
            "keep_tensorboard_runs",
            "keep_runs_per_experiment",
            "keep_runs_per_agent",
            "milestone_every_steps",
            "max_bytes",
        ],
    ),
    ("alerts", &["api_p95_ms", "disk_free_bytes"]),
    ("prices", &["currency", "cpu_core_hour", "memory_gib_hour", "gpu_hour"]),
    ("links", &["grafana", "tempo", "jaeger", "loki"]),
];

/// The longest text of a setting.
const MOST_TEXT: usize = 2_000;

/// What is to be recorded as changed.
const TARGET: &str = "lab.json";

/// Changes some settings, by section and name, and returns them all. What is left out stays; null
/// means no limit, or no link.
pub fn change(data: &DataDir, changes: &Map<String, Value>, by: By<'_>) -> Result<LabConfig> {
    static CHANGING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = to_value(&LabConfig::read(data)?);
    let mut after = before.clone();
    for (section, settings) in changes {
        let names = CHANGEABLE.iter().find(|(known, _)| known == section).map(|(_, names)| *names);
        let Some(names) = names else {
            let known: Vec<&str> = CHANGEABLE.iter().map(|(section, _)| *section).collect();
            return Err(unknown(section.clone(), &known));
        };
        let Some(settings) = settings.as_object() else {
            return Err(bad(section.clone(), format!("expected settings by name, got {settings}")));
        };
        for (name, value) in settings {
            let path = format!("{section}.{name}");
            if !names.contains(&name.as_str()) {
                return Err(unknown(path, names));
            }
            check(&path, value)?;
            after[section][name] = value.clone();
        }
    }
    let changed = LabConfig::parse(&after)?;
    let differences = experiment::differences(&before, &to_value(&changed));
    if differences.is_empty() {
        return Ok(changed);
    }
    let path = data.path().join("lab.json");
    let text = serde_json::to_vec_pretty(&after).expect("plain data");
    write_beside(&path, &text)?;
    let side = |pick: fn(&experiment::Change) -> &Value| -> Value {
        differences.iter().map(|change| (change.path.clone(), pick(change).clone())).collect()
    };
    let (old, new) = (side(|change| &change.old), side(|change| &change.new));
    audit::record(data, Entry { old, new, ..Entry::new(by, Deed::Configure, TARGET) }, unix_now())?;
    tracing::info!(by = by.who, "lab.json was changed");
    Ok(changed)
}

fn to_value(config: &LabConfig) -> Value {
    serde_json::to_value(config).expect("plain data")
}

/// Complains about a value that has the right type and makes no sense.
fn check(path: &str, value: &Value) -> Result<()> {
    let detail = match value {
        Value::Number(number) if number.as_f64().is_some_and(|number| number < 0.0) => {
            format!("{number} is below 0")
        }
        Value::String(text) if text.chars().count() > MOST_TEXT => {
            format!("it is longer than {MOST_TEXT} characters")
        }
        Value::String(text)
            if path.starts_with("links.")
                && !text.starts_with("https://")
                && !text.starts_with("http://") =>
        {
            "a link begins with https:// or http://".to_owned()
        }
        _ => return Ok(()),
    };
    Err(bad(path.to_owned(), detail))
}

fn bad(key: String, detail: String) -> crate::error::RunError {
    ConfigError::BadValue { key, detail }.into()
}

fn unknown(key: String, known: &[&str]) -> crate::error::RunError {
    let hint = format!("what can be changed here is {}", known.join(", "));
    ConfigError::UnknownKey { key, hint }.into()
}

/// Reads a setting such as `prices.cpu_core_hour=0.04` into the sections of [`change`].
pub fn parse_into(changes: &mut Map<String, Value>, assignment: &str) -> Result<()> {
    let (path, value) = crate::config::parse_assignment(assignment, "prices.cpu_core_hour=0.04")?;
    let (section, name) = path.split_once('.').unwrap_or((path, ""));
    let settings = changes.entry(section).or_insert_with(|| Map::new().into());
    settings.as_object_mut().expect("made here").insert(name.to_owned(), value);
    Ok(())
}

#[cfg(test)]
mod tests;
