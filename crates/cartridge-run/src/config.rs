//! What a run is told.
//!
//! A configuration is built in one way only: the defaults, then whatever the user gives laid over
//! them ([`Draft`]), then checked as a whole ([`Draft::finish`]). Unknown keys are errors that
//! name the nearest right one; numbers have bounds. Keys bear Stable-Baselines3's names; the
//! names of CleanRL and of older files are accepted as aliases.

mod presets;
mod trainer;

use cartridge_games::env::ActionSpace;
use cartridge_games::nearest::nearest;
use cartridge_games::registry::{RegistryError, env_options, make_env, present_id};
use cartridge_learn::learner::Config as LearnerConfig;
use cartridge_learn::{dqn, ppo};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

pub use self::presets::Preset;
pub use self::trainer::{DqnTrainer, PpoTrainer, Trainer};
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
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Ppo, Self::Dqn];

    /// The word in files and on the command line.
    pub fn id(self) -> &'static str {
        match self {
            Self::Ppo => "ppo",
            Self::Dqn => "dqn",
        }
    }

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ppo => "PPO",
            Self::Dqn => "DQN",
        }
    }

    /// Whether it can learn to act in `space`.
    pub fn learns(self, space: &ActionSpace) -> bool {
        match self {
            Self::Ppo => true,
            Self::Dqn => space.is_discrete(),
        }
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

/// Names that are understood besides ours: CleanRL's, RL-Zoo's, and those of older files.
const ALIASES: &[(&str, &str)] = &[
    ("n_timesteps", "trainer.total_timesteps"),
    ("total_timesteps", "trainer.total_timesteps"),
    ("learning_rate", "trainer.learning_rate"),
    ("trainer.n_timesteps", "trainer.total_timesteps"),
    ("trainer.lr", "trainer.learning_rate"),
    ("trainer.entropy_coef", "trainer.ent_coef"),
    ("trainer.update_epochs", "trainer.n_epochs"),
    ("trainer.minibatch_size", "trainer.batch_size"),
    ("trainer.clip_coef", "trainer.clip_range"),
    ("trainer.norm_adv", "trainer.normalize_advantage"),
    ("trainer.clip_vloss", "trainer.clip_range_vf"),
    ("trainer.start_e", "trainer.exploration_initial_eps"),
    ("trainer.end_e", "trainer.exploration_final_eps"),
    ("trainer.target_network_frequency", "trainer.target_update_interval"),
    ("trainer.train_frequency", "trainer.train_freq"),
    ("trainer.norm_obs", "trainer.normalize_observation"),
    ("trainer.norm_reward", "trainer.normalize_reward"),
    ("trainer.n_envs", "simulation.n_envs"),
    ("trainer.num_envs", "simulation.n_envs"),
    ("trainer.num_steps", "simulation.n_steps"),
    ("trainer.rollout_len", "simulation.n_steps"),
    ("threads", "resources.threads"),
    ("simulation.parallel_envs", "simulation.n_envs"),
    ("simulation.num_envs", "simulation.n_envs"),
    ("simulation.rollout_len", "simulation.n_steps"),
    ("simulation.num_steps", "simulation.n_steps"),
    ("capture_video", "evaluation.capture_video"),
    ("trainer.capture_video", "evaluation.capture_video"),
    ("seed", "seeds.seed_base"),
];

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
            Self::Registry(_) => "/env_id".to_owned(),
            Self::UnknownPreset { .. } => "/preset".to_owned(),
            Self::UnknownAlgorithm { .. } | Self::WrongActions { .. } => "/algo".to_owned(),
            Self::UnknownKey { key, .. }
            | Self::NotTunable { key, .. }
            | Self::NotForkable { key, .. }
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
    // What is no number, boolean or other JSON is a word.
    let value = serde_json::from_str(text.trim()).unwrap_or_else(|_| Value::from(text.trim()));
    Ok((key.trim(), value))
}

/// The full path that `key` or an alias means.
pub(crate) fn canonical(key: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, canonical)| canonical)
}

/// A configuration in the making: defaults with the user's words laid over them.
#[derive(Clone, Debug)]
pub struct Draft {
    value: Value,
}

