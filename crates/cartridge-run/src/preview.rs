//! One episode as pictures: what the idle environment looks like, or what a checkpoint does now.

use cartridge_games::env::{AnyAction, EnvSpec};
use cartridge_games::registry::make_world;
use cartridge_games::scene::Scene;
use cartridge_games::seeds::{Stream, episode_seed};
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
    /// The action that led here; none at the start.
    pub action: Option<AnyAction>,
    /// Reward of that action.
    pub reward: f64,
    /// Rewards so far.
    pub total_reward: f64,
}

/// Plays one episode with `policy`, or at random without one. The `number` chooses the episode.
pub fn preview(
    env_id: &str,
    options: &Map<String, Value>,
    policy: Option<&Policy>,
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
        action: None,
        reward: 0.0,
        total_reward: 0.0,
    }];
    let mut total_reward = 0.0;
    let mut mask = vec![true; spec.actions.size()];
    let (mut terminated, mut truncated) = (false, false);
    while !terminated && !truncated && frames.len() < MOST_FRAMES {
        env.legal_actions(&mut mask);
        let action = match policy {
            Some(policy) => {
                let mut chosen = Actor::choose(policy, spec, &observation, &mask, 1)?;
                chosen.remove(0)
            }
            None => spec.actions.sample(&mask, &mut rng),
        };
        let step = env.step(action.borrow(), &mut observation);
        total_reward += step.reward;
        (terminated, truncated) = (step.terminated, step.truncated);
        frames.push(Frame {
            scene: env.scene(),
            observation: observation.clone(),
            action: Some(action),
            reward: step.reward,
            total_reward,
        });
    }
    Ok(Preview { spec, seed, frames, terminated, truncated })
}
