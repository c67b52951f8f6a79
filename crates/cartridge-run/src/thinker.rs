//! Networks that think at a board: what they hold of a position, alone or with a search.
//!
//! A [`Thinker`] is a network with a place to think. Asked about a position it says which action it
//! would play and what it makes of each; with simulations it searches by PUCT without noise
//! ([`cartridge_search::search`]), with none it goes by its policy alone.
//!
//! Where a board has a mirror image and nothing else that is like it, a search goes by the mean of
//! what the network says of both: two views of one position err differently (Connect 4:
//! `benches/results/connect4-views.txt`). With more images it would take more time than it is worth.
//!
//! The same network and number of simulations always answer the same. So every search begins with
//! an empty tree and walks to one leaf at a time: a tree that is kept along a game would make the
//! answer depend on how the game was reached, on a restart, or on what another thread asked. What is
//! kept instead is the evaluations, which are the costly part, and a search that walks to one leaf
//! at a time cannot tell a kept evaluation from a new one.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use cartridge_games::game::{Action, Game, GameSpec, Turn};
use cartridge_games::registry::AnyGame;
use cartridge_games::with_game;
use cartridge_learn::alphazero::arena::n_views;
use cartridge_learn::board_net::{BoardNet, Shape, Workspace};
use cartridge_search::cache::Cache;
use cartridge_search::evaluator::Evaluation;
use cartridge_search::search::{Config, Finding, Search, Statistics};

use crate::board_policy::BoardPolicy;
use crate::error::{Result, RunError};

/// Simulations of a network with a value where nobody says how many.
pub const USUAL_SIMULATIONS: u32 = 200;

/// The most simulations: more take gigabytes.
pub const MOST_SIMULATIONS: u32 = 100_000;

/// The most simulations that a request may ask for: about a second of a small network.
pub const MOST_SIMULATIONS_BY_REQUEST: u32 = 10_000;

/// Evaluations that are kept between two answers: ten megabytes at Othello.
const KEPT_EVALUATIONS: usize = 1 << 15;

/// A strength by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strength {
    /// `Novice`, `Master`.
    pub name: &'static str,
    /// How many simulations it is.
    pub n_simulations: u32,
}

/// Strengths that are offered, weakest first.
pub const STRENGTHS: [Strength; 5] = [
    Strength { name: "Novice", n_simulations: 0 },
    Strength { name: "Casual", n_simulations: 25 },
    Strength { name: "Club", n_simulations: 100 },
    Strength { name: "Strong", n_simulations: 400 },
    Strength { name: "Master", n_simulations: 1_600 },
];

/// A network with a place to think.
#[derive(Debug)]
pub struct Thinker {
    network: Network,
    /// For messages.
    name: String,
    /// A [`Memory`] of the game for each who has thought here at once.
    memories: Mutex<Vec<Box<dyn Any + Send>>>,
}

#[derive(Debug)]
enum Network {
    /// Of ours.
    Own(Arc<BoardNet>),
    /// In a file of others.
    File(Box<BoardPolicy>),
}

/// What a network makes of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Thought {
    /// What it would play.
    pub action: Action,
    /// What the position is worth to the seat to move, from −1 to 1; none where the network says
    /// nothing of that.
    pub value: Option<f32>,
    /// The exact score of the seat to move, where the search has proved it.
    pub proven: Option<f32>,
    /// What it makes of each legal action, in order.
    pub actions: Vec<Considered>,
    /// What it expects to be played from here on, as far as it has looked.
    pub line: Vec<Action>,
    /// The simulations that were asked for; fewer were made where the position was proven before.
    pub n_simulations: u32,
    /// What the search has done.
    pub statistics: Statistics,
}

/// What a network makes of one action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Considered {
    /// The action.
    pub action: Action,
    /// Its probability by the network alone (P).
    pub prior: f32,
    /// How many simulations began with it (N).
    pub n_visits: u32,
    /// Its mean score for the seat to move (Q); none where it was not visited.
    pub mean: Option<f32>,
    /// What the search adds to the mean because it was tried less than its prior asks for (U); none
    /// without a search.
    pub urgency: Option<f32>,
    /// Its exact score for the seat to move, where the search has proved it.
    pub proven: Option<f32>,
}

