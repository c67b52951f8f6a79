use cartridge_games::fastrand::Rng;
use cartridge_learn::metric::Metric;
use serde::Deserialize;

use super::*;

const STEPS: u64 = 1_000;

/// A running Cart Pole in the middle of its life.
fn subject() -> Subject {
    Subject {
        name: "Cart Pole, PPO, seed 1".to_owned(),
        state: RunState::Running,
        step: 200 * STEPS,
        total_steps: Some(400 * STEPS),
        level: Level::of("CartPole-v1", &Map::new()),
        algorithm: Some(Algorithm::Ppo),
        is_continuous: Some(false),
        target_kl: None,
        evaluation: None,
        silence_s: None,
    }
}

fn series(values: impl IntoIterator<Item = f64>) -> Vec<Point> {
    let point = |(idx, value): (usize, f64)| Point {
        step: (idx as u64 + 1) * STEPS,
        t: idx as f64,
        value: Some(value).filter(|value| value.is_finite()),
    };
    values.into_iter().enumerate().map(point).collect()
}

/// 200 updates with two episodes each that return what the curve says.
fn history(curve: impl Fn(usize) -> f64) -> History {
    let mut history = History { last_row: 200, ..History::default() };
    history.series.insert(Metric::EpisodeReward.name(), series((0..200).map(&curve)));
    history.returns = (0..400)
        .map(|idx| Return { step: (idx as u64 / 2 + 1) * STEPS, reward: curve(idx / 2) })
        .collect();
    history
}

fn with(mut history: History, metric: Metric, values: impl IntoIterator<Item = f64>) -> History {
    history.series.insert(metric.name(), series(values));
    history
}

fn ids(subject: &Subject, history: &History) -> Vec<&'static str> {
    insights(subject, history).iter().map(|insight| insight.id.as_str()).collect()
}

/// What is said of a curve of returns.
#[track_caller]
fn check(curve: impl Fn(usize) -> f64, expected: &[&str]) {
    assert_eq!(ids(&subject(), &history(curve)), expected);
}

fn noisy(seed: u64, middle: f64, spread: f64) -> impl Fn(usize) -> f64 {
    let mut rng = Rng::with_seed(seed);
    let noise: Vec<f64> = (0..200).map(|_| 2.0 * rng.f64() - 1.0).collect();
    move |idx| middle + spread * noise[idx]
}

#[test]
fn a_level_decides_what_a_flat_curve_means() {
    check(|_| 498.0, &["converged"]);
    // At random, and above it.
    check(|_| 22.0, &["stuck"]);
    check(|_| 150.0, &["stuck"]);
    // Learnt, and then stable.
    check(|idx| (22.0 + 8.0 * idx as f64).min(495.0), &["converged", "variance_fell"]);
}

/// About 30, as episodes of a policy that has learnt nothing are.
fn uneven(idx: usize) -> f64 {
    28.0 + (idx % 5) as f64
}

#[test]
fn where_all_episodes_are_alike_there_is_nothing_to_learn_from() {
    let alike = with(history(|_| 22.0), Metric::ExplainedVariance, vec![-1.0; 200]);
    let found = insights(&subject(), &alike);
    assert_eq!(ids(&subject(), &alike), ["stuck"]);
    assert!(found[0].detail.ends_with("; every episode returns the same"), "{}", found[0].detail);
    let advice = |algorithm| {
        let subject = Subject { algorithm, ..subject() };
        insights(&subject, &alike)[0].suggestion.clone().unwrap()
    };
    assert!(advice(Some(Algorithm::Ppo)).contains("ent_coef"));
    assert!(advice(Some(Algorithm::Dqn)).contains("exploration_final_eps"));
}

#[test]
fn noise_is_no_strategy() {
    for seed in 0..20 {
        // Good on average, wild every time: neither stable nor stuck.
        check(noisy(seed, 600.0, 450.0), &[]);
        check(noisy(seed, 22.0, 10.0), &["stuck"]);
        check(noisy(seed, 485.0, 8.0), &["converged"]);
    }
}

