//! Configurations as JSON Schema 2020-12, for forms and for other programs.
//!
//! | name | what it describes |
//! |---|---|
//! | `experiment` | any configuration: which section has what depends on `algo` and `env_id` |
//! | `ppo`, `dqn`, `alphazero` | a configuration of one algorithm, on any environment, or at any game |
//! | `env:CartPole-v1` | the options of one environment |
//! | `ppo:CartPole-v1`, `alphazero:connect4` | a configuration of one algorithm on one environment, or at one game |
//! | `presets` | no schema: the presets, and what each changes |
//!
//! They are written from the table of settings ([`super::setting`]), which is also what the server
//! checks. A schema describes a configuration as it is kept; what is sent may leave out whatever is
//! to be as by default, and may use the names in `x-aliases`.

use cartridge_games::nearest::nearest;
use cartridge_games::registry::{environments, games, is_game, present_id};
use cartridge_games::time_limit::MAX_EPISODE_STEPS;
use serde_json::{Map, Value, json};

use super::setting::{Form, MOST_LAYERS, MOST_UNITS, Setting, options_of, settings_of};
use super::{Algorithm, ConfigError, Draft, Preset, run_options};
use crate::tunable::Tunable;

/// The dialect that all of them are written in.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A schema that can be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaName {
    /// By which it is asked for.
    pub name: String,
    /// What it describes, for people.
    pub title: String,
}

/// Every schema that can be had.
pub fn names() -> Vec<SchemaName> {
    let named = |name: String, title: String| SchemaName { name, title };
    let mut names = vec![named("experiment".to_owned(), "Any configuration".to_owned())];
    for algo in Algorithm::ALL {
        let place = if algo.learns_games() { "at any game" } else { "on any environment" };
        names.push(named(algo.id().to_owned(), format!("{} {place}", algo.name())));
    }
    for env in environments() {
        names.push(named(format!("env:{}", env.id), format!("Options of {}", env.name)));
    }
    for env in environments() {
        for algo in Algorithm::ALL.into_iter().filter(|algo| algo.learns(&env.actions)) {
            let title = format!("{} on {}", algo.name(), env.name);
            names.push(named(format!("{}:{}", algo.id(), env.id), title));
        }
    }
    for game in games() {
        for algo in Algorithm::ALL.into_iter().filter(|algo| algo.learns_games()) {
            let title = format!("{} at {}", algo.name(), game.name);
            names.push(named(format!("{}:{}", algo.id(), game.id), title));
        }
    }
    names.push(named("presets".to_owned(), "Presets and what they change".to_owned()));
    names
}

/// The schema of this name.
pub fn schema(name: &str) -> Result<Value, ConfigError> {
    let algo = |id: &str| Algorithm::ALL.into_iter().find(|algo| algo.id() == id);
    let env = |id: &str| environments().iter().find(|env| env.id == present_id(id).0).copied();
    let found = match name.split_once(':') {
        None if name == "experiment" => Some(experiment()),
        None if name == "presets" => Some(presets()),
        None => algo(name).map(|algo| configuration(algo, None)),
        Some(("env", id)) => env(id).map(|env| options(env.id)),
        Some((first, id)) => {
            let learns = |algo: &Algorithm| algo.learns_games() == is_game(id);
            let algo = algo(first).filter(learns);
            let id = env(id).map_or(id, |env| env.id);
            let is_known = is_game(id) || env(id).is_some();
            algo.filter(|_| is_known).map(|algo| configuration(algo, Some(id)))
        }
    };
    let Some(mut schema) = found else {
        let known = names();
        let hint = match nearest(name, known.iter().map(|known| known.name.as_str())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                "there is experiment, ppo, dqn, alphazero, env:ID, ppo:ID, dqn:ID, alphazero:ID \
                     and presets"
                    .to_owned()
            }
        };
        return Err(ConfigError::UnknownSchema { name: name.to_owned(), hint });
    };
    if name != "presets" {
        schema["$schema"] = DIALECT.into();
        schema["$id"] = format!("/api/schemas/{name}").into();
    }
    Ok(schema)
}

