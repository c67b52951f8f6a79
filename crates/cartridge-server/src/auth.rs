//! Who may come in.
//!
//! Every request passes three checks before any route sees it. The *host* must be one that the
//! lab answers to, so that a page whose name was re-pointed to this machine cannot talk to it.
//! The *origin*, where a browser sends one, must be the lab itself. And outside a short public
//! list the request must carry the token: as a bearer token, or by the cookie of a browser that
//! was logged in. The cookie is `SameSite=Strict` and signed with a key derived from the token, so
//! logins survive a restart and end when the token changes.
//!
//! Any page may open a WebSocket to any address, and no answer of ours keeps it from reading. So a
//! connection that comes by cookie must name its origin, which browsers always do.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN, UPGRADE};
use axum::http::{HeaderMap, Method, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use cartridge_run::clock::unix_now;
use cartridge_run::secret;

use crate::AppState;
use crate::error::ApiError;

/// The addresses below `/api` that need no token. Outside `/api` there are only the health check,
/// the login link and the files of the web app, none of which tell anything about the lab's data.
pub const PUBLIC: &[&str] = &["/api/login"];

const SESSION_SECONDS: f64 = 30.0 * 24.0 * 3600.0;

/// The lab's token, and the hosts that it answers to.
#[derive(Debug)]
pub struct Auth {
    token: String,
    hosts: Vec<String>,
}

impl Auth {
    /// Lets in whoever has `token`, under the loopback names, `bind` and `extra_hosts`.
    pub fn new(token: String, bind: IpAddr, extra_hosts: &[String]) -> Self {
        let mut hosts = vec!["127.0.0.1".to_owned(), "localhost".to_owned(), "[::1]".to_owned()];
        if !bind.is_unspecified() {
            hosts.push(if bind.is_ipv6() { format!("[{bind}]") } else { bind.to_string() });
        }
        hosts.extend(extra_hosts.iter().map(|host| host.to_lowercase()));
        Self { token, hosts }
    }

    /// Whether this is the token, compared in constant time.
    pub fn is_token(&self, given: &str) -> bool {
        // Both are signed with a fresh key, so that the comparison tells nothing about either.
        let key = secret::random_hex();
        let expected = secret::sign(key.as_bytes(), self.token.as_bytes());
        secret::verifies(key.as_bytes(), given.as_bytes(), &expected)
    }

    /// A `Set-Cookie` value that logs a browser in.
    pub fn login_cookie(&self) -> String {
        let content =
            format!("{}.{}", (unix_now() + SESSION_SECONDS) as u64, &secret::random_hex()[..16]);
        let signature = secret::sign(&self.session_key(), content.as_bytes());
        format!(
            "{}={content}.{signature}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict",
            self.cookie_name(),
            SESSION_SECONDS as u64
        )
    }

    /// A `Set-Cookie` value that logs a browser out.
    pub fn logout_cookie(&self) -> String {
        format!("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", self.cookie_name())
    }

    fn session_key(&self) -> Vec<u8> {
        secret::sign(self.token.as_bytes(), b"session").into_bytes()
    }

    /// Cookies know no ports: the name tells labs on one machine apart.
    fn cookie_name(&self) -> String {
        format!("cartridge_{}", &secret::sign(self.token.as_bytes(), b"cookie name")[..8])
    }

    /// Whether the request comes from a browser that is logged in.
    pub(crate) fn has_session(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(key, _)| *key == name)
            .any(|(_, value)| {
                let Some((content, signature)) = value.rsplit_once('.') else { return false };
                let expiry =
                    content.split_once('.').and_then(|(expiry, _)| expiry.parse::<f64>().ok());
                expiry.is_some_and(|expiry| unix_now() <= expiry)
                    && secret::verifies(&self.session_key(), content.as_bytes(), signature)
            })
    }

    fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
        let authority = uri
            .authority()
            .map(|authority| authority.as_str())
            .or_else(|| headers.get(HOST).and_then(|value| value.to_str().ok()))
            .unwrap_or_default();
        if !self.hosts.contains(&host_of(authority).to_lowercase()) {
            return Err(ApiError::ForeignHost(authority.chars().take(100).collect()));
        }
        if let Some(origin) = headers.get(ORIGIN) {
            let own = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
            if own.is_none_or(|(scheme, of)| !matches!(scheme, "http" | "https") || of != authority)
            {
                return Err(ApiError::ForeignOrigin);
            }
        }
        let fetch = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let is_navigation = *method == Method::GET
            && fetch("sec-fetch-mode") == Some("navigate")
            && !uri.path().starts_with("/api");
        if matches!(fetch("sec-fetch-site"), Some("cross-site" | "same-site")) && !is_navigation {
            return Err(ApiError::ForeignOrigin);
        }
        if !uri.path().starts_with("/api") || PUBLIC.contains(&uri.path()) {
            return Ok(());
        }
        if let Some(value) = headers.get(AUTHORIZATION) {
            let token = value
                .to_str()
                .ok()
                .and_then(|value| value.split_once(' '))
                .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
                .map(|(_, token)| token);
            return match token {
                Some(token) if self.is_token(token.trim()) => Ok(()),
                _ => Err(ApiError::WrongToken),
            };
        }
        if !self.has_session(headers) {
            return Err(ApiError::Unauthorized);
        }
        if headers.contains_key(UPGRADE) && !headers.contains_key(ORIGIN) {
            return Err(ApiError::ForeignOrigin);
        }
        Ok(())
    }
}

/// The middleware before all routes.
pub async fn guard(State(state): State<AppState>, request: Request, next: Next) -> Response {
    match state.auth.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// `127.0.0.1:8080` as `127.0.0.1`, `[::1]:8080` as `[::1]`; what is neither stays as it is.
fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}
