//! A configuration in the making.

use std::collections::BTreeMap;

use cartridge_games::EpisodeSeeds;
use cartridge_games::nearest::nearest;
use cartridge_games::registry::{RegistryError, env_options, is_game, make_env, present_id};
use cartridge_games::time_limit::MAX_EPISODE_STEPS;
use cartridge_learn::schedule::Schedule;
use cartridge_learn::{dqn, ppo};
use serde_json::{Map, Value, json};

use super::setting::{aliases, options_of, setting};
use super::trainer::Course;
use super::{
    Algorithm, Analytics, ConfigError, PARITY_ONLY, Preset, Resources, RunConfig, Trainer,
    canonical, default_keep_videos, default_shard_target_mb, default_whitelist, parse_assignment,
    place, plain_words,
};

/// A configuration in the making: defaults with the user's words laid over them.
#[derive(Clone, Debug)]
pub struct Draft {
    pub(super) value: Value,
    /// The other names that were used, each with what it means.
    aliases: BTreeMap<String, String>,
    /// Whether the learning rate is to fall, where CleanRL's word for it was used.
    anneal_lr: Option<bool>,
    /// The number of batches in an epoch, where CleanRL's word for it was used.
    num_minibatches: Option<u64>,
}

/// CleanRL's words that are no setting but say something of one, with that one.
pub(super) const SAYINGS: [(&str, &str); 2] =
    [(ANNEAL_LR, LEARNING_RATE), (NUM_MINIBATCHES, BATCH_SIZE)];
/// RL-Zoo's words for normalising both observations and rewards.
pub(crate) const NORMALIZE: [&str; 2] = ["normalize", "trainer.normalize"];
const NORMALIZED: [&str; 2] = ["trainer.normalize_observation", "trainer.normalize_reward"];

pub(super) const ANNEAL_LR: &str = "trainer.anneal_lr";
const LEARNING_RATE: &str = "trainer.learning_rate";
const NUM_MINIBATCHES: &str = "trainer.num_minibatches";
const BATCH_SIZE: &str = "trainer.batch_size";

impl Draft {
    /// The defaults for training `algo` on `env_id`.
    pub fn new(env_id: &str, algo: &str) -> Result<Self, ConfigError> {
        // The environment is looked up first, so that a misspelt one is what the user hears of.
        let is_game = is_game(env_id);
        if !is_game {
            make_env(env_id, &Map::new())?;
        }
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
        if algo.learns_games() != is_game {
            let hint = match is_game {
                true => "it is a game of two, which `alphazero` learns",
                false => "it learns games of two (`cartridge games list`); take `ppo` or `dqn`",
            };
            let (algo, env) = (algo.name(), env_id.to_owned());
            return Err(ConfigError::WrongAlgorithm { algo, env, hint });
        }
        let simulation = match algo {
            Algorithm::AlphaZero => json!({ "n_envs": 256, "n_steps": 32 }),
            Algorithm::Ppo => {
                let ppo = ppo::Config::default();
                json!({ "n_envs": ppo.n_envs, "n_steps": ppo.n_steps })
            }
            Algorithm::Dqn => json!({ "n_envs": dqn::Config::default().n_envs }),
        };
        let course = Course::at(env_id);
        let evaluation = match algo {
            Algorithm::AlphaZero => json!({
                "every_steps": course.evaluate_every, "episodes": 40, "final_episodes": 100,
                "simulations": 64, "capture_video": false,
            }),
            Algorithm::Ppo | Algorithm::Dqn => json!({
                "every_steps": 50_000, "episodes": 10, "final_episodes": 100, "capture_video": false,
            }),
        };
        Ok(Self::from(json!({
            "env_id": env_id,
            "env": {},
            "algo": algo.id(),
            "trainer": Trainer::new(algo, env_id),
            "simulation": simulation,
            "evaluation": evaluation,
            "seeds": { "seed_base": 42, "per_episode": EpisodeSeeds::Hash },
            "retention": {
                "checkpoint_every_steps": if is_game { course.checkpoint_every } else { 50_000 },
                "keep_checkpoints": 5,
                "shard_target_mb": default_shard_target_mb(),
                "keep_videos": default_keep_videos(),
                // So that what a run was on its way can be played against.
                "milestone_every_steps": if is_game { course.milestone_every } else { 0 },
            },
            "resources": Resources::default(),
            "analytics": Analytics::default(),
            "overrides_whitelist": default_whitelist(algo),
        })))
    }

    fn from(value: Value) -> Self {
        Self { value, aliases: BTreeMap::new(), anneal_lr: None, num_minibatches: None }
    }

