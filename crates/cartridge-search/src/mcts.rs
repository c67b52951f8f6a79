//! Monte-Carlo tree search with random playouts (UCT), for zero-sum games of two seats.
//!
//! Kocsis and Szepesvári 2006, "Bandit based Monte-Carlo planning": each simulation walks down
//! the tree by the upper confidence bound `mean + c · √(ln N / n)`, where `N` counts the visits of
//! the parent and `n` those of the child; plays the rest at random, a few times; and adds the mean
//! score to every position on the way. A position is expanded on its second visit, all its
//! children at once.
//!
//! Deviations:
//!
//! * Ends are backed up as proven scores (Winands, Björnsson and Saito 2008, "Monte-Carlo tree
//!   search solver"). A position is proven when one action is a proven win for the seat to move,
//!   or when all are proven; proven losses are not visited again.
//! * Where a game can tell ([`Game::urgent`]), playouts win at once and block who would (Teytaud
//!   and Teytaud 2010, "On the huge benefit of decisive moves"), and a child whose seat to move
//!   wins at once is proven from the start. All else in a playout is random.
//! * A leaf is valued by [`N_PLAYOUTS`] playouts, which cost less than a walk down the tree.
//!
//! Scores are kept from the view of seat 0 and turned round by the seat to move at the parent, so
//! a seat may move twice in a row. The tree lives in one vector that is kept between searches:
//! once it has grown to the size of a search, searching allocates nothing.

use cartridge_games::{Action, Game, Seat, Turn, Urgent, random_action};

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// How many simulations a search makes, unless the position is proven before.
    pub n_simulations: u32,
    /// The constant `c`: how much is tried of what looks worse. Means lie between −1 and 1.
    pub exploration: f32,
}

impl Config {
    /// `n_simulations` with the exploration of UCB1 (Auer, Cesa-Bianchi and Fischer 2002).
    pub fn new(n_simulations: u32) -> Self {
        Self { n_simulations, exploration: std::f32::consts::SQRT_2 }
    }
}

/// What a search found out about one action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// The action.
    pub action: Action,
    /// How many simulations began with it.
    pub n_visits: u32,
    /// Its mean score for the seat to move; 0 where it was not visited.
    pub mean: f32,
    /// Its exact score for the seat to move, once that is proven.
    pub proven: Option<f32>,
}

/// A search tree, kept to be used again.
#[derive(Clone, Debug)]
pub struct Mcts<G> {
    nodes: Vec<Node<G>>,
    /// From the root to where the simulation stands.
    path: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Node<G> {
    game: G,
    /// What led here.
    action: Action,
    n_visits: u32,
    /// Sum of the scores of seat 0.
    total: f32,
    /// The exact score of seat 0, once that is known.
    proven: Option<f32>,
    /// The children stand next to each other; none before the position is expanded.
    first_child: u32,
    n_children: u32,
}

/// How many playouts value a leaf.
pub const N_PLAYOUTS: usize = 4;

pub(crate) const FIRST: Seat = Seat(0);
const ROOT: u32 = 0;

impl<G: Game> Default for Mcts<G> {
    fn default() -> Self {
        assert!(G::SPEC.is_zero_sum(), "{} is not a zero-sum game of two seats", G::SPEC.id);
        Self { nodes: Vec::new(), path: Vec::new() }
    }
}

impl<G: Game> Mcts<G> {
    /// Searches from `game`, which is not over, and says what it found out about each legal
    /// action, in order. The visits add up to the simulations that were made.
    pub fn search(&mut self, game: &G, config: Config, rng: &mut fastrand::Rng) -> Vec<Finding> {
        let Turn::Seat(seat) = game.turn() else { panic!("the game is over") };
        self.nodes.clear();
        self.nodes.push(Node::new(game.clone(), Action(0)));
        self.expand(ROOT);
        for _ in 0..config.n_simulations {
            if self.node(ROOT).proven.is_some() {
                break;
            }
            self.simulate(config.exploration, rng);
        }
        let finding = |child: &Node<G>| Finding {
            action: child.action,
            n_visits: child.n_visits,
            mean: if child.n_visits == 0 { 0.0 } else { sign(seat) * child.mean() },
            // Adding zero turns a negative zero into a plain one.
            proven: child.proven.map(|score| sign(seat) * score + 0.0),
        };
        self.children(self.node(ROOT)).iter().map(finding).collect()
    }

    /// A best action of the seat to move; see [`best`].
    pub fn best_action(&mut self, game: &G, config: Config, rng: &mut fastrand::Rng) -> Action {
        best(&self.search(game, config, rng))
    }

