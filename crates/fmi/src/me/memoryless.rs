//! Whether an FMU for Model Exchange can be put back without the help of its own state functions.

use costep_fmu_file::{Causality, ModelDescription, ModelExchange, Variability, VariableType};

/// Whether time, continuous states and inputs are all the memory an FMU has, as far as its description
/// tells: no event indicators, no interest in completed steps, nothing discrete. Then FMI allows to go back
/// in time as far as the last event (fmi2SetTime, fmi3SetTime), and whoever sets time, states and inputs
/// has put it back.
pub(crate) fn is_memoryless(description: &ModelDescription, kind: &ModelExchange) -> bool {
    let is_discrete = |variable: &costep_fmu_file::Variable| {
        let is_setting = matches!(
            variable.causality,
            Causality::Parameter
                | Causality::StructuralParameter
                | Causality::CalculatedParameter
                | Causality::Independent
        );
        let is_fixed = matches!(variable.variability, Variability::Constant | Variability::Fixed);
        let is_continuous = matches!(variable.kind, VariableType::Float64 | VariableType::Float32)
            && variable.variability == Variability::Continuous;
        variable.flags.reinit || !(is_setting || is_fixed || is_continuous)
    };
    !kind.needs_completed_integrator_step
        && description.number_of_event_indicators == 0
        && description.structure.event_indicators.is_empty()
        && !description.variables().iter().any(is_discrete)
}
