//! Solves the islands of a batch of mechanisms, many at a time.

use super::{Island, Lane};
use crate::rigid::{LaneIslands, N_LANES};

/// What is kept from step to step, so that nothing is allocated.
#[derive(Clone, Debug, Default)]
pub(super) struct Together {
    islands: LaneIslands,
    impacts: LaneIslands,
    /// The signature of what each lane has to solve, and the lane.
    order: Vec<(u32, u32)>,
    /// Lanes whose positions are not settled yet.
    unsettled: Vec<(u32, u32)>,
}

/// Fewer than this many lanes are solved faster one by one.
pub(super) const MIN_LANES: usize = 3;

impl Together {
    /// Solves the island and the impacts of every lane, between begin and end of their steps.
    pub(super) fn solve(&mut self, lanes: &mut [Lane]) {
        self.solve_islands(lanes);
        self.solve_impacts(lanes);
    }

    /// Islands that take the same work are solved side by side, because all take as long as the
    /// longest.
    fn solve_islands(&mut self, lanes: &mut [Lane]) {
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

    /// A world has its impacts one after the other, so they are solved in rounds: in each, the
    /// next one of every lane that has more. Short ones are not worth waiting for others.
    fn solve_impacts(&mut self, lanes: &mut [Lane]) {
        self.order.clear();
        self.order.extend((0..lanes.len() as u32).map(|number| (0, number)));
        loop {
            self.order.retain_mut(|(signature, number)| {
                let mechanism = lanes[*number as usize].mechanism();
                while let Some(impact) = mechanism.next_impact() {
                    if !impact.is_short() {
                        *signature = impact.island.signature();
                        return true;
                    }
                    impact.island.solve_impact();
                }
                false
            });
            if self.order.is_empty() {
                break;
            }
            self.order.sort_unstable();
            for group in self.order.chunks(N_LANES) {
                let numbers = group.iter().map(|&(_, number)| number as usize);
                if group.len() < MIN_LANES {
                    for number in numbers {
                        lanes[number].mechanism().impact().island.solve_impact();
                    }
                    continue;
                }
                self.impacts.clear();
                for number in numbers.clone() {
                    self.impacts.load(&lanes[number].mechanism().impact().island);
                }
                self.impacts.solve_impacts();
                for (place, number) in numbers.enumerate() {
                    self.impacts.store(place, &mut lanes[number].mechanism().impact().island);
                }
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
