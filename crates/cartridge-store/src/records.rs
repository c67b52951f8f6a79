//! What a line of each file of a run says.
//!
//! | file | line | writer |
//! |---|---|---|
//! | `run.json` | [`Manifest`] (the whole file) | whoever makes the run |
//! | `events.jsonl` | [`EventLine`] | the worker; for foreign trainers the supervisor |
//! | `metrics.jsonl` | [`MetricLine`] | the worker; for foreign trainers the supervisor |
//! | `supervisor.jsonl` | [`SupervisorLine`] | the supervisor |
//! | `control.jsonl` | [`ControlLine`] | the lab |
//!
//! Times are Unix seconds. JSON has no NaN: a number that is not finite is `null`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::artifacts::{ArtifactId, ArtifactKind};
use crate::experiments::GroupId;
use crate::run_dir::RunId;

/// What a run is: written once, before anything starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Format of the run folder.
    pub format: u32,
    /// Name of the run.
    pub id: RunId,
    /// What sort of run it is.
    pub kind: RunKind,
    /// For people: `Cart Pole, PPO, seed 42`.
    pub name: String,
    /// Id of the environment or game.
    pub env_id: String,
    /// The whole effective configuration.
    pub config: Value,
    /// When it was made.
    pub created_at: f64,
    /// Version of the product that made it.
    pub cartridge_version: String,
    /// The checkpoint of another run that it began from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// How it is started again by itself when it fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<Restart>,
    /// What a foreign trainer is started with: its program and arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// The folder in which a foreign trainer is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// Variables of the environment in which a foreign trainer is started, whoever starts it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// When its supervisor ends it.
    #[serde(default, skip_serializing_if = "Limits::is_none")]
    pub limits: Limits,
    /// The experiment that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment_id: Option<String>,
    /// The runs that it was made together with: several seeds of one configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupId>,
    /// The W&B server that is told of it as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub track: Option<Track>,
}

/// Where a run is told at a W&B server, as it was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Track {
    /// The server, without a slash at its end.
    pub base_url: String,
    /// Whose project; nothing where the server is to choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
    /// The project.
    pub project: String,
    /// The id of the run there.
    pub id: String,
    /// Environment steps of a window, by which rows are numbered.
    pub window_steps: u64,
}

/// Where a run is at a W&B server, as the server has said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WandbPage {
    /// The id of the run there.
    pub id: String,
    /// Its page for people.
    pub url: String,
    /// Whose project it is in.
    pub entity: String,
    /// The project.
    pub project: String,
    /// The server.
    pub base_url: String,
}

/// Where a fork began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parent {
    /// The run that it was forked from.
    pub run: RunId,
    /// Folder of the checkpoint below the parent's `checkpoints/`.
    pub checkpoint: String,
    /// Environment steps of the checkpoint.
    pub step: u64,
}

/// How a run is started again by itself when it fails or is lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Restart {
    /// How often at most.
    pub max: u32,
    /// Seconds before the first time; twice as long before every further one.
    pub backoff_s: f64,
}

impl Restart {
    /// Seconds before the attempt after `attempt`; none when it was the last.
    pub fn wait_s(&self, attempt: u32) -> Option<f64> {
        let n_before = attempt.saturating_sub(1);
        // A day is for ever.
        (n_before < self.max)
            .then(|| (self.backoff_s * 2_f64.powi(n_before.min(64).cast_signed())).min(86_400.0))
    }
}

/// When a supervisor ends its trainer, whatever the trainer would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// After so many seconds of an attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<f64>,
    /// After so many environment steps of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u64>,
    /// How many seconds it may take to save and end when it is asked to stop, where it should not
    /// be as long as whoever starts it allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_grace_s: Option<f64>,
}

impl Limits {
    /// Whether there are none.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Manifest {
    /// The newest format of run folders.
    pub const FORMAT: u32 = 1;

    /// The run that an evaluation measures; nothing for other runs, for matches, and for policies
    /// that come from elsewhere.
    pub fn evaluates(&self) -> Option<RunId> {
        let of = self.config["run"].as_str().filter(|_| self.kind == RunKind::Eval);
        of.and_then(|id| id.parse().ok())
    }

