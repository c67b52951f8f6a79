//! The native trainer process.
//!
//! It alone writes the run's `events.jsonl`, `metrics.jsonl` and `episodes/` and its checkpoints. Control
//! lines arrive on standard input, already verified, and take effect between two updates. When
//! standard input closes, the supervisor is gone: the worker saves what it has and ends.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{self, BufRead as _, Write as _};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use cartridge_games::Env;
use cartridge_games::registry::make_env;
use cartridge_learn::learner::Learner;
use cartridge_learn::metric::Metric;
use cartridge_learn::ppo::StateError;
use cartridge_learn::report::{EpisodeEnd, Update};
use cartridge_learn::team::Team;
use cartridge_store::data_dir::write_beside;
use cartridge_store::jsonl::{self, Appender};
use cartridge_store::{
    Command, ControlLine, DataDir, DoneReason, EpisodeHead, EpisodeReader, EpisodeWriter, Episodes,
    Event, EventLine, MetricLine, RunDir, RunId, RunKind, StoreError,
};

use serde::Deserialize;

use crate::audit::Marks;
use crate::camera::{Camera, Made, Scenario};
use crate::checkpoint::{self, Alias, Progress, Whole};
use crate::clock::unix_now;
use crate::config::RunConfig;
use crate::contest_job;
use crate::discovery;
use crate::episode::body_of;
use crate::error::{Result, RunError};
use crate::evaluation::{Outcome, evaluate, metric_values};
use crate::evaluation_job;
use crate::film;
use crate::lineage;
use crate::priority;
use crate::saturation::Saturation;
use crate::self_play;
use crate::steer;
use crate::tensorboard::{EventFile, Records};
use crate::tunable::Tunable;

/// Metrics are durable at the latest after this time; events are at once.
const GROUP_COMMIT: Duration = Duration::from_millis(1000);

/// The log gets a line this often.
const LOG_EVERY: Duration = Duration::from_secs(1);

/// Where a gradient step is kept that could not be made.
const FAULT: &str = "fault";

/// Trains the run until it is done, is stopped, or fails. Returns whether it ended well.
pub fn work(data: &DataDir, id: &RunId, attempt: u32) -> Result<bool> {
    let dir = data.run(id);
    let manifest = dir.manifest()?;
    if contest_job::is_contest(&manifest) {
        return contest_job::work(data, id, attempt);
    }
    if manifest.kind == RunKind::Eval {
        return evaluation_job::work(data, id, attempt);
    }
    let config = steer::config_of(&manifest)?;
    priority::stand_back();
    if config.self_play().is_some() {
        return self_play::work(data, &manifest, config, attempt);
    }
    let journal = Journal::open(&dir, attempt, config.retention.shard_target_mb)?;
    let control = listen();

    let team = Team::new(config.n_threads());
    let learner =
        Learner::new(make_envs(&config)?, &config.learner(), config.seeds.seed_base, team);
    let schedule = Schedule::new(&config);
    let camera =
        config.evaluation.capture_video.then(|| Camera::start(&config.env_id, &config.env));
    let rule = if config.trainer.early_stop() { config.saturation_rule() } else { None };
    let mut worker = Worker {
        data: data.clone(),
        id: id.clone(),
        dir,
        config,
        journal,
        learner,
        schedule,
        best: None,
        marks: Marks::default(),
        tunes: VecDeque::new(),
        saturation: rule.map(Saturation::new),
        camera,
    };
    let is_fork = manifest.parent.is_some();
    let is_restored = (attempt > 1 || is_fork) && worker.restore(is_fork)?;
    worker.journal.event(Event::EnvironmentInitialized {
        env_id: worker.config.env_id.clone(),
        n_envs: worker.config.simulation.n_envs,
        instruction_set: Some(cartridge_learn::instruction_set().to_owned()),
    })?;
    let total_timesteps = worker.config.trainer.total_timesteps();
    worker.journal.event(Event::TrainingStarted { total_timesteps })?;
    worker.train(is_restored, &control)
}

