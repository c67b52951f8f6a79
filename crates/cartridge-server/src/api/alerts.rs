//! `/api/alerts`: what a person should know of now.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use cartridge_run::alert;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::error::{ApiError, Problem};
use crate::extract::{Path, Query, RequestKey};
use crate::time::rfc3339;

/// Alerts in a list, unless it is said otherwise, and at most.
const ALERTS: u32 = 100;
const MOST_ALERTS: u32 = 1000;

/// What an alert is about.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlertKind {
    /// The supervisor of a run is late or gone.
    HeartbeatStale,
    /// A number of a run is not finite.
    NotFinite,
    /// The returns of a run have fallen far below what they were.
    RewardCollapse,
    /// A run has failed.
    RunFailed,
    /// The lab answers slowly.
    ApiLatency,
    /// Little room is left on the disk.
    Disk,
}

impl From<alert::Kind> for AlertKind {
    fn from(kind: alert::Kind) -> Self {
        match kind {
            alert::Kind::HeartbeatStale => Self::HeartbeatStale,
            alert::Kind::NotFinite => Self::NotFinite,
            alert::Kind::RewardCollapse => Self::RewardCollapse,
            alert::Kind::RunFailed => Self::RunFailed,
            alert::Kind::ApiLatency => Self::ApiLatency,
            alert::Kind::Disk => Self::Disk,
        }
    }
}

/// Where an alert is in its life.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlertState {
    /// It is so, and nobody has taken note.
    Firing,
    /// It is so, and somebody knows.
    Acknowledged,
    /// It is over.
    Resolved,
}

impl From<alert::State> for AlertState {
    fn from(state: alert::State) -> Self {
        match state {
            alert::State::Firing => Self::Firing,
            alert::State::Acknowledged => Self::Acknowledged,
            alert::State::Resolved => Self::Resolved,
        }
    }
}

impl From<AlertState> for alert::State {
    fn from(state: AlertState) -> Self {
        match state {
            AlertState::Firing => Self::Firing,
            AlertState::Acknowledged => Self::Acknowledged,
            AlertState::Resolved => Self::Resolved,
        }
    }
}

/// What a person should know of.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Alert {
    /// Its name.
    #[schema(example = "al-17")]
    pub id: String,
    /// What it is about.
    pub kind: AlertKind,
    /// The run; none where it is about the lab.
    #[schema(required)]
    pub run_id: Option<String>,
    /// What is wrong.
    pub sentence: String,
    /// What can be done.
    pub suggestion: String,
    /// The numbers behind it.
    pub numbers: BTreeMap<String, f64>,
    /// Where it is in its life.
    pub state: AlertState,
    /// When it fired (RFC 3339).
    pub triggered_at: String,
    /// When somebody took note.
    #[schema(required)]
    pub acknowledged_at: Option<String>,
    /// Who took note.
    #[schema(required)]
    pub acknowledged_by: Option<String>,
    /// When it was over.
    #[schema(required)]
    pub resolved_at: Option<String>,
    /// Why it was over.
    #[schema(required)]
    pub resolved_reason: Option<String>,
}

impl From<alert::Alert> for Alert {
    fn from(alert: alert::Alert) -> Self {
        Self {
            id: alert.id,
            kind: alert.cause.kind.into(),
            run_id: alert.cause.run_id.map(|id| id.to_string()),
            sentence: alert.cause.sentence,
            suggestion: alert.cause.suggestion,
            numbers: alert.cause.numbers,
            state: alert.state.into(),
            triggered_at: rfc3339(alert.triggered_at),
            acknowledged_at: alert.acknowledged_at.map(rfc3339),
            acknowledged_by: alert.acknowledged_by,
            resolved_at: alert.resolved_at.map(rfc3339),
            resolved_reason: alert.resolved_reason,
        }
    }
}

/// Alerts of the lab and of its runs.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlertList {
    /// Newest first.
    pub alerts: Vec<Alert>,
    /// Alerts that nobody has taken note of, listed or not.
    pub firing: usize,
    /// Alerts that somebody knows of and that are not over, listed or not.
    pub acknowledged: usize,
}

/// Which alerts are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct AlertsQuery {
    /// Only those in this state.
    #[param(inline)]
    state: Option<AlertState>,
    /// How many, at most 1000; 100 when left out.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// List the alerts, newest first. Those that are over are remembered, the newest 1000 of them.
#[utoipa::path(
    get,
    path = "/api/alerts",
    tag = "alerts",
    params(AlertsQuery),
    responses(
        (status = 200, body = AlertList),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn list_alerts(
    State(state): State<AppState>,
    Query(query): Query<AlertsQuery>,
) -> Result<Json<AlertList>, ApiError> {
    let limit = query.limit.unwrap_or(ALERTS).clamp(1, MOST_ALERTS) as usize;
    let found = state.ask(move |lab| lab.alerts(query.state.map(Into::into), limit)).await?;
    Ok(Json(AlertList {
        alerts: found.alerts.into_iter().map(Into::into).collect(),
        firing: found.n_firing,
        acknowledged: found.n_acknowledged,
    }))
}

/// Take note of an alert. It stays open until what it tells of is over; taking note again changes
/// nothing.
#[utoipa::path(
    post,
    path = "/api/alerts/{id}/acknowledge",
    tag = "alerts",
    params(("id" = String, Path, description = "Name of the alert")),
    responses(
        (status = 200, body = Alert),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
    ),
)]
async fn acknowledge_alert(
    State(state): State<AppState>,
    Path(id): Path<String>,
    key: RequestKey,
) -> Result<Json<Alert>, ApiError> {
    let alert = state.ask(move |lab| lab.acknowledge_alert(&id, key.by())).await?;
    Ok(Json(alert.into()))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list_alerts)).routes(routes!(acknowledge_alert))
}
