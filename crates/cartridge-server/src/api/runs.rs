//! `/api/runs`: training runs, past and present.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cartridge_games::registry::{self, RegistryError};
use cartridge_run::cluster;
use cartridge_run::config::{ConfigError, Draft, Resolved, flatten};
use cartridge_run::experiment::{self, MOST_RUNS, Plan};
use cartridge_run::lab::{self, RunView};
use cartridge_run::launch::Terms;
use cartridge_run::opponent::Opponent;
use cartridge_run::retention::LabConfig;
use cartridge_run::store::index::Cursor;
use cartridge_run::store::{self, Limits, Restart, RunId, RunState as Stored};
use cartridge_run::track::account::Account;
use cartridge_run::{Algorithm, Lab, RunError, steer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::experiments;
use crate::error::{ApiError, Problem};
use crate::extract::{Body, Path, Query, RequestKey};
use crate::time::rfc3339;

/// A run: a training or an evaluation.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Run {
    /// Its name, made by the lab.
    pub id: String,
    /// What sort of run it is.
    pub kind: RunKind,
    /// For people: `Cart Pole, PPO, seed 42`.
    pub name: String,
    /// Id of the environment.
    pub env_id: String,
    /// The environment's name for people.
    pub env_name: String,
    /// The algorithm.
    pub algorithm: String,
    /// The name of its trainer, where it was started by one that `lab.json` has.
    #[schema(required)]
    pub trainer_id: Option<String>,
    /// The number that decides the whole run, unless a trainer of somebody else has never told.
    pub seed: Option<u64>,
    /// Where it is in its life.
    pub state: RunState,
    /// What it is busy with.
    pub activity: Activity,
    /// How recent its signs of life are.
    pub health: Health,
    /// Milliseconds since its supervisor was heard, while it should be.
    #[schema(required)]
    pub heartbeat_age_ms: Option<u64>,
    /// Environment steps so far.
    pub step: u64,
    /// When its newest steps were told of (RFC 3339).
    #[schema(required)]
    pub stepped_at: Option<String>,
    /// Environment steps to train for.
    pub total_timesteps: u64,
    /// Episodes or games that an evaluation plays.
    #[schema(required)]
    pub total_episodes: Option<u64>,
    /// How much of the run is done, 0 to 1.
    pub progress: f64,
    /// Steps per second of the newest update.
    #[schema(required)]
    pub steps_per_sec: Option<f64>,
    /// Seconds to the end at this pace.
    #[schema(required)]
    pub eta_seconds: Option<f64>,
    /// Episodes that have ended.
    pub episodes: u64,
    /// Mean return of the last 100 episodes.
    #[schema(required)]
    pub mean_reward: Option<f64>,
    /// Mean length of the last 100 episodes.
    #[schema(required)]
    pub mean_length: Option<f64>,
    /// Loss of the newest update.
    #[schema(required)]
    pub loss: Option<f64>,
    /// The newest evaluation.
    #[schema(required)]
    pub latest_eval: Option<Evaluation>,
    /// The evaluation with the highest mean.
    #[schema(required)]
    pub best_eval: Option<Evaluation>,
    /// How two players compare, where the run is a match between them.
    #[schema(required)]
    pub match_result: Option<MatchResult>,
    /// The run whose policy is measured, where the run is its evaluation.
    #[schema(required)]
    pub of_run: Option<String>,
    /// Steps of the newest checkpoint.
    #[schema(required)]
    pub checkpoint_step: Option<u64>,
    /// CPU use of the trainer; 100 is one core.
    #[schema(required)]
    pub cpu_percent: Option<f64>,
    /// Memory of the trainer.
    #[schema(required)]
    pub rss_bytes: Option<u64>,
    /// What it uses of the GPUs, where there is one.
    #[schema(required)]
    pub gpu: Option<GpuSample>,
    /// The lines of a foreign trainer so far.
    #[schema(required)]
    pub lines: Option<LineCounts>,
    /// Why its supervisor ended it, unless it was asked to.
    #[schema(required)]
    pub end_reason: Option<String>,
    /// When it was made (RFC 3339).
    pub created_at: String,
    /// When its trainer started.
    #[schema(required)]
    pub started_at: Option<String>,
    /// When its trainer ended.
    #[schema(required)]
    pub ended_at: Option<String>,
    /// Why it failed or was lost.
    #[schema(required)]
    pub failure: Option<Failure>,
    /// Which start of its trainer is the newest; 0 before the first.
    pub attempt: u32,
    /// The checkpoint of another run that it began from.
    #[schema(required)]
    pub parent: Option<Parent>,
    /// The runs that began from a checkpoint of it.
    pub children: Vec<String>,
    /// Whether it was put away.
    pub archived: bool,
    /// Whether it is to be kept.
    pub pinned: bool,
    /// Checkpoints of it that are to be kept.
    pub pinned_checkpoints: Vec<String>,
    /// The experiment that it belongs to.
    #[schema(required)]
    pub experiment_id: Option<String>,
    /// The same for all trainings that differ in nothing but their seeds: `config_sha256` of
    /// leaderboards.
    #[schema(required)]
    pub config_hash: Option<String>,
    /// What it costs, where `lab.json` has prices.
    #[schema(required)]
    pub cost: Option<RunCost>,
    /// The runs that it was made together with: several seeds of one configuration.
    #[schema(required)]
    pub group: Option<String>,
    /// Where it is at a W&B server, if it was made with `track` and the server has heard of it.
    #[schema(required)]
    pub wandb: Option<WandbPage>,
    /// Settings that were changed while it trained, and what they are now.
    pub tuned: BTreeMap<String, f64>,
    /// What can be asked of it now.
    pub capabilities: Vec<Capability>,
}

