//! Equations that integrate a linear model of the rest of the system beside their own states: linearly implicit
//! stabilisation [V14 (15) to (26)], in the corrected forms of [`CompanionForm`].

use std::cell::RefCell;

use costep_core::{
    Companion, CompanionForm, Description, InputSegment, Interval, LocalModel, Result, Subsystem,
};
use costep_linalg::Lu;

use crate::native::Native;
use crate::ode::Ode;
use crate::solver::Solver;

/// Steps of a subsystem under a companion.
pub(crate) trait CompanionStep: Send {
    /// Advances `x` over the interval; gives outputs and inputs at its end.
    fn step(
        &mut self,
        interval: Interval,
        input: InputSegment<'_>,
        companion: &Companion,
        x: &mut [f64],
        ends: (&mut [f64], &mut [f64]),
    ) -> Result<()>;

    /// As a subsystem, for micro samples, snapshots and checkpoints of its integrator.
    fn subsystem(&self) -> &dyn Subsystem;

    /// The same, to be changed.
    fn subsystem_mut(&mut self) -> &mut dyn Subsystem;
}

/// Makes room for steps under companions of the size of this one.
pub(crate) fn companion_step<S: Ode + Clone + 'static>(
    ode: &S,
    solver: &Solver,
    companion: &Companion,
) -> Result<Box<dyn CompanionStep>> {
    // What is linear without the rest is not without a constant term with it.
    let solver = if *solver == Solver::Exact { Solver::Dopri5(TIGHT) } else { *solver };
    let native = Native::new(WithCompanion::new(ode.clone(), companion), &solver)?;
    Ok(Box::new(Stepper { native, x: Vec::new() }))
}

/// Tolerance in place of exact steps.
const TIGHT: f64 = 1e-12;

struct Stepper<S> {
    native: Native<WithCompanion<S>>,
    x: Vec<f64>,
}

impl<S: Ode + 'static> CompanionStep for Stepper<S> {
    fn step(
        &mut self,
        interval: Interval,
        input: InputSegment<'_>,
        companion: &Companion,
        x: &mut [f64],
        (y, u): (&mut [f64], &mut [f64]),
    ) -> Result<()> {
        self.x.clear();
        self.x.extend_from_slice(x);
        self.x.resize(x.len() + companion.states(), 0.0);
        self.native.set_state(interval.start, &self.x);
        self.native.ode_mut().begin(interval.start, input, companion, x);
        self.native.step(interval, input, y)?;
        x.copy_from_slice(&self.native.state()[..x.len()]);
        let ode = self.native.ode();
        ode.inputs_at(interval.end, self.native.state(), self.native.input(), u);
        Ok(())
    }

    fn subsystem(&self) -> &dyn Subsystem {
        &self.native
    }

    fn subsystem_mut(&mut self) -> &mut dyn Subsystem {
        &mut self.native
    }
}

/// A subsystem and the rest of the system as it sees it.
struct WithCompanion<S> {
    ode: S,
    companion: Companion,
    /// Whether its outputs depend on its inputs at once.
    passes: bool,
    /// T^k and y(T^k).
    start: f64,
    y_start: Vec<f64>,
    scratch: RefCell<Scratch>,
}

/// Room to work in.
struct Scratch {
    u: Vec<f64>,
    /// Outputs, then their change since T^k.
    y: Vec<f64>,
    /// (I - r tau A)^-1 (xi' + r B dy).
    rate: Vec<f64>,
    factors: Lu,
    /// For differences: typical sizes, the moved state, derivatives here and there.
    differences: [Vec<f64>; 4],
}

impl<S: Ode> WithCompanion<S> {
    fn new(ode: S, companion: &Companion) -> Self {
        let Description { inputs, outputs, feedthrough, .. } = ode.description();
        let scratch = Scratch {
            u: vec![0.0; inputs.len()],
            y: vec![0.0; outputs.len()],
            rate: vec![0.0; companion.model.states],
            factors: Lu::new(companion.model.states),
            differences: std::array::from_fn(|_| vec![0.0; ode.states() + companion.states()]),
        };
        Self {
            passes: feedthrough.iter().any(|row| !row.is_empty()),
            companion: companion.clone(),
            start: 0.0,
            y_start: vec![0.0; outputs.len()],
            scratch: RefCell::new(scratch),
            ode,
        }
    }

    fn begin(&mut self, start: f64, input: InputSegment<'_>, companion: &Companion, x: &[f64]) {
        self.start = start;
        self.companion.copy_from(companion);
        let scratch = self.scratch.get_mut();
        input.evaluate(0.0, &mut scratch.u);
        self.ode.outputs(start, x, &scratch.u, &mut self.y_start);
    }

    /// Fills u, y and dy at a point of the solution.
    fn resolve(&self, t: f64, x: &[f64], base: &[f64], scratch: &mut Scratch) {
        let (own, rest) = x.split_at(self.ode.states());
        scratch.u.copy_from_slice(base);
        if self.passes {
            // D of the rest is zero here (the method makes sure), so that the input does not wait for the output.
            scratch.y.fill(0.0);
            self.add_answer(t, rest, scratch);
            self.ode.outputs(t, own, &scratch.u, &mut scratch.y);
            self.take_difference(&mut scratch.y);
        } else {
            self.ode.outputs(t, own, &scratch.u, &mut scratch.y);
            self.take_difference(&mut scratch.y);
            self.add_answer(t, rest, scratch);
        }
    }

    fn take_difference(&self, y: &mut [f64]) {
        y.iter_mut().zip(&self.y_start).for_each(|(y, start)| *y -= start);
    }

