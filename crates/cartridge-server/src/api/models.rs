//! `/api/models`: policies that are kept under a name, version by version.
//!
//! A version is a copy of a checkpoint, or of an ONNX file that a run has made, so it stays when
//! the run goes. No route takes a path: files from elsewhere are added on the command line.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cartridge_run::model::{ONNX, WEIGHTS};
use cartridge_run::store::{self, ArtifactId, ModelName};
use cartridge_run::{ConfigError, RunError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::artifacts::serve_named;
use crate::api::runs::parse_id;
use crate::error::{ApiError, Problem};
use crate::extract::{Body, Path, Query, RequestKey};
use crate::time::rfc3339;

/// One version of a model, which never changes.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelVersion {
    /// Its number, from 1.
    pub version: u32,
    /// Who it is as a player, for matches and evaluations.
    #[schema(example = "model:lander@3")]
    pub player: String,
    /// Its other names.
    pub aliases: Vec<String>,
    /// The run that it was learnt in; none where it came as a file. The run may be gone.
    #[schema(required)]
    pub run_id: Option<String>,
    /// Folder of the checkpoint, or the artifact of the run, that it is a copy of.
    #[schema(required)]
    pub checkpoint: Option<String>,
    /// Its environment steps; 0 where nobody knows.
    pub step: u64,
    /// SHA-256 of its weights, or of its file where the weights are not ours.
    pub sha256: String,
    /// The algorithm that it was learnt by; empty where nobody knows.
    pub algorithm: String,
    /// Options of its environment.
    #[schema(value_type = Object)]
    pub env: Map<String, Value>,
    /// The experiment that its run is of.
    #[schema(required)]
    pub experiment_id: Option<String>,
    /// SHA-256 of the configuration of its run.
    #[schema(required)]
    pub config_sha256: Option<String>,
    /// The checkpoints that its run was forked from, the nearest first.
    pub parents: Vec<ModelParent>,
    /// What there is to say of it.
    pub notes: String,
    /// When it was made (RFC 3339).
    pub created_at: String,
    /// Who made it.
    pub created_by: String,
    /// Its files.
    pub files: Vec<ModelFile>,
}

/// A checkpoint that a run was forked from.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelParent {
    /// The run.
    pub run_id: String,
    /// Folder of the checkpoint.
    pub checkpoint: String,
    /// Its environment steps.
    pub step: u64,
}

/// A file of a version.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelFile {
    /// `policy.onnx` or `weights.safetensors`.
    pub name: String,
    /// Its size.
    pub size_bytes: u64,
    /// Its SHA-256, which is its `ETag` too.
    pub sha256: String,
    /// Where it is downloaded.
    #[schema(example = "/api/models/lander/3/policy.onnx")]
    pub href: String,
}

/// A named model.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// Id of the environment or game that it acts in.
    pub env_id: String,
    /// When its first version was made (RFC 3339).
    pub created_at: String,
    /// Who made it.
    pub created_by: String,
    /// Whether it was put away.
    pub archived: bool,
    /// Versions by their other names: `latest` is always the newest.
    pub aliases: BTreeMap<String, u32>,
    /// How many versions it has.
    pub n_versions: usize,
    /// The version that is meant where nobody says which: the best, or else the newest.
    pub usual: ModelVersion,
}

/// A model with all its versions.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelDetail {
    /// The model.
    #[serde(flatten)]
    pub model: Model,
    /// Its versions, newest first.
    pub versions: Vec<ModelVersion>,
}

impl ModelVersion {
    fn new(model: &store::Model, version: &store::ModelVersion) -> Self {
        let store::ModelVersion { version: number, .. } = version;
        let parent = |parent: &store::Parent| ModelParent {
            run_id: parent.run.to_string(),
            checkpoint: parent.checkpoint.clone(),
            step: parent.step,
        };
        let file = |file: &store::ModelFile| ModelFile {
            name: file.file.clone(),
            size_bytes: file.bytes,
            sha256: file.sha256.clone(),
            href: format!("/api/models/{}/{number}/{}", model.name, file.file),
        };
        Self {
            version: *number,
            player: format!("model:{}@{number}", model.name),
            aliases: model.aliases_of(*number).map(str::to_owned).collect(),
            run_id: version.run.as_ref().map(ToString::to_string),
            checkpoint: version.checkpoint.clone(),
            step: version.step,
            sha256: version.sha256.clone(),
            algorithm: version.algo.clone(),
            env: version.env.clone(),
            experiment_id: version.experiment_id.clone(),
            config_sha256: version.config_sha256.clone(),
            parents: version.parents.iter().map(parent).collect(),
            notes: version.notes.clone(),
            created_at: rfc3339(version.created_at),
            created_by: version.created_by.clone(),
            files: version.files.iter().map(file).collect(),
        }
    }
}

