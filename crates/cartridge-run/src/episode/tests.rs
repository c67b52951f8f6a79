use std::ops::Range;

use cartridge_games::ActionSpace;
use cartridge_store::{EpisodeWriter, RunDir};
use serde_json::json;

use super::*;
use crate::human::Session;
use crate::play::{NewPlay, Side};
use crate::player::Door;
use crate::trace::{self, trace};

pub(crate) fn data() -> (tempfile::TempDir, DataDir) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    (folder, data)
}

pub(crate) fn new_run(data: &DataDir, kind: RunKind, env_id: &str, env: &Value) -> (RunDir, RunId) {
    // By JSON, so that what a manifest may have besides does not matter here.
    let manifest = |id| {
        let manifest = json!({
            "format": Manifest::FORMAT, "id": id, "kind": kind, "name": "a test",
            "env_id": env_id, "config": { "env": env }, "created_at": 1.0,
            "cartridge_version": "0",
        });
        serde_json::from_value(manifest).unwrap()
    };
    let (dir, manifest) = RunDir::create(data, manifest).unwrap();
    (dir, manifest.id)
}

/// Plays an episode at random, as a lane of a learner does, and hands it out as it is recorded.
pub(crate) fn play(env: &mut dyn Env, number: u64) -> (EpisodeHead, EpisodeBody) {
    let spec = env.spec();
    let seed = 1000 + number;
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut observation = vec![0.0; spec.observation];
    let mut mask = vec![true; spec.actions.size()];
    let mut actions = Actions::new(&spec.actions);
    env.reset(Some(seed), &mut observation);
    let mut reward = 0.0;
    let (terminated, truncated) = loop {
        env.legal_actions(&mut mask);
        let action = spec.actions.sample(&mask, &mut rng);
        actions.push(action.borrow());
        let step = env.step(action.borrow(), &mut observation);
        reward += step.reward;
        if step.is_end() {
            break (step.terminated, step.truncated);
        }
    };
    let head = EpisodeHead {
        episode: number,
        attempt: 1,
        lane: 0,
        seed: Some(seed),
        reward,
        length: actions.len() as u32,
        step: number,
        terminated,
        truncated,
        checkpoint_step: None,
        t: number as f64,
        foreign_id: None,
    };
    (head, body_of(actions))
}

/// Recorded episodes are computed again to what `trace` prints, moment by moment.
#[track_caller]
fn check(env_id: &str, options: &Value) {
    let (_folder, data) = data();
    let (dir, id) = new_run(&data, RunKind::Train, env_id, options);
    let options = options.as_object().unwrap();
    let mut env = make_world(env_id, options).unwrap();
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    let played: Vec<_> = (1..=3).map(|number| play(&mut *env, number)).collect();
    for (head, body) in &played {
        writer.add(head, body).unwrap();
    }
    writer.sync().unwrap();

    let mut archive = Archive::open(&data, &id).unwrap();
    for (head, body) in played {
        let replay = archive.replay(head.episode).unwrap();
        assert!(replay.matches, "{env_id}: {head:?}");
        assert_eq!(replay.head, head);
        let moments = archive.steps(head.episode, 0..u64::MAX, false).unwrap();
        let mut expected = Vec::new();
        let actions = match body {
            EpisodeBody::Discrete(actions) => json!(actions),
            EpisodeBody::Continuous { width, actions } => {
                json!(actions.chunks(width as usize).collect::<Vec<_>>())
            }
            EpisodeBody::Steps(_) => unreachable!("it is one of ours"),
        };
        let given = trace::Actions::Given(serde_json::from_value(actions).unwrap());
        trace(env_id, options, head.seed.unwrap(), vec![given], |moment| {
            expected.push(serde_json::to_value(moment).unwrap());
        })
        .unwrap();
        for (step, (moment, expected)) in moments.iter().zip(&mut expected).enumerate() {
            expected["step"] = json!(step);
            assert_eq!(&serde_json::to_value(moment).unwrap(), expected, "{env_id}");
        }
        assert_eq!(moments.len(), expected.len());
    }
}

#[test]
fn episodes_of_every_environment_are_computed_again() {
    for spec in cartridge_games::registry::environments() {
        check(spec.id, &json!({}));
    }
    check("LunarLander-v3", &json!({ "continuous": true }));
}

#[test]
fn scenes_do_not_depend_on_the_order_in_which_they_are_asked_for() {
    let (_folder, data) = data();
    let (dir, id) = new_run(&data, RunKind::Train, "LunarLander-v3", &json!({}));
    let mut env = make_world("LunarLander-v3", &Map::new()).unwrap();
    let (head, body) = play(&mut *env, 1);
    EpisodeWriter::open(&dir).unwrap().add(&head, &body).unwrap();
    let scene = |archive: &mut Archive, step: u64| {
        let moments = archive.steps(1, step..step + 1, true).unwrap();
        moments.into_iter().next().and_then(|moment| moment.scene)
    };
    let in_order: Vec<Option<Scene>> = {
        let mut archive = Archive::open(&data, &id).unwrap();
        (0..=u64::from(head.length)).map(|step| scene(&mut archive, step)).collect()
    };
    let mut archive = Archive::open(&data, &id).unwrap();
    for step in [40, 3, 41, 0, u64::from(head.length), 12] {
        assert_eq!(scene(&mut archive, step), in_order[step as usize], "step {step}");
    }
    assert_ne!(in_order[0], in_order[40]);
    assert_eq!(scene(&mut archive, u64::from(head.length) + 1), None);
    // Pictures come only where they are asked for, and a range is as long as was asked.
    let moments = archive.steps(1, 5..9, false).unwrap();
    assert_eq!(
        moments.iter().map(|it| (it.step, it.scene.is_some())).collect::<Vec<_>>(),
        [(5, false), (6, false), (7, false), (8, false)]
    );
}

