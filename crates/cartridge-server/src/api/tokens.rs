//! `/api/tokens` and `/api/tickets`: who may come in, and one-use doors for those who are.

use std::time::Instant;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::IntoResponse;
use cartridge_run::clock::unix_now;
use cartridge_run::token::{self, Role as TokenRole, Token as KeptToken};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::auth::Principal;
use crate::error::{ApiError, Problem};
use crate::extract::{Body, Path, RequestKey};
use crate::mutation::ShownOnce;
use crate::tickets::TICKET_LIFE;
use crate::time::rfc3339;

/// What the holder of a token may do; each role may do all that those before it may.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Is no role in the lab: a `wandb` client keeps and reads its runs here, and nothing else.
    Wandb,
    /// Looks at everything and changes nothing.
    Viewer,
    /// Makes, steers and deletes runs, and plays.
    Operator,
    /// Also makes and takes back tokens, and changes what the lab keeps.
    Admin,
}

impl From<TokenRole> for Role {
    fn from(role: TokenRole) -> Self {
        match role {
            TokenRole::Wandb => Self::Wandb,
            TokenRole::Viewer => Self::Viewer,
            TokenRole::Operator => Self::Operator,
            TokenRole::Admin => Self::Admin,
        }
    }
}

impl From<Role> for TokenRole {
    fn from(role: Role) -> Self {
        match role {
            Role::Wandb => Self::Wandb,
            Role::Viewer => Self::Viewer,
            Role::Operator => Self::Operator,
            Role::Admin => Self::Admin,
        }
    }
}

/// A token, without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub struct Token {
    /// Its id, which is also the beginning of the secret.
    #[schema(example = "t-1f2e3d4c")]
    pub id: String,
    /// Who has it.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// Who made it.
    pub created_by: String,
    /// When it was made (RFC 3339).
    pub created_at: String,
    /// When it ends, if it does.
    #[schema(required)]
    pub expires_at: Option<String>,
    /// Whether it has ended.
    pub is_expired: bool,
}

impl From<KeptToken> for Token {
    fn from(token: KeptToken) -> Self {
        Self {
            is_expired: !token.is_live(unix_now()),
            id: token.id,
            name: token.name,
            role: token.role.into(),
            created_by: token.created_by,
            created_at: rfc3339(token.created_at),
            expires_at: token.expires_at.map(rfc3339),
        }
    }
}

/// The tokens of the lab, apart from the administrator's own in `data/token`.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenList {
    /// The oldest first; at most 1000.
    pub tokens: Vec<Token>,
}

/// A token to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// Who gets it: 1 to 40 letters, digits, spaces or `. _ @ -`. The audit names them so.
    #[schema(min_length = 1, max_length = 40, example = "ci")]
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// Seconds until it ends; without it, it does not.
    #[schema(exclusive_minimum = 0.0, example = 2_592_000.0)]
    pub expires_in_s: Option<f64>,
}

/// A token that was made.
#[derive(Debug, Serialize, ToSchema)]
pub struct MadeToken {
    /// What it is.
    pub token: Token,
    /// The token itself, for `Authorization: Bearer`. It is kept nowhere and shown this once.
    pub secret: String,
}

/// List the tokens.
#[utoipa::path(
    get,
    path = "/api/tokens",
    tag = "tokens",
    responses((status = 200, body = TokenList), (status = 401, body = Problem)),
)]
async fn list_tokens(State(state): State<AppState>) -> Result<Json<TokenList>, ApiError> {
    let tokens = state.ask(|lab| token::list(lab.data())).await?;
    Ok(Json(TokenList { tokens: tokens.into_iter().map(Into::into).collect() }))
}

/// Make a token. Its secret is in the answer, and nowhere else.
#[utoipa::path(
    post,
    path = "/api/tokens",
    tag = "tokens",
    request_body = NewToken,
    responses(
        (status = 201, body = MadeToken),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn make_token(
    State(state): State<AppState>,
    key: RequestKey,
    Body(new): Body<NewToken>,
) -> Result<impl IntoResponse, ApiError> {
    let NewToken { name, role, expires_in_s } = new;
    let made = state.ask(move |lab| {
        token::make(lab.data(), &name, role.into(), expires_in_s, key.by(), unix_now())
    });
    let (token, secret) = made.await?;
    let made = MadeToken { token: token.into(), secret };
    Ok((StatusCode::CREATED, Extension(ShownOnce), [(CACHE_CONTROL, "no-store")], Json(made)))
}

/// Take a token back. Browsers that it logged in are out; live streams that are open stay open.
#[utoipa::path(
    delete,
    path = "/api/tokens/{id}",
    tag = "tokens",
    params(("id" = String, Path, description = "Id of the token")),
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn revoke_token(
    State(state): State<AppState>,
    Path(id): Path<String>,
    key: RequestKey,
) -> Result<StatusCode, ApiError> {
    state.ask(move |lab| token::revoke(lab.data(), &id, key.by(), unix_now())).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A door that somebody wants to go through.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTicket {
    /// The address without its query.
    #[schema(example = "/api/stream", max_length = 500)]
    pub path: String,
}

/// A ticket.
#[derive(Debug, Serialize, ToSchema)]
pub struct Ticket {
    /// To be put into the address: `?ticket=...`. Good once.
    pub ticket: String,
    /// Seconds until it is worth nothing.
    pub expires_in: u64,
}

/// Get a ticket for one WebSocket or `EventSource`, with what the caller may do. Good once, for
/// this address, within 30 seconds.
#[utoipa::path(
    post,
    path = "/api/tickets",
    tag = "tokens",
    request_body = NewTicket,
    responses(
        (status = 201, body = Ticket),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn make_ticket(
    State(state): State<AppState>,
    Extension(principal): Extension<Principal>,
    Body(NewTicket { path }): Body<NewTicket>,
) -> Result<impl IntoResponse, ApiError> {
    if !path.starts_with("/api/") || path.len() > 500 || path.contains(['?', '#']) {
        return Err(ApiError::Field {
            pointer: "/path".to_owned(),
            detail: "name an address below /api, without its query".to_owned(),
        });
    }
    let made = state.auth.tickets.make(principal, &path, Instant::now());
    let ticket = made.ok_or(ApiError::NoTicket)?;
    let ticket = Ticket { ticket, expires_in: TICKET_LIFE.as_secs() };
    Ok((StatusCode::CREATED, [(CACHE_CONTROL, "no-store")], Json(ticket)))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list_tokens, make_token))
        .routes(routes!(revoke_token))
        .routes(routes!(make_ticket))
}
