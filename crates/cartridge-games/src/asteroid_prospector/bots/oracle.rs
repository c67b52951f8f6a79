//! A miner that knows the whole belt, and reckons before every decision what to expect.

use super::super::AsteroidProspector;
use super::super::market::BASE;
use super::super::order::{COOL, HOLD, MINE, MININGS, Mining, SELECT, TRAVEL};
use super::super::rules::{fracture_risk, raid_risk, yield_per_tick};
use super::super::ship::Ship;
use super::super::world::{Asteroid, MAX_ASTEROIDS, MAX_NODES, Node, STATION, World};
use super::habits::{ORACLE, RETIRE};
use super::view::View;

/// What the oracle has in mind.
#[derive(Debug, Default)]
pub(super) struct Oracle {
    /// The belt with every asteroid charted, as it was when the ship last left the station.
    belt: Option<World>,
    /// Where it works; the station when it is on the way home.
    target: usize,
    waited: u32,
}

/// Where a journey leads and what it costs.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// The node before.
    from: usize,
    /// The slot there.
    slot: usize,
    /// Of an empty ship.
    fuel: f64,
    /// Credits: fuel, damage, and the cargo that pirates take on average.
    cost: f64,
    /// Share of the cargo that comes through.
    kept: f64,
}

/// What mining on may bring.
#[derive(Clone, Copy, Debug)]
struct Forecast {
    /// Credits in the end, after all costs.
    net: f64,
    /// Ticks of mining until then.
    ticks: u32,
    mining: usize,
}

/// Share of the base price that a cargo brings after slippage.
const PROCEEDS: f64 = 0.85;
/// Credits per point of hull: an overhaul of a ship that is half worn.
const HULL_COST: f64 = 280.0 / 60.0;
const FUEL_COST: f64 = 210.0 / 480.0;
/// Share of a cargo that a raid takes on average, decoys aside.
const RAID_SHARE: f64 = 0.14;
const RAID_HULL: f64 = 2.5;
const FRACTURE_HULL: f64 = 9.0;
/// Cargo that a journey home is reckoned with, in credits.
const TYPICAL_CARGO: f64 = 2500.0;
const LONGEST_SHIFT: u32 = 80;
/// Credits below which a journey is not worth its risk.
const LEAST_NET: f64 = 150.0;
const LEAST_HULL: f64 = 30.0;
const LAST_TICKS: f64 = 400.0;
const MAX_HEAT: f64 = 65.0;

impl Oracle {
    pub(super) fn choose(&mut self, view: View<'_>, env: &AsteroidProspector) -> usize {
        if !view.is_at_station() {
            return self.at_node(view, env);
        }
        self.waited += 1;
        if let Some(errand) = ORACLE.errand(view, self.waited) {
            return errand;
        }
        self.waited = 0;
        match self.destination(env).filter(|_| view.ticks_left() > LAST_TICKS) {
            Some(target) => {
                self.target = target;
                self.towards(target, env)
            }
            None => RETIRE,
        }
    }

    fn at_node(&mut self, view: View<'_>, env: &AsteroidProspector) -> usize {
        let Ship { node: here, selected, hull, .. } = env.ship;
        if here != self.target {
            return self.towards(self.target, env);
        }
        let node = env.world.node(here);
        let home = ways(&env.world, STATION)[here];
        let forecast = reckon(node, &env.ship, home);
        if forecast.ticks == 0 || hull < LEAST_HULL {
            self.target = STATION;
            return self.towards(STATION, env);
        }
        if view.heat() > MAX_HEAT {
            return view.first([COOL]).unwrap_or(HOLD);
        }
        let order = by_merit(node, &env.ship, &MININGS[forecast.mining]);
        match order.first() {
            Some(&best) if selected == Some(best) => MINE + forecast.mining,
            Some(&best) => SELECT + best,
            None => unreachable!("there is something to mine, or nothing would be expected"),
        }
    }

    /// The node from which most is to be expected; nothing when none is worth it.
    fn destination(&mut self, env: &AsteroidProspector) -> Option<usize> {
        let belt = self.belt.insert(env.world.clone());
        (0..belt.n_nodes()).for_each(|node| belt.chart(node));
        let ways = ways(belt, STATION);
        let net = |node: usize| {
            let way = ways[node];
            // There and back, with cargo and something to spare.
            let is_near = 2.5 * way.fuel + 60.0 < env.ship.fuel;
            let there = Ship { node, alert: 5.0, ..env.ship.clone() };
            let forecast = reckon(belt.node(node), &there, way);
            if is_near { forecast.net - way.cost } else { f64::NEG_INFINITY }
        };
        let nets = (1..belt.n_nodes()).map(|node| (net(node), node));
        let best = nets.max_by(|(a, _), (b, _)| a.total_cmp(b));
        best.filter(|(net, _)| *net > LEAST_NET).map(|(_, node)| node)
    }

    /// The first step on the way to `target`.
    fn towards(&self, target: usize, env: &AsteroidProspector) -> usize {
        let ways = ways(&env.world, env.ship.node);
        let mut at = target;
        while ways[at].from != env.ship.node {
            at = ways[at].from;
        }
        TRAVEL + ways[at].slot
    }
}

