//! Where a body touches a piece of ground: up to two points on a face.
//!
//! The face of least penetration is the reference; the face opposite to it is clipped against its
//! sides, and what is left within the skin are the points. A point keeps its id from step to step
//! as long as the same features touch, so that its impulses can be found again.

use super::math::{Transform, Vec2};
use super::shape::{Edge, GroundShape, MAX_CORNERS, Polygon};
use super::{ANGULAR_SLOP, SKIN};

/// The points at which a body touches a piece of ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Manifold {
    pub(crate) face: Face,
    /// Outward normal of the face, in its owner's frame.
    pub(crate) normal: Vec2,
    /// A point of the face, in its owner's frame.
    pub(crate) plane_point: Vec2,
    pub(crate) n_points: usize,
    pub(crate) points: [ManifoldPoint; 2],
}

/// Who owns the reference face; the points belong to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    Ground,
    Body,
}

/// One point of a manifold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ManifoldPoint {
    /// In the frame of the one who does not own the face.
    pub(crate) place: Vec2,
    pub(crate) id: PointId,
    pub(crate) normal_impulse: f32,
    pub(crate) tangent_impulse: f32,
}

/// Which features of the two shapes make a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PointId {
    features: [Feature; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feature {
    Corner(u8),
    Side(u8),
}

impl PointId {
    fn swapped(self) -> Self {
        let [first, second] = self.features;
        Self { features: [second, first] }
    }
}

impl Manifold {
    pub(crate) const EMPTY: Self = Self {
        face: Face::Ground,
        normal: Vec2::ZERO,
        plane_point: Vec2::ZERO,
        n_points: 0,
        points: [ManifoldPoint {
            place: Vec2::ZERO,
            id: PointId { features: [Feature::Corner(0); 2] },
            normal_impulse: 0.0,
            tangent_impulse: 0.0,
        }; 2],
    };

    pub(crate) fn points(&self) -> &[ManifoldPoint] {
        &self.points[..self.n_points]
    }

    /// The manifold now, with the impulses that its points had in this one.
    pub(crate) fn updated(
        &self,
        ground: &GroundShape,
        body: &Polygon,
        frame: Transform,
        is_ground_first: bool,
    ) -> Self {
        let mut new = match ground {
            GroundShape::Edge(edge) => edge_and_polygon(edge, body, frame),
            GroundShape::Polygon(ground) => {
                polygons((ground, Transform::NONE), (body, frame), is_ground_first)
            }
        };
        for index in 0..new.n_points {
            let point = &mut new.points[index];
            if let Some(old) = self.points().iter().find(|old| old.id == point.id) {
                point.normal_impulse = old.normal_impulse;
                point.tangent_impulse = old.tangent_impulse;
            }
        }
        new
    }

    fn push(&mut self, place: Vec2, id: PointId) {
        self.points[self.n_points] =
            ManifoldPoint { place, id, normal_impulse: 0.0, tangent_impulse: 0.0 };
        self.n_points += 1;
    }
}

/// A face must be better than the other's by so much to take its place as the reference, or
/// contacts would flicker.
fn is_better(separation: f32, than: f32) -> bool {
    separation > 0.98 * than + 0.001
}

/// A point of the face that is clipped.
#[derive(Clone, Copy)]
struct ClipPoint {
    place: Vec2,
    id: PointId,
}

/// What is left of a line on the inner side of a border; nothing unless it is still a line.
fn clip(
    [first, second]: [ClipPoint; 2],
    normal: Vec2,
    offset: f32,
    corner: usize,
) -> Option<[ClipPoint; 2]> {
    let distance1 = normal.dot(first.place) - offset;
    let distance2 = normal.dot(second.place) - offset;
    let crossing = || {
        let part = distance1 / (distance1 - distance2);
        let place = first.place + part * (second.place - first.place);
        let (Feature::Corner(of) | Feature::Side(of)) = first.id.features[1];
        let features = [Feature::Corner(corner as u8), Feature::Side(of)];
        ClipPoint { place, id: PointId { features } }
    };
    let is_crossing = distance1 * distance2 < 0.0;
    match (distance1 <= 0.0, distance2 <= 0.0) {
        (true, true) => Some([first, second]),
        (true, false) if is_crossing => Some([first, crossing()]),
        (false, true) if is_crossing => Some([second, crossing()]),
        _ => None,
    }
}

/// An edge collides from both sides, with the side on which the polygon's middle is.
fn edge_and_polygon(edge: &Edge, body: &Polygon, frame: Transform) -> Manifold {
    const RADIUS: f32 = 2.0 * SKIN;
    let mut manifold = Manifold::EMPTY;
    let [v1, v2] = edge.ends;
    let (along, _) = (v2 - v1).normalized();
    let normal1 = along.right();
    let polygon = body.transformed(frame);
    let is_front = normal1.dot(polygon.centroid - v1) >= 0.0;
    let normal = if is_front { normal1 } else { -normal1 };

    let mut edge_separation = f32::MAX;
    for &corner in polygon.corners() {
        let separation = normal.dot(corner - v1);
        if separation < edge_separation {
            edge_separation = separation;
        }
    }
    if edge_separation > RADIUS {
        return manifold;
    }
    let side = match best_side(&polygon, edge, normal) {
        Side::Separates => return manifold,
        Side::None => None,
        Side::Best(index, separation) => is_better(separation, edge_separation).then_some(index),
    };

    let incident;
    // The reference face: its two corners' numbers, its first and last point, and its normal.
    let (numbers, from, to, face_normal);
    match side {
        None => {
            // The side of the polygon most opposed to the edge.
            let (mut i1, mut best) = (0, normal.dot(polygon.normals()[0]));
            for (index, &side_normal) in polygon.normals().iter().enumerate().skip(1) {
                let value = normal.dot(side_normal);
                if value < best {
                    (i1, best) = (index, value);
                }
            }
            incident = [i1, polygon.after(i1)].map(|index| ClipPoint {
                place: polygon.corners()[index],
                id: PointId { features: [Feature::Side(0), Feature::Corner(index as u8)] },
            });
            (numbers, from, to) = if is_front { ([0, 1], v1, v2) } else { ([1, 0], v2, v1) };
            face_normal = normal;
            manifold.face = Face::Ground;
            manifold.normal = face_normal;
            manifold.plane_point = from;
        }
        Some(index) => {
            incident = [v1, v2].map(|place| ClipPoint {
                place,
                id: PointId { features: [Feature::Corner(0), Feature::Side(index as u8)] },
            });
            let next = polygon.after(index);
            (numbers, from, to) =
                ([index, next], polygon.corners()[index], polygon.corners()[next]);
            face_normal = polygon.normals()[index];
            manifold.face = Face::Body;
            manifold.normal = body.normals()[index];
            manifold.plane_point = body.corners()[index];
        }
    }

    let border = face_normal.right();
    let clipped = clip(incident, border, border.dot(from), numbers[0])
        .and_then(|line| clip(line, -border, (-border).dot(to), numbers[1]));
    for ClipPoint { place, id } in clipped.into_iter().flatten() {
        if face_normal.dot(place - from) <= RADIUS {
            match side {
                None => manifold.push(frame.undo(place), id),
                Some(_) => manifold.push(place, id.swapped()),
            }
        }
    }
    manifold
}

/// What the sides of a polygon say of an edge.
enum Side {
    /// One of them keeps the two apart.
    Separates,
    /// None of them faces the edge.
    None,
    /// The side of largest separation.
    Best(usize, f32),
}

fn best_side(polygon: &Polygon, edge: &Edge, normal: Vec2) -> Side {
    let [v1, v2] = edge.ends;
    let mut best = Side::None;
    let mut best_separation = -f32::MAX;
    for (index, (&corner, &side_normal)) in
        polygon.corners().iter().zip(polygon.normals()).enumerate()
    {
        let n = -side_normal;
        let (s1, s2) = (n.dot(corner - v1), n.dot(corner - v2));
        let separation = if s1 < s2 { s1 } else { s2 };
        if separation > 2.0 * SKIN {
            return Side::Separates;
        }
        // A side that looks away from the edge is not considered.
        if (n + normal).dot(normal) < -ANGULAR_SLOP {
            continue;
        }
        if separation > best_separation {
            best_separation = separation;
            best = Side::Best(index, separation);
        }
    }
    best
}

/// Two polygons; which of them comes first decides between nearly equal faces.
fn polygons(
    ground: (&Polygon, Transform),
    body: (&Polygon, Transform),
    is_ground_first: bool,
) -> Manifold {
    const RADIUS: f32 = 2.0 * SKIN;
    let (a, b) = if is_ground_first { (ground, body) } else { (body, ground) };
    let mut manifold = Manifold::EMPTY;
    let (side_a, separation_a) = max_separation(a, b);
    if separation_a > RADIUS {
        return manifold;
    }
    let (side_b, separation_b) = max_separation(b, a);
    if separation_b > RADIUS {
        return manifold;
    }
    let is_b = is_better(separation_b, separation_a);
    let ((reference, frame1), other, side) = if is_b { (b, a, side_b) } else { (a, b, side_a) };

    let incident = incident_side((reference, frame1), side, other);
    let next = reference.after(side);
    let (from, to) = (reference.corners()[side], reference.corners()[next]);
    let (local_along, _) = (to - from).normalized();
    let along = frame1.rotation.apply(local_along);
    let normal = along.right();
    manifold.face = if is_b == is_ground_first { Face::Body } else { Face::Ground };
    manifold.normal = local_along.right();
    manifold.plane_point = 0.5 * (from + to);
    let (from, to) = (frame1.apply(from), frame1.apply(to));
    let front = normal.dot(from);
    let (offset1, offset2) = (-along.dot(from) + RADIUS, along.dot(to) + RADIUS);
    let clipped =
        clip(incident, -along, offset1, side).and_then(|line| clip(line, along, offset2, next));
    for ClipPoint { place, id } in clipped.into_iter().flatten() {
        if normal.dot(place) - front <= RADIUS {
            manifold.push(other.1.undo(place), if is_b { id.swapped() } else { id });
        }
    }
    manifold
}

/// The side of the first polygon that is farthest from the second, found by climbing from the
/// side that looks towards it.
fn max_separation(first: (&Polygon, Transform), second: (&Polygon, Transform)) -> (usize, f32) {
    let ((polygon1, frame1), (polygon2, frame2)) = (first, second);
    let between = frame2.apply(polygon2.centroid) - frame1.apply(polygon1.centroid);
    let between = frame1.rotation.undo(between);
    let (mut side, mut best) = (0, -f32::MAX);
    for (index, normal) in polygon1.normals().iter().enumerate() {
        let value = normal.dot(between);
        if value > best {
            (side, best) = (index, value);
        }
    }
    let separation_of = |side: usize| side_separation(first, side, second);
    let (before, after) = (polygon1.before(side), polygon1.after(side));
    let here = separation_of(side);
    let (at_before, at_after) = (separation_of(before), separation_of(after));
    let (mut side, mut best, is_backward) = if at_before > here && at_before > at_after {
        (before, at_before, true)
    } else if at_after > here {
        (after, at_after, false)
    } else {
        return (side, here);
    };
    loop {
        let next = if is_backward { polygon1.before(side) } else { polygon1.after(side) };
        let separation = separation_of(next);
        if separation <= best {
            return (side, best);
        }
        (side, best) = (next, separation);
    }
}

/// How far the second polygon is from a side of the first.
fn side_separation(
    (polygon1, frame1): (&Polygon, Transform),
    side: usize,
    (polygon2, frame2): (&Polygon, Transform),
) -> f32 {
    let normal = frame1.rotation.apply(polygon1.normals()[side]);
    let local_normal = frame2.rotation.undo(normal);
    let (mut deepest, mut least) = (0, f32::MAX);
    for (index, corner) in polygon2.corners().iter().enumerate() {
        let value = corner.dot(local_normal);
        if value < least {
            (deepest, least) = (index, value);
        }
    }
    let from = frame1.apply(polygon1.corners()[side]);
    let to = frame2.apply(polygon2.corners()[deepest]);
    (to - from).dot(normal)
}

/// The side of the second polygon most opposed to a side of the first, in the world.
fn incident_side(
    (polygon1, frame1): (&Polygon, Transform),
    side: usize,
    (polygon2, frame2): (&Polygon, Transform),
) -> [ClipPoint; 2] {
    let normal = frame2.rotation.undo(frame1.rotation.apply(polygon1.normals()[side]));
    let (mut i1, mut least) = (0, f32::MAX);
    for (index, &side_normal) in polygon2.normals().iter().enumerate() {
        let value = normal.dot(side_normal);
        if value < least {
            (i1, least) = (index, value);
        }
    }
    [i1, polygon2.after(i1)].map(|index| ClipPoint {
        place: frame2.apply(polygon2.corners()[index]),
        id: PointId { features: [Feature::Side(side as u8), Feature::Corner(index as u8)] },
    })
}

const _: () = assert!(MAX_CORNERS <= u8::MAX as usize, "corners are numbered by a byte");

#[cfg(test)]
mod tests;
