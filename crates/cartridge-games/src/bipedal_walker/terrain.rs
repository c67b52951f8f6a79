//! The ground of a walk: grass, and on hardcore ground stumps, stairs and pits.

use std::f64::consts::TAU;

use super::{SCALE, point};
use crate::numpy_random::NumpyRng;
use crate::rigid::{Edge, GroundShape, Polygon, World};

/// m from one point of the ground to the next.
pub(super) const STEP: f64 = 14.0 / SCALE;
/// Number of points.
pub(super) const LENGTH: usize = 200;
/// m, of the ground at the start.
pub(super) const HEIGHT: f64 = super::HEIGHT / 4.0;
/// Steps of level ground at the start.
pub(super) const START_PAD: i64 = 20;
/// A stretch of grass has at least half and less than this many steps; so long is the end, too.
const GRASS: i64 = 10;
/// m. A walker that is beyond has arrived.
pub(super) const END: f64 = (LENGTH as i64 - GRASS) as f64 * STEP;
const FRICTION: f32 = 2.5;
/// Two walls of a pit, the densest of obstacles, take five steps, and grass another five.
const MAX_BLOCKS: usize = 2 * LENGTH.div_ceil(10);
const N_CLOUDS: usize = LENGTH / 20;

/// The ground and the sky above it.
#[derive(Clone, Debug, Default)]
pub(super) struct Terrain {
    /// The line of the ground, from left to right.
    pub(super) points: Vec<[f64; 2]>,
    /// Stumps, steps and the walls of pits.
    pub(super) blocks: Vec<[[f64; 2]; 4]>,
    /// They move at half the speed of the ground.
    pub(super) clouds: Vec<[[f64; 2]; 5]>,
}

/// What the ground is made of at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Grass,
    Stump,
    Stairs,
    Pit,
}

impl Terrain {
    /// Draws a terrain in the place of the old, number by number as Gymnasium does.
    pub(super) fn draw(&mut self, rng: &mut NumpyRng, is_hardcore: bool) {
        self.points.clear();
        self.blocks.clear();
        self.clouds.clear();
        // Once there is room for all that can be drawn, nothing is allocated.
        self.points.reserve(LENGTH);
        self.blocks.reserve(MAX_BLOCKS);
        let (mut kind, mut is_first, mut n_left) = (Kind::Grass, false, START_PAD);
        let (mut y, mut slope, mut y_before) = (HEIGHT, 0.0, 0.0);
        // Height of a step (1 or −1), number and width of the steps.
        let mut stairs = (0, 0, 0);
        for index in 0..LENGTH {
            let x = index as f64 * STEP;
            match (kind, is_first) {
                (Kind::Grass, false) => {
                    let lift = HEIGHT - y;
                    let sign = if lift == 0.0 { 0.0 } else { lift.signum() };
                    slope = 0.8 * slope + 0.01 * sign;
                    if index as i64 > START_PAD {
                        slope += rng.uniform(-1.0, 1.0) / SCALE;
                    }
                    y += slope;
                }
                (Kind::Pit, true) => {
                    n_left = rng.integers(3, 5);
                    let (right, bottom) = (x + STEP, y - 4.0 * STEP);
                    let wall = [[x, y], [right, y], [right, bottom], [x, bottom]];
                    self.blocks.push(wall);
                    self.blocks.push(wall.map(|[x, y]| [x + STEP * n_left as f64, y]));
                    n_left += 2;
                    y_before = y;
                }
                (Kind::Pit, false) => {
                    y = y_before;
                    if n_left > 1 {
                        y -= 4.0 * STEP;
                    }
                }
                (Kind::Stump, true) => {
                    n_left = rng.integers(1, 3);
                    let size = n_left as f64 * STEP;
                    let (right, top) = (x + size, y + size);
                    self.blocks.push([[x, y], [right, y], [right, top], [x, top]]);
                }
                (Kind::Stairs, true) => {
                    let height = if rng.random() > 0.5 { 1 } else { -1 };
                    let width = rng.integers(4, 5);
                    let n_steps = rng.integers(3, 5);
                    y_before = y;
                    for step in 0..n_steps {
                        let at = |column: i64, row: i64| {
                            [x + column as f64 * STEP, y + row as f64 * STEP]
                        };
                        let (left, right) = (step * width, (1 + step) * width);
                        let (top, bottom) = (step * height, -1 + step * height);
                        self.blocks.push([
                            at(left, top),
                            at(right, top),
                            at(right, bottom),
                            at(left, bottom),
                        ]);
                    }
                    n_left = n_steps * width;
                    stairs = (height, n_steps, width);
                }
                (Kind::Stairs, false) => {
                    let (height, n_steps, width) = stairs;
                    let column = n_steps * width - n_left - height;
                    let row = column as f64 / width as f64;
                    y = y_before + (row * height as f64) * STEP;
                }
                (Kind::Grass | Kind::Stump, _) => {}
            }
            is_first = false;
            self.points.push([x, y]);
            n_left -= 1;
            if n_left == 0 {
                n_left = rng.integers(GRASS / 2, GRASS);
                kind = match kind {
                    Kind::Grass if is_hardcore => match rng.integers(1, 4) {
                        1 => Kind::Stump,
                        2 => Kind::Stairs,
                        _ => Kind::Pit,
                    },
                    _ => Kind::Grass,
                };
                is_first = true;
            }
        }
        self.clouds.extend((0..N_CLOUDS).map(|_| draw_cloud(rng)));
    }

    /// Adds the ground to a world, each piece a part of its own: first the blocks.
    pub(super) fn build(&self, world: &mut World) {
        for block in &self.blocks {
            let part = world.add_part();
            let shape = GroundShape::Polygon(Polygon::hull(&block.map(point)));
            world.add_piece(part, shape, FRICTION);
        }
        for pair in self.points.windows(2) {
            let part = world.add_part();
            let ends = [point(pair[0]), point(pair[1])];
            world.add_piece(part, GroundShape::Edge(Edge::new(ends)), FRICTION);
        }
    }
}

fn draw_cloud(rng: &mut NumpyRng) -> [[f64; 2]; 5] {
    let x = rng.uniform(0.0, LENGTH as f64) * STEP;
    let y = super::HEIGHT * 3.0 / 4.0;
    std::array::from_fn(|corner| {
        let angle = TAU * corner as f64 / 5.0;
        [
            x + 15.0 * STEP * angle.sin() + rng.uniform(0.0, 5.0 * STEP),
            y + 5.0 * STEP * angle.cos() + rng.uniform(0.0, 5.0 * STEP),
        ]
    })
}
