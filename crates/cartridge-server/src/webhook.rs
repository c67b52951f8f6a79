//! Alerts told to another program over HTTP.
//!
//! The address is in `data/lab.json` and nowhere else: no request can name one. Its host must be in
//! the list beside it, the host's name is looked up once and the connection goes to what was found,
//! and an address of this machine or of a private network is refused unless the host is listed for
//! that too. Redirects are not followed, no proxy is used, and what the other side says beyond its
//! status is not read.
//!
//! Telling is slow and may fail, so it has a thread of its own and a queue with a bound: the lab
//! never waits for it. What could not be told after a few attempts is given up, with a line in the
//! log; the alert itself stays where it is.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs as _};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread;
use std::time::Duration;

use cartridge_run::alert::News;
use cartridge_run::retention::{LabConfig, Webhook};
use cartridge_run::store::DataDir;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, config::Config};

/// Changes that wait to be told; more than these are not.
const MOST_WAITING: usize = 256;

/// How often telling is tried.
const ATTEMPTS: u32 = 5;

/// The pause before the second attempt; each further one is twice as long.
const PAUSE: Duration = Duration::from_secs(1);

/// What one attempt may take in all.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Why somebody was not told.
#[derive(Debug, thiserror::Error)]
enum Untold {
    /// The address is none.
    #[error("alerts.webhook.url in lab.json is no address like https://hooks.example/alerts")]
    BadAddress,
    /// The host is not in the list.
    #[error(
        "the host `{0}` of alerts.webhook.url is not in alerts.webhook.allow_hosts of lab.json"
    )]
    NotListed(String),
    /// The host is where others must not be sent to.
    #[error(
        "`{host}` is at {address}, on this machine or in a private network; if that is meant, add it to alerts.webhook.allow_private_hosts of lab.json"
    )]
    Private {
        /// The host.
        host: String,
        /// What its name leads to.
        address: IpAddr,
    },
    /// The other side did not take it.
    #[error("the answer had the status {0}")]
    Refused(u16),
    /// The other side could not be reached.
    #[error("{0}")]
    Away(String),
}

impl Untold {
    /// Whether trying again may help.
    fn is_passing(&self) -> bool {
        match self {
            Self::BadAddress | Self::NotListed(_) | Self::Private { .. } => false,
            Self::Refused(status) => *status >= 500 || matches!(status, 408 | 425 | 429),
            Self::Away(_) => true,
        }
    }
}

/// Whether an address is for everybody.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

/// IANA's registry of special addresses, without those that are globally reachable.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19));
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let inner = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    if let Some(v4) = address.to_ipv4_mapped() {
        return is_public_v4(v4);
    }
    match parts {
        // An address of the old kind within: by translation, and by 6to4.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => inner(high, low),
        // Only this eighth is given out, without what is for documents, tunnels and tests.
        [first, ..] if first & 0xe000 != 0x2000 => false,
        [0x2001, second, ..] if second < 0x0200 || second == 0x0db8 => false,
        [first, ..] => first != 0x3fff,
    }
}

/// Looks a name up once, and refuses what must not be reached.
#[derive(Debug)]
struct Lookup {
    may_be_private: bool,
}

impl Resolver for Lookup {
    fn resolve(
        &self,
        uri: &Uri,
        _config: &Config,
        _timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let host = uri.host().ok_or(ureq::Error::HostNotFound)?.to_owned();
        let port =
            uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let found: Vec<_> =
            (bare, port).to_socket_addrs().map_err(|_| ureq::Error::HostNotFound)?.collect();
        let mut addresses = self.empty();
        // One that must not be reached spoils the rest: a name that leads to both is a trap.
        if let Some(bad) = found.iter().find(|found| !self.may_be_private && !is_public(found.ip()))
        {
            return Err(ureq::Error::Other(Box::new(Untold::Private { host, address: bad.ip() })));
        }
        for address in found.into_iter().take(16) {
            addresses.push(address);
        }
        if addresses.is_empty() {
            return Err(ureq::Error::HostNotFound);
        }
        Ok(addresses)
    }
}

/// Tells once.
fn tell(webhook: &Webhook, url: &str, body: &str) -> Result<(), Untold> {
    let uri: Uri = url.parse().map_err(|_| Untold::BadAddress)?;
    let (Some("http" | "https"), Some(host)) = (uri.scheme_str(), uri.host()) else {
        return Err(Untold::BadAddress);
    };
    // What stands before an `@` is no host, and has no business here.
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(Untold::BadAddress);
    }
    let is_in = |hosts: &[String]| hosts.iter().any(|listed| listed.eq_ignore_ascii_case(host));
    if !is_in(&webhook.allow_hosts) {
        return Err(Untold::NotListed(host.to_owned()));
    }
    let config = Agent::config_builder()
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .proxy(None)
        .timeout_global(Some(TIMEOUT))
        .user_agent("cartridge")
        .build();
    let lookup = Lookup { may_be_private: is_in(&webhook.allow_private_hosts) };
    let agent = Agent::with_parts(config, DefaultConnector::default(), lookup);
    let sent = agent.post(url).header("content-type", "application/json").send(body);
    match sent {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => Err(Untold::Refused(answer.status().as_u16())),
        Err(ureq::Error::Other(error)) => Err(match error.downcast::<Untold>() {
            Ok(untold) => *untold,
            Err(error) => Untold::Away(error.to_string()),
        }),
        Err(error) => Err(Untold::Away(error.to_string())),
    }
}

/// Tells, and tries again where that may help.
fn tell_patiently(webhook: &Webhook, news: &News, pause: Duration) -> Result<(), Untold> {
    let Some(url) = &webhook.url else { return Ok(()) };
    let body = serde_json::to_string(news).expect("news are plain data");
    let mut pause = pause;
    let mut attempt = 1;
    loop {
        match tell(webhook, url, &body) {
            Err(error) if error.is_passing() && attempt < ATTEMPTS => {
                tracing::debug!(%error, attempt, "somebody could not be told of an alert yet");
                thread::sleep(pause);
                (pause, attempt) = (2 * pause, attempt + 1);
            }
            told => return told,
        }
    }
}

/// Where changes of alerts wait to be told.
#[derive(Debug)]
pub struct Outbox(SyncSender<News>);

impl Outbox {
    /// Starts the thread that tells. It ends with the outbox, after what it is about to tell; what
    /// waits then is not told.
    pub fn open(data: DataDir) -> Self {
        let (sender, receiver) = mpsc::sync_channel(MOST_WAITING);
        // Nobody waits for its end: a receiver that does not answer must not hold up the lab's.
        thread::spawn(move || deliver(&data, &receiver));
        Self(sender)
    }

    /// Leaves a change to be told.
    pub fn send(&self, news: News) {
        if let Err(TrySendError::Full(news)) = self.0.try_send(news) {
            tracing::warn!(alert = news.alert.id, "too much waits to be told; this is not");
        }
    }
}

fn deliver(data: &DataDir, waiting: &Receiver<News>) {
    for news in waiting {
        // Read each time, so that a change counts without a restart.
        let told = match LabConfig::read(data) {
            Ok(config) => tell_patiently(&config.alerts.webhook, &news, PAUSE)
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = told {
            // The address may hold a secret and is not logged.
            tracing::warn!(alert = news.alert.id, error, "the webhook was not told of an alert");
        }
    }
}

#[cfg(test)]
mod tests;
