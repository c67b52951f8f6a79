//! `/api/wandb/...`: runs of a W&B server in windows of steps, as `/api/analytics/...` has the lab's.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use cartridge_run::analytics::{self, Windows};
use cartridge_run::metrics;
use cartridge_run::retention::{LabConfig, WandbSource};
use cartridge_run::store::SeriesPoints;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::analytics::{AnalyticsIteration, AnalyticsWindows, Kpi, LimitQuery};
use crate::error::{ApiError, Problem};
use crate::extract::{Path, Query};
use crate::upstream::{Answer, Trouble};

/// How good an answer is.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WandbSourceState {
    /// The server that was asked.
    #[schema(example = "https://api.wandb.ai")]
    pub base_url: String,
    /// Whose project it is.
    pub entity: String,
    /// The project.
    pub project: String,
    /// Seconds since the server answered this.
    pub age_seconds: f64,
    /// Whether it should be newer, and is not because of `trouble`.
    pub stale: bool,
    /// What is wrong with the server, where something is.
    #[schema(required)]
    pub trouble: Option<WandbTrouble>,
}

/// What is wrong with a W&B server.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WandbTrouble {
    /// `wandb_away`, `wandb_slow`, `wandb_refused`, `wandb_limited` or `wandb_malformed`.
    pub code: &'static str,
    /// In a sentence.
    pub detail: String,
}

/// The newest runs of a project.
#[derive(Debug, Serialize, ToSchema)]
pub struct WandbRuns {
    /// How good the answer is.
    pub source: WandbSourceState,
    /// Newest first.
    pub runs: Vec<WandbRun>,
}

/// A run on a W&B server.
#[derive(Debug, Serialize, ToSchema)]
pub struct WandbRun {
    /// Its id there.
    pub run_id: String,
    /// Its name for people.
    pub name: String,
    /// As W&B says it: `running`, `finished`, `failed`, `crashed`, `killed`.
    pub state: String,
    /// When it was made (RFC 3339).
    pub created_at: String,
    /// When it was last heard of (RFC 3339).
    #[schema(required)]
    pub heartbeat_at: Option<String>,
    /// Id of the environment, where its configuration says so.
    #[schema(required)]
    pub env_id: Option<String>,
    /// Environment steps so far, or rows where it does not count steps.
    pub step: u64,
    /// Environment steps of a window.
    pub window_steps: u64,
    /// The newest window, which is its iteration; 0 before the first step.
    pub window_id: u64,
    /// What people look at first.
    pub kpis: Vec<Kpi>,
}

/// A run on a W&B server, and all that it has summed up.
#[derive(Debug, Serialize, ToSchema)]
pub struct WandbSummary {
    /// How good the answer is.
    pub source: WandbSourceState,
    /// The run.
    pub run: WandbRun,
    /// The newest value of everything that it logs and that is a number.
    pub summary: BTreeMap<String, f64>,
    /// What it was configured with.
    #[schema(value_type = Object)]
    pub config: Map<String, Value>,
}

/// The windows of a run on a W&B server.
#[derive(Debug, Serialize, ToSchema)]
pub struct WandbWindows {
    /// How good the answer is.
    pub source: WandbSourceState,
    /// The windows.
    #[serde(flatten)]
    pub windows: AnalyticsWindows,
}

/// One window of a run on a W&B server.
#[derive(Debug, Serialize, ToSchema)]
pub struct WandbIteration {
    /// How good the answer is.
    pub source: WandbSourceState,
    /// Whether a metric has more values in it than are asked for, so that its figures are of some.
    pub sampled: bool,
    /// The window.
    #[serde(flatten)]
    pub iteration: AnalyticsIteration,
}

const RUN_FIELDS: &str =
    "name displayName state createdAt heartbeatAt summaryMetrics config historyKeys";

/// Points of each series that windows are made of; W&B thins out evenly.
const POINTS: usize = 2_000;

/// Metrics that are asked for at once.
const METRICS_AT_ONCE: usize = 60;

/// Metrics of a window that are told.
const MOST_METRICS: usize = 600;

/// The server with its settings, for one request.
struct Project<'a> {
    state: &'a AppState,
    source: WandbSource,
    config: LabConfig,
}

