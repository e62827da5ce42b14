//! Plain tables with aligned columns.

use anstyle::Style;
use costep::ReferenceKind;
use costep_core::quantity::format_time;

use crate::style::{STRONG, paint};

/// A cell: text and how it looks.
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), style: Style::new() }
    }

    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

/// Rows under a header, as text with two blanks between columns.
pub(crate) fn render(header: &[&str], rows: &[Vec<Cell>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.chars().count());
        cells.chain([header[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..header.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = (&str, Style)>| {
        let mut line = String::from(" ");
        for ((text, style), width) in cells.zip(&widths) {
            line.push(' ');
            line.push_str(&paint(style, text));
            line.push_str(&" ".repeat(width - text.chars().count() + 1));
        }
        line.trim_end().to_owned() + "\n"
    };
    let mut text = line(&mut header.iter().map(|title| (*title, STRONG)));
    for row in rows {
        text += &line(&mut row.iter().map(|cell| (cell.text.as_str(), cell.style)));
    }
    text
}

/// A number with two digits, as `4.1e-2`; `-` for none.
pub(crate) fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| if value == 0.0 { "0".into() } else { format!("{value:.1e}") })
}

/// A share as signed percent.
pub(crate) fn percent(value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(value) if value.abs() >= 10.0 => format!("{:+.1e} %", 100.0 * value),
        Some(value) => format!("{:+.2} %", 100.0 * value),
    }
}

/// A wall time.
pub(crate) fn wall(seconds: f64) -> String {
    match seconds {
        s if s < 1e-4 => format!("{:.1} us", 1e6 * s),
        s if s < 1.0 => format!("{:.1} ms", 1e3 * s),
        s => format!("{s:.2} s"),
    }
}

/// A reference that changes more than this when its step is halved is not the solution.
const TOO_COARSE: f64 = 0.02;

/// What a reference is, for people; nothing about the usual one.
pub(crate) fn reference_note(kind: &ReferenceKind) -> Option<String> {
    let (step, method, own_error) = match kind {
        ReferenceKind::FineStep { step, method, own_error } => (step, method, own_error),
        ReferenceKind::Monolithic { solver, own_error } => {
            let own_error = own_error.filter(|error| *error > TOO_COARSE || error.is_nan())?;
            return Some(format!(
                "reference: the monolithic system by `{}` differs by {} from a second solution: too much for a reference, \
                 choose another solver with `--reference`",
                solver.label(),
                number(Some(own_error)),
            ));
        }
    };
    let mut text = format!(
        "reference: the same system with `{method}` at a step of {}; at twice that step it differs by {}",
        format_time(*step),
        number(Some(*own_error)),
    );
    if *own_error > TOO_COARSE {
        text += ": too much for a reference, choose a smaller step with `--reference step:TIME`";
    }
    Some(text)
}
