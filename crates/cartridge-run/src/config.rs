//! What a run is told.
//!
//! A configuration is built in one way only: the defaults, then whatever the user gives laid over
//! them ([`Draft`]), then checked as a whole ([`Draft::finish`]). Unknown keys are errors that
//! name the nearest right one; numbers have bounds ([`setting`]). Keys bear Stable-Baselines3's
//! names; the names of CleanRL and of older files are accepted as aliases.

mod draft;
mod presets;
pub mod schema;
pub mod setting;
mod trainer;

use cartridge_games::EpisodeSeeds;
use cartridge_games::env::ActionSpace;
use cartridge_games::nearest::nearest;
use cartridge_games::registry::{RegistryError, env_options, is_game, make_env};
use cartridge_learn::learner::Config as LearnerConfig;
use cartridge_learn::{alphazero, dqn, ppo};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

pub use self::draft::{Draft, Resolved, flatten};
pub use self::presets::Preset;
use self::trainer::GAMES_OF_A_LANE;
pub use self::trainer::{AlphaZeroTrainer, DqnTrainer, PpoTrainer, Promotion, Trainer};
use crate::saturation::Rule;
use crate::tunable::Tunable;

/// The whole configuration of a training run, as `run.json` keeps it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunConfig {
    /// Id of the environment.
    pub env_id: String,
    /// Options of the environment.
    pub env: Map<String, Value>,
    /// The learning algorithm.
    pub algo: Algorithm,
    /// Knobs of the algorithm.
    pub trainer: Trainer,
    /// How experience is gathered.
    pub simulation: Simulation,
    /// When the policy is measured.
    pub evaluation: EvaluationPlan,
    /// Where chance comes from.
    pub seeds: Seeds,
    /// What is kept.
    pub retention: Retention,
    /// What the run needs of the machine.
    pub resources: Resources,
    /// How its numbers are summed up.
    pub analytics: Analytics,
    /// Settings that may be changed while it trains, and in forks of it.
    pub overrides_whitelist: Vec<String>,
}

impl<'de> Deserialize<'de> for RunConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// The same, before it is known which knobs there are.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Untyped {
            env_id: String,
            env: Map<String, Value>,
            algo: Algorithm,
            trainer: Value,
            simulation: Simulation,
            evaluation: EvaluationPlan,
            seeds: Seeds,
            retention: Retention,
            #[serde(default)]
            resources: Resources,
            #[serde(default)]
            analytics: Analytics,
            overrides_whitelist: Option<Vec<String>>,
        }
        let untyped = Untyped::deserialize(deserializer)?;
        let Untyped { env_id, env, algo, simulation, evaluation, seeds, retention, .. } = untyped;
        Ok(Self {
            trainer: Trainer::read(algo, &untyped.trainer).map_err(serde::de::Error::custom)?,
            overrides_whitelist: untyped
                .overrides_whitelist
                .unwrap_or_else(|| default_whitelist(algo)),
            resources: untyped.resources,
            analytics: untyped.analytics,
            env_id,
            env,
            algo,
            simulation,
            evaluation,
            seeds,
            retention,
        })
    }
}

/// What may be changed unless a run says otherwise.
fn default_whitelist(algo: Algorithm) -> Vec<String> {
    Tunable::of(algo).map(|tunable| tunable.path().to_owned()).collect()
}

/// A learning algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// Proximal policy optimisation.
    Ppo,
    /// Deep Q-learning.
    Dqn,
    /// Self-play with a search that a network guides, at games.
    #[serde(rename = "alphazero")]
    AlphaZero,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Ppo, Self::Dqn, Self::AlphaZero];

    /// The word in files and on the command line.
    pub fn id(self) -> &'static str {
        match self {
            Self::Ppo => "ppo",
            Self::Dqn => "dqn",
            Self::AlphaZero => "alphazero",
        }
    }

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ppo => "PPO",
            Self::Dqn => "DQN",
            Self::AlphaZero => "AlphaZero",
        }
    }

    /// Whether it can learn to act in an environment with these actions.
    pub fn learns(self, space: &ActionSpace) -> bool {
        match self {
            Self::Ppo => true,
            Self::Dqn => space.is_discrete(),
            Self::AlphaZero => false,
        }
    }

    /// Whether it learns games, and not environments.
    pub fn learns_games(self) -> bool {
        self == Self::AlphaZero
    }

    /// What learns `env_id` where nobody says.
    pub fn usual(env_id: &str) -> Self {
        if is_game(env_id) { Self::AlphaZero } else { Self::Ppo }
    }
}

