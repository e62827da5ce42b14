//! A local model from responses to pulses, by the singular values of their Hankel matrix (Kung's realisation: what MOESP comes to on
//! data without noise that start at rest).
//!
//! ```text
//! pulse of input q held over the first sample:  g_0 = C B_d + D,  g_k = C A_d^k B_d
//! H = [g_(1+i+j)] = Gamma Delta = (U S^(1/2)) (S^(1/2) V^T),  C A_d = first rows of Gamma,  B_d = first columns of Delta
//! A_d by the shift of Gamma,  [A B; 0 0] = log [A_d B_d; 0 I] / spacing
//! ```
//!
//! Modes that have died within a sample leave no trace in H; what they do is part of D. Everything is in units of the pulses and of the
//! greatest responses.

use costep_core::LocalModel;
use costep_linalg::{Lu, Matrix, PseudoInverse, Svd, logarithm};

use super::place::discrete;

/// Singular values of the shift below this share count as zero.
const SHIFT_CUT: f64 = 1e-12;
/// What answers by less than this share after the pulse answers at once.
pub(super) const LEAST_LATER: f64 = 1e-6;
/// A model that leaves more of the responses unexplained is rejected.
const UNEXPLAINED: f64 = 0.1;
/// The same of responses that the model was not made from.
const UNEXPLAINED_ELSEWHERE: f64 = 0.01;

/// Responses of all outputs to a pulse of each input, at equal spacings.
#[derive(Clone, Debug, Default)]
pub(super) struct Responses {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// In s.
    pub(super) spacing: f64,
    /// Sample by sample n x m, row-major; at least three of them.
    pub(super) values: Vec<f64>,
    /// Pulse of each input that they answer.
    pub(super) pulses: Vec<f64>,
    /// Share of them that is not linear, or noise.
    pub(super) doubt: f64,
    /// Share by which those to a later pulse differ.
    pub(super) drift: f64,
}

impl Responses {
    /// Greatest of such values of an output, from a sample on.
    pub(super) fn greatest(&self, values: &[f64], output: usize, from: usize) -> f64 {
        let rows = values.chunks_exact(self.inputs).skip(from * self.outputs + output).step_by(self.outputs);
        rows.flatten().fold(0.0, |greatest: f64, value| greatest.max(value.abs()))
    }

    /// Greatest response of each output after the pulse, which is what H is made of; 1 where there is none.
    fn units(&self) -> Vec<f64> {
        let unit = |i: usize| {
            let (all, later) = (self.greatest(&self.values, i, 0), self.greatest(&self.values, i, 1));
            later.max(LEAST_LATER * all)
        };
        (0..self.outputs).map(|i| Some(unit(i)).filter(|unit| *unit > 0.0).unwrap_or(1.0)).collect()
    }

    fn scaled(&self) -> Vec<Matrix> {
        let (units, size) = (self.units(), self.inputs * self.outputs);
        let sample = |values: &[f64]| {
            let mut matrix = Matrix::from_rows(self.outputs, self.inputs, values);
            for (i, unit) in units.iter().enumerate() {
                matrix.row_mut(i).iter_mut().for_each(|value| *value /= unit);
            }
            matrix
        };
        self.values.chunks_exact(size.max(1)).map(sample).collect()
    }

    /// The model with as few states as explain the responses up to their doubt. None if there is none.
    pub(super) fn realise(&self, cut: f64) -> Option<LocalModel> {
        let responses = self.scaled();
        let hankel = Hankel::new(&responses);
        // An order whose A_d has no logarithm (an eigenvalue that is zero or negative) is one too many.
        (0..=hankel.order(cut)).rev().find_map(|order| {
            let model = hankel.model(order, &responses, self.spacing)?;
            let limit = UNEXPLAINED.max(2.0 * cut);
            (model.unexplained(&responses) <= limit).then(|| self.unscale(&model, cut))
        })
    }

