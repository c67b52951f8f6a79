use cartridge_games::registry::make_world;
use cartridge_store::{DataDir, EpisodeBody, EpisodeWriter, RunKind, StepRecord};

use super::*;
use crate::episode::tests as fixtures;

#[test]
fn told_actions_are_of_one_kind_or_none() {
    let check = |actions: Value, expected: Option<ActionColumn>| {
        assert_eq!(ActionColumn::told(actions.as_array().unwrap()), expected, "{actions}");
    };
    let table = |width, numbers: &[f32]| {
        Some(ActionColumn::Continuous(Table { width, numbers: numbers.to_vec() }))
    };
    check(json!([0, 3.0, 1]), Some(ActionColumn::Discrete(vec![0, 3, 1])));
    check(json!([0.5, 1]), table(1, &[0.5, 1.0]));
    check(json!([[0.5, -1], [2, 3]]), table(2, &[0.5, -1.0, 2.0, 3.0]));
    check(json!([[0.5], [2, 3]]), None);
    check(json!(["left"]), None);
    check(json!([{ "a": 1 }, 1]), None);
}

/// A run with three random episodes.
fn recorded(data: &DataDir, env_id: &str) -> Archive {
    let (dir, id) = fixtures::new_run(data, RunKind::Train, env_id, &json!({}));
    let mut env = make_world(env_id, &Map::new()).unwrap();
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    for number in 1..=3 {
        let (head, body) = fixtures::play(&mut *env, number);
        writer.add(&head, &body).unwrap();
    }
    writer.sync().unwrap();
    Archive::open(data, &id).unwrap()
}

#[test]
fn json_lines_hold_every_step_and_nothing_is_overwritten() {
    let (folder, data) = fixtures::data();
    let mut archive = recorded(&data, "Pendulum-v1");
    let path = folder.path().join("out/episodes.jsonl");
    let mut told = Vec::new();
    let mut tell = |done, all| told.push((done, all));
    let selection = Selection { numbers: Some((2, 9)), best: None };
    let summary = export(&mut archive, Format::Jsonl, &selection, &path, &mut tell).unwrap();
    assert_eq!((summary.n_episodes, summary.n_steps, told), (2, 400, vec![(1, 2), (2, 2)]));
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(summary.size_bytes, text.len() as u64);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let moments = archive.steps(2, 0..u64::MAX, false).unwrap();
    let seen: Vec<&Value> =
        moments.iter().map(|moment| moment.observation.as_ref().unwrap()).collect();
    assert_eq!(lines[0]["observations"], json!(seen));
    let actions: Vec<&Value> = moments[1..].iter().flat_map(|moment| &moment.action).collect();
    assert_eq!(lines[0]["actions"], json!(actions));
    let rewards: Vec<f64> = moments[1..].iter().flat_map(|moment| moment.reward).collect();
    assert_eq!(lines[0]["rewards"], json!(rewards));
    assert_eq!((&lines[0]["seed"], &lines[1]["episode"]), (&json!(1002), &json!(3)));
    assert_eq!(
        lines[0]["truncations"].as_array().unwrap().iter().filter(|t| **t == true).count(),
        1
    );
    let again = export(&mut archive, Format::Jsonl, &selection, &path, &mut |_, _| {});
    assert!(matches!(again, Err(RunError::DatasetExists(_))));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    // Nothing is left beside it.
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn the_best_are_chosen_by_return_and_kept_in_order() {
    let (folder, data) = fixtures::data();
    let mut archive = recorded(&data, "CartPole-v1");
    let all = select(&mut archive, &Selection::default()).unwrap();
    let mut best = all.clone();
    best.sort_by(|a, b| b.reward.total_cmp(&a.reward).then(a.episode.cmp(&b.episode)));
    let mut expected: Vec<u64> = best[..2].iter().map(|head| head.episode).collect();
    expected.sort_unstable();
    let selection = Selection { best: Some(2), ..Selection::default() };
    let chosen = select(&mut archive, &selection).unwrap();
    assert_eq!(chosen.iter().map(|head| head.episode).collect::<Vec<_>>(), expected);
    let none = Selection { numbers: Some((7, 9)), best: None };
    let path = folder.path().join("none.npz");
    let nothing = export(&mut archive, Format::Npz, &none, &path, &mut |_, _| {});
    assert!(matches!(nothing, Err(RunError::NothingToExport { .. })));
    let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with("none")));
}

#[test]
fn an_episode_that_comes_out_otherwise_is_left_out() {
    let (folder, data) = fixtures::data();
    let (dir, id) = fixtures::new_run(&data, RunKind::Train, "CartPole-v1", &json!({}));
    let mut env = make_world("CartPole-v1", &Map::new()).unwrap();
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    for number in 1..=2 {
        let (mut head, body) = fixtures::play(&mut *env, number);
        head.reward += f64::from(u8::from(number == 1));
        writer.add(&head, &body).unwrap();
    }
    writer.sync().unwrap();
    let mut archive = Archive::open(&data, &id).unwrap();
    let path = folder.path().join("run.npz");
    let summary =
        export(&mut archive, Format::Npz, &Selection::default(), &path, &mut |_, _| {}).unwrap();
    assert_eq!((summary.n_episodes, summary.left_out[0].0), (1, 1));
}

#[test]
fn a_foreign_episode_is_stepped_again_if_that_gives_what_was_told() {
    let (_folder, data) = fixtures::data();
    let (dir, id) = fixtures::new_run(&data, RunKind::External, "CartPole-v1", &json!({}));
    let mut env = make_world("CartPole-v1", &Map::new()).unwrap();
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    for number in 1..=2_u64 {
        let (head, body) = fixtures::play(&mut *env, number);
        let EpisodeBody::Discrete(actions) = body else { unreachable!("they are of a list") };
        let name = number.to_string();
        for (place, action) in (1..).zip(&actions) {
            let record = StepRecord {
                action: json!(action),
                // The second was played in another world.
                reward: number as f64,
                terminated: place == actions.len(),
                truncated: false,
                obs: Some(json!({ "place": place })),
                t: None,
            };
            writer.step(1, &name, &record).unwrap();
        }
        let reward = number as f64 * actions.len() as f64;
        writer.end(&EpisodeHead { reward, foreign_id: Some(name), ..head }).unwrap();
    }
    writer.sync().unwrap();
    let mut archive = Archive::open(&data, &id).unwrap();
    let first = archive.transitions(1).unwrap();
    let mut expected = vec![0.0; 4];
    env.reset(Some(1001), &mut expected);
    assert_eq!(first.observations.unwrap().numbers[..4], expected);
    let second = archive.transitions(2).unwrap();
    assert_eq!(second.observations, None);
    assert_eq!(second.told.unwrap()[0], json!({ "place": 1 }));
}
