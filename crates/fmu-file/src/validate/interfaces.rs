//! Capability flags and the default experiment.

use costep_core::Code;

use crate::description::ModelDescription;
use crate::finding::Report;

pub(crate) fn check(description: &ModelDescription, report: &mut Report) {
    for interface in description.interfaces() {
        if interface.can_serialize_state && !interface.can_get_and_set_state {
            report.warning(Code::FmuCapability, 0, "the state can be serialised but not be read");
        }
    }
    if let Some(kind) = &description.co_simulation {
        if kind.fixed_internal_step_size.is_some_and(|step| !(step > 0.0 && step.is_finite())) {
            report.warning(Code::FmuRange, 0, "`fixedInternalStepSize` is not positive");
        }
        if kind.can_return_early_after_intermediate_update && !kind.provides_intermediate_update {
            let message = "a step can be ended by an intermediate update, but there is none";
            report.warning(Code::FmuCapability, 0, message);
        }
    }
    let experiment = &description.default_experiment;
    let positive = |value: Option<f64>| value.is_none_or(|value| value > 0.0);
    if !positive(experiment.step_size) {
        report.warning(Code::FmuRange, 0, "`stepSize` of the default experiment is not positive");
    }
    if !positive(experiment.tolerance) {
        report.warning(Code::FmuRange, 0, "`tolerance` of the default experiment is not positive");
    }
    if let (start, Some(stop)) = (experiment.start_time.unwrap_or(0.0), experiment.stop_time)
        && stop < start
    {
        report.warning(Code::FmuRange, 0, "the default experiment stops before it starts");
    }
}
