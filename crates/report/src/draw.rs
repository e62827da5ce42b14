//! One panel: grid, ticks, layers, legend.

use crate::axis::{Marks, Placed};
use crate::decimate::decimate;
use crate::palette::{Colour, FRAME, GRID, INK, Marker, REFERENCE_DASH, SOFT_INK, marker, nth};
use crate::panel::{Cells, Layer, Look, Panel, Series};
use crate::svg::{Anchor, Font, Svg, text_width};

const TICK: Font = Font { size: 11.5, bold: false, colour: SOFT_INK };
const LABEL: Font = Font { size: 12.5, bold: false, colour: SOFT_INK };
const LEGEND: Font = Font { size: 12.5, bold: false, colour: INK };
const HEADING: Font = Font { size: 13.5, bold: true, colour: INK };
const LINE: f64 = 18.0;
/// Length of the stroke of a legend entry, and free room around it.
const SWATCH: f64 = 20.0;
const BETWEEN: f64 = 14.0;
/// Radius of a marked point.
const DOT: f64 = 2.6;
const LINE_WIDTH: f64 = 1.6;

/// The pixels of the axes.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

/// A panel with its axes and colours decided.
pub(crate) struct Prepared<'a> {
    panel: &'a Panel,
    x: Placed,
    y: Placed,
    y_marks: Marks,
    /// Per layer.
    strokes: Vec<Stroke>,
}

/// How a layer is drawn.
#[derive(Clone, Copy)]
struct Stroke {
    colour: &'static str,
    dash: &'static str,
    marker: Marker,
}

impl<'a> Prepared<'a> {
    /// Curves go from edge to edge; marked points keep `off` the frame.
    pub(crate) fn new(panel: &'a Panel, height: f64, off: bool) -> Self {
        let padding = if panel.has_map() { 0.0 } else { 0.05 };
        let x_padding = if off && !panel.has_map() { 0.02 } else { 0.0 };
        let x = panel.x.place(panel.values(true), x_padding, (0.0, 1.0));
        let y = panel.y.place(panel.values(false), padding, (0.0, 1.0));
        let y_marks = panel.y.marks(&y, (height / 48.0).round().max(3.0) as usize);
        let mut free = 0;
        let strokes = panel.layers.iter().map(|layer| stroke(layer, &mut free)).collect();
        Self { panel, x, y, y_marks, strokes }
    }

    /// Room on the left for the labels of the ticks.
    pub(crate) fn gutter(&self) -> f64 {
        let widest = self.y_marks.labels.iter().map(|label| text_width(label, TICK.size)).fold(0.0, f64::max);
        (widest + 10.0).max(34.0)
    }

    /// Room above the axes: title, label of the y axis, legend.
    pub(crate) fn head(&self, width: f64) -> f64 {
        let title = if self.panel.title.is_empty() { 0.0 } else { LINE + 2.0 };
        title + LINE * self.legend_lines(width).len().max(1) as f64 + 8.0
    }

    /// Room below the axes.
    pub(crate) fn foot(&self) -> f64 {
        if self.panel.x.label.is_empty() { 24.0 } else { 44.0 }
    }

    pub(crate) fn draw(&self, svg: &mut Svg, frame: Frame, left: f64, top: f64) {
        let placed = (self.x.moved(frame.left, frame.right), self.y.moved(frame.bottom, frame.top));
        self.draw_head(svg, frame, left, top);
        self.draw_y_axis(svg, frame, &placed.1);
        let marks = self.panel.x.marks(&placed.0, ((frame.right - frame.left) / 95.0).round() as usize);
        self.draw_x_grid(svg, frame, &placed.0, &marks);
        // Points on the frame are whole.
        let room = if self.panel.has_marks() { DOT + 1.0 } else { 0.5 * LINE_WIDTH };
        svg.clip(
            (frame.left - room, frame.top - room),
            (frame.right - frame.left + 2.0 * room, frame.bottom - frame.top + 2.0 * room),
        );
        for (layer, stroke) in self.panel.layers.iter().zip(&self.strokes) {
            match layer {
                Layer::Series(series) => draw_series(svg, series, *stroke, &placed, frame),
                Layer::Cells(cells) => draw_cells(svg, cells, stroke.colour, &placed),
                Layer::Level(_, y) => {
                    let y = placed.1.pixel(*y);
                    svg.line((frame.left, y), (frame.right, y), INK, 1.1, REFERENCE_DASH);
                }
            }
        }
        svg.end_clip();
        if self.panel.layers.is_empty() {
            let middle = (0.5 * (frame.left + frame.right), 0.5 * (frame.top + frame.bottom));
            svg.text(middle, Anchor::Middle, LABEL, "no data");
        }
        self.draw_x_axis(svg, frame, &placed.0, &marks);
    }

