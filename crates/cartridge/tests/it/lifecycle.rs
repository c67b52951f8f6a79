//! Runs that obey: paused, resumed, ended, changed and started again, as real processes.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    LabProcess, ask, cartridge, events, is_alive, kill, lines, pids, result, run, text, train,
    wait_for, wait_for_attempt, wait_for_event, wait_for_exit,
};

/// A run that goes on until it is ended.
fn endless() -> Value {
    json!({ "env_id": "CartPole-v1", "total_timesteps": 1_000_000_000 })
}

/// The hash of the final weights of a run that was trained to its end.
#[track_caller]
fn final_weights(data: &Path, id: &str) -> String {
    let done = wait_for_event(data, id, "done");
    assert_eq!(done["reason"], "completed");
    done["weights_sha256"].as_str().unwrap().to_owned()
}

/// Beside a training the pages of a browser, and everything else, come first.
#[cfg(target_os = "linux")]
#[test]
fn trainers_stand_back_for_other_programs() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let ours = train(data, &["--steps", "1000000000"]);
    let exec = ["exec", "--env", "x", "--detach", "--json", "--data", ".", "--", "sleep", "600"];
    let output = run(data, &exec);
    let theirs = result(&output)["run_id"].as_str().unwrap().to_owned();
    for id in [ours, theirs] {
        let (supervisor, trainer) = pids(data, &id);
        let of_trainer = |file: &str| fs::read_to_string(format!("/proc/{trainer}/{file}")).ok();
        wait_for("a trainer that stands back", || {
            let stat = of_trainer("stat")?;
            // The name may hold spaces; the 19th word of all is the niceness.
            let niceness = stat.rsplit_once(')')?.1.split_whitespace().nth(16)?;
            // Not every kernel groups by sessions.
            let session = of_trainer("autogroup").is_none_or(|text| text.ends_with(" nice 5\n"));
            (niceness == "5" && session).then_some(())
        });
        kill("-KILL", supervisor);
    }
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
fn a_supervisor_that_stands_still_is_lost_until_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = train(data, &["--steps", "1000000000"]);
    wait_for_event(data, &id, "training_started");
    let (supervisor, _) = pids(data, &id);
    let state = || result(&run(data, &["runs", "--json", "--data", "."]))["state"].clone();
    kill("-STOP", supervisor);
    wait_for("the loss", || (state() == "lost").then_some(()));
    // Nobody starts it a second time while it is there, or kills it who wanted it to save.
    for verb in ["resume", "stop"] {
        let output = run(data, &[verb, &id, "--data", "."]);
        assert_eq!(output.status.code(), Some(4), "{verb}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("`terminate` ends it"), "{}", text(&output.stderr));
    }
    assert!(is_alive(supervisor));
    kill("-CONT", supervisor);
    wait_for("its return", || (state() == "running").then_some(()));

    // Both can be ended all the same.
    let (supervisor, trainer) = pids(data, &id);
    kill("-STOP", supervisor);
    wait_for("the loss", || (state() == "lost").then_some(()));
    ask(data, &["terminate", &id]);
    wait_for("the end", || (!is_alive(supervisor) && !is_alive(trainer)).then_some(()));
    assert_eq!(state(), "terminated");
}

#[test]
fn changed_and_missing_control_lines_show_and_keep_nothing_from_being_obeyed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = train(data, &["--steps", "1000000000"]);
    wait_for_event(data, &id, "training_started");
    ask(data, &["tune", &id, "trainer.learning_rate=0.0001"]);
    wait_for_event(data, &id, "tune_applied");
    let path = data.join("runs").join(&id).join("control.jsonl");
    let verify = || run(data, &["audit", "verify", "--data", "."]);
    assert!(verify().status.success());

    // Another number in a line that was obeyed, in the same room and in more.
    let lines = fs::read_to_string(&path).unwrap();
    fs::write(&path, lines.replace("0.0001", "0.0002")).unwrap();
    ask(data, &["pause", &id]);
    wait_for_event(data, &id, "paused");
    let lines = fs::read_to_string(&path).unwrap();
    fs::write(&path, lines.replace("0.0002", "0.00021")).unwrap();
    ask(data, &["resume", &id]);
    wait_for_event(data, &id, "resumed");
    assert_eq!(verify().status.code(), Some(1));

    // All of them gone.
    fs::write(&path, "").unwrap();
    let output = verify();
    assert_eq!(output.status.code(), Some(1));
    let said = [text(&output.stdout), text(&output.stderr)].concat();
    assert!(said.contains("number 3 of attempt 1 is missing"), "{said}");
    ask(data, &["terminate", &id]);
    let exit = wait_for_exit(data, &id);
    assert_eq!(exit["forced"], true);
}

