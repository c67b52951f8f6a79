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
use cartridge_run::track::client::Client;
pub use cartridge_run::track::client::Trouble;
use serde_json::Value;

/// What one request may take in all.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Answers that are kept.
const MOST_KEPT: usize = 256;

/// After a failure the server is left alone for this long.
const PAUSE: Duration = Duration::from_secs(2);

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
    /// Who speaks to it, if there is a key.
    client: Option<Client>,
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
        let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        let client = key.map(|key| Client::new(&key, patience));
        Self { client, slots: Mutex::default(), rest: Mutex::default() }
    }

    /// Asks the server, or answers what is known. It may take as long as the server does: not for
    /// the event loop.
    pub fn ask(
        &self,
        source: &WandbSource,
        query: &str,
        variables: &Value,
    ) -> Result<Answer, Trouble> {
        let client = self.client.as_ref().ok_or(Trouble::NotConfigured(
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
                let asked = self.fetch(client, &source.base_url, query, variables);
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

    fn fetch(
        &self,
        client: &Client,
        base: &str,
        query: &str,
        variables: &Value,
    ) -> Result<Value, Trouble> {
        let asked = client.query(base, query, variables);
        let rest = match &asked {
            Ok(reply) => reply.rest,
            Err(setback) => setback.rest,
        };
        if let Some(rest) = rest {
            *held(&self.rest) = Some(Instant::now() + rest);
        }
        asked.map(|reply| reply.body).map_err(|setback| setback.trouble)
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