    /// What an evaluation is about; nothing for other runs.
    pub fn evaluated(&self) -> Option<Evaluated> {
        let is_contest = self.config["games"].is_u64();
        let evaluated = match self.config["tournament"].is_string() {
            _ if !is_contest => Evaluated::Policy,
            true => Evaluated::Tournament,
            false => Evaluated::Match,
        };
        (self.kind == RunKind::Eval).then_some(evaluated)
    }

    /// Whether a supervisor carries it, so that it can wait in the queue: a training, or an
    /// evaluation that is not carried out by the command that made it.
    pub fn is_supervised(&self) -> bool {
        match self.kind {
            RunKind::Train | RunKind::External => true,
            RunKind::Eval => self.config["job"] == true,
            RunKind::Human => false,
        }
    }
}

/// What sort of run it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// An agent is trained.
    Train,
    /// An agent is measured, or two players are compared.
    Eval,
    /// A person plays.
    Human,
    /// A program that is not ours trains an agent.
    External,
}

impl RunKind {
    /// The word in files and in the index.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Eval => "eval",
            Self::Human => "human",
            Self::External => "external",
        }
    }
}

/// What a run of kind `eval` is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Evaluated {
    /// A policy is measured.
    Policy,
    /// Two players are compared.
    Match,
    /// Several players are compared.
    Tournament,
}

