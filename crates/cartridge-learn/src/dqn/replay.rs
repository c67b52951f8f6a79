//! What was seen, to be learnt from again and again: a ring of the newest steps of all lanes.
//!
//! A *row* holds one step of every lane, rows are numbered from 0 by the steps that each lane has
//! made, and row `r` lies in place `r % n_places`. One place more than the ring can hold steps is
//! for the row that is seen but not acted on yet. So what an action led to is the observation of
//! the row after it, and is stored once. Where an episode ended, that row begins the next one:
//! after a termination nothing is needed, and what a truncated episode saw last is kept apart.
//!
//! A *transition* is a step of one lane. It has the number `row * n_lanes + lane`, for ever.
//!
//! Nothing here depends on when the ring was filled: written again from the recorded episodes, it
//! is the same.

use std::collections::VecDeque;
use std::ops::Range;

/// Whether and how an episode ended with a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    #[default]
    No,
    Terminated,
    Truncated,
}

impl End {
    /// Where both hold, nothing is earned after the end.
    pub(super) fn new(terminated: bool, truncated: bool) -> Self {
        match (terminated, truncated) {
            (true, _) => Self::Terminated,
            (false, true) => Self::Truncated,
            (false, false) => Self::No,
        }
    }
}

/// The sizes of what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) n_lanes: usize,
    pub(super) n_observation: usize,
    pub(super) n_actions: usize,
    /// Whether masks are stored; where everything is always legal, they need no memory.
    pub(super) is_masked: bool,
}

/// The ring.
#[derive(Clone, Debug)]
pub(super) struct Replay {
    shape: Shape,
    n_places: usize,
    /// The row that is seen but not acted on yet.
    present: u64,
    observations: Vec<f32>,
    masks: Vec<bool>,
    actions: Vec<u32>,
    rewards: Vec<f32>,
    ends: Vec<End>,
    /// In order of their transitions.
    cuts: VecDeque<Cut>,
}

/// What a truncated episode saw last.
#[derive(Clone, Debug, PartialEq)]
struct Cut {
    transition: u64,
    observation: Box<[f32]>,
    mask: Box<[bool]>,
}

/// Where a minibatch is gathered, sample by sample.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    pub(super) observations: Vec<f32>,
    pub(super) actions: Vec<usize>,
    /// Discounted rewards until `next_observations`.
    pub(super) returns: Vec<f32>,
    /// Weight of the value of `next_observations`: 0 where the task has ended before.
    pub(super) discounts: Vec<f32>,
    pub(super) next_observations: Vec<f32>,
    /// What is legal at `next_observations`; empty where everything always is.
    pub(super) next_masks: Vec<bool>,
}

impl Samples {
    pub(super) fn clear(&mut self) {
        self.observations.clear();
        self.actions.clear();
        self.returns.clear();
        self.discounts.clear();
        self.next_observations.clear();
        self.next_masks.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.actions.len()
    }
}

