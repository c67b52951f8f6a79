//! Trainers that are not ours: the example in Python, well-behaved and not, under the real binary.

use std::fs;
use std::path::{Path, PathBuf};

use cartridge_run::store::episodes::{EpisodeBody, EpisodeReader};
use cartridge_run::store::{RunDir, RunId};
use serde_json::{Value, json};

use crate::support::{LabProcess, cartridge, is_alive, kill, pids, result, run, text, wait_for};

/// The example trainer.
fn trainer() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/examples/minimal_trainer.py");
    Path::new(path).canonicalize().unwrap().display().to_string()
}

/// Runs the example to its end with `options` of `cartridge exec` and `args` of its own, and
/// returns the result and the run's folder.
#[track_caller]
fn exec(folder: &Path, options: &[&str], args: &[&str]) -> (Value, PathBuf) {
    let trainer = trainer();
    let mut command = vec!["exec", "--env", "Corridor-v0", "--json"];
    command.extend(options);
    command.extend(["--", "python3", &trainer]);
    command.extend(args);
    exec_command(folder, &command)
}

#[track_caller]
fn exec_command(folder: &Path, command: &[&str]) -> (Value, PathBuf) {
    let output = run(folder, command);
    let report = result(&output);
    let dir = folder.join("data/runs").join(report["run_id"].as_str().unwrap());
    (report, dir)
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    // What follows the last newline is still being written.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The exit that the supervisor recorded last.
fn exit(dir: &Path) -> Value {
    let last = lines(&dir.join("supervisor.jsonl")).pop().unwrap();
    assert_eq!(last["type"], "exited");
    last
}

fn events(dir: &Path, kind: &str) -> Vec<Value> {
    let all = lines(&dir.join("events.jsonl"));
    all.into_iter().filter(|event| event["type"] == kind).collect()
}

/// Starts the example and leaves it to itself; returns its name.
fn detach(folder: &Path, options: &[&str], args: &[&str]) -> String {
    let trainer = trainer();
    let mut command =
        vec!["exec", "--env", "Corridor-v0", "--detach", "--stop-grace", "1", "--data", "."];
    command.extend(options);
    command.extend(["--", "python3", &trainer]);
    command.extend(args);
    let output = run(folder, &command);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).trim().to_owned()
}

const ENDLESS: [&str; 2] = ["--steps", "1000000000"];

#[test]
fn a_trainer_that_speaks_well_has_everything_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (report, dir) =
        exec(folder.path(), &["--name", "first steps", "--seed", "7"], &["--delay", "0"]);
    assert_eq!(report["state"], "succeeded", "{report}");
    let exit = exit(&dir);
    let counts = &exit["lines"];
    assert_eq!((exit["code"].as_i64(), counts["wrong"].as_u64()), (Some(0), Some(0)), "{exit}");
    let by_type = &counts["by_type"];
    assert_eq!(report["steps"], by_type["step"]);

    // Rows are numbered without gap, and the columns of episodes agree with `episodes/`.
    let rows = lines(&dir.join("metrics.jsonl"));
    let numbers: Vec<u64> = rows.iter().map(|row| row["row"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=rows.len() as u64).collect::<Vec<_>>());
    let values = |name: &str| rows.iter().filter(|row| row["values"][name].is_number()).count();
    assert_eq!(values("train/value") as u64, by_type["metric"].as_u64().unwrap());
    assert_eq!(values("train/loss") as u64, by_type["metrics"].as_u64().unwrap());
    assert!(rows.iter().all(|row| row["values"].as_object().unwrap().len() != 1), "they coalesce");
    let returns: Vec<f64> = rows
        .iter()
        .flat_map(|row| row["episodes"]["reward"].as_array().cloned().unwrap_or_default())
        .map(|value| value.as_f64().unwrap())
        .collect();
    assert_eq!(returns.len() as u64, by_type["episode"].as_u64().unwrap());
    let mut reader = EpisodeReader::open(&RunDir::new(&dir)).unwrap();
    let head = reader.head(3).unwrap().unwrap();
    assert_eq!((head.reward, head.seed), (returns[2], Some(7)));
    let Some(EpisodeBody::Steps(steps)) = reader.body(3).unwrap() else {
        panic!("they are foreign")
    };
    assert_eq!(steps.len() as u32, head.length);
    assert_eq!(steps.iter().map(|step| step.reward).sum::<f64>(), head.reward);

    assert_eq!(events(&dir, "configured")[0]["algo"], "q-learning");
    let checkpoint = events(&dir, "checkpoint_saved").pop().unwrap();
    let file = dir.join("checkpoints").join(checkpoint["name"].as_str().unwrap()).join("q.json");
    assert!(file.exists());
    let latest = file.parent().unwrap();
    assert!(
        Path::new(report["checkpoint"].as_str().unwrap())
            .ends_with(latest.strip_prefix(folder.path()).unwrap())
    );
    assert_eq!(events(&dir, "done")[0]["reason"], "completed");
    assert!(!dir.join("events-1.sock").exists(), "nothing is left behind");
}

