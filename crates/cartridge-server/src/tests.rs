use std::path::PathBuf;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use axum::response::{IntoResponse as _, Response};
use cartridge_run::launch::Launcher;
use cartridge_run::queue::Limits;
use cartridge_run::store::{DataDir, StoreError};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

use super::*;

const TOKEN: &str = "a-token-for-the-tests";

/// Another origin whose pages may talk to the lab.
const FRIEND: &str = "https://friend.example";

/// An application over a data folder of its own.
struct TestLab {
    app: Router,
    state: AppState,
    _folder: TempDir,
}

impl TestLab {
    fn new() -> Self {
        Self::over(tempfile::tempdir().unwrap())
    }

    /// An application over what is in `folder`.
    fn over(folder: TempDir) -> Self {
        Self::with_limits(folder, limits::Limits::default())
    }

    fn with_limits(folder: TempDir, limits: limits::Limits) -> Self {
        // No run is trained in these tests; those that do start the real binary.
        Self::launching("/nonexistent/cartridge", folder, limits)
    }

    /// An application that starts `program` for its runs.
    fn launching(program: &str, folder: TempDir, limits: limits::Limits) -> Self {
        let data = DataDir::open(folder.path()).unwrap();
        let launcher = Launcher {
            program: PathBuf::from(program),
            version: "0.0.0".to_owned(),
            stop_grace: std::time::Duration::ZERO,
            is_lab: false,
        };
        let origins = [FRIEND.to_owned()];
        let auth = Auth::new(&data, TOKEN.to_owned(), [127, 0, 0, 1].into(), &[], &origins);
        let state = AppState {
            auth: Arc::new(auth.unwrap()),
            gate: Arc::new(Gate::open(&data, limits).unwrap()),
            lab: Arc::new(Lab::open(data, launcher, Limits::of_machine()).unwrap()),
            feed: Feed::new(),
            plays: LivePlays::default(),
            frames: LiveFrames::default(),
            upstream: Arc::new(Upstream::new(None)),
            version: "0.0.0",
        };
        Self { app: app(state.clone()), state, _folder: folder }
    }

    async fn send(&self, request: Request<Body>) -> Response {
        self.app.clone().oneshot(request).await.unwrap()
    }

    /// Asks with the token and returns status and body.
    async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> (StatusCode, Value) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "127.0.0.1:8080")
            .header("authorization", format!("Bearer {TOKEN}"))
            .header("content-type", "application/json")
            .header("idempotency-key", new_key())
            .body(body.map_or_else(Body::empty, |body| Body::from(body.to_string())))
            .unwrap();
        read(self.send(request).await).await
    }
}

/// A key that no other request has.
fn new_key() -> String {
    cartridge_run::secret::random_hex()
}

async fn read(response: Response) -> (StatusCode, Value) {
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

/// A request without any credentials.
fn bare(method: &str, path: &str) -> axum::http::request::Builder {
    Request::builder().method(method).uri(path).header("host", "127.0.0.1:8080")
}

/// Every method and path of the route table, with its parameters filled in.
fn route_table() -> Vec<(String, String)> {
    let (_, document) = routes().split_for_parts();
    let document = serde_json::to_value(document).unwrap();
    let mut table = vec![("GET".to_owned(), "/api/openapi.json".to_owned())];
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            table.push((
                method.to_uppercase(),
                path.replace("{id}", "r-000000")
                    .replace("{episode}", "1")
                    .replace("{iteration}", "1")
                    .replace("{name}", "a-model")
                    .replace("{version}", "1")
                    .replace("{artifact_id}", "a-00000000"),
            ));
        }
    }
    table
}

#[tokio::test]
async fn openapi_document() {
    let (status, body) = TestLab::new().ask("GET", "/api/openapi.json", None).await;
    assert_eq!(status, StatusCode::OK);
    // Clients name their functions by it.
    let mut ids = HashSet::new();
    for operation in body["paths"].as_object().unwrap().values().filter_map(Value::as_object) {
        for id in operation.values().filter_map(|operation| operation["operationId"].as_str()) {
            assert!(ids.insert(id), "two operations are called {id}");
        }
    }
    let text = body.to_string();
    for named in text.split("\"$ref\":\"#/components/schemas/").skip(1) {
        let name = named.split('"').next().unwrap();
        assert!(body["components"]["schemas"][name].is_object(), "there is no schema {name}");
    }
    insta::assert_json_snapshot!(body);
}

