//! Networks and learning algorithms, without a tensor library.
//!
//! # Layout
//!
//! * [`ppo`]: proximal policy optimisation, and [`dqn`]: deep Q-learning; one file per algorithm,
//!   to be held against its paper. [`learner`] is either.
//! * [`policy`]: what an algorithm learns and a player uses ([`Policy`]), and [`normalizer`], a
//!   part of it.
//! * [`report`]: what a learner says of an update, and [`fault`]: of one that went wrong.
//! * [`onnx`]: policies as ONNX files, out and in.
//! * [`metric`]: the names of everything that is measured.
//! * [`board_net`]: networks that look at a board and say policy and value, convolutional or dense.
//!   [`board_learner`] takes them towards what a search has found, and [`alphazero`] is the training
//!   around both: self-play, the window of games, learning.
//! * [`network`], [`adam`], `kernels`: layers, optimiser and the dense arithmetic under them.
//! * [`schedule`]: settings that change while a training goes on.
//! * [`team`]: the threads that share the work.
//!
//! **Invariant:** no database, file, clock or socket is reachable from this crate. A seed and a
//! configuration give the same weights, bit for bit, with any number of threads and on every
//! processor with AVX2.

pub mod adam;
pub mod alphazero;
pub mod board_learner;
pub mod board_net;
pub mod dqn;
pub mod fault;
mod kernels;
pub mod learner;
mod lines;
pub mod metric;
pub mod network;
mod noise;
pub mod normalizer;
pub mod onnx;
pub mod policy;
pub mod ppo;
pub mod report;
pub mod schedule;
pub mod team;

pub use crate::learner::Learner;
pub use crate::metric::Metric;
pub use crate::policy::{Policy, PolicyError};

/// The instruction set that learning uses on this machine: `avx512`, `avx2` or `baseline`. The
/// first two give the same bits; the baseline rounds differently.
pub fn instruction_set() -> &'static str {
    kernels::Isa::detect().name()
}

/// Lets this process compute with a lesser instruction set than it could, before it has begun to:
/// `avx2` where there is `avx512`, say, to see that nothing changes.
pub fn use_instruction_set(name: &str) -> Result<(), String> {
    kernels::Isa::choose(name)
}
