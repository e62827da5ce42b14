//! A run step by step.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use costep_analysis::{BondWatch, ExcitationWatch, Reference, RunWatch, Trace, measure, paper_error};
use costep_core::quantity::format_time;
use costep_core::{Code, Error, ExitClass, Experiment, External, Learning, Result, StateReader, StateWriter};
use costep_engine::{Engine, Flow, Observer, StopFlag, TimeLimit};
use costep_methods::MethodSpec;
use costep_project::{Project, StopCondition};
use costep_supervise::stopping_exceptions;

use crate::assemble::{self, Choice};
use crate::between;
use crate::cancel::Cancel;
use crate::errors::Errors;
use crate::files;
use crate::folder::{RECORDING, RunFolder};
use crate::names::Names;
use crate::origin;
use crate::outcome::{Outcome, Recorded};
use crate::recorder::Recorder;
use crate::reference::ReferenceChoice;
use crate::report::{RunReport, Verdict};
use crate::results::Results;
use crate::run::Run;
use crate::shell_word;
use crate::step::Step;
use crate::supervised;
use crate::system::System;
use crate::verdict::{Beside, Evidence, Verify};
use crate::waiting::Waiting;
use costep_engine::divergence::StartSignals;

/// Looks at every communication point and may end the run; see [`Step`].
pub type StepObserver<'a> = dyn FnMut(&Step<'_>) -> Result<Flow> + 'a;

/// A state of a run to go back to.
///
/// ```
/// let mut run = costep::System::open("dual-mass")?.start(costep::Run::new())?;
/// run.run_until(0.01)?;
/// let snapshot = run.snapshot()?;
/// run.run_until(0.02)?;
/// let x = run.output("s1.x")?;
/// run.restore(&snapshot)?;
/// run.run_until(0.02)?;
/// assert_eq!(run.output("s1.x")?, x); // to the last bit
/// # Ok::<(), costep::Errors>(())
/// ```
#[derive(Clone, Debug)]
pub struct Snapshot {
    engine: Vec<u8>,
    watch: Vec<u8>,
    externals: Vec<(usize, External)>,
}

/// Whether the models of a method are identified while the run goes.
fn is_identified(method: &MethodSpec) -> bool {
    matches!(method.models.offer().learning, Learning::Recursive | Learning::Window)
}

/// What looks at every communication point.
struct Watchers {
    names: Arc<Names>,
    /// The last point that was looked at.
    seen: Option<u64>,
    trace: Option<Trace>,
    recorder: Option<Recorder>,
    watch: RunWatch,
    bonds: BondWatch,
    /// Whether the inputs say enough, where models are identified.
    excitation: Option<ExcitationWatch>,
    limit: Option<TimeLimit>,
    cancel: Cancel,
    stop_when: Vec<StopCondition>,
}

impl Watchers {
    /// Row first, then the watch, so that a checkpoint holds both.
    #[inline(always)]
    fn look(&mut self, engine: &Engine, observer: Option<&mut StepObserver<'_>>) -> Result<Flow> {
        if self.seen == Some(engine.k()) {
            return Ok(Flow::Continue);
        }
        self.seen = Some(engine.k());
        if let Some(trace) = &mut self.trace {
            trace.observe(engine)?;
        }
        self.bonds.look(engine);
        if let Some(recorder) = &mut self.recorder {
            recorder.look(engine, &self.bonds)?;
        }
        self.watch.observe(engine)?;
        if let Some(excitation) = &mut self.excitation {
            excitation.observe(engine)?;
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.checkpoint_if_due(engine, (&self.watch, &self.bonds))?;
        }
        let flow = match observer {
            Some(observer) => observer(&Step { engine, names: &self.names, watch: &self.watch })?,
            None => Flow::Continue,
        };
        if let Some(limit) = &mut self.limit {
            limit.observe(engine)?;
        }
        StopFlag(self.cancel.flag()).observe(engine).map_err(|stopped| self.cancel.named(stopped))?;
        supervised::obey(engine)?;
        if let Some(met) = self.stop_when.iter().find(|condition| condition.holds(engine.outputs())) {
            return Err(stopped_by(met, engine));
        }
        Ok(flow)
    }
}

