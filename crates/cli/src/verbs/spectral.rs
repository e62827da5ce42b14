//! `costep stability` by the linear map of one macro step: over several steps, with the largest stable one.

use std::ffi::OsStr;
use std::path::Path;

use costep::pages::{StabilityPage, write_page};
use costep::{
    Code, Complex, Error, LargestStep, RadiusCurve, Spectrum, StabilityQuestion, StabilityStudy,
    StepStability, System,
};
use costep_core::Result;
use costep_core::quantity::{format_time, parse_time};
use costep_experiments::parse_times;
use indicatif::ProgressBar;
use serde_json::{Value, json};

use crate::args::StabilityArgs;
use crate::phrases::given_by;
use crate::progress::many_runs;
use crate::stop;
use crate::style::{BAD, FAINT, GOOD, Output, STRONG, paint, print_json, say};
use crate::table::{Cell, render};
use crate::verbs::report::command;

/// Signals of the mode that are told, and the least share of one.
const SIGNALS: usize = 4;
const LEAST_SHARE: f64 = 0.01;

/// How far above one a radius is round-off.
const LEAST_GROWTH: f64 = 1e-9;

/// Judges and shows.
pub(super) fn run(system: &System, args: &StabilityArgs, output: Output) -> Result<()> {
    let mut question = StabilityQuestion::around(system.project().equal_step());
    if let Some(text) = &args.steps {
        let given = |error| given_by(error, &format!("--steps {text}"));
        question.steps = parse_times(text).map_err(given)?;
        system.check_steps(&question.steps).map_err(given)?;
        question.steps.sort_by(f64::total_cmp);
    }
    if let Some(text) = &args.at {
        let given = |error| given_by(error, &format!("--at {text}"));
        question.at = Some(parse_time(text).map_err(given)?);
        system.check_at(question.at).map_err(given)?;
    }
    question.by_models = args.by_models;
    // Mistakes are told before the work, not after it.
    args.nyquist.as_deref().map_or(Ok(()), check_nyquist)?;
    let named = args.methods.as_deref();
    let given = |error| given_by(error, &format!("--methods {}", named.unwrap_or_default()));
    let beside =
        || system.methods_beside(named).map_err(|error| if named.is_some() { given(error) } else { error });
    let is_asked = args.report.is_some() || args.methods.is_some();
    // A page has a curve of the method of the system too. Without one that is told with all that is known of it.
    let own = usize::from(args.report.is_some());
    let methods = if is_asked { beside()? } else { Vec::new() };
    let methods: Vec<_> = methods.into_iter().skip(1 - own).collect();
    let curve = question.clone();
    let curve = if own > 0 { curve.with_steps_between(system) } else { curve };
    let bar = many_runs(output, question.judgements());
    let study = system.stability_study(&question, &mut |step| heard(&bar, step));
    bar.finish_and_clear();
    let bar = many_runs(output, methods.len() * curve.steps.len());
    let curves = study.and_then(|study| {
        Ok((study, system.radius_curves(&curve, &methods, &mut |step| heard(&bar, step))?))
    });
    bar.finish_and_clear();
    let (study, curves) = curves?;
    let found = Found { system, study };
    if let Some(file) = &args.nyquist {
        found.study.write_nyquist(system, file)?;
    }
    let others = if args.methods.is_some() { &curves[own..] } else { &[] };
    if output.json {
        let mut object = found.study.to_json(system)?;
        if args.methods.is_some() {
            object["others"] = others.iter().map(|curve| curve_to_json(curve, &question.steps)).collect();
        }
        print_json(&object)?;
    } else {
        found.tell()?;
        tell_others(others, &question.steps)?;
    }
    let Some(file) = &args.report else { return Ok(()) };
    let page = StabilityPage { system, study: &found.study, curves: &curves, command: &command() };
    write_page(file, &page.page())?;
    output.remark(&file.display().to_string());
    Ok(())
}

/// Endings of formats that the plot is not written in.
const OTHER_FORMATS: [&str; 8] = ["png", "pdf", "html", "htm", "jpg", "jpeg", "eps", "gif"];

/// Whether the plot can have this name: any but one of another format.
fn check_nyquist(file: &Path) -> Result<()> {
    let is_other = |ending: &OsStr| OTHER_FORMATS.into_iter().any(|other| ending.eq_ignore_ascii_case(other));
    if !file.extension().is_some_and(is_other) {
        return Ok(());
    }
    let message = format!("`{}` does not end in .svg", file.display());
    let named = file.with_extension("svg");
    Err(Error::new(Code::CommandLine, message)
        .because("the plot is an SVG; given by `--nyquist`")
        .hint(format!("name it `{}`", named.display())))
}

/// The radius of a method at these steps; the curves of a page have points between them.
fn radii<'a>(curve: &'a RadiusCurve, steps: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + 'a {
    let points = curve.radii.as_deref().unwrap_or_default();
    points.iter().copied().filter(|(step, _)| steps.contains(step))
}

