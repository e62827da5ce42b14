//! The page of a comparison: methods and steps side by side.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use costep_core::quantity::format_time;
use costep_report::{
    Axis, Colour, Figure, HeatColours, HeatMap, Look, Page, Panel, Places, Section, Series, Table, TableCell,
    Tone,
};
use serde_json::{Value, json};

use super::how_to_reproduce;
use super::shared::{cost_section, drift, system_section};
use super::signals::Signals;
use super::words::{number, tone, two_digits, wall};
use crate::comparison::Compared;
use crate::report::RunReport;
use crate::solution::Solution;
use crate::system::System;

/// Outputs that are drawn for all runs.
const MOST_OUTPUTS: usize = 8;
/// Runs that are shown before anybody chooses.
const SHOWN_AT_FIRST: usize = 8;
/// A run that leaves the range of the reference by more than this many ranges is cut to a part of it.
const FAR_BEYOND: f64 = 1.0;

/// One of the runs.
#[derive(Clone, Debug)]
pub struct ComparedRun {
    /// Its run object of the JSON contract.
    pub outcome: Value,
    /// What was recorded of it, if anything.
    pub signals: Option<Signals>,
}

impl ComparedRun {
    /// The runs of a comparison that was recorded; what cannot be read of a recording is left out.
    pub fn of(compared: &Compared) -> Vec<Self> {
        let recordings = compared.recordings.iter().map(Some).chain(std::iter::repeat(None));
        let run = |(report, file): (&RunReport, Option<&PathBuf>)| Self {
            outcome: json!(report),
            signals: file.and_then(|file| Self::read_signals(file)),
        };
        compared.reports.iter().zip(recordings).map(run).collect()
    }

    /// The signals of a recording that the page draws; nothing of one that cannot be read.
    pub fn read_signals(file: &Path) -> Option<Signals> {
        Signals::read_outputs(file, MOST_OUTPUTS).ok()
    }

    fn method(&self) -> &str {
        self.outcome["method"].as_str().unwrap_or_default()
    }

    fn step(&self) -> f64 {
        self.outcome["step"].as_f64().unwrap_or(f64::NAN)
    }

    fn verdict(&self) -> &str {
        self.outcome["verdict"].as_str().unwrap_or_default()
    }

    fn error(&self) -> Option<f64> {
        self.outcome["eps_mono"].as_f64().filter(|error| error.is_finite())
    }

    fn is_good(&self) -> bool {
        self.verdict() == "stable"
    }
}

/// What the page of a comparison is made from.
pub struct ComparisonPage<'a> {
    /// The system.
    pub system: &'a System,
    /// Step by step, method by method.
    pub runs: &'a [ComparedRun],
    /// What they were measured against, to be drawn.
    pub reference: Option<&'a Solution>,
    /// The words that made it.
    pub command: &'a Value,
}

