//! A pin that holds two bodies together at a point and lets them turn: with a motor that drives
//! the turn and limits that end it.

use super::island::BodyState;
use super::math::{Rotation, Vec2, clamp, spin, vec2};
use super::{ANGULAR_SLOP, LINEAR_SLOP, MAX_ANGULAR_CORRECTION};

/// What a joint is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct JointSpec {
    /// Numbers of the two bodies.
    pub(crate) bodies: [usize; 2],
    /// The pin in the frame of each body.
    pub(crate) anchors: [Vec2; 2],
    /// Difference of the bodies' angles at which the joint's angle is zero.
    pub(crate) reference_angle: f32,
    pub(crate) lower: f32,
    pub(crate) upper: f32,
    pub(crate) motor_speed: f32,
    pub(crate) max_torque: f32,
}

/// A joint in a world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Joint {
    pub(crate) spec: JointSpec,
    pub(crate) limit: Limit,
    /// Impulses of the last step: of the pin, of the limit, and of the motor.
    pub(crate) pin_impulse: Vec2,
    pub(crate) limit_impulse: f32,
    pub(crate) motor_impulse: f32,
}

/// Which limit the joint is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Free,
    Lower,
    Upper,
}

/// A joint prepared for the iterations of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct JointConstraint {
    pub(crate) bodies: [usize; 2],
    /// The pin from each body's centre of mass, in its frame.
    pub(crate) local_arms: [Vec2; 2],
    /// The same turned to the world, at the beginning of the step.
    pub(crate) arms: [Vec2; 2],
    pub(crate) mass: JointMass,
    /// One over the sum of the inverse inertias.
    pub(crate) motor_mass: f32,
    pub(crate) motor_speed: f32,
    pub(crate) max_motor_impulse: f32,
    pub(crate) reference_angle: f32,
    pub(crate) lower: f32,
    pub(crate) upper: f32,
    pub(crate) limit: Limit,
    pub(crate) pin_impulse: Vec2,
    pub(crate) limit_impulse: f32,
    pub(crate) motor_impulse: f32,
}

/// The symmetric 3×3 matrix from impulses to changes of velocity, and what its inverse needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct JointMass {
    pub(crate) xx: f32,
    pub(crate) xy: f32,
    pub(crate) yy: f32,
    pub(crate) xz: f32,
    pub(crate) yz: f32,
    pub(crate) zz: f32,
    /// The cross product of the second and third column.
    pub(crate) cross: [f32; 3],
    /// One over the determinant, of all three rows and of the first two.
    pub(crate) inverse3: f32,
    pub(crate) inverse2: f32,
}

impl JointMass {
    fn new([a, b]: [&BodyState; 2], [ra, rb]: [Vec2; 2]) -> Self {
        let (ma, mb) = (a.inverse_mass, b.inverse_mass);
        let (ia, ib) = (a.inverse_inertia, b.inverse_inertia);
        let xx = ma + mb + ra.y * ra.y * ia + rb.y * rb.y * ib;
        let xy = -ra.y * ra.x * ia - rb.y * rb.x * ib;
        let xz = -ra.y * ia - rb.y * ib;
        let yy = ma + mb + ra.x * ra.x * ia + rb.x * rb.x * ib;
        let yz = ra.x * ia + rb.x * ib;
        let zz = ia + ib;
        let cross = [yy * zz - yz * yz, yz * xz - xy * zz, xy * yz - yy * xz];
        let determinant3 = xx * cross[0] + xy * cross[1] + xz * cross[2];
        let determinant2 = xx * yy - xy * xy;
        let (inverse3, inverse2) = (inverse(determinant3), inverse(determinant2));
        Self { xx, xy, yy, xz, yz, zz, cross, inverse3, inverse2 }
    }

    #[inline(always)]
    fn solve2(&self, b: Vec2) -> Vec2 {
        vec2(
            self.inverse2 * (self.yy * b.x - self.xy * b.y),
            self.inverse2 * (self.xx * b.y - self.xy * b.x),
        )
    }