    /// A configuration to be changed.
    pub fn of(config: &RunConfig) -> Self {
        Self::from(serde_json::to_value(config).expect("a configuration is plain data"))
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
        if NORMALIZE.contains(&key) {
            return self.normalize(key, &value);
        }
        let (given, key) = (key, canonical(key, Some(self.algo())));
        if SAYINGS.iter().any(|(word, _)| *word == given) {
            self.say(given, &value)?;
        } else {
            self.set_path(key, value)?;
        }
        if given != key {
            self.aliases.insert(given.to_owned(), key.to_owned());
        }
        Ok(())
    }

    /// Sets both of [`NORMALIZED`].
    fn normalize(&mut self, word: &str, value: &Value) -> Result<(), ConfigError> {
        if self.algo() != Algorithm::Ppo {
            return Err(self.unknown(word));
        }
        let Some(is_normalized) = value.as_bool() else {
            let [observation, reward] = NORMALIZED;
            let detail = format!(
                "{value} is neither true nor false; for one alone set {observation} or {reward}"
            );
            return Err(ConfigError::BadValue { key: word.to_owned(), detail });
        };
        for path in NORMALIZED {
            self.set_path(path, is_normalized.into())?;
        }
        self.aliases.insert(word.to_owned(), NORMALIZED.join(" and "));
        Ok(())
    }

    /// Takes note of one of [`SAYINGS`]; what it comes to depends on the whole.
    fn say(&mut self, word: &str, value: &Value) -> Result<(), ConfigError> {
        let bad = |detail: &str| ConfigError::BadValue {
            key: word.to_owned(),
            detail: format!("{value} is {detail}"),
        };
        if word == ANNEAL_LR {
            self.anneal_lr = Some(value.as_bool().ok_or_else(|| bad("neither true nor false"))?);
            return Ok(());
        }
        if self.algo() != Algorithm::Ppo {
            return Err(self.unknown(word));
        }
        let number = value.as_f64().filter(|n| n.fract() == 0.0 && (1.0..9e15).contains(n));
        self.num_minibatches =
            Some(number.ok_or_else(|| bad("no whole number, 1 or more"))? as u64);
        Ok(())
    }

