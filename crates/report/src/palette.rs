//! Colours after Okabe and Ito, which people with any form of colour blindness can tell apart; without their yellow and
//! black, which are too faint on white or taken by references.

const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
/// When the colours are used up they come again in another dash.
const DASHES: [&str; 3] = ["", "2.5 2.5", "9 3 2 3"];

/// The shape of a marked point: another one when the colours come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    Dot,
    Square,
    Triangle,
    Diamond,
}

const MARKERS: [Marker; 4] = [Marker::Dot, Marker::Square, Marker::Triangle, Marker::Diamond];

/// The marker of the n-th colour: another one in every round.
pub(crate) fn marker(index: usize) -> Marker {
    MARKERS[index / COLOURS.len() % MARKERS.len()]
}

pub(crate) const INK: &str = "#222222";
pub(crate) const SOFT_INK: &str = "#666666";
/// For what can be trusted, and for what cannot; as dark as text has to be.
pub(crate) const GOOD: &str = "#00795a";
pub(crate) const BAD: &str = "#b84a00";
pub(crate) const GRID: &str = "#e8e8e8";
pub(crate) const FRAME: &str = "#999999";
pub(crate) const REFERENCE_DASH: &str = "6 4";

/// Which colour a layer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// The next one that is free in the panel.
    Next,
    /// The n-th of the palette, so that a method looks the same in all panels.
    Nth(usize),
    /// Black, for references and limits.
    Ink,
}

/// The n-th colour and its dash.
pub(crate) fn nth(index: usize) -> (&'static str, &'static str) {
    (COLOURS[index % COLOURS.len()], DASHES[index / COLOURS.len() % DASHES.len()])
}

/// The n-th colour as SVG writes it.
pub fn colour(index: usize) -> &'static str {
    nth(index).0
}
