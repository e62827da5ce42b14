//! Columns of a file as signals: CSV as spreadsheets, MasterSim and FMPy write it, and recordings of costep.
//!
//! The first column is time. Columns are separated by tabs, semicolons or commas; a unit may follow a name
//! in brackets.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use costep_core::quantity::{split_quantity, with_point};
use costep_core::suggest::nearest;
use costep_core::{Code, Error, External, Place, Result};
use costep_fmu_file::{BaseUnit, short};
use costep_results::Table;

use crate::csv::{cells, heading, is_blank_after, number, rows, time_unit};

/// Largest CSV file that is read.
const MAX_BYTES: u64 = 1 << 30;

/// What a signal does between the rows of its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// Linear from each row to the next.
    #[default]
    Linear,
    /// The value of a row until the next.
    Hold,
}

/// Which column becomes which signal: signal(t) = `gain` * column(t - `time_offset`) + `offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSignal {
    /// Name of the column, without its unit; or its number, counted from 1, which is time.
    pub column: String,
    /// Between the rows.
    pub interpolation: Interpolation,
    /// Added to all times, in s.
    pub time_offset: f64,
    /// See above.
    pub gain: f64,
    /// See above.
    pub offset: f64,
}

impl ColumnSignal {
    /// A column as it is, interpolated.
    pub fn new(column: impl Into<String>) -> Self {
        Self {
            column: column.into(),
            interpolation: Interpolation::Linear,
            time_offset: 0.0,
            gain: 1.0,
            offset: 0.0,
        }
    }

    /// The same, held between the rows.
    pub fn held(column: impl Into<String>) -> Self {
        Self { interpolation: Interpolation::Hold, ..Self::new(column) }
    }
}

/// A file with columns over time.
///
/// ```
/// use costep_import::{ColumnSignal, DataFile};
///
/// # fn main() -> costep_core::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("cycle.csv");
/// # std::fs::write(&path, "Time [min];v [km/h]\n0;0\n1;30\n").unwrap();
/// let cycle = DataFile::open(path)?;
/// assert_eq!(cycle.unit("v"), Some("km/h"));
/// let speed = cycle.signal(&ColumnSignal { gain: 1.0 / 3.6, ..ColumnSignal::new("v") })?;
/// assert!((speed.value(30.0) - 15.0 / 3.6).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
pub struct DataFile {
    path: PathBuf,
    columns: Vec<Heading>,
    content: Content,
}

struct Heading {
    name: String,
    unit: Option<String>,
}

enum Content {
    Csv {
        text: String,
        separator: char,
        /// Lines before the first row.
        skipped: usize,
        /// What a unit of time is in s, as a factor and a divisor.
        scale: (f64, f64),
    },
    Recording(Table),
}

