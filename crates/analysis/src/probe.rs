//! What a part does when it is called, compared with what it says about itself.

use std::time::Instant;

use costep_core::{
    Capabilities, Code, Error, Experiment, InputPolynomials, Linearisation, LocalModel, Result, Subsystem,
    Variation,
};
use costep_integrate::Solver;
use costep_linalg::{Exponential, Matrix};
use costep_system::Component;

/// Macro steps that are tried.
const STEPS: u64 = 20;
/// Step after which a state is stored and put back.
const STORED_AT: u64 = 7;
/// Change of an input, relative to its size.
const CHANGE: f64 = 1e-4;
/// Difference between derivatives and a step that is more than the errors of inner solvers.
const TOLERATED: f64 = 0.05;
/// The other change that is tried where the first one differs: a wrong model is wrong there too, while curvature goes with the
/// square, and a kink is at one side.
const BACK: f64 = -0.5;
/// Ratios of the errors per change, which only a wrong model explains.
const IN_PROPORTION: std::ops::RangeInclusive<f64> = 0.7..=1.5;
/// Relative error of a response, by round-off alone, with which nothing can be compared.
const LOST_DIGITS: f64 = 1e-3;

/// What was found out.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeReport {
    /// Two instances give the same outputs, bit for bit. Nothing if there can be only one.
    pub repeatable: Option<bool>,
    /// A step from a state that was put back gives the same outputs, bit for bit. Nothing if it offers no rollback.
    pub taken_back: Option<bool>,
    /// Median wall time of a step in s.
    pub step_s: f64,
    /// Largest difference between the change of the outputs over a step under changed inputs, and that change by the
    /// local model, relative to the change. Nothing if it gives no local model; not a number if that cannot be judged.
    pub derivative_error: Option<f64>,
    /// The part cannot have two instances at a time.
    pub only_one_instance: bool,
}

impl ProbeReport {
    /// Whether the derivatives contradict the steps.
    pub fn derivatives_differ(&self) -> bool {
        self.derivative_error.is_some_and(|error| error > TOLERATED)
    }
}

/// Calls a part on its own, with its inputs held at `u`.
pub fn probe(
    part: &dyn Component,
    solver: &Solver,
    experiment: &Experiment,
    u: &[f64],
) -> Result<ProbeReport> {
    // FMUs may refuse steps beyond the stop time they are told.
    let stop = experiment.stop.max(experiment.time(STEPS + 1));
    let experiment = &Experiment { stop, ..*experiment };
    let mut first = Trial::start(part, solver, experiment, u)?;
    let mut taken_back = None;
    let (mut rows, mut times) = (Vec::new(), Vec::new());
    let offers_rollback = first.subsystem.rollback().is_some();
    for k in 0..STEPS {
        if k == STORED_AT && offers_rollback {
            first.subsystem.demand_rollback()?.snapshot()?;
            let once = first.step(k, u)?;
            first.subsystem.demand_rollback()?.restore()?;
            taken_back = Some(same_bits(&once, &first.step(k, u)?));
            first.subsystem.demand_rollback()?.restore()?;
        }
        let start = Instant::now();
        rows.extend(first.step(k, u)?);
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    drop(first);
    let (repeatable, only_one_instance) = match repeated(part, solver, experiment, u, &rows) {
        Ok(repeatable) => (Some(repeatable), false),
        Err(error) if error.code() == Code::FmuInterface => (None, true),
        Err(error) => return Err(error),
    };
    Ok(ProbeReport {
        repeatable,
        taken_back,
        step_s: times[times.len() / 2],
        derivative_error: derivative_error(part, solver, experiment, u)?,
        only_one_instance,
    })
}

/// Whether two instances at the same time both give these rows.
fn repeated(
    part: &dyn Component,
    solver: &Solver,
    experiment: &Experiment,
    u: &[f64],
    rows: &[f64],
) -> Result<bool> {
    let mut pair = [Trial::start(part, solver, experiment, u)?, Trial::start(part, solver, experiment, u)?];
    let mut again = [Vec::new(), Vec::new()];
    for k in 0..STEPS {
        for (trial, rows) in pair.iter_mut().zip(&mut again) {
            rows.extend(trial.step(k, u)?);
        }
    }
    Ok(again.iter().all(|again| same_bits(again, rows)))
}

fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// An instance on its way.
struct Trial<'a> {
    subsystem: Box<dyn Subsystem>,
    experiment: &'a Experiment,
    inputs: InputPolynomials,
}

