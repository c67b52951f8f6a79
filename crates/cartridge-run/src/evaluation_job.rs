//! Evaluations as runs of their own: asked for, queued, carried out by a supervised process, and
//! seen while they go on.
//!
//! Such a run is of kind `eval`; its configuration is a [`Job`], whose `run` is what it evaluates.
//! It holds a copy of the policy, so that it does not matter what becomes of the checkpoint while
//! it waits. Every episode is recorded, the result is in `summary.json`, and a film, where one is
//! wanted, in `videos/`. The run that is evaluated knows nothing of it: its own process alone
//! writes its events, so whoever shows them looks for its evaluations.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use cartridge_games::registry::{is_game, make_env};
use cartridge_learn::policy::Policy;
use cartridge_learn::report::EpisodeEnd;
use cartridge_store::data_dir::write_beside;
use cartridge_store::{
    ArtifactKind, Command, DataDir, DoneReason, Evaluated, Evaluation, Event, Manifest, RunDir,
    RunId, RunKind, StoreError,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::audit::Deed;
use crate::checkpoint;
use crate::clock::unix_now;
use crate::config::{ConfigError, Resources};
use crate::error::{Result, RunError};
use crate::evaluation::{Heard, Manner, Outcome, metric_values, play};
use crate::film::{self, Reel, Take};
use crate::launch::Launcher;
use crate::priority;
use crate::steer::{self, By};
use crate::worker::{self, Journal};

/// The most episodes of one evaluation.
pub const MAX_EPISODES: u32 = 10_000;

/// The policy, in the evaluation's own folder.
pub(crate) const POLICY: &str = "policy.safetensors";

/// What was found, in the evaluation's own folder.
const SUMMARY: &str = "summary.json";

/// Films, in the evaluation's own folder.
const VIDEOS: &str = "videos";

/// Episodes that have ended are told at the latest after this time.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// Size of a file of recorded episodes.
const SHARD_MB: u32 = 128;

/// The longest film of an evaluation; episodes beyond it are recorded all the same.
const MOST_SECONDS: u32 = 120;

/// What somebody asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Which episodes.
    pub episodes: WantedEpisodes,
    /// Whether the policy does what it holds best, and not what chance makes of it.
    pub is_deterministic: bool,
    /// Whether a film is made.
    pub with_video: bool,
    /// Which checkpoint: `latest`, `best`, a folder, or a number of steps; the newest when left out.
    pub checkpoint: Option<String>,
}

/// Which episodes are wanted.
#[derive(Clone, Debug, PartialEq)]
pub enum WantedEpisodes {
    /// So many, with seeds that follow from a number.
    Derived {
        /// How many.
        episodes: u32,
        /// The number.
        seed: u64,
    },
    /// One for each of these seeds, which `reset` gets as they are.
    Given(Vec<u64>),
}

/// What an evaluation is told: the configuration in its manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Always true: a supervisor carries it out, and not the command that made it.
    pub job: bool,
    /// The run that is evaluated.
    pub run: RunId,
    /// Folder of the checkpoint that is measured.
    pub checkpoint: String,
    /// Its environment steps.
    pub step: u64,
    /// How many episodes.
    pub episodes: u32,
    /// What their seeds follow from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Their seeds, where they were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<Vec<u64>>,
    /// Whether the policy does what it holds best.
    pub deterministic: bool,
    /// Whether a film is made.
    pub video: bool,
    /// Id of the environment.
    pub env_id: String,
    /// Options of the environment.
    pub env: Map<String, Value>,
    /// What it needs of the machine.
    pub resources: Resources,
}

impl Job {
    /// What the evaluation with this manifest is told.
    pub fn of(manifest: &Manifest) -> Result<Self> {
        serde_json::from_value(manifest.config.clone()).map_err(|error| {
            let path = PathBuf::from(manifest.id.as_str()).join("run.json");
            StoreError::Damaged { path, detail: error.to_string() }.into()
        })
    }

    fn manner(&self) -> Manner {
        let mut manner = Manner::greedy(self.episodes, self.seed.unwrap_or(0));
        if let Some(seeds) = &self.seeds {
            manner.seeds.clone_from(seeds);
        }
        manner.is_deterministic = self.deterministic;
        manner
    }

    fn video_name(&self) -> String {
        format!("{}_{}.mp4", self.run, self.checkpoint)
    }
}

