//! What pages about many runs have in common.

use costep_project::{Axis as Varying, Varied, level_text};
use costep_report::{Section, Table, TableCell, Tone};

use super::words::wall;
use crate::campaign::{Campaign, CampaignRow, VERDICTS, failures};

/// Levels of a factor that are listed.
const MOST_LEVELS: usize = 12;

/// What was varied, and how the runs ended.
pub(super) fn runs_section(campaign: &Campaign, rows: &[CampaignRow]) -> Section {
    let plan = campaign.plan();
    let levels = |axis: &Varying| {
        let texts: Vec<String> = axis.factor.levels.iter().map(|level| level_text(axis, level)).collect();
        match texts.len() > MOST_LEVELS {
            true => format!("{} ... {}", texts[..MOST_LEVELS - 1].join(", "), texts[texts.len() - 1]),
            false => texts.join(", "),
        }
    };
    let row = |axis: &Varying| -> Vec<TableCell> {
        let kind = match axis.varied {
            Varied::Method => "method",
            Varied::Option => "option of the method",
            Varied::Parameter => "parameter",
            Varied::Step => "macro step",
        };
        let count = axis.factor.levels.len().to_string();
        vec![axis.factor.name.as_str().into(), kind.into(), count.into(), levels(axis).into()]
    };
    let factors = Table::new("What was varied", ["factor", "what it is", "levels", "values"]);
    let ended = VERDICTS.iter().filter_map(|(verdict, word)| {
        let count = rows.iter().filter(|row| row.verdict == *verdict).count();
        (count > 0).then(|| (format!("Runs that are {word}"), count.to_string()))
    });
    let method = match plan.axes.iter().any(|axis| axis.varied == Varied::Method) {
        true => None,
        false => Some(("Method".to_owned(), method(campaign))),
    };
    let time: f64 = rows.iter().map(|row| row.wall_s).sum();
    let facts = [("Runs".to_owned(), rows.len().to_string()), ("Time in all runs".into(), wall(time))];
    let section = Section::new("Runs").facts(facts.into_iter().chain(method).chain(ended));
    let section = failures(rows).iter().fold(section, |section, (code, count)| {
        let runs = if *count == 1 { "run" } else { "runs" };
        section.remark(Tone::Bad, format!("{count} {runs} failed with {code}: `costep explain {code}`"))
    });
    section.table(factors.rows(plan.axes.iter().map(row)))
}

/// The method of all runs where none is varied.
pub(super) fn method(campaign: &Campaign) -> String {
    let own = || campaign.system().project().groups[0].method.label();
    campaign.plan().method.clone().unwrap_or_else(own)
}

/// A share in percent.
pub(super) fn share(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
