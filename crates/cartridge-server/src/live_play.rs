//! Environments that people play: the clock, the keys and the pictures.
//!
//! The environment runs here, at its own pace; the browser says which keys are held, when that
//! changes, and draws the newest picture. One that waits for decisions has no clock: the browser
//! says which of the legal actions is taken. A connection owns its session while it lasts and nothing
//! is left in memory after it: whoever comes back goes on from the files. What was done is kept
//! about once a second, off the event loop, so that no step waits for a disk.
//!
//! A slow reader never builds a queue. Only the newest picture waits to be sent, and how much is
//! under way is bounded by pings, which browsers answer by themselves.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use cartridge_games::env::AnyAction;
use cartridge_games::scene::Scene;
use cartridge_run::human::{Episode, Journal, Session};
use cartridge_run::store::{Event, RunId};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until, timeout};
use utoipa::ToSchema;

use crate::AppState;

/// The most that are played at once.
pub const MAX_PLAYS: usize = 16;

/// The largest message of a client.
pub const MAX_MESSAGE_BYTES: usize = 4096;

/// How often what was done is kept.
const KEEP: Duration = Duration::from_secs(1);

/// A session that nobody plays on for this long is put away; its page can ask for it again.
const IDLE: Duration = Duration::from_secs(10 * 60);

/// A client that takes nothing for this long is gone.
const PATIENCE: Duration = Duration::from_secs(5);

/// Pictures between two pings, and pings that may be unanswered before no more are sent.
const PING_EVERY: u64 = 8;
const MAX_UNANSWERED: u64 = 3;

/// The paces that can be chosen, as parts of the environment's own.
const SPEEDS: [f64; 2] = [0.5, 1.0];

/// What a client says.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum PlayCommand {
    /// These controls are held from now on.
    Hold {
        /// Their places in the environment's list, the one pressed last coming last.
        controls: Vec<usize>,
    },
    /// Take one step, where the world waits for a decision. What is not legal, or is said of
    /// another step, changes nothing.
    Act {
        /// Number of the action.
        action: usize,
        /// Steps of the episode that whoever decided has seen.
        step: u64,
    },
    /// Begin, or go on after a pause.
    Start {},
    /// Wait.
    Pause {},
    /// Begin the next episode, which waits for its start.
    Restart {
        /// The number given to `reset`; any when left out.
        #[serde(default)]
        seed: Option<u64>,
    },
    /// Play at another pace.
    Speed {
        /// 1 is the environment's own pace, 0.5 half of it.
        speed: f64,
    },
}

/// How an episode stands. Every message says everything, so that any can be left out.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlayFrame {
    /// Number of the episode in the session, from 1.
    pub episode: u32,
    /// The number given to `reset`.
    pub seed: u64,
    /// Whether time passes.
    pub phase: PlayPhase,
    /// 1 is the environment's own pace.
    pub speed: f64,
    /// Steps so far.
    pub step: u64,
    /// What was done last; none at the start.
    #[schema(required)]
    pub action: Option<AnyAction>,
    /// Reward of that.
    pub reward: f64,
    /// Rewards so far.
    pub total_reward: f64,
    /// Whether the task itself has ended.
    pub terminated: bool,
    /// Whether the time limit was reached.
    pub truncated: bool,
    /// The actions that may be taken now; none where the world goes on by itself.
    #[schema(required)]
    pub legal: Option<Vec<usize>>,
    /// What is seen, by the environment's `observation_names`; none where the world goes on by
    /// itself.
    #[schema(required)]
    pub observation: Option<Vec<f32>>,
    /// The picture.
    pub scene: Scene,
}

/// Whether time passes in an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlayPhase {
    /// It has not begun.
    Ready,
    /// It does, or the world waits for the next decision.
    Playing,
    /// It waits.
    Paused,
    /// The episode has ended.
    Over,
}

/// Why a connection ends. The code says whether to come back.
#[derive(Debug)]
enum End {
    /// The client is gone.
    Left,
    /// Another connection plays this session now.
    TakenOver,
    /// Nothing was done for long.
    Idle,
    /// What the client said makes no sense.
    Refused(String),
    /// The session cannot be read or kept.
    Failed(String),
    /// The lab ends.
    Closing,
}

