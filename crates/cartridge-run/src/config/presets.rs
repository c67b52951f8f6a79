//! Settings that go well together.
//!
//! `fast`, `stable` and `high_score` are the same for every environment, and at games a sixth of the
//! usual training, the whole and four times as much; `zoo` has RL-Zoo's values and `speed` ours, both
//! by environment. What each gives is published in `docs/training.md`.
//!
//! What the first three do not have from their definition was searched on the lander and Cart Pole:
//! with a `gae_lambda` of 0.98 instead of 0.95 the lander of `high_score` rises from 150 to 278, and
//! returns over three steps help DQN. The learning rate of its `fast` falls to nothing: with one that
//! stays, the policy at the end is a good one or a bad one by chance.

use serde_json::{Value, json};

use super::trainer::Course;
use super::{Algorithm, RunConfig};

/// A set of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// A good answer soon.
    Fast,
    /// A good answer every time.
    Stable,
    /// The best answer, whatever it takes.
    HighScore,
    /// RL-Zoo's values for the environment.
    Zoo,
    /// Ours, for the least time to the environment's threshold.
    Speed,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Fast, Self::Stable, Self::HighScore, Self::Zoo, Self::Speed];

    /// The word on the command line and in the API.
    pub fn id(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Stable => "stable",
            Self::HighScore => "high_score",
            Self::Zoo => "zoo",
            Self::Speed => "speed",
        }
    }

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "Fast",
            Self::Stable => "Stable",
            Self::HighScore => "High score",
            Self::Zoo => "RL-Zoo",
            Self::Speed => "Speed",
        }
    }

    /// What it is for.
    pub fn help(self) -> &'static str {
        match self {
            Self::Fast => "A good answer soon.",
            Self::Stable => "A good answer every time.",
            Self::HighScore => "The best answer, whatever it takes.",
            Self::Zoo => "RL-Zoo's values for the environment.",
            Self::Speed => "Ours, for the least time to the environment's threshold.",
        }
    }

    /// Whether it sets other values for other environments.
    pub fn depends_on_environment(self, algo: Algorithm) -> bool {
        algo.learns_games() || matches!(self, Self::Zoo | Self::Speed)
    }

    /// What it sets, by section and name; nothing where it knows nothing of the environment.
    pub fn settings(self, algo: Algorithm, env_id: &str) -> Option<Value> {
        match (self, algo) {
            (Self::Zoo, Algorithm::Ppo) => zoo_ppo(env_id),
            (Self::Zoo, Algorithm::Dqn) => zoo_dqn(env_id),
            (Self::Speed, Algorithm::Ppo) => speed_ppo(env_id),
            (Self::Speed, Algorithm::Dqn) => speed_dqn(env_id),
            (Self::Fast, Algorithm::Ppo) => Some(json!({
                "trainer": {
                    "learning_rate": 4e-4, "total_timesteps": 200_000, "batch_size": 64, "gamma": 0.98,
                    "gae_lambda": 0.98, "n_epochs": 20, "clip_range": 0.3,
                },
                "simulation": { "n_envs": 8, "n_steps": 1024 },
            })),
            (Self::Stable, Algorithm::Ppo) => Some(json!({
                "trainer": {
                    "learning_rate": 3e-4, "total_timesteps": 1_000_000, "batch_size": 64, "gamma": 0.99,
                    "gae_lambda": 0.98,
                },
                "simulation": { "n_envs": 4, "n_steps": 2048 },
            })),
            (Self::HighScore, Algorithm::Ppo) => Some(json!({
                "trainer": {
                    "learning_rate": 1e-4, "total_timesteps": 3_000_000, "batch_size": 256, "gamma": 0.995,
                    "gae_lambda": 0.98,
                },
                "simulation": { "n_envs": 8, "n_steps": 4096 },
            })),
            (Self::Fast, Algorithm::AlphaZero) => Some(json!({
                "trainer": { "total_timesteps": Course::at(env_id).total_timesteps / 6, "simulations_end": 32 },
            })),
            (Self::Stable, Algorithm::AlphaZero) => Some(json!({
                "trainer": { "total_timesteps": Course::at(env_id).total_timesteps, "simulations_end": 64 },
            })),
            (Self::HighScore, Algorithm::AlphaZero) => Some(json!({
                "trainer": { "total_timesteps": 4 * Course::at(env_id).total_timesteps, "simulations_end": 128 },
            })),
            (Self::Zoo | Self::Speed, Algorithm::AlphaZero) => None,
            (Self::Fast, Algorithm::Dqn) => Some(json!({
                "trainer": {
                    "learning_rate": "lin_0.0005", "total_timesteps": 200_000, "batch_size": 64, "buffer_size": 50_000,
                    "gamma": 0.98, "exploration_fraction": 0.2, "exploration_final_eps": 0.05,
                    "learning_starts": 1_000, "train_freq": 4, "gradient_steps": 16, "n_steps": 3,
                    "double_q": true, "target_update_interval": 8, "tau": 0.005,
                },
                "simulation": { "n_envs": 4 },
            })),
            (Self::Stable, Algorithm::Dqn) => Some(json!({
                "trainer": {
                    "learning_rate": 3e-4, "total_timesteps": 1_000_000, "batch_size": 64, "buffer_size": 100_000,
                    "gamma": 0.99, "exploration_fraction": 0.1, "exploration_final_eps": 0.02,
                    "learning_starts": 1_000, "train_freq": 4, "gradient_steps": 4, "n_steps": 3,
                    "double_q": true,
                },
                "simulation": { "n_envs": 4 },
            })),
            (Self::HighScore, Algorithm::Dqn) => Some(json!({
                "trainer": {
                    "learning_rate": 1e-4, "total_timesteps": 3_000_000, "batch_size": 128, "buffer_size": 300_000,
                    "gamma": 0.995, "exploration_fraction": 0.05, "exploration_final_eps": 0.01,
                },
            })),
        }
    }
}

