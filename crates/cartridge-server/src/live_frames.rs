//! Live pictures of runs, only while somebody watches.
//!
//! A run that is watched has one [`Stage`]: what there is to see, made once for all who watch. A
//! viewer takes the newest picture at its own rate, which is nobody else's concern, and one that is
//! slow gets fewer, never older ones. When the last viewer leaves, the stage is taken down.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use cartridge_games::env::AnyAction;
use cartridge_games::game;
use cartridge_games::scene::Scene;
use cartridge_run::live::{ForeignFrames, Image, Moment, PixelFormat, Show, Source};
use cartridge_run::steer::{self, By};
use cartridge_run::store::{Command, RunId, RunKind, RunState, RunStatus};
use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use tokio::sync::{OnceCell, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until, timeout};
use utoipa::ToSchema;

use crate::AppState;
use crate::error::ApiError;

/// The highest rate of a viewer, in pictures a second.
pub const MAX_FPS: u32 = 30;

/// The largest message of a viewer.
pub const MAX_MESSAGE_BYTES: usize = 4096;

/// The rate of a viewer who has not said one.
const TRAINING_FPS: u32 = 12;
const EVALUATION_FPS: u32 = 15;

/// Width of pictures in pixels.
const JPEG_WIDTH: u32 = 640;

/// How long the end of an episode stays before the next begins.
const END: Duration = Duration::from_millis(500);

/// How often random play looks whether there is something better.
const LOOK: Duration = Duration::from_secs(1);

/// A trainer that could not be asked for pictures is asked again after this.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// A viewer that takes nothing for this long is gone.
const PATIENCE: Duration = Duration::from_secs(5);

/// Pictures between two pings, and pings that may be unanswered before no more are sent.
const PING_EVERY: u64 = 8;
const MAX_UNANSWERED: u64 = 3;

/// What a viewer may say.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FrameCommand {
    /// Pictures a second for this viewer, 1 to 30; 0 for a pause.
    #[schema(minimum = 0, maximum = 30)]
    pub fps: u32,
}

/// How a viewer wants its pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FrameFormat {
    /// A JSON text with everything.
    #[default]
    Scene,
    /// A JSON text about the picture, then the picture, as JPEG unless a trainer sent another.
    Jpeg,
}

/// A picture of what a run is doing.
#[derive(Debug, Serialize, ToSchema)]
pub struct LiveFrame {
    /// Where it comes from.
    pub source: FrameSource,
    /// Number of the episode in the run; none in random play.
    #[schema(required)]
    pub episode: Option<u64>,
    /// What a foreign trainer calls the episode.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub episode_id: Option<String>,
    /// Steps of the episode so far.
    pub step: u64,
    /// Rewards of the episode so far.
    pub reward: f64,
    /// Environment steps of the run when the episode ended; 0 where nobody knows.
    pub timestep: u64,
    /// The action that led here; none at the start, and where nobody knows.
    #[schema(required)]
    pub action: Option<AnyAction>,
    /// What is seen; none where it is more than a few numbers, or nobody knows.
    #[schema(required)]
    pub observation: Option<Vec<f32>>,
    /// The seats whose pieces lie where each action of a game is chosen, the lowest first, for people
    /// who cannot see the board; only of games.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Vec<usize>>>)]
    pub pieces: Option<Vec<Vec<game::Seat>>>,
    /// The picture as shapes; none where it comes as pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub scene: Option<Scene>,
    /// The picture as a `data:` URL, where a foreign trainer sends pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub image: Option<String>,
}

/// Why there is no picture of a foreign trainer, in the place of one.
#[derive(Debug, Serialize, ToSchema)]
pub struct FrameNotice {
    /// In a sentence.
    #[schema(example = "no frames: the trainer sends none")]
    pub notice: String,
}

/// Where a picture comes from.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FrameSource {
    /// Random play, before there is anything else.
    Preview,
    /// An episode of the training.
    Training,
    /// An episode of an evaluation.
    Evaluation,
    /// The trainer itself, which is not ours.
    Trainer,
}

