//! `costep run` and `costep resume`: one simulation, recorded.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use costep_analysis::{GrowthWatch, Reference, ReferenceKind, Trace, measure, paper_error};
use costep_core::quantity::format_time;
use costep_core::{Code, Error, StateReader};
use costep_engine::{Checkpoints, Engine, Flow, Observer, StopFlag, TimeLimit};
use costep_project::{Project, Source};
use costep_results::Table;
use costep_supervise::stopping_exceptions;
use serde_json::{Value, json};

use crate::args::{LimitArgs, ResumeArgs, RunArgs};
use crate::failure::Failure;
use crate::folder::{self, Locked, PREVIOUS_RECORDING, PROJECT_COPY, RECORDING, unwritable};
use crate::messages;
use crate::progress::RunProgress;
use crate::recorder::{Plan, Recorder};
use crate::reference::{self, ReferenceChoice};
use crate::report::{RunReport, Verdict};
use crate::runaway::StartSignals;
use crate::session::{self, Choice};
use crate::stop;
use crate::style::{BAD, GOOD, Output, WARN, paint, print_error, print_json, say};
use crate::supervision;
use crate::table::{number, percent, wall};
use crate::words::{argument, count};

pub(crate) fn run(args: &RunArgs, output: Output) -> Result<ExitCode, Failure> {
    let mut project = session::load(&args.system, args.coupling.overrides())?;
    let folder =
        (!args.limits.no_record).then(|| args.out.clone().unwrap_or_else(|| default_folder(&project)));
    let home = folder.as_deref();
    if let Some(code) = supervision::elsewhere(&project, home, Some(&args.limits), output)? {
        return Ok(code);
    }
    let lock = folder.as_deref().map(folder::lock).transpose()?;
    if let Some(folder) = &folder {
        project.keep_fmus_in(folder)?;
    }
    project.warnings.iter().for_each(|warning| output.remark(&warning.to_string()));
    messages::listen(output);
    let compared = ReferenceChoice::parse(&project, &args.reference)?;
    let choice = Choice::of(&project);
    let engine = session::engine(&project, &choice, compared.is_some())?;
    let watch = reference::watch(&project);
    let mut job = Job { project: &project, engine, files: None, recorder: None, watch, lock };
    if let Some(folder) = folder {
        job.record_in(folder, &args.limits)?;
    }
    let reference = compared.make(&project, choice.step)?;
    job.go(reference.as_ref(), args.reference == "auto", &args.limits, output)
}

pub(crate) fn resume(args: &ResumeArgs, output: Output) -> Result<ExitCode, Failure> {
    let copy = args.dir.join(PROJECT_COPY);
    if !copy.is_file() {
        let error = Error::new(Code::FileNotReadable, "this is not the folder of a run").in_file(&args.dir);
        return Err(error.hint(format!("it has no {PROJECT_COPY}; `costep run --out DIR` makes one")).into());
    }
    let project = costep_project::load(&Source::File(copy), &[])?;
    if let Some(code) = supervision::elsewhere(&project, Some(&args.dir), Some(&args.limits), output)? {
        return Ok(code);
    }
    let lock = Some(folder::lock(&args.dir)?);
    messages::listen(output);
    let mut engine = session::engine(&project, &Choice::of(&project), false)?;
    let mut checkpoints = checkpoints(&args.dir, &project, &args.limits)?;
    let from =
        checkpoints.load(&mut engine).map_err(|error| no_checkpoint(error, &args.dir, &engine, &project))?;
    let mut watch = reference::watch(&project);
    let sizes = (engine.outputs().len(), engine.coupled().len());
    watch.load(sizes, &mut StateReader::new(&checkpoints.notes))?;
    supervision::show_checkpoint(engine.time());
    output.remark(&format!("resuming at t = {} s from {}", engine.time(), from.display()));
    if is_complete(&args.dir, &engine, &project) {
        output.remark("the run is complete already: what follows its last checkpoint is computed again");
    }
    let file = args.dir.join(RECORDING);
    let recorder = Recorder::resume(&file, &engine, &project, checkpoints)?;
    let job = Job {
        project: &project,
        engine,
        files: Some(args.dir.clone()),
        recorder: Some(recorder),
        watch,
        lock,
    };
    job.go(None, true, &args.limits, output)
}

/// Whether the recording of a run goes to its stop time.
fn is_complete(folder: &Path, engine: &Engine, project: &Project) -> bool {
    let all = Plan::new(engine, &project.record).rows_after(engine.experiment().steps());
    let is_whole = |table: Table| table.complete() && table.rows() as u64 >= all;
    Table::open(&folder.join(RECORDING)).is_ok_and(is_whole)
}

