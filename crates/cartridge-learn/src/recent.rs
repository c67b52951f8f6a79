//! The newest episodes of a training, and their means.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::metric::Metric;
use crate::ppo::EpisodeEnd;

/// How many episodes the means are taken over: the window of Stable-Baselines3.
const N_RECENT: usize = 100;

/// The newest episodes, the oldest of them first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Recent(VecDeque<Episode>);

#[derive(Clone, Debug, PartialEq)]
struct Episode {
    reward: f64,
    length: u32,
    metrics: Vec<(&'static str, f64)>,
}

/// An episode as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredEpisode {
    reward: f64,
    length: u32,
    metrics: Vec<(String, f64)>,
}

impl Recent {
    /// Adds episodes that ended, and forgets those that are not new any more.
    pub(crate) fn add(&mut self, ends: &[EpisodeEnd]) {
        self.0.extend(ends.iter().map(|end| Episode {
            reward: end.reward,
            length: end.length,
            metrics: end.metrics.clone(),
        }));
        self.0.drain(..self.0.len().saturating_sub(N_RECENT));
    }

    /// Mean return and length; nothing before an episode has ended.
    pub(crate) fn scalars(&self) -> Vec<(Metric, f64)> {
        let n = self.0.len() as f64;
        let reward: f64 = self.0.iter().map(|episode| episode.reward).sum();
        let length: f64 = self.0.iter().map(|episode| f64::from(episode.length)).sum();
        match self.0.is_empty() {
            true => Vec::new(),
            false => {
                vec![(Metric::EpisodeReward, reward / n), (Metric::EpisodeLength, length / n)]
            }
        }
    }

    /// What environments measure themselves: the mean of each over the episodes that have it.
    pub(crate) fn metrics(&self) -> Vec<(&'static str, f64)> {
        let Some(newest) = self.0.back() else { return Vec::new() };
        let mean = |name: &'static str| {
            let all = self.0.iter().flat_map(|episode| &episode.metrics);
            let values: Vec<f64> =
                all.filter(|(known, _)| *known == name).map(|(_, value)| *value).collect();
            (name, values.iter().sum::<f64>() / values.len() as f64)
        };
        newest.metrics.iter().map(|&(name, _)| mean(name)).collect()
    }

    /// The episodes, to be stored.
    pub(crate) fn stored(&self) -> Vec<StoredEpisode> {
        let stored = |episode: &Episode| StoredEpisode {
            reward: episode.reward,
            length: episode.length,
            metrics: episode.metrics.iter().map(|&(name, x)| (name.to_owned(), x)).collect(),
        };
        self.0.iter().map(stored).collect()
    }

    /// The episodes that were stored. Their names live as long as the process: there are a
    /// handful of them, and a process restores one training.
    pub(crate) fn restore(stored: &[StoredEpisode]) -> Self {
        let mut names: Vec<&'static str> = Vec::new();
        let mut name = |text: &str| match names.iter().find(|known| **known == text) {
            Some(known) => *known,
            None => {
                let leaked: &'static str = Box::leak(text.to_owned().into_boxed_str());
                names.push(leaked);
                leaked
            }
        };
        let mut revive = |episode: &StoredEpisode| Episode {
            reward: episode.reward,
            length: episode.length,
            metrics: episode.metrics.iter().map(|(text, x)| (name(text), *x)).collect(),
        };
        Self(stored.iter().map(&mut revive).collect())
    }
}
