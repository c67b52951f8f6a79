//! `/api/runs/{id}/resources`: what a run has used of the machine, over time.

use axum::Json;
use axum::extract::State;
use cartridge_run::store::ResourceSample;
use cartridge_run::store::resources::ALWAYS;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::runs::parse_id;
use crate::error::{ApiError, Problem};
use crate::extract::{Path, Query};

/// What a run's trainer has used of the machine, by all of its attempts, as columns of equal
/// length. A row with nothing but its time says that nothing was running around it.
#[derive(Debug, Serialize, ToSchema)]
pub struct Resources {
    /// The run.
    pub run_id: String,
    /// Unix seconds.
    pub t: Vec<f64>,
    /// CPU use; 100 is one core.
    pub cpu_percent: Vec<Option<f64>>,
    /// Memory.
    pub memory_bytes: Vec<Option<u64>>,
    /// Use of the busiest GPU, in percent; none where the trainer uses no GPU.
    pub gpu_percent: Vec<Option<f64>>,
    /// Memory on all GPUs.
    pub gpu_memory_bytes: Vec<Option<u64>>,
}

/// Which stretch.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct ResourcesQuery {
    /// How many rows at most, up to 10,000. Each is of equally many measurements and has the
    /// greatest of them, so spikes survive.
    #[serde(default = "default_points")]
    #[param(required = false, minimum = 2, maximum = 10000)]
    points: usize,
    /// Only from this moment on, in Unix seconds.
    from: Option<f64>,
    /// Only up to this moment.
    to: Option<f64>,
}

/// As many as a chart can show.
fn default_points() -> usize {
    500
}

impl Resources {
    fn new(run_id: String, rows: &[ResourceSample]) -> Self {
        let rounded = |value: f64, places: f64| (value * places).round() / places;
        Self {
            run_id,
            // Milliseconds, and tenths of a percent, are enough for a chart, and shorter.
            t: rows.iter().map(|row| rounded(row.t, 1000.0)).collect(),
            cpu_percent: rows
                .iter()
                .map(|row| row.cpu_percent.map(|percent| rounded(percent, 10.0)))
                .collect(),
            memory_bytes: rows.iter().map(|row| row.rss_bytes).collect(),
            gpu_percent: rows
                .iter()
                .map(|row| row.gpu.map(|gpu| rounded(gpu.percent, 10.0)))
                .collect(),
            gpu_memory_bytes: rows.iter().map(|row| row.gpu.map(|gpu| gpu.memory_bytes)).collect(),
        }
    }
}

/// Show what a run has used of the machine over time, for charts.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/resources",
    tag = "runs",
    params(("id" = String, Path, description = "Name of the run"), ResourcesQuery),
    responses(
        (status = 200, body = Resources),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn show_resources(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<ResourcesQuery>,
) -> Result<Json<Resources>, ApiError> {
    let id = parse_id(&id)?;
    let run_id = id.to_string();
    let times = (query.from.unwrap_or(ALWAYS.0), query.to.unwrap_or(ALWAYS.1));
    let points = query.points.clamp(2, 10_000);
    let rows = state.ask(move |lab| lab.resources(&id, points, times)).await?;
    Ok(Json(Resources::new(run_id, &rows)))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(show_resources))
}
