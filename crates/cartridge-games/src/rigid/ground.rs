//! What does not move: pieces of ground, found by where they are.
//!
//! The ground is much longer than high, so it is cut into columns, each with the pieces in it.

use super::SKIN;
use super::math::{Bounds, Vec2};
use super::shape::GroundShape;

/// Rectangles grow by this on every side, so that a small move changes nothing.
pub(crate) const MARGIN: f32 = 0.1;
/// m.
const COLUMN_WIDTH: f32 = 0.5;

/// All pieces of ground.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ground {
    pieces: Vec<Piece>,
    /// For each part, the part of the step to which it has been advanced.
    times: Vec<f32>,
    /// Left end of the first column.
    left: f32,
    /// Where in `members` each column begins, and where the last one ends.
    starts: Vec<u32>,
    /// Numbers of the pieces, column after column.
    members: Vec<u32>,
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
        self.starts.clear();
    }

    /// Adds a part, to which pieces can be added, and returns its number.
    pub(crate) fn add_part(&mut self) -> usize {
        self.times.push(0.0);
        self.times.len() - 1
    }

    pub(crate) fn add_piece(&mut self, piece: Piece) {
        self.pieces.push(piece);
        self.starts.clear();
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

    /// Sorts the pieces into columns, if there are new ones.
    pub(crate) fn sort(&mut self) {
        if !self.starts.is_empty() || self.pieces.is_empty() {
            return;
        }
        let edges = |of: fn(f32, f32) -> f32, first: f32, side: fn(&Piece) -> f32| {
            self.pieces.iter().map(side).fold(first, of)
        };
        self.left = edges(f32::min, f32::MAX, |piece| piece.wide_bounds.low.x);
        let right = edges(f32::max, f32::MIN, |piece| piece.wide_bounds.high.x);
        let n_columns = ((right - self.left) / COLUMN_WIDTH) as usize + 1;
        // Count, then sum up, then fill from the end, so that every start ends where it belongs.
        self.starts.resize(n_columns + 1, 0);
        for piece in &self.pieces {
            for column in self.columns(piece.wide_bounds, n_columns) {
                self.starts[column] += 1;
            }
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.members.resize(sum as usize, 0);
        for (number, piece) in self.pieces.iter().enumerate().rev() {
            for column in self.columns(piece.wide_bounds, n_columns) {
                self.starts[column] -= 1;
                self.members[self.starts[column] as usize] = number as u32;
            }
        }
    }

    /// Visits the number of every piece whose wide rectangle overlaps `bounds`, some twice.
    pub(crate) fn query(&self, bounds: Bounds, mut visit: impl FnMut(usize)) {
        for column in self.columns(bounds, self.n_columns()) {
            for &number in self.members_of(column) {
                if self.pieces[number as usize].wide_bounds.overlaps(bounds) {
                    visit(number as usize);
                }
            }
        }
    }

    /// The part of the way from `from` to `to` after which a ray hits ground; 1 if it does not.
    pub(crate) fn cast(&self, from: Vec2, to: Vec2) -> f32 {
        let mut nearest = 1.0;
        let bounds = Bounds { low: from.min(to), high: from.max(to) };
        let columns = self.columns(bounds, self.n_columns());
        let is_rightward = from.x <= to.x;
        let n_columns = columns.len();
        for place in 0..n_columns {
            let column = if is_rightward { columns.start + place } else { columns.end - 1 - place };
            for &number in self.members_of(column) {
                if let Some(part) = self.pieces[number as usize].shape.cast(from, to, nearest) {
                    nearest = part;
                }
            }
            // What is in the columns after this one alone is beyond the hit.
            let hit = from.x + nearest * (to.x - from.x);
            let is_past = if is_rightward {
                hit < self.left + (column + 1) as f32 * COLUMN_WIDTH
            } else {
                hit > self.left + column as f32 * COLUMN_WIDTH
            };
            if nearest < 1.0 && is_past {
                break;
            }
        }
        nearest
    }

    fn n_columns(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The columns in which something between two ends may be.
    fn columns(&self, bounds: Bounds, n_columns: usize) -> std::ops::Range<usize> {
        if n_columns == 0 {
            return 0..0;
        }
        // A float beyond the range of integers becomes the nearest one.
        let column = |x: f32| (((x - self.left) / COLUMN_WIDTH) as usize).min(n_columns - 1);
        column(bounds.low.x)..column(bounds.high.x) + 1
    }

    fn members_of(&self, column: usize) -> &[u32] {
        &self.members[self.starts[column] as usize..self.starts[column + 1] as usize]
    }
}

#[cfg(test)]
mod tests;