/// A learner that goes on from a checkpoint of the run.
pub(crate) fn go_on(
    data: &DataDir,
    id: &RunId,
    config: &RunConfig,
    team: Team,
    whole: Whole,
) -> Result<Learner> {
    let Whole { name, policy, state, .. } = whole;
    let settings = config.learner();
    let episodes = match state.first_step_needed(&settings) {
        Some(first) => lineage::recorded(&data.run(id), &state, first)?,
        None => Vec::new(),
    };
    let seed_base = config.seeds.seed_base;
    let episodes = episodes.into_iter();
    Learner::restore(make_envs(config)?, &settings, seed_base, team, policy, &state, episodes)
        .map_err(|error| {
            let path = data.run(id).checkpoints_path().join(name);
            match error {
                StateError::Missing(_) => RunError::CannotGoOn { path, detail: error.to_string() },
                _ => StoreError::Damaged { path, detail: error.to_string() }.into(),
            }
        })
}

/// What was changed at or after step `since`, in earlier attempts: it was acknowledged, so it
/// holds. In order of the step, because a later attempt may have been changed earlier.
pub(crate) fn tunes_since(
    dir: &RunDir,
    config: &RunConfig,
    since: u64,
) -> Result<VecDeque<(u64, Tunable, f64)>> {
    let mut tunes: Vec<_> = events(dir)?
        .into_iter()
        .filter_map(|line| match line.event {
            Event::TuneApplied { path, new, step, .. } if step >= since => {
                Some((step, config.tunable(&path, new).ok()?, new))
            }
            _ => None,
        })
        .collect();
    tunes.sort_by_key(|(step, ..)| *step);
    Ok(tunes.into())
}

/// All that a run has recorded of itself. What cannot be read is left out, as everywhere.
pub(crate) fn events(dir: &RunDir) -> Result<Vec<EventLine>> {
    let lines = jsonl::read_lines(&dir.events_path(), 0, None)?;
    Ok(lines.iter().filter_map(|line| serde_json::from_slice(&line.bytes).ok()).collect())
}

pub(crate) fn make_envs(config: &RunConfig) -> Result<Vec<Box<dyn Env>>> {
    let make = |_| make_env(&config.env_id, &config.env);
    Ok((0..config.simulation.n_envs).map(make).collect::<Result<_, _>>()?)
}

/// A training in progress.
struct Worker {
    data: DataDir,
    id: RunId,
    dir: RunDir,
    config: RunConfig,
    journal: Journal,
    learner: Learner,
    schedule: Schedule,
    /// The best mean of an evaluation, and its step.
    best: Option<(f64, u64)>,
    /// What people have pinned.
    marks: Marks,
    /// What was tuned after the checkpoint that this attempt goes on from, by step.
    tunes: VecDeque<(u64, Tunable, f64)>,
    /// Whether there is something left to learn, where the run is to end when there is not.
    saturation: Option<Saturation>,
    /// Who films the evaluations, where that is wanted.
    camera: Option<Camera>,
}