/// Sections in the order of forms, each with its name for people.
const SECTIONS: [(&str, &str); 8] = [
    ("env", "Environment"),
    ("trainer", "Training"),
    ("simulation", "Simulation"),
    ("evaluation", "Evaluation"),
    ("seeds", "Seeds"),
    ("retention", "What is kept"),
    ("resources", "Resources"),
    ("analytics", "Analytics"),
];

/// The environment or game whose defaults stand for all.
fn any_env(algo: Algorithm) -> &'static str {
    if algo.learns_games() { "connect4" } else { "CartPole-v1" }
}

fn configuration(algo: Algorithm, env_id: Option<&str>) -> Value {
    let defaults = Draft::new(env_id.unwrap_or(any_env(algo)), algo.id());
    let defaults = defaults.expect("the algorithm and the environment are known").value;
    let mut properties = Map::new();
    let ids = match env_id {
        Some(id) => json!({ "const": id }),
        None => json!({ "enum": ids_of(algo) }),
    };
    properties.insert("env_id".to_owned(), with(env_id_schema(), ids));
    properties.insert(
        "algo".to_owned(),
        json!({ "title": "Algorithm", "description": "What learns.", "const": algo.id() }),
    );
    for (section, title) in SECTIONS {
        let schema = match (section, env_id) {
            ("env", Some(env_id)) => options(env_id),
            ("env", None) => any_options(),
            _ => {
                let of_section = settings_of(algo, any_env(algo))
                    .filter(|setting| setting.parts().0 == section)
                    .map(|setting| (*setting, default_of(&defaults, setting)));
                section_schema(title, of_section, Some(algo))
            }
        };
        properties.insert(section.to_owned(), schema);
    }
    let whitelist = settings_of(algo, any_env(algo)).find(|setting| setting.form == Form::Paths);
    let whitelist = whitelist.expect("the table has it");
    let mut schema = setting_schema(whitelist, default_of(&defaults, whitelist), Some(algo));
    let allowed = settings_of(algo, any_env(algo))
        .filter(|setting| setting.form != Form::Paths && setting.parts().0 != "env");
    schema["items"]["enum"] = allowed.map(|setting| Value::from(setting.path)).collect();
    properties.insert(whitelist.path.to_owned(), schema);
    json!({
        "title": match env_id {
            Some(id) if algo.learns_games() => format!("{} at {id}", algo.name()),
            Some(id) => format!("{} on {id}", algo.name()),
            None => algo.name().to_owned(),
        },
        "type": "object",
        "properties": properties,
        "required": ["env_id"],
        "additionalProperties": false,
        "x-presets": presets_of(algo, env_id),
    })
}

fn env_id_schema() -> Value {
    json!({ "title": "Environment", "description": "What is learnt.", "type": "string" })
}

/// What an algorithm may learn.
fn ids_of(algo: Algorithm) -> Vec<&'static str> {
    match algo.learns_games() {
        true => games().iter().map(|game| game.id).collect(),
        false => environments().iter().map(|env| env.id).collect(),
    }
}

