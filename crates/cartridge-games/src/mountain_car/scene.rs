//! The picture of a car in a valley.

use std::f32::consts::FRAC_PI_2;

use super::ENDS;
use crate::scene::{Paint, Scene, Shape};

/// What must be visible: the valley between its ends.
const VIEW: [f32; 4] = [-1.25, 0.0, 0.65, 1.25];
/// Where the ground becomes level to both sides: on a crest and in the next valley.
const LEVEL: [f32; 2] = [-FRAC_PI_2, FRAC_PI_2];
/// How far the ground reaches beyond that.
const MARGIN: f32 = 4.0;
/// Of the ground between its level ends.
const N_SEGMENTS: usize = 80;
/// The right half of the car's outline: how far along the ground and how far above it.
const OUTLINE: [[f32; 2]; 4] = [[0.08, 0.03], [0.08, 0.068], [0.06, 0.072], [0.038, 0.106]];
const WHEEL_DISTANCE: f32 = 0.042;
const WHEEL_RADIUS: f32 = 0.028;
const HUB_RADIUS: f32 = 0.012;
const FLAG_HEIGHT: f32 = 0.17;
const FLAG: [f32; 2] = [0.1, 0.06];
/// Height of the mark where the valley ends.
const MARK: f32 = 0.06;
const THIN: f32 = 0.01;

pub(crate) fn draw(position: f64, goal: f64) -> Scene {
    let [_, bottom, ..] = VIEW;
    let [left, right] = LEVEL;
    let segment = (right - left) / N_SEGMENTS as f32;
    let surface: Vec<[f32; 2]> = std::iter::once([left - MARGIN, height(left)])
        .chain((0..=N_SEGMENTS).map(|index| ground(left + segment * index as f32)))
        .chain([[right + MARGIN, height(right)]])
        .collect();
    let depth = bottom - MARGIN;
    let below = [[right + MARGIN, depth], [left - MARGIN, depth]];

    // A point of the car, which stands upright on the slope.
    let x = position as f32;
    let (sin, cos) = slope(x).atan().sin_cos();
    let [ground_x, ground_y] = ground(x);
    let car = |[along, up]: [f32; 2]| {
        [ground_x + along * cos - up * sin, ground_y + along * sin + up * cos]
    };
    let left_half = OUTLINE.into_iter().rev().map(|[along, up]| [-along, up]);
    let body = OUTLINE.into_iter().chain(left_half).map(car);

    let mark = ground(ENDS[0] as f32);
    let foot = ground(goal as f32);
    let raised = |[x, y]: [f32; 2], by: f32| [x, y + by];
    let [flag_length, flag_height] = FLAG;
    let top @ [flag_x, top_y] = raised(foot, FLAG_HEIGHT);
    let tip = [flag_x + flag_length, top_y - flag_height / 2.0];

    let mut shapes = vec![
        Shape::line([mark, raised(mark, MARK)], Paint::SceneLine, THIN),
        Shape::line([foot, top], Paint::SceneLine, THIN),
        Shape::area([top, tip, raised(top, -flag_height)], Paint::SceneWarm),
        Shape::area(surface.iter().copied().chain(below), Paint::SceneGround),
        Shape::line(surface, Paint::SceneEdge, THIN),
        Shape::area(body, Paint::SceneBody),
    ];
    for along in [-WHEEL_DISTANCE, WHEEL_DISTANCE] {
        let wheel = car([along, WHEEL_RADIUS]);
        shapes.push(Shape::disc(wheel, WHEEL_RADIUS, Paint::SceneLive));
        shapes.push(Shape::disc(wheel, HUB_RADIUS, Paint::SceneBg));
    }
    Scene { view: VIEW, shapes }
}

/// The point of the ground at `x`.
fn ground(x: f32) -> [f32; 2] {
    [x, height(x)]
}

/// Of the ground at `x`.
fn height(x: f32) -> f32 {
    (3.0 * x).sin() * 0.45 + 0.55
}

/// Of the ground at `x`.
fn slope(x: f32) -> f32 {
    (3.0 * x).cos() * 3.0 * 0.45
}
