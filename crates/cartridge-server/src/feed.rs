//! What happens in the lab, from the ticker to every live reader.
//!
//! One thread takes in the run folders a few times a second and hands each message to all
//! readers. A reader that falls behind is not waited for: it notices, and catches up from the
//! index, where every message has its number. So a slow reader slows nobody, nothing is dropped,
//! and a reader that comes back with its last number goes on without gap or duplicate.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use cartridge_run::Lab;
use cartridge_run::lab::FeedMessage;
use tokio::sync::{broadcast, watch};

/// Four updates a second: often enough to look live, seldom enough to cost nothing.
const TICK: Duration = Duration::from_millis(250);

/// Messages that a reader may be behind before it must catch up from the index.
const BACKLOG: usize = 1024;

/// The sending side, shared by all handlers.
#[derive(Clone, Debug)]
pub struct Feed {
    sender: broadcast::Sender<Arc<FeedMessage>>,
    closing: watch::Sender<bool>,
}

impl Feed {
    /// A feed that nothing is sent to yet.
    pub fn new() -> Self {
        Self { sender: broadcast::channel(BACKLOG).0, closing: watch::Sender::new(false) }
    }

    /// Starts the thread that ticks the lab; it ends with [`Self::close`].
    pub fn start(&self, lab: Arc<Lab>) -> thread::JoinHandle<()> {
        let feed = self.clone();
        thread::spawn(move || {
            let mut failing = false;
            while !*feed.closing.borrow() {
                let ticked = match feed.sender.receiver_count() {
                    // Without readers there is nobody to tell.
                    0 => lab.tick_unheard().map(|()| Vec::new()),
                    _ => lab.tick(),
                };
                match ticked {
                    Ok(messages) => {
                        if std::mem::take(&mut failing) {
                            tracing::info!("the runs are taken in again");
                        }
                        for message in messages {
                            _ = feed.sender.send(Arc::new(message));
                        }
                    }
                    // Said once, not four times a second: a full disk stays full for a while.
                    Err(error) if !failing => {
                        failing = true;
                        tracing::error!(%error, "cannot take in the runs; trying on");
                    }
                    Err(_) => {}
                }
                // With much to catch up on, only as long as others need to get a turn.
                let is_behind = !failing && lab.is_behind();
                thread::sleep(if is_behind { TICK / 10 } else { TICK });
            }
        })
    }

    /// Messages from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<FeedMessage>> {
        self.sender.subscribe()
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
