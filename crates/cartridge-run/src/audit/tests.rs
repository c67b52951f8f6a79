use serde_json::json;

use super::*;

struct Fixture {
    data: DataDir,
    run: RunId,
    _folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path()).unwrap();
        Self { data, run: "r-000000".parse().unwrap(), _folder: folder }
    }

    fn record(&self, what: Deed) -> AuditLine {
        record(&self.data, Entry::new(By::new("test"), what, &self.run), 1.0).unwrap()
    }

    fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(path(&self.data)).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[track_caller]
    fn check_bad(&self, lines: &[String], number: u64, reason: &str) {
        std::fs::write(path(&self.data), lines.join("\n") + "\n").unwrap();
        let bad = verify(&self.data).unwrap().bad.remove(0);
        assert_eq!((bad.file.as_str(), bad.line), ("audit.jsonl", number));
        assert!(bad.reason.contains(reason), "{}", bad.reason);
    }
}

#[test]
fn the_first_bad_line_is_named() {
    let fixture = Fixture::new();
    for deed in [Deed::Create, Deed::Pause, Deed::Resume, Deed::Stop] {
        fixture.record(deed);
    }
    assert_eq!(verify(&fixture.data).unwrap(), Verdict { n_good: 4, bad: Vec::new() });
    let good = fixture.lines();
    let with = |at: usize, line: String| {
        let mut lines = good.clone();
        lines[at] = line;
        lines
    };
    fixture.check_bad(&with(1, good[1].replace("pause", "stop")), 2, "has been changed");
    fixture.check_bad(&with(2, "{".to_owned()), 3, "cannot be read");
    fixture.check_bad(&[&good[..1], &good[2..]].concat(), 2, "has number 3 where 2 is due");
    fixture.check_bad(&[&good[..2], &good[1..]].concat(), 3, "has number 2 where 3 is due");
    // Whoever knows no key can make a hash, and not a signature.
    let mut forged: AuditLine = serde_json::from_str(&good[3]).unwrap();
    forged.who = "mallory".to_owned();
    forged.hash = hash(&forged);
    let forged = serde_json::to_string(&forged).unwrap();
    fixture.check_bad(&with(3, forged), 4, "signature is wrong");
}

#[test]
fn writers_take_turns() {
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| fixture.record(Deed::Pin));
        }
    });
    assert_eq!(verify(&fixture.data).unwrap().n_good, 8);
}

#[test]
fn marks_are_what_was_done_last() {
    let fixture = Fixture::new();
    let mut marks = Marks::default();
    fixture.record(Deed::Archive);
    fixture.record(Deed::Pin);
    let mut pin = Entry::new(By::new("test"), Deed::Pin, &fixture.run);
    pin.new = json!("step_000000001");
    record(&fixture.data, pin, 2.0).unwrap();
    assert_eq!(marks.advance(&fixture.data).unwrap().len(), 3);
    assert!(marks.archived.contains(&fixture.run) && marks.pinned.contains(&fixture.run));
    assert!(marks.pinned_checkpoints[&fixture.run].contains("step_000000001"));
    fixture.record(Deed::Unarchive);
    fixture.record(Deed::Unpin);
    assert_eq!(marks.advance(&fixture.data).unwrap().len(), 2);
    assert!(marks.archived.is_empty() && marks.pinned.is_empty());
    assert!(!marks.pinned_checkpoints[&fixture.run].is_empty(), "the checkpoint's own pin stays");
    // Read at once it says the same.
    let mut again = Marks::default();
    again.advance(&fixture.data).unwrap();
    assert_eq!(again, marks);
}

#[test]
fn a_cut_end_is_noticed_and_stays_noticed() {
    let fixture = Fixture::new();
    for _ in 0..5 {
        fixture.record(Deed::Pin);
    }
    let good = fixture.lines();
    fixture.check_bad(&good[..4], 5, "1 line is missing at the end");
    fixture.check_bad(&good[..2], 3, "3 lines are missing at the end");
    // Whoever goes on from there cannot hide it.
    fixture.record(Deed::Unpin);
    let bad = verify(&fixture.data).unwrap().bad.remove(0);
    assert_eq!((bad.line, bad.reason.as_str()), (3, "it has number 6 where 3 is due"));
}

