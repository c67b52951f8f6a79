//! AlphaZero: a network learns a game from nothing but its rules, by playing against itself.
//!
//! Silver and others 2018, "A general reinforcement learning algorithm that masters chess, shogi, and
//! Go through self-play": searches guided by the network play better than the network alone, so it
//! learns what they find: the policy of the search, and how the game ended.
//!
//! ```text
//! play    every lane plays its share of the plies, all its games in step     (self_play)
//! learn   beside it, gradient steps on positions drawn from the window       (board_learner)
//! keep    games that ended come into the window, the oldest leave it         (window)
//! swap    lanes go on with what was learnt
//! ```
//!
//! Deviations from the paper:
//!
//! * Searches improve the policy as Danihelka and others 2022 ("Policy improvement by planning with
//!   Gumbel") do, which needs few simulations, and these rise during the training.
//! * Some searches are fast and not learnt from (Wu 2019, "Accelerating self-play learning in Go",
//!   section 3.1), and the window grows with the games played (section 3.1 of its appendix).
//! * The value is learnt from a mixture of the game's end and of what the search thought.
//! * Actors and learner go on at once, and meet after so many plies: then lanes get the network that
//!   was learnt meanwhile, and the learner the games that were played. What is still to be learnt when
//!   all lanes have played, all threads learn together. A gradient step has the same bits on one
//!   thread as on all, so when that is makes no difference, and the same seed gives the same weights
//!   with any number of threads.
//! * A game ends when a search has proven how it will, and where a seat gives up; in some games
//!   nobody does, to see how often that would be wrong.

pub mod actor;
pub mod arena;
pub mod record;
pub mod self_play;
mod state;
mod training;
mod window;

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cartridge_games::Game;
use cartridge_games::seeds::{Stream, episode_seed};
use cartridge_search::search::Statistics;
use serde::{Deserialize, Serialize};

use self::record::PlayedGame;
use self::self_play::{Harvest, Lane, Share};
use self::window::{Slot, Window};
use crate::board_learner::{self, Batch, BoardLearner, Losses, NotFinite};
use crate::board_net::{self, BoardNet, Shape, ShapeError};
use crate::report::Phase;
use crate::schedule::Schedule;
use crate::team::Team;

pub use self::state::State;
pub use self::training::{BeginError, Training, begin, go_on};

/// The settings of a training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// What the network is made of.
    pub network: board_net::Config,
    /// How it learns.
    #[serde(default)]
    pub learner: board_learner::Config,
    /// How games are played.
    #[serde(default)]
    pub self_play: self_play::Config,
    /// Plies to play in all.
    pub total_steps: u64,
    /// Lanes of games; as many threads can play at once.
    pub n_lanes: usize,
    /// Games in step in each lane: so large are the batches of the network.
    pub n_games: usize,
    /// Positions whose evaluation each lane remembers.
    pub cache_positions: usize,
    /// Plies between two networks, over all lanes; at least one for each.
    pub steps_per_update: u64,
    /// Positions of a gradient step.
    pub batch_size: usize,
    /// How often a new position is learnt from, on average.
    pub reuse: f64,
    /// Step size of the optimiser.
    pub learning_rate: Schedule,
    /// How much a search's own value counts beside the end of the game, from 0 to 1.
    pub value_mix: f32,
    /// Positions that the window has room for at least.
    pub least_window: usize,
    /// Positions that come before the first gradient step.
    pub learning_starts: usize,
}

impl Config {
    /// The settings for a network, as far as they do not depend on the game.
    pub fn new(network: board_net::Config, total_steps: u64) -> Self {
        Self {
            network,
            learner: board_learner::Config::default(),
            self_play: self_play::Config::default(),
            total_steps,
            n_lanes: 4,
            n_games: 64,
            cache_positions: 1 << 16,
            steps_per_update: 8_192,
            batch_size: 512,
            reuse: 4.0,
            learning_rate: Schedule::Cosine(3e-3),
            value_mix: 0.5,
            least_window: 50_000,
            learning_starts: 4_096,
        }
    }

    /// How many positions the window has room for when there were `n_positions` in all.
    pub fn window_at(&self, n_positions: u64) -> usize {
        /// How fast it grows, and how much of the growth is kept.
        const EXPONENT: f64 = 0.75;
        const SCALE: f64 = 0.4;
        let least = self.least_window as f64;
        let more = (n_positions as f64 / least).max(1.0);
        (least * (1.0 + SCALE * (more.powf(EXPONENT) - 1.0) / EXPONENT)) as usize
    }
}