/// Where RL-Zoo has `use_sde: True` with PPO, a noise that is not here; the rest of its values are.
const EXPLORED_BY_STATE: [&str; 1] = ["Pendulum-v1"];

/// Whether a run has the values of `zoo`, its length aside, where RL-Zoo's have a noise that is not
/// here.
pub(super) fn is_without_its_exploration(config: &RunConfig) -> bool {
    if config.algo != Algorithm::Ppo || !EXPLORED_BY_STATE.contains(&config.env_id.as_str()) {
        return false;
    }
    let whole = serde_json::to_value(config).expect("a configuration is plain data");
    let zoo = zoo_ppo(&config.env_id).unwrap_or_default();
    zoo.as_object().into_iter().flatten().all(|(section, values)| {
        values.as_object().into_iter().flatten().all(|(name, value)| {
            let given = &whole[section][name];
            let is_same = given.is_number() && given.as_f64() == value.as_f64();
            name == "total_timesteps" || given == value || is_same
        })
    })
}

/// RL-Zoo's `hyperparams/ppo.yml`.
fn zoo_ppo(env_id: &str) -> Option<Value> {
    Some(match env_id {
        "CartPole-v1" => json!({
            "trainer": {
                "total_timesteps": 100_000, "batch_size": 256, "gae_lambda": 0.8, "gamma": 0.98, "n_epochs": 20,
                "ent_coef": 0.0, "learning_rate": "lin_0.001", "clip_range": "lin_0.2",
            },
            "simulation": { "n_envs": 8, "n_steps": 32 },
        }),
        "LunarLander-v3" => json!({
            "trainer": {
                "total_timesteps": 1_000_000, "batch_size": 64, "gae_lambda": 0.98, "gamma": 0.999, "n_epochs": 4,
                "ent_coef": 0.01,
            },
            "simulation": { "n_envs": 16, "n_steps": 1024 },
        }),
        "BipedalWalker-v3" => json!({
            "trainer": {
                "normalize_observation": true, "normalize_reward": true, "total_timesteps": 5_000_000,
                "batch_size": 64, "gae_lambda": 0.95, "gamma": 0.999, "n_epochs": 10, "ent_coef": 0.0,
                "learning_rate": 3e-4, "clip_range": 0.18,
            },
            "simulation": { "n_envs": 32, "n_steps": 2048 },
        }),
        "Acrobot-v1" => json!({
            "trainer": {
                "normalize_observation": true, "normalize_reward": true, "total_timesteps": 1_000_000,
                "gae_lambda": 0.94, "gamma": 0.99, "n_epochs": 4, "ent_coef": 0.0,
            },
            "simulation": { "n_envs": 16, "n_steps": 256 },
        }),
        "MountainCar-v0" => json!({
            "trainer": {
                "normalize_observation": true, "normalize_reward": true, "total_timesteps": 1_000_000,
                "gae_lambda": 0.98, "gamma": 0.99, "n_epochs": 4, "ent_coef": 0.0,
            },
            "simulation": { "n_envs": 16, "n_steps": 16 },
        }),
        "Pendulum-v1" => json!({
            "trainer": {
                "total_timesteps": 100_000, "gae_lambda": 0.95, "gamma": 0.9, "n_epochs": 10, "ent_coef": 0.0,
                "learning_rate": 1e-3, "clip_range": 0.2,
            },
            "simulation": { "n_envs": 4, "n_steps": 1024 },
        }),
        _ => return None,
    })
}