/// The whole, where algorithm and environment are yet to be chosen.
fn experiment() -> Value {
    let mut definitions = Map::new();
    let mut rules = Vec::new();
    let is_game = json!({ "properties": { "env_id": { "enum": ids_of(Algorithm::AlphaZero) } } });
    for algo in Algorithm::ALL {
        definitions.insert(algo.id().to_owned(), configuration(algo, None));
        let said =
            json!({ "properties": { "algo": { "const": algo.id() } }, "required": ["algo"] });
        // Without a word about it, it follows from what is learnt.
        let unsaid = json!({ "not": { "required": ["algo"] } });
        let when = match algo {
            Algorithm::Ppo => {
                json!({ "anyOf": [said, { "allOf": [unsaid, { "not": is_game }] }] })
            }
            Algorithm::Dqn => said,
            Algorithm::AlphaZero => json!({ "anyOf": [said, { "allOf": [unsaid, is_game] }] }),
        };
        rules.push(json!({ "if": when, "then": { "$ref": format!("#/$defs/{}", algo.id()) } }));
    }
    for env in environments() {
        let name = format!("env:{}", env.id);
        definitions.insert(name.clone(), options(env.id));
        rules.push(json!({
            "if": { "properties": { "env_id": { "const": env.id } } },
            "then": { "properties": { "env": { "$ref": format!("#/$defs/{name}") } } },
        }));
    }
    let ids: Vec<&str> =
        [Algorithm::Ppo, Algorithm::AlphaZero].into_iter().flat_map(ids_of).collect();
    json!({
        "title": "Experiment",
        "type": "object",
        "properties": {
            "env_id": with(env_id_schema(), json!({ "enum": ids })),
            "algo": {
                "title": "Algorithm",
                "description": "What learns. DQN learns discrete actions only, AlphaZero games of two.",
                "enum": Algorithm::ALL.map(Algorithm::id),
                "default": Algorithm::Ppo.id(),
            },
        },
        "required": ["env_id"],
        "allOf": rules,
        "$defs": definitions,
    })
}

fn options(env_id: &str) -> Value {
    let defaults = run_options(env_id).unwrap_or_default();
    let of_env = options_of(env_id).iter().map(|setting| {
        let default = defaults.get(setting.parts().1).cloned().unwrap_or_default();
        (*setting, default)
    });
    let mut schema = section_schema(SECTIONS[0].1, of_env, None);
    if let Some(own_limit) = defaults.get(MAX_EPISODE_STEPS) {
        schema["properties"][MAX_EPISODE_STEPS]["maximum"] = own_limit.clone();
    }
    schema
}

fn any_options() -> Value {
    json!({
        "title": SECTIONS[0].1,
        "description": "Options of the environment; see the schema `env:` and its id.",
        "type": "object",
    })
}

