//! The sockets: how many there may be, and how long each may take.
//!
//! Whoever opens a connection and says nothing, or says it a byte at a time, holds a place that
//! others want. So the head of a request must be there in time, places are counted, and whoever
//! finds none is told so at once. A place belongs to the socket itself, so that a WebSocket, which
//! has left HTTP behind, keeps it until it is closed. Live streams and WebSockets have a part of
//! the places and no more: there is always room to ask something.

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use crate::AppState;
use crate::error::ApiError;
use crate::limits::Limits;
use crate::patience::Patient;

/// The most that the head of a request may be long.
const MOST_HEAD_BYTES: usize = 64 * 1024;

/// How many calls of one HTTP/2 connection are answered at once; more wait.
const MOST_CALLS: u32 = 32;

/// HTTP/2 connections at once. They last, idle or not, so that they have few of the places: there is
/// always room for pages.
const MOST_HTTP2: usize = 256;

/// An HTTP/2 connection that is silent is asked this often whether it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// What whoever finds no place is told.
const NO_PLACE: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\n\
    content-length: 0\r\nconnection: close\r\n\r\n";

/// The other end of a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    address: IpAddr,
    place: Arc<Place>,
}

impl Peer {
    /// Its address.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Takes a place among the streams for as long as the connection lasts.
    fn become_stream(&self, streams: &Arc<Semaphore>) -> bool {
        let mut held = self.place.stream.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            *held = Arc::clone(streams).try_acquire_owned().ok();
        }
        held.is_some()
    }
}

/// The places that a connection holds.
#[derive(Debug)]
pub(crate) struct Place {
    _connection: OwnedSemaphorePermit,
    stream: Mutex<Option<OwnedSemaphorePermit>>,
}

/// Serves `app` until `closing` becomes true, then lets answers under way be finished.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    limits: Limits,
    mut closing: watch::Receiver<bool>,
) -> io::Result<()> {
    let places = Arc::new(Semaphore::new(limits.connections));
    let http2_places = Arc::new(Semaphore::new(MOST_HTTP2));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = closing.wait_for(|closing| *closing) => break,
        };
        while connections.try_join_next().is_some() {}
        let (socket, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Mostly too many open files: others must close theirs first.
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let Ok(permit) = Arc::clone(&places).try_acquire_owned() else {
            _ = socket.try_write(NO_PLACE);
            continue;
        };
        let place = Arc::new(Place { _connection: permit, stream: Mutex::default() });
        let peer = Peer { address: address.ip(), place };
        let http2_places = Arc::clone(&http2_places);
        connections.spawn(carry(socket, peer, http2_places, app.clone(), limits, closing.clone()));
    }
    while connections.join_next().await.is_some() {}
    Ok(())
}

/// One connection, from its first byte to its last.
async fn carry(
    socket: TcpStream,
    peer: Peer,
    http2_places: Arc<Semaphore>,
    app: Router,
    limits: Limits,
    mut closing: watch::Receiver<bool>,
) {
    // Pictures of a game are small and many: none waits for another to fill a packet.
    _ = socket.set_nodelay(true);
    let first = tokio::time::timeout(limits.head_patience, is_http2(&socket));
    let Ok(Ok(is_http2)) = first.await else { return };
    let patient = TokioIo::new(Patient::new(socket, Arc::clone(&peer.place)));
    let app = TowerToHyperService::new(app);
    let answer = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer.clone()));
        let answer = app.call(request);
        async move { Ok::<_, Infallible>(answer.await.unwrap_or_else(|error| match error {})) }
    });
    // Whoever went away, or was too slow, is no trouble of ours.
    if is_http2 {
        let Ok(_place) = http2_places.try_acquire() else { return };
        let mut connection = pin!(
            http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .max_concurrent_streams(MOST_CALLS)
                .max_header_list_size(MOST_HEAD_BYTES as u32)
                .keep_alive_interval(Some(KEEP_ALIVE))
                .serve_connection(patient, answer)
        );
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = closing.wait_for(|closing| *closing) => {}
        }
        connection.as_mut().graceful_shutdown();
        _ = connection.await;
        return;
    }
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_patience)
        .max_buf_size(MOST_HEAD_BYTES)
        .serve_connection(patient, answer)
        .with_upgrades();
    let mut connection = pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = closing.wait_for(|closing| *closing) => {}
    }
    connection.as_mut().graceful_shutdown();
    _ = connection.await;
}

/// Whether what comes is HTTP/2, as gRPC is, by its first letters: no method begins with these.
async fn is_http2(socket: &TcpStream) -> io::Result<bool> {
    const BEGINNING: &[u8] = b"PRI";
    let mut seen = [0; BEGINNING.len()];
    loop {
        let n = socket.peek(&mut seen).await?;
        if n == seen.len() || n == 0 || seen[..n] != BEGINNING[..n] {
            return Ok(seen == BEGINNING);
        }
        // What was looked at stays, so nothing wakes us when more comes.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Counts live streams and WebSockets, and refuses those for which there is no place.
pub async fn limit_streams(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    let peer = request.extensions().get::<ConnectInfo<Peer>>().map(|info| info.0.clone());
    let response = next.run(request).await;
    let is_stream = response.status() == StatusCode::SWITCHING_PROTOCOLS
        || response
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    match peer {
        Some(peer) if is_stream && !peer.become_stream(&state.gate.streams) => {
            ApiError::NoStream(state.gate.limits.streams).into_response()
        }
        _ => response,
    }
}
