//! Alerts over HTTP and in the live feed.

use std::fs;

use cartridge_run::alert::watch::{Latency, Watch};
use cartridge_run::clock::unix_now;
use cartridge_run::store::RunDir;

use super::*;

/// A run that has just failed, and the lab has looked.
fn lab_with_alert() -> (TestLab, String) {
    let lab = TestLab::new();
    let (dir, manifest) = RunDir::create(lab.state.lab.data(), |id| {
        serde_json::from_value(json!({
            "format": 1, "id": id, "kind": "train", "name": "a run", "env_id": "CartPole-v1",
            "config": {}, "created_at": 1.0, "cartridge_version": "0",
        }))
        .unwrap()
    })
    .unwrap();
    let t = unix_now();
    let lines = [
        json!({ "attempt": 1, "t": t, "type": "started", "supervisor_pid": 1, "trainer_pid": 2 }),
        json!({ "attempt": 1, "t": t, "type": "exited", "code": 1, "signal": null, "log": [] }),
    ];
    fs::write(dir.supervisor_path(), lines.map(|line| format!("{line}\n")).concat()).unwrap();
    while lab.state.lab.run(&manifest.id).is_err() {
        lab.state.lab.tick().unwrap();
    }
    lab.state.lab.look_for_alerts(&mut Watch::default(), Latency::default()).unwrap();
    (lab, manifest.id.to_string())
}

#[tokio::test]
async fn an_alert_is_listed_taken_note_of_and_in_the_audit() {
    let (lab, run) = lab_with_alert();
    let (status, list) = lab.ask("GET", "/api/alerts?state=firing", None).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!((&list["firing"], &list["acknowledged"]), (&json!(1), &json!(0)));
    let alert = &list["alerts"][0];
    assert_eq!((&alert["kind"], &alert["run_id"]), (&json!("run_failed"), &json!(run)));
    let id = alert["id"].as_str().unwrap();
    let address = format!("/api/alerts/{id}/acknowledge");
    let (status, alert) = lab.ask("POST", &address, None).await;
    assert_eq!((status, &alert["state"]), (StatusCode::OK, &json!("acknowledged")));
    let (_, again) = lab.ask("POST", &address, None).await;
    assert_eq!(alert, again);
    let (_, audit) = lab.ask("GET", "/api/audit", None).await;
    let line = &audit["lines"][0];
    assert_eq!((&line["what"], &line["target"]), (&json!("acknowledge"), &json!(id)), "{audit}");

    let (status, problem) = lab.ask("POST", "/api/alerts/al-99/acknowledge", None).await;
    assert_eq!((status, &problem["code"]), (StatusCode::NOT_FOUND, &json!("no_such_alert")));
    let (status, _) = lab.ask("GET", "/api/alerts?state=loud", None).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    // It is over when the run is gone, and then there is nothing to take note of.
    lab.ask("DELETE", &format!("/api/runs/{run}"), None).await;
    lab.state.lab.tick().unwrap();
    lab.state.lab.look_for_alerts(&mut Watch::default(), Latency::default()).unwrap();
    let (status, problem) = lab.ask("POST", &address, None).await;
    assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("alert_over")));
}

#[tokio::test]
async fn readers_of_the_feed_hear_of_alerts() {
    let (lab, run) = lab_with_alert();
    let messages = lab.state.lab.tick().unwrap().messages;
    let words: Vec<Value> = messages
        .iter()
        .map(|message| serde_json::to_value(api::stream::FeedMessage::from(message)).unwrap())
        .collect();
    let alert = words.iter().find(|message| message["type"] == "AlertTriggered").unwrap();
    assert_eq!(alert["alert"]["run_id"], run);
}
