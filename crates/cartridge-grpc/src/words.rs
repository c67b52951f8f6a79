//! What the lab answers, as messages.

use serde_json::{Map, Value, json};
use tonic::Status;

use crate::v1::{
    Alert, Artifact, ArtifactPruned, CheckpointCreated, Content, Deleted, Episode, EvalResult,
    LogEntry, MetricRow, Numbers, Progress, Run, RunEvent, Snapshot, Step, SubmitRunRequest,
    TuneApplied, content, run_event,
};

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn whole(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or(0)
}

fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or(0.0)
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

/// A request for a run as the application takes it.
pub(crate) fn new_run(asked: &SubmitRunRequest) -> Result<Value, Status> {
    let mut body = Map::new();
    let texts = [
        ("experiment_id", &asked.experiment_id),
        ("env_id", &asked.env_id),
        ("algorithm", &asked.algorithm),
        ("preset", &asked.preset),
    ];
    for (name, said) in texts {
        if !said.is_empty() {
            body.insert(name.to_owned(), json!(said));
        }
    }
    let numbers = [
        ("seed", asked.seed.map(Value::from)),
        ("learning_rate", asked.learning_rate.map(Value::from)),
        ("total_timesteps", asked.total_timesteps.map(Value::from)),
        ("max_seconds", asked.max_seconds.map(Value::from)),
        ("restarts", asked.restarts.map(Value::from)),
    ];
    for (name, said) in numbers {
        if let Some(said) = said {
            body.insert(name.to_owned(), said);
        }
    }
    let mut overrides = Map::new();
    for (path, said) in &asked.overrides {
        let value = serde_json::from_str(said).map_err(|error| {
            Status::invalid_argument(format!(
                "overrides: `{path}` is no JSON ({error}); write a word with its quotes, as \
                 \"lin_0.001\""
            ))
        })?;
        overrides.insert(path.clone(), value);
    }
    if !overrides.is_empty() {
        body.insert("overrides".to_owned(), Value::Object(overrides));
    }
    Ok(Value::Object(body))
}

pub(crate) fn run(value: &Value) -> Run {
    Run {
        id: text(value, "id"),
        kind: text(value, "kind"),
        name: text(value, "name"),
        env_id: text(value, "env_id"),
        algorithm: text(value, "algorithm"),
        seed: value["seed"].as_u64(),
        state: text(value, "state"),
        activity: text(value, "activity"),
        health: text(value, "health"),
        step: whole(value, "step"),
        total_timesteps: whole(value, "total_timesteps"),
        episodes: whole(value, "episodes"),
        progress: number(value, "progress"),
        steps_per_sec: value["steps_per_sec"].as_f64(),
        mean_reward: value["mean_reward"].as_f64(),
        mean_length: value["mean_length"].as_f64(),
        attempt: whole(value, "attempt") as u32,
        experiment_id: text(value, "experiment_id"),
    }
}

pub(crate) fn episode(value: &Value) -> Episode {
    Episode {
        episode: whole(value, "episode"),
        reward: value["reward"].as_f64(),
        length: whole(value, "length"),
        timestep: whole(value, "timestep"),
        seed: value["seed"].as_u64(),
        terminated: value["terminated"].as_bool().unwrap_or(false),
        truncated: value["truncated"].as_bool().unwrap_or(false),
        t: value["timestamp"].as_f64(),
    }
}

pub(crate) fn step(episode: u64, value: &Value) -> Step {
    Step {
        episode,
        step: whole(value, "step"),
        action: content(&value["action"]),
        observation: content(&value["observation"]),
        reward: value["reward"].as_f64(),
        terminated: value["terminated"].as_bool().unwrap_or(false),
        truncated: value["truncated"].as_bool().unwrap_or(false),
    }
}

