//! `/metrics`: the lab in numbers, in Prometheus's text format.
//!
//! It needs the token of a viewer like everything else: what runs are called and how they do is
//! nobody else's business, on whatever address the lab listens. Runs have series of their own only
//! while they are at work, and at most [`MOST_RUNS`] of them.

use std::fmt::{Display, Write as _};

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use cartridge_run::Lab;
use cartridge_run::lab::RunView;
use cartridge_run::store::RunState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::error::{ApiError, Problem};

/// Runs at work that have series of their own.
const MOST_RUNS: usize = 200;

const STATES: [(RunState, &str); 9] = [
    (RunState::Queued, "queued"),
    (RunState::Starting, "starting"),
    (RunState::Running, "running"),
    (RunState::Paused, "paused"),
    (RunState::Stopping, "stopping"),
    (RunState::Succeeded, "succeeded"),
    (RunState::Failed, "failed"),
    (RunState::Terminated, "terminated"),
    (RunState::Lost, "lost"),
];

/// What a metric counts as.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Counter,
    Gauge,
}

/// Text in Prometheus's format.
#[derive(Debug, Default)]
struct Exposition(String);

impl Exposition {
    fn family<V: Display>(
        &mut self,
        name: &str,
        kind: Kind,
        help: &str,
        samples: impl IntoIterator<Item = (Vec<(&'static str, String)>, V)>,
    ) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in samples {
            let labels: Vec<String> =
                labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
            let labels =
                if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            _ = writeln!(self.0, "{name}{labels} {value}");
        }
    }

    fn gauge<V: Display>(&mut self, name: &str, help: &str, value: Option<V>) {
        self.family(name, Kind::Gauge, help, value.map(|value| (Vec::new(), value)));
    }
}

/// The value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// What the lab itself knows.
struct Facts {
    counts: Vec<(RunState, u64)>,
    at_work: Vec<RunView>,
    wal_bytes: u64,
    space: Option<(u64, u64)>,
    usage: Option<(f64, u64)>,
}

fn look(lab: &Lab) -> cartridge_run::Result<Facts> {
    Ok(Facts {
        counts: lab.count_by_state()?,
        at_work: lab.views_at_work(MOST_RUNS)?,
        wal_bytes: lab.wal_bytes()?,
        space: lab.disk_space().ok(),
        usage: cartridge_run::cluster::own_usage(),
    })
}

fn exposition(facts: &Facts, state: &AppState) -> String {
    let mut out = Exposition::default();
    let run = |view: &RunView| vec![("run_id", view.run.manifest.id.to_string())];
    let version = vec![("version", state.version.to_owned())];
    out.family(
        "cartridge_build_info",
        Kind::Gauge,
        "The version of the lab; always 1.",
        [(version, 1)],
    );
    let count = |wanted: RunState| {
        facts.counts.iter().find(|(state, _)| *state == wanted).map_or(0, |(_, n)| *n)
    };
    out.family(
        "cartridge_runs",
        Kind::Gauge,
        "Runs by state.",
        STATES.map(|(state, word)| (vec![("state", word.to_owned())], count(state))),
    );
    out.gauge(
        "cartridge_queue_depth",
        "Runs that wait for their turn.",
        Some(count(RunState::Queued)),
    );
    out.family(
        "cartridge_alerts",
        Kind::Gauge,
        "Alerts that are not over, by kind and state.",
        state.lab.open_alerts_by_kind().into_iter().map(|(kind, state, n)| {
            (vec![("kind", kind.as_str().to_owned()), ("state", state.as_str().to_owned())], n)
        }),
    );
    out.family(
        "cartridge_env_steps_total",
        Kind::Counter,
        "Environment steps of runs at work.",
        facts.at_work.iter().map(|view| (run(view), view.run.status.step)),
    );
    out.family(
        "cartridge_episodes_total",
        Kind::Counter,
        "Episodes that have ended, of runs at work.",
        facts.at_work.iter().map(|view| (run(view), view.run.status.episodes)),
    );
    let optional = |value: fn(&RunView) -> Option<f64>| {
        let found = facts.at_work.iter().filter_map(move |view| Some((view, value(view)?)));
        found
            .filter(|(_, value)| value.is_finite())
            .map(|(view, value)| (run(view), value))
            .collect::<Vec<_>>()
    };
    out.family(
        "cartridge_run_heartbeat_age_seconds",
        Kind::Gauge,
        "Time since the supervisor of a run at work was heard.",
        optional(|view| Some(view.heartbeat_age?.as_secs_f64())),
    );
    out.family(
        "cartridge_run_steps_per_second",
        Kind::Gauge,
        "Environment steps a second of runs at work.",
        optional(|view| view.run.status.pace()),
    );
    out.family(
        "cartridge_run_mean_reward",
        Kind::Gauge,
        "Mean return of the newest episodes of runs at work.",
        optional(|view| view.run.status.mean_reward),
    );
    out.family(
        "cartridge_run_cpu_cores",
        Kind::Gauge,
        "CPU cores that the trainers of runs at work use.",
        optional(|view| Some(view.run.status.cpu_percent? / 100.0)),
    );
    out.family(
        "cartridge_run_memory_bytes",
        Kind::Gauge,
        "Memory of the trainers of runs at work.",
        optional(|view| Some(view.run.status.rss_bytes? as f64)),
    );
    let lines = || {
        let found = facts.at_work.iter();
        found.filter_map(|view| Some((view, view.run.status.lines.as_ref()?)))
    };
    out.family(
        "cartridge_events_ingested_total",
        Kind::Counter,
        "Lines of the protocol that foreign trainers at work wrote, by type.",
        lines().flat_map(|(view, lines)| {
            let of_type = move |(kind, n): (&String, &u64)| {
                let mut labels = run(view);
                labels.push(("type", kind.clone()));
                (labels, *n)
            };
            lines.by_type.iter().map(of_type).collect::<Vec<_>>()
        }),
    );
    out.family(
        "cartridge_events_rejected_total",
        Kind::Counter,
        "Lines of foreign trainers at work that could not be used, by reason.",
        lines().flat_map(|(view, lines)| {
            [("wrong", lines.wrong), ("unknown", lines.unknown), ("cut", lines.cut)].map(
                |(reason, n)| {
                    let mut labels = run(view);
                    labels.push(("reason", reason.to_owned()));
                    (labels, n)
                },
            )
        }),
    );
    let n_streams = state.gate.limits.streams - state.gate.streams.available_permits();
    out.gauge(
        "cartridge_sse_clients",
        "Live streams and WebSockets that are open.",
        Some(n_streams),
    );
    out.family(
        "cartridge_frames_dropped_total",
        Kind::Counter,
        "Live pictures that were gone before a slow viewer took them.",
        [(Vec::new(), state.frames.n_dropped())],
    );
    out.family(
        "cartridge_janitor_pruned_bytes_total",
        Kind::Counter,
        "Bytes of artifacts that were removed because they were not to be kept.",
        [(Vec::new(), state.lab.pruned_bytes())],
    );
    out.gauge(
        "cartridge_wal_bytes",
        "Bytes in the index's write-ahead log.",
        Some(facts.wal_bytes),
    );
    let (free, whole) = facts.space.unzip();
    out.gauge("cartridge_disk_free_bytes", "Bytes that are free for the data folder.", free);
    out.gauge("cartridge_disk_size_bytes", "Bytes of the disk of the data folder.", whole);
    let (cpu_seconds, rss_bytes) = facts.usage.unzip();
    out.family(
        "process_cpu_seconds_total",
        Kind::Counter,
        "CPU time of the lab itself.",
        cpu_seconds.map(|seconds| (Vec::new(), seconds)),
    );
    out.gauge("process_resident_memory_bytes", "Memory of the lab itself.", rss_bytes);
    state.gate.traffic.write(&mut out.0);
    out.0
}

/// Tell how the lab is doing, for Prometheus. Needs the token of a viewer.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "lab",
    responses(
        (status = 200, body = String, content_type = "text/plain"),
        (status = 401, body = Problem),
    ),
)]
async fn expose_metrics(State(state): State<AppState>) -> Result<impl IntoResponse, ApiError> {
    let facts = state.ask(look).await?;
    let text = exposition(&facts, &state);
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(expose_metrics))
}
