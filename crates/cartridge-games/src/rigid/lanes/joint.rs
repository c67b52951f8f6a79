//! Joints, one world per lane.

use super::body::{LaneBody, rotate};
use super::{Active, LaneVec, Lanes, Mask, WIDTH, ZERO, mask, select, select2};
use crate::rigid::joint::{JointConstraint, Limit};
use crate::rigid::math::{Vec2, clamp, spin, vec2};
use crate::rigid::{ANGULAR_SLOP, LINEAR_SLOP, MAX_ANGULAR_CORRECTION};

#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct LaneJoint {
    pub(super) bodies: [usize; 2],
    /// Whether any lane is at a limit.
    pub(super) has_limits: bool,
    pub(super) is_limited: Mask,
    pub(super) is_lower: Mask,
    pub(super) arms: [LaneVec; 2],
    pub(super) xx: Lanes,
    pub(super) xy: Lanes,
    pub(super) yy: Lanes,
    pub(super) xz: Lanes,
    pub(super) yz: Lanes,
    pub(super) zz: Lanes,
    pub(super) cross: [Lanes; 3],
    pub(super) inverse3: Lanes,
    pub(super) inverse2: Lanes,
    pub(super) motor_mass: Lanes,
    pub(super) motor_speed: Lanes,
    pub(super) max_motor_impulse: Lanes,
    pub(super) pin_impulse: LaneVec,
    pub(super) limit_impulse: Lanes,
    pub(super) motor_impulse: Lanes,
    pub(super) local_arms: [LaneVec; 2],
    pub(super) reference_angle: Lanes,
    pub(super) lower: Lanes,
    pub(super) upper: Lanes,
}

impl LaneJoint {
    pub(super) fn new(constraint: &JointConstraint) -> Self {
        Self {
            bodies: constraint.bodies,
            has_limits: false,
            is_limited: [0; WIDTH],
            is_lower: [0; WIDTH],
            arms: [LaneVec::ZERO; 2],
            xx: ZERO,
            xy: ZERO,
            yy: ZERO,
            xz: ZERO,
            yz: ZERO,
            zz: ZERO,
            cross: [ZERO; 3],
            inverse3: ZERO,
            inverse2: ZERO,
            motor_mass: ZERO,
            motor_speed: ZERO,
            max_motor_impulse: ZERO,
            pin_impulse: LaneVec::ZERO,
            limit_impulse: ZERO,
            motor_impulse: ZERO,
            local_arms: [LaneVec::ZERO; 2],
            reference_angle: ZERO,
            lower: ZERO,
            upper: ZERO,
        }
    }

    pub(super) fn load(&mut self, lane: usize, joint: &JointConstraint) {
        assert_eq!(self.bodies, joint.bodies, "islands are of one make");
        self.has_limits |= joint.limit != Limit::Free;
        self.is_limited[lane] = mask(joint.limit != Limit::Free);
        self.is_lower[lane] = mask(joint.limit == Limit::Lower);
        for end in 0..2 {
            self.arms[end].set(lane, joint.arms[end]);
            self.local_arms[end].set(lane, joint.local_arms[end]);
        }
        self.xx[lane] = joint.mass.xx;
        self.xy[lane] = joint.mass.xy;
        self.yy[lane] = joint.mass.yy;
        self.xz[lane] = joint.mass.xz;
        self.yz[lane] = joint.mass.yz;
        self.zz[lane] = joint.mass.zz;
        for part in 0..3 {
            self.cross[part][lane] = joint.mass.cross[part];
        }
        self.inverse3[lane] = joint.mass.inverse3;
        self.inverse2[lane] = joint.mass.inverse2;
        self.motor_mass[lane] = joint.motor_mass;
        self.motor_speed[lane] = joint.motor_speed;
        self.max_motor_impulse[lane] = joint.max_motor_impulse;
        self.pin_impulse.set(lane, joint.pin_impulse);
        self.limit_impulse[lane] = joint.limit_impulse;
        self.motor_impulse[lane] = joint.motor_impulse;
        self.reference_angle[lane] = joint.reference_angle;
        self.lower[lane] = joint.lower;
        self.upper[lane] = joint.upper;
    }

