//! Games that a network plays against itself, many of them in step, so that every call of the network
//! is for a full batch.

use std::time::{Duration, Instant};

use cartridge_games::{Action, Game, Seat, Turn, random_action};
use cartridge_search::cache::Cache;
use cartridge_search::evaluator::{Evaluation, Evaluations};
use cartridge_search::gumbel::Gumbel;
use cartridge_search::policy::sample;
use cartridge_search::search::{self, LeafId, Method, Search, Statistics};
use serde::{Deserialize, Serialize};

use super::actor::Judge;
use super::record::{End, PlayedGame, Ply, to_whole};
use crate::board_net::Workspace;

/// How games are played.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Simulations of a thorough search, at the beginning of the training and at its end; 2 and
    /// more.
    pub n_simulations: [u32; 2],
    /// Simulations of a fast search; 2 and more.
    pub n_fast_simulations: u32,
    /// Share of the searches that are thorough. Only these are learnt from; the others get games to
    /// their ends, which are learnt from too.
    pub full_share: f32,
    /// Actions that a search considers at the root; 2 and more.
    pub n_considered: u32,
    /// How much scores count against logits; above 0.
    pub value_scale: f32,
    /// From this ply on, chance has no say in what is played.
    pub n_random_plies: usize,
    /// How much chance has a say in what is played of what a search found: the power of 1 over it of
    /// the improved policy is drawn from. At 0 the search's own choice is played.
    pub temperature: f32,
    /// From this ply on, the temperature is 0.
    pub n_temperature_plies: usize,
    /// Share of the games that begin with actions drawn by chance.
    pub opening_share: f32,
    /// At most so many of them.
    pub n_opening_plies: usize,
    /// Whether a game ends when a search has proven how.
    pub is_adjudicated: bool,
    /// A seat whose searches say less than this gives up; −1 and less is never.
    pub resign_below: f32,
    /// It gives up after so many such searches in a row.
    pub resign_after: u32,
    /// Share of the games in which nobody gives up, to see how often that would have been wrong.
    pub audit_share: f32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            n_simulations: [32, 64],
            n_fast_simulations: 12,
            full_share: 0.5,
            n_considered: 8,
            value_scale: 0.1,
            n_random_plies: 1_000,
            temperature: 0.0,
            n_temperature_plies: 30,
            opening_share: 0.9,
            n_opening_plies: 12,
            is_adjudicated: true,
            resign_below: -0.95,
            resign_after: 3,
            audit_share: 0.1,
        }
    }
}

/// What came of a while of self-play.
#[derive(Clone, Debug, Default)]
pub struct Harvest {
    /// Games that ended.
    pub games: Vec<PlayedGame>,
    /// Plies that were played, with a search each.
    pub n_plies: u64,
    /// What the searches did.
    pub statistics: Statistics,
    /// What threads spent on it, all together.
    pub time: Duration,
    /// Games in which a seat would have given up, and did not because it was one to see.
    pub n_audited: u64,
    /// Those of them that this seat did not lose.
    pub n_false_resignations: u64,
}

impl Harvest {
    /// Adds what came of other games.
    pub(super) fn add(&mut self, other: Self) {
        self.games.extend(other.games);
        self.n_plies += other.n_plies;
        self.statistics.add(other.statistics);
        self.time += other.time;
        self.n_audited += other.n_audited;
        self.n_false_resignations += other.n_false_resignations;
    }
}

/// Games in step, with what they share. Who plays on which thread makes no difference to them.
#[derive(Debug)]
pub(super) struct Lane<G> {
    tables: Vec<Table<G>>,
    cache: Cache<G>,
    rng: fastrand::Rng,
    batch: Batch<G>,
}

/// All that a lane is made of between two updates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LaneState {
    rng: u64,
    tables: Vec<TableState>,
}

/// A game in progress, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableState {
    played: PlayedGame,
    n_losing: [u32; 2],
    is_audited: bool,
    would_resign: Option<Seat>,
}

