//! Tests of the engine's service, in one binary so that they link once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod fuzz;
