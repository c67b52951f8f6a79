//! The lab's HTTP application, asked in this process on behalf of a caller.

use axum::Router;
use axum::body::{Body, BodyDataStream};
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, ORIGIN};
use axum::http::{Extensions, Method, Response, StatusCode};
use axum::middleware::Next;
use futures_util::StreamExt as _;
use http_body_util::BodyExt as _;
use serde_json::Value;
use tonic::{Code, Status};
use tower::ServiceExt as _;

/// Who calls: what the application checks of every request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caller {
    headers: HeaderMap,
    /// Where the call came from.
    peer: Extensions,
}

/// Keeps of a call what gRPC does not hand on to the service.
pub(crate) async fn note_caller<Peer: Clone + Send + Sync + 'static>(
    mut request: Request,
    next: Next,
) -> axum::response::Response {
    let mut caller = Caller::default();
    let authority = request.uri().authority().map(|it| HeaderValue::from_str(it.as_str()));
    if let Some(Ok(authority)) = authority {
        caller.headers.insert(HOST, authority);
    }
    for name in [HOST, ORIGIN, AUTHORIZATION] {
        if let Some(value) = request.headers().get(&name) {
            caller.headers.insert(name, value.clone());
        }
    }
    if let Some(peer) = request.extensions().get::<Peer>() {
        caller.peer.insert(peer.clone());
    }
    request.extensions_mut().insert(caller);
    next.run(request).await
}

/// The lab for one caller.
#[derive(Clone, Debug)]
pub(crate) struct Lab {
    app: Router,
    caller: Caller,
}

impl Lab {
    pub(crate) fn new<T>(app: &Router, call: &tonic::Request<T>) -> Self {
        let caller = call.extensions().get::<Caller>().cloned().unwrap_or_default();
        Self { app: app.clone(), caller }
    }

    pub(crate) async fn get(&self, address: &str) -> Result<Value, Status> {
        read(self.ask(Method::GET, address, None, "").await?).await
    }

    /// Without a key of the caller it is a new request.
    pub(crate) async fn post(
        &self,
        address: &str,
        body: Value,
        key: &str,
    ) -> Result<Value, Status> {
        let fresh = format!("grpc-{:032x}", fastrand::u128(..));
        let key = if key.is_empty() { &fresh } else { key };
        read(self.ask(Method::POST, address, Some(body), key).await?).await
    }

    /// The events of an address that streams them.
    pub(crate) async fn listen(&self, address: &str) -> Result<Events, Status> {
        let answer = self.ask(Method::GET, address, None, "").await?;
        Ok(Events { body: answer.into_body().into_data_stream(), text: Vec::new() })
    }

    async fn ask(
        &self,
        method: Method,
        address: &str,
        body: Option<Value>,
        key: &str,
    ) -> Result<Response<Body>, Status> {
        let mut request = Request::builder()
            .method(method)
            .uri(address)
            .body(body.map_or_else(Body::empty, |body| Body::from(body.to_string())))
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        let headers = request.headers_mut();
        headers.extend(self.caller.headers.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if !key.is_empty() {
            let key = HeaderValue::from_str(key).map_err(|_| {
                Status::invalid_argument("`request_key` has 1 to 200 letters, digits and signs")
            })?;
            headers.insert("idempotency-key", key);
        }
        request.extensions_mut().extend(self.caller.peer.clone());
        let answer = self.app.clone().oneshot(request).await.unwrap_or_else(|error| match error {});
        if answer.status().is_success() {
            return Ok(answer);
        }
        let status = answer.status();
        let problem = read(answer).await.unwrap_or_default();
        Err(refusal(status, &problem))
    }
}

async fn read(answer: Response<Body>) -> Result<Value, Status> {
    let body =
        answer.into_body().collect().await.map_err(|error| Status::internal(error.to_string()))?;
    serde_json::from_slice(&body.to_bytes()).map_err(|error| Status::internal(error.to_string()))
}

/// A problem of the application as gRPC says it.
fn refusal(status: StatusCode, problem: &Value) -> Status {
    let code = match status.as_u16() {
        400 | 422 => Code::InvalidArgument,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 | 410 => Code::NotFound,
        409 => Code::FailedPrecondition,
        413 | 429 | 507 => Code::ResourceExhausted,
        503 => Code::Unavailable,
        _ => Code::Internal,
    };
    let mut message = problem["detail"].as_str().unwrap_or("the lab did not answer").to_owned();
    for wrong in problem["errors"].as_array().into_iter().flatten() {
        let detail = wrong["detail"].as_str().unwrap_or_default();
        if !message.contains(detail) {
            let pointer = wrong["pointer"].as_str().unwrap_or_default();
            message += &format!("; {pointer}: {detail}");
        }
    }
    Status::new(code, message)
}

/// Server-sent events.
pub(crate) struct Events {
    body: BodyDataStream,
    /// What came and is not whole yet.
    text: Vec<u8>,
}

/// One server-sent event.
#[derive(Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) id: u64,
    /// The message; nothing where only the number is told.
    pub(crate) data: Option<Value>,
}

impl Events {
    /// The next event; nothing when the lab ends the stream.
    pub(crate) async fn next(&mut self) -> Result<Option<Told>, Status> {
        loop {
            while let Some(end) = find(&self.text, b"\n\n") {
                let event: Vec<u8> = self.text.drain(..end + 2).collect();
                if let Some(told) = parse(&event)? {
                    return Ok(Some(told));
                }
            }
            match self.body.next().await {
                Some(Ok(bytes)) => self.text.extend_from_slice(&bytes),
                Some(Err(error)) => return Err(Status::unavailable(error.to_string())),
                None => return Ok(None),
            }
        }
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// An event by its lines; nothing where it has no number, as a comment has none.
fn parse(event: &[u8]) -> Result<Option<Told>, Status> {
    let event = String::from_utf8_lossy(event);
    let field = |name: &str| {
        event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
    };
    let Some(id) = field("id").and_then(|id| id.parse().ok()) else { return Ok(None) };
    let data = field("data").map(serde_json::from_str).transpose();
    let data = data.map_err(|error| Status::internal(error.to_string()))?;
    Ok(Some(Told { id, data }))
}

#[cfg(test)]
mod tests {
    use axum::body::Bytes;
    use serde_json::json;

    use super::*;

    #[test]
    fn events_come_in_pieces() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let text = "retry: 2000\n\nid: 7\nevent: A\ndata: {\"x\":1}\n\n: ping\n\nid: 9\n\n";
        for n in 1..text.len() {
            let pieces: Vec<Result<Bytes, std::convert::Infallible>> =
                text.as_bytes().chunks(n).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
            let body = Body::from_stream(futures_util::stream::iter(pieces));
            let mut events = Events { body: body.into_data_stream(), text: Vec::new() };
            runtime.block_on(async {
                let first = events.next().await.unwrap();
                assert_eq!(first, Some(Told { id: 7, data: Some(json!({"x": 1})) }));
                assert_eq!(events.next().await.unwrap(), Some(Told { id: 9, data: None }));
                assert_eq!(events.next().await.unwrap(), None);
            });
        }
    }

    #[test]
    fn problems_say_what_to_do() {
        let problem = json!({
            "detail": "one field is wrong",
            "errors": [{ "pointer": "/seed", "detail": "from 0 on" }],
        });
        let status = refusal(StatusCode::UNPROCESSABLE_ENTITY, &problem);
        assert_eq!(status.code(), Code::InvalidArgument);
        assert_eq!(status.message(), "one field is wrong; /seed: from 0 on");
    }
}
