//! `/api/trainers`: trainers that are named in the lab's own file, started by name.
//!
//! Which program a name stands for, where it is started and with which variables is in `lab.json`
//! and is neither shown nor taken here: a request has values for the arguments, and nothing else.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cartridge_run::RunError;
use cartridge_run::config::ConfigError;
use cartridge_run::launch::Terms;
use cartridge_run::named_trainer::{self, LONGEST_TEXT, NamedTrainer, Wanted};
use cartridge_run::store::{Limits, Restart};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::runs::{BACKOFF_S, Run};
use crate::error::{ApiError, Problem};
use crate::extract::{Body, Path, RequestKey};

/// A trainer that can be started by its name.
#[derive(Debug, Serialize, ToSchema)]
pub struct Trainer {
    /// Its name in addresses.
    pub id: String,
    /// Its name for people.
    pub title: String,
    /// The environments that it can learn; the first unless another is asked for.
    pub env_ids: Vec<String>,
    /// What it can be told.
    pub arguments: Vec<TrainerArgument>,
}

/// Something that a trainer can be told.
#[derive(Debug, Serialize, ToSchema)]
pub struct TrainerArgument {
    /// Its name.
    pub name: String,
    /// What it takes.
    #[serde(rename = "type")]
    pub kind: ArgumentType,
    /// What it is unless something else is given; without one it is then left out.
    #[schema(required)]
    pub default: Option<Value>,
    /// The least number.
    #[schema(required)]
    pub minimum: Option<f64>,
    /// The greatest number.
    #[schema(required)]
    pub maximum: Option<f64>,
    /// The longest text.
    #[schema(required)]
    pub max_length: Option<usize>,
    /// The words of a choice.
    pub choices: Vec<String>,
    /// For people.
    pub help: String,
    /// Whether it must be given.
    pub required: bool,
}

/// What an argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentType {
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A line of text.
    String,
    /// Yes or no.
    Boolean,
    /// One of some words.
    Choice,
}

impl From<named_trainer::ArgumentKind> for ArgumentType {
    fn from(kind: named_trainer::ArgumentKind) -> Self {
        use named_trainer::ArgumentKind;
        match kind {
            ArgumentKind::Integer => Self::Integer,
            ArgumentKind::Number => Self::Number,
            ArgumentKind::String => Self::String,
            ArgumentKind::Boolean => Self::Boolean,
            ArgumentKind::Choice => Self::Choice,
        }
    }
}

impl From<&named_trainer::Argument> for TrainerArgument {
    fn from(argument: &named_trainer::Argument) -> Self {
        let kind = ArgumentType::from(argument.kind);
        Self {
            name: argument.name.clone(),
            kind,
            default: argument.default.clone(),
            minimum: argument.minimum,
            maximum: argument.maximum,
            max_length: (kind == ArgumentType::String).then_some(LONGEST_TEXT),
            choices: argument.choices.clone(),
            help: argument.help.clone(),
            required: argument.required,
        }
    }
}

impl From<&NamedTrainer> for Trainer {
    fn from(trainer: &NamedTrainer) -> Self {
        Self {
            id: trainer.id.clone(),
            title: trainer.title.clone(),
            env_ids: trainer.env_ids.clone(),
            arguments: trainer.arguments.iter().map(Into::into).collect(),
        }
    }
}

/// The trainers that can be started by name.
#[derive(Debug, Serialize, ToSchema)]
pub struct TrainerList {
    /// In the order of the lab's file.
    pub trainers: Vec<Trainer>,
}

/// A run of a named trainer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTrainerRun {
    /// Values for its arguments, by name; those that are left out are as by default.
    #[serde(default)]
    #[schema(value_type = Object, example = json!({ "learning_rate": 0.001 }))]
    pub arguments: Map<String, Value>,
    /// One of its environments, if not the first.
    #[schema(example = "CartPole-v1")]
    pub env_id: Option<String>,
    /// Name of the run, for people.
    #[schema(max_length = 200)]
    pub name: Option<String>,
    /// Told to the program in `CARTRIDGE_SEED`.
    pub seed: Option<u64>,
    /// How often it is started again when it fails or is lost.
    #[schema(maximum = 1000)]
    pub restarts: Option<u32>,
    /// Seconds after which an attempt is stopped.
    #[schema(exclusive_minimum = 0.0)]
    pub max_seconds: Option<f64>,
    /// Environment steps after which it is stopped.
    #[schema(minimum = 1)]
    pub max_steps: Option<u64>,
}

impl NewTrainerRun {
    fn wanted(self) -> Result<Wanted, ApiError> {
        let wrong = |field: &str, detail: String| {
            Err(ApiError::Field { pointer: format!("/{field}"), detail })
        };
        if let Some(seconds) = self.max_seconds.filter(|seconds| *seconds <= 0.0) {
            return wrong("max_seconds", format!("{seconds} is not above 0"));
        }
        if self.max_steps == Some(0) {
            return wrong("max_steps", "0 is not above 0".to_owned());
        }
        let max = self.restarts.unwrap_or(0);
        if max > 1000 {
            return wrong("restarts", format!("{max} is above 1000"));
        }
        let Self { arguments, env_id, name, seed, max_seconds, max_steps, .. } = self;
        let terms = Terms {
            restart: (max > 0).then_some(Restart { max, backoff_s: BACKOFF_S }),
            limits: Limits { max_seconds, max_steps, ..Limits::default() },
            ..Terms::default()
        };
        Ok(Wanted { arguments, env_id, name, seed, terms })
    }
}

/// List the trainers that can be started by name, with what they can be told.
#[utoipa::path(
    get,
    path = "/api/trainers",
    tag = "trainers",
    responses(
        (status = 200, body = TrainerList),
        (status = 401, body = Problem),
        (status = 422, description = "`lab.json` is wrong", body = Problem),
    ),
)]
async fn list_trainers(State(state): State<AppState>) -> Result<Json<TrainerList>, ApiError> {
    let trainers = state.ask(|lab| lab.trainers()).await?;
    Ok(Json(TrainerList { trainers: trainers.all().iter().map(Into::into).collect() }))
}

/// Start a run of a named trainer as soon as there is room, as `cartridge exec` does.
#[utoipa::path(
    post,
    path = "/api/trainers/{id}/runs",
    tag = "trainers",
    params(("id" = String, Path, description = "Name of the trainer")),
    request_body = NewTrainerRun,
    responses(
        (status = 201, body = Run),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn start_trainer(
    State(state): State<AppState>,
    Path(id): Path<String>,
    request: RequestKey,
    Body(new): Body<NewTrainerRun>,
) -> Result<(StatusCode, Json<Run>), ApiError> {
    let wanted = new.wanted()?;
    let started = state.ask(move |lab| lab.start_trainer(&id, wanted, request.by())).await;
    Ok((StatusCode::CREATED, Json(started.map_err(at_field)?.into())))
}

/// Points at the field that is wrong; what is wrong with `lab.json` is nobody's field.
fn at_field(error: ApiError) -> ApiError {
    match &error {
        ApiError::Run(RunError::Config(
            ConfigError::UnknownKey { key, .. } | ConfigError::BadValue { key, .. },
        )) if ["arguments.", "env_id", "name"].iter().any(|field| key.starts_with(field)) => {
            let pointer = format!("/{}", key.replacen('.', "/", 1));
            ApiError::Field { pointer, detail: error.to_string() }
        }
        _ => error,
    }
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list_trainers)).routes(routes!(start_trainer))
}