/// How far a run is to go on.
#[derive(Clone, Copy)]
enum Until {
    /// To this communication point.
    Point(u64),
    /// To the first communication point at or after this time.
    Time(f64),
}

impl Until {
    #[inline]
    fn is_reached(self, engine: &Engine) -> bool {
        match self {
            Self::Point(k) => engine.k() >= k,
            Self::Time(time) => engine.time() >= time,
        }
    }
}

/// How a run without a reference is judged.
#[derive(Clone, Copy)]
struct Verification {
    /// By the monolithic solution, where that is affordable.
    monolithic: bool,
    second_run: Verify,
    /// Wall time that all may take.
    time_limit: Option<Duration>,
}

/// What is left of a recording that was closed.
#[derive(Default)]
struct Closed {
    recorded: Option<Recorded>,
    can_be_resumed: bool,
    no_checkpoints: Option<Error>,
}

/// A system that is being simulated, macro step by macro step. It owns everything it needs and may be moved
/// to another thread.
///
/// ```
/// let system = costep::System::open("dual-mass")?;
/// let mut simulation = system.start(costep::Run::new().method("predictive").step(1e-3))?;
/// while simulation.time() < 0.02 {
///     simulation.step()?;
///     println!("{:.3} s: {:.6} m", simulation.time(), simulation.output("s1.x")?);
/// }
/// let outcome = simulation.finish()?;
/// assert_eq!(outcome.report.work.macro_steps, 20);
/// # Ok::<(), costep::Errors>(())
/// ```
pub struct Simulation {
    project: Arc<Project>,
    engine: Engine,
    watchers: Watchers,
    reference: Option<Reference>,
    /// What it is compared with once its steps are known.
    compared_later: ReferenceChoice,
    verification: Verification,
    keep_results: bool,
    folder: Option<RunFolder>,
    time_limit: Option<Duration>,
    at_start: StartSignals,
    from: f64,
    wall: Duration,
    /// The error that ended it, or an FMU's request for the end.
    ended: Option<Error>,
    closed: Option<Closed>,
    /// Checkpoint that it goes on from, and whether its recording was complete already.
    resumed: Option<(PathBuf, bool)>,
    /// What is to be said of the project that it came from.
    origin_remarks: Vec<String>,
}

impl Simulation {
    /// A system with settings of a run, at its start.
    pub(crate) fn new(system: &System, run: Run) -> Result<Self> {
        let folder = run.record.clone().map(crate::run::RecordTo::lock).transpose()?;
        let base = Arc::clone(&system.project);
        let system = system.configured(&run, folder.as_ref())?;
        let project = &system.project;
        let compared = ReferenceChoice::parse(project, system.registry.solvers(), &run.reference)?;
        let looks_inside = compared.is_some() || folder.is_some() && between::is_wanted(project);
        let engine = assemble::engine(project, &Choice::of(project), looks_inside)
            .map_err(|error| project.say_which_fmu(project.say_how_to_wait(error)))
            .inspect_err(|_| folder.iter().for_each(files::put_aside))?;
        let recorder = folder
            .as_ref()
            .map(|folder| files::begin(folder, (&base, project), &system.registry, &engine, run.checkpoint))
            .transpose()?;
        let waiting = Waiting::new(&run.cancel, run.time_limit);
        let reference = compared.make(project, engine.experiment().step, &waiting)?;
        let is_compared = compared.is_some();
        let mut simulation = Self::ready(project.clone(), engine, recorder, RunWatch::default(), &run);
        simulation.folder = folder;
        simulation.watchers.trace = (run.keep_results || is_compared)
            .then(|| Trace::new(simulation.engine.outputs().len(), is_compared));
        simulation.reference = reference;
        simulation.compared_later = compared.filter(project);
        Ok(simulation)
    }

