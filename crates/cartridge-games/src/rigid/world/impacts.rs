//! Bodies that would pass through the ground within a step.

use super::{ROOM, World};
use crate::rigid::contact::{Contact, ContactConstraint};
use crate::rigid::island::{BodyState, Island};
use crate::rigid::math::{Rotation, Sweep, min};
use crate::rigid::time_of_impact::{Moving, NEAR, time_of_impact};
use crate::rigid::{IMPACT_BAUMGARTE, LINEAR_SLOP, STEP_S, VELOCITY_ITERATIONS};

/// After so many impacts in a step a contact is left alone.
const MAX_IMPACTS: u32 = 8;
const MAX_CONTACTS: usize = 32;
const POSITION_ITERATIONS: usize = 20;
/// A body that never comes as near as this, in m, has no impact: more than it takes to count as
/// near, with room for rounding.
const CLEARANCE: f32 = NEAR + 0.001;

/// A body that has met the ground within a step, and what it touches there: an island of its own,
/// of which only the velocities are to be corrected.
#[derive(Clone, Debug)]
pub struct Impact {
    pub(crate) island: Island,
    /// Number of the body in the world.
    body: usize,
    /// When it met the ground, as a part of the step.
    time: f32,
    rotation: Rotation,
}

impl World {
    pub(super) fn begin_impacts(&mut self) {
        self.ground.begin_step();
        for body in &mut self.bodies {
            body.sweep.time_before = 0.0;
        }
        for contact in &mut self.contacts {
            contact.impact = None;
            contact.n_impacts = 0;
        }
    }

    /// Finds the earliest body that would pass through ground and takes it back to where it meets
    /// it. When it is solved, [`Self::end_impact`] lets it go on from there for the rest of the
    /// step. False when there is none.
    pub(super) fn begin_impact(&mut self) -> bool {
        while let Some((index, time)) = self.first_impact() {
            if self.meet(index, time) {
                return true;
            }
        }
        false
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
                None if self.bodies[contact.body].is_awake() => self.impact_time(index),
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
        let body = &mut self.bodies[contact.body];
        let part = self.ground.piece(contact.piece).part;
        let ground_time = self.ground.time_mut(part);
        // Both must begin at the same time.
        if *ground_time < body.sweep.time_before {
            *ground_time = body.sweep.time_before;
        } else if body.sweep.time_before < *ground_time {
            body.sweep.advance(*ground_time);
        }
        let piece = self.ground.piece(contact.piece);
        let mut time = 1.0;
        if !body.stays_clear(piece.bare_bounds(), piece.shape.lines(), CLEARANCE) {
            let begin = body.sweep.time_before;
            let fixed = Moving { corners: piece.shape.corners(), sweep: Sweep::REST };
            let moving = Moving { corners: body.shape().corners(), sweep: body.sweep };
            let part = if contact.is_ground_first {
                time_of_impact(fixed, moving)
            } else {
                time_of_impact(moving, fixed)
            };
            if let Some(part) = part {
                time = min(begin + (1.0 - begin) * part, 1.0);
            }
        }
        contact.impact = Some(time);
        time
    }

    /// Takes a body back to where it meets ground; false if it does not touch there after all.
    fn meet(&mut self, index: usize, time: f32) -> bool {
        let Contact { body: number, piece, .. } = self.contacts[index];
        let part = self.ground.piece(piece).part;
        let (sweep, ground_time) = (self.bodies[number].sweep, *self.ground.time_mut(part));
        self.bodies[number].advance(time);
        *self.ground.time_mut(part) = time;
        self.update_contact(index);
        let contact = &mut self.contacts[index];
        contact.impact = None;
        contact.n_impacts += 1;
        if !contact.is_touching {
            contact.is_enabled = false;
            *self.ground.time_mut(part) = ground_time;
            self.bodies[number].sweep = sweep;
            self.bodies[number].place();
            return false;
        }
        self.bodies[number].wake();

        // Everything else that the body touches there takes part.
        let mut touching = [0; MAX_CONTACTS];
        let mut n_touching = 1;
        touching[0] = index;
        for other in (0..self.contacts.len()).rev() {
            if n_touching == MAX_CONTACTS {
                break;
            }
            if other == index || self.contacts[other].body != number {
                continue;
            }
            self.update_contact(other);
            if self.contacts[other].is_touching {
                let part = self.ground.piece(self.contacts[other].piece).part;
                *self.ground.time_mut(part) = time;
                touching[n_touching] = other;
                n_touching += 1;
            }
        }
        self.move_out(number, &touching[..n_touching], time);
        true
    }

