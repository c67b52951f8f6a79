//! The lines of a run folded into how the run is doing.
//!
//! The fold keeps facts and derives the state from them, so the order in which the files of a run
//! are read does not matter.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::records::{
    ControlLine, DoneReason, Evaluation, Event, EventLine, GpuSample, LineCounts, MatchResult,
    MetricLine, SupervisorEvent, SupervisorLine, TrainerConfig, WandbPage,
};

/// Where a run is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Made, and not yet started.
    Queued,
    /// The trainer is being started.
    Starting,
    /// It steps.
    Running,
    /// It does not step, and its process stays.
    Paused,
    /// Asked to stop; it saves a checkpoint first.
    Stopping,
    /// It took all its steps.
    Succeeded,
    /// It ended in an error.
    Failed,
    /// It ended because somebody asked.
    Terminated,
    /// Its supervisor fell silent.
    Lost,
}

impl RunState {
    /// Whether nothing more will come.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Terminated)
    }

    /// Whether a trainer should be at work.
    pub fn is_active(self) -> bool {
        matches!(
            self,
            Self::Queued | Self::Starting | Self::Running | Self::Paused | Self::Stopping
        )
    }
}

/// What a run is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// It learns.
    Training,
    /// It measures its policy.
    Evaluating,
    /// Neither.
    Idle,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// In a sentence.
    pub message: String,
    /// Exit code of the trainer.
    pub exit_code: Option<i32>,
    /// Signal that ended the trainer.
    pub signal: Option<i32>,
    /// The last lines that it printed, at most [`Failure::LOG_LINES`].
    pub log: Vec<String>,
}

impl Failure {
    /// Lines of output that explain a failure.
    pub const LOG_LINES: usize = 20;
}

/// The end of a trainer process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Exit {
    code: Option<i32>,
    signal: Option<i32>,
    forced: bool,
    log: Vec<String>,
}

/// What is known of one start of the trainer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Facts {
    attempt: u32,
    /// Since when it waits in the queue.
    waits_since: Option<f64>,
    /// Whether it has begun with what it is for.
    is_at_work: bool,
    evaluating: bool,
    paused: bool,
    done: Option<DoneReason>,
    error: Option<String>,
    exit: Option<Exit>,
}

/// How a run is doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunStatus {
    /// The newest start of the trainer; 0 before the first.
    pub attempt: u32,
    /// Environment steps so far.
    pub step: u64,
    /// Episodes that have ended.
    pub episodes: u64,
    /// Steps per second of the newest update.
    pub steps_per_sec: Option<f64>,
    /// Mean return of the newest episodes.
    pub mean_reward: Option<f64>,
    /// Mean length of the newest episodes.
    pub mean_length: Option<f64>,
    /// Loss of the newest update.
    pub loss: Option<f64>,
    /// The newest evaluation.
    pub latest_eval: Option<Evaluation>,
    /// The evaluation with the highest mean.
    pub best_eval: Option<Evaluation>,
    /// How the match went, or how it stands at its end.
    pub match_result: Option<MatchResult>,
    /// Steps of the newest checkpoint.
    pub checkpoint_step: Option<u64>,
    /// Hash of the weights of the newest checkpoint.
    pub weights_sha256: Option<String>,
    /// CPU use of the trainer; 100 is one core.
    pub cpu_percent: Option<f64>,
    /// Memory of the trainer.
    pub rss_bytes: Option<u64>,
    /// What the trainer uses of the GPUs.
    pub gpu: Option<GpuSample>,
    /// The lines of a foreign trainer so far.
    pub lines: Option<LineCounts>,
    /// What a foreign trainer said of itself.
    pub trainer: Option<TrainerConfig>,
    /// Where it is at a W&B server, once that was told of it.
    pub wandb: Option<WandbPage>,
    /// Why its supervisor ended it, unless it was asked to.
    pub end_reason: Option<String>,
    /// When the trainer started.
    pub started_at: Option<f64>,
    /// When it ended.
    pub ended_at: Option<f64>,
    /// When its supervisor last wrote.
    pub heartbeat_at: Option<f64>,
    /// When its newest steps were told of: a row of metrics, or a game of a match.
    pub stepped_at: Option<f64>,
    /// Set by the lab when the supervisor fell silent, cleared when it speaks again.
    pub lost: bool,
    /// Why it fell silent, where the lab can tell. A conclusion of the moment, so it is not kept.
    #[serde(skip)]
    pub lost_reason: Option<String>,
    /// The last lines of its log when it fell silent: nobody was there to record them with its exit.
    /// Read again whenever it is asked for, so it is not kept either.
    #[serde(skip)]
    pub lost_log: Vec<String>,
    /// Settings that were changed while it trained, and what they are now.
    pub tuned: BTreeMap<String, f64>,
    /// Lines that could not be read, or came from an older attempt.
    pub refused_lines: u64,
    /// What is known of the newest attempt that any file speaks of.
    facts: Facts,
    /// Whether it is carried out by one process, without a supervisor beside it.
    is_alone: bool,
    /// Attempts and places in `control.jsonl` of the lines that ask it to end.
    stops: BTreeSet<(u32, u64)>,
    /// Places of the lines that the supervisor refused.
    refused: BTreeSet<u64>,
}

