use proptest::prelude::*;

use super::*;
use crate::rigid::math::vec2;
use crate::rigid::shape::{Edge, Polygon};

fn ground(heights: &[f32], blocks: &[[f32; 3]]) -> Ground {
    let mut ground = Ground::default();
    for &[x, y, half] in blocks {
        let part = ground.add_part();
        let corners = [[-half, -half], [half, -half], [half, half], [-half, half]];
        let block = Polygon::hull(&corners.map(|[dx, dy]| vec2(x + dx, y + dy)));
        ground.add_piece(Piece::new(GroundShape::Polygon(block), 1.0, part));
    }
    for (index, pair) in heights.windows(2).enumerate() {
        let part = ground.add_part();
        let ends = [vec2(index as f32, pair[0]), vec2(index as f32 + 1.0, pair[1])];
        ground.add_piece(Piece::new(GroundShape::Edge(Edge::new(ends)), 1.0, part));
    }
    ground.sort();
    ground
}

#[track_caller]
fn check_cast(from: [f32; 2], to: [f32; 2], expected: f32) {
    let ground = ground(&[0.0; 10], &[[5.0, 0.5, 0.5]]);
    assert_eq!(ground.cast(vec2(from[0], from[1]), [vec2(to[0], to[1])]), [expected]);
}

#[test]
fn rays() {
    check_cast([2.5, 2.0], [2.5, -2.0], 0.5);
    check_cast([2.5, 2.0], [2.5, 1.0], 1.0);
    check_cast([2.5, 0.5], [6.5, 0.5], 0.5);
    check_cast([-50.0, 2.0], [-50.0, -2.0], 1.0);
    check_cast([500.0, 2.0], [500.0, -2.0], 1.0);
    assert_eq!(Ground::default().cast(Vec2::ZERO, [vec2(1.0, 0.0)]), [1.0]);
}

proptest! {
    /// The order finds what looking at every piece finds.
    #[test]
    fn the_order_misses_nothing(
        heights in proptest::collection::vec(-2.0..2.0_f32, 2..40),
        blocks in proptest::collection::vec([0.0..40.0_f32, -1.0..3.0_f32, 0.1..2.0_f32], 0..8),
        [x, y, dx, dy] in [-2.0..42.0_f32, -3.0..6.0_f32, 0.0..8.0_f32, -8.0..8.0_f32],
    ) {
        let ground = ground(&heights, &blocks);
        let (from, to) = (vec2(x, y), vec2(x + dx, y + dy));
        let mut nearest = 1.0;
        for piece in ground.pieces() {
            nearest = piece.shape.cast(from, to, nearest).unwrap_or(nearest);
        }
        prop_assert_eq!(ground.cast(from, [to]), [nearest]);

        let around = Bounds { low: from.min(to), high: from.max(to) };
        let mut found = Vec::new();
        ground.query(around, |number| found.push(number));
        found.sort_unstable();
        let pieces = ground.pieces().iter().enumerate();
        let expected = pieces.filter(|(_, piece)| piece.wide_bounds.overlaps(around));
        prop_assert_eq!(found, expected.map(|(number, _)| number).collect::<Vec<_>>());
    }
}
