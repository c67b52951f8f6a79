//! How fast a training goes, part by part.
//!
//! A training is carried out in this process as the worker does it, with its rows of metrics, its
//! recorded episodes and its checkpoints in a folder that is removed afterwards; lines of the event
//! log are left out. When it has made all its steps, another begins with the next seed, so that
//! schedules and exploration pass through what they pass through in a real run.
//!
//! What recording costs is told in two ways: by the time of the calls that record, in every measured
//! training, and by making the same updates with it and without ([`compare_recording`]), which sees
//! what it does to everything else too.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, process};

use cartridge_learn::learner::Learner;
use cartridge_learn::report::Phase;
use cartridge_learn::team::Team;
use cartridge_store::{DataDir, RunDir};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use super::{Phases, Rate, WARM_UP, WINDOW, peak_memory_mb, rate};
use crate::checkpoint::{self, Progress};
use crate::config::RunConfig;
use crate::error::{Result, RunError};
use crate::evaluation::{evaluate, metric_values};
use crate::launch::{Launcher, Terms};
use crate::supervisor::read_usage;
use crate::worker::{Journal, Schedule, make_envs};

/// How much of a training is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// The policy acts; nothing is learnt and nothing recorded.
    Rollout,
    /// All of it but evaluations.
    Trainer,
    /// All of it.
    TrainerAndEvaluation,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrainingThroughput {
    /// Environment steps per second, over all environments.
    pub steps_per_sec: Rate,
    /// Where the time went.
    pub phases: Phases,
    /// Of one processor.
    pub cpu_percent: f64,
    /// What recording episodes and metrics adds to the processor time of everything else.
    pub recording_percent: f64,
    /// Greatest resident memory of the process so far.
    pub rss_mb: f64,
    /// Episodes that ended.
    pub episodes: u64,
    /// Updates that were made.
    pub updates: u64,
}

/// What recording costs, by trainings with it and without.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RecordingCost {
    /// What it adds to the processor time of everything else: the median of the rounds.
    #[serde(rename = "recording_percent_measured")]
    pub percent: f64,
    /// Its 95% interval.
    #[serde(rename = "recording_percent_ci95")]
    pub ci95: [f64; 2],
    /// Rounds, in each of which both make the same updates.
    #[serde(rename = "recording_rounds")]
    pub n_rounds: usize,
    /// Processor seconds of the process for a million environment steps, over all rounds.
    pub cpu_seconds_per_million_steps: CpuSeconds,
}

/// Processor seconds of the same steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CpuSeconds {
    /// With episodes and metrics recorded.
    pub recorded: f64,
    /// With nothing recorded.
    pub unrecorded: f64,
}

/// A part of a training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Act,
    Judge,
    Learn,
    Record,
    Evaluate,
}

impl Part {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Act, "act"),
        (Self::Judge, "judge"),
        (Self::Learn, "learn"),
        (Self::Record, "record"),
        (Self::Evaluate, "evaluate"),
    ];
}

impl From<Phase> for Part {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Act => Self::Act,
            Phase::Judge => Self::Judge,
            Phase::Learn => Self::Learn,
        }
    }
}

/// Adds up how long each part takes.
struct Stopwatch {
    part: Part,
    since: Instant,
    spent: [Duration; Part::ALL.len()],
}

impl Stopwatch {
    fn start() -> Self {
        Self { part: Part::Act, since: Instant::now(), spent: Default::default() }
    }

    /// Ends the part that goes on and begins the next.
    fn begin(&mut self, part: Part) {
        let now = Instant::now();
        self.spent[self.part as usize] += now - self.since;
        (self.part, self.since) = (part, now);
    }

    /// Where the time went until now.
    fn phases(&mut self) -> Phases {
        self.begin(self.part);
        let seconds = Part::ALL.map(|(part, name)| (name, self.spent[part as usize].as_secs_f64()));
        Phases::new(&seconds)
    }
}

/// A run that is gone when it is dropped, with the data folder that it lies in.
struct Scratch {
    path: PathBuf,
    dir: RunDir,
}