impl<'a> Trial<'a> {
    fn start(part: &dyn Component, solver: &Solver, experiment: &'a Experiment, u: &[f64]) -> Result<Self> {
        let mut subsystem = part.subsystem(solver)?;
        subsystem.initialise(experiment)?;
        let mut y = vec![0.0; subsystem.description().outputs.len()];
        subsystem.initial_outputs(u, &mut y)?;
        Ok(Self { subsystem, experiment, inputs: InputPolynomials::new(u.len(), 0) })
    }

    /// The outputs after step k under held inputs.
    fn step(&mut self, k: u64, u: &[f64]) -> Result<Vec<f64>> {
        self.inputs.coefficients_mut(0).copy_from_slice(u);
        let interval = self.experiment.interval(k);
        let mut y = vec![0.0; self.subsystem.description().outputs.len()];
        let outcome = self.subsystem.step(interval, self.inputs.segment(0..u.len(), 0), &mut y)?;
        if (outcome.reached - interval.end).abs() > 1e-9 * interval.length {
            let message = format!("it reached {} s instead of {} s", outcome.reached, interval.end);
            return Err(Error::new(Code::TimeNotReached, message));
        }
        Ok(y)
    }
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        self.subsystem.terminate();
    }
}

/// Compares the response of the outputs over one step to a change of each input with that of the local model.
fn derivative_error(
    part: &dyn Component,
    solver: &Solver,
    experiment: &Experiment,
    u: &[f64],
) -> Result<Option<f64>> {
    let (model, base) = {
        let mut trial = Trial::start(part, solver, experiment, u)?;
        let description = trial.subsystem.description().clone();
        let can = Capabilities::of(&mut *trial.subsystem);
        if can.linearisation < Linearisation::Full {
            return Ok(None);
        }
        let mut model = LocalModel::new(can.states, u.len(), description.outputs.len());
        trial.subsystem.demand_linearised()?.local_model(u, &mut model)?;
        (model, trial.step(0, u)?)
    };
    let Some(expected) = responses(&model, experiment.step) else { return Ok(Some(f64::NAN)) };
    let description = part.description();
    let mut worst: f64 = 0.0;
    let varies = |j: &usize| description.inputs[*j].variation != Variation::Discrete;
    for j in (0..u.len()).filter(varies) {
        let delta = CHANGE * u[j].abs().max(description.inputs[j].nominal.map_or(1.0, f64::abs));
        let moved = |delta: f64| {
            let mut changed = u.to_vec();
            changed[j] += delta;
            Trial::start(part, solver, experiment, u)?.step(0, &changed)
        };
        let slopes: Vec<f64> = (0..base.len()).map(|i| expected[(i, j)]).collect();
        let forth = Response::new(&base, &moved(delta)?, &slopes, delta);
        let mut share = forth.share(|_| true);
        if share > TOLERATED {
            let back = Response::new(&base, &moved(BACK * delta)?, &slopes, BACK * delta);
            share = forth.share(|i| IN_PROPORTION.contains(&(back.errors[i] / forth.errors[i])));
        }
        if share.is_nan() {
            return Ok(Some(share));
        }
        worst = worst.max(share);
    }
    Ok(Some(worst))
}

/// What the outputs make of a change of an input, per unit of it.
struct Response {
    /// Measured less expected.
    errors: Vec<f64>,
    /// The same as far as round-off does not explain it.
    beyond: Vec<f64>,
    sizes: Vec<f64>,
}

impl Response {
    fn new(base: &[f64], moved: &[f64], slopes: &[f64], delta: f64) -> Self {
        let measured: Vec<f64> = moved.iter().zip(base).map(|(moved, base)| (moved - base) / delta).collect();
        let errors: Vec<f64> =
            measured.iter().zip(slopes).map(|(measured, slope)| measured - slope).collect();
        let noise = |i: usize| 1e3 * f64::EPSILON * (base[i].abs().max(moved[i].abs()) / delta).abs();
        Self {
            beyond: (0..base.len()).map(|i| beyond(errors[i].abs(), noise(i))).collect(),
            sizes: measured
                .iter()
                .zip(slopes)
                .map(|(measured, slope)| measured.abs().max(slope.abs()))
                .collect(),
            errors,
        }
    }

    /// The errors of the outputs that count, relative to the response of all; 0 where nothing moves.
    fn share(&self, counts: impl Fn(usize) -> bool) -> f64 {
        let error: f64 = (0..self.errors.len()).filter(|i| counts(*i)).map(|i| self.beyond[i].powi(2)).sum();
        let size: f64 = self.sizes.iter().map(|size| size.powi(2)).sum();
        if size == 0.0 { 0.0 } else { (error / size).sqrt() }
    }
}

