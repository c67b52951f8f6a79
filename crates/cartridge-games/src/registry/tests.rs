use serde_json::json;

use super::*;

fn options(value: Value) -> Map<String, Value> {
    let Value::Object(options) = value else { panic!("options are an object") };
    options
}

#[track_caller]
fn check_env_error(id: &str, given: Value, expected: &str) {
    let error = make_env(id, &options(given)).expect_err("the request is wrong");
    assert_eq!(error.to_string(), expected);
}

#[track_caller]
fn check_game_error(id: &str, expected: &str) {
    let error = AnyGame::start(id, &mut fastrand::Rng::with_seed(0)).expect_err("no such game");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn every_listed_cartridge_can_be_made() {
    for spec in environments() {
        assert_eq!(make_env(spec.id, &Map::new()).unwrap().spec(), *spec);
    }
    for spec in games() {
        let game = AnyGame::start(spec.id, &mut fastrand::Rng::with_seed(0)).unwrap();
        assert_eq!(game.spec(), spec);
        assert_eq!(game.spots().len(), spec.n_actions);
    }
}

#[test]
fn ids_are_unique() {
    let mut ids: Vec<&str> = environment_ids().chain(game_ids()).collect();
    ids.sort_unstable();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
}

#[test]
fn unknown_ids_get_a_hint() {
    check_env_error(
        "CartPol-v1",
        json!({}),
        "unknown environment `CartPol-v1`; did you mean `CartPole-v1`?",
    );
    check_env_error(
        "Humanoid-v5",
        json!({}),
        "unknown environment `Humanoid-v5`; the environments are: `CartPole-v1`, \
         `LunarLander-v3`, `BipedalWalker-v3`, `BipedalWalkerHardcore-v3`, `Acrobot-v1`, \
         `MountainCar-v0`, `MountainCarContinuous-v0`, `Pendulum-v1`, `AsteroidProspector-v0`",
    );
    check_env_error(
        "tictactoe",
        json!({}),
        "unknown environment `tictactoe`; `tictactoe` is a game: play it, or pick one of: \
         `CartPole-v1`, `LunarLander-v3`, `BipedalWalker-v3`, `BipedalWalkerHardcore-v3`, \
         `Acrobot-v1`, `MountainCar-v0`, `MountainCarContinuous-v0`, `Pendulum-v1`, \
         `AsteroidProspector-v0`",
    );
    check_game_error("tic-tac-toe", "unknown game `tic-tac-toe`; did you mean `tictactoe`?");
    check_game_error(
        "chess",
        "unknown game `chess`; the games are: `tictactoe`, `connect4`, `othello`",
    );
    check_game_error(
        "CartPole-v1",
        "unknown game `CartPole-v1`; `CartPole-v1` is an environment: train on it, or pick one \
         of: `tictactoe`, `connect4`, `othello`",
    );
}

#[test]
fn options_are_checked() {
    make_env("CartPole-v1", &options(json!({ "sutton_barto_reward": true }))).unwrap();
    check_env_error(
        "CartPole-v1",
        json!({ "sutton_barto": true }),
        "environment `CartPole-v1` has no option `sutton_barto`; its options are: \
         `sutton_barto_reward`, `max_episode_steps`",
    );
    check_env_error(
        "CartPole-v1",
        json!({ "sutton_barto_rewards": true }),
        "environment `CartPole-v1` has no option `sutton_barto_rewards`; did you mean \
         `sutton_barto_reward`?",
    );
    check_env_error(
        "CartPole-v1",
        json!({ "sutton_barto_reward": 3 }),
        "bad options for environment `CartPole-v1`: invalid type: integer `3`, expected a boolean",
    );
    check_env_error(
        "Acrobot-v1",
        json!({ "book_or_nips": "nips" }),
        "environment `Acrobot-v1` has no option `book_or_nips`; its options are: `max_episode_steps`",
    );
    make_env("MountainCar-v0", &options(json!({ "goal_velocity": 0.05 }))).unwrap();
    make_env("MountainCarContinuous-v0", &options(json!({ "goal_velocity": 0 }))).unwrap();
    make_env("Pendulum-v1", &options(json!({ "g": 9.81 }))).unwrap();
    make_env("AsteroidProspector-v0", &options(json!({ "reward": "published" }))).unwrap();
    check_env_error(
        "AsteroidProspector-v0",
        json!({ "reward": "publishd" }),
        "bad options for environment `AsteroidProspector-v0`: unknown variant `publishd`, expected \
         `worth` or `published`",
    );
}

#[test]
fn values_of_options_are_checked() {
    make_env("LunarLander-v3", &options(json!({ "continuous": true, "gravity": -4 }))).unwrap();
    check_env_error(
        "LunarLander-v3",
        json!({ "gravity": -12.5 }),
        "bad options for environment `LunarLander-v3`: `gravity` is -12.5, but must be above \
         -12 and below 0",
    );
}

#[test]
fn old_ids_lead_to_present_ones() {
    assert_eq!(make_env("LunarLander-v2", &Map::new()).unwrap().spec().id, "LunarLander-v3");
    let notice = "`LunarLander-v2` is out of date; this is `LunarLander-v3`".to_owned();
    assert_eq!(present_id("LunarLander-v2"), ("LunarLander-v3", Some(notice)));
    assert_eq!(present_id("CartPole-v1"), ("CartPole-v1", None));
    assert_eq!(env_options("LunarLander-v2"), env_options("LunarLander-v3"));
}

#[test]
fn any_game_plays_like_its_game() {
    let mut any = AnyGame::start("tictactoe", &mut fastrand::Rng::with_seed(0)).unwrap();
    let mut game = TicTacToe::default();
    for cell in [0, 3, 1, 4, 2] {
        any.apply(Action(cell));
        game.apply(Action(cell));
    }
    assert_eq!(any, AnyGame::TicTacToe(game.clone()));
    assert_eq!(any.to_string(), game.to_string());
    assert_eq!((any.turn(), any.legal_actions()), (Turn::Over, vec![]));
    assert_eq!((any.score(Seat(0)), any.score(Seat(1))), (1.0, -1.0));
    assert_eq!(any.scene(), game.scene());
    assert_eq!(any.action_name(Action(4)), "centre");
}

#[test]
fn options_and_their_defaults_make_an_environment() {
    for spec in environments() {
        let options = env_options(spec.id).unwrap();
        assert!(make_env(spec.id, &options).is_ok(), "{}: {options:?}", spec.id);
        let unknown = Map::from_iter([("no such option".to_owned(), Value::Null)]);
        assert!(make_env(spec.id, &unknown).is_err());
    }
    assert_eq!(
        Value::Object(env_options("AsteroidProspector-v0").unwrap()),
        serde_json::json!({ "reward": "worth", "max_episode_steps": 20_000 })
    );
}
