//! A body that may touch, or touches, a piece of ground; and the impulses that keep them apart.
//!
//! The ground never moves, so a contact changes one body only, and contacts of different bodies
//! do not depend on each other. All normals point from the ground to the body.

use super::island::BodyState;
use super::manifold::{Face, Manifold};
use super::math::{Rotation, Transform, Vec2, clamp, max, min, spin, vec2};
use super::{LINEAR_SLOP, MAX_LINEAR_CORRECTION, SKIN};

/// A pair whose rectangles overlap.
#[derive(Clone, Debug)]
pub(crate) struct Contact {
    pub(crate) body: usize,
    pub(crate) piece: usize,
    /// Which of the two comes first where the method is not symmetric.
    pub(crate) is_ground_first: bool,
    pub(crate) friction: f32,
    pub(crate) manifold: Manifold,
    pub(crate) is_touching: bool,
    /// Cleared when a search for impacts found a time but no touch.
    pub(crate) is_enabled: bool,
    /// When the two meet in this step, if that has been computed.
    pub(crate) impact: Option<f32>,
    pub(crate) n_impacts: u32,
}

/// A contact prepared for the iterations of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ContactConstraint {
    /// Number of the contact in the world.
    pub(crate) contact: usize,
    pub(crate) body: usize,
    pub(crate) friction: f32,
    pub(crate) normal: Vec2,
    /// Points whose velocities are corrected: one of two may be left out when they are too near.
    pub(crate) n_points: usize,
    pub(crate) points: [ContactPoint; 2],
    /// From normal impulses to normal velocities of two points, and its inverse.
    pub(crate) block: Block,
    pub(crate) inverse_block: Block,
    /// For the positions.
    pub(crate) surface: Surface,
}

/// A point of a contact prepared for the iterations of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ContactPoint {
    /// From the body's centre of mass.
    pub(crate) arm: Vec2,
    pub(crate) normal_impulse: f32,
    pub(crate) tangent_impulse: f32,
    pub(crate) normal_mass: f32,
    pub(crate) tangent_mass: f32,
}

/// A symmetric 2×2 matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Block {
    pub(crate) xx: f32,
    pub(crate) xy: f32,
    pub(crate) yy: f32,
}

impl Block {
    #[inline(always)]
    fn apply(self, v: Vec2) -> Vec2 {
        vec2(self.xx * v.x + self.xy * v.y, self.xy * v.x + self.yy * v.y)
    }

    fn inverse(self) -> Self {
        let Self { xx, xy, yy } = self;
        let mut determinant = xx * yy - xy * xy;
        if determinant != 0.0 {
            determinant = 1.0 / determinant;
        }
        Self { xx: determinant * yy, xy: -determinant * xy, yy: determinant * xx }
    }
}

/// The part of a manifold that positions are corrected with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Surface {
    pub(crate) face: Face,
    pub(crate) normal: Vec2,
    pub(crate) plane_point: Vec2,
    pub(crate) n_points: usize,
    pub(crate) places: [Vec2; 2],
}

impl Surface {
    pub(crate) fn new(manifold: &Manifold) -> Self {
        let Manifold { face, normal, plane_point, n_points, .. } = *manifold;
        let places = manifold.points.map(|point| point.place);
        Self { face, normal, plane_point, n_points, places }
    }

    /// The normal from ground to body, a point, and its distance from the plane without skins.
    #[inline(always)]
    fn measure(&self, frame: Transform, index: usize) -> (Vec2, Vec2, f32) {
        match self.face {
            Face::Ground => {
                let point = frame.apply(self.places[index]);
                (self.normal, point, (point - self.plane_point).dot(self.normal))
            }
            Face::Body => {
                let normal = frame.rotation.apply(self.normal);
                let plane_point = frame.apply(self.plane_point);
                let point = self.places[index];
                (-normal, point, (point - plane_point).dot(normal))
            }
        }
    }