/// What a run costs, as an estimate: as if it had always used what was measured last.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RunCost {
    /// The currency, as `lab.json` names it.
    pub currency: String,
    /// An hour of what it uses; 0 once it has ended.
    pub per_hour: f64,
    /// What it has come to since it was started.
    pub so_far: f64,
}

/// Where a run is at a W&B server.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WandbPage {
    /// The id of the run there.
    pub id: String,
    /// Its page for people.
    #[schema(example = "https://wandb.ai/me/cartridge/runs/r-7f3k2m-4wq09d")]
    pub url: String,
    /// Whose project it is in.
    pub entity: String,
    /// The project.
    pub project: String,
    /// The server.
    #[schema(example = "https://api.wandb.ai")]
    pub base_url: String,
}

impl From<store::WandbPage> for WandbPage {
    fn from(page: store::WandbPage) -> Self {
        let store::WandbPage { id, url, entity, project, base_url } = page;
        Self { id, url, entity, project, base_url }
    }
}

/// Where a fork began.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Parent {
    /// The run that it was forked from.
    pub run_id: String,
    /// The checkpoint.
    pub checkpoint: String,
    /// Environment steps of the checkpoint.
    pub step: u64,
}

/// What sort of run it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// An agent is trained.
    Train,
    /// An agent is measured, or two players are compared.
    Eval,
    /// A person plays.
    Human,
    /// A program that is not ours trains an agent.
    External,
}

/// How many lines a foreign trainer wrote, each in exactly one class.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LineCounts {
    /// Lines of the protocol.
    pub typed: u64,
    /// Lines that are none, kept in the log.
    pub log: u64,
    /// Lines of a known type that could not be used.
    pub wrong: u64,
    /// JSON objects of a type that the protocol does not have.
    pub unknown: u64,
    /// Lines that were too long.
    pub cut: u64,
    /// Numbers that were not finite.
    pub nonfinite: u64,
    /// Lines of the log that were dropped to keep it small.
    pub log_dropped: u64,
    /// The lines of the protocol, by type.
    pub by_type: BTreeMap<String, u64>,
    /// Why lines were wrong, and how many each.
    pub reasons: BTreeMap<String, u64>,
}

impl From<store::LineCounts> for LineCounts {
    fn from(counts: store::LineCounts) -> Self {
        let store::LineCounts {
            typed,
            log,
            wrong,
            unknown,
            cut,
            nonfinite,
            log_dropped,
            by_type,
            reasons,
        } = counts;
        Self { typed, log, wrong, unknown, cut, nonfinite, log_dropped, by_type, reasons }
    }
}

/// What a trainer's processes use of the GPUs.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct GpuSample {
    /// Use of the busiest GPU that it works on, in percent.
    pub percent: f64,
    /// Memory of its processes on all GPUs.
    pub memory_bytes: u64,
}

/// Where a run is in its life.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Made, and not yet started.
    Queued,
    /// The trainer is being started.
    Starting,
    /// It steps.
    Running,
    /// It does not step, and its process stays.
    Paused,
    /// Asked to stop; it saves a checkpoint first.
    Stopping,
    /// It took all its steps.
    Succeeded,
    /// It ended in an error.
    Failed,
    /// It ended because somebody asked.
    Terminated,
    /// Its supervisor fell silent.
    Lost,
}

impl From<Stored> for RunState {
    fn from(state: Stored) -> Self {
        match state {
            Stored::Queued => Self::Queued,
            Stored::Starting => Self::Starting,
            Stored::Running => Self::Running,
            Stored::Paused => Self::Paused,
            Stored::Stopping => Self::Stopping,
            Stored::Succeeded => Self::Succeeded,
            Stored::Failed => Self::Failed,
            Stored::Terminated => Self::Terminated,
            Stored::Lost => Self::Lost,
        }
    }
}

/// What a run is busy with.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// It learns.
    Training,
    /// It measures its policy.
    Evaluating,
    /// Neither.
    Idle,
}

/// How recent the signs of life of a run are.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// The supervisor spoke on time.
    Fresh,
    /// It is late.
    Stale,
    /// It is gone, as it should be once a run has ended.
    Dead,
}