    fn ready(
        project: Arc<Project>,
        engine: Engine,
        recorder: Option<Recorder>,
        watch: RunWatch,
        run: &Run,
    ) -> Self {
        let names = Arc::new(Names::new(engine.descriptions().iter()));
        let cancel = run.cancel.clone();
        let bonds = BondWatch::new(project.power_bonds());
        let stop_when = project.given.stop_when.clone();
        let method = &project.groups[0].method;
        let learns = engine.uses_models() && is_identified(method);
        let watchers = Watchers {
            excitation: learns.then(|| ExcitationWatch::new(&engine, method)),
            names,
            seen: None,
            trace: None,
            recorder,
            watch,
            bonds,
            limit: None,
            cancel,
            stop_when,
        };
        Self {
            at_start: StartSignals::of(&engine),
            from: engine.time(),
            project,
            engine,
            watchers,
            reference: None,
            compared_later: ReferenceChoice::Nothing,
            verification: Verification {
                monolithic: run.reference == "auto" && run.verify != Verify::Never,
                second_run: run.verify,
                time_limit: run.time_limit,
            },
            keep_results: run.keep_results,
            folder: None,
            time_limit: run.time_limit,
            wall: Duration::ZERO,
            ended: None,
            closed: None,
            resumed: None,
            origin_remarks: Vec::new(),
        }
    }

    /// Goes on with a recorded run that was stopped or killed: from the newest checkpoint in its folder,
    /// with the same bits as if it had never ended. Of the settings only limits count; results are those of
    /// the recording.
    ///
    /// ```
    /// use std::time::Duration;
    /// use costep::{Run, RunFolder, Simulation, System};
    ///
    /// let folder = std::env::temp_dir().join(format!("costep-resume-{}", std::process::id()));
    /// let stopped = Run::new().record(folder.as_path()).time_limit(Some(Duration::ZERO));
    /// let outcome = System::open("dual-mass")?.run(stopped)?;
    /// assert!(outcome.can_be_resumed);
    /// let outcome = Simulation::resume(&RunFolder::lock(&folder)?, Run::new())?.complete()?;
    /// assert!(outcome.error().is_none());
    /// # std::fs::remove_dir_all(folder).unwrap();
    /// # Ok::<(), costep::Errors>(())
    /// ```
    pub fn resume(folder: &RunFolder, run: Run) -> Result<Self, Errors> {
        let system = System::opening_run(folder.path())?.open()?;
        Ok(Self::resume_system(&system, folder, run)?)
    }

    /// The same for a system that was opened already from the copy in the folder.
    pub fn resume_system(system: &System, folder: &RunFolder, run: Run) -> Result<Self> {
        let (project, path) = (&system.project, folder.path());
        let remarks = origin::require_unchanged(system, folder);
        let place = folder.reached();
        let engine = assemble::engine(project, &Choice::of(project), false);
        let remarks = remarks.map_err(|changed| match &engine {
            Ok(engine) if files::is_complete(place, engine, project) => changed.complete(project),
            _ => changed.error(),
        })?;
        let mut engine = engine?;
        let mut checkpoints = files::checkpoints(folder.absolute(), project, run.checkpoint)?;
        let from = checkpoints
            .load(&mut engine)
            .map_err(|error| files::no_checkpoint(error, path, &engine, project))?;
        let mut watch = RunWatch::default();
        let mut notes = StateReader::new(&checkpoints.notes);
        watch.load(&engine, &mut notes)?;
        let mut bonds = BondWatch::new(project.power_bonds());
        bonds.load(&engine, &mut notes)?;
        supervised::show_checkpoint(engine.time());
        let was_complete = files::is_complete(place, &engine, project);
        let recorder = Recorder::resume(&place.join(RECORDING), &engine, project, checkpoints)?;
        let mut simulation = Self::ready(project.clone(), engine, Some(recorder), watch, &run);
        simulation.watchers.bonds = bonds;
        // The process that wrote the checkpoint has looked at it.
        simulation.watchers.seen = Some(simulation.engine.k());
        simulation.folder = Some(folder.clone());
        simulation.keep_results = false;
        simulation.resumed = Some((from, was_complete));
        simulation.origin_remarks = remarks;
        Ok(simulation)
    }

