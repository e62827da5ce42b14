//! Writes SVG: numbers rounded to hundredths of a pixel, text escaped.

use std::fmt::Write;

use crate::raster::{self, Shape};

/// Fonts, from the nicest that may be there to the one that is.
const FONTS: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif";
/// Pixels beyond this are outside any picture; renderers stumble over larger numbers.
const FAR: f64 = 1e5;

/// A picture under construction: its text as SVG, and its shapes for pictures of pixels.
pub(crate) struct Svg {
    text: String,
    shapes: Vec<Shape>,
    size: (f64, f64),
}

/// Where a text stands relative to its point.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Font {
    pub(crate) size: f64,
    pub(crate) bold: bool,
    pub(crate) colour: &'static str,
}

impl Svg {
    /// An empty picture on white ground.
    pub(crate) fn new(width: f64, height: f64, title: &str) -> Self {
        let (w, h) = (number(width), number(height));
        let mut svg = Self { text: String::new(), shapes: Vec::new(), size: (width, height) };
        svg.push(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             role=\"img\" font-family=\"{FONTS}\">\n<title>{}</title>\n\
             <rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n",
            escaped(title)
        ));
        svg
    }

    /// The text of the whole picture.
    pub(crate) fn finish(mut self) -> String {
        self.text += "</svg>\n";
        self.text
    }

    /// The picture as PNG; nothing if it is far too large.
    pub(crate) fn finish_png(self) -> Option<Vec<u8>> {
        // Fine enough for screens of today, and for print.
        const PIXELS: f32 = 2.0;
        raster::png(&self.shapes, self.size, PIXELS)
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(text);
    }

    /// A straight line; nothing if it has no place.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, width: f64, dash: &str) {
        if [from.0, from.1, to.0, to.1].iter().any(|v| v.is_nan()) {
            return;
        }
        let colour = stroke.to_owned();
        self.shapes.push(Shape::Curve { points: vec![from, to], colour, width, dash: dash.into() });
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        let dash = dashes(dash);
        self.push(format_args!(
            "<path d=\"M{x1} {y1}L{x2} {y2}\" stroke=\"{stroke}\" stroke-width=\"{}\"{dash} fill=\"none\"/>\n",
            number(width)
        ));
    }

    /// A filled rectangle with sharp edges, so that neighbours leave no seam.
    pub(crate) fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str) {
        let corners = vec![(x, y), (x + width, y), (x + width, y + height), (x, y + height)];
        self.shapes.push(Shape::Area { corners, colour: fill.into() });
        let [x, y, width, height] = [x, y, width, height].map(number);
        self.push(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\" \
             shape-rendering=\"crispEdges\"/>\n"
        ));
    }

    /// A filled circle.
    pub(crate) fn dot(&mut self, (x, y): (f64, f64), radius: f64, fill: &str) {
        self.shapes.push(Shape::Circle { centre: (x, y), radius, fill: fill.into(), line: String::new() });
        let [x, y, r] = [x, y, radius].map(number);
        self.push(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{fill}\"/>\n"));
    }

    /// A circle that is not filled.
    pub(crate) fn ring(&mut self, (x, y): (f64, f64), radius: f64, (colour, fill): (&str, &str)) {
        self.shapes.push(Shape::Circle { centre: (x, y), radius, fill: fill.into(), line: colour.into() });
        let [x, y, r] = [x, y, radius].map(number);
        self.push(format_args!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{fill}\" stroke=\"{colour}\"/>\n"
        ));
    }

    /// A filled shape.
    pub(crate) fn polygon(&mut self, corners: impl Iterator<Item = (f64, f64)>, fill: &str) {
        let corners: Vec<_> = corners.collect();
        let points: Vec<_> = corners.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
        self.shapes.push(Shape::Area { corners, colour: fill.into() });
        let points = points.join(" ");
        self.push(format_args!("<polygon points=\"{points}\" fill=\"{fill}\"/>\n"));
    }

    /// A curve through points; a point that is not finite interrupts it. `name` shows up under the mouse.
    pub(crate) fn curve(&mut self, points: &[(f64, f64)], stroke: &str, width: f64, dash: &str, name: &str) {
        let (colour, pattern) = (stroke.to_owned(), dash.to_owned());
        self.shapes.push(Shape::Curve { points: points.to_vec(), colour, width, dash: pattern });
        let mut path = String::new();
        let mut pen_down = false;
        for (x, y) in points {
            if x.is_finite() && y.is_finite() {
                let _ = write!(path, "{}{} {}", if pen_down { 'L' } else { 'M' }, number(*x), number(*y));
                pen_down = true;
            } else {
                pen_down = false;
            }
        }
        let (dash, width) = (dashes(dash), number(width));
        self.push(format_args!(
            "<path d=\"{path}\" stroke=\"{stroke}\" stroke-width=\"{width}\"{dash} fill=\"none\" \
             stroke-linejoin=\"round\"><title>{}</title></path>\n",
            escaped(name)
        ));
    }

    /// Text with its baseline at a point.
    pub(crate) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, font: Font, text: &str) {
        self.shapes.push(Shape::Text { at: (x, y), anchor, font, text: text.into() });
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if font.bold { " font-weight=\"600\"" } else { "" };
        let ([x, y, size], fill) = ([x, y, font.size].map(number), font.colour);
        self.push(format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{weight} fill=\"{fill}\"{anchor}>{}</text>\n",
            escaped(text)
        ));
    }

    /// What follows is cut at a rectangle, until [`end_clip`](Self::end_clip).
    ///
    /// The name of the rectangle is the rectangle: pictures that were drawn by different processes may come together in one page, where
    /// equal names have to mean the same.
    pub(crate) fn clip(&mut self, (x, y): (f64, f64), (width, height): (f64, f64)) {
        self.shapes.push(Shape::Clip { at: (x, y), size: (width, height) });
        let [x, y, width, height] = [x, y, width, height].map(number);
        let id = format!("clip-{x}-{y}-{width}-{height}");
        self.push(format_args!(
            "<clipPath id=\"{id}\"><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/></clipPath>\n\
             <g clip-path=\"url(#{id})\">\n"
        ));
    }

    pub(crate) fn end_clip(&mut self) {
        self.shapes.push(Shape::EndClip);
        self.text += "</g>\n";
    }
}

fn dashes(dash: &str) -> String {
    if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") }
}

/// A coordinate with two decimals at most.
fn number(value: f64) -> String {
    let text = format!("{:.2}", value.clamp(-FAR, FAR));
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// Text without what XML would take for markup, and without what XML cannot hold.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// Room that a text takes, about.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(letter_width).sum::<f64>() * size
}

/// Width of a letter relative to the size of the font; rather too large, as the font that will be there is not known.
fn letter_width(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | ' ' | '\u{2009}' => 0.33,
        'f' | 'r' | 't' | '-' | '(' | ')' | '/' | '⁰'..='⁹' | '⁻' | '¹' | '²' | '³' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        'A'..='Z' => 0.72,
        _ => 0.62,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hostile_files_are_only_text() {
        assert_eq!(
            escaped("<script>\"a\" & 'b'\u{1}"),
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;\u{fffd}"
        );
    }

    #[test]
    fn numbers_are_short_and_near() {
        assert_eq!(
            [1.0, 0.123, -0.001, 1e300, f64::NEG_INFINITY].map(number),
            ["1", "0.12", "0", "100000", "-100000"]
        );
    }
}
