//! Every cartridge by its id, for callers that hold only a name.
//!
//! Adding a cartridge adds its line to [`environments`] and [`make_env`], or its variant to
//! [`AnyGame`]; the compiler names the places that are left.

use std::fmt;

use serde_json::{Map, Value};

use crate::acrobot::{self, Acrobot};
use crate::asteroid_prospector::{self, AsteroidProspector};
use crate::bipedal_walker::{self, BipedalWalker};
use crate::board_env::BoardEnv;
use crate::cart_pole::{self, CartPole};
use crate::connect4::Connect4;
use crate::env::{Env, EnvSpec};
use crate::game::{Action, Game, GameSpec, ParseError, Seat, Spot, Turn};
use crate::lunar_lander::{self, LunarLander};
use crate::mountain_car::{self, MountainCar};
use crate::mountain_car_continuous::{self, MountainCarContinuous};
use crate::nearest::nearest;
use crate::othello::Othello;
use crate::pendulum::{self, Pendulum};
use crate::scene::Scene;
use crate::tic_tac_toe::TicTacToe;
use crate::time_limit::{self, MAX_EPISODE_STEPS};

/// Facts of every environment.
pub fn environments() -> &'static [&'static EnvSpec] {
    static ALL: [&EnvSpec; 9] = [
        &cart_pole::SPEC,
        &lunar_lander::SPEC,
        &bipedal_walker::SPEC,
        &bipedal_walker::HARDCORE_SPEC,
        &acrobot::SPEC,
        &mountain_car::SPEC,
        &mountain_car_continuous::SPEC,
        &pendulum::SPEC,
        &asteroid_prospector::SPEC,
    ];
    &ALL
}

/// Facts of every game.
pub fn games() -> &'static [GameSpec] {
    &[TicTacToe::SPEC, Connect4::SPEC, Othello::SPEC]
}

/// The id under which an environment is kept now, and for an old id a notice that says so.
pub fn present_id(id: &str) -> (&str, Option<String>) {
    /// Old ids and what has taken their place.
    const REPLACED: [(&str, &str); 1] = [("LunarLander-v2", "LunarLander-v3")];
    match REPLACED.iter().find(|(old, _)| *old == id) {
        Some((old, new)) => (new, Some(format!("`{old}` is out of date; this is `{new}`"))),
        None => (id, None),
    }
}

/// A new environment, waiting for its first reset. `options` bear Gymnasium's names.
///
/// An old id makes what has taken its place; [`present_id`] says so.
pub fn make_env(id: &str, options: &Map<String, Value>) -> Result<Box<dyn Env>, RegistryError> {
    let (limit, own_options) = time_limit::take(options);
    let env = make_whole(id, &own_options)?;
    let id = env.spec().id;
    time_limit::limit(env, limit)
        .map_err(|reason| RegistryError::BadOption { env: id.to_owned(), reason })
}

/// One whose episodes last as long as the environment itself has it.
fn make_whole(id: &str, options: &Map<String, Value>) -> Result<Box<dyn Env>, RegistryError> {
    let (id, _) = present_id(id);
    match id {
        "CartPole-v1" => {
            let config = parse_options(id, options, cart_pole::Config::OPTIONS)?;
            Ok(Box::new(CartPole::new(config)))
        }
        "Acrobot-v1" => {
            let config = parse_options(id, options, acrobot::Config::OPTIONS)?;
            Ok(Box::new(Acrobot::new(config)))
        }
        "MountainCar-v0" => {
            let config = parse_options(id, options, mountain_car::Config::OPTIONS)?;
            Ok(Box::new(MountainCar::new(config)))
        }
        "MountainCarContinuous-v0" => {
            let config = parse_options(id, options, mountain_car_continuous::Config::OPTIONS)?;
            Ok(Box::new(MountainCarContinuous::new(config)))
        }
        "Pendulum-v1" => {
            let config = parse_options(id, options, pendulum::Config::OPTIONS)?;
            Ok(Box::new(Pendulum::new(config)))
        }
        "LunarLander-v3" => {
            let config: lunar_lander::Config =
                parse_options(id, options, lunar_lander::Config::OPTIONS)?;
            config
                .check()
                .map_err(|reason| RegistryError::BadOption { env: id.to_owned(), reason })?;
            Ok(Box::new(LunarLander::new(config)))
        }
        "BipedalWalker-v3" => {
            let config = parse_options(id, options, bipedal_walker::Config::OPTIONS)?;
            Ok(Box::new(BipedalWalker::new(config)))
        }
        "BipedalWalkerHardcore-v3" => {
            let config = parse_options(id, options, bipedal_walker::Config::OPTIONS)?;
            Ok(Box::new(BipedalWalker::hardcore(config)))
        }
        "AsteroidProspector-v0" => {
            let config = parse_options(id, options, asteroid_prospector::Config::OPTIONS)?;
            Ok(Box::new(AsteroidProspector::new(config)))
        }
        _ => Err(unknown_environment(id)),
    }
}

