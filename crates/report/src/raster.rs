//! Pictures as pixels: the shapes of a picture, drawn by `tiny-skia`, with letters of a font that is part of the program. So a
//! picture looks the same on every machine, and nothing has to be installed.

use tiny_skia::{
    Color, FillRule, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use crate::svg::{Anchor, Font};

/// Latin, Greek and a few signs of DejaVu Sans; `fonts/LICENSE`.
const LETTERS: &[u8] = include_bytes!("../fonts/sans.ttf");
/// Shown for letters that the font does not have.
const UNKNOWN: char = '\u{fffd}';
/// How much thicker a bold letter is, relative to its size.
const BOLD: f32 = 0.045;
/// Pictures beyond this are refused: nobody sees them, and they would take gigabytes.
const MOST_PIXELS: f32 = 1e8;

/// Something that is drawn.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// A curve; points that are not finite interrupt it.
    Curve { points: Vec<(f64, f64)>, colour: String, width: f64, dash: String },
    /// A filled polygon.
    Area { corners: Vec<(f64, f64)>, colour: String },
    /// A circle, filled, with a line around it unless that has no colour.
    Circle { centre: (f64, f64), radius: f64, fill: String, line: String },
    /// Text with its baseline at a point.
    Text { at: (f64, f64), anchor: Anchor, font: Font, text: String },
    /// What follows is cut at this rectangle.
    Clip { at: (f64, f64), size: (f64, f64) },
    /// What follows is not cut.
    EndClip,
}

/// The picture as PNG, `scale` pixels per unit; nothing if it would be empty or far too large.
pub(crate) fn png(shapes: &[Shape], (width, height): (f64, f64), scale: f32) -> Option<Vec<u8>> {
    let (width, height) = ((width as f32 * scale).ceil(), (height as f32 * scale).ceil());
    if !(width >= 1.0 && height >= 1.0 && width * height <= MOST_PIXELS) {
        return None;
    }
    let mut pixels = Pixmap::new(width as u32, height as u32)?;
    pixels.fill(Color::WHITE);
    let mut canvas = Canvas {
        pixels,
        scale: Transform::from_scale(scale, scale),
        clip: None,
        face: Face::parse(LETTERS, 0).ok()?,
    };
    shapes.iter().for_each(|shape| canvas.draw(shape));
    canvas.pixels.encode_png().ok()
}

struct Canvas {
    pixels: Pixmap,
    scale: Transform,
    clip: Option<Mask>,
    face: Face<'static>,
}

impl Canvas {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Curve { points, colour, width, dash } => {
                let Some(path) = curve(points) else { return };
                let dash = dash.split_whitespace().filter_map(|length| length.parse().ok()).collect();
                let stroke = Stroke {
                    width: *width as f32,
                    line_join: LineJoin::Round,
                    dash: StrokeDash::new(dash, 0.0),
                    ..Stroke::default()
                };
                self.stroke(&path, colour, &stroke);
            }
            Shape::Area { corners, colour } => {
                if let Some(path) = polygon(corners) {
                    self.fill(&path, colour);
                }
            }
            Shape::Circle { centre: (x, y), radius, fill, line } => {
                let Some(path) = PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32) else {
                    return;
                };
                self.fill(&path, fill);
                if !line.is_empty() {
                    self.stroke(&path, line, &Stroke::default());
                }
            }
            Shape::Text { at, anchor, font, text } => self.text(*at, *anchor, *font, text),
            Shape::Clip { at: (x, y), size } => {
                let rect = Rect::from_xywh(*x as f32, *y as f32, size.0 as f32, size.1 as f32);
                self.clip = rect.and_then(|rect| {
                    let mut mask = Mask::new(self.pixels.width(), self.pixels.height())?;
                    mask.fill_path(&PathBuilder::from_rect(rect), FillRule::Winding, false, self.scale);
                    Some(mask)
                });
            }
            Shape::EndClip => self.clip = None,
        }
    }

    fn fill(&mut self, path: &Path, colour: &str) {
        self.pixels.fill_path(path, &paint(colour), FillRule::Winding, self.scale, self.clip.as_ref());
    }

    fn stroke(&mut self, path: &Path, colour: &str, stroke: &Stroke) {
        self.pixels.stroke_path(path, &paint(colour), stroke, self.scale, self.clip.as_ref());
    }

    fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, font: Font, text: &str) {
        let size = font.size as f32 / f32::from(self.face.units_per_em());
        let glyph =
            |c: char| self.face.glyph_index(c).or_else(|| self.face.glyph_index(UNKNOWN)).unwrap_or_default();
        let advance = |glyph: GlyphId| f32::from(self.face.glyph_hor_advance(glyph).unwrap_or(0)) * size;
        let glyphs: Vec<GlyphId> = text.chars().map(glyph).collect();
        let width: f32 = glyphs.iter().copied().map(advance).sum();
        let begin = x as f32
            - match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => 0.5 * width,
                Anchor::End => width,
            };
        let mut outline = Outline { path: PathBuilder::new(), at: (begin, y as f32), size };
        for glyph in glyphs {
            self.face.outline_glyph(glyph, &mut outline);
            outline.at.0 += advance(glyph);
        }
        let Some(path) = outline.path.finish() else { return };
        self.fill(&path, font.colour);
        if font.bold {
            let stroke = Stroke { width: BOLD * font.size as f32, ..Stroke::default() };
            self.stroke(&path, font.colour, &stroke);
        }
    }
}

