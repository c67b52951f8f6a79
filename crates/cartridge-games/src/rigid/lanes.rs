//! The iterations of one step for many worlds side by side, one world per lane.
//!
//! One sweep over the constraints of a world is one long chain of operations that depend on each
//! other, so a single world leaves most of a processor idle. Worlds do not depend on each other:
//! here every number is an array with one element per world, and every loop runs over the lanes,
//! which the compiler turns into vector instructions. Each lane does the same operations in the
//! same order as [`Island`], so the bits are the same whatever the instruction set; where
//! worlds differ in what touches and which limits hold, both ways are computed and one is taken.
//!
//! Contacts of different bodies do not depend on each other, so they are sorted by body.

#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calling a function that needs a detected CPU feature")
)]

use super::contact::{ContactConstraint, ContactPoint, Surface};
use super::island::{BodyState, FIRST_ITERATIONS, Island};
use super::joint::{JointConstraint, Limit};
use super::manifold::Face;
use super::math::{Vec2, clamp, max, min, spin, vec2};
use super::trigonometry::{PLAIN_LIMIT, sin_cos, sin_cos_plain};
use super::{
    ANGULAR_SLOP, BAUMGARTE, LINEAR_SLOP, MAX_ANGULAR_CORRECTION, MAX_LINEAR_CORRECTION,
    MAX_ROTATION, MAX_TRANSLATION, POSITION_ITERATIONS, SKIN, STEP_S, VELOCITY_ITERATIONS,
};

/// Worlds that are solved side by side: as many as the widest vectors have elements. Twice as many
/// are no faster, so the work is not held up by operations that wait for each other.
pub(crate) const N_LANES: usize = 16;

/// Room for this many contacts of a body is made at once.
const ROOM: usize = 16;

/// One number per lane.
type Lanes = [f32; N_LANES];
/// Whether something holds, per lane: all bits or none.
type Mask = [u32; N_LANES];

const ZERO: Lanes = [0.0; N_LANES];

/// The islands of several worlds of the same make.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneIsland {
    bodies: Vec<LaneBody>,
    joints: Vec<LaneJoint>,
    /// For each body, its contacts in the order in which they are solved.
    contacts: Vec<Vec<LaneContact>>,
    /// How many contacts a body has in the lane where it has most.
    n_contacts: Vec<usize>,
    /// The lanes that are in use.
    n_lanes: usize,
    is_settled: [bool; N_LANES],
}

/// A vector per lane.
#[derive(Clone, Copy, Debug)]
struct LaneVec {
    x: Lanes,
    y: Lanes,
}

#[derive(Clone, Debug)]
#[repr(align(64))]
struct LaneBody {
    center: LaneVec,
    angle: Lanes,
    velocity: LaneVec,
    angular_velocity: Lanes,
    inverse_mass: Lanes,
    inverse_inertia: Lanes,
    local_center: LaneVec,
}

#[derive(Clone, Debug)]
#[repr(align(64))]
struct LaneJoint {
    bodies: [usize; 2],
    /// Whether any lane is at a limit.
    has_limits: bool,
    is_limited: Mask,
    is_lower: Mask,
    arms: [LaneVec; 2],
    xx: Lanes,
    xy: Lanes,
    yy: Lanes,
    xz: Lanes,
    yz: Lanes,
    zz: Lanes,
    cross: [Lanes; 3],
    inverse3: Lanes,
    inverse2: Lanes,
    motor_mass: Lanes,
    motor_speed: Lanes,
    max_motor_impulse: Lanes,
    pin_impulse: LaneVec,
    limit_impulse: Lanes,
    motor_impulse: Lanes,
    local_arms: [LaneVec; 2],
    reference_angle: Lanes,
    lower: Lanes,
    upper: Lanes,
}

#[derive(Clone, Debug)]
#[repr(align(64))]
struct LaneContact {
    /// Lanes that have this contact, and those where it has two points.
    is_there: Mask,
    is_double: Mask,
    points: Points,
    friction: Lanes,
    normal: LaneVec,
    arms: [LaneVec; 2],
    normal_impulse: [Lanes; 2],
    tangent_impulse: [Lanes; 2],
    normal_mass: [Lanes; 2],
    tangent_mass: [Lanes; 2],
    block: [Lanes; 3],
    inverse_block: [Lanes; 3],
    surface: LaneSurface,
}

/// How many points a contact has, over all lanes that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Points {
    One,
    Two,
    Mixed,
}

#[derive(Clone, Debug)]
struct LaneSurface {
    is_body_face: Mask,
    /// Lanes that have the first point, and the second.
    has_point: [Mask; 2],
    normal: LaneVec,
    plane_point: LaneVec,
    places: [LaneVec; 2],
}

