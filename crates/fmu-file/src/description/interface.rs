//! What an FMU offers: Co-Simulation, Model Exchange, Scheduled Execution, and the capability flags of each.
//! A flag that a version of FMI does not have is false.

/// What an FMU is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It brings its own solver.
    CoSimulation,
    /// It is integrated by costep.
    ModelExchange,
}

/// What all kinds of interfaces have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Name of the shared library without its extension. Letters, digits and underscores only.
    pub model_identifier: String,
    /// The FMU needs another program to run.
    pub needs_execution_tool: bool,
    /// At most one instance per process.
    pub can_be_instantiated_only_once_per_process: bool,
    /// It does not use the memory functions of the importer (FMI 2).
    pub can_not_use_memory_management_functions: bool,
    /// Its state can be saved and put back.
    pub can_get_and_set_state: bool,
    /// Its state can be written as bytes.
    pub can_serialize_state: bool,
    /// It computes directional derivatives.
    pub provides_directional_derivatives: bool,
    /// It computes adjoint derivatives (FMI 3).
    pub provides_adjoint_derivatives: bool,
    /// It tells dependencies of single elements of arrays (FMI 3).
    pub provides_per_element_dependencies: bool,
}

impl Interface {
    /// Whether its Jacobians can be asked for, by columns or by rows.
    pub fn provides_derivatives(&self) -> bool {
        self.provides_directional_derivatives || self.provides_adjoint_derivatives
    }
}

/// The FMU brings its own solver.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoSimulation {
    /// What all kinds have.
    pub interface: Interface,
    /// The communication step may change.
    pub can_handle_variable_communication_step_size: bool,
    /// Derivatives of inputs can be given (FMI 2).
    pub can_interpolate_inputs: bool,
    /// Highest derivative of outputs it gives; 0 = none.
    pub max_output_derivative_order: u32,
    /// A step may be computed in the background (FMI 2; the standard spells it `canRunAsynchronuously`).
    pub can_run_asynchronously: bool,
    /// Step of its solver, if it is fixed (FMI 3).
    pub fixed_internal_step_size: Option<f64>,
    /// How smooth inputs should be that are set during a step: -1 discontinuous, 0 continuous, and so on
    /// (FMI 3).
    pub recommended_intermediate_input_smoothness: i32,
    /// It calls back during a step (FMI 3).
    pub provides_intermediate_update: bool,
    /// A step may end early on its own (FMI 3).
    pub might_return_early_from_do_step: bool,
    /// A step can be ended early from a call back (FMI 3).
    pub can_return_early_after_intermediate_update: bool,
    /// It has an event mode (FMI 3).
    pub has_event_mode: bool,
    /// Discrete states can be evaluated without an event (FMI 3).
    pub provides_evaluate_discrete_states: bool,
}

/// The importer brings the solver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelExchange {
    /// What all kinds have.
    pub interface: Interface,
    /// It has to be told after each step of the solver.
    pub needs_completed_integrator_step: bool,
    /// Discrete states can be evaluated without an event (FMI 3).
    pub provides_evaluate_discrete_states: bool,
}

/// The importer activates parts of the model by clocks (FMI 3). costep notes that it is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduledExecution {
    /// What all kinds have.
    pub interface: Interface,
}

/// Longest model identifier.
const MAX_IDENTIFIER: usize = 256;

/// Whether a path may be built from this name: one of C, as the standard wants it, or with `-` and `.` inside,
/// which tools write that name an FMU after its file.
pub(crate) fn is_identifier(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    !name.is_empty() && name.len() <= MAX_IDENTIFIER && !name.starts_with('.') && name.bytes().all(allowed)
}

/// Whether it is a name of C, apart from its first character.
pub(crate) fn is_name_of_c(identifier: &str) -> bool {
    !identifier.contains(['-', '.'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_cannot_lead_elsewhere() {
        assert!(is_identifier("Modelica_Blocks_1") && is_name_of_c("Modelica_Blocks_1"));
        for name in ["watertankcontroller-c", "Model.v1.2"] {
            assert!(is_identifier(name) && !is_name_of_c(name), "{name}");
        }
        for name in ["", "../x", "a/b", "..", ".a", "a b", "é", "a\0", "C:", &"x".repeat(MAX_IDENTIFIER + 1)]
        {
            assert!(!is_identifier(name), "{name}");
        }
    }
}
