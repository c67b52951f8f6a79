//! How a miner thinks, and what it does at the station.

use super::super::order::{BUY_DECOY, BUY_FUEL, CASH_OUT, DOCK, HOLD, OVERHAUL, SELL, SHARES};
use super::super::world::N_COMMODITIES;
use super::view::View;

/// How a miner thinks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Habits {
    /// 0 gently, 1 normally, 2 hard.
    pub(super) mining: usize,
    /// Threat listenings before the first journey.
    pub(super) listenings: u32,
    /// Wide scans at a node that is new.
    pub(super) wide_scans: u32,
    /// An asteroid is looked at closely until this confidence.
    pub(super) confidence: f64,
    /// Asteroids that seem less stable are left alone.
    pub(super) min_stability: f64,
    /// Units per tick from which an asteroid is worth staying at.
    pub(super) min_yield: f64,
    /// Goes home when the cargo is worth as much.
    pub(super) max_cargo_value: f64,
    /// Goes home when the hold is as full.
    pub(super) max_load: f64,
    /// Goes home when the alert is as high.
    pub(super) max_alert: f64,
    /// Goes home when the hull is as low.
    pub(super) min_hull: f64,
    /// Lets the ship cool down from here.
    pub(super) max_heat: f64,
    /// Fracture risk beyond which a node is left for good, as fractures seen there.
    pub(super) max_fractures: u32,
    pub(super) trade: Trade,
}

/// What is done at the station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trade {
    /// Index of the share that is sold at once.
    pub(super) share: usize,
    /// Sells only at this share of the base price or more ...
    pub(super) min_price: f64,
    /// ... unless it has waited as many ticks for it.
    pub(super) patience: u32,
    /// Leaves when the alert is as low.
    pub(super) calm: f64,
    /// Overhauls the ship when hull or tool is as low.
    pub(super) overhaul: f64,
    /// Fills the tank to this level before leaving.
    pub(super) fuel: f64,
    /// Keeps as many decoys on board.
    pub(super) decoys: u32,
}

pub(super) static GREEDY_MINER: Habits = Habits {
    mining: 2,
    listenings: 0,
    wide_scans: 0,
    confidence: 0.0,
    min_stability: 0.0,
    min_yield: 0.0,
    max_cargo_value: f64::INFINITY,
    max_load: 0.9,
    max_alert: 101.0,
    min_hull: 40.0,
    max_heat: 101.0,
    max_fractures: 99,
    trade: Trade {
        share: 2,
        min_price: 0.0,
        patience: 0,
        calm: 101.0,
        overhaul: 60.0,
        fuel: 500.0,
        decoys: 0,
    },
};

pub(super) static CAUTIOUS_SCANNER: Habits = Habits {
    mining: 0,
    listenings: 2,
    wide_scans: 1,
    confidence: 0.35,
    min_stability: 0.1,
    min_yield: 0.25,
    max_cargo_value: 1300.0,
    max_load: 0.5,
    max_alert: 45.0,
    min_hull: 55.0,
    max_heat: 60.0,
    max_fractures: 12,
    trade: Trade {
        share: 2,
        min_price: 0.0,
        patience: 0,
        calm: 3.0,
        overhaul: 70.0,
        fuel: 700.0,
        decoys: 0,
    },
};

pub(super) static MARKET_TIMER: Habits = Habits {
    trade: Trade { share: 0, min_price: 1.08, patience: 260, ..CAUTIOUS_SCANNER.trade },
    ..CAUTIOUS_SCANNER
};

/// How the oracle trades.
pub(super) static ORACLE: Trade = MARKET_TIMER.trade;

/// Less than this is not worth a decision.
const CRUMB: f64 = 0.75;

impl Trade {
    /// What to do at the station before the next journey; nothing when all is done. `waited` is
    /// how long the ship has been there.
    pub(super) fn errand(&self, view: View<'_>, waited: u32) -> Option<usize> {
        let has_cargo = view.load() > 0.0;
        if view.can(DOCK) && (has_cargo || view.alert() > self.calm || self.wants(view)) {
            return Some(DOCK);
        }
        // Sell.
        for good in 0..N_COMMODITIES {
            let is_time = view.relative_price(good) >= self.min_price || waited >= self.patience;
            let units = view.cargo(good);
            let share = if units < CRUMB { SHARES.len() - 1 } else { self.share };
            let sale = SELL + good * SHARES.len() + share;
            if view.can(sale) && (is_time || units < CRUMB) {
                return Some(sale);
            }
        }
        // Mend and fill up.
        let is_worn = view.hull() < self.overhaul || view.tool() < self.overhaul;
        if is_worn && view.can(OVERHAUL) {
            return Some(OVERHAUL);
        }
        if view.fuel() < self.fuel {
            let size = view.first([BUY_FUEL + 2, BUY_FUEL + 1, BUY_FUEL]);
            if size.is_some() {
                return size;
            }
        }
        let decoys = (12.0 * view.seen[16]).round() as u32;
        if decoys < self.decoys && view.can(BUY_DECOY) {
            return Some(BUY_DECOY);
        }
        // Wait.
        let is_waiting = has_cargo && waited < self.patience;
        (is_waiting || view.alert() > self.calm).then_some(HOLD)
    }

    /// Whether the station has something that the ship needs and can pay for.
    fn wants(&self, view: View<'_>) -> bool {
        let is_worn = view.hull() < self.overhaul || view.tool() < self.overhaul;
        (is_worn && view.credits() >= 280.0) || (view.fuel() < self.fuel && view.credits() >= 60.0)
    }
}

/// The way out.
pub(super) const RETIRE: usize = CASH_OUT;