/// How experience is gathered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Simulation {
    /// Environments side by side, 1 to 4,096.
    pub n_envs: u32,
    /// Steps that each of them takes for one update, 16 to 8,192; none where learning goes on all
    /// the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_steps: Option<u32>,
}

/// When the policy is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationPlan {
    /// Environment steps between evaluations, 1,000 to 1e7.
    pub every_steps: u64,
    /// Episodes of each evaluation, 1 to 10,000.
    pub episodes: u32,
    /// Episodes of the evaluation at the end, 1 to 10,000.
    pub final_episodes: u32,
    /// Simulations of each move, 0 to 10,000; none where no game is played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulations: Option<u32>,
    /// Whether the first episode of evaluations is filmed; the last evaluation always is, the
    /// others when there is time for it.
    #[serde(default)]
    pub capture_video: bool,
}

/// Where chance comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seeds {
    /// The number that decides the whole run, 0 to 2^63-1.
    pub seed_base: u64,
    /// How episodes of training get their seeds.
    #[serde(default)]
    pub per_episode: EpisodeSeeds,
}

/// What is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// Environment steps between checkpoints, 1,000 to 1e9.
    pub checkpoint_every_steps: u64,
    /// Newest checkpoints that are kept, beside the best, 1 to 1,000.
    pub keep_checkpoints: u32,
    /// Size of a file of recorded episodes in MiB, 1 to 1,024; whole ones can be dropped.
    #[serde(default = "default_shard_target_mb")]
    pub shard_target_mb: u32,
    /// Newest videos that are kept, 0 to 1,000.
    #[serde(default = "default_keep_videos")]
    pub keep_videos: u32,
    /// The first checkpoint at or after each multiple of so many steps is kept for good, up to
    /// 1e9; 0 for none.
    #[serde(default)]
    pub milestone_every_steps: u64,
}

fn default_keep_videos() -> u32 {
    3
}

/// For runs that were made before there was a choice.
fn default_shard_target_mb() -> u32 {
    128
}

/// What a run needs of the machine: the lab starts it when there is room for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resources {
    /// GPUs, 0 to 1,024.
    pub gpu: u32,
    /// CPU cores: `2`, `0.5` or `500m`.
    #[serde(deserialize_with = "number_or_text")]
    pub cpu: String,
    /// Memory: `4Gi`, `512Mi`, or a number of bytes.
    #[serde(deserialize_with = "number_or_text")]
    pub memory: String,
    /// Threads that learn, 0 to 256; 0 for as many as there are cores, up to 4. They change the
    /// time that a run takes, and nothing else.
    #[serde(default)]
    pub threads: u32,
}

impl Default for Resources {
    fn default() -> Self {
        // Small networks; more than one thread only where there is a core for it.
        Self { gpu: 0, cpu: "1".to_owned(), memory: "256Mi".to_owned(), threads: 0 }
    }
}

/// How the numbers of a run are summed up: in the lab's configuration for runs that do not say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Analytics {
    /// Environment steps of a window, 1,000 to 1e9.
    pub window_steps: u64,
}

impl Default for Analytics {
    fn default() -> Self {
        Self { window_steps: 100_000 }
    }
}

impl Resources {
    /// CPU cores.
    pub fn cpu_cores(&self) -> Option<f64> {
        parse_cores(&self.cpu)
    }

    /// Bytes of memory.
    pub fn memory_bytes(&self) -> Option<u64> {
        parse_bytes(&self.memory)
    }
}

/// CPU cores from `2`, `0.5` or `500m`.
pub fn parse_cores(text: &str) -> Option<f64> {
    let (number, scale) = match text.trim().strip_suffix('m') {
        Some(number) => (number, 1e-3),
        None => (text.trim(), 1.0),
    };
    let cores = number.parse::<f64>().ok()? * scale;
    (0.0..=4096.0).contains(&cores).then_some(cores)
}

/// Bytes from `4Gi`, `512M` or `1000`.
pub fn parse_bytes(text: &str) -> Option<u64> {
    const UNITS: [(&str, f64); 8] = [
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("K", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
    ];
    let text = text.trim();
    let unit = UNITS.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)));
    let (number, scale) = unit.unwrap_or((text, 1.0));
    let bytes = number.trim().parse::<f64>().ok()? * scale;
    (0.0..1e18).contains(&bytes).then_some(bytes as u64)
}

