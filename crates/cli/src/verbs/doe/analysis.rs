//! What follows from the rows of a full plan.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use costep::{Campaign, Choice, Error, Factor, PlanAnalysis, level_text};
use costep_experiments::{effect_map, histograms, interactions, main_effects, sorted_errors};
use costep_results::write_file;
use serde_json::{Map, Value, json};

use crate::phrases::count;
use crate::style::FAINT;
use crate::table::{Cell, render};

/// Effects that are printed.
const SHOWN: usize = 12;

/// Effects, the sorted runs and the optimal set, as files, text and JSON.
pub(super) struct Analysis(pub(super) PlanAnalysis);

impl Analysis {
    /// Writes the effects, the figures and the optimal set. Gives the files.
    pub(super) fn write(&self, campaign: &Campaign, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        let (plan, measure) = (campaign.factorial(), campaign.plan().analysis.error);
        let (title, results) = (campaign.plan().name.as_str(), (measure, &self.0.errors[..]));
        let mut files: Vec<(&str, String)> = vec![
            ("effects.csv", self.csv(campaign)),
            ("effects.svg", effect_map(title, plan, &self.0.variance).to_svg()),
            ("main-effects.svg", main_effects(title, plan, results).to_svg()),
            ("sorted.svg", sorted_errors(title, results, &self.0.sorting).to_svg()),
            ("histograms.svg", histograms(title, plan, &self.0.sorting).to_svg()),
        ];
        if plan.factors().len() > 1 {
            let figure = interactions(title, (plan, &self.0.variance), results);
            files.push(("interactions.svg", figure.to_svg()));
        }
        let optimum: Vec<_> = self.0.optimum.iter().map(|choice| choice.value.clone()).collect();
        files.push(("optimum.toml", campaign.project_with(&optimum, Some(folder))?));
        let write = |(name, text): (&str, String)| {
            let path = folder.join(name);
            write_file(&path, text.as_bytes()).map(|()| path)
        };
        files.into_iter().map(write).collect()
    }

    fn csv(&self, campaign: &Campaign) -> String {
        let mut text =
            String::from("effect,degrees_of_freedom,sum_of_squares,mean_square,share,share_of_squares\n");
        for effect in &self.0.variance.effects {
            let label = effect.label(campaign.factorial()).replace('"', "\"\"");
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "\"{label}\",{},{:e},{:e},{:e},{:e}",
                effect.degrees,
                effect.sum_of_squares,
                effect.mean_square,
                effect.share,
                effect.share_of_squares
            );
        }
        text
    }

    /// Adds all to the object for machines.
    pub(super) fn add_to(&self, campaign: &Campaign, object: &mut Value) {
        let plan = campaign.factorial();
        let effect = |effect: &costep_experiments::Effect| {
            let (first, second) = effect.factors;
            let name = |factor: usize| plan.factors()[factor].name.clone();
            json!({
                "factors": if effect.is_main() { vec![name(first)] } else { vec![name(first), name(second)] },
                "degrees_of_freedom": effect.degrees,
                "sum_of_squares": effect.sum_of_squares,
                "mean_square": effect.mean_square,
                "share": effect.share,
                "share_of_squares": effect.share_of_squares,
            })
        };
        object["mean"] = json!(self.0.variance.mean);
        object["sum_of_squares"] = json!(self.0.variance.total);
        object["rest"] = json!({
            "sum_of_squares": self.0.variance.rest,
            "degrees_of_freedom": self.0.variance.rest_degrees,
        });
        object["effects"] = self.0.variance.effects.iter().map(effect).collect();
        object["least_error"] = json!(self.0.least());
        object["nearly_optimal"] = json!(self.0.sorting.near);
        object["best"] = json!(self.0.sorting.order.first());
        let choice = |(factor, choice): (&Factor, &Choice)| {
            let value = match &choice.value {
                costep_core::Value::Bool(value) => json!(value),
                costep_core::Value::Integer(value) => json!(value),
                costep_core::Value::Real(value) => json!(value),
                costep_core::Value::Text(value) => json!(value),
            };
            (factor.name.clone(), json!({ "value": value, "mean": choice.mean, "support": choice.support }))
        };
        let optimum: Map<String, Value> = plan.factors().iter().zip(&self.0.optimum).map(choice).collect();
        object["optimum"] = Value::Object(optimum);
    }

    /// The effects and the optimal set for people.
    pub(super) fn text(&self, campaign: &Campaign) -> String {
        let (plan, axes) = (campaign.factorial(), &campaign.plan().axes);
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        let ranked = self.0.variance.ranked();
        let row = |effect: &&costep_experiments::Effect| {
            vec![
                Cell::new(effect.label(plan)),
                Cell::new(effect.degrees.to_string()),
                Cell::new(format!("{:.3e}", effect.sum_of_squares)),
                Cell::new(format!("{:.3e}", effect.mean_square)),
                Cell::new(percent(effect.share)),
                Cell::styled(percent(effect.share_of_squares), FAINT),
            ]
        };
        let rows: Vec<_> = ranked.iter().take(SHOWN).map(row).collect();
        let header = ["effect", "dof", "sum of squares", "mean square", "share", "of the sums"];
        let mut text = render(&header, &rows);
        if ranked.len() > SHOWN {
            let others: f64 = ranked[SHOWN..].iter().map(|effect| effect.share).sum();
            text += &format!("  {} more: {} together\n", ranked.len() - SHOWN, percent(others));
        }
        let spec = campaign.plan().analysis;
        text += &format!(
            "\n  {} nearly optimal: {} from {:.3e} on\n\n",
            count(self.0.sorting.near, "run"),
            spec.error,
            self.0.least().unwrap_or(f64::NAN)
        );
        let choices = axes.iter().zip(&self.0.optimum).map(|(axis, choice)| {
            vec![
                Cell::new(&axis.factor.name),
                Cell::new(level_text(axis, &choice.value)),
                Cell::new(if choice.mean.is_some() { "weighted mean" } else { "most frequent" }),
                Cell::styled(format!("{:.0} %", 100.0 * choice.support), FAINT),
            ]
        });
        text + &render(&["factor", "optimum", "", "of these runs"], &choices.collect::<Vec<_>>())
    }
}