impl Draft {
    /// The defaults for training `algo` on `env_id`.
    pub fn new(env_id: &str, algo: &str) -> Result<Self, ConfigError> {
        // The environment is looked up first, so that a misspelt one is what the user hears of.
        make_env(env_id, &Map::new())?;
        let (env_id, _) = present_id(env_id);
        let known = Algorithm::ALL.map(Algorithm::id);
        if !known.contains(&algo.to_lowercase().as_str()) {
            let hint = match nearest(algo, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there is {}", known.join(", ")),
            };
            return Err(ConfigError::UnknownAlgorithm { algo: algo.to_owned(), hint });
        }
        let algo = Algorithm::ALL
            .into_iter()
            .find(|known| known.id() == algo.to_lowercase())
            .expect("it was looked up above");
        let simulation = match algo {
            Algorithm::Ppo => {
                let ppo = ppo::Config::default();
                json!({ "n_envs": ppo.n_envs, "n_steps": ppo.n_steps })
            }
            Algorithm::Dqn => json!({ "n_envs": dqn::Config::default().n_envs }),
        };
        Ok(Self {
            value: json!({
                "env_id": env_id,
                "env": {},
                "algo": algo.id(),
                "trainer": Trainer::new(algo),
                "simulation": simulation,
                "evaluation": { "every_steps": 50_000, "episodes": 10, "final_episodes": 100,
                                "capture_video": false },
                "seeds": { "seed_base": 42 },
                "retention": {
                    "checkpoint_every_steps": 50_000,
                    "keep_checkpoints": 5,
                    "shard_target_mb": default_shard_target_mb(),
                    "keep_videos": default_keep_videos(),
                    "milestone_every_steps": 0,
                },
                "resources": Resources::default(),
                "overrides_whitelist": default_whitelist(algo),
            }),
        })
    }

    /// A configuration to be changed.
    pub fn of(config: &RunConfig) -> Self {
        Self { value: serde_json::to_value(config).expect("a configuration is plain data") }
    }

    /// Lays the settings of a preset over the defaults.
    pub fn apply(&mut self, preset: &str) -> Result<(), ConfigError> {
        let known = Preset::ALL.map(Preset::id);
        let preset = preset.to_lowercase().replace([' ', '-'], "_");
        let Some(preset) = Preset::ALL.into_iter().find(|known| known.id() == preset) else {
            let hint = match nearest(&preset, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there is {}", known.join(", ")),
            };
            return Err(ConfigError::UnknownPreset { preset, hint });
        };
        let algo = self.algo();
        let Some(settings) = preset.settings(algo, self.env_id()) else {
            let have = |other: &Preset| other.settings(algo, self.env_id()).is_some();
            let others: Vec<&str> = Preset::ALL.into_iter().filter(have).map(Preset::id).collect();
            let hint = format!("{} with {} has {}", self.env_id(), algo.name(), others.join(", "));
            return Err(ConfigError::UnknownPreset { preset: preset.id().to_owned(), hint });
        };
        for (section, values) in settings.as_object().into_iter().flatten() {
            for (name, value) in values.as_object().into_iter().flatten() {
                self.value[section][name] = value.clone();
            }
        }
        Ok(())
    }

    /// The algorithm.
    fn algo(&self) -> Algorithm {
        let algo = serde_json::from_value(self.value["algo"].clone());
        algo.expect("set when the draft was made")
    }