#[test]
fn of_two_who_resume_at_once_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = train(data, &["--steps", "1000000000"]);
    wait_for_event(data, &id, "checkpoint_saved");
    ask(data, &["terminate", &id]);
    wait_for_exit(data, &id);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| ask(data, &["resume", &id]));
        }
    });
    let audit = fs::read_to_string(data.join("audit.jsonl")).unwrap();
    assert_eq!(audit.matches("\"resume\"").count(), 1, "{audit}");
    let (_, trainer) = wait_for_attempt(data, &id, 2);
    ask(data, &["terminate", &id]);
    wait_for("the trainer to end", || (!is_alive(trainer)).then_some(()));
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
    // They are seen where people look: in the event log and in the audit.
    let warned = wait_for("the warnings", || {
        let warned = events(data, &id, "warning");
        Some(warned).filter(|warned| warned.len() == bad.len() + 1)
    });
    for (line, warning) in refused.iter().zip(&warned) {
        let said = format!("Control line {} was refused: ", line["line"]);
        let said = said + line["reason"].as_str().unwrap();
        assert_eq!(warning["message"], said);
    }
    let audit = fs::read_to_string(data.join("audit.jsonl")).unwrap();
    let audited = audit.lines().filter(|line| line.contains(r#""what":"refuse""#)).count();
    assert_eq!(audited, bad.len() + 1);
    // What is asked after them is heard.
    ask(data, &["stop", &id]);
    assert_eq!(wait_for_event(data, &id, "done")["reason"], "stopped");
    assert_eq!(events(data, &id, "control_ack").len(), 3);
    wait_for_exit(data, &id);
}

/// Rows and episodes as readers count them: each number once, without a gap.
#[track_caller]
fn check_rows(data: &Path, id: &str) {
    let mut rows: Vec<Value> = Vec::new();
    let restored = events(data, id, "restored");
    for row in lines(data, id, "metrics.jsonl") {
        let is_superseded = restored.iter().any(|event| {
            row["attempt"].as_u64() < event["attempt"].as_u64()
                && event["row"].as_u64() < row["row"].as_u64()
        });
        if !is_superseded {
            rows.push(row);
        }
    }
    let numbers: Vec<u64> = rows.iter().map(|row| row["row"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let episodes: Vec<u64> = rows
        .iter()
        .flat_map(|row| row["episodes"]["episode"].as_array().cloned().unwrap_or_default())
        .map(|number| number.as_u64().unwrap())
        .collect();
    let first = episodes.first().copied().unwrap_or(1);
    assert_eq!(episodes, (first..first + episodes.len() as u64).collect::<Vec<_>>());
}

/// Settings under which a run takes some seconds and saves often.
const BUSY: [&str; 10] = [
    "--steps",
    "120000",
    "--seed",
    "3",
    "--set",
    "retention.checkpoint_every_steps=10000",
    "--set",
    "evaluation.every_steps=15000",
    "--set",
    "evaluation.episodes=3",
];

#[test]
fn killed_anywhere_and_resumed_gives_the_same_weights() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let plain = train(data, &BUSY);
    let whole = final_weights(data, &plain);
    let id = train(data, &BUSY);
    // The trainer, its supervisor, and both at once, each as far as it has got by then.
    for (n, what) in (1..).zip(["trainer", "supervisor", "both", "terminate", "stop"]) {
        let (supervisor, trainer) = wait_for_attempt(data, &id, n);
        wait_for("some rows of this attempt", || {
            let rows = lines(data, &id, "metrics.jsonl");
            let ours = rows.iter().filter(|row| row["attempt"] == n).count();
            (ours >= 4).then_some(())
        });
        match what {
            "trainer" => kill("-KILL", trainer),
            "supervisor" => kill("-KILL", supervisor),
            "both" => {
                kill("-KILL", supervisor);
                kill("-KILL", trainer);
            }
            verb => _ = ask(data, &[verb, &id]),
        }
        if what == "trainer" || what == "terminate" || what == "stop" {
            wait_for_exit(data, &id);
        }
        wait_for("the supervisor to end", || (!is_alive(supervisor)).then_some(()));
        assert_eq!(ask(data, &["resume", &id])["attempt"], n + 1);
    }
    wait_for("the end", || {
        lines(data, &id, "supervisor.jsonl")
            .pop()
            .filter(|line| line["type"] == "exited" && line["attempt"] == 6)
    });
    assert_eq!(events(data, &id, "done").pop().unwrap()["weights_sha256"], json!(whole));
    assert_eq!(events(data, &id, "restored").len(), 5);
    check_rows(data, &id);
    // The figures of both are the same, but for the time that they took.
    let figures = |id: &str| {
        let restored = events(data, id, "restored");
        let rows = lines(data, id, "metrics.jsonl").into_iter().filter(move |row| {
            !restored.iter().any(|event| {
                row["attempt"].as_u64() < event["attempt"].as_u64()
                    && event["row"].as_u64() < row["row"].as_u64()
            })
        });
        rows.map(|mut row| {
            row["values"].as_object_mut().unwrap().remove("time/fps");
            (
                row["row"].clone(),
                row["step"].clone(),
                row["values"].clone(),
                row["episodes"].clone(),
            )
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(figures(&id), figures(&plain));
    // It is over now.
    let output = run(data, &["resume", &id, "--data", "."]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
}

#[test]
fn dqn_killed_and_resumed_gives_the_same_weights() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let settings = [
        ["--algo", "dqn"],
        ["--set", "trainer.net_arch=[128,128]"],
        ["--steps", "60000"],
        ["--seed", "3"],
        ["--set", "trainer.learning_starts=500"],
        ["--set", "retention.checkpoint_every_steps=3000"],
    ]
    .concat();
    let plain = train(data, &settings);
    let whole = final_weights(data, &plain);
    let id = train(data, &settings);
    for n in 1..=2 {
        let (supervisor, trainer) = wait_for_attempt(data, &id, n);
        wait_for("a checkpoint of this attempt", || {
            let saved = events(data, &id, "checkpoint_saved");
            saved.iter().any(|event| event["attempt"] == n).then_some(())
        });
        kill("-KILL", supervisor);
        kill("-KILL", trainer);
        wait_for("the supervisor to end", || (!is_alive(supervisor)).then_some(()));
        assert_eq!(ask(data, &["resume", &id])["attempt"], n + 1);
    }
    wait_for("the end", || {
        lines(data, &id, "supervisor.jsonl")
            .pop()
            .filter(|line| line["type"] == "exited" && line["attempt"] == 3)
    });
    assert_eq!(events(data, &id, "done").pop().unwrap()["weights_sha256"], json!(whole));
    assert_eq!(events(data, &id, "restored").len(), 2);
    check_rows(data, &id);
}

#[test]
fn what_was_tuned_holds_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = train(data, &BUSY);
    wait_for_event(data, &id, "training_started");
    ask(data, &["tune", &id, "trainer.learning_rate=0.002"]);
    let step = wait_for_event(data, &id, "tune_applied")["step"].as_u64().unwrap();
    let (_, trainer) = wait_for_attempt(data, &id, 1);
    kill("-KILL", trainer);
    wait_for_exit(data, &id);
    ask(data, &["resume", &id]);
    wait_for("the end", || {
        lines(data, &id, "supervisor.jsonl")
            .pop()
            .filter(|line| line["type"] == "exited" && line["attempt"] == 2)
    });
    check_rows(data, &id);
    for row in lines(data, &id, "metrics.jsonl") {
        let Some(rate) = row["values"]["train/learning_rate"].as_f64() else { continue };
        let expected = if row["step"].as_u64().unwrap() > step { 0.002 } else { 0.0003 };
        assert_eq!(rate, expected, "{row}");
    }
    assert_eq!(events(data, &id, "tune_applied").len(), 1, "it is recorded once");
}

#[test]
fn a_run_whose_supervisor_never_spoke_is_started_by_resume() {
    let folder = tempfile::tempdir().unwrap();
    let id = train(folder.path(), &["--steps", "6000"]);
    wait_for_exit(folder.path(), &id);
    let weights = final_weights(folder.path(), &id);
    // As a supervisor leaves it that was killed before its first line.
    for entry in fs::read_dir(folder.path().join("runs").join(&id)).unwrap() {
        let path = entry.unwrap().path();
        match path.file_name().unwrap().to_str().unwrap() {
            "run.json" => {}
            _ if path.is_dir() => fs::remove_dir_all(path).unwrap(),
            _ => fs::remove_file(path).unwrap(),
        }
    }
    assert_eq!(ask(folder.path(), &["resume", &id])["attempt"], 1);
    wait_for_exit(folder.path(), &id);
    assert_eq!(final_weights(folder.path(), &id), weights);
}

#[test]
fn a_run_that_fails_is_started_again_by_itself_and_not_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    // By the command that watches it.
    let args = ["train", "CartPole-v1", "--json", "--data", ".", "--restarts", "2"];
    let mut command = crate::support::cartridge(&args);
    let watching = command
        .args(["--restart-backoff", "0.1"])
        .current_dir(data)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let id = wait_for("the run", || {
        fs::read_dir(data.join("runs")).ok()?.flatten().next()?.file_name().into_string().ok()
    });
    for n in 1..=3 {
        let (_, trainer) = wait_for_attempt(data, &id, n);
        kill("-KILL", trainer);
    }
    let output = watching.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(result(&output)["state"], "failed");

    // By the lab.
    let lab = LabProcess::start(data, 0);
    let mut new = endless();
    new["restarts"] = json!(1);
    let id = lab.start_run(&new);
    for n in 1..=2 {
        let (_, trainer) = wait_for_attempt(data, &id, n);
        kill("-KILL", trainer);
    }
    let failed =
        lab.wait_for_run(&id, "the end", |run| run["attempt"] == 2 && run["state"] == "failed");
    assert_eq!(failed["failure"]["signal"], 9);
    // And by hand it goes on all the same.
    assert_eq!(lab.post(&format!("/api/runs/{id}/resume"), &json!({})).0, 202);
    lab.wait_for_run(&id, "training", |run| run["attempt"] == 3 && run["state"] == "running");
    lab.post(&format!("/api/runs/{id}/terminate"), &json!({}));
    lab.wait_for_run(&id, "the end", |run| run["state"] == "terminated");
}

#[test]
fn of_many_who_start_a_run_again_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = train(data, &[]);
    for n in 1..=3 {
        wait_for_attempt(data, &id, n);
        wait_for("training", || {
            let started = events(data, &id, "training_started");
            started.iter().any(|event| event["attempt"] == n).then_some(())
        });
        ask(data, &["stop", &id]);
        wait_for("the end of this attempt", || {
            lines(data, &id, "supervisor.jsonl")
                .pop()
                .filter(|line| line["type"] == "exited" && line["attempt"] == n)
        });
        // At once, by several.
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| run(data, &["resume", &id, "--data", "."]));
            }
        });
        let (_, trainer) = wait_for_attempt(data, &id, n + 1);
        wait_for_event(data, &id, "restored");
        assert!(is_alive(trainer));
    }
    let started = lines(data, &id, "supervisor.jsonl");
    let started = started.iter().filter(|line| line["type"] == "started").count();
    assert_eq!(started, 4, "one per attempt");
    ask(data, &["terminate", &id]);
    wait_for_exit(data, &id);
    check_rows(data, &id);
    assert_eq!(run(data, &["audit", "verify", "--data", "."]).status.code(), Some(0));
}

