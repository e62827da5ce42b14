//! A title and panels in a grid.

use crate::draw::{Frame, Prepared};
use crate::palette::{BAD, GOOD, INK, SOFT_INK};
use crate::panel::Panel;
use crate::svg::{Anchor, Font, Svg, text_width};

const WIDTH: f64 = 960.0;
const MARGIN: f64 = 28.0;
const GAP: f64 = 26.0;
pub(crate) const TITLE: Font = Font { size: 18.0, bold: true, colour: INK };
const SUBTITLE: Font = Font { size: 13.0, bold: false, colour: SOFT_INK };

/// A picture: title, panels, notes below.
#[derive(Clone, Debug)]
pub struct Figure {
    pub(crate) title: String,
    subtitle: String,
    pub(crate) notes: Vec<String>,
    pub(crate) panels: Vec<Panel>,
    pub(crate) columns: usize,
    panel_height: Option<f64>,
    badge: Option<Badge>,
}

/// A word at the top of a picture about what it shows, and what the word rests on.
#[derive(Clone, Debug)]
pub struct Badge {
    /// The word, `STABLE`.
    pub word: String,
    /// Whether what is shown can be trusted, where that is known.
    pub is_good: Option<bool>,
    /// Smaller, below it.
    pub text: String,
}

impl Figure {
    /// An empty picture.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            subtitle: String::new(),
            notes: Vec::new(),
            panels: Vec::new(),
            columns: 1,
            panel_height: None,
            badge: None,
        }
    }

    /// With a line below the title.
    pub fn subtitle(mut self, text: impl Into<String>) -> Self {
        self.subtitle = text.into();
        self
    }

    /// With a word about the result at the top.
    pub fn badge(mut self, badge: Badge) -> Self {
        self.badge = Some(badge);
        self
    }

    /// With a remark below all panels.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// With another panel.
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// With more panels.
    pub fn panels(mut self, panels: impl IntoIterator<Item = Panel>) -> Self {
        self.panels.extend(panels);
        self
    }

    /// With so many panels side by side.
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns.max(1);
        self
    }

    /// With axes of this height in pixels.
    pub fn panel_height(mut self, pixels: f64) -> Self {
        self.panel_height = Some(pixels);
        self
    }

    /// The picture as SVG.
    pub fn to_svg(&self) -> String {
        self.drawn().finish()
    }

    /// The picture as PNG, two pixels for each of the SVG; nothing if it is far too large.
    ///
    /// ```
    /// use costep_report::{Axis, Figure, Panel, Series};
    ///
    /// let panel = Panel::new(Axis::new("time"), Axis::new("x")).with(Series::new("x", vec![(0.0, 1.0), (1.0, 2.0)]));
    /// let png = Figure::new("A line").panel(panel).to_png().unwrap();
    /// assert!(png.starts_with(b"\x89PNG"));
    /// ```
    pub fn to_png(&self) -> Option<Vec<u8>> {
        self.drawn().finish_png()
    }

    fn drawn(&self) -> Svg {
        let columns = self.columns.min(self.panels.len().max(1));
        let width = (WIDTH - 2.0 * MARGIN - GAP * (columns - 1) as f64) / columns as f64;
        let rows = self.panels.len().div_ceil(columns);
        let plot_height = self.panel_height.unwrap_or(match rows {
            0 | 1 => 380.0,
            2 => 240.0,
            _ => 180.0,
        });
        // Panels below each other have one axis of time.
        let any_marks = columns == 1 && self.panels.iter().any(Panel::has_marks);
        let prepared: Vec<_> = self
            .panels
            .iter()
            .map(|panel| Prepared::new(panel, plot_height, any_marks || panel.has_marks()))
            .collect();
        // The axes of one column begin at the same place.
        let gutter = |column: usize| {
            prepared.iter().skip(column).step_by(columns).map(Prepared::gutter).fold(0.0, f64::max)
        };
        let gutters: Vec<f64> = (0..columns).map(gutter).collect();
        let heights: Vec<(f64, f64)> = prepared
            .chunks(columns)
            .map(|row| {
                let heads = row.iter().enumerate().map(|(k, panel)| panel.head(width - gutters[k]));
                (heads.fold(0.0, f64::max), row.iter().map(Prepared::foot).fold(0.0, f64::max))
            })
            .collect();
        let has_second_line = !self.subtitle.is_empty() || self.badge.is_some();
        let header = MARGIN + 14.0 + if has_second_line { 20.0 } else { 0.0 } + 14.0;
        let panels: f64 = heights.iter().map(|(head, foot)| head + plot_height + foot + 10.0).sum();
        let notes: Vec<String> = self.notes.iter().flat_map(|note| wrapped(note)).collect();
        let height = header + panels + 17.0 * notes.len() as f64 + if notes.is_empty() { 12.0 } else { 24.0 };

        let mut svg = Svg::new(WIDTH, height, &self.title);
        svg.text((MARGIN, MARGIN + 14.0), Anchor::Start, TITLE, &self.title);
        svg.text((MARGIN, MARGIN + 35.0), Anchor::Start, SUBTITLE, &self.subtitle);
        if let Some(badge) = &self.badge {
            let colour = badge.is_good.map_or(SOFT_INK, |is_good| if is_good { GOOD } else { BAD });
            let right = WIDTH - MARGIN;
            svg.text((right, MARGIN + 14.0), Anchor::End, Font { colour, ..TITLE }, &badge.word);
            svg.text((right, MARGIN + 35.0), Anchor::End, SUBTITLE, &badge.text);
        }
        let mut top = header;
        for (row, (head, foot)) in prepared.chunks(columns).zip(&heights) {
            for (column, panel) in row.iter().enumerate() {
                let left = MARGIN + column as f64 * (width + GAP);
                let frame = Frame {
                    left: left + gutters[column],
                    right: left + width,
                    top: top + head,
                    bottom: top + head + plot_height,
                };
                panel.draw(&mut svg, frame, left, top);
            }
            top += head + plot_height + foot + 10.0;
        }
        for (k, note) in notes.iter().enumerate() {
            svg.text((MARGIN, top + 12.0 + 17.0 * k as f64), Anchor::Start, SUBTITLE, note);
        }
        svg
    }
}

/// A note in lines that fit.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.len() - 1;
        let longer = format!("{}{}{word}", lines[line], if lines[line].is_empty() { "" } else { " " });
        if !lines[line].is_empty() && text_width(&longer, SUBTITLE.size) > WIDTH - 2.0 * MARGIN {
            lines.push(word.into());
        } else {
            lines[line] = longer;
        }
    }
    lines
}
