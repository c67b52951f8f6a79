//! All that a training is made of between two updates, beside its network and the games in its
//! window: taken out, stored, and put back, so that what was interrupted goes on bit for bit as if it
//! had not been.
//!
//! Games that are under way are in it. Their searches are not: they begin anew after every update,
//! because the network is then another.
//!
//! # File
//!
//! A state is stored as JSON; what belongs to the learner is a file of its own.

use cartridge_games::Game;
use serde::{Deserialize, Serialize};

use super::record::PlayedGame;
use super::self_play::LaneState;
use super::{AlphaZero, Config};
use crate::board_learner::{self, BoardLearner};
use crate::board_net::BoardNet;
use crate::ppo::StateError;
use crate::schedule::Schedule;
use crate::team::Team;

const FORMAT: u32 = 1;

/// All that a training is made of, beside its network and its games.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    numbers: Numbers,
    learner: board_learner::State,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    format: u32,
    step: u64,
    n_games: u64,
    n_positions: u64,
    n_updates: u64,
    owed: f64,
    n_window_games: usize,
    /// It may have been tuned.
    learning_rate: Schedule,
    lanes: Vec<LaneState>,
}

impl State {
    /// Plies so far.
    pub fn step(&self) -> u64 {
        self.numbers.step
    }

    /// Games that ended so far.
    pub fn n_games(&self) -> u64 {
        self.numbers.n_games
    }

    /// The step size of the optimiser, as it was set then.
    pub fn learning_rate(&self) -> Schedule {
        self.numbers.learning_rate
    }

    /// Sets the step size, for whoever goes on from here.
    pub fn tune_learning_rate(&mut self, learning_rate: Schedule) {
        self.numbers.learning_rate = learning_rate;
    }

    /// How many of the newest games are in the window.
    pub fn n_window_games(&self) -> usize {
        self.numbers.n_window_games
    }

    /// The state as two files: JSON, and the learner's.
    pub fn to_bytes(&self) -> [Vec<u8>; 2] {
        let text = serde_json::to_vec(&self.numbers).expect("numbers are plain data");
        [text, self.learner.to_bytes()]
    }

    /// The state in two files.
    pub fn from_bytes([text, learner]: [&[u8]; 2]) -> Result<Self, StateError> {
        let content = |error: serde_json::Error| StateError::Content(error.to_string());
        let numbers: Numbers = serde_json::from_slice(text).map_err(content)?;
        if numbers.format != FORMAT {
            let message = format!("it has format {}, and {FORMAT} is known", numbers.format);
            return Err(StateError::Content(message));
        }
        Ok(Self { numbers, learner: board_learner::State::from_bytes(learner)? })
    }
}

impl<G: Game> AlphaZero<G> {
    /// All that the training is made of, beside its [`network`](Self::network) and the newest
    /// [`State::n_window_games`] games.
    pub fn state(&self) -> State {
        State {
            numbers: Numbers {
                format: FORMAT,
                step: self.step,
                n_games: self.n_games,
                n_positions: self.n_positions,
                n_updates: self.n_updates,
                owed: self.owed,
                n_window_games: self.window.n_games(),
                learning_rate: self.config.learning_rate,
                lanes: self.lanes.iter().map(super::Lane::state).collect(),
            },
            learner: self.learner.state(),
        }
    }

    /// A training that goes on from where network and state were taken. `games` are those of its
    /// window, in the order in which they ended.
    pub fn restore(
        config: &Config,
        seed_base: u64,
        team: Team,
        network: BoardNet,
        state: &State,
        games: impl Iterator<Item = PlayedGame>,
    ) -> Result<Self, StateError> {
        let mismatch = |what: String| StateError::Mismatch(what);
        let mut training =
            Self::new(config, seed_base, team).map_err(|error| mismatch(error.to_string()))?;
        let fresh = training.network();
        if network.shape() != fresh.shape() || network.config() != fresh.config() {
            return Err(mismatch("its network is another".to_owned()));
        }
        let Numbers { n_positions, n_updates, owed, n_window_games, lanes, .. } = &state.numbers;
        if lanes.len() != training.lanes.len() {
            return Err(mismatch(format!("it has {} lanes", lanes.len())));
        }
        for (lane, state) in training.lanes.iter_mut().zip(lanes) {
            lane.restore(state).map_err(mismatch)?;
        }
        training.actor = network.clone();
        training.learner = BoardLearner::restore(network, config.learner, &state.learner)?;
        for game in games {
            training.window.add(&game).map_err(|error| mismatch(error.to_string()))?;
        }
        if training.window.n_games() != *n_window_games {
            let n = training.window.n_games();
            return Err(mismatch(format!("there are {n} games for a window of {n_window_games}")));
        }
        (training.step, training.n_games) = (state.step(), state.n_games());
        (training.n_positions, training.n_updates) = (*n_positions, *n_updates);
        (training.owed, training.config.learning_rate) = (*owed, state.learning_rate());
        Ok(training)
    }
}