/// What an evaluation found: `summary.json` in its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The evaluation.
    pub run_id: RunId,
    /// The run that was evaluated; none for a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluates: Option<RunId>,
    /// Folder of the checkpoint that was measured; none for a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// Id of the environment.
    pub env_id: String,
    /// Whether the policy did what it held best.
    pub deterministic: bool,
    /// Mean, spread and interval.
    #[serde(flatten)]
    pub result: Evaluation,
    /// Standard deviation of the lengths.
    pub std_length: f64,
    /// Episodes in which the task itself ended.
    pub terminated: u32,
    /// Episodes that were cut short.
    pub truncated: u32,
    /// Return of each episode.
    pub returns: Vec<f64>,
    /// Steps of each episode.
    pub lengths: Vec<u32>,
    /// What each episode was reset with: `env.reset(seed=...)` begins the same in Gymnasium.
    pub seeds: Vec<u64>,
    /// Whether the task itself ended in each episode.
    pub ends: Vec<bool>,
    /// The film, below the evaluation's folder.
    pub video: Option<String>,
}

impl Summary {
    /// What `outcome` comes to.
    pub fn new(
        evaluation: &Manifest,
        is_deterministic: bool,
        step: u64,
        outcome: &Outcome,
    ) -> Self {
        let lengths: Vec<f64> = outcome.lengths.iter().map(|&length| f64::from(length)).collect();
        Self {
            run_id: evaluation.id.clone(),
            evaluates: evaluation.evaluates(),
            checkpoint: evaluation.config["checkpoint"].as_str().map(str::to_owned),
            env_id: evaluation.env_id.clone(),
            deterministic: is_deterministic,
            result: outcome.summary(step),
            std_length: crate::evaluation::spread(&lengths).1,
            terminated: outcome.terminated,
            truncated: outcome.truncated,
            returns: outcome.returns.clone(),
            lengths: outcome.lengths.clone(),
            seeds: outcome.seeds.clone(),
            ends: outcome.ends.clone(),
            video: None,
        }
    }

    /// What the evaluation in a folder found, once it has.
    pub fn read(dir: &RunDir) -> Result<Option<Self>> {
        let path = dir.path().join(SUMMARY);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io(&path)(error).into()),
        };
        let damaged = |error: serde_json::Error| StoreError::Damaged {
            path: path.clone(),
            detail: error.to_string(),
        };
        Ok(Some(serde_json::from_slice(&text).map_err(damaged)?))
    }

    /// Puts it into the evaluation's folder.
    pub fn write(&self, dir: &RunDir) -> Result<()> {
        let text = serde_json::to_vec_pretty(self).expect("a summary is plain data");
        Ok(write_beside(&dir.path().join(SUMMARY), &text)?)
    }
}

/// Makes the folder of an evaluation, which is queued until it is started.
pub fn create(
    data: &DataDir,
    launcher: &Launcher,
    subject: &Manifest,
    wanted: Wanted,
    by: By<'_>,
) -> Result<Manifest> {
    if subject.kind != RunKind::Train {
        return Err(RunError::NoPolicy(subject.id.clone()));
    }
    let (episodes, seed, seeds) = match wanted.episodes {
        WantedEpisodes::Derived { episodes, seed } => (episodes, Some(seed), None),
        WantedEpisodes::Given(seeds) => {
            (u32::try_from(seeds.len()).unwrap_or(u32::MAX), None, Some(seeds))
        }
    };
    if !(1..=MAX_EPISODES).contains(&episodes) {
        let key = if seeds.is_some() { "seeds" } else { "episodes" };
        let detail = format!("an evaluation has 1 to {MAX_EPISODES} episodes, not {episodes}");
        return Err(ConfigError::BadValue { key: key.to_owned(), detail }.into());
    }
    let (checkpoint, step, policy) = find_policy(data, subject, wanted.checkpoint.as_deref())?;
    let job = Job {
        job: true,
        run: subject.id.clone(),
        checkpoint,
        step,
        episodes,
        seed,
        seeds,
        deterministic: wanted.is_deterministic,
        video: wanted.with_video,
        env_id: subject.env_id.clone(),
        env: subject.config["env"].as_object().cloned().unwrap_or_default(),
        resources: Resources::default(),
    };
    let config = serde_json::to_value(&job).expect("a job is plain data");
    let prepare = |dir: &RunDir| write_beside(&dir.path().join(POLICY), &policy.to_safetensors());
    let (_, manifest) = RunDir::create_prepared(data, prepare, |id| Manifest {
        format: Manifest::FORMAT,
        id,
        kind: RunKind::Eval,
        name: format!("Evaluation of {} at step {step}", subject.id),
        env_id: subject.env_id.clone(),
        config,
        created_at: unix_now(),
        cartridge_version: launcher.version.clone(),
        parent: None,
        restart: None,
        command: None,
        cwd: None,
        environment: Default::default(),
        limits: Default::default(),
        experiment_id: None,
        group: None,
        track: None,
    })?;
    let of = json!({ "run": job.run, "checkpoint": job.checkpoint, "step": step });
    let new = json!({ "episodes": episodes, "video": job.video });
    steer::record(data, by, Deed::Evaluate, &manifest.id, of, new)?;
    Ok(manifest)
}

