//! `/api/runs/{id}/evaluate`, `/api/runs/{id}/evaluations`, `/api/runs/{id}/eval/...` and
//! `/api/evals`: policies measured over whole episodes, as jobs beside whatever trains.
//!
//! An evaluation is a run of kind `eval`, so that it is watched, followed and ended as every run is:
//! `/api/runs/{id}/frames`, `/api/stream`, `/api/runs/{id}/stop`.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cartridge_run::evaluation_job::{Summary, Wanted, WantedEpisodes};
use cartridge_run::lab::EvaluationView;
use cartridge_run::store::index::Cursor;
use cartridge_run::store::{self, Evaluated, RunId};
use cartridge_run::{ConfigError, RunError};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::artifacts::{Artifact, serve_artifact};
use crate::api::runs::{Evaluation, Run, parse_cursor, parse_id, parse_words};
use crate::error::{ApiError, Problem};
use crate::extract::{Body, Path, Query, RequestKey};

/// How a policy is to be measured.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEvaluation {
    /// How many episodes; as many as there are `seeds`, where those are given.
    #[schema(minimum = 1, maximum = 10000, default = 10)]
    pub episodes: Option<u32>,
    /// What the seeds of the episodes follow from.
    #[schema(default = 0)]
    pub seed: Option<u64>,
    /// The seeds themselves, one for each episode, as `reset` gets them.
    #[schema(min_items = 1, max_items = 10000)]
    pub seeds: Option<Vec<u64>>,
    /// Whether the policy does what it holds best, and not what chance makes of it.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub deterministic: bool,
    /// Whether a film is made of it: the first two minutes, as an MP4 file.
    #[serde(default)]
    #[schema(default = false)]
    pub video: bool,
    /// Which checkpoint: `latest`, `best`, a folder such as `step_000200000`, or a number of steps.
    #[schema(default = "latest")]
    pub checkpoint: Option<String>,
}

fn yes() -> bool {
    true
}

/// Episodes of an evaluation that does not say how many.
const EPISODES: u32 = 10;

impl NewEvaluation {
    fn wanted(self) -> Result<Wanted, ConfigError> {
        let Self { episodes, seed, seeds, deterministic, video, checkpoint } = self;
        let bad = |key: &str, detail: &str| ConfigError::BadValue {
            key: key.to_owned(),
            detail: detail.to_owned(),
        };
        let episodes = match (seeds, seed) {
            (Some(_), Some(_)) => {
                return Err(bad("seed", "say either `seed` or `seeds`, not both"));
            }
            (Some(seeds), None) if episodes.is_some_and(|n| n as usize != seeds.len()) => {
                return Err(bad("episodes", "there are as many episodes as `seeds`"));
            }
            (Some(seeds), None) => WantedEpisodes::Given(seeds),
            (None, seed) => WantedEpisodes::Derived {
                episodes: episodes.unwrap_or(EPISODES),
                seed: seed.unwrap_or(0),
            },
        };
        let (is_deterministic, with_video) = (deterministic, video);
        Ok(Wanted { episodes, is_deterministic, with_video, checkpoint })
    }
}

/// Measure the policy of a run, beside whatever it does: training is not paused. The evaluation is
/// a run of its own, of kind `eval`, which is started as soon as there is room and can be watched,
/// followed and stopped like any other; it holds a copy of the policy.
#[utoipa::path(
    post,
    path = "/api/runs/{id}/evaluate",
    tag = "evaluations",
    params(("id" = String, Path, description = "Name of the run")),
    request_body = NewEvaluation,
    responses(
        (status = 202, body = Run, description = "The evaluation"),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn evaluate_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    request: RequestKey,
    Body(new): Body<NewEvaluation>,
) -> Result<(StatusCode, Json<Run>), ApiError> {
    let id = parse_id(&id)?;
    let view = state
        .ask(move |lab| {
            let wanted = new.wanted().map_err(RunError::from)?;
            lab.evaluate_run(&id, wanted, request.by())
        })
        .await?;
    Ok((StatusCode::ACCEPTED, Json(view.into())))
}

/// An evaluation, and what it found.
#[derive(Debug, Serialize, ToSchema)]
pub struct EvaluationJob {
    /// The run that is the evaluation; a training that measured itself is its own.
    pub run: Run,
    /// What it is of. How a match or tournament went is in `/api/evals/{id}`, and the figures of a
    /// match in `run.match_result`.
    pub kind: EvaluationKind,
    /// Folder of the checkpoint that is measured; none where it is a file from elsewhere, or
    /// whatever the training had learnt by then.
    #[schema(required)]
    pub checkpoint: Option<String>,
    /// Whether the policy does what it holds best.
    pub deterministic: bool,
    /// What was found, once it has been.
    #[schema(required)]
    pub result: Option<Evaluation>,
    /// Episode by episode; none while it goes on, and in lists.
    #[schema(required)]
    pub episodes: Option<EvaluatedEpisodes>,
    /// Its film, an artifact of `run`.
    #[schema(required)]
    pub video: Option<Artifact>,
}

