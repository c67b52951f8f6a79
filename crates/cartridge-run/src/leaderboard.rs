//! What trainings have reached in an environment, best first.
//!
//! Trainings that differ in nothing but their seed are one row: its figure is the mean of what
//! counts for each of them, with the bootstrap interval over the seeds ([`Aggregate`]). Several with
//! the same seed are one training made again: of these the one with the most steps counts, and the
//! newest where they have as many. One seed alone has the interval of its evaluation's episodes,
//! which says nothing of other seeds, and the row says which of the two it is.
//!
//! A training measures itself, and is measured by evaluations that somebody asked for; those count
//! as well when they are whole and the policy did what it held best, as it does in a training's own.
//! Of each checkpoint the newest evaluation counts, and for the training the one of the most steps:
//! not the best, which would be chosen by its luck. Each entry says which evaluation that was, and
//! what the other checkpoints were measured at.

use std::collections::{BTreeMap, HashMap};

use cartridge_games::registry::make_env;
use cartridge_store::{DataDir, Evaluation, Manifest, RunId, RunKind, RunState, RunStatus};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::aggregate::Aggregate;
use crate::error::Result;
use crate::experiment::seedless_hash;
use crate::steer;

/// The most trainings that are looked at, and the most evaluations: the newest.
pub const MOST_RUNS: usize = 1_000;

/// The most other checkpoints that an entry tells of.
const MOST_OTHERS: usize = 10;

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
    /// What the evaluations that count come to.
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
    /// The evaluation that counts.
    #[serde(flatten)]
    pub counts: Measured,
    /// The newest evaluation of each other checkpoint, the one of the most steps first, at most 10.
    pub others: Vec<Measured>,
}

/// An evaluation of a training.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// What was found.
    pub evaluation: Evaluation,
    /// The run that measured it; none where the training measured itself.
    pub evaluation_id: Option<RunId>,
    /// Folder of the checkpoint; none where the training measured itself, whatever it had learnt.
    pub checkpoint: Option<String>,
}

/// The evaluations of trainings that somebody asked for.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    of: HashMap<RunId, Vec<(f64, Measured)>>,
}

impl Asked {
    /// Takes in a run with what it found, if it is an evaluation that counts.
    pub fn take(&mut self, manifest: &Manifest, status: &RunStatus) {
        let is_greedy = manifest.config["deterministic"].as_bool().unwrap_or(true);
        let is_whole = status.state() == RunState::Succeeded;
        let (Some(of), Some(evaluation)) = (manifest.evaluates(), &status.latest_eval) else {
            return;
        };
        if is_greedy && is_whole && evaluation.mean.is_finite() {
            let checkpoint = manifest.config["checkpoint"].as_str().map(str::to_owned);
            let (evaluation, evaluation_id) = (evaluation.clone(), Some(manifest.id.clone()));
            let measured = Measured { evaluation, evaluation_id, checkpoint };
            self.of.entry(of).or_default().push((manifest.created_at, measured));
        }
    }

    /// What counts for a training, and what else is known of it.
    fn join(&mut self, id: &RunId, own: Option<Evaluation>) -> Option<(Measured, Vec<Measured>)> {
        let mut found = self.of.remove(id).unwrap_or_default();
        if let Some(evaluation) = own.filter(|own| own.mean.is_finite()) {
            let measured = Measured { evaluation, evaluation_id: None, checkpoint: None };
            // A checkpoint is there before anybody can ask for its evaluation.
            found.push((f64::NEG_INFINITY, measured));
        }
        let step = |measured: &Measured| measured.evaluation.step;
        found.sort_by(|(t, a), (u, b)| step(b).cmp(&step(a)).then_with(|| u.total_cmp(t)));
        found.dedup_by_key(|(_, measured)| step(measured));
        let mut newest = found.into_iter().map(|(_, measured)| measured);
        Some((newest.next()?, newest.take(MOST_OTHERS).collect()))
    }
}

