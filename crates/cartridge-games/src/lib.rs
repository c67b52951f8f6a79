//! The rules, physics and pictures of every cartridge, and nothing else.
//!
//! # Layout
//!
//! * [`game`]: what a turn-based game must provide ([`Game`]).
//! * [`mod@env`]: what a single-agent environment must provide ([`Env`]).
//! * [`controls`]: the keys by which a person acts in one.
//! * [`board_env`]: a game as an environment, for whoever shows recorded games.
//! * [`time_limit`]: episodes that are cut off sooner.
//! * [`batch`]: many environments that are stepped by one call.
//! * [`engine`]: the stateless door, by name and bytes ([`EngineContext`]).
//! * [`scene`]: a picture as data, drawn by the browser and by nobody here.
//! * [`registry`]: every cartridge by its id, for callers that hold only a name.
//! * [`conformance`]: the checks that every cartridge passes, and its playthrough.
//! * One module per game ([`tic_tac_toe`], [`connect4`], [`othello`]) and per environment
//!   ([`cart_pole`], [`acrobot`], [`mountain_car`], [`mountain_car_continuous`], [`pendulum`],
//!   [`lunar_lander`], [`bipedal_walker`], [`asteroid_prospector`]).
//! * `rigid`: the rigid bodies of lander and walker.
//! * `square`: the eight symmetries of a square board.
//! * [`numpy_random`] and [`numpy_math`]: NumPy's random numbers and its arithmetic, so that
//!   seeds and steps mean what they mean in Gymnasium.
//! * [`seeds`]: which seed an episode gets.
//! * [`nearest()`]: the word that was probably meant.
//!
//! **Invariant:** no file, clock, thread, network or tensor is reachable from this crate.
//! Chance comes in through a seed, so a seed and a list of actions replay exactly.

pub mod acrobot;
pub mod asteroid_prospector;
pub mod batch;
pub mod bipedal_walker;
pub mod board_env;
pub mod cart_pole;
pub mod conformance;
pub mod connect4;
pub mod controls;
pub mod engine;
pub mod env;
pub mod game;
pub mod lunar_lander;
pub mod mountain_car;
pub mod mountain_car_continuous;
pub mod nearest;
pub mod numpy_math;
pub mod numpy_random;
pub mod othello;
pub mod pendulum;
pub mod registry;
mod rigid;
pub mod scene;
pub mod seeds;
mod square;
pub mod tic_tac_toe;
pub mod time_limit;

pub use crate::batch::{EnvActions, EnvBatch};
pub use crate::engine::{EngineContext, EngineError};
pub use crate::env::{ActionSpace, Actions, AnyAction, Env, EnvAction, EnvSpec, Step};
pub use crate::game::{
    Action, Game, GameSpec, ParseError, Seat, Spot, Turn, Urgent, random_action,
};
pub use crate::nearest::nearest;
pub use crate::registry::{AnyGame, RegistryError, environments, games, make_env, present_id};
pub use crate::scene::{Paint, Scene, Shape};
pub use crate::seeds::{EpisodeSeeds, Stream, episode_seed};

/// Chance as the games take it, for callers that start one.
pub use fastrand;