#[test]
fn a_rise_is_told() {
    check(|idx| 22.0 + 1.5 * idx as f64, &["improving"]);
    // So late that half of the run knows nothing of it.
    check(|idx| if idx < 150 { 22.0 } else { 22.0 + 6.0 * (idx - 150) as f64 }, &["improving"]);
}

#[test]
fn a_fall_is_a_collapse_and_a_spike_is_none() {
    check(|idx| if idx < 150 { 480.0 } else { 60.0 }, &["collapse"]);
    check(|idx| if idx < 150 { 3.0 * idx as f64 } else { 22.0 }, &["collapse"]);
    // A spike up, a spike down in the middle, and one at the very end.
    check(|idx| if idx == 100 { 500.0 } else { 30.0 }, &["stuck"]);
    check(|idx| if idx == 190 { 20.0 } else { 498.0 }, &["converged"]);
    let at_the_end = ids(&subject(), &history(|idx| if idx >= 198 { 20.0 } else { 480.0 }));
    assert!(!at_the_end.contains(&"collapse"), "{at_the_end:?}");
    // Noise has bests, and does not collapse.
    for seed in 0..20 {
        let found = ids(&subject(), &history(noisy(seed, 22.0, 12.0)));
        assert!(!found.contains(&"collapse"), "{found:?}");
        let nowhere = Subject { level: None, ..subject() };
        let found = ids(&nowhere, &history(noisy(seed, 0.0, 1.0)));
        assert!(!found.contains(&"collapse"), "{found:?}");
    }
}

#[test]
fn without_a_level_a_flat_curve_is_a_plateau() {
    let nowhere = Subject { level: None, ..subject() };
    assert_eq!(ids(&nowhere, &history(|idx| (idx as f64).min(60.0))), ["plateau", "variance_fell"]);
    assert_eq!(ids(&nowhere, &history(|idx| idx as f64)), ["improving"]);
    assert_eq!(
        ids(&nowhere, &history(|idx| if idx < 150 { idx as f64 } else { 2.0 })),
        ["collapse"]
    );
}

#[test]
fn variance_falls_or_does_not() {
    let mut calm = history(|_| 498.0);
    let mut rng = Rng::with_seed(1);
    for (idx, found) in calm.returns.iter_mut().enumerate() {
        found.reward = 480.0 + (rng.f64() - 0.5) * if idx < 200 { 80.0 } else { 10.0 };
    }
    let found = insights(&subject(), &calm);
    let fell = found.iter().find(|insight| insight.id == Finding::VarianceFell).unwrap();
    assert_eq!(fell.sentence, "Variance reduced by 99% over last 200 episodes");
    assert_eq!((fell.evidence.from_step, fell.evidence.to_step), (1_000, 200_000));
    // Noise of the same spread does not fall, whatever the seed.
    for seed in 0..50 {
        let mut same = calm.clone();
        let mut rng = Rng::with_seed(seed);
        same.returns.iter_mut().for_each(|found| found.reward = 480.0 + 40.0 * (rng.f64() - 0.5));
        assert!(!ids(&subject(), &same).contains(&"variance_fell"), "seed {seed}");
    }
}

