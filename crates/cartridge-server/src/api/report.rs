//! `/api/runs/{id}/report`: all of a run on one page.

use axum::Json;
use axum::extract::State;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::runs::parse_id;
use crate::error::{ApiError, Problem};
use crate::extract::{Path, Query};

/// The page has its own style and nothing else, and it is nobody's page: no cookie, no script.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

/// How a report is told.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportFormat {
    /// For programs.
    #[default]
    Json,
    /// For terminals and mails.
    Text,
    /// A page that needs nothing else.
    Html,
}

/// How the report is told.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct ReportQuery {
    /// `json`, `text` or `html`.
    #[serde(default)]
    #[param(required = false)]
    #[param(inline)]
    format: ReportFormat,
}

/// Report all of a run: configuration, charts, insights, evaluations, lineage, resources and who
/// changed what. The page of HTML needs nothing else and can be kept as a file.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/report",
    tag = "insight",
    params(("id" = String, Path, description = "Name of the run"), ReportQuery),
    responses(
        (status = 200, content(
            (Value = "application/json"),
            (String = "text/plain"),
            (String = "text/html"),
        )),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn show_report(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<ReportQuery>,
) -> Result<Response, ApiError> {
    let id = parse_id(&id)?;
    let report = state.ask(move |lab| lab.report(&id)).await?;
    Ok(match query.format {
        ReportFormat::Json => Json(report).into_response(),
        ReportFormat::Text => {
            ([(CONTENT_TYPE, "text/plain; charset=utf-8")], report.to_text()).into_response()
        }
        ReportFormat::Html => {
            let headers =
                [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, POLICY)];
            (headers, report.to_html()).into_response()
        }
    })
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(show_report))
}