/// A line of `events.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventLine {
    /// Which start of the trainer wrote it, from 1.
    pub attempt: u32,
    /// When.
    pub t: f64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What a trainer says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The environments are made.
    EnvironmentInitialized {
        /// Id of the environment.
        env_id: String,
        /// How many run side by side.
        n_envs: u32,
        /// What the trainer computes with: `avx512`, `avx2` or `baseline`; nothing in older runs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instruction_set: Option<String>,
    },
    /// The first update begins.
    TrainingStarted {
        /// Environment steps to train for; 0 where a foreign trainer has not said.
        total_timesteps: u64,
    },
    /// A foreign trainer said what it trains, and how.
    Configured(TrainerConfig),
    /// A foreign trainer named files or addresses of its own.
    ArtifactsNamed {
        /// Path or address of each, by what it is.
        artifacts: BTreeMap<String, String>,
    },
    /// A checkpoint is on disk.
    CheckpointSaved {
        /// Environment steps so far.
        step: u64,
        /// Folder below `checkpoints/`; of a foreign trainer's elsewhere the whole path.
        name: String,
        /// Where it is below the run's folder, unless that is below `checkpoints/`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// Hash of the weights; empty where a foreign trainer gave none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        weights_sha256: String,
    },
    /// The policy is being measured.
    EvaluationStarted {
        /// Environment steps so far.
        step: u64,
        /// How many episodes it will play.
        episodes: u32,
    },
    /// The policy was measured.
    EvaluationComplete(Evaluation),
    /// A control line took effect.
    ControlAck {
        /// Number of the control line.
        control: u64,
        /// What it asked for.
        command: Command,
        /// Environment steps so far.
        step: u64,
    },
    /// Stepping stopped because somebody asked; the process stays.
    Paused {
        /// Environment steps so far.
        step: u64,
    },
    /// Stepping goes on after a pause.
    Resumed {
        /// Environment steps so far.
        step: u64,
    },
    /// A setting was changed while training, after a checkpoint.
    TuneApplied {
        /// The full path of the setting.
        path: String,
        /// Its value until now; nothing where a foreign trainer never said.
        #[serde(default)]
        old: Option<f64>,
        /// Its value from the next update on.
        new: f64,
        /// Who asked.
        by: String,
        /// Environment steps so far.
        step: u64,
    },
    /// The trainer was started again and goes on from a checkpoint. What earlier attempts wrote
    /// beyond `row` and `episode` is superseded.
    Restored {
        /// Folder of the checkpoint below `checkpoints/`; empty for the very beginning.
        checkpoint: String,
        /// Environment steps of the checkpoint.
        step: u64,
        /// The last metric row that belongs to it.
        row: u64,
        /// The last episode that belongs to it.
        episode: u64,
    },
    /// Something that a person should know.
    Warning {
        /// In a sentence.
        message: String,
    },
    /// Something that ended the run.
    Error {
        /// In a sentence.
        message: String,
    },
    /// The trainer is about to exit on its own account.
    Done {
        /// Why.
        reason: DoneReason,
        /// Environment steps in all.
        step: u64,
        /// Hash of the final weights; empty where nothing was trained.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        weights_sha256: String,
        /// Folder of the final checkpoint below `checkpoints/`; empty where nothing was trained.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        checkpoint: String,
    },
    /// Two players are about to be compared.
    MatchStarted {
        /// How many games they will play.
        games: u32,
    },
    /// A game of a match is over.
    GamePlayed(GameRecord),
    /// Two players were compared.
    MatchComplete(MatchResult),
    /// Two players of a tournament were compared.
    PairingComplete {
        /// Number of the pairing, from 1.
        pairing: u32,
        /// The name of player A.
        a: String,
        /// The name of player B.
        b: String,
        /// How it went for A.
        #[serde(flatten)]
        result: MatchResult,
    },
    /// All players of a tournament were compared.
    TournamentComplete {
        /// How many players there were.
        players: u32,
        /// How many games they played.
        games: u32,
        /// The name of who took the greatest share of the points.
        leader: String,
    },
    /// What the run has learnt is the lab's best at its game from now on.
    Promoted {
        /// Who it is to others, such as `model:connect4@3`.
        player: String,
        /// Whom it played for that, and its share of the points; nothing where the place was empty.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        against: Option<(String, f64)>,
    },
    /// An action in a game that a person plays.
    Move {
        /// Number of the action in the game, from 0.
        ply: u32,
        /// Who acted.
        seat: u32,
        /// What was played.
        action: u32,
    },
    /// Actions in a game that a person plays are taken back.
    Undo {
        /// The first of them: the game goes on from here.
        ply: u32,
    },
    /// The person was told what to play.
    Hint {
        /// Number of the action that it is about.
        ply: u32,
        /// What to play.
        action: u32,
        /// Who says so.
        by: String,
    },
    /// A person begins an episode of an environment.
    EpisodeStarted {
        /// Number of the episode in the run, from 1.
        episode: u32,
        /// The number given to `reset`.
        seed: u64,
    },
    /// What a person did in an environment since the line before.
    Played(Played),
    /// Files that the run has made were found.
    ArtifactsAvailable {
        /// What was found, or the first of it.
        artifacts: Vec<ArtifactNote>,
        /// How many were found.
        count: u64,
    },
    /// A file that the run had made is gone.
    ArtifactPruned(Pruned),
}

/// An artifact in an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArtifactNote {
    /// Its name in the run.
    pub id: ArtifactId,
    /// What it is.
    pub kind: ArtifactKind,
    /// Where it is.
    pub path: String,
    /// Its bytes.
    pub size_bytes: u64,
}

/// An artifact that is kept no longer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pruned {
    /// What it was.
    #[serde(flatten)]
    pub artifact: ArtifactNote,
    /// How many of its kind the run still has.
    pub kept: u64,
    /// How many of its kind the run ever had.
    pub total: u64,
    /// Why.
    pub reason: String,
}

/// What a foreign trainer says of itself in its `config` line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainerConfig {
    /// The algorithm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algo: Option<String>,
    /// Id of the environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_id: Option<String>,
    /// The number that decides the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Environment steps to train for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_timesteps: Option<u64>,
    /// The commands that it obeys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<String>>,
    /// The settings that a fork of it may change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overrides_whitelist: Option<Vec<String>>,
    /// The checkpoint that it goes on from, when it was started again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<Box<RestoredFrom>>,
    /// Everything else that it was started with.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub args: Value,
}

/// The checkpoint that a foreign trainer goes on from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RestoredFrom {
    /// Where it is, below the run's folder.
    pub path: String,
    /// Its environment steps.
    pub step: u64,
}

