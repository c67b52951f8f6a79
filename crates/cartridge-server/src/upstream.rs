//! A W&B server that the lab reads for its pages, so that no browser needs the key.
//!
//! Which server it is, is in `data/lab.json` and nowhere else: no request can name one. The key is in
//! the environment of the lab (`WANDB_API_KEY`), is sent to that server alone, and is in no answer, no
//! log and no file. Redirects are not followed.
//!
//! Answers are kept for a while ([`WandbSource::ttl_seconds`]). Who asks for the same at once waits
//! for one request; when the server fails, what was known is answered, with its age and the trouble;
//! when it says that it was asked enough, it is left alone until it wants to be asked again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cartridge_run::retention::WandbSource;
use data_encoding::BASE64;
use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Response;

/// What one request may take in all.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The largest answer that is read.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Answers that are kept.
const MOST_KEPT: usize = 256;

/// After a failure the server is left alone for this long.
const PAUSE: Duration = Duration::from_secs(2);

/// How long it is left alone when it refuses and does not say for how long.
const USUAL_WAIT: Duration = Duration::from_secs(30);

/// The longest that it is left alone, whatever it says.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);

/// What went wrong with the W&B server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The lab does not know which server, or has no key.
    #[error("{0}")]
    NotConfigured(&'static str),
    /// It could not be reached.
    #[error("the W&B server cannot be reached: {0}")]
    Away(String),
    /// It took too long.
    #[error("the W&B server did not answer within {} s", TIMEOUT.as_secs())]
    Slow,
    /// It said no.
    #[error("the W&B server refused with the status {0}{1}")]
    Refused(u16, &'static str),
    /// It was asked enough.
    #[error("the W&B server was asked enough; it is asked again in {} s", .0.as_secs() + 1)]
    Limited(Duration),
    /// What it answered makes no sense.
    #[error("the W&B server answered what makes no sense: {0}")]
    Malformed(String),
}

impl Trouble {
    /// Which trouble it is, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotConfigured(_) => "wandb_not_configured",
            Self::Away(_) => "wandb_away",
            Self::Slow => "wandb_slow",
            Self::Refused(..) => "wandb_refused",
            Self::Limited(_) => "wandb_limited",
            Self::Malformed(_) => "wandb_malformed",
        }
    }
}

/// What the server answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The `data` of the answer.
    pub data: Value,
    /// How old it is.
    pub age: Duration,
    /// Why it is not newer, where it should be.
    pub trouble: Option<Trouble>,
}

/// The server, and what it has answered.
#[derive(Debug)]
pub struct Upstream {
    key: Option<String>,
    agent: Agent,
    slots: Mutex<HashMap<String, Arc<Mutex<Slot>>>>,
    /// Until when it is left alone.
    rest: Mutex<Option<Instant>>,
}

/// What is known of one question.
#[derive(Debug, Default)]
struct Slot {
    known: Option<(Instant, Value)>,
    failed: Option<(Instant, Trouble)>,
    asked: Option<Instant>,
}

impl Upstream {
    /// One that is asked with `key`, if there is one.
    pub fn new(key: Option<String>) -> Self {
        Self::with_patience(key, TIMEOUT)
    }

    fn with_patience(key: Option<String>, patience: Duration) -> Self {
        let config = Agent::config_builder()
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .timeout_global(Some(patience))
            .user_agent("cartridge")
            .build();
        let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        Self { key, agent: config.into(), slots: Mutex::default(), rest: Mutex::default() }
    }

    /// Asks the server, or answers what is known. It may take as long as the server does: not for
    /// the event loop.
    pub fn ask(
        &self,
        source: &WandbSource,
        query: &str,
        variables: &Value,
    ) -> Result<Answer, Trouble> {
        let key = self.key.as_deref().ok_or(Trouble::NotConfigured(
            "the lab has no key for W&B: start it with WANDB_API_KEY in its environment",
        ))?;
        if source.entity.is_none() || source.project.is_none() {
            let missing = "say which project of W&B is shown: `wandb.entity` and `wandb.project` in \
                           lab.json";
            return Err(Trouble::NotConfigured(missing));
        }
        let slot = self.slot(&format!("{}\n{query}\n{variables}", source.base_url));
        // Who comes second waits here, and finds the answer.
        let mut slot = held(&slot);
        let now = Instant::now();
        slot.asked = Some(now);
        let ttl = Duration::from_secs(source.ttl_seconds);
        if let Some((at, data)) = &slot.known
            && now.duration_since(*at) < ttl
        {
            return Ok(Answer { data: data.clone(), age: at.elapsed(), trouble: None });
        }
        let failed = slot.failed.as_ref().filter(|(at, _)| now.duration_since(*at) < PAUSE);
        let asked = match (failed, self.resting(now)) {
            (Some((_, trouble)), _) => Err(trouble.clone()),
            (None, Some(wait)) => Err(Trouble::Limited(wait)),
            (None, None) => {
                let asked = self.fetch(&source.base_url, key, query, variables);
                slot.failed = asked.as_ref().err().map(|trouble| (Instant::now(), trouble.clone()));
                asked
            }
        };
        match (asked, &slot.known) {
            (Ok(data), _) => {
                slot.known = Some((Instant::now(), data.clone()));
                Ok(Answer { data, age: Duration::ZERO, trouble: None })
            }
            (Err(trouble), Some((at, data))) => {
                Ok(Answer { data: data.clone(), age: at.elapsed(), trouble: Some(trouble) })
            }
            (Err(trouble), None) => Err(trouble),
        }
    }

