//! What runs have made, over HTTP: by id only, and only what is theirs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use cartridge_run::store::jsonl::Appender;
use cartridge_run::store::{
    EpisodeHead, EpisodeWriter, RunDir, RunId, StepRecord, SupervisorEvent, SupervisorLine,
};

use super::*;

/// A run that has ended and left files.
pub(super) fn ended_run(lab: &TestLab, files: &[(&str, &[u8])]) -> (RunId, PathBuf) {
    let (dir, manifest) = RunDir::create(lab.state.lab.data(), |id| {
        serde_json::from_value(json!({
            "format": 1, "id": id, "kind": "train", "name": "a run", "env_id": "CartPole-v1",
            "config": {}, "created_at": 1.0, "cartridge_version": "0",
        }))
        .unwrap()
    })
    .unwrap();
    for (path, content) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let event = SupervisorEvent::Exited {
        code: Some(1),
        signal: None,
        forced: false,
        log: Vec::new(),
        reason: None,
        lines: None,
    };
    let mut supervisor = Appender::open(dir.supervisor_path()).unwrap();
    supervisor.append(&SupervisorLine { attempt: 1, t: 2.0, event }).unwrap();
    drop(supervisor);
    // The lab looks for runs that others made once a second.
    while lab.state.lab.run(&manifest.id).is_err() {
        lab.state.lab.tick().unwrap();
    }
    (manifest.id, dir.path().to_owned())
}

pub(super) async fn fetch(lab: &TestLab, path: &str, header: Option<(&str, &str)>) -> Response {
    let mut request = bare("GET", path).header("authorization", format!("Bearer {TOKEN}"));
    if let Some((name, value)) = header {
        request = request.header(name, value);
    }
    lab.send(request.body(Body::empty()).unwrap()).await
}

pub(super) async fn bytes(response: Response) -> Vec<u8> {
    response.into_body().collect().await.unwrap().to_bytes().to_vec()
}

#[tokio::test]
async fn artifacts_are_listed_and_served_by_id_in_parts_and_whole() {
    let lab = TestLab::new();
    let film: Vec<u8> = (0..1_000_000_u32).map(|n| n as u8).collect();
    let (id, _) = ended_run(
        &lab,
        &[
            ("videos/a/0.mp4", &film),
            ("videos/a/<img onerror>.mp4", b"x"),
            ("page.html", b"<script>alert(1)</script>"),
            ("checkpoints/step_000000100/weights.safetensors", b"w"),
        ],
    );
    let (status, list) = lab.ask("GET", &format!("/api/runs/{id}/artifacts"), None).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(list["complete"], true);
    let kept: Vec<&str> = list["kept"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kept| kept["text"].as_str().unwrap())
        .collect();
    assert_eq!(kept, ["2 of 2 kept", "1 of 1 kept", "1 of 1 kept"]);
    let address = |path: &str| {
        let all = list["artifacts"].as_array().unwrap();
        let one = all.iter().find(|artifact| artifact["path"] == path).unwrap();
        format!("/api/runs/{id}/artifacts/{}", one["id"].as_str().unwrap())
    };

    let response = fetch(&lab, &address("videos/a/0.mp4"), None).await;
    let header = |response: &Response, name: &str| {
        response.headers().get(name).map(|value| value.to_str().unwrap().to_owned())
    };
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(header(&response, "content-type").unwrap(), "video/mp4");
    assert_eq!(header(&response, "content-length").unwrap(), "1000000");
    assert_eq!(header(&response, "accept-ranges").unwrap(), "bytes");
    assert_eq!(header(&response, "x-content-type-options").unwrap(), "nosniff");
    assert!(header(&response, "content-security-policy").unwrap().starts_with("sandbox;"));
    assert_eq!(header(&response, "content-disposition").unwrap(), "inline; filename=\"0.mp4\"");
    let tag = header(&response, "etag").unwrap();
    assert_eq!(bytes(response).await, film);

    let address_of_film = address("videos/a/0.mp4");
    let response = fetch(&lab, &address_of_film, Some(("range", "bytes=999990-"))).await;
    assert_eq!(response.status(), StatusCode::PARTIAL_CONTENT);
    assert_eq!(header(&response, "content-range").unwrap(), "bytes 999990-999999/1000000");
    assert_eq!(bytes(response).await, film[999_990..]);
    let response = fetch(&lab, &address_of_film, Some(("range", "bytes=1000000-"))).await;
    assert_eq!(response.status(), StatusCode::RANGE_NOT_SATISFIABLE);
    let response = fetch(&lab, &address_of_film, Some(("if-none-match", &tag))).await;
    assert_eq!(response.status(), StatusCode::NOT_MODIFIED);

    // What a browser could run is never shown as a page.
    let response = fetch(&lab, &address("page.html"), None).await;
    assert_eq!(header(&response, "content-type").unwrap(), "application/octet-stream");
    assert_eq!(
        header(&response, "content-disposition").unwrap(),
        "attachment; filename=\"page.html\""
    );
    let response = fetch(&lab, &address("videos/a/<img onerror>.mp4"), None).await;
    let disposition = header(&response, "content-disposition").unwrap();
    assert_eq!(disposition, "inline; filename=\"_img_onerror_.mp4\"");
    // A folder comes as an archive.
    let response = fetch(&lab, &address("checkpoints/step_000000100"), None).await;
    assert_eq!(header(&response, "content-type").unwrap(), "application/x-tar");
    let archive = bytes(response).await;
    assert!(archive.starts_with(b"weights.safetensors\0") && archive.len() == 4 * 512);
}

