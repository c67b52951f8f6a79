//! `/api/runs/{id}/episodes`: the episodes of a run, listed, and each of them step by step.

use axum::Json;
use axum::extract::State;
use cartridge_games::game::Seat;
use cartridge_games::scene::Scene;
use cartridge_run::episode::{self, Archive};
use cartridge_run::lab::Lab;
use cartridge_run::store::EpisodeHead;
use cartridge_run::store::episodes::{Order, Sort};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::api::runs::parse_id;
use crate::api::telemetry::{Episode, episode_rows};
use crate::error::{ApiError, Problem};
use crate::extract::{Path, Query};

/// Episodes of a run.
#[derive(Debug, Serialize, ToSchema)]
pub struct EpisodeList {
    /// The run.
    pub run_id: String,
    /// Episodes that have ended in all, or those of the seed that was asked for.
    pub total: u64,
    /// Episodes of the whole run of which what was recorded is damaged or gone: they are missing in
    /// lists, or listed without being replayable to the end.
    pub damaged: u64,
    /// The episodes: the newest, oldest first, or as they were asked for.
    pub episodes: Vec<Episode>,
}

impl From<EpisodeHead> for Episode {
    fn from(head: EpisodeHead) -> Self {
        Self {
            episode: head.episode,
            reward: Some(head.reward).filter(|reward| reward.is_finite()),
            length: head.length,
            timestep: head.step,
            seed: head.seed,
            terminated: head.terminated,
            truncated: Some(head.truncated),
            timestamp: Some(head.t).filter(|t| t.is_finite()),
            lane: Some(head.lane),
            attempt: Some(head.attempt),
            checkpoint_step: head.checkpoint_step,
            episode_id: head.foreign_id,
            damaged: false,
        }
    }
}

/// What episodes are sorted by.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeSort {
    /// Their number, which is the order in which they ended.
    Number,
    /// The sum of their rewards.
    Return,
    /// Their steps.
    Length,
    /// When they ended.
    Time,
}

impl From<EpisodeSort> for Sort {
    fn from(sort: EpisodeSort) -> Self {
        match sort {
            EpisodeSort::Number => Self::Number,
            EpisodeSort::Return => Self::Return,
            EpisodeSort::Length => Self::Length,
            EpisodeSort::Time => Self::Time,
        }
    }
}

/// Which end of a list comes first.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SortOrder {
    /// The smallest.
    Asc,
    /// The largest.
    Desc,
}

impl From<SortOrder> for Order {
    fn from(order: SortOrder) -> Self {
        match order {
            SortOrder::Asc => Self::Ascending,
            SortOrder::Desc => Self::Descending,
        }
    }
}

/// Which episodes: the newest, or, with any of the other parameters, a part of the sorted list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// The newest so many, oldest first, at most 10,000; 100 when nothing is asked for.
    #[param(minimum = 1, maximum = 10000)]
    tail: Option<usize>,
    /// What they are sorted by: their number when left out.
    #[param(inline)]
    sort: Option<EpisodeSort>,
    /// Which end comes first: the largest, except for numbers, when left out.
    #[param(inline)]
    order: Option<SortOrder>,
    /// Only those that were reset with this number; `total` counts these.
    seed: Option<u64>,
    /// How many of the list come before.
    offset: Option<u64>,
    /// How many, at most 10,000; 100 when left out.
    #[param(minimum = 1, maximum = 10000)]
    limit: Option<usize>,
}

