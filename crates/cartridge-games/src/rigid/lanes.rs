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

/// Worlds that are solved side by side.
pub(crate) const N_LANES: usize = N_BLOCKS * WIDTH;
/// Two blocks keep the processor busy; three are slower.
const N_BLOCKS: usize = 2;
/// As many as the widest vectors have elements. With 8 the compiler unrolls the loops over the
/// lanes before it sees vectors in them, and all is half as fast.
const WIDTH: usize = 16;

/// Room for this many contacts of a body is made at once.
const ROOM: usize = 16;

/// One number per lane.
type Lanes = [f32; WIDTH];
/// Whether something holds, per lane: all bits or none.
type Mask = [u32; WIDTH];

const ZERO: Lanes = [0.0; WIDTH];

/// The islands of several worlds of the same make.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneIslands {
    blocks: [Block; N_BLOCKS],
    /// The lanes that are in use.
    n_lanes: usize,
}

/// The islands of as many worlds as a vector has elements.
#[derive(Clone, Debug, Default)]
struct Block {
    bodies: Vec<LaneBody>,
    joints: Vec<LaneJoint>,
    /// For each body, its contacts in the order in which they are solved.
    contacts: Vec<Vec<LaneContact>>,
    /// How many contacts a body has in the lane where it has most.
    n_contacts: Vec<usize>,
    /// The lanes that are in use.
    n_lanes: usize,
    /// The lanes whose positions are still corrected.
    is_active: Active,
    is_settled: [bool; WIDTH],
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

impl LaneIslands {
    /// Empties all lanes.
    pub(crate) fn clear(&mut self) {
        self.n_lanes = 0;
        self.blocks.iter_mut().for_each(Block::clear);
    }

    /// Takes an island into the next lane.
    ///
    /// # Panics
    ///
    /// If all lanes are taken, or the island is of another make than those that came before.
    pub(crate) fn load(&mut self, island: &Island) {
        assert!(self.n_lanes < N_LANES, "all lanes are taken");
        self.blocks[self.n_lanes / WIDTH].load(island);
        self.n_lanes += 1;
    }

    /// Puts the result of a lane into the island that was loaded there.
    pub(crate) fn store(&self, lane: usize, island: &mut Island) {
        self.blocks[lane / WIDTH].store(lane % WIDTH, island);
    }

    /// What [`Island::start`] does, in every lane.
    pub(crate) fn start(&mut self) {
        self.run(Level::detect(), Part::Start);
    }

    /// What [`Island::settle`] does, in every lane.
    pub(crate) fn settle(&mut self) {
        self.run(Level::detect(), Part::Settle);
    }

    /// What [`Island::solve_impact`] does, in every lane.
    pub(crate) fn solve_impacts(&mut self) {
        self.run(Level::detect(), Part::Impact);
    }

    fn run(&mut self, level: Level, part: Part) {
        let blocks = &mut self.blocks[..self.n_lanes.div_ceil(WIDTH)];
        blocks.iter_mut().for_each(Block::prepare);
        level.run(blocks, part);
    }
}

impl Block {
    fn clear(&mut self) {
        self.n_lanes = 0;
        self.n_contacts.fill(0);
        for joint in &mut self.joints {
            joint.has_limits = false;
        }
    }

