//! Fixed-point iteration of the macro step, with relaxation.
//!
//! U <- U + w R(U). Plain iteration (w = 1) converges where the subsystems damp what they pass on to each other over one step.
//! Aitken's factor follows from the last two residuals: w_i = -w_(i-1) <R_(i-1), dR> / <dR, dR>, dR = R_i - R_(i-1), with
//! scaled residuals (Kuettler & Wall 2008). With one unknown this is the secant method, and w holds on in the next step.
//! Two to ten tries per step, each with a step of every subsystem.

use costep_core::{
    CouplingMethod, Deviations, MethodEntry, ModelKind, ModelsSpec, Options, Result, Signals, StateReader,
    StateWriter, StepContext, SystemView, choice, join, options,
};

use crate::iteration::options::{IterationOptions, SweepOptions};
use crate::iteration::shape::Weights;
use crate::iteration::{Iteration, NextTry, Trial, Update};

/// Row of the registry.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "fixed-point",
    title: "fixed-point iteration of the step",
    summary: "Repeats each macro step until the inputs fit the outputs that they cause, with relaxation by Aitken's factor or \
              a constant. Subsystems step one after the other or all at once.",
    equations: "U <- U + w R(U),  R = L y^(k+1)(U) - U;  w_i = -w_(i-1) <R_(i-1), dR> / <dR, dR>",
    source: "classical; Kuettler & Wall 2008 for w",
    convergence_order: 2,
    deviations: Deviations { partition_matters: true, ..Deviations::NONE },
    // Of the predictor.
    models: ModelKind::CONTINUOUS,
    options: &join::<9>(&[FixedPointOptions::SPECS, SweepOptions::SPECS, IterationOptions::SPECS]),
    papers: None,
    build,
};

choice! {
    /// Where w comes from.
    enum Acceleration {
        /// From the last two residuals.
        Aitken = "aitken",
        /// It is constant.
        None = "none",
    }
}

options! {
    /// What users choose from.
    struct FixedPointOptions {
        /// w from the last two residuals, or constant
        acceleration: Acceleration;
        /// w, of the first try of a step if it is not constant; 1 is a plain iteration
        relaxation: f64 = 1.0 in 0.01..=1.9;
    }
}

/// w stays below this.
const GREATEST_FACTOR: f64 = 1.5;

struct Relaxation {
    accelerates: bool,
    relaxation: f64,
    /// w of the next and of the last try, and of the last try of the step before.
    factor: f64,
    learnt: f64,
    last: Vec<f64>,
    has_last: bool,
}

fn build(options: &Options, models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    let FixedPointOptions { acceleration, relaxation } = FixedPointOptions::read(options);
    let update = Relaxation {
        accelerates: acceleration == Acceleration::Aitken,
        relaxation,
        factor: relaxation,
        learnt: relaxation,
        last: Vec::new(),
        has_last: false,
    };
    let sweep = SweepOptions::read(options).sweep;
    Box::new(Iteration::new(ENTRY.id, (options, models), sweep, Box::new(update)))
}

impl Update for Relaxation {
    fn prepare(&mut self, _system: &SystemView<'_>, unknowns: &[usize]) -> Result<()> {
        self.last = vec![0.0; unknowns.len()];
        (self.factor, self.learnt) = (self.relaxation, self.relaxation);
        Ok(())
    }

    fn begin(&mut self, step: &StepContext, _signals: &Signals<'_>, _weights: &Weights) -> Result<()> {
        if step.repetition == 0 && self.has_last && self.last.len() == 1 {
            self.learnt = self.factor;
        }
        self.factor = self.learnt;
        self.has_last = false;
        Ok(())
    }

    fn improve(&mut self, trial: &Trial<'_>, _signals: &Signals<'_>, next: &mut [f64]) -> NextTry {
        if self.accelerates && self.has_last {
            let (mut along, mut change) = (0.0, 0.0);
            for (now, last) in trial.residual.iter().zip(&self.last) {
                along += last * (now - last);
                change += (now - last) * (now - last);
            }
            let factor = -self.factor * along / change;
            if factor.is_finite() && factor != 0.0 {
                self.factor = factor.clamp(-GREATEST_FACTOR, GREATEST_FACTOR);
            }
        }
        self.has_last = true;
        self.last.copy_from_slice(trial.residual);
        trial.relax(self.factor, next);
        NextTry::Better
    }

    fn save(&self, out: &mut StateWriter) {
        out.reals(&[self.factor, self.learnt]);
        out.integer(u64::from(self.has_last));
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        let mut factors = [0.0; 2];
        from.reals(&mut factors)?;
        (self.factor, self.learnt) = (factors[0], factors[1]);
        self.has_last = from.index(2)? == 1;
        Ok(())
    }
}
