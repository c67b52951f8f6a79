//! The door for unmodified `wandb` clients: GraphQL, posts of lines, and files.
//!
//! These routes stand beside the API, at the addresses that clients know; they are not in the
//! OpenAPI document, because their form is W&B's. Clients say who they are by `Basic api:KEY` or a
//! bearer token. Files come and go by addresses that the lab has signed and that expire, as clients
//! send no key with them ([`Auth::sign_address`](crate::auth::Auth)).

mod answers;
mod filter;
mod graphql;

use std::io::Write as _;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Extension, Request, State};
use axum::http::header::{
    CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use cartridge_run::RunError;
use cartridge_run::steer::By;
use cartridge_run::store::RunId;
use cartridge_run::wandb::{Key, Post};
use futures_util::StreamExt as _;
use serde::Deserialize;
use serde_json::{Value, json};

use self::graphql::Document;
use crate::api::artifacts::stream_file;
use crate::auth::Principal;
use crate::error::{self, ApiError};
use crate::extract::Path;
use crate::{AppState, assets};

/// The largest query with its variables: a configuration may be long.
const MOST_QUERY_BYTES: usize = 16 * 1024 * 1024;

/// The largest post: clients send about 10 MiB at once, which quotes make longer.
const MOST_POST_BYTES: usize = 48 * 1024 * 1024;

/// Files and what they are below.
pub(crate) const FILES: &str = "/wandb/files/";

/// The most that a client may tell of itself at once.
const MOST_TOLD_BYTES: usize = 1024 * 1024;

/// Whether an address is one of these.
pub(crate) fn is_door(path: &str) -> bool {
    path == "/graphql" || path.starts_with("/files/")
}

/// What a client calls a run, by the address that it prints for people:
/// `/{entity}/{project}/runs/{run}`.
pub(crate) fn run_in_address(path: &str) -> Option<Key> {
    let step = |step: &str| {
        // What has a meaning in forms has none in a path.
        let step = step.replace('+', "%2B").replace('=', "%3D").replace('&', "%26");
        let mut pairs = form_urlencoded::parse(step.as_bytes());
        pairs.next().map(|(name, _)| name.into_owned())
    };
    match path.split('/').collect::<Vec<_>>()[..] {
        ["", entity, project, "runs", run] if !matches!(entity, "api" | "_app") => {
            Key::new(Some(&step(entity)?), Some(&step(project)?), &step(run)?).ok()
        }
        _ => None,
    }
}

/// Leads a browser from the address that a client printed to the run's page.
pub(crate) async fn lead_to_run(
    State(state): State<AppState>,
    principal: Option<Extension<Principal>>,
    request: Request,
) -> Response {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let key = run_in_address(uri.path()).filter(|_| method == Method::GET);
    if let (Some(key), Some(_)) = (key, principal)
        && let Ok(id) = state.ask(move |lab| lab.wandb_find(&key)).await
    {
        return Redirect::to(&format!("/runs/{id}")).into_response();
    }
    assets::serve(method, uri, request.headers().clone()).await
}

/// Whether an address is one of a file, which is signed.
pub(crate) fn is_signed(path: &str) -> bool {
    path.starts_with(FILES)
}

/// A query, as clients send it.
#[derive(Debug, Deserialize)]
struct Query {
    query: String,
    #[serde(default)]
    variables: Value,
    #[serde(default, rename = "operationName")]
    operation_name: Option<String>,
}

async fn answer_query(
    State(state): State<AppState>,
    Extension(principal): Extension<Principal>,
    uri: Uri,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, ApiError> {
    let body = read_body(&state, request, MOST_QUERY_BYTES).await?;
    let query: Query = serde_json::from_slice(&body)
        .map_err(|error| ApiError::Malformed(format!("the body is no query: {error}")))?;
    let here = address_of(&uri, &headers);
    let (auth, request_id) = (std::sync::Arc::clone(&state.auth), error::request_id());
    let asked = state.ask(move |lab| {
        let by = By {
            who: &principal.name,
            role: Some(principal.role),
            request: None,
            request_id: Some(&request_id),
        };
        let world = answers::World { lab, auth: &auth, principal: &principal, by, here: &here };
        Ok(answer(&query, &world))
    });
    let (status, answer) = asked.await?;
    Ok((status, axum::Json(answer)).into_response())
}

/// The status and the body of the answer to a query.
fn answer(query: &Query, world: &answers::World<'_>) -> (StatusCode, Value) {
    let refused = |message: String| {
        (StatusCode::OK, json!({ "data": null, "errors": [{ "message": message }] }))
    };
    let document = match Document::parse(&query.query) {
        Ok(document) => document,
        Err(error) => return refused(format!("the query cannot be read: {error}")),
    };
    let operation = match document.operation(query.operation_name.as_deref()) {
        Ok(operation) => operation,
        Err(error) => return refused(error),
    };
    let root = answers::Node::root(operation.is_mutation);
    let mut trouble = None;
    let mut resolve = |node: &answers::Node, name: &str, arguments: &graphql::Arguments| {
        world.field(node, name, arguments).map_err(|error| {
            let message = error.to_string();
            trouble = Some(error);
            message
        })
    };
    match document.answer(operation, &query.variables, &root, &mut resolve) {
        Ok(data) => (StatusCode::OK, json!({ "data": data })),
        Err(message) => {
            let name: String = operation.name.as_deref().unwrap_or("?").chars().take(80).collect();
            tracing::warn!(operation = name, message, "a wandb client was refused something");
            let status = trouble.as_ref().map_or(StatusCode::OK, answers::status_of);
            (status, refused(message).1)
        }
    }
}

/// Where the client has found us.
fn address_of(uri: &Uri, headers: &HeaderMap) -> String {
    let host = uri.authority().map(|authority| authority.as_str().to_owned());
    let host = host.or_else(|| Some(headers.get(HOST)?.to_str().ok()?.to_owned()));
    // Whoever stands before us says how it is reached; it only changes what the asker is told.
    let is_tls = headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https");
    let scheme = if is_tls { "https" } else { "http" };
    format!("{scheme}://{}", host.unwrap_or_default())
}

async fn take_post(
    State(state): State<AppState>,
    Extension(principal): Extension<Principal>,
    Path((entity, project, run)): Path<(String, String, String)>,
    request: Request,
) -> Result<axum::Json<Value>, ApiError> {
    let body = read_body(&state, request, MOST_POST_BYTES).await?;
    let post: Post = match body.as_ref() {
        b"" => Post::default(),
        body => serde_json::from_slice(body)
            .map_err(|error| ApiError::Malformed(format!("the body is no post: {error}")))?,
    };
    let request_id = error::request_id();
    let is_to_stop = state.ask(move |lab| {
        let key = Key::new(Some(&entity), Some(&project), &run)?;
        let by = By {
            who: &principal.name,
            role: Some(principal.role),
            request: None,
            request_id: Some(&request_id),
        };
        lab.wandb_post(&key, &post, by)
    });
    Ok(axum::Json(json!({ "stopped": is_to_stop.await?, "limits": {} })))
}

async fn take_file(
    State(state): State<AppState>,
    Path((run, name)): Path<(String, String)>,
    request: Request,
) -> Result<StatusCode, ApiError> {
    let id: RunId = run.parse().map_err(RunError::from)?;
    let begun = state.ask(move |lab| lab.wandb_run(&id)?.folder.begin_file(&name));
    let (mut draft, most) = begun.await?;
    let patience = state.gate.limits.body_patience;
    let mut pieces = request.into_body().into_data_stream();
    let mut size_bytes = 0_u64;
    while let Some(piece) = next_in_time(&mut pieces, patience).await? {
        size_bytes += piece.len() as u64;
        if size_bytes > most {
            return Err(RunError::WandbFull(format!("{most} bytes in this file")).into());
        }
        // Off the event loop, like everything that waits for a disk.
        let written = state.ask(move |_| {
            draft.file.write_all(&piece).map_err(at_files)?;
            Ok(draft)
        });
        draft = written.await?;
    }
    state.ask(move |_| Ok(draft.finish().map_err(at_files)?)).await?;
    Ok(StatusCode::OK)
}

/// The next piece of a body, if it comes in time.
async fn next_in_time(
    pieces: &mut axum::body::BodyDataStream,
    patience: Duration,
) -> Result<Option<Bytes>, ApiError> {
    let piece = tokio::time::timeout(patience, pieces.next()).await;
    let piece = piece.map_err(|_| ApiError::SlowBody(patience))?;
    piece.transpose().map_err(|error| ApiError::Malformed(error.to_string()))
}

fn at_files(error: std::io::Error) -> cartridge_run::store::StoreError {
    cartridge_run::store::StoreError::io(std::path::Path::new("wandb/files"))(error)
}

async fn give_file(
    State(state): State<AppState>,
    Path((run, name)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let id: RunId = run.parse().map_err(RunError::from)?;
    let (file, size_bytes) =
        state.ask(move |lab| lab.wandb_run(&id)?.folder.open_file(&name)).await?;
    let mut response = Response::new(stream_file(file, 0, size_bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_LENGTH, size_bytes.into());
    // Whatever it is, no browser is to show it as a page of ours.
    let fixed = [
        (CONTENT_TYPE, "application/octet-stream"),
        (CONTENT_DISPOSITION, "attachment"),
        (CONTENT_SECURITY_POLICY, "sandbox"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

async fn read_body(state: &AppState, request: Request, most: usize) -> Result<Bytes, ApiError> {
    let patience = state.gate.limits.body_patience;
    let mut pieces = request.into_body().into_data_stream();
    let mut body = Vec::new();
    while let Some(piece) = next_in_time(&mut pieces, patience).await? {
        if body.len() + piece.len() > most {
            return Err(ApiError::LargeBody(most));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body.into())
}

/// What clients tell of themselves. They send no key with it; it is read to its end and dropped, so
/// there is nothing to guard. Some of it is not JSON, and is answered with nothing, which means
/// nothing in every language.
async fn ignore(State(state): State<AppState>, request: Request) -> Result<Response, ApiError> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_json = kind.is_some_and(|kind| kind.starts_with("application/json"));
    read_body(&state, request, MOST_TOLD_BYTES).await?;
    Ok(if is_json { axum::Json(json!({})).into_response() } else { StatusCode::OK.into_response() })
}

/// Puts what went wrong where clients look for it, too.
pub(crate) async fn in_their_words(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_ours = !is_door(path) && !is_signed(path);
    let response = next.run(request).await;
    if is_ours || !(response.status().is_client_error() || response.status().is_server_error()) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let body = axum::body::to_bytes(body, MOST_QUERY_BYTES).await.unwrap_or_default();
    let mut problem: Value = serde_json::from_slice(&body).unwrap_or_default();
    let detail = problem["detail"].take();
    let Some(words) = detail.as_str() else { return Response::from_parts(head, body.into()) };
    // Some of them look here, others there.
    problem["error"] = words.into();
    problem["errors"] = json!([{ "message": words }]);
    problem["detail"] = words.into();
    head.headers.remove(CONTENT_LENGTH);
    Response::from_parts(head, problem.to_string().into())
}

/// The routes of this file.
pub(crate) fn router() -> Router<AppState> {
    Router::new()
        .route("/graphql", post(answer_query))
        .route("/files/{entity}/{project}/{run}/file_stream", post(take_post))
        .route("/wandb/files/{run}/{*name}", get(give_file).put(take_file))
        .route("/sdk/{*what}", post(ignore))
}