impl Model {
    fn new(model: &store::Model) -> Result<Self, RunError> {
        Ok(Self {
            name: model.name.to_string(),
            env_id: model.env_id.clone(),
            created_at: rfc3339(model.created_at),
            created_by: model.created_by.clone(),
            archived: model.archived,
            aliases: model.aliases.clone(),
            n_versions: model.versions.len(),
            usual: ModelVersion::new(model, model.version(None)?),
        })
    }
}

impl ModelDetail {
    fn new(model: &store::Model) -> Result<Self, RunError> {
        let versions = model.versions.iter().rev();
        Ok(Self {
            model: Model::new(model)?,
            versions: versions.map(|version| ModelVersion::new(model, version)).collect(),
        })
    }
}

/// A page of models.
#[derive(Debug, Serialize, ToSchema)]
pub struct ModelPage {
    /// The models, by name.
    pub models: Vec<Model>,
    /// Ask with this as `after` for the next page; none after the last.
    #[schema(required)]
    pub next: Option<String>,
}

/// Which page of models.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct ModelsQuery {
    /// Only those of this environment or game.
    env: Option<String>,
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
    100
}

/// A version to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewModel {
    /// Name of the model, which is made with its first version: small letters, digits, `-`, `_`.
    #[schema(min_length = 1, max_length = 64, pattern = "^[a-z0-9][a-z0-9_-]*$")]
    pub name: String,
    /// The run whose policy is kept.
    #[schema(example = "r-7f3k2m")]
    pub run_id: String,
    /// Which checkpoint: `best`, `latest`, a folder such as `step_000200000`, or a number of steps;
    /// without it the best, or else the newest.
    pub checkpoint: Option<String>,
    /// The steps of the checkpoint, instead of `checkpoint`.
    pub step: Option<u64>,
    /// An ONNX file that the run has made, instead of a checkpoint.
    pub artifact_id: Option<String>,
    /// What there is to say of it.
    #[serde(default)]
    #[schema(max_length = 10000)]
    pub notes: String,
}

/// Where an alias is to point.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAlias {
    /// `best`, or a word of your own; `latest` moves by itself.
    #[schema(min_length = 1, max_length = 64, pattern = "^[a-z0-9][a-z0-9_-]*$")]
    pub alias: String,
    /// The version.
    #[schema(minimum = 1)]
    pub version: u32,
}

/// List named models, by name.
#[utoipa::path(
    get,
    path = "/api/models",
    tag = "models",
    params(ModelsQuery),
    responses((status = 200, body = ModelPage), (status = 400, body = Problem), (status = 401, body = Problem)),
)]
async fn list_models(
    State(state): State<AppState>,
    Query(query): Query<ModelsQuery>,
) -> Result<Json<ModelPage>, ApiError> {
    let limit = query.limit.clamp(1, 500);
    let found = state.ask(move |lab| lab.models(query.env.as_deref(), query.archived)).await?;
    let is_after = |model: &store::Model| {
        query.after.as_deref().is_none_or(|after| model.name.as_str() > after)
    };
    let mut page: Vec<store::Model> = found.into_iter().filter(is_after).take(limit + 1).collect();
    let more = page.len() > limit;
    page.truncate(limit);
    let next = page.last().filter(|_| more).map(|model| model.name.to_string());
    let models = page.iter().map(Model::new).collect::<Result<_, _>>()?;
    Ok(Json(ModelPage { models, next }))
}

