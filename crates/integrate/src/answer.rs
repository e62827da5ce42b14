//! How the rest of a system answers to a subsystem inside a macro step: the equations of linearly implicit
//! stabilisation [V14 (15) to (26)], in the corrected forms of [`EnvironmentForm`], for whatever evaluates
//! the subsystem.

use costep_core::{Description, EnvironmentForm, EnvironmentModel, LocalModel, Port, Result};
use costep_linalg::Lu;

use crate::ode::nominal_from;
use crate::solver::Solver;

/// Tolerance in place of exact steps.
const TIGHT: f64 = 1e-12;
/// The rest answers to changes within a macro step, which are small beside the levels that tolerances of
/// states are relative to, and nothing corrects their errors later. Measured on `hydraulic` at 50 us with
/// 1e-5: with the whole tolerance the error of the inner steps is five times that of the coupling, with a
/// tenth a third of it, at no more than a few inner steps more.
const TOLERANCE_SHARE: f64 = 0.1;

/// The integrator that a subsystem with this one takes beside a model of the rest.
pub(crate) fn environment_solver(solver: &Solver) -> Solver {
    let sharper = |tolerance: f64| (TOLERANCE_SHARE * tolerance).max(Solver::SHARPEST);
    match solver.tolerance() {
        Some(tolerance) => solver.with_tolerance(sharper(tolerance)),
        // What is linear without the rest is not without a constant term with it.
        None if *solver == Solver::Exact => Solver::Dopri5(TIGHT),
        None => *solver,
    }
}

/// The rest of the system as a subsystem sees it in the present macro step, with room to work in.
pub(crate) struct Answer {
    environment: EnvironmentModel,
    /// Whether outputs of the subsystem may depend on its inputs at once, as far as its description tells.
    passes: bool,
    /// Whether the rest answers to changes of outputs at once.
    is_immediate: bool,
    /// T^k and y(T^k).
    start: f64,
    y_start: Vec<f64>,
    u: Vec<f64>,
    /// Outputs, then their change since T^k.
    y: Vec<f64>,
    /// (I - r tau A)^-1 (xi' + r B dy).
    rate: Vec<f64>,
    factors: Lu,
}

impl Answer {
    /// Room for rests of the size of this one.
    pub(crate) fn new(environment: &EnvironmentModel, description: &Description) -> Self {
        let Description { inputs, outputs, feedthrough, .. } = description;
        Self {
            environment: environment.clone(),
            passes: feedthrough.iter().any(|row| !row.is_empty()),
            is_immediate: false,
            start: 0.0,
            y_start: vec![0.0; outputs.len()],
            u: vec![0.0; inputs.len()],
            y: vec![0.0; outputs.len()],
            rate: vec![0.0; environment.model.states],
            factors: Lu::new(environment.model.states),
        }
    }

    /// Number of states beside those of the subsystem.
    pub(crate) fn states(&self) -> usize {
        self.environment.states()
    }

    /// Starts a macro step at T^k; `outputs` gives y(T^k).
    pub(crate) fn begin(
        &mut self,
        start: f64,
        environment: &EnvironmentModel,
        outputs: impl FnOnce(&mut [f64]) -> Result<()>,
    ) -> Result<()> {
        self.start = start;
        self.environment.copy_from(environment);
        let is_value = matches!(environment.form, EnvironmentForm::Value(_));
        self.is_immediate = is_value || environment.model.d.iter().any(|d| *d != 0.0);
        outputs(&mut self.y_start)
    }