/// Positions that are evaluated together, each with its place and a tag.
#[derive(Debug)]
pub(super) struct Batch<G, Tag = LeafId> {
    leaves: Vec<(usize, Tag)>,
    games: Vec<G>,
    planes: Vec<f32>,
    evaluations: Evaluations,
    /// What the network says of each view, where it is asked for several.
    views: Evaluations,
    work: Workspace,
}

/// A game in progress.
#[derive(Debug)]
struct Table<G> {
    game: G,
    played: PlayedGame,
    search: Search<G>,
    is_full: bool,
    /// How many searches of each seat in a row saw it losing.
    n_losing: [u32; 2],
    /// Whether nobody gives up.
    is_audited: bool,
    /// Who would have given up.
    would_resign: Option<Seat>,
}

/// What a lane has to play of an update. It is played part by part, so that threads may take turns at
/// lanes; where one part ends makes no difference.
#[derive(Debug)]
pub(super) struct Share<'a, G> {
    lane: &'a mut Lane<G>,
    n_plies: u64,
    has_begun: bool,
    harvest: Harvest,
}

impl<G: Game> Lane<G> {
    pub(super) fn new(n_games: usize, cache: usize, config: &Config, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let tables = (0..n_games).map(|_| Table::new(config, &mut rng)).collect();
        Self { tables, cache: Cache::new(cache), rng, batch: Batch::default() }
    }

    /// Plays `n_plies` in all games together, when `done` of the training is over.
    pub(super) fn play(
        &mut self,
        network: &dyn Judge,
        config: &Config,
        done: f64,
        n_plies: u64,
    ) -> Harvest {
        let mut share = Share::new(self, n_plies);
        while !share.go_on(network, config, done) {}
        share.into_harvest()
    }

    /// Begins every search. Those that were under way are begun anew: the network is another.
    fn begin(&mut self, config: &Config, done: f64) {
        self.cache.clear();
        for table in &mut self.tables {
            table.search.clear();
            table.begin(config, done, &mut self.rng);
        }
    }
}

impl<'a, G: Game> Share<'a, G> {
    /// Plies of a part: some milliseconds.
    const PART: u64 = 128;

    pub(super) fn new(lane: &'a mut Lane<G>, n_plies: u64) -> Self {
        Self { lane, n_plies, has_begun: false, harvest: Harvest::default() }
    }

    /// What came of it.
    pub(super) fn into_harvest(self) -> Harvest {
        self.harvest
    }

    /// Plays a part of it, with the network of all parts. Returns whether that was the last.
    pub(super) fn go_on(&mut self, network: &dyn Judge, config: &Config, done: f64) -> bool {
        let began = Instant::now();
        let Self { lane, n_plies, has_begun, harvest } = self;
        let n_plies = *n_plies;
        if !std::mem::replace(has_begun, true) {
            lane.begin(config, done);
        }
        let until = n_plies.min(harvest.n_plies + Self::PART);
        while harvest.n_plies < until {
            for (place, table) in lane.tables.iter_mut().enumerate() {
                let leaf = loop {
                    if let Some(leaf) = table.search.next_leaf(&mut lane.cache) {
                        break Some(leaf);
                    }
                    if harvest.n_plies == n_plies {
                        break None;
                    }
                    table.play(config, harvest, &mut lane.rng);
                    table.begin(config, done, &mut lane.rng);
                };
                if let Some(leaf) = leaf {
                    lane.batch.add(place, leaf.id, leaf.game);
                }
            }
            lane.batch.evaluate(network);
            lane.batch.answer(|place, leaf, evaluation| {
                lane.tables[place].search.answer(leaf, evaluation, &mut lane.cache);
            });
        }
        harvest.time += began.elapsed();
        harvest.n_plies == n_plies
    }
}

impl<G: Game> Lane<G> {
    pub(super) fn state(&self) -> LaneState {
        let table = |table: &Table<G>| TableState {
            played: table.played.clone(),
            n_losing: table.n_losing,
            is_audited: table.is_audited,
            would_resign: table.would_resign,
        };
        LaneState { rng: self.rng.get_seed(), tables: self.tables.iter().map(table).collect() }
    }

