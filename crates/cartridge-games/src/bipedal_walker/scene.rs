//! The picture of a walker on its ground.

use super::terrain::{self, END, STEP, Terrain};
use super::{BipedalWalker, FEET, HULL, HULL_SHAPE, LEG_HEIGHT, LEG_WIDTH, N_RAYS, SCALE};
use crate::rigid::{Body, vec2};
use crate::scene::{Paint, Scene, Shape};

/// m that are seen behind and ahead of the hull.
const BEHIND: f32 = 4.0;
const AHEAD: f32 = 9.0;
/// m from the bottom of the view to its top.
const TALL: f32 = 8.667;
/// m from the bottom of the view to the ground.
const GROUND: f32 = 2.0;
/// How far things are drawn beyond the view.
const MARGIN: f32 = 7.0;
const THIN: f32 = 0.04;
const FLAG: f32 = 1.67;
/// The ray that is shown goes on to the next after so many steps.
const STEPS_PER_RAY: u32 = 3;

pub(super) fn draw(env: &BipedalWalker) -> Scene {
    let x = if env.terrain.points.is_empty() { 0.0 } else { env.world.body(HULL).position().x };
    let (left, right) = (x - BEHIND, x + AHEAD);
    let bottom = env.terrain.mean_height(left, right) - GROUND;
    let view = [left, bottom, right, bottom + TALL];
    let mut shapes = Vec::with_capacity(64);
    sky(&env.terrain, view, &mut shapes);
    ground(&env.terrain, view, &mut shapes);
    if !env.terrain.points.is_empty() {
        walker(env, &mut shapes);
    }
    Scene { view, shapes }
}

fn sky(terrain: &Terrain, [left, bottom, right, _]: [f32; 4], shapes: &mut Vec<Shape>) {
    // Clouds are far away: they move half as fast as the ground, and hardly up and down.
    let (shift, base) = (left / 2.0, bottom * 0.8 + 6.8);
    for cloud in &terrain.clouds {
        let [x0, y0] = cloud.iter().fold([0.0; 2], |[x, y], point| [x + point[0], y + point[1]]);
        let (x0, y0) = (x0 / 5.0, y0 / 5.0);
        let center = [x0 as f32 + shift, base + 0.3 * (y0 - 10.0) as f32];
        if left - MARGIN < center[0] && center[0] < right + MARGIN {
            let near = |[x, y]: [f64; 2]| [0.22 * (x - x0) as f32, 0.14 * (y - y0) as f32];
            let corners = cloud.map(near).map(|[x, y]| [center[0] + x, center[1] + y]);
            shapes.push(Shape::area(corners, Paint::SceneGround));
        }
    }
}

fn ground(terrain: &Terrain, [left, bottom, right, _]: [f32; 4], shapes: &mut Vec<Shape>) {
    let (left, right) = (left - MARGIN, right + MARGIN);
    let is_near = |x: f32| left <= x && x <= right;
    let points = terrain.points.iter().map(|&[x, y]| [x as f32, y as f32]);
    let line: Vec<[f32; 2]> = points.filter(|[x, _]| is_near(*x)).collect();
    if let [[first, _], .., [last, _]] = line[..] {
        let below = [[last, bottom - MARGIN], [first, bottom - MARGIN]];
        shapes.push(Shape::area(line.iter().copied().chain(below), Paint::SceneGround));
        shapes.push(Shape::line(line, Paint::SceneEdge, THIN));
    }
    let blocks = terrain.blocks.iter().map(|block| block.map(|[x, y]| [x as f32, y as f32]));
    for block in blocks.filter(|block| block.iter().any(|[x, _]| is_near(*x))) {
        shapes.push(Shape::Polygon {
            points: block.to_vec(),
            fill: Some(Paint::SceneGround),
            stroke: Some(Paint::SceneEdge),
            width: THIN,
        });
    }
    let height_at = |x: f64| terrain.points.get((x / STEP) as usize).map_or(0.0, |point| point[1]);
    for (x, paint) in [(3.0 * STEP, Paint::SceneWarm), (END, Paint::SceneLive)] {
        let (at, y) = (x as f32, height_at(x) as f32);
        if is_near(at) && !terrain.points.is_empty() {
            let top = y + FLAG;
            shapes.push(Shape::line([[at, y], [at, top]], Paint::SceneEdge, THIN));
            let cloth = [[at, top], [at + 0.83, top - 0.17], [at, top - 0.33]];
            shapes.push(Shape::area(cloth, paint));
        }
    }
}

fn walker(env: &BipedalWalker, shapes: &mut Vec<Shape>) {
    let hull = env.world.body(HULL);
    rays(env, shapes);
    leg(env, 0, Paint::SceneLine, shapes);
    shapes.push(Shape::area(
        HULL_SHAPE.map(|[x, y]| place(hull, x / SCALE, y / SCALE)),
        Paint::SceneBody,
    ));
    shapes.push(Shape::disc(place(hull, 22.0 / SCALE, 0.0), 0.09, Paint::SceneBg));
    leg(env, 1, Paint::SceneEdge, shapes);
}

/// Where the rays hit, and one of them after the other.
fn rays(env: &BipedalWalker, shapes: &mut Vec<Shape>) {
    let from = env.world.body(HULL).position();
    let shown = (env.n_steps / STEPS_PER_RAY) as usize % (2 * N_RAYS);
    for (ray, &part) in env.lidar.iter().enumerate() {
        let to = super::ray_end(from, ray);
        let hit = from + part * (to - from);
        if ray == shown.min(2 * N_RAYS - 1 - shown) {
            shapes.push(Shape::line([[from.x, from.y], [hit.x, hit.y]], Paint::SceneLive, 0.025));
        }
        if part < 1.0 {
            shapes.push(Shape::disc([hit.x, hit.y], 0.05, Paint::SceneLive));
        }
    }
}

/// A leg, its foot lit where it touches the ground.
fn leg(env: &BipedalWalker, number: usize, paint: Paint, shapes: &mut Vec<Shape>) {
    let foot = FEET[number];
    let (upper, lower) = (env.world.body(foot - 1), env.world.body(foot));
    let (half, width) = (LEG_HEIGHT / 2.0, LEG_WIDTH as f32);
    let knee = place(lower, 0.0, half);
    // The round ends of a line reach half its width beyond.
    let sole = half - 0.4 * LEG_WIDTH;
    shapes.push(Shape::line([place(upper, 0.0, half), knee], paint, width));
    shapes.push(Shape::line([knee, place(lower, 0.0, -sole)], paint, 0.8 * width));
    shapes.push(Shape::disc(knee, 0.05, Paint::SceneBg));
    if env.is_foot_down[number] {
        shapes.push(Shape::disc(place(lower, 0.0, -sole), 0.07, Paint::SceneLive));
    }
}

/// A point of a body, in m.
fn place(body: &Body, x: f64, y: f64) -> [f32; 2] {
    let point = body.frame().apply(vec2(x as f32, y as f32));
    [point.x, point.y]
}

impl Terrain {
    /// The mean height of the ground between two places.
    fn mean_height(&self, left: f32, right: f32) -> f32 {
        let seen = self.points.iter().filter(|[x, _]| (left..right).contains(&(*x as f32)));
        let (sum, n) = seen.fold((0.0, 0), |(sum, n), [_, y]| (sum + y, n + 1));
        (if n > 0 { sum / f64::from(n) } else { terrain::HEIGHT }) as f32
    }
}
