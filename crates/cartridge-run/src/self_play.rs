//! Training by self-play: what [`worker`](crate::worker) does where the algorithm is AlphaZero.
//!
//! The folder of such a run has, beside what every run has, `replay.db` with the games that are learnt
//! from, `models/` with networks for other programs, and `stats.json` (`docs/alphazero.md`). Every game
//! is an episode too, so it can be replayed like any other.

mod arena;
mod files;
mod solver;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use cartridge_games::Actions;
use cartridge_learn::alphazero::record::{End, PlayedGame, VALUE_ONE};
use cartridge_learn::alphazero::{self, Training};
use cartridge_learn::board_learner::NotFinite;
use cartridge_learn::board_net::BoardNet;
use cartridge_learn::metric::Metric;
use cartridge_learn::report::{EpisodeEnd, Phase, Update};
use cartridge_learn::team::Team;
use cartridge_store::match_log::{self, MatchLine};
use cartridge_store::{
    DataDir, DoneReason, Evaluation, Event, Manifest, MatchPlayer, Replay, RunDir, StoreError,
};

use self::arena::{Plan, Scores, against_network, against_opponent, against_thinker, rating};
use self::files::Stats;
use self::solver::Examiner;
use crate::audit::Marks;
use crate::checkpoint::{self, Alias, Progress, WholeSelfPlay};
use crate::clock::unix_now;
use crate::config::{AlphaZeroTrainer, Promotion, RunConfig, Trainer};
use crate::error::{Result, RunError};
use crate::model::{self, Source};
use crate::opponent::Opponent;
use crate::player;
use crate::steer::By;
use crate::tunable::Tunable;
use crate::worker::{Heard, Journal, Schedule, Steered, listen, tunes_since};

/// Updates between two looks at positions whose best moves are known.
const SOLVER_EVERY: u64 = 4;

/// Trains the run until it is done, is stopped, or fails. Returns whether it ended well.
pub(crate) fn work(
    data: &DataDir,
    manifest: &Manifest,
    config: RunConfig,
    attempt: u32,
) -> Result<bool> {
    let dir = data.run(&manifest.id);
    let journal = Journal::open(&dir, attempt, config.retention.shard_target_mb)?;
    let control = listen();
    let n_threads = config.n_threads();
    let training = begin(&config)?;
    let mut worker = SelfPlay {
        data: data.clone(),
        manifest: manifest.clone(),
        replay: Replay::open(dir.replay_path())?,
        dir,
        journal,
        training,
        schedule: Schedule::new(&config),
        best: None,
        stats: Stats::default(),
        examiner: Examiner::new(&config.env_id),
        arena: Team::new(n_threads),
        marks: Marks::default(),
        tunes: VecDeque::new(),
        needed_before: 0,
        config,
    };
    let is_fork = manifest.parent.is_some();
    let is_restored = if attempt > 1 || is_fork {
        worker.restore(is_fork)?
    } else {
        worker.replay.forget_after(0)?;
        false
    };
    worker.journal.event(Event::EnvironmentInitialized {
        env_id: worker.config.env_id.clone(),
        n_envs: worker.config.simulation.n_envs,
        instruction_set: Some(cartridge_learn::instruction_set().to_owned()),
    })?;
    let total_timesteps = worker.config.trainer.total_timesteps();
    worker.journal.event(Event::TrainingStarted { total_timesteps })?;
    worker.train(is_restored, &control)
}

/// A training at its beginning.
pub(crate) fn begin(config: &RunConfig) -> Result<Box<dyn Training>> {
    let settings = config.self_play().expect("whoever asks has looked");
    let team = Team::new(config.n_threads());
    Ok(alphazero::begin(&config.env_id, &settings, config.seeds.seed_base, team)?)
}

