//! The rules, each a function from the numbers to an insight or nothing.

use std::collections::BTreeMap;

use cartridge_learn::metric::Metric;
use cartridge_store::RunState;

use super::history::{History, Return};
use super::{Evidence, Finding, Insight, Level, Severity, Subject, figure, small_figure};
use crate::config::Algorithm;

/// Windows of episodes in which a strategy may prove stable, the longest first. The shortest is what
/// an early stop of Cart Pole looks at.
const STABLE_WINDOWS: [usize; 3] = [400, 200, 80];
/// A stable strategy spreads by no more than this share of the way from random play to solved.
const STABLE_SPREAD: f64 = 0.25;
/// A mean that changes by less than this share of the way from random play to solved is flat.
const FLAT: f64 = 0.05;
/// The share of a run's steps after which it may be called stuck.
const STUCK_PROGRESS: f64 = 0.2;
/// The fewest episodes before anything is said of returns.
const FEW_EPISODES: usize = 50;
/// A fall by this share of what had been gained is a collapse.
const COLLAPSE: f64 = 0.4;
/// What must have been gained before it can be lost, as a share of the way to solved.
const WORTH_LOSING: f64 = 0.2;
/// Points that are taken together by their median, so that a spike moves nothing.
const MEDIAN_OF: usize = 5;
/// Newest updates that rules about one update look at.
const UPDATES: usize = 20;
/// An update of PPO that moves the policy further is no small step; 0.01 to 0.03 is usual.
const HIGH_KL: f64 = 0.05;
/// One that moves it less hardly learns.
const LOW_KL: f64 = 0.001;
/// One that moves it further may have destroyed it: what was likely is next to impossible.
const WILD_KL: f64 = 1.0;
/// From here on a learning rate is not to blame when the policy hardly moves.
const ORDINARY_RATE: f64 = 1e-3;
/// What most trainings begin with.
const USUAL_RATE: f64 = 3e-4;
/// Entropy below this share of what it was at the beginning is gone.
const ENTROPY_LEFT: f64 = 0.05;
/// A value function that explains less explains nothing.
const EXPLAINED: f64 = 0.1;
/// Steps that come at less than this share of the usual pace are a drop.
const PACE: f64 = 0.5;
/// How many standard errors a difference must have to be one.
const SURE: f64 = 4.0;
/// The least fall of the variance that is worth a sentence.
const VARIANCE_FALL: f64 = 0.2;

pub(super) fn all(subject: &Subject, history: &History) -> Vec<Insight> {
    let mut found = Vec::new();
    found.extend(not_finite(history));
    found.extend(heartbeat(subject, history));
    let fall = collapse(subject, history);
    let is_collapsed = fall.is_some();
    found.extend(fall);
    let stable = converged(subject, history);
    let is_good = stable.is_some() || is_solved(subject, history);
    let trend = match stable {
        // What is stable is flat, and a fall says more than a slope.
        Some(stable) => Some(stable),
        None if is_collapsed => None,
        None => trend(subject, history, is_good),
    };
    let is_stuck = trend.as_ref().is_some_and(|trend| trend.id == Finding::Stuck);
    found.extend(trend);
    if !is_collapsed {
        found.extend(variance(history));
    }
    // The causes, the first of which explains the others.
    let mut rate = kl_high(subject, history);
    if !is_good {
        rate = rate.or_else(|| kl_was_wild(history));
    }
    if is_stuck {
        rate = rate.or_else(|| learning_rate_low(history));
    }
    if !is_good && rate.is_none() {
        found.extend(entropy_gone(subject, history));
        found.extend(value_not_learning(subject, history));
    }
    found.extend(rate);
    found.extend(throughput(subject, history));
    if found.is_empty() && history.returns.len() < FEW_EPISODES {
        found.extend(too_early(subject, history));
    }
    found
}

fn is_solved(subject: &Subject, history: &History) -> bool {
    let best = history.newest_mean().into_iter().chain(subject.evaluation).reduce(f64::max);
    matches!((best, subject.level), (Some(best), Some(level)) if best >= level.solved)
}

