//! The shapes of external inputs: `value`, `step`, `sine`, `square` and `table` of `[[external]]`.

use costep_core::{Code, Error, External};

use crate::document::{Node, Value};
use crate::problems::Problems;
use crate::section::{Section, list, number};

/// The keys of which each signal has exactly one.
pub(crate) const SHAPES: &[&str] = &["value", "step", "sine", "square", "table"];

/// Reads the signal of one `[[external]]`.
pub(crate) fn read(external: &Section<'_>, problems: &mut Problems<'_>) -> Option<External> {
    let given: Vec<_> = SHAPES.iter().copied().filter(|shape| external.get(shape).is_some()).collect();
    let [shape] = given[..] else {
        let code = if given.is_empty() { Code::Missing } else { Code::Conflict };
        problems.report(external.origin, || {
            let found = if given.is_empty() { "none".into() } else { given.join(" and ") };
            Error::new(code, format!("[[external]] needs one signal, this one has {found}"))
                .hint(format!("give exactly one of: {}", SHAPES.join(", ")))
        });
        return None;
    };
    let node = external.get(shape)?;
    match shape {
        "value" => external.number("value", problems).map(External::Constant),
        "step" => read_step(node, problems),
        "sine" => read_sine(node, problems),
        "square" => read_square(node, problems),
        _ => read_table(node, problems),
    }
}

fn read_step(node: &Node, problems: &mut Problems<'_>) -> Option<External> {
    let section = Section::open(Some(node), "`step`", &["value", "start"], problems);
    let value = required(&section, "value", problems);
    let start = optional_time(&section, problems);
    Some(External::Step { value: value?, start: start? })
}

fn read_sine(node: &Node, problems: &mut Problems<'_>) -> Option<External> {
    let known = &["amplitude", "frequency", "phase", "start", "stop"];
    let section = Section::open(Some(node), "`sine`", known, problems);
    let amplitude = required(&section, "amplitude", problems);
    let frequency = read_frequency(&section, problems);
    let (phase, start) = (optional(&section, "phase", problems), optional_time(&section, problems));
    if section.get("stop").is_none() {
        return Some(External::Sine {
            amplitude: amplitude?,
            frequency: frequency?,
            phase: phase?,
            start: start?,
        });
    }
    let stop = section.time("stop", problems);
    Some(External::Burst {
        amplitude: amplitude?,
        frequency: frequency?,
        phase: phase?,
        start: start?,
        stop: stop?,
    })
}

fn read_square(node: &Node, problems: &mut Problems<'_>) -> Option<External> {
    let known = &["high", "low", "frequency", "phase", "start"];
    let section = Section::open(Some(node), "`square`", known, problems);
    let (high, low) = (required(&section, "high", problems), required(&section, "low", problems));
    let frequency = read_frequency(&section, problems);
    let (phase, start) = (optional(&section, "phase", problems), optional_time(&section, problems));
    Some(External::Square { high: high?, low: low?, frequency: frequency?, phase: phase?, start: start? })
}

fn required(section: &Section<'_>, key: &str, problems: &mut Problems<'_>) -> Option<f64> {
    section.require(key, "write a number", problems);
    section.number(key, problems)
}

/// 0 if missing, nothing if wrong.
fn optional(section: &Section<'_>, key: &str, problems: &mut Problems<'_>) -> Option<f64> {
    if section.get(key).is_none() { Some(0.0) } else { section.number(key, problems) }
}

fn optional_time(section: &Section<'_>, problems: &mut Problems<'_>) -> Option<f64> {
    if section.get("start").is_none() { Some(0.0) } else { section.time("start", problems) }
}

fn read_frequency(section: &Section<'_>, problems: &mut Problems<'_>) -> Option<f64> {
    let frequency = required(section, "frequency", problems)?;
    if frequency < 0.0 {
        problems.report(section.origin_of("frequency"), || {
            Error::new(Code::BadValue, format!("a frequency of {frequency} Hz is not possible"))
                .hint("allowed: zero or more, in Hz")
        });
        return None;
    }
    Some(frequency)
}

fn read_table(node: &Node, problems: &mut Problems<'_>) -> Option<External> {
    let rows = list(node, &"`table`", problems)?;
    let points: Option<Vec<_>> = rows.iter().map(|row| read_point(row, problems)).collect();
    let points = points?;
    if points.is_empty() {
        problems.report(node.origin, || {
            Error::new(Code::BadValue, "`table` is empty").hint("write [[time, value], [time, value], ...]")
        });
        return None;
    }
    if let Some(fall) = points.windows(2).position(|pair| pair[1].0 <= pair[0].0) {
        problems.report(rows[fall + 1].origin, || {
            let (before, after) = (points[fall].0, points[fall + 1].0);
            Error::new(Code::BadValue, format!("times of `table` do not increase: {after} after {before}"))
                .hint("sort the rows by time; for a jump use two times close together")
        });
        return None;
    }
    Some(External::Table(points))
}

fn read_point(row: &Node, problems: &mut Problems<'_>) -> Option<(f64, f64)> {
    if let Value::List(pair) = &row.value
        && let [t, value] = &pair[..]
    {
        let t = number(t, &"a time of `table`", problems);
        let value = number(value, &"a value of `table`", problems);
        return Some((t?, value?));
    }
    problems.report(row.origin, || {
        Error::new(Code::BadValue, "a row of `table` is not a pair").hint("write [time, value]")
    });
    None
}