#[tokio::test]
async fn every_route_outside_the_public_list_needs_the_token() {
    let lab = TestLab::new();
    let table = route_table();
    assert!(table.len() > 15, "the table has {} routes", table.len());
    for (method, path) in table {
        let is_public = ["/healthz", "/readyz", "/login", "/api/login"].contains(&path.as_str());
        let response = lab.send(bare(&method, &path).body(Body::empty()).unwrap()).await;
        let refused = response.status() == StatusCode::UNAUTHORIZED;
        assert_eq!(refused, !is_public, "{method} {path} answered {}", response.status());
        for wrong in ["Bearer wrong", "Bearer ", "Basic YTpi", ""] {
            let request =
                bare(&method, &path).header("authorization", wrong).body(Body::empty()).unwrap();
            let refused = lab.send(request).await.status() == StatusCode::UNAUTHORIZED;
            assert_eq!(refused, !is_public, "{method} {path} with `{wrong}`");
        }
    }
}

#[tokio::test]
async fn what_is_not_in_the_table_needs_the_token_too() {
    let lab = TestLab::new();
    for path in
        ["/api", "/api/", "/api/nothing", "/api/runs/", "/api//runs", "/api/login/", "/api/login/x"]
    {
        let response = lab.send(bare("GET", path).body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path}");
    }
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused_on_every_method() {
    let lab = TestLab::new();
    let foreign: [(&str, &str); 13] = [
        ("host", "[::1].evil.example"),
        ("host", "127.0.0.1:80:evil.example"),
        ("host", "evil.example"),
        ("host", "127.0.0.1.evil.example"),
        ("host", ""),
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1:9999"),
        ("origin", "file://127.0.0.1:8080"),
        ("origin", ""),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("host", "localhost.evil.example:8080"),
    ];
    let methods = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
    ];
    for (name, value) in foreign {
        for method in &methods {
            for path in ["/healthz", "/api/runs", "/api/stream", "/api/login"] {
                let mut request = Request::builder()
                    .method(method)
                    .uri(path)
                    .header("authorization", format!("Bearer {TOKEN}"))
                    .header(name, value);
                if name != "host" {
                    request = request.header("host", "127.0.0.1:8080");
                }
                let status = lab.send(request.body(Body::empty()).unwrap()).await.status();
                assert_eq!(status, StatusCode::FORBIDDEN, "{method} {path} with {name}: {value}");
            }
        }
    }
}

#[tokio::test]
async fn our_own_pages_are_let_in() {
    let lab = TestLab::new();
    for host in ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "LOCALHOST"] {
        let request = Request::get("/api/lab")
            .header("host", host)
            .header("origin", format!("http://{host}"))
            .header("sec-fetch-site", "same-origin")
            .header("authorization", format!("Bearer {TOKEN}"));
        assert_eq!(
            lab.send(request.body(Body::empty()).unwrap()).await.status(),
            StatusCode::OK,
            "{host}"
        );
    }
}

#[tokio::test]
async fn a_login_code_works_once_and_leaves_a_cookie() {
    let lab = TestLab::new();
    let code = cartridge_run::secret::new_login_code(
        lab.state.lab.data(),
        cartridge_run::clock::unix_now(),
    )
    .unwrap();
    let follow =
        || lab.send(bare("GET", &format!("/login?code={code}")).body(Body::empty()).unwrap());
    let first = follow().await;
    assert_eq!(
        (first.status(), &first.headers()["location"]),
        (StatusCode::SEE_OTHER, &"/".parse().unwrap())
    );
    let set_cookie = first.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(set_cookie.contains("HttpOnly; SameSite=Strict"), "{set_cookie}");

    let cookie = set_cookie.split(';').next().unwrap();
    let with = |cookie: String| {
        lab.send(bare("GET", "/api/lab").header("cookie", cookie).body(Body::empty()).unwrap())
    };
    assert_eq!(with(format!("other=1; {cookie}")).await.status(), StatusCode::OK);
    assert_eq!(with(format!("{cookie}0")).await.status(), StatusCode::UNAUTHORIZED);
    let (name, value) = cookie.split_once('=').unwrap();
    let later = format!("{name}=9{value}");
    assert_eq!(with(later).await.status(), StatusCode::UNAUTHORIZED, "the expiry is signed");

    let again = bare("GET", &format!("/login?code={code}"))
        .header("cookie", cookie)
        .body(Body::empty())
        .unwrap();
    assert_eq!(lab.send(again).await.headers()["location"], "/", "whoever is in stays in");
    let second = follow().await;
    assert_eq!(second.headers()["location"], "/login?error=used");
    assert!(second.headers().get("set-cookie").is_none());
    let unknown = lab.send(bare("GET", "/login?code=00").body(Body::empty()).unwrap()).await;
    assert_eq!(unknown.headers()["location"], "/login?error=bad");
}

