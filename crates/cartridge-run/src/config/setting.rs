//! Every setting: its name for people, what it does, its bounds and its other names.
//!
//! This table is the only place that has them. A configuration is checked against it
//! ([`Setting::check`]), the schemas that forms are made from are written from it
//! ([`super::schema`]), other libraries' names are looked up in it ([`aliases`]), and what may be
//! changed while a run trains has its bounds here ([`Setting::tuning`]). Defaults are those of the
//! learners, and are not repeated.

use cartridge_games::registry::is_game;
use cartridge_learn::schedule::Schedule;
use serde_json::{Value, json};

use self::Form::{
    Bytes, Cores, Flag, Layers, Number, NumberOrNull, Paths, Whole, WholeOrMinusOne, Word,
};
use super::Algorithm::{self, AlphaZero, Dqn, Ppo};
use super::{parse_bytes, parse_cores};

/// A setting of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// The full path: section and name.
    pub path: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does.
    pub help: &'static str,
    /// What its values are.
    pub form: Form,
    /// The algorithms that have it; none where all do.
    pub of: &'static [Algorithm],
    /// What it is counted in.
    pub unit: Option<&'static str>,
    /// Whether a slider for it multiplies instead of adding.
    pub is_logarithmic: bool,
    /// By how much a slider or a spin button moves it.
    pub step: Option<f64>,
    /// The bounds while a run trains, where it can be changed then.
    pub tuning: Option<Range>,
    /// Full paths that are understood as this one: CleanRL's, RL-Zoo's, and those of older files.
    pub aliases: &'static [&'static str],
}

/// What the values of a setting are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// A number.
    Number(Range),
    /// A number, or null.
    NumberOrNull(Range),
    /// A number, or `lin_` and a number, which falls from there to 0.
    Schedule(Range),
    /// A whole number from the first to the second.
    Whole(u64, u64),
    /// A whole number from the first to the second, or -1.
    WholeOrMinusOne(u64, u64),
    /// Yes or no.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Units of hidden layers.
    Layers,
    /// CPU cores.
    Cores,
    /// Bytes.
    Bytes,
    /// Paths of settings.
    Paths,
}

/// The least and the greatest of a setting's values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least.
    pub low: f64,
    /// The greatest.
    pub high: f64,
    /// Whether the least itself is left out.
    pub is_low_open: bool,
    /// Whether the greatest itself is left out.
    pub is_high_open: bool,
}

impl Range {
    const fn new(low: f64, high: f64) -> Self {
        Self { low, high, is_low_open: false, is_high_open: false }
    }

    const fn above(low: f64, high: f64) -> Self {
        Self { is_low_open: true, ..Self::new(low, high) }
    }

    const fn between(low: f64, high: f64) -> Self {
        Self { is_high_open: true, ..Self::above(low, high) }
    }

    /// Whether `value` is in it.
    pub fn contains(&self, value: f64) -> bool {
        let is_high_enough = if self.is_low_open { value > self.low } else { value >= self.low };
        let is_low_enough = if self.is_high_open { value < self.high } else { value <= self.high };
        is_high_enough && is_low_enough
    }

    /// What it demands: `between 0 and 1`.
    pub fn words(&self) -> String {
        let Self { low, high, .. } = self;
        match (self.is_low_open, self.is_high_open) {
            (false, false) => format!("between {low} and {high}"),
            (true, false) => format!("above {low} and at most {high}"),
            (false, true) => format!("at least {low} and below {high}"),
            (true, true) => format!("above {low} and below {high}"),
        }
    }

    /// As JSON Schema says it.
    pub fn schema(&self) -> Value {
        let low = if self.is_low_open { "exclusiveMinimum" } else { "minimum" };
        let high = if self.is_high_open { "exclusiveMaximum" } else { "maximum" };
        json!({ low: self.low, high: self.high })
    }
}

