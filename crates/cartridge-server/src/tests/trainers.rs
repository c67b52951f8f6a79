//! Trainers that are named in `lab.json`.

use cartridge_run::token::Role;

use super::*;

/// A lab with a trainer, whose runs are made and stay queued: their supervisor does nothing.
fn lab_with(trainers: &Value) -> TestLab {
    let folder = tempfile::tempdir().unwrap();
    let file = json!({ "trainers": trainers });
    std::fs::write(folder.path().join("lab.json"), file.to_string()).unwrap();
    TestLab::launching("/bin/true", folder, limits::Limits::default())
}

fn cem() -> Value {
    json!({ "cem": {
        "title": "Cross entropy",
        "env_id": ["CartPole-v1", "Acrobot-v1"],
        "command": ["/opt/secret/python", "/opt/secret/train.py"],
        "folder": "/opt/secret",
        "arguments": {
            "steps": { "type": "integer", "default": 30000, "minimum": 1000, "maximum": 1000000,
                "help": "Steps in all." },
            "tag": { "type": "string" },
        },
        "environment": { "WANDB_MODE": "a-secret-value" },
    } })
}

const RUNS: &str = "/api/trainers/cem/runs";

fn n_runs(lab: &TestLab) -> usize {
    lab.state.lab.data().run_ids().unwrap().len()
}

#[tokio::test]
async fn trainers_are_listed_without_what_they_stand_for() {
    let lab = lab_with(&cem());
    let viewer = lab.token(Role::Viewer, None);
    let answer = lab.ask_as(&viewer, ("GET", "/api/trainers"), None, None).await;
    let (status, list) = read(answer).await;
    assert_eq!(status, StatusCode::OK);
    insta::assert_json_snapshot!("trainers", list);
    let (_, settings) = lab.ask("GET", "/api/settings", None).await;
    for answer in [list, settings] {
        assert!(!answer.to_string().contains("secret"), "{answer}");
    }
    let (_, none) = TestLab::new().ask("GET", "/api/trainers", None).await;
    assert_eq!(none, json!({ "trainers": [] }));
}

#[tokio::test]
async fn a_trainer_is_started_by_its_name_once_and_recorded() {
    let lab = lab_with(&cem());
    let operator = lab.token(Role::Operator, None);
    let body = json!({ "arguments": { "tag": "--x; $(id)" }, "seed": 7, "max_steps": 500 });
    let post = async |key: &str| {
        lab.ask_as(&operator, ("POST", RUNS), Some(key), Some(body.clone())).await
    };
    let first = post("k1").await;
    assert_eq!(first.status(), StatusCode::CREATED);
    assert_eq!(
        first.headers()["cartridge-command"],
        "cartridge exec --trainer cem --seed 7 --max-steps 500 --arg 'tag=--x; $(id)' --detach"
    );
    let curl = first.headers()["cartridge-curl"].to_str().unwrap();
    assert!(curl.ends_with("http://127.0.0.1:8080/api/trainers/cem/runs"), "{curl}");
    let (_, first) = read(first).await;
    assert_eq!((&first["kind"], &first["trainer_id"]), (&json!("external"), &json!("cem")));
    assert_eq!(first["name"], "CartPole-v1, Cross entropy");
    let again = post("k1").await;
    assert_eq!(again.headers()["idempotent-replayed"], "true");
    assert_eq!((read(again).await.1, n_runs(&lab)), (first.clone(), 1));

    // What is started is what the file says, and what was asked is one word.
    let id = first["id"].as_str().unwrap();
    let manifest = lab.state.lab.data().run(&id.parse().unwrap()).manifest().unwrap();
    assert_eq!(
        manifest.command.unwrap(),
        ["/opt/secret/python", "/opt/secret/train.py", "--steps=30000", "--tag=--x; $(id)"]
    );
    assert_eq!(manifest.environment["WANDB_MODE"], "a-secret-value");
    assert_eq!(manifest.limits.max_steps, Some(500));
    let (_, config) = lab.ask("GET", &format!("/api/runs/{id}/config"), None).await;
    assert_eq!(config["arguments"], json!({ "steps": 30000, "tag": "--x; $(id)" }));
    assert_eq!((&config["trainer_id"], &config["command"]), (&json!("cem"), &Value::Null));

    let lines = lab.audit();
    let line = lines.iter().find(|line| line.target == id).unwrap();
    assert_eq!((line.what.as_str(), line.role), ("create", Some(Role::Operator)));
    assert_eq!(
        (&line.new["trainer_id"], &line.new["arguments"]["steps"]),
        (&json!("cem"), &json!(30000))
    );
    assert_eq!(line.request.as_deref(), Some("k1"));
    // Another key is another run.
    assert_eq!(post("k2").await.status(), StatusCode::CREATED);
    assert_eq!(n_runs(&lab), 2);
}

