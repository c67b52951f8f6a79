//! Tokens, roles, logins, tickets, keys, limits and the audit.

use std::time::{Duration, Instant};

use cartridge_run::clock::unix_now;
use cartridge_run::steer::By;
use cartridge_run::token::{self, Role};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;
use crate::limits::{Limits as Most, Pace};

impl TestLab {
    /// A token of a role, for `Authorization`.
    pub(super) fn token(&self, role: Role, lifetime_s: Option<f64>) -> String {
        let name = format!("{role}{}", &new_key()[..8]);
        let data = self.state.lab.data();
        token::make(data, &name, role, lifetime_s, By::new("test"), unix_now()).unwrap().1
    }

    /// Asks with a token and a key, both as given.
    pub(super) async fn ask_as(
        &self,
        token: &str,
        (method, path): (&str, &str),
        key: Option<&str>,
        body: Option<Value>,
    ) -> Response {
        let mut request = bare(method, path)
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        self.send(request.body(body).unwrap()).await
    }

    pub(super) fn audit(&self) -> Vec<cartridge_run::audit::AuditLine> {
        cartridge_run::audit::newest(self.state.lab.data(), 1000).unwrap()
    }
}

fn new_play() -> Option<Value> {
    Some(json!({ "game": "tictactoe", "opponent": "builtin:perfect" }))
}

#[tokio::test]
async fn a_request_that_is_sent_again_is_answered_as_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let lab = TestLab::over(folder);
    let play = ("POST", "/api/play");
    let first = lab.ask_as(TOKEN, play, Some("k1"), new_play()).await;
    assert_eq!(first.status(), StatusCode::CREATED);
    let headers = first.headers().clone();
    let (_, first) = read(first).await;
    for key in ["k1", "\"k1\""] {
        let again = lab.ask_as(TOKEN, play, Some(key), new_play()).await;
        assert_eq!(again.status(), StatusCode::CREATED);
        assert_eq!(again.headers()["idempotent-replayed"], "true");
        for name in ["content-type", "cartridge-command", "cartridge-curl"] {
            assert_eq!(again.headers()[name], headers[name]);
        }
        assert_eq!(read(again).await.1, first);
    }
    let other = Some(json!({ "game": "connect4", "opponent": "builtin:perfect" }));
    let check = async |answer: Response, expected: (u16, &str)| {
        check_problem(read(answer).await, (expected.0, expected.1, &[]));
    };
    check(lab.ask_as(TOKEN, play, Some("k1"), other).await, (422, "idempotency_key_reused")).await;
    let elsewhere = ("POST", "/api/play?x=1");
    check(
        lab.ask_as(TOKEN, elsewhere, Some("k1"), new_play()).await,
        (422, "idempotency_key_reused"),
    )
    .await;
    check(lab.ask_as(TOKEN, play, None, new_play()).await, (400, "no_idempotency_key")).await;
    check(lab.ask_as(TOKEN, play, Some(""), new_play()).await, (400, "malformed")).await;
    let long = "x".repeat(201);
    check(lab.ask_as(TOKEN, play, Some(&long), new_play()).await, (400, "malformed")).await;
    // Keys belong to those who use them.
    let operator = lab.token(Role::Operator, None);
    let (status, theirs) = read(lab.ask_as(&operator, play, Some("k1"), new_play()).await).await;
    assert_eq!(status, StatusCode::CREATED);
    assert_ne!(theirs["id"], first["id"]);
    // Of what failed nothing is kept: it is tried again.
    let stop = ("POST", "/api/runs/r-000000/stop");
    for _ in 0..2 {
        let answer = lab.ask_as(TOKEN, stop, Some("k2"), None).await;
        assert!(!answer.headers().contains_key("idempotent-replayed"));
        check(answer, (404, "no_such_run")).await;
    }
    // Across a restart of the lab.
    let TestLab { app, state, _folder: folder } = lab;
    drop((app, state));
    let lab = TestLab::over(folder);
    let again = lab.ask_as(TOKEN, play, Some("k1"), new_play()).await;
    assert_eq!(again.headers()["idempotent-replayed"], "true");
    assert_eq!(read(again).await.1, first);
    let mode = std::fs::metadata(path.join("answers.jsonl")).unwrap().permissions();
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(mode.mode() & 0o777, 0o600);
}

