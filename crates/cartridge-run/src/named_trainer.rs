//! Trainers that are named in `data/lab.json`, so that they can be started by name.
//!
//! Whoever can write the file says which program is started, where, and which arguments it takes;
//! whoever starts it gives values for those arguments and nothing else. Each value is one word of the
//! command, `--flag=value`, handed to the system as it stands: there is no shell, nothing is put into
//! the words of the file, and a value that begins with a dash is still a value.
//!
//! ```json
//! { "trainers": { "cem": {
//!     "title": "Cross entropy",
//!     "env_id": ["CartPole-v1", "Acrobot-v1"],
//!     "command": ["python", "numpy_loop.py"],
//!     "folder": "/srv/trainers",
//!     "arguments": {
//!       "steps": { "type": "integer", "default": 30000, "minimum": 1000, "maximum": 1000000 }
//!     } } } }
//! ```

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use cartridge_games::nearest::nearest;
use cartridge_store::DataDir;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::{ConfigError, Resources, parse_bytes, parse_cores, plain_words};
use crate::error::{Result, RunError};
use crate::launch::{External, Terms, kept_environment};
use crate::retention::LabConfig;

/// Trainers in a lab; arguments of one, and choices of an argument.
const MOST: usize = 100;

/// Words of a command, environments and variables of a trainer.
const MOST_WORDS: usize = 100;

/// Characters of an id, of an argument's name, and of a flag.
const LONGEST_NAME: usize = 64;

/// Characters of a title, of a run's name, of an environment's id and of a choice.
const LONGEST_TITLE: usize = 200;

/// Characters of a text that is given as an argument, and of a line of help.
pub const LONGEST_TEXT: usize = 1_000;

/// Characters of a word of a command, and of the value of a variable.
const LONGEST_WORD: usize = 4_096;

/// The largest whole number that every program with JSON can tell from its neighbours.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_991.0;

/// The section `trainers` of `data/lab.json`, in its order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Trainers {
    /// As it was written, so that it stays so when other sections are changed.
    written: Map<String, Value>,
    all: Vec<NamedTrainer>,
}

impl TryFrom<Value> for Trainers {
    type Error = ConfigError;

    fn try_from(value: Value) -> Result<Self, ConfigError> {
        Self::parse(&value)
    }
}

impl From<Trainers> for Value {
    fn from(trainers: Trainers) -> Self {
        trainers.written.into()
    }
}

/// A trainer that can be started by its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTrainer {
    /// Its name in the file and in addresses.
    pub id: String,
    /// Its name for people.
    pub title: String,
    /// The environments that it can learn; the first unless another is asked for.
    pub env_ids: Vec<String>,
    /// The program with the words that are always there.
    command: Vec<String>,
    /// Where it is started; the data folder where nothing is said, which is also what a relative
    /// path begins from.
    folder: PathBuf,
    /// What it can be told, in the order of the file.
    pub arguments: Vec<Argument>,
    /// Variables of its environment.
    environment: BTreeMap<String, String>,
    /// What a run of it needs.
    resources: Resources,
}

/// Something that a trainer can be told.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Its name: `learning_rate`.
    pub name: String,
    /// What it takes.
    pub kind: ArgumentKind,
    /// How it is called on the command line: `--learning-rate`.
    flag: String,
    /// What it is unless something else is given; without one it is then left out.
    pub default: Option<Value>,
    /// The least number.
    pub minimum: Option<f64>,
    /// The greatest number.
    pub maximum: Option<f64>,
    /// The words of a choice.
    pub choices: Vec<String>,
    /// For people.
    pub help: String,
    /// Whether it must be given.
    pub required: bool,
}

/// What an argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentKind {
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A line of text.
    String,
    /// `--flag` or `--no-flag`.
    Boolean,
    /// One of some words.
    Choice,
}

/// A trainer as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTrainer {
    title: Option<String>,
    env_id: OneOrMore,
    command: Vec<String>,
    folder: Option<PathBuf>,
    #[serde(default)]
    arguments: Map<String, Value>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    #[serde(default)]
    resources: WrittenResources,
}

