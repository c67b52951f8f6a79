//! What all routes share in the OpenAPI document, added in one place: the ways to say who asks, the
//! role that is needed, the `Idempotency-Key`, and the answers of whatever stands before the routes.

use axum::http::Method;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr, Required, ResponseBuilder};

use crate::auth::{CLOSED, PUBLIC};
use crate::roles;

/// The operations of a path, with their methods.
fn operations(item: &mut PathItem) -> impl Iterator<Item = (Method, &mut Operation)> {
    [
        (Method::GET, &mut item.get),
        (Method::POST, &mut item.post),
        (Method::PUT, &mut item.put),
        (Method::PATCH, &mut item.patch),
        (Method::DELETE, &mut item.delete),
    ]
    .into_iter()
    .filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

/// Method and path of every route that changes something.
pub(crate) fn mutations(document: &OpenApi) -> impl Iterator<Item = (String, String)> {
    let mut paths = document.paths.paths.clone();
    let mut found = Vec::new();
    for (path, item) in &mut paths {
        for (method, _) in operations(item) {
            if !roles::is_safe(&method) {
                found.push((method.to_string(), path.clone()));
            }
        }
    }
    found.into_iter()
}

/// Adds what all routes share.
pub(crate) fn complete(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A token of the lab: `data/token`, or one of `cartridge token new`."))
        .build();
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    let ticket = ApiKeyValue::with_description(
        "ticket",
        "A one-use ticket of `POST /api/tickets`, for WebSockets and EventSource.",
    );
    components.add_security_scheme("ticket", SecurityScheme::ApiKey(ApiKey::Query(ticket)));
    for (path, item) in &mut document.paths.paths {
        let is_closed = path.starts_with("/api") || CLOSED.contains(&path.as_str());
        let is_public = PUBLIC.contains(&path.as_str()) || !is_closed;
        for (method, operation) in operations(item) {
            if !is_public {
                close(&method, path, operation);
            }
        }
    }
}

fn close(method: &Method, path: &str, operation: &mut Operation) {
    let none: [&str; 0] = [];
    let mut ways = vec![SecurityRequirement::new("bearer", none)];
    if *method == Method::GET {
        ways.push(SecurityRequirement::new("ticket", none));
    }
    operation.security = Some(ways);
    let role = roles::least_role(method, path).as_str();
    operation
        .extensions
        .get_or_insert_default()
        .merge(ExtensionsBuilder::new().add("x-role", role).build());
    let mut statuses = vec!["401", "403", "429"];
    if !roles::is_safe(method) {
        let is_required = roles::needs_key(method, path);
        operation.parameters.get_or_insert_default().push(RefOr::T(key_parameter(is_required)));
        statuses.extend(["400", "409", "413", "422"]);
    }
    for status in statuses {
        let known = &mut operation.responses.responses;
        known.entry(status.to_owned()).or_insert_with(problem);
    }
}

fn key_parameter(is_required: bool) -> Parameter {
    ParameterBuilder::new()
        .name("idempotency-key")
        .parameter_in(ParameterIn::Header)
        .required(if is_required { Required::True } else { Required::False })
        .description(Some(
            "New for each action, and the same when it is asked for again: the first answer is \
             given again for a day. 409 while the first is under way, 422 with another request.",
        ))
        .schema(Some(
            ObjectBuilder::new()
                .schema_type(Type::String)
                .min_length(Some(1))
                .max_length(Some(200))
                .pattern(Some("^[A-Za-z0-9_.:-]+$"))
                .build(),
        ))
        .build()
}

fn problem() -> RefOr<utoipa::openapi::Response> {
    let body = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    RefOr::T(ResponseBuilder::new().content("application/problem+json", body).build())
}