impl Thinker {
    /// A network of ours, if it is one for `game`. `name` is for messages.
    pub fn own(name: &str, network: BoardNet, game: &GameSpec) -> Result<Self> {
        let (found, wanted) = (network.shape(), Shape::of(game));
        if found != wanted {
            let sizes = |shape: Shape| {
                let Shape { n_planes, n_rows, n_columns, n_actions } = shape;
                format!("{n_planes} planes of {n_rows}x{n_columns} and {n_actions} actions")
            };
            let detail = format!(
                "its network is for {}, and {} has {}",
                sizes(found),
                game.name,
                sizes(wanted)
            );
            return Err(RunError::BadPlayer { player: name.to_owned(), detail });
        }
        Ok(Self::new(name, Network::Own(Arc::new(network))))
    }

    /// The network in a file that was tried on the game.
    pub fn of_file(name: &str, policy: BoardPolicy) -> Self {
        let network = match policy.board_net() {
            // What the file would compute, to the bit, without going through it.
            Some(own) => Network::Own(Arc::clone(own)),
            None => Network::File(Box::new(policy)),
        };
        Self::new(name, network)
    }

    fn new(name: &str, network: Network) -> Self {
        Self { network, name: name.to_owned(), memories: Mutex::default() }
    }

    /// The network, where it is one of ours.
    pub(crate) fn network(&self) -> Option<&BoardNet> {
        match &self.network {
            Network::Own(network) => Some(network),
            Network::File(_) => None,
        }
    }

    /// Whether it says what a position is worth, so that it can search.
    pub fn has_value(&self) -> bool {
        match &self.network {
            Network::Own(_) => true,
            Network::File(policy) => policy.has_value(),
        }
    }

    /// Complains about simulations of a network that cannot search.
    pub fn check(&self, n_simulations: u32) -> Result<()> {
        if n_simulations == 0 || self.has_value() {
            return Ok(());
        }
        let detail = "it puts out no `value`, so no search can go by it; with `:0` it plays by its \
                      policy alone";
        Err(RunError::BadPlayer { player: self.name.clone(), detail: detail.to_owned() })
    }

    /// What it makes of a position that is not over.
    pub fn think(&self, game: &AnyGame, n_simulations: u32) -> Result<Thought> {
        self.check(n_simulations)?;
        with_game!(game, game => self.think_at(game, n_simulations))
    }

    fn think_at<G: Game>(&self, game: &G, n_simulations: u32) -> Result<Thought> {
        let memories = || self.memories.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = memories().pop().and_then(|kept| kept.downcast::<Memory<G>>().ok());
        let mut memory = kept.unwrap_or_default();
        // One in which something went wrong is not used again.
        let thought = match n_simulations {
            0 => self.judge_alone(game, &mut memory),
            _ => self.search(game, n_simulations, &mut memory),
        }?;
        memories().push(memory);
        Ok(thought)
    }

    /// By the policy alone: the first of the greatest.
    fn judge_alone<G: Game>(&self, game: &G, memory: &mut Memory<G>) -> Result<Thought> {
        let value = self.judge(game, 1, &mut memory.scratch)?;
        let logits = &memory.scratch.logits;
        let legal: Vec<Action> = game.legal_actions().collect();
        let best = legal
            .iter()
            .copied()
            .reduce(|best, action| if logits[action.0] > logits[best.0] { action } else { best });
        let action = best.expect("the game is not over");
        let priors = priors(logits, &legal);
        let actions = legal.iter().zip(priors).map(|(&action, prior)| Considered {
            action,
            prior,
            n_visits: 0,
            mean: None,
            urgency: None,
            proven: None,
        });
        Ok(Thought {
            action,
            value,
            proven: None,
            actions: actions.collect(),
            line: vec![action],
            n_simulations: 0,
            statistics: Statistics { n_descents: 1, n_evaluations: 1, ..Statistics::default() },
        })
    }