#[test]
fn a_head_that_is_behind_is_well_and_one_that_was_changed_is_not() {
    let fixture = Fixture::new();
    let head = Head::path(&fixture.data);
    fixture.record(Deed::Pin);
    fixture.record(Deed::Pin);
    let behind = std::fs::read_to_string(&head).unwrap();
    fixture.record(Deed::Pin);
    // A crash came between the line and its head.
    std::fs::write(&head, &behind).unwrap();
    assert_eq!(verify(&fixture.data).unwrap(), Verdict { n_good: 3, bad: Vec::new() });
    // Half a line was never acknowledged.
    let text = std::fs::read_to_string(path(&fixture.data)).unwrap();
    std::fs::write(path(&fixture.data), format!("{text}{{\"seq\":4,")).unwrap();
    assert_eq!(verify(&fixture.data).unwrap().bad, []);
    fixture.record(Deed::Pin);
    assert_eq!(verify(&fixture.data).unwrap(), Verdict { n_good: 4, bad: Vec::new() });
    // Lines of an older version have none; those of this one do.
    std::fs::remove_file(&head).unwrap();
    let bad = verify(&fixture.data).unwrap().bad.remove(0);
    assert!(bad.reason.starts_with("it is missing"), "{bad:?}");
    std::fs::write(&head, behind.replace("\"count\":2", "\"count\":1")).unwrap();
    let bad = verify(&fixture.data).unwrap().bad.remove(0);
    assert_eq!((bad.file.as_str(), bad.reason.as_str()), ("audit.head", "its signature is wrong"));
}

#[test]
fn lines_are_found_by_who_what_and_when() {
    let fixture = Fixture::new();
    for (n, (who, what)) in
        [("ann", Deed::Create), ("bob", Deed::Pause), ("ann", Deed::Resume), ("ann", Deed::Pause)]
            .into_iter()
            .enumerate()
    {
        let entry = Entry::new(By::new(who), what, &fixture.run);
        record(&fixture.data, entry, n as f64).unwrap();
    }
    record(&fixture.data, Entry::new(By::new("ann"), Deed::Grant, "t-1"), 9.0).unwrap();
    let check = |filter: Filter, limit: usize, expected: &[u64]| {
        let found = find(&fixture.data, &filter, limit).unwrap();
        let found: Vec<u64> = found.iter().map(|line| line.seq).collect();
        assert_eq!(found, expected, "{filter:?}");
    };
    let text = |text: &str| Some(text.to_owned());
    check(Filter::default(), 9, &[1, 2, 3, 4, 5]);
    check(Filter::default(), 2, &[4, 5]);
    check(Filter { before: Some(4), ..Filter::default() }, 2, &[2, 3]);
    check(Filter { who: text("ann"), ..Filter::default() }, 9, &[1, 3, 4, 5]);
    check(Filter { what: text("pause"), ..Filter::default() }, 9, &[2, 4]);
    check(Filter { target: text("t-1"), ..Filter::default() }, 9, &[5]);
    check(Filter { from: Some(1.0), to: Some(2.0), ..Filter::default() }, 9, &[2, 3]);
}

#[test]
fn an_audit_that_is_gone_with_its_head_is_noticed() {
    let fixture = Fixture::new();
    let make = || {
        let (dir, manifest) = cartridge_store::RunDir::create(&fixture.data, |id| {
            serde_json::from_value(json!({
                "format": 1, "id": id, "kind": "train", "name": "a run", "env_id": "CartPole-v1",
                "config": {}, "created_at": 1.0, "cartridge_version": "0",
            }))
            .unwrap()
        })
        .unwrap();
        (dir, manifest.id)
    };
    let told = |id: &RunId| {
        let entry = Entry::new(By::new("test"), Deed::Create, id);
        record(&fixture.data, entry, 1.0).unwrap();
    };
    let reasons = || {
        let bad = verify(&fixture.data).unwrap().bad;
        bad.into_iter().map(|bad| format!("{}: {}", bad.file, bad.reason)).collect::<Vec<_>>()
    };
    let (dir, id) = make();
    assert_eq!(reasons(), [""; 0], "a crash may come between its making and the line");
    told(&id);
    std::fs::write(dir.supervisor_path(), b"").unwrap();
    assert_eq!(reasons(), [""; 0]);
    std::fs::remove_file(path(&fixture.data)).unwrap();
    std::fs::remove_file(Head::path(&fixture.data)).unwrap();
    let [reason] = reasons().try_into().unwrap();
    assert!(reason.starts_with("audit.jsonl: it tells of no run"), "{reason}");
    assert!(reason.contains(id.as_str()) && reason.contains("audit.head"), "{reason}");
    // A new audit does not hide that there was another.
    told(&make().1);
    let [reason] = reasons().try_into().unwrap();
    assert!(reason.contains("does not tell of the making of 1 of the runs"), "{reason}");
}