impl LiveFrame {
    fn new(moment: &Moment, with_picture: bool) -> Self {
        let (scene, image) = match &moment.image {
            _ if !with_picture => (None, None),
            Image::Scene(scene) => (Some(scene.clone()), None),
            Image::Pixels(PixelFormat::Jpeg, text) => {
                (None, Some(format!("data:image/jpeg;base64,{text}")))
            }
            Image::Pixels(PixelFormat::Png, text) => {
                (None, Some(format!("data:image/png;base64,{text}")))
            }
        };
        Self {
            source: match moment.source {
                Source::Preview => FrameSource::Preview,
                Source::Training => FrameSource::Training,
                Source::Evaluation => FrameSource::Evaluation,
                Source::Trainer => FrameSource::Trainer,
            },
            episode: moment.episode,
            episode_id: moment.episode_id.clone(),
            step: moment.step,
            reward: moment.reward,
            timestep: moment.timestep,
            action: moment.action.clone(),
            observation: moment.observation.clone(),
            pieces: moment.pieces.clone(),
            scene,
            image,
        }
    }
}

/// A picture, in every form that some viewer has asked for.
#[derive(Debug)]
struct Picture {
    /// Its place on the stage, from 1.
    number: u64,
    moment: Moment,
    scene: OnceLock<Utf8Bytes>,
    about: OnceLock<Utf8Bytes>,
    pixels: OnceCell<Bytes>,
}

impl Picture {
    fn new(number: u64, moment: Moment) -> Self {
        let (scene, about) = (OnceLock::new(), OnceLock::new());
        Self { number, moment, scene, about, pixels: OnceCell::new() }
    }

    fn scene(&self) -> Utf8Bytes {
        self.scene.get_or_init(|| to_text(&LiveFrame::new(&self.moment, true))).clone()
    }

    fn about(&self) -> Utf8Bytes {
        self.about.get_or_init(|| to_text(&LiveFrame::new(&self.moment, false))).clone()
    }

    /// The picture as a file, made by whoever wants it first, off the event loop.
    async fn pixels(&self) -> Option<Bytes> {
        let make = async || {
            let image = self.moment.image.clone();
            let made = tokio::task::spawn_blocking(move || match image {
                Image::Scene(scene) => {
                    let height = cartridge_media::height_for(&scene, JPEG_WIDTH);
                    Some(cartridge_media::jpeg(&scene, JPEG_WIDTH, height))
                }
                Image::Pixels(_, text) => BASE64.decode(text.as_bytes()).ok(),
            });
            made.await.ok().flatten().map(Bytes::from).ok_or(())
        };
        self.pixels.get_or_try_init(make).await.ok().cloned()
    }
}

fn to_text(frame: &LiveFrame) -> Utf8Bytes {
    serde_json::to_string(frame).expect("a frame is plain data").into()
}

/// The runs that are watched.
#[derive(Clone, Debug, Default)]
pub struct LiveFrames {
    stages: Arc<Mutex<HashMap<RunId, Arc<Stage>>>>,
    n_dropped: Arc<AtomicU64>,
}

/// What is shown of one run.
#[derive(Debug)]
struct Stage {
    newest: watch::Sender<Option<Arc<Picture>>>,
    /// Why there is no picture of the trainer itself.
    notice: watch::Sender<Option<&'static str>>,
    /// The viewers with their rates.
    viewers: watch::Sender<HashMap<u64, u32>>,
    /// Why there is nothing to see.
    failed: watch::Sender<bool>,
}

impl Stage {
    /// Puts a picture up in the place of the last.
    fn put_up(&self, moment: Moment) {
        self.newest.send_modify(|newest| {
            let number = newest.as_ref().map_or(0, |last| last.number) + 1;
            *newest = Some(Arc::new(Picture::new(number, moment)));
        });
    }
}

/// A place before a stage, given back when dropped.
#[derive(Debug)]
struct Seat {
    stage: Arc<Stage>,
    number: u64,
}

impl Seat {
    fn set_fps(&self, fps: u32) {
        self.stage.viewers.send_modify(|viewers| _ = viewers.insert(self.number, fps));
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.stage.viewers.send_modify(|viewers| _ = viewers.remove(&self.number));
    }
}

impl LiveFrames {
    /// Pictures that viewers would have had the time for at their rates, and that were gone before
    /// their connections took them.
    pub fn n_dropped(&self) -> u64 {
        self.n_dropped.load(Ordering::Relaxed)
    }

    /// How many runs are watched.
    pub fn n_stages(&self) -> usize {
        self.stages().len()
    }

