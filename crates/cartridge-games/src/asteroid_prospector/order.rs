//! What the 69 actions mean.

use crate::game::Action;

pub(super) const N_ACTIONS: usize = 69;

/// An action that has been understood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Order {
    /// To the neighbour in this slot.
    Travel(usize),
    Hold,
    /// Emergency burn.
    Burn,
    WideScan,
    FocusedScan,
    DeepScan,
    /// Threat listening.
    Listen,
    /// The asteroid in this slot.
    Select(usize),
    Mine(Mining),
    Stabilise,
    Refine,
    Cool,
    RepairTool,
    PatchHull,
    /// All of this commodity.
    Jettison(usize),
    Dock,
    /// This share of this commodity.
    Sell(usize, f64),
    BuyFuel(Purchase),
    BuyKit,
    BuyStabiliser,
    BuyDecoy,
    Overhaul,
    CashOut,
}

/// How hard an asteroid is mined for a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mining {
    pub(super) heat: f64,
    pub(super) alert: f64,
    pub(super) tool_wear: f64,
    /// Factor of the yield.
    pub(super) rate: f64,
    /// Deviation of the yield.
    pub(super) noise: f64,
    /// Added to the logit of a fracture.
    pub(super) fracture: f64,
}

/// Units for credits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Purchase {
    pub(super) units: f64,
    pub(super) credits: f64,
}

pub(super) const MININGS: [Mining; 3] = [
    Mining { heat: 2.0, alert: 1.2, tool_wear: 0.8, rate: 0.80, noise: 0.05, fracture: -0.7 },
    Mining { heat: 4.0, alert: 2.2, tool_wear: 1.6, rate: 1.15, noise: 0.10, fracture: 0.0 },
    Mining { heat: 7.0, alert: 4.0, tool_wear: 2.8, rate: 1.55, noise: 0.16, fracture: 0.8 },
];
pub(super) const FUEL_SIZES: [Purchase; 3] = [
    Purchase { units: 120.0, credits: 60.0 },
    Purchase { units: 260.0, credits: 120.0 },
    Purchase { units: 480.0, credits: 210.0 },
];
pub(super) const SHARES: [f64; 3] = [0.25, 0.5, 1.0];

// The first action of each group, for whoever has to name one.
pub(super) const TRAVEL: usize = 0;
pub(super) const HOLD: usize = 6;
pub(super) const BURN: usize = 7;
pub(super) const WIDE_SCAN: usize = 8;
pub(super) const FOCUSED_SCAN: usize = 9;
pub(super) const DEEP_SCAN: usize = 10;
pub(super) const LISTEN: usize = 11;
pub(super) const SELECT: usize = 12;
pub(super) const MINE: usize = 28;
pub(super) const STABILISE: usize = 31;
pub(super) const REFINE: usize = 32;
pub(super) const COOL: usize = 33;
pub(super) const REPAIR_TOOL: usize = 34;
pub(super) const PATCH_HULL: usize = 35;
pub(super) const JETTISON: usize = 36;
pub(super) const DOCK: usize = 42;
pub(super) const SELL: usize = 43;
pub(super) const BUY_FUEL: usize = 61;
pub(super) const BUY_KIT: usize = 64;
pub(super) const BUY_STABILISER: usize = 65;
pub(super) const BUY_DECOY: usize = 66;
pub(super) const OVERHAUL: usize = 67;
pub(super) const CASH_OUT: usize = 68;

impl Order {
    /// # Panics
    ///
    /// If there is no such action.
    pub(super) fn new(Action(action): Action) -> Self {
        match action {
            TRAVEL..HOLD => Self::Travel(action),
            HOLD => Self::Hold,
            BURN => Self::Burn,
            WIDE_SCAN => Self::WideScan,
            FOCUSED_SCAN => Self::FocusedScan,
            DEEP_SCAN => Self::DeepScan,
            LISTEN => Self::Listen,
            SELECT..MINE => Self::Select(action - SELECT),
            MINE..STABILISE => Self::Mine(MININGS[action - MINE]),
            STABILISE => Self::Stabilise,
            REFINE => Self::Refine,
            COOL => Self::Cool,
            REPAIR_TOOL => Self::RepairTool,
            PATCH_HULL => Self::PatchHull,
            JETTISON..DOCK => Self::Jettison(action - JETTISON),
            DOCK => Self::Dock,
            SELL..BUY_FUEL => {
                let index = action - SELL;
                Self::Sell(index / SHARES.len(), SHARES[index % SHARES.len()])
            }
            BUY_FUEL..BUY_KIT => Self::BuyFuel(FUEL_SIZES[action - BUY_FUEL]),
            BUY_KIT => Self::BuyKit,
            BUY_STABILISER => Self::BuyStabiliser,
            BUY_DECOY => Self::BuyDecoy,
            OVERHAUL => Self::Overhaul,
            CASH_OUT => Self::CashOut,
            other => panic!("action {other} is not below {N_ACTIONS}"),
        }
    }
}
