//! AlphaZero's tree search, which can be stopped at every leaf.
//!
//! Each simulation walks down the tree to a position that was never evaluated and asks for its
//! evaluation; the answer's value is added to every edge on the way, and its logits become priors.
//! Whoever has many games searches them in step and evaluates their leaves in one batch:
//!
//! ```text
//! search.begin(&game, config, rng)
//! while let Some(leaf) = search.next_leaf(cache)      // walks to the next open question
//!     search.answer(leaf.id, evaluation, cache)       // by the caller, whenever it likes
//! search.best_action()                                // and target(), findings(), value()
//! ```
//!
//! Several leaves may wait for their answer at once. Until it comes, each counts as a lost visit
//! on its whole way (virtual loss), so that the next leaf is another one. [`run`] is the
//! plain loop over an [`Evaluator`].
//!
//! * Actions are chosen by [`Puct`] or by [`Gumbel`].
//! * Ends are backed up as proven scores (Winands, Björnsson and Saito 2008, "Monte-Carlo tree
//!   search solver"): a position is proven when one action wins or all are proven. What is lost is
//!   not visited again, and a search whose root is proven is over. Where a game can tell
//!   ([`Game::decisive`], [`Game::urgent`]), a position with a winning action is proven when it is
//!   met, and so is the loss of all who do not block. So what allows a win is refuted by its first
//!   visit, however little the network thinks of that answer.
//! * [`advance`](Search::advance) keeps what is known of the position after an action.
//! * The same seed and the same answers make the same tree, bit for bit.
//!
//! [`run`]: crate::evaluator::run
//! [`Evaluator`]: crate::evaluator::Evaluator

use cartridge_games::{Action, Game};

use crate::cache::{Cache, Canonical};
use crate::evaluator::Evaluation;
use crate::gumbel::{Gumbel, Halving};
use crate::policy;
use crate::puct::Puct;
use crate::tree::{Below, Edge, Node, ROOT, Tree};

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// How many simulations a search makes, unless the position is proven before. With none, only
    /// the position itself is evaluated.
    pub n_simulations: u32,
    /// How actions are chosen.
    pub method: Method,
}

/// How a search chooses the actions that it tries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// By mean score and prior.
    Puct(Puct),
    /// By policy improvement.
    Gumbel(Gumbel),
}

/// A search tree, kept to be used again.
#[derive(Clone, Debug)]
pub struct Search<G> {
    tree: Tree<G>,
    config: Config,
    /// Simulations of this search, finished or under way.
    n_begun: u32,
    /// Leaves that wait for their answer.
    n_outstanding: usize,
    statistics: Statistics,
    /// Chance at the root, one number per legal action: Dirichlet's or Gumbel's, or none.
    noise: Vec<f32>,
    halving: Halving,
    /// Logits or probabilities of a position, while they are needed.
    policy: Vec<f32>,
}

/// A position that a search wants to have evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf<G> {
    /// The position, which is not over. With a cache it is turned or mirrored as the cache likes,
    /// and the answer belongs to what is seen here.
    pub game: G,
    /// What to answer to.
    pub id: LeafId,
}

/// Names a leaf that waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafId {
    node: u32,
    symmetry: u8,
    hash: u64,
}

/// What a search found out about one action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// The action.
    pub action: Action,
    /// Its probability before the search, with the noise of the root.
    pub prior: f32,
    /// How many simulations began with it, those of a tree that was kept included.
    pub n_visits: u32,
    /// Its mean score for the seat to move; 0 where it was not visited.
    pub mean: f32,
    /// Its exact score for the seat to move, once that is proven.
    pub proven: Option<f32>,
    /// What PUCT adds to the mean because it was tried less than its prior asks for; 0 in a search
    /// of the other kind.
    pub urgency: f32,
}

