//! What an agent sees, in units.

use super::super::market::BASE;
use super::super::observe::{ASTEROID_SIZE, ASTEROIDS, NEIGHBOUR_SIZE, NEIGHBOURS, PRICES};
use super::super::order::{SELECT, TRAVEL};
use super::super::world::{MAX_ASTEROIDS, N_COMMODITIES, N_SLOTS};

/// An observation and its mask.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) seen: &'a [f32],
    pub(super) legal: &'a [bool],
}

/// What is seen of a neighbour slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenRoad {
    pub(super) slot: usize,
    pub(super) is_station: bool,
    pub(super) is_hazard: bool,
    pub(super) ticks: f64,
    pub(super) fuel: f64,
    pub(super) threat: f64,
}

/// What is seen of an asteroid slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenAsteroid<'a> {
    pub(super) slot: usize,
    pub(super) composition: &'a [f32],
    pub(super) stability: f64,
    pub(super) depletion: f64,
    pub(super) confidence: f64,
}

impl<'a> View<'a> {
    pub(super) fn can(self, action: usize) -> bool {
        self.legal[action]
    }

    /// The first of the actions that is legal.
    pub(super) fn first(self, actions: impl IntoIterator<Item = usize>) -> Option<usize> {
        actions.into_iter().find(|&action| self.can(action))
    }

    pub(super) fn random(self, rng: &mut fastrand::Rng) -> usize {
        let n_legal = self.legal.iter().filter(|&&is_legal| is_legal).count();
        let mut legal = (0..self.legal.len()).filter(|&action| self.can(action));
        legal.nth(rng.usize(..n_legal)).expect("holding is always legal")
    }

    pub(super) fn fuel(self) -> f64 {
        1000.0 * f64::from(self.seen[0])
    }

    pub(super) fn hull(self) -> f64 {
        100.0 * f64::from(self.seen[1])
    }

    pub(super) fn heat(self) -> f64 {
        100.0 * f64::from(self.seen[2])
    }

    pub(super) fn tool(self) -> f64 {
        100.0 * f64::from(self.seen[3])
    }

    pub(super) fn load(self) -> f64 {
        f64::from(self.seen[4])
    }

    pub(super) fn alert(self) -> f64 {
        100.0 * f64::from(self.seen[5])
    }

    pub(super) fn ticks_left(self) -> f64 {
        20_000.0 * f64::from(self.seen[6])
    }

    pub(super) fn credits(self) -> f64 {
        (f64::from(self.seen[7]) * 1e7_f64.ln_1p()).exp_m1()
    }

    pub(super) fn cargo(self, good: usize) -> f64 {
        200.0 * f64::from(self.seen[8 + good])
    }

    pub(super) fn is_at_station(self) -> bool {
        self.seen[17] > 0.0
    }

    /// The price as a share of its base, up to 2.
    pub(super) fn relative_price(self, good: usize) -> f64 {
        2.0 * f64::from(self.seen[PRICES + good])
    }

    pub(super) fn price(self, good: usize) -> f64 {
        BASE[good] * self.relative_price(good)
    }

    pub(super) fn cargo_value(self) -> f64 {
        (0..N_COMMODITIES).map(|good| self.cargo(good) * self.price(good)).sum()
    }

    pub(super) fn roads(self) -> impl Iterator<Item = SeenRoad> + 'a {
        (0..N_SLOTS).filter(move |slot| self.can(TRAVEL + slot)).map(move |slot| {
            let from = NEIGHBOURS + slot * NEIGHBOUR_SIZE;
            let seen = &self.seen[from..from + NEIGHBOUR_SIZE];
            SeenRoad {
                slot,
                is_station: seen[1] > 0.0,
                is_hazard: seen[3] > 0.0,
                ticks: 8.0 * f64::from(seen[4]),
                fuel: 160.0 * f64::from(seen[5]),
                threat: f64::from(seen[6]),
            }
        })
    }

    pub(super) fn asteroids(self) -> impl Iterator<Item = SeenAsteroid<'a>> {
        (0..MAX_ASTEROIDS).filter_map(move |slot| {
            let from = ASTEROIDS + slot * ASTEROID_SIZE;
            let seen = &self.seen[from..from + ASTEROID_SIZE];
            (seen[0] > 0.0).then(|| SeenAsteroid {
                slot,
                composition: &seen[1..7],
                stability: f64::from(seen[7]),
                depletion: f64::from(seen[8]),
                confidence: f64::from(seen[9]),
            })
        })
    }

    pub(super) fn selected(self) -> Option<SeenAsteroid<'a>> {
        self.asteroids().find(|asteroid| !self.can(SELECT + asteroid.slot))
    }

    /// Credits per unit of an asteroid, as far as one knows.
    pub(super) fn unit_value(self, asteroid: &SeenAsteroid<'_>) -> f64 {
        let shares = asteroid.composition.iter().enumerate();
        shares.map(|(good, &share)| f64::from(share) * self.price(good)).sum()
    }
}
