//! One file per noun.

pub mod artifacts;
pub mod audit;
pub mod contests;
pub mod control;
pub mod environments;
pub mod episodes;
pub mod evaluations;
pub mod experiments;
pub mod frames;
pub mod health;
pub mod human;
pub mod lab;
pub mod login;
pub mod models;
pub mod play;
pub mod ratings;
pub mod runs;
pub mod schemas;
pub mod stream;
pub mod telemetry;
pub mod tokens;
