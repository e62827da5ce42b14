//! Pre-step stabilisation in discrete form [T 2.2.2].
//!
//! ```text
//! step 1  delta^k = (I - S_p L)^-1 [(S_y + S_u L) delta^(k-1) + S_u eps^(k-1) + S_p eps^k],  eps = L y + r - u      [T (2.57)]
//! step 2  yhat = (I - S_p L)^-1 [(S_y + S_u L)(y + delta) + S_u r^k + S_p r^(k+1) + c]                             [T (2.63)]
//! step 3  S_p u = yhat - S_y y - S_u u^k - c  per subsystem                                             [T (2.64), (2.71)]
//! ```
//!
//! With intermediate values eps^(k-1) and eps^k are shifted so that their mean is that of eps over the step [T (2.58) to (2.60)],
//! whose sum lacks the inner step. The text's (2.55) has lost the minus signs of its model terms; (2.57) is right. Step 3 is solved as u = uhat + S_p^+ (rhs - S_p uhat) with
//! uhat = L yhat + r: least squares with more outputs than inputs, the input nearest to uhat with fewer ((2.71) lacks a factor 2),
//! in units of the ranges of the signals. Without step 1 and with S_u = 0 (ARX of first order) step 3 changes nothing: u = uhat.

use costep_core::{InputSet, InterfaceModel, Layout, Options, Result, StateReader, StateWriter, SystemView};
use costep_linalg::{Matrix, PseudoInverse};

use super::{ModelLaw, Point};
use crate::papers::thesis::ThesisOptions;
use crate::prestep::PreStepOptions;
use crate::shared::interface::Interface;
use crate::shared::per_subsystem::row;

/// Singular values of S_p below this share of the greatest count as zero.
pub const CUT: f64 = 1e-10;

/// What is done about the error differential equation, step 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorEquation {
    /// Nothing: delta is zero.
    Off,
    /// delta starts at zero in every step.
    Fresh,
    /// delta is carried from step to step.
    Carried,
}

/// What the discrete form does, from its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscreteForm {
    /// Step 1.
    pub errors: ErrorEquation,
    /// Step 3 is left out.
    pub modified: bool,
    /// Step 3 is done in units of the ranges of the signals.
    pub scaled: bool,
    /// eps is shifted to the mean of its intermediate values.
    pub intermediate: bool,
}

impl DiscreteForm {
    /// Of checked options of `prestep`.
    pub fn new(options: &Options) -> Self {
        let PreStepOptions { ede, modified, scaled, .. } = PreStepOptions::read(options);
        let ThesisOptions { ede_fresh, ede_intermediate, .. } = ThesisOptions::read(options);
        let errors = match (ede, ede_fresh) {
            (false, _) => ErrorEquation::Off,
            (true, true) => ErrorEquation::Fresh,
            (true, false) => ErrorEquation::Carried,
        };
        Self { errors, modified, scaled, intermediate: ede && ede_intermediate }
    }
}

pub(super) struct PreStep {
    form: DiscreteForm,
    inputs: InputSet,
    is_ours: Vec<bool>,
    layout: Layout,
    interface: Interface,
    parts: Vec<SubsystemLearner>,
    /// delta^k, and eps^k of the last point.
    delta: Vec<f64>,
    eps: Vec<f64>,
    eps_before: Vec<f64>,
    /// Least and greatest outputs and inputs so far.
    outputs: Ranges,
    seen_inputs: Ranges,
    /// yhat, and L yhat + r.
    ahead: Vec<f64>,
    u_ahead: Vec<f64>,
    start: Vec<f64>,
    drive: (Vec<f64>, Vec<f64>),
}

struct SubsystemLearner {
    s_p: Matrix,
    scaled: Matrix,
    inverse: Matrix,
    work: PseudoInverse,
    rest: Vec<f64>,
}

#[derive(Default)]
struct Ranges {
    least: Vec<f64>,
    greatest: Vec<f64>,
}

