//! Environments played over a real WebSocket.

use std::net::SocketAddr;
use std::time::Duration;

use cartridge_games::env::AnyAction;
use cartridge_run::trace::{Actions, trace};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::*;
use crate::live_play::{MAX_MESSAGE_BYTES, MAX_PLAYS};

/// Nothing in these tests takes longer.
const LONG: Duration = Duration::from_secs(30);

/// A lab on a port of its own.
struct Table {
    lab: TestLab,
    address: SocketAddr,
}

impl Table {
    async fn new() -> Self {
        let lab = TestLab::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, lab.state.clone()));
        Self { lab, address }
    }

    /// Makes a session and returns its name.
    async fn begin(&self, env_id: &str, seed: u64) -> String {
        let new = json!({ "env_id": env_id, "seed": seed });
        let (status, session) = self.lab.ask("POST", "/api/play/environments", Some(new)).await;
        assert_eq!(status, StatusCode::CREATED, "{session}");
        session["id"].as_str().unwrap().to_owned()
    }

    async fn session(&self, id: &str) -> Value {
        self.lab.ask("GET", &format!("/api/play/environments/{id}"), None).await.1
    }

    /// Connects with these headers, or returns the status of the refusal.
    async fn try_sit_down(&self, id: &str, headers: &[(&str, &str)]) -> Result<Player, u16> {
        let address = self.address;
        let url = format!("ws://{address}/api/play/environments/{id}/live");
        let mut request = url.into_client_request().unwrap();
        for (name, value) in headers {
            let name: axum::http::HeaderName = name.parse().unwrap();
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        match timeout(LONG, connect_async(request)).await.unwrap() {
            Ok((socket, _)) => Ok(Player { socket }),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    async fn sit_down(&self, id: &str) -> Player {
        let token = format!("Bearer {TOKEN}");
        self.try_sit_down(id, &[("authorization", &token)]).await.unwrap()
    }
}

struct Player {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Player {
    async fn say(&mut self, command: Value) {
        self.socket.send(Message::text(command.to_string())).await.unwrap();
    }

    /// The next picture, or the code with which the connection was closed.
    async fn see(&mut self) -> Result<Value, u16> {
        loop {
            match timeout(LONG, self.socket.next()).await.expect("the lab answers") {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(Some(frame)))) => return Err(frame.code.into()),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(0),
            }
        }
    }

    async fn see_until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let frame = self.see().await.unwrap();
            if is_wanted(&frame) {
                return frame;
            }
        }
    }
}

#[tokio::test]
async fn an_episode_is_played_kept_and_traced_to_the_bit() {
    let table = Table::new().await;
    let id = table.begin("CartPole-v1", 7).await;
    let mut player = table.sit_down(&id).await;
    let first = player.see().await.unwrap();
    assert_eq!((&first["phase"], &first["seed"]), (&"ready".into(), &7.into()));
    assert!(!first["scene"]["shapes"].as_array().unwrap().is_empty());
    player.say(json!({ "type": "hold", "controls": [1] })).await;
    player.say(json!({ "type": "start" })).await;
    let moving = player.see_until(|frame| frame["step"] == 2).await;
    assert_eq!((&moving["phase"], &moving["action"]), (&"playing".into(), &1.into()));
    player.say(json!({ "type": "hold", "controls": [1, 0] })).await;
    let last = player.see_until(|frame| frame["phase"] == "over").await;
    assert_eq!((&last["terminated"], &last["action"]), (&true.into(), &0.into()));

    player.say(json!({ "type": "restart", "seed": 8 })).await;
    let next = player.see_until(|frame| frame["episode"] == 2).await;
    assert_eq!((&next["seed"], &next["phase"]), (&8.into(), &"ready".into()));
    player.socket.close(None).await.unwrap();
    while player.see().await.is_ok() {}

    let (_, played) =
        table.lab.ask("GET", &format!("/api/play/environments/{id}/episodes/1"), None).await;
    let actions: Vec<AnyAction> = serde_json::from_value(played["actions"].clone()).unwrap();
    assert_eq!(actions.len() as u64, last["step"].as_u64().unwrap());
    let mut rewards = Vec::new();
    let options = played["options"].as_object().unwrap();
    trace("CartPole-v1", options, 7, vec![Actions::Given(actions)], |moment| {
        rewards.extend(moment.reward);
    })
    .unwrap();
    assert_eq!(rewards.iter().sum::<f64>(), last["total_reward"].as_f64().unwrap());
    assert_eq!(rewards.len() as u64, last["step"].as_u64().unwrap());
    let session = table.session(&id).await;
    assert_eq!(session["episodes"][0]["length"], last["step"]);
    assert_eq!(session["episodes"].as_array().unwrap().len(), 2);
    let (_, list) = table.lab.ask("GET", "/api/play/environments", None).await;
    assert_eq!(list["sessions"][0]["best"], last["total_reward"]);
    let (_, games) = table.lab.ask("GET", "/api/play", None).await;
    assert_eq!(games["plays"], json!([]), "an environment is no board game");
    check_problem(
        table.lab.ask("GET", &format!("/api/play/environments/{id}/episodes/3"), None).await,
        (404, "no_such_episode", &[]),
    );
    check_problem(
        table.lab.ask("GET", &format!("/api/play/{id}"), None).await,
        (404, "no_such_run", &[]),
    );
}