#[test]
fn the_queue_keeps_its_order_and_outlives_the_lab() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let lab = LabProcess::start_with(data, 0, &["--max-runs", "1"]);
    let port = lab.port();
    let ids: Vec<String> = (0..4).map(|_| lab.start_run(&endless())).collect();
    lab.wait_for_run(&ids[0], "the first", |run| run["state"] == "running");
    let state = |lab: &LabProcess, id: &str| lab.get(&format!("/api/runs/{id}")).1["state"].clone();
    for id in &ids[1..] {
        assert_eq!(state(&lab, id), "queued");
    }
    assert_eq!(lab.get(&format!("/api/runs/{}", ids[1])).1["health"], "fresh");
    // One that waits can be ended without ever being started.
    assert_eq!(lab.post(&format!("/api/runs/{}/pause", ids[1]), &json!({})).0, 409);
    let (_, ended) = lab.post(&format!("/api/runs/{}/stop", ids[1]), &json!({}));
    assert_eq!((&ended["state"], &ended["started_at"]), (&json!("terminated"), &Value::Null));

    lab.kill();
    let lab = LabProcess::start_with(data, port, &["--max-runs", "1"]);
    assert_eq!(state(&lab, &ids[0]), "running");
    assert_eq!(state(&lab, &ids[2]), "queued");
    lab.post(&format!("/api/runs/{}/stop", ids[0]), &json!({}));
    lab.wait_for_run(&ids[2], "the next", |run| run["state"] == "running");
    assert_eq!(state(&lab, &ids[3]), "queued", "in the order in which they were made");
    lab.post(&format!("/api/runs/{}/terminate", ids[2]), &json!({}));
    lab.wait_for_run(&ids[3], "the last", |run| run["state"] == "running");
    lab.post(&format!("/api/runs/{}/terminate", ids[3]), &json!({}));
    lab.wait_for_run(&ids[3], "the end", |run| run["state"] == "terminated");
    assert_eq!(lines(data, &ids[1], "supervisor.jsonl").len(), 1);
    // It was never started, and can be.
    lab.post(&format!("/api/runs/{}/resume", ids[1]), &json!({}));
    lab.wait_for_run(&ids[1], "training", |run| run["state"] == "running");
    lab.post(&format!("/api/runs/{}/terminate", ids[1]), &json!({}));
    lab.wait_for_run(&ids[1], "the end", |run| run["state"] == "terminated");
}

