//! The stateless door: a cartridge by its name, with bytes for state, action and observation.
//!
//! ```text
//! let engine = EngineContext::new("connect4")?;
//! let view = engine.reset(seed, b"")?;
//! let transition = engine.step(&view.state, &3_u32.to_le_bytes())?;
//! ```
//!
//! | what | encoding |
//! |---|---|
//! | state | opaque, sealed by [`state`]: cartridge, version, options and a checksum around a payload. Of a board game the payload is the position as text; of an environment it is the episode so far, as reset seed and actions |
//! | action | discrete: the index as u32; continuous: one f32 per pair of bounds |
//! | observation | one f32 per element, in the cartridge's flat layout, as the seat to move sees it (seat 0 at the end) |
//! | planes | board games only: one f32 per element of the player-relative planes, own first |
//!
//! All numbers are little endian. The caller keeps the state; the same state and action give the
//! same bits in any process, today and from a state that was kept, on every machine whose C
//! library computes the same sines (Linux on x86-64 with FMA). What comes from another
//! version, another cartridge or other options, and what was never a state, is an
//! [`EngineError`] that says what to do. No input makes the engine panic or allocate more than
//! a few times its size.
//!
//! **The cost of a step** is that of the rules and of copying the state. An environment cannot be
//! built from its observation, so a context keeps the few that were stepped last: going on costs
//! one step, and branching from an older state replays the episode. Results never depend on what
//! was kept. Hot loops use [`Game`](crate::Game) and [`Env`] directly.

mod error;
mod live;
pub mod state;

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

pub use self::error::EngineError;
use self::live::LiveEnvs;
use self::state::Seal;
use crate::env::{ActionSpace, AnyAction, Env, EnvSpec};
use crate::game::{Action, Seat, Turn};
use crate::registry::{self, AnyGame, RegistryError, make_env};

/// A cartridge that can be reset and stepped. It may be shared between threads.
#[derive(Debug)]
pub struct EngineContext {
    door: Door,
}

#[derive(Debug)]
enum Door {
    Game(GameDoor),
    Env(EnvDoor),
}

/// A state and what can be seen in it.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The state, to be given to the next step.
    pub state: Vec<u8>,
    /// What the seat to move sees.
    pub observation: Vec<u8>,
    /// The board relative to the seat to move; empty for an environment.
    pub planes: Vec<u8>,
    /// Whether each discrete action may be taken; nothing may at the end. Empty when continuous.
    pub legal: Vec<bool>,
    /// Whose turn it is; nobody's at the end.
    pub seat: Option<Seat>,
}

/// What an action led to.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// What there is now.
    pub view: View,
    /// What each seat has won by this action: they sum to the score, or to the return.
    pub rewards: Vec<f64>,
    /// The game or task itself has ended.
    pub terminated: bool,
    /// The time limit was reached.
    pub truncated: bool,
    /// How much of the world's time has passed.
    pub ticks: u32,
    /// The action was not legal, so the environment idled instead. A board game refuses it.
    pub is_invalid: bool,
}

/// What a cartridge is, as far as a caller must know.
#[derive(Clone, Debug, PartialEq)]
pub struct Capabilities {
    /// Its id.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// Raised when its behaviour changes; states of another version are refused.
    pub version: u32,
    /// How a state is written.
    pub state: Encoding,
    /// How an action is written.
    pub action: Encoding,
    /// How an observation is written.
    pub observation: Encoding,
    /// How player-relative planes are written; an environment has none.
    pub planes: Option<Encoding>,
    /// What may be done.
    pub action_space: ActionSpace,
    /// Number of elements of an observation.
    pub observation_size: usize,
    /// Planes, rows and columns; an environment has none.
    pub planes_shape: Option<[usize; 3]>,
    /// Number of seats; 1 for an environment.
    pub n_seats: usize,
    /// No game or episode takes more steps than this.
    pub max_horizon: usize,
    /// How many states are best stepped by one call: about a MiB, and no more than are kept.
    pub preferred_batch: usize,
    /// No state has more bytes than this.
    pub max_state_bytes: usize,
    /// Whether some actions are at times not legal.
    pub is_masked: bool,
}

/// How bytes are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// Its name.
    pub name: &'static str,
    /// Raised when it changes.
    pub version: u32,
}