    /// Puts a state back, or says why it does not fit.
    pub(super) fn restore(&mut self, state: &LaneState) -> Result<(), String> {
        if state.tables.len() != self.tables.len() {
            return Err(format!("a lane of it has {} games", state.tables.len()));
        }
        for (table, state) in self.tables.iter_mut().zip(&state.tables) {
            let TableState { played, n_losing, is_audited, would_resign } = state;
            let game = played.replay(|_: &G, _| {}).map_err(|error| error.to_string())?;
            if game.turn() == Turn::Over {
                return Err("a game that is under way in it is over".to_owned());
            }
            (table.game, table.played) = (game, played.clone());
            (table.n_losing, table.is_audited) = (*n_losing, *is_audited);
            table.would_resign = *would_resign;
        }
        self.rng = fastrand::Rng::with_seed(state.rng);
        Ok(())
    }
}

impl<G, Tag> Default for Batch<G, Tag> {
    fn default() -> Self {
        Self {
            leaves: Vec::new(),
            games: Vec::new(),
            planes: Vec::new(),
            evaluations: Evaluations::default(),
            views: Evaluations::default(),
            work: Workspace::default(),
        }
    }
}

impl<G: Game, Tag> Batch<G, Tag> {
    /// Whether nothing is to be evaluated.
    pub(super) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Adds a position.
    pub(super) fn add(&mut self, place: usize, tag: Tag, game: G) {
        self.leaves.push((place, tag));
        self.games.push(game);
    }

    /// Hands out what the network found, and is empty then.
    pub(super) fn answer(&mut self, mut take: impl FnMut(usize, Tag, Evaluation<'_>)) {
        for (row, (place, tag)) in self.leaves.drain(..).enumerate() {
            take(place, tag, self.evaluations.get::<G>(row));
        }
    }

    /// Asks the network about all of them.
    pub(super) fn evaluate(&mut self, network: &dyn Judge) {
        let n_inputs: usize = G::SPEC.planes.iter().product();
        self.planes.resize(self.games.len() * n_inputs, 0.0);
        for (game, planes) in self.games.iter().zip(self.planes.chunks_exact_mut(n_inputs)) {
            let Turn::Seat(seat) = game.turn() else { unreachable!("leaves are not over") };
            game.observe_planes(seat, planes);
        }
        let Evaluations { logits, values } = &mut self.evaluations;
        logits.resize(self.games.len() * G::SPEC.n_actions, 0.0);
        values.resize(self.games.len(), 0.0);
        network.judge(&mut self.work, &self.planes, logits, values);
        self.games.clear();
    }

    /// Asks the network about so many images of each of them, and takes the mean.
    pub(super) fn evaluate_views(&mut self, network: &dyn Judge, n_views: usize) {
        if n_views == 1 || self.is_empty() {
            return self.evaluate(network);
        }
        let games = std::mem::take(&mut self.games);
        let images = games.iter().flat_map(|game| (0..n_views).map(|view| game.transform(view)));
        self.games.extend(images);
        self.evaluate(network);
        std::mem::swap(&mut self.evaluations, &mut self.views);
        let (n_actions, share) = (G::SPEC.n_actions, 1.0 / n_views as f32);
        let Evaluations { logits, values } = &mut self.evaluations;
        logits.clear();
        logits.resize(games.len() * n_actions, 0.0);
        values.clear();
        values.resize(games.len(), 0.0);
        let means = logits.chunks_exact_mut(n_actions).zip(values);
        let seen = self.views.logits.chunks_exact(n_actions * n_views);
        for ((mean, value), (seen, told)) in
            means.zip(seen.zip(self.views.values.chunks_exact(n_views)))
        {
            for (view, (seen, told)) in seen.chunks_exact(n_actions).zip(told).enumerate() {
                *value += share * told;
                for (action, logit) in mean.iter_mut().enumerate() {
                    let Action(at) = G::transform_action(view, Action(action));
                    *logit += share * seen[at];
                }
            }
        }
    }
}

impl<G: Game> Table<G> {
    fn new(config: &Config, rng: &mut fastrand::Rng) -> Self {
        let (game, actions) = opening(config, rng);
        Self {
            game,
            played: PlayedGame {
                n_opening: actions.len(),
                actions,
                plies: Vec::new(),
                score: 0,
                end: End::Over,
            },
            search: Search::default(),
            is_full: true,
            n_losing: [0; 2],
            is_audited: rng.f32() < config.audit_share,
            would_resign: None,
        }
    }

