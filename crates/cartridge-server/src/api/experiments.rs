//! `/api/experiments` and `/api/groups`: templates of runs, and runs that were made together.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cartridge_run::aggregate;
use cartridge_run::experiment::{self, NewExperiment, Plan};
use cartridge_run::lab::{ExperimentView, RunView};
use cartridge_run::launch::Terms;
use cartridge_run::store::index::ExperimentCursor;
use cartridge_run::store::{self, ExperimentId, GroupId};
use cartridge_run::{Lab, RunError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::runs::{NewSeeds, PlannedRun, Run};
use crate::error::{ApiError, Problem};
use crate::extract::{Body, Path, Query, RequestKey};
use crate::time::rfc3339;

/// A template of runs, which never changes.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Experiment {
    /// Its name, made by the lab.
    #[schema(example = "e-7f3k2m")]
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Id of the environment.
    pub env_id: String,
    /// The algorithm.
    pub algorithm: String,
    /// The preset that it was laid over.
    #[schema(required)]
    pub preset: Option<String>,
    /// SHA-256 of the configuration: two with the same hash train the same.
    pub sha256: String,
    /// The settings that runs of it may change.
    pub overrides_whitelist: Vec<String>,
    /// When it was made (RFC 3339).
    pub created_at: String,
    /// Who made it.
    pub created_by: String,
    /// The experiment that it was cloned from.
    #[schema(required)]
    pub cloned_from: Option<String>,
    /// Whether it was put away.
    pub archived: bool,
    /// How many runs were made from it and are still there.
    pub n_runs: u64,
}

impl From<ExperimentView> for Experiment {
    fn from(view: ExperimentView) -> Self {
        let ExperimentView { experiment, is_archived, n_runs } = view;
        let whitelist = experiment.config["overrides_whitelist"].clone();
        Self {
            env_id: experiment.env_id().to_owned(),
            algorithm: experiment.algo().to_owned(),
            id: experiment.id.to_string(),
            name: experiment.name,
            description: experiment.description,
            preset: experiment.preset,
            sha256: experiment.sha256,
            overrides_whitelist: serde_json::from_value(whitelist).unwrap_or_default(),
            created_at: rfc3339(experiment.created_at),
            created_by: experiment.created_by,
            cloned_from: experiment.cloned_from.map(Into::into),
            archived: is_archived,
            n_runs,
        }
    }
}

/// A template with its configuration and its runs.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExperimentDetail {
    /// The template.
    #[serde(flatten)]
    pub experiment: Experiment,
    /// The configuration as it was given.
    #[schema(value_type = Object)]
    pub given: Map<String, Value>,
    /// What that came to: every setting.
    #[schema(value_type = Object)]
    pub config: Value,
    /// Its newest runs, at most 100.
    pub runs: Vec<Run>,
}

/// A page of experiments.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExperimentPage {
    /// The experiments, newest first.
    pub experiments: Vec<Experiment>,
    /// Ask with this as `after` for the next page; none after the last.
    #[schema(required)]
    pub next: Option<String>,
}

/// Which page of experiments.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct PageQuery {
    /// Only with this in their name, id, environment or hash; case does not matter.
    #[serde(alias = "query")]
    q: Option<String>,
    /// Whether those that were put away are wanted, and not the others.
    #[serde(default)]
    #[param(required = false)]
    archived: bool,
    /// How many, at most 500.
    #[serde(default = "default_page")]
    #[param(required = false, minimum = 1, maximum = 500)]
    limit: usize,
    /// Where the page begins: `next` of the page before.
    after: Option<String>,
}

fn default_page() -> usize {
    50
}

/// An experiment to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTemplate {
    /// Its name for people.
    #[schema(min_length = 1, max_length = 200, example = "Lander, a higher learning rate")]
    pub name: String,
    /// What it is for.
    #[serde(default)]
    #[schema(max_length = 10000)]
    pub description: String,
    /// Settings that go well together, laid over the defaults.
    #[schema(example = "fast")]
    pub preset: Option<String>,
    /// The configuration, as the schema `experiment` has it. What is left out is as by default;
    /// aliases and full paths as keys are understood.
    #[schema(value_type = Object, example = json!({ "env_id": "LunarLander-v3", "trainer": { "learning_rate": 0.0005 } }))]
    pub config: Map<String, Value>,
    /// Whether nothing is made, and the answer says what it would come to; it then needs no name.
    #[serde(default)]
    pub dry_run: bool,
    /// Only with `dry_run`: show the runs of these seeds.
    pub seeds: Option<NewSeeds>,
}

