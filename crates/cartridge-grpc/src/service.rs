//! The five methods.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use axum::Router;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Response, Status};

use crate::lab::Lab;
use crate::v1::trainer_service_server::TrainerService;
use crate::v1::{
    ArtifactsAvailable, Command, ControlRequest, Episode, Run, RunEvent, Step, StepCursor,
    StreamEpisodesRequest, StreamRunEventsRequest, StreamStepsRequest, SubmitRunRequest, run_event,
};
use crate::words;

/// How often a run is looked at for new episodes; the lab takes them in as often.
const LOOK: Duration = Duration::from_millis(250);

/// How long a stream waits that has asked enough for now.
const PAUSE: Duration = Duration::from_millis(500);

/// Episodes and steps that are read at once.
const PAGE: u64 = 1_000;

/// Messages that wait for a caller before the reading waits too.
const WAITING: usize = 64;

/// States from which a run does not come back by itself.
const ENDED: [&str; 4] = ["succeeded", "failed", "terminated", "lost"];

#[derive(Clone, Debug)]
pub(crate) struct Trainer {
    pub(crate) lab: Router,
}

/// What is sent to a caller, until it leaves.
type Sender<T> = mpsc::Sender<Result<T, Status>>;

/// The caller has left.
struct Left;

type Sent = Result<(), Told>;

/// Why a stream ends.
enum Told {
    /// The caller has left.
    Left,
    /// Something is wrong.
    Wrong(Status),
}

impl From<Status> for Told {
    fn from(status: Status) -> Self {
        Self::Wrong(status)
    }
}

impl From<Left> for Told {
    fn from(_: Left) -> Self {
        Self::Left
    }
}

async fn send<T>(to: &Sender<T>, message: T) -> Result<(), Left> {
    to.send(Ok(message)).await.map_err(|_| Left)
}

/// Answers with what `tell` sends.
fn stream<T, F>(tell: impl FnOnce(Sender<T>) -> F) -> Response<ReceiverStream<Result<T, Status>>>
where
    T: Send + 'static,
    F: Future<Output = Sent> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(WAITING);
    let telling = tell(sender.clone());
    tokio::spawn(async move {
        if let Err(Told::Wrong(status)) = telling.await {
            _ = sender.send(Err(status)).await;
        }
    });
    Response::new(ReceiverStream::new(receiver))
}

#[tonic::async_trait]
impl TrainerService for Trainer {
    type StreamStepsStream = ReceiverStream<Result<Step, Status>>;
    type StreamEpisodesStream = ReceiverStream<Result<Episode, Status>>;
    type StreamRunEventsStream = ReceiverStream<Result<RunEvent, Status>>;

    async fn submit_run(&self, call: Request<SubmitRunRequest>) -> Result<Response<Run>, Status> {
        let lab = Lab::new(&self.lab, &call);
        let asked = call.into_inner();
        let made = lab.post("/api/runs", words::new_run(&asked)?, &asked.request_key).await?;
        Ok(Response::new(words::run(&made)))
    }

    async fn control(&self, call: Request<ControlRequest>) -> Result<Response<Run>, Status> {
        let lab = Lab::new(&self.lab, &call);
        let asked = call.into_inner();
        let (word, body) = match asked.command() {
            Command::Unspecified => {
                let detail = "`command` is one of PAUSE, RESUME, STOP, TERMINATE, CHECKPOINT, TUNE";
                return Err(Status::invalid_argument(detail));
            }
            Command::Pause => ("pause", json!({})),
            Command::Resume => ("resume", json!({})),
            Command::Stop => ("stop", json!({})),
            Command::Terminate => ("terminate", json!({})),
            Command::Checkpoint => ("checkpoint", json!({})),
            Command::Tune => ("tune", json!({ "path": asked.path, "value": asked.value })),
        };
        let address = format!("{}/{word}", run_address(&asked.run_id));
        let run = lab.post(&address, body, &asked.request_key).await?;
        Ok(Response::new(words::run(&run)))
    }

