//! Values of flags: times, sizes, lists of names.

use std::time::Duration;

use costep_core::quantity::{one_word, parse_time, rewrite_times};

pub(super) fn time(text: &str) -> Result<f64, String> {
    parse_time(text).map_err(|error| {
        let hint = rewrite_times(error.help(), one_word);
        format!("{}; {hint}", error.details().message)
    })
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let value = time(text)?;
    Duration::try_from_secs_f64(value).map_err(|_| "a wall time is at least 0 and less than 1e19 s".into())
}

/// A share of something: a number, not in percent.
pub(super) fn share(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| {
        let percent = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        match percent {
            Some(percent) => format!("write {}", percent / 100.0),
            None => "a share is a number, 1e-3 for one".into(),
        }
    })
}

pub(super) fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, f64); 7] = [
        ("KiB", 1024.0),
        ("MiB", 1048576.0),
        ("GiB", 1073741824.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("B", 1.0),
    ];
    let unit = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (number, factor) = unit.ok_or("a size has a unit: kB, MB, GB, KiB, MiB or GiB")?;
    match number.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value * factor < 1e18 => Ok((value * factor) as u64),
        _ => Err(format!("`{number}` is not a size")),
    }
}

/// Names separated by commas. Those inside of brackets belong to a name: `a.y[1,2]`.
pub(crate) fn names_in(lists: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    for list in lists {
        let (mut name, mut depth) = (String::new(), 0_usize);
        for c in list.chars() {
            match c {
                '[' | '(' => depth += 1,
                ']' | ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            match c {
                ',' if depth == 0 => names.push(std::mem::take(&mut name)),
                _ => name.push(c),
            }
        }
        names.push(name);
    }
    names
}
