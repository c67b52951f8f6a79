//! The distance between two convex shapes (Gilbert, Johnson and Keerthi 1988).
//!
//! A simplex of up to three points of the difference of the shapes closes in on the origin. The
//! simplex that was found is kept and the next search begins with it.

use super::math::{Transform, Vec2};

/// A convex shape in a place: its corners and their frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed<'a> {
    pub(crate) corners: &'a [Vec2],
    pub(crate) frame: Transform,
}

impl Placed<'_> {
    /// The corner farthest along `direction`, which is in the shape's own frame.
    pub(crate) fn support(corners: &[Vec2], direction: Vec2) -> usize {
        let (mut best, mut best_value) = (0, corners[0].dot(direction));
        for (index, corner) in corners.iter().enumerate().skip(1) {
            let value = corner.dot(direction);
            if value > best_value {
                (best, best_value) = (index, value);
            }
        }
        best
    }
}

/// The simplex that a search ended with, for the next one to begin with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cache {
    /// Length or area of the simplex.
    metric: f32,
    n_points: usize,
    /// Corners of the first and the second shape.
    indices: [[usize; 2]; 3],
}

impl Cache {
    /// The pairs of corners in the simplex.
    pub(crate) fn indices(&self) -> &[[usize; 2]] {
        &self.indices[..self.n_points]
    }
}

/// A corner of the simplex: the difference of two points of the shapes.
#[derive(Clone, Copy, Debug)]
struct Corner {
    indices: [usize; 2],
    on_first: Vec2,
    on_second: Vec2,
    difference: Vec2,
    /// Its part in the closest point.
    weight: f32,
}

#[derive(Clone, Copy, Debug)]
struct Simplex {
    n_corners: usize,
    corners: [Corner; 3],
}

/// The distance between the bare shapes, without their skins. `cache` begins the search and is
/// replaced.
pub(crate) fn distance(first: Placed<'_>, second: Placed<'_>, cache: &mut Cache) -> f32 {
    const MAX_ITERATIONS: usize = 20;
    let mut simplex = Simplex::read(cache, first, second);
    for _ in 0..MAX_ITERATIONS {
        let before = simplex;
        match simplex.n_corners {
            1 => {}
            2 => simplex.solve2(),
            _ => simplex.solve3(),
        }
        if simplex.n_corners == 3 {
            // The origin is inside.
            break;
        }
        let direction = simplex.search_direction();
        if direction.length_squared() < f32::EPSILON * f32::EPSILON {
            break;
        }
        let indices = [
            Placed::support(first.corners, first.frame.rotation.undo(-direction)),
            Placed::support(second.corners, second.frame.rotation.undo(direction)),
        ];
        let corner = Corner::new(indices, first, second);
        simplex.corners[simplex.n_corners] = corner;
        // The same corner again means that no better one exists.
        if before.corners[..before.n_corners].iter().any(|old| old.indices == indices) {
            break;
        }
        simplex.n_corners += 1;
    }
    *cache = simplex.write();
    simplex.distance()
}

impl Corner {
    fn new(indices: [usize; 2], first: Placed<'_>, second: Placed<'_>) -> Self {
        let on_first = first.frame.apply(first.corners[indices[0]]);
        let on_second = second.frame.apply(second.corners[indices[1]]);
        Self { indices, on_first, on_second, difference: on_second - on_first, weight: 1.0 }
    }
}

impl Simplex {
    fn read(cache: &Cache, first: Placed<'_>, second: Placed<'_>) -> Self {
        let start = Corner::new([0, 0], first, second);
        let mut simplex = Self { n_corners: cache.n_points, corners: [start; 3] };
        for (corner, &indices) in simplex.corners.iter_mut().zip(cache.indices()) {
            *corner = Corner::new(indices, first, second);
        }
        if simplex.n_corners > 1 {
            let (old, new) = (cache.metric, simplex.metric());
            if new < 0.5 * old || 2.0 * old < new || new < f32::EPSILON {
                simplex.n_corners = 0;
            }
        }
        if simplex.n_corners == 0 {
            simplex.corners[0] = start;
            simplex.n_corners = 1;
        }
        simplex
    }

