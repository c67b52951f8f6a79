//! Which runs a client asks for: filters in the manner of MongoDB, as W&B has them.

use cartridge_run::wandb::row;
use serde_json::{Map, Value};

/// The deepest filter.
const MOST_DEPTH: usize = 16;

/// What a filter can ask of a run, by its names in filters.
pub(super) trait Subject {
    /// The value of a field; null where there is none. Nothing where there is no such field.
    fn field(&self, name: &str) -> Option<Value>;
}

/// Whether a run passes a filter; fails when the filter says something that is not understood.
pub(super) fn passes(filter: &Value, run: &impl Subject) -> Result<bool, String> {
    check(filter, run, 0)
}

fn check(filter: &Value, run: &impl Subject, depth: usize) -> Result<bool, String> {
    if depth > MOST_DEPTH {
        return Err("the filter is nested too deeply".to_owned());
    }
    let Some(fields) = filter.as_object() else {
        return if filter.is_null() { Ok(true) } else { Err("a filter is an object".to_owned()) };
    };
    for (name, wanted) in fields {
        let is_met = match name.as_str() {
            "$and" => all(wanted, |part| check(part, run, depth + 1))?,
            "$or" => any(wanted, |part| check(part, run, depth + 1))?,
            "$nor" => !any(wanted, |part| check(part, run, depth + 1))?,
            "$not" => !check(wanted, run, depth + 1)?,
            name if name.starts_with('$') => return Err(not_understood(name)),
            name => {
                let value = run.field(name);
                let value = value.ok_or_else(|| format!("runs cannot be filtered by `{name}`"))?;
                matches(wanted, &value)?
            }
        };
        if !is_met {
            return Ok(false);
        }
    }
    Ok(true)
}

fn not_understood(name: &str) -> String {
    format!("the filter `{}` is not understood", name.chars().take(40).collect::<String>())
}

fn parts(list: &Value) -> Result<&Vec<Value>, String> {
    list.as_array().ok_or_else(|| "a filter has a list where it has none".to_owned())
}

fn all(list: &Value, check: impl Fn(&Value) -> Result<bool, String>) -> Result<bool, String> {
    parts(list)?.iter().try_fold(true, |met, part| Ok(met && check(part)?))
}

fn any(list: &Value, check: impl Fn(&Value) -> Result<bool, String>) -> Result<bool, String> {
    parts(list)?.iter().try_fold(false, |met, part| Ok(met || check(part)?))
}

/// Whether a value is what a field of a filter asks for.
fn matches(wanted: &Value, value: &Value) -> Result<bool, String> {
    let Some(asked) =
        wanted.as_object().filter(|asked| asked.keys().any(|key| key.starts_with('$')))
    else {
        return Ok(is_equal(value, wanted));
    };
    for (name, wanted) in asked {
        let order = || compare(value, wanted);
        let is_met = match name.as_str() {
            "$eq" => is_equal(value, wanted),
            "$ne" => !is_equal(value, wanted),
            "$in" => any(wanted, |one| Ok(is_equal(value, one)))?,
            "$nin" => !any(wanted, |one| Ok(is_equal(value, one)))?,
            "$exists" => wanted.as_bool().unwrap_or(true) != value.is_null(),
            "$gt" => order().is_some_and(|order| order.is_gt()),
            "$gte" => order().is_some_and(|order| order.is_ge()),
            "$lt" => order().is_some_and(|order| order.is_lt()),
            "$lte" => order().is_some_and(|order| order.is_le()),
            "$not" => !matches(wanted, value)?,
            other => return Err(not_understood(other)),
        };
        if !is_met {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A list has what one of its members is, as in MongoDB.
fn is_equal(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(members), wanted) if !wanted.is_array() => {
            members.iter().any(|member| is_equal(member, wanted))
        }
        (value, wanted) => value == wanted,
    }
}

fn compare(value: &Value, wanted: &Value) -> Option<std::cmp::Ordering> {
    match (value, wanted) {
        (Value::Number(a), Value::Number(b)) => a.as_f64()?.partial_cmp(&b.as_f64()?),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// What is found by the dots of a name, with or without W&B's `.value` around each setting.
pub(super) fn within(fields: &Map<String, Value>, name: &str) -> Value {
    let bare = name.strip_suffix(".value").unwrap_or(name);
    row::lookup(fields, bare).unwrap_or_default()
}

#[cfg(test)]
mod tests;