#[test]
fn garbage_noise_and_numbers_that_are_not_finite_are_survived_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--garbage", "--noise", "--nan", "--steps", "200", "--delay", "0", "--half-line"];
    let (report, dir) = exec(folder.path(), &[], &args);
    assert_eq!(report["state"], "succeeded", "{report}");
    let counts = exit(&dir)["lines"].clone();
    let n = |name: &str| counts[name].as_u64().unwrap();
    let steps = counts["by_type"]["step"].as_u64().unwrap();
    assert_eq!((n("wrong"), n("unknown"), n("cut")), (steps / 10, steps / 10, 0), "{counts}");
    assert_eq!(n("nonfinite"), 2 * (steps / 10));
    // Of each heap of garbage five lines are log; of the noise every line is.
    assert_eq!(n("log"), 5 * (steps / 10) + steps);
    let rows = lines(&dir.join("metrics.jsonl"));
    let with = |name: &str| rows.iter().filter(|row| row["values"].get(name).is_some()).count();
    assert_eq!(with("train/nan") as u64, steps / 10);
    assert!(rows.iter().all(|row| row["values"].get("train/nan").is_none_or(Value::is_null)));
    // The last line had no newline, and it came after everything else.
    assert_eq!(rows.iter().filter(|row| row["values"]["half_line"] == 42.0).count(), 1);
    let log = fs::read_to_string(dir.join("log.txt")).unwrap();
    assert!(log.contains("{'type': 'metric', 'name': 'a repr', 'value': 1}"));
}

#[test]
fn a_line_that_is_too_long_is_cut_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let program = "import sys; sys.stdout.write('{\"type\":\"log\",\"message\":\"' + 'x' * 9_000_000 + '\"}\\n'); print('after')";
    let command = ["exec", "--env", "x", "--json", "--", "python3", "-c", program];
    let (report, dir) = exec_command(folder.path(), &command);
    assert_eq!(report["state"], "succeeded");
    let exit = exit(&dir);
    assert_eq!((&exit["lines"]["cut"], &exit["lines"]["log"]), (&json!(1), &json!(1)), "{exit}");
    let log = exit["log"].as_array().unwrap();
    assert_eq!(log[1], "[cut: the line had 9000027 bytes]");
    assert_eq!(log[2], "after");
}

#[test]
fn a_crash_is_told_with_its_code_and_the_last_20_lines() {
    let folder = tempfile::tempdir().unwrap();
    let (report, dir) = exec(folder.path(), &[], &["--crash-at", "50", "--delay", "0"]);
    assert_eq!(report["state"], "failed");
    let exit = exit(&dir);
    assert_eq!((&exit["code"], &exit["signal"]), (&json!(3), &Value::Null));
    // The one line that it has printed before may come last: it came through another pipe.
    let mut log: Vec<Value> = exit["log"].as_array().unwrap().clone();
    assert_eq!(log.len(), 20);
    log.retain(|line| line != "a corridor of 8 cells");
    let words: Vec<Value> = (0..30).map(|idx| json!(format!("last words {idx}"))).collect();
    assert_eq!(log, words[30 - log.len()..]);
    assert!(log.len() >= 19);
    assert_eq!(exit["lines"]["by_type"]["step"], 50, "everything before it is kept");
    let id = report["run_id"].as_str().unwrap();
    let shown = text(&run(folder.path(), &["runs", "show", id]).stdout);
    assert!(shown.contains("\nexit code 3\n") && shown.contains("\n  last words 29\n"), "{shown}");
    let shown = result(&run(folder.path(), &["runs", "show", id, "--json"]));
    assert_eq!(shown["failure"]["exit_code"], 3);
    assert!(events(&dir, "done").is_empty());
}

#[test]
fn a_signal_is_told_and_a_program_that_is_not_there_too() {
    let folder = tempfile::tempdir().unwrap();
    let command = ["exec", "--env", "x", "--json", "--", "sh", "-c", "echo so long; kill -SEGV $$"];
    let (report, dir) = exec_command(folder.path(), &command);
    assert_eq!((&report["state"], &exit(&dir)["signal"]), (&json!("failed"), &json!(11)));
    assert_eq!(exit(&dir)["log"], json!(["so long"]));
    let id = report["run_id"].as_str().unwrap();
    let shown = text(&run(folder.path(), &["runs", "show", id]).stdout);
    assert!(shown.contains("\nsignal 11\n") && shown.contains("\n  so long\n"), "{shown}");
    let command = ["exec", "--env", "x", "--json", "--", "/no/such/trainer"];
    let (report, dir) = exec_command(folder.path(), &command);
    assert_eq!(report["state"], "failed");
    let log = exit(&dir)["log"].to_string();
    assert!(log.contains("cannot start `/no/such/trainer`"), "{log}");
}