/// A training that goes on from a checkpoint, with the games of its window.
pub(crate) fn go_on(
    config: &RunConfig,
    replay: &Replay,
    whole: &WholeSelfPlay,
) -> Result<Box<dyn Training>> {
    let damaged = |detail: String| StoreError::Damaged { path: replay.path().to_owned(), detail };
    let state = &whole.state;
    let games = replay.up_to(state.n_games(), state.n_window_games())?;
    let games = games.iter().map(|bytes| PlayedGame::from_bytes(bytes));
    let games: Vec<PlayedGame> =
        games.collect::<Result<_, _>>().map_err(|error| damaged(error.to_string()))?;
    let settings = config.self_play().expect("whoever asks has looked");
    let team = Team::new(config.n_threads());
    let (seed_base, network) = (config.seeds.seed_base, whole.network.clone());
    let games = games.into_iter();
    Ok(alphazero::go_on(&config.env_id, &settings, seed_base, team, network, state, games)?)
}

/// A training in progress.
struct SelfPlay {
    data: DataDir,
    manifest: Manifest,
    dir: RunDir,
    config: RunConfig,
    journal: Journal,
    replay: Replay,
    training: Box<dyn Training>,
    schedule: Schedule,
    /// The rating of the best checkpoint, and its step.
    best: Option<(f64, u64)>,
    stats: Stats,
    /// Who looks at positions whose best moves are known.
    examiner: Examiner,
    /// Who plays the games of evaluations.
    arena: Team,
    /// What people have pinned.
    marks: Marks,
    /// What was tuned after the checkpoint that this attempt goes on from, by step.
    tunes: VecDeque<(u64, Tunable, f64)>,
    /// The first game that the newest checkpoint needs.
    needed_before: u64,
}

impl SelfPlay {
    /// Goes on from the newest checkpoint that is whole, or else from the beginning; says which.
    fn restore(&mut self, is_fork: bool) -> Result<bool> {
        let id = &self.manifest.id;
        let mut warnings = Vec::new();
        let mut names = checkpoint::names(&self.dir)?;
        let found = loop {
            let Some(name) = names.pop() else { break None };
            let whole = checkpoint::load_self_play(&self.dir, id, &name);
            match whole.and_then(|whole| Ok((go_on(&self.config, &self.replay, &whole)?, whole))) {
                Ok(found) => break Some(found),
                Err(error) => warnings.push(format!("{name}: {error}")),
            }
        };
        if found.is_none() && is_fork {
            let name = "latest".to_owned();
            return Err(RunError::NoSuchCheckpoint { run: id.clone(), name });
        }
        let (name, step, row, episode) = match &found {
            Some((_, WholeSelfPlay { name, state, progress, .. })) => {
                (name.clone(), state.step(), progress.row, progress.episode)
            }
            None => (String::new(), 0, 0, 0),
        };
        // Later ones cannot be used, or belong to what is superseded now.
        checkpoint::forget_after(&self.dir, found.is_some().then_some(name.as_str()))?;
        files::forget_after(&self.dir, step);
        self.replay.forget_after(episode)?;
        self.tunes = tunes_since(&self.dir, &self.config, step)?;
        let is_restored = found.is_some();
        if let Some((training, WholeSelfPlay { state, progress, .. })) = found {
            self.training = training;
            self.needed_before =
                (state.n_games() + 1).saturating_sub(state.n_window_games() as u64);
            self.schedule.next_checkpoint = progress.next_checkpoint;
            self.schedule.evaluate_every = progress.evaluate_every;
            self.schedule.next_evaluation = progress.next_evaluation;
            self.best = progress.best;
            self.stats = Stats {
                step,
                games: state.n_games(),
                ..files::read_stats(&self.dir).unwrap_or_default()
            };
            // A kill may have come between the two, and a fork has none yet.
            if let Some(onnx) = checkpoint::onnx_of(&self.dir, &name) {
                let milestone_every = self.config.retention.milestone_every_steps;
                files::write_model(&self.dir, step, &onnx, milestone_every)?;
            }
            checkpoint::point(&self.dir, Alias::Latest, &name)?;
            if let Some((_, step)) = self.best {
                let best = checkpoint::name_of(step);
                if self.dir.checkpoints_path().join(&best).is_dir() {
                    checkpoint::point(&self.dir, Alias::Best, &best)?;
                }
            }
            self.journal.n_rows = progress.row;
            self.journal.n_episodes = progress.episode;
            self.journal.last_checkpoint = Some((step, name.clone()));
        }
        self.journal.event(Event::Restored { checkpoint: name, step, row, episode })?;
        for message in warnings {
            self.journal.event(Event::Warning { message })?;
        }
        Ok(is_restored)
    }

