//! What every change goes through: a key, a line in the audit, and a recipe.
//!
//! The `Idempotency-Key` is that of the IETF draft. A client that heard no answer sends the request
//! again with the same key, and gets what the first one was answered (`Idempotent-Replayed: true`);
//! 409 while the first is under way, 422 when the key was used for something else, 400 when there
//! is none. Only successes are kept: a request that failed has changed nothing, and is made again.
//! Keys belong to whoever used them, and are kept for a day, across restarts.
//!
//! The work goes on when the client leaves: it is done, recorded and kept, so that whoever comes
//! back finds it.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest as _, MatchedPath, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use cartridge_run::audit::{self, Deed, Entry};
use cartridge_run::clock::unix_now;
use cartridge_run::store::Answer;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tracing::Instrument as _;

use crate::AppState;
use crate::auth::Principal;
use crate::error::{self, ApiError};
use crate::extract::RequestKey;
use crate::gate::Gate;
use crate::recipe::Recipe;
use crate::roles;

/// Changes that leave no line in the audit: the moves of a game are in the game's own record, and
/// a ticket changes nothing. A logout writes its own.
const UNRECORDED: &[&str] = &[
    "/api/play/{id}/hint",
    "/api/play/{id}/moves",
    "/api/play/{id}/thoughts",
    "/api/play/{id}/undo",
    "/api/tickets",
    "/api/logout",
];

/// The longest answer that is looked at and kept.
const MOST_ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// Headers that belong to an answer and are kept with it.
const KEPT_HEADERS: &[&str] = &["content-type", "location", "cartridge-command", "cartridge-curl"];

/// Marks an answer that must not be kept, because it holds a secret that is shown once.
#[derive(Clone, Copy, Debug)]
pub struct ShownOnce;

/// The middleware before all routes that change something.
pub async fn once(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let principal = request.extensions().get::<Principal>().cloned();
    let (Some(matched), Some(principal)) = (matched, principal) else {
        return next.run(request).await;
    };
    if !crate::is_mutation(request.method(), matched.as_str()) {
        return next.run(request).await;
    }
    let work = async move {
        let route = Route { method: request.method().clone(), path: matched };
        carry_out(&state, route, principal, request, next)
            .await
            .unwrap_or_else(|error| error.into_response())
    };
    tokio::spawn(error::in_request(error::request_id(), work).in_current_span())
        .await
        .unwrap_or_else(|error| ApiError::Internal(error.to_string()).into_response())
}

/// Which route a request is for.
struct Route {
    method: Method,
    path: MatchedPath,
}

async fn carry_out(
    state: &AppState,
    route: Route,
    principal: Principal,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let key = read_key(request.headers())?;
    if key.is_none() && roles::needs_key(&route.method, route.path.as_str()) {
        return Err(ApiError::NoKey);
    }
    let (mut parts, body) = request.into_parts();
    let body = read_body(state, &parts, body).await?;
    let asked = RequestKey::new(principal.clone(), key.clone(), error::request_id());
    parts.extensions.insert(asked.clone());
    let change = Change { route, asked, principal, parts: parts.clone(), body: body.clone() };
    let Some(key) = key else { return Ok(change.make(state, parts, body, next).await.0) };
    let id = hash(&[change.principal.name.as_bytes(), key.as_bytes()]);
    let path = parts.uri.path_and_query().map_or("", |path| path.as_str());
    let request = hash(&[parts.method.as_str().as_bytes(), path.as_bytes(), &body]);
    let _turn = Turn::take(&state.gate, &id, &request)?;
    if let Some((first, answer)) = find(&state.gate, &id).await? {
        return if first == request { Ok(replay(answer)) } else { Err(ApiError::KeyReused) };
    }
    let (response, answer) = change.make(state, parts, body, next).await;
    if let Some(answer) = answer {
        let gate = Arc::clone(&state.gate);
        let keep = move || gate.answers().keep(&id, &request, answer, unix_now());
        // The change is made: that its answer could not be kept is no reason to say it was not.
        match tokio::task::spawn_blocking(keep).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "an answer could not be kept"),
            Err(error) => tracing::error!(%error, "an answer could not be kept"),
        }
    }
    Ok(response)
}

/// The key of a request, with or without the quotes of the draft.
fn read_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().ok();
    let quoted = text.and_then(|text| text.strip_prefix('"')?.strip_suffix('"'));
    match quoted.or(text) {
        Some(key) if (1..=200).contains(&key.len()) => Ok(Some(key.to_owned())),
        _ => Err(ApiError::Malformed(
            "`Idempotency-Key` has 1 to 200 letters, digits and signs".to_owned(),
        )),
    }
}

async fn read_body(state: &AppState, parts: &Parts, body: Body) -> Result<Bytes, ApiError> {
    let patience = state.gate.limits.body_patience;
    let request = Request::from_parts(parts.clone(), body);
    let read = tokio::time::timeout(patience, Bytes::from_request(request, state)).await;
    read.map_err(|_| ApiError::SlowBody(patience))?.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::TooLarge,
        _ => ApiError::Malformed(rejection.body_text()),
    })
}

