//! One file per noun.

pub mod analytics;
pub mod artifacts;
pub mod audit;
pub mod cluster;
pub mod contests;
pub mod control;
pub mod environments;
pub mod episodes;
pub mod evaluations;
pub mod experiments;
pub mod frames;
pub mod health;
pub mod human;
pub mod insights;
pub mod lab;
pub mod login;
pub mod models;
pub mod play;
pub mod prometheus;
pub mod ratings;
pub mod report;
pub mod runs;
pub mod schemas;
pub mod stream;
pub mod telemetry;
pub mod tokens;