    async fn stream_steps(
        &self,
        call: Request<StreamStepsRequest>,
    ) -> Result<Response<Self::StreamStepsStream>, Status> {
        let lab = Lab::new(&self.lab, &call);
        let StreamStepsRequest { run_id, since } = call.into_inner();
        let run = run_address(&run_id);
        // One that there is not is told of at once.
        lab.get(&run).await?;
        Ok(stream(|to| tell_steps(lab, run, since, to)))
    }

    async fn stream_episodes(
        &self,
        call: Request<StreamEpisodesRequest>,
    ) -> Result<Response<Self::StreamEpisodesStream>, Status> {
        let lab = Lab::new(&self.lab, &call);
        let StreamEpisodesRequest { run_id, since } = call.into_inner();
        let run = run_address(&run_id);
        lab.get(&run).await?;
        Ok(stream(|to| tell_episodes(lab, run, since, to)))
    }

    async fn stream_run_events(
        &self,
        call: Request<StreamRunEventsRequest>,
    ) -> Result<Response<Self::StreamRunEventsStream>, Status> {
        let lab = Lab::new(&self.lab, &call);
        let StreamRunEventsRequest { run_ids, since } = call.into_inner();
        let address = {
            let mut query = form_urlencoded::Serializer::for_suffix(
                "/api/stream?".to_owned(),
                "/api/stream?".len(),
            );
            if !run_ids.is_empty() {
                query.append_pair("runs", &run_ids.join(","));
            }
            if let Some(since) = since {
                query.append_pair("last_event_id", &since.to_string());
            }
            query.finish()
        };
        let events = lab.listen(&address).await?;
        Ok(stream(|to| tell_events(lab, events, to)))
    }
}

fn run_address(id: &str) -> String {
    let id: String = form_urlencoded::byte_serialize(id.as_bytes()).collect();
    format!("/api/runs/{id}")
}

/// Asks for a stream: one that has asked enough for now waits, and does not end.
async fn look(lab: &Lab, address: &str) -> Result<Value, Status> {
    loop {
        match lab.get(address).await {
            Err(status) if status.code() == Code::ResourceExhausted => {
                tokio::time::sleep(PAUSE).await;
            }
            answer => return answer,
        }
    }
}

/// Episodes after some number, as far as they have ended, and whether the run has too.
async fn episodes_after(lab: &Lab, run: &str, since: u64) -> Result<(Vec<Value>, bool), Status> {
    // Asked first: what ends in between is found by the second question.
    let state = look(lab, run).await?;
    let has_ended = state["state"].as_str().is_some_and(|state| ENDED.contains(&state));
    let list = |offset: u64| {
        let address = format!("{run}/episodes?sort=number&offset={offset}&limit={PAGE}");
        async move { look(lab, &address).await }
    };
    let mut page = list(since).await?;
    // Damaged ones are missing in the list, so that a number is no longer a place.
    if let damaged @ 1.. = page["damaged"].as_u64().unwrap_or(0) {
        page = list(since.saturating_sub(damaged)).await?;
    }
    let episodes = page["episodes"].as_array().cloned().unwrap_or_default();
    let is_new = |episode: &Value| episode["episode"].as_u64().is_some_and(|n| n > since);
    let episodes: Vec<Value> = episodes.into_iter().filter(is_new).collect();
    Ok((episodes, has_ended))
}

async fn tell_episodes(lab: Lab, run: String, mut since: u64, to: Sender<Episode>) -> Sent {
    loop {
        let (episodes, has_ended) = episodes_after(&lab, &run, since).await?;
        if episodes.is_empty() && has_ended {
            return Ok(());
        }
        for episode in &episodes {
            let episode = words::episode(episode);
            since = episode.episode;
            send(&to, episode).await?;
        }
        wait(&to, episodes.is_empty()).await?;
    }
}

