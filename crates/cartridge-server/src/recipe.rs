//! How to do the same again: every change answers with the command line and the `curl` for it.
//!
//! `Cartridge-Command` has the command, where there is one; `Cartridge-Curl` has the request, with
//! `$CARTRIDGE_TOKEN` in the place of a token and a fresh key. Both can be pasted into a shell as
//! they stand.

use axum::http::header::HOST;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method};
use serde_json::Value;

/// A body that is longer is left to a file.
const MOST_BODY_BYTES: usize = 4 * 1024;

/// The two ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The command line.
    pub command: Option<String>,
    /// The request.
    pub curl: String,
}

impl Recipe {
    /// What does the same as a request for a route.
    pub fn new(method: &Method, route: &str, parts: &Parts, body: &[u8]) -> Self {
        let value: Value = serde_json::from_slice(body).unwrap_or_default();
        let path = parts.uri.path();
        let query: Vec<(String, String)> =
            form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes())
                .into_owned()
                .collect();
        let command = command(method, route, &Asked { path, query: &query, body: &value });
        let command = command.map(|words| {
            let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
            format!("cartridge {}", words.join(" "))
        });
        Self { command, curl: curl(parts, &value) }
    }

    /// Puts both into an answer, as far as a header can hold them.
    pub fn add_to(&self, headers: &mut HeaderMap) {
        let command = self.command.as_deref().and_then(|text| HeaderValue::from_str(text).ok());
        if let Some(command) = command {
            headers.insert("cartridge-command", command);
        }
        if let Ok(curl) = HeaderValue::from_str(&self.curl) {
            headers.insert("cartridge-curl", curl);
        }
    }
}

fn curl(parts: &Parts, body: &Value) -> String {
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1");
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut text = format!(
        "curl -X {} -H \"Authorization: Bearer $CARTRIDGE_TOKEN\" -H \"Idempotency-Key: $(date +%s%N)\"",
        parts.method
    );
    if !body.is_null() {
        let body = ascii(&body.to_string());
        text.push_str(" -H 'Content-Type: application/json' -d ");
        text.push_str(&if body.len() > MOST_BODY_BYTES {
            "@body.json".to_owned()
        } else {
            quote(&body)
        });
    }
    format!("{text} {}", quote(&format!("http://{host}{path}")))
}

/// JSON with nothing but ASCII in it.
fn ascii(json: &str) -> String {
    let mut text = String::new();
    for c in json.chars() {
        if c.is_ascii() {
            text.push(c);
        } else {
            let mut units = [0; 2];
            text.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    text
}

/// A word as a shell reads it back.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// What was asked.
struct Asked<'a> {
    path: &'a str,
    query: &'a [(String, String)],
    body: &'a Value,
}

impl Asked<'_> {
    /// A part of the path, from 0: `/api/runs/r-7f3k2m/stop` has `r-7f3k2m` at 2.
    fn part(&self, at: usize) -> String {
        self.path.split('/').nth(at + 1).unwrap_or_default().to_owned()
    }

    /// `--flag value` for each of these fields of the body that is there.
    fn flags(&self, flags: &[(&str, &str)]) -> Vec<String> {
        let mut words = Vec::new();
        for (field, flag) in flags {
            match &self.body[field] {
                Value::Null | Value::Bool(false) => {}
                Value::Bool(true) => words.push((*flag).to_owned()),
                value => words.extend([(*flag).to_owned(), plain(value)]),
            }
        }
        words
    }

    /// The same for parameters of the query.
    fn query_flags(&self, flags: &[(&str, &str)]) -> Vec<String> {
        let mut words = Vec::new();
        for (name, flag) in flags {
            if let Some((_, value)) = self.query.iter().find(|(key, _)| key == name) {
                words.extend([(*flag).to_owned(), value.clone()]);
            }
        }
        words
    }

    /// `--set path=value` for each of these settings.
    fn settings(&self, field: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (path, value) in self.body[field].as_object().into_iter().flatten() {
            match value.as_object() {
                // A section with its settings.
                Some(section) => words.extend(
                    section.iter().flat_map(|(name, value)| set(&format!("{path}.{name}"), value)),
                ),
                None => words.extend(set(path, value)),
            }
        }
        words
    }
}

fn set(path: &str, value: &Value) -> [String; 2] {
    ["--set".to_owned(), format!("{path}={}", plain(value))]
}

/// `--seeds` for a list, or for so many from the first.
fn seeds(value: &Value) -> Vec<String> {
    let text = match (value.as_array(), value["seed_base"].as_u64(), value["count"].as_u64()) {
        (Some(list), ..) => list.iter().map(plain).collect::<Vec<_>>().join(","),
        (None, Some(first), Some(n)) if n > 0 => {
            format!("{first}..{}", first.saturating_add(n - 1))
        }
        _ => return Vec::new(),
    };
    vec!["--seeds".to_owned(), text]
}

