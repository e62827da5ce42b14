//! `costep compare`: a matrix of runs against a reference.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use costep_analysis::ReferenceKind;
use costep_core::quantity::{exact_time, format_time, parse_time};
use costep_core::{Code, Error, ExitClass, Experiment};
use costep_engine::Observer;
use costep_methods::{METHODS, MethodSpec, registry};
use costep_project::{Override, Project};
use serde_json::json;

use crate::args::CompareArgs;
use crate::failure::{Failure, to_json};
use crate::folder;
use crate::progress::many_runs;
use crate::recorder::Recorder;
use crate::reference::{self, ReferenceChoice};
use crate::report::{RunReport, Verdict};
use crate::session::{self, Choice};
use crate::stop;
use crate::style::{BAD, FAINT, GOOD, Output, WARN, print, print_error, print_json};
use crate::supervision;
use crate::table::{Cell, number, percent, render, wall};

pub(crate) fn run(args: &CompareArgs, output: Output) -> Result<ExitCode, Failure> {
    let overrides = first_step(args.steps.as_deref()).into_iter().chain(args.models_override());
    let project = session::load(&args.system, overrides.collect())?;
    if let Some(code) = supervision::elsewhere(&project, None, None, output)? {
        return Ok(code);
    }
    project.warnings.iter().for_each(|warning| output.remark(&warning.to_string()));
    let methods = with_models(methods(args.methods.as_deref())?, &project, args.models.is_some())?;
    methods.iter().flat_map(MethodSpec::warnings).for_each(|warning| output.remark(&warning.to_string()));
    let steps = steps(args.steps.as_deref(), &project.model.experiment)?;
    let choice = ReferenceChoice::parse(&project, &args.reference)?;
    // Before hours of work, not after them.
    let lock = args.out.as_deref().map(folder::lock).transpose()?;
    stop::listen(output);
    let mut done = Done::default();
    let outcome = done.compute(&project, &methods, &steps, choice, args, output);
    drop(lock);
    let stopped = match outcome {
        Err(error) if error.code() != Code::Stopped => return Err(error.into()),
        outcome => outcome.err(),
    };
    done.print(&project, stopped.as_ref(), output)?;
    if let Some(error) = stopped {
        return Ok(supervision::exit_code(error.code().entry().exit.code()));
    }
    Ok(supervision::exit_code(exit_code(&done.reports, output)))
}

/// A method that diverges is a result of a comparison, beside others that do not; a run that could not be done is none, and neither
/// is a comparison in which no run came to its end.
fn exit_code(reports: &[RunReport], output: Output) -> u8 {
    if let Some(failed) = reports.iter().find(|report| report.verdict == Verdict::Failed) {
        return failed.exit;
    }
    if reports.iter().any(|report| report.verdict != Verdict::Diverged) {
        return 0;
    }
    output.remark("no run came to its end: try smaller steps or other methods");
    ExitClass::Diverged.code()
}

/// The runs that came to their end, and what they were compared with.
#[derive(Default)]
struct Done {
    reports: Vec<RunReport>,
    kinds: Vec<ReferenceKind>,
}