    /// One walk down the tree, a playout, and the way back.
    fn simulate(&mut self, exploration: f32, rng: &mut fastrand::Rng) {
        self.path.clear();
        let mut at = ROOT;
        let mut score = loop {
            self.path.push(at);
            let node = self.node(at);
            if let Some(score) = node.proven {
                break score;
            }
            if node.n_children == 0 {
                if node.n_visits == 0 {
                    let scores = (0..N_PLAYOUTS).map(|_| playout(node.game.clone(), rng));
                    break scores.sum::<f32>() / N_PLAYOUTS as f32;
                }
                self.expand(at);
                if let Some(score) = self.node(at).proven {
                    break score;
                }
            }
            at = self.select(at, exploration, rng);
        };
        let mut child_proven = false;
        while let Some(at) = self.path.pop() {
            if child_proven && self.node(at).proven.is_none() {
                self.settle(at);
            }
            let node = &mut self.nodes[at as usize];
            child_proven = node.proven.is_some();
            score = node.proven.unwrap_or(score);
            node.n_visits += 1;
            node.total += score;
        }
    }

    /// Adds the children of a position that is not over.
    fn expand(&mut self, at: u32) {
        let game = self.node(at).game.clone();
        let first_child = self.nodes.len();
        for action in game.legal_actions() {
            let mut next = game.clone();
            next.apply(action);
            self.nodes.push(Node::new(next, action));
        }
        let n_children = self.nodes.len() - first_child;
        let node = &mut self.nodes[at as usize];
        (node.first_child, node.n_children) = (first_child as u32, n_children as u32);
        self.settle(at);
    }

    /// Proves the position if its children allow it.
    fn settle(&mut self, at: u32) {
        let node = self.node(at);
        let sign = node.sign();
        let children = self.children(node);
        let known = children.iter().filter_map(|child| child.proven.map(|score| sign * score));
        let best = known.clone().fold(f32::NEG_INFINITY, f32::max);
        if best >= G::SPEC.scores.1 || known.count() == children.len() {
            self.nodes[at as usize].proven = Some(sign * best);
        }
    }

    /// The child with the highest bound; one that was never visited comes first, by chance.
    fn select(&self, at: u32, exploration: f32, rng: &mut fastrand::Rng) -> u32 {
        let node = self.node(at);
        let sign = node.sign();
        let is_lost = |child: &Node<G>| child.proven.is_some_and(|score| sign * score < 0.0);
        let children = self.children(node).iter().enumerate();
        let children = children.filter(|(_, child)| !is_lost(child));
        let new = children.clone().filter(|(_, child)| child.n_visits == 0);
        let n_new = new.clone().count();
        let place = if n_new > 0 {
            new.clone().nth(rng.usize(..n_new)).map(|(place, _)| place)
        } else {
            let log = (node.n_visits as f32).ln();
            let bound = |child: &Node<G>| {
                sign * child.mean() + exploration * (log / child.n_visits as f32).sqrt()
            };
            let bounds = children.map(|(place, child)| (place, bound(child)));
            bounds.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(place, _)| place)
        };
        node.first_child + place.expect("a position that is not over has children") as u32
    }

    fn node(&self, at: u32) -> &Node<G> {
        &self.nodes[at as usize]
    }

    fn children(&self, node: &Node<G>) -> &[Node<G>] {
        &self.nodes[node.first_child as usize..][..node.n_children as usize]
    }
}

impl<G: Game> Node<G> {
    fn new(game: G, action: Action) -> Self {
        let proven = match (game.turn(), game.urgent()) {
            (Turn::Over, _) => Some(game.score(FIRST)),
            (Turn::Seat(seat), Some(Urgent::Win(_))) => Some(sign(seat) * G::SPEC.scores.1),
            _ => None,
        };
        Self { game, action, n_visits: 0, total: 0.0, proven, first_child: 0, n_children: 0 }
    }

    /// Turns a score of [`FIRST`] into one of the seat to move.
    fn sign(&self) -> f32 {
        match self.game.turn() {
            Turn::Seat(seat) => sign(seat),
            Turn::Over => unreachable!("nobody asks at the end of a game"),
        }
    }

    fn mean(&self) -> f32 {
        self.total / self.n_visits as f32
    }
}

/// The action to play: a proven win, or else the most visited that is not a proven loss.
pub fn best(findings: &[Finding]) -> Action {
    let worth = |finding: &&Finding| {
        let proven = finding.proven.unwrap_or(0.0);
        (i8::from(proven > 0.0) - i8::from(proven < 0.0), finding.n_visits)
    };
    findings.iter().max_by_key(worth).expect("there is a legal action").action
}

/// Plays to the end and returns the score of [`FIRST`].
pub(crate) fn playout<G: Game>(mut game: G, rng: &mut fastrand::Rng) -> f32 {
    if G::HAS_URGENT_ACTIONS {
        while game.turn() != Turn::Over {
            game.apply(match game.urgent() {
                Some(Urgent::Win(action) | Urgent::Block(action)) => action,
                None => random_action(&game, rng),
            });
        }
    } else {
        game.playout(rng);
    }
    game.score(FIRST)
}

/// Turns a score of [`FIRST`] into one of `seat`.
pub(crate) fn sign(seat: Seat) -> f32 {
    if seat == FIRST { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests;
