//! The picture of a rod that hangs at one end, and of the torque on it.

use std::f32::consts::TAU;

use super::{LENGTH, State, TORQUE_LIMIT};
use crate::scene::{Paint, Scene, Shape};

/// What must be visible: all that the rod can reach.
const VIEW: [f32; 4] = [-1.3, -1.3, 1.3, 1.3];
const ROD_WIDTH: f32 = 0.2;
const AXLE_RADIUS: f32 = 0.05;
/// Of the circle that the rod's end describes.
const THIN: f32 = 0.012;
/// Of the arrow at the greatest torque.
const ARROW_RADIUS: f32 = 0.5;
const ARROW_WIDTH: f32 = 0.06;
/// How far round the arrow goes, and where it begins, in turns from the right, anticlockwise.
const ARROW_TURN: f32 = 0.7;
const ARROW_START: f32 = -0.1;
const ARROW_POINTS: usize = 24;
/// A torque below this has an arrow too small to see.
const LEAST_TORQUE: f32 = 0.05;

pub(super) fn draw([angle, _]: State, torque: f32) -> Scene {
    let length = LENGTH as f32;
    let axle = [0.0, 0.0];
    let tip = [-length * angle.sin() as f32, length * angle.cos() as f32];
    let mut shapes = vec![
        Shape::ring(axle, length, Paint::SceneGround, THIN),
        Shape::line([axle, tip], Paint::SceneWarm, ROD_WIDTH),
    ];
    if torque.abs() > LEAST_TORQUE {
        shapes.extend(arrow(torque / TORQUE_LIMIT));
    }
    shapes.push(Shape::disc(axle, AXLE_RADIUS, Paint::SceneBg));
    Scene { view: VIEW, shapes }
}

/// A bent arrow round the axle, as large as the torque is great, in the direction it turns.
fn arrow(strength: f32) -> [Shape; 2] {
    let size = strength.abs();
    let radius = ARROW_RADIUS * size;
    // Drawn anticlockwise; its mirror image turns the other way.
    let at = |turn: f32, radius: f32| {
        let (sin, cos) = (turn * TAU).sin_cos();
        [radius * cos * strength.signum(), radius * sin]
    };
    let end = ARROW_START + ARROW_TURN;
    let arc = (0..=ARROW_POINTS)
        .map(|index| at(ARROW_START + ARROW_TURN * index as f32 / ARROW_POINTS as f32, radius));
    let head = [at(end, radius * 0.68), at(end, radius * 1.32), at(end + 0.1, radius)];
    [
        Shape::line(arc, Paint::SceneLive, ARROW_WIDTH * size.sqrt()),
        Shape::area(head, Paint::SceneLive),
    ]
}
