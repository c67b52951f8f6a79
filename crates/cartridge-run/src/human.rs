//! Environments that people play by keyboard: those that go on by themselves with keys that are
//! held, those that wait for a decision by choosing from what is legal.
//!
//! A session is a run of kind `human`: its manifest says which environment with which options, its
//! `events.jsonl` which episodes were begun with which seed and what was done in them, a line per
//! second or so. That is enough to go on where the person left off: a [`Session`] is the newest
//! episode, played again from its seed and actions. Whoever plays holds the file locked; the clock
//! and the keys are the caller's.

use cartridge_games::controls::Controls;
use cartridge_games::env::{AnyAction, Env, EnvSpec, Step};
use cartridge_games::fastrand;
use cartridge_games::game::Action;
use cartridge_games::registry::{is_game, make_env};
use cartridge_games::scene::Scene;
use cartridge_store::jsonl::{self, Appender};
use cartridge_store::{
    DataDir, Event, EventLine, Manifest, Played, RunDir, RunId, RunKind, StoreError,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::unix_now;
use crate::error::{Result, RunError};
use crate::lab::Lab;

/// What the manifest of a session keeps as its configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Terms {
    env_id: String,
    /// Options of the environment.
    env: Map<String, Value>,
}

/// What a person played, as the files of the run have it.
#[derive(Clone, Debug)]
pub struct Record {
    /// The run that holds it.
    pub manifest: Manifest,
    /// Facts of the environment with its options.
    pub spec: &'static EnvSpec,
    /// Options of the environment.
    pub options: Map<String, Value>,
    /// The episodes, in order.
    pub episodes: Vec<Episode>,
    /// What was done in one of them: the one that was asked for, or the newest.
    pub actions: Vec<AnyAction>,
}

/// An episode in figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Episode {
    /// Its number in the run, from 1.
    pub episode: u32,
    /// The number given to `reset`.
    pub seed: u64,
    /// Steps so far.
    pub length: u64,
    /// Sum of the rewards so far.
    pub total_reward: f64,
    /// Whether the task itself has ended.
    pub terminated: bool,
    /// Whether the time limit was reached.
    pub truncated: bool,
}

impl Episode {
    fn new(episode: u32, seed: u64) -> Self {
        let (terminated, truncated) = (false, false);
        Self { episode, seed, length: 0, total_reward: 0.0, terminated, truncated }
    }

    /// Whether it is over, for either reason.
    pub fn is_over(&self) -> bool {
        self.terminated || self.truncated
    }
}

impl Record {
    /// Makes a session whose first episode waits to be played, from `seed` or any other.
    /// `version` is the product's.
    pub fn begin(
        data: &DataDir,
        version: &str,
        env_id: &str,
        options: Map<String, Value>,
        seed: Option<u64>,
    ) -> Result<Self> {
        let spec = make_env(env_id, &options)?.spec();
        let terms = Terms { env_id: spec.id.to_owned(), env: options };
        let (dir, manifest) = RunDir::create(data, |id| Manifest {
            format: Manifest::FORMAT,
            id,
            kind: RunKind::Human,
            name: format!("{}, played by a person", spec.name),
            env_id: spec.id.to_owned(),
            config: serde_json::to_value(&terms).expect("the terms are plain data"),
            created_at: unix_now(),
            cartridge_version: version.to_owned(),
            parent: None,
            restart: None,
            command: None,
            cwd: None,
            environment: Default::default(),
            limits: Default::default(),
            experiment_id: None,
            group: None,
            track: None,
        })?;
        let mut journal = Journal { events: Appender::open(dir.events_path())? };
        let seed = seed.unwrap_or_else(random_seed);
        journal.keep(&[Event::EpisodeStarted { episode: 1, seed }])?;
        Self::read(data, &manifest.id, None)
    }

    /// What the files say, with the actions of `episode` or of the newest.
    pub fn read(data: &DataDir, id: &RunId, episode: Option<u32>) -> Result<Self> {
        let dir = data.run(id);
        let manifest = dir.manifest()?;
        if manifest.kind != RunKind::Human || is_game(&manifest.env_id) {
            return Err(StoreError::NoSuchRun(id.to_string()).into());
        }
        let damaged = |detail: String| StoreError::Damaged { path: dir.events_path(), detail };
        let terms: Terms = serde_json::from_value(manifest.config.clone())
            .map_err(|error| damaged(error.to_string()))?;
        let spec = make_env(&terms.env_id, &terms.env)?.spec();
        let (episodes, actions) = (Vec::new(), Vec::new());
        let mut record = Self { manifest, spec, options: terms.env, episodes, actions };
        for line in jsonl::read_lines(&dir.events_path(), 0, None)? {
            let line: EventLine =
                serde_json::from_slice(&line.bytes).map_err(|error| damaged(error.to_string()))?;
            record.apply(line.event, episode).map_err(damaged)?;
        }
        if record.episodes.is_empty() {
            return Err(damaged("no episode was begun".to_owned()).into());
        }
        Ok(record)
    }

