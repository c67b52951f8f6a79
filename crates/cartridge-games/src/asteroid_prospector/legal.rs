//! Which actions may be taken now: those that are possible, whether wise or not.

use super::AsteroidProspector;
use super::order::{
    BURN, BUY_DECOY, BUY_FUEL, BUY_KIT, BUY_STABILISER, CASH_OUT, COOL, DEEP_SCAN, DOCK,
    FOCUSED_SCAN, FUEL_SIZES, HOLD, JETTISON, LISTEN, MINE, N_ACTIONS, OVERHAUL, PATCH_HULL,
    REFINE, REPAIR_TOOL, SELECT, SELL, SHARES, STABILISE, TRAVEL, WIDE_SCAN,
};
use super::rules::{
    BURN_FUEL, COOL_FUEL, DECOY_PRICE, KIT_PRICE, OVERHAUL_PRICE, REFINE_FUEL, STABILISER_PRICE,
};
use super::ship::{MAX_CARGO, MAX_FUEL, MAX_ITEMS, MAX_LEVEL};
use super::world::{DEEP, FOCUSED, WIDE};

/// One element per action.
pub(super) type Mask = [bool; N_ACTIONS];

impl AsteroidProspector {
    pub(super) fn mask(&self) -> Mask {
        let Self { ship, world, .. } = self;
        let mut mask = [false; N_ACTIONS];
        mask[TRAVEL..TRAVEL + world.exits(ship.node).len()].fill(true);
        mask[HOLD] = true;
        mask[BURN] = ship.fuel >= BURN_FUEL;
        mask[LISTEN] = true;
        mask[CASH_OUT] = true;

        // The tools of the trade.
        let mut has_asteroid = false;
        for (slot, asteroid) in world.node(ship.node).asteroids.iter().enumerate() {
            has_asteroid |= asteroid.is_there;
            mask[SELECT + slot] = asteroid.is_there && ship.selected != Some(slot);
        }
        let has_target = ship.selected.is_some();
        mask[WIDE_SCAN] = has_asteroid && ship.fuel >= WIDE.fuel;
        mask[FOCUSED_SCAN] = has_target && ship.fuel >= FOCUSED.fuel;
        mask[DEEP_SCAN] = has_target && ship.fuel >= DEEP.fuel;
        mask[MINE..STABILISE].fill(has_target && ship.cargo_total() < MAX_CARGO);
        mask[STABILISE] = has_asteroid && ship.stabilisers > 0;
        mask[REFINE] = ship.cargo[0] + ship.cargo[1] > 0.0 && ship.fuel >= REFINE_FUEL;
        mask[COOL] = ship.heat > 0.0 && ship.fuel >= COOL_FUEL;
        mask[REPAIR_TOOL] = ship.kits > 0 && ship.tool < MAX_LEVEL;
        mask[PATCH_HULL] = ship.kits > 0 && ship.hull < MAX_LEVEL;
        for (good, units) in ship.cargo.iter().enumerate() {
            mask[JETTISON + good] = *units > 0.0;
        }

        // The station.
        mask[DOCK] = ship.is_at_station() && !ship.is_docked;
        if ship.is_docked {
            let first = |good: usize| SELL + good * SHARES.len();
            for (good, units) in ship.cargo.iter().enumerate() {
                mask[first(good)..first(good + 1)].fill(*units > 0.0);
            }
            for (size, purchase) in FUEL_SIZES.iter().enumerate() {
                mask[BUY_FUEL + size] = ship.fuel < MAX_FUEL && ship.credits >= purchase.credits;
            }
            let can_buy = |price: f64, n: u32| ship.credits >= price && n < MAX_ITEMS;
            mask[BUY_KIT] = can_buy(KIT_PRICE, ship.kits);
            mask[BUY_STABILISER] = can_buy(STABILISER_PRICE, ship.stabilisers);
            mask[BUY_DECOY] = can_buy(DECOY_PRICE, ship.decoys);
            let is_worn = ship.hull < MAX_LEVEL || ship.tool < MAX_LEVEL;
            mask[OVERHAUL] = is_worn && ship.credits >= OVERHAUL_PRICE;
        }
        mask
    }
}
