//! Conversions between forms of a local model: state space and outputs alone, continuous and discrete time.

use costep_core::LocalModel;
use costep_linalg::{Exponential, Matrix, PseudoInverse, logarithm};

/// Singular values of C below this share of the greatest count as zero.
const CUT: f64 = 1e-9;

/// A local model seen through its outputs alone: Interface Jacobians [T (2.18)].
///
/// z = y - D u stands for C x:  z' = S_y z + C B u,  y = z + D u,  S_y = C A C^+. The form of the thesis with
/// S_u = C B - S_y D, S_d = D and u' is the same without jumps of the input.
#[derive(Default)]
pub struct OutputForm {
    c: Matrix,
    inverse: Matrix,
    work: PseudoInverse,
    product: Matrix,
}

impl OutputForm {
    /// Workspace for models of this size.
    pub fn new(model: &LocalModel) -> Self {
        let (n, r) = (model.states, model.outputs);
        Self {
            c: Matrix::zeros(r, n),
            inverse: Matrix::zeros(n, r),
            work: PseudoInverse::new(r, n),
            product: Matrix::zeros(r, n),
        }
    }

    /// Writes the output form of `from`, a model with as many states as outputs. Takes no memory.
    pub fn convert(&mut self, from: &LocalModel, to: &mut LocalModel) {
        let (n, m, r) = (from.states, from.inputs, from.outputs);
        self.c.data_mut().copy_from_slice(&from.c);
        self.work.compute(&self.c, CUT, &mut self.inverse);
        for i in 0..r {
            for k in 0..n {
                self.product[(i, k)] = (0..n).map(|l| from.c[i * n + l] * from.a[l * n + k]).sum();
            }
        }
        for i in 0..r {
            for k in 0..r {
                to.a[i * r + k] = (0..n).map(|l| self.product[(i, l)] * self.inverse[(l, k)]).sum();
                to.c[i * r + k] = f64::from(u8::from(i == k));
            }
            for q in 0..m {
                to.b[i * m + q] = (0..n).map(|l| from.c[i * n + l] * from.b[l * m + q]).sum();
            }
        }
        to.d.copy_from_slice(&from.d);
        to.euler_step = from.euler_step;
    }
}

/// y' = S_y y + S_u u + S_d u' [T (2.8)].
#[derive(Clone, Debug, PartialEq)]
pub struct InterfaceJacobians {
    /// dS/dy = C A C^+.
    pub s_y: Matrix,
    /// dS/du = C B - S_y D.
    pub s_u: Matrix,
    /// dS/du' = D.
    pub s_d: Matrix,
}

/// The Interface Jacobians of a local model.
pub fn interface_jacobians(model: &LocalModel) -> InterfaceJacobians {
    let (m, r) = (model.inputs, model.outputs);
    let mut outputs = LocalModel::new(r, m, r);
    OutputForm::new(model).convert(model, &mut outputs);
    let s_y = Matrix::from_rows(r, r, &outputs.a);
    let s_d = Matrix::from_rows(r, m, &outputs.d);
    let mut s_u = Matrix::from_rows(r, m, &outputs.b);
    s_u.add_product(-1.0, &s_y, &s_d);
    InterfaceJacobians { s_y, s_u, s_d }
}

/// x(t + h) = A_d x(t) + B_d u for held inputs; C and D stay. None if it is not finite.
pub fn to_discrete(model: &LocalModel, h: f64) -> Option<LocalModel> {
    let mut generator = held(model);
    generator.scale(h);
    for i in 0..model.inputs {
        generator[(model.states + i, model.states + i)] = 0.0;
    }
    let mut result = generator.clone();
    Exponential::new(generator.rows()).compute(&generator, &mut result).then(|| with_rates(model, &result))
}

/// The inverse of [`to_discrete`]. None if a mode of the discrete model has no continuous counterpart: an eigenvalue
/// that is zero or negative.
pub fn to_continuous(model: &LocalModel, h: f64) -> Option<LocalModel> {
    let mut result = logarithm(&held(model))?;
    result.scale(1.0 / h);
    Some(with_rates(model, &result))
}

