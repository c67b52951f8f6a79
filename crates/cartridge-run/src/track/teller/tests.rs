use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex, mpsc};

use cartridge_store::jsonl::Appender;
use cartridge_store::{DataDir, Episodes, MetricLine};

use super::*;
use crate::lab::held;

const KEY: &str = "0123456789abcdef0123456789abcdef01234567";

/// A server that keeps lines by their offsets, and before that answers as it was told.
#[derive(Clone, Default)]
struct Server {
    base_url: String,
    /// What is answered first, in order: a status with headers, and whether what was asked is done.
    moods: Arc<Mutex<Vec<(&'static str, bool)>>>,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    history: Vec<String>,
    summary: Option<String>,
    exit_code: Option<i64>,
    n_requests: usize,
    storage_ids: Vec<Value>,
}

impl Server {
    fn start(moods: &[(&'static str, bool)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { base_url, ..Self::default() };
        *held(&server.moods) = moods.iter().rev().copied().collect();
        let own = server.clone();
        thread::spawn(move || {
            for socket in listener.incoming() {
                let mut socket = socket.unwrap();
                let mut reader = BufReader::new(socket.try_clone().unwrap());
                let (mut head, mut n_bytes) = (String::new(), 0);
                while reader.read_line(&mut head).unwrap() > 2 {
                    let last = head.lines().last().unwrap_or_default().to_lowercase();
                    if let Some(n) = last.strip_prefix("content-length:") {
                        n_bytes = n.trim().parse().unwrap();
                    }
                }
                let mut body = vec![0; n_bytes];
                reader.read_exact(&mut body).unwrap();
                let mood = held(&own.moods).pop();
                let done = match mood {
                    Some((_, false)) => String::new(),
                    _ => own.answer(&head, &serde_json::from_slice(&body).unwrap()),
                };
                held(&own.kept).n_requests += 1;
                let (status, text) = match mood {
                    None | Some(("", _)) => ("200 OK", done),
                    Some((status, _)) => (status, String::new()),
                };
                let head = format!(
                    "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    text.len()
                );
                _ = socket.write_all((head + &text).as_bytes());
            }
        });
        server
    }

    fn answer(&self, head: &str, body: &Value) -> String {
        let mut kept = held(&self.kept);
        assert!(head.contains("Basic "), "{head}");
        let said = if !head.starts_with("POST /graphql") {
            assert!(head.starts_with("POST /files/me/lab/r-1/file_stream"), "{head}");
            if let Some(chunk) = body["files"].get("wandb-history.jsonl") {
                let offset = usize::try_from(chunk["offset"].as_u64().unwrap()).unwrap();
                assert!(offset <= kept.history.len(), "a gap before line {offset}");
                kept.history.truncate(offset);
                let lines = chunk["content"].as_array().unwrap().iter();
                kept.history.extend(lines.map(|line| line.as_str().unwrap().to_owned()));
                let summary = &body["files"]["wandb-summary.json"]["content"][0];
                kept.summary = Some(summary.as_str().unwrap().to_owned());
            }
            kept.exit_code = body["exitcode"].as_i64().or(kept.exit_code);
            json!({})
        } else if body["query"].as_str().unwrap().starts_with("query RunResumeStatus") {
            let n_lines = kept.history.len();
            let bucket = match kept.storage_ids.is_empty() {
                true => Value::Null,
                false => json!({ "id": "storage", "historyLineCount": n_lines }),
            };
            json!({ "data": { "model": { "bucket": bucket } } })
        } else {
            kept.storage_ids.push(body["variables"]["id"].clone());
            let project = json!({ "name": "lab", "entity": { "name": "me" } });
            json!({ "data": { "upsertBucket": { "bucket": { "id": "storage", "project": project } } } })
        };
        said.to_string()
    }
}

/// A run with `n_rows` rows, in a folder that stays as long as the first of these.
fn run_with(n_rows: u64) -> (tempfile::TempDir, RunDir, Manifest) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let manifest = |id| {
        serde_json::from_value(json!({
            "format": Manifest::FORMAT, "id": id, "kind": "train", "name": "a run",
            "env_id": "CartPole-v1", "config": { "algo": "ppo", "env_id": "CartPole-v1" },
            "created_at": 0.0, "cartridge_version": "0",
        }))
        .unwrap()
    };
    let (dir, manifest) = RunDir::create(&data, manifest).unwrap();
    add_rows(&dir, 1, 1..=n_rows);
    (folder, dir, manifest)
}

fn add_rows(dir: &RunDir, attempt: u32, rows: std::ops::RangeInclusive<u64>) {
    let mut file = Appender::open(dir.metrics_path()).unwrap();
    for row in rows {
        let values = BTreeMap::from([("train/loss".to_owned(), Some(row as f64))]);
        let episodes = Episodes::default();
        file.append(&MetricLine { attempt, row, t: row as f64, step: 10 * row, values, episodes })
            .unwrap();
    }
}

/// Tells a server all of a run; returns whether it has everything, and what was said.
fn tell_all(
    server: &Server,
    dir: &RunDir,
    manifest: &Manifest,
    patience: Duration,
) -> (bool, Vec<Told>) {
    let track = Track {
        base_url: server.base_url.clone(),
        entity: None,
        project: "lab".to_owned(),
        id: "r-1".to_owned(),
        window_steps: 25,
    };
    let (tell, news) = mpsc::channel();
    let (end, ended) = mpsc::channel();
    end.send(0).unwrap();
    let teller = Teller::new(RunDir::new(dir.path()), manifest, track, KEY, tell);
    let is_complete = teller.run(&ended, patience);
    (is_complete, news.try_iter().collect())
}

fn warnings(told: &[Told]) -> Vec<&str> {
    let mut said = Vec::new();
    for told in told {
        if let Told::Warning(warning) = told {
            said.push(warning.as_str());
        }
    }
    said
}

#[track_caller]
fn check_kept(server: &Server, n_rows: u64) {
    let kept = held(&server.kept);
    let steps: Vec<u64> = kept
        .history
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["global_step"].as_u64().unwrap())
        .collect();
    assert_eq!(steps, (1..=n_rows).map(|row| 10 * row).collect::<Vec<_>>());
    let summary: Value = serde_json::from_str(kept.summary.as_deref().unwrap()).unwrap();
    assert_eq!(summary["train/loss"], n_rows as f64);
}

#[test]
fn all_of_a_run_is_told_with_its_end() {
    let server = Server::start(&[]);
    let (_folder, dir, manifest) = run_with(30_000);
    let (is_complete, told) = tell_all(&server, &dir, &manifest, Duration::from_secs(30));
    assert!(is_complete);
    check_kept(&server, 30_000);
    assert_eq!(held(&server.kept).exit_code, Some(0));
    let url = format!("{}/me/lab/runs/r-1", server.base_url);
    assert!(matches!(&told[..], [Told::Page(page)] if page.url == url), "{told:?}");
    // It took several posts, each of about a megabyte.
    assert!((4..20).contains(&held(&server.kept).n_requests));
}

#[track_caller]
fn check_faults(moods: &[(&'static str, bool)], n_warnings: usize) {
    let server = Server::start(moods);
    let (_folder, dir, manifest) = run_with(100);
    let (is_complete, told) = tell_all(&server, &dir, &manifest, Duration::from_secs(60));
    assert!(is_complete, "{told:?}");
    check_kept(&server, 100);
    assert!(held(&server.moods).is_empty());
    // Each kind of trouble once.
    let said = warnings(&told);
    assert_eq!(said.len(), n_warnings, "{said:?}");
    assert!(said.iter().all(|warning| !warning.contains(KEY)));
}

#[test]
fn faults_lose_nothing_and_double_nothing() {
    const PASS: (&str, bool) = ("", true);
    // While it is asked what it has, and told who the run is.
    check_faults(&[("503 Away\r\nretry-after: 0.1", false), PASS, ("200 OK", true)], 2);
    // Before it has taken the rows.
    check_faults(&[PASS, PASS, ("503 Away\r\nretry-after: 0.1", false)], 1);
    // After it has taken them, and so often that it is asked again what it has.
    let moods = [
        PASS,
        PASS,
        ("429 Enough\r\nretry-after: 0.1", true),
        ("500 Broken\r\nretry-after: 0.1", true),
        ("302 Found\r\nlocation: http://127.0.0.1:9/\r\nretry-after: 0.1", false),
        PASS,
        PASS,
        ("503 Away\r\nretry-after: 0.1", true),
    ];
    check_faults(&moods, 2);
}

#[test]
fn a_run_goes_on_where_the_server_stands() {
    let server = Server::start(&[]);
    let (_folder, dir, manifest) = run_with(50);
    assert!(tell_all(&server, &dir, &manifest, Duration::from_secs(30)).0);
    // Rows 41 to 50 are written anew.
    add_rows(&dir, 2, 41..=80);
    assert!(tell_all(&server, &dir, &manifest, Duration::from_secs(30)).0);
    check_kept(&server, 80);
    assert_eq!(held(&server.kept).storage_ids, [Value::Null, json!("storage")]);
}

#[test]
fn a_key_that_is_refused_is_said_once() {
    let server = Server::start(&[("401 Unauthorized", false), ("401 Unauthorized", false)]);
    let (_folder, dir, manifest) = run_with(5);
    let began = Instant::now();
    let (is_complete, told) = tell_all(&server, &dir, &manifest, Duration::from_secs(30));
    let said = warnings(&told);
    assert!(!is_complete && said.len() == 1, "{said:?}");
    assert!(said[0].contains("WANDB_API_KEY") && said[0].contains("cartridge track"), "{said:?}");
    assert_eq!(held(&server.kept).n_requests, 1);
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_server_that_is_away_is_waited_for_so_long() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    let server = Server { base_url, ..Server::default() };
    let (_folder, dir, manifest) = run_with(5);
    let began = Instant::now();
    let (is_complete, told) = tell_all(&server, &dir, &manifest, Duration::from_secs(2));
    assert!(!is_complete && began.elapsed() < Duration::from_secs(8));
    let said = warnings(&told);
    assert!(said[0].contains("cannot be reached"), "{said:?}");
    let rest = format!("cartridge track {}", manifest.id);
    assert!(said.last().unwrap().contains(&rest), "{said:?}");
}