impl End {
    fn frame(&self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Self::Left => return None,
            Self::TakenOver => (4001, "this session is played in another window"),
            Self::Idle => (4002, "nothing was done for a while"),
            Self::Refused(reason) => (4003, reason.as_str()),
            // The log says what; the reason is for whoever plays.
            Self::Failed(_) => {
                (4004, "this session cannot be read or kept; the lab's log says why")
            }
            Self::Closing => (1001, "the lab ends"),
        };
        // A control frame holds 125 bytes, two of them for the code.
        let reason: String = reason.chars().filter(char::is_ascii).take(120).collect();
        Some(CloseFrame { code, reason: reason.into() })
    }
}

/// Who plays what, so that a session has one player and the lab not too many.
#[derive(Clone, Debug, Default)]
pub struct LivePlays {
    seats: Arc<Mutex<HashMap<RunId, Seat>>>,
}

/// One session's.
#[derive(Debug)]
struct Seat {
    /// The number of the connection that plays; those before it leave.
    turn: watch::Sender<u64>,
    /// Held by whoever plays, until everything is kept.
    is_taken: Arc<tokio::sync::Mutex<()>>,
    /// Connections that play, leave or wait.
    n_connections: usize,
}

/// A place at a session, given back when dropped.
#[derive(Debug)]
pub struct Chair {
    plays: LivePlays,
    id: RunId,
    number: u64,
    turn: watch::Receiver<u64>,
    is_taken: Arc<tokio::sync::Mutex<()>>,
}

impl LivePlays {
    /// Takes over the session `id`; none when too many others are played.
    pub fn sit_down(&self, id: &RunId) -> Option<Chair> {
        let mut seats = self.seats();
        if !seats.contains_key(id) && seats.len() >= MAX_PLAYS {
            return None;
        }
        let seat = seats.entry(id.clone()).or_insert_with(|| Seat {
            turn: watch::Sender::new(0),
            is_taken: Arc::default(),
            n_connections: 0,
        });
        seat.n_connections += 1;
        let number = *seat.turn.borrow() + 1;
        seat.turn.send_replace(number);
        let (turn, is_taken) = (seat.turn.subscribe(), Arc::clone(&seat.is_taken));
        Some(Chair { plays: self.clone(), id: id.clone(), number, turn, is_taken })
    }

    fn seats(&self) -> MutexGuard<'_, HashMap<RunId, Seat>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Chair {
    /// Waits until somebody else sits down.
    async fn taken_over(&mut self) {
        // The sender lives as long as there is a chair.
        _ = self.turn.wait_for(|turn| *turn != self.number).await;
    }
}

impl Drop for Chair {
    fn drop(&mut self) {
        let mut seats = self.plays.seats();
        if let Some(seat) = seats.get_mut(&self.id) {
            seat.n_connections -= 1;
            if seat.n_connections == 0 {
                seats.remove(&self.id);
            }
        }
    }
}

/// Lets the client play until it leaves or has to.
pub async fn play(socket: WebSocket, state: AppState, chair: Chair) {
    let id = chair.id.clone();
    let (sink, stream) = socket.split();
    let (end, sink) = play_on(sink, stream, state, chair).await;
    if let End::Failed(error) = &end {
        tracing::error!(run = %id, error, "a session ends");
    }
    if let (Some(mut sink), Some(frame)) = (sink, end.frame()) {
        _ = timeout(PATIENCE, sink.send(Message::Close(Some(frame)))).await;
    }
}

type Sink = SplitSink<WebSocket, Message>;

async fn play_on(
    sink: Sink,
    stream: SplitStream<WebSocket>,
    state: AppState,
    mut chair: Chair,
) -> (End, Option<Sink>) {
    let is_taken = Arc::clone(&chair.is_taken);
    // Whoever played before has been told to leave, and keeps what was done first.
    let _seat = tokio::select! {
        seat = is_taken.lock() => seat,
        () = chair.taken_over() => return (End::TakenOver, Some(sink)),
    };
    let id = chair.id.clone();
    let (session, journal) = match state.ask(move |lab| lab.open_session(&id)).await {
        Ok(opened) => opened,
        Err(error) => return (End::Failed(error.to_string()), Some(sink)),
    };
    let phase = match session.episode() {
        episode if episode.is_over() => PlayPhase::Over,
        Episode { length: 0, .. } => PlayPhase::Ready,
        _ if session.is_real_time() => PlayPhase::Paused,
        // What waits for a decision needs no pause.
        _ => PlayPhase::Playing,
    };
    let (unanswered, answered) = watch::channel(0);
    let player = Player {
        clock: ticks(session.spec().frames_per_second, 1.0),
        session,
        keeper: Keeper { journal: Some(journal), under_way: None },
        phase,
        held: Vec::new(),
        speed: 1.0,
        idle_at: Instant::now() + IDLE,
        pongs: unanswered,
    };
    let (frames, mut newest) = watch::channel(player.frame());
    newest.mark_changed();
    let mut sender = tokio::spawn(send_frames(sink, newest, answered));
    let end = player.run(stream, &state, &mut chair, &frames, &mut sender).await;
    // Without frames to come the sender ends, unless it has.
    drop(frames);
    let sink = if sender.is_finished() { None } else { sender.await.ok().flatten() };
    (end, sink)
}