fn no_checkpoint(error: Error, folder: &Path, engine: &Engine, project: &Project) -> Error {
    if error.code() != Code::FileNotReadable {
        return error;
    }
    if is_complete(folder, engine, project) {
        return Error::new(Code::RunComplete, "the run is complete, there is nothing to resume")
            .in_file(folder)
            .hint(format!("`costep plot {}` draws it, `costep run` starts it anew", argument(folder)));
    }
    let again = format!("`costep run {}` starts it anew", argument(&folder.join(PROJECT_COPY)));
    match engine.save() {
        Err(impossible) => error.because(&impossible.details().message).hint(again),
        Ok(_) => error.hint(format!("the run ended before its first; {again}")),
    }
}

fn default_folder(project: &Project) -> PathBuf {
    match &project.source {
        Source::Builtin(id) => PathBuf::from(format!("costep-{id}")),
        // A package is one file among others, not a folder of its own.
        Source::File(path) if project.is_ssp() => {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            PathBuf::from(format!("costep-{name}"))
        }
        Source::File(path) => path.parent().map(Path::to_path_buf).unwrap_or_default(),
    }
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

fn checkpoints(folder: &Path, project: &Project, limits: &LimitArgs) -> Result<Checkpoints, Error> {
    // An FMU may go to another folder.
    let place = std::path::absolute(folder).unwrap_or_else(|_| folder.into());
    let identity = format!("{}{}", project.to_toml_in(folder), project.fmu_marks()?);
    Ok(Checkpoints::new(place, identity, limits.checkpoint))
}

/// A run that is about to start.
struct Job<'a> {
    project: &'a Project,
    engine: Engine,
    files: Option<PathBuf>,
    recorder: Option<Recorder>,
    watch: GrowthWatch,
    /// Keeps other runs out of the folder.
    #[expect(dead_code, reason = "held, not read")]
    lock: Option<Locked>,
}

/// Looks at every communication point: row first, then the watch, so that a checkpoint holds both.
struct Keeper<'a> {
    recorder: Option<&'a mut Recorder>,
    progress: &'a mut RunProgress,
}

impl Observer for Keeper<'_> {
    fn observe(&mut self, engine: &Engine) -> costep_core::Result<Flow> {
        if let Some(recorder) = &mut self.recorder {
            recorder.observe(engine)?;
        }
        let flow = self.progress.observe(engine)?;
        if let Some(recorder) = &mut self.recorder {
            recorder.checkpoint_if_due(engine, &self.progress.watch)?;
        }
        Ok(flow)
    }
}