    /// Takes a place before the stage of a run, which is put up if need be.
    fn sit_down(&self, state: &AppState, id: &RunId, kind: RunKind, fps: u32) -> Seat {
        let mut stages = self.stages();
        let stage = stages.entry(id.clone()).or_insert_with(|| {
            let stage = Arc::new(Stage {
                newest: watch::Sender::new(None),
                notice: watch::Sender::new(None),
                viewers: watch::Sender::default(),
                failed: watch::Sender::new(false),
            });
            tokio::spawn(self.clone().run(state.clone(), id.clone(), kind, Arc::clone(&stage)));
            stage
        });
        let mut number = 0;
        stage.viewers.send_modify(|viewers| {
            number = viewers.keys().max().map_or(0, |last| last + 1);
            viewers.insert(number, fps);
        });
        Seat { stage: Arc::clone(stage), number }
    }

    /// Shows a run for as long as somebody watches.
    async fn run(self, state: AppState, id: RunId, kind: RunKind, stage: Arc<Stage>) {
        loop {
            let mut viewers = stage.viewers.subscribe();
            let mut closing = state.feed.closing();
            let shown = tokio::select! {
                shown = show(&state, &id, kind, &stage) => shown,
                () = async { _ = viewers.wait_for(HashMap::is_empty).await } => Ok(()),
                () = async { _ = closing.wait_for(|closing| *closing).await } => Ok(()),
            };
            if kind == RunKind::External {
                ask_for_frames(&state, &id, 0).await;
            }
            if let Err(error) = &shown {
                tracing::warn!(run = %id, %error, "there are no pictures");
                stage.failed.send_replace(true);
            }
            let mut stages = self.stages();
            // Somebody may have sat down meanwhile.
            if shown.is_err() || stage.viewers.borrow().is_empty() || *closing.borrow() {
                stages.remove(&id);
                return;
            }
        }
    }

    fn stages(&self) -> MutexGuard<'_, HashMap<RunId, Arc<Stage>>> {
        self.stages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts pictures of a run on the stage. It ends only when there can be none.
async fn show(state: &AppState, id: &RunId, kind: RunKind, stage: &Stage) -> Result<(), ApiError> {
    if kind == RunKind::External {
        return show_foreign(state, id, stage).await;
    }
    let mut show = open(state, id).await?;
    loop {
        show = play(show, stage).await?;
        sleep(END).await;
        show = apart(show, Show::begin).await?.0;
    }
}

async fn open(state: &AppState, id: &RunId) -> Result<Show, ApiError> {
    let id = id.clone();
    state.ask(move |lab| Show::open(lab.data(), &id)).await
}

/// Does something that reads files, off the event loop.
async fn apart<T: Send + 'static>(
    mut show: Show,
    work: impl FnOnce(&mut Show) -> cartridge_run::Result<T> + Send + 'static,
) -> Result<(Show, T), ApiError> {
    let done = tokio::task::spawn_blocking(move || {
        let done = work(&mut show)?;
        Ok::<_, cartridge_run::RunError>((show, done))
    });
    Ok(done.await.map_err(|error| ApiError::Internal(error.to_string()))??)
}

/// Plays an episode to its end, at the environment's own pace.
async fn play(mut show: Show, stage: &Stage) -> Result<Show, ApiError> {
    let mut clock = interval(Duration::from_secs(1) / show.steps_per_second().max(1));
    clock.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut viewers = stage.viewers.subscribe();
    let mut looked = Instant::now();
    stage.put_up(show.moment());
    loop {
        clock.tick().await;
        // Nobody looks while all viewers pause.
        let is_awake = |viewers: &HashMap<u64, u32>| viewers.values().any(|fps| *fps > 0);
        _ = viewers.wait_for(is_awake).await;
        if !show.advance() {
            return Ok(show);
        }
        stage.put_up(show.moment());
        if looked.elapsed() >= LOOK {
            looked = Instant::now();
            let is_outdated;
            (show, is_outdated) = apart(show, Show::is_outdated).await?;
            if is_outdated {
                return Ok(show);
            }
        }
    }
}

