//! The metrics of a run by whatever name they are asked for.
//!
//! What is measured is stored under one name. CleanRL and Stable-Baselines3 have others for the
//! same ([`Metric::names`]), some with another sign or scale; who asks by such a name is answered
//! under that name, with the values that it stands for there. A name under which something is
//! stored as it is always means that.

use std::collections::{BTreeMap, BTreeSet};

use cartridge_learn::metric::Metric;
use cartridge_store::{DataDir, Follower, MetricValues, RunId, SeriesPoints};

use crate::error::Result;

/// The rows of a run that hold, read from its files alone; with the metrics in `keys`, or all.
pub fn rows(data: &DataDir, id: &RunId, keys: &[&str]) -> Result<Vec<MetricValues>> {
    let dir = data.run(id);
    dir.manifest()?;
    let lines = Follower::default().advance(&dir)?.metrics;
    let rows = lines.into_iter().map(|line| MetricValues {
        row: line.row,
        step: line.step,
        t: line.t,
        values: line.values,
    });
    Ok(rows.map(|row| if keys.is_empty() { row } else { rename_row(&row, keys) }).collect())
}

/// Rows as series.
pub(crate) fn as_series(rows: &[MetricValues]) -> Vec<SeriesPoints> {
    let mut series: BTreeMap<&str, SeriesPoints> = BTreeMap::new();
    for row in rows {
        for (key, value) in &row.values {
            let points = series.entry(key).or_default();
            points.step.push(row.step);
            points.t.push(row.t);
            points.value.push(*value);
        }
    }
    let named =
        series.into_iter().map(|(key, points)| SeriesPoints { key: key.to_owned(), ..points });
    named.collect()
}

/// All names under which what `keys` ask for may be stored.
pub fn stored_names<'a>(keys: &[&'a str]) -> Vec<&'a str> {
    let names: BTreeSet<&str> =
        keys.iter().flat_map(|key| candidates(key)).map(|(name, _)| name).collect();
    names.into_iter().collect()
}

/// Series that were found under stored names, under those that were asked for.
pub fn rename_series(found: &[SeriesPoints], keys: &[&str]) -> Vec<SeriesPoints> {
    let find = |name: &str| found.iter().find(|series| series.key == name);
    let answer = |key: &&str| {
        let (series, factor) =
            candidates(key).into_iter().find_map(|(name, factor)| Some((find(name)?, factor)))?;
        let mut series = series.clone();
        (*key).clone_into(&mut series.key);
        series.value.iter_mut().flatten().for_each(|value| *value *= factor);
        Some(series)
    };
    keys.iter().filter_map(answer).collect()
}

/// A row with stored names, with those that were asked for.
pub(crate) fn rename_row(row: &MetricValues, keys: &[&str]) -> MetricValues {
    let mut values = BTreeMap::new();
    for key in keys {
        let found = candidates(key)
            .into_iter()
            .find_map(|(name, factor)| Some((*row.values.get(name)?, factor)));
        if let Some((value, factor)) = found {
            values.insert((*key).to_owned(), value.map(|value| value * factor));
        }
    }
    MetricValues { values, ..*row }
}

/// The value of what `key` asks for, of values by stored name.
pub fn find(key: &str, value: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    candidates(key).into_iter().find_map(|(name, factor)| Some(value(name)? * factor))
}

/// The names under which what `key` asks for may be stored, and by what a value under each is
/// multiplied: itself first.
fn candidates(key: &str) -> Vec<(&str, f64)> {
    let mut names = vec![(key, 1.0)];
    if let Some((metric, asked)) = Metric::meant_by(key) {
        let others = metric.names().filter(|(name, _)| *name != key);
        names.extend(others.map(|(name, stored)| (name, asked / stored)));
    }
    names
}

#[cfg(test)]
mod tests;
