//! The picture of a lander above the moon.

use super::LunarLander;
use crate::scene::Scene;

pub(super) fn draw(_env: &LunarLander) -> Scene {
    Scene { view: [0.0, 0.0, 1.0, 1.0], shapes: Vec::new() }
}