impl DataFile {
    /// Opens a recording (`.arrows`) or a CSV file. Values are looked at when a signal is made of them.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        if path.extension().is_some_and(|ending| ending == "arrows") {
            let table = Table::open(&path)?;
            let heading =
                |name: &str, unit: Option<&str>| Heading { name: name.into(), unit: unit.map(Into::into) };
            let columns =
                table.columns().iter().map(|column| heading(&column.name, column.unit.as_deref())).collect();
            return Ok(Self { path, columns, content: Content::Recording(table) });
        }
        let text = read_text(&path)?;
        Self::from_text(path, text)
    }

    fn from_text(path: PathBuf, text: String) -> Result<Self> {
        let Some((index, first)) = rows(&text).next() else {
            return Err(flaw(&path, 1, "the file is empty".into()).hint(LINES));
        };
        if let Some(error) = title_above(&path, &text) {
            return Err(error);
        }
        let Some(separator) = separator(first) else { return Err(one_column(&path, index + 1, first)) };
        let cells: Vec<Cow<'_, str>> = cells(first, separator).collect();
        let is_row = cells.iter().all(|cell| number(cell, separator).is_some());
        let columns: Vec<Heading> = match is_row {
            true => (1..=cells.len()).map(|place| Heading { name: place.to_string(), unit: None }).collect(),
            false => {
                cells.iter().map(|cell| heading(cell)).map(|(name, unit)| Heading { name, unit }).collect()
            }
        };
        let mut seen = HashSet::new();
        if let Some(twice) =
            columns.iter().find(|column| !column.name.is_empty() && !seen.insert(&column.name))
        {
            let message = format!("two columns are called `{}`", short(&twice.name));
            return Err(
                flaw(&path, index + 1, message).hint("give each column a name of its own in this line")
            );
        }
        if let Some(place) = misplaced_time(&columns) {
            let (first, time) = (short(&columns[0].name), short(&columns[place].name));
            let first = if first.is_empty() { "has no name".to_owned() } else { format!("is `{first}`") };
            let message = format!("the first column {first}, and `{time}` is column {}", place + 1);
            return Err(flaw(&path, index + 1, message).because("the first column is taken as time").hint(
                format!("move the column `{time}` to the front, or leave out those before it: an index of rows is no time"),
            ));
        }
        let unit = columns[0].unit.as_deref().unwrap_or("s");
        let scale = time_unit(unit).ok_or_else(|| {
            flaw(&path, index + 1, format!("`{}` is not a unit of time", short(unit))).hint(TIME_UNITS)
        })?;
        let skipped = if is_row { index } else { index + 1 };
        if let Some(error) = text_below_names(&path, &text, separator).filter(|_| !is_row) {
            return Err(error);
        }
        Ok(Self { path, columns, content: Content::Csv { text, separator, skipped, scale } })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names of the columns; the first is time.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The unit of a column, if the file gives one.
    pub fn unit(&self, column: &str) -> Option<&str> {
        let Heading { name, unit } = &self.columns[self.find(column).ok()?];
        unit.as_deref().or_else(|| unit_in_name(name))
    }

    /// The unit that the name of the first column seems to end in, `time_ms`, where the file gives it none in brackets: its times
    /// are taken as seconds.
    pub fn unit_in_name_of_time(&self) -> Option<&str> {
        let Heading { name, unit } = self.columns.first()?;
        let end = name.trim_end_matches(')');
        let (_, last) = end.rsplit_once(|c: char| !c.is_alphanumeric())?;
        let (factor, divisor) = time_unit(last)?;
        // A year is as likely an index.
        (unit.is_none() && factor != divisor && last != "a").then_some(last)
    }

    /// A column as a signal. Times have to rise; of rows with the same time the last one counts.
    pub fn signal(&self, wanted: &ColumnSignal) -> Result<External> {
        let column = self.find(&wanted.column)?;
        let mut points = match &self.content {
            Content::Csv { text, separator, skipped, scale } => {
                self.parse(text, (*separator, *skipped, *scale), column)?
            }
            Content::Recording(table) => {
                let (times, values) =
                    (table.values(&self.columns[0].name)?, table.values(&self.columns[column].name)?);
                times.iter().copied().zip(values.iter().copied()).collect()
            }
        };
        if points.is_empty() {
            return Err(self.error("the file has no rows".into()).hint(LINES));
        }
        for (t, value) in &mut points {
            (*t, *value) = (*t + wanted.time_offset, wanted.gain * *value + wanted.offset);
        }
        if let Some((t, value)) = points.iter().find(|(t, value)| !t.is_finite() || !value.is_finite()) {
            return Err(self.error(format!("the column `{}` is {value} at {t} s", short(&wanted.column))));
        }
        // Shifted times may fall together.
        points.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 = later.1;
            }
            same
        });
        if let Some(pair) = points.windows(2).find(|pair| pair[1].0 <= pair[0].0) {
            return Err(
                self.error(format!("times do not rise: {} s is followed by {} s", pair[0].0, pair[1].0))
            );
        }
        Ok(match wanted.interpolation {
            Interpolation::Linear => External::Table(points),
            Interpolation::Hold => External::Stairs(points),
        })
    }

    fn parse(
        &self,
        text: &str,
        (separator, skipped, (factor, divisor)): (char, usize, (f64, f64)),
        column: usize,
    ) -> Result<Vec<(f64, f64)>> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (index, line) in rows(text).skip_while(|(index, _)| *index < skipped) {
            let (mut count, mut time, mut value) = (0, None, None);
            for (place, cell) in cells(line, separator).enumerate() {
                count += 1;
                if place == 0 {
                    time = number(&cell, separator);
                }
                if place == column {
                    value = number(&cell, separator);
                }
            }
            let columns = self.columns.len();
            if count < columns || (count > columns && !is_blank_after(line, separator, columns)) {
                let message = format!("the line has {count} columns instead of {columns}");
                let error = flaw(&self.path, index + 1, message);
                return Err(match separator == ',' && count > columns {
                    true => error.because("commas separate columns here").hint(
                        "are these decimal commas? then separate columns by `;`, or write decimal points",
                    ),
                    false if count < columns => error.hint("complete the line, or leave it out"),
                    false => error,
                });
            }
            let (Some(time), Some(value)) = (time, value) else {
                let place = if time.is_none() { 0 } else { column };
                let cell = cells(line, separator).nth(place).unwrap_or_default();
                let message = match cell.trim() {
                    "" => format!("the value of `{}` is missing", short(&self.columns[place].name)),
                    cell => {
                        format!(
                            "the value of `{}`, `{}`, is not a number",
                            short(&self.columns[place].name),
                            short(cell)
                        )
                    }
                };
                let error = flaw(&self.path, index + 1, message);
                let cell = cell.trim();
                return Err(match looks_like_date(cell) && place == 0 {
                    true => error
                        .because("times are numbers of seconds from the start of the run, not dates")
                        .hint(
                            "subtract the first one and write seconds, or hours in a column named `time [h]`",
                        ),
                    false => match remedy_of_cell(cell, &self.columns[place].name, separator) {
                        Some(hint) => error.hint(hint),
                        None => error,
                    },
                });
            };
            let time = time * factor / divisor;
            if let Some((before, _)) = points.last().filter(|(before, _)| time < *before) {
                let message = format!("times do not rise: {before} s is followed by {time} s");
                return Err(flaw(&self.path, index + 1, message).hint("sort the lines by their times"));
            }
            points.push((time, value));
        }
        Ok(points)
    }

    fn find(&self, wanted: &str) -> Result<usize> {
        let named = self.columns.iter().position(|column| column.name == wanted);
        let numbered =
            || wanted.parse::<usize>().ok()?.checked_sub(1).filter(|place| *place < self.columns.len());
        match named.or_else(numbered) {
            Some(0) => Err(self.unknown(format!("the column `{}` is time", short(wanted)))),
            Some(found) => Ok(found),
            None => {
                let error = self.unknown(format!("there is no column `{}`", short(wanted)));
                let names = || self.names().skip(1).take(1000);
                if names().all(|name| name.parse::<usize>().is_ok()) {
                    let message =
                        "the file has no line of names: columns are called by their numbers, from 2";
                    return Err(error.hint(message));
                }
                let all: Vec<&str> = names().collect();
                let shown = format!("columns: {}", short(&all[..all.len().min(10)].join(", ")));
                Err(error.hint(match nearest(wanted, &all) {
                    Some(near) => format!("did you mean `{}`? {shown}", short(near)),
                    None => shown,
                }))
            }
        }
    }

    /// At the line of names, where there is one.
    fn unknown(&self, message: String) -> Error {
        let line = match &self.content {
            Content::Csv { skipped, .. } if *skipped > 0 => Some(*skipped),
            _ => None,
        };
        Error::new(Code::UnknownColumn, message).at(Place::File { path: self.path.clone(), line, text: None })
    }

    fn error(&self, message: String) -> Error {
        Error::new(Code::DataFile, message).in_file(&self.path)
    }
}

