//! What an FMU for Co-Simulation looks like from outside, by its model description alone.

use costep_core::{Capabilities, Description, InputList, Linearisation, Port, Result, StepLengths};
use costep_fmu_file::settings::{self, Setting};
use costep_fmu_file::{CoSimulation, ModelDescription};

use super::linear::Linear;
use super::signals::{self, Signals};
use super::{CoSimulationOptions, MAX_ORDER, input_routing};
use crate::call::intermediate::Samples;

/// What is known of an instance before it is made.
pub(super) struct Signature {
    pub(super) settings: Vec<Setting>,
    pub(super) inputs: Signals,
    /// Its inputs as the model description has them.
    pub(super) declared: Vec<Port>,
    pub(super) outputs: Signals,
    pub(super) follows: bool,
    /// The states, if they are of use: to derivatives, or to differences by means of rollback.
    pub(super) linear: Option<Linear>,
    /// What the model description promises. The library may have less.
    pub(super) promised: Capabilities,
    pub(super) description: Description,
}

impl Signature {
    pub(super) fn of(
        fmu: &ModelDescription,
        kind: &CoSimulation,
        name: &str,
        options: &CoSimulationOptions,
    ) -> Result<Self> {
        let settings = settings::settings(fmu, &options.parameters)?;
        let sizes = settings::sizes(&settings);
        let inputs = input_routing::inputs(fmu, &sizes, &options.routing)?;
        let outputs = Signals::outputs(fmu, &sizes)?;
        let exchanges = |signals: &Signals| {
            kind.provides_intermediate_update
                && signals
                    .variables
                    .iter()
                    .all(|variable| fmu.variables()[*variable].flags.intermediate_update)
        };
        let (follows, samples) = (exchanges(&inputs), exchanges(&outputs));
        let input_order = match options.input_order {
            // Derivatives are handed over as they are, without another sign.
            _ if inputs.is_negated() || (!kind.can_interpolate_inputs && !follows) => 0,
            Some(order) => order.min(MAX_ORDER),
            // In FMI 3 the polynomial is evaluated here, so that its order does not matter to the FMU.
            None if follows => MAX_ORDER,
            None => fmu.annotations.input_derivatives.unwrap_or(1).min(MAX_ORDER),
        };
        let rollback = kind.interface.can_get_and_set_state;
        let linear = match kind.interface.provides_derivatives() || rollback {
            true => Linear::new(fmu, (&inputs, &outputs), &sizes)?,
            false => None,
        };
        let feedthrough = signals::feedthrough(fmu, &inputs, &outputs);
        let promised = Capabilities {
            rollback,
            linearisation: linearisation(kind, linear.is_some(), &feedthrough),
            states: linear.as_ref().map_or(0, Linear::states),
            micro_samples: samples.then_some(Samples::SAMPLING),
            environment: false,
        };
        let declared = inputs.ports(fmu, &sizes);
        let mut description = Description {
            name: name.to_owned(),
            inputs: declared.clone(),
            outputs: outputs.ports(fmu, &sizes),
            assumes_feedthrough: !fmu.tells_dependencies(),
            feedthrough: signals::with_tuned(feedthrough, fmu, &inputs),
            input_order,
            step_lengths: step_lengths(kind),
        };
        description.resize(&options.sizes);
        options.variations.apply(&mut description)?;
        options.routing.describe_open(&mut description);
        Ok(Self { settings, inputs, declared, outputs, follows, linear, promised, description })
    }
}

/// Whether the communication step may change, and of what its solver's steps are, if these are fixed.
fn step_lengths(kind: &CoSimulation) -> StepLengths {
    match kind.fixed_internal_step_size.filter(|step| *step > 0.0) {
        _ if !kind.can_handle_variable_communication_step_size => StepLengths::MacroSteps,
        Some(step) => StepLengths::MultiplesOf(step),
        None => StepLengths::Any,
    }
}

/// A, B, C, D by derivatives where the states are known, else D; D = 0 where no output follows an input at once.
fn linearisation(kind: &CoSimulation, knows_states: bool, feedthrough: &[InputList]) -> Linearisation {
    match kind.interface.provides_derivatives() {
        true if knows_states => Linearisation::Full,
        true => Linearisation::Feedthrough,
        false if feedthrough.iter().all(|list| list.is_empty()) => Linearisation::Feedthrough,
        false => Linearisation::None,
    }
}