    /// Corrects the position of the body, and returns the least separation met.
    #[inline(always)]
    fn solve_position(&self, state: &mut BodyState, strength: f32) -> f32 {
        let (mass, inertia) = (state.inverse_mass, state.inverse_inertia);
        let mut least = 0.0;
        for index in 0..self.n_points {
            let rotation = Rotation::new(state.angle);
            let frame = Transform::about(state.center, rotation, state.local_center);
            let (normal, point, distance) = self.measure(frame, index);
            let separation = distance - SKIN - SKIN;
            least = min(least, separation);
            let arm = point - state.center;
            let correction =
                clamp(strength * (separation + LINEAR_SLOP), -MAX_LINEAR_CORRECTION, 0.0);
            let lever = arm.cross(normal);
            let stiffness = mass + inertia * lever * lever;
            let impulse = if stiffness > 0.0 { -correction / stiffness } else { 0.0 };
            let push = impulse * normal;
            state.center += mass * push;
            state.angle += inertia * arm.cross(push);
        }
        least
    }
}

impl ContactConstraint {
    /// Prepares a contact that touches. The impulses of the last step are taken over, times
    /// `warmth`, but not applied.
    pub(crate) fn new(
        index: usize,
        contact: &Contact,
        state: &BodyState,
        rotation: Rotation,
        warmth: f32,
    ) -> Self {
        let manifold = &contact.manifold;
        let surface = Surface::new(manifold);
        let frame = Transform::about(state.center, rotation, state.local_center);
        let (mass, inertia) = (state.inverse_mass, state.inverse_inertia);
        let normal = match surface.face {
            Face::Ground => surface.normal,
            Face::Body => -rotation.apply(surface.normal),
        };
        let tangent = normal.right();
        let mut points = [ContactPoint::default(); 2];
        for (index, point) in points[..manifold.n_points].iter_mut().enumerate() {
            let arm = middle(&surface, frame, index) - state.center;
            let (normal_lever, tangent_lever) = (arm.cross(normal), arm.cross(tangent));
            let normal_stiffness = mass + inertia * normal_lever * normal_lever;
            let tangent_stiffness = mass + inertia * tangent_lever * tangent_lever;
            *point = ContactPoint {
                arm,
                normal_impulse: warmth * manifold.points[index].normal_impulse,
                tangent_impulse: warmth * manifold.points[index].tangent_impulse,
                normal_mass: if normal_stiffness > 0.0 { 1.0 / normal_stiffness } else { 0.0 },
                tangent_mass: if tangent_stiffness > 0.0 { 1.0 / tangent_stiffness } else { 0.0 },
            };
        }
        let mut constraint = Self {
            contact: index,
            body: contact.body,
            friction: contact.friction,
            normal,
            n_points: manifold.n_points,
            points,
            block: Block::default(),
            inverse_block: Block::default(),
            surface,
        };
        if constraint.n_points == 2 {
            constraint.prepare_block(mass, inertia);
        }
        constraint
    }

    /// Prepares to solve two points at once, or leaves one out if they hardly differ.
    fn prepare_block(&mut self, mass: f32, inertia: f32) {
        const MAX_CONDITION: f32 = 1000.0;
        let [lever1, lever2] = self.points.map(|point| point.arm.cross(self.normal));
        let block = Block {
            xx: mass + inertia * lever1 * lever1,
            xy: mass + inertia * lever1 * lever2,
            yy: mass + inertia * lever2 * lever2,
        };
        let Block { xx, xy, yy } = block;
        if xx * xx < MAX_CONDITION * (xx * yy - xy * xy) {
            self.block = block;
            self.inverse_block = block.inverse();
        } else {
            self.n_points = 1;
        }
    }

    /// Applies the impulses of the last step.
    pub(crate) fn warm_start(&self, state: &mut BodyState) {
        let tangent = self.normal.right();
        for point in &self.points[..self.n_points] {
            let impulse = point.normal_impulse * self.normal + point.tangent_impulse * tangent;
            state.angular_velocity += state.inverse_inertia * point.arm.cross(impulse);
            state.velocity += state.inverse_mass * impulse;
        }
    }

