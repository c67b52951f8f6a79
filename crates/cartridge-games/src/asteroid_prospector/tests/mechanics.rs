//! What each action does, on numbers worked by hand.

use super::super::market::{BASE, slippage};
use super::super::order::{
    BURN, BUY_DECOY, BUY_FUEL, BUY_STABILISER, COOL, DEEP_SCAN, FOCUSED_SCAN, JETTISON, LISTEN,
    MININGS, OVERHAUL, PATCH_HULL, REPAIR_TOOL, SELL, TRAVEL, WIDE_SCAN,
};
use super::super::rules::{fracture_risk, raid_risk, yield_per_tick};
use super::super::ship::{Ending, Happened};
use super::*;

/// Compares ticks, and the changes of fuel, heat and alert, of an action in a quiet place.
#[track_caller]
fn check(action: usize, ticks: u32, fuel: f64, heat: f64, alert: f64) {
    let mut env = at_work();
    (env.ship.fuel, env.ship.heat, env.ship.alert) = (500.0, 60.0, 50.0);
    (env.ship.hull, env.ship.tool) = (50.0, 50.0);
    env.ship.cargo = [1.0; 6];
    let step = act(&mut env, action);
    assert_eq!(step.ticks, ticks);
    assert_close(env.ship.fuel - 500.0, fuel);
    assert_close(env.ship.heat - 60.0, heat);
    assert_close(env.ship.alert - 50.0, alert);
}

#[test]
fn costs_of_every_action_in_the_belt() {
    // Heat falls by 2.5 per tick whatever is done.
    check(HOLD, 1, 0.0, -5.0, -3.0);
    check(BURN, 1, -18.0, -2.5, 10.0);
    check(WIDE_SCAN, 3, -5.0, -7.5, 4.0);
    check(FOCUSED_SCAN, 2, -4.0, -5.0, 3.0);
    check(DEEP_SCAN, 4, -8.0, -10.0, 6.0);
    check(LISTEN, 2, 0.0, -5.0, 0.0);
    check(SELECT + 1, 1, 0.0, -2.5, 0.0);
    check(MINE, 1, 0.0, -0.5, 1.2);
    check(MINE + 1, 1, 0.0, 1.5, 2.2);
    check(MINE + 2, 1, 0.0, 4.5, 4.0);
    check(order::STABILISE, 2, 0.0, -5.0, 0.0);
    check(order::REFINE, 2, -4.0, 1.0, 3.0);
    check(COOL, 2, -2.0, -25.0, 1.0);
    check(REPAIR_TOOL, 2, 0.0, -5.0, 0.0);
    check(PATCH_HULL, 2, 0.0, -5.0, 0.0);
    check(JETTISON, 1, 0.0, -2.5, -8.0);
}

#[test]
fn a_journey_takes_fuel_by_load_and_forgets_the_selection() {
    let mut env = at_work();
    let exit = env.world.exits(env.ship.node)[0];
    *env.world.road_mut(exit.road) =
        world::Road { ticks: 4, fuel: 80.0, threat: 0.5, estimate: 0.5 };
    env.ship.cargo[0] = 100.0;
    (env.ship.heat, env.ship.decoys) = (50.0, 0);
    let (step, fuel) = (act(&mut env, TRAVEL), env.ship.fuel);
    assert_eq!((step.ticks, env.tick, env.ship.node), (4, 4, exit.to));
    assert_close(fuel, 1000.0 - 80.0 * 1.25);
    assert_eq!(env.ship.selected, None);
    // 4 ticks of a threat of 0.5: +1 heat, -10 by cooling.
    assert_close(env.ship.heat, 41.0);
    // 1.6 alert, and 8 more if pirates came; hull -1.4 (0.85 to 1.15 times), and 1 to 4.
    let is_raided = env.ship.cargo[0] < 100.0;
    assert_close(env.ship.alert, if is_raided { 9.6 } else { 1.6 });
    let lost = 100.0 - env.ship.hull;
    let bounds = if is_raided { 2.19..5.62 } else { 1.19..1.61 };
    assert!(bounds.contains(&lost), "{lost}");
}