/// What W&B tells of a metric, and the row of each of its points.
struct Sampled {
    points: SeriesPoints,
    rows: Vec<i64>,
}

impl Sampled {
    /// Whether there may be more than was told.
    fn is_thin(&self) -> bool {
        self.rows.len() >= POINTS
    }

    /// Keeps what belongs to these steps.
    fn keep(&mut self, from: u64, to: u64) {
        let points = &mut self.points;
        let kept: Vec<usize> =
            (0..points.step.len()).filter(|n| (from..=to).contains(&points.step[*n])).collect();
        points.value = kept.iter().map(|n| points.value[*n]).collect();
        points.t = kept.iter().map(|n| points.t[*n]).collect();
        points.step = kept.iter().map(|n| points.step[*n]).collect();
    }
}

/// The rows between which those of some steps are, as far as points say it.
fn rows_around(series: &[Sampled], from: u64, to: u64) -> (Option<i64>, Option<i64>) {
    let known = || series.iter().flat_map(|it| it.points.step.iter().zip(&it.rows));
    let before = known().filter(|(step, _)| **step < from).map(|(_, row)| *row).max();
    let after = known().filter(|(step, _)| **step > to).map(|(_, row)| *row).min();
    (before, after)
}

/// An answer and how good it is.
struct Found {
    data: Value,
    source: WandbSourceState,
}

impl<'a> Project<'a> {
    async fn open(state: &'a AppState) -> Result<Self, ApiError> {
        // Read each time, so that a change counts without a restart.
        let config = state.ask(|lab| LabConfig::read(lab.data())).await?;
        Ok(Self { state, source: config.wandb.clone(), config })
    }

    async fn ask(
        &self,
        query: String,
        mut variables: Map<String, Value>,
    ) -> Result<Found, ApiError> {
        let (upstream, source) = (Arc::clone(&self.state.upstream), self.source.clone());
        let (entity, project) =
            (source.entity.clone().unwrap_or_default(), source.project.clone().unwrap_or_default());
        variables.insert("entity".to_owned(), json!(entity));
        variables.insert("project".to_owned(), json!(project));
        let variables = Value::Object(variables);
        let asked = tokio::task::spawn_blocking(move || upstream.ask(&source, &query, &variables));
        let answer = asked.await.map_err(|error| ApiError::Internal(error.to_string()))?;
        let Answer { data, age, trouble } = answer.map_err(ApiError::Wandb)?;
        let trouble = trouble.map(|trouble: Trouble| WandbTrouble {
            code: trouble.code(),
            detail: trouble.to_string(),
        });
        let source = WandbSourceState {
            base_url: self.source.base_url.clone(),
            entity,
            project,
            age_seconds: age.as_secs_f64(),
            stale: trouble.is_some(),
            trouble,
        };
        if data["project"].is_null() {
            let detail = format!("there is no project {}/{}", source.entity, source.project);
            return Err(ApiError::NoSuchWandbRun(detail));
        }
        Ok(Found { data, source })
    }

    /// A run by its id there.
    async fn run(&self, id: &str) -> Result<Found, ApiError> {
        let query = format!(
            "query Run($entity: String!, $project: String!, $name: String!) {{ project(name: \
             $project, entityName: $entity) {{ run(name: $name) {{ {RUN_FIELDS} }} }} }}"
        );
        let variables = Map::from_iter([("name".to_owned(), json!(id))]);
        let mut found = self.ask(query, variables).await?;
        found.data = found.data["project"]["run"].take();
        if found.data.is_null() {
            let source = found.source;
            let detail = format!("{}/{} has no run `{id}`", source.entity, source.project);
            return Err(ApiError::NoSuchWandbRun(detail));
        }
        Ok(found)
    }

    /// Series of a run by the names that they have there, between two rows where they are named;
    /// and `source`, or what is worse of their own.
    async fn series(
        &self,
        run: &Value,
        keys: &[String],
        rows: (Option<i64>, Option<i64>),
        mut source: WandbSourceState,
    ) -> Result<(Vec<Sampled>, WandbSourceState), ApiError> {
        let mut all = Vec::new();
        for keys in keys.chunks(METRICS_AT_ONCE) {
            let (series, own) = self.some_series(run, keys, rows).await?;
            all.extend(series);
            if own.age_seconds > source.age_seconds {
                source = own;
            }
        }
        Ok((all, source))
    }

