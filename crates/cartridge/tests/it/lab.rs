//! The lab as a process: its doors, and runs that outlive it.

use std::fs;

use serde_json::{Value, json};

use crate::support::{LabProcess, agent, is_alive, kill, pids, run, text, wait_for};

/// A run that goes on until it is stopped.
fn endless() -> Value {
    json!({ "env_id": "CartPole-v1", "algorithm": "ppo", "total_timesteps": 1_000_000_000 })
}

#[test]
fn a_port_that_is_taken_is_said_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(&folder.path().join("one"), 0);
    let port = lab.port().to_string();
    let output = run(folder.path(), &["up", "--port", &port, "--data", "two"]);
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert!(message.contains(&format!("port {port} on 127.0.0.1 is taken")), "{message}");
    assert!(message.contains("hint: ") && message.contains("--port"), "{message}");
}

#[test]
fn a_second_lab_on_the_same_data_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    // Also on the same port: the lab is the reason, not the port.
    let output = run(folder.path(), &["up", "--port", &lab.port().to_string(), "--data", "."]);
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output.stderr).contains(&lab.address), "{}", text(&output.stderr));
}

#[test]
fn the_printed_url_logs_in_once_and_another_can_be_had() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let follow = |url: &str| {
        let response = agent().get(url).call().unwrap();
        response.headers()["location"].to_str().unwrap().to_owned()
    };
    assert_eq!(follow(&lab.login_url), "/");
    assert_eq!(follow(&lab.login_url), "/login?error=used");
    let url = text(&run(folder.path(), &["url", "--data", "."]).stdout);
    assert_eq!(follow(url.trim()), "/");
}

#[test]
fn a_run_by_an_old_id_says_what_has_taken_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let new = |env_id: &str| json!({ "env_id": env_id, "total_timesteps": 5_000 });
    let (status, created) = lab.post("/api/runs", &new("LunarLander-v2"));
    assert_eq!((status, &created["env_id"]), (201, &"LunarLander-v3".into()), "{created}");
    assert_eq!(created["notice"], "`LunarLander-v2` is out of date; this is `LunarLander-v3`");
    let (_, other) = lab.post("/api/runs", &new("CartPole-v1"));
    assert_eq!(other["notice"], Value::Null);
    for run in [created, other] {
        let id = run["id"].as_str().unwrap();
        lab.post(&format!("/api/runs/{id}/stop"), &json!({}));
        lab.wait_for_run(id, "the run to end", |run| {
            run["state"] == "terminated" || run["state"] == "succeeded"
        });
    }
}

