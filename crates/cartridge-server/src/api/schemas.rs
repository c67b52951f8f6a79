//! `/api/schemas`: what a configuration may say, for forms and for other programs.

use axum::Json;
use cartridge_run::RunError;
use cartridge_run::config::schema;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::error::{ApiError, Problem};
use crate::extract::Path;

/// The schemas that can be had.
#[derive(Debug, Serialize, ToSchema)]
pub struct SchemaList {
    /// All of them.
    pub schemas: Vec<SchemaEntry>,
}

/// A schema that can be had.
#[derive(Debug, Serialize, ToSchema)]
pub struct SchemaEntry {
    /// By which it is asked for.
    #[schema(example = "ppo:LunarLander-v3")]
    pub name: String,
    /// What it describes, for people.
    pub title: String,
    /// Its address.
    pub href: String,
}

/// List the schemas of configurations: for any algorithm, one algorithm, one environment, or both,
/// and the presets.
#[utoipa::path(
    get,
    path = "/api/schemas",
    tag = "experiments",
    responses((status = 200, body = SchemaList), (status = 401, body = Problem)),
)]
async fn list_schemas() -> Json<SchemaList> {
    let entry = |known: schema::SchemaName| SchemaEntry {
        href: format!("/api/schemas/{}", known.name),
        name: known.name,
        title: known.title,
    };
    Json(SchemaList { schemas: schema::names().into_iter().map(entry).collect() })
}

/// Show a schema: JSON Schema 2020-12, with what forms need beside it. `x-unit`, `x-step` and
/// `x-scale` are for sliders, `x-aliases` are other names that are understood, and `x-tunable` is
/// false or the bounds while a run trains. `presets` gives the presets and what they change.
#[utoipa::path(
    get,
    path = "/api/schemas/{name}",
    tag = "experiments",
    params(("name" = String, Path, description = "Name of the schema", example = "ppo:LunarLander-v3")),
    responses((status = 200, body = Object), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn show_schema(Path(name): Path<String>) -> Result<Json<Value>, ApiError> {
    Ok(Json(schema::schema(&name).map_err(RunError::from)?))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list_schemas)).routes(routes!(show_schema))
}