#[test]
fn a_request_that_is_sent_again_makes_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let lab = LabProcess::start(data, 0);
    let port = lab.port();
    let new = json!({ "env_id": "CartPole-v1", "total_timesteps": 5_000 });
    let first = lab.post_with_key("/api/runs", &new, "abc").1["id"].clone();
    assert_eq!(lab.post_with_key("/api/runs", &new, "abc").1["id"], first);
    // A second run of the same configuration is normal.
    let second = lab.post("/api/runs", &new).1["id"].clone();
    assert_ne!(second, first);
    assert_ne!(lab.post_with_key("/api/runs", &new, "other").1["id"], first);
    lab.kill();
    let lab = LabProcess::start(data, port);
    assert_eq!(lab.post_with_key("/api/runs", &new, "abc").1["id"], first, "also after a restart");
    for run in fs::read_dir(data.join("runs")).unwrap().flatten() {
        let id = run.file_name().into_string().unwrap();
        lab.wait_for_run(&id, "the end", |run| run["state"] == "succeeded");
    }
}

#[test]
fn a_fork_goes_on_from_a_checkpoint_with_what_may_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let parent = train(data, &BUSY);
    let whole = final_weights(data, &parent);
    wait_for_exit(data, &parent);
    let saved: Vec<u64> = events(data, &parent, "checkpoint_saved")
        .iter()
        .map(|event| event["step"].as_u64().unwrap())
        .collect();
    // The newest but the last: it is still there.
    let step = saved[saved.len() - 3];
    let fork = |args: &[&str]| {
        let step = step.to_string();
        let common = ["fork", &parent, "--checkpoint", &step, "--data", ".", "--json"];
        run(data, &[&common[..], args].concat())
    };
    // Without changes it comes to the same end.
    let plain = result(&fork(&[]));
    assert_eq!((&plain["parent"]["run"], &plain["parent"]["step"]), (&json!(parent), &json!(step)));
    let plain = plain["run_id"].as_str().unwrap().to_owned();
    assert_eq!(final_weights(data, &plain), whole);
    let restored = events(data, &plain, "restored").remove(0);
    assert_eq!((&restored["step"], &restored["row"]), (&json!(step), &json!(0)));
    check_rows(data, &plain);

    let changed = result(&fork(&["--set", "trainer.learning_rate=0.001"]));
    let changed = changed["run_id"].as_str().unwrap().to_owned();
    assert_ne!(final_weights(data, &changed), whole);
    let row = lines(data, &changed, "metrics.jsonl").remove(0);
    assert_eq!(row["values"]["train/learning_rate"], 0.001);
    let code = |args: &[&str]| fork(args).status.code();
    assert_eq!(code(&["--set", "trainer.gamma=0.9"]), Some(2), "not in the whitelist");
    assert_eq!(code(&["--set", "trainer.ent_coef=7"]), Some(2), "out of bounds");
    let gone = run(data, &["fork", &parent, "--checkpoint", "1", "--data", "."]);
    assert_eq!(gone.status.code(), Some(3), "{}", text(&gone.stderr));
    let last = run(data, &["fork", &parent, "--data", "."]);
    assert_eq!(last.status.code(), Some(4), "{}", text(&last.stderr));

    // The lab shows where they come from.
    let lab = LabProcess::start(data, 0);
    let shown = lab.get(&format!("/api/runs/{parent}")).1;
    assert_eq!(shown["children"], json!([plain, changed]));
    assert_eq!(lab.get(&format!("/api/runs/{plain}")).1["parent"]["run_id"], json!(parent));
    let body = json!({ "checkpoint": step.to_string(), "overrides": { "trainer.gamma": 0.9 } });
    let (status, problem) = lab.post(&format!("/api/runs/{parent}/fork"), &body);
    assert_eq!((status, &problem["errors"][0]["pointer"]), (422, &json!("/overrides")));
    let body = json!({ "checkpoint": step.to_string() });
    let (status, third) = lab.post(&format!("/api/runs/{parent}/fork"), &body);
    assert_eq!(status, 201, "{third}");
    let third = third["id"].as_str().unwrap();
    lab.wait_for_run(third, "the end", |run| run["state"] == "succeeded");
}

