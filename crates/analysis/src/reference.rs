//! References: the same parts solved as one system, or, where equations are not known, coupled at a much smaller step.

use costep_core::{Code, Error, Experiment, InputPolynomials, Interval, Result, Subsystem};
use costep_engine::{Engine, Observer};
use costep_integrate::{Native, Solver};
use costep_models::Model;

use crate::measures::mean_error;
use crate::stability::Amplitudes;
use crate::trace::Trace;

/// What a run is compared with, sampled at the same communication points.
#[derive(Clone, Debug)]
pub struct Reference {
    /// How it was made.
    pub kind: ReferenceKind,
    /// Its outputs.
    pub trace: Trace,
}

/// How a reference was made.
#[derive(Clone, Debug, PartialEq)]
pub enum ReferenceKind {
    /// The monolithic system, by this solver.
    Monolithic(Solver),
    /// The coupled system at a smaller step.
    FineStep {
        /// That step in s.
        step: f64,
        /// Its coupling method.
        method: String,
        /// By how much a run half as fine differs from it, as `eps_mono`: what the reference itself may be wrong by.
        own_error: f64,
    },
}

impl Reference {
    /// Solves the whole model as one, over the communication points of `experiment`.
    pub fn new(model: &Model, solver: Solver, experiment: &Experiment, micro: bool) -> Result<Self> {
        let outputs = model.layout().outputs();
        let mut trace = Trace::new(outputs, micro);
        solve(model, solver, experiment, micro, |t, y, twin| trace.push(t, y, twin[0].energy(), twin))?;
        Ok(Self { kind: ReferenceKind::Monolithic(solver), trace })
    }

    /// Runs an engine whose subsystems are one system inside, over the communication points of `experiment`.
    pub fn whole(mut engine: Engine, solver: Solver, experiment: &Experiment) -> Result<Self> {
        let trace = sampled(&mut engine, experiment.steps(), 1)?;
        Ok(Self { kind: ReferenceKind::Monolithic(solver), trace })
    }

    /// Runs the coupled system at `1 / refinement` of the macro step and at twice that step. `engine` makes engines for
    /// an experiment.
    pub fn fine_step(
        engine: impl Fn(&Experiment) -> Result<Engine>,
        experiment: &Experiment,
        refinement: u64,
        method: &str,
    ) -> Result<Self> {
        let refinement = refinement.next_multiple_of(2).max(2);
        let fine = |refinement: u64| {
            let step = experiment.step / refinement as f64;
            let mut engine = engine(&Experiment { step, ..*experiment })?;
            let trace = sampled(&mut engine, experiment.steps(), refinement)?;
            Ok((trace, step, engine))
        };
        let (trace, step, engine) = fine(refinement)?;
        let half = fine(refinement / 2)?.0;
        let own_error = mean_error(engine.descriptions(), &half, &trace);
        Ok(Self { kind: ReferenceKind::FineStep { step, method: method.into(), own_error }, trace })
    }
}

/// The outputs at every `refinement`-th communication point, for `steps` of them.
fn sampled(engine: &mut Engine, steps: u64, refinement: u64) -> Result<Trace> {
    let mut trace = Trace::new(engine.outputs().len(), false);
    trace.observe(engine)?;
    for _ in 0..steps {
        for _ in 0..refinement {
            engine.step()?;
        }
        trace.observe(engine)?;
    }
    Ok(trace)
}

/// Amplitudes of the outputs of the monolithic system in the first and the last fifth of a run.
pub fn monolithic_amplitudes(model: &Model, solver: Solver, experiment: &Experiment) -> Result<Amplitudes> {
    let mut amplitudes = Amplitudes::new(model.layout().outputs());
    let steps = experiment.steps().max(1) as f64;
    let mut k = 0.0;
    solve(model, solver, experiment, false, |_, y, _| {
        amplitudes.add(k / steps, y);
        k += 1.0;
    })?;
    Ok(amplitudes)
}

/// Solves the whole model as one and shows every communication point.
fn solve(
    model: &Model,
    solver: Solver,
    experiment: &Experiment,
    micro: bool,
    mut show: impl FnMut(f64, &[f64], &[Box<dyn Subsystem>]),
) -> Result<()> {
    let mut twin = Native::new(model.monolithic()?, &solver)?;
    twin.record_micro_samples(micro, experiment);
    twin.initialise(experiment)?;
    let mut y = vec![0.0; twin.description().outputs.len()];
    twin.initial_outputs(&[], &mut y)?;
    let mut twin: [Box<dyn Subsystem>; 1] = [Box::new(twin)];
    show(experiment.start, &y, &twin);
    let nothing = InputPolynomials::new(0, 0);
    for k in 0..experiment.steps() {
        let interval = experiment.interval(k);
        twin[0].step(interval, nothing.segment(0..0, 0), &mut y)?;
        check_finite(&y, interval.end)?;
        show(interval.end, &y, &twin);
    }
    Ok(())
}

/// Outputs of the monolithic system at these rising instants, one row each.
pub fn outputs_at(model: &Model, solver: Solver, start: f64, instants: &[f64]) -> Result<Vec<f64>> {
    let mut twin = Native::new(model.monolithic()?, &solver)?;
    let outputs = twin.description().outputs.len();
    twin.initialise(&Experiment { start, stop: start, step: 1.0 })?;
    let mut y = vec![0.0; outputs];
    twin.initial_outputs(&[], &mut y)?;
    let nothing = InputPolynomials::new(0, 0);
    let mut rows = Vec::with_capacity(instants.len() * outputs);
    let mut t = start;
    for instant in instants.iter().copied() {
        if instant > t {
            twin.step(Interval::new(t, instant), nothing.segment(0..0, 0), &mut y)?;
            check_finite(&y, instant)?;
            t = instant;
        }
        rows.extend_from_slice(&y);
    }
    Ok(rows)
}

fn check_finite(y: &[f64], t: f64) -> Result<()> {
    if y.iter().all(|y| y.is_finite()) {
        return Ok(());
    }
    Err(Error::new(Code::NotFinite, format!("the monolithic reference became infinite or NaN at t = {t} s"))
        .hint(
            "the model itself is unstable with this solver: try a smaller `micro_step` or `--solver dopri5`",
        ))
}