#[tokio::test]
async fn what_is_wrong_is_pointed_at_and_nothing_is_made() {
    let lab = lab_with(&cem());
    for (body, pointer, detail) in [
        (json!({ "arguments": { "stepz": 1 } }), "/arguments/stepz", "did you mean `steps`?"),
        (json!({ "arguments": { "steps": 1 } }), "/arguments/steps", "below the minimum 1000"),
        (json!({ "arguments": { "tag": "a\u{1b}b" } }), "/arguments/tag", "control characters"),
        (json!({ "arguments": { "command": "sh" } }), "/arguments/command", "steps, tag"),
        (json!({ "arguments": [] }), "/arguments", "expected a map"),
        (json!({ "env_id": "CartPole-v0" }), "/env_id", "did you mean `CartPole-v1`?"),
        (json!({ "name": "a\nb" }), "/name", "control characters"),
        (json!({ "max_seconds": 0 }), "/max_seconds", "not above 0"),
        (json!({ "max_steps": 0 }), "/max_steps", "not above 0"),
        (json!({ "restarts": 1001 }), "/restarts", "above 1000"),
        // Whatever would say what is started, or where, is unknown here.
        (json!({ "command": ["sh", "-c", "id"] }), "/command", "unknown field `command`"),
        (json!({ "folder": "/" }), "/folder", "unknown field `folder`"),
        (json!({ "environment": { "PATH": "/tmp" } }), "/environment", "unknown field"),
    ] {
        let answer = lab.ask("POST", RUNS, Some(body)).await;
        let said = answer.1["detail"].as_str().unwrap().to_owned();
        assert!(said.contains(detail), "{said}");
        check_problem(answer, (422, "invalid_field", &[pointer]));
    }
    let unknown = lab.ask("POST", "/api/trainers/cen/runs", Some(json!({}))).await;
    assert!(unknown.1["detail"].as_str().unwrap().contains("did you mean `cem`?"));
    check_problem(unknown, (404, "no_such_trainer", &[]));
    let viewer = lab.token(Role::Viewer, None);
    let refused = lab.ask_as(&viewer, ("POST", RUNS), Some("v"), Some(json!({}))).await;
    check_problem(read(refused).await, (403, "role_too_low", &[]));
    // They are for whoever can write the file, also for admins.
    let change = lab.ask("PUT", "/api/settings", Some(json!({ "trainers": {} }))).await;
    assert_eq!(change.0, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(n_runs(&lab), 0);
}

#[tokio::test]
async fn a_file_that_is_wrong_is_said_with_its_place() {
    let lab = lab_with(&cem());
    let mut wrong = cem();
    wrong["cem"]["arguments"]["steps"]["default"] = json!(1);
    let path = lab.state.lab.data().path().join("lab.json");
    std::fs::write(path, json!({ "trainers": wrong }).to_string()).unwrap();
    let asked = [("GET", "/api/trainers", None), ("POST", RUNS, Some(json!({})))];
    for (method, path, body) in asked {
        let answer = lab.ask(method, path, body).await;
        let pointer = "/trainers/cem/arguments/steps/default";
        check_problem(answer, (422, "invalid_config", &[pointer]));
    }
    assert_eq!(n_runs(&lab), 0);
}