impl Setting {
    const fn new(path: &'static str, title: &'static str, help: &'static str, form: Form) -> Self {
        Self {
            path,
            title,
            help,
            form,
            of: &[],
            unit: None,
            is_logarithmic: false,
            step: None,
            tuning: None,
            aliases: &[],
        }
    }

    const fn of(self, algorithms: &'static [Algorithm]) -> Self {
        Self { of: algorithms, ..self }
    }

    const fn unit(self, unit: &'static str) -> Self {
        Self { unit: Some(unit), ..self }
    }

    const fn logarithmic(self) -> Self {
        Self { is_logarithmic: true, ..self }
    }

    const fn step(self, step: f64) -> Self {
        Self { step: Some(step), ..self }
    }

    const fn tunable(self, low: f64, high: f64) -> Self {
        Self { tuning: Some(Range::new(low, high)), ..self }
    }

    const fn tuned_above(self, low: f64, high: f64) -> Self {
        Self { tuning: Some(Range::above(low, high)), ..self }
    }

    const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// The section and the name.
    pub fn parts(&self) -> (&'static str, &'static str) {
        self.path.split_once('.').unwrap_or(("", self.path))
    }

    /// Whether runs of `algo` have it.
    pub fn is_of(&self, algo: Algorithm) -> bool {
        self.of.is_empty() || self.of.contains(&algo)
    }

    /// What is wrong with a value of the right type, if anything is.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let within = |number: f64, range: Range| match range.contains(number) {
            true => Ok(()),
            false => Err(format!("{number} is not {}", range.words())),
        };
        let whole = |low: u64, high: u64| match value.as_u64() {
            Some(number) if (low..=high).contains(&number) => Ok(()),
            _ => Err(format!("{value} is not between {low} and {high}")),
        };
        match self.form {
            Form::Number(range) | Form::NumberOrNull(range) => {
                value.as_f64().map_or(Ok(()), |number| within(number, range))
            }
            Form::Schedule(range) => {
                let schedule = serde_json::from_value::<Schedule>(value.clone());
                schedule.map_or(Ok(()), |schedule| within(schedule.start(), range))
            }
            Form::Whole(low, high) => whole(low, high),
            Form::WholeOrMinusOne(low, high) => match value.as_i64() {
                Some(-1) => Ok(()),
                _ => whole(low, high),
            },
            Form::Word(words) => match value.as_str() {
                Some(word) if !words.contains(&word) => {
                    Err(format!("`{word}` is not one of {}", words.join(", ")))
                }
                _ => Ok(()),
            },
            Form::Layers => {
                let layers: Vec<u64> = serde_json::from_value(value.clone()).unwrap_or_default();
                let is_good = (1..=MOST_LAYERS).contains(&layers.len())
                    && layers.iter().all(|n| (1..=MOST_UNITS).contains(n));
                is_good.then_some(()).ok_or_else(|| {
                    format!("{layers:?} is not a list of 1 to 8 layers of 1 to 1,024 units")
                })
            }
            Form::Cores | Form::Bytes => {
                let text = value.as_str().unwrap_or_default();
                let is_good = match self.form {
                    Form::Cores => parse_cores(text).is_some(),
                    _ => parse_bytes(text).is_some(),
                };
                is_good.then_some(()).ok_or_else(|| {
                    format!("`{text}` is no amount; write 2 cores as 2, 4 gigabytes as 4Gi")
                })
            }
            // Which paths there are depends on the whole.
            Form::Flag | Form::Paths => Ok(()),
        }
    }
}

/// What networks of boards are called.
pub(super) const NETWORKS: &[&str] = &["tiny", "small", "medium", "mlp"];

/// The most hidden layers.
pub(super) const MOST_LAYERS: usize = 8;

/// The most units of a hidden layer.
pub(super) const MOST_UNITS: u64 = 1024;