#[test]
fn mining_by_hand() {
    let mut ship = Ship::new();
    (ship.tool, ship.heat) = (50.0, 85.0);
    let asteroid = world::Asteroid { richness: 2.0, depletion: 0.5, ..Default::default() };
    // 2 * 0.5 * (0.4 + 0.3) * 0.55 * 1.15; heat is half way from 70 (1) to 100 (0.1).
    assert_close(yield_per_tick(&asteroid, &ship, &MININGS[1]), 0.7 * 0.55 * 1.15);
    ship.heat = 70.0;
    assert_close(yield_per_tick(&asteroid, &ship, &MININGS[0]), 0.7 * 0.8);

    let mut env = at_work();
    let node = env.ship.node;
    let asteroid = &mut env.world.node_mut(node).asteroids[0];
    (asteroid.composition, asteroid.richness) = ([0.5, 0.0, 0.0, 0.5, 0.0, 0.0], 2.0);
    act(&mut env, MINE);
    let cargo = env.ship.cargo;
    let total = env.ship.cargo_total();
    assert_close(cargo[0], cargo[3]);
    assert!((1.2..2.0).contains(&total), "1.6 with a deviation of 5%: {total}");
    assert_close(env.world.node(node).asteroids[0].depletion, 0.01 * total);
    assert_close(env.ship.tool, 99.2);

    // The hold is full.
    env.ship.cargo[0] += 199.9 - env.ship.cargo_total();
    act(&mut env, MINE);
    assert_close(env.ship.cargo_total(), 200.0);
    env.ship.cargo[0] += 1e-9;
    assert!(!env.mask()[MINE], "no room");
}

#[test]
fn fractures_by_hand() {
    let mut ship = Ship::new();
    (ship.tool, ship.heat) = (80.0, 90.0);
    // -3.1 + 0.8 + 2.5 * 0.4 + 2.2 * 0.2 + 1.5 * 0.2 = -0.56
    assert_close(fracture_risk(0.6, &ship, &MININGS[2], false), 1.0 / (1.0 + 0.56_f64.exp()));

    let mut env = at_work();
    let node = env.ship.node;
    env.world.node_mut(node).asteroids[0].stability = -1000.0;
    act(&mut env, MINE);
    assert!(!env.world.node(node).asteroids[0].is_there && env.ship.selected.is_none());
    // The hazard that is left behind hurts already in this tick.
    assert_close(env.world.node(node).hazard, 0.1);
    let lost = 100.0 - env.ship.hull;
    assert!((6.0 + 0.056..12.0 + 0.084).contains(&lost), "{lost}");
}

#[test]
fn pirates_by_hand() {
    // -4 + 0.6 + 1.1 + 0.8 ln 3
    let logit = -2.3 + 0.8 * 3.0_f64.ln();
    assert_close(raid_risk(0.2, 50.0, 2000.0, false), 1.0 / (1.0 + (-logit).exp()));
    assert_close(raid_risk(0.2, 50.0, 2000.0, true), 1.0 / (1.0 + (2.8 - logit).exp()));

    let mut env = at_work();
    let node = env.ship.node;
    env.world.node_mut(node).pirates = ALWAYS;
    env.ship.cargo = [20.0; 6];
    env.ship.decoys = 0;
    let value = env.market.value(&env.ship.cargo);
    let happened = env.obey(Order::Listen);
    let kept = env.ship.cargo[0] / 20.0;
    assert!((0.80..0.92).contains(&kept));
    assert_eq!(env.ship.cargo, [20.0 * kept; 6]);
    assert!((happened.lost_to_pirates - value * (1.0 - kept)).abs() < 1e-6);
    assert!((1.0..4.0).contains(&happened.hull_lost) && happened.is_raided);
    assert_close(env.ship.alert, 8.0);

    // A decoy is used up, and works in 60% of cases: then it leaves 0.3 of the loss.
    let mut n_saved = 0;
    for _ in 0..1000 {
        (env.ship.decoys, env.ship.cargo, env.ship.hull) = (1, [20.0; 6], 100.0);
        env.obey(Order::Hold);
        assert_eq!(env.ship.decoys, 0);
        n_saved += u32::from(env.ship.cargo[0] > 20.0 * 0.93);
    }
    assert!((540..660).contains(&n_saved), "{n_saved}");
}