#[test]
fn runs_are_put_away_deleted_and_brought_back() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let lab = LabProcess::start(data, 0);
    let id = lab.start_run(&endless());
    lab.wait_for_run(&id, "training", |run| run["state"] == "running");
    assert_eq!(lab.delete(&format!("/api/runs/{id}")).0, 409, "it is at work");
    assert_eq!(run(data, &["delete", &id, "--data", "."]).status.code(), Some(4));
    lab.post(&format!("/api/runs/{id}/stop"), &json!({}));
    lab.wait_for_run(&id, "the end", |run| run["state"] == "terminated");
    let listed = |query: &str| {
        let (_, page) = lab.get(&format!("/api/runs{query}"));
        page["runs"].as_array().unwrap().len()
    };
    assert_eq!(lab.post(&format!("/api/runs/{id}/archive"), &json!({})).1["archived"], true);
    assert_eq!((listed(""), listed("?archived=true")), (0, 1));
    ask(data, &["unarchive", &id]);
    wait_for("the lab to hear of it", || (listed("") == 1).then_some(()));
    assert_eq!(lab.post(&format!("/api/runs/{id}/pin"), &json!({})).1["pinned"], true);
    let (_, pinned) = lab.post(&format!("/api/runs/{id}/pin?checkpoint=latest"), &json!({}));
    assert_eq!(pinned["pinned_checkpoints"].as_array().unwrap().len(), 1);
    assert_eq!(lab.post(&format!("/api/runs/{id}/pin?checkpoint=7"), &json!({})).0, 404);
    assert_eq!(lab.post(&format!("/api/runs/{id}/unpin"), &json!({})).1["pinned"], false);

    let rows = lines(data, &id, "metrics.jsonl").len();
    assert_eq!(lab.delete(&format!("/api/runs/{id}")).0, 204);
    assert_eq!(lab.get(&format!("/api/runs/{id}")).0, 404);
    assert!(data.join("trash").join(&id).join("run.json").is_file());
    assert_eq!(lab.get("/api/trash").1["runs"][0]["id"], json!(id));
    let (status, back) = lab.post(&format!("/api/runs/{id}/restore"), &json!({}));
    assert_eq!((status, &back["state"]), (202, &json!("terminated")));
    assert_eq!(lines(data, &id, "metrics.jsonl").len(), rows);
    assert_eq!(lab.post(&format!("/api/runs/{id}/restore"), &json!({})).0, 404);
    // The command line does the same, and the lab follows.
    ask(data, &["delete", &id]);
    wait_for("the lab to hear of it", || (listed("") == 0).then_some(()));
    ask(data, &["restore", &id]);
    wait_for("the lab to hear of it", || (listed("") == 1).then_some(()));

    let (_, audit) = lab.get("/api/audit");
    let deeds: Vec<&str> = audit["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["what"].as_str().unwrap())
        .collect();
    let created = audit["lines"].as_array().unwrap().iter().find(|line| line["what"] == "create");
    let new = &created.unwrap()["new"];
    assert_eq!(new["env_id"], "CartPole-v1", "it says what was made: {new}");
    assert_eq!(new["config_sha256"].as_str().map(str::len), Some(64), "{new}");
    assert_eq!(
        deeds,
        [
            "create",
            "stop",
            "archive",
            "unarchive",
            "pin",
            "pin",
            "unpin",
            "delete",
            "restore",
            "delete",
            "restore"
        ]
    );
}

#[test]
fn the_audit_names_the_first_bad_line() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = train(data, &[]);
    wait_for_event(data, &id, "training_started");
    ask(data, &["tune", &id, "trainer.clip_range=0.1"]);
    ask(data, &["tune", &id, "trainer.clip_range=0.3"]);
    wait_for("both", || (events(data, &id, "tune_applied").len() == 2).then_some(()));
    ask(data, &["stop", &id]);
    wait_for_exit(data, &id);
    let listed = text(&run(data, &["audit", "--json", "--data", "."]).stdout);
    let listed: Vec<Value> =
        listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tune = &listed[1];
    assert_eq!(tune["old"], json!({ "trainer.clip_range": 0.2 }));
    assert_eq!(tune["new"], json!({ "trainer.clip_range": 0.1 }));
    assert!(!tune["who"].as_str().unwrap().is_empty());
    let verify = || run(data, &["audit", "verify", "--data", "."]);
    assert_eq!(verify().status.code(), Some(0), "{}", text(&verify().stdout));

    let control = data.join("runs").join(&id).join("control.jsonl");
    let text_before = fs::read_to_string(&control).unwrap();
    fs::write(&control, text_before.replace("0.3}", "0.2}")).unwrap();
    let output = verify();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout);
    let expected = format!("runs/{id}/control.jsonl line 2: its signature is wrong");
    assert!(said.contains(&expected), "{said}");
    fs::write(&control, text_before).unwrap();

    let audit = data.join("audit.jsonl");
    let text_before = fs::read_to_string(&audit).unwrap();
    let without_third: Vec<&str> =
        text_before.lines().enumerate().filter(|(at, _)| *at != 2).map(|(_, line)| line).collect();
    fs::write(&audit, without_third.join("\n") + "\n").unwrap();
    let output = verify();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout);
    assert!(said.contains("audit.jsonl line 3: it has number 4 where 3 is due"), "{said}");
}

