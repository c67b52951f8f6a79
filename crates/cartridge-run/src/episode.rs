//! Any episode of any run, to be seen again.
//!
//! What was recorded of an episode of ours is its seed and its actions. A [`Replay`] steps it again
//! in a fresh world, once, and keeps what was seen and earned; pictures are drawn when they are
//! asked for. A foreign episode is read as its trainer told it. An [`Archive`] is the door to both,
//! for every kind of run: trainings and evaluations have `episodes/`, a person's session and a
//! person's game have their events, and a run whose recordings are gone can still list its episodes.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cartridge_games::env::{ActionSpace, Actions, AnyAction, Env, EnvAction, EnvSpec};
use cartridge_games::game::{Action, Seat, Turn};
use cartridge_games::registry::{is_game, make_world};
use cartridge_games::scene::Scene;
use cartridge_store::episodes::{Order, Page, Sort, compare_returns};
use cartridge_store::follow::ToldEpisodes;
use cartridge_store::{
    DataDir, EpisodeBody, EpisodeHead, EpisodeReader, Episodes, Manifest, RunDir, RunId, RunKind,
    StepRecord, StoreError,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::dataset::{self, ActionColumn, Table};
use crate::error::{Result, RunError};
use crate::human::Record;
use crate::lab::Lab;
use crate::play::{Play, is_play};

/// Episodes of a run that are kept computed: a page plays one and may compare it with another.
const REPLAYS: usize = 3;

/// Runs whose episodes a lab keeps open.
const ARCHIVES: usize = 6;

/// The episodes of a run.
#[derive(Debug)]
pub struct Archive {
    /// The run.
    pub manifest: Manifest,
    /// Options of the environment.
    pub options: Map<String, Value>,
    dir: RunDir,
    source: Source,
    /// The newest last.
    replays: Vec<Replay>,
}

/// Where the episodes are.
#[derive(Debug)]
enum Source {
    Recorded(Box<EpisodeReader>),
    /// A person's session.
    Human(DataDir),
    /// A person's game on a board, which is one episode.
    Board(DataDir),
    /// Only figures: what was recorded is gone.
    Figures(ToldEpisodes),
}

impl Archive {
    /// Opens the episodes of a run.
    pub fn open(data: &DataDir, id: &RunId) -> Result<Self> {
        let dir = data.run(id);
        let manifest = dir.manifest()?;
        let options = manifest.config["env"].as_object().cloned().unwrap_or_default();
        let source = match manifest.kind {
            RunKind::Human if is_play(&manifest) => Source::Board(data.clone()),
            RunKind::Human => Source::Human(data.clone()),
            RunKind::Train | RunKind::Eval | RunKind::External => Self::source(&dir)?,
        };
        Ok(Self { manifest, options, dir, source, replays: Vec::new() })
    }

    fn source(dir: &RunDir) -> Result<Source> {
        if dir.episodes_path().is_dir() {
            return Ok(Source::Recorded(Box::new(EpisodeReader::open(dir)?)));
        }
        let mut told = ToldEpisodes::default();
        told.refresh(dir)?;
        Ok(Source::Figures(told))
    }

    /// Whether episodes have ended and the folder of what was recorded of them is not there.
    pub fn is_unrecorded(&self) -> bool {
        matches!(self.source, Source::Figures(_))
    }

    /// Sees what was recorded since.
    pub fn refresh(&mut self) -> Result<()> {
        match &mut self.source {
            Source::Recorded(reader) if self.dir.episodes_path().is_dir() => reader.refresh()?,
            Source::Human(_) | Source::Board(_) => {}
            // It may have been opened before its first episode ended, or the folder has gone since.
            Source::Figures(told) if !self.dir.episodes_path().is_dir() => {
                told.refresh(&self.dir)?;
            }
            Source::Recorded(_) | Source::Figures(_) => self.source = Self::source(&self.dir)?,
        }
        Ok(())
    }

    /// A part of the list of all episodes.
    pub fn page(&mut self, sort: Sort, order: Order, offset: u64, limit: usize) -> Result<Page> {
        let mut heads = match &mut self.source {
            Source::Recorded(reader) => return Ok(reader.heads(sort, order, offset, limit)?),
            Source::Human(data) => {
                human_heads(&Record::read(data, &self.manifest.id, None)?, &self.manifest)
            }
            Source::Board(data) => {
                board_head(&Play::replay(data, &self.manifest.id)?).into_iter().collect()
            }
            Source::Figures(told) => figures(told),
        };
        heads.sort_by(|a, b| {
            let by = match sort {
                Sort::Number => a.episode.cmp(&b.episode),
                Sort::Return => {
                    return compare_returns(a.reward, b.reward, order)
                        .then(a.episode.cmp(&b.episode));
                }
                Sort::Length => a.length.cmp(&b.length),
                // Episodes that ended at the same time ended in their order.
                Sort::Time => a.t.total_cmp(&b.t).then(a.episode.cmp(&b.episode)),
            };
            let by = if order == Order::Descending { by.reverse() } else { by };
            by.then(a.episode.cmp(&b.episode))
        });
        let total = heads.len() as u64;
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        let heads = heads.into_iter().skip(skip).take(limit).collect();
        let n_damaged = if self.is_unrecorded() { total } else { 0 };
        Ok(Page { total, n_damaged, heads })
    }

    /// A part of the list of those episodes that were reset with `seed`; as many in all.
    pub fn page_of_seed(
        &mut self,
        seed: u64,
        sort: Sort,
        order: Order,
        offset: u64,
        limit: usize,
    ) -> Result<Page> {
        let all = self.page(sort, order, 0, usize::MAX)?;
        let with_seed = all.heads.into_iter().filter(|head| head.seed == Some(seed));
        let heads: Vec<EpisodeHead> = with_seed.collect();
        let total = heads.len() as u64;
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        let heads = heads.into_iter().skip(skip).take(limit).collect();
        Ok(Page { total, n_damaged: all.n_damaged, heads })
    }

    /// How many of all episodes cannot be read, or not all of their steps.
    pub fn n_damaged(&mut self) -> Result<u64> {
        match &mut self.source {
            Source::Recorded(reader) => Ok(reader.n_damaged()?),
            Source::Human(_) | Source::Board(_) => Ok(0),
            Source::Figures(told) => Ok(told.len() as u64),
        }
    }

    /// Which of some episodes cannot be read, or not all of their steps.
    pub fn damaged_among(&mut self, numbers: &[u64]) -> Result<BTreeSet<u64>> {
        let mut damaged = BTreeSet::new();
        if let Source::Recorded(reader) = &mut self.source {
            find_damaged(reader, numbers, &mut damaged)?;
        }
        Ok(damaged)
    }

    /// Episode `n`, ready to be looked at. It is computed once and kept for a while.
    pub fn replay(&mut self, n: u64) -> Result<&mut Replay> {
        let head = self.head(n)?;
        // An episode that was played again, or goes on, has another head.
        if let Some(kept) = self.replays.iter().position(|kept| kept.head == head) {
            let kept = self.replays.remove(kept);
            self.replays.push(kept);
            return Ok(self.replays.last_mut().expect("it was just put there"));
        }
        let run = || self.manifest.id.clone();
        let missing = || RunError::NoSuchEpisode { run: run(), episode: n };
        let body = match &mut self.source {
            Source::Recorded(reader) => match reader.n_steps(n).map_err(damaged(run(), n))? {
                // The steps of a foreign episode stay where they are.
                Some(n_steps) => {
                    let steps = Steps::Stored(n_steps);
                    return Ok(self.keep(Replay { head, matches: true, steps }));
                }
                None => reader.body(n).map_err(damaged(run(), n))?.ok_or_else(missing)?,
            },
            Source::Human(data) => {
                let record = Record::read(data, &self.manifest.id, u32::try_from(n).ok())?;
                let mut actions = Actions::new(&record.spec.actions);
                record.actions.iter().for_each(|action| actions.push(action.borrow()));
                body_of(actions)
            }
            Source::Board(data) => {
                let moves = Play::replay(data, &self.manifest.id)?.moves;
                EpisodeBody::Discrete(moves.iter().map(|(_, action)| action.0 as u32).collect())
            }
            Source::Figures(_) => return Err(RunError::NotRecorded { run: run(), episode: n }),
        };
        let replay = Replay::compute(&self.manifest.env_id, &self.options, head, body)
            .map_err(|reason| reason.of(&self.manifest.id, n))?;
        Ok(self.keep(replay))
    }

    /// Episode `n` in figures.
    pub fn head(&mut self, n: u64) -> Result<EpisodeHead> {
        let found = match &mut self.source {
            Source::Recorded(reader) => {
                reader.head(n).map_err(damaged(self.manifest.id.clone(), n))?
            }
            Source::Human(data) => {
                let record = Record::read(data, &self.manifest.id, None)?;
                let heads = human_heads(&record, &self.manifest);
                heads.into_iter().find(|head| head.episode == n)
            }
            Source::Board(data) => {
                board_head(&Play::replay(data, &self.manifest.id)?).filter(|head| head.episode == n)
            }
            Source::Figures(told) => figures(told).into_iter().find(|head| head.episode == n),
        };
        let run = || self.manifest.id.clone();
        found.ok_or_else(|| RunError::NoSuchEpisode { run: run(), episode: n })
    }

    /// The steps `range` of episode `n`, as far as there are any. Step 0 is the start, as far as it
    /// is known; step 1 is what the first action led to.
    pub fn steps(&mut self, n: u64, range: Range<u64>, with_scenes: bool) -> Result<Vec<Moment>> {
        let replay = self.replay(n)?;
        if let Steps::Computed(computed) = &mut replay.steps {
            return Ok(computed.moments(range, with_scenes));
        }
        let Source::Recorded(reader) = &mut self.source else { return Ok(Vec::new()) };
        let first = range.start.max(1);
        let steps = reader
            .steps(n, first - 1..range.end.max(first) - 1)
            .map_err(damaged(self.manifest.id.clone(), n))?
            .unwrap_or_default();
        Ok((first..).zip(steps).map(|(step, told)| Moment::told(step, told)).collect())
    }

    /// What was seen before each of the actions `actions` of episode `n`, counted from 0, as far as
    /// there are any. Nothing where its trainer is not ours: what that saw is in words of its own.
    pub(crate) fn sights(&mut self, n: u64, actions: Range<u64>) -> Result<Option<Sights>> {
        Ok(match &self.replay(n)?.steps {
            Steps::Computed(computed) => Some(computed.sights(actions)),
            Steps::Stored(_) => None,
        })
    }

    /// Episode `n` with all of its steps, for other programs. One that a foreign trainer told is
    /// stepped again where its environment is one of ours and that gives what was told.
    pub fn transitions(&mut self, n: u64) -> Result<dataset::Episode> {
        let replay = self.replay(n)?;
        let head = replay.head.clone();
        let n_steps = replay.n_steps();
        if let Steps::Computed(computed) = &replay.steps {
            return match replay.matches {
                true => Ok(computed.episode(head)),
                false => {
                    Err(RunError::UnlikeRecorded { run: self.manifest.id.clone(), episode: n })
                }
            };
        }
        let run = || self.manifest.id.clone();
        let Source::Recorded(reader) = &mut self.source else {
            return Err(RunError::NotRecorded { run: run(), episode: n });
        };
        let steps = reader.steps(n, 0..n_steps).map_err(damaged(run(), n))?.unwrap_or_default();
        if let Some(episode) = self.step_again(&head, &steps) {
            return Ok(episode);
        }
        let actions: Vec<Value> = steps.iter().map(|step| step.action.clone()).collect();
        let actions = ActionColumn::told(&actions).ok_or_else(|| {
            let reason = "its actions are no numbers, or not all of one kind".to_owned();
            RunError::BadEpisode { run: run(), episode: n, reason }
        })?;
        let rewards = steps.iter().map(|step| step.reward).collect();
        let told = steps.into_iter().map(|step| step.obs).collect();
        Ok(dataset::Episode { head, observations: None, actions, rewards, told, space: None })
    }

    /// A foreign episode as our own environment plays it, if that earns what its trainer told.
    fn step_again(&self, head: &EpisodeHead, steps: &[StepRecord]) -> Option<dataset::Episode> {
        let env = make_world(&self.manifest.env_id, &self.options).ok()?;
        let space = env.spec().actions;
        let mut actions = Actions::new(&space);
        for step in steps {
            match space {
                ActionSpace::Discrete(_) => {
                    let index = step.action.as_f64().filter(|index| index.fract() == 0.0)?;
                    actions.push(EnvAction::Discrete(Action(index as usize)));
                }
                ActionSpace::Continuous { .. } => {
                    let numbers: Option<Vec<f32>> = match &step.action {
                        Value::Array(numbers) => {
                            numbers.iter().map(|number| Some(number.as_f64()? as f32)).collect()
                        }
                        number => Some(vec![number.as_f64()? as f32]),
                    };
                    let numbers = numbers.filter(|numbers| numbers.len() == space.size())?;
                    actions.push(EnvAction::Continuous(&numbers));
                }
            }
        }
        let mut computed = Computed::new(env, head.seed?, actions);
        let end = computed.step_all().ok()?;
        // Rewards may have gone through single precision, or through text.
        let is_alike = |(told, earned): (&StepRecord, &f64)| {
            (told.reward - earned).abs() <= 1e-6 * (1.0 + earned.abs())
        };
        let is_same = end == (head.terminated, head.truncated)
            && steps.iter().zip(&computed.rewards).all(is_alike);
        is_same.then(|| computed.episode(head.clone()))
    }

    /// What the actions `actions` of episode `n` earned, counted from 0, as far as there are any.
    pub(crate) fn rewards(&mut self, n: u64, actions: Range<u64>) -> Result<Vec<f64>> {
        if let Steps::Computed(computed) = &self.replay(n)?.steps {
            let n_actions = computed.rewards.len() as u64;
            let to = actions.end.min(n_actions);
            let from = actions.start.min(to);
            return Ok(computed.rewards[from as usize..to as usize].to_vec());
        }
        let Source::Recorded(reader) = &mut self.source else { return Ok(Vec::new()) };
        let steps = reader.steps(n, actions).map_err(damaged(self.manifest.id.clone(), n))?;
        Ok(steps.unwrap_or_default().into_iter().map(|told| told.reward).collect())
    }

    fn keep(&mut self, replay: Replay) -> &mut Replay {
        if self.replays.len() >= REPLAYS {
            self.replays.remove(0);
        }
        self.replays.push(replay);
        self.replays.last_mut().expect("it was just put there")
    }
}

/// Halves the list until the damaged ones stand alone: mostly nothing is damaged, and then every
/// block is read once.
fn find_damaged(
    reader: &mut EpisodeReader,
    numbers: &[u64],
    damaged: &mut BTreeSet<u64>,
) -> Result<()> {
    if reader.n_damaged_among(numbers)? == 0 {
        return Ok(());
    }
    if let [number] = numbers {
        damaged.insert(*number);
        return Ok(());
    }
    let (first, second) = numbers.split_at(numbers.len() / 2);
    find_damaged(reader, first, damaged)?;
    find_damaged(reader, second, damaged)
}

/// Says of which episode a file is damaged.
fn damaged(run: RunId, episode: u64) -> impl FnOnce(StoreError) -> RunError {
    move |error| match error {
        StoreError::Damaged { path, detail } => {
            let name = path.file_name().map(Path::new).unwrap_or(&path);
            let segment = Path::new("episodes").join(name);
            RunError::DamagedEpisode { run, episode, segment, detail }
        }
        error => error.into(),
    }
}

/// An episode that can be looked at.
#[derive(Debug)]
pub struct Replay {
    /// What was recorded of it.
    pub head: EpisodeHead,
    /// Whether stepping it again gave the return, the length and the end that were recorded; if
    /// not, the environment has changed since.
    pub matches: bool,
    steps: Steps,
}

#[derive(Debug)]
enum Steps {
    Computed(Box<Computed>),
    /// So many, as a foreign trainer told them.
    Stored(u64),
}

/// Why an episode cannot be computed.
enum Reason {
    Run(RunError),
    /// The actions cannot have been taken.
    Senseless(String),
}

impl Reason {
    fn of(self, run: &RunId, episode: u64) -> RunError {
        match self {
            Self::Run(error) => error,
            Self::Senseless(reason) => RunError::BadEpisode { run: run.clone(), episode, reason },
        }
    }
}

impl Replay {
    /// Number of its steps; moments are one more where the start is known.
    pub fn n_steps(&self) -> u64 {
        match &self.steps {
            Steps::Computed(computed) => computed.rewards.len() as u64,
            Steps::Stored(n_steps) => *n_steps,
        }
    }

    /// Facts of the environment, where it is one of ours.
    pub fn spec(&self) -> Option<&'static EnvSpec> {
        match &self.steps {
            Steps::Computed(computed) => Some(computed.env.spec()),
            Steps::Stored(_) => None,
        }
    }

    fn compute(
        env_id: &str,
        options: &Map<String, Value>,
        head: EpisodeHead,
        body: EpisodeBody,
    ) -> Result<Self, Reason> {
        let actions = match body {
            EpisodeBody::Discrete(actions) => Actions::Discrete(actions),
            EpisodeBody::Continuous { width, actions } => {
                Actions::Continuous { width, numbers: actions }
            }
            EpisodeBody::Steps(steps) => {
                let steps = Steps::Stored(steps.len() as u64);
                return Ok(Self { head, matches: true, steps });
            }
        };
        let senseless = |reason: &str| Reason::Senseless(reason.to_owned());
        let seed = head.seed.ok_or_else(|| senseless("its seed is not known"))?;
        let env = make_world(env_id, options).map_err(|error| Reason::Run(error.into()))?;
        let mut computed = Computed::new(env, seed, actions);
        let end = computed.step_all().map_err(Reason::Senseless)?;
        // A game that was ended before its rules did has a score that they do not give.
        let is_cut = is_game(env_id) && head.truncated;
        let matches = is_cut && end == (false, false)
            || computed.rewards.iter().fold(0.0, |sum, reward| sum + reward).to_bits()
                == head.reward.to_bits()
                && computed.rewards.len() as u64 == u64::from(head.length)
                && end == (head.terminated, head.truncated);
        Ok(Self { head, matches, steps: Steps::Computed(Box::new(computed)) })
    }
}

