//! Stability of a system with a method and a step, by the linear map of one macro step.
//!
//! Native parts are stepped themselves: linear ones near rest, where no method sets bounds to their signals, others at a
//! point of a run. Systems with parts that costep does not integrate are judged by models of their parts, coupled by the
//! very same engine and method.

mod bohl;
mod foundation;
mod identified;
mod learnt;
mod margin;
mod models;
mod parts;
mod study;

use std::f64::consts::TAU;

use costep_analysis::StepMap;
use costep_core::quantity::format_time;
use costep_core::{
    AfterStep, Capabilities, Code, Description, Error, Experiment, Learning, LocalModel, ModelKind, Result,
};
use costep_engine::{Engine, Rate};
use costep_integrate::Solver;
use costep_linalg::{Complex, eigenvalues, eigenvector};
use costep_methods::{MethodSpec, monolithic};
use costep_project::Project;

use crate::assemble::{self, Steps};
use crate::names::Names;
use crate::system::System;
use parts::Plant;

pub use bohl::BohlStudy;
pub use foundation::Foundation;
pub(crate) use identified::IdentifiedModels;
pub use learnt::Learnt;
pub use margin::{OpenLoop, PhaseMargin};
pub use models::Spectrum;
pub use study::{LargestStep, RadiusCurve, StabilityQuestion, StabilityStudy, StudyProgress};

/// Macro steps before the one that is linearised: methods begin with less than they know later.
const BEFORE: u64 = 4;
/// Macro steps that the linearisation itself looks at and takes.
const AROUND: u64 = 8;
/// Maps of two sizes of changes that differ more than this are no linear maps.
const NOT_LINEAR: f64 = 1e-2;

/// Where stability is judged.
#[derive(Clone, Copy)]
pub struct StabilityPoint<'a> {
    /// The coupling method.
    pub method: &'a MethodSpec,
    /// The macro step in s.
    pub step: f64,
    /// The time of the run at which the step is linearised; after a few steps if nothing is said. Linear systems are the
    /// same everywhere.
    pub at: Option<f64>,
    /// Take local models in place of the parts, even where these can be stepped from changed states: then inner solvers
    /// are left out.
    pub by_models: bool,
}

impl<'a> StabilityPoint<'a> {
    /// With a method and a step, at the usual point.
    pub fn new(method: &'a MethodSpec, step: f64) -> Self {
        Self { method, step, at: None, by_models: false }
    }
}

/// How one macro step treats small perturbations.
#[derive(Clone, Debug)]
pub struct StepStability {
    /// The macro step in s.
    pub step: f64,
    /// Greatest absolute factor by which a perturbation is multiplied from step to step: below one all of them decay.
    pub radius: f64,
    /// By how much the radius may be off, as two sizes of changes show.
    pub uncertainty: f64,
    /// Numbers that the run carries from step to step and that matter: states of the parts, memory of method and signals.
    pub states: usize,
    /// The factors of all modes, the greatest first.
    pub factors: Vec<Complex>,
    /// The mode of the greatest factor; nothing where nothing is carried on.
    pub mode: Option<LeadingMode>,
    /// What this rests on.
    pub rests_on: Foundation,
    /// Where the method has learnt what it knows, if it learns.
    pub learnt: Option<Learnt>,
    /// The time of the run at which the step was linearised.
    pub at: f64,
}

impl StepStability {
    /// Whether all perturbations stay bounded, up to round-off.
    pub fn is_stable(&self) -> bool {
        self.radius <= 1.0 + self.uncertainty.max(1e-9)
    }

    /// What it rests on and what that leaves out, in a sentence without its end.
    pub fn basis(&self) -> String {
        let learnt = self.learnt.map_or_else(String::new, |learnt| format!("; {}", learnt.text()));
        format!("{}{learnt}", self.rests_on.meaning())
    }
}

/// The mode that grows fastest, or decays slowest.
#[derive(Clone, Debug)]
pub struct LeadingMode {
    /// The factor of one macro step.
    pub factor: Complex,
    /// Growth per second in 1/s; negative where it decays.
    pub rate: f64,
    /// Frequency in Hz; half the rate of steps where signs alternate.
    pub frequency: f64,
    /// The outputs in it, the greatest first.
    pub signals: Vec<ModeSignal>,
}

/// An output in a mode.
#[derive(Clone, Debug)]
pub struct ModeSignal {
    /// `part.port`.
    pub name: String,
    /// Amplitude in units of its nominal value, relative to the greatest of all.
    pub share: f64,
    /// Phase in degrees relative to the greatest of all.
    pub phase: f64,
}

