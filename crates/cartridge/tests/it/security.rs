//! What has gone wrong in dashboards of this kind, held against a lab as a process: one test per
//! class. Class J (roles) and K (limits) are tested inside the server, by `tests::locks`.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{
    LabProcess, agent, ask, cartridge, new_key, result, run, text, train, wait_for_exit,
};

/// Sends a request as it stands, which no client library would, and returns the whole answer.
fn raw(lab: &LabProcess, request_line: &str, headers: &[(&str, &str)]) -> String {
    let mut socket = TcpStream::connect(("127.0.0.1", lab.port())).unwrap();
    let mut text = format!("{request_line} HTTP/1.1\r\nconnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        text.push_str(&format!("host: 127.0.0.1:{}\r\n", lab.port()));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    socket.write_all(text.as_bytes()).unwrap();
    let mut answer = Vec::new();
    _ = socket.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(answer: &str) -> u16 {
    answer.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0)
}

/// Names that lead out of a folder, in all the ways that have worked somewhere.
const WAYS_OUT: &[&str] = &[
    "..",
    "../token",
    "../../token",
    "..%2ftoken",
    "..%2f..%2ftoken",
    "%2e%2e/%2e%2e/token",
    "%2e%2e%2f%2e%2e%2ftoken",
    "%252e%252e%252ftoken",
    "..%5c..%5ctoken",
    "..\\..\\token",
    "..;/token",
    ";/../token",
    "....//token",
    "/etc/passwd",
    "//etc/passwd",
    "%2fetc%2fpasswd",
    "C:\\token",
    "C:%5ctoken",
    "token%00",
    "%00",
    "..%c0%aftoken",
    "%c0%ae%c0%ae/token",
    "/proc/self/environ",
    "%2fproc%2fself%2fenviron",
];

fn bearer(lab: &LabProcess) -> String {
    format!("Bearer {}", lab.token())
}

#[test]
fn class_a_reading_stays_inside() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let (bearer, token) = (bearer(&lab), lab.token());
    let key = fs::read_to_string(folder.path().join("key")).unwrap();
    for way in WAYS_OUT {
        for before in [
            "/",
            "/_app/",
            "/api/",
            "/api/runs/",
            "/api/runs/r-000000/artifacts/",
            "/api/runs/r-000000/",
            "/api/play/",
        ] {
            let answer = raw(&lab, &format!("GET {before}{way}"), &[("authorization", &bearer)]);
            for secret in [token.as_str(), key.trim(), "root:x:", "PATH="] {
                assert!(!answer.contains(secret), "{before}{way}: {answer}");
            }
            let is_page = answer.contains("<!doctype html>") || answer.contains("<!DOCTYPE html>");
            assert!(is_page || (400..500).contains(&status(&answer)), "{before}{way}: {answer}");
        }
    }
}

#[test]
fn class_b_deleting_stays_inside() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("precious"), "here").unwrap();
    let lab = LabProcess::start(&folder.path().join("data"), 0);
    let bearer = bearer(&lab);
    let files = || {
        let mut names: Vec<_> = fs::read_dir(folder.path().join("data"))
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name())
            // What the lab writes by itself, sooner or later.
            .filter(|name| name != "reserve" && !name.to_string_lossy().starts_with("cartridge.db"))
            .collect();
        names.sort();
        names
    };
    let before = files();
    for way in WAYS_OUT.iter().chain(&["r-000000/..", "../precious", "..%2f..%2fprecious"]) {
        for (method, suffix) in [("DELETE", ""), ("POST", "/archive"), ("POST", "/restore")] {
            let line = format!("{method} /api/runs/{way}{suffix}");
            let key = new_key();
            let answer = raw(&lab, &line, &[("authorization", &bearer), ("idempotency-key", &key)]);
            assert!((400..500).contains(&status(&answer)), "{line}: {answer}");
        }
    }
    assert_eq!(files(), before);
    assert!(folder.path().join("precious").exists());
}