#[tokio::test]
async fn the_token_logs_in_too() {
    let lab = TestLab::new();
    let login = |token: &str| {
        let body = json!({ "token": token }).to_string();
        lab.send(
            bare("POST", "/api/login")
                .header("content-type", "application/json")
                .body(Body::from(body))
                .unwrap(),
        )
    };
    assert_eq!(login("wrong").await.status(), StatusCode::UNAUTHORIZED);
    let right = login(TOKEN).await;
    assert_eq!(right.status(), StatusCode::NO_CONTENT);
    assert!(right.headers().contains_key("set-cookie"));
}

/// Posts `body` to `path` and compares status, code and pointers with `expected`.
#[track_caller]
fn check_problem(answer: (StatusCode, Value), expected: (u16, &str, &[&str])) {
    let (status, body) = answer;
    let pointers: Vec<&str> = body["errors"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|field| field["pointer"].as_str())
        .collect();
    assert_eq!(
        (status.as_u16(), body["code"].as_str().unwrap(), &pointers[..]),
        expected,
        "{body}"
    );
    assert_eq!(body["status"], status.as_u16());
    assert!(body["request_id"].as_str().is_some_and(|id| id.len() == 12));
}

#[tokio::test]
async fn malformed_requests_are_problems_with_a_pointer() {
    let lab = TestLab::new();
    let runs = |body: Value| lab.ask("POST", "/api/runs", Some(body));
    check_problem(runs(json!({})).await, (422, "invalid_field", &["/env_id"]));
    check_problem(runs(json!({ "env_id": 7 })).await, (422, "invalid_field", &["/env_id"]));
    check_problem(
        runs(json!({ "env_id": "CartPol-v1" })).await,
        (422, "invalid_field", &["/env_id"]),
    );
    let cart_pole = |key: &str, value: Value| json!({ "env_id": "CartPole-v1", key: value });
    check_problem(
        runs(cart_pole("algorithm", json!("pp0"))).await,
        (422, "invalid_field", &["/algorithm"]),
    );
    check_problem(
        runs(cart_pole("learning_rate", json!("fast"))).await,
        (422, "invalid_field", &["/learning_rate"]),
    );
    check_problem(
        runs(cart_pole("learning_rate", json!(2))).await,
        (422, "invalid_field", &["/learning_rate"]),
    );
    check_problem(
        runs(cart_pole("total_timesteps", json!(1))).await,
        (422, "invalid_field", &["/total_timesteps"]),
    );
    check_problem(runs(cart_pole("seed", json!(-1))).await, (422, "invalid_field", &["/seed"]));
    check_problem(runs(cart_pole("lr", json!(1e-3))).await, (422, "invalid_field", &["/lr"]));

    let play = |body: Value| lab.ask("POST", "/api/play", Some(body));
    check_problem(
        play(json!({ "game": "chess", "opponent": "x" })).await,
        (422, "unknown_environment", &["/game"]),
    );
    let against = json!({ "game": "tictactoe", "opponent": "builtin:perfekt" });
    check_problem(play(against).await, (422, "unknown_opponent", &["/opponent"]));

    for path in [
        "/api/runs/r-000000",
        "/api/runs/..%2f..%2ftoken",
        "/api/play/r-000000",
        "/api/runs/r-000000/metrics",
    ] {
        check_problem(lab.ask("GET", path, None).await, (404, "no_such_run", &[]));
    }
    check_problem(
        lab.ask("GET", "/api/environments/Nope-v0/preview", None).await,
        (404, "no_such_environment", &[]),
    );
    check_problem(lab.ask("GET", "/api/nothing", None).await, (404, "no_such_route", &[]));
    check_problem(lab.ask("DELETE", "/api/runs", None).await, (405, "method_not_allowed", &[]));
    check_problem(lab.ask("GET", "/api/runs/%ff", None).await, (400, "malformed", &[]));
    check_problem(
        lab.ask("GET", "/api/runs?limit=many", None).await,
        (422, "invalid_field", &["/limit"]),
    );
    check_problem(
        lab.ask("GET", "/api/runs?page=2", None).await,
        (422, "invalid_field", &["/page"]),
    );
    check_problem(lab.ask("GET", "/api/runs?cursor=x", None).await, (400, "malformed", &[]));
}

