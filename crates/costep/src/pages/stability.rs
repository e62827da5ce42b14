//! The page about stability: does a macro step forget perturbations, up to which step, and what grows beyond it?

use std::f64::consts::TAU;

use costep_core::quantity::format_time;
use costep_linalg::Complex;
use costep_report::{Axis, Colour, Figure, Look, Page, Panel, Section, Series, Table, TableCell, Tone};
use serde_json::Value;

use super::how_to_reproduce;
use super::shared::system_section;
use crate::stability::{LargestStep, LeadingMode, RadiusCurve, Spectrum, StabilityStudy, StepStability};
use crate::system::System;

/// Methods that are shown before anybody chooses, beside the one that is judged.
const SHOWN_AT_FIRST: usize = 5;
/// Radii above this are cut: the border is what counts.
const HIGHEST: f64 = 2.0;
/// Signals, eigenvalues and loops that are shown.
const MOST_SIGNALS: usize = 20;
const MOST_EIGENVALUES: usize = 6;
const MOST_LOOPS: usize = 6;
/// Values of an open loop that are farther from the origin are not drawn.
const FAR: f64 = 3.0;

/// What the page about stability is made from.
pub struct StabilityPage<'a> {
    /// The system.
    pub system: &'a System,
    /// What was found of its own method.
    pub study: &'a StabilityStudy,
    /// The radius over the step, of its own method and of others.
    pub curves: &'a [RadiusCurve],
    /// The words that made it.
    pub command: &'a Value,
}