/// The error of a title above the line of names: that names time, or is the first of several columns.
fn title_above(path: &Path, text: &str) -> Option<Error> {
    let (index, first) = rows(text).next()?;
    let is_names = |row: &str| match separator(first) {
        None => separator(row).is_some(),
        Some(_) => begins_with_time(row) && !begins_with_time(first),
    };
    let (names, row) = rows(text).take(LONGEST_TITLE).skip(1).find(|(_, row)| is_names(row))?;
    let mark = separator(row)?;
    let is_text = |row: &str| cells(row, mark).all(|cell| number(&cell, mark).is_none());
    // What has numbers above is no line of names but one of another kind of table.
    if !rows(text).take_while(|(at, _)| *at <= names).all(|(_, row)| is_text(row)) {
        return None;
    }
    let [from, to] = [index + 1, names];
    let (title, delete) = match from == to {
        true => (format!("line {from}"), "it"),
        false => (format!("lines {from} to {to}"), "each of them"),
    };
    let message = format!("the names of the columns are in line {}", names + 1);
    let error = flaw(path, from, message)
        .because("the first line is taken as the line of names, and looks like a title");
    Some(error.hint(format!("delete {title}, or begin {delete} with `#`")))
}

const LINES: &str = "write a line of names, `time,value`, and below it a line of numbers for each time";
const TIME_UNITS: &str = "known here: ns, us, ms, s, sec, min, h, d, a; without a unit, times are in s";
/// Lines of a title that are looked through.
const LONGEST_TITLE: usize = 20;