/// What a search has done since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Walks down the tree, that to the root included.
    pub n_descents: u64,
    /// Evaluations that were asked for.
    pub n_evaluations: u64,
    /// Evaluations that the cache had.
    pub n_cache_hits: u64,
    /// Walks that ended where the score is proven.
    pub n_proven: u64,
    /// Walks that were given up because they met a leaf that waits.
    pub n_collisions: u64,
}

impl Statistics {
    /// Adds what another search has done.
    pub fn add(&mut self, other: Self) {
        self.n_descents += other.n_descents;
        self.n_evaluations += other.n_evaluations;
        self.n_cache_hits += other.n_cache_hits;
        self.n_proven += other.n_proven;
        self.n_collisions += other.n_collisions;
    }
}

impl Config {
    /// PUCT without noise, as for play.
    pub fn puct(n_simulations: u32) -> Self {
        Self { n_simulations, method: Method::Puct(Puct::default()) }
    }

    /// Policy improvement with noise, as for learning.
    pub fn gumbel(n_simulations: u32) -> Self {
        Self { n_simulations, method: Method::Gumbel(Gumbel::default()) }
    }
}

impl<G: Game> Default for Search<G> {
    fn default() -> Self {
        assert!(
            G::SPEC.is_zero_sum() && G::SPEC.scores.1 == 1.0,
            "{} is not a game of two seats in which one wins 1 and the other loses it",
            G::SPEC.id
        );
        Self {
            tree: Tree::default(),
            config: Config::puct(0),
            n_begun: 0,
            n_outstanding: 0,
            statistics: Statistics::default(),
            noise: Vec::new(),
            halving: Halving::default(),
            policy: Vec::new(),
        }
    }
}

impl<G: Game> Search<G> {
    /// Begins a search from `game`, which is not over. Where the tree's root is that position, all
    /// that is known of it stays known. No leaf may wait for its answer.
    pub fn begin(&mut self, game: &G, config: Config, rng: &mut fastrand::Rng) {
        assert_eq!(self.n_outstanding, 0, "leaves wait for their answer");
        if self.tree.root().is_none_or(|root| root.game != *game) {
            self.tree.reset(game);
        }
        self.tree.win_at_once();
        self.config = config;
        self.n_begun = 0;
        self.statistics = Statistics::default();
        self.halving.clear();
        self.draw_noise(game.legal_actions().count(), rng);
        if self.root().is_evaluated() && !self.is_proven() {
            self.prepare_root();
        }
    }

    /// Makes the position after `action` the root and keeps what is known of it, for the next
    /// [`begin`](Self::begin). No leaf may wait for its answer.
    pub fn advance(&mut self, action: Action) {
        assert_eq!(self.n_outstanding, 0, "leaves wait for their answer");
        self.tree.advance(action);
        self.halving.clear();
    }

    /// Forgets the tree, so that the next search begins with nothing. Leaves that wait for their
    /// answer are forgotten too.
    pub fn clear(&mut self) {
        self.tree.clear();
        self.n_outstanding = 0;
    }

    /// Walks down the tree, as often as it takes, to a position that must be evaluated.
    ///
    /// `None` when the search is over, and also when there is nothing to ask before some leaf that
    /// waits is answered: with no leaf waiting, `None` is the end.
    pub fn next_leaf(&mut self, cache: &mut Cache<G>) -> Option<Leaf<G>> {
        loop {
            let leaf = if self.root().is_evaluated() {
                if self.is_proven() || self.n_begun >= self.config.n_simulations {
                    return None;
                }
                match self.descend() {
                    Descent::Leaf(leaf) => leaf,
                    Descent::Proven => continue,
                    Descent::Blocked => return None,
                }
            } else if self.tree.is_waiting(ROOT) {
                return None;
            } else {
                ROOT
            };
            self.statistics.n_descents += 1;
            let position = cache.canonical(&self.tree.node(leaf).game);
            let symmetry = position.symmetry;
            if let Some(evaluation) = cache.find(&position) {
                self.statistics.n_cache_hits += 1;
                self.expand(leaf, evaluation, symmetry);
                self.tree.back_up_value(leaf);
                continue;
            }
            assert!(self.n_outstanding < usize::from(u16::MAX), "too many leaves wait");
            self.statistics.n_evaluations += 1;
            self.n_outstanding += 1;
            self.tree.wait_for(leaf);
            let id = LeafId { node: leaf, symmetry, hash: position.hash };
            return Some(Leaf { game: position.game, id });
        }
    }