/// All settings but the options of environments, in the order in which forms show them.
pub const SETTINGS: &[Setting] = &[
    Setting::new(
        "trainer.learning_rate",
        "Learning rate",
        "Step size of the optimiser. `lin_0.001` falls from there to 0 at the end of the training, `cos_0.001` does so along half a wave, and `cycle_0.001` rises before it falls.",
        Form::Schedule(Range::new(1e-6, 1.0)),
    )
    .logarithmic()
    .tuned_above(0.0, 1.0)
    .aliases(&["learning_rate", "trainer.lr"]),
    Setting::new(
        "trainer.total_timesteps",
        "Total steps",
        "Environment steps to train for, over all environments together. Whole updates are made, so it may be passed.",
        Whole(5_000, 1_000_000_000),
    )
    .unit("steps")
    .logarithmic()
    .step(1000.0)
    .aliases(&["n_timesteps", "total_timesteps", "trainer.n_timesteps"]),
    Setting::new(
        "trainer.gamma",
        "Discount",
        "Weight of a reward one step later: nearer to 1 looks further ahead.",
        Number(Range::new(0.8, 0.9999)),
    )
    .of(&[Ppo, Dqn])
    .step(0.001),
    Setting::new(
        "trainer.gae_lambda",
        "GAE lambda",
        "Trade between bias (0) and variance (1) of the advantages.",
        Number(Range::new(0.0, 1.0)),
    )
    .of(&[Ppo])
    .step(0.01),
    Setting::new(
        "trainer.clip_range",
        "Clip range",
        "How far the policy may move in one update. `lin_0.2` falls from there to 0.",
        Form::Schedule(Range::new(0.05, 1.0)),
    )
    .of(&[Ppo])
    .step(0.01)
    .tunable(0.05, 0.3)
    .aliases(&["clip_range", "trainer.clip_coef"]),
    Setting::new(
        "trainer.clip_range_vf",
        "Clip range of values",
        "How far a value may move in one update; null for any.",
        NumberOrNull(Range::new(1e-6, 1e6)),
    )
    .of(&[Ppo])
    .logarithmic()
    .aliases(&["trainer.clip_vloss"]),
    Setting::new(
        "trainer.ent_coef",
        "Entropy bonus",
        "Weight of the entropy bonus: more keeps the policy trying other actions for longer. `lin_0.02` falls from there to 0.",
        Form::Schedule(Range::new(0.0, 0.1)),
    )
    .of(&[Ppo])
    .step(0.001)
    .tunable(0.0, 0.1)
    .aliases(&["ent_coef", "trainer.entropy_coef"]),
    Setting::new(
        "trainer.vf_coef",
        "Value loss",
        "Weight of the value loss beside that of the policy.",
        Number(Range::new(0.0, 10.0)),
    )
    .of(&[Ppo])
    .step(0.05),
    Setting::new(
        "trainer.buffer_size",
        "Replay buffer",
        "Newest steps that are kept to learn from.",
        Whole(512, 2_000_000),
    )
    .of(&[Dqn])
    .unit("steps")
    .logarithmic()
    .step(512.0),
    Setting::new(
        "trainer.learning_starts",
        "Learning starts",
        "Steps before anything is learnt; DQN acts at random until then.",
        Whole(0, 10_000_000),
    )
    .of(&[Dqn, AlphaZero])
    .unit("steps")
    .step(100.0),
    Setting::new(
        "trainer.batch_size",
        "Batch size",
        "Samples in one gradient step. PPO takes no more than are gathered for an update: simulation.n_envs times simulation.n_steps.",
        Whole(16, 65_536),
    )
    .unit("samples")
    .logarithmic()
    .step(16.0)
    .aliases(&["trainer.minibatch_size"]),
    Setting::new(
        "trainer.n_epochs",
        "Epochs",
        "Passes over the gathered steps in one update.",
        Whole(1, 100),
    )
    .of(&[Ppo])
    .step(1.0)
    .aliases(&["trainer.update_epochs"]),
    Setting::new(
        "trainer.tau",
        "Target update",
        "How far the target network moves to the network when it follows; 1 copies it.",
        Number(Range::new(1e-6, 1.0)),
    )
    .of(&[Dqn])
    .logarithmic(),
    Setting::new(
        "trainer.train_freq",
        "Learn every",
        "Steps of each environment between two times of learning.",
        Whole(1, 100_000),
    )
    .of(&[Dqn])
    .unit("steps")
    .logarithmic()
    .step(1.0)
    .aliases(&["trainer.train_frequency"]),
    Setting::new(
        "trainer.gradient_steps",
        "Gradient steps",
        "Gradient steps each time; -1 for as many as environments have made steps.",
        WholeOrMinusOne(1, 100_000),
    )
    .of(&[Dqn])
    .logarithmic()
    .step(1.0),
    Setting::new(
        "trainer.n_steps",
        "Returns over",
        "Steps whose rewards count before the value of what follows.",
        Whole(1, 20),
    )
    .of(&[Dqn])
    .unit("steps")
    .step(1.0),
    Setting::new(
        "trainer.target_update_interval",
        "Target follows every",
        "Environment steps after which the target network follows.",
        Whole(1, 10_000_000),
    )
    .of(&[Dqn])
    .unit("steps")
    .logarithmic()
    .step(1.0)
    .aliases(&["trainer.target_network_frequency"]),
    Setting::new(
        "trainer.exploration_fraction",
        "Exploration share",
        "Share of the training over which the share of random actions falls.",
        Number(Range::new(0.0, 1.0)),
    )
    .of(&[Dqn])
    .step(0.01),
    Setting::new(
        "trainer.exploration_initial_eps",
        "First exploration",
        "Share of random actions at the beginning.",
        Number(Range::new(0.0, 1.0)),
    )
    .of(&[Dqn])
    .step(0.01)
    .aliases(&["trainer.start_e"]),
    Setting::new(
        "trainer.exploration_final_eps",
        "Last exploration",
        "Share of random actions from then on.",
        Number(Range::new(0.0, 0.5)),
    )
    .of(&[Dqn])
    .step(0.01)
    .aliases(&["trainer.end_e"]),
    Setting::new(
        "trainer.max_grad_norm",
        "Greatest gradient",
        "Gradients are scaled down to this norm.",
        Number(Range::new(1e-6, 100.0)),
    )
    .logarithmic(),
    Setting::new(
        "trainer.target_kl",
        "Target KL",
        "An update ends when the policy has moved one and a half times as far; null for never.",
        NumberOrNull(Range::new(1e-6, 100.0)),
    )
    .of(&[Ppo])
    .logarithmic(),
    Setting::new(
        "trainer.normalize_advantage",
        "Normalise advantages",
        "Within each batch.",
        Flag,
    )
    .of(&[Ppo])
    .aliases(&["trainer.norm_adv"]),
    Setting::new(
        "trainer.normalize_observation",
        "Normalise observations",
        "By all that was seen; it becomes part of the policy and of its ONNX file.",
        Flag,
    )
    .of(&[Ppo])
    .aliases(&["trainer.norm_obs"]),
    Setting::new(
        "trainer.normalize_reward",
        "Normalise rewards",
        "By the deviation of discounted returns.",
        Flag,
    )
    .of(&[Ppo])
    .aliases(&["trainer.norm_reward"]),
    Setting::new(
        "trainer.net_arch",
        "Hidden layers",
        "Units of each hidden layer.",
        Layers,
    )
    .of(&[Ppo, Dqn])
    .unit("units"),
    Setting::new(
        "trainer.activation",
        "Activation",
        "What follows a hidden layer.",
        Word(&["tanh", "relu"]),
    )
    .of(&[Ppo, Dqn]),
    Setting::new(
        "trainer.log_std_init",
        "First deviation",
        "Logarithm of the deviation of continuous actions at the beginning.",
        Number(Range::new(-5.0, 2.0)),
    )
    .of(&[Ppo])
    .step(0.1),
    Setting::new(
        "trainer.quit_logit",
        "Quit logit",
        "Logit of the action that ends an episode by choice at the beginning, where there is one: giving up must not be the first thing that is learnt.",
        Number(Range::new(-20.0, 0.0)),
    )
    .of(&[Ppo])
    .step(0.5),
    Setting::new(
        "trainer.double_q",
        "Double Q",
        "Whether one network chooses the action whose value the other gives.",
        Flag,
    )
    .of(&[Dqn]),
    Setting::new(
        "trainer.prioritized_replay",
        "Prioritised replay",
        "Whether samples that surprised are drawn more often.",
        Flag,
    )
    .of(&[Dqn]),
    Setting::new(
        "trainer.prioritized_replay_alpha",
        "Priority alpha",
        "How much more often.",
        Number(Range::new(0.0, 1.0)),
    )
    .of(&[Dqn])
    .step(0.01),
    Setting::new(
        "trainer.prioritized_replay_beta0",
        "Priority beta",
        "How much of that is taken back by weights at the beginning; all at the end.",
        Number(Range::new(0.0, 1.0)),
    )
    .of(&[Dqn])
    .step(0.01),
    Setting::new(
        "trainer.network",
        "Network",
        "`small` (2 blocks of 32 channels) and `medium` (5 of 64) look at the board by convolutions; `tiny` (two layers of 64 units) and `mlp` (of 256) see it as a list of numbers.",
        Word(NETWORKS),
    )
    .of(&[AlphaZero]),
    Setting::new(
        "trainer.weight_decay",
        "Weight decay",
        "Share of the learning rate by which weights shrink in every step.",
        Number(Range::new(0.0, 1.0)),
    )
    .of(&[AlphaZero])
    .step(0.0001),
    Setting::new(
        "trainer.simulations",
        "First simulations",
        "Simulations of a thorough search at the beginning of the training.",
        Whole(2, 10_000),
    )
    .of(&[AlphaZero])
    .logarithmic()
    .step(1.0)
    .aliases(&["trainer.num_simulations", "trainer.n_simulations"]),
    Setting::new(
        "trainer.simulations_end",
        "Last simulations",
        "Simulations of a thorough search at the end of the training; they rise in a line.",
        Whole(2, 10_000),
    )
    .of(&[AlphaZero])
    .logarithmic()
    .step(1.0),
    Setting::new(
        "trainer.fast_simulations",
        "Fast simulations",
        "Simulations of a fast search, which is not learnt from and gets games to their ends.",
        Whole(2, 10_000),
    )
    .of(&[AlphaZero])
    .logarithmic()
    .step(1.0),
    Setting::new(
        "trainer.full_share",
        "Thorough searches",
        "Share of the searches that are thorough.",
        Number(Range::above(0.0, 1.0)),
    )
    .of(&[AlphaZero])
    .step(0.05),
    Setting::new(
        "trainer.considered",
        "Considered moves",
        "Moves that a search considers at its root.",
        Whole(2, 362),
    )
    .of(&[AlphaZero])
    .step(1.0),
    Setting::new(
        "trainer.value_scale",
        "Value scale",
        "How much what a search finds counts against what the network thought.",
        Number(Range::above(0.0, 10.0)),
    )
    .of(&[AlphaZero])
    .step(0.05),
    Setting::new(
        "trainer.random_plies",
        "Moves with chance",
        "Moves from the start of a game in which chance has a say.",
        Whole(0, 100_000),
    )
    .of(&[AlphaZero])
    .step(1.0),
    Setting::new(
        "trainer.temperature",
        "Temperature",
        "How much chance has a say in which of what a search found is played; at 0 it is the search's own choice.",
        Number(Range::new(0.0, 10.0)),
    )
    .of(&[AlphaZero])
    .step(0.05),
    Setting::new(
        "trainer.temperature_plies",
        "Moves with a temperature",
        "Moves from the start of a game for which the temperature holds.",
        Whole(0, 100_000),
    )
    .of(&[AlphaZero])
    .step(1.0),
    Setting::new(
        "trainer.opening_share",
        "Random openings",
        "Share of the games that begin with moves drawn by chance.",
        Number(Range::new(0.0, 1.0)),
    )
    .of(&[AlphaZero])
    .step(0.05),
    Setting::new(
        "trainer.opening_plies",
        "Opening moves",
        "The most moves that are drawn by chance at the beginning of a game.",
        Whole(0, 1_000),
    )
    .of(&[AlphaZero])
    .step(1.0),
    Setting::new(
        "trainer.adjudicate",
        "End proven games",
        "Whether a game ends when a search has proven how it will.",
        Flag,
    )
    .of(&[AlphaZero]),
    Setting::new(
        "trainer.resign_below",
        "Resign below",
        "A side gives up when its searches say less than this, from -1 (lost) to 0; -1 for never.",
        Number(Range::new(-1.0, 0.0)),
    )
    .of(&[AlphaZero])
    .step(0.01),
    Setting::new(
        "trainer.audit_share",
        "Games without resigning",
        "Share of the games in which nobody gives up, to see how often that would have been wrong.",
        Number(Range::new(0.0, 1.0)),
    )
    .of(&[AlphaZero])
    .step(0.05),
    Setting::new(
        "trainer.value_mix",
        "Value of searches",
        "How much a search's own value counts beside the end of the game.",
        Number(Range::new(0.0, 1.0)),
    )
    .of(&[AlphaZero])
    .step(0.05),
    Setting::new(
        "trainer.reuse",
        "Reuse",
        "How often a position is learnt from, on average.",
        Number(Range::above(0.0, 1_000.0)),
    )
    .of(&[AlphaZero])
    .step(1.0),
    Setting::new(
        "trainer.least_window",
        "Window",
        "Positions that there is room for at first; the window grows with the games.",
        Whole(64, 10_000_000),
    )
    .of(&[AlphaZero])
    .unit("positions")
    .logarithmic()
    .step(1000.0),
    Setting::new(
        "trainer.promotion",
        "Promotion",
        "`arena`: a checkpoint becomes the best by winning against the best; `continuous`: the newest always is.",
        Word(&["arena", "continuous"]),
    )
    .of(&[AlphaZero]),
    Setting::new(
        "trainer.promote_above",
        "Promote above",
        "The share of the points above which a checkpoint becomes the best.",
        Number(Range::new(0.0, 1.0)),
    )
    .of(&[AlphaZero])
    .step(0.01),
    Setting::new(
        "trainer.early_stop",
        "Early stop",
        "Whether the run ends when its returns have reached what is to be had and stay there; only where the environment has a threshold.",
        Flag,
    )
    .of(&[Ppo, Dqn]),
    Setting::new(
        "simulation.n_envs",
        "Environments",
        "Environments side by side; with AlphaZero, games in step: up to 64, or a multiple of it.",
        Whole(1, 4_096),
    )
    .logarithmic()
    .step(1.0)
    .aliases(&[
        "simulation.parallel_envs",
        "simulation.num_envs",
        "trainer.n_envs",
        "trainer.num_envs",
    ]),
    Setting::new(
        "simulation.n_steps",
        "Rollout length",
        "Steps that each environment takes for one update.",
        Whole(16, 8_192),
    )
    .of(&[Ppo, AlphaZero])
    .unit("steps")
    .logarithmic()
    .step(16.0)
    .aliases(&[
        "simulation.rollout_len",
        "simulation.rollout_steps",
        "simulation.num_steps",
        "trainer.rollout_len",
        "trainer.rollout_steps",
        "trainer.num_steps",
        "trainer.n_steps",
    ]),
    Setting::new(
        "evaluation.every_steps",
        "Evaluate every",
        "Environment steps between evaluations.",
        Whole(1_000, 10_000_000),
    )
    .unit("steps")
    .logarithmic()
    .step(1000.0)
    .tunable(1e3, 1e7),
    Setting::new(
        "evaluation.episodes",
        "Evaluation episodes",
        "Episodes of each evaluation, played without chance; with AlphaZero, games against the best and as many against a fixed opponent.",
        Whole(1, 10_000),
    )
    .unit("episodes")
    .step(1.0),
    Setting::new(
        "evaluation.simulations",
        "Evaluation simulations",
        "Simulations of each move in the games of an evaluation; 0 plays by the network alone.",
        Whole(0, 10_000),
    )
    .of(&[AlphaZero])
    .step(1.0),
    Setting::new(
        "evaluation.final_episodes",
        "Final episodes",
        "Episodes of the evaluation at the end.",
        Whole(1, 10_000),
    )
    .unit("episodes")
    .step(1.0),
    Setting::new(
        "evaluation.capture_video",
        "Capture video",
        "Whether evaluations are filmed, as MP4 files below videos/ of the run: the last always, the others when there is time for it.",
        Flag,
    )
    .aliases(&["capture_video", "trainer.capture_video"]),
    Setting::new(
        "seeds.seed_base",
        "Seed",
        "The number that decides the whole run.",
        Whole(0, i64::MAX as u64),
    )
    .step(1.0)
    .aliases(&["seed"]),
    Setting::new(
        "seeds.per_episode",
        "Episode seeds",
        "How episodes of training get their seeds: `hash` mixes seed, lane and number, `seed_base+episode_idx` counts up from the seed in the order in which they begin, on one thread.",
        Word(&["hash", "seed_base+episode_idx"]),
    ),
    Setting::new(
        "retention.checkpoint_every_steps",
        "Checkpoint every",
        "Environment steps between checkpoints.",
        Whole(1_000, 1_000_000_000),
    )
    .unit("steps")
    .logarithmic()
    .step(1000.0),
    Setting::new(
        "retention.keep_checkpoints",
        "Checkpoints kept",
        "Newest checkpoints that are kept, beside the best.",
        Whole(1, 1_000),
    )
    .step(1.0),
    Setting::new(
        "retention.milestone_every_steps",
        "Milestone every",
        "The first checkpoint at or after each multiple of so many steps is kept for good; 0 for none.",
        Whole(0, 1_000_000_000),
    )
    .unit("steps")
    .step(1000.0),
    Setting::new(
        "retention.keep_videos",
        "Videos kept",
        "Newest videos that are kept.",
        Whole(0, 1_000),
    )
    .step(1.0),
    Setting::new(
        "retention.shard_target_mb",
        "Episode file",
        "Size of a file of recorded episodes; whole ones can be dropped.",
        Whole(1, 1_024),
    )
    .unit("MiB")
    .step(1.0),
    Setting::new(
        "resources.gpu",
        "GPUs",
        "GPUs that the run needs.",
        Whole(0, 1_024),
    )
    .step(1.0),
    Setting::new(
        "resources.cpu",
        "CPU",
        "CPU cores that the run needs: 2, 0.5 or 500m.",
        Cores,
    )
    .unit("cores"),
    Setting::new(
        "resources.memory",
        "Memory",
        "Memory that the run needs: 4Gi, 512Mi, or a number of bytes.",
        Bytes,
    )
    .unit("bytes"),
    Setting::new(
        "resources.threads",
        "Threads",
        "Threads that learn; 0 for as many as there are cores, up to 4. They change the time that a run takes, and nothing else.",
        Whole(0, 256),
    )
    .step(1.0)
    .aliases(&["threads", "simulation.num_workers", "trainer.num_workers"]),
    Setting::new(
        "analytics.window_steps",
        "Window",
        "Environment steps that are summed up together in analytics.",
        Whole(1_000, 1_000_000_000),
    )
    .unit("steps")
    .logarithmic()
    .step(1000.0),
    Setting::new(
        "overrides_whitelist",
        "May be changed",
        "Settings that runs from a template and forks may change, and those among them that are tunable also while a run trains.",
        Paths,
    ),
];

