use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn opens_again_what_it_made() {
    let folder = tempfile::tempdir().unwrap();
    let made = DataDir::open(folder.path().join("deep/data")).unwrap();
    assert!(made.path().is_absolute());
    assert_eq!(DataDir::open(made.path()).unwrap().path(), made.path());
    let names: Vec<_> =
        fs::read_dir(made.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "only the format and the runs: {names:?}");
}

#[test]
fn newer_data_is_refused_politely() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("format"), "2\n").unwrap();
    let message = DataDir::open(folder.path()).unwrap_err().to_string();
    assert!(message.contains("has format 2") && message.contains("hint: "), "{message}");
}

#[test]
fn a_file_in_the_way_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::write(&path, "").unwrap();
    let message = DataDir::open(&path).unwrap_err().to_string();
    assert!(message.starts_with("cannot write to the data folder"), "{message}");
    assert!(message.contains("a file is in the way"), "{message}");
}

#[test]
fn a_read_only_folder_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::create_dir_all(path.join("runs")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o500)).unwrap();
    // The superuser may write anywhere; there the refusal cannot be seen.
    if File::create(path.join("probe")).is_ok() {
        return eprintln!("skipped: the superuser may write anywhere");
    }
    let message = DataDir::open(&path).unwrap_err().to_string();
    assert!(message.contains("check its permissions"), "{message}");
}

#[test]
fn what_is_no_run_is_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    for name in ["r-0a1b2c", "r-short", "backup", ".r-0a1b2d"] {
        fs::create_dir(folder.path().join("runs").join(name)).unwrap();
    }
    assert_eq!(data.run_ids().unwrap(), ["r-0a1b2c".parse().unwrap()]);
}

#[test]
fn many_can_open_a_new_folder_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| DataDir::open(folder.path()).unwrap());
        }
    });
}

#[test]
fn what_is_only_read_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    assert!(matches!(DataDir::open_existing(&path), Err(StoreError::NoData(_))));
    assert!(!path.exists());
    DataDir::open(&path).unwrap();
    DataDir::open_existing(&path).unwrap();
}

#[test]
fn what_is_closed_to_others_stays_closed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lab.json");
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    write_beside(&path, b"1").unwrap();
    let usual = mode();
    write_beside(&path, b"2").unwrap();
    assert_eq!(mode(), usual);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    write_beside(&path, b"3").unwrap();
    assert_eq!((mode(), fs::read(&path).unwrap()), (0o600, b"3".to_vec()));
}
