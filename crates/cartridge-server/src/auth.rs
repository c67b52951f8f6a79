//! Who may come in, and what they may do here.
//!
//! Every request passes these checks before any route sees it. The *host* must be one that the
//! lab answers to, so that a page whose name was re-pointed to this machine cannot talk to it.
//! The *origin*, where a browser sends one, must be the lab itself or one that its owner named.
//! Outside a short public list the request must say who it is: by a bearer token, by the cookie of
//! a browser that was logged in, or by a one-use [ticket](crate::tickets). And whoever it is must
//! have the [role](crate::roles) that the route asks for.
//!
//! The cookie is `SameSite=Strict`, names the token that it was made with, and is signed with a key
//! derived from the administrator's token: logins survive a restart, have the role of their token,
//! and end with it. It counts only on the lab's own pages: another port of the same host is the
//! same site to a browser, which sends our cookie along.
//!
//! Any page may open a WebSocket to any address, and no answer of ours keeps it from reading. So a
//! connection that comes by cookie must name its origin, which browsers always do.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    AUTHORIZATION, COOKIE, HOST, ORIGIN, UPGRADE, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use cartridge_run::clock::unix_now;
use cartridge_run::secret;
use cartridge_run::session::EndedSessions;
use cartridge_run::store::DataDir;
use cartridge_run::token::{ADMIN, Role, Tokens};

use crate::AppState;
use crate::connections::Peer;
use crate::error::ApiError;
use crate::roles::{self, least_role};
use crate::tickets::Tickets;
use crate::wandb;

/// The addresses below `/api` that need no token.
pub const PUBLIC: &[&str] = &["/api/login"];

/// The addresses outside `/api` that need one. The others are the health checks, the login link and
/// the files of the web app, none of which tell anything about the lab's data.
pub const CLOSED: &[&str] = &["/metrics"];

/// How long an address is good that was signed for a file.
const ADDRESS_SECONDS: f64 = 3600.0;

const SESSION_SECONDS: f64 = 30.0 * 24.0 * 3600.0;

/// Headers of ours that pages of other origins may read.
const EXPOSED: &str = "x-request-id, idempotent-replayed, cartridge-command, cartridge-curl, retry-after, \
     content-disposition";

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The name of their token.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// The id of their token.
    pub token_id: String,
}

impl Principal {
    fn admin() -> Self {
        Self { name: ADMIN.to_owned(), role: Role::Admin, token_id: ADMIN.to_owned() }
    }
}

/// The login of a browser.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// When it ends, in Unix seconds.
    pub expiry: f64,
    /// Whose it is.
    pub principal: Principal,
}

/// The lab's tokens, and the hosts and origins that it answers to.
#[derive(Debug)]
pub struct Auth {
    token: String,
    tokens: Tokens,
    ended: EndedSessions,
    /// Tickets that nobody has used yet.
    pub(crate) tickets: Tickets,
    hosts: Vec<String>,
    origins: Vec<String>,
}

/// What the checks found.
#[derive(Debug, Default)]
struct Admission {
    principal: Option<Principal>,
    /// The address without the ticket that it came with.
    uri: Option<Uri>,
}

impl Auth {
    /// Lets in whoever has `token` or one of those in the data folder, under the loopback names,
    /// `bind` and `extra_hosts`, from the lab's own pages and those of `origins`.
    pub fn new(
        data: &DataDir,
        token: String,
        bind: IpAddr,
        extra_hosts: &[String],
        origins: &[String],
    ) -> cartridge_run::Result<Self> {
        let mut hosts = vec!["127.0.0.1".to_owned(), "localhost".to_owned(), "[::1]".to_owned()];
        if !bind.is_unspecified() {
            hosts.push(if bind.is_ipv6() { format!("[{bind}]") } else { bind.to_string() });
        }
        hosts.extend(extra_hosts.iter().map(|host| host.to_lowercase()));
        Ok(Self {
            token,
            tokens: Tokens::open(data)?,
            ended: EndedSessions::open(data)?,
            tickets: Tickets::default(),
            hosts,
            origins: origins.to_vec(),
        })
    }

    /// Whose token this is; compared in constant time.
    pub fn principal(&self, given: &str) -> Option<Principal> {
        // Both are signed with a fresh key, so that the comparison tells nothing about either.
        let key = secret::random_hex();
        let expected = secret::sign(key.as_bytes(), self.token.as_bytes());
        if secret::verifies(key.as_bytes(), given.as_bytes(), &expected) {
            return Some(Principal::admin());
        }
        let token = self.tokens.find(given, unix_now())?;
        Some(Principal { name: token.name, role: token.role, token_id: token.id })
    }