    /// Those of few keys, all from one answer.
    async fn some_series(
        &self,
        run: &Value,
        keys: &[String],
        (min_step, max_step): (Option<i64>, Option<i64>),
    ) -> Result<(Vec<Sampled>, WandbSourceState), ApiError> {
        let known = history_keys(run);
        let has = |key: &str| known.iter().any(|known| known == key);
        let along: Vec<&str> =
            ["global_step", "window_id"].into_iter().filter(|key| has(key)).collect();
        // A row is told only if it has every key of its specification: one for each metric.
        let specs = keys.iter().map(|key| {
            let all: Vec<&str> =
                ["_step", "_timestamp", key].into_iter().chain(along.iter().copied()).collect();
            let mut spec = json!({ "keys": all, "samples": POINTS });
            for (name, row) in [("minStep", min_step), ("maxStep", max_step)] {
                if let Some(row) = row {
                    spec[name] = json!(row);
                }
            }
            spec.to_string()
        });
        let variables = Map::from_iter([
            ("name".to_owned(), run["name"].clone()),
            ("specs".to_owned(), Value::Array(specs.map(Value::String).collect())),
        ]);
        let query = "query RunSampledHistory($entity: String!, $project: String!, $name: String!, \
                     $specs: [JSONString!]!) { project(name: $project, entityName: $entity) { \
                     run(name: $name) { sampledHistory(specs: $specs) } } }";
        let found = self.ask(query.to_owned(), variables).await?;
        let window_steps = self.window_steps(run);
        let told = found.data["project"]["run"]["sampledHistory"].as_array();
        let series = told.into_iter().flatten().zip(keys).map(|(rows, key)| {
            let mut points = SeriesPoints { key: key.clone(), ..SeriesPoints::default() };
            let mut numbers = Vec::new();
            for row in rows.as_array().into_iter().flatten() {
                let Some(value) = row[key.as_str()].as_f64() else { continue };
                points.step.push(step_of(row, window_steps));
                points.t.push(row["_timestamp"].as_f64().unwrap_or(0.0));
                points.value.push(Some(value));
                numbers.push(row["_step"].as_f64().unwrap_or(0.0) as i64);
            }
            Sampled { points, rows: numbers }
        });
        Ok((series.collect(), found.source))
    }

    fn window_steps(&self, run: &Value) -> u64 {
        let config = config_of(run);
        let own = config.get("analytics").and_then(|it| it["window_steps"].as_u64());
        let flat = config.get("analytics.window_steps").and_then(Value::as_u64);
        own.or(flat).unwrap_or(self.config.analytics.window_steps).max(1)
    }

    fn describe(&self, run: &Value) -> WandbRun {
        let summary = summary_of(run);
        let step = summary.get("global_step").or(summary.get("_step")).copied().unwrap_or(0.0);
        let (step, window_steps) = (step.max(0.0) as u64, self.window_steps(run));
        let own = summary.get("window_id").map(|id| id.max(0.0) as u64);
        let config = config_of(run);
        let env_id = ["env_id", "env", "env_name", "gym_id"]
            .iter()
            .find_map(|key| config.get(*key)?.as_str().map(str::to_owned));
        let text = |name: &str| run[name].as_str().unwrap_or_default().to_owned();
        WandbRun {
            run_id: text("name"),
            name: run["displayName"].as_str().map_or_else(|| text("name"), str::to_owned),
            state: text("state"),
            created_at: text("createdAt"),
            heartbeat_at: run["heartbeatAt"].as_str().map(str::to_owned),
            env_id,
            step,
            window_steps,
            window_id: own.unwrap_or_else(|| analytics::newest_window(step, window_steps)),
            kpis: analytics::kpis(|key| {
                let value = metrics::find(key, |name| summary.get(name).copied());
                value.map(|value| (step, value))
            })
            .into_iter()
            .map(Into::into)
            .collect(),
        }
    }
}

/// The names under which a run has logged numbers.
fn history_keys(run: &Value) -> Vec<String> {
    let keys = run["historyKeys"]["keys"].as_object();
    let named = keys.into_iter().flatten().map(|(key, _)| key.clone());
    let mut names: Vec<String> = named.chain(summary_of(run).into_keys()).collect();
    names.sort();
    names.dedup();
    names
}

