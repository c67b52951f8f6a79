//! `/api/runs/{id}/insights`: what the numbers of a run say.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use cartridge_run::insight;
use cartridge_run::metric_label;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::runs::parse_id;
use crate::error::{ApiError, Problem};
use crate::extract::{Path, Query};

/// What the numbers of a run say.
#[derive(Debug, Serialize, ToSchema)]
pub struct Insights {
    /// The run.
    pub run_id: String,
    /// The newest metric row that was looked at: the answer changes when there are more.
    pub last_row: u64,
    /// Environment steps so far.
    pub step: u64,
    /// What is going on, in a few plain sentences.
    pub summary: String,
    /// The most serious first.
    pub insights: Vec<Insight>,
}

/// One thing that the numbers say.
#[derive(Debug, Serialize, ToSchema)]
pub struct Insight {
    /// What was found.
    #[schema(example = "converged")]
    pub id: &'static str,
    /// `error`, `warning`, `good` or `info`.
    #[schema(example = "good")]
    pub severity: &'static str,
    /// What to show: the sentence, or with `plain` the plain one.
    pub text: String,
    /// For people who know the words.
    #[schema(example = "Agent has converged on a stable strategy")]
    pub sentence: String,
    /// The numbers behind it, in a sentence.
    pub detail: String,
    /// For people who do not know the words.
    pub plain: String,
    /// What could be done.
    #[schema(required)]
    pub suggestion: Option<String>,
    /// What it rests on.
    pub evidence: Evidence,
}

/// What an insight rests on: where to look, and what is seen there.
#[derive(Debug, Serialize, ToSchema)]
pub struct Evidence {
    /// The metric whose chart shows it.
    #[schema(example = "rollout/ep_rew_mean")]
    pub metric: String,
    /// Its name for people.
    pub label: String,
    /// From this step on.
    pub from_step: u64,
    /// Up to this step.
    pub to_step: u64,
    /// The numbers, by name.
    pub numbers: BTreeMap<&'static str, f64>,
}

impl Insights {
    /// As it is told; `is_plain` for people who do not know the words.
    pub fn new(said: &insight::Insights, is_plain: bool) -> Self {
        let told = said.insights.iter().map(|insight| Insight {
            id: insight.id.as_str(),
            severity: insight.severity.as_str(),
            text: if is_plain { &insight.plain } else { &insight.sentence }.clone(),
            sentence: insight.sentence.clone(),
            detail: insight.detail.clone(),
            plain: insight.plain.clone(),
            suggestion: insight.suggestion.clone(),
            evidence: Evidence {
                metric: insight.evidence.metric.clone(),
                label: metric_label(&insight.evidence.metric),
                from_step: insight.evidence.from_step,
                to_step: insight.evidence.to_step,
                numbers: insight.evidence.numbers.clone(),
            },
        });
        Self {
            run_id: said.run_id.to_string(),
            last_row: said.last_row,
            step: said.step,
            summary: said.summary.clone(),
            insights: told.collect(),
        }
    }
}

/// How it is told.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct InsightsQuery {
    /// Whether `text` is for people who do not know the words of the trade.
    #[serde(default)]
    #[param(required = false)]
    plain: bool,
}

/// Say what the numbers of a run say: whether it has converged, is stuck, has collapsed, and what
/// could be done, each with its evidence.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/insights",
    tag = "insight",
    params(("id" = String, Path, description = "Name of the run"), InsightsQuery),
    responses(
        (status = 200, body = Insights),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn show_insights(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<InsightsQuery>,
) -> Result<Json<Insights>, ApiError> {
    let id = parse_id(&id)?;
    let said = state.ask(move |lab| lab.insights(&id)).await?;
    Ok(Json(Insights::new(&said, query.plain)))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(show_insights))
}