/// A new environment, or a game that one actor plays for both seats: whatever has episodes.
pub fn make_world(id: &str, options: &Map<String, Value>) -> Result<Box<dyn Env>, RegistryError> {
    if !is_game(id) {
        return make_env(id, options);
    }
    let game = AnyGame::start(id, &mut fastrand::Rng::with_seed(0))?;
    Ok(match game {
        AnyGame::TicTacToe(game) => Box::new(BoardEnv::new(game)),
        AnyGame::Connect4(game) => Box::new(BoardEnv::new(game)),
        AnyGame::Othello(game) => Box::new(BoardEnv::new(game)),
    })
}

/// The options of an environment with their defaults.
pub fn env_options(id: &str) -> Result<Map<String, Value>, RegistryError> {
    let (id, _) = present_id(id);
    let defaults = match id {
        "CartPole-v1" => serde_json::to_value(cart_pole::Config::default()),
        "Acrobot-v1" => serde_json::to_value(acrobot::Config::default()),
        "MountainCar-v0" => serde_json::to_value(mountain_car::Config::default()),
        "MountainCarContinuous-v0" => {
            serde_json::to_value(mountain_car_continuous::Config::default())
        }
        "Pendulum-v1" => serde_json::to_value(pendulum::Config::default()),
        "LunarLander-v3" => serde_json::to_value(lunar_lander::Config::default()),
        "BipedalWalker-v3" | "BipedalWalkerHardcore-v3" => {
            serde_json::to_value(bipedal_walker::Config::default())
        }
        "AsteroidProspector-v0" => serde_json::to_value(asteroid_prospector::Config::default()),
        _ => return Err(unknown_environment(id)),
    };
    match defaults {
        Ok(Value::Object(mut options)) => {
            let own_limit = make_whole(id, &options)?.spec().max_steps;
            options.insert(MAX_EPISODE_STEPS.to_owned(), own_limit.into());
            Ok(options)
        }
        _ => unreachable!("options are plain data"),
    }
}

/// What may go wrong when a cartridge is asked for by name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// No environment has this id.
    #[error("unknown environment `{id}`; {hint}")]
    UnknownEnvironment {
        /// What was asked for.
        id: String,
        /// What may have been meant.
        hint: String,
    },
    /// No game has this id.
    #[error("unknown game `{id}`; {hint}")]
    UnknownGame {
        /// What was asked for.
        id: String,
        /// What may have been meant.
        hint: String,
    },
    /// Neither a game nor an environment has this id.
    #[error("unknown game or environment `{id}`; {hint}")]
    UnknownCartridge {
        /// What was asked for.
        id: String,
        /// What may have been meant.
        hint: String,
    },
    /// The environment has no such option.
    #[error("environment `{env}` has no option `{option}`; {hint}")]
    UnknownOption {
        /// Id of the environment.
        env: String,
        /// The option that was given.
        option: String,
        /// What may have been meant.
        hint: String,
    },
    /// The environment has the option, but the value does not fit it.
    #[error("bad options for environment `{env}`: {reason}")]
    BadOption {
        /// Id of the environment.
        env: String,
        /// What is wrong with the value.
        reason: String,
    },
}

/// A game in progress whose rules are known at run time only.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyGame {
    /// Tic-tac-toe.
    TicTacToe(TicTacToe),
    /// Connect 4.
    Connect4(Connect4),
    /// Othello.
    Othello(Othello),
}

/// Runs the expression on the game inside.
#[macro_export]
macro_rules! with_game {
    ($any:expr, $game:ident => $body:expr) => {
        match $any {
            $crate::registry::AnyGame::TicTacToe($game) => $body,
            $crate::registry::AnyGame::Connect4($game) => $body,
            $crate::registry::AnyGame::Othello($game) => $body,
        }
    };
}

impl From<TicTacToe> for AnyGame {
    fn from(game: TicTacToe) -> Self {
        Self::TicTacToe(game)
    }
}

impl From<Connect4> for AnyGame {
    fn from(game: Connect4) -> Self {
        Self::Connect4(game)
    }
}

impl From<Othello> for AnyGame {
    fn from(game: Othello) -> Self {
        Self::Othello(game)
    }
}

impl AnyGame {
    /// The starting position of the game `id`.
    pub fn start(id: &str, rng: &mut fastrand::Rng) -> Result<Self, RegistryError> {
        match id {
            "tictactoe" => Ok(Self::TicTacToe(TicTacToe::start(rng))),
            "connect4" => Ok(Self::Connect4(Connect4::start(rng))),
            "othello" => Ok(Self::Othello(Othello::start(rng))),
            _ => Err(unknown_game(id)),
        }
    }