    /// u += du, where `scratch.y` is dy.
    fn add_answer(&self, t: f64, rest: &[f64], scratch: &mut Scratch) {
        let LocalModel { c, d, .. } = &self.companion.model;
        match self.companion.form {
            CompanionForm::Exact => add_product(c, rest, 1.0, &mut scratch.u),
            CompanionForm::Rate(_) => scratch.u.iter_mut().zip(rest).for_each(|(u, du)| *u += du),
            CompanionForm::Value(implicitness) => {
                self.implicit_rate(t, implicitness, scratch);
                add_product(c, &scratch.rate, t - self.start, &mut scratch.u);
            }
        }
        add_product(d, &scratch.y, 1.0, &mut scratch.u);
    }

    /// (I - r tau A)^-1 (xi'(T^k) + r B dy) [V14 (19)].
    fn implicit_rate(&self, t: f64, implicitness: f64, scratch: &mut Scratch) {
        let LocalModel { states, a, b, x_dot, .. } = &self.companion.model;
        scratch.rate.copy_from_slice(x_dot);
        add_product(b, &scratch.y, implicitness, &mut scratch.rate);
        let factor = -implicitness * (t - self.start);
        let matrix = scratch.factors.matrix_mut();
        matrix.data_mut().iter_mut().zip(a).for_each(|(m, a)| *m = factor * a);
        (0..*states).for_each(|i| matrix[(i, i)] += 1.0);
        if scratch.factors.factor() {
            scratch.factors.solve(&mut scratch.rate);
        } else {
            // An integrator with error control tries a shorter step; the guard of the engine stops the others.
            scratch.rate.fill(f64::NAN);
        }
    }

    fn inputs_at(&self, t: f64, x: &[f64], base: &[f64], u: &mut [f64]) {
        let scratch = &mut *self.scratch.borrow_mut();
        self.resolve(t, x, base, scratch);
        u.copy_from_slice(&scratch.u);
    }
}

impl<S: Ode> Ode for WithCompanion<S> {
    fn description(&self) -> &Description {
        self.ode.description()
    }

    fn states(&self) -> usize {
        self.ode.states() + self.companion.states()
    }

    fn initial_state(&self, x: &mut [f64]) {
        x.fill(0.0);
    }

    fn nominal_state(&self, x: &mut [f64]) {
        let (own, rest) = x.split_at_mut(self.ode.states());
        self.ode.nominal_state(own);
        match self.companion.form {
            CompanionForm::Exact => {
                let LocalModel { states, c, nominal, .. } = &self.companion.model;
                for (i, x) in rest.iter_mut().enumerate() {
                    if nominal[i] > 0.0 {
                        *x = nominal[i];
                        continue;
                    }
                    // Known by its effect only: what a typical input is worth.
                    let ports = self.description().inputs.iter().enumerate();
                    let least = ports.filter_map(|(j, port)| {
                        let gain = c[j * states + i].abs();
                        (gain > 0.0).then(|| port.nominal.unwrap_or(1.0) / gain)
                    });
                    let least = least.fold(f64::INFINITY, f64::min);
                    // A state that acts through others only: taken as large as a unit.
                    *x = if least.is_finite() { least } else { 1.0 };
                }
            }
            CompanionForm::Rate(_) => crate::ode::nominal_from(&self.ode.description().inputs, rest),
            CompanionForm::Value(_) => {}
        }
    }

    fn derivatives(&self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        let scratch = &mut *self.scratch.borrow_mut();
        self.resolve(t, x, u, scratch);
        let (own, rest) = x.split_at(self.ode.states());
        let (own_dot, rest_dot) = x_dot.split_at_mut(own.len());
        self.ode.derivatives(t, own, &scratch.u, own_dot);
        let LocalModel { a, b, c, x_dot: e, .. } = &self.companion.model;
        match self.companion.form {
            CompanionForm::Exact => {
                rest_dot.copy_from_slice(e);
                add_product(a, rest, 1.0, rest_dot);
                add_product(b, &scratch.y, 1.0, rest_dot);
            }
            CompanionForm::Rate(implicitness) => {
                self.implicit_rate(t, implicitness, scratch);
                rest_dot.fill(0.0);
                add_product(c, &scratch.rate, 1.0, rest_dot);
            }
            CompanionForm::Value(_) => {}
        }
    }

    fn outputs(&self, t: f64, x: &[f64], u: &[f64], y: &mut [f64]) {
        let scratch = &mut *self.scratch.borrow_mut();
        self.resolve(t, x, u, scratch);
        self.ode.outputs(t, &x[..self.ode.states()], &scratch.u, y);
    }

    /// By differences: only implicit integrators ask, and they want A alone.
    fn jacobians(&self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) {
        let n = x.len();
        let [mut nominal, mut moved, mut here, mut there] =
            std::mem::take(&mut self.scratch.borrow_mut().differences);
        self.nominal_state(&mut nominal);
        moved.copy_from_slice(x);
        self.derivatives(t, x, u, &mut here);
        for j in 0..n {
            let step = f64::EPSILON.sqrt() * x[j].abs().max(nominal[j]);
            moved[j] = x[j] + step;
            self.derivatives(t, &moved, u, &mut there);
            moved[j] = x[j];
            for i in 0..n {
                model.a[i * n + j] = (there[i] - here[i]) / step;
            }
        }
        self.scratch.borrow_mut().differences = [nominal, moved, here, there];
        [&mut model.b, &mut model.c, &mut model.d].into_iter().for_each(|block| block.fill(0.0));
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
