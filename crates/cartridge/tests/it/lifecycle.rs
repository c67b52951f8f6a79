//! Runs that obey: paused, resumed, ended, changed and started again, as real processes.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{LabProcess, is_alive, kill, pids, result, run, text, wait_for};

/// A run that goes on until it is ended.
fn endless() -> Value {
    json!({ "env_id": "CartPole-v1", "total_timesteps": 1_000_000_000 })
}

/// The lines of a run's file.
fn lines(data: &Path, id: &str, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(data.join("runs").join(id).join(file)).unwrap_or_default();
    // What follows the last newline is still being written.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn events(data: &Path, id: &str, kind: &str) -> Vec<Value> {
    lines(data, id, "events.jsonl").into_iter().filter(|line| line["type"] == kind).collect()
}

#[track_caller]
fn wait_for_event(data: &Path, id: &str, kind: &str) -> Value {
    wait_for(kind, || events(data, id, kind).pop())
}

/// The exit that a run's supervisor recorded last.
#[track_caller]
fn wait_for_exit(data: &Path, id: &str) -> Value {
    wait_for("the exit", || {
        lines(data, id, "supervisor.jsonl").pop().filter(|line| line["type"] == "exited")
    })
}

/// Starts a training that leaves its command alone, and returns its name.
fn train(data: &Path, args: &[&str]) -> String {
    let common = ["train", "CartPole-v1", "--detach", "--json", "--data", "."];
    let output = run(data, &[&common[..], args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    result(&output)["run_id"].as_str().unwrap().to_owned()
}

#[track_caller]
fn ask(data: &Path, args: &[&str]) -> Value {
    let output = run(data, &[args, &["--data", ".", "--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    result(&output)
}

/// The hash of the final weights of a run that was trained to its end.
#[track_caller]
fn final_weights(data: &Path, id: &str) -> String {
    let done = wait_for_event(data, id, "done");
    assert_eq!(done["reason"], "completed");
    done["weights_sha256"].as_str().unwrap().to_owned()
}

#[test]
fn a_pause_stops_the_stepping_and_outlives_the_lab() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let lab = LabProcess::start(data, 0);
    let port = lab.port();
    let id = lab.start_run(&endless());
    lab.wait_for_run(&id, "training", |run| run["state"] == "running");
    assert_eq!(lab.post(&format!("/api/runs/{id}/resume"), &json!({})).0, 409);
    assert_eq!(lab.post(&format!("/api/runs/{id}/pause"), &json!({})).0, 202);
    let paused = lab.wait_for_run(&id, "the pause", |run| run["state"] == "paused");
    assert_eq!(paused["activity"], "idle");
    assert!(paused["capabilities"].as_array().unwrap().contains(&json!("resume")));
    assert_eq!(lab.post(&format!("/api/runs/{id}/pause"), &json!({})).0, 202, "it is so already");

    // The lab is killed and started again: nothing changes.
    let (supervisor, trainer) = pids(data, &id);
    let rows = lines(data, &id, "metrics.jsonl").len();
    lab.kill();
    let lab = LabProcess::start(data, port);
    let again = lab.wait_for_run(&id, "the run", |run| run["state"] == "paused");
    assert_eq!(again["step"], paused["step"]);
    assert!(is_alive(supervisor) && is_alive(trainer), "the processes stay");
    let beats = || {
        let lines = lines(data, &id, "supervisor.jsonl");
        lines.iter().filter(|line| line["type"] == "heartbeat").count()
    };
    let before = beats();
    wait_for("a heartbeat", || (beats() > before).then_some(()));
    assert_eq!(lines(data, &id, "metrics.jsonl").len(), rows, "nothing is stepped");

    lab.post(&format!("/api/runs/{id}/resume"), &json!({}));
    lab.wait_for_run(&id, "training", |run| run["state"] == "running");
    wait_for("a step", || (lines(data, &id, "metrics.jsonl").len() > rows).then_some(()));
    // A paused run can be stopped, and saves first.
    lab.post(&format!("/api/runs/{id}/pause"), &json!({}));
    lab.wait_for_run(&id, "the pause", |run| run["state"] == "paused");
    lab.post(&format!("/api/runs/{id}/stop"), &json!({}));
    let ended = lab.wait_for_run(&id, "the end", |run| run["state"] == "terminated");
    assert_eq!(ended["checkpoint_step"], ended["step"]);
    let acknowledged: Vec<Value> = events(data, &id, "control_ack")
        .into_iter()
        .map(|event| event["command"].clone())
        .collect();
    assert_eq!(acknowledged, ["pause", "resume", "pause", "stop"]);
}

#[test]
fn a_pause_changes_no_bit() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let args = ["--steps", "60000", "--seed", "7"];
    let plain = train(data, &args);
    let plain = final_weights(data, &plain);
    let id = train(data, &args);
    wait_for_event(data, &id, "training_started");
    ask(data, &["pause", &id]);
    wait_for_event(data, &id, "paused");
    ask(data, &["resume", &id]);
    assert_eq!(final_weights(data, &id), plain);
}

#[test]
fn a_paused_trainer_hears_of_the_end_of_its_supervisor() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = train(data, &[]);
    wait_for_event(data, &id, "training_started");
    ask(data, &["pause", &id]);
    wait_for_event(data, &id, "paused");
    let (supervisor, trainer) = pids(data, &id);
    kill("-KILL", supervisor);
    wait_for("the trainer to end", || (!is_alive(trainer)).then_some(()));
    assert_eq!(wait_for_event(data, &id, "done")["reason"], "orphaned");
}

#[test]
fn terminate_ends_the_processes_and_is_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = train(data, &[]);
    wait_for_event(data, &id, "training_started");
    let (supervisor, trainer) = pids(data, &id);
    assert_eq!(ask(data, &["terminate", &id])["state"], "stopping");
    let exit = wait_for_exit(data, &id);
    assert_eq!((&exit["signal"], &exit["forced"]), (&json!(15), &json!(true)));
    wait_for("the end", || (!is_alive(supervisor) && !is_alive(trainer)).then_some(()));
    assert_eq!(result(&run(data, &["runs", "--json", "--data", "."]))["state"], "terminated");

    // One that does not hear is killed.
    let id = train(data, &[]);
    wait_for_event(data, &id, "training_started");
    let (_, trainer) = pids(data, &id);
    kill("-STOP", trainer);
    ask(data, &["terminate", &id]);
    let exit = wait_for_exit(data, &id);
    assert_eq!((&exit["signal"], &exit["forced"]), (&json!(9), &json!(true)));
    assert!(!is_alive(trainer));
}

#[test]
fn a_tune_is_checked_saved_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let lab = LabProcess::start(data, 0);
    let id = lab.start_run(&endless());
    lab.wait_for_run(&id, "training", |run| run["state"] == "running");
    let tune = |path: &str, value: f64| {
        lab.post(&format!("/api/runs/{id}/tune"), &json!({ "path": path, "value": value }))
    };
    let (status, problem) = tune("trainer.gamma", 0.9);
    assert_eq!((status, &problem["errors"][0]["pointer"]), (422, &json!("/path")), "{problem}");
    let (status, problem) = tune("trainer.clip_range", 0.9);
    assert_eq!((status, &problem["errors"][0]["pointer"]), (422, &json!("/value")), "{problem}");
    let output = run(data, &["tune", &id, "trainer.ent_coef=2", "--data", "."]);
    assert_eq!(output.status.code(), Some(2));

    assert_eq!(tune("trainer.learning_rate", 0.001).0, 202);
    let applied = wait_for_event(data, &id, "tune_applied");
    assert_eq!(
        (&applied["path"], &applied["old"], &applied["new"], &applied["by"]),
        (&json!("trainer.learning_rate"), &json!(0.0003), &json!(0.001), &json!("admin"))
    );
    let saved = events(data, &id, "checkpoint_saved");
    assert!(saved.iter().any(|event| event["step"] == applied["step"]), "a checkpoint came first");
    wait_for("a row with the new rate", || {
        let rows = lines(data, &id, "metrics.jsonl");
        rows.iter().any(|row| row["values"]["train/learning_rate"] == 0.001).then_some(())
    });
    ask(data, &["tune", &id, "evaluation.every_steps=1e6"]);
    wait_for("the second tune", || (events(data, &id, "tune_applied").len() == 2).then_some(()));
    ask(data, &["checkpoint", &id]);
    wait_for("the checkpoint", || {
        events(data, &id, "control_ack").iter().any(|e| e["command"] == "checkpoint").then_some(())
    });
    ask(data, &["terminate", &id]);
    wait_for_exit(data, &id);
}

