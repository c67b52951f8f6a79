//! The HTTP face of the lab.
//!
//! # Layout
//!
//! * [`app`]: the whole application as a value; [`serve`] puts it on a socket and tests call it.
//! * [`api`]: one file per noun, holding its parameters, responses and handlers.
//! * [`auth`]: who may come in: host, origin, token, cookie; [`tickets`]: one door, once.
//! * [`roles`]: who may do what, in one table.
//! * [`mutation`]: what every change goes through; [`recipe`]: how to make it again.
//! * [`gate`], [`limits`]: how much may come in; [`connections`]: the sockets.
//! * [`traffic`]: how long answers take; [`webhook`]: alerts told to another program.
//! * [`upstream`]: a W&B server that is read for the pages.
//! * `document`: what all routes share in the OpenAPI document.
//! * [`feed`]: what happens in the lab, from the ticker to every live reader.
//! * [`live_frames`]: pictures of runs, while somebody watches.
//! * [`live_play`]: environments that people play: the clock, the keys and the pictures.
//! * [`patience`]: connections that are given up when the other side takes nothing.
//! * [`extract`], [`error`]: what clients may send, and what they are told when it is wrong.
//! * [`assets`]: the web app that is embedded in the binary.
//! * `wandb`: the door for unmodified `wandb` clients, at the addresses that they know.
//! * [`time`]: Unix seconds as RFC 3339.
//!
//! **Invariants:** every route outside [`auth::PUBLIC`] needs the token, because the check stands
//! before the routes and not in them. No route takes a path or a command line, but for the names of
//! files that a `wandb` client sends, which stay below a folder of their run. Trainers are started
//! by the names that the lab's own file gives them.

pub mod api;
pub mod assets;
pub mod auth;
pub mod connections;
mod document;
pub mod error;
pub mod extract;
pub mod feed;
pub mod gate;
pub mod limits;
pub mod live_frames;
pub mod live_play;
pub mod mutation;
pub mod patience;
pub mod recipe;
pub mod roles;
pub mod tickets;
pub mod traffic;
pub mod upstream;
mod wandb;
pub mod webhook;

pub use cartridge_run::time;

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use axum::body::Bytes;
use axum::extract::{ConnectInfo, DefaultBodyLimit};
use axum::http::Method;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use axum::{Router, middleware};
use cartridge_run::Lab;
use tokio::net::TcpListener;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::api::stream::{EventMessage, FeedMessage, RunMessage};
use crate::auth::Auth;
use crate::connections::Peer;
use crate::error::ApiError;
use crate::feed::Feed;
use crate::gate::Gate;
use crate::live_frames::{FrameCommand, FrameNotice, LiveFrame, LiveFrames};
use crate::live_play::{LivePlays, PlayCommand, PlayFrame};
use crate::upstream::Upstream;

/// The largest request body that is read.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// What handlers share. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct AppState {
    /// The lab.
    pub lab: Arc<Lab>,
    /// Who may come in.
    pub auth: Arc<Auth>,
    /// How much may come in.
    pub gate: Arc<Gate>,
    /// What happens in the lab.
    pub feed: Feed,
    /// Who plays an environment.
    pub plays: LivePlays,
    /// Who watches a run.
    pub frames: LiveFrames,
    /// The W&B server that is shown beside the lab's own runs.
    pub upstream: Arc<Upstream>,
    /// Version of the product.
    pub version: &'static str,
}

impl AppState {
    /// Asks the lab something, off the event loop: every answer reads files or the index.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Lab) -> cartridge_run::Result<T> + Send + 'static,
    ) -> Result<T, ApiError> {
        let (lab, span) = (Arc::clone(&self.lab), tracing::Span::current());
        let answer = tokio::task::spawn_blocking(move || {
            let _within = span.enter();
            question(&lab).map_err(|error| match lab.disk_problem(&error) {
                Some(problem) => ApiError::Disk(problem),
                None => ApiError::Run(error),
            })
        });
        answer.await.map_err(|error| ApiError::Internal(error.to_string()))?
    }
}

