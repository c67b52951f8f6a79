use super::*;

struct Fixture {
    dir: RunDir,
    run: RunId,
    _folder: tempfile::TempDir,
}

const KEY: &str = "the lab's key";

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { dir: RunDir::new(folder.path()), run: "r-000000".parse().unwrap(), _folder: folder }
    }

    fn issue(&self) -> ControlLine {
        issue(&self.dir, KEY, &self.run, 1, Command::Stop, "test", 1_700_000_000.123_456_7).unwrap()
    }

    /// The lines as the supervisor reads them.
    fn read(&self) -> Vec<ControlLine> {
        let lines = jsonl::read_lines(&self.dir.control_path(), 0, None).unwrap();
        lines.iter().map(|line| serde_json::from_slice(&line.bytes).unwrap()).collect()
    }
}

#[test]
fn what_is_issued_verifies_in_order() {
    let fixture = Fixture::new();
    let issued = [fixture.issue(), fixture.issue(), fixture.issue()];
    assert_eq!(fixture.read(), issued);
    let mut verifier = Verifier::new(KEY, &fixture.run, 1);
    for line in fixture.read() {
        verifier.verify(&line).unwrap();
    }
}

#[test]
fn forged_foreign_repeated_and_reordered_lines_are_refused() {
    let fixture = Fixture::new();
    let [first, second] = [fixture.issue(), fixture.issue()];
    let verifier = Verifier::new(KEY, &fixture.run, 1);
    let check = |verifier: &Verifier, line: &ControlLine, expected: &str| {
        let reason = verifier.clone().verify(line).unwrap_err();
        assert!(reason.contains(expected), "{reason}");
    };
    let foreign = ControlLine { run: "r-000001".parse().unwrap(), ..first.clone() };
    check(&verifier, &foreign, "meant for run r-000001");
    check(&verifier, &ControlLine { attempt: 2, ..first.clone() }, "meant for attempt 2");
    check(&verifier, &second, "has number 2 where 1 is due");
    check(
        &verifier,
        &ControlLine { by: "mallory".to_owned(), ..first.clone() },
        "signature is wrong",
    );
    check(&verifier, &ControlLine { t: first.t + 1.0, ..first.clone() }, "signature is wrong");
    check(
        &verifier,
        &ControlLine { signature: String::new(), ..first.clone() },
        "signature is wrong",
    );
    check(&Verifier::new("another key", &fixture.run, 1), &first, "signature is wrong");

    let mut verifier = verifier;
    verifier.verify(&first).unwrap();
    check(&verifier, &first, "has number 1 where 2 is due");
    check(&verifier, &ControlLine { previous: String::new(), ..second.clone() }, "does not follow");
    verifier.verify(&second).unwrap();
}

#[test]
fn a_bad_line_does_not_spoil_the_ones_after_it() {
    let fixture = Fixture::new();
    fixture.issue();
    let forged = ControlLine { seq: 2, signature: "00".to_owned(), ..fixture.issue() };
    let text = std::fs::read_to_string(fixture.dir.control_path()).unwrap();
    let first = text.lines().next().unwrap();
    let forged = serde_json::to_string(&forged).unwrap();
    std::fs::write(fixture.dir.control_path(), format!("{first}\nnot a line\n{forged}\n")).unwrap();
    fixture.issue();
    let mut verifier = Verifier::new(KEY, &fixture.run, 1);
    let lines = jsonl::read_lines(&fixture.dir.control_path(), 0, None).unwrap();
    let accepted: Vec<bool> = lines
        .iter()
        .map(|line| {
            serde_json::from_slice(&line.bytes).is_ok_and(|line| verifier.verify(&line).is_ok())
        })
        .collect();
    assert_eq!(accepted, [true, false, false, true]);
}

#[test]
fn writers_take_turns() {
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| fixture.issue());
        }
    });
    let mut verifier = Verifier::new(KEY, &fixture.run, 1);
    let lines = fixture.read();
    assert_eq!(lines.len(), 8);
    lines.iter().for_each(|line| verifier.verify(line).unwrap());
}

#[test]
fn a_line_that_waited_too_long_is_refused_and_the_next_one_is_not() {
    let fixture = Fixture::new();
    let [first, second] = [fixture.issue(), fixture.issue()];
    let mut verifier = Verifier::new(KEY, &fixture.run, 1);
    verifier.verify(&first).unwrap();
    let late = Duration::from_secs_f64(EXPIRES_S) + Duration::from_millis(1);
    let reason = check_age(&first, late).unwrap_err();
    assert!(reason.contains("it expired"), "{reason}");
    check_age(&first, late - Duration::from_millis(2)).unwrap();
    // It was a good line all the same, so the chain goes on.
    verifier.verify(&second).unwrap();
    // How long a line is good for cannot be changed by hand.
    let third = fixture.issue();
    let mut longer = third.clone();
    longer.expires_s = None;
    assert_eq!(verifier.clone().verify(&longer).unwrap_err(), "its signature is wrong");
    verifier.verify(&third).unwrap();
}

#[test]
fn what_the_time_of_day_says_does_no_harm() {
    let fixture = Fixture::new();
    let mut verifier = Verifier::new(KEY, &fixture.run, 1);
    for t in [0.0, 4e9, -1e9] {
        let line = issue(&fixture.dir, KEY, &fixture.run, 1, Command::Pause, "test", t).unwrap();
        verifier.verify(&line).unwrap();
        check_age(&line, Duration::from_millis(100)).unwrap();
    }
}
