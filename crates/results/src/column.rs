//! What a column of a recording is called and in which unit it is.

use std::collections::BTreeSet;

use costep_core::{Code, Error};

/// The name of the first column of every recording of a run: simulated time.
pub(crate) const TIME: &str = "t";
/// The name of the first column of a table of runs: which of them a row is about.
pub(crate) const RUN: &str = "run";

/// A column of a recording; its values are `f64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// `t`, or `subsystem.port`.
    pub name: String,
    /// The unit as the user wrote it, if any.
    pub unit: Option<String>,
}

impl Column {
    /// A column with a name and perhaps a unit.
    pub fn new(name: impl Into<String>, unit: Option<&str>) -> Self {
        Self { name: name.into(), unit: unit.map(str::to_owned) }
    }
}

/// What every recording promises about its columns; the writer and the reader both ask. The flaw is a sentence
/// without a capital letter, fit for the cause of an error.
pub(crate) fn check_columns(columns: &[Column]) -> Result<(), String> {
    match columns.first() {
        Some(first) if first.name == TIME || first.name == RUN => {}
        Some(first) => return Err(format!("the first column is `{}`, not `{TIME}`", first.name)),
        None => return Err("it has no columns".into()),
    }
    let mut seen = BTreeSet::new();
    match columns.iter().find(|column| !seen.insert(column.name.as_str())) {
        Some(twice) => Err(format!("the column `{}` is there twice", twice.name)),
        None => Ok(()),
    }
}

/// Columns that are named as meant.
const NAMED: usize = 4;

/// Of many columns, so many are named where none is near.
const SOME: usize = 6;

/// The error for a column that is not there, with the nearest name as help.
pub(crate) fn unknown_column(message: String, wrong: &str, columns: &[Column]) -> Error {
    let error = Error::new(Code::UnknownColumn, message);
    // A port without its part.
    let ends = |name: &&str| name.rsplit_once('.').is_some_and(|(_, port)| port == wrong);
    let meant: Vec<&str> =
        columns.iter().map(|column| column.name.as_str()).filter(ends).take(NAMED).collect();
    if !meant.is_empty() {
        return error.hint(format!("write the part too: {}", meant.join(", ")));
    }
    let suggested = error.suggest(wrong, columns.iter().map(|column| column.name.as_str()));
    match columns.len() > SOME && suggested.details().hint.is_none() {
        true => {
            let some: Vec<&str> =
                columns.iter().skip(1).take(SOME).map(|column| column.name.as_str()).collect();
            suggested.hint(format!(
                "known here: {} and {} more",
                some.join(", "),
                columns.len() - 1 - some.len()
            ))
        }
        false => suggested,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flaw(names: &[&str]) -> Option<String> {
        check_columns(&names.iter().map(|name| Column::new(*name, None)).collect::<Vec<_>>()).err()
    }

    #[test]
    fn time_comes_first_and_names_are_unique() {
        assert_eq!(flaw(&["t", "a.x", "a.y"]), None);
        assert_eq!(flaw(&["run", "ck"]), None);
        assert_eq!(flaw(&[]).as_deref(), Some("it has no columns"));
        assert_eq!(flaw(&["a.x", "t"]).as_deref(), Some("the first column is `a.x`, not `t`"));
        assert_eq!(flaw(&["t", "a.x", "a.x"]).as_deref(), Some("the column `a.x` is there twice"));
    }
}