/// Something that can be asked of a run.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Be started at once, past the queue.
    Start,
    /// Save a checkpoint and end.
    Stop,
    /// Stop stepping and stay.
    Pause,
    /// Go on: after a pause, or from the last checkpoint.
    Resume,
    /// End at once, without a checkpoint.
    Terminate,
    /// Save a checkpoint and go on.
    Checkpoint,
    /// Change a setting.
    Tune,
    /// Begin a run from a checkpoint of it.
    Fork,
    /// Move it to the trash.
    Delete,
}

impl Capability {
    /// Whether a foreign trainer can do it in `state`.
    fn is_offered(self, state: Stored, status: &store::RunStatus) -> bool {
        use store::Command;
        let command = match self {
            Self::Start | Self::Stop | Self::Terminate | Self::Delete => return true,
            Self::Fork => return steer::offers_restore(status),
            // A new start needs no word of it.
            Self::Resume if !state.is_active() => return true,
            Self::Pause => Command::Pause,
            Self::Resume => Command::Resume,
            Self::Checkpoint => Command::Checkpoint,
            Self::Tune => Command::Tune { path: String::new(), value: 0.0 },
        };
        steer::offers(status, &command)
    }
}

/// What can be asked of a training in `state`.
fn capabilities(state: Stored, has_checkpoint: bool) -> Vec<Capability> {
    use Capability::{Checkpoint, Delete, Fork, Pause, Resume, Start, Stop, Terminate, Tune};
    let mut now = match state {
        Stored::Queued => vec![Start, Stop, Terminate],
        Stored::Starting => vec![Stop, Terminate],
        Stored::Running => vec![Stop, Pause, Terminate, Checkpoint, Tune],
        Stored::Paused => vec![Stop, Resume, Terminate, Checkpoint, Tune],
        Stored::Stopping => vec![Terminate],
        Stored::Failed | Stored::Terminated | Stored::Lost => vec![Resume, Delete],
        Stored::Succeeded => vec![Delete],
    };
    if has_checkpoint {
        now.push(Fork);
    }
    now
}

/// What can be asked of an evaluation that waits or is at work.
fn evaluation_capabilities(state: Stored) -> Vec<Capability> {
    use Capability::{Start, Stop, Terminate};
    match state {
        Stored::Queued => vec![Start, Stop, Terminate],
        Stored::Stopping => vec![Terminate],
        _ => vec![Stop, Terminate],
    }
}

/// How well a policy did over some episodes.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Evaluation {
    /// Environment steps of the policy.
    pub step: u64,
    /// How many episodes were played.
    pub episodes: u32,
    /// Mean return.
    pub mean: f64,
    /// Standard deviation of the returns.
    pub std: f64,
    /// 95% confidence interval of the mean.
    pub ci95: [f64; 2],
    /// Mean length in steps.
    pub mean_length: f64,
    /// Mean of what the environment measures itself, by name.
    pub metrics: BTreeMap<String, f64>,
}

/// How two players compare, from the view of the first.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MatchResult {
    /// The first player's name for people.
    pub a: String,
    /// The second player's.
    pub b: String,
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
    /// Share of the points: a win is 1, a draw a half.
    pub score: f64,
    /// The 95% interval of the score.
    pub score_ci95: [f64; 2],
    /// Difference of strength in Elo; none when it has no bound.
    #[schema(required)]
    pub elo: Option<f64>,
    /// The 95% interval of the Elo difference; none where it has no bound.
    pub elo_ci95: [Option<f64>; 2],
}

impl MatchResult {
    fn new(result: store::MatchResult, config: &Value) -> Self {
        let name = |key: &str| {
            let place = usize::from(key == "b");
            if let Some(name) = config["players"][place]["name"].as_str() {
                return name.to_owned();
            }
            // Matches of older versions have the ids alone.
            let id = config[key].as_str().unwrap_or_default();
            id.parse::<Opponent>().map_or_else(|_| id.to_owned(), Opponent::name)
        };
        let store::MatchResult { wins, draws, losses, score, score_ci95, elo, elo_ci95 } = result;
        Self { a: name("a"), b: name("b"), wins, draws, losses, score, score_ci95, elo, elo_ci95 }
    }
}

/// Why a run failed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Failure {
    /// In a sentence.
    pub message: String,
    /// Exit code of the trainer.
    #[schema(required)]
    pub exit_code: Option<i32>,
    /// Signal that ended the trainer.
    #[schema(required)]
    pub signal: Option<i32>,
    /// The last lines that it printed.
    pub log: Vec<String>,
}