    /// Trains to the end. One that was restored stands where an update has just been made.
    fn train(
        mut self,
        is_restored: bool,
        control: &std::sync::mpsc::Receiver<Heard>,
    ) -> Result<bool> {
        let mut is_updated = is_restored;
        let reason = loop {
            if !is_updated && !self.learn()? {
                return Ok(false);
            }
            is_updated = false;
            let is_end = self.training.is_done();
            self.save_and_measure(is_end)?;
            if is_end {
                break DoneReason::Completed;
            }
            while let Some((_, tunable, value)) =
                self.tunes.pop_front_if(|(step, ..)| *step <= self.training.step())
            {
                self.apply(tunable, value);
            }
            if let Some(reason) = self.obey(control)? {
                break reason;
            }
        };
        let checkpoint = self.save()?;
        if reason != DoneReason::Orphaned {
            self.challenge()?;
        }
        self.journal.event(Event::Done {
            reason,
            step: self.training.step(),
            weights_sha256: self.training.network().sha256(),
            checkpoint,
        })?;
        Ok(true)
    }

    /// Makes one update and records it. Returns whether its figures make sense.
    fn learn(&mut self) -> Result<bool> {
        let (step_before, games_before) = (self.training.step(), self.training.n_games());
        let mut clock = PhaseClock::new();
        let update = self.training.update(&mut |phase| clock.begin(phase));
        self.settle()?;
        let update = match update {
            Ok(update) => update,
            Err(NotFinite { step, .. }) => {
                let message =
                    format!("The gradient of step {step} is not finite; try a lower learning rate");
                self.journal.event(Event::Error { message })?;
                return Ok(false);
            }
        };
        let seconds = clock.end();
        let games: Vec<Vec<u8>> = update.games.iter().map(PlayedGame::to_bytes).collect();
        self.replay.append(&games, unix_now())?;
        let fps = (update.step - step_before) as f64 / seconds.max(1e-9);
        let mut report = self.report(&update, &clock, games_before);
        self.stats = Stats {
            step: update.step,
            games: self.training.n_games(),
            loss: report.scalar(Metric::Loss).or(self.stats.loss),
            policy_loss: report.scalar(Metric::PolicyCrossEntropy).or(self.stats.policy_loss),
            value_loss: report.scalar(Metric::ValueLoss).or(self.stats.value_loss),
            learning_rate: update.learning_rate,
            ..self.stats
        };
        files::write_stats(&self.dir, &self.stats)?;
        self.journal.record(&mut report, fps)?;
        self.journal.log(&report, fps);
        if self.is_examined() {
            self.examiner.begin(update.step, self.training.network());
        }
        Ok(true)
    }

    /// Whether positions whose best moves are known are looked at after this update. It goes by the
    /// step alone, so that a run that is resumed looks at the same networks.
    fn is_examined(&self) -> bool {
        let steps_per_update = self.config.self_play().map_or(1, |it| it.steps_per_update).max(1);
        let n_updates = self.training.step().div_ceil(steps_per_update);
        n_updates % SOLVER_EVERY == 1 || self.training.is_done()
    }