    /// Takes the evaluation of a leaf, in any order, each once, with the cache that the leaf came
    /// by. Numbers that are not finite, and values beyond −1 and 1, panic: whoever has a network
    /// that may have gone wrong looks first.
    pub fn answer(&mut self, leaf: LeafId, evaluation: Evaluation<'_>, cache: &mut Cache<G>) {
        assert!(self.tree.is_waiting(leaf.node), "this leaf does not wait for an answer");
        self.n_outstanding -= 1;
        if cache.capacity() > 0 {
            let game = self.tree.node(leaf.node).game.transform(leaf.symmetry.into());
            let position = Canonical { game, hash: leaf.hash, symmetry: leaf.symmetry };
            cache.keep(position, evaluation);
        }
        self.expand(leaf.node, evaluation, leaf.symmetry);
        self.tree.answer(leaf.node);
    }

    /// How many leaves wait for their answer.
    pub fn n_outstanding(&self) -> usize {
        self.n_outstanding
    }

    /// What this search has done.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// What is known of each legal action, in order; nothing before the root is evaluated. The
    /// visits add up to the simulations that were made, and those of the tree that was kept.
    pub fn findings(&self) -> Vec<Finding> {
        let sign = self.root().sign;
        let edges = self.root_edges();
        let n = edges.iter().map(Edge::n_begun).sum();
        let finding = |edge: &Edge| Finding {
            action: edge.action(),
            prior: edge.prior,
            n_visits: edge.n_visits,
            mean: mean(edge, sign),
            proven: edge.proven_for(sign).map(f32::from),
            urgency: match &self.config.method {
                Method::Puct(puct) => puct.urgency(edge, n),
                Method::Gumbel(_) => 0.0,
            },
        };
        edges.iter().map(finding).collect()
    }

    /// What the position is worth to the seat to move: its proven score or the mean of all
    /// evaluations below it; 0 before there is one.
    pub fn value(&self) -> f32 {
        let root = self.root();
        let edge = self.tree.edge_to(root);
        edge.proven_for(root.sign).map_or_else(|| mean(edge, root.sign), f32::from)
    }

    /// The exact score of the seat to move, once that is proven.
    pub fn proven(&self) -> Option<f32> {
        let root = self.root();
        self.tree.edge_to(root).proven_for(root.sign).map(f32::from)
    }

    /// The action to play, once the root is evaluated: a proven win, or else what the method holds
    /// to be best of what is not lost.
    pub fn best_action(&self) -> Action {
        let (sign, edges) = (self.root().sign, self.root_edges());
        let best = match &self.config.method {
            Method::Gumbel(gumbel) if !self.is_proven() => {
                let scores = self.gumbel_scores(gumbel);
                self.halving.best(edges, sign, &scores).map(|place| &edges[place])
            }
            _ => None,
        };
        best.or_else(|| most_visited(edges, sign)).expect("the root is evaluated").action()
    }

