//! The newest games of self-play, to be learnt from.
//!
//! A position that was met more than once, mirrored or not, is learnt with the mean of what was found
//! and of what became of it: the same in expectation as each for itself, with less noise. The means
//! are of whole numbers, so a window that was filled anew from the same games is the same to the
//! bit.

use std::collections::{HashMap, VecDeque};

use cartridge_games::{Action, Game, Turn};

use super::record::{PlayedGame, Ply, RecordError, VALUE_ONE};

/// The newest games.
#[derive(Debug)]
pub(super) struct Window<G> {
    /// How many positions each game has here, oldest first.
    games: VecDeque<usize>,
    /// The positions, oldest first.
    positions: VecDeque<Met>,
    entries: Vec<Entry<G>>,
    /// Places among the entries that nothing is at.
    free: Vec<u32>,
    /// The entries by the hash of their position.
    by_hash: HashMap<u64, Vec<u32>>,
    /// How much a search's own value counts beside the end of the game, from 0 to 1.
    value_mix: f32,
}

/// A position as one game met it: what it adds to its entry.
#[derive(Debug)]
struct Met {
    entry: u32,
    ply: Ply,
    /// The score of the seat to move, mixed with what the search thought of it.
    value: i16,
    /// The symmetry that makes the entry's position of the one that was met.
    symmetry: u8,
}

/// A position, and what was found in it.
#[derive(Debug)]
struct Entry<G> {
    game: G,
    hash: u64,
    n: u32,
    /// Sums, in the orientation of `game`.
    policy: Vec<u64>,
    value: i64,
}

/// Where one position of a batch goes.
pub(super) struct Slot<'a> {
    pub(super) planes: &'a mut [f32],
    pub(super) policy: &'a mut [f32],
    pub(super) legal: &'a mut [bool],
    pub(super) value: &'a mut f32,
}

impl<G: Game> Window<G> {
    pub(super) fn new(value_mix: f32) -> Self {
        Self {
            games: VecDeque::new(),
            positions: VecDeque::new(),
            entries: Vec::new(),
            free: Vec::new(),
            by_hash: HashMap::new(),
            value_mix,
        }
    }

    /// How many positions there are.
    pub(super) fn n_positions(&self) -> usize {
        self.positions.len()
    }

    /// How many games there are.
    pub(super) fn n_games(&self) -> usize {
        self.games.len()
    }

    /// How many different positions there are.
    pub(super) fn n_different(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Takes in a game and returns how many positions it has to learn from.
    pub(super) fn add(&mut self, played: &PlayedGame) -> Result<usize, RecordError> {
        let mut met = Vec::new();
        played.replay(|game: &G, ply| {
            if let Turn::Seat(seat) = game.turn()
                && ply.is_full
            {
                met.push((game.clone(), ply.clone(), played.score_of(seat)));
            }
        })?;
        let n = met.len();
        for (game, ply, score) in met {
            let mixed =
                f32::from(score) + self.value_mix * (f32::from(ply.value) - f32::from(score));
            self.meet(&game, ply, mixed.round() as i16);
        }
        self.games.push_back(n);
        Ok(n)
    }

    /// Forgets the oldest games until at most `n_positions` are left, or a single game.
    pub(super) fn shrink(&mut self, n_positions: usize) {
        while self.positions.len() > n_positions && self.games.len() > 1 {
            let n = self.games.pop_front().unwrap_or(0);
            for _ in 0..n {
                let Some(met) = self.positions.pop_front() else { break };
                let entry = &mut self.entries[met.entry as usize];
                entry.n -= 1;
                entry.value -= i64::from(met.value);
                for (action, share) in &met.ply.policy {
                    entry.policy[mirrored::<G>(met.symmetry, *action)] -= u64::from(*share);
                }
                if entry.n == 0 {
                    let places = self.by_hash.get_mut(&entry.hash).expect("every entry is there");
                    places.retain(|place| *place != met.entry);
                    if places.is_empty() {
                        self.by_hash.remove(&entry.hash);
                    }
                    self.free.push(met.entry);
                }
            }
        }
    }

    /// Writes a position that is drawn by chance, turned or mirrored by chance.
    pub(super) fn draw(&self, rng: &mut fastrand::Rng, slot: Slot<'_>) {
        let Slot { planes, policy, legal, value } = slot;
        let met = &self.positions[rng.usize(..self.positions.len())];
        let entry = &self.entries[met.entry as usize];
        let symmetry = rng.usize(..G::N_SYMMETRIES);
        let game = entry.game.transform(symmetry);
        let Turn::Seat(seat) = game.turn() else { unreachable!("it was searched") };
        game.observe_planes(seat, planes);
        legal.fill(false);
        game.legal_actions().for_each(|action| legal[action.0] = true);
        policy.fill(0.0);
        let sum: u64 = entry.policy.iter().sum();
        for (action, share) in entry.policy.iter().enumerate().filter(|(_, share)| **share > 0) {
            let action = mirrored::<G>(symmetry as u8, action as u16);
            policy[action] = (*share as f64 / sum as f64) as f32;
        }
        *value = (entry.value as f64 / (f64::from(entry.n) * f64::from(VALUE_ONE))) as f32;
    }

    fn meet(&mut self, game: &G, ply: Ply, value: i16) {
        let images = (0..G::N_SYMMETRIES).map(|symmetry| (game.transform(symmetry), symmetry));
        let image = images.min_by_key(|(image, _)| image.hash64());
        let (image, symmetry) = image.expect("every game has a symmetry");
        let symmetry = symmetry as u8;
        let hash = image.hash64();
        let places = self.by_hash.entry(hash).or_default();
        let known = places.iter().copied().find(|at| self.entries[*at as usize].game == image);
        let at = known.unwrap_or_else(|| {
            let policy = vec![0; G::SPEC.n_actions];
            let entry = Entry { game: image, hash, n: 0, policy, value: 0 };
            let at = match self.free.pop() {
                Some(at) => {
                    self.entries[at as usize] = entry;
                    at
                }
                None => {
                    self.entries.push(entry);
                    (self.entries.len() - 1) as u32
                }
            };
            places.push(at);
            at
        });
        let entry = &mut self.entries[at as usize];
        entry.n += 1;
        entry.value += i64::from(value);
        for (action, share) in &ply.policy {
            entry.policy[mirrored::<G>(symmetry, *action)] += u64::from(*share);
        }
        self.positions.push_back(Met { entry: at, ply, value, symmetry });
    }
}

fn mirrored<G: Game>(symmetry: u8, action: u16) -> usize {
    G::transform_action(symmetry.into(), Action(action.into())).0
}

#[cfg(test)]
mod tests;
