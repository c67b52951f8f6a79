//! Networks and learning algorithms, without a tensor library.
//!
//! # Layout
//!
//! * [`ppo`]: proximal policy optimisation; one file per algorithm, to be held against its paper.
//! * [`policy`]: what an algorithm learns and a player uses ([`Policy`]).
//! * [`onnx`]: policies as ONNX files, out and in.
//! * [`metric`]: the names of everything that is measured.
//! * [`network`], [`adam`], `kernels`: layers, optimiser and the dense arithmetic under them.
//! * [`schedule`]: settings that fall while a training goes on.
//! * [`team`]: the threads that share the work.
//!
//! **Invariant:** no database, file, clock or socket is reachable from this crate. A seed and a
//! configuration give the same weights, bit for bit, with any number of threads and on every
//! processor with AVX2.

pub mod adam;
mod kernels;
pub mod metric;
pub mod network;
pub mod onnx;
pub mod policy;
pub mod ppo;
pub mod schedule;
pub mod team;

pub use crate::metric::Metric;
pub use crate::policy::{Policy, PolicyError};