#[test]
fn limits_end_a_run_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let (report, dir) = exec(folder.path(), &["--max-steps", "300"], &ENDLESS);
    assert_eq!(report["state"], "terminated");
    let reason = exit(&dir)["reason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("The limit of 300 steps is reached"), "{reason}");
    assert_eq!(events(&dir, "done")[0]["reason"], "stopped", "it was asked, and obeyed");
    assert_eq!(events(&dir, "warning")[0]["message"], reason);

    let options = ["--max-seconds", "0.5", "--stop-grace", "1"];
    let (report, dir) = exec(folder.path(), &options, &["--ignore-term"]);
    assert_eq!(report["state"], "terminated");
    let exit = exit(&dir);
    assert_eq!(exit["reason"], "The time limit of 0.5 s is reached");
    assert_eq!((&exit["signal"], &exit["forced"]), (&json!(9), &json!(true)));
}

#[test]
fn a_trainer_that_ignores_stop_and_term_is_killed_with_what_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let id = detach(folder.path(), &[], &["--ignore-term"]);
    let (_, pid) = pids(folder.path(), &id);
    let dir = folder.path().join("runs").join(&id);
    wait_for("its first words", || (!events(&dir, "configured").is_empty()).then_some(()));
    assert!(run(folder.path(), &["stop", &id, "--data", "."]).status.success());
    wait_for("its end", || (!is_alive(pid)).then_some(()));
    let exit = wait_for("the record of it", || {
        lines(&dir.join("supervisor.jsonl")).pop().filter(|line| line["type"] == "exited")
    });
    assert_eq!((&exit["signal"], &exit["forced"]), (&json!(9), &json!(true)));
}

#[test]
fn a_supervisor_that_is_killed_takes_the_trainer_and_its_children_along() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    // The trainer is a shell, and what trains is its child.
    let script = format!("python3 {} --steps 1000000000 & echo child $!; wait", trainer());
    let args = ["exec", "--env", "x", "--detach", "--data", ".", "--", "sh", "-c", &script];
    let output = run(folder.path(), &args);
    let id = text(&output.stdout).trim().to_owned();
    let (supervisor, shell) = pids(folder.path(), &id);
    let dir = folder.path().join("runs").join(&id);
    let child: u64 = wait_for("the child", || {
        let log = fs::read_to_string(dir.join("log.txt")).ok()?;
        log.lines().find_map(|line| line.strip_prefix("child ")?.parse().ok())
    });
    lab.wait_for_run(&id, "its first steps", |run| run["step"].as_u64() > Some(0));
    kill("-KILL", supervisor);
    wait_for("both to end", || (!is_alive(shell) && !is_alive(child)).then_some(()));
    let lost = lab.wait_for_run(&id, "the loss", |run| run["state"] == "lost");
    let log = lost["failure"]["log"].as_array().unwrap();
    assert!(log.contains(&json!(format!("child {child}"))), "{log:?}");
    let shown = text(&run(folder.path(), &["runs", "show", &id, "--data", "."]).stdout);
    assert!(shown.contains(&format!("\n  child {child}\n")), "{shown}");
}

#[test]
fn what_a_trainer_never_answers_is_told_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    // It reads the line, and leaves without a word.
    let config = r#"{"type":"config","capabilities":["pause"]}"#;
    let script = format!("echo '{config}'; read line; exit 0");
    let args = ["exec", "--env", "x", "--detach", "--data", ".", "--", "sh", "-c", &script];
    let id = text(&run(folder.path(), &args).stdout).trim().to_owned();
    let dir = folder.path().join("runs").join(&id);
    wait_for("its first words", || (!events(&dir, "configured").is_empty()).then_some(()));
    let asked = run(folder.path(), &["pause", &id, "--data", ".", "--json"]);
    assert!(asked.status.success(), "{}", text(&asked.stderr));
    wait_for("its exit", || {
        let last = lines(&dir.join("supervisor.jsonl")).pop()?;
        (last["type"] == "exited").then_some(())
    });
    let warnings = events(&dir, "warning");
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    let message = warning["message"].as_str().unwrap();
    assert!(message.contains("the trainer ended without an answer"), "{message}");
    let audit = lines(&folder.path().join("audit.jsonl"));
    let refused = audit.iter().find(|line| line["what"] == "refuse").unwrap();
    assert_eq!((&refused["target"], &refused["old"]["command"]), (&json!(id), &json!("pause")));
}

