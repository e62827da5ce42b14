//! Zero-order hold: each input keeps the value its source had at the start of the step.
//!
//! What every other open co-simulation tool does. Order 1, no memory, cheapest of all; the held value lags
//! half a step behind and, through outputs with direct feedthrough, one and a half (\[T] section 1.4).

use costep_core::{CouplingMethod, Deviations, MethodEntry, ModelKind, ModelsSpec, Options};

use crate::shared::extrapolation::Extrapolation;
use crate::shared::seen_outputs::{SeenOptions, SeenOutputs};

/// Row of the registry.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "zoh",
    title: "zero-order hold",
    summary: "Each input keeps the value its source had at the start of the step. Cheap, works with every \
              subsystem, and is the first to become unstable in stiff couplings.",
    equations: "u(t) = z^k,  z = L y + r",
    source: "classical; [T] section 1.4",
    convergence_order: 1,
    deviations: Deviations { holds_external_signals: true, ..Deviations::NONE },
    models: ModelKind::CONTINUOUS,
    options: SeenOptions::SPECS,
    papers: None,
    build,
};

fn build(options: &Options, _models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    Box::new(Extrapolation::new(0, SeenOutputs::new(options)))
}
