//! The lines that a foreign trainer writes, and what each of them means.
//!
//! `docs/protocol.md` describes the protocol for people who write trainers. Here it is values in,
//! values out: [`Splitter`] turns bytes into lines of bounded length, [`parse`] turns a line into
//! a [`Verdict`], and [`Tally`] counts every line in exactly one class. A line that is no object
//! of the protocol is a log line, never an error, and no bytes make any of this panic.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cartridge_store::{LineCounts, TrainerConfig};
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

pub mod check;

/// The longest line; of a longer one only the beginning is kept.
pub const MAX_LINE_BYTES: usize = 8 * 1024 * 1024;

/// How much of a line that was too long is kept, for the log.
pub const KEPT_OF_CUT: usize = 4 * 1024;

/// The longest name of a metric.
pub const MAX_NAME_BYTES: usize = 256;

/// What a line of the protocol says.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// What is trained, and how.
    Config(TrainerConfig),
    /// One step of one environment.
    Step(Step),
    /// An episode has ended.
    Episode(Episode),
    /// Values of metrics at one moment.
    Metrics(Metrics),
    /// A checkpoint is on disk.
    Checkpoint(Checkpoint),
    /// Files or addresses that belong to the run.
    Artifacts(BTreeMap<String, String>),
    /// A picture.
    Frame(Frame),
    /// The trainer is alive.
    Heartbeat(Heartbeat),
    /// A line for the log.
    Log(Log),
    /// A control line took effect, or cannot.
    ControlAck(ControlAck),
    /// The trainer is about to exit on its own account.
    Done(Done),
}

/// One step of one environment.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The episode that it belongs to, in the trainer's words.
    pub episode_id: String,
    /// Its number in the episode.
    pub step: u64,
    /// What was done.
    pub action: Value,
    /// What came of it, finite or not.
    pub reward: f64,
    /// Whether the task itself ended.
    pub terminated: bool,
    /// Whether the episode was cut short.
    pub truncated: bool,
    /// What was seen after it.
    pub obs: Option<Value>,
    /// When.
    pub t: Option<f64>,
}

/// An episode has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// Its name in the trainer's words.
    pub episode_id: String,
    /// Its length.
    pub steps: u32,
    /// Sum of its rewards, finite or not.
    pub total: f64,
    /// The number given to `reset`.
    pub seed: Option<u64>,
    /// Whether the task itself ended, where it is said.
    pub terminated: Option<bool>,
    /// Whether it was cut short, where it is said.
    pub truncated: Option<bool>,
    /// Environment steps of the run at its end, where they are said.
    pub timestep: Option<u64>,
    /// When.
    pub t: Option<f64>,
}

/// Values of metrics at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    /// Environment steps of the run.
    pub step: Option<u64>,
    /// When.
    pub t: Option<f64>,
    /// Name and value; nothing where it was not finite.
    pub values: Vec<(String, Option<f64>)>,
}

/// A checkpoint is on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Environment steps of the run.
    pub step: u64,
    /// Where it is, below the run's folder.
    pub path: String,
    /// Hash of the weights.
    pub sha256: Option<String>,
}

/// A picture. The line is kept as it came: who draws it knows what to do with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The whole line.
    pub line: String,
}

/// The trainer is alive.
#[derive(Clone, Debug, PartialEq)]
pub struct Heartbeat {
    /// Environment steps of the run.
    pub step: Option<u64>,
}

/// How serious a log line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// Of interest to the author only.
    Debug,
    /// The ordinary course of things.
    Info,
    /// A person should look.
    #[serde(alias = "warn")]
    Warning,
    /// Something failed.
    Error,
}

/// A line for the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// How serious it is.
    pub level: LogLevel,
    /// What it says.
    pub message: String,
}

/// A control line took effect, or cannot.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlAck {
    /// Number of the control line.
    pub seq: u64,
    /// Environment steps of the run.
    pub step: Option<u64>,
    /// Whether it took effect.
    pub ok: bool,
    /// Why not.
    pub message: Option<String>,
    /// The value before a `tune`.
    pub old: Option<f64>,
}

/// The trainer is about to exit on its own account.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// Whether it ends because it was asked to, where it says so.
    pub stopped: Option<bool>,
    /// Environment steps of the run.
    pub step: Option<u64>,
}

