//! Films of the evaluations of a training, made beside it.
//!
//! The camera is a thread below all others: a training never waits for it. While it makes one film
//! it takes no other, and after each it rests for nine times as long as that took, so that it costs
//! a tenth of a core at most. Only the last evaluation of a run is always filmed.

use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cartridge_games::env::Actions;
use cartridge_games::registry::make_env;
use serde_json::{Map, Value};

use crate::error::Result;
use crate::film::{Reel, Take};

/// The longest film: enough for a whole episode of most environments, and two seconds of work.
const MOST_SECONDS: u32 = 20;

/// How far below other threads it stands: as far as can be.
const NICENESS: i32 = 19;

/// How much longer than a film took it rests.
const REST: u32 = 9;

/// An episode to be filmed.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// Environment steps of the policy that played it.
    pub(crate) step: u64,
    /// What the episode was reset with.
    pub(crate) seed: u64,
    /// What was done in it.
    pub(crate) actions: Actions,
}

/// A film that was made, or why not.
#[derive(Debug)]
pub(crate) struct Made {
    /// Environment steps of the policy in it.
    pub(crate) step: u64,
    /// The file.
    pub(crate) film: Result<Vec<u8>>,
}

/// The thread that makes films.
#[derive(Debug)]
pub(crate) struct Camera {
    wanted: SyncSender<(Scenario, bool)>,
    made: Receiver<Made>,
    worker: JoinHandle<()>,
}

impl Camera {
    /// A camera for episodes of an environment.
    pub(crate) fn start(env_id: &str, options: &Map<String, Value>) -> Self {
        let (wanted, queue) = mpsc::sync_channel::<(Scenario, bool)>(0);
        let (send, made) = mpsc::channel();
        let (env_id, options) = (env_id.to_owned(), options.clone());
        let worker = thread::spawn(move || {
            // On Linux this holds for the calling thread alone.
            _ = rustix::process::nice(NICENESS);
            let mut rests_until = Instant::now();
            while let Some((scenario, is_last)) = next(&queue, rests_until) {
                let began = Instant::now();
                let film = shoot(&env_id, &options, &scenario);
                if send.send(Made { step: scenario.step, film }).is_err() || is_last {
                    return;
                }
                rests_until = Instant::now() + began.elapsed() * REST;
            }
        });
        Self { wanted, made, worker }
    }

    /// Offers an episode; a camera that is busy or rests does not take it.
    pub(crate) fn offer(&self, scenario: Scenario) {
        match self.wanted.try_send((scenario, false)) {
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }
    }

    /// The films that were made since.
    pub(crate) fn take(&self) -> Vec<Made> {
        self.made.try_iter().collect()
    }

    /// Films the last episode, and returns all films that are left, when they are made.
    pub(crate) fn finish(self, last: Scenario) -> Vec<Made> {
        let Self { wanted, made, worker } = self;
        // It takes it when it is done with the one before.
        _ = wanted.send((last, true));
        drop(wanted);
        let left = made.iter().collect();
        _ = worker.join();
        left
    }
}

/// The next episode that is taken. One that is offered while it rests goes by.
fn next(queue: &Receiver<(Scenario, bool)>, rests_until: Instant) -> Option<(Scenario, bool)> {
    loop {
        let left = rests_until.saturating_duration_since(Instant::now());
        if left == Duration::ZERO {
            return queue.recv().ok();
        }
        match queue.recv_timeout(left) {
            Ok((scenario, true)) => return Some((scenario, true)),
            Ok(_) | Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
        }
    }
}

fn shoot(env_id: &str, options: &Map<String, Value>, scenario: &Scenario) -> Result<Vec<u8>> {
    let Scenario { step, seed, actions } = scenario;
    let mut reel = Reel::new(make_env(env_id, options)?.spec().frames_per_second, MOST_SECONDS);
    let name = format!("after {step} steps");
    let take = Take { name: &name, seed: *seed, actions };
    reel.add_episode(env_id, options, take, &mut || true)?;
    reel.finish()
}

#[cfg(test)]
mod tests;
