//! Integers, Booleans and enumerations: what may feed what. Nothing is rounded.

use costep_core::{Code, Error, External, PortKind};
use costep_fmu_file::TypeDefinition;
use costep_fmu_file::settings::no_item;

use crate::document::{Origin, Value};
use crate::problems::Problems;
use crate::section::Section;
use crate::signals::{Side, Signals};

/// Reports a connection between ports whose values do not fit each other.
pub(crate) fn check_connection(
    section: &Section<'_>,
    (output, input): (usize, usize),
    (gain, offset, sum): (Option<f64>, Option<f64>, bool),
    signals: &Signals,
    problems: &mut Problems<'_>,
) {
    let (from, to) = (signals.kind(Side::Output, output), signals.kind(Side::Input, input));
    if from == PortKind::Real && to == PortKind::Real {
        return;
    }
    let names = (&signals.names(Side::Output)[output], &signals.names(Side::Input)[input]);
    // Between integers and enumerations a map says what becomes what.
    let is_mapped = section.get("map").is_some();
    let is_whole = |kind| matches!(kind, PortKind::Integer | PortKind::Enumeration);
    if is_mapped && is_whole(from) && is_whole(to) {
        refuse_beside_map(section, (gain, offset, sum), problems);
        return;
    }
    // A factor says what `true` counts.
    let counts =
        from == PortKind::Boolean && matches!(to, PortKind::Real | PortKind::Integer) && gain.is_some();
    if !from.feeds(to) && !counts {
        problems.report(section.origin_of("to"), || {
            let message = format!("`{}` cannot feed `{}`", names.0, names.1);
            let cause = format!("`{}` takes {to}, `{}` gives {from}", names.1, names.0);
            let hint = match (from, to) {
                (PortKind::Real, PortKind::Integer) => "costep rounds nothing and has no part that does: take an output of type Integer, or put an FMU between that rounds",
                (PortKind::Boolean, PortKind::Real | PortKind::Integer) => {
                    "`gain = 1.0` passes true on as 1 and false as 0"
                }
                (_, PortKind::Boolean) => {
                    "a part that gives a Boolean value, by a comparison, has to stand between"
                }
                _ => "both ends must be of the same type; integers may also feed real inputs",
            };
            Error::new(Code::PortType, message).because(cause).hint(hint)
        });
        return;
    }
    if to == PortKind::Boolean && maps_truth(gain.unwrap_or(1.0), offset.unwrap_or(0.0)) {
        if sum {
            check_sum(section, input, to, signals, problems);
        }
        return;
    }
    let changes =
        [("gain", gain.filter(|gain| *gain != 1.0)), ("offset", offset.filter(|offset| *offset != 0.0))];
    for (key, value) in changes.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        let kept = match to {
            PortKind::Real => true,
            PortKind::Integer => value.fract() == 0.0,
            PortKind::Boolean | PortKind::Enumeration | PortKind::Text | PortKind::Bytes => false,
        };
        if !kept {
            problems.report(section.origin_of(key), || {
                let message = format!("`{key}` = {value} is not allowed here: `{}` takes {to}", names.1);
                Error::new(Code::PortType, message).hint("remove it")
            });
        }
    }
    if sum {
        check_sum(section, input, to, signals, problems);
    }
}

fn refuse_beside_map(
    section: &Section<'_>,
    (gain, offset, sum): (Option<f64>, Option<f64>, bool),
    problems: &mut Problems<'_>,
) {
    let others = [
        ("gain", gain.is_some_and(|gain| gain != 1.0)),
        ("offset", offset.is_some_and(|offset| offset != 0.0)),
        ("sum", sum),
    ];
    for (key, _) in others.into_iter().filter(|(_, is_given)| *is_given) {
        problems.report(section.origin_of(key), || {
            Error::new(Code::Conflict, format!("`{key}` cannot be combined with `map`"))
                .hint("remove one of them")
        });
    }
}

/// Whether Booleans become Booleans: as they are, the opposite, or always the same.
fn maps_truth(gain: f64, offset: f64) -> bool {
    [offset, gain + offset].iter().all(|value| *value == 0.0 || *value == 1.0)
}

