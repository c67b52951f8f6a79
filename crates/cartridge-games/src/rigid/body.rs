//! Bodies that move.

use super::SKIN;
use super::ground::MARGIN;
use super::island::BodyState;
use super::math::{Bounds, Rotation, Sweep, Transform, Vec2};
use super::shape::{MAX_CORNERS, Mass, Polygon};

/// What a body is made of.
#[derive(Clone, Debug)]
pub(crate) struct BodySpec<'a> {
    pub(crate) position: Vec2,
    pub(crate) angle: f32,
    pub(crate) shape: &'a Polygon,
    pub(crate) density: f32,
    pub(crate) friction: f32,
}

/// A body that moves.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    shape: Polygon,
    /// The shape where it is, in the world.
    placed: Polygon,
    pub(super) friction: f32,
    pub(super) inverse_mass: f32,
    inverse_inertia: f32,
    pub(super) sweep: Sweep,
    frame: Transform,
    /// Of the centre of mass.
    velocity: Vec2,
    angular_velocity: f32,
    force: Vec2,
    torque: f32,
    is_awake: bool,
    /// How long it has been nearly at rest.
    pub(super) still_s: f32,
    /// Number of its leaf.
    pub(super) leaf: u32,
    /// A rectangle around it with room to move; pairs are found by it.
    pub(super) wide_bounds: Bounds,
    /// Where its corners were at the beginning of its sweep.
    corners_before: [Vec2; MAX_CORNERS],
    /// The rectangle around the sweep, without skin.
    swept_bounds: Bounds,
    /// How far, at most, the way of a corner is from a straight line.
    bend: f32,
    /// The distance of the farthest corner from the centre of mass.
    reach: f32,
}

/// A rectangle that moves grows ahead, by so many times its last move.
const LOOK_AHEAD: f32 = 2.0;

impl Body {
    pub(super) fn new(spec: &BodySpec<'_>) -> Self {
        let frame = Transform { position: spec.position, rotation: Rotation::new(spec.angle) };
        let Mass { mass, center, inertia } = spec.shape.mass(spec.density);
        let inverse_mass = 1.0 / mass;
        let local_center = inverse_mass * (mass * center);
        let inertia = inertia - mass * local_center.dot(local_center);
        let center = frame.apply(local_center);
        let corners = spec.shape.corners().iter();
        let reach = corners.map(|&corner| (corner - local_center).length()).fold(0.0, f32::max);
        let placed = spec.shape.transformed(frame);
        Self {
            shape: spec.shape.clone(),
            friction: spec.friction,
            inverse_mass,
            inverse_inertia: 1.0 / inertia,
            sweep: Sweep {
                local_center,
                center_before: center,
                center,
                angle_before: spec.angle,
                angle: spec.angle,
                time_before: 0.0,
            },
            frame,
            velocity: Vec2::ZERO,
            angular_velocity: 0.0,
            force: Vec2::ZERO,
            torque: 0.0,
            is_awake: true,
            still_s: 0.0,
            leaf: 0,
            wide_bounds: placed.bounds().grown(SKIN).grown(MARGIN),
            corners_before: [Vec2::ZERO; MAX_CORNERS],
            swept_bounds: placed.bounds(),
            placed,
            bend: 0.0,
            reach,
        }
    }

    pub(crate) fn position(&self) -> Vec2 {
        self.frame.position
    }

    pub(crate) fn angle(&self) -> f32 {
        self.sweep.angle
    }

    /// The velocity of the centre of mass.
    pub(crate) fn velocity(&self) -> Vec2 {
        self.velocity
    }

    pub(crate) fn angular_velocity(&self) -> f32 {
        self.angular_velocity
    }

    pub(crate) fn is_awake(&self) -> bool {
        self.is_awake
    }

    /// From the body's frame to the world.
    pub(crate) fn frame(&self) -> Transform {
        self.frame
    }

    /// The shape in the body's frame.
    pub(super) fn shape(&self) -> &Polygon {
        &self.shape
    }

    /// The shape where it is, in the world.
    pub(super) fn placed(&self) -> &Polygon {
        &self.placed
    }

    /// A force on the centre of mass during the next step.
    pub(crate) fn push(&mut self, force: Vec2) {
        self.wake();
        self.force += force;
    }

    /// A torque during the next step.
    pub(crate) fn twist(&mut self, torque: f32) {
        self.wake();
        self.torque += torque;
    }

    /// A sudden push at a point of the world.
    pub(crate) fn kick(&mut self, impulse: Vec2, point: Vec2) {
        self.wake();
        self.velocity += self.inverse_mass * impulse;
        self.angular_velocity += self.inverse_inertia * (point - self.sweep.center).cross(impulse);
    }

    pub(super) fn wake(&mut self) {
        if !self.is_awake {
            self.is_awake = true;
            self.still_s = 0.0;
        }
    }

    pub(super) fn sleep(&mut self) {
        self.is_awake = false;
        self.still_s = 0.0;
        self.velocity = Vec2::ZERO;
        self.angular_velocity = 0.0;
        self.release();
    }

    /// Ends all forces.
    pub(super) fn release(&mut self) {
        self.force = Vec2::ZERO;
        self.torque = 0.0;
    }

