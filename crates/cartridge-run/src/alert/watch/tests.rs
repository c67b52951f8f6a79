use super::*;

#[test]
fn room_on_the_disk_has_a_limit_and_a_distance() {
    let check = |free: u64, is_open: bool, fires: bool| {
        assert_eq!(disk(free, Some(1000), is_open).is_some(), fires, "{free} {is_open}");
    };
    check(999, false, true);
    check(1000, false, false);
    // It is over only at some distance from the limit.
    check(1100, true, true);
    check(1250, true, false);
    assert!(disk(0, None, false).is_none());
}

#[test]
fn slow_answers_have_a_limit_and_a_distance() {
    let check = |p95: Option<f64>, is_open: bool, fires: bool| {
        assert_eq!(latency(p95, Some(100.0), is_open).is_some(), fires, "{p95:?} {is_open}");
    };
    check(Some(0.101), false, true);
    check(Some(0.099), false, false);
    check(Some(0.099), true, true);
    check(Some(0.079), true, false);
    // Nobody asked: nothing is slow.
    check(None, true, false);
}

fn answers(counts: [u64; 3], n_beyond: u64) -> Latency {
    let n = counts.iter().sum::<u64>() + n_beyond;
    Latency { bounds: vec![0.1, 1.0, 10.0], counts: counts.to_vec(), n }
}

#[test]
fn the_slowest_of_twenty_is_found_in_buckets() {
    let check = |now: Latency, before: Latency, expected: Option<f64>| {
        let found = now.p95_since(&before);
        let is_near = match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
            (found, expected) => found.is_none() && expected.is_none(),
        };
        assert!(is_near, "{found:?} is not {expected:?}");
    };
    check(answers([100, 0, 0], 0), Latency::default(), Some(0.095));
    check(answers([90, 10, 0], 0), Latency::default(), Some(0.55));
    // What was before the window does not count.
    check(answers([1000, 100, 0], 0), answers([1000, 0, 0], 0), Some(0.955));
    check(answers([0, 0, 0], 50), Latency::default(), Some(10.0));
    check(answers([19, 0, 0], 0), Latency::default(), None);
}

#[test]
fn answers_of_the_last_minute_count() {
    let mut watch = Watch::default();
    let begin = Instant::now();
    let at = |seconds: u64| begin + Duration::from_secs(seconds);
    assert_eq!(watch.p95(answers([0, 0, 0], 0), at(0)), None);
    let slow = watch.p95(answers([0, 0, 100], 0), at(2)).unwrap();
    assert!(slow > 9.0, "{slow}");
    for seconds in (4..62).step_by(2) {
        assert_eq!(watch.p95(answers([0, 0, 100], 0), at(seconds)), Some(slow), "{seconds}");
    }
    // A minute later they are forgotten, and so is that there were any.
    assert_eq!(watch.p95(answers([0, 0, 100], 0), at(64)), None);
    assert_eq!(watch.p95(answers([100, 0, 100], 0), at(66)), Some(0.095));
}

#[test]
fn a_run_that_was_late_and_is_lost_is_told_anew() {
    let folder = tempfile::tempdir().unwrap();
    let data = cartridge_store::DataDir::open(folder.path()).unwrap();
    let mut book = Book::default();
    let id: RunId = "r-7f3k2m".parse().unwrap();
    let cause = |sentence: &str, suggestion: &str| Cause {
        kind: Kind::HeartbeatStale,
        run_id: Some(id.clone()),
        sentence: sentence.to_owned(),
        suggestion: suggestion.to_owned(),
        numbers: BTreeMap::new(),
    };
    let mut look = |causes: Vec<Cause>| {
        let looked_at = [(Kind::HeartbeatStale, Some(id.clone()))].into();
        let seen = Seen { causes, looked_at, ..Seen::default() };
        super::super::change(&mut book, &data, 1.0, |book| seen.changes(book)).unwrap();
        let said = |alert: &super::super::Alert| {
            (alert.cause.sentence.clone(), alert.resolved_reason.clone())
        };
        book.newest().map(said).collect::<Vec<_>>()
    };
    let late = cause("it is late", "look at the machine");
    let lost = cause("it is lost", "resume it");
    let is_late = [("it is late".to_owned(), None)];
    assert_eq!(look(vec![late.clone()]), is_late);
    assert_eq!(look(vec![late]), is_late);
    let was_late = ("it is late".to_owned(), Some("it is lost".to_owned()));
    let is_lost = [("it is lost".to_owned(), None), was_late];
    assert_eq!(look(vec![lost.clone()]), is_lost);
    assert_eq!(look(vec![lost]), is_lost);
    assert!(look(Vec::new()).iter().all(|(_, reason)| reason.is_some()));
}