#[test]
fn a_trainer_is_steered_and_what_it_says_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let id = detach(folder.path(), &["--name", "steered"], &ENDLESS);
    let dir = folder.path().join("runs").join(&id);
    let run = lab.wait_for_run(&id, "it to learn", |run| {
        run["mean_reward"].is_number() && run["lines"]["typed"].as_u64() > Some(0)
    });
    assert_eq!((&run["kind"], &run["name"]), (&json!("external"), &json!("steered")));
    assert_eq!((&run["algorithm"], &run["state"]), (&json!("q-learning"), &json!("running")));
    assert!(run["rss_bytes"].as_u64() > Some(0), "{run}");
    let (_, listed) = lab.get("/api/runs");
    assert!(listed.to_string().contains(&id));

    let ask = |what: &str, body: &Value| {
        let (status, answer) = lab.post(&format!("/api/runs/{id}/{what}"), body);
        assert!(status < 300, "{what}: {answer}");
    };
    ask("pause", &json!({}));
    lab.wait_for_run(&id, "the pause", |run| run["state"] == "paused");
    let n_lines = || lines(&dir.join("metrics.jsonl")).len();
    // What was on its way when it paused has been written by the time the pause is seen.
    let before = n_lines();
    ask("tune", &json!({ "path": "trainer.learning_rate", "value": 0.05 }));
    let tuned = wait_for("the tuning", || events(&dir, "tune_applied").pop());
    let saved = events(&dir, "checkpoint_saved").pop().unwrap();
    assert_eq!(saved["step"], tuned["step"], "a checkpoint comes first");
    assert_eq!((&tuned["old"], &tuned["new"]), (&json!(0.1), &json!(0.05)));
    assert!(n_lines() <= before + 1, "it stands still");
    ask("checkpoint", &json!({}));
    wait_for("the checkpoint", || events(&dir, "checkpoint_saved").pop());
    ask("resume", &json!({}));
    lab.wait_for_run(&id, "it to go on", |run| run["state"] == "running");
    wait_for("more rows", || (n_lines() > before + 3).then_some(()));
    ask("stop", &json!({}));
    let run = lab.wait_for_run(&id, "the end", |run| run["state"] == "terminated");
    assert_eq!((&run["lines"]["wrong"], &run["lines"]["log"]), (&json!(0), &json!(0)), "{run}");

    // The numbers of the API are the places in the file.
    let (_, log) = lab.get(&format!("/api/runs/{id}/events?limit=10000"));
    let seen: Vec<Value> =
        log["events"].as_array().unwrap().iter().map(|entry| entry["type"].clone()).collect();
    let kept: Vec<Value> =
        lines(&dir.join("events.jsonl")).into_iter().map(|event| event["type"].clone()).collect();
    assert_eq!(seen, kept);
    let numbers = log["events"].as_array().unwrap().iter().map(|e| e["seq"].as_u64().unwrap());
    assert_eq!(numbers.collect::<Vec<_>>(), (1..=kept.len() as u64).collect::<Vec<_>>());
}

#[test]
fn a_stop_right_after_the_start_is_obeyed_and_the_next_start_knows_nothing_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut ended = Vec::new();
    for _ in 0..3 {
        let id = detach(folder.path(), &[], &ENDLESS);
        let output = run(folder.path(), &["stop", &id, "--data", "."]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        ended.push(id);
    }
    let id = detach(folder.path(), &[], &["--steps", "100", "--delay", "0"]);
    let done = |id: &str| {
        let dir = folder.path().join("runs").join(id);
        wait_for("the exit", || {
            lines(&dir.join("supervisor.jsonl")).pop().filter(|line| line["type"] == "exited")
        });
        Some(events(&dir, "done").first()?["reason"].clone())
    };
    assert_eq!(done(&id), Some("completed".into()));
    for id in ended {
        let Some(reason) = done(&id) else {
            // It was stopped before its supervisor was there, and never started.
            let journal = folder.path().join("runs").join(&id).join("supervisor.jsonl");
            assert!(lines(&journal).iter().all(|line| line["type"] != "started"), "{id}");
            continue;
        };
        assert_eq!(reason, "stopped");
        let (supervisor, trainer) = pids(folder.path(), &id);
        wait_for("both to be gone", || (!is_alive(supervisor) && !is_alive(trainer)).then_some(()));
    }
}

