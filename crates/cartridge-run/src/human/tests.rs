use std::io::Write as _;

use cartridge_games::registry::environments;
use serde_json::json;

use super::*;
use crate::trace::{Actions, Moment, trace};

fn data(folder: &tempfile::TempDir) -> DataDir {
    DataDir::open(folder.path()).unwrap()
}

fn begin(data: &DataDir, env_id: &str, seed: u64) -> RunId {
    Record::begin(data, "0.0.0", env_id, Map::new(), Some(seed)).unwrap().manifest.id
}

/// Holds controls or decides at random, as a person might, for `n_steps` or until the end.
fn play(session: &mut Session, rng: &mut fastrand::Rng, n_steps: usize) {
    let n_controls = session.controls.map_or(0, |controls| controls.keys.len());
    let mut held = Vec::new();
    for step in 0..n_steps {
        if session.episode().is_over() {
            return;
        }
        if n_controls == 0 {
            let legal = session.legal_actions();
            assert!(session.act(legal[rng.usize(..legal.len())]));
            continue;
        }
        if step % 5 == 0 {
            held = (0..rng.usize(..3)).map(|_| rng.usize(..n_controls)).collect();
        }
        session.step(&held);
    }
}

#[test]
fn what_was_kept_traces_to_the_same_episode() {
    for spec in environments() {
        let folder = tempfile::tempdir().unwrap();
        let data = data(&folder);
        let id = begin(&data, spec.id, 7);
        let (mut session, mut journal) = Session::open(&data, &id).unwrap();
        let mut rng = fastrand::Rng::with_seed(1);
        // Kept in pieces, as it is when somebody plays.
        while !session.episode().is_over() {
            play(&mut session, &mut rng, 50);
            journal.keep(&session.take_news()).unwrap();
        }
        let record = Record::read(&data, &id, Some(1)).unwrap();
        assert_eq!(record.episodes, [*session.episode()], "{}", spec.id);
        let mut moments: Vec<Moment> = Vec::new();
        let actions = vec![Actions::Given(record.actions)];
        trace(spec.id, &record.options, 7, actions, |moment| moments.push(moment.clone())).unwrap();
        assert_eq!(moments.len() as u64, record.episodes[0].length + 1, "{}", spec.id);
        let total = moments.iter().filter_map(|moment| moment.reward).fold(0.0, |a, b| a + b);
        assert_eq!(total.to_bits(), record.episodes[0].total_reward.to_bits(), "{}", spec.id);
        let last = moments.last().unwrap();
        let seen: Vec<f64> = session.observation.iter().map(|&x| f64::from(x)).collect();
        assert_eq!(last.observation, seen, "{}", spec.id);
        assert_eq!(last.terminated, Some(record.episodes[0].terminated), "{}", spec.id);
    }
}

#[test]
fn a_session_goes_on_where_it_was_left() {
    let folder = tempfile::tempdir().unwrap();
    let data = data(&folder);
    let id = begin(&data, "MountainCarContinuous-v0", 3);
    let (mut session, mut journal) = Session::open(&data, &id).unwrap();
    let mut rng = fastrand::Rng::with_seed(2);
    play(&mut session, &mut rng, 80);
    journal.keep(&session.take_news()).unwrap();
    let seen = (*session.episode(), session.scene(), session.observation.clone());
    // What was not kept when the process was killed is lost, and half a line too.
    play(&mut session, &mut rng, 30);
    drop((session, journal));
    let path = data.run(&id).events_path();
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(br#"{"attempt":1,"t":0.0,"type":"played","epis"#).unwrap();
    drop(file);

    let (mut session, mut journal) = Session::open(&data, &id).unwrap();
    assert_eq!((*session.episode(), session.scene(), session.observation.clone()), seen);
    assert_eq!(session.take_news(), [], "nothing is kept twice");
    play(&mut session, &mut rng, 10);
    session.restart(Some(9));
    play(&mut session, &mut rng, 5);
    journal.keep(&session.take_news()).unwrap();
    let record = Record::read(&data, &id, Some(1)).unwrap();
    let figures: Vec<_> = record.episodes.iter().map(|e| (e.episode, e.seed, e.length)).collect();
    assert_eq!(figures, [(1, 3, 90), (2, 9, 5)]);
    assert_eq!(record.actions.len(), 90);
    assert_eq!(Record::read(&data, &id, None).unwrap().actions.len(), 5);
}

#[test]
fn what_waits_for_a_decision_takes_only_what_is_legal() {
    let folder = tempfile::tempdir().unwrap();
    let data = data(&folder);
    let id = begin(&data, "AsteroidProspector-v0", 5);
    let (mut session, _journal) = Session::open(&data, &id).unwrap();
    assert!(!session.is_real_time());
    let legal = session.legal_actions();
    let mine = 28;
    assert!(!legal.contains(&mine), "there is nothing to mine at the station");
    assert!(!session.act(mine) && !session.act(9999));
    assert_eq!(session.episode().length, 0);
    let cash_out = session.spec().quit_action.unwrap();
    assert!(session.act(legal[0]) && session.act(cash_out));
    assert!(session.episode().terminated);
    assert!(session.legal_actions().is_empty(), "nothing is done after the end");
    assert!(!session.act(legal[0]));
    // Where time passes by itself nobody decides.
    let id = begin(&data, "CartPole-v1", 5);
    let (mut session, _journal) = Session::open(&data, &id).unwrap();
    assert!(session.is_real_time() && !session.act(1));
}

#[test]
fn one_at_a_time_plays() {
    let folder = tempfile::tempdir().unwrap();
    let data = data(&folder);
    let id = begin(&data, "CartPole-v1", 1);
    let first = Session::open(&data, &id).unwrap();
    assert!(Session::open(&data, &id).is_err());
    drop(first);
    Session::open(&data, &id).unwrap();
}

#[test]
fn what_cannot_be_played_is_refused_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let data = data(&folder);
    let begin = |id: &str, options: Value| {
        let options = options.as_object().cloned().unwrap_or_default();
        Record::begin(&data, "0.0.0", id, options, None).unwrap_err().to_string()
    };
    assert!(begin("connect4", json!({})).contains("connect4"));
    assert!(begin("CartPol-v1", json!({})).contains("did you mean `CartPole-v1`"));
    assert!(begin("CartPole-v1", json!({ "gravity": 1 })).contains("no option `gravity`"));
    assert_eq!(data.run_ids().unwrap(), []);
}

#[test]
fn an_episode_that_does_not_replay_is_not_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let data = data(&folder);
    let id = begin(&data, "CartPole-v1", 1);
    let mut journal = Journal { events: Appender::open(data.run(&id).events_path()).unwrap() };
    let played = Played {
        episode: 1,
        step: 0,
        actions: vec![json!(1)],
        total_reward: 2.0,
        terminated: false,
        truncated: false,
    };
    journal.keep(&[Event::Played(played)]).unwrap();
    drop(journal);
    let error = Session::open(&data, &id).unwrap_err().to_string();
    assert!(error.contains("does not replay"), "{error}");
}
