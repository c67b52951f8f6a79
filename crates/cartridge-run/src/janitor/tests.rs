use std::path::PathBuf;

use cartridge_store::jsonl::Appender;
use cartridge_store::{SupervisorEvent, SupervisorLine};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::launch::Launcher;

/// A lab over a data folder with one run that has ended and left five videos.
fn lab() -> (TempDir, Lab, RunId) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, manifest) = RunDir::create(&data, |id| {
        serde_json::from_value(json!({
            "format": 1, "id": id, "kind": "train", "name": "a run", "env_id": "CartPole-v1",
            "config": { "algo": "ppo" }, "created_at": 1.0, "cartridge_version": "0",
        }))
        .unwrap()
    })
    .unwrap();
    fs::create_dir_all(dir.path().join("videos/a")).unwrap();
    for n in 0..5 {
        fs::write(dir.path().join(format!("videos/a/{n}.mp4")), [n; 100]).unwrap();
    }
    let event = SupervisorEvent::Exited {
        code: Some(0),
        signal: None,
        forced: false,
        log: Vec::new(),
        reason: None,
        lines: None,
    };
    let mut supervisor = Appender::open(dir.supervisor_path()).unwrap();
    supervisor.append(&SupervisorLine { attempt: 1, t: 2.0, event }).unwrap();
    drop(supervisor);
    let launcher = Launcher {
        program: PathBuf::from("/nonexistent/cartridge"),
        version: "0.0.0".to_owned(),
        stop_grace: Duration::ZERO,
        is_lab: false,
    };
    let lab = Lab::open(data, launcher, crate::queue::Limits::of_machine()).unwrap();
    (folder, lab, manifest.id)
}

fn messages(lab: &Lab, id: &RunId) -> Vec<String> {
    let events = lab.events(id, 100).unwrap();
    events.iter().map(|(_, line)| line.event.message()).collect()
}

#[test]
fn a_round_finds_and_removes_and_the_event_log_says_so() {
    let (_folder, lab, id) = lab();
    Rounds::default().make(&lab).unwrap();
    let list = lab.artifacts(&id).unwrap();
    assert_eq!(list.kept(ArtifactKind::Video), (3, 5));
    let told = messages(&lab, &id);
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[0], "5 artifacts available");
    assert!(told[2].ends_with("3 of 5 kept: the newest 3 of the run are kept"), "{told:?}");
    let report = crate::fsck::check(lab.data(), false, unix_now()).unwrap();
    assert_eq!(report.findings, []);
}

#[test]
fn a_dry_run_removes_nothing() {
    let (_folder, lab, id) = lab();
    lab.look_at(&id).unwrap();
    let outcome = lab.tidy(true).unwrap();
    assert_eq!((outcome.plan.artifacts.len(), outcome.plan.freed_bytes), (2, 200));
    assert!(outcome.pruned.is_empty());
    assert_eq!(lab.artifacts(&id).unwrap().kept(ArtifactKind::Video), (5, 5));
    let outcome = lab.tidy(false).unwrap();
    assert_eq!(outcome.pruned.len(), 2);
    assert!(lab.tidy(true).unwrap().plan.artifacts.is_empty());
}

#[test]
fn a_removal_beside_the_lab_reaches_its_readers() {
    let (_folder, lab, id) = lab();
    let mut rounds = Rounds::default();
    fs::write(lab.data().path().join("lab.json"), r#"{"retention":{"keep_videos":null}}"#).unwrap();
    rounds.make(&lab).unwrap();
    assert_eq!(messages(&lab, &id), ["5 artifacts available"]);
    fs::write(lab.data().path().join("lab.json"), r#"{"retention":{"keep_videos":4}}"#).unwrap();
    tidy(lab.data(), &known(lab.data()).unwrap(), false).unwrap();
    rounds.last_tidy = None;
    rounds.make(&lab).unwrap();
    assert_eq!(messages(&lab, &id).len(), 2);
}

#[test]
fn room_is_counted_by_kind() {
    let (_folder, lab, id) = lab();
    lab.look_at(&id).unwrap();
    let storage = lab.storage().unwrap();
    assert_eq!(storage.kinds[&ArtifactKind::Video], Tally { count: 5, size_bytes: 500 });
    assert!(storage.records_bytes > 0 && storage.index_bytes > 0);
    assert!(storage.total_bytes > 500 && storage.disk_bytes >= storage.free_bytes);
    assert_eq!(storage.n_runs, 1);
}

#[test]
fn a_wrong_knob_is_said_and_removes_nothing() {
    let (_folder, lab, id) = lab();
    lab.look_at(&id).unwrap();
    fs::write(lab.data().path().join("lab.json"), r#"{"retention":{"keep_vidoes":0}}"#).unwrap();
    let error = lab.tidy(false).unwrap_err().to_string();
    assert!(error.contains("did you mean `retention.keep_videos`?"), "{error}");
    assert_eq!(lab.artifacts(&id).unwrap().kept(ArtifactKind::Video), (5, 5));
}

#[test]
fn pinned_runs_and_checkpoints_stay_and_old_runs_go_to_the_trash() {
    let (_folder, lab, id) = lab();
    lab.look_at(&id).unwrap();
    let limits = r#"{"retention":{"keep_videos":0,"keep_runs_per_experiment":0}}"#;
    fs::write(lab.data().path().join("lab.json"), limits).unwrap();
    steer::pin(lab.data(), &id, None, true, By::new("test")).unwrap();
    let outcome = lab.tidy(false).unwrap();
    assert!(outcome.plan.artifacts.is_empty() && outcome.plan.runs.is_empty(), "{outcome:?}");
    steer::pin(lab.data(), &id, None, false, By::new("test")).unwrap();
    let outcome = lab.tidy(false).unwrap();
    assert_eq!((outcome.plan.runs.len(), outcome.failed.len()), (1, 0), "{outcome:?}");
    // It can be brought back as it was.
    assert!(outcome.plan.artifacts.is_empty());
    assert!(steer::trash(lab.data(), &id).is_dir() && !lab.data().run(&id).path().exists());
}
