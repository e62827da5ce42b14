//! Interface quasi-Newton: the Jacobian of the residual from the tries so far, by least squares.
//!
//! U = H_i + W c, c = argmin |V c + R_i|, with the differences of residuals V and of outcomes W of this step and of some
//! before it (Degroote, Bathe & Vierendeels 2009; `iteration::columns`). On linear systems the columns of earlier
//! steps are exact, so that two tries are enough. Needs neither models nor derivatives.

use costep_core::{
    CouplingMethod, Deviations, MethodEntry, ModelKind, ModelsSpec, Options, Result, Signals, StateReader,
    StateWriter, StepContext, SystemView, join, options,
};

use crate::iteration::columns::Columns;
use crate::iteration::options::{IterationOptions, SweepOptions};
use crate::iteration::shape::Weights;
use crate::iteration::{Iteration, NextTry, Trial, Update};

/// Row of the registry.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "iqn-ils",
    title: "interface quasi-Newton by least squares",
    summary: "Repeats each macro step until the inputs fit the outputs that they cause. The tries so far, also of earlier \
              steps, tell how the outputs follow the inputs; about two tries per step.",
    equations: "U = H_i + W c,  c = argmin |V c + R_i|,  V = [R_i - R_(i-1), ..],  W = [H_i - H_(i-1), ..]",
    source: "Degroote, Bathe & Vierendeels 2009; Haelterman et al. 2016 for the filter",
    convergence_order: 2,
    deviations: Deviations { partition_matters: true, ..Deviations::NONE },
    // Of the predictor.
    models: ModelKind::CONTINUOUS,
    options: &join::<9>(&[IqnIlsOptions::SPECS, SweepOptions::SPECS, IterationOptions::SPECS]),
    papers: None,
    build,
};

options! {
    /// What users choose from.
    struct IqnIlsOptions {
        /// of how many earlier steps the tries are used
        reuse: usize = 3 in 0..=20;
        /// share of the residual that the second try takes while nothing is known
        relaxation: f64 = 0.5 in 0.01..=1.0;
    }
}

struct QuasiNewton {
    reuse: usize,
    relaxation: f64,
    columns: Columns,
}

fn build(options: &Options, models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    let IqnIlsOptions { reuse, relaxation } = IqnIlsOptions::read(options);
    let update = QuasiNewton { reuse, relaxation, columns: Columns::default() };
    let sweep = SweepOptions::read(options).sweep;
    Box::new(Iteration::new(ENTRY.id, (options, models), sweep, Box::new(update)))
}

impl Update for QuasiNewton {
    fn prepare(&mut self, _system: &SystemView<'_>, unknowns: &[usize]) -> Result<()> {
        self.columns = Columns::new(unknowns.len(), self.reuse);
        Ok(())
    }

    fn begin(&mut self, step: &StepContext, _signals: &Signals<'_>, _weights: &Weights) -> Result<()> {
        self.columns.begin(step);
        Ok(())
    }

    fn improve(&mut self, trial: &Trial<'_>, _signals: &Signals<'_>, next: &mut [f64]) -> NextTry {
        self.columns.add(trial);
        if self.columns.solve(trial, next) == 0 {
            trial.relax(self.relaxation, next);
        }
        NextTry::Better
    }

    fn save(&self, out: &mut StateWriter) {
        self.columns.save(out);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.columns.load(from)
    }
}
