//! Text in columns: lines, cells, numbers and names with units.

use std::borrow::Cow;

/// Lines that say something, with their numbers from 0.
pub(crate) fn rows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).enumerate();
    lines.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

/// The cells of a line, without blanks and quotes around them.
pub(crate) fn cells(line: &str, separator: char) -> impl Iterator<Item = Cow<'_, str>> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let start = text.trim_start_matches(' ');
        let end = match start.strip_prefix('"') {
            None => text.find(separator),
            Some(_) => end_of_quoted(start).and_then(|end| {
                let from = text.len() - start.len() + end;
                text[from..].find(separator).map(|place| from + place)
            }),
        };
        let cell = &text[..end.unwrap_or(text.len())];
        rest = end.map(|end| &text[end + separator.len_utf8()..]);
        let cell = cell.trim();
        Some(match cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')) {
            Some(inner) if inner.contains("\"\"") => Cow::Owned(inner.replace("\"\"", "\"")),
            Some(inner) => Cow::Borrowed(inner.trim()),
            None => Cow::Borrowed(cell),
        })
    })
}

/// Where the quoted text that starts here ends; quotes inside are doubled.
fn end_of_quoted(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        let quote = at + text.get(at..)?.find('"')?;
        if bytes.get(quote + 1) != Some(&b'"') {
            return Some(quote + 1);
        }
        at = quote + 2;
    }
}

/// Whether what follows the last column is empty: some tools end every line with a separator.
pub(crate) fn is_blank_after(line: &str, separator: char, columns: usize) -> bool {
    cells(line, separator).skip(columns).all(|cell| cell.is_empty())
}

/// A number; where semicolons separate columns, the decimal mark may be a comma.
pub(crate) fn number(cell: &str, separator: char) -> Option<f64> {
    let plain = |text: &str| {
        let is_number =
            text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        if is_number { text.parse().ok() } else { None }
    };
    match cell {
        "true" | "True" | "TRUE" => Some(1.0),
        "false" | "False" | "FALSE" => Some(0.0),
        _ if separator != ',' && cell.contains(',') && !cell.contains('.') => {
            plain(&cell.replacen(',', ".", 1))
        }
        _ => plain(cell),
    }
}

/// Name and unit: `speed [km/h]`. A number in brackets is a place in an array.
pub(crate) fn heading(cell: &str) -> (String, Option<String>) {
    let split = cell.strip_suffix(']').and_then(|cell| cell.rsplit_once('['));
    let is_place =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    match split {
        Some((name, unit)) if !is_place(unit) => {
            let unit =
                Some(unit.trim()).filter(|unit| !unit.is_empty() && unit.bytes().any(|byte| byte != b'-'));
            (name.trim().to_owned(), unit.map(Into::into))
        }
        _ => (cell.to_owned(), None),
    }
}

/// What a unit of time is in s, as a factor and a divisor: each is exact.
pub(crate) fn time_unit(name: &str) -> Option<(f64, f64)> {
    const UNITS: [(&str, f64, f64); 10] = [
        ("ns", 1.0, 1e9),
        ("us", 1.0, 1e6),
        ("µs", 1.0, 1e6),
        ("ms", 1.0, 1e3),
        ("s", 1.0, 1.0),
        ("sec", 1.0, 1.0),
        ("min", 60.0, 1.0),
        ("h", 3600.0, 1.0),
        ("d", 86_400.0, 1.0),
        ("a", 31_536_000.0, 1.0),
    ];
    UNITS.iter().find(|(unit, ..)| *unit == name).map(|(_, factor, divisor)| (*factor, *divisor))
}
