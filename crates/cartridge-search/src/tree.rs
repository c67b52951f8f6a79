//! The tree of a search: positions, and what is known of the actions that lead on from them.
//!
//! A node is a position that was evaluated, or that waits for it. Its edges lie next to each other,
//! one per legal action, and hold all statistics, so that choosing an action reads one stretch of
//! memory. What an edge leads to becomes a node when it is first visited, and not even then if the
//! rules say how it ends: such an edge is proven, and goes nowhere.
//!
//! Scores are those of seat 0 everywhere, and turned round by the seat to move where an action is
//! chosen, so a seat may move twice in a row. Nodes and edges lie in two vectors, and in two more
//! when a subtree is kept: once they have grown to the size of a search, searching allocates
//! nothing.
//!
//! The visits of an edge are 1, for the evaluation of where it leads, plus those of the edges that
//! follow; an edge that is proven counts the visits that ended there too.

use cartridge_games::{Action, Game, Turn, Urgent};

use crate::evaluator::Evaluation;
use crate::mcts::{FIRST, sign};
use crate::policy::exp;

#[derive(Clone, Debug)]
pub(crate) struct Tree<G> {
    nodes: Vec<Node<G>>,
    /// The first leads to the root.
    edges: Vec<Edge>,
    /// Where a subtree is put together that is kept.
    spare: (Vec<Node<G>>, Vec<Edge>),
}

#[derive(Clone, Debug)]
pub(crate) struct Node<G> {
    pub(crate) game: G,
    /// Turns a score of [`FIRST`] into one of the seat to move.
    pub(crate) sign: f32,
    /// What the evaluator thinks of it, for the seat to move.
    pub(crate) value: f32,
    /// The node before, or [`NONE`].
    parent: u32,
    /// The edge that leads here.
    via: u32,
    first_edge: u32,
    /// None until it is evaluated.
    n_edges: u32,
}

/// An action and what is known of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Edge {
    /// Sum of the scores of [`FIRST`].
    pub(crate) total: f64,
    /// The probability of the action, with the noise of the root.
    pub(crate) prior: f32,
    /// The logarithm of the probability, without noise.
    pub(crate) logit: f32,
    pub(crate) n_visits: u32,
    /// The node, or [`NONE`].
    pub(crate) child: u32,
    pub(crate) action: u16,
    /// How many leaves behind it wait for their evaluation.
    pub(crate) n_outstanding: u16,
    /// The exact score of [`FIRST`], once that is known.
    pub(crate) proven: Option<i8>,
}

/// Where a step down the tree leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Below {
    /// How it ends is known.
    Proven,
    /// To a position that is evaluated.
    Node(u32),
    /// To one that must be evaluated first.
    New(u32),
    /// To one whose evaluation is under way.
    Waiting,
}

pub(crate) const ROOT: u32 = 0;
/// The edge that leads to the root.
const ROOT_EDGE: u32 = 0;
const NONE: u32 = u32::MAX;

impl<G> Default for Tree<G> {
    fn default() -> Self {
        Self { nodes: Vec::new(), edges: Vec::new(), spare: (Vec::new(), Vec::new()) }
    }
}

impl<G: Game> Tree<G> {
    /// Forgets everything and starts from `game`, which is not over.
    pub(crate) fn reset(&mut self, game: &G) {
        self.clear();
        self.nodes.push(Node::new(game.clone(), NONE, ROOT_EDGE));
        self.edges.push(Edge { child: ROOT, ..Edge::new(Action(0), 0.0, 0.0) });
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
    }

    /// Makes the position after `action` the root and forgets the others; everything where that
    /// was not evaluated.
    pub(crate) fn advance(&mut self, action: Action) {
        let edges = self.nodes.first().map_or(&[][..], |root| self.edges_of(root));
        let edge = edges.iter().find(|edge| edge.action() == action && edge.child != NONE);
        match edge.copied() {
            Some(edge) => self.keep(edge),
            None => self.clear(),
        }
    }

    /// Keeps what follows an edge, in the order of the distance from the new root.
    fn keep(&mut self, edge: Edge) {
        let (mut nodes, mut edges) = std::mem::take(&mut self.spare);
        nodes.clear();
        edges.clear();
        let root = self.node(edge.child).clone();
        nodes.push(Node { parent: NONE, via: ROOT_EDGE, ..root });
        edges.push(Edge { child: ROOT, ..edge });
        let mut at = 0;
        while at < nodes.len() {
            let (old, first_edge) = (nodes[at].edge_places(), edges.len() as u32);
            nodes[at].first_edge = first_edge;
            for mut edge in self.edges[old].iter().copied() {
                if edge.child != NONE {
                    let via = edges.len() as u32;
                    nodes.push(Node { parent: at as u32, via, ..self.node(edge.child).clone() });
                    edge.child = nodes.len() as u32 - 1;
                }
                edges.push(edge);
            }
            at += 1;
        }
        self.spare =
            (std::mem::replace(&mut self.nodes, nodes), std::mem::replace(&mut self.edges, edges));
    }