fn number_or_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(serde::de::Error::custom(format!("expected a number or text, got {other}"))),
    }
}

/// What is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// There is no such environment or option.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// There is no such algorithm.
    #[error("unknown algorithm `{algo}`; {hint}")]
    UnknownAlgorithm {
        /// What was asked for.
        algo: String,
        /// What may have been meant.
        hint: String,
    },
    /// There is no such preset, or not for this environment.
    #[error("there is no preset `{preset}`; {hint}")]
    UnknownPreset {
        /// What was asked for.
        preset: String,
        /// What may have been meant.
        hint: String,
    },
    /// There is no such schema.
    #[error("there is no schema `{name}`; {hint}")]
    UnknownSchema {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        hint: String,
    },
    /// Games and environments are learnt by different algorithms.
    #[error("{algo} does not learn `{env}`; {hint}")]
    WrongAlgorithm {
        /// Name of the algorithm.
        algo: &'static str,
        /// Id of the environment, or of the game.
        env: String,
        /// What does.
        hint: &'static str,
    },
    /// The algorithm cannot act in this environment.
    #[error("{algo} learns discrete actions only, and those of `{env}` are continuous")]
    WrongActions {
        /// Name of the algorithm.
        algo: &'static str,
        /// Id of the environment.
        env: String,
    },
    /// There is no such key.
    #[error("unknown option `{key}`; {hint}")]
    UnknownKey {
        /// The full path that was given.
        key: String,
        /// What may have been meant.
        hint: String,
    },
    /// The setting stays as it is while a run trains.
    #[error("`{key}` cannot be changed while a run trains; {hint}")]
    NotTunable {
        /// The full path that was given.
        key: String,
        /// What can be done.
        hint: String,
    },
    /// The setting stays as it is in runs from a template.
    #[error("`{key}` cannot be changed in a run of this experiment; {hint}")]
    NotOverridable {
        /// The full path that was given.
        key: String,
        /// What can be done.
        hint: String,
    },
    /// The setting stays as it is in forks.
    #[error("`{key}` cannot be changed in a fork of this run; {hint}")]
    NotForkable {
        /// The full path that was given.
        key: String,
        /// What can be done.
        hint: String,
    },
    /// The value does not have the right form.
    #[error("`{key}`: {detail}")]
    BadValue {
        /// The full path.
        key: String,
        /// What is wrong with it.
        detail: String,
    },
}

impl ConfigError {
    /// Whether a value is wrong, and not the name of what it is for.
    pub fn is_about_value(&self) -> bool {
        matches!(self, Self::BadValue { .. })
    }

    /// The JSON pointer of what is wrong, below the configuration.
    pub fn pointer(&self) -> String {
        match self {
            Self::Registry(RegistryError::UnknownOption { option, .. }) => format!("/env/{option}"),
            Self::Registry(RegistryError::BadOption { .. }) => "/env".to_owned(),
            Self::Registry(_) => "/env_id".to_owned(),
            Self::UnknownPreset { .. } => "/preset".to_owned(),
            Self::UnknownSchema { .. } => "/name".to_owned(),
            Self::UnknownAlgorithm { .. }
            | Self::WrongAlgorithm { .. }
            | Self::WrongActions { .. } => "/algo".to_owned(),
            Self::UnknownKey { key, .. }
            | Self::NotTunable { key, .. }
            | Self::NotForkable { key, .. }
            | Self::NotOverridable { key, .. }
            | Self::BadValue { key, .. } => {
                format!("/{}", key.replace('.', "/"))
            }
        }
    }
}

/// The options of an environment from texts such as `continuous=true`.
pub fn parse_options(assignments: &[String]) -> Result<Map<String, Value>, ConfigError> {
    let parse = |assignment: &String| {
        let (key, value) = parse_assignment(assignment, "continuous=true")?;
        Ok((key.strip_prefix("env.").unwrap_or(key).to_owned(), value))
    };
    assignments.iter().map(parse).collect()
}

/// Options that are there to compare traces with Gymnasium, where an episode is not its seed and
/// actions alone. A run is not made with them: its episodes could not be played again.
const PARITY_ONLY: [&str; 1] = ["keep_world"];

