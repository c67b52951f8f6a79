//! Networks at boards over HTTP: played, asked, and gone through.

use cartridge_games::registry::AnyGame;
use cartridge_learn::board_net::{BoardNet, Config, Shape};
use cartridge_learn::onnx::board::export_board_net;
use cartridge_run::model::{self, Source};
use cartridge_run::steer::By;
use cartridge_run::store::{MatchLine, MatchPlayer, match_log};

use super::*;

/// The run that the network says it is from, which is in another lab.
const ELSEWHERE: &str = "r-7f3k2m";

/// A lab whose best at Connect 4 is a network that has learnt nothing.
fn lab_with_best() -> TestLab {
    lab_and_network().0
}

fn lab_and_network() -> (TestLab, BoardNet) {
    let lab = TestLab::new();
    let mut rng = cartridge_games::fastrand::Rng::with_seed(1);
    let spec = AnyGame::start("connect4", &mut rng).unwrap().spec();
    let network = BoardNet::new(Shape::of(spec), &Config::residual(1, 16), &mut rng).unwrap();
    let facts = [("env_id", "connect4"), ("run_id", ELSEWHERE), ("step", "700")];
    let facts = facts.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let path = lab.state.lab.data().path().join("net.onnx");
    std::fs::write(&path, export_board_net(&network, facts)).unwrap();
    let source = Source::File { path, env_id: None };
    model::promote(lab.state.lab.data(), source, By::new("ada")).unwrap();
    (lab, network)
}

/// Logs a match that a network under `key` won against random play.
fn log_won(lab: &TestLab, key: &str, network: &BoardNet) {
    let player = |key: &str, sha256: Option<String>| {
        let key = key.to_owned();
        MatchPlayer { name: key.clone(), key, sha256 }
    };
    let line = MatchLine {
        format: MatchLine::FORMAT,
        id: key.to_owned(),
        run: ELSEWHERE.parse().unwrap(),
        t: 1.0,
        game: "connect4".to_owned(),
        rules: 1,
        env: serde_json::Map::new(),
        cartridge_version: "0.0.0".to_owned(),
        a: player(key, Some(network.sha256())),
        b: player("builtin:random", None),
        seed: 0,
        both_sides: true,
        results: "WWWWWWLW".to_owned(),
        seeds: Vec::new(),
        returns: Vec::new(),
    };
    match_log::append(lab.state.lab.data(), &line).unwrap();
}

#[tokio::test]
async fn a_network_is_rated_at_strengths_at_which_it_never_played() {
    let (lab, network) = lab_and_network();
    let begin = async || {
        let new = json!({ "game": "connect4", "opponent": "best:400" });
        lab.ask("POST", "/api/play", Some(new)).await.1["opponent"].clone()
    };
    assert_eq!(begin().await["rating"], Value::Null);
    // It was promoted from a checkpoint, which has played.
    log_won(&lab, &format!("run:{ELSEWHERE}@step_000000700:64"), &network);
    let known = begin().await["rating"].clone();
    assert_eq!((&known["rated_simulations"], &known["games"]), (&json!(64), &json!(8)), "{known}");
    assert_eq!(known["anchor"], "builtin:random");
    assert!(known["rating"].as_f64() > Some(100.0), "{known}");
    let (_, list) = lab.ask("GET", "/api/play/opponents?game=connect4", None).await;
    let networks = list["networks"].as_array().unwrap();
    for id in ["best", "model:connect4@1"] {
        let ratings = &networks.iter().find(|it| it["id"] == id).unwrap()["ratings"];
        let told = ratings.as_array().unwrap().iter();
        let told: Vec<_> =
            told.map(|it| (it["simulations"].as_u64(), it["rated_simulations"].as_u64())).collect();
        let expected = [0, 25, 100, 400, 1_600].map(|n| (Some(n), Some(64)));
        assert_eq!(told, expected, "{id}: {ratings}");
    }
    // That is another network, which has played nobody here: what it was worth before is known.
    let shipped = networks.iter().find(|it| it["id"] == "shipped").unwrap();
    let told = shipped["ratings"].as_array().unwrap().iter();
    let told: Vec<_> = told.map(|it| (&it["simulations"], &it["rated_simulations"])).collect();
    let expected = [0, 25, 100, 400, 1_600].map(|n| json!(n));
    assert_eq!(told, expected.each_ref().map(|n| (n, n)), "{shipped}");
    // What it has earned itself comes first.
    log_won(&lab, "model:connect4@1:400", &network);
    assert_eq!(begin().await["rating"]["rated_simulations"], 400);
}

