//! Measuring a policy: whole episodes with their own seeds, played greedily or by chance.

use std::collections::BTreeMap;
use std::path::Path;

use cartridge_games::env::{Actions, AnyAction, Env, EnvSpec};
use cartridge_games::game::Action;
use cartridge_games::registry::make_env;
use cartridge_games::seeds::{Stream, episode_seed};
use cartridge_learn::metric::Metric;
use cartridge_learn::policy::{Choices, Head, Policy, clip};
use cartridge_store::{
    DataDir, DoneReason, EpisodeBody, EpisodeHead, Episodes, Evaluation, Event, Manifest,
    MetricLine, RunId,
};
use serde_json::{Map, Value, json};

use crate::carried::CarriedRun;
use crate::clock::unix_now;
use crate::config::ConfigError;
use crate::episode::body_of;
use crate::error::{Result, RunError};
use crate::evaluation_job::Summary;
use crate::policy_file::PolicyFile;

/// Episodes that are played side by side, so that the network sees batches.
const N_LANES: usize = 32;

/// What an evaluation found, episode by episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Return of each episode.
    pub returns: Vec<f64>,
    /// Length of each episode in steps.
    pub lengths: Vec<u32>,
    /// The number that each episode was reset with.
    pub seeds: Vec<u64>,
    /// Whether the task itself ended in each episode.
    pub ends: Vec<bool>,
    /// Whether its time ended in each episode; both may hold.
    pub cuts: Vec<bool>,
    /// What was done in each episode.
    pub actions: Vec<Actions>,
    /// What the environment measures itself, by name: one value per episode.
    pub metrics: BTreeMap<String, Vec<f64>>,
    /// Episodes in which the task itself ended.
    pub terminated: u32,
    /// Episodes that were cut short.
    pub truncated: u32,
}

/// What chooses actions.
pub trait Actor {
    /// An action for each of `n` observations of an environment, without chance; `masks` says which
    /// are legal.
    fn choose(
        &self,
        spec: &EnvSpec,
        observations: &[f32],
        masks: &[bool],
        n: usize,
    ) -> Result<Vec<AnyAction>>;

    /// An action for each observation by chance, as in training; each has its own source of it.
    fn draw(
        &self,
        spec: &EnvSpec,
        observations: &[f32],
        masks: &[bool],
        chances: &mut [fastrand::Rng],
    ) -> Result<Vec<AnyAction>>;
}

impl Actor for Policy {
    fn choose(
        &self,
        spec: &EnvSpec,
        observations: &[f32],
        masks: &[bool],
        n: usize,
    ) -> Result<Vec<AnyAction>> {
        Ok(match Self::choose(self, observations, masks, n) {
            Choices::Discrete(actions) => actions.into_iter().map(AnyAction::Discrete).collect(),
            Choices::Continuous { width, mut numbers } => {
                clip(&spec.actions, &mut numbers);
                numbers.chunks(width).map(|x| AnyAction::Continuous(x.to_vec())).collect()
            }
        })
    }

    fn draw(
        &self,
        spec: &EnvSpec,
        observations: &[f32],
        masks: &[bool],
        chances: &mut [fastrand::Rng],
    ) -> Result<Vec<AnyAction>> {
        let n = chances.len();
        let outputs = self.outputs(observations, n);
        let rows = outputs.chunks(self.n_actions()).zip(masks.chunks(self.n_actions()));
        Ok(match self.head() {
            // What has learnt values acts on the best of them.
            Head::Values => return Actor::choose(self, spec, observations, masks, n),
            Head::Logits => rows
                .zip(chances)
                .map(|((logits, mask), chance)| AnyAction::Discrete(weighted(logits, mask, chance)))
                .collect(),
            Head::Gaussian { log_std } => rows
                .zip(chances)
                .map(|((means, _), chance)| {
                    let drawn = means.iter().zip(log_std);
                    let mut numbers: Vec<f32> =
                        drawn.map(|(mean, std)| mean + std.exp() * normal(chance)).collect();
                    clip(&spec.actions, &mut numbers);
                    AnyAction::Continuous(numbers)
                })
                .collect(),
        })
    }
}

/// A legal action, by the logarithms of their weights.
fn weighted(logits: &[f32], mask: &[bool], chance: &mut fastrand::Rng) -> Action {
    let legal = || logits.iter().zip(mask).enumerate().filter(|(_, (_, legal))| **legal);
    let most = legal().map(|(_, (logit, _))| *logit).fold(f32::NEG_INFINITY, f32::max);
    let weight = |logit: f32| f64::from((logit - most).exp());
    let all: f64 = legal().map(|(_, (logit, _))| weight(*logit)).sum();
    let mut left = chance.f64() * all;
    let mut last = 0;
    for (action, (logit, _)) in legal() {
        last = action;
        left -= weight(*logit);
        if left < 0.0 {
            break;
        }
    }
    Action(last)
}

