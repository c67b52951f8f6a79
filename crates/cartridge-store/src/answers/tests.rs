use super::*;

fn answer(body: &str) -> Answer {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Answer { status: 201, headers, body: body.to_owned() }
}

fn fixture() -> (tempfile::TempDir, DataDir) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    (folder, data)
}

#[test]
fn an_answer_is_found_for_a_day_and_across_a_restart() {
    let (_folder, data) = fixture();
    let mut answers = Answers::open(&data, 0.0).unwrap();
    answers.keep("a", "one", answer("{}"), 0.0).unwrap();
    answers.keep("b", "two", answer("[\"x\"]"), 10.0).unwrap();
    for mut answers in [answers, Answers::open(&data, 11.0).unwrap()] {
        assert_eq!(answers.find("a", 11.0).unwrap(), Some(("one".to_owned(), answer("{}"))));
        let second = Some(("two".to_owned(), answer("[\"x\"]")));
        assert_eq!(answers.find("b", 11.0).unwrap(), second);
        assert_eq!(answers.find("c", 11.0).unwrap(), None);
        assert_eq!(answers.find("a", KEPT_S).unwrap(), None, "a day is over");
    }
}

#[test]
fn half_a_line_and_what_is_no_line_do_no_harm() {
    let (_folder, data) = fixture();
    let mut answers = Answers::open(&data, 0.0).unwrap();
    answers.keep("a", "one", answer("{}"), 0.0).unwrap();
    answers.file.write_all(b"nonsense\n{\"t\":1").unwrap();
    let mut answers = Answers::open(&data, 1.0).unwrap();
    answers.keep("b", "two", answer("2"), 1.0).unwrap();
    let mut answers = Answers::open(&data, 1.0).unwrap();
    assert!(answers.find("a", 1.0).unwrap().is_some());
    assert_eq!(answers.find("b", 1.0).unwrap(), Some(("two".to_owned(), answer("2"))));
}

#[test]
fn the_file_stays_small_and_the_oldest_leave_first() {
    let (_folder, data) = fixture();
    let mut answers = Answers::open(&data, 0.0).unwrap();
    let body = "x".repeat(MOST_BODY_BYTES);
    let kept = KEPT_S / 10.0;
    for n in 0..100 {
        // Ten of them are in date at any time.
        answers.keep(&n.to_string(), "r", answer(&body), f64::from(n) * kept).unwrap();
        let length = fs::metadata(&answers.path).unwrap().len();
        assert!(length <= MOST_IDLE_BYTES + 21 * MOST_BODY_BYTES as u64, "{length}");
    }
    assert_eq!(answers.places.len(), 10);
    assert!(answers.find("99", 99.0 * kept).unwrap().is_some());
    assert!(answers.find("90", 99.0 * kept).unwrap().is_some());
    assert!(answers.find("89", 99.0 * kept).unwrap().is_none());
    answers.keep("big", "r", answer(&format!("{body}x")), 99.0 * kept).unwrap();
    assert!(answers.find("big", 99.0 * kept).unwrap().is_none(), "too large to be kept");
}