impl PreStep {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            form: DiscreteForm::new(options),
            inputs: InputSet::All(0),
            is_ours: Vec::new(),
            layout: Layout::default(),
            interface: Interface::default(),
            parts: Vec::new(),
            delta: Vec::new(),
            eps: Vec::new(),
            eps_before: Vec::new(),
            outputs: Ranges::default(),
            seen_inputs: Ranges::default(),
            ahead: Vec::new(),
            u_ahead: Vec::new(),
            start: Vec::new(),
            drive: (Vec::new(), Vec::new()),
        }
    }

    /// eps^k, and the ranges.
    fn look(&mut self, point: &Point<'_>) {
        self.outputs.take(point.y);
        self.seen_inputs.take(point.u);
        std::mem::swap(&mut self.eps, &mut self.eps_before);
        for (j, eps) in self.eps.iter_mut().enumerate() {
            *eps = if self.is_ours[j] { point.coupled[j] - point.u[j] } else { 0.0 };
        }
    }

    /// b of a step of the coupled models: S_y x + S_u (L x + before) + S_p after.
    fn coupled_step(&mut self, point: &Point<'_>) {
        let (before, after) = &mut self.drive;
        for j in self.inputs.iter() {
            before[j] += point.coupling.row(j, &self.start);
        }
        for i in 0..self.parts.len() {
            let Some(model) = point.models.interface(i) else { continue };
            let (us, ys) = (self.layout.input_range(i), self.layout.output_range(i));
            let (start, before, after) = (&self.start[ys.clone()], &before[us.clone()], &after[us]);
            for (k, b) in self.ahead[ys].iter_mut().enumerate() {
                *b = row(&model.d_y, k, start) + row(&model.d_u, k, before) + row(&model.d_up, k, after);
            }
        }
    }

    /// Step 1.
    fn error_equation(&mut self, point: &Point<'_>) {
        if self.form.errors == ErrorEquation::Off {
            return;
        }
        if self.form.errors == ErrorEquation::Fresh {
            self.delta.fill(0.0);
        }
        self.start.copy_from_slice(&self.delta);
        self.drive.0.copy_from_slice(&self.eps_before);
        self.drive.1.copy_from_slice(&self.eps);
        for j in self.inputs.iter().filter(|j| point.mean_eps[*j].is_finite()) {
            let shift = point.mean_eps[j] - 0.5 * (self.eps_before[j] + self.eps[j]);
            self.drive.0[j] += shift;
            self.drive.1[j] += shift;
        }
        self.coupled_step(point);
        let parts = &self.parts;
        self.interface.solve(|i| &parts[i].s_p, &mut self.ahead);
        self.delta.copy_from_slice(&self.ahead);
    }

    /// Step 2.
    fn extrapolate(&mut self, point: &Point<'_>) {
        for ((start, y), delta) in self.start.iter_mut().zip(point.y).zip(&self.delta) {
            *start = y + delta;
        }
        for j in 0..self.is_ours.len() {
            let known = point.coupled[j];
            let ours = self.is_ours[j];
            self.drive.0[j] = if ours { point.external.0[j] } else { known };
            self.drive.1[j] = if ours { point.external.1[j] } else { known };
        }
        self.coupled_step(point);
        for i in 0..self.parts.len() {
            let Some(model) = point.models.interface(i) else { continue };
            let ys = self.layout.output_range(i);
            self.ahead[ys].iter_mut().zip(&model.offset).for_each(|(b, c)| *b += c);
        }
        let parts = &self.parts;
        self.interface.solve(|i| &parts[i].s_p, &mut self.ahead);
        self.u_ahead.copy_from_slice(point.coupled);
        for j in self.inputs.iter() {
            self.u_ahead[j] = point.coupling.row(j, &self.ahead) + point.external.1[j];
        }
    }

    /// Step 3.
    fn optimise(&mut self, point: &Point<'_>, u: &mut [f64]) {
        for (i, part) in self.parts.iter_mut().enumerate() {
            let Some(model) = point.models.interface(i) else { continue };
            let (us, ys) = (self.layout.input_range(i), self.layout.output_range(i));
            let sizes = |at: usize, ranges: &Ranges| if self.form.scaled { ranges.size(at) } else { 1.0 };
            let (output_size, input_size) = (
                |k: usize| sizes(ys.start + k, &self.outputs),
                |q: usize| sizes(us.start + q, &self.seen_inputs),
            );
            part.invert(&self.is_ours[us.clone()], output_size, input_size);
            let held = (&point.y[ys.clone()], &point.u[us.clone()]);
            part.aim(model, held, &self.ahead[ys], &self.u_ahead[us.clone()]);
            let goal = &mut u[us.clone()];
            goal.copy_from_slice(&self.u_ahead[us]);
            part.inverse.multiply_add(&part.rest, goal);
        }
    }
}

