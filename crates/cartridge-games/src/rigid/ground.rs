//! What does not move: pieces of ground, found by where they are.
//!
//! The ground is much longer than high, so its pieces are kept in the order of their left ends.

use super::SKIN;
use super::math::{Bounds, Vec2};
use super::shape::GroundShape;

/// Rectangles grow by this on every side, so that a small move changes nothing.
pub(crate) const MARGIN: f32 = 0.1;

/// All pieces of ground.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ground {
    pieces: Vec<Piece>,
    /// For each part, the part of the step to which it has been advanced.
    times: Vec<f32>,
    /// Numbers of the pieces, ordered by the left ends of their wide rectangles, and these ends.
    order: Vec<u32>,
    lefts: Vec<f32>,
    /// Width of the widest piece.
    widest: f32,
}

/// A piece of ground.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) shape: GroundShape,
    pub(crate) friction: f32,
    /// Pieces of one part share their time within a step.
    pub(crate) part: usize,
    /// Number of its leaf.
    pub(crate) leaf: u32,
    /// The rectangle around it and its skin.
    bounds: Bounds,
    /// The same with its margin.
    pub(crate) wide_bounds: Bounds,
}

impl Piece {
    pub(crate) fn new(shape: GroundShape, friction: f32, part: usize) -> Self {
        let bounds = shape.bounds();
        Self { shape, friction, part, leaf: 0, bounds, wide_bounds: bounds.grown(MARGIN) }
    }

    /// The rectangle around it without its skin.
    pub(crate) fn bare_bounds(&self) -> Bounds {
        self.bounds.grown(-SKIN)
    }
}

impl Ground {
    pub(crate) fn clear(&mut self) {
        self.pieces.clear();
        self.times.clear();
        self.order.clear();
    }

    /// Adds a part, to which pieces can be added, and returns its number.
    pub(crate) fn add_part(&mut self) -> usize {
        self.times.push(0.0);
        self.times.len() - 1
    }

    pub(crate) fn add_piece(&mut self, piece: Piece) {
        self.pieces.push(piece);
        self.order.clear();
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    pub(crate) fn piece(&self, number: usize) -> &Piece {
        &self.pieces[number]
    }

    /// The part of the step to which a part of the ground has been advanced.
    pub(crate) fn time_mut(&mut self, part: usize) -> &mut f32 {
        &mut self.times[part]
    }

    pub(crate) fn begin_step(&mut self) {
        self.times.fill(0.0);
    }

    /// Puts the pieces into order, if there are new ones.
    pub(crate) fn sort(&mut self) {
        if !self.order.is_empty() {
            return;
        }
        let Self { pieces, order, lefts, widest, .. } = self;
        let left = |number: u32| pieces[number as usize].wide_bounds.low.x;
        // As much room as the pieces have, which the next ground may need.
        order.reserve(pieces.capacity());
        order.extend(0..pieces.len() as u32);
        order.sort_unstable_by(|&a, &b| left(a).total_cmp(&left(b)));
        lefts.clear();
        lefts.reserve(pieces.capacity());
        lefts.extend(order.iter().map(|&number| left(number)));
        let widths = pieces.iter().map(|piece| piece.wide_bounds.high.x - piece.wide_bounds.low.x);
        *widest = widths.fold(0.0, f32::max);
    }

    /// The place in the order before which every piece ends left of `x`.
    fn first_from(&self, x: f32) -> usize {
        // A little more than the width, because the difference is rounded.
        let left = x - 1.001 * self.widest;
        self.lefts.partition_point(|&other| other < left)
    }

    /// Visits the number of every piece whose wide rectangle overlaps `bounds`.
    pub(crate) fn query(&self, bounds: Bounds, mut visit: impl FnMut(usize)) {
        for place in self.first_from(bounds.low.x)..self.order.len() {
            if self.lefts[place] > bounds.high.x {
                break;
            }
            let number = self.order[place] as usize;
            if self.pieces[number].wide_bounds.overlaps(bounds) {
                visit(number);
            }
        }
    }

    /// For rays that all begin at `from` and do not lead to the left, the part of the way to each
    /// end after which it hits ground; 1 where it does not.
    pub(crate) fn cast<const N: usize>(&self, from: Vec2, ends: [Vec2; N]) -> [f32; N] {
        let first = self.first_from(from.x);
        ends.map(|to| {
            let mut nearest = 1.0;
            let mut right = to.x;
            for place in first..self.order.len() {
                // What begins to the right of the hit is beyond it.
                if self.lefts[place] > right {
                    break;
                }
                let shape = &self.pieces[self.order[place] as usize].shape;
                if let Some(part) = shape.cast(from, to, nearest) {
                    nearest = part;
                    right = from.x + part * (to.x - from.x);
                }
            }
            nearest
        })
    }
}

#[cfg(test)]
mod tests;