#[test]
fn a_run_is_watched_live_and_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let mut stream = lab.stream(None);
    assert_eq!(stream.next().unwrap().1["type"], "Snapshot");
    let id = lab.start_run(&endless());

    // Numbers move.
    let mut steps = Vec::new();
    let mut rows = Vec::new();
    while steps.len() < 5 {
        let (_, message) = stream.next().unwrap();
        if message["type"] == "RunProgress" && message["rows"] != json!([]) {
            steps.push(message["run"]["step"].as_u64().unwrap());
            rows.extend(
                message["rows"].as_array().unwrap().iter().map(|row| row["row"].as_u64().unwrap()),
            );
        }
    }
    assert!(steps.is_sorted_by(|a, b| a < b), "{steps:?}");
    assert_eq!(rows, (1..=rows.len() as u64).collect::<Vec<_>>(), "no row is missing or doubled");

    // The lab knows the same by query.
    let (_, metrics) = lab.get(&format!("/api/runs/{id}/metrics?keys=train/loss&points=50"));
    assert!(metrics["last_row"].as_u64().unwrap() >= rows.len() as u64);
    assert_eq!(metrics["series"][0]["key"], "train/loss");
    // By the names of other libraries too, with their sign.
    let keys = "charts/SPS,train/entropy_loss,train/entropy,train/unheard_of";
    let (_, metrics) = lab.get(&format!("/api/runs/{id}/metrics?keys={keys}&to=4096"));
    let found: Vec<(&str, &str, f64)> = metrics["series"]
        .as_array()
        .unwrap()
        .iter()
        .map(|series| {
            let text = |key: &str| series[key].as_str().unwrap();
            (text("key"), text("label"), series["value"][0].as_f64().unwrap())
        })
        .collect();
    assert_eq!((found[0].0, found[0].1), ("charts/SPS", "Steps per second"));
    assert_eq!((found[1].0, found[1].1), ("train/entropy_loss", "train/entropy_loss"));
    assert_eq!((found[2].0, found[2].1, found.len()), ("train/entropy", "Entropy", 3));
    assert!(found[2].2 > 0.0 && found[1].2 == -found[2].2, "{found:?}");
    let (_, episodes) = lab.get(&format!("/api/runs/{id}/episodes?tail=10"));
    assert_eq!(episodes["episodes"].as_array().unwrap().len(), 10);

    // Stop ends the processes and leaves a checkpoint.
    let (supervisor, trainer) = pids(folder.path(), &id);
    assert_eq!(lab.post(&format!("/api/runs/{id}/stop"), &json!({})).1["state"], "stopping");
    let run = lab.wait_for_run(&id, "the end", |run| run["state"] == "terminated");
    assert_eq!(run["checkpoint_step"], run["step"]);
    assert_eq!(run["capabilities"], json!(["resume", "delete", "fork"]));
    // The feed has told all of it, to the last event.
    let mut seqs = Vec::new();
    let mut last_event = Value::Null;
    for (seq, message) in stream.by_ref() {
        seqs.push(seq);
        if message["type"] == "EventLogged" {
            last_event = message["entry"]["type"].clone();
        }
        rows.extend(
            message["rows"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|row| row["row"].as_u64().unwrap()),
        );
        if message["run"]["state"] == "terminated" && last_event == "done" {
            break;
        }
    }
    assert!(seqs.is_sorted_by(|a, b| a + 1 == *b), "{seqs:?}");
    assert_eq!(rows, (1..=rows.len() as u64).collect::<Vec<_>>(), "no row is missing or doubled");
    assert_eq!(last_event, "done");
    wait_for("the processes to end", || {
        (!is_alive(supervisor) && !is_alive(trainer)).then_some(())
    });
    assert_eq!(lab.post(&format!("/api/runs/{id}/stop"), &json!({})).0, 409);
    let (_, preview) = lab.get(&format!("/api/runs/{id}/preview"));
    assert_eq!(
        preview["policy"],
        json!({ "kind": "checkpoint", "run_id": id, "step": run["step"] })
    );
}

#[test]
fn a_restart_of_the_lab_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let port = lab.port();
    let id = lab.start_run(&endless());
    let mut last_id = 0;
    let mut rows: Vec<u64> = Vec::new();
    let mut take = |(seq, message): (u64, Value), last_id: &mut u64| {
        *last_id = seq;
        if message["type"] == "RunProgress" {
            rows.extend(
                message["rows"].as_array().unwrap().iter().map(|row| row["row"].as_u64().unwrap()),
            );
        }
        rows.len()
    };
    for message in lab.stream(None) {
        if take(message, &mut last_id) > 20 {
            break;
        }
    }
    let (supervisor, trainer) = pids(folder.path(), &id);
    lab.kill();
    assert!(is_alive(supervisor) && is_alive(trainer), "training goes on without the lab");
    let metrics = folder.path().join("runs").join(&id).join("metrics.jsonl");
    let before = fs::metadata(&metrics).unwrap().len();
    wait_for("training to go on", || (fs::metadata(&metrics).ok()?.len() > before).then_some(()));

    let lab = LabProcess::start(folder.path(), port);
    let known = rows_after(&lab, last_id, 200, &mut take);
    assert!(known > 200);
    assert_eq!(rows, (1..=rows.len() as u64).collect::<Vec<_>>(), "no row is missing or doubled");
    lab.post(&format!("/api/runs/{id}/stop"), &json!({}));
    lab.wait_for_run(&id, "the end", |run| run["state"] == "terminated");
}

/// Reads on from `last_id` until `n` rows are known.
fn rows_after(
    lab: &LabProcess,
    mut last_id: u64,
    n: usize,
    take: &mut impl FnMut((u64, Value), &mut u64) -> usize,
) -> usize {
    for message in lab.stream(Some(last_id)) {
        assert_ne!(message.1["type"], "Snapshot", "the number is known, so nothing is reset");
        let known = take(message, &mut last_id);
        if known > n {
            return known;
        }
    }
    panic!("the stream ended");
}

#[test]
fn a_trainer_that_dies_has_failed_and_says_how() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let id = lab.start_run(&endless());
    lab.wait_for_run(&id, "the first steps", |run| run["step"].as_u64() > Some(0));
    kill("-KILL", pids(folder.path(), &id).1);
    let run = lab.wait_for_run(&id, "the failure", |run| run["state"] == "failed");
    assert_eq!(run["failure"]["signal"], 9);
    assert_eq!(run["failure"]["message"], "the trainer was ended by signal 9");
}

