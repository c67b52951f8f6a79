//! A balanced binary tree of rectangles, as the method keeps it to find pairs.
//!
//! We find pairs otherwise. What is left of the tree is how it numbers its leaves: contacts are
//! solved in the order of these numbers, freed numbers are used again, and which inner nodes are
//! freed when a leaf goes depends on where everything was. Leaves are inserted where they cost
//! least perimeter, and rotations keep the tree balanced.

use super::math::Bounds;

/// Hands out the numbers of leaves.
#[derive(Clone, Debug)]
pub(crate) enum Numbers {
    /// As a new tree does. No leaf goes, so only the order of numbers matters.
    Fresh(u32),
    /// As a tree does that is used again.
    Kept(Box<Tree>),
}

impl Numbers {
    /// The number of a new leaf.
    pub(crate) fn insert(&mut self, bounds: Bounds) -> u32 {
        match self {
            Self::Fresh(next) => {
                *next += 1;
                *next - 1
            }
            Self::Kept(tree) => tree.insert(bounds),
        }
    }

    /// Lets a leaf change its rectangle.
    pub(crate) fn follow(&mut self, leaf: u32, bounds: Bounds) {
        if let Self::Kept(tree) = self {
            tree.follow(leaf, bounds);
        }
    }

    /// Takes away all leaves, in this order.
    pub(crate) fn clear(&mut self, leaves: impl Iterator<Item = u32>) {
        match self {
            Self::Fresh(next) => *next = 0,
            Self::Kept(tree) => leaves.for_each(|leaf| tree.remove(leaf)),
        }
    }
}

/// The tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    root: Link,
    /// The most recently freed node; each names the one freed before.
    free: Link,
}

type Link = Option<u32>;

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Bounds,
    /// The next free node, while this one is free.
    parent: Link,
    /// None in a leaf.
    children: Option<[u32; 2]>,
    height: i32,
}

impl Tree {
    /// Adds a leaf and returns its number.
    fn insert(&mut self, bounds: Bounds) -> u32 {
        let leaf = self.allocate(bounds);
        self.attach(leaf);
        leaf
    }

    fn remove(&mut self, leaf: u32) {
        self.detach(leaf);
        self.release(leaf);
    }

    fn follow(&mut self, leaf: u32, bounds: Bounds) {
        self.detach(leaf);
        self.node_mut(leaf).bounds = bounds;
        self.attach(leaf);
    }

    fn node(&self, index: u32) -> &Node {
        &self.nodes[index as usize]
    }

    fn node_mut(&mut self, index: u32) -> &mut Node {
        &mut self.nodes[index as usize]
    }

    fn allocate(&mut self, bounds: Bounds) -> u32 {
        let node = Node { bounds, parent: None, children: None, height: 0 };
        match self.free {
            Some(index) => {
                self.free = self.node(index).parent;
                *self.node_mut(index) = node;
                index
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }

    fn release(&mut self, index: u32) {
        self.node_mut(index).parent = self.free;
        self.free = Some(index);
    }

    fn attach(&mut self, leaf: u32) {
        let Some(root) = self.root else {
            self.root = Some(leaf);
            self.node_mut(leaf).parent = None;
            return;
        };
        let bounds = self.node(leaf).bounds;
        let sibling = self.best_sibling(root, bounds);
        let Node { parent, bounds: sibling_bounds, height, .. } = *self.node(sibling);
        let joint = self.allocate(bounds.union(sibling_bounds));
        let node = self.node_mut(joint);
        node.parent = parent;
        node.height = height + 1;
        node.children = Some([sibling, leaf]);
        self.replace_child(parent, sibling, joint);
        self.node_mut(sibling).parent = Some(joint);
        self.node_mut(leaf).parent = Some(joint);
        self.refit(Some(joint));
    }

    /// The node beside which a leaf adds least to the perimeters, going down from `index`.
    fn best_sibling(&self, mut index: u32, bounds: Bounds) -> u32 {
        while let Some(children) = self.node(index).children {
            let here = self.node(index).bounds;
            let combined = here.union(bounds).perimeter();
            let cost_here = 2.0 * combined;
            let inherited = 2.0 * (combined - here.perimeter());
            let [cost1, cost2] = children.map(|child| {
                let child = self.node(child);
                let enlarged = bounds.union(child.bounds).perimeter();
                match child.children {
                    None => enlarged + inherited,
                    Some(_) => (enlarged - child.bounds.perimeter()) + inherited,
                }
            });
            if cost_here < cost1 && cost_here < cost2 {
                break;
            }
            index = if cost1 < cost2 { children[0] } else { children[1] };
        }
        index
    }

    fn detach(&mut self, leaf: u32) {
        let Some(parent) = self.node(leaf).parent else {
            self.root = None;
            return;
        };
        let [first, second] = self.children(parent);
        let sibling = if first == leaf { second } else { first };
        let grandparent = self.node(parent).parent;
        self.replace_child(grandparent, parent, sibling);
        self.node_mut(sibling).parent = grandparent;
        self.release(parent);
        self.refit(grandparent);
    }

    fn children(&self, index: u32) -> [u32; 2] {
        self.node(index).children.expect("an inner node has two children")
    }

    /// Puts `new` where `old` was under `parent`, or at the root.
    fn replace_child(&mut self, parent: Link, old: u32, new: u32) {
        let Some(parent) = parent else {
            self.root = Some(new);
            return;
        };
        let children = self.children(parent).map(|child| if child == old { new } else { child });
        self.node_mut(parent).children = Some(children);
    }

    /// Balances and measures every node from `link` up to the root.
    fn refit(&mut self, mut link: Link) {
        while let Some(index) = link {
            let index = self.balance(index);
            self.measure(index);
            link = self.node(index).parent;
        }
    }

    fn measure(&mut self, index: u32) {
        let [first, second] = self.children(index).map(|child| *self.node(child));
        let node = self.node_mut(index);
        node.height = 1 + first.height.max(second.height);
        node.bounds = first.bounds.union(second.bounds);
    }

    /// Lifts the higher child of `top` into its place when it is too high; returns what is there.
    fn balance(&mut self, top: u32) -> u32 {
        let Some(children) = self.node(top).children else { return top };
        let [first, second] = children.map(|child| self.node(child).height);
        if second - first > 1 {
            self.lift(top, children[1], 1)
        } else if first - second > 1 {
            self.lift(top, children[0], 0)
        } else {
            top
        }
    }

    /// Lifts `child`, on the given side of `top`, above it. The higher grandchild stays with
    /// `child`; the other takes its place under `top`.
    fn lift(&mut self, top: u32, child: u32, side: usize) -> u32 {
        let [first, second] = self.children(child);
        let (stays, moves) = if self.node(first).height > self.node(second).height {
            (first, second)
        } else {
            (second, first)
        };
        let parent = self.node(top).parent;
        self.node_mut(child).parent = parent;
        self.replace_child(parent, top, child);
        self.node_mut(child).children = Some([top, stays]);
        self.node_mut(top).parent = Some(child);
        let mut children = self.children(top);
        children[side] = moves;
        self.node_mut(top).children = Some(children);
        self.node_mut(moves).parent = Some(top);
        self.measure(top);
        self.measure(child);
        child
    }
}

#[cfg(test)]
mod tests;