/// Reports an external input that an input cannot take.
pub(crate) fn check_external(
    section: &Section<'_>,
    input: usize,
    signal: &External,
    sum: bool,
    signals: &Signals,
    problems: &mut Problems<'_>,
) {
    let kind = signals.kind(Side::Input, input);
    if kind == PortKind::Real {
        return;
    }
    let fits = |value: f64| match kind {
        PortKind::Boolean => value == 0.0 || value == 1.0,
        PortKind::Text | PortKind::Bytes => false,
        _ => value.fract() == 0.0,
    };
    let good = match signal {
        External::Constant(value) => fits(*value),
        External::Step { value, .. } => fits(*value),
        External::Square { high, low, .. } => fits(*high) && fits(*low),
        External::Stairs(points) => points.iter().all(|(_, value)| fits(*value)),
        // Values between those given are not whole.
        External::Sine { .. } | External::Burst { .. } | External::Table(_) => false,
    };
    if let (true, Some(items)) = (good, signals.enumeration(Side::Input, input)) {
        let name = &signals.names(Side::Input)[input];
        check_items(section, (name, items), signal, problems);
    }
    if !good {
        problems.report(section.origin_of("to"), || {
            let name = &signals.names(Side::Input)[input];
            let message = format!("this signal cannot feed `{name}`, which takes {kind}");
            Error::new(Code::PortType, message).hint(match kind {
                PortKind::Boolean => "use `value`, `step`, `square`, `stairs` or a held `file` with 0 and 1",
                PortKind::Text | PortKind::Bytes => "give it a value by `set` in the table of its FMU",
                _ => "use `value`, `step`, `square`, `stairs` or a held `file` with integers",
            })
        });
    }
    if sum {
        check_sum(section, input, kind, signals, problems);
    }
}

/// Reports the values of a signal that are no items of the enumeration it feeds: the FMU would fail in the run, or worse, not.
fn check_items(
    section: &Section<'_>,
    (name, items): (&str, &TypeDefinition),
    signal: &External,
    problems: &mut Problems<'_>,
) {
    let is_from_file = section.get("file").is_some();
    for (shape, row, value) in values_of(signal).filter(|(_, _, value)| !items.has_item(*value as i64)) {
        let origin = match (is_from_file, row_origin(section, row)) {
            (true, _) => section.origin_of("file"),
            (false, Some(origin)) => origin,
            (false, None) => section.origin_of(shape),
        };
        problems.report(origin, || {
            let error = no_item(name, &value.to_string(), &items.items);
            match signal {
                External::Stairs(points) if is_from_file => error.because(format!(
                    "its file has it at {} s",
                    row.and_then(|row| points.get(row)).map_or(0.0, |point| point.0)
                )),
                External::Step { start, .. } if value == 0.0 => error.because(format!(
                    "a `step` is 0 before its start at {start} s: `stairs` begins with any value"
                )),
                External::Square { start, .. } if value == 0.0 && *start > 0.0 => {
                    error.because(format!("a `square` is 0 before its start at {start} s"))
                }
                _ => error,
            }
        });
        if is_from_file {
            // It may be in each of a million rows.
            return;
        }
    }
}

/// All values that a signal of steps takes, with the key that gives them and, of stairs, the row.
fn values_of(signal: &External) -> impl Iterator<Item = (&'static str, Option<usize>, f64)> {
    let rows: &[(f64, f64)] = match signal {
        External::Stairs(points) => points,
        _ => &[],
    };
    let single: Vec<(&'static str, Option<usize>, f64)> = match *signal {
        External::Constant(value) => vec![("value", None, value)],
        // Before they start they are zero. A start at or before that of the run is none that matters.
        External::Step { value, start } if start > 0.0 => vec![("step", None, 0.0), ("step", None, value)],
        External::Step { value, .. } => vec![("step", None, value)],
        External::Square { high, low, start, .. } => {
            let before = (start > 0.0).then_some(("square", None, 0.0));
            before.into_iter().chain([("square", None, high), ("square", None, low)]).collect()
        }
        _ => Vec::new(),
    };
    single.into_iter().chain(rows.iter().enumerate().map(|(row, (_, value))| ("stairs", Some(row), *value)))
}

/// Where a row of `stairs` stands.
fn row_origin(section: &Section<'_>, row: Option<usize>) -> Option<Origin> {
    match &section.get("stairs")?.value {
        Value::List(rows) => rows.get(row?).map(|row| row.origin),
        _ => None,
    }
}

fn check_sum(
    section: &Section<'_>,
    input: usize,
    kind: PortKind,
    signals: &Signals,
    problems: &mut Problems<'_>,
) {
    if !matches!(kind, PortKind::Real | PortKind::Integer) {
        problems.report(section.origin_of("sum"), || {
            let name = &signals.names(Side::Input)[input];
            Error::new(Code::PortType, format!("`{name}` takes {kind}, which cannot be summed"))
                .hint("remove `sum`")
        });
    }
}
