//! A local model seen through its outputs alone: Interface Jacobians [T (2.18)].
//!
//! z = y - D u stands for C x:  z' = S_y z + C B u,  y = z + D u,  S_y = C A C^+. The form of the thesis with
//! S_u = C B - S_y D and u' is the same without jumps of the input.

use costep_core::LocalModel;
use costep_linalg::{Matrix, PseudoInverse};

/// Singular values of C below this share of the greatest count as zero.
const CUT: f64 = 1e-9;

/// Workspace for the conversion.
#[derive(Default)]
pub(crate) struct OutputForm {
    c: Matrix,
    inverse: Matrix,
    work: PseudoInverse,
    product: Matrix,
}

impl OutputForm {
    pub(crate) fn new(model: &LocalModel) -> Self {
        let (n, r) = (model.states, model.outputs);
        Self {
            c: Matrix::zeros(r, n),
            inverse: Matrix::zeros(n, r),
            work: PseudoInverse::new(r, n),
            product: Matrix::zeros(r, n),
        }
    }

    /// Writes the output form of `from`, a model with as many states as outputs.
    pub(crate) fn convert(&mut self, from: &LocalModel, to: &mut LocalModel) {
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
    }
}
