//! The picture of a cart with a pole on it.

use super::{HALF_LENGTH, POSITION_LIMIT, State};
use crate::scene::{Paint, Scene, Shape};

/// What must be visible: the track between its limits, twice as wide as high.
const VIEW: [f32; 4] = [-2.5, -0.6, 2.5, 1.9];
/// How far the ground reaches beyond the view.
const MARGIN: f32 = 8.0;
const CART_HALF_WIDTH: f32 = 0.32;
const CART_HEIGHT: f32 = 0.27;
const AXLE_HEIGHT: f32 = 0.21;
const POLE_WIDTH: f32 = 0.1;
const AXLE_RADIUS: f32 = 0.042;
/// Height of the marks where the track ends.
const MARK: f32 = 0.12;
const THIN: f32 = 0.02;

pub(super) fn draw([position, _, angle, _]: State) -> Scene {
    let [left, bottom, right, _] = VIEW;
    let (x, limit) = (position as f32, POSITION_LIMIT as f32);
    let (sin, cos) = (angle.sin() as f32, angle.cos() as f32);
    let length = 2.0 * HALF_LENGTH as f32;
    let axle = [x, AXLE_HEIGHT];
    let tip = [x + length * sin, AXLE_HEIGHT + length * cos];
    let mark = |x: f32| Shape::line([[x, 0.0], [x, MARK]], Paint::SceneLine, THIN);
    let (track_start, track_end) = ([left - MARGIN, 0.0], [right + MARGIN, 0.0]);
    Scene {
        view: VIEW,
        shapes: vec![
            Shape::rectangle([left - MARGIN, bottom - MARGIN], track_end, Paint::SceneGround),
            mark(-limit),
            mark(limit),
            Shape::line([track_start, track_end], Paint::SceneEdge, THIN),
            Shape::rectangle(
                [x - CART_HALF_WIDTH, 0.0],
                [x + CART_HALF_WIDTH, CART_HEIGHT],
                Paint::SceneBody,
            ),
            Shape::line([axle, tip], Paint::SceneWarm, POLE_WIDTH),
            Shape::disc(axle, AXLE_RADIUS, Paint::SceneBg),
        ],
    }
}
