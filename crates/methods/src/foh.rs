//! First-order hold: each input goes on along the line through its last two values.
//!
//! Order 2. At the first step, and after a reset of the history, it holds. Amplifies fast oscillations: in
//! stiff couplings it is unstable at smaller steps than its accuracy would suggest.

use costep_core::{CouplingMethod, Deviations, MethodEntry, ModelKind, ModelsSpec, Options};

use crate::shared::extrapolation::Extrapolation;
use crate::shared::seen_outputs::{SeenOptions, SeenOutputs};

/// Row of the registry.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "foh",
    title: "first-order hold",
    summary: "Extrapolates each input along the line through its last two values. Subsystems that hold \
              their inputs get the mean of the line over the step.",
    equations: "u(t) = z^k + (z^k - z^(k-1)) (t - T^k) / (T^k - T^(k-1)),  z = L y + r",
    source: "classical; [T] section 1.4",
    convergence_order: 2,
    deviations: Deviations::NONE,
    models: ModelKind::CONTINUOUS,
    options: SeenOptions::SPECS,
    papers: None,
    build,
};

fn build(options: &Options, _models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    Box::new(Extrapolation::new(1, SeenOutputs::new(options)))
}