    /// Finds the inputs at a point of the solution, see [`Answer::inputs`]: `base` and what the rest adds.
    /// `outputs` gives y under inputs.
    pub(crate) fn resolve(
        &mut self,
        t: f64,
        rest: &[f64],
        base: &[f64],
        outputs: impl FnOnce(&[f64], &mut [f64]) -> Result<()>,
    ) -> Result<()> {
        self.u.copy_from_slice(base);
        if self.passes {
            // Without what the outputs change at once.
            self.y.fill(0.0);
            self.add(t, rest);
        }
        outputs(&self.u, &mut self.y)?;
        self.y.iter_mut().zip(&self.y_start).for_each(|(y, start)| *y -= start);
        if !self.passes {
            self.add(t, rest);
        } else if self.is_immediate {
            // Exact where the description says more than there is: the method refuses D of both (`lis`).
            // Where du = tau C (..) follows outputs that follow it, one step of the fixed point, which
            // contracts with tau.
            self.u.copy_from_slice(base);
            self.add(t, rest);
        }
        Ok(())
    }

    /// The inputs of the last [`Answer::resolve`].
    pub(crate) fn inputs(&self) -> &[f64] {
        &self.u
    }

    /// Derivatives of the states of the rest at the point of the last [`Answer::resolve`].
    pub(crate) fn derivatives(&mut self, t: f64, rest: &[f64], rest_dot: &mut [f64]) {
        match self.environment.form {
            EnvironmentForm::Exact => {
                let LocalModel { a, b, x_dot, .. } = &self.environment.model;
                rest_dot.copy_from_slice(x_dot);
                add_product(a, rest, 1.0, rest_dot);
                add_product(b, &self.y, 1.0, rest_dot);
            }
            EnvironmentForm::Rate(implicitness) => {
                self.implicit_rate(t, implicitness);
                rest_dot.fill(0.0);
                add_product(&self.environment.model.c, &self.rate, 1.0, rest_dot);
            }
            EnvironmentForm::Value(_) => {}
        }
    }

    /// Typical sizes of the states of the rest.
    pub(crate) fn nominals(&self, inputs: &[Port], rest: &mut [f64]) {
        match self.environment.form {
            EnvironmentForm::Exact => {
                let LocalModel { states, c, nominal, .. } = &self.environment.model;
                for (i, x) in rest.iter_mut().enumerate() {
                    if nominal[i] > 0.0 {
                        *x = nominal[i];
                        continue;
                    }
                    // Known by its effect only: what a typical input is worth.
                    let ports = inputs.iter().enumerate();
                    let least = ports.filter_map(|(j, port)| {
                        let gain = c[j * states + i].abs();
                        (gain > 0.0).then(|| port.nominal.unwrap_or(1.0) / gain)
                    });
                    let least = least.fold(f64::INFINITY, f64::min);
                    // A state that acts through others only: taken as large as a unit.
                    *x = if least.is_finite() { least } else { 1.0 };
                }
            }
            EnvironmentForm::Rate(_) => nominal_from(inputs, rest),
            EnvironmentForm::Value(_) => {}
        }
    }

    /// u += du, where `y` is dy.
    fn add(&mut self, t: f64, rest: &[f64]) {
        match self.environment.form {
            EnvironmentForm::Exact => add_product(&self.environment.model.c, rest, 1.0, &mut self.u),
            EnvironmentForm::Rate(_) => self.u.iter_mut().zip(rest).for_each(|(u, du)| *u += du),
            EnvironmentForm::Value(implicitness) => {
                self.implicit_rate(t, implicitness);
                add_product(&self.environment.model.c, &self.rate, t - self.start, &mut self.u);
            }
        }
        add_product(&self.environment.model.d, &self.y, 1.0, &mut self.u);
    }

    /// (I - r tau A)^-1 (xi'(T^k) + r B dy) [V14 (19)].
    fn implicit_rate(&mut self, t: f64, implicitness: f64) {
        let LocalModel { states, a, b, x_dot, .. } = &self.environment.model;
        self.rate.copy_from_slice(x_dot);
        add_product(b, &self.y, implicitness, &mut self.rate);
        let factor = -implicitness * (t - self.start);
        let matrix = self.factors.matrix_mut();
        matrix.data_mut().iter_mut().zip(a).for_each(|(m, a)| *m = factor * a);
        (0..*states).for_each(|i| matrix[(i, i)] += 1.0);
        if self.factors.factor() {
            self.factors.solve(&mut self.rate);
        } else {
            // An integrator with error control tries a shorter step; the guard of the engine stops the
            // others.
            self.rate.fill(f64::NAN);
        }
    }
}

