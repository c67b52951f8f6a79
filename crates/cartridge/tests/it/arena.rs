//! Models, matches, tournaments and ratings as whole processes.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{LabProcess, result, run, text, wait_for};

/// Runs a command that succeeds and returns its last JSON object.
#[track_caller]
fn json_of(data: &Path, args: &[&str]) -> Value {
    let output = run(data, &[args, &["--json", "--data", "."]].concat());
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    result(&output)
}

/// A training that is over at once.
fn trained(data: &Path, seed: &str) -> String {
    let args = ["train", "CartPole-v1", "--steps", "5000", "--seed", seed];
    let short = ["--set", "evaluation.final_episodes=2", "--set", "evaluation.episodes=2"];
    json_of(data, &[&args[..], &short].concat())["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_model_is_kept_compared_and_rated_without_a_lab() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let runs = [trained(data, "1"), trained(data, "2")];
    let first = json_of(data, &["models", "add", "pole", &runs[0]]);
    assert_eq!((&first["version"], &first["player"]), (&json!(1), &json!("model:pole@1")));
    json_of(data, &["models", "add", "pole", &runs[1], "--checkpoint", "latest"]);
    json_of(data, &["models", "alias", "pole", "best", "1"]);
    fs::remove_dir_all(data.join("runs").join(&runs[0])).unwrap();
    let shown = json_of(data, &["models", "show", "pole"]);
    assert_eq!(shown["aliases"], json!({ "best": 1, "latest": 2 }));
    json_of(data, &["models", "download", "pole@best", "-o", "pole.onnx"]);
    assert_eq!(
        fs::read(data.join("pole.onnx")).unwrap(),
        fs::read(data.join("models/pole/best.onnx")).unwrap()
    );
    let measured = json_of(data, &["eval", "model:pole", "--episodes", "3"]);
    assert_eq!(measured["returns"].as_array().unwrap().len(), 3);

    // The same weights by another name return the same in the same episodes.
    let same = json_of(data, &["match", "CartPole-v1", "model:pole", "pole.onnx", "--games", "5"]);
    assert_eq!((&same["draws"], &same["difference"]["mean"]), (&json!(5), &json!(0.0)));
    let players = format!("random,model:pole,{}", runs[1]);
    let args = ["tournament", "CartPole-v1", "--players", &players, "--games", "6"];
    let tournament = json_of(data, &[&args[..], &["--threads", "2"]].concat());
    assert_eq!(tournament["pairings"].as_array().unwrap().len(), 3, "{tournament}");
    let ratings = json_of(data, &["ratings", "CartPole-v1"]);
    assert_eq!(
        (&ratings["n_matches"], &ratings["groups"][0]["anchor"]),
        (&json!(4), &json!("builtin:random"))
    );
    let board = json_of(data, &["leaderboard", "CartPole-v1"]);
    assert_eq!((&board["n_runs"], &board["threshold"]), (&json!(1), &json!(475.0)));
    let checked = run(data, &["fsck", "--data", "."]);
    assert!(checked.status.success(), "{}", text(&checked.stdout));

    for (args, code) in [
        (&["models", "show", "nobody"][..], 3),
        (&["match", "CartPole-v1", "model:nobody", "random"], 3),
        (&["match", "CartPole-v1", "mcts:10", "random"], 2),
        (&["tournament", "connect4", "--players", "random"], 2),
        (&["ratings", "chess"], 2),
    ] {
        let refused = run(data, &[args, &["--data", "."]].concat());
        assert_eq!(refused.status.code(), Some(code), "{args:?}: {}", text(&refused.stderr));
    }
}

#[test]
fn matches_and_tournaments_are_jobs_that_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let wanted = json!({
        "model_a": "perfect", "model_b": "random", "game": "tictactoe",
        "seed_plan": { "seed_base": 3, "count": 5 },
    });
    let (status, job) = lab.post_with_key("/api/evals", &wanted, "once");
    assert_eq!(status, 202, "{job}");
    let id = job["id"].as_str().unwrap().to_owned();
    let (_, again) = lab.post_with_key("/api/evals", &wanted, "once");
    assert_eq!(again["id"], json!(id), "the same request makes one match");
    let done = lab.wait_for_run(&id, "the match", |run| run["state"] == "succeeded");
    assert_eq!((&done["episodes"], &done["match_result"]["losses"]), (&json!(10), &json!(0)));
    assert_eq!(done["match_result"]["a"], "Perfect play");
    let (_, shown) = lab.get(&format!("/api/evals/{id}"));
    assert_eq!(shown["match"]["buckets"].as_array().unwrap().len(), 5);
    assert_eq!(shown["match"]["buckets"][0]["scores"].as_array().unwrap().len(), 2);
    // The command line plays the same.
    let args = ["match", "tictactoe", "perfect", "random", "--seeds", "5", "--seed", "3"];
    let here = json_of(folder.path(), &args);
    assert_eq!(here["buckets"].as_array().unwrap().len(), 5);
    for (one, other) in here["buckets"]
        .as_array()
        .unwrap()
        .iter()
        .zip(shown["match"]["buckets"].as_array().unwrap())
    {
        assert_eq!((&one["seed"], &one["scores"]), (&other["seed"], &other["scores"]));
    }

    let wanted = json!({
        "game": "tictactoe", "players": ["random", "perfect", "alphabeta:1"], "games_per_pair": 4,
    });
    let (status, job) = lab.post("/api/tournaments", &wanted);
    assert_eq!(status, 202, "{job}");
    let id = job["id"].as_str().unwrap();
    lab.wait_for_run(id, "the tournament", |run| run["state"] == "succeeded");
    let (_, shown) = lab.get(&format!("/api/evals/{id}"));
    assert_eq!(shown["tournament"]["pairings"].as_array().unwrap().len(), 3, "{shown}");
    assert_eq!(shown["tournament"]["cross_table"][0][0], Value::Null);
    let (_, ratings) = lab.get("/api/ratings?game=tictactoe");
    assert_eq!(
        (&ratings["n_matches"], ratings["groups"].as_array().unwrap().len()),
        (&json!(5), 1)
    );

    let n_listed = |query: &str| {
        let (_, page) = lab.get(&format!("/api/evals{query}"));
        page["evaluations"].as_array().unwrap_or_else(|| panic!("{page}")).len()
    };
    assert_eq!(n_listed(""), 0, "no policy was measured");
    assert_eq!(n_listed("?kind=tournament"), 1);
    // The lab looks for what the command line has made once a second.
    wait_for("both matches", || (n_listed("?kind=match") == 2).then_some(()));

    let endless = json!({
        "model_a": "mcts:10000", "model_b": "mcts:10000", "game": "othello", "n_matches": 10_000,
    });
    let (_, job) = lab.post("/api/evals", &endless);
    let id = job["id"].as_str().unwrap();
    lab.wait_for_run(id, "the start", |run| run["state"] == "running");
    let (status, answer) = lab.post(&format!("/api/runs/{id}/terminate"), &Value::Null);
    assert!(status < 300, "{answer}");
    lab.wait_for_run(id, "the end", |run| run["state"] == "terminated");
}
