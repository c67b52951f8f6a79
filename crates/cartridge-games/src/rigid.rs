//! Rigid bodies in the plane: a mechanism of convex bodies held together by motorised joints,
//! above ground that does not move.
//!
//! The method is that of Box2D 2.3.0 (Erin Catto), step by step and in the same order of
//! arithmetic, because what it computes must equal Gymnasium's to the last bit; the code and its
//! structure are ours. Of the method, what no environment uses is left out: circles, contacts
//! between bodies, restitution, sensors, bullets.
//!
//! # Layout, in the order of a step
//!
//! * [`world`]: finds pairs and contacts of [`body`] and [`ground`], prepares an island, takes its
//!   result back, and sees to bodies that would pass through the ground.
//! * [`tree`]: how things are numbered. [`manifold`]: where two shapes touch.
//! * [`island`]: the iterations over flat arrays, with [`joint`] and [`contact`]; [`lanes`] does
//!   them for many worlds at once.
//! * [`time_of_impact`], on [`distance`]: when two shapes meet.
//! * [`shape`], [`math`], [`trigonometry`]: what the others are made of.
//!
//! # Exactness
//!
//! Everything is `f32`, nothing is fused or reordered, and sine and cosine are glibc's. The ground
//! is at the origin, so its transform is left out, and a contact has one body: both leave every
//! number as it was.
//!
//! # Notice
//!
//! For the method, and because our engine is a work derived from the study of it:
//!
//! > Copyright (c) 2006-2013 Erin Catto <http://www.box2d.org>
//! >
//! > This software is provided 'as-is', without any express or implied warranty. In no event will
//! > the authors be held liable for any damages arising from the use of this software. Permission
//! > is granted to anyone to use this software for any purpose, including commercial applications,
//! > and to alter it and redistribute it freely, subject to the following restrictions:
//! >
//! > 1. The origin of this software must not be misrepresented; you must not claim that you wrote
//! >    the original software. If you use this software in a product, an acknowledgment in the
//! >    product documentation would be appreciated but is not required.
//! > 2. Altered source versions must be plainly marked as such, and must not be misrepresented as
//! >    being the original software.
//! > 3. This notice may not be removed or altered from any source distribution.

mod body;
mod contact;
mod distance;
mod ground;
mod island;
mod joint;
mod lanes;
mod manifold;
mod math;
mod shape;
#[cfg(test)]
pub(crate) mod stored;
mod time_of_impact;
mod tree;
mod trigonometry;
mod world;

use std::f32::consts::PI;

pub(crate) use body::{Body, BodySpec};
pub use island::Island;
pub(crate) use joint::JointSpec;
pub(crate) use lanes::{LaneIslands, N_LANES};
pub(crate) use math::{Vec2, vec2};
pub(crate) use shape::{Edge, GroundShape, Polygon};
pub use world::Impact;
pub(crate) use world::World;

/// Seconds per step.
const STEP_S: f32 = 0.02;
const VELOCITY_ITERATIONS: usize = 180;
const POSITION_ITERATIONS: usize = 60;

/// How far two things may overlap, in m, before they are pushed apart.
const LINEAR_SLOP: f32 = 0.005;
/// The same of joints, in radians.
const ANGULAR_SLOP: f32 = 2.0 / 180.0 * PI;
/// Every shape has a skin of this thickness, in m.
const SKIN: f32 = 2.0 * LINEAR_SLOP;
/// The part of an overlap that one iteration takes away.
const BAUMGARTE: f32 = 0.2;
/// The same after an impact.
const IMPACT_BAUMGARTE: f32 = 0.75;
/// m per iteration.
const MAX_LINEAR_CORRECTION: f32 = 0.2;
/// Radians per iteration.
const MAX_ANGULAR_CORRECTION: f32 = 8.0 / 180.0 * PI;
/// m per step.
const MAX_TRANSLATION: f32 = 2.0;
/// Radians per step.
const MAX_ROTATION: f32 = 0.5 * PI;
/// Bodies that are slower for this long fall asleep.
const TIME_TO_SLEEP_S: f32 = 0.5;
/// m/s.
const LINEAR_SLEEP_TOLERANCE: f32 = 0.01;
/// rad/s.
const ANGULAR_SLEEP_TOLERANCE: f32 = 2.0 / 180.0 * PI;