impl Done {
    fn compute(
        &mut self,
        project: &Project,
        methods: &[MethodSpec],
        steps: &[f64],
        reference: ReferenceChoice,
        args: &CompareArgs,
        output: Output,
    ) -> Result<(), Error> {
        let bar = many_runs(output, methods.len() * steps.len());
        for step in steps {
            bar.set_message(format!("reference at {}", format_time(*step)));
            let make = || reference.make(project, *step);
            // Runs that are finished are not thrown away.
            let reference = if self.reports.is_empty() { stop::deaf(make)? } else { make()? };
            stop::check()?;
            self.kinds.extend(reference.as_ref().map(|reference| reference.kind.clone()));
            for method in methods {
                bar.set_message(format!("{} at {}", method.label(), format_time(*step)));
                let choice = Choice { method, step: *step };
                let file = args.out.as_ref().map(|folder| recording_file(folder, &choice));
                let report = one_run(project, &choice, reference.as_ref(), file.as_deref())?;
                // The run that was stopped says nothing.
                stop::check()?;
                self.reports.push(report);
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    fn print(&self, project: &Project, stopped: Option<&Error>, output: Output) -> Result<(), Error> {
        if output.json {
            let mut object = session::head(project, reference::to_json(self.kinds.first()));
            if let [_, _, ..] = &self.kinds[..] {
                let all: Vec<_> = self.kinds.iter().map(|kind| reference::to_json(Some(kind))).collect();
                object.insert("references".into(), json!(all));
            }
            object.insert("runs".into(), json!(self.reports));
            if let Some(error) = stopped {
                object.insert("errors".into(), json!([to_json(error)]));
            }
            return print_json(&object);
        }
        if !self.reports.is_empty() {
            print(&comparison_table(&self.reports, project.model.paper_reference.is_some()))?;
        }
        for report in &self.reports {
            let (method, step) = (&report.method, format_time(report.step));
            // A start in parts is the rule; a run in parts costs as much as one with smaller steps.
            let division = report.division_line().filter(|_| 4 * report.divided_steps > report.macro_steps);
            division.iter().for_each(|text| output.remark(&format!("{method} at {step}: {text}")));
            report
                .warnings
                .iter()
                .for_each(|text| output.remark(&format!("warning: {method} at {step}: {text}")));
        }
        self.kinds.iter().filter_map(reference::to_text).for_each(|text| output.remark(&text));
        stopped.into_iter().for_each(print_error);
        Ok(())
    }
}

fn methods(text: Option<&str>) -> Result<Vec<MethodSpec>, Error> {
    let methods = match text {
        Some(text) => registry::parse_list(text)?,
        // All but `auto`, which is one of the others.
        None => {
            let ids = METHODS.iter().map(|entry| entry.id).filter(|id| *id != "auto");
            ids.map(MethodSpec::parse).collect::<Result<_, _>>()?
        }
    };
    if methods.is_empty() { Err(Error::new(Code::CommandLine, "no method is given")) } else { Ok(methods) }
}

/// The methods with the models of the project or command line, as far as they can work with them. Models that were asked
/// for and that nobody can work with are a mistake.
fn with_models(
    methods: Vec<MethodSpec>,
    project: &Project,
    asked_for: bool,
) -> Result<Vec<MethodSpec>, Error> {
    let Some(models) = &project.models else { return Ok(methods) };
    let (mut any, mut refusal) = (false, None);
    let one = |method: MethodSpec| {
        if method.names_models() || !method.uses_models() {
            return method;
        }
        match method.clone().with_models(models) {
            Ok(with) => {
                any = true;
                with
            }
            Err(error) => {
                refusal.get_or_insert(error);
                method
            }
        }
    };
    let methods = methods.into_iter().map(one).collect();
    match refusal.filter(|_| asked_for && !any) {
        Some(error) => Err(error),
        None => Ok(methods),
    }
}

/// The first of the steps as that of the project, which then needs none of its own.
fn first_step(text: Option<&str>) -> Option<Override> {
    let first = text?.split(',').next()?.trim();
    let good = parse_time(first).is_ok_and(|step| step > 0.0);
    good.then(|| Override::new("step.size", first, format!("--steps {first}")))
}

fn steps(text: Option<&str>, experiment: &Experiment) -> Result<Vec<f64>, Error> {
    let Some(text) = text else { return Ok(vec![experiment.step]) };
    let steps: Vec<f64> = text.split(',').map(parse_time).collect::<Result<_, _>>()?;
    let last = experiment.start.abs().max(experiment.stop.abs());
    // A step so small that time does not advance would never end.
    if let Some(step) = steps.iter().find(|step| **step <= 0.0 || last + **step == last) {
        return Err(Error::new(Code::BadValue, format!("a step of {step:e} s is not possible")));
    }
    steps.iter().try_for_each(|step| costep_project::check_step(*step, experiment))?;
    Ok(steps)
}

fn recording_file(folder: &Path, choice: &Choice<'_>) -> PathBuf {
    let label: String =
        choice.method.label().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    folder.join(format!("{label}-{}.arrows", exact_time(choice.step)))
}

fn one_run(
    project: &Project,
    choice: &Choice<'_>,
    reference: Option<&costep_analysis::Reference>,
    file: Option<&Path>,
) -> Result<RunReport, Error> {
    let Some(file) = file else { return Ok(session::measured_run(project, choice, reference, &mut [])) };
    let template = session::engine(project, choice, true)?;
    let metadata = [
        ("method".into(), choice.method.label()),
        ("system".into(), project.name.clone()),
        ("project".into(), project.to_toml_in(file.parent().unwrap_or(Path::new("")))),
    ];
    let mut recorder = Recorder::create(file, &template, project, &metadata, None)?;
    // Some FMUs can have one instance at a time only.
    drop(template);
    let report = session::measured_run(project, choice, reference, &mut [&mut recorder as &mut dyn Observer]);
    recorder.finish()?;
    Ok(report)
}

/// The runs as a table for people.
pub(crate) fn comparison_table(reports: &[RunReport], paper_error: bool) -> String {
    let mut header = vec!["method", "step", "result", "eps_mono", "worst signal", "energy drift", "time"];
    if paper_error {
        header.insert(4, "max error");
    }
    let rows: Vec<_> = reports.iter().map(|report| row(report, paper_error)).collect();
    let mut text = render(&header, &rows);
    if reports.iter().any(|report| report.verdict == Verdict::Inaccurate) {
        text +=
            "  INACCURATE: far from the reference, a tenth of the range on average or half of one signal\n";
    }
    for report in reports.iter().filter(|report| report.message.is_some()) {
        let message = report.message.as_deref().unwrap_or_default();
        text += &format!("  {} at {}: {message}\n", report.method, format_time(report.step));
    }
    text
}

fn row(report: &RunReport, paper_error: bool) -> Vec<Cell> {
    let worst = report
        .signals
        .values()
        .filter_map(|signal| signal["rel_rms"].as_f64())
        .fold(None, |worst, value| Some(worst.map_or(value, |worst: f64| worst.max(value))));
    let mut row = vec![
        Cell::new(&report.method),
        Cell::new(format_time(report.step)),
        verdict(report.verdict),
        Cell::new(number(report.eps_mono)),
        Cell::new(number(worst)),
        Cell::new(percent(report.energy_drift)),
        Cell::styled(wall(report.wall_s), FAINT),
    ];
    if paper_error {
        row.insert(4, Cell::new(number(report.max_abs_error)));
    }
    row
}

/// A verdict in its colour.
pub(crate) fn verdict(verdict: Verdict) -> Cell {
    match verdict {
        Verdict::NotJudged => Cell::styled("not judged", WARN),
        Verdict::Stable => Cell::styled("stable", GOOD),
        Verdict::Inaccurate => Cell::styled("INACCURATE", BAD),
        Verdict::Unstable => Cell::styled("UNSTABLE", BAD),
        Verdict::Diverged => Cell::styled("DIVERGED", BAD),
        Verdict::Failed => Cell::styled("failed", WARN),
    }
}
