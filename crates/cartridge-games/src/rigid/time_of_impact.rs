//! When, during a step, two convex shapes first come as near as they may.
//!
//! Conservative advancement along separating axes: the closest features at the present time give
//! an axis, on which the deepest points are followed until they are at the target distance; there
//! the closest features are found anew.

use super::distance::{Cache, Placed, distance};
use super::math::{Sweep, Transform, Vec2, max};
use super::{LINEAR_SLOP, SKIN};

/// A convex shape that moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moving<'a> {
    pub(crate) corners: &'a [Vec2],
    pub(crate) sweep: Sweep,
}

impl Moving<'_> {
    fn at(&self, time: f32) -> Placed<'_> {
        Placed { corners: self.corners, frame: self.sweep.at(time) }
    }
}

const MAX_ITERATIONS: usize = 20;
const MAX_ROOT_ITERATIONS: usize = 50;
const MAX_PUSH_BACKS: usize = 16;

/// The part of the way at which the shapes touch; none when they stay apart, overlap already, or
/// the search fails.
pub(crate) fn time_of_impact(mut first: Moving<'_>, mut second: Moving<'_>) -> Option<f32> {
    const TOTAL_SKIN: f32 = SKIN + SKIN;
    // Large angles would make the root finder fail.
    first.sweep = first.sweep.normalized();
    second.sweep = second.sweep.normalized();
    let target = max(LINEAR_SLOP, TOTAL_SKIN - 3.0 * LINEAR_SLOP);
    let tolerance = 0.25 * LINEAR_SLOP;

    let mut t1 = 0.0;
    let mut cache = Cache::default();
    for _ in 0..MAX_ITERATIONS {
        let (at_first, at_second) = (first.at(t1), second.at(t1));
        let gap = distance(at_first, at_second, &mut cache);
        if gap <= 0.0 {
            return None;
        }
        if gap < target + tolerance {
            return Some(t1);
        }
        let axis = Axis::new(&cache, at_first, at_second);
        let mut t2 = 1.0;
        for _ in 0..MAX_PUSH_BACKS {
            let (mut s2, indices) = axis.least_separation(&first, &second, t2);
            if s2 > target + tolerance {
                return None;
            }
            if s2 > target - tolerance {
                t1 = t2;
                break;
            }
            let mut s1 = axis.separation(&first, &second, indices, t1);
            if s1 < target - tolerance {
                return None;
            }
            if s1 <= target + tolerance {
                return Some(t1);
            }
            // Secant and bisection take turns at finding where the separation is the target.
            let (mut a1, mut a2) = (t1, t2);
            for iteration in 0..MAX_ROOT_ITERATIONS {
                let t = if iteration % 2 == 1 {
                    a1 + (target - s1) * (a2 - a1) / (s2 - s1)
                } else {
                    0.5 * (a1 + a2)
                };
                let s = axis.separation(&first, &second, indices, t);
                if (s - target).abs() < tolerance {
                    t2 = t;
                    break;
                }
                if s > target {
                    (a1, s1) = (t, s);
                } else {
                    (a2, s2) = (t, s);
                }
            }
        }
    }
    None
}

/// A direction in which two shapes are apart, and what carries it.
enum Axis {
    /// From a corner to a corner, in the world.
    Corners(Vec2),
    /// The normal of a side of the first shape and a point of the side, both in its frame.
    FirstSide { normal: Vec2, point: Vec2 },
    /// The same of the second shape.
    SecondSide { normal: Vec2, point: Vec2 },
}

impl Axis {
    fn new(cache: &Cache, first: Placed<'_>, second: Placed<'_>) -> Self {
        let (corner1, corner2) = (|i: usize| first.corners[i], |i: usize| second.corners[i]);
        match *cache.indices() {
            [[i, j]] => {
                let between = second.frame.apply(corner2(j)) - first.frame.apply(corner1(i));
                Self::Corners(between.normalized().0)
            }
            [[i, j1], [also_i, j2], ..] if i == also_i => {
                let (normal, point) = side(corner2(j1), corner2(j2));
                let outward = second.frame.rotation.apply(normal);
                let to = first.frame.apply(corner1(i));
                let from = second.frame.apply(point);
                let is_inward = (to - from).dot(outward) < 0.0;
                Self::SecondSide { normal: if is_inward { -normal } else { normal }, point }
            }
            [[i1, j], [i2, _], ..] => {
                let (normal, point) = side(corner1(i1), corner1(i2));
                let outward = first.frame.rotation.apply(normal);
                let to = second.frame.apply(corner2(j));
                let from = first.frame.apply(point);
                let is_inward = (to - from).dot(outward) < 0.0;
                Self::FirstSide { normal: if is_inward { -normal } else { normal }, point }
            }
            [] => unreachable!("a search for the distance leaves at least one corner"),
        }
    }

    /// The least separation along the axis at a time, and the corners that have it.
    fn least_separation(
        &self,
        first: &Moving<'_>,
        second: &Moving<'_>,
        time: f32,
    ) -> (f32, [usize; 2]) {
        let (frame1, frame2) = (first.sweep.at(time), second.sweep.at(time));
        let support1 = |along: Vec2| Placed::support(first.corners, frame1.rotation.undo(along));
        let support2 = |along: Vec2| Placed::support(second.corners, frame2.rotation.undo(along));
        let indices = match *self {
            Self::Corners(axis) => [support1(axis), support2(-axis)],
            Self::FirstSide { normal, .. } => [0, support2(-frame1.rotation.apply(normal))],
            Self::SecondSide { normal, .. } => [support1(-frame2.rotation.apply(normal)), 0],
        };
        (self.measure((first, frame1), (second, frame2), indices), indices)
    }

    /// The separation of two corners along the axis at a time.
    fn separation(
        &self,
        first: &Moving<'_>,
        second: &Moving<'_>,
        indices: [usize; 2],
        time: f32,
    ) -> f32 {
        self.measure((first, first.sweep.at(time)), (second, second.sweep.at(time)), indices)
    }

    fn measure(
        &self,
        (first, frame1): (&Moving<'_>, Transform),
        (second, frame2): (&Moving<'_>, Transform),
        [i, j]: [usize; 2],
    ) -> f32 {
        match *self {
            Self::Corners(axis) => {
                (frame2.apply(second.corners[j]) - frame1.apply(first.corners[i])).dot(axis)
            }
            Self::FirstSide { normal, point } => {
                let corner = frame2.apply(second.corners[j]);
                (corner - frame1.apply(point)).dot(frame1.rotation.apply(normal))
            }
            Self::SecondSide { normal, point } => {
                let corner = frame1.apply(first.corners[i]);
                (corner - frame2.apply(point)).dot(frame2.rotation.apply(normal))
            }
        }
    }
}

/// The normal of the side between two corners, and its middle.
fn side(from: Vec2, to: Vec2) -> (Vec2, Vec2) {
    ((to - from).right().normalized().0, 0.5 * (from + to))
}

#[cfg(test)]
mod tests;
