//! The numbers of a run that rules look at.

use std::collections::BTreeMap;

use cartridge_learn::metric::Metric;
use cartridge_store::{DataDir, Episodes, Follower, MetricValues, RunId, SeriesPoints};

use crate::error::Result;
use crate::metrics;

/// Metrics that rules look at.
pub(crate) const WANTED: [Metric; 13] = [
    Metric::EpisodeReward,
    Metric::EvaluationReward,
    Metric::ApproxKl,
    Metric::ClipFraction,
    Metric::Entropy,
    Metric::ActionDeviation,
    Metric::ExplainedVariance,
    Metric::LearningRate,
    Metric::StepsPerSecond,
    Metric::Loss,
    Metric::PolicyLoss,
    Metric::ValueLoss,
    Metric::GradientNorm,
];

/// Points of a series that are looked at one by one. Longer ones come as the least and the greatest
/// of as many stretches, as in a chart: an update takes a while, so few runs have so many.
pub(crate) const MOST_POINTS: usize = 10_000;

/// Newest episodes that are looked at.
pub(crate) const MOST_EPISODES: usize = 2_000;

/// A value of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Environment steps.
    pub step: u64,
    /// Unix seconds.
    pub t: f64,
    /// The value; nothing where it was not finite.
    pub value: Option<f64>,
}

/// The return of an episode of training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Return {
    /// Environment steps of the run at its end.
    pub step: u64,
    /// Sum of its rewards.
    pub reward: f64,
}

/// The numbers of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The newest metric row.
    pub last_row: u64,
    /// The series, by our name of the metric.
    pub series: BTreeMap<&'static str, Vec<Point>>,
    /// The newest episodes of training, oldest first.
    pub returns: Vec<Return>,
}

impl History {
    /// Reads the numbers of a run from its files.
    pub(crate) fn read(data: &DataDir, id: &RunId) -> Result<Self> {
        let lines = Follower::default().advance(&data.run(id))?.metrics;
        let mut episodes = Episodes::default();
        let mut history = Self::default();
        let names = WANTED.map(Metric::name);
        for line in lines {
            let (row, step, t) = (line.row, line.step, line.t);
            let values = MetricValues { row, step, t, values: line.values };
            for (name, value) in metrics::rename_row(&values, &names, None).values {
                let name = names.iter().find(|known| **known == name).expect("it was asked for");
                history.series.entry(name).or_default().push(Point { step, t, value });
            }
            episodes.append(line.episodes);
            history.last_row = row;
        }
        history.take_episodes(episodes);
        Ok(history)
    }

    /// Of series under our names, and the newest episodes.
    pub(crate) fn of(last_row: u64, series: &[SeriesPoints], episodes: Episodes) -> Self {
        let mut history = Self { last_row, ..Self::default() };
        for metric in WANTED {
            let Some(found) = series.iter().find(|series| series.key == metric.name()) else {
                continue;
            };
            let points = found.step.iter().zip(&found.t).zip(&found.value);
            let points = points.map(|((&step, &t), &value)| Point { step, t, value });
            history.series.insert(metric.name(), points.collect());
        }
        history.take_episodes(episodes);
        history
    }

    fn take_episodes(&mut self, mut episodes: Episodes) {
        episodes.keep_last(MOST_EPISODES);
        let pairs = episodes.timestep.iter().zip(&episodes.reward);
        self.returns = pairs
            .filter_map(|(&step, &reward)| Some(Return { step, reward: reward? }))
            .filter(|found| found.reward.is_finite())
            .collect();
    }

    /// The finite points of a metric.
    pub(crate) fn finite(&self, metric: Metric) -> Vec<(u64, f64)> {
        let points = self.series.get(metric.name()).map(Vec::as_slice).unwrap_or_default();
        points.iter().filter_map(|point| Some((point.step, point.value?))).collect()
    }

    /// The mean return of the newest episodes.
    pub(crate) fn newest_mean(&self) -> Option<f64> {
        let newest = &self.returns[self.returns.len().saturating_sub(100)..];
        if newest.is_empty() {
            return self.finite(Metric::EpisodeReward).last().map(|(_, value)| *value);
        }
        Some(newest.iter().map(|found| found.reward).sum::<f64>() / newest.len() as f64)
    }
}