    /// Corrects the velocity of the body: friction first, because not sinking in matters more.
    #[inline(always)]
    pub(crate) fn solve_velocity(&mut self, state: &mut BodyState) {
        let (mass, inertia) = (state.inverse_mass, state.inverse_inertia);
        let (mut velocity, mut angular_velocity) = (state.velocity, state.angular_velocity);
        let normal = self.normal;
        let tangent = normal.right();
        for point in &mut self.points[..self.n_points] {
            let slip = (velocity + spin(angular_velocity, point.arm)).dot(tangent);
            let most = self.friction * point.normal_impulse;
            let before = point.tangent_impulse;
            point.tangent_impulse = clamp(before + point.tangent_mass * -slip, -most, most);
            let impulse = (point.tangent_impulse - before) * tangent;
            velocity += mass * impulse;
            angular_velocity += inertia * point.arm.cross(impulse);
        }

        if self.n_points == 1 {
            let point = &mut self.points[0];
            let approach = (velocity + spin(angular_velocity, point.arm)).dot(normal);
            let before = point.normal_impulse;
            point.normal_impulse = max(before + -point.normal_mass * approach, 0.0);
            let impulse = (point.normal_impulse - before) * normal;
            velocity += mass * impulse;
            angular_velocity += inertia * point.arm.cross(impulse);
        } else {
            let [first, second] = &mut self.points;
            let before = vec2(first.normal_impulse, second.normal_impulse);
            let approach = vec2(
                (velocity + spin(angular_velocity, first.arm)).dot(normal),
                (velocity + spin(angular_velocity, second.arm)).dot(normal),
            );
            let rest = approach - self.block.apply(before);
            let solution = solve_block(
                &self.block,
                &self.inverse_block,
                [first.normal_mass, second.normal_mass],
                rest,
            );
            if let Some(impulses) = solution {
                let change = impulses - before;
                let (push1, push2) = (change.x * normal, change.y * normal);
                velocity += mass * (push1 + push2);
                angular_velocity += inertia * (first.arm.cross(push1) + second.arm.cross(push2));
                first.normal_impulse = impulses.x;
                second.normal_impulse = impulses.y;
            }
        }
        state.velocity = velocity;
        state.angular_velocity = angular_velocity;
    }

    /// Corrects the position of the body, and returns the least separation met.
    #[inline(always)]
    pub(crate) fn solve_position(&self, state: &mut BodyState, strength: f32) -> f32 {
        self.surface.solve_position(state, strength)
    }
}

/// The impulses of two points such that neither approaches or pulls (Murty's principal pivoting
/// with two unknowns): both hold, only the first, only the second, or neither.
#[inline(always)]
fn solve_block(block: &Block, inverse: &Block, masses: [f32; 2], rest: Vec2) -> Option<Vec2> {
    let both = -inverse.apply(rest);
    if both.x >= 0.0 && both.y >= 0.0 {
        return Some(both);
    }
    let first = -masses[0] * rest.x;
    if first >= 0.0 && block.xy * first + rest.y >= 0.0 {
        return Some(vec2(first, 0.0));
    }
    let second = -masses[1] * rest.y;
    if second >= 0.0 && block.xy * second + rest.x >= 0.0 {
        return Some(vec2(0.0, second));
    }
    (rest.x >= 0.0 && rest.y >= 0.0).then_some(Vec2::ZERO)
}

/// Halfway between the two skins at a point.
fn middle(surface: &Surface, frame: Transform, index: usize) -> Vec2 {
    let (normal, plane_point, point) = match surface.face {
        Face::Ground => (surface.normal, surface.plane_point, frame.apply(surface.places[index])),
        Face::Body => {
            let normal = frame.rotation.apply(surface.normal);
            (normal, frame.apply(surface.plane_point), surface.places[index])
        }
    };
    let on_plane = point + (SKIN - (point - plane_point).dot(normal)) * normal;
    let on_other = point - SKIN * normal;
    0.5 * (on_plane + on_other)
}
