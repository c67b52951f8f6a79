//! When there is nothing left to learn: the returns have reached what is to be had, or no longer
//! rise on a good level.
//!
//! It looks at the returns of two windows of training episodes that follow one another, where an
//! update ends and nowhere else. So a run that was interrupted, whose windows are filled again
//! from its recorded episodes, ends at the same update.

use std::collections::VecDeque;

/// When a training of one environment counts as saturated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Episodes that must have ended, at least two windows.
    pub min_episodes: usize,
    /// Episodes that a mean is taken over.
    pub window: usize,
    /// The mean that is to be had, and how far from it is near enough.
    pub goal: Option<(f64, f64)>,
    /// From this mean on it is enough that it no longer rises.
    pub plateau: f64,
}

/// A mean that is higher by no more than this share does not rise.
const RISE: f64 = 0.01;

impl Rule {
    /// The rule for an environment, with the return from which it counts as solved; nothing where
    /// nobody knows what is to be had.
    pub fn of(env_id: &str, reward_threshold: Option<f64>) -> Option<Self> {
        let (min_episodes, window, goal, plateau) = match env_id {
            "CartPole-v1" => (80, 30, Some((500.0, 2.0)), 470.0),
            "LunarLander-v3" => (120, 40, Some((250.0, 20.0)), 210.0),
            "BipedalWalker-v3" => (160, 50, Some((300.0, 20.0)), 260.0),
            _ => (100, 40, None, reward_threshold?),
        };
        Some(Self { min_episodes, window, goal, plateau })
    }
}

/// The newest returns of a training.
#[derive(Clone, Debug)]
pub struct Saturation {
    rule: Rule,
    /// As many as the rule looks at or counts, the oldest first.
    returns: VecDeque<f64>,
}

impl Saturation {
    /// Before the first episode.
    pub fn new(rule: Rule) -> Self {
        assert!(rule.window > 0 && rule.min_episodes >= 2 * rule.window, "it looks at two windows");
        Self { rule, returns: VecDeque::with_capacity(rule.min_episodes) }
    }

    /// Episodes that it remembers at most: feeding the newest so many again restores it.
    pub fn memory(&self) -> usize {
        self.rule.min_episodes
    }

    /// Takes in the return of an episode that has ended.
    pub fn add(&mut self, reward: f64) {
        if self.returns.len() == self.rule.min_episodes {
            self.returns.pop_front();
        }
        self.returns.push_back(reward);
    }

    /// Whether there is nothing left to learn.
    pub fn is_reached(&self) -> bool {
        let Rule { min_episodes, window, goal, plateau } = self.rule;
        if self.returns.len() < min_episodes {
            return false;
        }
        let mean = |skip: usize| {
            self.returns.iter().rev().skip(skip).take(window).sum::<f64>() / window as f64
        };
        let (now, before) = (mean(0), mean(window));
        let is_near = goal.is_some_and(|(goal, margin)| (now - goal).abs() <= margin);
        is_near || (now >= plateau && now <= before + RISE * before.abs())
    }
}

#[cfg(test)]
mod tests;
