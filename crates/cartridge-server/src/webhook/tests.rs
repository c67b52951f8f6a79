//! A webhook against a real receiver on a real socket.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::thread::JoinHandle;

use cartridge_run::alert::{Alert, Book};
use serde_json::{Value, json};

use super::*;

/// Takes one request after the other, answers each as it is told, and returns what came.
fn receiver(answers: Vec<String>) -> (u16, JoinHandle<Vec<(String, Value)>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = thread::spawn(move || {
        let mut got = Vec::new();
        for answer in answers {
            let (socket, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(&socket);
            let (mut head, mut n_bytes) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(length) = line.to_lowercase().strip_prefix("content-length:") {
                    n_bytes = length.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
                head += &line;
            }
            let mut body = vec![0; n_bytes];
            reader.read_exact(&mut body).unwrap();
            (&socket).write_all(answer.as_bytes()).unwrap();
            got.push((head, serde_json::from_slice(&body).unwrap()));
        }
        got
    });
    (port, thread)
}

fn answer(status: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

fn webhook(port: u16) -> Webhook {
    Webhook {
        url: Some(format!("http://127.0.0.1:{port}/hook?key=secret")),
        allow_hosts: vec!["127.0.0.1".to_owned()],
        allow_private_hosts: vec!["127.0.0.1".to_owned()],
    }
}

fn alert() -> Alert {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let line = json!({ "seq": 1, "t": 1.0, "id": "al-1", "type": "triggered", "kind": "disk",
                       "sentence": "little room", "suggestion": "free some" });
    std::fs::write(folder.path().join("alerts.jsonl"), format!("{line}\n")).unwrap();
    Book::read(&data).unwrap().get("al-1").unwrap().clone()
}

fn tell_quickly(webhook: &Webhook) -> Result<(), Untold> {
    tell_patiently(webhook, &News::new(&alert(), 1), Duration::from_millis(1))
}

#[test]
fn a_receiver_gets_the_alert_and_may_ask_for_another_attempt() {
    let busy = answer("503 Service Unavailable");
    let (port, receiver) =
        receiver(vec![busy, answer("429 Too Many Requests"), answer("204 No Content")]);
    tell_quickly(&webhook(port)).unwrap();
    let got = receiver.join().unwrap();
    let (head, body) = &got[2];
    assert!(head.starts_with("POST /hook?key=secret HTTP/1.1"), "{head}");
    assert!(!head.to_lowercase().contains("authorization"), "{head}");
    assert_eq!(body["type"], "AlertTriggered");
    assert_eq!(body["alert"]["id"], "al-1");
    assert_eq!(body["alert"]["triggered_at"], "1970-01-01T00:00:01.000Z");
    assert_eq!(got[0].1, got[2].1);
}

#[test]
fn a_redirect_is_not_followed_and_no_is_no() {
    let (elsewhere, _unasked) = receiver(vec![answer("200 OK")]);
    let away = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:{elsewhere}/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    let (port, first) = receiver(vec![away]);
    assert!(matches!(tell_quickly(&webhook(port)), Err(Untold::Refused(307))));
    assert_eq!(first.join().unwrap().len(), 1);
    let (port, first) = receiver(vec![answer("404 Not Found")]);
    assert!(matches!(tell_quickly(&webhook(port)), Err(Untold::Refused(404))));
    assert_eq!(first.join().unwrap().len(), 1);
}

#[test]
fn only_hosts_that_are_listed_are_told_and_private_ones_twice() {
    // Nobody listens there: a connection would be an error of another kind.
    let there = "http://127.0.0.1:1/";
    let check = |url: &str, hosts: &[&str], private: &[&str], expected: &str| {
        let list = |hosts: &[&str]| hosts.iter().map(|host| (*host).to_owned()).collect();
        let webhook = Webhook {
            url: Some(url.to_owned()),
            allow_hosts: list(hosts),
            allow_private_hosts: list(private),
        };
        let error = tell_quickly(&webhook).unwrap_err();
        assert!(error.to_string().contains(expected), "{url}: {error}");
    };
    check(there, &[], &[], "not in alerts.webhook.allow_hosts");
    check(there, &["example.com"], &["127.0.0.1"], "not in alerts.webhook.allow_hosts");
    check(there, &["127.0.0.1"], &[], "add it to alerts.webhook.allow_private_hosts");
    // A name that leads to this machine.
    check("http://localhost:1/", &["localhost"], &[], "private network");
    check("http://[::1]:1/", &["[::1]"], &[], "private network");
    check("http://[::ffff:10.0.0.1]:1/", &["[::ffff:10.0.0.1]"], &[], "private network");
    check("http://169.254.169.254/", &["169.254.169.254"], &["127.0.0.1"], "private network");
    check("http://hooks.example@127.0.0.1/", &["127.0.0.1"], &["127.0.0.1"], "no address");
    check("ftp://127.0.0.1/", &["127.0.0.1"], &[], "no address");
    check("somewhere", &[], &[], "no address");
}

#[test]
fn addresses_for_everybody_are_told_from_others() {
    let check = |text: &str, expected: bool| {
        assert_eq!(is_public(text.parse().unwrap()), expected, "{text}");
    };
    for public in ["8.8.8.8", "100.63.0.1", "172.32.0.1", "2606:4700::1111", "64:ff9b::808:808"] {
        check(public, true);
    }
    for special in [
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "127.0.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "192.168.1.1",
        "192.0.0.8",
        "198.18.0.1",
        "203.0.113.1",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fd00::1",
        "ff02::1",
        "2001:db8::1",
        "::ffff:127.0.0.1",
        "64:ff9b::a00:1",
        "2002:7f00:1::",
    ] {
        check(special, false);
    }
}

#[test]
fn nobody_is_told_without_an_address_and_a_full_outbox_blocks_nobody() {
    tell_quickly(&Webhook::default()).unwrap();
    // A receiver that never takes anything: nobody reads the channel.
    let (sender, _receiver) = mpsc::sync_channel(1);
    let outbox = Outbox(sender);
    for _ in 0..10 {
        outbox.send(News::new(&alert(), 1));
    }
}