    /// A `Set-Cookie` value that logs the browser of `principal` in.
    pub fn login_cookie(&self, principal: &Principal) -> String {
        let content = format!(
            "{}.{}.{}",
            (unix_now() + SESSION_SECONDS) as u64,
            &secret::random_hex()[..16],
            principal.token_id
        );
        let signature = secret::sign(&self.session_key(), content.as_bytes());
        format!(
            "{}={content}.{signature}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict",
            self.cookie_name(),
            SESSION_SECONDS as u64
        )
    }

    /// Who is logged in by a login code: whoever can write the data folder.
    pub fn owner(&self) -> Principal {
        Principal::admin()
    }

    /// Ends the login of a browser, if it has one, and returns a `Set-Cookie` value that makes it
    /// forget its cookie.
    pub fn log_out(&self, headers: &HeaderMap) -> cartridge_run::Result<String> {
        if let Some(session) = self.session(headers) {
            self.ended.end(&session.id, session.expiry, unix_now())?;
        }
        Ok(format!("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", self.cookie_name()))
    }

    fn session_key(&self) -> Vec<u8> {
        secret::sign(self.token.as_bytes(), b"session").into_bytes()
    }

    /// Cookies know no ports: the name tells labs on one machine apart.
    fn cookie_name(&self) -> String {
        format!("cartridge_{}", &secret::sign(self.token.as_bytes(), b"cookie name")[..8])
    }

