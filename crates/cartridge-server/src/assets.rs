//! The web app that is embedded in the binary.
//!
//! Files under `_app/immutable` carry their hash in their name and are kept by browsers for ever;
//! everything else is asked for again and answered by its tag. An address without a file is one
//! of the app's own and gets its first page.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use rust_embed::{EmbeddedFile, RustEmbed};
use sha2::{Digest as _, Sha256};
use std::sync::LazyLock;

use crate::error::ApiError;

#[derive(RustEmbed)]
#[folder = "../../web/build"]
#[allow_missing = true]
struct WebApp;

/// Shown when the binary was built without the web app.
const NO_APP: &str = include_str!("assets/no_app.html");

/// Serves a file of the web app, or its first page.
pub async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path().trim_start_matches('/');
    if path == "api" || path.starts_with("api/") {
        return ApiError::NoSuchRoute.into_response();
    }
    if method != Method::GET && method != Method::HEAD {
        return ApiError::MethodNotAllowed.into_response();
    }
    if !path.is_empty()
        && let Some(response) = file(path, &headers)
    {
        return response;
    }
    let looks_like_file =
        path.starts_with("_app/") || path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    if looks_like_file {
        return ApiError::NoSuchRoute.into_response();
    }
    file("index.html", &headers)
        .unwrap_or_else(|| ([(CONTENT_TYPE, "text/html; charset=utf-8")], NO_APP).into_response())
}

fn file(path: &str, headers: &HeaderMap) -> Option<Response> {
    let plain = WebApp::get(path)?;
    let accepted =
        headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let accepts = |encoding: &str| {
        accepted.split(',').any(|one| one.split(';').next().is_some_and(|e| e.trim() == encoding))
    };
    let (encoding, content) = [("br", "br"), ("gzip", "gz")]
        .into_iter()
        .filter(|(encoding, _)| accepts(encoding))
        .find_map(|(encoding, suffix)| {
            Some((Some(encoding), WebApp::get(&format!("{path}.{suffix}"))?))
        })
        .unwrap_or((None, plain));
    let tag = tag(&content);
    let caching = if path.starts_with("_app/immutable/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let mut response = if headers.get(IF_NONE_MATCH).is_some_and(|given| *given == tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Body::from(content.data.into_owned()).into_response()
    };
    let answer = response.headers_mut();
    answer.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(path)));
    answer.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    answer.insert(VARY, HeaderValue::from_static("accept-encoding"));
    answer.insert(ETAG, tag);
    if let Some(encoding) = encoding {
        answer.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    Some(response)
}

fn tag(file: &EmbeddedFile) -> HeaderValue {
    let hex: String =
        file.metadata.sha256_hash()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    HeaderValue::from_str(&format!("\"{hex}\"")).expect("hexadecimal digits are fine in a header")
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// The headers that every answer carries. Nothing is fetched from outside, nothing may frame us,
/// and the only inline scripts are the two that the app's first page was built with.
pub async fn with_security_headers(request: Request, next: Next) -> Response {
    static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
        let page =
            WebApp::get("index.html").map(|file| String::from_utf8_lossy(&file.data).into_owned());
        let scripts = script_hashes(page.as_deref().unwrap_or_default()).join(" ");
        let policy = format!(
            "default-src 'self'; script-src 'self' {scripts}; style-src 'self'; style-src-attr 'unsafe-inline'; \
             img-src 'self' data: blob:; connect-src 'self'; object-src 'none'; base-uri 'none'; \
             form-action 'self'; frame-ancestors 'none'"
        );
        HeaderValue::from_str(&policy).expect("the policy is ASCII")
    });
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    // What comes from a trainer has a stricter one already.
    headers.entry(CONTENT_SECURITY_POLICY).or_insert_with(|| POLICY.clone());
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// The hashes of a page's inline scripts, as a policy names them.
fn script_hashes(page: &str) -> Vec<String> {
    page.split("<script")
        .skip(1)
        .filter_map(|rest| {
            let (attributes, rest) = rest.split_once('>')?;
            let (script, _) = rest.split_once("</script>")?;
            (!attributes.contains("src="))
                .then(|| format!("'sha256-{}'", base64(&Sha256::digest(script))))
        })
        .collect()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte))
            << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            text.push(if digit <= chunk.len() {
                DIGITS[(bits >> (18 - 6 * digit) & 63) as usize] as char
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_scripts_are_hashed_and_others_are_not() {
        let page = "<script src=\"/a.js\"></script><script>alert(1)</script>";
        // echo -n 'alert(1)' | openssl dgst -sha256 -binary | base64
        assert_eq!(script_hashes(page), ["'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"]);
    }

    #[test]
    fn base64_pads() {
        assert_eq!([base64(b"a"), base64(b"ab"), base64(b"abc")], ["YQ==", "YWI=", "YWJj"]);
    }
}
