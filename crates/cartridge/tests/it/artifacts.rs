//! What runs make, whole processes: found, kept in bounds, and never out of step with the disk.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::support::{LabProcess, cartridge, is_alive, kill, pids, result, run, text, wait_for};

/// A trainer that leaves films and a TensorBoard folder, and says where.
const TRAINER: &str = r#"
mkdir -p "$CARTRIDGE_RUN_DIR/videos/a" "runs/$CARTRIDGE_RUN_ID"
for n in 0 1 2 3 4; do echo "film $n" > "$CARTRIDGE_RUN_DIR/videos/a/$n.mp4"; done
echo events > "runs/$CARTRIDGE_RUN_ID/events.out.tfevents.1"
echo '{"type":"artifacts","model":"model.zip","wandb_url":"https://wandb.ai/lab/x"}'
echo zip > model.zip
"#;

fn exec(folder: &Path) -> String {
    let args = ["exec", "--env", "Any-v0", "--name", "films", "--json", "--data", "data", "--"];
    let output = cartridge(&args).args(["sh", "-c", TRAINER]).current_dir(folder).output().unwrap();
    let id = result(&output)["run_id"].as_str().map(str::to_owned);
    id.unwrap_or_else(|| panic!("{} {}", text(&output.stdout), text(&output.stderr)))
}

/// The faults that `fsck` finds, each once.
fn fsck(folder: &Path, args: &[&str]) -> (Option<i32>, Vec<String>) {
    let output =
        cartridge(&["fsck", "--json", "--data", "data"]).args(args).current_dir(folder).output();
    let output = output.unwrap();
    let stdout = text(&output.stdout);
    let lines: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut faults: Vec<String> =
        lines.iter().filter_map(|line| line["fault"].as_str().map(str::to_owned)).collect();
    faults.sort();
    faults.dedup();
    (output.status.code(), faults)
}

