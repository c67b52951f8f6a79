//! Bodies, joints and ground, and how they go on in time.
//!
//! A world holds one mechanism: its bodies hang together by joints, so that there is one island.
//! Bodies collide with the ground and not with each other.

use super::contact::{Contact, ContactConstraint};
use super::island::{BodyState, Island};
use super::joint::{Joint, JointSpec};
use super::manifold::Manifold;
use super::math::{Bounds, Rotation, Sweep, Transform, Vec2, min};
use super::shape::{GroundShape, Mass, Polygon};
use super::time_of_impact::{Moving, time_of_impact};
use super::tree::Tree;
use super::{
    ANGULAR_SLEEP_TOLERANCE, IMPACT_BAUMGARTE, LINEAR_SLEEP_TOLERANCE, LINEAR_SLOP, STEP_S,
    TIME_TO_SLEEP_S, VELOCITY_ITERATIONS,
};

/// A mechanism and the ground below it.
#[derive(Clone, Debug)]
pub(crate) struct World {
    gravity: Vec2,
    bodies: Vec<Body>,
    joints: Vec<Joint>,
    /// Numbers of the joints in the order in which they are solved.
    joint_order: Vec<usize>,
    /// Numbers of the bodies in the order in which their contacts are solved.
    body_order: Vec<usize>,
    ground: Vec<Piece>,
    /// For each part of the ground, the part of the step to which it has been advanced.
    ground_times: Vec<f32>,
    tree: Tree,
    /// Pairs near each other, the newest last. They are always visited from the newest.
    contacts: Vec<Contact>,
    /// Bodies whose rectangle has changed since pairs were last looked for.
    moved: Vec<usize>,
    pairs: Vec<Pair>,
    /// 1/s of the step before; 0 before the first.
    rate_before: f32,
    touches: Vec<Touch>,
    island: Island,
    impact_contacts: Vec<ContactConstraint>,
}

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
    pub(crate) shape: Polygon,
    friction: f32,
    inverse_mass: f32,
    inverse_inertia: f32,
    sweep: Sweep,
    frame: Transform,
    /// Of the centre of mass.
    velocity: Vec2,
    angular_velocity: f32,
    force: Vec2,
    torque: f32,
    is_awake: bool,
    still_s: f32,
    leaf: u32,
}

/// A piece of ground.
#[derive(Clone, Debug)]
struct Piece {
    shape: GroundShape,
    friction: f32,
    /// Pieces of one part share their time within a step.
    part: usize,
    leaf: u32,
}

/// A body that began, or ceased, to touch a piece of ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    pub(crate) body: usize,
    pub(crate) is_begin: bool,
}

/// A body and a piece whose rectangles overlap, by the numbers of their leaves, the smaller first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    leaves: [u32; 2],
    body: usize,
    piece: usize,
}

/// In the tree, the numbers of bodies begin here; below are pieces of ground.
const FIRST_BODY: u32 = 1 << 31;
/// After so many impacts in a step a contact is left alone.
const MAX_IMPACTS: u32 = 8;
const MAX_IMPACT_CONTACTS: usize = 32;
const IMPACT_POSITION_ITERATIONS: usize = 20;

impl Body {
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

    pub(crate) fn wake(&mut self) {
        if !self.is_awake {
            self.is_awake = true;
            self.still_s = 0.0;
        }
    }

