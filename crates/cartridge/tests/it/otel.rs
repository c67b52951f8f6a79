//! Traces of a real lab, taken by a real receiver of OTLP over HTTP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};

use crate::support::{LabProcess, agent, new_key};

/// A collector: the spans that come, one by one.
fn collector() -> (u16, mpsc::Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let socket = socket.unwrap();
            let mut reader = BufReader::new(&socket);
            let (mut line, mut n_bytes) = (String::new(), 0);
            reader.read_line(&mut line).unwrap();
            assert!(line.starts_with("POST /v1/traces HTTP/1.1"), "{line}");
            line.clear();
            while reader.read_line(&mut line).unwrap() > 2 {
                if let Some(length) = line.to_lowercase().strip_prefix("content-length:") {
                    n_bytes = length.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; n_bytes];
            reader.read_exact(&mut body).unwrap();
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
            (&socket).write_all(answer).unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let part = &body["resourceSpans"][0];
            assert_eq!(
                part["resource"]["attributes"][0],
                json!({ "key": "service.name", "value": { "stringValue": "cartridge" } })
            );
            for span in part["scopeSpans"][0]["spans"].as_array().unwrap() {
                if sender.send(span.clone()).is_err() {
                    return;
                }
            }
        }
    });
    (port, receiver)
}

fn attribute<'a>(span: &'a Value, key: &str) -> &'a Value {
    let found = span["attributes"].as_array().unwrap().iter().find(|it| it["key"] == key);
    found.map_or(&Value::Null, |it| &it["value"])
}

#[test]
fn requests_and_starts_of_runs_are_traced() {
    let folder = tempfile::tempdir().unwrap();
    let (port, spans) = collector();
    let endpoint = format!("http://127.0.0.1:{port}/");
    let lab = LabProcess::start_with(folder.path(), 0, &["--otlp-endpoint", &endpoint]);
    let (trace, parent) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    let mut answer = agent()
        .post(format!("{}/api/runs", lab.address))
        .header("authorization", format!("Bearer {}", lab.token()))
        .header("idempotency-key", new_key())
        .header("traceparent", format!("00-{trace}-{parent}-01"))
        .send_json(json!({ "env_id": "CartPole-v1", "total_timesteps": 5_000 }))
        .unwrap();
    let run: Value = answer.body_mut().read_json().unwrap();
    let mut seen: Vec<Value> = Vec::new();
    let mut next = |name: &str, key: &str, value: Value| {
        let is_it = |span: &&Value| span["name"] == name && *attribute(span, key) == value;
        loop {
            if let Some(span) = seen.iter().find(is_it) {
                return span.clone();
            }
            seen.push(spans.recv().unwrap());
        }
    };
    let text = |text: &str| json!({ "stringValue": text });
    let request = next("request", "http.route", text("/api/runs"));
    assert_eq!((&request["traceId"], &request["parentSpanId"]), (&json!(trace), &json!(parent)));
    assert_eq!(attribute(&request, "http.response.status_code"), &json!({ "intValue": "201" }));
    let number = answer.headers()["x-request-id"].to_str().unwrap();
    assert_eq!(attribute(&request, "request_id"), &text(number));
    // The queue may be quicker than the request that made the run, so it may be of another trace.
    let id = run["id"].as_str().unwrap();
    next("run.start", "run_id", text(id));
    lab.post(&format!("/api/runs/{id}/terminate"), &Value::Null);
    let stop = next("run.stop", "run_id", text(id));
    let asked = next("request", "http.route", text("/api/runs/{id}/terminate"));
    assert_eq!((&stop["traceId"], &stop["parentSpanId"]), (&asked["traceId"], &asked["spanId"]));
}