/// What a training says of an update.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// Plies so far.
    pub step: u64,
    /// Games that ended in it.
    pub games: Vec<PlayedGame>,
    /// What the searches did.
    pub statistics: Statistics,
    /// What all threads together spent on playing.
    pub playing: Duration,
    /// Means over its gradient steps; none before the first.
    pub losses: Option<Losses>,
    /// Gradient steps that were made in it.
    pub n_gradient_steps: u64,
    /// The learning rate.
    pub learning_rate: f64,
    /// Positions in the window, and how many of them differ.
    pub window: [usize; 2],
    /// Games in which a seat would have given up, and in how many of them that would have been
    /// wrong.
    pub audited: [u64; 2],
}

/// A training in progress.
#[derive(Debug)]
pub struct AlphaZero<G> {
    config: Config,
    seed_base: u64,
    team: Team,
    learner: BoardLearner,
    /// The network that lanes play with: the learner's, as it was when they began.
    actor: BoardNet,
    lanes: Vec<Lane<G>>,
    window: Window<G>,
    step: u64,
    /// Games that ended so far.
    n_games: u64,
    /// Positions that came into the window so far.
    n_positions: u64,
    n_updates: u64,
    /// Gradient steps that are due, not all of them whole.
    owed: f64,
    buffers: Buffers,
}

#[derive(Debug, Default)]
struct Buffers {
    planes: Vec<f32>,
    policies: Vec<f32>,
    legal: Vec<bool>,
    values: Vec<f32>,
}

impl<G: Game> AlphaZero<G> {
    /// A training at its beginning.
    pub fn new(config: &Config, seed_base: u64, team: Team) -> Result<Self, ShapeError> {
        let seed = |lane: usize| episode_seed(seed_base, Stream::Train, lane as u32, 0);
        let mut rng = fastrand::Rng::with_seed(seed_base);
        let network = BoardNet::new(Shape::of(&G::SPEC), &config.network, &mut rng)?;
        let lane =
            |lane| Lane::new(config.n_games, config.cache_positions, &config.self_play, seed(lane));
        Ok(Self {
            seed_base,
            team,
            actor: network.clone(),
            learner: BoardLearner::new(network, config.learner),
            lanes: (0..config.n_lanes).map(lane).collect(),
            window: Window::new(config.value_mix),
            step: 0,
            n_games: 0,
            n_positions: 0,
            n_updates: 0,
            owed: 0.0,
            buffers: Buffers::default(),
            config: config.clone(),
        })
    }

    /// The network as it is now.
    pub fn network(&self) -> &BoardNet {
        self.learner.network()
    }

    /// Plies so far.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Games that ended so far.
    pub fn n_games(&self) -> u64 {
        self.n_games
    }

    /// Changes the learning rate from the next update on, and returns what it is now.
    pub fn tune_learning_rate(&mut self, learning_rate: f64) -> f64 {
        let now = self.config.learning_rate.at(self.done());
        self.config.learning_rate = learning_rate.into();
        now
    }

    /// Whether all plies have been played.
    pub fn is_done(&self) -> bool {
        self.step >= self.config.total_steps
    }

    /// Plays for a while, learns meanwhile from what was played before, and reports.
    pub fn update(&mut self) -> Result<Update, NotFinite> {
        self.update_in_phases(&mut |_| {})
    }

    /// [`update`](Self::update) that says of each phase when it begins: playing and learning, learning
    /// what is left of it, and keeping.
    pub fn update_in_phases(&mut self, begin: &mut dyn FnMut(Phase)) -> Result<Update, NotFinite> {
        begin(Phase::Act);
        let done = self.done();
        let learning_rate = self.config.learning_rate.at(done);
        let n_steps = self.owed as u64;
        self.owed -= n_steps as f64;
        let seed = episode_seed(self.seed_base, Stream::Train, u32::MAX, self.n_updates);
        let mut lesson = Lesson {
            learner: &mut self.learner,
            window: &mut self.window,
            buffers: &mut self.buffers,
            batch_size: self.config.batch_size,
            learning_rate,
            rng: fastrand::Rng::with_seed(seed),
            n_left: n_steps,
            sums: Ok(Losses::default()),
        };
        let n_plies = self.config.steps_per_update.min(self.config.total_steps - self.step);
        let mut shares = shares(&mut self.lanes, n_plies);
        let (network, config) = (&self.actor, &self.config.self_play);
        let go_on = |share: &mut Share<'_, G>| share.go_on(network, config, done);
        play_beside(&mut self.team, &mut shares, go_on, &mut lesson);
        let mut harvest = Harvest::default();
        shares.into_iter().for_each(|share| harvest.add(share.into_harvest()));
        begin(Phase::Learn);
        while lesson.step(&mut self.team) {}
        let sums = lesson.sums?;
        begin(Phase::Judge);
        self.actor.clone_from(self.learner.network());
        self.step += harvest.n_plies;
        self.n_games += harvest.games.len() as u64;
        self.n_updates += 1;
        self.keep(&harvest.games);
        Ok(Update {
            step: self.step,
            games: harvest.games,
            statistics: harvest.statistics,
            playing: harvest.time,
            losses: (n_steps > 0).then(|| sums.over(n_steps)),
            n_gradient_steps: n_steps,
            learning_rate,
            window: [self.window.n_positions(), self.window.n_different()],
            audited: [harvest.n_audited, harvest.n_false_resignations],
        })
    }

