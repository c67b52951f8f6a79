use cartridge_games::engine::EngineContext;
use serde_json::json;

use super::*;

/// Traces one episode; the moments as JSON lines, and the complaint that ended it.
fn run(id: &str, actions: Actions) -> (Vec<Value>, Option<String>) {
    let mut lines = Vec::new();
    let outcome = trace(id, &Map::new(), 3, vec![actions], |moment| {
        lines.push(serde_json::to_value(moment).unwrap());
    });
    (lines, outcome.err().map(|error| error.to_string()))
}

fn given(actions: &Value) -> Actions {
    Actions::Given(serde_json::from_value(actions.clone()).unwrap())
}

#[track_caller]
fn check_refused(id: &str, actions: &Value, complaint: &str) {
    assert_eq!(run(id, given(actions)).1.as_deref(), Some(complaint));
}

#[test]
fn given_actions_end_the_trace() {
    let (lines, complaint) = run("CartPole-v1", given(&json!([0, 1])));
    assert_eq!((lines.len(), complaint), (3, None));
    assert_eq!(lines[0].as_object().unwrap().keys().collect::<Vec<_>>(), ["observation"]);
    let keys = ["action", "observation", "reward", "terminated", "truncated"];
    assert_eq!(lines[1].as_object().unwrap().keys().collect::<Vec<_>>(), keys);
}

#[test]
fn random_actions_end_with_the_episode() {
    for id in ["CartPole-v1", "AsteroidProspector-v0", "connect4", "othello"] {
        let (lines, complaint) = run(id, Actions::Random { seed: 5 });
        assert_eq!(complaint, None);
        let (last, before) = lines.split_last().unwrap();
        let is_end = |line: &Value| line["terminated"] == true || line["truncated"] == true;
        assert!(is_end(last) && !before.iter().any(is_end), "{id}");
        let has_mask = id != "CartPole-v1";
        assert_eq!(last.get("legal"), has_mask.then_some(&json!([])), "{id}: nothing is legal now");
        assert!(lines.iter().all(|line| line.get("legal").is_some() == has_mask), "{id}");
        for pair in lines.windows(2).filter(|_| has_mask) {
            let legal = pair[0]["legal"].as_array().unwrap();
            assert!(
                legal.contains(&pair[1]["action"]),
                "{id}: {:?} of {legal:?}",
                pair[1]["action"]
            );
        }
        assert_eq!(lines, run(id, Actions::Random { seed: 5 }).0, "{id} replays");
    }
}

#[test]
fn a_win_is_the_movers() {
    let (lines, _) = run("connect4", given(&json!([0, 1, 0, 1, 0, 1, 0])));
    let rewards: Vec<&Value> = lines[1..].iter().map(|line| &line["reward"]).collect();
    assert_eq!(rewards, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(lines[7]["terminated"], true);
}

/// Both doors show the end of a game from the same side, whoever moved last.
#[test]
fn the_end_of_a_game_is_seen_as_the_engine_sees_it() {
    for actions in [&[0, 1, 0, 1, 0, 1, 0][..], &[6, 0, 1, 0, 1, 0, 2, 0]] {
        let (lines, _) = run("connect4", given(&json!(actions)));
        let engine = EngineContext::new("connect4").unwrap();
        let mut view = engine.reset(3, b"").unwrap();
        for action in actions {
            let action = u32::to_le_bytes(*action);
            view = engine.step(&view.state, &action).unwrap().view;
        }
        let last = lines.last().unwrap();
        assert_eq!(last["terminated"], true);
        let seen: Vec<f32> = serde_json::from_value(last["observation"].clone()).unwrap();
        let bytes: Vec<u8> = seen.into_iter().flat_map(f32::to_le_bytes).collect();
        assert_eq!(bytes, view.observation);
    }
}

#[test]
fn a_second_episode_goes_on_with_the_generator() {
    let mut starts = Vec::new();
    let episodes = vec![given(&json!([0])), given(&json!([])), given(&json!([]))];
    trace("CartPole-v1", &Map::new(), 3, episodes, |moment| {
        starts.extend(moment.action.is_none().then(|| moment.observation.clone()));
    })
    .unwrap();
    assert_eq!(starts.len(), 3);
    assert!(starts[0] != starts[1] && starts[1] != starts[2]);
}

#[test]
fn bad_actions_are_explained() {
    check_refused("CartPole-v1", &json!([1, 2]), "action 1: 2 is not one of 0 to 1");
    check_refused(
        "CartPole-v1",
        &json!([[0.5]]),
        "action 0: a list; write a whole number from 0 to 1",
    );
    check_refused(
        "tictactoe",
        &json!([4, 4]),
        "action 1: 4 is not legal here; legal are [0, 1, 2, 3, 5, 6, 7, 8]",
    );
}