    #[inline(always)]
    pub(super) fn solve_velocity<const HAS_LIMITS: bool>(
        &mut self,
        a: &mut LaneBody,
        b: &mut LaneBody,
    ) {
        for lane in 0..WIDTH {
            let (ma, mb) = (a.inverse_mass[lane], b.inverse_mass[lane]);
            let (ia, ib) = (a.inverse_inertia[lane], b.inverse_inertia[lane]);
            let (ra, rb) = (self.arms[0].get(lane), self.arms[1].get(lane));
            let (mut va, mut vb) = (a.velocity.get(lane), b.velocity.get(lane));
            let (mut wa, mut wb) = (a.angular_velocity[lane], b.angular_velocity[lane]);

            let excess = wb - wa - self.motor_speed[lane];
            let before = self.motor_impulse[lane];
            let most = self.max_motor_impulse[lane];
            let after = clamp(before + -self.motor_mass[lane] * excess, -most, most);
            let impulse = after - before;
            wa -= ia * impulse;
            wb += ib * impulse;
            self.motor_impulse[lane] = after;

            let slip = vb + spin(wb, rb) - va - spin(wa, ra);
            let (xx, xy, yy) = (self.xx[lane], self.xy[lane], self.yy[lane]);
            let inverse2 = self.inverse2[lane];
            let mut rest = -slip;
            let mut pin = Vec2::ZERO;
            let mut z = 0.0;
            let mut is_pinned = 0;
            if HAS_LIMITS {
                let (xz, yz, zz) = (self.xz[lane], self.yz[lane], self.zz[lane]);
                let inverse3 = self.inverse3[lane];
                let cross = [0, 1, 2].map(|part: usize| self.cross[part][lane]);
                let turn = wb - wa;
                let x = inverse3 * (slip.x * cross[0] + slip.y * cross[1] + turn * cross[2]);
                let y = inverse3
                    * (xx * (slip.y * zz - turn * yz)
                        + xy * (turn * xz - slip.x * zz)
                        + xz * (slip.x * yz - slip.y * xz));
                z = -(inverse3
                    * (xx * (yy * turn - yz * slip.y)
                        + xy * (yz * slip.x - xy * turn)
                        + xz * (xy * slip.y - yy * slip.x)));
                pin = vec2(-x, -y);
                let limit = self.limit_impulse[lane];
                let sum = limit + z;
                let is_lower = self.is_lower[lane] != 0;
                let pulls = if is_lower { sum < 0.0 } else { sum > 0.0 };
                let is_limited = self.is_limited[lane];
                // Where the limit holds, the three-fold solution is it.
                is_pinned = is_limited & mask(!pulls);
                let lets_go = is_limited & mask(pulls);
                rest = select2(lets_go, rest + limit * vec2(xz, yz), rest);
                z = select(is_pinned, z, -limit);
                self.limit_impulse[lane] = select(is_limited, select(is_pinned, sum, 0.0), limit);
            }
            let free = vec2(
                inverse2 * (yy * rest.x - xy * rest.y),
                inverse2 * (xx * rest.y - xy * rest.x),
            );
            pin = if HAS_LIMITS { select2(is_pinned, pin, free) } else { free };
            self.pin_impulse.set(lane, self.pin_impulse.get(lane) + pin);
            let (mut turn_a, mut turn_b) = (ra.cross(pin), rb.cross(pin));
            if HAS_LIMITS {
                let is_limited = self.is_limited[lane];
                turn_a = select(is_limited, turn_a + z, turn_a);
                turn_b = select(is_limited, turn_b + z, turn_b);
            }
            wa -= ia * turn_a;
            wb += ib * turn_b;
            va -= ma * pin;
            vb += mb * pin;
            a.velocity.set(lane, va);
            b.velocity.set(lane, vb);
            a.angular_velocity[lane] = wa;
            b.angular_velocity[lane] = wb;
        }
    }

    #[inline(always)]
    pub(super) fn solve_position(&self, a: &mut LaneBody, b: &mut LaneBody, active: &mut Active) {
        let (mut angle_a, mut angle_b, mut error) = (ZERO, ZERO, ZERO);
        for lane in 0..WIDTH {
            let (aa, ab) = (a.angle[lane], b.angle[lane]);
            let angle = ab - aa - self.reference_angle[lane];
            let (below, above) = (angle - self.lower[lane], angle - self.upper[lane]);
            let at_lower = clamp(below + ANGULAR_SLOP, -MAX_ANGULAR_CORRECTION, 0.0);
            let at_upper = clamp(above - ANGULAR_SLOP, 0.0, MAX_ANGULAR_CORRECTION);
            let is_lower = self.is_lower[lane];
            let correction = select(is_lower, at_lower, at_upper);
            let impulse = -self.motor_mass[lane] * correction;
            let is_limited = self.is_limited[lane];
            error[lane] = select(is_limited, select(is_lower, -below, above), 0.0);
            angle_a[lane] = select(is_limited, aa - a.inverse_inertia[lane] * impulse, aa);
            angle_b[lane] = select(is_limited, ab + b.inverse_inertia[lane] * impulse, ab);
        }
        let (sin_a, cos_a) = LaneBody::rotation(&angle_a);
        let (sin_b, cos_b) = LaneBody::rotation(&angle_b);
        for lane in 0..WIDTH {
            let (ma, mb) = (a.inverse_mass[lane], b.inverse_mass[lane]);
            let (ia, ib) = (a.inverse_inertia[lane], b.inverse_inertia[lane]);
            let ra = rotate(sin_a[lane], cos_a[lane], self.local_arms[0].get(lane));
            let rb = rotate(sin_b[lane], cos_b[lane], self.local_arms[1].get(lane));
            let (ca, cb) = (a.center.get(lane), b.center.get(lane));
            let gap = cb + rb - ca - ra;
            let linear_error = gap.length();
            let xx = ma + mb + ia * ra.y * ra.y + ib * rb.y * rb.y;
            let xy = -ia * ra.x * ra.y - ib * rb.x * rb.y;
            let yy = ma + mb + ia * ra.x * ra.x + ib * rb.x * rb.x;
            let determinant = xx * yy - xy * xy;
            let inverse = select(mask(determinant != 0.0), 1.0 / determinant, determinant);
            let impulse =
                -vec2(inverse * (yy * gap.x - xy * gap.y), inverse * (xx * gap.y - xy * gap.x));
            let is_active = active.lanes[lane];
            a.center.set(lane, select2(is_active, ca - ma * impulse, ca));
            b.center.set(lane, select2(is_active, cb + mb * impulse, cb));
            let (aa, ab) = (angle_a[lane], angle_b[lane]);
            a.angle[lane] = select(is_active, aa - ia * ra.cross(impulse), a.angle[lane]);
            b.angle[lane] = select(is_active, ab + ib * rb.cross(impulse), b.angle[lane]);
            let is_fine = mask(linear_error <= LINEAR_SLOP) & mask(error[lane] <= ANGULAR_SLOP);
            active.is_good[lane] &= is_fine;
        }
    }
}