#[tokio::test]
async fn of_two_requests_at_once_one_waits() {
    let lab = TestLab::new();
    // Two bodies that end only when we say so.
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Vec<u8>, std::io::Error>>(2);
    let body = Body::from_stream(tokio_stream::wrappers::ReceiverStream::new(receiver));
    let request = |body: Body, key: &str| {
        bare("POST", "/api/play")
            .header("authorization", format!("Bearer {TOKEN}"))
            .header("content-type", "application/json")
            .header("idempotency-key", key)
            .body(body)
            .unwrap()
    };
    let text = new_play().unwrap().to_string();
    let many: Vec<_> = (0..8).map(|_| lab.send(request(Body::from(text.clone()), "k"))).collect();
    let answers = futures_util::future::join_all(many).await;
    let mut made = Vec::new();
    for answer in answers {
        let (status, body) = read(answer).await;
        match status.as_u16() {
            201 => made.push(body["id"].clone()),
            409 => assert_eq!(body["code"], "under_way"),
            other => panic!("{other}: {body}"),
        }
    }
    made.dedup();
    assert_eq!(made.len(), 1, "one game was made");
    assert_eq!(lab.state.lab.data().run_ids().unwrap().len(), 1);
    drop(sender);
    let cut = lab.send(request(body, "cut")).await;
    assert_eq!(cut.status(), StatusCode::BAD_REQUEST, "an empty body is no game");
}

#[tokio::test]
async fn work_goes_on_when_the_client_leaves() {
    // Asked again and again, without a pause.
    let any = Pace { burst: 1e9, per_second: 1e9 };
    let limits = Most { mutations: any, requests: any, ..Most::default() };
    let lab = TestLab::with_limits(tempfile::tempdir().unwrap(), limits);
    let play = ("POST", "/api/play");
    {
        let mut asked = Box::pin(lab.ask_as(TOKEN, play, Some("gone"), new_play()));
        // Begun, and then dropped, as a connection that breaks does.
        std::future::poll_fn(|context| {
            _ = asked.as_mut().poll(context);
            std::task::Poll::Ready(())
        })
        .await;
    }
    let found = loop {
        let again = lab.ask_as(TOKEN, play, Some("gone"), new_play()).await;
        if again.status() != StatusCode::CONFLICT {
            break again;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(found.status(), StatusCode::CREATED);
    assert_eq!(lab.state.lab.data().run_ids().unwrap().len(), 1, "one game was made");
}

/// Every route of the OpenAPI document with its least role, by [`roles::RULES`] alone.
fn matrix() -> Vec<(String, String, Role)> {
    let (_, document) = routes().split_for_parts();
    let document = serde_json::to_value(document).unwrap();
    let mut matrix = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let method = method.to_uppercase();
            let is_public =
                ["/healthz", "/readyz", "/login", "/api/login"].contains(&path.as_str());
            let rule = roles::RULES.iter().find(|rule| rule.method == method && rule.path == path);
            let role = match rule {
                _ if is_public => continue,
                Some(rule) => rule.role,
                None if method == "GET" => Role::Viewer,
                None => panic!("{method} {path} has no line in roles::RULES"),
            };
            matrix.push((method, path.clone(), role));
        }
    }
    for rule in roles::RULES {
        let is_there = matrix.iter().any(|(m, p, _)| m == rule.method && p == rule.path);
        assert!(is_there, "{} {} of roles::RULES is no route", rule.method, rule.path);
    }
    matrix
}

