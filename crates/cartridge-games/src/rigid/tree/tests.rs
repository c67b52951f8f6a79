use proptest::prelude::*;

use super::*;
use crate::rigid::math::vec2;

fn bounds([x, y, width, height]: [f32; 4]) -> Bounds {
    Bounds { low: vec2(x, y), high: vec2(x + width, y + height) }
}

fn tree(rectangles: &[[f32; 4]]) -> (Tree, Vec<u32>) {
    let mut tree = Tree::default();
    let insert =
        |(owner, &rectangle): (usize, &[f32; 4])| tree.insert(bounds(rectangle), owner as u32);
    let leaves = rectangles.iter().enumerate().map(insert).collect();
    (tree, leaves)
}

/// Asserts what must hold below a node and returns its height.
fn check_node(tree: &Tree, index: u32) -> i32 {
    let node = tree.node(index);
    let Some(children) = node.children else {
        assert_eq!(node.height, 0);
        return 0;
    };
    let [first, second] = children.map(|child| {
        assert_eq!(tree.node(child).parent, Some(index));
        assert!(node.bounds.contains(tree.node(child).bounds));
        check_node(tree, child)
    });
    assert_eq!(node.height, 1 + first.max(second));
    node.height
}

fn found(tree: &Tree, around: Bounds) -> Vec<u32> {
    let mut owners = Vec::new();
    tree.query(around, |_, owner| owners.push(owner));
    owners.sort_unstable();
    owners
}

#[test]
fn leaves_are_numbered_as_nodes_are_made() {
    let row: Vec<[f32; 4]> = (0..5).map(|x| [x as f32, 0.0, 1.0, 1.0]).collect();
    let (mut tree, leaves) = tree(&row);
    assert_eq!(leaves, [0, 1, 3, 5, 7], "each leaf but the first brings a node above it");
    tree.remove(3);
    assert_eq!(tree.insert(bounds([9.0, 0.0, 1.0, 1.0]), 9), 3, "the last number freed");
}

#[test]
fn small_moves_change_nothing() {
    let (mut tree, leaves) = tree(&[[0.0, 0.0, 1.0, 1.0], [3.0, 0.0, 1.0, 1.0]]);
    let step = vec2(0.05, 0.0);
    assert!(!tree.follow(leaves[0], bounds([0.05, 0.0, 1.0, 1.0]), step));
    assert!(tree.follow(leaves[0], bounds([0.15, 0.0, 1.0, 1.0]), vec2(0.5, 0.0)));
    let Bounds { low, high } = tree.bounds(leaves[0]);
    assert_eq!((low.x, high.x), (0.15 - 0.1, 1.15 + 0.1 + 1.0), "it looks ahead");
}

#[test]
fn a_ray_meets_what_is_on_its_way() {
    let (tree, _) = tree(&[[1.0, -0.5, 1.0, 1.0], [5.0, -0.5, 1.0, 1.0], [5.0, 5.0, 1.0, 1.0]]);
    let mut met = Vec::new();
    tree.cast(vec2(0.0, 0.0), vec2(10.0, 0.0), |owner, reach| {
        met.push(owner);
        reach
    });
    met.sort_unstable();
    assert_eq!(met, [0, 1]);
}

proptest! {
    #[test]
    fn finds_what_overlaps(
        rectangles in proptest::collection::vec(
            [-20.0..20.0_f32, -5.0..5.0_f32, 0.1..3.0_f32, 0.1..3.0_f32], 1..60),
        moves in proptest::collection::vec((0..60_usize, -4.0..4.0_f32), 0..40),
    ) {
        let (mut tree, leaves) = tree(&rectangles);
        let mut rectangles = rectangles;
        for (index, by) in moves {
            let index = index % rectangles.len();
            rectangles[index][0] += by;
            tree.follow(leaves[index], bounds(rectangles[index]), vec2(by, 0.0));
        }
        check_node(&tree, tree.root.unwrap());
        let around = bounds([-3.0, -2.0, 6.0, 4.0]);
        let expected: Vec<u32> = (0..rectangles.len())
            .filter(|&index| tree.bounds(leaves[index]).overlaps(around))
            .map(|index| index as u32)
            .collect();
        prop_assert_eq!(found(&tree, around), expected);
        for &leaf in &leaves {
            tree.remove(leaf);
        }
        prop_assert!(tree.root.is_none());
    }
}
