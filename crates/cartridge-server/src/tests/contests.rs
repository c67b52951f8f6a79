//! Matches, tournaments, ratings and leaderboards over HTTP. No process plays in these tests;
//! `cartridge/tests/it/arena.rs` has those that do.

use std::sync::atomic::AtomicBool;

use cartridge_run::matches::{MatchConfig, SeedPlan, keep_match};
use cartridge_run::player::Player;

use super::*;

#[tokio::test]
async fn bad_players_are_problems_with_a_pointer() {
    let lab = TestLab::new();
    let play = |a: &str, b: &str, more: (&str, Value)| {
        let mut body = json!({ "model_a": a, "model_b": b, "game": "connect4" });
        body[more.0] = more.1;
        lab.ask("POST", "/api/evals", Some(body))
    };
    let none = || ("n_matches", Value::Null);
    let check = |answer, code: &'static str, pointer: &'static str| {
        check_problem(answer, (422, code, &[pointer]));
    };
    check(play("perfekt", "random", none()).await, "invalid_field", "/model_a");
    check(play("random", "nobody", none()).await, "invalid_field", "/model_b");
    check(play("/etc/passwd.onnx", "random", none()).await, "invalid_field", "/model_a");
    check(play("random", "../x.onnx", none()).await, "invalid_field", "/model_b");
    let odd = play("random", "random", ("n_matches", json!(7))).await;
    check(odd, "invalid_config", "/n_matches");
    let many = play("random", "random", ("n_matches", json!(10_001))).await;
    check(many, "invalid_field", "/n_matches");
    let path = play("random", "random", ("path", json!("/etc/passwd"))).await;
    check(path, "invalid_field", "/path");
    let model = play("model:nobody", "random", none()).await;
    check_problem(model, (404, "no_such_model", &[]));
    let run = play("r-000000", "random", none()).await;
    check_problem(run, (404, "no_such_run", &[]));
    let tournament = |players: Value| {
        let body = json!({ "game": "connect4", "players": players });
        lab.ask("POST", "/api/tournaments", Some(body))
    };
    check(tournament(json!(["random"])).await, "invalid_config", "/players");
    check(tournament(json!(["random", "builtin:random"])).await, "invalid_config", "/players");
    check(tournament(json!(["random", "nobody"])).await, "invalid_field", "/players/1");
    let (_, runs) = lab.ask("GET", "/api/runs", None).await;
    assert_eq!(runs["runs"], json!([]), "nothing was left behind");
    check_problem(lab.ask("GET", "/api/evals/r-000000", None).await, (404, "no_such_run", &[]));
}

/// Plays a match in this process, as `cartridge match` does.
fn play(lab: &TestLab, a: &str, b: &str) {
    let player = |id: &str| Player::opponent(id.parse().unwrap());
    let config = MatchConfig {
        game: "tictactoe".to_owned(),
        env: Default::default(),
        a: player(a),
        b: player(b),
        plan: SeedPlan { seed_base: 0, count: 10, both_sides: true, opening_plies: None },
    };
    let data = lab.state.lab.data();
    keep_match(data, "0.0.0", &config, &AtomicBool::new(false), |_| ()).unwrap();
}

#[tokio::test]
async fn ratings_are_made_of_what_was_played() {
    let lab = TestLab::new();
    let ratings = "/api/ratings?game=tictactoe";
    let (status, none) = lab.ask("GET", ratings, None).await;
    assert_eq!((status, &none["groups"]), (StatusCode::OK, &json!([])));
    play(&lab, "builtin:perfect", "builtin:random");
    let (_, one) = lab.ask("GET", ratings, None).await;
    assert_eq!((&one["n_matches"], &one["n_games"]), (&json!(1), &json!(20)));
    assert_eq!(one["groups"][0]["anchor"], "builtin:random");
    let best = &one["groups"][0]["players"][0];
    assert_eq!(best["player"]["key"], "builtin:perfect");
    assert!(best["rating"].as_f64().unwrap() > 100.0, "{best}");
    assert!(best["standard_error"].as_f64().unwrap() > 0.0, "{best}");
    play(&lab, "builtin:alphabeta:1", "builtin:alphabeta:2");
    let (_, two) = lab.ask("GET", ratings, None).await;
    assert_eq!(two["groups"].as_array().unwrap().len(), 2);
    assert!(two["notes"][0].as_str().unwrap().contains("cannot be compared"), "{two}");
    let (_, by) = lab.ask("GET", &format!("{ratings}&anchor=builtin:perfect"), None).await;
    assert_eq!(by["groups"][0]["players"][0]["rating"], 0.0);
    let (_, history) = lab.ask("GET", "/api/ratings/history?game=tictactoe&limit=1", None).await;
    assert_eq!(history["moments"].as_array().unwrap().len(), 1);
    assert_eq!(history["moments"][0]["a"]["key"], "builtin:alphabeta:1");
    let (_, page) = lab.ask("GET", "/api/matches?limit=1", None).await;
    assert_eq!(page["matches"][0]["a"]["key"], "builtin:alphabeta:1");
    let next = page["next"].as_str().unwrap();
    let (_, page) = lab.ask("GET", &format!("/api/matches?before={next}"), None).await;
    assert_eq!(page["matches"][0]["a"]["key"], "builtin:perfect");
    assert_eq!(page["next"], Value::Null);
    let (_, of) = lab.ask("GET", "/api/matches?player=builtin:perfect", None).await;
    assert_eq!(of["matches"].as_array().unwrap().len(), 1);

    // The ten openings of both matches are the same ten seeds.
    play(&lab, "builtin:perfect", "builtin:alphabeta:1");
    let seeds = "/api/ratings/seeds?game=tictactoe&player=builtin:perfect&limit=4";
    let (_, seeds) = lab.ask("GET", seeds, None).await;
    assert_eq!((&seeds["n_seeds"], &seeds["lost"]), (&json!(10), &json!(0)), "perfect play");
    assert_eq!(seeds["won"].as_u64().unwrap() + seeds["even"].as_u64().unwrap(), 10);
    assert_eq!(seeds["seeds"].as_array().unwrap().len(), 4);
    let first = &seeds["seeds"][0];
    assert_eq!((&first["number"], &first["n_matches"]), (&json!(1), &json!(2)));
    let n_games = |key: &str| first[key].as_u64().unwrap();
    assert_eq!(n_games("wins") + n_games("draws") + n_games("losses"), 4);

    let unknown = lab.ask("GET", "/api/ratings?game=chess", None).await;
    check_problem(unknown, (422, "unknown_environment", &["/game"]));
    let anchor = lab.ask("GET", &format!("{ratings}&anchor=nobody"), None).await;
    check_problem(anchor, (422, "bad_player", &[]));
}

#[tokio::test]
async fn a_leaderboard_has_its_threshold() {
    let lab = TestLab::new();
    let (status, board) = lab.ask("GET", "/api/leaderboard?env=CartPole-v1", None).await;
    assert_eq!((status, &board["threshold"]), (StatusCode::OK, &json!(475.0)));
    assert_eq!(board["rows"], json!([]));
    let unknown = lab.ask("GET", "/api/leaderboard?env=CartPole-v9", None).await;
    check_problem(unknown, (422, "unknown_environment", &["/env"]));
}