#[tokio::test]
async fn security_class_j_every_role_does_what_it_may_and_no_more() {
    let lab = TestLab::new();
    let tokens = Role::ALL.map(|role| (role, lab.token(role, None)));
    let matrix = matrix();
    assert!(matrix.len() > 40, "{}", matrix.len());
    for (method, path, least) in matrix {
        let path = path
            .replace("{id}", "r-000000")
            .replace("{episode}", "1")
            .replace("{name}", "a-model")
            .replace("{version}", "1")
            .replace("{artifact_id}", "a-00000000");
        for (role, token) in &tokens {
            let key = new_key();
            // Nothing that it could do is asked for: the body is no JSON.
            let answer = lab.ask_as(token, (&method, &path), Some(&key), None).await;
            let is_refused = answer.status() == StatusCode::FORBIDDEN;
            assert_eq!(is_refused, *role < least, "{role}: {method} {path} {}", answer.status());
            if is_refused {
                let problem = read(answer).await.1;
                assert_eq!(problem["code"], "role_too_low", "{role}: {method} {path}");
            }
        }
    }
}

#[tokio::test]
async fn a_game_belongs_to_who_began_it() {
    let lab = TestLab::new();
    let [ada, bob] = [0; 2].map(|_| lab.token(Role::Operator, None));
    let admin = TOKEN.to_owned();
    let begun = lab.ask_as(&ada, ("POST", "/api/play"), Some("k1"), new_play()).await;
    let (status, play) = read(begun).await;
    assert_eq!((status, &play["is_yours"]), (StatusCode::CREATED, &true.into()));
    let game = format!("/api/play/{}", play["id"].as_str().unwrap());
    let step = |action: u32, ply: u32| Some(json!({ "action": action, "ply": ply }));
    let moved = lab.ask_as(&ada, ("POST", &format!("{game}/moves")), None, step(0, 0)).await;
    assert_eq!(moved.status(), StatusCode::OK);
    // Across a restart of the lab.
    let TestLab { app, state, _folder: folder } = lab;
    drop((app, state));
    let lab = TestLab::over(folder);
    let list = async |token: &str, query: &str| {
        read(lab.ask_as(token, ("GET", &format!("/api/play{query}")), None, None).await).await
    };
    let n_plays = |answer: &(StatusCode, Value)| answer.1["plays"].as_array().unwrap().len();
    assert_eq!(n_plays(&list(&ada, "").await), 1);
    assert_eq!(n_plays(&list(&bob, "").await), 0);
    assert_eq!(n_plays(&list(&admin, "").await), 0);
    let all = list(&admin, "?all=true").await;
    assert_eq!((n_plays(&all), &all.1["plays"][0]["owner"]), (1, &play["owner"]));
    check_problem(list(&bob, "?all=true").await, (403, "role_too_low", &[]));
    for token in [&bob, &admin] {
        let post = async |what: &str, body: Option<Value>| {
            read(lab.ask_as(token, ("POST", &format!("{game}/{what}")), None, body).await).await
        };
        check_problem(post("moves", step(8, 2)).await, (403, "not_yours", &[]));
        for what in ["undo", "hint", "thoughts"] {
            check_problem(post(what, None).await, (403, "not_yours", &[]));
        }
        let (status, seen) = read(lab.ask_as(token, ("GET", &game), None, None).await).await;
        assert_eq!((status, &seen["ply"]), (StatusCode::OK, &2.into()));
        assert_eq!((&seen["is_yours"], &seen["owner"]), (&false.into(), &play["owner"]));
    }
    let back = lab.ask_as(&ada, ("POST", &format!("{game}/undo")), None, None).await;
    assert_eq!(back.status(), StatusCode::OK);
}

