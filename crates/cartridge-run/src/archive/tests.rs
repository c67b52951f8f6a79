use std::fs;
use std::process::Command;

use super::*;

#[test]
fn tar_reads_what_we_write() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("in/a/rather/long/path/so/that").join("x".repeat(90));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("long.bin"), vec![7; 1000]).unwrap();
    fs::write(folder.path().join("in/empty"), b"").unwrap();
    fs::write(folder.path().join("in/block"), vec![1; 512]).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("in/link")).unwrap();
    let mut bytes = Vec::new();
    let beneath = Beneath::open(&folder.path().join("in")).unwrap();
    write(&beneath, &mut |piece| {
        bytes.extend_from_slice(piece);
        true
    })
    .unwrap();
    fs::write(folder.path().join("a.tar"), &bytes).unwrap();
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    let status = Command::new("tar").arg("xf").arg("../a.tar").current_dir(&out).status().unwrap();
    assert!(status.success());
    assert_eq!(fs::read(out.join("block")).unwrap(), vec![1; 512]);
    assert_eq!(fs::read(out.join("empty")).unwrap(), b"");
    let long = out.join("a/rather/long/path/so/that").join("x".repeat(90)).join("long.bin");
    assert_eq!(fs::read(long).unwrap(), vec![7; 1000]);
    assert!(!out.join("link").exists());
}