#[test]
fn hazards_by_hand() {
    let mut env = at_work();
    let node = env.ship.node;
    env.world.node_mut(node).hazard = 0.5;
    env.ship.heat = 50.0;
    let happened = env.obey(Order::Listen);
    // Two ticks: hull 0.7 (0.8 to 1.2 times), heat 0.5 - 5, alert 0.8.
    assert!((0.56..0.84).contains(&happened.hull_lost));
    assert_close(env.ship.heat, 45.5);
    assert_close(env.ship.alert, 0.8);
}

#[test]
fn heat_beyond_the_maximum_hurts() {
    let mut env = at_work();
    env.ship.heat = 99.0;
    let happened = env.obey(Order::Mine(MININGS[2]));
    // 99 + 7 - 2.5 is 3.5 too much.
    assert!(happened.is_overheated);
    assert_close(happened.hull_lost, 3.5 * 1.25);
    assert_close(env.ship.heat, 100.0);
}

#[test]
fn scans_approach_the_truth() {
    let mut env = at_work();
    let node = env.ship.node;
    let before = env.world.node(node).asteroids;
    act(&mut env, WIDE_SCAN);
    let after = env.world.node(node).asteroids;
    for (before, after) in before.iter().zip(&after).filter(|(asteroid, _)| asteroid.is_there) {
        assert_close(after.confidence, 0.2);
        assert_close(after.composition_estimate.iter().sum(), 1.0);
        assert_ne!(before.composition_estimate, after.composition_estimate);
    }
    env.world.node_mut(node).asteroids[0].scan_noise = 0.0;
    act(&mut env, DEEP_SCAN);
    let scanned = &env.world.node(node).asteroids[0];
    assert_close(scanned.confidence, 0.65);
    for good in 0..6 {
        // Without noise four fifths of the error are gone.
        let (old, new) = (after[0].composition_estimate[good], scanned.composition_estimate[good]);
        assert_close(new - scanned.composition[good], 0.2 * (old - scanned.composition[good]));
    }
    assert_eq!(env.world.node(node).asteroids[1], after[1], "a deep scan sees its target only");
}

#[test]
fn listening_approaches_the_threat() {
    let mut env = start(0);
    for _ in 0..4 {
        act(&mut env, LISTEN);
    }
    for exit in env.world.exits(STATION) {
        let road = env.world.road(exit.road);
        assert!((road.estimate - road.threat).abs() < 0.3, "{road:?}");
        assert_ne!(road.estimate, 0.5);
    }
}

#[test]
fn sales_by_hand() {
    // 25 of 100: 0.25 / 4 + 0.2 / 2
    assert_close(slippage(25.0, 75.0), 0.1625);
    assert_close(slippage(25.0, 0.0), 0.45);
    let mut env = start(0);
    act(&mut env, DOCK);
    (env.market.stock[3], env.market.price[3]) = (75.0, 100.0);
    env.ship.cargo[3] = 50.0;
    act(&mut env, SELL + 3 * 3 + 1);
    assert_close(env.ship.credits, 25.0 * 100.0 * (1.0 - 0.1625));
    assert_close(env.ship.cargo[3], 25.0);
    assert_close(env.market.stock[3], 100.0 * 0.998);
    assert_close(env.market.recent[3], 25.0 * (-1.0_f64 / 14.0).exp());
    act(&mut env, SELL + 3 * 3 + 2);
    assert_eq!(env.ship.cargo[3], 0.0);
    assert!(!env.mask[SELL + 3 * 3], "sold out");
}

#[test]
fn prices_by_hand() {
    let mut env = start(0);
    (env.market.stock[0], env.market.recent[0]) = (100.0, 40.0);
    let swing = env.market.trend(0, 0.0) - (45.0 - 4.0 - 2.0);
    assert!(swing.abs() <= 0.3 * 45.0, "{swing}");
    // However much is sold, the price has a floor.
    env.market.stock = [1e6; 6];
    act(&mut env, HOLD);
    assert_eq!(env.market.price, [12.0, 15.0, 20.0, 50.0, 80.0, 30.0]);
}

