//! What a run is doing, as pictures.
//!
//! Every episode that was trained on is on disk, as its seed and its actions. So whoever watches
//! sees the newest of them stepped again, exactly, at the environment's own pace; when it ends,
//! the one that is newest by then. Of an evaluation, which plays faster than anybody can look, the
//! episodes are seen in their order. The trainer has no part in it and does not know. Before the
//! first episode has ended there is random play. A foreign trainer sends its own pictures: the
//! newest one is in `frame.json`.

use std::path::PathBuf;
use std::time::SystemTime;

use cartridge_games::env::{AnyAction, Env, EnvAction};
use cartridge_games::game::{Action, Seat};
use cartridge_games::registry::make_world;
use cartridge_games::scene::Scene;
use cartridge_games::seeds::{Stream, episode_seed};
use cartridge_store::{
    DataDir, EpisodeBody, EpisodeHead, EpisodeReader, Manifest, RunDir, RunId, RunKind,
};
use serde::Deserialize;

use crate::error::Result;

/// Observations of more numbers than this are left out: nobody reads them beside a picture that
/// tells the same, and a board of a game has thousands.
const MAX_OBSERVATION: usize = 32;

/// Where a picture comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Random play, before there is anything else.
    Preview,
    /// An episode of the training.
    Training,
    /// An episode of an evaluation.
    Evaluation,
    /// The trainer itself, which is not ours.
    Trainer,
}

/// One picture, and what belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// Where it comes from.
    pub source: Source,
    /// Number of the episode in the run; nothing in random play.
    pub episode: Option<u64>,
    /// What a foreign trainer calls the episode.
    pub episode_id: Option<String>,
    /// Steps of the episode so far.
    pub step: u64,
    /// Rewards of the episode so far.
    pub reward: f64,
    /// Environment steps of the run when the episode ended; 0 where nobody knows.
    pub timestep: u64,
    /// The action that led here; nothing at the start, and where nobody knows.
    pub action: Option<AnyAction>,
    /// What is seen, if that is no more than [`MAX_OBSERVATION`] numbers.
    pub observation: Option<Vec<f32>>,
    /// Whose pieces lie where each action of a game is chosen, the lowest first.
    pub pieces: Option<Vec<Vec<Seat>>>,
    /// The picture.
    pub image: Image,
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Image {
    /// As shapes.
    Scene(Scene),
    /// As pixels, in base64.
    Pixels(PixelFormat, String),
}

/// How pixels are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PixelFormat {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
}

/// The newest episode of a run, step by step.
#[derive(Debug)]
pub struct Show {
    env: Box<dyn Env>,
    episodes: EpisodeReader,
    source: Source,
    act: Act,
    action: Option<AnyAction>,
    observation: Vec<f32>,
    step: u64,
    reward: f64,
    is_over: bool,
}

#[derive(Debug)]
enum Act {
    Preview { number: u64, rng: fastrand::Rng },
    Episode(EpisodeHead, EpisodeBody),
}

impl Show {
    /// A show of what the run has recorded; it stands at the beginning of an episode.
    pub fn open(data: &DataDir, id: &RunId) -> Result<Self> {
        let dir = data.run(id);
        let manifest = dir.manifest()?;
        let options = manifest.config["env"].as_object().cloned().unwrap_or_default();
        let env = make_world(&manifest.env_id, &options)?;
        let mut show = Self {
            observation: vec![0.0; env.spec().observation],
            env,
            episodes: EpisodeReader::open(&dir)?,
            source: source_of(&manifest),
            act: Act::Preview { number: 0, rng: fastrand::Rng::with_seed(0) },
            action: None,
            step: 0,
            reward: 0.0,
            is_over: false,
        };
        show.begin()?;
        Ok(show)
    }

    /// The environment's own pace.
    pub fn steps_per_second(&self) -> u32 {
        self.env.spec().frames_per_second
    }

    /// Begins the next episode, or random play while there is none.
    pub fn begin(&mut self) -> Result<()> {
        let seed = if let Some((head, body)) = self.next()? {
            let seed = head.seed;
            self.act = Act::Episode(head, body);
            seed
        } else {
            let number = match &self.act {
                Act::Preview { number, .. } => number + 1,
                Act::Episode(..) => 0,
            };
            let seed = episode_seed(number, Stream::Preview, 0, 0);
            self.act = Act::Preview { number, rng: fastrand::Rng::with_seed(seed) };
            Some(seed)
        };
        (self.step, self.reward, self.is_over) = (0, 0.0, false);
        self.action = None;
        self.env.reset(seed, &mut self.observation);
        Ok(())
    }

    /// Whether it is random play although there is an episode by now.
    pub fn is_outdated(&mut self) -> Result<bool> {
        if !matches!(self.act, Act::Preview { .. }) {
            return Ok(false);
        }
        self.episodes.refresh()?;
        Ok(self.episodes.last_episode() > 0)
    }

