mod faults;
mod mechanics;

use proptest::prelude::*;
use serde_json::json;

use super::order::{DOCK, HOLD, MINE, SELECT};
use super::world::NodeKind;
use super::*;
use crate::conformance;

fn make() -> Box<dyn Env> {
    Box::new(AsteroidProspector::new(Config::default()))
}

/// An episode at its start.
fn start(seed: u64) -> AsteroidProspector {
    let mut env = AsteroidProspector::new(Config::default());
    env.reset(Some(seed), &mut [0.0; N_OBSERVATION]);
    env
}

/// A ship at a node without hazard or pirates, with an asteroid that never breaks selected.
fn at_work() -> AsteroidProspector {
    let mut env = start(0);
    let exit = env.world.exits(STATION)[0];
    env.ship.node = exit.to;
    env.world.chart(exit.to);
    let node = env.world.node_mut(exit.to);
    node.kind = NodeKind::Cluster;
    node.hazard = 0.0;
    node.pirates = NEVER;
    node.asteroids[0].stability = 1000.0;
    env.ship.selected = Some(0);
    env.mask = env.mask();
    env
}

/// Intensities with which pirates never come, and always.
const NEVER: f64 = -1000.0;
const ALWAYS: f64 = 1000.0;

/// Takes one action that must be legal.
#[track_caller]
fn act(env: &mut AsteroidProspector, action: usize) -> Step {
    env.mask = env.mask();
    let step = env.step(Action(action).into(), &mut [0.0; N_OBSERVATION]);
    assert!(!step.is_invalid, "{} is not legal", names::ACTIONS[action]);
    step
}

fn observed(env: &AsteroidProspector) -> [f32; N_OBSERVATION] {
    let mut seen = [f32::NAN; N_OBSERVATION];
    env.observe(&mut seen);
    seen
}

#[track_caller]
fn assert_close(x: f64, expected: f64) {
    assert!((x - expected).abs() < 1e-9, "{x} is not {expected}");
}

#[test]
fn the_layout_is_frozen() {
    let action = |index: usize| names::ACTIONS[index];
    assert_eq!(
        [0, 5, 6, 7, 8, 11, 12, 27, 28, 30, 31, 36, 41, 42, 43, 60, 61, 64, 67, 68].map(action),
        [
            "travel to neighbour 1",
            "travel to neighbour 6",
            "hold",
            "emergency burn",
            "wide scan",
            "threat listen",
            "select asteroid 1",
            "select asteroid 16",
            "mine gently",
            "mine hard",
            "stabilise",
            "jettison iron",
            "jettison volatiles",
            "dock",
            "sell iron, 25%",
            "sell volatiles, 100%",
            "buy 120 fuel",
            "buy kit",
            "overhaul",
            "cash out",
        ]
    );
    let seen = |index: usize| names::OBSERVATION[index];
    assert_eq!(
        [6, 7, 8, 14, 17, 22, 24, 65, 66, 68, 79, 243, 244, 250, 256, 259].map(seen),
        [
            "time left",
            "credits",
            "cargo of iron",
            "kits",
            "at station",
            "node index",
            "neighbour 1, valid",
            "neighbour 6, threat",
            "unused 1",
            "asteroid 1, valid",
            "asteroid 2, valid",
            "asteroid 16, selected",
            "price of iron",
            "price change of iron",
            "stock of iron",
            "stock of rare isotopes",
        ]
    );
}