    /// An update in the words of all trainings.
    fn report(&self, update: &alphazero::Update, clock: &PhaseClock, games_before: u64) -> Update {
        let statistics = update.statistics;
        let core_seconds = update.playing.as_secs_f64().max(1e-9);
        let n_descents = statistics.n_descents.max(1) as f64;
        let mut scalars = vec![
            (Metric::LearningRate, update.learning_rate),
            (Metric::GamesPerSecond, update.games.len() as f64 / clock.total().max(1e-9)),
            (Metric::NetworkEvaluations, statistics.n_evaluations as f64 / core_seconds),
            (Metric::TreeDescents, statistics.n_descents as f64 / core_seconds),
            (Metric::CacheShare, statistics.n_cache_hits as f64 / n_descents),
            (Metric::ProvenShare, statistics.n_proven as f64 / n_descents),
            (Metric::WindowPositions, update.window[0] as f64),
            (Metric::WindowDifferent, update.window[1] as f64),
        ];
        if let Some(losses) = &update.losses {
            scalars.extend([
                (Metric::Loss, losses.policy_loss + losses.value_loss),
                (Metric::PolicyCrossEntropy, losses.policy_loss),
                (Metric::ValueLoss, losses.value_loss),
                (Metric::PolicyDivergence, losses.divergence),
                (Metric::Entropy, losses.entropy),
                (Metric::GradientNorm, f64::from(losses.gradient_norm)),
            ]);
        }
        if !update.games.is_empty() {
            let n = update.games.len() as f64;
            let length: usize = update.games.iter().map(|game| game.actions.len()).sum();
            let score: f64 = update.games.iter().map(first_score).sum();
            scalars.push((Metric::EpisodeLength, length as f64 / n));
            scalars.push((Metric::FirstSeatScore, score / n));
        }
        let [n_audited, n_wrong] = update.audited;
        if n_audited > 0 {
            scalars.push((Metric::FalseResignations, n_wrong as f64 / n_audited as f64));
        }
        let episodes =
            update.games.iter().zip(games_before + 1..).map(|(game, episode)| EpisodeEnd {
                episode,
                lane: 0,
                seed: 0,
                step: update.step,
                reward: first_score(game),
                length: game.actions.len() as u32,
                terminated: game.end == End::Over,
                truncated: game.end != End::Over,
                actions: Actions::Discrete(
                    game.actions.iter().map(|action| action.0 as u32).collect(),
                ),
                metrics: Vec::new(),
            });
        Update {
            step: update.step,
            scalars,
            episode_metrics: Vec::new(),
            episodes: episodes.collect(),
        }
    }

    /// Saves and measures the network where that is due, as it is at the end.
    fn save_and_measure(&mut self, is_end: bool) -> Result<()> {
        let step = self.training.step();
        // What is measured is saved before it counts as measured, so that a kill repeats it.
        let is_due = self.schedule.checkpoint_is_due(step, Instant::now());
        if is_due || self.schedule.awaits_evaluation(step) || is_end {
            self.save()?;
        }
        if self.schedule.evaluation_is_due(step) || is_end {
            self.measure(is_end)?;
        }
        Ok(())
    }

