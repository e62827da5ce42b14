//! `costep run` and `costep resume`: one simulation, recorded.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use costep::pages::{check_page_file, write_outcome};
use costep::{
    Code, Doubt, Error, ErrorEstimate, Flow, Outcome, PROJECT_COPY, Project, RECORDING, Run, RunFolder,
    Simulation, System, Verdict, default_folder, head,
};
use costep_core::quantity::{format_time, plain_time};
use costep_project::stop_passed;
use serde_json::{Map, Value, json};

use crate::args::{LimitArgs, ResumeArgs, RunArgs};
use crate::failure::{Failure, to_json};
use crate::fmu_logs::FmuLogs;
use crate::live::Live;
use crate::messages;
use crate::phrases::{argument, convergence_warning, count, method_warning, show_warnings, trials_warning};
use crate::progress::RunProgress;
use crate::stop::{self, Deadline};
use crate::style::{BAD, GOOD, Output, WARN, paint, print_error, print_json, say};
use crate::supervision;
use crate::table::{number, percent, reference_note, wall};
use crate::verbs::report::{command, write_run_page};

pub(crate) fn run(args: &RunArgs, output: Output) -> Result<ExitCode, Failure> {
    args.report.as_deref().map_or(Ok(()), check_page_file)?;
    let overrides = args.coupling.overrides().into_iter().chain(args.control.overrides());
    let system = args.system.open_confined(overrides.collect(), args.sandbox)?;
    let project = system.project();
    let folder =
        (!args.limits.no_record).then(|| args.out.clone().unwrap_or_else(|| default_folder(project)));
    let is_first = !supervision::is_watched();
    let live = args.live.zip(folder.as_deref()).filter(|_| is_first);
    let live = live.map(|(port, folder)| Live::start(port, folder, &system)).transpose()?;
    let code = match supervision::elsewhere(project, folder.as_deref(), Some(&args.limits), output)? {
        Some(code) => code,
        None => run_here(args, &system, folder.as_deref(), output)?,
    };
    // By the process that sees the end of the run, however it ends.
    if let (Some(file), Some(folder), true) = (&args.report, &folder, is_first) {
        write_run_page(folder, file, output)?;
    }
    if let (Some(live), Some(folder)) = (live, &folder) {
        live.finish(folder);
    }
    Ok(code)
}

fn run_here(
    args: &RunArgs,
    system: &System,
    folder: Option<&Path>,
    output: Output,
) -> Result<ExitCode, Failure> {
    let project = system.project();
    let folder = folder.map(RunFolder::lock).transpose()?;
    show_warnings(&project.warnings, &args.system.named(), output);
    let names = project.given.fmus.iter().map(|fmu| fmu.name.as_str());
    messages::listen(folder.as_ref().map(|folder| FmuLogs::begin(folder.path(), names)), output);
    let mut run = limited(&args.limits).reference(&args.reference);
    if let Some(folder) = &folder {
        run = run.record(folder);
    }
    stop::listen();
    let starting = deadline(project, &args.limits, output);
    let begun = Instant::now();
    let simulation = system.start(run).inspect_err(|_| messages::flush())?;
    let start = begun.elapsed();
    drop(starting);
    go(project, (simulation, deadline(project, &args.limits, output), start), folder.as_ref(), output)
}

pub(crate) fn resume(args: &ResumeArgs, output: Output) -> Result<ExitCode, Failure> {
    let system = System::opening_run(&args.dir)?.open()?;
    let project = system.project();
    if let Some(code) = supervision::elsewhere(project, Some(&args.dir), Some(&args.limits), output)? {
        return Ok(code);
    }
    let folder = RunFolder::lock(&args.dir)?;
    messages::listen(Some(FmuLogs::go_on(folder.path())), output);
    stop::listen();
    let starting = deadline(project, &args.limits, output);
    let begun = Instant::now();
    let simulation = Simulation::resume_system(&system, &folder, limited(&args.limits))
        .inspect_err(|_| messages::flush())?;
    if let Some((file, was_complete)) = simulation.resumed_from() {
        let time = plain_time(simulation.time());
        output.remark(&format!("resuming at t = {time} s from {}", file.display()));
        if was_complete {
            output.remark("the run is already complete: steps after its last checkpoint are computed again");
        }
    }
    simulation.origin_remarks().iter().for_each(|remark| output.remark(remark));
    let start = begun.elapsed();
    drop(starting);
    go(project, (simulation, deadline(project, &args.limits, output), start), Some(&folder), output)
}