#[test]
fn bad_control_lines_are_refused_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let (id, other) = (train(data, &[]), train(data, &[]));
    for run in [&id, &other] {
        wait_for_event(data, run, "training_started");
    }
    ask(data, &["checkpoint", &id]);
    ask(data, &["checkpoint", &id]);
    ask(data, &["terminate", &other]);
    wait_for_exit(data, &other);
    wait_for("two acknowledgements", || {
        (events(data, &id, "control_ack").len() == 2).then_some(())
    });
    let path = data.join("runs").join(&id).join("control.jsonl");
    let good = lines(data, &id, "control.jsonl");
    let foreign = lines(data, &other, "control.jsonl").remove(0);
    let changed = |key: &str, value: Value| {
        let mut line = good[1].clone();
        line[key] = value;
        line
    };
    let bad = [
        // Again, out of order, of another run, of another attempt, and changed.
        (good[1].clone(), "has number 2 where 3 is due"),
        (changed("seq", json!(4)), "has number 4 where 3 is due"),
        (foreign, "it is meant for run"),
        (changed("attempt", json!(2)), "it is meant for attempt 2"),
        (changed("command", json!("terminate")), "has number 2 where 3 is due"),
        (changed("seq", json!(3)), "it does not follow the line before it"),
    ];
    let mut text = fs::read_to_string(&path).unwrap();
    for (line, _) in &bad {
        text += &format!("{line}\n");
    }
    text += "no line at all\n";
    fs::write(&path, text).unwrap();
    let refused = wait_for("the refusals", || {
        let lines = lines(data, &id, "supervisor.jsonl");
        let refused = lines.into_iter().filter(|line| line["type"] == "control_refused");
        Some(refused.collect::<Vec<_>>()).filter(|refused| refused.len() == bad.len() + 1)
    });
    for ((_, reason), line) in bad.iter().zip(&refused) {
        assert!(line["reason"].as_str().unwrap().contains(reason), "{line}");
    }
    // What is asked after them is heard.
    ask(data, &["stop", &id]);
    assert_eq!(wait_for_event(data, &id, "done")["reason"], "stopped");
    assert_eq!(events(data, &id, "control_ack").len(), 3);
    wait_for_exit(data, &id);
}
