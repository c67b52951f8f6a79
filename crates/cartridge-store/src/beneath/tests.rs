use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

/// A folder with a secret beside it and every way out of it that we know.
fn folder() -> TempDir {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("run");
    fs::create_dir_all(inner.join("videos/a")).unwrap();
    fs::write(inner.join("videos/a/0.mp4"), b"film").unwrap();
    fs::write(outer.path().join("secret"), b"secret").unwrap();
    symlink("../secret", inner.join("to-secret.mp4")).unwrap();
    symlink("/etc", inner.join("etc")).unwrap();
    symlink("..", inner.join("up")).unwrap();
    symlink("videos", inner.join("films")).unwrap();
    symlink("/proc/self/environ", inner.join("environ.mp4")).unwrap();
    fs::hard_link(outer.path().join("secret"), inner.join("hard.mp4")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        inner.join("pipe.mp4"),
        FileType::Fifo,
        Mode::RUSR | Mode::WUSR,
        0,
    )
    .unwrap();
    outer
}

#[test]
fn a_file_below_is_opened() {
    let outer = folder();
    let beneath = Beneath::open(&outer.path().join("run")).unwrap();
    let mut text = String::new();
    beneath.file("videos/a/0.mp4").unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "film");
    let names: Vec<_> =
        beneath.entries().unwrap().into_iter().map(|entry| (entry.name, entry.kind)).collect();
    assert!(names.contains(&("videos".to_owned(), EntryKind::Folder)), "{names:?}");
    assert!(names.contains(&("hard.mp4".to_owned(), EntryKind::Foreign)), "{names:?}");
    assert!(names.contains(&("pipe.mp4".to_owned(), EntryKind::Foreign)), "{names:?}");
    assert!(names.contains(&("up".to_owned(), EntryKind::Link)), "{names:?}");
}

#[test]
fn nothing_outside_is_opened_or_removed() {
    let outer = folder();
    let beneath = Beneath::open(&outer.path().join("run")).unwrap();
    let absolute = outer.path().join("secret").display().to_string();
    for path in [
        "../secret",
        "videos/../../secret",
        "videos/a/../../../secret",
        "./videos/a/0.mp4",
        "videos//a/0.mp4",
        "/etc/passwd",
        "//etc/passwd",
        &absolute,
        "..\\secret",
        "videos\\..\\..\\secret",
        "C:\\Windows\\win.ini",
        "%2e%2e/secret",
        "%252e%252e/secret",
        "..%5csecret",
        ";/../secret",
        "videos/a/0.mp4\0.txt",
        "\u{c0}\u{ae}\u{c0}\u{ae}/secret",
        "",
        ".",
        "..",
        "videos/",
        "to-secret.mp4",
        "etc/passwd",
        "up/secret",
        "films/a/0.mp4",
        "environ.mp4",
        "hard.mp4",
        "pipe.mp4",
        "videos",
        "videos/a/0.mp4/x",
    ] {
        assert!(beneath.file(path).is_err(), "{path:?} was opened");
    }
    for path in ["../secret", "up/secret", "etc/passwd", &absolute, "films/a", "", ".."] {
        assert!(
            beneath.remove(path).is_err() || outer.path().join("secret").exists(),
            "{path:?} was removed"
        );
    }
    assert_eq!(fs::read(outer.path().join("secret")).unwrap(), b"secret");
    assert!(outer.path().join("run/videos/a/0.mp4").exists());
}

#[test]
fn a_folder_is_removed_with_its_links_and_not_with_their_targets() {
    let outer = folder();
    let run = outer.path().join("run");
    symlink("../../secret", run.join("videos/a/link")).unwrap();
    symlink(outer.path(), run.join("videos/a/folder")).unwrap();
    let beneath = Beneath::open(&run).unwrap();
    beneath.remove("videos").unwrap();
    assert!(!run.join("videos").exists() && !run.join(".pruned-videos").exists());
    assert!(outer.path().join("secret").exists());
    // A link itself may go.
    beneath.remove("to-secret.mp4").unwrap();
    assert!(outer.path().join("secret").exists());
    // What is gone is gone.
    beneath.remove("videos").unwrap();
}

#[test]
fn space_is_known() {
    let outer = folder();
    let (free, total) = Beneath::open(outer.path()).unwrap().space().unwrap();
    assert!(free <= total && total > 0);
}