const TRAINER_KEYS: [&str; 7] =
    ["title", "env_id", "command", "folder", "arguments", "environment", "resources"];

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the id of an environment, or a list of ids")]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

/// What a run of it needs, as `cartridge exec` takes it.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WrittenResources {
    gpu: u32,
    cpu: Option<String>,
    memory: Option<String>,
}

const RESOURCE_KEYS: [&str; 3] = ["gpu", "cpu", "memory"];

/// An argument as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenArgument {
    #[serde(rename = "type")]
    kind: ArgumentKind,
    flag: Option<String>,
    default: Option<Value>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    #[serde(default)]
    choices: Vec<String>,
    #[serde(default)]
    help: String,
    #[serde(default)]
    required: bool,
}

const ARGUMENT_KEYS: [&str; 8] =
    ["type", "flag", "default", "minimum", "maximum", "choices", "help", "required"];

/// What somebody wants a trainer to do.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Values for its arguments, by name.
    pub arguments: Map<String, Value>,
    /// One of its environments, if not the first.
    pub env_id: Option<String>,
    /// Name of the run, for people.
    pub name: Option<String>,
    /// The number that the trainer is told to derive its randomness from.
    pub seed: Option<u64>,
    /// What holds whatever it trains.
    pub terms: Terms,
}

/// Where a run of a named trainer comes from: kept with the run.
#[derive(Clone, Debug, PartialEq)]
pub struct StartedAs {
    /// The trainer.
    pub trainer_id: String,
    /// All that it was told, with the defaults.
    pub arguments: Map<String, Value>,
}

impl Trainers {
    /// Those that `data/lab.json` names.
    pub fn read(data: &DataDir) -> Result<Self> {
        Ok(LabConfig::read(data)?.trainers)
    }

    /// Reads the section, and complains about the first thing that is wrong with its full path.
    pub(crate) fn parse(value: &Value) -> Result<Self, ConfigError> {
        let Some(written) = value.as_object() else {
            return Err(bad("trainers", format!("expected trainers by name, got {value}")));
        };
        if written.len() > MOST {
            return Err(bad("trainers", format!("there are more than {MOST}")));
        }
        let all: Result<_, _> =
            written.iter().map(|(id, value)| NamedTrainer::parse(id, value)).collect();
        Ok(Self { written: written.clone(), all: all? })
    }

    /// All of them, in the order of the file.
    pub fn all(&self) -> &[NamedTrainer] {
        &self.all
    }

    /// The one with this name.
    pub fn find(&self, id: &str) -> Result<&NamedTrainer> {
        self.all.iter().find(|trainer| trainer.id == id).ok_or_else(|| {
            let ids: Vec<&str> = self.all.iter().map(|trainer| trainer.id.as_str()).collect();
            let hint = match (nearest(id, ids.iter().copied()), ids.as_slice()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, []) => "`trainers` in lab.json of the data folder names none".to_owned(),
                (None, _) => format!("lab.json names {}", ids.join(", ")),
            };
            RunError::NoSuchTrainer { id: id.to_owned(), hint }
        })
    }
}

impl NamedTrainer {
    fn parse(id: &str, value: &Value) -> Result<Self, ConfigError> {
        if !is_plain(id, "-_.") {
            let detail = format!(
                "the name of a trainer has up to {LONGEST_NAME} letters, digits, `-`, `_` and `.`, \
                 and begins with a letter or digit"
            );
            return Err(bad(format!("trainers.{}", shown(id)), detail));
        }
        let key = format!("trainers.{id}");
        refuse_unknown(&key, value, &TRAINER_KEYS)?;
        refuse_unknown(&format!("{key}.resources"), &value["resources"], &RESOURCE_KEYS)?;
        let written: WrittenTrainer = read(&key, value)?;
        let trainer = Self {
            title: written.title.unwrap_or_else(|| id.to_owned()),
            env_ids: match written.env_id {
                OneOrMore::One(id) => vec![id],
                OneOrMore::More(ids) => ids,
            },
            command: written.command,
            folder: written.folder.unwrap_or_default(),
            arguments: parse_arguments(&key, &written.arguments)?,
            environment: written.environment,
            resources: written.resources.check(&key)?,
            id: id.to_owned(),
        };
        trainer.check(&key)?;
        Ok(trainer)
    }

