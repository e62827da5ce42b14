//! `rates` in `[step]`: parts that step once in several macro steps, or several times in one.

use costep_core::{Code, Error};
use costep_engine::{ControlSpec, Rate};

use crate::document::{Entry, Node, Table, Value};
use crate::problems::{Problems, shortened, suggest};
use crate::section::Section;
use crate::signals::Signals;
use crate::write::inline_text;

/// More is a slip.
const MOST: i64 = 10_000;

/// Reads the rates of all parts.
pub(crate) fn read(
    root: &Table,
    signals: &Signals,
    control: Option<&ControlSpec>,
    problems: &mut Problems<'_>,
) -> Vec<Rate> {
    let parts = signals.parts();
    let mut rates = vec![Rate::Base; parts.len()];
    let Some(node) = root.table("step").and_then(|step| step.get("rates")) else { return rates };
    let section = Section::open_free(Some(node), "`rates` in [step]", problems);
    for entry in section.entries() {
        let rate = read_rate(entry, problems);
        match parts.iter().position(|part| *part == entry.key) {
            Some(part) => rates[part] = rate.unwrap_or_default(),
            None if signals.may_be_part(&entry.key) => {}
            None => problems.report(entry.key_origin, || {
                let message = format!("`rates` names `{}`, which is not a part", entry.key);
                suggest(Error::new(Code::UnknownName, message), &entry.key, parts.iter().map(String::as_str))
            }),
        }
        if matches!(rate, Some(Rate::Every(_))) && control.is_some() {
            problems.report(entry.key_origin, || {
                Error::new(
                    Code::Conflict,
                    format!("`{}` steps once in several macro steps, which vary", entry.key),
                )
                .hint("leave out `tolerance`, or this rate")
            });
        }
    }
    rates
}

fn read_rate(entry: &Entry, problems: &mut Problems<'_>) -> Option<Rate> {
    let rate = match &entry.node {
        Node { value: Value::Integer(count), .. } if (1..=MOST).contains(count) => {
            Some(Rate::Every(*count as u32))
        }
        Node { value: Value::Text(text), .. } => {
            let parts = text.strip_prefix("1/").and_then(|parts| parts.trim().parse::<i64>().ok());
            parts.filter(|parts| (1..=MOST).contains(parts)).map(|parts| Rate::Parts(parts as u32))
        }
        _ => None,
    };
    if rate.is_none() {
        problems.report(entry.node.origin, || {
            let message = format!("the rate of `{}` is not possible", shortened(&entry.key));
            Error::new(Code::BadValue, message)
                .because(
                    "a part steps once in several macro steps, or several times in one: an integer says how many",
                )
                .hint(format!(
                    "5: one step in five macro steps; \"1/5\": five steps in a macro step; at most {MOST}"
                ))
        });
    }
    // Once is what all do.
    Some(match rate? {
        Rate::Every(1) | Rate::Parts(1) => Rate::Base,
        rate => rate,
    })
}

/// The value of `rates` in `[step]` for these parts; nothing if all of them step once in a macro step.
pub fn rates_value<'a>(rates: impl IntoIterator<Item = (&'a str, Rate)>) -> Option<String> {
    let written = |rate: Rate| match rate {
        Rate::Base => None,
        Rate::Every(count) => Some(count.to_string()),
        Rate::Parts(parts) => Some(format!("\"1/{parts}\"")),
    };
    let pairs: Vec<_> = rates.into_iter().filter_map(|(part, rate)| Some((part, written(rate)?))).collect();
    (!pairs.is_empty()).then(|| inline_text(pairs))
}
