//! `/login`, `/api/login`, `/api/logout`: how a browser gets in and out.

use axum::extract::{Request, State};
use axum::http::header::SET_COOKIE;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use cartridge_run::clock::unix_now;
use cartridge_run::secret::{self, LoginCodeError};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::assets;
use crate::error::{ApiError, Problem};
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
    if state.auth.has_session(request.headers()) {
        return Redirect::to("/").into_response();
    }
    match secret::take_login_code(state.lab.data(), &code, unix_now()) {
        Ok(()) => ([(SET_COOKIE, state.auth.login_cookie())], Redirect::to("/")).into_response(),
        Err(LoginCodeError::Used) => Redirect::to("/login?error=used").into_response(),
        Err(LoginCodeError::Expired) => Redirect::to("/login?error=expired").into_response(),
        Err(LoginCodeError::Unknown) => Redirect::to("/login?error=bad").into_response(),
    }
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
    Body(login): Body<Login>,
) -> Result<impl IntoResponse, ApiError> {
    if !state.auth.is_token(login.token.trim()) {
        return Err(ApiError::WrongToken);
    }
    Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, state.auth.login_cookie())]))
}

/// Log this browser out.
#[utoipa::path(
    post,
    path = "/api/logout",
    tag = "login",
    responses((status = 204, description = "Logged out"), (status = 401, body = Problem)),
)]
async fn log_out(State(state): State<AppState>) -> impl IntoResponse {
    (StatusCode::NO_CONTENT, [(SET_COOKIE, state.auth.logout_cookie())])
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(follow_login_link))
        .routes(routes!(log_in))
        .routes(routes!(log_out))
}
