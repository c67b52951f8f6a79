//! Templates, and runs that are made from them, as real processes.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{LabProcess, ask, events, result, run, text, wait_for, wait_for_exit};

/// Settings of a training that is over at once.
const SHORT: [&str; 6] = [
    "--set",
    "trainer.total_timesteps=5000",
    "--set",
    "evaluation.final_episodes=3",
    "--set",
    "evaluation.every_steps=1e7",
];

/// Runs a command that succeeds and returns its last JSON object.
#[track_caller]
fn json_of(data: &Path, args: &[&str]) -> Value {
    let output = run(data, &[args, &["--json", "--data", "."]].concat());
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    result(&output)
}

/// Makes an experiment and returns its name.
fn new_experiment(data: &Path, name: &str, more: &[&str]) -> String {
    let args = [&["experiments", "new", "CartPole-v1", "--name", name], more].concat();
    json_of(data, &args)["id"].as_str().unwrap().to_owned()
}

fn n_runs(data: &Path) -> usize {
    std::fs::read_dir(data.join("runs")).map_or(0, Iterator::count)
}

#[test]
fn a_dry_run_says_which_other_names_were_understood() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let words = ["--set", "trainer.lr=1e-3", "--set", "trainer.anneal_lr=True", "--dry-run"];
    let args = [&["train", "CartPole-v1", "--set", "trainer.n_steps=100"][..], &words].concat();
    let planned = json_of(data, &args);
    let aliases = serde_json::json!({
        "trainer.anneal_lr": "trainer.learning_rate",
        "trainer.lr": "trainer.learning_rate",
        "trainer.n_steps": "simulation.n_steps",
    });
    assert_eq!(planned["aliases"], aliases);
    assert_eq!(planned["manifest"]["config"]["trainer"]["learning_rate"], "lin_0.001");
    let shown = run(data, &[&args[..], &["--data", "."]].concat());
    let shown = [text(&shown.stdout), text(&shown.stderr)];
    assert!(shown[0].contains("trainer.n_steps means simulation.n_steps\n"), "{}", shown[0]);
    assert!(shown[1].contains("batch_size 64 does not divide the 800 steps"), "{}", shown[1]);
    assert_eq!(n_runs(data), 0, "nothing was made");
}

#[test]
fn templates_are_made_cloned_and_run_without_a_lab() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = new_experiment(data, "Red", &SHORT);
    let clone = json_of(data, &["experiments", "clone", &id, "--set", "trainer.gamma=0.9"]);
    assert_eq!(clone["name"], "Red (copy)");
    assert_eq!(clone["cloned_from"], id.as_str());
    assert_eq!(clone["config"]["trainer"]["gamma"], 0.9);
    assert_eq!(clone["config"]["trainer"]["total_timesteps"], 5000);
    json_of(data, &["experiments", "archive", clone["id"].as_str().unwrap()]);
    let list = run(data, &["experiments", "list", "--json", "--data", "."]);
    assert_eq!(text(&list.stdout).lines().count(), 1, "one of them is put away");

    let planned = json_of(data, &["experiments", "run", &id, "--seeds", "4..5", "--dry-run"]);
    assert_eq!(planned["seed"], 5);
    assert_eq!(planned["differences"][0]["path"], "seeds.seed_base");
    assert_eq!(n_runs(data), 0, "nothing was made");
    let refused = ["experiments", "run", &id, "--set", "trainer.gamma=0.9", "--data", "."];
    let refused = run(data, &refused);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    assert!(
        text(&refused.stderr)
            .contains("`trainer.gamma` cannot be changed in a run of this experiment")
    );
    for given in ["--capture-video", "--early-stop"] {
        let refused = run(data, &["train", "--experiment", &id, given, "--data", "."]);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
        assert!(text(&refused.stderr).contains(given), "{}", text(&refused.stderr));
    }
    let unknown = run(data, &["experiments", "show", "e-000000", "--data", "."]);
    assert_eq!(unknown.status.code(), Some(3));

    let last = json_of(
        data,
        &["train", "--experiment", &id, "--seeds", "1..3", "--set", "trainer.lr=1e-3"],
    );
    assert_eq!(last["state"], "succeeded");
    assert_eq!(n_runs(data), 3);
    let shown = json_of(data, &["runs", "show", last["run_id"].as_str().unwrap()]);
    assert_eq!(shown["experiment_id"], id.as_str());
    assert_eq!(shown["config"]["trainer"]["learning_rate"], 1e-3);
    let group = shown["group"].as_str().unwrap();
    let group = json_of(data, &["runs", "group", group]);
    assert_eq!(group["aggregate"]["n"], 3, "{group}");
    let seeds: Vec<&Value> =
        group["runs"].as_array().unwrap().iter().map(|run| &run["seed"]).collect();
    assert_eq!(seeds, [1, 2, 3]);
    assert_eq!(json_of(data, &["experiments", "show", &id])["runs"].as_array().unwrap().len(), 3);

    // Newest runs are kept by experiment, as by any other word.
    let limits = json!({ "retention": { "keep_runs_per_experiment": 1 } });
    std::fs::write(data.join("lab.json"), limits.to_string()).unwrap();
    let collected = run(data, &["gc", "--data", "."]);
    assert!(collected.status.success(), "{}", text(&collected.stderr));
    assert_eq!(n_runs(data), 1);
}