impl From<RunView> for Run {
    fn from(view: RunView) -> Self {
        let RunView {
            run: store::index::IndexedRun { manifest, status },
            health,
            heartbeat_age,
            is_archived,
            is_pinned,
            pinned_checkpoints,
            children,
            cost,
        } = view;
        let state = status.state();
        let is_supervised = manifest.is_supervised();
        // A foreign trainer may have said how much it will do.
        let said = status.trainer.as_ref();
        let total_timesteps = manifest.config["trainer"]["total_timesteps"]
            .as_u64()
            .or_else(|| said?.total_timesteps)
            .unwrap_or(0);
        let total_episodes = ["games", "episodes"]
            .iter()
            .find_map(|key| manifest.config[*key].as_u64())
            .filter(|_| manifest.kind == store::RunKind::Eval);
        let left = total_timesteps.saturating_sub(status.step) as f64;
        let is_stepping = state == Stored::Running;
        let progress = match state {
            Stored::Succeeded => 1.0,
            _ if total_episodes.is_some() => {
                (status.episodes as f64 / total_episodes.unwrap_or(0).max(1) as f64).min(1.0)
            }
            // Nobody knows how far it will go.
            _ if total_timesteps == 0 => 0.0,
            _ => (status.step as f64 / total_timesteps as f64).min(1.0),
        };
        Self {
            id: manifest.id.to_string(),
            kind: match manifest.kind {
                store::RunKind::Train => RunKind::Train,
                store::RunKind::Eval => RunKind::Eval,
                store::RunKind::Human => RunKind::Human,
                store::RunKind::External => RunKind::External,
            },
            name: manifest.name,
            env_name: name_of(&manifest.env_id),
            match_result: status
                .match_result
                .map(|result| MatchResult::new(result, &manifest.config)),
            of_run: manifest.config["run"].as_str().map(str::to_owned),
            total_episodes,
            env_id: manifest.env_id,
            algorithm: manifest.config["algo"]
                .as_str()
                .or_else(|| said?.algo.as_deref())
                .unwrap_or_default()
                .to_owned(),
            trainer_id: manifest.config["trainer_id"].as_str().map(str::to_owned),
            seed: [&manifest.config["seeds"]["seed_base"], &manifest.config["seed"]]
                .into_iter()
                .find_map(Value::as_u64)
                .or_else(|| said?.seed),
            state: state.into(),
            activity: match status.activity() {
                store::Activity::Training => Activity::Training,
                store::Activity::Evaluating => Activity::Evaluating,
                store::Activity::Idle => Activity::Idle,
            },
            health: match health {
                lab::Health::Fresh => Health::Fresh,
                lab::Health::Stale => Health::Stale,
                lab::Health::Dead => Health::Dead,
            },
            heartbeat_age_ms: heartbeat_age.map(|age| age.as_millis() as u64),
            step: status.step,
            stepped_at: status.stepped_at.map(rfc3339),
            total_timesteps,
            progress,
            steps_per_sec: status.pace(),
            eta_seconds: status
                .steps_per_sec
                .filter(|pace| is_stepping && *pace > 0.0 && total_timesteps > 0)
                .map(|pace| left / pace),
            episodes: status.episodes,
            mean_reward: status.mean_reward,
            mean_length: status.mean_length,
            loss: status.loss,
            latest_eval: status.latest_eval.clone().map(Into::into),
            best_eval: status.best_eval.clone().map(Into::into),
            checkpoint_step: status.checkpoint_step,
            cpu_percent: status.cpu_percent,
            rss_bytes: status.rss_bytes,
            gpu: status.gpu.map(|store::GpuSample { percent, memory_bytes }| GpuSample {
                percent,
                memory_bytes,
            }),
            lines: status.lines.clone().map(Into::into),
            end_reason: status.end_reason.clone(),
            created_at: rfc3339(manifest.created_at),
            started_at: status.started_at.map(rfc3339),
            ended_at: status.ended_at.map(rfc3339),
            failure: status.failure().map(|store::Failure { message, exit_code, signal, log }| {
                Failure { message, exit_code, signal, log }
            }),
            attempt: status.last_attempt(),
            parent: manifest.parent.map(|parent| Parent {
                run_id: parent.run.to_string(),
                checkpoint: parent.checkpoint,
                step: parent.step,
            }),
            children: children.iter().map(ToString::to_string).collect(),
            config_hash: (manifest.kind == store::RunKind::Train)
                .then(|| experiment::seedless_hash(&manifest.config)),
            cost: cost.map(|(currency, cluster::RunCost { per_hour, so_far })| RunCost {
                currency,
                per_hour,
                so_far,
            }),
            experiment_id: manifest.experiment_id,
            group: manifest.group.map(Into::into),
            archived: is_archived,
            pinned: is_pinned,
            pinned_checkpoints: pinned_checkpoints.into_iter().collect(),
            capabilities: match manifest.kind {
                store::RunKind::Train => capabilities(state, status.checkpoint_step.is_some()),
                store::RunKind::External => {
                    let all = capabilities(state, status.checkpoint_step.is_some()).into_iter();
                    all.filter(|capability| capability.is_offered(state, &status)).collect()
                }
                store::RunKind::Eval if !state.is_active() => vec![Capability::Delete],
                store::RunKind::Eval if is_supervised => evaluation_capabilities(state),
                store::RunKind::Eval | store::RunKind::Human => Vec::new(),
            },
            wandb: status.wandb.map(Into::into),
            tuned: status.tuned,
        }
    }
}