impl RunStatus {
    /// Steps a second: the last that were told, and none while it stands still.
    pub fn pace(&self) -> Option<f64> {
        match self.state() {
            RunState::Paused => Some(0.0),
            _ => self.steps_per_sec,
        }
    }

    /// Where the run is in its life.
    pub fn state(&self) -> RunState {
        let Facts { exit, done, is_at_work, paused, .. } = &self.facts;
        match (exit, *done) {
            (
                Some(Exit { code: Some(0), .. }),
                Some(DoneReason::Completed | DoneReason::Saturated),
            ) => RunState::Succeeded,
            (Some(Exit { code: Some(0), .. }), Some(DoneReason::Stopped)) => RunState::Terminated,
            (Some(Exit { forced: true, .. }), _) => RunState::Terminated,
            (Some(_), _) => RunState::Failed,
            (None, _) if self.waits_since().is_some() => RunState::Queued,
            (None, _) if self.lost => RunState::Lost,
            (None, _) if self.is_asked_to_end() => RunState::Stopping,
            (None, _) if *paused => RunState::Paused,
            (None, _) if *is_at_work => RunState::Running,
            (None, _) if self.attempt > 0 => RunState::Starting,
            (None, _) => RunState::Queued,
        }
    }

    /// The newest attempt that any file speaks of; 0 before the first.
    pub fn last_attempt(&self) -> u32 {
        self.attempt.max(self.facts.attempt)
    }

    /// Since when its newest attempt waits in the queue; nothing for the first, which waits from the
    /// making of the run on.
    pub fn waits_since(&self) -> Option<f64> {
        self.facts.waits_since
    }

    /// The attempt that is started next while it is queued.
    pub fn next_attempt(&self) -> u32 {
        self.last_attempt().max(1)
    }

    fn is_asked_to_end(&self) -> bool {
        // What is asked before the first start is meant for it.
        let attempt = self.last_attempt().max(1);
        let mut ours = self.stops.iter().filter(|(meant, _)| *meant == attempt);
        ours.any(|(_, place)| !self.refused.contains(place))
    }

    /// The facts of `attempt`, unless a newer one is known.
    fn facts(&mut self, attempt: u32) -> Option<&mut Facts> {
        if attempt > self.facts.attempt {
            self.facts = Facts { attempt, ..Facts::default() };
            self.ended_at = None;
            self.end_reason = None;
        }
        (attempt == self.facts.attempt).then_some(&mut self.facts)
    }

    /// What the run is busy with.
    pub fn activity(&self) -> Activity {
        match self.state() {
            RunState::Running | RunState::Stopping if self.facts.evaluating => Activity::Evaluating,
            RunState::Running | RunState::Stopping => Activity::Training,
            _ => Activity::Idle,
        }
    }

    /// Why the run failed or was lost.
    pub fn failure(&self) -> Option<Failure> {
        match (self.state(), &self.facts.exit) {
            (RunState::Failed, Some(Exit { code, signal, log, .. })) => Some(Failure {
                message: self.facts.error.clone().unwrap_or_else(|| match (code, signal) {
                    (_, Some(signal)) => format!("the trainer was ended by signal {signal}"),
                    (Some(0), None) => {
                        "the trainer ended without saying that it was done".to_owned()
                    }
                    (Some(code), None) => format!("the trainer ended with exit code {code}"),
                    (None, None) => "the trainer ended".to_owned(),
                }),
                exit_code: *code,
                signal: *signal,
                log: log.clone(),
            }),
            (RunState::Lost, _) => Some(Failure {
                message: match (&self.lost_reason, self.is_alone) {
                    (Some(reason), _) => format!("the supervisor of this run is gone: {reason}"),
                    (None, true) => {
                        "the command that carried it out was ended before it was done".to_owned()
                    }
                    (None, false) => "the supervisor of this run fell silent".to_owned(),
                },
                exit_code: None,
                signal: None,
                log: self.lost_log.clone(),
            }),
            _ => None,
        }
    }

