//! Evaluations as whole processes: jobs beside a training, their films, and films of what is
//! recorded.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{
    LabProcess, agent, ask, events, is_alive, kill, lines, pids, result, run, text, wait_for,
    wait_for_event, wait_for_exit,
};

/// A training that has ended; its last evaluation is short.
fn trained(data: &Path, env_id: &str, args: &[&str]) -> String {
    let common = ["train", env_id, "--steps", "6000", "--json", "--data", "."];
    let short = ["--set", "evaluation.final_episodes=1", "--set", "evaluation.episodes=1"];
    let output = run(data, &[&common[..], &short, args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    result(&output)["run_id"].as_str().unwrap().to_owned()
}

/// What another program says of a film: pictures and seconds; none where it is not installed.
fn probe(path: &Path) -> Option<(u64, f64)> {
    let asked = Command::new("ffprobe")
        .args(["-v", "error", "-count_frames", "-show_streams", "-show_format", "-of", "json"])
        .arg(path)
        .output()
        .ok()?;
    assert!(asked.stderr.is_empty(), "{}", text(&asked.stderr));
    let said: Value = serde_json::from_slice(&asked.stdout).unwrap();
    let stream = &said["streams"][0];
    assert_eq!((&stream["codec_name"], &stream["pix_fmt"]), (&json!("h264"), &json!("yuv420p")));
    let number = |value: &Value| value.as_str().unwrap().to_owned();
    let frames = number(&stream["nb_read_frames"]).parse().unwrap();
    Some((frames, number(&said["format"]["duration"]).parse().unwrap()))
}

#[test]
fn an_evaluation_is_a_job_beside_the_training_that_it_measures() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let endless = json!({ "env_id": "CartPole-v1", "total_timesteps": 1_000_000_000 });
    let id = lab.start_run(&endless);
    let (status, problem) = lab.get(&format!("/api/runs/{id}/eval/latest.mp4"));
    assert_eq!((status, &problem["code"]), (404, &json!("no_video")), "{problem}");
    lab.wait_for_run(&id, "a checkpoint", |run| !run["checkpoint_step"].is_null());
    let mut stream = lab.stream(None);
    stream.next().unwrap();

    let path = format!("/api/runs/{id}/evaluate");
    let wanted = json!({ "episodes": 5, "seed": 3, "video": true });
    let (status, job) = lab.post_with_key(&path, &wanted, "once");
    assert_eq!(status, 202, "{job}");
    assert_eq!((&job["kind"], &job["of_run"]), (&json!("eval"), &json!(id)), "{job}");
    let evaluation = job["id"].as_str().unwrap().to_owned();
    let (_, again) = lab.post_with_key(&path, &wanted, "once");
    assert_eq!(again["id"], json!(evaluation), "the same request makes one evaluation");

    // Whoever follows the training hears of it.
    let is_result =
        |message: &Value| message["type"] == "EvalResult" && message["run_id"] == json!(evaluation);
    let heard = stream.find(|(_, message)| is_result(message)).unwrap().1;
    assert_eq!(heard["evaluates"], json!(id), "{heard}");
    let done = lab.wait_for_run(&evaluation, "the evaluation", |run| run["state"] == "succeeded");
    assert_eq!((&done["episodes"], &done["progress"]), (&json!(5), &json!(1.0)), "{done}");
    let (_, training) = lab.get(&format!("/api/runs/{id}"));
    assert_eq!(training["state"], "running", "training is not paused");
    let (_, log) = lab.get(&format!("/api/runs/{id}/events"));
    let told: Vec<(&str, &str)> = log["evaluations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|told| (told["run_id"].as_str().unwrap(), told["entry"]["message"].as_str().unwrap()))
        .collect();
    assert_eq!(told[0], (evaluation.as_str(), "Evaluation started: 5 episodes"));
    assert!(told[1].1.starts_with("Evaluation complete: "), "{told:?}");

    let (_, latest) = lab.get(&format!("/api/runs/{id}/eval/latest"));
    assert_eq!(latest["run"]["id"], json!(evaluation));
    assert_eq!(latest["episodes"]["returns"].as_array().unwrap().len(), 5);
    let number = |name: &str| latest["episodes"][name].as_u64().unwrap();
    assert_eq!(number("n_terminated") + number("n_truncated"), 5, "{latest}");
    let summary = fs::read(folder.path().join(format!("runs/{evaluation}/summary.json"))).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    assert_eq!(summary["mean"], latest["result"]["mean"]);
    // Every episode can be seen again.
    let (_, episode) = lab.get(&format!("/api/runs/{evaluation}/episodes/5"));
    assert_eq!(episode["episode"]["reward"], latest["episodes"]["returns"][4], "{episode}");

    // The film, whole and in part.
    let film = |range: Option<&str>| {
        let url = format!("{}/api/runs/{id}/eval/latest.mp4", lab.address);
        let mut request =
            agent().get(url).header("authorization", format!("Bearer {}", lab.token()));
        if let Some(range) = range {
            request = request.header("range", range);
        }
        let mut response = request.call().unwrap();
        let header = |name: &str| {
            let value = response.headers().get(name);
            value.map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
        };
        let about = ["content-type", "content-range", "etag", "accept-ranges"].map(header);
        (response.status().as_u16(), about, response.body_mut().read_to_vec().unwrap())
    };
    let (status, [content_type, _, tag, ranges], whole) = film(None);
    assert_eq!((status, content_type.as_str(), ranges.as_str()), (200, "video/mp4", "bytes"));
    assert!(tag.len() == 66 && &whole[4..8] == b"ftyp", "{tag}");
    let (status, [_, range, ..], part) = film(Some("bytes=4-7"));
    assert_eq!((status, part.as_slice()), (206, &b"ftyp"[..]));
    assert_eq!(range, format!("bytes 4-7/{}", whole.len()));
    let place = folder.path().join("film.mp4");
    fs::write(&place, &whole).unwrap();
    probe(&place);

    // The newest three stay.
    for _ in 0..3 {
        let (_, job) = lab.post(&path, &json!({ "episodes": 1, "video": true }));
        let id = job["id"].as_str().unwrap();
        lab.wait_for_run(id, "the evaluation", |run| run["state"] == "succeeded");
    }
    let (_, all) = lab.get(&format!("/api/runs/{id}/evaluations"));
    assert_eq!(all["videos_text"], "3 of 4 kept", "{all}");
    let films: Vec<bool> = all["evaluations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|evaluation| !evaluation["video"].is_null())
        .collect();
    assert_eq!(films, [true, true, true, false]);
    assert_eq!(events(folder.path(), &evaluation, "artifact_pruned").len(), 1);
    let (_, page) = lab.get("/api/evals?limit=3&state=succeeded");
    assert_eq!(page["evaluations"].as_array().unwrap().len(), 3);
    let (_, rest) =
        lab.get(&format!("/api/evals?cursor={}", page["next_cursor"].as_str().unwrap()));
    assert_eq!(rest["evaluations"][0]["run"]["id"], json!(evaluation));
    let (_, audit) = lab.get("/api/audit");
    let deeds = audit["lines"].as_array().unwrap().iter();
    assert_eq!(deeds.filter(|line| line["what"] == "evaluate").count(), 4, "{audit}");
    lab.post(&format!("/api/runs/{id}/stop"), &json!({}));
    lab.wait_for_run(&id, "the end", |run| run["state"] == "terminated");
    let fsck = run(folder.path(), &["fsck", "--data", "."]);
    assert!(fsck.status.success(), "{}", text(&fsck.stdout));
}

#[test]
fn what_cannot_be_evaluated_is_refused_with_the_field_that_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let id = trained(folder.path(), "CartPole-v1", &[]);
    let lab = LabProcess::start(folder.path(), 0);
    let check = |body: Value, status: u16, expected: &str| {
        let (found, problem) = lab.post(&format!("/api/runs/{id}/evaluate"), &body);
        assert_eq!(found, status, "{problem}");
        assert!(problem.to_string().contains(expected), "{problem}");
    };
    check(json!({ "episodes": 0 }), 422, "\"pointer\":\"/episodes\"");
    check(json!({ "seed": 1, "seeds": [1] }), 422, "\"pointer\":\"/seed\"");
    check(json!({ "episodes": 2, "seeds": [1] }), 422, "as many episodes as `seeds`");
    check(json!({ "checkpoint": "step_9" }), 404, "has no checkpoint `step_9`");
    check(json!({ "colour": true }), 422, "colour");
    // Nothing was made of any of them.
    let (_, page) = lab.get("/api/evals");
    assert_eq!(page["evaluations"], json!([]));
    let (_, job) = lab.post(&format!("/api/runs/{id}/evaluate"), &json!({ "seeds": [7, 7] }));
    let evaluation = job["id"].as_str().unwrap();
    lab.wait_for_run(evaluation, "the evaluation", |run| run["state"] == "succeeded");
    let (_, latest) = lab.get(&format!("/api/runs/{id}/eval/latest"));
    assert_eq!(latest["episodes"]["seeds"], json!([7, 7]));
    let (status, problem) = lab.post(&format!("/api/runs/{evaluation}/evaluate"), &json!({}));
    assert_eq!((status, &problem["code"]), (409, &json!("no_policy")), "{problem}");
}

/// A job of the walker that takes minutes, and the process that carries it out.
fn long_job(data: &Path, run: &str) -> String {
    let asked = ["evals", "start", run, "--episodes", "10000", "--video"];
    let job = ask(data, &asked)["run_id"].as_str().unwrap().to_owned();
    wait_for_event(data, &job, "evaluation_started");
    // Some episodes are told before all are played.
    wait_for("an episode", || lines(data, &job, "metrics.jsonl").pop());
    job
}

#[test]
fn an_evaluation_is_cancelled_and_one_that_was_killed_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = trained(data, "BipedalWalker-v3", &[]);
    let job = long_job(data, &id);
    ask(data, &["evals", "cancel", &job]);
    wait_for_exit(data, &job);
    let shown = ask(data, &["evals", "show", &job]);
    assert_eq!((&shown["state"], &shown["summary"]), (&json!("terminated"), &json!(null)));
    let done = shown["episodes_done"].as_u64().unwrap();
    assert!((1..10_000).contains(&done), "{shown}");
    assert_eq!(events(data, &job, "control_ack").len(), 1);

    let job = long_job(data, &id);
    let (supervisor, trainer) = pids(data, &job);
    kill("-KILL", supervisor);
    kill("-KILL", trainer);
    wait_for("both to be gone", || (!is_alive(supervisor) && !is_alive(trainer)).then_some(()));
    assert_eq!(ask(data, &["evals", "show", &job])["state"], "lost");
    assert!(!data.join(format!("runs/{job}/videos")).exists(), "no half film is named");
    let fsck = run(data, &["fsck", "--data", "."]);
    assert!(fsck.status.success(), "{}", text(&fsck.stdout));
    // A command that only asks says what can be done.
    let output = run(data, &["pause", &job, "--data", "."]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    let output = run(data, &["resume", &job, "--data", "."]);
    assert!(text(&output.stderr).contains("ask for another"), "{}", text(&output.stderr));
    let output = run(data, &["evals", "list", &id, "--json", "--data", "."]);
    assert_eq!(text(&output.stdout).lines().count(), 2);
}

#[test]
fn a_job_finds_what_the_command_finds() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = trained(data, "CartPole-v1", &[]);
    let here = ask(data, &["eval", &id, "--episodes", "7", "--seed", "9", "--video", "here.mp4"]);
    let job = ask(data, &["evals", "start", &id, "--episodes", "7", "--seed", "9", "--video"]);
    let job = job["run_id"].as_str().unwrap();
    wait_for_exit(data, job);
    let there = ask(data, &["evals", "show", job]);
    for (name, other) in [("returns", "returns"), ("lengths", "lengths"), ("seeds", "seeds")] {
        assert_eq!(here[name], there["summary"][other], "{name}");
    }
    let film = fs::read(data.join("here.mp4")).unwrap();
    let other = there["video"].as_str().unwrap();
    assert!(film == fs::read(data.join(format!("runs/{job}/{other}"))).unwrap(), "the same film");
    // Both are evaluations of the run, and the newest has the last word.
    let newest = ask(data, &["evals", "show", &id]);
    assert_eq!(newest["run_id"], json!(job));

    let by_chance = ask(data, &["eval", &id, "--episodes", "7", "--seed", "9", "--stochastic"]);
    assert_ne!(by_chance["returns"], here["returns"]);
    assert_eq!(by_chance["seeds"], here["seeds"]);
}

#[test]
fn a_recorded_episode_becomes_a_film() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = trained(data, "CartPole-v1", &[]);
    let whole = ask(data, &["video", &id, "3", "-o", "whole.mp4"]);
    let n_steps = ask(data, &["episode", &id, "3"])["length"].as_u64().unwrap();
    // The start, every second step, and the last for half a second.
    assert_eq!(whole["frames"].as_u64(), Some(1 + (n_steps - 1) / 2 + 13), "{whole}");
    if let Some((frames, seconds)) = probe(&data.join("whole.mp4")) {
        assert_eq!(Some(frames), whole["frames"].as_u64());
        assert!((seconds - whole["seconds"].as_f64().unwrap()).abs() < 0.01);
    }
    let part = ask(data, &["video", &id, "3", "--from", "2", "--to", "6", "-o", "part.mp4"]);
    assert_eq!(part["frames"], 2);
    #[track_caller]
    fn check(data: &Path, args: &[&str], code: i32, expected: &str) {
        let output = run(data, &[args, &["-o", "none.mp4", "--data", "."]].concat());
        assert_eq!(output.status.code(), Some(code));
        assert!(text(&output.stderr).contains(expected), "{}", text(&output.stderr));
        assert!(!data.join("none.mp4").exists());
    }
    check(data, &["video", &id, "999999"], 3, "has no episode 999999");
    check(data, &["video", &id, "3", "--from", "9999"], 3, "nothing is at step 9999");
}

