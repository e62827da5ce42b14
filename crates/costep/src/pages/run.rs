//! The page of one run.

use costep_core::quantity::format_time;
use costep_report::{
    Axis, Colour, Figure, Look, Page, Panel, Section, Series, Table, TableCell, Tone, panels,
};
use serde_json::Value;

use super::reproduce;
use super::shared::{cost_section, system_section};
use super::signals::{Signal, Signals};
use super::words::{number, reference, tone, two_digits, verdict_sentence, wall};
use crate::kinds::{Kind, each_kind, more_of};
use crate::recorder::{STEP, step_text, step_words};
use crate::solution::Solution;
use crate::system::System;

/// Columns of methods in one plot; more are hard to tell apart.
const MOST_CURVES: usize = 6;
/// Up to so many points are marked, so that nobody takes the lines between them for the solution.
const FEW: usize = 80;
/// A run that leaves the range of the reference by more than this many ranges is cut to a part of it.
const FAR_BEYOND: f64 = 4.0;

/// What the page of a run is made from.
#[derive(Clone, Copy)]
pub struct RunPage<'a> {
    /// The system.
    pub system: Option<&'a System>,
    /// The run object of the JSON contract; null if the run did not come to its end.
    pub outcome: &'a Value,
    /// What was recorded.
    pub signals: &'a Signals,
    /// What to set beside it.
    pub reference: Option<&'a Solution>,
    /// For a run that goes on: where its page asks for news.
    pub live: Option<&'a str>,
}