    /// Takes in a line of `events.jsonl`.
    pub fn apply_event(&mut self, line: &EventLine) {
        if let Some(facts) = self.facts(line.attempt) {
            match &line.event {
                Event::TrainingStarted { .. } => facts.is_at_work = true,
                Event::EvaluationStarted { .. } | Event::MatchStarted { .. } => {
                    facts.is_at_work = true;
                    facts.evaluating = true;
                }
                Event::EvaluationComplete(_) => facts.evaluating = false,
                Event::Paused { .. } => facts.paused = true,
                Event::Resumed { .. } => facts.paused = false,
                Event::Error { message } => facts.error = Some(message.clone()),
                Event::Done { reason, .. } => facts.done = Some(*reason),
                _ => {}
            }
        }
        match &line.event {
            Event::CheckpointSaved { step, weights_sha256, .. } => {
                self.checkpoint_step = Some(*step);
                self.weights_sha256 = Some(weights_sha256.clone()).filter(|hash| !hash.is_empty());
            }
            Event::GamePlayed(record) => {
                self.episodes = self.episodes.max(u64::from(record.game));
                self.step += (record.opening.len() + record.moves.len()) as u64;
                self.stepped_at = Some(line.t);
            }
            Event::MatchComplete(result) => self.match_result = Some(*result),
            Event::EvaluationComplete(evaluation) => {
                if self.best_eval.as_ref().is_none_or(|best| evaluation.mean >= best.mean) {
                    self.best_eval = Some(evaluation.clone());
                }
                self.latest_eval = Some(evaluation.clone());
            }
            Event::TuneApplied { path, new, .. } => _ = self.tuned.insert(path.clone(), *new),
            Event::Configured(config) => self.trainer = Some(config.clone()),
            Event::Restored { checkpoint, step, episode, .. } => {
                self.step = *step;
                self.episodes = *episode;
                self.checkpoint_step = Some(*step).filter(|_| !checkpoint.is_empty());
            }
            Event::Done { step, weights_sha256, .. } => {
                self.step = self.step.max(*step);
                if !weights_sha256.is_empty() {
                    self.weights_sha256 = Some(weights_sha256.clone());
                }
            }
            Event::TrainingStarted { .. }
            | Event::EvaluationStarted { .. }
            | Event::MatchStarted { .. }
            | Event::PairingComplete { .. }
            | Event::TournamentComplete { .. }
            | Event::Promoted { .. }
            | Event::EnvironmentInitialized { .. }
            | Event::ArtifactsNamed { .. }
            | Event::ControlAck { .. }
            | Event::Paused { .. }
            | Event::Resumed { .. }
            | Event::Warning { .. }
            | Event::Error { .. }
            | Event::Move { .. }
            | Event::Undo { .. }
            | Event::Hint { .. }
            | Event::EpisodeStarted { .. }
            | Event::Played(_)
            | Event::ArtifactsAvailable { .. }
            | Event::ArtifactPruned(_) => {}
        }
    }

    /// Takes in a line of `metrics.jsonl`.
    pub fn apply_metrics(&mut self, line: &MetricLine) {
        self.step = self.step.max(line.step);
        self.stepped_at = Some(line.t);
        self.episodes =
            line.episodes.episode.last().copied().unwrap_or(self.episodes).max(self.episodes);
        for (name, slot) in self.newest_values() {
            if let Some(value) = line.values.get(name) {
                *slot = *value;
            }
        }
    }

    /// The metrics whose newest value belongs to the status, by name.
    pub(crate) fn newest_values(&mut self) -> [(&'static str, &mut Option<f64>); 4] {
        [
            ("time/fps", &mut self.steps_per_sec),
            ("rollout/ep_rew_mean", &mut self.mean_reward),
            ("rollout/ep_len_mean", &mut self.mean_length),
            ("train/loss", &mut self.loss),
        ]
    }

    /// Takes in a line of `supervisor.jsonl`.
    pub fn apply_supervisor(&mut self, line: &SupervisorLine) {
        self.heartbeat_at = Some(line.t);
        self.lost = false;
        match &line.event {
            SupervisorEvent::Queued => {
                if let Some(facts) = self.facts(line.attempt) {
                    facts.waits_since = Some(line.t);
                }
            }
            SupervisorEvent::Started { supervisor_pid, trainer_pid } => {
                self.is_alone = supervisor_pid == trainer_pid;
                self.attempt = self.attempt.max(line.attempt);
                self.started_at = Some(line.t);
                if let Some(facts) = self.facts(line.attempt) {
                    facts.waits_since = None;
                }
            }
            SupervisorEvent::Heartbeat { cpu_percent, rss_bytes, gpu, lines } => {
                self.cpu_percent = *cpu_percent;
                self.rss_bytes = *rss_bytes;
                self.gpu = *gpu;
                self.lines.clone_from(lines);
            }
            SupervisorEvent::Tracked(page) => self.wandb = Some(page.clone()),
            SupervisorEvent::ControlRefused { line, .. } => _ = self.refused.insert(*line),
            SupervisorEvent::Exited { code, signal, forced, log, reason, lines } => {
                let log = log.clone();
                let exit = Exit { code: *code, signal: *signal, forced: *forced, log };
                if let Some(facts) = self.facts(line.attempt) {
                    facts.exit = Some(exit);
                    self.ended_at = Some(line.t);
                    self.end_reason.clone_from(reason);
                    if lines.is_some() {
                        self.lines.clone_from(lines);
                    }
                }
            }
        }
    }

    /// Takes in the line at `place` in `control.jsonl`, counted from 1. It counts as long as the
    /// supervisor does not refuse it.
    pub fn apply_control(&mut self, place: u64, line: &ControlLine) {
        if line.command.is_end() {
            self.stops.insert((line.attempt, place));
        }
    }
}

#[cfg(test)]
mod tests;
