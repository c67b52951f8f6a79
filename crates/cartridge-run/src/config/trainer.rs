//! The knobs of each algorithm.

use cartridge_learn::alphazero::self_play;
use cartridge_learn::board_net::Preset;
use cartridge_learn::network::Activation;
use cartridge_learn::schedule::Schedule;
use cartridge_learn::{alphazero, board_learner, dqn, ppo};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Algorithm, ConfigError, plain_words};

/// Knobs of the algorithm, with Stable-Baselines3's names and defaults.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Trainer {
    /// Of PPO.
    Ppo(PpoTrainer),
    /// Of DQN.
    Dqn(DqnTrainer),
    /// Of AlphaZero.
    AlphaZero(AlphaZeroTrainer),
}

/// Knobs of PPO.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PpoTrainer {
    /// Step size of the optimiser, 1e-6 to 1; `lin_0.001` falls from there to 0.
    pub learning_rate: Schedule,
    /// Environment steps to train for, 5,000 to 1e9.
    pub total_timesteps: u64,
    /// Weight of a reward one step later, 0.8 to 0.9999.
    pub gamma: f64,
    /// Trade between bias and variance of advantages, 0 to 1.
    pub gae_lambda: f64,
    /// How far the policy may move in one update, 0.05 to 1; `lin_0.2` falls from there to 0.
    pub clip_range: Schedule,
    /// How far a value may move in one update, above 0 to 1e6; null for any.
    #[serde(default)]
    pub clip_range_vf: Option<f64>,
    /// Weight of the entropy bonus, 0 to 0.1.
    pub ent_coef: Schedule,
    /// Weight of the value loss, 0 to 10.
    pub vf_coef: f64,
    /// Gradients are scaled down to this norm, above 0 to 100.
    pub max_grad_norm: f64,
    /// An update ends when the policy has moved one and a half times as far, above 0 to 100; null
    /// for never.
    #[serde(default)]
    pub target_kl: Option<f64>,
    /// Passes over the gathered steps in one update, 1 to 100.
    pub n_epochs: u32,
    /// Steps in one gradient step, 16 to 65,536.
    pub batch_size: u32,
    /// Whether advantages are normalised within a batch.
    pub normalize_advantage: bool,
    /// Whether observations are normalised by all that was seen.
    #[serde(default)]
    pub normalize_observation: bool,
    /// Whether rewards are normalised by the deviation of discounted returns.
    #[serde(default)]
    pub normalize_reward: bool,
    /// Units of the hidden layers, 1 to 8 of 1 to 1,024.
    #[serde(default = "default_ppo_net")]
    pub net_arch: Vec<usize>,
    /// What follows a hidden layer: `tanh` or `relu`.
    #[serde(default)]
    pub activation: Activation,
    /// The logarithm of the deviation of continuous actions at the beginning, -5 to 2.
    #[serde(default)]
    pub log_std_init: f64,
    /// The logit of the action that ends an episode by choice, at the beginning, -20 to 0, where
    /// there is one: giving up must not be the first thing that is learnt.
    #[serde(default = "default_quit_logit")]
    pub quit_logit: f64,
    /// Whether the run ends when its returns have reached what is to be had and stay there.
    #[serde(default)]
    pub early_stop: bool,
}

fn default_quit_logit() -> f64 {
    ppo::Config::default().quit_logit
}

fn default_ppo_net() -> Vec<usize> {
    ppo::Config::default().net_arch
}