/// Every episode of an evaluation, as columns.
#[derive(Debug, Serialize, ToSchema)]
pub struct EvaluatedEpisodes {
    /// The return of each.
    pub returns: Vec<f64>,
    /// The steps of each.
    pub lengths: Vec<u32>,
    /// What each was reset with: `env.reset(seed=...)` begins the same in Gymnasium.
    pub seeds: Vec<u64>,
    /// Whether the task itself ended in each; otherwise its time did.
    pub terminated: Vec<bool>,
    /// In how many the task itself ended.
    pub n_terminated: u32,
    /// How many were cut short.
    pub n_truncated: u32,
    /// Standard deviation of the lengths.
    pub std_length: f64,
}

impl From<Summary> for EvaluatedEpisodes {
    fn from(summary: Summary) -> Self {
        Self {
            returns: summary.returns,
            lengths: summary.lengths,
            seeds: summary.seeds,
            terminated: summary.ends,
            n_terminated: summary.terminated,
            n_truncated: summary.truncated,
            std_length: summary.std_length,
        }
    }
}

impl EvaluationJob {
    pub(crate) fn new(
        EvaluationView { view, summary, video }: EvaluationView,
        with_episodes: bool,
    ) -> Self {
        let config = &view.run.manifest.config;
        Self {
            // A training that has measured itself is none, and has measured its policy.
            kind: view.run.manifest.evaluated().unwrap_or(Evaluated::Policy).into(),
            checkpoint: config["checkpoint"].as_str().map(str::to_owned),
            deterministic: config["deterministic"].as_bool().unwrap_or(true),
            result: view.run.status.latest_eval.clone().map(Into::into),
            episodes: summary.filter(|_| with_episodes).map(Into::into),
            video: video.map(Into::into),
            run: view.into(),
        }
    }
}

/// The evaluations of a run.
#[derive(Debug, Serialize, ToSchema)]
pub struct EvaluationList {
    /// The newest, newest first.
    pub evaluations: Vec<EvaluationJob>,
    /// How many of their films are kept.
    pub videos_kept: u64,
    /// How many films there ever were.
    pub videos_total: u64,
    /// The same in words: `2 of 5 kept`.
    pub videos_text: String,
}

/// How many evaluations.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct EvaluationsQuery {
    /// How many, at most 100.
    #[serde(default = "default_page")]
    #[param(required = false, minimum = 1, maximum = 100, default = 50)]
    limit: usize,
}

fn default_page() -> usize {
    50
}

/// List the evaluations of a run, newest first.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/evaluations",
    tag = "evaluations",
    params(("id" = String, Path, description = "Name of the run"), EvaluationsQuery),
    responses(
        (status = 200, body = EvaluationList),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn list_evaluations_of_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<EvaluationsQuery>,
) -> Result<Json<EvaluationList>, ApiError> {
    let id = parse_id(&id)?;
    let found = state.ask(move |lab| lab.evaluations_of(&id, query.limit.clamp(1, 100))).await?;
    let (videos_kept, videos_total) = (found.videos_kept, found.videos_total);
    let job = |view| EvaluationJob::new(view, false);
    Ok(Json(EvaluationList {
        evaluations: found.evaluations.into_iter().map(job).collect(),
        videos_kept,
        videos_total,
        videos_text: format!("{videos_kept} of {videos_total} kept"),
    }))
}

/// Show the newest evaluation of a run that has a result, episode by episode: one that was asked
/// for, or else the newest that its training made.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/eval/latest",
    tag = "evaluations",
    params(("id" = String, Path, description = "Name of the run")),
    responses(
        (status = 200, body = EvaluationJob),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn show_latest_evaluation(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<EvaluationJob>, ApiError> {
    let id = parse_id(&id)?;
    let found = state.ask(move |lab| lab.latest_evaluation(&id)).await?;
    Ok(Json(EvaluationJob::new(found, true)))
}

/// Get the newest film of an evaluation of a run, with ranges: one that was asked for, or one that
/// its training made (`--capture-video`).
#[utoipa::path(
    get,
    path = "/api/runs/{id}/eval/latest.mp4",
    tag = "evaluations",
    params(
        ("id" = String, Path, description = "Name of the run"),
        ("range" = Option<String>, Header, description = "A part of it, such as `bytes=0-1023`"),
    ),
    responses(
        (status = 200, content_type = "video/mp4", body = [u8]),
        (status = 206, description = "The part of it that was asked for", content_type = "video/mp4", body = [u8]),
        (status = 304, description = "It is the one that the client has"),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 416, description = "It has no such range"),
    ),
)]
async fn get_latest_video(
    State(state): State<AppState>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = parse_id(&id)?;
    let (artifact, content) = state.ask(move |lab| lab.latest_video(&id)).await?;
    Ok(serve_artifact(&artifact, content, &headers))
}