#[test]
fn class_c_no_route_works_without_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let (_, document) = lab.get("/api/openapi.json");
    let mut n = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let line = format!("{} {}", method.to_uppercase(), path.replace(['{', '}'], ""));
            let answer = raw(&lab, &line, &[("idempotency-key", "k")]);
            let is_public =
                ["/healthz", "/readyz", "/login", "/api/login"].contains(&path.as_str());
            assert_eq!(status(&answer) == 401, !is_public, "{line}: {answer}");
            n += 1;
        }
    }
    assert!(n > 40, "{n} routes");
    // There is no way to go without: a token that guards nothing is refused at the start, wherever
    // the lab listens.
    for bind in ["127.0.0.1", "0.0.0.0"] {
        let output = cartridge(&["up", "--port", "0", "--bind", bind, "--data", "."])
            .current_dir(tempfile::tempdir().unwrap().path())
            .env("CARTRIDGE_TOKEN", "short")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("not fit to guard the lab"));
    }
}

#[test]
fn class_d_other_hosts_and_origins_get_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let bearer = bearer(&lab);
    let upgrade = [("upgrade", "websocket"), ("connection", "upgrade")];
    for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        for path in
            ["/", "/healthz", "/readyz", "/api/runs", "/api/stream", "/api/ws", "/api/login"]
        {
            for (name, value) in [
                ("host", "evil.example"),
                ("host", "127.0.0.1.evil.example"),
                ("origin", "http://evil.example"),
                ("origin", "null"),
                ("sec-fetch-site", "cross-site"),
            ] {
                let headers = [("authorization", bearer.as_str()), (name, value)];
                let line = format!("{method} {path}");
                for headers in [headers.to_vec(), [&headers[..], &upgrade[..]].concat()] {
                    let answer = raw(&lab, &line, &headers);
                    assert_eq!(status(&answer), 403, "{line} with {name}: {value}: {answer}");
                    assert!(!answer.contains("access-control-allow-origin"), "{answer}");
                }
            }
        }
    }
}

#[test]
fn class_e_a_cookie_is_for_our_own_pages() {
    let folder = tempfile::tempdir().unwrap();
    let friend = "http://localhost:3000";
    let lab = LabProcess::start_with(folder.path(), 0, &["--allow-origin", friend]);
    let response = agent().get(&lab.login_url).call().unwrap();
    let cookie = response.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("SameSite=Strict") && cookie.contains("HttpOnly"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let own = format!("http://127.0.0.1:{}", lab.port());
    for (origin, expected) in
        [(own.as_str(), 200), ("http://evil.example", 403), ("null", 403), (friend, 401)]
    {
        let answer = raw(&lab, "GET /api/lab", &[("cookie", cookie), ("origin", origin)]);
        assert_eq!(status(&answer), expected, "{origin}: {answer}");
        assert!(!answer.contains("access-control-allow-credentials"), "{answer}");
        assert!(!answer.contains("access-control-allow-origin: *"), "{answer}");
    }
    // A WebSocket by cookie must say where it comes from.
    let upgrade = [("cookie", cookie), ("upgrade", "websocket"), ("connection", "upgrade")];
    assert_eq!(status(&raw(&lab, "GET /api/ws", &upgrade)), 403);
    // A form of another page cannot send JSON, and a request without a key changes nothing.
    let form = [("cookie", cookie), ("origin", &own), ("content-type", "text/plain")];
    assert_eq!(status(&raw(&lab, "POST /api/runs", &form)), 400);
}

#[test]
fn class_f_no_request_names_an_address() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let (_, document) = lab.get("/api/openapi.json");
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            let name = body["$ref"].as_str().and_then(|name| name.rsplit('/').next());
            let fields = name.map(|name| &schemas[name]["properties"]).unwrap_or(body);
            let fields = fields.as_object().into_iter().flatten().map(|(name, _)| name.clone());
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let parameters = parameters.filter_map(|it| Some(it["name"].as_str()?.to_owned()));
            for name in fields.chain(parameters) {
                let is_address = ["url", "uri", "host", "endpoint", "webhook", "address"]
                    .iter()
                    .any(|word| name.to_lowercase().split('_').any(|part| part == *word));
                assert!(!is_address, "a request can make the lab ask elsewhere: {name}");
            }
        }
    }
}

