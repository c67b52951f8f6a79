//! The four methods of the engine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cartridge_games::engine::{Capabilities, EngineContext, EngineError, Transition, View};
use cartridge_games::{ActionSpace, Seat};
use serde_json::{Map, Value};
use tonic::{Code, Request, Response, Status};

use crate::v1;
use crate::v1::step_outcome::Outcome;

/// The largest message that is read. What is answered to it stays below the 4 MiB that clients
/// read by default.
pub const MAX_MESSAGE_BYTES: usize = 2 << 20;
/// How many states may be stepped by one call.
pub const MAX_BATCH: usize = 1024;
/// The longest options that are read; a complaint about them must fit into a header.
pub const MAX_OPTIONS_BYTES: usize = 1024;
/// How many cartridges are kept ready, each with environments that were stepped last.
const MAX_CONTEXTS: usize = 8;

/// The engine as a gRPC service. Clones share what is kept.
#[derive(Clone, Debug, Default)]
pub struct EngineService {
    contexts: Arc<Contexts>,
}

#[tonic::async_trait]
impl v1::engine_server::Engine for EngineService {
    async fn get_capabilities(
        &self,
        request: Request<v1::GetCapabilitiesRequest>,
    ) -> Result<Response<v1::GetCapabilitiesResponse>, Status> {
        let v1::GetCapabilitiesRequest { cartridge } = request.into_inner();
        let answer = self.ask(cartridge, |engine, _| Ok(engine.capabilities().into())).await?;
        Ok(Response::new(answer))
    }

    async fn reset(
        &self,
        request: Request<v1::ResetRequest>,
    ) -> Result<Response<v1::ResetResponse>, Status> {
        let v1::ResetRequest { cartridge, seed, hint } = request.into_inner();
        let view = self.ask(cartridge, move |engine, _| engine.reset(seed, &hint)).await?;
        Ok(Response::new(v1::ResetResponse { view: Some(view.into()) }))
    }

    async fn step(
        &self,
        request: Request<v1::StepRequest>,
    ) -> Result<Response<v1::StepResponse>, Status> {
        let v1::StepRequest { cartridge, state, action } = request.into_inner();
        let step = self.ask(cartridge, move |engine, _| engine.step(&state, &action)).await?;
        Ok(Response::new(step.into()))
    }

    async fn step_batch(
        &self,
        request: Request<v1::StepBatchRequest>,
    ) -> Result<Response<v1::StepBatchResponse>, Status> {
        let v1::StepBatchRequest { cartridge, items } = request.into_inner();
        if items.len() > MAX_BATCH {
            return Err(Status::invalid_argument(format!(
                "a batch of {} states is too large; send at most {MAX_BATCH} at once",
                items.len()
            )));
        }
        let step_all = move |engine: &EngineContext, abandoned: &AtomicBool| {
            // Nobody waits for the rest of an abandoned batch.
            let items = items.iter().take_while(|_| !abandoned.load(Ordering::Relaxed));
            let items = items.map(|item| (&item.state[..], &item.action[..]));
            Ok(engine.step_batch(items))
        };
        let outcomes = self.ask(cartridge, step_all).await?.into_iter().map(Into::into).collect();
        Ok(Response::new(v1::StepBatchResponse { outcomes }))
    }
}

impl EngineService {
    /// Asks a cartridge something, off the event loop: an old state may need a long replay.
    ///
    /// The question hears when nobody waits for its answer any more.
    async fn ask<T: Send + 'static>(
        &self,
        cartridge: Option<v1::Cartridge>,
        question: impl FnOnce(&EngineContext, &AtomicBool) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, Status> {
        let Some(cartridge) = cartridge else {
            return Err(Status::invalid_argument("say which cartridge is meant"));
        };
        let contexts = Arc::clone(&self.contexts);
        let waiting = Waiting::default();
        let abandoned = Arc::clone(&waiting.abandoned);
        let answer = tokio::task::spawn_blocking(move || {
            let engine = contexts.get(&cartridge)?;
            question(&engine, &abandoned).map_err(|error| status(&error))
        });
        answer.await.map_err(|error| Status::internal(format!("the engine failed: {error}")))?
    }
}

/// Somebody who waits for an answer; dropped with the call.
#[derive(Debug, Default)]
struct Waiting {
    abandoned: Arc<AtomicBool>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }
}

/// The cartridges that were asked for last, the newest first.
#[derive(Debug, Default)]
struct Contexts {
    kept: Mutex<Vec<(v1::Cartridge, Arc<EngineContext>)>>,
}

