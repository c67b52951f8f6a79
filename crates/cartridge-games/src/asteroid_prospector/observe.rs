//! What the prospector sees: 260 numbers, frozen.

use super::market::BASE;
use super::ship::{MAX_CARGO, MAX_FUEL, MAX_ITEMS, MAX_LEVEL};
use super::world::{MAX_ASTEROIDS, MAX_NODES, N_COMMODITIES, N_SLOTS, NodeKind};
use super::{AsteroidProspector, MAX_TICKS};

pub(super) const N_OBSERVATION: usize = 260;

// Where each group begins.
pub(super) const NEIGHBOURS: usize = 24;
pub(super) const ASTEROIDS: usize = 68;
pub(super) const PRICES: usize = 244;
pub(super) const PRICE_CHANGES: usize = 250;
pub(super) const STOCKS: usize = 256;
/// Numbers per neighbour slot.
pub(super) const NEIGHBOUR_SIZE: usize = 7;
/// Numbers per asteroid slot.
pub(super) const ASTEROID_SIZE: usize = 11;

/// Credits that show as 1.
const MAX_CREDITS: f64 = 1e7;
const TRAVEL_SCALE: f64 = 8.0;
const FUEL_SCALE: f64 = 160.0;
const PRICE_SCALE: f64 = 100.0;
const STOCK_SCALE: f64 = 500.0;
/// Commodities whose stock is shown.
const STOCKED: [usize; 4] = [0, 2, 3, 4];

impl AsteroidProspector {
    pub(super) fn observe(&self, out: &mut [f32]) {
        let Self { ship, world, market, .. } = self;
        let out: &mut [f32; N_OBSERVATION] = out.try_into().expect("the buffer has 260 numbers");
        let node = world.node(ship.node);
        let index_scale = (MAX_NODES - 1) as f64;
        let time_left = f64::from(MAX_TICKS.saturating_sub(self.tick));

        out[0] = (ship.fuel / MAX_FUEL) as f32;
        out[1] = (ship.hull / MAX_LEVEL) as f32;
        out[2] = (ship.heat / MAX_LEVEL) as f32;
        out[3] = (ship.tool / MAX_LEVEL) as f32;
        out[4] = (ship.load() as f32).min(1.0);
        out[5] = (ship.alert / MAX_LEVEL) as f32;
        out[6] = (time_left / f64::from(MAX_TICKS)) as f32;
        // The logarithm of 1 + 1e7, whose value never changes.
        out[7] = ((ship.credits.min(MAX_CREDITS)).ln_1p() / 16.118_095_750_958_318) as f32;
        for (out, units) in out[8..14].iter_mut().zip(ship.cargo) {
            *out = (units / MAX_CARGO) as f32;
        }
        for (out, n) in out[14..17].iter_mut().zip([ship.kits, ship.stabilisers, ship.decoys]) {
            *out = n as f32 / MAX_ITEMS as f32;
        }
        out[17] = flag(ship.is_at_station());
        out[18] = flag(ship.selected.is_some());
        out[19..22].copy_from_slice(&one_hot(node.kind));
        out[22] = (ship.node as f64 / index_scale) as f32;
        out[23] = (node.hops as f64 / index_scale) as f32;

        let exits = world.exits(ship.node);
        for slot in 0..N_SLOTS {
            let from = NEIGHBOURS + slot * NEIGHBOUR_SIZE;
            let out = &mut out[from..from + NEIGHBOUR_SIZE];
            let Some(exit) = exits.get(slot) else {
                out.fill(0.0);
                continue;
            };
            let road = world.road(exit.road);
            out[0] = 1.0;
            out[1..4].copy_from_slice(&one_hot(world.node(exit.to).kind));
            out[4] = (f64::from(road.ticks) / TRAVEL_SCALE) as f32;
            out[5] = (road.fuel / FUEL_SCALE) as f32;
            out[6] = road.estimate as f32;
        }
        out[66..ASTEROIDS].fill(0.0);

        for slot in 0..MAX_ASTEROIDS {
            let from = ASTEROIDS + slot * ASTEROID_SIZE;
            let out = &mut out[from..from + ASTEROID_SIZE];
            let asteroid = &node.asteroids[slot];
            if !asteroid.is_there {
                out.fill(0.0);
                continue;
            }
            out[0] = 1.0;
            for (out, share) in out[1..7].iter_mut().zip(asteroid.composition_estimate) {
                *out = share as f32;
            }
            out[7] = asteroid.stability_estimate as f32;
            out[8] = asteroid.depletion as f32;
            out[9] = asteroid.confidence as f32;
            out[10] = flag(ship.selected == Some(slot));
        }

        for good in 0..N_COMMODITIES {
            let (price, previous) = (market.price[good], market.previous[good]);
            out[PRICES + good] = ((price / (2.0 * BASE[good])) as f32).clamp(0.0, 1.0);
            let change = (price - previous) / PRICE_SCALE;
            out[PRICE_CHANGES + good] = (change as f32).clamp(-1.0, 1.0);
        }
        for (out, good) in out[STOCKS..].iter_mut().zip(STOCKED) {
            *out = ((market.stock[good] / STOCK_SCALE) as f32).min(1.0);
        }
    }
}

fn flag(is_set: bool) -> f32 {
    f32::from(u8::from(is_set))
}

fn one_hot(kind: NodeKind) -> [f32; 3] {
    [NodeKind::Station, NodeKind::Cluster, NodeKind::Hazard].map(|other| flag(kind == other))
}
