//! Traces for OpenTelemetry: spans of the lab, sent as OTLP over HTTP.
//!
//! Only with the feature `otel`, and only when an endpoint is named. A layer of `tracing` takes the
//! spans whose target is [`TARGET`] (requests, and starts and ends of runs), a thread of its own
//! sends them in batches, in OTLP's JSON form. What waits has a bound, and what cannot be sent is
//! dropped: a lab never waits for who watches it.
//!
//! It is written by hand because it is this file: an SDK with its exporter, its client and its
//! protobuf types would be much more to build and to keep up with.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cartridge_run::secret;
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// The target of spans that are sent.
pub(crate) const TARGET: &str = "otel";

/// Spans that wait to be sent; more than these are dropped.
const MOST_WAITING: usize = 4096;

/// Spans that are sent together.
const BATCH: usize = 512;

/// How long a span waits for others.
const SEND_EVERY: Duration = Duration::from_secs(1);

/// What sending may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A span, from its beginning to its end.
#[derive(Clone, Debug)]
struct Span {
    name: &'static str,
    trace_id: String,
    span_id: String,
    parent_id: Option<String>,
    began: u128,
    attributes: BTreeMap<&'static str, Value>,
}

/// Nanoseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "spans carry the time of day, and decide nothing")]
fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

impl Visit for Span {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.take(field, json!({ "stringValue": format!("{value:?}") }));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field, json!({ "stringValue": value }));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        // Whole numbers are text in this form of JSON.
        self.take(field, json!({ "intValue": value.to_string() }));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.take(field, json!({ "intValue": value.to_string() }));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.take(field, json!({ "boolValue": value }));
    }
}

impl Span {
    fn take(&mut self, field: &Field, value: Value) {
        if field.name() == "traceparent" {
            self.adopt(value["stringValue"].as_str().unwrap_or_default());
        } else {
            self.attributes.insert(field.name(), value);
        }
    }

    /// Becomes the child of a span elsewhere: W3C Trace Context, `00-<trace>-<span>-<flags>`.
    fn adopt(&mut self, parent: &str) {
        let is_hex = |text: &str, n: usize| {
            text.len() == n
                && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
                && text.bytes().any(|byte| byte != b'0')
        };
        let parts: Vec<&str> = parent.split('-').collect();
        if let ["00", trace_id, span_id, _] = parts[..]
            && is_hex(trace_id, 32)
            && is_hex(span_id, 16)
        {
            self.trace_id = trace_id.to_owned();
            self.parent_id = Some(span_id.to_owned());
        }
    }

    /// As OTLP's JSON says it.
    fn otlp(&self, ended: u128) -> Value {
        let attributes: Vec<Value> = self
            .attributes
            .iter()
            .map(|(key, value)| json!({ "key": key, "value": value }))
            .collect();
        let status = &self.attributes.get("http.response.status_code").map(|it| &it["intValue"]);
        let is_error =
            status.is_some_and(|it| it.as_str().is_some_and(|text| text.starts_with('5')));
        json!({
            "traceId": self.trace_id,
            "spanId": self.span_id,
            "parentSpanId": self.parent_id.as_deref().unwrap_or_default(),
            "name": self.name,
            // A server's span, or one within.
            "kind": if self.name == "request" { 2 } else { 1 },
            "startTimeUnixNano": self.began.to_string(),
            "endTimeUnixNano": ended.to_string(),
            "attributes": attributes,
            "status": if is_error { json!({ "code": 2 }) } else { json!({}) },
        })
    }
}

/// Takes spans and leaves them to be sent.
#[derive(Debug)]
pub(crate) struct Traces(SyncSender<Value>);

impl Traces {
    /// A layer whose spans go to a collector, such as `http://127.0.0.1:4318`.
    pub(crate) fn open(endpoint: &str, version: &'static str) -> Self {
        let (sender, receiver) = mpsc::sync_channel(MOST_WAITING);
        let address = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
        thread::spawn(move || send(&address, version, &receiver));
        Self(sender)
    }
}

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Traces {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(place) = context.span(id) else { return };
        let parent = place.parent().and_then(|parent| {
            let extensions = parent.extensions();
            let span = extensions.get::<Span>()?;
            Some((span.trace_id.clone(), span.span_id.clone()))
        });
        let random = secret::random_hex();
        let span_id = random[..16].to_owned();
        let (trace_id, parent_id) = match parent {
            Some((trace_id, parent_id)) => (trace_id, Some(parent_id)),
            None => (random[16..48].to_owned(), None),
        };
        let mut span = Span {
            name: attributes.metadata().name(),
            trace_id,
            span_id,
            parent_id,
            began: now(),
            attributes: BTreeMap::new(),
        };
        attributes.record(&mut span);
        place.extensions_mut().insert(span);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(place) = context.span(id)
            && let Some(span) = place.extensions_mut().get_mut::<Span>()
        {
            values.record(span);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if let Some(place) = context.span(&id)
            && let Some(span) = place.extensions().get::<Span>()
        {
            // A full queue drops it.
            _ = self.0.try_send(span.otlp(now()));
        }
    }
}

fn send(address: &str, version: &str, waiting: &Receiver<Value>) {
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .max_redirects(0)
        .proxy(None)
        .build();
    let agent = ureq::Agent::new_with_config(config);
    let mut is_away = false;
    while let Ok(first) = waiting.recv() {
        let (mut spans, began) = (vec![first], Instant::now());
        while spans.len() < BATCH {
            match waiting.recv_timeout(SEND_EVERY.saturating_sub(began.elapsed())) {
                Ok(span) => spans.push(span),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        let resource = json!([
            { "key": "service.name", "value": { "stringValue": "cartridge" } },
            { "key": "service.version", "value": { "stringValue": version } },
        ]);
        let body = json!({ "resourceSpans": [{
            "resource": { "attributes": resource },
            "scopeSpans": [{ "scope": { "name": "cartridge", "version": version }, "spans": spans }],
        }] });
        let sent = agent.post(address).send_json(&body);
        // Once, until it works again: a collector that is away is no news twice a second.
        match sent {
            Ok(_) => is_away = false,
            Err(error) if !is_away => {
                is_away = true;
                tracing::warn!(%error, "traces cannot be sent, and are dropped");
            }
            Err(_) => {}
        }
    }
}
