//! The one place that reads the time of day.

use std::time::{SystemTime, UNIX_EPOCH};

/// Unix seconds. For records that people read; ages are measured with `Instant`.
#[expect(clippy::disallowed_methods, reason = "this is the edge that hands the time in")]
pub fn unix_now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |age| age.as_secs_f64())
}