#[tokio::test]
async fn tokens_are_made_listed_and_taken_back() {
    let lab = TestLab::new();
    let new = json!({ "name": "ci", "role": "operator", "expires_in_s": 3600 });
    let made = lab.ask_as(TOKEN, ("POST", "/api/tokens"), Some("t"), Some(new.clone())).await;
    assert_eq!(made.status(), StatusCode::CREATED);
    assert_eq!(made.headers()["cache-control"], "no-store");
    assert_eq!(
        made.headers()["cartridge-command"],
        "cartridge token new --role operator --name ci --expires 3600s"
    );
    let (_, made) = read(made).await;
    let secret = made["secret"].as_str().unwrap().to_owned();
    let (_, me) = read(lab.ask_as(&secret, ("GET", "/api/me"), None, None).await).await;
    assert_eq!(me, json!({ "name": "ci", "role": "operator" }));
    // The secret is not kept, so it cannot be told again.
    let again = lab.ask_as(TOKEN, ("POST", "/api/tokens"), Some("t"), Some(new.clone())).await;
    check_problem(read(again).await, (409, "shown_once", &[]));
    let twice = lab.ask("POST", "/api/tokens", Some(new)).await;
    check_problem(twice, (422, "invalid_field", &["/name"]));
    let (_, list) = lab.ask("GET", "/api/tokens", None).await;
    assert_eq!(list["tokens"][0]["name"], "ci");
    assert!(!list.to_string().contains(secret.rsplit('-').next().unwrap()));
    let path = format!("/api/tokens/{}", made["token"]["id"].as_str().unwrap());
    assert_eq!(lab.ask("DELETE", &path, None).await.0, StatusCode::NO_CONTENT);
    check_problem(lab.ask("DELETE", &path, None).await, (404, "no_such_token", &[]));
    let after = lab.ask_as(&secret, ("GET", "/api/me"), None, None).await;
    assert_eq!(after.status(), StatusCode::UNAUTHORIZED);
    let ended = lab.token(Role::Admin, Some(1e-9));
    let after = lab.ask_as(&ended, ("GET", "/api/me"), None, None).await;
    assert_eq!(after.status(), StatusCode::UNAUTHORIZED, "it has ended");
    let deeds: Vec<&str> = lab.audit().iter().map(|line| line.what.as_str()).collect();
    assert_eq!(deeds, ["grant", "revoke", "grant"]);
    let line = &lab.audit()[0];
    assert_eq!((line.who.as_str(), line.role), ("admin", Some(Role::Admin)));
    assert_eq!(line.request.as_deref(), Some("t"));
    assert_eq!(line.request_id.as_ref().map(String::len), Some(12));
}