impl RunPage<'_> {
    /// The page.
    pub fn page(&self) -> Page {
        let title = self.metadata("system").or(self.outcome["system"].as_str()).unwrap_or("run");
        let (tone, word, sentence) = self.verdict();
        let page = Page::new(title)
            .subtitle(self.subtitle())
            .footer(format!("Made by costep {}.", env!("CARGO_PKG_VERSION")))
            .verdict(tone, word, sentence)
            .section(self.overview())
            .section(system_section(self.system))
            .section(self.signal_section())
            .section(self.connection_section())
            .section(self.method_section())
            .section(cost_section(self.outcome, self.system))
            .section(reproduce::section(self.system, &self.signals.metadata, &self.outcome["command"]));
        match self.live {
            Some(address) => page.live(address),
            None => page,
        }
    }

    /// What a page of a run that goes on says of it.
    pub fn status(&self) -> String {
        let now = self.signals.span.map_or(0.0, |(_, last)| last);
        let stop = self.system.map(|system| system.project().model.experiment.stop);
        let of = stop.map_or(String::new(), |stop| format!(" of {}", format_time(stop)));
        format!("t = {}{of}, {} rows", format_time(rounded(now)), self.signals.rows)
    }

    fn metadata(&self, key: &str) -> Option<&str> {
        self.signals.metadata.get(key).map(String::as_str)
    }

    fn subtitle(&self) -> String {
        let method = self.outcome["method"].as_str().or(self.metadata("method"));
        // The step of the outcome is a mean where lengths vary.
        let of_system = || Some(step_text(self.system?.project(), self.outcome["step"].as_f64()?));
        let step = self.metadata(STEP).map(Into::into).or_else(of_system).map(|step| step_words(&step));
        let words = [method.map(|method| format!("method {method}")), step];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn verdict(&self) -> (Tone, String, String) {
        if self.live.is_some() {
            return (Tone::Neutral, "running".into(), self.status());
        }
        match self.outcome["verdict"].as_str() {
            Some(verdict) => (tone(verdict), verdict.into(), verdict_sentence(self.outcome)),
            None => {
                let last = self.signals.span.map_or(0.0, |(_, last)| last);
                let text = format!(
                    "The run did not come to its end; its recording ends at t = {}.",
                    format_time(rounded(last))
                );
                (Tone::Doubtful, "not judged".into(), text)
            }
        }
    }

    fn overview(&self) -> Section {
        let run = self.outcome;
        let mut facts: Vec<(String, String)> = Vec::new();
        let mut fact =
            |name: &str, text: Option<String>| facts.extend(text.map(|text| (name.to_owned(), text)));
        fact("Method", run["chosen"].as_str().map(Into::into));
        fact("Models of the parts", run["model_source"].as_str().map(Into::into));
        fact("End time", run["t_end"].as_f64().map(format_time));
        fact("Macro steps", run["macro_steps"].as_u64().map(|steps| steps.to_string()));
        fact("Length of steps", lengths(&run["control"]));
        fact("Steps done again", run["control"]["rejected_steps"].as_u64().map(|steps| steps.to_string()));
        fact("Solver of native parts", run["solver"].as_str().map(Into::into));
        fact("Reference", reference(&run["reference"]));
        fact("Judged by", run["judged_by"].as_str().map(|by| judged_by(by).into()));
        fact("Wall time", run["wall_s"].as_f64().map(wall));
        fact("Speed", run["real_time_factor"].as_f64().map(|factor| format!("{factor:.3} times real time")));
        let mut section = Section::new("At a glance");
        if !facts.is_empty() {
            section = section.facts(facts);
        }
        for error in run["errors"]
            .as_array()
            .into_iter()
            .flatten()
            .chain([&run["error"]])
            .filter(|error| error.is_object())
        {
            section = section.remark(Tone::Bad, message(error));
        }
        section = with_warnings(section, &run["system_warnings"]);
        for warning in run["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            section = section.remark(Tone::Doubtful, warning);
        }
        match &self.signals.damage {
            Some(damage) => section.remark(Tone::Bad, damage.to_string()),
            None => section,
        }
    }

    fn signal_section(&self) -> Section {
        let mut section = Section::new("Signals");
        if let Some(reference) = self.reference {
            section = section.text(format!("Dashed: {}.", reference.what));
        }
        let mut figure = Figure::new("Outputs");
        let outputs = &self.signals.outputs;
        let traits: Vec<_> = outputs.iter().map(Signal::traits).collect();
        for group in panels(&traits) {
            let signals: Vec<&Signal> = group.iter().map(|k| &outputs[*k]).collect();
            figure = figure.panel(self.panel(traits[group[0]].unit, &signals));
        }
        section = section.plot(figure);
        let more = self.signals.more_outputs;
        if more > 0 {
            section = section.text(format!(
                "{more} more outputs are in the recording: `costep plot --signals` draws them."
            ));
        }
        section.plot(self.error_figure()).table(self.error_table())
    }

    fn panel(&self, unit: &str, signals: &[&Signal]) -> Panel {
        let curves =
            signals.iter().filter_map(|signal| Some(self.reference?.points(&signal.name)?.collect()));
        let references: Vec<Vec<(f64, f64)>> = curves.collect();
        let label = if let [signal] = signals { signal.name.as_str() } else { "" };
        let label = match (label, unit) {
            ("", "") => "without unit".into(),
            ("", unit) => format!("in {unit}"),
            (label, "") => label.into(),
            (label, unit) => format!("{label} in {unit}"),
        };
        let mut y = Axis::new(label);
        let all = signals.iter().flat_map(|signal| signal.points.iter());
        if let (Some((low, high)), Some((least, most))) = (range(references.iter().flatten()), range(all)) {
            let size = high - low;
            if size > 0.0 && (least < low - FAR_BEYOND * size || most > high + FAR_BEYOND * size) {
                y = y.range(low - size, high + size);
            }
        }
        let mut panel = Panel::new(Axis::new("time").unit("s"), y);
        for signal in signals {
            panel = panel.with(Series::new(&signal.name, signal.points.clone()).look(look(signal)));
        }
        let name = self.reference.map_or("", |reference| reference.name.as_str());
        for (k, points) in references.into_iter().enumerate() {
            let name = if signals.len() == 1 || k == 0 { name.into() } else { format!("{name} {}", k + 1) };
            panel = panel.with(Series::new(name, points).look(Look::Reference).colour(Colour::Ink));
        }
        panel
    }

    /// Distance from the reference over time, as a share of its range.
    fn error_figure(&self) -> Figure {
        let figure = Figure::new("Error over time");
        let Some(reference) = self.reference else { return figure };
        let curves = self.signals.outputs.iter().filter_map(|signal| {
            let points: Vec<(f64, f64)> = reference.points(&signal.name)?.collect();
            let (low, high) = range(points.iter())?;
            let error = |(t, y): &(f64, f64)| {
                let at = points.binary_search_by(|p| p.0.total_cmp(t)).ok()?;
                Some((*t, (y - points[at].1).abs() / (high - low)))
            };
            let errors: Vec<_> = signal.points.iter().filter_map(error).filter(|(_, e)| *e > 0.0).collect();
            (high > low && errors.len() > 1).then(|| Series::new(&signal.name, errors))
        });
        let curves: Vec<Series> = curves.take(2 * MOST_CURVES).collect();
        if curves.is_empty() {
            return figure;
        }
        let axes = Panel::new(Axis::new("time").unit("s"), Axis::new("share of the range").log());
        figure.panel(curves.into_iter().fold(axes.title("Error against the reference"), Panel::with))
    }

    fn error_table(&self) -> Table {
        let table =
            Table::new("Error of every output: RMS over time, as a share of its range", ["output", "error"]);
        let signals = self.outcome["signals"].as_object().into_iter().flatten();
        let mut rows: Vec<_> =
            signals.map(|(name, error)| (name, error["rel_rms"].as_f64().unwrap_or(f64::NAN))).collect();
        rows.sort_by(|a, b| b.1.total_cmp(&a.1));
        table.rows(rows.into_iter().map(|(name, error)| vec![name.as_str().into(), two_digits(error).into()]))
    }

    fn connection_section(&self) -> Section {
        let mut section = Section::new("Connections and energy");
        let mut coupling: Vec<_> = self.signals.coupling.iter().collect();
        coupling.sort_by(|a, b| b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)));
        let table = Table::new(
            "How far inputs were from what they are connected to at the ends of steps: RMS over time, worst first",
            ["input", "connected to", "difference", "share of range"],
        );
        section = section.table(table.rows(coupling.into_iter().map(|error| {
            let share = error.share.map_or("-".into(), |share| format!("{:.3} %", 100.0 * share));
            vec![
                error.input.as_str().into(),
                error.outputs.join(" + ").into(),
                two_digits(error.rms).into(),
                share.into(),
            ]
        })));
        let table = Table::new(
            "Energy through power bonds, in J for signals in SI units",
            ["power bond", "exchanged", "lost or made", "share of what was exchanged"],
        );
        let bonds = self.outcome["bonds"].as_array().into_iter().flatten();
        section = section.table(table.rows(bonds.map(|bond| {
            let share = bond["error"].as_f64().map_or("-".into(), |error| format!("{:.3} %", 100.0 * error));
            let name: TableCell = bond["name"].as_str().unwrap_or_default().into();
            vec![name, number(&bond["exchanged"]).into(), number(&bond["residual"]).into(), share.into()]
        })));
        let energy =
            self.signals.energy.iter().filter(|energy| energy.points.iter().any(|p| p.1.is_finite()));
        let mut figure = Figure::new("Energy");
        for energy in energy {
            let series = Series::new("energy", energy.points.clone());
            figure = figure.panel(
                Panel::new(Axis::new("time").unit("s"), Axis::new("energy stored in the parts").unit("J"))
                    .with(series),
            );
        }
        for (end, title, unit) in [
            (".power", "Power through bonds", "W"),
            (".energy_error", "Energy lost or made by the coupling", "J"),
        ] {
            let bonds = self.signals.bonds.iter().filter(|signal| signal.name.ends_with(end));
            let name =
                |signal: &Signal| signal.name.trim_start_matches("bond.").trim_end_matches(end).to_owned();
            let curves: Vec<_> =
                bonds.map(|signal| Series::new(name(signal), signal.points.clone())).collect();
            if !curves.is_empty() {
                let axes = Panel::new(Axis::new("time").unit("s"), Axis::new(title).unit(unit));
                figure = figure.panel(curves.into_iter().fold(axes, Panel::with));
            }
        }
        section.plot(figure)
    }

    fn method_section(&self) -> Section {
        let mut section = Section::new("Method over time");
        if let Some(held) = self.outcome["held"].as_array().filter(|held| !held.is_empty()) {
            let names: Vec<_> = held.iter().filter_map(Value::as_str).collect();
            section =
                section.text(format!("Held because they switch between a few values: {}.", names.join(", ")));
        }
        let mut figure = Figure::new("Method");
        let times: Vec<f64> = self
            .signals
            .outputs
            .first()
            .map_or(Vec::new(), |signal| signal.points.iter().map(|p| p.0).collect());
        if self.outcome["control"].is_object() && self.signals.rows as usize == times.len() {
            let steps = times.windows(2).map(|pair| (pair[1], pair[1] - pair[0])).collect();
            let axes = Panel::new(Axis::new("time").unit("s"), Axis::new("step length").unit("s").log());
            figure = figure.panel(axes.with(Series::new("step length", steps).look(Look::Steps)));
        }
        for (kind, signals) in by_kind(&self.signals.diagnostics) {
            for signals in signals.chunks(MOST_CURVES) {
                let curves = signals
                    .iter()
                    .map(|signal| Series::new(&signal.name, signal.points.clone()).look(look(signal)));
                figure = figure.panel(
                    curves.fold(Panel::new(Axis::new("time").unit("s"), Axis::new(kind)), Panel::with),
                );
            }
        }
        section.plot(figure)
    }
}

