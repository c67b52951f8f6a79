//! The fields of each type of line, as they stand in it.
//!
//! Numbers may be `null` with `"nonfinite"` beside them, one of Python's bare words, or too large
//! (`1e999`); the last two arrive here as marked strings. Whole numbers may be written as `2048.0`. Fields that are not
//! listed are passed over, so that a trainer may say more than is asked.

use std::fmt;

use cartridge_store::RestoredFrom;
use serde_json::Map;

use super::{
    BARE, BARE_WORDS, BTreeMap, Deserialize, Deserializer, LogLevel, MAX_NAME_BYTES, MapAccess,
    Message, TrainerConfig, Value, Visitor, de,
};

type Read = Result<(Message, u32), String>;

/// What the reader of JSON says of `1e999`.
pub(super) const OUT_OF_RANGE: &str = "number out of range";

/// A number that may not be finite.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Real {
    /// The field is not there.
    #[default]
    Absent,
    /// `null`: not finite if the line says so.
    Null,
    /// Not finite, by a bare word or by its size.
    NonFinite(f64),
    /// An ordinary number.
    Finite(f64),
}

impl Real {
    fn finite(self) -> Option<f64> {
        if let Self::Finite(value) = self { Some(value) } else { None }
    }
}

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RealVisitor)
    }
}

struct RealVisitor;

impl Visitor<'_> for RealVisitor {
    type Value = Real;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Real, E> {
        Ok(Real::Finite(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Real, E> {
        Ok(Real::Finite(value as f64))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Real, E> {
        Ok(Real::Finite(value as f64))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Real, E> {
        Ok(Real::Null)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Real, E> {
        if let Some(value) = bare(text) {
            Ok(Real::NonFinite(value))
        } else {
            Err(E::invalid_type(
                de::Unexpected::Str(&text.chars().take(40).collect::<String>()),
                &self,
            ))
        }
    }
}

/// The number that a marked string stands for.
fn bare(text: &str) -> Option<f64> {
    match text.strip_prefix('\0')? {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// What is said of a marked string where no number may be that is not finite.
const NOT_FINITE: &str = "a number that is too large or not finite";

/// Text; a marked string is none.
#[derive(Debug)]
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if bare(&text).is_some() {
            return Err(de::Error::invalid_type(de::Unexpected::Other(NOT_FINITE), &"a string"));
        }
        Ok(Self(text))
    }
}

fn text(value: Option<Text>) -> Option<String> {
    value.map(|Text(text)| text)
}

fn texts(values: Option<Vec<Text>>) -> Option<Vec<String>> {
    values.map(|values| values.into_iter().map(|Text(text)| text).collect())
}

/// Above this not every whole number can be told from its neighbours, once it is read as one that
/// need not be whole; nothing that is counted gets there.
const MOST: u64 = 9_007_199_254_740_992;

/// A whole number, also as `2048.0`, up to a bound.
#[derive(Clone, Copy, Debug)]
struct Whole<const BOUND: u64 = MOST>(u64);

/// A seed may be any number.
type Seed = Whole<{ u64::MAX }>;

impl<'de, const BOUND: u64> Deserialize<'de> for Whole<BOUND> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WholeVisitor<const BOUND: u64>;
        impl<const BOUND: u64> Visitor<'_> for WholeVisitor<BOUND> {
            type Value = Whole<BOUND>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from 0 to {BOUND}")
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Whole<BOUND>, E> {
                if value <= BOUND {
                    Ok(Whole(value))
                } else {
                    Err(E::invalid_value(de::Unexpected::Unsigned(value), &self))
                }
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Whole<BOUND>, E> {
                if value.fract() == 0.0 && (0.0..=MOST as f64).contains(&value) {
                    Ok(Whole(value as u64))
                } else {
                    Err(E::invalid_value(de::Unexpected::Float(value), &self))
                }
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Whole<BOUND>, E> {
                Err(match bare(text) {
                    Some(_) => E::invalid_value(de::Unexpected::Other(NOT_FINITE), &self),
                    None => E::invalid_type(de::Unexpected::Str(text), &self),
                })
            }
        }
        deserializer.deserialize_any(WholeVisitor)
    }
}

fn whole<const BOUND: u64>(value: Option<Whole<BOUND>>) -> Option<u64> {
    value.map(|Whole(value)| value)
}

/// A name in the trainer's words: text, or a number that stands for it.
#[derive(Debug)]
struct Name(String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl Visitor<'_> for NameVisitor {
            type Value = Name;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a name of up to {MAX_NAME_BYTES} bytes, or a whole number")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Name, E> {
                if bare(text).is_some() {
                    return Err(E::invalid_type(de::Unexpected::Other(NOT_FINITE), &self));
                }
                if text.is_empty() || text.len() > MAX_NAME_BYTES {
                    return Err(E::invalid_length(text.len(), &self));
                }
                Ok(Name(text.to_owned()))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Name, E> {
                Ok(Name(value.to_string()))
            }
        }
        deserializer.deserialize_any(NameVisitor)
    }
}

/// Which sort of number is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum NonFinite {
    #[serde(rename = "nan")]
    Nan,
    #[serde(rename = "inf", alias = "+inf")]
    Infinite,
    #[serde(rename = "-inf")]
    MinusInfinite,
}

impl NonFinite {
    fn value(self) -> f64 {
        match self {
            Self::Nan => f64::NAN,
            Self::Infinite => f64::INFINITY,
            Self::MinusInfinite => f64::NEG_INFINITY,
        }
    }
}

/// The value of a number that must be there; `null` counts as not finite when the line says so.
fn value_of(name: &str, value: Real, said: Option<NonFinite>) -> Result<f64, String> {
    match (value, said) {
        (Real::Finite(value), None) => Ok(value),
        (Real::Finite(_), Some(_)) => Err(format!("`{name}` is finite, yet `nonfinite` is given")),
        (Real::NonFinite(value), _) => Ok(value),
        (Real::Null, Some(said)) => Ok(said.value()),
        (Real::Null, None) => {
            Err(format!("`{name}` is null without `nonfinite` (nan, inf or -inf)"))
        }
        (Real::Absent, _) => Err(format!("missing field `{name}`")),
    }
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| {
        let mut message = error.to_string();
        // How a number is marked on its way is nobody's concern.
        for word in BARE_WORDS {
            message = message.replace(&format!("string \"\\0{word}\""), NOT_FINITE);
        }
        // Where it stands helps nobody in a line that is gone, and would make every reason new.
        message.split(" at line ").next().unwrap_or_default().chars().take(160).collect()
    })
}

