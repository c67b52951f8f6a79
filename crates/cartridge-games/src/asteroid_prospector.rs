//! Asteroid Prospector: mine a belt of asteroids, and come home to sell.
//!
//! A ship starts at the only station of a belt of 8 to 32 nodes. It travels, listens, scans,
//! mines, cools, mends, and sells what it brings home on a market whose prices swing and fall
//! under what it sells. Heat, fractures, hazards and pirates wear it down; pirates come more often
//! to a ship that has been noticed (alert) and to one that is worth it (cargo).
//!
//! # States
//!
//! 260 numbers, all in `[0, 1]` unless said; the layout is frozen.
//!
//! | index | what |
//! |---|---|
//! | 0-6 | fuel, hull, heat, tool, cargo, alert, time left, as shares of their maxima |
//! | 7 | ln(1 + credits) / ln(1 + 1e7) |
//! | 8-13 | cargo by commodity / 200: iron, nickel, water ice, platinum group, rare isotopes, volatiles |
//! | 14-16 | kits, stabilisers, decoys / 12 |
//! | 17, 18 | at the station; an asteroid is selected |
//! | 19-21 | the node is the station, a cluster, a hazard |
//! | 22, 23 | index of the node / 31; roads to the station / 31 |
//! | 24-65 | 6 neighbour slots of 7: valid, station, cluster, hazard, travel time / 8, fuel / 160, threat estimate |
//! | 66-67 | always 0 |
//! | 68-243 | 16 asteroid slots of 11: valid, composition estimate (6, adds up to 1), stability estimate, depletion, confidence, selected |
//! | 244-249 | price / (2 base price), clipped |
//! | 250-255 | change of the price / 100, in `[-1, 1]` |
//! | 256-259 | stock / 500 of iron, water ice, platinum group, rare isotopes |
//!
//! Hidden are richness, true composition, true stability and true threats.
//!
//! # Actions
//!
//! 0-5 travel to a neighbour; 6 hold; 7 emergency burn; 8, 9, 10 wide, focused, deep scan; 11
//! threat listen; 12-27 select an asteroid; 28, 29, 30 mine gently, normally, hard; 31 stabilise;
//! 32 refine; 33 cool; 34 repair the tool; 35 patch the hull; 36-41 jettison; 42 dock; 43-60 sell
//! 25, 50 or 100% of a commodity; 61, 62, 63 buy 120, 260, 480 fuel; 64 kit; 65 stabiliser; 66
//! decoy; 67 overhaul; 68 cash out.
//!
//! A decision takes 1 to 8 ticks. The mask allows what is possible: a scan or mining needs a
//! target, trade needs the ship docked, a purchase needs credits and room, and so on. An action
//! that is not legal is played as a hold and costs 0.01.
//!
//! # Reward
//!
//! The change of what the prospector is worth, in thousands of credits:
//!
//! ```text
//! worth = credits + 0.4375 fuel + 1.4 (hull + tool) + 0.25 (cargo at base prices)
//! ```
//!
//! Fuel and wear count at what the station asks to put them right (480 fuel for 210, an overhaul
//! of 200 points for 280), so that using them costs and replacing them does not cost again. Cargo
//! counts a quarter until it is sold: enough to reward digging at once, too little to pay for
//! hoarding. A sum of differences has no loops to exploit: the return is the worth at the end
//! minus the worth at the start, whatever happened between. Whatever the price does, cargo counts
//! at base prices, so a swing alone pays nothing.
//!
//! | end | what is lost, in credits |
//! |---|---|
//! | cash out at the station | the cargo's quarter |
//! | cash out in the belt | the same, and 300 for the tow |
//! | stranded | ship, fuel and cargo, and 1,000 |
//! | destroyed | ship, fuel and cargo, and 2,000 |
//!
//! Time costs nothing, so doing nothing is worth exactly 0, at once or after 20,000 ticks; what
//! time costs is the discount. `cartridge par AsteroidProspector-v0` prints what scripted players
//! reach ([`bots`]): random play loses about 0.4, greedy mining earns about 7, a careful trader
//! about 30, the oracle about 56. Because random play loses and quitting does not, a learner
//! meets quitting first: earning more takes exploration.
//!
//! With `reward=published` the fact sheet's weights are paid instead ([`RewardKind`]); under them
//! cashing out at once beats every player we have.
//!
//! # Start
//!
//! At node 0 with fuel 1000, hull and tool 100, heat, alert and credits 0, 3 kits, 2 stabilisers,
//! 1 decoy. The belt, the market and every chance afterwards come from the seed; the asteroids of
//! a node have a seed of their own, so they do not depend on when the ship gets there.
//!
//! # End
//!
//! Terminated by cashing out, when the hull is gone (destroyed), and when the fuel is gone away
//! from the station (stranded). Truncated at 20,000 ticks.
//!
//! # Version
//!
//! 0: the mechanics of the published environment with ten faults repaired: profit, survival and
//! returns are counted per finished episode ([`EpisodeMetrics`]); prices are seen up to twice
//! their base; a stabilised node stays so when the ship leaves; roads to the station have pirates;
//! scans need a target; refining loses value; trade needs docking; doing nothing is not best.
//!
//! # Source
//!
//! Constants and formulas are those of the published environment. It leaves open, and we chose:
//! a step of travel meets the road's threat and no other, a node's threat is the mean of hazard
//! and pirates, selecting takes a tick, a stability estimate begins as an unrelated draw, and the
//! station begins with 40 to 160 units of each commodity.