impl Worker {
    /// Goes on from the newest checkpoint that is whole, or else from the beginning; says which.
    fn restore(&mut self, is_fork: bool) -> Result<bool> {
        let mut warnings = Vec::new();
        let mut names = checkpoint::names(&self.dir)?;
        let whole = loop {
            let Some(name) = names.pop() else { break None };
            match checkpoint::load_whole(&self.dir, &self.id, &name) {
                Ok(whole) => break Some(whole),
                Err(error) => warnings.push(error.to_string()),
            }
        };
        if whole.is_none() && is_fork {
            let name = "latest".to_owned();
            return Err(RunError::NoSuchCheckpoint { run: self.id.clone(), name });
        }
        // Later ones cannot be used, or belong to what is superseded now.
        checkpoint::forget_after(&self.dir, whole.as_ref().map(|whole| whole.name.as_str()))?;
        let (name, step, row, episode) = match &whole {
            Some(Whole { name, state, progress, .. }) => {
                (name.clone(), state.step(), progress.row, progress.episode)
            }
            None => (String::new(), 0, 0, 0),
        };
        let is_restored = whole.is_some();
        self.tunes = tunes_since(&self.dir, &self.config, step)?;
        if let Some(whole) = whole {
            let progress = whole.progress.clone();
            let team = Team::new(self.config.n_threads());
            self.learner = go_on(&self.data, &self.id, &self.config, team, whole)?;
            self.schedule.next_checkpoint = progress.next_checkpoint;
            self.schedule.evaluate_every = progress.evaluate_every;
            self.schedule.next_evaluation = progress.next_evaluation;
            self.best = progress.best;
            checkpoint::point(&self.dir, Alias::Latest, &name)?;
            if let Some((_, step)) = self.best {
                let best = checkpoint::name_of(step);
                if self.dir.checkpoints_path().join(&best).is_dir() {
                    checkpoint::point(&self.dir, Alias::Best, &best)?;
                }
            }
            if let Some(saturation) = &mut self.saturation {
                // Its own episodes only: a fork begins to count where it began.
                let mut reader = EpisodeReader::open(&self.dir)?;
                let first = (progress.episode + 1).saturating_sub(saturation.memory() as u64);
                for n in first.max(1)..=progress.episode {
                    if let Some(head) = reader.head(n)? {
                        saturation.add(head.reward);
                    }
                }
            }
            self.journal.n_rows = progress.row;
            self.journal.n_episodes = progress.episode;
            self.journal.last_checkpoint = Some((step, name.clone()));
        }
        self.journal.event(Event::Restored { checkpoint: name, step, row, episode })?;
        for message in warnings {
            self.journal.event(Event::Warning { message })?;
        }
        Ok(is_restored)
    }

    /// Trains to the end. One that was restored stands where an update has just been made.
    fn train(mut self, is_restored: bool, control: &Receiver<Heard>) -> Result<bool> {
        let mut is_updated = is_restored;
        let reason = loop {
            if !is_updated && !self.learn()? {
                return Ok(false);
            }
            is_updated = false;
            let end = if self.learner.is_done() {
                Some(DoneReason::Completed)
            } else if self.saturation.as_ref().is_some_and(Saturation::is_reached) {
                Some(DoneReason::Saturated)
            } else {
                None
            };
            self.save_and_measure(end.is_some())?;
            if let Some(reason) = end {
                break reason;
            }
            while let Some((_, tunable, value)) =
                self.tunes.pop_front_if(|(step, ..)| *step <= self.learner.step())
            {
                self.apply(tunable, value);
            }
            if let Some(reason) = self.obey(control)? {
                break reason;
            }
        };
        let checkpoint = self.save()?;
        self.journal.event(Event::Done {
            reason,
            step: self.learner.step(),
            weights_sha256: self.learner.policy().sha256(),
            checkpoint,
        })?;
        Ok(true)
    }

    /// Makes one update and records it. Returns whether its figures make sense.
    fn learn(&mut self) -> Result<bool> {
        let started = Instant::now();
        let step_before = self.learner.step();
        let mut update = self.learner.update(&mut |_| {});
        let seconds = started.elapsed().as_secs_f64();
        let fps = (update.step - step_before) as f64 / seconds.max(1e-9);
        self.journal.record(&mut update, fps)?;
        if let Some(saturation) = &mut self.saturation {
            update.episodes.iter().for_each(|end| saturation.add(end.reward));
        }
        self.journal.log(&update, fps);
        if let Some((metric, value)) = update.scalars.iter().find(|(_, value)| !value.is_finite()) {
            let message = format!(
                "{} became {value} at step {}; try a lower learning rate",
                metric.name(),
                update.step
            );
            let message = match self.learner.fault() {
                Some(fault) => {
                    let folder = self.dir.path().join(FAULT);
                    fs::create_dir_all(&folder).map_err(StoreError::io(&folder))?;
                    write_beside(&folder.join("batch.safetensors"), &fault.to_bytes())?;
                    write_beside(&folder.join("weights.safetensors"), &fault.weights)?;
                    format!(
                        "{message}; the minibatch of update {} and the weights are in {FAULT}/",
                        fault.update
                    )
                }
                None => message,
            };
            self.journal.event(Event::Error { message })?;
            return Ok(false);
        }
        Ok(true)
    }

