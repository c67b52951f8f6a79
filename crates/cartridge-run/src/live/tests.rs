use cartridge_store::EpisodeWriter;
use serde_json::{Map, json};
use tempfile::TempDir;

use super::*;

fn run_of(env_id: &str) -> (TempDir, DataDir, RunDir, RunId) {
    run_of_kind("train", env_id)
}

fn run_of_kind(kind: &str, env_id: &str) -> (TempDir, DataDir, RunDir, RunId) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let manifest = |id| -> Manifest {
        serde_json::from_value(json!({ "format": 1, "id": id, "kind": kind, "name": "a run",
            "env_id": env_id, "config": { "env": {} }, "created_at": 1.0,
            "cartridge_version": "0.0.0" }))
        .unwrap()
    };
    let (dir, manifest) = RunDir::create(&data, manifest).unwrap();
    (folder, data, dir, manifest.id)
}

/// Plays an episode of `env_id` by `choose` and records it as episode `n`; returns its head.
fn record(dir: &RunDir, env_id: &str, n: u64, choose: impl Fn(usize) -> AnyAction) -> EpisodeHead {
    let mut env = make_world(env_id, &Map::new()).unwrap();
    let mut observation = vec![0.0; env.spec().observation];
    env.reset(Some(n), &mut observation);
    let (mut discrete, mut numbers, mut reward, mut length) = (Vec::new(), Vec::new(), 0.0, 0);
    let end = loop {
        let action = choose(length);
        match &action {
            AnyAction::Discrete(Action(index)) => discrete.push(*index as u32),
            AnyAction::Continuous(some) => numbers.extend_from_slice(some),
        }
        let outcome = env.step(action.borrow(), &mut observation);
        reward += outcome.reward;
        length += 1;
        if outcome.is_end() {
            break outcome;
        }
    };
    let head = EpisodeHead {
        episode: n,
        attempt: 1,
        lane: 0,
        seed: Some(n),
        reward,
        length: length as u32,
        step: 1000 * n,
        terminated: end.terminated,
        truncated: end.truncated,
        checkpoint_step: None,
        t: n as f64,
        foreign_id: None,
    };
    let body = if discrete.is_empty() {
        EpisodeBody::Continuous { width: (numbers.len() / length) as u32, actions: numbers }
    } else {
        EpisodeBody::Discrete(discrete)
    };
    let mut writer = EpisodeWriter::open(dir).unwrap();
    writer.add(&head, &body).unwrap();
    writer.sync().unwrap();
    head
}

#[test]
fn the_newest_episode_is_shown_as_it_was() {
    let (_folder, data, dir, id) = run_of("CartPole-v1");
    let mut show = Show::open(&data, &id).unwrap();
    assert_eq!((show.moment().source, show.moment().episode), (Source::Preview, None));
    assert!(show.advance() && !show.is_outdated().unwrap());
    // Random play goes on with other episodes until there is a recorded one.
    while show.advance() {}
    let first = show.moment();
    show.begin().unwrap();
    while show.advance() {}
    assert_ne!(show.moment(), first);

    for n in 1..=2 {
        let head = record(&dir, "CartPole-v1", n, |step| {
            AnyAction::Discrete(Action(usize::from(step % 3 == 0)))
        });
        assert_eq!(show.is_outdated().unwrap(), n == 1);
        show.begin().unwrap();
        let start = show.moment();
        assert_eq!((start.source, start.episode), (Source::Training, Some(n)));
        assert_eq!((start.step, start.reward, start.timestep), (0, 0.0, 1000 * n));
        assert_eq!((start.action, start.observation.map(|seen| seen.len())), (None, Some(4)));
        assert!(show.advance());
        assert_eq!(show.moment().action, Some(AnyAction::Discrete(Action(1))));
        while show.advance() {}
        let end = show.moment();
        assert_eq!((end.step, end.reward), (u64::from(head.length), head.reward));
    }
}