/// A number of the standard normal distribution (Box and Muller 1958).
fn normal(chance: &mut fastrand::Rng) -> f32 {
    let (radius, angle) = (1.0 - chance.f64(), std::f64::consts::TAU * chance.f64());
    ((-2.0 * radius.ln()).sqrt() * angle.cos()) as f32
}

impl Actor for PolicyFile {
    fn choose(
        &self,
        spec: &EnvSpec,
        observations: &[f32],
        masks: &[bool],
        n: usize,
    ) -> Result<Vec<AnyAction>> {
        self.policy.choose(spec, observations, masks, n).map_err(|error| self.error(error))
    }

    fn draw(
        &self,
        _: &EnvSpec,
        _: &[f32],
        _: &[bool],
        _: &mut [fastrand::Rng],
    ) -> Result<Vec<AnyAction>> {
        let detail = "an ONNX file says what is best and not how far to stray from it, so it can \
                      only be measured without chance";
        let (key, detail) = ("deterministic".to_owned(), detail.to_owned());
        Err(RunError::Config(ConfigError::BadValue { key, detail }))
    }
}

/// How episodes are played.
#[derive(Clone, Debug, PartialEq)]
pub struct Manner {
    /// What each episode is reset with.
    pub seeds: Vec<u64>,
    /// Whether the policy does what it holds best, and not what chance makes of it.
    pub is_deterministic: bool,
}

impl Manner {
    /// Greedily, with the first evaluation seeds of `seed_base`.
    pub fn greedy(episodes: u32, seed_base: u64) -> Self {
        let seeds = (0..u64::from(episodes))
            .map(|episode| episode_seed(seed_base, Stream::Evaluation, 0, episode));
        Self { seeds: seeds.collect(), is_deterministic: true }
    }

    /// Where the chance of an episode comes from: its own seed, so that it does not matter what is
    /// played beside it.
    fn chance(&self, episode: usize) -> fastrand::Rng {
        fastrand::Rng::with_seed(self.seeds[episode].rotate_left(32) ^ 0x5eed_0fc4_a2ce)
    }
}

/// What is heard while episodes are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Every episode that is under way took a step.
    Steps,
    /// The episode at this place, from 0, has ended.
    End(usize),
}

/// Plays `episodes` episodes greedily. Episode `i` has the `i`-th evaluation seed of `seed_base`,
/// however many are played side by side.
pub fn evaluate(
    policy: &dyn Actor,
    env_id: &str,
    options: &Map<String, Value>,
    episodes: u32,
    seed_base: u64,
) -> Result<Outcome> {
    let manner = Manner::greedy(episodes, seed_base);
    let all = play(policy, env_id, options, &manner, &mut |_, _| Ok(true))?;
    Ok(all.expect("nobody has ended it"))
}

