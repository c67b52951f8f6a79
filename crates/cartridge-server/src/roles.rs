//! Who may do what: one table.
//!
//! Looking needs the role of a viewer. Whatever changes something has a line in [`RULES`], and so
//! has the looking that is for administrators. A mutation without a line is for administrators
//! alone, and a test over the OpenAPI document says that its line is missing.

use axum::http::Method;
use cartridge_run::token::Role;

/// What a route asks of those who use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The method.
    pub method: &'static str,
    /// The path as in the OpenAPI document.
    pub path: &'static str,
    /// The least role.
    pub role: Role,
    /// Whether the request must carry an `Idempotency-Key`; where not, it may.
    pub key: Key,
}

/// Whether a route asks for an `Idempotency-Key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Without one the request is refused.
    Required,
    /// It may come without: asking again does no harm, or the request carries its own order, as
    /// the moves of a game carry their ply.
    Optional,
}

const fn operator(method: &'static str, path: &'static str) -> Rule {
    Rule { method, path, role: Role::Operator, key: Key::Required }
}

const fn admin(method: &'static str, path: &'static str) -> Rule {
    Rule { method, path, role: Role::Admin, key: Key::Required }
}

impl Rule {
    const fn for_viewers(self) -> Self {
        Self { role: Role::Viewer, ..self }
    }

    const fn without_key(self) -> Self {
        Self { key: Key::Optional, ..self }
    }
}

/// Every route that changes something, and those that not every viewer may see.
pub const RULES: &[Rule] = &[
    operator("POST", "/api/runs"),
    operator("POST", "/api/trainers/{id}/runs"),
    operator("POST", "/api/experiments"),
    operator("POST", "/api/experiments/{id}/archive"),
    operator("POST", "/api/experiments/{id}/clone"),
    operator("POST", "/api/experiments/{id}/unarchive"),
    operator("POST", "/api/evals"),
    operator("POST", "/api/tournaments"),
    operator("POST", "/api/models"),
    operator("DELETE", "/api/models/{name}"),
    operator("POST", "/api/models/{name}/aliases"),
    operator("POST", "/api/models/{name}/unarchive"),
    operator("DELETE", "/api/runs/{id}"),
    operator("POST", "/api/runs/{id}/archive"),
    operator("POST", "/api/runs/{id}/checkpoint"),
    operator("POST", "/api/runs/{id}/evaluate"),
    operator("POST", "/api/runs/{id}/fork"),
    operator("POST", "/api/runs/{id}/pause"),
    operator("POST", "/api/runs/{id}/pin"),
    operator("POST", "/api/runs/{id}/restore"),
    operator("POST", "/api/runs/{id}/resume"),
    operator("POST", "/api/runs/{id}/start"),
    operator("POST", "/api/runs/{id}/stop"),
    operator("POST", "/api/runs/{id}/tensorboard"),
    operator("POST", "/api/runs/{id}/terminate"),
    operator("POST", "/api/runs/{id}/tune"),
    operator("POST", "/api/runs/{id}/unarchive"),
    operator("POST", "/api/runs/{id}/unpin"),
    operator("POST", "/api/alerts/{id}/acknowledge"),
    // A game is a run of the lab, so whoever plays makes something.
    operator("POST", "/api/play"),
    operator("POST", "/api/play/{id}/hint").without_key(),
    operator("POST", "/api/play/{id}/moves").without_key(),
    operator("POST", "/api/play/{id}/thoughts").without_key(),
    operator("POST", "/api/play/{id}/undo").without_key(),
    operator("POST", "/api/play/environments").without_key(),
    operator("GET", "/api/play/environments/{id}/live"),
    admin("POST", "/api/retention/run"),
    admin("PUT", "/api/settings"),
    admin("GET", "/api/tokens"),
    admin("POST", "/api/tokens"),
    admin("DELETE", "/api/tokens/{id}"),
    // Whoever is in may leave, and may open what they may see.
    operator("POST", "/api/logout").for_viewers().without_key(),
    operator("POST", "/api/tickets").for_viewers().without_key(),
];

/// Whether a request with this method only looks.
pub fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// The line of the table for a route.
pub fn rule(method: &Method, path: &str) -> Option<&'static Rule> {
    let method = if *method == Method::HEAD { "GET" } else { method.as_str() };
    RULES.iter().find(|rule| rule.method == method && rule.path == path)
}

/// The least role that may use a route.
pub fn least_role(method: &Method, path: &str) -> Role {
    match rule(method, path) {
        Some(rule) => rule.role,
        None if is_safe(method) => Role::Viewer,
        None => Role::Admin,
    }
}

/// Whether a request for a route must carry an `Idempotency-Key`.
pub fn needs_key(method: &Method, path: &str) -> bool {
    !is_safe(method) && rule(method, path).is_none_or(|rule| rule.key == Key::Required)
}
