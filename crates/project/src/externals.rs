//! The shapes of external inputs: `value`, `step`, `sine`, `square`, `table`, `stairs` and `file` of
//! `[[external]]`.

use std::f64::consts::PI;
use std::path::PathBuf;

use costep_core::quantity::{format_time, plain_time, short_number};
use costep_core::{Code, Error, Experiment, External, Place};
use costep_fmu_file::TypeDefinition;
use costep_fmu_file::settings::no_item;
use costep_import::{ColumnSignal, DataFile, Interpolation};

use crate::connections::ExternalSpec;
use crate::document::{Node, Origin, Value};
use crate::fmus::whole;
use crate::keys;
use crate::problems::{Problems, shortened};
use crate::section::{Section, list, number};

/// The keys of which each signal has exactly one.
const SHAPES: &[&str] = &["value", "step", "sine", "square", "table", "stairs", "file"];

/// Keys that belong to `file`.
const FILE_KEYS: &[&str] = &["column", "interpolation", "time_offset", "gain", "offset"];

/// The file that an external input follows.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalFile {
    /// The file as it was written.
    pub file: PathBuf,
    /// The same from the root.
    pub path: PathBuf,
    /// Which column, and what is made of it.
    pub signal: ColumnSignal,
    /// The unit that the file gives the column.
    pub unit: Option<String>,
}

/// A signal, and the file that it was read from.
pub(crate) type Read = (External, Option<ExternalFile>);

/// Reads the signal of one `[[external]]`; `names` are columns that are looked for if none is named, `items` is the
/// enumeration of the input.
pub(crate) fn read(
    external: &Section<'_>,
    names: &[&str],
    items: Option<&TypeDefinition>,
    problems: &mut Problems<'_>,
) -> Option<Read> {
    if external.get("file").is_none()
        && let Some(key) = FILE_KEYS.iter().find(|key| external.get(key).is_some())
    {
        problems.report(external.origin_of(key), || {
            Error::new(Code::Conflict, format!("`{key}` in [[external]] belongs to `file`")).hint("remove it")
        });
        return None;
    }
    let given: Vec<_> = SHAPES.iter().copied().filter(|shape| external.get(shape).is_some()).collect();
    if given.is_empty() && SHAPES.iter().any(|shape| external.is_misspelt(shape)) {
        return None;
    }
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
    let signal = match shape {
        "value" => read_value(external, names, items, problems).map(External::Constant),
        "step" => read_step(node, problems),
        "sine" => read_sine(node, problems),
        "square" => read_square(node, problems),
        "table" => read_points(node, "table", problems).map(External::Table),
        "stairs" => read_points(node, "stairs", problems).map(External::Stairs),
        _ => return read_file(external, names, problems),
    };
    signal.map(|signal| (signal, None))
}

/// A number, or the name of an item of an enumeration.
fn read_value(
    external: &Section<'_>,
    names: &[&str],
    items: Option<&TypeDefinition>,
    problems: &mut Problems<'_>,
) -> Option<f64> {
    let (Some(Node { value: Value::Text(word), origin }), Some(items)) = (external.get("value"), items)
    else {
        return external.number("value", problems);
    };
    let item = items.item(word);
    if item.is_none() {
        let name = names.first().copied().unwrap_or_default();
        problems.report(*origin, || no_item(name, &shortened(word), &items.items));
    }
    item.map(|item| item as f64)
}