/// The types of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// What is trained, and how.
    Config,
    /// One step of one environment.
    Step,
    /// An episode has ended.
    Episode,
    /// The value of one metric.
    Metric,
    /// Values of several metrics.
    Metrics,
    /// A checkpoint is on disk.
    Checkpoint,
    /// Files or addresses that belong to the run.
    Artifacts,
    /// A picture.
    Frame,
    /// The trainer is alive.
    Heartbeat,
    /// A line for the log.
    Log,
    /// A control line took effect.
    ControlAck,
    /// The trainer is about to exit.
    Done,
}

impl Kind {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 12] = [
        Self::Config,
        Self::Step,
        Self::Episode,
        Self::Metric,
        Self::Metrics,
        Self::Checkpoint,
        Self::Artifacts,
        Self::Frame,
        Self::Heartbeat,
        Self::Log,
        Self::ControlAck,
        Self::Done,
    ];

    /// The word in `type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Step => "step",
            Self::Episode => "episode",
            Self::Metric => "metric",
            Self::Metrics => "metrics",
            Self::Checkpoint => "checkpoint",
            Self::Artifacts => "artifacts",
            Self::Frame => "frame",
            Self::Heartbeat => "heartbeat",
            Self::Log => "log",
            Self::ControlAck => "control_ack",
            Self::Done => "done",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What became of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It is of the protocol: its type, what it says, and how many of its numbers were not finite.
    Typed(Kind, Message, u32),
    /// It is none, and belongs into the log.
    Log,
    /// It is of a known type and cannot be used, for this reason.
    Wrong(Kind, String),
    /// It is an object of a type that the protocol does not have.
    Unknown(String),
}

/// Reads one line, without its newline. `attempt` is the present start of the trainer: a line that
/// says it comes from another one is wrong.
pub fn parse(line: &[u8], attempt: u32) -> Verdict {
    let line = line.trim_ascii();
    if line.first() != Some(&b'{') || line.last() != Some(&b'}') {
        return Verdict::Log;
    }
    let Ok(text) = std::str::from_utf8(line) else { return parse_mended(line, attempt) };
    let verdict = parse_text(text, attempt);
    let may_be_mended = match &verdict {
        // Python writes numbers that are not finite as words that are no JSON.
        Verdict::Log => has_bare_words(text),
        // `1e999` is JSON, and infinite to whoever reads it as a number.
        Verdict::Wrong(_, reason) => reason == fields::OUT_OF_RANGE,
        Verdict::Typed(..) | Verdict::Unknown(_) => false,
    };
    match may_be_mended.then(|| quote_nonfinite(text)).flatten() {
        Some(mended) => parse_text(&mended, attempt),
        None => verdict,
    }
}

/// Bytes that are no UTF-8 may stand in the strings of a line; they are replaced.
fn parse_mended(line: &[u8], attempt: u32) -> Verdict {
    let text = String::from_utf8_lossy(line);
    match parse_text(&text, attempt) {
        Verdict::Typed(kind, ..) => {
            Verdict::Wrong(kind, "it holds bytes that are no UTF-8".to_owned())
        }
        verdict => verdict,
    }
}

fn parse_text(text: &str, attempt: u32) -> Verdict {
    let Ok(head) = serde_json::from_str::<Head<'_>>(text) else { return Verdict::Log };
    let name = match (&head.kind, &head.event) {
        (Some(Word(Some(name))), _) => name,
        (None, Some(Word(Some(name)))) if name == "artifacts" => name,
        _ => return Verdict::Log,
    };
    let Some(kind) = Kind::from_name(name) else {
        return Verdict::Unknown(name.chars().take(64).collect());
    };
    if let Some(theirs) = head.attempt
        && theirs != u64::from(attempt)
    {
        return Verdict::Wrong(kind, "it comes from another attempt".to_owned());
    }
    match read_message(kind, text) {
        Ok((message, nonfinite)) => Verdict::Typed(kind, message, nonfinite),
        Err(reason) => Verdict::Wrong(kind, reason),
    }
}

/// The fields that say what a line is; all others are passed over.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Word<'a>>,
    #[serde(borrow)]
    event: Option<Word<'a>>,
    #[serde(default, deserialize_with = "whole_if_any")]
    attempt: Option<u64>,
}

/// A string, or nothing where there is something else.
struct Word<'a>(Option<Cow<'a, str>>);

impl<'de: 'a, 'a> Deserialize<'de> for Word<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        let inner = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        Ok(Self(match inner {
            Some(plain) if !plain.contains('\\') => Some(Cow::Borrowed(plain)),
            Some(_) => serde_json::from_str::<String>(raw).ok().map(Cow::Owned),
            None => None,
        }))
    }
}