#[test]
fn updates_that_go_wrong_are_named() {
    let rising = || history(|idx| 22.0 + 1.5 * idx as f64);
    let stuck = || history(uneven);
    let check = |history: History, expected: &[&str]| {
        assert_eq!(ids(&subject(), &history), expected);
    };
    check(with(rising(), Metric::ApproxKl, vec![0.2; 200]), &["kl_high", "improving"]);
    check(with(rising(), Metric::ApproxKl, vec![0.02; 200]), &["improving"]);
    // One wild update among twenty.
    let spike = (0..200).map(|idx| if idx == 195 { 9.0 } else { 0.02 });
    check(with(rising(), Metric::ApproxKl, spike), &["improving"]);
    check(with(stuck(), Metric::ApproxKl, vec![0.0001; 200]), &["stuck", "learning_rate_low"]);
    let fading = (0..200).map(|idx| 0.69 * 0.97_f64.powi(idx));
    check(with(stuck(), Metric::Entropy, fading.clone()), &["stuck", "entropy_gone"]);
    // Who has solved the task need try nothing new.
    check(with(history(|_| 498.0), Metric::Entropy, fading), &["converged"]);
    check(
        with(stuck(), Metric::ExplainedVariance, vec![0.01; 200]),
        &["stuck", "value_not_learning"],
    );
    check(with(stuck(), Metric::ExplainedVariance, vec![0.8; 200]), &["stuck"]);
    let broken = (0..200).map(|idx| if idx > 180 { f64::NAN } else { 0.1 });
    check(with(rising(), Metric::Loss, broken), &["not_finite", "improving"]);
}

#[test]
fn a_slow_machine_is_noticed_and_a_pause_is_not() {
    let rising = || history(|idx| 22.0 + 1.5 * idx as f64);
    let paced = |seconds: &dyn Fn(usize) -> f64| {
        let mut history = with(rising(), Metric::StepsPerSecond, vec![1.0; 200]);
        let mut t = 0.0;
        for (idx, point) in history.series.get_mut("time/fps").unwrap().iter_mut().enumerate() {
            t += seconds(idx);
            point.t = t;
        }
        history
    };
    let slow = paced(&|idx| if idx > 170 { 3.0 } else { 1.0 });
    assert_eq!(ids(&subject(), &slow), ["throughput_drop", "improving"]);
    let pause = paced(&|idx| if idx == 195 { 3_600.0 } else { 1.0 });
    assert_eq!(ids(&subject(), &pause), ["improving"]);
    let ended = Subject { state: RunState::Succeeded, ..subject() };
    assert_eq!(ids(&ended, &slow), ["improving"]);
}

#[test]
fn silence_is_told() {
    let rising = history(|idx| 22.0 + 1.5 * idx as f64);
    let late = Subject { silence_s: Some(12.0), ..subject() };
    assert_eq!(ids(&late, &rising), ["heartbeat_stale", "improving"]);
    let lost = Subject { state: RunState::Lost, ..subject() };
    assert_eq!(insights(&lost, &rising)[0].severity, Severity::Error);
    let ended = Subject { state: RunState::Succeeded, ..late };
    assert_eq!(ids(&ended, &rising), ["improving"]);
}

#[test]
fn a_beginning_is_too_early() {
    let found = Insights::of(&"r-000000".parse().unwrap(), &subject(), &History::default());
    assert_eq!(found.insights[0].id, Finding::TooEarly);
    let early = Subject { step: 4_000, ..subject() };
    // Flat at random after a hundredth of the steps is no sign of anything.
    assert_eq!(ids(&early, &history(|_| 22.0)), [""; 0]);
}

#[test]
fn the_four_sentences_stand_as_they_are() {
    let sentence = |history: &History, id: Finding| {
        let found = insights(&subject(), history).into_iter().find(|insight| insight.id == id);
        found.unwrap().sentence
    };
    assert_eq!(
        sentence(&history(|_| 498.0), Finding::Converged),
        "Agent has converged on a stable strategy"
    );
    let stuck = history(|_| 30.0);
    assert_eq!(
        sentence(&stuck, Finding::Stuck),
        "Training may be stuck, try different learning rate"
    );
    let moved = with(stuck, Metric::ApproxKl, vec![0.2; 200]);
    assert_eq!(sentence(&moved, Finding::KlHigh), "Consider adjusting learning_rate");
}

#[test]
fn what_is_going_on_is_said_plainly() {
    let found = Insights::of(&"r-000000".parse().unwrap(), &subject(), &history(uneven));
    assert_eq!(
        found.summary,
        "Cart Pole, PPO, seed 1 is learning, after 50% of its steps. It scores about 30.0 now; \
         playing at random scores 22.0, and 475 is good. The agent is no better than one that acts \
         at random, and is not improving."
    );
    let detail = &found.insights[0].detail;
    assert_eq!(detail, "Stuck at a plateau of 30.0, random is 22.0, solved is 475");
}