#[test]
fn purchases_by_hand() {
    let mut env = start(0);
    (env.ship.credits, env.ship.fuel, env.ship.hull, env.ship.tool) = (1000.0, 100.0, 10.0, 20.0);
    env.ship.alert = 50.0;
    act(&mut env, DOCK);
    assert_close(env.ship.alert, 30.0);
    for (size, units, credits) in [(0, 120.0, 60.0), (1, 260.0, 120.0), (2, 480.0, 210.0)] {
        let before = env.ship.clone();
        act(&mut env, BUY_FUEL + size);
        assert_close(env.ship.fuel - before.fuel, units);
        assert_close(before.credits - env.ship.credits, credits);
    }
    assert_eq!(act(&mut env, OVERHAUL).ticks, 3);
    assert_eq!((env.ship.hull, env.ship.tool, env.ship.credits), (100.0, 100.0, 330.0));
    act(&mut env, BUY_STABILISER);
    act(&mut env, BUY_DECOY);
    assert_eq!((env.ship.stabilisers, env.ship.decoys, env.ship.credits), (3, 2, 45.0));
    let mask = env.mask();
    assert!(!mask[BUY_FUEL..=OVERHAUL].contains(&true), "45 credits buy nothing");
    env.ship.credits = 1000.0;
    (env.ship.decoys, env.ship.fuel) = (12, 1000.0);
    let mask = env.mask();
    assert!(!mask[BUY_DECOY] && !mask[BUY_FUEL] && !mask[OVERHAUL], "no room, no need");
}

#[test]
fn kits_mend() {
    let mut env = at_work();
    (env.ship.tool, env.ship.hull) = (50.0, 90.0);
    act(&mut env, REPAIR_TOOL);
    act(&mut env, PATCH_HULL);
    assert_eq!((env.ship.tool, env.ship.hull, env.ship.kits), (75.0, 100.0, 1));
    assert!(!env.mask[PATCH_HULL], "the hull is whole");
    env.ship.kits = 0;
    assert!(!env.mask()[REPAIR_TOOL], "no kits");
}

#[test]
fn an_emergency_burn_shakes_pirates_off_for_four_ticks() {
    let mut env = at_work();
    act(&mut env, BURN);
    assert_eq!((env.tick, env.ship.escape_until), (1, 5));
}

/// Compares how an order ends and what the end costs.
#[track_caller]
fn check_end(
    prepare: impl Fn(&mut AsteroidProspector),
    action: usize,
    ending: Ending,
    reward: f64,
) {
    let mut env = at_work();
    env.ship.cargo[0] = 100.0;
    prepare(&mut env);
    let worth = reward::worth(&env.ship);
    let credits = env.ship.credits;
    let step = act(&mut env, action);
    assert!(step.terminated && !step.truncated);
    let happened = Happened { ticks: 1, ending: Some(ending), ..Happened::default() };
    assert_close(step.reward, reward::ours(worth, &env.ship, &happened));
    assert_close(step.reward, reward + (credits - worth) / 1000.0);
    assert_eq!(env.last_episode().unwrap().survival == 1.0, ending == Ending::CashedOut);
}

#[test]
fn ends_by_hand() {
    // A full ship is worth 717.5, and 100 iron a quarter of 4,500.
    assert_close(reward::worth(&Ship::new()), 717.5);
    check_end(|_| (), CASH_OUT, Ending::CashedOut, 0.7175 - 0.3);
    check_end(|env| env.ship.node = STATION, CASH_OUT, Ending::CashedOut, 0.7175);
    check_end(|env| env.ship.fuel = 5.0, WIDE_SCAN, Ending::Stranded, -1.0);
    let break_up = |env: &mut AsteroidProspector| (env.ship.hull, env.ship.heat) = (1.0, 110.0);
    check_end(break_up, HOLD, Ending::Destroyed, -2.0);
}

#[test]
fn no_fuel_at_the_station_is_no_end() {
    let mut env = start(0);
    env.ship.fuel = 18.0;
    assert!(!act(&mut env, BURN).terminated);
    assert_eq!(env.ship.fuel, 0.0);
}

#[test]
fn time_runs_out() {
    let mut env = at_work();
    env.tick = 19_998;
    let step = act(&mut env, WIDE_SCAN);
    assert_eq!((step.terminated, step.truncated, env.tick), (false, true, 20_001));
    assert_eq!(observed(&env)[6], 0.0);
    assert_eq!(env.last_episode().unwrap().survival, 1.0);
}

#[test]
fn base_prices_are_those_of_the_fact_sheet() {
    assert_eq!(BASE, [45.0, 55.0, 85.0, 145.0, 210.0, 120.0]);
}
