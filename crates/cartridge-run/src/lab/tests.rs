use std::path::PathBuf;

use cartridge_store::{Manifest, RunDir};
use serde_json::json;

use super::*;

fn open(data: &DataDir) -> Result<Lab> {
    let launcher = Launcher { program: PathBuf::from("/nonexistent"), version: "0.0.0".to_owned() };
    Lab::open(data.clone(), launcher)
}

fn make_run(data: &DataDir) -> (RunDir, RunId) {
    let (dir, manifest) = RunDir::create(data, |id| Manifest {
        format: Manifest::FORMAT,
        id,
        kind: RunKind::Train,
        name: "a run".to_owned(),
        env_id: "CartPole-v1".to_owned(),
        config: json!({ "env": {} }),
        created_at: 1.0,
        cartridge_version: "0.0.0".to_owned(),
    })
    .unwrap();
    (dir, manifest.id)
}

fn started() -> &'static str {
    "{\"attempt\":1,\"t\":1.0,\"type\":\"started\",\"supervisor_pid\":1,\"trainer_pid\":2}\n"
}

#[test]
fn there_is_one_lab_per_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let lab = open(&data).unwrap();
    lab.announce("http://127.0.0.1:1").unwrap();
    let message = open(&data).unwrap_err().to_string();
    assert!(
        message.contains("another lab is already at work")
            && message.contains("http://127.0.0.1:1"),
        "{message}"
    );
    drop(lab);
    open(&data).unwrap();
}

#[test]
fn runs_that_others_made_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    std::fs::write(dir.supervisor_path(), started()).unwrap();
    // A folder that is still being made is no run yet, and no error.
    std::fs::create_dir(folder.path().join("runs/r-0a0a0a")).unwrap();
    let lab = open(&data).unwrap();
    let view = lab.run(&id).unwrap();
    assert_eq!((view.run.status.state(), view.health), (RunState::Starting, Health::Fresh));
    let listed: Vec<RunId> =
        lab.runs(9, None).unwrap().into_iter().map(|view| view.run.manifest.id).collect();
    assert_eq!(listed, [id]);
}

#[test]
fn a_silent_supervisor_is_lost_by_the_clock_that_never_jumps() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    std::fs::write(dir.supervisor_path(), started()).unwrap();
    let lab = open(&data).unwrap();
    // As if it had last been heard two heartbeats ago; what its lines say of the time is 1970.
    let long_ago = Instant::now().checked_sub(LOST_AFTER).unwrap();
    held(&lab.watch).heard.insert(id.clone(), long_ago);
    let messages = lab.tick().unwrap();
    let FeedNews::Progress(view, _) = &messages[0].news else { panic!("{messages:?}") };
    assert_eq!((view.run.status.state(), view.health), (RunState::Lost, Health::Dead));
    assert_eq!(lab.tick().unwrap(), [], "it is said once");
    assert!(matches!(
        lab.stop_run(&id, "test"),
        Err(RunError::Ended { state: RunState::Lost, .. })
    ));
    // It speaks again.
    let beat = "{\"attempt\":1,\"t\":2.0,\"type\":\"heartbeat\",\"cpu_percent\":null,\"rss_bytes\":null}\n";
    std::fs::write(dir.supervisor_path(), format!("{}{beat}", started())).unwrap();
    lab.tick().unwrap();
    assert_eq!(lab.run(&id).unwrap().run.status.state(), RunState::Starting);
}

#[test]
fn a_stop_is_signed_once() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    std::fs::write(dir.supervisor_path(), started()).unwrap();
    let lab = open(&data).unwrap();
    for _ in 0..2 {
        assert_eq!(lab.stop_run(&id, "test").unwrap().run.status.state(), RunState::Stopping);
    }
    let lines = jsonl::read_lines(&dir.control_path(), 0, None).unwrap();
    assert_eq!(lines.len(), 1, "asking again adds nothing");
}

#[test]
fn a_reader_of_the_feed_resumes_or_is_reset() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, _) = make_run(&data);
    std::fs::write(dir.supervisor_path(), started()).unwrap();
    let lab = open(&data).unwrap();
    let FeedPosition::Reset(newest) = lab.feed_position(None).unwrap() else {
        panic!("a new reader starts afresh")
    };
    assert!(newest > 0);
    assert_eq!(lab.feed_position(Some(newest)).unwrap(), FeedPosition::Known(newest));
    assert_eq!(lab.feed_position(Some(0)).unwrap(), FeedPosition::Known(0));
    assert_eq!(lab.feed_after(0, 99).unwrap().last().unwrap().seq, newest);
    assert_eq!(
        lab.feed_position(Some(newest + 1)).unwrap(),
        FeedPosition::Reset(newest),
        "from another life"
    );
}