    #[inline(always)]
    fn solve3(&self, b: Vec2, bz: f32) -> (Vec2, f32) {
        let Self { xx, xy, yy, xz, yz, zz, cross, inverse3, .. } = *self;
        // The columns are (xx, xy, xz), (xy, yy, yz) and (xz, yz, zz).
        let x = inverse3 * (b.x * cross[0] + b.y * cross[1] + bz * cross[2]);
        let by_third = [b.y * zz - bz * yz, bz * xz - b.x * zz, b.x * yz - b.y * xz];
        let y = inverse3 * (xx * by_third[0] + xy * by_third[1] + xz * by_third[2]);
        let second_by = [yy * bz - yz * b.y, yz * b.x - xy * bz, xy * b.y - yy * b.x];
        let z = inverse3 * (xx * second_by[0] + xy * second_by[1] + xz * second_by[2]);
        (vec2(x, y), z)
    }
}

/// One over `x`, and zero for zero.
fn inverse(x: f32) -> f32 {
    if x != 0.0 { 1.0 / x } else { x }
}

impl Joint {
    pub(crate) fn new(spec: JointSpec) -> Self {
        assert!(spec.upper - spec.lower >= 2.0 * ANGULAR_SLOP, "limits leave room to turn");
        Self {
            spec,
            limit: Limit::Free,
            pin_impulse: Vec2::ZERO,
            limit_impulse: 0.0,
            motor_impulse: 0.0,
        }
    }

    /// Prepares the joint and applies the impulses of the last step again, times `warmth`.
    pub(crate) fn prepare(
        &mut self,
        states: &mut [BodyState],
        rotations: [Rotation; 2],
        step_s: f32,
        warmth: f32,
    ) -> JointConstraint {
        let JointSpec { bodies, anchors, reference_angle, lower, upper, .. } = self.spec;
        let [a, b] = bodies.map(|body| &states[body]);
        let local_arms = [anchors[0] - a.local_center, anchors[1] - b.local_center];
        let arms = [rotations[0].apply(local_arms[0]), rotations[1].apply(local_arms[1])];
        let mass = JointMass::new([a, b], arms);

        let angle = b.angle - a.angle - reference_angle;
        let limit = if angle <= lower {
            Limit::Lower
        } else if angle >= upper {
            Limit::Upper
        } else {
            Limit::Free
        };
        if limit != self.limit || limit == Limit::Free {
            self.limit_impulse = 0.0;
        }
        self.limit = limit;

        let mut joint = JointConstraint {
            bodies,
            local_arms,
            arms,
            mass,
            motor_mass: if mass.zz > 0.0 { 1.0 / mass.zz } else { mass.zz },
            motor_speed: self.spec.motor_speed,
            max_motor_impulse: step_s * self.spec.max_torque,
            reference_angle,
            lower,
            upper,
            limit,
            pin_impulse: warmth * self.pin_impulse,
            limit_impulse: self.limit_impulse * warmth,
            motor_impulse: self.motor_impulse * warmth,
        };
        joint.warm_start(states);
        joint
    }

    /// Keeps the impulses for the next step.
    pub(crate) fn store(&mut self, constraint: &JointConstraint) {
        self.pin_impulse = constraint.pin_impulse;
        self.limit_impulse = constraint.limit_impulse;
        self.motor_impulse = constraint.motor_impulse;
    }
}

impl JointConstraint {
    fn warm_start(&mut self, states: &mut [BodyState]) {
        let [ra, rb] = self.arms;
        let pin = self.pin_impulse;
        let a = &mut states[self.bodies[0]];
        a.velocity -= a.inverse_mass * pin;
        a.angular_velocity -=
            a.inverse_inertia * (ra.cross(pin) + self.motor_impulse + self.limit_impulse);
        let b = &mut states[self.bodies[1]];
        b.velocity += b.inverse_mass * pin;
        b.angular_velocity +=
            b.inverse_inertia * (rb.cross(pin) + self.motor_impulse + self.limit_impulse);
    }

