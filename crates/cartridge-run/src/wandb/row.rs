//! Rows of metrics as `wandb` clients write them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::protocol::{MAX_NAME_BYTES, bare_word, read_extended};

/// What a script calls its environment steps, where it logs them: CleanRL and Stable-Baselines3 do.
pub const GLOBAL_STEP: &str = "global_step";

/// Values in one line of the protocol.
const LINE_VALUES: usize = 500;

/// Reads a row; nothing where it is no JSON object.
pub fn read(line: &str) -> Option<Map<String, Value>> {
    match read_extended(line)? {
        Value::Object(row) => Some(row),
        _ => None,
    }
}

/// The number of a row, by W&B's own count.
pub fn step(row: &Map<String, Value>) -> Option<i64> {
    let step = row.get("_step")?;
    step.as_i64().or_else(|| step.as_f64().filter(|step| step.is_finite()).map(|step| step as i64))
}

/// The environment steps of a row, where the script logs them.
pub fn global_step(row: &Map<String, Value>) -> Option<u64> {
    let step = row.get(GLOBAL_STEP)?;
    let whole = |step: &f64| step.is_finite() && *step >= 0.0 && *step < 9e15;
    step.as_u64().or_else(|| step.as_f64().filter(whole).map(|step| step as u64))
}

/// The numbers of a row by their names, those of nested objects with dots. What is finite is a
/// number, what is not is the word for it; pictures, tables and histograms are objects with a type
/// of their own, and are left out, as are W&B's own fields.
pub fn numbers(row: &Map<String, Value>) -> BTreeMap<String, Result<f64, &'static str>> {
    let mut found = BTreeMap::new();
    for (name, value) in row {
        if !name.starts_with('_') && name != GLOBAL_STEP {
            flatten(name, value, 0, &mut found);
        }
    }
    found
}

fn flatten(
    name: &str,
    value: &Value,
    depth: usize,
    found: &mut BTreeMap<String, Result<f64, &'static str>>,
) {
    if name.is_empty() || name.len() > MAX_NAME_BYTES || depth > 16 {
        return;
    }
    match value {
        Value::Number(number) => {
            if let Some(number) = number.as_f64() {
                found.insert(name.to_owned(), Ok(number));
            }
        }
        Value::String(text) => {
            if let Some(word) = bare_word(text).and_then(told) {
                found.insert(name.to_owned(), Err(word));
            }
        }
        Value::Object(inner) if !inner.contains_key("_type") => {
            for (key, value) in inner {
                flatten(&format!("{name}.{key}"), value, depth + 1, found);
            }
        }
        _ => {}
    }
}

/// The protocol's word for a number that is not finite.
fn told(bare: &str) -> Option<&'static str> {
    match bare {
        "NaN" => Some("nan"),
        "Infinity" => Some("inf"),
        "-Infinity" => Some("-inf"),
        _ => None,
    }
}

/// Lines of the protocol that say these numbers.
pub fn lines(numbers: &BTreeMap<String, Result<f64, &'static str>>, step: u64) -> Vec<String> {
    let numbers: Vec<_> = numbers.iter().collect();
    let line = |numbers: &[(&String, &Result<f64, &'static str>)]| {
        let (mut values, mut nonfinite) = (Map::new(), Map::new());
        for (name, number) in numbers {
            values.insert((*name).clone(), number.map_or(Value::Null, Value::from));
            if let Err(word) = number {
                nonfinite.insert((*name).clone(), (*word).into());
            }
        }
        let mut line = json!({ "type": "metrics", "step": step, "values": values });
        if !nonfinite.is_empty() {
            line["nonfinite"] = nonfinite.into();
        }
        line.to_string()
    };
    numbers.chunks(LINE_VALUES).map(line).collect()
}

/// What is found in a row under a name: as it stands, or by the dots of nested objects. Numbers
/// that are not finite come as words.
pub fn lookup(row: &Map<String, Value>, name: &str) -> Option<Value> {
    let found = row.get(name).or_else(|| {
        let mut steps = name.split('.');
        let first = row.get(steps.next()?)?;
        steps.try_fold(first, |value, step| value.get(step))
    })?;
    (!found.is_null()).then(|| in_words(found))
}

/// A value in which numbers that are not finite are words.
pub fn in_words(value: &Value) -> Value {
    match value {
        Value::String(text) => bare_word(text).unwrap_or(text).into(),
        Value::Array(values) => values.iter().map(in_words).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), in_words(value))).collect()
        }
        plain => plain.clone(),
    }
}

/// A configuration as the script wrote it: W&B wraps each value, and keeps its own under `_wandb`.
pub fn plain_config(config: &Value) -> Map<String, Value> {
    let fields = config.as_object().into_iter().flatten();
    fields
        .filter(|(name, _)| !matches!(name.as_str(), "_wandb" | "wandb_version"))
        .map(|(name, value)| (name.clone(), value.get("value").unwrap_or(value).clone()))
        .collect()
}

#[cfg(test)]
mod tests;
