//! `/api/cluster`: what is at work on this machine, and what it costs; `/api/links`: where other
//! tools show it.

use axum::Json;
use axum::extract::State;
use cartridge_run::cluster;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::runs::{RunState, parse_id};
use crate::error::{ApiError, Problem};
use crate::extract::Query;

/// What is at work on this machine.
#[derive(Debug, Serialize, ToSchema)]
pub struct Cluster {
    /// The lab first, then supervisor and trainer of every run at work, at most 200 runs.
    pub pods: Vec<Pod>,
    /// How many runs are where in their lives.
    pub jobs: Jobs,
    /// Runs that wait for their turn.
    pub queue_depth: u64,
    /// CPU cores of the machine.
    pub cores: usize,
    /// Bytes of its memory.
    #[schema(required)]
    pub memory_bytes: Option<u64>,
    /// Bytes of it that programs could still get.
    #[schema(required)]
    pub memory_free_bytes: Option<u64>,
    /// Bytes that are free for the data folder.
    #[schema(required)]
    pub disk_free_bytes: Option<u64>,
    /// Bytes of that disk.
    #[schema(required)]
    pub disk_bytes: Option<u64>,
    /// What the runs at work cost.
    pub cost: Cost,
}

/// A process, or the group of processes of a trainer.
#[derive(Debug, Serialize, ToSchema)]
pub struct Pod {
    /// What it is, and of which run.
    #[schema(example = "trainer/r-7f3k2m")]
    pub name: String,
    /// `lab`, `supervisor` or `trainer`.
    pub kind: &'static str,
    /// The run that it works for.
    #[schema(required)]
    pub run_id: Option<String>,
    /// `fresh`, `stale` or `dead`.
    pub health: &'static str,
    /// Where its run is in its life.
    #[schema(required)]
    pub state: Option<RunState>,
    /// CPU use; 100 is one core. Trainers only.
    #[schema(required)]
    pub cpu_percent: Option<f64>,
    /// CPU seconds so far. Lab and supervisors only.
    #[schema(required)]
    pub cpu_seconds: Option<f64>,
    /// Memory.
    #[schema(required)]
    pub memory_bytes: Option<u64>,
    /// Use of the busiest GPU, in percent.
    #[schema(required)]
    pub gpu_percent: Option<f64>,
    /// Memory on all GPUs.
    #[schema(required)]
    pub gpu_memory_bytes: Option<u64>,
    /// Environment steps a second.
    #[schema(required)]
    pub steps_per_sec: Option<f64>,
    /// Environment steps so far.
    #[schema(required)]
    pub step: Option<u64>,
    /// Where other tools show it.
    pub links: Vec<Link>,
}

/// An address in another tool.
#[derive(Debug, Serialize, ToSchema)]
pub struct Link {
    /// `grafana`, `tempo`, `jaeger` or `loki`.
    pub tool: &'static str,
    /// The address.
    pub url: String,
}

/// How many runs are where in their lives.
#[derive(Debug, Serialize, ToSchema)]
pub struct Jobs {
    /// At work.
    pub running: u64,
    /// In the queue.
    pub pending: u64,
    /// Done.
    pub succeeded: u64,
    /// Ended in an error, or lost.
    pub failed: u64,
    /// Ended because somebody asked.
    pub terminated: u64,
}

/// What the runs at work cost, as an estimate from the prices in `lab.json`.
#[derive(Debug, Serialize, ToSchema)]
pub struct Cost {
    /// The currency, as `lab.json` names it.
    pub currency: String,
    /// An hour of what is used now.
    pub per_hour: f64,
    /// What the runs at work have come to since they were started, at what they use now.
    pub so_far: f64,
    /// Whether there are prices at all.
    pub priced: bool,
}

/// Where other tools show what was asked for.
#[derive(Debug, Serialize, ToSchema)]
pub struct Links {
    /// One per tool whose address is in `lab.json` and asks for no more than was given.
    pub links: Vec<Link>,
}

impl From<cluster::Link> for Link {
    fn from(cluster::Link { tool, url }: cluster::Link) -> Self {
        Self { tool, url }
    }
}

impl From<cluster::Pod> for Pod {
    fn from(pod: cluster::Pod) -> Self {
        Self {
            name: pod.name,
            kind: pod.kind.as_str(),
            run_id: pod.run_id,
            health: pod.health,
            state: pod.state.map(Into::into),
            cpu_percent: pod.cpu_percent,
            cpu_seconds: pod.cpu_seconds,
            memory_bytes: pod.memory_bytes,
            gpu_percent: pod.gpu_percent,
            gpu_memory_bytes: pod.gpu_memory_bytes,
            steps_per_sec: pod.steps_per_sec,
            step: pod.step,
            links: pod.links.into_iter().map(Into::into).collect(),
        }
    }
}

/// Show what is at work on this machine: the lab, and a supervisor and a trainer for every run.
#[utoipa::path(
    get,
    path = "/api/cluster",
    tag = "lab",
    responses((status = 200, body = Cluster), (status = 401, body = Problem)),
)]
async fn show_cluster(State(state): State<AppState>) -> Result<Json<Cluster>, ApiError> {
    let found = state.ask(|lab| lab.cluster()).await?;
    let cluster::Jobs { running, pending, succeeded, failed, terminated } = found.jobs;
    let cluster::Cost { currency, per_hour, so_far, is_priced } = found.cost;
    Ok(Json(Cluster {
        pods: found.pods.into_iter().map(Into::into).collect(),
        jobs: Jobs { running, pending, succeeded, failed, terminated },
        queue_depth: pending,
        cores: found.cores,
        memory_bytes: found.memory_bytes,
        memory_free_bytes: found.memory_free_bytes,
        disk_free_bytes: found.disk_free_bytes,
        disk_bytes: found.disk_bytes,
        cost: Cost { currency, per_hour, so_far, priced: is_priced },
    }))
}

/// What to look for in other tools.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct LinksQuery {
    /// A run.
    run_id: Option<String>,
    /// A request, by its `X-Request-Id`.
    request_id: Option<String>,
}

/// Say where other tools show a run or a request, by the templates in `lab.json`.
#[utoipa::path(
    get,
    path = "/api/links",
    tag = "lab",
    params(LinksQuery),
    responses(
        (status = 200, body = Links),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn show_links(
    State(state): State<AppState>,
    Query(query): Query<LinksQuery>,
) -> Result<Json<Links>, ApiError> {
    let run_id = query.run_id.as_deref().map(parse_id).transpose()?;
    let request_id = query.request_id;
    let found = state.ask(move |lab| lab.links(run_id.as_ref(), request_id.as_deref())).await?;
    Ok(Json(Links { links: found.into_iter().map(Into::into).collect() }))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(show_cluster)).routes(routes!(show_links))
}
