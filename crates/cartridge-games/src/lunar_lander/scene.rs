//! The picture of a lander above the moon.

use super::{HEIGHT, HULL, LANDER, LEG_HEIGHT, LEGS, LunarLander, N_CHUNKS, SCALE, WIDTH};
use crate::rigid::{Body, vec2};
use crate::scene::{Paint, Scene, Shape};

/// The lander starts at the height of the world; a little more shows all of it.
const VIEW: [f32; 4] = [0.0, 0.0, WIDTH as f32, HEIGHT as f32 + 0.9];
/// How far the ground reaches beyond the view.
const MARGIN: f32 = 16.0;
const THIN: f32 = 0.05;
const THICK: f32 = 0.1;
const FLAG: f32 = 1.1;
/// m, from the nozzle to the tip of the flame at full power.
const MAIN_FLAME: f64 = 30.0;
const SIDE_FLAME: f64 = 14.0;
const STARS: [[f32; 2]; 16] = [
    [1.3, 11.9],
    [2.9, 9.2],
    [4.4, 12.6],
    [5.6, 7.9],
    [7.1, 10.7],
    [8.7, 8.6],
    [9.4, 12.3],
    [11.2, 9.7],
    [12.8, 11.4],
    [14.1, 8.1],
    [15.7, 12.8],
    [16.6, 10.1],
    [18.3, 8.8],
    [19.2, 11.6],
    [-3.1, 10.4],
    [23.4, 9.5],
];

pub(super) fn draw(env: &LunarLander) -> Scene {
    let mut shapes: Vec<Shape> =
        STARS.iter().map(|&star| Shape::disc(star, 0.03, Paint::SceneLine)).collect();
    ground(env, &mut shapes);
    if env.n_steps > 0 || !env.is_over {
        lander(env, &mut shapes);
    }
    Scene { view: VIEW, shapes }
}

fn ground(env: &LunarLander, shapes: &mut Vec<Shape>) {
    let points = env.terrain.map(|[x, y]| [x as f32, y as f32]);
    let ([left, right], bottom) = ([VIEW[0] - MARGIN, VIEW[2] + MARGIN], VIEW[1] - MARGIN);
    let (first, last) = (points[0][1], points[N_CHUNKS - 1][1]);
    let line = || [[left, first]].into_iter().chain(points).chain([[right, last]]);
    let below = [[right, bottom], [left, bottom]];
    shapes.push(Shape::area(line().chain(below), Paint::SceneGround));
    shapes.push(Shape::line(line(), Paint::SceneEdge, THIN));
    let pad = [points[N_CHUNKS / 2 - 1], points[N_CHUNKS / 2 + 1]];
    shapes.push(Shape::line(pad, Paint::SceneWarm, THICK));
    for [x, y] in pad {
        let top = y + FLAG;
        shapes.push(Shape::line([[x, y], [x, top]], Paint::SceneEdge, THIN));
        let cloth = [[x, top], [x + 0.55, top - 0.2], [x, top - 0.4]];
        shapes.push(Shape::area(cloth, Paint::SceneWarm));
    }
}

fn lander(env: &LunarLander, shapes: &mut Vec<Shape>) {
    let hull = env.world.body(HULL);
    let at = |x: f64, y: f64| place(hull, x, y);
    // A flame that never changes looks dead.
    let flicker = if env.n_steps.is_multiple_of(2) { 1.0 } else { 0.8 };

    if env.engines.main > 0.0 {
        let length = MAIN_FLAME * env.engines.main * flicker;
        let flame = [at(-5.0, -15.0), at(0.0, -15.0 - length), at(5.0, -15.0)];
        let core = [at(-2.5, -15.0), at(0.0, -15.0 - 0.55 * length), at(2.5, -15.0)];
        shapes.push(Shape::area(flame, Paint::SceneWarm));
        shapes.push(Shape::area(core, Paint::SceneBody));
    }
    if env.engines.side > 0.0 {
        // The left engine pushes to the left, so it is on the right.
        let away = -env.engines.direction;
        let tip = 16.0 + SIDE_FLAME * env.engines.side * flicker;
        let flame = [at(16.0 * away, 14.0), at(tip * away, 11.0), at(16.0 * away, 8.0)];
        shapes.push(Shape::area(flame, Paint::SceneWarm));
    }
    for (number, is_down) in LEGS.into_iter().zip(env.is_leg_down) {
        let leg = env.world.body(number);
        let foot = |x: f64| place(leg, x, -LEG_HEIGHT);
        let side = if number == LEGS[0] { 1.0 } else { -1.0 };
        let hip = at(14.0 * side, -9.0);
        shapes.push(Shape::line([hip, foot(0.0)], Paint::SceneLine, THICK));
        shapes.push(Shape::line(
            [at(17.0 * side, -2.0), place(leg, 0.0, 0.0)],
            Paint::SceneLine,
            THIN,
        ));
        let paint = if is_down { Paint::SceneLive } else { Paint::SceneLine };
        shapes.push(Shape::line([foot(-5.0), foot(5.0)], paint, THICK));
    }
    let nozzle = [at(-5.0, -10.0), at(-7.0, -15.0), at(7.0, -15.0), at(5.0, -10.0)];
    shapes.push(Shape::area(nozzle, Paint::SceneLine));
    shapes.push(Shape::area(LANDER.map(|[x, y]| at(x, y)), Paint::SceneBody));
    shapes.push(Shape::line([at(-17.0, 0.0), at(17.0, 0.0)], Paint::SceneLine, 0.6 * THIN));
    shapes.push(Shape::disc(at(0.0, 7.0), 0.14, Paint::SceneBg));
}

/// A point of a body, given in pixels.
fn place(body: &Body, x: f64, y: f64) -> [f32; 2] {
    let point = body.frame().apply(vec2((x / SCALE) as f32, (y / SCALE) as f32));
    [point.x, point.y]
}