    fn check(&self, key: &str) -> Result<(), ConfigError> {
        check_line(&format!("{key}.title"), &self.title, LONGEST_TITLE)?;
        check_count(&format!("{key}.env_id"), self.env_ids.len(), "environment")?;
        for env_id in &self.env_ids {
            check_line(&format!("{key}.env_id"), env_id, LONGEST_TITLE)?;
        }
        check_count(&format!("{key}.command"), self.command.len(), "word")?;
        if self.command[0].is_empty() {
            return Err(bad(format!("{key}.command"), "its first word is the program".to_owned()));
        }
        for word in &self.command {
            check_word(&format!("{key}.command"), word)?;
        }
        if self.environment.len() > MOST_WORDS {
            let detail = format!("there are more than {MOST_WORDS} variables");
            return Err(bad(format!("{key}.environment"), detail));
        }
        for (name, value) in &self.environment {
            let key = format!("{key}.environment.{}", shown(name));
            let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if !begins_well || !name.chars().all(is_name) || name.len() > LONGEST_NAME {
                let detail = "the name of a variable has letters, digits and `_`".to_owned();
                return Err(bad(key, detail));
            }
            if name.starts_with("CARTRIDGE_") {
                let detail = "the lab sets variables that begin with CARTRIDGE_ itself".to_owned();
                return Err(bad(key, detail));
            }
            check_word(&key, value)?;
        }
        Ok(())
    }

    /// The run that is to be made, or what is wrong with what is wanted.
    pub fn external(&self, data: &DataDir, wanted: Wanted) -> Result<External> {
        let Wanted { arguments, env_id, name, seed, terms } = wanted;
        let env_id = self.choose_environment(env_id)?;
        let arguments = self.take(&arguments)?;
        let name = name.unwrap_or_else(|| format!("{env_id}, {}", self.title));
        check_line("name", &name, LONGEST_TITLE)?;
        let words = self
            .arguments
            .iter()
            .filter_map(|argument| Some(argument.word(arguments.get(&argument.name)?)));
        let command = self.command.iter().cloned().chain(words).collect();
        // Those of the file count more than those that happen to be here.
        let mut environment = kept_environment();
        environment.extend(self.environment.clone());
        Ok(External {
            env_id,
            name,
            seed,
            command,
            cwd: data.path().join(&self.folder),
            environment,
            resources: self.resources.clone(),
            terms,
            started_as: Some(StartedAs { trainer_id: self.id.clone(), arguments }),
        })
    }

    fn choose_environment(&self, wanted: Option<String>) -> Result<String, ConfigError> {
        let Some(wanted) = wanted else { return Ok(self.env_ids[0].clone()) };
        if self.env_ids.contains(&wanted) {
            return Ok(wanted);
        }
        let hint = hint(&wanted, self.env_ids.iter().map(String::as_str), "it learns");
        Err(bad(
            "env_id",
            format!("trainer `{}` does not learn `{}`; {hint}", self.id, shown(&wanted)),
        ))
    }

