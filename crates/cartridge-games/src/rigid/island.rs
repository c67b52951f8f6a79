//! The iterations of one step: what is prepared by a world, solved here, and taken back.
//!
//! All of it is flat arrays without references, so that several worlds can be solved side by side.

use super::contact::ContactConstraint;
use super::joint::{JointConstraint, Limit};
use super::math::Vec2;
use super::{
    BAUMGARTE, LINEAR_SLOP, MAX_ROTATION, MAX_TRANSLATION, POSITION_ITERATIONS, STEP_S,
    VELOCITY_ITERATIONS,
};

/// The bodies of a world and everything that acts on them during a step, ready to be solved.
#[derive(Clone, Debug, Default)]
pub struct Island {
    pub(crate) bodies: Vec<BodyState>,
    /// In the order in which they are solved.
    pub(crate) joints: Vec<JointConstraint>,
    /// In the order in which they are solved.
    pub(crate) contacts: Vec<ContactConstraint>,
    /// Whether the positions were good enough at the end.
    pub(crate) is_settled: bool,
}

/// Three of four islands need one iteration for their positions, and most others all of them.
/// After so many, those that are left over are worth being solved among themselves.
pub(crate) const FIRST_ITERATIONS: usize = 3;

/// Where a body is and how it moves, and how easily it is moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BodyState {
    pub(crate) center: Vec2,
    pub(crate) angle: f32,
    pub(crate) velocity: Vec2,
    pub(crate) angular_velocity: f32,
    pub(crate) inverse_mass: f32,
    pub(crate) inverse_inertia: f32,
    pub(crate) local_center: Vec2,
}

impl Island {
    /// Finds velocities that keep every constraint, moves, and then mends the positions.
    pub(crate) fn solve(&mut self) {
        self.start();
        if !self.is_settled {
            self.settle();
        }
    }

    /// The first part of [`Self::solve`], after which most islands are settled.
    pub(crate) fn start(&mut self) {
        let Self { bodies, joints, contacts, .. } = self;
        for _ in 0..VELOCITY_ITERATIONS {
            for joint in &mut *joints {
                joint.solve_velocity(bodies);
            }
            for contact in &mut *contacts {
                contact.solve_velocity(&mut bodies[contact.body]);
            }
        }
        for body in &mut *bodies {
            body.integrate(STEP_S);
        }
        self.is_settled = (0..FIRST_ITERATIONS).any(|_| self.solve_positions());
    }

    /// The second part of [`Self::solve`], for islands that are not settled yet.
    pub(crate) fn settle(&mut self) {
        let n_left = POSITION_ITERATIONS - FIRST_ITERATIONS;
        self.is_settled = (0..n_left).any(|_| self.solve_positions());
    }

    /// Places islands in an order in which those next to each other take about the same work.
    ///
    /// What makes work is written as bits, what is rare or costly before the rest: a body with
    /// three contacts, with two points, with two contacts, with one, a joint at its limit. Read as
    /// a Gray code, bits change one at a time from one number to the next, so that islands differ
    /// in few of them where a later bit changes.
    pub(crate) fn signature(&self) -> u32 {
        let (mut once, mut twice, mut thrice, mut double, mut limited) = (0, 0, 0, 0, 0);
        for contact in &self.contacts {
            let body = 1 << contact.body;
            thrice |= twice & body;
            twice |= once & body;
            once |= body;
            double |= if contact.n_points == 2 { body } else { 0 };
        }
        for (place, joint) in self.joints.iter().enumerate() {
            limited |= u32::from(joint.limit != Limit::Free) << place;
        }
        let gray = (thrice << 24) | (double << 18) | (twice << 12) | (once << 6) | limited;
        [16, 8, 4, 2, 1].iter().fold(gray, |number, shift| number ^ (number >> shift))
    }

    /// Corrects all positions once; true when they were good enough before.
    fn solve_positions(&mut self) -> bool {
        let Self { bodies, joints, contacts, .. } = self;
        let mut least = 0.0;
        for contact in contacts {
            let separation = contact.solve_position(&mut bodies[contact.body], BAUMGARTE);
            least = super::math::min(least, separation);
        }
        let mut is_good = least >= -3.0 * LINEAR_SLOP;
        for joint in joints {
            is_good &= joint.solve_position(bodies);
        }
        is_good
    }
}

impl BodyState {
    /// Moves for so many seconds. Very fast bodies are slowed down first.
    #[inline(always)]
    pub(crate) fn integrate(&mut self, seconds: f32) {
        let translation = seconds * self.velocity;
        if translation.dot(translation) > MAX_TRANSLATION * MAX_TRANSLATION {
            self.velocity = (MAX_TRANSLATION / translation.length()) * self.velocity;
        }
        let rotation = seconds * self.angular_velocity;
        if rotation * rotation > MAX_ROTATION * MAX_ROTATION {
            self.angular_velocity *= MAX_ROTATION / rotation.abs();
        }
        self.center += seconds * self.velocity;
        self.angle += seconds * self.angular_velocity;
    }
}
