//! `costep compare`: a matrix of runs against a reference.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use costep::pages::{ComparedRun, ComparisonPage, check_page_file, write_page};
use costep::{
    Code, Compared, Comparison, ComparisonEvent, Error, ExitClass, MethodSpec, Override, Project, Registry,
    RunFolder, RunReport, System, Verdict, head, reference_to_json,
};
use costep_core::quantity::{exact_time, format_time};
use costep_experiments::parse_times;
use costep_fmu_file::PrivateFolder;
use costep_project::{is_of_idle_models, unitless_time};
use serde_json::json;

use crate::args::CompareArgs;
use crate::failure::{Failure, to_json};
use crate::phrases::{given_by, method_warning, show_warnings};
use crate::progress::many_runs;
use crate::stop;
use crate::style::{BAD, FAINT, GOOD, Output, WARN, print, print_error, print_json};
use crate::supervision;
use crate::table::{Cell, number, percent, reference_note, render, wall};
use crate::verbs::report::command;

pub(crate) fn run(args: &CompareArgs, output: Output) -> Result<ExitCode, Failure> {
    args.report.as_deref().map_or(Ok(()), check_page_file)?;
    let overrides = first_step(args.steps.as_deref()).into_iter().chain(args.models_override());
    let overrides = overrides.chain(args.control.overrides());
    let system = args.system.open(overrides.collect())?;
    let project = system.project();
    if let Some(code) = supervision::elsewhere_at_any_cost(project, output)? {
        return Ok(code);
    }
    let mut methods = methods(args.methods.as_deref(), system.registry())?;
    // The project knows nothing of these methods.
    let is_wrong =
        |warning: &Error| is_of_idle_models(warning) && methods.iter().any(MethodSpec::uses_models);
    let warnings: Vec<Error> =
        project.warnings.iter().filter(|warning| !is_wrong(warning)).cloned().collect();
    show_warnings(&warnings, &args.system.named(), output);
    // Without connections all do the same: what can be compared is the step.
    if args.methods.is_none() && project.model.connections.is_empty() {
        refuse_parts_apart(project)?;
        methods.truncate(1);
        output
            .remark("nothing is connected, so there is no coupling: all methods give the same, one is shown");
    }
    let methods = system.with_models(methods, args.models.is_some())?;
    methods.iter().flat_map(MethodSpec::warnings).for_each(|warning| output.remark(&warning.to_string()));
    let steps = steps(args.steps.as_deref(), &system)?;
    let given = args.steps.as_deref().unwrap_or_default();
    let run = project.model.experiment.stop - project.model.experiment.start;
    let flag = format!("--steps {given}");
    let unitless = unitless_time(&flag, given).filter(|time| time.is_long_for(run));
    unitless.into_iter().for_each(|time| output.remark(&time.warning().to_string()));
    system.check_reference(&args.reference)?;
    let comparison = Comparison::new().steps(&steps).reference(&args.reference).cancel(stop::flag());
    let mut comparison = methods.iter().fold(comparison, Comparison::method);
    // Who names methods wants to know of each; else those that can be used are compared.
    if args.methods.is_none() {
        comparison = comparison.only_possible();
    }
    // Before hours of work, not after them.
    let unnamed = folder_for_page(args.report.as_deref().filter(|_| args.out.is_none()))?;
    if let Some(folder) = args.out.as_deref().or(unnamed.as_ref().map(PrivateFolder::path)) {
        comparison = comparison.record(&RunFolder::lock(folder)?);
    }
    stop::listen();
    let bar = many_runs(output, methods.len() * steps.len());
    let begun = Instant::now();
    let compared = system.compare_with(&comparison, &mut |event| match event {
        ComparisonEvent::Reference(step, _) => {
            bar.set_message(format!("reference at {}", format_time(step)));
        }
        ComparisonEvent::Run(method, step) => {
            bar.set_message(format!("{} at {}", method.label(), format_time(step)));
        }
        ComparisonEvent::Done(_) => bar.inc(1),
    })?;
    bar.finish_and_clear();
    if let Some(error) = nothing_possible(&compared) {
        return Err(error.into());
    }
    show(&compared, project, output)?;
    let runs: f64 = compared.reports.iter().map(|report| report.work.wall_s).sum();
    besides_runs(begun.elapsed().as_secs_f64(), runs).iter().for_each(|line| output.remark(line));
    if let Some(file) = &args.report {
        report(file, &system, &compared, output)?;
    }
    if let Some(error) = &compared.stopped {
        return Ok(supervision::exit_code(error.code().entry().exit.code()));
    }
    Ok(supervision::exit_code(exit_code(&compared.reports, output)))
}

