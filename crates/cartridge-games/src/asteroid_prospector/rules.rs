//! What an order does to ship, world and market.

use super::AsteroidProspector;
use super::chance::Chance;
use super::order::{Mining, Order};
use super::ship::{Ending, Happened, MAX_CARGO, MAX_FUEL, MAX_LEVEL, Ship};
use super::world::{Asteroid, DEEP, FOCUSED, MAX_NODES, Scan, WIDE};

pub(super) const BURN_FUEL: f64 = 18.0;
pub(super) const REFINE_FUEL: f64 = 4.0;
pub(super) const COOL_FUEL: f64 = 2.0;
/// Credits.
pub(super) const KIT_PRICE: f64 = 150.0;
/// Credits.
pub(super) const STABILISER_PRICE: f64 = 175.0;
/// Credits.
pub(super) const DECOY_PRICE: f64 = 110.0;
/// Credits.
pub(super) const OVERHAUL_PRICE: f64 = 280.0;

/// Fuel that a full hold adds to a journey, as a share.
const LOAD_FUEL: f64 = 0.5;
const ESCAPE_TICKS: u32 = 4;
const STABILISED_TICKS: u32 = 6;
/// Share of iron and nickel that is refined at once.
const REFINED: f64 = 0.15;
/// Rare isotopes per unit of iron or nickel: worth 31.5 at base prices, for 45 or 55. What is
/// gained is room in the hold and a market that is less crowded.
const REFINE_YIELD: f64 = 0.15;
const RARE_ISOTOPES: usize = 4;
/// Per tick.
const COOLING: f64 = 2.5;
/// Hull per unit of heat beyond the maximum.
const OVERHEAT_DAMAGE: f64 = 1.25;
/// Hull, heat and alert per tick, for a hazard or threat of 1.
const EXPOSURE: (f64, f64, f64) = (0.7, 0.5, 0.8);
/// Share of every cargo that a raid takes.
const RAID: (f64, f64) = (0.08, 0.20);
const RAID_DAMAGE: (f64, f64) = (1.0, 4.0);
const RAID_ALERT: f64 = 8.0;
/// How often a decoy works, and what it leaves of the loss.
const DECOY: (f64, f64) = (0.6, 0.3);
const FRACTURE_DAMAGE: (f64, f64) = (6.0, 12.0);
const FRACTURE_HAZARD: f64 = 0.1;
/// Depletion per unit taken.
const DEPLETION: f64 = 0.01;

const _: () = assert!(MAX_NODES <= 32, "the observation shows node indices up to 31");

impl AsteroidProspector {
    /// Carries the order out, lets its time pass, and says what happened.
    pub(super) fn obey(&mut self, order: Order) -> Happened {
        let mut happened = Happened { ticks: 1, ..Happened::default() };
        if order == Order::CashOut {
            self.tick += 1;
            happened.ending = Some(Ending::CashedOut);
            return happened;
        }
        self.act(order, &mut happened);
        if let Order::Travel(_) = order {
            // The road had its say while the ship was on it.
        } else if !self.ship.is_at_station() {
            let node = self.world.node(self.ship.node);
            let (hazard, pirates) = (node.hazard, node.pirates);
            self.endure(hazard, (0.8, 1.2), &mut happened);
            self.meet_pirates(pirates, &mut happened);
        }
        let ship = &mut self.ship;
        ship.warm(-COOLING * f64::from(happened.ticks));
        if ship.heat > MAX_LEVEL {
            happened.is_overheated = true;
            ship.hurt(OVERHEAT_DAMAGE * (ship.heat - MAX_LEVEL), &mut happened);
            ship.heat = MAX_LEVEL;
        }
        self.tick += happened.ticks;
        self.market.advance(happened.ticks, self.tick, &mut self.chance);
        if self.ship.hull <= 0.0 {
            happened.ending = Some(Ending::Destroyed);
        } else if self.ship.fuel <= 0.0 && !self.ship.is_at_station() {
            happened.ending = Some(Ending::Stranded);
        }
        happened
    }