/// The options that a run on the environment may have, with their defaults.
pub fn run_options(env_id: &str) -> Result<Map<String, Value>, RegistryError> {
    let mut options = env_options(env_id)?;
    options.retain(|name, _| !PARITY_ONLY.contains(&name.as_str()));
    Ok(options)
}

/// Key and value from text such as `trainer.gamma=0.98`.
pub fn parse_assignment<'a>(
    assignment: &'a str,
    example: &str,
) -> Result<(&'a str, Value), ConfigError> {
    let Some((key, text)) = assignment.split_once('=') else {
        return Err(ConfigError::BadValue {
            key: assignment.to_owned(),
            detail: format!("write it as key=value, such as {example}"),
        });
    };
    let value = match text.trim() {
        // As people write them who come from Python.
        "True" => true.into(),
        "False" => false.into(),
        "None" => Value::Null,
        // What is no number, boolean or other JSON is a word.
        text => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
    };
    Ok((key.trim(), value))
}

/// The full path that `key` means in runs of `algo`, or of any where it does not matter: itself, or
/// that of which it is an alias. What is a setting of one algorithm may be an alias in another:
/// Stable-Baselines3's `n_steps` are steps of a rollout with PPO, and of a return with DQN.
pub(crate) fn canonical(key: &str, algo: Option<Algorithm>) -> &str {
    let has = |path: &str| {
        setting::setting(path).is_some_and(|it| algo.is_none_or(|algo| it.is_of(algo)))
    };
    if has(key) {
        return key;
    }
    let meant = || setting::aliases().chain(draft::SAYINGS).filter(move |(alias, _)| *alias == key);
    let own = meant().find(|(_, path)| has(path));
    own.or_else(|| meant().next()).map_or(key, |(_, path)| path)
}

/// The place that `key` fills among the settings that somebody gives, in which it stands alone. It is
/// what `key` means, but whether a learning rate falls is said beside the learning rate.
pub(crate) fn place(key: &str, algo: Option<Algorithm>) -> &str {
    if key == draft::ANNEAL_LR { key } else { canonical(key, algo) }
}

impl RunConfig {
    /// Everything that is wrong with it, by the table of settings and as a whole.
    fn problems(&self) -> Vec<ConfigError> {
        let whole = serde_json::to_value(self).expect("a configuration is plain data");
        let bad = |key: String, detail| ConfigError::BadValue { key, detail };
        let mut problems = Vec::new();
        for setting in setting::settings_of(self.algo, &self.env_id) {
            let pointer = format!("/{}", setting.path.replace('.', "/"));
            // Options that nobody gave, and settings of older files, are as they are by default.
            let Some(value) = whole.pointer(&pointer) else { continue };
            if let Err(detail) = setting.check(value) {
                problems.push(bad(setting.path.to_owned(), detail));
            }
        }
        for (idx, path) in self.overrides_whitelist.iter().enumerate() {
            let is_known = setting::setting(path).is_some_and(|setting| {
                setting.is_of(self.algo) && setting.form != setting::Form::Paths
            });
            if !is_known {
                let known = setting::SETTINGS.iter().filter(|setting| setting.is_of(self.algo));
                let hint = match nearest(path, known.map(|setting| setting.path)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "it takes full paths, such as trainer.learning_rate".to_owned(),
                };
                let detail = format!("{} has no setting `{path}`; {hint}", self.algo.name());
                problems.push(bad(format!("overrides_whitelist.{idx}"), detail));
            }
        }
        if let (Trainer::Ppo(ppo), []) = (&self.trainer, problems.as_slice()) {
            let n_gathered = self.simulation.n_envs * self.n_steps();
            if ppo.batch_size > n_gathered {
                let detail = format!(
                    "{} is more than the {n_gathered} steps gathered for one update (simulation.n_envs times simulation.n_steps)",
                    ppo.batch_size
                );
                problems.push(bad("trainer.batch_size".to_owned(), detail));
            }
        }
        if self.algo.learns_games() {
            self.check_self_play(&mut problems);
        } else if let Ok(env) = make_env(&self.env_id, &self.env) {
            // Options may change what an action is, so this is known only now.
            if !self.algo.learns(&env.spec().actions) {
                let (algo, env) = (self.algo.name(), self.env_id.clone());
                problems.push(ConfigError::WrongActions { algo, env });
            }
        }
        if self.trainer.early_stop() && self.saturation_rule().is_none() {
            let detail = format!(
                "{} has no return from which it counts as solved, so nobody can say when to stop; leave it off",
                self.env_id
            );
            problems.push(bad("trainer.early_stop".to_owned(), detail));
        }
        problems
    }