    /// Whether a model tells these responses, which it was not made from.
    pub(super) fn are_explained_by(&self, model: &LocalModel) -> bool {
        let (m, n, o) = (self.inputs, self.outputs, model.states);
        let Some(steps) = discrete(model, self.spacing) else { return false };
        let mut x = steps.b.clone();
        let mut rest = self.values.clone();
        for (k, rest) in rest.chunks_exact_mut(n * m).enumerate() {
            for (at, rest) in rest.iter_mut().enumerate() {
                let (i, q) = (at / m, at % m);
                let by_states: f64 = (0..o).map(|l| model.c[i * o + l] * x[(l, q)]).sum();
                let direct = if k == 0 { model.d[at] } else { 0.0 };
                *rest -= (by_states + direct) * self.pulses[q];
            }
            let mut next = Matrix::zeros(o, m);
            next.set_product(&steps.a, &x);
            x = next;
        }
        (0..n)
            .all(|i| self.greatest(&rest, i, 0) <= UNEXPLAINED_ELSEWHERE * self.greatest(&self.values, i, 0))
    }

    fn unscale(&self, model: &Realised, cut: f64) -> LocalModel {
        let (o, m, n) = (model.a.rows(), self.inputs, self.outputs);
        let (units, mut local) = (self.units(), LocalModel::new(o, m, n));
        local.a.copy_from_slice(model.a.data());
        for k in 0..o {
            (0..m).for_each(|q| local.b[k * m + q] = model.b[(k, q)] / self.pulses[q]);
        }
        for (i, unit) in units.iter().enumerate() {
            (0..o).for_each(|k| local.c[i * o + k] = model.c[(i, k)] * unit);
            for q in 0..m {
                // Round-off would make a loop of direct feedthrough where there is none.
                let d = model.d[(i, q)] * unit;
                let is_noise = d.abs() <= cut * self.greatest(&self.values, i, 0);
                local.d[i * m + q] = if is_noise { 0.0 } else { d / self.pulses[q] };
            }
        }
        local
    }
}

/// H and its decomposition.
struct Hankel {
    matrix: Matrix,
    /// Of H, or of its transpose if H is wide.
    svd: Svd,
    wide: bool,
    outputs: usize,
    inputs: usize,
}

/// A model in scaled units, continuous and from sample to sample.
struct Realised {
    a: Matrix,
    b: Matrix,
    c: Matrix,
    d: Matrix,
    a_d: Matrix,
    b_d: Matrix,
}

impl Hankel {
    fn new(responses: &[Matrix]) -> Self {
        let (n, m) = (responses[0].rows(), responses[0].columns());
        let rows = responses.len() / 2;
        let columns = responses.len() - rows;
        let mut matrix = Matrix::zeros(rows * n, columns * m);
        for (row, column) in (0..rows * n).flat_map(|row| (0..columns * m).map(move |column| (row, column))) {
            matrix[(row, column)] = responses[1 + row / n + column / m][(row % n, column % m)];
        }
        let wide = matrix.columns() > matrix.rows();
        let mut svd = Svd::new(matrix.rows().max(matrix.columns()), matrix.rows().min(matrix.columns()));
        if wide {
            let mut flipped = Matrix::zeros(matrix.columns(), matrix.rows());
            flipped.set_transpose(&matrix);
            svd.compute(&flipped);
        } else {
            svd.compute(&matrix);
        }
        Self { matrix, svd, wide, outputs: n, inputs: m }
    }

    /// Number of singular values that are more than noise, and that the shift can tell apart.
    fn order(&self, cut: f64) -> usize {
        self.svd.rank(cut).min(self.matrix.rows() - self.outputs)
    }