/// Plays episodes. `hear` is told how it goes on, with what is known by then, and may end it by
/// answering false: then there is no outcome.
pub fn play(
    policy: &dyn Actor,
    env_id: &str,
    options: &Map<String, Value>,
    manner: &Manner,
    hear: &mut dyn FnMut(Heard, &Outcome) -> Result<bool>,
) -> Result<Option<Outcome>> {
    let n = manner.seeds.len();
    let mut outcome = Outcome {
        returns: vec![0.0; n],
        lengths: vec![0; n],
        seeds: manner.seeds.clone(),
        ends: vec![false; n],
        cuts: vec![false; n],
        ..Outcome::default()
    };
    let first = make_env(env_id, options)?;
    let spec = first.spec();
    let (width, n_actions) = (spec.observation, spec.actions.size());
    outcome.actions = vec![Actions::new(&spec.actions); n];
    let mut next = 0;
    // The lanes: an environment and the episode it plays.
    let mut lanes: Vec<(Box<dyn Env>, usize)> = Vec::new();
    let mut observations: Vec<f32> = Vec::new();
    let mut chances: Vec<fastrand::Rng> = Vec::new();
    let mut spare = Some(first);
    while next < n.min(N_LANES) {
        let mut env = match spare.take() {
            Some(env) => env,
            None => make_env(env_id, options)?,
        };
        observations.resize((next + 1) * width, 0.0);
        env.reset(Some(manner.seeds[next]), &mut observations[next * width..]);
        lanes.push((env, next));
        chances.push(manner.chance(next));
        next += 1;
    }
    let mut masks = Vec::new();
    while !lanes.is_empty() {
        masks.resize(lanes.len() * n_actions, false);
        for ((env, _), mask) in lanes.iter().zip(masks.chunks_exact_mut(n_actions)) {
            env.legal_actions(mask);
        }
        let actions = if manner.is_deterministic {
            policy.choose(spec, &observations, &masks, lanes.len())?
        } else {
            policy.draw(spec, &observations, &masks, &mut chances)?
        };
        let mut ended = Vec::new();
        // Backwards, so that a lane that is taken out does not move those still to come.
        for lane in (0..lanes.len()).rev() {
            let (env, episode) = &mut lanes[lane];
            let observation = &mut observations[lane * width..(lane + 1) * width];
            let step = env.step(actions[lane].borrow(), observation);
            outcome.returns[*episode] += step.reward;
            outcome.lengths[*episode] += 1;
            outcome.actions[*episode].push(actions[lane].borrow());
            if !step.is_end() {
                continue;
            }
            outcome.ends[*episode] = step.terminated;
            outcome.cuts[*episode] = step.truncated;
            for (name, value) in env.episode_metrics() {
                let values = outcome.metrics.entry(name.to_owned()).or_insert_with(|| vec![0.0; n]);
                values[*episode] = value;
            }
            outcome.terminated += u32::from(step.terminated);
            outcome.truncated += u32::from(!step.terminated);
            ended.push(*episode);
            if next < n {
                *episode = next;
                env.reset(Some(manner.seeds[next]), observation);
                chances[lane] = manner.chance(next);
                next += 1;
            } else {
                lanes.remove(lane);
                chances.remove(lane);
                observations.drain(lane * width..(lane + 1) * width);
            }
        }
        for heard in ended.into_iter().map(Heard::End).chain([Heard::Steps]) {
            if !hear(heard, &outcome)? {
                return Ok(None);
            }
        }
    }
    Ok(Some(outcome))
}

impl Outcome {
    /// Mean, spread and interval.
    pub fn summary(&self, step: u64) -> Evaluation {
        let n = self.returns.len() as f64;
        let (mean, std, ci95) = spread(&self.returns);
        Evaluation {
            step,
            episodes: self.returns.len() as u32,
            mean,
            std,
            ci95,
            mean_length: self.lengths.iter().map(|&length| f64::from(length)).sum::<f64>() / n,
            metrics: self
                .metrics
                .iter()
                .map(|(name, values)| (name.clone(), values.iter().sum::<f64>() / n))
                .collect(),
        }
    }
}

/// An evaluation that is kept as a run: which policy is measured, and how.
#[derive(Clone, Copy, Debug)]
pub struct KeptEvaluation<'a> {
    /// What is measured.
    pub subject: Subject<'a>,
    /// Environment steps of the policy.
    pub step: u64,
    /// How many episodes.
    pub episodes: u32,
    /// Chooses the episodes.
    pub seed: u64,
    /// Whether the policy does what it holds best, and not what chance makes of it.
    pub is_deterministic: bool,
}

/// Where a policy that is measured comes from.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// A checkpoint of a run.
    Checkpoint {
        /// The run.
        run: &'a Manifest,
        /// Folder of the checkpoint.
        name: &'a str,
        /// Whether it is the best of the run rather than its newest.
        is_best: bool,
    },
    /// A file, which may come from anywhere.
    File {
        /// Its place.
        path: &'a Path,
        /// Its hash.
        sha256: &'a str,
        /// Where it acts.
        env_id: &'a str,
        /// Options of the environment.
        options: &'a Map<String, Value>,
    },
}