/// A column of a file. Its values are read here, once.
fn read_file(external: &Section<'_>, names: &[&str], problems: &mut Problems<'_>) -> Option<Read> {
    let file = external.text("file", problems)?;
    let column = match external.get("column") {
        // By its number, counted from 1.
        Some(Node { value: Value::Integer(place), .. }) => Some(place.to_string()),
        Some(_) => Some(external.text("column", problems)?.to_owned()),
        None => None,
    };
    let interpolation = match external.text("interpolation", problems) {
        None if external.get("interpolation").is_some() => return None,
        None | Some("linear") => Interpolation::Linear,
        Some("hold") => Interpolation::Hold,
        Some(other) => {
            problems.report(external.origin_of("interpolation"), || {
                let message = format!("`interpolation` in [[external]] is `{}`", shortened(other));
                Error::new(Code::BadValue, message).hint("write \"linear\" or \"hold\"")
            });
            return None;
        }
    };
    let number = |key: &str, usual: f64, problems: &mut Problems<'_>| match external.get(key) {
        None => Some(usual),
        Some(_) => external.number(key, problems),
    };
    let time_offset = match external.get("time_offset") {
        None => 0.0,
        Some(_) => external.time("time_offset", problems)?,
    };
    let (gain, offset) = (number("gain", 1.0, problems)?, number("offset", 0.0, problems)?);
    let path = problems.folder().join(file);
    let read = DataFile::open(&path).and_then(|data| {
        warn_of_unit_in_name(&data, external, problems);
        let column = column.map_or_else(|| usual_column(&data, names), Ok)?;
        let signal = ColumnSignal { column, interpolation, time_offset, gain, offset };
        let unit = data.unit(&signal.column).map(str::to_owned);
        Ok((
            data.signal(&signal)?,
            Some(ExternalFile { file: file.into(), path: whole(&path), signal, unit }),
        ))
    });
    let key = |error: &Error| match external.get("column") {
        Some(_) if error.code() == Code::UnknownColumn => "column",
        _ => "file",
    };
    read.map_err(|error| problems.report(external.origin_of(key(&error)), || in_words_of_project(&error)))
        .ok()
}

/// A unit is one in brackets only: what else is in a name does not count, silently.
fn warn_of_unit_in_name(data: &DataFile, external: &Section<'_>, problems: &mut Problems<'_>) {
    let Some(unit) = data.unit_in_name_of_time() else { return };
    let name = shortened(data.names().next().unwrap_or_default());
    problems.warn(external.origin_of("file"), || {
        let message = format!("times of the column `{name}` are taken as seconds");
        Error::new(Code::ColumnUnit, message)
            .because(format!(
                "{}: a unit in brackets counts, `{unit}` in the name does not",
                data.path().display()
            ))
            .hint(format!(
                "write `time [{unit}]` in the first line of the file, or `time` if they are seconds"
            ))
    });
}

/// The times of files that have little to do with the time of the run: most likely in another unit.
pub(crate) fn warn_of_times<'a>(
    externals: impl Iterator<Item = (&'a ExternalSpec, &'a Origin)>,
    run: &Experiment,
    problems: &mut Problems<'_>,
) {
    const SHARE: f64 = 0.01;
    for (spec, origin) in externals {
        let (External::Table(points) | External::Stairs(points), Some(file)) = (&spec.signal, &spec.file)
        else {
            continue;
        };
        let ([(first, _), .., (last, _)], length) = (&points[..], run.stop - run.start) else { continue };
        let seen = last.min(run.stop) - first.max(run.start);
        if length <= 0.0 || seen >= SHARE * (last - first) {
            continue;
        }
        problems.warn(*origin, || {
            let [first, last, start, stop] = [*first, *last, run.start, run.stop].map(format_time);
            let file = shortened(&file.file.to_string_lossy());
            let message = format!("`{file}` is from {first} to {last}, the run from {start} to {stop}");
            Error::new(Code::ColumnUnit, message)
                .because("less than a hundredth of the file is used; times without a unit are seconds")
                .hint("is the unit of its times right? `time [ms]` in its first line gives another; `time_offset` shifts them")
        });
    }
}

