//! Plane vectors, rotations, transforms and sweeps.
//!
//! Floating-point sums depend on their order, so every expression here is written in the order of
//! the published method, and nothing is fused.

use std::f32::consts::PI;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use super::trigonometry::sin_cos;

/// A vector, or a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Vec2 {
    pub(crate) x: f32,
    pub(crate) y: f32,
}

/// A vector from its parts.
pub(crate) const fn vec2(x: f32, y: f32) -> Vec2 {
    Vec2 { x, y }
}

impl Vec2 {
    pub(crate) const ZERO: Self = vec2(0.0, 0.0);

    #[inline(always)]
    pub(crate) fn dot(self, other: Self) -> f32 {
        self.x * other.x + self.y * other.y
    }

    /// The third part of the cross product in space.
    #[inline(always)]
    pub(crate) fn cross(self, other: Self) -> f32 {
        self.x * other.y - self.y * other.x
    }

    /// Turned by a quarter to the right.
    #[inline(always)]
    pub(crate) fn right(self) -> Self {
        vec2(self.y, -self.x)
    }

    /// Turned by a quarter to the left.
    #[inline(always)]
    pub(crate) fn left(self) -> Self {
        vec2(-self.y, self.x)
    }

    pub(crate) fn length_squared(self) -> f32 {
        self.x * self.x + self.y * self.y
    }

    pub(crate) fn length(self) -> f32 {
        self.length_squared().sqrt()
    }

    /// The vector of length one in this direction, and the length; very short vectors stay.
    pub(crate) fn normalized(self) -> (Self, f32) {
        let length = self.length();
        if length < f32::EPSILON {
            return (self, 0.0);
        }
        let inverse = 1.0 / length;
        (vec2(self.x * inverse, self.y * inverse), length)
    }

    pub(crate) fn min(self, other: Self) -> Self {
        vec2(min(self.x, other.x), min(self.y, other.y))
    }

    pub(crate) fn max(self, other: Self) -> Self {
        vec2(max(self.x, other.x), max(self.y, other.y))
    }

    pub(crate) fn abs(self) -> Self {
        vec2(self.x.abs(), self.y.abs())
    }
}

/// The velocity at `arm` of a body that spins with `angular_velocity`.
#[inline(always)]
pub(crate) fn spin(angular_velocity: f32, arm: Vec2) -> Vec2 {
    vec2(-angular_velocity * arm.y, angular_velocity * arm.x)
}

impl Add for Vec2 {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        vec2(self.x + other.x, self.y + other.y)
    }
}

impl Sub for Vec2 {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        vec2(self.x - other.x, self.y - other.y)
    }
}

impl Neg for Vec2 {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        vec2(-self.x, -self.y)
    }
}

impl Mul<Vec2> for f32 {
    type Output = Vec2;

    #[inline(always)]
    fn mul(self, vector: Vec2) -> Vec2 {
        vec2(self * vector.x, self * vector.y)
    }
}

impl AddAssign for Vec2 {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Vec2 {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// The smaller one; the second when neither is. `f32::min` differs in the sign of zero.
#[inline(always)]
pub(crate) fn min(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// The larger one; the second when neither is.
#[inline(always)]
pub(crate) fn max(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[inline(always)]
pub(crate) fn clamp(x: f32, low: f32, high: f32) -> f32 {
    max(low, min(x, high))
}

/// A rotation, as sine and cosine of its angle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rotation {
    pub(crate) sin: f32,
    pub(crate) cos: f32,
}

impl Rotation {
    pub(crate) const NONE: Self = Self { sin: 0.0, cos: 1.0 };

    pub(crate) fn new(angle: f32) -> Self {
        let (sin, cos) = sin_cos(angle);
        Self { sin, cos }
    }

    #[inline(always)]
    pub(crate) fn apply(self, v: Vec2) -> Vec2 {
        vec2(self.cos * v.x - self.sin * v.y, self.sin * v.x + self.cos * v.y)
    }

    #[inline(always)]
    pub(crate) fn undo(self, v: Vec2) -> Vec2 {
        vec2(self.cos * v.x + self.sin * v.y, -self.sin * v.x + self.cos * v.y)
    }
}

/// A rotation, then a translation: from the frame of a body to the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Transform {
    pub(crate) position: Vec2,
    pub(crate) rotation: Rotation,
}

impl Transform {
    pub(crate) const NONE: Self = Self { position: Vec2::ZERO, rotation: Rotation::NONE };

    /// The frame of a body whose `local_center` is at `center`.
    #[inline(always)]
    pub(crate) fn about(center: Vec2, rotation: Rotation, local_center: Vec2) -> Self {
        Self { position: center - rotation.apply(local_center), rotation }
    }

    #[inline(always)]
    pub(crate) fn apply(self, v: Vec2) -> Vec2 {
        self.rotation.apply(v) + self.position
    }

    #[inline(always)]
    pub(crate) fn undo(self, v: Vec2) -> Vec2 {
        self.rotation.undo(v - self.position)
    }
}

/// How a body moves during a step: its centre of mass and angle at both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sweep {
    pub(crate) local_center: Vec2,
    pub(crate) center_before: Vec2,
    pub(crate) center: Vec2,
    pub(crate) angle_before: f32,
    pub(crate) angle: f32,
    /// The part of the step, from 0 to 1, to which "before" belongs.
    pub(crate) time_before: f32,
}

impl Sweep {
    /// The sweep of the ground.
    pub(crate) const REST: Self = Self {
        local_center: Vec2::ZERO,
        center_before: Vec2::ZERO,
        center: Vec2::ZERO,
        angle_before: 0.0,
        angle: 0.0,
        time_before: 0.0,
    };

    /// The transform at `time`: 0 is before, 1 is the end.
    pub(crate) fn at(&self, time: f32) -> Transform {
        let center = (1.0 - time) * self.center_before + time * self.center;
        let angle = (1.0 - time) * self.angle_before + time * self.angle;
        Transform::about(center, Rotation::new(angle), self.local_center)
    }

    /// Moves the beginning to a later `time` of the step.
    pub(crate) fn advance(&mut self, time: f32) {
        let part = (time - self.time_before) / (1.0 - self.time_before);
        self.center_before = (1.0 - part) * self.center_before + part * self.center;
        self.angle_before = (1.0 - part) * self.angle_before + part * self.angle;
        self.time_before = time;
    }

    /// The same sweep with full turns taken off.
    pub(crate) fn normalized(mut self) -> Self {
        const TURN: f32 = 2.0 * PI;
        let turns = TURN * (self.angle_before / TURN).floor();
        self.angle_before -= turns;
        self.angle -= turns;
        self
    }
}

/// An upright rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) low: Vec2,
    pub(crate) high: Vec2,
}

impl Bounds {
    pub(crate) fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    pub(crate) fn grown(self, margin: f32) -> Self {
        let margin = vec2(margin, margin);
        Self { low: self.low - margin, high: self.high + margin }
    }

    pub(crate) fn perimeter(self) -> f32 {
        2.0 * ((self.high.x - self.low.x) + (self.high.y - self.low.y))
    }

    pub(crate) fn contains(self, other: Self) -> bool {
        self.low.x <= other.low.x
            && self.low.y <= other.low.y
            && other.high.x <= self.high.x
            && other.high.y <= self.high.y
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        // Differences rather than comparisons: they are what the method computes.
        let (d1, d2) = (other.low - self.high, self.low - other.high);
        !(d1.x > 0.0 || d1.y > 0.0 || d2.x > 0.0 || d2.y > 0.0)
    }
}
