//! The picture of two links, one hanging from the other.

use super::{LENGTH, State, TARGET_HEIGHT};
use crate::scene::{Paint, Scene, Shape};

/// What must be visible: all that the links can reach.
const VIEW: [f32; 4] = [-2.2, -2.2, 2.2, 2.2];
/// How far the target reaches beyond the view.
const MARGIN: f32 = 8.0;
const LINK_WIDTH: f32 = 0.2;
const JOINT_RADIUS: f32 = 0.07;
/// Of the plate that the fixed end hangs from.
const PLATE_RADIUS: f32 = 0.17;
const TIP_RADIUS: f32 = 0.1;
const THIN: f32 = 0.03;

pub(super) fn draw([first, second, ..]: State) -> Scene {
    let [left, _, right, _] = VIEW;
    let (length, height) = (LENGTH as f32, TARGET_HEIGHT as f32);
    let end = |[x, y]: [f32; 2], angle: f64| {
        [x + length * angle.sin() as f32, y - length * angle.cos() as f32]
    };
    let fixed = [0.0, 0.0];
    let joint = end(fixed, first);
    let tip = end(joint, first + second);
    let target = [[left - MARGIN, height], [right + MARGIN, height]];
    Scene {
        view: VIEW,
        shapes: vec![
            Shape::line(target, Paint::SceneWarm, THIN),
            Shape::disc(fixed, PLATE_RADIUS, Paint::SceneGround),
            Shape::line([fixed, joint], Paint::SceneBody, LINK_WIDTH),
            Shape::line([joint, tip], Paint::SceneLine, LINK_WIDTH),
            Shape::disc(fixed, JOINT_RADIUS, Paint::SceneBg),
            Shape::disc(joint, JOINT_RADIUS, Paint::SceneBg),
            Shape::disc(tip, TIP_RADIUS, Paint::SceneLive),
        ],
    }
}
