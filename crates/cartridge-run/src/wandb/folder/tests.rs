use std::io::Write as _;

use super::*;

struct Fixture {
    _temporary: tempfile::TempDir,
    folder: Folder,
}

impl Fixture {
    fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let dir = RunDir::new(temporary.path());
        let key = Key::new(None, None, "a b").unwrap();
        let name = Folder::name(&key, 1_700_000_000.0);
        assert_eq!(name, "run-20231114_221320-a_b");
        let folder = Folder::make(&dir, &name, &Card::default()).unwrap();
        assert_eq!(Folder::find(&dir).unwrap(), folder);
        Self { _temporary: temporary, folder }
    }

    fn ledger(&self) -> Ledger {
        Ledger::open(self.folder.clone()).unwrap()
    }
}

fn post(file: &str, offset: u64, content: &[&str]) -> Post {
    let content = content.iter().map(|line| (*line).to_owned()).collect();
    let files = [(file.to_owned(), Chunk { offset, content })].into();
    Post { files, ..Post::default() }
}

fn row(step: i64) -> String {
    format!(r#"{{"_step":{step},"loss":{step}}}"#)
}

#[test]
fn what_is_sent_again_adds_nothing_and_a_gap_is_refused() {
    let fixture = Fixture::new();
    let mut ledger = fixture.ledger();
    let rows: Vec<String> = (0..5).map(row).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    assert!(ledger.append(&post(HISTORY, 0, &rows[..3])).unwrap());
    assert!(!ledger.append(&post(HISTORY, 0, &rows[..3])).unwrap(), "sent again");
    assert!(!ledger.append(&post(HISTORY, 1, &rows[1..2])).unwrap(), "a part, sent again");
    let gap = ledger.append(&post(HISTORY, 4, &rows[4..]));
    assert!(matches!(gap, Err(RunError::WandbGap { known: 3, offset: 4, .. })), "{gap:?}");
    assert!(ledger.append(&post(HISTORY, 2, &rows[2..])).unwrap(), "old and new together");
    assert_eq!(ledger.rows(i64::MIN, i64::MAX, 99).unwrap(), rows);
    assert!(ledger.is_current());
    // A lab that begins again counts the same.
    let mut again = fixture.ledger();
    assert_eq!((again.n_rows(), again.last_step()), (5, Some(4)));
    assert!(!again.append(&post(HISTORY, 0, &rows)).unwrap());
    assert_eq!(again.keys(), ledger.keys());
    assert_eq!(fs::read_to_string(fixture.folder.history_path()).unwrap().lines().count(), 5);
}

#[test]
fn a_gap_in_one_file_keeps_nothing_of_the_others() {
    let fixture = Fixture::new();
    let mut ledger = fixture.ledger();
    let mut both = post(HISTORY, 0, &[&row(0)]);
    both.files.extend(post(EVENTS, 7, &["{}"]).files);
    assert!(ledger.append(&both).is_err());
    assert_eq!(fixture.ledger().n_rows(), 0);
}

#[test]
fn a_torn_line_is_sent_again_whole() {
    let fixture = Fixture::new();
    fixture.ledger().append(&post(HISTORY, 0, &[&row(0)])).unwrap();
    // A lab that is killed in the middle of a write leaves whole lines and half of one.
    let mut file = File::options().append(true).open(fixture.folder.history_path()).unwrap();
    write!(file, "{}\n{}", row(1), &row(2)[..7]).unwrap();
    let mut ledger = fixture.ledger();
    assert_eq!(ledger.n_rows(), 2);
    let sent = [row(1), row(2), row(3)];
    ledger.append(&post(HISTORY, 1, &sent.each_ref().map(String::as_str))).unwrap();
    let expected: Vec<String> = (0..4).map(row).collect();
    assert_eq!(ledger.rows(0, 9, 99).unwrap(), expected);
    assert_eq!(fixture.ledger().rows(0, 9, 99).unwrap(), expected);
}

#[test]
fn what_the_disk_took_before_it_refused_the_rest_is_not_taken_twice() {
    let fixture = Fixture::new();
    let mut ledger = fixture.ledger();
    let mut both = post(HISTORY, 0, &[&row(0), &row(1)]);
    both.files.extend(post(EVENTS, 0, &["{}"]).files);
    // The rows can be written, and the system metrics cannot.
    fs::create_dir(fixture.folder.events_path()).unwrap();
    assert!(ledger.append(&both).is_err());
    fs::remove_dir(fixture.folder.events_path()).unwrap();
    ledger.append(&both).unwrap();
    assert_eq!(ledger.rows(0, 9, 9).unwrap(), [row(0), row(1)]);
    assert_eq!(ledger.n_events(), 1);
}

#[test]
fn a_line_stays_one_line() {
    let fixture = Fixture::new();
    let mut ledger = fixture.ledger();
    ledger.append(&post(HISTORY, 0, &["{\"_step\":0,\n\"a\":1}\n", "no JSON"])).unwrap();
    assert_eq!(ledger.rows(0, 9, 9).unwrap(), ["{\"_step\":0, \"a\":1}", "no JSON"]);
    assert_eq!(fixture.ledger().n_rows(), 2);
}

#[test]
fn the_console_is_overwritten() {
    let fixture = Fixture::new();
    let mut ledger = fixture.ledger();
    ledger.append(&post(CONSOLE, 0, &["a", "10%"])).unwrap();
    assert!(!ledger.append(&post(CONSOLE, 0, &["a", "10%"])).unwrap(), "sent again");
    ledger.append(&post(CONSOLE, 1, &["90%", "b"])).unwrap();
    let all = ["a", "90%", "b"].map(str::to_owned).to_vec();
    assert_eq!(fixture.folder.console(0, 99).unwrap(), (all, 3));
    assert_eq!(fixture.folder.console(2, 9).unwrap(), (vec!["b".to_owned()], 3));
    // A place far away is no reason to hold so many lines.
    ledger.append(&post(CONSOLE, u64::MAX, &["x"])).unwrap();
    assert_eq!(fixture.folder.console(0, 1).unwrap().1 as u64, MOST_CONSOLE_LINES);
}

#[test]
fn rows_are_picked_evenly_and_by_their_keys() {
    let fixture = Fixture::new();
    let mut ledger = fixture.ledger();
    let rows: Vec<String> = (0..100)
        .map(|step| {
            format!(r#"{{"_step":{step},"{}":{step}}}"#, if step % 2 == 0 { "a" } else { "b" })
        })
        .collect();
    let lines: Vec<&str> = rows.iter().map(String::as_str).collect();
    ledger.append(&post(HISTORY, 0, &lines)).unwrap();
    assert_eq!(ledger.rows(10, 12, 9).unwrap(), rows[10..12]);
    let few = ledger.rows(i64::MIN, i64::MAX, 3).unwrap();
    assert_eq!(few, [&rows[0], &rows[49], &rows[99]].map(String::clone));
    let keys = ["_step".to_owned(), "a".to_owned()];
    let found = ledger.sample(&keys, (0, 10), 99).unwrap();
    assert_eq!(found.len(), 6);
    assert_eq!(found[5], json!({ "_step": 10, "a": 10 }));
    assert_eq!(ledger.sample(&["c".to_owned()], (0, 99), 9).unwrap(), Vec::<Value>::new());
    assert_eq!(ledger.sample(&keys, (0, 99), 0).unwrap(), Vec::<Value>::new());
    assert_eq!(ledger.keys()["lastStep"], 99);
}

#[test]
fn files_stay_in_their_folder() {
    let fixture = Fixture::new();
    for name in [
        "",
        "/etc/x",
        "../x",
        "a/../../x",
        "a//b",
        "a\\b",
        "a\nb",
        ".",
        "a/.",
        ".half-0",
        "a/.half-1/b",
    ] {
        assert!(fixture.folder.begin_file(name).is_err(), "{name:?}");
    }
    let files = fixture.folder.path().join("files");
    std::os::unix::fs::symlink("/tmp", files.join("link")).unwrap();
    assert!(fixture.folder.begin_file("link/x").is_err(), "by way of a link");
    assert!(fixture.folder.open_file("link/x").is_err());
    let (mut draft, _) = fixture.folder.begin_file("media/a b.txt").unwrap();
    draft.file.write_all(b"one").unwrap();
    assert!(fixture.folder.files().unwrap().is_empty(), "it is not there before it is whole");
    draft.finish().unwrap();
    // What is not finished leaves nothing.
    drop(fixture.folder.begin_file("media/half").unwrap());
    let found = fixture.folder.files().unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name.as_str(), found[0].size_bytes), ("media/a b.txt", 3));
    assert!(fixture.folder.begin_file("media").is_err(), "a folder has that name");
    assert!(fixture.folder.begin_file("media/a b.txt/x").is_err(), "a file stands in the way");
    assert_eq!(fs::read_dir(files.join("media")).unwrap().count(), 1);
}

#[test]
fn the_summary_is_the_last() {
    let fixture = Fixture::new();
    let mut ledger = fixture.ledger();
    ledger.append(&post(SUMMARY, 0, &[r#"{"a":1}"#])).unwrap();
    ledger.append(&post(SUMMARY, 0, &[r#"{"a":NaN,"b":{"c":2}}"#])).unwrap();
    assert_eq!(fixture.folder.summary(), json!({ "a": "NaN", "b": { "c": 2 } }));
}

#[test]
fn lines_of_the_console_have_parts() {
    let time = "2026-11-16T13:08:08.959364";
    assert_eq!(split_line(&format!("{time} hello")), (None, Some(time), "hello"));
    assert_eq!(split_line(&format!("ERROR {time} no")), (Some("ERROR"), Some(time), "no"));
    for line in ["", "hello", "ERROR", "ERROR no time", "é2026-11-16T13:08:08.959364 x"] {
        assert_eq!(split_line(line), (None, None, line));
    }
}
