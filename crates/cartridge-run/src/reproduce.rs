//! A run made again from its manifest, to see whether the same comes out.
//!
//! Nothing is written: the learner trains in memory to the step of the last weights that the run
//! recorded, with every change that was acknowledged at the step at which it was. Crashes, pauses
//! and evaluations of the run change no weights, so they are not repeated.

use std::collections::BTreeSet;

use cartridge_learn::alphazero::Training;
use cartridge_learn::learner::Learner;
use cartridge_learn::report::Knob;
use cartridge_learn::team::Team;
use cartridge_store::{DataDir, Event, Manifest, Replay, RunId, RunKind, RunState};
use serde::Serialize;

use crate::checkpoint::{self, Whole};
use crate::config::RunConfig;
use crate::error::{Result, RunError};
use crate::self_play;
use crate::steer;
use crate::tunable::Tunable;
use crate::worker::{events, go_on, make_envs, tunes_since};

/// A run that is about to be made again.
#[derive(Debug)]
pub struct Reproduction {
    config: RunConfig,
    trainee: Trainee,
    /// Changes of settings, by step.
    tunes: Vec<(u64, Tunable, f64)>,
    /// What the run recorded.
    pub recorded: Recorded,
}

/// Who learns.
#[derive(Debug)]
enum Trainee {
    Learner(Learner),
    SelfPlay(Box<dyn Training>),
}

impl Trainee {
    fn step(&self) -> u64 {
        match self {
            Self::Learner(learner) => learner.step(),
            Self::SelfPlay(training) => training.step(),
        }
    }

    fn tune(&mut self, knob: Knob, value: f64) {
        match self {
            Self::Learner(learner) => _ = learner.tune(knob, value),
            Self::SelfPlay(training) => _ = training.tune_learning_rate(value),
        }
    }

    /// Makes one update; says whether the training can go on after it.
    fn update(&mut self) -> bool {
        match self {
            Self::Learner(learner) => {
                _ = learner.update(&mut |_| {});
                learner.fault().is_none()
            }
            Self::SelfPlay(training) => training.update(&mut |_| {}).is_ok(),
        }
    }

    fn weights_sha256(&self) -> String {
        match self {
            Self::Learner(learner) => learner.policy().sha256(),
            Self::SelfPlay(training) => training.network().sha256(),
        }
    }
}

/// The last weights of a run, and how they were made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recorded {
    /// Environment steps at which they were recorded.
    pub step: u64,
    /// Their hash.
    pub weights_sha256: String,
    /// The instruction sets that the attempts of the run used; none where it is too old to say.
    pub instruction_sets: BTreeSet<String>,
    /// The version that made the run.
    pub cartridge_version: String,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Environment steps that were reached.
    pub step: u64,
    /// Hash of the weights.
    pub weights_sha256: String,
    /// Changes of settings that were made again.
    pub tunes: usize,
}

impl Recorded {
    fn of(data: &DataDir, manifest: &Manifest) -> Result<Self> {
        let mut instruction_sets = BTreeSet::new();
        let mut newest = None;
        for line in events(&data.run(&manifest.id))? {
            match line.event {
                Event::EnvironmentInitialized { instruction_set, .. } => {
                    instruction_sets.extend(instruction_set);
                }
                Event::CheckpointSaved { step, weights_sha256, .. }
                | Event::Done { step, weights_sha256, .. }
                    if !weights_sha256.is_empty() =>
                {
                    newest = Some((step, weights_sha256));
                }
                _ => {}
            }
        }
        let Some((step, weights_sha256)) = newest else {
            return Err(RunError::NothingToReproduce(manifest.id.clone()));
        };
        let cartridge_version = manifest.cartridge_version.clone();
        Ok(Self { step, weights_sha256, instruction_sets, cartridge_version })
    }
}

impl Reproduction {
    /// Gets ready to make a run again that has ended, with `threads` threads or as many as it had.
    pub fn of(data: &DataDir, id: &RunId, threads: Option<u32>) -> Result<Self> {
        let (manifest, status) = steer::look(data, id)?;
        if manifest.kind != RunKind::Train {
            return Err(RunError::NothingToReproduce(id.clone()));
        }
        let state = status.state();
        if !state.is_final() && state != RunState::Lost {
            let hint = "stop it, or wait for its end";
            return Err(RunError::NotNow { id: id.clone(), state, hint });
        }
        let recorded = Recorded::of(data, &manifest)?;
        let mut config = steer::config_of(&manifest)?;
        config.resources.threads = threads.unwrap_or(config.resources.threads);
        let trainee = if config.self_play().is_some() {
            Trainee::SelfPlay(match &manifest.parent {
                Some(_) => go_on_by_self_play(data, &manifest, &config)?,
                None => self_play::begin(&config)?,
            })
        } else {
            let team = Team::new(config.n_threads());
            Trainee::Learner(match &manifest.parent {
                Some(_) => go_on(data, id, &config, team, origin(data, &manifest, &config)?)?,
                None => {
                    let seed_base = config.seeds.seed_base;
                    Learner::new(make_envs(&config)?, &config.learner(), seed_base, team)
                }
            })
        };
        let tunes = tunes_since(&data.run(id), &config, trainee.step())?.into();
        Ok(Self { config, trainee, tunes, recorded })
    }

    /// Threads that learn.
    pub fn n_threads(&self) -> usize {
        self.config.n_threads()
    }

    /// Trains to where the run got, and says after each update how far it is.
    pub fn train(mut self, progress: &mut dyn FnMut(u64)) -> Outcome {
        let mut tunes = self.tunes.into_iter().peekable();
        let mut n_tunes = 0;
        // A number that is not finite ends the training of a run, and so it does here.
        let mut is_sound = true;
        loop {
            let step = self.trainee.step();
            progress(step);
            if step >= self.recorded.step || !is_sound {
                break;
            }
            while let Some((_, tunable, value)) = tunes.next_if(|(at, ..)| *at <= step) {
                n_tunes += 1;
                // When the policy is measured changes no weights.
                if let Tunable::Learner(knob) = tunable {
                    self.trainee.tune(knob, value);
                }
            }
            is_sound = self.trainee.update();
        }
        Outcome {
            step: self.trainee.step(),
            weights_sha256: self.trainee.weights_sha256(),
            tunes: n_tunes,
        }
    }
}

/// A fork by self-play where it began: from its own copy of the checkpoint and of the games. Games that
/// it has played since are in the way of nobody, because they have later numbers.
fn go_on_by_self_play(
    data: &DataDir,
    fork: &Manifest,
    config: &RunConfig,
) -> Result<Box<dyn Training>> {
    let parent = fork.parent.as_ref().expect("whoever asks has looked");
    let dir = data.run(&fork.id);
    let whole = checkpoint::load_self_play(&dir, &fork.id, &checkpoint::name_of(parent.step))?;
    self_play::go_on(config, &Replay::open_to_read(dir.replay_path())?, &whole)
}

/// The checkpoint that a fork began from: its own copy, or that of the run that it comes from as
/// the fork's configuration wants it.
fn origin(data: &DataDir, fork: &Manifest, config: &RunConfig) -> Result<Whole> {
    let parent = fork.parent.as_ref().expect("whoever asks has looked");
    let own = checkpoint::name_of(parent.step);
    if let Ok(whole) = checkpoint::load_whole(&data.run(&fork.id), &fork.id, &own) {
        return Ok(whole);
    }
    let dir = data.run(&parent.run);
    let mut whole = checkpoint::load_whole(&dir, &parent.run, &parent.checkpoint)?;
    whole.state.adopt(&config.learner());
    Ok(whole)
}
