//! What a run has used of the machine, over HTTP.

use std::fs;

use cartridge_run::store::{RunDir, RunId};

use super::*;

/// A training of two attempts, `n` heartbeats each, with an hour between them; one of the second
/// attempt found the GPU at work.
fn run_of_two_attempts(lab: &TestLab, n: u32) -> RunId {
    let (dir, manifest) = RunDir::create(lab.state.lab.data(), |id| {
        serde_json::from_value(json!({
            "format": 1, "id": id, "kind": "train", "name": "a run", "env_id": "CartPole-v1",
            "config": {}, "created_at": 1.0, "cartridge_version": "0",
        }))
        .unwrap()
    })
    .unwrap();
    let mut lines = String::new();
    for place in 0..2 * n {
        let attempt = 1 + place / n;
        let t = f64::from(5 * place) + if attempt == 2 { 3_600.0 } else { 0.0 };
        let mut beat = json!({ "attempt": attempt, "t": t + 0.000_4, "type": "heartbeat",
            "cpu_percent": 50.04, "rss_bytes": 1_000 });
        if place == n / 2 {
            beat["cpu_percent"] = json!(800.0);
        }
        if place == n {
            beat["gpu"] = json!({ "percent": 30.0, "memory_bytes": 7 });
        }
        lines += &format!("{beat}\n");
    }
    lines += "no JSON\n{\"attempt\":2,\"t\":";
    fs::write(dir.supervisor_path(), lines).unwrap();
    while lab.state.lab.run(&manifest.id).is_err() {
        lab.state.lab.tick().unwrap();
    }
    manifest.id
}

#[tokio::test]
async fn resources_are_columns_with_gaps() {
    let lab = TestLab::new();
    let id = run_of_two_attempts(&lab, 3);
    let (status, body) = lab.ask("GET", &format!("/api/runs/{id}/resources"), None).await;
    assert_eq!(status, StatusCode::OK);
    let expected = json!({
        "run_id": id.as_str(),
        "t": [0.0, 5.0, 10.0, 1_812.5, 3_615.0, 3_620.0, 3_625.0],
        "cpu_percent": [50.0, 800.0, 50.0, null, 50.0, 50.0, 50.0],
        "memory_bytes": [1_000, 1_000, 1_000, null, 1_000, 1_000, 1_000],
        "gpu_percent": [null, null, null, null, 30.0, null, null],
        "gpu_memory_bytes": [null, null, null, null, 7, null, null],
    });
    assert_eq!(body, expected);
    let stretch = format!("/api/runs/{id}/resources?from=5&to=3620");
    let (_, part) = lab.ask("GET", &stretch, None).await;
    assert_eq!(part["t"], json!([5.0, 10.0, 1_812.5, 3_615.0]));
    let (_, none) = lab.ask("GET", &format!("/api/runs/{id}/resources?from=4000"), None).await;
    assert_eq!((&none["t"], &none["cpu_percent"]), (&json!([]), &json!([])));
}

#[tokio::test]
async fn a_long_run_has_no_more_rows_than_asked_for() {
    let lab = TestLab::new();
    let id = run_of_two_attempts(&lab, 10_000);
    let ask = async |query: &str| {
        let (_, body) = lab.ask("GET", &format!("/api/runs/{id}/resources?{query}"), None).await;
        body["cpu_percent"].as_array().unwrap().clone()
    };
    for (query, most) in [("", 500), ("points=40", 40), ("points=1", 2), ("points=99999", 10_000)] {
        let rows = ask(query).await;
        assert!(rows.len() <= most && 2 * rows.len() > most, "{query}: {}", rows.len());
        assert!(rows.contains(&json!(800.0)), "{query}: the spike survives");
        assert_eq!(rows.contains(&Value::Null), most > 2, "{query}: the hour without it");
    }
}

#[tokio::test]
async fn who_asks_wrongly_for_resources_is_told() {
    let lab = TestLab::new();
    let id = run_of_two_attempts(&lab, 1);
    check_problem(
        lab.ask("GET", "/api/runs/r-000000/resources", None).await,
        (404, "no_such_run", &[]),
    );
    for (query, field) in [("points=many", "/points"), ("from=now", "/from"), ("tail=2", "/tail")] {
        let path = format!("/api/runs/{id}/resources?{query}");
        check_problem(lab.ask("GET", &path, None).await, (422, "invalid_field", &[field]));
    }
}