#[tokio::test]
async fn a_body_must_be_json_and_say_so() {
    let lab = TestLab::new();
    let post = |content_type: &str, body: String| {
        let request = bare("POST", "/api/runs")
            .header("authorization", format!("Bearer {TOKEN}"))
            .header("content-type", content_type)
            .header("idempotency-key", new_key())
            .body(Body::from(body))
            .unwrap();
        async { read(lab.send(request).await).await }
    };
    let body = json!({ "env_id": "CartPole-v1" }).to_string();
    check_problem(post("text/plain", body.clone()).await, (400, "malformed", &[]));
    check_problem(post("application/json", "{".to_owned()).await, (400, "malformed", &[]));
    check_problem(post("application/json", format!("{body}x")).await, (400, "malformed", &[]));
    check_problem(
        post("application/json", " ".repeat(MAX_BODY_BYTES + 1)).await,
        (413, "too_large", &[]),
    );
}

#[tokio::test]
async fn a_disk_that_takes_no_more_is_named() {
    let lab = TestLab::new();
    for (errno, code, what) in [
        (28, "disk_full", "the disk is full"),
        (122, "disk_full", "the quota of the disk is used up"),
        (30, "disk_read_only", "the disk is read-only"),
    ] {
        let path = lab.state.lab.data().path().join("audit.jsonl");
        let source = std::io::Error::from_raw_os_error(errno);
        let error = StoreError::Io { path: path.clone(), source };
        let answer = lab.state.ask::<()>(move |_| Err(error.into())).await;
        let (status, problem) = read(answer.unwrap_err().into_response()).await;
        assert_eq!((status.as_u16(), &problem["code"]), (507, &json!(code)));
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.starts_with(what) && detail.contains("bytes are free"), "{detail}");
        assert!(detail.contains(&path.display().to_string()), "{detail}");
    }
    let source = std::io::Error::from_raw_os_error(5);
    let error = StoreError::Io { path: PathBuf::from("/x"), source };
    let answer = lab.state.ask::<()>(move |_| Err(error.into())).await;
    let (status, problem) = read(answer.unwrap_err().into_response()).await;
    assert_eq!((status.as_u16(), &problem["code"]), (500, &json!("internal")));
}

#[tokio::test]
async fn nothing_is_made_by_a_refused_request() {
    let lab = TestLab::new();
    lab.ask("POST", "/api/runs", Some(json!({ "env_id": "CartPole-v1", "learning_rate": 2 })))
        .await;
    assert_eq!(lab.state.lab.data().run_ids().unwrap(), []);
}

#[tokio::test]
async fn a_run_whose_supervisor_cannot_start_has_failed_and_says_why() {
    let lab = TestLab::new();
    let (status, body) =
        lab.ask("POST", "/api/runs", Some(json!({ "env_id": "CartPole-v1" }))).await;
    assert_eq!((status.as_u16(), body["code"].as_str()), (500, Some("internal")));
    lab.state.lab.tick().unwrap();
    let (_, page) = lab.ask("GET", "/api/runs", None).await;
    assert_eq!(page["runs"][0]["state"], "failed");
    assert!(
        page["runs"][0]["failure"]["log"][0].as_str().unwrap().contains("/nonexistent/cartridge")
    );
}

