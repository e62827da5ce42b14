//! Second-order hold: each input goes on along the parabola through its last three values.
//!
//! Order 3 for small steps; the first of the holds to diverge at large ones. Starts as a hold, then a line: the
//! hold of the first step leaves an error of order 2 behind when the run does not begin at rest.

use costep_core::{CouplingMethod, Deviations, MethodEntry, ModelKind, ModelsSpec, Options};

use crate::shared::extrapolation::Extrapolation;
use crate::shared::seen_outputs::{SeenOptions, SeenOutputs};

/// Row of the registry.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "soh",
    title: "second-order hold",
    summary: "Extrapolates each input along the parabola through its last three values. Accurate at small steps, \
              diverges early at large ones. Subsystems that take inputs of a lower order get the line nearest to the \
              parabola, or its mean over the step.",
    equations: "u(t) = parabola through (T^(k-2), z^(k-2)), (T^(k-1), z^(k-1)), (T^k, z^k),  z = L y + r",
    source: "classical; [T] section 1.4",
    convergence_order: 3,
    deviations: Deviations::NONE,
    models: ModelKind::CONTINUOUS,
    options: SeenOptions::SPECS,
    papers: None,
    build,
};

fn build(options: &Options, _models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    Box::new(Extrapolation::new(2, SeenOutputs::new(options)))
}
