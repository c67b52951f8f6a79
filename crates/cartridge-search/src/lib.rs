//! Search over the rules of games.
//!
//! * [`minimax`]: the exact value of every action, for games small enough to search whole.
//!
//! **Invariant:** no network library, file, clock or thread is reachable from this crate. Chance
//! comes in through a seeded generator.

pub mod minimax;