impl Encoding {
    /// A board game's state: its position as text.
    pub const POSITION: Self = Self { name: "cartridge-position", version: state::VERSION as u32 };
    /// An environment's state: its episode so far.
    pub const EPISODE: Self = Self { name: "cartridge-episode", version: state::VERSION as u32 };
    /// A discrete action.
    pub const INDEX: Self = Self { name: "u32-le", version: 1 };
    /// A continuous action, an observation or planes.
    pub const NUMBERS: Self = Self { name: "f32-le", version: 1 };
}

/// The longest id that is looked up; looking for a near one takes time and memory.
const MAX_ID_BYTES: usize = 64;
/// The longest text of a position that is read, several times that of any board.
const MAX_POSITION_BYTES: usize = 4096;
/// What a preferred batch may take.
const BATCH_BYTES: usize = 1 << 20;
/// The largest batch that is preferred, however small its elements.
const MAX_PREFERRED_BATCH: usize = 256;

impl EngineContext {
    /// The board game or environment `id`, with its default options.
    pub fn new(id: &str) -> Result<Self, EngineError> {
        Self::with_options(id, &Map::new())
    }

    /// The environment `id` with options of Gymnasium's names. Board games have none.
    ///
    /// Options are compared as they are given: a default that is spelt out makes other states
    /// than one that is left out.
    pub fn with_options(id: &str, options: &Map<String, Value>) -> Result<Self, EngineError> {
        if id.len() > MAX_ID_BYTES {
            return Err(EngineError::UnknownCartridge {
                id: format!("{}...", id.chars().take(MAX_ID_BYTES / 4).collect::<String>()),
                hint: "no id is so long".to_owned(),
            });
        }
        let door = if registry::games().iter().any(|spec| spec.id == id) {
            Door::Game(GameDoor::new(id, options)?)
        } else {
            Door::Env(EnvDoor::new(id, options)?)
        };
        Ok(Self { door })
    }

    /// Begins a game or an episode. The seed decides everything that is left to chance.
    ///
    /// `hint` says where to begin: of a board game it is a position as text, as the game draws
    /// it, that is not over. It is empty for the ordinary start, and an environment takes no other.
    pub fn reset(&self, seed: u64, hint: &[u8]) -> Result<View, EngineError> {
        match &self.door {
            Door::Game(door) => door.reset(seed, hint),
            Door::Env(door) => door.reset(seed, hint),
        }
    }

    /// Takes one action.
    pub fn step(&self, state: &[u8], action: &[u8]) -> Result<Transition, EngineError> {
        match &self.door {
            Door::Game(door) => door.step(state, action),
            Door::Env(door) => door.step(state, action),
        }
    }

    /// Takes one action in each state; what goes wrong in one does not touch the others.
    pub fn step_batch<'a>(
        &self,
        items: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
    ) -> Vec<Result<Transition, EngineError>> {
        items.into_iter().map(|(state, action)| self.step(state, action)).collect()
    }

    /// What the cartridge is.
    pub fn capabilities(&self) -> Capabilities {
        match &self.door {
            Door::Game(door) => door.capabilities(),
            Door::Env(door) => door.capabilities(),
        }
    }
}

/// A board game: its state is its position.
#[derive(Debug)]
struct GameDoor {
    /// Any position, which knows the rules.
    start: AnyGame,
    seal: Seal,
}

impl GameDoor {
    fn new(id: &str, options: &Map<String, Value>) -> Result<Self, EngineError> {
        if let Some(option) = options.keys().next() {
            return Err(EngineError::BadOptions(format!(
                "game `{id}` has no option `{option}`; board games have none"
            )));
        }
        let start = start_game(id, 0);
        let spec = start.spec();
        let seal = Seal::new(spec.id, spec.version, options, MAX_POSITION_BYTES);
        Ok(Self { start, seal })
    }

    fn reset(&self, seed: u64, hint: &[u8]) -> Result<View, EngineError> {
        if hint.is_empty() {
            return Ok(self.view(&start_game(self.start.spec().id, seed)));
        }
        let game = self.read(hint).map_err(EngineError::BadHint)?;
        if game.turn() == Turn::Over {
            return Err(EngineError::BadHint("the game is over in this position".to_owned()));
        }
        Ok(self.view(&game))
    }

