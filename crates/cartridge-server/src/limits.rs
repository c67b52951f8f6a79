//! How much may come in, and how fast.
//!
//! | what | at most | answer beyond it |
//! |---|---|---|
//! | connections | [`Limits::connections`] | 503, and the connection is closed |
//! | of these, live streams and WebSockets | [`Limits::streams`] | 503 |
//! | time for the head of a request | [`Limits::head_patience`] | the connection is closed |
//! | time for its body | [`Limits::body_patience`] | 408 |
//! | length of an address | [`Limits::address_bytes`] | 414 |
//! | body | 1 MiB | 413 |
//! | failed logins of an address | [`Limits::failures`] | 429 |
//! | mutations of a token | [`Limits::mutations`] | 429 |
//! | requests of a token | [`Limits::requests`] | 429 |
//!
//! Lists are bounded where they are made.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What may come in.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Live streams and WebSockets at once. Fewer, so that there is always room to ask something.
    pub streams: usize,
    /// How long the head of a request may take, which is also how long a connection may idle.
    pub head_patience: Duration,
    /// How long the body of a request may take.
    pub body_patience: Duration,
    /// The longest address, with its query.
    pub address_bytes: usize,
    /// Failed logins of one address.
    pub failures: Pace,
    /// Changes by one token.
    pub mutations: Pace,
    /// Requests by one token.
    pub requests: Pace,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            streams: 3072,
            head_patience: Duration::from_secs(20),
            body_patience: Duration::from_secs(20),
            address_bytes: 8 * 1024,
            failures: Pace { burst: 20.0, per_second: 0.2 },
            mutations: Pace { burst: 500.0, per_second: 50.0 },
            requests: Pace { burst: 4000.0, per_second: 1000.0 },
        }
    }
}

/// So many at once, and then so many a second.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// How many at once.
    pub burst: f64,
    /// How fast they come back.
    pub per_second: f64,
}

/// Clients that are remembered at once; one that has been quiet is forgotten first.
const MOST_CLIENTS: usize = 10_000;

/// How much each client has left: a bucket each.
#[derive(Debug)]
pub struct Buckets<K> {
    pace: Pace,
    buckets: Mutex<HashMap<K, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl<K: Eq + Hash> Buckets<K> {
    /// Full buckets for everybody.
    pub fn new(pace: Pace) -> Self {
        Self { pace, buckets: Mutex::default() }
    }

    /// Takes one, or says how long to wait for it.
    pub fn take(&self, client: K, now: Instant) -> Result<(), Duration> {
        self.spend(client, now, 1.0)
    }

    /// Says how long to wait if there is none left, and takes nothing.
    pub fn look(&self, client: K, now: Instant) -> Result<(), Duration> {
        self.spend(client, now, 0.0)
    }

    fn spend(&self, client: K, now: Instant, cost: f64) -> Result<(), Duration> {
        let Pace { burst, per_second } = self.pace;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let refilled = |bucket: &Bucket| {
            let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
            (bucket.left + passed * per_second).min(burst)
        };
        if buckets.len() >= MOST_CLIENTS && !buckets.contains_key(&client) {
            buckets.retain(|_, bucket| refilled(bucket) < burst);
            if buckets.len() >= MOST_CLIENTS {
                // So many busy clients are one flood: whoever is new waits with them.
                return Err(Duration::from_secs_f64(1.0 / per_second));
            }
        }
        let bucket = buckets.entry(client).or_insert(Bucket { left: burst, at: now });
        let left = refilled(bucket);
        if left < 1.0 {
            *bucket = Bucket { left, at: now };
            return Err(Duration::from_secs_f64((1.0 - left) / per_second));
        }
        *bucket = Bucket { left: left - cost, at: now };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills_again() {
        let buckets = Buckets::new(Pace { burst: 3.0, per_second: 2.0 });
        let start = Instant::now();
        for _ in 0..3 {
            assert_eq!(buckets.take("a", start), Ok(()));
        }
        assert_eq!(buckets.take("a", start), Err(Duration::from_millis(500)));
        assert_eq!(buckets.look("a", start), Err(Duration::from_millis(500)));
        assert_eq!(buckets.take("b", start), Ok(()), "another has a bucket of its own");
        let later = start + Duration::from_millis(500);
        assert_eq!(buckets.look("a", later), Ok(()));
        assert_eq!(buckets.take("a", later), Ok(()));
        assert!(buckets.take("a", later).is_err());
        let much_later = start + Duration::from_secs(3600);
        for _ in 0..3 {
            assert_eq!(buckets.take("a", much_later), Ok(()));
        }
        assert!(buckets.take("a", much_later).is_err(), "no more than it holds");
    }

    #[test]
    fn so_many_clients_and_no_more_are_remembered() {
        let buckets = Buckets::new(Pace { burst: 2.0, per_second: 1.0 });
        let start = Instant::now();
        for client in 0..MOST_CLIENTS {
            assert_eq!(buckets.take(client, start), Ok(()));
        }
        assert!(buckets.take(MOST_CLIENTS, start).is_err());
        let later = start + Duration::from_secs(1);
        assert_eq!(buckets.take(MOST_CLIENTS, later), Ok(()), "the quiet ones are forgotten");
    }
}