#[tokio::test]
async fn whoever_leaves_pauses_and_comes_back_to_the_same_place() {
    let table = Table::new().await;
    let id = table.begin("MountainCarContinuous-v0", 3).await;
    let mut player = table.sit_down(&id).await;
    player.say(json!({ "type": "speed", "speed": 0.5 })).await;
    player.say(json!({ "type": "hold", "controls": [0] })).await;
    player.say(json!({ "type": "start" })).await;
    player.see_until(|frame| frame["step"] == 10).await;
    player.say(json!({ "type": "pause" })).await;
    let paused = player.see_until(|frame| frame["phase"] == "paused").await;
    drop(player);
    let mut player = table.sit_down(&id).await;
    let again = player.see().await.unwrap();
    for same in ["step", "scene", "total_reward", "phase", "action"] {
        assert_eq!(again[same], paused[same], "{same}");
    }
    // Without a pause too: losing the connection is one.
    player.say(json!({ "type": "start" })).await;
    let seen = player.see_until(|frame| frame["step"].as_u64() > paused["step"].as_u64()).await;
    drop(player);
    let again = table.sit_down(&id).await.see().await.unwrap();
    assert_eq!(again["phase"], "paused");
    assert!(again["step"].as_u64() >= seen["step"].as_u64(), "{again}");
}

#[tokio::test]
async fn a_world_that_waits_is_played_decision_by_decision() {
    let table = Table::new().await;
    let id = table.begin("AsteroidProspector-v0", 5).await;
    let mut player = table.sit_down(&id).await;
    let first = player.see().await.unwrap();
    assert_eq!((&first["phase"], &first["step"]), (&"ready".into(), &0.into()));
    assert_eq!(first["observation"].as_array().unwrap().len(), 260);
    let legal: Vec<u64> = serde_json::from_value(first["legal"].clone()).unwrap();
    let act = |action: u64, step: u64| json!({ "type": "act", "action": action, "step": step });
    // No clock, nothing that is not legal, and nothing that was meant for another moment.
    player.say(json!({ "type": "start" })).await;
    player.say(act(28, 0)).await;
    player.say(act(legal[0], 3)).await;
    player.say(act(legal[0], 0)).await;
    player.say(act(legal[0], 0)).await;
    let next = player.see().await.unwrap();
    assert_eq!((&next["phase"], &next["step"]), (&"playing".into(), &1.into()));
    assert_eq!(next["action"], legal[0]);
    drop(player);

    // It waits for whoever comes back, and ends by a decision.
    let mut player = table.sit_down(&id).await;
    let again = player.see().await.unwrap();
    for same in ["step", "phase", "legal", "observation", "total_reward"] {
        assert_eq!(again[same], next[same], "{same}");
    }
    player.say(act(68, 1)).await;
    let last = player.see().await.unwrap();
    assert_eq!((&last["phase"], &last["terminated"]), (&"over".into(), &true.into()));
    assert_eq!(last["legal"], json!([]));
    player.say(json!({ "type": "restart", "seed": 6 })).await;
    let fresh = player.see_until(|frame| frame["episode"] == 2).await;
    assert_eq!((&fresh["phase"], &fresh["seed"]), (&"ready".into(), &6.into()));
    let (_, played) =
        table.lab.ask("GET", &format!("/api/play/environments/{id}/episodes/1"), None).await;
    assert_eq!(played["actions"], json!([legal[0], 68]));
}