    /// The newest episode.
    pub fn newest(&self) -> &Episode {
        self.episodes.last().expect("a session begins with an episode")
    }

    /// Takes in what happened, or says why it cannot have. Actions are kept of `wanted`.
    fn apply(&mut self, event: Event, wanted: Option<u32>) -> Result<(), String> {
        match event {
            Event::EpisodeStarted { episode, seed } => {
                if episode as usize != self.episodes.len() + 1 {
                    return Err(format!("episode {episode} is out of order"));
                }
                self.episodes.push(Episode::new(episode, seed));
                if wanted.is_none() {
                    self.actions.clear();
                }
            }
            Event::Played(played) => {
                let space = &self.spec.actions;
                let at = |episode: &&mut Episode| {
                    episode.episode == played.episode
                        && episode.length == played.step
                        && !episode.is_over()
                };
                let Some(episode) = self.episodes.last_mut().filter(at) else {
                    return Err(format!("step {} does not follow", played.step));
                };
                episode.length += played.actions.len() as u64;
                episode.total_reward = played.total_reward;
                episode.terminated = played.terminated;
                episode.truncated = played.truncated;
                if wanted.is_none_or(|wanted| wanted == played.episode) {
                    for action in played.actions {
                        let action: AnyAction =
                            serde_json::from_value(action).map_err(|error| error.to_string())?;
                        if !space.contains(action.borrow()) {
                            return Err(format!("{action:?} is no action"));
                        }
                        self.actions.push(action);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The newest episode of a session, being played.
#[derive(Debug)]
pub struct Session {
    record: Record,
    /// None where the world waits for a decision.
    controls: Option<Controls>,
    env: Box<dyn Env>,
    observation: Vec<f32>,
    /// Reward of the last step.
    reward: f64,
    /// Actions of the episode that were handed out to be kept.
    n_kept: usize,
    /// What happened besides them.
    news: Vec<Event>,
}

impl Session {
    /// Goes on with a session; fails when somebody else plays it.
    pub fn open(data: &DataDir, id: &RunId) -> Result<(Self, Journal)> {
        // Read once before, so that what is no session is not written to.
        Record::read(data, id, None)?;
        let journal = Journal { events: Appender::open(data.run(id).events_path())? };
        let record = Record::read(data, id, None)?;
        let damaged = |detail: &str| {
            let path = data.run(id).events_path();
            RunError::from(StoreError::Damaged { path, detail: detail.to_owned() })
        };
        let controls = record.spec.controls;
        let env = make_env(record.spec.id, &record.options)?;
        let observation = vec![0.0; record.spec.observation];
        let (reward, n_kept, news) = (0.0, 0, Vec::new());
        let mut session = Self { record, controls, env, observation, reward, n_kept, news };
        let kept = *session.record.newest();
        let actions = std::mem::take(&mut session.record.actions);
        session.reset(Episode::new(kept.episode, kept.seed));
        for action in actions {
            if session.episode().is_over() {
                return Err(damaged("the episode goes on after its end"));
            }
            session.take(action);
        }
        // An environment that has changed since would go on somewhere else.
        if *session.episode() != kept {
            return Err(damaged("the newest episode does not replay to what was seen"));
        }
        session.n_kept = session.record.actions.len();
        Ok((session, journal))
    }

    /// The episode as it stands.
    pub fn episode(&self) -> &Episode {
        self.record.newest()
    }

    /// Facts of the environment.
    pub fn spec(&self) -> &'static EnvSpec {
        self.record.spec
    }

    /// Reward of the last step.
    pub fn reward(&self) -> f64 {
        self.reward
    }

    /// What was done last.
    pub fn last_action(&self) -> Option<&AnyAction> {
        self.record.actions.last()
    }

    /// The present state as a picture.
    pub fn scene(&self) -> Scene {
        self.env.scene()
    }

    /// What is seen.
    pub fn observation(&self) -> &[f32] {
        &self.observation
    }

    /// Whether the world goes on by itself, with [`Self::step`]; else it waits for [`Self::act`].
    pub fn is_real_time(&self) -> bool {
        self.controls.is_some()
    }

    /// The actions of a list that may be taken now; none once the episode is over.
    pub fn legal_actions(&self) -> Vec<usize> {
        if self.episode().is_over() || !self.spec().actions.is_discrete() {
            return Vec::new();
        }
        let mut mask = vec![false; self.spec().actions.size()];
        self.env.legal_actions(&mut mask);
        (0..mask.len()).filter(|&index| mask[index]).collect()
    }

    /// One step with the controls that are held, the one pressed last coming last.
    ///
    /// # Panics
    ///
    /// If the episode is over, or the world waits for decisions.
    pub fn step(&mut self, held: &[usize]) {
        let controls = self.controls.expect("the world goes on by itself");
        let action = controls.action(&self.spec().actions, held, self.last_action());
        self.take(action);
    }

    /// One step with an action of the list, where the world waits for one. Whether it was taken:
    /// what is not legal changes nothing.
    pub fn act(&mut self, action: usize) -> bool {
        let is_taken = !self.is_real_time() && self.legal_actions().contains(&action);
        if is_taken {
            self.take(AnyAction::Discrete(Action(action)));
        }
        is_taken
    }

    /// Begins the next episode, from `seed` or any other.
    pub fn restart(&mut self, seed: Option<u64>) {
        let played = self.unkept();
        self.news.extend(played);
        let seed = seed.unwrap_or_else(random_seed);
        let next = Episode::new(self.episode().episode + 1, seed);
        self.record.episodes.push(next);
        self.news.push(Event::EpisodeStarted { episode: next.episode, seed });
        // A fresh world, so that the episode is its seed and actions.
        self.env = make_env(self.record.spec.id, &self.record.options)
            .expect("it was made with these options before");
        self.reset(next);
    }

    /// What happened since the last call, to be kept by the session's [`Journal`].
    pub fn take_news(&mut self) -> Vec<Event> {
        let played = self.unkept();
        self.news.extend(played);
        std::mem::take(&mut self.news)
    }

    fn reset(&mut self, episode: Episode) {
        *self.episode_mut() = episode;
        self.env.reset(Some(episode.seed), &mut self.observation);
        self.record.actions.clear();
        self.reward = 0.0;
        self.n_kept = 0;
    }

    fn take(&mut self, action: AnyAction) {
        let Step { reward, terminated, truncated, .. } =
            self.env.step(action.borrow(), &mut self.observation);
        self.reward = reward;
        let episode = self.episode_mut();
        episode.length += 1;
        episode.total_reward += reward;
        episode.terminated = terminated;
        episode.truncated = truncated;
        self.record.actions.push(action);
    }

    fn episode_mut(&mut self) -> &mut Episode {
        self.record.episodes.last_mut().expect("a session begins with an episode")
    }

    /// The actions that were not handed out yet, as a line.
    fn unkept(&mut self) -> Option<Event> {
        let actions = &self.record.actions[self.n_kept..];
        if actions.is_empty() {
            return None;
        }
        let to_value = |action| serde_json::to_value(action).expect("an action is plain data");
        let episode = self.record.newest();
        let played = Played {
            episode: episode.episode,
            step: self.n_kept as u64,
            actions: actions.iter().map(to_value).collect(),
            total_reward: episode.total_reward,
            terminated: episode.terminated,
            truncated: episode.truncated,
        };
        self.n_kept = self.record.actions.len();
        Some(Event::Played(played))
    }
}

/// The one writer of a session's events, apart from the session, so that nobody who plays waits
/// for a disk.
#[derive(Debug)]
pub struct Journal {
    events: Appender,
}

impl Journal {
    /// Keeps what happened, durably.
    pub fn keep(&mut self, events: &[Event]) -> Result<()> {
        for event in events {
            let line = EventLine { attempt: 1, t: unix_now(), event: event.clone() };
            self.events.append(&line)?;
        }
        Ok(self.events.sync()?)
    }
}

impl Lab {
    /// See [`Record::begin`].
    pub fn new_session(
        &self,
        env_id: &str,
        options: Map<String, Value>,
        seed: Option<u64>,
    ) -> Result<Record> {
        let record = Record::begin(&self.data, &self.launcher.version, env_id, options, seed)?;
        self.adopt(&record.manifest.id)?;
        Ok(record)
    }

    /// See [`Record::read`].
    pub fn session(&self, id: &RunId, episode: Option<u32>) -> Result<Record> {
        Record::read(&self.data, id, episode)
    }

    /// See [`Session::open`].
    pub fn open_session(&self, id: &RunId) -> Result<(Session, Journal)> {
        Session::open(&self.data, id)
    }

    /// The newest sessions, newest first. One that cannot be read does not hide the others.
    pub fn sessions(&self, limit: usize) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        for manifest in self.human_runs(limit, |manifest| !is_game(&manifest.env_id))? {
            match Record::read(&self.data, &manifest.id, None) {
                Ok(record) => records.push(record),
                Err(error) => tracing::warn!(run = %manifest.id, %error, "cannot read a session"),
            }
        }
        Ok(records)
    }
}

/// Short enough to be read aloud.
fn random_seed() -> u64 {
    fastrand::u64(..1_000_000)
}

#[cfg(test)]
mod tests;
