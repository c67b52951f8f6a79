//! What a run has used of the machine, told without a lab and with one.

use std::fs;

use serde_json::{Value, json};

use crate::support::{LabProcess, run, text};

const ID: &str = "r-000001";

#[test]
fn the_command_line_and_a_lab_tell_the_same_use() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let dir = data.join("runs").join(ID);
    fs::create_dir_all(&dir).unwrap();
    let beat = |place: u32| {
        let gpu = json!({ "percent": 40.0, "memory_bytes": 3 << 20 });
        json!({ "attempt": 1, "t": 1_700_000_000.25 + 5.0 * f64::from(place), "type": "heartbeat",
            "cpu_percent": 150.4, "rss_bytes": (1 << 20) + place,
            "gpu": if place == 1 { gpu } else { Value::Null } })
    };
    let lines: String = (0..30).map(|place| format!("{}\n", beat(place))).collect();
    fs::write(dir.join("supervisor.jsonl"), lines).unwrap();
    let manifest = json!({ "format": 1, "id": ID, "kind": "train", "name": "a run",
        "env_id": "CartPole-v1", "config": {}, "created_at": 1.0, "cartridge_version": "0" });
    fs::write(dir.join("run.json"), manifest.to_string()).unwrap();

    let metrics =
        |more: &[&str]| run(data, &[&["metrics", ID, "--resources", "--data", "."], more].concat());
    let said = text(&metrics(&["--tail", "0", "--json"]).stdout);
    let said: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(said.len(), 30);
    let shown = text(&metrics(&[]).stdout);
    assert_eq!(shown.lines().count(), 10, "{shown}");
    let shown = text(&metrics(&["--tail", "29"]).stdout);
    let first = "2023-11-14T22:13:25.250Z  150% CPU  1.0 MiB  40% GPU  3.0 MiB on GPUs";
    assert_eq!(shown.lines().next(), Some(first));
    let refused = metrics(&["--keys", "train/loss"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    let unknown = run(data, &["metrics", "r-999999", "--resources", "--data", "."]);
    assert_eq!(unknown.status.code(), Some(3), "{}", text(&unknown.stderr));

    let lab = LabProcess::start(data, 0);
    let (status, told) = lab.get(&format!("/api/runs/{ID}/resources"));
    assert_eq!(status, 200);
    for column in ["t", "cpu_percent", "memory_bytes", "gpu_percent", "gpu_memory_bytes"] {
        let rows: Vec<&Value> = said.iter().map(|row| &row[column]).collect();
        assert_eq!(told[column], json!(rows), "{column}");
    }
}
