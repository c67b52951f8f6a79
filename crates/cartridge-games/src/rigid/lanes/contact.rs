//! Contacts, one world per lane.

use super::body::{LaneBody, rotate};
use super::{Active, LaneVec, Lanes, Mask, WIDTH, ZERO, mask, select, select2};
use crate::rigid::contact::{ContactConstraint, ContactPoint, Surface};
use crate::rigid::manifold::Face;
use crate::rigid::math::{Vec2, clamp, max, min, spin, vec2};
use crate::rigid::{BAUMGARTE, LINEAR_SLOP, MAX_LINEAR_CORRECTION, SKIN};

#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct LaneContact {
    /// Lanes that have this contact, and those where it has two points.
    pub(super) is_there: Mask,
    pub(super) is_double: Mask,
    pub(super) points: Points,
    pub(super) friction: Lanes,
    pub(super) normal: LaneVec,
    pub(super) arms: [LaneVec; 2],
    pub(super) normal_impulse: [Lanes; 2],
    pub(super) tangent_impulse: [Lanes; 2],
    pub(super) normal_mass: [Lanes; 2],
    pub(super) tangent_mass: [Lanes; 2],
    pub(super) block: [Lanes; 3],
    pub(super) inverse_block: [Lanes; 3],
    pub(super) surface: LaneSurface,
}

/// How many points a contact has, over all lanes that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Points {
    One,
    Two,
    Mixed,
}

#[derive(Clone, Debug)]
pub(super) struct LaneSurface {
    pub(super) is_body_face: Mask,
    /// Lanes that have the first point, and the second.
    pub(super) has_point: [Mask; 2],
    pub(super) normal: LaneVec,
    pub(super) plane_point: LaneVec,
    pub(super) places: [LaneVec; 2],
}

impl LaneContact {
    pub(super) const ZERO: Self = Self {
        is_there: [0; WIDTH],
        is_double: [0; WIDTH],
        points: Points::Mixed,
        friction: ZERO,
        normal: LaneVec::ZERO,
        arms: [LaneVec::ZERO; 2],
        normal_impulse: [ZERO; 2],
        tangent_impulse: [ZERO; 2],
        normal_mass: [ZERO; 2],
        tangent_mass: [ZERO; 2],
        block: [ZERO; 3],
        inverse_block: [ZERO; 3],
        surface: LaneSurface {
            is_body_face: [0; WIDTH],
            has_point: [[0; WIDTH]; 2],
            normal: LaneVec::ZERO,
            plane_point: LaneVec::ZERO,
            places: [LaneVec::ZERO; 2],
        },
    };

    /// Takes the contact away from all lanes. What is left of its numbers is not used.
    pub(super) fn clear(&mut self) {
        self.is_there = [0; WIDTH];
        self.is_double = [0; WIDTH];
        self.surface.has_point = [[0; WIDTH]; 2];
    }

    pub(super) fn load(&mut self, lane: usize, contact: &ContactConstraint) {
        self.is_there[lane] = u32::MAX;
        self.is_double[lane] = mask(contact.n_points == 2);
        self.friction[lane] = contact.friction;
        self.normal.set(lane, contact.normal);
        for (index, point) in contact.points.iter().enumerate() {
            let ContactPoint { arm, normal_impulse, tangent_impulse, normal_mass, tangent_mass } =
                *point;
            self.arms[index].set(lane, arm);
            self.normal_impulse[index][lane] = normal_impulse;
            self.tangent_impulse[index][lane] = tangent_impulse;
            self.normal_mass[index][lane] = normal_mass;
            self.tangent_mass[index][lane] = tangent_mass;
        }
        for (lanes, block) in
            [(&mut self.block, contact.block), (&mut self.inverse_block, contact.inverse_block)]
        {
            lanes[0][lane] = block.xx;
            lanes[1][lane] = block.xy;
            lanes[2][lane] = block.yy;
        }
        self.surface.load(lane, &contact.surface);
    }