/// An episode that was stepped again.
#[derive(Debug)]
struct Computed {
    /// Stands at step `at`: pictures are mostly asked for in order, and from there it goes on. Going
    /// back begins anew, which takes milliseconds (`benches/episodes.sh`).
    env: Box<dyn Env>,
    at: usize,
    seed: u64,
    actions: Actions,
    /// What was seen, the start first.
    observations: Vec<f32>,
    /// What was legal, the start first; empty where everything always is.
    masks: Vec<bool>,
    rewards: Vec<f64>,
    end: (bool, bool),
}

impl Computed {
    fn new(env: Box<dyn Env>, seed: u64, actions: Actions) -> Self {
        let (observations, masks, rewards) = (Vec::new(), Vec::new(), Vec::new());
        let end = (false, false);
        Self { env, at: 0, seed, actions, observations, masks, rewards, end }
    }

    /// Steps the whole episode and says how it ended, or why it cannot have been.
    fn step_all(&mut self) -> Result<(bool, bool), String> {
        let spec = self.env.spec();
        let mut observation = vec![0.0; spec.observation];
        self.env.reset(Some(self.seed), &mut observation);
        self.see(&observation);
        for step in 0..self.actions.len() {
            let action = self.actions.get(step).expect("there are as many");
            if self.end != (false, false) {
                return Err(format!("it goes on after its end at step {step}"));
            }
            if !fits(spec, action) {
                return Err(format!("{action:?} at step {step} is no action of {}", spec.id));
            }
            let outcome = self.env.step(action, &mut observation);
            self.rewards.push(outcome.reward);
            self.end = (outcome.terminated, outcome.truncated);
            self.see(&observation);
        }
        self.at = self.rewards.len();
        Ok(self.end)
    }