fn look(signal: &Signal) -> Look {
    match (signal.is_stepwise, signal.points.len() <= FEW) {
        (true, _) => Look::Steps,
        (false, true) => Look::Marked,
        (false, false) => Look::Line,
    }
}

/// Columns of methods and parts that tell the same.
fn by_kind(signals: &[Signal]) -> Vec<(&str, Vec<&Signal>)> {
    let mut groups: Vec<(&str, Vec<&Signal>)> = Vec::new();
    for signal in signals {
        let own = signal.name.rsplit('.').next().unwrap_or_default();
        match groups.iter_mut().find(|(known, _)| *known == own) {
            Some((_, group)) => group.push(signal),
            None => groups.push((own, vec![signal])),
        }
    }
    groups
}

fn range<'a>(points: impl Iterator<Item = &'a (f64, f64)>) -> Option<(f64, f64)> {
    points.map(|p| p.1).filter(|y| y.is_finite()).fold(None, |range, y| {
        let (low, high) = range.unwrap_or((y, y));
        Some((low.min(y), high.max(y)))
    })
}

/// What a verdict rests on, for people who do not know the words of the JSON.
fn judged_by(word: &str) -> &str {
    match word {
        "reference" => "its error against the reference",
        "twin" => "the monolithic solution",
        "half step" => "a second run at half the step",
        "defect" | "growth" => "what was seen in the run alone",
        other => other,
    }
}

