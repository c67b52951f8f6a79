use super::*;

/// Feeds runs of equal returns and compares after how many episodes it is reached first.
#[track_caller]
fn check(env_id: &str, threshold: Option<f64>, returns: &[(usize, f64)], expected: Option<usize>) {
    let mut saturation = Saturation::new(Rule::of(env_id, threshold).unwrap());
    let all = returns.iter().flat_map(|&(n, reward)| std::iter::repeat_n(reward, n));
    let reached = all.enumerate().find_map(|(index, reward)| {
        saturation.add(reward);
        saturation.is_reached().then_some(index + 1)
    });
    assert_eq!(reached, expected);
}

#[test]
fn the_goal_is_enough_after_some_episodes() {
    check("CartPole-v1", None, &[(200, 500.0)], Some(80));
    check("LunarLander-v3", None, &[(200, 231.0)], Some(120));
    check("BipedalWalker-v3", None, &[(200, 319.0)], Some(160));
    // The mean of 30 is within 2 of 500 with two or fewer episodes at 470.
    check("CartPole-v1", None, &[(100, 20.0), (2, 470.0), (100, 500.0)], Some(130));
    check("CartPole-v1", None, &[(500, 20.0)], None);
}

#[test]
fn a_plateau_is_enough_where_it_is_good() {
    // Both windows lie on it from the sixtieth episode on; before that the mean still rises.
    check("CartPole-v1", None, &[(100, 20.0), (100, 475.0)], Some(100 + 60));
    check("CartPole-v1", None, &[(500, 469.0)], None);
    // Falling is not rising.
    check("CartPole-v1", None, &[(60, 490.0), (60, 480.0)], Some(80));
    check("LunarLander-v3", None, &[(200, 215.0)], Some(120));
    check("LunarLander-v3", None, &[(200, 280.0)], Some(120));
    check("LunarLander-v3", None, &[(200, 209.0)], None);
}

#[test]
fn other_environments_have_their_threshold_as_plateau() {
    check("Acrobot-v1", Some(-100.0), &[(200, -90.0)], Some(100));
    check("Acrobot-v1", Some(-100.0), &[(200, -101.0)], None);
    // A hundredth of what a negative mean is counts as no rise either.
    check("Acrobot-v1", Some(-100.0), &[(60, -90.0), (40, -89.5)], Some(100));
    check("Acrobot-v1", Some(-100.0), &[(60, -90.0), (40, -80.0)], None);
    assert_eq!(Rule::of("Pendulum-v1", None), None);
}

#[test]
fn feeding_what_it_remembers_restores_it() {
    let mut rng = fastrand::Rng::with_seed(7);
    let rule = Rule::of("CartPole-v1", None).unwrap();
    let mut whole = Saturation::new(rule);
    let mut returns = Vec::new();
    for _ in 0..2_000 {
        let reward = 440.0 + 60.0 * rng.f64();
        whole.add(reward);
        returns.push(reward);
        let mut restored = Saturation::new(rule);
        let first = returns.len().saturating_sub(restored.memory());
        returns[first..].iter().for_each(|&reward| restored.add(reward));
        assert_eq!(restored.is_reached(), whole.is_reached());
    }
}
