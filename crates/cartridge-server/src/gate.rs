//! What stands before the routes besides the lock itself: limits, and answers that are kept.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use cartridge_run::clock::unix_now;
use cartridge_run::store::{Answers, DataDir};
use tokio::sync::Semaphore;

use crate::api::health::Readyz;
use crate::limits::{Buckets, Limits};
use crate::traffic::Traffic;

/// The state of the gate.
#[derive(Debug)]
pub struct Gate {
    /// How much may come in.
    pub limits: Limits,
    /// Failed logins by address.
    pub(crate) failures: Buckets<IpAddr>,
    /// Changes by the name of the token.
    pub(crate) mutations: Buckets<String>,
    /// Requests by the name of the token.
    pub(crate) requests: Buckets<String>,
    /// Room for live streams and WebSockets.
    pub(crate) streams: Arc<Semaphore>,
    answers: Mutex<Answers>,
    /// Requests that are being answered, by key, and what they ask.
    under_way: Mutex<HashMap<String, String>>,
    /// How long answers take.
    pub traffic: Traffic,
    /// Whether the lab could work when it was last asked.
    pub(crate) readiness: tokio::sync::Mutex<Option<(Instant, Readyz)>>,
}

impl Gate {
    /// A gate before a data folder.
    pub fn open(data: &DataDir, limits: Limits) -> cartridge_run::Result<Self> {
        Ok(Self {
            limits,
            failures: Buckets::new(limits.failures),
            mutations: Buckets::new(limits.mutations),
            requests: Buckets::new(limits.requests),
            streams: Arc::new(Semaphore::new(limits.streams)),
            answers: Mutex::new(Answers::open(data, unix_now())?),
            under_way: Mutex::default(),
            traffic: Traffic::default(),
            readiness: tokio::sync::Mutex::default(),
        })
    }

    pub(crate) fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn under_way(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