#[test]
fn a_second_writer_of_a_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = train(data, &[]);
    wait_for_event(data, &id, "training_started");
    let worker = run(data, &["worker", "--data", ".", "--run", &id, "--attempt", "1"]);
    assert!(!worker.status.success(), "the files have their writer");
    let supervise = ["supervise", "--data", ".", "--run", &id, "--stop-grace", "1", "--attempt"];
    for attempt in ["1", "2"] {
        assert!(!run(data, &[&supervise[..], &[attempt]].concat()).status.success());
    }
    ask(data, &["stop", &id]);
    wait_for_exit(data, &id);
    check_rows(data, &id);
    // An attempt that is over is not begun again.
    wait_for("the supervisor to end", || (!is_alive(pids(data, &id).0)).then_some(()));
    run(data, &[&supervise[..], &["1"]].concat());
    let started = lines(data, &id, "supervisor.jsonl");
    assert_eq!(started.iter().filter(|line| line["type"] == "started").count(), 1);
}

#[test]
fn what_the_command_line_starts_waits_in_the_queue_of_the_lab() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let lab = LabProcess::start_with(data, 0, &["--max-runs", "1"]);
    let state = |id: &str| lab.get(&format!("/api/runs/{id}")).1["state"].clone();
    let first = train(data, &[]);
    lab.wait_for_run(&first, "the first", |run| run["state"] == "running");
    let second = train(data, &["--steps", "6000"]);
    lab.wait_for_run(&second, "the second", |run| run["state"] == "queued");

    // A command that watches says where its run stands, and Ctrl-C takes it back.
    let args = ["exec", "--env", "x", "--data", ".", "--", "sleep", "600"];
    let mut watching = cartridge(&args)
        .current_dir(data)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = std::io::BufReader::new(watching.stderr.take().unwrap());
    let mut heard = String::new();
    while !heard.contains("at place 2") {
        assert!(std::io::BufRead::read_line(&mut said, &mut heard).unwrap() > 0, "{heard}");
    }
    assert!(heard.contains(&format!("queue of the lab at {}", lab.address)), "{heard}");
    let third = heard.split(':').next().unwrap().to_owned();
    lab.wait_for_run(&third, "the third", |run| run["state"] == "queued");
    kill("-INT", watching.id().into());
    let output = watching.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout), format!("{third} was taken back before it was started\n"));
    lab.wait_for_run(&third, "it to be taken back", |run| run["state"] == "terminated");
    assert_eq!(lines(data, &third, "supervisor.jsonl").len(), 1, "it was never started");

    // A new attempt waits as well, behind those that came before.
    let output = run(data, &["resume", &third, "--data", "."]);
    assert!(text(&output.stdout).contains("at place 2 in the queue"), "{}", text(&output.stderr));
    lab.wait_for_run(&third, "it to wait", |run| run["state"] == "queued" && run["attempt"] == 2);
    assert_eq!(run(data, &["pause", &third, "--data", "."]).status.code(), Some(4));
    // Unless somebody says now, or starts it.
    let fourth = train(data, &["--now"]);
    lab.wait_for_run(&fourth, "the one that cannot wait", |run| run["state"] == "running");
    ask(data, &["start", &third]);
    lab.wait_for_run(&third, "the third", |run| run["state"] == "running" && run["attempt"] == 2);
    assert_eq!(state(&second), "queued");
    let (status, started) = lab.post(&format!("/api/runs/{second}/start"), &json!({}));
    assert_eq!(status, 202, "{started}");
    lab.wait_for_run(&second, "the second", |run| run["state"] == "succeeded");
    for id in [&second, &first] {
        let (status, problem) = lab.post(&format!("/api/runs/{id}/start"), &json!({}));
        assert_eq!(status, 409, "{problem}");
        assert_eq!(run(data, &["start", id, "--data", "."]).status.code(), Some(4));
    }
    for id in [&first, &third, &fourth] {
        ask(data, &["terminate", id]);
        lab.wait_for_run(id, "the end", |run| run["state"] == "terminated");
    }
    // The audit tells of it, in a time that people can read.
    let audit = text(&run(data, &["audit", "--data", "."]).stdout);
    assert!(audit.contains("start"), "{audit}");
    let moment = audit.lines().next().unwrap().split_whitespace().nth(1).unwrap();
    assert!(moment.len() == 24 && moment.contains('T') && moment.ends_with('Z'), "{moment}");
}