/// Passes on the pictures that a foreign trainer sends, and asks it for as many as the quickest
/// viewer wants. Until the first one there is random play, if the environment is one of ours, and a
/// notice that says why there is no more.
async fn show_foreign(state: &AppState, id: &RunId, stage: &Stage) -> Result<(), ApiError> {
    let mut preview = open(state, id).await.ok();
    let mut frames = ForeignFrames::new(&state.lab.data().run(id));
    let mut asked = None;
    let mut asked_at: Option<Instant> = None;
    let mut looked_at: Option<Instant> = None;
    let mut has_come = false;
    loop {
        let fps = stage.viewers.borrow().values().copied().max().unwrap_or(0);
        // A trainer that has not begun yet cannot be asked, so it is asked again.
        if asked != Some(fps) && asked_at.is_none_or(|last| last.elapsed() >= ASK_AGAIN) {
            asked_at = Some(Instant::now());
            if ask_for_frames(state, id, fps).await {
                (asked, asked_at) = (Some(fps), None);
            }
        }
        let looked = tokio::task::spawn_blocking(move || {
            let moment = frames.look();
            (frames, moment)
        });
        let moment;
        (frames, moment) = looked.await.map_err(|error| ApiError::Internal(error.to_string()))?;
        if let Some(moment) = moment {
            preview = None;
            has_come = true;
            stage.notice.send_replace(None);
            stage.put_up(moment);
        } else if let Some(show) = &mut preview {
            if !show.advance() {
                preview = Some(apart(preview.take().expect("it is there"), Show::begin).await?.0);
            } else {
                stage.put_up(show.moment());
            }
        }
        if !has_come && looked_at.is_none_or(|last| last.elapsed() >= LOOK) {
            looked_at = Some(Instant::now());
            let wanted = id.clone();
            let status = state.ask(move |lab| Ok(lab.run(&wanted)?.run.status)).await?;
            let word = why_no_frames(&status);
            stage.notice.send_if_modified(|said| said.replace(word) != Some(word));
        }
        sleep(Duration::from_secs(1) / fps.clamp(4, MAX_FPS)).await;
    }
}

/// Why a foreign trainer has sent no picture yet.
fn why_no_frames(status: &RunStatus) -> &'static str {
    let said = status.trainer.as_ref().is_some_and(|trainer| trainer.capabilities.is_some());
    match status.state() {
        RunState::Queued | RunState::Starting => "no frames yet: the trainer has not started",
        state if !state.is_active() => "no frames: the trainer sent none, and has ended",
        _ if said && !steer::says(status, "frames") => "no frames: the trainer sends none",
        _ => "no frames yet: the trainer has sent none",
    }
}

/// Tells a foreign trainer how often pictures are wanted; says whether it could be told. One that has
/// ended cannot, and its last picture stays.
async fn ask_for_frames(state: &AppState, id: &RunId, fps: u32) -> bool {
    let id = id.clone();
    let command = Command::Watch { fps: f64::from(fps) };
    state.ask(move |lab| lab.ask(&id, command, By::new("the lab"))).await.is_ok()
}

/// The rate of a viewer of a run of this kind who has not said one.
fn default_fps(kind: RunKind) -> u32 {
    match kind {
        RunKind::Eval => EVALUATION_FPS,
        RunKind::Train | RunKind::Human | RunKind::External => TRAINING_FPS,
    }
}

/// Why a viewer leaves.
enum End {
    /// It is gone, or takes nothing.
    Left,
    /// What it said makes no sense.
    Refused(String),
    /// There is nothing to see.
    Failed,
    /// The lab ends.
    Closing,
}

/// Shows a run to a viewer until it leaves.
pub async fn watch(
    mut socket: WebSocket,
    state: AppState,
    id: RunId,
    kind: RunKind,
    format: FrameFormat,
    fps: Option<u32>,
) {
    let fps = fps.unwrap_or_else(|| default_fps(kind)).min(MAX_FPS);
    let seat = state.frames.sit_down(&state, &id, kind, fps);
    let end = attend(&mut socket, &state, &seat, format, fps).await;
    drop(seat);
    let (code, reason) = match end {
        End::Left => return,
        End::Refused(reason) => (4003, reason),
        End::Failed => (4004, "there are no pictures of this run".to_owned()),
        End::Closing => (1001, "the lab ends".to_owned()),
    };
    // A control frame holds 125 bytes, two of them for the code.
    let reason: String = reason.chars().filter(char::is_ascii).take(120).collect();
    let bye = Message::Close(Some(CloseFrame { code, reason: reason.into() }));
    _ = timeout(PATIENCE, socket.send(bye)).await;
}