    /// [`Self::set`] by full path, or by the name of an option of the environment.
    fn set_path(&mut self, key: &str, value: Value) -> Result<(), ConfigError> {
        if key == BATCH_SIZE {
            // What is said last counts.
            self.num_minibatches = None;
        }
        if key == "overrides_whitelist" {
            self.value[key] = value;
            return Ok(());
        }
        let (section, name) = match key.split_once('.') {
            Some((section, name)) => (section, name),
            // A bare word is an option of the environment.
            None => ("env", key),
        };
        if section == "env" && name == MAX_EPISODE_STEPS && value.is_null() {
            // As long as the environment has it.
            self.value["env"].as_object_mut().and_then(|options| options.remove(name));
            return Ok(());
        }
        if section == "env" && is_game(self.env_id()) {
            return Err(self.unknown(key));
        }
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
            let path = format!("env.{name}");
            if let Some(option) = options_of(self.env_id()).iter().find(|it| it.path == path) {
                option
                    .check(&value)
                    .map_err(|detail| ConfigError::BadValue { key: path.clone(), detail })?;
            }
            let before = self.value["env"].clone();
            self.value["env"][name] = value;
            // The environment knows its options best; it also says which it has.
            let Err(error) = make_env(self.env_id(), self.options()) else { return Ok(()) };
            self.value["env"] = before;
            if let (MAX_EPISODE_STEPS, RegistryError::BadOption { reason, .. }) = (name, &error) {
                return Err(ConfigError::BadValue { key: path, detail: reason.clone() });
            }
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

    /// The path of the setting that a key means.
    pub fn path<'a>(&self, key: &'a str) -> &'a str {
        canonical(key, Some(self.algo()))
    }

    /// Checks the whole and gives it its type.
    pub fn finish(self) -> Result<RunConfig, ConfigError> {
        self.finish_all().map_err(|mut errors| errors.swap_remove(0))
    }

    /// [`Self::finish`] with the other names that were used.
    pub fn resolve(self) -> Result<Resolved, ConfigError> {
        let aliases = self.aliases.clone();
        Ok(Resolved { config: self.finish()?, aliases })
    }

    /// [`Self::finish`] that names everything that is wrong, in the order of the settings.
    pub fn finish_all(mut self) -> Result<RunConfig, Vec<ConfigError>> {
        // `1e6` is a whole number to people.
        const SECTIONS: [&str; 7] =
            ["trainer", "simulation", "evaluation", "seeds", "retention", "resources", "analytics"];
        for section in SECTIONS {
            for value in self.value[section].as_object_mut().into_iter().flat_map(Map::values_mut) {
                if let Some(number) =
                    value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..9e15).contains(n))
                {
                    *value = Value::from(number as u64);
                }
            }
        }
        // CleanRL says only whether values are clipped: as far as the policy is.
        if let Some(is_clipped) = self.value["trainer"]["clip_range_vf"].as_bool() {
            let range = serde_json::from_value(self.value["trainer"]["clip_range"].clone());
            let range = range.ok().filter(|_| is_clipped).map(|range: Schedule| range.start());
            self.value["trainer"]["clip_range_vf"] = range.into();
        }
        self.anneal();
        let mut errors: Vec<ConfigError> =
            self.divide_into_minibatches().err().into_iter().collect();
        let algo = self.algo();
        if let Some(paths) = self.value["overrides_whitelist"].as_array_mut() {
            for path in paths {
                if let Some(text) = path.as_str() {
                    *path = canonical(text, Some(algo)).into();
                }
            }
        }
        let config = loop {
            let error = match self.read() {
                Ok(config) => break config,
                Err(error) => error,
            };
            // Set back to its default, so that the rest can be looked at.
            let is_mended = self.set_back(&error);
            errors.push(error);
            if !is_mended {
                return Err(errors);
            }
        };
        errors.extend(config.problems());
        if errors.is_empty() { Ok(config) } else { Err(errors) }
    }

    /// CleanRL says only whether the learning rate falls: in a line to 0. One that falls in another
    /// manner does so already.
    fn anneal(&mut self) {
        let Some(is_annealed) = self.anneal_lr else { return };
        let rate = &mut self.value["trainer"]["learning_rate"];
        // What is no learning rate is complained about where all values are.
        let Ok(given) = serde_json::from_value::<Schedule>(rate.clone()) else { return };
        let wanted = match (is_annealed, given) {
            (true, Schedule::Constant(start)) => Schedule::Linear(start),
            (true, falling) => falling,
            (false, any) => Schedule::Constant(any.start()),
        };
        *rate = serde_json::to_value(wanted).expect("a schedule is plain data");
    }

    /// CleanRL says how many batches an epoch has; how large they are follows from what is gathered.
    fn divide_into_minibatches(&mut self) -> Result<(), ConfigError> {
        let Some(n) = self.num_minibatches else { return Ok(()) };
        let size = |name: &str| self.value["simulation"][name].as_u64();
        // What is no size is complained about where all values are.
        let (Some(n_envs), Some(n_steps)) = (size("n_envs"), size("n_steps")) else {
            return Ok(());
        };
        let gathered = n_envs.saturating_mul(n_steps);
        let bad = |detail: String| {
            let detail = format!(
                "{detail}; {gathered} steps are gathered for one update (simulation.n_envs times simulation.n_steps): take another number, or set trainer.batch_size instead"
            );
            Err(ConfigError::BadValue { key: NUM_MINIBATCHES.to_owned(), detail })
        };
        if !gathered.is_multiple_of(n) {
            return bad(format!("{n} batches of the same size cannot be made"));
        }
        let size: Value = (gathered / n).into();
        if let Err(detail) = setting(BATCH_SIZE).map_or(Ok(()), |setting| setting.check(&size)) {
            return bad(format!("{n} batches have a wrong size, {detail}"));
        }
        self.value["trainer"]["batch_size"] = size;
        Ok(())
    }

    /// Gives it its type; the error is about the first value of a wrong one.
    fn read(&self) -> Result<RunConfig, ConfigError> {
        // First, because its errors say where they are.
        Trainer::read(self.algo(), &self.value["trainer"])?;
        serde_path_to_error::deserialize(&self.value).map_err(|error| ConfigError::BadValue {
            key: error.path().to_string(),
            detail: plain_words(&error.inner().to_string()),
        })
    }

    /// Sets the value that `error` is about back to its default; says whether that changed it.
    fn set_back(&mut self, error: &ConfigError) -> bool {
        let ConfigError::BadValue { key, .. } = error else { return false };
        let Ok(Self { value: mut defaults, .. }) = Self::new(self.env_id(), self.algo().id())
        else {
            return false;
        };
        // A list is set back as a whole.
        let mut pointer = format!("/{}", key.split('[').next().unwrap_or(key).replace('.', "/"));
        if pointer.starts_with("/overrides_whitelist") {
            pointer.truncate("/overrides_whitelist".len());
        }
        match (self.value.pointer_mut(&pointer), defaults.pointer_mut(&pointer)) {
            (Some(value), Some(default)) if value != default => {
                *value = default.take();
                true
            }
            _ => false,
        }
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
        // A word of another library that says something of a setting is found as it is.
        let sayings = SAYINGS.map(|(word, _)| (word, word));
        let others = || aliases().chain(sayings);
        let words = others().filter_map(|(alias, _)| alias.split_once('.'));
        let near = nearest(key, names.chain(words.map(|(_, name)| name)))?;
        let is_named = |path: &str| path.rsplit('.').next() == Some(near);
        let by_alias =
            || others().find(|(alias, _)| is_named(alias)).map(|(_, path)| path.to_owned());
        known.iter().find(|path| is_named(path)).cloned().or_else(by_alias)
    }
}