/// A stretch of an episode that a person plays, and how the episode stands after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// Number of the episode in the run.
    pub episode: u32,
    /// Steps of the episode before these.
    pub step: u64,
    /// What was done, a step each: an index, or a list of numbers.
    pub actions: Vec<Value>,
    /// Sum of all rewards so far.
    pub total_reward: f64,
    /// Whether the task itself ended with the last of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub terminated: bool,
    /// Whether the time limit was reached with the last of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// How serious an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The ordinary course of things.
    Info,
    /// A person should look.
    Warning,
    /// Something failed.
    Error,
}

impl Event {
    /// How serious it is.
    pub fn level(&self) -> Level {
        match self {
            Self::Warning { .. } => Level::Warning,
            Self::Error { .. } => Level::Error,
            _ => Level::Info,
        }
    }

    /// Environment steps so far, where the event knows them.
    pub fn step(&self) -> Option<u64> {
        match self {
            Self::CheckpointSaved { step, .. }
            | Self::EvaluationStarted { step, .. }
            | Self::ControlAck { step, .. }
            | Self::Paused { step }
            | Self::Resumed { step }
            | Self::TuneApplied { step, .. }
            | Self::Restored { step, .. }
            | Self::Done { step, .. } => Some(*step),
            Self::EvaluationComplete(evaluation) => Some(evaluation.step),
            _ => None,
        }
    }