/// Letters on their way to a path: from units of the font, upwards, to pixels, downwards.
struct Outline {
    path: PathBuilder,
    at: (f32, f32),
    size: f32,
}

impl Outline {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.at.0 + self.size * x, self.at.1 - self.size * y)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

fn curve(points: &[(f64, f64)]) -> Option<Path> {
    let mut path = PathBuilder::new();
    let mut pen_down = false;
    for (x, y) in points {
        let is_there = x.is_finite() && y.is_finite();
        // Far outside of any picture.
        let (x, y) = (x.clamp(-1e5, 1e5) as f32, y.clamp(-1e5, 1e5) as f32);
        match (is_there, pen_down) {
            (true, true) => path.line_to(x, y),
            (true, false) => path.move_to(x, y),
            (false, _) => {}
        }
        pen_down = is_there;
    }
    path.finish()
}

fn polygon(corners: &[(f64, f64)]) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (k, (x, y)) in corners.iter().enumerate() {
        if k == 0 { path.move_to(*x as f32, *y as f32) } else { path.line_to(*x as f32, *y as f32) }
    }
    path.close();
    path.finish()
}

/// `#rrggbb`; black if it is none.
fn paint(colour: &str) -> Paint<'static> {
    let channel =
        |k: usize| colour.get(k..k + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).unwrap_or(0);
    let mut paint = Paint::default();
    paint.set_color_rgba8(channel(1), channel(3), channel(5), 255);
    paint
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(shapes: &[Shape]) -> Pixmap {
        Pixmap::decode_png(&png(shapes, (40.0, 20.0), 2.0).unwrap()).unwrap()
    }

    fn colours(picture: &Pixmap, colour: [u8; 3]) -> usize {
        let is_it =
            |pixel: &&tiny_skia::PremultipliedColorU8| [pixel.red(), pixel.green(), pixel.blue()] == colour;
        picture.pixels().iter().filter(is_it).count()
    }

    #[test]
    fn curves_are_interrupted_and_cut() {
        let points = vec![(0.0, 10.0), (10.0, 10.0), (f64::NAN, 0.0), (30.0, 10.0), (1e300, 10.0)];
        let curve = Shape::Curve { points, colour: "#ff0000".into(), width: 2.0, dash: String::new() };
        let clip = Shape::Clip { at: (0.0, 0.0), size: (35.0, 20.0) };
        let picture = drawn(&[clip, curve.clone(), Shape::EndClip]);
        // 10 and 5 units long, 2 units wide, 4 pixels per unit of area.
        assert_eq!(colours(&picture, [255, 0, 0]), (10 + 5) * 2 * 4);
        assert_eq!(colours(&drawn(&[curve]), [255, 0, 0]), (10 + 10) * 2 * 4);
    }

    #[test]
    fn every_letter_of_the_pictures_is_in_the_font() {
        let face = Face::parse(LETTERS, 0).unwrap();
        for letter in
            "abcXYZ 0123456789.,:;()[]{}/%+-*=<>|_~^\u{2009}°µμΩωφΔ·²³⁻¹⁰⁴⁵⁶⁷⁸⁹−×≤≥äöüß\u{fffd}".chars()
        {
            assert!(face.glyph_index(letter).is_some(), "{letter:?}");
        }
        let font = Font { size: 12.0, bold: true, colour: "#222222" };
        let text =
            |text: &str| Shape::Text { at: (20.0, 15.0), anchor: Anchor::Middle, font, text: text.into() };
        // One that no font has is shown all the same.
        assert!(colours(&drawn(&[text("T")]), [34, 34, 34]) > 20);
        assert!(colours(&drawn(&[text("\u{e000}")]), [34, 34, 34]) > 20);
    }

    #[test]
    fn pictures_that_nobody_sees_are_refused() {
        assert!(png(&[], (0.0, 10.0), 1.0).is_none() && png(&[], (1e6, 1e6), 1.0).is_none());
        assert!(png(&[], (f64::NAN, 10.0), 1.0).is_none());
    }
}