/// [A B; 0 I]: states under inputs that are held.
fn held(model: &LocalModel) -> Matrix {
    let (n, m) = (model.states, model.inputs);
    let mut matrix = Matrix::zeros(n + m, n + m);
    for i in 0..n {
        matrix.row_mut(i)[..n].copy_from_slice(&model.a[i * n..(i + 1) * n]);
        matrix.row_mut(i)[n..].copy_from_slice(&model.b[i * m..(i + 1) * m]);
    }
    (0..m).for_each(|q| matrix[(n + q, n + q)] = 1.0);
    matrix
}

/// The model with A and B from the upper rows of a matrix as [`held`] gives it.
fn with_rates(model: &LocalModel, matrix: &Matrix) -> LocalModel {
    let (n, m) = (model.states, model.inputs);
    let mut result = model.clone();
    for i in 0..n {
        result.a[i * n..(i + 1) * n].copy_from_slice(&matrix.row(i)[..n]);
        result.b[i * m..(i + 1) * m].copy_from_slice(&matrix.row(i)[n..]);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mass 2 of the dual mass oscillator with ck = 2e5, dk = 200, and mass 1.
    fn masses() -> [LocalModel; 2] {
        let mut first = LocalModel::new(2, 1, 2);
        first.a = vec![0.0, 1.0, -1e5, -0.1];
        first.b = vec![0.0, 0.1];
        first.c = vec![1.0, 0.0, 0.0, 1.0];
        let mut second = LocalModel::new(2, 2, 1);
        second.a = vec![0.0, 1.0, -1.02e6, -20.2];
        second.b = vec![0.0, 0.0, 2e4, 20.0];
        second.c = vec![2e5, 200.0];
        second.d = vec![-2e5, -200.0];
        [first, second]
    }

    fn close(ours: &[f64], theirs: &[f64]) {
        let scale = theirs.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let worst = ours.iter().zip(theirs).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        assert!(ours.len() == theirs.len() && worst <= 1e-9 * scale, "{ours:?} {theirs:?}");
    }

    /// Against the tables of an independent prototype: dS/dy, dS/du of both masses.
    #[test]
    fn interface_jacobians_agree_with_the_table() {
        let [first, second] = masses();
        let jacobians = interface_jacobians(&first);
        close(jacobians.s_y.data(), &first.a);
        close(jacobians.s_u.data(), &first.b);
        let jacobians = interface_jacobians(&second);
        // C A C^+ = (c1 a + c2 ...) / |C|^2 by hand: C A = (200 * -1.02e6, 2e5 - 200 * 20.2).
        let s_y = (200.0 * -1.02e6 * 2e5 + (2e5 - 200.0 * 20.2) * 200.0) / (2e5f64.powi(2) + 200f64.powi(2));
        close(jacobians.s_y.data(), &[s_y]);
        close(jacobians.s_u.data(), &[200.0 * 2e4 + s_y * 2e5, 200.0 * 20.0 + s_y * 200.0]);
        close(jacobians.s_d.data(), &[-2e5, -200.0]);
    }

    #[test]
    fn there_and_back_again() {
        for model in masses() {
            for h in [1e-5, 1e-3, 2.5e-3] {
                let discrete = to_discrete(&model, h).unwrap();
                let back = to_continuous(&discrete, h).unwrap();
                close(&back.a, &model.a);
                close(&back.b, &model.b);
                assert_eq!((&back.c, &back.d), (&model.c, &model.d));
            }
        }
    }

    #[test]
    fn a_negative_mode_has_no_continuous_counterpart() {
        let mut model = LocalModel::new(1, 1, 1);
        (model.a[0], model.b[0]) = (-0.5, 1.0);
        assert!(to_continuous(&model, 0.1).is_none());
        model.a[0] = 0.0;
        assert!(to_continuous(&model, 0.1).is_none());
    }
}
