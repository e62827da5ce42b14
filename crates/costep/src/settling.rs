//! A start at rest of systems with FMUs whose derivatives nobody knows: they are brought there by a run before the start.
//!
//! The whole system begins earlier, under external inputs that stay as they are just before the start, with the method and the
//! step of the project, and is watched until it no longer moves. The instances that stand at rest then are those that the
//! run goes on with: no state is carried from one instance, or from one time, to another, so FMUs need be able to do no more than
//! to step. How much earlier it has to begin is known only afterwards; each try makes its instances anew.

use std::sync::{Arc, Mutex, PoisonError};

use costep_core::quantity::format_time;
use costep_core::{Code, Description, Error, Experiment, External, Result, Subsystem, Wrapper};
use costep_engine::{Engine, Flow};
use costep_integrate::{Ode, Solver};
use costep_project::Project;
use costep_system::{Component, MakeTrial, Variation};

use crate::assemble::{self, Steps};
use crate::names::Names;

/// How much earlier than the start a try begins, in lengths of the run.
const EARLIER: [f64; 3] = [1.0, 4.0, 16.0];
/// Rest: over the last half of a try no output leaves a band of this share of its size.
const REST: f64 = 1e-6;

/// The subsystems of a project at rest at the start of an experiment, if it asks for that and its parts do not start so themselves.
pub(crate) fn at_rest(project: &Project, experiment: &Experiment) -> Result<Option<Vec<Box<dyn Subsystem>>>> {
    if !project.given.is_steady || project.model.can_be_one() {
        return Ok(None);
    }
    let still = still(project, experiment.start);
    let mut restless = None;
    for earlier in EARLIER {
        match run_before(&still, experiment, earlier)? {
            Ok(parts) => return Ok(Some(parts)),
            Err(error) => restless = Some(error),
        }
    }
    Err(restless.unwrap_or_else(|| Error::new(Code::Bug, "no run before the start was tried")))
}

/// What is run before the start: nothing outside changes.
fn still(project: &Project, start: f64) -> Project {
    let mut still = project.clone();
    for (_, signal) in &mut still.model.externals {
        *signal = External::Constant(signal.value_before(start));
    }
    still.given.is_steady = false;
    still
}

/// A try. The inner error says that it does not rest at its end.
fn run_before(still: &Project, run: &Experiment, earlier: f64) -> Result<Result<Vec<Box<dyn Subsystem>>>> {
    // Some FMUs take steps of one length only.
    let step = if still.control.is_some() { still.equal_step() } else { run.step };
    let length = if run.stop > run.start { run.stop - run.start } else { step };
    let steps = (earlier * length / step - 1e-6).ceil().max(2.0);
    let before = Experiment { start: run.start - steps * step, stop: run.stop, step };
    let (home, mut watch) = (Home::default(), Watch::new(steps as u64));
    let ended = engine(still, before, &home).and_then(|mut engine| {
        engine.run_with(|engine| Ok(watch.look(engine)))?;
        Ok((Names::new(engine.descriptions().iter()), engine.outputs().to_vec(), engine.layout().clone()))
    });
    let (names, y, layout) = ended.map_err(|error| failed(&error, before.start))?;
    if let Some(moving) = watch.moving() {
        return Ok(Err(watch.restless(moving, &names.outputs[moving], run.start - before.start)));
    }
    // The engine is dropped: all have come home.
    let mut parts = std::mem::take(&mut *home.lock().unwrap_or_else(PoisonError::into_inner));
    parts.sort_by_key(|(part, _)| *part);
    let at_rest = |(part, inner): (usize, Box<dyn Subsystem>)| {
        let range = layout.output_range(part);
        let description = sized(inner.description(), &watch.sizes[range.clone()]);
        Box::new(AtRest { inner, y: y[range].to_vec(), description }) as Box<dyn Subsystem>
    };
    Ok(Ok(parts.into_iter().map(at_rest).collect()))
}

/// A description whose outputs have nominal values: what they were on the way to rest tells how large they are.
fn sized(description: &Description, sizes: &[f64]) -> Description {
    let mut description = description.clone();
    for (port, size) in description.outputs.iter_mut().zip(sizes).filter(|(_, size)| **size > 0.0) {
        port.nominal = port.nominal.or(Some(*size));
    }
    description
}

/// An engine whose subsystems go home when it is dropped.
fn engine(still: &Project, before: Experiment, home: &Home) -> Result<Engine> {
    let mut project = still.clone();
    for (index, part) in project.model.parts.iter_mut().enumerate() {
        *part = Box::new(Lender { part: part.duplicate(), index, home: Arc::clone(home) });
    }
    let method = &still.groups[0].method;
    assemble::engine_over(&project, method, (before, Steps::Equal), false, |models| models)
}

#[cold]
fn failed(error: &Error, from: f64) -> Error {
    if matches!(error.code(), Code::Stopped | Code::TimeLimit) {
        return error.clone();
    }
    let message =
        "no rest is found: the run before the start, from which the system would have come to rest, failed";
    Error::new(Code::NoRest, message)
        .because(format!("it began at t = {}: {error}", format_time(from)))
        .hint("look at a run with `initial = \"given\"` and constant inputs: where that one settles, start from there")
}