impl Scratch {
    fn new(config: &RunConfig) -> Result<Self> {
        static N: AtomicU64 = AtomicU64::new(0);
        let n = N.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("cartridge-bench-{}-{n}", process::id()));
        // Nothing is ever started in it.
        let launcher = Launcher {
            program: PathBuf::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            stop_grace: Duration::ZERO,
            is_lab: false,
        };
        let data = DataDir::open(&path)?;
        let (dir, _) = launcher.create(&data, config, Terms::default())?;
        Ok(Self { path, dir })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is in the system's folder for such things.
        _ = fs::remove_dir_all(&self.path);
    }
}

/// Trains as `config` says for some seconds and measures how fast.
pub fn measure_training(
    config: &RunConfig,
    extent: Extent,
    seconds: f64,
) -> Result<TrainingThroughput> {
    let mut training = Training::begin(config.clone(), true)?;
    let begun = Instant::now();
    while begun.elapsed() < WARM_UP || training.n_updates == 0 {
        training.advance(extent, &mut Stopwatch::start())?;
        training.finished.clear();
    }

    let pid = process::id();
    let cpu_seconds = || read_usage(pid).map_or(0.0, |(seconds, _)| seconds);
    let (episodes, updates) = (training.n_episodes, training.n_updates);
    let recorded = training.recording;
    let mut watch = Stopwatch::start();
    let (start, cpu_start) = (Instant::now(), cpu_seconds());
    let mut readings = vec![(Duration::ZERO, training.n_steps)];
    while start.elapsed().as_secs_f64() < seconds {
        training.advance(extent, &mut watch)?;
        training.finished.clear();
        let reading = (start.elapsed(), training.n_steps);
        // The steps of a moment are added to the window before it.
        let n = readings.len();
        let is_short = n > 1 && readings[n - 1].0 - readings[n - 2].0 < WINDOW;
        if is_short {
            readings[n - 1] = reading;
        } else {
            readings.push(reading);
        }
    }
    let cpu = cpu_seconds() - cpu_start;
    let recording = (training.recording - recorded).as_secs_f64();
    Ok(TrainingThroughput {
        steps_per_sec: rate(&readings, |&steps| steps),
        phases: watch.phases(),
        cpu_percent: 100.0 * cpu / start.elapsed().as_secs_f64(),
        recording_percent: 100.0 * recording / (cpu - recording).max(1e-9),
        rss_mb: peak_memory_mb().unwrap_or(0.0),
        episodes: training.n_episodes - episodes,
        updates: training.n_updates - updates,
    })
}

/// Makes the same updates with recording and without, in turns, for some seconds in all: twice
/// `n_rounds` turns, the one that goes first changing with every round. Nothing is evaluated;
/// checkpoints are saved by both, and keeping the actions of episodes until they end is part of acting
/// in both.
pub fn compare_recording(
    config: &RunConfig,
    seconds: f64,
    n_rounds: usize,
) -> Result<RecordingCost> {
    let mut recorded = Training::begin(config.clone(), true)?;
    let mut unrecorded = Training::begin(config.clone(), false)?;
    let n_warm = recorded.turn(|_, elapsed| elapsed < WARM_UP)?.0;
    unrecorded.turn(|n, _| n < n_warm)?;
    let turn = Duration::from_secs_f64(seconds / (2 * n_rounds) as f64);
    let (mut spent, mut percents) = ([0.0, 0.0], Vec::with_capacity(n_rounds));
    let n_steps = recorded.n_steps;
    for round in 0..n_rounds {
        let pair = [&mut recorded, &mut unrecorded];
        let first = round % 2;
        let mut cpu = [0.0, 0.0];
        let (n_updates, seconds) = pair[first].turn(|_, elapsed| elapsed < turn)?;
        cpu[first] = seconds;
        cpu[1 - first] = pair[1 - first].turn(|n, _| n < n_updates)?.1;
        percents.push(100.0 * (cpu[0] / cpu[1].max(1e-9) - 1.0));
        spent = [spent[0] + cpu[0], spent[1] + cpu[1]];
    }
    assert_eq!(recorded.n_steps, unrecorded.n_steps, "recording changes nothing that is learnt");
    let (percent, ci95) = median_with_interval(percents);
    let millions = (recorded.n_steps - n_steps) as f64 / 1e6;
    let [recorded, unrecorded] = spent.map(|seconds| seconds / millions);
    let cpu_seconds_per_million_steps = CpuSeconds { recorded, unrecorded };
    Ok(RecordingCost { percent, ci95, n_rounds, cpu_seconds_per_million_steps })
}

