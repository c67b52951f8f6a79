use cartridge_store::DataDir;
use serde_json::{Value, json};

use super::*;

fn by() -> By<'static> {
    By::new("ada")
}

fn check_refused(changes: &Value, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let error = change(&data, changes.as_object().unwrap(), by()).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
    assert!(!folder.path().join("lab.json").exists(), "nothing is written");
    assert_eq!(audit::newest(&data, 99).unwrap().len(), 0);
}

#[test]
fn changes_are_laid_over_what_is_there_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let file = folder.path().join("lab.json");
    std::fs::write(&file, r#"{"server":{"allowed_origins":["https://lab.example"]}}"#).unwrap();
    let changes = json!({
        "retention": { "keep_videos": null, "max_bytes": 5_000_000_000_u64 },
        "prices": { "currency": "EUR", "cpu_core_hour": 0.04 },
        "links": { "grafana": "https://grafana.example/d/lab?var-run={run_id}" },
    });
    let made = change(&data, changes.as_object().unwrap(), by()).unwrap();
    assert_eq!(made, LabConfig::read(&data).unwrap());
    assert_eq!(made.retention.keep_videos, None);
    assert_eq!(made.retention.keep_checkpoints, Some(5), "what is left out stays");
    assert_eq!(made.server.allowed_origins, ["https://lab.example"]);
    let lines = audit::newest(&data, 99).unwrap();
    let line = lines.last().unwrap();
    assert_eq!((line.what, line.target.as_str()), (Deed::Configure, "lab.json"));
    assert_eq!(line.old["retention.keep_videos"], 3);
    assert_eq!(line.new["prices.currency"], "EUR");
    // The same again changes nothing, and nothing is recorded.
    change(&data, changes.as_object().unwrap(), by()).unwrap();
    assert_eq!(audit::newest(&data, 99).unwrap().len(), lines.len());
}

#[test]
fn what_makes_no_sense_is_refused() {
    check_refused(&json!({ "retention": { "keep_videos": -1 } }), "below 0");
    check_refused(&json!({ "retention": { "keep_videos": "many" } }), "retention.keep_videos");
    check_refused(&json!({ "retention": { "keep_vidoes": 1 } }), "keep_videos");
    check_refused(&json!({ "links": { "loki": "javascript:alert(1)" } }), "https://");
    check_refused(&json!({ "prices": 3 }), "settings by name");
}

#[test]
fn who_is_told_and_who_is_answered_is_not_for_tokens() {
    check_refused(&json!({ "alerts": { "webhook": { "url": "http://a" } } }), "api_p95_ms");
    check_refused(&json!({ "server": { "allowed_origins": ["http://a"] } }), "retention, alerts");
}

#[test]
fn assignments_are_read_by_section() {
    let mut changes = Map::new();
    for text in ["prices.cpu_core_hour=0.04", "retention.keep_videos=null", "prices.currency=EUR"] {
        parse_into(&mut changes, text).unwrap();
    }
    let expected = json!({
        "prices": { "cpu_core_hour": 0.04, "currency": "EUR" },
        "retention": { "keep_videos": null },
    });
    assert_eq!(Value::Object(changes), expected);
}
