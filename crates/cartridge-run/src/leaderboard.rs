//! What trainings have reached in an environment, best first.
//!
//! Trainings that differ in nothing but their seed are one row: its figure is the mean of their
//! last evaluations, with the bootstrap interval over the seeds ([`Aggregate`]). One training alone
//! has the interval of its evaluation's episodes, which says nothing of other seeds, and the row
//! says which of the two it is.

use std::collections::BTreeMap;

use cartridge_games::registry::make_env;
use cartridge_store::{DataDir, Evaluation, Manifest, RunId, RunKind};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::aggregate::Aggregate;
use crate::error::Result;
use crate::experiment::content_hash;
use crate::steer;

/// The most trainings that are looked at: the newest.
pub const MOST_RUNS: usize = 1_000;

/// What trainings have reached.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Leaderboard {
    /// Id of the environment.
    pub env_id: String,
    /// The mean return from which the task counts as solved.
    pub threshold: Option<f64>,
    /// How many trainings have an evaluation.
    pub n_runs: usize,
    /// The configurations, best first.
    pub rows: Vec<Row>,
}

/// Trainings that differ in nothing but their seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its place, from 1.
    pub place: usize,
    /// Hash of the configuration without its seed.
    pub config_sha256: String,
    /// The experiment that the first of them is of.
    pub experiment_id: Option<String>,
    /// The name of the first of them for people.
    pub name: String,
    /// The algorithm.
    pub algorithm: String,
    /// Options of the environment.
    pub env: Map<String, Value>,
    /// What the last evaluations come to.
    pub aggregate: Aggregate,
    /// The 95% interval of the mean.
    pub ci95: [f64; 2],
    /// What the interval is over.
    pub interval: Interval,
    /// Whether the mean is at the threshold or above; none where there is no threshold.
    pub solved: Option<bool>,
    /// The trainings, best first.
    pub runs: Vec<Entry>,
}

/// What an interval is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Interval {
    /// Trainings with several seeds: what to expect of another one.
    Seeds,
    /// Episodes of one training: what to expect of the same policy.
    Episodes,
}

/// One training.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// The run.
    pub run_id: RunId,
    /// Its seed.
    pub seed: u64,
    /// Its last evaluation.
    pub evaluation: Evaluation,
}

/// The configuration of a run without what does not change what it learns in expectation.
fn key(config: &Value) -> String {
    let mut config = config.clone();
    if let Some(sections) = config.as_object_mut() {
        sections.remove("resources");
        sections.remove("retention");
        if let Some(seeds) = sections.get_mut("seeds").and_then(Value::as_object_mut) {
            seeds.remove("seed_base");
        }
    }
    content_hash(&config)
}

/// The leaderboard of trainings and their last evaluations.
pub fn leaderboard(
    env_id: &str,
    trainings: impl IntoIterator<Item = (Manifest, Evaluation)>,
) -> Result<Leaderboard> {
    let threshold = make_env(env_id, &Map::new())?.spec().reward_threshold;
    let mut groups: BTreeMap<String, Vec<(Manifest, Evaluation)>> = BTreeMap::new();
    let mut n_runs = 0;
    for (manifest, evaluation) in trainings {
        if manifest.env_id == env_id && evaluation.mean.is_finite() {
            n_runs += 1;
            groups.entry(key(&manifest.config)).or_default().push((manifest, evaluation));
        }
    }
    let mut rows: Vec<Row> = groups
        .into_iter()
        .filter_map(|(config_sha256, mut runs)| {
            runs.sort_by(|a, b| a.0.created_at.total_cmp(&b.0.created_at));
            let means: Vec<f64> = runs.iter().map(|(_, evaluation)| evaluation.mean).collect();
            let aggregate = Aggregate::of(&means)?;
            let (ci95, interval) = match aggregate.mean_ci95 {
                Some(ci95) => (ci95, Interval::Seeds),
                None => (runs[0].1.ci95, Interval::Episodes),
            };
            let first = &runs[0].0;
            let (name, config) = (first.name.clone(), &first.config);
            let algorithm = config["algo"].as_str().unwrap_or_default().to_owned();
            let env = config["env"].as_object().cloned().unwrap_or_default();
            let experiment_id = first.experiment_id.clone();
            let mut runs: Vec<Entry> = runs
                .into_iter()
                .map(|(manifest, evaluation)| Entry {
                    seed: manifest.config["seeds"]["seed_base"].as_u64().unwrap_or(0),
                    run_id: manifest.id,
                    evaluation,
                })
                .collect();
            runs.sort_by(|a, b| b.evaluation.mean.total_cmp(&a.evaluation.mean));
            Some(Row {
                place: 0,
                config_sha256,
                experiment_id,
                name,
                algorithm,
                env,
                aggregate,
                ci95,
                interval,
                solved: threshold.map(|threshold| aggregate.mean >= threshold),
                runs,
            })
        })
        .collect();
    rows.sort_by(|a, b| b.aggregate.mean.total_cmp(&a.aggregate.mean));
    for (place, row) in rows.iter_mut().enumerate() {
        row.place = place + 1;
    }
    Ok(Leaderboard { env_id: env_id.to_owned(), threshold, n_runs, rows })
}

