use std::fs;
use std::io::Cursor;

use cartridge_store::episodes::{Order, Sort};
use cartridge_store::event_file::Told;
use cartridge_store::{EpisodeReader, Follower};
use serde_json::Value;

use super::*;
use crate::protocol::check::Options;

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

/// Lines, and what both the reader of a run and `protocol check` must make of each: one word for
/// the class, and how many numbers are not finite.
const CASES: [(&str, &str, u64); 29] = [
    (r#"{"type":"step","episode_id":"a","step":1,"action":0,"reward":1.5}"#, "typed", 0),
    (
        r#"{"type":"step","episode_id":"a","step":1,"action":0,"reward":null,"nonfinite":"nan"}"#,
        "typed",
        1,
    ),
    (
        r#"{"type":"step","episode_id":"a","step":1,"action":0,"reward":null,"nonfinite":"-inf"}"#,
        "typed",
        1,
    ),
    (r#"{"type":"step","episode_id":"a","step":1,"action":0,"reward":NaN}"#, "typed", 1),
    (r#"{"type":"step","episode_id":"a","step":1,"action":0,"reward":1e999}"#, "typed", 1),
    (
        r#"{"type":"step","episode_id":"a","step":1,"action":[1e999,2],"reward":1,"obs":{"x":-1e999}}"#,
        "typed",
        2,
    ),
    (r#"{"type":"step","episode_id":"a","step":1,"action":0,"reward":null}"#, "wrong", 0),
    (r#"{"type":"step","episode_id":"a","step":1e999,"action":0,"reward":1}"#, "wrong", 0),
    (r#"{"type":"episode","episode_id":"b","steps":3,"return":2.5}"#, "typed", 0),
    (
        r#"{"type":"episode","episode_id":"c","steps":3,"return":null,"nonfinite":"inf"}"#,
        "typed",
        1,
    ),
    (r#"{"type":"episode","episode_id":"d","steps":3,"return":Infinity}"#, "typed", 1),
    (r#"{"type":"episode","episode_id":"e","steps":3,"return":-1e999}"#, "typed", 1),
    (r#"{"type":"episode","episode_id":"f","steps":3,"return":null}"#, "wrong", 0),
    (r#"{"type":"metric","name":"a","value":1e999,"step":1}"#, "typed", 1),
    (r#"{"type":"metric","name":"1e999","value":1e308,"step":1}"#, "typed", 0),
    (r#"{"type":"metric","name":"a","value":null,"nonfinite":"nan","step":1}"#, "typed", 1),
    (r#"{"type":"metrics","values":{"a":1e999,"b":NaN,"c":1},"step":1}"#, "typed", 2),
    (r#"{"type":"metrics","values":{"a":null},"step":1}"#, "wrong", 0),
    (r#"{"type":"control_ack","seq":1}"#, "wrong", 0),
    (r#"{"type":"checkpoint","step":1,"path":"../elsewhere"}"#, "wrong", 0),
    (r#"{"type":"checkpoint","step":1,"path":"checkpoints/none"}"#, "wrong", 0),
    (r#"{"type":"checkpoint","step":1,"path":"events.jsonl"}"#, "wrong", 0),
    (r#"{"type":"artifacts","video":"videos/first.mp4"}"#, "typed", 0),
    (r#"{"type":"artifacts","video":"../../../etc/passwd"}"#, "wrong", 0),
    (r#"{"type":"artifacts","video":"/etc/passwd"}"#, "wrong", 0),
    (r#"{"type":"frame","step":1,"jpeg":"no base64"}"#, "wrong", 0),
    (r#"{"type":"frame","step":1,"scene":{"x":NaN}}"#, "typed", 1),
    (r#"{"type":"celebration"}"#, "unknown", 0),
    ("a print", "log", 0),
];

fn class(counts: &LineCounts) -> &'static str {
    let counts = [
        ("typed", counts.typed),
        ("wrong", counts.wrong),
        ("unknown", counts.unknown),
        ("log", counts.log),
        ("cut", counts.cut),
    ];
    counts.iter().find(|(_, n)| *n > 0).expect("a line is counted").0
}

#[test]
fn what_is_named_outside_of_the_run_is_a_warning_and_nothing_else() {
    for place in ["../../../etc/passwd", "/etc/passwd"] {
        let fixture = Fixture::new();
        let line = format!(r#"{{"type":"artifacts","video":"{place}"}}"#);
        let counts = fixture.attempt(1, &[&line]);
        assert_eq!((counts.typed, counts.wrong), (0, 1), "{place}");
        let events = fixture.lines(&fixture.dir.events_path());
        let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
        assert_eq!((of("warning"), of("artifacts_named")), (1, 0), "{events:?}");
    }
}

#[test]
fn a_run_and_the_check_make_the_same_of_every_line() {
    for (line, expected, nonfinite) in CASES {
        let fixture = Fixture::new();
        let counts = fixture.attempt(1, &[line]);
        assert_eq!((class(&counts), counts.nonfinite), (expected, nonfinite), "in a run: {line}");
        let options = Options {
            command: vec!["printf".to_owned(), "%s".to_owned(), line.to_owned()],
            exercise: false,
            max_seconds: None,
        };
        let checked = protocol::check::check(&options, |_| ()).unwrap().lines;
        assert_eq!((class(&checked), checked.nonfinite), (expected, nonfinite), "checked: {line}");
        assert_eq!(checked.reasons.len(), counts.reasons.len(), "{line}");
    }
}

#[test]
fn rewards_that_are_not_finite_are_kept_as_they_came() {
    let fixture = Fixture::new();
    let lines = [
        r#"{"type":"step","episode_id":"a","step":1,"action":0,"reward":1.0}"#,
        r#"{"type":"step","episode_id":"a","step":2,"action":0,"reward":null,"nonfinite":"-inf","terminated":true}"#,
        r#"{"type":"episode","episode_id":"b","steps":3,"return":null,"nonfinite":"nan","seed":7}"#,
        r#"{"type":"episode","episode_id":"c","steps":3,"return":4.0}"#,
        r#"{"type":"episode","episode_id":"d","steps":3,"return":1e999}"#,
    ];
    assert_eq!(fixture.attempt(1, &lines).typed, 5);
    let mut reader = EpisodeReader::open(&fixture.dir).unwrap();
    let mut returns = |order| -> Vec<String> {
        let page = reader.heads(Sort::Return, order, 0, 10).unwrap();
        page.heads.iter().map(|head| head.reward.to_string()).collect()
    };
    // Neither the best nor the worst: they come last either way.
    assert_eq!(returns(Order::Ascending), ["4", "-inf", "inf", "NaN"]);
    assert_eq!(returns(Order::Descending), ["4", "NaN", "inf", "-inf"]);
    let steps = reader.steps(4, 0..2).unwrap().unwrap();
    assert_eq!(steps[1].reward, f64::NEG_INFINITY);
    let rows = fixture.rows();
    let episodes = &rows.last().unwrap()["episodes"];
    assert_eq!(episodes["reward"], serde_json::json!([null, 4.0, null, null]));
    // A seed that was not told is not known, which is another thing than 0.
    assert_eq!(episodes["seed"], serde_json::json!([7, null, null, null]));
    assert_eq!(rows.last().unwrap()["values"]["rollout/ep_rew_mean"], 4.0);
    let mut follower = Follower::default();
    follower.advance(&fixture.dir).unwrap();
    assert_eq!((follower.status.episodes, follower.status.refused_lines), (4, 0));
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
    fs::create_dir_all(fixture.dir.path().join("checkpoints/c30")).unwrap();
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
        event_file: EventFile::new(&fixture.dir, 1),
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

#[test]
fn a_checkpoint_that_is_not_there_is_a_warning_and_no_checkpoint() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.dir.path().join("models")).unwrap();
    fs::write(fixture.dir.path().join("models/10.pt"), b"weights").unwrap();
    let counts = fixture.attempt(
        1,
        &[
            r#"{"type":"checkpoint","step":10,"path":"models/10.pt"}"#,
            r#"{"type":"checkpoint","step":20,"path":"models/20.pt"}"#,
        ],
    );
    assert_eq!((counts.typed, counts.wrong), (1, 1));
    let events = fixture.lines(&fixture.dir.events_path());
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
    let saved = of("checkpoint_saved");
    assert_eq!(saved.len(), 1);
    assert_eq!((&saved[0]["step"], &saved[0]["path"]), (&10.into(), &"models/10.pt".into()));
    assert_eq!(
        of("warning")[0]["message"],
        "The trainer named a checkpoint `models/20.pt`, but nothing is at `path` below the run's folder"
    );
    let mut follower = Follower::default();
    follower.advance(&fixture.dir).unwrap();
    assert_eq!(follower.status.checkpoint_step, Some(10));
}

#[test]
fn the_value_before_a_change_is_the_last_that_is_known() {
    let fixture = Fixture::new();
    let log = Arc::new(Mutex::new(Log::open(&fixture.dir, 1 << 20).unwrap()));
    let ingest = Ingest::open(&fixture.dir, 1, log).unwrap();
    let say = |line: &str| {
        ingest.read_protocol(Cursor::new(line.as_bytes().to_vec())).join().unwrap();
    };
    say(r#"{"type":"config","capabilities":["tune"],"args":{"learning_rate":0.1}}"#);
    let tunes = [
        (1, "trainer.learning_rate", 0.2, ""),
        (2, "trainer.learning_rate", 0.3, ""),
        (3, "trainer.learning_rate", 0.4, r#","old":0.25"#),
        (4, "alpha", 1.0, ""),
        (5, "alpha", 2.0, r#","ok":false,"message":"too much""#),
    ];
    for (seq, path, value, more) in tunes {
        let command = Command::Tune { path: path.to_owned(), value };
        ingest.delivered(seq, command, "ann".to_owned());
        say(&format!(r#"{{"type":"control_ack","seq":{seq},"step":{seq}{more}}}"#));
    }
    let refused = ingest.take_refusals();
    assert_eq!((refused.len(), refused[0].seq, refused[0].reason.as_str()), (1, 5, "too much"));
    ingest.finish(None);
    let events = fixture.lines(&fixture.dir.events_path());
    let old: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "tune_applied")
        .map(|event| &event["old"])
        .collect();
    assert_eq!(old, [&Value::from(0.1), &0.2.into(), &0.25.into(), &Value::Null]);
}

#[test]
fn what_is_not_answered_in_time_is_told_once_and_may_still_be_answered() {
    let fixture = Fixture::new();
    let log = Arc::new(Mutex::new(Log::open(&fixture.dir, 1 << 20).unwrap()));
    let ingest = Ingest::open(&fixture.dir, 1, log).unwrap();
    let commands = [
        (1, Command::Pause),
        (2, Command::Watch { fps: 1.0 }),
        (3, Command::Stop),
        (OWN_SEQ + 4, Command::Checkpoint),
        (5, Command::Checkpoint),
    ];
    for (seq, command) in commands {
        ingest.delivered(seq, command, "ann".to_owned());
    }
    let patience = Duration::from_secs(120);
    let overdue = |now: Instant| -> Vec<u64> {
        ingest.take_overdue(now, patience).iter().map(|refusal| refusal.seq).collect()
    };
    let now = Instant::now();
    assert_eq!(overdue(now), [0; 0], "it may take its time");
    assert_eq!(overdue(now + 2 * patience), [1, 5]);
    assert_eq!(overdue(now + 3 * patience), [0; 0], "each is told once");
    let late = r#"{"type":"control_ack","seq":1,"step":7}"#;
    ingest.read_protocol(Cursor::new(late.as_bytes().to_vec())).join().unwrap();
    ingest.delivered(6, Command::Resume, "ann".to_owned());
    let unanswered = ingest.take_unanswered();
    assert_eq!(unanswered.iter().map(|refusal| refusal.seq).collect::<Vec<_>>(), [6]);
    assert_eq!(ingest.finish(None).lines.wrong, 0, "a late answer is an answer");
    let events = fixture.lines(&fixture.dir.events_path());
    assert!(events.iter().any(|event| event["type"] == "paused"), "{events:?}");
}

/// The file of a trainer that writes for TensorBoard.
fn board(fixture: &Fixture, steps: &[(u64, &str, f64)]) {
    let folder = fixture.dir.path().join("runs/theirs");
    fs::create_dir_all(&folder).unwrap();
    let mut bytes = Vec::new();
    for (step, tag, value) in steps {
        let scalar = [(*tag, *value)].into_iter();
        cartridge_store::event_file::put_scalars(1.0, *step, scalar, &mut bytes);
    }
    let path = folder.join("events.out.tfevents.1700000000.host");
    let file = fs::OpenOptions::new().create(true).append(true).open(path);
    std::io::Write::write_all(&mut file.unwrap(), &bytes).unwrap();
}

/// Rows as step, name and value, without what we add ourselves.
fn points(fixture: &Fixture) -> Vec<(u64, String, f64)> {
    let rows = fixture.rows();
    let values = rows.iter().flat_map(|row| {
        let step = row["step"].as_u64().unwrap();
        let values = row["values"].as_object().unwrap().iter();
        values.map(move |(name, value)| (step, name.clone(), value.as_f64().unwrap()))
    });
    let mut points: Vec<_> = values.filter(|(_, name, _)| name != "time/fps").collect();
    // Values of one step are one row or two, as they happen to come.
    points.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    points
}

#[test]
fn metrics_in_event_files_are_rows_but_for_what_lines_tell() {
    let fixture = Fixture::new();
    let log = Arc::new(Mutex::new(Log::open(&fixture.dir, 1 << 20).unwrap()));
    let ingest = Ingest::open(&fixture.dir, 1, log).unwrap();
    let line = metric("train/loss", 0.5, 10) + "\n";
    ingest.read_protocol(Cursor::new(line.into_bytes())).join().unwrap();
    board(
        &fixture,
        &[(10, "train/loss", 0.5), (10, "charts/SPS", 2.0), (20, "bad\nname", 1.0), (20, "x", 3.0)],
    );
    let ended = ingest.finish(Some(DoneReason::Completed));
    assert_eq!((ended.trouble, ended.lines.typed), (None, 1));
    let expected = [(10, "charts/SPS", 2.0), (10, "train/loss", 0.5), (20, "x", 3.0)];
    assert_eq!(
        points(&fixture),
        expected.map(|(step, name, value)| (step, name.to_owned(), value))
    );
    // A second attempt does not tell it again, and goes on with what is new.
    let log = Arc::new(Mutex::new(Log::open(&fixture.dir, 1 << 20).unwrap()));
    let ingest = Ingest::open(&fixture.dir, 2, log).unwrap();
    board(&fixture, &[(30, "x", 4.0)]);
    ingest.finish(Some(DoneReason::Completed));
    assert_eq!(points(&fixture)[3..], [(30, "x".to_owned(), 4.0)]);
}

#[test]
fn event_files_are_followed_while_the_trainer_is_at_work() {
    let fixture = Fixture::new();
    let log = Arc::new(Mutex::new(Log::open(&fixture.dir, 1 << 20).unwrap()));
    let ingest = Ingest::open(&fixture.dir, 1, log).unwrap();
    for step in 1..=2 {
        board(&fixture, &[(step, "x", step as f64)]);
        let deadline = Instant::now() + Duration::from_secs(10);
        while !points(&fixture).iter().any(|(told, ..)| *told == step) {
            assert!(Instant::now() < deadline, "step {step} does not come");
            thread::yield_now();
        }
    }
    // Steps count, since no line tells them.
    assert_eq!(ingest.step(), 2);
    ingest.finish(Some(DoneReason::Completed));
    assert_eq!(points(&fixture).len(), 2);
}

#[test]
fn rows_are_in_an_event_file_of_each_attempt_too() {
    let fixture = Fixture::new();
    let saved = format!(r#"{{"type":"checkpoint","step":10,"path":"{}"}}"#, "checkpoints/a");
    fs::create_dir_all(fixture.dir.path().join("checkpoints/a")).unwrap();
    fixture.attempt(1, &[&metric("loss", 1.0, 10), &saved, &metric("loss", 2.0, 20)]);
    let restored = r#"{"type":"config","restored":{"path":"checkpoints/a","step":10}}"#;
    fixture.attempt(2, &[restored, &metric("loss", 3.0, 20)]);
    let files = crate::tensorboard::tests::written(&fixture.dir);
    let told: Vec<Vec<(i64, Told)>> = files
        .into_iter()
        .map(|(_, events)| events.into_iter().skip(1).map(|e| (e.step, e.told)).collect())
        .collect();
    let loss = |value: f64| Told::Scalars(vec![("loss".to_owned(), value)]);
    assert_eq!(
        told,
        [
            vec![(10, loss(1.0)), (20, loss(2.0))],
            // What the first attempt told beyond the checkpoint is superseded.
            vec![(11, Told::Start), (20, loss(3.0))],
        ]
    );
}

#[test]
fn who_tells_everything_anew_goes_on_from_nothing() {
    let fixture = Fixture::new();
    let told =
        |value: f64| [metric("a", value, 10), metric("a", value, 20), metric("a", value, 30)];
    fixture.attempt(1, &told(1.0).each_ref().map(String::as_str));
    let anew = r#"{"type":"config","restored":{"path":"","step":0}}"#.to_owned();
    let [first, second, third] = told(2.0);
    let lines = [anew, first, second, third];
    fixture.attempt(2, &lines.each_ref().map(String::as_str));
    let mut follower = Follower::default();
    let news = follower.advance(&fixture.dir).unwrap();
    let rows: Vec<(u64, Option<f64>)> =
        news.metrics.iter().filter_map(|line| Some((line.step, *line.values.get("a")?))).collect();
    assert_eq!(rows, [(10, Some(2.0)), (20, Some(2.0)), (30, Some(2.0))]);
    assert_eq!(follower.status.checkpoint_step, None);
}
