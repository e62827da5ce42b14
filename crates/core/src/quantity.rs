//! Numbers with a unit written as text: `5 ms`, `0.1s`, `1e-3`.

use std::time::Duration;

use crate::codes::Code;
use crate::error::{Error, Result};

/// Units of time and their length in seconds.
const TIME_UNITS: &[(&str, f64)] =
    &[("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0)];

/// A duration in seconds. A bare number counts in seconds. The decimal digits are scaled exactly as a reader
/// would: `0.3 ms` is the double nearest to 0.0003.
pub fn parse_time(text: &str) -> Result<f64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E')).unwrap_or(text.len());
    // The Greek letter looks like the sign for a millionth.
    let unit = text[split..].trim().replace('\u{3bc}', "\u{b5}");
    let number = text[..split].trim();
    let value: f64 = number.parse().map_err(|_| unreadable(text))?;
    if !value.is_finite() {
        return Err(unreadable(text));
    }
    if unit.is_empty() {
        return Ok(value);
    }
    let known = TIME_UNITS.iter().find(|(name, _)| *name == unit);
    let (_, factor) = known.ok_or_else(|| unknown_unit(text, value, &unit))?;
    let seconds = if *factor < 1.0 { scaled(number, value, 1.0 / factor) } else { value * factor };
    if seconds.is_finite() { Ok(seconds) } else { Err(unreadable(text)) }
}

/// Other words for units of time.
const OTHER_WORDS: [(&str, &[&str]); 6] = [
    ("ns", &["nsec", "nanosecond", "nanoseconds"]),
    ("us", &["usec", "microsecond", "microseconds"]),
    ("ms", &["msec", "msecs", "millis", "millisecond", "milliseconds"]),
    ("s", &["sec", "secs", "second", "seconds"]),
    ("min", &["mins", "minute", "minutes"]),
    ("h", &["hr", "hrs", "hour", "hours"]),
];

/// Other units, and how many of ours they are.
const OTHER_UNITS: [(&[&str], f64, &str); 3] =
    [(&["d", "day", "days"], 24.0, "h"), (&["week", "weeks"], 168.0, "h"), (&["ps"], 1e-3, "ns")];

const FREQUENCIES: [(&str, f64); 3] = [("hz", 1.0), ("khz", 1e3), ("mhz", 1e6)];

fn unknown_unit(text: &str, value: f64, unit: &str) -> Error {
    let error = Error::new(Code::BadQuantity, format!("unknown unit of time `{unit}` in `{text}`"));
    let word = unit.to_lowercase();
    if word == "m" {
        return error.hint(format!("write `{value} min` for minutes, `{value} ms` for milliseconds"));
    }
    let other = OTHER_WORDS.iter().find(|(_, words)| words.contains(&word.as_str()));
    if let Some((ours, _)) = other {
        return error.hint(format!("write `{value} {ours}`"));
    }
    if let Some((_, count, ours)) = OTHER_UNITS.iter().find(|(words, ..)| words.contains(&word.as_str())) {
        return error.hint(format!("write `{} {ours}`", plain_time(value * count)));
    }
    let frequency = FREQUENCIES.iter().find(|(name, _)| *name == word);
    if let Some((_, factor)) = frequency.filter(|_| value > 0.0) {
        let period = format_time(1.0 / (value * factor));
        return error
            .because("it is one of frequencies")
            .hint(format!("a time is 1 over the frequency: write `{period}`"));
    }
    if unit.contains(|c: char| c.is_ascii_digit()) {
        return error.hint("write one number and one unit: `90 min` for an hour and a half");
    }
    error.suggest(unit, TIME_UNITS.iter().map(|(name, _)| *name))
}

/// The same of a text in quotes, where a number without unit is more likely a slip than seconds: a bare number says those.
pub fn parse_time_with_unit(text: &str) -> Result<f64> {
    let seconds = parse_time(text)?;
    let number = text.trim();
    if number.parse::<f64>().is_err() {
        return Ok(seconds);
    }
    Err(Error::new(Code::BadQuantity, format!("`{number}` has no unit"))
        .hint(format!("write \"{number} s\" or \"{number} ms\"")))
}

/// A hint with the times in its backquotes written another way: as words of a command line, or in the quotes of a project file.
pub fn rewrite_times(hint: &str, write: impl Fn(&str) -> String) -> String {
    let is_time = |piece: &str| piece.parse::<f64>().is_err() && parse_time(piece).is_ok();
    let pieces = hint.split('`').enumerate().map(|(index, piece)| match index % 2 {
        1 if is_time(piece) => write(piece),
        _ => piece.to_owned(),
    });
    pieces.collect::<Vec<_>>().join("`")
}

/// A quantity as one word of a command line: `10min`.
pub fn one_word(quantity: &str) -> String {
    quantity.split_whitespace().collect()
}

/// A decimal number divided by a power of ten, by its exponent: a division would round a second time.
fn scaled(number: &str, value: f64, divisor: f64) -> f64 {
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let shifted = exponent.parse::<i32>().ok().and_then(|e| e.checked_sub(divisor.log10().round() as i32));
    let exact = shifted.and_then(|exponent| format!("{digits}e{exponent}").parse().ok());
    exact.unwrap_or(value / divisor.round())
}

fn unreadable(text: &str) -> Error {
    Error::new(Code::BadQuantity, format!("`{text}` is not a time")).hint(match with_point(text) {
        Some(corrected) => format!("write a decimal point: `{corrected}`"),
        None => "write a number and a unit, as in `5 ms` or `0.1s`".into(),
    })
}

/// A time for people: `500 us`, `1 ms`, `2.5 s`.
pub fn format_time(seconds: f64) -> String {
    let (unit, factor) = match seconds.abs() {
        0.0 => ("s", 1.0),
        // Four decimals of a nanosecond, or a second in six digits, would not tell.
        v if !(1e-10..1e7).contains(&v) => return format!("{seconds:e} s"),
        v if v < 1e-6 => ("ns", 1e9),
        v if v < 1e-3 => ("us", 1e6),
        v if v < 1.0 => ("ms", 1e3),
        _ => ("s", 1.0),
    };
    let rounded = format!("{:.4}", seconds * factor);
    format!("{} {unit}", rounded.trim_end_matches('0').trim_end_matches('.'))
}

/// A time in s for people, with at most fifteen digits and no more than it takes: what sums of steps leave behind is cut.
pub fn plain_time(seconds: f64) -> String {
    let rounded: Option<f64> = format!("{seconds:.14e}").parse().ok();
    rounded.unwrap_or(seconds).to_string()
}

/// A time limit, which may be nothing at all, for people.
pub fn format_limit(limit: Duration) -> String {
    format_time(limit.as_secs_f64())
}

/// A number for people: `1e-14`, `0.5`.
pub fn short_number(number: f64) -> String {
    let is_plain = number == 0.0 || (1e-4..1e7).contains(&number.abs());
    if is_plain { number.to_string() } else { format!("{number:e}") }
}

/// A time without blanks that reads back to the same number: for people where that is possible, else with all digits.
pub fn exact_time(seconds: f64) -> String {
    let text = format_time(seconds).replace(' ', "");
    if parse_time(&text) == Ok(seconds) { text } else { format!("{seconds:e}s") }
}

/// Number and unit of a text such as `20 degC` or `20kg`; nothing for other texts.
pub fn split_quantity(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let starts_like_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let starts = text.char_indices().filter(|(_, c)| c.is_alphabetic() || "%°".contains(*c));
    let split = |(start, _)| (text[..start].trim_end(), &text[start..]);
    // The last of them: the `e` of `1e5N` is no unit.
    let mut splits = starts.map(split).filter(|(number, _)| number.parse::<f64>().is_ok());
    if starts_like_number && text.len() <= LONGEST { splits.next_back() } else { None }
}

/// Longer texts are no quantities.
const LONGEST: usize = 100;

/// A number with a decimal comma, and its unit, written with a point.
pub fn with_point(text: &str) -> Option<String> {
    let (whole, rest) = text.trim().split_once(',')?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let is_whole = whole.strip_prefix(['+', '-']).unwrap_or(whole);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(is_whole) && end > 0 && !rest[end..].contains(',')).then(|| format!("{whole}.{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_split_with_and_without_a_blank() {
        for (text, parts) in [
            (" 20 degC ", Some(("20", "degC"))),
            ("5 °C", Some(("5", "°C"))),
            ("20kg", Some(("20", "kg"))),
            ("1e5N", Some(("1e5", "N"))),
            ("-2.5e-3 m/s2", Some(("-2.5e-3", "m/s2"))),
            ("5%", Some(("5", "%"))),
            ("20", None),
            ("five", None),
            ("nan kg", None),
            ("1 2 x", None),
            ("20 30", None),
            ("a b", None),
        ] {
            assert_eq!(split_quantity(text), parts, "{text}");
        }
        assert_eq!(with_point("20,5 kg").as_deref(), Some("20.5 kg"));
        assert_eq!([with_point("1,2,3"), with_point("a,b"), with_point("20")], [None, None, None]);
    }

    #[test]
    fn times_are_the_nearest_doubles() {
        for (text, value) in [
            ("0.3ms", 0.0003),
            ("1 ms", 0.001),
            ("5e-1 ms", 0.0005),
            ("33.3ms", 0.0333),
            ("3.33E1 ms", 0.0333),
            ("1e-400us", 0.0),
            ("7us", 7e-6),
            ("2", 2.0),
            ("1e-3", 1e-3),
            ("1.5 min", 90.0),
        ] {
            assert_eq!(parse_time(text).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn times_have_no_more_digits_than_they_need() {
        for (time, text) in
            [(0.033299999999999996, "0.0333"), (0.1 + 0.2, "0.3"), (1e-7, "0.0000001"), (0.0, "0")]
        {
            assert_eq!(plain_time(time), text);
        }
        assert_eq!(plain_time(f64::NAN), "NaN");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["1e308 h", "", "ms", "five ms", "1 sm", "nan", "inf s", "1 2 ms"] {
            assert_eq!(parse_time(text).unwrap_err().code(), Code::BadQuantity, "{text}");
        }
    }

    #[test]
    fn other_words_for_units_get_the_right_one() {
        for (text, hint) in [
            ("10 sec", "write `10 s`"),
            ("1.5 Milliseconds", "write `1.5 ms`"),
            ("2 hours", "write `2 h`"),
            ("2 days", "write `48 h`"),
            ("1 kHz", "a time is 1 over the frequency: write `1 ms`"),
            ("1h30", "write one number and one unit: `90 min` for an hour and a half"),
            ("1 sm", "did you mean `ms`?"),
        ] {
            assert_eq!(parse_time(text).unwrap_err().details().hint.as_deref(), Some(hint), "{text}");
        }
        assert_eq!(parse_time("5 \u{3bc}s"), parse_time("5 \u{b5}s"));
    }

    #[test]
    fn hints_are_written_for_where_they_are_read() {
        let hint = parse_time("10m").unwrap_err().help().to_owned();
        assert_eq!(
            rewrite_times(&hint, |time| format!("--t-end {}", one_word(time))),
            "write `--t-end 10min` for minutes, `--t-end 10ms` for milliseconds"
        );
        assert_eq!(rewrite_times("did you mean `ms`?", |_| "x".into()), "did you mean `ms`?");
        assert_eq!(
            rewrite_times("the number `5` of `5 s`", |time| format!("\"{time}\"")),
            "the number `5` of `\"5 s\"`"
        );
    }

    #[test]
    fn a_text_without_unit_is_no_time() {
        assert_eq!(parse_time_with_unit(" 1.5e-3 s"), Ok(1.5e-3));
        let error = parse_time_with_unit(" 1 ").unwrap_err();
        let text = "error[E0206]: `1` has no unit\n  help: write \"1 s\" or \"1 ms\"";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn exact_times_read_back() {
        for seconds in [1e-3, 1.00001e-3, 1.0 / 3.0, 1e-300, 12345.678, 0.0] {
            assert_eq!(parse_time(&exact_time(seconds)), Ok(seconds));
        }
        assert_eq!(exact_time(1e-3), "1ms");
    }

    #[test]
    fn times_are_written_for_people() {
        assert_eq!(format_time(0.0005), "500 us");
        assert_eq!(format_time(0.003), "3 ms");
        assert_eq!(format_time(2.5), "2.5 s");
        assert_eq!(format_time(-0.002), "-2 ms");
        assert_eq!(format_time(1e300), "1e300 s");
        assert_eq!(format_time(2.5e-300), "2.5e-300 s");
    }
}