    /// Saves and measures the policy where that is due, as it is at the end.
    fn save_and_measure(&mut self, is_end: bool) -> Result<()> {
        let step = self.learner.step();
        if self.schedule.checkpoint_is_due(step, Instant::now()) || is_end {
            self.save()?;
        }
        if !self.schedule.evaluation_is_due(step) && !is_end {
            return Ok(());
        }
        let plan = &self.config.evaluation;
        let episodes = if is_end { plan.final_episodes } else { plan.episodes };
        self.journal.event(Event::EvaluationStarted { step, episodes })?;
        let outcome = evaluate(
            &self.learner.policy(),
            &self.config.env_id,
            &self.config.env,
            episodes,
            self.config.seeds.seed_base,
        )?;
        let summary = outcome.summary(step);
        self.film(step, outcome, is_end)?;
        self.journal.metrics(step, metric_values(&summary), &[])?;
        let is_best = self.best.is_none_or(|(best, _)| summary.mean >= best);
        if is_best {
            self.best = Some((summary.mean, step));
        }
        self.journal.event(Event::EvaluationComplete(summary))?;
        if is_best {
            let name = self.save()?;
            checkpoint::point(&self.dir, Alias::Best, &name)?;
        }
        Ok(())
    }

    /// Has the first episode of an evaluation filmed, if there is time for it, and keeps the films
    /// that were made since. At the end it waits for the last one.
    fn film(&mut self, step: u64, mut outcome: Outcome, is_end: bool) -> Result<()> {
        let Some(camera) = self.camera.take() else { return Ok(()) };
        let (seed, actions) = (outcome.seeds[0], outcome.actions[0].take());
        let scenario = Scenario { step, seed, actions };
        let made = if is_end {
            camera.finish(scenario)
        } else {
            camera.offer(scenario);
            let made = camera.take();
            self.camera = Some(camera);
            made
        };
        for Made { step, film } in made {
            let name = format!("eval_step_{step:09}.mp4");
            let kept = film.and_then(|film| {
                film::keep(&self.dir.path().join(discovery::FILMS.folder), &name, &film)?;
                let keep = self.config.retention.keep_videos;
                let pruned = discovery::turn_over_films(&self.dir, &name, keep)?;
                Ok((discovery::note_of_film(&self.dir, &name)?, pruned))
            });
            match kept {
                Ok((new, pruned)) => {
                    if let Some(new) = new {
                        let artifacts = vec![new];
                        self.journal.event(Event::ArtifactsAvailable { artifacts, count: 1 })?;
                    }
                    for pruned in pruned {
                        self.journal.event(Event::ArtifactPruned(pruned))?;
                    }
                }
                // A film is no reason to end a training.
                Err(error) => {
                    let message =
                        format!("There is no film of the evaluation at step {step}: {error}");
                    self.journal.event(Event::Warning { message })?;
                }
            }
        }
        Ok(())
    }
}

impl Steered for Worker {
    fn config(&self) -> &RunConfig {
        &self.config
    }

    fn journal(&mut self) -> &mut Journal {
        &mut self.journal
    }

    fn step(&self) -> u64 {
        self.learner.step()
    }

    fn apply(&mut self, tunable: Tunable, value: f64) -> f64 {
        match tunable {
            Tunable::Learner(knob) => self.learner.tune(knob, value).unwrap_or(f64::NAN),
            Tunable::EvaluationEvery => {
                self.schedule.evaluate_anew(self.learner.step(), value as u64) as f64
            }
        }
    }