/// For native systems, at the start and in the run by itself: those with FMUs have somebody who watches them.
fn deadline(project: &Project, limits: &LimitArgs, output: Output) -> Deadline {
    Deadline::begin(limits.time_limit.filter(|_| project.given.fmus.is_empty()), output.json)
}

/// Settings that `run` and `resume` share.
fn limited(limits: &LimitArgs) -> Run {
    let run = Run::new().without_results().cancel(stop::flag()).verify(limits.verification());
    run.time_limit(limits.time_limit).checkpoint_every(limits.checkpoint)
}

fn go(
    project: &Project,
    (mut simulation, deadline, start): (Simulation, Deadline, Duration),
    folder: Option<&RunFolder>,
    output: Output,
) -> Result<ExitCode, Failure> {
    announce(project, &simulation, output);
    let known: Vec<String> = simulation.engine().warnings().map(Into::into).collect();
    let passed_stop = passed_stop(project, &simulation);
    passed_stop.iter().for_each(|warning| output.remark(&warning.to_string()));
    let mut progress = RunProgress::new(output);
    let (is_shown, has_fmus) = (progress.is_wanted(), !project.given.fmus.is_empty());
    // An error of the run is part of its outcome.
    let _ = match is_shown || has_fmus {
        true => simulation.run_with(&mut |step| {
            messages::at(step.time());
            if is_shown {
                progress.see(step);
            }
            Ok(Flow::Continue)
        }),
        false => simulation.run(),
    };
    drop(deadline);
    progress.finish();
    // What has turned out on the way.
    let new = simulation.engine().warnings().filter(|warning| !known.iter().any(|known| known == warning));
    new.for_each(|warning| output.remark(&convergence_warning(warning)));
    let again = simulation.engine().failed_trials();
    again.into_iter().for_each(|warning| output.remark(&trials_warning(warning)));
    simulation.close()?;
    let begun = Instant::now();
    let outcome = simulation.finish().inspect_err(|_| messages::flush())?;
    let besides = Besides { start, judging: begun.elapsed() };
    messages::flush();
    outcome.report.conclusions.iter().for_each(|warning| output.remark(&warning.to_string()));
    if let Some(error) = &outcome.no_checkpoints {
        output.remark(&format!("no checkpoints: {}", error.details().message));
    }
    let warnings: Vec<_> = project.warnings.iter().chain(&passed_stop).collect();
    print(project, &outcome, (folder, &warnings, &besides), output)?;
    Ok(supervision::exit_code(outcome.report.exit))
}

/// The warning that the run goes on behind its stop time, where that turns out with its method and step alone.
fn passed_stop(project: &Project, simulation: &Simulation) -> Option<Error> {
    let asked = project.model.experiment;
    let is_known = project.warnings.iter().any(|warning| warning.code() == Code::StopPassed);
    let passes = simulation.engine().experiment().stop != asked.stop;
    (passes && !is_known).then(|| stop_passed(&project.model, &asked))
}

fn announce(project: &Project, simulation: &Simulation, output: Output) {
    let engine = simulation.engine();
    let methods: Vec<_> = project.groups.iter().map(|group| group.method.label()).collect();
    output.remark(&format!(
        "{}: {}, {}, method {}, {}",
        project.name,
        count(project.model.parts.len(), "subsystem"),
        count(project.model.connections.len(), "connection"),
        methods.join(" + "),
        match &project.control {
            None => format!(
                "step {}, {}",
                format_time(engine.experiment().step),
                count(engine.experiment().steps(), "macro step")
            ),
            Some(control) => format!("steps by {}, at most {}", control.label(), format_time(control.max)),
        },
    ));
    engine.remarks().for_each(|remark| output.remark(&format!("method: {remark}")));
    let warn = |warning| output.remark(&method_warning("method", warning));
    engine.warnings().for_each(warn);
}