    fn draw_head(&self, svg: &mut Svg, frame: Frame, left: f64, top: f64) {
        let mut y = top + 12.0;
        if !self.panel.title.is_empty() {
            svg.text((left, y), Anchor::Start, HEADING, &self.panel.title);
            y += LINE + 2.0;
        }
        svg.text((left, y), Anchor::Start, LABEL, &self.panel.y.label);
        for line in self.legend_lines(frame.right - frame.left) {
            let width = line.iter().map(|k| self.entry_width(*k)).sum::<f64>() - BETWEEN;
            let mut x = frame.right - width;
            for k in line {
                self.draw_entry(svg, k, x, y);
                x += self.entry_width(k);
            }
            y += LINE;
        }
    }

    /// Which layers are in the legend, line by line; the first leaves room for the label of the axis.
    fn legend_lines(&self, width: f64) -> Vec<Vec<usize>> {
        let mut lines: Vec<Vec<usize>> = Vec::new();
        let mut used = f64::INFINITY;
        for k in (0..self.panel.layers.len()).filter(|k| self.name(*k).is_some()) {
            let entry = self.entry_width(k);
            if lines.is_empty() {
                used = text_width(&self.panel.y.label, LABEL.size);
                lines.push(Vec::new());
            }
            if used + entry > width && lines.last().is_some_and(|line| !line.is_empty() || used > 0.0) {
                lines.push(Vec::new());
                used = 0.0;
            }
            lines.last_mut().expect("a line was begun").push(k);
            used += entry;
        }
        lines
    }

    fn name(&self, layer: usize) -> Option<&str> {
        let name = match &self.panel.layers[layer] {
            Layer::Series(series) => series.name.as_str(),
            Layer::Level(name, _) => name,
            Layer::Cells(_) => "",
        };
        (self.panel.legend && !name.is_empty()).then_some(name)
    }

    fn entry_width(&self, layer: usize) -> f64 {
        SWATCH + 6.0 + text_width(self.name(layer).unwrap_or_default(), LEGEND.size) + BETWEEN
    }

    fn draw_entry(&self, svg: &mut Svg, layer: usize, x: f64, y: f64) {
        let Stroke { colour, dash, marker } = self.strokes[layer];
        let look = match &self.panel.layers[layer] {
            Layer::Series(series) => series.look,
            _ => Look::Reference,
        };
        let width = if look == Look::Reference { 1.1 } else { 2.2 };
        if look != Look::Points {
            svg.line((x, y - 4.0), (x + SWATCH, y - 4.0), colour, width, dash);
        }
        if look.has_marks() {
            draw_mark(svg, (x + 0.5 * SWATCH, y - 4.0), marker, colour);
        }
        svg.text((x + SWATCH + 6.0, y), Anchor::Start, LEGEND, self.name(layer).unwrap_or_default());
    }

    fn draw_y_axis(&self, svg: &mut Svg, frame: Frame, y: &Placed) {
        for value in &self.y_marks.minor {
            let y = y.pixel(*value);
            svg.line((frame.left - 3.0, y), (frame.left, y), FRAME, 0.8, "");
        }
        for (value, label) in self.y_marks.values.iter().zip(&self.y_marks.labels) {
            let y = y.pixel(*value);
            svg.line((frame.left, y), (frame.right, y), GRID, 1.0, "");
            svg.text((frame.left - 7.0, y + 4.0), Anchor::End, TICK, label);
        }
    }

    fn draw_x_grid(&self, svg: &mut Svg, frame: Frame, x: &Placed, marks: &Marks) {
        for value in &marks.values {
            let x = x.pixel(*value);
            svg.line((x, frame.top), (x, frame.bottom), GRID, 1.0, "");
        }
    }

    /// The line below the axes, over the curves, with its ticks.
    fn draw_x_axis(&self, svg: &mut Svg, frame: Frame, x: &Placed, marks: &Marks) {
        svg.line((frame.left, frame.bottom), (frame.right, frame.bottom), FRAME, 1.0, "");
        for value in &marks.minor {
            let x = x.pixel(*value);
            svg.line((x, frame.bottom), (x, frame.bottom + 3.0), FRAME, 0.8, "");
        }
        for (value, label) in marks.values.iter().zip(&marks.labels) {
            let x = x.pixel(*value);
            svg.line((x, frame.bottom), (x, frame.bottom + 5.0), FRAME, 1.0, "");
            svg.text((x, frame.bottom + 19.0), Anchor::Middle, TICK, label);
        }
        let middle = 0.5 * (frame.left + frame.right);
        svg.text((middle, frame.bottom + 38.0), Anchor::Middle, LABEL, &self.panel.x.label);
    }
}