/// What round-off alone makes of a difference is not a difference; what is not a number stays so.
fn beyond(error: f64, noise: f64) -> f64 {
    if error <= noise { 0.0 } else { error - noise }
}

/// Change of the outputs (rows) over a step of length h under a unit change of each input (columns) that is
/// held: x' = A x + B u, y = C x + D u. Nothing where numbers of this size leave no digit that counts.
pub(crate) fn responses(model: &LocalModel, h: f64) -> Option<Matrix> {
    let (n, m) = (model.states, model.inputs);
    let mut rates = Matrix::zeros(n + m, n + m);
    for i in 0..n {
        (0..n).for_each(|k| rates[(i, k)] = h * model.a[i * n + k]);
    }
    // Each input in a unit in which it does no more than the states do: squarings cost digits.
    let size = rates.norm_1();
    let unit = |j: usize| {
        let column: f64 = (0..n).map(|i| (h * model.b[i * m + j]).abs()).sum();
        if column > size && size > 0.0 { size / column } else { 1.0 }
    };
    let units: Vec<f64> = (0..m).map(unit).collect();
    for i in 0..n {
        (0..m).for_each(|j| rates[(i, n + j)] = units[j] * h * model.b[i * m + j]);
    }
    let mut states = Matrix::zeros(n + m, n + m);
    let has_digits = size * f64::EPSILON < LOST_DIGITS;
    if !has_digits || !Exponential::new(n + m).compute(&rates, &mut states) {
        return None;
    }
    let mut y = Matrix::from_rows(model.outputs, m, &model.d);
    for i in 0..model.outputs {
        for j in 0..m {
            y[(i, j)] += (0..n).map(|k| model.c[i * n + k] * (states[(k, n + j)] / units[j])).sum::<f64>();
        }
    }
    y.is_finite().then_some(y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_of_stiff_models_are_those_of_their_equations() {
        // A lag of 1e-9 s beside one of 1 s, each with a gain of 3, and a direct share.
        let mut model = LocalModel::new(2, 2, 2);
        model.a.copy_from_slice(&[-1e9, 0.0, 0.0, -1.0]);
        model.b.copy_from_slice(&[3e9, 0.0, 0.0, 3.0]);
        model.c.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        model.d.copy_from_slice(&[0.0, 0.5, 0.0, 0.0]);
        let y = responses(&model, 0.1).unwrap();
        let slow = 3.0 * (1.0 - f64::exp(-0.1));
        for (found, expected) in y.data().iter().zip([3.0, 0.5, 0.0, slow]) {
            assert!((found - expected).abs() < 1e-6, "{y:?}");
        }
        // Nobody can tell what comes of this.
        for rate in [1e6, -1e16, f64::NAN] {
            model.a[0] = rate;
            assert!(responses(&model, 0.1).is_none(), "{rate}");
        }
    }

    #[test]
    fn outputs_with_zero_slope_are_not_wrong_models() {
        // y = 7 + u^2 and y = u at u = 0, by local models with these slopes; then one that is wrong.
        for (output, slopes, allowed) in [
            ((|u| vec![7.0 + u * u]) as fn(f64) -> Vec<f64>, vec![0.0], 0.0..=0.0),
            (|u| vec![u * u, 2.0 * u], vec![0.0, 2.0], 0.0..=0.0),
            (|u| vec![u.max(0.0)], vec![0.0], 0.0..=0.0),
            (|u| vec![u], vec![0.0], 0.99..=1.01),
        ] {
            let response = |delta: f64| Response::new(&output(0.0), &output(delta), &slopes, delta);
            let (forth, back) = (response(CHANGE), response(BACK * CHANGE));
            let share = forth.share(|i| IN_PROPORTION.contains(&(back.errors[i] / forth.errors[i])));
            assert!(allowed.contains(&share), "{slopes:?}: {share}");
        }
    }

    #[test]
    fn what_cannot_be_judged_neither_agrees_nor_differs() {
        let report = ProbeReport {
            repeatable: None,
            taken_back: None,
            step_s: 0.0,
            derivative_error: Some(f64::NAN),
            only_one_instance: false,
        };
        assert!(!report.derivatives_differ());
        assert!(ProbeReport { derivative_error: Some(f64::INFINITY), ..report }.derivatives_differ());
    }
}
