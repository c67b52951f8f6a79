//! What the numbers of a run say, in sentences, each with its evidence.
//!
//! Rules look at the complete series and at the newest episodes. A rule says something only when
//! its evidence holds, and what it says carries that evidence: which chart, which steps, which
//! numbers. A level means nothing by itself, so what random play reaches and what counts as solved
//! ([`level`]) decide whether a flat curve is a strategy found or a training that is stuck.
//!
//! The limits in [`rules`] are rules of thumb: they are named there, and the tests are tables of
//! series and what is said of them, noise, spikes and plateaus included.

pub mod history;
pub mod level;
mod rules;

use std::collections::BTreeMap;

use cartridge_games::env::ActionSpace;
use cartridge_games::registry::environments;
use cartridge_store::{DataDir, Manifest, RunId, RunState, RunStatus};
use serde::Serialize;
use serde_json::{Map, Value};

pub use self::history::{History, Point, Return};
pub use self::level::Level;
use crate::config::Algorithm;
use crate::error::Result;
use crate::steer;

/// How serious an insight is, the most serious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Something is broken.
    Error,
    /// A person should look.
    Warning,
    /// What was wanted has come about.
    Good,
    /// The ordinary course of things.
    Info,
}

impl Severity {
    /// The word in the API and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Good => "good",
            Self::Info => "info",
        }
    }
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// A number is not finite.
    NotFinite,
    /// The supervisor is late or gone.
    HeartbeatStale,
    /// The returns have fallen far below what they were.
    Collapse,
    /// The returns no longer rise, below what counts as solved.
    Stuck,
    /// The policy moves too far in an update.
    KlHigh,
    /// The policy hardly moves, and the returns do not either.
    LearningRateLow,
    /// Nothing is tried any more.
    EntropyGone,
    /// The value function explains nothing.
    ValueNotLearning,
    /// Steps come more slowly than they did.
    ThroughputDrop,
    /// The returns are good, and stay.
    Converged,
    /// The returns no longer rise, and nobody knows what is to be had.
    Plateau,
    /// The returns spread less than before.
    VarianceFell,
    /// The returns rise.
    Improving,
    /// There is too little to say anything.
    TooEarly,
}

impl Finding {
    /// The word in the API and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFinite => "not_finite",
            Self::HeartbeatStale => "heartbeat_stale",
            Self::Collapse => "collapse",
            Self::Stuck => "stuck",
            Self::KlHigh => "kl_high",
            Self::LearningRateLow => "learning_rate_low",
            Self::EntropyGone => "entropy_gone",
            Self::ValueNotLearning => "value_not_learning",
            Self::ThroughputDrop => "throughput_drop",
            Self::Converged => "converged",
            Self::Plateau => "plateau",
            Self::VarianceFell => "variance_fell",
            Self::Improving => "improving",
            Self::TooEarly => "too_early",
        }
    }
}

/// One thing that the numbers say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Insight {
    /// What was found.
    pub id: Finding,
    /// How serious it is.
    pub severity: Severity,
    /// For people who know the words.
    pub sentence: String,
    /// The numbers behind it, in a sentence.
    pub detail: String,
    /// For people who do not.
    pub plain: String,
    /// What could be done.
    pub suggestion: Option<String>,
    /// What it rests on.
    pub evidence: Evidence,
}

/// What an insight rests on: where to look, and what is seen there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// The chart.
    pub metric: String,
    /// From this step on.
    pub from_step: u64,
    /// Up to this step.
    pub to_step: u64,
    /// The numbers, by name; all are finite.
    pub numbers: BTreeMap<&'static str, f64>,
}

/// All that the numbers of a run say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Insights {
    /// The run.
    pub run_id: RunId,
    /// The newest metric row that was looked at.
    pub last_row: u64,
    /// Environment steps so far.
    pub step: u64,
    /// What is going on, in a few plain sentences.
    pub summary: String,
    /// The most serious first.
    pub insights: Vec<Insight>,
}

/// What must be known of a run besides its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// Its name for people.
    pub name: String,
    /// Where it is in its life.
    pub state: RunState,
    /// Environment steps so far.
    pub step: u64,
    /// Environment steps to train for, where they are known.
    pub total_steps: Option<u64>,
    /// What a return means in its environment, where that is known.
    pub level: Option<Level>,
    /// What learns, where it is one of ours.
    pub algorithm: Option<Algorithm>,
    /// Whether actions are numbers and not one of a list; nothing where the environment is unknown.
    pub is_continuous: Option<bool>,
    /// How far an update may move the policy before it is cut short, where that is set.
    pub target_kl: Option<f64>,
    /// The mean return of the newest evaluation.
    pub evaluation: Option<f64>,
    /// Seconds since its supervisor was heard, where that is too long.
    pub silence_s: Option<f64>,
}