    /// T^k in s.
    pub fn time(&self) -> f64 {
        self.engine.time()
    }

    /// Number of macro steps so far, k.
    pub fn number(&self) -> u64 {
        self.engine.k()
    }

    /// Whether the stop time is reached, or the run has ended with an error.
    pub fn is_done(&self) -> bool {
        self.ended.is_some() || self.engine.is_over()
    }

    /// The output with this name, `part.port`.
    pub fn output(&self, name: &str) -> Result<f64> {
        self.now().output(name)
    }

    /// What the input with this name, `part.port`, should be now.
    pub fn input(&self, name: &str) -> Result<f64> {
        self.now().input(name)
    }

    /// Gives an input that is driven from outside another value from now on: see
    /// [`System::driven`]. Not for recorded runs: a resumed one would not know of it.
    ///
    /// ```
    /// let system = costep::System::builder()
    ///     .native(costep::NativePart::new("tank", &[0.0]).input("flow", "m3/s", 1.0).output("level", "m", 1.0)
    ///         .derivatives(|_, _, u, dx| dx[0] = u[0]).outputs(|_, x, _, y| y[0] = x[0]))
    ///     .drive("tank.flow", costep::External::Constant(1.0))
    ///     .method("zoh").stop(2.0).step(0.5).build()?;
    /// let mut run = system.start(costep::Run::new())?;
    /// run.run_until(1.0)?;
    /// run.set_input("tank.flow", -1.0)?;
    /// run.run_until(2.0)?;
    /// assert!(run.output("tank.level")?.abs() < 1e-9);
    /// # Ok::<(), costep::Errors>(())
    /// ```
    pub fn set_input(&mut self, name: &str, value: f64) -> Result<()> {
        let input = self.watchers.names.input(name)?;
        if !value.is_finite() {
            return Err(Error::new(Code::BadValue, format!("`{name}` cannot be {value}")));
        }
        if self.folder.is_some() {
            return Err(Error::new(Code::NeedsMissing, "inputs of a recorded run cannot be set")
                .hint("run it without recording"));
        }
        match self.project.driven().contains(&input) && self.engine.drive(input, value) {
            true => Ok(()),
            false => Err(Error::new(Code::NeedsMissing, format!("nothing drives `{name}` from outside"))
                .because("it follows what it is connected to, or keeps the start value of its FMU")
                .hint("give it an external input, [[external]] in a project")),
        }
    }

    /// All outputs, in the order of [`System::outputs`].
    pub fn outputs(&self) -> &[f64] {
        self.engine.outputs()
    }