pub mod bots;
mod chance;
mod episode;
mod legal;
mod market;
mod names;
mod observe;
mod order;
mod reward;
mod rules;
mod scene;
mod ship;
mod world;

use serde::{Deserialize, Serialize};

use self::chance::Chance;
pub use self::episode::EpisodeMetrics;
use self::episode::Tally;
use self::legal::Mask;
use self::market::Market;
use self::observe::N_OBSERVATION;
use self::order::{CASH_OUT, N_ACTIONS, Order};
use self::reward::Before;
use self::ship::Ship;
use self::world::{STATION, World};
use crate::env::{ActionSpace, Env, EnvAction, EnvSpec, Step};
use crate::game::Action;
use crate::scene::Scene;

/// Facts of the environment.
pub static SPEC: EnvSpec = EnvSpec {
    id: "AsteroidProspector-v0",
    name: "Asteroid Prospector",
    version: 0,
    observation: N_OBSERVATION,
    actions: ActionSpace::Discrete(N_ACTIONS),
    max_steps: MAX_TICKS,
    is_masked: true,
    quit_action: Some(CASH_OUT),
    reward_threshold: None,
    frames_per_second: 10,
    action_names: &names::ACTIONS,
    observation_names: &names::OBSERVATION,
    // It waits for decisions, each of which takes its own time; a person chooses from what is legal.
    controls: None,
};

const MAX_TICKS: u32 = 20_000;

/// Options of the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Which reward is paid.
    pub reward: RewardKind,
}

impl Config {
    /// The names of the options.
    pub const OPTIONS: &'static [&'static str] = &["reward"];
}

/// Which reward is paid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RewardKind {
    /// The change of what the prospector is worth.
    #[default]
    Worth,
    /// The weights of the fact sheet, under which doing nothing is best.
    Published,
}

/// A ship in a belt of asteroids.
#[derive(Clone, Debug, PartialEq)]
pub struct AsteroidProspector {
    config: Config,
    chance: Chance,
    world: World,
    market: Market,
    ship: Ship,
    tick: u32,
    is_over: bool,
    /// What may be done now.
    mask: Mask,
    tally: Tally,
    last_episode: Option<EpisodeMetrics>,
}

impl AsteroidProspector {
    /// An environment that waits for its first reset.
    pub fn new(config: Config) -> Self {
        let ship = Ship::new();
        Self {
            config,
            chance: Chance::new(0),
            world: World::new(),
            market: Market::default(),
            tally: Tally::new(&ship),
            ship,
            tick: 0,
            is_over: true,
            mask: [false; N_ACTIONS],
            last_episode: None,
        }
    }

    /// The episode that ended last; nothing before the first has ended.
    pub fn last_episode(&self) -> Option<&EpisodeMetrics> {
        self.last_episode.as_ref()
    }
}

impl Env for AsteroidProspector {
    fn spec(&self) -> &'static EnvSpec {
        &SPEC
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]) {
        if let Some(seed) = seed {
            self.chance = Chance::new(seed);
        }
        self.world.generate(&mut self.chance);
        self.world.chart(STATION);
        self.market = Market::new(&mut self.chance);
        self.ship = Ship::new();
        self.tick = 0;
        self.is_over = false;
        self.tally = Tally::new(&self.ship);
        self.mask = self.mask();
        self.observe(observation);
    }

    fn step(&mut self, action: EnvAction<'_>, observation: &mut [f32]) -> Step {
        assert!(!self.is_over, "the episode has ended; reset first");
        let index = action.index();
        let order = Order::new(Action(index));
        let is_invalid = !self.mask[index];
        let worth = reward::worth(&self.ship);
        let before =
            Before { credits: self.ship.credits, cargo_value: self.market.value(&self.ship.cargo) };

        let mut happened = self.obey(if is_invalid { Order::Hold } else { order });
        happened.is_invalid = is_invalid;

        let reward = match self.config.reward {
            RewardKind::Worth => reward::ours(worth, &self.ship, &happened),
            RewardKind::Published => {
                let cargo_value = self.market.value(&self.ship.cargo);
                reward::published(before, cargo_value, &self.ship, &happened)
            }
        };
        self.tally.add(&happened, reward, &self.ship);
        self.mask = self.mask();
        self.observe(observation);
        let terminated = happened.ending.is_some();
        let truncated = self.tick >= MAX_TICKS;
        self.is_over = terminated || truncated;
        if self.is_over {
            self.last_episode = Some(self.tally.finish(&self.ship, happened.ending));
        }
        Step { reward, terminated, truncated, ticks: happened.ticks, is_invalid }
    }

    fn legal_actions(&self, mask: &mut [bool]) {
        mask.copy_from_slice(&self.mask);
    }

    fn episode_metrics(&self) -> Vec<(&'static str, f64)> {
        self.last_episode.map(|episode| episode.named()).unwrap_or_default()
    }

    fn cut_off(&mut self) {
        self.is_over = true;
        self.last_episode = Some(self.tally.finish(&self.ship, None));
    }

    fn scene(&self) -> Scene {
        scene::draw(self)
    }
}

#[cfg(test)]
mod tests;
