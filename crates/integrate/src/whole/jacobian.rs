//! The Jacobian of coupled parts.

use costep_core::{Coupling, Layout, LocalModel, Result};
use nalgebra::DMatrix;

use super::{Component, Whole};

/// Room for A + B L (I - D L)^-1 C. Its factorisation takes memory, once per Jacobian.
pub(super) struct ClosedLoop {
    models: Vec<LocalModel>,
    a: DMatrix<f64>,
    b: DMatrix<f64>,
    c: DMatrix<f64>,
    d: DMatrix<f64>,
    /// L.
    coupling: DMatrix<f64>,
}

impl ClosedLoop {
    pub(super) fn new(parts: &[Box<dyn Component>], coupling: &Coupling, layout: &Layout) -> Self {
        let models: Vec<_> =
            parts.iter().map(|part| LocalModel::new(part.states(), part.inputs(), part.outputs())).collect();
        let (n, m, r) = (models.iter().map(|model| model.states).sum(), layout.inputs(), layout.outputs());
        let mut gains = DMatrix::zeros(m, r);
        for j in 0..m {
            for (output, gain) in coupling.sources(j) {
                gains[(j, output)] += gain;
            }
        }
        Self {
            models,
            a: DMatrix::zeros(n, n),
            b: DMatrix::zeros(n, m),
            c: DMatrix::zeros(r, n),
            d: DMatrix::zeros(r, m),
            coupling: gains,
        }
    }

    /// A and C of the whole; its inputs and outputs are consistent.
    pub(super) fn fill(
        &mut self,
        whole: &mut Whole,
        t: f64,
        x: &[f64],
        model: &mut LocalModel,
    ) -> Result<()> {
        for (i, part) in whole.parts.iter_mut().enumerate() {
            let own = &mut self.models[i];
            let (states, inputs) = (whole.states[i].clone(), whole.layout.input_range(i));
            part.jacobians(t, &x[states.clone()], &whole.u[inputs.clone()], own)?;
            let outputs = whole.layout.output_range(i);
            place(&mut self.a, (states.start, states.start), own.states, &own.a);
            place(&mut self.b, (states.start, inputs.start), own.inputs, &own.b);
            place(&mut self.c, (outputs.start, states.start), own.states, &own.c);
            place(&mut self.d, (outputs.start, inputs.start), own.inputs, &own.d);
        }
        let r = self.d.nrows();
        // Regular, since there is no algebraic loop; with differences in place of derivatives nearly so.
        let loops = DMatrix::identity(r, r) - &self.d * &self.coupling;
        let c = loops.lu().solve(&self.c).unwrap_or_else(|| self.c.clone());
        let a = &self.a + &self.b * (&self.coupling * &c);
        model.a.copy_from_slice(a.transpose().as_slice());
        model.c.copy_from_slice(c.transpose().as_slice());
        Ok(())
    }
}

/// Writes a block with rows of this width.
fn place(matrix: &mut DMatrix<f64>, (row, column): (usize, usize), width: usize, values: &[f64]) {
    for (i, values) in values.chunks_exact(width.max(1)).enumerate() {
        for (j, value) in values.iter().enumerate() {
            matrix[(row + i, column + j)] = *value;
        }
    }
}