    fn step(&self, state: &[u8], action: &[u8]) -> Result<Transition, EngineError> {
        let payload = self.seal.open(state)?;
        let mut game = self.read(payload).map_err(EngineError::ImpossibleState)?;
        // The text form is read with some leniency; a state is not, so that there is one for each
        // position.
        if game.to_string().as_bytes() != payload {
            let reason = "the position is not written as the game writes it";
            return Err(EngineError::ImpossibleState(reason.to_owned()));
        }
        let action = read_index(action, game.spec().n_actions)?;
        if game.turn() == Turn::Over {
            return Err(EngineError::Over);
        }
        let legal = game.legal_actions();
        if !legal.contains(&action) {
            return Err(EngineError::IllegalAction {
                action: action.0,
                legal: legal.into_iter().map(|Action(index)| index).collect(),
            });
        }
        let before = scores(&game);
        game.apply(action);
        let rewards = scores(&game).into_iter().zip(before).map(|(after, before)| after - before);
        Ok(Transition {
            view: self.view(&game),
            rewards: rewards.collect(),
            terminated: game.turn() == Turn::Over,
            truncated: false,
            ticks: 1,
            is_invalid: false,
        })
    }

    /// The position that `text` draws.
    fn read(&self, text: &[u8]) -> Result<AnyGame, String> {
        if text.len() > MAX_POSITION_BYTES {
            return Err(format!("no position takes {} bytes", text.len()));
        }
        let text = str::from_utf8(text).map_err(|error| error.to_string())?;
        self.start.read(text).map_err(|error| error.to_string())
    }

    fn view(&self, game: &AnyGame) -> View {
        let spec = game.spec();
        let seat = match game.turn() {
            Turn::Seat(seat) => Some(seat),
            Turn::Over => None,
        };
        let mut observation = vec![0.0; spec.observation];
        game.observe(seat.unwrap_or(Seat(0)), &mut observation);
        let mut planes = vec![0.0; spec.planes.iter().product()];
        game.observe_planes(seat.unwrap_or(Seat(0)), &mut planes);
        let mut legal = vec![false; spec.n_actions];
        for Action(index) in game.legal_actions() {
            legal[index] = true;
        }
        View {
            state: self.seal.seal(game.to_string().as_bytes()),
            observation: to_bytes(&observation),
            planes: to_bytes(&planes),
            legal,
            seat,
        }
    }

    fn capabilities(&self) -> Capabilities {
        let spec = self.start.spec();
        let planes: usize = spec.planes.iter().product();
        // A position takes about as much room as the one at the start.
        let state_bytes = self.view(&self.start).state.len();
        let element_bytes = state_bytes + 4 * (spec.observation + planes) + spec.n_actions;
        Capabilities {
            id: spec.id,
            name: spec.name,
            version: spec.version,
            state: Encoding::POSITION,
            action: Encoding::INDEX,
            observation: Encoding::NUMBERS,
            planes: Some(Encoding::NUMBERS),
            action_space: ActionSpace::Discrete(spec.n_actions),
            observation_size: spec.observation,
            planes_shape: Some(spec.planes),
            n_seats: spec.n_seats,
            max_horizon: spec.max_plies,
            preferred_batch: preferred_batch(element_bytes),
            max_state_bytes: self.seal.max_bytes(),
            is_masked: true,
        }
    }
}

/// An environment: its state is its episode so far, which is stepped in a world of its own.
#[derive(Debug)]
struct EnvDoor {
    spec: &'static EnvSpec,
    options: Map<String, Value>,
    seal: Seal,
    /// The environments that were stepped last. The lock is held to take one out and to put one
    /// in, and never while one steps, so that threads share what is kept and not each other's time.
    live: Mutex<LiveEnvs>,
}

/// The bytes of a payload before its actions: the reset seed.
const SEED_BYTES: usize = 8;

impl EnvDoor {
    fn new(id: &str, options: &Map<String, Value>) -> Result<Self, EngineError> {
        let made = make_env(id, options).map_err(|error| match error {
            RegistryError::UnknownEnvironment { id, .. } => {
                EngineError::UnknownCartridge { hint: registry::cartridge_hint(&id), id }
            }
            error => EngineError::BadOptions(error.to_string()),
        })?;
        let spec = made.spec();
        let max_payload_bytes = SEED_BYTES + spec.max_steps as usize * action_bytes(&spec.actions);
        let seal = Seal::new(spec.id, spec.version, options, max_payload_bytes);
        // Two batches of the preferred size.
        let capacity = 2 * preferred_batch(element_bytes(spec, &seal));
        let live = Mutex::new(LiveEnvs::new(capacity));
        Ok(Self { spec, options: options.clone(), seal, live })
    }