#[tokio::test]
async fn moves_are_taken_back_and_hints_are_given() {
    let lab = TestLab::new();
    let new = json!({ "game": "tictactoe", "opponent": "builtin:perfect" });
    let (_, play) = lab.ask("POST", "/api/play", Some(new)).await;
    let path = format!("/api/play/{}", play["id"].as_str().unwrap());
    let post = async |what: &str| lab.ask("POST", &format!("{path}/{what}"), None).await;
    check_problem(post("undo").await, (409, "nothing_to_undo", &[]));
    check_problem(post("undo?ply=3").await, (409, "stale_move", &["/ply"]));
    check_problem(post("hint?ply=3").await, (409, "stale_move", &["/ply"]));
    let (status, hint) = post("hint?ply=0").await;
    assert_eq!(status, StatusCode::OK, "{hint}");
    assert_eq!((&hint["by"], &hint["outcome"]), (&"builtin:perfect".into(), &"draw".into()));
    let text = format!("Perfect play would play {}: draws.", hint["name"].as_str().unwrap());
    assert_eq!((&hint["text"], &hint["hints"]), (&text.into(), &1.into()));
    let good = json!({ "action": hint["action"], "ply": 0 });
    lab.ask("POST", &format!("{path}/moves"), Some(good)).await;
    let (status, back) = post("undo?ply=2").await;
    assert_eq!((status, &back["moves"]), (StatusCode::OK, &json!([])));
    assert_eq!(back["help"], "with 1 take-back, 1 hint");
    check_problem(
        lab.ask("POST", "/api/play/r-000000/undo", None).await,
        (404, "no_such_run", &[]),
    );
    // Losing on purpose is the quickest way to the end.
    let mut play = back;
    while play["result"].is_null() {
        let next = json!({ "action": play["legal"][0], "ply": play["ply"] });
        play = lab.ask("POST", &format!("{path}/moves"), Some(next)).await.1;
    }
    check_problem(post("hint").await, (409, "nothing_to_hint", &[]));
    let (_, list) = lab.ask("GET", "/api/play", None).await;
    assert_eq!(list["plays"][0]["help"], "with 1 take-back, 1 hint");
}

#[tokio::test]
async fn levels_are_served_with_their_strength() {
    let lab = TestLab::new();
    let (_, games) = lab.ask("GET", "/api/games", None).await;
    let levels = |game: usize| -> Vec<&str> {
        let opponents = games["games"][game]["opponents"].as_array().unwrap();
        opponents.iter().map(|opponent| opponent["level"].as_str().unwrap()).collect()
    };
    assert_eq!(levels(0), ["Perfect", "Club", "Casual", "Beginner"]);
    assert_eq!(levels(1), ["Perfect", "Expert", "Strong", "Club", "Casual", "Beginner"]);
    assert_eq!(levels(2), ["Strong", "Club", "Casual", "Beginner"]);
    assert_eq!(
        games["games"][1]["opponents"][3]["strength"],
        "Took 87% of the points from Casual."
    );
}

#[tokio::test]
async fn a_whole_game_over_the_api() {
    let lab = TestLab::new();
    let new = json!({ "game": "tictactoe", "opponent": "builtin:perfect", "side": "second" });
    let (status, mut play) = lab.ask("POST", "/api/play", Some(new)).await;
    assert_eq!(
        (status, play["turn"].as_str(), play["ply"].as_u64()),
        (StatusCode::CREATED, Some("you"), Some(1))
    );
    let path = format!("/api/play/{}", play["id"].as_str().unwrap());
    while play["result"].is_null() {
        let ply = play["ply"].as_u64().unwrap();
        let taken = play["moves"][0]["action"].clone();
        let illegal = lab
            .ask("POST", &format!("{path}/moves"), Some(json!({ "action": taken, "ply": ply })))
            .await;
        check_problem(illegal, (422, "illegal_move", &["/action"]));
        let stale = json!({ "action": play["legal"][0], "ply": ply + 1 });
        check_problem(
            lab.ask("POST", &format!("{path}/moves"), Some(stale)).await,
            (409, "stale_move", &["/ply"]),
        );
        let good = json!({ "action": play["legal"][0], "ply": ply });
        let (status, next) = lab.ask("POST", &format!("{path}/moves"), Some(good)).await;
        assert_eq!(status, StatusCode::OK);
        play = next;
    }
    assert_eq!(play["turn"], "over");
    assert_eq!(play["help"], Value::Null);
    assert_ne!(play["result"], "win", "perfect play does not lose");
    let (_, again) = lab.ask("GET", &path, None).await;
    assert_eq!(again, play);
    let (_, list) = lab.ask("GET", "/api/play", None).await;
    assert_eq!(list["plays"][0]["result"], play["result"]);
    let (_, runs) = lab.ask("GET", "/api/runs", None).await;
    assert_eq!(runs["runs"], json!([]), "games of people are no training runs");
}