    /// What a network may learn from the search, a probability per action of the game.
    ///
    /// With PUCT it is the visits, and the priors as one more, so that few visits are not taken for
    /// certainty; with the other method it is the improved policy. Where the root is proven, only
    /// what has its score gets a share, and else all but proven losses.
    pub fn target(&self) -> Vec<f32> {
        let (sign, edges) = (self.root().sign, self.root_edges());
        let mut weights = Vec::new();
        match &self.config.method {
            Method::Puct(_) => {
                let weight = |edge: &Edge| edge.n_visits as f32 + policy::exp(edge.logit);
                weights.extend(edges.iter().map(weight));
            }
            Method::Gumbel(gumbel) => {
                gumbel.improve(edges, sign, self.root().value, &mut weights);
                policy::softmax(&mut weights);
            }
        }
        let proven = self.tree.edge_to(self.root()).proven_for(sign);
        let mut target = vec![0.0; G::SPEC.n_actions];
        let is_best = |edge: &Edge| match proven {
            Some(score) => edge.proven_for(sign) == Some(score),
            None => !edge.is_lost(sign),
        };
        let best = edges.iter().zip(&weights).filter(|(edge, _)| is_best(edge));
        let sum: f32 = best.clone().map(|(_, weight)| weight).sum();
        let n_best = best.clone().count();
        for (edge, weight) in best {
            let Action(action) = edge.action();
            target[action] = if sum > 0.0 { weight / sum } else { 1.0 / n_best as f32 };
        }
        target
    }

    /// What the search expects to be played from here on, as far as it has looked.
    pub fn principal_variation(&self) -> Vec<Action> {
        let mut line = Vec::new();
        let mut at = Some(self.root());
        while let Some(node) = at {
            let edges = self.tree.edges_of(node);
            let best = if line.is_empty() && !edges.is_empty() {
                let action = self.best_action();
                edges.iter().find(|edge| edge.action() == action)
            } else {
                most_visited(edges, node.sign)
            };
            let Some(edge) = best.filter(|edge| edge.n_visits > 0 || edge.proven.is_some()) else {
                break;
            };
            line.push(edge.action());
            at = self.tree.child(edge);
        }
        line
    }

    /// One walk down the tree from a root that is evaluated and not proven.
    fn descend(&mut self) -> Descent {
        let Some(first) = self.select_at_root() else { return Descent::Blocked };
        let (mut at, mut place) = (ROOT, first);
        let end = loop {
            match self.tree.step_down(at, place) {
                Below::Node(child) => {
                    at = child;
                    place = self.select(at);
                }
                Below::Proven => {
                    self.tree.back_up_proof(at, place);
                    self.statistics.n_descents += 1;
                    self.statistics.n_proven += 1;
                    break Descent::Proven;
                }
                Below::New(leaf) => break Descent::Leaf(leaf),
                Below::Waiting => {
                    self.statistics.n_collisions += 1;
                    return Descent::Blocked;
                }
            }
        };
        self.n_begun += 1;
        if let Method::Gumbel(_) = self.config.method {
            self.halving.count(first);
        }
        end
    }

    /// The place of the action to try next at the root; `None` when answers must come first.
    fn select_at_root(&mut self) -> Option<usize> {
        let gumbel = match self.config.method {
            Method::Puct(puct) => {
                return Some(self.select_by_puct(ROOT, &puct, puct.root_reduction));
            }
            Method::Gumbel(gumbel) => gumbel,
        };
        loop {
            let (sign, edges) = (self.root().sign, self.root_edges());
            if let Some(place) = self.halving.next(edges, sign) {
                return Some(place);
            }
            if self.n_outstanding > 0 {
                return None;
            }
            self.write_gumbel_scores(&gumbel);
            let root = self.tree.node(ROOT);
            self.halving.halve(self.tree.edges_of(root), root.sign, &self.policy);
        }
    }

    /// The place of the action to try next below the root.
    fn select(&mut self, at: u32) -> usize {
        match &self.config.method {
            Method::Puct(puct) => self.select_by_puct(at, puct, puct.reduction),
            Method::Gumbel(gumbel) => {
                let node = self.tree.node(at);
                let edges = self.tree.edges_of(node);
                gumbel.select(edges, node.sign, node.value, &mut self.policy)
            }
        }
    }

    fn select_by_puct(&self, at: u32, puct: &Puct, reduction: f32) -> usize {
        let node = self.tree.node(at);
        let mean = mean(self.tree.edge_to(node), node.sign);
        puct.select(self.tree.edges_of(node), node.sign, mean, reduction)
    }

