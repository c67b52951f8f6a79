//! Solves the islands of a batch of mechanisms, many at a time.

use super::{Island, Lane};
use crate::rigid::{LaneIslands, N_LANES};

/// What is kept from step to step, so that nothing is allocated.
#[derive(Clone, Debug, Default)]
pub(super) struct Together {
    islands: LaneIslands,
    /// The signature of each lane's island, and the lane.
    order: Vec<(u32, u32)>,
    /// Lanes whose positions are not settled yet.
    unsettled: Vec<(u32, u32)>,
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
        self.unsettled.clear();
        for group in self.order.chunks(N_LANES) {
            if group.len() < MIN_LANES {
                each(group, lanes, |_, island| island.start());
            } else {
                self.islands.clear();
                each(group, lanes, |_, island| self.islands.load(island));
                self.islands.start();
                each(group, lanes, |place, island| self.islands.store(place, island));
            }
            each(group, lanes, |place, island| {
                if !island.is_settled {
                    self.unsettled.push(group[place]);
                }
            });
        }
        for group in self.unsettled.chunks(N_LANES) {
            if group.len() < MIN_LANES {
                each(group, lanes, |_, island| island.settle());
            } else {
                self.islands.clear();
                each(group, lanes, |_, island| self.islands.load(island));
                self.islands.settle();
                each(group, lanes, |place, island| self.islands.store(place, island));
            }
        }
    }
}

/// Does something with the island of each lane of a group, which all have one.
fn each(group: &[(u32, u32)], lanes: &mut [Lane], mut visit: impl FnMut(usize, &mut Island)) {
    for (place, &(_, number)) in group.iter().enumerate() {
        let island = lanes[number as usize].island();
        visit(place, island.expect("a lane in a group has an island"));
    }
}