/// The numbers of a run's summary.
fn summary_of(run: &Value) -> BTreeMap<String, f64> {
    let parsed: Map<String, Value> = parsed(&run["summaryMetrics"]);
    parsed.into_iter().filter_map(|(key, value)| Some((key, value.as_f64()?))).collect()
}

/// A run's configuration: W&B writes every value with a description.
fn config_of(run: &Value) -> Map<String, Value> {
    let bare = |value: Value| match value {
        Value::Object(mut object) if object.contains_key("value") => {
            object.remove("value").unwrap_or_default()
        }
        value => value,
    };
    let config: Map<String, Value> = parsed(&run["config"]);
    config.into_iter().filter(|(key, _)| key != "_wandb").map(|(key, it)| (key, bare(it))).collect()
}

/// An object that is written as JSON in a text.
fn parsed(value: &Value) -> Map<String, Value> {
    value.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// The environment step of a row, in the window that the row says it belongs to.
fn step_of(row: &Value, window_steps: u64) -> u64 {
    let number = |key: &str| row[key].as_f64().map(|number| number.max(0.0) as u64);
    let step = number("global_step").or_else(|| number("_step")).unwrap_or(0);
    match number("window_id").filter(|id| *id > 0) {
        Some(id) => {
            let (from, to) = analytics::steps_of(id, window_steps);
            step.clamp(from, to)
        }
        None => step,
    }
}

/// List the newest runs of the W&B project that `lab.json` names, with what people look at first.
#[utoipa::path(
    get,
    path = "/api/wandb/runs",
    tag = "insight",
    params(LimitQuery),
    responses(
        (status = 200, body = WandbRuns),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem, description = "The lab was not told which project, or has no key"),
        (status = 502, body = Problem, description = "The W&B server failed, and nothing is known from before"),
        (status = 503, body = Problem, description = "The W&B server was asked enough"),
        (status = 504, body = Problem, description = "The W&B server took too long"),
    ),
)]
async fn list_wandb_runs(
    State(state): State<AppState>,
    Query(query): Query<LimitQuery>,
) -> Result<Json<WandbRuns>, ApiError> {
    let project = Project::open(&state).await?;
    let asked = format!(
        "query Runs($entity: String!, $project: String!, $perPage: Int) {{ project(name: $project, \
         entityName: $entity) {{ runs(first: $perPage, order: \"-created_at\") {{ edges {{ node {{ \
         {RUN_FIELDS} }} }} }} }} }}"
    );
    let limit = query.limit.clamp(1, 100);
    let variables = Map::from_iter([("perPage".to_owned(), json!(limit))]);
    let found = project.ask(asked, variables).await?;
    let edges = found.data["project"]["runs"]["edges"].as_array();
    let nodes = edges.into_iter().flatten().map(|edge| &edge["node"]).take(limit);
    let runs = nodes.map(|run| project.describe(run)).collect();
    Ok(Json(WandbRuns { source: found.source, runs }))
}

