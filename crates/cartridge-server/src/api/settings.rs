//! `/api/settings`: what the lab keeps, what the machine costs, and where other tools are.

use axum::Json;
use axum::extract::State;
use cartridge_run::RunError;
use cartridge_run::retention::LabConfig;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::artifacts::Limits;
use crate::error::{ApiError, Problem};
use crate::extract::{Body, RequestKey};

/// What `lab.json` in the data folder says, as far as it concerns who looks at the lab.
#[derive(Debug, Serialize, ToSchema)]
pub struct Settings {
    /// What is kept.
    pub retention: Limits,
    /// When alerts fire.
    pub alerts: AlertLimits,
    /// What the machine costs.
    pub prices: Prices,
    /// Where other tools show what belongs to a run or a request.
    pub links: LinkTemplates,
}

/// When alerts fire.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlertLimits {
    /// Milliseconds that 19 in 20 answers must stay below, over a minute; none for no alert.
    #[schema(required)]
    pub api_p95_ms: Option<f64>,
    /// Bytes that must be free for the data folder; none for no alert.
    #[schema(required)]
    pub disk_free_bytes: Option<u64>,
    /// Whether another program is told; which one is for the file alone.
    pub webhook: bool,
}

/// What the machine costs, in whatever currency.
#[derive(Debug, Serialize, ToSchema)]
pub struct Prices {
    /// The currency, for people.
    pub currency: String,
    /// An hour of a CPU core.
    pub cpu_core_hour: f64,
    /// An hour of a gibibyte of memory.
    pub memory_gib_hour: f64,
    /// An hour of a GPU.
    pub gpu_hour: f64,
}

/// Addresses in which `{run_id}` and `{request_id}` stand for what is asked for.
#[derive(Debug, Serialize, ToSchema)]
pub struct LinkTemplates {
    /// Charts.
    #[schema(required, example = "https://grafana.example/d/lab?var-run={run_id}")]
    pub grafana: Option<String>,
    /// Traces.
    #[schema(required)]
    pub tempo: Option<String>,
    /// Traces.
    #[schema(required)]
    pub jaeger: Option<String>,
    /// Logs.
    #[schema(required)]
    pub loki: Option<String>,
}

impl From<LabConfig> for Settings {
    fn from(config: LabConfig) -> Self {
        let LabConfig { retention, alerts, prices, links, .. } = config;
        Self {
            retention: retention.into(),
            alerts: AlertLimits {
                api_p95_ms: alerts.api_p95_ms,
                disk_free_bytes: alerts.disk_free_bytes,
                webhook: alerts.webhook.url.is_some(),
            },
            prices: Prices {
                currency: prices.currency,
                cpu_core_hour: prices.cpu_core_hour,
                memory_gib_hour: prices.memory_gib_hour,
                gpu_hour: prices.gpu_hour,
            },
            links: LinkTemplates {
                grafana: links.grafana,
                tempo: links.tempo,
                jaeger: links.jaeger,
                loki: links.loki,
            },
        }
    }
}

/// What is to be changed, by section and name. What is left out stays; null means no limit, or no
/// link.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SettingsChange {
    /// What is kept.
    #[schema(value_type = Object, example = json!({ "keep_videos": 3, "max_bytes": null }))]
    pub retention: Map<String, Value>,
    /// When alerts fire.
    #[schema(value_type = Object, example = json!({ "api_p95_ms": 500 }))]
    pub alerts: Map<String, Value>,
    /// What the machine costs.
    #[schema(value_type = Object, example = json!({ "currency": "EUR", "cpu_core_hour": 0.04 }))]
    pub prices: Map<String, Value>,
    /// Where other tools are.
    #[schema(value_type = Object, example = json!({ "grafana": "https://grafana.example/d/lab?var-run={run_id}" }))]
    pub links: Map<String, Value>,
}

impl SettingsChange {
    fn by_section(self) -> Map<String, Value> {
        let Self { retention, alerts, prices, links } = self;
        [("retention", retention), ("alerts", alerts), ("prices", prices), ("links", links)]
            .into_iter()
            .filter(|(_, settings)| !settings.is_empty())
            .map(|(section, settings)| (section.to_owned(), settings.into()))
            .collect()
    }
}

/// Show the lab's settings.
#[utoipa::path(
    get,
    path = "/api/settings",
    tag = "lab",
    responses((status = 200, body = Settings), (status = 401, body = Problem)),
)]
async fn show_settings(State(state): State<AppState>) -> Result<Json<Settings>, ApiError> {
    Ok(Json(state.ask(|lab| lab.settings()).await?.into()))
}

/// Change some of the lab's settings. They hold at once; whom the lab answers and who is told of
/// alerts is for the file alone.
#[utoipa::path(
    put,
    path = "/api/settings",
    tag = "lab",
    request_body = SettingsChange,
    responses(
        (status = 200, body = Settings),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn change_settings(
    State(state): State<AppState>,
    request: RequestKey,
    Body(change): Body<SettingsChange>,
) -> Result<Json<Settings>, ApiError> {
    let changes = change.by_section();
    let changed = state.ask(move |lab| lab.change_settings(&changes, request.by())).await;
    let changed = changed.map_err(|error| match error {
        ApiError::Run(RunError::Config(config)) => {
            ApiError::Field { pointer: config.pointer(), detail: config.to_string() }
        }
        other => other,
    })?;
    Ok(Json(changed.into()))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(show_settings, change_settings))
}