#[test]
fn a_run_that_waits_outlives_the_lab_and_is_started_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let lab = LabProcess::start_with(data, 0, &["--max-runs", "1"]);
    let first = train(data, &[]);
    lab.wait_for_run(&first, "the first", |run| run["state"] == "running");
    let args = ["exec", "--env", "x", "--detach", "--data", ".", "--", "sh", "-c", "echo $WORD"];
    for secret in ["WANDB_API_KEY", "my_token"] {
        let mut command = cartridge(&[&args[..1], &["--pass", secret], &args[1..]].concat());
        let output = command.current_dir(data).env(secret, "hush").output().unwrap();
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains("kept with the run"), "{said}");
    }
    let mut command = cartridge(&[&args[..1], &["--pass", "WORD"], &args[1..]].concat());
    let output = command.current_dir(data).env("WORD", "kept").output().unwrap();
    let id = text(&output.stdout).trim().to_owned();
    lab.wait_for_run(&id, "it to wait", |run| run["state"] == "queued");
    lab.kill();
    ask(data, &["terminate", &first]);
    wait_for_exit(data, &first);
    let lab = LabProcess::start_with(data, 0, &["--max-runs", "1"]);
    lab.wait_for_run(&id, "the end", |run| run["state"] == "succeeded");
    let log = fs::read_to_string(data.join("runs").join(&id).join("log.txt")).unwrap();
    assert_eq!(log, "kept\n", "it has the environment of whoever made it");
}

#[test]
fn what_the_lab_will_never_have_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let lab = LabProcess::start_with(data, 0, &["--gpus", "1"]);
    let mut new = json!({ "env_id": "CartPole-v1", "total_timesteps": 5_000 });
    new["resources"] = json!({ "gpu": 2 });
    let (status, problem) = lab.post("/api/runs", &new);
    assert_eq!((status, &problem["errors"][0]["pointer"]), (422, &json!("/resources/gpu")));
    let detail = problem["errors"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("gives 1 GPU to all runs together"), "{detail}");
    for args in [
        ["exec", "--env", "x", "--gpu", "2", "--data", ".", "--", "true"].as_slice(),
        &["train", "CartPole-v1", "--set", "resources.gpu=2", "--data", "."],
        &["exec", "--env", "x", "--cpu", "4000", "--data", ".", "--", "true"],
    ] {
        let output = run(data, args);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    }
    assert_eq!(lab.get("/api/runs").1["runs"], json!([]), "nothing is left behind");
    // One at a time has the GPU.
    let exec = |args: &[&str]| {
        let common = ["exec", "--env", "x", "--detach", "--gpu", "1", "--data", ".", "--"];
        text(&run(data, &[&common[..], args].concat()).stdout).trim().to_owned()
    };
    let first = exec(&["sleep", "600"]);
    lab.wait_for_run(&first, "the first", |run| run["state"] == "running");
    let second = exec(&["true"]);
    lab.wait_for_run(&second, "the second", |run| run["state"] == "queued");
    ask(data, &["terminate", &first]);
    lab.wait_for_run(&second, "the second", |run| run["state"] == "succeeded");
}

#[test]
fn a_training_ends_at_its_time_limit_with_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = train(data, &["--max-seconds", "1"]);
    let exit = wait_for_exit(data, &id);
    let reason = "The time limit of 1 s is reached";
    assert_eq!((&exit["code"], &exit["reason"]), (&json!(0), &json!(reason)));
    let done = events(data, &id, "done").remove(0);
    assert_eq!(done["reason"], "stopped");
    let saved = events(data, &id, "checkpoint_saved").pop().unwrap();
    assert_eq!(saved["step"], done["step"]);
    assert_eq!(events(data, &id, "warning")[0]["message"], reason);
    assert!(events(data, &id, "control_ack").is_empty(), "nobody asked");

    let lab = LabProcess::start(data, 0);
    let mut new = endless();
    new["max_seconds"] = json!(0.5);
    let id = lab.start_run(&new);
    let ended = lab.wait_for_run(&id, "the end", |run| run["state"] == "terminated");
    assert_eq!(ended["end_reason"], "The time limit of 0.5 s is reached");
    new["max_seconds"] = json!(-1);
    assert_eq!(lab.post("/api/runs", &new).1["errors"][0]["pointer"], "/max_seconds");
}

#[test]
fn a_run_is_resumed_as_soon_as_its_supervisor_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let lab = LabProcess::start(data, 0);
    let id = lab.start_run(&endless());
    lab.wait_for_run(&id, "training", |run| run["state"] == "running");
    let (supervisor, trainer) = wait_for_attempt(data, &id, 1);
    for pid in [supervisor, trainer] {
        kill("-KILL", pid);
        wait_for("its end", || (!is_alive(pid)).then_some(()));
    }
    // The lab has not noticed yet, and does not have to.
    let (status, run) = lab.post(&format!("/api/runs/{id}/resume"), &json!({}));
    assert_eq!(status, 202, "{run}");
    lab.wait_for_run(&id, "training", |run| run["state"] == "running" && run["attempt"] == 2);
    lab.post(&format!("/api/runs/{id}/terminate"), &json!({}));
    lab.wait_for_run(&id, "the end", |run| run["state"] == "terminated");
}

