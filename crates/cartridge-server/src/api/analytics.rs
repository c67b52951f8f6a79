//! `/api/analytics/...`: runs in windows of steps.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use cartridge_run::analytics;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::runs::{RunState, parse_id};
use crate::error::{ApiError, Problem};
use crate::extract::{Path, Query};
use crate::time::rfc3339;

/// The newest trainings.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnalyticsRuns {
    /// Newest first.
    pub runs: Vec<AnalyticsSummary>,
}

/// A run in a line.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnalyticsSummary {
    /// The run.
    pub run_id: String,
    /// Its name for people.
    pub name: String,
    /// Id of the environment.
    pub env_id: String,
    /// The algorithm, where it is known.
    #[schema(required)]
    pub algo: Option<String>,
    /// Where it is in its life.
    pub state: RunState,
    /// When it was made (RFC 3339).
    pub created_at: String,
    /// Environment steps so far.
    pub step: u64,
    /// Episodes that have ended.
    pub episodes: u64,
    /// Environment steps of a window.
    pub window_steps: u64,
    /// The newest window, which is its iteration; 0 before the first step.
    pub window_id: u64,
    /// What people look at first.
    pub kpis: Vec<Kpi>,
    /// How good each source of figures is.
    pub completeness: Vec<Completeness>,
}

/// A figure that people look at first.
#[derive(Debug, Serialize, ToSchema)]
pub struct Kpi {
    /// `return`, `evaluation`, `steps_per_sec`, `length`, `profit`, `survival` or
    /// `invalid_action_rate`.
    pub name: &'static str,
    /// The metric.
    pub metric: &'static str,
    /// Its name for people.
    pub label: String,
    /// The newest value; none where there is none.
    #[schema(required)]
    pub value: Option<f64>,
    /// Steps at that value.
    #[schema(required)]
    pub step: Option<u64>,
}

/// How good a source of figures is.
#[derive(Debug, Serialize, ToSchema)]
pub struct Completeness {
    /// `metrics`, `evaluations`, `episode_metrics` or `heartbeat`.
    pub source: &'static str,
    /// `ok`, `stale`, `missing` or `error`.
    pub state: &'static str,
    /// Why, where it is not as it should be.
    #[schema(required)]
    pub detail: Option<String>,
}

impl From<analytics::Kpi> for Kpi {
    fn from(kpi: analytics::Kpi) -> Self {
        let analytics::Kpi { name, metric, label, value, step } = kpi;
        Self { name, metric, label, value, step }
    }
}

impl From<analytics::RunSummary> for AnalyticsSummary {
    fn from(run: analytics::RunSummary) -> Self {
        let source = |source: analytics::Source| Completeness {
            source: source.source,
            state: source.state.as_str(),
            detail: source.detail,
        };
        Self {
            run_id: run.run_id.to_string(),
            name: run.name,
            env_id: run.env_id,
            algo: run.algo,
            state: run.state.into(),
            created_at: rfc3339(run.created_at),
            step: run.step,
            episodes: run.episodes,
            window_steps: run.window_steps,
            window_id: run.window_id,
            kpis: run.kpis.into_iter().map(Into::into).collect(),
            completeness: run.completeness.into_iter().map(source).collect(),
        }
    }
}

/// The windows of a run.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnalyticsWindows {
    /// The run.
    pub run_id: String,
    /// Environment steps of a window.
    pub window_steps: u64,
    /// Those in which something was measured, oldest first.
    pub windows: Vec<Window>,
    /// Whether there are older ones that are not told.
    pub truncated: bool,
    /// Whether means rest on the least and the greatest of stretches, because there is so much.
    pub sampled: bool,
}

/// One window of a run.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AnalyticsWindow)]
pub struct Window {
    /// Its number, from 1: the key of the iteration.
    pub window_id: u64,
    /// Its first step.
    pub from_step: u64,
    /// Its last step.
    pub to_step: u64,
    /// What was measured in it, by the names of the KPIs.
    pub figures: BTreeMap<&'static str, Figures>,
}

/// What a metric came to in a window.
#[derive(Debug, Serialize, ToSchema)]
pub struct Figures {
    /// Values.
    pub n: u64,
    /// Their mean.
    pub mean: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// The newest.
    pub last: f64,
}

impl From<analytics::Figures> for Figures {
    fn from(analytics::Figures { n, mean, min, max, last }: analytics::Figures) -> Self {
        Self { n, mean, min, max, last }
    }
}

impl From<analytics::Windows> for AnalyticsWindows {
    fn from(found: analytics::Windows) -> Self {
        let window = |window: analytics::Window| Window {
            window_id: window.window_id,
            from_step: window.from_step,
            to_step: window.to_step,
            figures: window.figures.into_iter().map(|(name, it)| (name, it.into())).collect(),
        };
        Self {
            run_id: found.run_id,
            window_steps: found.window_steps,
            windows: found.windows.into_iter().map(window).collect(),
            truncated: found.is_truncated,
            sampled: found.is_sampled,
        }
    }
}

