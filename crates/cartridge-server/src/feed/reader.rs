//! One live connection: a place in the feed.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::ws::Utf8Bytes;
use cartridge_run::lab::FeedPosition;
use cartridge_run::store::RunId;
use tokio::sync::{Mutex, watch};
use tokio::time::timeout_at;

use super::ring::{Found, Said, numbered, sse};
use crate::AppState;
use crate::api::stream::{self, FeedMessage};
use crate::error::ApiError;

/// Messages taken at once.
const PAGE: usize = 256;

/// Pages of the index that are kept for others who are behind, and for how long.
const PAGES: usize = 4;
const PAGE_AGE: Duration = Duration::from_secs(10);

/// First messages that are kept for others who come at the same time, and for how long.
const SNAPSHOTS: usize = 64;
const SNAPSHOT_AGE: Duration = Duration::from_secs(1);

/// What a reader wants to hear.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
    /// Everything, or everything about some runs.
    Lab(Option<BTreeSet<RunId>>),
    /// The metrics of a run.
    Metrics(RunId),
    /// The event log of a run.
    Events(RunId),
}

impl Topic {
    fn wants(&self, said: &Said) -> bool {
        match self {
            // Who follows a run hears of its evaluations, too.
            Self::Lab(only) => only.as_ref().is_none_or(|only| {
                [said.run_id(), said.evaluates()].into_iter().flatten().any(|id| only.contains(id))
            }),
            Self::Metrics(id) => said.run_id() == Some(id) && said.is_progress(),
            Self::Events(id) => {
                (said.run_id() == Some(id) && said.is_event())
                    || (said.evaluates() == Some(id) && said.is_told_to_subject())
            }
        }
    }
}

/// What is said to a reader.
#[derive(Debug)]
pub enum Heard {
    /// How things stand, first of all.
    Snapshot(Arc<Snapshot>),
    /// What happened.
    Said(Arc<Said>),
    /// Nothing for a while: everything up to this number has been heard.
    Quiet(u64),
}

impl Heard {
    /// As a server-sent event.
    pub fn sse(&self, topic: &Topic) -> Bytes {
        match self {
            Self::Snapshot(snapshot) => snapshot.sse.clone(),
            Self::Said(said) => match topic {
                Topic::Metrics(_) => said.metrics().unwrap_or_else(|| said.sse()).clone(),
                Topic::Lab(_) | Topic::Events(_) => said.sse().clone(),
            },
            Self::Quiet(seq) => sse(*seq, FeedMessage::Alive.name(), &FeedMessage::Alive),
        }
    }

    /// As a message of a WebSocket.
    pub fn socket(&self) -> Utf8Bytes {
        match self {
            Self::Snapshot(snapshot) => snapshot.socket.clone(),
            Self::Said(said) => said.socket().clone(),
            Self::Quiet(seq) => numbered(*seq, &FeedMessage::Alive),
        }
    }
}

/// How things stood when the feed was at a number, in words.
#[derive(Debug)]
pub struct Snapshot {
    /// The number at which it is so.
    seq: u64,
    /// The number at which it was asked for.
    asked: u64,
    reset: bool,
    made: Instant,
    sse: Bytes,
    socket: Utf8Bytes,
}

/// What readers that come at the same time do not ask the lab for twice.
#[derive(Debug, Default)]
pub struct Shared {
    snapshots: Mutex<HashMap<Topic, Arc<Snapshot>>>,
    pages: Mutex<VecDeque<Page>>,
}

/// A stretch of the index.
#[derive(Debug)]
struct Page {
    after: u64,
    upto: u64,
    messages: Vec<Arc<Said>>,
    made: Instant,
}

/// One live connection.
#[derive(Debug)]
pub struct Reader {
    state: AppState,
    topic: Topic,
    place: Place,
    /// What has been taken and not yet heard.
    waiting: VecDeque<Arc<Said>>,
    /// When it is given a sign of life, if it hears nothing else until then.
    due: Instant,
    turns: watch::Receiver<u64>,
    closing: watch::Receiver<bool>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    /// The number with which it came.
    New(Option<u64>),
    /// The number that was heard last, and how often the numbers had been broken by then.
    At(u64, u64),
}

impl Reader {
    /// A reader that last heard `last_seq`.
    pub fn new(state: AppState, topic: Topic, last_seq: Option<u64>) -> Self {
        // Subscribed before anything is read, so that nothing falls in between.
        let (turns, closing) = (state.feed.turns.subscribe(), state.feed.closing());
        let (waiting, due) = (VecDeque::new(), Instant::now() + state.feed.sign_of_life);
        Self { state, topic, place: Place::New(last_seq), waiting, due, turns, closing }
    }

    /// What it wants to hear.
    pub fn topic(&self) -> &Topic {
        &self.topic
    }

    /// What comes next; nothing when the lab ends or cannot be asked. Nothing is lost when the
    /// future is dropped before it is ready.
    pub async fn next(&mut self) -> Option<Heard> {
        let heard = self.hear().await?;
        self.due = Instant::now() + self.state.feed.sign_of_life;
        Some(heard)
    }

