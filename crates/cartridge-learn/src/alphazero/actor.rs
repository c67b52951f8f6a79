//! Games that a network plays against itself for somebody else to learn from.

use std::fmt::Debug;

use cartridge_games::Game;
use cartridge_games::registry::{AnyGame, RegistryError};
use cartridge_games::seeds::{Stream, episode_seed};
use cartridge_games::with_game;

use super::self_play::{Config, Harvest, Lane};
use crate::board_net::{BoardNet, Workspace};
use crate::onnx::{OnnxError, OnnxPolicy, Values};
use crate::team::Team;

/// Whoever judges positions in self-play.
pub trait Judge: Debug + Sync {
    /// Writes the logits and the values of positions, of whose planes `planes` has all.
    fn judge(&self, work: &mut Workspace, planes: &[f32], logits: &mut [f32], values: &mut [f32]);
}

impl Judge for BoardNet {
    fn judge(&self, work: &mut Workspace, planes: &[f32], logits: &mut [f32], values: &mut [f32]) {
        self.infer(work, planes, logits, values);
    }
}

/// A network from a file, of ours or of others.
#[derive(Clone, Debug)]
pub struct FileJudge(OnnxPolicy);

impl FileJudge {
    /// A file that takes the planes of a game and puts out logits and a value.
    pub fn new(policy: OnnxPolicy, n_inputs: usize, n_actions: usize) -> Result<Self, OnnxError> {
        let mismatch = |reason| OnnxError::Mismatch { env_id: "the game".to_owned(), reason };
        // Two sizes of batch, because a network may have been written for one of them alone.
        for n in [1, 3] {
            let found = policy.act(&vec![0.0; n * n_inputs], n)?;
            let Some(values) = found.value else {
                let reason = "it has no second output, which says what a position is worth";
                return Err(mismatch(reason.to_owned()));
            };
            let logits = floats(found.actor);
            if logits.len() != n * n_actions || values.len() != n {
                return Err(mismatch(format!(
                    "for {n} positions it puts out {} logits and {} values, and the game has \
                     {n_actions} actions",
                    logits.len(),
                    values.len()
                )));
            }
            if !logits.iter().chain(&values).all(|x| x.is_finite()) {
                let reason =
                    "it says of an empty board what is no number: its training has diverged";
                return Err(mismatch(reason.to_owned()));
            }
        }
        Ok(Self(policy))
    }
}

impl Judge for FileJudge {
    /// What a file of others says that is no number, or out of bounds, says nothing.
    fn judge(&self, work: &mut Workspace, planes: &[f32], logits: &mut [f32], values: &mut [f32]) {
        if let Some(network) = self.0.board_net() {
            return network.infer(work, planes, logits, values);
        }
        let found = self.0.act(planes, values.len()).ok();
        let (actor, value) =
            found.map(|found| (floats(found.actor), found.value)).unwrap_or_default();
        let plain = |x: f32| if x.is_finite() { x } else { 0.0 };
        logits.fill(0.0);
        logits.iter_mut().zip(actor).for_each(|(slot, x)| *slot = plain(x));
        values.fill(0.0);
        let value = value.unwrap_or_default();
        values.iter_mut().zip(value).for_each(|(slot, x)| *slot = plain(x).clamp(-1.0, 1.0));
    }
}

fn floats(values: Values) -> Vec<f32> {
    match values {
        Values::Float(values) => values,
        Values::Integer(_) => Vec::new(),
    }
}

/// Games in progress, of some game.
pub trait Actor: Debug {
    /// Plays `n_plies` in all games together, and returns what came of it.
    fn play(&mut self, judge: &dyn Judge, n_plies: u64) -> Harvest;
}

#[derive(Debug)]
struct Lanes<G> {
    config: Config,
    lanes: Vec<Lane<G>>,
    team: Team,
}

impl<G: Game> Actor for Lanes<G> {
    fn play(&mut self, judge: &dyn Judge, n_plies: u64) -> Harvest {
        let share = n_plies.div_ceil(self.lanes.len() as u64);
        let config = &self.config;
        let mut lanes: Vec<_> =
            self.lanes.iter_mut().map(|lane| (lane, Harvest::default())).collect();
        self.team.each(&mut lanes, |_, (lane, harvest)| {
            *harvest = lane.play(judge, config, 1.0, share);
        });
        let mut all = Harvest::default();
        lanes.into_iter().for_each(|(_, harvest)| all.add(harvest));
        all
    }
}

/// How many games are played at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowd {
    /// Lanes of games; as many threads can play at once.
    pub n_lanes: usize,
    /// Games in step in each lane.
    pub n_games: usize,
    /// Positions whose evaluation each lane remembers.
    pub cache_positions: usize,
}

/// Games of `game` at their beginning.
pub fn actor(
    game: &str,
    config: &Config,
    crowd: Crowd,
    seed_base: u64,
    team: Team,
) -> Result<Box<dyn Actor>, RegistryError> {
    fn of<G: Game>(
        _: &G,
        config: &Config,
        crowd: Crowd,
        seed_base: u64,
        team: Team,
    ) -> Box<dyn Actor> {
        let lane = |lane: usize| {
            let seed = episode_seed(seed_base, Stream::Train, lane as u32, 0);
            Lane::<G>::new(crowd.n_games, crowd.cache_positions, config, seed)
        };
        let lanes = (0..crowd.n_lanes).map(lane).collect();
        Box::new(Lanes { config: *config, lanes, team })
    }
    let game = AnyGame::start(game, &mut fastrand::Rng::with_seed(0))?;
    Ok(with_game!(&game, game => of(game, config, crowd, seed_base, team)))
}
