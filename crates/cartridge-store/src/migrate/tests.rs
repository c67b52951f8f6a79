use super::*;
use crate::data_dir::DataDir;

/// A made-up past: format 0 kept the names of runs in `names.txt`, one per line, and format 1 in
/// upper case; format 2 keeps each in a file.
const MADE_UP: &[Step] = &[
    Step {
        from: 0,
        touches: |_| Ok(vec![PathBuf::from("names.txt")]),
        apply: |data| {
            let path = data.join("names.txt");
            let text = fs::read_to_string(&path).map_err(StoreError::io(&path))?;
            write_beside(&path, text.to_uppercase().as_bytes())
        },
    },
    Step {
        from: 1,
        touches: |_| Ok(vec![PathBuf::from("names.txt"), PathBuf::from("runs/kept")]),
        apply: |data| {
            let path = data.join("names.txt");
            let text = fs::read_to_string(&path).map_err(StoreError::io(&path))?;
            text.lines().try_for_each(|name| write_beside(&data.join(name), b""))
        },
    },
];

fn old_data() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("runs")).unwrap();
    fs::write(folder.path().join("runs/kept"), "kept").unwrap();
    fs::write(folder.path().join("format"), "0\n").unwrap();
    fs::write(folder.path().join("names.txt"), "ada\nbob\n").unwrap();
    folder
}

fn backups(data: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(data.join("backup")).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

#[test]
fn older_data_is_brought_up_to_date_after_a_backup() {
    let folder = old_data();
    migrate(folder.path(), 0, 2, MADE_UP).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("format")).unwrap(), "2\n");
    assert!(folder.path().join("ADA").exists() && folder.path().join("BOB").exists());
    let [first, second] = &backups(folder.path())[..] else { panic!("one backup per step") };
    let name = first.file_name().unwrap().to_str().unwrap();
    assert!(name.strip_prefix("0-").unwrap().parse::<u64>().unwrap() > 1_700_000_000, "{name}");
    assert_eq!(fs::read_to_string(first.join("names.txt")).unwrap(), "ada\nbob\n");
    assert_eq!(fs::read_to_string(second.join("names.txt")).unwrap(), "ADA\nBOB\n");
    assert_eq!(fs::read_to_string(second.join("runs/kept")).unwrap(), "kept");
}

#[test]
fn a_step_that_fails_can_be_taken_again() {
    let folder = old_data();
    // The second step cannot write where a folder is in the way.
    fs::create_dir_all(folder.path().join("BOB/in the way")).unwrap();
    migrate(folder.path(), 0, 2, MADE_UP).unwrap_err();
    assert_eq!(fs::read_to_string(folder.path().join("format")).unwrap(), "1\n");
    fs::remove_dir_all(folder.path().join("BOB")).unwrap();
    migrate(folder.path(), 1, 2, MADE_UP).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("format")).unwrap(), "2\n");
    assert_eq!(backups(folder.path()).len(), 3, "every try has its own");
}

#[test]
fn nothing_is_changed_under_a_lab_or_without_a_backup() {
    let folder = old_data();
    let lab = File::create(folder.path().join("lab.lock")).unwrap();
    lab.lock().unwrap();
    assert!(matches!(migrate(folder.path(), 0, 2, MADE_UP), Err(StoreError::InUse(_))));
    drop(lab);
    fs::write(folder.path().join("backup"), "in the way").unwrap();
    migrate(folder.path(), 0, 2, MADE_UP).unwrap_err();
    assert_eq!(fs::read_to_string(folder.path().join("names.txt")).unwrap(), "ada\nbob\n");
    assert_eq!(fs::read_to_string(folder.path().join("format")).unwrap(), "0\n");
}

#[test]
fn data_that_is_too_old_is_refused_politely() {
    let folder = old_data();
    for opened in [DataDir::open(folder.path()), DataDir::open_existing(folder.path())] {
        let message = opened.unwrap_err().to_string();
        assert!(message.contains("has format 0") && message.contains("hint:"), "{message}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("format")).unwrap(), "0\n");
}