impl LaneVec {
    const ZERO: Self = Self { x: ZERO, y: ZERO };

    #[inline(always)]
    fn get(&self, lane: usize) -> Vec2 {
        vec2(self.x[lane], self.y[lane])
    }

    #[inline(always)]
    fn set(&mut self, lane: usize, v: Vec2) {
        self.x[lane] = v.x;
        self.y[lane] = v.y;
    }
}

const fn mask(holds: bool) -> u32 {
    if holds { u32::MAX } else { 0 }
}

#[inline(always)]
fn select(mask: u32, a: f32, b: f32) -> f32 {
    if mask != 0 { a } else { b }
}

#[inline(always)]
fn select2(mask: u32, a: Vec2, b: Vec2) -> Vec2 {
    vec2(select(mask, a.x, b.x), select(mask, a.y, b.y))
}

impl LaneIsland {
    /// Empties all lanes.
    pub(crate) fn clear(&mut self) {
        self.n_lanes = 0;
        self.n_contacts.fill(0);
        for joint in &mut self.joints {
            joint.has_limits = false;
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.n_lanes == N_LANES
    }

    /// Takes an island into the next lane.
    ///
    /// # Panics
    ///
    /// If all lanes are taken, or the island is of another make than those that came before.
    pub(crate) fn load(&mut self, island: &Island) {
        assert!(!self.is_full(), "all lanes are taken");
        if self.bodies.is_empty() {
            self.bodies.resize(island.bodies.len(), LaneBody::ZERO);
            self.joints = island.joints.iter().map(LaneJoint::new).collect();
            self.contacts.resize_with(island.bodies.len(), || Vec::with_capacity(ROOM));
            self.n_contacts.resize(island.bodies.len(), 0);
        }
        let lane = self.n_lanes;
        self.n_lanes += 1;
        assert_eq!(self.bodies.len(), island.bodies.len(), "islands are of one make");
        assert_eq!(self.joints.len(), island.joints.len(), "islands are of one make");
        for (body, state) in self.bodies.iter_mut().zip(&island.bodies) {
            body.load(lane, state);
        }
        for (joint, constraint) in self.joints.iter_mut().zip(&island.joints) {
            joint.load(lane, constraint);
        }
        let mut last = None;
        let mut place = 0;
        for constraint in &island.contacts {
            place = if last == Some(constraint.body) { place + 1 } else { 0 };
            last = Some(constraint.body);
            let contacts = &mut self.contacts[constraint.body];
            let n_contacts = &mut self.n_contacts[constraint.body];
            if place == *n_contacts {
                *n_contacts += 1;
                match contacts.get_mut(place) {
                    Some(contact) => contact.clear(),
                    None => contacts.push(LaneContact::ZERO),
                }
            }
            contacts[place].load(lane, constraint);
        }
    }

    /// Puts the result of a lane into the island that was loaded there.
    pub(crate) fn store(&self, lane: usize, island: &mut Island) {
        for (body, state) in self.bodies.iter().zip(&mut island.bodies) {
            body.store(lane, state);
        }
        for (joint, constraint) in self.joints.iter().zip(&mut island.joints) {
            constraint.pin_impulse = joint.pin_impulse.get(lane);
            constraint.limit_impulse = joint.limit_impulse[lane];
            constraint.motor_impulse = joint.motor_impulse[lane];
        }
        let mut last = None;
        let mut place = 0;
        for constraint in &mut island.contacts {
            place = if last == Some(constraint.body) { place + 1 } else { 0 };
            last = Some(constraint.body);
            let contact = &self.contacts[constraint.body][place];
            for (index, point) in constraint.points.iter_mut().enumerate() {
                point.normal_impulse = contact.normal_impulse[index][lane];
                point.tangent_impulse = contact.tangent_impulse[index][lane];
            }
        }
        island.is_settled = self.is_settled[lane];
    }

    /// What [`Island::start`] does, in every lane.
    pub(crate) fn start(&mut self) {
        self.run(Level::detect(), Part::Start);
    }

    /// What [`Island::settle`] does, in every lane.
    pub(crate) fn settle(&mut self) {
        self.run(Level::detect(), Part::Settle);
    }

    fn run(&mut self, level: Level, part: Part) {
        for body in &mut self.bodies {
            (self.n_lanes..N_LANES).for_each(|lane| body.rest(lane));
        }
        for (contacts, &n) in self.contacts.iter_mut().zip(&self.n_contacts) {
            contacts[..n].iter_mut().for_each(LaneContact::count_points);
        }
        level.run(self, part);
    }

    #[inline(always)]
    fn run_here(&mut self, part: Part) {
        match part {
            Part::Start => {
                self.solve_velocities();
                self.solve_positions(FIRST_ITERATIONS);
            }
            Part::Settle => self.solve_positions(POSITION_ITERATIONS - FIRST_ITERATIONS),
        }
    }

    #[inline(always)]
    fn solve_velocities(&mut self) {
        for _ in 0..VELOCITY_ITERATIONS {
            for joint in &mut self.joints {
                let [a, b] =
                    self.bodies.get_disjoint_mut(joint.bodies).expect("a joint has two bodies");
                if joint.has_limits {
                    joint.solve_velocity::<true>(a, b);
                } else {
                    joint.solve_velocity::<false>(a, b);
                }
            }
            for ((body, contacts), &n) in
                self.bodies.iter_mut().zip(&mut self.contacts).zip(&self.n_contacts)
            {
                for contact in &mut contacts[..n] {
                    match contact.points {
                        Points::One => contact.solve_velocity::<true, false>(body),
                        Points::Two => contact.solve_velocity::<false, true>(body),
                        Points::Mixed => contact.solve_velocity::<true, true>(body),
                    }
                }
            }
        }
        for body in &mut self.bodies {
            body.integrate(STEP_S);
        }
    }

    #[inline(always)]
    fn solve_positions(&mut self, n_iterations: usize) {
        self.is_settled = [false; N_LANES];
        let mut is_active: Mask = std::array::from_fn(|lane| mask(lane < self.n_lanes));
        for _ in 0..n_iterations {
            let is_good = self.solve_positions_once(&is_active);
            for lane in 0..N_LANES {
                let is_done = is_active[lane] & is_good[lane];
                self.is_settled[lane] |= is_done != 0;
                is_active[lane] &= !is_done;
            }
            if is_active == [0; N_LANES] {
                break;
            }
        }
    }

    /// Corrects the positions of active lanes once; returns where they were good enough before.
    #[inline(always)]
    fn solve_positions_once(&mut self, is_active: &Mask) -> Mask {
        let mut least = ZERO;
        for ((body, contacts), &n) in
            self.bodies.iter_mut().zip(&self.contacts).zip(&self.n_contacts)
        {
            for contact in &contacts[..n] {
                contact.surface.solve_position::<0>(body, is_active, &mut least);
                if contact.surface.has_point[1] != [0; N_LANES] {
                    contact.surface.solve_position::<1>(body, is_active, &mut least);
                }
            }
        }
        let mut is_good: Mask = std::array::from_fn(|lane| mask(least[lane] >= -3.0 * LINEAR_SLOP));
        for joint in &self.joints {
            let [a, b] =
                self.bodies.get_disjoint_mut(joint.bodies).expect("a joint has two bodies");
            joint.solve_position(a, b, is_active, &mut is_good);
        }
        is_good
    }
}

impl LaneBody {
    const ZERO: Self = Self {
        center: LaneVec::ZERO,
        angle: ZERO,
        velocity: LaneVec::ZERO,
        angular_velocity: ZERO,
        inverse_mass: ZERO,
        inverse_inertia: ZERO,
        local_center: LaneVec::ZERO,
    };

