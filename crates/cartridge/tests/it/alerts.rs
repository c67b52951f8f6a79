//! Alerts of a real lab: a run that fails, a person who takes note, and another program that is told.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};

use crate::support::{LabProcess, result, run, text, wait_for};

/// A program that hears of alerts, on a port of its own.
fn receiver() -> (u16, mpsc::Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let socket = socket.unwrap();
            let mut reader = BufReader::new(&socket);
            let mut n_bytes = 0;
            let mut line = String::new();
            while reader.read_line(&mut line).unwrap() > 2 {
                if let Some(length) = line.to_lowercase().strip_prefix("content-length:") {
                    n_bytes = length.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; n_bytes];
            reader.read_exact(&mut body).unwrap();
            let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
            (&socket).write_all(answer).unwrap();
            if sender.send(serde_json::from_slice(&body).unwrap()).is_err() {
                return;
            }
        }
    });
    (port, receiver)
}

#[test]
fn a_failed_run_is_told_to_everybody_and_outlives_the_lab() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let (port, told) = receiver();
    let host = "127.0.0.1";
    let config = json!({ "alerts": {
        "disk_free_bytes": null,
        "webhook": { "url": format!("http://{host}:{port}/"), "allow_hosts": [host], "allow_private_hosts": [host] },
    } });
    let lab = LabProcess::start(data, 0);
    fs::write(data.join("lab.json"), config.to_string()).unwrap();
    let failed = run(data, &["exec", "--env", "CartPole-v1", "--data", ".", "--", "false"]);
    assert_eq!(failed.status.code(), Some(1), "{}", text(&failed.stderr));
    let news = told.recv().unwrap();
    assert_eq!(
        (&news["type"], &news["alert"]["kind"], &news["alert"]["state"]),
        (&json!("AlertTriggered"), &json!("run_failed"), &json!("firing"))
    );
    let id = news["alert"]["id"].as_str().unwrap().to_owned();
    let (status, list) = lab.get("/api/alerts?state=firing");
    assert_eq!((status, &list["alerts"][0]), (200, &news["alert"]));
    lab.kill();

    // Nobody is at work on the folder, and a person takes note.
    let noted = result(&run(data, &["alerts", "ack", &id, "--json", "--data", "."]));
    assert_eq!(noted["state"], "acknowledged");
    let listed = run(data, &["alerts", "list", "--data", "."]);
    assert!(text(&listed.stdout).contains("acknowledged"), "{}", text(&listed.stdout));
    let missing = run(data, &["alerts", "ack", "al-99", "--data", "."]);
    assert_eq!(missing.status.code(), Some(3), "{}", text(&missing.stderr));

    let lab = LabProcess::start(data, 0);
    let (_, list) = lab.get("/api/alerts");
    assert_eq!((&list["firing"], &list["acknowledged"]), (&json!(0), &json!(1)));
    let run_id = news["alert"]["run_id"].as_str().unwrap();
    assert!(run(data, &["archive", run_id, "--data", "."]).status.success());
    let over = wait_for("the end of the alert", || {
        told.try_iter().find(|news| news["alert"]["state"] == "resolved")
    });
    assert_eq!(over["type"], "AlertChanged");
    assert_eq!(over["alert"]["resolved_reason"], "the run was archived");
}