#[test]
fn class_g_names_are_data() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let bearer = bearer(&lab);
    let evil = "%3Cimg%20src=x%20onerror=alert(1)%3E";
    for line in [
        format!("GET /api/runs/{evil}"),
        format!("GET /api/runs?q={evil}"),
        format!("GET /api/runs?state={evil}"),
        format!("GET /api/environments/{evil}/preview"),
        format!("GET /{evil}"),
    ] {
        let answer = raw(&lab, &line, &[("authorization", &bearer)]);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let head = head.to_lowercase();
        assert!(head.contains("x-content-type-options: nosniff"), "{line}: {head}");
        assert!(head.contains("frame-ancestors 'none'"), "{line}: {head}");
        assert!(head.contains("referrer-policy: no-referrer"), "{line}: {head}");
        let scripts = head.split("script-src").nth(1).unwrap().split(';').next().unwrap();
        assert!(!scripts.contains("unsafe") && !scripts.contains('*'), "{scripts}");
        if head.contains("content-type: text/html") {
            assert!(!body.contains("onerror=alert"), "{line}: {body}");
        } else {
            assert!(head.contains("json"), "{line}: {head}");
        }
    }
}

#[test]
fn class_h_other_sites_read_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let bearer = bearer(&lab);
    for path in ["/api/runs", "/api/audit", "/api/audit/export?format=json", "/api/openapi.json"] {
        let answer = raw(&lab, &format!("GET {path}"), &[("authorization", &bearer)]);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("cross-origin-resource-policy: same-origin"), "{path}: {head}");
        // An array is a script that another page can run; an object is none.
        assert!(body.trim_start().contains('{') && !body.trim_start().starts_with('['), "{body}");
        for site in ["cross-site", "same-site"] {
            let headers = [("authorization", bearer.as_str()), ("sec-fetch-site", site)];
            assert_eq!(status(&raw(&lab, &format!("GET {path}"), &headers)), 403, "{path} {site}");
        }
    }
}

#[test]
fn class_i_a_model_is_no_program() {
    let folder = tempfile::tempdir().unwrap();
    // What `pickle.loads` would run: os.system("touch ran").
    let pickle = b"cos\nsystem\n(S'touch ran'\ntR.";
    for name in ["model.pkl", "model.pt", "model.zip", "model.onnx", "weights.safetensors"] {
        fs::write(folder.path().join(name), pickle).unwrap();
        for args in [
            &["eval", name, "--env", "CartPole-v1", "--episodes", "1", "--data", "."][..],
            &["onnx", "show", name][..],
        ] {
            let output = run(folder.path(), args);
            assert!(!output.status.success(), "{args:?}: {}", text(&output.stdout));
        }
    }
    assert!(!folder.path().join("ran").exists());
}

/// Looks for words in every file below a folder.
pub(crate) fn grep(folder: &Path, words: &[&str], found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            grep(&path, words, found);
            continue;
        }
        let bytes = fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        for word in words.iter().filter(|word| text.contains(**word)) {
            found.push((path.clone(), (*word).to_owned()));
        }
    }
}

