//! How long answers take, by route: what `/metrics` tells of the server itself.
//!
//! Routes are counted by their template, and methods and statuses that HTTP does not know count as
//! `other`, so the number of series has a bound whatever clients send. A live stream counts until
//! its answer begins.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use cartridge_run::alert::watch::Latency;
use tracing::Instrument as _;

use crate::AppState;
use crate::error::request_id;

/// Upper bounds of the buckets, in seconds.
pub const BOUNDS: [f64; 12] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// What is counted apart: method, route, status.
type Kind = (&'static str, String, u16);

/// The durations of one kind of answer.
#[derive(Clone, Debug, Default, PartialEq)]
struct Histogram {
    /// Answers in each bucket; those beyond the last bound are in none.
    counts: [u64; BOUNDS.len()],
    n: u64,
    sum_s: f64,
}

/// How long answers have taken since the lab was started.
#[derive(Debug, Default)]
pub struct Traffic(Mutex<BTreeMap<Kind, Histogram>>);

impl Traffic {
    fn held(&self) -> MutexGuard<'_, BTreeMap<Kind, Histogram>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an answer.
    pub fn count(&self, method: &Method, route: &str, status: u16, took: Duration) {
        let method = match method.as_str() {
            "GET" => "GET",
            "HEAD" => "HEAD",
            "POST" => "POST",
            "PUT" => "PUT",
            "PATCH" => "PATCH",
            "DELETE" => "DELETE",
            "OPTIONS" => "OPTIONS",
            _ => "other",
        };
        let mut kinds = self.held();
        let histogram = kinds.entry((method, route.to_owned(), status)).or_default();
        let seconds = took.as_secs_f64();
        if let Some(bucket) = BOUNDS.iter().position(|bound| seconds <= *bound) {
            histogram.counts[bucket] += 1;
        }
        histogram.n += 1;
        histogram.sum_s += seconds;
    }

    /// How long answers to `GET /api/…` have taken, all together. Others do what takes its time,
    /// such as the moves of an opponent that thinks.
    pub fn of_looking(&self) -> Latency {
        let (mut counts, mut n) = ([0; BOUNDS.len()], 0);
        for ((method, route, _), histogram) in &*self.held() {
            if *method == "GET" && route.starts_with("/api/") {
                counts.iter_mut().zip(histogram.counts).for_each(|(sum, count)| *sum += count);
                n += histogram.n;
            }
        }
        Latency { bounds: BOUNDS.to_vec(), counts: counts.to_vec(), n }
    }

    /// The histogram in Prometheus's text format.
    pub fn write(&self, out: &mut String) {
        let name = "cartridge_http_request_duration_seconds";
        _ = writeln!(out, "# HELP {name} Time until an answer begins.\n# TYPE {name} histogram");
        for ((method, route, status), histogram) in &*self.held() {
            let labels = format!("method=\"{method}\",route=\"{route}\",status=\"{status}\"");
            let mut n = 0;
            for (bound, count) in BOUNDS.iter().zip(histogram.counts) {
                n += count;
                _ = writeln!(out, "{name}_bucket{{{labels},le=\"{bound}\"}} {n}");
            }
            let Histogram { n, sum_s, .. } = histogram;
            _ = writeln!(out, "{name}_bucket{{{labels},le=\"+Inf\"}} {n}");
            _ = writeln!(out, "{name}_sum{{{labels}}} {sum_s}\n{name}_count{{{labels}}} {n}");
        }
    }
}

/// Measures every request.
pub async fn measure(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    // Files of the web app and addresses that nobody knows.
    let route = route.unwrap_or_else(|| "other".to_owned());
    let method = request.method().clone();
    let began = Instant::now();
    let parent = request.headers().get("traceparent").and_then(|parent| parent.to_str().ok());
    // For traces of OpenTelemetry; without them it costs nothing.
    let span = tracing::info_span!(
        target: "otel",
        "request",
        "http.request.method" = method.as_str(),
        "http.route" = route,
        "http.response.status_code" = tracing::field::Empty,
        request_id = request_id(),
        traceparent = parent,
    );
    let response = next.run(request).instrument(span.clone()).await;
    span.record("http.response.status_code", response.status().as_u16());
    state.gate.traffic.count(&method, &route, response.status().as_u16(), began.elapsed());
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_into_buckets_that_add_up() {
        let traffic = Traffic::default();
        for ms in [1, 2, 30, 90_000] {
            traffic.count(&Method::GET, "/api/runs", 200, Duration::from_millis(ms));
        }
        let mut text = String::new();
        traffic.write(&mut text);
        let value = |le: &str| -> u64 {
            let line = text.lines().find(|line| line.contains(&format!("le=\"{le}\""))).unwrap();
            line.rsplit(' ').next().unwrap().parse().unwrap()
        };
        let found = ["0.001", "0.0025", "0.05", "10", "+Inf"].map(value);
        assert_eq!(found, [1, 2, 3, 3, 4]);
        let labels = "method=\"GET\",route=\"/api/runs\",status=\"200\"";
        assert!(text.contains(&format!("_count{{{labels}}} 4")), "{text}");
    }
}