/// Serves the application until its feed is closed, then lets answers under way be finished.
pub async fn serve(listener: TcpListener, state: AppState) -> std::io::Result<()> {
    let (closing, limits) = (state.feed.closing(), state.gate.limits);
    connections::serve(listener, with_grpc(app(state)), limits, closing).await
}

/// The whole application as a value.
pub fn app(state: AppState) -> Router {
    let (router, mut document) = routes().split_for_parts();
    document::complete(&mut document);
    // In words and shared: routes are copied more often than one would think.
    let document = Bytes::from(document.to_json().expect("the document is plain data"));
    router
        .merge(wandb::router())
        .route("/api/openapi.json", get(async || ([(CONTENT_TYPE, "application/json")], document)))
        .fallback(wandb::lead_to_run)
        .method_not_allowed_fallback(|| async { ApiError::MethodNotAllowed })
        .layer(middleware::from_fn_with_state(state.clone(), mutation::once))
        .layer(middleware::from_fn_with_state(state.clone(), connections::limit_streams))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn_with_state(state.clone(), auth::guard))
        .layer(middleware::from_fn(wandb::in_their_words))
        .layer(middleware::from_fn_with_state(state.clone(), traffic::measure))
        .layer(middleware::from_fn(error::with_request_id))
        .layer(middleware::from_fn(assets::with_security_headers))
        .with_state(state)
}

/// The application with its door over gRPC, which asks the application itself.
fn with_grpc(app: Router) -> Router {
    cartridge_grpc::routes::<ConnectInfo<Peer>>(app.clone()).fallback_service(app)
}

/// Every route with its description. Routes are added here and nowhere else, so the OpenAPI
/// document is the route table.
fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::with_openapi(ApiDocument::openapi())
        .merge(api::health::router())
        .merge(api::lab::router())
        .merge(api::environments::router())
        .merge(api::schemas::router())
        .merge(api::experiments::router())
        .merge(api::settings::router())
        .merge(api::runs::router())
        .merge(api::trainers::router())
        .merge(api::control::router())
        .merge(api::telemetry::router())
        .merge(api::resources::router())
        .merge(api::insights::router())
        .merge(api::report::router())
        .merge(api::analytics::router())
        .merge(api::wandb::router())
        .merge(api::episodes::router())
        .merge(api::theatre::router())
        .merge(api::evaluations::router())
        .merge(api::contests::router())
        .merge(api::ratings::router())
        .merge(api::models::router())
        .merge(api::artifacts::router())
        .merge(api::stream::router())
        .merge(api::frames::router())
        .merge(api::play::router())
        .merge(api::positions::router())
        .merge(api::thoughts::router())
        .merge(api::human::router())
        .merge(api::audit::router())
        .merge(api::tokens::router())
        .merge(api::login::router())
        .merge(api::alerts::router())
        .merge(api::cluster::router())
        .merge(api::prometheus::router())
}

/// Whether there is a route with this method and path, and it changes something.
pub(crate) fn is_mutation(method: &Method, path: &str) -> bool {
    static MUTATIONS: LazyLock<HashSet<(String, String)>> = LazyLock::new(|| {
        let (_, document) = routes().split_for_parts();
        document::mutations(&document).collect()
    });
    !roles::is_safe(method) && MUTATIONS.contains(&(method.to_string(), path.to_owned()))
}

/// The part of the OpenAPI document that does not come from a route: messages of the live feed and
/// of WebSockets.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Cartridge",
        description = "A reinforcement-learning lab. Errors are `application/problem+json`.",
        version = "1"
    ),
    components(schemas(
        FeedMessage,
        RunMessage,
        EventMessage,
        FrameCommand,
        LiveFrame,
        FrameNotice,
        PlayCommand,
        PlayFrame
    ))
)]
struct ApiDocument;

#[cfg(test)]
mod tests;