fn one_column(path: &Path, line: usize, first: &str) -> Error {
    let error = flaw(path, line, "the file has only one column".into());
    if first.split_whitespace().count() > 1 {
        let names: Vec<_> = first.split_whitespace().take(10).collect();
        return error
            .because("blanks do not separate columns")
            .hint(format!("separate them by tabs, semicolons or commas: `{}`", short(&names.join(","))));
    }
    error
        .because("the first column is time, those after it are values")
        .hint("write `time,value` and a time in seconds in each line; separate columns by tabs, semicolons or commas")
}

/// The error of a line below that of names which has no numbers either: units, or the names themselves below a title.
fn text_below_names(path: &Path, text: &str, separator: char) -> Option<Error> {
    let mut lines = rows(text);
    let ((names_at, names), (at, second)) = (lines.next()?, lines.next()?);
    let cells_of = |row| cells(row, separator).map(Cow::into_owned).collect::<Vec<String>>();
    let (names, found) = (cells_of(names), cells_of(second));
    // A time that is a date, or one value that is none, is told with its cell.
    if found.iter().any(|cell| number(cell, separator).is_some() || looks_like_date(cell)) {
        return None;
    }
    let units: Vec<&str> = found.iter().map(|cell| cell.trim_matches(['[', ']', '(', ')', ' '])).collect();
    if time_unit(units[0]).is_some() && units.len() == names.len() {
        let with_unit = |(name, unit): (&String, &&str)| match *unit {
            "" | "-" | "1" => name.clone(),
            unit => format!("{} [{unit}]", heading(name).0),
        };
        let names: Vec<_> = names.iter().zip(&units).map(with_unit).collect();
        return Some(
            flaw(path, at + 1, "the line has units, where values are expected".into())
                .because("units stand behind the names of the columns")
                .hint(format!(
                    "write `{}` in line {}, and delete line {}",
                    short(&names.join(&separator.to_string())),
                    names_at + 1,
                    at + 1
                )),
        );
    }
    let (third, _) = lines
        .next()
        .filter(|(_, row)| cells(row, separator).all(|cell| number(&cell, separator).is_some()))?;
    Some(
        flaw(path, at + 1, "the line has no numbers, where values are expected".into())
            .because(format!(
                "the names of the columns are taken from line {}; numbers begin in line {}",
                names_at + 1,
                third + 1
            ))
            .hint(format!(
                "is line {} a title, or line {} a remark? Delete it, or begin it with `#`",
                names_at + 1,
                at + 1
            )),
    )
}

