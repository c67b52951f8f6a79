//! `/api/lab`: what the lab is.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::error::Problem;

/// What the lab is.
#[derive(Debug, Serialize, ToSchema)]
pub struct LabFacts {
    /// Version of the product.
    pub version: &'static str,
    /// CPU cores of the machine.
    pub cores: usize,
    /// Where the data is.
    pub data_dir: String,
}

/// Tell what the lab is.
#[utoipa::path(
    get,
    path = "/api/lab",
    tag = "lab",
    responses((status = 200, body = LabFacts), (status = 401, body = Problem)),
)]
async fn show_lab(State(state): State<AppState>) -> Json<LabFacts> {
    Json(LabFacts {
        version: state.version,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        data_dir: state.lab.data().path().display().to_string(),
    })
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(show_lab))
}