/// A whole number, or nothing where there is something else.
fn whole_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(serde_json::from_str(<&RawValue>::deserialize(deserializer)?.get()).ok())
}

fn read_message(kind: Kind, text: &str) -> Result<(Message, u32), String> {
    match kind {
        Kind::Config => fields::Config::read(text),
        Kind::Step => fields::Step::read(text),
        Kind::Episode => fields::Episode::read(text),
        Kind::Metric => fields::Metric::read(text),
        Kind::Metrics => fields::Metrics::read(text),
        Kind::Checkpoint => fields::Checkpoint::read(text),
        Kind::Artifacts => fields::artifacts(text),
        Kind::Frame => fields::Frame::read(text),
        Kind::Heartbeat => fields::Heartbeat::read(text),
        Kind::Log => fields::Log::read(text),
        Kind::ControlAck => fields::ControlAck::read(text),
        Kind::Done => fields::Done::read(text),
    }
}

mod fields;

pub(crate) use self::fields::is_metric_name;

/// Reads JSON in which numbers that are not finite may stand as Python's `json` writes them; they
/// come out as [`bare_word`]s.
pub(crate) fn read_extended(text: &str) -> Option<Value> {
    let plain = serde_json::from_str(text);
    if plain.is_ok() || !has_bare_words(text) {
        return plain.ok();
    }
    serde_json::from_str(&quote_nonfinite(text)?).ok()
}

/// The word for a number that is not finite which a string of [`read_extended`] stands for.
pub(crate) fn bare_word(text: &str) -> Option<&str> {
    text.strip_prefix('\0').filter(|word| BARE_WORDS.contains(word))
}

/// The words that Python's `json` writes for numbers that are not finite, longest first.
const BARE_WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// Begins the strings that take the place of bare words; a trainer cannot mean it.
const BARE: &str = "\\u0000";

fn has_bare_words(text: &str) -> bool {
    text.contains("NaN") || text.contains("Infinity")
}

/// Puts the bare words and the numbers that are too large outside strings into marked strings;
/// nothing where there are none.
fn quote_nonfinite(text: &str) -> Option<String> {
    let mut mended = String::with_capacity(text.len() + 64);
    let (mut rest, mut is_found) = (text, false);
    let begins = |c: char| matches!(c, '"' | 'N' | 'I' | '-') || c.is_ascii_digit();
    while let Some(at) = rest.find(begins) {
        mended.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('"') {
            let end = end_of_string(rest)?;
            mended.push_str(&rest[..end]);
            rest = &rest[end..];
        } else if let Some(word) = BARE_WORDS.into_iter().find(|word| rest.starts_with(word)) {
            is_found = true;
            mended.extend(["\"", BARE, word, "\""]);
            rest = &rest[word.len()..];
        } else {
            let is_of_number =
                |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
            let end = rest.find(|c| !is_of_number(c)).unwrap_or(rest.len()).max(1);
            let number = &rest[..end];
            match number.parse::<f64>() {
                Ok(value) if value.is_infinite() => {
                    is_found = true;
                    let word = if value > 0.0 { "Infinity" } else { "-Infinity" };
                    mended.extend(["\"", BARE, word, "\""]);
                }
                _ => mended.push_str(number),
            }
            rest = &rest[end..];
        }
    }
    mended.push_str(rest);
    is_found.then_some(mended)
}

/// The length of the string that `text` begins with, with both quotes.
fn end_of_string(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut idx = 1;
    while idx < bytes.len() {
        match bytes[idx] {
            b'\\' => idx += 2,
            b'"' => return Some(idx + 1),
            _ => idx += 1,
        }
    }
    None
}

/// The lines of foreign trainers, counted.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    by_kind: [u64; Kind::ALL.len()],
    /// Everything but the types.
    rest: LineCounts,
}

/// Reasons that are counted apart; more are counted together.
const MAX_REASONS: usize = 32;