#[test]
fn several_speak_at_once_and_every_line_is_kept_once() {
    let folder = tempfile::tempdir().unwrap();
    // Eight connections and standard output, each with its own metric.
    let program = r#"
import os, socket, sys, threading
def speak(name, out):
    for step in range(500):
        out.write('{"type":"metric","name":"%s","value":%d,"step":%d}\n' % (name, step, step))
    out.flush()
def connect(name):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(os.environ["CARTRIDGE_EVENTS"])
    speak(name, connection.makefile("w"))
threads = [threading.Thread(target=connect, args=("socket/%d" % idx,)) for idx in range(8)]
for thread in threads: thread.start()
speak("stdout", sys.stdout)
for thread in threads: thread.join()
"#;
    let command = ["exec", "--env", "x", "--json", "--", "python3", "-c", program];
    let (report, dir) = exec_command(folder.path(), &command);
    assert_eq!(report["state"], "succeeded", "{report}");
    assert_eq!(exit(&dir)["lines"]["by_type"]["metric"], 9 * 500);
    let rows = lines(&dir.join("metrics.jsonl"));
    let mut names: Vec<String> = (0..8).map(|idx| format!("socket/{idx}")).collect();
    names.push("stdout".to_owned());
    for name in names {
        let values: Vec<u64> = rows
            .iter()
            .filter_map(|row| row["values"].get(&name)?.as_f64())
            .map(|value| value as u64)
            .collect();
        assert_eq!(
            values,
            (0..500).collect::<Vec<_>>(),
            "{name}: none lost, none doubled, in order"
        );
    }
    let numbers: Vec<u64> = rows.iter().map(|row| row["row"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=rows.len() as u64).collect::<Vec<_>>(), "one sequence");
}

#[test]
fn a_trainer_may_speak_by_the_socket_alone_and_sees_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let trainer = trainer();
    let mut command = cartridge(&["exec", "--env", "Corridor-v0", "--json", "--"]);
    command.args(["sh", "-c", &format!("env; exec python3 {trainer} --socket --steps 200")]);
    command.env("CARTRIDGE_TOKEN", "open sesame").current_dir(folder.path());
    let output = command.output().unwrap();
    let report = result(&output);
    assert_eq!(report["state"], "succeeded", "{report}");
    let id: RunId = report["run_id"].as_str().unwrap().parse().unwrap();
    let dir = folder.path().join("data/runs").join(id.as_str());
    let log = fs::read_to_string(dir.join("log.txt")).unwrap();
    assert!(log.contains(&format!("CARTRIDGE_RUN_ID={id}")), "{log}");
    assert!(!log.contains("sesame"), "{log}");
    assert!(exit(&dir)["lines"]["by_type"]["step"].as_u64() >= Some(200));
}

#[test]
fn a_flood_is_survived_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (report, dir) = exec(folder.path(), &[], &["--flood", "350000"]);
    assert_eq!(report["state"], "succeeded");
    let by_type = exit(&dir)["lines"]["by_type"].clone();
    assert_eq!((&by_type["metric"], &by_type["step"]), (&json!(250_000), &json!(100_000)));
    let rows = lines(&dir.join("metrics.jsonl"));
    let points: usize = rows
        .iter()
        .map(|row| {
            row["values"]
                .as_object()
                .unwrap()
                .keys()
                .filter(|key| key.starts_with("flood/"))
                .count()
        })
        .sum();
    assert_eq!(points, 250_000);
}

#[test]
fn the_checker_says_what_is_right_and_what_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let trainer = trainer();
    let check = |options: &[&str], args: &[&str]| {
        let mut command = vec!["protocol", "check", "--json"];
        command.extend(options);
        command.extend(["--", "python3", &trainer]);
        command.extend(args);
        let output = run(folder.path(), &command);
        (output.status.code(), result(&output), text(&output.stdout))
    };
    let (code, summary, _) = check(&["--exercise"], &ENDLESS);
    assert_eq!((code, &summary["ok"]), (Some(0), &json!(true)), "{summary}");
    let tried: Vec<&str> = summary["exercise"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["command"].as_str().unwrap())
        .collect();
    assert_eq!(tried, ["pause", "resume", "checkpoint", "stop"]);

    let (code, summary, _) = check(&["--exercise"], &["--steps", "20", "--delay", "0"]);
    assert_eq!((code, &summary["ok"]), (Some(7), &json!(false)), "{summary}");
    assert_eq!(summary["not_tried"].as_array().unwrap().len(), 4, "{summary}");

    let (code, summary, said) = check(&[], &["--garbage", "--steps", "20", "--delay", "0"]);
    assert_eq!((code, &summary["ok"]), (Some(1), &json!(false)), "{summary}");
    let wrong = said
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|line| line["class"] == "wrong")
        .unwrap();
    assert_eq!((&wrong["source"], &wrong["type"]), (&json!("stdout"), &json!("metric")));
    assert_eq!(wrong["reason"], "invalid type: string \"0.5\", expected a number");

    let (code, summary, _) = check(&[], &["--crash-at", "10"]);
    assert_eq!(code, Some(1));
    assert_eq!(summary["problems"], json!(["it ended with exit code 3"]));
    let output = run(folder.path(), &["protocol", "check", "--", "echo", "hello"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("no line of the protocol came"));

    // A terminal is told nothing by a trainer but text.
    let print = ["protocol", "check", "--", "printf", "a\\033[31mred\\000\\rb\\n"];
    let said = text(&run(folder.path(), &print).stdout);
    assert!(said.contains(r"a\u{1b}[31mred\u{0}\rb"), "{said:?}");
    assert!(!said.chars().any(|char| char.is_control() && char != '\n'), "{said:?}");
}