/// The cheapest way from `start` to every node (Dijkstra).
fn ways(world: &World, start: usize) -> [Way; MAX_NODES] {
    let unknown = Way { from: start, slot: 0, fuel: f64::INFINITY, cost: f64::INFINITY, kept: 0.0 };
    let mut ways = [unknown; MAX_NODES];
    ways[start] = Way { from: start, slot: 0, fuel: 0.0, cost: 0.0, kept: 1.0 };
    let mut is_done = [false; MAX_NODES];
    for _ in 0..world.n_nodes() {
        let open = (0..world.n_nodes()).filter(|&node| !is_done[node]);
        let nearest = open.min_by(|&a, &b| ways[a].cost.total_cmp(&ways[b].cost));
        let from = nearest.expect("one node is done per round");
        is_done[from] = true;
        for (slot, exit) in world.exits(from).iter().enumerate() {
            let road = world.road(exit.road);
            let ticks = f64::from(road.ticks);
            let raid = raid_risk(road.threat, 30.0, TYPICAL_CARGO / 2.0, false);
            let raid = 1.0 - (1.0 - raid).powi(road.ticks as i32);
            let damage = ticks * road.threat * 0.7 + raid * RAID_HULL;
            let cost = ways[from].cost
                + FUEL_COST * road.fuel
                + HULL_COST * damage
                + raid * RAID_SHARE * TYPICAL_CARGO / 2.0;
            if cost < ways[exit.to].cost {
                let kept = ways[from].kept * (1.0 - raid * RAID_SHARE);
                let fuel = ways[from].fuel + road.fuel;
                ways[exit.to] = Way { from, slot, fuel, cost, kept };
            }
        }
    }
    ways
}

/// What mining at `node` may bring for a ship that is there, in the best of the three ways.
fn reckon(node: &Node, ship: &Ship, home: Way) -> Forecast {
    let forecasts = (0..MININGS.len()).map(|mining| forecast(node, ship, home, mining));
    let best = forecasts.max_by(|a, b| a.net.total_cmp(&b.net));
    best.expect("there are three ways to mine")
}

/// Plays the shift on with mean values, and finds the best moment to leave.
fn forecast(node: &Node, ship: &Ship, home: Way, mining: usize) -> Forecast {
    let how = &MININGS[mining];
    let order = by_merit(node, ship, how);
    let mut order = order.iter().map(|&slot| &node.asteroids[slot]);
    let mut asteroid = order.next();
    let (mut alert, mut value, mut damage, mut hazard) =
        (ship.alert, cargo_value(ship), 0.0, node.hazard);
    let (mut age, mut mined) = (0.0, 0.0);
    let leave = |value: f64, damage: f64| {
        PROCEEDS * value * home.kept - HULL_COST * damage - FUEL_COST * home.fuel
    };
    let mut best = Forecast { net: leave(value, 0.0), ticks: 0, mining };
    for ticks in 1..=LONGEST_SHIFT {
        let Some(current) = asteroid else { break };
        let rate = yield_per_tick(current, ship, how) * (1.0 - 0.01 * mined);
        let fracture = fracture_risk(current.stability, ship, how, false);
        value += rate * unit_value(current);
        mined += rate;
        age += fracture;
        damage += fracture * FRACTURE_HULL;
        // On average an asteroid has broken when its risks add up to one.
        if age >= 1.0 || mined > 70.0 {
            hazard += 0.1;
            (age, mined) = (0.0, 0.0);
            asteroid = order.next();
        }
        let raid = raid_risk(node.pirates, alert, value, false);
        value *= 1.0 - RAID_SHARE * raid;
        alert = (alert + how.alert + 0.8 * hazard + 8.0 * raid).min(100.0);
        damage += 0.7 * hazard + RAID_HULL * raid;
        if ship.hull - damage < LEAST_HULL {
            break;
        }
        let net = leave(value, damage);
        if net > best.net {
            best = Forecast { net, ticks, mining };
        }
    }
    best
}

/// The asteroids by what they bring before they break, the best first.
fn by_merit(node: &Node, ship: &Ship, mining: &Mining) -> Vec<usize> {
    let merit = |slot: usize| {
        let asteroid = &node.asteroids[slot];
        let rate = unit_value(asteroid) * yield_per_tick(asteroid, ship, mining);
        // Staying with the one that is selected saves a tick.
        let bonus = if ship.selected == Some(slot) { 1.1 } else { 1.0 };
        bonus * rate / (0.05 + fracture_risk(asteroid.stability, ship, mining, false))
    };
    let mut slots: Vec<usize> =
        (0..MAX_ASTEROIDS).filter(|&slot| node.asteroids[slot].is_there).collect();
    slots.sort_by(|&a, &b| merit(b).total_cmp(&merit(a)));
    slots
}

/// Credits per unit at base prices.
fn unit_value(asteroid: &Asteroid) -> f64 {
    asteroid.composition.iter().zip(BASE).map(|(share, base)| share * base).sum()
}

fn cargo_value(ship: &Ship) -> f64 {
    ship.cargo.iter().zip(BASE).map(|(units, base)| units * base).sum()
}
