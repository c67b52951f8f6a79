//! What a learner says of an update.

use std::collections::VecDeque;

use cartridge_games::Actions;
use serde::{Deserialize, Serialize};

use crate::metric::Metric;

/// What one update reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// Environment steps since the run began.
    pub step: u64,
    /// What was measured; `time/fps` is for the caller, who has a clock.
    pub scalars: Vec<(Metric, f64)>,
    /// What the environment measures itself, by name: the mean over the same episodes as
    /// [`Metric::EpisodeReward`], one value per episode.
    pub episode_metrics: Vec<(String, f64)>,
    /// The episodes that ended, in order of (step, lane).
    pub episodes: Vec<EpisodeEnd>,
}

impl Update {
    /// What was measured under a name, if it was.
    pub fn scalar(&self, metric: Metric) -> Option<f64> {
        self.scalars.iter().find(|(name, _)| *name == metric).map(|(_, value)| *value)
    }
}

/// The end of a training episode.
#[derive(Clone, Debug, PartialEq)]
pub struct EpisodeEnd {
    /// Number of the episode in the run, counted from 1 in order of (step, lane).
    pub episode: u64,
    /// The environment that played it.
    pub lane: u32,
    /// The seed it was reset with.
    pub seed: u64,
    /// Environment steps since the run began, over all lanes.
    pub step: u64,
    /// Sum of its rewards.
    pub reward: f64,
    /// Number of its steps.
    pub length: u32,
    /// Whether the task ended.
    pub terminated: bool,
    /// Whether its time ended; both may hold at once.
    pub truncated: bool,
    /// What was done in it, step by step: with the seed, all that it takes to see it again.
    pub actions: Actions,
    /// What the environment measured in it, by name.
    pub metrics: Vec<(&'static str, f64)>,
}

/// A part of an update, for whoever measures how long each takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Choosing actions and stepping the environments.
    Act,
    /// Values, advantages and whatever else is made of the steps before learning.
    Judge,
    /// Gradient steps.
    Learn,
}

impl Phase {
    /// All of them, in order.
    pub const ALL: [Self; 3] = [Self::Act, Self::Judge, Self::Learn];

    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Act => "act",
            Self::Judge => "judge",
            Self::Learn => "learn",
        }
    }
}

/// A setting that may change between two updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knob {
    /// `learning_rate`.
    LearningRate,
    /// `ent_coef`.
    EntCoef,
    /// `clip_range`.
    ClipRange,
}

/// How many episodes the means of the rollout are taken over.
const N_RECENT: usize = 100;

/// The newest episodes, for the means that every update reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Recent(VecDeque<Figures>);

/// What the means need of an episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Figures {
    reward: f64,
    length: u32,
    metrics: Vec<(String, f64)>,
}

impl Recent {
    /// Takes in episodes that have ended.
    pub(crate) fn extend(&mut self, ends: &[EpisodeEnd]) {
        // The rest would be dropped again.
        let newest = &ends[ends.len().saturating_sub(N_RECENT)..];
        self.0.extend(newest.iter().map(|end| Figures {
            reward: end.reward,
            length: end.length,
            metrics: end.metrics.iter().map(|(name, x)| ((*name).to_owned(), *x)).collect(),
        }));
        self.0.drain(..self.0.len().saturating_sub(N_RECENT));
    }

    /// Mean return and length, where there is an episode.
    pub(crate) fn scalars(&self) -> Vec<(Metric, f64)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let mean = |figure: &dyn Fn(&Figures) -> f64| {
            self.0.iter().map(figure).sum::<f64>() / self.0.len() as f64
        };
        vec![
            (Metric::EpisodeReward, mean(&|episode| episode.reward)),
            (Metric::EpisodeLength, mean(&|episode| f64::from(episode.length))),
        ]
    }

    /// What environments measure themselves: the mean of each over the episodes that have it.
    pub(crate) fn metrics(&self) -> Vec<(String, f64)> {
        let Some(newest) = self.0.back() else { return Vec::new() };
        let mean = |name: &String| {
            let all = self.0.iter().flat_map(|episode| &episode.metrics);
            let values: Vec<f64> =
                all.filter(|(known, _)| known == name).map(|(_, value)| *value).collect();
            (name.clone(), values.iter().sum::<f64>() / values.len() as f64)
        };
        newest.metrics.iter().map(|(name, _)| mean(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_environments_measure_is_averaged_over_episodes() {
        let end = |metrics: Vec<(&'static str, f64)>| EpisodeEnd {
            episode: 1,
            lane: 0,
            seed: 0,
            step: 0,
            reward: 2.0,
            length: 1,
            terminated: true,
            truncated: false,
            actions: Actions::Discrete(Vec::new()),
            metrics,
        };
        let mut recent = Recent::default();
        assert_eq!((recent.metrics(), recent.scalars()), (vec![], vec![]));
        recent.extend(&vec![end(vec![("profit", 100.0)]); 250]);
        let pair = |x, y| end(vec![("profit", x), ("survival", y)]);
        let ends: Vec<EpisodeEnd> =
            (0..50).flat_map(|_| [pair(1.0, 0.0), pair(4.0, 1.0)]).collect();
        recent.extend(&ends);
        assert_eq!(recent.metrics(), [("profit".to_owned(), 2.5), ("survival".to_owned(), 0.5)]);
        assert_eq!(recent.scalars(), [(Metric::EpisodeReward, 2.0), (Metric::EpisodeLength, 1.0)]);
    }
}
