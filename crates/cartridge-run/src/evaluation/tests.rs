use super::*;

fn policy() -> Policy {
    Policy::new(4, 2, &mut fastrand::Rng::with_seed(1))
}

/// Plays one episode by itself, step by step.
fn alone(policy: &Policy, episode: usize) -> (f64, u32) {
    let mut env = make_env("CartPole-v1", &Map::new()).unwrap();
    let mut observation = [0.0; 4];
    env.reset(Some(Manner::greedy(64, 7).seeds[episode]), &mut observation);
    let (mut total, mut length) = (0.0, 0);
    loop {
        let choices = policy.choose(&observation, &[true; 2], 1);
        let step = env.step(choices.get(0), &mut observation);
        total += step.reward;
        length += 1;
        if step.is_end() {
            return (total, length);
        }
    }
}

#[test]
fn episodes_do_not_depend_on_those_beside_them() {
    let policy = policy();
    // More than are played side by side, so that lanes are used again.
    let outcome = evaluate(&policy, "CartPole-v1", &Map::new(), 50, 7).unwrap();
    let expected: Vec<(f64, u32)> = (0..50).map(|episode| alone(&policy, episode)).collect();
    let got: Vec<(f64, u32)> =
        outcome.returns.iter().copied().zip(outcome.lengths.iter().copied()).collect();
    assert_eq!(got, expected);
    assert_eq!(outcome.terminated + outcome.truncated, 50);
    let few = evaluate(&policy, "CartPole-v1", &Map::new(), 3, 7).unwrap();
    assert_eq!(few.returns, outcome.returns[..3]);
}

#[test]
fn only_legal_actions_are_taken() {
    let policy = Policy::new(260, 69, &mut fastrand::Rng::with_seed(1));
    let options = serde_json::from_str(r#"{"reward": "published"}"#).unwrap();
    let outcome = evaluate(&policy, "AsteroidProspector-v0", &options, 3, 7).unwrap();
    for episode in 0..3 {
        let mut env = make_env("AsteroidProspector-v0", &options).unwrap();
        let (mut observation, mut mask) = ([0.0; 260], [false; 69]);
        env.reset(Some(Manner::greedy(64, 7).seeds[episode]), &mut observation);
        let mut total = 0.0;
        loop {
            env.legal_actions(&mut mask);
            let choices = policy.choose(&observation, &mask, 1);
            let step = env.step(choices.get(0), &mut observation);
            assert!(!step.is_invalid);
            total += step.reward;
            if step.is_end() {
                break;
            }
        }
        assert_eq!(outcome.returns[episode], total);
    }
}

#[test]
fn the_summary_by_hand() {
    let outcome = Outcome {
        returns: vec![1.0, 2.0, 3.0, 4.0, 5.0],
        lengths: vec![10; 5],
        terminated: 5,
        truncated: 0,
        ..Outcome::default()
    };
    let summary = outcome.summary(9);
    assert_eq!((summary.mean, summary.mean_length, summary.episodes), (3.0, 10.0, 5));
    assert!((summary.std - 2.5_f64.sqrt()).abs() < 1e-12);
    // t(0.975, 4) = 2.7764 (tables), times std / sqrt(5).
    let half = 2.7764 * 2.5_f64.sqrt() / 5.0_f64.sqrt();
    assert!((summary.ci95[1] - 3.0 - half).abs() < 0.01, "{:?} is not 3 +- {half}", summary.ci95);
    let one = Outcome { returns: vec![4.0], lengths: vec![4], terminated: 1, ..Outcome::default() };
    assert_eq!(one.summary(0).ci95, [4.0, 4.0]);
}

#[test]
fn student_quantiles_match_the_tables() {
    for (n, expected) in [(5, 2.776), (10, 2.262), (30, 2.045), (100, 1.984), (1000, 1.962)] {
        let got = student_t95(n);
        assert!((got - expected).abs() < 0.01, "{n}: {got} is not {expected}");
    }
}

#[test]
fn what_the_environment_measures_is_averaged_over_episodes() {
    let outcome = Outcome {
        returns: vec![1.0, 2.0],
        lengths: vec![1, 1],
        metrics: BTreeMap::from([("profit".to_owned(), vec![10.0, 30.0])]),
        ..Outcome::default()
    };
    let summary = outcome.summary(7);
    assert_eq!(summary.metrics, BTreeMap::from([("profit".to_owned(), 20.0)]));
    let names: Vec<String> = metric_values(&summary).map(|(name, _)| name).collect();
    let ours = ["eval/mean_reward", "eval/ci95_low", "eval/ci95_high", "eval/mean_ep_length"];
    assert_eq!(names, [&ours[..], &["eval/profit"]].concat());
}