#[tokio::test]
async fn an_idle_environment_can_be_watched() {
    let lab = TestLab::new();
    let (status, preview) =
        lab.ask("GET", "/api/environments/CartPole-v1/preview?seed=3", None).await;
    assert_eq!(status, StatusCode::OK);
    let frames = preview["frames"].as_array().unwrap();
    assert_eq!(frames.len() as u64, preview["length"].as_u64().unwrap() + 1);
    assert_eq!(frames.last().unwrap()["total_reward"].as_f64().unwrap(), (frames.len() - 1) as f64);
    let (_, again) = lab.ask("GET", "/api/environments/CartPole-v1/preview?seed=3", None).await;
    assert_eq!(again, preview);
    assert_eq!(preview["notice"], Value::Null);
    assert_eq!(frames[0].get("pieces"), None, "there is no board");
    // A board is told, column by column, to who cannot see it.
    let (_, game) = lab.ask("GET", "/api/environments/connect4/preview", None).await;
    assert_eq!(game["frames"][0]["pieces"], json!([[], [], [], [], [], [], []]));
    let column = game["frames"][1]["action"].as_u64().unwrap() as usize;
    assert_eq!(game["frames"][1]["pieces"][column], json!([0]));
    // An old id is that of what has taken its place, and the answer says so.
    let (_, old) = lab.ask("GET", "/api/environments/LunarLander-v2/preview", None).await;
    assert_eq!(old["env_id"], "LunarLander-v3");
    assert_eq!(old["notice"], "`LunarLander-v2` is out of date; this is `LunarLander-v3`");
}

#[tokio::test]
async fn environments_say_what_can_be_chosen() {
    let lab = TestLab::new();
    let (_, list) = lab.ask("GET", "/api/environments", None).await;
    let options = |id: &str| {
        let found = list["environments"].as_array().unwrap().iter().find(|env| env["id"] == id);
        found.unwrap()["options"].clone()
    };
    assert_eq!(
        options("CartPole-v1"),
        json!({ "sutton_barto_reward": false, "max_episode_steps": 500 })
    );
    assert_eq!(options("LunarLander-v3")["continuous"], false);
    let walker = json!({ "max_episode_steps": 1600 });
    assert_eq!(options("BipedalWalker-v3"), walker, "what no run may have is not offered");
}

