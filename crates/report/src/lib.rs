//! Charts as SVG: lines over linear or logarithmic axes, dashed references, filled maps; and pages of them as HTML.
//! Knows nothing of runs or files; gives text.
//!
//! | module | role |
//! |---|---|
//! | `figure` | a title and panels in a grid, turned into SVG |
//! | `panel` | what is drawn over one pair of axes |
//! | `draw` | one panel: grid, ticks, layers, legend |
//! | `axis`, `ticks` | from values to pixels, and where the ticks are |
//! | `grouping` | which signals share a panel |
//! | `decimate` | long series: the least and the greatest value per pixel |
//! | `palette` | colours that stay apart for colour-blind eyes, and in print |
//! | `diagram` | blocks and wires of a system |
//! | [`page`] | an HTML page with sections: verdict, text, tables, interactive plots, pictures |
//! | `svg` | escaped text and short numbers |
//! | `raster` | the same pictures as PNG, with a font of their own |
//!
//! ```
//! use costep_report::{Axis, Figure, Panel, Series};
//!
//! let points = (0..100).map(|k| (0.01 * k as f64, (0.5 * k as f64).sin())).collect();
//! let panel = Panel::new(Axis::new("time").unit("s"), Axis::new("position").unit("m"))
//!     .with(Series::new("mass 1", points));
//! let svg = Figure::new("An oscillation").panel(panel).to_svg();
//! assert!(svg.starts_with("<svg") && svg.contains("mass 1"));
//! ```

mod axis;
mod decimate;
mod diagram;
mod draw;
mod figure;
mod grouping;
pub mod page;
mod palette;
mod panel;
mod raster;
mod svg;
mod ticks;

pub use axis::{Axis, Scale};
pub use diagram::{Block, Diagram, Pin, PinSource, Role, Wire};
pub use figure::{Badge, Figure};
pub use grouping::{SignalTraits, panels, switches};
pub use page::{HeatColours, HeatMap, Page, Places, Section, Table, TableCell, Tone};
pub use palette::{Colour, colour};
pub use panel::{Cells, Layer, Look, Panel, Series};
