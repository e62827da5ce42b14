//! The Jacobian of coupled parts.

use costep_core::{Coupling, Description, Layout, LocalModel, Result};
use costep_linalg::{DirectLoop, Matrix};

use super::Whole;
use crate::equations::Equations;

/// Room for A + B L (I - D L)^-1 C.
pub(super) struct ClosedLoop {
    models: Vec<LocalModel>,
    b: Matrix,
    /// C, then (I - D L)^-1 C.
    c: Matrix,
    d: Matrix,
    loops: DirectLoop,
}

impl ClosedLoop {
    pub(super) fn new(parts: &[Box<dyn Equations>], coupling: &Coupling, layout: &Layout) -> Self {
        let model = |part: &dyn Equations| {
            let Description { inputs, outputs, .. } = part.description();
            LocalModel::new(part.states(), inputs.len(), outputs.len())
        };
        let models: Vec<_> = parts.iter().map(|part| model(&**part)).collect();
        let (n, m, r) = (models.iter().map(|model| model.states).sum(), layout.inputs(), layout.outputs());
        Self {
            models,
            b: Matrix::zeros(n, m),
            c: Matrix::zeros(r, n),
            d: Matrix::zeros(r, m),
            loops: DirectLoop::new(r, coupling.links(0..m)),
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
        let n = model.states;
        model.a.fill(0.0);
        // It holds the closed loops of the last time, everywhere.
        self.c.fill(0.0);
        for (i, part) in whole.parts.iter_mut().enumerate() {
            let own = &mut self.models[i];
            let (states, inputs) = (whole.states[i].clone(), whole.layout.input_range(i));
            part.jacobians(t, &x[states.clone()], &whole.u[inputs.clone()], own)?;
            let (outputs, s) = (whole.layout.output_range(i), states.start);
            place(&own.a, own.states, |row, column, value| model.a[(s + row) * n + s + column] = value);
            place(&own.b, own.inputs, |row, column, value| self.b[(s + row, inputs.start + column)] = value);
            place(&own.c, own.states, |row, column, value| self.c[(outputs.start + row, s + column)] = value);
            place(&own.d, own.inputs, |row, column, value| {
                self.d[(outputs.start + row, inputs.start + column)] = value;
            });
        }
        let Self { b, c, d, loops, .. } = self;
        // Regular, since there is no algebraic loop; with differences in place of derivatives nearly so.
        if loops.close(|i, j| d[(i, j)]) {
            loops.solve_columns(c);
        }
        loops.add_between(b, c, &mut model.a);
        model.c.copy_from_slice(c.data());
        Ok(())
    }
}

/// Goes through a block with rows of this width.
fn place(values: &[f64], width: usize, mut set: impl FnMut(usize, usize, f64)) {
    for (row, values) in values.chunks_exact(width.max(1)).enumerate() {
        values.iter().enumerate().for_each(|(column, value)| set(row, column, *value));
    }
}