#[test]
fn a_group_of_the_lab_is_followed_to_its_figures() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let lab = LabProcess::start(data, 0);
    let config = json!({
        "env_id": "CartPole-v1",
        "trainer": { "total_timesteps": 5000 },
        "evaluation": { "final_episodes": 3 },
    });
    let (status, made) = lab.post("/api/experiments", &json!({ "name": "Red", "config": config }));
    assert_eq!(status, 201, "{made}");
    let id = made["id"].as_str().unwrap();
    let body =
        json!({ "experiment_id": id, "seeds": [1, 2], "overrides": { "trainer.lr": 0.001 } });
    let (status, first) = lab.post_with_key("/api/runs", &body, "the-first");
    assert_eq!(status, 201, "{first}");
    assert_eq!(first["run_ids"].as_array().unwrap().len(), 2);
    let (_, again) = lab.post_with_key("/api/runs", &body, "the-first");
    assert_eq!(again["run_ids"], first["run_ids"], "a request that is sent again makes nothing");
    let group = first["group"].as_str().unwrap();
    let (_, page) = lab.get(&format!("/api/runs?group={group}"));
    assert_eq!(page["runs"].as_array().unwrap().len(), 2);
    let (_, page) = lab.get(&format!("/api/runs?experiment={id}"));
    assert_eq!(page["runs"].as_array().unwrap().len(), 2);
    let done = wait_for("both to end", || {
        let (status, group) = lab.get(&format!("/api/groups/{group}"));
        assert_eq!(status, 200, "{group}");
        let is_done = |run: &Value| run["state"] == "succeeded";
        group["runs"].as_array().unwrap().iter().all(is_done).then_some(group)
    });
    let means: Vec<f64> = done["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["latest_eval"]["mean"].as_f64().unwrap())
        .collect();
    let aggregate = &done["aggregate"];
    assert_eq!(aggregate["mean"].as_f64().unwrap(), means.iter().sum::<f64>() / 2.0);
    assert!(aggregate["iqm_ci95"].is_array(), "{aggregate}");

    // What the command line makes beside the lab is found.
    let beside = new_experiment(data, "Beside", &[]);
    wait_for("the other experiment", || {
        let (_, page) = lab.get("/api/experiments?query=beside");
        (page["experiments"][0]["id"] == beside.as_str()).then_some(())
    });
    let (_, shown) = lab.get(&format!("/api/experiments/{id}"));
    assert_eq!((&shown["n_runs"], shown["runs"].as_array().unwrap().len()), (&json!(2), 2));
    drop(lab);
    // And so after the index was made anew.
    assert!(run(data, &["reindex", "--data", "."]).status.success());
    let lab = LabProcess::start(data, 0);
    let (_, after) = lab.get(&format!("/api/experiments/{id}"));
    assert_eq!(after, shown);
}

/// What can be tuned, and what each algorithm lacks, is said with the reason.
#[test]
fn each_algorithm_takes_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let lab = LabProcess::start(data, 0);
    for algo in ["ppo", "dqn"] {
        let run = lab.start_run(&json!({
            "env_id": "CartPole-v1",
            "algorithm": algo,
            "total_timesteps": 1_000_000_000,
        }));
        lab.wait_for_run(&run, "training", |run| run["state"] == "running");
        let rate = if algo == "ppo" { 3e-4 } else { 1e-4 };
        for (path, value, old, of) in [
            ("trainer.learning_rate", 0.002, json!(rate), None),
            ("trainer.ent_coef", 0.02, json!(0.0), Some("ppo")),
            ("trainer.clip_range", 0.1, json!(0.2), Some("ppo")),
            ("evaluation.every_steps", 2_000_000.0, json!(50_000), None),
        ] {
            let body = json!({ "path": path, "value": value });
            let (status, answer) = lab.post(&format!("/api/runs/{run}/tune"), &body);
            if of.is_some_and(|of| of != algo) {
                assert_eq!(status, 422, "{answer}");
                let detail = answer["detail"].as_str().unwrap();
                assert!(detail.ends_with("DQN has no such setting"), "{detail}");
                continue;
            }
            assert_eq!(status, 202, "{answer}");
            let change = &answer["change"];
            assert_eq!(
                (&change["path"], &change["old"], &change["new"]),
                (&json!(path), &old, &json!(value))
            );
            // The bounds are those of the schema.
            let (_, schema) = lab.get(&format!("/api/schemas/{algo}"));
            let pointer = format!("/properties/{}", path.replace('.', "/properties/"));
            let tunable = &schema.pointer(&pointer).unwrap()["x-tunable"];
            assert_eq!(change["maximum"], tunable["maximum"]);
            let applied = wait_for("the change", || {
                events(data, &run, "tune_applied").into_iter().find(|event| event["path"] == path)
            });
            assert_eq!(applied["new"], value);
            let above = tunable["maximum"].as_f64().unwrap() * 1.001;
            let body = json!({ "path": path, "value": above });
            let (status, answer) = lab.post(&format!("/api/runs/{run}/tune"), &body);
            assert_eq!((status, &answer["errors"][0]["pointer"]), (422, &json!("/value")));
        }
        ask(data, &["terminate", &run]);
        wait_for_exit(data, &run);
    }
}

#[test]
fn schemas_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    let schema = |name: &str| result(&run(folder.path(), &["schema", name, "--json"]));
    let lander = schema("dqn:LunarLander-v3");
    assert_eq!(lander["properties"]["trainer"]["properties"]["gamma"]["maximum"], 0.9999);
    assert_eq!(lander["properties"]["env"]["properties"]["gravity"]["exclusiveMaximum"], 0.0);
    assert_eq!(schema("presets")["presets"][3]["id"], "zoo");
    let unknown = run(folder.path(), &["schema", "env:Lander"]);
    assert_eq!(unknown.status.code(), Some(3));
    let list = run(folder.path(), &["schema"]);
    assert!(text(&list.stdout).contains("ppo:BipedalWalker-v3"));
}
