//! The model-based corrector with identified models [H18 (2), (3)]:
//!
//! ```text
//! y_corr = (I - S_p L)^-1 (y - S_p u + S_p r),   u_bar' = L y_corr
//! u'     = u_bar' + alpha (L (y_corr_before + y_corr) / 2 - u_bar) + r
//! ```
//!
//! u is the input that was applied, r the external inputs of the step to come, which are known. The offset is measured
//! against u_bar, the input without the last offset: against u it would be a recursion with an eigenvalue of -1. Of the
//! models only S_p is used, so a wrong S_y does no harm.

use costep_core::{InputSet, Layout, Result, StateReader, StateWriter, SystemView};
use costep_linalg::Matrix;

use super::{ModelLaw, Point};
use crate::shared::interface::Interface;
use crate::shared::per_subsystem::row;

pub(super) struct Corrector {
    alpha: f64,
    inputs: InputSet,
    layout: Layout,
    interface: Interface,
    blocks: Vec<Matrix>,
    /// y_corr at this point and at the last one.
    corrected: Vec<f64>,
    before: Vec<f64>,
    /// u_bar.
    bar: Vec<f64>,
    /// r - u.
    change: Vec<f64>,
}

impl Corrector {
    pub(super) fn new(alpha: f64) -> Self {
        Self {
            alpha,
            inputs: InputSet::All(0),
            layout: Layout::default(),
            interface: Interface::default(),
            blocks: Vec::new(),
            corrected: Vec::new(),
            before: Vec::new(),
            bar: Vec::new(),
            change: Vec::new(),
        }
    }
}

impl ModelLaw for Corrector {
    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        let layout = system.layout;
        self.inputs = system.inputs.clone();
        self.layout = layout.clone();
        self.interface = Interface::new(system, 1);
        let block = |i: usize| Matrix::zeros(layout.output_range(i).len(), layout.input_range(i).len());
        self.blocks = (0..layout.subsystems()).map(block).collect();
        (self.corrected, self.before) = (vec![0.0; layout.outputs()], vec![0.0; layout.outputs()]);
        (self.bar, self.change) = (vec![0.0; layout.inputs()], vec![0.0; layout.inputs()]);
        Ok(())
    }

    fn pass(&mut self, point: &Point<'_>) {
        self.corrected.copy_from_slice(point.y);
        for (j, bar) in self.bar.iter_mut().enumerate() {
            *bar = point.coupled[j] - point.external.0[j];
        }
    }

    fn solve(&mut self, point: &Point<'_>, u: &mut [f64]) -> bool {
        // Inputs of other groups are taken as they stand.
        for (j, change) in self.change.iter_mut().enumerate() {
            *change = point.coupled[j] - point.u[j];
        }
        for j in self.inputs.iter() {
            // What external inputs will change by is seen ahead.
            self.change[j] = point.mean_external(j) - point.u[j];
        }
        std::mem::swap(&mut self.corrected, &mut self.before);
        for (i, block) in self.blocks.iter_mut().enumerate() {
            let Some(model) = point.models.interface(i) else { return false };
            block.data_mut().copy_from_slice(&model.d_up);
            let (us, ys) = (self.layout.input_range(i), self.layout.output_range(i));
            for (k, at) in ys.enumerate() {
                self.corrected[at] = point.y[at] + row(&model.d_up, k, &self.change[us.clone()]);
            }
        }
        let blocks = &self.blocks;
        if !self.interface.factor(|i| &blocks[i]) {
            return false;
        }
        self.interface.solve(|i| &blocks[i], &mut self.corrected);
        u.copy_from_slice(point.coupled);
        for j in self.inputs.iter() {
            let now = point.coupling.row(j, &self.corrected);
            let before = point.coupling.row(j, &self.before);
            u[j] = now + self.alpha * (0.5 * (before + now) - self.bar[j]) + point.mean_external(j);
            self.bar[j] = now;
        }
        self.corrected.iter().all(|y| y.is_finite())
    }

    fn save(&self, out: &mut StateWriter) {
        out.reals(&self.corrected);
        out.reals(&self.bar);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        from.reals(&mut self.corrected)?;
        from.reals(&mut self.bar)
    }
}