/// The radii of other methods, a column each, and why some have none.
fn tell_others(others: &[RadiusCurve], steps: &[f64]) -> Result<()> {
    let (judged, refused): (Vec<_>, Vec<_>) = others.iter().partition(|curve| curve.radii.is_ok());
    if !judged.is_empty() {
        let labels: Vec<_> = judged.iter().map(|curve| format!("radius of {}", curve.method)).collect();
        let titles: Vec<&str> = std::iter::once("step").chain(labels.iter().map(String::as_str)).collect();
        let of = |curve: &RadiusCurve, step: f64| {
            let radius =
                radii(curve, steps).find(|(at, _)| *at == step).map_or(f64::NAN, |(_, radius)| radius);
            let style = if radius <= 1.0 + LEAST_GROWTH { GOOD } else { BAD };
            if radius.is_nan() { Cell::new("-") } else { Cell::styled(format!("{radius:.6}"), style) }
        };
        let row = |step: &f64| {
            let radii = judged.iter().map(|curve| of(curve, *step));
            std::iter::once(Cell::new(format_time(*step))).chain(radii).collect()
        };
        let rows: Vec<Vec<Cell>> = steps.iter().map(row).collect();
        say!("\n{}", render(&titles, &rows).trim_end())?;
    }
    for curve in refused {
        let why =
            curve.radii.as_ref().err().map_or_else(String::new, |error| error.details().message.clone());
        say!("no radius of {}: {why}", curve.method)?;
    }
    Ok(())
}

fn curve_to_json(curve: &RadiusCurve, steps: &[f64]) -> Value {
    let points: Vec<Value> =
        radii(curve, steps).map(|(step, radius)| json!({ "step": step, "radius": radius })).collect();
    json!({
        "method": curve.method,
        "steps": points,
        "error": curve.radii.as_ref().err().map(|error| error.details().message.clone()),
    })
}

/// Shows what is judged, and looks whether it is to end.
fn heard(bar: &ProgressBar, step: Option<f64>) -> Result<()> {
    if let Some(step) = step {
        bar.set_message(format_time(step));
        bar.inc(1);
    }
    stop::check()
}

struct Found<'a> {
    system: &'a System,
    study: StabilityStudy,
}

impl Found<'_> {
    fn tell(&self) -> Result<()> {
        let project = self.system.project();
        say!("{}: {}, {}\n", project.name, self.study.method, self.study.steps[0].basis())?;
        let row = |of: &StepStability| {
            let mode = of.mode.as_ref();
            vec![
                Cell::new(format_time(of.step)),
                Cell::styled(format!("{:.6}", of.radius), if of.is_stable() { GOOD } else { BAD }),
                Cell::new(mode.map_or_else(String::new, |mode| format!("{:+.3e} 1/s", mode.rate))),
                Cell::new(mode.map_or_else(String::new, |mode| format!("{:.4} Hz", mode.frequency))),
                Cell::styled(mode.map_or_else(String::new, signals), FAINT),
            ]
        };
        let rows: Vec<_> = self.study.steps.iter().map(row).collect();
        say!("{}", render(&["step", "radius", "growth", "frequency", "signals in the mode"], &rows))?;
        match self.study.largest {
            LargestStep::Found { stable, .. } => {
                say!("largest stable step  {}", paint(STRONG, format!("{stable:.4e} s")))?;
            }
            LargestStep::Beyond(step) => say!("stable at all of these steps, up to {}", format_time(step))?,
            LargestStep::Below(step) => {
                say!("{}  not even at {}", paint(BAD, "UNSTABLE"), format_time(step))?;
            }
        }
        if let Some(of) = &self.study.without_solver {
            let rate = of.mode.as_ref().map_or(f64::NEG_INFINITY, |mode| mode.rate);
            say!(
                "the growth at {} comes from the inner solver {}: without it {rate:+.3e} 1/s (`--by-models`)",
                format_time(of.step),
                project.model.solver.label()
            )?;
        }
        self.tell_eigenvalues()?;
        for open in &self.study.loops {
            if let Some(margin) = open.phase_margin() {
                say!(
                    "held inputs, loop through {}: phase margin {:.2} degrees at {:.4} Hz, step {}",
                    open.input,
                    margin.degrees,
                    margin.frequency,
                    format_time(self.system.project().equal_step())
                )?;
            }
        }
        Ok(())
    }

    fn tell_eigenvalues(&self) -> Result<()> {
        let Ok((spectra, foundation)) = &self.study.spectra else { return Ok(()) };
        let row = |spectrum: &Spectrum| {
            let shown: Vec<String> =
                spectrum.eigenvalues.iter().filter(|z| z.im >= 0.0).take(4).map(text).collect();
            vec![
                Cell::new(&spectrum.name),
                Cell::new(spectrum.stiffness().map_or_else(|| "-".into(), |ratio| format!("{ratio:.3e}"))),
                Cell::new(spectrum.nyquist_step().map_or_else(|| "-".into(), |step| format!("{step:.3e} s"))),
                Cell::styled(
                    if shown.is_empty() { "none: no states".into() } else { shown.join(", ") },
                    FAINT,
                ),
            ]
        };
        let rows: Vec<_> = spectra.iter().map(row).collect();
        say!("\neigenvalues by {}", foundation.text())?;
        say!("{}", render(&["of", "stiffness", "pi/max|lambda|", "lambda in 1/s"], &rows))
    }
}

fn text(z: &Complex) -> String {
    if z.im == 0.0 { format!("{:.4e}", z.re) } else { format!("{:.4e} ± {:.4e}i", z.re, z.im) }
}

fn signals(mode: &costep::LeadingMode) -> String {
    let shown = mode.signals.iter().take(SIGNALS).filter(|signal| signal.share > LEAST_SHARE);
    shown.map(|signal| format!("{} {:.2}", signal.name, signal.share)).collect::<Vec<_>>().join(", ")
}