/// Logs in by a token and returns the cookie.
async fn log_in(lab: &TestLab, token: &str) -> String {
    let request = bare("POST", "/api/login").header("content-type", "application/json");
    let body = json!({ "token": token }).to_string();
    let answer = lab.send(request.body(Body::from(body)).unwrap()).await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_logout_ends_the_login_for_good() {
    let lab = TestLab::new();
    let viewer = lab.token(Role::Viewer, None);
    let (cookie, other) = (log_in(&lab, &viewer).await, log_in(&lab, TOKEN).await);
    let get = async |lab: &TestLab, cookie: &str| {
        let request = bare("GET", "/api/me").header("cookie", cookie);
        read(lab.send(request.body(Body::empty()).unwrap()).await).await
    };
    assert_eq!(get(&lab, &cookie).await.1["role"], "viewer", "it has the role of its token");
    let out = bare("POST", "/api/logout").header("cookie", &cookie).body(Body::empty()).unwrap();
    let out = lab.send(out).await;
    assert_eq!(out.status(), StatusCode::NO_CONTENT);
    assert!(out.headers()["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(get(&lab, &cookie).await.0, StatusCode::UNAUTHORIZED, "a copy is worth nothing");
    assert_eq!(get(&lab, &other).await.0, StatusCode::OK, "others stay in");
    let TestLab { app, state, _folder: folder } = lab;
    drop((app, state));
    let lab = TestLab::over(folder);
    assert_eq!(get(&lab, &cookie).await.0, StatusCode::UNAUTHORIZED, "also after a restart");
    assert_eq!(get(&lab, &other).await.0, StatusCode::OK);
    // A login ends with its token.
    let fresh = log_in(&lab, &viewer).await;
    let id = token::list(lab.state.lab.data()).unwrap()[0].id.clone();
    token::revoke(lab.state.lab.data(), &id, By::new("test"), unix_now()).unwrap();
    assert_eq!(get(&lab, &fresh).await.0, StatusCode::UNAUTHORIZED);
    let deeds: Vec<&str> = lab.audit().iter().map(|line| line.what.as_str()).collect();
    assert_eq!(deeds, ["grant", "login", "login", "logout", "login", "revoke"]);
}

#[tokio::test]
async fn a_ticket_opens_one_door_once() {
    let lab = TestLab::new();
    let viewer = lab.token(Role::Viewer, None);
    let get = async |path: String| {
        lab.send(bare("GET", &path).body(Body::empty()).unwrap()).await.status().as_u16()
    };
    let ticket = async |token: &str, path: &str| {
        let body = Some(json!({ "path": path }));
        let (status, made) =
            read(lab.ask_as(token, ("POST", "/api/tickets"), None, body).await).await;
        assert_eq!((status, &made["expires_in"]), (StatusCode::CREATED, &json!(30)), "{made}");
        made["ticket"].as_str().unwrap().to_owned()
    };
    let good = ticket(&viewer, "/api/runs").await;
    assert_eq!(get(format!("/api/runs?limit=1&ticket={good}")).await, 200);
    assert_eq!(get(format!("/api/runs?limit=1&ticket={good}")).await, 401, "once");
    let good = ticket(&viewer, "/api/runs").await;
    assert_eq!(get(format!("/api/lab?ticket={good}")).await, 401, "this door only");
    assert_eq!(get(format!("/api/runs?ticket={good}")).await, 401, "and then it is spent");
    let good = ticket(&viewer, "/api/tokens").await;
    assert_eq!(get(format!("/api/tokens?ticket={good}")).await, 403, "with the role of its holder");
    let good = ticket(TOKEN, "/api/tokens").await;
    let post = bare("POST", &format!("/api/tokens?ticket={good}")).body(Body::empty()).unwrap();
    assert_eq!(lab.send(post).await.status(), StatusCode::UNAUTHORIZED, "for looking only");
    let tickets = crate::tickets::Tickets::default();
    let now = Instant::now();
    let old = tickets.make(lab.state.auth.owner(), "/api/runs", now).unwrap();
    assert_eq!(tickets.take(&old, "/api/runs", now + Duration::from_secs(30)), None, "too old");
    for path in ["", "/", "runs", "/api/runs?x", "http://x/api/"] {
        let body = Some(json!({ "path": path }));
        check_problem(
            lab.ask("POST", "/api/tickets", body).await,
            (422, "invalid_field", &["/path"]),
        );
    }
}

#[tokio::test]
async fn pages_of_named_origins_come_by_token_and_others_not_at_all() {
    let lab = TestLab::new();
    let from = |origin: &str, method: &str, path: &str| {
        bare(method, path).header("origin", origin).header("sec-fetch-site", "cross-site")
    };
    let bearer = format!("Bearer {TOKEN}");
    let answer = |request: axum::http::request::Builder| {
        let request = request.body(Body::empty()).unwrap();
        lab.send(request)
    };
    let may = answer(from(FRIEND, "GET", "/api/lab").header("authorization", &bearer)).await;
    assert_eq!(may.status(), StatusCode::OK);
    assert_eq!(may.headers()["access-control-allow-origin"], FRIEND);
    assert!(!may.headers().contains_key("access-control-allow-credentials"));
    let ask = from(FRIEND, "OPTIONS", "/api/runs").header("access-control-request-method", "POST");
    let ask = answer(ask).await;
    assert_eq!(ask.status(), StatusCode::NO_CONTENT);
    assert!(
        ask.headers()["access-control-allow-headers"].to_str().unwrap().contains("idempotency-key")
    );
    // A cookie that comes along does not count, nor can one be had.
    let cookie = log_in(&lab, TOKEN).await;
    let by_cookie = answer(from(FRIEND, "GET", "/api/lab").header("cookie", &cookie)).await;
    assert_eq!(by_cookie.status(), StatusCode::UNAUTHORIZED);
    let refused = by_cookie.headers()["access-control-allow-origin"].clone();
    assert_eq!(refused, FRIEND, "it may read why");
    for path in ["/api/login", "/api/logout"] {
        let request = from(FRIEND, "POST", path).header("authorization", &bearer);
        assert_eq!(answer(request).await.status(), StatusCode::FORBIDDEN, "{path}");
    }
    for origin in
        ["https://friend.example.evil", "http://friend.example", "https://friend.example:1", "null"]
    {
        for method in ["GET", "OPTIONS", "POST", "DELETE"] {
            let request = from(origin, method, "/api/runs")
                .header("authorization", &bearer)
                .header("access-control-request-method", "POST");
            let answer = answer(request).await;
            assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{method} from {origin}");
            assert!(!answer.headers().contains_key("access-control-allow-origin"), "{origin}");
        }
    }
    for (origin, is_one) in [
        ("https://lab.example", true),
        ("http://localhost:3000", true),
        ("*", false),
        ("https://lab.example/", false),
        ("lab.example", false),
        ("https://", false),
    ] {
        assert_eq!(crate::auth::check_origin(origin).is_ok(), is_one, "{origin}");
    }
}

#[tokio::test]
async fn every_change_is_recorded_and_says_how_to_make_it_again() {
    let lab = TestLab::new();
    let operator = lab.token(Role::Operator, None);
    let made = lab.ask_as(&operator, ("POST", "/api/play"), Some("p"), new_play()).await;
    assert_eq!(
        made.headers()["cartridge-command"],
        "cartridge play tictactoe --opponent builtin:perfect"
    );
    let curl = made.headers()["cartridge-curl"].to_str().unwrap().to_owned();
    assert!(curl.contains("$CARTRIDGE_TOKEN") && !curl.contains(&operator), "{curl}");
    let request_id = made.headers()["x-request-id"].to_str().unwrap().to_owned();
    let (_, made) = read(made).await;
    let line = lab.audit().pop().unwrap();
    assert_eq!((line.what.as_str(), &json!(line.target)), ("request", &made["id"]));
    assert_eq!(line.new, json!({ "method": "POST", "path": "/api/play" }));
    assert_eq!(line.request_id, Some(request_id));
    assert_eq!(line.role, Some(Role::Operator));
    let n = lab.audit().len();
    let path = format!("/api/play/{}/moves", made["id"].as_str().unwrap());
    let next = json!({ "action": made["legal"][0], "ply": made["ply"] });
    let moved = lab.ask_as(&operator, ("POST", &path), None, Some(next)).await;
    assert_eq!(moved.status(), StatusCode::OK, "moves need no key");
    lab.ask("POST", "/api/runs/r-000000/stop", None).await;
    assert_eq!(lab.audit().len(), n, "moves are in the game, and what failed changed nothing");

    let (_, page) = lab.ask("GET", "/api/audit?action=request&limit=1", None).await;
    assert_eq!(page["lines"][0]["role"], "operator");
    let (_, none) = lab.ask("GET", "/api/audit?to=2001-01-01T00:00:00Z", None).await;
    assert_eq!(none, json!({ "lines": [], "before": null }));
    check_problem(
        lab.ask("GET", "/api/audit?from=x", None).await,
        (422, "invalid_field", &["/from"]),
    );
    check_problem(lab.ask("GET", "/api/audit?x=1", None).await, (422, "invalid_field", &["/x"]));
    let csv = lab.ask_as(TOKEN, ("GET", "/api/audit/export"), None, None).await;
    assert_eq!(csv.headers()["content-type"], "text/csv; charset=utf-8");
    assert_eq!(csv.headers()["content-disposition"], "attachment; filename=\"audit.csv\"");
    let csv = csv.into_body().collect().await.unwrap().to_bytes();
    let csv = String::from_utf8(csv.to_vec()).unwrap();
    assert!(
        csv.starts_with("seq,at,who,role,what,target,old,new,request,request_id,hash\r\n1,"),
        "{csv}"
    );
    let (_, export) = lab.ask("GET", "/api/audit/export?format=json", None).await;
    assert_eq!(export["lines"].as_array().unwrap().len(), n);
}

#[tokio::test]
async fn readiness_names_what_is_wrong() {
    let lab = TestLab::new();
    let ask = async |lab: &TestLab| {
        read(lab.send(bare("GET", "/readyz").body(Body::empty()).unwrap()).await).await
    };
    let (status, readyz) = ask(&lab).await;
    assert_eq!((status.as_u16(), &readyz["status"]), (503, &json!("not_ready")));
    let bad: Vec<&Value> =
        readyz["checks"].as_array().unwrap().iter().filter(|check| check["ok"] == false).collect();
    assert_eq!((bad.len(), &bad[0]["name"]), (1, &json!("ticker")), "nobody ticks");
    assert_eq!(lab.ask("GET", "/healthz", None).await.1, json!({ "status": "ok" }));

    let ticker = lab.state.feed.start(Arc::clone(&lab.state.lab));
    let ready = loop {
        let (status, readyz) = ask(&lab).await;
        if status == StatusCode::OK {
            break readyz;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(ready["status"], "ready");
    assert!(ready["checks"].as_array().unwrap().iter().all(|check| check["reason"].is_null()));
    lab.state.feed.close();
    ticker.join().unwrap();
    let left: Vec<_> = std::fs::read_dir(lab.state.lab.data().path())
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(".ready"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// An application on a socket, with limits of its own.
async fn on_socket(limits: Most) -> (TestLab, std::net::SocketAddr) {
    let lab = TestLab::with_limits(tempfile::tempdir().unwrap(), limits);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, lab.state.clone()));
    (lab, address)
}

/// Sends bytes on a connection of their own and returns all that comes back until it is closed.
async fn converse(address: std::net::SocketAddr, bytes: &str) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(bytes.as_bytes()).await.unwrap();
    let mut text = Vec::new();
    _ = socket.read_to_end(&mut text).await;
    String::from_utf8_lossy(&text).into_owned()
}

fn get_health(address: std::net::SocketAddr) -> String {
    format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")
}

#[tokio::test]
async fn security_class_k_slow_heads_and_bodies_are_given_up() {
    let limits = Most {
        head_patience: Duration::from_millis(200),
        body_patience: Duration::from_millis(200),
        ..Most::default()
    };
    let (_lab, address) = on_socket(limits).await;
    let slow = converse(address, "GET /healthz HTTP/1.1\r\nhost: loc");
    let silent = converse(address, "");
    let post = format!(
        "POST /api/runs HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {TOKEN}\r\n\
         idempotency-key: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\
         connection: close\r\n\r\n{{"
    );
    let body = converse(address, &post);
    // Others are served meanwhile.
    let health = get_health(address);
    let (slow, silent, body, health) = tokio::join!(slow, silent, body, converse(address, &health));
    assert!(slow.is_empty() || slow.starts_with("HTTP/1.1 408"), "{slow}");
    assert!(silent.is_empty() || silent.starts_with("HTTP/1.1 408"), "{silent}");
    assert!(body.starts_with("HTTP/1.1 408") && body.contains("slow_body"), "{body}");
    assert!(health.starts_with("HTTP/1.1 200"), "{health}");
}

#[tokio::test]
async fn security_class_k_connections_and_streams_are_counted() {
    let limits = Most { connections: 3, streams: 1, ..Most::default() };
    let (_lab, address) = on_socket(limits).await;
    let stream = format!(
        "GET /api/stream HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {TOKEN}\r\n\r\n"
    );
    let mut first = TcpStream::connect(address).await.unwrap();
    first.write_all(stream.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    first.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    let stream = stream.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    let second = converse(address, &stream).await;
    assert!(second.starts_with("HTTP/1.1 503") && second.contains("no_stream"), "{second}");
    let health = get_health(address);
    assert!(converse(address, &health).await.starts_with("HTTP/1.1 200"), "there is room to ask");
    let _idle =
        [TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap()];
    // The places of the conversations before may come back a moment later.
    loop {
        let crowded = converse(address, "").await;
        if !crowded.is_empty() {
            assert!(crowded.starts_with("HTTP/1.1 503"), "{crowded}");
            break;
        }
    }
    drop(first);
    loop {
        if converse(address, &health).await.starts_with("HTTP/1.1 200") {
            break;
        }
    }
}

#[tokio::test]
async fn security_class_k_floods_are_slowed_down() {
    let slow = |burst: f64| Pace { burst, per_second: 0.001 };
    let limits =
        Most { failures: slow(3.0), mutations: slow(2.0), requests: slow(40.0), ..Most::default() };
    let (lab, address) = on_socket(limits).await;
    let ask = async |method: &str, path: &str, token: &str, body: &str| {
        let text = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\nidempotency-key: {}\r\n\
             connection: close\r\n\r\n{body}",
            body.len(),
            new_key()
        );
        let answer = converse(address, &text).await;
        let status: u16 = answer[9..12].parse().unwrap();
        if status == 429 {
            assert!(answer.contains("retry-after: ") && answer.contains("too_fast"), "{answer}");
        }
        status
    };
    let mut statuses = Vec::new();
    for _ in 0..5 {
        statuses.push(ask("GET", "/api/lab", "wrong", "").await);
    }
    assert_eq!(statuses, [401, 401, 401, 429, 429]);
    assert_eq!(ask("POST", "/api/login", "", "{\"token\":\"wrong\"}").await, 429, "nor this way");
    assert_eq!(ask("GET", "/api/lab", TOKEN, "").await, 200, "whoever has the token is in");
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(ask("POST", "/api/runs/r-000000/stop", TOKEN, "").await);
    }
    assert_eq!(statuses, [404, 404, 429]);
    assert_eq!(ask("GET", "/api/lab", TOKEN, "").await, 200, "looking goes on");
    let viewer = lab.token(Role::Viewer, None);
    let mut last = 0;
    for _ in 0..41 {
        last = ask("GET", "/api/lab", &viewer, "").await;
    }
    assert_eq!(last, 429);
}

#[tokio::test]
async fn security_class_k_addresses_bodies_and_lists_are_bounded() {
    let lab = TestLab::new();
    let long = format!("/api/runs?q={}", "x".repeat(9000));
    check_problem(lab.ask("GET", &long, None).await, (414, "long_address", &[]));
    let deep = "[".repeat(100_000);
    let request = bare("POST", "/api/runs")
        .header("authorization", format!("Bearer {TOKEN}"))
        .header("content-type", "application/json")
        .header("idempotency-key", new_key())
        .body(Body::from(deep))
        .unwrap();
    let status = lab.send(request).await.status();
    assert!(status.is_client_error(), "{status}");
    for path in [
        "/api/runs?limit=1000000000",
        "/api/audit?limit=1000000000",
        "/api/audit/export?limit=1000000000",
        "/api/play?limit=1000000000",
    ] {
        let (status, _) = lab.ask("GET", path, None).await;
        assert!(matches!(status.as_u16(), 200 | 422), "{path}: {status}");
    }
}

#[test]
fn every_code_is_in_the_documentation() {
    let documentation = include_str!("../../../../docs/api.md");
    let mut n = 0;
    for (at, _) in include_str!("../error.rs").match_indices("(StatusCode::") {
        let rest = &include_str!("../error.rs")[at..];
        let Some(code) = rest.split_once(", \"").and_then(|(before, rest)| {
            let is_pair = !before.contains([')', ';']);
            is_pair.then(|| rest.split('"').next())?
        }) else {
            continue;
        };
        assert!(documentation.contains(&format!("`{code}`")), "docs/api.md says nothing of {code}");
        n += 1;
    }
    assert!(n > 40, "{n} codes");
}