/// What an experiment would come to.
#[derive(Debug, Serialize, ToSchema)]
pub struct TemplatePreview {
    /// Every setting.
    #[schema(value_type = Object)]
    pub config: Value,
    /// Its SHA-256.
    pub sha256: String,
    /// Experiments that have the same.
    pub same_as: Vec<String>,
    /// The runs that would be made of it, with what differs from the defaults.
    pub runs: Vec<PlannedRun>,
}

/// The answer to an experiment that was asked for.
#[derive(Debug)]
enum MadeTemplate {
    Experiment(Box<Experiment>),
    Preview(Box<TemplatePreview>),
}

impl IntoResponse for MadeTemplate {
    fn into_response(self) -> Response {
        match self {
            Self::Experiment(experiment) => (StatusCode::CREATED, Json(experiment)).into_response(),
            Self::Preview(preview) => Json(preview).into_response(),
        }
    }
}

/// What a clone has otherwise than its original.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CloneTemplate {
    /// Its name for people; without it that of the original with "(copy)".
    #[serde(default)]
    pub name: String,
    /// What it is for; without it that of the original.
    #[serde(default)]
    pub description: String,
    /// Another preset.
    pub preset: Option<String>,
    /// Settings that are changed, as in `config` of a new experiment.
    #[serde(default)]
    #[schema(value_type = Object, example = json!({ "trainer": { "gamma": 0.98 } }))]
    pub changes: Map<String, Value>,
}

/// Points problems with a configuration at the field of the body that holds it.
pub(crate) fn at_field(error: ApiError, below: &str) -> ApiError {
    let errors = match error {
        ApiError::Run(RunError::Config(error)) => vec![error],
        ApiError::Run(RunError::Configs(errors)) => errors,
        other => return other,
    };
    let problem = |error: &cartridge_run::ConfigError| {
        let pointer = error.pointer();
        let is_beside = ["/name", "/description", "/preset", "/seeds"].contains(&pointer.as_str());
        let pointer = if is_beside { pointer } else { format!("{below}{pointer}") };
        (pointer, error.to_string())
    };
    ApiError::Fields(errors.iter().map(problem).collect())
}

