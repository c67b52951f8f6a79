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

mod body;
mod contact;
mod joint;

use self::body::LaneBody;
use self::contact::{LaneContact, Points};
use self::joint::LaneJoint;
use super::island::{FIRST_ITERATIONS, Island};
use super::math::{Vec2, vec2};
use super::{LINEAR_SLOP, POSITION_ITERATIONS, STEP_S, VELOCITY_ITERATIONS};

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