    /// What is given with the defaults, in the order of the file; everything is checked.
    fn take(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, ConfigError> {
        let names = || self.arguments.iter().map(|argument| argument.name.as_str());
        if let Some(name) = given.keys().find(|name| !names().any(|known| known == *name)) {
            let hint = hint(name, names(), "there are");
            return Err(ConfigError::UnknownKey {
                key: format!("arguments.{}", shown(name)),
                hint,
            });
        }
        let mut taken = Map::new();
        for argument in &self.arguments {
            let key = || format!("arguments.{}", argument.name);
            match (given.get(&argument.name), &argument.default) {
                (Some(value), _) => {
                    let value = argument.take(value).map_err(|detail| bad(key(), detail))?;
                    taken.insert(argument.name.clone(), value);
                }
                (None, Some(default)) => {
                    taken.insert(argument.name.clone(), default.clone());
                }
                (None, None) if argument.required => {
                    return Err(bad(key(), "it must be given".to_owned()));
                }
                (None, None) => {}
            }
        }
        Ok(taken)
    }

    /// Reads arguments such as `learning_rate=0.001`, as they are typed, by what each takes.
    pub fn read_arguments(&self, typed: &[String]) -> Result<Map<String, Value>, ConfigError> {
        let mut given = Map::new();
        for text in typed {
            let Some((name, text)) = text.split_once('=') else {
                let detail = "write it as name=value, such as learning_rate=0.001".to_owned();
                return Err(bad(format!("arguments.{}", shown(text)), detail));
            };
            let known = self.arguments.iter().find(|argument| argument.name == name);
            // One that is not known is complained about with all others.
            let is_text = known.is_none_or(|argument| {
                matches!(argument.kind, ArgumentKind::String | ArgumentKind::Choice)
            });
            let value = match serde_json::from_str(text) {
                Ok(value) if !is_text => value,
                _ => Value::from(text),
            };
            given.insert(name.to_owned(), value);
        }
        Ok(given)
    }
}

impl WrittenResources {
    fn check(self, key: &str) -> Result<Resources, ConfigError> {
        let usual = Resources::default();
        let cpu = self.cpu.unwrap_or(usual.cpu);
        let memory = self.memory.unwrap_or(usual.memory);
        if parse_cores(&cpu).is_none() {
            let detail = format!("`{}`: write cores as 4 or 1500m", shown(&cpu));
            return Err(bad(format!("{key}.resources.cpu"), detail));
        }
        if parse_bytes(&memory).is_none() {
            let detail = format!("`{}`: write memory as 8Gi or 512Mi", shown(&memory));
            return Err(bad(format!("{key}.resources.memory"), detail));
        }
        Ok(Resources { gpu: self.gpu, cpu, memory, threads: 0 })
    }
}

fn parse_arguments(
    trainer: &str,
    written: &Map<String, Value>,
) -> Result<Vec<Argument>, ConfigError> {
    let key = format!("{trainer}.arguments");
    if written.len() > MOST {
        return Err(bad(key, format!("there are more than {MOST}")));
    }
    let mut arguments = Vec::new();
    let mut flags: HashMap<String, String> = HashMap::new();
    for (name, value) in written {
        let argument = Argument::parse(&key, name, value)?;
        for flag in argument.flags() {
            if let Some(other) = flags.insert(flag.clone(), name.clone()) {
                let detail = format!("`{other}` has the flag {flag} as well");
                return Err(bad(format!("{key}.{name}.flag"), detail));
            }
        }
        arguments.push(argument);
    }
    Ok(arguments)
}

impl Argument {
    fn parse(arguments: &str, name: &str, value: &Value) -> Result<Self, ConfigError> {
        let key = format!("{arguments}.{}", shown(name));
        if !is_plain(name, "_") || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let detail = format!(
                "the name of an argument has up to {LONGEST_NAME} letters, digits and `_`, and \
                 begins with a letter"
            );
            return Err(bad(key, detail));
        }
        refuse_unknown(&key, value, &ARGUMENT_KEYS)?;
        let written: WrittenArgument = read(&key, value)?;
        let mut argument = Self {
            kind: written.kind,
            flag: written.flag.unwrap_or_else(|| format!("--{}", name.replace('_', "-"))),
            default: None,
            minimum: written.minimum,
            maximum: written.maximum,
            choices: written.choices,
            help: written.help,
            required: written.required,
            name: name.to_owned(),
        };
        argument.check(&key)?;
        if let Some(default) = written.default {
            if argument.required {
                let detail = "it has a default, so it need not be given".to_owned();
                return Err(bad(format!("{key}.required"), detail));
            }
            let default = argument.take(&default);
            argument.default =
                Some(default.map_err(|detail| bad(format!("{key}.default"), detail))?);
        }
        Ok(argument)
    }