    fn see(&mut self, observation: &[f32]) {
        self.observations.extend_from_slice(observation);
        let spec = self.env.spec();
        if spec.is_masked {
            let from = self.masks.len();
            self.masks.resize(from + spec.actions.size(), false);
            self.env.legal_actions(&mut self.masks[from..]);
        }
    }

    /// The whole of it, for other programs.
    fn episode(&self, head: EpisodeHead) -> dataset::Episode {
        let spec = self.env.spec();
        let observations = Table { width: spec.observation, numbers: self.observations.clone() };
        let actions = match &self.actions {
            Actions::Discrete(actions) => {
                ActionColumn::Discrete(actions.iter().map(|&action| i64::from(action)).collect())
            }
            Actions::Continuous { width, numbers } => {
                ActionColumn::Continuous(Table { width: *width as usize, numbers: numbers.clone() })
            }
        };
        dataset::Episode {
            head,
            observations: Some(observations),
            actions,
            rewards: self.rewards.clone(),
            told: None,
            space: Some(spec.actions),
        }
    }

    fn sights(&self, actions: Range<u64>) -> Sights {
        let spec = self.env.spec();
        let n_actions = self.rewards.len() as u64;
        let from = actions.start.min(n_actions) as usize;
        let to = (actions.end.min(n_actions) as usize).max(from);
        let (seen, choices) = (spec.observation, spec.actions.size());
        Sights {
            spec,
            observations: self.observations[from * seen..to * seen].to_vec(),
            masks: spec.is_masked.then(|| self.masks[from * choices..to * choices].to_vec()),
        }
    }