    /// Writes what is still being measured of the network as it is: before a pause.
    fn settle(&mut self) -> Result<()> {
        Ok(())
    }

    /// Saves a checkpoint unless this step has one, and returns its name.
    fn save(&mut self) -> Result<String> {
        let step = self.learner.step();
        if let Some((saved, name)) = &self.journal.last_checkpoint
            && *saved == step
        {
            return Ok(name.clone());
        }
        // The rows that the checkpoint counts come first.
        self.journal.sync()?;
        let state = self.learner.state();
        let progress = Progress {
            row: self.journal.n_rows,
            episode: state.n_episodes(),
            next_checkpoint: self.schedule.next_checkpoint,
            evaluate_every: self.schedule.evaluate_every,
            next_evaluation: self.schedule.next_evaluation,
            best: self.best,
        };
        let policy = self.learner.policy();
        let name = checkpoint::save(&self.dir, &self.config.env_id, &policy, &state, progress)?;
        self.marks.advance(&self.data)?;
        let pinned = self.marks.pinned_checkpoints.get(&self.id).cloned().unwrap_or_default();
        for pruned in checkpoint::prune(&self.dir, &self.config.retention, &pinned)? {
            self.journal.event(Event::ArtifactPruned(pruned))?;
        }
        self.journal.last_checkpoint = Some((step, name.clone()));
        let weights_sha256 = policy.sha256();
        let saved = Event::CheckpointSaved { step, name: name.clone(), path: None, weights_sha256 };
        self.journal.event(saved)?;
        Ok(name)
    }
}

/// A training that people steer while it goes on.
pub(crate) trait Steered {
    /// What it was told.
    fn config(&self) -> &RunConfig;

    /// Where it writes what happens.
    fn journal(&mut self) -> &mut Journal;

    /// Environment steps so far.
    fn step(&self) -> u64;

    /// Changes a setting from the next update on and returns what it was.
    fn apply(&mut self, tunable: Tunable, value: f64) -> f64;

    /// Writes what is still being measured of the network as it is: before a pause.
    fn settle(&mut self) -> Result<()> {
        Ok(())
    }

    /// Saves a checkpoint unless this step has one, and returns its name.
    fn save(&mut self) -> Result<String>;

    /// Does what was asked since the last update. While it is paused it waits here, and hears of
    /// the end of its supervisor all the same. Returns why to end, if it should.
    fn obey(&mut self, control: &Receiver<Heard>) -> Result<Option<DoneReason>> {
        let mut is_paused = false;
        loop {
            let next = if is_paused {
                control.recv().map_err(|_| TryRecvError::Disconnected)
            } else {
                control.try_recv()
            };
            let ControlLine { seq, command, by, .. } = match next {
                Ok(Heard::Control(line)) => *line,
                Ok(Heard::Warning { warning }) => {
                    self.journal().event(Event::Warning { message: warning })?;
                    continue;
                }
                Err(TryRecvError::Empty) => return Ok(None),
                Err(TryRecvError::Disconnected) => return Ok(Some(DoneReason::Orphaned)),
            };
            let step = self.step();
            match &command {
                Command::Pause if !is_paused => {
                    is_paused = true;
                    self.settle()?;
                    self.journal().event(Event::Paused { step })?;
                }
                Command::Resume if is_paused => {
                    is_paused = false;
                    self.journal().event(Event::Resumed { step })?;
                }
                Command::Checkpoint => _ = self.save()?,
                Command::Tune { path, value } => self.tune(path, *value, by.clone())?,
                Command::Stop | Command::Pause | Command::Resume => {}
                // The supervisor ends this process; who watches is no matter of the log.
                Command::Terminate | Command::Watch { .. } => continue,
            }
            let is_stop = command == Command::Stop;
            if seq == 0 {
                // The supervisor's own: a limit is reached, and `by` says which.
                self.journal().event(Event::Warning { message: by })?;
                return Ok(Some(DoneReason::Stopped));
            }
            self.journal().event(Event::ControlAck { control: seq, command, step })?;
            if is_stop {
                return Ok(Some(DoneReason::Stopped));
            }
        }
    }