    fn load(&mut self, island: &Island) {
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

    fn store(&self, lane: usize, island: &mut Island) {
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

    /// Makes ready what depends on all lanes.
    fn prepare(&mut self) {
        for body in &mut self.bodies {
            (self.n_lanes..WIDTH).for_each(|lane| body.rest(lane));
        }
        for (contacts, &n) in self.contacts.iter_mut().zip(&self.n_contacts) {
            contacts[..n].iter_mut().for_each(LaneContact::count_points);
        }
    }

    #[inline(always)]
    fn solve_joint_velocity(&mut self, number: usize) {
        let joint = &mut self.joints[number];
        let [a, b] = self.bodies.get_disjoint_mut(joint.bodies).expect("a joint has two bodies");
        if joint.has_limits {
            joint.solve_velocity::<true>(a, b);
        } else {
            joint.solve_velocity::<false>(a, b);
        }
    }

    #[inline(always)]
    fn solve_contact_velocities(&mut self, number: usize) {
        let body = &mut self.bodies[number];
        for contact in &mut self.contacts[number][..self.n_contacts[number]] {
            match contact.points {
                Points::One => contact.solve_velocity::<true, false>(body),
                Points::Two => contact.solve_velocity::<false, true>(body),
                Points::Mixed => contact.solve_velocity::<true, true>(body),
            }
        }
    }

    fn begin_positions(&mut self) {
        self.is_settled = [false; WIDTH];
        self.is_active.lanes = std::array::from_fn(|lane| mask(lane < self.n_lanes));
    }

    /// Corrects the positions of active lanes once.
    #[inline(always)]
    fn solve_contact_positions(&mut self, number: usize) {
        let body = &mut self.bodies[number];
        for contact in &self.contacts[number][..self.n_contacts[number]] {
            if contact.surface.has_point::<0>(&self.is_active) {
                contact.surface.solve_position::<0>(body, &mut self.is_active);
            }
            if contact.surface.has_point::<1>(&self.is_active) {
                contact.surface.solve_position::<1>(body, &mut self.is_active);
            }
        }
    }

    #[inline(always)]
    fn solve_joint_position(&mut self, number: usize) {
        let joint = &self.joints[number];
        let [a, b] = self.bodies.get_disjoint_mut(joint.bodies).expect("a joint has two bodies");
        joint.solve_position(a, b, &mut self.is_active);
    }

    /// Retires the lanes that were good enough; true when none is left.
    #[inline(always)]
    fn end_positions(&mut self) -> bool {
        let Active { lanes, least, is_good } = &mut self.is_active;
        for lane in 0..WIDTH {
            let is_near = mask(least[lane] >= -3.0 * LINEAR_SLOP);
            let is_done = lanes[lane] & is_near & is_good[lane];
            self.is_settled[lane] |= is_done != 0;
            lanes[lane] &= !is_done;
        }
        *lanes == [0; WIDTH]
    }
}

/// Does one part in all blocks at once. They take turns after every constraint: the next step of
/// one block must wait for the last, and meanwhile the processor has the other block to work on.
#[inline(always)]
fn run_here(blocks: &mut [Block], part: Part) {
    match part {
        Part::Start => {
            solve_velocities(blocks);
            for body in blocks.iter_mut().flat_map(|block| &mut block.bodies) {
                body.integrate(STEP_S);
            }
            solve_positions(blocks, FIRST_ITERATIONS);
        }
        Part::Settle => solve_positions(blocks, POSITION_ITERATIONS - FIRST_ITERATIONS),
        Part::Impact => solve_velocities(blocks),
    }
}

#[inline(always)]
fn solve_velocities(blocks: &mut [Block]) {
    let (n_bodies, n_joints) = (blocks[0].bodies.len(), blocks[0].joints.len());
    for _ in 0..VELOCITY_ITERATIONS {
        for joint in 0..n_joints {
            for block in &mut *blocks {
                block.solve_joint_velocity(joint);
            }
        }
        for body in 0..n_bodies {
            for block in &mut *blocks {
                block.solve_contact_velocities(body);
            }
        }
    }
}

#[inline(always)]
fn solve_positions(blocks: &mut [Block], n_iterations: usize) {
    let (n_bodies, n_joints) = (blocks[0].bodies.len(), blocks[0].joints.len());
    blocks.iter_mut().for_each(Block::begin_positions);
    for _ in 0..n_iterations {
        for block in &mut *blocks {
            block.is_active.least = ZERO;
            block.is_active.is_good = [u32::MAX; WIDTH];
        }
        for body in 0..n_bodies {
            for block in &mut *blocks {
                block.solve_contact_positions(body);
            }
        }
        for joint in 0..n_joints {
            for block in &mut *blocks {
                block.solve_joint_position(joint);
            }
        }
        let mut is_over = true;
        for block in &mut *blocks {
            is_over &= block.end_positions();
        }
        if is_over {
            break;
        }
    }
}

/// How the positions of active lanes were found in an iteration.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Active {
    /// Those that are corrected.
    lanes: Mask,
    /// The least separation of a contact.
    least: Lanes,
    /// Whether all joints were good enough.
    is_good: Mask,
}

impl Default for Active {
    fn default() -> Self {
        Self { lanes: [0; WIDTH], least: ZERO, is_good: [0; WIDTH] }
    }
}

/// What is done to an island.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Start,
    Settle,
    Impact,
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

    fn run(self, blocks: &mut [Block], part: Part) {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn avx2(blocks: &mut [Block], part: Part) {
            run_here(blocks, part);
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,avx512f,avx512vl,avx512dq")]
        fn avx512(blocks: &mut [Block], part: Part) {
            run_here(blocks, part);
        }
        match self {
            Self::Baseline => run_here(blocks, part),
            // SAFETY: a level other than the baseline exists only where it was detected.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { avx2(blocks, part) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { avx512(blocks, part) },
        }
    }
}

#[cfg(test)]
mod tests;