/// The lines of `supervisor.jsonl` that say that an attempt has begun.
fn attempts(dir: &Path) -> usize {
    lines(&dir.join("supervisor.jsonl")).iter().filter(|line| line["type"] == "started").count()
}

#[test]
fn a_trainer_that_fails_is_started_again_from_its_newest_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--restarts", "1", "--restart-backoff", "0.1"];
    let args = ["--crash-at", "90", "--checkpoint-every", "30", "--delay", "0"];
    let (report, dir) = exec(folder.path(), &options, &args);
    assert_eq!((report["state"].as_str(), attempts(&dir)), (Some("failed"), 2), "{report}");
    let saved = events(&dir, "checkpoint_saved");
    let first: Vec<&Value> = saved.iter().filter(|event| event["attempt"] == 1).collect();
    let newest = first.last().unwrap();
    let restored = events(&dir, "restored").remove(0);
    assert_eq!((&restored["attempt"], &restored["step"]), (&json!(2), &newest["step"]));
    assert_eq!(restored["checkpoint"], newest["name"]);
    assert!(events(&dir, "warning").is_empty());

    // Without a word about it, it is started once.
    let (_, dir) = exec(folder.path(), &[], &args);
    assert_eq!(attempts(&dir), 1);
}

#[test]
fn a_fork_of_a_trainer_goes_on_from_a_copy_of_its_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--steps", "400", "--checkpoint-every", "100", "--delay", "0"];
    let (report, dir) = exec(folder.path(), &["--max-seconds", "600"], &args);
    let parent = report["run_id"].as_str().unwrap();
    let saved = events(&dir, "checkpoint_saved")[1].clone();
    let step = saved["step"].as_u64().unwrap();
    let fork = |args: &[&str]| {
        let at = step.to_string();
        run(folder.path(), &[&["fork", parent, "--json", "--checkpoint", &at], args].concat())
    };
    let forked = result(&fork(&["--set", "trainer.learning_rate=0.5"]));
    assert_eq!(
        (&forked["parent"]["run"], &forked["parent"]["step"]),
        (&json!(parent), &json!(step))
    );
    let id = forked["run_id"].as_str().unwrap();
    let fork_dir = folder.path().join("data/runs").join(id);
    wait_for("its end", || {
        lines(&fork_dir.join("supervisor.jsonl")).pop().filter(|line| line["type"] == "exited")
    });
    assert_eq!(events(&fork_dir, "done")[0]["reason"], "completed");
    let restored = events(&fork_dir, "restored").remove(0);
    assert_eq!(
        (&restored["step"], &restored["row"], &restored["attempt"]),
        (&json!(step), &json!(0), &json!(1))
    );
    let name = saved["name"].as_str().unwrap();
    let content = |dir: &Path| fs::read(dir.join("checkpoints").join(name).join("q.json")).unwrap();
    assert_eq!(content(&fork_dir), content(&dir), "it has a copy of its own");
    let configured = events(&fork_dir, "configured").remove(0);
    assert_eq!(configured["args"]["learning_rate"], 0.5);
    let manifest: Value =
        serde_json::from_slice(&fs::read(fork_dir.join("run.json")).unwrap()).unwrap();
    assert_eq!(manifest["config"]["overrides"], json!({ "trainer.learning_rate": 0.5 }));
    assert_eq!(
        (&manifest["kind"], &manifest["limits"]["max_seconds"]),
        (&json!("external"), &json!(600.0))
    );
    let rows = lines(&fork_dir.join("metrics.jsonl"));
    assert!(rows.iter().all(|row| row["step"].as_u64() >= Some(step)), "it goes on from there");

    // Its lineage is visible, and a fork can be forked.
    let lab = LabProcess::start(&folder.path().join("data"), 0);
    let shown = lab.get(&format!("/api/runs/{parent}")).1;
    assert_eq!(shown["children"], json!([id]));
    assert!(shown["capabilities"].as_array().unwrap().contains(&json!("fork")), "{shown}");
    let body = json!({ "checkpoint": step.to_string() });
    let (status, grandchild) = lab.post(&format!("/api/runs/{id}/fork"), &body);
    assert_eq!((status, &grandchild["parent"]["run_id"]), (201, &json!(id)), "{grandchild}");
    let id = grandchild["id"].as_str().unwrap();
    lab.wait_for_run(id, "the end", |run| run["state"] == "succeeded");

    // What cannot be done is refused with the reason.
    let refused = |output: &std::process::Output, code: i32, words: &str| {
        assert_eq!(output.status.code(), Some(code));
        let said = text(&output.stderr);
        assert!(said.contains(words), "{said}");
    };
    refused(
        &fork(&["--set", "trainer.gamma=0.9"]),
        2,
        "overrides_whitelist has trainer.learning_rate",
    );
    refused(&fork(&["--set", "trainer.learning_rate=7"]), 2, "trainer.learning_rate");
    let command = ["exec", "--env", "x", "--json", "--", "sh", "-c", "echo nothing"];
    let (report, _) =
        exec_command(folder.path(), &[&command[..3], &["--now"], &command[3..]].concat());
    let output = run(folder.path(), &["fork", report["run_id"].as_str().unwrap()]);
    refused(&output, 4, "does not offer to go on from a checkpoint");
}

