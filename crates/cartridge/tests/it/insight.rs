//! What is said of a run that was really trained, with a lab and without.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{LabProcess, cartridge, result, run, text};

/// The command line reads files and the lab its index; of the same run both say the same.
#[test]
fn a_lab_and_the_command_line_say_the_same_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let train = ["train", "CartPole-v1", "--steps", "20000", "--json", "--data", "."];
    let id = result(&run(data, &train))["run_id"].as_str().unwrap().to_owned();
    let json_of = |args: &[&str]| -> Value {
        let output = run(data, &[args, &["--json", "--data", "."]].concat());
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        result(&output)
    };
    let said = json_of(&["insights", &id]);
    let summary = json_of(&["analytics", "summary", &id]);
    let windows = json_of(&["analytics", "history", &id]);
    let window = json_of(&["analytics", "iteration", &id, "1"]);
    let report = json_of(&["report", &id]);
    assert!(said["summary"].as_str().unwrap().contains("has finished, after 100% of its steps"));
    assert_eq!(
        (&summary["window_id"], &windows["windows"][0]["window_id"]),
        (&1.into(), &1.into())
    );
    assert_eq!(json_of(&["cluster"])["jobs"]["succeeded"], 1);
    let missing = run(data, &["analytics", "iteration", &id, "2", "--data", "."]);
    assert_eq!(missing.status.code(), Some(3), "{}", text(&missing.stderr));

    let html = ["report", &id, "--format", "html", "-o", "run.html", "--data", "."];
    assert!(run(data, &html).status.success());
    let page = std::fs::read_to_string(data.join("run.html")).unwrap();
    assert!(page.contains("<svg") && !page.contains("<script"), "{page}");

    let lab = LabProcess::start(data, 0);
    let told = lab.get(&format!("/api/runs/{id}/insights")).1;
    assert_eq!((&told["summary"], &told["last_row"]), (&said["summary"], &said["last_row"]));
    let ids = |said: &Value| -> Vec<Value> {
        said["insights"].as_array().unwrap().iter().map(|insight| insight["id"].clone()).collect()
    };
    assert_eq!(ids(&told), ids(&said));
    let base = format!("/api/analytics/runs/{id}");
    let told = lab.get(&format!("{base}/summary")).1;
    assert_eq!(
        (&told["kpis"], &told["completeness"]),
        (&summary["kpis"], &summary["completeness"])
    );
    let told = lab.get(&format!("{base}/history")).1;
    assert_eq!(told["windows"], windows["windows"]);
    let told = lab.get(&format!("{base}/iterations/1")).1;
    assert_eq!(told["metrics"], window["metrics"]);
    let told = lab.get(&format!("/api/runs/{id}/report")).1;
    for part in ["config", "evaluations", "lineage", "changes", "charts", "weights_sha256"] {
        assert_eq!(told[part], report[part], "{part}");
    }
}

#[test]
fn a_log_for_programs_is_json() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let mut lab = cartridge(&["up", "--port", "0", "--log", "debug", "--log-format", "json"])
        .args(["--data", folder.path().join("data").to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let stdout = BufReader::new(lab.stdout.take().unwrap());
    let address = stdout
        .lines()
        .map_while(Result::ok)
        .find_map(|line| Some(line.split_once("http://")?.1.split_once('/')?.0.to_owned()))
        .unwrap();
    let mut socket = TcpStream::connect(&address).unwrap();
    let request = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    lab.kill().unwrap();
    lab.wait().unwrap();
    let log = std::fs::read_to_string(log).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let request = lines.iter().find(|line| line["path"] == "/healthz").unwrap();
    // The answer carries the number under which the log has it.
    let number = request["request_id"].as_str().unwrap();
    assert!(answer.contains(&format!("x-request-id: {number}")), "{answer}");
}