    /// The event in a sentence, for the event log.
    pub fn message(&self) -> String {
        match self {
            Self::EnvironmentInitialized { env_id, n_envs, .. } => {
                format!("{env_id} ready, {n_envs} side by side")
            }
            Self::TrainingStarted { total_timesteps: 0 } => "Training started".to_owned(),
            Self::Configured(TrainerConfig { algo, env_id, .. }) => {
                let said = [algo.as_deref(), env_id.as_deref()];
                let said: Vec<&str> = said.into_iter().flatten().collect();
                if said.is_empty() {
                    "Configured".to_owned()
                } else {
                    format!("Configured: {}", said.join(" on "))
                }
            }
            Self::ArtifactsNamed { artifacts } => {
                let names: Vec<&str> = artifacts.keys().map(String::as_str).collect();
                format!("Artifacts: {}", names.join(", "))
            }
            Self::TrainingStarted { total_timesteps } => {
                format!("Training started: {} steps", grouped(*total_timesteps))
            }
            Self::CheckpointSaved { step, .. } => {
                format!("Checkpoint saved at step {}", grouped(*step))
            }
            Self::EvaluationStarted { episodes, .. } => {
                format!("Evaluation started: {}", of_episodes(*episodes))
            }
            Self::EvaluationComplete(Evaluation { episodes, mean, ci95: [low, high], .. }) => {
                format!(
                    "Evaluation complete: {mean:.1} ± {:.1} over {}",
                    (high - low) / 2.0,
                    of_episodes(*episodes)
                )
            }
            Self::ControlAck { command, step, .. } => {
                format!("{} took effect at step {}", command.name(), grouped(*step))
            }
            Self::Paused { step } => format!("Paused at step {}", grouped(*step)),
            Self::Resumed { step } => format!("Resumed at step {}", grouped(*step)),
            Self::TuneApplied { path, old, new, by, step } => {
                let old = old.map_or_else(|| "?".to_owned(), |old| old.to_string());
                format!("{path}: {old} -> {new} by {by} at step {}", grouped(*step))
            }
            Self::Restored { checkpoint, .. } if checkpoint.is_empty() => {
                "Started again from the beginning".to_owned()
            }
            Self::Restored { step, .. } => {
                format!("Started again from the checkpoint at step {}", grouped(*step))
            }
            Self::Warning { message } | Self::Error { message } => message.clone(),
            Self::MatchStarted { games } => format!("Match started: {games} games"),
            Self::GamePlayed(GameRecord { game, returns: Some([a, b]), .. }) => {
                format!("Episode {game}: A {a:.1}, B {b:.1}")
            }
            Self::GamePlayed(GameRecord { game, seat, score, .. }) => {
                let result = match score.total_cmp(&0.0) {
                    std::cmp::Ordering::Greater => "won",
                    std::cmp::Ordering::Less => "lost",
                    std::cmp::Ordering::Equal => "drew",
                };
                let side = if *seat == 0 { "first" } else { "second" };
                format!("Game {game}: A moved {side} and {result}")
            }
            Self::MatchComplete(MatchResult { wins, draws, losses, score, .. }) => format!(
                "Match complete: {wins} wins, {draws} draws, {losses} losses, score {:.1}%",
                100.0 * score
            ),
            Self::PairingComplete { pairing, a, b, result } => {
                let score = 100.0 * result.score;
                format!("Pairing {pairing}: {a} took {score:.1}% from {b}")
            }
            Self::TournamentComplete { players, games, leader } => format!(
                "Tournament complete: {players} players, {} games, {leader} leads",
                grouped(u64::from(*games))
            ),
            Self::Promoted { player, against: Some((rival, share)) } => {
                format!("{player} is the lab's best now: {:.0}% against {rival}", 100.0 * share)
            }
            Self::Promoted { player, against: None } => {
                format!("{player} is the lab's best now, as the first of its game")
            }
            Self::Done { reason: DoneReason::Completed, weights_sha256, .. }
                if weights_sha256.is_empty() =>
            {
                "Done".to_owned()
            }
            Self::Done { reason: DoneReason::Stopped, weights_sha256, .. }
                if weights_sha256.is_empty() =>
            {
                "Stopped before the end".to_owned()
            }
            Self::Done { reason: DoneReason::Completed, step, .. } => {
                format!("Training complete: {} steps", grouped(*step))
            }
            Self::Done { reason: DoneReason::Saturated, step, .. } => {
                let step = grouped(*step);
                format!("Training complete: the returns no longer rise, at step {step}")
            }
            Self::Done { reason: DoneReason::Stopped, step, .. } => {
                format!("Stopped at step {}", grouped(*step))
            }
            Self::Done { reason: DoneReason::Orphaned, step, .. } => {
                format!("Ended at step {}: the supervisor is gone", grouped(*step))
            }
            Self::Move { ply, seat, action } => {
                format!("Ply {}: seat {seat} plays {action}", ply + 1)
            }
            Self::Undo { ply } => format!("Taken back to ply {}", ply + 1),
            Self::Hint { ply, action, by } => {
                format!("Ply {}: hint to play {action}, by {by}", ply + 1)
            }
            Self::EpisodeStarted { episode, seed } => {
                format!("Episode {episode} started: seed {seed}")
            }
            Self::Played(Played { episode, step, actions, total_reward, .. }) => {
                let steps = grouped(*step + actions.len() as u64);
                format!("Episode {episode}: {steps} steps, return {total_reward:.1}")
            }
            Self::ArtifactsAvailable { artifacts, count } => match artifacts.as_slice() {
                [one] if *count == 1 => format!("{} available: {}", one.kind.label(), one.path),
                _ => format!("{} artifacts available", grouped(*count)),
            },
            Self::ArtifactPruned(Pruned { artifact, kept, total, reason }) => format!(
                "{} {} pruned, {} of {} kept: {reason}",
                artifact.kind.label(),
                artifact.path,
                grouped(*kept),
                grouped(*total)
            ),
        }
    }
}

/// `1` as `1 episode`, `10000` as `10,000 episodes`.
fn of_episodes(n: u32) -> String {
    format!("{} episode{}", grouped(n.into()), if n == 1 { "" } else { "s" })
}

/// `1234567` as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Why a trainer ended on its own account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DoneReason {
    /// It took all its steps.
    Completed,
    /// It had been told to end when there is nothing left to learn, and so it did.
    Saturated,
    /// It was asked to stop.
    Stopped,
    /// Its supervisor went away.
    Orphaned,
}