    /// Gamma, and B_d from Delta.
    fn factors(&self, order: usize) -> (Matrix, Matrix) {
        let (rows, m) = (self.matrix.rows(), self.inputs);
        let (mut gamma, mut b_d) = (Matrix::zeros(rows, order), Matrix::zeros(order, m));
        for s in 0..order {
            let root = self.svd.singular()[s].sqrt();
            let right = |k: usize| self.svd.right(k, s);
            for i in 0..rows {
                let sum = || self.matrix.row(i).iter().enumerate().map(|(k, h)| h * right(k)).sum::<f64>();
                gamma[(i, s)] = if self.wide { right(i) * root } else { sum() / root };
            }
            for q in 0..m {
                let sum = || (0..rows).map(|i| self.matrix[(i, q)] * right(i)).sum::<f64>();
                b_d[(s, q)] = if self.wide { sum() / root } else { right(q) * root };
            }
        }
        (gamma, b_d)
    }

    fn model(&self, order: usize, responses: &[Matrix], spacing: f64) -> Option<Realised> {
        let (n, m) = (self.outputs, self.inputs);
        let (gamma, b_d) = self.factors(order);
        let a_d = shift(&gamma, n);
        // C = (C A_d) A_d^-1, row by row.
        let (mut c, mut inverse) = (Matrix::zeros(n, order), Lu::new(order));
        inverse.matrix_mut().set_transpose(&a_d);
        if !inverse.factor() {
            return None;
        }
        for i in 0..n {
            c.row_mut(i).copy_from_slice(gamma.row(i));
            inverse.solve(c.row_mut(i));
        }
        let mut d = responses[0].clone();
        d.add_product(-1.0, &c, &b_d);
        let generator = generator(&a_d, &b_d, spacing)?;
        let (mut a, mut b) = (Matrix::zeros(order, order), Matrix::zeros(order, m));
        for k in 0..order {
            a.row_mut(k).copy_from_slice(&generator.row(k)[..order]);
            b.row_mut(k).copy_from_slice(&generator.row(k)[order..]);
        }
        let finite = [&a, &b, &c, &d].iter().all(|matrix| matrix.is_finite());
        finite.then_some(Realised { a, b, c, d, a_d, b_d })
    }
}

impl Realised {
    /// Greatest difference between the responses and those of the model; 1 is the greatest response.
    fn unexplained(&self, responses: &[Matrix]) -> f64 {
        let (mut x, mut worst) = (self.b_d.clone(), 0.0_f64);
        for (k, response) in responses.iter().enumerate() {
            let mut rest = response.clone();
            rest.add_product(-1.0, &self.c, &x);
            if k == 0 {
                rest.add_scaled(-1.0, &self.d);
            }
            worst = rest.data().iter().fold(worst, |worst, rest| worst.max(rest.abs()));
            let mut next = Matrix::zeros(x.rows(), x.columns());
            next.set_product(&self.a_d, &x);
            x = next;
        }
        worst
    }
}

/// A_d with Gamma without its first block row = Gamma without its last one times A_d.
fn shift(gamma: &Matrix, n: usize) -> Matrix {
    let (rows, order) = (gamma.rows() - n, gamma.columns());
    let mut a_d = Matrix::zeros(order, order);
    if order > 0 {
        let upper = Matrix::from_rows(rows, order, &gamma.data()[..rows * order]);
        let lower = Matrix::from_rows(rows, order, &gamma.data()[n * order..]);
        let mut inverse = Matrix::zeros(order, rows);
        PseudoInverse::new(rows, order).compute(&upper, SHIFT_CUT, &mut inverse);
        a_d.set_product(&inverse, &lower);
    }
    a_d
}

/// [A B; 0 0].
fn generator(a_d: &Matrix, b_d: &Matrix, spacing: f64) -> Option<Matrix> {
    let (order, m) = (b_d.rows(), b_d.columns());
    let mut whole = Matrix::zeros(order + m, order + m);
    whole.set_identity();
    for k in 0..order {
        whole.row_mut(k)[..order].copy_from_slice(a_d.row(k));
        whole.row_mut(k)[order..].copy_from_slice(b_d.row(k));
    }
    let mut generator = logarithm(&whole)?;
    generator.scale(1.0 / spacing);
    Some(generator)
}