    fn write(&self) -> Cache {
        Cache {
            metric: self.metric(),
            n_points: self.n_corners,
            indices: self.corners.map(|corner| corner.indices),
        }
    }

    fn metric(&self) -> f32 {
        let [a, b, c] = self.corners.map(|corner| corner.difference);
        match self.n_corners {
            1 => 0.0,
            2 => (a - b).length(),
            _ => (b - a).cross(c - a),
        }
    }

    fn search_direction(&self) -> Vec2 {
        let [a, b, _] = self.corners.map(|corner| corner.difference);
        if self.n_corners == 1 {
            return -a;
        }
        let side = b - a;
        if side.cross(-a) > 0.0 { side.left() } else { side.right() }
    }

    /// The distance between the two closest points.
    fn distance(&self) -> f32 {
        let [a, b, _] = self.corners;
        match self.n_corners {
            1 => (a.on_first - a.on_second).length(),
            2 => {
                let on_first = a.weight * a.on_first + b.weight * b.on_first;
                let on_second = a.weight * a.on_second + b.weight * b.on_second;
                (on_first - on_second).length()
            }
            _ => 0.0,
        }
    }

    /// Keeps the given corners with their weights.
    fn keep<const N: usize>(&mut self, kept: [(usize, f32); N]) {
        let corners = self.corners;
        for (place, (index, weight)) in kept.into_iter().enumerate() {
            self.corners[place] = Corner { weight, ..corners[index] };
        }
        self.n_corners = N;
    }

    /// Keeps what is nearest to the origin of a line.
    fn solve2(&mut self) {
        let [w1, w2, _] = self.corners.map(|corner| corner.difference);
        let side = w2 - w1;
        let d2 = -w1.dot(side);
        if d2 <= 0.0 {
            return self.keep([(0, 1.0)]);
        }
        let d1 = w2.dot(side);
        if d1 <= 0.0 {
            return self.keep([(1, 1.0)]);
        }
        let inverse = 1.0 / (d1 + d2);
        self.keep([(0, d1 * inverse), (1, d2 * inverse)]);
    }

    /// Keeps what is nearest to the origin of a triangle.
    fn solve3(&mut self) {
        let [w1, w2, w3] = self.corners.map(|corner| corner.difference);
        let (e12, e13, e23) = (w2 - w1, w3 - w1, w3 - w2);
        let (d12_1, d12_2) = (w2.dot(e12), -w1.dot(e12));
        let (d13_1, d13_2) = (w3.dot(e13), -w1.dot(e13));
        let (d23_1, d23_2) = (w3.dot(e23), -w2.dot(e23));
        let area = e12.cross(e13);
        let d123 = [area * w2.cross(w3), area * w3.cross(w1), area * w1.cross(w2)];
        if d12_2 <= 0.0 && d13_2 <= 0.0 {
            return self.keep([(0, 1.0)]);
        }
        if d12_1 > 0.0 && d12_2 > 0.0 && d123[2] <= 0.0 {
            let inverse = 1.0 / (d12_1 + d12_2);
            return self.keep([(0, d12_1 * inverse), (1, d12_2 * inverse)]);
        }
        if d13_1 > 0.0 && d13_2 > 0.0 && d123[1] <= 0.0 {
            let inverse = 1.0 / (d13_1 + d13_2);
            return self.keep([(0, d13_1 * inverse), (2, d13_2 * inverse)]);
        }
        if d12_1 <= 0.0 && d23_2 <= 0.0 {
            return self.keep([(1, 1.0)]);
        }
        if d13_1 <= 0.0 && d23_1 <= 0.0 {
            return self.keep([(2, 1.0)]);
        }
        if d23_1 > 0.0 && d23_2 > 0.0 && d123[0] <= 0.0 {
            let inverse = 1.0 / (d23_1 + d23_2);
            return self.keep([(2, d23_2 * inverse), (1, d23_1 * inverse)]);
        }
        let inverse = 1.0 / (d123[0] + d123[1] + d123[2]);
        self.keep([(0, d123[0] * inverse), (1, d123[1] * inverse), (2, d123[2] * inverse)]);
    }
}

#[cfg(test)]
mod tests;