    /// What is allowed and probably not meant, for people.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.uneven_batches().into_iter().collect();
        if presets::is_without_its_exploration(self) {
            warnings.push(format!(
                "RL-Zoo explores {} by a noise that depends on the state (use_sde, generalised state-dependent exploration), which is not here; the rest of its values are those of the preset `zoo`",
                self.env_id
            ));
        }
        warnings
    }

    /// Batches that do not divide what is gathered.
    fn uneven_batches(&self) -> Option<String> {
        let Trainer::Ppo(ppo) = &self.trainer else { return None };
        let gathered = self.simulation.n_envs * self.n_steps();
        // As Stable-Baselines3 warns of it.
        let left = gathered % ppo.batch_size;
        let warning = format!(
            "trainer.batch_size {} does not divide the {gathered} steps gathered for one update (simulation.n_envs times simulation.n_steps): the last batch of an epoch has {left}",
            ppo.batch_size
        );
        (left != 0).then_some(warning)
    }

    /// What only training by self-play asks for.
    fn check_self_play(&self, problems: &mut Vec<ConfigError>) {
        let mut bad = |key: &str, detail: String| {
            problems.push(ConfigError::BadValue { key: key.to_owned(), detail });
        };
        let n_envs = self.simulation.n_envs;
        if n_envs > GAMES_OF_A_LANE && !n_envs.is_multiple_of(GAMES_OF_A_LANE) {
            let detail = format!("{n_envs} is above {GAMES_OF_A_LANE} and no multiple of it");
            bad("simulation.n_envs", detail);
        }
        if self.evaluation.capture_video {
            let detail = "games are not filmed; every one of them can be replayed".to_owned();
            bad("evaluation.capture_video", detail);
        }
        if self.seeds.per_episode != EpisodeSeeds::Hash {
            let detail = "games of self-play have no seeds of their own".to_owned();
            bad("seeds.per_episode", detail);
        }
    }

    /// Steps that each environment takes for one update.
    fn n_steps(&self) -> u32 {
        self.simulation.n_steps.unwrap_or(ppo::Config::default().n_steps as u32)
    }

    /// What a training by self-play needs; nothing where it is none.
    pub fn self_play(&self) -> Option<alphazero::Config> {
        match &self.trainer {
            Trainer::AlphaZero(trainer) => {
                Some(trainer.learner(self.simulation.n_envs, self.n_steps()))
            }
            Trainer::Ppo(_) | Trainer::Dqn(_) => None,
        }
    }

    /// The part that the learner in an environment needs.
    ///
    /// # Panics
    ///
    /// If it is a training by self-play.
    pub fn learner(&self) -> LearnerConfig {
        match &self.trainer {
            Trainer::AlphaZero(_) => {
                unreachable!("whoever asks has looked whether it is self-play")
            }
            Trainer::Ppo(ppo) => {
                let config = ppo.learner(self.simulation.n_envs, self.n_steps());
                LearnerConfig::Ppo(ppo::Config { episode_seeds: self.seeds.per_episode, ..config })
            }
            Trainer::Dqn(dqn) => {
                let config = dqn.learner(self.simulation.n_envs);
                LearnerConfig::Dqn(dqn::Config { episode_seeds: self.seeds.per_episode, ..config })
            }
        }
    }

    /// When there is nothing left to learn, where the environment lets that be known.
    pub fn saturation_rule(&self) -> Option<Rule> {
        let spec = make_env(&self.env_id, &self.env).ok()?.spec();
        Rule::of(&self.env_id, spec.reward_threshold)
    }

    /// Threads that learn on this machine.
    pub fn n_threads(&self) -> usize {
        match self.resources.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from).min(4),
            n => n as usize,
        }
    }
}

/// What serde says of a value of the wrong type, without the names of Rust's types.
pub fn plain_words(detail: &str) -> String {
    let detail = detail.split(" at line ").next().unwrap_or(detail);
    let mut words = detail.replace("expected f64", "expected a number");
    for whole in ["u64", "u32", "usize"] {
        words = words.replace(&format!("expected {whole}"), "expected a whole number, 0 or more");
    }
    words
}

#[cfg(test)]
mod tests;
