use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// A program `start-trainer --supervisor PID -- PROGRAM ARGUMENTS` in the place of ours, and one in
/// the place of TensorBoard that does what `body` says.
fn programs(folder: &Path, body: &str) -> (PathBuf, PathBuf) {
    let make = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    (make("starter", "shift 4; exec \"$@\""), make(PROGRAM, body))
}

#[test]
fn the_program_is_found_on_the_path_if_it_can_be_run() {
    let folder = tempfile::tempdir().unwrap();
    let (_, program) = programs(folder.path(), "");
    let path = format!("/nowhere:relative:{}", folder.path().display());
    assert_eq!(find(Some(OsStr::new(&path))).unwrap(), program);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
    for path in [Some(OsStr::new(&path)), None] {
        assert!(matches!(find(path), Err(RunError::NoTensorBoard)));
    }
}

#[test]
fn one_that_fails_says_so_in_its_last_words() {
    let folder = tempfile::tempdir().unwrap();
    let (starter, program) = programs(folder.path(), "echo first >&2; echo 'no room' >&2; exit 1");
    let run = RunId::random();
    let viewers = Viewers::default();
    let error = viewers.open(&run, &starter, &program, folder.path()).unwrap_err();
    assert!(error.to_string().ends_with("failed: no room"), "{error}");
}

#[test]
fn a_run_has_one_and_what_is_too_much_makes_room() {
    let folder = tempfile::tempdir().unwrap();
    let body = "port=\"$6\"; exec python3 -m http.server --bind 127.0.0.1 \"$port\" 2>/dev/null";
    let (starter, program) = programs(folder.path(), body);
    let viewers = Viewers::default();
    let open = |run: &RunId| viewers.open(run, &starter, &program, folder.path()).unwrap();
    let runs: Vec<RunId> = (0..=MAX_VIEWERS).map(|_| RunId::random()).collect();
    let first = open(&runs[0]);
    assert_eq!(open(&runs[0]), first, "the same again");
    let others: Vec<u16> = runs[1..].iter().map(&open).collect();
    assert!(others.iter().all(|&port| is_open(port)));
    assert!(!is_open(first), "the oldest has ended");
    drop(viewers);
    let deadline = Instant::now() + Duration::from_secs(10);
    while others.iter().any(|&port| is_open(port)) {
        assert!(Instant::now() < deadline, "they end with the lab");
        thread::yield_now();
    }
}