    /// The episode to be shown next, if it can be stepped again: of a training the newest, of an
    /// evaluation one after the other, because it plays them faster than anybody can look.
    fn next(&mut self) -> Result<Option<(EpisodeHead, EpisodeBody)>> {
        self.episodes.refresh()?;
        let last = self.episodes.last_episode();
        let number = match (self.source, &self.act) {
            (Source::Evaluation, Act::Episode(head, _)) if head.episode < last => head.episode + 1,
            (Source::Evaluation, _) => last.min(1),
            _ => last,
        };
        let Ok(Some(head)) = self.episodes.head(number) else { return Ok(None) };
        let Ok(Some(body)) = self.episodes.body(number) else { return Ok(None) };
        let is_ours = head.seed.is_some() && !matches!(body, EpisodeBody::Steps(_));
        Ok(is_ours.then_some((head, body)))
    }

    /// Takes one step; false when the episode is over.
    pub fn advance(&mut self) -> bool {
        if self.is_over {
            return false;
        }
        let spec = self.env.spec();
        let action = match &mut self.act {
            Act::Preview { rng, .. } => {
                let mut mask = vec![true; spec.actions.size()];
                self.env.legal_actions(&mut mask);
                Some(spec.actions.sample(&mask, rng))
            }
            Act::Episode(_, body) => recorded(body, self.step),
        };
        // An action that the environment does not have was not taken in it.
        let Some(action) = action.filter(|action| match action.borrow() {
            EnvAction::Discrete(_) => spec.actions.contains(action.borrow()),
            EnvAction::Continuous(numbers) => {
                !spec.actions.is_discrete() && numbers.len() == spec.actions.size()
            }
        }) else {
            self.is_over = true;
            return false;
        };
        let outcome = self.env.step(action.borrow(), &mut self.observation);
        self.action = Some(action);
        self.step += 1;
        self.reward += outcome.reward;
        self.is_over = outcome.is_end();
        true
    }

    /// What there is to see.
    pub fn moment(&self) -> Moment {
        let head = match &self.act {
            Act::Preview { .. } => None,
            Act::Episode(head, _) => Some(head),
        };
        Moment {
            source: if head.is_some() { self.source } else { Source::Preview },
            episode: head.map(|head| head.episode),
            episode_id: None,
            step: self.step,
            reward: self.reward,
            timestep: head.map_or(0, |head| head.step),
            action: self.action.clone(),
            observation: (self.observation.len() <= MAX_OBSERVATION)
                .then(|| self.observation.clone()),
            pieces: self.env.pieces(),
            image: Image::Scene(self.env.scene()),
        }
    }
}

fn source_of(manifest: &Manifest) -> Source {
    match manifest.kind {
        RunKind::Eval => Source::Evaluation,
        RunKind::Train | RunKind::Human | RunKind::External => Source::Training,
    }
}

fn recorded(body: &EpisodeBody, step: u64) -> Option<AnyAction> {
    let step = usize::try_from(step).ok()?;
    match body {
        EpisodeBody::Discrete(actions) => {
            actions.get(step).map(|&action| AnyAction::Discrete(Action(action as usize)))
        }
        EpisodeBody::Continuous { width, actions } => {
            let numbers = actions.chunks_exact((*width).max(1) as usize).nth(step)?;
            Some(AnyAction::Continuous(numbers.into()))
        }
        EpisodeBody::Steps(_) => None,
    }
}

/// The pictures of a foreign trainer.
#[derive(Debug)]
pub struct ForeignFrames {
    path: PathBuf,
    seen: Option<SystemTime>,
}

/// The line of the protocol, as far as it is used.
#[derive(Debug, Deserialize)]
struct FrameLine {
    episode_id: Option<String>,
    #[serde(default)]
    step: u64,
    #[serde(default)]
    reward: f64,
    #[serde(default)]
    timestep: u64,
    scene: Option<Scene>,
    jpeg: Option<String>,
    png: Option<String>,
}

impl ForeignFrames {
    /// Those of the run in `dir`.
    pub fn new(dir: &RunDir) -> Self {
        Self { path: dir.path().join("frame.json"), seen: None }
    }

    /// The newest picture, if it has not been looked at before. One that makes no sense is none.
    pub fn look(&mut self) -> Option<Moment> {
        let changed = std::fs::metadata(&self.path).and_then(|found| found.modified()).ok()?;
        if self.seen == Some(changed) {
            return None;
        }
        self.seen = Some(changed);
        let line = serde_json::from_slice(&std::fs::read(&self.path).ok()?).ok()?;
        let FrameLine { episode_id, step, reward, timestep, scene, jpeg, png } = line;
        let image = match (scene, jpeg, png) {
            (Some(scene), ..) => Image::Scene(scene),
            (_, Some(jpeg), _) => Image::Pixels(PixelFormat::Jpeg, jpeg),
            (.., Some(png)) => Image::Pixels(PixelFormat::Png, png),
            _ => return None,
        };
        Some(Moment {
            source: Source::Trainer,
            episode: None,
            episode_id,
            step,
            reward,
            timestep,
            action: None,
            observation: None,
            pieces: None,
            image,
        })
    }
}

#[cfg(test)]
mod tests;
