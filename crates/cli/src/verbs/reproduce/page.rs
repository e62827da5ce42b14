//! The page of all that was reproduced, made of what is in the folder: of this run or of an earlier one.

use costep::pages::how_to_reproduce;
use costep_report::{Page, Section, Table, TableCell, Tone};
use costep_reproduce::{Study, Verdict};
use serde_json::Value;

use super::VERDICTS;
use crate::verbs::report::command;

/// The page so far.
#[derive(Default)]
pub(super) struct StudyPage {
    sections: Vec<Section>,
    overview: Vec<Vec<TableCell>>,
    counts: [usize; 3],
    quick: usize,
}

impl StudyPage {
    /// Adds a study by its object for machines and its picture.
    pub(super) fn add(&mut self, study: &Study, result: &Value, svg: String) {
        let empty = Vec::new();
        let claims = result["claims"].as_array().unwrap_or(&empty);
        let counts =
            VERDICTS.map(|verdict| claims.iter().filter(|claim| claim["verdict"] == verdict.text()).count());
        self.counts.iter_mut().zip(counts).for_each(|(sum, own)| *sum += own);
        let is_quick = result["quick"] == true;
        self.quick += usize::from(is_quick);
        let numbers = counts.map(|number| TableCell::from(number.to_string()));
        let names = [study.id, study.title, study.source].map(TableCell::from);
        self.overview.push(names.into_iter().chain(numbers).collect());
        let head = ["claim", "place", "paper", "reproduced", "verdict", "judged by"];
        // Two studies may be of the same place.
        let title = format!("{}: claims of {}", study.id, study.source);
        let table = Table::new(title, head).rows(claims.iter().map(row));
        // Headings are links at the top of the page, and there are many of them.
        let what = format!("{}, {}.", study.title, study.source);
        let mut section = Section::new(study.id).text(what).text(study.setup);
        if is_quick {
            section = section.remark(Tone::Doubtful, "A quick look, with a coarser grid than the paper's.");
        }
        section = section.table(table).picture(study.title, svg);
        let remarks = result["remarks"].as_array().unwrap_or(&empty).iter().filter_map(Value::as_str);
        self.sections.push(remarks.fold(section, |section, remark| section.text(remark)));
    }

    pub(super) fn page(self) -> Page {
        let [all, trend, not] = self.counts;
        let tone = if not == 0 { Tone::Good } else { Tone::Doubtful };
        let quick = match (self.quick, self.sections.len()) {
            (0, _) => String::new(),
            (quick, all) if quick == all => "; a quick look, with coarser grids".into(),
            (quick, all) => format!("; {quick} of {all} studies are a quick look, with coarser grids"),
        };
        let sentence =
            format!("{} claims: {all} reproduce, {trend} in trend, {not} do not{quick}.", all + trend + not);
        let head = ["study", "what", "source", "reproduce", "in trend", "do not"];
        let overview = Table::new("Claims by study", head).rows(self.overview);
        let page = Page::new("Published results, computed again")
            .footer(format!("Made by costep {}.", env!("CARGO_PKG_VERSION")))
            .verdict(tone, format!("{all} of {}", all + trend + not), sentence)
            .section(Section::new("All studies").table(overview));
        self.sections.into_iter().fold(page, Page::section).section(how_to_reproduce(None, &command()))
    }
}

/// A claim as a row of the table.
fn row(claim: &Value) -> Vec<TableCell> {
    let text = |key: &str| claim[key].as_str().unwrap_or_default();
    let tone =
        VERDICTS.into_iter().find(|verdict| verdict.text() == text("verdict")).map_or(Tone::Neutral, tone);
    let cells = ["claim", "place", "claimed", "reproduced"].map(|key| TableCell::from(text(key)));
    let judged = [TableCell::toned(text("verdict"), tone), text("tolerance").into()];
    cells.into_iter().chain(judged).collect()
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Reproduces => Tone::Good,
        Verdict::InTrend => Tone::Doubtful,
        Verdict::DoesNot => Tone::Bad,
    }
}