/// A page of evaluations.
#[derive(Debug, Serialize, ToSchema)]
pub struct EvaluationPage {
    /// The evaluations, newest first.
    pub evaluations: Vec<EvaluationJob>,
    /// Ask with this for the next page; none after the last.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// Which page of evaluations.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct EvaluationPageQuery {
    /// How many, at most 100.
    #[serde(default = "default_page")]
    #[param(required = false, minimum = 1, maximum = 100, default = 50)]
    limit: usize,
    /// Where the page begins: `next_cursor` of the page before.
    cursor: Option<String>,
    /// Only in these states, separated by commas.
    #[param(example = "queued,running")]
    state: Option<String>,
    /// What is evaluated: a policy, which is meant without it, two players in a `match`, several in
    /// a `tournament`, or `all` of these.
    #[serde(default)]
    #[param(required = false, inline)]
    kind: WantedEvaluations,
}

/// Which evaluations are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WantedEvaluations {
    /// Those of policies.
    #[default]
    Policy,
    /// Matches.
    Match,
    /// Tournaments.
    Tournament,
    /// All of them.
    All,
}

/// What an evaluation is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvaluationKind {
    /// A policy is measured.
    Policy,
    /// Two players are compared.
    Match,
    /// Several players are compared.
    Tournament,
}

impl From<Evaluated> for EvaluationKind {
    fn from(evaluated: Evaluated) -> Self {
        match evaluated {
            Evaluated::Policy => Self::Policy,
            Evaluated::Match => Self::Match,
            Evaluated::Tournament => Self::Tournament,
        }
    }
}

/// List evaluations of policies, of all runs, newest first; with `kind` matches, tournaments, or
/// all of them. `run.name` says what each was asked to do.
#[utoipa::path(
    get,
    path = "/api/evals",
    tag = "evaluations",
    params(EvaluationPageQuery),
    responses(
        (status = 200, body = EvaluationPage),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
    ),
)]
async fn list_evaluations(
    State(state): State<AppState>,
    Query(query): Query<EvaluationPageQuery>,
) -> Result<Json<EvaluationPage>, ApiError> {
    let limit = query.limit.clamp(1, 100);
    let after: Option<Cursor> = query.cursor.as_deref().map(parse_cursor).transpose()?;
    let states: Vec<store::RunState> =
        query.state.as_deref().map_or(Ok(Vec::new()), |states| parse_words("state", states))?;
    let what = match query.kind {
        WantedEvaluations::Policy => Some(Evaluated::Policy),
        WantedEvaluations::Match => Some(Evaluated::Match),
        WantedEvaluations::Tournament => Some(Evaluated::Tournament),
        WantedEvaluations::All => None,
    };
    // One more than asked for tells whether there is a next page.
    let mut found =
        state.ask(move |lab| lab.evaluations(what, states, limit + 1, after.as_ref())).await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let cursor = |view: &EvaluationView| {
        let manifest = &view.view.run.manifest;
        format!("{:016x}{}", manifest.created_at.to_bits(), manifest.id)
    };
    let next_cursor = found.last().filter(|_| has_more).map(cursor);
    let evaluations = found.into_iter().map(|view| EvaluationJob::new(view, false)).collect();
    Ok(Json(EvaluationPage { evaluations, next_cursor }))
}

/// What an evaluation of a run has logged.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EvaluationEntry {
    /// The evaluation.
    pub run_id: String,
    /// The line in its event log.
    pub entry: crate::api::telemetry::Entry,
}

impl EvaluationEntry {
    /// The line with number `seq` of an evaluation.
    pub fn new(run: &RunId, seq: u64, line: &store::EventLine) -> Self {
        Self { run_id: run.to_string(), entry: crate::api::telemetry::Entry::new(seq, line) }
    }
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(evaluate_run))
        .routes(routes!(list_evaluations_of_run))
        .routes(routes!(show_latest_evaluation))
        .routes(routes!(get_latest_video))
        .routes(routes!(list_evaluations))
}
