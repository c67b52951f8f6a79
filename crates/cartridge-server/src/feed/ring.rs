//! The newest messages, made once and shared by all readers.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use axum::extract::ws::Utf8Bytes;
use cartridge_run::lab::{self, FeedNews, FeedPage, FeedPosition};
use cartridge_run::store::RunId;
use serde::Serialize;

use crate::api::stream::{FeedMessage, RunMessage};

/// The most messages that are kept: some minutes of a busy lab.
const MOST_MESSAGES: usize = 4096;

/// About the most bytes that they may take; a flood of rows makes long messages.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// A message, and its words in every form that somebody has asked for.
#[derive(Debug)]
pub struct Said {
    message: lab::FeedMessage,
    sse: OnceLock<Bytes>,
    socket: OnceLock<Utf8Bytes>,
    metrics: OnceLock<Bytes>,
}

impl Said {
    /// A message that nobody has asked for yet.
    pub fn new(message: lab::FeedMessage) -> Self {
        let (sse, socket, metrics) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { message, sse, socket, metrics }
    }

    /// Its place in the one sequence.
    pub fn seq(&self) -> u64 {
        self.message.seq
    }

    /// The run that it is about; none where it is about the lab.
    pub fn run_id(&self) -> Option<&RunId> {
        self.message.run_id.as_ref()
    }

    /// The run that it evaluates.
    pub fn evaluates(&self) -> Option<&RunId> {
        self.message.evaluates.as_ref()
    }

    /// Whether it is a line of an evaluation that matters to who looks at the run it measures.
    pub fn is_told_to_subject(&self) -> bool {
        matches!(&self.message.news, FeedNews::Event(_, line) if lab::is_told(&line.event))
    }

    /// Whether it says how the run got on.
    pub fn is_progress(&self) -> bool {
        matches!(self.message.news, FeedNews::Progress(..))
    }

    /// Whether it is a line of the run's event log.
    pub fn is_event(&self) -> bool {
        matches!(self.message.news, FeedNews::Event(..))
    }

    /// As a server-sent event of the whole lab.
    pub fn sse(&self) -> &Bytes {
        self.sse.get_or_init(|| {
            let message = FeedMessage::from(&self.message);
            sse(self.seq(), message.name(), &message)
        })
    }

    /// As a message of the WebSocket: the same with its number inside.
    pub fn socket(&self) -> &Utf8Bytes {
        self.socket.get_or_init(|| numbered(self.seq(), &FeedMessage::from(&self.message)))
    }

    /// As a server-sent event of the run's metrics; nothing when it is about something else.
    pub fn metrics(&self) -> Option<&Bytes> {
        let FeedNews::Progress(view, lines) = &self.message.news else { return None };
        Some(self.metrics.get_or_init(|| {
            let message = RunMessage::progress(view, lines);
            sse(self.seq(), message.name(), &message)
        }))
    }

    /// About how much memory it takes with its words.
    fn n_bytes(&self) -> usize {
        let lines = match &self.message.news {
            FeedNews::Progress(_, lines) => &lines[..],
            FeedNews::Event(..) | FeedNews::Alert { .. } | FeedNews::Deleted => &[],
        };
        let rows = lines
            .iter()
            .map(|line| 256 + 160 * line.values.len() + 300 * line.episodes.episode.len());
        8 * 1024 + rows.sum::<usize>()
    }
}

/// A server-sent event.
pub fn sse(seq: u64, name: &str, message: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(message).expect("a message is plain data");
    format!("id: {seq}\nevent: {name}\ndata: {data}\n\n").into()
}

/// A message with its number inside.
pub fn numbered(id: u64, message: &impl Serialize) -> Utf8Bytes {
    #[derive(Serialize)]
    struct Numbered<'a, T> {
        id: u64,
        #[serde(flatten)]
        message: &'a T,
    }
    let text = serde_json::to_string(&Numbered { id, message }).expect("a message is plain data");
    text.into()
}

/// The newest messages, without a gap.
#[derive(Debug, Default)]
pub struct Ring {
    /// Everything after this number, up to `upto`, is here.
    after: u64,
    /// The newest number; nothing before the first message.
    upto: Option<u64>,
    messages: VecDeque<Arc<Said>>,
    n_bytes: usize,
    /// Rises when the numbers do not go on where they were: readers must ask where they stand.
    break_count: u64,
}

/// What the ring has for a reader.
#[derive(Debug)]
pub enum Found {
    /// These, which are all up to the number.
    Messages(Vec<Arc<Said>>, u64),
    /// Nothing that is new.
    Nothing,
    /// Only what is newer: the rest is in the index.
    Older,
}

impl Ring {
    /// Adds what has just happened and forgets the oldest.
    pub fn push(&mut self, page: FeedPage) {
        if self.upto != Some(page.after) {
            self.pass_over(page.after);
        }
        for message in page.messages {
            let said = Said::new(message);
            self.n_bytes += said.n_bytes();
            self.messages.push_back(Arc::new(said));
        }
        self.upto = Some(page.upto);
        while self.messages.len() > MOST_MESSAGES || self.n_bytes > MOST_BYTES {
            let Some(oldest) = self.messages.pop_front() else { break };
            self.n_bytes -= oldest.n_bytes();
            self.after = oldest.seq();
        }
    }

    /// Begins anew after `newest`.
    pub fn pass_over(&mut self, newest: u64) {
        let break_count = self.break_count + 1;
        *self = Self { after: newest, upto: Some(newest), break_count, ..Self::default() };
    }

    /// How often the numbers did not go on where they were.
    pub fn break_count(&self) -> u64 {
        self.break_count
    }

    /// Where a reader that last heard `seq` stands, as far as the ring knows.
    pub fn position(&self, seq: Option<u64>) -> Option<FeedPosition> {
        let newest = self.upto?;
        match seq {
            None => Some(FeedPosition::Reset(newest)),
            Some(seq) if (self.after..=newest).contains(&seq) => Some(FeedPosition::Known(seq)),
            Some(_) => None,
        }
    }

    /// Up to `most` messages after `seq`.
    pub fn after(&self, seq: u64, most: usize) -> Found {
        let Some(newest) = self.upto else { return Found::Older };
        if seq >= newest {
            return Found::Nothing;
        }
        if seq < self.after {
            return Found::Older;
        }
        let first = self.messages.partition_point(|said| said.seq() <= seq);
        let found: Vec<_> = self.messages.range(first..).take(most).cloned().collect();
        let is_all = first + found.len() == self.messages.len();
        let upto = match found.last() {
            Some(last) if !is_all => last.seq(),
            _ => newest,
        };
        Found::Messages(found, upto)
    }
}