impl Tally {
    /// Counts a line.
    pub fn count(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Typed(kind, _, nonfinite) => self.count_typed(*kind, *nonfinite),
            Verdict::Log => self.rest.log += 1,
            Verdict::Wrong(kind, reason) => self.count_wrong(*kind, reason),
            Verdict::Unknown(_) => self.rest.unknown += 1,
        }
    }

    /// Counts a line of the protocol.
    pub fn count_typed(&mut self, kind: Kind, nonfinite: u32) {
        self.by_kind[kind as usize] += 1;
        self.rest.nonfinite += u64::from(nonfinite);
    }

    /// Counts a line of the log that was not read as anything else.
    pub fn count_log(&mut self) {
        self.rest.log += 1;
    }

    /// Counts a line that was too long.
    pub fn count_cut(&mut self) {
        self.rest.cut += 1;
    }

    /// Counts a line of a known type that cannot be used.
    pub fn count_wrong(&mut self, kind: Kind, reason: &str) {
        self.rest.wrong += 1;
        let mut reason = format!("{}: {reason}", kind.name());
        if self.rest.reasons.len() >= MAX_REASONS && !self.rest.reasons.contains_key(&reason) {
            "others".clone_into(&mut reason);
        }
        *self.rest.reasons.entry(reason).or_default() += 1;
    }

    /// The counts so far.
    pub fn counts(&self) -> LineCounts {
        let by_type: BTreeMap<String, u64> = Kind::ALL
            .into_iter()
            .zip(self.by_kind)
            .filter(|(_, n)| *n > 0)
            .map(|(kind, n)| (kind.name().to_owned(), n))
            .collect();
        LineCounts { typed: self.by_kind.iter().sum(), by_type, ..self.rest.clone() }
    }
}

/// A line as it came, without its newline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawLine<'a> {
    /// A whole line, or the last one before the end.
    Whole(&'a [u8]),
    /// The beginning of a line that was too long, and how long it was.
    Cut(&'a [u8], u64),
}

/// Turns bytes into lines. It keeps at most one line of [`MAX_LINE_BYTES`].
#[derive(Debug, Default)]
pub struct Splitter {
    /// The beginning of a line whose end has not come.
    held: Vec<u8>,
    /// Bytes of that line in all, also those that were not kept.
    length: u64,
}

impl Splitter {
    /// Takes bytes and hands every line that they complete to `take`.
    pub fn push(&mut self, mut bytes: &[u8], mut take: impl FnMut(RawLine<'_>)) {
        while let Some(newline) = bytes.iter().position(|&byte| byte == b'\n') {
            let (line, rest) = bytes.split_at(newline);
            bytes = &rest[1..];
            if self.length == 0 {
                take(whole_or_cut(line, line.len() as u64));
            } else {
                self.hold(line);
                self.end(&mut take);
            }
        }
        self.hold(bytes);
    }

    /// Hands what is left without a newline to `take`.
    pub fn finish(&mut self, mut take: impl FnMut(RawLine<'_>)) {
        if self.length > 0 {
            self.end(&mut take);
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        if self.length > MAX_LINE_BYTES as u64 {
            let room = KEPT_OF_CUT.saturating_sub(self.held.len());
            self.held.extend_from_slice(&bytes[..room.min(bytes.len())]);
            self.held.truncate(KEPT_OF_CUT);
            self.held.shrink_to(KEPT_OF_CUT);
        } else {
            self.held.extend_from_slice(bytes);
        }
    }

    fn end(&mut self, take: &mut impl FnMut(RawLine<'_>)) {
        take(whole_or_cut(&self.held, self.length));
        self.length = 0;
        self.held.clear();
        // One long line must not hold its memory for ever.
        self.held.shrink_to(64 * 1024);
    }
}

fn whole_or_cut(kept: &[u8], length: u64) -> RawLine<'_> {
    if length > MAX_LINE_BYTES as u64 {
        RawLine::Cut(&kept[..kept.len().min(KEPT_OF_CUT)], length)
    } else {
        RawLine::Whole(kept)
    }
}

/// A control line as a foreign trainer reads it on its standard input: flat, with the command as
/// a word. `command` is what the lab's line holds, a word or an object with one key.
pub fn control_for_trainer(seq: u64, command: &Value, by: &str) -> String {
    let mut line = serde_json::Map::new();
    line.insert("type".to_owned(), "control".into());
    line.insert("seq".to_owned(), seq.into());
    match command {
        Value::Object(fields) => {
            for (word, arguments) in fields {
                line.insert("command".to_owned(), word.as_str().into());
                for (name, value) in arguments.as_object().into_iter().flatten() {
                    line.insert(name.clone(), value.clone());
                }
            }
        }
        word => {
            line.insert("command".to_owned(), word.clone());
        }
    }
    line.insert("by".to_owned(), by.into());
    let mut text = Value::Object(line).to_string();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;
