use cartridge_store::DataDir;

use super::*;

/// A folder with these events, one JSON object each without its time.
fn run(path: &std::path::Path, events: &[&str]) -> RunDir {
    let dir = RunDir::new(path);
    fs::create_dir_all(dir.checkpoints_path()).unwrap();
    let lines: String =
        events.iter().map(|event| format!("{{\"attempt\":1,\"t\":0.0,{event}}}\n")).collect();
    fs::write(dir.events_path(), lines).unwrap();
    dir
}

fn saved(step: u64, name: &str) -> String {
    format!("\"type\":\"checkpoint_saved\",\"step\":{step},\"name\":\"{name}\"")
}

#[test]
fn checkpoints_are_found_by_every_name_and_only_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second, gone] = [saved(100, "a"), saved(200, "weights/b.pt"), saved(300, "c")];
    let dir = run(folder.path(), &[&first, &second, &gone]);
    fs::create_dir_all(dir.checkpoints_path().join("a")).unwrap();
    fs::create_dir_all(folder.path().join("weights")).unwrap();
    fs::write(folder.path().join("weights/b.pt"), "b").unwrap();
    let history = History::read(&dir).unwrap();
    let id: RunId = "r-000000".parse().unwrap();
    let check = |text: &str, expected: Option<&str>| {
        let found = history.find(&dir, &id, text).ok().map(|named| named.path);
        assert_eq!(found.as_deref(), expected, "{text}");
    };
    // The newest that is still there.
    check("latest", Some("weights/b.pt"));
    check("a", Some("checkpoints/a"));
    check("checkpoints/a", Some("checkpoints/a"));
    check("100", Some("checkpoints/a"));
    check("weights/b.pt", Some("weights/b.pt"));
    check("300", None);
    check("best", None);
    check("../a", None);
}

#[test]
fn a_new_attempt_goes_on_from_what_was_restored_last() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = [saved(100, "a"), saved(200, "b")];
    let restored =
        "\"type\":\"restored\",\"checkpoint\":\"a\",\"step\":100,\"row\":1,\"episode\":1";
    let tune = |step: u64, value: f64| {
        format!(
            "\"type\":\"tune_applied\",\"path\":\"x\",\"old\":0.0,\"new\":{value},\"by\":\"ann\",\"step\":{step}"
        )
    };
    let (early, late) = (tune(50, 0.5), tune(150, 1.5));
    let dir = run(folder.path(), &[&early, &first, &late, &second, restored]);
    for name in ["a", "b"] {
        fs::write(dir.checkpoints_path().join(name), name).unwrap();
    }
    let history = History::read(&dir).unwrap();
    let newest = history.newest.clone().unwrap();
    assert_eq!(newest, ("a".to_owned(), 100));
    assert_eq!(history.tuned_until(100)["x"], 0.5);
    assert_eq!(history.tuned_until(u64::MAX)["x"], 1.5);
}

#[test]
fn a_copy_has_every_file_and_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let from = run(&data.path().join("from"), &[]);
    let to = run(&data.path().join("to"), &[]);
    let place = from.checkpoints_path().join("step_000000100");
    fs::create_dir_all(place.join("parts")).unwrap();
    fs::write(place.join("q.json"), "q").unwrap();
    fs::write(place.join("parts/1"), "one").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", place.join("link")).unwrap();
    let named = Named {
        name: "step_000000100".to_owned(),
        path: "checkpoints/step_000000100".to_owned(),
        step: 100,
    };
    copy(&from, &to, &named).unwrap();
    let copied = to.checkpoints_path().join("step_000000100");
    assert_eq!(fs::read_to_string(copied.join("q.json")).unwrap(), "q");
    assert_eq!(fs::read_to_string(copied.join("parts/1")).unwrap(), "one");
    assert!(fs::symlink_metadata(copied.join("link")).is_err());
}
