//! The page of a design of experiments: effects, interactions, the best runs and what they have in common.

use costep_experiments::{Effect, histograms, interactions, main_effects, sorted_errors};
use costep_project::{Axis as Varying, level_text};
use costep_report::{Axis, HeatColours, HeatMap, Page, Places, Section, Table, TableCell, Tone};
use serde_json::Value;

use super::how_to_reproduce;
use super::plan::runs_section;
use super::shared::system_section;
use crate::campaign::{Campaign, CampaignRow, PlanAnalysis};

/// What the page of a plan is made from.
pub struct DoePage<'a> {
    /// What was run.
    pub campaign: &'a Campaign,
    /// A row per run.
    pub rows: &'a [CampaignRow],
    /// What follows from them; nothing where runs have no error.
    pub analysis: Option<&'a PlanAnalysis>,
    /// The words that made it.
    pub command: &'a Value,
}

impl DoePage<'_> {
    /// The page.
    pub fn page(&self) -> Page {
        let plan = self.campaign.plan();
        let page = Page::new(&plan.name)
            .subtitle(format!("{} runs of {}", self.rows.len(), self.campaign.system().name()))
            .footer(format!("Made by costep {}.", env!("CARGO_PKG_VERSION")));
        let page = match self.analysis {
            None => page.verdict(
                Tone::Bad,
                "not analysed",
                "Some runs have no error: effects and optimum cannot be computed.",
            ),
            Some(found) => page
                .verdict(Tone::Neutral, self.strongest(found), self.sentence(found))
                .section(self.effect_section(found))
                .section(self.main_section(found))
                .section(self.pair_section(found))
                .section(self.best_section(found)),
        };
        let system = Some(self.campaign.system());
        page.section(runs_section(self.campaign, self.rows))
            .section(system_section(system))
            .section(how_to_reproduce(system, self.command))
    }

    /// The effect with the greatest share.
    fn strongest(&self, found: &PlanAnalysis) -> String {
        let strongest = found.variance.ranked().into_iter().next();
        strongest.map_or("no effect".into(), |effect| {
            format!("{}: {}", effect.label(self.campaign.factorial()), percent(effect.share))
        })
    }

    fn sentence(&self, found: &PlanAnalysis) -> String {
        let ranked = found.variance.ranked();
        let label = |effect: &&&Effect| {
            format!("{} ({})", effect.label(self.campaign.factorial()), percent(effect.share))
        };
        let next: Vec<String> = ranked.iter().skip(1).take(2).map(|effect| label(&effect)).collect();
        let diverged = self.rows.iter().filter(|row| row.has_diverged()).count();
        let then = if next.is_empty() { String::new() } else { format!("; then {}", next.join(" and ")) };
        format!(
            "has the greatest part in the mean squares of the error{then}. {} of {} runs diverged; the least error is {:.3e}, and {} \
             runs are nearly as good.",
            diverged,
            self.rows.len(),
            found.least().unwrap_or(f64::NAN),
            found.sorting.near
        )
    }

    fn effect_section(&self, found: &PlanAnalysis) -> Section {
        let (plan, ranked) = (self.campaign.factorial(), found.variance.ranked());
        let row = |effect: &&Effect| -> Vec<TableCell> {
            vec![
                effect.label(plan).into(),
                effect.degrees.to_string().into(),
                format!("{:.3e}", effect.sum_of_squares).into(),
                format!("{:.3e}", effect.mean_square).into(),
                percent(effect.share).into(),
                percent(effect.share_of_squares).into(),
            ]
        };
        let head =
            ["effect", "degrees of freedom", "sum of squares", "mean square", "share", "share of the sums"];
        let table =
            Table::new("Effects of factors and of pairs of them on the error, the greatest first", head);
        let rest = [
            ("Mean error".to_owned(), format!("{:.3e}", found.variance.mean)),
            ("Sum of squares".into(), format!("{:.3e}", found.variance.total)),
            (
                "Not explained (three factors and more)".into(),
                format!("{:.3e}, {} degrees of freedom", found.variance.rest, found.variance.rest_degrees),
            ),
        ];
        let names: Vec<String> = plan.factors().iter().map(|factor| factor.name.clone()).collect();
        let count = names.len();
        // The first factor is on top.
        let cells = (0..count).rev().flat_map(|row| (0..count).map(move |column| (row, column)));
        let share = |(row, column): (usize, usize)| {
            found.variance.effect(row, column).map_or(f64::NAN, |effect| 100.0 * effect.share)
        };
        Section::new("Effects")
            .heat_map(HeatMap {
                title: "Shares of the mean squares".into(),
                x: Axis::default(),
                y: Axis::default(),
                columns: Places::Names(names.clone()),
                rows: Places::Names(names.into_iter().rev().collect()),
                layers: vec![cells.map(share).collect()],
                chosen_by: Vec::new(),
                label: "percent; factors alone on the diagonal, pairs beside it".into(),
                colours: HeatColours::Linear,
            })
            .table(table.rows(ranked.iter().map(row)))
            .facts(rest)
    }

    fn main_section(&self, found: &PlanAnalysis) -> Section {
        let measure = self.campaign.plan().analysis.error;
        Section::new("Main effects")
            .text("Means over all other factors, on one scale: how far a curve moves is what counts.")
            .plot(main_effects("Main effects", self.campaign.factorial(), (measure, &found.errors)))
    }

    fn pair_section(&self, found: &PlanAnalysis) -> Section {
        let (section, plan) = (Section::new("Interactions"), self.campaign.factorial());
        if plan.factors().len() < 2 {
            return section;
        }
        let results = (self.campaign.plan().analysis.error, &found.errors[..]);
        section
            .text("Means over the levels of two factors, the strongest pairs first. Parallel curves do not interact.")
            .plot(interactions("Interactions", (plan, &found.variance), results))
    }

    fn best_section(&self, found: &PlanAnalysis) -> Section {
        let (plan, spec) = (self.campaign.factorial(), self.campaign.plan().analysis);
        let row = |(axis, choice): (&Varying, &costep_experiments::Choice)| -> Vec<TableCell> {
            let by = if choice.mean.is_some() { "weighted mean" } else { "most frequent" };
            vec![
                axis.factor.name.as_str().into(),
                level_text(axis, &choice.value).into(),
                by.into(),
                format!("{:.0} %", 100.0 * choice.support).into(),
            ]
        };
        let axes = &self.campaign.plan().axes;
        let table = Table::new("The optimal set", ["factor", "optimum", "chosen by", "of the best runs"])
            .rows(axes.iter().zip(&found.optimum).map(row));
        let section = Section::new("The best runs")
            .table(table)
            .plot(sorted_errors("Errors in ascending order", (spec.error, &found.errors), &found.sorting))
            .text(format!("Levels among the {} nearly optimal runs:", found.sorting.near))
            .plot(histograms("Histograms", plan, &found.sorting));
        let levels: Vec<_> = found.optimum.iter().map(|choice| choice.value.clone()).collect();
        match self.campaign.project_with(&levels, None) {
            Ok(text) => section.code("The optimal set as a project", text),
            Err(_) => section,
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}