    fn check(&self, key: &str) -> Result<(), ConfigError> {
        let flag = self.flag.strip_prefix("--").unwrap_or_default();
        if !is_plain(flag, "-_.") {
            let detail = format!(
                "`{}` is no flag: two dashes, a letter or digit, and then letters, digits, `-`, \
                 `_` and `.`",
                shown(&self.flag)
            );
            return Err(bad(format!("{key}.flag"), detail));
        }
        let is_number = matches!(self.kind, ArgumentKind::Integer | ArgumentKind::Number);
        for (name, bound) in [("minimum", self.minimum), ("maximum", self.maximum)] {
            let key = format!("{key}.{name}");
            match bound {
                Some(_) if !is_number => {
                    return Err(bad(key, "only numbers have bounds".to_owned()));
                }
                Some(bound) if self.kind == ArgumentKind::Integer && !is_whole(bound) => {
                    return Err(bad(key, format!("{bound} is no whole number")));
                }
                _ => {}
            }
        }
        if let (Some(least), Some(most)) = (self.minimum, self.maximum)
            && least > most
        {
            return Err(bad(
                format!("{key}.minimum"),
                format!("{least} is above the maximum {most}"),
            ));
        }
        let choices = format!("{key}.choices");
        match self.kind {
            ArgumentKind::Choice => check_count(&choices, self.choices.len(), "choice")?,
            _ if self.choices.is_empty() => {}
            _ => return Err(bad(choices, "only the type `choice` has choices".to_owned())),
        }
        for (idx, choice) in self.choices.iter().enumerate() {
            check_line(&choices, choice, LONGEST_TITLE)?;
            if self.choices[..idx].contains(choice) {
                return Err(bad(choices, format!("`{choice}` is there twice")));
            }
        }
        check_line(&format!("{key}.help"), &self.help, LONGEST_TEXT)
    }

    /// A value as it is kept, or what is wrong with it.
    fn take(&self, value: &Value) -> Result<Value, String> {
        match self.kind {
            ArgumentKind::Integer => {
                let number = value.as_f64().filter(|number| is_whole(*number));
                let number = number.ok_or_else(|| {
                    format!(
                        "expected a whole number up to ±{LARGEST_WHOLE}, got {}",
                        shown_json(value)
                    )
                })?;
                self.check_bounds(number)?;
                Ok(Value::from(number as i64))
            }
            ArgumentKind::Number => {
                let number = value.as_f64();
                let number = number
                    .ok_or_else(|| format!("expected a number, got {}", shown_json(value)))?;
                self.check_bounds(number)?;
                Ok(value.clone())
            }
            ArgumentKind::Boolean => match value {
                Value::Bool(_) => Ok(value.clone()),
                _ => Err(format!("expected true or false, got {}", shown_json(value))),
            },
            ArgumentKind::String => {
                let text = value.as_str();
                let text =
                    text.ok_or_else(|| format!("expected text, got {}", shown_json(value)))?;
                in_a_line(text, LONGEST_TEXT)?;
                Ok(value.clone())
            }
            ArgumentKind::Choice => match value.as_str() {
                Some(text) if self.choices.iter().any(|choice| choice == text) => Ok(value.clone()),
                Some(text) => {
                    let hint = hint(text, self.choices.iter().map(String::as_str), "there are");
                    Err(format!("there is no choice `{}`; {hint}", shown(text)))
                }
                None => {
                    let choices = self.choices.join(", ");
                    Err(format!("expected one of {choices}, got {}", shown_json(value)))
                }
            },
        }
    }