impl Contexts {
    fn get(&self, cartridge: &v1::Cartridge) -> Result<Arc<EngineContext>, Status> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = kept.iter().position(|(known, _)| known == cartridge) {
            kept[..=index].rotate_right(1);
            return Ok(Arc::clone(&kept[0].1));
        }
        let options = parse_options(&cartridge.options_json)?;
        let engine = EngineContext::with_options(&cartridge.id, &options);
        let engine = Arc::new(engine.map_err(|error| status(&error))?);
        kept.truncate(MAX_CONTEXTS - 1);
        kept.insert(0, (cartridge.clone(), Arc::clone(&engine)));
        Ok(engine)
    }
}

fn parse_options(text: &str) -> Result<Map<String, Value>, Status> {
    if text.is_empty() {
        return Ok(Map::new());
    }
    if text.len() > MAX_OPTIONS_BYTES {
        return Err(Status::invalid_argument(format!(
            "options of {} bytes are too long; the limit is {MAX_OPTIONS_BYTES}",
            text.len()
        )));
    }
    serde_json::from_str(text).map_err(|error| {
        Status::invalid_argument(format!("the options are not a JSON object: {error}"))
    })
}

/// The status of each error, in one place.
fn status(error: &EngineError) -> Status {
    Status::new(code(error), error.to_string())
}

fn code(error: &EngineError) -> Code {
    match error {
        EngineError::UnknownCartridge { .. } => Code::NotFound,
        EngineError::BadOptions(_)
        | EngineError::BadHint(_)
        | EngineError::NotAState { .. }
        | EngineError::Damaged
        | EngineError::OtherCartridge { .. }
        | EngineError::ImpossibleState(_)
        | EngineError::BadAction(_)
        | EngineError::IllegalAction { .. } => Code::InvalidArgument,
        EngineError::OtherEncoding { .. }
        | EngineError::OtherVersion { .. }
        | EngineError::OtherOptions { .. }
        | EngineError::Over => Code::FailedPrecondition,
    }
}

impl From<Capabilities> for v1::GetCapabilitiesResponse {
    fn from(facts: Capabilities) -> Self {
        let encoding = |encoding: cartridge_games::engine::Encoding| v1::Encoding {
            name: encoding.name.to_owned(),
            version: encoding.version,
        };
        Self {
            id: facts.id.to_owned(),
            name: facts.name.to_owned(),
            version: facts.version,
            state: Some(encoding(facts.state)),
            action: Some(encoding(facts.action)),
            observation: Some(encoding(facts.observation)),
            planes: facts.planes.map(encoding),
            action_space: Some(facts.action_space.into()),
            observation_size: facts.observation_size as u32,
            planes_shape: facts.planes_shape.iter().flatten().map(|&size| size as u32).collect(),
            seats: facts.n_seats as u32,
            max_horizon: facts.max_horizon as u32,
            preferred_batch: facts.preferred_batch as u32,
            max_batch: MAX_BATCH as u32,
            max_state_bytes: facts.max_state_bytes as u32,
            is_masked: facts.is_masked,
        }
    }
}

impl From<ActionSpace> for v1::ActionSpace {
    fn from(space: ActionSpace) -> Self {
        use v1::action_space::Kind;
        let kind = match space {
            ActionSpace::Discrete(n_actions) => Kind::Discrete(n_actions as u32),
            ActionSpace::Continuous { low, high } => {
                Kind::Continuous(v1::Bounds { low: low.to_vec(), high: high.to_vec() })
            }
        };
        Self { kind: Some(kind) }
    }
}

impl From<View> for v1::View {
    fn from(view: View) -> Self {
        Self {
            state: view.state,
            observation: view.observation,
            planes: view.planes,
            legal: view.legal.into_iter().map(u8::from).collect(),
            seat: view.seat.map(|Seat(seat)| seat as u32),
        }
    }
}

impl From<Transition> for v1::StepResponse {
    fn from(step: Transition) -> Self {
        Self {
            view: Some(step.view.into()),
            rewards: step.rewards,
            terminated: step.terminated,
            truncated: step.truncated,
            ticks: step.ticks,
            is_invalid: step.is_invalid,
        }
    }
}

impl From<Result<Transition, EngineError>> for v1::StepOutcome {
    fn from(result: Result<Transition, EngineError>) -> Self {
        let outcome = match result {
            Ok(step) => Outcome::Step(step.into()),
            Err(error) => Outcome::Error(v1::StepError {
                code: code(&error) as i32,
                message: error.to_string(),
            }),
        };
        Self { outcome: Some(outcome) }
    }
}