    /// The place of a question; the one that was longest not asked makes room.
    fn slot(&self, question: &str) -> Arc<Mutex<Slot>> {
        let mut slots = held(&self.slots);
        if !slots.contains_key(question) && slots.len() >= MOST_KEPT {
            let idle = |(key, slot): (&String, &Arc<Mutex<Slot>>)| {
                Some((slot.try_lock().ok()?.asked, key.clone()))
            };
            if let Some((_, oldest)) = slots.iter().filter_map(idle).min() {
                slots.remove(&oldest);
            }
        }
        Arc::clone(slots.entry(question.to_owned()).or_default())
    }

    fn resting(&self, now: Instant) -> Option<Duration> {
        held(&self.rest).and_then(|until| until.checked_duration_since(now))
    }

    fn rest_for(&self, wait: Duration) {
        *held(&self.rest) = Some(Instant::now() + wait.min(LONGEST_WAIT));
    }

    fn fetch(
        &self,
        base: &str,
        key: &str,
        query: &str,
        variables: &Value,
    ) -> Result<Value, Trouble> {
        let login = BASE64.encode(format!("api:{key}").as_bytes());
        let body = json!({ "query": query, "variables": variables }).to_string();
        let sent = self
            .agent
            .post(format!("{}/graphql", base.trim_end_matches('/')))
            .header("authorization", format!("Basic {login}"))
            .header("content-type", "application/json")
            .send(body);
        let mut answer = sent.map_err(|error| self.away(&error))?;
        let status = answer.status().as_u16();
        if status == 429 {
            let wait = seconds(&answer, "retry-after")
                .or_else(|| seconds(&answer, "ratelimit-reset"))
                .unwrap_or(USUAL_WAIT);
            self.rest_for(wait);
            return Err(Trouble::Limited(wait.min(LONGEST_WAIT)));
        }
        // The last request that it grants is not waited for.
        if header(&answer, "ratelimit-remaining") == Some("0") {
            self.rest_for(seconds(&answer, "ratelimit-reset").unwrap_or(USUAL_WAIT));
        }
        match status {
            200..=299 => {}
            401 | 403 => return Err(Trouble::Refused(status, ": is WANDB_API_KEY right?")),
            _ => return Err(Trouble::Refused(status, "")),
        }
        let text = answer.body_mut().with_config().limit(MOST_BYTES).read_to_vec();
        let text = text.map_err(|error| self.away(&error))?;
        let mut found: Value = serde_json::from_slice(&text)
            .map_err(|_| Trouble::Malformed("it is no JSON".to_owned()))?;
        match found.get_mut("data").map(Value::take) {
            Some(data @ Value::Object(_)) => Ok(data),
            _ => {
                let said = found["errors"][0]["message"].as_str().unwrap_or("it has no `data`");
                Err(Trouble::Malformed(self.without_key(said)))
            }
        }
    }

    fn away(&self, error: &ureq::Error) -> Trouble {
        match error {
            ureq::Error::Timeout(_) => Trouble::Slow,
            ureq::Error::BodyExceedsLimit(_) => {
                Trouble::Malformed(format!("it is longer than {MOST_BYTES} bytes"))
            }
            error => Trouble::Away(self.without_key(&error.to_string())),
        }
    }

    /// Whatever the server says, the key is not told on.
    fn without_key(&self, text: &str) -> String {
        let text: String = text.chars().take(300).collect();
        match &self.key {
            Some(key) => text.replace(key.as_str(), "..."),
            None => text,
        }
    }
}

fn header<'a, B>(answer: &'a Response<B>, name: &str) -> Option<&'a str> {
    answer.headers().get(name)?.to_str().ok().map(str::trim)
}

fn seconds<B>(answer: &Response<B>, name: &str) -> Option<Duration> {
    let seconds: f64 = header(answer, name)?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
