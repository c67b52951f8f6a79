//! Search over the rules of games.
//!
//! * [`minimax`]: the exact value of every action, for games small enough to search whole.
//! * [`alphabeta`]: looks a fixed number of plies ahead and judges by a [`heuristics`] function.
//! * [`connect4_solver`]: the exact truth about Connect 4.
//! * [`mcts`]: Monte-Carlo tree search with random playouts.
//! * [`search`]: AlphaZero's tree search, guided by an evaluator and stopped at every leaf, so that
//!   many searches share a batch. Its parts: [`puct`] and [`gumbel`] choose actions, `tree` has
//!   what is known, [`cache`] what was evaluated before, [`policy`] what chance needs.
//! * [`evaluator`]: what it asks, two stand-ins for a network, and the plain loop.
//!
//! Nothing here assumes that seats alternate: whose turn it is comes from the position.
//!
//! **Invariant:** no network library, file, clock or thread is reachable from this crate. Chance
//! comes in through a seeded generator.

pub mod alphabeta;
pub mod cache;
pub mod connect4_solver;
pub mod evaluator;
pub mod gumbel;
pub mod heuristics;
pub mod mcts;
pub mod minimax;
pub mod policy;
pub mod puct;
pub mod search;
mod tree;

#[cfg(test)]
mod coins;
