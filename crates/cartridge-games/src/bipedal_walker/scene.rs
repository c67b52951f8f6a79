//! The picture of a walker and its ground.

use super::BipedalWalker;
use crate::scene::Scene;

pub(super) fn draw(_env: &BipedalWalker) -> Scene {
    Scene { view: [0.0, 0.0, 1.0, 1.0], shapes: Vec::new() }
}