#[tokio::test]
async fn pages_carry_the_security_headers_and_addresses_fall_back_to_the_app() {
    let lab = TestLab::new();
    for path in ["/", "/lab", "/runs/r-000000", "/play"] {
        let response = lab.send(bare("GET", path).body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        let policy = response.headers()["content-security-policy"].to_str().unwrap();
        assert!(
            policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
    }
    for path in ["/missing.js", "/_app/immutable/nothing", "/../Cargo.toml", "/%2e%2e/Cargo.toml"] {
        let response = lab.send(bare("GET", path).body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
    }
    let response = lab.send(bare("POST", "/lab").body(Body::empty()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
}

mod alerts;
mod artifacts;
mod contests;
mod experiments;
mod feed;
mod insight;
mod live_frames;
mod live_play;
mod locks;
mod models;
mod resources;
mod settings;
mod theatre;
mod thoughts;
mod trainers;
mod wandb;

#[tokio::test]
async fn metrics_are_charts_stretches_and_tails() {
    use cartridge_run::store::{Manifest, RunDir, RunKind};
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let manifest = |id| -> Manifest {
        serde_json::from_value(json!({ "format": 1, "id": id, "kind": RunKind::Train,
            "name": "Cart Pole", "env_id": "CartPole-v1", "config": {}, "created_at": 1.0,
            "cartridge_version": "0" }))
        .unwrap()
    };
    let (dir, manifest) = RunDir::create(&data, manifest).unwrap();
    let row = |row: u64| {
        let loss = (row != 5_000).then_some(if row == 7_777 { 1e9 } else { 0.5 });
        json!({ "attempt": 1, "row": row, "t": 1.7e9 + row as f64 / 3.0, "step": 10 * row,
            "values": { "train/loss": loss, "time/fps": row, "rollout/ep_rew_mean": 0.5 },
            "episodes": { "episode": [2 * row - 1, 2 * row], "reward": [row, -1], "length": [4, 6],
                "timestep": [10 * row - 6, 10 * row], "seed": [null, null],
                "terminated": [true, true] } })
    };
    let lines: String = (1..=20_000).map(|n| format!("{}\n", row(n))).collect();
    std::fs::write(dir.metrics_path(), lines).unwrap();
    let lab = TestLab::over(folder);
    while lab.state.lab.is_behind() {
        lab.state.lab.tick().unwrap();
    }
    let path = format!("/api/runs/{}/metrics", manifest.id);
    let (_, body) = lab.ask("GET", &path, None).await;
    assert_eq!(body["last_row"], 20_000);
    let values =
        |body: &Value, idx: usize| body["series"][idx]["value"].as_array().unwrap().clone();
    assert_eq!(
        (&body["series"][1]["key"], &body["series"][2]["key"]),
        (&json!("time/fps"), &json!("train/loss"))
    );
    assert!(values(&body, 2).contains(&json!(1e9)), "the spike survives");
    assert!(values(&body, 2).contains(&Value::Null), "the absence survives");
    assert!((200..=502).contains(&values(&body, 1).len()), "{}", values(&body, 1).len());

    let (_, part) =
        lab.ask("GET", &format!("{path}?keys=train/loss&from=77760&to=77780"), None).await;
    assert_eq!(part["series"].as_array().unwrap().len(), 1);
    assert_eq!(part["series"][0]["step"], json!([77760, 77770, 77780]));
    assert_eq!(values(&part, 0), [json!(0.5), json!(1e9), json!(0.5)]);

    let tail = async |query: &str| -> Vec<Value> {
        let request = bare("GET", &format!("{path}?{query}"))
            .header("authorization", format!("Bearer {TOKEN}"))
            .body(Body::empty())
            .unwrap();
        let response = lab.send(request).await;
        assert_eq!(response.headers()["content-type"], "application/x-ndjson");
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let rows = tail("tail=2").await;
    assert_eq!(rows.len(), 2);
    assert_eq!((&rows[0]["row"], &rows[1]["step"]), (&json!(19_999), &json!(200_000)));
    assert_eq!(
        rows[1]["values"],
        json!({ "time/fps": 20_000.0, "train/loss": 0.5, "rollout/ep_rew_mean": 0.5 })
    );

    // CleanRL's two of single episodes: every one of a stretch, spikes of more, and lines of a tail.
    let keys = "keys=charts/episodic_return,time/fps,charts/episodic_length";
    let (_, part) = lab.ask("GET", &format!("{path}?{keys}&from=77774&to=77784"), None).await;
    let series = |idx: usize, column: &str| part["series"][idx][column].clone();
    assert_eq!(series(0, "step"), json!([77774, 77780, 77784]));
    assert_eq!(series(0, "value"), json!([7778.0, -1.0, 7779.0]));
    assert_eq!((series(1, "key"), series(1, "step")), (json!("time/fps"), json!([77780])));
    assert_eq!(series(2, "value"), json!([4.0, 6.0, 4.0]));
    let (_, whole) = lab.ask("GET", &format!("{path}?{keys}"), None).await;
    assert!((400..=502).contains(&values(&whole, 0).len()), "{}", values(&whole, 0).len());
    assert_eq!(values(&whole, 0)[0], 1.0);
    assert!(values(&whole, 0).contains(&json!(20_000.0)));
    let (_, mean) = lab.ask("GET", &format!("{path}?keys=charts/avg_episodic_return"), None).await;
    assert_eq!(values(&mean, 0)[0], 0.5);
    let rows = tail(&format!("{keys}&tail=4")).await;
    let steps: Vec<&Value> = rows.iter().map(|row| &row["step"]).collect();
    assert_eq!(steps, [199_990, 199_994, 200_000, 200_000]);
    assert_eq!(rows[0]["values"], json!({ "time/fps": 19_999.0 }));
    assert_eq!(
        rows[2]["values"],
        json!({ "charts/episodic_return": -1.0, "charts/episodic_length": 6.0 })
    );

    for (query, n) in [
        ("q=cart", 1),
        ("q=lander", 0),
        ("kind=eval", 0),
        ("kind=train&state=queued,lost", 1),
        ("state=running", 0),
        ("env=CartPole-v1", 1),
    ] {
        let (_, page) = lab.ask("GET", &format!("/api/runs?{query}"), None).await;
        assert_eq!(page["runs"].as_array().unwrap().len(), n, "{query}");
    }
    check_problem(lab.ask("GET", "/api/runs?state=sleepy", None).await, (400, "malformed", &[]));
}