#[tokio::test]
async fn who_can_be_played_is_listed() {
    let lab = lab_with_best();
    let (status, list) = lab.ask("GET", "/api/play/opponents?game=connect4", None).await;
    assert_eq!(status, StatusCode::OK, "{list}");
    assert_eq!(list["levels"][0]["id"], "builtin:perfect");
    let ids: Vec<&str> = list["networks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["kind"] != "shipped")
        .map(|it| it["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["best", "model:connect4@1"]);
    let best = &list["networks"][0];
    assert_eq!((&best["can_search"], &best["step"]), (&json!(true), &json!(700)));
    assert_eq!(list["strengths"][4], json!({ "name": "Master", "simulations": 1600 }));
    let chess = lab.ask("GET", "/api/play/opponents?game=chess", None).await;
    check_problem(chess, (422, "unknown_environment", &["/game"]));
}

#[tokio::test]
async fn the_run_of_a_network_may_be_in_another_lab() {
    let lab = TestLab::new();
    let new = json!({ "game": "connect4", "opponent": "shipped:0" });
    let (status, play) = lab.ask("POST", "/api/play", Some(new)).await;
    assert_eq!(status, StatusCode::CREATED, "{play}");
    let opponent = &play["opponent"];
    assert!(opponent["run_id"].is_string() && opponent["step"].is_number(), "{opponent}");
    assert_eq!(opponent["has_run"], false);
}

#[tokio::test]
async fn a_network_is_played_asked_and_reviewed() {
    let lab = lab_with_best();
    let new = |opponent: &str| json!({ "game": "connect4", "opponent": opponent });
    let begin = async |opponent: &str| lab.ask("POST", "/api/play", Some(new(opponent))).await;
    check_problem(begin("onnx:/etc/passwd").await, (422, "invalid_field", &["/opponent"]));
    check_problem(begin("best:10001").await, (422, "invalid_field", &["/opponent"]));
    let (status, mut play) = begin("best:25").await;
    assert_eq!(status, StatusCode::CREATED, "{play}");
    let opponent = &play["opponent"];
    assert_eq!(opponent["id"], "model:connect4@1:25");
    assert_eq!((&opponent["simulations"], &opponent["level"]), (&json!(25), &json!("Casual")));
    assert_eq!((&opponent["step"], &opponent["rating"]), (&json!(700), &Value::Null));
    let path = format!("/api/play/{}", play["id"].as_str().unwrap());
    let ask =
        async |method: &str, what: &str| lab.ask(method, &format!("{path}/{what}"), None).await;
    check_problem(ask("GET", "review").await, (409, "game_goes_on", &[]));
    check_problem(ask("GET", "positions/0/thoughts").await, (409, "game_goes_on", &[]));
    let (status, thoughts) = ask("POST", "thoughts?simulations=40").await;
    assert_eq!(status, StatusCode::OK, "{thoughts}");
    assert_eq!((&thoughts["hints"], &thoughts["help"]), (&json!(1), &json!("with 1 hint")));
    assert_eq!(thoughts["by"]["id"], "model:connect4@1:40");
    let actions = thoughts["actions"].as_array().unwrap();
    let visits: u64 = actions.iter().map(|it| it["visits"].as_u64().unwrap()).sum();
    assert_eq!((actions.len(), visits, &thoughts["turn"]), (7, 40, &json!("you")));
    assert_eq!(thoughts["line"][0], thoughts["chosen"]);
    let too_many = ask("POST", "thoughts?simulations=10001").await;
    check_problem(too_many, (422, "invalid_config", &["/simulations"]));
    while play["result"].is_null() {
        let next = json!({ "action": play["legal"][0], "ply": play["ply"] });
        play = lab.ask("POST", &format!("{path}/moves"), Some(next)).await.1;
    }
    let (status, review) = ask("GET", "review?simulations=10").await;
    assert_eq!(status, StatusCode::OK, "{review}");
    let points = review["points"].as_array().unwrap();
    assert_eq!(points.len() as u64, play["ply"].as_u64().unwrap() + 1);
    let expected = match play["result"].as_str().unwrap() {
        "win" => 1.0,
        "loss" => -1.0,
        _ => 0.0,
    };
    assert_eq!(points.last().unwrap()["value"], json!(expected));
    let (status, back) = ask("GET", "positions/1/thoughts").await;
    assert_eq!((status, &back["turn"]), (StatusCode::OK, &json!("opponent")), "{back}");
    assert_eq!(back["chosen"]["action"], play["moves"][1]["action"], "it did what it thought");
    assert_eq!(back["hints"], json!(1), "and it is no help any more");
    check_problem(
        ask("GET", "review?simulations=401").await,
        (422, "invalid_config", &["/simulations"]),
    );
    let (_, listed) = lab.ask("GET", "/api/play", None).await;
    assert_eq!(listed["plays"][0]["opponent_name"], "connect4@1, 25 simulations");
}