#[test]
fn a_training_films_its_evaluations_and_keeps_the_newest() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let often = ["--capture-video", "--set", "evaluation.every_steps=1000"];
    let few = ["--set", "retention.keep_videos=1"];
    let id = trained(data, "CartPole-v1", &[&often[..], &few].concat());
    let films: Vec<String> = fs::read_dir(data.join(format!("runs/{id}/videos")))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    // The last evaluation is always filmed.
    let last = events(data, &id, "evaluation_complete").pop().unwrap();
    assert_eq!(films, [format!("eval_step_{:09}.mp4", last["step"].as_u64().unwrap())]);
    let told = events(data, &id, "artifacts_available");
    let is_told = |path: String| told.iter().any(|event| event["artifacts"][0]["path"] == path);
    assert!(is_told(format!("videos/{}", films[0])), "{told:?}");
    let output = run(data, &["artifacts", &id, "--json", "--data", "."]);
    let listed = text(&output.stdout);
    assert!(listed.contains(&films[0]), "{listed}");
    let made = events(data, &id, "artifact_pruned");
    let made = made.iter().filter(|event| event["kind"] == "video").count();
    let kept = result(&output)["kept"].as_array().unwrap().clone();
    let kept = kept.iter().find(|kept| kept["kind"] == "video").unwrap().clone();
    assert_eq!((&kept["kept"], &kept["total"]), (&json!(1), &json!(made + 1)), "{listed}");
    let fsck = run(data, &["fsck", "--data", "."]);
    assert!(fsck.status.success(), "{}", text(&fsck.stdout));
    // Without it there are none, and the weights are the same.
    let plain = trained(data, "CartPole-v1", &["--set", "evaluation.every_steps=1000"]);
    assert!(!data.join(format!("runs/{plain}/videos")).exists());
    let weights = |id: &str| events(data, id, "done").pop().unwrap()["weights_sha256"].clone();
    assert_eq!(weights(&id), weights(&plain));
}