/// The checkpoint that is meant, its steps and its policy.
fn find_policy(
    data: &DataDir,
    subject: &Manifest,
    wanted: Option<&str>,
) -> Result<(String, u64, Policy)> {
    if is_game(&subject.env_id) {
        return Err(RunError::MeasuredByGames(subject.env_id.clone()));
    }
    let (dir, id) = (data.run(&subject.id), &subject.id);
    let wanted = wanted.unwrap_or("latest");
    let mut n_tries = 0;
    loop {
        if wanted == "latest" && checkpoint::names(&dir)?.is_empty() {
            return Err(RunError::NoCheckpoint(id.clone()));
        }
        let name = checkpoint::find(&dir, id, wanted)?;
        match checkpoint::load_named(&dir, id, &name) {
            Ok((found, policy)) => return Ok((name, found.step, policy)),
            // A training that goes on may have made room in this very moment; the alias points to
            // the next one by now.
            Err(_) if n_tries < 3 => n_tries += 1,
            Err(error) => return Err(error),
        }
    }
}

/// The policy that an evaluation measures: its own copy.
pub(crate) fn policy(dir: &RunDir, id: &RunId) -> Result<Policy> {
    let path = dir.path().join(POLICY);
    let bytes = fs::read(&path).map_err(StoreError::io(&path))?;
    Policy::from_safetensors(&bytes).map_err(|source| RunError::Policy {
        run: id.clone(),
        name: POLICY.to_owned(),
        source,
    })
}

/// Carries out an evaluation: the process that its supervisor started. Returns whether it ended
/// well.
pub fn work(data: &DataDir, id: &RunId, attempt: u32) -> Result<bool> {
    let dir = data.run(id);
    let manifest = dir.manifest()?;
    let job = Job::of(&manifest)?;
    priority::stand_back();
    let policy = policy(&dir, id)?;
    let mut journal = Journal::open(&dir, attempt, SHARD_MB)?;
    journal.after_checkpoint(job.step, &job.checkpoint);
    journal.event(Event::EvaluationStarted { step: job.step, episodes: job.episodes })?;
    let bench = Bench {
        dir,
        manifest,
        job,
        journal,
        control: worker::listen(),
        n_recorded: 0,
        ended: BTreeSet::new(),
        told_at: Instant::now(),
        end: None,
    };
    bench.carry_out(&policy)
}

/// An evaluation in progress.
struct Bench {
    dir: RunDir,
    manifest: Manifest,
    job: Job,
    journal: Journal,
    control: Receiver<worker::Heard>,
    /// Episodes that are recorded: the first so many.
    n_recorded: usize,
    /// Episodes that have ended and are not recorded, because one before them has not.
    ended: BTreeSet<usize>,
    told_at: Instant,
    /// Why it is to end before its time.
    end: Option<DoneReason>,
}

impl Bench {
    fn carry_out(mut self, policy: &Policy) -> Result<bool> {
        let job = self.job.clone();
        let mut hear = |heard: Heard, outcome: &Outcome| {
            match heard {
                Heard::End(place) => _ = self.ended.insert(place),
                Heard::Steps => {
                    self.obey()?;
                    if self.told_at.elapsed() >= TELL_EVERY {
                        self.tell(outcome)?;
                    }
                }
            }
            Ok(self.end.is_none())
        };
        let outcome = play(policy, &job.env_id, &job.env, &job.manner(), &mut hear)?;
        if let Some(outcome) = outcome {
            self.tell(&outcome)?;
            let mut summary = Summary::new(&self.manifest, job.deterministic, job.step, &outcome);
            self.journal.metrics(job.step, metric_values(&summary.result), &[])?;
            summary.write(&self.dir)?;
            if job.video {
                summary.video = self.film(&outcome)?;
                summary.write(&self.dir)?;
            }
            self.journal.event(Event::EvaluationComplete(summary.result))?;
        }
        let reason = self.end.unwrap_or(DoneReason::Completed);
        let (weights_sha256, checkpoint) = (String::new(), String::new());
        self.journal.event(Event::Done { reason, step: 0, weights_sha256, checkpoint })?;
        Ok(true)
    }

    /// Records the episodes that have ended, in the order of their numbers.
    fn tell(&mut self, outcome: &Outcome) -> Result<()> {
        self.told_at = Instant::now();
        let mut ends = Vec::new();
        while self.ended.remove(&self.n_recorded) {
            let place = self.n_recorded;
            self.n_recorded += 1;
            ends.push(EpisodeEnd {
                episode: self.n_recorded as u64,
                lane: 0,
                seed: outcome.seeds[place],
                step: self.job.step,
                reward: outcome.returns[place],
                length: outcome.lengths[place],
                terminated: outcome.ends[place],
                truncated: outcome.cuts[place],
                actions: outcome.actions[place].clone(),
                metrics: Vec::new(),
            });
        }
        if ends.is_empty() {
            return Ok(());
        }
        self.journal.episodes(&mut ends)?;
        self.journal.metrics(self.job.step, std::iter::empty(), &ends)?;
        // Whoever watches waits for them.
        self.journal.sync()
    }