#[test]
fn the_start_is_seen() {
    let seen = observed(&start(3));
    assert_eq!(seen[..8], [1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(seen[14..24], [0.25, 2.0 / 12.0, 1.0 / 12.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!((seen[24], seen[30]), (1.0, 0.5), "a threat that nobody knows");
    assert!(seen[66..244].iter().all(|&x| x == 0.0), "the station has no asteroids");
}

#[test]
fn belts_are_connected_and_in_range() {
    for seed in 0..200 {
        let mut env = start(seed);
        let n_nodes = env.world.n_nodes();
        assert!((8..=32).contains(&n_nodes));
        for node in 0..n_nodes {
            env.world.chart(node);
            let asteroids = env.world.node(node).asteroids;
            let n = asteroids.iter().filter(|asteroid| asteroid.is_there).count();
            assert_eq!(env.world.node(node).kind == NodeKind::Station, node == STATION);
            assert!(if node == STATION { n == 0 } else { (5..=16).contains(&n) });
            for asteroid in &asteroids[..n] {
                assert_close(asteroid.composition.iter().sum(), 1.0);
                assert!((0.2..=4.0).contains(&asteroid.richness));
            }
            let exits = env.world.exits(node);
            assert!((1..=6).contains(&exits.len()));
            for exit in exits {
                let road = env.world.road(exit.road);
                assert!((1..=8).contains(&road.ticks) && (20.0..112.0).contains(&road.fuel));
                let hops = |node: usize| env.world.node(node).hops;
                assert!(hops(exit.to).abs_diff(hops(node)) <= 1, "a road is one step");
                assert!(env.world.exits(exit.to).iter().any(|back| back.to == node));
            }
        }
    }
}

#[test]
fn asteroids_do_not_depend_on_when_they_are_found() {
    let (mut early, mut late) = (start(5), start(5));
    early.world.chart(3);
    for _ in 0..10 {
        act(&mut early, HOLD);
        act(&mut late, HOLD);
    }
    (1..5).for_each(|node| late.world.chart(node));
    assert_eq!(early.world.node(3), late.world.node(3));
}

/// A trace worked by hand: dock, an invalid action, five ticks of mining, home, a sale, the end.
#[test]
fn metrics_of_a_trace_by_hand() {
    let mut env = start(0);
    act(&mut env, DOCK);
    env.step(Action(MINE).into(), &mut [0.0; N_OBSERVATION]);
    // From here on a quiet place with an asteroid of iron alone.
    let quiet = at_work();
    (env.world, env.ship) = (quiet.world, Ship { fuel: 900.0, ..quiet.ship });
    env.ship.credits = 0.0;
    let node = env.ship.node;
    env.world.node_mut(node).asteroids[0].composition = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    env.mask = env.mask();
    act(&mut env, order::DEEP_SCAN);
    let mut load_ticks = 0.0;
    for _ in 0..5 {
        act(&mut env, MINE + 1);
        load_ticks += env.ship.load();
    }
    (env.ship.node, env.ship.selected) = (STATION, None);
    act(&mut env, DOCK);
    load_ticks += env.ship.load();
    let price = env.market.price[0];
    let units = env.ship.cargo[0];
    let paid = units * price * (1.0 - market::slippage(units, env.market.stock[0]));
    act(&mut env, order::SELL + 2);
    assert!(act(&mut env, CASH_OUT).terminated);

    let episode = *env.last_episode().unwrap();
    assert_eq!(episode.decisions, 11);
    assert_eq!(episode.ticks, 14, "a deep scan takes four ticks, all else one");
    assert_close(episode.profit, paid);
    assert_close(episode.invalid_action_rate, 1.0 / 11.0);
    assert_close(episode.fuel_used, 8.0);
    assert_close(episode.tool_wear, 5.0 * 1.6);
    assert_eq!((episode.scan_count, episode.mining_ticks, episode.pirate_encounters), (1, 5, 0));
    assert_eq!((episode.hull_damage, episode.survival), (0.0, 1.0));
    assert_close(episode.cargo_utilization_avg, load_ticks / 14.0);
    assert_close(episode.time_remaining, 19_986.0 / 20_000.0);
    // The fuel was set to 900 by hand between two steps, which no reward saw.
    let worth = paid - 0.4375 * 8.0 - 1.4 * 8.0;
    assert_close(episode.total_reward, worth / 1000.0 - 0.01);
    // It outlives the reset.
    env.reset(Some(1), &mut [0.0; N_OBSERVATION]);
    assert_eq!(env.last_episode(), Some(&episode));
}

#[test]
fn the_published_reward_by_hand() {
    let mut ship = Ship::new();
    (ship.credits, ship.heat) = (1500.0, 80.0);
    let happened = ship::Happened {
        ticks: 4,
        is_invalid: true,
        is_scan: true,
        fuel_used: 50.0,
        hull_lost: 3.0,
        tool_wear: 2.0,
        lost_to_pirates: 100.0,
        ..Default::default()
    };
    let before = Before { credits: 1000.0, cargo_value: 200.0 };
    let reward = reward::published(before, 700.0, &ship, &happened);
    // 0.5 + 0.01 - 0.05 - 0.004 - 0.01 - 0.3 - 0.002 - 0.005 - 0.01 - 0.1
    assert_close(reward, 0.029);
    let at_end = |ending| {
        let happened = ship::Happened { ending: Some(ending), ..happened.clone() };
        reward::published(before, 700.0, &ship, &happened) - reward
    };
    assert_close(at_end(ship::Ending::CashedOut), 0.003);
    assert_close(at_end(ship::Ending::Stranded), -50.0);
    assert_close(at_end(ship::Ending::Destroyed), -100.0);
}

#[test]
#[should_panic(expected = "reset first")]
fn a_step_needs_a_reset() {
    make().step(Action(0).into(), &mut [0.0; N_OBSERVATION]);
}

#[test]
fn playthrough() {
    insta::assert_snapshot!(conformance::playthrough_env(&make, 7));
}

proptest! {
    #[test]
    fn conforms(seed: u64) {
        conformance::check_env(SPEC.id, &json!({}), seed);
    }

    /// An action that is not legal is a hold, to the bit, with a penalty.
    #[test]
    fn an_invalid_action_is_a_hold_with_a_penalty(seed: u64) {
        let mut env = start(seed);
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut seen = [0.0; N_OBSERVATION];
        for _ in 0..60 {
            let action = rng.usize(..N_ACTIONS - 1);
            let mut held = env.clone();
            let step = env.step(Action(action).into(), &mut seen);
            if step.is_invalid {
                let hold = held.step(Action(HOLD).into(), &mut seen);
                assert_close(hold.reward - step.reward, 0.01);
                prop_assert_eq!(Step { reward: 0.0, is_invalid: false, ..step }, Step { reward: 0.0, ..hold });
                (held.tally, held.last_episode) = (env.tally.clone(), env.last_episode);
                prop_assert_eq!(&env, &held);
            }
            if step.is_end() {
                break;
            }
        }
    }

    /// The return is the change of worth, whatever happened between.
    #[test]
    fn the_return_is_the_change_of_worth(seed: u64) {
        let mut env = start(seed);
        let first = reward::worth(&env.ship);
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut total = 0.0;
        for _ in 0..200 {
            let legal: Vec<usize> = (0..CASH_OUT).filter(|&action| env.mask[action]).collect();
            let step = act(&mut env, legal[rng.usize(..legal.len())]);
            total += step.reward;
            if step.is_end() {
                return Ok(());
            }
            assert_close(total, (reward::worth(&env.ship) - first) / 1000.0);
        }
    }

    /// Numbers are where the layout says, in the ranges that it promises.
    #[test]
    fn observations_are_in_range(seed: u64) {
        let mut env = start(seed);
        let mut rng = fastrand::Rng::with_seed(seed);
        for _ in 0..100 {
            let legal: Vec<usize> = (0..CASH_OUT).filter(|&action| env.mask[action]).collect();
            let is_end = act(&mut env, legal[rng.usize(..legal.len())]).is_end();
            let seen = observed(&env);
            for (index, x) in seen.iter().enumerate() {
                let low = if (250..256).contains(&index) { -1.0 } else { 0.0 };
                prop_assert!((low..=1.0).contains(x), "{} is {x}", names::OBSERVATION[index]);
            }
            prop_assert_eq!(seen[66..68].to_vec(), vec![0.0, 0.0]);
            for slot in 0..16 {
                let asteroid = &seen[68 + 11 * slot..79 + 11 * slot];
                let total: f32 = asteroid[1..7].iter().sum();
                prop_assert!((total - asteroid[0]).abs() < 1e-5, "shares add up to 1");
                let can_select = env.mask[SELECT + slot];
                prop_assert_eq!(can_select, asteroid[0] == 1.0 && asteroid[10] == 0.0);
            }
            if is_end {
                break;
            }
        }
    }
}