    /// Lays one value over the default: `key` is a full path, an alias, or an option of the
    /// environment.
    pub fn set(&mut self, key: &str, value: Value) -> Result<(), ConfigError> {
        let key = canonical(key);
        if key == "overrides_whitelist" {
            self.value[key] = value;
            return Ok(());
        }
        let (section, name) = match key.split_once('.') {
            Some((section, name)) => (section, name),
            // A bare word is an option of the environment.
            None => ("env", key),
        };
        if section == "env" {
            if PARITY_ONLY.contains(&name) && env_options(self.env_id())?.contains_key(name) {
                return Err(ConfigError::BadValue {
                    key: format!("env.{name}"),
                    detail:
                        "it is for comparing traces with Gymnasium, and no run is made with it: \
                             an episode would not follow from its seed and actions"
                            .to_owned(),
                });
            }
            self.value["env"][name] = value;
            // The environment knows its options best; it also says which it has.
            let Err(error) = make_env(self.env_id(), self.options()) else { return Ok(()) };
            // A bare word may also be a setting whose section was left out.
            return match (key.contains('.'), self.nearest_setting(name), &error) {
                (false, Some(near), RegistryError::UnknownOption { hint, .. })
                    if !hint.starts_with("did you mean") =>
                {
                    Err(ConfigError::UnknownKey {
                        key: key.to_owned(),
                        hint: format!("did you mean `{near}`?"),
                    })
                }
                _ => Err(error.into()),
            };
        }
        let slot = self.value.get_mut(section).and_then(|values| values.get_mut(name));
        match slot {
            Some(slot) if !section.is_empty() => {
                *slot = value;
                Ok(())
            }
            _ => Err(self.unknown(key)),
        }
    }

    /// [`Self::set`] from text such as `trainer.gamma=0.98`.
    pub fn set_text(&mut self, assignment: &str) -> Result<(), ConfigError> {
        let (key, value) = parse_assignment(assignment, "trainer.gamma=0.98")?;
        self.set(key, value)
    }

    /// Checks the whole and gives it its type.
    pub fn finish(mut self) -> Result<RunConfig, ConfigError> {
        // `1e6` is a whole number to people.
        for section in ["trainer", "simulation", "evaluation", "seeds", "retention"] {
            for value in self.value[section].as_object_mut().into_iter().flat_map(Map::values_mut) {
                if let Some(number) =
                    value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..9e15).contains(n))
                {
                    *value = Value::from(number as u64);
                }
            }
        }
        // First, because its errors say where they are.
        Trainer::read(self.algo(), &self.value["trainer"])?;
        let config: RunConfig = serde_path_to_error::deserialize(&self.value).map_err(|error| {
            ConfigError::BadValue {
                key: error.path().to_string(),
                detail: plain_words(&error.inner().to_string()),
            }
        })?;
        config.check_bounds()?;
        // Options may change what an action is, so this is known only now.
        let spec = make_env(&config.env_id, &config.env)?.spec();
        if !config.algo.learns(&spec.actions) {
            let algo = config.algo.name();
            return Err(ConfigError::WrongActions { algo, env: config.env_id });
        }
        if config.trainer.early_stop() && config.saturation_rule().is_none() {
            return Err(ConfigError::BadValue {
                key: "trainer.early_stop".to_owned(),
                detail: format!(
                    "{} has no return from which it counts as solved, so nobody can say when to stop; leave it off",
                    config.env_id
                ),
            });
        }
        Ok(config)
    }

    fn env_id(&self) -> &str {
        self.value["env_id"].as_str().expect("set when the draft was made")
    }

    fn options(&self) -> &Map<String, Value> {
        self.value["env"].as_object().expect("set when the draft was made")
    }

    fn unknown(&self, key: &str) -> ConfigError {
        let known = self.settings();
        let near = nearest(key, known.iter().map(String::as_str)).map(str::to_owned);
        let hint = match near.or_else(|| self.nearest_setting(key)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are {}", known.join(", ")),
        };
        ConfigError::UnknownKey { key: key.to_owned(), hint }
    }

    /// The full paths of all settings.
    fn settings(&self) -> Vec<String> {
        let sections =
            self.value.as_object().into_iter().flatten().filter(|(section, _)| *section != "env");
        sections
            .flat_map(|(section, values)| {
                let names = values.as_object().into_iter().flatten();
                names.map(move |(name, _)| format!("{section}.{name}"))
            })
            .collect()
    }

    /// The setting whose name, without its section, is nearest to the end of `key`.
    fn nearest_setting(&self, key: &str) -> Option<String> {
        let key = key.rsplit('.').next().unwrap_or(key);
        let known = self.settings();
        let names = known.iter().filter_map(|path| path.split_once('.')).map(|(_, name)| name);
        let aliases =
            ALIASES.iter().filter_map(|(alias, _)| alias.split_once('.')).map(|(_, name)| name);
        let near = nearest(key, names.chain(aliases))?;
        let is_named = |path: &str| path.rsplit('.').next() == Some(near);
        let by_alias = || {
            ALIASES.iter().find(|(alias, _)| is_named(alias)).map(|(_, path)| (*path).to_owned())
        };
        known.iter().find(|path| is_named(path)).cloned().or_else(by_alias)
    }
}