    fn reset(&self, seed: u64, hint: &[u8]) -> Result<View, EngineError> {
        if !hint.is_empty() {
            return Err(EngineError::BadHint(format!(
                "environment `{}` begins from its seed alone; leave the hint empty",
                self.spec.id
            )));
        }
        let (env, observation) = self.begin(seed);
        let view = self.view(self.seal.seal(&seed.to_le_bytes()), &*env, &observation, false);
        self.live().put(&view.state, env);
        Ok(view)
    }

    fn step(&self, state: &[u8], action: &[u8]) -> Result<Transition, EngineError> {
        let payload = self.seal.open(state)?;
        // Before anything is looked for, so that a wrong action is the same error, kept or not.
        let action = self.read_action(action)?;
        // The lock is let go before an episode is replayed.
        let kept = self.live().take(state);
        let mut env = match kept {
            Some(env) => env,
            None => self.replay(payload)?,
        };
        let mut observation = vec![0.0; self.spec.observation];
        let step = env.step(action.borrow(), &mut observation);
        let mut payload = payload.to_vec();
        write_action(&self.spec.actions, &action, &mut payload);
        let view = self.view(self.seal.seal(&payload), &*env, &observation, step.is_end());
        if !step.is_end() {
            self.live().put(&view.state, env);
        }
        Ok(Transition {
            view,
            rewards: vec![step.reward],
            terminated: step.terminated,
            truncated: step.truncated,
            ticks: step.ticks,
            is_invalid: step.is_invalid,
        })
    }

    /// Plays the episode of a state again. It must not have ended.
    fn replay(&self, payload: &[u8]) -> Result<Box<dyn Env>, EngineError> {
        let impossible = |reason: String| EngineError::ImpossibleState(reason);
        let Some((seed, actions)) = payload.split_first_chunk::<SEED_BYTES>() else {
            return Err(impossible(format!("an episode has a seed of {SEED_BYTES} bytes")));
        };
        let width = action_bytes(&self.spec.actions);
        if !actions.len().is_multiple_of(width) {
            let n_bytes = actions.len();
            return Err(impossible(format!("{n_bytes} bytes are no actions of {width} each")));
        }
        let n_actions = actions.len() / width;
        let (mut env, mut observation) = self.begin(u64::from_le_bytes(*seed));
        // Read one by one, because an action takes more room than its bytes.
        for (index, bytes) in actions.chunks_exact(width).enumerate() {
            let action = self.read_recorded(bytes).map_err(impossible)?;
            if env.step(action.borrow(), &mut observation).is_end() {
                return Err(match index + 1 {
                    n_played if n_played == n_actions => EngineError::Over,
                    n_played => impossible(format!(
                        "the episode ends after {n_played} of its {n_actions} actions"
                    )),
                });
            }
        }
        Ok(env)
    }

    fn read_recorded(&self, bytes: &[u8]) -> Result<AnyAction, String> {
        match self.spec.actions {
            ActionSpace::Discrete(n_actions) => {
                let mut index = [0; 4];
                index[..bytes.len()].copy_from_slice(bytes);
                check_index(u32::from_le_bytes(index), n_actions).map(AnyAction::Discrete)
            }
            ActionSpace::Continuous { .. } => read_numbers(bytes),
        }
    }

    fn read_action(&self, action: &[u8]) -> Result<AnyAction, EngineError> {
        match self.spec.actions {
            ActionSpace::Discrete(n_actions) => {
                Ok(AnyAction::Discrete(read_index(action, n_actions)?))
            }
            ActionSpace::Continuous { low, .. } if action.len() == 4 * low.len() => {
                read_numbers(action).map_err(EngineError::BadAction)
            }
            ActionSpace::Continuous { low, .. } => Err(EngineError::BadAction(format!(
                "it is {} numbers of four bytes (f32, little endian), and not {} bytes",
                low.len(),
                action.len()
            ))),
        }
    }

