//! A mechanism and the ground below it, and how they go on in time.
//!
//! A world holds one mechanism: its bodies hang together by joints, so that there is one island.
//! Bodies collide with the ground and not with each other.

mod impacts;

pub use self::impacts::Impact;
use super::body::{Body, BodySpec};
use super::contact::{Contact, ContactConstraint};
use super::ground::{Ground, Piece};
use super::island::Island;
use super::joint::{Joint, JointSpec};
use super::manifold::{BodyShape, Manifold};
use super::math::{Rotation, Vec2, min};
use super::shape::GroundShape;
use super::tree::{Numbers, Tree};
use super::{ANGULAR_SLEEP_TOLERANCE, LINEAR_SLEEP_TOLERANCE, STEP_S, TIME_TO_SLEEP_S};

/// A mechanism and the ground below it.
#[derive(Clone, Debug)]
pub(crate) struct World {
    gravity: Vec2,
    pub(super) bodies: Vec<Body>,
    joints: Vec<Joint>,
    /// Numbers of the joints in the order in which they are solved.
    joint_order: Vec<usize>,
    /// Numbers of the bodies in the order in which their contacts are solved.
    body_order: Vec<usize>,
    /// Bodies that the search for these orders has met and not yet visited.
    met: Vec<usize>,
    ground: Ground,
    numbers: Numbers,
    /// Pairs near each other, the newest last. They are always visited from the newest.
    contacts: Vec<Contact>,
    /// Bodies whose wide rectangle has changed since pairs were last looked for.
    pub(super) moved: Vec<usize>,
    pairs: Vec<Pair>,
    /// 1/s of the step before; 0 before the first.
    rate_before: f32,
    touches: Vec<Touch>,
    island: Island,
    /// Whether the island is that of the step in progress; not so when everything sleeps.
    is_prepared: bool,
    impact: Impact,
    progress: Progress,
}

/// How far a step has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// The island is solved next, or is solved.
    Island,
    /// An impact is solved next, or is solved.
    Impact,
    /// No impact is left.
    Over,
}

/// Room for this many contacts is made at once, so that a world need not allocate when more things
/// are near each other than before.
const ROOM: usize = 64;

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

impl World {
    /// An empty world. When it is cleared, it is as new.
    pub(crate) fn new(gravity: Vec2) -> Self {
        Self::with_numbers(gravity, Numbers::Fresh(0))
    }

    /// An empty world that, when it is cleared, goes on with the numbers that it has.
    pub(crate) fn kept(gravity: Vec2) -> Self {
        Self::with_numbers(gravity, Numbers::Kept(Box::<Tree>::default()))
    }

    fn with_numbers(gravity: Vec2, numbers: Numbers) -> Self {
        Self {
            gravity,
            bodies: Vec::new(),
            joints: Vec::new(),
            joint_order: Vec::new(),
            body_order: Vec::new(),
            met: Vec::new(),
            ground: Ground::default(),
            numbers,
            contacts: Vec::with_capacity(ROOM),
            moved: Vec::with_capacity(ROOM),
            pairs: Vec::with_capacity(ROOM),
            rate_before: 0.0,
            touches: Vec::with_capacity(ROOM),
            island: Island { contacts: Vec::with_capacity(ROOM), ..Island::default() },
            is_prepared: false,
            impact: Impact::new(),
            progress: Progress::Island,
        }
    }

    /// Takes everything away: the ground from its newest piece on, then the bodies from the
    /// oldest. The order matters where numbers are kept.
    pub(crate) fn clear(&mut self) {
        let pieces = self.ground.pieces().iter().rev().map(|piece| piece.leaf);
        self.numbers.clear(pieces.chain(self.bodies.iter().map(|body| body.leaf)));
        self.bodies.clear();
        self.ground.clear();
        self.joints.clear();
        self.joint_order.clear();
        self.body_order.clear();
        self.contacts.clear();
        self.moved.clear();
        self.touches.clear();
        self.rate_before = 0.0;
    }

    /// Adds a part of the ground, to which pieces can be added, and returns its number.
    pub(crate) fn add_part(&mut self) -> usize {
        self.ground.add_part()
    }

    pub(crate) fn add_piece(&mut self, part: usize, shape: GroundShape, friction: f32) {
        let mut piece = Piece::new(shape, friction, part);
        piece.leaf = self.numbers.insert(piece.wide_bounds);
        self.ground.add_piece(piece);
    }

    /// Adds a body and returns its number.
    pub(crate) fn add_body(&mut self, spec: &BodySpec<'_>) -> usize {
        let number = self.bodies.len();
        let mut body = Body::new(spec);
        body.leaf = self.numbers.insert(body.wide_bounds);
        self.bodies.push(body);
        self.moved.push(number);
        number
    }

