//! Recorded episodes as films.
//!
//! An episode is its seed and its actions; its pictures are made by stepping it again. An
//! environment that steps faster than films show is shown at every second step or fewer, at its
//! own speed.

use std::path::Path;

use cartridge_games::env::Actions;
use cartridge_games::registry::make_world;
use cartridge_games::scene::Scene;
use cartridge_media::film::{Film, FilmError, captioned, pace, size_for};
use cartridge_store::data_dir::{sync_parent, write_beside};
use cartridge_store::{RunId, StoreError};
use serde_json::{Map, Value};

use crate::episode::Archive;
use crate::error::{Result, RunError};
use crate::lab::Lab;

/// The end of an episode stays for this part of a second.
const END: f64 = 0.5;

/// How far below other programs a film stands that somebody waits for.
const NICENESS: i32 = 10;

/// Moments of a replay that are made at once, so that the memory does not grow with the episode.
const PIECE: u64 = 500;

/// A film that is being made from scenes.
#[derive(Debug)]
pub struct Reel {
    film: Option<Film>,
    /// A picture is taken every so many steps.
    every: u32,
    frames_per_second: u32,
    most_frames: usize,
}

impl Reel {
    /// A film of an environment that takes so many steps a second, of at most so many seconds.
    pub fn new(steps_per_second: u32, most_seconds: u32) -> Self {
        let (every, frames_per_second) = pace(steps_per_second);
        let most_frames = most_seconds.saturating_mul(frames_per_second) as usize;
        Self { film: None, every, frames_per_second, most_frames }
    }

    /// Whether there is room for more.
    pub fn is_full(&self) -> bool {
        self.film.as_ref().is_some_and(|film| film.n_frames() >= self.most_frames)
    }

    /// Adds a picture, if there is room for it.
    fn add(&mut self, scene: &Scene) -> Result<(), FilmError> {
        let film = match &mut self.film {
            Some(film) => film,
            None => self.film.insert(Film::new(size_for(scene), self.frames_per_second)?),
        };
        if film.n_frames() < self.most_frames {
            film.add(scene)?;
        }
        Ok(())
    }

    /// Adds what there is to see after `step` steps of an episode, unless that step is passed over;
    /// its end stays for a moment.
    fn show(&mut self, step: u64, is_end: bool, scene: impl FnOnce() -> Scene) -> Result<()> {
        if !is_end && !step.is_multiple_of(u64::from(self.every)) {
            return Ok(());
        }
        let scene = scene();
        let n_times =
            if is_end { (END * f64::from(self.frames_per_second)).ceil() as usize } else { 1 };
        for _ in 0..n_times.max(1) {
            self.add(&scene)?;
        }
        Ok(())
    }

    /// Adds an episode, from its seed and its actions. `go_on` is asked at every step; false means
    /// that the film is not wanted any more.
    pub fn add_episode(
        &mut self,
        env_id: &str,
        options: &Map<String, Value>,
        take: Take<'_>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool> {
        let Take { name, seed, actions } = take;
        let mut env = make_world(env_id, options)?;
        let mut observation = vec![0.0; env.spec().observation];
        env.reset(Some(seed), &mut observation);
        let mut total = 0.0;
        let caption =
            |step: u64, total: f64| format!("{name}   step {step}   return {}", rounded(total));
        self.show(0, false, || captioned(env.scene(), &caption(0, total)))?;
        for (step, action) in (1_u64..).zip(actions.iter()) {
            if self.is_full() {
                return Ok(true);
            }
            if !go_on() {
                return Ok(false);
            }
            let outcome = env.step(action, &mut observation);
            total += outcome.reward;
            self.show(step, outcome.is_end(), || captioned(env.scene(), &caption(step, total)))?;
        }
        Ok(true)
    }

    /// The film as a file.
    pub fn finish(self) -> Result<Vec<u8>> {
        Ok(self.film.ok_or(FilmError::Empty)?.finish()?)
    }