/// The option that every environment has; its own limit is the most, and the default.
const HORIZON: Setting = Setting::new(
    "env.max_episode_steps",
    "Horizon",
    "Steps after which an episode is cut off.",
    Whole(1, 20_000),
)
.unit("steps")
.logarithmic()
.step(1.0)
.aliases(&["simulation.horizon"]);

/// The options that runs on an environment may have.
pub fn options_of(env_id: &str) -> &'static [Setting] {
    const CART_POLE: &[Setting] = &[
        Setting::new(
            "env.sutton_barto_reward",
            "Sutton and Barto's reward",
            "Reward -1 for failing and 0 otherwise, instead of 1 for every step.",
            Flag,
        ),
        HORIZON,
    ];
    const MOUNTAIN_CAR: &[Setting] = &[
        Setting::new(
            "env.goal_velocity",
            "Goal velocity",
            "The least speed with which the flag counts as reached.",
            Number(Range::new(0.0, 0.07)),
        )
        .step(0.001),
        HORIZON,
    ];
    const PENDULUM: &[Setting] = &[
        Setting::new(
            "env.g",
            "Gravity",
            "How strongly the rod is pulled down.",
            Number(Range::new(0.0, 100.0)),
        )
        .unit("m/s²")
        .step(0.1),
        HORIZON,
    ];
    const LUNAR_LANDER: &[Setting] = &[
        Setting::new("env.continuous", "Continuous", "Throttles instead of four actions.", Flag),
        Setting::new(
            "env.gravity",
            "Gravity",
            "How strongly the lander is pulled, which is down where it is negative.",
            Number(Range::between(-12.0, 0.0)),
        )
        .unit("m/s²")
        .step(0.1),
        Setting::new("env.enable_wind", "Wind", "Whether wind blows until a leg touches.", Flag),
        Setting::new(
            "env.wind_power",
            "Wind power",
            "The largest force of the wind; up to 20 is recommended.",
            Number(Range::new(0.0, 100.0)),
        )
        .unit("N")
        .step(0.5),
        Setting::new(
            "env.turbulence_power",
            "Turbulence",
            "The largest torque of the wind; up to 2 is recommended.",
            Number(Range::new(0.0, 10.0)),
        )
        .unit("N m")
        .step(0.1),
        HORIZON,
    ];
    const ASTEROID_PROSPECTOR: &[Setting] = &[
        Setting::new(
            "env.reward",
            "Reward",
            "`worth` pays the change of what the prospector is worth, `published` the weights of the fact sheet, under which doing nothing is best.",
            Word(&["worth", "published"]),
        ),
        HORIZON,
    ];
    match env_id {
        "CartPole-v1" => CART_POLE,
        "MountainCar-v0" | "MountainCarContinuous-v0" => MOUNTAIN_CAR,
        "Pendulum-v1" => PENDULUM,
        "LunarLander-v3" => LUNAR_LANDER,
        "AsteroidProspector-v0" => ASTEROID_PROSPECTOR,
        id if is_game(id) => &[],
        _ => &[HORIZON],
    }
}

/// The settings of runs of `algo` on an environment.
pub fn settings_of(algo: Algorithm, env_id: &str) -> impl Iterator<Item = &'static Setting> {
    options_of(env_id).iter().chain(SETTINGS.iter().filter(move |setting| setting.is_of(algo)))
}

/// The setting at a full path, but for the options of environments.
pub fn setting(path: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.path == path)
}

/// Every other name with what it means.
pub fn aliases() -> impl Iterator<Item = (&'static str, &'static str)> {
    SETTINGS
        .iter()
        .chain(&[HORIZON])
        .flat_map(|setting| setting.aliases.iter().map(move |alias| (*alias, setting.path)))
}