    /// Changes a setting from the next update on, after a checkpoint.
    fn tune(&mut self, path: &str, value: f64, by: String) -> Result<()> {
        let tunable = match self.config().tunable(path, value) {
            Ok(tunable) => tunable,
            // Whoever asked has checked the same; this is the last door.
            Err(error) => {
                return self.journal().event(Event::Warning { message: error.to_string() });
            }
        };
        self.save()?;
        let step = self.step();
        let old = self.apply(tunable, value);
        let path = tunable.path().to_owned();
        self.journal().event(Event::TuneApplied { path, old: Some(old), new: value, by, step })
    }
}

/// Prints a line for the log, which the supervisor keeps. A reader that is gone is no error here:
/// the worker hears of that by its standard input.
fn print(line: &str) {
    _ = writeln!(io::stdout(), "{line}");
}

/// What comes from the supervisor.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Heard {
    /// A control line, verified.
    Control(Box<ControlLine>),
    /// Something for the event log, which this process alone writes.
    Warning { warning: String },
}

/// Reads control lines in the background; the channel closes with standard input.
pub(crate) fn listen() -> Receiver<Heard> {
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

/// What a kill costs at most, however slow a training is: checkpoints are counted in steps, of which a
/// large network makes few.
const UNSAVED_AT_MOST: Duration = Duration::from_secs(60);

/// When the next checkpoint and the next evaluation are due.
pub(crate) struct Schedule {
    checkpoint_every: u64,
    pub(crate) next_checkpoint: u64,
    saved_at: Instant,
    pub(crate) evaluate_every: u64,
    pub(crate) next_evaluation: u64,
}

impl Schedule {
    pub(crate) fn new(config: &RunConfig) -> Self {
        let checkpoint_every = config.retention.checkpoint_every_steps;
        let evaluate_every = config.evaluation.every_steps;
        Self {
            checkpoint_every,
            // The first update is kept too: there is something to look at from the first second.
            next_checkpoint: 1,
            saved_at: Instant::now(),
            evaluate_every,
            next_evaluation: evaluate_every,
        }
    }

    /// Whether to save now, which this counts as done.
    pub(crate) fn checkpoint_is_due(&mut self, step: u64, now: Instant) -> bool {
        let is_late = now.saturating_duration_since(self.saved_at) >= UNSAVED_AT_MOST;
        let is_due = is_due(step, self.checkpoint_every, &mut self.next_checkpoint) || is_late;
        if is_due {
            self.saved_at = now;
        }
        is_due
    }

    /// Evaluates at every multiple of `every` from `step` on; returns what it was until now.
    pub(crate) fn evaluate_anew(&mut self, step: u64, every: u64) -> u64 {
        self.next_evaluation = (step / every + 1) * every;
        std::mem::replace(&mut self.evaluate_every, every)
    }

    /// Whether an evaluation will be due, which this does not count as made.
    pub(crate) fn awaits_evaluation(&self, step: u64) -> bool {
        step >= self.next_evaluation
    }

    pub(crate) fn evaluation_is_due(&mut self, step: u64) -> bool {
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
pub(crate) struct Journal {
    attempt: u32,
    events: Appender,
    metrics: Appender,
    episodes: EpisodeWriter,
    /// The rows once more, for TensorBoard.
    event_file: EventFile,
    records: Records,
    pub(crate) n_rows: u64,
    /// Training episodes that have ended.
    pub(crate) n_episodes: u64,
    n_updates: u64,
    last_sync: Instant,
    last_log: Option<Instant>,
    pub(crate) last_checkpoint: Option<(u64, String)>,
}

impl Journal {
    pub(crate) fn open(dir: &RunDir, attempt: u32, shard_target_mb: u32) -> Result<Self> {
        Ok(Self {
            attempt,
            events: Appender::open(dir.events_path())?,
            metrics: Appender::open(dir.metrics_path())?,
            episodes: EpisodeWriter::open_with(dir, u64::from(shard_target_mb) << 20)?,
            event_file: EventFile::new(dir, attempt),
            records: Records::default(),
            n_rows: 0,
            n_episodes: 0,
            n_updates: 0,
            last_sync: Instant::now(),
            last_log: None,
            last_checkpoint: None,
        })
    }

    /// Makes everything but events durable: the episodes first, so that no row of metrics speaks
    /// of one that is not there.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.episodes.sync()?;
        self.metrics.sync()?;
        self.event_file.append(&self.records.take());
        self.last_sync = Instant::now();
        Ok(())
    }

    /// Notes which checkpoint the episodes from here on are played with.
    pub(crate) fn after_checkpoint(&mut self, step: u64, name: &str) {
        self.last_checkpoint = Some((step, name.to_owned()));
    }

    /// Records an event, durably, with all episodes and metrics before it.
    pub(crate) fn event(&mut self, event: Event) -> Result<()> {
        self.sync()?;
        if let Event::Restored { checkpoint, step, .. } = &event {
            self.records.restored((!checkpoint.is_empty()).then_some(*step));
        }
        print(&event.message());
        self.events.append(&EventLine { attempt: self.attempt, t: unix_now(), event })?;
        Ok(self.events.sync()?)
    }

    /// Says how the training gets on, in a line of the log.
    pub(crate) fn log(&mut self, update: &Update, fps: f64) {
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

    /// Records an update with its pace: its episodes, whose actions it takes, and a row of metrics.
    pub(crate) fn record(&mut self, update: &mut Update, fps: f64) -> Result<()> {
        self.episodes(&mut update.episodes)?;
        self.n_episodes = update.episodes.last().map_or(self.n_episodes, |end| end.episode);
        let counted = [(Metric::StepsPerSecond, fps), (Metric::Episodes, self.n_episodes as f64)];
        let scalars = update.scalars.iter().copied().chain(counted);
        let scalars = scalars.map(|(metric, value)| (metric.name().to_owned(), value));
        let own = update.episode_metrics.iter();
        let own = own.map(|(name, value)| (format!("episode/{name}"), *value));
        self.metrics(update.step, scalars.chain(own), &update.episodes)
    }

    /// Records what was done in episodes, which it takes out of them; to be called before the row
    /// of metrics that counts them.
    pub(crate) fn episodes(&mut self, ends: &mut [EpisodeEnd]) -> Result<()> {
        let t = unix_now();
        let checkpoint_step = self.last_checkpoint.as_ref().map(|(step, _)| *step);
        for end in ends {
            let head = EpisodeHead {
                episode: end.episode,
                attempt: self.attempt,
                lane: end.lane,
                seed: Some(end.seed),
                reward: end.reward,
                length: end.length,
                step: end.step,
                terminated: end.terminated,
                truncated: end.truncated,
                checkpoint_step,
                t,
                foreign_id: None,
            };
            self.episodes.add(&head, &body_of(end.actions.take()))?;
        }
        Ok(self.episodes.flush()?)
    }

    /// Records a row of metrics and the episodes that ended.
    pub(crate) fn metrics(
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
            reward: episodes
                .iter()
                .map(|end| Some(end.reward).filter(|reward| reward.is_finite()))
                .collect(),
            length: episodes.iter().map(|end| end.length).collect(),
            timestep: episodes.iter().map(|end| end.step).collect(),
            seed: episodes.iter().map(|end| Some(end.seed)).collect(),
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
        self.records.row(&line);
        if self.records.is_batch() {
            self.event_file.append(&self.records.take());
        }
        if self.last_sync.elapsed() >= GROUP_COMMIT { self.sync() } else { Ok(()) }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.event_file.append(&self.records.take());
    }
}

#[cfg(test)]
mod tests;
