//! One episode as pictures: what the idle environment looks like, or what a checkpoint does now.

use cartridge_games::env::{AnyAction, EnvSpec};
use cartridge_games::registry::make_world;
use cartridge_games::scene::Scene;
use cartridge_games::seeds::{Stream, episode_seed};
use cartridge_games::{Action, Seat};
use cartridge_learn::board_net::{BoardNet, Workspace};
use cartridge_learn::policy::Policy;
use serde_json::{Map, Value};

use crate::error::Result;
use crate::evaluation::Actor;

/// The most frames that one preview holds: ten seconds of CartPole, a few hundred kilobytes.
const MOST_FRAMES: usize = 501;

/// An episode, frame by frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// The environment.
    pub spec: &'static EnvSpec,
    /// The number that was given to `reset`.
    pub seed: u64,
    /// The frames; the first shows the start.
    pub frames: Vec<Frame>,
    /// Whether the task itself ended.
    pub terminated: bool,
    /// Whether the episode was cut short by its time limit.
    pub truncated: bool,
}

/// One moment of an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The picture.
    pub scene: Scene,
    /// What the agent sees.
    pub observation: Vec<f32>,
    /// Whose pieces lie where each action of a game is chosen, the lowest first.
    pub pieces: Option<Vec<Vec<Seat>>>,
    /// The action that led here; none at the start.
    pub action: Option<AnyAction>,
    /// Reward of that action.
    pub reward: f64,
    /// Rewards so far.
    pub total_reward: f64,
}

/// Who plays an episode.
#[derive(Clone, Copy, Debug)]
pub enum By<'a> {
    /// Any legal action with equal chance.
    Chance,
    /// A policy, always taking its best action.
    Policy(&'a Policy),
    /// A network at a board, for both sides: its actions are drawn, so that games differ.
    Network(&'a BoardNet),
}

/// Plays one episode. The `number` chooses which.
pub fn preview(
    env_id: &str,
    options: &Map<String, Value>,
    by: By<'_>,
    number: u64,
) -> Result<Preview> {
    let mut env = make_world(env_id, options)?;
    let spec = env.spec();
    let seed = episode_seed(number, Stream::Preview, 0, 0);
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut observation = vec![0.0; spec.observation];
    env.reset(Some(seed), &mut observation);
    let mut frames = vec![Frame {
        scene: env.scene(),
        observation: observation.clone(),
        pieces: env.pieces(),
        action: None,
        reward: 0.0,
        total_reward: 0.0,
    }];
    let mut total_reward = 0.0;
    let mut mask = vec![true; spec.actions.size()];
    let (mut terminated, mut truncated) = (false, false);
    while !terminated && !truncated && frames.len() < MOST_FRAMES {
        env.legal_actions(&mut mask);
        let action = match by {
            By::Chance => spec.actions.sample(&mask, &mut rng),
            By::Policy(policy) => {
                let mut chosen = Actor::choose(policy, spec, &observation, &mask, 1)?;
                chosen.remove(0)
            }
            By::Network(network) => draw(network, &observation, &mask, &mut rng),
        };
        let step = env.step(action.borrow(), &mut observation);
        total_reward += step.reward;
        (terminated, truncated) = (step.terminated, step.truncated);
        frames.push(Frame {
            scene: env.scene(),
            observation: observation.clone(),
            pieces: env.pieces(),
            action: Some(action),
            reward: step.reward,
            total_reward,
        });
    }
    Ok(Preview { spec, seed, frames, terminated, truncated })
}
/// A legal action, as probable as the network finds it.
fn draw(network: &BoardNet, planes: &[f32], legal: &[bool], rng: &mut fastrand::Rng) -> AnyAction {
    let (mut logits, mut value) = (vec![0.0; legal.len()], [0.0]);
    network.infer(&mut Workspace::default(), planes, &mut logits, &mut value);
    // The greatest of logits with Gumbel noise is a draw from their distribution.
    let mut noise = || -(-rng.f32().max(f32::MIN_POSITIVE).ln()).ln();
    let noisy = (0..legal.len())
        .filter(|action| legal[*action])
        .map(|action| (action, logits[action] + noise()));
    let best = noisy.max_by(|(_, a), (_, b)| a.total_cmp(b));
    AnyAction::Discrete(Action(best.expect("somebody is to move").0))
}
