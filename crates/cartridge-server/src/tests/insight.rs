//! What the numbers of runs say, over HTTP.

use std::fs;

use cartridge_run::store::{RunDir, RunId};

use super::*;

/// A Cart Pole that has ended, with 200 updates of 1,000 steps and two episodes each that return
/// what the curve says, and a heartbeat.
fn run_with_curve(lab: &TestLab, curve: impl Fn(u64) -> f64) -> RunId {
    let (dir, manifest) = RunDir::create(lab.state.lab.data(), |id| {
        serde_json::from_value(json!({
            "format": 1, "id": id, "kind": "train", "name": "a <b>run</b>", "env_id": "CartPole-v1",
            "config": {
                "env": {}, "algo": "ppo", "trainer": { "total_timesteps": 200_000 },
                "analytics": { "window_steps": 50_000 },
            },
            "created_at": 1.0, "cartridge_version": "0",
        }))
        .unwrap()
    })
    .unwrap();
    let mut lines = String::new();
    for row in 1..=200_u64 {
        let value = curve(row);
        lines += &json!({
            "attempt": 1, "row": row, "t": row, "step": 1_000 * row,
            "values": {
                "rollout/ep_rew_mean": value, "time/fps": 1_000.0, "train/approx_kl": 0.01,
                "episode/profit": 2.0 * value,
            },
            "episodes": {
                "episode": [2 * row - 1, 2 * row], "reward": [value, value], "length": [500, 500],
                "timestep": [1_000 * row, 1_000 * row], "seed": [1, 2], "terminated": [true, true],
            },
        })
        .to_string();
        lines += "\n";
    }
    fs::write(dir.metrics_path(), lines).unwrap();
    let supervisor = [
        json!({ "attempt": 1, "t": 1.0, "type": "started", "supervisor_pid": 1, "trainer_pid": 2 }),
        json!({ "attempt": 1, "t": 200.0, "type": "exited", "code": 0, "signal": null, "log": [] }),
    ];
    let supervisor = supervisor.map(|line| format!("{line}\n")).concat();
    fs::write(dir.supervisor_path(), supervisor).unwrap();
    let done = json!({
        "attempt": 1, "t": 199.0, "type": "done", "reason": "completed", "step": 200_000,
    });
    fs::write(dir.events_path(), format!("{done}\n")).unwrap();
    while lab.state.lab.run(&manifest.id).is_err() {
        lab.state.lab.tick().unwrap();
    }
    manifest.id
}