    /// Takes in games that ended, and notes what is to be learnt from them.
    fn keep(&mut self, games: &[PlayedGame]) {
        let add = |game| self.window.add(game).expect("what was just played is legal");
        let n_new: usize = games.iter().map(add).sum();
        self.n_positions += n_new as u64;
        self.window.shrink(self.config.window_at(self.n_positions));
        if self.n_positions >= self.config.learning_starts as u64 {
            self.owed += self.config.reuse * n_new as f64 / self.config.batch_size as f64;
        }
    }

    fn done(&self) -> f64 {
        self.step as f64 / self.config.total_steps.max(1) as f64
    }
}

/// What each lane plays of `n_plies`.
fn shares<G: Game>(lanes: &mut [Lane<G>], n_plies: u64) -> Vec<Share<'_, G>> {
    let n_lanes = lanes.len() as u64;
    // What cannot be shared evenly is for the first ones.
    let of = |place| n_plies / n_lanes + u64::from(place < n_plies % n_lanes);
    (0..).zip(lanes).map(|(place, lane)| Share::new(lane, of(place))).collect()
}

/// Plays shares of an update on all threads but one, which learns meanwhile and helps when it has done
/// its own. When all have been played there may be something left to learn.
fn play_beside<G: Game>(
    team: &mut Team,
    shares: &mut [Share<'_, G>],
    go_on: impl Fn(&mut Share<'_, G>) -> bool + Sync,
    lesson: &mut Lesson<'_, G>,
) {
    let n_open = AtomicUsize::new(shares.len());
    let waiting: Mutex<VecDeque<_>> = Mutex::new(shares.iter_mut().collect());
    let next = || waiting.lock().expect(NO_PANIC).pop_front();
    let lesson = Mutex::new(Some(lesson));
    team.run(team.n_threads(), &|_| {
        let lesson = lesson.lock().expect(NO_PANIC).take();
        if let Some(lesson) = lesson {
            let mut alone = Team::new(1);
            while n_open.load(Ordering::Relaxed) > 0 && lesson.step(&mut alone) {}
        }
        while let Some(share) = next() {
            if go_on(share) {
                n_open.fetch_sub(1, Ordering::Relaxed);
            } else {
                waiting.lock().expect(NO_PANIC).push_back(share);
            }
        }
    });
}

/// Why a lock is never poisoned.
const NO_PANIC: &str = "nothing panics while it holds this";

/// Gradient steps on positions of a window that nothing comes into meanwhile.
struct Lesson<'a, G> {
    learner: &'a mut BoardLearner,
    /// Only read. Games may be sent to other threads, and not be shared.
    window: &'a mut Window<G>,
    buffers: &'a mut Buffers,
    batch_size: usize,
    learning_rate: f64,
    rng: fastrand::Rng,
    /// Steps that are to be made.
    n_left: u64,
    /// Over the steps that were made.
    sums: Result<Losses, NotFinite>,
}

impl<G: Game> Lesson<'_, G> {
    /// Makes a step, if there is one left. Returns whether it did, and it went well.
    fn step(&mut self, team: &mut Team) -> bool {
        let (Ok(sums), true) = (self.sums, self.n_left > 0) else { return false };
        self.buffers.fill(self.window, self.batch_size, &mut self.rng);
        let losses = self.learner.train_step(team, self.buffers.batch(), self.learning_rate);
        self.sums = losses.map(|losses| sums.plus(&losses));
        self.n_left -= 1;
        self.sums.is_ok()
    }
}

impl Buffers {
    fn fill<G: Game>(&mut self, window: &Window<G>, n: usize, rng: &mut fastrand::Rng) {
        let n_inputs: usize = G::SPEC.planes.iter().product();
        let n_actions = G::SPEC.n_actions;
        self.planes.resize(n * n_inputs, 0.0);
        self.policies.resize(n * n_actions, 0.0);
        self.legal.resize(n * n_actions, false);
        self.values.resize(n, 0.0);
        let planes = self.planes.chunks_exact_mut(n_inputs);
        let policies = self.policies.chunks_exact_mut(n_actions);
        let legal = self.legal.chunks_exact_mut(n_actions);
        for (((planes, policy), legal), value) in
            planes.zip(policies).zip(legal).zip(&mut self.values)
        {
            window.draw(rng, Slot { planes, policy, legal, value });
        }
    }

    fn batch(&self) -> Batch<'_> {
        Batch {
            planes: &self.planes,
            policies: &self.policies,
            legal: Some(&self.legal),
            values: &self.values,
            weights: None,
        }
    }
}

#[cfg(test)]
mod tests;