    /// The root, if there is one.
    pub(crate) fn root(&self) -> Option<&Node<G>> {
        self.nodes.first()
    }

    pub(crate) fn node(&self, at: u32) -> &Node<G> {
        &self.nodes[at as usize]
    }

    /// What is known of a position by those that lead to it.
    pub(crate) fn edge_to(&self, node: &Node<G>) -> &Edge {
        &self.edges[node.via as usize]
    }

    pub(crate) fn edges_of(&self, node: &Node<G>) -> &[Edge] {
        &self.edges[node.edge_places()]
    }

    pub(crate) fn edges_of_mut(&mut self, at: u32) -> &mut [Edge] {
        let places = self.node(at).edge_places();
        &mut self.edges[places]
    }

    /// Whether a position waits for its evaluation.
    pub(crate) fn is_waiting(&self, at: u32) -> bool {
        let node = self.node(at);
        node.n_edges == 0 && self.edge_to(node).n_outstanding > 0
    }

    /// Takes the edge at `place` of an evaluated position; where nobody was before, it looks what
    /// is there.
    pub(crate) fn step_down(&mut self, at: u32, place: usize) -> Below {
        let node = self.node(at);
        let via = node.first_edge + place as u32;
        let edge = self.edges[via as usize];
        if edge.proven.is_some() {
            return Below::Proven;
        }
        if edge.child != NONE {
            let is_evaluated = self.node(edge.child).n_edges > 0;
            return if is_evaluated { Below::Node(edge.child) } else { Below::Waiting };
        }
        let mut game = node.game.clone();
        game.apply(edge.action());
        let proven = match game.turn() {
            Turn::Over => Some(whole(game.score(FIRST))),
            Turn::Seat(seat) => game.decisive().map(|_| whole(sign(seat))),
        };
        if proven.is_some() {
            self.edges[via as usize].proven = proven;
            return Below::Proven;
        }
        let child = self.nodes.len() as u32;
        self.nodes.push(Node::new(game, at, via));
        self.edges[via as usize].child = child;
        Below::New(child)
    }

    /// Adds the edges of a position, with the logits that `symmetry` has moved.
    pub(crate) fn expand(&mut self, at: u32, evaluation: Evaluation<'_>, symmetry: usize) {
        assert_eq!(evaluation.logits.len(), G::SPEC.n_actions, "there is a logit per action");
        assert!(evaluation.value.abs() <= 1.0, "a value of {}", evaluation.value);
        let node = &mut self.nodes[at as usize];
        assert!(node.n_edges == 0, "a position is evaluated once");
        let first = self.edges.len();
        let mut greatest = f32::NEG_INFINITY;
        for action in node.game.legal_actions() {
            let moved = if symmetry == 0 { action } else { G::transform_action(symmetry, action) };
            let logit = evaluation.logits[moved.0];
            greatest = greatest.max(logit);
            self.edges.push(Edge::new(action, logit, 0.0));
        }
        node.first_edge = first as u32;
        node.n_edges = (self.edges.len() - first) as u32;
        node.value = evaluation.value;
        let edges = &mut self.edges[first..];
        let mut sum = 0.0;
        for edge in edges.iter_mut() {
            edge.prior = exp(edge.logit - greatest);
            sum += edge.prior;
        }
        assert!(sum >= 1.0, "the logits are {:?}", evaluation.logits);
        let (scale, log_sum) = (1.0 / sum, greatest + sum.ln());
        for edge in edges.iter_mut() {
            edge.prior *= scale;
            edge.logit -= log_sum;
        }
        if let Some(Urgent::Block(block)) = node.game.urgent() {
            let loss = whole(-node.sign);
            for edge in edges.iter_mut().filter(|edge| edge.action() != block) {
                edge.proven = Some(loss);
            }
        }
    }

    /// Proves the root where it can be won at once; one that is not evaluated then needs no more
    /// than equal priors.
    pub(crate) fn win_at_once(&mut self) {
        let root = &self.nodes[ROOT as usize];
        let win = whole(root.sign);
        let decisive = root.game.decisive();
        let wins = |action| {
            if decisive == Some(action) {
                return true;
            }
            let mut next = root.game.clone();
            next.apply(action);
            next.turn() == Turn::Over && whole(next.score(FIRST)) == win
        };
        if !root.game.legal_actions().any(wins) {
            return;
        }
        let mut places = root.edge_places();
        if !root.is_evaluated() {
            let n_legal = root.game.legal_actions().count();
            places = self.edges.len()..self.edges.len() + n_legal;
            let prior = 1.0 / n_legal as f32;
            let edge = |action| Edge::new(action, prior.ln(), prior);
            self.edges.extend(root.game.legal_actions().map(edge));
        }
        for edge in self.edges[places.clone()].iter_mut().filter(|edge| wins(edge.action())) {
            edge.proven = Some(win);
        }
        self.edges[ROOT_EDGE as usize].proven = Some(win);
        let root = &mut self.nodes[ROOT as usize];
        (root.first_edge, root.n_edges) = (places.start as u32, places.len() as u32);
    }