#[test]
fn a_trainer_that_cannot_go_on_leaves_its_last_words() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let id = lab.start_run(&endless());
    lab.wait_for_run(&id, "a checkpoint", |run| run["checkpoint_step"].is_u64());
    // Checkpoints can no longer be written: a file is where their folder was.
    let checkpoints = folder.path().join("runs").join(&id).join("checkpoints");
    wait_for("the folder to go", || {
        _ = fs::remove_dir_all(&checkpoints);
        fs::write(&checkpoints, "in the way").ok()
    });
    let run = lab.wait_for_run(&id, "the failure", |run| run["state"] == "failed");
    let log = run["failure"]["log"].as_array().unwrap();
    assert!(log.iter().any(|line| line.as_str().unwrap().contains("checkpoints")), "{log:?}");
    assert_eq!(run["failure"]["exit_code"], 1);
    let (_, tail) = lab.get(&format!("/api/runs/{id}/log?tail=5"));
    assert_eq!(tail["lines"].as_array().unwrap().last(), log.last());
}

#[test]
fn a_supervisor_that_dies_takes_its_trainer_along_and_the_run_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let id = lab.start_run(&endless());
    lab.wait_for_run(&id, "the first steps", |run| run["step"].as_u64() > Some(0));
    let (supervisor, trainer) = pids(folder.path(), &id);
    kill("-KILL", supervisor);
    wait_for("the trainer to end", || (!is_alive(trainer)).then_some(()));
    let run = lab.wait_for_run(&id, "the loss", |run| run["state"] == "lost");
    assert_eq!(run["checkpoint_step"], run["step"], "it saved what it had");
}

#[test]
fn a_forged_control_line_is_not_obeyed_and_spoils_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let id = lab.start_run(&endless());
    let dir = folder.path().join("runs").join(&id);
    lab.wait_for_run(&id, "the first steps", |run| run["step"].as_u64() > Some(0));
    let forged = json!({
        "seq": 1, "run": id, "attempt": 1, "t": 0.0, "by": "mallory", "command": "stop", "previous": "", "signature": "00",
    });
    fs::write(dir.join("control.jsonl"), format!("{forged}\n")).unwrap();
    let journal = || fs::read_to_string(dir.join("supervisor.jsonl")).unwrap();
    wait_for("the refusal", || journal().contains("its signature is wrong").then_some(()));
    let run = lab.wait_for_run(&id, "the run to go on", |run| run["state"] == "running");
    assert!(run["capabilities"].as_array().unwrap().contains(&json!("stop")));
    lab.post(&format!("/api/runs/{id}/stop"), &json!({}));
    lab.wait_for_run(&id, "a real stop", |run| run["state"] == "terminated");
}

#[test]
fn a_trainer_that_does_not_answer_is_ended_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let id = lab.start_run(&endless());
    lab.wait_for_run(&id, "the first steps", |run| run["step"].as_u64() > Some(0));
    let (_, trainer) = pids(folder.path(), &id);
    kill("-STOP", trainer);
    lab.post(&format!("/api/runs/{id}/stop"), &json!({}));
    let run = lab.wait_for_run(&id, "the end", |run| run["state"] == "terminated");
    assert_eq!(run["failure"], Value::Null);
    assert!(!is_alive(trainer));
}

#[test]
fn a_run_of_the_command_line_is_seen_by_the_lab() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let output =
        run(folder.path(), &["train", "CartPole-v1", "--steps", "1e9", "--detach", "--data", "."]);
    let id = text(&output.stdout).trim().to_owned();
    lab.wait_for_run(&id, "it to be seen training", |run| {
        run["state"] == "running" && run["step"].as_u64() > Some(0)
    });
    let output = run(folder.path(), &["stop", &id, "--data", "."]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    lab.wait_for_run(&id, "the end", |run| run["state"] == "terminated");
}

#[test]
fn the_command_line_knows_a_lost_run() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["train", "CartPole-v1", "--steps", "1e9", "--detach"]);
    let id = text(&output.stdout).trim().to_owned();
    let (supervisor, trainer) = pids(&folder.path().join("data"), &id);
    kill("-KILL", supervisor);
    wait_for("the trainer to end", || (!is_alive(supervisor) && !is_alive(trainer)).then_some(()));
    assert!(text(&run(folder.path(), &["runs"]).stdout).contains("lost"));
    let output = run(folder.path(), &["stop", &id]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
}