/// `E0601: the run diverged; cause; help`.
fn message(error: &Value) -> String {
    let parts = ["message", "cause", "help"].into_iter().filter_map(|key| error[key].as_str());
    let text = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
    error["code"].as_str().map_or_else(|| text.clone(), |code| format!("{code}: {text}"))
}

/// Warnings of a system, many of a kind as one that can be unfolded.
fn with_warnings(mut section: Section, warnings: &Value) -> Section {
    let code = |warning: &Value| warning["code"].as_str().unwrap_or_default().to_owned();
    let warnings = warnings.as_array().into_iter().flatten();
    let warnings: Vec<(String, &Value)> = warnings.map(|warning| (code(warning), warning)).collect();
    each_kind(
        &warnings,
        |(code, _)| code,
        |Kind { told, others }| {
            let mut remarks: Vec<String> = told.iter().map(|(_, warning)| message(warning)).collect();
            let folded: Vec<String> = others.iter().map(|(_, warning)| message(warning)).collect();
            let last = if let [(code, _), ..] = others { remarks.pop().zip(Some(code)) } else { None };
            let mut with = std::mem::take(&mut section);
            with = remarks.into_iter().fold(with, |with, text| with.remark(Tone::Doubtful, text));
            if let Some((text, code)) = last {
                let messages =
                    others.iter().map(|(_, warning)| warning["message"].as_str().unwrap_or_default());
                with = with.folded(Tone::Doubtful, format!("{text} ({})", more_of(code, messages)), folded);
            }
            section = with;
        },
    );
    section
}