#[tokio::test]
async fn no_address_reads_what_is_no_artifact() {
    let lab = TestLab::new();
    let (id, folder) = ended_run(&lab, &[("videos/a/0.mp4", b"film"), ("videos/a/1.mp4", b"film")]);
    for attack in [
        "..",
        "../..",
        "../../../token",
        "..%2f..%2f..%2ftoken",
        "%2e%2e%2f%2e%2e%2ftoken",
        "%252e%252e%252ftoken",
        "..%5c..%5ctoken",
        "..\\..\\token",
        "a-12345678;/../token",
        "%2fetc%2fpasswd",
        "%2f%2fetc%2fpasswd",
        "/etc/passwd",
        "videos%2fa%2f0.mp4",
        "a-12345678%00",
        "%c0%ae%c0%ae%c0%aftoken",
        "C:%5cWindows%5cwin.ini",
        "%2fproc%2fself%2fenviron",
        "a-00000000",
        "run.json",
        "a-%2e%2e%2f%2e%2e",
    ] {
        let path = format!("/api/runs/{id}/artifacts/{attack}");
        // Some are no addresses at all.
        let Ok(request) = bare("GET", &path)
            .header("authorization", format!("Bearer {TOKEN}"))
            .body(Body::empty())
        else {
            continue;
        };
        let response = lab.send(request).await;
        let status = response.status();
        assert!(
            status == StatusCode::NOT_FOUND || status == StatusCode::BAD_REQUEST,
            "{attack} answered {status}"
        );
    }
    let (_, list) = lab.ask("GET", &format!("/api/runs/{id}/artifacts"), None).await;
    let address = |n: usize| {
        format!("/api/runs/{id}/artifacts/{}", list["artifacts"][n]["id"].as_str().unwrap())
    };
    // A file that has been swapped for a link, or got a second name, is served no more.
    let secret = folder.join("../../token-of-a-test");
    fs::write(&secret, b"secret").unwrap();
    fs::remove_file(folder.join("videos/a/0.mp4")).unwrap();
    symlink(&secret, folder.join("videos/a/0.mp4")).unwrap();
    fs::remove_file(folder.join("videos/a/1.mp4")).unwrap();
    fs::hard_link(&secret, folder.join("videos/a/1.mp4")).unwrap();
    for n in [0, 1] {
        assert_eq!(fetch(&lab, &address(n), None).await.status(), StatusCode::NOT_FOUND);
    }
    // So is one below a folder that has been swapped.
    fs::rename(folder.join("videos/a"), folder.join("away")).unwrap();
    symlink("../away", folder.join("videos/a")).unwrap();
    assert_eq!(fetch(&lab, &address(0), None).await.status(), StatusCode::NOT_FOUND);
    // The id of one run opens nothing in another.
    let (other, _) = ended_run(&lab, &[]);
    let foreign = list["artifacts"][0]["id"].as_str().unwrap();
    let response = fetch(&lab, &format!("/api/runs/{other}/artifacts/{foreign}"), None).await;
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn room_is_shown_and_made_first_as_a_dry_run() {
    let lab = TestLab::new();
    let films: Vec<(String, Vec<u8>)> =
        (0..5).map(|n| (format!("videos/a/{n}.mp4"), vec![n; 100])).collect();
    let files: Vec<(&str, &[u8])> =
        films.iter().map(|(path, content)| (path.as_str(), content.as_slice())).collect();
    let (id, _) = ended_run(&lab, &files);
    lab.state.lab.look_at(&id).unwrap();
    let (_, storage) = lab.ask("GET", "/api/storage", None).await;
    assert_eq!(storage["kinds"][0]["text"], "5 of 5 kept", "{storage}");
    assert_eq!(storage["limits"]["keep_videos"], 3);
    let tidy = async |dry_run: bool| {
        lab.ask("POST", "/api/retention/run", Some(json!({ "dry_run": dry_run }))).await.1
    };
    let planned = tidy(true).await;
    assert_eq!(planned["freed_bytes"], 200, "{planned}");
    let done = tidy(false).await;
    assert_eq!(done["artifacts"], planned["artifacts"]);
    let (_, list) = lab.ask("GET", &format!("/api/runs/{id}/artifacts"), None).await;
    assert_eq!(list["kept"][0]["text"], "3 of 5 kept");
    let (_, events) = lab.ask("GET", &format!("/api/runs/{id}/events"), None).await;
    let events = events["events"].as_array().unwrap();
    assert_eq!(events.iter().filter(|entry| entry["type"] == "artifact_pruned").count(), 2);
}

#[tokio::test]
async fn episodes_that_are_damaged_or_not_finite_are_told_as_such() {
    let lab = TestLab::new();
    let (id, folder) = ended_run(&lab, &[]);
    let dir = RunDir::new(&folder);
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    let mut ends = Vec::new();
    let mut rows = Appender::open(dir.metrics_path()).unwrap();
    for (episode, reward) in [(1, 5.0), (2, f64::NAN), (3, 7.0)] {
        let name = format!("e{episode}");
        for _ in 0..20 {
            let step = StepRecord {
                action: json!(1),
                reward,
                terminated: false,
                truncated: false,
                obs: None,
                t: None,
            };
            writer.step(1, &name, &step).unwrap();
        }
        let head = EpisodeHead {
            episode,
            attempt: 1,
            lane: 0,
            seed: None,
            reward,
            length: 20,
            step: 20 * episode,
            terminated: true,
            truncated: false,
            checkpoint_step: None,
            t: 1.0,
            foreign_id: Some(name),
        };
        writer.end(&head).unwrap();
        writer.sync().unwrap();
        ends.push(fs::metadata(folder.join("episodes/000001.seg")).unwrap().len() as usize);
        let reward = Some(reward).filter(|reward| reward.is_finite());
        rows.append(&json!({
            "attempt": 1, "row": episode, "t": 1.0, "step": 20 * episode, "values": {},
            "episodes": { "episode": [episode], "reward": [reward], "length": [20],
                          "timestep": [20 * episode], "seed": [null], "terminated": [true] },
        }))
        .unwrap();
    }
    drop((writer, rows));
    // Of a run that has ended, the lab looks at what its supervisor says.
    let said = fs::read(dir.supervisor_path()).unwrap();
    fs::write(dir.supervisor_path(), said.repeat(2)).unwrap();
    while lab.state.lab.run(&id).unwrap().run.status.episodes < 3 {
        lab.state.lab.tick().unwrap();
    }
    let segment = folder.join("episodes/000001.seg");
    let mut bytes = fs::read(&segment).unwrap();
    bytes[ends[1] + 80] ^= 1;
    fs::write(&segment, bytes).unwrap();

    for list in ["", "?sort=number", "?sort=return"] {
        let answer = lab.ask("GET", &format!("/api/runs/{id}/episodes{list}"), None).await.1;
        assert_eq!((&answer["damaged"], &answer["total"]), (&json!(1), &json!(3)), "{list}");
        let rewards: Vec<&Value> =
            answer["episodes"].as_array().unwrap().iter().map(|e| &e["reward"]).collect();
        // The third is marked, and nothing is said of the others.
        for row in answer["episodes"].as_array().unwrap() {
            let expected = if row["episode"] == 3 { json!(true) } else { Value::Null };
            assert_eq!(row["damaged"], expected, "{list}: {row}");
        }
        let seeds = answer["episodes"].as_array().unwrap().iter().map(|e| &e["seed"]);
        assert!(seeds.clone().all(Value::is_null) && seeds.count() == 3, "{answer}");
        let expected = match list {
            "?sort=return" => [json!(7.0), json!(5.0), Value::Null],
            _ => [json!(5.0), Value::Null, json!(7.0)],
        };
        assert_eq!(rewards, expected.iter().collect::<Vec<_>>(), "{list}");
    }
    let (status, problem) = lab.ask("GET", &format!("/api/runs/{id}/episodes/3"), None).await;
    assert_eq!((status.as_u16(), &problem["code"]), (409, &json!("damaged_episode")));
    let detail = problem["detail"].as_str().unwrap();
    assert!(
        detail.contains("episodes/000001.seg") && detail.contains("stays readable"),
        "{detail}"
    );
    let (status, replay) = lab.ask("GET", &format!("/api/runs/{id}/episodes/2"), None).await;
    assert_eq!((status.as_u16(), &replay["episode"]["reward"]), (200, &Value::Null));
    assert_eq!((&replay["steps"][0]["reward"], &replay["n_steps"]), (&Value::Null, &json!(20)));
}
