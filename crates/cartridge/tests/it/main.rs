//! Whole-workspace tests, in one binary so that they link once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod alerts;
mod api_docs;
mod arena;
mod artifacts;
mod cli;
mod engine;
mod episodes;
mod evaluations;
mod experiments;
mod foreign;
mod index;
mod insight;
mod lab;
mod layering;
mod lifecycle;
#[cfg(feature = "otel")]
mod otel;
mod reproduce;
mod resources;
mod security;
mod self_play;
mod support;
mod thinking;
mod trainers;