    /// The present communication point, as observers see it.
    pub fn now(&self) -> Step<'_> {
        Step { engine: &self.engine, names: &self.watchers.names, watch: &self.watchers.watch }
    }

    /// The engine that does the steps.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The error that ended it.
    pub(crate) fn ended(&self) -> Option<&Error> {
        self.ended.as_ref()
    }

    pub(crate) fn is_recorded(&self) -> bool {
        self.folder.is_some()
    }

    pub(crate) fn project(&self) -> &Project {
        &self.project
    }

    /// Another engine at the same communication point.
    pub(crate) fn go_on_with(&mut self, project: Arc<Project>, engine: Engine) {
        (self.project, self.engine) = (project, engine);
    }

    /// What a resumed run does not heed of the project that it came from.
    pub fn origin_remarks(&self) -> &[String] {
        &self.origin_remarks
    }

    /// The checkpoint that it goes on from, and whether the recording was complete already.
    pub fn resumed_from(&self) -> Option<(&Path, bool)> {
        self.resumed.as_ref().map(|(file, was_complete)| (file.as_path(), *was_complete))
    }

    /// One macro step. Nothing happens at the end of the run.
    pub fn step(&mut self) -> Result<()> {
        self.advance(Until::Point(self.engine.k() + 1), None)
    }

    /// Goes on to the first communication point at or after this time, or to the end of the run.
    pub fn run_until(&mut self, time: f64) -> Result<()> {
        // Equal steps are counted: the time of a communication point has its round-off.
        let steps = Experiment { stop: time, ..*self.engine.experiment() }.steps();
        let has_equal_steps = self.engine.progress_at(0).is_some();
        self.advance(if has_equal_steps { Until::Point(steps) } else { Until::Time(time) }, None)
    }

    /// Goes on to the end of the run.
    pub fn run(&mut self) -> Result<()> {
        self.advance(Until::Point(u64::MAX), None)
    }

    /// Goes on to the end of the run, or until the observer says [`Flow::Stop`].
    pub fn run_with(&mut self, observer: &mut StepObserver<'_>) -> Result<()> {
        self.advance(Until::Point(u64::MAX), Some(observer))
    }

    /// Goes on to the end of the run and judges it. Errors that end the run are part of the outcome.
    pub fn complete(mut self) -> Result<Outcome> {
        // An error of the run is kept, and part of the outcome.
        let _ = self.run();
        self.finish()
    }

    /// The same with an observer of every step.
    pub fn complete_with(mut self, observer: &mut StepObserver<'_>) -> Result<Outcome> {
        let _ = self.run_with(observer);
        self.finish()
    }

    fn advance(&mut self, until: Until, mut observer: Option<&mut StepObserver<'_>>) -> Result<()> {
        if let Some(error) = &self.ended {
            return Err(error.clone());
        }
        if self.watchers.seen == Some(self.engine.k()) && until.is_reached(&self.engine) {
            return Ok(());
        }
        let start = Instant::now();
        self.watchers.limit = self.watchers.limit.take().or_else(|| self.time_limit.map(TimeLimit::new));
        let watchers = &mut self.watchers;
        let look = |engine: &Engine| {
            let flow = watchers.look(engine, observer.as_deref_mut())?;
            Ok(if until.is_reached(engine) { Flow::Stop } else { flow })
        };
        let outcome = stopping_exceptions(|| self.engine.run_with(look));
        self.wall += start.elapsed();
        let outcome = outcome.map_err(|error| match error.code() {
            // To ask for the end is not a failure: what came before it counts.
            Code::Hung => self.project.say_how_to_wait(error),
            Code::FmuEnds if has_done_nothing(&self.engine) => ended_at_start(error),
            _ if is_wish(&error, &self.engine) => error,
            _ => {
                let exploding = self.watchers.watch.exploding();
                self.project.say_where_to_look(self.at_start.blame(error, &self.engine, exploding))
            }
        });
        self.ended = outcome.as_ref().err().cloned();
        outcome
    }

    /// The state at this communication point, to be restored later. An error if a part cannot save its
    /// state.
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        // The start is looked at by the first step, else here.
        self.advance(Until::Point(self.engine.k()), None)?;
        let mut watch = StateWriter::default();
        self.watchers.watch.save(&mut watch);
        self.watchers.bonds.save(&mut watch);
        let externals = self.engine.externals().to_vec();
        Ok(Snapshot { engine: self.engine.save()?, watch: watch.into_bytes(), externals })
    }

    /// Goes back to a state of this run, also after an error. What came after it is forgotten. Not possible
    /// for recorded runs: rows on disk stay there.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        if self.folder.is_some() {
            return Err(Error::new(Code::NeedsMissing, "a recorded run cannot go back")
                .because("its rows are on disk")
                .hint("run it without recording"));
        }
        self.engine.set_externals(&snapshot.externals);
        self.engine.load(&snapshot.engine)?;
        let mut notes = StateReader::new(&snapshot.watch);
        self.watchers.watch.load(&self.engine, &mut notes)?;
        self.watchers.bonds.load(&self.engine, &mut notes)?;
        if let Some(trace) = &mut self.watchers.trace {
            let points = self.engine.k() as usize + 1;
            trace.times.truncate(points);
            trace.rows.truncate(points * trace.outputs);
            trace.energy.truncate(points);
            trace.micro = None;
        }
        self.watchers.seen = Some(self.engine.k());
        self.ended = None;
        Ok(())
    }

    /// Closes the recording, with a checkpoint if the run was stopped. [`Simulation::finish`] does that too;
    /// a program that is to be interruptible while the run is judged does it before.
    pub fn close(&mut self) -> Result<()> {
        if self.closed.is_some() {
            return Ok(());
        }
        let mut closed = Closed::default();
        let failed = self.ended.as_ref().is_some_and(|error| !is_wish(error, &self.engine));
        let is_stop = |error: &Error| matches!(error.code(), Code::Stopped | Code::TimeLimit);
        let stopped = self.ended.as_ref().is_some_and(is_stop);
        if let Some(mut recorder) = self.watchers.recorder.take() {
            if stopped {
                // The last state, so that nothing has to be computed again.
                recorder.checkpoint(&self.engine, (&self.watchers.watch, &self.watchers.bonds))?;
                closed.can_be_resumed = recorder.no_checkpoints.is_none();
                if let (true, Some(folder)) = (closed.can_be_resumed, &self.folder) {
                    let hint = format!("`costep resume {}` goes on from here", shell_word(folder.path()));
                    self.ended = self.ended.take().map(|error| error.hint(hint));
                }
            }
            closed.no_checkpoints = recorder.no_checkpoints.take();
            let folder = self.folder.as_ref().map(|folder| folder.path().to_path_buf()).unwrap_or_default();
            match recorder.finish() {
                Ok((rows, time)) => closed.recorded = Some(Recorded { folder, rows, time }),
                // After an error of the run that error counts, not what it left of the recording.
                Err(error) if !failed => return Err(error),
                Err(_) => {}
            }
        }
        self.closed = Some(closed);
        Ok(())
    }

    /// Judges what has been computed.
    pub fn finish(mut self) -> Result<Outcome> {
        self.close()?;
        if let Some(trace) =
            self.watchers.trace.as_ref().filter(|_| self.ended.is_none() && self.engine.is_over())
        {
            let left = self.time_limit.map(|limit| limit.saturating_sub(self.wall));
            let waiting = Waiting::new(&self.watchers.cancel, left);
            self.reference = self.reference.or(self.compared_later.along(&self.project, trace, &waiting)?);
        }
        let Self { project, engine, watchers, reference, verification, keep_results, .. } = self;
        let experiment = *engine.experiment();
        let mut report = RunReport::new(&project.groups[0].method, experiment.step);
        report.count(&engine, self.wall.as_secs_f64());
        report.take_bonds(&watchers.bonds);
        if let Some(excitation) = &watchers.excitation {
            report.take_excitation(&excitation.found(&engine));
        }
        let (to, is_whole) = (engine.time(), self.ended.is_none() && engine.is_over());
        let failure = self.ended.as_ref().filter(|error| !is_wish(error, &engine));
        if let Some(error) = failure {
            report.fail(error);
        } else {
            let ended = EndedRun { project: &project, watchers: &watchers, is_whole, wall: self.wall };
            ended.judge(engine, (reference.as_ref(), verification), &mut report)?;
            if !is_whole {
                report.end_early(self.ended.as_ref());
            }
        }
        let trace = watchers.trace.filter(|_| keep_results);
        let closed = self.closed.unwrap_or_default();
        let compared = reference.filter(|_| is_whole || failure.is_some());
        Ok(Outcome {
            report,
            results: trace.map(|trace| Results::new(watchers.names, trace)),
            reference: compared.map(|reference| reference.kind),
            from: self.from,
            to,
            recorded: closed.recorded,
            can_be_resumed: closed.can_be_resumed,
            no_checkpoints: closed.no_checkpoints,
        })
    }
}