/// The leaderboard of a data folder, as its files say, for who has no index.
pub fn of_files(data: &DataDir, env_id: &str) -> Result<Leaderboard> {
    let mut found = Vec::new();
    for id in data.run_ids()? {
        // A folder without a manifest is being made, or was never finished.
        let Ok(manifest) = data.run(&id).manifest() else { continue };
        if manifest.kind == RunKind::Train && manifest.env_id == env_id {
            found.push(manifest);
        }
    }
    found.sort_by(|a, b| b.created_at.total_cmp(&a.created_at));
    found.truncate(MOST_RUNS);
    let evaluated = found.into_iter().filter_map(|manifest| {
        let (_, status) = steer::look(data, &manifest.id).ok()?;
        Some((manifest, status.latest_eval?))
    });
    leaderboard(env_id, evaluated)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(seed: u64, rate: f64, mean: f64) -> (Manifest, Evaluation) {
        let id = RunId::random();
        let manifest = serde_json::from_value(json!({
            "format": 1, "id": id, "kind": "train", "name": format!("rate {rate}"),
            "env_id": "CartPole-v1", "created_at": seed as f64, "cartridge_version": "0",
            "config": {
                "algo": "ppo", "env": {}, "trainer": { "learning_rate": rate },
                "seeds": { "seed_base": seed, "per_episode": "hash" },
                "resources": { "cpu": seed.to_string() },
            },
        }));
        let evaluation = json!({
            "step": 1000, "episodes": 10, "mean": mean, "std": 1.0,
            "ci95": [mean - 5.0, mean + 5.0], "mean_length": mean,
        });
        (manifest.unwrap(), serde_json::from_value(evaluation).unwrap())
    }

    #[test]
    fn seeds_of_one_configuration_are_one_row() {
        let found = leaderboard(
            "CartPole-v1",
            [run(1, 0.1, 100.0), run(1, 0.2, 480.0), run(2, 0.1, 300.0), run(3, 0.1, 200.0)],
        );
        let found = found.unwrap();
        assert_eq!((found.threshold, found.n_runs, found.rows.len()), (Some(475.0), 4, 2));
        let [best, other] = &found.rows[..] else { panic!("{found:?}") };
        assert_eq!((best.place, best.aggregate.mean, best.solved), (1, 480.0, Some(true)));
        assert_eq!((best.ci95, best.interval), ([475.0, 485.0], Interval::Episodes));
        assert_eq!(
            (other.aggregate.n, other.aggregate.mean, other.aggregate.iqm),
            (3, 200.0, 200.0)
        );
        assert_eq!((other.interval, other.solved), (Interval::Seeds, Some(false)));
        assert!(other.ci95[0] >= 100.0 && other.ci95[1] <= 300.0);
        let seeds: Vec<u64> = other.runs.iter().map(|entry| entry.seed).collect();
        assert_eq!(seeds, [2, 3, 1], "the best first");
    }

    #[test]
    fn what_was_not_evaluated_here_is_left_out() {
        let mut diverged = run(2, 0.1, 5.0);
        diverged.1.mean = f64::NAN;
        let found = leaderboard("CartPole-v1", [diverged]).unwrap();
        assert_eq!((found.n_runs, found.rows.len()), (0, 0));
        let found = leaderboard("MountainCar-v0", [run(1, 0.1, 5.0)]).unwrap();
        assert_eq!((found.n_runs, found.rows.len()), (0, 0));
        leaderboard("CartPole-v9", []).unwrap_err();
    }
}