impl Job<'_> {
    /// Prepares the folder: a copy of the project, the recording before this one kept under another name.
    fn record_in(&mut self, folder: PathBuf, limits: &LimitArgs) -> Result<(), Error> {
        let copy = folder.join(PROJECT_COPY);
        if !self.is_own_project(&copy)? {
            fs::write(&copy, self.project.to_toml_in(&folder)).map_err(|cause| unwritable(&copy, &cause))?;
        }
        let file = folder.join(RECORDING);
        if file.exists() {
            fs::rename(&file, folder.join(PREVIOUS_RECORDING)).map_err(|cause| unwritable(&file, &cause))?;
        }
        let checkpoints = checkpoints(&folder, self.project, limits)?;
        checkpoints.clear()?;
        let metadata = [
            ("system".into(), self.project.name.clone()),
            ("method".into(), self.project.groups[0].method.label()),
            ("costep".into(), env!("CARGO_PKG_VERSION").into()),
            ("project".into(), self.project.to_toml_in(&folder)),
        ];
        self.recorder =
            Some(Recorder::create(&file, &self.engine, self.project, &metadata, Some(checkpoints))?);
        self.files = Some(folder);
        Ok(())
    }

    /// Whether the copy of the project would be the file the project was read from. It is never overwritten;
    /// if it does not say the same as the project of this run, the run cannot live in this folder.
    fn is_own_project(&self, copy: &Path) -> Result<bool, Error> {
        let Source::File(source) = &self.project.source else { return Ok(false) };
        match (fs::canonicalize(source), fs::canonicalize(copy)) {
            (Ok(source), Ok(same)) if source == same => {}
            _ => return Ok(false),
        }
        let unchanged = costep_project::load(&Source::File(copy.into()), &[]).is_ok_and(|project| {
            project.to_toml_in(folder_of(copy)) == self.project.to_toml_in(folder_of(copy))
        });
        if unchanged {
            return Ok(true);
        }
        let message = "the project of this run would overwrite the file it came from";
        Err(Error::new(Code::FileNotReadable, message).in_file(copy).hint("choose a folder by `--out DIR`"))
    }

    fn go(
        mut self,
        reference: Option<&Reference>,
        judge: bool,
        limits: &LimitArgs,
        output: Output,
    ) -> Result<ExitCode, Failure> {
        stop::listen(output);
        self.announce(output);
        let mut report = RunReport::new(&self.project.groups[0].method, self.engine.experiment().step);
        let mut progress = RunProgress::new(output);
        progress.watch = std::mem::take(&mut self.watch);
        let mut trace = reference.map(|_| Trace::new(self.engine.outputs().len(), true));
        let mut limit = limits.time_limit.map(TimeLimit::new);
        let mut stop = StopFlag(stop::flag());
        let (start, from) = (Instant::now(), self.engine.time());
        let at_start = StartSignals::of(&self.engine);
        let outcome = {
            let mut keeper = Keeper { recorder: self.recorder.as_mut(), progress: &mut progress };
            let mut observers: Vec<&mut dyn Observer> = Vec::new();
            observers.extend(trace.as_mut().map(|trace| trace as &mut dyn Observer));
            observers.push(&mut keeper);
            observers.extend(limit.as_mut().map(|limit| limit as &mut dyn Observer));
            observers.push(&mut stop);
            let mut shown = supervision::Shown;
            observers.push(&mut shown);
            stopping_exceptions(|| self.engine.run(&mut observers))
        };
        let (outcome, request) = match outcome {
            // To ask for the end is no failure: what came before it counts.
            Err(request) if request.code() == Code::FmuEnds => (Ok(()), Some(request)),
            Err(error) => (Err(at_start.blame_runaway(error, &self.engine)), None),
            Ok(()) => (Ok(()), None),
        };
        // References go on to the stop time.
        let is_whole = request.is_none();
        let reference = reference.filter(|_| is_whole);
        report.wall_s = start.elapsed().as_secs_f64();
        progress.finish();
        report.count(&self.engine);
        let stopped = outcome.as_ref().is_err_and(|e| matches!(e.code(), Code::Stopped | Code::TimeLimit));
        let mut can_go_on = false;
        if let (true, Some(recorder)) = (stopped, &mut self.recorder) {
            // The last state, so that nothing has to be computed again.
            recorder.checkpoint(&self.engine, &progress.watch)?;
            can_go_on = recorder.no_checkpoints.is_none();
        }
        // After an error of the run that error counts, not what it left of the recording.
        let recorded = match (self.close_recording(output), &outcome) {
            (Err(error), Ok(())) => return Err(error.into()),
            (recorded, _) => recorded.unwrap_or_default(),
        };
        match &outcome {
            Err(error) => report.fail(error),
            Ok(()) => {
                let seen = (trace.as_ref(), &progress.watch);
                stop::deaf(|| self.judge(&mut report, seen, reference, judge && is_whole))?;
                request.iter().for_each(|request| report.end_at_request(request));
            }
        }
        let ending = Ending { recorded, can_go_on, from, error: outcome.as_ref().err() };
        self.print(&report, reference.map(|reference| &reference.kind), &ending, output)?;
        Ok(supervision::exit_code(report.exit))
    }

    /// Everything that can be said about a run that came to its end.
    fn judge(
        &self,
        report: &mut RunReport,
        (trace, watch): (Option<&Trace>, &GrowthWatch),
        reference: Option<&Reference>,
        by_twin: bool,
    ) -> Result<(), Error> {
        report.amplitude_ratio = Some(watch.amplitudes().ratio());
        report.judge(watch.can_judge(), self.is_unstable(watch, by_twin)?);
        if let (Some(reference), Some(trace)) = (reference, trace) {
            report.add(&measure(self.engine.descriptions(), trace, reference));
            let stop = self.engine.experiment().stop;
            report.max_abs_error = paper_error(&self.project.model, stop, trace)?;
        }
        report.explain(self.project.model.connections.len());
        if matches!(report.verdict, Verdict::Unstable | Verdict::Inaccurate) {
            report.exit = costep_core::ExitClass::Diverged.code();
        }
        Ok(())
    }

    /// Against the monolithic twin where that is affordable, else by the growth of signals and coupling errors.
    fn is_unstable(&self, watch: &GrowthWatch, judge: bool) -> Result<(bool, &'static str), Error> {
        let twin = if judge { reference::twin(self.project, watch)? } else { None };
        Ok(match twin {
            Some(twin) => (watch.is_unstable_against(&twin), "twin"),
            None => (watch.looks_unstable(), "growth"),
        })
    }

    fn announce(&self, output: Output) {
        let (project, engine) = (self.project, &self.engine);
        let methods: Vec<_> = project.groups.iter().map(|group| group.method.label()).collect();
        output.remark(&format!(
            "{}: {}, {}, method {}, step {}, {}",
            project.name,
            count(project.model.parts.len(), "subsystem"),
            count(project.model.connections.len(), "connection"),
            methods.join(" + "),
            format_time(engine.experiment().step),
            count(engine.experiment().steps(), "macro step"),
        ));
        engine.remarks().for_each(|remark| output.remark(&format!("method: {remark}")));
        engine.warnings().for_each(|warning| output.remark(&format!("warning: method: {warning}")));
    }

    fn close_recording(&mut self, output: Output) -> Result<Option<(u64, f64)>, Error> {
        let Some(recorder) = self.recorder.take() else { return Ok(None) };
        if let Some(error) = &recorder.no_checkpoints {
            output.remark(&format!("no checkpoints: {}", error.details().message));
        }
        recorder.finish().map(Some)
    }

    fn print(
        &self,
        report: &RunReport,
        reference: Option<&ReferenceKind>,
        ending: &Ending<'_>,
        output: Output,
    ) -> Result<(), Error> {
        let recording = self.files.as_ref().map(|folder| folder.join(RECORDING));
        if output.json {
            let mut object = session::head(self.project, reference::to_json(reference));
            if let Value::Object(run) = json!(report) {
                object.extend(run);
            }
            let path = |file: &str| self.files.as_ref().map(|folder| folder.join(file).display().to_string());
            let files = json!({ "recording": path(RECORDING), "project": path(PROJECT_COPY) });
            object.insert("files".into(), files);
            object.insert("fmus".into(), json!(messages::said()));
            object.insert("rows".into(), json!(ending.recorded.map(|(rows, _)| rows)));
            return print_json(&object);
        }
        match ending.error {
            Some(error) => print_error(error),
            None => self.print_verdict(report, ending.from)?,
        }
        if let Some(text) = reference.and_then(reference::to_text) {
            output.remark(&text);
        }
        if let (Some(file), Some(folder), Some((rows, time))) = (recording, &self.files, ending.recorded) {
            output.remark(&format!("{}: {} up to t = {time} s", file.display(), count(rows, "row")));
            output.remark(&match ending.can_go_on {
                true => format!("next: costep resume {}", argument(folder)),
                false => format!("next: costep plot {}", argument(folder)),
            });
        }
        Ok(())
    }

    fn print_verdict(&self, report: &RunReport, from: f64) -> Result<(), Error> {
        let simulated = self.engine.time() - from;
        say!(
            "done in {}   {}   {:.3}x real time",
            wall(report.wall_s),
            count(report.macro_steps, "macro step"),
            simulated / report.wall_s.max(1e-9),
        )?;
        if let Some(division) = report.division_line() {
            say!("steps    {division}")?;
        }
        if let Some(times) = &report.times {
            say!("time     {}", times.shares(report.wall_s))?;
        }
        if let Some(solvers) = report.solver_line() {
            say!("solvers  {solvers}")?;
        }
        if let Some(said) = messages::summary() {
            say!("FMUs     {said}")?;
        }
        let verdict = match report.verdict {
            Verdict::Stable => paint(GOOD, "STABLE"),
            Verdict::NotJudged => paint(WARN, "NOT JUDGED"),
            Verdict::Inaccurate => paint(BAD, "INACCURATE"),
            _ => paint(BAD, "UNSTABLE"),
        };
        let mut line = format!("verdict  {verdict}");
        if report.eps_mono.is_some() {
            line += &format!(
                "   eps_mono {}   energy drift {}",
                number(report.eps_mono),
                percent(report.energy_drift)
            );
        } else if report.verdict == Verdict::Unstable {
            line += "   amplitudes grow: try a smaller step or `costep compare`";
        } else if report.verdict == Verdict::Stable && report.judged_by == Some("growth") {
            line += "   a guess, as nothing grows: `--reference same` measures the error";
        }
        if report.verdict == Verdict::Inaccurate {
            line += "   far from the reference: try a smaller step or `costep compare`";
        }
        if let Some(message) = &report.message {
            line += &format!("   {message}");
        }
        say!("{line}")?;
        if let Some(request) = &report.request {
            let stop = self.engine.experiment().stop;
            say!("{}    {request}, before the stop time of {stop} s", paint(WARN, "ended"))?;
        }
        Ok(())
    }
}

/// How a run ended.
struct Ending<'a> {
    /// Rows and the time of the last.
    recorded: Option<(u64, f64)>,
    /// Whether it was stopped and can be resumed.
    can_go_on: bool,
    /// The time at which this process began.
    from: f64,
    error: Option<&'a Error>,
}