fn hash(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        // Each with its length, so that no two requests have the same words in other places.
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    data_encoding::HEXLOWER.encode(&hasher.finalize())
}

/// That a request is under way, until it is dropped.
struct Turn<'a> {
    gate: &'a Gate,
    id: String,
}

impl<'a> Turn<'a> {
    fn take(gate: &'a Gate, id: &str, request: &str) -> Result<Self, ApiError> {
        let mut under_way = gate.under_way();
        match under_way.get(id) {
            Some(other) if other == request => return Err(ApiError::UnderWay),
            Some(_) => return Err(ApiError::KeyReused),
            None => _ = under_way.insert(id.to_owned(), request.to_owned()),
        }
        drop(under_way);
        Ok(Self { gate, id: id.to_owned() })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.gate.under_way().remove(&self.id);
    }
}

async fn find(gate: &Arc<Gate>, id: &str) -> Result<Option<(String, Answer)>, ApiError> {
    let (gate, id) = (Arc::clone(gate), id.to_owned());
    let found = tokio::task::spawn_blocking(move || gate.answers().find(&id, unix_now())).await;
    let found = found.map_err(|error| ApiError::Internal(error.to_string()))?;
    Ok(found.map_err(cartridge_run::RunError::from)?)
}

fn replay(answer: Answer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, answer.body).into_response();
    let headers = response.headers_mut();
    headers.remove(CONTENT_TYPE);
    for (name, value) in answer.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.insert(name, value);
        }
    }
    headers.insert("idempotent-replayed", HeaderValue::from_static("true"));
    response
}

/// A change that somebody asked for.
struct Change {
    route: Route,
    asked: RequestKey,
    principal: Principal,
    parts: Parts,
    body: Bytes,
}

impl Change {
    /// Makes it; returns the answer, and what of it is kept.
    async fn make(
        self,
        state: &AppState,
        parts: Parts,
        body: Bytes,
        next: Next,
    ) -> (Response, Option<Answer>) {
        let response = next.run(Request::from_parts(parts, Body::from(body))).await;
        if !response.status().is_success() {
            return (response, None);
        }
        let (mut head, body) = response.into_parts();
        let body = match axum::body::to_bytes(body, MOST_ANSWER_BYTES).await {
            Ok(body) => body,
            Err(error) => return (ApiError::Internal(error.to_string()).into_response(), None),
        };
        let recipe =
            Recipe::new(&self.route.method, self.route.path.as_str(), &self.parts, &self.body);
        recipe.add_to(&mut head.headers);
        self.record(state, &body).await;
        let is_secret = head.extensions.get::<ShownOnce>().is_some();
        let answer = if is_secret {
            shown_once().await
        } else {
            let header = |name: &&str| {
                let value = head.headers.get(*name)?.to_str().ok()?;
                Some(((*name).to_owned(), value.to_owned()))
            };
            String::from_utf8(body.to_vec()).ok().map(|body| Answer {
                status: head.status.as_u16(),
                headers: KEPT_HEADERS.iter().filter_map(header).collect(),
                body,
            })
        };
        (Response::from_parts(head, Body::from(body)), answer)
    }

    /// Writes a line for a change whose handler wrote none.
    async fn record(&self, state: &AppState, answer: &Bytes) {
        let path = self.route.path.as_str();
        if self.asked.is_recorded() || UNRECORDED.contains(&path) {
            return;
        }
        let made: Value = serde_json::from_slice(answer).unwrap_or_default();
        let mut named = path.split('/').zip(self.parts.uri.path().split('/'));
        let target = named
            .find_map(|(pattern, part)| (pattern == "{id}").then(|| part.to_owned()))
            .or_else(|| made["id"].as_str().map(str::to_owned))
            .unwrap_or_else(|| "lab".to_owned());
        let new = json!({ "method": self.parts.method.as_str(), "path": self.parts.uri.path() });
        let asked = self.asked.clone();
        let recorded = state.ask(move |lab| {
            let entry = Entry { new, ..Entry::new(asked.by(), Deed::Request, &target) };
            audit::record(lab.data(), entry, unix_now())
        });
        if let Err(error) = recorded.await {
            tracing::error!(%error, "a change was made that the audit does not know of");
        }
    }
}

/// What is kept of an answer with a secret.
async fn shown_once() -> Option<Answer> {
    let (head, body) = ApiError::ShownOnce.into_response().into_parts();
    let body = axum::body::to_bytes(body, MOST_ANSWER_BYTES).await.ok()?;
    let kind = head.headers.get(CONTENT_TYPE)?.to_str().ok()?.to_owned();
    Some(Answer {
        status: head.status.as_u16(),
        headers: vec![(CONTENT_TYPE.as_str().to_owned(), kind)],
        body: String::from_utf8(body.to_vec()).ok()?,
    })
}
