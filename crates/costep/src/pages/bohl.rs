//! The page about the stability of a method that learns: Bohl exponents over windows of macro steps.

use costep_analysis::{BohlExponent, Plant, RecordedLoop};
use costep_core::quantity::format_time;
use costep_report::{Axis, Figure, Look, Page, Panel, Section, Series, Table, TableCell, Tone};
use serde_json::Value;

use super::how_to_reproduce;
use super::shared::system_section;
use crate::system::System;

/// What the page is made from.
pub struct BohlPage<'a> {
    /// The system.
    pub system: &'a System,
    /// The maps of all macro steps of a run.
    pub recorded: &'a RecordedLoop,
    /// Their exponents, one per window.
    pub exponents: &'a [BohlExponent],
    /// The words that made it.
    pub command: &'a Value,
}

impl BohlPage<'_> {
    /// The page.
    pub fn page(&self) -> Page {
        let project = self.system.project();
        let (method, step) = (project.groups[0].method.label(), project.model.experiment.step);
        let decays = self.exponents.iter().filter(|found| found.beta < 1.0).map(|found| found.window).min();
        let page = match decays {
            Some(window) => {
                let text = match self.recorded.plant {
                    Plant::Local => format!(
                        "Every small perturbation of this run is smaller {window} macro steps later, by the subsystems \
                         linearised at every step."
                    ),
                    Plant::Identified => format!(
                        "In the identified models every perturbation is smaller {window} macro steps later. Identification \
                         errors, and dynamics not visible in outputs, are not judged."
                    ),
                };
                Page::new(format!("Stability of {}", project.name)).verdict(Tone::Good, "decays", text)
            }
            None => Page::new(format!("Stability of {}", project.name)).verdict(
                Tone::Doubtful,
                "not shown",
                "No window has a factor below one; longer ones may.",
            ),
        };
        page.subtitle(format!("method {method}, macro step {}", format_time(step)))
            .footer(format!("Made by costep {}.", env!("CARGO_PKG_VERSION")))
            .section(self.exponent_section(step))
            .section(system_section(Some(self.system)))
            .section(how_to_reproduce(Some(self.system), self.command))
    }

    fn exponent_section(&self, step: f64) -> Section {
        let points = self.exponents.iter().map(|found| (found.window as f64, found.beta)).collect();
        let x = Axis::new("window in macro steps").log();
        let y = Axis::new("factor over the window, at worst");
        // Within a decade a logarithmic axis has hardly a number.
        let is_flat = self.exponents.iter().all(|found| (0.1..10.0).contains(&found.beta));
        let panel = Panel::new(x, if is_flat { y } else { y.log() })
            .title("Growth of perturbations")
            .level("the border", 1.0)
            .with(Series::new("beta", points).look(Look::Marked));
        let experiment = &self.system.project().model.experiment;
        let row = |found: &BohlExponent| -> Vec<TableCell> {
            let tone = if found.beta < 1.0 { Tone::Good } else { Tone::Bad };
            let worst = experiment.time(self.recorded.first + found.worst as u64);
            vec![
                found.window.to_string().into(),
                TableCell::toned(format!("{:.4}", found.beta), tone),
                format!("{:+.3e} 1/s", found.rate(step)).into(),
                format!("{worst:.4} s").into(),
            ]
        };
        let head = ["window", "factor", "ln(factor) / h", "worst from"];
        let facts = [
            ("Macro steps".to_owned(), self.recorded.steps.len().to_string()),
            ("States".into(), self.recorded.units.len().to_string()),
            ("Subsystems as".into(), self.recorded.plant.text().into()),
        ];
        Section::new("Bohl exponents")
            .text(
                "The method learns, so its map is another one at every step: judged are products of these maps over windows \
                 of steps, from any time of the run on.",
            )
            .facts(facts)
            .plot(Figure::new("Growth").panel(panel))
            .table(Table::new("Windows", head).rows(self.exponents.iter().map(row)))
    }
}
