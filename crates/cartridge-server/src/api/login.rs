//! `/login`, `/api/login`, `/api/logout` and `/api/me`: how a browser gets in and out, and as whom.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, Extension, Request, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use cartridge_run::audit::{self, Deed, Entry};
use cartridge_run::clock::unix_now;
use cartridge_run::secret::{self, LoginCodeError};
use cartridge_run::steer::By;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::tokens::Role;
use crate::assets;
use crate::auth::{Principal, count_failure};
use crate::connections::Peer;
use crate::error::{ApiError, Problem, request_id};
use crate::extract::{Body, Query};

/// A one-time code.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct LoginLink {
    /// The code in the URL that the lab printed.
    code: Option<String>,
}

/// The token, typed by a person.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// The lab's token.
    pub token: String,
}

/// Log a browser in by the one-time code of a printed URL; without a code, show the login page.
#[utoipa::path(
    get,
    path = "/login",
    tag = "login",
    params(LoginLink),
    responses((status = 303, description = "To the app, logged in, or back to the login page with the reason")),
)]
async fn follow_login_link(
    State(state): State<AppState>,
    Query(link): Query<LoginLink>,
    request: Request,
) -> Response {
    // Only following the link uses it up; a program that looks ahead asks for the head.
    let Some(code) = link.code.filter(|_| request.method() == Method::GET) else {
        let (parts, _) = request.into_parts();
        return assets::serve(parts.method, parts.uri, parts.headers).await;
    };
    // Whoever is in already need not be told that a link is spent.
    if state.auth.session(request.headers()).is_some() {
        return Redirect::to("/").into_response();
    }
    let error = match secret::take_login_code(state.lab.data(), &code, unix_now()) {
        Ok(()) => {
            let owner = state.auth.owner();
            record(&state, &owner, Deed::Login).await;
            let cookie = state.auth.login_cookie(&owner);
            return ([(SET_COOKIE, cookie)], Redirect::to("/")).into_response();
        }
        Err(LoginCodeError::Used) => "used",
        Err(LoginCodeError::Expired) => "expired",
        Err(LoginCodeError::Unknown) => "bad",
    };
    // A code that was good once is no guess.
    if error == "bad"
        && let Some(wait) = count_failure(&state, peer_of(&request))
    {
        return ApiError::TooFast(wait).into_response();
    }
    Redirect::to(&format!("/login?error={error}")).into_response()
}

/// Log a browser in by the token.
#[utoipa::path(
    post,
    path = "/api/login",
    tag = "login",
    request_body = Login,
    responses((status = 204, description = "Logged in by cookie"), (status = 401, body = Problem)),
)]
async fn log_in(
    State(state): State<AppState>,
    peer: Option<Extension<ConnectInfo<Peer>>>,
    Body(login): Body<Login>,
) -> Result<impl IntoResponse, ApiError> {
    let Some(principal) = state.auth.principal(login.token.trim()) else {
        let peer = peer.map(|Extension(ConnectInfo(peer))| peer.address());
        return Err(match count_failure(&state, peer) {
            Some(wait) => ApiError::TooFast(wait),
            None => ApiError::WrongToken,
        });
    };
    record(&state, &principal, Deed::Login).await;
    Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, state.auth.login_cookie(&principal))]))
}

/// Log this browser out: its cookie is worth nothing any more, wherever it has been copied to.
#[utoipa::path(
    post,
    path = "/api/logout",
    tag = "login",
    responses((status = 204, description = "Logged out"), (status = 401, body = Problem)),
)]
async fn log_out(
    State(state): State<AppState>,
    Extension(principal): Extension<Principal>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, ApiError> {
    let auth = Arc::clone(&state.auth);
    let cookie = state.ask(move |_| auth.log_out(&headers)).await?;
    record(&state, &principal, Deed::Logout).await;
    Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, cookie)]))
}

/// Who asks.
#[derive(Debug, Serialize, ToSchema)]
pub struct Me {
    /// The name of the token.
    pub name: String,
    /// What it may do.
    pub role: Role,
}

/// Tell who asks, and what they may do.
#[utoipa::path(
    get,
    path = "/api/me",
    tag = "login",
    responses((status = 200, body = Me), (status = 401, body = Problem)),
)]
async fn show_me(Extension(principal): Extension<Principal>) -> Json<Me> {
    Json(Me { name: principal.name, role: principal.role.into() })
}

/// Writes a line about a login or logout. Whoever cannot be recorded on a full disk may still look.
async fn record(state: &AppState, principal: &Principal, what: Deed) {
    let (principal, request_id) = (principal.clone(), request_id());
    let recorded = state.ask(move |lab| {
        let by = By {
            role: Some(principal.role),
            request_id: Some(&request_id),
            ..By::new(&principal.name)
        };
        audit::record(lab.data(), Entry::new(by, what, &principal.token_id), unix_now())
    });
    if let Err(error) = recorded.await {
        tracing::error!(%error, "a login could not be recorded");
    }
}

fn peer_of(request: &Request) -> Option<IpAddr> {
    request.extensions().get::<ConnectInfo<Peer>>().map(|info| info.0.address())
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(follow_login_link))
        .routes(routes!(log_in))
        .routes(routes!(log_out))
        .routes(routes!(show_me))
}