    /// Adds the edges of a position, and what the method needs at the root.
    fn expand(&mut self, at: u32, evaluation: Evaluation<'_>, symmetry: u8) {
        self.tree.expand(at, evaluation, symmetry.into());
        if at == ROOT {
            self.prepare_root();
        }
    }

    /// Draws the noise of the root.
    fn draw_noise(&mut self, n_legal: usize, rng: &mut fastrand::Rng) {
        self.noise.clear();
        self.noise.resize(n_legal, 0.0);
        match &self.config.method {
            Method::Puct(puct) => {
                if let Some(noise) = puct.noise {
                    let concentration = f64::from(noise.concentration) / n_legal as f64;
                    policy::dirichlet(concentration, &mut self.noise, rng);
                }
            }
            Method::Gumbel(gumbel) if gumbel.is_random => policy::gumbel(&mut self.noise, rng),
            Method::Gumbel(_) => {}
        }
    }

    /// Makes an evaluated root ready for the first simulation.
    fn prepare_root(&mut self) {
        match self.config.method {
            Method::Puct(puct) => puct.mix(&self.noise, self.tree.edges_of_mut(ROOT)),
            Method::Gumbel(gumbel) => {
                self.write_gumbel_scores(&gumbel);
                let root = self.tree.node(ROOT);
                let edges = self.tree.edges_of(root);
                let n_simulations = self.config.n_simulations;
                self.halving.begin(&gumbel, n_simulations, edges, root.sign, &self.policy);
            }
        }
    }

    /// Writes what ranks the actions of a Gumbel root: improved logits and noise.
    fn write_gumbel_scores(&mut self, gumbel: &Gumbel) {
        let root = self.tree.node(ROOT);
        gumbel.improve(self.tree.edges_of(root), root.sign, root.value, &mut self.policy);
        for (score, noise) in self.policy.iter_mut().zip(&self.noise) {
            *score += noise;
        }
    }

    fn gumbel_scores(&self, gumbel: &Gumbel) -> Vec<f32> {
        let (root, mut scores) = (self.root(), Vec::new());
        gumbel.improve(self.root_edges(), root.sign, root.value, &mut scores);
        scores.iter().zip(&self.noise).map(|(score, noise)| score + noise).collect()
    }

    #[cfg(test)]
    pub(crate) fn tree(&self) -> &Tree<G> {
        &self.tree
    }

    fn root(&self) -> &Node<G> {
        self.tree.root().expect("a search has begun")
    }

    fn root_edges(&self) -> &[Edge] {
        self.tree.edges_of(self.root())
    }

    fn is_proven(&self) -> bool {
        self.tree.edge_to(self.root()).proven.is_some()
    }
}

/// How a walk down the tree ends.
enum Descent {
    /// At a position that must be evaluated.
    Leaf(u32),
    /// Where the score is known, which is backed up.
    Proven,
    /// At a leaf that waits for its answer.
    Blocked,
}

/// The mean score of an edge for the seat that `sign` stands for; 0 where it was not visited.
fn mean(edge: &Edge, sign: f32) -> f32 {
    if edge.n_visits == 0 { 0.0 } else { sign * (edge.total / f64::from(edge.n_visits)) as f32 }
}

/// The best edge by what is proven, then visits, then prior; the first of equals.
fn most_visited(edges: &[Edge], sign: f32) -> Option<&Edge> {
    let rank = |edge: &Edge| match edge.proven_for(sign) {
        Some(1) => 2,
        Some(-1) => 0,
        _ => 1,
    };
    edges.iter().reduce(|best, edge| {
        let by_count = (rank(edge), edge.n_visits).cmp(&(rank(best), best.n_visits));
        if by_count.then(edge.prior.total_cmp(&best.prior)).is_gt() { edge } else { best }
    })
}

#[cfg(test)]
mod tests;
