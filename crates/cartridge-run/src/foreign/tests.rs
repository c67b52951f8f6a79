use std::fs;
use std::io::Cursor;

use cartridge_store::Follower;
use serde_json::Value;

use super::*;

struct Fixture {
    _folder: tempfile::TempDir,
    dir: RunDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dir = RunDir::new(folder.path());
        Self { _folder: folder, dir }
    }

    /// Takes in the lines of an attempt to its end.
    fn attempt(&self, attempt: u32, lines: &[&str]) -> LineCounts {
        let log = Arc::new(Mutex::new(Log::open(&self.dir, 1 << 20).unwrap()));
        let ingest = Ingest::open(&self.dir, attempt, log).unwrap();
        ingest.read_protocol(Cursor::new(lines.join("\n").into_bytes())).join().unwrap();
        let ended = ingest.finish(Some(DoneReason::Completed));
        assert_eq!(ended.trouble, None);
        ended.lines
    }

    fn lines(&self, path: &Path) -> Vec<Value> {
        let text = fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn rows(&self) -> Vec<Value> {
        self.lines(&self.dir.metrics_path())
    }
}

fn metric(name: &str, value: f64, step: u64) -> String {
    format!(r#"{{"type":"metric","name":"{name}","value":{value:?},"step":{step}}}"#)
}

#[test]
fn points_of_the_same_step_make_one_row() {
    let fixture = Fixture::new();
    let lines =
        [metric("a", 1.0, 10), metric("b", 2.0, 10), metric("a", 3.0, 20), metric("a", 4.0, 20)];
    fixture.attempt(1, &lines.each_ref().map(String::as_str));
    let rows = fixture.rows();
    let values: Vec<(u64, &Value)> =
        rows.iter().map(|row| (row["step"].as_u64().unwrap(), &row["values"])).collect();
    assert_eq!(values[0], (10, &serde_json::json!({ "a": 1.0, "b": 2.0 })));
    assert_eq!(values[1], (20, &serde_json::json!({ "a": 3.0 })));
    // A second value of the same step is kept too, in a row of its own.
    assert_eq!((values[2].0, &values[2].1["a"]), (20, &serde_json::json!(4.0)));
}

#[test]
fn an_episode_without_its_line_is_closed_by_its_last_step() {
    let fixture = Fixture::new();
    let step = |id: &str, terminated: bool| {
        format!(
            r#"{{"type":"step","episode_id":"{id}","step":1,"action":0,"reward":2.5,"terminated":{terminated}}}"#
        )
    };
    let lines = [step("x", false), step("y", false), step("x", true)];
    let counts = fixture.attempt(1, &lines.each_ref().map(String::as_str));
    assert_eq!(counts.typed, 3);
    let rows = fixture.rows();
    let episodes = &rows.last().unwrap()["episodes"];
    assert_eq!(
        (&episodes["reward"], &episodes["length"]),
        (&serde_json::json!([5.0]), &serde_json::json!([2]))
    );
    assert_eq!(episodes["terminated"], serde_json::json!([true]));
}

#[test]
fn an_acknowledgement_of_nothing_and_a_return_that_is_not_finite_are_wrong() {
    let fixture = Fixture::new();
    let counts = fixture.attempt(
        1,
        &[
            r#"{"type":"control_ack","seq":1}"#,
            r#"{"type":"episode","episode_id":1,"steps":3,"return":NaN}"#,
        ],
    );
    assert_eq!((counts.typed, counts.wrong), (0, 2));
    assert!(counts.reasons.contains_key("episode: `return` is not finite"), "{counts:?}");
}

#[test]
fn a_trainer_that_makes_up_names_does_not_fill_the_index() {
    let fixture = Fixture::new();
    let lines: Vec<String> =
        (0..MAX_NAMES as u64 + 5).map(|idx| metric(&format!("name {idx}"), 1.0, idx)).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let counts = fixture.attempt(1, &lines);
    assert_eq!((counts.typed, counts.wrong), (MAX_NAMES as u64, 5));
}

#[test]
fn a_restored_trainer_goes_on_from_its_checkpoint() {
    let fixture = Fixture::new();
    let episode =
        |id: u32| format!(r#"{{"type":"episode","episode_id":"{id}","steps":10,"return":{id}}}"#);
    let first = [
        metric("a", 1.0, 10),
        episode(1),
        metric("a", 2.0, 20),
        episode(2),
        metric("a", 3.0, 30),
        r#"{"type":"checkpoint","step":30,"path":"checkpoints/c30"}"#.to_owned(),
        episode(3),
        metric("a", 4.0, 40),
        metric("a", 5.0, 50),
    ];
    fixture.attempt(1, &first.each_ref().map(String::as_str));
    let second = [
        r#"{"type":"config","restored":{"path":"checkpoints/c30","step":30}}"#.to_owned(),
        metric("a", 40.0, 40),
        episode(3),
        metric("a", 50.0, 50),
    ];
    fixture.attempt(2, &second.each_ref().map(String::as_str));
    let events = fixture.lines(&fixture.dir.events_path());
    let restored = events.iter().find(|event| event["type"] == "restored").unwrap();
    assert_eq!((&restored["step"], &restored["row"]), (&30.into(), &3.into()), "{restored}");
    assert_eq!((&restored["episode"], &restored["checkpoint"]), (&2.into(), &"c30".into()));
    let second: Vec<Value> = fixture.rows().into_iter().filter(|row| row["attempt"] == 2).collect();
    assert_eq!((&second[0]["row"], &second[0]["values"]["a"]), (&4.into(), &40.0.into()));
    // Whoever follows the run sees three episodes, not four.
    let mut follower = Follower::default();
    follower.advance(&fixture.dir).unwrap();
    assert_eq!(follower.status.episodes, 3);
    assert_eq!(follower.status.step, 50);
}

#[test]
fn without_a_word_of_restoring_numbers_go_on() {
    let fixture = Fixture::new();
    let line = metric("a", 1.0, 10);
    fixture.attempt(1, &[&line]);
    let last = fixture.rows().last().unwrap()["row"].as_u64().unwrap();
    fixture.attempt(2, &[&line]);
    let row = fixture.rows().into_iter().find(|row| row["attempt"] == 2).unwrap();
    assert_eq!(row["row"], last + 1);
}

#[test]
fn a_disk_that_refuses_makes_readers_wait_and_loses_nothing() {
    let fixture = Fixture::new();
    let log = Arc::new(Mutex::new(Log::open(&fixture.dir, 1 << 20).unwrap()));
    let mut batch = Batch::default();
    batch.rows.extend(b"{}\n");
    // A file that cannot take any more: the device that is always full.
    let Ok(full) = Appender::open("/dev/full") else { return };
    let mut writer = Writer {
        episodes: EpisodeWriter::open(&fixture.dir).unwrap(),
        attempt: 1,
        events: Appender::open(fixture.dir.events_path()).unwrap(),
        metrics: full,
        frame_path: fixture.dir.path().join("frame.json"),
        pending: batch,
        last_sync: Instant::now(),
        unsynced: false,
        has_ended: false,
    };
    assert!(writer.write(false).is_err());
    assert_eq!(writer.pending.rows, b"{}\n", "it is kept");
    writer.metrics = Appender::open(fixture.dir.metrics_path()).unwrap();
    writer.write(true).unwrap();
    assert!(writer.pending.is_empty());
    assert_eq!(fs::read(fixture.dir.metrics_path()).unwrap(), b"{}\n");
    drop(log);
}

#[test]
fn who_watches_is_no_matter_of_the_log() {
    let fixture = Fixture::new();
    let log = Arc::new(Mutex::new(Log::open(&fixture.dir, 1 << 20).unwrap()));
    let ingest = Ingest::open(&fixture.dir, 1, log).unwrap();
    for (seq, command) in [
        (1, Command::Watch { fps: 12.0 }),
        (2, Command::Checkpoint),
        (3, Command::Watch { fps: 0.0 }),
    ] {
        ingest.delivered(seq, command, "the lab".to_owned());
    }
    let lines = [
        r#"{"type":"control_ack","seq":1}"#,
        r#"{"type":"control_ack","seq":2}"#,
        r#"{"type":"control_ack","seq":3,"ok":false,"message":"no pictures"}"#,
    ];
    ingest.read_protocol(Cursor::new(lines.join("\n").into_bytes())).join().unwrap();
    let ended = ingest.finish(Some(DoneReason::Completed));
    assert_eq!((ended.lines.wrong, ended.lines.by_type["control_ack"]), (0, 3));
    let events = fixture.lines(&fixture.dir.events_path());
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["training_started", "control_ack", "done"]);
}