    fn load(&mut self, lane: usize, state: &BodyState) {
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
    fn rest(&mut self, lane: usize) {
        self.center.set(lane, Vec2::ZERO);
        self.angle[lane] = 0.0;
        self.velocity.set(lane, Vec2::ZERO);
        self.angular_velocity[lane] = 0.0;
        self.inverse_mass[lane] = 0.0;
        self.inverse_inertia[lane] = 0.0;
    }

    fn store(&self, lane: usize, state: &mut BodyState) {
        state.center = self.center.get(lane);
        state.angle = self.angle[lane];
        state.velocity = self.velocity.get(lane);
        state.angular_velocity = self.angular_velocity[lane];
    }

    #[inline(always)]
    fn integrate(&mut self, seconds: f32) {
        for lane in 0..N_LANES {
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
    fn rotation(angle: &Lanes) -> (Lanes, Lanes) {
        let (mut sin, mut cos) = (ZERO, ZERO);
        let mut is_plain = true;
        for x in angle {
            is_plain &= x.abs() < PLAIN_LIMIT;
        }
        if is_plain {
            for lane in 0..N_LANES {
                (sin[lane], cos[lane]) = sin_cos_plain(angle[lane]);
            }
        } else {
            for lane in 0..N_LANES {
                (sin[lane], cos[lane]) = sin_cos(angle[lane]);
            }
        }
        (sin, cos)
    }
}

#[inline(always)]
fn rotate(sin: f32, cos: f32, v: Vec2) -> Vec2 {
    vec2(cos * v.x - sin * v.y, sin * v.x + cos * v.y)
}

impl LaneJoint {
    fn new(constraint: &JointConstraint) -> Self {
        Self {
            bodies: constraint.bodies,
            has_limits: false,
            is_limited: [0; N_LANES],
            is_lower: [0; N_LANES],
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

    fn load(&mut self, lane: usize, joint: &JointConstraint) {
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
    fn solve_velocity<const HAS_LIMITS: bool>(&mut self, a: &mut LaneBody, b: &mut LaneBody) {
        for lane in 0..N_LANES {
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
    fn solve_position(
        &self,
        a: &mut LaneBody,
        b: &mut LaneBody,
        is_active: &Mask,
        is_good: &mut Mask,
    ) {
        let (mut angle_a, mut angle_b, mut error) = (ZERO, ZERO, ZERO);
        for lane in 0..N_LANES {
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
        for lane in 0..N_LANES {
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
            let active = is_active[lane];
            a.center.set(lane, select2(active, ca - ma * impulse, ca));
            b.center.set(lane, select2(active, cb + mb * impulse, cb));
            let (aa, ab) = (angle_a[lane], angle_b[lane]);
            a.angle[lane] = select(active, aa - ia * ra.cross(impulse), a.angle[lane]);
            b.angle[lane] = select(active, ab + ib * rb.cross(impulse), b.angle[lane]);
            let is_fine = mask(linear_error <= LINEAR_SLOP) & mask(error[lane] <= ANGULAR_SLOP);
            is_good[lane] &= is_fine;
        }
    }
}

impl LaneContact {
    const ZERO: Self = Self {
        is_there: [0; N_LANES],
        is_double: [0; N_LANES],
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
            is_body_face: [0; N_LANES],
            has_point: [[0; N_LANES]; 2],
            normal: LaneVec::ZERO,
            plane_point: LaneVec::ZERO,
            places: [LaneVec::ZERO; 2],
        },
    };

    /// Takes the contact away from all lanes. What is left of its numbers is not used.
    fn clear(&mut self) {
        self.is_there = [0; N_LANES];
        self.is_double = [0; N_LANES];
        self.surface.has_point = [[0; N_LANES]; 2];
    }

    fn load(&mut self, lane: usize, contact: &ContactConstraint) {
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

    fn count_points(&mut self) {
        self.points = if self.is_double == [0; N_LANES] {
            Points::One
        } else if self.is_double == self.is_there {
            Points::Two
        } else {
            Points::Mixed
        };
    }

    #[inline(always)]
    fn solve_velocity<const HAS_ONE: bool, const HAS_TWO: bool>(&mut self, body: &mut LaneBody) {
        for lane in 0..N_LANES {
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
    fn load(&mut self, lane: usize, surface: &Surface) {
        self.is_body_face[lane] = mask(surface.face == Face::Body);
        self.normal.set(lane, surface.normal);
        self.plane_point.set(lane, surface.plane_point);
        for index in 0..2 {
            self.has_point[index][lane] = mask(index < surface.n_points);
            self.places[index].set(lane, surface.places[index]);
        }
    }

    #[inline(always)]
    fn solve_position<const INDEX: usize>(
        &self,
        body: &mut LaneBody,
        is_active: &Mask,
        least: &mut Lanes,
    ) {
        let (sin, cos) = LaneBody::rotation(&body.angle);
        for lane in 0..N_LANES {
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
            let is_there = self.has_point[INDEX][lane] & is_active[lane];
            least[lane] = select(is_there, min(least[lane], separation), least[lane]);
            body.center.set(lane, select2(is_there, center + mass * push, center));
            let angle = body.angle[lane];
            body.angle[lane] = select(is_there, angle + inertia * arm.cross(push), angle);
        }
    }
}

/// What is done to an island.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Start,
    Settle,
}

/// An instruction set for which the iterations are compiled. Only a detected one can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The best instruction set of this processor.
    fn detect() -> Self {
        Self::available().last().expect("the baseline is always there")
    }

    /// Every instruction set of this processor, the best last.
    fn available() -> impl Iterator<Item = Self> {
        const ALL: &[Level] = &[
            Level::Baseline,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512,
        ];
        ALL.iter().copied().filter(|level| match level {
            Self::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
            }
        })
    }

    fn run(self, island: &mut LaneIsland, part: Part) {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn avx2(island: &mut LaneIsland, part: Part) {
            island.run_here(part);
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,avx512f,avx512vl,avx512dq")]
        fn avx512(island: &mut LaneIsland, part: Part) {
            island.run_here(part);
        }
        match self {
            Self::Baseline => island.run_here(part),
            // SAFETY: a level other than the baseline exists only where it was detected.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { avx2(island, part) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { avx512(island, part) },
        }
    }
}

#[cfg(test)]
mod tests;