/// What is left of a run that ended without an error.
struct EndedRun<'a> {
    project: &'a Project,
    watchers: &'a Watchers,
    /// It came to its stop time.
    is_whole: bool,
    wall: Duration,
}

impl EndedRun<'_> {
    /// Everything that can be said about it. References go on to the stop time.
    fn judge(
        &self,
        engine: Engine,
        (reference, verification): (Option<&Reference>, Verification),
        report: &mut RunReport,
    ) -> Result<()> {
        report.errors.amplitude_ratio = Some(self.watchers.watch.amplitudes().ratio());
        match reference.filter(|_| self.is_whole).zip(self.watchers.trace.as_ref()) {
            Some((reference, trace)) => {
                reference.check_times(trace)?;
                report.add(&measure(engine.descriptions(), trace, reference), &reference.kind);
                let stop = engine.experiment().stop;
                report.errors.max_abs_error = paper_error(&self.project.model, stop, trace)?;
            }
            // Errors as shares of ranges say nothing where nothing moves.
            None if self.project.given.is_steady && self.watchers.watch.rests(engine.descriptions()) => {
                report.message = Some("nothing moves after a start at rest".into());
            }
            None => self.judge_alone(engine, verification, report),
        }
        report.explain(self.project.model.connections.len());
        report.compare_with_tolerance(self.project.control.as_ref());
        if matches!(report.verdict, Verdict::Unstable | Verdict::Inaccurate) {
            report.exit = ExitClass::Diverged.code();
        }
        Ok(())
    }

    /// Without a reference: by the monolithic solution or a second run, else by what was seen.
    fn judge_alone(&self, engine: Engine, verification: Verification, report: &mut RunReport) {
        let (experiment, share_here) = (*engine.experiment(), share_done_here(&engine));
        let steps = if engine.progress_at(0).is_some() { experiment.steps() } else { engine.k() };
        let Watchers { watch, names, cancel, .. } = self.watchers;
        let left = verification.time_limit.map(|limit| limit.saturating_sub(self.wall));
        let waiting = Waiting::new(cancel, left);
        let evidence = Evidence { project: self.project, experiment, steps, watch, names };
        let mut beside = Beside::Nothing;
        if self.is_whole && verification.monolithic {
            beside = evidence.monolithic(&waiting);
        }
        // A resumed run has done a part of its steps only.
        let wall = self.wall.mul_f64(1.0 / share_here);
        let budget = evidence.share_to_verify(verification.second_run, wall, verification.time_limit);
        // A monolithic solution that fails leaves the run alone.
        let is_alone = self.is_whole && !matches!(beside, Beside::Found(..));
        if let (true, Some(budget)) = (is_alone, budget) {
            // Some FMUs can have one instance at a time only.
            drop(engine);
            beside = evidence.half_step(budget, &waiting);
        }
        evidence.judge(&beside, report);
    }
}