#[test]
fn class_l_a_secret_is_found_nowhere() {
    const CANARY: &str = "canary-6d1f0c5e9b7a4832";
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let log = fs::File::create(folder.path().join("log.txt")).unwrap();
    let mut child = cartridge(&["up", "--port", "0", "--log", "debug", "--data"])
        .arg(&data)
        .env("CARTRIDGE_TOKEN", CANARY)
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap();
    let mut printed = String::new();
    let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    while !printed.contains("Ctrl-C") {
        std::io::BufRead::read_line(&mut stdout, &mut printed).unwrap();
    }
    let url = printed.split_once("Open ").unwrap().1.split_whitespace().next().unwrap().to_owned();
    let (address, code) = url.split_once("/login?code=").unwrap();
    let mut answers = String::new();
    let mut send = |method: &str, path: &str, token: &str, body: Value| {
        let request = agent();
        let address = format!("{address}{path}");
        let bearer = format!("Bearer {token}");
        let response = match method {
            "GET" => request.get(address).header("authorization", bearer).call(),
            "DELETE" => request
                .delete(address)
                .header("authorization", bearer)
                .header("idempotency-key", new_key())
                .call(),
            _ => request
                .post(address)
                .header("authorization", bearer)
                .header("idempotency-key", new_key())
                .send_json(&body),
        };
        let mut response = response.unwrap();
        let status = response.status().as_u16();
        let head = format!("{:?}", response.headers());
        let body = response.body_mut().read_to_string().unwrap();
        answers.push_str(&head);
        (status, body, head)
    };
    let mut told = String::new();
    let (_, made, _) =
        send("POST", "/api/tokens", CANARY, json!({ "name": "ci", "role": "operator" }));
    let made: Value = serde_json::from_str(&made).unwrap();
    let secret = made["secret"].as_str().unwrap().to_owned();
    let random = secret.rsplit('-').next().unwrap().to_owned();
    let new = json!({ "env_id": "CartPole-v1", "total_timesteps": 5_000 });
    let (status, run, _) = send("POST", "/api/runs", &secret, new);
    assert_eq!(status, 201, "{run}");
    told.push_str(&run);
    let run: Value = serde_json::from_str(&run).unwrap();
    let id = run["id"].as_str().unwrap().to_owned();
    for (method, path, token, body) in [
        ("POST", "/api/login", CANARY, json!({ "token": CANARY })),
        ("POST", "/api/login", "wrong", json!({ "token": format!("{CANARY}x") })),
        ("POST", "/api/runs", CANARY, json!({ "env_id": CANARY.len() })),
        ("POST", "/api/tickets", CANARY, json!({ "path": "/api/stream" })),
        ("GET", "/api/audit", &secret, Value::Null),
        ("GET", "/api/tokens", CANARY, Value::Null),
        ("GET", "/api/audit/export", &secret, Value::Null),
        ("GET", "/api/nothing", &secret, Value::Null),
        ("DELETE", "/api/runs/r-000000", &secret, Value::Null),
    ] {
        let (_, body, _) = send(method, path, token, body);
        told.push_str(&body);
    }
    let followed = agent().get(&url).call().unwrap();
    let cookie = followed.headers()["set-cookie"].to_str().unwrap().to_owned();
    let cookie = cookie.split(';').next().unwrap().rsplit('.').next().unwrap().to_owned();
    wait_for_exit(&data, &id);
    // What the processes of the run were told, and what `up` printed, too.
    let words = [CANARY, random.as_str(), code, cookie.as_str()];
    for word in words {
        assert!(!told.contains(word), "an answer has {word}");
    }
    assert!(!answers.contains(CANARY) && !answers.contains(&random), "a header has a token");
    assert!(!printed.contains(CANARY));
    child.kill().unwrap();
    child.wait().unwrap();
    let mut found = Vec::new();
    grep(folder.path(), &words, &mut found);
    assert_eq!(found, []);
}

#[test]
fn class_m_nobody_is_led_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    for next in ["//evil.example", "/\\evil.example", "https://evil.example", "%2f%2fevil.example"]
    {
        for query in
            [format!("code=00&next={next}"), format!("next={next}"), format!("error={next}")]
        {
            let answer = raw(&lab, &format!("GET /login?{query}"), &[]);
            let location = answer.lines().find_map(|line| line.strip_prefix("location: "));
            let is_ours = location.is_none_or(|to| to.starts_with("/login") || to == "/");
            assert!(is_ours, "{query}: {location:?}");
        }
    }
    for path in ["//evil.example/%2e%2e", "/%5cevil.example", "///evil.example"] {
        let answer = raw(&lab, &format!("GET {path}"), &[]);
        assert!(!(300..400).contains(&status(&answer)), "{path}: {answer}");
    }
}

