//! Bodies, one world per lane.

use super::{LaneVec, Lanes, WIDTH, ZERO, mask, select, select2};
use crate::rigid::island::BodyState;
use crate::rigid::math::{Vec2, vec2};
use crate::rigid::trigonometry::{PLAIN_LIMIT, sin_cos, sin_cos_plain};
use crate::rigid::{MAX_ROTATION, MAX_TRANSLATION};

#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct LaneBody {
    pub(super) center: LaneVec,
    pub(super) angle: Lanes,
    pub(super) velocity: LaneVec,
    pub(super) angular_velocity: Lanes,
    pub(super) inverse_mass: Lanes,
    pub(super) inverse_inertia: Lanes,
    pub(super) local_center: LaneVec,
}

impl LaneBody {
    pub(super) const ZERO: Self = Self {
        center: LaneVec::ZERO,
        angle: ZERO,
        velocity: LaneVec::ZERO,
        angular_velocity: ZERO,
        inverse_mass: ZERO,
        inverse_inertia: ZERO,
        local_center: LaneVec::ZERO,
    };

    pub(super) fn load(&mut self, lane: usize, state: &BodyState) {
        self.center.set(lane, state.center);
        self.angle[lane] = state.angle;
        self.velocity.set(lane, state.velocity);
        self.angular_velocity[lane] = state.angular_velocity;
        self.inverse_mass[lane] = state.inverse_mass;
        self.inverse_inertia[lane] = state.inverse_inertia;
        self.local_center.set(lane, state.local_center);
    }

    /// Lets nothing happen in a lane that is not in use: what is left there from other islands
    /// could grow without end.
    pub(super) fn rest(&mut self, lane: usize) {
        self.center.set(lane, Vec2::ZERO);
        self.angle[lane] = 0.0;
        self.velocity.set(lane, Vec2::ZERO);
        self.angular_velocity[lane] = 0.0;
        self.inverse_mass[lane] = 0.0;
        self.inverse_inertia[lane] = 0.0;
    }

    pub(super) fn store(&self, lane: usize, state: &mut BodyState) {
        state.center = self.center.get(lane);
        state.angle = self.angle[lane];
        state.velocity = self.velocity.get(lane);
        state.angular_velocity = self.angular_velocity[lane];
    }

    #[inline(always)]
    pub(super) fn integrate(&mut self, seconds: f32) {
        for lane in 0..WIDTH {
            let mut velocity = self.velocity.get(lane);
            let mut spin = self.angular_velocity[lane];
            let translation = seconds * velocity;
            let slower = (MAX_TRANSLATION / translation.length()) * velocity;
            let is_fast = translation.dot(translation) > MAX_TRANSLATION * MAX_TRANSLATION;
            velocity = select2(mask(is_fast), slower, velocity);
            let rotation = seconds * spin;
            let slower = spin * (MAX_ROTATION / rotation.abs());
            let is_fast = rotation * rotation > MAX_ROTATION * MAX_ROTATION;
            spin = select(mask(is_fast), slower, spin);
            self.velocity.set(lane, velocity);
            self.angular_velocity[lane] = spin;
            self.center.set(lane, self.center.get(lane) + seconds * velocity);
            self.angle[lane] += seconds * spin;
        }
    }

    /// Sine and cosine of the angles.
    #[inline(always)]
    pub(super) fn rotation(angle: &Lanes) -> (Lanes, Lanes) {
        let (mut sin, mut cos) = (ZERO, ZERO);
        let mut is_plain = true;
        for x in angle {
            is_plain &= x.abs() < PLAIN_LIMIT;
        }
        if is_plain {
            for lane in 0..WIDTH {
                (sin[lane], cos[lane]) = sin_cos_plain(angle[lane]);
            }
        } else {
            for lane in 0..WIDTH {
                (sin[lane], cos[lane]) = sin_cos(angle[lane]);
            }
        }
        (sin, cos)
    }
}

#[inline(always)]
pub(super) fn rotate(sin: f32, cos: f32, v: Vec2) -> Vec2 {
    vec2(cos * v.x - sin * v.y, sin * v.x + cos * v.y)
}