/// Turns the marked strings of bare words in a value into `null`, and counts them.
fn mend(value: &mut Value) -> u32 {
    match value {
        Value::String(text) if bare(text).is_some() => {
            *value = Value::Null;
            1
        }
        Value::Array(items) => items.iter_mut().map(mend).sum(),
        Value::Object(fields) => fields.values_mut().map(mend).sum(),
        _ => 0,
    }
}

#[derive(Deserialize)]
pub(super) struct Config {
    algo: Option<Text>,
    env_id: Option<Text>,
    seed: Option<Seed>,
    total_timesteps: Option<Whole>,
    capabilities: Option<Vec<Text>>,
    overrides_whitelist: Option<Vec<Text>>,
    restored: Option<Restored>,
    #[serde(default)]
    args: Value,
}

#[derive(Deserialize)]
struct Restored {
    path: Text,
    step: Whole,
}

impl Config {
    pub(super) fn read(line: &str) -> Read {
        let Self {
            algo,
            env_id,
            seed,
            total_timesteps,
            capabilities,
            overrides_whitelist,
            restored,
            mut args,
        } = parse(line)?;
        let nonfinite = mend(&mut args);
        let total = || {
            let keys = ["total_timesteps", "n_timesteps", "total-timesteps"];
            keys.iter().find_map(|key| args.get(*key)?.as_u64())
        };
        Ok((
            Message::Config(TrainerConfig {
                algo: text(algo),
                env_id: text(env_id),
                seed: whole(seed),
                total_timesteps: whole(total_timesteps).or_else(total),
                capabilities: texts(capabilities),
                overrides_whitelist: texts(overrides_whitelist),
                restored: restored.map(|Restored { path: Text(path), step: Whole(step) }| {
                    let path = path.trim_end_matches('/').to_owned();
                    Box::new(RestoredFrom { path, step })
                }),
                args,
            }),
            nonfinite,
        ))
    }
}

#[derive(Deserialize)]
pub(super) struct Step {
    episode_id: Name,
    step: Whole,
    action: Value,
    #[serde(default)]
    reward: Real,
    nonfinite: Option<NonFinite>,
    #[serde(default)]
    terminated: bool,
    #[serde(default)]
    truncated: bool,
    obs: Option<Value>,
    #[serde(default)]
    t: Real,
}

impl Step {
    pub(super) fn read(text: &str) -> Read {
        let Self {
            episode_id: Name(episode_id),
            step: Whole(step),
            mut action,
            reward,
            nonfinite,
            terminated,
            truncated,
            mut obs,
            t,
        } = parse(text)?;
        let reward = value_of("reward", reward, nonfinite)?;
        let n = u32::from(!reward.is_finite()) + mend(&mut action) + obs.as_mut().map_or(0, mend);
        let t = t.finite();
        Ok((
            Message::Step(super::Step {
                episode_id,
                step,
                action,
                reward,
                terminated,
                truncated,
                obs,
                t,
            }),
            n,
        ))
    }
}