/// RL-Zoo's `hyperparams/dqn.yml`.
fn zoo_dqn(env_id: &str) -> Option<Value> {
    let trainer = match env_id {
        "CartPole-v1" => json!({
            "total_timesteps": 50_000, "learning_rate": 2.3e-3, "batch_size": 64, "buffer_size": 100_000,
            "learning_starts": 1_000, "gamma": 0.99, "target_update_interval": 10, "train_freq": 256,
            "gradient_steps": 128, "exploration_fraction": 0.16, "exploration_final_eps": 0.04,
            "net_arch": [256, 256],
        }),
        "LunarLander-v3" | "Acrobot-v1" => json!({
            "total_timesteps": 100_000, "learning_rate": 6.3e-4, "batch_size": 128, "buffer_size": 50_000,
            "learning_starts": 0, "gamma": 0.99, "target_update_interval": 250, "train_freq": 4,
            "gradient_steps": -1, "exploration_fraction": 0.12, "exploration_final_eps": 0.1,
            "net_arch": [256, 256],
        }),
        "MountainCar-v0" => json!({
            "total_timesteps": 120_000, "learning_rate": 4e-3, "batch_size": 128, "buffer_size": 10_000,
            "learning_starts": 1_000, "gamma": 0.98, "target_update_interval": 600, "train_freq": 16,
            "gradient_steps": 8, "exploration_fraction": 0.2, "exploration_final_eps": 0.07,
            "net_arch": [256, 256],
        }),
        _ => return None,
    };
    Some(json!({ "trainer": trainer }))
}

/// Found by search over seeds that no published figure uses: of 11 settings for the lander, 17 for
/// the walker and 48 for the prospector. What mattered: many short rollouts and a learning rate
/// that falls to nothing; a shorter view for the walker (gamma 0.99 instead of 0.999, and a
/// lambda of 0.85, with which ten of ten seeds come above 302, and with 0.95 four of ten above
/// 300); and for the prospector a shorter view too, that giving up begins as
/// something that is hardly ever done (otherwise it is all that is learnt), and small steps with a
/// bonus for entropy that falls to nothing (with a small constant one, two of three seeds ended
/// with doing nothing).
fn speed_ppo(env_id: &str) -> Option<Value> {
    Some(match env_id {
        "CartPole-v1" => json!({
            "trainer": {
                "total_timesteps": 150_000, "batch_size": 512, "gae_lambda": 0.9, "gamma": 0.98, "n_epochs": 8,
                "learning_rate": "lin_0.002", "clip_range": 0.2,
            },
            "simulation": { "n_envs": 32, "n_steps": 32 },
        }),
        "LunarLander-v3" => json!({
            "trainer": {
                "total_timesteps": 5_000_000, "batch_size": 512, "gae_lambda": 0.98, "gamma": 0.999,
                "n_epochs": 6, "ent_coef": 0.01, "learning_rate": "lin_0.001",
            },
            "simulation": { "n_envs": 64, "n_steps": 128 },
        }),
        "BipedalWalker-v3" => json!({
            "trainer": {
                "normalize_observation": true, "normalize_reward": true, "total_timesteps": 5_000_000,
                "batch_size": 256, "gae_lambda": 0.85, "gamma": 0.99, "n_epochs": 10, "ent_coef": 0.0,
                "learning_rate": "lin_0.0006", "clip_range": 0.18,
            },
            "simulation": { "n_envs": 32, "n_steps": 512 },
        }),
        "AsteroidProspector-v0" => json!({
            "trainer": {
                "normalize_reward": true, "total_timesteps": 22_000_000, "batch_size": 1024,
                "gae_lambda": 0.95, "gamma": 0.99, "n_epochs": 4, "ent_coef": "lin_0.02",
                "learning_rate": "lin_0.001", "clip_range": 0.1, "quit_logit": -12.0,
            },
            "simulation": { "n_envs": 64, "n_steps": 256 },
        }),
        _ => return None,
    })
}

/// Found as above, of 10 settings for Cart Pole and 32 for the lander. What mattered: returns over
/// three steps, a target network that follows softly, and a learning rate that falls to nothing;
/// for the lander a gradient step for every step (with half as many, seeds lie between -35 and
/// 251), but on 64 samples: with 128, eight seeds lay between -10 and 256, with 64 between 140 and
/// 254, and with a longer view as well (gamma 0.995 instead of 0.99) between 186 and 258.
fn speed_dqn(env_id: &str) -> Option<Value> {
    let (trainer, n_envs) = match env_id {
        "CartPole-v1" => (
            json!({
                "total_timesteps": 50_000, "learning_rate": "lin_0.001", "batch_size": 64,
                "buffer_size": 50_000, "learning_starts": 1_000, "gamma": 0.99, "tau": 0.02,
                "target_update_interval": 8, "train_freq": 2, "gradient_steps": 8, "n_steps": 3,
                "exploration_fraction": 0.16, "exploration_final_eps": 0.04, "net_arch": [64, 64],
                "double_q": true,
            }),
            4,
        ),
        "LunarLander-v3" => (
            json!({
                "total_timesteps": 100_000, "learning_rate": "lin_0.001", "batch_size": 64,
                "buffer_size": 50_000, "learning_starts": 2_000, "gamma": 0.995, "tau": 0.02,
                "target_update_interval": 8, "train_freq": 4, "gradient_steps": 16, "n_steps": 3,
                "exploration_fraction": 0.12, "exploration_final_eps": 0.05, "net_arch": [128, 128],
                "double_q": true,
            }),
            4,
        ),
        _ => return None,
    };
    Some(json!({ "trainer": trainer, "simulation": { "n_envs": n_envs } }))
}
