//! The ship: what it has, where it is, and what happened to it in a step.

use super::world::{N_COMMODITIES, STATION};

pub(super) const MAX_FUEL: f64 = 1000.0;
/// Greatest hull, heat, tool and alert.
pub(super) const MAX_LEVEL: f64 = 100.0;
/// Units.
pub(super) const MAX_CARGO: f64 = 200.0;
/// Greatest number of kits, of stabilisers and of decoys.
pub(super) const MAX_ITEMS: u32 = 12;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ship {
    pub(super) fuel: f64,
    pub(super) hull: f64,
    pub(super) heat: f64,
    pub(super) tool: f64,
    /// How much the pirates know of the ship.
    pub(super) alert: f64,
    pub(super) credits: f64,
    pub(super) cargo: [f64; N_COMMODITIES],
    pub(super) kits: u32,
    pub(super) stabilisers: u32,
    pub(super) decoys: u32,
    pub(super) node: usize,
    /// Slot of an asteroid that is there.
    pub(super) selected: Option<usize>,
    pub(super) is_docked: bool,
    /// Pirates are easily escaped before this tick.
    pub(super) escape_until: u32,
}

/// What happened in a step, beside the change of state: the facts that rewards and metrics need.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Happened {
    pub(super) ticks: u32,
    pub(super) is_invalid: bool,
    pub(super) is_scan: bool,
    pub(super) is_mining: bool,
    pub(super) is_overheated: bool,
    pub(super) is_raided: bool,
    pub(super) fuel_used: f64,
    pub(super) hull_lost: f64,
    pub(super) tool_wear: f64,
    /// In credits, at the prices of the moment.
    pub(super) lost_to_pirates: f64,
    pub(super) ending: Option<Ending>,
}

/// How the task itself can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    CashedOut,
    /// No fuel, and no station to buy some.
    Stranded,
    Destroyed,
}

impl Ship {
    /// At the station, ready to go.
    pub(super) fn new() -> Self {
        Self {
            fuel: MAX_FUEL,
            hull: MAX_LEVEL,
            heat: 0.0,
            tool: MAX_LEVEL,
            alert: 0.0,
            credits: 0.0,
            cargo: [0.0; N_COMMODITIES],
            kits: 3,
            stabilisers: 2,
            decoys: 1,
            node: STATION,
            selected: None,
            is_docked: false,
            escape_until: 0,
        }
    }

    pub(super) fn is_at_station(&self) -> bool {
        self.node == STATION
    }

    /// Units on board.
    pub(super) fn cargo_total(&self) -> f64 {
        self.cargo.iter().sum()
    }

    /// Share of the hold that is full.
    pub(super) fn load(&self) -> f64 {
        self.cargo_total() / MAX_CARGO
    }

    pub(super) fn burn(&mut self, fuel: f64, happened: &mut Happened) {
        let used = fuel.min(self.fuel);
        self.fuel -= used;
        happened.fuel_used += used;
    }

    pub(super) fn hurt(&mut self, damage: f64, happened: &mut Happened) {
        let lost = damage.min(self.hull);
        self.hull -= lost;
        happened.hull_lost += lost;
    }

    /// Makes pirates look closer, or away.
    pub(super) fn alarm(&mut self, change: f64) {
        self.alert = (self.alert + change).clamp(0.0, MAX_LEVEL);
    }

    /// Heat may pass its maximum until [`super::rules`] turns the excess into damage.
    pub(super) fn warm(&mut self, change: f64) {
        self.heat = (self.heat + change).max(0.0);
    }
}