impl System {
    /// How one macro step of this system with a method and a step treats small perturbations: its spectral radius, the
    /// mode that grows, and what that rests on. The method is that of the default group. `identified` learns in a run first, and is judged
    /// with what it knows then; other methods with models that are learnt during the run are refused: their map is another one at every
    /// step ([`System::bohl_study`]).
    ///
    /// ```
    /// let system = costep::System::open("dual-mass")?;
    /// let zoh = system.registry().method("zoh")?;
    /// assert!(system.step_stability(&zoh, 5e-3)?.radius > 1.0);
    /// assert!(system.step_stability(&zoh, 1e-3)?.radius < 1.0);
    /// # Ok::<(), costep::Errors>(())
    /// ```
    pub fn step_stability(&self, method: &MethodSpec, step: f64) -> Result<StepStability> {
        self.stability_at(&StabilityPoint::new(method, step), &mut |_| Ok(()))
    }

    /// The same at a point of the run; `progress` hears what share is done and may end it by an error.
    pub fn stability_at(
        &self,
        point: &StabilityPoint<'_>,
        progress: &mut dyn FnMut(f64) -> Result<()>,
    ) -> Result<StepStability> {
        self.check_steps(&[point.step])?;
        self.check_at(point.at)?;
        judge(self, point, progress)
    }

    /// Whether a run of this system comes by the time at which a step is to be linearised.
    pub fn check_at(&self, at: Option<f64>) -> Result<()> {
        let Experiment { start, stop, .. } = self.project.model.experiment;
        let Some(at) = at.filter(|at| !(start..=stop).contains(at)) else { return Ok(()) };
        let message = format!("no step of the run can be linearised at {}", format_time(at));
        let error = Error::new(Code::BadValue, message).because(format!(
            "the run is from {} to {}",
            format_time(start),
            format_time(stop)
        ));
        Err(match at > stop {
            true => error.hint("choose a time in between, or end the run later by `--t-end`"),
            false => error.hint("choose a time in between"),
        })
    }

    /// The eigenvalues of every part and, last, of the whole, by local models at the start or at this time of a run.
    pub fn spectra(&self, at: Option<f64>) -> Result<(Vec<Spectrum>, Foundation)> {
        self.check_at(at)?;
        let step = self.project.equal_step();
        let before = steps_before(&self.project, at, step);
        let (models, foundation) = models::local_models(self, step, (at, before))?;
        Ok((models::spectra(&self.project, &models)?, foundation))
    }

    /// The loop of the system under held inputs with this step, opened at an input (`part.port`), for Nyquist plots and
    /// phase margins.
    pub fn open_loop(&self, input: &str, step: f64, at: Option<f64>) -> Result<OpenLoop> {
        self.check_steps(&[step])?;
        self.check_at(at)?;
        let names = self.inputs();
        let index = names.iter().position(|name| name == input).ok_or_else(|| {
            Error::new(Code::UnknownName, format!("the system has no input `{input}`"))
                .suggest(input, names.iter().map(String::as_str))
        })?;
        let before = steps_before(&self.project, at, step);
        let (models, _) = models::local_models(self, step, (at, before))?;
        let mut loops = margin::open_loops(&self.project, &models, &[(index, input)], step)?;
        loops.pop().unwrap_or_else(|| Err(Error::new(Code::Bug, "no loop has been opened")))
    }

    /// All of these loops, but for those without a finite response.
    fn open_loops(&self, inputs: &[String], step: f64, at: Option<f64>) -> Result<Vec<OpenLoop>> {
        self.check_steps(&[step])?;
        let names = self.inputs();
        let place = |input| Some((names.iter().position(|name| name == input)?, String::as_str(input)));
        let opened: Vec<_> = inputs.iter().filter_map(place).collect();
        let (models, _) = models::local_models(self, step, (at, steps_before(&self.project, at, step)))?;
        Ok(margin::open_loops(&self.project, &models, &opened, step)?.into_iter().flatten().collect())
    }

    /// Inputs at which a loop can be opened: those in a loop of connections.
    pub fn loop_inputs(&self) -> Vec<String> {
        let model = &self.project.model;
        let layout = model.layout();
        let edges: Vec<(usize, usize, usize)> = model
            .connections
            .iter()
            .map(|link| (layout.output_owner(link.output), layout.input_owner(link.input), link.input))
            .collect();
        let reaches = |from: usize, to: usize| {
            let mut seen = vec![false; model.parts.len()];
            let mut open = vec![from];
            while let Some(part) = open.pop() {
                if part == to {
                    return true;
                }
                if !std::mem::replace(&mut seen[part], true) {
                    open.extend(edges.iter().filter(|edge| edge.0 == part).map(|edge| edge.1));
                }
            }
            false
        };
        let names = self.inputs();
        let mut inputs: Vec<usize> =
            edges.iter().filter(|(from, to, _)| reaches(*to, *from)).map(|edge| edge.2).collect();
        inputs.sort_unstable();
        inputs.dedup();
        inputs.into_iter().map(|input| names[input].clone()).collect()
    }
}