impl KeptEvaluation<'_> {
    /// Measures the policy and keeps it as a run, with every episode.
    pub fn carry_out(
        &self,
        data: &DataDir,
        version: &str,
        policy: &dyn Actor,
    ) -> Result<(RunId, Outcome)> {
        let Self { subject, step, episodes, seed, is_deterministic } = *self;
        let (name, env_id, options, mut terms) = match subject {
            Subject::Checkpoint { run, name, is_best } => (
                format!("Evaluation of {} at step {step}", run.id),
                run.env_id.as_str(),
                run.config["env"].as_object().cloned().unwrap_or_default(),
                json!({ "run": run.id, "checkpoint": name, "step": step, "best": is_best }),
            ),
            Subject::File { path, sha256, env_id, options } => {
                let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
                let terms = json!({ "file": path.display().to_string(), "sha256": sha256 });
                (format!("Evaluation of {file}"), env_id, options.clone(), terms)
            }
        };
        for (key, value) in [
            ("episodes", json!(episodes)),
            ("seed", json!(seed)),
            ("deterministic", json!(is_deterministic)),
            ("env_id", json!(env_id)),
            ("env", Value::from(options.clone())),
        ] {
            terms[key] = value;
        }
        let mut kept = CarriedRun::begin(data, version, name, env_id, terms)?;
        let id = kept.manifest.id.clone();
        kept.event(Event::EvaluationStarted { step, episodes })?;
        let manner = Manner { is_deterministic, ..Manner::greedy(episodes, seed) };
        let outcome = match play(policy, env_id, &options, &manner, &mut |_, _| Ok(true)) {
            Ok(outcome) => outcome.expect("nobody has ended it"),
            Err(error) => {
                kept.fail(&error)?;
                return Err(error);
            }
        };
        let summary = outcome.summary(step);
        kept.episodes(outcome.episodes(step))?;
        kept.metrics(&outcome.metric_line(&summary))?;
        Summary::new(&kept.manifest, is_deterministic, step, &outcome).write(&data.run(&id))?;
        kept.event(Event::EvaluationComplete(summary))?;
        kept.finish(DoneReason::Completed)?;
        Ok((id, outcome))
    }
}

impl Outcome {
    /// Every episode, to be kept.
    fn episodes(&self, step: u64) -> impl Iterator<Item = (EpisodeHead, EpisodeBody)> {
        let t = unix_now();
        (0..self.returns.len()).map(move |place| {
            let head = EpisodeHead {
                episode: place as u64 + 1,
                attempt: 1,
                lane: 0,
                seed: Some(self.seeds[place]),
                reward: self.returns[place],
                length: self.lengths[place],
                step,
                terminated: self.ends[place],
                truncated: self.cuts[place],
                checkpoint_step: Some(step),
                t,
                foreign_id: None,
            };
            (head, body_of(self.actions[place].clone()))
        })
    }

    /// The one row of figures: the means, and every episode.
    fn metric_line(&self, summary: &Evaluation) -> MetricLine {
        let numbers = 1..=self.returns.len() as u64;
        let values = metric_values(summary)
            .map(|(name, value)| (name, Some(value).filter(|value| value.is_finite())))
            .collect();
        MetricLine {
            attempt: 1,
            row: 1,
            t: unix_now(),
            step: summary.step,
            values,
            episodes: Episodes {
                episode: numbers.collect(),
                reward: self
                    .returns
                    .iter()
                    .map(|total| Some(*total).filter(|it| it.is_finite()))
                    .collect(),
                length: self.lengths.clone(),
                timestep: vec![summary.step; self.returns.len()],
                seed: self.seeds.iter().copied().map(Some).collect(),
                terminated: self.ends.clone(),
            },
        }
    }
}

/// The figures of an evaluation by the names under which they are stored.
pub(crate) fn metric_values(summary: &Evaluation) -> impl Iterator<Item = (String, f64)> {
    let own = summary.metrics.iter().map(|(name, &value)| (format!("eval/{name}"), value));
    [
        (Metric::EvaluationReward.name().to_owned(), summary.mean),
        (Metric::EvaluationLow.name().to_owned(), summary.ci95[0]),
        (Metric::EvaluationHigh.name().to_owned(), summary.ci95[1]),
        (Metric::EvaluationLength.name().to_owned(), summary.mean_length),
    ]
    .into_iter()
    .chain(own)
}

/// The mean of some values, their deviation, and the 95% interval of the mean.
pub(crate) fn spread(values: &[f64]) -> (f64, f64, [f64; 2]) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let std = if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { 0.0 };
    let half = student_t95(values.len()) * std / n.sqrt();
    (mean, std, [mean - half, mean + half])
}

/// The 97.5% quantile of Student's t with `n - 1` degrees of freedom, from the series of Hill
/// (1970) around the normal quantile; exact to three digits from five samples on.
fn student_t95(n: usize) -> f64 {
    if n < 2 {
        return 0.0;
    }
    let z = 1.959_963_985_f64;
    let freedom = (n - 1) as f64;
    z + (z.powi(3) + z) / (4.0 * freedom)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * freedom.powi(2))
        + (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z)
            / (384.0 * freedom.powi(3))
}

#[cfg(test)]
mod tests;