async fn tell_steps(lab: Lab, run: String, since: Option<StepCursor>, to: Sender<Step>) -> Sent {
    let StepCursor { episode, step } = since.unwrap_or_default();
    // The episode of the last step may have more.
    let (mut since, mut begun) = (episode.saturating_sub(1), (episode, step));
    loop {
        let (episodes, has_ended) = episodes_after(&lab, &run, since).await?;
        if episodes.is_empty() && has_ended {
            return Ok(());
        }
        for episode in &episodes {
            let number = episode["episode"].as_u64().unwrap_or(0);
            let mut next = if number == begun.0 { begun.1 + 1 } else { 1 };
            begun = (0, 0);
            loop {
                let address = format!("{run}/episodes/{number}?from={next}&to={}", next + PAGE);
                let replay = match look(&lab, &address).await {
                    Ok(replay) => replay,
                    // One that is damaged, or was told without its steps, has none to tell.
                    Err(status) if status.code() == Code::FailedPrecondition => break,
                    Err(status) => return Err(status.into()),
                };
                for step in replay["steps"].as_array().into_iter().flatten() {
                    let step = words::step(number, step);
                    next = step.step + 1;
                    send(&to, step).await?;
                }
                if next > replay["n_steps"].as_u64().unwrap_or(0) {
                    break;
                }
            }
            since = number;
        }
        wait(&to, episodes.is_empty()).await?;
    }
}

/// Waits a little where there was nothing to tell, unless the caller has left.
async fn wait<T>(to: &Sender<T>, is_idle: bool) -> Result<(), Left> {
    if is_idle {
        tokio::time::sleep(LOOK).await;
    }
    if to.is_closed() { Err(Left) } else { Ok(()) }
}

async fn tell_events(lab: Lab, mut events: crate::lab::Events, to: Sender<RunEvent>) -> Sent {
    // The artifacts that were told of, by run.
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    loop {
        let told = tokio::select! {
            told = events.next() => told?,
            () = to.closed() => return Err(Told::Left),
        };
        let Some(told) = told else { return Ok(()) };
        let Some(message) = told.data else { continue };
        let event = if message["type"] == "ArtifactsAvailable" {
            let run_id = words::run_of(&message);
            let of_run = known.entry(run_id.clone()).or_default();
            let address = format!("{}/artifacts", run_address(&run_id));
            // A run that was deleted meanwhile has none.
            let list = look(&lab, &address).await.unwrap_or_default();
            let all = list["artifacts"].as_array().into_iter().flatten().map(words::artifact);
            let artifacts = all.filter(|artifact| of_run.insert(artifact.id.clone())).collect();
            let entry = Some(words::entry(&message["entry"]));
            let event =
                run_event::Event::ArtifactsAvailable(ArtifactsAvailable { artifacts, entry });
            Some(RunEvent { id: told.id, run_id, event: Some(event) })
        } else {
            words::event(told.id, &message)
        };
        if let Some(event) = event {
            send(&to, event).await?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use axum::Json;
    use axum::http::StatusCode;
    use axum::response::{IntoResponse as _, Response as Answer};
    use axum::routing::get;

    use super::*;

    static N_ASKED: AtomicU32 = AtomicU32::new(0);

    async fn answer() -> Answer {
        match N_ASKED.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => (StatusCode::TOO_MANY_REQUESTS, Json(json!({}))).into_response(),
            2 => Json(json!({ "n": 7 })).into_response(),
            _ => (StatusCode::NOT_FOUND, Json(json!({}))).into_response(),
        }
    }

    #[test]
    fn a_sign_of_life_is_no_event() {
        assert_eq!(words::event(7, &json!({ "type": "Alive" })), None);
    }

    #[test]
    fn a_stream_that_has_asked_enough_waits() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let app = Router::new().route("/n", get(answer));
        let lab = Lab::new(&app, &Request::new(()));
        runtime.block_on(async {
            assert_eq!(look(&lab, "/n").await.unwrap()["n"], 7);
            assert_eq!(look(&lab, "/n").await.unwrap_err().code(), Code::NotFound);
        });
        assert_eq!(N_ASKED.load(Ordering::SeqCst), 4);
    }
}
