use std::process::Command;

use super::*;

#[test]
fn only_older_attempts_of_the_same_folder_are_ended() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, id) = (RunDir::new(folder.path()), "r-000000".parse::<RunId>().unwrap());
    let start = |run: &str, dir: &RunDir, attempt: u32| {
        Command::new("sleep")
            .arg("60")
            .env("CARTRIDGE_RUN_ID", run)
            .env("CARTRIDGE_RUN_DIR", dir.path())
            .env("CARTRIDGE_ATTEMPT", attempt.to_string())
            .spawn()
            .unwrap()
    };
    let other = RunDir::new("/elsewhere");
    let mut old = start("r-000000", &dir, 1);
    let mut others =
        [start("r-000001", &dir, 1), start("r-000000", &other, 1), start("r-000000", &dir, 2)];
    // Collects it when it ends, as its parent would.
    let waiter = thread::spawn(move || old.wait().unwrap());
    assert_eq!(end_leftovers(&dir, &id, 2), 1);
    assert!(!waiter.join().unwrap().success());
    for child in &mut others {
        assert!(child.try_wait().unwrap().is_none(), "it is none of ours");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
