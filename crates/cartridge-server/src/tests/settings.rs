use super::*;

#[tokio::test]
async fn settings_are_shown_changed_and_held_at_once() {
    let lab = TestLab::new();
    let (status, before) = lab.ask("GET", "/api/settings", None).await;
    assert_eq!((status, &before["retention"]["keep_videos"]), (StatusCode::OK, &json!(3)));
    assert_eq!(before["alerts"]["webhook"], false);
    let change = json!({
        "retention": { "keep_videos": 7 },
        "prices": { "currency": "EUR", "cpu_core_hour": 0.04 },
    });
    let (status, after) = lab.ask("PUT", "/api/settings", Some(change)).await;
    assert_eq!(status, StatusCode::OK, "{after}");
    assert_eq!(after["retention"]["keep_videos"], 7);
    assert_eq!(after["retention"]["keep_checkpoints"], before["retention"]["keep_checkpoints"]);
    let (_, cluster) = lab.ask("GET", "/api/cluster", None).await;
    assert_eq!(
        (&cluster["cost"]["currency"], &cluster["cost"]["priced"]),
        (&json!("EUR"), &json!(true))
    );
    let (_, audit) = lab.ask("GET", "/api/audit?action=configure", None).await;
    assert_eq!(audit["lines"][0]["old"]["retention.keep_videos"], 3);
    assert_eq!(audit["lines"][0]["new"]["prices.cpu_core_hour"], 0.04);
}

#[tokio::test]
async fn settings_that_make_no_sense_are_pointed_at() {
    let lab = TestLab::new();
    for (change, pointer) in [
        (json!({ "retention": { "keep_videos": -1 } }), "/retention/keep_videos"),
        (json!({ "prices": { "cpu": 1 } }), "/prices/cpu"),
        (json!({ "links": { "loki": "ftp://a" } }), "/links/loki"),
        (json!({ "alerts": { "webhook": { "url": "http://a" } } }), "/alerts/webhook"),
    ] {
        let answer = lab.ask("PUT", "/api/settings", Some(change)).await;
        check_problem(answer, (422, "invalid_field", &[pointer]));
    }
}

#[tokio::test]
async fn the_records_are_checked_on_request() {
    let lab = TestLab::new();
    let change = json!({ "prices": { "gpu_hour": 2 } });
    lab.ask("PUT", "/api/settings", Some(change)).await;
    let (status, check) = lab.ask("GET", "/api/audit/verify", None).await;
    assert_eq!(
        (status, &check["intact"], &check["bad"]),
        (StatusCode::OK, &json!(true), &json!([]))
    );
    assert_eq!(check["lines"], 1, "{check}");
    let path = lab.state.lab.data().path().join("audit.jsonl");
    let text = std::fs::read_to_string(&path).unwrap().replace("gpu_hour", "cpu_hour");
    std::fs::write(&path, text).unwrap();
    let (_, check) = lab.ask("GET", "/api/audit/verify", None).await;
    assert_eq!(check["intact"], false);
    assert_eq!(
        (&check["bad"][0]["file"], &check["bad"][0]["line"]),
        (&json!("audit.jsonl"), &json!(1))
    );
}