fn print(
    project: &Project,
    outcome: &Outcome,
    (folder, warnings, besides): (Option<&RunFolder>, &[&Error], &Besides),
    output: Output,
) -> Result<(), Error> {
    let (report, reference) = (&outcome.report, outcome.reference.as_ref());
    let object = run_object(project, outcome, (folder.map(RunFolder::path), warnings));
    if let Some(folder) = folder {
        let mut outcome = object.clone();
        outcome.insert("command".into(), command());
        write_outcome(folder.absolute(), &Value::Object(outcome))?;
    }
    let folder = folder.map(RunFolder::path);
    if output.json {
        return print_json(&Value::Object(object));
    }
    match &report.error {
        Some(error) => print_error(error),
        None => print_verdict(project, outcome, besides)?,
    }
    let is_good = matches!(report.verdict, Verdict::Stable | Verdict::NotJudged) && report.error.is_none();
    let unitless = project.unitless_step().filter(|_| !is_good);
    unitless.into_iter().for_each(|warning| output.remark(&warning.to_string()));
    for text in reference.and_then(reference_note).into_iter().chain(messages::chat()) {
        output.remark(&text);
    }
    if let (Some(folder), Some(recorded)) = (folder, &outcome.recorded) {
        let (rows, time) = (count(recorded.rows, "row"), plain_time(recorded.time));
        output.remark(&format!("{}: {rows} up to t = {time} s", folder.join(RECORDING).display()));
        match outcome.can_be_resumed {
            true => output.remark(&format!("next: costep resume {}", argument(folder))),
            // The start alone is no picture.
            false if recorded.rows < 2 => {}
            false => output.remark(&format!("next: costep plot {}", argument(folder))),
        }
    }
    Ok(())
}

/// The run as JSON.
fn run_object(
    project: &Project,
    outcome: &Outcome,
    (folder, warnings): (Option<&Path>, &[&Error]),
) -> Map<String, Value> {
    let mut object = head(project, outcome.reference.as_ref());
    if let Value::Object(run) = json!(outcome.report) {
        object.extend(run);
    }
    let path = |file: &str| folder.map(|folder| folder.join(file).display().to_string());
    let files = json!({ "recording": path(RECORDING), "project": path(PROJECT_COPY) });
    object.insert("files".into(), files);
    object.insert("system_warnings".into(), warnings.iter().map(|warning| to_json(warning)).collect());
    object.insert("fmus".into(), json!(messages::said()));
    object.insert("rows".into(), json!(outcome.recorded.as_ref().map(|recorded| recorded.rows)));
    object
}

/// A factor with as many digits as it deserves: `0.527`, `38.6`, `1280574`.
fn real_time_factor(factor: f64) -> String {
    match factor {
        f if f < 10.0 => format!("{f:.3}"),
        f if f < 1000.0 => format!("{f:.1}"),
        f => format!("{f:.0}"),
    }
}

/// What a command takes besides the steps of its run.
struct Besides {
    /// To start the parts, those that are only tried included, and for references that come first.
    start: Duration,
    /// For the reference or second run that the verdict rests on.
    judging: Duration,
}

/// Less than this nobody notices.
const NOTICED: Duration = Duration::from_secs(1);

impl Besides {
    /// What took longer than the run itself, and so long that it is noticed.
    fn line(&self, run_s: f64) -> Option<String> {
        let whole = self.start + self.judging;
        let is_told = whole >= NOTICED && whole.as_secs_f64() > run_s;
        let text = |time: Duration| wall(time.as_secs_f64());
        is_told.then(|| {
            format!(
                "{} to start and try the parts, {} to judge the run",
                text(self.start),
                text(self.judging)
            )
        })
    }
}

fn print_verdict(project: &Project, outcome: &Outcome, besides: &Besides) -> Result<(), Error> {
    let (report, work) = (&outcome.report, &outcome.report.work);
    let simulated = outcome.to - outcome.from;
    let real_time = match simulated > 0.0 {
        true => format!("   {}x real time", real_time_factor(simulated / work.wall_s.max(1e-9))),
        false => String::new(),
    };
    say!("done in {}   {}{real_time}", wall(work.wall_s), count(work.macro_steps, "macro step"))?;
    if let Some(line) = besides.line(work.wall_s) {
        say!("besides  {line}")?;
    }
    for steps in work.control_line().into_iter().chain(work.division_line()) {
        say!("steps    {steps}")?;
    }
    if let Some(times) = &work.times {
        say!("time     {}", times.shares(work.wall_s))?;
    }
    if let Some(solvers) = work.solver_line() {
        say!("solvers  {solvers}")?;
    }
    if !report.held.is_empty() {
        say!("held     {}: switched between a few values", first_of(&report.held))?;
    }
    for bond in &report.bonds {
        say!("bond     {}", bond.line())?;
    }
    if let Some(said) = messages::summary() {
        say!("FMUs     {said}")?;
    }
    say!("{}", verdict_line(outcome))?;
    if let Some(doubt) = &report.doubt {
        say!("         {}", doubt_line(doubt))?;
    }
    if let Some(request) = &report.ended {
        let (message, stop) = (&request.details().message, project.model.experiment.stop);
        say!("{}    {message}, before the stop time of {stop} s", paint(WARN, "ended"))?;
        say!("         {}", request.help())?;
    }
    Ok(())
}

