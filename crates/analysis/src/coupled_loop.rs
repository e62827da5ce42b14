//! A macro step of subsystems coupled with identified models, as one linear map [T (3.30)]; `law.rs` has the inputs:
//!
//! ```text
//! (u^k, u^(k+1), delta^k, bar^k, y^k, y^(k+1), x^(k+1)) = phi (u^(k-1), u^k, delta^(k-1), bar^(k-1), y^(k-1), y^k, x^k)
//! ```
//!
//! delta and bar are what the law carries from step to step. What comes from outside is left out, and the constants c of the models are kept beside
//! phi: neither grows. The
//! subsystems themselves are either their local models, x^(k+1) = Phi_A x^k + Phi_B u^(k+1), y = C x + D u as in (3.30), or, if
//! they have none, the identified models: then there is no x.

use std::ops::Range;

use costep_core::{Coupling, InterfaceModel, Layout, LocalModel};
use costep_linalg::{DirectLoop, Exponential, Matrix, PseudoInverse};
use costep_methods::papers::{CUT, Phase};

use crate::law::LoopLaw;

/// Where the parts of the state are.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) u_before: Range<usize>,
    pub(crate) u: Range<usize>,
    /// What a law carries: delta of `prestep`, the corrected outputs of `mbcorr`.
    pub(crate) delta: Range<usize>,
    /// u_bar of `mbcorr`.
    pub(crate) bar: Range<usize>,
    pub(crate) y_before: Range<usize>,
    pub(crate) y: Range<usize>,
    pub(crate) x: Range<usize>,
}

impl Places {
    /// For m inputs, n outputs and so many states.
    pub(crate) fn new(m: usize, n: usize, states: usize, carries_inputs: bool) -> Self {
        let mut end = 0;
        let mut next = |count: usize| {
            end += count;
            end - count..end
        };
        let (u_before, u, delta) = (next(m), next(m), next(n));
        let bar = next(if carries_inputs { m } else { 0 });
        Self { u_before, u, delta, bar, y_before: next(n), y: next(n), x: next(states) }
    }

    pub(crate) fn size(&self) -> usize {
        self.x.end
    }
}

/// The identified models of all subsystems, block by block.
pub(crate) struct Identified {
    s_y: Matrix,
    s_u: Matrix,
    pub(crate) s_p: Matrix,
    /// c.
    offset: Vec<f64>,
    /// S_p^+ of every subsystem.
    pub(crate) inverse: Matrix,
    /// (I - S_p L)^-1: a discrete model answers with S_p at once, as a continuous one does with D.
    pub(crate) interface: DirectLoop,
}

impl Identified {
    /// None if a model is missing or I - S_p L is singular. `sizes`: of outputs and inputs, for S_p^+.
    pub(crate) fn new(
        layout: &Layout,
        coupling: &Coupling,
        models: &[Option<InterfaceModel>],
        (outputs, inputs): (&[f64], &[f64]),
    ) -> Option<Self> {
        let (m, n) = (layout.inputs(), layout.outputs());
        let (mut s_y, mut s_u, mut s_p) = (Matrix::zeros(n, n), Matrix::zeros(n, m), Matrix::zeros(n, m));
        let (mut inverse, mut offset) = (Matrix::zeros(m, n), vec![0.0; n]);
        for (i, model) in models.iter().enumerate() {
            let (us, ys) = (layout.input_range(i), layout.output_range(i));
            let Some(model) = model else { return None };
            put(&mut s_y, (ys.start, ys.start), ys.len(), &model.d_y);
            put(&mut s_u, (ys.start, us.start), us.len(), &model.d_u);
            put(&mut s_p, (ys.start, us.start), us.len(), &model.d_up);
            offset[ys.clone()].copy_from_slice(&model.offset);
            let own = invert(model, &outputs[ys.clone()], &inputs[us.clone()]);
            put(&mut inverse, (us.start, ys.start), ys.len(), own.data());
        }
        let mut interface = DirectLoop::new(n, coupling.links(0..m));
        interface.close(|i, j| s_p[(i, j)]).then_some(Self { s_y, s_u, s_p, offset, inverse, interface })
    }
}

/// S_p^+ in units of the signals.
fn invert(model: &InterfaceModel, outputs: &[f64], inputs: &[f64]) -> Matrix {
    let (n, m) = (outputs.len(), inputs.len());
    let (mut scaled, mut inverse) = (Matrix::from_rows(n, m, &model.d_up), Matrix::zeros(m, n));
    for (i, output) in outputs.iter().enumerate() {
        scaled.row_mut(i).iter_mut().zip(inputs).for_each(|(entry, input)| *entry *= input / output);
    }
    PseudoInverse::new(n, m).compute(&scaled, CUT, &mut inverse);
    for (q, input) in inputs.iter().enumerate() {
        inverse.row_mut(q).iter_mut().zip(outputs).for_each(|(entry, output)| *entry *= input / output);
    }
    inverse
}

