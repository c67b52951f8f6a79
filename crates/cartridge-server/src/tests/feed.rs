//! The live feeds: what a reader hears, whenever it comes and however slow it is.

use std::io::Write as _;
use std::time::Duration;

use cartridge_run::lab::FeedPage;
use cartridge_run::store::{Manifest, RunDir};
use futures_util::StreamExt as _;
use tokio::time::timeout;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use super::*;

/// Nothing in these tests takes longer.
const LONG: Duration = Duration::from_secs(30);

impl TestLab {
    /// A lab with trainings of CartPole that nobody trains: the tests write their files.
    pub(super) fn with_runs<const N: usize>() -> (Self, [(RunDir, String); N]) {
        Self::with_runs_of("CartPole-v1")
    }

    /// The same of another environment, or of a game.
    pub(super) fn with_runs_of<const N: usize>(env_id: &str) -> (Self, [(RunDir, String); N]) {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path()).unwrap();
        let config = json!({ "env": {}, "algo": "ppo", "trainer": { "total_timesteps": 1000 } });
        let runs = [(); N].map(|()| {
            let manifest = |id| -> Manifest {
                let manifest = json!({ "format": 1, "id": id, "kind": "train", "name": "a run",
                    "env_id": env_id, "config": config, "created_at": 1.0,
                    "cartridge_version": "0.0.0" });
                serde_json::from_value(manifest).unwrap()
            };
            let (dir, manifest) = RunDir::create(&data, manifest).unwrap();
            append(&dir.supervisor_path(), started());
            (dir, manifest.id.to_string())
        });
        (Self::over(folder), runs)
    }

    /// Takes in the files and tells the readers.
    fn tick(&self) -> FeedPage {
        let page = self.state.lab.tick().unwrap();
        self.state.feed.publish(page.clone());
        page
    }

    /// Opens a stream of server-sent events.
    async fn listen(&self, path: &str, last_id: Option<u64>) -> Listener {
        let mut request = bare("GET", path)
            .header("authorization", format!("Bearer {TOKEN}"))
            .header("accept", "text/event-stream");
        if let Some(id) = last_id {
            request = request.header("last-event-id", id.to_string());
        }
        let response = self.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Listener { body: response.into_body(), text: String::new() }
    }
}

struct Listener {
    body: Body,
    text: String,
}

impl Listener {
    /// The number, the type and the content of the next message.
    async fn hear(&mut self) -> (u64, String, Value) {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
                };
                let heard = field("data").map(|data| {
                    let value: Value = serde_json::from_str(data).unwrap();
                    (field("id").unwrap().parse().unwrap(), field("event").unwrap().into(), value)
                });
                self.text = rest.to_owned();
                if let Some(heard) = heard {
                    assert_eq!(heard.2["type"], heard.1);
                    return heard;
                }
                continue;
            }
            let frame = timeout(LONG, self.body.frame()).await.expect("something is said");
            let bytes = frame.expect("it goes on").unwrap().into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }

    /// Whether the stream has ended.
    async fn ends(mut self) -> bool {
        loop {
            match timeout(LONG, self.body.frame()).await.expect("something is said") {
                None => return true,
                Some(Ok(_)) => {}
                Some(Err(_)) => return false,
            }
        }
    }
}

fn append(path: &std::path::Path, text: &str) {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn started() -> &'static str {
    "{\"attempt\":1,\"t\":1.0,\"type\":\"started\",\"supervisor_pid\":1,\"trainer_pid\":2}\n"
}

/// A metrics row with one episode.
fn add_row(dir: &RunDir, row: u64) {
    let line = json!({
        "attempt": 1, "row": row, "t": row as f64, "step": 100 * row,
        "values": { "train/loss": 0.5, "time/fps": 1000.0 },
        "episodes": { "episode": [row], "reward": [row as f64], "length": [7],
                      "timestep": [100 * row], "seed": [row], "terminated": [true] },
    });
    append(&dir.metrics_path(), &format!("{line}\n"));
}