/// The name for people of an environment or game.
fn name_of(id: &str) -> String {
    let environments = registry::environments().iter().map(|spec| (spec.id, spec.name));
    let games = registry::games().iter().map(|spec| (spec.id, spec.name));
    let found = environments.chain(games).find(|(known, _)| *known == id);
    found.map_or(id, |(_, name)| name).to_owned()
}

impl From<store::Evaluation> for Evaluation {
    fn from(evaluation: store::Evaluation) -> Self {
        let store::Evaluation { step, episodes, mean, std, ci95, mean_length, metrics } =
            evaluation;
        Self { step, episodes, mean, std, ci95, mean_length, metrics }
    }
}

/// A page of runs.
#[derive(Debug, Serialize, ToSchema)]
pub struct RunPage {
    /// The runs, newest first.
    pub runs: Vec<Run>,
    /// Ask with this for the next page; none after the last.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// Which page of runs.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct PageQuery {
    /// How many, at most 500.
    #[serde(default = "default_page")]
    #[param(required = false, minimum = 1, maximum = 500)]
    limit: usize,
    /// Where the page begins: `next_cursor` of the page before.
    cursor: Option<String>,
    /// Whether those that were put away are wanted, and not the others.
    #[serde(default)]
    #[param(required = false)]
    archived: bool,
    /// Only of these kinds, separated by commas; without it, all but the games of people.
    #[param(example = "train,eval")]
    kind: Option<String>,
    /// Only in these states, separated by commas.
    #[param(example = "running,lost")]
    state: Option<String>,
    /// Only of this environment or game.
    env: Option<String>,
    /// Only with this in their name, id or environment; case does not matter.
    q: Option<String>,
    /// Only of this experiment.
    experiment: Option<String>,
    /// Only of those that were made together.
    group: Option<String>,
}

impl PageQuery {
    fn filter(&self) -> Result<store::RunFilter, ApiError> {
        let mut filter = store::RunFilter::listed();
        if let Some(kinds) = &self.kind {
            filter.kinds = parse_words("kind", kinds)?;
        }
        if let Some(states) = &self.state {
            filter.states = parse_words("state", states)?;
        }
        filter.env_id = self.env.clone().filter(|id| !id.is_empty());
        filter.text = self.q.clone().filter(|text| !text.is_empty());
        filter.experiment_id = self.experiment.clone().filter(|id| !id.is_empty());
        if let Some(group) = self.group.as_deref().filter(|id| !id.is_empty()) {
            filter.group = Some(group.parse().map_err(RunError::Store)?);
        }
        Ok(filter)
    }
}

/// Words as files and answers have them, separated by commas.
pub(crate) fn parse_words<T: serde::de::DeserializeOwned>(
    name: &str,
    text: &str,
) -> Result<Vec<T>, ApiError> {
    let parse = |word: &str| {
        serde_json::from_value(Value::from(word))
            .map_err(|error| ApiError::Malformed(format!("`{name}`: {error}")))
    };
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(parse).collect()
}

fn default_page() -> usize {
    50
}

/// A run to be made: of an experiment, or in short of an environment. Several seeds make several
/// runs, which are a group.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRun {
    /// The experiment that it is made from.
    #[schema(example = "e-7f3k2m")]
    pub experiment_id: Option<String>,
    /// Settings that differ: from the experiment's only those in its `overrides_whitelist`, without
    /// an experiment any, by full path, in sections, or by alias.
    #[serde(default)]
    #[schema(value_type = Object, example = json!({ "trainer.learning_rate": 0.0005 }))]
    pub overrides: Map<String, Value>,
    /// A run for each of these, at most 100; without them one, with the seed that is configured.
    pub seeds: Option<NewSeeds>,
    /// Whether nothing is made, and the answer says what would be.
    #[serde(default)]
    pub dry_run: bool,
    /// Settings that go well together, laid over the defaults, where there is no experiment.
    #[schema(example = "fast")]
    pub preset: Option<String>,
    /// Id of the environment, where there is no experiment.
    #[schema(example = "CartPole-v1")]
    pub env_id: Option<String>,
    /// The algorithm; `ppo` unless it is said.
    #[schema(default = "ppo")]
    pub algorithm: Option<String>,
    /// Step size of the optimiser.
    #[schema(minimum = 0.000001, maximum = 1.0, default = 0.0003)]
    pub learning_rate: Option<f64>,
    /// Environment steps to train for.
    #[schema(minimum = 5000, maximum = 1000000000, default = 1000000)]
    pub total_timesteps: Option<u64>,
    /// The number that decides the whole run.
    #[schema(default = 42)]
    pub seed: Option<u64>,
    /// How often it is started again from its last checkpoint when it fails or is lost.
    #[schema(maximum = 1000)]
    pub restarts: Option<u32>,
    /// Seconds after which an attempt is stopped, with a last checkpoint.
    #[schema(exclusive_minimum = 0.0)]
    pub max_seconds: Option<f64>,
    /// What it needs; less is left for others while it is at work.
    pub resources: Option<NewResources>,
    /// Whether the W&B server that the lab knows is told of it as well: the one in its environment or
    /// in `lab.json`, with the lab's key.
    #[serde(default)]
    pub track: bool,
}

