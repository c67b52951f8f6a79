//! Policies at a board: an ONNX file that scores every move, of which the best legal one is played.
//!
//! Such a file takes one position as numbers: the player-relative planes of the game
//! ([`GameSpec::planes`], any shape with as many numbers), or its plain observation
//! ([`GameSpec::observation`]); `cartridge games show GAME` tells both sizes. It puts out a number
//! for each action.

use cartridge_games::env::{ActionSpace, AnyAction, EnvSpec};
use cartridge_games::game::{Action, GameSpec, Turn};
use cartridge_games::registry::AnyGame;

use crate::error::Result;
use crate::policy_file::PolicyFile;

/// A policy that has been tried on the positions of a game.
#[derive(Debug)]
pub struct BoardPolicy {
    file: PolicyFile,
    /// The game as the policy meets it.
    spec: EnvSpec,
    /// Whether it sees planes, or else the plain observation.
    sees_planes: bool,
}

impl BoardPolicy {
    /// The policy in a file, if it is one for `game`.
    pub fn new(file: PolicyFile, game: &GameSpec) -> Result<Self> {
        let n_numbers = game.planes.iter().product();
        let spec = presented(game, n_numbers);
        let Err(error) = file.policy.check(&spec) else {
            return Ok(Self { file, spec, sees_planes: true });
        };
        let spec = presented(game, game.observation);
        match file.policy.check(&spec) {
            Ok(_) => Ok(Self { file, spec, sees_planes: false }),
            // What is wrong with the planes: those are what a board policy should take.
            Err(_) => Err(file.error(error)),
        }
    }

    /// What it plays in a position that is not over. It leaves nothing to chance.
    pub fn choose(&self, game: &AnyGame) -> Result<Action> {
        let Turn::Seat(seat) = game.turn() else { unreachable!("it is asked on its turn only") };
        let mut seen = vec![0.0; self.spec.observation];
        if self.sees_planes {
            game.observe_planes(seat, &mut seen);
        } else {
            game.observe(seat, &mut seen);
        }
        let mut legal = vec![false; self.spec.actions.size()];
        for action in game.legal_actions() {
            legal[action.0] = true;
        }
        let chosen = self.file.policy.choose(&self.spec, &seen, &legal, 1);
        let chosen = chosen.map_err(|error| self.file.error(error))?;
        match chosen.first() {
            Some(AnyAction::Discrete(action)) => Ok(*action),
            _ => unreachable!("a board has discrete actions, and one position was asked about"),
        }
    }
}

/// A game as policies meet it: so many numbers to see, and actions of which some are legal.
fn presented(game: &GameSpec, observation: usize) -> EnvSpec {
    EnvSpec {
        id: game.id,
        name: game.name,
        version: game.version,
        observation,
        actions: ActionSpace::Discrete(game.n_actions),
        max_steps: game.max_plies as u32,
        is_masked: true,
        quit_action: None,
        reward_threshold: None,
        frames_per_second: 1,
        action_names: &[],
        observation_names: &[],
        controls: None,
    }
}