/// One window of a run, with all that was measured in it.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnalyticsIteration {
    /// The run.
    pub run_id: String,
    /// Number of the window, from 1.
    pub window_id: u64,
    /// Its first step.
    pub from_step: u64,
    /// Its last step.
    pub to_step: u64,
    /// Everything that was measured in it.
    pub metrics: Vec<IterationMetric>,
}

/// A metric in a window.
#[derive(Debug, Serialize, ToSchema)]
pub struct IterationMetric {
    /// Name of the metric.
    pub key: String,
    /// Its name for people.
    pub label: String,
    /// What it came to.
    pub figures: Figures,
    /// Environment steps of its points; of more than 1,000, evenly thinned out.
    pub step: Vec<u64>,
    /// Values; none where one was not finite.
    pub value: Vec<Option<f64>>,
}

impl From<analytics::Iteration> for AnalyticsIteration {
    fn from(found: analytics::Iteration) -> Self {
        let metric = |metric: analytics::IterationMetric| IterationMetric {
            key: metric.key,
            label: metric.label,
            figures: metric.figures.into(),
            step: metric.step,
            value: metric.value,
        };
        Self {
            run_id: found.run_id,
            window_id: found.window_id,
            from_step: found.from_step,
            to_step: found.to_step,
            metrics: found.metrics.into_iter().map(metric).collect(),
        }
    }
}

/// How many.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitQuery {
    /// How many, at most 100.
    #[serde(default = "default_limit")]
    #[param(required = false, minimum = 1, maximum = 100)]
    pub(crate) limit: usize,
}

fn default_limit() -> usize {
    10
}

/// List the newest trainings with what people look at first.
#[utoipa::path(
    get,
    path = "/api/analytics/runs",
    tag = "insight",
    params(LimitQuery),
    responses(
        (status = 200, body = AnalyticsRuns),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
    ),
)]
async fn list_analytics_runs(
    State(state): State<AppState>,
    Query(query): Query<LimitQuery>,
) -> Result<Json<AnalyticsRuns>, ApiError> {
    let runs = state.ask(move |lab| lab.analytics_runs(query.limit.clamp(1, 100))).await?;
    Ok(Json(AnalyticsRuns { runs: runs.into_iter().map(Into::into).collect() }))
}

/// Show a run with what people look at first, and how good each source of it is.
#[utoipa::path(
    get,
    path = "/api/analytics/runs/{id}/summary",
    tag = "insight",
    params(("id" = String, Path, description = "Name of the run")),
    responses(
        (status = 200, body = AnalyticsSummary),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn show_summary(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<AnalyticsSummary>, ApiError> {
    let id = parse_id(&id)?;
    Ok(Json(state.ask(move |lab| lab.analytics_summary(&id)).await?.into()))
}

/// Show all windows of a run, oldest first; at most the newest 5,000.
#[utoipa::path(
    get,
    path = "/api/analytics/runs/{id}/history",
    tag = "insight",
    params(("id" = String, Path, description = "Name of the run")),
    responses(
        (status = 200, body = AnalyticsWindows),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn show_history(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<AnalyticsWindows>, ApiError> {
    let id = parse_id(&id)?;
    Ok(Json(state.ask(move |lab| lab.analytics_windows(&id)).await?.into()))
}

/// List the newest windows of a run, oldest first.
#[utoipa::path(
    get,
    path = "/api/analytics/runs/{id}/iterations",
    tag = "insight",
    params(("id" = String, Path, description = "Name of the run"), LimitQuery),
    responses(
        (status = 200, body = AnalyticsWindows),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn list_iterations(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<LimitQuery>,
) -> Result<Json<AnalyticsWindows>, ApiError> {
    let id = parse_id(&id)?;
    let mut found = state.ask(move |lab| lab.analytics_windows(&id)).await?;
    found.keep_newest(query.limit.clamp(1, 100));
    Ok(Json(found.into()))
}

/// Show one window of a run with all that was measured in it.
#[utoipa::path(
    get,
    path = "/api/analytics/runs/{id}/iterations/{iteration}",
    tag = "insight",
    params(
        ("id" = String, Path, description = "Name of the run"),
        ("iteration" = u64, Path, description = "Number of the window, from 1"),
    ),
    responses(
        (status = 200, body = AnalyticsIteration),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn show_iteration(
    State(state): State<AppState>,
    Path((id, iteration)): Path<(String, u64)>,
) -> Result<Json<AnalyticsIteration>, ApiError> {
    let id = parse_id(&id)?;
    Ok(Json(state.ask(move |lab| lab.analytics_iteration(&id, iteration)).await?.into()))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list_analytics_runs))
        .routes(routes!(show_summary))
        .routes(routes!(show_history))
        .routes(routes!(list_iterations))
        .routes(routes!(show_iteration))
}
