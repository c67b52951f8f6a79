use proptest::prelude::*;

use super::*;
use crate::rigid::math::{Rotation, vec2};
use crate::rigid::shape::Polygon;

fn frame(x: f32, y: f32, angle: f32) -> Transform {
    Transform { position: vec2(x, y), rotation: Rotation::new(angle) }
}

/// The distance from a square of two metres at the origin to another one.
#[track_caller]
fn check(other: Transform, expected: f32) {
    let square = Polygon::rectangle(1.0, 1.0);
    let first = Placed { corners: square.corners(), frame: Transform::NONE };
    let second = Placed { corners: square.corners(), frame: other };
    let mut cache = Cache::default();
    let cold = distance(first, second, &mut cache);
    assert!((cold - expected).abs() < 1e-5, "{cold} is not {expected}");
    let warm = distance(first, second, &mut cache);
    assert!((warm - cold).abs() < 1e-6, "a search that begins at its end stays there");
}

#[test]
fn squares() {
    check(frame(3.0, 0.0, 0.0), 1.0);
    check(frame(3.0, 4.0, 0.0), 5.0_f32.sqrt());
    check(frame(1.0 + 2.0_f32.sqrt() + 0.5, 0.0, std::f32::consts::FRAC_PI_4), 0.5);
    check(frame(1.0, 1.0, 0.0), 0.0);
}

/// The distance by looking at every corner against every side.
fn slow_distance(first: &[Vec2], second: &[Vec2]) -> f32 {
    let to_side = |point: Vec2, a: Vec2, b: Vec2| {
        let side = b - a;
        let part = ((point - a).dot(side) / side.dot(side)).clamp(0.0, 1.0);
        (point - (a + part * side)).length()
    };
    let one_way = |points: &[Vec2], polygon: &[Vec2]| {
        let sides = (0..polygon.len()).map(|i| (polygon[i], polygon[(i + 1) % polygon.len()]));
        let all = sides.flat_map(|(a, b)| points.iter().map(move |&point| to_side(point, a, b)));
        all.fold(f32::MAX, f32::min)
    };
    one_way(first, second).min(one_way(second, first))
}

proptest! {
    #[test]
    fn equals_a_slow_search(
        x in 4.0..9.0_f32, y in -9.0..9.0_f32, angle in -4.0..4.0_f32,
        width in 0.1..2.0_f32, height in 0.1..2.0_f32,
    ) {
        let (a, b) = (Polygon::rectangle(1.0, 0.7), Polygon::rectangle(width, height));
        let place = frame(x, y, angle);
        let moved: Vec<Vec2> = b.corners().iter().map(|&corner| place.apply(corner)).collect();
        let first = Placed { corners: a.corners(), frame: Transform::NONE };
        let second = Placed { corners: b.corners(), frame: place };
        let found = distance(first, second, &mut Cache::default());
        prop_assert!((found - slow_distance(a.corners(), &moved)).abs() < 1e-4);
    }
}