    /// Does what was asked since the last step; an evaluation can only be ended.
    fn obey(&mut self) -> Result<()> {
        loop {
            match self.control.try_recv() {
                Ok(worker::Heard::Warning { warning }) => {
                    self.journal.event(Event::Warning { message: warning })?;
                }
                Ok(worker::Heard::Control(line)) if line.command == Command::Stop => {
                    self.end = Some(DoneReason::Stopped);
                    let event = if line.seq == 0 {
                        // The supervisor's own: a limit is reached, and `by` says which.
                        Event::Warning { message: line.by }
                    } else {
                        let (control, command) = (line.seq, line.command);
                        Event::ControlAck { control, command, step: self.job.step }
                    };
                    self.journal.event(event)?;
                }
                Ok(worker::Heard::Control(_)) => {}
                Err(TryRecvError::Empty) => return Ok(()),
                Err(TryRecvError::Disconnected) => {
                    self.end.get_or_insert(DoneReason::Orphaned);
                    return Ok(());
                }
            }
        }
    }

    /// Makes the film, unless it is ended meanwhile; a film that cannot be made is no reason to lose
    /// the rest. Returns its place.
    fn film(&mut self, outcome: &Outcome) -> Result<Option<String>> {
        match self.shoot(outcome) {
            Ok(Some(file)) => {
                let name = self.job.video_name();
                film::keep(&self.dir.path().join(VIDEOS), &name, &file)?;
                Ok(Some(format!("{VIDEOS}/{name}")))
            }
            Ok(None) => Ok(None),
            Err(error) => {
                let message = format!("There is no film: {error}");
                self.journal.event(Event::Warning { message })?;
                Ok(None)
            }
        }
    }

    fn shoot(&mut self, outcome: &Outcome) -> Result<Option<Vec<u8>>> {
        let Job { env_id, env, .. } = self.job.clone();
        // What cannot be recorded now is when it is asked next.
        film_of(&env_id, &env, outcome, &mut || self.obey().is_err() || self.end.is_none())
    }
}

/// The episodes of an evaluation as a film, one after the other, for two minutes at most. `go_on`
/// is asked at every step; when it says no, there is none.
pub fn film_of(
    env_id: &str,
    options: &Map<String, Value>,
    outcome: &Outcome,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Vec<u8>>> {
    let spec = make_env(env_id, options)?.spec();
    let mut reel = Reel::new(spec.frames_per_second, MOST_SECONDS);
    let n_episodes = outcome.seeds.len();
    for place in 0..n_episodes {
        if reel.is_full() {
            break;
        }
        let name = format!("episode {} of {n_episodes}", place + 1);
        let (seed, actions) = (outcome.seeds[place], &outcome.actions[place]);
        if !reel.add_episode(env_id, options, Take { name: &name, seed, actions }, go_on)? {
            return Ok(None);
        }
    }
    Ok(Some(reel.finish()?))
}

/// The evaluations of a data folder, newest first, as their files say: of one run or of all; of
/// policies, matches, tournaments, or all of them.
pub fn list(data: &DataDir, of: Option<&RunId>, what: Option<Evaluated>) -> Result<Vec<Manifest>> {
    let mut found = Vec::new();
    for id in data.run_ids()? {
        // A folder without a manifest is being made, or was never finished.
        let Ok(manifest) = data.run(&id).manifest() else { continue };
        let is_wanted = of.is_none_or(|run| manifest.evaluates().as_ref() == Some(run))
            && (what.is_none() || what == manifest.evaluated());
        if manifest.kind == RunKind::Eval && is_wanted {
            found.push(manifest);
        }
    }
    found.sort_by(|a, b| b.created_at.total_cmp(&a.created_at).then_with(|| b.id.cmp(&a.id)));
    Ok(found)
}

/// How many films of the evaluations there are, and how many there ever were.
pub fn kept_films(data: &DataDir, evaluations: &[Manifest]) -> (u64, u64) {
    let lists = evaluations.iter().filter_map(|evaluation| {
        cartridge_store::ArtifactList::read(&data.run(&evaluation.id)).ok().flatten()
    });
    lists.fold((0, 0), |(kept, total), list| {
        let (own_kept, own_total) = list.kept(ArtifactKind::Video);
        (kept + own_kept, total + own_total)
    })
}

#[cfg(test)]
mod tests;