impl RunConfig {
    fn check_bounds(&self) -> Result<(), ConfigError> {
        let Self { trainer, simulation, evaluation, seeds, retention, .. } = self;
        let mut bounds = trainer.bounds();
        bounds.extend([
            ("simulation.n_envs", f64::from(simulation.n_envs), 1.0, 4_096.0),
            ("simulation.n_steps", f64::from(simulation.n_steps.unwrap_or(16)), 16.0, 8_192.0),
            ("resources.threads", f64::from(self.resources.threads), 0.0, 256.0),
            ("evaluation.every_steps", evaluation.every_steps as f64, 1e3, 1e7),
            ("evaluation.episodes", f64::from(evaluation.episodes), 1.0, 1e4),
            ("evaluation.final_episodes", f64::from(evaluation.final_episodes), 1.0, 1e4),
            ("retention.checkpoint_every_steps", retention.checkpoint_every_steps as f64, 1e3, 1e9),
            ("retention.keep_checkpoints", f64::from(retention.keep_checkpoints), 1.0, 1e3),
            ("retention.keep_videos", f64::from(retention.keep_videos), 0.0, 1e3),
            ("retention.milestone_every_steps", retention.milestone_every_steps as f64, 0.0, 1e9),
            ("retention.shard_target_mb", f64::from(retention.shard_target_mb), 1.0, 1024.0),
        ]);
        for (key, value, low, high) in bounds {
            if !(low..=high).contains(&value) {
                let detail = format!("{value} is not between {low} and {high}");
                return Err(ConfigError::BadValue { key: key.to_owned(), detail });
            }
        }
        for (key, text, is_good) in [
            ("resources.cpu", &self.resources.cpu, self.resources.cpu_cores().is_some()),
            ("resources.memory", &self.resources.memory, self.resources.memory_bytes().is_some()),
        ] {
            if !is_good {
                let detail =
                    format!("`{text}` is no amount; write 2 cores as 2, 4 gigabytes as 4Gi");
                return Err(ConfigError::BadValue { key: key.to_owned(), detail });
            }
        }
        // Beyond what a float tells apart.
        if i64::try_from(seeds.seed_base).is_err() {
            return Err(ConfigError::BadValue {
                key: "seeds.seed_base".to_owned(),
                detail: format!("{} is not between 0 and {}", seeds.seed_base, i64::MAX),
            });
        }
        let net = trainer.net_arch();
        if !(1..=8).contains(&net.len()) || !net.iter().all(|n| (1..=1024).contains(n)) {
            return Err(ConfigError::BadValue {
                key: "trainer.net_arch".to_owned(),
                detail: format!("{net:?} is not a list of 1 to 8 layers of 1 to 1,024 units"),
            });
        }
        if let Trainer::Ppo(ppo) = trainer {
            let n_gathered = simulation.n_envs * self.n_steps();
            if ppo.batch_size > n_gathered {
                return Err(ConfigError::BadValue {
                    key: "trainer.batch_size".to_owned(),
                    detail: format!(
                        "{} is more than the {n_gathered} steps gathered for one update (simulation.n_envs times simulation.n_steps)",
                        ppo.batch_size
                    ),
                });
            }
        }
        Ok(())
    }

    /// Steps that each environment takes for one update.
    fn n_steps(&self) -> u32 {
        self.simulation.n_steps.unwrap_or(ppo::Config::default().n_steps as u32)
    }

    /// The part that the learner needs.
    pub fn learner(&self) -> LearnerConfig {
        match &self.trainer {
            Trainer::Ppo(ppo) => {
                LearnerConfig::Ppo(ppo.learner(self.simulation.n_envs, self.n_steps()))
            }
            Trainer::Dqn(dqn) => LearnerConfig::Dqn(dqn.learner(self.simulation.n_envs)),
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