    /// The login of the browser that a request comes from.
    pub(crate) fn session(&self, headers: &HeaderMap) -> Option<Session> {
        let name = self.cookie_name();
        headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(key, _)| *key == name)
            .find_map(|(_, value)| self.read_cookie(value))
    }

    fn read_cookie(&self, value: &str) -> Option<Session> {
        let (content, signature) = value.rsplit_once('.')?;
        if !secret::verifies(&self.session_key(), content.as_bytes(), signature) {
            return None;
        }
        let mut parts = content.splitn(3, '.');
        let expiry: f64 = parts.next()?.parse().ok()?;
        let id = parts.next()?.to_owned();
        let now = unix_now();
        if now > expiry || self.ended.contains(&id) {
            return None;
        }
        // One of an older version names no token: it was the administrator's.
        let principal = match parts.next().unwrap_or(ADMIN) {
            ADMIN => Principal::admin(),
            token_id => {
                let token = self.tokens.by_id(token_id, now)?;
                Principal { name: token.name, role: token.role, token_id: token.id }
            }
        };
        Some(Session { id, expiry, principal })
    }

    /// The origin of another site whose pages may talk to the lab, if the request comes from one.
    fn foreign_origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(ORIGIN)?;
        self.origins
            .iter()
            .any(|allowed| origin.as_bytes() == allowed.as_bytes())
            .then(|| origin.clone())
    }

    /// Host, origin and address: what needs no knowledge of who asks. Returns whether the request
    /// comes from a page of another origin that may.
    fn check_where(
        &self,
        uri: &Uri,
        method: &Method,
        headers: &HeaderMap,
    ) -> Result<bool, ApiError> {
        let authority = uri
            .authority()
            .map(|authority| authority.as_str())
            .or_else(|| headers.get(HOST).and_then(|value| value.to_str().ok()))
            .unwrap_or_default();
        if !self.hosts.contains(&host_of(authority).to_lowercase()) {
            return Err(ApiError::ForeignHost(authority.chars().take(100).collect()));
        }
        if self.foreign_origin(headers).is_some() {
            return Ok(true);
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
        Ok(false)
    }

    fn check(&self, request: &Request) -> Result<Admission, ApiError> {
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        let is_foreign = self.check_where(uri, method, headers)?;
        let path = uri.path();
        if is_foreign && matches!(path, "/api/login" | "/api/logout" | "/login") {
            // What these give is a cookie, which is for our own pages.
            return Err(ApiError::ForeignOrigin);
        }
        if wandb::is_signed(path) {
            return Ok(Admission { principal: Some(self.signed(request)?), uri: None });
        }
        if wandb::is_door(path) {
            return Ok(Admission { principal: Some(self.wandb_client(headers)?), uri: None });
        }
        if *method == Method::GET && wandb::run_in_address(path).is_some() {
            // Who is logged in is led on; everybody else gets the app's first page.
            let session = self.session(headers).filter(|_| !is_foreign);
            let principal = session.map(|session| session.principal);
            let principal = principal.filter(|principal| principal.role >= Role::Viewer);
            return Ok(Admission { principal, uri: None });
        }
        if PUBLIC.contains(&path) || !(path.starts_with("/api") || CLOSED.contains(&path)) {
            return Ok(Admission::default());
        }
        let (principal, uri) = self.identify(request, is_foreign)?;
        let matched = request.extensions().get::<MatchedPath>();
        let needed = match matched.map(MatchedPath::as_str) {
            // A method that the address does not take is told so, whoever asks.
            Some(matched) if roles::is_safe(method) || crate::is_mutation(method, matched) => {
                least_role(method, matched)
            }
            _ => Role::Viewer,
        };
        if principal.role < needed {
            return Err(ApiError::RoleTooLow { has: principal.role, needed });
        }
        Ok(Admission { principal: Some(principal), uri })
    }

    /// Whose `wandb` client asks. It sends its key as a password, or as a bearer token; there is no
    /// other way in, so no page of another site can use a browser's login here.
    fn wandb_client(&self, headers: &HeaderMap) -> Result<Principal, ApiError> {
        let value = headers.get(AUTHORIZATION).ok_or(ApiError::Unauthorized)?;
        let given = value.to_str().ok().and_then(|value| value.split_once(' '));
        let key = given.and_then(|(scheme, rest)| match scheme.to_ascii_lowercase().as_str() {
            "bearer" => Some(rest.trim().to_owned()),
            "basic" => {
                let decoded = data_encoding::BASE64.decode(rest.trim().as_bytes()).ok()?;
                let (_, key) = std::str::from_utf8(&decoded).ok()?.split_once(':')?;
                Some(key.to_owned())
            }
            _ => None,
        });
        let principal = key.and_then(|key| self.principal(&key)).ok_or(ApiError::WrongToken)?;
        check_wandb_role(principal)
    }

    /// Who was given an address that is signed.
    fn signed(&self, request: &Request) -> Result<Principal, ApiError> {
        let uri = request.uri();
        let pairs: HashMap<_, _> =
            form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).collect();
        let pair = |name: &str| pairs.get(name).map_or("", |value| value.as_ref());
        let (expires, token, signature) = (pair("expires"), pair("token"), pair("signature"));
        let content = signed_content(request.method().as_str(), uri.path(), expires, token);
        let now = unix_now();
        let is_good = secret::verifies(&self.address_key(), content.as_bytes(), signature)
            && expires.parse::<f64>().is_ok_and(|end| now < end);
        let principal = match token {
            ADMIN => Some(Principal::admin()),
            id => self.tokens.by_id(id, now).map(|token| Principal {
                name: token.name,
                role: token.role,
                token_id: token.id,
            }),
        };
        check_wandb_role(principal.filter(|_| is_good).ok_or(ApiError::WrongTicket)?)
    }

    /// An address by which a file can be had or sent for a while, without a key. It is worth no
    /// more than the token of whoever asked for it.
    pub(crate) fn sign_address(&self, method: &str, path: &str, whose: &Principal) -> String {
        let expires = ((unix_now() + ADDRESS_SECONDS) as u64).to_string();
        let content = signed_content(method, path, &expires, &whose.token_id);
        let signature = secret::sign(&self.address_key(), content.as_bytes());
        format!("{path}?expires={expires}&token={}&signature={signature}", whose.token_id)
    }

    fn address_key(&self) -> Vec<u8> {
        secret::sign(self.token.as_bytes(), b"addresses of files").into_bytes()
    }

    /// Who asks, and the address without the ticket, if it was by one.
    fn identify(
        &self,
        request: &Request,
        is_foreign: bool,
    ) -> Result<(Principal, Option<Uri>), ApiError> {
        let (uri, headers) = (request.uri(), request.headers());
        if let Some(value) = headers.get(AUTHORIZATION) {
            let token = value
                .to_str()
                .ok()
                .and_then(|value| value.split_once(' '))
                .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
                .map(|(_, token)| token.trim());
            let principal = token.and_then(|token| self.principal(token));
            return Ok((principal.ok_or(ApiError::WrongToken)?, None));
        }
        if let Some((ticket, without)) = split_ticket(uri) {
            let holder = self.tickets.take(&ticket, uri.path(), Instant::now());
            let holder = holder.filter(|_| *request.method() == Method::GET);
            return Ok((holder.ok_or(ApiError::WrongTicket)?, Some(without)));
        }
        let session =
            self.session(headers).filter(|_| !is_foreign).ok_or(ApiError::Unauthorized)?;
        if headers.contains_key(UPGRADE) && !headers.contains_key(ORIGIN) {
            return Err(ApiError::ForeignOrigin);
        }
        Ok((session.principal, None))
    }
}