    fn moments(&mut self, range: Range<u64>, with_scenes: bool) -> Vec<Moment> {
        let n_moments = self.rewards.len() as u64 + 1;
        let steps = range.start.min(n_moments)..range.end.min(n_moments);
        steps.map(|step| self.moment(step as usize, with_scenes)).collect()
    }

    fn moment(&mut self, step: usize, with_scene: bool) -> Moment {
        let scene = with_scene.then(|| self.scene(step));
        let pieces = self.pieces(step);
        let spec = self.env.spec();
        let seen = &self.observations[step * spec.observation..(step + 1) * spec.observation];
        let seen: Vec<f64> = seen.iter().map(|&x| f64::from(x)).collect();
        let is_last = step == self.rewards.len();
        let (terminated, truncated) = if is_last { self.end } else { (false, false) };
        let is_over = terminated || truncated;
        let legal = spec.is_masked.then(|| {
            let n = spec.actions.size();
            let mask = &self.masks[step * n..(step + 1) * n];
            (0..n).filter(|&index| mask[index] && !is_over).collect()
        });
        let before = step.checked_sub(1);
        let action = before.and_then(|before| self.actions.get(before)).map(|action| {
            let action = match action {
                EnvAction::Discrete(action) => AnyAction::Discrete(action),
                EnvAction::Continuous(numbers) => AnyAction::Continuous(numbers.to_vec()),
            };
            serde_json::to_value(action).expect("an action is plain data")
        });
        Moment {
            step: step as u64,
            action,
            observation: Some(seen.into()),
            reward: before.map(|before| self.rewards[before]),
            terminated: before.map(|_| terminated),
            truncated: before.map(|_| truncated),
            legal,
            pieces,
            t: None,
            scene,
        }
    }