    /// Plays against the best so far and against the fixed opponents, and promotes what is better.
    fn measure(&mut self, is_end: bool) -> Result<()> {
        let step = self.training.step();
        let plan = &self.config.evaluation;
        let episodes = if is_end { plan.final_episodes } else { plan.episodes };
        let n_simulations = plan.simulations.unwrap_or(0);
        self.journal.event(Event::EvaluationStarted { step, episodes })?;
        let name = self.save()?;
        let plan = Plan { n_games: episodes, n_simulations, seed: self.config.seeds.seed_base };
        let game = self.config.env_id.clone();
        let opponent = Opponent::baseline(&game);
        let network = self.training.network();
        let fixed = against_opponent(&game, network, opponent, plan, &mut self.arena)?;
        let strong = match Opponent::strong_baseline(&game) {
            Some((opponent, elo)) => {
                let network = self.training.network();
                let scores = against_opponent(&game, network, opponent, plan, &mut self.arena)?;
                Some((opponent, elo, scores))
            }
            None => None,
        };
        let best = self.best_network()?;
        let of_best = match &best {
            Some((_, best)) => {
                let network = self.training.network();
                Some(against_network(&game, network, best, plan, &mut self.arena)?)
            }
            None => None,
        };
        let mut games = vec![(0.0, fixed.0.len(), fixed.share())];
        games.extend(strong.iter().map(|(_, elo, scores)| (*elo, scores.0.len(), scores.share())));
        if let (Some((elo, _)), Some(scores)) = (self.best, &of_best) {
            games.push((elo, scores.0.len(), scores.share()));
        }
        let elo = rating(&games);
        let win_rate = of_best.as_ref().map(Scores::share);
        let mut scalars = vec![
            (Metric::ArenaBaseline, fixed.share()),
            (Metric::ArenaElo, elo),
            (Metric::EvaluationReward, 2.0 * fixed.share() - 1.0),
        ];
        scalars.extend(strong.iter().map(|(_, _, scores)| (Metric::ArenaStrong, scores.share())));
        scalars.extend(win_rate.map(|share| (Metric::ArenaBest, share)));
        let scalars = scalars.into_iter().map(|(metric, value)| (metric.name().to_owned(), value));
        self.journal.metrics(step, scalars, &[])?;
        self.log_match(&name, &Rated::Baseline(opponent), &fixed, plan)?;
        if let Some((opponent, _, scores)) = &strong {
            self.log_match(&name, &Rated::Strong(*opponent), scores, plan)?;
        }
        if let (Some((best, _)), Some(scores)) = (&best, &of_best) {
            self.log_match(&name, &Rated::Checkpoint(best), scores, plan)?;
        }
        self.stats.win_rate = win_rate.or(self.stats.win_rate);
        self.stats.elo = Some(elo);
        files::write_stats(&self.dir, &self.stats)?;
        self.journal.event(Event::EvaluationComplete(summary(step, &fixed, win_rate, elo)))?;
        if self.is_promoted(win_rate) {
            self.best = Some((elo, step));
            checkpoint::point(&self.dir, Alias::Best, &name)?;
        }
        Ok(())
    }

    /// Lets the best of the run play the lab's best at its game, and puts it in that place if it wins.
    /// What goes wrong there does not make the training a failure.
    fn challenge(&mut self) -> Result<()> {
        let Some((name, network)) = self.best_network()? else { return Ok(()) };
        match self.play_the_champion(&name, &network) {
            Ok(None) => Ok(()),
            Ok(Some(event)) => self.journal.event(event),
            Err(error) => {
                let message = format!("The lab's best was not played: {error}");
                self.journal.event(Event::Warning { message })
            }
        }
    }

    /// What is to be told where the lab has a new best.
    fn play_the_champion(&mut self, name: &str, network: &BoardNet) -> Result<Option<Event>> {
        let game = self.config.env_id.clone();
        let against = match player::champion(&self.data, &game)? {
            None => None,
            Some(champion) if champion.about.sha256 == Some(network.sha256()) => return Ok(None),
            Some(champion) => {
                let plan = Plan {
                    n_games: self.config.evaluation.final_episodes,
                    n_simulations: self.config.evaluation.simulations.unwrap_or(0),
                    seed: self.config.seeds.seed_base,
                };
                let (thinker, _) =
                    champion.thinker().expect("whoever is the best at a board thinks");
                let scores = against_thinker(&game, network, thinker, plan, &mut self.arena)?;
                let n_simulations = if thinker.has_value() { plan.n_simulations } else { 0 };
                let champion = champion.clone().with_simulations(n_simulations)?.about;
                self.log_match(name, &Rated::Champion(&champion), &scores, plan)?;
                if scores.share() <= self.trainer().promote_above {
                    return Ok(None);
                }
                Some((champion.name, scores.share()))
            }
        };
        let run = Box::new(self.manifest.clone());
        let source = Source::Checkpoint { run, which: Some(name.to_owned()) };
        let (model, version) = model::promote(&self.data, source, By::new("trainer"))?;
        let player = format!("model:{}@{}", model.name, version.version);
        Ok(Some(Event::Promoted { player, against }))
    }