fn stroke(layer: &Layer, free: &mut usize) -> Stroke {
    let (colour, reference) = match layer {
        Layer::Series(series) => (series.colour, series.look == Look::Reference),
        Layer::Cells(cells) => (cells.colour, false),
        Layer::Level(..) => (Colour::Ink, true),
    };
    let index = match colour {
        Colour::Nth(index) => Some(index),
        Colour::Next if !reference => {
            *free += 1;
            Some(*free - 1)
        }
        Colour::Ink | Colour::Next => None,
    };
    let (colour, dash) = index.map_or((INK, ""), nth);
    let dash = if reference { REFERENCE_DASH } else { dash };
    Stroke { colour, dash, marker: marker(index.unwrap_or(0)) }
}

fn draw_mark(svg: &mut Svg, (x, y): (f64, f64), marker: Marker, colour: &str) {
    // Shapes of about the same area.
    let r = match marker {
        Marker::Dot => return svg.dot((x, y), DOT, colour),
        Marker::Square => 0.9 * DOT,
        Marker::Triangle => 1.25 * DOT,
        Marker::Diamond => 1.3 * DOT,
    };
    let corners: &[(f64, f64)] = match marker {
        Marker::Triangle => &[(0.0, -1.0), (0.95, 0.75), (-0.95, 0.75)],
        Marker::Diamond => &[(0.0, -1.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)],
        _ => &[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)],
    };
    svg.polygon(corners.iter().map(|(dx, dy)| (x + r * dx, y + r * dy)), colour);
}

fn draw_series(
    svg: &mut Svg,
    series: &Series,
    Stroke { colour, dash, marker }: Stroke,
    (x, y): &(Placed, Placed),
    frame: Frame,
) {
    let mut points: Vec<(f64, f64)> = series.points.iter().map(|p| (x.pixel(p.0), y.pixel(p.1))).collect();
    if series.look == Look::Steps {
        points = stairs(&points);
    }
    let points = decimate(points, frame.right - frame.left);
    let width = if series.look == Look::Reference { 1.1 } else { LINE_WIDTH };
    if series.look != Look::Points {
        svg.curve(&points, colour, width, dash, &series.name);
    }
    if series.look.has_marks() {
        let visible = points.iter().filter(|p| p.0.is_finite() && p.1.is_finite());
        visible.for_each(|point| draw_mark(svg, *point, marker, colour));
    }
}

/// A point before each jump.
fn stairs(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut stairs = Vec::with_capacity(2 * points.len());
    for (k, point) in points.iter().enumerate() {
        if k > 0 {
            stairs.push((point.0, points[k - 1].1));
        }
        stairs.push(*point);
    }
    stairs
}

/// Filled cells; equal neighbours of a row are one rectangle.
fn draw_cells(svg: &mut Svg, cells: &Cells, colour: &str, (x, y): &(Placed, Placed)) {
    let columns = cells.x.len().saturating_sub(1);
    for (row, fill) in cells.fill.chunks_exact(columns.max(1)).enumerate() {
        let (Some(low), Some(high)) = (cells.y.get(row), cells.y.get(row + 1)) else { return };
        let (bottom, top) = (y.pixel(*low), y.pixel(*high));
        let mut column = 0;
        for run in fill.chunk_by(|a, b| a == b) {
            let (left, right) = (x.pixel(cells.x[column]), x.pixel(cells.x[column + run.len()]));
            column += run.len();
            if run[0] > 0.0 {
                svg.rect((left, top), (right - left, bottom - top), &tinted(colour, run[0]));
            }
        }
    }
}

/// A colour on white, `share` of it.
fn tinted(colour: &str, share: f64) -> String {
    let channel = |k: usize| u8::from_str_radix(&colour[k..k + 2], 16).unwrap_or(0);
    let mix = |k: usize| (255.0 - (255.0 - f64::from(channel(k))) * share.clamp(0.0, 1.0)).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(1), mix(3), mix(5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tints_go_from_white_to_the_colour() {
        assert_eq!(tinted("#0072b2", 0.0), "#ffffff");
        assert_eq!(tinted("#0072b2", 1.0), "#0072b2");
        assert_eq!(tinted("#000000", 0.5), "#808080");
    }

    #[test]
    fn stairs_hold_until_the_next_point() {
        assert_eq!(stairs(&[(0.0, 1.0), (2.0, 3.0)]), [(0.0, 1.0), (2.0, 1.0), (2.0, 3.0)]);
    }
}