#[test]
fn a_child_in_a_session_of_its_own_does_not_outlive_the_trainer() {
    let folder = tempfile::tempdir().unwrap();
    let stray = |id: &str| -> u64 {
        let log = folder.path().join("runs").join(id).join("log.txt");
        wait_for("the child", || {
            let log = fs::read_to_string(&log).ok()?;
            log.lines().find_map(|line| line.strip_prefix("stray ")?.parse().ok())
        })
    };
    let gone = |pid: u64| wait_for("the child to end", || (!is_alive(pid)).then_some(()));
    let endless = ["--steps", "1000000000", "--stray"];
    for verb in ["terminate", "stop"] {
        let id = detach(folder.path(), &[], &endless);
        let pid = stray(&id);
        assert!(is_alive(pid));
        assert!(run(folder.path(), &[verb, &id, "--data", "."]).status.success());
        gone(pid);
    }
    // One that ends by itself leaves nothing behind either, and neither does one whose supervisor
    // is killed.
    gone(stray(&detach(folder.path(), &[], &["--steps", "20", "--stray"])));
    let id = detach(folder.path(), &[], &endless);
    let pid = stray(&id);
    kill("-KILL", pids(folder.path(), &id).0);
    gone(pid);
}

/// A viewer of a run's live pictures.
fn watch(lab: &LabProcess, id: &str) -> impl FnMut() -> Value {
    use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
    use tokio_tungstenite::tungstenite::{Message, connect};
    let url = format!("{}/api/runs/{id}/frames?fps=30", lab.address.replace("http", "ws"));
    let mut request = url.into_client_request().unwrap();
    let token = format!("Bearer {}", lab.token()).parse().unwrap();
    request.headers_mut().insert("authorization", token);
    let (mut socket, _) = connect(request).unwrap();
    move || loop {
        if let Message::Text(text) = socket.read().unwrap() {
            return serde_json::from_str(&text).unwrap();
        }
    }
}

#[test]
fn a_trainer_is_watched_and_sends_pictures_only_then() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let id = detach(folder.path(), &[], &ENDLESS);
    let dir = folder.path().join("runs").join(&id);
    lab.wait_for_run(&id, "its first steps", |run| run["step"].as_u64() > Some(0));
    assert!(!dir.join("frame.json").exists(), "nobody watches");
    let mut see = watch(&lab, &id);
    let first = see();
    assert_eq!(first["notice"], "no frames yet: the trainer has sent none", "{first}");
    let frame = loop {
        let message = see();
        if message["scene"].is_object() {
            break message;
        }
    };
    assert_eq!((&frame["source"], &frame["episode"]), (&json!("trainer"), &Value::Null));
    assert!(frame["episode_id"].is_string() && frame["step"].as_u64() > Some(0), "{frame}");
    assert_eq!(frame["scene"]["shapes"].as_array().unwrap().len(), 3);
    drop(see);
    let control = || lines(&dir.join("control.jsonl"));
    wait_for("the end of watching", || {
        control().last().filter(|line| line["command"]["watch"]["fps"] == 0.0).map(|_| ())
    });
    assert!(run(folder.path(), &["stop", &id, "--data", "."]).status.success());
    let ended = lab.wait_for_run(&id, "the end", |run| run["state"] == "terminated");
    assert!(ended["lines"]["by_type"]["frame"].as_u64() > Some(0), "{ended}");
    let acknowledged: Vec<Value> =
        events(&dir, "control_ack").into_iter().map(|event| event["command"].clone()).collect();
    assert_eq!(acknowledged, ["stop"], "who watches is no matter of the log");
    // What else it said has its place too.
    let log = fs::read_to_string(dir.join("log.txt")).unwrap();
    assert_eq!(log, "a corridor of 8 cells\n");
    assert_eq!(events(&dir, "artifacts_named")[0]["artifacts"]["values"], "report/values.csv");
    assert!(dir.join("report/values.csv").is_file());

    // The last picture stays; one that sends none is told of.
    let mut see = watch(&lab, &id);
    assert!(see()["scene"].is_object());
    let script = "echo '{\"type\":\"config\",\"capabilities\":[]}'; sleep 600";
    let args = ["exec", "--env", "x", "--detach", "--data", ".", "--", "sh", "-c", script];
    let id = text(&run(folder.path(), &args).stdout).trim().to_owned();
    let dir = folder.path().join("runs").join(&id);
    wait_for("its first words", || (!events(&dir, "configured").is_empty()).then_some(()));
    lab.wait_for_run(&id, "it to run", |run| run["state"] == "running");
    let mut see = watch(&lab, &id);
    assert_eq!(see()["notice"], "no frames: the trainer sends none");
    assert!(run(folder.path(), &["terminate", &id, "--data", "."]).status.success());
    while see()["notice"] != "no frames: the trainer sent none, and has ended" {}
}

