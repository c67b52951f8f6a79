//! What a step is worth: ours, and the published weights.

use super::market::BASE;
use super::ship::{Ending, Happened, MAX_LEVEL, Ship};

/// Credits per unit of reward.
const SCALE: f64 = 1000.0;

/// Credits per unit of fuel: what the largest purchase costs.
const FUEL_WORTH: f64 = 210.0 / 480.0;
/// Credits per point of hull or tool: an overhaul from nothing to full breaks even.
const REPAIR_WORTH: f64 = 280.0 / 200.0;
/// What cargo counts for before it is sold, as a share of its base price.
const CARGO_WORTH: f64 = 0.25;
/// Credits to fetch a ship that was left in the belt by choice.
const TOW: f64 = 300.0;
/// Credits that are lost with a ship without fuel, beside what it had.
const STRANDED: f64 = 1000.0;
/// Credits that are lost with a ship in pieces, beside what it had.
const DESTROYED: f64 = 2000.0;
/// Per invalid action.
const INVALID: f64 = 0.01;

/// What ship, fuel and cargo are worth together with the credits.
pub(super) fn worth(ship: &Ship) -> f64 {
    let cargo: f64 = ship.cargo.iter().zip(BASE).map(|(units, base)| units * base).sum();
    ship.credits + ship_worth(ship) + CARGO_WORTH * cargo
}

fn ship_worth(ship: &Ship) -> f64 {
    FUEL_WORTH * ship.fuel + REPAIR_WORTH * (ship.hull + ship.tool)
}

/// The change of [`worth`] in thousands of credits, and the price of ending badly.
pub(super) fn ours(worth_before: f64, ship: &Ship, happened: &Happened) -> f64 {
    let after = match happened.ending {
        None => worth(ship),
        // Nobody buys the cargo of a ship that has stopped working, so it counts no longer.
        Some(Ending::CashedOut) if ship.is_at_station() => ship.credits + ship_worth(ship),
        Some(Ending::CashedOut) => ship.credits + ship_worth(ship) - TOW,
        Some(Ending::Stranded) => ship.credits - STRANDED,
        Some(Ending::Destroyed) => ship.credits - DESTROYED,
    };
    let invalid = if happened.is_invalid { INVALID } else { 0.0 };
    (after - worth_before) / SCALE - invalid
}

/// What the published weights look at, beside [`Happened`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Before {
    pub(super) credits: f64,
    /// At the prices before the step.
    pub(super) cargo_value: f64,
}

/// The fact sheet's weights. `cargo_value` is at the prices after the step.
pub(super) fn published(before: Before, cargo_value: f64, ship: &Ship, happened: &Happened) -> f64 {
    let heat = (ship.heat - 70.0).max(0.0) / MAX_LEVEL;
    let ending = match happened.ending {
        None => 0.0,
        Some(Ending::CashedOut) => 0.002 * ship.credits / SCALE,
        Some(Ending::Stranded) => -50.0,
        Some(Ending::Destroyed) => -100.0,
    };
    (ship.credits - before.credits) / SCALE
        + 0.02 * (cargo_value - before.cargo_value).max(0.0) / SCALE
        - 0.1 * happened.fuel_used / 100.0
        - 0.001 * f64::from(happened.ticks)
        - 0.05 * happened.tool_wear / 10.0
        - happened.hull_lost / 10.0
        - 0.2 * heat * heat
        - if happened.is_scan { 0.005 } else { 0.0 }
        - if happened.is_invalid { 0.01 } else { 0.0 }
        - happened.lost_to_pirates / SCALE
        + ending
}
