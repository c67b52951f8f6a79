//! Scenes as pixels and films.
//!
//! # Layout
//!
//! * [`draw`]: a scene on a canvas, as the browser draws it.
//! * [`jpeg`]: the canvas as a JPEG file.
//! * [`letters`]: the outlines of texts.
//! * [`film`]: scenes one after the other, as an MP4 file.
//!
//! **Invariants:** values in, values out: no file, clock or thread. The same scene gives the same
//! bytes.

pub mod film;
pub mod letters;

use cartridge_games::scene::{Paint, Scene, Shape};
use jpeg_encoder::{ColorType, Encoder};
use tiny_skia::{Color, FillRule, LineCap, LineJoin, Path, PathBuilder, Pixmap, Stroke, Transform};

/// Lines are never thinner than this, so that far views stay legible.
const HAIRLINE: f32 = 1.0;

/// The quality of JPEG files: at 80, flat colours and thin lines show no blocks.
const QUALITY: u8 = 80;

/// The height that suits a scene of this width, in pixels; even, as video wants it.
pub fn height_for(scene: &Scene, width: u32) -> u32 {
    let [left, bottom, right, top] = scene.view;
    let height = width as f32 * (top - bottom) / (right - left);
    let height = if height.is_finite() { height } else { width as f32 };
    (height.clamp(width as f32 / 4.0, width as f32 * 2.0) as u32).next_multiple_of(2)
}

/// The scene on a canvas of so many pixels.
///
/// # Panics
///
/// If the canvas has no pixels.
pub fn draw(scene: &Scene, width: u32, height: u32) -> Pixmap {
    let mut canvas = Pixmap::new(width, height).expect("a canvas has pixels");
    canvas.fill(colour(Paint::SceneBg));
    let view = Fit::new(scene.view, width as f32, height as f32);
    for shape in &scene.shapes {
        match shape {
            Shape::Polygon { points, fill, stroke, width } => {
                if let Some(path) = trace(points, &view, true) {
                    finish(&mut canvas, &path, *fill, *stroke, width * view.scale);
                }
            }
            Shape::Line { points, stroke, width } => {
                if let Some(path) = trace(points, &view, false) {
                    finish(&mut canvas, &path, None, Some(*stroke), width * view.scale);
                }
            }
            Shape::Circle { center, radius, fill, stroke, width } => {
                let [x, y] = view.place(*center);
                if let Some(path) = PathBuilder::from_circle(x, y, radius * view.scale) {
                    finish(&mut canvas, &path, *fill, *stroke, width * view.scale);
                }
            }
            Shape::Text { at, text, size, paint } => {
                if let Some(path) = letters::outline(text, view.place(*at), size * view.scale) {
                    finish(&mut canvas, &path, Some(*paint), None, 0.0);
                }
            }
        }
    }
    canvas
}

/// The scene as a JPEG file of so many pixels.
///
/// # Panics
///
/// If the picture has no pixels, or more than 65,535 on a side.
pub fn jpeg(scene: &Scene, width: u32, height: u32) -> Vec<u8> {
    let canvas = draw(scene, width, height);
    let side = |n: u32| u16::try_from(n).expect("a picture has fewer pixels on a side");
    let mut file = Vec::new();
    // Everything is opaque, so it does not matter that colours are multiplied by their opacity.
    Encoder::new(&mut file, QUALITY)
        .encode(canvas.data(), side(width), side(height), ColorType::Rgba)
        .expect("writing to memory works");
    file
}

/// Where world coordinates land on the canvas: the view centred, as large as it goes.
struct Fit {
    scale: f32,
    origin: [f32; 2],
}

impl Fit {
    fn new([left, bottom, right, top]: [f32; 4], width: f32, height: f32) -> Self {
        let scale = (width / (right - left)).min(height / (top - bottom));
        let x = (width - scale * (right - left)) / 2.0 - left * scale;
        let y = height - (height - scale * (top - bottom)) / 2.0 + bottom * scale;
        Self { scale, origin: [x, y] }
    }

    fn place(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        [self.origin[0] + x * self.scale, self.origin[1] - y * self.scale]
    }
}

fn trace(points: &[[f32; 2]], view: &Fit, is_closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (idx, point) in points.iter().enumerate() {
        let [x, y] = view.place(*point);
        if idx == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
    }
    if is_closed {
        builder.close();
    }
    builder.finish()
}

fn finish(
    canvas: &mut Pixmap,
    path: &Path,
    fill: Option<Paint>,
    stroke: Option<Paint>,
    width: f32,
) {
    let paint = |role: Paint| {
        let mut paint = tiny_skia::Paint { anti_alias: true, ..Default::default() };
        paint.set_color(colour(role));
        paint
    };
    let as_it_is = Transform::identity();
    if let Some(fill) = fill {
        canvas.fill_path(path, &paint(fill), FillRule::Winding, as_it_is, None);
    }
    if let Some(stroke) = stroke {
        let pen = Stroke {
            width: width.max(HAIRLINE),
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            ..Stroke::default()
        };
        canvas.stroke_path(path, &paint(stroke), &pen, as_it_is, None);
    }
}

/// The colours of the design tokens (`web/src/lib/styles/tokens.css`): scenes are drawn on night
/// ground, boards as in the light theme.
fn colour(paint: Paint) -> Color {
    let rgb: u32 = match paint {
        Paint::SceneBg => 0x15171a,
        Paint::SceneGround => 0x4a4c4e,
        Paint::SceneEdge => 0xd8d5cc,
        Paint::SceneBody => 0xf1efe8,
        Paint::SceneLine => 0x83868a,
        Paint::SceneLive => 0x62cdbd,
        Paint::SceneWarm => 0xe9b44c,
        Paint::SceneText => 0xb9bbb8,
        Paint::Board => 0xdcd8cd,
        Paint::BoardLine => 0xc4bfb1,
        Paint::Hole => 0xf7f6f2,
        Paint::DiscA => 0x0b6a63,
        Paint::DiscB => 0xd99a1c,
        Paint::DiscBRing => 0x7a5200,
        Paint::Accent => 0x62cdbd,
    };
    let [_, red, green, blue] = rgb.to_be_bytes();
    Color::from_rgba8(red, green, blue, 255)
}

#[cfg(test)]
mod tests;