#[test]
fn a_change_of_settings_comes_after_a_checkpoint_and_a_refused_one_is_told() {
    let folder = tempfile::tempdir().unwrap();
    // Saves when it is asked, accepts one setting and refuses another, and tells what it heard.
    let program = r#"
import json, os, sys
def say(**line): print(json.dumps(line), flush=True)
os.chdir(os.environ["CARTRIDGE_RUN_DIR"])
os.makedirs("models", exist_ok=True)
say(type="config", capabilities=["tune", "checkpoint"], args={"learning_rate": 0.1})
for line in sys.stdin:
    control = json.loads(line)
    print("heard", control["command"], flush=True)
    if control["command"] == "stop": break
    if control["command"] == "checkpoint":
        open("models/%d.pt" % control["seq"], "w").write("weights")
        say(type="checkpoint", step=5, path="models/%d.pt" % control["seq"])
    refuses = control["command"] == "tune" and control["path"] != "trainer.learning_rate"
    if refuses: say(type="control_ack", seq=control["seq"], ok=False, message="not that one")
    else: say(type="control_ack", seq=control["seq"], step=5)
"#;
    let command = ["exec", "--env", "x", "--detach", "--data", ".", "--", "python3", "-c", program];
    let output = run(folder.path(), &command);
    let id = text(&output.stdout).trim().to_owned();
    let dir = folder.path().join("runs").join(&id);
    wait_for("the config", || events(&dir, "configured").pop());
    let tune = |setting: &str| {
        let output = run(folder.path(), &["tune", &id, setting, "--data", "."]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    tune("trainer.learning_rate=0.2");
    let tuned = wait_for("the change", || events(&dir, "tune_applied").pop());
    assert_eq!((&tuned["old"], &tuned["new"]), (&json!(0.1), &json!(0.2)));
    tune("alpha=3");
    let warning = wait_for("the refusal", || events(&dir, "warning").pop());
    assert_eq!(warning["message"], "The trainer refused control line 2: not that one");
    let refused = wait_for("the audit", || {
        let all = lines(&folder.path().join("audit.jsonl"));
        all.into_iter().find(|line| line["what"] == "refuse")
    });
    assert_eq!((&refused["who"], &refused["target"]), (&json!("trainer"), &json!(id)));
    assert_eq!(refused["old"]["command"], json!({ "tune": { "path": "alpha", "value": 3.0 } }));
    assert_eq!(refused["new"]["reason"], "not that one");
    let asked: Vec<Value> = lines(&folder.path().join("audit.jsonl"))
        .into_iter()
        .filter(|line| line["what"] == "tune")
        .map(|line| line["old"].clone())
        .collect();
    assert_eq!(asked, [json!({ "trainer.learning_rate": 0.1 }), json!({ "alpha": null })]);
    run(folder.path(), &["stop", &id, "--data", "."]);
    wait_for("the end", || {
        lines(&dir.join("supervisor.jsonl")).pop().filter(|line| line["type"] == "exited")
    });
    let log = fs::read_to_string(dir.join("log.txt")).unwrap();
    assert_eq!(log, "heard checkpoint\nheard tune\nheard checkpoint\nheard tune\nheard stop\n");

    // What it saved can be pinned, by its name or its steps, and is listed as what it is.
    let pin = run(folder.path(), &["pin", &id, "--checkpoint", "5", "--data", "."]);
    assert!(pin.status.success(), "{}", text(&pin.stderr));
    let listed = run(folder.path(), &["artifacts", &id, "--json", "--data", "."]);
    let listed = text(&listed.stdout);
    assert_eq!(listed.matches(r#""kind":"checkpoint","base":"run""#).count(), 2, "{listed}");
    let verified = run(folder.path(), &["audit", "verify", "--data", "."]);
    assert!(verified.status.success(), "{}", text(&verified.stdout));
}

#[test]
fn a_name_does_nothing_to_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let name = "\u{1b}]0;owned\u{7} \u{1b}[31mred";
    exec(folder.path(), &["--name", name], &["--steps", "64", "--delay", "0"]);
    let output = run(folder.path(), &["runs"]);
    let shown = text(&output.stdout);
    assert!(shown.contains("red") && !shown.contains('\u{1b}'), "{shown:?}");
}
