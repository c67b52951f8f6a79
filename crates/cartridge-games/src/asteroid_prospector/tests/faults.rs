//! One test per fault of the published environment that is repaired here.

use super::super::bots::Bot;
use super::super::market::BASE;
use super::super::order::{
    BUY_FUEL, BUY_KIT, DEEP_SCAN, FOCUSED_SCAN, MINE, OVERHAUL, REFINE, SELL, STABILISE, TRAVEL,
    WIDE_SCAN,
};
use super::super::rules::fracture_risk;
use super::*;

#[test]
fn fault_1_profit_counts_spending_once() {
    let mut env = start(0);
    (env.ship.credits, env.ship.fuel) = (1000.0, 100.0);
    env.tally = Tally::new(&env.ship);
    act(&mut env, DOCK);
    act(&mut env, BUY_FUEL);
    act(&mut env, BUY_KIT);
    act(&mut env, CASH_OUT);
    let episode = env.last_episode().unwrap();
    assert_close(episode.profit, -60.0 - 150.0);
    assert_close(episode.credits, 790.0);
}

#[test]
fn fault_2_survival_is_one_value_per_finished_episode() {
    let mut env = start(0);
    assert_eq!(env.last_episode(), None, "no episode, no survival");
    for _ in 0..50 {
        act(&mut env, HOLD);
    }
    env.ship.hull = 1e-3;
    env.ship.heat = 110.0;
    assert!(act(&mut env, HOLD).terminated);
    assert_eq!(env.last_episode().unwrap().survival, 0.0, "50 good ticks do not help");
    env.reset(Some(1), &mut [0.0; N_OBSERVATION]);
    act(&mut env, CASH_OUT);
    assert_eq!(env.last_episode().unwrap().survival, 1.0);
}

#[test]
fn fault_3_returns_of_parallel_environments_are_kept_apart() {
    let (mut one, mut other) = (start(1), start(2));
    let mut totals = [0.0; 2];
    for round in 0..6 {
        let actions = [TRAVEL, if round % 2 == 0 { DOCK } else { MINE }];
        for ((env, total), action) in
            [&mut one, &mut other].into_iter().zip(&mut totals).zip(actions)
        {
            *total += env.step(Action(action).into(), &mut [0.0; N_OBSERVATION]).reward;
        }
    }
    totals[0] += act(&mut one, CASH_OUT).reward;
    totals[1] += act(&mut other, CASH_OUT).reward;
    assert_close(one.last_episode().unwrap().total_reward, totals[0]);
    assert_close(other.last_episode().unwrap().total_reward, totals[1]);
    assert_ne!(totals[0], totals[1]);
}

#[test]
fn fault_4_prices_above_their_base_are_seen() {
    let mut env = start(0);
    for (share, expected) in [(0.5, 0.25), (1.0, 0.5), (1.5, 0.75), (1.9, 0.95), (3.0, 1.0)] {
        env.market.price = BASE.map(|base| share * base);
        assert_eq!(observed(&env)[244..250], [expected; 6]);
    }
}

#[test]
fn fault_5_the_stabilise_buff_stays_at_its_node() {
    let mut env = at_work();
    let node = env.ship.node;
    act(&mut env, STABILISE);
    assert_eq!(env.tick, 2);
    assert_eq!(env.world.node(node).stabilised_until, 8, "six ticks from now");
    let back = env.world.exits(node).iter().position(|exit| exit.to == STATION).unwrap();
    act(&mut env, TRAVEL + back);
    for other in (0..env.world.n_nodes()).filter(|&other| other != node) {
        assert_eq!(env.world.node(other).stabilised_until, 0, "the buff did not come along");
    }
    assert_eq!(env.world.node(node).stabilised_until, 8);
    // What it does: 1.1 less in the logit.
    let risk = |is_stabilised| fracture_risk(1.0, &Ship::new(), &order::MININGS[1], is_stabilised);
    let logit = |p: f64| (p / (1.0 - p)).ln();
    assert_close(logit(risk(false)) - logit(risk(true)), 1.1);
}

#[test]
fn fault_6_roads_to_the_station_have_pirates() {
    let mut env = at_work();
    let back = env.world.exits(env.ship.node).iter().position(|exit| exit.to == STATION).unwrap();
    let road = env.world.exits(env.ship.node)[back].road;
    env.world.road_mut(road).threat = ALWAYS;
    env.ship.hull = 1e9;
    env.ship.decoys = 0;
    env.ship.cargo[3] = 100.0;
    let step = act(&mut env, TRAVEL + back);
    assert!(env.ship.is_at_station() && !step.terminated);
    assert!((80.0..=92.0).contains(&env.ship.cargo[3]), "pirates took 8 to 20%");
}

#[test]
fn fault_7_a_scan_without_target_is_masked() {
    let mut env = start(0);
    for scan in [WIDE_SCAN, FOCUSED_SCAN, DEEP_SCAN] {
        assert!(!env.mask[scan], "nothing to scan at the station");
        let step = env.step(Action(scan).into(), &mut [0.0; N_OBSERVATION]);
        assert!(step.is_invalid && env.ship.fuel == 1000.0, "and no fuel is burnt");
    }
    let mut env = at_work();
    env.ship.selected = None;
    let mask = env.mask();
    assert_eq!([WIDE_SCAN, FOCUSED_SCAN, DEEP_SCAN].map(|scan| mask[scan]), [true, false, false]);
    env.ship.selected = Some(0);
    let mask = env.mask();
    assert_eq!([WIDE_SCAN, FOCUSED_SCAN, DEEP_SCAN].map(|scan| mask[scan]), [true; 3]);
}

#[test]
fn fault_8_refining_makes_no_free_money() {
    for (iron, nickel) in [(100.0, 0.0), (0.0, 100.0), (30.0, 60.0)] {
        let mut env = start(0);
        (env.ship.cargo[0], env.ship.cargo[1]) = (iron, nickel);
        let value = |env: &AsteroidProspector| -> f64 {
            env.ship.cargo.iter().zip(BASE).map(|(x, p)| x * p).sum()
        };
        let before = value(&env);
        act(&mut env, REFINE);
        // 15% of the input gives 15% of its mass, so per 100 of iron: 675 lost, 472.5 gained.
        assert_close(env.ship.cargo[0], 0.85 * iron);
        assert_close(env.ship.cargo[4], 0.15 * 0.15 * (iron + nickel));
        assert!(value(&env) < before);
    }
}

#[test]
fn fault_9_trade_needs_the_ship_docked() {
    let mut env = start(0);
    env.ship.cargo = [10.0; 6];
    (env.ship.credits, env.ship.fuel, env.ship.hull) = (10_000.0, 500.0, 50.0);
    assert!(env.mask()[SELL..=OVERHAUL].iter().all(|&is_legal| !is_legal), "not docked");
    act(&mut env, DOCK);
    assert!(env.mask()[SELL..=OVERHAUL].iter().all(|&is_legal| is_legal), "docked");
    assert!(!env.mask()[DOCK], "once is enough");
    act(&mut env, TRAVEL);
    assert!(!env.ship.is_docked, "a journey casts off");
}

#[test]
fn fault_10_quitting_at_once_is_not_the_best_policy() {
    let mean = |bot: Bot| {
        (0..40).map(|seed| bot.play(Config::default(), seed).total_reward).sum::<f64>() / 40.0
    };
    assert_eq!(mean(Bot::CashOut), 0.0);
    assert!(mean(Bot::Random) < -0.1);
    assert!(mean(Bot::GreedyMiner) > 1.0);
}