    /// Begins the search for the next action.
    fn begin(&mut self, config: &Config, done: f64, rng: &mut fastrand::Rng) {
        self.is_full = rng.f32() < config.full_share;
        let [first, last] = config.n_simulations.map(f64::from);
        let n_full = (first + (last - first) * done.clamp(0.0, 1.0)).round() as u32;
        let gumbel = Gumbel {
            n_considered: config.n_considered,
            value_scale: config.value_scale,
            is_random: self.played.actions.len() < config.n_random_plies,
            ..Gumbel::default()
        };
        let config = search::Config {
            n_simulations: if self.is_full { n_full } else { config.n_fast_simulations },
            method: Method::Gumbel(gumbel),
        };
        self.search.begin(&self.game, config, rng);
    }

    /// What to play of what the search has found.
    fn choose(&self, target: &[f32], config: &Config, rng: &mut fastrand::Rng) -> Action {
        let is_drawn =
            config.temperature > 0.0 && self.played.actions.len() < config.n_temperature_plies;
        let drawn = if is_drawn { sample(target, config.temperature, rng) } else { None };
        drawn.map_or_else(|| self.search.best_action(), Action)
    }

    /// Plays what the search has found, and begins another game where this one is over.
    fn play(&mut self, config: &Config, harvest: &mut Harvest, rng: &mut fastrand::Rng) {
        let Turn::Seat(seat) = self.game.turn() else { unreachable!("it goes on") };
        let (value, proven) = (self.search.value(), self.search.proven());
        let target = self.search.target();
        let action = self.choose(&target, config, rng);
        self.played.plies.push(Ply::new(&target, value, self.is_full));
        self.played.actions.push(action);
        self.game.apply(action);
        harvest.n_plies += 1;
        harvest.statistics.add(self.search.statistics());
        let of_first = |score: f32| to_whole(if seat == Seat(0) { score } else { -score });
        let n_losing = &mut self.n_losing[seat.0];
        *n_losing = if value < config.resign_below { *n_losing + 1 } else { 0 };
        let gives_up = *n_losing >= config.resign_after;
        if gives_up && self.is_audited {
            self.would_resign = self.would_resign.or(Some(seat));
        }
        let (end, score) = match proven {
            _ if self.game.turn() == Turn::Over => (End::Over, to_whole(self.game.score(Seat(0)))),
            Some(score) if config.is_adjudicated => (End::Proven, of_first(score)),
            _ if gives_up && !self.is_audited => (End::Resigned, of_first(-1.0)),
            _ => return,
        };
        if let Some(seat) = self.would_resign {
            harvest.n_audited += 1;
            let lost = if seat == Seat(0) { score < 0 } else { score > 0 };
            harvest.n_false_resignations += u64::from(!lost);
        }
        let next = Self { search: std::mem::take(&mut self.search), ..Self::new(config, rng) };
        let over = std::mem::replace(self, next);
        harvest.games.push(PlayedGame { end, score, ..over.played });
    }
}

/// Where a game begins: at the start, or after some actions drawn by chance.
fn opening<G: Game>(config: &Config, rng: &mut fastrand::Rng) -> (G, Vec<Action>) {
    loop {
        let mut game = G::start(&mut fastrand::Rng::with_seed(0));
        let mut actions = Vec::new();
        if rng.f32() < config.opening_share {
            for _ in 0..rng.usize(..=config.n_opening_plies) {
                let action = random_action(&game, rng);
                game.apply(action);
                actions.push(action);
                if game.turn() == Turn::Over {
                    break;
                }
            }
        }
        if game.turn() != Turn::Over {
            return (game, actions);
        }
    }
}

#[cfg(test)]
mod tests;