    /// Begins a sweep where the body is, and returns its state with gravity and forces applied.
    pub(super) fn begin(&mut self, gravity: Vec2, seconds: f32) -> BodyState {
        self.begin_sweep(self.sweep.center, self.sweep.angle, self.frame.rotation);
        let mut state = self.state();
        state.velocity += seconds * (gravity + self.inverse_mass * self.force);
        state.angular_velocity += seconds * self.inverse_inertia * self.torque;
        state
    }

    /// Begins a sweep at a place; `rotation` is that of `angle`.
    pub(super) fn begin_sweep(&mut self, center: Vec2, angle: f32, rotation: Rotation) {
        self.sweep.center_before = center;
        self.sweep.angle_before = angle;
        let frame = self.frame_before(rotation);
        for (corner, &local) in self.corners_before.iter_mut().zip(self.shape.corners()) {
            *corner = frame.apply(local);
        }
    }

    fn frame_before(&self, rotation: Rotation) -> Transform {
        Transform::about(self.sweep.center_before, rotation, self.sweep.local_center)
    }

    pub(super) fn state(&self) -> BodyState {
        BodyState {
            center: self.sweep.center,
            angle: self.sweep.angle,
            velocity: self.velocity,
            angular_velocity: self.angular_velocity,
            inverse_mass: self.inverse_mass,
            inverse_inertia: self.inverse_inertia,
            local_center: self.sweep.local_center,
        }
    }

    /// Ends the sweep with a state. `rotation_before` is that of the sweep's beginning. Returns
    /// whether the body has left its wide rectangle, which then is a new one.
    pub(super) fn take(&mut self, state: &BodyState, rotation_before: Rotation) -> bool {
        self.sweep.center = state.center;
        self.sweep.angle = state.angle;
        self.velocity = state.velocity;
        self.angular_velocity = state.angular_velocity;
        self.place();

        let (first, rest) = self.corners_before.split_first().expect("a body has corners");
        let mut bounds = Bounds { low: *first, high: *first };
        for &corner in &rest[..self.shape.corners().len() - 1] {
            bounds = Bounds { low: bounds.low.min(corner), high: bounds.high.max(corner) };
        }
        self.swept_bounds = bounds.union(self.placed.bounds());
        let turn = self.sweep.angle - self.sweep.angle_before;
        self.bend = self.reach * (turn * turn) * 0.125;
        let bounds = self.swept_bounds.grown(SKIN);
        let has_left = !self.wide_bounds.contains(bounds);
        if has_left {
            let displacement = self.frame.position - self.frame_before(rotation_before).position;
            self.wide_bounds = look_ahead(bounds, displacement);
        }
        has_left
    }

    /// Sets the frame to where the sweep ends.
    pub(super) fn place(&mut self) {
        let Sweep { center, angle, local_center, .. } = self.sweep;
        self.frame = Transform::about(center, Rotation::new(angle), local_center);
        self.shape.transform_into(self.frame, &mut self.placed);
    }

    /// Puts the body somewhere, awake and as if it had not moved there.
    #[cfg(test)]
    pub(super) fn put(&mut self, position: Vec2, angle: f32, velocity: Vec2, spin: f32) {
        let frame = Transform { position, rotation: Rotation::new(angle) };
        self.sweep.center = frame.apply(self.sweep.local_center);
        self.sweep.angle = angle;
        self.place();
        self.velocity = velocity;
        self.angular_velocity = spin;
        self.wake();
        self.still_s = 0.0;
        self.release();
        self.wide_bounds = self.placed.bounds().grown(SKIN).grown(MARGIN);
    }

    /// Where the body is and how it moves, as it is stored.
    #[cfg(test)]
    pub(super) fn stored_state(&self) -> super::stored::State {
        let (at, v) = (self.position(), self.velocity);
        [at.x, at.y, self.angle(), v.x, v.y, self.angular_velocity]
    }

    /// Goes to a time of the step and stays there.
    pub(super) fn advance(&mut self, time: f32) {
        self.sweep.advance(time);
        self.sweep.center = self.sweep.center_before;
        self.sweep.angle = self.sweep.angle_before;
        self.place();
    }

    /// Whether the bare shape stays farther than `gap` from a rectangle, or from one side of each
    /// of some lines, given by a point and a normal, during all of its sweep. Only true is sure.
    pub(super) fn stays_clear(
        &self,
        other: Bounds,
        lines: impl IntoIterator<Item = (Vec2, Vec2)>,
        gap: f32,
    ) -> bool {
        let gap = gap + self.bend;
        let Bounds { low, high } = self.swept_bounds;
        if low.x - other.high.x > gap
            || other.low.x - high.x > gap
            || low.y - other.high.y > gap
            || other.low.y - high.y > gap
        {
            return true;
        }
        let n_corners = self.shape.corners().len();
        let before = &self.corners_before[..n_corners];
        lines.into_iter().any(|(point, normal)| {
            let corners = before.iter().chain(self.placed.corners());
            corners.map(|&corner| normal.dot(corner - point)).fold(f32::MAX, f32::min) > gap
        })
    }
}

/// The rectangle, with room, of something that has just moved by `displacement`.
fn look_ahead(bounds: Bounds, displacement: Vec2) -> Bounds {
    let mut bounds = bounds.grown(MARGIN);
    let ahead = LOOK_AHEAD * displacement;
    if ahead.x < 0.0 {
        bounds.low.x += ahead.x;
    } else {
        bounds.high.x += ahead.x;
    }
    if ahead.y < 0.0 {
        bounds.low.y += ahead.y;
    } else {
        bounds.high.y += ahead.y;
    }
    bounds
}