/// The local models of all subsystems over a step under held inputs.
pub(crate) struct Local {
    phi_a: Matrix,
    phi_b: Matrix,
    c: Matrix,
    d: Matrix,
}

impl Local {
    /// None if a matrix exponential is not finite.
    pub(crate) fn new(layout: &Layout, models: &[LocalModel], h: f64) -> Option<Self> {
        let (m, n) = (layout.inputs(), layout.outputs());
        let states = models.iter().map(|model| model.states).sum();
        let (mut phi_a, mut phi_b) = (Matrix::zeros(states, states), Matrix::zeros(states, m));
        let (mut c, mut d) = (Matrix::zeros(n, states), Matrix::zeros(n, m));
        let mut at = 0;
        for (i, model) in models.iter().enumerate() {
            let (us, ys) = (layout.input_range(i), layout.output_range(i));
            let whole = transition(model, h)?;
            for k in 0..model.states {
                let (own, under) = whole.row(k).split_at(model.states);
                phi_a.row_mut(at + k)[at..at + model.states].copy_from_slice(own);
                phi_b.row_mut(at + k)[us.clone()].copy_from_slice(under);
            }
            put(&mut c, (ys.start, at), model.states, &model.c);
            put(&mut d, (ys.start, us.start), us.len(), &model.d);
            at += model.states;
        }
        Some(Self { phi_a, phi_b, c, d })
    }
}

/// exp([A B; 0 0] h), of which the upper rows are Phi_A and Phi_B.
fn transition(model: &LocalModel, h: f64) -> Option<Matrix> {
    let size = model.states + model.inputs;
    let (mut generator, mut result) = (Matrix::zeros(size, size), Matrix::zeros(size, size));
    put(&mut generator, (0, 0), model.states, &model.a);
    put(&mut generator, (0, model.states), model.inputs, &model.b);
    generator.scale(h);
    (Exponential::new(size).compute(&generator, &mut result) && result.is_finite()).then_some(result)
}

/// Row-major values, with so many columns, from a place on.
fn put(matrix: &mut Matrix, (row, column): (usize, usize), columns: usize, values: &[f64]) {
    for (i, values) in values.chunks_exact(columns.max(1)).enumerate() {
        matrix.row_mut(row + i)[column..column + columns].copy_from_slice(values);
    }
}

/// One step.
pub(crate) struct LoopStep<'a> {
    pub(crate) law: &'a LoopLaw,
    pub(crate) phase: Phase,
    pub(crate) l: &'a Matrix,
    /// Needed unless inputs come from signals and there are local models.
    pub(crate) identified: Option<&'a Identified>,
    pub(crate) local: Option<&'a Local>,
}

/// The state at the beginning of a step.
pub(crate) struct State<'a> {
    pub(crate) u_before: &'a [f64],
    pub(crate) u: &'a [f64],
    pub(crate) delta: &'a [f64],
    pub(crate) bar: &'a [f64],
    pub(crate) y_before: &'a [f64],
    pub(crate) y: &'a [f64],
    x: &'a [f64],
    /// c, or zero for a perturbation.
    pub(crate) constant: &'a [f64],
}

/// Inputs of a step, and what the law carries on.
pub(crate) struct Chosen {
    pub(crate) u: Vec<f64>,
    pub(crate) delta: Vec<f64>,
    pub(crate) bar: Vec<f64>,
}

impl LoopStep<'_> {
    /// phi, column by column. None if a model that is needed is missing.
    pub(crate) fn matrix(&self, places: &Places) -> Option<Matrix> {
        let size = places.size();
        let mut phi = Matrix::zeros(size, size);
        let (mut unit, none) = (vec![0.0; size], vec![0.0; places.y.len()]);
        for column in 0..size {
            unit[column] = 1.0;
            for (row, value) in self.advance(places, &unit, &none)?.into_iter().enumerate() {
                phi[(row, column)] = value;
            }
            unit[column] = 0.0;
        }
        phi.is_finite().then_some(phi)
    }

    /// What the constants of the models add to the state.
    pub(crate) fn constant(&self, places: &Places) -> Option<Vec<f64>> {
        let none = vec![0.0; places.size()];
        match self.identified {
            Some(models) => self.advance(places, &none, &models.offset),
            None => Some(none),
        }
    }

    /// The state after the step.
    fn advance(&self, places: &Places, state: &[f64], constant: &[f64]) -> Option<Vec<f64>> {
        let part = |range: &Range<usize>| &state[range.clone()];
        let state = State {
            u_before: part(&places.u_before),
            u: part(&places.u),
            delta: part(&places.delta),
            bar: part(&places.bar),
            y_before: part(&places.y_before),
            y: part(&places.y),
            x: part(&places.x),
            constant,
        };
        let chosen = match self.phase {
            Phase::Full | Phase::Modified => {
                self.law.by_models(self.identified?, self.l, &state, self.phase == Phase::Full)
            }
            _ => self.law.by_signals(self.l, &state),
        };
        let (y_next, x_next) = match (self.local, self.identified) {
            (Some(local), _) => local.advance(state.x, &chosen.u),
            (None, Some(models)) => {
                (plus(&models.advance(state.y, state.u, &chosen.u), constant), Vec::new())
            }
            (None, None) => return None,
        };
        let mut next = Vec::with_capacity(places.size());
        let bar = &chosen.bar[..places.bar.len()];
        for part in [state.u, &chosen.u, &chosen.delta, bar, state.y, &y_next, &x_next] {
            next.extend_from_slice(part);
        }
        Some(next)
    }
}