/// What to write for a cell that is no number.
fn remedy_of_cell(cell: &str, column: &str, separator: char) -> Option<String> {
    const NOTHING: [&str; 6] = ["", "nan", "na", "n/a", "null", "-"];
    if NOTHING.iter().any(|nothing| cell.eq_ignore_ascii_case(nothing)) {
        return Some(
            "where a value is not known, leave out the line: values between lines are interpolated".into(),
        );
    }
    if let Some(plain) = with_point(cell).filter(|plain| number(plain, separator).is_some()) {
        return Some(format!("write a decimal point: `{}`", short(&plain)));
    }
    let may_be_unit = |(_, unit): &(&str, &str)| cell.contains(' ') || is_unit(unit);
    if let Some((plain, unit)) = split_quantity(cell).filter(may_be_unit) {
        return Some(format!(
            "write the number alone, `{}`, and the unit once, behind the name: `{} [{}]`",
            short(plain),
            short(column),
            short(unit)
        ));
    }
    let grouped = match separator {
        ',' => cell.replace([' ', '\''], ""),
        _ => cell.replace([' ', '\'', '.'], ""),
    };
    let is_grouped = grouped.len() < cell.len() && number(&grouped, separator).is_some();
    is_grouped.then(|| format!("write it without marks between thousands: `{}`", short(&grouped)))
}

fn separator(row: &str) -> Option<char> {
    ['\t', ';', ','].into_iter().find(|mark| row.contains(*mark))
}

/// Whether a row looks like names of columns, the first of which is time.
fn begins_with_time(row: &str) -> bool {
    let name = separator(row).and_then(|separator| Some(heading(&cells(row, separator).next()?).0));
    name.is_some_and(|name| name == "t" || name.eq_ignore_ascii_case("time"))
}

/// The unit in which a name seems to end: `Force (kN)`, `force_kN`, `F/kN`. A single letter behind a line is as likely a part of the name.
fn unit_in_name(name: &str) -> Option<&str> {
    let unit = match name.strip_suffix(')') {
        Some(opened) => opened.rsplit_once('(')?.1.trim(),
        None => name.rsplit_once(['_', '/'])?.1.trim(),
    };
    (is_unit(unit) && (name.ends_with(')') || unit.len() > 1)).then_some(unit)
}

/// Whether a text is a unit that is known, perhaps with a prefix.
fn is_unit(unit: &str) -> bool {
    let known = |unit: &str| BaseUnit::parse(unit).is_some();
    let prefixed = unit.strip_prefix(['k', 'M', 'G', 'm', 'c', 'u', 'n']);
    known(unit) || prefixed.is_some_and(|unit| !unit.is_empty() && known(unit))
}

/// The place of a column that is called time although it is not the first, while the first has another name.
fn misplaced_time(columns: &[Heading]) -> Option<usize> {
    let is_called_time = |heading: &Heading| {
        let name = heading.name.split('(').next().unwrap_or_default().trim();
        let is_time = name.eq_ignore_ascii_case("time") || name == "t";
        is_time && heading.unit.as_deref().is_none_or(|unit| time_unit(unit).is_some())
    };
    // Many languages and tools have their own names for it: a unit of time tells them, and so does a part of the name.
    let first = columns.first()?;
    let name = first.name.to_lowercase();
    let may_be_time = first.unit.as_deref().is_some_and(|unit| time_unit(unit).is_some())
        || name == "t"
        || ["time", "zeit", "temps", "tiempo", "tempo", "tid", "clock"]
            .iter()
            .any(|word| name.contains(word));
    let place = columns.iter().position(is_called_time)?;
    (!may_be_time && place > 0).then_some(place)
}

fn flaw(path: &Path, line: usize, message: String) -> Error {
    Error::new(Code::DataFile, message).at(Place::File { path: path.into(), line: Some(line), text: None })
}

