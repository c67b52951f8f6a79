//! The metrics of a run by whatever name they are asked for.
//!
//! What is measured is stored under one name. CleanRL and Stable-Baselines3 have others for the
//! same ([`Metric::names`]), some with another sign or scale; who asks by such a name is answered
//! under that name, with the values that it stands for there. A name under which something is
//! stored as it is always means that.
//!
//! What Stable-Baselines3 logs of time and follows from a row itself is stored nowhere, and answered
//! all the same ([`Origin`]). CleanRL's [`OF_EPISODES`] are of single episodes, which rows have as
//! columns.

use std::collections::{BTreeMap, BTreeSet};

use cartridge_learn::learner::Config as LearnerConfig;
use cartridge_learn::metric::Metric;
use cartridge_store::follow::ToldRow;
use cartridge_store::{
    DataDir, Episodes, Event, Follower, MetricValues, RunId, RunKind, SeriesPoints,
};

use crate::config::Trainer;
use crate::error::Result;
use crate::steer::config_of;
use crate::worker::events;

/// What an episode earned, by CleanRL's name: a point for every episode, at the step of its end.
pub(crate) const EPISODIC_RETURN: &str = "charts/episodic_return";

/// Its steps, in the same way.
pub(crate) const EPISODIC_LENGTH: &str = "charts/episodic_length";

/// The names that mean single episodes, unless a trainer stores something else under them.
pub(crate) const OF_EPISODES: [&str; 2] = [EPISODIC_RETURN, EPISODIC_LENGTH];

/// The rows of a run that hold, read from its files alone; with the metrics in `keys`, or all. Every
/// episode that is asked for has a line of its own, before the row that tells of it.
pub fn rows(data: &DataDir, id: &RunId, keys: &[&str]) -> Result<Vec<MetricValues>> {
    let dir = data.run(id);
    dir.manifest()?;
    let lines = Follower::default().advance(&dir)?.metrics;
    let origin = Origin::of(data, id, keys)?;
    let is_stored = |key: &str| lines.iter().any(|line| line.values.contains_key(key));
    let of_episodes = keys_of_episodes(keys, is_stored);
    let mut rows = Vec::new();
    for line in lines {
        rows.extend(episode_lines(line.row, line.t, &line.episodes, &of_episodes));
        let row = MetricValues { row: line.row, step: line.step, t: line.t, values: line.values };
        rows.push(match keys {
            [] => row,
            keys => rename_row(&row, keys, origin.as_ref()),
        });
    }
    Ok(rows)
}

/// Those of `keys` that single episodes answer: a trainer that has stored something under such a name
/// itself means that.
pub(crate) fn keys_of_episodes<'a>(
    keys: &[&'a str],
    is_stored: impl Fn(&str) -> bool,
) -> Vec<&'a str> {
    keys.iter().copied().filter(|key| OF_EPISODES.contains(key) && !is_stored(key)).collect()
}

/// The episodes of a row, a line for each, with what `keys` ask of them.
fn episode_lines(
    row: u64,
    t: f64,
    episodes: &Episodes,
    keys: &[&str],
) -> impl Iterator<Item = MetricValues> {
    let n = if keys.is_empty() { 0 } else { episodes.len().unwrap_or(0) };
    (0..n).map(move |place| {
        let values = keys.iter().map(|key| ((*key).to_owned(), of_episode(key, episodes, place)));
        MetricValues { row, step: episodes.timestep[place], t, values: values.collect() }
    })
}

fn of_episode(key: &str, episodes: &Episodes, place: usize) -> Option<f64> {
    match key {
        EPISODIC_LENGTH => Some(f64::from(episodes.length[place])),
        _ => episodes.reward[place],
    }
}

/// Rows with the episodes that others tell of between them, each before the row that told of it.
pub(crate) fn with_episodes(
    rows: Vec<MetricValues>,
    told: &[ToldRow],
    keys: &[&str],
) -> Vec<MetricValues> {
    let lines =
        |told: &ToldRow| episode_lines(told.row, told.t, &told.episodes, keys).collect::<Vec<_>>();
    let mut all: Vec<MetricValues> = told.iter().flat_map(lines).collect();
    all.extend(rows);
    // Episodes stay first: the sort is stable.
    all.sort_by_key(|line| line.row);
    all
}

/// A series of single episodes between two steps, of about `most` points.
pub(crate) fn episode_series(
    told: &[ToldRow],
    key: &str,
    most: usize,
    (from, to): (u64, u64),
) -> SeriesPoints {
    let mut series = SeriesPoints { key: key.to_owned(), ..SeriesPoints::default() };
    for ToldRow { t, episodes, .. } in told {
        for (place, step) in episodes.timestep.iter().enumerate() {
            if (from..=to).contains(step) {
                series.step.push(*step);
                series.t.push(*t);
                series.value.push(of_episode(key, episodes, place));
            }
        }
    }
    series.thin(most);
    series
}

/// What follows from a row of an update: its step, its time, and where the run began.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Derived {
    /// Environment steps since the run began.
    Steps,
    /// Seconds since the run began, pauses and breaks included.
    Seconds,
    /// Updates since the run began.
    Updates,
}

