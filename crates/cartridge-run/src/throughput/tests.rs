use super::training::{Extent, measure_training};
use super::*;
use crate::config::Draft;

#[test]
fn rates_by_hand() {
    let reading = |steps: u64| Reading { steps, ..Reading::default() };
    let at = |seconds: u64, steps: u64| (Duration::from_secs(seconds), reading(steps));
    // 10, 30, 20 and 40 per second.
    let readings = [at(0, 5), at(1, 15), at(2, 45), at(3, 65), at(4, 105)];
    let rate = rate(&readings, |reading| reading.steps);
    assert_eq!(rate, Rate { mean: 25.0, p50: 20.0, p95: 40.0 });
}

#[test]
fn drawn_actions_are_legal_and_never_quit() {
    let spec = make_env("AsteroidProspector-v0", &Map::new()).unwrap().spec();
    let mut mask = vec![false; 69];
    for action in [3, 6, 50, 68] {
        mask[action] = true;
    }
    let mut rng = fastrand::Rng::with_seed(0);
    let mut counts = [0; 69];
    for _ in 0..3000 {
        counts[draw(&mask, spec, &mut rng).0] += 1;
    }
    assert!([3, 6, 50].iter().all(|&action| (900..1100).contains(&counts[action])), "{counts:?}");
    assert_eq!(counts[68], 0);
}

#[test]
fn a_short_measurement_counts_decisions_and_ticks() {
    for (env, has_longer_steps) in [("CartPole-v1", false), ("AsteroidProspector-v0", true)] {
        let plan = Plan {
            env: env.to_owned(),
            options: Map::new(),
            envs: 5,
            threads: 2,
            seconds: 0.3,
            seed: 1,
        };
        let result = measure(&plan).unwrap();
        assert!(result.steps_per_sec.mean > 1000.0 && result.episodes > 0, "{result:?}");
        // The threads are not stopped between the reading of one count and of the other.
        let has_more_ticks = result.ticks_per_sec.mean > 1.01 * result.steps_per_sec.mean;
        assert_eq!(has_more_ticks, has_longer_steps, "{result:?}");
        assert!((result.phases.share("act") + result.phases.share("step") - 1.0).abs() < 1e-9);
        assert!(result.rss_mb > 0.0);
    }
}

/// Trains for a moment and compares which parts took time.
#[track_caller]
fn check_parts(algo: &str, settings: &[&str], extent: Extent, expected: &[&str]) {
    let mut draft = Draft::new("CartPole-v1", algo).unwrap();
    settings.iter().for_each(|assignment| draft.set_text(assignment).unwrap());
    let result = measure_training(&draft.finish().unwrap(), extent, 0.3).unwrap();
    assert!(result.steps_per_sec.mean > 100.0 && result.updates > 0, "{result:?}");
    let spent = result.phases.0.iter().filter(|(_, spent)| spent.seconds > 0.0);
    assert_eq!(spent.map(|(name, _)| *name).collect::<Vec<_>>(), expected);
    let shares: f64 = result.phases.0.iter().map(|(_, spent)| spent.share).sum();
    assert!((shares - 1.0).abs() < 1e-9);
    assert_eq!(result.recording_percent > 0.0, extent != Extent::Rollout, "{result:?}");
}

#[test]
fn a_training_is_measured_part_by_part_and_begun_again() {
    // So short that some end within the time.
    let short = ["trainer.total_timesteps=5000", "evaluation.final_episodes=1"];
    check_parts("ppo", &short, Extent::Rollout, &["act"]);
    check_parts("ppo", &short, Extent::Trainer, &["act", "judge", "learn", "record"]);
    let all = ["act", "judge", "learn", "record", "evaluate"];
    check_parts("ppo", &short, Extent::TrainerAndEvaluation, &all);
    check_parts("dqn", &short, Extent::Rollout, &["act"]);
    check_parts("dqn", &short, Extent::Trainer, &["act", "learn", "record"]);
}
