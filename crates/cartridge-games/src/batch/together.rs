//! Solves the islands of a batch of mechanisms, many at a time.

use super::Lane;
use crate::rigid::{LaneIsland, N_LANES};

/// What is kept from step to step, so that nothing is allocated.
#[derive(Clone, Debug, Default)]
pub(super) struct Together {
    islands: LaneIsland,
    /// The signature of each lane's island, and the lane.
    order: Vec<(u32, u32)>,
}

/// Fewer than this many lanes are solved faster one by one.
pub(super) const MIN_LANES: usize = 3;

impl Together {
    /// Solves the island of every lane, between the two halves of their steps.
    ///
    /// Islands that take the same work are solved side by side, because all take as long as the
    /// longest.
    pub(super) fn solve(&mut self, lanes: &mut [Lane]) {
        self.order.clear();
        for (number, lane) in lanes.iter_mut().enumerate() {
            if let Some(island) = lane.island() {
                self.order.push((island.signature(), number as u32));
            }
        }
        self.order.sort_unstable();
        for group in self.order.chunks(N_LANES) {
            let islands = &mut self.islands;
            let solve_alone = group.len() < MIN_LANES;
            islands.clear();
            for &(_, number) in group {
                if let Some(island) = lanes[number as usize].island() {
                    if solve_alone { island.solve() } else { islands.load(island) }
                }
            }
            if solve_alone {
                continue;
            }
            islands.solve();
            for (place, &(_, number)) in group.iter().enumerate() {
                if let Some(island) = lanes[number as usize].island() {
                    islands.store(place, island);
                }
            }
        }
    }
}
