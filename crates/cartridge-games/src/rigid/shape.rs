//! The shapes of things: convex polygons for what moves, polygons and edges for the ground.

use super::SKIN;
use super::math::{Bounds, Transform, Vec2, vec2};

/// The largest number of corners.
pub(crate) const MAX_CORNERS: usize = 8;

/// A convex polygon, in its own frame, counter-clockwise.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Polygon {
    n_corners: usize,
    corners: [Vec2; MAX_CORNERS],
    /// Outward, one per side; side `i` begins at corner `i`.
    normals: [Vec2; MAX_CORNERS],
    pub(crate) centroid: Vec2,
}

/// A line from a first to a second point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Edge {
    pub(crate) ends: [Vec2; 2],
}

/// A piece of ground.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GroundShape {
    Edge(Edge),
    Polygon(Polygon),
}

/// Mass, centre of mass and moment of inertia about the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mass {
    pub(crate) mass: f32,
    pub(crate) center: Vec2,
    pub(crate) inertia: f32,
}

const THIRD: f32 = 1.0 / 3.0;

impl Polygon {
    /// The convex hull of `points`, found by gift wrapping from the rightmost one.
    pub(crate) fn hull(points: &[Vec2]) -> Self {
        assert!((3..=MAX_CORNERS).contains(&points.len()), "a polygon has 3 to 8 corners");
        let mut first = 0;
        for (index, point) in points.iter().enumerate() {
            let best = points[first];
            if point.x > best.x || (point.x == best.x && point.y < best.y) {
                first = index;
            }
        }
        let (mut corners, mut n_corners) = ([Vec2::ZERO; MAX_CORNERS], 0);
        let mut last = first;
        loop {
            corners[n_corners] = points[last];
            n_corners += 1;
            let mut next = 0;
            for candidate in 1..points.len() {
                if next == last {
                    next = candidate;
                    continue;
                }
                let best = points[next] - points[last];
                let other = points[candidate] - points[last];
                let turn = best.cross(other);
                let is_farther = other.length_squared() > best.length_squared();
                if turn < 0.0 || (turn == 0.0 && is_farther) {
                    next = candidate;
                }
            }
            last = next;
            if last == first {
                break;
            }
        }
        let mut normals = [Vec2::ZERO; MAX_CORNERS];
        for index in 0..n_corners {
            let side = corners[(index + 1) % n_corners] - corners[index];
            normals[index] = side.right().normalized().0;
        }
        let centroid = centroid(&corners[..n_corners]);
        Self { n_corners, corners, normals, centroid }
    }

    /// An upright box around the origin.
    pub(crate) fn rectangle(half_width: f32, half_height: f32) -> Self {
        let (x, y) = (half_width, half_height);
        let fill = |points: [Vec2; 4]| {
            let mut all = [Vec2::ZERO; MAX_CORNERS];
            all[..4].copy_from_slice(&points);
            all
        };
        Self {
            n_corners: 4,
            corners: fill([vec2(-x, -y), vec2(x, -y), vec2(x, y), vec2(-x, y)]),
            normals: fill([vec2(0.0, -1.0), vec2(1.0, 0.0), vec2(0.0, 1.0), vec2(-1.0, 0.0)]),
            centroid: Vec2::ZERO,
        }
    }

    #[inline(always)]
    pub(crate) fn corners(&self) -> &[Vec2] {
        &self.corners[..self.n_corners]
    }

    #[inline(always)]
    pub(crate) fn normals(&self) -> &[Vec2] {
        &self.normals[..self.n_corners]
    }

    /// The corner, and side, after `index`.
    #[inline(always)]
    pub(crate) fn after(&self, index: usize) -> usize {
        if index + 1 < self.n_corners { index + 1 } else { 0 }
    }

    /// The corner, and side, before `index`.
    pub(crate) fn before(&self, index: usize) -> usize {
        if index > 0 { index - 1 } else { self.n_corners - 1 }
    }

    /// The same polygon seen from the frame into which `frame` leads.
    pub(crate) fn transformed(&self, frame: Transform) -> Self {
        let mut moved = self.clone();
        for index in 0..self.n_corners {
            moved.corners[index] = frame.apply(self.corners[index]);
            moved.normals[index] = frame.rotation.apply(self.normals[index]);
        }
        moved.centroid = frame.apply(self.centroid);
        moved
    }

