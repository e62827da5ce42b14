//! Parallel linear correction: a hold of outputs whose stale direct feedthrough has been removed.
//!
//! y = C x + D u is read under the input of the step that has just ended; as a held input it would be one and a
//! half steps old. With D from the local models, (I - D L) y = (y - D u_end) + D r is what the output is under the
//! new inputs ([H18 (2)] with B_d = 0). Same as `zoh:feedthrough=true`. One small solve per step, the factors are
//! kept while D does not change; moves the stability limit of the dual-mass oscillator from 3 ms to above 5 ms.

use costep_core::{CouplingMethod, Deviations, MethodEntry, ModelKind, ModelsSpec, Options};

use crate::shared::extrapolation::Extrapolation;
use crate::shared::seen_outputs::SeenOutputs;

/// Row of the registry.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "feedthrough",
    title: "hold without stale feedthrough (parallel linear correction)",
    summary: "A zero-order hold of outputs from which the old input has been removed by the direct \
              feedthrough D of the local models. The cheapest improvement where force and motion are coupled.",
    equations: "u(t) = L y + r,  (I - D L) y = (y^k - D u_end) + D r",
    source: "[H18] (2) with B_d = 0",
    convergence_order: 1,
    deviations: Deviations { holds_external_signals: true, ..Deviations::NONE },
    models: ModelKind::CONTINUOUS,
    options: &[],
    papers: None,
    build,
};

fn build(_options: &Options, _models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    Box::new(Extrapolation::new(0, SeenOutputs::corrected()))
}
