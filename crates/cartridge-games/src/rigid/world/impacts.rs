//! Bodies that would pass through the ground within a step.

use super::World;
use crate::rigid::contact::{Contact, ContactConstraint};
use crate::rigid::island::BodyState;
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

impl World {
    /// Finds bodies that would pass through ground, the earliest first, takes them back to where
    /// they meet it, and lets them go on from there for the rest of the step.
    pub(super) fn solve_impacts(&mut self) {
        self.ground.begin_step();
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

    fn solve_impact(&mut self, index: usize, time: f32) {
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
            return;
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

        for contact in &mut self.contacts {
            if contact.body == number {
                contact.impact = None;
            }
        }
        self.find_pairs();
    }

    /// Moves one body out of what it touches, and on for the rest of the step.
    fn move_out(&mut self, number: usize, touching: &[usize], time: f32) {
        let Self { bodies, contacts, impact_contacts: constraints, .. } = self;
        let body = &mut bodies[number];
        let mut state = body.state();
        let prepare = |constraints: &mut Vec<ContactConstraint>, state: &BodyState, rotation| {
            let new =
                |&index| ContactConstraint::new(index, &contacts[index], state, rotation, 0.0);
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
        solve_velocities(constraints, &mut state);
        state.integrate((1.0 - time) * STEP_S);
        self.island.bodies[number] = state;
        self.move_body(number, rotation);
    }
}

/// Repeats the correction of velocities. One body soon comes to where nothing changes any more,
/// or goes to and fro between two states; what is left of the iterations is then left out.
fn solve_velocities(constraints: &mut [ContactConstraint], state: &mut BodyState) {
    let mut before = [Snapshot::EMPTY; 2];
    for iteration in 0..VELOCITY_ITERATIONS {
        for contact in &mut *constraints {
            contact.solve_velocity(state);
        }
        let Some(now) = Snapshot::new(constraints, state) else { continue };
        let is_even = (VELOCITY_ITERATIONS - 1 - iteration).is_multiple_of(2);
        if now == before[0] || (now == before[1] && is_even) {
            break;
        }
        before = [now, before[0]];
    }
}

/// Everything that the correction of velocities changes, as bits.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Snapshot([u32; 3 + 4 * Self::MAX_CONTACTS]);

impl Snapshot {
    /// With more contacts than this, no snapshot is taken.
    const MAX_CONTACTS: usize = 4;
    /// No state: these bits are no number that occurs.
    const EMPTY: Self = Self([u32::MAX; 3 + 4 * Self::MAX_CONTACTS]);

    fn new(constraints: &[ContactConstraint], state: &BodyState) -> Option<Self> {
        if constraints.len() > Self::MAX_CONTACTS {
            return None;
        }
        let mut bits = [0; 3 + 4 * Self::MAX_CONTACTS];
        let (motion, impulses) = bits.split_at_mut(3);
        motion.copy_from_slice(
            &[state.velocity.x, state.velocity.y, state.angular_velocity].map(f32::to_bits),
        );
        for (bits, contact) in impulses.chunks_exact_mut(4).zip(constraints) {
            let [first, second] = &contact.points;
            let impulses = [
                first.normal_impulse,
                first.tangent_impulse,
                second.normal_impulse,
                second.tangent_impulse,
            ];
            bits.copy_from_slice(&impulses.map(f32::to_bits));
        }
        Some(Self(bits))
    }
}
