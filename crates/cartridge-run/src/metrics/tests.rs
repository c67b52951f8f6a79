use super::*;

/// Asks a row with `stored` values for `key`.
#[track_caller]
fn check(stored: &[(&str, f64)], key: &str, expected: Option<f64>) {
    let values = stored.iter().map(|(name, value)| ((*name).to_owned(), Some(*value))).collect();
    let row = MetricValues { row: 1, step: 2, t: 3.0, values };
    let names = stored_names(&[key]);
    assert!(expected.is_none() || stored.iter().any(|(name, _)| names.contains(name)));
    let found = rename_row(&row, &[key], None).values;
    assert_eq!(found.get(key).copied().flatten(), expected);
    let series = stored.iter().map(|(name, value)| SeriesPoints {
        key: (*name).to_owned(),
        step: vec![2],
        t: vec![3.0],
        value: vec![Some(*value), None],
    });
    let found = rename_series(&series.collect::<Vec<_>>(), &[key]);
    let value = found.first().and_then(|series| series.value[0]);
    assert_eq!(value, expected);
    assert!(found.iter().all(|series| series.key == key && series.value[1].is_none()));
}

#[test]
fn the_names_of_other_libraries_are_answered() {
    check(&[("time/fps", 9.0)], "charts/SPS", Some(9.0));
    check(&[("time/fps", 9.0)], "time/fps", Some(9.0));
    check(&[("rollout/ep_rew_mean", 9.0)], "charts/avg_episodic_return", Some(9.0));
    check(&[("charts/episodic_return", 9.0)], "rollout/ep_rew_mean", Some(9.0));
    check(&[("time/fps", 9.0)], "charts/spam", None);
    check(&[("episode/profit", 9.0)], "episode/profit", Some(9.0));
}

/// Asks for what follows from the row at step 4,096, ten seconds after the beginning.
#[track_caller]
fn check_derived(stored: &[(&str, f64)], origin: Option<Origin>, key: &str, expected: Option<f64>) {
    let values = stored.iter().map(|(name, value)| ((*name).to_owned(), Some(*value))).collect();
    let row = MetricValues { row: 7, step: 4_096, t: 110.0, values };
    let found = rename_row(&row, &[key], origin.as_ref()).values;
    assert_eq!(found.get(key).copied().flatten(), expected);
    let series = as_series(&[row]);
    assert!(
        series
            .iter()
            .all(|series| expected.is_none() || stored_names(&[key]).contains(&&*series.key))
    );
    let found = answer_series(&series, &[key], origin.as_ref());
    assert_eq!(found.first().and_then(|series| series.value[0]), expected);
    assert!(found.iter().all(|series| series.key == key && series.step == [4_096]));
}

#[test]
fn what_follows_from_a_row_is_answered_and_stored_nowhere() {
    let update = &[("time/fps", 9.0)][..];
    let ours = Some(Origin { started_at: Some(100.0), steps_per_update: Some(2_048) });
    check_derived(update, ours, "time/total_timesteps", Some(4_096.0));
    check_derived(update, ours, "time/time_elapsed", Some(10.0));
    check_derived(update, ours, "time/iterations", Some(2.0));
    let of_games = Some(Origin { started_at: Some(100.0), steps_per_update: None });
    check_derived(update, of_games, "time/iterations", None);
    check_derived(&[("eval/mean_reward", 9.0)], ours, "time/iterations", None);
    // A trainer that is not ours tells what it likes itself.
    check_derived(update, None, "time/iterations", None);
    check_derived(&[("time/iterations", 5.0)], None, "time/iterations", Some(5.0));
    check_derived(&[("time/iterations", 5.0)], ours, "time/iterations", Some(5.0));
}

#[test]
fn episodes_are_told_one_by_one() {
    // A mean over episodes is not one of them, and what a trainer stores itself is what it means.
    check(&[("rollout/ep_rew_mean", 9.0)], "charts/episodic_return", None);
    check(&[("charts/episodic_return", 9.0)], "charts/episodic_return", Some(9.0));
    let keys = ["time/fps", "charts/episodic_length", "charts/episodic_return"];
    let own = |key: &str| key == "charts/episodic_return";
    assert_eq!(keys_of_episodes(&keys, own), ["charts/episodic_length"]);
    let asked = keys_of_episodes(&keys, |_| false);
    assert_eq!(asked, keys[1..]);

    let told = |row: u64, ends: &[u64]| ToldRow {
        row,
        t: row as f64,
        episodes: Episodes {
            episode: ends.to_vec(),
            reward: ends.iter().map(|end| (*end != 8).then_some(*end as f64 / 2.0)).collect(),
            length: ends.iter().map(|end| *end as u32 + 1).collect(),
            timestep: ends.to_vec(),
            seed: vec![None; ends.len()],
            terminated: vec![true; ends.len()],
        },
    };
    let told = [told(1, &[3, 4]), told(2, &[8])];
    let row = |row| MetricValues { row, step: 5 * row, t: row as f64, values: BTreeMap::new() };
    let lines = with_episodes(vec![row(1), row(2)], &told, &asked);
    let found: Vec<(u64, u64, Vec<Option<f64>>)> =
        lines.iter().map(|it| (it.row, it.step, it.values.values().copied().collect())).collect();
    assert_eq!(
        found,
        [
            (1, 3, vec![Some(4.0), Some(1.5)]),
            (1, 4, vec![Some(5.0), Some(2.0)]),
            (1, 5, vec![]),
            (2, 8, vec![Some(9.0), None]),
            (2, 10, vec![]),
        ]
    );
    let series = episode_series(&told, "charts/episodic_return", 9, (4, 8));
    assert_eq!((series.step, series.value), (vec![4, 8], vec![Some(2.0), None]));
    assert_eq!(series.t, [1.0, 2.0]);
}

#[test]
fn signs_and_scales_are_those_of_the_name() {
    check(&[("train/entropy", 0.6)], "losses/entropy", Some(0.6));
    check(&[("train/entropy", 0.6)], "train/entropy_loss", Some(-0.6));
    check(&[("train/value_loss", 8.0)], "losses/value_loss", Some(4.0));
}

#[test]
fn what_a_foreign_trainer_stored_is_found_by_our_names() {
    check(&[("train/entropy_loss", -0.6)], "train/entropy", Some(0.6));
    check(&[("train/entropy_loss", -0.6)], "losses/entropy", Some(0.6));
    check(&[("charts/SPS", 9.0)], "time/fps", Some(9.0));
    // What is stored under the name itself is what is meant.
    check(&[("charts/SPS", 9.0), ("time/fps", 8.0)], "charts/SPS", Some(9.0));
    check(&[("charts/SPS", 9.0), ("time/fps", 8.0)], "time/fps", Some(8.0));
}