/// Knobs of DQN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DqnTrainer {
    /// Step size of the optimiser, 1e-6 to 1; `lin_0.001` falls from there to 0.
    pub learning_rate: Schedule,
    /// Environment steps to train for, 5,000 to 1e9.
    pub total_timesteps: u64,
    /// Weight of a reward one step later, 0.8 to 0.9999.
    pub gamma: f64,
    /// Steps that are kept to learn from, 512 to 2e6.
    pub buffer_size: u64,
    /// Steps before anything is learnt, 0 to 1e7; actions are random until then.
    pub learning_starts: u64,
    /// Samples in one gradient step, 16 to 65,536.
    pub batch_size: u32,
    /// How far the target network moves to the network when it follows, above 0 to 1.
    pub tau: f64,
    /// Steps of each environment between two times of learning, 1 to 1e5.
    pub train_freq: u32,
    /// Gradient steps each time, 1 to 1e5; -1 for as many as environments have made steps.
    pub gradient_steps: i64,
    /// Steps whose rewards count before the value of what follows, 1 to 20.
    pub n_steps: u32,
    /// Environment steps after which the target network follows, 1 to 1e7.
    pub target_update_interval: u64,
    /// Share of the training over which exploration falls, 0 to 1.
    pub exploration_fraction: f64,
    /// Share of random actions at the beginning, 0 to 1.
    pub exploration_initial_eps: f64,
    /// Share of random actions from then on, 0 to 0.5.
    pub exploration_final_eps: f64,
    /// Gradients are scaled down to this norm, above 0 to 100.
    pub max_grad_norm: f64,
    /// Units of the hidden layers, 1 to 8 of 1 to 1,024.
    pub net_arch: Vec<usize>,
    /// What follows a hidden layer: `tanh` or `relu`.
    pub activation: Activation,
    /// Whether one network chooses the action whose value the other gives.
    pub double_q: bool,
    /// Whether samples that surprised are drawn more often.
    pub prioritized_replay: bool,
    /// How much more often, 0 to 1.
    pub prioritized_replay_alpha: f64,
    /// How much of that is taken back by weights at the beginning, 0 to 1; all at the end.
    pub prioritized_replay_beta0: f64,
    /// Whether the run ends when its returns have reached what is to be had and stay there.
    pub early_stop: bool,
}

/// Knobs of AlphaZero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlphaZeroTrainer {
    /// Step size of the optimiser, 1e-6 to 1; `cos_0.003` falls from there to 0 along half a wave.
    pub learning_rate: Schedule,
    /// Moves of self-play to train for, 5,000 to 1e9.
    pub total_timesteps: u64,
    /// What the network is made of.
    pub network: Preset,
    /// Positions in one gradient step, 16 to 65,536.
    pub batch_size: u32,
    /// How often a position is learnt from, on average; above 0 to 1,000.
    pub reuse: f64,
    /// Positions that there is room for at first, 64 to 1e7; the window grows with the games.
    pub least_window: u64,
    /// Positions before anything is learnt, 0 to 1e7.
    pub learning_starts: u64,
    /// Share of the learning rate by which weights shrink in every step, 0 to 1.
    pub weight_decay: f64,
    /// Gradients are scaled down to this norm, above 0 to 100.
    pub max_grad_norm: f64,
    /// Simulations of a thorough search at the beginning, 2 to 10,000.
    pub simulations: u32,
    /// Simulations of a thorough search at the end, 2 to 10,000.
    pub simulations_end: u32,
    /// Simulations of a fast search, 2 to 10,000.
    pub fast_simulations: u32,
    /// Share of the searches that are thorough, above 0 to 1.
    pub full_share: f64,
    /// Moves that a search considers at its root, 2 to 362.
    pub considered: u32,
    /// How much what a search finds counts against what the network thought, above 0 to 10.
    pub value_scale: f64,
    /// Moves from the start of a game in which chance has a say, 0 to 100,000.
    pub random_plies: u32,
    /// How much chance has a say in which of what a search found is played, 0 to 10; at 0 it is the
    /// search's own choice.
    #[serde(default)]
    pub temperature: f64,
    /// Moves from the start of a game for which the temperature holds, 0 to 100,000.
    #[serde(default = "default_temperature_plies")]
    pub temperature_plies: u32,
    /// Share of the games that begin with moves drawn by chance, 0 to 1.
    pub opening_share: f64,
    /// The most moves that are drawn by chance at the beginning of a game, 0 to 1,000.
    pub opening_plies: u32,
    /// Whether a game ends when a search has proven how it will.
    pub adjudicate: bool,
    /// A side gives up when its searches say less than this, -1 to 0.
    pub resign_below: f64,
    /// Share of the games in which nobody gives up, 0 to 1.
    pub audit_share: f64,
    /// How much a search's own value counts beside the end of the game, 0 to 1.
    pub value_mix: f64,
    /// How a checkpoint becomes the best.
    pub promotion: Promotion,
    /// The share of the points above which it does, 0 to 1.
    pub promote_above: f64,
}