/// Warns of a signal that does nothing in a run, or that its steps cannot show.
pub(crate) fn warn_of_run(
    (signal, is_file): (&External, bool),
    name: &str,
    run: &Experiment,
    origin: Origin,
    problems: &mut Problems<'_>,
) {
    let (start, stop) = (run.start, run.stop);
    let warning = |message: String| Error::new(Code::ExternalUnseen, message);
    let begins = match signal {
        External::Step { start, .. }
        | External::Sine { start, .. }
        | External::Burst { start, .. }
        | External::Square { start, .. } => Some(*start),
        _ => None,
    };
    if let Some(begins) = begins.filter(|begins| *begins > stop) {
        let (begins, stop) = (format_time(begins), format_time(stop));
        return problems.warn(origin, || {
            warning(format!("the signal of `{name}` begins at {begins}, after the run"))
                .because(format!("the run stops at {stop}: the input stays at 0 until then"))
                .hint("give an earlier `start`: numbers are in s, other units need quotes, \"5 ms\"")
        });
    }
    let frequency = match signal {
        External::Sine { frequency, .. }
        | External::Burst { frequency, .. }
        | External::Square { frequency, .. } => *frequency,
        _ => 0.0,
    };
    let phase = match signal {
        External::Sine { phase, .. } | External::Burst { phase, .. } | External::Square { phase, .. } => {
            *phase
        }
        _ => 0.0,
    };
    if phase.abs() > 2.0 * PI + 1e-3 {
        problems.warn(origin, || {
            let degrees = short_number((phase.to_radians() * 1e6).round() / 1e6);
            warning(format!("the signal of `{name}` has a phase of {phase} rad, more than a turn"))
                .because("phases are in rad, not in degrees")
                .hint(format!("write `phase = {degrees}` if degrees are meant"))
        });
    }
    if frequency * run.step >= 0.5 {
        let (period, step) = (format_time(1.0 / frequency), format_time(run.step));
        return problems.warn(origin, || {
            warning(format!("the signal of `{name}` has a period of {period}, at steps of {step}"))
                .because("with fewer than two steps in a period it looks like one of a lower frequency")
                .hint("choose a smaller step, a twentieth of the period or less, or a lower `frequency`, which is in Hz")
        });
    }
    let (External::Table(points) | External::Stairs(points)) = signal else { return };
    let ([(first, _), ..], Some((last, _))) = (&points[..], points.last()) else { return };
    let is_outside = *first > stop || *last < start;
    // What a table says by its last row may last for ever, as may what is held or has come to rest; a file of values that
    // move is expected to cover a run.
    let is_curve = is_file && matches!(signal, External::Table(_));
    let allowed = 0.01 * (stop - start);
    let moves = |pair: Option<&[(f64, f64)]>| pair.is_some_and(|pair| pair[0].1 != pair[1].1);
    let is_late = *first > start + allowed && moves(points.windows(2).next());
    let is_early = *last < stop - allowed && moves(points.windows(2).next_back());
    let is_partial = is_curve && (is_late || is_early);
    if is_outside || is_partial {
        let [first, last, start, stop] = [*first, *last, start, stop].map(format_time);
        problems.warn(origin, || {
            warning(format!("the signal of `{name}` is given from {first} to {last}, the run is from {start} to {stop}"))
                .because("outside of these times the first and the last value are kept")
                .hint("times are in s from 0; `time_offset` shifts those of a file, `stop` in [system] ends the run")
        });
    }
}

/// The column that is meant if none is named: the only one, else that of the name of the input.
fn usual_column(data: &DataFile, names: &[&str]) -> Result<String, Error> {
    let columns: Vec<&str> = data.names().skip(1).collect();
    let named = || names.iter().copied().find(|name| columns.contains(name));
    let column = if let [only] = columns[..] { Some(only) } else { named() };
    column.map(str::to_owned).ok_or_else(|| {
        let name = names.first().copied().unwrap_or_default();
        let message = match columns[..] {
            [] => "the file has no column but the first, which is time".to_owned(),
            _ => format!("the file has {} columns, and none is called `{}`", columns.len(), shortened(name)),
        };
        let error = Error::new(Code::UnknownColumn, message).in_file(data.path());
        match columns.first() {
            Some(first) => error.hint(format!(
                "say which, `column = \"{}\"`: {}",
                shortened(first),
                shortened(&columns.join(", "))
            )),
            None => error,
        }
    })
}

/// The place of an error in the file of values becomes its cause: its own place is in the project.
fn in_words_of_project(error: &Error) -> Error {
    let details = error.details();
    let place = match &details.place {
        Place::File { path, line: Some(line), .. } => Some(format!("{}:{line}", path.display())),
        Place::File { path, .. } => Some(path.display().to_string()),
        _ => None,
    };
    let cause = [place, details.cause.clone()].into_iter().flatten().collect::<Vec<_>>().join(": ");
    let again = Error::new(details.code, details.message.clone());
    let again = if cause.is_empty() { again } else { again.because(cause) };
    details.hint.iter().fold(again, |error, hint| error.hint(hint))
}

/// Reports a number in the place of a shape: the name of that, what it has, and how it is written.
fn refuse_number(
    node: &Node,
    (shape, what, hint): (&str, &str, &str),
    problems: &mut Problems<'_>,
) -> Option<()> {
    if !matches!(node.value, Value::Integer(_) | Value::Real(_)) {
        return Some(());
    }
    problems.report(node.origin, || {
        let message = format!("{shape} in [[external]] is a number: it has {what}");
        Error::new(Code::BadValue, message).hint(hint)
    });
    None
}