/// The seeds of several runs.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(
    untagged,
    expecting = "seeds are a list of whole numbers from 0, or {\"seed_base\": 1, \"count\": 5}"
)]
pub enum NewSeeds {
    /// These.
    List(Vec<u64>),
    /// So many, counting up from the first.
    Range {
        /// The first.
        seed_base: u64,
        /// How many.
        #[schema(minimum = 1, maximum = 100)]
        count: u64,
    },
}

impl NewSeeds {
    pub(crate) fn list(&self) -> Result<Vec<u64>, ConfigError> {
        let bad = |detail: String| ConfigError::BadValue { key: "seeds".to_owned(), detail };
        match self {
            Self::List(seeds) if seeds.is_empty() => Err(bad("there is none in it".to_owned())),
            Self::List(seeds) => Ok(seeds.clone()),
            Self::Range { seed_base, count } => {
                if !(1..=MOST_RUNS as u64).contains(count) {
                    return Err(bad(format!("{count} is not between 1 and {MOST_RUNS}")));
                }
                Ok((0..*count).map(|n| seed_base.saturating_add(n)).collect())
            }
        }
    }
}

/// What a run needs.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewResources {
    /// GPUs.
    #[schema(default = 0)]
    pub gpu: Option<u32>,
    /// CPU cores: `2`, `0.5` or `500m`.
    #[schema(default = "1")]
    pub cpu: Option<String>,
    /// Memory: `4Gi`, `512Mi`, or a number of bytes.
    #[schema(default = "256Mi")]
    pub memory: Option<String>,
}

/// Seconds before a run that failed is started again for the first time.
pub(crate) const BACKOFF_S: f64 = 5.0;

/// A run that was made, or the first of several.
#[derive(Debug, Serialize, ToSchema)]
pub struct CreatedRun {
    /// The run.
    #[serde(flatten)]
    pub run: Run,
    /// All that were made.
    pub run_ids: Vec<String>,
    /// What the client should know: that the id it gave is out of date, or that batches are uneven.
    #[schema(required)]
    pub notice: Option<String>,
}

/// What would be made.
#[derive(Debug, Serialize, ToSchema)]
pub struct RunPreview {
    /// The runs.
    pub runs: Vec<PlannedRun>,
    /// Other names of settings that were used, each with what it means.
    pub aliases: BTreeMap<String, String>,
    /// What the client should know: that the id it gave is out of date, or that batches are uneven.
    #[schema(required)]
    pub notice: Option<String>,
}

/// A run that would be made.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlannedRun {
    /// Its seed.
    pub seed: u64,
    /// Its manifest, without name and time.
    #[schema(value_type = Object)]
    pub manifest: Value,
    /// What differs from the experiment, or from the defaults where there is none.
    pub differences: Vec<Change>,
    /// How it would be started.
    pub job: Job,
}

/// A setting that differs.
#[derive(Debug, Serialize, ToSchema)]
pub struct Change {
    /// Its full path.
    pub path: String,
    /// What it was.
    #[schema(required)]
    pub old: Value,
    /// What it is.
    #[schema(required)]
    pub new: Value,
}

/// How a run is carried out.
#[derive(Debug, Serialize, ToSchema)]
pub struct Job {
    /// What its supervisor starts; `RUN` stands for the run's name.
    pub command: Vec<String>,
    /// CPU cores that are set aside for it.
    pub cpu: f64,
    /// Bytes of memory that are set aside for it.
    pub memory_bytes: u64,
    /// GPUs that are set aside for it.
    pub gpu: u32,
    /// Threads that learn.
    pub threads: usize,
    /// Seconds after which an attempt is ended.
    #[schema(required)]
    pub max_seconds: Option<f64>,
    /// How often it is started again by itself.
    pub restarts: u32,
    /// Seconds that it may take to save and end.
    pub stop_grace_s: f64,
}

impl From<experiment::PlannedRun> for PlannedRun {
    fn from(planned: experiment::PlannedRun) -> Self {
        let experiment::PlannedRun { seed, manifest, differences, job } = planned;
        let experiment::Job {
            command,
            cpu,
            memory_bytes,
            gpu,
            threads,
            max_seconds,
            restarts,
            stop_grace_s,
        } = job;
        let change = |experiment::Change { path, old, new }| Change { path, old, new };
        Self {
            seed,
            manifest,
            differences: differences.into_iter().map(change).collect(),
            job: Job {
                command,
                cpu,
                memory_bytes,
                gpu,
                threads,
                max_seconds,
                restarts,
                stop_grace_s,
            },
        }
    }
}

