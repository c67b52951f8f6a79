//! Trainers that `lab.json` names: started over HTTP and by the command line, under the real binary.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{LabProcess, cartridge, events, lines, result, run, text};

/// Names trainers for the data folder below `folder`.
fn name(folder: &Path, trainers: &Value) -> std::path::PathBuf {
    let data = folder.join("data");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("lab.json"), json!({ "trainers": trainers }).to_string()).unwrap();
    data
}

/// The example in Python, and a program that says its arguments, each in a line.
fn examples() -> Value {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/examples"));
    json!({
        "corridor": {
            "title": "Corridor",
            "env_id": "Corridor-v0",
            "command": ["python3", "minimal_trainer.py", "--delay", "0"],
            "folder": folder.canonicalize().unwrap(),
            "arguments": {
                "steps": { "type": "integer", "default": 300, "minimum": 1, "maximum": 100000 },
            },
        },
        "echo": {
            "env_id": ["a", "b"],
            "command": ["sh", "-c", "pwd; echo $WORD; printf '%s\\n' \"$@\"", "sh"],
            "arguments": {
                "tag": { "type": "string" },
                "loud": { "type": "boolean" },
            },
            "environment": { "WORD": "kept" },
        },
        "missing": { "env_id": "x", "command": ["/no/such/trainer"] },
        "nowhere": { "env_id": "x", "command": ["sh"], "folder": "/no/such/folder" },
    })
}

#[test]
fn a_named_trainer_runs_as_exec_runs_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = name(folder.path(), &examples());
    let lab = LabProcess::start(&data, 0);
    let (status, list) = lab.get("/api/trainers");
    assert_eq!((status, &list["trainers"][0]["title"]), (200, &json!("Corridor")));
    let body = json!({ "arguments": { "steps": 500 }, "seed": 7, "name": "first steps" });
    let (status, made) = lab.post("/api/trainers/corridor/runs", &body);
    assert_eq!(status, 201, "{made}");
    let id = made["id"].as_str().unwrap();
    let ended = lab.wait_for_run(id, "its end", |run| run["ended_at"].is_string());
    assert_eq!((&ended["state"], &ended["name"]), (&json!("succeeded"), &json!("first steps")));
    assert_eq!((&ended["algorithm"], &ended["seed"]), (&json!("q-learning"), &json!(7)));
    assert!((500..1000).contains(&ended["step"].as_u64().unwrap()), "{ended}");
    assert_eq!(
        (&ended["trainer_id"], &ended["env_id"]),
        (&json!("corridor"), &json!("Corridor-v0"))
    );
    assert_eq!(events(&data, id, "done")[0]["reason"], "completed");
    let (_, config) = lab.get(&format!("/api/runs/{id}/config"));
    assert_eq!(config["arguments"], json!({ "steps": 500 }));

    // The same by the command line, in the queue of the same lab.
    let args = ["exec", "--trainer", "corridor", "--arg", "steps=400", "--json"];
    let report = result(&run(folder.path(), &args));
    assert_eq!(report["state"], "succeeded", "{report}");
    assert!((400..900).contains(&report["steps"].as_u64().unwrap()), "{report}");
    assert_eq!(lab.interrupt(), Some(0));
}

#[test]
fn what_is_asked_is_a_word_and_nothing_more() {
    let folder = tempfile::tempdir().unwrap();
    let data = name(folder.path(), &examples());
    let lab = LabProcess::start(&data, 0);
    let hostile = "--x'; touch \"$(pwd)/hacked\"; $(id) `id`";
    let body = json!({ "arguments": { "tag": hostile, "loud": false }, "env_id": "b" });
    let (status, made) = lab.post("/api/trainers/echo/runs", &body);
    assert_eq!(status, 201, "{made}");
    let id = made["id"].as_str().unwrap();
    lab.wait_for_run(id, "its end", |run| run["state"] == "succeeded");
    let log = fs::read_to_string(data.join("runs").join(id).join("log.txt")).unwrap();
    let said: Vec<&str> = log.lines().collect();
    let here = data.canonicalize().unwrap().display().to_string();
    let tag = format!("--tag={hostile}");
    assert_eq!(said, [&here, "kept", &tag, "--no-loud"], "each in a line of its own");
    assert!(!data.join("hacked").exists());
}

