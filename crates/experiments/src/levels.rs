//! Ranges and lists of levels as users write them: `1e3..1e6:log:13`, `0.5ms..10ms:11`, `1,2,5`.

use costep_core::quantity::{one_word, parse_time, rewrite_times};
use costep_core::{Code, Error, Result};

/// More levels than anybody runs.
const MOST: usize = 100_000;

const HINT: &str = "write `FROM..TO:COUNT`, `FROM..TO:log:COUNT` or a list such as `1,2,5`";

/// Numbers: a range or a list.
pub fn parse_numbers(text: &str) -> Result<Vec<f64>> {
    parse_range(text, |number| match number.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(Error::new(Code::BadLevels, format!("`{number}` is not a number")).hint(HINT)),
    })
}

/// Times in s: a range or a list. One that is given again is left out.
pub fn parse_times(text: &str) -> Result<Vec<f64>> {
    let positive = |time: &str| match parse_time(time)? {
        seconds if seconds > 0.0 => Ok(seconds),
        _ => Err(Error::new(Code::BadLevels, format!("a step of `{time}` is not possible"))
            .hint("write times above zero: commas separate them, `0.5ms,1ms`")),
    };
    let times = parse_range(text, positive).map_err(|error| match are_times_otherwise_divided(text) {
        true => error.hint("times are divided by commas, `1ms,2ms,5ms`; a range is `1ms..5ms:5`"),
        false => {
            let hint = rewrite_times(error.help(), one_word);
            error.hint(hint)
        }
    })?;
    let mut different: Vec<f64> = Vec::with_capacity(times.len());
    for time in times {
        if different.iter().all(|known| !is_same(*known, time)) {
            different.push(time);
        }
    }
    Ok(different)
}

/// Whether two times are one but for the rounding of their units.
fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 4.0 * f64::EPSILON * a.max(b)
}

/// Whether a text is times with something else between them: `1ms 2ms`, `1ms;2ms`, `1ms-5ms`.
fn are_times_otherwise_divided(text: &str) -> bool {
    let parts: Vec<&str> = text.split([' ', ';', '-', '|']).filter(|part| !part.is_empty()).collect();
    parts.len() > 1 && parts.iter().all(|part| parse_time(part).is_ok_and(|time| time > 0.0))
}

/// A range or a list of what `read` reads.
pub fn parse_range(text: &str, read: impl Fn(&str) -> Result<f64>) -> Result<Vec<f64>> {
    let Some((from, rest)) = text.split_once("..") else {
        if text.contains(':') {
            return Err(
                Error::new(Code::BadLevels, format!("`{text}` is neither a range nor a list")).hint(HINT)
            );
        }
        return text.split(',').map(|item| read(item.trim())).collect();
    };
    let bad = |what: String| Error::new(Code::BadLevels, what).hint(HINT);
    let mut words = rest.split(':').map(str::trim);
    let to = words.next().unwrap_or_default();
    let words: Vec<&str> = words.collect();
    let (scale, count) = match words[..] {
        [count] => ("lin", count),
        [scale @ ("log" | "lin"), count] => (scale, count),
        [scale, _] => return Err(bad(format!("unknown scale `{scale}`: lin or log"))),
        _ => return Err(bad(format!("`{text}` does not say how many levels"))),
    };
    let (from, to) = (read(from.trim())?, read(to)?);
    let count = count.parse::<usize>().ok().filter(|count| (2..=MOST).contains(count));
    let count =
        count.ok_or_else(|| bad(format!("the number of levels in `{text}` is not from 2 to {MOST}")))?;
    let is_log = scale == "log";
    if is_log && !(from > 0.0 && to > 0.0) {
        return Err(bad(format!("a logarithmic range such as `{text}` has positive ends")));
    }
    let level = |k: usize| {
        let share = k as f64 / (count - 1) as f64;
        match (k, is_log) {
            (0, _) => from,
            (k, _) if k + 1 == count => to,
            (_, true) => from * (to / from).powf(share),
            (_, false) => from + (to - from) * share,
        }
    };
    Ok((0..count).map(level).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lists() {
        assert_eq!(parse_numbers("1..3:5").unwrap(), [1.0, 1.5, 2.0, 2.5, 3.0]);
        assert_eq!(parse_numbers("3, 1e2").unwrap(), [3.0, 100.0]);
        let decades = parse_numbers("1e3..1e6:log:13").unwrap();
        assert_eq!((decades[0], decades[12], decades.len()), (1e3, 1e6, 13));
        assert!((decades[4] / 1e4 - 1.0).abs() < 1e-12);
        assert_eq!(parse_times("0.5ms..1.5ms:lin:3").unwrap(), [0.5e-3, 1e-3, 1.5e-3]);
        assert_eq!(parse_times("1ms,2ms,1000us,1ms").unwrap(), [1e-3, 2e-3]);
    }

    #[test]
    fn mistakes_are_told() {
        for text in
            ["1..2", "1..2:log", "1..2:1", "1..2:sqrt:4", "-1..2:log:4", "a", "", "1..2:3:4:5", "1..inf:3"]
        {
            assert!(parse_numbers(text).is_err(), "{text}");
        }
        for text in ["1ms 2ms", "1ms;2ms", "1ms-5ms"] {
            let error = parse_times(text).unwrap_err().to_string();
            assert!(error.contains("a range is `1ms..5ms:5`"), "{error}");
        }
        assert!(parse_times("0ms..1ms:3").is_err() && parse_times("1..2:99999999").is_err());
    }
}