    pub(super) fn count_points(&mut self) {
        self.points = if self.is_double == [0; WIDTH] {
            Points::One
        } else if self.is_double == self.is_there {
            Points::Two
        } else {
            Points::Mixed
        };
    }

    #[inline(always)]
    pub(super) fn solve_velocity<const HAS_ONE: bool, const HAS_TWO: bool>(
        &mut self,
        body: &mut LaneBody,
    ) {
        for lane in 0..WIDTH {
            let (mass, inertia) = (body.inverse_mass[lane], body.inverse_inertia[lane]);
            let (mut v, mut w) = (body.velocity.get(lane), body.angular_velocity[lane]);
            let normal = self.normal.get(lane);
            let tangent = normal.right();
            let (r1, r2) = (self.arms[0].get(lane), self.arms[1].get(lane));
            let (n1, n2) = (self.normal_impulse[0][lane], self.normal_impulse[1][lane]);
            let is_double = self.is_double[lane];
            let friction = self.friction[lane];

            let slip = (v + spin(w, r1)).dot(tangent);
            let most = friction * n1;
            let before = self.tangent_impulse[0][lane];
            let after = clamp(before + self.tangent_mass[0][lane] * -slip, -most, most);
            let impulse = (after - before) * tangent;
            v += mass * impulse;
            w += inertia * r1.cross(impulse);
            self.tangent_impulse[0][lane] = after;
            if HAS_TWO {
                let slip = (v + spin(w, r2)).dot(tangent);
                let most = friction * n2;
                let before = self.tangent_impulse[1][lane];
                let after = clamp(before + self.tangent_mass[1][lane] * -slip, -most, most);
                let impulse = (after - before) * tangent;
                let v2 = v + mass * impulse;
                let w2 = w + inertia * r2.cross(impulse);
                if HAS_ONE {
                    self.tangent_impulse[1][lane] = select(is_double, after, before);
                    v = select2(is_double, v2, v);
                    w = select(is_double, w2, w);
                } else {
                    self.tangent_impulse[1][lane] = after;
                    (v, w) = (v2, w2);
                }
            }

            // One point.
            let (mut v1, mut w1, mut after1) = (v, w, n1);
            if HAS_ONE {
                let approach = (v + spin(w, r1)).dot(normal);
                after1 = max(n1 + -self.normal_mass[0][lane] * approach, 0.0);
                let impulse = (after1 - n1) * normal;
                v1 = v + mass * impulse;
                w1 = w + inertia * r1.cross(impulse);
            }
            // Two points: both hold, only the first, only the second, or neither.
            let (mut v2, mut w2, mut after2) = (v, w, vec2(n1, n2));
            if HAS_TWO {
                let before = vec2(n1, n2);
                let approach = vec2((v + spin(w, r1)).dot(normal), (v + spin(w, r2)).dot(normal));
                let [xx, xy, yy] = [0, 1, 2].map(|part: usize| self.block[part][lane]);
                let rest =
                    approach - vec2(xx * before.x + xy * before.y, xy * before.x + yy * before.y);
                let [ixx, ixy, iyy] = [0, 1, 2].map(|part: usize| self.inverse_block[part][lane]);
                let both = -vec2(ixx * rest.x + ixy * rest.y, ixy * rest.x + iyy * rest.y);
                let first = -self.normal_mass[0][lane] * rest.x;
                let second = -self.normal_mass[1][lane] * rest.y;
                let is_both = mask(both.x >= 0.0) & mask(both.y >= 0.0);
                let is_first = mask(first >= 0.0) & mask(xy * first + rest.y >= 0.0);
                let is_second = mask(second >= 0.0) & mask(xy * second + rest.x >= 0.0);
                let is_neither = mask(rest.x >= 0.0) & mask(rest.y >= 0.0);
                let mut chosen = select2(is_neither, Vec2::ZERO, before);
                chosen = select2(is_second, vec2(0.0, second), chosen);
                chosen = select2(is_first, vec2(first, 0.0), chosen);
                chosen = select2(is_both, both, chosen);
                let is_solved = is_both | is_first | is_second | is_neither;
                let change = chosen - before;
                let (push1, push2) = (change.x * normal, change.y * normal);
                let turn = r1.cross(push1) + r2.cross(push2);
                v2 = select2(is_solved, v + mass * (push1 + push2), v);
                w2 = select(is_solved, w + inertia * turn, w);
                after2 = chosen;
            }
            let is_double = match (HAS_ONE, HAS_TWO) {
                (true, false) => 0,
                (false, true) => u32::MAX,
                _ => is_double,
            };
            self.normal_impulse[0][lane] = select(is_double, after2.x, after1);
            if HAS_TWO {
                self.normal_impulse[1][lane] = select(is_double, after2.y, n2);
            }
            let is_there = self.is_there[lane];
            let v = select2(is_double, v2, v1);
            let w = select(is_double, w2, w1);
            body.velocity.set(lane, select2(is_there, v, body.velocity.get(lane)));
            body.angular_velocity[lane] = select(is_there, w, body.angular_velocity[lane]);
        }
    }
}

