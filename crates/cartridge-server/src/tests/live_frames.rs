//! Runs watched over a real WebSocket.

use std::net::SocketAddr;
use std::time::Duration;

use cartridge_run::store::{EpisodeBody, EpisodeHead, EpisodeWriter, RunDir};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::*;

/// Nothing in these tests takes longer.
const LONG: Duration = Duration::from_secs(30);

async fn served<const N: usize>() -> (TestLab, [(RunDir, String); N], SocketAddr) {
    served_of("CartPole-v1").await
}

async fn served_of<const N: usize>(env_id: &str) -> (TestLab, [(RunDir, String); N], SocketAddr) {
    let (lab, runs) = TestLab::with_runs_of(env_id);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, lab.state.clone()));
    (lab, runs, address)
}

struct Viewer {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Viewer {
    async fn new(address: SocketAddr, id: &str, query: &str) -> Self {
        let url = format!("ws://{address}/api/runs/{id}/frames?{query}");
        let mut request = url.into_client_request().unwrap();
        let token = format!("Bearer {TOKEN}").parse().unwrap();
        request.headers_mut().insert("authorization", token);
        Self { socket: timeout(LONG, connect_async(request)).await.unwrap().unwrap().0 }
    }

    async fn say(&mut self, command: Value) {
        self.socket.send(Message::text(command.to_string())).await.unwrap();
    }

    async fn next(&mut self) -> Message {
        loop {
            match timeout(LONG, self.socket.next()).await.expect("there is a picture") {
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(message)) => return message,
                other => panic!("{other:?}"),
            }
        }
    }

    async fn see(&mut self) -> Value {
        match self.next().await {
            Message::Text(text) => serde_json::from_str(&text).unwrap(),
            Message::Close(frame) => json!({ "code": u16::from(frame.unwrap().code) }),
            other => panic!("{other:?}"),
        }
    }

    async fn see_until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let frame = self.see().await;
            if is_wanted(&frame) {
                return frame;
            }
        }
    }
}

/// An episode of CartPole in which the cart is pushed to the right until the pole falls.
fn add_episode(dir: &RunDir, n: u64) -> u64 {
    let mut env = cartridge_games::registry::make_env("CartPole-v1", &Default::default()).unwrap();
    let mut observation = vec![0.0; env.spec().observation];
    env.reset(Some(n), &mut observation);
    let right = cartridge_games::env::EnvAction::Discrete(cartridge_games::game::Action(1));
    let mut length = 1;
    while !env.step(right, &mut observation).is_end() {
        length += 1;
    }
    let head = EpisodeHead {
        episode: n,
        attempt: 1,
        lane: 0,
        seed: Some(n),
        reward: f64::from(length),
        length,
        step: 500 * n,
        terminated: true,
        truncated: false,
        checkpoint_step: None,
        t: n as f64,
        foreign_id: None,
    };
    let mut writer = EpisodeWriter::open(dir).unwrap();
    writer.add(&head, &EpisodeBody::Discrete(vec![1; length as usize])).unwrap();
    writer.sync().unwrap();
    u64::from(length)
}

#[tokio::test]
async fn the_order_of_viewers_and_training_does_not_matter() {
    let (lab, [(dir, id)], address) = served().await;
    assert_eq!(lab.state.frames.n_stages(), 0, "nobody watches");
    // Before there is anything: random play.
    let mut early = Viewer::new(address, &id, "fps=30").await;
    let first = early.see().await;
    assert_eq!((&first["source"], &first["episode"]), (&"preview".into(), &Value::Null));
    assert!(!first["scene"]["shapes"].as_array().unwrap().is_empty());
    // Then the training, without anybody asking.
    let length = add_episode(&dir, 1);
    let frame = early.see_until(|frame| frame["source"] == "training").await;
    assert_eq!((&frame["episode"], &frame["timestep"]), (&1.into(), &500.into()));
    let end = early.see_until(|frame| frame["step"] == length).await;
    assert_eq!(end["reward"], length as f64);
    // A newer one follows when the one that is shown has ended.
    add_episode(&dir, 2);
    early.see_until(|frame| frame["episode"] == 2).await;
    // Whoever comes late sees something at once: the same as the others.
    let mut late = Viewer::new(address, &id, "").await;
    assert_eq!(late.see().await["source"], "training");
    assert_eq!(lab.state.frames.n_stages(), 1, "one stage for both");
    late.say(json!({ "fps": "many" })).await;
    assert_eq!(late.see_until(|frame| frame["code"].is_u64()).await["code"], 4003);
    drop((early, late));
    let gone = Instant::now() + LONG;
    while lab.state.frames.n_stages() > 0 {
        assert!(Instant::now() < gone, "nobody watches any more, and it goes on");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_board_is_told_by_its_pieces() {
    let (_lab, [(_, id)], address) = served_of("connect4").await;
    let mut viewer = Viewer::new(address, &id, "fps=30").await;
    let frame = viewer.see_until(|frame| frame["step"] == 1).await;
    let mut expected = vec![json!([]); 7];
    expected[frame["action"].as_u64().unwrap() as usize] = json!([0]);
    assert_eq!(frame["pieces"], json!(expected));

    let (_lab, [(_, id)], address) = served().await;
    assert_eq!(Viewer::new(address, &id, "").await.see().await.get("pieces"), None);
}

#[tokio::test]
async fn a_rate_is_its_viewers_own() {
    let (_lab, [(dir, id)], address) = served().await;
    add_episode(&dir, 1);
    let mut slow = Viewer::new(address, &id, "fps=1").await;
    let mut quick = Viewer::new(address, &id, "fps=30").await;
    let mut paused = Viewer::new(address, &id, "fps=0").await;
    // All three get on as they asked: the slow one has one picture a second while the quick one
    // has many, and the paused one none.
    slow.see().await;
    let began = Instant::now();
    for _ in 0..20 {
        quick.see().await;
    }
    slow.see().await;
    assert!(began.elapsed() >= Duration::from_millis(800), "{:?}", began.elapsed());
    // One that changes its rate changes nobody else's.
    slow.say(json!({ "fps": 0 })).await;
    for _ in 0..5 {
        quick.see().await;
    }
    assert!(timeout(Duration::from_millis(50), paused.socket.next()).await.is_err());
    paused.say(json!({ "fps": 30 })).await;
    paused.see().await;
}

#[tokio::test]
async fn pictures_come_as_jpeg_too() {
    let (lab, [(dir, id)], address) = served().await;
    add_episode(&dir, 1);
    let mut viewer = Viewer::new(address, &id, "format=jpeg").await;
    for _ in 0..3 {
        let about = viewer.see().await;
        assert_eq!((&about["source"], &about["scene"]), (&"training".into(), &Value::Null));
        let Message::Binary(file) = viewer.next().await else { panic!("a picture follows") };
        assert!(file.starts_with(&[0xff, 0xd8]), "{} bytes", file.len());
    }
    lab.state.feed.close();
    loop {
        match viewer.next().await {
            Message::Close(frame) => break assert_eq!(u16::from(frame.unwrap().code), 1001),
            _ => continue,
        }
    }
}

#[tokio::test]
async fn runs_that_are_not_there_cannot_be_watched() {
    let lab = TestLab::new();
    check_problem(
        lab.ask("GET", "/api/runs/r-000000/frames", None).await,
        (404, "no_such_run", &[]),
    );
}
