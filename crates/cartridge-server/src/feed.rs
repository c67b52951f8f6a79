//! What happens in the lab, from the ticker to every live reader.
//!
//! One thread takes in the run folders a few times a second. A message is made once, put into
//! words once, and kept for a while in a [`ring`] that all readers share; a [`reader`] is hardly
//! more than a place in it. Whoever is too far behind for the ring reads from the index, where
//! every message has its number. So a slow reader slows nobody and costs no memory, nothing is
//! dropped, and a reader that comes back with its last number goes on without gap or duplicate.

pub mod reader;
pub mod ring;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cartridge_run::Lab;
use cartridge_run::lab::FeedPage;
use tokio::sync::watch;

use self::reader::Shared;
use self::ring::Ring;

/// Four updates a second: often enough to look live, seldom enough to cost nothing.
const TICK: Duration = Duration::from_millis(250);

/// Messages are made for so long after the last reader has left: most come back soon, many at
/// once, and then find them ready.
const LINGER: Duration = Duration::from_secs(60);

/// A sign of life this often keeps proxies from closing a quiet connection, and tells readers from
/// a lab that has become unreachable. The web app knows it as `SIGN_OF_LIFE_MS`.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// The sending side, shared by all handlers.
#[derive(Clone, Debug)]
pub struct Feed {
    ring: Arc<Mutex<Ring>>,
    /// Changes whenever the ring does.
    turns: watch::Sender<u64>,
    closing: watch::Sender<bool>,
    shared: Arc<Shared>,
    /// When the runs were last taken in.
    ticked: Arc<Mutex<Option<Instant>>>,
    /// A reader to whom nothing was said for so long is given a sign of life.
    pub(crate) sign_of_life: Duration,
}

impl Feed {
    /// A feed that nothing is sent to yet.
    pub fn new() -> Self {
        Self {
            ring: Arc::default(),
            turns: watch::Sender::new(0),
            closing: watch::Sender::new(false),
            shared: Arc::default(),
            ticked: Arc::default(),
            sign_of_life: SIGN_OF_LIFE,
        }
    }

    /// Starts the thread that ticks the lab; it ends with [`Self::close`].
    pub fn start(&self, lab: Arc<Lab>) -> thread::JoinHandle<()> {
        let feed = self.clone();
        thread::spawn(move || {
            let mut failing = false;
            let mut last_heard: Option<Instant> = None;
            while !*feed.closing.borrow() {
                if feed.turns.receiver_count() > 0 {
                    last_heard = Some(Instant::now());
                }
                let ticked = if last_heard.is_some_and(|last| last.elapsed() < LINGER) {
                    lab.tick().map(|page| feed.publish(page))
                } else {
                    // There is nobody to tell.
                    lab.tick_unheard().map(|newest| feed.pass_over(newest))
                };
                if ticked.is_ok() {
                    *feed.ticked.lock().unwrap_or_else(PoisonError::into_inner) =
                        Some(Instant::now());
                }
                match ticked {
                    Ok(()) if std::mem::take(&mut failing) => {
                        tracing::info!("the runs are taken in again");
                    }
                    // Said once, not four times a second: a full disk stays full for a while.
                    Err(error) if !failing => {
                        failing = true;
                        tracing::error!(%error, "cannot take in the runs; trying on");
                    }
                    Ok(()) | Err(_) => {}
                }
                // With much to catch up on, only as long as others need to get a turn.
                let is_behind = !failing && lab.is_behind();
                thread::sleep(if is_behind { TICK / 10 } else { TICK });
            }
        })
    }

    /// How long ago the runs were last taken in, if ever.
    pub fn since_tick(&self) -> Option<Duration> {
        let ticked = *self.ticked.lock().unwrap_or_else(PoisonError::into_inner);
        ticked.map(|at| at.elapsed())
    }

    /// Tells all readers.
    pub(crate) fn publish(&self, page: FeedPage) {
        if page.upto > page.after {
            self.ring().push(page);
            self.turns.send_modify(|turn| *turn += 1);
        }
    }

    /// Something happened that no message was made of.
    fn pass_over(&self, newest: Option<u64>) {
        if let Some(newest) = newest {
            self.ring().pass_over(newest);
            self.turns.send_modify(|turn| *turn += 1);
        }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Becomes true when the server ends, so that live streams end too.
    pub fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Ends the ticker and all live streams.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }
}

impl Default for Feed {
    fn default() -> Self {
        Self::new()
    }
}