impl StabilityPage<'_> {
    /// The page.
    pub fn page(&self) -> Page {
        let (tone, word, sentence) = self.verdict();
        let drawn = self.curves.iter().filter(|curve| curve.radii.is_ok()).enumerate();
        let picks = drawn.map(|(k, curve)| {
            (curve.method.clone(), k < SHOWN_AT_FIRST || curve.method == self.study.method)
        });
        Page::new(format!("Stability of {}", self.system.name()))
            .subtitle(format!("method {}", self.study.method))
            .footer(format!("Made by costep {}.", env!("CARGO_PKG_VERSION")))
            .verdict(tone, word, sentence)
            .picker("Methods that are shown", picks.collect::<Vec<_>>())
            .section(self.radius_section())
            .section(self.mode_section())
            .section(self.eigenvalue_section())
            .section(self.loop_section())
            .section(system_section(Some(self.system)))
            .section(how_to_reproduce(Some(self.system), self.command))
    }

    /// What was found at the step of the project, or at the one that says most.
    fn judged(&self) -> Option<&StepStability> {
        let own = self.system.project().equal_step();
        let is_own = |of: &&StepStability| (of.step / own - 1.0).abs() < 1e-9;
        let grows = |of: &&StepStability| !of.is_stable();
        let steps = &self.study.steps;
        steps.iter().find(is_own).or_else(|| steps.iter().find(grows)).or(steps.last())
    }

    fn verdict(&self) -> (Tone, String, String) {
        let Some(judged) = self.judged() else {
            return (Tone::Doubtful, "not judged".into(), "No step was judged.".into());
        };
        let largest = match self.study.largest {
            LargestStep::Found { stable, .. } => format!("The largest stable step is {} s.", digits(stable)),
            LargestStep::Beyond(step) => format!("It is stable at all of these steps, up to {}.", time(step)),
            LargestStep::Below(step) => format!("It is not even stable at {}.", time(step)),
        };
        let sentence = format!(
            "{} at a macro step of {} multiplies perturbations by {:.6} at most from step to step. {largest} Judged {}.",
            self.study.method,
            time(judged.step),
            judged.radius,
            judged.basis()
        );
        match judged.is_stable() {
            true => (Tone::Good, "stable".into(), sentence),
            false => (Tone::Bad, "unstable".into(), sentence),
        }
    }

    fn radius_section(&self) -> Section {
        let mut panel = Panel::new(Axis::new("macro step").unit("s").log(), self.radius_axis())
            .title("Spectral radius of a macro step")
            .without_legend()
            .level("the border", 1.0);
        let drawn = self.curves.iter().filter_map(|curve| Some((&curve.method, curve.radii.as_ref().ok()?)));
        for (k, (method, radii)) in drawn.enumerate() {
            panel = panel.with(Series::new(method, radii.clone()).look(Look::Marked).colour(Colour::Nth(k)));
        }
        let row = |of: &StepStability| -> Vec<TableCell> {
            let tone = if of.is_stable() { Tone::Good } else { Tone::Bad };
            let mode =
                |text: fn(&LeadingMode) -> String| TableCell::from(of.mode.as_ref().map_or("-".into(), text));
            vec![
                time(of.step).into(),
                TableCell::toned(format!("{:.6}", of.radius), tone),
                mode(|mode| format!("{:+.3e} 1/s", mode.rate)),
                mode(|mode| format!("{:.4} Hz", mode.frequency)),
                of.states.to_string().into(),
                mode(leading_signals),
            ]
        };
        let head = ["step", "radius", "growth", "frequency", "states", "signals in the mode"];
        let table = Table::new(format!("{}, step by step", self.study.method), head);
        let refused = self.curves.iter().filter_map(|curve| Some((curve, curve.radii.as_ref().err()?)));
        let refused = refused.map(|(curve, error)| {
            let cause = error.details().cause.clone().unwrap_or_else(|| error.details().message.clone());
            vec![curve.method.as_str().into(), cause.into()]
        });
        Section::new("Radius over the step")
            .text("Below one, every small perturbation decays; above one, some grow.")
            .plot(Figure::new("Radius").panel(panel))
            .table(table.rows(self.study.steps.iter().map(row)))
            .table(Table::new("Methods without a radius", ["method", "why"]).rows(refused))
    }

    /// The range that shows the border, whatever else there is.
    fn radius_axis(&self) -> Axis {
        let radii = self.curves.iter().filter_map(|curve| curve.radii.as_ref().ok()).flatten();
        let finite = radii.map(|(_, radius)| *radius).filter(|radius| radius.is_finite());
        let (low, high) =
            finite.fold((1.0f64, 1.0f64), |(low, high), radius| (low.min(radius), high.max(radius)));
        let room = 0.05 * (high.min(HIGHEST) - low).max(1e-3);
        Axis::new("spectral radius").range(low - room, high.min(HIGHEST) + room)
    }

    fn mode_section(&self) -> Section {
        let section = Section::new("The leading mode");
        let Some((judged, mode)) = self.judged().and_then(|of| Some((of, of.mode.as_ref()?))) else {
            return section;
        };
        let does = if judged.is_stable() { "decays slowest" } else { "grows fastest" };
        let row = |signal: &crate::stability::ModeSignal| -> Vec<TableCell> {
            vec![
                signal.name.as_str().into(),
                format!("{:.3}", signal.share).into(),
                format!("{:.1}", signal.phase).into(),
            ]
        };
        let caption = "Outputs in the mode: amplitude in units of their nominal values, the greatest is one";
        let table = Table::new(caption, ["output", "amplitude", "phase in degrees"])
            .rows(mode.signals.iter().take(MOST_SIGNALS).map(row));
        let panel = plane("Factors of all modes in the complex plane").with(circle(1.0)).with(
            Series::new("factors", judged.factors.iter().map(|z| (z.re, z.im)).collect())
                .look(Look::Points)
                .colour(Colour::Nth(0)),
        );
        section
            .text(format!("What {does} at a step of {}:", time(judged.step)))
            .facts([
                ("Factor per step".to_owned(), complex(&mode.factor)),
                ("Growth".into(), format!("{:+.3e} 1/s", mode.rate)),
                ("Frequency".into(), format!("{:.4} Hz", mode.frequency)),
                ("Numbers that are carried on".into(), judged.states.to_string()),
            ])
            .table(table)
            .plot(Figure::new("Factors").panel(panel))
    }

    fn eigenvalue_section(&self) -> Section {
        let section = Section::new("Eigenvalues");
        let (spectra, foundation) = match &self.study.spectra {
            Ok(found) => found,
            Err(error) => return section.text(format!("There are none: {}.", error.details().message)),
        };
        let or_none = |value: Option<f64>, unit: &str| {
            TableCell::from(value.map_or_else(|| "-".into(), |value| format!("{value:.3e}{unit}")))
        };
        let row = |spectrum: &Spectrum| -> Vec<TableCell> {
            let upper = spectrum.eigenvalues.iter().filter(|z| z.im >= 0.0);
            let shown: Vec<String> = upper.take(MOST_EIGENVALUES).map(complex).collect();
            vec![
                spectrum.name.as_str().into(),
                or_none(spectrum.stiffness(), ""),
                or_none(spectrum.nyquist_step(), " s"),
                shown.join(", ").into(),
            ]
        };
        let table = Table::new(
            format!("Of the parts and, last, of the whole, by {}", foundation.text()),
            ["of", "stiffness ratio", "pi / max |lambda|", "eigenvalues in 1/s"],
        );
        let panel = Panel::new(Axis::new("real part in 1/s"), Axis::new("imaginary part in 1/s"))
            .title("Eigenvalues");
        let panel = spectra.iter().fold(panel, |panel, spectrum| {
            let points = spectrum.eigenvalues.iter().map(|z| (z.re, z.im)).collect();
            panel.with(Series::new(&spectrum.name, points).look(Look::Points))
        });
        section.table(table.rows(spectra.iter().map(row))).plot(Figure::new("Eigenvalues").panel(panel))
    }

    fn loop_section(&self) -> Section {
        let section = Section::new("Loops under held inputs");
        let loops = &self.study.loops;
        if loops.is_empty() {
            return section;
        }
        let row = |open: &crate::stability::OpenLoop| -> Vec<TableCell> {
            let margin = open.phase_margin();
            vec![
                open.input.as_str().into(),
                margin.map_or("-".into(), |margin| format!("{:.2}", margin.degrees)).into(),
                margin.map_or("-".into(), |margin| format!("{:.4} Hz", margin.frequency)).into(),
            ]
        };
        let step = time(self.system.project().equal_step());
        let table = Table::new(
            format!("Loops, opened at an input, at a step of {step}"),
            ["input", "phase margin in degrees", "at"],
        );
        let mut panel = plane("Nyquist plot")
            .with(circle(1.0))
            .with(Series::new("-1", vec![(-1.0, 0.0)]).look(Look::Points).colour(Colour::Ink));
        for (k, open) in loops.iter().take(MOST_LOOPS).enumerate() {
            // A gap, not a chord, where it is far away.
            let point = |z: &Complex| if z.abs() < FAR { (z.re, z.im) } else { (f64::NAN, f64::NAN) };
            let points = open.values.iter().map(point).collect();
            panel = panel.with(Series::new(&open.input, points).colour(Colour::Nth(k)));
        }
        section
            .text("What comes back of a signal that is put in, by frequency: the loop is unstable where a curve goes round -1 [V14 2.3].")
            .plot(Figure::new("Nyquist").panel(panel))
            .table(table.rows(loops.iter().map(row)))
    }
}

/// The complex plane.
fn plane(title: &str) -> Panel {
    Panel::new(Axis::new("real part"), Axis::new("imaginary part")).title(title).equal_scales()
}

fn circle(radius: f64) -> Series {
    let points = (0..=180).map(|k| (TAU * f64::from(k) / 180.0).sin_cos());
    let points = points.map(|(y, x)| (radius * x, radius * y)).collect();
    Series::new("unit circle", points).look(Look::Reference).colour(Colour::Ink)
}

fn leading_signals(mode: &LeadingMode) -> String {
    let shown = mode.signals.iter().take(4).filter(|signal| signal.share > 0.01);
    shown.map(|signal| format!("{} {:.2}", signal.name, signal.share)).collect::<Vec<_>>().join(", ")
}

fn complex(z: &Complex) -> String {
    if z.im == 0.0 { format!("{:.4e}", z.re) } else { format!("{:.4e} \u{b1} {:.4e}i", z.re, z.im.abs()) }
}

fn digits(value: f64) -> String {
    format!("{value:.4e}")
}

/// A step with four digits and its unit.
fn time(seconds: f64) -> String {
    format_time(digits(seconds).parse().unwrap_or(seconds))
}
