//! Prioritised replay (Schaul and others 2016): transitions that surprised are drawn more often.
//!
//! A transition is drawn with probability `p / sum of all p`, where `p = (|error| + eps) ^ alpha`;
//! one that was never learnt from has the greatest `p` so far. What is drawn too often weighs
//! less: `(n * probability) ^ -beta`, divided by the greatest weight of the minibatch.

/// Priorities of slots and their sums: a binary tree whose leaves are the slots.
///
/// Every inner node is the sum of its two children, whatever the order in which leaves were set,
/// so a tree is a function of its leaves, bit for bit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Priorities {
    /// Node 1 is the root, and those below node `i` are `2 * i` and `2 * i + 1`. In doubles, so
    /// that a sum over a million leaves still tells small ones apart.
    nodes: Vec<f64>,
    first_leaf: usize,
    /// The greatest priority that was ever set.
    greatest: f32,
}

impl Priorities {
    /// No priority in any of `n_slots`; new ones will have that of an error of 1.
    pub(super) fn new(n_slots: usize) -> Self {
        let first_leaf = n_slots.next_power_of_two();
        Self { nodes: vec![0.0; 2 * first_leaf], first_leaf, greatest: 1.0 }
    }

    pub(super) fn greatest(&self) -> f32 {
        self.greatest
    }

    pub(super) fn set_greatest(&mut self, priority: f32) {
        self.greatest = priority;
    }

    pub(super) fn get(&self, slot: usize) -> f32 {
        // It was set as an `f32`.
        self.nodes[self.first_leaf + slot] as f32
    }

    pub(super) fn set(&mut self, slot: usize, priority: f32) {
        self.greatest = self.greatest.max(priority);
        let mut node = self.first_leaf + slot;
        self.nodes[node] = f64::from(priority);
        while node > 1 {
            node /= 2;
            self.nodes[node] = self.nodes[2 * node] + self.nodes[2 * node + 1];
        }
    }

    /// The sum of all priorities.
    pub(super) fn total(&self) -> f64 {
        self.nodes[1]
    }

    /// The slot at which the sum of the priorities, in order, exceeds `sum`. Never one without a
    /// priority, as long as there is another.
    pub(super) fn find(&self, mut sum: f64) -> usize {
        let mut node = 1;
        while node < self.first_leaf {
            let (left, right) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
            // Rounding may lead beyond the last slot that has a priority.
            if sum < left || right == 0.0 {
                node *= 2;
            } else {
                sum -= left;
                node = 2 * node + 1;
            }
        }
        node - self.first_leaf
    }
}

/// The priority of an error.
pub(super) fn priority(error: f32, alpha: f64, eps: f64) -> f32 {
    (f64::from(error.abs()) + eps).powf(alpha) as f32
}

/// The weights of samples that were drawn with `priorities` out of `n` transitions whose
/// priorities sum up to `total`.
pub(super) fn weigh(priorities: &[f32], n: u64, total: f64, beta: f64, weights: &mut Vec<f32>) {
    weights.clear();
    // The rarest sample has the greatest weight, so dividing by it is dividing by this.
    let rarest = priorities.iter().copied().fold(f32::INFINITY, f32::min);
    let weight = |priority: f32| (n as f64 * f64::from(priority) / total).powf(-beta);
    let greatest = weight(rarest);
    weights.extend(priorities.iter().map(|&priority| (weight(priority) / greatest) as f32));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(priorities: &[f32]) -> Priorities {
        let mut tree = Priorities::new(priorities.len());
        for (slot, &priority) in priorities.iter().enumerate() {
            tree.set(slot, priority);
        }
        tree
    }

    #[test]
    fn sums_and_places_by_hand() {
        let mut tree = tree(&[1.0, 0.0, 2.0, 0.5, 3.0]);
        assert_eq!(tree.total(), 6.5);
        for (sum, slot) in [(0.0, 0), (0.99, 0), (1.0, 2), (2.9, 2), (3.0, 3), (3.5, 4), (6.4, 4)] {
            assert_eq!(tree.find(sum), slot, "{sum}");
        }
        // Beyond the end, as rounding may lead: the last one that has a priority.
        assert_eq!(tree.find(6.5), 4);
        tree.set(4, 0.0);
        assert_eq!((tree.total(), tree.find(3.5), tree.greatest()), (3.5, 3, 3.0));
        assert_eq!([0, 1, 2, 3, 4].map(|slot| tree.get(slot)), [1.0, 0.0, 2.0, 0.5, 0.0]);
    }

    #[test]
    fn a_tree_is_a_function_of_its_leaves() {
        let rng = &mut fastrand::Rng::with_seed(0);
        let leaves: Vec<f32> = (0..77).map(|_| rng.f32()).collect();
        let mut other = Priorities::new(77);
        for _ in 0..500 {
            other.set(rng.usize(..77), rng.f32());
        }
        let mut slots: Vec<usize> = (0..77).collect();
        rng.shuffle(&mut slots);
        slots.into_iter().for_each(|slot| other.set(slot, leaves[slot]));
        assert_eq!(other.nodes, tree(&leaves).nodes);
    }

    #[test]
    fn slots_are_found_in_proportion() {
        let tree = tree(&[1.0, 3.0, 0.0, 4.0]);
        let mut counts = [0; 4];
        for at in 0..800 {
            counts[tree.find(f64::from(at) / 100.0)] += 1;
        }
        assert_eq!(counts, [100, 300, 0, 400]);
    }

    #[test]
    fn priorities_and_weights_by_hand() {
        assert_eq!(priority(-3.0, 0.5, 1.0), 2.0);
        assert_eq!(priority(0.5, 1.0, 0.0), 0.5);
        assert_eq!(priority(7.0, 0.0, 1e-6), 1.0);
        let mut weights = Vec::new();
        // Of 10 transitions with a sum of 8: probabilities 1/8 and 1/2, so 1.25 and 5 times what
        // each would have; with beta 0.5 the weights have a ratio of 2.
        weigh(&[1.0, 4.0], 10, 8.0, 0.5, &mut weights);
        assert_eq!(weights, [1.0, 0.5]);
        weigh(&[1.0, 4.0], 10, 8.0, 1.0, &mut weights);
        assert_eq!(weights, [1.0, 0.25]);
        weigh(&[1.0, 4.0], 10, 8.0, 0.0, &mut weights);
        assert_eq!(weights, [1.0, 1.0]);
    }
}
