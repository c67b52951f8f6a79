//! A balanced binary tree of rectangles, by which those that overlap are found.
//!
//! Leaves are inserted where they cost least perimeter, and the tree is kept balanced by
//! rotations. The numbers of nodes matter beyond the tree: contacts are solved in the order of
//! their leaves' numbers, and a freed number is the next to be used.

use super::math::{Bounds, Vec2};

/// Rectangles grow by this on every side, so that a small move changes nothing.
const MARGIN: f32 = 0.1;
/// A rectangle that moves also grows ahead, by so many times its last move.
const LOOK_AHEAD: f32 = 2.0;

/// The tree. Leaves bear a number of the owner's choice.
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
    owner: u32,
}

impl Tree {
    /// Adds a leaf around `bounds` and returns its number.
    pub(crate) fn insert(&mut self, bounds: Bounds, owner: u32) -> u32 {
        let leaf = self.allocate(bounds.grown(MARGIN), owner);
        self.attach(leaf);
        leaf
    }

    pub(crate) fn remove(&mut self, leaf: u32) {
        self.detach(leaf);
        self.release(leaf);
    }

    /// Lets a leaf follow its owner; true when its rectangle had to change.
    pub(crate) fn follow(&mut self, leaf: u32, bounds: Bounds, displacement: Vec2) -> bool {
        if self.node(leaf).bounds.contains(bounds) {
            return false;
        }
        self.detach(leaf);
        self.node_mut(leaf).bounds = look_ahead(bounds, displacement);
        self.attach(leaf);
        true
    }

    /// The rectangle of a leaf, margins included.
    pub(crate) fn bounds(&self, leaf: u32) -> Bounds {
        self.node(leaf).bounds
    }

    /// Visits every leaf that overlaps `bounds`: its number and its owner.
    pub(crate) fn query(&self, bounds: Bounds, mut visit: impl FnMut(u32, u32)) {
        let mut stack = Stack::new(self.root);
        while let Some(index) = stack.pop() {
            let node = self.node(index);
            if node.bounds.overlaps(bounds) {
                match node.children {
                    None => visit(index, node.owner),
                    Some(children) => stack.push(children),
                }
            }
        }
    }

    /// Visits the owners of leaves that a ray may hit. `visit` takes an owner and how far the ray
    /// reaches, as a part of the way, and returns how far it reaches from then on.
    pub(crate) fn cast(&self, from: Vec2, to: Vec2, mut visit: impl FnMut(u32, f32) -> f32) {
        let (direction, _) = (to - from).normalized();
        let across = direction.left();
        let across_abs = across.abs();
        let mut reach = 1.0;
        let reached = |reach: f32| {
            let end = from + reach * (to - from);
            Bounds { low: from.min(end), high: from.max(end) }
        };
        let mut segment = reached(reach);
        let mut stack = Stack::new(self.root);
        while let Some(index) = stack.pop() {
            let node = self.node(index);
            if !node.bounds.overlaps(segment) {
                continue;
            }
            let center = 0.5 * (node.bounds.low + node.bounds.high);
            let extents = 0.5 * (node.bounds.high - node.bounds.low);
            if across.dot(from - center).abs() - across_abs.dot(extents) > 0.0 {
                continue;
            }
            match node.children {
                None => {
                    reach = visit(node.owner, reach);
                    segment = reached(reach);
                }
                Some(children) => stack.push(children),
            }
        }
    }

    fn node(&self, index: u32) -> &Node {
        &self.nodes[index as usize]
    }

    fn node_mut(&mut self, index: u32) -> &mut Node {
        &mut self.nodes[index as usize]
    }

    fn allocate(&mut self, bounds: Bounds, owner: u32) -> u32 {
        let node = Node { bounds, parent: None, children: None, height: 0, owner };
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
        let joint = self.allocate(bounds.union(sibling_bounds), u32::MAX);
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

/// The rectangle of something that has just moved by `displacement`.
fn look_ahead(bounds: Bounds, displacement: Vec2) -> Bounds {
    let mut bounds = bounds.grown(MARGIN);
    let ahead = LOOK_AHEAD * displacement;
    if ahead.x < 0.0 {
        bounds.low.x += ahead.x;
    } else {
        bounds.high.x += ahead.x;
    }
    if ahead.y < 0.0 {
        bounds.low.y += ahead.y;
    } else {
        bounds.high.y += ahead.y;
    }
    bounds
}

/// Nodes still to be looked at, the last first.
struct Stack {
    nodes: [u32; Self::CAPACITY],
    n_nodes: usize,
}

impl Stack {
    /// A balanced tree is never deeper: each level down adds one node.
    const CAPACITY: usize = 64;

    fn new(root: Link) -> Self {
        let mut stack = Self { nodes: [0; Self::CAPACITY], n_nodes: 0 };
        if let Some(root) = root {
            stack.nodes[0] = root;
            stack.n_nodes = 1;
        }
        stack
    }

    fn pop(&mut self) -> Option<u32> {
        self.n_nodes = self.n_nodes.checked_sub(1)?;
        Some(self.nodes[self.n_nodes])
    }

    fn push(&mut self, children: [u32; 2]) {
        self.nodes[self.n_nodes..][..2].copy_from_slice(&children);
        self.n_nodes += 2;
    }
}

#[cfg(test)]
mod tests;
