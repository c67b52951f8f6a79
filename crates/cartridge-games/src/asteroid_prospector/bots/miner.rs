//! A miner that works the nodes next to the station.

use super::super::order::{
    COOL, DEEP_SCAN, HOLD, LISTEN, MINE, PATCH_HULL, SELECT, TRAVEL, WIDE_SCAN,
};
use super::super::world::{MAX_ASTEROIDS, N_SLOTS};
use super::habits::{Habits, RETIRE};
use super::view::{SeenAsteroid, SeenRoad, View};

/// What a miner remembers.
#[derive(Debug)]
pub(super) struct Miner {
    habits: &'static Habits,
    listenings: u32,
    /// Ticks at the station since the last journey.
    waited: u32,
    /// The nodes behind the station's slots.
    nodes: [Memory; N_SLOTS],
    /// The station's slot through which the ship went out.
    here: usize,
    /// The load before the last action, when that was mining.
    load_before: Option<f64>,
    n_asteroids: usize,
}

/// What is remembered of a node.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    is_spent: bool,
    wide_scans: u32,
    fractures: u32,
    is_poor: [bool; MAX_ASTEROIDS],
}

/// Ticks before the end when a miner stops going out.
const LAST_TICKS: f64 = 400.0;
/// Fuel that must be there to go out.
const LEAST_FUEL: f64 = 180.0;

impl Miner {
    pub(super) fn new(habits: &'static Habits) -> Self {
        Self {
            habits,
            listenings: 0,
            waited: 0,
            nodes: [Memory::default(); N_SLOTS],
            here: 0,
            load_before: None,
            n_asteroids: 0,
        }
    }

    pub(super) fn choose(&mut self, view: View<'_>) -> usize {
        if view.is_at_station() { self.at_station(view) } else { self.at_node(view) }
    }

    fn at_station(&mut self, view: View<'_>) -> usize {
        self.load_before = None;
        self.waited += 1;
        if let Some(errand) = self.habits.trade.errand(view, self.waited) {
            return errand;
        }
        if self.listenings < self.habits.listenings {
            self.listenings += 1;
            return LISTEN;
        }
        let is_fit = view.hull() >= self.habits.min_hull + 5.0 && view.fuel() >= LEAST_FUEL;
        let target = self.target(view).filter(|_| is_fit && view.ticks_left() > LAST_TICKS);
        let Some(road) = target else { return RETIRE };
        self.here = road.slot;
        self.waited = 0;
        self.n_asteroids = 0;
        TRAVEL + road.slot
    }

    /// The best node to go to; nothing when all are spent.
    fn target(&self, view: View<'_>) -> Option<SeenRoad> {
        let cost = |road: &SeenRoad| {
            let hazard = if road.is_hazard { 4.0 } else { 0.0 };
            // A threat that nobody has listened to says nothing.
            let threat = if self.habits.listenings > 0 { 20.0 * road.threat } else { 0.0 };
            road.ticks + road.fuel / 40.0 + hazard + threat
        };
        let open = view.roads().filter(|road| !self.nodes[road.slot].is_spent);
        open.min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }

    fn at_node(&mut self, view: View<'_>) -> usize {
        let habits = self.habits;
        self.learn(view);
        let must_leave = view.load() >= habits.max_load
            || view.cargo_value() >= habits.max_cargo_value
            || view.alert() >= habits.max_alert
            || view.hull() <= habits.min_hull
            || view.fuel() <= LEAST_FUEL;
        let memory = &mut self.nodes[self.here];
        if must_leave {
            return home(view);
        }
        if memory.wide_scans < habits.wide_scans && view.can(WIDE_SCAN) {
            memory.wide_scans += 1;
            return WIDE_SCAN;
        }
        let is_spent = memory.fractures >= habits.max_fractures;
        let Some(best) = self.best(view).filter(|_| !is_spent) else {
            self.nodes[self.here].is_spent = true;
            return home(view);
        };
        if view.heat() > habits.max_heat {
            return view.first([COOL]).unwrap_or(HOLD);
        }
        match view.selected() {
            Some(selected) if selected.slot == best.slot || self.is_fine(view, &selected) => {
                if selected.confidence < habits.confidence && view.can(DEEP_SCAN) {
                    return DEEP_SCAN;
                }
                if view.hull() < 60.0 && habits.max_heat < 100.0 && view.can(PATCH_HULL) {
                    return PATCH_HULL;
                }
                self.load_before = Some(view.load());
                MINE + habits.mining
            }
            _ => SELECT + best.slot,
        }
    }

    /// Draws conclusions from what the last action brought.
    fn learn(&mut self, view: View<'_>) {
        let memory = &mut self.nodes[self.here];
        let n_asteroids = view.asteroids().count();
        if n_asteroids < self.n_asteroids {
            memory.fractures += 1;
        }
        self.n_asteroids = n_asteroids;
        if let (Some(before), Some(selected)) = (self.load_before.take(), view.selected()) {
            let units = 200.0 * (view.load() - before);
            // A raid takes something away, and then the yield is unknown.
            if units > 0.0 && units < self.habits.min_yield {
                memory.is_poor[selected.slot] = true;
            }
        }
    }

    /// Whether an asteroid that was chosen once is still worth mining.
    fn is_fine(&self, view: View<'_>, asteroid: &SeenAsteroid<'_>) -> bool {
        self.score(view, asteroid) > 0.0
    }

    fn best<'a>(&self, view: View<'a>) -> Option<SeenAsteroid<'a>> {
        let scored = view.asteroids().map(|asteroid| (self.score(view, &asteroid), asteroid));
        let good = scored.filter(|(score, _)| *score > 0.0);
        good.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, asteroid)| asteroid)
    }

    fn score(&self, view: View<'_>, asteroid: &SeenAsteroid<'_>) -> f64 {
        let is_poor = self.nodes[self.here].is_poor[asteroid.slot];
        if is_poor || asteroid.depletion > 0.7 || asteroid.stability < self.habits.min_stability {
            return 0.0;
        }
        view.unit_value(asteroid) * (1.0 - asteroid.depletion) * (0.2 + asteroid.stability)
    }
}

/// The way to the station, which is next to every node that a miner works at.
fn home(view: View<'_>) -> usize {
    let road = view.roads().find(|road| road.is_station);
    TRAVEL + road.expect("a miner stays next to the station").slot
}