    fn search<G: Game>(
        &self,
        game: &G,
        n_simulations: u32,
        memory: &mut Memory<G>,
    ) -> Result<Thought> {
        let Memory { search, cache, scratch } = memory;
        search.clear();
        // Chance is met by noise alone, and there is none.
        search.begin(game, Config::puct(n_simulations), &mut fastrand::Rng::with_seed(0));
        while let Some(leaf) = search.next_leaf(cache) {
            let value = self.judge(&leaf.game, n_views::<G>(), scratch)?;
            let value = value.expect("whoever searches has a value");
            search.answer(leaf.id, Evaluation { logits: &scratch.logits, value }, cache);
        }
        let considered = |finding: Finding| Considered {
            action: finding.action,
            prior: finding.prior,
            n_visits: finding.n_visits,
            mean: (finding.n_visits > 0).then_some(finding.mean),
            urgency: Some(finding.urgency),
            proven: finding.proven,
        };
        let mut actions: Vec<Considered> = search.findings().into_iter().map(considered).collect();
        let mut statistics = search.statistics();
        if statistics.n_descents == 0 {
            // A win at once needs no network, and people want to know what it would have said.
            self.judge(game, n_views::<G>(), scratch)?;
            statistics.n_evaluations += 1;
            let legal: Vec<Action> = actions.iter().map(|considered| considered.action).collect();
            for (considered, prior) in actions.iter_mut().zip(priors(&scratch.logits, &legal)) {
                considered.prior = prior;
                considered.urgency = None;
            }
        }
        Ok(Thought {
            action: search.best_action(),
            value: Some(search.value()),
            proven: search.proven(),
            actions,
            line: search.principal_variation(),
            n_simulations,
            statistics,
        })
    }

    /// Asks the network about so many views of a position: leaves a logit for each action, and
    /// returns its value.
    fn judge<G: Game>(
        &self,
        game: &G,
        n_views: usize,
        scratch: &mut Scratch,
    ) -> Result<Option<f32>> {
        let share = 1.0 / n_views as f32;
        scratch.logits.clear();
        scratch.logits.resize(G::SPEC.n_actions, 0.0);
        let mut mean = None;
        for symmetry in 0..n_views {
            let value = self.look(&game.transform(symmetry), scratch)?;
            mean = value.map(|value| mean.unwrap_or(0.0) + share * value);
            for (action, logit) in scratch.logits.iter_mut().enumerate() {
                let Action(seen) = G::transform_action(symmetry, Action(action));
                *logit += share * scratch.seen[seen];
            }
        }
        Ok(mean)
    }

    /// Asks the network about a position as it lies.
    fn look<G: Game>(&self, game: &G, scratch: &mut Scratch) -> Result<Option<f32>> {
        let Scratch { planes, seen, work, .. } = scratch;
        let value = match &self.network {
            Network::Own(network) => {
                let Turn::Seat(seat) = game.turn() else { unreachable!("the game is not over") };
                planes.resize(network.shape().n_inputs(), 0.0);
                seen.resize(G::SPEC.n_actions, 0.0);
                game.observe_planes(seat, planes);
                let mut value = [0.0];
                network.infer(work, planes, seen, &mut value);
                Some(value[0])
            }
            Network::File(policy) => {
                let value;
                (*seen, value) = policy.judge(game)?;
                value
            }
        };
        // A file may hold anything, and a training may have gone wrong.
        let has_nan = game.legal_actions().any(|Action(action)| seen[action].is_nan());
        if has_nan || value.is_some_and(f32::is_nan) {
            let detail = "its network puts out what is not a number".to_owned();
            return Err(RunError::BadPlayer { player: self.name.clone(), detail });
        }
        seen.iter_mut().for_each(|logit| *logit = logit.clamp(-MOST_LOGIT, MOST_LOGIT));
        Ok(value.map(|value| value.clamp(-1.0, 1.0)))
    }
}

/// Where a probability is as good as 0 or 1 beside any other, and no sum is too large.
const MOST_LOGIT: f32 = 1e4;

/// What is kept between two answers.
#[derive(Debug)]
struct Memory<G> {
    search: Search<G>,
    cache: Cache<G>,
    scratch: Scratch,
}

impl<G: Game> Default for Memory<G> {
    fn default() -> Self {
        let cache = Cache::new(KEPT_EVALUATIONS);
        Self { search: Search::default(), cache, scratch: Scratch::default() }
    }
}

#[derive(Debug, Default)]
struct Scratch {
    planes: Vec<f32>,
    /// The logits of one view.
    seen: Vec<f32>,
    logits: Vec<f32>,
    work: Workspace,
}

/// The probabilities of legal actions.
fn priors(logits: &[f32], legal: &[Action]) -> Vec<f32> {
    let greatest = legal.iter().map(|action| logits[action.0]).fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f32> =
        legal.iter().map(|action| (logits[action.0] - greatest).exp()).collect();
    let sum: f32 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

#[cfg(test)]
pub(crate) mod tests;