/// Something that was done or seen, if it is known.
fn content(value: &Value) -> Option<Content> {
    let numbers = || value.as_array()?.iter().map(Value::as_f64).collect::<Option<Vec<_>>>();
    let content = if value.is_null() {
        return None;
    } else if let Some(index) = value.as_i64() {
        content::Content::Index(index)
    } else if let Some(values) = numbers() {
        content::Content::Numbers(Numbers { values })
    } else {
        content::Content::Json(value.to_string())
    };
    Some(Content { content: Some(content) })
}

pub(crate) fn artifact(value: &Value) -> Artifact {
    Artifact {
        id: text(value, "id"),
        kind: text(value, "kind"),
        path: text(value, "path"),
        size_bytes: whole(value, "size_bytes"),
        sha256: text(value, "sha256"),
        step: value["step"].as_u64(),
    }
}

pub(crate) fn entry(value: &Value) -> LogEntry {
    LogEntry {
        seq: whole(value, "seq"),
        t: number(value, "t"),
        r#type: text(value, "type"),
        level: text(value, "level"),
        message: text(value, "message"),
        step: value["step"].as_u64(),
    }
}

/// A message of the live feed as an event; files that can be had are for the caller to find.
pub(crate) fn event(id: u64, message: &Value) -> Option<RunEvent> {
    let log = entry(&message["entry"]);
    let event = match message["type"].as_str()? {
        "Snapshot" => run_event::Event::Snapshot(Snapshot {
            reset: message["reset"].as_bool().unwrap_or(false),
            runs: list(message, "runs").map(run).collect(),
        }),
        "RunProgress" => run_event::Event::Progress(Progress {
            run: Some(run(&message["run"])),
            rows: list(message, "rows").map(metric_row).collect(),
        }),
        "CheckpointCreated" => run_event::Event::CheckpointCreated(CheckpointCreated {
            step: whole(message, "step"),
            entry: Some(log),
        }),
        "EvalResult" => {
            let found = &message["evaluation"];
            run_event::Event::EvalResult(EvalResult {
                step: whole(found, "step"),
                episodes: whole(found, "episodes") as u32,
                mean: number(found, "mean"),
                std: number(found, "std"),
                ci95_low: found["ci95"][0].as_f64().unwrap_or(f64::NAN),
                ci95_high: found["ci95"][1].as_f64().unwrap_or(f64::NAN),
                entry: Some(log),
            })
        }
        "TuneApplied" => run_event::Event::TuneApplied(TuneApplied {
            path: text(message, "path"),
            old: message["old"].as_f64(),
            new: number(message, "new"),
            by: text(message, "by"),
            step: whole(message, "step"),
            entry: Some(log),
        }),
        "ArtifactPruned" => run_event::Event::ArtifactPruned(ArtifactPruned {
            artifact_id: text(message, "artifact_id"),
            kind: text(message, "kind"),
            kept: whole(message, "kept"),
            total: whole(message, "total"),
            entry: Some(log),
        }),
        "AlertTriggered" | "AlertChanged" => {
            let alert = &message["alert"];
            run_event::Event::Alert(Alert {
                id: text(alert, "id"),
                kind: text(alert, "kind"),
                sentence: text(alert, "sentence"),
                suggestion: text(alert, "suggestion"),
                state: text(alert, "state"),
            })
        }
        "RunDeleted" => run_event::Event::Deleted(Deleted {}),
        "EventLogged" => run_event::Event::Logged(log),
        _ => return None,
    };
    Some(RunEvent { id, run_id: run_of(message), event: Some(event) })
}

/// The run that a message is about, if it is about one.
pub(crate) fn run_of(message: &Value) -> String {
    let places = [&message["run_id"], &message["run"]["id"], &message["alert"]["run_id"]];
    places.into_iter().find_map(Value::as_str).unwrap_or_default().to_owned()
}

fn metric_row(value: &Value) -> MetricRow {
    let values = value["values"].as_object().into_iter().flatten();
    MetricRow {
        row: whole(value, "row"),
        step: whole(value, "step"),
        t: number(value, "t"),
        values: values.filter_map(|(name, it)| Some((name.clone(), it.as_f64()?))).collect(),
    }
}