/// Sends the newest picture for as long as there is one and the client takes it.
async fn send_frames(
    mut sink: Sink,
    mut newest: watch::Receiver<Utf8Bytes>,
    mut answered: watch::Receiver<u64>,
) -> Option<Sink> {
    let (mut n_frames, mut n_pings) = (0_u64, 0_u64);
    while newest.changed().await.is_ok() {
        let is_near = |n: &u64| n_pings.saturating_sub(*n) < MAX_UNANSWERED;
        timeout(PATIENCE, answered.wait_for(is_near)).await.ok()?.ok()?;
        let frame = newest.borrow_and_update().clone();
        timeout(PATIENCE, sink.send(Message::Text(frame))).await.ok()?.ok()?;
        n_frames += 1;
        if n_frames.is_multiple_of(PING_EVERY) {
            n_pings += 1;
            let ping = Message::Ping(n_pings.to_be_bytes().to_vec().into());
            timeout(PATIENCE, sink.send(ping)).await.ok()?.ok()?;
        }
    }
    Some(sink)
}

/// A session with its clock.
struct Player {
    session: Session,
    keeper: Keeper,
    phase: PlayPhase,
    held: Vec<usize>,
    speed: f64,
    clock: Interval,
    idle_at: Instant,
    /// The last ping that was answered.
    pongs: watch::Sender<u64>,
}

impl Player {
    async fn run(
        mut self,
        mut stream: SplitStream<WebSocket>,
        state: &AppState,
        chair: &mut Chair,
        frames: &watch::Sender<Utf8Bytes>,
        sender: &mut JoinHandle<Option<Sink>>,
    ) -> End {
        let mut closing = state.feed.closing();
        let mut keep = interval(KEEP);
        keep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let end = loop {
            tokio::select! {
                _ = self.clock.tick(), if self.is_ticking() => {
                    self.session.step(&self.held);
                    if self.session.episode().is_over() {
                        self.phase = PlayPhase::Over;
                        if let Err(error) = self.keep().await {
                            break End::Failed(error);
                        }
                    }
                    frames.send_replace(self.frame());
                }
                message = stream.next() => match message {
                    Some(Ok(message)) => match self.hear(&message).await {
                        Ok(true) => _ = frames.send_replace(self.frame()),
                        Ok(false) => {}
                        Err(end) => break end,
                    },
                    Some(Err(_)) | None => break End::Left,
                },
                // A disk that is slow is not waited for: what was done is kept next time.
                _ = keep.tick(), if !self.keeper.is_busy() => {
                    if let Err(error) = self.keep().await {
                        break End::Failed(error);
                    }
                }
                _ = &mut *sender => break End::Left,
                () = chair.taken_over() => break End::TakenOver,
                () = sleep_until(self.idle_at), if !self.is_ticking() => {
                    break End::Idle;
                }
                () = async { _ = closing.wait_for(|closing| *closing).await } => {
                    break End::Closing;
                }
            }
        };
        match self.keep_all().await {
            Ok(()) => end,
            Err(error) => End::Failed(error),
        }
    }