#[derive(Deserialize)]
pub(super) struct Episode {
    episode_id: Name,
    steps: Whole,
    #[serde(default, rename = "return")]
    total: Real,
    nonfinite: Option<NonFinite>,
    seed: Option<Seed>,
    terminated: Option<bool>,
    truncated: Option<bool>,
    timestep: Option<Whole>,
    #[serde(default)]
    t_end: Real,
}

impl Episode {
    pub(super) fn read(text: &str) -> Read {
        let Self {
            episode_id: Name(episode_id),
            steps: Whole(steps),
            total,
            nonfinite,
            seed,
            terminated,
            truncated,
            timestep,
            t_end,
        } = parse(text)?;
        let total = value_of("return", total, nonfinite)?;
        let steps = u32::try_from(steps).map_err(|_| "`steps` is too large".to_owned())?;
        Ok((
            Message::Episode(super::Episode {
                episode_id,
                steps,
                total,
                seed: whole(seed),
                terminated,
                truncated,
                timestep: whole(timestep),
                t: t_end.finite(),
            }),
            u32::from(!total.is_finite()),
        ))
    }
}

#[derive(Deserialize)]
pub(super) struct Metric {
    name: Text,
    #[serde(default)]
    value: Real,
    nonfinite: Option<NonFinite>,
    step: Option<Whole>,
    #[serde(default)]
    t: Real,
}

impl Metric {
    pub(super) fn read(text: &str) -> Read {
        let Self { name: Text(name), value, nonfinite, step, t } = parse(text)?;
        check_name(&name)?;
        let value = finite(value_of("value", value, nonfinite)?);
        let n = u32::from(value.is_none());
        let values = vec![(name, value)];
        Ok((Message::Metrics(super::Metrics { step: whole(step), t: t.finite(), values }), n))
    }
}

/// A value of a metric: charts have no place for what is not finite.
fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

/// Whether a metric can have this name.
pub(crate) fn is_metric_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && !name.chars().any(char::is_control)
}

fn check_name(name: &str) -> Result<(), String> {
    if !is_metric_name(name) {
        return Err(format!(
            "a metric's name has 1 to {MAX_NAME_BYTES} bytes and no control characters"
        ));
    }
    Ok(())
}

#[derive(Deserialize)]
pub(super) struct Metrics {
    values: Values,
    #[serde(default)]
    nonfinite: BTreeMap<String, NonFinite>,
    step: Option<Whole>,
    #[serde(default)]
    t: Real,
}

/// The values of a `metrics` line in their order.
struct Values(Vec<(String, Real)>);

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValuesVisitor;
        impl<'de> Visitor<'de> for ValuesVisitor {
            type Value = Values;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of numbers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Values, A::Error> {
                let mut values = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    values.push(entry);
                }
                Ok(Values(values))
            }
        }
        deserializer.deserialize_map(ValuesVisitor)
    }
}

impl Metrics {
    pub(super) fn read(text: &str) -> Read {
        let Self { values: Values(entries), nonfinite, step, t } = parse(text)?;
        let mut values = Vec::with_capacity(entries.len());
        for (name, value) in entries {
            check_name(&name)?;
            let value = value_of(&name, value, nonfinite.get(&name).copied())
                .map_err(|_| "a value must be a number, or null and listed in `nonfinite`")?;
            values.push((name, finite(value)));
        }
        let n = values.iter().filter(|(_, value)| value.is_none()).count() as u32;
        Ok((Message::Metrics(super::Metrics { step: whole(step), t: t.finite(), values }), n))
    }
}

#[derive(Deserialize)]
pub(super) struct Checkpoint {
    step: Whole,
    path: Text,
    sha256: Option<String>,
}

impl Checkpoint {
    pub(super) fn read(text: &str) -> Read {
        let Self { step: Whole(step), path: Text(path), sha256 } = parse(text)?;
        let is_plain = |part: &str| !matches!(part, "" | "." | "..");
        let trimmed = path.trim_end_matches('/');
        if trimmed.len() > 1024 || !trimmed.split('/').all(is_plain) {
            return Err("`path` must be a plain path below the run's folder".to_owned());
        }
        if sha256.as_ref().is_some_and(|hash| {
            hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit())
        }) {
            return Err("`sha256` must be 64 hexadecimal digits".to_owned());
        }
        Ok((Message::Checkpoint(super::Checkpoint { step, path: trimmed.to_owned(), sha256 }), 0))
    }
}

