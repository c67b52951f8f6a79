//! A training at any game, for whoever has only the game's id.

use std::fmt::Debug;

use cartridge_games::Game;
use cartridge_games::registry::{AnyGame, RegistryError};
use cartridge_games::with_game;

use super::record::PlayedGame;
use super::{AlphaZero, Config, State, Update};
use crate::board_learner::NotFinite;
use crate::board_net::{BoardNet, ShapeError};
use crate::ppo::StateError;
use crate::report::Phase;
use crate::team::Team;

/// [`AlphaZero`] at some game.
pub trait Training: Debug {
    /// [`AlphaZero::update_in_phases`].
    fn update(&mut self, begin: &mut dyn FnMut(Phase)) -> Result<Update, NotFinite>;
    /// [`AlphaZero::network`].
    fn network(&self) -> &BoardNet;
    /// [`AlphaZero::step`].
    fn step(&self) -> u64;
    /// [`AlphaZero::n_games`].
    fn n_games(&self) -> u64;
    /// [`AlphaZero::is_done`].
    fn is_done(&self) -> bool;
    /// [`AlphaZero::tune_learning_rate`].
    fn tune_learning_rate(&mut self, learning_rate: f64) -> f64;
    /// [`AlphaZero::state`].
    fn state(&self) -> State;
}

impl<G: Game> Training for AlphaZero<G> {
    fn update(&mut self, begin: &mut dyn FnMut(Phase)) -> Result<Update, NotFinite> {
        self.update_in_phases(begin)
    }

    fn network(&self) -> &BoardNet {
        self.network()
    }

    fn step(&self) -> u64 {
        self.step()
    }

    fn n_games(&self) -> u64 {
        self.n_games()
    }

    fn is_done(&self) -> bool {
        self.is_done()
    }

    fn tune_learning_rate(&mut self, learning_rate: f64) -> f64 {
        self.tune_learning_rate(learning_rate)
    }

    fn state(&self) -> State {
        self.state()
    }
}

/// Why a training cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// There is no such game.
    #[error(transparent)]
    Game(#[from] RegistryError),
    /// The network does not fit it.
    #[error(transparent)]
    Network(#[from] ShapeError),
    /// What it goes on from does not fit it.
    #[error(transparent)]
    State(#[from] StateError),
}

/// A training of `game` at its beginning.
pub fn begin(
    game: &str,
    config: &Config,
    seed_base: u64,
    team: Team,
) -> Result<Box<dyn Training>, BeginError> {
    fn of<G: Game>(
        _: &G,
        config: &Config,
        seed_base: u64,
        team: Team,
    ) -> Result<Box<dyn Training>, BeginError> {
        Ok(Box::new(AlphaZero::<G>::new(config, seed_base, team)?))
    }
    let game = AnyGame::start(game, &mut fastrand::Rng::with_seed(0))?;
    with_game!(&game, game => of(game, config, seed_base, team))
}

/// A training of `game` that goes on from where network and state were taken; see
/// [`AlphaZero::restore`].
pub fn go_on(
    game: &str,
    config: &Config,
    seed_base: u64,
    team: Team,
    network: BoardNet,
    state: &State,
    games: impl Iterator<Item = PlayedGame>,
) -> Result<Box<dyn Training>, BeginError> {
    fn of<G: Game>(
        _: &G,
        config: &Config,
        seed_base: u64,
        team: Team,
        network: BoardNet,
        state: &State,
        games: impl Iterator<Item = PlayedGame>,
    ) -> Result<Box<dyn Training>, BeginError> {
        let training = AlphaZero::<G>::restore(config, seed_base, team, network, state, games)?;
        Ok(Box::new(training))
    }
    let game = AnyGame::start(game, &mut fastrand::Rng::with_seed(0))?;
    with_game!(&game, game => of(game, config, seed_base, team, network, state, games))
}