/// Show a run of the W&B project with its summary and its configuration.
#[utoipa::path(
    get,
    path = "/api/wandb/runs/{id}/summary",
    tag = "insight",
    params(("id" = String, Path, description = "Id of the run at W&B")),
    responses(
        (status = 200, body = WandbSummary),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
        (status = 502, body = Problem),
        (status = 503, body = Problem),
        (status = 504, body = Problem),
    ),
)]
async fn show_wandb_summary(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<WandbSummary>, ApiError> {
    let project = Project::open(&state).await?;
    let Found { data, source } = project.run(&id).await?;
    let run = project.describe(&data);
    Ok(Json(WandbSummary { source, run, summary: summary_of(&data), config: config_of(&data) }))
}

/// The windows of a run, of what people look at first.
async fn windows_of(state: &AppState, id: &str) -> Result<(WandbSourceState, Windows), ApiError> {
    let project = Project::open(state).await?;
    let Found { data: run, source } = project.run(id).await?;
    let known = history_keys(&run);
    let names = metrics::stored_names(&analytics::KEYS);
    let wanted: Vec<String> = names
        .iter()
        .filter(|name| known.iter().any(|it| it == *name))
        .map(|it| (*it).to_owned())
        .collect();
    let (series, source) = project.series(&run, &wanted, (None, None), source).await?;
    let is_sampled = series.iter().any(Sampled::is_thin);
    let points: Vec<SeriesPoints> = series.into_iter().map(|it| it.points).collect();
    let points = metrics::rename_series(&points, &analytics::KEYS);
    let mut windows = Windows::new(id.to_owned(), project.window_steps(&run), &points);
    windows.is_sampled = is_sampled;
    Ok((source, windows))
}

/// Show all windows of a run of the W&B project, oldest first; at most the newest 5,000.
#[utoipa::path(
    get,
    path = "/api/wandb/runs/{id}/history",
    tag = "insight",
    params(("id" = String, Path, description = "Id of the run at W&B")),
    responses(
        (status = 200, body = WandbWindows),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
        (status = 502, body = Problem),
        (status = 503, body = Problem),
        (status = 504, body = Problem),
    ),
)]
async fn show_wandb_history(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<WandbWindows>, ApiError> {
    let (source, windows) = windows_of(&state, &id).await?;
    Ok(Json(WandbWindows { source, windows: windows.into() }))
}

/// List the newest windows of a run of the W&B project, oldest first.
#[utoipa::path(
    get,
    path = "/api/wandb/runs/{id}/iterations",
    tag = "insight",
    params(("id" = String, Path, description = "Id of the run at W&B"), LimitQuery),
    responses(
        (status = 200, body = WandbWindows),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
        (status = 502, body = Problem),
        (status = 503, body = Problem),
        (status = 504, body = Problem),
    ),
)]
async fn list_wandb_iterations(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<LimitQuery>,
) -> Result<Json<WandbWindows>, ApiError> {
    let (source, mut windows) = windows_of(&state, &id).await?;
    windows.keep_newest(query.limit.clamp(1, 100));
    Ok(Json(WandbWindows { source, windows: windows.into() }))
}

/// Show one window of a run of the W&B project with all that was measured in it.
#[utoipa::path(
    get,
    path = "/api/wandb/runs/{id}/iterations/{iteration}",
    tag = "insight",
    params(
        ("id" = String, Path, description = "Id of the run at W&B"),
        ("iteration" = u64, Path, description = "Number of the window, from 1"),
    ),
    responses(
        (status = 200, body = WandbIteration),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
        (status = 502, body = Problem),
        (status = 503, body = Problem),
        (status = 504, body = Problem),
    ),
)]
async fn show_wandb_iteration(
    State(state): State<AppState>,
    Path((id, iteration)): Path<(String, u64)>,
) -> Result<Json<WandbIteration>, ApiError> {
    let project = Project::open(&state).await?;
    let Found { data: run, source } = project.run(&id).await?;
    let is_metric =
        |key: &String| !key.starts_with('_') && key != "global_step" && key != "window_id";
    let keys: Vec<String> =
        history_keys(&run).into_iter().filter(is_metric).take(MOST_METRICS).collect();
    let (mut series, mut source) = project.series(&run, &keys, (None, None), source).await?;
    let window_steps = project.window_steps(&run);
    let (from, to) = analytics::steps_of(iteration, window_steps);
    let last_step = series.iter().filter_map(|it| it.points.step.last().copied()).max();
    let mut sampled = false;
    // Of a long run W&B tells some points, which say where to look for all of this window's.
    if series.iter().any(Sampled::is_thin) {
        let rows = rows_around(&series, from, to);
        (series, source) = project.series(&run, &keys, rows, source).await?;
        sampled = series.iter().any(Sampled::is_thin);
    }
    series.iter_mut().for_each(|it| it.keep(from, to));
    let series: Vec<SeriesPoints> = series.into_iter().map(|it| it.points).collect();
    let last_step = last_step.unwrap_or(0);
    let iteration = analytics::Iteration::new(&id, iteration, window_steps, last_step, &series)?;
    Ok(Json(WandbIteration { source, sampled, iteration: iteration.into() }))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list_wandb_runs))
        .routes(routes!(show_wandb_summary))
        .routes(routes!(show_wandb_history))
        .routes(routes!(list_wandb_iterations))
        .routes(routes!(show_wandb_iteration))
}
