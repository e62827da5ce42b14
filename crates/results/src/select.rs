//! Which columns to export or to plot: exact names and patterns with `*`.

use costep_core::Result;
use costep_core::pattern::matches;

use crate::column::{Column, unknown_column};

/// The indices of the selected columns: `t` first, then in the order of the patterns, and for one pattern in
/// the order of the recording; each column once. No pattern selects all.
pub(crate) fn selected(columns: &[Column], patterns: &[String]) -> Result<Vec<usize>> {
    if patterns.is_empty() {
        return Ok((0..columns.len()).collect());
    }
    let mut chosen = vec![false; columns.len()];
    let mut indices = vec![0];
    chosen[0] = true;
    for pattern in patterns {
        let mut matched = false;
        for index in (0..columns.len()).filter(|index| matches(pattern, &columns[*index].name)) {
            matched = true;
            if !std::mem::replace(&mut chosen[index], true) {
                indices.push(index);
            }
        }
        if !matched {
            return Err(no_match(pattern, columns));
        }
    }
    Ok(indices)
}

fn no_match(pattern: &str, columns: &[Column]) -> costep_core::Error {
    let message = match pattern.contains('*') {
        true => format!("no column of the recording matches `{pattern}`"),
        false => format!("the recording has no column `{pattern}`"),
    };
    unknown_column(message, pattern, columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(patterns: &[&str]) -> Result<Vec<usize>> {
        let columns =
            ["t", "engine.speed", "engine.torque", "brake.speed"].map(|name| Column::new(name, None));
        selected(&columns, &patterns.iter().map(|pattern| pattern.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn a_star_stands_for_any_letters() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "a.b"),
            ("a*", "a"),
            ("*b", "a.b"),
            ("a*c*e", "abcde"),
            ("a**b", "ab"),
            ("a*b*b", "abb"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("a", "ab"), ("a*", "b"), ("*b", "ba"), ("ab*ba", "aba"), ("a*b*b", "ab"), ("", "a")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn time_is_first_and_each_column_once() {
        assert_eq!(select(&[]).unwrap(), [0, 1, 2, 3]);
        assert_eq!(select(&["brake.speed", "engine.*", "*.speed", "t"]).unwrap(), [0, 3, 1, 2]);
    }

    #[test]
    fn what_matches_nothing_is_an_error() {
        assert_eq!(
            select(&["engine.sped"]).unwrap_err().to_string(),
            "error[E0506]: the recording has no column `engine.sped`\n  help: did you mean `engine.speed`?"
        );
        assert_eq!(
            select(&["wheel.*"]).unwrap_err().to_string(),
            "error[E0506]: no column of the recording matches `wheel.*`\n  help: known here: t, engine.speed, engine.torque, brake.speed"
        );
    }
}
