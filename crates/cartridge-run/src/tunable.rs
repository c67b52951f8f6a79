//! What may be changed while a run trains, and within which bounds.
//!
//! Everything else about a run stays as its manifest says. A run may allow less than this by its
//! `overrides_whitelist`, and never more.

use cartridge_games::nearest::nearest;
use cartridge_learn::report::Knob;
use serde_json::Value;

use crate::config::setting::{Range, setting};
use crate::config::{Algorithm, ConfigError, RunConfig, canonical};

/// A setting that can be changed while a run trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tunable {
    /// A knob of the learner.
    Learner(Knob),
    /// Environment steps between evaluations.
    EvaluationEvery,
}

impl Tunable {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Learner(Knob::LearningRate),
        Self::Learner(Knob::EntCoef),
        Self::Learner(Knob::ClipRange),
        Self::EvaluationEvery,
    ];

    /// Those of an algorithm.
    pub fn of(algo: Algorithm) -> impl Iterator<Item = Self> {
        let is_known = move |tunable: &Self| match (algo, tunable) {
            (Algorithm::Ppo, _) | (_, Self::EvaluationEvery) => true,
            (Algorithm::Dqn | Algorithm::AlphaZero, Self::Learner(knob)) => {
                *knob == Knob::LearningRate
            }
        };
        Self::ALL.into_iter().filter(is_known)
    }

    /// The full path of the setting.
    pub fn path(self) -> &'static str {
        match self {
            Self::Learner(Knob::LearningRate) => "trainer.learning_rate",
            Self::Learner(Knob::EntCoef) => "trainer.ent_coef",
            Self::Learner(Knob::ClipRange) => "trainer.clip_range",
            Self::EvaluationEvery => "evaluation.every_steps",
        }
    }

    /// The least and the greatest value while a run trains.
    pub fn bounds(self) -> Range {
        let tuning = setting(self.path()).and_then(|setting| setting.tuning);
        tuning.expect("what is tunable has bounds in the table of settings")
    }

    /// The setting that `path` or an alias of it names.
    pub fn named(path: &str) -> Result<Self, ConfigError> {
        let path = canonical(path, None);
        if let Some(found) = Self::ALL.into_iter().find(|tunable| tunable.path() == path) {
            return Ok(found);
        }
        let known = Self::ALL.map(Self::path);
        let hint = match nearest(path, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("that can be done with {}", known.join(", ")),
        };
        Err(ConfigError::NotTunable { key: path.to_owned(), hint })
    }

    /// Complains about a value that is out of bounds.
    pub fn check(self, value: f64) -> Result<(), ConfigError> {
        let bounds = self.bounds();
        let is_whole = self != Self::EvaluationEvery || value.fract() == 0.0;
        if bounds.contains(value) && is_whole {
            return Ok(());
        }
        let detail = match self {
            Self::EvaluationEvery => format!("{value} is no whole number {}", bounds.words()),
            Self::Learner(_) => format!("{value} is not {} (while training)", bounds.words()),
        };
        Err(ConfigError::BadValue { key: self.path().to_owned(), detail })
    }
}

impl RunConfig {
    /// The setting that `path` names, where the run lets it be changed to `value`.
    pub fn tunable(&self, path: &str, value: f64) -> Result<Tunable, ConfigError> {
        let tunable = Tunable::named(path)?;
        if !Tunable::of(self.algo).any(|known| known == tunable) {
            let hint = format!("{} has no such setting", self.algo.name());
            return Err(ConfigError::NotTunable { key: tunable.path().to_owned(), hint });
        }
        if !self.overrides_whitelist.iter().any(|allowed| allowed == tunable.path()) {
            let hint = "it is not in the run's overrides_whitelist".to_owned();
            return Err(ConfigError::NotTunable { key: tunable.path().to_owned(), hint });
        }
        tunable.check(value)?;
        Ok(tunable)
    }
}

/// The value of a setting in what a foreign trainer says that it was started with: by its whole
/// path, as one key or step by step, or by its last word.
pub(crate) fn said_in(args: &Value, path: &str) -> Option<f64> {
    let nested = format!("/{}", path.replace('.', "/"));
    let last = path.rsplit('.').next().unwrap_or(path);
    let found = args.get(path).or_else(|| args.pointer(&nested)).or_else(|| args.get(last));
    found?.as_f64()
}

#[cfg(test)]
mod tests;