/// Parts with neither connections nor external signals are a project that is not finished.
fn refuse_parts_apart(project: &Project) -> Result<(), Error> {
    let is_driven = !project.given.externals.is_empty();
    if project.model.parts.len() == 1 || is_driven {
        return Ok(());
    }
    Err(Error::new(Code::NeedsMissing, "nothing is connected, so there is no coupling to compare methods on")
        .hint("connect the parts first: [[connect]] from = \"part.output\" to = \"part.input\"; `costep run` runs them as they are"))
}

/// What is told of the time where most of it was not taken by the steps of the runs.
fn besides_runs(whole: f64, runs: f64) -> Option<String> {
    const NOTICED: f64 = 1.0;
    let besides = whole - runs;
    let is_told = besides >= NOTICED && besides > runs;
    is_told.then(|| {
        format!(
            "done in {}: {} for the steps of the runs, {} to start the parts and for the reference",
            wall(whole),
            wall(runs),
            wall(besides)
        )
    })
}

/// Why nothing was run at all, if no method can be used here: the reason of the first one.
fn nothing_possible(compared: &Compared) -> Option<Error> {
    let [(_, error), ..] = &compared.not_possible[..] else { return None };
    if !compared.reports.is_empty() || compared.stopped.is_some() {
        return None;
    }
    let details = error.details();
    let others = format!("none of the {} methods is possible here", compared.not_possible.len());
    Some(match &details.cause {
        Some(cause) => error.clone().because(format!("{others}; {cause}")),
        None => error.clone().because(others),
    })
}

/// A folder for recordings that nobody has asked for, if there is to be a page: it draws what was recorded. It goes with the process.
pub(crate) fn folder_for_page(page: Option<&Path>) -> Result<Option<PrivateFolder>, Error> {
    let folder = page.map(|_| PrivateFolder::new()).transpose();
    folder.map_err(|cause| Error::new(Code::FileNotReadable, "cannot make a temporary folder").because(cause))
}

/// Writes the page of runs that were recorded.
pub(crate) fn report(file: &Path, system: &System, compared: &Compared, output: Output) -> Result<(), Error> {
    let (runs, reference) = (ComparedRun::of(compared), compared.solution.as_ref());
    let page = ComparisonPage { system, runs: &runs, reference, command: &command() };
    write_page(file, &page.page())?;
    output.remark(&file.display().to_string());
    Ok(())
}

/// A method that diverges is a result of a comparison, beside others that do not; a run that could not be done is not, and neither
/// is a comparison in which no run came to its end.
fn exit_code(reports: &[RunReport], output: Output) -> u8 {
    if let Some(failed) = reports.iter().find(|report| report.verdict == Verdict::Failed) {
        return failed.exit;
    }
    if reports.iter().any(|report| report.verdict != Verdict::Diverged) {
        return 0;
    }
    output.remark("no run reached its stop time: try smaller steps or other methods");
    ExitClass::Diverged.code()
}

fn show(compared: &Compared, project: &Project, output: Output) -> Result<(), Error> {
    compared.warnings.iter().for_each(|warning| output.remark(&warning.to_string()));
    if output.json {
        let mut object = head(project, compared.references.first());
        if let [_, _, ..] = &compared.references[..] {
            let all: Vec<_> = compared.references.iter().map(|kind| reference_to_json(Some(kind))).collect();
            object.insert("references".into(), json!(all));
        }
        let warnings: Vec<_> = project.warnings.iter().chain(&compared.warnings).map(to_json).collect();
        object.insert("system_warnings".into(), json!(warnings));
        object.insert("runs".into(), json!(compared.reports));
        let left_out = compared.not_possible.iter();
        let left_out: Vec<_> =
            left_out.map(|(method, error)| json!({ "method": method, "error": to_json(error) })).collect();
        object.insert("not_possible".into(), json!(left_out));
        if let Some(error) = &compared.stopped {
            object.insert("errors".into(), json!([to_json(error)]));
        }
        return print_json(&object);
    }
    if !compared.reports.is_empty() {
        print(&comparison_table(&compared.reports, project.model.paper_reference.is_some()))?;
    }
    for line in not_possible(&compared.not_possible) {
        output.remark(&line);
    }
    for report in &compared.reports {
        let (method, step) = (&report.method, format_time(report.step));
        // A start in parts is the rule; a run in parts costs as much as one with smaller steps.
        let division =
            report.work.division_line().filter(|_| 4 * report.work.divided_steps > report.work.macro_steps);
        division.iter().for_each(|text| output.remark(&format!("{method} at {step}: {text}")));
    }
    for (of, text) in warnings(&compared.reports) {
        output.remark(&method_warning(&of, text));
    }
    compared.references.iter().filter_map(reference_note).for_each(|text| output.remark(&text));
    compared.stopped.iter().for_each(print_error);
    Ok(())
}

