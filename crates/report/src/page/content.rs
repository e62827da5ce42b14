//! What a page is made of.

use crate::{Axis, Colour, Diagram, Figure};

/// How good something is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Neither good nor bad.
    #[default]
    Neutral,
    /// As it should be.
    Good,
    /// To be looked at.
    Doubtful,
    /// Not as it should be.
    Bad,
}

impl Tone {
    /// Its class in the page.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Neutral => "neutral",
            Self::Good => "good",
            Self::Doubtful => "doubtful",
            Self::Bad => "bad",
        }
    }
}

/// A part of a page with a heading.
#[derive(Clone, Debug, Default)]
pub struct Section {
    pub(super) heading: String,
    pub(super) content: Vec<Content>,
}

/// One thing in a section.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Text(Tone, String),
    /// What is shown, and what is folded below it.
    Folded(Tone, String, Vec<String>),
    Facts(Vec<(String, String)>),
    Code(String, String),
    Table(Table),
    Plot(Figure),
    Heat(Box<HeatMap>),
    /// A picture as SVG, and its title.
    Picture(String, String),
    Diagram(Diagram, String),
}

impl Section {
    /// A section with nothing below its heading.
    pub fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), content: Vec::new() }
    }

    /// Whether nothing is below its heading.
    pub fn is_empty(&self) -> bool {
        self.content.is_empty()
    }

    fn with(mut self, content: Content) -> Self {
        self.content.push(content);
        self
    }

    /// With a paragraph.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.with(Content::Text(Tone::Neutral, text.into()))
    }

    /// With a paragraph that stands out.
    pub fn remark(self, tone: Tone, text: impl Into<String>) -> Self {
        self.with(Content::Text(tone, text.into()))
    }

    /// The same with more of its kind, folded below it.
    pub fn folded(self, tone: Tone, text: impl Into<String>, more: Vec<String>) -> Self {
        self.with(Content::Folded(tone, text.into(), more))
    }

    /// With pairs of a name and what it is.
    pub fn facts(self, facts: impl IntoIterator<Item = (String, String)>) -> Self {
        self.with(Content::Facts(facts.into_iter().collect()))
    }

    /// With text as it is: a command, a file. Long ones are folded.
    pub fn code(self, label: impl Into<String>, text: impl Into<String>) -> Self {
        self.with(Content::Code(label.into(), text.into()))
    }

    /// With a table, unless it has no rows.
    pub fn table(self, table: Table) -> Self {
        if table.rows.is_empty() { self } else { self.with(Content::Table(table)) }
    }

    /// With one interactive plot per panel of a figure. Plots of one figure are zoomed together along x.
    pub fn plot(self, figure: Figure) -> Self {
        if figure.panels.is_empty() { self } else { self.with(Content::Plot(figure)) }
    }

    /// With an interactive heat map.
    pub fn heat_map(self, map: HeatMap) -> Self {
        self.with(Content::Heat(Box::new(map)))
    }

    /// With a picture that [`Figure::to_svg`] has drawn.
    pub fn picture(self, title: impl Into<String>, svg: impl Into<String>) -> Self {
        self.with(Content::Picture(title.into(), svg.into()))
    }

    /// With a system, and a sentence that says what the picture shows to those who do not see it.
    pub fn diagram(self, diagram: Diagram, description: impl Into<String>) -> Self {
        self.with(Content::Diagram(diagram, description.into()))
    }
}

/// Rows under a head.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub(super) caption: String,
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<TableCell>>,
}

impl Table {
    /// A table without rows. The first cell of a row names it.
    pub fn new(caption: impl Into<String>, head: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let head = head.into_iter().map(Into::into).collect();
        Self { caption: caption.into(), head, rows: Vec::new() }
    }

    /// With another row.
    pub fn row(mut self, cells: impl IntoIterator<Item = TableCell>) -> Self {
        self.rows.push(cells.into_iter().collect());
        self
    }

    /// With more rows.
    pub fn rows(mut self, rows: impl IntoIterator<Item = Vec<TableCell>>) -> Self {
        self.rows.extend(rows);
        self
    }
}

/// What stands in one place of a table.
#[derive(Clone, Debug, Default)]
pub struct TableCell {
    pub(super) text: String,
    pub(super) tone: Tone,
}

impl TableCell {
    /// In the colour of a tone.
    pub fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }
}

impl<T: Into<String>> From<T> for TableCell {
    fn from(text: T) -> Self {
        Self::toned(text, Tone::Neutral)
    }
}

/// A value over two axes.
#[derive(Clone, Debug)]
pub struct HeatMap {
    /// What stands above it.
    pub title: String,
    /// The axis below.
    pub x: Axis,
    /// The axis on the left.
    pub y: Axis,
    /// Where the columns are.
    pub columns: Places,
    /// Where the rows are, from below.
    pub rows: Places,
    /// Values row by row, one layer for every combination of the entries of `chosen_by`, the last of them fastest; values
    /// that are not finite are left blank.
    pub layers: Vec<Vec<f64>>,
    /// Which choices of the page ([`Page::choice`](super::Page::choice)) say what layer is shown, by their numbers; none for
    /// a single layer.
    pub chosen_by: Vec<usize>,
    /// What the values are, beside the scale of colours.
    pub label: String,
    /// What colours mean.
    pub colours: HeatColours,
}

/// How values of a [`HeatMap`] become colours, the same for all its layers.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum HeatColours {
    /// Equal differences of colour are equal differences.
    #[default]
    Linear,
    /// Equal differences of colour are equal ratios.
    Log,
    /// Ratios again, with one colour up to a value of one and another above it.
    AroundOne,
    /// Values 0, 1, 2 ... are classes, each with a name and a colour; [`Colour::Next`] is grey.
    Classes(Vec<(String, Colour)>),
}

impl HeatColours {
    /// Whether logarithms are drawn.
    pub(super) fn is_log(&self) -> bool {
        matches!(self, Self::Log | Self::AroundOne)
    }
}

/// Where the columns or rows of a [`HeatMap`] are.
#[derive(Clone, Debug)]
pub enum Places {
    /// At values of the axis.
    Values(Vec<f64>),
    /// One after the other, with names.
    Names(Vec<String>),
}

/// Something of which one is shown at a time.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) label: String,
    pub(super) names: Vec<String>,
    pub(super) first: usize,
}

/// Switches for curves.
#[derive(Clone, Debug)]
pub(super) struct Picker {
    pub(super) label: String,
    pub(super) curves: Vec<(String, bool)>,
}
