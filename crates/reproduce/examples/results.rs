//! Writes what came out into docs/reproduce.md: its tables of rules and of results.
//!
//! ```console
//! $ costep reproduce all --json > results.json
//! $ cargo run -p costep-reproduce --example results results.json
//! ```
//!
//! With the object of one study (`costep reproduce ID --json`) only its table is replaced.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::{env, error, fs};

use costep_reproduce::{Kind, STUDIES, Study, Verdict};
use serde_json::Value;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reproduce.md");
const RULES: [&str; 2] = ["<!-- rules -->\n", "<!-- end of rules -->"];
const RESULTS: [&str; 2] = ["<!-- results -->\n", "<!-- end of results -->"];
/// One of each kind.
const KINDS: [Kind; 14] = [
    Kind::Number,
    Kind::About,
    Kind::Change,
    Kind::OnGrid(1.0),
    Kind::AtMost,
    Kind::Less,
    Kind::MuchLess,
    Kind::Alike,
    Kind::SameMagnitude,
    Kind::Accurate,
    Kind::Inaccurate,
    Kind::Stable,
    Kind::Unstable,
    Kind::Property,
];

fn main() -> Result<(), Box<dyn error::Error>> {
    let mut document = fs::read_to_string(DOCUMENT)?;
    let mut sections = sections(between(&document, RESULTS)?);
    for path in env::args().skip(1) {
        let result: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
        let studies = result["studies"].as_array().cloned().unwrap_or_else(|| vec![result]);
        for study in &studies {
            let id = study["id"].as_str().ok_or("no study")?;
            if study["quick"] == true {
                return Err(format!("`{id}` was run with --quick").into());
            }
            sections.insert(id.into(), section(study)?);
        }
    }
    let results = overview(&sections)
        + &STUDIES.iter().filter_map(|study| sections.get(study.id)).cloned().collect::<String>();
    document = replaced(&document, RESULTS, &results)?;
    document = replaced(&document, RULES, &rules())?;
    fs::write(DOCUMENT, document)?;
    Ok(())
}

fn between<'a>(text: &'a str, [from, to]: [&str; 2]) -> Result<&'a str, String> {
    let (_, rest) = text.split_once(from).ok_or_else(|| format!("no `{from}`"))?;
    Ok(rest.split_once(to).ok_or_else(|| format!("no `{to}`"))?.0)
}

fn replaced(text: &str, marks: [&str; 2], by: &str) -> Result<String, String> {
    let old = format!("{}{}{}", marks[0], between(text, marks)?, marks[1]);
    Ok(text.replacen(&old, &format!("{}{by}{}", marks[0], marks[1]), 1))
}

/// Tables that are there already, by study.
fn sections(text: &str) -> BTreeMap<String, String> {
    let one = |section: &str| {
        let id = section.split('`').nth(1)?;
        Some((id.to_owned(), format!("### {}\n\n", section.trim_end())))
    };
    text.split("### ").skip(1).filter_map(one).collect()
}

fn rules() -> String {
    KINDS.iter().fold(String::new(), |mut text, kind| {
        let _ = writeln!(text, "- {}", kind.rule());
        text
    })
}

fn section(study: &Value) -> Result<String, String> {
    let word = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().replace('|', "\\|");
    let mut text = format!(
        "### `{}`\n\n| claim | where | paper | here | verdict |\n|---|---|---|---|---|\n",
        word(study, "id")
    );
    for claim in study["claims"].as_array().ok_or("no claims")? {
        let cells = ["claim", "place", "claimed", "reproduced", "verdict"].map(|key| word(claim, key));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text.push('\n');
    for remark in study["remarks"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let _ = writeln!(text, "{remark}\n");
    }
    Ok(text)
}

/// How many claims of each study reproduce.
fn overview(sections: &BTreeMap<String, String>) -> String {
    let verdicts = [Verdict::Reproduces, Verdict::InTrend, Verdict::DoesNot];
    let count = |study: &Study| {
        let section = sections.get(study.id)?;
        Some(verdicts.map(|verdict| section.matches(&format!("| {} |\n", verdict.text())).count()))
    };
    let mut text =
        String::from("| study | claims | reproduce | in trend | do not |\n|---|---|---|---|---|\n");
    let mut sums = [0; 3];
    for (study, counts) in STUDIES.iter().filter_map(|study| Some((study, count(study)?))) {
        let _ = writeln!(text, "| {} | {} |", study.id, cells(counts));
        sums = std::array::from_fn(|k| sums[k] + counts[k]);
    }
    let _ = writeln!(text, "| **all** | {} |\n", cells(sums));
    text
}

fn cells(counts: [usize; 3]) -> String {
    let all = counts.iter().sum::<usize>();
    [all, counts[0], counts[1], counts[2]].map(|count| count.to_string()).join(" | ")
}