    fn scene(&mut self, step: usize) -> Scene {
        self.stand_at(step);
        self.env.scene()
    }

    /// Only games are stepped again for it.
    fn pieces(&mut self, step: usize) -> Option<Vec<Vec<Seat>>> {
        self.env.pieces()?;
        self.stand_at(step);
        self.env.pieces()
    }

    /// Brings the environment to a step.
    fn stand_at(&mut self, step: usize) {
        let mut observation = vec![0.0; self.env.spec().observation];
        if step < self.at {
            self.env.reset(Some(self.seed), &mut observation);
            self.at = 0;
        }
        while self.at < step {
            let action = self.actions.get(self.at).expect("there are as many");
            self.env.step(action, &mut observation);
            self.at += 1;
        }
    }
}

/// What was seen before some actions of an episode, as a policy sees it.
#[derive(Debug)]
pub(crate) struct Sights {
    /// Facts of the environment.
    pub(crate) spec: &'static EnvSpec,
    /// What was seen, one after the other.
    pub(crate) observations: Vec<f32>,
    /// What was legal, one after the other, where not everything always is.
    pub(crate) masks: Option<Vec<bool>>,
}

/// Whether an environment takes `action`: of its kind and size. Numbers beyond the bounds are
/// clipped by the environment, and were when it was played.
fn fits(spec: &EnvSpec, action: EnvAction<'_>) -> bool {
    match action {
        EnvAction::Discrete(_) => spec.actions.contains(action),
        EnvAction::Continuous(numbers) => {
            !spec.actions.is_discrete() && numbers.len() == spec.actions.size()
        }
    }
}