/// What the signature of an address is of.
fn signed_content(method: &str, path: &str, expires: &str, token: &str) -> String {
    format!("{method}\n{path}\n{expires}\n{token}")
}

/// A `wandb` client has a key of its own, or the token of somebody who may make runs.
fn check_wandb_role(principal: Principal) -> Result<Principal, ApiError> {
    match principal.role {
        Role::Wandb | Role::Operator | Role::Admin => Ok(principal),
        has @ Role::Viewer => Err(ApiError::RoleTooLow { has, needed: Role::Wandb }),
    }
}

/// The ticket in an address, and the address without it.
fn split_ticket(uri: &Uri) -> Option<(String, Uri)> {
    let (mut ticket, mut rest) = (None, form_urlencoded::Serializer::new(String::new()));
    for (key, value) in form_urlencoded::parse(uri.query()?.as_bytes()) {
        if key == "ticket" {
            ticket = Some(value.into_owned());
        } else {
            rest.append_pair(&key, &value);
        }
    }
    let rest = rest.finish();
    let without = match rest.as_str() {
        "" => uri.path().to_owned(),
        query => format!("{}?{query}", uri.path()),
    };
    Some((ticket?, without.parse().ok()?))
}

/// The middleware before all routes.
pub async fn guard(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let origin = state.auth.foreign_origin(request.headers());
    let mut response = match admit(&state, &mut request) {
        Ok(None) => next.run(request).await,
        Ok(Some(preflight)) => preflight,
        Err(error) => error.into_response(),
    };
    if let Some(origin) = origin.filter(|_| response.status() != StatusCode::SWITCHING_PROTOCOLS) {
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.append(VARY, HeaderValue::from_static("origin"));
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    }
    response
}

/// Checks a request and notes who asks; or answers at once when it only asks whether it may ask.
fn admit(state: &AppState, request: &mut Request) -> Result<Option<Response>, ApiError> {
    let (auth, gate) = (&state.auth, &state.gate);
    let address = request.uri().path_and_query().map_or(0, |address| address.as_str().len());
    if address > gate.limits.address_bytes {
        return Err(ApiError::LongAddress(gate.limits.address_bytes));
    }
    let is_preflight = *request.method() == Method::OPTIONS
        && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    if is_preflight && auth.check_where(request.uri(), request.method(), request.headers())? {
        return Ok(Some(preflight()));
    }
    // A request that came by no socket is one of our own.
    let peer = request.extensions().get::<ConnectInfo<Peer>>().map(|info| info.0.address());
    let now = Instant::now();
    if let Some(peer) = peer.filter(|_| matches!(request.uri().path(), "/api/login" | "/login")) {
        gate.failures.look(peer, now).map_err(ApiError::TooFast)?;
    }
    let admission = auth.check(request).map_err(|error| {
        let is_failure = matches!(error, ApiError::WrongToken | ApiError::WrongTicket);
        match peer.filter(|_| is_failure).map(|peer| gate.failures.take(peer, now)) {
            Some(Err(wait)) => ApiError::TooFast(wait),
            _ => error,
        }
    })?;
    if let Some(principal) = admission.principal {
        let is_safe = roles::is_safe(request.method());
        let taken = gate.requests.take(principal.name.clone(), now);
        let taken = taken.and_then(|()| match is_safe {
            true => Ok(()),
            false => gate.mutations.take(principal.name.clone(), now),
        });
        taken.map_err(ApiError::TooFast)?;
        request.extensions_mut().insert(principal);
    }
    if let Some(uri) = admission.uri {
        *request.uri_mut() = uri;
    }
    Ok(None)
}

/// Counts a login that failed against the address that it came from.
pub(crate) fn count_failure(state: &AppState, peer: Option<IpAddr>) -> Option<Duration> {
    state.gate.failures.take(peer?, Instant::now()).err()
}

fn preflight() -> Response {
    let headers = [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST, PUT, PATCH, DELETE"),
        (
            ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, idempotency-key, last-event-id, range",
        ),
        (ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// `127.0.0.1:8080` as `127.0.0.1`, `[::1]:8080` as `[::1]`; what is neither stays as it is.
fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// Complains about what is no origin: `https://lab.example`, without a path.
pub fn check_origin(origin: &str) -> Result<(), String> {
    let rest = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    let is_host = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-:[]".contains(c);
    match rest {
        Some(host) if !host.is_empty() && host.chars().all(is_host) => Ok(()),
        _ => Err(format!(
            "`{origin}` is no origin; write it as https://lab.example or http://localhost:3000"
        )),
    }
}