    /// What the order does by itself.
    fn act(&mut self, order: Order, happened: &mut Happened) {
        let Self { ship, world, market, chance, .. } = self;
        match order {
            Order::Travel(slot) => self.travel(slot, happened),
            Order::Hold => {
                ship.warm(-COOLING);
                ship.alarm(-3.0);
            }
            Order::Burn => {
                ship.burn(BURN_FUEL, happened);
                ship.alarm(10.0);
                ship.escape_until = self.tick + 1 + ESCAPE_TICKS;
            }
            Order::WideScan => {
                scan(ship, &WIDE, happened);
                let asteroids = &mut world.node_mut(ship.node).asteroids;
                for asteroid in asteroids.iter_mut().filter(|asteroid| asteroid.is_there) {
                    asteroid.scan(&WIDE, chance);
                }
            }
            Order::FocusedScan | Order::DeepScan => {
                let kind = if order == Order::DeepScan { &DEEP } else { &FOCUSED };
                scan(ship, kind, happened);
                let slot = ship.selected.expect("masked without a target");
                world.node_mut(ship.node).asteroids[slot].scan(kind, chance);
            }
            Order::Listen => {
                happened.ticks = 2;
                world.listen(ship.node, chance);
            }
            Order::Select(slot) => ship.selected = Some(slot),
            Order::Mine(mining) => self.mine(&mining, happened),
            Order::Stabilise => {
                happened.ticks = 2;
                ship.stabilisers -= 1;
                world.node_mut(ship.node).stabilised_until = self.tick + 2 + STABILISED_TICKS;
            }
            Order::Refine => {
                happened.ticks = 2;
                ship.burn(REFINE_FUEL, happened);
                ship.warm(6.0);
                ship.alarm(3.0);
                let mut refined = 0.0;
                for units in &mut ship.cargo[..2] {
                    let part = REFINED * *units;
                    *units -= part;
                    refined += part;
                }
                ship.cargo[RARE_ISOTOPES] += REFINE_YIELD * refined;
            }
            Order::Cool => {
                happened.ticks = 2;
                ship.burn(COOL_FUEL, happened);
                ship.warm(-20.0);
                ship.alarm(1.0);
            }
            Order::RepairTool => {
                happened.ticks = 2;
                ship.kits -= 1;
                ship.tool = (ship.tool + 25.0).min(MAX_LEVEL);
            }
            Order::PatchHull => {
                happened.ticks = 2;
                ship.kits -= 1;
                ship.hull = (ship.hull + 20.0).min(MAX_LEVEL);
            }
            Order::Jettison(good) => {
                ship.cargo[good] = 0.0;
                ship.alarm(-8.0);
            }
            Order::Dock => {
                ship.is_docked = true;
                ship.alarm(-20.0);
            }
            Order::Sell(good, share) => {
                let quantity = share * ship.cargo[good];
                ship.cargo[good] -= quantity;
                ship.credits += market.sell(good, quantity);
            }
            Order::BuyFuel(purchase) => {
                ship.credits -= purchase.credits;
                ship.fuel = (ship.fuel + purchase.units).min(MAX_FUEL);
            }
            Order::BuyKit => {
                ship.credits -= KIT_PRICE;
                ship.kits += 1;
            }
            Order::BuyStabiliser => {
                ship.credits -= STABILISER_PRICE;
                ship.stabilisers += 1;
            }
            Order::BuyDecoy => {
                ship.credits -= DECOY_PRICE;
                ship.decoys += 1;
            }
            Order::Overhaul => {
                happened.ticks = 3;
                ship.credits -= OVERHAUL_PRICE;
                (ship.hull, ship.tool) = (MAX_LEVEL, MAX_LEVEL);
            }
            Order::CashOut => unreachable!("ends the episode before it acts"),
        }
    }

    fn travel(&mut self, slot: usize, happened: &mut Happened) {
        let exit = self.world.exits(self.ship.node)[slot];
        let road = *self.world.road(exit.road);
        happened.ticks = road.ticks;
        let load = self.ship.load();
        self.ship.burn(road.fuel * (1.0 + LOAD_FUEL * load), happened);
        self.ship.selected = None;
        self.ship.is_docked = false;
        self.endure(road.threat, (0.85, 1.15), happened);
        self.meet_pirates(road.threat, happened);
        self.ship.node = exit.to;
        self.world.chart(exit.to);
    }