/// Make an experiment. It never changes: whoever wants another clones it. The same configuration
/// may be kept under several names; the hash shows it.
#[utoipa::path(
    post,
    path = "/api/experiments",
    tag = "experiments",
    request_body = NewTemplate,
    responses(
        (status = 200, description = "What it would come to, with `dry_run`", body = TemplatePreview),
        (status = 201, body = Experiment),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn create_experiment(
    State(state): State<AppState>,
    request: RequestKey,
    Body(new): Body<NewTemplate>,
) -> Result<MadeTemplate, ApiError> {
    let NewTemplate { name, description, preset, config, dry_run, seeds } = new;
    if seeds.is_some() && !dry_run {
        return Err(ApiError::Field {
            pointer: "/seeds".to_owned(),
            detail: "an experiment has no seeds of runs: give them to its runs".to_owned(),
        });
    }
    let new = NewExperiment { name, description, preset, config };
    let made = state
        .ask(move |lab| match dry_run {
            true => {
                request.changes_nothing();
                Ok(MadeTemplate::Preview(Box::new(preview(lab, &new, seeds.as_ref())?)))
            }
            false => {
                let made = lab.create_experiment(new, request.by())?;
                Ok(MadeTemplate::Experiment(Box::new(made.into())))
            }
        })
        .await;
    made.map_err(|error| at_field(error, "/config"))
}

/// What an experiment would come to. Nothing is made.
fn preview(
    lab: &Lab,
    new: &NewExperiment,
    seeds: Option<&NewSeeds>,
) -> cartridge_run::Result<TemplatePreview> {
    const MOST_SAME: usize = 20;
    let config = experiment::look(new)?;
    let seeds = seeds.map(NewSeeds::list).transpose()?.unwrap_or_default();
    let runs = lab.preview_runs(&Plan::of_config(&config, &seeds)?, &Terms::default())?;
    let config = serde_json::to_value(&config).expect("a configuration is plain data");
    let sha256 = experiment::content_hash(&config);
    let same = lab.experiments(Some(&sha256), false, MOST_SAME, None)?;
    Ok(TemplatePreview {
        config,
        same_as: same.into_iter().map(|view| view.experiment.id.to_string()).collect(),
        sha256,
        runs: runs.into_iter().map(Into::into).collect(),
    })
}

/// List experiments, newest first.
#[utoipa::path(
    get,
    path = "/api/experiments",
    tag = "experiments",
    params(PageQuery),
    responses((status = 200, body = ExperimentPage), (status = 400, body = Problem), (status = 401, body = Problem)),
)]
async fn list_experiments(
    State(state): State<AppState>,
    Query(query): Query<PageQuery>,
) -> Result<Json<ExperimentPage>, ApiError> {
    let limit = query.limit.clamp(1, 500);
    let after = query.after.as_deref().map(parse_cursor).transpose()?;
    let text = query.q.filter(|text| !text.is_empty());
    let ask = move |lab: &cartridge_run::Lab| {
        // One more than asked for tells whether there is a next page.
        lab.experiments(text.as_deref(), query.archived, limit + 1, after.as_ref())
    };
    let mut views = state.ask(ask).await?;
    let more = views.len() > limit;
    views.truncate(limit);
    let next = views.last().filter(|_| more).map(|ExperimentView { experiment, .. }| {
        format!("{:016x}{}", experiment.created_at.to_bits(), experiment.id)
    });
    Ok(Json(ExperimentPage { experiments: views.into_iter().map(Into::into).collect(), next }))
}

fn parse_cursor(text: &str) -> Result<ExperimentCursor, ApiError> {
    let parse = || {
        let created_at = f64::from_bits(u64::from_str_radix(text.get(..16)?, 16).ok()?);
        Some(ExperimentCursor { created_at, id: text.get(16..)?.parse().ok()? })
    };
    parse().ok_or_else(|| ApiError::Malformed("`after` is not one that this lab gave".to_owned()))
}