/// Memory for df/dx by differences: typical sizes, the moved state, derivatives here and there.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateDifferences([Vec<f64>; 4]);

impl StateDifferences {
    /// For this many states.
    pub(crate) fn new(states: usize) -> Self {
        Self(std::array::from_fn(|_| vec![0.0; states]))
    }

    /// Where typical sizes of the states are written to.
    pub(crate) fn nominals_mut(&mut self) -> &mut [f64] {
        &mut self.0[0]
    }

    /// A of the model at x, and nothing for B, C and D: only implicit integrators ask, and they want A
    /// alone.
    pub(crate) fn fill(
        &mut self,
        x: &[f64],
        model: &mut LocalModel,
        mut derivatives: impl FnMut(&[f64], &mut [f64]) -> Result<()>,
    ) -> Result<()> {
        let n = x.len();
        let [nominal, moved, here, there] = &mut self.0;
        moved.copy_from_slice(x);
        derivatives(x, here)?;
        for j in 0..n {
            let step = f64::EPSILON.sqrt() * x[j].abs().max(nominal[j]);
            moved[j] = x[j] + step;
            derivatives(moved, there)?;
            moved[j] = x[j];
            (0..n).for_each(|i| model.a[i * n + j] = (there[i] - here[i]) / step);
        }
        [&mut model.b, &mut model.c, &mut model.d].into_iter().for_each(|block| block.fill(0.0));
        Ok(())
    }
}

/// result += factor * matrix x, with a matrix given row by row.
fn add_product(matrix: &[f64], x: &[f64], factor: f64, result: &mut [f64]) {
    if x.is_empty() {
        return;
    }
    for (result, row) in result.iter_mut().zip(matrix.chunks_exact(x.len())) {
        *result += factor * row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// u of one resolution for a subsystem whose output is y = 3 whatever its input, beside a rest of one
    /// state.
    fn input(feedthrough: Vec<usize>, form: EnvironmentForm) -> f64 {
        let description = Description {
            inputs: vec![Port::default()],
            outputs: vec![Port::default()],
            feedthrough: vec![feedthrough.into()],
            ..Description::default()
        };
        let mut model = LocalModel::new(1, 1, 1);
        (model.a[0], model.b[0], model.c[0], model.x_dot[0]) = (-1.0, 2.0, 0.5, 0.25);
        if form == EnvironmentForm::Exact {
            model.d[0] = 7.0;
        }
        let environment = EnvironmentModel { form, model };
        let mut answer = Answer::new(&environment, &description);
        let constant = |y: &mut [f64], value: f64| {
            y.fill(value);
            Ok(())
        };
        answer.begin(0.0, &environment, |y| constant(y, 1.0)).unwrap();
        answer.resolve(0.1, &[4.0], &[10.0], |_, y| constant(y, 3.0)).unwrap();
        answer.inputs()[0]
    }

    #[test]
    fn feedthrough_that_is_only_declared_changes_nothing() {
        // C xi + D dy, and tau C (1 + tau)^-1 (xi' + B dy).
        for (form, answer) in [
            (EnvironmentForm::Exact, 0.5 * 4.0 + 7.0 * 2.0),
            (EnvironmentForm::Value(1.0), 0.1 * 0.5 * (0.25 + 2.0 * 2.0) / 1.1),
        ] {
            for feedthrough in [vec![], vec![0]] {
                let u = input(feedthrough.clone(), form);
                assert!((u - 10.0 - answer).abs() < 1e-14, "{form:?} {feedthrough:?}: {u}");
            }
        }
    }
}