    fn mine(&mut self, mining: &Mining, happened: &mut Happened) {
        let Self { ship, world, chance, .. } = self;
        happened.is_mining = true;
        let node = world.node_mut(ship.node);
        let slot = ship.selected.expect("masked without a target");
        let is_stabilised = self.tick < node.stabilised_until;
        let asteroid = &mut node.asteroids[slot];

        // Dig.
        let noise = (1.0 + mining.noise * chance.normal()).max(0.0);
        let room = MAX_CARGO - ship.cargo_total();
        let units = (yield_per_tick(asteroid, ship, mining) * noise).min(room);
        for (cargo, share) in ship.cargo.iter_mut().zip(asteroid.composition) {
            *cargo += units * share;
        }
        asteroid.depletion = (asteroid.depletion + DEPLETION * units).min(1.0);

        // Break.
        let risk = fracture_risk(asteroid.stability, ship, mining, is_stabilised);
        if chance.is_true(risk) {
            *asteroid = Asteroid::default();
            node.hazard = (node.hazard + FRACTURE_HAZARD).min(1.0);
            ship.selected = None;
            ship.hurt(chance.between(FRACTURE_DAMAGE.0, FRACTURE_DAMAGE.1), happened);
        }

        // Wear.
        ship.warm(mining.heat);
        ship.alarm(mining.alert);
        let wear = mining.tool_wear.min(ship.tool);
        ship.tool -= wear;
        happened.tool_wear += wear;
    }

    /// What a place with this hazard does to the ship; chance lies between the `bounds`.
    fn endure(&mut self, hazard: f64, bounds: (f64, f64), happened: &mut Happened) {
        let (hull, heat, alert) = EXPOSURE;
        let exposure = f64::from(happened.ticks) * hazard;
        self.ship.hurt(exposure * hull * self.chance.between(bounds.0, bounds.1), happened);
        self.ship.warm(exposure * heat);
        self.ship.alarm(exposure * alert);
    }

    fn meet_pirates(&mut self, intensity: f64, happened: &mut Happened) {
        let Self { ship, market, chance, .. } = self;
        let value = market.value(&ship.cargo);
        let is_escaping = self.tick < ship.escape_until;
        let risk = raid_risk(intensity, ship.alert, value, is_escaping);
        if chance.is_true(1.0 - (1.0 - risk).powi(happened.ticks as i32)) {
            happened.is_raided = true;
            raid(ship, chance, happened);
            happened.lost_to_pirates += value - market.value(&ship.cargo);
        }
    }
}

fn scan(ship: &mut Ship, scan: &Scan, happened: &mut Happened) {
    happened.ticks = scan.ticks;
    happened.is_scan = true;
    ship.burn(scan.fuel, happened);
    ship.alarm(scan.alert);
}

fn raid(ship: &mut Ship, chance: &mut Chance, happened: &mut Happened) {
    let mut share = chance.between(RAID.0, RAID.1);
    if ship.decoys > 0 {
        ship.decoys -= 1;
        if chance.is_true(DECOY.0) {
            share *= DECOY.1;
        }
    }
    ship.cargo.iter_mut().for_each(|units| *units *= 1.0 - share);
    ship.hurt(chance.between(RAID_DAMAGE.0, RAID_DAMAGE.1), happened);
    ship.alarm(RAID_ALERT);
}

/// Units that a tick of mining brings on average, whatever the room for them.
pub(super) fn yield_per_tick(asteroid: &Asteroid, ship: &Ship, mining: &Mining) -> f64 {
    let tool = 0.4 + 0.6 * ship.tool / MAX_LEVEL;
    asteroid.richness * (1.0 - asteroid.depletion) * tool * heat_factor(ship.heat) * mining.rate
}

/// What heat leaves of the yield: all of it up to 70, a tenth at 100.
fn heat_factor(heat: f64) -> f64 {
    1.0 - 0.9 * ((heat / MAX_LEVEL - 0.7) / 0.3).clamp(0.0, 1.0)
}

/// Probability that a tick of mining breaks the asteroid.
pub(super) fn fracture_risk(
    stability: f64,
    ship: &Ship,
    mining: &Mining,
    is_stabilised: bool,
) -> f64 {
    let heat = (ship.heat / MAX_LEVEL - 0.7).max(0.0);
    let tool = 1.0 - ship.tool / MAX_LEVEL;
    let buff = if is_stabilised { 1.1 } else { 0.0 };
    sigmoid(-3.1 + mining.fracture + 2.5 * (1.0 - stability) + 2.2 * heat + 1.5 * tool - buff)
}

/// Probability that pirates come within a tick.
pub(super) fn raid_risk(intensity: f64, alert: f64, cargo_value: f64, is_escaping: bool) -> f64 {
    let greed = 0.8 * (cargo_value / 1000.0).ln_1p();
    let escape = if is_escaping { 2.8 } else { 0.0 };
    sigmoid(-4.0 + 3.0 * intensity + 2.2 * alert / MAX_LEVEL + greed - escape)
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