#[tokio::test]
async fn a_second_connection_takes_over() {
    let table = Table::new().await;
    let id = table.begin("Acrobot-v1", 1).await;
    let mut first = table.sit_down(&id).await;
    first.say(json!({ "type": "start" })).await;
    let seen = first.see_until(|frame| frame["step"] == 3).await;
    let mut second = table.sit_down(&id).await;
    let taken = second.see().await.unwrap();
    assert_eq!(taken["phase"], "paused");
    assert!(taken["step"].as_u64() >= seen["step"].as_u64());
    let code = loop {
        if let Err(code) = first.see().await {
            break code;
        }
    };
    assert_eq!(code, 4001);
    second.say(json!({ "type": "start" })).await;
    second.see_until(|frame| frame["phase"] == "playing").await;
}

#[tokio::test]
async fn a_slow_reader_misses_pictures_instead_of_queueing_them() {
    let table = Table::new().await;
    let id = table.begin("Pendulum-v1", 1).await;
    let mut player = table.sit_down(&id).await;
    player.say(json!({ "type": "start" })).await;
    // Nothing is read, pings neither, until most of the episode is over.
    let deadline = tokio::time::Instant::now() + LONG;
    while table.session(&id).await["episodes"][0]["length"].as_u64() < Some(100) {
        assert!(tokio::time::Instant::now() < deadline, "time passes for a slow reader too");
        tokio::task::yield_now().await;
    }
    let mut steps = Vec::new();
    loop {
        let frame = player.see().await.unwrap();
        steps.push(frame["step"].as_u64().unwrap());
        if frame["phase"] == "over" {
            break;
        }
    }
    assert_eq!(steps.last(), Some(&200));
    let widest = steps.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    assert!(widest > 40, "{steps:?}");
}

#[tokio::test]
async fn only_our_own_pages_and_the_token_get_in() {
    let table = Table::new().await;
    let id = table.begin("CartPole-v1", 1).await;
    let host = table.address.to_string();
    let own = format!("http://{host}");
    let token = format!("Bearer {TOKEN}");
    let cookie = table.lab.state.auth.login_cookie(&table.lab.state.auth.owner());
    let cookie = cookie.split(';').next().unwrap();
    let foreign = ["http://evil.example", "null", "http://127.0.0.1:1", "ws://evil.example", ""];
    let mut cases: Vec<(Vec<(&str, &str)>, _)> = vec![
        (vec![], Err(401)),
        (vec![("authorization", "Bearer wrong")], Err(401)),
        (vec![("origin", &own)], Err(401)),
        (vec![("authorization", &token)], Ok(())),
        (vec![("cookie", cookie), ("origin", &own)], Ok(())),
        (vec![("cookie", cookie)], Err(403)),
        (vec![("cookie", cookie), ("origin", &own), ("host", "evil.example")], Err(403)),
        (vec![("cookie", cookie), ("origin", &own), ("sec-fetch-site", "cross-site")], Err(403)),
    ];
    for origin in foreign {
        cases.push((vec![("cookie", cookie), ("origin", origin)], Err(403)));
        cases.push((vec![("authorization", &token), ("origin", origin)], Err(403)));
    }
    for (headers, expected) in cases {
        let answer = table.try_sit_down(&id, &headers).await.map(|_| ());
        assert_eq!(answer, expected, "{headers:?}");
    }
    let token = [("authorization", token.as_str())];
    assert_eq!(table.try_sit_down("r-000000", &token).await.map(|_| ()), Err(404));
    check_problem(
        table.lab.ask("GET", &format!("/api/play/environments/{id}/live"), None).await,
        (400, "not_a_web_socket", &[]),
    );
}