/// The answer to a run that was asked for.
#[derive(Debug)]
enum Made {
    Run(Box<CreatedRun>),
    Preview(RunPreview),
}

impl IntoResponse for Made {
    fn into_response(self) -> Response {
        match self {
            Self::Run(run) => (StatusCode::CREATED, Json(run)).into_response(),
            Self::Preview(preview) => Json(preview).into_response(),
        }
    }
}

/// List runs, newest first.
#[utoipa::path(
    get,
    path = "/api/runs",
    tag = "runs",
    params(PageQuery),
    responses((status = 200, body = RunPage), (status = 400, body = Problem), (status = 401, body = Problem)),
)]
async fn list_runs(
    State(state): State<AppState>,
    Query(query): Query<PageQuery>,
) -> Result<Json<RunPage>, ApiError> {
    let limit = query.limit.clamp(1, 500);
    let after = query.cursor.as_deref().map(parse_cursor).transpose()?;
    let filter = query.filter()?;
    // One more than asked for tells whether there is a next page.
    let mut views = state
        .ask(move |lab| lab.find_runs(&filter, limit + 1, after.as_ref(), query.archived))
        .await?;
    let more = views.len() > limit;
    views.truncate(limit);
    let next_cursor = views.last().filter(|_| more).map(|RunView { run, .. }| {
        format!("{:016x}{}", run.manifest.created_at.to_bits(), run.manifest.id)
    });
    Ok(Json(RunPage { runs: views.into_iter().map(Into::into).collect(), next_cursor }))
}

pub(crate) fn parse_cursor(text: &str) -> Result<Cursor, ApiError> {
    let parse = || {
        let created_at = f64::from_bits(u64::from_str_radix(text.get(..16)?, 16).ok()?);
        Some(Cursor { created_at, id: text.get(16..)?.parse().ok()? })
    };
    parse().ok_or_else(|| ApiError::Malformed("`cursor` is not one that this lab gave".to_owned()))
}

/// Make a run, or one for each of several seeds, and start it as soon as there is room. With
/// `dry_run`, say what would be made.
#[utoipa::path(
    post,
    path = "/api/runs",
    tag = "runs",
    request_body = NewRun,
    responses(
        (status = 200, description = "What would be made, with `dry_run`", body = RunPreview),
        (status = 201, body = CreatedRun),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 422, body = Problem),
    ),
)]
async fn start_run(
    State(state): State<AppState>,
    request: RequestKey,
    Body(new): Body<NewRun>,
) -> Result<Made, ApiError> {
    let (_, notice) = registry::present_id(new.env_id.as_deref().unwrap_or_default());
    new.check()?;
    let is_of_experiment = new.experiment_id.is_some();
    let made = state
        .ask(move |lab| {
            let plan = new.plan(lab)?;
            let terms = new.terms(lab)?;
            let words: Vec<String> = notice.into_iter().chain(plan.configs[0].warnings()).collect();
            let notice = (!words.is_empty()).then(|| words.join("; "));
            if new.dry_run {
                request.changes_nothing();
                let runs = lab.preview_runs(&plan, &terms)?;
                let runs = runs.into_iter().map(Into::into).collect();
                return Ok(Made::Preview(RunPreview { runs, aliases: plan.aliases, notice }));
            }
            let views = lab.start_runs(&plan, &terms, request.by())?;
            let run_ids = views.iter().map(|view| view.run.manifest.id.to_string()).collect();
            let first = views.into_iter().next().expect("a plan has a run");
            Ok(Made::Run(Box::new(CreatedRun { run: first.into(), run_ids, notice })))
        })
        .await;
    made.map_err(|error| match is_of_experiment {
        true => experiments::at_field(error, "/overrides"),
        false => at_field(error),
    })
}

impl NewRun {
    /// Complains about fields that do not go together.
    fn check(&self) -> Result<(), ApiError> {
        let wrong = |pointer: &str, detail: String| {
            Err(ApiError::Field { pointer: pointer.to_owned(), detail })
        };
        if let Some(seconds) = self.max_seconds.filter(|seconds| *seconds <= 0.0) {
            return wrong("/max_seconds", format!("{seconds} is not above 0"));
        }
        if self.experiment_id.is_none() {
            if self.env_id.is_none() {
                let detail = "say which environment, such as CartPole-v1, or name an experiment_id";
                return wrong("/env_id", detail.to_owned());
            }
            return Ok(());
        }
        let of_short_form = [
            ("/env_id", self.env_id.is_some()),
            ("/algorithm", self.algorithm.is_some()),
            ("/preset", self.preset.is_some()),
            ("/learning_rate", self.learning_rate.is_some()),
            ("/total_timesteps", self.total_timesteps.is_some()),
            ("/seed", self.seed.is_some()),
            ("/resources", self.resources.is_some()),
        ];
        match of_short_form.into_iter().find(|(_, is_given)| *is_given) {
            Some((pointer, _)) => {
                let detail = "the experiment has it: leave it out, or use overrides and seeds";
                wrong(pointer, detail.to_owned())
            }
            None => Ok(()),
        }
    }

