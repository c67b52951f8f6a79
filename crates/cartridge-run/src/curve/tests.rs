use cartridge_games::registry::make_env;
use cartridge_store::{EpisodeWriter, RunKind, StepRecord};
use serde_json::{Map, json};

use super::*;
use crate::episode::tests::{data, new_run, play};

/// The curve of a foreign episode with these rewards, as rows.
#[track_caller]
fn check(rewards: &[f64], points: u64, expected: &[(u64, f64, Option<f64>, Option<f64>)]) {
    let (_folder, data) = data();
    let (dir, run) = new_run(&data, RunKind::External, "SomebodysEnv-v0", &json!({}));
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    for &reward in rewards {
        let step = StepRecord {
            action: json!(0),
            reward,
            terminated: false,
            truncated: false,
            obs: None,
            t: None,
        };
        writer.step(1, "first", &step).unwrap();
    }
    let mut env = make_env("CartPole-v1", &Map::new()).unwrap();
    let mut head = play(&mut *env, 1).0;
    head.foreign_id = Some("first".to_owned());
    writer.end(&head).unwrap();
    drop(writer);
    let curve = of_episode(&mut Archive::open(&data, &run).unwrap(), 1, points).unwrap();
    assert_eq!(curve.n_steps, rewards.len() as u64);
    let rows: Vec<_> = (0..curve.step.len())
        .map(|row| (curve.step[row], curve.total[row], curve.low[row], curve.high[row]))
        .collect();
    assert_eq!(rows, expected);
}

#[test]
fn a_curve_has_no_more_points_than_asked_for_and_loses_no_spike() {
    let each = |step, total, reward| (step, total, Some(reward), Some(reward));
    check(&[1.0, 2.0], 4, &[each(1, 1.0, 1.0), each(2, 3.0, 2.0)]);
    let long: Vec<f64> = (0..25_000).map(|step| if step == 12_345 { -50.0 } else { 1.0 }).collect();
    let most = Some(1.0);
    check(&long, 2, &[(12_500, 12_449.0, Some(-50.0), most), (25_000, 24_949.0, most, most)]);
    // Stretches are of equal length, but for the last.
    check(&[1.0; 5], 2, &[(3, 3.0, most, most), (5, 5.0, most, most)]);
}

#[test]
fn rewards_that_are_not_finite_do_not_count() {
    let (nan, most) = (f64::NAN, f64::MAX);
    check(
        &[1.0, nan, nan],
        3,
        &[(1, 1.0, Some(1.0), Some(1.0)), (2, 1.0, None, None), (3, 1.0, None, None)],
    );
    check(
        &[most, most],
        2,
        &[(1, most, Some(most), Some(most)), (2, most, Some(most), Some(most))],
    );
}

#[test]
fn an_episode_of_ours_ends_at_its_return() {
    let (_folder, data) = data();
    let (dir, run) = new_run(&data, RunKind::Train, "LunarLander-v3", &json!({}));
    let (head, body) = play(&mut *make_env("LunarLander-v3", &Map::new()).unwrap(), 1);
    EpisodeWriter::open(&dir).unwrap().add(&head, &body).unwrap();
    let mut archive = Archive::open(&data, &run).unwrap();
    let curve = of_episode(&mut archive, 1, 10).unwrap();
    assert!(curve.step.len() <= 10);
    assert_eq!(curve.step.last(), Some(&u64::from(head.length)));
    assert_eq!(curve.total.last(), Some(&head.reward));
}