    async fn hear(&mut self) -> Option<Heard> {
        loop {
            if let Some(said) = self.waiting.pop_front() {
                return Some(Heard::Said(said));
            }
            if *self.closing.borrow() {
                return None;
            }
            match self.place {
                Place::New(last) => {
                    if let Some(snapshot) = self.find_place(last).await? {
                        return Some(Heard::Snapshot(snapshot));
                    }
                }
                Place::At(seq, break_count) => {
                    // Marked before it is looked at: a change from here on is one to wake for.
                    self.turns.mark_unchanged();
                    let (found, broken) = {
                        let ring = self.state.feed.ring();
                        (ring.after(seq, PAGE), ring.break_count() != break_count)
                    };
                    match found {
                        _ if broken => self.place = Place::New(Some(seq)),
                        Found::Messages(messages, upto) => self.take(messages, upto, break_count),
                        Found::Older => {
                            let (messages, upto) = self.page_after(seq).await?;
                            self.take(messages, upto, break_count);
                            // When the index has nothing either, the ring will.
                            if upto == seq && self.wait().await? {
                                return Some(Heard::Quiet(seq));
                            }
                        }
                        Found::Nothing => {
                            if self.wait().await? {
                                return Some(Heard::Quiet(seq));
                            }
                        }
                    }
                }
            }
        }
    }

    fn take(&mut self, messages: Vec<Arc<Said>>, upto: u64, break_count: u64) {
        self.waiting.extend(messages.into_iter().filter(|said| self.topic.wants(said)));
        self.place = Place::At(upto, break_count);
    }

    /// Waits for something new; true when a sign of life is due, as it is, too, when there has only
    /// been news that this reader does not want.
    async fn wait(&mut self) -> Option<bool> {
        tokio::select! {
            changed = timeout_at(self.due.into(), self.turns.changed()) => Some(changed.is_err()),
            _ = self.closing.wait_for(|closing| *closing) => None,
        }
    }

    /// Finds out where to go on; a reader that must start afresh gets how things stand.
    async fn find_place(&mut self, last: Option<u64>) -> Option<Option<Arc<Snapshot>>> {
        let (known, break_count) = {
            let ring = self.state.feed.ring();
            (ring.position(last), ring.break_count())
        };
        let position = match known {
            Some(position) => position,
            None => self.state.ask(move |lab| lab.feed_position(last)).await.ok()?,
        };
        match position {
            FeedPosition::Known(seq) => {
                self.place = Place::At(seq, break_count);
                Some(None)
            }
            FeedPosition::Reset(seq) => {
                let snapshot = self.snapshot(seq, last.is_some()).await.ok()?;
                self.place = Place::At(snapshot.seq, break_count);
                Some(Some(snapshot))
            }
        }
    }

    /// How things stand at `seq` or after; readers that come together share it.
    async fn snapshot(&self, seq: u64, reset: bool) -> Result<Arc<Snapshot>, ApiError> {
        let mut kept = self.state.feed.shared.snapshots.lock().await;
        if let Some(snapshot) = kept.get(&self.topic)
            && snapshot.asked == seq
            && snapshot.reset == reset
            && snapshot.made.elapsed() < SNAPSHOT_AGE
        {
            return Ok(Arc::clone(snapshot));
        }
        let state = &self.state;
        let (at, sse, socket) = match &self.topic {
            Topic::Lab(only) => {
                let message = stream::snapshot(state, only.clone(), reset).await?;
                (seq, sse(seq, message.name(), &message), numbered(seq, &message))
            }
            // What is told in these must not be told again, so they say themselves when it is so.
            Topic::Metrics(id) => {
                let (at, message) = stream::run_snapshot(state, id.clone(), reset).await?;
                (at, sse(at, message.name(), &message), Utf8Bytes::default())
            }
            Topic::Events(id) => {
                let (at, message) = stream::event_snapshot(state, id.clone(), reset).await?;
                (at, sse(at, message.name(), &message), Utf8Bytes::default())
            }
        };
        if kept.len() >= SNAPSHOTS {
            kept.clear();
        }
        let snapshot =
            Arc::new(Snapshot { seq: at, asked: seq, reset, made: Instant::now(), sse, socket });
        kept.insert(self.topic.clone(), Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// Messages after `seq` from the index, and the number up to which they are all; readers that
    /// are equally far behind share them.
    async fn page_after(&self, seq: u64) -> Option<(Vec<Arc<Said>>, u64)> {
        // One at a time: a thousand readers that come back after a restart want the same pages.
        let mut pages = self.state.feed.shared.pages.lock().await;
        pages.retain(|page| page.made.elapsed() < PAGE_AGE);
        let kept = pages.iter().find(|page| (page.after..page.upto).contains(&seq));
        if let Some(page) = kept {
            let newer = page.messages.iter().filter(|said| said.seq() > seq).cloned();
            return Some((newer.collect(), page.upto));
        }
        let page = self.state.ask(move |lab| lab.feed_after(seq, PAGE)).await.ok()?;
        let messages: Vec<_> =
            page.messages.into_iter().map(|message| Arc::new(Said::new(message))).collect();
        if page.upto > page.after {
            if pages.len() >= PAGES {
                pages.pop_front();
            }
            let (messages, made) = (messages.clone(), Instant::now());
            pages.push_back(Page { after: page.after, upto: page.upto, messages, made });
        }
        Some((messages, page.upto))
    }
}
