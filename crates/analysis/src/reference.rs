//! The monolithic reference: the same parts, solved as one system.

use costep_core::{Code, Error, Experiment, InputPolynomials, Interval, Result, Subsystem};
use costep_integrate::{Native, Solver};
use costep_models::Model;

use crate::trace::Trace;

/// A monolithic run, sampled like the co-simulation it is compared with.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The solver of the monolithic system.
    pub solver: Solver,
    /// Its outputs.
    pub trace: Trace,
}

impl Reference {
    /// Solves the whole model as one, over the communication points of `experiment`.
    pub fn new(model: &Model, solver: Solver, experiment: &Experiment, micro: bool) -> Result<Self> {
        let mut twin = Native::new(model.monolithic()?, &solver)?;
        let outputs = twin.description().outputs.len();
        twin.record_micro_samples(micro, experiment);
        twin.initialise(experiment)?;
        let mut y = vec![0.0; outputs];
        twin.initial_outputs(&[], &mut y)?;
        let mut trace = Trace::new(outputs, micro);
        let mut twin: [Box<dyn Subsystem>; 1] = [Box::new(twin)];
        trace.push(experiment.start, &y, twin[0].energy(), &twin);
        let nothing = InputPolynomials::new(0, 0);
        for k in 0..experiment.steps() {
            let interval = experiment.interval(k);
            twin[0].step(interval, nothing.segment(0..0, 0), &mut y)?;
            check_finite(&y, interval.end)?;
            trace.push(interval.end, &y, twin[0].energy(), &twin);
        }
        Ok(Self { solver, trace })
    }
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
