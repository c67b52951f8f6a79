//! Policies of others at a board: an ONNX file that scores every move, and may say what a position
//! is worth. [`crate::thinker`] plays by it.
//!
//! Such a file takes one position as numbers: the player-relative planes of the game
//! ([`GameSpec::planes`], any shape with as many numbers), or its plain observation
//! ([`GameSpec::observation`]); `cartridge games show GAME` tells both sizes. It puts out a number
//! for each action, and in a second output called `value` what the position is worth to the seat to
//! move, from −1 to 1.

use std::sync::Arc;

use cartridge_games::env::{ActionSpace, EnvSpec};
use cartridge_games::game::{Game, GameSpec, Turn};
use cartridge_learn::board_net::BoardNet;
use cartridge_learn::onnx::{OnnxError, Values};

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

    /// The network of ours that the file was made from, if it was and sees planes.
    pub fn board_net(&self) -> Option<&Arc<BoardNet>> {
        self.file.policy.board_net().filter(|_| self.sees_planes)
    }

    /// Whether it says what a position is worth, so that a search can go by it.
    pub fn has_value(&self) -> bool {
        self.file.policy.has_value()
    }

    /// What it says of a position that is not over: a number for each action, and what the position
    /// is worth to the seat to move, where it says that. Neither needs to make sense.
    pub fn judge<G: Game>(&self, game: &G) -> Result<(Vec<f32>, Option<f32>)> {
        let Turn::Seat(seat) = game.turn() else { unreachable!("it is asked on its turn only") };
        let mut seen = vec![0.0; self.spec.observation];
        if self.sees_planes {
            game.observe_planes(seat, &mut seen);
        } else {
            game.observe(seat, &mut seen);
        }
        let outputs = self.file.policy.act(&seen, 1).map_err(|error| self.file.error(error))?;
        let n_actions = self.spec.actions.size();
        match outputs.actor {
            Values::Float(scores) if scores.len() == n_actions => {
                Ok((scores, outputs.value.and_then(|values| values.first().copied())))
            }
            _ => {
                let reason = "it puts out another number of numbers than when it was checked";
                let (env_id, reason) = (self.spec.id.to_owned(), reason.to_owned());
                Err(self.file.error(OnnxError::Mismatch { env_id, reason }))
            }
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