    /// The upright rectangle around the polygon and its skin.
    pub(crate) fn bounds(&self, frame: Transform) -> Bounds {
        let first = frame.apply(self.corners[0]);
        let mut bounds = Bounds { low: first, high: first };
        for &corner in &self.corners()[1..] {
            let corner = frame.apply(corner);
            bounds = Bounds { low: bounds.low.min(corner), high: bounds.high.max(corner) };
        }
        bounds.grown(SKIN)
    }

    pub(crate) fn mass(&self, density: f32) -> Mass {
        let corners = self.corners();
        let mut origin = Vec2::ZERO;
        for &corner in corners {
            origin += corner;
        }
        origin = (1.0 / corners.len() as f32) * origin;
        let (mut center, mut area, mut inertia) = (Vec2::ZERO, 0.0, 0.0);
        for index in 0..corners.len() {
            let (e1, e2) = (corners[index] - origin, corners[self.after(index)] - origin);
            let double_area = e1.cross(e2);
            let triangle = 0.5 * double_area;
            area += triangle;
            center += (triangle * THIRD) * (e1 + e2);
            let x = e1.x * e1.x + e2.x * e1.x + e2.x * e2.x;
            let y = e1.y * e1.y + e2.y * e1.y + e2.y * e2.y;
            inertia += (0.25 * THIRD * double_area) * (x + y);
        }
        let mass = density * area;
        center = (1.0 / area) * center;
        let from_origin = center + origin;
        let shift = mass * (from_origin.dot(from_origin) - center.dot(center));
        Mass { mass, center: from_origin, inertia: density * inertia + shift }
    }

    /// The part of the way from `from` to `to`, up to `limit`, after which a ray enters.
    fn cast(&self, from: Vec2, to: Vec2, limit: f32) -> Option<f32> {
        let direction = to - from;
        let (mut enter, mut exit, mut is_hit) = (0.0, limit, false);
        for (&normal, &corner) in self.normals().iter().zip(self.corners()) {
            let numerator = normal.dot(corner - from);
            let denominator = normal.dot(direction);
            if denominator == 0.0 {
                if numerator < 0.0 {
                    return None;
                }
            } else if denominator < 0.0 && numerator < enter * denominator {
                enter = numerator / denominator;
                is_hit = true;
            } else if denominator > 0.0 && numerator < exit * denominator {
                exit = numerator / denominator;
            }
            if exit < enter {
                return None;
            }
        }
        is_hit.then_some(enter)
    }
}

fn centroid(corners: &[Vec2]) -> Vec2 {
    let (mut sum, mut area) = (Vec2::ZERO, 0.0);
    for index in 0..corners.len() {
        let (p2, p3) = (corners[index], corners[(index + 1) % corners.len()]);
        let triangle = 0.5 * p2.cross(p3);
        area += triangle;
        sum += (triangle * THIRD) * (p2 + p3);
    }
    (1.0 / area) * sum
}

impl Edge {
    fn bounds(&self) -> Bounds {
        let [a, b] = self.ends;
        Bounds { low: a.min(b), high: a.max(b) }.grown(SKIN)
    }

    fn cast(&self, from: Vec2, to: Vec2, limit: f32) -> Option<f32> {
        let direction = to - from;
        let [a, b] = self.ends;
        let along = b - a;
        let (normal, _) = along.right().normalized();
        let numerator = normal.dot(a - from);
        let denominator = normal.dot(direction);
        if denominator == 0.0 {
            return None;
        }
        let part = numerator / denominator;
        if part < 0.0 || limit < part {
            return None;
        }
        let hit = from + part * direction;
        let length_squared = along.dot(along);
        if length_squared == 0.0 {
            return None;
        }
        let place = (hit - a).dot(along) / length_squared;
        (0.0..=1.0).contains(&place).then_some(part)
    }
}

impl GroundShape {
    /// The upright rectangle around the shape and its skin.
    pub(crate) fn bounds(&self) -> Bounds {
        match self {
            Self::Edge(edge) => edge.bounds(),
            Self::Polygon(polygon) => polygon.bounds(Transform::NONE),
        }
    }

    /// The points whose convex hull it is.
    #[inline(always)]
    pub(crate) fn corners(&self) -> &[Vec2] {
        match self {
            Self::Edge(edge) => &edge.ends,
            Self::Polygon(polygon) => polygon.corners(),
        }
    }

    /// The part of the way from `from` to `to`, up to `limit`, after which a ray hits.
    pub(crate) fn cast(&self, from: Vec2, to: Vec2, limit: f32) -> Option<f32> {
        match self {
            Self::Edge(edge) => edge.cast(from, to, limit),
            Self::Polygon(polygon) => polygon.cast(from, to, limit),
        }
    }
}

#[cfg(test)]
mod tests;