/// List the episodes of a run: the newest, or sorted by number, return, length or time.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/episodes",
    tag = "runs",
    params(("id" = String, Path, description = "Name of the run"), ListQuery),
    responses(
        (status = 200, body = EpisodeList),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
async fn list_episodes(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<ListQuery>,
) -> Result<Json<EpisodeList>, ApiError> {
    let id = parse_id(&id)?;
    let run_id = id.to_string();
    let ListQuery { tail, sort, order, seed, offset, limit } = query;
    let is_page =
        sort.is_some() || order.is_some() || seed.is_some() || offset.is_some() || limit.is_some();
    if tail.is_some() || !is_page {
        if is_page {
            let reason = "`tail` stands alone; use `limit` with a sorted list".to_owned();
            return Err(ApiError::Malformed(reason));
        }
        let tail = tail.unwrap_or(100).clamp(1, 10_000);
        let tail = move |lab: &Lab| {
            let columns = lab.episodes(&id, tail)?;
            let damaged = lab.with_archive(&id, Archive::n_damaged)?;
            let mut episodes = episode_rows(&columns);
            lab.with_archive(&id, |archive| mark_damaged(archive, damaged, &mut episodes))?;
            Ok((episodes, damaged))
        };
        let (episodes, damaged) = state.ask(tail).await?;
        let total = episodes.last().map_or(0, |newest| newest.episode);
        return Ok(Json(EpisodeList { run_id, total, damaged, episodes }));
    }
    let sort = sort.unwrap_or(EpisodeSort::Number).into();
    let order = match order {
        Some(order) => order.into(),
        None if sort == Sort::Number => Order::Ascending,
        None => Order::Descending,
    };
    let (offset, limit) = (offset.unwrap_or(0), limit.unwrap_or(100).clamp(1, 10_000));
    let ask = move |archive: &mut episode::Archive| {
        let page = match seed {
            Some(seed) => archive.page_of_seed(seed, sort, order, offset, limit)?,
            None => archive.page(sort, order, offset, limit)?,
        };
        let mut episodes = page.heads.into_iter().map(Into::into).collect::<Vec<_>>();
        mark_damaged(archive, page.n_damaged, &mut episodes)?;
        Ok(EpisodeList { run_id, total: page.total, damaged: page.n_damaged, episodes })
    };
    Ok(Json(state.ask(move |lab| lab.with_archive(&id, ask)).await?))
}

/// Says of each episode whether it is damaged, where any is.
fn mark_damaged(
    archive: &mut episode::Archive,
    n_damaged: u64,
    episodes: &mut [Episode],
) -> cartridge_run::Result<()> {
    if n_damaged > 0 {
        let numbers: Vec<u64> = episodes.iter().map(|episode| episode.episode).collect();
        let damaged = archive.damaged_among(&numbers)?;
        episodes.iter_mut().for_each(|it| it.damaged = damaged.contains(&it.episode));
    }
    Ok(())
}

/// An episode, step by step: with the seed and the actions, Gymnasium repeats it.
#[derive(Debug, Serialize, ToSchema)]
pub struct EpisodeReplay {
    /// The run.
    pub run_id: String,
    /// Id of the environment.
    pub env_id: String,
    /// Options of the environment.
    #[schema(value_type = Object)]
    pub options: Map<String, Value>,
    /// The episode in figures.
    pub episode: Episode,
    /// Steps that it has here.
    pub n_steps: u64,
    /// Whether its steps are computed again from its seed and actions, rather than stored.
    pub computed: bool,
    /// Whether computing it gave the return, the length and the end that were recorded; if not,
    /// the environment has changed since.
    pub matches: bool,
    /// Steps per second at its own pace, where the environment is ours.
    #[schema(required)]
    pub frames_per_second: Option<u32>,
    /// The moments that were asked for, in order.
    pub steps: Vec<EpisodeMoment>,
}

/// A moment of an episode.
#[derive(Debug, Serialize, ToSchema)]
pub struct EpisodeMoment {
    /// Actions before it: 0 is the start.
    pub step: u64,
    /// What was done: an index, a list of numbers, or what a foreign trainer said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = Value)]
    pub action: Option<Value>,
    /// What is seen: a list of numbers, or what a foreign trainer said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = Value)]
    pub observation: Option<Value>,
    /// What the action earned; none at the start, or where it was not finite.
    #[schema(required)]
    pub reward: Option<f64>,
    /// Whether the task itself has ended.
    pub terminated: bool,
    /// Whether the time limit was reached.
    pub truncated: bool,
    /// The actions that are legal next, where not all always are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legal: Option<Vec<usize>>,
    /// The seats whose pieces lie where each action of a game is chosen, the lowest first, for people
    /// who cannot see the board; only of games.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Vec<usize>>>)]
    pub pieces: Option<Vec<Vec<Seat>>>,
    /// Unix seconds, where a foreign trainer said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<f64>,
    /// The picture, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scene: Option<Scene>,
}

impl From<episode::Moment> for EpisodeMoment {
    fn from(moment: episode::Moment) -> Self {
        Self {
            step: moment.step,
            action: moment.action,
            observation: moment.observation,
            reward: moment.reward.filter(|reward| reward.is_finite()),
            terminated: moment.terminated.unwrap_or(false),
            truncated: moment.truncated.unwrap_or(false),
            legal: moment.legal,
            pieces: moment.pieces,
            timestamp: moment.t,
            scene: moment.scene,
        }
    }
}

/// Which part of an episode.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct ReplayQuery {
    /// The first step; 0 is the start.
    #[serde(default)]
    #[param(required = false)]
    from: u64,
    /// The step after the last. At most 10,000 steps are given at once, or 1,000 with scenes; so
    /// many when left out.
    to: Option<u64>,
    /// Whether each moment has its picture.
    #[serde(default)]
    #[param(required = false)]
    scenes: bool,
}

/// Show an episode step by step.
#[utoipa::path(
    get,
    path = "/api/runs/{id}/episodes/{n}",
    tag = "runs",
    params(
        ("id" = String, Path, description = "Name of the run"),
        ("n" = u64, Path, description = "Number of the episode in the run, from 1"),
        ReplayQuery,
    ),
    responses(
        (status = 200, body = EpisodeReplay),
        (status = 400, body = Problem),
        (status = 401, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem, description = "What was recorded is damaged, or cannot be stepped again"),
    ),
)]
async fn show_episode(
    State(state): State<AppState>,
    Path((id, n)): Path<(String, u64)>,
    Query(query): Query<ReplayQuery>,
) -> Result<Json<EpisodeReplay>, ApiError> {
    let id = parse_id(&id)?;
    let run_id = id.to_string();
    let ReplayQuery { from, to, scenes } = query;
    let most = from.saturating_add(if scenes { 1_000 } else { 10_000 });
    let to = to.unwrap_or(most).min(most);
    let show = move |archive: &mut episode::Archive| {
        let steps = archive.steps(n, from..to, scenes)?;
        let replay = archive.replay(n)?;
        let (head, n_steps, matches) = (replay.head.clone(), replay.n_steps(), replay.matches);
        let spec = replay.spec();
        Ok(EpisodeReplay {
            run_id,
            env_id: archive.manifest.env_id.clone(),
            options: archive.options.clone(),
            episode: head.into(),
            n_steps,
            computed: spec.is_some(),
            matches,
            frames_per_second: spec.map(|spec| spec.frames_per_second),
            steps: steps.into_iter().map(Into::into).collect(),
        })
    };
    Ok(Json(state.ask(move |lab| lab.with_archive(&id, show)).await?))
}

/// The routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list_episodes)).routes(routes!(show_episode))
}
