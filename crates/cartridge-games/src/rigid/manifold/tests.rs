use super::*;
use crate::rigid::math::{Rotation, vec2};

fn frame(x: f32, y: f32, angle: f32) -> Transform {
    Transform { position: vec2(x, y), rotation: Rotation::new(angle) }
}

fn floor() -> GroundShape {
    GroundShape::Edge(Edge { ends: [vec2(-5.0, 0.0), vec2(5.0, 0.0)] })
}

/// A box of two metres over the ground: which face, and where its points are in the world.
#[track_caller]
fn check(ground: &GroundShape, frame: Transform, face: Face, expected: &[[f32; 2]]) {
    let body = Polygon::rectangle(1.0, 1.0);
    let manifold = Manifold::EMPTY.updated(ground, &body, frame, true);
    let points: Vec<Vec2> = manifold
        .points()
        .iter()
        .map(|point| match manifold.face {
            Face::Ground => frame.apply(point.place),
            Face::Body => point.place,
        })
        .collect();
    assert_eq!(points.len(), expected.len(), "{points:?}");
    for (point, &[x, y]) in points.iter().zip(expected) {
        assert!((*point - vec2(x, y)).length() < 1e-5, "{points:?}");
    }
    assert!(points.is_empty() || manifold.face == face, "{:?}", manifold.face);
}

#[test]
fn a_box_on_an_edge() {
    check(&floor(), frame(0.0, 1.0, 0.0), Face::Ground, &[[-1.0, 0.0], [1.0, 0.0]]);
    check(&floor(), frame(0.0, 1.019, 0.0), Face::Ground, &[[-1.0, 0.019], [1.0, 0.019]]);
    check(&floor(), frame(0.0, 1.03, 0.0), Face::Ground, &[]);
    check(&floor(), frame(4.5, 1.0, 0.0), Face::Ground, &[[3.5, 0.0], [5.0, 0.0]]);
    check(&floor(), frame(7.0, 1.0, 0.0), Face::Ground, &[]);
    check(
        &floor(),
        frame(0.0, 2.0_f32.sqrt(), std::f32::consts::FRAC_PI_4),
        Face::Ground,
        &[[0.0, 0.0]],
    );
}

#[test]
fn an_edge_collides_from_below_too() {
    check(&floor(), frame(0.0, -1.0, 0.0), Face::Ground, &[[1.0, 0.0], [-1.0, 0.0]]);
}

#[test]
fn a_short_edge_lies_on_the_side_of_a_box() {
    let ends = [vec2(-0.2, 0.01), vec2(0.2, -0.01)];
    let bump = GroundShape::Edge(Edge { ends });
    check(&bump, frame(0.0, 0.995, 0.0), Face::Body, &[[-0.2, 0.01], [0.2, -0.01]]);
}

#[test]
fn a_box_on_a_block() {
    let block = GroundShape::Polygon(Polygon::rectangle(2.0, 0.5));
    check(&block, frame(0.0, 1.5, 0.0), Face::Ground, &[[-1.0, 0.5], [1.0, 0.5]]);
    check(&block, frame(3.0, 0.0, 0.0), Face::Ground, &[[2.0, -0.52], [2.0, 0.52]]);
    check(&block, frame(3.05, 0.0, 0.0), Face::Ground, &[]);
}

#[test]
fn points_keep_their_impulses() {
    let body = Polygon::rectangle(1.0, 1.0);
    let mut before = Manifold::EMPTY.updated(&floor(), &body, frame(0.0, 1.0, 0.0), true);
    before.points[0].normal_impulse = 3.0;
    before.points[1].tangent_impulse = 4.0;
    let after = before.updated(&floor(), &body, frame(0.1, 1.001, 0.0), true);
    let impulses = after.points.map(|point| (point.normal_impulse, point.tangent_impulse));
    assert_eq!(impulses, [(3.0, 0.0), (0.0, 4.0)]);
    let turned = before.updated(&floor(), &body, frame(0.0, 1.0, std::f32::consts::PI), true);
    assert!(turned.points.iter().all(|point| point.normal_impulse == 0.0), "other corners");
}