    /// Whether what was measured becomes the best.
    fn is_promoted(&self, win_rate: Option<f64>) -> bool {
        let Some(win_rate) = win_rate else { return true };
        let trainer = self.trainer();
        match trainer.promotion {
            Promotion::Continuous => true,
            Promotion::Arena => win_rate > trainer.promote_above,
        }
    }

    fn trainer(&self) -> &AlphaZeroTrainer {
        match &self.config.trainer {
            Trainer::AlphaZero(trainer) => trainer,
            Trainer::Ppo(_) | Trainer::Dqn(_) => unreachable!("another worker trains those"),
        }
    }

    /// The best checkpoint so far, if it is still there.
    fn best_network(&self) -> Result<Option<(String, BoardNet)>> {
        // Not what the alias says: that may be of an evaluation which a kill has undone.
        let Some((_, step)) = self.best else { return Ok(None) };
        let name = checkpoint::name_of(step);
        match checkpoint::load_board_net(&self.dir, &self.manifest.id, &name) {
            Ok((_, network)) => Ok(Some((name, network))),
            Err(RunError::NoSuchCheckpoint { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Adds the games of an evaluation to those by which players are rated.
    fn log_match(&self, name: &str, rival: &Rated<'_>, scores: &Scores, plan: Plan) -> Result<()> {
        let id = &self.manifest.id;
        let n_simulations = plan.n_simulations;
        let checkpoint_player = |name: &str| -> Result<MatchPlayer> {
            let manifest = checkpoint::manifest(&self.dir, id, name)?;
            Ok(MatchPlayer {
                key: format!("run:{id}@{name}:{n_simulations}"),
                name: format!("{id} at step {}, {n_simulations} simulations", manifest.step),
                sha256: Some(manifest.weights_sha256),
            })
        };
        let fixed_player = |opponent: Opponent| MatchPlayer {
            key: opponent.to_string(),
            name: opponent.name(),
            sha256: None,
        };
        let (b, which) = match rival {
            Rated::Baseline(opponent) => (fixed_player(*opponent), "baseline"),
            Rated::Strong(opponent) => (fixed_player(*opponent), "strong"),
            Rated::Checkpoint(name) => (checkpoint_player(name)?, "best"),
            Rated::Champion(champion) => ((*champion).clone(), "champion"),
        };
        let start =
            cartridge_games::AnyGame::start(&self.config.env_id, &mut fastrand::Rng::with_seed(0))?;
        let line = MatchLine {
            format: MatchLine::FORMAT,
            id: format!("{id}/{name}/{which}"),
            run: id.clone(),
            t: unix_now(),
            game: self.config.env_id.clone(),
            rules: start.spec().version,
            env: serde_json::Map::new(),
            cartridge_version: self.manifest.cartridge_version.clone(),
            a: checkpoint_player(name)?,
            b,
            seed: plan.seed,
            both_sides: true,
            results: scores.letters(),
            seeds: Vec::new(),
            returns: Vec::new(),
        };
        Ok(match_log::append(&self.data, &line)?)
    }
}

/// Whom an evaluation was played against.
enum Rated<'a> {
    Baseline(Opponent),
    Strong(Opponent),
    Checkpoint(&'a str),
    Champion(&'a MatchPlayer),
}

impl Steered for SelfPlay {
    fn config(&self) -> &RunConfig {
        &self.config
    }

    fn journal(&mut self) -> &mut Journal {
        &mut self.journal
    }

    fn step(&self) -> u64 {
        self.training.step()
    }

    fn apply(&mut self, tunable: Tunable, value: f64) -> f64 {
        match tunable {
            Tunable::Learner(_) => self.training.tune_learning_rate(value),
            Tunable::EvaluationEvery => {
                self.schedule.evaluate_anew(self.training.step(), value as u64) as f64
            }
        }
    }

    fn settle(&mut self) -> Result<()> {
        let Some((step, found)) = self.examiner.end() else { return Ok(()) };
        let found = found.into_iter().map(|(metric, value)| (metric.name().to_owned(), value));
        self.journal.metrics(step, found, &[])
    }

    fn save(&mut self) -> Result<String> {
        self.settle()?;
        let step = self.training.step();
        if let Some((saved, name)) = &self.journal.last_checkpoint
            && *saved == step
        {
            return Ok(name.clone());
        }
        // The rows that the checkpoint counts come first; its games are in the replay already.
        self.journal.sync()?;
        let state = self.training.state();
        let progress = Progress {
            row: self.journal.n_rows,
            episode: state.n_games(),
            next_checkpoint: self.schedule.next_checkpoint,
            evaluate_every: self.schedule.evaluate_every,
            next_evaluation: self.schedule.next_evaluation,
            best: self.best,
        };
        let network = self.training.network();
        let game = &self.config.env_id;
        let (name, onnx) = checkpoint::save_self_play(&self.dir, game, network, &state, progress)?;
        let retention = &self.config.retention;
        files::write_model(&self.dir, step, &onnx, retention.milestone_every_steps)?;
        // The newest two checkpoints can be gone on from; what only older ones need goes.
        self.replay.forget_before(self.needed_before)?;
        self.needed_before = (state.n_games() + 1).saturating_sub(state.n_window_games() as u64);
        self.marks.advance(&self.data)?;
        let pinned = self.marks.pinned_checkpoints.get(&self.manifest.id);
        let pinned = pinned.cloned().unwrap_or_default();
        for pruned in checkpoint::prune(&self.dir, retention, &pinned)? {
            self.journal.event(Event::ArtifactPruned(pruned))?;
        }
        self.journal.last_checkpoint = Some((step, name.clone()));
        let weights_sha256 = self.training.network().sha256();
        let saved = Event::CheckpointSaved { step, name: name.clone(), path: None, weights_sha256 };
        self.journal.event(saved)?;
        Ok(name)
    }
}

/// The score of the first seat, from -1 to 1.
fn first_score(game: &PlayedGame) -> f64 {
    f64::from(game.score) / f64::from(VALUE_ONE)
}

/// An evaluation in the words of all trainings: the mean score against the fixed opponent, from -1
/// to 1.
fn summary(step: u64, fixed: &Scores, win_rate: Option<f64>, elo: f64) -> Evaluation {
    let scores = fixed.outcomes();
    let n = fixed.0.len().max(1) as f64;
    let mean = scores.clone().sum::<f64>() / n;
    let variance = scores.map(|score| (score - mean).powi(2)).sum::<f64>() / n;
    let half = 1.96 * (variance / n).sqrt();
    let mut metrics = std::collections::BTreeMap::from([("elo".to_owned(), elo)]);
    metrics.extend(win_rate.map(|share| ("score_best".to_owned(), share)));
    Evaluation {
        step,
        episodes: fixed.0.len() as u32,
        mean,
        std: variance.sqrt(),
        ci95: [(mean - half).max(-1.0), (mean + half).min(1.0)],
        mean_length: fixed.mean_length(),
        metrics,
    }
}

/// How long the phases of an update take.
struct PhaseClock {
    spent: [Duration; 3],
    now: Option<(Phase, Instant)>,
}

impl PhaseClock {
    fn new() -> Self {
        Self { spent: [Duration::ZERO; 3], now: None }
    }

    fn begin(&mut self, phase: Phase) {
        self.stop();
        self.now = Some((phase, Instant::now()));
    }

    fn stop(&mut self) {
        if let Some((phase, began)) = self.now.take() {
            self.spent[phase as usize] += began.elapsed();
        }
    }

    /// Ends the last phase and returns the seconds of all.
    fn end(&mut self) -> f64 {
        self.stop();
        self.total()
    }

    fn total(&self) -> f64 {
        self.spent.iter().sum::<Duration>().as_secs_f64()
    }
}