    fn sleep(&mut self) {
        self.is_awake = false;
        self.still_s = 0.0;
        self.velocity = Vec2::ZERO;
        self.angular_velocity = 0.0;
        self.force = Vec2::ZERO;
        self.torque = 0.0;
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

    fn state(&self) -> BodyState {
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

    fn take(&mut self, state: &BodyState) {
        self.sweep.center = state.center;
        self.sweep.angle = state.angle;
        self.velocity = state.velocity;
        self.angular_velocity = state.angular_velocity;
        self.place();
    }

    /// Sets the frame to where the sweep ends.
    fn place(&mut self) {
        let Sweep { center, angle, local_center, .. } = self.sweep;
        self.frame = Transform::about(center, Rotation::new(angle), local_center);
    }

    /// Goes to a time of the step and stays there.
    fn advance(&mut self, time: f32) {
        self.sweep.advance(time);
        self.sweep.center = self.sweep.center_before;
        self.sweep.angle = self.sweep.angle_before;
        self.place();
    }

    /// The frame at the beginning of the sweep.
    fn frame_before(&self) -> Transform {
        let Sweep { center_before, angle_before, local_center, .. } = self.sweep;
        Transform::about(center_before, Rotation::new(angle_before), local_center)
    }
}

impl World {
    pub(crate) fn new(gravity: Vec2) -> Self {
        Self {
            gravity,
            bodies: Vec::new(),
            joints: Vec::new(),
            joint_order: Vec::new(),
            body_order: Vec::new(),
            ground: Vec::new(),
            ground_times: Vec::new(),
            tree: Tree::default(),
            contacts: Vec::new(),
            moved: Vec::new(),
            pairs: Vec::new(),
            rate_before: 0.0,
            touches: Vec::new(),
            island: Island::default(),
            impact_contacts: Vec::new(),
        }
    }

    /// Takes everything away: the ground from its newest piece on, then the bodies from the
    /// oldest. The order matters, because the numbers of leaves are used again.
    pub(crate) fn clear(&mut self) {
        for piece in self.ground.drain(..).rev() {
            self.tree.remove(piece.leaf);
        }
        for body in self.bodies.drain(..) {
            self.tree.remove(body.leaf);
        }
        self.ground_times.clear();
        self.joints.clear();
        self.joint_order.clear();
        self.body_order.clear();
        self.contacts.clear();
        self.moved.clear();
        self.touches.clear();
    }

    /// Adds a part of the ground, to which pieces can be added, and returns its number.
    pub(crate) fn add_part(&mut self) -> usize {
        self.ground_times.push(0.0);
        self.ground_times.len() - 1
    }

    pub(crate) fn add_piece(&mut self, part: usize, shape: GroundShape, friction: f32) {
        let leaf = self.tree.insert(shape.bounds(), self.ground.len() as u32);
        self.ground.push(Piece { shape, friction, part, leaf });
    }

    /// Adds a body and returns its number.
    pub(crate) fn add_body(&mut self, spec: &BodySpec<'_>) -> usize {
        let number = self.bodies.len();
        let frame = Transform { position: spec.position, rotation: Rotation::new(spec.angle) };
        let leaf = self.tree.insert(spec.shape.bounds(frame), FIRST_BODY + number as u32);
        let Mass { mass, center, inertia } = spec.shape.mass(spec.density);
        let inverse_mass = 1.0 / mass;
        let local_center = inverse_mass * (mass * center);
        let inertia = inertia - mass * local_center.dot(local_center);
        let center = frame.apply(local_center);
        self.bodies.push(Body {
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
            leaf,
        });
        self.moved.push(number);
        self.find_order();
        number
    }

    /// Adds a joint and returns its number.
    pub(crate) fn add_joint(&mut self, spec: JointSpec) -> usize {
        self.joints.push(Joint::new(spec));
        self.find_order();
        self.joints.len() - 1
    }

    pub(crate) fn body(&self, number: usize) -> &Body {
        &self.bodies[number]
    }

    pub(crate) fn body_mut(&mut self, number: usize) -> &mut Body {
        &mut self.bodies[number]
    }

    /// The angle of a joint and its speed.
    pub(crate) fn joint_state(&self, number: usize) -> (f32, f32) {
        let JointSpec { bodies, reference_angle, .. } = self.joints[number].spec;
        let [a, b] = bodies.map(|body| &self.bodies[body]);
        let angle = b.sweep.angle - a.sweep.angle - reference_angle;
        (angle, b.angular_velocity - a.angular_velocity)
    }

    /// Sets how fast a joint's motor would turn, and how hard it may.
    pub(crate) fn drive(&mut self, number: usize, speed: f32, max_torque: f32) {
        let spec = &mut self.joints[number].spec;
        spec.motor_speed = speed;
        spec.max_torque = max_torque;
        for body in spec.bodies {
            self.bodies[body].wake();
        }
    }

    /// What began and ceased to touch in the last step, in order.
    pub(crate) fn touches(&self) -> &[Touch] {
        &self.touches
    }

    /// The part of the way from `from` to `to` after which a ray hits ground; 1 if it does not.
    pub(crate) fn cast(&self, from: Vec2, to: Vec2) -> f32 {
        let mut nearest = 1.0;
        self.tree.cast(from, to, |owner, reach| {
            let Some(piece) = self.ground.get(owner as usize) else { return reach };
            match piece.shape.cast(from, to, reach) {
                None => reach,
                Some(part) => {
                    nearest = part;
                    part
                }
            }
        });
        nearest
    }

    /// Goes on by one step.
    pub(crate) fn step(&mut self) {
        self.collide();
        if self.prepare() {
            self.island.solve();
            self.finish();
        }
        self.solve_impacts();
        self.end_step();
    }

    /// Finds pairs that are new or no longer near, and where the others touch.
    pub(crate) fn collide(&mut self) {
        self.touches.clear();
        self.find_pairs();
        for index in (0..self.contacts.len()).rev() {
            let Contact { body, piece, is_touching, .. } = self.contacts[index];
            if !self.bodies[body].is_awake {
                continue;
            }
            let bounds = self.tree.bounds(self.bodies[body].leaf);
            if bounds.overlaps(self.tree.bounds(self.ground[piece].leaf)) {
                self.update_contact(index);
            } else {
                if is_touching {
                    self.touches.push(Touch { body, is_begin: false });
                }
                self.contacts.remove(index);
            }
        }
    }

    /// Gathers what the iterations need; false when everything sleeps.
    pub(crate) fn prepare(&mut self) -> bool {
        if !self.bodies.iter().any(Body::is_awake) {
            return false;
        }
        let warmth = self.rate_before * STEP_S;
        let Island { bodies: states, joints, contacts, .. } = &mut self.island;
        states.clear();
        joints.clear();
        contacts.clear();
        for body in &mut self.bodies {
            body.wake();
            body.sweep.center_before = body.sweep.center;
            body.sweep.angle_before = body.sweep.angle;
            let mut state = body.state();
            state.velocity += STEP_S * (self.gravity + body.inverse_mass * body.force);
            state.angular_velocity += STEP_S * body.inverse_inertia * body.torque;
            states.push(state);
        }
        for &number in &self.body_order {
            let rotation = self.bodies[number].frame.rotation;
            for (index, contact) in self.contacts.iter().enumerate().rev() {
                if contact.body == number && contact.is_enabled && contact.is_touching {
                    let state = &states[number];
                    contacts.push(ContactConstraint::new(index, contact, state, rotation, warmth));
                }
            }
        }
        for contact in &*contacts {
            contact.warm_start(&mut states[contact.body]);
        }
        for &number in &self.joint_order {
            let joint = &mut self.joints[number];
            let rotations = joint.spec.bodies.map(|body| self.bodies[body].frame.rotation);
            joints.push(joint.prepare(states, rotations, STEP_S, warmth));
        }
        true
    }

    /// Takes the result of the iterations back.
    pub(crate) fn finish(&mut self) {
        for constraint in &self.island.contacts {
            let points = &mut self.contacts[constraint.contact].manifold.points;
            for (point, solved) in points.iter_mut().zip(&constraint.points[..constraint.n_points])
            {
                point.normal_impulse = solved.normal_impulse;
                point.tangent_impulse = solved.tangent_impulse;
            }
        }
        for (constraint, &number) in self.island.joints.iter().zip(&self.joint_order) {
            self.joints[number].store(constraint);
        }
        for (body, state) in self.bodies.iter_mut().zip(&self.island.bodies) {
            body.take(state);
        }
        self.fall_asleep();
        for number in 0..self.bodies.len() {
            self.follow(number);
        }
        self.find_pairs();
    }

    fn end_step(&mut self) {
        self.rate_before = 1.0 / STEP_S;
        for body in &mut self.bodies {
            body.force = Vec2::ZERO;
            body.torque = 0.0;
        }
    }

    /// Puts everything to sleep when all of it has been still for long enough.
    fn fall_asleep(&mut self) {
        const LINEAR: f32 = LINEAR_SLEEP_TOLERANCE * LINEAR_SLEEP_TOLERANCE;
        const ANGULAR: f32 = ANGULAR_SLEEP_TOLERANCE * ANGULAR_SLEEP_TOLERANCE;
        let mut least = f32::MAX;
        for body in &mut self.bodies {
            let spin = body.angular_velocity;
            if spin * spin > ANGULAR || body.velocity.dot(body.velocity) > LINEAR {
                body.still_s = 0.0;
                least = 0.0;
            } else {
                body.still_s += STEP_S;
                least = min(least, body.still_s);
            }
        }
        if least >= TIME_TO_SLEEP_S && self.island.is_settled {
            self.bodies.iter_mut().for_each(Body::sleep);
        }
    }

    /// Lets the rectangle of a body follow its move.
    fn follow(&mut self, number: usize) {
        let body = &self.bodies[number];
        let (before, after) = (body.frame_before(), body.frame);
        let bounds: Bounds = body.shape.bounds(before).union(body.shape.bounds(after));
        let displacement = after.position - before.position;
        if self.tree.follow(body.leaf, bounds, displacement) {
            self.moved.push(number);
        }
    }

    /// Adds a contact for every pair that has come near, in the order of their leaves.
    fn find_pairs(&mut self) {
        let Self { moved, pairs, tree, bodies, ground, contacts, .. } = self;
        if moved.is_empty() {
            return;
        }
        pairs.clear();
        for number in moved.drain(..) {
            let own = bodies[number].leaf;
            tree.query(tree.bounds(own), |leaf, owner| {
                if owner < FIRST_BODY {
                    let leaves = [leaf.min(own), leaf.max(own)];
                    pairs.push(Pair { leaves, body: number, piece: owner as usize });
                }
            });
        }
        pairs.sort_unstable();
        for &Pair { body, piece, .. } in &*pairs {
            if contacts.iter().any(|old| (old.body, old.piece) == (body, piece)) {
                continue;
            }
            let ground = &ground[piece];
            bodies[body].wake();
            contacts.push(Contact {
                body,
                piece,
                is_ground_first: match ground.shape {
                    GroundShape::Edge(_) => true,
                    GroundShape::Polygon(_) => ground.leaf < bodies[body].leaf,
                },
                friction: (ground.friction * bodies[body].friction).sqrt(),
                manifold: Manifold::EMPTY,
                is_touching: false,
                is_enabled: true,
                impact: None,
                n_impacts: 0,
            });
        }
    }

    /// Finds where the two of a contact touch now.
    fn update_contact(&mut self, index: usize) {
        let contact = &mut self.contacts[index];
        let body = &mut self.bodies[contact.body];
        let ground = &self.ground[contact.piece].shape;
        contact.is_enabled = true;
        contact.manifold =
            contact.manifold.updated(ground, &body.shape, body.frame, contact.is_ground_first);
        let is_touching = contact.manifold.n_points > 0;
        if is_touching != contact.is_touching {
            body.wake();
            contact.is_touching = is_touching;
            self.touches.push(Touch { body: contact.body, is_begin: is_touching });
        }
    }

    /// Finds bodies that would pass through ground, the earliest first, takes them back to where
    /// they meet it, and lets them go on from there for the rest of the step.
    pub(crate) fn solve_impacts(&mut self) {
        self.ground_times.fill(0.0);
        for body in &mut self.bodies {
            body.sweep.time_before = 0.0;
        }
        for contact in &mut self.contacts {
            contact.impact = None;
            contact.n_impacts = 0;
        }
        while let Some((index, time)) = self.first_impact() {
            self.solve_impact(index, time);
        }
    }

    fn first_impact(&mut self) -> Option<(usize, f32)> {
        let mut first = None;
        let mut least = 1.0;
        for index in (0..self.contacts.len()).rev() {
            let contact = &self.contacts[index];
            if !contact.is_enabled || contact.n_impacts > MAX_IMPACTS {
                continue;
            }
            let time = match contact.impact {
                Some(time) => time,
                None if self.bodies[contact.body].is_awake => self.impact_time(index),
                None => continue,
            };
            if time < least {
                first = Some(index);
                least = time;
            }
        }
        first.filter(|_| 1.0 - 10.0 * f32::EPSILON >= least).map(|index| (index, least))
    }

    /// When the two of a contact meet in this step; 1 if they do not.
    fn impact_time(&mut self, index: usize) -> f32 {
        let contact = &mut self.contacts[index];
        let Piece { shape: ground, part, .. } = &self.ground[contact.piece];
        let body = &mut self.bodies[contact.body];
        let ground_time = &mut self.ground_times[*part];
        // Both must begin at the same time.
        if *ground_time < body.sweep.time_before {
            *ground_time = body.sweep.time_before;
        } else if body.sweep.time_before < *ground_time {
            body.sweep.advance(*ground_time);
        }
        let begin = body.sweep.time_before;
        let fixed = Moving { corners: ground.corners(), sweep: Sweep::REST };
        let moving = Moving { corners: body.shape.corners(), sweep: body.sweep };
        let part = if contact.is_ground_first {
            time_of_impact(fixed, moving)
        } else {
            time_of_impact(moving, fixed)
        };
        let time = part.map_or(1.0, |part| min(begin + (1.0 - begin) * part, 1.0));
        contact.impact = Some(time);
        time
    }

    fn solve_impact(&mut self, index: usize, time: f32) {
        let Contact { body: number, piece, .. } = self.contacts[index];
        let part = self.ground[piece].part;
        let (sweep, ground_time) = (self.bodies[number].sweep, self.ground_times[part]);
        self.bodies[number].advance(time);
        self.ground_times[part] = time;
        self.update_contact(index);
        let contact = &mut self.contacts[index];
        contact.impact = None;
        contact.n_impacts += 1;
        if !contact.is_touching {
            contact.is_enabled = false;
            self.ground_times[part] = ground_time;
            self.bodies[number].sweep = sweep;
            self.bodies[number].place();
            return;
        }
        self.bodies[number].wake();

        // Everything else that the body touches there takes part.
        let mut touching = [0; MAX_IMPACT_CONTACTS];
        let mut n_touching = 1;
        touching[0] = index;
        for other in (0..self.contacts.len()).rev() {
            if n_touching == MAX_IMPACT_CONTACTS {
                break;
            }
            if other == index || self.contacts[other].body != number {
                continue;
            }
            self.update_contact(other);
            if self.contacts[other].is_touching {
                self.ground_times[self.ground[self.contacts[other].piece].part] = time;
                touching[n_touching] = other;
                n_touching += 1;
            }
        }
        self.solve_impact_island(number, &touching[..n_touching], time);

        self.follow(number);
        for contact in &mut self.contacts {
            if contact.body == number {
                contact.impact = None;
            }
        }
        self.find_pairs();
    }

    /// Moves one body out of what it touches, and on for the rest of the step.
    fn solve_impact_island(&mut self, number: usize, touching: &[usize], time: f32) {
        let body = &mut self.bodies[number];
        let mut state = body.state();
        let constraints = &mut self.impact_contacts;
        let prepare = |constraints: &mut Vec<ContactConstraint>, state: &BodyState| {
            constraints.clear();
            let rotation = Rotation::new(state.angle);
            constraints.extend(touching.iter().map(|&index| {
                ContactConstraint::new(index, &self.contacts[index], state, rotation, 0.0)
            }));
        };
        prepare(constraints, &state);
        for _ in 0..IMPACT_POSITION_ITERATIONS {
            let mut least = 0.0;
            for contact in &*constraints {
                least = min(least, contact.solve_position(&mut state, IMPACT_BAUMGARTE));
            }
            if least >= -1.5 * LINEAR_SLOP {
                break;
            }
        }
        body.sweep.center_before = state.center;
        body.sweep.angle_before = state.angle;
        prepare(constraints, &state);
        for _ in 0..VELOCITY_ITERATIONS {
            for contact in &mut *constraints {
                contact.solve_velocity(&mut state);
            }
        }
        state.integrate((1.0 - time) * STEP_S);
        body.take(&state);
    }

    /// The order in which a search through the joints from the newest body meets bodies and
    /// joints. At each body its newest joint is looked at first, and its newest neighbour last.
    fn find_order(&mut self) {
        let mut is_met = vec![false; self.bodies.len()];
        self.joint_order.clear();
        self.body_order.clear();
        for seed in (0..self.bodies.len()).rev() {
            let mut stack = Vec::new();
            if !is_met[seed] {
                is_met[seed] = true;
                stack.push(seed);
            }
            while let Some(body) = stack.pop() {
                self.body_order.push(body);
                for (number, joint) in self.joints.iter().enumerate().rev() {
                    let [a, b] = joint.spec.bodies;
                    if (a == body || b == body) && !self.joint_order.contains(&number) {
                        self.joint_order.push(number);
                        let other = if a == body { b } else { a };
                        if !is_met[other] {
                            is_met[other] = true;
                            stack.push(other);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