/// A game between two players, `A` and `B`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameRecord {
    /// Number of the game in the match, from 1.
    pub game: u32,
    /// The seat of player A.
    pub seat: u32,
    /// The random moves that it began with, the same in both games of a pair.
    pub opening: Vec<u32>,
    /// What the players played after that.
    pub moves: Vec<u32>,
    /// The score of player A at the end; at an environment 1, 0 or -1 for the greater, an equal or
    /// the lesser return.
    pub score: f64,
    /// At an environment, the returns of A and B in the same episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<[f64; 2]>,
    /// In a tournament, the number of the pairing, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairing: Option<u32>,
}

/// How a match went, from the view of player A.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MatchResult {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
    /// Share of the points: a win is 1, a draw a half.
    pub score: f64,
    /// The 95% interval of the score.
    pub score_ci95: [f64; 2],
    /// Difference of strength in Elo; none when it has no bound.
    pub elo: Option<f64>,
    /// The 95% interval of the Elo difference; none where it has no bound.
    pub elo_ci95: [Option<f64>; 2],
}

/// How well a policy did over some episodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Environment steps of the policy.
    pub step: u64,
    /// How many episodes were played.
    pub episodes: u32,
    /// Mean return.
    pub mean: f64,
    /// Standard deviation of the returns.
    pub std: f64,
    /// 95% confidence interval of the mean.
    pub ci95: [f64; 2],
    /// Mean length in steps.
    pub mean_length: f64,
    /// Mean of what the environment measures itself, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
}

/// A line of `metrics.jsonl`: all scalars of one moment, and the episodes that ended since the
/// last line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricLine {
    /// Which start of the trainer wrote it.
    pub attempt: u32,
    /// Number of the line, from 1.
    pub row: u64,
    /// When.
    pub t: f64,
    /// Environment steps so far.
    pub step: u64,
    /// Value of each metric, by name.
    pub values: BTreeMap<String, Option<f64>>,
    /// The episodes, as columns.
    #[serde(default, skip_serializing_if = "Episodes::is_empty")]
    pub episodes: Episodes,
}

/// Episodes as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Episodes {
    /// Number of the episode in the run, from 1.
    pub episode: Vec<u64>,
    /// Sum of its rewards; nothing where it is not finite.
    pub reward: Vec<Option<f64>>,
    /// Its steps.
    pub length: Vec<u32>,
    /// Environment steps of the run at its end.
    pub timestep: Vec<u64>,
    /// The number given to `reset`; nothing where a foreign trainer did not say.
    pub seed: Vec<Option<u64>>,
    /// Whether the task itself ended; otherwise the episode was cut short.
    pub terminated: Vec<bool>,
}

impl Episodes {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.episode.is_empty()
    }

    /// How many there are, or nothing when the columns disagree.
    pub fn len(&self) -> Option<usize> {
        let n = self.episode.len();
        let columns = [
            self.reward.len(),
            self.length.len(),
            self.timestep.len(),
            self.seed.len(),
            self.terminated.len(),
        ];
        columns.iter().all(|&column| column == n).then_some(n)
    }

    /// Adds the episodes of `later` behind these.
    pub fn append(&mut self, mut later: Self) {
        self.episode.append(&mut later.episode);
        self.reward.append(&mut later.reward);
        self.length.append(&mut later.length);
        self.timestep.append(&mut later.timestep);
        self.seed.append(&mut later.seed);
        self.terminated.append(&mut later.terminated);
    }

    /// Forgets all but the last `n`.
    pub fn keep_last(&mut self, n: usize) {
        let first = self.episode.len().saturating_sub(n);
        self.episode.drain(..first);
        self.reward.drain(..first);
        self.length.drain(..first);
        self.timestep.drain(..first);
        self.seed.drain(..first);
        self.terminated.drain(..first);
    }
}

/// A line of `supervisor.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SupervisorLine {
    /// Which start of the trainer it speaks of.
    pub attempt: u32,
    /// When.
    pub t: f64,
    /// What happened.
    #[serde(flatten)]
    pub event: SupervisorEvent,
}