impl Replay {
    /// A ring for `size` transitions, rounded down to whole rows but at least one, whose present
    /// row is `present`.
    pub(super) fn new(shape: Shape, size: usize, present: u64) -> Self {
        let n_places = (size / shape.n_lanes).max(1) + 1;
        let n_transitions = n_places * shape.n_lanes;
        let n_masks = if shape.is_masked { n_transitions } else { shape.n_lanes };
        Self {
            shape,
            n_places,
            present,
            // Zeros cost nothing before they are written over, so a ring that is never filled
            // takes only what it holds.
            observations: vec![0.0; n_transitions * shape.n_observation],
            masks: vec![!shape.is_masked; n_masks * shape.n_actions],
            actions: vec![0; n_transitions],
            rewards: vec![0.0; n_transitions],
            ends: vec![End::No; n_transitions],
            cuts: VecDeque::new(),
        }
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// The row that is seen but not acted on yet.
    pub(super) fn present(&self) -> u64 {
        self.present
    }

    /// The rows that can be learnt from.
    pub(super) fn rows(&self) -> Range<u64> {
        self.present.saturating_sub(self.n_places as u64 - 1)..self.present
    }

    /// The transitions that can be learnt from.
    pub(super) fn transitions(&self) -> Range<u64> {
        let n_lanes = self.shape.n_lanes as u64;
        let rows = self.rows();
        rows.start * n_lanes..rows.end * n_lanes
    }

    /// How many places for transitions there are, with those of the present row.
    pub(super) fn n_slots(&self) -> usize {
        self.n_places * self.shape.n_lanes
    }

    /// Which of the [`Self::n_slots`] places a transition has.
    pub(super) fn slot(&self, transition: u64) -> usize {
        (transition % self.n_slots() as u64) as usize
    }

    /// Which of them a lane's step of a row has.
    pub(super) fn slot_of(&self, row: u64, lane: usize) -> usize {
        self.slot(row * self.shape.n_lanes as u64 + lane as u64)
    }

    /// The transition in a place; the reverse of [`Self::slot`].
    pub(super) fn transition(&self, slot: usize) -> u64 {
        let oldest = self.transitions().start;
        let n_slots = self.n_slots();
        oldest + ((slot + n_slots - self.slot(oldest)) % n_slots) as u64
    }

    /// What all lanes see, and what is legal there.
    pub(super) fn seen(&self) -> (&[f32], &[bool]) {
        let first = self.slot(self.present * self.shape.n_lanes as u64);
        (&self.observations[self.seen_at(first)], &self.masks[self.legal_at(first)])
    }

    /// Where all lanes write what they see first.
    pub(super) fn seen_mut(&mut self) -> (&mut [f32], &mut [bool]) {
        self.row_mut(self.present)
    }

    /// Where all lanes write what they see next, before [`Self::advance`]. It may be the place of
    /// the oldest row, which is not needed any more: the ring has one place more than it gives.
    pub(super) fn next_mut(&mut self) -> (&mut [f32], &mut [bool]) {
        self.row_mut(self.present + 1)
    }

    fn row_mut(&mut self, row: u64) -> (&mut [f32], &mut [bool]) {
        let first = self.slot(row * self.shape.n_lanes as u64);
        let (seen, legal) = (self.seen_at(first), self.legal_at(first));
        (&mut self.observations[seen], &mut self.masks[legal])
    }

    /// The observations of the row that begins with this slot.
    fn seen_at(&self, slot: usize) -> Range<usize> {
        let width = self.shape.n_observation;
        slot * width..(slot + self.shape.n_lanes) * width
    }

    /// The masks of the row that begins with this slot. Without masks there is one row of them,
    /// for all.
    fn legal_at(&self, slot: usize) -> Range<usize> {
        let slot = if self.shape.is_masked { slot } else { 0 };
        let width = self.shape.n_actions;
        slot * width..(slot + self.shape.n_lanes) * width
    }

    /// Notes what a lane did in the present row and what came of it, or in an earlier row of
    /// [`Self::rows`] while the ring is filled again.
    pub(super) fn write(&mut self, row: u64, lane: usize, action: usize, reward: f64, end: End) {
        let slot = self.slot_of(row, lane);
        self.actions[slot] = action as u32;
        self.rewards[slot] = reward as f32;
        self.ends[slot] = end;
    }

    /// Notes what a lane saw in a row, while the ring is filled again.
    pub(super) fn write_seen(&mut self, row: u64, lane: usize, observation: &[f32], mask: &[bool]) {
        let Shape { n_observation, n_actions, .. } = self.shape;
        let (observations, masks) = self.row_mut(row);
        observations[lane * n_observation..][..n_observation].copy_from_slice(observation);
        masks[lane * n_actions..][..n_actions].copy_from_slice(mask);
    }

    /// Notes what a lane saw last in the episode that was truncated in a row.
    pub(super) fn write_cut(&mut self, row: u64, lane: usize, observation: &[f32], mask: &[bool]) {
        let transition = row * self.shape.n_lanes as u64 + lane as u64;
        let cut = Cut { transition, observation: observation.into(), mask: mask.into() };
        // At the end, except while the ring is filled again: then lanes come one after another.
        let place = self.cuts.partition_point(|earlier| earlier.transition < transition);
        self.cuts.insert(place, cut);
    }

    /// The present row has been acted on in every lane: it can be learnt from, and the next one is
    /// present.
    pub(super) fn advance(&mut self) {
        self.present += 1;
        let oldest = self.transitions().start;
        while self.cuts.front().is_some_and(|cut| cut.transition < oldest) {
            self.cuts.pop_front();
        }
    }

    /// Adds a transition to `samples`: what was seen and done, and what came of it after at most
    /// `n_steps` steps.
    pub(super) fn gather(
        &self,
        transition: u64,
        n_steps: usize,
        gamma: f32,
        samples: &mut Samples,
    ) {
        let Shape { n_lanes, n_observation, n_actions, is_masked } = self.shape;
        let (row, lane) = (transition / n_lanes as u64, transition % n_lanes as u64);
        let slot_of = |row: u64| self.slot_of(row, lane as usize);
        let seen = |slot: usize| &self.observations[slot * n_observation..][..n_observation];
        // Not beyond the present: its row is where the newest steps led to.
        let n_steps = (n_steps as u64).min(self.present - row);
        let later = (row..row + n_steps).map(|row| {
            let slot = slot_of(row);
            (self.rewards[slot], self.ends[slot])
        });
        let ahead = look_ahead(later, gamma);
        let last = row + ahead.n_steps - 1;
        samples.observations.extend_from_slice(seen(slot_of(row)));
        samples.actions.push(self.actions[slot_of(row)] as usize);
        samples.returns.push(ahead.reward);
        samples.discounts.push(ahead.discount);
        if ahead.end == End::Truncated {
            let transition = last * n_lanes as u64 + lane;
            let place = self.cuts.binary_search_by_key(&transition, |cut| cut.transition);
            let cut = &self.cuts[place.expect("every truncated end has been noted")];
            samples.next_observations.extend_from_slice(&cut.observation);
            if is_masked {
                samples.next_masks.extend_from_slice(&cut.mask);
            }
        } else {
            let slot = slot_of(last + 1);
            samples.next_observations.extend_from_slice(seen(slot));
            if is_masked {
                samples.next_masks.extend_from_slice(&self.masks[slot * n_actions..][..n_actions]);
            }
        }
    }
}

/// What comes of a step when one looks some steps ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ahead {
    /// Discounted sum of the rewards.
    pub(super) reward: f32,
    /// Weight of the value of where it led to; 0 where the task has ended.
    pub(super) discount: f32,
    /// Steps that were looked at.
    pub(super) n_steps: u64,
    /// Whether the last of them ended the episode.
    pub(super) end: End,
}