    /// What is to be made.
    fn plan(&self, lab: &Lab) -> cartridge_run::Result<Plan> {
        let seeds = self.seeds.as_ref().map(NewSeeds::list).transpose()?.unwrap_or_default();
        let Some(id) = &self.experiment_id else {
            return Plan::of_resolved(self.config()?, &seeds);
        };
        let experiment = lab.experiment(&id.parse()?)?.experiment;
        Plan::of_experiment(experiment, &self.overrides, &seeds)
    }

    /// What the short form comes to.
    fn config(&self) -> Result<Resolved, ConfigError> {
        let env_id = self.env_id.as_deref().unwrap_or_default();
        let algo = self.algorithm.as_deref().unwrap_or_else(|| Algorithm::usual(env_id).id());
        let mut draft = Draft::new(env_id, algo)?;
        if let Some(preset) = &self.preset {
            draft.apply(preset)?;
        }
        let resources = self.resources.as_ref();
        for (key, value) in [
            ("resources.gpu", resources.and_then(|it| it.gpu).map(Value::from)),
            ("resources.cpu", resources.and_then(|it| it.cpu.clone()).map(Value::from)),
            ("resources.memory", resources.and_then(|it| it.memory.clone()).map(Value::from)),
            ("trainer.learning_rate", self.learning_rate.map(Value::from)),
            ("trainer.total_timesteps", self.total_timesteps.map(Value::from)),
            ("seeds.seed_base", self.seed.map(Value::from)),
        ] {
            if let Some(value) = value {
                draft.set(key, value)?;
            }
        }
        for (path, value) in flatten(&self.overrides) {
            draft.set(&path, value)?;
        }
        draft.resolve()
    }

    /// What holds whatever it trains.
    fn terms(&self, lab: &Lab) -> cartridge_run::Result<Terms> {
        let max = self.restarts.unwrap_or(0).min(1000);
        let restart = (max > 0).then_some(Restart { max, backoff_s: BACKOFF_S });
        let limits = Limits { max_seconds: self.max_seconds, ..Limits::default() };
        let server = || {
            let config = LabConfig::read(lab.data())?;
            Account::from_environment().server(&config, None, None)
        };
        let track = self.track.then(server).transpose()?;
        Ok(Terms { restart, limits, track, ..Terms::default() })
    }
}

/// Points a problem with the configuration at the field of [`NewRun`] that it came from.
fn at_field(error: ApiError) -> ApiError {
    let ApiError::Run(RunError::Config(config)) = &error else { return error };
    let pointer = match config {
        ConfigError::Registry(
            RegistryError::UnknownOption { .. } | RegistryError::BadOption { .. },
        ) => &*format!("/overrides{}", config.pointer()),
        ConfigError::UnknownAlgorithm { .. }
        | ConfigError::WrongAlgorithm { .. }
        | ConfigError::WrongActions { .. } => "/algorithm",
        ConfigError::UnknownPreset { .. } => "/preset",
        ConfigError::Registry(_) => "/env_id",
        ConfigError::UnknownSchema { .. } => return error,
        ConfigError::BadValue { key, .. }
        | ConfigError::NotTunable { key, .. }
        | ConfigError::NotForkable { key, .. }
        | ConfigError::NotOverridable { key, .. }
        | ConfigError::UnknownKey { key, .. } => match key.as_str() {
            "trainer.learning_rate" => "/learning_rate",
            "trainer.total_timesteps" => "/total_timesteps",
            "seeds.seed_base" => "/seed",
            "seeds" => "/seeds",
            "resources.gpu" => "/resources/gpu",
            "resources.cpu" => "/resources/cpu",
            "resources.memory" => "/resources/memory",
            _ => &*format!("/overrides{}", config.pointer()),
        },
    };
    ApiError::Field { pointer: pointer.to_owned(), detail: error.to_string() }
}

/// Show one run.
#[utoipa::path(
    get,
    path = "/api/runs/{id}",
    tag = "runs",
    params(("id" = String, Path, description = "Name of the run")),
    responses((status = 200, body = Run), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn show_run(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<Run>, ApiError> {
    let id = parse_id(&id)?;
    Ok(Json(state.ask(move |lab| lab.run(&id)).await?.into()))
}

/// Show the configuration of a run.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/config",
    tag = "runs",
    params(("id" = String, Path, description = "Name of the run")),
    responses((status = 200, body = Object), (status = 401, body = Problem), (status = 404, body = Problem)),
)]
async fn show_config(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let id = parse_id(&id)?;
    Ok(Json(state.ask(move |lab| lab.config(&id)).await?))
}

/// A run's name from the address.
pub(crate) fn parse_id(text: &str) -> Result<RunId, ApiError> {
    Ok(text.parse::<RunId>().map_err(RunError::from)?)
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list_runs, start_run))
        .routes(routes!(show_run))
        .routes(routes!(show_config))
}