    /// A fresh world after its reset, and what is seen in it.
    fn begin(&self, seed: u64) -> (Box<dyn Env>, Vec<f32>) {
        let mut env = make_env(self.spec.id, &self.options).expect("they made one before");
        let mut observation = vec![0.0; self.spec.observation];
        env.reset(Some(seed), &mut observation);
        (env, observation)
    }

    fn view(&self, state: Vec<u8>, env: &dyn Env, observation: &[f32], is_over: bool) -> View {
        let mut legal = Vec::new();
        if let ActionSpace::Discrete(n_actions) = self.spec.actions {
            legal.resize(n_actions, false);
            if !is_over {
                env.legal_actions(&mut legal);
            }
        }
        let seat = (!is_over).then_some(Seat(0));
        View { state, observation: to_bytes(observation), planes: Vec::new(), legal, seat }
    }

    fn capabilities(&self) -> Capabilities {
        let spec = self.spec;
        Capabilities {
            id: spec.id,
            name: spec.name,
            version: spec.version,
            state: Encoding::EPISODE,
            action: match spec.actions {
                ActionSpace::Discrete(_) => Encoding::INDEX,
                ActionSpace::Continuous { .. } => Encoding::NUMBERS,
            },
            observation: Encoding::NUMBERS,
            planes: None,
            action_space: spec.actions,
            observation_size: spec.observation,
            planes_shape: None,
            n_seats: 1,
            max_horizon: spec.max_steps as usize,
            preferred_batch: preferred_batch(element_bytes(spec, &self.seal)),
            max_state_bytes: self.seal.max_bytes(),
            is_masked: spec.is_masked,
        }
    }

    fn live(&self) -> MutexGuard<'_, LiveEnvs> {
        // What a thread that panicked has left is whole: taking out and putting in are single steps.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The starting position of a game that is known to exist.
fn start_game(id: &str, seed: u64) -> AnyGame {
    AnyGame::start(id, &mut fastrand::Rng::with_seed(seed)).expect("the registry lists it")
}

fn scores(game: &AnyGame) -> Vec<f64> {
    (0..game.spec().n_seats).map(|seat| f64::from(game.score(Seat(seat)))).collect()
}

/// How many bytes an action of an episode takes: as few as will do.
fn action_bytes(space: &ActionSpace) -> usize {
    match space {
        ActionSpace::Discrete(..=0x100) => 1,
        ActionSpace::Discrete(..=0x1_0000) => 2,
        ActionSpace::Discrete(_) => 4,
        ActionSpace::Continuous { low, .. } => 4 * low.len(),
    }
}

fn write_action(space: &ActionSpace, action: &AnyAction, out: &mut Vec<u8>) {
    match action {
        AnyAction::Discrete(Action(index)) => {
            out.extend(&(*index as u32).to_le_bytes()[..action_bytes(space)]);
        }
        AnyAction::Continuous(numbers) => out.extend(to_bytes(numbers)),
    }
}

fn read_index(action: &[u8], n_actions: usize) -> Result<Action, EngineError> {
    let Ok(bytes) = <[u8; 4]>::try_from(action) else {
        return Err(EngineError::BadAction(format!(
            "it is an index of four bytes (u32, little endian), and not {} bytes",
            action.len()
        )));
    };
    check_index(u32::from_le_bytes(bytes), n_actions).map_err(EngineError::BadAction)
}

fn check_index(index: u32, n_actions: usize) -> Result<Action, String> {
    if (index as usize) < n_actions {
        return Ok(Action(index as usize));
    }
    Err(format!("action {index} is not below {n_actions}"))
}

/// Numbers of an action. Those beyond the bounds are the environment's to clip.
fn read_numbers(bytes: &[u8]) -> Result<AnyAction, String> {
    let numbers = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    let numbers: Vec<f32> = numbers.collect();
    if let Some(number) = numbers.iter().find(|number| !number.is_finite()) {
        return Err(format!("{number} is no number to act by"));
    }
    Ok(AnyAction::Continuous(numbers))
}

fn to_bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// What one element of a batch takes at most, when its episode is long.
fn element_bytes(spec: &EnvSpec, seal: &Seal) -> usize {
    seal.max_bytes() + 4 * spec.observation + spec.actions.size()
}

fn preferred_batch(element_bytes: usize) -> usize {
    (BATCH_BYTES / element_bytes).clamp(1, MAX_PREFERRED_BATCH)
}

#[cfg(test)]
mod tests;
