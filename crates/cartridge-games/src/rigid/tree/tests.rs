use proptest::prelude::*;

use super::*;
use crate::rigid::math::vec2;

fn bounds([x, y, width, height]: [f32; 4]) -> Bounds {
    Bounds { low: vec2(x, y), high: vec2(x + width, y + height) }
}

fn tree(rectangles: &[[f32; 4]]) -> (Tree, Vec<u32>) {
    let mut tree = Tree::default();
    let leaves = rectangles.iter().map(|&rectangle| tree.insert(bounds(rectangle))).collect();
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

#[test]
fn leaves_are_numbered_as_nodes_are_made() {
    let row: Vec<[f32; 4]> = (0..5).map(|x| [x as f32, 0.0, 1.0, 1.0]).collect();
    let (mut tree, leaves) = tree(&row);
    assert_eq!(leaves, [0, 1, 3, 5, 7], "each leaf but the first brings a node above it");
    tree.remove(3);
    assert_eq!(tree.insert(bounds([9.0, 0.0, 1.0, 1.0])), 3, "the last number freed");
}

#[test]
fn a_new_tree_numbers_in_order() {
    let mut fresh = Numbers::Fresh(0);
    let mut kept = Numbers::Kept(Box::default());
    for x in 0..20 {
        let around = bounds([x as f32, 0.0, 1.0, 1.0]);
        let (fresh, kept) = (fresh.insert(around), kept.insert(around));
        assert_eq!(kept, (2 * fresh).saturating_sub(1), "only the order counts");
    }
}

proptest! {
    #[test]
    fn stays_balanced_and_whole(
        rectangles in proptest::collection::vec(
            [-20.0..20.0_f32, -5.0..5.0_f32, 0.1..3.0_f32, 0.1..3.0_f32], 1..60),
        moves in proptest::collection::vec((0..60_usize, -4.0..4.0_f32), 0..40),
    ) {
        let (mut tree, leaves) = tree(&rectangles);
        let mut rectangles = rectangles;
        for (index, by) in moves {
            let index = index % rectangles.len();
            rectangles[index][0] += by;
            tree.follow(leaves[index], bounds(rectangles[index]));
        }
        let height = check_node(&tree, tree.root.unwrap());
        prop_assert!(f64::from(height) <= 2.0 * (leaves.len() as f64).log2() + 1.0);
        let n_nodes = tree.nodes.len();
        for &leaf in &leaves {
            tree.remove(leaf);
        }
        prop_assert!(tree.root.is_none());
        for &rectangle in &rectangles {
            tree.insert(bounds(rectangle));
        }
        prop_assert_eq!(tree.nodes.len(), n_nodes, "freed nodes are used again");
    }
}
