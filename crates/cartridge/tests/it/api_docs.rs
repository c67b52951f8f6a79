//! The examples of `docs/api.md`, run by a shell against a lab.

use std::process::Command;

use crate::support::LabProcess;

/// The blocks that are marked to be run, in order, as one script.
fn examples() -> String {
    let text = std::fs::read_to_string("../../docs/api.md").unwrap();
    let mut script = String::new();
    let mut is_inside = false;
    for line in text.lines() {
        match line {
            "```sh" => is_inside = true,
            "```" => is_inside = false,
            line if is_inside => {
                script.push_str(line);
                script.push('\n');
            }
            _ => {}
        }
    }
    script
}

#[test]
fn every_example_works_as_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(&folder.path().join("data"), 0);
    let script = examples().replace("http://127.0.0.1:8080", &lab.address);
    assert!(script.matches("curl").count() > 10, "{script}");
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_cartridge")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-x", "-c", &script])
        .current_dir(folder.path())
        .env("PATH", path)
        .env_remove("CARTRIDGE_TOKEN")
        .env_remove("CARTRIDGE_DATA")
        .output()
        .unwrap();
    let (said, told) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{told}");
    assert!(said.contains("HTTP/1.1 101 Switching Protocols"), "{said}");
    assert!(said.contains("\"code\":\"role_too_low\""), "{said}");
    assert!(said.contains("\"pointer\":\"/model_b\""), "{said}");
    assert!(said.contains("event: "), "{said}");
    assert_eq!(lab.interrupt(), Some(0));
}
