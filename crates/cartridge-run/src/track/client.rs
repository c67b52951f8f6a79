//! The HTTP of a W&B server.
//!
//! The key is sent to the server that it is asked for and is in nothing that is said here, not even
//! where the server quotes it. Redirects are not followed. Every request has its time.

use std::fmt;
use std::time::Duration;

use data_encoding::BASE64;
use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Response;

/// The largest answer that is read.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// How long a server is left alone when it refuses and does not say for how long.
pub const USUAL_WAIT: Duration = Duration::from_secs(30);

/// The longest that a server is left alone, whatever it says.
pub const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);

/// What went wrong with the W&B server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// Nobody knows which server, or there is no key.
    #[error("{0}")]
    NotConfigured(&'static str),
    /// It could not be reached.
    #[error("the W&B server cannot be reached: {0}")]
    Away(String),
    /// It took too long.
    #[error("the W&B server did not answer within {} s", .0.as_secs())]
    Slow(Duration),
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
            Self::Slow(_) => "wandb_slow",
            Self::Refused(..) => "wandb_refused",
            Self::Limited(_) => "wandb_limited",
            Self::Malformed(_) => "wandb_malformed",
        }
    }

    /// Whether trying again may help.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::NotConfigured(_) => false,
            Self::Refused(status, _) => {
                !(400..500).contains(status) || matches!(status, 408 | 425 | 429)
            }
            Self::Away(_) | Self::Slow(_) | Self::Limited(_) | Self::Malformed(_) => true,
        }
    }
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setback {
    /// What went wrong.
    pub trouble: Trouble,
    /// When it may be tried again, where the server says so.
    pub wait: Option<Duration>,
    /// How long the server wants to be left alone by everybody.
    pub rest: Option<Duration>,
}

impl From<Trouble> for Setback {
    fn from(trouble: Trouble) -> Self {
        Self { trouble, wait: None, rest: None }
    }
}

/// What a server answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Its words.
    pub body: Value,
    /// How long it wants to be left alone from now on.
    pub rest: Option<Duration>,
}

/// Speaks to W&B servers with a key.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    key: String,
    patience: Duration,
}

impl fmt::Debug for Client {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("patience", &self.patience).finish_non_exhaustive()
    }
}

impl Client {
    /// One that gives a server `patience` to answer.
    pub fn new(key: &str, patience: Duration) -> Self {
        let config = Agent::config_builder()
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .user_agent("cartridge")
            .build();
        Self { agent: config.into(), key: key.to_owned(), patience }
    }

    /// The same with less patience.
    pub fn within(&self, patience: Duration) -> Self {
        Self { patience: self.patience.min(patience), ..self.clone() }
    }

    /// Asks a server by GraphQL; the answer is its `data`.
    pub fn query(&self, base: &str, query: &str, variables: &Value) -> Result<Reply, Setback> {
        let body = json!({ "query": query, "variables": variables }).to_string();
        let mut reply = self.post(&format!("{}/graphql", base.trim_end_matches('/')), body)?;
        match reply.body.get_mut("data").map(Value::take) {
            Some(data @ Value::Object(_)) => Ok(Reply { body: data, ..reply }),
            _ => {
                let said = &reply.body["errors"][0]["message"];
                let said = said.as_str().unwrap_or("it has no `data`");
                Err(Trouble::Malformed(self.without_key(said)).into())
            }
        }
    }

    /// Posts JSON, and is answered with JSON.
    pub fn post(&self, url: &str, body: String) -> Result<Reply, Setback> {
        let login = BASE64.encode(format!("api:{}", self.key).as_bytes());
        let request = self.agent.post(url).config().timeout_global(Some(self.patience)).build();
        let sent = request
            .header("authorization", format!("Basic {login}"))
            .header("content-type", "application/json")
            .send(body);
        let mut answer = sent.map_err(|error| self.away(&error))?;
        let status = answer.status().as_u16();
        let wait = seconds(&answer, "retry-after");
        let reset = seconds(&answer, "ratelimit-reset");
        if status == 429 {
            let wait = wait.or(reset).unwrap_or(USUAL_WAIT);
            let trouble = Trouble::Limited(wait);
            return Err(Setback { trouble, wait: Some(wait), rest: Some(wait) });
        }
        // The last request that it grants is not waited for.
        let rest = (header(&answer, "ratelimit-remaining") == Some("0"))
            .then(|| reset.unwrap_or(USUAL_WAIT));
        let trouble = match status {
            200..=299 => None,
            401 | 403 => Some(Trouble::Refused(status, ": is WANDB_API_KEY right?")),
            _ => Some(Trouble::Refused(status, "")),
        };
        if let Some(trouble) = trouble {
            return Err(Setback { trouble, wait: wait.or(rest), rest });
        }
        let text = answer.body_mut().with_config().limit(MOST_BYTES).read_to_vec();
        let text = text.map_err(|error| self.away(&error))?;
        let body = serde_json::from_slice(&text)
            .map_err(|_| Trouble::Malformed("it is no JSON".to_owned()))?;
        Ok(Reply { body, rest })
    }

    fn away(&self, error: &ureq::Error) -> Trouble {
        match error {
            ureq::Error::Timeout(_) => Trouble::Slow(self.patience),
            ureq::Error::BodyExceedsLimit(_) => {
                Trouble::Malformed(format!("it is longer than {MOST_BYTES} bytes"))
            }
            error => Trouble::Away(self.without_key(&error.to_string())),
        }
    }

    /// Whatever the server says, the key is not told on.
    fn without_key(&self, text: &str) -> String {
        let text: String = text.chars().take(300).collect();
        text.replace(self.key.as_str(), "...")
    }
}

fn header<'a, B>(answer: &'a Response<B>, name: &str) -> Option<&'a str> {
    answer.headers().get(name)?.to_str().ok().map(str::trim)
}

fn seconds<B>(answer: &Response<B>, name: &str) -> Option<Duration> {
    let seconds: f64 = header(answer, name)?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok().map(|wait| wait.min(LONGEST_WAIT))
}