    /// How long it is by now, in seconds.
    pub fn seconds(&self) -> f64 {
        self.film.as_ref().map_or(0.0, Film::seconds)
    }

    /// Number of its pictures by now.
    pub fn n_frames(&self) -> usize {
        self.film.as_ref().map_or(0, Film::n_frames)
    }
}

/// An episode for a film.
#[derive(Clone, Copy, Debug)]
pub struct Take<'a> {
    /// What it is called in the picture.
    pub name: &'a str,
    /// What it was reset with.
    pub seed: u64,
    /// What was done in it.
    pub actions: &'a Actions,
}

/// A return as people read it.
fn rounded(total: f64) -> String {
    if total.fract() == 0.0 { format!("{total:.0}") } else { format!("{total:.1}") }
}

/// What [`of_recorded`] made.
#[derive(Debug)]
pub struct Exported {
    /// The film.
    pub file: Vec<u8>,
    /// Number of its pictures.
    pub n_frames: usize,
    /// How long it is.
    pub seconds: f64,
}

/// A stretch of a recorded episode as a film of at most `most_seconds`.
pub fn of_recorded(
    archive: &mut Archive,
    episode: u64,
    steps: std::ops::Range<u64>,
    most_seconds: u32,
) -> Result<Exported> {
    let run = archive.manifest.id.clone();
    let replay = archive.replay(episode)?;
    let n_steps = replay.n_steps();
    let Some(spec) = replay.spec() else { return Err(RunError::NoPictures { run, episode }) };
    let mut reel = Reel::new(spec.frames_per_second, most_seconds);
    let end = steps.end.min(n_steps + 1);
    // What was earned before the first step that is shown counts, too.
    let mut total = 0.0;
    let mut from = 0;
    while from < end && !reel.is_full() {
        let to = end.min(from + PIECE);
        let is_seen = to > steps.start;
        for moment in archive.steps(episode, from..to, is_seen)? {
            total += moment.reward.unwrap_or(0.0);
            let Some(scene) = moment.scene.filter(|_| moment.step >= steps.start) else { continue };
            let words =
                format!("episode {episode}   step {}   return {}", moment.step, rounded(total));
            let is_end = moment.step == n_steps;
            // Counted from the first that is shown, so that it is.
            let step = moment.step - steps.start;
            reel.show(step, is_end, || captioned(scene, &words))?;
        }
        from = to;
    }
    if reel.n_frames() == 0 {
        return Err(RunError::NoSuchStep { run, episode, step: steps.start, n_steps });
    }
    let (n_frames, seconds) = (reel.n_frames(), reel.seconds());
    Ok(Exported { file: reel.finish()?, n_frames, seconds })
}

impl Lab {
    /// A stretch of a recorded episode as a film, made for somebody who waits for it: on a thread
    /// below all trainings, and with episodes of its own, so that nobody else waits.
    pub fn episode_film(
        &self,
        id: &RunId,
        episode: u64,
        steps: std::ops::Range<u64>,
        most_seconds: u32,
    ) -> Result<Exported> {
        let make = || {
            // On Linux this holds for the calling thread alone.
            _ = rustix::process::nice(NICENESS);
            let mut archive = Archive::open(&self.data, id)?;
            let replay = archive.replay(episode)?;
            if replay.spec().is_some() && !replay.matches {
                return Err(RunError::ReplayDiffers { run: id.clone(), episode });
            }
            of_recorded(&mut archive, episode, steps, most_seconds)
        };
        let made = std::thread::scope(|scope| scope.spawn(make).join());
        made.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Writes a film below a run's folder: beside its place and then renamed, so that it is there as a
/// whole or not at all.
pub(crate) fn keep(folder: &Path, name: &str, file: &[u8]) -> Result<()> {
    if !folder.is_dir() {
        std::fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
        sync_parent(folder)?;
    }
    Ok(write_beside(&folder.join(name), file)?)
}

#[cfg(test)]
mod tests;