/// How a checkpoint of AlphaZero becomes the best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Promotion {
    /// By winning against the best.
    #[default]
    Arena,
    /// By being the newest.
    Continuous,
}

impl Trainer {
    /// The defaults of an algorithm in an environment, or at a game.
    pub(super) fn new(algo: Algorithm, env_id: &str) -> Self {
        match algo {
            Algorithm::AlphaZero => Self::AlphaZero(AlphaZeroTrainer::new(env_id)),
            Algorithm::Ppo => {
                let ppo = ppo::Config::default();
                Self::Ppo(PpoTrainer {
                    learning_rate: ppo.learning_rate,
                    total_timesteps: ppo.total_timesteps,
                    gamma: ppo.gamma,
                    gae_lambda: ppo.gae_lambda,
                    clip_range: ppo.clip_range,
                    clip_range_vf: ppo.clip_range_vf,
                    ent_coef: ppo.ent_coef,
                    vf_coef: ppo.vf_coef,
                    max_grad_norm: ppo.max_grad_norm,
                    target_kl: ppo.target_kl,
                    n_epochs: ppo.n_epochs as u32,
                    batch_size: ppo.batch_size as u32,
                    normalize_advantage: ppo.normalize_advantage,
                    normalize_observation: ppo.normalize_observation,
                    normalize_reward: ppo.normalize_reward,
                    net_arch: ppo.net_arch,
                    activation: ppo.activation,
                    log_std_init: ppo.log_std_init,
                    quit_logit: ppo.quit_logit,
                    early_stop: false,
                })
            }
            Algorithm::Dqn => {
                let dqn = dqn::Config::default();
                Self::Dqn(DqnTrainer {
                    learning_rate: dqn.learning_rate,
                    total_timesteps: dqn.total_timesteps,
                    gamma: dqn.gamma,
                    buffer_size: dqn.buffer_size as u64,
                    learning_starts: dqn.learning_starts,
                    batch_size: dqn.batch_size as u32,
                    tau: dqn.tau,
                    train_freq: dqn.train_freq as u32,
                    gradient_steps: dqn.gradient_steps,
                    n_steps: dqn.n_steps as u32,
                    target_update_interval: dqn.target_update_interval,
                    exploration_fraction: dqn.exploration_fraction,
                    exploration_initial_eps: dqn.exploration_initial_eps,
                    exploration_final_eps: dqn.exploration_final_eps,
                    max_grad_norm: dqn.max_grad_norm,
                    net_arch: dqn.net_arch,
                    activation: dqn.activation,
                    double_q: dqn.double_q,
                    prioritized_replay: dqn.prioritized_replay,
                    prioritized_replay_alpha: dqn.prioritized_replay_alpha,
                    prioritized_replay_beta0: dqn.prioritized_replay_beta0,
                    early_stop: false,
                })
            }
        }
    }

    /// The knobs of `algo` in a file or a draft.
    pub(super) fn read(algo: Algorithm, value: &Value) -> Result<Self, ConfigError> {
        fn typed<T: for<'de> Deserialize<'de>>(value: &Value) -> Result<T, ConfigError> {
            serde_path_to_error::deserialize(value).map_err(|error| ConfigError::BadValue {
                key: format!("trainer.{}", error.path()),
                detail: plain_words(&error.inner().to_string()),
            })
        }
        Ok(match algo {
            Algorithm::Ppo => Self::Ppo(typed(value)?),
            Algorithm::Dqn => Self::Dqn(typed(value)?),
            Algorithm::AlphaZero => Self::AlphaZero(typed(value)?),
        })
    }

    /// Environment steps to train for.
    pub fn total_timesteps(&self) -> u64 {
        match self {
            Self::Ppo(ppo) => ppo.total_timesteps,
            Self::Dqn(dqn) => dqn.total_timesteps,
            Self::AlphaZero(alphazero) => alphazero.total_timesteps,
        }
    }