/// The leaderboard of trainings with their own last evaluations, and of what was asked of them.
pub fn leaderboard(
    env_id: &str,
    trainings: impl IntoIterator<Item = (Manifest, Option<Evaluation>)>,
    mut asked: Asked,
) -> Result<Leaderboard> {
    let threshold = make_env(env_id, &Map::new())?.spec().reward_threshold;
    let mut groups: BTreeMap<String, Vec<(Manifest, Measured, Vec<Measured>)>> = BTreeMap::new();
    let mut n_runs = 0;
    for (manifest, own) in trainings {
        if manifest.env_id == env_id
            && let Some((counts, others)) = asked.join(&manifest.id, own)
        {
            n_runs += 1;
            groups
                .entry(seedless_hash(&manifest.config))
                .or_default()
                .push((manifest, counts, others));
        }
    }
    let mut rows: Vec<Row> = groups
        .into_iter()
        .filter_map(|(config_sha256, mut runs)| {
            runs.sort_by(|a, b| a.0.created_at.total_cmp(&b.0.created_at));
            let counting = of_each_seed(&runs);
            let means: Vec<f64> = counting.iter().map(|it| it.mean).collect();
            let aggregate = Aggregate::of(&means)?;
            let (ci95, interval) = match aggregate.mean_ci95 {
                Some(ci95) => (ci95, Interval::Seeds),
                None => (counting[0].ci95, Interval::Episodes),
            };
            let first = &runs[0].0;
            let (name, config) = (first.name.clone(), &first.config);
            let algorithm = config["algo"].as_str().unwrap_or_default().to_owned();
            let env = config["env"].as_object().cloned().unwrap_or_default();
            let experiment_id = first.experiment_id.clone();
            let mut runs: Vec<Entry> = runs
                .into_iter()
                .map(|(manifest, counts, others)| Entry {
                    seed: seed_of(&manifest),
                    run_id: manifest.id,
                    counts,
                    others,
                })
                .collect();
            let mean = |entry: &Entry| entry.counts.evaluation.mean;
            runs.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
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

fn seed_of(manifest: &Manifest) -> u64 {
    manifest.config["seeds"]["seed_base"].as_u64().unwrap_or(0)
}

/// The evaluation that counts for each seed, of trainings in the order in which they were made.
fn of_each_seed(runs: &[(Manifest, Measured, Vec<Measured>)]) -> Vec<&Evaluation> {
    let mut by_seed: BTreeMap<u64, &Evaluation> = BTreeMap::new();
    for (manifest, counts, _) in runs {
        let counting = by_seed.entry(seed_of(manifest)).or_insert(&counts.evaluation);
        if counts.evaluation.step >= counting.step {
            *counting = &counts.evaluation;
        }
    }
    by_seed.into_values().collect()
}

/// The leaderboard of a data folder, as its files say, for who has no index.
pub fn of_files(data: &DataDir, env_id: &str) -> Result<Leaderboard> {
    let (mut trainings, mut evaluations) = (Vec::new(), Vec::new());
    for id in data.run_ids()? {
        // A folder without a manifest is being made, or was never finished.
        let Ok(manifest) = data.run(&id).manifest() else { continue };
        match manifest.kind {
            _ if manifest.env_id != env_id => {}
            RunKind::Train => trainings.push(manifest),
            RunKind::Eval if manifest.evaluates().is_some() => evaluations.push(manifest),
            RunKind::Eval | RunKind::External | RunKind::Human => {}
        }
    }
    for found in [&mut trainings, &mut evaluations] {
        found.sort_by(|a, b| b.created_at.total_cmp(&a.created_at));
        found.truncate(MOST_RUNS);
    }
    let mut asked = Asked::default();
    for manifest in &evaluations {
        if let Ok((_, status)) = steer::look(data, &manifest.id) {
            asked.take(manifest, &status);
        }
    }
    let trainings = trainings.into_iter().filter_map(|manifest| {
        let (_, status) = steer::look(data, &manifest.id).ok()?;
        Some((manifest, status.latest_eval))
    });
    leaderboard(env_id, trainings, asked)
}

#[cfg(test)]
mod tests {
    use cartridge_store::{DoneReason, Event, EventLine, SupervisorEvent, SupervisorLine};
    use serde_json::json;

    use super::*;

    fn run(seed: u64, rate: f64, mean: f64) -> (Manifest, Option<Evaluation>) {
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
        (manifest.unwrap(), Some(evaluation(1000, mean)))
    }

    fn evaluation(step: u64, mean: f64) -> Evaluation {
        let evaluation = json!({
            "step": step, "episodes": 10, "mean": mean, "std": 1.0,
            "ci95": [mean - 5.0, mean + 5.0], "mean_length": mean,
        });
        serde_json::from_value(evaluation).unwrap()
    }

    #[test]
    fn seeds_of_one_configuration_are_one_row() {
        let found = leaderboard(
            "CartPole-v1",
            [run(1, 0.1, 100.0), run(1, 0.2, 480.0), run(2, 0.1, 300.0), run(3, 0.1, 200.0)],
            Asked::default(),
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
    fn a_seed_that_was_trained_again_counts_once() {
        let row = |runs: Vec<(Manifest, Option<Evaluation>)>| {
            leaderboard("CartPole-v1", runs, Asked::default()).unwrap().rows.remove(0)
        };
        let same = row(vec![run(1, 0.1, 300.0), run(1, 0.1, 300.0), run(1, 0.1, 300.0)]);
        assert_eq!((same.runs.len(), same.aggregate.n), (3, 1));
        assert_eq!((same.ci95, same.interval), ([295.0, 305.0], Interval::Episodes));
        // One was stopped early: what it reached says nothing of the seed.
        let mut stopped = run(1, 0.1, 20.0);
        stopped.1 = Some(evaluation(500, 20.0));
        let two = row(vec![run(1, 0.1, 300.0), stopped, run(2, 0.1, 400.0)]);
        assert_eq!((two.aggregate.n, two.aggregate.mean), (2, 350.0));
        assert_eq!(two.interval, Interval::Seeds);
    }

    #[test]
    fn what_was_not_evaluated_here_is_left_out() {
        let mut diverged = run(2, 0.1, 5.0);
        diverged.1.as_mut().unwrap().mean = f64::NAN;
        let none = Asked::default;
        let found = leaderboard("CartPole-v1", [diverged], none()).unwrap();
        assert_eq!((found.n_runs, found.rows.len()), (0, 0));
        let found = leaderboard("MountainCar-v0", [run(1, 0.1, 5.0)], none()).unwrap();
        assert_eq!((found.n_runs, found.rows.len()), (0, 0));
        leaderboard("CartPole-v9", [], none()).unwrap_err();
    }

    /// An evaluation that was asked for: of which run, when, at which step, what it found, and
    /// whether it went through to its end with the policy at its best.
    fn ask(of: &RunId, t: f64, step: u64, mean: f64, counts: bool) -> (Manifest, RunStatus) {
        let manifest = serde_json::from_value(json!({
            "format": 1, "id": RunId::random(), "kind": "eval", "name": "an evaluation",
            "env_id": "CartPole-v1", "created_at": t, "cartridge_version": "0",
            "config": {
                "run": of, "checkpoint": format!("step_{step:09}"), "step": step, "episodes": 10,
                "deterministic": counts,
            },
        }));
        let mut status = RunStatus::default();
        let mut tell = |event: Event| status.apply_event(&EventLine { attempt: 1, t, event });
        tell(Event::EvaluationComplete(evaluation(step, mean)));
        let (weights_sha256, checkpoint) = (String::new(), String::new());
        let reason = DoneReason::Completed;
        tell(Event::Done { reason, step, weights_sha256, checkpoint });
        let event = SupervisorEvent::Exited {
            code: Some(0),
            signal: None,
            forced: false,
            log: Vec::new(),
            reason: None,
            lines: None,
        };
        status.apply_supervisor(&SupervisorLine { attempt: 1, t, event });
        (manifest.unwrap(), status)
    }

    #[test]
    fn of_each_checkpoint_the_newest_evaluation_counts_and_of_them_the_last() {
        /// Evaluations as (when, step, mean, whether it counts); what counts, whether it was asked
        /// for, and the others as (step, mean).
        #[track_caller]
        fn check(
            own: Option<f64>,
            evaluations: &[(f64, u64, f64, bool)],
            counts: (u64, f64, bool),
            others: &[(u64, f64)],
        ) {
            let (manifest, mut measured) = run(1, 0.1, own.unwrap_or(0.0));
            measured = measured.filter(|_| own.is_some());
            let mut asked = Asked::default();
            for &(t, step, mean, counts) in evaluations {
                let (manifest, status) = ask(&manifest.id, t, step, mean, counts);
                asked.take(&manifest, &status);
            }
            let (elsewhere, status) = ask(&RunId::random(), 1.0, 9_999, 9.0, true);
            asked.take(&elsewhere, &status);
            let found = leaderboard("CartPole-v1", [(manifest, measured)], asked).unwrap();
            let entry = &found.rows[0].runs[0];
            let at = |it: &Measured| (it.evaluation.step, it.evaluation.mean);
            let Measured { evaluation_id, checkpoint, .. } = &entry.counts;
            assert_eq!(at(&entry.counts), (counts.0, counts.1));
            assert_eq!((evaluation_id.is_some(), checkpoint.is_some()), (counts.2, counts.2));
            assert_eq!(entry.others.iter().map(at).collect::<Vec<_>>(), others);
            assert_eq!(found.rows[0].aggregate.mean, counts.1);
        }
        check(Some(50.0), &[], (1000, 50.0, false), &[]);
        check(Some(50.0), &[(1.0, 1000, 60.0, true)], (1000, 60.0, true), &[]);
        check(Some(50.0), &[(1.0, 1000, 60.0, false)], (1000, 50.0, false), &[]);
        check(Some(50.0), &[(1.0, 500, 90.0, true)], (1000, 50.0, false), &[(500, 90.0)]);
        check(None, &[(1.0, 500, 90.0, true)], (500, 90.0, true), &[]);
        let several = [(3.0, 500, 1.0, true), (4.0, 500, 2.0, true), (2.0, 500, 3.0, true)];
        check(Some(50.0), &several, (1000, 50.0, false), &[(500, 2.0)]);
        check(Some(50.0), &[(1.0, 2000, 7.0, true)], (2000, 7.0, true), &[(1000, 50.0)]);
    }
}