fn read_step(node: &Node, problems: &mut Problems<'_>) -> Option<External> {
    let as_shape =
        ("`step`", "a height and a time", "write `step = { value = 3, start = 0.5 }`, or `value = 3`");
    refuse_number(node, as_shape, problems)?;
    let section = Section::open(Some(node), "`step`", keys::STEP_SHAPE, problems);
    let value = required(&section, "value", problems);
    let start = optional_time(&section, problems);
    Some(External::Step { value: value?, start: start? })
}

fn read_sine(node: &Node, problems: &mut Problems<'_>) -> Option<External> {
    let hint = "write `sine = { amplitude = 3, frequency = 50 }`, the frequency in Hz";
    refuse_number(node, ("`sine`", "an amplitude and a frequency", hint), problems)?;
    let section = Section::open(Some(node), "`sine`", keys::SINE, problems);
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
    let hint = "write `square = { high = 1, low = 0, frequency = 50 }`, the frequency in Hz";
    refuse_number(node, ("`square`", "two levels and a frequency", hint), problems)?;
    let section = Section::open(Some(node), "`square`", keys::SQUARE, problems);
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
    let period = section.get("period").filter(|_| section.get("frequency").is_none());
    let hint = match period.map(|node| &node.value) {
        Some(Value::Integer(period)) if *period > 0 => given_by_period(*period as f64),
        Some(Value::Real(period)) if *period > 0.0 => given_by_period(*period),
        Some(_) => "in Hz: 1 over the period in seconds".into(),
        None => "in Hz: write a number".to_owned(),
    };
    section.require("frequency", &hint, problems);
    let frequency = section.number("frequency", problems)?;
    if frequency < 0.0 {
        problems.report(section.origin_of("frequency"), || {
            Error::new(Code::BadValue, format!("a frequency of {frequency} Hz is not possible"))
                .hint("allowed: zero or more, in Hz")
        });
        return None;
    }
    Some(frequency)
}

fn given_by_period(period: f64) -> String {
    format!("in Hz, 1 over the period: `frequency = {}`", plain_time(1.0 / period))
}

fn read_points(node: &Node, shape: &str, problems: &mut Problems<'_>) -> Option<Vec<(f64, f64)>> {
    if let Value::Table(_) = &node.value {
        problems.report(node.origin, || {
            Error::new(Code::BadValue, format!("`{shape}` in [[external]] is a table, not a list"))
                .hint(format!("write rows of time and value: `{shape} = [[0.0, 1.0], [0.5, 2.0]]`"))
        });
        return None;
    }
    let rows = list(node, &format_args!("`{shape}`"), problems)?;
    let points: Option<Vec<_>> = rows.iter().map(|row| read_point(row, shape, problems)).collect();
    let points = points?;
    if points.is_empty() {
        problems.report(node.origin, || {
            Error::new(Code::BadValue, format!("`{shape}` is empty"))
                .hint("write [[time, value], [time, value], ...]")
        });
        return None;
    }
    if let Some(fall) = points.windows(2).position(|pair| pair[1].0 <= pair[0].0) {
        problems.report(rows[fall + 1].origin, || {
            let (before, after) = (points[fall].0, points[fall + 1].0);
            Error::new(Code::BadValue, format!("times of `{shape}` do not increase: {after} after {before}"))
                .hint("sort the rows by time; for a jump use two times close together")
        });
        return None;
    }
    Some(points)
}

fn read_point(row: &Node, shape: &str, problems: &mut Problems<'_>) -> Option<(f64, f64)> {
    if let Value::List(pair) = &row.value
        && let [t, value] = &pair[..]
    {
        let t = number(t, &format_args!("a time of `{shape}`"), problems);
        let value = number(value, &format_args!("a value of `{shape}`"), problems);
        return Some((t?, value?));
    }
    problems.report(row.origin, || {
        Error::new(Code::BadValue, format!("a row of `{shape}` is not a pair"))
            .hint(format!("write [time, value] in each, times in s: `{shape} = [[0.0, 1.0], [0.5, 2.0]]`"))
    });
    None
}