fn read_text(path: &Path) -> Result<String> {
    let unreadable = |cause: String| {
        Error::new(Code::FileNotReadable, format!("`{}` cannot be read", path.display())).because(cause)
    };
    // Asked before it is opened: opening a pipe would wait for somebody to write into it.
    let about = fs::metadata(path).map_err(|cause| match cause.kind() {
        ErrorKind::NotFound => costep_fmu_file::not_there(path),
        _ => unreadable(cause.to_string()),
    })?;
    if about.is_dir() {
        return Err(unreadable("it is a folder, not a file".into()).hint("name a file in it"));
    }
    if !about.is_file() || about.len() > MAX_BYTES {
        let what = if about.is_file() {
            format!("it has more than {} MB", MAX_BYTES >> 20)
        } else {
            "it is not a file".into()
        };
        return Err(unreadable(what));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes))
        .map_err(|cause| unreadable(cause.to_string()))?;
    if bytes.contains(&0) {
        let error = Error::new(Code::DataFile, "the file is not text").in_file(path);
        const WORKBOOKS: [&str; 4] = ["xlsx", "xls", "xlsm", "ods"];
        let is_workbook = path
            .extension()
            .is_some_and(|ending| WORKBOOKS.iter().any(|known| ending.eq_ignore_ascii_case(known)));
        return Err(match is_workbook {
            true => error.hint(
                "it is a workbook: save its sheet as CSV in the spreadsheet program, and name that file",
            ),
            false => error,
        });
    }
    let other = match bytes.trim_ascii_start().first() {
        Some(b'{') => Some("JSON"),
        Some(b'<') if is_markup(bytes.trim_ascii_start()) => Some("XML or a web page"),
        _ => None,
    };
    if let Some(other) = other {
        let message = format!("the file is {other}, not a file of values");
        return Err(Error::new(Code::DataFile, message).in_file(path).hint(
            "write it as CSV: a line of names, `time` first, and below it numbers, separated by commas",
        ));
    }
    // Names in another encoding than UTF-8 are shown as well as can be; numbers are the same in all of them.
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// Whether a file begins as XML or a web page do; a name of a column may begin with `<` too.
fn is_markup(bytes: &[u8]) -> bool {
    const BEGINNINGS: [&str; 4] = ["<?xml", "<!doctype", "<html", "<!--"];
    let begins =
        |with: &str| bytes.get(..with.len()).is_some_and(|own| own.eq_ignore_ascii_case(with.as_bytes()));
    BEGINNINGS.into_iter().any(begins)
}

