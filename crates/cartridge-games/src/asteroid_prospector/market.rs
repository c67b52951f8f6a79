//! The station's market: six prices that swing, wander, and fall when one sells.

use std::f64::consts::TAU;

use super::chance::Chance;
use super::world::N_COMMODITIES;

/// Prices around which the market swings, in credits per unit.
pub(super) const BASE: [f64; N_COMMODITIES] = [45.0, 55.0, 85.0, 145.0, 210.0, 120.0];
const MIN: [f64; N_COMMODITIES] = [12.0, 15.0, 20.0, 50.0, 80.0, 30.0];
const MAX: [f64; N_COMMODITIES] = [180.0, 200.0, 240.0, 320.0, 420.0, 300.0];

/// Share of the base price by which it swings.
const AMPLITUDE: (f64, f64) = (0.10, 0.30);
/// Ticks of a whole swing.
const PERIOD: (f64, f64) = (180.0, 380.0);
/// Units in stock at the start.
const FIRST_STOCK: (f64, f64) = (40.0, 160.0);
/// Credits by which a unit in stock lowers the price.
const STOCK_PUSH: f64 = 0.04;
/// Credits by which a unit sold lately lowers the price.
const RECENT_PUSH: f64 = 0.05;
/// Deviation of the noise per square root of a tick, as a share of the base price.
const NOISE: f64 = 0.03;
/// Ticks in which recent sales fall to 1/e.
const RECENT_TICKS: f64 = 14.0;
/// What is left of the stock after a step, however many ticks it takes.
const STOCK_KEPT: f64 = 0.998;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Market {
    pub(super) price: [f64; N_COMMODITIES],
    /// Prices one step ago.
    pub(super) previous: [f64; N_COMMODITIES],
    pub(super) stock: [f64; N_COMMODITIES],
    /// Units sold lately.
    pub(super) recent: [f64; N_COMMODITIES],
    amplitude: [f64; N_COMMODITIES],
    /// Radians per tick.
    frequency: [f64; N_COMMODITIES],
    phase: [f64; N_COMMODITIES],
}

impl Market {
    pub(super) fn new(chance: &mut Chance) -> Self {
        let mut market = Self::default();
        for (good, base) in BASE.into_iter().enumerate() {
            market.amplitude[good] = base * chance.between(AMPLITUDE.0, AMPLITUDE.1);
            market.frequency[good] = TAU / chance.between(PERIOD.0, PERIOD.1);
            market.phase[good] = chance.between(0.0, TAU);
            market.stock[good] = chance.between(FIRST_STOCK.0, FIRST_STOCK.1);
            market.price[good] = clip(good, market.trend(good, 0.0));
        }
        market.previous = market.price;
        market
    }

    /// Lets `ticks` go by, until `now`.
    pub(super) fn advance(&mut self, ticks: u32, now: u32, chance: &mut Chance) {
        self.previous = self.price;
        let kept = (-f64::from(ticks) / RECENT_TICKS).exp();
        let noise = NOISE * f64::from(ticks).sqrt();
        for (good, base) in BASE.into_iter().enumerate() {
            self.stock[good] *= STOCK_KEPT;
            self.recent[good] *= kept;
            let price = self.trend(good, f64::from(now)) + noise * base * chance.normal();
            self.price[good] = clip(good, price);
        }
    }

    /// The price without noise.
    pub(super) fn trend(&self, good: usize, now: f64) -> f64 {
        let swing = self.amplitude[good] * (self.frequency[good] * now + self.phase[good]).sin();
        BASE[good] + swing - STOCK_PUSH * self.stock[good] - RECENT_PUSH * self.recent[good]
    }

    /// Takes `quantity` units in and returns what is paid for them.
    pub(super) fn sell(&mut self, good: usize, quantity: f64) -> f64 {
        let paid = quantity * self.price[good] * (1.0 - slippage(quantity, self.stock[good]));
        self.stock[good] += quantity;
        self.recent[good] += quantity;
        paid
    }

    /// What a cargo would bring at the present prices without slippage.
    pub(super) fn value(&self, cargo: &[f64; N_COMMODITIES]) -> f64 {
        cargo.iter().zip(&self.price).map(|(units, price)| units * price).sum()
    }
}

/// The share of the price that is lost by selling `quantity` units at once.
pub(super) fn slippage(quantity: f64, stock: f64) -> f64 {
    let share = quantity / (stock + quantity);
    (0.25 * share + 0.2 * share.sqrt()).clamp(0.0, 0.7)
}

fn clip(good: usize, price: f64) -> f64 {
    price.clamp(MIN[good], MAX[good])
}
