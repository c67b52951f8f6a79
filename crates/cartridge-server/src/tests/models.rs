//! Named models over HTTP; `cartridge/tests/it/arena.rs` has those of real trainings.

use super::artifacts::{bytes, ended_run, fetch};
use super::*;

#[tokio::test]
async fn an_onnx_file_of_a_run_is_kept_named_and_served() {
    let lab = TestLab::new();
    let onnx = include_bytes!("../../../cartridge-learn/src/onnx/recorded/sb3_dqn_cartpole.onnx");
    let (id, folder) = ended_run(&lab, &[("policy.onnx", onnx), ("log.onnx.txt", b"x")]);
    let (_, list) = lab.ask("GET", &format!("/api/runs/{id}/artifacts"), None).await;
    let artifact = |path: &str| {
        let all = list["artifacts"].as_array().unwrap();
        let found = all.iter().find(|it| it["path"] == path);
        found.unwrap_or_else(|| panic!("{list}"))["id"].clone()
    };
    let new = |name: &str| json!({ "name": name, "run_id": id.as_str(), "artifact_id": artifact("policy.onnx") });
    let add = |body: Value| lab.ask("POST", "/api/models", Some(body));
    let (status, made) = add(new("pole")).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    assert_eq!(made["env_id"], "CartPole-v1");
    assert_eq!(made["aliases"], json!({ "latest": 1 }));
    assert_eq!(made["usual"]["player"], "model:pole@1");
    std::fs::remove_dir_all(folder).unwrap();

    let path = made["usual"]["files"][0]["href"].as_str().unwrap();
    let whole = fetch(&lab, path, None).await;
    let tag = whole.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(whole.headers()["accept-ranges"], "bytes");
    assert_eq!(bytes(whole).await, onnx);
    let part = fetch(&lab, "/api/models/pole/latest/policy.onnx", Some(("range", "bytes=1-3")));
    let part = part.await;
    assert_eq!(part.status(), StatusCode::PARTIAL_CONTENT);
    assert_eq!(bytes(part).await, onnx[1..4]);
    let same = fetch(&lab, path, Some(("if-none-match", &tag))).await;
    assert_eq!(same.status(), StatusCode::NOT_MODIFIED);
    let weights = lab.ask("GET", "/api/models/pole/1/weights.safetensors", None).await;
    check_problem(weights, (404, "no_such_version", &[]));

    let alias = |alias: &str, version: u32| {
        let body = json!({ "alias": alias, "version": version });
        lab.ask("POST", "/api/models/pole/aliases", Some(body))
    };
    let (status, best) = alias("best", 1).await;
    assert_eq!((status, &best["aliases"]["best"]), (StatusCode::OK, &json!(1)));
    check_problem(alias("best", 2).await, (404, "no_such_version", &[]));
    check_problem(alias("latest", 1).await, (422, "invalid_config", &["/alias"]));

    let names = async |query: &str| {
        let (status, page) = lab.ask("GET", &format!("/api/models{query}"), None).await;
        assert_eq!(status, StatusCode::OK, "{page}");
        let names = page["models"].as_array().unwrap().iter().map(|it| it["name"].clone());
        names.collect::<Vec<Value>>()
    };
    assert_eq!(names("").await, ["pole"]);
    assert_eq!(names("?env=CartPole-v1").await, ["pole"]);
    assert_eq!(names("?env=MountainCar-v0").await, Vec::<Value>::new());
    assert_eq!(names("?after=pole").await, Vec::<Value>::new());
    let (status, gone) = lab.ask("DELETE", "/api/models/pole", None).await;
    assert_eq!((status, &gone["archived"]), (StatusCode::OK, &json!(true)));
    assert_eq!(names("").await, Vec::<Value>::new());
    assert_eq!(names("?archived=true").await, ["pole"]);
    let (status, back) = lab.ask("POST", "/api/models/pole/unarchive", None).await;
    assert_eq!((status, &back["archived"]), (StatusCode::OK, &json!(false)));
    assert_eq!(names("").await, ["pole"]);
    let (_, audit) = lab.ask("GET", "/api/audit", None).await;
    let deeds: Vec<&str> = audit["lines"]
        .as_array()
        .unwrap_or_else(|| panic!("{audit}"))
        .iter()
        .filter(|it| it["target"] == "model:pole")
        .map(|it| it["what"].as_str().unwrap_or_else(|| panic!("{it}")))
        .collect();
    assert_eq!(deeds, ["create", "alias", "archive", "unarchive"]);
}

#[tokio::test]
async fn bad_models_are_problems() {
    let lab = TestLab::new();
    let (id, _) = ended_run(&lab, &[("page.html", b"x")]);
    let add = |body: Value| lab.ask("POST", "/api/models", Some(body));
    let new = |name: &str, more: (&str, Value)| {
        let mut body = json!({ "name": name, "run_id": id.as_str() });
        body[more.0] = more.1;
        body
    };
    check_problem(add(json!({ "name": "a" })).await, (422, "invalid_field", &["/run_id"]));
    check_problem(
        add(new("a", ("path", json!("/etc/passwd")))).await,
        (422, "invalid_field", &["/path"]),
    );
    check_problem(
        add(new("../a", ("notes", json!("")))).await,
        (422, "invalid_config", &["/name"]),
    );
    check_problem(add(new("a", ("notes", json!("")))).await, (404, "no_checkpoint", &[]));
    check_problem(
        add(new("a", ("artifact_id", json!("a-00000000")))).await,
        (404, "no_such_artifact", &[]),
    );
    let both = json!({ "name": "a", "run_id": id.as_str(), "step": 1, "checkpoint": "best" });
    check_problem(add(both).await, (422, "invalid_config", &["/checkpoint"]));
    for path in ["/api/models/pole", "/api/models/..%2ftoken", "/api/models/pole/1/policy.onnx"] {
        check_problem(lab.ask("GET", path, None).await, (404, "no_such_model", &[]));
    }
}
