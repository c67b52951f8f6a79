//! Search over the rules of games.
//!
//! * [`minimax`]: the exact value of every action, for games small enough to search whole.
//! * [`alphabeta`]: looks a fixed number of plies ahead and judges by a [`heuristics`] function.
//! * [`connect4_solver`]: the exact truth about Connect 4.
//! * [`mcts`]: Monte-Carlo tree search with random playouts.
//!
//! Nothing here assumes that seats alternate: whose turn it is comes from the position.
//!
//! **Invariant:** no network library, file, clock or thread is reachable from this crate. Chance
//! comes in through a seeded generator.

pub mod alphabeta;
pub mod connect4_solver;
pub mod heuristics;
pub mod mcts;
pub mod minimax;

#[cfg(test)]
mod coins;