#[test]
fn class_n_a_table_has_no_formulas() {
    let folder = tempfile::tempdir().unwrap();
    let id = train(folder.path(), &["--steps", "5000"]);
    wait_for_exit(folder.path(), &id);
    let archive = cartridge(&["archive", &id, "--data", "."])
        .current_dir(folder.path())
        .env("USER", "=HYPERLINK(\"http://evil.example\")")
        .output()
        .unwrap();
    assert!(archive.status.success(), "{}", text(&archive.stderr));
    let export = |format| {
        text(&run(folder.path(), &["audit", "export", "--format", format, "--data", "."]).stdout)
    };
    let csv = export("csv");
    assert!(csv.contains("\"'=HYPERLINK(\"\"http://evil.example\"\")\""), "{csv}");
    for cell in csv.lines().flat_map(|line| line.split(',')) {
        assert!(!cell.starts_with(['=', '+', '-', '@']), "{cell}");
    }
    let json: Value = serde_json::from_str(&export("json")).unwrap();
    assert_eq!(json["lines"][1]["what"], "archive");
    let listed = ask(folder.path(), &["audit", "list", "--action", "archive"]);
    assert_eq!(listed["target"], id);
}

#[test]
fn class_o_every_lab_has_its_own_secrets_and_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    let labs = ["one", "two"].map(|name| LabProcess::start(&folder.path().join(name), 0));
    let read =
        |name: &str, file: &str| fs::read_to_string(folder.path().join(name).join(file)).unwrap();
    for file in ["token", "key"] {
        assert_ne!(read("one", file), read("two", file));
    }
    let made = run(
        folder.path(),
        &["token", "new", "--name", "a", "--role", "viewer", "--data", "one", "--json"],
    );
    let secret = result(&made)["secret"].as_str().unwrap().to_owned();
    let (status, _) =
        labs[0].post("/api/play", &json!({ "game": "tictactoe", "opponent": "builtin:random" }));
    assert_eq!(status, 201);
    let mut secrets = vec!["token", "key", "tokens.json", "answers.jsonl"];
    let login = fs::read_dir(folder.path().join("one/login")).unwrap().flatten();
    let login: Vec<String> =
        login.map(|entry| format!("login/{}", entry.file_name().to_string_lossy())).collect();
    secrets.extend(login.iter().map(String::as_str));
    for file in secrets {
        let mode = fs::metadata(folder.path().join("one").join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{file}");
    }
    for (lab, expected) in labs.iter().zip([200, 401]) {
        let bearer = format!("Bearer {secret}");
        let answer = raw(lab, "GET /api/me", &[("authorization", &bearer)]);
        assert_eq!(self::status(&answer), expected, "{answer}");
    }
    let id = result(&made)["id"].as_str().unwrap().to_owned();
    ask(&folder.path().join("one"), &["token", "revoke", &id]);
    let bearer = format!("Bearer {secret}");
    assert_eq!(self::status(&raw(&labs[0], "GET /api/me", &[("authorization", &bearer)])), 401);
}

#[test]
fn class_p_nothing_reaches_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(&folder.path().join("data"), 0);
    for evil in [
        "$(touch ran)",
        "`touch ran`",
        "; touch ran",
        "| touch ran",
        "\n touch ran",
        "' && touch ran '",
    ] {
        for body in [
            json!({ "env_id": evil }),
            json!({ "env_id": format!("CartPole-v1{evil}") }),
            json!({ "env_id": "CartPole-v1", "algorithm": evil }),
            json!({ "env_id": "CartPole-v1", "resources": { "cpu": evil } }),
        ] {
            let (status, answer) = lab.post("/api/runs", &body);
            assert_eq!(status, 422, "{body}: {answer}");
        }
    }
    // What an answer offers to be pasted into a shell does what it says and no more.
    let made = agent()
        .post(format!("{}/api/tokens", lab.address))
        .header("authorization", bearer(&lab))
        .header("idempotency-key", new_key())
        .send_json(json!({ "name": "a b", "role": "viewer" }))
        .unwrap();
    let command = made.headers()["cartridge-command"].to_str().unwrap().to_owned();
    assert_eq!(command, "cartridge token new --role viewer --name 'a b'");
    let curl = made.headers()["cartridge-curl"].to_str().unwrap().replace("a b", "c d");
    let output = Command::new("bash")
        .args(["-c", &format!("{curl} -s")])
        .env("CARTRIDGE_TOKEN", lab.token())
        .current_dir(folder.path())
        .output()
        .unwrap();
    let again: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(again["token"]["name"], "c d");
    for place in [folder.path().to_owned(), std::env::current_dir().unwrap()] {
        assert!(!place.join("ran").exists());
    }
}