/// The system takes its files from a process that was killed last of all, and later on a busy machine.
#[test]
fn a_supervisor_that_is_being_put_away_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = train(data, &["--steps", "1000000000"]);
    for attempt in 1..=2 {
        let (supervisor, trainer) = wait_for_attempt(data, &id, attempt);
        for pid in [supervisor, trainer] {
            kill("-KILL", pid);
            wait_for("its end", || (!is_alive(pid)).then_some(()));
        }
        let file = fs::File::open(data.join("runs").join(&id).join("supervisor.jsonl")).unwrap();
        file.lock().unwrap();
        thread::scope(|scope| {
            // In time for both attempts, and not for the command to find the file free at once.
            scope.spawn(move || {
                thread::sleep(Duration::from_millis(300));
                drop(file);
            });
            assert_eq!(ask(data, &["resume", &id])["attempt"], attempt + 1);
        });
    }
    ask(data, &["terminate", &id]);
    wait_for_exit(data, &id);
}

#[test]
fn a_run_ends_when_there_is_nothing_left_to_learn_interrupted_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let args = ["--preset", "speed", "--steps", "1e6", "--seed", "1", "--early-stop"];
    let more = ["--set", "evaluation.final_episodes=5"];
    let more = [&args[..], &more[..]].concat();
    let plain = train(data, &more);
    wait_for_exit(data, &plain);
    let done = events(data, &plain, "done").remove(0);
    assert_eq!(done["reason"], "saturated");
    assert!(done["step"].as_u64().unwrap() < 1_000_000, "{done}");
    assert_eq!(events(data, &plain, "evaluation_complete").pop().unwrap()["episodes"], 5);
    let output = run(data, &["runs", "--json", "--data", "."]);
    assert!(text(&output.stdout).contains("succeeded"), "{}", text(&output.stdout));

    let id = train(data, &more);
    for n in 1..=2 {
        let (_, trainer) = wait_for_attempt(data, &id, n);
        wait_for("a checkpoint of this attempt", || {
            let saved = events(data, &id, "checkpoint_saved");
            saved.iter().any(|event| event["attempt"] == n).then_some(())
        });
        kill("-KILL", trainer);
        wait_for_exit(data, &id);
        ask(data, &["resume", &id]);
    }
    wait_for("the end", || {
        let last = lines(data, &id, "supervisor.jsonl").pop()?;
        (last["type"] == "exited" && last["attempt"] == 3).then_some(())
    });
    let again = events(data, &id, "done").remove(0);
    for key in ["reason", "step", "weights_sha256"] {
        assert_eq!(again[key], done[key], "{key}");
    }
}

/// What a fork learns from is its own: the run that it comes from may go.
#[test]
fn a_fork_that_learns_from_its_past_goes_on_alone() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let settings = ["--algo", "dqn", "--set", "trainer.batch_size=16"];
    let parent = train(data, &settings);
    wait_for("some episodes", || (lines(data, &parent, "metrics.jsonl").len() > 3).then_some(()));
    ask(data, &["stop", &parent]);
    wait_for_exit(data, &parent);
    let output = run(data, &["fork", &parent, "--data", ".", "--json"]);
    let fork = result(&output)["run_id"].as_str().unwrap().to_owned();
    wait_for_attempt(data, &fork, 1);
    wait_for_event(data, &fork, "training_started");
    let (_, trainer) = pids(data, &fork);
    kill("-KILL", trainer);
    wait_for_exit(data, &fork);
    assert!(run(data, &["delete", &parent, "--data", "."]).status.success());
    assert!(!data.join("runs").join(&parent).exists(), "it is in the trash");
    run(data, &["resume", &fork, "--data", "."]);
    wait_for_attempt(data, &fork, 2);
    wait_for("training", || {
        let started = events(data, &fork, "training_started");
        started.iter().any(|event| event["attempt"] == 2).then_some(())
    });
    ask(data, &["terminate", &fork]);
    wait_for_exit(data, &fork);
}

/// The offsets of the blocks in a segment of recorded episodes.
fn blocks(segment: &[u8]) -> Vec<usize> {
    segment.windows(4).enumerate().filter(|(_, it)| *it == b"EPB\n").map(|(at, _)| at).collect()
}

/// What is damaged and not needed does no harm; what is needed and damaged is named.
#[test]
fn a_damaged_episode_matters_to_who_learns_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let settings = ["--algo", "dqn", "--set", "trainer.buffer_size=1000"];
    let settings = [&settings[..], &["--set", "trainer.learning_starts=500"]].concat();
    let parent = train(data, &[&settings[..], &["--set", "trainer.batch_size=16"]].concat());
    wait_for("more than it remembers", || {
        let row = lines(data, &parent, "metrics.jsonl").pop()?;
        (row["step"].as_u64() > Some(4_000)).then_some(())
    });
    ask(data, &["stop", &parent]);
    wait_for_exit(data, &parent);
    let path = data.join("runs").join(&parent).join("episodes/000001.seg");
    let whole = fs::read(&path).unwrap();
    let blocks = blocks(&whole);
    assert!(blocks.len() > 3, "{blocks:?}");
    let damage = |block: usize| {
        let mut bytes = whole.clone();
        bytes[block + 60] ^= 1;
        fs::write(&path, bytes).unwrap();
        run(data, &["fork", &parent, "--data", ".", "--json"])
    };
    let output = damage(blocks[0]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let fork = result(&output)["run_id"].as_str().unwrap().to_owned();
    wait_for_attempt(data, &fork, 1);
    ask(data, &["terminate", &fork]);
    wait_for_exit(data, &fork);
    let last = *blocks.last().unwrap();
    let output = damage(last);
    assert!(!output.status.success());
    let said = text(&output.stderr);
    let place = format!("episodes/000001.seg is damaged, the block at {last} with episodes");
    assert!(said.contains(&place) && said.contains("hint: "), "{said}");
}
