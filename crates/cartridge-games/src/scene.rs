//! A picture as data: shapes in world units, painted in roles that the theme turns into colours.
//!
//! Coordinates are rounded to a thousandth when a shape is built, because scenes travel as JSON
//! many times a second.

use serde::{Deserialize, Serialize};

/// A picture: the part of the world to show, and what is in it from back to front.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Scene {
    /// Left, bottom, right and top of what must be visible, in world units; y points up.
    ///
    /// Shapes may reach beyond it, so that a picture of another aspect ratio has no bare margin.
    pub view: [f32; 4],
    /// The shapes, from back to front.
    pub shapes: Vec<Shape>,
}

/// One thing in a scene. All lengths are in world units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Shape {
    /// A closed outline.
    Polygon {
        /// The corners, in order.
        points: Vec<[f32; 2]>,
        /// Paint of the inside.
        #[cfg_attr(feature = "schema", schema(required))]
        fill: Option<Paint>,
        /// Paint of the outline.
        #[cfg_attr(feature = "schema", schema(required))]
        stroke: Option<Paint>,
        /// Width of the outline.
        width: f32,
    },
    /// An open line through two or more points, with round ends.
    Line {
        /// The points, in order.
        points: Vec<[f32; 2]>,
        /// Paint of the line.
        stroke: Paint,
        /// Width of the line.
        width: f32,
    },
    /// A circle.
    Circle {
        /// The middle.
        center: [f32; 2],
        /// Distance from the middle to the centre of the outline.
        radius: f32,
        /// Paint of the inside.
        #[cfg_attr(feature = "schema", schema(required))]
        fill: Option<Paint>,
        /// Paint of the outline.
        #[cfg_attr(feature = "schema", schema(required))]
        stroke: Option<Paint>,
        /// Width of the outline.
        width: f32,
    },
    /// A short text, centred on a point.
    Text {
        /// The middle of the text.
        at: [f32; 2],
        /// What it says.
        text: String,
        /// Height of a line.
        size: f32,
        /// Paint of the letters.
        paint: Paint,
    },
}

/// The role of a colour; the names are those of the design tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Paint {
    /// The night behind a scene.
    SceneBg,
    /// Solid ground.
    SceneGround,
    /// The lit edge of the ground.
    SceneEdge,
    /// The body of the thing that acts.
    SceneBody,
    /// Secondary lines.
    SceneLine,
    /// Something alive or measured.
    SceneLive,
    /// Something warm: flames, the pole, the goal.
    SceneWarm,
    /// Text in a scene.
    SceneText,
    /// The board of a game.
    Board,
    /// Lines on a board.
    BoardLine,
    /// An empty place on a board.
    Hole,
    /// Pieces of the first player.
    DiscA,
    /// Pieces of the second player.
    DiscB,
    /// The ring inside a piece of the second player.
    DiscBRing,
    /// What is chosen or has just happened.
    Accent,
}

impl Shape {
    /// A filled area without an outline.
    pub fn area(points: impl IntoIterator<Item = [f32; 2]>, fill: Paint) -> Self {
        Self::Polygon { points: rounded(points), fill: Some(fill), stroke: None, width: 0.0 }
    }

    /// An upright filled rectangle from the lower left to the upper right corner.
    pub fn rectangle([x0, y0]: [f32; 2], [x1, y1]: [f32; 2], fill: Paint) -> Self {
        Self::area([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], fill)
    }

    /// A line through `points`.
    pub fn line(points: impl IntoIterator<Item = [f32; 2]>, stroke: Paint, width: f32) -> Self {
        Self::Line { points: rounded(points), stroke, width: round(width) }
    }

    /// A filled circle without an outline.
    pub fn disc(center: [f32; 2], radius: f32, fill: Paint) -> Self {
        let (center, radius) = (center.map(round), round(radius));
        Self::Circle { center, radius, fill: Some(fill), stroke: None, width: 0.0 }
    }

    /// The outline of a circle.
    pub fn ring(center: [f32; 2], radius: f32, stroke: Paint, width: f32) -> Self {
        let (center, radius) = (center.map(round), round(radius));
        Self::Circle { center, radius, fill: None, stroke: Some(stroke), width: round(width) }
    }

    /// A short text, centred on `at`.
    pub fn text(at: [f32; 2], text: impl Into<String>, size: f32, paint: Paint) -> Self {
        Self::Text { at: at.map(round), text: text.into(), size: round(size), paint }
    }
}

fn rounded(points: impl IntoIterator<Item = [f32; 2]>) -> Vec<[f32; 2]> {
    points.into_iter().map(|point| point.map(round)).collect()
}

/// `x` to three decimals; never a negative zero, which would cost a character.
fn round(x: f32) -> f32 {
    (x * 1000.0).round() / 1000.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_compact_json() {
        let shape = Shape::line([[-0.00001, 1.0 / 3.0], [2.0, 1.23456]], Paint::DiscBRing, 0.1);
        assert_eq!(
            serde_json::to_string(&shape).unwrap(),
            r#"{"kind":"line","points":[[0.0,0.333],[2.0,1.235]],"stroke":"disc_b_ring","width":0.1}"#
        );
    }

    #[test]
    fn a_scene_survives_json() {
        let scene = Scene {
            view: [-1.0, -1.0, 1.0, 1.0],
            shapes: vec![
                Shape::rectangle([0.0, 0.0], [1.0, 0.5], Paint::Board),
                Shape::disc([0.0, 0.0], 0.2, Paint::DiscA),
                Shape::ring([0.0, 0.0], 0.2, Paint::DiscB, 0.05),
                Shape::text([0.0, 0.5], "12", 0.2, Paint::SceneText),
            ],
        };
        let json = serde_json::to_string(&scene).unwrap();
        assert_eq!(serde_json::from_str::<Scene>(&json).unwrap(), scene);
    }
}