    /// Moves one body out of what it touches, and prepares the correction of its velocity.
    fn move_out(&mut self, number: usize, touching: &[usize], time: f32) {
        let Self { bodies, contacts, impact, .. } = self;
        let body = &mut bodies[number];
        let mut state = body.state();
        let constraints = &mut impact.island.contacts;
        let prepare = |constraints: &mut Vec<ContactConstraint>, state: &BodyState, rotation| {
            let new = |&index| {
                // It is the only body of its island.
                let new = ContactConstraint::new(index, &contacts[index], state, rotation, 0.0);
                ContactConstraint { body: 0, ..new }
            };
            constraints.clear();
            constraints.extend(touching.iter().map(new));
        };
        prepare(constraints, &state, body.frame().rotation);
        for _ in 0..POSITION_ITERATIONS {
            let mut least = 0.0;
            for contact in &*constraints {
                least = min(least, contact.solve_position(&mut state, IMPACT_BAUMGARTE));
            }
            if least >= -1.5 * LINEAR_SLOP {
                break;
            }
        }
        let rotation = Rotation::new(state.angle);
        body.begin_sweep(state.center, state.angle, rotation);
        prepare(constraints, &state, rotation);
        impact.island.bodies.clear();
        impact.island.bodies.push(state);
        (impact.body, impact.time, impact.rotation) = (number, time, rotation);
    }

    /// Lets the body of the impact go on for the rest of the step.
    pub(super) fn end_impact(&mut self) {
        let Impact { ref island, body: number, time, rotation } = self.impact;
        let mut state = island.bodies[0];
        state.integrate((1.0 - time) * STEP_S);
        self.island.bodies[number] = state;
        self.move_body(number, rotation);
        for contact in &mut self.contacts {
            if contact.body == number {
                contact.impact = None;
            }
        }
        self.find_pairs();
    }
}

impl Impact {
    pub(super) fn new() -> Self {
        let contacts = Vec::with_capacity(ROOM);
        let island = Island { bodies: Vec::with_capacity(1), contacts, ..Island::default() };
        Self { island, body: 0, time: 0.0, rotation: Rotation::new(0.0) }
    }

    /// Whether it takes few iterations: so it does where only one thing is touched.
    pub(crate) fn is_short(&self) -> bool {
        self.island.contacts.len() == 1
    }
}

impl Island {
    /// Repeats the correction of velocities alone. One body often comes to where nothing changes
    /// any more, or goes to and fro between two states; what is left of the iterations is then
    /// left out.
    pub(crate) fn solve_impact(&mut self) {
        let Self { bodies, contacts, .. } = self;
        let state = &mut bodies[0];
        let mut before = [Snapshot::EMPTY; 2];
        for iteration in 0..VELOCITY_ITERATIONS {
            for contact in &mut *contacts {
                contact.solve_velocity(state);
            }
            let Some(now) = Snapshot::new(contacts, state) else { continue };
            let is_even = (VELOCITY_ITERATIONS - 1 - iteration).is_multiple_of(2);
            if now == before[0] || (now == before[1] && is_even) {
                break;
            }
            before = [now, before[0]];
        }
    }
}

/// Everything that the correction of velocities changes, as bits. The motion is compared first:
/// mostly it differs.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Snapshot {
    motion: [u32; 3],
    impulses: [[u32; 4]; Self::MAX_CONTACTS],
}

impl Snapshot {
    /// With more contacts than this, no snapshot is taken.
    const MAX_CONTACTS: usize = 4;
    /// No state: these bits are no number that occurs.
    const EMPTY: Self =
        Self { motion: [u32::MAX; 3], impulses: [[u32::MAX; 4]; Self::MAX_CONTACTS] };

    fn new(contacts: &[ContactConstraint], state: &BodyState) -> Option<Self> {
        if contacts.len() > Self::MAX_CONTACTS {
            return None;
        }
        let motion = [state.velocity.x, state.velocity.y, state.angular_velocity];
        let mut impulses = [[0; 4]; Self::MAX_CONTACTS];
        for (bits, contact) in impulses.iter_mut().zip(contacts) {
            let [first, second] = &contact.points;
            let numbers = [
                first.normal_impulse,
                first.tangent_impulse,
                second.normal_impulse,
                second.tangent_impulse,
            ];
            *bits = numbers.map(f32::to_bits);
        }
        Some(Self { motion: motion.map(f32::to_bits), impulses })
    }
}