    /// Facts that hold for every position of the game.
    pub fn spec(&self) -> &'static GameSpec {
        with_game!(self, game => spec_of(game))
    }

    /// Whose turn it is, or that the game is over.
    pub fn turn(&self) -> Turn {
        with_game!(self, game => game.turn())
    }

    /// The legal actions, ascending; empty exactly when the game is over.
    pub fn legal_actions(&self) -> Vec<Action> {
        with_game!(self, game => game.legal_actions().collect())
    }

    /// Plays `action`, which must be legal.
    pub fn apply(&mut self, action: Action) {
        with_game!(self, game => game.apply(action));
    }

    /// What `seat` has won so far.
    pub fn score(&self, seat: Seat) -> f32 {
        with_game!(self, game => game.score(seat))
    }

    /// Writes what `seat` sees into `out`, which has [`GameSpec::observation`] elements.
    pub fn observe(&self, seat: Seat, out: &mut [f32]) {
        with_game!(self, game => game.observe(seat, out));
    }

    /// Writes the board as planes relative to `seat` into `out`, which has the elements of
    /// [`GameSpec::planes`].
    pub fn observe_planes(&self, seat: Seat, out: &mut [f32]) {
        with_game!(self, game => game.observe_planes(seat, out));
    }

    /// The position of the same game that `text` draws.
    pub fn read(&self, text: &str) -> Result<Self, ParseError> {
        match self {
            Self::TicTacToe(_) => text.parse().map(Self::TicTacToe),
            Self::Connect4(_) => text.parse().map(Self::Connect4),
            Self::Othello(_) => text.parse().map(Self::Othello),
        }
    }

    /// The position as a picture.
    pub fn scene(&self) -> Scene {
        with_game!(self, game => game.scene())
    }

    /// Where in the scene each action is chosen, one spot per action, in order.
    pub fn spots(&self) -> Vec<Spot> {
        with_game!(self, game => spots_of(game))
    }

    /// Whose pieces lie where `action` is chosen, the lowest first.
    pub fn pieces(&self, action: Action) -> Vec<Seat> {
        with_game!(self, game => game.pieces(action))
    }

    /// The number of symmetries of the board, the identity included.
    pub fn n_symmetries(&self) -> usize {
        with_game!(self, game => n_symmetries_of(game))
    }

    /// The name of `action` for people.
    pub fn action_name(&self, action: Action) -> String {
        with_game!(self, game => name_of(game, action))
    }
}

impl fmt::Display for AnyGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_game!(self, game => game.fmt(f))
    }
}

fn spec_of<G: Game>(_game: &G) -> &'static GameSpec {
    const { &G::SPEC }
}

fn n_symmetries_of<G: Game>(_game: &G) -> usize {
    G::N_SYMMETRIES
}

fn spots_of<G: Game>(_game: &G) -> Vec<Spot> {
    G::spots()
}

fn name_of<G: Game>(_game: &G, action: Action) -> String {
    G::action_name(action)
}

/// What may have been meant by a word that is no cartridge's id.
pub(crate) fn cartridge_hint(word: &str) -> String {
    hint(word, game_ids().chain(environment_ids()), "the cartridges are")
}

fn unknown_environment(id: &str) -> RegistryError {
    let id = id.to_owned();
    let hint = if is_game(&id) {
        format!("`{id}` is a game: play it, or pick one of: {}", list(environment_ids()))
    } else {
        hint(&id, environment_ids(), "the environments are")
    };
    RegistryError::UnknownEnvironment { id, hint }
}

fn unknown_game(id: &str) -> RegistryError {
    let id = id.to_owned();
    let hint = if is_environment(&id) {
        format!("`{id}` is an environment: train on it, or pick one of: {}", list(game_ids()))
    } else {
        hint(&id, game_ids(), "the games are")
    };
    RegistryError::UnknownGame { id, hint }
}

fn parse_options<T: serde::de::DeserializeOwned>(
    env: &str,
    options: &Map<String, Value>,
    known: &'static [&'static str],
) -> Result<T, RegistryError> {
    if let Some(option) = options.keys().find(|option| !known.contains(&option.as_str())) {
        return Err(RegistryError::UnknownOption {
            env: env.to_owned(),
            option: option.clone(),
            hint: hint(option, known.iter().copied().chain([MAX_EPISODE_STEPS]), "its options are"),
        });
    }
    serde_json::from_value(Value::Object(options.clone())).map_err(|error| {
        RegistryError::BadOption { env: env.to_owned(), reason: error.to_string() }
    })
}

/// The word that was probably meant; when none is near, all there are.
fn hint(
    word: &str,
    known: impl Iterator<Item = &'static str> + Clone,
    introduction: &str,
) -> String {
    match nearest(word, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{introduction}: {}", list(known)),
    }
}

fn list(ids: impl Iterator<Item = &'static str>) -> String {
    ids.map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
}

fn environment_ids() -> impl Iterator<Item = &'static str> + Clone {
    environments().iter().map(|spec| spec.id)
}

fn game_ids() -> impl Iterator<Item = &'static str> + Clone {
    games().iter().map(|spec| spec.id)
}

/// Neither a game nor an environment has this id.
pub fn unknown_cartridge(id: &str) -> RegistryError {
    let hint = hint(id, game_ids().chain(environment_ids()), "there are");
    RegistryError::UnknownCartridge { id: id.to_owned(), hint }
}

fn is_environment(id: &str) -> bool {
    environment_ids().any(|known| known == id)
}

/// Whether a game has this id.
pub fn is_game(id: &str) -> bool {
    game_ids().any(|known| known == id)
}

#[cfg(test)]
mod tests;