/// Looks ahead from a step, until an episode ends or there are no more steps (Sutton 1988;
/// Hessel and others 2018, "multi-step learning").
pub(super) fn look_ahead(steps: impl Iterator<Item = (f32, End)>, gamma: f32) -> Ahead {
    let mut ahead = Ahead { reward: 0.0, discount: 1.0, n_steps: 0, end: End::No };
    for (reward, end) in steps {
        ahead.reward += ahead.discount * reward;
        ahead.discount *= gamma;
        ahead.n_steps += 1;
        ahead.end = end;
        if end != End::No {
            break;
        }
    }
    if ahead.end == End::Terminated {
        ahead.discount = 0.0;
    }
    ahead
}

/// The content of a ring, for comparing: what can be learnt from, and the present.
#[cfg(test)]
impl PartialEq for Replay {
    fn eq(&self, other: &Self) -> bool {
        let row = |ring: &Self, row: u64| {
            let first = ring.slot(row * ring.shape.n_lanes as u64);
            let bits: Vec<u32> =
                ring.observations[ring.seen_at(first)].iter().map(|x| x.to_bits()).collect();
            (bits, ring.masks[ring.legal_at(first)].to_vec())
        };
        let step = |ring: &Self, transition: u64| {
            let slot = ring.slot(transition);
            (ring.actions[slot], ring.rewards[slot].to_bits(), ring.ends[slot])
        };
        (self.shape, self.n_places, self.present) == (other.shape, other.n_places, other.present)
            && self.cuts == other.cuts
            && (self.rows().start..=self.present).all(|at| row(self, at) == row(other, at))
            && self.transitions().all(|at| step(self, at) == step(other, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_ahead(steps: &[(f32, End)], expected: (f32, f32, u64, End)) {
        let (reward, discount, n_steps, end) = expected;
        let expected = Ahead { reward, discount, n_steps, end };
        assert_eq!(look_ahead(steps.iter().copied(), 0.5), expected);
    }

    #[test]
    fn looking_ahead_by_hand() {
        use End::{No, Terminated, Truncated};
        check_ahead(&[(3.0, No)], (3.0, 0.5, 1, No));
        check_ahead(&[(3.0, Terminated)], (3.0, 0.0, 1, Terminated));
        check_ahead(&[(3.0, Truncated)], (3.0, 0.5, 1, Truncated));
        // 1 + 0.5 * 2 + 0.25 * 4, and 0.125 of what follows.
        check_ahead(&[(1.0, No), (2.0, No), (4.0, No)], (3.0, 0.125, 3, No));
        check_ahead(&[(1.0, No), (2.0, Terminated), (4.0, No)], (2.0, 0.0, 2, Terminated));
        check_ahead(&[(1.0, No), (2.0, Truncated), (4.0, No)], (2.0, 0.25, 2, Truncated));
    }

    const SHAPE: Shape = Shape { n_lanes: 2, n_observation: 1, n_actions: 2, is_masked: true };

    /// Two lanes that see `10 * row + lane`, may do only what they did, do `row % 2` and get
    /// `row`. Lane 1 is truncated in row 3 after it has seen 99, and lane 0 terminated in row 4.
    fn ring(size: usize, n_rows: u64) -> Replay {
        let mut replay = Replay::new(SHAPE, size, 0);
        let see = |row: u64, lane: usize| 10.0 * row as f32 + lane as f32;
        let may = |row: u64| [row.is_multiple_of(2), !row.is_multiple_of(2)];
        let (seen, legal) = replay.seen_mut();
        seen.copy_from_slice(&[see(0, 0), see(0, 1)]);
        legal.copy_from_slice([may(0), may(0)].as_flattened());
        for row in 0..n_rows {
            let (seen, legal) = replay.next_mut();
            seen.copy_from_slice(&[see(row + 1, 0), see(row + 1, 1)]);
            legal.copy_from_slice([may(row + 1), may(row + 1)].as_flattened());
            for lane in 0..2 {
                let end = End::new(row == 4 && lane == 0, row == 3 && lane == 1);
                replay.write(row, lane, row as usize % 2, row as f64, end);
                if end == End::Truncated {
                    replay.write_cut(row, lane, &[99.0], &[true, true]);
                }
            }
            replay.advance();
        }
        replay
    }

    /// A sample: seen, done, return, discount, seen next, legal next.
    type Sample = (f32, usize, f32, f32, f32, [bool; 2]);

    #[track_caller]
    fn check_sample(replay: &Replay, row: u64, lane: u64, n_steps: usize, expected: Sample) {
        let mut samples = Samples::default();
        replay.gather(row * 2 + lane, n_steps, 0.5, &mut samples);
        let found = (
            samples.observations[0],
            samples.actions[0],
            samples.returns[0],
            samples.discounts[0],
            samples.next_observations[0],
            [samples.next_masks[0], samples.next_masks[1]],
        );
        assert_eq!(found, expected);
        assert_eq!(samples.len(), 1);
    }

    #[test]
    fn samples_by_hand() {
        let replay = ring(100, 7);
        assert_eq!(replay.transitions(), 0..14);
        check_sample(&replay, 1, 0, 1, (10.0, 1, 1.0, 0.5, 20.0, [true, false]));
        check_sample(&replay, 1, 1, 2, (11.0, 1, 2.0, 0.25, 31.0, [false, true]));
        // Truncated: what was seen last counts, not the beginning of the next episode.
        check_sample(&replay, 3, 1, 1, (31.0, 1, 3.0, 0.5, 99.0, [true, true]));
        check_sample(&replay, 2, 1, 3, (21.0, 0, 3.5, 0.25, 99.0, [true, true]));
        // Terminated: whatever is seen next weighs nothing.
        check_sample(&replay, 4, 0, 1, (40.0, 0, 4.0, 0.0, 50.0, [false, true]));
        check_sample(&replay, 3, 0, 3, (30.0, 1, 5.0, 0.0, 50.0, [false, true]));
        // Not beyond the present.
        check_sample(&replay, 5, 0, 4, (50.0, 1, 8.0, 0.25, 70.0, [false, true]));
        check_sample(&replay, 6, 1, 4, (61.0, 0, 6.0, 0.5, 71.0, [false, true]));
    }

    #[test]
    fn the_oldest_rows_are_written_over() {
        // Seven transitions are three rows of two lanes.
        let replay = ring(7, 9);
        assert_eq!((replay.rows(), replay.transitions()), (6..9, 12..18));
        assert!(replay.cuts.is_empty());
        check_sample(&replay, 6, 0, 3, (60.0, 0, 6.0 + 3.5 + 2.0, 0.125, 90.0, [false, true]));
        for transition in replay.transitions() {
            assert_eq!(replay.transition(replay.slot(transition)), transition);
        }
        let replay = ring(7, 6);
        assert_eq!(replay.cuts.len(), 1);
        check_sample(&replay, 3, 1, 1, (31.0, 1, 3.0, 0.5, 99.0, [true, true]));
    }

    #[test]
    fn a_ring_holds_at_least_a_row() {
        assert_eq!(ring(1, 5).rows(), 4..5);
        assert_eq!(ring(1, 0).rows(), 0..0);
    }
}