#[tokio::test]
async fn insights_have_sentences_and_evidence() {
    let lab = TestLab::new();
    let good = run_with_curve(&lab, |row| (5 * row).min(499) as f64);
    let (status, said) = lab.ask("GET", &format!("/api/runs/{good}/insights"), None).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(said["last_row"], 200);
    let first = &said["insights"][0];
    assert_eq!(first["text"], "Agent has converged on a stable strategy");
    assert_eq!(first["evidence"]["metric"], "rollout/ep_rew_mean");
    assert_eq!(first["evidence"]["numbers"]["solved"], 475.0);
    // The same again comes from what was said before.
    let (_, again) = lab.ask("GET", &format!("/api/runs/{good}/insights"), None).await;
    assert_eq!(said, again);

    let stuck = run_with_curve(&lab, |_| 25.0);
    let address = format!("/api/runs/{stuck}/insights?plain=true");
    let (_, said) = lab.ask("GET", &address, None).await;
    let first = &said["insights"][0];
    assert_eq!(first["sentence"], "Training may be stuck, try different learning rate");
    assert_eq!(first["text"], first["plain"]);

    let (status, _) = lab.ask("GET", "/api/runs/r-000000/insights", None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_report_is_a_page_of_its_own() {
    let lab = TestLab::new();
    let id = run_with_curve(&lab, |row| row as f64);
    let (status, report) = lab.ask("GET", &format!("/api/runs/{id}/report"), None).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!((&report["run_id"], &report["state"]), (&json!(id.as_str()), &json!("succeeded")));
    assert_eq!(report["charts"][0]["key"], "rollout/ep_rew_mean");
    let address = format!("/api/runs/{id}/report?format=html");
    let request = bare("GET", &address).header("authorization", format!("Bearer {TOKEN}"));
    let response = lab.send(request.body(Body::empty()).unwrap()).await;
    let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'") && policy.contains("sandbox"), "{policy}");
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let page = String::from_utf8(bytes.to_vec()).unwrap();
    assert!(page.contains("a &lt;b&gt;run&lt;/b&gt;") && page.contains("<svg"), "{page}");
}

#[tokio::test]
async fn runs_are_told_in_windows() {
    let lab = TestLab::new();
    let id = run_with_curve(&lab, |row| row as f64);
    let (_, runs) = lab.ask("GET", "/api/analytics/runs?limit=10", None).await;
    assert_eq!(runs["runs"][0]["run_id"], id.as_str());
    let base = format!("/api/analytics/runs/{id}");
    let (_, summary) = lab.ask("GET", &format!("{base}/summary"), None).await;
    assert_eq!((&summary["window_id"], &summary["window_steps"]), (&json!(4), &json!(50_000)));
    let kpi = |name: &str| {
        let kpis = summary["kpis"].as_array().unwrap();
        kpis.iter().find(|kpi| kpi["name"] == name).unwrap()["value"].clone()
    };
    assert_eq!(
        (kpi("return"), kpi("profit"), kpi("survival")),
        (json!(200.0), json!(400.0), json!(null))
    );
    let states: Vec<&Value> =
        summary["completeness"].as_array().unwrap().iter().map(|it| &it["state"]).collect();
    assert_eq!(states, ["ok", "missing", "ok", "ok"]);

    let (_, history) = lab.ask("GET", &format!("{base}/history"), None).await;
    let means: Vec<f64> = history["windows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|window| window["figures"]["return"]["mean"].as_f64().unwrap())
        .collect();
    assert_eq!(means, [25.5, 75.5, 125.5, 175.5]);
    let (_, newest) = lab.ask("GET", &format!("{base}/iterations?limit=2"), None).await;
    assert_eq!(newest["windows"].as_array().unwrap().len(), 2);
    assert_eq!(newest["truncated"], true);
    let (_, third) = lab.ask("GET", &format!("{base}/iterations/3"), None).await;
    assert_eq!((&third["from_step"], &third["to_step"]), (&json!(100_001), &json!(150_000)));
    let (status, problem) = lab.ask("GET", &format!("{base}/iterations/9"), None).await;
    assert_eq!((status, &problem["code"]), (StatusCode::NOT_FOUND, &json!("no_such_window")));
}

#[tokio::test]
async fn what_is_at_work_is_shown_with_links_and_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let config = json!({
        "links": { "grafana": "https://grafana.example/d/lab?var-run={run_id}" },
        "prices": { "currency": "EUR", "cpu_core_hour": 0.05 },
    });
    DataDir::open(folder.path()).unwrap();
    fs::write(folder.path().join("lab.json"), config.to_string()).unwrap();
    let lab = TestLab::over(folder);
    run_with_curve(&lab, |row| row as f64);
    let (status, cluster) = lab.ask("GET", "/api/cluster", None).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(cluster["jobs"]["succeeded"], 1);
    assert_eq!(cluster["pods"][0]["kind"], "lab");
    assert_eq!(
        cluster["cost"],
        json!({ "currency": "EUR", "per_hour": 0.0, "so_far": 0.0, "priced": true })
    );
    let (_, links) = lab.ask("GET", "/api/links?run_id=r-000000", None).await;
    let url = "https://grafana.example/d/lab?var-run=r-000000";
    assert_eq!(links, json!({ "links": [{ "tool": "grafana", "url": url }] }));
}

#[tokio::test]
async fn metrics_are_for_those_with_a_token() {
    let lab = TestLab::new();
    run_with_curve(&lab, |row| row as f64);
    let response = lab.send(bare("GET", "/metrics").body(Body::empty()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    let request = bare("GET", "/metrics").header("authorization", format!("Bearer {TOKEN}"));
    let response = lab.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::OK);
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    for line in [
        "cartridge_build_info{version=\"0.0.0\"} 1",
        "cartridge_runs{state=\"succeeded\"} 1",
        "# TYPE cartridge_http_request_duration_seconds histogram",
        "cartridge_http_request_duration_seconds_count{method=\"GET\",route=\"/metrics\",status=\"401\"} 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}