    /// Does what a client says; tells whether there is something new to see.
    async fn hear(&mut self, message: &Message) -> Result<bool, End> {
        let text = match message {
            Message::Text(text) => text,
            Message::Pong(bytes) => {
                if let Ok(number) = bytes[..].try_into().map(u64::from_be_bytes) {
                    self.pongs.send_replace(number);
                }
                return Ok(false);
            }
            Message::Ping(_) => return Ok(false),
            Message::Close(_) => return Err(End::Left),
            Message::Binary(_) => return Err(End::Refused("messages are JSON text".to_owned())),
        };
        self.idle_at = Instant::now() + IDLE;
        match serde_json::from_str(text).map_err(|error| End::Refused(error.to_string()))? {
            PlayCommand::Hold { controls } => {
                self.held = controls;
                return Ok(false);
            }
            PlayCommand::Act { action, step } => {
                let is_seen = step == self.session.episode().length;
                if !is_seen || !self.session.act(action) {
                    return Ok(false);
                }
                self.phase = PlayPhase::Playing;
                if self.session.episode().is_over() {
                    self.phase = PlayPhase::Over;
                    self.keep_or_end().await?;
                }
            }
            // There is no clock to start or to stop.
            PlayCommand::Start {} | PlayCommand::Pause {} if !self.session.is_real_time() => {
                return Ok(false);
            }
            PlayCommand::Start {} => match self.phase {
                PlayPhase::Ready | PlayPhase::Paused => {
                    self.phase = PlayPhase::Playing;
                    self.clock.reset();
                }
                PlayPhase::Playing | PlayPhase::Over => return Ok(false),
            },
            PlayCommand::Pause {} => match self.phase {
                PlayPhase::Playing => {
                    self.phase = PlayPhase::Paused;
                    self.keep_or_end().await?;
                }
                _ => return Ok(false),
            },
            PlayCommand::Restart { seed } => {
                self.session.restart(seed);
                self.phase = PlayPhase::Ready;
                self.keep_or_end().await?;
            }
            PlayCommand::Speed { speed } => {
                if !SPEEDS.contains(&speed) {
                    return Err(End::Refused(format!("the speeds are {SPEEDS:?}")));
                }
                self.speed = speed;
                self.clock = ticks(self.session.spec().frames_per_second, speed);
                self.clock.reset();
            }
        }
        Ok(true)
    }

    /// Whether the clock makes the steps.
    fn is_ticking(&self) -> bool {
        self.phase == PlayPhase::Playing && self.session.is_real_time()
    }

    fn frame(&self) -> Utf8Bytes {
        let episode = self.session.episode();
        let waits = !self.session.is_real_time();
        let frame = PlayFrame {
            episode: episode.episode,
            seed: episode.seed,
            phase: self.phase,
            speed: self.speed,
            step: episode.length,
            action: self.session.last_action().cloned(),
            reward: self.session.reward(),
            total_reward: episode.total_reward,
            terminated: episode.terminated,
            truncated: episode.truncated,
            legal: waits.then(|| self.session.legal_actions()),
            observation: waits.then(|| self.session.observation().to_vec()),
            scene: self.session.scene(),
        };
        serde_json::to_string(&frame).expect("a frame is plain data").into()
    }

    /// Keeps what was done, and goes on meanwhile.
    async fn keep(&mut self) -> Result<(), String> {
        let news = self.session.take_news();
        if news.is_empty() { Ok(()) } else { self.keeper.keep(news).await }
    }

    async fn keep_or_end(&mut self) -> Result<(), End> {
        self.keep().await.map_err(End::Failed)
    }

    /// Keeps what was done, and waits for it.
    async fn keep_all(mut self) -> Result<(), String> {
        self.keep().await?;
        self.keeper.settle().await
    }
}

/// Ticks at a part of an environment's pace. A step that comes late is not made up for.
fn ticks(frames_per_second: u32, speed: f64) -> Interval {
    let mut ticks = interval(Duration::from_secs_f64(1.0 / (f64::from(frames_per_second) * speed)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    ticks
}

/// Writes off the event loop, one thing after the other.
struct Keeper {
    journal: Option<Journal>,
    under_way: Option<JoinHandle<cartridge_run::Result<Journal>>>,
}

impl Keeper {
    async fn keep(&mut self, events: Vec<Event>) -> Result<(), String> {
        self.settle().await?;
        let mut journal = self.journal.take().ok_or("a write failed before")?;
        self.under_way = Some(tokio::task::spawn_blocking(move || {
            journal.keep(&events)?;
            Ok(journal)
        }));
        Ok(())
    }

    fn is_busy(&self) -> bool {
        self.under_way.as_ref().is_some_and(|under_way| !under_way.is_finished())
    }

    /// Waits for what is being written.
    async fn settle(&mut self) -> Result<(), String> {
        if let Some(under_way) = self.under_way.take() {
            let written = under_way.await.map_err(|error| error.to_string())?;
            self.journal = Some(written.map_err(|error| error.to_string())?);
        }
        Ok(())
    }
}