/// A moment of an episode, as `cartridge trace` writes it, with its place and, if asked for, its
/// picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moment {
    /// Actions before it.
    pub step: u64,
    /// What was done; nothing at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Value>,
    /// What is seen. Floats are written as doubles, which hold every single exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observation: Option<Value>,
    /// What the action earned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    /// Whether the task itself has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminated: Option<bool>,
    /// Whether the time limit was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// The actions that are legal next, where not all always are; none after the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legal: Option<Vec<usize>>,
    /// The seats whose pieces lie where each action of a game is chosen, the lowest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pieces: Option<Vec<Vec<Seat>>>,
    /// When, where a foreign trainer told it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t: Option<f64>,
    /// The picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scene: Option<Scene>,
}

impl Moment {
    fn told(step: u64, told: StepRecord) -> Self {
        let StepRecord { action, reward, terminated, truncated, obs, t } = told;
        Self {
            step,
            action: Some(action),
            observation: obs,
            reward: Some(reward),
            terminated: Some(terminated),
            truncated: Some(truncated),
            legal: None,
            pieces: None,
            t,
            scene: None,
        }
    }
}

/// Actions as the store keeps them.
pub(crate) fn body_of(actions: Actions) -> EpisodeBody {
    match actions {
        Actions::Discrete(actions) => EpisodeBody::Discrete(actions),
        Actions::Continuous { width, numbers } => {
            EpisodeBody::Continuous { width, actions: numbers }
        }
    }
}

