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
fn matches_and_tournaments_are_jobs() {
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

    assert_eq!(n_listed("?kind=all"), 3);
    let (_, page) = lab.get("/api/evals?kind=all&limit=2");
    let listed = |at: usize| {
        let job = &page["evaluations"][at];
        (job["kind"].as_str().unwrap(), job["run"]["name"].as_str().unwrap())
    };
    assert_eq!(listed(0), ("tournament", "Tic-tac-toe: round robin of 3 players"));
    let (kind, name) = listed(1);
    assert!(kind == "match" && name.contains("Perfect play"), "what it was asked to do: {name}");
    // So does the command line, newest first.
    let listed = run(folder.path(), &["evals", "list", "--json", "--data", "."]);
    let rows: Vec<Value> =
        text(&listed.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = rows.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds.len(), 3, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| **kind == "tournament").count(), 1, "{kinds:?}");
    let one = rows.iter().find(|row| row["kind"] == "match").unwrap();
    assert!(one["name"].as_str().unwrap().contains("Perfect play"), "{one}");
    assert_eq!((&one["episodes"], &one["match_result"]["losses"]), (&json!(10), &json!(0)));
}

/// A match that would go on for hours, and a tournament of such matches.
fn endless(lab: &LabProcess) -> [String; 2] {
    let start = |path: &str, body: Value| {
        let (status, job) = lab.post(path, &body);
        assert_eq!(status, 202, "{job}");
        job["id"].as_str().unwrap().to_owned()
    };
    let (a, b) = ("mcts:200", "mcts:201");
    let of_two = json!({ "model_a": a, "model_b": b, "game": "tictactoe", "n_matches": 10_000 });
    let of_three = json!({
        "game": "tictactoe", "players": [a, b, "mcts:202"], "games_per_pair": 10_000,
    });
    [start("/api/evals", of_two), start("/api/tournaments", of_three)]
}

/// `stop` ends a contest after the bucket that is being played: what was played counts, and the log
/// of matches has it.
#[test]
fn a_contest_that_is_stopped_keeps_what_was_played() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start_with(folder.path(), 0, &["--max-cpu", "2"]);
    let [of_two, of_three] = endless(&lab);
    let has_played = |run: &Value| run["episodes"].as_u64().unwrap_or(0) >= 2;
    lab.wait_for_run(&of_two, "two games", has_played);
    let (status, answer) = lab.post(&format!("/api/runs/{of_two}/stop"), &Value::Null);
    assert!(status < 300, "{answer}");
    let done = lab.wait_for_run(&of_two, "its end", |run| run["state"] == "terminated");
    let played = done["episodes"].as_u64().unwrap();
    assert!((2..10_000).contains(&played) && played.is_multiple_of(2), "whole buckets: {done}");
    let result = &done["match_result"];
    let counted: u64 =
        ["wins", "draws", "losses"].iter().map(|key| result[key].as_u64().unwrap()).sum();
    assert_eq!(counted, played, "{result}");
    let (_, page) = lab.get("/api/matches?game=tictactoe");
    assert_eq!(page["matches"][0]["run_id"], json!(of_two), "{page}");

    // The command line cancels, which is the same for a tournament.
    lab.wait_for_run(&of_three, "two games", has_played);
    let cancelled = run(folder.path(), &["evals", "cancel", &of_three, "--data", "."]);
    assert!(cancelled.status.success(), "{}", text(&cancelled.stderr));
    let done = lab.wait_for_run(&of_three, "its end", |run| run["state"] == "terminated");
    assert!(done["episodes"].as_u64().unwrap() < 30_000, "{done}");
    let checked = run(folder.path(), &["fsck", "--data", "."]);
    assert!(checked.status.success(), "{}", text(&checked.stdout));
}

/// A contest that waits for its turn is taken back, and one that goes on is ended at once.
#[test]
fn a_contest_is_cancelled_while_it_waits_and_terminated_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start_with(folder.path(), 0, &["--max-cpu", "1"]);
    let [at_work, waiting] = endless(&lab);
    lab.wait_for_run(&at_work, "the start", |run| run["state"] == "running");
    let cancelled = run(folder.path(), &["evals", "cancel", &waiting, "--data", "."]);
    assert!(cancelled.status.success(), "{}", text(&cancelled.stderr));
    let done = lab.wait_for_run(&waiting, "its end", |run| run["state"] == "terminated");
    assert_eq!(done["episodes"], json!(0), "it was never started");
    let (status, answer) = lab.post(&format!("/api/runs/{at_work}/terminate"), &Value::Null);
    assert!(status < 300, "{answer}");
    lab.wait_for_run(&at_work, "the end", |run| run["state"] == "terminated");
}

/// An evaluation that somebody asks for counts on the leaderboard, which says that it does.
#[test]
fn an_evaluation_that_was_asked_for_is_on_the_leaderboard() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = trained(data, "1");
    let entry = || json_of(data, &["leaderboard", "CartPole-v1"])["rows"][0]["runs"][0].clone();
    let own = entry();
    assert_eq!((&own["evaluation_id"], &own["evaluation"]["episodes"]), (&Value::Null, &json!(2)));
    let asked = json_of(data, &["eval", &id, "--episodes", "3"]);
    let newest = entry();
    assert_eq!(newest["evaluation_id"], asked["eval_run_id"]);
    assert_eq!(
        (&newest["evaluation"]["episodes"], &newest["evaluation"]["step"]),
        (&json!(3), &own["evaluation"]["step"])
    );
    // The lab says the same.
    let lab = LabProcess::start(data, 0);
    let (_, board) = lab.get("/api/leaderboard?env=CartPole-v1");
    let of_lab = &board["rows"][0]["runs"][0];
    assert_eq!(of_lab["evaluation_id"], newest["evaluation_id"], "{board}");
    assert_eq!((&of_lab["episodes"], &of_lab["others"]), (&json!(3), &json!([])));
}

/// A match and a tournament take the same words for how much is played.
#[test]
fn a_match_and_a_tournament_are_measured_in_the_same_words() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let check = |words: &[&str], games: u64| {
        let one = json_of(data, &[&["match", "tictactoe", "random", "perfect"], words].concat());
        assert_eq!(one["games"], json!(games), "{words:?}");
        let players = ["tournament", "tictactoe", "--players", "random,perfect"];
        let several = json_of(data, &[&players[..], words].concat());
        assert_eq!(several["standings"][0]["games"], json!(games), "{words:?}: {several}");
    };
    check(&["--games", "4"], 4);
    check(&["--pairs", "3"], 6);
    check(&["--seeds", "3"], 6);
    check(&["--pairs", "3", "--one-side"], 3);
    check(&["--games", "3", "--one-side"], 3);
    for command in
        ["match tictactoe random perfect", "tournament tictactoe --players random,perfect"]
    {
        let args: Vec<&str> = command.split(' ').chain(["--games", "3", "--data", "."]).collect();
        let refused = run(data, &args);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
        assert!(text(&refused.stderr).contains("even number"), "{}", text(&refused.stderr));
    }
}
