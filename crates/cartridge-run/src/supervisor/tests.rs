use std::fs;

use cartridge_store::Failure;

use super::log::{MAX_LAST_LINE, MAX_LOG_LINE};
use super::usage::group_usage;
use super::*;

fn open(max_bytes: u64) -> (tempfile::TempDir, RunDir, Log) {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::new(folder.path());
    let log = Log::open(&dir, max_bytes).unwrap();
    (folder, dir, log)
}

#[test]
fn a_flooded_log_stays_small_and_keeps_the_newest() {
    let (_folder, dir, mut log) = open(100_000);
    for idx in 0..50_000 {
        log.add(format!("line {idx}").as_bytes());
        if idx % 100 == 0 {
            log.flush();
        }
    }
    log.flush();
    let newer = fs::read_to_string(dir.log_path()).unwrap();
    let older = fs::read_to_string(dir.path().join("log.1.txt")).unwrap();
    assert!(newer.len() + older.len() <= 110_000, "{} {}", newer.len(), older.len());
    assert!(newer.starts_with("[the log goes on here"), "{newer}");
    assert!(newer.ends_with("line 49999\n"));
    // What is there and what was dropped is all that was written.
    let kept = newer.lines().chain(older.lines()).filter(|line| line.starts_with("line")).count();
    assert_eq!(kept as u64 + log.n_dropped(), 50_000);
    assert_eq!(log.last_lines.len(), Failure::LOG_LINES);
    assert_eq!(log.last_lines.back().unwrap(), "line 49999");
}

#[test]
fn a_very_long_line_of_the_log_is_kept_in_part() {
    let (_folder, dir, mut log) = open(MAX_LOG_BYTES);
    log.add(&vec![b'x'; MAX_LOG_LINE + 7]);
    log.flush();
    let text = fs::read_to_string(dir.log_path()).unwrap();
    assert!(text.ends_with("\n[7 more bytes]\n"));
    assert_eq!(log.last_lines[0].len(), MAX_LAST_LINE);
}

#[test]
fn the_use_of_a_group_is_that_of_all_its_members() {
    let mut child = Command::new("sh")
        .args(["-c", "sleep 60 & sleep 60 & wait"])
        .process_group(0)
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    // A member that is just becoming `sleep` has no memory for a moment.
    let is_more = || {
        let sample = Usage::new(child.id(), None).sample();
        sample.rss_bytes.unwrap() > read_usage(child.id()).unwrap().1
    };
    while group_usage(child.id()).len() < 3 || !is_more() {
        assert!(Instant::now() < deadline, "the group has three members, and the use of all");
        thread::sleep(Duration::from_millis(5));
    }
    Force::new(child.id(), Duration::ZERO, Descendants::default()).signal(Signal::KILL);
    child.wait().unwrap();
}