impl Identified {
    /// S_y y + S_u u + S_p u_next.
    pub(crate) fn advance(&self, y: &[f64], u: &[f64], u_next: &[f64]) -> Vec<f64> {
        let mut ahead = times(&self.s_y, y);
        self.s_u.multiply_add(u, &mut ahead);
        self.s_p.multiply_add(u_next, &mut ahead);
        ahead
    }

    /// (I - S_p L)^-1 [S_y start + S_u (L start + before) + S_p after].
    pub(crate) fn coupled(&self, l: &Matrix, start: &[f64], before: &[f64], after: &[f64]) -> Vec<f64> {
        let mut ahead = self.advance(start, &plus(&times(l, start), before), after);
        self.interface.solve(&mut ahead);
        ahead
    }

    /// (I - S_p L)^-1 [(S_y + S_u L) start + c].
    pub(crate) fn coupled_ahead(&self, l: &Matrix, start: &[f64], constant: &[f64]) -> Vec<f64> {
        let zero = vec![0.0; self.s_p.columns()];
        let mut ahead = plus(&self.advance(start, &times(l, start), &zero), constant);
        self.interface.solve(&mut ahead);
        ahead
    }
}

impl Local {
    /// y and x at the end of the step.
    fn advance(&self, x: &[f64], u: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut x_next = times(&self.phi_a, x);
        self.phi_b.multiply_add(u, &mut x_next);
        let mut y = times(&self.c, &x_next);
        self.d.multiply_add(u, &mut y);
        (y, x_next)
    }
}

/// L as a matrix.
pub(crate) fn coupling_matrix(coupling: &Coupling, layout: &Layout) -> Matrix {
    let mut l = Matrix::zeros(layout.inputs(), layout.outputs());
    coupling.links(0..layout.inputs()).into_iter().for_each(|(j, output, gain)| l[(j, output)] += gain);
    l
}

pub(crate) fn times(matrix: &Matrix, x: &[f64]) -> Vec<f64> {
    let mut result = vec![0.0; matrix.rows()];
    matrix.multiply_add(x, &mut result);
    result
}

pub(crate) fn plus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

pub(crate) fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[cfg(test)]
mod tests {
    use costep_core::{Experiment, InputPolynomials, Interval};
    use costep_integrate::Solver;

    use super::*;

    #[test]
    fn local_models_step_as_the_subsystems_do() {
        let (_, model) = costep_models::find("dual-mass").unwrap().model(&[]).unwrap();
        let (layout, h) = (model.layout(), 2e-3);
        let inputs = [[3e3].as_slice(), &[0.02, -1.5]];
        let (mut models, mut x, mut x_end, mut y_end) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (part, u) in model.parts.iter().zip(inputs) {
            let mut subsystem = part.subsystem(&Solver::Dopri5(1e-12)).unwrap();
            subsystem.initialise(&Experiment { start: 0.0, stop: 1.0, step: h }).unwrap();
            let outputs = subsystem.description().outputs.len();
            let mut local = LocalModel::new(subsystem.linearised().unwrap().states(), u.len(), outputs);
            subsystem.linearised().unwrap().local_model(u, &mut local).unwrap();
            x.extend_from_slice(&local.x);
            models.push(local.clone());
            let mut held = InputPolynomials::new(u.len(), 0);
            held.coefficients_mut(0).copy_from_slice(u);
            let mut y = vec![0.0; outputs];
            subsystem.step(Interval::new(0.0, h), held.segment(0..u.len(), 0), &mut y).unwrap();
            subsystem.linearised().unwrap().local_model(u, &mut local).unwrap();
            x_end.extend_from_slice(&local.x);
            y_end.extend(y);
        }
        let u: Vec<f64> = inputs.concat();
        let (y, x) = Local::new(&layout, &models, h).unwrap().advance(&x, &u);
        let near =
            |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-8 * b.abs().max(1e-2));
        assert!(near(&y, &y_end) && near(&x, &x_end), "{y:?} {y_end:?} {x:?} {x_end:?}");
        assert!(y_end.iter().all(|y| y.abs() > 1e-6), "{y_end:?}");
    }
}
