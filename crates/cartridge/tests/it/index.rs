//! The index as users meet it: made anew, and over a disk that takes no more.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{LabProcess, cartridge, result, run, text, wait_for};

const ID: &str = "r-0a0a0a";

/// A run folder as a trainer would leave it, with `n` metric rows.
fn make_run(data: &Path, n: u64) {
    let dir = data.join("runs").join(ID);
    fs::create_dir_all(&dir).unwrap();
    let manifest = json!({ "format": 1, "id": ID, "kind": "train", "name": "a run",
        "env_id": "CartPole-v1", "config": {}, "created_at": 1.0, "cartridge_version": "0" });
    let ended = "{\"attempt\":1,\"t\":1.0,\"type\":\"started\",\"supervisor_pid\":1,\"trainer_pid\":2}\n\
                 {\"attempt\":1,\"t\":2.0,\"type\":\"exited\",\"code\":1,\"signal\":null,\"log\":[]}\n";
    fs::write(dir.join("supervisor.jsonl"), ended).unwrap();
    let row = |row: u64| {
        let values = json!({ "train/loss": 1.0 / row as f64, "rollout/ep_rew_mean": row });
        json!({ "attempt": 1, "row": row, "t": row, "step": row, "values": values })
    };
    let lines: String = (1..=n).map(|n| format!("{}\n", row(n))).collect();
    fs::write(dir.join("metrics.jsonl"), lines).unwrap();
    // Last, as always: a folder without a manifest is no run yet.
    fs::write(dir.join("run.json"), manifest.to_string()).unwrap();
}

fn last_row(lab: &LabProcess) -> Option<u64> {
    lab.get(&format!("/api/runs/{ID}/metrics?points=2")).1["last_row"].as_u64()
}

#[test]
fn reindex_makes_the_index_anew_and_waits_for_no_lab() {
    let folder = tempfile::tempdir().unwrap();
    make_run(folder.path(), 3_000);
    let lab = LabProcess::start(folder.path(), 0);
    wait_for("the rows", || (last_row(&lab) == Some(3_000)).then_some(()));
    let path = format!("/api/runs/{ID}/metrics");
    let before = lab.get(&path).1;
    let refused = run(folder.path(), &["reindex", "--data", "."]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(text(&refused.stderr).contains(&lab.address), "{}", text(&refused.stderr));
    let position = lab.stream(None).next().unwrap().0;
    lab.interrupt();

    let done = run(folder.path(), &["reindex", "--data", ".", "--json"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(result(&done), json!({ "runs": 1, "left_out": [] }));
    let lab = LabProcess::start(folder.path(), 0);
    assert_eq!(lab.get(&path).1, before);
    // Numbers of the old index mean nothing in the new one.
    let (_, first) = lab.stream(Some(position)).next().unwrap();
    assert_eq!((&first["type"], &first["reset"]), (&json!("Snapshot"), &json!(true)));

    let nothing = run(folder.path(), &["reindex", "--data", "nowhere"]);
    assert_eq!(nothing.status.code(), Some(3));
}

#[test]
fn a_disk_that_is_full_is_said_once_and_survived() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let log = folder.path().join("log");
    let program = cartridge(&[]).get_program().to_owned();
    // Files may not grow beyond a limit, which is how a full disk looks without being root.
    let mut child = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$0\" up --port 0 --data \"$1\""])
        .args([program.as_os_str(), data.as_os_str()])
        .env_remove("CARTRIDGE_TOKEN")
        .env("NO_COLOR", "1")
        .stdout(Stdio::null())
        .stderr(fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let limit = |bytes: &str| {
        let pid = child.id().to_string();
        let size = format!("--fsize={bytes}:");
        let set = Command::new("prlimit").args(["--pid", &pid, &size]).status().unwrap();
        assert!(set.success());
    };
    let address = wait_for("the lab", || {
        let text = fs::read_to_string(data.join("lab.lock")).ok()?;
        Some(text.lines().next()?.to_owned())
    });
    let token = fs::read_to_string(data.join("token")).unwrap();
    let rows_known = || {
        let path = format!("{address}/api/runs/{ID}/metrics?points=2");
        let request = crate::support::agent()
            .get(path)
            .header("authorization", format!("Bearer {}", token.trim()));
        let body: Value = request.call().unwrap().body_mut().read_json().unwrap_or_default();
        body["last_row"].as_u64()
    };
    let said = |what: &str| fs::read_to_string(&log).unwrap().matches(what).count();
    limit("300000");
    make_run(&data, 100_000);
    wait_for("the complaint", || (said("cannot take in the runs") > 0).then_some(()));
    assert_ne!(rows_known(), Some(100_000), "it answers, with what it has");
    limit("unlimited");
    wait_for("the rows", || (rows_known() == Some(100_000)).then_some(()));
    wait_for("the relief", || (said("the runs are taken in again") == 1).then_some(()));
    assert_eq!(said("cannot take in the runs"), 1, "{}", fs::read_to_string(&log).unwrap());
    child.kill().unwrap();
    child.wait().unwrap();
}