/// A value as it is typed.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn words(words: &[&str], more: Vec<String>) -> Option<Vec<String>> {
    Some(words.iter().map(|word| (*word).to_owned()).chain(more).collect())
}

/// The words of the command that does the same, where there is one.
fn command(method: &Method, route: &str, asked: &Asked<'_>) -> Option<Vec<String>> {
    let body = asked.body;
    match (method.as_str(), route) {
        ("POST", "/api/runs") if body["experiment_id"].is_string() => {
            let mut more = asked.flags(&[
                ("restarts", "--restarts"),
                ("max_seconds", "--max-seconds"),
                ("dry_run", "--dry-run"),
            ]);
            more.extend(seeds(&body["seeds"]));
            more.extend(asked.settings("overrides"));
            words(&["experiments", "run", body["experiment_id"].as_str()?], more)
        }
        ("POST", "/api/runs") => {
            let env_id = body["env_id"].as_str()?;
            let mut more = asked.flags(&[
                ("algorithm", "--algo"),
                ("preset", "--preset"),
                ("total_timesteps", "--steps"),
                ("seed", "--seed"),
                ("restarts", "--restarts"),
                ("max_seconds", "--max-seconds"),
            ]);
            more.extend(asked.flags(&[("dry_run", "--dry-run")]));
            more.extend(seeds(&body["seeds"]));
            if !body["learning_rate"].is_null() {
                more.extend(set("trainer.learning_rate", &body["learning_rate"]));
            }
            for (key, value) in body["resources"].as_object().into_iter().flatten() {
                if !value.is_null() {
                    more.extend(set(&format!("resources.{key}"), value));
                }
            }
            more.extend(asked.settings("overrides"));
            more.push("--detach".to_owned());
            words(&["train", env_id], more)
        }
        ("POST", "/api/trainers/{id}/runs") => {
            let mut more = asked.flags(&[
                ("env_id", "--env"),
                ("name", "--name"),
                ("seed", "--seed"),
                ("restarts", "--restarts"),
                ("max_seconds", "--max-seconds"),
                ("max_steps", "--max-steps"),
            ]);
            for (name, value) in body["arguments"].as_object().into_iter().flatten() {
                more.extend(["--arg".to_owned(), format!("{name}={}", plain(value))]);
            }
            more.push("--detach".to_owned());
            words(&["exec", "--trainer", &asked.part(2)], more)
        }
        ("POST", "/api/experiments") => {
            let config = body["config"].as_object()?;
            let mut more = asked.flags(&[
                ("name", "--name"),
                ("description", "--description"),
                ("preset", "--preset"),
            ]);
            if let Some(algo) = config.get("algo") {
                more.extend(["--algo".to_owned(), plain(algo)]);
            }
            let is_named = |word: &String| word.starts_with("env_id=") || word.starts_with("algo=");
            let settings = asked.settings("config");
            let settings = settings.chunks(2).filter(|pair| !pair.iter().any(is_named));
            more.extend(settings.flatten().cloned());
            words(&["experiments", "new", config.get("env_id")?.as_str()?], more)
        }
        ("POST", "/api/experiments/{id}/clone") => {
            let mut more = asked.flags(&[
                ("name", "--name"),
                ("description", "--description"),
                ("preset", "--preset"),
            ]);
            more.extend(asked.settings("changes"));
            words(&["experiments", "clone", &asked.part(2)], more)
        }
        ("POST", "/api/experiments/{id}/archive" | "/api/experiments/{id}/unarchive") => {
            words(&["experiments", &asked.part(3), &asked.part(2)], Vec::new())
        }
        ("POST", "/api/evals") => {
            let mut more = asked.flags(&[("n_matches", "--games")]);
            let plan = &body["seed_plan"];
            for (key, flag) in [("seed_base", "--seed"), ("count", "--seeds")] {
                if !plan[key].is_null() {
                    more.extend([flag.to_owned(), plain(&plan[key])]);
                }
            }
            if plan["both_sides"] == false {
                more.push("--one-side".to_owned());
            }
            more.extend(asked.settings("env"));
            more.push("--detach".to_owned());
            // The command names the game, as everybody does; here the players may tell it.
            let game = body["game"].as_str().unwrap_or("auto");
            let (a, b) = (plain(&body["model_a"]), plain(&body["model_b"]));
            words(&["match", game, &a, &b], more)
        }
        ("POST", "/api/tournaments") => {
            let players = body["players"]
                .as_array()
                .map(|players| players.iter().map(plain).collect::<Vec<String>>().join(","));
            let mut more = vec!["--players".to_owned(), players.unwrap_or_default()];
            more.extend(asked.flags(&[
                ("kind", "--kind"),
                ("games_per_pair", "--games"),
                ("seed", "--seed"),
                ("threads", "--threads"),
            ]));
            more.extend(asked.settings("env"));
            more.push("--detach".to_owned());
            words(&["tournament", body["game"].as_str()?], more)
        }
        ("POST", "/api/models") => {
            let mut more = asked.flags(&[("notes", "--notes"), ("artifact_id", "--artifact")]);
            for which in [&body["checkpoint"], &body["step"]].into_iter().filter(|it| !it.is_null())
            {
                more.extend(["--checkpoint".to_owned(), plain(which)]);
            }
            words(&["models", "add", body["name"].as_str()?, &plain(&body["run_id"])], more)
        }
        ("POST", "/api/models/{name}/aliases") => {
            let (alias, version) = (plain(&body["alias"]), plain(&body["version"]));
            words(&["models", "alias", &asked.part(2), &alias, &version], Vec::new())
        }
        ("DELETE", "/api/models/{name}") => {
            words(&["models", "remove", &asked.part(2)], Vec::new())
        }
        ("POST", "/api/models/{name}/unarchive") => {
            words(&["models", "unarchive", &asked.part(2)], Vec::new())
        }
        ("DELETE", "/api/runs/{id}") => words(&["delete", &asked.part(2)], Vec::new()),
        ("POST", "/api/runs/{id}/tune") => {
            let setting = format!("{}={}", plain(&body["path"]), plain(&body["value"]));
            words(&["tune", &asked.part(2), &setting], Vec::new())
        }
        ("POST", "/api/runs/{id}/evaluate") => {
            let mut more = asked.flags(&[
                ("episodes", "--episodes"),
                ("seed", "--seed"),
                ("video", "--video"),
                ("checkpoint", "--checkpoint"),
            ]);
            if body["seeds"].is_array() {
                more = asked.flags(&[("video", "--video"), ("checkpoint", "--checkpoint")]);
                more.extend(seeds(&body["seeds"]));
            }
            if body["deterministic"] == false {
                more.push("--stochastic".to_owned());
            }
            words(&["evals", "start", &asked.part(2)], more)
        }
        ("POST", "/api/runs/{id}/fork") => {
            let mut more = asked.flags(&[("checkpoint", "--checkpoint")]);
            more.extend(asked.settings("overrides"));
            words(&["fork", &asked.part(2)], more)
        }
        (
            "POST",
            "/api/runs/{id}/archive"
            | "/api/runs/{id}/checkpoint"
            | "/api/runs/{id}/pause"
            | "/api/runs/{id}/pin"
            | "/api/runs/{id}/restore"
            | "/api/runs/{id}/resume"
            | "/api/runs/{id}/start"
            | "/api/runs/{id}/stop"
            | "/api/runs/{id}/tensorboard"
            | "/api/runs/{id}/terminate"
            | "/api/runs/{id}/unarchive"
            | "/api/runs/{id}/unpin",
        ) => words(
            &[&asked.part(3), &asked.part(2)],
            asked.query_flags(&[("checkpoint", "--checkpoint")]),
        ),
        ("POST", "/api/alerts/{id}/acknowledge") => {
            words(&["alerts", "ack", &asked.part(2)], Vec::new())
        }
        ("PUT", "/api/settings") => {
            let mut more = Vec::new();
            for (section, settings) in body.as_object()? {
                for (name, value) in settings.as_object().into_iter().flatten() {
                    more.push(format!("{section}.{name}={}", plain(value)));
                }
            }
            words(&["settings"], more)
        }
        ("POST", "/api/retention/run") => words(&["gc"], asked.flags(&[("dry_run", "--dry-run")])),
        ("POST", "/api/play") => {
            let flags = [("opponent", "--opponent"), ("side", "--side"), ("seed", "--seed")];
            words(&["play", body["game"].as_str()?], asked.flags(&flags))
        }
        ("POST", "/api/tokens") => {
            let mut more = asked.flags(&[("role", "--role"), ("name", "--name")]);
            if let Some(seconds) = body["expires_in_s"].as_f64() {
                more.extend(["--expires".to_owned(), format!("{seconds}s")]);
            }
            words(&["token", "new"], more)
        }
        ("DELETE", "/api/tokens/{id}") => words(&["token", "revoke", &asked.part(2)], Vec::new()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(
        method: &str,
        route: &str,
        uri: &str,
        body: &Value,
        command: Option<&str>,
        curl: &str,
    ) {
        let (parts, ()) = Request::builder()
            .method(method)
            .uri(uri)
            .header("host", "localhost:1")
            .body(())
            .unwrap()
            .into_parts();
        let bytes = if body.is_null() { String::new() } else { body.to_string() };
        let recipe = Recipe::new(&parts.method, route, &parts, bytes.as_bytes());
        assert_eq!(recipe.command.as_deref(), command);
        let head = format!(
            "curl -X {method} -H \"Authorization: Bearer $CARTRIDGE_TOKEN\" -H \"Idempotency-Key: $(date +%s%N)\" "
        );
        assert_eq!(recipe.curl, format!("{head}{curl}"));
    }

    #[test]
    fn changes_say_how_to_make_them_again() {
        check(
            "POST",
            "/api/runs",
            "/api/runs",
            &json!({ "env_id": "CartPole-v1", "learning_rate": 0.001, "seed": 3 }),
            Some("cartridge train CartPole-v1 --seed 3 --set trainer.learning_rate=0.001 --detach"),
            "-H 'Content-Type: application/json' -d \
             '{\"env_id\":\"CartPole-v1\",\"learning_rate\":0.001,\"seed\":3}' \
             http://localhost:1/api/runs",
        );
        check(
            "POST",
            "/api/runs",
            "/api/runs",
            &json!({ "experiment_id": "e-7f3k2m", "seeds": { "seed_base": 1, "count": 5 },
                "overrides": { "trainer": { "lr": 0.001 } } }),
            Some("cartridge experiments run e-7f3k2m --seeds 1..5 --set trainer.lr=0.001"),
            "-H 'Content-Type: application/json' -d \
             '{\"experiment_id\":\"e-7f3k2m\",\"seeds\":{\"seed_base\":1,\"count\":5},\
             \"overrides\":{\"trainer\":{\"lr\":0.001}}}' http://localhost:1/api/runs",
        );
        check(
            "POST",
            "/api/trainers/{id}/runs",
            "/api/trainers/cem/runs",
            &json!({ "arguments": { "steps": 2000, "tag": "it's -x" }, "name": "Red" }),
            Some(
                "cartridge exec --trainer cem --name Red --arg steps=2000 \
                 --arg 'tag=it'\\''s -x' --detach",
            ),
            "-H 'Content-Type: application/json' -d \
             '{\"arguments\":{\"steps\":2000,\"tag\":\"it'\\''s -x\"},\"name\":\"Red\"}' \
             http://localhost:1/api/trainers/cem/runs",
        );
        check(
            "POST",
            "/api/experiments",
            "/api/experiments",
            &json!({ "name": "Red", "config": { "env_id": "CartPole-v1", "trainer.lr": 0.001 } }),
            Some("cartridge experiments new CartPole-v1 --name Red --set trainer.lr=0.001"),
            "-H 'Content-Type: application/json' -d \
             '{\"name\":\"Red\",\"config\":{\"env_id\":\"CartPole-v1\",\"trainer.lr\":0.001}}' \
             http://localhost:1/api/experiments",
        );
        check(
            "POST",
            "/api/runs/{id}/stop",
            "/api/runs/r-7f3k2m/stop",
            &Value::Null,
            Some("cartridge stop r-7f3k2m"),
            "http://localhost:1/api/runs/r-7f3k2m/stop",
        );
        check(
            "POST",
            "/api/runs/{id}/pin",
            "/api/runs/r-7f3k2m/pin?checkpoint=best",
            &Value::Null,
            Some("cartridge pin r-7f3k2m --checkpoint best"),
            "'http://localhost:1/api/runs/r-7f3k2m/pin?checkpoint=best'",
        );
        check(
            "POST",
            "/api/runs/{id}/fork",
            "/api/runs/r-7f3k2m/fork",
            &json!({ "checkpoint": "it's é", "overrides": { "trainer.ent_coef": 0.01 } }),
            Some("cartridge fork r-7f3k2m --checkpoint 'it'\\''s é' --set trainer.ent_coef=0.01"),
            "-H 'Content-Type: application/json' -d '{\"checkpoint\":\"it'\\''s \\u00e9\",\
             \"overrides\":{\"trainer.ent_coef\":0.01}}' http://localhost:1/api/runs/r-7f3k2m/fork",
        );
    }

    /// Changes that only a page makes: the moves of one game, real-time play, and the login itself.
    const FOR_PAGES: &[&str] = &[
        "/api/login",
        "/api/logout",
        "/api/tickets",
        "/api/play/environments",
        "/api/play/{id}/hint",
        "/api/play/{id}/moves",
        "/api/play/{id}/thoughts",
        "/api/play/{id}/undo",
    ];

    #[test]
    fn every_change_has_a_command() {
        let (_, document) = crate::routes().split_for_parts();
        // What any of them needs to be put into words.
        let body = json!({
            "env_id": "CartPole-v1", "game": "tictactoe", "name": "x", "path": "x",
            "config": { "env_id": "CartPole-v1" },
        });
        for (method, route) in crate::document::mutations(&document) {
            let asked = Asked { path: &route, query: &[], body: &body };
            let words = command(&method.parse().unwrap(), &route, &asked);
            assert_eq!(words.is_none(), FOR_PAGES.contains(&route.as_str()), "{method} {route}");
        }
    }
}