/// Under the names that Stable-Baselines3 has for them.
const DERIVED: [(&str, Derived); 3] = [
    ("time/total_timesteps", Derived::Steps),
    ("time/time_elapsed", Derived::Seconds),
    ("time/iterations", Derived::Updates),
];

/// What every update has and no evaluation, so that it tells their rows apart.
const OF_UPDATES: Metric = Metric::StepsPerSecond;

impl Derived {
    fn named(key: &str) -> Option<Self> {
        DERIVED.iter().find(|(name, _)| *name == key).map(|(_, derived)| *derived)
    }
}

/// What it takes to say of a row how far the run was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Origin {
    /// When it began to train, in Unix seconds.
    started_at: Option<f64>,
    /// Environment steps of an update, where all have as many.
    steps_per_update: Option<u64>,
}

impl Origin {
    /// That of a run, if something that follows from it is among `keys`; nothing of a trainer that
    /// is not ours, which tells what it likes itself.
    pub(crate) fn of(data: &DataDir, id: &RunId, keys: &[&str]) -> Result<Option<Self>> {
        if !keys.iter().any(|key| Derived::named(key).is_some()) {
            return Ok(None);
        }
        let dir = data.run(id);
        let manifest = dir.manifest()?;
        if manifest.kind != RunKind::Train {
            return Ok(None);
        }
        let config = config_of(&manifest)?;
        let steps_per_update = match &config.trainer {
            Trainer::AlphaZero(_) => None,
            Trainer::Ppo(_) | Trainer::Dqn(_) => Some(match config.learner() {
                LearnerConfig::Ppo(ppo) => ppo.steps_per_update() as u64,
                LearnerConfig::Dqn(dqn) => dqn.steps_per_update() as u64,
            }),
        };
        let began = |event: &Event| matches!(event, Event::TrainingStarted { .. });
        let started_at = events(&dir)?.iter().find(|line| began(&line.event)).map(|line| line.t);
        Ok(Some(Self { started_at, steps_per_update }))
    }

    fn value(&self, derived: Derived, step: u64, t: f64) -> Option<f64> {
        Some(match derived {
            Derived::Steps => step as f64,
            Derived::Seconds => t - self.started_at?,
            Derived::Updates => step.div_ceil(self.steps_per_update?) as f64,
        })
    }
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
    let mut names: BTreeSet<&str> =
        keys.iter().flat_map(|key| candidates(key)).map(|(name, _)| name).collect();
    if keys.iter().any(|key| Derived::named(key).is_some()) {
        names.insert(OF_UPDATES.name());
    }
    names.into_iter().collect()
}

/// Series that were found under stored names, under those that were asked for.
pub fn rename_series(found: &[SeriesPoints], keys: &[&str]) -> Vec<SeriesPoints> {
    answer_series(found, keys, None)
}

/// [`rename_series`], with what follows from rows of a run that began there.
pub(crate) fn answer_series(
    found: &[SeriesPoints],
    keys: &[&str],
    origin: Option<&Origin>,
) -> Vec<SeriesPoints> {
    let find = |name: &str| found.iter().find(|series| series.key == name);
    let derive = |key: &str| {
        let (derived, updates) = (Derived::named(key)?, find(OF_UPDATES.name())?);
        let points = updates.step.iter().zip(&updates.t);
        let value = points.map(|(step, t)| origin?.value(derived, *step, *t)).collect::<Vec<_>>();
        let is_known = value.iter().any(Option::is_some);
        is_known.then(|| SeriesPoints { key: key.to_owned(), value, ..updates.clone() })
    };
    let answer = |key: &&str| {
        let stored =
            candidates(key).into_iter().find_map(|(name, factor)| Some((find(name)?, factor)));
        let Some((series, factor)) = stored else { return derive(key) };
        let mut series = series.clone();
        (*key).clone_into(&mut series.key);
        series.value.iter_mut().flatten().for_each(|value| *value *= factor);
        Some(series)
    };
    keys.iter().filter_map(answer).collect()
}

/// A row with stored names, with those that were asked for, and what follows from it in a run that
/// began there.
pub(crate) fn rename_row(
    row: &MetricValues,
    keys: &[&str],
    origin: Option<&Origin>,
) -> MetricValues {
    let is_update = row.values.contains_key(OF_UPDATES.name());
    let mut values = BTreeMap::new();
    for key in keys {
        let found = candidates(key)
            .into_iter()
            .find_map(|(name, factor)| Some((*row.values.get(name)?, factor)));
        if let Some((value, factor)) = found {
            values.insert((*key).to_owned(), value.map(|value| value * factor));
        } else if let (true, Some(origin), Some(derived)) = (is_update, origin, Derived::named(key))
            && let Some(value) = origin.value(derived, row.step, row.t)
        {
            values.insert((*key).to_owned(), Some(value));
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
    // A mean over episodes is not one of them.
    if OF_EPISODES.contains(&key) {
        return names;
    }
    if let Some((metric, asked)) = Metric::meant_by(key) {
        let others = metric.names().filter(|(name, _)| *name != key);
        names.extend(others.map(|(name, stored)| (name, asked / stored)));
    }
    names
}

#[cfg(test)]
mod tests;