/// What a supervisor records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SupervisorEvent {
    /// The attempt waits in the lab's queue. Written by whoever asked for it, while no supervisor
    /// is there.
    Queued,
    /// The trainer process is started.
    Started {
        /// Process id of the supervisor.
        supervisor_pid: u32,
        /// Process id of the trainer.
        trainer_pid: u32,
    },
    /// Both are alive.
    Heartbeat {
        /// CPU use of the trainer since the last beat; 100 is one core.
        cpu_percent: Option<f64>,
        /// Memory of the trainer.
        rss_bytes: Option<u64>,
        /// GPU use and memory, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gpu: Option<GpuSample>,
        /// The lines of a foreign trainer so far.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<LineCounts>,
    },
    /// A W&B server is told of the run as well, from now on or again.
    Tracked(WandbPage),
    /// A control line was not delivered.
    ControlRefused {
        /// Its place in `control.jsonl`, from 1, whatever number it gives itself.
        line: u64,
        /// Why.
        reason: String,
    },
    /// The trainer has ended and all it printed is on disk.
    Exited {
        /// Exit code, unless a signal ended it.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// Whether the supervisor ended it, because it did not obey in time.
        #[serde(default)]
        forced: bool,
        /// The last lines that it printed.
        log: Vec<String>,
        /// Why the supervisor ended it, unless it was asked to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// All lines of a foreign trainer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<LineCounts>,
    },
}

/// What a trainer's processes use of the GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuSample {
    /// Use of the busiest GPU that it works on, in percent.
    pub percent: f64,
    /// Memory of its processes on all GPUs.
    pub memory_bytes: u64,
}

/// How many lines a foreign trainer wrote, each counted in exactly one class: typed, log, wrong,
/// unknown or cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LineCounts {
    /// Lines of the protocol.
    pub typed: u64,
    /// Lines that are none.
    pub log: u64,
    /// Lines of a known type that cannot be used.
    pub wrong: u64,
    /// JSON objects of a type that the protocol does not have.
    pub unknown: u64,
    /// Lines that were too long.
    pub cut: u64,
    /// Numbers that are not finite, in lines of any class.
    pub nonfinite: u64,
    /// Lines of the log that have been dropped to keep it small.
    pub log_dropped: u64,
    /// The typed ones, by type.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_type: BTreeMap<String, u64>,
    /// Why lines were wrong, and how many each.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, u64>,
}

impl LineCounts {
    /// All lines.
    pub fn total(&self) -> u64 {
        self.typed + self.log + self.wrong + self.unknown + self.cut
    }
}

/// A line of `control.jsonl`: signed, numbered and chained to the line before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlLine {
    /// Number of the line, from 1.
    pub seq: u64,
    /// The run that it is meant for.
    pub run: RunId,
    /// The start of the trainer that it is meant for.
    pub attempt: u32,
    /// When.
    pub t: f64,
    /// Who asked.
    pub by: String,
    /// What is asked.
    pub command: Command,
    /// Seconds for which it can be delivered, measured by the supervisor on a clock that never
    /// jumps; without it the line does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_s: Option<f64>,
    /// Signature of the line before; empty for the first.
    pub previous: String,
    /// Signature of all of the above.
    pub signature: String,
}

/// What can be asked of a trainer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Save a checkpoint and end.
    Stop,
    /// Stop stepping and stay.
    Pause,
    /// Go on stepping.
    Resume,
    /// End at once; the supervisor sees to it.
    Terminate,
    /// Save a checkpoint and go on.
    Checkpoint,
    /// Change a setting, after a checkpoint.
    Tune {
        /// The full path of the setting.
        path: String,
        /// Its new value.
        value: f64,
    },
    /// Say how often pictures are wanted.
    Watch {
        /// Pictures a second; 0 when nobody watches.
        fps: f64,
    },
}

impl Command {
    /// The name for people.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Stop => "Stop",
            Self::Pause => "Pause",
            Self::Resume => "Resume",
            Self::Terminate => "Terminate",
            Self::Checkpoint => "Checkpoint",
            Self::Tune { .. } => "Tune",
            Self::Watch { .. } => "Watch",
        }
    }

    /// Whether the run ends because of it.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Stop | Self::Terminate)
    }
}

#[cfg(test)]
mod tests;
