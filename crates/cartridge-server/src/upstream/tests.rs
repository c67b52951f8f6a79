use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use data_encoding::BASE64;
use serde_json::json;

use super::*;

const KEY: &str = "0123456789abcdef0123456789abcdef01234567";

/// A server that answers as it is told, and counts.
struct Server {
    base_url: String,
    n_asked: Arc<AtomicUsize>,
    answer: Arc<Mutex<String>>,
    /// What it was last asked, with its head.
    heard: Arc<Mutex<String>>,
}

impl Server {
    fn start(pause: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            base_url: format!("http://{}", listener.local_addr().unwrap()),
            n_asked: Arc::default(),
            answer: Arc::new(Mutex::new(ok(r#"{"data":{"n":1}}"#))),
            heard: Arc::default(),
        };
        let (n_asked, answer, heard) =
            (Arc::clone(&server.n_asked), Arc::clone(&server.answer), Arc::clone(&server.heard));
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
                n_asked.fetch_add(1, Ordering::SeqCst);
                *held(&heard) = head + &String::from_utf8(body).unwrap();
                thread::sleep(pause);
                _ = socket.write_all(held(&answer).as_bytes());
            }
        });
        server
    }

    fn source(&self, ttl_seconds: u64) -> WandbSource {
        WandbSource {
            base_url: self.base_url.clone(),
            entity: Some("me".to_owned()),
            project: Some("lander".to_owned()),
            ttl_seconds,
        }
    }

    fn say(&self, answer: String) {
        *held(&self.answer) = answer;
    }

    fn n_asked(&self) -> usize {
        self.n_asked.load(Ordering::SeqCst)
    }
}

fn ok(body: &str) -> String {
    let n = body.len();
    format!("HTTP/1.1 200 OK\r\ncontent-length: {n}\r\nconnection: close\r\n\r\n{body}")
}

fn status(line: &str) -> String {
    format!("HTTP/1.1 {line}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

fn upstream() -> Upstream {
    Upstream::with_patience(Some(KEY.to_owned()), Duration::from_millis(500))
}

#[test]
fn who_asks_the_same_at_once_waits_for_one_request() {
    let server = Server::start(Duration::from_millis(100));
    let (upstream, source) = (upstream(), server.source(60));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let answer = upstream.ask(&source, "query A", &json!({})).unwrap();
                assert_eq!((answer.data["n"].as_u64(), answer.trouble), (Some(1), None));
            });
        }
    });
    assert_eq!(server.n_asked(), 1);
    upstream.ask(&source, "query B", &json!({})).unwrap();
    upstream.ask(&source, "query A", &json!({ "x": 1 })).unwrap();
    assert_eq!(server.n_asked(), 3, "other questions are asked by themselves");
    let heard = held(&server.heard).clone();
    assert!(heard.starts_with("POST /graphql "), "{heard}");
    let login = BASE64.encode(format!("api:{KEY}").as_bytes());
    assert!(heard.contains(&format!("Basic {login}")), "{heard}");
}

#[test]
fn what_was_known_is_answered_while_the_server_fails() {
    let server = Server::start(Duration::ZERO);
    let (upstream, source) = (upstream(), server.source(0));
    assert_eq!(upstream.ask(&source, "q", &json!({})).unwrap().trouble, None);
    for (answer, code) in [
        (status("503 Service Unavailable"), "wandb_refused"),
        (ok("no json"), "wandb_malformed"),
        (ok(&format!(r#"{{"errors":[{{"message":"no {KEY}"}}]}}"#)), "wandb_malformed"),
        (String::new(), "wandb_away"),
    ] {
        server.say(answer);
        let stale = upstream.ask(&source, "q", &json!({})).unwrap();
        let trouble = stale.trouble.unwrap();
        assert_eq!((stale.data["n"].as_u64(), trouble.code()), (Some(1), code), "{trouble}");
        assert!(!trouble.to_string().contains(KEY), "{trouble}");
        let n = server.n_asked();
        upstream.ask(&source, "q", &json!({})).unwrap();
        assert_eq!(server.n_asked(), n, "it is left alone for a moment");
        held(&upstream.slot(&format!("{}\nq\n{{}}", source.base_url))).failed = None;
    }
    let unknown = upstream.ask(&source, "other", &json!({})).unwrap_err();
    assert_eq!(unknown.code(), "wandb_away");
    server.say(ok(r#"{"data":{"n":2}}"#));
    assert_eq!(upstream.ask(&source, "q", &json!({})).unwrap().data["n"], 2);
}

#[test]
fn a_server_that_was_asked_enough_is_left_alone() {
    let server = Server::start(Duration::ZERO);
    let (upstream, source) = (upstream(), server.source(0));
    upstream.ask(&source, "q", &json!({})).unwrap();
    server.say(status("429 Too Many Requests\r\nretry-after: 60"));
    assert_eq!(
        upstream.ask(&source, "q", &json!({})).unwrap().trouble.unwrap().code(),
        "wandb_limited"
    );
    // Whatever is asked.
    let refused = upstream.ask(&source, "other", &json!({})).unwrap_err();
    assert!(
        matches!(refused, Trouble::Limited(wait) if wait > Duration::from_secs(50)),
        "{refused}"
    );
    assert_eq!(server.n_asked(), 2);
    // The last one that is granted is as good as a refusal of the next.
    let other = super::tests::upstream();
    let body = r#"{"data":{}}"#;
    server.say(
        ok(body).replace("\r\n\r\n", "\r\nratelimit-remaining: 0\r\nratelimit-reset: 9\r\n\r\n"),
    );
    other.ask(&source, "q", &json!({})).unwrap();
    assert_eq!(
        other.ask(&source, "q", &json!({})).unwrap().trouble.unwrap().code(),
        "wandb_limited"
    );
}

#[test]
fn who_is_slow_is_not_waited_for() {
    let server = Server::start(Duration::from_secs(2));
    let began = Instant::now();
    let slow = upstream().ask(&server.source(60), "q", &json!({})).unwrap_err();
    assert!(matches!(slow, Trouble::Slow(_)));
    assert!(began.elapsed() < Duration::from_millis(1_500), "{:?}", began.elapsed());
}

#[test]
fn without_a_key_or_a_project_that_is_said() {
    let server = Server::start(Duration::ZERO);
    let source = server.source(60);
    let keyless = Upstream::new(Some("  ".to_owned())).ask(&source, "q", &json!({})).unwrap_err();
    assert!(keyless.to_string().contains("WANDB_API_KEY"), "{keyless}");
    let source = WandbSource { project: None, ..source };
    let lost = upstream().ask(&source, "q", &json!({})).unwrap_err();
    assert!(lost.to_string().contains("wandb.project"), "{lost}");
    assert_eq!(server.n_asked(), 0);
}

#[test]
fn what_is_kept_has_a_bound() {
    let server = Server::start(Duration::ZERO);
    let (upstream, source) = (upstream(), server.source(60));
    for n in 0..MOST_KEPT + 20 {
        upstream.ask(&source, "q", &json!({ "n": n })).unwrap();
    }
    assert_eq!(held(&upstream.slots).len(), MOST_KEPT);
}
