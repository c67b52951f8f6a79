//! The engine's door over gRPC: `cartridge.engine.v1.Engine`.
//!
//! # Layout
//!
//! * [`v1`]: messages, client and server, generated from `proto/` when the crate is built.
//! * [`service`]: the four methods, over [`EngineContext`](cartridge_games::EngineContext).
//! * [`serve`]: the service on a socket, with its limits and its token.
//!
//! **Invariants:** the service keeps nothing that an answer depends on, so any number of servers
//! are one. Rules run on threads of their own, never on those that listen. Nothing here reads a
//! file or knows a run.

pub mod service;

/// Messages, client and server, as `engine.proto` describes them.
#[expect(clippy::allow_attributes_without_reason, reason = "the code is generated")]
#[expect(clippy::allow_attributes, reason = "the code is generated")]
pub mod v1 {
    tonic::include_proto!("cartridge.engine.v1");
}

use std::time::Duration;

use tokio::net::TcpListener;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Status};

use crate::service::{EngineService, MAX_MESSAGE_BYTES};
use crate::v1::engine_server::EngineServer;

/// How many calls of one connection are answered at once; more wait.
const MAX_CALLS: u32 = 32;
/// A caller that is silent is asked this often whether it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// Serves the engine until `ended`, then lets answers under way be finished.
///
/// With a token, every call must carry it: `authorization: Bearer TOKEN`.
pub async fn serve(
    listener: TcpListener,
    token: Option<String>,
    ended: impl Future<Output = ()>,
) -> Result<(), tonic::transport::Error> {
    let guard = move |request| check_token(token.as_deref(), request);
    Server::builder()
        .max_concurrent_streams(MAX_CALLS)
        .http2_keepalive_interval(Some(KEEP_ALIVE))
        .add_service(InterceptedService::new(server(), guard))
        .serve_with_incoming_shutdown(TcpIncoming::from(listener).with_nodelay(Some(true)), ended)
        .await
}

/// The service with its limits, to be called in this process or put on a socket.
pub fn server() -> EngineServer<EngineService> {
    EngineServer::new(EngineService::default()).max_decoding_message_size(MAX_MESSAGE_BYTES)
}

fn check_token(token: Option<&str>, request: Request<()>) -> Result<Request<()>, Status> {
    let Some(token) = token else { return Ok(request) };
    let given = request.metadata().get("authorization").map(|value| value.as_bytes());
    match given.and_then(|value| value.strip_prefix(b"Bearer ")) {
        Some(given) if is_equal(given, token.as_bytes()) => Ok(request),
        Some(_) => Err(Status::unauthenticated("this is not the token of this engine")),
        None => Err(Status::unauthenticated(
            "this engine asks for its token; send `authorization: Bearer TOKEN`",
        )),
    }
}

/// Compares in a time that depends on the lengths alone.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}
