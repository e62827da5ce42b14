//! `stop_when` in `[system]`: conditions that end a run before its stop time, without a failure.

use costep_core::{Code, Error};

use crate::document::Origin;
use crate::problems::{Problems, shortened};
use crate::section::Section;
use crate::signals::{Side, Signals};

/// A condition on an output, looked at in every communication point.
#[derive(Clone, Debug, PartialEq)]
pub struct StopCondition {
    /// As it is written: `tank.level > 3`.
    pub text: String,
    /// Index into y.
    output: usize,
    relation: Relation,
    limit: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Relation {
    Above,
    NotBelow,
    Below,
    NotAbove,
    Equal,
}

/// Longer ones first: `>=` is not `>`.
const RELATIONS: [(&str, Relation); 5] = [
    (">=", Relation::NotBelow),
    ("<=", Relation::NotAbove),
    ("==", Relation::Equal),
    (">", Relation::Above),
    ("<", Relation::Below),
];

impl StopCondition {
    /// Whether it holds for these outputs.
    #[inline]
    pub fn holds(&self, outputs: &[f64]) -> bool {
        let value = outputs[self.output];
        match self.relation {
            Relation::Above => value > self.limit,
            Relation::NotBelow => value >= self.limit,
            Relation::Below => value < self.limit,
            Relation::NotAbove => value <= self.limit,
            Relation::Equal => value == self.limit,
        }
    }
}

/// Reads all conditions; wrong ones are reported and left out.
pub(crate) fn read(
    system: &Section<'_>,
    signals: &Signals,
    problems: &mut Problems<'_>,
) -> Vec<StopCondition> {
    let texts = system.texts("stop_when", problems).unwrap_or_default();
    texts.into_iter().filter_map(|(text, origin)| read_one(text, origin, signals, problems)).collect()
}

/// What to write in the place of something that is no condition.
fn remedy(text: &str) -> String {
    const FORM: &str = "write an output, one of > >= < <= ==, and a number";
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.iter().any(|word| matches!(word.to_lowercase().as_str(), "and" | "&&" | "or" | "||")) {
        return format!("{FORM}, in each item of the list: the run ends where one of them holds");
    }
    if let Some((name, limit)) = text.split_once("=>").or_else(|| text.split_once("=<")) {
        let sign = if text.contains("=>") { ">=" } else { "<=" };
        return format!("write \"{} {sign} {}\"", shortened(name.trim()), shortened(limit.trim()));
    }
    match (text.split_once('='), &words[..]) {
        (Some((name, limit)), _) if !text.contains(['<', '>']) && !limit.starts_with('=') => {
            format!("write \"{} == {}\"", shortened(name.trim()), shortened(limit.trim()))
        }
        (_, [name, sign, limit, _unit]) if limit.parse::<f64>().is_ok() => format!(
            "numbers are written without a unit, in that of the output: \"{} {sign} {limit}\"",
            shortened(name)
        ),
        _ => format!("{FORM}: \"tank.level > 3\""),
    }
}

fn read_one(
    text: &str,
    origin: Origin,
    signals: &Signals,
    problems: &mut Problems<'_>,
) -> Option<StopCondition> {
    let is_reversed = text.contains("=>") || text.contains("=<");
    let split = RELATIONS
        .iter()
        .filter(|_| !is_reversed)
        .find_map(|(sign, relation)| Some((text.split_once(sign)?, *relation)));
    let read = split.and_then(|((name, limit), relation)| {
        let limit = match limit.trim() {
            "true" => Some(1.0),
            "false" => Some(0.0),
            number => number.parse::<f64>().ok().filter(|limit| limit.is_finite()),
        };
        Some((name.trim(), relation, limit?))
    });
    let Some((name, relation, limit)) = read else {
        problems.report(origin, || {
            Error::new(Code::BadValue, format!("`{}` is not a condition", shortened(text))).hint(remedy(text))
        });
        return None;
    };
    if name == "time" || name == "t" {
        problems.report(origin, || {
            Error::new(Code::BadValue, "conditions are on outputs, not on time")
                .hint(format!("a run ends at a time by `stop` in [system]: `stop = \"{limit} s\"`"))
        });
        return None;
    }
    let output = signals.find(Side::Output, name, origin, problems).ok()?;
    Some(StopCondition { text: text.trim().to_owned(), output, relation, limit })
}
