//! What is measured in an episode. One value per finished episode, of this environment alone.

use super::MAX_TICKS;
use super::ship::{Ending, Happened, Ship};

/// Sums over the episode that is being played.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tally {
    decisions: u32,
    ticks: u32,
    total_reward: f64,
    first_credits: f64,
    invalid_actions: u32,
    overheat_ticks: u32,
    pirate_encounters: u32,
    lost_to_pirates: f64,
    fuel_used: f64,
    hull_lost: f64,
    tool_wear: f64,
    scans: u32,
    mining_ticks: u32,
    /// Load times ticks.
    load_ticks: f64,
}

/// A finished episode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpisodeMetrics {
    /// Sum of the rewards.
    pub total_reward: f64,
    /// Actions taken.
    pub decisions: u32,
    /// Ticks that they took.
    pub ticks: u32,
    /// Credits at the end.
    pub credits: f64,
    /// Credits at the end minus credits at the start.
    pub profit: f64,
    /// 1 when the ship came through, 0 when it was stranded or destroyed.
    pub survival: f64,
    /// Share of decisions that were not legal.
    pub invalid_action_rate: f64,
    /// Raids.
    pub pirate_encounters: u32,
    /// Credits, at the prices when the cargo was taken.
    pub value_lost_to_pirates: f64,
    /// All fuel that was burnt, also what was bought on the way.
    pub fuel_used: f64,
    /// All hull that was lost, also what was repaired.
    pub hull_damage: f64,
    /// All tool that was worn, also what was repaired.
    pub tool_wear: f64,
    /// Scans of all three kinds.
    pub scan_count: u32,
    /// Ticks spent mining.
    pub mining_ticks: u32,
    /// Ticks in which the ship was too hot.
    pub overheat_ticks: u32,
    /// Mean over ticks of the share of the hold that was full.
    pub cargo_utilization_avg: f64,
    /// Share of the time that was left.
    pub time_remaining: f64,
}

impl Tally {
    pub(super) fn new(ship: &Ship) -> Self {
        Self { first_credits: ship.credits, ..Self::default() }
    }

    pub(super) fn add(&mut self, happened: &Happened, reward: f64, ship: &Ship) {
        let Happened { ticks, is_invalid, is_scan, is_mining, is_overheated, is_raided, .. } =
            *happened;
        let ticks_if = |is_counted: bool| if is_counted { ticks } else { 0 };
        self.decisions += 1;
        self.ticks += ticks;
        self.total_reward += reward;
        self.invalid_actions += u32::from(is_invalid);
        self.overheat_ticks += ticks_if(is_overheated);
        self.pirate_encounters += u32::from(is_raided);
        self.lost_to_pirates += happened.lost_to_pirates;
        self.fuel_used += happened.fuel_used;
        self.hull_lost += happened.hull_lost;
        self.tool_wear += happened.tool_wear;
        self.scans += u32::from(is_scan);
        self.mining_ticks += ticks_if(is_mining);
        self.load_ticks += ship.load() * f64::from(ticks);
    }

    /// The episode as it stands, ended by `ending` or by time.
    pub(super) fn finish(&self, ship: &Ship, ending: Option<Ending>) -> EpisodeMetrics {
        let is_lost = matches!(ending, Some(Ending::Stranded | Ending::Destroyed));
        let time_left = MAX_TICKS.saturating_sub(self.ticks);
        EpisodeMetrics {
            total_reward: self.total_reward,
            decisions: self.decisions,
            ticks: self.ticks,
            credits: ship.credits,
            profit: ship.credits - self.first_credits,
            survival: if is_lost { 0.0 } else { 1.0 },
            invalid_action_rate: f64::from(self.invalid_actions) / f64::from(self.decisions),
            pirate_encounters: self.pirate_encounters,
            value_lost_to_pirates: self.lost_to_pirates,
            fuel_used: self.fuel_used,
            hull_damage: self.hull_lost,
            tool_wear: self.tool_wear,
            scan_count: self.scans,
            mining_ticks: self.mining_ticks,
            overheat_ticks: self.overheat_ticks,
            cargo_utilization_avg: self.load_ticks / f64::from(self.ticks),
            time_remaining: f64::from(time_left) / f64::from(MAX_TICKS),
        }
    }
}

impl EpisodeMetrics {
    /// All of them by name.
    pub fn named(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("decisions", self.decisions.into()),
            ("ticks", self.ticks.into()),
            ("credits", self.credits),
            ("profit", self.profit),
            ("profit_per_tick", self.profit / f64::from(self.ticks)),
            ("survival", self.survival),
            ("invalid_action_rate", self.invalid_action_rate),
            ("pirate_encounters", self.pirate_encounters.into()),
            ("value_lost_to_pirates", self.value_lost_to_pirates),
            ("fuel_used", self.fuel_used),
            ("hull_damage", self.hull_damage),
            ("tool_wear", self.tool_wear),
            ("scan_count", self.scan_count.into()),
            ("mining_ticks", self.mining_ticks.into()),
            ("overheat_ticks", self.overheat_ticks.into()),
            ("cargo_utilization_avg", self.cargo_utilization_avg),
            ("time_remaining", self.time_remaining),
        ]
    }
}