/// A run that was trained for real, with its series thinned out, and what is said of it.
#[derive(Deserialize)]
struct RealRun {
    about: String,
    env_id: String,
    algo: Algorithm,
    step: u64,
    total_steps: u64,
    evaluation: Option<f64>,
    series: BTreeMap<String, Vec<(u64, Option<f64>)>>,
    returns: Vec<(u64, f64)>,
    expected: Vec<String>,
}

#[test]
fn real_runs_are_judged_as_a_person_would() {
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for line in include_str!("tests/runs.jsonl").lines() {
        let run: RealRun = serde_json::from_str(line).unwrap();
        let mut history = History { last_row: 1, ..History::default() };
        for (name, points) in &run.series {
            let name = history::WANTED.iter().find(|metric| metric.name() == name).unwrap().name();
            let points = points.iter().enumerate();
            let points = points.map(|(idx, &(step, value))| Point { step, t: idx as f64, value });
            history.series.insert(name, points.collect());
        }
        let returns = run.returns.iter().map(|&(step, reward)| Return { step, reward });
        history.returns = returns.collect();
        let subject = Subject {
            name: run.about.clone(),
            state: RunState::Succeeded,
            step: run.step,
            total_steps: Some(run.total_steps),
            level: Level::of(&run.env_id, &Map::new()),
            algorithm: Some(run.algo),
            is_continuous: Some(run.env_id.starts_with("Pendulum")),
            target_kl: None,
            evaluation: run.evaluation,
            silence_s: None,
        };
        let said = Insights::of(&"r-000000".parse().unwrap(), &subject, &history);
        let said_ids = said.insights.iter().map(|insight| insight.id.as_str().to_owned());
        found.push((run.about.clone(), said_ids.collect::<Vec<_>>()));
        expected.push((run.about, run.expected));
        for insight in &said.insights {
            let words = [
                &insight.detail,
                &insight.plain,
                insight.suggestion.as_ref().unwrap_or(&insight.plain),
            ];
            assert!(words.iter().all(|text| !text.contains("NaN")), "{insight:#?}");
            assert!(!insight.plain.contains('_'), "{}", insight.plain);
            // Advice about a setting that the algorithm does not have is none.
            let advice = insight.suggestion.as_deref().unwrap_or_default();
            assert!(run.algo == Algorithm::Ppo || !advice.contains("ent_coef"), "{advice}");
        }
    }
    assert_eq!(found, expected);
}

#[test]
fn a_learning_rate_that_destroyed_the_policy_is_not_to_be_raised() {
    let dead = |rate: f64| {
        let wild = (0..200).map(|idx| if idx < 2 { 30.0 } else { 0.0 });
        let history = with(history(|_| 9.4), Metric::ApproxKl, wild);
        with(history, Metric::LearningRate, vec![rate; 200])
    };
    let found = insights(&subject(), &dead(0.1));
    assert_eq!(found[1].id, Finding::KlHigh);
    let advice = found[1].suggestion.as_deref();
    assert_eq!(advice, Some("Begin again with a lower learning_rate, 3e-4 instead of 0.100"));
    // Low and never wild: it may be raised.
    let timid = with(history(|_| 22.0), Metric::ApproxKl, vec![1e-6; 200]);
    let found = insights(&subject(), &with(timid.clone(), Metric::LearningRate, vec![1e-6; 200]));
    assert_eq!(found[1].suggestion.as_deref(), Some("Raise learning_rate from 1e-6 to about 3e-4"));
    // Ordinary: something else is wrong.
    let found = ids(&subject(), &with(timid, Metric::LearningRate, vec![0.003; 200]));
    assert_eq!(found, ["stuck"]);
}