impl ModelLaw for PreStep {
    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        let layout = system.layout;
        let (m, n) = (layout.inputs(), layout.outputs());
        self.inputs = system.inputs.clone();
        self.is_ours = (0..m).map(|j| system.inputs.contains(j)).collect();
        self.layout = layout.clone();
        self.interface = Interface::new(system, 1);
        let part =
            |i: usize| SubsystemLearner::new(layout.input_range(i).len(), layout.output_range(i).len());
        self.parts = (0..layout.subsystems()).map(part).collect();
        for values in [&mut self.delta, &mut self.ahead, &mut self.start] {
            *values = vec![0.0; n];
        }
        for values in [&mut self.eps, &mut self.eps_before, &mut self.u_ahead] {
            *values = vec![0.0; m];
        }
        self.drive = (vec![0.0; m], vec![0.0; m]);
        (self.outputs, self.seen_inputs) = (Ranges::new(n), Ranges::new(m));
        Ok(())
    }

    fn pass(&mut self, _point: &Point<'_>) {
        self.delta.fill(0.0);
    }

    fn solve(&mut self, point: &Point<'_>, u: &mut [f64]) -> bool {
        self.look(point);
        for (i, part) in self.parts.iter_mut().enumerate() {
            let Some(model) = point.models.interface(i) else { return false };
            part.s_p.data_mut().copy_from_slice(&model.d_up);
        }
        let parts = &self.parts;
        if !self.interface.factor(|i| &parts[i].s_p) {
            return false;
        }
        self.error_equation(point);
        self.extrapolate(point);
        if self.form.modified || !point.full {
            u.copy_from_slice(&self.u_ahead);
        } else {
            self.optimise(point, u);
        }
        self.ahead.iter().all(|y| y.is_finite())
    }

    fn save(&self, out: &mut StateWriter) {
        for values in [&self.delta, &self.eps] {
            out.reals(values);
        }
        for ranges in [&self.outputs, &self.seen_inputs] {
            out.reals(&ranges.least);
            out.reals(&ranges.greatest);
        }
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        for values in [&mut self.delta, &mut self.eps] {
            from.reals(values)?;
        }
        for ranges in [&mut self.outputs, &mut self.seen_inputs] {
            from.reals(&mut ranges.least)?;
            from.reals(&mut ranges.greatest)?;
        }
        Ok(())
    }
}

impl SubsystemLearner {
    fn new(m: usize, n: usize) -> Self {
        Self {
            s_p: Matrix::zeros(n, m),
            scaled: Matrix::zeros(n, m),
            inverse: Matrix::zeros(m, n),
            work: PseudoInverse::new(n, m),
            rest: vec![0.0; n],
        }
    }

    /// inverse = S_p^+ over the inputs of the group, in units of the signals.
    fn invert(&mut self, ours: &[bool], output: impl Fn(usize) -> f64, input: impl Fn(usize) -> f64) {
        for k in 0..self.s_p.rows() {
            for (q, is_ours) in ours.iter().enumerate() {
                let entry = if *is_ours { self.s_p[(k, q)] } else { 0.0 };
                self.scaled[(k, q)] = entry * input(q) / output(k);
            }
        }
        self.work.compute(&self.scaled, CUT, &mut self.inverse);
        for q in 0..ours.len() {
            for k in 0..self.s_p.rows() {
                self.inverse[(q, k)] *= input(q) / output(k);
            }
        }
    }

    /// rest = yhat - S_y y - S_u u^k - c - S_p uhat.
    fn aim(&mut self, model: &InterfaceModel, (y, u): (&[f64], &[f64]), ahead: &[f64], u_ahead: &[f64]) {
        model.predict(y, u, u_ahead, &mut self.rest);
        self.rest.iter_mut().zip(ahead).for_each(|(rest, ahead)| *rest = ahead - *rest);
    }
}

impl Ranges {
    fn new(signals: usize) -> Self {
        Self { least: vec![f64::MAX; signals], greatest: vec![f64::MIN; signals] }
    }

    fn take(&mut self, values: &[f64]) {
        for (i, value) in values.iter().enumerate() {
            self.least[i] = self.least[i].min(*value);
            self.greatest[i] = self.greatest[i].max(*value);
        }
    }

    /// The range; 1 while nothing has moved.
    fn size(&self, i: usize) -> f64 {
        let range = self.greatest[i] - self.least[i];
        if range > 0.0 && range.is_finite() { range } else { 1.0 }
    }
}
