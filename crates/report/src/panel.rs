//! What is drawn over one pair of axes.

use crate::axis::Axis;
use crate::palette::Colour;

/// One pair of axes and everything over them.
#[derive(Clone, Debug)]
pub struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) layers: Vec<Layer>,
    pub(crate) legend: bool,
    pub(crate) has_equal_scales: bool,
}

/// Something drawn in a panel; later ones lie above earlier ones.
#[derive(Clone, Debug)]
pub enum Layer {
    /// Points or a curve.
    Series(Series),
    /// A filled map.
    Cells(Cells),
    /// A dashed horizontal line with a name, a limit.
    Level(String, f64),
}

/// How a series looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// A curve.
    #[default]
    Line,
    /// A curve with its points marked: few, computed points.
    Marked,
    /// Points alone: nothing lies between them.
    Points,
    /// A value that holds until the next point.
    Steps,
    /// A thin dashed curve: what the others are compared with.
    Reference,
}

impl Look {
    pub(crate) fn has_marks(self) -> bool {
        matches!(self, Self::Marked | Self::Points)
    }
}

/// A curve.
#[derive(Clone, Debug)]
pub struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) look: Look,
    pub(crate) colour: Colour,
}

impl Series {
    /// A curve through points with rising x; one that is not finite interrupts it.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, look: Look::Line, colour: Colour::Next }
    }

    /// With another look.
    pub fn look(mut self, look: Look) -> Self {
        self.look = look;
        self
    }

    /// With a colour of its own.
    pub fn colour(mut self, colour: Colour) -> Self {
        self.colour = colour;
        self
    }
}

/// A map: a grid of rectangles, some of them filled.
#[derive(Clone, Debug)]
pub struct Cells {
    /// Borders of the columns, one more than there are columns.
    pub x: Vec<f64>,
    /// Borders of the rows, one more than there are rows.
    pub y: Vec<f64>,
    /// Row by row, from the first border of y on: how full a cell is, from 0 to 1.
    pub fill: Vec<f64>,
    /// Its colour.
    pub colour: Colour,
}

impl Panel {
    /// Empty axes.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { title: String::new(), x, y, layers: Vec::new(), legend: true, has_equal_scales: false }
    }

    /// With a title of its own.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// With a curve.
    pub fn with(mut self, series: Series) -> Self {
        self.layers.push(Layer::Series(series));
        self
    }

    /// With a map.
    pub fn map(mut self, cells: Cells) -> Self {
        self.layers.push(Layer::Cells(cells));
        self
    }

    /// With a dashed horizontal line.
    pub fn level(mut self, name: impl Into<String>, y: f64) -> Self {
        self.layers.push(Layer::Level(name.into(), y));
        self
    }

    /// Without a legend, for one of many panels with the same series.
    pub fn without_legend(mut self) -> Self {
        self.legend = false;
        self
    }

    /// With the same length for one in x and one in y, on pages: circles are round there.
    pub fn equal_scales(mut self) -> Self {
        self.has_equal_scales = true;
        self
    }

    /// All x or all y that are shown. Levels stretch the axis only so that they can be seen.
    pub(crate) fn values(&self, x: bool) -> impl Iterator<Item = f64> + '_ {
        self.layers.iter().flat_map(move |layer| -> Box<dyn Iterator<Item = f64> + '_> {
            match layer {
                Layer::Series(series) => {
                    let drawn = series.points.iter().filter(|p| p.0.is_finite() && p.1.is_finite());
                    Box::new(drawn.map(move |p| if x { p.0 } else { p.1 }))
                }
                Layer::Cells(cells) => Box::new(if x { &cells.x } else { &cells.y }.iter().copied()),
                Layer::Level(_, y) => Box::new((!x).then_some(*y).into_iter()),
            }
        })
    }

    pub(crate) fn has_marks(&self) -> bool {
        self.layers.iter().any(|layer| matches!(layer, Layer::Series(series) if series.look.has_marks()))
    }

    pub(crate) fn has_map(&self) -> bool {
        self.layers.iter().any(|layer| matches!(layer, Layer::Cells(_)))
    }
}