fn add_event(dir: &RunDir, event: &Value) {
    let mut line = json!({ "attempt": 1, "t": 2.0 });
    line.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
    append(&dir.events_path(), &format!("{line}\n"));
}

fn rows_of(message: &Value) -> Vec<u64> {
    let rows = message["rows"].as_array().unwrap();
    rows.iter().map(|row| row["row"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn whenever_a_reader_comes_it_first_hears_how_things_stand() {
    let (lab, [(dir, id)]) = TestLab::with_runs();
    let path = format!("/api/runs/{id}/stream");
    // Before there is anything.
    let mut early = lab.listen(&path, None).await;
    let (_, name, first) = early.hear().await;
    assert_eq!((name.as_str(), &first["reset"]), ("Snapshot", &false.into()));
    assert_eq!((&first["rows"], &first["run"]["id"]), (&json!([]), &id.as_str().into()));
    // Rows that arrive between two ticks come together, and none is left out.
    for row in 1..=100 {
        add_row(&dir, row);
    }
    lab.tick();
    let (_, name, message) = early.hear().await;
    assert_eq!((name.as_str(), rows_of(&message)), ("Metrics", (1..=100).collect()));
    assert_eq!(message["episode_count"], 100);
    assert_eq!(
        message["episodes"][99],
        json!({ "episode": 100, "reward": 100.0, "length": 7, "loss": 0.5, "fps": 1000.0,
                "timestep": 10000, "timestamp": 100.0 })
    );
    // After it: the same is in the first message.
    let mut late = lab.listen(&path, None).await;
    let (_, _, snapshot) = late.hear().await;
    assert_eq!(rows_of(&snapshot), (1..=100).collect::<Vec<_>>());
    assert_eq!(snapshot["episodes"].as_array().unwrap().len(), 100);
    assert_eq!(snapshot["episode_count"], 100);
    add_row(&dir, 101);
    lab.tick();
    for reader in [&mut early, &mut late] {
        assert_eq!(rows_of(&reader.hear().await.2), [101]);
    }
    check_problem(
        lab.ask("GET", "/api/runs/r-000000/stream", None).await,
        (404, "no_such_run", &[]),
    );
}

#[tokio::test]
async fn a_reader_that_comes_back_misses_nothing_and_hears_nothing_twice() {
    let (lab, [(dir, id)]) = TestLab::with_runs();
    let mut reader = lab.listen("/api/stream", None).await;
    let (mut last, _, _) = reader.hear().await;
    let mut rows = Vec::new();
    for row in 1..=30 {
        add_row(&dir, row);
        lab.tick();
        // It goes away at every third message, for one tick or two.
        if row % 3 == 0 {
            reader = lab.listen(&format!("/api/stream?runs={id}"), Some(last)).await;
        }
        if row % 5 == 0 {
            continue;
        }
        while rows.len() < row as usize {
            let (seq, name, message) = reader.hear().await;
            assert_eq!((seq, name.as_str()), (last + 1, "RunProgress"));
            last = seq;
            rows.extend(rows_of(&message));
        }
    }
    drop(reader);
    reader = lab.listen("/api/stream", Some(last)).await;
    assert_eq!(rows_of(&reader.hear().await.2), [30]);
    rows.push(30);
    assert_eq!(rows, (1..=30).collect::<Vec<_>>());

    // A lab that was started anew has its numbers from the index.
    let again = Feed::new();
    let fresh = AppState { feed: again, ..lab.state.clone() };
    let fresh = TestLab { app: app(fresh.clone()), state: fresh, _folder: lab._folder };
    let mut reader = fresh.listen("/api/stream", Some(last - 1)).await;
    assert_eq!(rows_of(&reader.hear().await.2), [29]);
    assert_eq!(rows_of(&reader.hear().await.2), [30]);
    add_row(&dir, 31);
    fresh.tick();
    assert_eq!(rows_of(&reader.hear().await.2), [31]);
    // A number that is none of ours begins afresh, and is told so.
    for unknown in [last + 1000, u64::MAX] {
        let mut reader = fresh.listen("/api/stream", Some(unknown)).await;
        let (seq, name, message) = reader.hear().await;
        assert_eq!((seq, name.as_str(), &message["reset"]), (last + 2, "Snapshot", &true.into()));
    }
}

#[tokio::test]
async fn the_event_log_comes_as_a_list_or_live() {
    let (lab, [(dir, id)]) = TestLab::with_runs();
    add_event(&dir, &json!({ "type": "training_started", "total_timesteps": 1000 }));
    lab.tick();
    let path = format!("/api/runs/{id}/events");
    let (_, list) = lab.ask("GET", &path, None).await;
    assert_eq!(list["events"][0]["type"], "training_started");
    let mut reader = lab.listen(&path, None).await;
    let (_, name, first) = reader.hear().await;
    assert_eq!((name.as_str(), &first["events"]), ("Snapshot", &list["events"]));
    // Metrics are not for this reader.
    add_row(&dir, 1);
    lab.tick();
    let tune = json!({ "type": "tune_applied", "path": "trainer.learning_rate", "old": 0.1,
                       "new": 0.2, "by": "admin", "step": 100 });
    add_event(&dir, &tune);
    add_event(&dir, &json!({ "type": "warning", "message": "hot" }));
    lab.tick();
    let (_, name, message) = reader.hear().await;
    assert_eq!((name.as_str(), &message["new"]), ("TuneApplied", &0.2.into()));
    assert_eq!(message["entry"]["type"], "tune_applied");
    let (_, name, message) = reader.hear().await;
    assert_eq!((name.as_str(), &message["entry"]["message"]), ("EventLogged", &"hot".into()));
    lab.state.feed.close();
    assert!(reader.ends().await, "the lab ends");
}

#[tokio::test]
async fn the_socket_says_the_same_with_numbers_inside() {
    let (lab, [(dir, id), (other, _)]) = TestLab::with_runs();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, lab.state.clone()));
    let connect = async |query: &str, header: (&'static str, String)| {
        let mut request = format!("ws://{address}/api/ws?{query}").into_client_request().unwrap();
        request.headers_mut().insert(header.0, header.1.parse().unwrap());
        timeout(LONG, connect_async(request)).await.unwrap().map(|(socket, _)| socket)
    };
    let token = ("authorization", format!("Bearer {TOKEN}"));
    assert!(connect("", ("authorization", "Bearer wrong".to_owned())).await.is_err());
    assert!(connect("runs=nothing", token.clone()).await.is_err());
    let mut socket = connect(&format!("runs={id}"), token.clone()).await.unwrap();
    let hear = async |socket: &mut tokio_tungstenite::WebSocketStream<_>| loop {
        match timeout(LONG, socket.next()).await.unwrap().unwrap().unwrap() {
            Message::Text(text) => break serde_json::from_str::<Value>(&text).unwrap(),
            Message::Close(frame) => break json!({ "code": u16::from(frame.unwrap().code) }),
            _ => {}
        }
    };
    let first = hear(&mut socket).await;
    assert_eq!((&first["type"], first["runs"].as_array().unwrap().len()), (&"Snapshot".into(), 1));
    add_row(&other, 1);
    add_row(&dir, 1);
    add_row(&dir, 2);
    lab.tick();
    let message = hear(&mut socket).await;
    assert_eq!((&message["type"], rows_of(&message)), (&"RunProgress".into(), vec![1, 2]));
    assert!(message["id"].as_u64() > first["id"].as_u64());
    drop(socket);
    let query = format!("runs={id}&last_event_id={}", first["id"]);
    let mut socket = connect(&query, token).await.unwrap();
    let again = hear(&mut socket).await;
    let said = |message: &Value| (message["id"].clone(), rows_of(message));
    assert_eq!(said(&again), said(&message), "it goes on where it was");
    lab.state.feed.close();
    assert_eq!(hear(&mut socket).await["code"], 1001);
}

#[tokio::test]
async fn who_hears_nothing_is_given_a_sign_of_life() {
    let (lab, [(dir, id), (other, _)]) = TestLab::with_runs();
    let mut feed = Feed::new();
    feed.sign_of_life = Duration::from_millis(100);
    let state = AppState { feed, ..lab.state.clone() };
    let lab = TestLab { app: app(state.clone()), state, _folder: lab._folder };
    let paths = [
        "/api/stream".to_owned(),
        format!("/api/stream?runs={id}"),
        format!("/api/runs/{id}/stream"),
        format!("/api/runs/{id}/events"),
    ];
    for (row, path) in (1..).zip(paths) {
        let mut reader = lab.listen(&path, None).await;
        let (first, ..) = reader.hear().await;
        for _ in 0..2 {
            let alive = json!({ "type": "Alive" });
            assert_eq!(reader.hear().await, (first, "Alive".to_owned(), alive), "{path}");
        }
        // Who goes on after it misses nothing.
        add_event(&dir, &json!({ "type": "warning", "message": "hot" }));
        add_row(&dir, row);
        lab.tick();
        let mut reader = lab.listen(&path, Some(first)).await;
        assert!(reader.hear().await.0 > first, "{path}");
    }
    // What happens to others is no news to who follows one run, however much it is.
    let mut reader = lab.listen(&format!("/api/runs/{id}/stream"), None).await;
    let (first, ..) = reader.hear().await;
    let noise = async {
        for row in 1.. {
            add_row(&other, row);
            lab.tick();
            tokio::task::yield_now().await;
        }
    };
    let (seq, name, _) = tokio::select! {
        heard = reader.hear() => heard,
        () = noise => unreachable!("it goes on for ever"),
    };
    assert_eq!(name, "Alive");
    assert!(seq >= first);
}

#[tokio::test]
async fn a_reader_that_takes_nothing_slows_nobody() {
    let (lab, [(dir, _)]) = TestLab::with_runs();
    let mut stalled = lab.listen("/api/stream", None).await;
    let (before, ..) = stalled.hear().await;
    let mut awake = lab.listen("/api/stream", None).await;
    awake.hear().await;
    // More than the ring keeps, so that it must be read from the index in the end.
    let n_rows = 5000;
    for row in 1..=n_rows {
        add_row(&dir, row);
        if row % 500 == 0 {
            lab.tick();
            assert_eq!(rows_of(&awake.hear().await.2).len(), 500);
        }
    }
    let mut rows = Vec::new();
    let mut last = before;
    while rows.len() < n_rows as usize {
        let (seq, _, message) = stalled.hear().await;
        assert_eq!(seq, last + 1);
        last = seq;
        rows.extend(rows_of(&message));
    }
    assert_eq!(rows, (1..=n_rows).collect::<Vec<_>>());
}

#[tokio::test]
async fn progress_is_never_above_one_and_one_at_the_end() {
    let (lab, [(dir, id), (ended, ended_id)]) = TestLab::with_runs();
    let progress = async || lab.ask("GET", &format!("/api/runs/{id}"), None).await.1;
    add_event(&dir, &json!({ "type": "training_started", "total_timesteps": 1000 }));
    add_row(&dir, 5);
    lab.tick();
    assert_eq!(progress().await["progress"], 0.5);
    // The last update goes beyond the number that was asked for.
    add_row(&dir, 13);
    lab.tick();
    let run = progress().await;
    assert_eq!((&run["step"], &run["progress"]), (&1300.into(), &1.0.into()));
    // One that has ended is at its end, whatever its last row says.
    add_row(&ended, 9);
    add_event(&ended, &json!({ "type": "done", "reason": "completed", "step": 900 }));
    let exit =
        "{\"attempt\":1,\"t\":3.0,\"type\":\"exited\",\"code\":0,\"signal\":null,\"log\":[]}\n";
    append(&ended.supervisor_path(), exit);
    lab.tick();
    let (_, run) = lab.ask("GET", &format!("/api/runs/{ended_id}"), None).await;
    assert_eq!((&run["state"], &run["progress"]), (&"succeeded".into(), &1.0.into()));
}