/// A configuration that was given as a whole, and how it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// What it comes to.
    pub config: RunConfig,
    /// The other names that were used, each with what it means.
    pub aliases: BTreeMap<String, String>,
}

impl Resolved {
    /// Reads a configuration as people write it: sections with settings, full paths, or aliases,
    /// laid over a preset, if one is named, and the defaults. Every field that is wrong is named.
    pub fn new(given: &Map<String, Value>, preset: Option<&str>) -> Result<Self, Vec<ConfigError>> {
        let text = |key: &str| match given.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(other) => Err(vec![ConfigError::BadValue {
                key: key.to_owned(),
                detail: format!("expected text, got {other}"),
            }]),
        };
        let Some(env_id) = text("env_id")? else {
            let detail = "say which environment, such as CartPole-v1".to_owned();
            return Err(vec![ConfigError::BadValue { key: "env_id".to_owned(), detail }]);
        };
        let algo = text("algo")?.unwrap_or_else(|| Algorithm::usual(env_id).id());
        let mut draft = Draft::new(env_id, algo).map_err(|error| vec![error])?;
        if let Some(preset) = preset {
            draft.apply(preset).map_err(|error| vec![error])?;
        }
        let rest = given.iter().filter(|(key, _)| !["env_id", "algo"].contains(&key.as_str()));
        let (said, errors) = draft.lay(&flatten(rest));
        said.finish(draft, errors)
    }
}

/// Where the settings of a configuration were given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    /// The path that was written, by the path that it means.
    given: BTreeMap<String, String>,
}

impl Said {
    /// [`Draft::finish_all`] whose errors are about the words that were written, and follow those
    /// that there are already.
    pub(crate) fn finish(
        self,
        draft: Draft,
        mut errors: Vec<ConfigError>,
    ) -> Result<Resolved, Vec<ConfigError>> {
        let at = |error| match error {
            ConfigError::BadValue { key, detail } => {
                ConfigError::BadValue { key: self.given.get(&key).cloned().unwrap_or(key), detail }
            }
            other => other,
        };
        let aliases = draft.aliases.clone();
        let config = match draft.finish_all() {
            Ok(config) if errors.is_empty() => config,
            Ok(_) => return Err(errors),
            Err(more) => {
                errors.extend(more.into_iter().map(at));
                return Err(errors);
            }
        };
        Ok(Resolved { config, aliases })
    }
}

/// Settings by full path from sections and full paths.
pub fn flatten<'a>(
    given: impl IntoIterator<Item = (&'a String, &'a Value)>,
) -> Vec<(String, Value)> {
    let mut flat = Vec::new();
    for (key, value) in given {
        match value {
            Value::Object(values) => {
                let path =
                    |(name, value): (&String, &Value)| (format!("{key}.{name}"), value.clone());
                flat.extend(values.iter().map(path));
            }
            _ => flat.push((key.clone(), value.clone())),
        }
    }
    flat
}

impl Draft {
    /// Lays many settings over what is there. Every one that is not known is named.
    pub(crate) fn lay(&mut self, settings: &[(String, Value)]) -> (Said, Vec<ConfigError>) {
        let mut errors = Vec::new();
        let mut said = Said::default();
        // What is said of observations or rewards alone counts more than what is said of both.
        let (both, single): (Vec<_>, Vec<_>) =
            settings.iter().partition(|(given, _)| NORMALIZE.contains(&given.as_str()));
        for (given, value) in both.into_iter().chain(single) {
            let path = place(given, Some(self.algo()));
            if let Some(other) = said.given.insert(path.to_owned(), given.clone()) {
                let detail = format!("it is also given as `{other}`; say it once");
                errors.push(ConfigError::BadValue { key: given.clone(), detail });
            } else if let Err(error) = self.set(given, value.clone()) {
                errors.push(error);
            }
        }
        (said, errors)
    }
}
