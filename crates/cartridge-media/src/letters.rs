//! The outlines of texts, in a part of DejaVu Sans Mono that is built in (`font/LICENSE`).

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, OutlineBuilder};

const FONT: &[u8] = include_bytes!("../font/DejaVuSansMono-subset.ttf");

/// The outline of `text`, centred on a point, in letters of so many pixels. A sign that the font
/// does not have is left blank. Nothing when there is nothing to draw.
pub fn outline(text: &str, [x, y]: [f32; 2], size: f32) -> Option<Path> {
    let face = Face::parse(FONT, 0).expect("the font that is built in is sound");
    let scale = size / f32::from(face.units_per_em());
    let advance = |sign| {
        let glyph = face.glyph_index(sign).or_else(|| face.glyph_index(' '));
        glyph.and_then(|glyph| face.glyph_hor_advance(glyph)).map_or(0.0, f32::from) * scale
    };
    let width: f32 = text.chars().map(advance).sum();
    let middle = f32::from(face.ascender() + face.descender()) / 2.0 * scale;
    let mut pen = Pen { builder: PathBuilder::new(), scale, origin: [x - width / 2.0, y + middle] };
    for sign in text.chars() {
        if let Some(glyph) = face.glyph_index(sign) {
            // A blank has no outline.
            _ = face.outline_glyph(glyph, &mut pen);
        }
        pen.origin[0] += advance(sign);
    }
    pen.builder.finish()
}

/// Draws glyphs whose y points up on a canvas whose y points down.
struct Pen {
    builder: PathBuilder,
    scale: f32,
    origin: [f32; 2],
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.origin[0] + x * self.scale, self.origin[1] - y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.builder.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.builder.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.builder.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) =
            (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.builder.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}
