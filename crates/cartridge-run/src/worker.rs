//! The native trainer process.
//!
//! It alone writes the run's `events.jsonl` and `metrics.jsonl` and its checkpoints. Control
//! lines arrive on standard input, already verified, and take effect between two updates. When
//! standard input closes, the supervisor is gone: the worker saves what it has and ends.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Write as _};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use cartridge_games::registry::make_env;
use cartridge_learn::metric::Metric;
use cartridge_learn::ppo::{EpisodeEnd, Ppo, Update};
use cartridge_store::jsonl::Appender;
use cartridge_store::{
    Command, ControlLine, DataDir, DoneReason, Episodes, Event, EventLine, MetricLine, RunDir,
    RunId, StoreError,
};

use crate::checkpoint::{self, Alias};
use crate::clock::unix_now;
use crate::config::RunConfig;
use crate::error::Result;
use crate::evaluation::{evaluate, metric_values};

/// Metrics are durable at the latest after this time; events are at once.
const GROUP_COMMIT: Duration = Duration::from_millis(1000);

/// The log gets a line this often.
const LOG_EVERY: Duration = Duration::from_secs(1);

/// How far below other programs the training stands, so that the machine stays usable.
const NICENESS: i32 = 5;

/// Trains the run until it is done, is stopped, or fails. Returns whether it ended well.
pub fn work(data: &DataDir, id: &RunId, attempt: u32) -> Result<bool> {
    let dir = data.run(id);
    let manifest = dir.manifest()?;
    let config: RunConfig = serde_json::from_value(manifest.config).map_err(|error| {
        StoreError::Damaged { path: dir.manifest_path(), detail: error.to_string() }
    })?;
    // Not being allowed to step back is no reason to give up.
    _ = rustix::process::nice(NICENESS);
    let mut journal = Journal::open(&dir, attempt)?;
    let control = listen();

    let ppo_config = config.ppo();
    let envs = (0..ppo_config.n_envs)
        .map(|_| make_env(&config.env_id, &config.env))
        .collect::<Result<_, _>>()?;
    journal.event(Event::EnvironmentInitialized {
        env_id: config.env_id.clone(),
        n_envs: config.simulation.n_envs,
    })?;
    let mut ppo = Ppo::new(envs, &ppo_config, config.seeds.seed_base);
    journal.event(Event::TrainingStarted { total_timesteps: config.trainer.total_timesteps })?;

    let mut schedule = Schedule::new(&config);
    let mut best = f64::NEG_INFINITY;
    let reason = loop {
        // Learn.
        let started = Instant::now();
        let step_before = ppo.step();
        let update = ppo.update();
        let seconds = started.elapsed().as_secs_f64();
        let fps = (update.step - step_before) as f64 / seconds.max(1e-9);
        let scalars = update.scalars.iter().copied().chain([(Metric::StepsPerSecond, fps)]);
        let scalars = scalars.map(|(metric, value)| (metric.name().to_owned(), value));
        let own = update.episode_metrics.iter();
        let own = own.map(|&(name, value)| (format!("episode/{name}"), value));
        journal.metrics(update.step, scalars.chain(own), &update.episodes)?;
        journal.log(&update, fps);
        if let Some((metric, value)) = update.scalars.iter().find(|(_, value)| !value.is_finite()) {
            let message = format!(
                "{} became {value} at step {}; try a lower learning rate",
                metric.name(),
                update.step
            );
            journal.event(Event::Error { message })?;
            return Ok(false);
        }

        // Measure and save.
        let step = update.step;
        let done = ppo.is_done();
        if schedule.checkpoint_is_due(step) || done {
            save(&mut journal, &dir, &config, &ppo)?;
        }
        if schedule.evaluation_is_due(step) || done {
            let episodes =
                if done { config.evaluation.final_episodes } else { config.evaluation.episodes };
            journal.event(Event::EvaluationStarted { step, episodes })?;
            let outcome = evaluate(
                ppo.policy(),
                &config.env_id,
                &config.env,
                episodes,
                config.seeds.seed_base,
            )?;
            let summary = outcome.summary(step);
            journal.metrics(step, metric_values(&summary), &[])?;
            if summary.mean >= best {
                best = summary.mean;
                let name = save(&mut journal, &dir, &config, &ppo)?;
                checkpoint::point(&dir, Alias::Best, &name)?;
            }
            journal.event(Event::EvaluationComplete(summary))?;
        }
        if done {
            break DoneReason::Completed;
        }

        // Obey.
        match control.try_recv() {
            Ok(ControlLine { seq, command: Command::Stop, .. }) => {
                journal.event(Event::ControlAck { control: seq, command: Command::Stop, step })?;
                break DoneReason::Stopped;
            }
            Err(TryRecvError::Disconnected) => break DoneReason::Orphaned,
            Err(TryRecvError::Empty) => {}
        }
    };
    let checkpoint = save(&mut journal, &dir, &config, &ppo)?;
    journal.event(Event::Done {
        reason,
        step: ppo.step(),
        weights_sha256: ppo.policy().sha256(),
        checkpoint,
    })?;
    Ok(true)
}

