use super::*;
use crate::rigid::math::vec2;
use crate::rigid::shape::Polygon;

/// When a square of one metre that moves and turns meets the floor.
#[track_caller]
fn check(from: [f32; 3], to: [f32; 3], expected: Option<f32>) {
    let square = Polygon::rectangle(0.5, 0.5);
    let floor = [vec2(-10.0, 0.0), vec2(10.0, 0.0)];
    let fixed = Moving { corners: &floor, sweep: Sweep::REST };
    let moving = Moving {
        corners: square.corners(),
        sweep: Sweep {
            center_before: vec2(from[0], from[1]),
            center: vec2(to[0], to[1]),
            angle_before: from[2],
            angle: to[2],
            ..Sweep::REST
        },
    };
    for time in [time_of_impact(fixed, moving), time_of_impact(moving, fixed)] {
        match (time, expected) {
            (Some(time), Some(expected)) => assert!((time - expected).abs() < 2e-3, "{time}"),
            _ => assert_eq!(time, expected),
        }
    }
}

#[test]
fn a_falling_square() {
    // It stops half a centimetre above the floor.
    check([0.0, 2.5, 0.0], [0.0, -1.5, 0.0], Some((2.0 - 0.005) / 4.0));
    check([0.0, 2.5, 0.0], [0.0, 1.0, 0.0], None);
    check([0.0, 0.3, 0.0], [0.0, -1.5, 0.0], None);
    check([0.0, 0.504, 0.0], [0.0, 0.5, 0.0], Some(0.0));
    check([12.0, 2.5, 0.0], [12.0, -1.5, 0.0], None);
}

#[test]
fn a_square_that_turns_onto_its_corner() {
    // Its corner reaches 0.705 below its middle where half of √2 times the sine of 45° and the
    // turn is that much.
    let turn = (0.695 / 0.5_f32.sqrt()).asin() - std::f32::consts::FRAC_PI_4;
    check([0.0, 0.7, 0.0], [0.0, 0.7, 0.785], Some(turn / 0.785));
    check([0.0, 0.8, 0.0], [0.0, 0.8, 0.785], None);
}

#[test]
fn full_turns_do_not_matter() {
    check([0.0, 2.5, 62.831_853], [0.0, -1.5, 62.831_853], Some((2.0 - 0.005) / 4.0));
}