/// `verdict  STABLE   error about 3e-3 of range (half step)`.
fn verdict_line(outcome: &Outcome) -> String {
    let report = &outcome.report;
    let verdict = match report.verdict {
        Verdict::Stable => paint(GOOD, "STABLE"),
        Verdict::NotJudged => paint(WARN, "NOT JUDGED"),
        Verdict::Inaccurate => paint(BAD, "INACCURATE"),
        Verdict::Suspect => paint(BAD, "SUSPECT"),
        _ => paint(BAD, "UNSTABLE"),
    };
    let mut line = format!("verdict  {verdict}");
    if report.errors.eps_mono.is_some() {
        line += &format!(
            "   eps_mono {}   energy drift {}",
            number(report.errors.eps_mono),
            percent(report.errors.energy_drift)
        );
    } else if let Some(ErrorEstimate { value, by, share }) = report.error_estimate
        && report.verdict != Verdict::NotJudged
    {
        line += &format!("   error about {} of range ({by}", rough(value));
        if share < 1.0 {
            line += &format!(", first {} % of the run", (100.0 * share).ceil());
        }
        line += ")";
    }
    line += match report.verdict {
        Verdict::Unstable => "   amplitudes grow: try a smaller step or `costep compare`",
        Verdict::Inaccurate => "   too far off: try a smaller step or `costep compare`",
        Verdict::Suspect => {
            "   not to be believed unseen: try a smaller step, or measure with `--reference same`"
        }
        _ => "",
    };
    if let Some(message) = &report.message {
        line += &format!("   {message}");
    }
    line
}

/// `plant.u, controller.y and 3 others`.
fn first_of(signals: &[String]) -> String {
    const SHOWN: usize = 4;
    let mut names = signals.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if signals.len() > SHOWN {
        names += &format!(" and {} others", signals.len() - SHOWN);
    }
    names
}

/// `oscillates from step to step: plant.u, controller.y; worst between t = 3 s and 4 s`.
fn doubt_line(doubt: &Doubt) -> String {
    let names = first_of(&doubt.signals);
    let time = |time: f64| format_time((time * 1e9).round() * 1e-9);
    format!("{}: {names}; worst between t = {} and {}", doubt.reason, time(doubt.from), time(doubt.to))
}

/// One digit: `3e-5`, `0.2`, `9`, `2e3`.
pub(super) fn rough(value: f64) -> String {
    let rounded: f64 = format!("{value:.0e}").parse().unwrap_or(value);
    if rounded == 0.0 || (0.1..100.0).contains(&rounded) {
        format!("{rounded}")
    } else {
        format!("{rounded:.0e}")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Besides, rough};

    #[test]
    fn what_takes_longer_than_the_run_is_told() {
        let besides = |start, judging| Besides {
            start: Duration::from_millis(start),
            judging: Duration::from_millis(judging),
        };
        let line = besides(4100, 2300).line(0.02).unwrap();
        assert_eq!(line, "4.10 s to start and try the parts, 2.30 s to judge the run");
        assert_eq!(besides(4100, 2300).line(7.0), None);
        assert_eq!(besides(100, 300).line(0.02), None);
    }

    #[test]
    fn errors_have_one_digit() {
        let texts = [3.4e-5, 0.0951, 0.26, 0.99, 8.7, 43.0, 2345.0, 0.0].map(rough);
        assert_eq!(texts, ["3e-5", "0.1", "0.3", "1", "9", "40", "2e3", "0"]);
    }
}