    /// Corrects the velocities: first the motor, then pin and limit together.
    #[inline(always)]
    pub(crate) fn solve_velocity(&mut self, states: &mut [BodyState]) {
        let [ra, rb] = self.arms;
        let (mut a, mut b) = (states[self.bodies[0]], states[self.bodies[1]]);
        let (ia, ib) = (a.inverse_inertia, b.inverse_inertia);

        let excess = b.angular_velocity - a.angular_velocity - self.motor_speed;
        let before = self.motor_impulse;
        let limit = self.max_motor_impulse;
        self.motor_impulse = clamp(before + -self.motor_mass * excess, -limit, limit);
        let impulse = self.motor_impulse - before;
        a.angular_velocity -= ia * impulse;
        b.angular_velocity += ib * impulse;

        let slip =
            b.velocity + spin(b.angular_velocity, rb) - a.velocity - spin(a.angular_velocity, ra);
        let pin;
        if self.limit == Limit::Free {
            pin = self.mass.solve2(-slip);
            self.pin_impulse += pin;
            a.angular_velocity -= ia * ra.cross(pin);
            b.angular_velocity += ib * rb.cross(pin);
        } else {
            let turn = b.angular_velocity - a.angular_velocity;
            let (mut pin3, mut z) = self.mass.solve3(slip, turn);
            (pin3, z) = (-pin3, -z);
            let sum = self.limit_impulse + z;
            let pulls = match self.limit {
                Limit::Lower => sum < 0.0,
                _ => sum > 0.0,
            };
            if pulls {
                // A limit only pushes: let go of it and solve for the pin alone.
                let rest = -slip + self.limit_impulse * vec2(self.mass.xz, self.mass.yz);
                pin3 = self.mass.solve2(rest);
                z = -self.limit_impulse;
                self.limit_impulse = 0.0;
            } else {
                self.limit_impulse += z;
            }
            pin = pin3;
            self.pin_impulse += pin;
            a.angular_velocity -= ia * (ra.cross(pin) + z);
            b.angular_velocity += ib * (rb.cross(pin) + z);
        }
        a.velocity -= a.inverse_mass * pin;
        b.velocity += b.inverse_mass * pin;
        states[self.bodies[0]] = a;
        states[self.bodies[1]] = b;
    }

    /// Corrects the positions; true when they were good enough before.
    pub(crate) fn solve_position(&self, states: &mut [BodyState]) -> bool {
        let (mut a, mut b) = (states[self.bodies[0]], states[self.bodies[1]]);
        let (ma, mb) = (a.inverse_mass, b.inverse_mass);
        let (ia, ib) = (a.inverse_inertia, b.inverse_inertia);

        let mut angular_error = 0.0;
        if self.limit != Limit::Free {
            let angle = b.angle - a.angle - self.reference_angle;
            let correction = if self.limit == Limit::Lower {
                let excess = angle - self.lower;
                angular_error = -excess;
                clamp(excess + ANGULAR_SLOP, -MAX_ANGULAR_CORRECTION, 0.0)
            } else {
                let excess = angle - self.upper;
                angular_error = excess;
                clamp(excess - ANGULAR_SLOP, 0.0, MAX_ANGULAR_CORRECTION)
            };
            let impulse = -self.motor_mass * correction;
            a.angle -= ia * impulse;
            b.angle += ib * impulse;
        }

        let ra = Rotation::new(a.angle).apply(self.local_arms[0]);
        let rb = Rotation::new(b.angle).apply(self.local_arms[1]);
        let gap = b.center + rb - a.center - ra;
        let linear_error = gap.length();
        let xx = ma + mb + ia * ra.y * ra.y + ib * rb.y * rb.y;
        let xy = -ia * ra.x * ra.y - ib * rb.x * rb.y;
        let yy = ma + mb + ia * ra.x * ra.x + ib * rb.x * rb.x;
        let inverse = inverse(xx * yy - xy * xy);
        let impulse =
            -vec2(inverse * (yy * gap.x - xy * gap.y), inverse * (xx * gap.y - xy * gap.x));
        a.center -= ma * impulse;
        a.angle -= ia * ra.cross(impulse);
        b.center += mb * impulse;
        b.angle += ib * rb.cross(impulse);
        states[self.bodies[0]] = a;
        states[self.bodies[1]] = b;
        linear_error <= LINEAR_SLOP && angular_error <= ANGULAR_SLOP
    }
}
