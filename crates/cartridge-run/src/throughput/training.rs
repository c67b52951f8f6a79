//! How fast a training goes, part by part.
//!
//! A training is carried out in this process as the worker does it, with its rows of metrics, its
//! recorded episodes and its checkpoints in a folder that is removed afterwards; lines of the event
//! log are left out. When it has made all its steps, another begins with the next seed, so that
//! schedules and exploration pass through what they pass through in a real run.

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
    let mut training = Training::begin(config.clone())?;
    let begun = Instant::now();
    while begun.elapsed() < WARM_UP || training.n_updates == 0 {
        training.advance(extent, &mut Stopwatch::start())?;
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

/// Trainings that follow one another.
struct Training {
    config: RunConfig,
    learner: Learner,
    schedule: Schedule,
    journal: Journal,
    scratch: Scratch,
    n_steps: u64,
    n_episodes: u64,
    n_updates: u64,
    /// Processor time that episodes and metrics have taken.
    recording: Duration,
}

impl Training {
    fn begin(config: RunConfig) -> Result<Self> {
        let scratch = Scratch::new(&config)?;
        Ok(Self {
            learner: learner(&config)?,
            schedule: Schedule::new(&config),
            journal: Journal::open(&scratch.dir, 1, config.retention.shard_target_mb)?,
            scratch,
            config,
            n_steps: 0,
            n_episodes: 0,
            n_updates: 0,
            recording: Duration::ZERO,
        })
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
        let before = thread_time();
        self.journal.record(&mut update, fps)?;
        self.recording += thread_time().saturating_sub(before);
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
            self.scratch = Scratch::new(&self.config)?;
            let shard_target_mb = self.config.retention.shard_target_mb;
            self.journal = Journal::open(&self.scratch.dir, 1, shard_target_mb)?;
        }
        Ok(())
    }

    fn save(&mut self) -> Result<()> {
        let Self { config, learner, schedule, journal, scratch, recording, .. } = self;
        let before = thread_time();
        journal.sync()?;
        *recording += thread_time().saturating_sub(before);
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

fn learner(config: &RunConfig) -> Result<Learner> {
    let team = Team::new(config.n_threads());
    Ok(Learner::new(make_envs(config)?, &config.learner(), config.seeds.seed_base, team))
}
