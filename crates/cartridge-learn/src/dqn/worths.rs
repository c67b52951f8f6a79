//! What the target network thinks of where each transition led to, remembered until it changes.
//!
//! Between two moves of the target the same transitions are drawn again: of 32,000 draws between
//! two moves (RL-Zoo's LunarLander-v3) two thirds repeat one while the ring holds 10,000, and a
//! quarter when it is full. A sample's value does not depend on the samples beside it, so what is
//! remembered is to the last bit what would be computed.

use std::sync::atomic::{AtomicU64, Ordering};

/// A value for each place of the ring, beside the number of the target that gave it.
#[derive(Debug)]
pub(super) struct Worths {
    /// Counts the targets, from 1.
    target: u32,
    /// Number of the target in the high half, value in the low; 0 where there is none. Threads
    /// that learn together may both write one, but then the same.
    known: Vec<AtomicU64>,
}

impl Worths {
    pub(super) fn new() -> Self {
        Self { target: 1, known: Vec::new() }
    }

    /// The target has changed: nothing that it thought is true any more.
    pub(super) fn forget(&mut self) {
        self.target = self.target.checked_add(1).unwrap_or_else(|| {
            self.known.clear();
            1
        });
    }

    /// Another transition is in this place.
    pub(super) fn begin(&mut self, slot: usize) {
        if slot >= self.known.len() {
            self.known.resize_with(slot + 1, AtomicU64::default);
        }
        *self.known[slot].get_mut() = 0;
    }

    pub(super) fn get(&self, slot: usize) -> Option<f32> {
        let entry = self.known.get(slot)?.load(Ordering::Relaxed);
        let is_of_this_target = entry >> 32 == u64::from(self.target);
        is_of_this_target.then(|| f32::from_bits(entry as u32))
    }

    pub(super) fn set(&self, slot: usize, value: f32) {
        if let Some(entry) = self.known.get(slot) {
            let value = u64::from(value.to_bits());
            entry.store(u64::from(self.target) << 32 | value, Ordering::Relaxed);
        }
    }
}