/// Actions that the store keeps; nothing where it keeps the steps of a foreign trainer.
pub(crate) fn actions_of(body: EpisodeBody) -> Option<Actions> {
    match body {
        EpisodeBody::Discrete(actions) => Some(Actions::Discrete(actions)),
        EpisodeBody::Continuous { width, actions } => {
            Some(Actions::Continuous { width, numbers: actions })
        }
        EpisodeBody::Steps(_) => None,
    }
}

/// Heads from a person's session; the steps of the run are those of all its episodes.
fn human_heads(record: &Record, manifest: &Manifest) -> Vec<EpisodeHead> {
    let mut step = 0;
    let head = |episode: &crate::human::Episode| {
        step += episode.length;
        EpisodeHead {
            episode: u64::from(episode.episode),
            attempt: 1,
            lane: 0,
            seed: Some(episode.seed),
            reward: episode.total_reward,
            length: u32::try_from(episode.length).unwrap_or(u32::MAX),
            step,
            terminated: episode.terminated,
            truncated: episode.truncated,
            checkpoint_step: None,
            t: manifest.created_at,
            foreign_id: None,
        }
    };
    record.episodes.iter().map(head).collect()
}

/// A person's game as it stands: one episode of both seats, paid as every recorded game is, by the
/// score of the first. There is none before the first move.
fn board_head(play: &Play) -> Option<EpisodeHead> {
    let length = u32::try_from(play.moves.len()).unwrap_or(u32::MAX);
    let is_over = play.game.turn() == Turn::Over;
    (length > 0).then(|| EpisodeHead {
        episode: 1,
        attempt: 1,
        lane: 0,
        seed: Some(play.seed),
        reward: if is_over { f64::from(play.game.score(Seat(0))) } else { 0.0 },
        length,
        step: u64::from(length),
        terminated: is_over,
        truncated: false,
        checkpoint_step: None,
        t: play.manifest.created_at,
        foreign_id: None,
    })
}