/// Keep a checkpoint of a run, or an ONNX file that it has made, as the next version of a model.
/// It is copied, so neither retention nor deleting the run takes it away.
#[utoipa::path(
    post,
    path = "/api/models",
    tag = "models",
    request_body = NewModel,
    responses(
        (status = 201, body = ModelDetail),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn create_model(
    State(state): State<AppState>,
    request: RequestKey,
    Body(new): Body<NewModel>,
) -> Result<(StatusCode, Json<ModelDetail>), ApiError> {
    let NewModel { name, run_id, checkpoint, step, artifact_id, notes } = new;
    let run = parse_id(&run_id)?;
    let n_said = [checkpoint.is_some(), step.is_some(), artifact_id.is_some()];
    if n_said.into_iter().filter(|said| *said).count() > 1 {
        let detail = "say one of `checkpoint`, `step` and `artifact_id`".to_owned();
        return Err(RunError::from(ConfigError::BadValue {
            key: "checkpoint".to_owned(),
            detail,
        }))?;
    }
    let which = checkpoint.or_else(|| step.map(|step| step.to_string()));
    let artifact: Option<ArtifactId> =
        artifact_id.as_deref().map(str::parse).transpose().map_err(RunError::from)?;
    let ask = move |lab: &cartridge_run::Lab| {
        lab.add_model(&name, &run, which, artifact, notes, request.by())
    };
    let (model, _) = state.ask(ask).await?;
    Ok((StatusCode::CREATED, Json(ModelDetail::new(&model)?)))
}

/// Show a model with its versions.
#[utoipa::path(
    get,
    path = "/api/models/{name}",
    tag = "models",
    params(("name" = String, Path, description = "Name of the model")),
    responses((status = 200, body = ModelDetail), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn show_model(
    State(state): State<AppState>,
    Path(name): Path<String>,
) -> Result<Json<ModelDetail>, ApiError> {
    let name = parse_name(&name)?;
    let model = state.ask(move |lab| lab.model(&name)).await?;
    Ok(Json(ModelDetail::new(&model)?))
}

/// Put a model away: it is listed only when asked for. Its versions stay, because matches name
/// them, and a new version brings it back.
#[utoipa::path(
    delete,
    path = "/api/models/{name}",
    tag = "models",
    params(("name" = String, Path, description = "Name of the model")),
    responses((status = 200, body = ModelDetail), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn remove_model(
    State(state): State<AppState>,
    Path(name): Path<String>,
    request: RequestKey,
) -> Result<Json<ModelDetail>, ApiError> {
    let name = parse_name(&name)?;
    let model = state.ask(move |lab| lab.archive_model(&name, true, request.by())).await?;
    Ok(Json(ModelDetail::new(&model)?))
}

/// Bring a model back from the archive.
#[utoipa::path(
    post,
    path = "/api/models/{name}/unarchive",
    tag = "models",
    params(("name" = String, Path, description = "Name of the model")),
    responses((status = 200, body = ModelDetail), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn unarchive_model(
    State(state): State<AppState>,
    Path(name): Path<String>,
    request: RequestKey,
) -> Result<Json<ModelDetail>, ApiError> {
    let name = parse_name(&name)?;
    let model = state.ask(move |lab| lab.archive_model(&name, false, request.by())).await?;
    Ok(Json(ModelDetail::new(&model)?))
}

/// Move an alias of a model to a version. `best` is the one that is meant where nobody says which.
#[utoipa::path(
    post,
    path = "/api/models/{name}/aliases",
    tag = "models",
    params(("name" = String, Path, description = "Name of the model")),
    request_body = NewAlias,
    responses(
        (status = 200, body = ModelDetail),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn alias_model(
    State(state): State<AppState>,
    Path(name): Path<String>,
    request: RequestKey,
    Body(new): Body<NewAlias>,
) -> Result<Json<ModelDetail>, ApiError> {
    let name = parse_name(&name)?;
    let ask = move |lab: &cartridge_run::Lab| {
        lab.alias_model(&name, &new.alias, new.version, request.by())
    };
    let model = state.ask(ask).await?;
    Ok(Json(ModelDetail::new(&model)?))
}

/// Download a version as an ONNX file for other programs, with ranges.
#[utoipa::path(
    get,
    path = "/api/models/{name}/{version}/policy.onnx",
    tag = "models",
    params(
        ("name" = String, Path, description = "Name of the model"),
        ("version" = String, Path, description = "Number of the version, or an alias"),
    ),
    responses(
        (status = 200, description = "The content", content_type = "application/octet-stream"),
        (status = 206, description = "A part of it", content_type = "application/octet-stream"),
        (status = 304, description = "It is as the client knows it"),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 416, description = "It has no such range"),
    ),
)]
async fn get_model_policy(
    State(state): State<AppState>,
    Path((name, version)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    serve(&state, &name, version, ONNX, &headers).await
}

/// Download the weights of a version, with ranges; there are none where it came as an ONNX file.
#[utoipa::path(
    get,
    path = "/api/models/{name}/{version}/weights.safetensors",
    tag = "models",
    params(
        ("name" = String, Path, description = "Name of the model"),
        ("version" = String, Path, description = "Number of the version, or an alias"),
    ),
    responses(
        (status = 200, description = "The content", content_type = "application/octet-stream"),
        (status = 206, description = "A part of it", content_type = "application/octet-stream"),
        (status = 304, description = "It is as the client knows it"),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 416, description = "It has no such range"),
    ),
)]
async fn get_model_weights(
    State(state): State<AppState>,
    Path((name, version)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    serve(&state, &name, version, WEIGHTS, &headers).await
}

async fn serve(
    state: &AppState,
    name: &str,
    version: String,
    file: &'static str,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let name = parse_name(name)?;
    let (listed, opened) = state.ask(move |lab| lab.open_model(&name, &version, file)).await?;
    Ok(serve_named(file, opened, listed.bytes, &listed.sha256, headers))
}

/// A model's name from the address.
fn parse_name(text: &str) -> Result<ModelName, ApiError> {
    Ok(text.parse::<ModelName>().map_err(RunError::from)?)
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list_models, create_model))
        .routes(routes!(show_model, remove_model))
        .routes(routes!(alias_model))
        .routes(routes!(unarchive_model))
        .routes(routes!(get_model_policy))
        .routes(routes!(get_model_weights))
}