impl Subject {
    /// Of a run. `silence_s` is how long its supervisor has been silent, if that is too long.
    pub fn new(manifest: &Manifest, status: &RunStatus, silence_s: Option<f64>) -> Self {
        let config = &manifest.config;
        let none = Map::new();
        let options = config["env"].as_object().unwrap_or(&none);
        let trainer = status.trainer.as_ref();
        let said = |field: &str| config["trainer"][field].as_f64();
        let total = config["trainer"]["total_timesteps"].as_u64();
        let spec = environments().iter().find(|spec| spec.id == manifest.env_id);
        Self {
            name: manifest.name.clone(),
            state: status.state(),
            step: status.step,
            total_steps: total.or_else(|| trainer?.total_timesteps).filter(|&total| total > 0),
            level: Level::of(&manifest.env_id, options),
            algorithm: serde_json::from_value(config["algo"].clone()).ok(),
            is_continuous: spec.map(|spec| match spec.actions {
                ActionSpace::Discrete(_) => options.get("continuous") == Some(&Value::Bool(true)),
                ActionSpace::Continuous { .. } => true,
            }),
            target_kl: said("target_kl"),
            evaluation: status.latest_eval.as_ref().map(|eval| eval.mean),
            silence_s,
        }
    }

    /// The share of its steps that it has taken, where that can be told.
    fn progress(&self) -> Option<f64> {
        Some(self.step as f64 / self.total_steps? as f64)
    }
}

/// What the numbers of a run say, the most serious first.
pub fn insights(subject: &Subject, history: &History) -> Vec<Insight> {
    let mut found = rules::all(subject, history);
    found.sort_by_key(|insight| (insight.severity, insight.id));
    found
}

/// What the numbers of a run say, read from its files alone.
pub fn read(data: &DataDir, id: &RunId) -> Result<Insights> {
    let (manifest, status) = steer::look(data, id)?;
    let history = History::read(data, id)?;
    // Without a lab nobody measures how late a heartbeat is; a supervisor that is gone is seen.
    Ok(Insights::of(id, &Subject::new(&manifest, &status, None), &history))
}

impl Insights {
    /// Of a run with these numbers.
    pub fn of(id: &RunId, subject: &Subject, history: &History) -> Self {
        let insights = insights(subject, history);
        Self {
            run_id: id.clone(),
            last_row: history.last_row,
            step: subject.step,
            summary: summary(subject, history, &insights),
            insights,
        }
    }
}

/// What is going on, for people who do not know the words.
fn summary(subject: &Subject, history: &History, insights: &[Insight]) -> String {
    let doing = match subject.state {
        RunState::Queued => "waits for its turn",
        RunState::Starting => "is being started",
        RunState::Running => "is learning",
        RunState::Paused => "is paused",
        RunState::Stopping => "is about to stop",
        RunState::Succeeded => "has finished",
        RunState::Failed => "has failed",
        RunState::Terminated => "was ended before it was done",
        RunState::Lost => "is lost: nobody looks after it any more",
    };
    let mut text = format!("{} {doing}", subject.name);
    if let Some(progress) = subject.progress() {
        text += &format!(", after {:.0}% of its steps", (100.0 * progress).clamp(0.0, 100.0));
    }
    text += ".";
    if let Some(mean) = history.newest_mean() {
        text += &format!(" It scores about {} now", figure(mean));
        if let Some(Level { random, solved, .. }) = subject.level {
            text += &format!(
                "; playing at random scores {}, and {} is good",
                figure(random),
                figure(solved)
            );
        }
        text += ".";
    }
    for insight in insights.iter().take(3) {
        text += " ";
        text += &insight.plain;
    }
    text
}

/// A number for people: as many digits as mean something.
pub fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 1.0 => format!("{value:.1}"),
        size if size >= 0.0005 => format!("{value:.3}"),
        _ => "0".to_owned(),
    }
}

/// [`figure`] of what may be small and mean something, such as a learning rate.
pub(crate) fn small_figure(value: f64) -> String {
    match value.abs() {
        size if (1e-12..0.001).contains(&size) => format!("{value:.0e}"),
        _ => figure(value),
    }
}

#[cfg(test)]
mod tests;