    fn check_bounds(&self, number: f64) -> Result<(), String> {
        match (self.minimum, self.maximum) {
            (Some(least), _) if number < least => {
                Err(format!("{number} is below the minimum {least}"))
            }
            (_, Some(most)) if number > most => {
                Err(format!("{number} is above the maximum {most}"))
            }
            _ => Ok(()),
        }
    }

    /// The flags that it may put on the command line.
    fn flags(&self) -> Vec<String> {
        match self.kind {
            ArgumentKind::Boolean => vec![self.flag.clone(), self.negative()],
            _ => vec![self.flag.clone()],
        }
    }

    fn negative(&self) -> String {
        format!("--no-{}", &self.flag[2..])
    }

    /// A value that was taken, as one word of the command.
    fn word(&self, value: &Value) -> String {
        match value {
            Value::Bool(true) => self.flag.clone(),
            Value::Bool(false) => self.negative(),
            Value::String(text) => format!("{}={text}", self.flag),
            other => format!("{}={other}", self.flag),
        }
    }
}

fn bad(key: impl Into<String>, detail: String) -> ConfigError {
    ConfigError::BadValue { key: key.into(), detail }
}

/// Reads what the file has at `key`.
fn read<T: serde::de::DeserializeOwned>(key: &str, value: &Value) -> Result<T, ConfigError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let at = match error.path().to_string() {
            path if path == "." => key.to_owned(),
            path => format!("{key}.{path}"),
        };
        bad(at, plain_words(&error.inner().to_string()))
    })
}

fn refuse_unknown(at: &str, given: &Value, known: &[&str]) -> Result<(), ConfigError> {
    let unknown = given
        .as_object()
        .into_iter()
        .flat_map(Map::keys)
        .find(|key| !known.contains(&key.as_str()));
    let Some(key) = unknown else { return Ok(()) };
    let hint = hint(key, known.iter().copied(), "known are");
    Err(ConfigError::UnknownKey { key: format!("{at}.{}", shown(key)), hint })
}

/// What may have been meant, or else all that there is.
fn hint<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone, all: &str) -> String {
    match nearest(&shown(word), known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => match known.collect::<Vec<_>>().join(", ") {
            names if names.is_empty() => "there are none".to_owned(),
            names => format!("{all} {names}"),
        },
    }
}

/// Letters, digits and some signs, of which none is the first.
fn is_plain(text: &str, signs: &str) -> bool {
    text.len() <= LONGEST_NAME
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || signs.contains(c))
}

fn is_whole(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() <= LARGEST_WHOLE
}

fn check_count(key: &str, n: usize, what: &str) -> Result<(), ConfigError> {
    match n {
        0 => Err(bad(key, format!("there must be at least one {what}"))),
        n if n > MOST_WORDS => Err(bad(key, format!("there are more than {MOST_WORDS}"))),
        _ => Ok(()),
    }
}

fn check_line(key: &str, text: &str, longest: usize) -> Result<(), ConfigError> {
    in_a_line(text, longest).map_err(|detail| bad(key, detail))
}

/// Complains about text that is too long, or that is more than a line.
fn in_a_line(text: &str, longest: usize) -> Result<(), String> {
    if text.chars().count() > longest {
        return Err(format!("it is longer than {longest} characters"));
    }
    match text.chars().any(char::is_control) {
        true => Err("it has control characters".to_owned()),
        false => Ok(()),
    }
}

/// A word that the system takes: anything without the byte that ends words.
fn check_word(key: &str, word: &str) -> Result<(), ConfigError> {
    if word.chars().count() > LONGEST_WORD {
        return Err(bad(key, format!("it is longer than {LONGEST_WORD} characters")));
    }
    match word.contains('\0') {
        true => Err(bad(key, "it has a zero byte".to_owned())),
        false => Ok(()),
    }
}

/// What somebody sent, short and harmless enough for a message.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect()
}

fn shown_json(value: &Value) -> String {
    shown(&value.to_string())
}

#[cfg(test)]
mod tests;