/// Every field but the ones that all lines have is an artifact.
pub(super) fn artifacts(text: &str) -> Read {
    let fields: Map<String, Value> = parse(text)?;
    let mut artifacts = BTreeMap::new();
    for (name, value) in fields {
        if matches!(name.as_str(), "type" | "event" | "run_id" | "attempt" | "t" | "step") {
            continue;
        }
        match value {
            Value::String(place) if place.len() <= 4096 && bare(&place).is_none() => {
                if place.split('/').any(|step| step == "..") {
                    return Err(
                        "an artifact is named by its path or address without `..`".to_owned()
                    );
                }
                artifacts.insert(name, place);
            }
            Value::Null => {}
            _ => return Err("an artifact must be a path or an address, as text".to_owned()),
        }
    }
    if artifacts.is_empty() {
        return Err("it names no artifact".to_owned());
    }
    Ok((Message::Artifacts(artifacts), 0))
}

#[derive(Deserialize)]
pub(super) struct Frame {
    scene: Option<serde::de::IgnoredAny>,
    jpeg: Option<String>,
    png: Option<String>,
}

impl Frame {
    pub(super) fn read(text: &str) -> Read {
        let Self { scene, jpeg, png } = parse(text)?;
        let n = [scene.is_some(), jpeg.is_some(), png.is_some()];
        if n.into_iter().filter(|is_there| *is_there).count() != 1 {
            return Err("it needs one of `scene`, `jpeg` or `png`".to_owned());
        }
        if let Some(picture) = jpeg {
            check_picture("jpeg", &picture, JPEG)?;
        }
        if let Some(picture) = png {
            check_picture("png", &picture, PNG)?;
        }
        // A scene may hold numbers that are not finite; what is kept is JSON for whoever draws it.
        let (mut line, mut nonfinite) = (text.to_owned(), 0);
        for word in BARE_WORDS {
            let marked = format!("\"{BARE}{word}\"");
            nonfinite += line.matches(&marked).count() as u32;
            line = line.replace(&marked, "null");
        }
        Ok((Message::Frame(super::Frame { line }), nonfinite))
    }
}

/// How every JPEG begins, in base64.
const JPEG: &str = "/9j/";

/// How every PNG begins, in base64.
const PNG: &str = "iVBORw0KGgo";

/// Complains about a picture that no browser would show.
fn check_picture(name: &str, picture: &str, beginning: &str) -> Result<(), String> {
    let digits = picture.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let n_padding = picture.len() - digits.len();
    if !digits.bytes().all(is_digit) || n_padding > 2 || !picture.len().is_multiple_of(4) {
        return Err(format!("`{name}` is no base64"));
    }
    if !picture.starts_with(beginning) {
        return Err(format!("`{name}` holds no picture of that format"));
    }
    Ok(())
}

#[derive(Deserialize)]
pub(super) struct Heartbeat {
    step: Option<Whole>,
}

impl Heartbeat {
    pub(super) fn read(text: &str) -> Read {
        let Self { step } = parse(text)?;
        Ok((Message::Heartbeat(super::Heartbeat { step: whole(step) }), 0))
    }
}

#[derive(Deserialize)]
pub(super) struct Log {
    level: Option<LogLevel>,
    message: Text,
}

impl Log {
    pub(super) fn read(text: &str) -> Read {
        let Self { level, message: Text(message) } = parse(text)?;
        let level = level.unwrap_or(LogLevel::Info);
        Ok((Message::Log(super::Log { level, message }), 0))
    }
}

#[derive(Deserialize)]
pub(super) struct ControlAck {
    seq: Whole,
    step: Option<Whole>,
    ok: Option<bool>,
    message: Option<Text>,
    #[serde(default)]
    old: Real,
}

impl ControlAck {
    pub(super) fn read(line: &str) -> Read {
        let Self { seq: Whole(seq), step, ok, message, old } = parse(line)?;
        let (step, ok, old) = (whole(step), ok.unwrap_or(true), old.finite());
        let message = text(message);
        Ok((Message::ControlAck(super::ControlAck { seq, step, ok, message, old }), 0))
    }
}

#[derive(Deserialize)]
pub(super) struct Done {
    reason: Option<Reason>,
    step: Option<Whole>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reason {
    Completed,
    Stopped,
}

impl Done {
    pub(super) fn read(text: &str) -> Read {
        let Self { reason, step } = parse(text)?;
        let stopped = reason.map(|reason| reason == Reason::Stopped);
        Ok((Message::Done(super::Done { stopped, step: whole(step) }), 0))
    }
}