#[test]
fn what_a_foreign_trainer_leaves_is_found_listed_and_kept_in_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let id = exec(folder.path());
    let output = run(folder.path(), &["artifacts", &id, "--json", "--data", "data"]);
    let stdout = text(&output.stdout);
    let listed: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let has = |kind: &str, path: &str| {
        listed.iter().any(|line| line["kind"] == kind && line["path"] == path)
    };
    assert!(has("video", "videos/a/0.mp4") && has("other", "model.zip"), "{stdout}");
    assert!(has("tensorboard", &format!("runs/{id}")), "{stdout}");
    let kept = |output: &std::process::Output| {
        let summary = result(output);
        let kinds = summary["kept"].as_array().unwrap();
        let videos = kinds.iter().find(|kept| kept["kind"] == "video").unwrap();
        (videos["kept"].as_u64().unwrap(), videos["total"].as_u64().unwrap())
    };
    assert_eq!(kept(&output), (5, 5));

    let planned = run(folder.path(), &["gc", "--dry-run", "--json", "--data", "data"]);
    assert_eq!(result(&planned)["artifacts"], 2, "{}", text(&planned.stdout));
    let done = run(folder.path(), &["gc", "--json", "--data", "data"]);
    assert_eq!(result(&done)["pruned"], 2);
    let output = run(folder.path(), &["artifacts", &id, "--json", "--data", "data"]);
    assert_eq!(kept(&output), (3, 5));
    assert_eq!(fsck(folder.path(), &[]), (Some(0), Vec::new()));
    let events = fs::read_to_string(folder.path().join(format!("data/runs/{id}/events.jsonl")));
    let events = events.unwrap();
    assert_eq!(events.matches("\"artifact_pruned\"").count(), 2, "{events}");
    assert_eq!(events.matches("\"artifacts_available\"").count(), 1, "{events}");
    // A misspelt knob is said, with what was probably meant.
    fs::write(folder.path().join("data/lab.json"), r#"{"retention":{"keep_vidoes":1}}"#).unwrap();
    let output = run(folder.path(), &["gc", "--data", "data"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("did you mean `retention.keep_videos`?"));
}

#[test]
fn a_training_turns_its_checkpoints_over_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let args = [
        "train",
        "CartPole-v1",
        "--algo",
        "ppo",
        "--steps",
        "20000",
        "--json",
        "--data",
        "data",
        "--set",
        "retention.checkpoint_every_steps=2048",
        "--set",
        "retention.keep_checkpoints=2",
        "--set",
        "retention.milestone_every_steps=8192",
        "--set",
        "evaluation.final_episodes=1",
    ];
    let output = run(folder.path(), &args);
    let id = result(&output)["run_id"].as_str().unwrap().to_owned();
    let output = run(folder.path(), &["artifacts", &id, "--json", "--data", "data"]);
    let summary = result(&output);
    let kinds = summary["kept"].as_array().unwrap();
    let kept = kinds.iter().find(|kept| kept["kind"] == "checkpoint").unwrap();
    assert!(kept["total"].as_u64().unwrap() >= 9, "{summary}");
    let milestones: Vec<String> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["milestone"] == true)
        .map(|line| line["path"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(milestones, ["checkpoints/step_000008192", "checkpoints/step_000016384"]);
    assert!((4..=5).contains(&kept["kept"].as_u64().unwrap()), "{summary}");
    assert_eq!(fsck(folder.path(), &[]), (Some(0), Vec::new()));
}

#[test]
fn a_lab_looks_prunes_and_serves() {
    let folder = tempfile::tempdir().unwrap();
    let id = exec(folder.path());
    let lab = LabProcess::start(&folder.path().join("data"), 0);
    wait_for("the janitor", || {
        let (_, list) = lab.get(&format!("/api/runs/{id}/artifacts"));
        (list["kept"][0]["text"] == "3 of 5 kept").then_some(())
    });
    let (_, list) = lab.get(&format!("/api/runs/{id}/artifacts"));
    assert_eq!(list["wandb_url"], "https://wandb.ai/lab/x");
    let (_, storage) = lab.get("/api/storage");
    assert!(storage["total_bytes"].as_u64().unwrap() > 0 && storage["free_bytes"].is_u64());
    // The list is durable before its events are told.
    wait_for("the events", || {
        let (_, events) = lab.get(&format!("/api/runs/{id}/events"));
        let events = events["events"].as_array().unwrap();
        let pruned = events.iter().filter(|entry| entry["type"] == "artifact_pruned");
        (pruned.count() == 2).then_some(())
    });
    // Repairs are for a data folder without a lab.
    assert_eq!(fsck(folder.path(), &["--repair"]).0, Some(4));
}

#[test]
fn killed_at_any_moment_no_list_names_a_missing_file() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut met = Vec::new();
    let mut known = std::collections::BTreeSet::new();
    for n in 0..4_u64 {
        let args = [
            "train",
            "CartPole-v1",
            "--algo",
            "ppo",
            "--steps",
            "1e9",
            "--data",
            "data",
            "--set",
            "retention.checkpoint_every_steps=1000",
            "--set",
            "retention.keep_checkpoints=2",
        ];
        let mut train = cartridge(&args)
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let id = wait_for("the run", || {
            let runs = fs::read_dir(data.join("runs")).ok()?.flatten();
            let mut ids = runs.map(|entry| entry.file_name().into_string().unwrap());
            ids.find(|id| !known.contains(id))
        });
        wait_for("checkpoints to be turned over", || {
            let events = fs::read_to_string(data.join(format!("runs/{id}/events.jsonl"))).ok()?;
            (events.matches("artifact_pruned").count() > 2).then_some(())
        });
        let (supervisor, trainer) = pids(&data, &id);
        known.insert(id);
        std::thread::sleep(Duration::from_millis(37 * n));
        kill("-KILL", supervisor);
        kill("-KILL", trainer);
        train.kill().unwrap();
        train.wait().unwrap();
        wait_for("their end", || (!is_alive(supervisor) && !is_alive(trainer)).then_some(()));
        let (_, faults) = fsck(folder.path(), &[]);
        assert!(!faults.contains(&"missing_artifact".to_owned()), "{faults:?}");
        assert!(!faults.contains(&"damaged_checkpoint".to_owned()), "{faults:?}");
        met.extend(faults);
        assert_eq!(fsck(folder.path(), &["--repair"]).0, Some(0), "{met:?}");
        assert_eq!(fsck(folder.path(), &[]), (Some(0), Vec::new()), "{met:?}");
    }
}

#[test]
fn a_gc_killed_at_any_moment_leaves_nothing_that_the_next_does_not_finish() {
    let folder = tempfile::tempdir().unwrap();
    let id = exec(folder.path());
    let videos = folder.path().join(format!("data/runs/{id}/videos/a"));
    for n in 0..12_u64 {
        for video in 0..60 {
            fs::write(videos.join(format!("{n}-{video}.mp4")), b"film").unwrap();
        }
        run(folder.path(), &["artifacts", &id, "--data", "data"]);
        let mut gc =
            cartridge(&["gc", "--data", "data"]).current_dir(folder.path()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(3 * n));
        gc.kill().unwrap();
        gc.wait().unwrap();
        let (_, faults) = fsck(folder.path(), &[]);
        assert!(!faults.contains(&"missing_artifact".to_owned()), "{faults:?}");
        assert_eq!(fsck(folder.path(), &["--repair"]).0, Some(0), "{faults:?}");
        assert_eq!(run(folder.path(), &["gc", "--data", "data"]).status.code(), Some(0));
        assert_eq!(fsck(folder.path(), &[]), (Some(0), Vec::new()));
        assert_eq!(fs::read_dir(&videos).unwrap().count(), 3);
    }
    // Every removal was told, and none twice.
    let events = fs::read_to_string(folder.path().join(format!("data/runs/{id}/events.jsonl")));
    let told: Vec<Value> = events
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["type"] == "artifact_pruned")
        .collect();
    let paths: std::collections::BTreeSet<&str> =
        told.iter().map(|line| line["path"].as_str().unwrap()).collect();
    assert_eq!(paths.len(), 5 + 12 * 60 - 3);
}