#[tokio::test]
async fn nonsense_ends_the_connection_and_nothing_else() {
    let table = Table::new().await;
    let id = table.begin("CartPole-v1", 1).await;
    for nonsense in [
        "{",
        r#"{"type":"jump"}"#,
        r#"{"type":"hold"}"#,
        r#"{"type":"hold","controls":[-1]}"#,
        r#"{"type":"speed","speed":1000}"#,
        r#"{"type":"start","now":true}"#,
        r#"{"type":"act","action":0}"#,
    ] {
        let mut player = table.sit_down(&id).await;
        player.see().await.unwrap();
        player.socket.send(Message::text(nonsense)).await.unwrap();
        assert_eq!(player.see().await, Err(4003), "{nonsense}");
    }
    let mut player = table.sit_down(&id).await;
    player.see().await.unwrap();
    _ = player.socket.send(Message::text(" ".repeat(MAX_MESSAGE_BYTES + 1))).await;
    assert!(player.see().await.is_err(), "a large message is not read");
    let mut player = table.sit_down(&id).await;
    assert_eq!(player.see().await.unwrap()["step"], 0);
    // Controls that there are not do nothing.
    player.say(json!({ "type": "hold", "controls": [77] })).await;
    player.say(json!({ "type": "start" })).await;
    player.see_until(|frame| frame["step"] == 2).await;
}

#[tokio::test]
async fn the_lab_has_room_for_so_many() {
    let table = Table::new().await;
    let mut players = Vec::new();
    for seed in 0..MAX_PLAYS as u64 {
        let id = table.begin("CartPole-v1", seed).await;
        players.push(table.sit_down(&id).await);
    }
    let id = table.begin("CartPole-v1", 99).await;
    let token = format!("Bearer {TOKEN}");
    let token = [("authorization", token.as_str())];
    assert_eq!(table.try_sit_down(&id, &token).await.map(|_| ()), Err(503));
    let mut gone = players.pop().unwrap();
    gone.socket.close(None).await.unwrap();
    while gone.see().await.is_ok() {}
    // The place is free as soon as what was done there is kept.
    let deadline = tokio::time::Instant::now() + LONG;
    while table.try_sit_down(&id, &token).await.is_err() {
        assert!(tokio::time::Instant::now() < deadline);
    }
}

#[tokio::test]
async fn what_cannot_be_played_is_a_problem_with_a_pointer() {
    let lab = TestLab::new();
    let begin = |body: Value| lab.ask("POST", "/api/play/environments", Some(body));
    check_problem(
        begin(json!({ "env_id": "connect4" })).await,
        (422, "invalid_field", &["/env_id"]),
    );
    check_problem(
        begin(json!({ "env_id": "CartPol-v1" })).await,
        (422, "invalid_field", &["/env_id"]),
    );
    let options = json!({ "env_id": "CartPole-v1", "options": { "wind": true } });
    check_problem(begin(options).await, (422, "invalid_field", &["/options/wind"]));
    let seed = json!({ "env_id": "CartPole-v1", "seed": -1 });
    check_problem(begin(seed).await, (422, "invalid_field", &["/seed"]));
    assert_eq!(lab.state.lab.data().run_ids().unwrap(), []);
    let (_, list) = lab.ask("GET", "/api/environments", None).await;
    let environments = list["environments"].as_array().unwrap();
    assert_eq!(environments[0]["controls"]["keys"][0]["keys"], json!(["ArrowLeft", "a"]));
    assert!(environments.iter().any(|env| env["controls"].is_null()));
}
