use serde_json::json;

use super::*;

fn folder() -> (tempfile::TempDir, DataDir) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    (folder, data)
}

fn cause(kind: Kind, run_id: Option<&str>) -> Cause {
    Cause {
        kind,
        run_id: run_id.map(|id| id.parse().unwrap()),
        sentence: "something is wrong".to_owned(),
        suggestion: "mend it".to_owned(),
        numbers: BTreeMap::from([("free_bytes".to_owned(), 1.0)]),
    }
}

fn fire(book: &mut Book, data: &DataDir, cause: Cause) {
    change(book, data, 10.0, |_| vec![(None, Change::Triggered(cause))]).unwrap();
}

fn end(book: &mut Book, data: &DataDir, id: &str) {
    let over = Change::Resolved { reason: "it is over".to_owned() };
    change(book, data, 30.0, |_| vec![(Some(id.to_owned()), over)]).unwrap();
}

#[test]
fn an_alert_lives_in_its_file() {
    let (_folder, data) = folder();
    let mut book = Book::read(&data).unwrap();
    fire(&mut book, &data, cause(Kind::Disk, None));
    fire(&mut book, &data, cause(Kind::RunFailed, Some("r-7f3k2m")));
    let (alert, lines) = acknowledge(&mut book, &data, "al-1", By::new("Ada"), 20.0).unwrap();
    assert_eq!((alert.state, alert.acknowledged_by.as_deref()), (State::Acknowledged, Some("Ada")));
    assert_eq!(lines.len(), 1);
    // Again changes nothing, and is no second line of the audit.
    let (_, lines) = acknowledge(&mut book, &data, "al-1", By::new("Bob"), 21.0).unwrap();
    assert_eq!(lines, []);
    let audit = std::fs::read_to_string(audit::path(&data)).unwrap();
    assert_eq!(audit.matches("\"acknowledge\"").count(), 1, "{audit}");
    end(&mut book, &data, "al-1");
    let error = acknowledge(&mut book, &data, "al-1", By::new("Ada"), 40.0).unwrap_err();
    assert!(matches!(error, RunError::AlertOver(_)), "{error}");
    let error = acknowledge(&mut book, &data, "al-9", By::new("Ada"), 40.0).unwrap_err();
    assert!(error.to_string().contains("cartridge alerts list"), "{error}");
    // Whoever reads the file comes to the same.
    assert_eq!(Book::read(&data).unwrap(), book);
    let names: Vec<_> = book.newest().map(|alert| (alert.id.as_str(), alert.state)).collect();
    assert_eq!(names, [("al-2", State::Firing), ("al-1", State::Resolved)]);
    assert!(book.open(Kind::Disk, None).is_none());
    assert!(book.open(Kind::RunFailed, Some(&"r-7f3k2m".parse().unwrap())).is_some());
    // What comes back is another.
    fire(&mut book, &data, cause(Kind::Disk, None));
    assert_eq!(book.open(Kind::Disk, None).unwrap().id, "al-3");
    let shown = serde_json::to_value(book.get("al-1").unwrap()).unwrap();
    assert_eq!(shown["kind"], "disk");
    assert_eq!(shown["resolved_at"], json!("1970-01-01T00:00:30.000Z"));
}

#[test]
fn two_who_write_see_each_other() {
    let (_folder, data) = folder();
    let (mut here, mut there) = (Book::default(), Book::default());
    fire(&mut here, &data, cause(Kind::Disk, None));
    acknowledge(&mut there, &data, "al-1", By::new("Ada"), 20.0).unwrap();
    fire(&mut there, &data, cause(Kind::ApiLatency, None));
    let lines = here.advance(&data).unwrap();
    assert_eq!(lines.iter().map(|line| line.seq).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(here, there);
    let told: Vec<_> = here.news_after(1).into_iter().map(|news| (news.name, news.seq)).collect();
    assert_eq!(told, [("AlertChanged", 2), ("AlertTriggered", 3)]);
    assert_eq!(here.at_line(2).unwrap().id, "al-1");
}

#[test]
fn what_is_over_is_forgotten_at_last_and_numbers_go_on() {
    let (_folder, data) = folder();
    let mut book = Book::default();
    let n_alerts = MOST_OLD_LINES + 10;
    // One by one would make each durable.
    let changes = (1..=n_alerts).flat_map(|number| {
        let over = Change::Resolved { reason: "it is over".to_owned() };
        [(None, Change::Triggered(cause(Kind::Disk, None))), (Some(format!("al-{number}")), over)]
    });
    change(&mut book, &data, 1.0, |_| changes.collect()).unwrap();
    fire(&mut book, &data, cause(Kind::ApiLatency, None));
    assert_eq!(book.newest().count(), MOST_OVER + 1);
    let before = std::fs::metadata(path(&data)).unwrap().len();
    book.tidy(&data).unwrap();
    assert!(std::fs::metadata(path(&data)).unwrap().len() < before / 5);
    assert_eq!(Book::read(&data).unwrap(), book);
    fire(&mut book, &data, cause(Kind::Disk, None));
    let newest = book.newest().next().unwrap();
    assert_eq!(newest.id, format!("al-{}", n_alerts + 2));
    assert!(newest.has_fired_at(2 * n_alerts as u64 + 2));
}

#[test]
fn a_torn_line_is_left_alone() {
    let (_folder, data) = folder();
    let mut book = Book::default();
    fire(&mut book, &data, cause(Kind::Disk, None));
    let mut text = std::fs::read_to_string(path(&data)).unwrap();
    text += "{\"seq\":2,\"t\":1.0,\"id\":\"al-1\",\"type\":\"ack";
    std::fs::write(path(&data), &text).unwrap();
    let mut read = Book::read(&data).unwrap();
    assert_eq!(read, book);
    acknowledge(&mut read, &data, "al-1", By::new("Ada"), 20.0).unwrap();
    assert_eq!(Book::read(&data).unwrap().get("al-1").unwrap().state, State::Acknowledged);
}