/// Heads from the rows of metrics.
fn figures(told: &ToldEpisodes) -> Vec<EpisodeHead> {
    let heads = |row: &Episodes| {
        let head = |place: usize| EpisodeHead {
            episode: row.episode[place],
            attempt: 1,
            lane: 0,
            seed: row.seed[place],
            reward: row.reward[place].unwrap_or(f64::NAN),
            length: row.length[place],
            step: row.timestep[place],
            terminated: row.terminated[place],
            truncated: !row.terminated[place],
            checkpoint_step: None,
            // It is not kept; the order is.
            t: row.timestep[place] as f64,
            foreign_id: None,
        };
        (0..row.episode.len()).map(head).collect::<Vec<_>>()
    };
    told.rows().iter().flat_map(|told| heads(&told.episodes)).collect()
}

/// The archives that a lab keeps open, the newest last.
#[derive(Debug, Default)]
pub(crate) struct Archives(Mutex<Vec<(RunId, Arc<Mutex<Archive>>)>>);

impl Lab {
    /// Asks the episodes of a run something.
    pub fn with_archive<T>(
        &self,
        id: &RunId,
        question: impl FnOnce(&mut Archive) -> Result<T>,
    ) -> Result<T> {
        if !self.data.run(id).manifest_path().exists() {
            return Err(StoreError::NoSuchRun(id.to_string()).into());
        }
        let kept = {
            let mut archives = self.archives.0.lock().unwrap_or_else(PoisonError::into_inner);
            let place = archives.iter().position(|(kept, _)| kept == id);
            let (_, archive) = match place {
                Some(place) => archives.remove(place),
                None => (id.clone(), Arc::new(Mutex::new(Archive::open(&self.data, id)?))),
            };
            if archives.len() >= ARCHIVES {
                archives.remove(0);
            }
            archives.push((id.clone(), Arc::clone(&archive)));
            archive
        };
        // Whoever looks at another run does not wait for this one.
        let mut archive = kept.lock().unwrap_or_else(PoisonError::into_inner);
        archive.refresh()?;
        question(&mut archive)
    }
}

#[cfg(test)]
pub(crate) mod tests;
