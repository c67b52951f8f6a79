//! `/healthz` and `/readyz`: that the lab is there, and that it can work.

use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;

/// How long the ticker may be silent.
const TICKER_PATIENCE: Duration = Duration::from_secs(5);

/// How long what was found is told again: anybody may ask, and asking writes to the disk.
const FRESH: Duration = Duration::from_secs(1);

/// That the lab is there.
#[derive(Debug, Serialize, ToSchema)]
pub struct Healthz {
    /// Always `ok`; a lab that is not does not answer.
    pub status: &'static str,
}

/// Whether the lab can work.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Readyz {
    /// `ready` or `not_ready`.
    pub status: &'static str,
    /// What was looked at.
    pub checks: Vec<Check>,
}

/// One thing without which the lab cannot work.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Check {
    /// `index`, `disk` or `ticker`.
    pub name: &'static str,
    /// Whether it is as it should be.
    pub ok: bool,
    /// What is wrong, and what to do.
    #[schema(required)]
    pub reason: Option<&'static str>,
}

/// Say that the lab is there. Needs no token.
#[utoipa::path(get, path = "/healthz", tag = "lab", responses((status = 200, body = Healthz)))]
async fn healthz() -> Json<Healthz> {
    Json(Healthz { status: "ok" })
}

/// Say whether the lab can work: its index answers, its disk takes writes, and runs are being taken
/// in. Needs no token.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "lab",
    responses((status = 200, body = Readyz), (status = 503, body = Readyz)),
)]
async fn readyz(State(state): State<AppState>) -> (StatusCode, Json<Readyz>) {
    let readyz = look(&state).await;
    let is_ready = readyz.status == "ready";
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(readyz))
}

async fn look(state: &AppState) -> Readyz {
    // Held while looking, so that a hundred who ask at once make one look.
    let mut last = state.gate.readiness.lock().await;
    if let Some((at, readyz)) = &*last
        && at.elapsed() < FRESH
    {
        return readyz.clone();
    }
    let index = state.ask(|lab| lab.check_index()).await;
    let disk = state.ask(|lab| lab.check_disk()).await;
    let is_ticking = state.feed.since_tick().is_some_and(|age| age < TICKER_PATIENCE);
    let check = |name, ok, reason| Check { name, ok, reason: (!ok).then_some(reason) };
    let checks = vec![
        check("index", index.is_ok(), "the index does not answer; the lab's log says why"),
        check(
            "disk",
            disk.is_ok(),
            "the data folder takes no writes; free some room or mount it for writing",
        ),
        check(
            "ticker",
            is_ticking,
            "runs are not being taken in; the lab's log says why, and a restart may help",
        ),
    ];
    for (name, error) in [("index", index.err()), ("disk", disk.err())] {
        if let Some(error) = error {
            tracing::warn!(check = name, %error, "the lab is not ready");
        }
    }
    let is_ready = checks.iter().all(|check| check.ok);
    let readyz = Readyz { status: if is_ready { "ready" } else { "not_ready" }, checks };
    *last = Some((Instant::now(), readyz.clone()));
    readyz
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(healthz)).routes(routes!(readyz))
}