async fn attend(
    socket: &mut WebSocket,
    state: &AppState,
    seat: &Seat,
    format: FrameFormat,
    mut fps: u32,
) -> End {
    let mut newest = seat.stage.newest.subscribe();
    let mut notice = seat.stage.notice.subscribe();
    let mut failed = seat.stage.failed.subscribe();
    let mut closing = state.feed.closing();
    // What others have seen last is there at once.
    newest.mark_changed();
    notice.mark_changed();
    let (mut n_frames, mut n_pings, mut n_pongs) = (0_u64, 0_u64, 0_u64);
    let mut due = Instant::now();
    let mut last_sign = Instant::now();
    let mut last_number = None;
    loop {
        let is_near = n_pings - n_pongs < MAX_UNANSWERED;
        let next = async {
            sleep_until(due).await;
            newest.changed().await
        };
        tokio::select! {
            changed = next, if fps > 0 && is_near => {
                if changed.is_err() {
                    return End::Failed;
                }
                let Some(picture) = newest.borrow_and_update().clone() else { continue };
                let period = Duration::from_secs(1) / fps;
                let n_gone = last_number.replace(picture.number).map_or(0, |last: u64| {
                    let n_late = (due.elapsed().as_secs_f64() / period.as_secs_f64()) as u64;
                    picture.number.saturating_sub(last + 1).min(n_late)
                });
                state.frames.n_dropped.fetch_add(n_gone, Ordering::Relaxed);
                due = Instant::now().max(due + period);
                if send(socket, &picture, format).await.is_none() {
                    return End::Left;
                }
                n_frames += 1;
                if n_frames.is_multiple_of(PING_EVERY) {
                    n_pings += 1;
                    last_sign = Instant::now();
                    let ping = Message::Ping(n_pings.to_be_bytes().to_vec().into());
                    if !matches!(timeout(PATIENCE, socket.send(ping)).await, Ok(Ok(()))) {
                        return End::Left;
                    }
                }
            }
            Ok(()) = notice.changed() => {
                let word = *notice.borrow_and_update();
                let Some(word) = word else { continue };
                let words = FrameNotice { notice: word.to_owned() };
                let text = serde_json::to_string(&words).expect("a notice is plain data");
                let sent = timeout(PATIENCE, socket.send(Message::Text(text.into()))).await;
                if !matches!(sent, Ok(Ok(()))) {
                    return End::Left;
                }
            }
            said = socket.recv() => match said {
                Some(Ok(Message::Text(text))) => match serde_json::from_str(&text) {
                    Ok(FrameCommand { fps: wanted }) => {
                        fps = wanted.min(MAX_FPS);
                        due = Instant::now();
                        seat.set_fps(fps);
                    }
                    Err(error) => return End::Refused(error.to_string()),
                },
                Some(Ok(Message::Pong(bytes))) => {
                    if let Ok(number) = bytes[..].try_into().map(u64::from_be_bytes) {
                        n_pongs = number.min(n_pings).max(n_pongs);
                    }
                }
                Some(Ok(Message::Ping(_))) => {}
                Some(Ok(Message::Binary(_))) => {
                    return End::Refused("messages are JSON text".to_owned());
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return End::Left,
            },
            () = sleep_until(last_sign + PATIENCE), if !is_near => return End::Left,
            () = async { _ = failed.wait_for(|failed| *failed).await } => return End::Failed,
            () = async { _ = closing.wait_for(|closing| *closing).await } => return End::Closing,
        }
    }
}

async fn send(socket: &mut WebSocket, picture: &Picture, format: FrameFormat) -> Option<()> {
    let messages = match format {
        FrameFormat::Scene => vec![Message::Text(picture.scene())],
        FrameFormat::Jpeg => {
            // Pixels that make no sense are left out, and the viewer stays.
            let Some(pixels) = picture.pixels().await else { return Some(()) };
            vec![Message::Text(picture.about()), Message::Binary(pixels)]
        }
    };
    for message in messages {
        timeout(PATIENCE, socket.send(message)).await.ok()?.ok()?;
    }
    Some(())
}