/// `1 us to 140 us`, where steps vary.
fn lengths(control: &Value) -> Option<String> {
    let three_digits = |step: f64| format!("{step:.2e}").parse().unwrap_or(step);
    let length = |key: &str| control[key].as_f64().map(|step| format_time(three_digits(step)));
    Some(format!("{} to {}", length("shortest_step")?, length("longest_step")?))
}

/// Without the round-off of a sum of steps.
fn rounded(time: f64) -> f64 {
    format!("{time:.6e}").parse().unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_warnings_of_a_kind_are_folded_below_the_first_and_steps_that_vary_have_a_range() {
        let warning = |name: &str| serde_json::json!({ "code": "W0141", "message": format!("`{name}` is odd"), "help": "look" });
        let outcome = serde_json::json!({
            "system_warnings": [warning("a"), { "code": "W0143", "message": "alone" }, warning("b"), warning("c")],
            "control": { "shortest_step": 1e-3, "longest_step": 4.5e-3, "rejected_steps": 2 },
        });
        let signals = Signals::default();
        let page =
            RunPage { system: None, outcome: &outcome, signals: &signals, reference: None, live: None };
        let html = page.page().to_html();
        assert!(
            html.contains("<summary>W0141: `a` is odd; look (2 more of W0141, about `b`, `c`)</summary>")
        );
        assert!(
            html.contains("<li>W0141: `b` is odd; look</li>")
                && html.matches("<details class=\"remark").count() == 1
        );
        assert!(html.contains("<p class=\"remark doubtful\">W0143: alone</p>"));
        assert!(html.contains("<dt>Length of steps</dt><dd>1 ms to 4.5 ms</dd>"));
    }

    #[test]
    fn pages_put_signals_into_plots_as_pictures_do_and_tell_the_tolerance() {
        let signal = |name: &str, size: f64| Signal {
            name: name.into(),
            points: (0..100).map(|k| (0.1 * f64::from(k), size * (0.3 * f64::from(k)).sin())).collect(),
            ..Signal::default()
        };
        let outputs = vec![signal("wheel.force", 1.5e4), signal("wheel.position", 0.1)];
        let metadata = [(STEP.to_owned(), "tolerance 3e-4 (defect)".to_owned())].into();
        let signals = Signals { outputs, metadata, ..Signals::default() };
        let outcome = serde_json::json!({ "step": 1.4291e-3, "method": "foh" });
        let page =
            RunPage { system: None, outcome: &outcome, signals: &signals, reference: None, live: None };
        let html = page.page().to_html();
        assert!(html.contains("method foh, tolerance 3e-4 (defect)") && !html.contains("macro step 1"));
        // Each has a plot of its own, which is named after it.
        assert!(html.contains("<figcaption>wheel.force <") && html.contains("<figcaption>wheel.position <"));
    }
}
