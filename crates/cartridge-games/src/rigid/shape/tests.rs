use super::*;

#[track_caller]
fn check_hull(points: &[[f32; 2]], expected: &[[f32; 2]]) {
    let points: Vec<Vec2> = points.iter().map(|&[x, y]| vec2(x, y)).collect();
    let hull = Polygon::hull(&points);
    let corners: Vec<[f32; 2]> = hull.corners().iter().map(|corner| [corner.x, corner.y]).collect();
    assert_eq!(corners, expected);
}

#[test]
fn a_hull_begins_at_the_right_and_leaves_out_what_is_inside() {
    let square = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]];
    check_hull(&[[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]], &square);
    check_hull(&[[0.0, 0.0], [1.0, 0.0], [0.5, 0.5], [1.0, 1.0], [0.0, 1.0]], &square);
    check_hull(&[[0.0, 0.0], [1.0, 0.0], [1.0, 0.5], [1.0, 1.0], [0.0, 1.0]], &square);
}

#[test]
fn normals_point_outwards() {
    let hull = Polygon::hull(&[vec2(0.0, 0.0), vec2(2.0, 0.0), vec2(1.0, 3.0)]);
    for (index, &normal) in hull.normals().iter().enumerate() {
        assert!((normal.length() - 1.0).abs() < 1e-6);
        let is_outside =
            hull.corners().iter().all(|&c| normal.dot(c - hull.corners()[index]) < 1e-6);
        assert!(is_outside, "no corner is beyond side {index}");
    }
}

#[test]
fn a_box_has_the_mass_of_a_box() {
    let Mass { mass, center, inertia } = Polygon::rectangle(1.0, 2.0).mass(3.0);
    assert_eq!((mass, center), (24.0, Vec2::ZERO));
    assert!((inertia - 24.0 * (4.0 + 16.0) / 12.0).abs() < 1e-4, "m (w² + h²) / 12");
}

#[test]
fn mass_moves_with_the_shape() {
    let corners = [vec2(3.0, 4.0), vec2(5.0, 4.0), vec2(5.0, 8.0), vec2(3.0, 8.0)];
    let moved = Polygon::hull(&corners);
    assert!((moved.centroid - vec2(4.0, 6.0)).length() < 1e-5);
    let Mass { mass, center, inertia } = moved.mass(3.0);
    assert!((center - vec2(4.0, 6.0)).length() < 1e-5);
    assert!((inertia - (40.0 + mass * (16.0 + 36.0))).abs() < 1e-2, "the parallel axis theorem");
}

#[track_caller]
fn check_cast(shape: &GroundShape, from: [f32; 2], to: [f32; 2], expected: Option<f32>) {
    assert_eq!(shape.cast(vec2(from[0], from[1]), vec2(to[0], to[1]), 1.0), expected);
}

#[test]
fn rays_hit_edges_from_both_sides() {
    let edge = GroundShape::Edge(Edge { ends: [vec2(0.0, 0.0), vec2(4.0, 0.0)] });
    check_cast(&edge, [1.0, 1.0], [1.0, -3.0], Some(0.25));
    check_cast(&edge, [1.0, -1.0], [1.0, 1.0], Some(0.5));
    check_cast(&edge, [5.0, 1.0], [5.0, -1.0], None);
    check_cast(&edge, [1.0, 1.0], [1.0, 0.5], None);
    check_cast(&edge, [1.0, 1.0], [2.0, 1.0], None);
}

#[test]
fn rays_hit_polygons_where_they_enter() {
    let square = GroundShape::Polygon(Polygon::rectangle(1.0, 1.0));
    check_cast(&square, [-3.0, 0.0], [1.0, 0.0], Some(0.5));
    check_cast(&square, [-3.0, 2.0], [1.0, 2.0], None);
    check_cast(&square, [0.0, 0.0], [3.0, 0.0], None);
}