#[cold]
fn stopped_by(condition: &StopCondition, engine: &Engine) -> Error {
    let time = format_time(engine.time());
    Error::new(Code::ConditionMet, format!("`{}` holds at t = {time}", condition.text))
}

/// Whether it is no failure but the wish to end the run: of an FMU, or of the project by a condition. An FMU that ends the run before
/// a step is done leaves nothing behind that somebody could have wished for.
fn is_wish(error: &Error, engine: &Engine) -> bool {
    match error.code() {
        Code::FmuEnds => !has_done_nothing(engine),
        code => code == Code::ConditionMet,
    }
}

/// Whether no step is done of several: a run of one step alone may be ended within it.
fn has_done_nothing(engine: &Engine) -> bool {
    engine.k() == 0 && engine.experiment().steps() > 1
}

/// The error of an FMU that ends the run in its first step.
#[cold]
fn ended_at_start(error: Error) -> Error {
    const NOTHING_DONE: &str = "not a single step has been done";
    let is_about_code = error.help().contains("do_step");
    let error = error.because(NOTHING_DONE);
    match is_about_code {
        true => error,
        false => error.hint("look why it ends: `log = true` in its table makes it say all it can"),
    }
}

/// How much of the run this process has done.
fn share_done_here(engine: &Engine) -> f64 {
    let Experiment { start, stop, .. } = *engine.experiment();
    let share = match engine.progress_at(0) {
        Some(_) => engine.steps_here().max(1) as f64 / engine.experiment().steps().max(1) as f64,
        None => engine.simulated_here() / (stop - start),
    };
    if share > 0.0 { share } else { 1.0 }
}