/// Saves a checkpoint unless this step has one, and returns its name.
fn save(journal: &mut Journal, dir: &RunDir, config: &RunConfig, ppo: &Ppo) -> Result<String> {
    let step = ppo.step();
    if let Some((saved, name)) = &journal.last_checkpoint
        && *saved == step
    {
        return Ok(name.clone());
    }
    let name = checkpoint::save(dir, &config.env_id, step, ppo.policy())?;
    for pruned in checkpoint::prune(dir, config.retention.keep_checkpoints as usize)? {
        journal.event(Event::ArtifactPruned(pruned))?;
    }
    journal.last_checkpoint = Some((step, name.clone()));
    let weights_sha256 = ppo.policy().sha256();
    journal.event(Event::CheckpointSaved { step, name: name.clone(), weights_sha256 })?;
    Ok(name)
}

/// Prints a line for the log, which the supervisor keeps. A reader that is gone is no error here:
/// the worker hears of that by its standard input.
fn print(line: &str) {
    _ = writeln!(io::stdout(), "{line}");
}

/// Reads control lines in the background; the channel closes with standard input.
fn listen() -> Receiver<ControlLine> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            // The supervisor has verified it; what it cannot read here it would not have sent.
            if let Ok(control) = serde_json::from_str(&line)
                && sender.send(control).is_err()
            {
                return;
            }
        }
    });
    receiver
}

/// When the next checkpoint and the next evaluation are due.
struct Schedule {
    checkpoint_every: u64,
    next_checkpoint: u64,
    evaluate_every: u64,
    next_evaluation: u64,
}

impl Schedule {
    fn new(config: &RunConfig) -> Self {
        let checkpoint_every = config.retention.checkpoint_every_steps;
        let evaluate_every = config.evaluation.every_steps;
        Self {
            checkpoint_every,
            // The first update is kept too: there is something to look at from the first second.
            next_checkpoint: 1,
            evaluate_every,
            next_evaluation: evaluate_every,
        }
    }

    fn checkpoint_is_due(&mut self, step: u64) -> bool {
        is_due(step, self.checkpoint_every, &mut self.next_checkpoint)
    }

    fn evaluation_is_due(&mut self, step: u64) -> bool {
        is_due(step, self.evaluate_every, &mut self.next_evaluation)
    }
}

/// Whether `step` has reached `next`, which then moves to the first multiple beyond it.
fn is_due(step: u64, every: u64, next: &mut u64) -> bool {
    let due = step >= *next;
    if due {
        *next = (step / every + 1) * every;
    }
    due
}

/// The files that the worker appends to.
struct Journal {
    attempt: u32,
    events: Appender,
    metrics: Appender,
    n_rows: u64,
    n_updates: u64,
    last_sync: Instant,
    last_log: Option<Instant>,
    last_checkpoint: Option<(u64, String)>,
}

impl Journal {
    fn open(dir: &RunDir, attempt: u32) -> Result<Self> {
        Ok(Self {
            attempt,
            events: Appender::open(dir.events_path())?,
            metrics: Appender::open(dir.metrics_path())?,
            n_rows: 0,
            n_updates: 0,
            last_sync: Instant::now(),
            last_log: None,
            last_checkpoint: None,
        })
    }

    /// Records an event, durably, with all metrics before it.
    fn event(&mut self, event: Event) -> Result<()> {
        self.metrics.sync()?;
        self.last_sync = Instant::now();
        print(&event.message());
        self.events.append(&EventLine { attempt: self.attempt, t: unix_now(), event })?;
        Ok(self.events.sync()?)
    }

    /// Says how the training gets on, in a line of the log.
    fn log(&mut self, update: &Update, fps: f64) {
        self.n_updates += 1;
        if self.last_log.is_some_and(|last| last.elapsed() < LOG_EVERY) {
            return;
        }
        self.last_log = Some(Instant::now());
        let value = |wanted: Metric| {
            update.scalars.iter().find(|(metric, _)| *metric == wanted).map(|(_, value)| *value)
        };
        let mut line = format!("update {}  step {}", self.n_updates, update.step);
        if let Some(reward) = value(Metric::EpisodeReward) {
            line += &format!("  return {reward:.1}");
        }
        if let Some(kl) = value(Metric::ApproxKl) {
            line += &format!("  kl {kl:.4}");
        }
        print(&format!("{line}  {fps:.0} steps/s"));
    }

    /// Records a row of metrics and the episodes that ended.
    fn metrics(
        &mut self,
        step: u64,
        scalars: impl Iterator<Item = (String, f64)>,
        episodes: &[EpisodeEnd],
    ) -> Result<()> {
        self.n_rows += 1;
        let values: BTreeMap<String, Option<f64>> = scalars
            .map(|(name, value)| (name, Some(value).filter(|value| value.is_finite())))
            .collect();
        let episodes = Episodes {
            episode: episodes.iter().map(|end| end.episode).collect(),
            reward: episodes.iter().map(|end| end.reward).collect(),
            length: episodes.iter().map(|end| end.length).collect(),
            timestep: episodes.iter().map(|end| end.step).collect(),
            seed: episodes.iter().map(|end| end.seed).collect(),
            terminated: episodes.iter().map(|end| end.terminated).collect(),
        };
        let line = MetricLine {
            attempt: self.attempt,
            row: self.n_rows,
            t: unix_now(),
            step,
            values,
            episodes,
        };
        self.metrics.append(&line)?;
        if self.last_sync.elapsed() >= GROUP_COMMIT {
            self.last_sync = Instant::now();
            self.metrics.sync()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