    /// Step size of the optimiser.
    pub fn learning_rate(&self) -> Schedule {
        match self {
            Self::Ppo(ppo) => ppo.learning_rate,
            Self::Dqn(dqn) => dqn.learning_rate,
            Self::AlphaZero(alphazero) => alphazero.learning_rate,
        }
    }

    /// Whether the run ends when its returns stay where they can be.
    pub fn early_stop(&self) -> bool {
        match self {
            Self::Ppo(ppo) => ppo.early_stop,
            Self::Dqn(dqn) => dqn.early_stop,
            Self::AlphaZero(_) => false,
        }
    }
}

impl PpoTrainer {
    /// The part that the learner needs.
    pub(super) fn learner(&self, n_envs: u32, n_steps: u32) -> ppo::Config {
        ppo::Config {
            learning_rate: self.learning_rate,
            n_steps: n_steps as usize,
            n_envs: n_envs as usize,
            batch_size: self.batch_size as usize,
            n_epochs: self.n_epochs as usize,
            gamma: self.gamma,
            gae_lambda: self.gae_lambda,
            clip_range: self.clip_range,
            clip_range_vf: self.clip_range_vf,
            ent_coef: self.ent_coef,
            vf_coef: self.vf_coef,
            max_grad_norm: self.max_grad_norm,
            target_kl: self.target_kl,
            normalize_advantage: self.normalize_advantage,
            normalize_observation: self.normalize_observation,
            normalize_reward: self.normalize_reward,
            net_arch: self.net_arch.clone(),
            activation: self.activation,
            log_std_init: self.log_std_init,
            quit_logit: self.quit_logit,
            total_timesteps: self.total_timesteps,
            ..ppo::Config::default()
        }
    }
}

impl DqnTrainer {
    /// The part that the learner needs.
    pub(super) fn learner(&self, n_envs: u32) -> dqn::Config {
        dqn::Config {
            learning_rate: self.learning_rate,
            buffer_size: self.buffer_size as usize,
            learning_starts: self.learning_starts,
            batch_size: self.batch_size as usize,
            tau: self.tau,
            gamma: self.gamma,
            train_freq: self.train_freq as usize,
            gradient_steps: self.gradient_steps,
            n_steps: self.n_steps as usize,
            target_update_interval: self.target_update_interval,
            exploration_fraction: self.exploration_fraction,
            exploration_initial_eps: self.exploration_initial_eps,
            exploration_final_eps: self.exploration_final_eps,
            max_grad_norm: self.max_grad_norm,
            net_arch: self.net_arch.clone(),
            activation: self.activation,
            double_q: self.double_q,
            prioritized_replay: self.prioritized_replay,
            prioritized_replay_alpha: self.prioritized_replay_alpha,
            prioritized_replay_beta0: self.prioritized_replay_beta0,
            n_envs: n_envs as usize,
            total_timesteps: self.total_timesteps,
            ..dqn::Config::default()
        }
    }
}

/// Games that are played in step on one thread: so large are the batches of the network.
pub(super) const GAMES_OF_A_LANE: u32 = 64;

/// Positions whose evaluation each lane remembers.
const CACHE_POSITIONS: usize = 1 << 16;

/// How long a training at a game is, and what learns there, unless somebody says otherwise.
///
/// The network is the one of the sizes that is strongest after the same time
/// (`benches/results/alphazero-sizes.txt`). Layers that see the board as a list of numbers are several
/// times as quick as convolutions, so that their trainings have more moves and are looked at less
/// often.
pub(super) struct Course {
    pub(super) network: Preset,
    pub(super) total_timesteps: u64,
    pub(super) evaluate_every: u64,
    pub(super) checkpoint_every: u64,
    pub(super) milestone_every: u64,
}