/// Show an experiment with its configuration and its runs.
#[utoipa::path(
    get,
    path = "/api/experiments/{id}",
    tag = "experiments",
    params(("id" = String, Path, description = "Name of the experiment")),
    responses((status = 200, body = ExperimentDetail), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn show_experiment(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<ExperimentDetail>, ApiError> {
    const MOST_RUNS: usize = 100;
    let id = parse_id(&id)?;
    let ask = move |lab: &cartridge_run::Lab| {
        Ok((lab.experiment(&id)?, lab.runs_of_experiment(&id, MOST_RUNS)?))
    };
    let (view, runs) = state.ask(ask).await?;
    let store::Experiment { given, config, .. } = view.experiment.clone();
    let runs = runs.into_iter().map(Into::into).collect();
    Ok(Json(ExperimentDetail { experiment: view.into(), given, config, runs }))
}

/// Make an experiment that differs from another.
#[utoipa::path(
    post,
    path = "/api/experiments/{id}/clone",
    tag = "experiments",
    params(("id" = String, Path, description = "Name of the experiment")),
    request_body = CloneTemplate,
    responses(
        (status = 201, body = Experiment),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn clone_experiment(
    State(state): State<AppState>,
    Path(id): Path<String>,
    request: RequestKey,
    Body(clone): Body<CloneTemplate>,
) -> Result<(StatusCode, Json<Experiment>), ApiError> {
    let id = parse_id(&id)?;
    let CloneTemplate { name, description, preset, changes } = clone;
    let new = NewExperiment { name, description, preset, config: changes };
    let made = state.ask(move |lab| lab.clone_experiment(&id, new, request.by())).await;
    let made = made.map_err(|error| at_field(error, "/changes"))?;
    Ok((StatusCode::CREATED, Json(made.into())))
}

/// Put an experiment away: it is listed only when asked for. Its runs stay as they are.
#[utoipa::path(
    post,
    path = "/api/experiments/{id}/archive",
    tag = "experiments",
    params(("id" = String, Path, description = "Name of the experiment")),
    responses((status = 200, body = Experiment), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn archive_experiment(
    State(state): State<AppState>,
    Path(id): Path<String>,
    request: RequestKey,
) -> Result<Json<Experiment>, ApiError> {
    let id = parse_id(&id)?;
    let view = state.ask(move |lab| lab.archive_experiment(&id, true, request.by())).await?;
    Ok(Json(view.into()))
}

/// Bring an experiment back from the archive.
#[utoipa::path(
    post,
    path = "/api/experiments/{id}/unarchive",
    tag = "experiments",
    params(("id" = String, Path, description = "Name of the experiment")),
    responses((status = 200, body = Experiment), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn unarchive_experiment(
    State(state): State<AppState>,
    Path(id): Path<String>,
    request: RequestKey,
) -> Result<Json<Experiment>, ApiError> {
    let id = parse_id(&id)?;
    let view = state.ask(move |lab| lab.archive_experiment(&id, false, request.by())).await?;
    Ok(Json(view.into()))
}

/// Runs that were made together: several seeds of one configuration.
#[derive(Debug, Serialize, ToSchema)]
pub struct Group {
    /// Their common name.
    #[schema(example = "g-7f3k2m")]
    pub id: String,
    /// The experiment that they are of.
    #[schema(required)]
    pub experiment_id: Option<String>,
    /// Id of the environment.
    pub env_id: String,
    /// The runs, in the order in which they were made.
    pub runs: Vec<Run>,
    /// What the last evaluations of those that have one come to.
    #[schema(required)]
    pub aggregate: Option<Aggregate>,
}

/// What the figures of several runs come to.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct Aggregate {
    /// How many runs have a figure.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation; 0 for a single one.
    pub std: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// The mean without the lowest and the highest quarter.
    pub iqm: f64,
    /// The 95% interval of the mean, by bootstrap; none for a single figure.
    #[schema(required)]
    pub mean_ci95: Option<[f64; 2]>,
    /// The 95% interval of the IQM, by bootstrap; none for a single figure.
    #[schema(required)]
    pub iqm_ci95: Option<[f64; 2]>,
}

impl From<aggregate::Aggregate> for Aggregate {
    fn from(aggregate: aggregate::Aggregate) -> Self {
        let aggregate::Aggregate { n, mean, std, min, max, iqm, mean_ci95, iqm_ci95 } = aggregate;
        Self { n, mean, std, min, max, iqm, mean_ci95, iqm_ci95 }
    }
}

/// Show the runs that were made together, and what they come to.
#[utoipa::path(
    get,
    path = "/api/groups/{id}",
    tag = "experiments",
    params(("id" = String, Path, description = "Name of the group")),
    responses((status = 200, body = Group), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn show_group(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<Group>, ApiError> {
    let group: GroupId = id.parse().map_err(RunError::Store)?;
    let view = state.ask(move |lab| lab.group(&group)).await?;
    let first = view.runs.first().map(|RunView { run, .. }| run.manifest.clone());
    Ok(Json(Group {
        id,
        experiment_id: first.as_ref().and_then(|manifest| manifest.experiment_id.clone()),
        env_id: first.map_or_else(String::new, |manifest| manifest.env_id),
        runs: view.runs.into_iter().map(Into::into).collect(),
        aggregate: view.aggregate.map(Into::into),
    }))
}

/// An experiment's name from the address.
fn parse_id(text: &str) -> Result<ExperimentId, ApiError> {
    Ok(text.parse::<ExperimentId>().map_err(RunError::from)?)
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list_experiments, create_experiment))
        .routes(routes!(show_experiment))
        .routes(routes!(clone_experiment))
        .routes(routes!(archive_experiment))
        .routes(routes!(unarchive_experiment))
        .routes(routes!(show_group))
}