#[test]
fn numbers_are_actions_too() {
    let (_folder, data, dir, id) = run_of("Pendulum-v1");
    let head =
        record(&dir, "Pendulum-v1", 1, |step| AnyAction::Continuous(vec![(step as f32).sin()]));
    let mut show = Show::open(&data, &id).unwrap();
    while show.advance() {}
    let end = show.moment();
    assert_eq!((end.step, end.reward), (u64::from(head.length), head.reward));
}

#[test]
fn actions_that_cannot_have_been_end_the_show() {
    let (_folder, data, dir, id) = run_of("CartPole-v1");
    let head = record(&dir, "CartPole-v1", 1, |_| AnyAction::Discrete(Action(0)));
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    let head = EpisodeHead { episode: 2, ..head };
    writer.add(&head, &EpisodeBody::Discrete(vec![0, 1, 7, 0])).unwrap();
    writer.sync().unwrap();
    let mut show = Show::open(&data, &id).unwrap();
    while show.advance() {}
    assert_eq!((show.moment().episode, show.moment().step), (Some(2), 2));
}

#[test]
fn a_foreign_picture_is_seen_once() {
    let (_folder, _data, dir, _) = run_of("Theirs-v0");
    let mut frames = ForeignFrames::new(&dir);
    assert_eq!(frames.look(), None);
    let path = dir.path().join("frame.json");
    let line = json!({ "type": "frame", "episode_id": "a", "step": 3, "jpeg": "/9j/" });
    std::fs::write(&path, line.to_string()).unwrap();
    let moment = frames.look().unwrap();
    assert_eq!((moment.source, moment.step), (Source::Trainer, 3));
    assert_eq!(moment.image, Image::Pixels(PixelFormat::Jpeg, "/9j/".to_owned()));
    assert_eq!(frames.look(), None);
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "{\"type\":\"frame\",\"scene\":{\"sh").unwrap();
    assert_eq!(frames.look(), None, "it makes no sense");
}

#[test]
fn episodes_of_an_evaluation_are_seen_one_after_the_other() {
    let (_folder, data, dir, id) = run_of_kind("eval", "CartPole-v1");
    let mut show = Show::open(&data, &id).unwrap();
    assert_eq!(show.moment().source, Source::Preview);
    for n in 1..=3 {
        record(&dir, "CartPole-v1", n, |_| AnyAction::Discrete(Action(0)));
    }
    assert!(show.is_outdated().unwrap());
    let mut seen = Vec::new();
    for _ in 0..5 {
        show.begin().unwrap();
        assert_eq!(show.moment().source, Source::Evaluation);
        seen.extend(show.moment().episode);
    }
    assert_eq!(seen, [1, 2, 3, 1, 2]);
}

#[test]
fn a_board_is_seen_and_not_read_out() {
    let (_folder, data, _dir, id) = run_of("connect4");
    let mut show = Show::open(&data, &id).unwrap();
    assert!(show.advance());
    assert!(show.moment().observation.is_none() && show.moment().action.is_some());
}

#[test]
fn whose_pieces_lie_where_is_told_of_boards() {
    let (_folder, data, dir, id) = run_of("connect4");
    // The first player stacks four in column 3 while the second stacks in column 0.
    record(&dir, "connect4", 1, |step| AnyAction::Discrete(Action([3, 0][step % 2])));
    let mut show = Show::open(&data, &id).unwrap();
    assert_eq!(show.moment().pieces, Some(vec![Vec::new(); 7]));
    for _ in 0..3 {
        assert!(show.advance());
    }
    let mut expected = vec![Vec::new(); 7];
    expected[3] = vec![Seat(0), Seat(0)];
    expected[0] = vec![Seat(1)];
    assert_eq!(show.moment().pieces, Some(expected));

    let (_folder, data, _dir, id) = run_of("CartPole-v1");
    assert_eq!(Show::open(&data, &id).unwrap().moment().pieces, None, "there is no board");
}