impl ComparisonPage<'_> {
    /// The page.
    pub fn page(&self) -> Page {
        let good = self.runs.iter().filter(|run| run.is_good()).count();
        let tone = if good > 0 { Tone::Good } else { Tone::Bad };
        let methods: Vec<&str> = self.series().keys().copied().collect();
        let mut page = Page::new(self.system.name())
            .subtitle(format!("{} runs: {}", self.runs.len(), methods.join(", ")))
            .footer(format!("Made by costep {}.", env!("CARGO_PKG_VERSION")))
            .verdict(tone, format!("{good} of {} stable", self.runs.len()), self.best())
            .section(self.table_section())
            .section(self.precision_section())
            .section(self.signal_section())
            .section(system_section(Some(self.system)));
        if let Some(best) = self.best_run() {
            let mut section = cost_section(&best.outcome, Some(self.system));
            if !section.is_empty() {
                section = section.text(format!("Of {}, the most accurate run.", self.label(best)));
            }
            page = page.section(section);
        }
        page.picker("Runs that are shown", self.picks())
            .section(how_to_reproduce(Some(self.system), self.command))
    }

    /// What tells a run from the others.
    fn label(&self, run: &ComparedRun) -> String {
        let steps: Vec<f64> = self.runs.iter().map(ComparedRun::step).collect();
        match steps.windows(2).all(|pair| pair[0] == pair[1]) {
            true => run.method().into(),
            false => format!("{}, {}", run.method(), format_time(run.step())),
        }
    }

    fn best_run(&self) -> Option<&ComparedRun> {
        let good = self.runs.iter().filter(|run| run.is_good() && run.error().is_some());
        good.min_by(|a, b| a.error().unwrap_or(0.0).total_cmp(&b.error().unwrap_or(0.0)))
    }

    fn best(&self) -> String {
        match self.best_run() {
            None => "No run is stable and measured: try smaller steps or other methods.".into(),
            Some(run) => format!(
                "The most accurate is {} at {}: RMS error {} of the range, in {}.",
                run.method(),
                format_time(run.step()),
                two_digits(run.error().unwrap_or(f64::NAN)),
                wall(run.outcome["wall_s"].as_f64().unwrap_or(0.0))
            ),
        }
    }

    /// Which curves are shown at first: all of a few, else the most accurate.
    fn picks(&self) -> Vec<(String, bool)> {
        let mut errors: Vec<f64> = self.runs.iter().map(|run| run.error().unwrap_or(f64::INFINITY)).collect();
        errors.sort_by(f64::total_cmp);
        let limit = errors.get(SHOWN_AT_FIRST - 1).copied().unwrap_or(f64::INFINITY);
        let is_shown = |run: &ComparedRun| {
            self.runs.len() <= SHOWN_AT_FIRST || run.error().unwrap_or(f64::INFINITY) <= limit
        };
        let drawn = self.runs.iter().filter(|run| run.signals.is_some());
        drawn.map(|run| (self.label(run), is_shown(run))).collect()
    }

    fn table_section(&self) -> Section {
        let head = [
            "method",
            "step",
            "result",
            "RMS error",
            "worst output",
            "energy drift",
            "macro steps",
            "time",
            "remark",
        ];
        let rows = self.runs.iter().map(|run| {
            let outcome = &run.outcome;
            let worst = outcome["signals"]
                .as_object()
                .into_iter()
                .flatten()
                .filter_map(|(_, s)| s["rel_rms"].as_f64());
            let worst = worst.reduce(f64::max).map_or("-".into(), two_digits);
            let verdict = run.verdict();
            vec![
                run.method().into(),
                format_time(run.step()).into(),
                TableCell::toned(verdict, tone(verdict)),
                number(&outcome["eps_mono"]).into(),
                worst.into(),
                drift(outcome).into(),
                outcome["macro_steps"].as_u64().map_or("-".into(), |steps| steps.to_string()).into(),
                wall(outcome["wall_s"].as_f64().unwrap_or(0.0)).into(),
                outcome["message"].as_str().unwrap_or_default().into(),
            ]
        });
        let table = Table::new("All runs; errors are shares of the range of the reference", head).rows(rows);
        Section::new("Methods and steps").table(table)
    }

    /// The points of each method, with its number among the colours.
    fn series(&self) -> BTreeMap<&str, (usize, Vec<&ComparedRun>)> {
        let mut series: BTreeMap<&str, (usize, Vec<&ComparedRun>)> = BTreeMap::new();
        for run in self.runs {
            let next = series.len();
            series.entry(run.method()).or_insert((next, Vec::new())).1.push(run);
        }
        series
    }

    fn precision_section(&self) -> Section {
        let mut section = Section::new("Work and precision");
        let series = self.series();
        let panel = |axis: Axis, title: &str, x: &dyn Fn(&ComparedRun) -> Option<f64>| {
            let axes = Panel::new(axis.log(), Axis::new("RMS error, share of the range").log()).title(title);
            series.iter().fold(axes, |panel, (method, (colour, runs))| {
                let point = |run: &&ComparedRun| Some((x(run)?, run.error().filter(|error| *error > 0.0)?));
                let mut points: Vec<_> = runs.iter().filter_map(point).collect();
                points.sort_by(|a, b| a.0.total_cmp(&b.0));
                if points.is_empty() {
                    return panel;
                }
                panel.with(Series::new(*method, points).look(Look::Marked).colour(Colour::Nth(*colour)))
            })
        };
        if self.runs.iter().any(|run| run.error().is_some_and(|error| error > 0.0)) {
            let work = panel(Axis::new("wall time").unit("s"), "Error over wall time", &|run| {
                run.outcome["wall_s"].as_f64().filter(|wall| *wall > 0.0)
            });
            let step = panel(Axis::new("macro step").unit("s"), "Error over step", &|run| Some(run.step()));
            section = section
                .plot(Figure::new("Work").panel(work).columns(2))
                .plot(Figure::new("Order").panel(step));
        }
        match self.error_map() {
            Some(map) => section.heat_map(map),
            None => section,
        }
    }

    /// The error of every output in every run.
    fn error_map(&self) -> Option<HeatMap> {
        const MOST: usize = 40;
        let of = |run: &ComparedRun, name: &str| {
            run.outcome["signals"][name]["rel_rms"].as_f64().filter(|e| *e > 0.0)
        };
        let runs: Vec<&ComparedRun> =
            self.runs.iter().filter(|run| run.outcome["signals"].is_object()).take(MOST).collect();
        let outputs: Vec<String> = self.system.outputs();
        let measured = outputs.into_iter().filter(|name| runs.iter().any(|run| of(run, name).is_some()));
        let names: Vec<String> = measured.take(MOST).collect();
        if names.len() * runs.len() < 4 {
            return None;
        }
        Some(HeatMap {
            title: "Error of every output".into(),
            x: Axis::default(),
            y: Axis::default(),
            layers: vec![
                names
                    .iter()
                    .flat_map(|name| runs.iter().map(move |run| of(run, name).unwrap_or(f64::NAN)))
                    .collect(),
            ],
            chosen_by: Vec::new(),
            columns: Places::Names(runs.iter().map(|run| self.label(run)).collect()),
            rows: Places::Names(names),
            label: "RMS error, share of the range".into(),
            colours: HeatColours::Log,
        })
    }

    fn signal_section(&self) -> Section {
        let mut section = Section::new("Signals");
        let Some(first) = self.runs.iter().find_map(|run| run.signals.as_ref()) else { return section };
        if let Some(reference) = self.reference {
            section =
                section.text(format!("Dashed: {}. Curves that leave it by far are cut.", reference.what));
        }
        let mut figure = Figure::new("Outputs");
        for signal in first.outputs.iter().take(MOST_OUTPUTS) {
            let reference: Vec<(f64, f64)> = self
                .reference
                .and_then(|reference| Some(reference.points(&signal.name)?.collect()))
                .unwrap_or_default();
            let label = if signal.unit.is_empty() {
                signal.name.clone()
            } else {
                format!("{} in {}", signal.name, signal.unit)
            };
            let mut y = Axis::new(label);
            let values = || reference.iter().map(|p| p.1).filter(|y| y.is_finite());
            let (low, high) =
                (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
            if high > low {
                let room = FAR_BEYOND * (high - low);
                y = y.range(low - room, high + room);
            }
            let mut panel = Panel::new(Axis::new("time").unit("s"), y).without_legend();
            for (k, run) in self.runs.iter().enumerate() {
                let own = run
                    .signals
                    .as_ref()
                    .and_then(|all| all.outputs.iter().find(|own| own.name == signal.name));
                if let Some(own) = own {
                    panel =
                        panel.with(Series::new(self.label(run), own.points.clone()).colour(Colour::Nth(k)));
                }
            }
            if !reference.is_empty() {
                let name = self.reference.map_or("", |reference| reference.name.as_str());
                panel = panel.with(Series::new(name, reference).look(Look::Reference).colour(Colour::Ink));
            }
            figure = figure.panel(panel);
        }
        section = section.plot(figure);
        match (first.outputs.len() + first.more_outputs).saturating_sub(MOST_OUTPUTS) {
            0 => section,
            more => section
                .text(format!("{more} more outputs are not drawn: `costep plot` draws those of recordings.")),
        }
    }
}