fn section_schema(
    title: &str,
    settings: impl Iterator<Item = (Setting, Value)>,
    algo: Option<Algorithm>,
) -> Value {
    let properties: Map<String, Value> = settings
        .enumerate()
        .map(|(order, (setting, default))| {
            let mut schema = setting_schema(&setting, default, algo);
            schema["x-order"] = order.into();
            (setting.parts().1.to_owned(), schema)
        })
        .collect();
    json!({
        "title": title,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

fn default_of(defaults: &Value, setting: &Setting) -> Value {
    let pointer = format!("/{}", setting.path.replace('.', "/"));
    defaults.pointer(&pointer).cloned().unwrap_or_default()
}

/// One field of a form.
fn setting_schema(setting: &Setting, default: Value, algo: Option<Algorithm>) -> Value {
    let mut schema = match setting.form {
        Form::Number(range) => with(json!({ "type": "number" }), range.schema()),
        Form::NumberOrNull(range) => with(json!({ "type": ["number", "null"] }), range.schema()),
        Form::Schedule(range) => with(
            json!({ "type": ["number", "string"], "pattern": "^(lin|cos|cycle)_[0-9.]+(e-?[0-9]+)?$" }),
            range.schema(),
        ),
        Form::Whole(low, high) => {
            json!({ "type": "integer", "minimum": low, "maximum": high, "multipleOf": 1 })
        }
        Form::WholeOrMinusOne(low, high) => json!({
            "type": "integer",
            "multipleOf": 1,
            "anyOf": [{ "const": -1 }, { "minimum": low, "maximum": high }],
        }),
        Form::Flag => json!({ "type": "boolean" }),
        Form::Word(words) => json!({ "type": "string", "enum": words }),
        Form::Layers => json!({
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_LAYERS,
            "items": { "type": "integer", "minimum": 1, "maximum": MOST_UNITS },
        }),
        Form::Cores => json!({ "type": ["string", "number"], "pattern": "^[0-9.]+m?$" }),
        Form::Bytes => json!({ "type": ["string", "number"], "pattern": "^[0-9.]+ ?([KMGT]i?)?$" }),
        Form::Paths => {
            json!({ "type": "array", "items": { "type": "string" }, "uniqueItems": true })
        }
    };
    schema["title"] = setting.title.into();
    schema["description"] = setting.help.into();
    schema["default"] = default;
    schema["x-path"] = setting.path.into();
    let section = setting.parts().0;
    if let Some((_, group)) = SECTIONS.iter().find(|(name, _)| *name == section) {
        schema["x-group"] = (*group).into();
    }
    if let Some(unit) = setting.unit {
        schema["x-unit"] = unit.into();
    }
    if setting.is_logarithmic {
        schema["x-scale"] = "log".into();
    }
    if let Some(step) = setting.step {
        schema["x-step"] = step.into();
    }
    if !setting.aliases.is_empty() {
        schema["x-aliases"] = setting.aliases.into();
    }
    // What can be changed while a run trains, and how far.
    let is_tunable =
        algo.is_some_and(|algo| Tunable::of(algo).any(|tunable| tunable.path() == setting.path));
    schema["x-tunable"] = match setting.tuning.filter(|_| is_tunable) {
        Some(range) => range.schema(),
        None => false.into(),
    };
    schema
}

fn with(mut schema: Value, more: Value) -> Value {
    if let (Some(schema), Value::Object(more)) = (schema.as_object_mut(), more) {
        schema.extend(more);
    }
    schema
}

/// The presets of an algorithm, and what each changes: on one environment, or wherever that is the
/// same on all.
fn presets_of(algo: Algorithm, env_id: Option<&str>) -> Vec<Value> {
    let has = |preset: &Preset| match env_id {
        Some(env_id) => preset.settings(algo, env_id).is_some(),
        None => !preset.depends_on_environment(algo),
    };
    Preset::ALL
        .into_iter()
        .filter(has)
        .map(|preset| {
            json!({
                "id": preset.id(),
                "title": preset.name(),
                "description": preset.help(),
                "changes": changes(preset, algo, env_id.unwrap_or(any_env(algo))),
            })
        })
        .collect()
}

/// What a preset changes of the defaults.
fn changes(preset: Preset, algo: Algorithm, env_id: &str) -> Vec<Value> {
    let draft = Draft::new(env_id, algo.id()).expect("both are known");
    let settings = preset.settings(algo, env_id).unwrap_or_default();
    let sections = settings.as_object().into_iter().flatten();
    sections
        .flat_map(|(section, values)| {
            let values = values.as_object().into_iter().flatten();
            values.map(move |(name, value)| (section.clone(), name.clone(), value.clone()))
        })
        .filter_map(|(section, name, new)| {
            let old = draft.value[&section][&name].clone();
            let path = format!("{section}.{name}");
            (old != new).then(|| json!({ "path": path, "old": old, "new": new }))
        })
        .collect()
}

/// All presets, and what each changes where.
fn presets() -> Value {
    let list = Preset::ALL.into_iter().map(|preset| {
        let mut places = Vec::new();
        for algo in Algorithm::ALL {
            let envs: Vec<Option<&str>> = if preset.depends_on_environment(algo) {
                let known = ids_of(algo).into_iter();
                known.filter(|id| preset.settings(algo, id).is_some()).map(Some).collect()
            } else {
                vec![None]
            };
            places.extend(envs.into_iter().map(|env_id| {
                json!({
                    "algo": algo.id(),
                    "env_id": env_id,
                    "changes": changes(preset, algo, env_id.unwrap_or(any_env(algo))),
                })
            }));
        }
        json!({
            "id": preset.id(),
            "title": preset.name(),
            "description": preset.help(),
            "for": places,
        })
    });
    json!({ "presets": list.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests;