    /// Adds a joint and returns its number.
    pub(crate) fn add_joint(&mut self, spec: JointSpec) -> usize {
        self.joints.push(Joint::new(spec));
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
        let angle = b.angle() - a.angle() - reference_angle;
        (angle, b.angular_velocity() - a.angular_velocity())
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

    /// For rays that all begin at `from` and do not lead to the left, the part of the way to each
    /// end after which it hits ground; 1 where it does not.
    pub(crate) fn cast<const N: usize>(&self, from: Vec2, ends: [Vec2; N]) -> [f32; N] {
        self.ground.cast(from, ends)
    }

    /// Goes on by one step.
    pub(crate) fn step(&mut self) {
        self.begin_step();
        if let Some(island) = self.island() {
            island.solve();
        }
        self.end_step();
    }

    /// The first part of a step: finds contacts and prepares the iterations.
    pub(crate) fn begin_step(&mut self) {
        if self.body_order.len() != self.bodies.len() {
            self.find_order();
        }
        self.ground.sort();
        self.collide();
        self.is_prepared = self.prepare();
        self.progress = Progress::Island;
    }

    /// The second part of a step is to solve this, if something is awake.
    pub(crate) fn island(&mut self) -> Option<&mut Island> {
        self.is_prepared.then_some(&mut self.island)
    }

    /// After that, one after the other, these are to be solved, until there is none.
    pub(crate) fn next_impact(&mut self) -> Option<&mut Impact> {
        match self.progress {
            Progress::Island => {
                if self.is_prepared {
                    self.finish();
                }
                self.begin_impacts();
            }
            Progress::Impact => self.end_impact(),
            Progress::Over => return None,
        }
        let is_met = self.begin_impact();
        self.progress = if is_met { Progress::Impact } else { Progress::Over };
        is_met.then_some(&mut self.impact)
    }

    /// What [`Self::next_impact`] has returned.
    pub(crate) fn impact(&mut self) -> &mut Impact {
        &mut self.impact
    }

    /// The last part of a step. Impacts that are left are solved here.
    pub(crate) fn end_step(&mut self) {
        while let Some(impact) = self.next_impact() {
            impact.island.solve_impact();
        }
        self.rate_before = 1.0 / STEP_S;
        self.bodies.iter_mut().for_each(Body::release);
    }

    /// Finds pairs that are new or no longer near, and where the others touch.
    fn collide(&mut self) {
        self.touches.clear();
        self.find_pairs();
        for index in (0..self.contacts.len()).rev() {
            let Contact { body, piece, is_touching, .. } = self.contacts[index];
            if !self.bodies[body].is_awake() {
                continue;
            }
            let wide_bounds = self.ground.piece(piece).wide_bounds;
            if wide_bounds.overlaps(self.bodies[body].wide_bounds) {
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
    fn prepare(&mut self) -> bool {
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
            states.push(body.begin(self.gravity, STEP_S));
        }
        for &number in &self.body_order {
            let rotation = self.bodies[number].frame().rotation;
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
            let rotations = joint.spec.bodies.map(|body| self.bodies[body].frame().rotation);
            joints.push(joint.prepare(states, rotations, STEP_S, warmth));
        }
        true
    }

    /// Takes the result of the iterations back.
    fn finish(&mut self) {
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
        for number in 0..self.bodies.len() {
            let rotation_before = self.bodies[number].frame().rotation;
            self.move_body(number, rotation_before);
        }
        self.fall_asleep();
        self.find_pairs();
    }

    /// Lets a body take its state from the island, and its leaf follow.
    fn move_body(&mut self, number: usize, rotation_before: Rotation) {
        let body = &mut self.bodies[number];
        if body.take(&self.island.bodies[number], rotation_before) {
            self.numbers.follow(body.leaf, body.wide_bounds);
            self.moved.push(number);
        }
    }

    /// Puts everything to sleep when all of it has been still for long enough.
    fn fall_asleep(&mut self) {
        const LINEAR: f32 = LINEAR_SLEEP_TOLERANCE * LINEAR_SLEEP_TOLERANCE;
        const ANGULAR: f32 = ANGULAR_SLEEP_TOLERANCE * ANGULAR_SLEEP_TOLERANCE;
        let mut least = f32::MAX;
        for body in &mut self.bodies {
            let spin = body.angular_velocity();
            if spin * spin > ANGULAR || body.velocity().dot(body.velocity()) > LINEAR {
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

    /// Adds a contact for every pair that has come near, in the order of their leaves.
    fn find_pairs(&mut self) {
        let Self { moved, pairs, bodies, ground, contacts, .. } = self;
        if moved.is_empty() {
            return;
        }
        pairs.clear();
        for number in moved.drain(..) {
            let own = bodies[number].leaf;
            ground.query(bodies[number].wide_bounds, |piece| {
                let leaf = ground.piece(piece).leaf;
                let leaves = [leaf.min(own), leaf.max(own)];
                pairs.push(Pair { leaves, body: number, piece });
            });
        }
        pairs.sort_unstable();
        for &Pair { body, piece, .. } in &*pairs {
            if contacts.iter().any(|old| (old.body, old.piece) == (body, piece)) {
                continue;
            }
            let ground = ground.piece(piece);
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
        let ground = &self.ground.piece(contact.piece).shape;
        contact.is_enabled = true;
        let shape = BodyShape { shape: body.shape(), frame: body.frame(), placed: body.placed() };
        contact.manifold = contact.manifold.updated(ground, shape, contact.is_ground_first);
        let is_touching = contact.manifold.n_points > 0;
        if is_touching != contact.is_touching {
            body.wake();
            contact.is_touching = is_touching;
            self.touches.push(Touch { body: contact.body, is_begin: is_touching });
        }
    }

    /// The order in which a search through the joints from the newest body meets bodies and
    /// joints. At each body its newest joint is looked at first, and its newest neighbour last.
    fn find_order(&mut self) {
        let Self { bodies, joints, joint_order, body_order, met, .. } = self;
        joint_order.clear();
        body_order.clear();
        for seed in (0..bodies.len()).rev() {
            if !body_order.contains(&seed) {
                met.push(seed);
            }
            while let Some(body) = met.pop() {
                body_order.push(body);
                for (number, joint) in joints.iter().enumerate().rev() {
                    let [a, b] = joint.spec.bodies;
                    if (a == body || b == body) && !joint_order.contains(&number) {
                        joint_order.push(number);
                        let other = if a == body { b } else { a };
                        if !body_order.contains(&other) && !met.contains(&other) {
                            met.push(other);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