impl LaneSurface {
    pub(super) fn load(&mut self, lane: usize, surface: &Surface) {
        self.is_body_face[lane] = mask(surface.face == Face::Body);
        self.normal.set(lane, surface.normal);
        self.plane_point.set(lane, surface.plane_point);
        for index in 0..2 {
            self.has_point[index][lane] = mask(index < surface.n_points);
            self.places[index].set(lane, surface.places[index]);
        }
    }

    /// Whether any active lane has the point.
    #[inline(always)]
    pub(super) fn has_point<const INDEX: usize>(&self, active: &Active) -> bool {
        (0..WIDTH).fold(0, |any, lane| any | (self.has_point[INDEX][lane] & active.lanes[lane]))
            != 0
    }

    #[inline(always)]
    pub(super) fn solve_position<const INDEX: usize>(
        &self,
        body: &mut LaneBody,
        active: &mut Active,
    ) {
        let (sin, cos) = LaneBody::rotation(&body.angle);
        for lane in 0..WIDTH {
            let (sin, cos) = (sin[lane], cos[lane]);
            let center = body.center.get(lane);
            let position = center - rotate(sin, cos, body.local_center.get(lane));
            let is_body_face = self.is_body_face[lane];
            // Of plane and point one belongs to the body and moves, the other to the ground.
            let (plane, place) = (self.plane_point.get(lane), self.places[INDEX].get(lane));
            let moving = rotate(sin, cos, select2(is_body_face, plane, place)) + position;
            let fixed = select2(is_body_face, place, plane);
            let normal = self.normal.get(lane);
            let normal = select2(is_body_face, -rotate(sin, cos, normal), normal);
            let point = select2(is_body_face, fixed, moving);
            let separation = (moving - fixed).dot(normal) - SKIN - SKIN;

            let arm = point - center;
            let correction =
                clamp(BAUMGARTE * (separation + LINEAR_SLOP), -MAX_LINEAR_CORRECTION, 0.0);
            let lever = arm.cross(normal);
            let (mass, inertia) = (body.inverse_mass[lane], body.inverse_inertia[lane]);
            let stiffness = mass + inertia * lever * lever;
            let impulse = select(mask(stiffness > 0.0), -correction / stiffness, 0.0);
            let push = impulse * normal;
            let is_there = self.has_point[INDEX][lane] & active.lanes[lane];
            let least = active.least[lane];
            active.least[lane] = select(is_there, min(least, separation), least);
            body.center.set(lane, select2(is_there, center + mass * push, center));
            let angle = body.angle[lane];
            body.angle[lane] = select(is_there, angle + inertia * arm.cross(push), angle);
        }
    }
}