/// Whether a text is a date or a time of the day: `2020-01-31`, `31.01.2020 12:00`, `12:00:05`.
fn looks_like_date(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let marks = text.bytes().skip(1).filter(|byte| matches!(byte, b'-' | b':' | b'/' | b'.')).count();
    let is_of_date = |byte: u8| byte.is_ascii_digit() || b"-:/. TZ+".contains(&byte);
    digits >= 3 && marks >= 1 && text.bytes().all(is_of_date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_known_by_its_beginning() {
        for text in ["<?xml version", "<!DOCTYPE html>", "<HTML>", "<!-- a -->"] {
            assert!(is_markup(text.as_bytes()), "{text}");
        }
        assert!(!is_markup(b"<t>,F\n0,1") && !is_markup(b"<"));
    }

    fn file(text: &str) -> Result<DataFile> {
        DataFile::from_text("a.csv".into(), text.to_owned())
    }

    fn points(text: &str, column: &str) -> Result<Vec<(f64, f64)>> {
        match file(text)?.signal(&ColumnSignal::new(column))? {
            External::Table(points) => Ok(points),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn decimal_commas_between_commas_are_explained() {
        let error = points("t,u\n0,0,1,5\n0,5,2,5\n", "u").unwrap_err().to_string();
        assert!(
            error.contains("4 columns instead of 2") && error.contains("are these decimal commas?"),
            "{error}"
        );
        let error = points("t;u\n0;1;2\n", "u").unwrap_err().to_string();
        assert!(!error.contains("decimal commas"), "{error}");
    }

    #[test]
    fn titles_and_units_in_lines_of_their_own_are_told() {
        let units = "write `time [s],F [N],x` in line 1, and delete line 2";
        for (text, line, hint) in [
            ("time,F,x\ns,N,-\n0,1,2\n", 2, units),
            ("time,F,x\n[s],[N],[-]\n0,1,2\n", 2, units),
            ("time,F,x\n(s), (N), \n0,1,2\n", 2, units),
            ("t;F\nms;kN\n0;1,5\n", 2, "write `t [ms];F [kN]` in line 1"),
            ("Rig 7\ntime,F\n0,1\n", 1, "delete line 1, or begin it with `#`"),
            ("Rig 7\nof May\nZeit;F\n0;1\n", 1, "delete lines 1 to 2, or begin each of them with `#`"),
            ("Rig 7, of May\nZeit,F\n0,1\n", 2, "is line 1 a title, or line 2 a remark?"),
            ("time F\n0 1\n", 1, "separate them by tabs, semicolons or commas: `time,F`"),
        ] {
            let error = points(text, "F").unwrap_err();
            assert!(error.help().starts_with(hint), "{text:?}: {error}");
            let Place::File { line: at, .. } = &error.details().place else { panic!("{error}") };
            assert_eq!(*at, Some(line), "{text:?}: {error}");
        }
    }

    #[test]
    fn cells_that_are_no_numbers_get_what_to_write() {
        for (text, hint) in [
            ("t,F\n0,1 N\n", "write the number alone, `1`, and the unit once, behind the name: `F [N]`"),
            ("t,F\n0 s,1\n", "write the number alone, `0`, and the unit once, behind the name: `t [s]`"),
            ("t,F\n0,NaN\n", "leave out the line"),
            ("t,F\n0,\n", "leave out the line"),
            ("t,F\n0,\"1,5\"\n", "write a decimal point: `1.5`"),
            ("t,F\n0,0x1F\n", "fix the file at the line shown"),
            ("t,F\n0,1\n1\n", "complete the line, or leave it out"),
            ("t,F,F\n0,1,2\n", "give each column a name of its own"),
            ("t [seconds],F\n0,1\n", "known here: ns, us, ms, s"),
            ("", "write a line of names"),
            ("t,F\n", "write a line of names"),
            ("t;F\n0;1.000,5\n", "without marks between thousands: `1000,5`"),
            ("t,F\n1,2\n0,2\n", "sort the lines by their times"),
        ] {
            let error = points(text, "F").unwrap_err();
            assert!(error.help().contains(hint), "{text:?}: {error}");
        }
    }

    #[test]
    fn an_index_of_rows_is_no_time() {
        for heading in [",time,u", "\"\",time,u", ",time [s],u", "n,Time (s),u"] {
            let error = points(&format!("{heading}\n0,0,0\n1,0.5,1\n"), "u").unwrap_err().to_string();
            assert!(
                error.contains("is column 2") && error.contains("an index of rows is no time"),
                "{error}"
            );
        }
        let error = points("0,1\n1,2\n", "force").unwrap_err().to_string();
        assert!(error.contains("has no line of names"), "{error}");
    }

    #[test]
    fn units_of_values_are_seen_in_their_names() {
        let unit = |name: &str| file(&format!("t,{name}\n0,1\n")).unwrap().unit(name).map(str::to_owned);
        assert_eq!(
            ["F (kN)", "F_kN", "F/kN", "F (N)"].map(unit),
            ["kN", "kN", "kN", "N"].map(|unit| Some(unit.into()))
        );
        assert_eq!(["F", "F (left)", "F_left", "F_m", "x_1"].map(unit), [const { None }; 5]);
    }

    #[test]
    fn units_in_the_name_of_time_are_seen() {
        let unit = |heading: &str| {
            file(&format!("{heading},u\n0,1\n")).unwrap().unit_in_name_of_time().map(str::to_owned)
        };
        assert_eq!(
            ["time_ms", "Time (ms)", "t [ms]"].map(unit),
            [Some("ms".into()), Some("ms".into()), None]
        );
        assert_eq!(["time_s", "time", "t_a", "x_1"].map(unit), [None, None, None, None]);
    }

    #[test]
    fn files_of_spreadsheets_mastersim_and_fmpy_are_read() {
        let wanted = [(0.0, 1.5), (0.5, -2.0)];
        for text in [
            "t,u,v\n0,1.5,7\n0.5,-2,8\n",
            "Zeit,u,t\n0,1.5,7\n0.5,-2,8\n",
            "x [s],u,time\n0,1.5,7\n0.5,-2,8\n",
            "\"time\",\"u\",\"v\"\n\"0\",\"1.5\",\"x\"\n0.5,-2.0,8\n",
            "Time [s] \tu [km/h]\tv [---]\n0\t1.5\t7\n\n0.5\t-2\t8\n",
            "\u{feff}t [ms];u;v;\r\n0;1,5;7;\r\n500;-2;8;\r\n",
            "# a drive\nt [s];u;v\n0;1.5;a b\n0.5;-2;c\n",
            " t , u , v \n 0 , 1.5 , 7\n 0.5 , -2 , 8",
        ] {
            assert_eq!(points(text, "u").unwrap(), wanted, "{text}");
        }
        assert_eq!(points("0,1.5\n0.5,-2", "2").unwrap(), wanted);
        assert_eq!(points("Time [h]\tu\n0\t1\n1\t2", "u").unwrap(), [(0.0, 1.0), (3600.0, 2.0)]);
        let data = file("t,u [km/h],\"a,b\",p[1],q[1] [-]\n0,1,2,3,4").unwrap();
        assert_eq!(data.names().collect::<Vec<_>>(), ["t", "u", "a,b", "p[1]", "q[1]"]);
        assert_eq!([data.unit("u"), data.unit("p[1]"), data.unit("q[1]")], [Some("km/h"), None, None]);
    }

    #[test]
    fn signals_are_shifted_scaled_and_held() {
        let data = file("t,u\n0,1\n1,2\n1,3\n2,true").unwrap();
        let wanted = ColumnSignal { time_offset: 0.5, gain: 2.0, offset: 1.0, ..ColumnSignal::held("u") };
        assert_eq!(data.signal(&wanted).unwrap(), External::Stairs(vec![(0.5, 3.0), (1.5, 7.0), (2.5, 3.0)]));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, line, code) in [
            ("", Some(1), Code::DataFile),
            ("\n# only remarks\n", Some(1), Code::DataFile),
            ("time\n1\n", Some(1), Code::DataFile),
            ("t,u,u\n0,1,2", Some(1), Code::DataFile),
            ("t [kg],u\n0,1", Some(1), Code::DataFile),
            ("t,u\n0,1\n1", Some(3), Code::DataFile),
            ("t,u\n0,1\n1,2,3", Some(3), Code::DataFile),
            ("t,u\n0,x", Some(2), Code::DataFile),
            ("t,u\n0,inf", Some(2), Code::DataFile),
            ("t,u\n0,1\n,2", Some(3), Code::DataFile),
            ("t,u\n0,\"1\n", Some(2), Code::DataFile),
            ("t,u\n0,1e999", None, Code::DataFile),
            ("t,u\n1,1\n0,1", Some(3), Code::DataFile),
            ("u,time\n0,1\n1,2", Some(1), Code::DataFile),
            ("u;v;t [ms]\n0;1;0\n1;2;1", Some(1), Code::DataFile),
            ("t,u", None, Code::DataFile),
            ("Rig 7, 2026-03-01\ntime,u\n0,1", Some(1), Code::DataFile),
            ("Rig 7\n\nTime [s];u\n0;1", Some(1), Code::DataFile),
            ("t,v\n0,1", Some(1), Code::UnknownColumn),
            ("# a drive\nu,v\n0,1", Some(2), Code::UnknownColumn),
        ] {
            let error = points(text, "u").unwrap_err();
            assert_eq!(error.code(), code, "{text:?}: {error}");
            let at = match &error.details().place {
                Place::File { line, .. } => *line,
                place => panic!("{text:?}: {place:?}"),
            };
            assert_eq!(at, line, "{text:?}: {error}");
        }
    }
}