/// The warnings of runs, each once: `foh at 1 ms, 2 ms`.
fn warnings(reports: &[RunReport]) -> Vec<(String, &str)> {
    let mut all: Vec<(&str, &str, String)> = Vec::new();
    for report in reports {
        for text in &report.warnings {
            let step = format_time(report.step);
            match all.iter_mut().find(|(method, known, _)| (*method, *known) == (&report.method, text)) {
                Some((_, _, steps)) => *steps += &format!(", {step}"),
                None => all.push((&report.method, text, step)),
            }
        }
    }
    all.into_iter().map(|(method, text, steps)| (format!("{method} at {steps}"), text)).collect()
}

/// Methods that cannot be used here, those with the same reason in one line: ``not possible here: lis: `s1` does not ...``.
fn not_possible(left_out: &[(String, Error)]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (method, error) in left_out {
        let reason = error.details().message.as_str();
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, methods)) => methods.push(method),
            None => reasons.push((reason, vec![method])),
        }
    }
    let line =
        |(reason, methods): (&str, Vec<&str>)| format!("not possible here: {}: {reason}", methods.join(", "));
    reasons.into_iter().map(line).collect()
}

fn methods(text: Option<&str>, registry: &Registry) -> Result<Vec<MethodSpec>, Error> {
    let Some(text) = text else { return Comparison::all_methods(registry) };
    let given = |error: Error| given_by(error, &format!("--methods {text}"));
    let methods = registry.methods().parse_list(text).map_err(given)?;
    if methods.is_empty() { Err(Error::new(Code::CommandLine, "no method is given")) } else { Ok(methods) }
}

/// The first of the steps as that of the project, which then needs none of its own.
fn first_step(text: Option<&str>) -> Option<Override> {
    let text = text?;
    let first = *parse_times(text).ok()?.first()?;
    Some(Override::new("step.size", exact_time(first), format!("--steps {text}")))
}

fn steps(text: Option<&str>, system: &System) -> Result<Vec<f64>, Error> {
    let Some(text) = text else { return Ok(vec![system.project().model.experiment.step]) };
    let steps = parse_times(text).map_err(|error| given_by(error, &format!("--steps {text}")))?;
    system.check_steps(&steps).map_err(|error| given_by(error, &format!("--steps {text}")))?;
    Ok(steps)
}

/// The runs as a table for people.
pub(crate) fn comparison_table(reports: &[RunReport], paper_error: bool) -> String {
    let mut header = vec!["method", "step", "result", "eps_mono", "worst error", "energy drift", "time"];
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
    text += &remedies(reports);
    text
}

/// Causes of runs that failed and what to do about them, each once; divergence is a result.
fn remedies(reports: &[RunReport]) -> String {
    let failed = reports.iter().filter(|report| report.verdict == Verdict::Failed);
    let mut said: Vec<String> = Vec::new();
    for error in failed.filter_map(|report| report.error.as_ref()) {
        let cause = error.details().cause.as_ref().map(|cause| format!("  cause: {cause}\n"));
        let text = cause.unwrap_or_default() + &format!("  help: {}\n", error.help());
        if !said.contains(&text) {
            said.push(text);
        }
    }
    said.concat()
}

fn row(report: &RunReport, paper_error: bool) -> Vec<Cell> {
    let worst = report
        .errors
        .signals
        .values()
        .filter_map(|signal| signal["rel_rms"].as_f64())
        .fold(None, |worst, value| Some(worst.map_or(value, |worst: f64| worst.max(value))));
    let mut row = vec![
        Cell::new(&report.method),
        Cell::new(format_time(report.step)),
        verdict(report.verdict),
        Cell::new(number(report.errors.eps_mono)),
        Cell::new(number(worst)),
        Cell::new(percent(report.errors.energy_drift)),
        Cell::styled(wall(report.work.wall_s), FAINT),
    ];
    if paper_error {
        row.insert(4, Cell::new(number(report.errors.max_abs_error)));
    }
    row
}

/// A verdict in its colour.
pub(crate) fn verdict(verdict: Verdict) -> Cell {
    match verdict {
        Verdict::NotJudged => Cell::styled("not judged", WARN),
        Verdict::Stable => Cell::styled("stable", GOOD),
        Verdict::Inaccurate => Cell::styled("INACCURATE", BAD),
        Verdict::Suspect => Cell::styled("SUSPECT", WARN),
        Verdict::Unstable => Cell::styled("UNSTABLE", BAD),
        Verdict::Diverged => Cell::styled("DIVERGED", BAD),
        Verdict::Failed => Cell::styled("failed", WARN),
    }
}

#[cfg(test)]
mod tests {
    use super::besides_runs;

    #[test]
    fn time_that_the_runs_did_not_take_is_told() {
        let expected = "done in 37.00 s: 200.0 ms for the steps of the runs, 36.80 s to start the parts and for the reference";
        assert_eq!(besides_runs(37.0, 0.2).as_deref(), Some(expected));
        assert_eq!((besides_runs(37.0, 30.0), besides_runs(0.5, 0.1)), (None, None));
    }
}
