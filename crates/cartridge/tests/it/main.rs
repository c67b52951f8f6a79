//! Whole-workspace tests, in one binary so that they link once.

mod cli;
mod lab;
mod layering;
mod support;
