//! Evaluations that were made before, shared by all trees of a thread.
//!
//! A position and its mirror images are one entry: they are kept as the image with the smallest
//! hash, and the logits in its orientation. A search with a cache asks about that image, whether
//! the answer is then kept or not, so what it hears never depends on what other trees have asked.
//! (When it hears it does: a search with several leaves under way goes on at once after a hit.)
//!
//! Entries lie in sets of four, found by the hash; the whole position is compared, so that a wrong
//! answer cannot come. A full set gives up one of its four in turn.

use cartridge_games::Game;

use crate::evaluator::Evaluation;

/// A bounded table of evaluations. It belongs to one state of the evaluator: [`clear`](Self::clear)
/// it when the network has learnt.
#[derive(Clone, Debug)]
pub struct Cache<G> {
    /// In sets of [`N_WAYS`]; none when nothing is to be kept.
    entries: Vec<Option<Entry<G>>>,
    /// The logits of the entries, each with one per action.
    logits: Vec<f32>,
    /// How many evaluations were kept since all were forgotten.
    n_kept: u64,
    n_hits: u64,
    n_misses: u64,
}

#[derive(Clone, Debug)]
struct Entry<G> {
    game: G,
    hash: u64,
    value: f32,
}

/// A position as the cache sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Canonical<G> {
    /// The image with the smallest hash.
    pub(crate) game: G,
    pub(crate) hash: u64,
    /// What made it from the position.
    pub(crate) symmetry: u8,
}

const N_WAYS: usize = 4;

impl<G: Game> Cache<G> {
    /// Room for at least `n_positions`; with none, nothing is kept and positions are evaluated as
    /// they lie.
    pub fn new(n_positions: usize) -> Self {
        let n_sets = n_positions.div_ceil(N_WAYS);
        let n_sets = if n_sets == 0 { 0 } else { n_sets.next_power_of_two() };
        Self {
            entries: vec![None; n_sets * N_WAYS],
            logits: vec![0.0; n_sets * N_WAYS * G::SPEC.n_actions],
            n_kept: 0,
            n_hits: 0,
            n_misses: 0,
        }
    }

    /// Forgets all evaluations; the counts of hits and misses go on.
    pub fn clear(&mut self) {
        self.entries.fill(None);
        self.n_kept = 0;
    }

    /// How many positions there is room for.
    pub fn capacity(&self) -> usize {
        self.entries.len()
    }

    /// How many positions were found.
    pub fn n_hits(&self) -> u64 {
        self.n_hits
    }

    /// How many positions were looked for in vain.
    pub fn n_misses(&self) -> u64 {
        self.n_misses
    }

    /// The position as it is asked about: as it lies when nothing is kept.
    pub(crate) fn canonical(&self, game: &G) -> Canonical<G> {
        if self.entries.is_empty() {
            return Canonical { game: game.clone(), hash: 0, symmetry: 0 };
        }
        let mut best = Canonical { game: game.clone(), hash: game.hash64(), symmetry: 0 };
        for symmetry in 1..G::N_SYMMETRIES {
            let image = game.transform(symmetry);
            let hash = image.hash64();
            if hash < best.hash {
                best = Canonical { game: image, hash, symmetry: symmetry as u8 };
            }
        }
        best
    }

    /// What was thought of the position, in its canonical orientation.
    pub(crate) fn find(&mut self, position: &Canonical<G>) -> Option<Evaluation<'_>> {
        if self.entries.is_empty() {
            return None;
        }
        let is_it = |entry: &Entry<G>| entry.hash == position.hash && entry.game == position.game;
        let mut places = self.set(position.hash);
        let place = places.find(|&place| self.entries[place].as_ref().is_some_and(is_it));
        let Some((place, entry)) =
            place.and_then(|place| Some((place, self.entries[place].as_ref()?)))
        else {
            self.n_misses += 1;
            return None;
        };
        self.n_hits += 1;
        let n_actions = G::SPEC.n_actions;
        let logits = &self.logits[place * n_actions..][..n_actions];
        Some(Evaluation { logits, value: entry.value })
    }

    /// Keeps what is thought of the position, in its canonical orientation.
    pub(crate) fn keep(&mut self, position: Canonical<G>, evaluation: Evaluation<'_>) {
        if self.entries.is_empty() {
            return;
        }
        let first = self.set(position.hash).start;
        let turn = (self.n_kept % N_WAYS as u64) as usize;
        let is_it = |entry: &Entry<G>| entry.hash == position.hash && entry.game == position.game;
        let ways = self.entries[first..][..N_WAYS].iter();
        let place = first
            + ways
                .clone()
                .position(|entry| entry.as_ref().is_some_and(is_it))
                .or_else(|| ways.clone().position(Option::is_none))
                .unwrap_or(turn);
        let n_actions = G::SPEC.n_actions;
        self.logits[place * n_actions..][..n_actions].copy_from_slice(evaluation.logits);
        let Canonical { game, hash, .. } = position;
        self.entries[place] = Some(Entry { game, hash, value: evaluation.value });
        self.n_kept += 1;
    }

    /// The places where a position of this hash may lie.
    fn set(&self, hash: u64) -> std::ops::Range<usize> {
        let n_sets = self.entries.len() / N_WAYS;
        let first = (hash as usize & (n_sets - 1)) * N_WAYS;
        first..first + N_WAYS
    }
}

#[cfg(test)]
mod tests;