#[test]
fn a_program_that_cannot_be_started_is_a_run_that_failed_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let data = name(folder.path(), &examples());
    let lab = LabProcess::start(&data, 0);
    for (trainer, reason) in
        [("missing", "/no/such/trainer"), ("nowhere", "there is no folder /no/such/folder")]
    {
        let (status, made) = lab.post(&format!("/api/trainers/{trainer}/runs"), &json!({}));
        assert_eq!(status, 201, "{made}");
        let id = made["id"].as_str().unwrap();
        let failed = lab.wait_for_run(id, "its end", |run| run["state"] == "failed");
        let log = failed["failure"]["log"].to_string();
        assert!(log.contains(reason), "{failed}");
        assert_eq!(lines(&data, id, "supervisor.jsonl").pop().unwrap()["type"], "exited");
    }
}

#[test]
fn the_command_line_lists_them_and_says_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let data = name(folder.path(), &examples());
    let listed = run(folder.path(), &["trainers"]);
    let expected = "corridor  Corridor  (Corridor-v0)\n  steps  integer from 1 to 100000, 300 unless \
                    given\necho  echo  (a, b)\n  tag   string\n  loud  true or false\nmissing  missing  \
                    (x)\nnowhere  nowhere  (x)\n";
    assert_eq!(text(&listed.stdout), expected);
    let listed = text(&run(folder.path(), &["trainers", "--json"]).stdout);
    let first: Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    assert_eq!(first["arguments"][0]["default"], 300);
    assert!(!listed.contains("minimal_trainer"), "the command is for the file");
    for (args, code, message) in [
        (vec!["--trainer", "coridor"], 3, "did you mean `corridor`?"),
        (vec!["--trainer", "corridor", "--arg", "stepz=1"], 2, "did you mean `steps`?"),
        (vec!["--trainer", "corridor", "--arg", "steps=0"], 2, "0 is below the minimum 1"),
        (vec!["--trainer", "corridor", "--", "sh"], 2, "cannot be used with"),
        (vec!["--env", "x", "--arg", "a=1", "--", "sh"], 2, "cannot be used with"),
        (vec!["--", "sh"], 2, "--env"),
    ] {
        let output = run(folder.path(), &[vec!["exec"], args.clone()].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(message), "{args:?}: {said}");
    }
    assert_eq!(fs::read_dir(data.join("runs")).unwrap().count(), 0, "nothing was made");
}

#[test]
fn the_labs_key_for_wandb_is_not_a_trainers_but_a_persons_own_is() {
    const SAY: [&str; 3] = ["sh", "-c", "echo \"key: $WANDB_API_KEY.\"; echo \"home: $HOME.\""];
    let folder = tempfile::tempdir().unwrap();
    let data = name(folder.path(), &json!({ "say": { "env_id": "x", "command": SAY } }));
    let home = std::env::var("HOME").unwrap();
    let said = |id: &str| fs::read_to_string(data.join("runs").join(id).join("log.txt")).unwrap();

    // By hand, where there is no lab.
    let exec = cartridge(&["exec", "--env", "x", "--json", "--data"])
        .arg(&data)
        .arg("--")
        .args(SAY)
        .env("WANDB_API_KEY", "a-persons-own")
        .output()
        .unwrap();
    let id = result(&exec)["run_id"].as_str().unwrap().to_owned();
    assert!(said(&id).contains("key: a-persons-own."), "{}", said(&id));

    let mut command = cartridge(&["up", "--port", "0", "--data"]);
    command.arg(&data).env("WANDB_API_KEY", "the-labs-own");
    let lab = LabProcess::start_by(command, &data);
    let (status, made) = lab.post("/api/trainers/say/runs", &json!({}));
    assert_eq!(status, 201, "{made}");
    let id = made["id"].as_str().unwrap();
    lab.wait_for_run(id, "its end", |run| run["ended_at"].is_string());
    assert!(said(id).contains("key: ."), "{}", said(id));
    assert!(said(id).contains(&format!("home: {home}.")), "it has the rest: {}", said(id));

    // By hand again, and the lab starts it: the address comes along, and the key stays behind.
    let exec = cartridge(&["exec", "--env", "x", "--json", "--data"])
        .arg(&data)
        .args(["--", "sh", "-c", "echo \"$WANDB_BASE_URL:$WANDB_API_KEY.\""])
        .env("WANDB_API_KEY", "left-behind")
        .env("WANDB_BASE_URL", "http://there")
        .output()
        .unwrap();
    let warned = text(&exec.stderr);
    assert!(warned.contains("without the WANDB_API_KEY of this shell"), "{warned}");
    let id = result(&exec)["run_id"].as_str().unwrap().to_owned();
    assert!(said(&id).contains("http://there:."), "{}", said(&id));
    drop(lab);
    let mut found = Vec::new();
    crate::security::grep(&data, &["the-labs-own", "left-behind"], &mut found);
    assert!(found.is_empty(), "{found:?}");
}