#[test]
fn what_does_not_replay_is_said() {
    let (_folder, data) = data();
    let (dir, id) = new_run(&data, RunKind::Train, "CartPole-v1", &json!({}));
    let mut env = make_world("CartPole-v1", &Map::new()).unwrap();
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    let (head, body) = play(&mut *env, 1);
    writer.add(&EpisodeHead { reward: head.reward + 1.0, ..head.clone() }, &body).unwrap();
    let longer = EpisodeBody::Discrete(vec![1; 600]);
    writer.add(&EpisodeHead { episode: 2, length: 600, ..head.clone() }, &longer).unwrap();
    let other = EpisodeBody::Discrete(vec![7]);
    writer.add(&EpisodeHead { episode: 3, length: 1, ..head.clone() }, &other).unwrap();
    let wrong = EpisodeBody::Continuous { width: 1, actions: vec![0.5] };
    writer.add(&EpisodeHead { episode: 4, length: 1, ..head.clone() }, &wrong).unwrap();
    writer.add(&EpisodeHead { episode: 5, seed: None, ..head }, &body).unwrap();
    drop(writer);
    let mut archive = Archive::open(&data, &id).unwrap();
    assert!(!archive.replay(1).unwrap().matches);
    let mut error = |n| archive.replay(n).unwrap_err().to_string();
    assert!(error(2).contains("it goes on after its end"), "{}", error(2));
    assert!(error(3).contains("is no action of CartPole-v1"), "{}", error(3));
    assert!(error(4).contains("is no action of CartPole-v1"), "{}", error(4));
    assert!(error(5).contains("its seed is not known"), "{}", error(5));
    assert_eq!(error(6), format!("run `{id}` has no episode 6"));
}

#[test]
fn foreign_steps_are_read_as_they_were_told() {
    let (_folder, data) = data();
    let (dir, id) = new_run(&data, RunKind::Train, "SomebodysEnv-v0", &json!({}));
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    let told = |number: u64| StepRecord {
        action: json!({ "left": number }),
        reward: number as f64,
        terminated: number == 4,
        truncated: false,
        obs: Some(json!([number])),
        t: Some(number as f64),
    };
    (0..5).for_each(|number| writer.step(1, "first", &told(number)).unwrap());
    let mut env = make_world("CartPole-v1", &Map::new()).unwrap();
    let head = EpisodeHead { foreign_id: Some("first".to_owned()), ..play(&mut *env, 1).0 };
    writer.end(&head).unwrap();
    drop(writer);
    let mut archive = Archive::open(&data, &id).unwrap();
    let moments = archive.steps(1, 0..3, true).unwrap();
    assert_eq!(moments, [Moment::told(1, told(0)), Moment::told(2, told(1))]);
    let moments = archive.steps(1, 4..100, false).unwrap();
    assert_eq!(moments, [Moment::told(4, told(3)), Moment::told(5, told(4))]);
    assert_eq!(archive.steps(1, Range { start: 9, end: 3 }, false).unwrap(), []);
    let replay = archive.replay(1).unwrap();
    assert_eq!((replay.n_steps(), replay.spec()), (5, None));
}

#[test]
fn a_persons_episodes_come_through_the_same_door() {
    let (_folder, data) = data();
    let record = Record::begin(&data, "0", "CartPole-v1", Map::new(), Some(5)).unwrap();
    let id = record.manifest.id;
    let (mut session, mut journal) = Session::open(&data, &id).unwrap();
    let mut play = |held: &[usize]| {
        while !session.episode().is_over() {
            session.step(held);
        }
        let episode = *session.episode();
        session.restart(Some(6));
        journal.keep(&session.take_news()).unwrap();
        episode
    };
    let (first, second) = (play(&[0]), play(&[1]));
    let mut archive = Archive::open(&data, &id).unwrap();
    let page = archive.page(Sort::Number, Order::Descending, 0, 10).unwrap();
    assert_eq!(page.heads.iter().map(|head| head.episode).collect::<Vec<_>>(), [3, 2, 1]);
    for (number, episode) in [(1, first), (2, second)] {
        let replay = archive.replay(number).unwrap();
        assert!(replay.matches);
        assert_eq!(u64::from(replay.head.length), episode.length);
        let moments = archive.steps(number, 0..u64::MAX, true).unwrap();
        assert_eq!(moments.len() as u64, episode.length + 1);
        assert_eq!(moments.last().unwrap().terminated, Some(true));
    }
    assert_eq!(archive.replay(3).unwrap().n_steps(), 0, "it waits to be played");
}

