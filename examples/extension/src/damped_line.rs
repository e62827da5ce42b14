//! A line with a part of the slope of the last step: between a hold (alpha = 0) and a line through the last
//! two values (alpha = 1).

use costep_core::{
    CouplingMethod, Deviations, InputSet, InputShape, MethodEntry, ModelsSpec, Options, Request, Result,
    Signals, StepContext, SystemView, options,
};

/// Row of the registry.
pub static ENTRY: MethodEntry = MethodEntry {
    id: "damped-line",
    title: "line with a damped slope",
    summary: "Each input goes on with a part of the slope of the last step.",
    equations: "u(t) = z^k + alpha (z^k - z^(k-1)) / h (t - T^k),  z = L y + r",
    source: "an example",
    convergence_order: 1,
    deviations: Deviations { holds_external_signals: true, ..Deviations::NONE },
    models: &[],
    options: LineOptions::SPECS,
    papers: None,
    build,
};

struct DampedLine {
    alpha: f64,
    inputs: InputSet,
}

options! {
    /// Its options.
    struct LineOptions {
        /// part of the slope; 0 is a hold, 1 a line
        alpha: f64 = 0.5 in 0.0..=1.0;
    }
}

fn build(options: &Options, _models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    Box::new(DampedLine { alpha: LineOptions::read(options).alpha, inputs: InputSet::All(0) })
}

impl CouplingMethod for DampedLine {
    fn request(&self) -> Request {
        Request { inputs: InputShape::polynomials(1), history: 1, ..Request::default() }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.inputs = system.inputs.clone();
        Ok(())
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        self.inputs.copy(signals.coupled, signals.inputs.coefficients_mut(0));
        let slopes = signals.inputs.coefficients_mut(1);
        for j in self.inputs.iter() {
            // There is nothing before the first step.
            slopes[j] = match signals.history.len() {
                0 => 0.0,
                _ => {
                    // What comes from outside is known and not carried on; the past is kept without it.
                    let change = signals.coupled[j] - signals.external[j] - signals.history.coupled(1)[j];
                    self.alpha * change / (step.t - signals.history.time(1))
                }
            };
        }
        Ok(())
    }
}