/// The median of some values, and the interval between two of them that holds the true median in 95
/// of 100 cases at least, however the values are distributed: each value is above it as a fair coin
/// falls, so that the interval may leave out as many at each end as of so many coins show heads in
/// fewer than one of forty cases. Fewer than six values allow no such interval, and have the least
/// and the greatest.
fn median_with_interval(mut values: Vec<f64>) -> (f64, [f64; 2]) {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let median = 0.5 * (values[(n - 1) / 2] + values[n / 2]);
    // Of `n` coins, the chance of at most `place` heads.
    let (mut place, mut chance) = (0_usize, 0.5_f64.powi(n as i32));
    let mut tail = chance;
    while tail <= 0.025 {
        place += 1;
        chance *= (n - place + 1) as f64 / place as f64;
        tail += chance;
    }
    // With so many heads at most the chance is too great; with one fewer it is small enough.
    let outside = place.saturating_sub(1);
    (median, [values[outside], values[n - 1 - outside]])
}

/// Trainings that follow one another.
struct Training {
    config: RunConfig,
    is_recorded: bool,
    learner: Learner,
    schedule: Schedule,
    journal: Journal,
    scratch: Scratch,
    /// Of trainings before, to be removed when nobody measures.
    finished: Vec<Scratch>,
    n_steps: u64,
    n_episodes: u64,
    n_updates: u64,
    /// Processor time that episodes and metrics have taken.
    recording: Duration,
}

impl Training {
    fn begin(config: RunConfig, is_recorded: bool) -> Result<Self> {
        let scratch = Scratch::new(&config)?;
        Ok(Self {
            learner: learner(&config)?,
            schedule: Schedule::new(&config),
            journal: Journal::open(&scratch.dir, 1, config.retention.shard_target_mb)?,
            scratch,
            finished: Vec::new(),
            config,
            is_recorded,
            n_steps: 0,
            n_episodes: 0,
            n_updates: 0,
            recording: Duration::ZERO,
        })
    }

    /// Makes updates, one at least, as long as it `goes_on` after so many in such a time. Returns how
    /// many there were and the processor seconds that the process took for them.
    fn turn(&mut self, goes_on: impl Fn(u64, Duration) -> bool) -> Result<(u64, f64)> {
        let (before, started) = (process_time(), Instant::now());
        let mut n_updates = 0;
        while n_updates == 0 || goes_on(n_updates, started.elapsed()) {
            self.advance(Extent::Trainer, &mut Stopwatch::start())?;
            n_updates += 1;
        }
        let seconds = process_time().saturating_sub(before).as_secs_f64();
        self.finished.clear();
        Ok((n_updates, seconds))
    }