    /// Marks the way to a leaf as a visit whose score is not known yet.
    pub(crate) fn wait_for(&mut self, leaf: u32) {
        let mut at = leaf;
        while at != NONE {
            let node = &self.nodes[at as usize];
            self.edges[node.via as usize].n_outstanding += 1;
            at = node.parent;
        }
    }

    /// Adds the value of a leaf that was waited for to every edge on the way to it.
    pub(crate) fn answer(&mut self, leaf: u32) {
        let mut at = leaf;
        while at != NONE {
            let node = &self.nodes[at as usize];
            self.edges[node.via as usize].n_outstanding -= 1;
            at = node.parent;
        }
        self.back_up_value(leaf);
    }

    /// Adds the value of a position that was just evaluated to every edge on the way to it.
    pub(crate) fn back_up_value(&mut self, at: u32) {
        let node = self.node(at);
        let (edge, score, parent) = (node.via, node.sign * node.value, node.parent);
        self.back_up(edge, parent, score);
    }

    /// Adds the score of a proven edge to it and every edge on the way to it, and proves what
    /// follows from it.
    pub(crate) fn back_up_proof(&mut self, at: u32, place: usize) {
        let edge = self.node(at).first_edge + place as u32;
        self.back_up(edge, at, 0.0);
    }

    /// Adds `score` to an edge of `at` and all before it, or from the first proven one on what is
    /// proven there.
    fn back_up(&mut self, mut edge: u32, mut at: u32, score: f32) {
        let mut score = f64::from(score);
        loop {
            let known = &mut self.edges[edge as usize];
            if let Some(proven) = known.proven {
                score = f64::from(proven);
            }
            known.n_visits += 1;
            known.total += score;
            let is_proven = known.proven.is_some();
            if at == NONE {
                return;
            }
            if is_proven {
                self.settle(at);
            }
            let node = &self.nodes[at as usize];
            (edge, at) = (node.via, node.parent);
        }
    }

    /// Proves a position if its edges allow it: one of them wins, or all are proven.
    fn settle(&mut self, at: u32) {
        let node = self.node(at);
        let via = node.via as usize;
        if self.edges[via].proven.is_some() {
            return;
        }
        let sign = whole(node.sign);
        let mut best = -1;
        let mut is_open = false;
        for edge in self.edges_of(node) {
            match edge.proven {
                Some(score) => best = best.max(sign * score),
                None => is_open = true,
            }
        }
        if best == 1 || !is_open {
            self.edges[via].proven = Some(sign * best);
        }
    }

    #[cfg(test)]
    pub(crate) fn nodes(&self) -> &[Node<G>] {
        &self.nodes
    }

    /// The node to which an edge leads.
    pub(crate) fn child(&self, edge: &Edge) -> Option<&Node<G>> {
        (edge.child != NONE).then(|| self.node(edge.child))
    }
}

impl<G: Game> Node<G> {
    fn new(game: G, parent: u32, via: u32) -> Self {
        let Turn::Seat(seat) = game.turn() else { panic!("the game is over") };
        Self { game, sign: sign(seat), value: 0.0, parent, via, first_edge: 0, n_edges: 0 }
    }

    fn edge_places(&self) -> std::ops::Range<usize> {
        let first = self.first_edge as usize;
        first..first + self.n_edges as usize
    }

    pub(crate) fn is_evaluated(&self) -> bool {
        self.n_edges > 0
    }
}

impl Edge {
    pub(crate) fn new(action: Action, logit: f32, prior: f32) -> Self {
        Self {
            total: 0.0,
            prior,
            logit,
            n_visits: 0,
            child: NONE,
            action: action.0 as u16,
            n_outstanding: 0,
            proven: None,
        }
    }

    pub(crate) fn action(&self) -> Action {
        Action(self.action.into())
    }

    /// Visits, and those under way.
    #[inline]
    pub(crate) fn n_begun(&self) -> u32 {
        self.n_visits + u32::from(self.n_outstanding)
    }

    /// What it is worth to the seat that `sign` stands for, if it was visited: its proven or mean
    /// score, to which visits under way count as lost.
    #[inline]
    pub(crate) fn worth(&self, sign: f32) -> f32 {
        match self.proven {
            Some(score) => sign * f32::from(score),
            None => {
                let total = sign * self.total as f32 - f32::from(self.n_outstanding);
                total / self.n_begun() as f32
            }
        }
    }

    /// Its exact score for the seat that `sign` stands for.
    #[inline]
    pub(crate) fn proven_for(&self, sign: f32) -> Option<i8> {
        self.proven.map(|score| whole(sign) * score)
    }

    #[inline]
    pub(crate) fn is_lost(&self, sign: f32) -> bool {
        self.proven_for(sign) == Some(-1)
    }
}

/// A score that is a win, a draw or a loss.
fn whole(score: f32) -> i8 {
    let whole = score as i8;
    assert!(f32::from(whole) == score && whole.abs() <= 1, "{score} is no win, draw or loss");
    whole
}

#[cfg(test)]
pub(crate) mod tests;