/// Looks at the outputs of a try.
struct Watch {
    steps: u64,
    /// Per output: largest size so far.
    sizes: Vec<f64>,
    /// Per output: the band over the last half.
    bands: Vec<[f64; 2]>,
}

impl Watch {
    fn new(steps: u64) -> Self {
        Self { steps, sizes: Vec::new(), bands: Vec::new() }
    }

    fn look(&mut self, engine: &Engine) -> Flow {
        let outputs = engine.outputs();
        if self.sizes.is_empty() {
            let nominal = engine.descriptions().iter().flat_map(|part| &part.outputs);
            self.sizes = nominal.map(|port| port.nominal.unwrap_or(0.0).abs()).collect();
            self.bands = vec![[f64::INFINITY, f64::NEG_INFINITY]; outputs.len()];
        }
        let is_late = 2 * engine.k() >= self.steps;
        for ((value, size), band) in outputs.iter().zip(&mut self.sizes).zip(&mut self.bands) {
            *size = size.max(value.abs());
            if is_late {
                *band = [band[0].min(*value), band[1].max(*value)];
            }
        }
        if engine.k() >= self.steps { Flow::Stop } else { Flow::Continue }
    }

    /// How far an output moves, in bands that count as rest.
    fn motion(&self, output: usize) -> f64 {
        let [least, most] = self.bands[output];
        if most > least { (most - least) / (REST * self.sizes[output]) } else { 0.0 }
    }

    /// The output that moves most, if that is no rest.
    fn moving(&self) -> Option<usize> {
        let most = (0..self.bands.len()).max_by(|a, b| self.motion(*a).total_cmp(&self.motion(*b)));
        most.filter(|output| self.motion(*output) > 1.0)
    }

    #[cold]
    fn restless(&self, output: usize, name: &str, length: f64) -> Error {
        let [least, most] = self.bands[output];
        let message = format!(
            "no rest is found: `{name}` still goes between {least:.6e} and {most:.6e} in the last half of {} before the start",
            format_time(length)
        );
        Error::new(Code::NoRest, message)
            .because("under inputs that stay as they are just before the start, the system does not settle; it is given 16 times the length of the run")
            .hint("a later `stop` in [system] gives it more time, a smaller step helps where coupling makes it oscillate; else write `initial = \"given\"`")
    }
}

/// Where lent subsystems come back to, with the numbers of their parts.
type Home = Arc<Mutex<Vec<(usize, Box<dyn Subsystem>)>>>;

/// A part that lends its subsystem to an engine.
struct Lender {
    part: Box<dyn Component>,
    index: usize,
    home: Home,
}

impl Component for Lender {
    fn description(&self) -> &Description {
        self.part.description()
    }

    fn subsystem(&self, solver: &Solver) -> Result<Box<dyn Subsystem>> {
        let inner = Some(self.part.subsystem(solver)?);
        Ok(Box::new(Lent { inner, index: self.index, home: Arc::clone(&self.home) }))
    }

    fn for_trials(&self) -> Option<Result<MakeTrial<'_>>> {
        self.part.for_trials()
    }

    fn ode(&self) -> Option<Box<dyn Ode>> {
        self.part.ode()
    }

    fn varied(&self, by: &Variation<'_>) -> Box<dyn Component> {
        Box::new(Self { part: self.part.varied(by), index: self.index, home: Arc::clone(&self.home) })
    }
}

/// A subsystem that is not ended with the engine that steps it.
struct Lent {
    /// Until it is given back.
    inner: Option<Box<dyn Subsystem>>,
    index: usize,
    home: Home,
}

impl Wrapper for Lent {
    fn inner(&self) -> &dyn Subsystem {
        self.inner.as_deref().expect("it is lent until it is dropped")
    }

    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        self.inner.as_deref_mut().expect("it is lent until it is dropped")
    }

    fn terminate(&mut self) {}
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut home = self.home.lock().unwrap_or_else(PoisonError::into_inner);
        home.extend(self.inner.take().map(|inner| (self.index, inner)));
    }
}

/// A subsystem that has come to rest at the start, and its outputs there.
struct AtRest {
    inner: Box<dyn Subsystem>,
    y: Vec<f64>,
    description: Description,
}

impl Wrapper for AtRest {
    fn inner(&self) -> &dyn Subsystem {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        &mut *self.inner
    }

    fn description(&self) -> &Description {
        &self.description
    }

    /// It is there already.
    fn initialise(&mut self, _experiment: &Experiment) -> Result<()> {
        Ok(())
    }

    /// As after the last step: inputs that jump at the start are seen by the next one, as between any two steps.
    fn initial_outputs(&mut self, _u: &[f64], y: &mut [f64]) -> Result<()> {
        y.copy_from_slice(&self.y);
        Ok(())
    }

    fn begin(&mut self, _y: &mut [f64]) -> Result<()> {
        Ok(())
    }
}