    /// Makes an update, and whatever is due after it.
    fn advance(&mut self, extent: Extent, watch: &mut Stopwatch) -> Result<()> {
        let step_before = self.learner.step();
        self.n_updates += 1;
        watch.begin(Part::Act);
        if extent == Extent::Rollout {
            self.n_episodes += self.learner.rollout().len() as u64;
            self.n_steps += self.learner.step() - step_before;
            return Ok(());
        }
        let started = Instant::now();
        let mut update = self.learner.update(&mut |phase| watch.begin(phase.into()));
        let seconds = started.elapsed().as_secs_f64();
        self.n_steps += update.step - step_before;
        self.n_episodes += update.episodes.len() as u64;
        if self.learner.fault().is_some() {
            return Err(RunError::Diverged { step: update.step });
        }

        watch.begin(Part::Record);
        let fps = (update.step - step_before) as f64 / seconds.max(1e-9);
        if self.is_recorded {
            let before = thread_time();
            self.journal.record(&mut update, fps)?;
            self.recording += thread_time().saturating_sub(before);
        }
        let is_done = self.learner.is_done();
        if self.schedule.checkpoint_is_due(update.step, Instant::now()) || is_done {
            self.save()?;
        }

        let is_measured = self.schedule.evaluation_is_due(update.step) || is_done;
        if is_measured && extent == Extent::TrainerAndEvaluation {
            watch.begin(Part::Evaluate);
            let RunConfig { env_id, env, evaluation: plan, seeds, .. } = &self.config;
            let episodes = if is_done { plan.final_episodes } else { plan.episodes };
            let policy = self.learner.policy();
            let outcome = evaluate(&policy, env_id, env, episodes, seeds.seed_base)?;
            watch.begin(Part::Record);
            let summary = outcome.summary(update.step);
            self.journal.metrics(update.step, metric_values(&summary), &[])?;
        }
        if is_done {
            watch.begin(Part::Act);
            self.config.seeds.seed_base += 1;
            self.learner = learner(&self.config)?;
            self.schedule = Schedule::new(&self.config);
            let scratch = Scratch::new(&self.config)?;
            self.finished.push(std::mem::replace(&mut self.scratch, scratch));
            let shard_target_mb = self.config.retention.shard_target_mb;
            self.journal = Journal::open(&self.scratch.dir, 1, shard_target_mb)?;
        }
        Ok(())
    }

    fn save(&mut self) -> Result<()> {
        let Self { config, is_recorded, learner, schedule, journal, scratch, recording, .. } = self;
        if *is_recorded {
            let before = thread_time();
            journal.sync()?;
            *recording += thread_time().saturating_sub(before);
        }
        let state = learner.state();
        let progress = Progress {
            row: journal.n_rows,
            episode: state.n_episodes(),
            next_checkpoint: schedule.next_checkpoint,
            evaluate_every: schedule.evaluate_every,
            next_evaluation: schedule.next_evaluation,
            best: None,
        };
        checkpoint::save(&scratch.dir, &config.env_id, &learner.policy(), &state, progress)?;
        checkpoint::prune(&scratch.dir, &config.retention, &BTreeSet::new())?;
        Ok(())
    }
}

/// Processor time of this thread, which is the one that records.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Processor time of all threads.
fn process_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

fn learner(config: &RunConfig) -> Result<Learner> {
    let team = Team::new(config.n_threads());
    Ok(Learner::new(make_envs(config)?, &config.learner(), config.seeds.seed_base, team))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Draft;

    #[test]
    fn intervals_of_medians_by_hand() {
        let values = |n: u32| (1..=n).rev().map(f64::from).collect();
        assert_eq!(median_with_interval(values(1)), (1.0, [1.0, 1.0]));
        assert_eq!(median_with_interval(values(5)), (3.0, [1.0, 5.0]));
        assert_eq!(median_with_interval(values(6)), (3.5, [1.0, 6.0]));
        // Of a table of the sign test: the second at nine values, the sixth at twenty.
        assert_eq!(median_with_interval(values(9)), (5.0, [2.0, 8.0]));
        assert_eq!(median_with_interval(values(20)), (10.5, [6.0, 15.0]));
    }

    #[test]
    fn both_make_the_same_updates() {
        let mut draft = Draft::new("CartPole-v1", "ppo").unwrap();
        // So short that some end within the time.
        draft.set_text("trainer.total_timesteps=5000").unwrap();
        let cost = compare_recording(&draft.finish().unwrap(), 0.6, 6).unwrap();
        let CpuSeconds { recorded, unrecorded } = cost.cpu_seconds_per_million_steps;
        assert!(recorded > 0.0 && unrecorded > 0.0, "{cost:?}");
        let [low, high] = cost.ci95;
        assert!(low <= cost.percent && cost.percent <= high, "{cost:?}");
        assert_eq!(cost.n_rounds, 6);
    }
}