impl Course {
    pub(super) fn at(game: &str) -> Self {
        let tic_tac_toe = Self {
            network: Preset::Tiny,
            total_timesteps: 3_000_000,
            evaluate_every: 200_000,
            checkpoint_every: 100_000,
            milestone_every: 500_000,
        };
        let larger_board = Self {
            network: Preset::Mlp,
            total_timesteps: 18_000_000,
            evaluate_every: 1_000_000,
            checkpoint_every: 500_000,
            milestone_every: 2_000_000,
        };
        match game {
            "connect4" => larger_board,
            "othello" => Self { total_timesteps: 12_000_000, ..larger_board },
            _ => tic_tac_toe,
        }
    }
}

impl AlphaZeroTrainer {
    /// At Othello, where moves differ less in what they come to, a search must count for more: with
    /// 0.1 as at Connect 4 the policy hardly moved (`benches/results/othello-settings.txt`).
    fn new(game: &str) -> Self {
        let Course { network, total_timesteps, .. } = Course::at(game);
        let value_scale = (game == "othello").then_some(1.5);
        let config = alphazero::Config::new(network.config(), total_timesteps);
        let play = config.self_play;
        Self {
            learning_rate: config.learning_rate,
            total_timesteps,
            network,
            batch_size: config.batch_size as u32,
            reuse: config.reuse,
            least_window: config.least_window as u64,
            learning_starts: config.learning_starts as u64,
            weight_decay: plain(config.learner.weight_decay),
            max_grad_norm: plain(config.learner.max_grad_norm),
            simulations: play.n_simulations[0],
            simulations_end: play.n_simulations[1],
            fast_simulations: play.n_fast_simulations,
            full_share: plain(play.full_share),
            considered: play.n_considered,
            value_scale: value_scale.unwrap_or_else(|| plain(play.value_scale)),
            random_plies: play.n_random_plies as u32,
            temperature: plain(play.temperature),
            temperature_plies: play.n_temperature_plies as u32,
            opening_share: plain(play.opening_share),
            opening_plies: play.n_opening_plies as u32,
            adjudicate: play.is_adjudicated,
            resign_below: plain(play.resign_below),
            audit_share: plain(play.audit_share),
            value_mix: plain(config.value_mix),
            promotion: Promotion::default(),
            promote_above: 0.55,
        }
    }

    /// The part that the learner needs, with `n_envs` games in step that each play `n_steps` moves
    /// between two networks.
    pub(super) fn learner(&self, n_envs: u32, n_steps: u32) -> alphazero::Config {
        let n_lanes = n_envs.div_ceil(GAMES_OF_A_LANE).max(1);
        alphazero::Config {
            learner: board_learner::Config {
                weight_decay: self.weight_decay as f32,
                max_grad_norm: self.max_grad_norm as f32,
                ..board_learner::Config::default()
            },
            self_play: self_play::Config {
                n_simulations: [self.simulations, self.simulations_end],
                n_fast_simulations: self.fast_simulations,
                full_share: self.full_share as f32,
                n_considered: self.considered,
                value_scale: self.value_scale as f32,
                n_random_plies: self.random_plies as usize,
                temperature: self.temperature as f32,
                n_temperature_plies: self.temperature_plies as usize,
                opening_share: self.opening_share as f32,
                n_opening_plies: self.opening_plies as usize,
                is_adjudicated: self.adjudicate,
                resign_below: self.resign_below as f32,
                audit_share: self.audit_share as f32,
                ..self_play::Config::default()
            },
            n_lanes: n_lanes as usize,
            n_games: (n_envs / n_lanes) as usize,
            cache_positions: CACHE_POSITIONS,
            steps_per_update: u64::from(n_envs) * u64::from(n_steps),
            batch_size: self.batch_size as usize,
            reuse: self.reuse,
            learning_rate: self.learning_rate,
            value_mix: self.value_mix as f32,
            least_window: self.least_window as usize,
            learning_starts: self.learning_starts as usize,
            ..alphazero::Config::new(self.network.config(), self.total_timesteps)
        }
    }
}

/// For runs that were made before there was a choice.
fn default_temperature_plies() -> u32 {
    self_play::Config::default().n_temperature_plies as u32
}

/// A number of single precision as people write it: 0.1, and not 0.10000000149011612.
fn plain(number: f32) -> f64 {
    number.to_string().parse().unwrap_or_else(|_| number.into())
}
