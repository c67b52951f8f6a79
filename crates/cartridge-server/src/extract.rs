//! Request bodies, queries and path parameters, with problems that point at the field.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use cartridge_run::config::plain_words;
use cartridge_run::steer::By;
use serde::de::DeserializeOwned;

use crate::auth::Principal;
use crate::error::ApiError;

/// A JSON body.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let content_type =
            request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        // Asked for by name, because a form on another site cannot send it.
        if !content_type.is_some_and(|kind| {
            kind.split(';').next().is_some_and(|kind| kind.trim() == "application/json")
        }) {
            return Err(ApiError::Malformed(
                "send the body with `Content-Type: application/json`".to_owned(),
            ));
        }
        let bytes = axum::body::Bytes::from_request(request, state).await.map_err(|rejection| {
            match rejection.status() {
                StatusCode::PAYLOAD_TOO_LARGE => ApiError::TooLarge,
                _ => ApiError::Malformed(rejection.body_text()),
            }
        })?;
        let mut deserializer = serde_json::Deserializer::from_slice(&bytes);
        let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let detail = error.inner().to_string();
            if error.inner().is_data() {
                wrong_field(error.path(), &detail)
            } else {
                ApiError::Malformed(format!("the body is no JSON: {detail}"))
            }
        })?;
        deserializer
            .end()
            .map_err(|error| ApiError::Malformed(format!("the body is no JSON: {error}")))?;
        Ok(Self(value))
    }
}

/// The query of the address.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        let pairs = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let deserializer = serde_urlencoded::Deserializer::new(pairs);
        let query = serde_path_to_error::deserialize(deserializer)
            .map_err(|error| wrong_field(error.path(), &error.inner().to_string()))?;
        Ok(Self(query))
    }
}

/// A parameter in the path of the address.
#[derive(Debug)]
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = axum::extract::Path::<T>::from_request_parts(parts, state)
            .await
            .map_err(|rejection| ApiError::Malformed(rejection.body_text()))?;
        Ok(Self(path.0))
    }
}

/// Who asks for a change, and by which request. Made for every mutation by
/// [`once`](crate::mutation::once), and taken by the handlers that record what they do.
#[derive(Clone, Debug)]
pub struct RequestKey {
    principal: Principal,
    /// The `Idempotency-Key`, by which a request that is sent again is known.
    key: Option<String>,
    request_id: String,
    is_recorded: Arc<AtomicBool>,
}

impl RequestKey {
    pub(crate) fn new(principal: Principal, key: Option<String>, request_id: String) -> Self {
        Self { principal, key, request_id, is_recorded: Arc::default() }
    }

    /// Who asks, by this request, for the line in the audit that the lab now writes.
    pub fn by(&self) -> By<'_> {
        self.is_recorded.store(true, Ordering::Relaxed);
        By {
            who: &self.principal.name,
            role: Some(self.principal.role),
            request: self.key.as_deref(),
            request_id: Some(&self.request_id),
        }
    }

    /// Says that nothing was changed, so that there is nothing to write a line about.
    pub fn changes_nothing(&self) {
        self.is_recorded.store(true, Ordering::Relaxed);
    }

    /// Whether anybody has asked who it is, and so has written a line, or has nothing to write.
    pub(crate) fn is_recorded(&self) -> bool {
        self.is_recorded.load(Ordering::Relaxed)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RequestKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        let key = parts.extensions.get::<Self>().cloned();
        key.ok_or_else(|| ApiError::Internal("this route does not know who asks".to_owned()))
    }
}

/// The problem with one field, as serde describes it.
fn wrong_field(path: &serde_path_to_error::Path, detail: &str) -> ApiError {
    let detail = plain_words(detail);
    let mut pointer = pointer(path);
    // A field that is not there has no place of its own: serde points at what should hold it.
    if let Some(name) =
        detail.strip_prefix("missing field `").and_then(|rest| rest.split('`').next())
    {
        pointer = format!("{pointer}/{name}");
    }
    ApiError::Field { pointer, detail }
}

/// `a.b[2]` as `/a/b/2`.
fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => text.push_str(&format!("/{index}")),
            Segment::Map { key } | Segment::Enum { variant: key } => {
                text.push('/');
                text.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Segment::Unknown => text.push_str("/?"),
        }
    }
    text
}