fn numbers<const N: usize>(pairs: [(&'static str, f64); N]) -> BTreeMap<&'static str, f64> {
    pairs.into_iter().filter(|(_, value)| value.is_finite()).collect()
}

fn with_level(
    mut numbers: BTreeMap<&'static str, f64>,
    level: Option<Level>,
) -> BTreeMap<&'static str, f64> {
    if let Some(level) = level {
        numbers.extend([("random", level.random), ("solved", level.solved)]);
    }
    numbers
}

fn evidence(metric: Metric, steps: (u64, u64), numbers: BTreeMap<&'static str, f64>) -> Evidence {
    Evidence { metric: metric.name().to_owned(), from_step: steps.0, to_step: steps.1, numbers }
}

fn not_finite(history: &History) -> Option<Insight> {
    let bad = history.series.iter().find_map(|(name, points)| {
        let first = points.iter().find(|point| point.value.is_none())?;
        let n_bad = points.iter().filter(|point| point.value.is_none()).count();
        Some((*name, first.step, points.last()?.step, n_bad))
    });
    let (metric, from_step, to_step, n_bad) = bad?;
    Some(Insight {
        id: Finding::NotFinite,
        severity: Severity::Error,
        sentence: format!("{metric} is not a finite number"),
        detail: format!("{n_bad} values of {metric} are not finite, the first at step {from_step}"),
        plain: "The calculation broke down: a number became infinite or undefined. What the agent has learnt since then cannot be trusted.".to_owned(),
        suggestion: Some("Go back to a checkpoint before that step with a lower learning_rate or a lower max_grad_norm".to_owned()),
        evidence: Evidence {
            metric: metric.to_owned(),
            from_step,
            to_step,
            numbers: numbers([("not_finite", n_bad as f64)]),
        },
    })
}

fn heartbeat(subject: &Subject, history: &History) -> Option<Insight> {
    let is_lost = subject.state == RunState::Lost;
    if !is_lost && (subject.silence_s.is_none() || !subject.state.is_active()) {
        return None;
    }
    let from_step = history.finite(Metric::StepsPerSecond).last().map_or(0, |(step, _)| *step);
    let silence = subject.silence_s.map(|seconds| [("silent_s", seconds)]);
    Some(Insight {
        id: Finding::HeartbeatStale,
        severity: if is_lost { Severity::Error } else { Severity::Warning },
        sentence: if is_lost {
            "The supervisor of this run is gone"
        } else {
            "The supervisor of this run is late"
        }
        .to_owned(),
        detail: match subject.silence_s {
            Some(seconds) => format!("Nothing was heard of it for {seconds:.0} s"),
            None => "It ended without saying so".to_owned(),
        },
        plain: "The program that looks after this training has gone quiet.".to_owned(),
        suggestion: Some(
            if is_lost {
                "`cartridge resume` starts it again from its newest checkpoint"
            } else {
                "Look whether the machine is overloaded or its disk is full"
            }
            .to_owned(),
        ),
        evidence: evidence(
            Metric::StepsPerSecond,
            (from_step, subject.step),
            silence.map_or_else(BTreeMap::new, numbers),
        ),
    })
}

/// Medians of neighbouring points, each with the step of its last.
fn smoothed(points: &[(u64, f64)]) -> Vec<(u64, f64)> {
    points
        .windows(MEDIAN_OF)
        .map(|window| {
            let values: Vec<f64> = window.iter().map(|(_, value)| *value).collect();
            (window[MEDIAN_OF - 1].0, median(&values))
        })
        .collect()
}

fn collapse(subject: &Subject, history: &History) -> Option<Insight> {
    let points = history.finite(Metric::EpisodeReward);
    let (smooth, noise) = (smoothed(&points), noise(&points));
    // The newest window and the best one have no point in common.
    let before = &smooth[..smooth.len().checked_sub(MEDIAN_OF)?];
    let &(best_step, best) = before.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let &(now_step, now) = smooth.last()?;
    let first = smooth.first()?.1;
    let (from, least_gain) = match subject.level {
        Some(level) => (level.random, WORTH_LOSING * level.range()),
        None => (first, SURE * noise),
    };
    let (gain, fall) = (best - from, best - now);
    // The best of many wild points is far above the rest, and no level that was held.
    if gain <= least_gain || gain <= 0.0 || fall < COLLAPSE * gain || fall <= SURE * noise {
        return None;
    }
    let lost = match 100.0 * fall / gain {
        share if share >= 100.0 => "all".to_owned(),
        share => format!("{share:.0}%"),
    };
    Some(Insight {
        id: Finding::Collapse,
        severity: Severity::Warning,
        sentence: format!("The returns collapsed from {} to {}", figure(best), figure(now)),
        detail: format!(
            "The mean return was {} at step {best_step} and is {}: {lost} of what had been gained over {} is lost",
            figure(best),
            figure(now),
            figure(from)
        ),
        plain: "The agent had become better and has forgotten most of it.".to_owned(),
        suggestion: Some(format!(
            "Go back to the best checkpoint, or fork it (at about step {best_step}) with a lower learning_rate"
        )),
        evidence: evidence(
            Metric::EpisodeReward,
            (best_step, now_step),
            with_level(numbers([("best", best), ("now", now), ("fall", fall)]), subject.level),
        ),
    })
}

/// How far neighbours differ, as a standard deviation: what is left when any trend is taken out.
fn noise(points: &[(u64, f64)]) -> f64 {
    let squares: Vec<f64> = points.windows(2).map(|pair| (pair[1].1 - pair[0].1).powi(2)).collect();
    (mean(&squares) / 2.0).sqrt()
}

fn converged(subject: &Subject, history: &History) -> Option<Insight> {
    let level = subject.level?;
    let returns = &history.returns;
    let (window, all) = STABLE_WINDOWS.iter().find_map(|&window| {
        let newest = &returns[returns.len().checked_sub(window)?..];
        let (earlier, later) = newest.split_at(window / 2);
        let (all, earlier, later) =
            (rewards(newest), mean(&rewards(earlier)), mean(&rewards(later)));
        let is_good = earlier.min(later) >= level.solved;
        let is_flat = (later - earlier).abs() <= 2.0 * FLAT * level.range();
        let is_narrow = deviation(&all) <= STABLE_SPREAD * level.range();
        (is_good && is_flat && is_narrow).then_some((newest, all))
    })?;
    let (mean, spread) = (mean(&all), deviation(&all));
    Some(Insight {
        id: Finding::Converged,
        severity: Severity::Good,
        sentence: "Agent has converged on a stable strategy".to_owned(),
        detail: format!(
            "The newest {} episodes return {} ± {}; solved is {}, random play is {}",
            all.len(),
            figure(mean),
            figure(spread),
            figure(level.solved),
            figure(level.random)
        ),
        plain: "The agent has learnt the task and does it well every time.".to_owned(),
        suggestion: None,
        evidence: evidence(
            Metric::EpisodeReward,
            steps_of(window),
            with_level(
                numbers([("mean", mean), ("std", spread), ("episodes", all.len() as f64)]),
                Some(level),
            ),
        ),
    })
}

/// Whether the returns rise, or stay where they are.
fn trend(subject: &Subject, history: &History, is_good: bool) -> Option<Insight> {
    let points = history.finite(Metric::EpisodeReward);
    let (&(first, _), &(last, _)) = (points.first()?, points.last()?);
    let at = |share: f64| first + ((last - first) as f64 * share) as u64;
    let between = |low: u64, high: u64| -> Vec<f64> {
        let inside = points.iter().filter(|(step, _)| (low..=high).contains(step));
        inside.map(|(_, value)| *value).collect()
    };
    let (before, now) = (between(at(0.4), at(0.7)), between(at(0.7) + 1, last));
    if before.len() < MEDIAN_OF || now.len() < MEDIAN_OF {
        return None;
    }
    let (before_mean, now_mean) = (mean(&before), mean(&now));
    let rise = now_mean - before_mean;
    let error =
        (variance_of(&before) / before.len() as f64 + variance_of(&now) / now.len() as f64).sqrt();
    let flat = match subject.level {
        Some(level) => FLAT * level.range(),
        None => {
            let values = points.iter().map(|(_, value)| *value);
            let least = values.clone().fold(f64::INFINITY, f64::min);
            FLAT * (values.fold(f64::NEG_INFINITY, f64::max) - least)
        }
    };
    let steps = (at(0.4), last);
    let found = numbers([("before", before_mean), ("now", now_mean), ("rise", rise)]);
    if rise > flat && rise > SURE * error {
        return Some(Insight {
            id: Finding::Improving,
            severity: Severity::Info,
            sentence: format!("The returns rise: {} to {}", figure(before_mean), figure(now_mean)),
            detail: format!(
                "The mean return was {} in the middle of the run and is {} in its last third",
                figure(before_mean),
                figure(now_mean)
            ),
            plain: if subject.state.is_final() {
                "The agent was still getting better when it ended."
            } else {
                "The agent is still getting better."
            }
            .to_owned(),
            suggestion: subject
                .state
                .is_final()
                .then(|| "Train for longer (trainer.total_timesteps)".to_owned()),
            evidence: evidence(Metric::EpisodeReward, steps, with_level(found, subject.level)),
        });
    }
    // Episodes that a foreign trainer does not tell are not missed.
    let is_short = (1..FEW_EPISODES).contains(&history.returns.len());
    let is_early = subject.progress().is_some_and(|progress| progress < STUCK_PROGRESS);
    if is_good || is_short || is_early || rise > flat {
        return None;
    }
    let Some(level) = subject.level else {
        return Some(Insight {
            id: Finding::Plateau,
            severity: Severity::Info,
            sentence: format!("The returns no longer rise: they stay at {}", figure(now_mean)),
            detail: format!(
                "The mean return was {} and is {}; nobody has said what random play and a solved task return here",
                figure(before_mean),
                figure(now_mean)
            ),
            plain:
                "The agent has stopped getting better. Whether it is good now, only you can say."
                    .to_owned(),
            suggestion: None,
            evidence: evidence(Metric::EpisodeReward, steps, found),
        });
    };
    if now_mean >= level.solved - flat {
        return None;
    }
    let is_random = now_mean < level.random + 2.0 * FLAT * level.range();
    let explore = match subject.algorithm {
        Some(Algorithm::Ppo) => "more exploration (ent_coef)",
        Some(Algorithm::Dqn) => "more exploration (exploration_fraction, exploration_final_eps)",
        Some(Algorithm::AlphaZero) => "more variety (opening_share, opening_plies)",
        None => "more exploration",
    };
    // There is nothing to learn from where every episode ends alike.
    let is_all_alike = is_random && has_one_return(subject, history);
    Some(Insight {
        id: Finding::Stuck,
        severity: Severity::Warning,
        sentence: "Training may be stuck, try different learning rate".to_owned(),
        detail: format!(
            "Stuck at a plateau of {}, random is {}, solved is {}{}",
            figure(now_mean),
            figure(level.random),
            figure(level.solved),
            if is_all_alike { "; every episode returns the same" } else { "" }
        ),
        plain: if is_all_alike {
            "The agent has never met anything that it could learn from: every attempt ends alike."
                .to_owned()
        } else if is_random {
            "The agent is no better than one that acts at random, and is not improving.".to_owned()
        } else {
            "The agent has learnt something, has stopped improving, and is not there yet."
                .to_owned()
        },
        suggestion: Some(if is_all_alike {
            format!("Begin again with {explore}, or with another algorithm")
        } else {
            format!("Fork the run with another learning_rate, or with {explore}")
        }),
        evidence: evidence(Metric::EpisodeReward, steps, with_level(found, Some(level))),
    })
}

/// Whether the newest episodes all return the same.
fn has_one_return(subject: &Subject, history: &History) -> bool {
    let newest = &history.returns[history.returns.len().saturating_sub(100)..];
    let range = subject.level.map_or(0.0, |level| level.range());
    newest.len() >= FEW_EPISODES && deviation(&rewards(newest)) <= 1e-3 * range
}

/// Whether returns spread less than before, by the test of Brown and Forsythe (1974): it compares
/// distances from the median, and is not misled by a few wild episodes.
fn variance(history: &History) -> Option<Insight> {
    let n = (history.returns.len() / 2).min(500);
    if n < FEW_EPISODES {
        return None;
    }
    let newest = &history.returns[history.returns.len() - 2 * n..];
    let (earlier, later) = newest.split_at(n);
    let (earlier, later) = (rewards(earlier), rewards(later));
    let (before, now) = (variance_of(&earlier), variance_of(&later));
    let (far, near) = (distances(&earlier), distances(&later));
    let error = ((variance_of(&far) + variance_of(&near)) / n as f64).sqrt();
    let fall = 1.0 - now / before;
    if !(fall >= VARIANCE_FALL && mean(&far) - mean(&near) > SURE * error) {
        return None;
    }
    Some(Insight {
        id: Finding::VarianceFell,
        severity: Severity::Info,
        sentence: format!("Variance reduced by {:.0}% over last {n} episodes", 100.0 * fall),
        detail: format!(
            "The returns of the newest {n} episodes deviate by {}, those of the {n} before by {}",
            figure(now.sqrt()),
            figure(before.sqrt())
        ),
        plain: "The agent's results have become more even.".to_owned(),
        suggestion: None,
        evidence: evidence(
            Metric::EpisodeReward,
            steps_of(newest),
            numbers([
                ("variance_before", before),
                ("variance_now", now),
                ("fall", fall),
                ("episodes", n as f64),
            ]),
        ),
    })
}

/// The newest updates of a metric, if there are enough.
fn newest(history: &History, metric: Metric) -> Option<(Vec<f64>, (u64, u64))> {
    let points = history.finite(metric);
    let newest = &points[points.len().saturating_sub(UPDATES)..];
    if newest.len() < UPDATES / 2 {
        return None;
    }
    let steps = (newest.first()?.0, newest.last()?.0);
    Some((newest.iter().map(|(_, value)| *value).collect(), steps))
}

fn learning_rate(history: &History) -> Option<f64> {
    history.finite(Metric::LearningRate).last().map(|(_, rate)| *rate)
}

fn kl_high(subject: &Subject, history: &History) -> Option<Insight> {
    let (values, steps) = newest(history, Metric::ApproxKl)?;
    let limit = subject.target_kl.map_or(HIGH_KL, |target| (2.0 * target).max(HIGH_KL));
    let n_high = values.iter().filter(|value| **value > limit).count();
    let middle = median(&values);
    // More often than not, so that a single wild update is none.
    if 5 * n_high < 3 * values.len() {
        return None;
    }
    let rate = learning_rate(history);
    Some(Insight {
        id: Finding::KlHigh,
        severity: Severity::Warning,
        sentence: "Consider adjusting learning_rate".to_owned(),
        detail: format!(
            "KL is too high: {n_high} of the newest {} updates moved the policy by more than {}, by {} in the middle",
            values.len(),
            figure(limit),
            figure(middle)
        ),
        plain: "The agent changes its mind too much at once, which makes learning shaky."
            .to_owned(),
        suggestion: Some(match rate {
            // Far too high is not mended by half.
            Some(rate) if middle > WILD_KL => format!(
                "Lower learning_rate from {} to about {}",
                small_figure(rate),
                small_figure((rate / 10.0).min(USUAL_RATE))
            ),
            Some(rate) => format!(
                "Lower learning_rate from {} to about {}, or n_epochs",
                small_figure(rate),
                small_figure(rate / 2.0)
            ),
            None => "Lower learning_rate by half, or n_epochs".to_owned(),
        }),
        evidence: evidence(
            Metric::ApproxKl,
            steps,
            numbers([
                ("median", middle),
                ("limit", limit),
                ("share_above", n_high as f64 / values.len() as f64),
                ("learning_rate", rate.unwrap_or(f64::NAN)),
            ]),
        ),
    })
}

/// Whether an update went so far that the policy has never moved again.
fn kl_was_wild(history: &History) -> Option<Insight> {
    let (values, (_, now_step)) = newest(history, Metric::ApproxKl)?;
    let points = history.finite(Metric::ApproxKl);
    let &(step, worst) = points.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let middle = median(&values);
    if worst < WILD_KL || middle >= LOW_KL {
        return None;
    }
    let rates = history.finite(Metric::LearningRate);
    let rate = rates.iter().find(|(at, _)| *at >= step).map(|(_, rate)| *rate);
    Some(Insight {
        id: Finding::KlHigh,
        severity: Severity::Warning,
        sentence: "Consider adjusting learning_rate".to_owned(),
        detail: format!(
            "An update moved the policy by {} at step {step}, which destroyed it: the newest move it by {} only",
            figure(worst),
            small_figure(middle)
        ),
        plain: "The agent changed its mind so much at once that it broke, and has learnt nothing since."
            .to_owned(),
        suggestion: Some(match rate {
            Some(rate) => format!(
                "Begin again with a lower learning_rate, {} instead of {}",
                small_figure((rate / 10.0).min(USUAL_RATE)),
                small_figure(rate)
            ),
            None => "Begin again with a lower learning_rate".to_owned(),
        }),
        evidence: evidence(
            Metric::ApproxKl,
            (step, now_step),
            numbers([
                ("worst", worst),
                ("median", middle),
                ("limit", WILD_KL),
                ("learning_rate", rate.unwrap_or(f64::NAN)),
            ]),
        ),
    })
}

fn learning_rate_low(history: &History) -> Option<Insight> {
    let (values, steps) = newest(history, Metric::ApproxKl)?;
    let middle = median(&values);
    let rate = learning_rate(history);
    if middle >= LOW_KL || rate.is_some_and(|rate| rate >= ORDINARY_RATE) {
        return None;
    }
    Some(Insight {
        id: Finding::LearningRateLow,
        severity: Severity::Warning,
        sentence: "Consider adjusting learning_rate".to_owned(),
        detail: format!(
            "The newest updates move the policy by {} only, and the returns do not rise",
            small_figure(middle)
        ),
        plain: "The agent hardly changes what it does, so it cannot get better.".to_owned(),
        suggestion: Some(match rate {
            Some(rate) => format!(
                "Raise learning_rate from {} to about {}",
                small_figure(rate),
                small_figure((3.0 * rate).max(USUAL_RATE))
            ),
            None => "Raise learning_rate threefold".to_owned(),
        }),
        evidence: evidence(
            Metric::ApproxKl,
            steps,
            numbers([
                ("median", middle),
                ("limit", LOW_KL),
                ("learning_rate", rate.unwrap_or(f64::NAN)),
            ]),
        ),
    })
}

fn entropy_gone(subject: &Subject, history: &History) -> Option<Insight> {
    // The entropy of numbers may be negative, and says nothing by itself; their deviation does.
    let metric = match subject.is_continuous {
        Some(true) => Metric::ActionDeviation,
        Some(false) => Metric::Entropy,
        None if history.series.contains_key(Metric::ActionDeviation.name()) => {
            Metric::ActionDeviation
        }
        None => Metric::Entropy,
    };
    let (values, steps) = newest(history, metric)?;
    let points = history.finite(metric);
    let first: Vec<f64> = points.iter().take(MEDIAN_OF).map(|(_, value)| *value).collect();
    let (first, now) = (median(&first), median(&values));
    if first <= 0.0 || now > ENTROPY_LEFT * first || points.len() < 2 * MEDIAN_OF {
        return None;
    }
    Some(Insight {
        id: Finding::EntropyGone,
        severity: Severity::Warning,
        sentence: "Consider adjusting ent_coef".to_owned(),
        detail: format!(
            "Entropy is gone: {} of {} at the beginning, and the task is not solved",
            small_figure(now),
            small_figure(first)
        ),
        plain: "The agent always does the same and tries nothing new, although it is not good yet."
            .to_owned(),
        suggestion: Some(
            "Raise ent_coef, such as to 0.01, and begin from an earlier checkpoint".to_owned(),
        ),
        evidence: evidence(
            metric,
            steps,
            numbers([("first", first), ("now", now), ("left", now / first)]),
        ),
    })
}

fn value_not_learning(subject: &Subject, history: &History) -> Option<Insight> {
    let (values, steps) = newest(history, Metric::ExplainedVariance)?;
    let middle = median(&values);
    let n_updates = history.finite(Metric::ExplainedVariance).len();
    let is_early = subject.progress().is_some_and(|progress| progress < STUCK_PROGRESS);
    // Nothing explains returns that are all the same.
    if middle >= EXPLAINED || is_early || n_updates < UPDATES || has_one_return(subject, history) {
        return None;
    }
    Some(Insight {
        id: Finding::ValueNotLearning,
        severity: Severity::Warning,
        sentence: "Consider adjusting vf_coef".to_owned(),
        detail: format!(
            "The value function is not learning: it explains {:.0}% of the variance of the returns after {n_updates} updates",
            100.0 * middle.max(0.0)
        ),
        plain: "The agent cannot tell good situations from bad ones, so it does not know what to learn from.".to_owned(),
        suggestion: Some("Raise vf_coef, let rewards be normalised (normalize_reward), or give the network more units".to_owned()),
        evidence: evidence(
            Metric::ExplainedVariance,
            steps,
            numbers([("median", middle), ("limit", EXPLAINED), ("updates", n_updates as f64)]),
        ),
    })
}

/// Whether steps come more slowly than they did. From the times of the rows: what is reported as
/// the pace is a mean since the beginning, which hides it.
fn throughput(subject: &Subject, history: &History) -> Option<Insight> {
    if !matches!(subject.state, RunState::Running | RunState::Stopping) {
        return None;
    }
    let metric = [Metric::StepsPerSecond, Metric::EpisodeReward]
        .into_iter()
        .find(|metric| history.series.contains_key(metric.name()))?;
    let points = &history.series[metric.name()];
    let paces: Vec<(u64, f64)> = points
        .windows(2)
        .filter(|pair| pair[1].step > pair[0].step && pair[1].t > pair[0].t)
        .map(|pair| (pair[1].step, (pair[1].step - pair[0].step) as f64 / (pair[1].t - pair[0].t)))
        .collect();
    let n_new = (paces.len() / 10).clamp(MEDIAN_OF, 50);
    let (old, new) = paces.split_at(paces.len().checked_sub(n_new)?);
    if old.len() < UPDATES {
        return None;
    }
    let values = |paces: &[(u64, f64)]| paces.iter().map(|(_, pace)| *pace).collect::<Vec<f64>>();
    let (usual, now) = (median(&values(old)), median(&values(new)));
    if now >= PACE * usual {
        return None;
    }
    Some(Insight {
        id: Finding::ThroughputDrop,
        severity: Severity::Warning,
        sentence: format!("Throughput fell to {:.0}% of what it was", 100.0 * now / usual),
        detail: format!(
            "{} steps a second over the newest {n_new} updates, {} before",
            figure(now),
            figure(usual)
        ),
        plain: "Training has become much slower than it was.".to_owned(),
        suggestion: Some("Look what else is at work on this machine".to_owned()),
        evidence: evidence(
            metric,
            (new.first()?.0, new.last()?.0),
            numbers([("usual", usual), ("now", now), ("updates", n_new as f64)]),
        ),
    })
}

fn too_early(subject: &Subject, history: &History) -> Option<Insight> {
    if subject.state.is_final() {
        return None;
    }
    let n = history.returns.len();
    Some(Insight {
        id: Finding::TooEarly,
        severity: Severity::Info,
        sentence: "Too early to tell".to_owned(),
        detail: format!(
            "{n} episodes have ended; from {FEW_EPISODES} on there is something to say"
        ),
        plain: "It has only just begun.".to_owned(),
        suggestion: None,
        evidence: evidence(
            Metric::EpisodeReward,
            (0, subject.step),
            numbers([("episodes", n as f64)]),
        ),
    })
}

fn steps_of(returns: &[Return]) -> (u64, u64) {
    (returns.first().map_or(0, |first| first.step), returns.last().map_or(0, |last| last.step))
}

fn rewards(returns: &[Return]) -> Vec<f64> {
    returns.iter().map(|found| found.reward).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn variance_of(values: &[f64]) -> f64 {
    let middle = mean(values);
    values.iter().map(|value| (value - middle).powi(2)).sum::<f64>()
        / values.len().saturating_sub(1).max(1) as f64
}

fn deviation(values: &[f64]) -> f64 {
    variance_of(values).sqrt()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Distances from the median.
fn distances(values: &[f64]) -> Vec<f64> {
    let middle = median(values);
    values.iter().map(|value| (value - middle).abs()).collect()
}