#[test]
fn a_persons_game_on_a_board_is_an_episode_as_it_stands() {
    let (_folder, data) = data();
    let new = NewPlay {
        game: "tictactoe",
        opponent: "builtin:random",
        door: Door::Http,
        side: Side::First,
        seed: 5,
        owner: "ada",
    };
    let id = Play::begin(&data, "0", new).unwrap().manifest.id;
    let mut archive = Archive::open(&data, &id).unwrap();
    let total =
        |archive: &mut Archive| archive.page(Sort::Time, Order::Ascending, 0, 9).unwrap().total;
    assert_eq!(total(&mut archive), 0, "nothing was played yet");
    assert!(archive.replay(1).is_err());
    let mut play = Play::make_move(&data, &id, 4, 0).unwrap();
    let replay = archive.replay(1).unwrap();
    assert!(replay.matches && !replay.head.terminated, "it goes on");
    assert_eq!((replay.n_steps(), replay.head.seed), (2, Some(5)));
    // What is taken back was not played.
    Play::take_back(&data, &id, None).unwrap();
    assert_eq!(total(&mut archive), 0);
    play.moves.clear();
    while play.outcome().is_none() {
        let game = Play::load(&data, &id).unwrap();
        let action = game.game.legal_actions()[0].0;
        play = Play::make_move(&data, &id, action, game.moves.len() as u32).unwrap();
    }
    assert_eq!(total(&mut archive), 1);
    let replay = archive.replay(1).unwrap();
    assert!(replay.matches && replay.head.terminated);
    assert_eq!(replay.head.reward, f64::from(play.game.score(Seat(0))));
    let moments = archive.steps(1, 0..u64::MAX, true).unwrap();
    assert_eq!(moments.len(), play.moves.len() + 1);
    assert_eq!(moments.last().unwrap().scene.as_ref(), Some(&play.game.scene()));
}

#[test]
fn a_run_without_recordings_has_its_figures() {
    let (_folder, data) = data();
    let (dir, id) = new_run(&data, RunKind::Train, "CartPole-v1", &json!({}));
    let row = json!({
        "attempt": 1, "row": 1, "t": 1.0, "step": 30, "values": {},
        "episodes": {
            "episode": [1, 2], "reward": [9.0, 11.0], "length": [9, 11], "timestep": [9, 20],
            "seed": [3, 4], "terminated": [true, true],
        },
    });
    std::fs::write(dir.metrics_path(), format!("{row}\n")).unwrap();
    let mut archive = Archive::open(&data, &id).unwrap();
    let page = archive.page(Sort::Return, Order::Descending, 0, 1).unwrap();
    assert_eq!((page.total, page.n_damaged, page.heads[0].episode), (2, 2, 2));
    assert!(archive.is_unrecorded());
    let error = archive.replay(2).unwrap_err();
    assert!(matches!(error, RunError::NotRecorded { .. }), "{error}");
    assert!(matches!(archive.replay(3), Err(RunError::NoSuchEpisode { .. })));
}

#[test]
fn actions_of_a_space_have_its_kind() {
    let mut actions = Actions::new(&ActionSpace::Continuous { low: &[-1.0; 2], high: &[1.0; 2] });
    actions.push(EnvAction::Continuous(&[0.5, 3.0]));
    assert_eq!(
        (actions.len(), actions.get(0), actions.get(1)),
        (1, Some(EnvAction::Continuous(&[0.5, 3.0])), None)
    );
}

#[test]
fn recordings_that_go_away_leave_the_same_figures_to_everybody() {
    let (_folder, data) = data();
    let (dir, id) = new_run(&data, RunKind::Train, "CartPole-v1", &json!({}));
    let mut env = make_world("CartPole-v1", &Map::new()).unwrap();
    let (head, body) = play(env.as_mut(), 1);
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    writer.add(&head, &body).unwrap();
    writer.sync().unwrap();
    drop(writer);
    let row = json!({
        "attempt": 1, "row": 1, "t": 1.0, "step": 30, "values": {},
        "episodes": {
            "episode": [1], "reward": [head.reward], "length": [head.length],
            "timestep": [head.step], "seed": [head.seed], "terminated": [head.terminated],
        },
    });
    std::fs::write(dir.metrics_path(), format!("{row}\n")).unwrap();
    let page = |archive: &mut Archive| {
        let page = archive.page(Sort::Number, Order::Ascending, 0, 10).unwrap();
        (page.total, page.n_damaged, page.heads.len())
    };
    let mut open = Archive::open(&data, &id).unwrap();
    assert_eq!(page(&mut open), (1, 0, 1));
    std::fs::remove_dir_all(dir.episodes_path()).unwrap();
    open.refresh().unwrap();
    assert_eq!(page(&mut open), (1, 1, 1), "as a lab that had it open");
    assert_eq!(page(&mut Archive::open(&data, &id).unwrap()), (1, 1, 1), "as the command line");
    assert_eq!(open.n_damaged().unwrap(), 1);
}