/// Local models of the parts of a project, at the usual point of a run with this step, and what they rest on.
pub(crate) fn models_of_parts(project: &Project, step: f64) -> Result<(Vec<LocalModel>, Foundation)> {
    models::offered_models(project, step, BEFORE)
}

/// A project of these models in place of the parts, with what the parts offer after a change, to see what that would do. Nothing
/// drives it from outside; its states begin at their nominal sizes.
pub(crate) fn replica(
    project: &Project,
    models: &[LocalModel],
    change: &dyn Fn(&mut Capabilities, &mut Description),
) -> Result<Project> {
    let mut replica = project.clone();
    parts::as_models_with(&mut replica, models, (true, true), change)?;
    // There are no files behind it, and its signals have other sizes.
    replica.given.fmus.clear();
    replica.given.stop_when.clear();
    replica.bounds.clear();
    replica.model.solver = Solver::Exact;
    Ok(replica)
}

fn judge(
    system: &System,
    point: &StabilityPoint<'_>,
    progress: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<StepStability> {
    if monolithic::is_monolithic(point.method) {
        return judge_whole(system, point);
    }
    if learns(point.method) {
        return Err(no_linear_map(
            point.method,
            "it learns during the run, so its map is another one at every step",
        ));
    }
    let plant = Plant::of(system, point)?;
    let (rests_on, before) = (plant.foundation(), plant.steps_before(&system.project, point));
    // Residuals and tolerances are relative to nominal values: then perturbations have to be of these sizes.
    let request = point.method.build().request();
    let compares = request.after_step == AfterStep::Judge
        || request.inputs.has_environment()
        || system.project.model.solver.tolerance().is_some();
    let period = period(&system.project.rates);
    let mut engine = engine_of(&plant.project(system, compares)?, point, (before, period))?;
    let mut learnt = None;
    if engine.stop_learning() {
        // What it knows is relative to where it has learnt it.
        engine = engine_of(&plant.project(system, true)?, point, (before, period))?;
        engine.stop_learning();
        learnt = Some(learnt::teach(system, point, &mut engine, progress)?);
    }
    go_to(&mut engine, before, progress)?;
    let map = StepMap::of(&mut engine, period, progress)?;
    let noise = map.noise.max(map.uncertainty / map.radius().max(1.0));
    if noise > NOT_LINEAR {
        let cause = format!(
            "maps by changes of two sizes differ by {noise:.1e}: it switches, or learns from what it sees"
        );
        return Err(no_linear_map(point.method, &cause));
    }
    let mode = map.leading_mode().map(|mode| {
        let (names, nominals) = outputs_of(&engine);
        describe(mode.factor, &mode.outputs, point.step, (&names, &nominals))
    });
    Ok(StepStability {
        step: point.step,
        radius: map.radius(),
        uncertainty: map.uncertainty,
        states: map.states(),
        factors: map.factors(),
        mode,
        rests_on,
        learnt,
        at: engine.time(),
    })
}

/// An engine at the start, with steps for the linearisation behind those before the point.
fn engine_of(project: &Project, point: &StabilityPoint<'_>, (before, period): (u64, u32)) -> Result<Engine> {
    let (start, step) = (project.model.experiment.start, point.step);
    let last = before + AROUND * u64::from(period);
    // No run, so its end does not matter: there are only equal steps.
    let experiment = Experiment { start, stop: start + last as f64 * step, step }.with_equal_steps();
    assemble::engine_over(project, point.method, (experiment, Steps::Equal), false, |models| models)
}

fn go_to(engine: &mut Engine, point: u64, progress: &mut dyn FnMut(f64) -> Result<()>) -> Result<()> {
    for k in 0..point {
        engine.step()?;
        if k % 64 == 0 {
            progress(0.0)?;
        }
    }
    Ok(())
}

/// Names and nominal values of all outputs.
fn outputs_of(engine: &Engine) -> (Vec<String>, Vec<f64>) {
    let ports = engine.descriptions().iter().flat_map(|of| &of.outputs);
    let nominal = |nominal: Option<f64>| nominal.map(f64::abs).filter(|size| *size > 0.0).unwrap_or(1.0);
    (Names::new(engine.descriptions().iter()).outputs, ports.map(|port| nominal(port.nominal)).collect())
}

#[cold]
fn no_linear_map(method: &MethodSpec, cause: &str) -> Error {
    Error::new(Code::NoLinearMap, format!("a macro step of `{}` is no linear map", method.label()))
        .because(cause)
        .hint("`costep compare` judges runs; `--bohl` works for `prestep`, `mbcorr` and `predictive` with identified models")
}

/// All parts as one: e^(lambda h).
fn judge_whole(system: &System, point: &StabilityPoint<'_>) -> Result<StepStability> {
    let project = &*system.project;
    let before = steps_before(project, point.at, point.step);
    let (models, rests_on) = models::local_models(system, point.step, (point.at, before))?;
    let whole = models::whole(project, &models)?;
    let rates = eigenvalues(&whole.a)
        .ok_or_else(|| Error::new(Code::NotFinite, "the eigenvalues of the system were not found"))?;
    let factor = |rate: &Complex| {
        let size = (rate.re * point.step).exp();
        Complex::new(size * (rate.im * point.step).cos(), size * (rate.im * point.step).sin())
    };
    let leading = rates.iter().max_by(|a, b| a.re.total_cmp(&b.re)).copied();
    let mut factors: Vec<Complex> = rates.iter().map(factor).collect();
    factors.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
    let mode = leading.map(|rate| {
        let vector = eigenvector(&whole.a, rate);
        let output = |i: usize| {
            let terms = whole.outputs.row(i).iter().zip(&vector);
            terms.fold(Complex::default(), |sum, (c, x)| sum + Complex::from(*c) * *x)
        };
        let outputs: Vec<Complex> = (0..whole.outputs.rows()).map(output).collect();
        let descriptions = || project.model.parts.iter().map(|part| part.description());
        let nominal = |nominal: Option<f64>| nominal.map(f64::abs).filter(|size| *size > 0.0).unwrap_or(1.0);
        let nominals: Vec<f64> = descriptions()
            .flat_map(|of| of.outputs.iter().map(|port| nominal(port.nominal)).collect::<Vec<_>>())
            .collect();
        let mut mode =
            describe(factor(&rate), &outputs, point.step, (&Names::new(descriptions()).outputs, &nominals));
        // Known without the ambiguity of samples.
        (mode.rate, mode.frequency) = (rate.re, rate.im.abs() / TAU);
        mode
    });
    Ok(StepStability {
        step: point.step,
        radius: factors.first().map_or(0.0, |factor| factor.abs()),
        uncertainty: 0.0,
        states: factors.len(),
        factors,
        mode,
        rests_on,
        learnt: None,
        at: project.model.experiment.start + before as f64 * point.step,
    })
}

/// Macro steps after which all parts stand where they did, relative to each other.
fn period(rates: &[Rate]) -> u32 {
    let every = |rate: &Rate| if let Rate::Every(count) = rate { (*count).max(1) } else { 1 };
    rates.iter().map(every).fold(1, least_common_multiple)
}

fn least_common_multiple(a: u32, b: u32) -> u32 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

/// Steps of the run before the point.
fn steps_before(project: &Project, at: Option<f64>, step: f64) -> u64 {
    let after = |at: f64| ((at - project.model.experiment.start) / step).round() as u64;
    at.map_or(BEFORE, after)
}

/// Whether the models of a method are learnt during the run.
fn learns(method: &MethodSpec) -> bool {
    let offer = method.models.offer();
    offer.kind == ModelKind::Discrete && offer.learning != Learning::Earlier && method.uses_models()
}

/// A mode by its outputs, for people.
fn describe(
    factor: Complex,
    outputs: &[Complex],
    step: f64,
    (names, nominals): (&[String], &[f64]),
) -> LeadingMode {
    let size = |i: usize| outputs[i].abs() / nominals[i];
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|a, b| size(*b).total_cmp(&size(*a)));
    let first = order.first().map_or(Complex::default(), |i| outputs[*i]);
    let greatest = order.first().map_or(1.0, |i| size(*i)).max(f64::MIN_POSITIVE);
    let signal = |i: &usize| {
        let turn = (outputs[*i].angle() - first.angle()).to_degrees();
        ModeSignal {
            name: names[*i].clone(),
            share: size(*i) / greatest,
            phase: turn - 360.0 * (turn / 360.0).round(),
        }
    };
    LeadingMode {
        factor,
        rate: factor.abs().ln() / step,
        frequency: factor.angle().abs() / TAU / step,
        signals: order.iter().map(signal).collect(),
    }
}
